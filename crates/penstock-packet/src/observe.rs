//! What a switch tells an observer of every packet. Without an observer nothing is spent on it.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::Packet;

/// What happened to a packet at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum PacketEvent {
    /// The last bit arrived.
    Arrive,
    /// The packet got its queue.
    Assign,
    /// The packet is in its queue.
    Enqueue,
    /// The packet was marked (ECN).
    Mark,
    /// There was no room, or marking drops the packet, which has left its queue, or its link has failed.
    Drop,
    /// The first bit leaves.
    Depart,
    /// A pause was sent upstream because of this packet.
    PauseSent,
    /// A resume was sent upstream because of this packet.
    ResumeSent,
    /// A pause arrived from downstream.
    PauseReceived,
    /// A resume arrived from downstream.
    ResumeReceived,
    /// The port's class, queue or flow waits for itself round a cycle of pauses.
    Deadlock,
    /// The packet's flow was given a queue; a packet that gets the queue of the packets before it has no
    /// such event (BFC).
    Choose,
    /// The last bit of a packet arrived that no policy looks at: an acknowledgement, a pause, a credit.
    ControlArrive,
    /// The first bit of such a packet leaves.
    ControlDepart,
}

impl PacketEvent {
    /// The names of all events, by their number.
    pub const NAMES: [&'static str; 14] = [
        "arrive",
        "assign",
        "enqueue",
        "mark",
        "drop",
        "depart",
        "pause_sent",
        "resume_sent",
        "pause_received",
        "resume_received",
        "deadlock",
        "choose",
        "control_arrive",
        "control_depart",
    ];
}

/// One event of a packet, with the state that the policies decided on.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// Time of the event.
    pub time: Time,
    /// Node number of the switch, as in its [`crate::SwitchFacts`].
    pub node: u32,
    /// Local port by which the packet entered.
    pub ingress: u16,
    /// Local port by which the packet leaves.
    pub egress: u16,
    /// Kind of the event.
    pub event: PacketEvent,
    /// The packet at the time of the event.
    pub packet: Packet,
    /// Bytes in the packet's queue after the event.
    pub queue_bytes: u64,
    /// Data bytes at the packet's egress port after the event.
    pub port_bytes: u64,
    /// Queues of the egress port with data that are not paused, after the event.
    pub active_queues: u32,
    /// Entry of BFC's flow table, or -1.
    pub table_index: i64,
    /// The backpressure policy's threshold at the time of the event (bytes), or -1.
    pub threshold: i64,
}

/// Whoever watches every packet. The runtime is generic over the observer, so a run with
/// [`Unobserved`] pays nothing.
pub trait Observer {
    /// Whether [`Observer::record`] does anything. If not, observations are not even built.
    const IS_WATCHING: bool;
    /// Whether this event at `node` is recorded; if not, the observation is not built either.
    fn watches(&self, node: u32, event: PacketEvent) -> bool;
    /// Takes one event, which it watches.
    fn record(&mut self, observation: Observation);
    /// Whether packets that depart from now on are dropped instead, because their link has failed.
    #[inline]
    fn set_failed(&mut self, _has_failed: bool) {}
}

/// The observer that watches nothing.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Unobserved;

impl Observer for Unobserved {
    const IS_WATCHING: bool = false;
    #[inline]
    fn watches(&self, _: u32, _: PacketEvent) -> bool {
        false
    }
    #[inline]
    fn record(&mut self, _: Observation) {}
}
