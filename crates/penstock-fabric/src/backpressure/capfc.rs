//! CaPFC, congestion-aware PFC (S. N. Avci, Z. Li, F. Liu, "Congestion Aware Priority Flow Control in
//! Data Center Networks", IFIP Networking 2016), as the paper of FAFC describes it: PFC that looks at
//! egress queues too, and pauses the ingresses that contribute too much to one before it is full
//! (FAFC sec. I and II-C). Which of them carry victims it does not ask.
//!
//! Implemented: for each pair of ports the bytes stored; pauses and resumes of the egress queues
//! beside those of PFC. Left out: several priority classes.
//!
//! FAFC gives no more than that, and CaPFC's own paper was not at hand. Our choices:
//!
//! - An ingress contributes too much when an egress beyond `threshold` holds at least an equal share of
//!   the threshold from it, n contributors having a share of 1/n: the only split that treats them all
//!   alike, and by which there is always one to pause.
//! - It is resumed when what is held of it is `xon_offset` below that share, or the egress is so much
//!   below `threshold`, as PFC does with its own.
//! - As with PFC, a pair is looked at when one of its packets comes or goes, and pauses have no end.
//!
//! | field | default | source |
//! |---|---|---|
//! | `threshold` | 350 kB | FAFC sec. IV-A: the queue of an egress at which it acts |
//! | `xon_offset` | 3,072 B | that of PFC: HPCC simulator |
//! | `pfc` | dynamic | the ingress queues; as beneath FAFC (sec. II-E) |

use penstock_packet::ControlFrame;
use penstock_units::Bytes;
use serde::{Deserialize, Serialize};

use super::pairs::{Pairs, Passing};
use super::pfc::PfcConfig;
use crate::admission::Admission;

/// Parameters of CaPFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapfcConfig {
    /// Egress queue from which on ingresses with more than their share are paused (bytes), > 0.
    pub threshold: Bytes,
    /// How far below threshold or share they are resumed (bytes), < `threshold`.
    pub xon_offset: Bytes,
    /// PFC by the ingress queues.
    pub pfc: PfcConfig,
}

/// CaPFC at a switch.
#[derive(Debug)]
pub(crate) struct Capfc {
    threshold: u64,
    xon_offset: u64,
    pub(crate) pairs: Pairs,
}

impl Capfc {
    pub(crate) fn new(config: &CapfcConfig, ports: usize) -> Self {
        Capfc {
            threshold: config.threshold.get(),
            xon_offset: config.xon_offset.get(),
            pairs: Pairs::new(&config.pfc, ports),
        }
    }

    /// The egress queue from which on ingresses are paused (bytes).
    pub(crate) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// What one of the ingresses of `egress` may hold there (bytes).
    #[inline]
    fn share(&self, egress: u16) -> u64 {
        self.threshold / u64::from(self.pairs.contributors(egress).max(1))
    }

    /// A packet has joined a queue.
    #[inline]
    pub(crate) fn on_enqueue(&mut self, mmu: &Admission, packet: Passing) -> Option<ControlFrame> {
        let by_pfc = self.pairs.on_enqueue(mmu, packet);
        let Passing { ingress, egress, egress_bytes, .. } = packet;
        let is_excess = self.pairs.stored(ingress, egress) >= self.share(egress);
        if egress_bytes < self.threshold || !is_excess {
            return by_pfc;
        }
        by_pfc.or(self.pairs.stop(ingress, egress))
    }

    /// It leaves.
    #[inline]
    pub(crate) fn on_dequeue(&mut self, mmu: &Admission, packet: Passing) -> Option<ControlFrame> {
        let by_pfc = self.pairs.on_dequeue(mmu, packet);
        let Passing { ingress, egress, egress_bytes, .. } = packet;
        if !self.pairs.is_stopped(ingress, egress) {
            return by_pfc;
        }
        let stored = self.pairs.stored(ingress, egress);
        let is_low = stored == 0
            || stored + self.xon_offset <= self.share(egress)
            || egress_bytes + self.xon_offset <= self.threshold;
        if is_low { by_pfc.or(self.pairs.release(ingress, egress)) } else { by_pfc }
    }
}

#[cfg(test)]
#[path = "capfc_tests.rs"]
mod tests;
