//! The flows of one class that can send, in the order that the NIC's scheduling gives.

use super::config::NicScheduling;
use super::list::List;
use super::slot_heap::SlotHeap;
use crate::sender::Sender;
use borsh::{BorshDeserialize, BorshSerialize};

/// The ready flows of one class.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) enum ReadyFlows {
    /// First come, first served. A flow that has sent goes to the back.
    InTurn(List),
    /// Fewest bytes left to send first. Of flows with equal bytes left, the lowest number comes first.
    ByRemaining(SlotHeap),
}

impl ReadyFlows {
    /// No flow is ready.
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

    /// Whether a flow keeps its place while its number of bytes left to send changes.
    #[inline]
    pub(super) fn keeps_place(&self) -> bool {
        match self {
            ReadyFlows::InTurn(_) => true,
            ReadyFlows::ByRemaining(_) => false,
        }
    }

    /// Whether there is one flow, and it keeps its place whatever it sends.
    #[inline]
    pub(super) fn is_one_in_turn(&self) -> bool {
        matches!(self, ReadyFlows::InTurn(list) if list.is_single())
    }

    /// The flow that sends next.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        match self {
            ReadyFlows::InTurn(list) => list.first(),
            ReadyFlows::ByRemaining(heap) => heap.first().map(|(_, slot)| slot),
        }
    }

    /// Adds a flow that is in no structure.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32, flows: &mut [Sender]) {
        match self {
            ReadyFlows::InTurn(list) => list.push_back(slot, flows),
            ReadyFlows::ByRemaining(heap) => {
                heap.insert(flows[slot as usize].remaining_unsent(), slot, flows);
            }
        }
    }

    /// Removes a ready flow.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32, flows: &mut [Sender]) {
        match self {
            ReadyFlows::InTurn(list) => list.remove(slot, flows),
            ReadyFlows::ByRemaining(heap) => heap.remove(slot, flows),
        }
    }
}
