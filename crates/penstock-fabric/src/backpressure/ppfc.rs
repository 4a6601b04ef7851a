//! P-PFC, predictive PFC (C. Tian et al., "P-PFC: Reducing Tail Latency with Predictive PFC in Lossless
//! Data Center Networks", IEEE TPDS 31(6), 2020), as its abstract and the paper of FAFC describe it.
//! The derivative of a buffer foretells that PFC will trigger, and P-PFC triggers in advance. The
//! paused ingress is drawn with the probability of its share of the egress queue (FAFC sec. II-C), so
//! links with victims are hit too. The one parameter T makes P-PFC aggressive or careful.
//!
//! Implemented: the stored bytes of each pair of ports, the derivative of the egress queues, pauses in
//! advance besides those of PFC. Left out: several priority classes.
//!
//! These sources say no more, and P-PFC's own paper was not at hand. Our choices:
//!
//! - T is both the time over which the derivative is taken and the time to look ahead. The prediction
//!   is the queue plus its growth in the last T, if the growth is positive. So a longer T sees further,
//!   and is calmer.
//! - Derivatives are renewed every T. The prediction is looked at when a packet leaves the egress, as
//!   with FAFC. Each time the prediction is beyond `threshold`, one ingress is drawn.
//! - An egress resumes all its paused ingresses at once, when the prediction is `xon_offset` below the
//!   threshold or the queue is empty. As with PFC, pauses have no end.
//!
//! By default T is the round trip of a hop, after which a pause works (FAFC Algorithm 1).

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::ControlFrame;
use penstock_units::random::Pcg32;
use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{Bytes, Problems, Time};
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pairs::{Pairs, Transit, check_threshold};
use super::pfc::PfcConfig;
use super::policy::{KeptPause, Parameters, Place, Policy, Stops};
use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::Port;
use crate::ports::Ports;
use crate::stored::Stored;

/// Parameters of P-PFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PpfcConfig {
    /// Predicted queue of an egress from which on its ingresses pause.
    #[schemars(
        range(min = 1),
        extend("default" = "350 kB", "source" = "FAFC (Lu et al.) IV-A: the queue at which it acts")
    )]
    pub threshold: Bytes,
    /// Resume this far below.
    #[schemars(extend(
        "default" = "3072 B",
        "source" = format!("{HPCC_SIMULATOR}: 3 x 1024 B, for PFC")
    ))]
    pub xon_offset: Bytes,
    /// How far is looked back and ahead (T).
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "2 us",
            "source" = "our choice: the round trip of a hop of 1 us, as FAFC looks ahead"
        )
    )]
    pub horizon: Time,
    /// PFC by the ingress queues.
    #[schemars(extend(
        "default" = {},
        "source" = "FAFC (Lu et al.) II-E: PFC with dynamic thresholds"
    ))]
    pub pfc: PfcConfig,
}

impl Parameters for PpfcConfig {
    fn check(&self, problems: &mut Problems) {
        check_threshold(self.threshold, self.xon_offset, problems);
        problems.within("pfc", |problems| self.pfc.check(problems));
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        self.pfc.fits_beneath_pairs(switch, problems);
    }
}

/// The queue of an egress at the last update.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Trend {
    /// Length of the queue (bytes).
    queue: u64,
    /// Growth of the queue in the last T, 0 if it did not grow (bytes).
    growth: u64,
}

/// P-PFC at a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Ppfc {
    threshold: u64,
    xon_offset: u64,
    horizon: Time,
    next_update: Time,
    /// The trends, by egress.
    trends: Vec<Trend>,
    /// By egress: number of ingresses that are paused for its sake.
    stopped: Vec<u32>,
    pub(crate) pairs: Pairs,
    /// Frames that wait to be taken.
    outbox: Vec<ControlFrame>,
}

impl Ppfc {
    pub(crate) fn new(config: &PpfcConfig, place: &Place<'_>) -> Self {
        let ports = place.facts.ports.len();
        Ppfc {
            threshold: config.threshold.get(),
            xon_offset: config.xon_offset.get(),
            horizon: config.horizon,
            next_update: config.horizon,
            trends: vec![Trend::default(); ports],
            stopped: vec![0; ports],
            pairs: Pairs::new(&config.pfc, place),
            outbox: Vec::with_capacity(ports),
        }
    }

    /// Pauses one ingress, drawn by its share of the bytes at `egress`.
    fn pause_one(&mut self, egress: u16, egress_bytes: u64, random: &mut Pcg32) {
        let place = (u128::from(random.next_u64()) * u128::from(egress_bytes)) >> 64;
        let Some(ingress) = self.pairs.owner(egress, place as u64) else { return };
        self.stopped[usize::from(egress)] += u32::from(!self.pairs.is_stopped(ingress, egress));
        self.outbox.extend(self.pairs.stop(ingress, egress));
    }

    /// Resumes all ingresses that `egress` has paused.
    fn resume(&mut self, egress: u16) {
        if core::mem::take(&mut self.stopped[usize::from(egress)]) == 0 {
            return;
        }
        for ingress in 0..self.trends.len() as u16 {
            self.outbox.extend(self.pairs.release(ingress, egress));
        }
    }
}

impl Policy for Ppfc {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        self.pairs.on_enqueue(packet.admission, Transit::of(packet))
    }

    /// All frames except PFC's own wait in the outbox.
    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        let transit = Transit::of(packet);
        let by_pfc = self.pairs.on_dequeue(packet.admission, transit);
        let Transit { egress, egress_bytes, .. } = transit;
        let predicted = egress_bytes + self.trends[usize::from(egress)].growth;
        if egress_bytes == 0 || predicted + self.xon_offset <= self.threshold {
            self.resume(egress);
        } else if predicted >= self.threshold {
            self.pause_one(egress, egress_bytes, packet.draws.own());
        }
        by_pfc
    }

    #[inline]
    fn take_frame(&mut self) -> Option<ControlFrame> {
        self.outbox.pop()
    }

    fn deadline(&self) -> Option<Time> {
        Some(self.next_update)
    }

    /// T is over: renews the derivatives.
    fn on_deadline(&mut self, now: Time, ports: &mut Ports) {
        for (trend, port) in self.trends.iter_mut().zip(ports.iter()) {
            let growth = port.bytes().saturating_sub(trend.queue);
            *trend = Trend { queue: port.bytes(), growth };
        }
        self.next_update = now + self.horizon;
    }

    fn threshold(&self, _: &Admission, _: u16, _: u16, _: &Port) -> i64 {
        self.threshold as i64
    }

    fn standing_pauses(&self, _: &Admission, ingress: u16) -> Vec<ControlFrame> {
        self.pairs.standing_pause(ingress).into_iter().collect()
    }

    fn peak_fraction(&self) -> Option<f64> {
        self.pairs.pfc.peak_fraction()
    }

    fn stops(&self) -> Option<Stops> {
        self.pairs.pfc.stops()
    }

    fn lasts(&self, admission: &Admission, pause: &KeptPause, shared: u64) -> bool {
        self.pairs.pfc.lasts(admission, pause, shared)
    }

    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        self.pairs.audit(stored)
    }
}

#[cfg(test)]
#[path = "ppfc_tests.rs"]
mod tests;
