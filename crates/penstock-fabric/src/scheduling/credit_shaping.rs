//! Credits beside the data of a FIFO port; the rules of their queue are those of [`CreditQueue`].

use penstock_packet::{CreditQueue, PacketId, PacketPool};
use penstock_units::{BitRate, Time};

use super::fifo::Fifo;
use super::policy::{Parameters, Policy};
use crate::queue::DataQueue;

pub use penstock_packet::CreditShapingConfig;

/// Its bounds are those of a whole scenario: they depend on the frames of hosts.
impl Parameters for CreditShapingConfig {}

/// The scheduler of a port with one data queue and a credit queue.
#[derive(Debug)]
pub(crate) struct CreditShaping {
    /// The credits.
    credits: CreditQueue,
    /// The data.
    data: Fifo,
}

impl CreditShaping {
    /// The scheduler of a port of `rate`.
    pub(crate) fn new(config: &CreditShapingConfig, rate: &BitRate) -> Self {
        CreditShaping { credits: CreditQueue::new(config, *rate), data: Fifo::default() }
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
