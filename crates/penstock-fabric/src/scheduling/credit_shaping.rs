//! Credits beside the data of a FIFO port; the rules of their queue are those of [`CreditQueue`].

use penstock_packet::{CreditQueue, CreditShapingConfig};
use penstock_units::BitRate;

use super::fifo;

/// The scheduler of a port with one data queue and a credit queue.
#[derive(Debug)]
pub struct CreditShaping {
    /// The credits.
    pub(crate) credits: CreditQueue,
    /// The data.
    pub(crate) data: fifo::Fifo,
}

impl CreditShaping {
    /// The scheduler of a port of `rate`.
    pub(crate) fn new(config: &CreditShapingConfig, rate: BitRate) -> Self {
        CreditShaping { credits: CreditQueue::new(config, rate), data: fifo::Fifo::default() }
    }
}

#[cfg(test)]
#[path = "credit_shaping_tests.rs"]
mod tests;
