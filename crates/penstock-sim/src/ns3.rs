//! The state that only a run under the fidelity of the ns-3 HPCC simulator has
//! (alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a; `reference/ns3-hpcc/MODEL.md`), or of
//! NASA-NJU/Pyrrha-NS3, which was built on it.
//!
//! The clock, the rounding and the NIC of that simulator are in `penstock-units` and
//! `penstock-transport`. Here are its hash of flows, which decides the path of a flow when the flow starts,
//! what its switches share (`shared`), and the ranks of packets in flight and of transmissions. That
//! simulator schedules the arrival of a packet when the transmission starts, and events of the same
//! nanosecond happen in the order in which they were scheduled.

use std::collections::HashMap;
use std::sync::Arc;

use penstock_packet::PacketId;
use penstock_units::{Bytes, Time};

use crate::routing::{FrameSizes, Routing, longest_path};
use crate::topology::{Link, Topology};
use crate::workload::FlowArrival;

mod glibc_rand;
mod shared;

pub(crate) use shared::AllSwitches;

/// The source port of the first flow between two hosts. Each further flow takes the next port.
const FIRST_SOURCE_PORT: u16 = 10_000;

/// Seeds the hash by which all switches of NASA-NJU/Pyrrha-NS3 know a flow.
const FLOW_ID_SEED: u32 = 1;

/// The state of a run under that simulator's fidelity.
#[derive(Debug)]
pub(crate) struct Ns3 {
    shared: Arc<AllSwitches>,
    /// How many flows have started between two hosts.
    flows: HashMap<(u32, u32), u16>,
    /// By place of a packet in the pool: the rank of the packet's arrival at the end of its wire.
    ranks: Vec<u64>,
    /// By link: the rank of the end of the last transmission. That simulator has an event for the end of
    /// every transmission; here the event exists only when something waits for it.
    end_ranks: Vec<u64>,
}

impl Ns3 {
    /// The state of a run with so many `links`, whose switches share `shared`.
    pub(crate) fn new(shared: Arc<AllSwitches>, links: usize) -> Self {
        Ns3 { shared, flows: HashMap::new(), ranks: Vec::new(), end_ranks: vec![0; links] }
    }

    /// A packet starts to leave by `link`; the end of its transmission has this rank.
    pub(crate) fn on_transmission(&mut self, link: u32, rank: u64) {
        self.end_ranks[link as usize] = rank;
    }

    /// The rank of the end of the last transmission on `link`.
    pub(crate) fn end_rank(&self, link: u32) -> u64 {
        self.end_ranks[link as usize]
    }

    /// The packet `id` starts to fly; its arrival has this rank.
    pub(crate) fn on_send(&mut self, id: PacketId, rank: u64) {
        if self.ranks.len() <= id.index() {
            self.ranks.resize(id.index() + 1, 0);
        }
        self.ranks[id.index()] = rank;
    }

    /// The rank of the arrival of packet `id`, which flies.
    pub(crate) fn rank(&self, id: PacketId) -> u64 {
        self.ranks[id.index()]
    }

    /// The paths of a new flow's data and of its acknowledgements. The flow has the hash `flow_hash`.
    pub(crate) fn paths(
        &mut self,
        (topology, routing): (&Topology, &Routing),
        arrival: &FlowArrival,
        flow_hash: u32,
        [forward, back]: [&mut Vec<u32>; 2],
    ) {
        let (source, destination) = (arrival.source, arrival.destination);
        let flows = self.flows.entry((source, destination)).or_default();
        let source_port = FIRST_SOURCE_PORT.wrapping_add(*flows);
        *flows = flows.wrapping_add(1);
        let ports = [source_port, arrival.destination_port];
        let path = |[from, to]: [u32; 2], [low, high]: [u16; 2], links: &mut Vec<u32>| {
            let key = key([from, to], [low, high]);
            routing.path_by(from, to, links, |switch, hops| {
                let pick = murmur_hash(key, switch) as usize % hops.len();
                descending(topology, hops.iter().collect(), pick)
            });
        };
        let swapped = [ports[1], ports[0]];
        let keys = [key([source, destination], ports), key([destination, source], swapped)];
        self.shared.enter(flow_hash, keys.map(|key| murmur_hash(key, FLOW_ID_SEED)));
        path([source, destination], ports, forward);
        path([destination, source], swapped, back);
    }
}

/// What the hash of a packet covers: the addresses of its source and destination, and their ports.
fn key([from, to]: [u32; 2], [low, high]: [u16; 2]) -> [u32; 3] {
    [address(from), address(to), u32::from(low) | u32::from(high) << 16]
}

/// The IPv4 address of a host.
fn address(host: u32) -> u32 {
    0x0b00_0001 + ((host / 256) << 16) + ((host % 256) << 8)
}

/// The link at place `pick` among `hops`, sorted by the node number at their far end, highest
/// first. That is the order of the reference runs (measured; there it depends on the addresses of
/// objects).
fn descending(topology: &Topology, mut hops: Vec<u32>, pick: usize) -> u32 {
    hops.sort_by_key(|&hop| core::cmp::Reverse(topology.links[hop as usize].to));
    hops[pick]
}

/// MurmurHash3 (32 bit) of three words. ECMP seeds it with the number of the switch.
fn murmur_hash(key: [u32; 3], seed: u32) -> u32 {
    let mut hash = seed;
    for word in key {
        hash ^= word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 12; // bytes of the key
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// The base round-trip time of the farthest pair of hosts: both propagation delays, and the
/// serialization of a full payload, without headers, on the way to the destination.
pub(crate) fn base_rtt(topology: &Topology, routing: &Routing, payload: Bytes) -> Time {
    longest_path(topology, routing, |link| link_round_trip(&topology.links[link as usize], payload))
}

/// The part of `link` in the base round-trip time: whole nanoseconds, as all times in that
/// simulator.
pub(crate) fn link_round_trip(link: &Link, payload: Bytes) -> Time {
    let serialization = payload.get() * 8_000_000_000 / link.rate.as_bps();
    Time::from_ns(2 * (link.delay.as_ps() / 1_000) + serialization)
}

/// The completion time that the ns-3 HPCC simulator gives a flow alone: the base round-trip time of
/// the pair, and all bytes with headers at the rate of the slowest link.
pub(crate) fn ideal_fct(
    topology: &Topology,
    forward: &[u32],
    size: Bytes,
    frames: &FrameSizes,
) -> Time {
    if size == Bytes::ZERO {
        return Time::NEVER;
    }
    let (size, payload) = (size.get(), frames.payload.get());
    let links = forward.iter().map(|&link| &topology.links[link as usize]);
    let slowest = links.clone().map(|link| link.rate.as_bps()).min().unwrap_or(1);
    let base_rtt = links.fold(Time::ZERO, |sum, link| sum + link_round_trip(link, frames.payload));
    let bytes = u128::from(size + size.div_ceil(payload) * frames.header.get());
    let transfer = bytes * 8_000_000_000 / u128::from(slowest);
    base_rtt + Time::from_ns(u64::try_from(transfer).unwrap_or(u64::MAX / 2_000))
}
