//! The flows that are open at the hosts of a driver.
//!
//! A driver lends the flows to a host with every call, as it lends the packets. A flow has the same
//! name at both of its hosts. Names are small numbers. A name is used again when neither a packet nor a
//! flow bears it any more ([`penstock_packet::PacketPool::name_flow`]).
//!
//! The sending ends have slots of their own, because a driver of a part of the network knows many flows
//! whose sources are elsewhere. A run of BFC with 65,536 hosts in 16 parts took 3.1 GB with room for a
//! sending end at each name, and takes 2.9 GB.

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
    /// Name of the flow.
    pub flow: u32,
    /// When the event for the sender's timers is due; [`Time::NEVER`] when none is pending.
    pub timer: Time,
    /// What packets bear.
    pub identity: Identity,
    /// Where the flow stands in its host's list of flows that have started.
    pub place: u32,
    /// The connections that the flow shares with others, by their place at the host; [`OWN_CONNECTION`] when
    /// it shares none.
    pub pool: u32,
    /// Priority class.
    pub class: u8,
    /// Whether packets bear the incast label.
    pub is_incast: bool,
    /// Whether the flow has not completed.
    pub is_open: bool,
}

/// The flow has a connection of its own.
pub(super) const OWN_CONNECTION: u32 = u32::MAX;

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

/// The open flows of a driver's hosts.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Flows {
    /// By slot: sending ends. A NIC's lists of flows run through them.
    pub(super) senders: Vec<Sender>,
    /// By slot: what the source knows besides.
    pub(super) outgoing: Vec<Outgoing>,
    /// The slots of flows that have completed. The last one is used again first.
    free_slots: Vec<u32>,
    /// By name: the slot that the flow had last. Another flow may have it now.
    slots: Vec<u32>,
    /// By name: what the destination knows.
    pub(super) incoming: Vec<Incoming>,
}

impl Flows {
    /// The sending end of `flow`, from [`super::Host::open`] until another flow opens after `flow` has
    /// completed.
    #[inline]
    pub fn sender(&self, flow: u32) -> &Sender {
        let slot = self.slots[flow as usize] as usize;
        debug_assert_eq!(self.outgoing[slot].flow, flow);
        &self.senders[slot]
    }

    /// The receiving end of `flow`. The destination must have been told of the flow.
    #[inline]
    pub fn receiver(&self, flow: u32) -> &Receiver {
        &self.incoming[flow as usize].receiver
    }

    /// Gives the flow that `outgoing` names a slot.
    pub(super) fn open(&mut self, sender: Sender, outgoing: Outgoing) -> u32 {
        let name = outgoing.flow;
        let slot = match self.free_slots.pop() {
            Some(slot) => {
                self.senders[slot as usize] = sender;
                self.outgoing[slot as usize] = outgoing;
                slot
            }
            None => {
                self.senders.push(sender);
                self.outgoing.push(outgoing);
                self.senders.len() as u32 - 1
            }
        };
        put(&mut self.slots, name, slot, |_| u32::MAX);
        slot
    }

    /// The flow in `slot` has completed. Its sending end stays until [`Flows::free`].
    pub(super) fn complete(&mut self, slot: u32) {
        self.outgoing[slot as usize].is_open = false;
    }

    /// Nobody needs the sending end of the complete flow in `slot` any more.
    pub(super) fn free(&mut self, slot: u32) {
        self.free_slots.push(slot);
    }

    /// The flow in `slot` takes over the connection of the complete flow in `last`, whose slot is free from
    /// now on.
    pub(super) fn follow(&mut self, slot: u32, last: u32, now: Time) {
        let pair = self.senders.get_disjoint_mut([slot as usize, last as usize]);
        let [next, before] = pair.expect("two slots");
        next.follow(before, now);
        self.free(last);
    }

    pub(super) fn expect(&mut self, flow: u32, incoming: Incoming) {
        put(&mut self.incoming, flow, incoming, |one| Incoming { is_open: false, ..one.clone() });
    }

    /// The slot of `flow`, unless the flow has completed or its source is elsewhere.
    #[inline]
    pub(super) fn slot(&self, flow: u32) -> Option<u32> {
        let slot = *self.slots.get(flow as usize)?;
        let outgoing = self.outgoing.get(slot as usize)?;
        (outgoing.flow == flow && outgoing.is_open).then_some(slot)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{line_rate, path};

    fn open(flows: &mut Flows, flow: u32) -> u32 {
        let sender = Sender::new(u64::from(flow), &line_rate(), &path(), Time::ZERO);
        let identity = Identity { hash: flow, source: 0, destination: 1 };
        let timer = Time::NEVER;
        let (place, class, is_incast, is_open) = (0, 0, false, true);
        let pool = OWN_CONNECTION;
        flows.open(
            sender,
            Outgoing { flow, timer, identity, place, pool, class, is_incast, is_open },
        )
    }

    #[test]
    fn a_slot_is_used_again_and_belongs_to_one_flow_at_a_time() {
        let mut flows = Flows::default();
        let slots = [open(&mut flows, 7), open(&mut flows, 3)];
        assert_eq!(slots, [0, 1], "slots do not depend on names");
        assert_eq!((flows.slot(7), flows.slot(3), flows.slot(5)), (Some(0), Some(1), None));
        flows.complete(0);
        flows.free(0);
        assert_eq!(flows.slot(7), None, "a flow that has completed is not found");
        assert_eq!(flows.sender(7).size(), 7, "its end can still be read");
        assert_eq!(open(&mut flows, 9), 0);
        assert_eq!((flows.slot(7), flows.slot(9)), (None, Some(0)), "another flow has its slot");
        assert_eq!(open(&mut flows, 7), 2, "its name is used again");
        assert_eq!((flows.slot(7), flows.slot(9)), (Some(2), Some(0)));
    }
}
