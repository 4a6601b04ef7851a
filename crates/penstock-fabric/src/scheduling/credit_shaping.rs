//! Credits besides the data of a FIFO port. [`CreditQueue`] has the rules of the credit queue.

use alloc::format;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{CreditQueue, PacketId, PacketPool};
use penstock_units::{Problems, Time};

use super::fifo::Fifo;
use super::policy::{Egress, Parameters, Policy, fits_one_queue};
use crate::config::{Surroundings, SwitchConfig};
use crate::queue::DataQueue;

pub use penstock_packet::CreditShapingConfig;

impl Parameters for CreditShapingConfig {
    fn fits(&self, switch: &SwitchConfig, around: &Surroundings, problems: &mut Problems) {
        fits_one_queue(switch, problems);
        let backpressure = switch.backpressure.kind();
        let remedy = "data that credits have paid for are not paused; use backpressure \"none\"";
        let holds = switch.backpressure.is_silent();
        problems.unless(holds, "backpressure.kind", backpressure, remedy);
        if let Some(packet) = around.packet.filter(|_| problems.has_sound("scheduling.frame")) {
            let remedy = format!("a full data packet weighs {packet} on the wire; write {packet}");
            problems.unless(self.frame == packet, "scheduling.frame", self.frame, remedy);
        }
    }

    fn credit_shaping(&self) -> Option<&CreditShapingConfig> {
        Some(self)
    }
}

/// The scheduler of a port with one data queue and a credit queue.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
#[repr(C, align(64))] // the data's fields are in the credits' second cache line
pub(crate) struct CreditShaping {
    /// The credits.
    credits: CreditQueue,
    /// The data.
    data: Fifo,
}

impl CreditShaping {
    /// The scheduler of the port `egress`.
    pub(crate) fn new(config: &CreditShapingConfig, egress: &Egress) -> Self {
        CreditShaping { credits: CreditQueue::new(config, egress.rate), data: Fifo::default() }
    }
}

impl Policy for CreditShaping {
    #[inline]
    fn activate(&mut self, queues: &mut [DataQueue], number: u32, pool: &PacketPool) {
        self.data.activate(queues, number, pool);
    }

    #[inline]
    fn select(&mut self, now: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32 {
        self.data.select(now, queues, pool)
    }

    #[inline]
    fn credits(&self) -> Option<&CreditQueue> {
        Some(&self.credits)
    }

    fn push_credit(&mut self, pool: &mut PacketPool, id: PacketId) -> bool {
        self.credits.push(pool, id)
    }

    #[inline]
    fn pop_credit(&mut self, now: Time, pool: &PacketPool) -> Option<PacketId> {
        self.credits.pop(now, pool)
    }
}

#[cfg(test)]
#[path = "credit_shaping_tests.rs"]
mod tests;
