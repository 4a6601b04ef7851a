//! Priority flow control (IEEE 802.1Qbb), as the ns-3 HPCC simulator models it.
//!
//! A class of an ingress port is paused when its bytes reach XOFF or spill into the headroom. The class
//! is resumed when the headroom is empty and its bytes are at least `xon_offset` below XOFF. XOFF is
//! the dynamic threshold of the shared admission, or static. XOFF is looked at when a packet of the
//! port and class comes or goes, as in switches. Pauses have no timer and last until the resume, unless
//! `pause` says otherwise. BFC's dynamic XOFF is 11 % of the free buffer (sec. 6.2.1); PCN and FAFC use
//! static values.
//!
//! Timed pauses are those of the DCQCN authors' simulator (bobzhuyb/ns3-rdma,
//! `QbbNetDevice::CheckQueueFull`), from which the simulator of PCN was developed. A frame pauses a class
//! for a time. Above XOFF each packet that arrives sends another frame, and so does a clock. Below XOFF
//! no frame follows, and the pause ends with its time or with a resume at XON, whichever comes first.
//! What differs here: the clock is one of the switch and does not begin with the pause, a resume is sent
//! when the packet that makes room leaves (there: at the next arrival or tick), and XOFF is reached, not
//! exceeded.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{ControlFrame, Signal};
use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{Bytes, Fidelity, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{KeptPause, Parameters, Place, Policy, Repeats, Stops};
use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::Port;

/// Parameters of PFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfcConfig {
    /// Resume this far below the pause threshold.
    #[schemars(extend(
        "default" = "3072 B",
        "source" = format!("{HPCC_SIMULATOR}: 3 x 1024 B")
    ))]
    pub xon_offset: Bytes,
    /// Pause threshold of an ingress (XOFF); null: the dynamic one of admission.ingress.
    #[schemars(range(min = 1), extend("default" = null, "source" = "BFC 6.2.1: dynamic"))]
    pub xoff: Option<Bytes>,
    /// How long a pause lasts.
    #[schemars(extend(
        "default" = {"kind": "lasting"},
        "source" = format!("{HPCC_SIMULATOR}: until the resume")
    ))]
    pub pause: PfcPause,
}

/// How long a pause lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PfcPause {
    /// Until the resume.
    Lasting {},
    /// For a time, unless another frame comes before; frames follow while the ingress is above XOFF.
    Timed {
        /// How long a pause lasts after its last frame, in whole nanoseconds.
        #[schemars(
            range(min = 1_000, max = LONGEST_LIFETIME),
            extend("default" = "5 us", "source" = format!("{DCQCN_SIMULATOR}: PAUSE_TIME 5"))
        )]
        lifetime: Time,
        /// Time between two frames of a switch's clock, at most the lifetime.
        #[schemars(
            range(min = Time::LEAST_PERIOD.as_ps()),
            extend(
                "default" = "2 us",
                "source" = format!("{DCQCN_SIMULATOR}: half of PAUSE_TIME, in whole microseconds")
            )
        )]
        refresh: Time,
        /// Whether each packet that arrives above XOFF sends a frame, too.
        #[schemars(extend("default" = true, "source" = DCQCN_SIMULATOR))]
        at_arrivals: bool,
    },
}

/// The source of timed pauses.
const DCQCN_SIMULATOR: &str = "released DCQCN simulator (bobzhuyb/ns3-rdma)";

/// The longest pause that a frame can name here (ps): 2^32 - 1 ns.
const LONGEST_LIFETIME: u64 = u32::MAX as u64 * 1_000;

impl Parameters for PfcConfig {
    /// Checks that XON lies between 0 and XOFF.
    fn check(&self, problems: &mut Problems) {
        if let Some(xoff) = self.xoff.filter(|_| problems.has_sound("xoff")) {
            let remedy = format!(
                "a resume that far below the pause at {xoff} would never be sent, as XON must lie between 0 \
                 and XOFF; make it smaller than xoff"
            );
            problems.unless(self.xon_offset < xoff, "xon_offset", self.xon_offset, remedy);
        }
        if let PfcPause::Timed { lifetime, refresh, .. } = self.pause {
            let remedy =
                format!("pauses would end between two frames; write at most lifetime, {lifetime}");
            problems.unless(refresh <= lifetime, "pause.refresh", refresh, remedy);
            let remedy = "frames name whole nanoseconds; round it";
            let is_whole = lifetime.as_ps() % 1_000 == 0;
            problems.unless(is_whole, "pause.lifetime", lifetime, remedy);
        }
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        problems.within("backpressure", |problems| self.fits_admission(switch, problems));
    }

    fn lets_rounds_end(&self) -> bool {
        true
    }

    fn repeats(&self, _: u32) -> Option<Repeats> {
        match self.pause {
            PfcPause::Lasting {} => None,
            PfcPause::Timed { refresh: interval, .. } => {
                Some(Repeats { field: "pause.refresh", interval, frames: 1 })
            }
        }
    }

    fn is_in(&self, simulator: Fidelity) -> bool {
        let is_lasting = self.pause == PfcPause::Lasting {};
        simulator == Fidelity::Exact || (simulator == Fidelity::Ns3Hpcc && is_lasting)
    }
}

impl PfcConfig {
    /// Checks that XOFF is static, or that the admission has thresholds for XOFF to follow.
    fn fits_admission(&self, switch: &SwitchConfig, problems: &mut Problems) {
        let holds = self.xoff.is_some() || switch.admission.has_thresholds();
        let remedy = "without it PFC pauses at the threshold of an ingress, and the admission has \
                      none; write \
                      e.g. \"250 kB\", or use a shared buffer with thresholds in admission.ingress";
        problems.unless(holds, "xoff", "null", remedy);
    }

    /// The same check for PFC beneath a policy that pauses until the resume, too.
    pub(super) fn fits_beneath_pairs(&self, switch: &SwitchConfig, problems: &mut Problems) {
        let (name, holds) = (switch.backpressure.kind(), self.pause == PfcPause::Lasting {});
        let remedy = format!("beneath {name} pauses last until their resume; write \"lasting\"");
        problems.unless(holds, "backpressure.pfc.pause.kind", "timed", remedy);
        self.fits_beneath(switch, problems);
    }

    /// The same check for PFC beneath another policy, where PFC knows one class.
    pub(super) fn fits_beneath(&self, switch: &SwitchConfig, problems: &mut Problems) {
        problems.within("backpressure.pfc", |problems| self.fits_admission(switch, problems));
        if problems.has_sound("assignment.classes") {
            let (classes, kind) = (switch.assignment.classes(), switch.backpressure.kind());
            let remedy = format!("the backpressure {kind} knows one class; use one class");
            problems.unless(classes == 1, "assignment.classes", classes, remedy);
        }
    }
}

/// PFC at the ingress ports of a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
#[repr(C)] // what each packet needs comes first
pub(crate) struct Pfc {
    /// How many accounts are paused: mostly none, and then no packet that leaves looks for its own.
    paused: u32,
    peak: Peak,
    xoff: Option<u64>,
    xon_offset: u64,
    is_paused: Vec<bool>,
    pause: PfcPause,
}

/// The largest share of its XOFF that an account has held: the bytes that it held then, and its XOFF then,
/// at least 1 (bytes). Shares are compared as two products: with floats each packet took a dozen
/// instructions more.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Peak {
    stored: u64,
    xoff: u64,
}

impl Peak {
    /// An account holds `stored` bytes, and its XOFF is `xoff`.
    #[inline]
    fn see(&mut self, stored: u64, xoff: u64) {
        if u128::from(stored) * u128::from(self.xoff) > u128::from(self.stored) * u128::from(xoff) {
            *self = Peak { stored, xoff: xoff.max(1) };
        }
    }
}

impl Pfc {
    pub(crate) fn new(config: &PfcConfig, place: &Place<'_>) -> Self {
        Pfc {
            paused: 0,
            xon_offset: config.xon_offset.get(),
            xoff: config.xoff.map(Bytes::get),
            pause: config.pause,
            is_paused: vec![false; place.accounts],
            peak: Peak { stored: 0, xoff: 1 },
        }
    }

    /// Whether an account is paused.
    pub(crate) fn is_paused(&self, account: usize) -> bool {
        self.is_paused[account]
    }

    /// XOFF of a port at this moment.
    #[inline]
    fn xoff(&self, admission: &Admission, ingress: u16) -> u64 {
        self.xoff.or_else(|| admission.ingress_threshold(ingress)).unwrap_or(u64::MAX)
    }

    /// The classes of an ingress port that are paused.
    fn paused(&self, admission: &Admission, ingress: u16) -> impl Iterator<Item = u8> + use<'_> {
        let first = admission.accounts().index(ingress, 0);
        let classes = first..admission.accounts().index(ingress, u8::MAX) + 1;
        (0..).zip(&self.is_paused[classes]).filter(|(_, is_paused)| **is_paused).map(|(c, _)| c)
    }

    /// Whether an account that holds `held` bytes beyond its reserve may be resumed.
    #[inline]
    fn is_low(&self, held: u64, threshold: u64) -> bool {
        held == 0 || held.saturating_add(self.xon_offset) <= threshold
    }

    /// Bytes of an ingress port and class have been stored. Answers the pause, if one is due.
    #[inline(always)] // each packet that is stored comes here
    pub(crate) fn on_stored(
        &mut self,
        admission: &Admission,
        ingress: u16,
        class: u8,
    ) -> Option<ControlFrame> {
        let index = admission.accounts().index(ingress, class);
        let account = admission.accounts().ingress(ingress, class);
        let threshold = self.xoff(admission, ingress);
        let held = admission.shared_bytes(account);
        self.peak.see(held + account.headroom, threshold);
        if account.headroom == 0 && held < threshold {
            return None;
        }
        if !self.is_paused[index] {
            self.is_paused[index] = true;
            self.paused += 1;
        } else if !self.repeats_at_arrivals() {
            return None;
        }
        Some(self.pause_frame(ingress, class))
    }

    /// Whether a packet that arrives at a paused ingress above XOFF sends another frame.
    #[inline]
    fn repeats_at_arrivals(&self) -> bool {
        matches!(self.pause, PfcPause::Timed { at_arrivals: true, .. })
    }

    /// The frame that pauses a class of an ingress port.
    fn pause_frame(&self, ingress: u16, class: u8) -> ControlFrame {
        let signal = match self.pause {
            PfcPause::Lasting {} => Signal::PauseClass(class),
            PfcPause::Timed { lifetime, .. } => {
                let nanoseconds = (lifetime.as_ps() / 1_000) as u32;
                Signal::PauseClassFor { class, nanoseconds }
            }
        };
        ControlFrame { port: ingress, signal }
    }

    /// Whether a class of an ingress port is at XOFF or above it.
    fn is_high(&self, admission: &Admission, ingress: u16, class: u8) -> bool {
        let account = admission.accounts().ingress(ingress, class);
        let held = admission.shared_bytes(account);
        account.headroom > 0 || held >= self.xoff(admission, ingress)
    }

    /// Bytes of an ingress port and class have been given back. Answers the resume, if one is due.
    #[inline]
    pub(crate) fn on_released(
        &mut self,
        admission: &Admission,
        ingress: u16,
        class: u8,
    ) -> Option<ControlFrame> {
        if self.paused == 0 {
            return None;
        }
        let index = admission.accounts().index(ingress, class);
        if self.is_paused[index] { self.resume(admission, ingress, class) } else { None }
    }

    /// The resume of a paused class, if one is due. This function is separate because the test before
    /// it is made for every packet and is inlined.
    #[inline(never)]
    fn resume(&mut self, admission: &Admission, ingress: u16, class: u8) -> Option<ControlFrame> {
        let account = admission.accounts().ingress(ingress, class);
        let held = admission.shared_bytes(account);
        if account.headroom > 0 || !self.is_low(held, self.xoff(admission, ingress)) {
            return None;
        }
        self.is_paused[admission.accounts().index(ingress, class)] = false;
        self.paused -= 1;
        Some(ControlFrame { port: ingress, signal: Signal::ResumeClass(class) })
    }
}

impl Policy for Pfc {
    #[inline(always)]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        let (ingress, class) = (packet.packet().ingress, packet.packet().class);
        self.on_stored(packet.admission, ingress, class)
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        let (ingress, class) = (packet.packet().ingress, packet.packet().class);
        self.on_released(packet.admission, ingress, class)
    }

    fn threshold(&self, admission: &Admission, ingress: u16, _: u16, _: &Port) -> i64 {
        i64::try_from(self.xoff(admission, ingress)).unwrap_or(-1)
    }

    fn standing_pauses(&self, admission: &Admission, ingress: u16) -> Vec<ControlFrame> {
        let pause = |class| self.pause_frame(ingress, class);
        self.paused(admission, ingress).map(pause).collect()
    }

    /// The pauses of classes that are above XOFF.
    fn repeated_frame(
        &mut self,
        admission: &Admission,
        ingress: u16,
        number: usize,
    ) -> Option<ControlFrame> {
        let mut paused = self.paused(admission, ingress);
        let class =
            paused.by_ref().filter(|class| self.is_high(admission, ingress, *class)).nth(number);
        class.map(|class| self.pause_frame(ingress, class))
    }

    fn peak_fraction(&self) -> Option<f64> {
        Some(self.peak.stored as f64 / self.peak.xoff as f64)
    }

    fn stops(&self) -> Option<Stops> {
        Some(Stops::Classes)
    }

    fn lasts(&self, admission: &Admission, pause: &KeptPause, shared: u64) -> bool {
        let &KeptPause { ingress, number, bytes } = pause;
        let class = number as u8;
        let is_paused = self.is_paused[admission.accounts().index(ingress, class)];
        let fills_headroom = bytes > admission.accounts().ingress(ingress, class).used;
        let threshold = self.xoff.or_else(|| admission.threshold_with(ingress, shared));
        let (held, threshold) = (admission.beyond_reserve(bytes), threshold.unwrap_or(u64::MAX));
        let stays = match self.pause {
            PfcPause::Lasting {} => !self.is_low(held, threshold),
            PfcPause::Timed { .. } => held >= threshold,
        };
        is_paused && (fills_headroom || stays)
    }
}

#[cfg(test)]
#[path = "pfc_tests.rs"]
mod tests;
