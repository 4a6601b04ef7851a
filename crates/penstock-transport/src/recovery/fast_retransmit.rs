//! The loss recovery of TCP NewReno: duplicate acknowledgements reveal a loss, and one lost packet
//! is sent again per round trip.
//!
//! Sources: fast retransmit and fast recovery of RFC 5681 Sec. 3.2 with the partial acknowledgements of
//! RFC 6582 Sec. 3.2, and the timer of RFC 6298 with Karn's rule (its Sec. 3). The AFQ paper runs TCP
//! and DCTCP over this recovery, without selective acknowledgements (N. Sharma et al., NSDI 2018, Sec.
//! 6.2.2). The receiver keeps what arrives ahead of a gap. It acknowledges every packet at once,
//! cumulatively.
//!
//! The RFCs inflate the congestion window by one packet per duplicate acknowledgement, and deflate the
//! window again later. Here the window belongs to the controller, so recovery subtracts the same bytes
//! from the bytes in flight. The test "in flight < window" has the same result, and every controller
//! can use this recovery.
//!
//! Recovery subtracts these bytes also when a timeout ends a fast recovery (our choice; htsim and Linux
//! bound the bytes in flight, too). RFC 5681 halves all unacknowledged bytes at a timeout. After some
//! round trips of recovery these are several windows, and the slow start that follows would overrun the
//! path again, for ever.
//!
//! Left out: limited transmit (RFC 3042), delayed and selective acknowledgements, the timestamp option,
//! the heuristics of RFC 6582 Sec. 4 for losses after a timeout. The sender therefore measures the round
//! trip of one new packet at a time. The clock is exact, so G of RFC 6298 is 0. Only the first partial
//! acknowledgement restarts the timer (RFC 6582 Sec. 3.2, step 3; "Impatient" in RFC 3782 Sec. 4).

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hooks::{AtDestination, AtSource, Parameters};
use super::reassembly::Reassembly;
use super::reply::Reply;
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;

/// Parameters of fast retransmit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FastRetransmitConfig {
    /// Duplicate ACKs that mean a loss (DupThresh).
    #[schemars(range(min = 1), extend("default" = 3, "source" = "RFC 5681 sec. 3.2"))]
    pub duplicate_threshold: u32,
    /// Timeout before a round trip was measured, at most maximum_timeout.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "200 us",
            "source" = "our choice: the minimum; RFC 6298 says 1 s, for the Internet"
        )
    )]
    pub initial_timeout: Time,
    /// Shortest timeout (minRTO), at most maximum_timeout.
    ///
    /// RFC 6298 says 1 s, for the Internet.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend("default" = "200 us", "source" = "AFQ paper, 6.2.1")
    )]
    pub minimum_timeout: Time,
    /// Longest timeout, back-off included.
    #[schemars(
        range(min = Time::LEAST_PERIOD.as_ps()),
        extend(
            "default" = "100 ms",
            "source" = "our choice: nine doublings; RFC 6298 says at least 60 s, for the Internet"
        )
    )]
    pub maximum_timeout: Time,
}

impl Parameters for FastRetransmitConfig {
    fn check(&self, problems: &mut Problems) {
        let (initial, minimum) = (self.initial_timeout, self.minimum_timeout);
        let most = self.maximum_timeout;
        let remedy = format!("write at most maximum_timeout, {most}");
        for (field, timeout) in [("initial_timeout", initial), ("minimum_timeout", minimum)] {
            problems.unless(timeout <= most, field, timeout, &remedy);
        }
    }

    fn reports_losses(&self) -> bool {
        true
    }

    fn keeps_connections(&self) -> bool {
        true
    }
}

/// The sending half.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sending {
    payload: u64,
    duplicate_threshold: u32,
    /// Duplicate acknowledgements since the last progress, outside a fast recovery.
    duplicates: u32,
    /// Bytes that have left the network according to the duplicate acknowledgements. RFC 5681 inflates
    /// the window by as much. 0 outside a fast recovery.
    departed: u64,
    /// The fast recovery ends when everything below this byte is acknowledged; `None` outside a fast
    /// recovery.
    recovery_end: Option<u64>,
    /// The end of the bytes sent when the last loss was detected (recover in RFC 6582). Duplicate
    /// acknowledgements that acknowledge no more than these bytes may come from retransmissions.
    recover: Option<u64>,
    /// Whether the packet at the first unacknowledged byte is to be sent again now.
    is_due: bool,
    /// Whether a partial acknowledgement of this fast recovery has restarted the timer.
    has_restarted: bool,
    timer: Timer,
    /// The end of the furthest byte that was ever sent.
    furthest: u64,
}

impl Sending {
    pub(crate) fn new(config: &FastRetransmitConfig, flow: &FlowFacts) -> Self {
        Sending {
            payload: u64::from(flow.path.payload),
            duplicate_threshold: config.duplicate_threshold,
            duplicates: 0,
            departed: 0,
            recovery_end: None,
            recover: None,
            is_due: false,
            has_restarted: false,
            timer: Timer::new(config),
            furthest: 0,
        }
    }

    fn on_progress(&mut self, now: Time, view: &FlowView) -> Option<LossSignal> {
        self.duplicates = 0;
        let mut signal = None;
        let mut restarts = true;
        if let Some(end) = self.recovery_end {
            if view.acknowledged >= end {
                self.leave_recovery();
                signal =
                    Some(LossSignal::RecoveryExit { in_flight: view.next - view.acknowledged });
            } else {
                // A partial acknowledgement: the next gap is a loss too (RFC 6582 Sec. 3.2).
                self.departed =
                    (self.departed + self.payload).saturating_sub(view.newly_acknowledged);
                self.is_due = true;
                restarts = !self.has_restarted;
                self.has_restarted = true;
            }
        }
        if view.next == view.acknowledged {
            self.timer.stop();
        } else if restarts {
            self.timer.restart(now);
        }
        signal
    }

    fn on_duplicate(&mut self, view: &FlowView) -> Option<LossSignal> {
        if self.recovery_end.is_some() {
            self.departed += self.payload;
            return None;
        }
        self.duplicates += 1;
        let is_new = self.recover.is_none_or(|recover| view.acknowledged > recover);
        if self.duplicates != self.duplicate_threshold || !is_new {
            return None;
        }
        self.recover = Some(self.furthest);
        self.recovery_end = self.recover;
        self.departed = u64::from(self.duplicate_threshold) * self.payload;
        self.is_due = true;
        self.has_restarted = false;
        Some(LossSignal::FastRetransmit { in_flight: view.next - view.acknowledged })
    }

    fn leave_recovery(&mut self) {
        self.recovery_end = None;
        self.departed = 0;
        self.is_due = false;
    }
}

impl AtSource for Sending {
    /// The bytes of the packet that is to be sent again, if there is one.
    #[inline]
    fn lost_bytes(&self, outstanding: u64) -> u64 {
        if self.is_due { self.payload.min(outstanding) } else { 0 }
    }

    #[inline]
    fn departed_bytes(&self) -> u64 {
        self.departed
    }

    /// A due retransmission leaves even when the window is full.
    #[inline]
    fn has_room(&self, outstanding: u64, window: u64) -> bool {
        self.has_window(outstanding, window) || self.is_due
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.timer.expiry
    }

    fn is_long(&self, silence: Time) -> bool {
        silence > self.timer.timeout
    }

    fn take_lost(&mut self, _payload: u32, view: &FlowView) -> Option<(u64, u32)> {
        let length = self.lost_bytes(view.next - view.acknowledged);
        self.is_due = false;
        (length > 0).then_some((view.acknowledged, length as u32))
    }

    #[inline]
    fn on_send(&mut self, now: Time, offset: u64, end: u64) -> bool {
        let is_retransmission = offset < self.furthest;
        self.furthest = self.furthest.max(end);
        self.timer.on_send(now, end, is_retransmission);
        is_retransmission
    }

    fn on_acknowledgement(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        view: &mut FlowView,
    ) -> Option<LossSignal> {
        let outstanding = view.next - view.acknowledged;
        if view.newly_acknowledged > 0 {
            self.timer.measure(now, view.acknowledged);
            self.on_progress(now, view)
        } else if ack.cumulative == view.acknowledged && outstanding > 0 {
            self.on_duplicate(view)
        } else {
            None
        }
    }

    /// The flow starts again at the first unacknowledged byte.
    fn on_deadline(&mut self, now: Time, view: &mut FlowView) -> Option<LossSignal> {
        if now < self.timer.expiry {
            return None;
        }
        let is_repeated = self.timer.back_off();
        let in_flight = (view.next - view.acknowledged).saturating_sub(self.departed);
        self.recover = Some(self.furthest);
        self.leave_recovery();
        view.next = view.acknowledged;
        Some(LossSignal::Timeout { in_flight, is_repeated })
    }
}

/// The retransmission timer of RFC 6298.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Timer {
    minimum: Time,
    maximum: Time,
    /// The timeout, back-off included (RTO in the RFC).
    timeout: Time,
    /// When the timer expires; [`Time::NEVER`] while nothing is in flight.
    expiry: Time,
    /// SRTT and RTTVAR; `None` before the first measurement.
    round_trip: Option<(Time, Time)>,
    /// The packet whose round trip is measured: its end in the flow, and when it left.
    measured: Option<(u64, Time)>,
    /// Whether the timer has expired since new bytes were acknowledged.
    has_expired: bool,
}

impl Timer {
    fn new(config: &FastRetransmitConfig) -> Self {
        Timer {
            minimum: config.minimum_timeout,
            maximum: config.maximum_timeout,
            timeout: config.initial_timeout,
            expiry: Time::NEVER,
            round_trip: None,
            measured: None,
            has_expired: false,
        }
    }

    /// A packet that ends at `end` leaves. After a retransmission nobody knows which packet an
    /// acknowledgement answers, so nothing is measured (Karn's rule, RFC 6298 Sec. 3).
    #[inline]
    fn on_send(&mut self, now: Time, end: u64, is_retransmission: bool) {
        if self.expiry == Time::NEVER {
            self.restart(now);
        }
        if is_retransmission {
            self.measured = None;
        } else if self.measured.is_none() {
            self.measured = Some((end, now));
        }
    }

    fn restart(&mut self, now: Time) {
        self.expiry = now.saturating_add(self.timeout);
    }

    fn stop(&mut self) {
        self.expiry = Time::NEVER;
    }

    /// New bytes up to `acknowledged` were acknowledged. Takes a measurement if the measured packet is
    /// among them. A measurement ends the back-off (RFC 6298 Sec. 5).
    fn measure(&mut self, now: Time, acknowledged: u64) {
        self.has_expired = false;
        let Some((_, sent_at)) = self.measured.take_if(|measured| measured.0 <= acknowledged)
        else {
            return;
        };
        let sample = now.saturating_sub(sent_at).as_ps();
        let (mean, deviation) = match self.round_trip {
            None => (sample, sample / 2), // RFC 6298 Sec. 2.2
            Some((mean, deviation)) => {
                let (mean, deviation) = (mean.as_ps(), deviation.as_ps());
                // RFC 6298 Sec. 2.3: alpha = 1/8, beta = 1/4
                ((7 * mean + sample) / 8, (3 * deviation + mean.abs_diff(sample)) / 4)
            }
        };
        self.round_trip = Some((Time::from_ps(mean), Time::from_ps(deviation)));
        let timeout = Time::from_ps(mean.saturating_add(4 * deviation));
        self.timeout = timeout.max(self.minimum).min(self.maximum);
    }

    /// The timer has expired: the timeout doubles (RFC 6298 Sec. 5.5). The timer runs again from the
    /// next packet on. Answers whether the timer had already expired since the last progress.
    fn back_off(&mut self) -> bool {
        self.timeout = self.timeout.saturating_add(self.timeout).min(self.maximum);
        self.measured = None;
        self.stop();
        core::mem::replace(&mut self.has_expired, true)
    }
}

/// The receiving half.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Receiving {
    bytes: Reassembly,
}

impl Receiving {
    /// Nothing has arrived.
    pub(crate) fn new(_config: &FastRetransmitConfig, _flow: &FlowFacts) -> Self {
        Receiving::default()
    }
}

impl AtDestination for Receiving {
    fn on_data(&mut self, _now: Time, offset: u64, payload: u32) -> Reply {
        self.bytes.take(offset..offset + u64::from(payload));
        Reply::Acknowledge { cumulative: self.bytes.expected() }
    }

    /// Bytes delivered in order.
    #[inline]
    fn delivered(&self) -> u64 {
        self.bytes.expected()
    }
}

#[cfg(test)]
#[path = "fast_retransmit_tests.rs"]
mod tests;
