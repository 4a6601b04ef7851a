//! The sending end of a flow: what it tells its receiver, and whether it can use a credit.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use super::config::ExpressPassConfig;
use crate::control::hooks::AtSource;
use crate::credit::CreditSignal;
use crate::flow::{FlowFacts, FlowView, LossSignal};
use crate::path::Acknowledgement;

/// How long a sender waits for the credits that were on their way when it sent a stop (round trips; the
/// released code).
const ROUND_TRIPS_AFTER_STOP: u64 = 2;

/// What the sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
enum State {
    /// The first credit. The sender asks again at the deadline.
    Requesting,
    /// More credits.
    Receiving,
    /// The credits that are still on their way. At the deadline a sender with data left asks again.
    Stopped,
}

/// The sender of one flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Source {
    rtt: Time,
    request_timeout: Time,
    early_stop: bool,
    state: State,
    /// The request or stop that the sender has not sent yet.
    signal: Option<CreditSignal>,
    deadline: Time,
    /// Credits since `counted_since`, which is at most a round trip ago.
    credits: u64,
    counted_since: Time,
}

impl Source {
    /// A flow that asks for its first credits.
    pub(crate) fn new(config: &ExpressPassConfig, flow: &FlowFacts) -> Self {
        Source {
            rtt: flow.path.base_rtt,
            request_timeout: config.request_timeout,
            early_stop: config.early_stop,
            state: State::Requesting,
            signal: Some(CreditSignal::Request { packets: 0 }),
            deadline: Time::NEVER,
            credits: 0,
            counted_since: Time::ZERO,
        }
    }

    /// Bytes must be sent again, because the receiver or a timer has detected a loss.
    fn repair(&mut self) {
        if self.state == State::Stopped {
            self.request();
        }
    }

    fn request(&mut self) {
        self.state = State::Requesting;
        self.signal = Some(CreditSignal::Request { packets: 0 });
        self.deadline = Time::NEVER;
    }
}

impl AtSource for Source {
    /// Nothing leaves without a credit.
    #[inline]
    fn window(&self) -> u64 {
        0
    }

    fn on_credit(&mut self, now: Time, packets: u64) {
        if self.state == State::Requesting {
            self.state = State::Receiving;
            self.deadline = Time::NEVER;
            (self.credits, self.counted_since) = (0, now);
        }
        self.credits += 1;
        if self.state == State::Receiving {
            let has_counted = now - self.counted_since >= self.rtt;
            if packets == 0 || (self.early_stop && has_counted && self.credits >= packets) {
                self.state = State::Stopped;
                self.signal = Some(CreditSignal::Stop);
                self.deadline = now.saturating_add(self.rtt * ROUND_TRIPS_AFTER_STOP);
            } else if has_counted {
                (self.credits, self.counted_since) = (0, now);
            }
        }
        if packets == 0 {
            self.deadline = Time::NEVER;
        }
    }

    #[inline]
    fn has_credit_signal(&self) -> bool {
        self.signal.is_some()
    }

    /// Sending a request starts the timer of the request.
    fn take_credit_signal(&mut self, now: Time, packets: u64) -> Option<CreditSignal> {
        let signal = self.signal.take()?;
        if signal == CreditSignal::Stop {
            return Some(signal);
        }
        self.deadline = now.saturating_add(self.request_timeout);
        Some(CreditSignal::Request { packets: u32::try_from(packets).unwrap_or(u32::MAX) })
    }

    /// When the sender asks again (ps); [`Time::NEVER`] when it does not.
    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }

    /// Asks again, if that is due by `now`.
    fn on_deadline(&mut self, now: Time) {
        if self.deadline <= now {
            self.request();
        }
    }

    fn on_loss(&mut self, _now: Time, _signal: LossSignal) {
        self.repair();
    }

    /// A negative acknowledgement says that the receiver has found a loss.
    fn on_acknowledgement(&mut self, _now: Time, ack: &Acknowledgement, _view: &FlowView) {
        if ack.is_negative {
            self.repair();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::expresspass::config::tests::{config, path};
    use crate::fixture;

    const STOP: Option<CreditSignal> = Some(CreditSignal::Stop);

    /// A flow at 100 Gb/s with a base RTT of 8 us.
    fn source() -> Source {
        Source::new(&config(), &fixture::flow(&path()))
    }

    fn request(packets: u32) -> Option<CreditSignal> {
        Some(CreditSignal::Request { packets })
    }

    #[test]
    fn a_request_is_repeated_until_a_credit_comes() {
        let mut source = source();
        assert_eq!(source.take_credit_signal(Time::ZERO, 7), request(7));
        assert_eq!(source.take_credit_signal(Time::ZERO, 7), None);
        assert_eq!(source.deadline(), Time::from_us(100));
        source.on_deadline(Time::from_us(99));
        assert_eq!(source.take_credit_signal(Time::from_us(99), 7), None);
        source.on_deadline(Time::from_us(100));
        assert_eq!(source.take_credit_signal(Time::from_us(100), 7), request(7));
        source.on_credit(Time::from_us(108), 6);
        assert_eq!(
            (source.deadline(), source.take_credit_signal(Time::from_us(108), 6)),
            (Time::NEVER, None)
        );
    }

    #[test]
    fn the_last_packet_stops_the_credits() {
        let mut source = source();
        source.take_credit_signal(Time::ZERO, 2);
        source.on_credit(Time::from_us(8), 1);
        source.on_credit(Time::from_us(9), 0);
        assert_eq!(source.take_credit_signal(Time::from_us(9), 0), STOP);
        source.on_credit(Time::from_us(10), 0); // wasted
        assert_eq!(
            (source.deadline(), source.take_credit_signal(Time::from_us(10), 0)),
            (Time::NEVER, None)
        );
    }

    #[test]
    fn as_many_credits_in_a_round_trip_as_are_needed_stop_them_early() {
        let mut source = source();
        source.take_credit_signal(Time::ZERO, 40);
        for credit in 0..10 {
            source.on_credit(Time::from_us(8 + credit), 40 - 1 - credit);
        }
        // The round trip ended with credit 8. By then nine credits had come, and 31 packets were left.
        assert_eq!(source.take_credit_signal(Time::from_us(17), 30), None);
        assert_eq!((source.credits, source.counted_since), (1, Time::from_us(16)));
        for credit in 10..16 {
            source.on_credit(Time::from_us(8 + credit), 23 - credit);
        }
        source.on_credit(Time::from_us(24), 8); // the eighth since 16 us
        assert_eq!(source.take_credit_signal(Time::from_us(24), 8), STOP);
        assert_eq!(source.deadline(), Time::from_us(40));
        source.on_credit(Time::from_us(25), 7);
        assert_eq!(source.take_credit_signal(Time::from_us(25), 7), None);
        source.on_deadline(Time::from_us(40));
        assert_eq!(source.deadline(), Time::NEVER);
        assert!(source.has_credit_signal());
        assert_eq!(source.take_credit_signal(Time::from_us(40), 7), request(7));
        assert!(!source.has_credit_signal());
        // The count begins with the first credit that is asked for anew: seven come before a round trip ends.
        for credit in 0..7 {
            source.on_credit(Time::from_us(48 + credit), 7);
            assert_eq!(source.take_credit_signal(Time::from_us(48 + credit), 7), None);
        }
        source.on_credit(Time::from_us(56), 7);
        assert_eq!(source.take_credit_signal(Time::from_us(56), 7), STOP);
    }

    #[test]
    fn without_early_stop_only_the_last_packet_stops_them() {
        let config = ExpressPassConfig { early_stop: false, ..config() };
        let mut source = Source::new(&config, &fixture::flow(&path()));
        source.take_credit_signal(Time::ZERO, 100);
        for us in 0..50 {
            source.on_credit(Time::from_us(us), 1);
        }
        assert_eq!(source.take_credit_signal(Time::from_us(50), 1), None);
    }

    #[test]
    fn a_loss_asks_again_only_when_no_credits_are_coming() {
        let mut source = source();
        source.take_credit_signal(Time::ZERO, 3);
        let now = Time::from_us(8);
        let timeout = LossSignal::Timeout { in_flight: 0, is_repeated: false };
        let negative = Acknowledgement { is_negative: true, ..Acknowledgement::plain(0) };
        let told = |source: &mut Source, ack: &Acknowledgement| {
            source.on_acknowledgement(now, ack, &FlowView::default());
            source.take_credit_signal(now, 2)
        };
        source.on_credit(now, 2);
        source.on_loss(now, timeout);
        assert_eq!(told(&mut source, &negative), None);
        for _ in 0..2 {
            source.on_credit(now, 0);
            assert_eq!(source.take_credit_signal(now, 0), STOP);
            assert_eq!(told(&mut source, &Acknowledgement::plain(0)), None);
            assert_eq!(told(&mut source, &negative), request(2));
        }
        source.on_credit(now, 0);
        source.take_credit_signal(now, 0);
        source.on_loss(now, timeout);
        assert_eq!(source.take_credit_signal(now, 2), request(2));
    }
}
