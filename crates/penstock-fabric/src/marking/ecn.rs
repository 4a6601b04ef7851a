//! ECN with a RED profile on the instantaneous egress queue (DCQCN, Y. Zhu et al., SIGCOMM 2015,
//! sec. 3.1; BFC sec. 6.2.1 for DCTCP and DCQCN).
//!
//! The mark probability is 0 up to Kmin, rises linearly to Pmax at Kmax, and is 1 beyond. Evaluated
//! at dequeue, the queue is what the packet leaves behind, as in the RDMA simulators; at enqueue it
//! includes the packet, as in DCTCP's paper.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | Kmin, Kmax | `kmin`, `kmax` | 100 kB, 400 kB at 100 Gb/s | BFC sec. 6.2.1 |
//! | Pmax | `pmax` | 1 | BFC authors' simulator; the paper is silent |

use penstock_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::parts::Draws;

/// Where a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkingPoint {
    /// When it leaves its queue.
    Dequeue,
    /// When it joins its queue.
    Enqueue,
}

/// Parameters of ECN marking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EcnConfig {
    /// Queue length up to which nothing is marked (bytes).
    pub kmin: Bytes,
    /// Queue length beyond which everything is marked (bytes), >= `kmin`.
    pub kmax: Bytes,
    /// Mark probability at `kmax`, in (0, 1].
    pub pmax: f64,
    /// Where the queue is looked at.
    pub at: MarkingPoint,
}

/// ECN marking of a switch.
#[derive(Debug)]
pub(crate) struct Ecn {
    kmin: u64,
    kmax: u64,
    pmax: f64,
    at: MarkingPoint,
}

impl Ecn {
    pub(crate) fn new(config: &EcnConfig) -> Self {
        Ecn { kmin: config.kmin.get(), kmax: config.kmax.get(), pmax: config.pmax, at: config.at }
    }

    #[inline]
    pub(crate) fn marks(&self, point: MarkingPoint, queue_bytes: u64, draws: &mut Draws) -> bool {
        if point != self.at || queue_bytes <= self.kmin {
            return false;
        }
        if queue_bytes > self.kmax {
            return true;
        }
        let share = (queue_bytes - self.kmin) as f64 / (self.kmax - self.kmin) as f64;
        draws.happens(self.pmax * share)
    }
}

#[cfg(test)]
mod tests {
    use rand_pcg::Pcg32;

    use super::*;

    fn ecn(kmin: u64, kmax: u64, pmax: f64) -> Ecn {
        let (kmin, kmax) = (Bytes::new(kmin), Bytes::new(kmax));
        Ecn::new(&EcnConfig { kmin, kmax, pmax, at: MarkingPoint::Dequeue })
    }

    #[test]
    fn a_step_marks_beyond_its_threshold_only() {
        let step = ecn(1_000, 1_000, 1.0);
        let mut draws = Draws::new(Pcg32::new(1, 1));
        assert!(!step.marks(MarkingPoint::Dequeue, 1_000, &mut draws));
        assert!(step.marks(MarkingPoint::Dequeue, 1_001, &mut draws));
        assert!(!step.marks(MarkingPoint::Enqueue, 9_000, &mut draws));
    }

    #[test]
    fn a_fixed_queue_is_marked_with_the_probability_of_the_profile() {
        let red = ecn(100_000, 400_000, 0.2);
        let mut draws = Draws::new(Pcg32::new(1, 1));
        let packets = 100_000;
        let marked =
            (0..packets).filter(|_| red.marks(MarkingPoint::Dequeue, 250_000, &mut draws)).count();
        // 0.2 · 150/300 = 0.1; four standard deviations of a binomial draw are 0.0038.
        assert!((marked as f64 / f64::from(packets) - 0.1).abs() < 0.0038, "{marked}");
    }
}
