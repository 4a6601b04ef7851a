//! Priority flow control (IEEE 802.1Qbb), as the ns-3 HPCC simulator models it.
//!
//! A class of an ingress port is paused when its bytes reach XOFF or spill into the headroom, and
//! resumed when the headroom is empty and its bytes are at least `xon_offset` below XOFF. XOFF is
//! the dynamic threshold of the shared admission, or static. It is looked at when a packet of the
//! port and class comes or goes, as in switches; pauses have no timer and last until the resume.
//!
//! | field | default | source |
//! |---|---|---|
//! | `xon_offset` | 3,072 B | HPCC simulator |
//! | `xoff` | dynamic | BFC sec. 6.2.1: 11 % of the free buffer; PCN and FAFC use static values |

use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{ControlFrame, Signal};
use penstock_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::admission::Admission;

/// Parameters of PFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PfcConfig {
    /// How far below XOFF a class is resumed (bytes).
    pub xon_offset: Bytes,
    /// A static XOFF (bytes); none for the dynamic threshold.
    pub xoff: Option<Bytes>,
}

/// PFC at the ingress ports of a switch.
#[derive(Debug)]
pub struct Pfc {
    xon_offset: u64,
    xoff: Option<u64>,
    is_paused: Vec<bool>,
    peak_fraction: f64,
}

impl Pfc {
    pub(crate) fn new(config: &PfcConfig, accounts: usize) -> Self {
        Pfc {
            xon_offset: config.xon_offset.get(),
            xoff: config.xoff.map(Bytes::get),
            is_paused: vec![false; accounts],
            peak_fraction: 0.0,
        }
    }

    /// The largest share of XOFF that an ingress port and class has held.
    pub fn peak_fraction(&self) -> f64 {
        self.peak_fraction
    }

    /// Whether an account is paused.
    pub(crate) fn is_paused(&self, account: usize) -> bool {
        self.is_paused[account]
    }

    /// XOFF of a port at this moment.
    #[inline]
    pub(crate) fn threshold(&self, admission: &Admission, ingress: u16) -> u64 {
        self.xoff.or_else(|| admission.ingress_threshold(ingress)).unwrap_or(u64::MAX)
    }

    /// The classes of an ingress port that are paused.
    pub(crate) fn paused(
        &self,
        admission: &Admission,
        ingress: u16,
    ) -> impl Iterator<Item = u8> + use<'_> {
        let first = admission.accounts().index(ingress, 0);
        let classes = first..admission.accounts().index(ingress, u8::MAX) + 1;
        (0..).zip(&self.is_paused[classes]).filter(|(_, is_paused)| **is_paused).map(|(c, _)| c)
    }

    /// Whether the pause of `(ingress, class)` would last if the account held no more than `bytes`
    /// and all accounts together `shared` bytes of the pool, for a detector of deadlocks.
    pub(crate) fn lasts(
        &self,
        admission: &Admission,
        (ingress, class): (u16, u8),
        bytes: u64,
        shared: u64,
    ) -> bool {
        let is_paused = self.is_paused[admission.accounts().index(ingress, class)];
        let fills_headroom = bytes > admission.accounts().ingress(ingress, class).used;
        let threshold = self.xoff.or_else(|| admission.threshold_with(ingress, shared));
        let is_low = self.is_low(admission.beyond_reserve(bytes), threshold.unwrap_or(u64::MAX));
        is_paused && (fills_headroom || !is_low)
    }

    /// Whether an account that holds `held` bytes beyond its reserve may be resumed.
    #[inline]
    fn is_low(&self, held: u64, threshold: u64) -> bool {
        held == 0 || held + self.xon_offset <= threshold
    }

    #[inline]
    pub(crate) fn on_enqueue(
        &mut self,
        admission: &Admission,
        ingress: u16,
        class: u8,
    ) -> Option<ControlFrame> {
        let index = admission.accounts().index(ingress, class);
        let account = admission.accounts().ingress(ingress, class);
        let threshold = self.threshold(admission, ingress);
        let held = admission.shared_bytes(account);
        let stored = (held + account.headroom) as f64;
        if stored > self.peak_fraction * threshold as f64 {
            self.peak_fraction = stored / threshold.max(1) as f64;
        }
        if self.is_paused[index] || (account.headroom == 0 && held < threshold) {
            return None;
        }
        self.is_paused[index] = true;
        Some(ControlFrame { port: ingress, signal: Signal::PauseClass(class) })
    }

    #[inline]
    pub(crate) fn on_dequeue(
        &mut self,
        admission: &Admission,
        ingress: u16,
        class: u8,
    ) -> Option<ControlFrame> {
        let index = admission.accounts().index(ingress, class);
        if !self.is_paused[index] {
            return None;
        }
        let account = admission.accounts().ingress(ingress, class);
        let held = admission.shared_bytes(account);
        if account.headroom > 0 || !self.is_low(held, self.threshold(admission, ingress)) {
            return None;
        }
        self.is_paused[index] = false;
        Some(ControlFrame { port: ingress, signal: Signal::ResumeClass(class) })
    }
}

#[cfg(test)]
#[path = "pfc_tests.rs"]
mod tests;
