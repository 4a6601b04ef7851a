//! What holds after every step.

use penstock_fabric::AdmissionConfig;
use penstock_packet::{ControlFrame, Signal};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::PORTS;
use super::model::{FULL_PACKET, HOSTS, Model};

impl Model<'_> {
    /// Recomputes the switch's own counters, and holds them against the model's.
    pub fn check(&self) -> Result<(), TestCaseError> {
        self.switch.verify(&self.pool).map_err(TestCaseError::fail)?;
        let accounts = self.switch.accounts();
        prop_assert_eq!(accounts.total, self.data_bytes);
        let drops: u64 = self.switch.ports().iter().map(|port| port.counters.drops).sum();
        prop_assert_eq!(drops, self.drops);
        self.check_ports()?;
        self.check_admission()?;
        self.check_bitmaps()
    }

    /// The bitmap of empty queues and the flags of pauses say what the queues say.
    fn check_ports(&self) -> Result<(), TestCaseError> {
        for (number, port) in (0..PORTS).zip(self.switch.ports().iter()) {
            for (index, queue) in (0u16..).zip(port.queues()).skip(1) {
                let is_empty = queue.packets.is_empty();
                prop_assert_eq!(port.empty_queues().contains(usize::from(index)), is_empty);
                prop_assert_eq!(queue.is_paused, self.is_paused(number, index));
                prop_assert!(queue.grace == 0 || queue.is_paused, "a grace without a pause");
                let is_open = is_empty && !queue.is_paused;
                prop_assert_eq!(port.open_queues().contains(usize::from(index)), is_open);
            }
            let in_class = |class| self.paused_classes.contains(&(number, class));
            prop_assert!((0..8).all(|class| port.is_class_paused(class) == in_class(class)));
            let waits = port.control_packets(&self.pool).count() > 0;
            let may_send = port.active() > 0 && !self.held.contains_key(&number);
            prop_assert_eq!(port.is_ready(), waits || may_send);
        }
        Ok(())
    }

    /// No limit is exceeded, and the shared pool is what the accounts hold beyond their reserves.
    fn check_admission(&self) -> Result<(), TestCaseError> {
        let accounts = self.switch.accounts();
        match &self.config.admission {
            AdmissionConfig::Infinite(_) => {
                let refusals = self.switch.ports().iter().map(|port| port.counters.refusals);
                prop_assert_eq!(self.drops, refusals.sum::<u64>() + self.late_drops);
            }
            AdmissionConfig::Static(config) => {
                let fits = |bytes| bytes <= config.per_port.get();
                prop_assert!(self.switch.ports().iter().all(|port| fits(port.bytes())));
            }
            AdmissionConfig::Trimming(config) => {
                let room = u64::from(config.packets) * u64::from(FULL_PACKET);
                prop_assert!(self.switch.ports().iter().all(|port| port.bytes() <= room));
            }
            AdmissionConfig::Shared(config) => {
                prop_assert!(accounts.total <= config.buffer.get());
                if self.switch.opening_balance(0).is_some() {
                    prop_assert_eq!(self.drops, 0, "whoever has credit finds room");
                }
                let Some(ingress) = &config.ingress else { return Ok(()) };
                let mut shared = 0;
                for port in 0..PORTS {
                    for class in 0..self.config.assignment.classes() as u8 {
                        let account = accounts.ingress(port, class);
                        shared += account.used.saturating_sub(ingress.reserve.get());
                        prop_assert!(account.headroom <= 900);
                    }
                }
                prop_assert_eq!(accounts.shared, shared);
            }
        }
        Ok(())
    }

    /// BFC's bitmaps are what its pauses and resumes add up to.
    fn check_bitmaps(&self) -> Result<(), TestCaseError> {
        if !self.config.backpressure.pauses_queues() || self.pauses_flows() {
            prop_assert!(self.told_queues.iter().all(|told| self.pauses_flows() && told.0 < HOSTS));
            return Ok(());
        }
        for port in 0..PORTS {
            let told = self.told_queues.iter().filter(|told| told.0 == port);
            let bits = told.fold(0u128, |bits, told| bits | 1 << told.1);
            let bitmap =
                ControlFrame { port, signal: Signal::QueueBitmap { epoch: 0, queues: bits } };
            prop_assert_eq!(self.switch.standing_pauses(port), [bitmap]);
        }
        Ok(())
    }
}
