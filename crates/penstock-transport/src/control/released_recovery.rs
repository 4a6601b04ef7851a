//! How a rate recovers in the simulator that DCQCN's authors released (bobzhuyb/ns3-rdma: `rpr_*` and
//! `AdjustRates` of its `QbbNetDevice`). The paper's recovery is that of [`super::stages`].
//!
//! The simulator has three stages. Fast recovery and additive increase are as in the paper, with two
//! differences: the target has no upper limit, and in the first cycle of timer or counter a target far
//! above the rate falls ([`Climb::lower_far_target`], QCN's rule). Hyper increase begins when the timer
//! expires and both have expired F times. Its first step is R_HAI, and from then on each expiry starts a
//! period of half the length. Invariant: nothing is halved outside of hyper increase.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Bytes;

use super::dcqcn::DcqcnConfig;
use super::stages::Climb;

/// What the simulator keeps of a flow beyond the numbers of expiries.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct ReleasedRecovery {
    /// Hyper increase has begun since the last cut.
    is_hyper: bool,
    /// The period of the byte counter that runs is half as long.
    has_half_counter: bool,
}

impl ReleasedRecovery {
    /// The bytes after which the counter expires (bytes); 0: never.
    pub(crate) fn counter_period(&self, config: &DcqcnConfig) -> Bytes {
        Bytes::new(config.increase_bytes.get() / (u64::from(self.has_half_counter) + 1))
    }

    /// The counter has expired.
    pub(crate) fn on_counter(&mut self, config: &DcqcnConfig, climb: &mut Climb) {
        self.has_half_counter = self.is_hyper;
        self.adjust(config, climb);
    }

    /// The timer expires.
    pub(crate) fn on_timer(&mut self, config: &DcqcnConfig, climb: &mut Climb) {
        let period = config.increase_interval / (u64::from(self.is_hyper) + 1);
        climb.stages.on_timer(|_| period);
        self.is_hyper |= climb.stages.fewest() >= config.fast_recovery_rounds;
        self.adjust(config, climb);
    }

    /// Moves the target by the step of the stage, and the rate half way to it.
    fn adjust(&self, config: &DcqcnConfig, climb: &mut Climb) {
        if !climb.lower_far_target() {
            climb.target = climb.target.saturating_add(self.step(config, climb));
        }
        climb.approach();
    }

    /// What the target gains (bit/s).
    fn step(&self, config: &DcqcnConfig, climb: &Climb) -> u64 {
        if self.is_hyper {
            let number = climb.stages.fewest() - config.fast_recovery_rounds + 1;
            config.hyper_increase.as_bps().saturating_mul(u64::from(number))
        } else if climb.stages.most() >= config.fast_recovery_rounds {
            config.additive_increase.as_bps()
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use penstock_units::{BitRate, Time};

    use super::*;
    use crate::control::dcqcn::tests::released;
    use crate::control::paced_rate::RateWindow;
    use crate::fixture;
    use crate::path::PathFacts;

    const T: Time = Time::from_us(60);

    /// A flow at 40 Gb/s that has been cut to `rate` (bit/s) at time 0, which is its target, too.
    fn cut_to(rate: u64) -> (DcqcnConfig, Climb, ReleasedRecovery) {
        let config = DcqcnConfig { increase_bytes: Bytes::new(1_000), ..released() };
        let path = PathFacts { line_rate: BitRate::from_gbps(40), ..fixture::path() };
        let mut climb = Climb::new(&path, config.minimum_rate, RateWindow::None);
        climb.rate.set(rate);
        climb.target = rate;
        climb.stages.restart(Time::ZERO, T);
        (config, climb, ReleasedRecovery::default())
    }

    #[test]
    fn hyper_increase_begins_with_the_timer_once_both_have_expired_f_times() {
        let (config, mut climb, mut recovery) = cut_to(1_000_000_000);
        let mut targets = vec![climb.target];
        for _ in 0..6 {
            assert!(climb.stages.on_send(1_000, recovery.counter_period(&config).get()));
            recovery.on_counter(&config, &mut climb);
            targets.push(climb.target);
        }
        for _ in 0..7 {
            recovery.on_timer(&config, &mut climb);
            targets.push(climb.target);
        }
        let steps: Vec<u64> = targets.windows(2).map(|two| (two[1] - two[0]) / 1_000_000).collect();
        // The counter's fifth expiry is the first additive step; then the timer's fifth is the first hyper
        // one, and the smaller number decides: the timer's 5, 6, and then the counter's 6.
        assert_eq!(steps, [0, 0, 0, 0, 40, 40, 40, 40, 40, 40, 200, 400, 400]);
    }

    #[test]
    fn periods_that_start_in_hyper_increase_are_half_as_long() {
        let (config, mut climb, mut recovery) = cut_to(1_000_000_000);
        for _ in 0..5 {
            assert!(climb.stages.on_send(1_000, recovery.counter_period(&config).get()));
            recovery.on_counter(&config, &mut climb);
        }
        let mut dues = vec![];
        for _ in 0..7 {
            dues.push(climb.stages.deadline());
            recovery.on_timer(&config, &mut climb);
        }
        // The fifth expiry begins hyper increase, and has set its own next period before.
        assert_eq!(dues, [2, 4, 6, 8, 10, 12, 13].map(|halves| T * halves / 2));
        assert_eq!(recovery.counter_period(&config), Bytes::new(1_000));
        assert!(climb.stages.on_send(1_000, recovery.counter_period(&config).get()));
        recovery.on_counter(&config, &mut climb);
        assert_eq!(recovery.counter_period(&config), Bytes::new(500));
    }

    #[test]
    fn the_target_passes_the_line_rate_and_the_rate_does_not() {
        let (config, mut climb, mut recovery) = cut_to(39_990_000_000);
        for _ in 0..5 {
            recovery.on_timer(&config, &mut climb);
        }
        assert_eq!(climb.target, 40_030_000_000);
        assert_eq!(
            climb.rate.get(),
            40_000_000_000,
            "39.99 + 40.03, halved, is above the line rate"
        );
        assert_eq!(climb.stages.deadline(), Time::NEVER);
    }

    #[test]
    fn a_far_target_falls_in_the_first_cycle_only() {
        let (config, mut climb, mut recovery) = cut_to(1_000_000_000);
        climb.target = 16_000_000_000;
        recovery.on_timer(&config, &mut climb);
        assert_eq!((climb.rate.get(), climb.target), (1_500_000_000, 2_000_000_000));
        climb.target = 16_000_000_000;
        recovery.on_timer(&config, &mut climb);
        assert_eq!((climb.rate.get(), climb.target), (8_750_000_000, 16_000_000_000));
    }
}
