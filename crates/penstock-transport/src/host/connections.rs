//! Open connections: flows that a host sends to one destination share some connections, one flow at a time on
//! each, with the state of one flow of TCP.
//!
//! A flow takes the free connection that was used last, or opens another one, up to the number that there
//! may be. Otherwise the flow waits for the first connection that becomes free, behind the flows that wait
//! already. On its connection it goes on with what the flow before has learnt: window, threshold, round-trip
//! time, share of marks. The sending end of that flow keeps its slot until then. A flow that waits is open,
//! and the NIC does not know it yet.
//!
//! Connections that stay open are those of AFQ's testbed (N. Sharma et al., NSDI 2018, Sec. 6.1.3: 25 between
//! each client and server). Which of them a flow takes is our choice, that of pools of connections.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

use super::flows::OWN_CONNECTION;
use super::{Host, Opening, Turn};

/// The connections from a host to one destination that some traffic shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedConnections {
    /// The traffic. Other traffic has connections of its own.
    pub label: u16,
    /// How many there may be, >= 1.
    pub most: u32,
}

/// The open connections of a host.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct Connections {
    /// By destination and traffic: the place in `pools`.
    places: BTreeMap<(u32, u16), u32>,
    pools: Vec<Pool>,
}

/// The connections to one destination.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Pool {
    /// How many more may be opened.
    unopened: u32,
    /// The free connections, by the slots of the flows that they had last. The one that was used last is at
    /// the end.
    free: Vec<u32>,
    /// Flows that wait, the next one first.
    waiting: VecDeque<Waiting>,
}

/// A flow that waits for a connection.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Waiting {
    slot: u32,
    /// Number of the flow in the run.
    number: u64,
}

impl Host {
    /// The place of the connections that the flow of `opening` shares.
    pub(super) fn pool_of(&mut self, opening: &Opening) -> u32 {
        let Some(SharedConnections { label, most }) = opening.connections else {
            return OWN_CONNECTION;
        };
        let Connections { places, pools } = &mut **self.connections.get_or_insert_default();
        *places.entry((opening.destination, label)).or_insert_with(|| {
            pools.push(Pool { unopened: most, ..Pool::default() });
            pools.len() as u32 - 1
        })
    }

    fn pool(&mut self, place: u32) -> &mut Pool {
        let connections = self.connections.as_mut().expect("a flow has opened a connection");
        &mut connections.pools[place as usize]
    }

    /// Whether the flow in `slot`, which has this number in the run, has a connection at once. Otherwise the
    /// flow waits.
    pub(super) fn takes_connection(&mut self, turn: &mut Turn<'_>, slot: u32, number: u64) -> bool {
        let pool = self.pool(turn.flows.outgoing[slot as usize].pool);
        if let Some(last) = pool.free.pop() {
            turn.flows.follow(slot, last, turn.now);
        } else if pool.unopened > 0 {
            pool.unopened -= 1;
        } else {
            pool.waiting.push_back(Waiting { slot, number });
            return false;
        }
        true
    }

    /// The flow in `slot` has completed: its connection is free for the next flow.
    pub(super) fn release_connection(&mut self, turn: &mut Turn<'_>, slot: u32, place: u32) {
        let pool = self.pool(place);
        match pool.waiting.pop_front() {
            None => pool.free.push(slot),
            Some(Waiting { slot: next, number }) => {
                turn.flows.follow(next, slot, turn.now);
                self.start(turn, next, number);
            }
        }
    }
}
