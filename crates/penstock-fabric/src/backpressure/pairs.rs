//! What each egress of a switch holds of each ingress, and which ingresses are paused for the sake of
//! an egress: what CaPFC and P-PFC have in common, with the PFC beneath them.
//!
//! An ingress may be paused for several reasons, each an egress or PFC. The upstream hears of the
//! first reason and of the end of the last one. There is one priority class.

use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{ControlFrame, Signal};

use super::pfc::{Pfc, PfcConfig};
use crate::admission::Admission;
use crate::port::Port;

/// The only class.
const CLASS: u8 = 0;

/// A packet that joins or leaves a queue of an egress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// Port by which it came.
    pub ingress: u16,
    /// Port by which it goes.
    pub egress: u16,
    /// Wire bytes.
    pub bytes: u64,
    /// What the egress holds now (bytes).
    pub egress_bytes: u64,
}

impl Passing {
    /// A packet of `bytes` from an ingress to `port`, its egress.
    #[inline]
    pub(crate) fn at(port: &Port, (ingress, egress): (u16, u16), bytes: u64) -> Self {
        Passing { ingress, egress, bytes, egress_bytes: port.bytes() }
    }
}

/// The traffic from one ingress to one egress.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// What is stored (bytes).
    stored: u64,
    /// Whether the ingress is paused for the sake of the egress.
    is_stopped: bool,
}

/// The pairs of ports of a switch, and PFC.
#[derive(Debug)]
pub(crate) struct Pairs {
    ports: usize,
    /// One row of ingresses for each egress.
    pairs: Vec<Pair>,
    /// By egress: ingresses of which it holds something.
    contributors: Vec<u32>,
    /// By ingress: reasons for its pause.
    reasons: Vec<u32>,
    pub(crate) pfc: Pfc,
}

impl Pairs {
    pub(crate) fn new(pfc: &PfcConfig, ports: usize) -> Self {
        Pairs {
            ports,
            pairs: vec![Pair::default(); ports * ports],
            contributors: vec![0; ports],
            reasons: vec![0; ports],
            pfc: Pfc::new(pfc, ports),
        }
    }

    #[inline]
    fn index(&self, ingress: u16, egress: u16) -> usize {
        usize::from(egress) * self.ports + usize::from(ingress)
    }

    /// What `egress` holds of `ingress` (bytes).
    #[inline]
    pub(crate) fn stored(&self, ingress: u16, egress: u16) -> u64 {
        self.pairs[self.index(ingress, egress)].stored
    }

    /// Of how many ingresses `egress` holds something.
    #[inline]
    pub(crate) fn contributors(&self, egress: u16) -> u32 {
        self.contributors[usize::from(egress)]
    }

    /// Whether `ingress` is paused for the sake of `egress`.
    #[inline]
    pub(crate) fn is_stopped(&self, ingress: u16, egress: u16) -> bool {
        self.pairs[self.index(ingress, egress)].is_stopped
    }

    /// The class of `ingress` that is paused, if it is, for whatever reason.
    pub(crate) fn paused_class(&self, ingress: u16) -> Option<u8> {
        (self.reasons[usize::from(ingress)] > 0).then_some(CLASS)
    }

    /// How many reasons `ingress` has to be paused, recounted, for checks.
    pub(crate) fn has_reasons(&self, ingress: u16) -> bool {
        let by_egress = (0..self.ports as u16).filter(|&egress| self.is_stopped(ingress, egress));
        let recounted = by_egress.count() as u32 + u32::from(self.pfc.is_paused(ingress.into()));
        recounted == self.reasons[usize::from(ingress)]
    }

    /// The ingress to which byte `place` of what `egress` holds belongs, the bytes being sorted by
    /// ingress; none when it holds less.
    pub(crate) fn owner(&self, egress: u16, mut place: u64) -> Option<u16> {
        let row = usize::from(egress) * self.ports;
        for (ingress, pair) in (0..).zip(&self.pairs[row..row + self.ports]) {
            if place < pair.stored {
                return Some(ingress);
            }
            place -= pair.stored;
        }
        None
    }

    /// A packet has joined a queue; PFC's pause, if its ingress was not paused.
    #[inline]
    pub(crate) fn on_enqueue(&mut self, mmu: &Admission, packet: Passing) -> Option<ControlFrame> {
        let Passing { ingress, egress, bytes, .. } = packet;
        let index = self.index(ingress, egress);
        let pair = &mut self.pairs[index];
        self.contributors[usize::from(egress)] += u32::from(pair.stored == 0);
        pair.stored += bytes;
        self.pfc.on_enqueue(mmu, ingress, CLASS)?;
        self.add_reason(ingress)
    }

    /// It leaves; PFC's resume, if nothing else stops its ingress.
    #[inline]
    pub(crate) fn on_dequeue(&mut self, mmu: &Admission, packet: Passing) -> Option<ControlFrame> {
        let Passing { ingress, egress, bytes, .. } = packet;
        let index = self.index(ingress, egress);
        let pair = &mut self.pairs[index];
        pair.stored -= bytes;
        self.contributors[usize::from(egress)] -= u32::from(pair.stored == 0);
        self.pfc.on_dequeue(mmu, ingress, CLASS)?;
        self.drop_reason(ingress)
    }

    /// Stops `ingress` for the sake of `egress`; the pause, if it was not paused.
    pub(crate) fn stop(&mut self, ingress: u16, egress: u16) -> Option<ControlFrame> {
        let index = self.index(ingress, egress);
        if core::mem::replace(&mut self.pairs[index].is_stopped, true) {
            return None;
        }
        self.add_reason(ingress)
    }

    /// No longer does so; the resume, if nothing else stops `ingress`.
    pub(crate) fn release(&mut self, ingress: u16, egress: u16) -> Option<ControlFrame> {
        let index = self.index(ingress, egress);
        if !core::mem::replace(&mut self.pairs[index].is_stopped, false) {
            return None;
        }
        self.drop_reason(ingress)
    }

    fn add_reason(&mut self, ingress: u16) -> Option<ControlFrame> {
        let reasons = &mut self.reasons[usize::from(ingress)];
        *reasons += 1;
        let frame = ControlFrame { port: ingress, signal: Signal::PauseClass(CLASS) };
        (*reasons == 1).then_some(frame)
    }

    fn drop_reason(&mut self, ingress: u16) -> Option<ControlFrame> {
        let reasons = &mut self.reasons[usize::from(ingress)];
        *reasons -= 1;
        let frame = ControlFrame { port: ingress, signal: Signal::ResumeClass(CLASS) };
        (*reasons == 0).then_some(frame)
    }
}
