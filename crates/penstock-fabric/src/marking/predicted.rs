//! FAFC's marking by the predicted queue, with a dynamic offset (C. Lu et al., "FAFC: Fast and
//! Accurate Flow Control in Data Center Networks", sec. II-E, III-C; Algorithm 1, lines 16 and 17;
//! Algorithm 4).
//!
//! A packet that leaves is marked when FAFC's predicted length of the port's queue exceeds the
//! threshold plus the offset. The offset (ECNof) counts the bytes that arrive while the port is paused,
//! because a queue that grows on account of a pause is no congestion. Afterwards the offset falls with
//! the smoothed queue, and is 0 once that queue has been empty. The marking needs FAFC's backpressure,
//! which keeps the prediction.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::{Bytes, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, Parameters, Policy};
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::QueueForecast;

/// Parameters of the marking by prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictedConfig {
    /// Predicted queue of a port beyond which packets are marked (th_e).
    #[schemars(extend(
        "default" = "200 kB",
        "source" = "FAFC (Lu et al.) IV-A: 200 kB with a pause threshold of 350 kB"
    ))]
    pub threshold: Bytes,
}

impl Parameters for PredictedConfig {
    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        let remedy = format!(
            "it marks by the queue that FAFC predicts, and the backpressure is {}; use \
             backpressure \"fafc\", \
             or marking \"ecn\"",
            switch.backpressure.kind()
        );
        let holds = switch.backpressure.predicts_queues();
        problems.unless(holds, "marking.kind", "predicted", remedy);
    }

    fn has_marks(&self) -> bool {
        true
    }
}

/// Marking by prediction at a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Predicted {
    threshold: f64,
    /// ECNof by egress (bytes).
    offsets: Vec<f64>,
}

impl Predicted {
    pub(crate) fn new(config: &PredictedConfig, facts: &SwitchFacts) -> Self {
        let offsets = vec![0.0; facts.ports.len()];
        Predicted { threshold: config.threshold.get() as f64, offsets }
    }

    /// `bytes` have joined a queue of `egress`, which may be paused (`onEnqueueECN`).
    #[inline]
    fn stored(&mut self, egress: u16, bytes: u64, is_paused: bool) {
        if is_paused {
            self.offsets[usize::from(egress)] += bytes as f64;
        }
    }

    /// Whether a packet that leaves `egress` is marked. Afterwards lowers the offset (`onDequeueECN`).
    #[inline]
    fn left(&mut self, egress: u16, forecast: QueueForecast) -> bool {
        let offset = &mut self.offsets[usize::from(egress)];
        let is_marked = forecast.predicted > self.threshold + *offset;
        if *offset > 0.0 {
            *offset = forecast.queue.min(*offset).max(0.0);
        }
        is_marked
    }
}

impl Policy for Predicted {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Mark {
        let (class, bytes) = (packet.packet().class, packet.packet().wire_bytes);
        self.stored(packet.egress, u64::from(bytes), packet.port().is_stopped(class));
        Mark::default()
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Mark {
        Mark::of(self.left(packet.egress, packet.port().forecast()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::hosts;
    use crate::fixture::refusal::{BFC, DRR, DYNAMIC, refused};

    fn forecast(queue: f64, predicted: f64) -> QueueForecast {
        QueueForecast { queue, predicted }
    }

    #[test]
    fn what_arrived_during_a_pause_is_no_congestion_until_the_queue_has_drained() {
        let config = PredictedConfig { threshold: Bytes::new(1_000) };
        let mut marking = Predicted::new(&config, &hosts(2));
        assert!(!marking.left(0, forecast(900.0, 1_000.0)));
        assert!(marking.left(0, forecast(900.0, 1_001.0)));
        marking.stored(0, 500, false);
        assert_eq!(marking.offsets, [0.0, 0.0]);
        marking.stored(0, 500, true);
        marking.stored(0, 700, true);
        assert_eq!(marking.offsets, [1_200.0, 0.0]);
        assert!(!marking.left(0, forecast(1_500.0, 2_200.0)));
        assert_eq!(marking.offsets, [1_200.0, 0.0]);
        assert!(marking.left(0, forecast(800.0, 2_201.0)));
        assert_eq!(marking.offsets, [800.0, 0.0]);
        assert!(!marking.left(0, forecast(900.0, 1_800.0))); // the smallest that was seen
        assert!(!marking.left(0, forecast(-5.0, 0.0)));
        assert_eq!(marking.offsets, [0.0, 0.0]);
    }

    #[test]
    fn somebody_predicts_the_queue() {
        let predicted = ("marking", r#"{"kind": "predicted", "threshold": 200000}"#);
        let expected = "marking.kind is predicted; it marks by the queue that FAFC predicts, and the \
                        backpressure is bfc; use backpressure \"fafc\", or marking \"ecn\"";
        assert_eq!(refused(&[DYNAMIC, DRR, BFC, predicted], &[]), [expected]);
    }
}
