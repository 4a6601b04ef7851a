//! ECN with a RED profile on the instantaneous egress queue (DCQCN, Y. Zhu et al., SIGCOMM 2015,
//! sec. 3.1; BFC sec. 6.2.1 for DCTCP and DCQCN).
//!
//! The mark probability is 0 up to Kmin, rises linearly to Pmax at Kmax, and is 1 beyond. At dequeue
//! the queue is the bytes that the packet leaves behind, as in the RDMA simulators. At enqueue the
//! queue includes the packet, as in DCTCP's paper.
//!
//! A port may have several queues for one kind of traffic, as with fair queueing between ingress ports.
//! Then the packet's own queue says little about the length of the egress queue, and
//! [`MarkedLength::Port`] compares all that the port holds.

use alloc::format;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{PortFacts, SwitchFacts};
use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{BitRate, Bytes, Fidelity, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, MarkingPoint, Parameters, Policy};
use crate::parts::Draws;
use crate::passing::Passing;

/// Parameters of ECN marking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnConfig {
    /// Queue up to which nothing is marked (Kmin).
    #[schemars(extend("default" = "100 kB", "source" = "BFC 6.2.1"))]
    pub kmin: Bytes,
    /// Queue beyond which everything is marked (Kmax), at least kmin.
    #[schemars(extend("default" = "400 kB", "source" = "BFC 6.2.1"))]
    pub kmax: Bytes,
    /// Marking probability at kmax (Pmax).
    #[schemars(
        range(max = 1.0),
        extend(
            "exclusiveMinimum" = 0.0,
            "default" = 1.0,
            "source" = "BFC authors' simulator (preeyshah/High-Precision-Congestion-Control); the paper is \
                        silent"
        )
    )]
    pub pmax: f64,
    /// When the queue is looked at.
    #[schemars(extend("default" = "dequeue", "source" = HPCC_SIMULATOR))]
    pub at: MarkingPoint,
    /// Whose bytes are compared with the profile.
    #[schemars(extend(
        "default" = "queue",
        "source" = format!(
            "{HPCC_SIMULATOR}: the bytes of the packet's queue; FAFC (Lu et al.) II-E: port, the length of \
             the egress queue"
        )
    ))]
    pub of: MarkedLength,
    /// Profiles of the ports of certain rates, in place of this one.
    #[schemars(extend("default" = [], "source" = "our choice: the same at every port"))]
    pub per_rate: Vec<RateProfile>,
}

/// The length that a RED profile is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkedLength {
    /// The bytes of the packet's own queue.
    Queue,
    /// The data bytes of all queues of the port.
    Port,
}

/// The RED profile of the ports of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(deny_unknown_fields)]
pub struct RateProfile {
    /// Rate of the ports.
    #[schemars(range(min = 1))]
    pub rate: BitRate,
    /// Queue up to which nothing is marked.
    pub kmin: Bytes,
    /// Queue beyond which everything is marked, at least kmin.
    pub kmax: Bytes,
    /// Marking probability at kmax.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub pmax: f64,
}

impl Parameters for EcnConfig {
    fn check(&self, problems: &mut Problems) {
        let own = (0..).zip(&self.per_rate);
        let own = own.map(|(index, own): (usize, _)| {
            (format!("per_rate[{index}].kmin"), own.kmin, own.kmax)
        });
        for (field, kmin, kmax) in [("kmin".into(), self.kmin, self.kmax)].into_iter().chain(own) {
            let remedy = format!("it is above kmax, {kmax}; make it at most kmax");
            problems.unless(kmin <= kmax, &field, kmin, remedy);
        }
    }

    fn has_marks(&self) -> bool {
        true
    }

    /// The ns-3 HPCC simulator marks by the packet's queue alone.
    fn is_in(&self, simulator: Fidelity) -> bool {
        match simulator {
            Fidelity::Exact => true,
            Fidelity::Ns3Bfc => false,
            Fidelity::Ns3Hpcc => self.of == MarkedLength::Queue,
        }
    }
}

/// ECN marking of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Ecn {
    at: MarkingPoint,
    of: MarkedLength,
    /// The profiles, by port.
    profiles: Vec<RateProfile>,
}

impl Ecn {
    pub(crate) fn new(config: &EcnConfig, facts: &SwitchFacts) -> Self {
        let &EcnConfig { kmin, kmax, pmax, at, of, ref per_rate } = config;
        let profile = |&PortFacts { rate, .. }: &PortFacts| {
            let own = per_rate.iter().find(|profile| profile.rate == rate);
            own.copied().unwrap_or(RateProfile { rate, kmin, kmax, pmax })
        };
        Ecn { at, of, profiles: facts.ports.iter().map(profile).collect() }
    }

    /// The mark of a packet that is at `point`.
    #[inline]
    fn mark(&self, point: MarkingPoint, packet: &mut Passing<'_>) -> Mark {
        let length = match self.of {
            MarkedLength::Queue => packet.queue_bytes,
            MarkedLength::Port => packet.port().bytes(),
        };
        Mark::of(self.marks(point, packet.egress, length, packet.draws))
    }

    /// Whether a packet at `egress` is marked. The length that counts is `queue_bytes`.
    #[inline]
    fn marks(&self, point: MarkingPoint, egress: u16, queue_bytes: u64, draws: &mut Draws) -> bool {
        if point != self.at {
            return false;
        }
        let profile = &self.profiles[usize::from(egress)];
        let (kmin, kmax) = (profile.kmin.get(), profile.kmax.get());
        if queue_bytes <= kmin {
            return false;
        }
        if queue_bytes > kmax {
            return true;
        }
        let share = (queue_bytes - kmin) as f64 / (kmax - kmin) as f64;
        draws.happens(profile.pmax * share)
    }
}

impl Policy for Ecn {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Mark {
        self.mark(MarkingPoint::Enqueue, packet)
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Mark {
        self.mark(MarkingPoint::Dequeue, packet)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::refusal::refused;
    use penstock_units::random::Pcg32;
    use serde_json::json;

    use super::*;
    use crate::fixture::{host_port, switch_with};

    fn ecn(kmin: u64, kmax: u64, pmax: f64) -> Ecn {
        let (kmin, kmax) = (Bytes::new(kmin), Bytes::new(kmax));
        let fast = BitRate::from_gbps(400);
        let per_rate = [RateProfile { rate: fast, kmin: kmax, kmax, pmax }].to_vec();
        let (at, of) = (MarkingPoint::Dequeue, MarkedLength::Queue);
        let config = EcnConfig { kmin, kmax, pmax, at, of, per_rate };
        let ports = [host_port(), PortFacts { rate: fast, ..host_port() }];
        Ecn::new(&config, &switch_with(ports.to_vec()))
    }

    #[test]
    fn a_port_of_another_rate_has_its_own_profile() {
        let red = ecn(1_000, 400_000, 1.0);
        let mut draws = Draws::new(Pcg32::new(1, 1));
        let mut marks = |port, bytes| red.marks(MarkingPoint::Dequeue, port, bytes, &mut draws);
        assert!(marks(0, 400_000) && !marks(1, 400_000) && marks(1, 400_001));
    }

    #[test]
    fn a_step_marks_beyond_its_threshold_only() {
        let step = ecn(1_000, 1_000, 1.0);
        let mut draws = Draws::new(Pcg32::new(1, 1));
        assert!(!step.marks(MarkingPoint::Dequeue, 0, 1_000, &mut draws));
        assert!(step.marks(MarkingPoint::Dequeue, 0, 1_001, &mut draws));
        assert!(!step.marks(MarkingPoint::Enqueue, 0, 9_000, &mut draws));
    }

    #[test]
    fn a_fixed_queue_is_marked_with_the_probability_of_the_profile() {
        let red = ecn(100_000, 400_000, 0.2);
        let mut draws = Draws::new(Pcg32::new(1, 1));
        let packets = 100_000;
        let marked = (0..packets)
            .filter(|_| red.marks(MarkingPoint::Dequeue, 0, 250_000, &mut draws))
            .count();
        // 0.2 · 150/300 = 0.1; four standard deviations of a binomial draw are 0.0038.
        assert!((marked as f64 / f64::from(packets) - 0.1).abs() < 0.0038, "{marked}");
    }

    #[test]
    fn thresholds_are_in_order() {
        let red = r#"{"kind": "ecn", "kmin": 100000, "kmax": 400000, "pmax": 1.0, "at": "dequeue",
                      "of": "queue", "per_rate": [{"rate": 1000, "kmin": 1, "kmax": 2, "pmax": 0.5}]}"#;
        let refused = |at, value| refused(&[("marking", red)], &[(at, value)]);
        assert!(refused("/marking/kmin", json!(400_000)).is_empty());
        let expected = "marking.kmin is 1 MB; it is above kmax, 400 kB; make it at most kmax";
        assert_eq!(refused("/marking/kmin", json!(1_000_000)), [expected]);
        let expected =
            "marking.per_rate[0].kmin is 3 B; it is above kmax, 2 B; make it at most kmax";
        assert_eq!(refused("/marking/per_rate/0/kmin", json!(3)), [expected]);
    }
}
