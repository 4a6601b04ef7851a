//! The bytes that each egress of a switch holds of each ingress, and the ingresses that are paused for
//! the sake of an egress. CaPFC and P-PFC share this state and the PFC beneath them.
//!
//! An ingress may be paused for several reasons; each reason is an egress or PFC. The upstream hears of
//! the first reason and of the end of the last one. There is one priority class.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{ControlFrame, Signal};
use penstock_units::{Bytes, Problems};

use super::pfc::{Pfc, PfcConfig};
use super::policy::Place;
use crate::admission::Admission;
use crate::passing::Passing;
use crate::stored::Stored;

/// The only class.
const CLASS: u8 = 0;

/// A packet that joins or leaves a queue of an egress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    /// Port by which it came.
    pub ingress: u16,
    /// Port by which it goes.
    pub egress: u16,
    /// Wire bytes.
    pub bytes: u64,
    /// Bytes that the egress holds now (bytes).
    pub egress_bytes: u64,
}

impl Transit {
    /// The packet of a hook's argument.
    #[inline]
    pub(crate) fn of(passing: &Passing<'_>) -> Self {
        let packet = passing.packet();
        Transit {
            ingress: packet.ingress,
            egress: passing.egress,
            bytes: u64::from(packet.wire_bytes),
            egress_bytes: passing.port().bytes(),
        }
    }
}

/// Checks the egress threshold, and the distance below the threshold at which ingresses resume.
pub(crate) fn check_threshold(threshold: Bytes, xon_offset: Bytes, problems: &mut Problems) {
    if problems.has_sound("threshold") {
        let remedy = format!(
            "ingresses that pause at {threshold} would resume only when no packet is left there; make it \
             smaller than threshold"
        );
        problems.unless(threshold > xon_offset, "xon_offset", xon_offset, remedy);
    }
}

/// Compares the bytes `counted` for each ingress and egress with the stored packets.
///
/// # Errors
/// The first pair that is wrong.
pub(crate) fn audit_pairs(
    stored: &Stored<'_>,
    counted: impl Fn(u16, u16) -> u64,
) -> Result<(), String> {
    let ports = stored.ports.len();
    let mut pairs = vec![0; ports * ports];
    for (egress, _, packet) in stored.packets() {
        pairs[usize::from(egress) * ports + usize::from(packet.ingress)] +=
            u64::from(packet.wire_bytes);
    }
    for (pair, &bytes) in pairs.iter().enumerate() {
        let (ingress, egress) = ((pair % ports) as u16, (pair / ports) as u16);
        let counted = counted(ingress, egress);
        if bytes != counted {
            return Err(format!(
                "{bytes} B are queued from port {ingress} to {egress}, {counted} counted"
            ));
        }
    }
    Ok(())
}

/// The traffic from one ingress to one egress.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Pair {
    /// Stored bytes (bytes).
    stored: u64,
    /// Whether the ingress is paused for the sake of the egress.
    is_stopped: bool,
}

/// The pairs of ports of a switch, and PFC.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Pairs {
    ports: usize,
    /// One row of ingresses for each egress.
    pairs: Vec<Pair>,
    /// By egress: number of ingresses whose bytes it holds.
    contributors: Vec<u32>,
    /// By ingress: number of reasons for its pause.
    reasons: Vec<u32>,
    pub(crate) pfc: Pfc,
}

impl Pairs {
    pub(crate) fn new(pfc: &PfcConfig, place: &Place<'_>) -> Self {
        let ports = place.facts.ports.len();
        Pairs {
            ports,
            pairs: vec![Pair::default(); ports * ports],
            contributors: vec![0; ports],
            reasons: vec![0; ports],
            pfc: Pfc::new(pfc, place),
        }
    }

    #[inline]
    fn index(&self, ingress: u16, egress: u16) -> usize {
        usize::from(egress) * self.ports + usize::from(ingress)
    }

    /// Bytes that `egress` holds of `ingress` (bytes).
    #[inline]
    pub(crate) fn stored(&self, ingress: u16, egress: u16) -> u64 {
        self.pairs[self.index(ingress, egress)].stored
    }

    /// Number of ingresses whose bytes `egress` holds.
    #[inline]
    pub(crate) fn contributors(&self, egress: u16) -> u32 {
        self.contributors[usize::from(egress)]
    }

    /// Whether `ingress` is paused for the sake of `egress`.
    #[inline]
    pub(crate) fn is_stopped(&self, ingress: u16, egress: u16) -> bool {
        self.pairs[self.index(ingress, egress)].is_stopped
    }

    /// The pause of `ingress`, if there is any reason for one.
    pub(crate) fn standing_pause(&self, ingress: u16) -> Option<ControlFrame> {
        let pause = ControlFrame { port: ingress, signal: Signal::PauseClass(CLASS) };
        (self.reasons[usize::from(ingress)] > 0).then_some(pause)
    }

    /// Checks the counters of every pair of ports, and the pauses for the sake of egresses.
    ///
    /// # Errors
    /// The first counter that is wrong.
    pub(crate) fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        audit_pairs(stored, |ingress, egress| self.stored(ingress, egress))?;
        match (0..self.ports as u16).find(|&ingress| !self.has_reasons(ingress)) {
            Some(ingress) => {
                Err(format!("ingress {ingress}: the reasons for its pause are miscounted"))
            }
            None => Ok(()),
        }
    }

    /// Whether the counted reasons of `ingress` match its actual ones.
    fn has_reasons(&self, ingress: u16) -> bool {
        let by_egress = (0..self.ports as u16).filter(|&egress| self.is_stopped(ingress, egress));
        let recounted = by_egress.count() as u32 + u32::from(self.pfc.is_paused(ingress.into()));
        recounted == self.reasons[usize::from(ingress)]
    }

    /// The ingress to which byte `place` of the bytes at `egress` belongs, with the bytes sorted by
    /// ingress; `None` when `egress` holds fewer bytes.
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

    /// A packet has joined a queue. Answers PFC's pause, if one is due and the ingress was not paused.
    #[inline]
    pub(crate) fn on_enqueue(&mut self, mmu: &Admission, packet: Transit) -> Option<ControlFrame> {
        let Transit { ingress, egress, bytes, .. } = packet;
        let index = self.index(ingress, egress);
        let pair = &mut self.pairs[index];
        self.contributors[usize::from(egress)] += u32::from(pair.stored == 0);
        pair.stored += bytes;
        self.pfc.on_stored(mmu, ingress, CLASS)?;
        self.add_reason(ingress)
    }

    /// A packet leaves its queue. Answers PFC's resume, if one is due and nothing else stops the
    /// ingress.
    #[inline]
    pub(crate) fn on_dequeue(&mut self, mmu: &Admission, packet: Transit) -> Option<ControlFrame> {
        let Transit { ingress, egress, bytes, .. } = packet;
        let index = self.index(ingress, egress);
        let pair = &mut self.pairs[index];
        pair.stored -= bytes;
        self.contributors[usize::from(egress)] -= u32::from(pair.stored == 0);
        self.pfc.on_released(mmu, ingress, CLASS)?;
        self.drop_reason(ingress)
    }

    /// Stops `ingress` for the sake of `egress`. Answers the pause, if the ingress was not paused.
    pub(crate) fn stop(&mut self, ingress: u16, egress: u16) -> Option<ControlFrame> {
        let index = self.index(ingress, egress);
        if core::mem::replace(&mut self.pairs[index].is_stopped, true) {
            return None;
        }
        self.add_reason(ingress)
    }

    /// Ends the stop of `ingress` for the sake of `egress`. Answers the resume, if nothing else stops
    /// `ingress`.
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
