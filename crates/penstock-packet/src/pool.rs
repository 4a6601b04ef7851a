//! The slab that holds all packets. Packets are passed on by id and never copied.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::HopTelemetry;

use crate::id::PacketId;
use crate::packet::Packet;

/// Hops that can add telemetry to a packet: enough for two data centers joined by gateways.
pub const TELEMETRY_HOPS: usize = 8;

/// Entries of telemetry in a cache line of 64 bytes.
const HOPS_PER_LINE: usize = 64 / size_of::<HopTelemetry>();

/// The switches on the longest way through two tiers, and one more: two cache lines.
const FIRST_HOPS: usize = 4;

/// Room for the telemetry that a packet gathers, two entries to a cache line. The numbers of
/// entries are stored elsewhere, close together: with each number beside its entries a packet-hop
/// of HPCC took 7 % more with 8,192 hosts.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
#[repr(align(64))]
struct TelemetryStack([HopTelemetry; TELEMETRY_HOPS]);

/// All packets of a runtime. Freed slots are used again last-in first-out, so that the working set
/// stays as small as the number of packets in flight.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub struct PacketPool {
    packets: Vec<Packet>,
    telemetry: Vec<TelemetryStack>,
    /// How many entries each stack has; empty without telemetry.
    depths: Vec<u8>,
    has_telemetry: bool,
    /// As many entries as packets. The first ones are the free slots, in the order in which they were freed.
    /// They are not threaded through the packets: with 8,192 hosts a sixth of the time went into reading the
    /// next free slot from a packet that no cache had any more.
    free: Vec<PacketId>,
    /// Packets in use. The slots of all others are free.
    live: usize,
    /// By the name of a flow: how many packets bear the name, and 1 more while the flow is open.
    bearers: Vec<u32>,
    free_names: Vec<u32>,
}

impl PacketPool {
    /// An empty pool; `has_telemetry` makes room for telemetry beside each packet.
    pub fn new(has_telemetry: bool) -> Self {
        // Frames between neighbours bear 0, which is never given away.
        PacketPool {
            packets: Vec::new(),
            telemetry: Vec::new(),
            depths: Vec::new(),
            has_telemetry,
            free: Vec::new(),
            live: 0,
            bearers: alloc::vec![1],
            free_names: Vec::new(),
        }
    }

    /// A name for a new flow, above 0. No open flow and no packet bears the name. Frames between
    /// neighbours belong to no flow and bear 0. Names that were given back are used again last-in
    /// first-out.
    pub fn name_flow(&mut self) -> u32 {
        let flow = self.free_names.pop().unwrap_or(self.bearers.len() as u32);
        if flow as usize == self.bearers.len() {
            self.bearers.push(0);
        }
        self.bearers[flow as usize] = 1;
        flow
    }

    /// Closes the flow named `flow`. Its name is free as soon as no packet bears it.
    pub fn give_back(&mut self, flow: u32) {
        self.unbear(flow);
    }

    /// For checks: how many packets bear the name of a flow, plus the number of open flows.
    pub fn bearers(&self) -> u64 {
        self.bearers.iter().skip(1).map(|&count| u64::from(count)).sum()
    }

    #[inline]
    fn unbear(&mut self, flow: u32) {
        if let Some(bearers) = self.bearers.get_mut(flow as usize) {
            *bearers -= 1;
            if *bearers == 0 {
                self.free_names.push(flow);
            }
        }
    }

    /// Packets in use.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Stores `packet` and returns its name. Allocates only when more packets are alive than ever
    /// before.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(bearers) = self.bearers.get_mut(packet.flow as usize) {
            *bearers += 1;
        }
        let Some(id) = self.slot_after(0) else { return self.extend(packet) };
        self.live += 1;
        self.packets[id.index()] = packet;
        if self.has_telemetry {
            self.depths[id.index()] = 0;
        }
        id
    }

    /// The slot of a packet that will be inserted after `others` more, if the slot is free now. For a caller
    /// that inserts many packets and wants their slots in a cache.
    #[inline]
    pub fn slot_after(&self, others: usize) -> Option<PacketId> {
        let free = self.packets.len() - self.live;
        Some(self.free[free.checked_sub(others + 1)?])
    }

    /// What is stored of `id` beside the packet, for a caller that wants it in a cache: the room for the
    /// telemetry of the first hops, by cache lines. Empty in pools without telemetry.
    #[inline]
    pub fn beside(&self, id: PacketId) -> impl Iterator<Item = &HopTelemetry> {
        let room = self.telemetry.get(id.index()).map_or(&[][..], |stack| &stack.0[..FIRST_HOPS]);
        room.iter().step_by(HOPS_PER_LINE)
    }

    #[cold]
    fn extend(&mut self, packet: Packet) -> PacketId {
        let id = PacketId::new(self.packets.len());
        self.packets.push(packet);
        self.free.push(id);
        self.live += 1;
        if self.has_telemetry {
            self.telemetry.push(TelemetryStack::default());
            self.depths.push(0);
        }
        id
    }

    /// Frees `id`.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.unbear(self[id].flow);
        self.free[self.packets.len() - self.live] = id;
        self.live -= 1;
    }

    /// The packets from `first` on, following `next`.
    pub fn list(&self, first: PacketId) -> impl Iterator<Item = &Packet> {
        let mut id = first;
        core::iter::from_fn(move || {
            let packet = if id.is_none() { return None } else { &self[id] };
            id = packet.next;
            Some(packet)
        })
    }

    /// Adds one hop's telemetry to the packet `id`; hops beyond [`TELEMETRY_HOPS`] are not
    /// recorded.
    #[inline]
    pub fn push_telemetry(&mut self, id: PacketId, hop: HopTelemetry) {
        let depth = &mut self.depths[id.index()];
        if let Some(place) = self.telemetry[id.index()].0.get_mut(usize::from(*depth)) {
            *place = hop;
            *depth += 1;
        }
    }

    /// The telemetry of `id`, one entry for each hop, nearest to the source first; empty in pools
    /// without telemetry.
    #[inline]
    pub fn telemetry(&self, id: PacketId) -> &[HopTelemetry] {
        match self.depths.get(id.index()) {
            Some(&depth) => &self.telemetry[id.index()].0[..usize::from(depth)],
            None => &[],
        }
    }
}

impl Index<PacketId> for PacketPool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id.index()]
    }
}

impl IndexMut<PacketId> for PacketPool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.index()]
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
