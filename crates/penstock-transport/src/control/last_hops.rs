//! The latest telemetry of a flow's path, with which HPCC and PowerTCP compare that of the next
//! acknowledgement.
//!
//! A port's counter says nothing beside that of another port. So a sender forgets the telemetry when the
//! path has changed (HPCC, Y. Li et al., SIGCOMM 2019, Sec. 4.1: pathID).

use alloc::boxed::Box;

use borsh::{BorshDeserialize, BorshSerialize};

use crate::path::{Acknowledgement, HopTelemetry};

/// The latest telemetry of every hop, and the path that it comes from. Empty before the first
/// acknowledgement, so that a flow of one packet allocates nothing.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct LastHops {
    path: u16,
    hops: Box<[HopTelemetry]>,
}

impl LastHops {
    /// Whether nothing has been reported.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    /// Whether the telemetry of `ack` comes from the same path, so that both can be compared. If not, it
    /// replaces what was there.
    #[inline]
    pub(crate) fn compares(&mut self, ack: &Acknowledgement) -> bool {
        if ack.path == self.path && ack.telemetry.len() == self.hops.len() {
            return true;
        }
        self.replace(ack);
        false
    }

    #[cold]
    fn replace(&mut self, ack: &Acknowledgement) {
        self.path = ack.path;
        match ack.telemetry.len() == self.hops.len() {
            true => self.hops.copy_from_slice(ack.telemetry),
            false => self.hops = ack.telemetry.into(),
        }
    }

    /// The hops, nearest to the source first, for an update.
    #[inline]
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut HopTelemetry> {
        self.hops.iter_mut()
    }

    /// The number of hops.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.hops.len()
    }
}
