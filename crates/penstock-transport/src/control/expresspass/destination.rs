//! The receiving end of a flow: when its credits leave.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::random::Pcg32;
use penstock_units::{Bytes, Time};
use rand_core::RngCore;

use super::config::ExpressPassConfig;
use super::feedback::Feedback;
use crate::control::hooks::AtDestination;
use crate::credit::{Credit, CreditSignal};
use crate::flow::FlowFacts;

/// The credits of one flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Destination {
    config: ExpressPassConfig,
    /// Gap between credits at the largest rate (ps).
    shortest_gap: Time,
    /// Number of the next credit.
    next: u16,
    /// When the next credit leaves; [`Time::NEVER`] while the source wants none.
    next_at: Time,
    feedback: Option<Feedback>,
}

/// A uniform draw from [0, 1).
fn share(rng: &mut Pcg32) -> f64 {
    f64::from(rng.next_u32()) / 4_294_967_296.0
}

impl Destination {
    pub(crate) fn new(config: &ExpressPassConfig, flow: &FlowFacts) -> Self {
        let path = flow.path;
        let frame = u64::from(path.payload + path.data_overhead);
        let pair = Bytes::new(config.credit().get() + frame);
        Destination {
            config: config.clone(),
            shortest_gap: path.receiver_rate.transmission_time(pair),
            next: 0,
            next_at: Time::NEVER,
            feedback: None,
        }
    }

    /// The source wants credits for `packets` packets; a repeated request changes nothing.
    fn on_request(&mut self, now: Time, packets: u32) {
        if self.next_at < Time::NEVER {
            return;
        }
        let config = &self.config;
        // Beyond 1 for large flows; without `full_rate_packets` the scale is infinite.
        let scale = f64::from(packets.max(1)) / f64::from(config.full_rate_packets);
        let rate = config.initial_rate * scale.min(1.0);
        self.feedback = Some(Feedback::new(config, (now, self.next), rate, self.shortest_gap));
        self.next_at = now;
    }

    /// The source wants no more credits.
    fn on_stop(&mut self) {
        self.next_at = Time::NEVER;
    }
}

impl AtDestination for Destination {
    fn on_credit_signal(&mut self, now: Time, signal: CreditSignal) {
        match signal {
            CreditSignal::Request { packets } => self.on_request(now, packets),
            CreditSignal::Stop => self.on_stop(),
        }
    }

    fn deadline(&self) -> Time {
        self.next_at
    }

    fn take_credit(&mut self, now: Time, rng: &mut Pcg32) -> Option<Credit> {
        let feedback = self.feedback.as_ref().filter(|_| self.next_at <= now)?;
        let swing = 1.0 + self.config.jitter * (2.0 * share(rng) - 1.0);
        self.next_at = now.saturating_add(Time::from_ps((feedback.gap() * swing) as u64));
        let number = self.next;
        self.next = number.wrapping_add(1);
        let (least, most) = (self.config.credit_minimum, self.config.credit_maximum);
        let sizes = most.get() - least.get() + 1;
        let above = if sizes > 1 { (share(rng) * sizes as f64) as u64 } else { 0 };
        Some(Credit { number, wire_bytes: (least.get() + above) as u32 })
    }

    fn on_credited_data(&mut self, now: Time, number: u16, elapsed: Time) {
        if let Some(feedback) = &mut self.feedback {
            feedback.on_data(now, number, elapsed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::expresspass::config::tests::{config, path};
    use crate::fixture;
    use crate::path::PathFacts;
    use penstock_units::BitRate;

    fn destination(config: ExpressPassConfig) -> (Destination, Pcg32) {
        (Destination::new(&config, &fixture::flow(&path())), Pcg32::new(1, 1))
    }

    #[test]
    fn the_first_credit_leaves_at_once_and_the_others_at_half_the_largest_rate() {
        let (mut destination, mut rng) = destination(ExpressPassConfig { jitter: 0.0, ..config() });
        let now = Time::from_us(3);
        assert_eq!(destination.take_credit(now, &mut rng), None);
        destination.on_credit_signal(now, CreditSignal::Request { packets: 1_000 });
        assert_eq!(destination.deadline(), now);
        assert_eq!(
            destination.take_credit(now, &mut rng),
            Some(Credit { number: 0, wire_bytes: 84 })
        );
        assert_eq!(destination.take_credit(now, &mut rng), None);
        // 1,622 B at 100 Gb/s, at half the rate.
        assert_eq!(destination.deadline(), now + Time::from_ps(2 * 129_760));
        let next_at = destination.deadline();
        destination.on_credit_signal(now, CreditSignal::Request { packets: 1_000 });
        assert_eq!(destination.deadline(), next_at); // a repeated request changes nothing
        assert_eq!(destination.take_credit(next_at, &mut rng).unwrap().number, 1);
        destination.on_credit_signal(now, CreditSignal::Stop);
        assert_eq!(destination.deadline(), Time::NEVER);
    }

    #[test]
    fn data_that_come_back_raise_the_rate_of_the_credits() {
        let (mut destination, mut rng) = destination(ExpressPassConfig { jitter: 0.0, ..config() });
        destination.on_request(Time::ZERO, 1_000);
        destination.take_credit(Time::ZERO, &mut rng);
        destination.on_credited_data(Time::from_us(8), 0, Time::from_us(8));
        destination.take_credit(Time::from_us(8), &mut rng);
        // A sixteenth of the way from a half to the largest rate: 17/32 of it.
        let gap = destination.deadline() - Time::from_us(8);
        assert_eq!(gap, Time::from_ps(129_760 * 32 / 17));
    }

    #[test]
    fn credits_are_spaced_for_the_link_of_the_receiver() {
        let path = PathFacts { line_rate: BitRate::from_gbps(10), ..path() };
        let config = ExpressPassConfig { jitter: 0.0, ..config() };
        let mut destination = Destination::new(&config, &fixture::flow(&path));
        destination.on_request(Time::ZERO, 1_000);
        destination.take_credit(Time::ZERO, &mut Pcg32::new(1, 1));
        assert_eq!(destination.deadline(), Time::from_ps(2 * 129_760));
    }

    #[test]
    fn a_flow_of_few_packets_starts_slower_in_proportion() {
        for (packets, expected) in [(40, 2), (10, 8), (1, 80), (0, 80)] {
            let (mut destination, mut rng) =
                destination(ExpressPassConfig { jitter: 0.0, ..config() });
            destination.on_request(Time::ZERO, packets);
            destination.take_credit(Time::ZERO, &mut rng);
            assert_eq!(destination.deadline(), Time::from_ps(expected * 129_760));
        }
        let none = ExpressPassConfig { full_rate_packets: 0, jitter: 0.0, ..config() };
        let (mut destination, mut rng) = destination(none);
        destination.on_request(Time::ZERO, 0);
        destination.take_credit(Time::ZERO, &mut rng);
        assert_eq!(destination.deadline(), Time::from_ps(2 * 129_760));
    }

    #[test]
    fn gaps_and_sizes_are_spread_evenly() {
        let sizes = (Bytes::new(76), Bytes::new(92));
        let (credit_minimum, credit_maximum) = sizes;
        let (mut destination, mut rng) =
            destination(ExpressPassConfig { credit_minimum, credit_maximum, ..config() });
        destination.on_request(Time::ZERO, 1_000);
        let mut counts = [0u32; 17];
        let (mut least, mut most) = (u64::MAX, 0);
        for _ in 0..17_000 {
            let now = destination.deadline();
            let credit = destination.take_credit(now, &mut rng).unwrap();
            counts[credit.wire_bytes as usize - 76] += 1;
            let gap = (destination.deadline() - now).as_ps();
            (least, most) = (least.min(gap), most.max(gap));
        }
        // Binomial: mean 1,000, standard deviation 30.7. The bound is five standard deviations.
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 154), "{counts:?}");
        let mean = 2.0 * 129_760.0;
        assert!(least as f64 >= 0.9 * mean - 1.0 && (least as f64) < 0.901 * mean, "{least}");
        assert!(most as f64 <= 1.1 * mean && most as f64 > 1.099 * mean, "{most}");
    }

    #[test]
    fn a_new_request_after_a_stop_starts_anew_and_continues_the_numbers() {
        let (mut destination, mut rng) = destination(ExpressPassConfig { jitter: 0.0, ..config() });
        destination.on_request(Time::ZERO, 1_000);
        destination.take_credit(Time::ZERO, &mut rng);
        destination.on_credited_data(Time::from_us(8), 0, Time::from_us(8));
        destination.on_stop();
        destination.on_request(Time::from_us(20), 10);
        assert_eq!(destination.take_credit(Time::from_us(20), &mut rng).unwrap().number, 1);
        assert_eq!(destination.deadline(), Time::from_us(20) + Time::from_ps(8 * 129_760));
    }
}
