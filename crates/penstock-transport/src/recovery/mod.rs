//! What a lost packet costs, at both ends of a flow.
//!
//! Each kind of recovery has a sending half, which chooses the bytes that leave next, and a
//! receiving half, which chooses the reply to a data packet. A flow uses the same kind at both
//! ends.
//!
//! Recovery decides what is sent again, control ([`crate::control`]) how much may be in flight. They
//! meet in two places: recovery tells the controller of losses
//! ([`LossSignal`]), and it knows which outstanding bytes are not in the
//! network any more.
//!
//! Reading order: [`go_back_n`], [`perfect`], `range_set` and `reassembly` (what the next two share),
//! [`selective_repeat`], [`fast_retransmit`], [`resend`].

use alloc::boxed::Box;

use penstock_units::{Problems, Time};
use serde::{Deserialize, Serialize};

use crate::flow::{FlowView, LossSignal};
use crate::path::{Acknowledgement, PathFacts};

pub mod fast_retransmit;
pub mod go_back_n;
pub mod perfect;
pub mod resend;
pub mod selective_repeat;

mod range_set;
mod reassembly;
mod reply;

pub use fast_retransmit::FastRetransmitConfig;
pub use go_back_n::GoBackNConfig;
pub use reply::Reply;
pub use resend::ResendConfig;
pub use selective_repeat::SelectiveRepeatConfig;

/// Which recovery the flows of a scheme use, with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RecoveryConfig {
    /// After a gap everything from the gap on is sent again.
    GoBackN(GoBackNConfig),
    /// The switch that drops a packet tells the sender, which sends exactly that packet again.
    /// Written with braces so that parsing refuses stray fields.
    Perfect {},
    /// The receiver says what arrived behind a gap, and only the gap is sent again (IRN).
    SelectiveRepeat(SelectiveRepeatConfig),
    /// Duplicate acknowledgements, a lost packet per round trip (TCP NewReno).
    FastRetransmit(FastRetransmitConfig),
    /// The receiver asks for what has not arrived (Homa).
    Resend(ResendConfig),
}

impl RecoveryConfig {
    /// Whether a sender learns of a loss before its timer expires, and tells its controller
    /// ([`LossSignal::FastRetransmit`]).
    pub fn reports_losses(&self) -> bool {
        matches!(self, RecoveryConfig::SelectiveRepeat(_) | RecoveryConfig::FastRetransmit(_))
    }

    /// Whether every data packet is acknowledged.
    pub(crate) fn acknowledges_each(&self) -> bool {
        !matches!(self, RecoveryConfig::Resend(_))
    }

    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        match self {
            RecoveryConfig::GoBackN(config) => config.check(problems),
            RecoveryConfig::Perfect {} => {}
            RecoveryConfig::SelectiveRepeat(config) => config.check(problems),
            RecoveryConfig::FastRetransmit(config) => config.check(problems),
            RecoveryConfig::Resend(config) => config.check(problems),
        }
    }
}

/// The sending half of a flow's recovery. The large ones are boxed, so that the flows of the others
/// stay small.
#[derive(Clone, Debug)]
pub(crate) enum Sending {
    GoBackN(go_back_n::Sending),
    Perfect(perfect::Sending),
    SelectiveRepeat(Box<selective_repeat::Sending>),
    FastRetransmit(Box<fast_retransmit::Sending>),
    Resend(Box<resend::Sending>),
}

impl Sending {
    pub(crate) fn new(config: &RecoveryConfig, path: &PathFacts) -> Self {
        match config {
            RecoveryConfig::GoBackN(config) => Sending::GoBackN(go_back_n::Sending::new(config)),
            RecoveryConfig::Perfect {} => Sending::Perfect(perfect::Sending::default()),
            RecoveryConfig::SelectiveRepeat(config) => {
                Sending::SelectiveRepeat(Box::new(selective_repeat::Sending::new(config, path)))
            }
            RecoveryConfig::FastRetransmit(config) => {
                Sending::FastRetransmit(Box::new(fast_retransmit::Sending::new(config, path)))
            }
            RecoveryConfig::Resend(config) => {
                Sending::Resend(Box::new(resend::Sending::new(config, path.payload)))
            }
        }
    }

    /// Bytes that are to be sent again before new ones, with `outstanding` bytes that are not
    /// acknowledged.
    #[inline]
    pub(crate) fn lost_bytes(&self, outstanding: u64) -> u64 {
        match self {
            Sending::GoBackN(_) => 0,
            Sending::Perfect(perfect) => perfect.lost_bytes(),
            Sending::SelectiveRepeat(selective) => selective.lost_bytes(),
            Sending::FastRetransmit(fast) => fast.due_bytes(outstanding),
            Sending::Resend(resend) => resend.lost_bytes(),
        }
    }

    /// Bytes that are outstanding, but known not to be in the network.
    #[inline]
    pub(crate) fn departed_bytes(&self) -> u64 {
        match self {
            Sending::GoBackN(_) => 0,
            Sending::Perfect(perfect) => perfect.lost_bytes(),
            Sending::SelectiveRepeat(selective) => selective.departed_bytes(),
            Sending::FastRetransmit(fast) => fast.departed_bytes(),
            Sending::Resend(resend) => resend.lost_bytes(),
        }
    }

    /// Whether a packet may leave while `outstanding` bytes are not acknowledged, with a window of
    /// `window` bytes.
    #[inline]
    pub(crate) fn has_room(&self, outstanding: u64, window: u64) -> bool {
        let has_window = outstanding.saturating_sub(self.departed_bytes()) < window;
        match self {
            Sending::GoBackN(_) | Sending::Perfect(_) | Sending::Resend(_) => has_window,
            Sending::SelectiveRepeat(selective) => has_window && selective.has_room(outstanding),
            Sending::FastRetransmit(fast) => has_window || fast.is_due(),
        }
    }

    /// Takes a packet of at most `payload` bytes that is to be sent again: its offset and length.
    pub(crate) fn take_lost(&mut self, payload: u32, view: &FlowView) -> Option<(u64, u32)> {
        match self {
            Sending::GoBackN(_) => None,
            Sending::Perfect(perfect) => perfect.take_lost(payload),
            Sending::SelectiveRepeat(selective) => selective.take_lost(),
            Sending::FastRetransmit(fast) => fast.take_due(view),
            Sending::Resend(resend) => resend.take_lost(payload),
        }
    }

    /// The bytes `offset .. end` leave at `now`; answers whether they had left before. Where that
    /// cannot be seen from them, [`Sending::take_lost`] has said so.
    #[inline]
    pub(crate) fn on_send(&mut self, now: Time, offset: u64, end: u64) -> bool {
        match self {
            Sending::GoBackN(go_back_n) => go_back_n.on_send(now, offset, end),
            Sending::Perfect(_) => false,
            Sending::SelectiveRepeat(selective) => {
                selective.on_send(now);
                false
            }
            Sending::FastRetransmit(fast) => fast.on_send(now, offset, end),
            Sending::Resend(resend) => {
                resend.on_send(now);
                false
            }
        }
    }

    /// An acknowledgement arrived at `now`; `view` has taken its cumulative part into account.
    /// Recovery may rewind `view.next`, and may know more of what is newly acknowledged.
    pub(crate) fn on_acknowledgement(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> Option<LossSignal> {
        match self {
            Sending::GoBackN(go_back_n) => {
                go_back_n.on_acknowledgement(now, ack, view);
                None
            }
            Sending::Perfect(_) => None,
            Sending::SelectiveRepeat(selective) => selective.on_acknowledgement(now, ack, view),
            Sending::FastRetransmit(fast) => fast.on_acknowledgement(now, ack, view),
            Sending::Resend(_) => None,
        }
    }

    /// When the retransmission timer is due; [`Time::NEVER`] when it does not run.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        match self {
            Sending::GoBackN(go_back_n) => go_back_n.expiry(),
            Sending::Perfect(_) => Time::NEVER,
            Sending::SelectiveRepeat(selective) => selective.expiry(),
            Sending::FastRetransmit(fast) => fast.expiry(),
            Sending::Resend(resend) => resend.expiry(),
        }
    }

    /// Answers whether the retransmission timer has expired by `now`. Recovery may rewind
    /// `view.next` then.
    pub(crate) fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        match self {
            Sending::GoBackN(go_back_n) => go_back_n.on_deadline(now, view),
            Sending::Perfect(_) => None,
            Sending::SelectiveRepeat(selective) => selective.on_deadline(now, view),
            Sending::FastRetransmit(fast) => fast.on_deadline(now, view),
            Sending::Resend(resend) => resend.on_deadline(now, view),
        }
    }
}

/// The receiving half of a flow's recovery.
#[derive(Clone, Debug)]
pub(crate) enum Receiving {
    GoBackN(go_back_n::Receiving),
    Perfect(perfect::Receiving),
    SelectiveRepeat(selective_repeat::Receiving),
    FastRetransmit(fast_retransmit::Receiving),
    Resend(Box<resend::Receiving>),
}

impl Receiving {
    /// The recovery of a flow of `size` bytes, of which the first `unscheduled` come unasked.
    pub(crate) fn new(config: &RecoveryConfig, size: u64, unscheduled: u64) -> Self {
        match config {
            RecoveryConfig::GoBackN(config) => {
                Receiving::GoBackN(go_back_n::Receiving::new(config))
            }
            RecoveryConfig::Perfect {} => Receiving::Perfect(perfect::Receiving::default()),
            RecoveryConfig::SelectiveRepeat(_) => {
                Receiving::SelectiveRepeat(selective_repeat::Receiving::default())
            }
            RecoveryConfig::FastRetransmit(_) => {
                Receiving::FastRetransmit(fast_retransmit::Receiving::default())
            }
            RecoveryConfig::Resend(config) => {
                Receiving::Resend(Box::new(resend::Receiving::new(config, size, unscheduled)))
            }
        }
    }
}
