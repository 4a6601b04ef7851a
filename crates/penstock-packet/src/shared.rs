//! What the switches of another simulator share, where a run follows the arithmetic of that simulator.

use core::fmt::Debug;

/// Random numbers and flow identifiers that all switches of a run share. Our own switches share nothing.
pub trait Shared: Debug + Send + Sync {
    /// The next number of a stream of its own, even in (0, 1).
    fn draw(&self) -> f64;

    /// Leaves out a number of those that [`Shared::draw`] gives.
    fn skip(&self);

    /// The next of `count` numbers from 0 on, from the sequence of that simulator's process.
    fn below(&self, count: u32) -> u32;

    /// The identifier by which that simulator knows the flow with this hash, or the flow of its replies; 0
    /// for frames between neighbours, which belong to no flow.
    fn flow_id(&self, flow_hash: u32, is_reply: bool) -> u32;
}
