//! First in, first out: one data queue a port, which the `class` assignment with one class gives.

use penstock_packet::PacketPool;
use penstock_units::{BitRate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Parameters, Policy};
use crate::queue::DataQueue;

/// Parameters of the FIFO scheduler: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FifoConfig {}

impl Parameters for FifoConfig {}

/// The FIFO scheduler: it remembers the one queue there is.
#[derive(Debug, Default)]
pub(crate) struct Fifo {
    queue: u32,
}

impl Fifo {
    pub(crate) fn new(_: &FifoConfig, _: &BitRate) -> Self {
        Fifo::default()
    }
}

impl Policy for Fifo {
    #[inline]
    fn activate(&mut self, _: &mut [DataQueue], number: u32, _: &PacketPool) {
        self.queue = number;
    }

    #[inline]
    fn select(&mut self, _: Time, _: &mut [DataQueue], _: &PacketPool) -> u32 {
        self.queue
    }
}
