//! CaPFC, congestion-aware PFC (S. N. Avci, Z. Li, F. Liu, "Congestion Aware Priority Flow Control in
//! Data Center Networks", IFIP Networking 2016), as the paper of FAFC describes it. CaPFC is PFC that
//! looks at egress queues too. Before an egress queue is full, it pauses the ingresses that contribute
//! too much to the queue (FAFC sec. I and II-C). It does not ask which of them carry victims.
//!
//! Implemented: the stored bytes of each pair of ports; pauses and resumes by the egress queues besides
//! those of PFC. Left out: several priority classes.
//!
//! FAFC says no more, and CaPFC's own paper was not at hand. Our choices:
//!
//! - An ingress contributes too much when an egress beyond `threshold` holds at least an equal share of
//!   the threshold from it. With n contributors the share is 1/n. Only this split treats all
//!   contributors alike and always finds one to pause.
//! - The ingress resumes when its bytes at the egress are `xon_offset` below that share, or when the
//!   egress is as far below `threshold`. PFC uses its own thresholds in the same way.
//! - As with PFC, a pair is looked at when one of its packets comes or goes, and pauses have no end.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::ControlFrame;
use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{Bytes, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pairs::{Pairs, Transit, check_threshold};
use super::pfc::PfcConfig;
use super::policy::{KeptPause, Parameters, Place, Policy, Stops};
use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::Port;
use crate::stored::Stored;

/// Parameters of CaPFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapfcConfig {
    /// Queue of an egress from which on ingresses with more than their share pause.
    #[schemars(
        range(min = 1),
        extend("default" = "350 kB", "source" = "FAFC (Lu et al.) IV-A: the queue at which it acts")
    )]
    pub threshold: Bytes,
    /// Resume this far below threshold or share.
    #[schemars(extend(
        "default" = "3072 B",
        "source" = format!("{HPCC_SIMULATOR}: 3 x 1024 B, for PFC")
    ))]
    pub xon_offset: Bytes,
    /// PFC by the ingress queues.
    #[schemars(extend(
        "default" = {},
        "source" = "FAFC (Lu et al.) II-E: PFC with dynamic thresholds"
    ))]
    pub pfc: PfcConfig,
}

impl Parameters for CapfcConfig {
    fn check(&self, problems: &mut Problems) {
        check_threshold(self.threshold, self.xon_offset, problems);
        problems.within("pfc", |problems| self.pfc.check(problems));
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        self.pfc.fits_beneath_pairs(switch, problems);
    }
}

/// CaPFC at a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Capfc {
    threshold: u64,
    xon_offset: u64,
    pub(crate) pairs: Pairs,
}

impl Capfc {
    pub(crate) fn new(config: &CapfcConfig, place: &Place<'_>) -> Self {
        Capfc {
            threshold: config.threshold.get(),
            xon_offset: config.xon_offset.get(),
            pairs: Pairs::new(&config.pfc, place),
        }
    }

    /// The share of the threshold for one ingress of `egress` (bytes).
    #[inline]
    fn share(&self, egress: u16) -> u64 {
        self.threshold / u64::from(self.pairs.contributors(egress).max(1))
    }
}

impl Policy for Capfc {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        let transit = Transit::of(packet);
        let by_pfc = self.pairs.on_enqueue(packet.admission, transit);
        let Transit { ingress, egress, egress_bytes, .. } = transit;
        let is_excess = self.pairs.stored(ingress, egress) >= self.share(egress);
        if egress_bytes < self.threshold || !is_excess {
            return by_pfc;
        }
        by_pfc.or(self.pairs.stop(ingress, egress))
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        let transit = Transit::of(packet);
        let by_pfc = self.pairs.on_dequeue(packet.admission, transit);
        let Transit { ingress, egress, egress_bytes, .. } = transit;
        if !self.pairs.is_stopped(ingress, egress) {
            return by_pfc;
        }
        let stored = self.pairs.stored(ingress, egress);
        let is_low = stored == 0
            || stored.saturating_add(self.xon_offset) <= self.share(egress)
            || egress_bytes.saturating_add(self.xon_offset) <= self.threshold;
        if is_low { by_pfc.or(self.pairs.release(ingress, egress)) } else { by_pfc }
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
#[path = "capfc_tests.rs"]
mod tests;
