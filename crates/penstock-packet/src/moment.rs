//! What a driver hands to a node with every call.

use penstock_units::Time;

use crate::pool::PacketPool;

/// A moment at a node: the time, the packets and the observer.
#[derive(Debug)]
pub struct Moment<'a, O> {
    /// The time.
    pub now: Time,
    /// All packets.
    pub pool: &'a mut PacketPool,
    /// The observer.
    pub observer: &'a mut O,
}
