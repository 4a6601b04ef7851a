//! The flows that are open at the hosts of a driver, indexed by name.
//!
//! A driver lends the flows to a host with every call, as it lends the packets. A flow has the same
//! name at both of its hosts. Names are small numbers. A name is used again when neither a packet nor a
//! flow bears it any more ([`penstock_packet::PacketPool::name_flow`]).

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Packet;
use penstock_units::Time;

use super::Opening;
use crate::receiver::Receiver;
use crate::sender::Sender;

/// What every packet of a flow bears besides the flow's name.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Identity {
    /// The flow identifier that switches see.
    pub hash: u32,
    /// The sending host.
    pub source: u32,
    /// The receiving host.
    pub destination: u32,
}

impl Identity {
    pub(super) fn of(opening: &Opening) -> Self {
        let Opening { hash, source, destination, .. } = *opening;
        Identity { hash, source, destination }
    }

    /// `packet` as a packet of the flow with this identity, named `flow`.
    #[inline]
    pub(super) fn mark(self, flow: u32, packet: Packet) -> Packet {
        let Identity { hash, source, destination } = self;
        Packet { flow, flow_hash: hash, source, destination, ..packet }
    }
}

/// What a source knows of a flow besides its [`Sender`].
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Outgoing {
    /// When the event for the sender's timers is due; [`Time::NEVER`] when none is pending.
    pub timer: Time,
    /// What packets bear.
    pub identity: Identity,
    /// Where the flow stands in its host's list of open flows.
    pub place: u32,
    /// Priority class.
    pub class: u8,
    /// Whether packets bear the incast label.
    pub is_incast: bool,
    /// Whether the flow has not completed.
    pub is_open: bool,
}

/// What a destination knows of a flow.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Incoming {
    /// When the event for the receiver's timers is due; [`Time::NEVER`] when none is pending.
    pub timer: Time,
    /// Bytes of the flow; `u64::MAX` when it is endless.
    pub size: u64,
    /// Number of the flow. Of messages that are otherwise equal, the lowest number comes first (Homa).
    pub number: u64,
    /// What packets bear.
    pub identity: Identity,
    /// Whether the flow has not completed.
    pub is_open: bool,
    /// The receiving end: chooses the reply to a data packet.
    pub receiver: Receiver,
}

/// The open flows of a driver's hosts. A name indexes every column.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Flows {
    /// Sending ends. A NIC's lists of flows run through them.
    pub(super) senders: Vec<Sender>,
    pub(super) outgoing: Vec<Outgoing>,
    pub(super) incoming: Vec<Incoming>,
}

impl Flows {
    /// The sending end of `flow`. The flow must have been opened.
    #[inline]
    pub fn sender(&self, flow: u32) -> &Sender {
        &self.senders[flow as usize]
    }

    /// The receiving end of `flow`. The destination must have been told of the flow.
    #[inline]
    pub fn receiver(&self, flow: u32) -> &Receiver {
        &self.incoming[flow as usize].receiver
    }

    pub(super) fn open(&mut self, flow: u32, sender: Sender, outgoing: Outgoing) {
        put(&mut self.outgoing, flow, outgoing, |one| Outgoing { is_open: false, ..*one });
        put(&mut self.senders, flow, sender, Sender::clone);
    }

    pub(super) fn expect(&mut self, flow: u32, incoming: Incoming) {
        put(&mut self.incoming, flow, incoming, |one| Incoming { is_open: false, ..one.clone() });
    }

    /// What the source of `flow` knows, unless the flow has completed.
    #[inline]
    pub(super) fn outgoing(&mut self, flow: u32) -> Option<&mut Outgoing> {
        self.outgoing.get_mut(flow as usize).filter(|one| one.is_open)
    }

    /// What the destination of `flow` knows, unless the flow has completed.
    #[inline]
    pub(super) fn incoming(&mut self, flow: u32) -> Option<&mut Incoming> {
        self.incoming.get_mut(flow as usize).filter(|one| one.is_open)
    }
}

/// Writes `value` at `flow`. Lower names that this driver has not met yet get what `missing` makes of
/// `value`.
#[inline]
fn put<T>(column: &mut Vec<T>, flow: u32, value: T, missing: impl Fn(&T) -> T) {
    let index = flow as usize;
    match column.get_mut(index) {
        Some(place) => *place = value,
        None => {
            column.resize_with(index, || missing(&value));
            column.push(value);
        }
    }
}
