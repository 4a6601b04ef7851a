//! Strict priority: the lowest-numbered active queue sends; starvation of the others is expected.

use penstock_packet::PacketPool;
use penstock_units::{BitRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Parameters, Policy};
use crate::queue::DataQueue;

/// Parameters of the strict scheduler: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictConfig {}

impl Parameters for StrictConfig {}

/// The strict scheduler for up to 128 queues (Tofino2 has 128 at a 400 Gb/s port, BFC sec. 3.1).
#[derive(Debug, Default)]
pub(crate) struct Strict {
    active: u128,
}

/// The number of queues that a strict scheduler can tell apart, the control queue included.
pub const QUEUES_MAX: usize = 128;

impl Strict {
    pub(crate) fn new(_: &StrictConfig, _: &BitRate) -> Self {
        Strict::default()
    }
}

impl Policy for Strict {
    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.active |= 1 << number;
    }

    #[inline]
    fn deactivate(&mut self, _: &mut [DataQueue], number: u32) {
        self.active &= !(1 << number);
    }

    #[inline]
    fn select(&mut self, _: Time, _: &mut [DataQueue], _: &PacketPool) -> u32 {
        self.active.trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_number_goes_first() {
        let mut strict = Strict::default();
        let pool = PacketPool::new(false);
        strict.activate(&mut [], 5, &pool);
        strict.activate(&mut [], 3, &pool);
        assert_eq!(strict.select(Time::ZERO, &mut [], &pool), 3);
        strict.deactivate(&mut [], 3);
        assert_eq!(strict.select(Time::ZERO, &mut [], &pool), 5);
    }
}
