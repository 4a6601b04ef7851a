//! What all switches share: the streams of random numbers that decide about marks, and, in
//! NASA-NJU/Pyrrha-NS3, the sequence of the C library and the identifiers of flows.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use penstock_fabric::parts::Streams;
use penstock_packet::Shared;

use super::glibc_rand::GlibcRand;

/// How many random streams the set-up of the network takes; see [`AllSwitches::new`].
const STREAMS_PER_NODE: u64 = 6;
const STREAMS_PER_NETWORK: u64 = 2;

/// The state that all switches share.
#[derive(Debug)]
pub(crate) struct AllSwitches(Mutex<State>);

#[derive(Debug)]
struct State {
    streams: Streams,
    rand: GlibcRand,
    /// By the hash of a flow: the identifier of its data, and that of its replies.
    flow_ids: HashMap<u32, [u32; 2]>,
}

impl AllSwitches {
    /// The state at the start of a run with `nodes` nodes.
    ///
    /// The set-up of a network takes streams before the first mark does. With the reference's 144 nodes
    /// the set-up takes 866: of the first 3,000 numbers, only 866 gives every completion time of the
    /// DCTCP incast of 100 flows. We read 866 as six for each node and two for the network. The
    /// reference has one network only, so the split is our choice for other numbers of nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        let first = STREAMS_PER_NODE * nodes as u64 + STREAMS_PER_NETWORK;
        AllSwitches(Mutex::new(State {
            streams: Streams::new(first),
            rand: GlibcRand::new(1), // nobody calls srand
            flow_ids: HashMap::new(),
        }))
    }

    /// The flow with the hash `flow_hash` starts; that simulator knows its data and its replies by `ids`.
    pub(crate) fn enter(&self, flow_hash: u32, ids: [u32; 2]) {
        self.state().flow_ids.insert(flow_hash, ids);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared for AllSwitches {
    fn draw(&self) -> f64 {
        self.state().streams.draw()
    }

    fn skip(&self) {
        self.state().streams.skip();
    }

    fn below(&self, count: u32) -> u32 {
        self.state().rand.draw() % count
    }

    fn flow_id(&self, flow_hash: u32, is_reply: bool) -> u32 {
        self.state().flow_ids.get(&flow_hash).map_or(0, |ids| ids[usize::from(is_reply)])
    }
}
