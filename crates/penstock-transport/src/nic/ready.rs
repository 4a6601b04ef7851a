//! The flows of one class that can send, in the order in which they do: what a NIC's scheduling chooses.

use super::config::NicScheduling;
use super::list::List;
use super::slot_heap::SlotHeap;
use crate::sender::Sender;

/// The ready flows of one class.
#[derive(Clone, Debug)]
pub(super) enum ReadyFlows {
    /// First come, first served; whoever has sent comes last.
    InTurn(List),
    /// The fewest bytes left to send first; of equal ones the lowest slot.
    ByRemaining(SlotHeap),
}

impl ReadyFlows {
    /// None yet.
    pub(super) fn new(scheduling: NicScheduling) -> Self {
        match scheduling {
            NicScheduling::RoundRobin => ReadyFlows::InTurn(List::new()),
            NicScheduling::Srf => ReadyFlows::ByRemaining(SlotHeap::default()),
        }
    }

    /// Makes room for `flows` flows.
    pub(super) fn reserve(&mut self, flows: usize) {
        match self {
            ReadyFlows::InTurn(_) => {}
            ReadyFlows::ByRemaining(heap) => heap.reserve(flows),
        }
    }

    /// Whether a flow stays where it is while the bytes that it has left to send change.
    #[inline]
    pub(super) fn keeps_place(&self) -> bool {
        match self {
            ReadyFlows::InTurn(_) => true,
            ReadyFlows::ByRemaining(_) => false,
        }
    }

    /// The flow that sends next.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        match self {
            ReadyFlows::InTurn(list) => list.first(),
            ReadyFlows::ByRemaining(heap) => heap.first().map(|(_, slot)| slot),
        }
    }

    /// Takes in a flow that is in no structure.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32, flows: &mut [Sender]) {
        match self {
            ReadyFlows::InTurn(list) => list.push_back(slot, flows),
            ReadyFlows::ByRemaining(heap) => {
                heap.insert(flows[slot as usize].remaining_unsent(), slot, flows);
            }
        }
    }

    /// Takes out a flow that is among them.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32, flows: &mut [Sender]) {
        match self {
            ReadyFlows::InTurn(list) => list.remove(slot, flows),
            ReadyFlows::ByRemaining(heap) => heap.remove(slot, flows),
        }
    }
}
