//! What a node is handed with every call.

use penstock_units::Time;

use crate::pool::PacketPool;

/// A moment at a node: the time, the packets and whoever watches.
#[derive(Debug)]
pub struct Moment<'a, O> {
    /// The time.
    pub now: Time,
    /// All packets.
    pub pool: &'a mut PacketPool,
    /// Who watches.
    pub observer: &'a mut O,
}
