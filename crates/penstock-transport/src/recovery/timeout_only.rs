//! Only a timeout tells of a loss, as pFabric has it: the receiver reports the packets that arrived, and the
//! sender sends again what has not arrived when the timer expires.
//!
//! M. Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, sec. 4.2. The
//! paper was not at hand: rules and values are those of an implementation, NetSys/simulator. Implemented:
//! - Each packet is acknowledged. A packet ahead of a gap is reported by name, as with selective
//!   acknowledgements. A gap is not a loss: sprayed packets may overtake each other.
//! - The timeout is a fixed multiple of the round trip without load, and does not back off. The timer starts
//!   anew whenever the first byte that is not acknowledged moves.
//! - After a timeout, all outstanding bytes that are not known to have arrived count as lost. They are sent
//!   again in order, as the controller's window allows.
//!
//! In that simulator the bytes that have arrived ahead of a gap widen the window even while the gap is sent
//! again. Here they are not in flight, and add nothing more.
//!
//! Left out, as there: the probes of one byte that a flow sends after five timeouts in a row. Here such a
//! flow goes on with a packet per timeout.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hooks::{AtSource, Parameters};
pub(crate) use super::reassembly::Receiving;
use super::scoreboard::Scoreboard;
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;

/// Parameters of a recovery that knows timeouts only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeoutOnlyConfig {
    /// Timeout, in round trips of the path without load (RTO).
    #[schemars(
        range(min = 1.0),
        extend("unit" = "round trips", "default" = 3.0, "source" = "pFabric 4.2: about three, 45 us")
    )]
    pub timeout_rtts: f64,
}

impl Parameters for TimeoutOnlyConfig {}

/// The sending half.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sending {
    board: Scoreboard,
    timeout: Time,
    /// When the timer expires; [`Time::NEVER`] while nothing is outstanding.
    expiry: Time,
    /// Whether the timer has expired since the last progress.
    has_expired: bool,
}

impl Sending {
    /// Nothing was sent.
    pub(crate) fn new(config: &TimeoutOnlyConfig, flow: &FlowFacts) -> Self {
        let round_trip = flow.path.base_rtt.as_ps() as f64;
        Sending {
            board: Scoreboard::new(flow.path.payload),
            timeout: Time::from_ps((round_trip * config.timeout_rtts) as u64),
            expiry: Time::NEVER,
            has_expired: false,
        }
    }
}

impl AtSource for Sending {
    #[inline]
    fn lost_bytes(&self, _outstanding: u64) -> u64 {
        self.board.lost_bytes()
    }

    #[inline]
    fn departed_bytes(&self) -> u64 {
        self.board.departed_bytes()
    }

    fn take_lost(&mut self, _payload: u32, _view: &FlowView) -> Option<(u64, u32)> {
        self.board.take_lost()
    }

    #[inline]
    fn on_send(&mut self, now: Time, _offset: u64, _end: u64) -> bool {
        if self.expiry == Time::NEVER {
            self.expiry = now.saturating_add(self.timeout);
        }
        false
    }

    fn on_acknowledgement(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> Option<LossSignal> {
        if self.board.on_acknowledgement(ack, view).has_advanced {
            self.has_expired = false;
            self.expiry = match view.next == view.acknowledged {
                true => Time::NEVER,
                false => now.saturating_add(self.timeout),
            };
        }
        None
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.expiry
    }

    fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        if now < self.expiry {
            return None;
        }
        self.board.lose_all(view);
        self.expiry = Time::NEVER; // until the first packet leaves
        let in_flight = view.next - view.acknowledged;
        let is_repeated = core::mem::replace(&mut self.has_expired, true);
        Some(LossSignal::Timeout { in_flight, is_repeated })
    }
}

#[cfg(test)]
#[path = "timeout_only_tests.rs"]
mod tests;
