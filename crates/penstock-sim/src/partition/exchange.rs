//! What crosses from one partition to another at the end of a window: packets on cut links, the news that a
//! flow has completed, what concerns flows that wait for others (`dependents`), and what arrives inside a
//! server (`inner`).
//!
//! A packet that leaves in a window arrives after its end, because no cut link is shorter than a
//! window. A wire has one sender, so its packets come in order, and the wheel orders the wires.
//!
//! The destination of a flow hears of the flow's completion at the end of the window, also in its own
//! partition. So it does not matter where the partitions lie.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_engine::prefetch_for_write;
use penstock_packet::{Observer, Packet, PacketId, PacketKind};
use penstock_units::{HopTelemetry, Time};

use super::Partition;
use super::dependents::News;
use super::inner::Receipt;
use super::lifetime::Start;
use crate::wire::{Beyond, ELSEWHERE};

/// The room of so many packets that cross is on its way into a cache (our choice): their slots at the
/// receiver, and their places in the mail of the sender. Together with the telemetry of the packet of the
/// next event, the slots took 18 % off a packet-hop of HPCC with 8,192 hosts.
const FORESEEN: usize = 8;

/// How a packet crosses.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Crossing {
    /// When its last bit arrives.
    pub arrival: Time,
    /// The link, by its place in the receiving partition.
    pub link: u32,
    /// How many entries of the mail's telemetry are of this packet.
    hops: u8,
}

/// What one partition has for another.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Mail {
    pub crossings: Vec<Crossing>,
    /// The packets that cross, in the same order. A list of their own, because beside 16 bytes a packet of 64
    /// would take 128.
    packets: Vec<Packet>,
    /// The telemetry of all packets, one after the other.
    telemetry: Vec<HopTelemetry>,
    /// The flows that have completed: their names within a partition, else their hashes.
    pub completed: Vec<u32>,
    /// Dependent flows that have started, with destinations there.
    pub starts: Vec<Start>,
    /// Events for which flows there wait.
    pub news: Vec<News>,
    /// Transfers inside servers that hosts there will receive.
    pub receipts: Vec<Receipt>,
    /// No packet or transfer arrives and no event takes effect earlier; none without any.
    pub earliest: Option<Time>,
}

impl Mail {
    /// Whether there is nothing in it.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.crossings.is_empty()
            && self.completed.is_empty()
            && self.starts.is_empty()
            && self.news.is_empty()
            && self.receipts.is_empty()
    }

    /// Nothing in it is due before `time`.
    pub(super) fn note_time(&mut self, time: Time) {
        self.earliest = Some(self.earliest.map_or(time, |earliest| earliest.min(time)));
    }

    /// Asks for the room of packets that cross later. The receiver read what was there before, so that room
    /// is in the cache of its core. On two cores without a cache in common this took 4 to 7 % off a
    /// packet-hop, and 1 % when the crossings were asked for first; with one in common it added at most 1 %.
    #[inline]
    fn foresee(&mut self) {
        ask_for(&mut self.packets, FORESEEN);
        // A packet brings three entries or so; two fill a cache line.
        ask_for(&mut self.telemetry, 3 * FORESEEN);
        ask_for(&mut self.telemetry, 3 * FORESEEN + 2);
        ask_for(&mut self.crossings, 2 * FORESEEN);
    }

    /// Hands over the packets, each with its telemetry, and keeps the room for the next ones.
    pub(crate) fn take(&mut self, mut each: impl FnMut(&Crossing, &Packet, &[HopTelemetry])) {
        let mut telemetry = self.telemetry.as_slice();
        for (crossing, packet) in self.crossings.iter().zip(&self.packets) {
            let (own, rest) = telemetry.split_at(usize::from(crossing.hops));
            telemetry = rest;
            each(crossing, packet, own);
        }
        self.crossings.clear();
        self.packets.clear();
        self.telemetry.clear();
        self.earliest = None;
    }

    /// The packets on `link`, by its place in the receiving partition.
    pub(crate) fn packets_on(&self, link: u32) -> impl Iterator<Item = &Packet> {
        let crossings = self.crossings.iter().zip(&self.packets);
        crossings.filter(move |(crossing, _)| crossing.link == link).map(|(_, packet)| packet)
    }
}

/// Asks for the room in `list` of the entry that comes after `others` more, if there is any.
#[inline]
fn ask_for<T>(list: &mut Vec<T>, others: usize) {
    if let Some(room) = list.spare_capacity_mut().get_mut(others) {
        prefetch_for_write(room);
    }
}

impl<O: Observer> Partition<O> {
    /// Packet `id` leaves by a cut link and arrives at `arrival`. Out of line, so that the code of other
    /// departures is short: in it, the copy of a packet would align the whole frame.
    #[inline(never)]
    pub(super) fn post(&mut self, link: u32, id: PacketId, arrival: Time) {
        let Beyond { partition, link } = self.wires[link as usize].beyond;
        let mail = &mut self.outbox[usize::from(partition)];
        let telemetry = self.pool.telemetry(id);
        mail.foresee();
        mail.telemetry.extend_from_slice(telemetry);
        mail.note_time(arrival);
        mail.crossings.push(Crossing { arrival, link, hops: telemetry.len() as u8 });
        mail.packets.push(self.pool[id]);
        self.pool.remove(id);
    }

    /// Takes back the packets that have left by `link` since the window began: they fly still.
    pub(super) fn take_back(&mut self, link: u32) -> Vec<Packet> {
        let Beyond { partition, link } = self.wires[link as usize].beyond;
        let mail = &mut self.outbox[usize::from(partition)];
        let (mut taken, mut telemetry) = (Vec::new(), Vec::new());
        let mut hops = std::mem::take(&mut mail.telemetry).into_iter();
        let mut packets = std::mem::take(&mut mail.packets).into_iter();
        mail.crossings.retain(|crossing| {
            let own = hops.by_ref().take(usize::from(crossing.hops));
            let packet = packets.by_ref().take(1);
            if crossing.link == link {
                own.for_each(drop);
                taken.extend(packet);
            } else {
                telemetry.extend(own);
                mail.packets.extend(packet);
            }
            crossing.link != link
        });
        mail.telemetry = telemetry;
        taken
    }

    /// Tells the destination of the flow with `hash`, host `destination`, that the flow has completed.
    pub(super) fn post_completion(&mut self, destination: u32, hash: u32, name: u32) {
        let (partition, _) = self.setting.placement.of_node(destination);
        // A flow within a partition has the same name at both ends.
        let tag = if partition == self.number { name } else { hash };
        self.outbox[partition].completed.push(tag);
    }

    /// Takes in what has come from the other partitions.
    pub(crate) fn receive_mail(&mut self) {
        for from in 0..self.inbox.len() {
            // Many windows bring nothing. Real frames never come this way, and moving the empty mail of nine
            // parts was 22 % of the time of a network that waits for frames.
            if self.inbox[from].is_empty() {
                continue;
            }
            let mut mail = std::mem::take(&mut self.inbox[from]);
            mail.starts.drain(..).for_each(|start| self.expect_dependent(&start));
            mail.news.drain(..).for_each(|news| self.dependents.hear(news));
            mail.receipts.drain(..).for_each(|receipt| self.inner.expect(receipt));
            mail.take(|crossing, packet, telemetry| {
                if let Some(id) = self.pool.slot_after(FORESEEN) {
                    self.prefetch_packet(id);
                }
                self.receive_packet(crossing.link, crossing.arrival, packet, telemetry);
            });
            for &tag in &mail.completed {
                let name = if from == self.number { tag } else { self.slots.name_of(tag) };
                self.close_flow(name);
            }
            mail.completed.clear();
            self.inbox[from] = mail; // its memory is used again
        }
    }

    /// Packet `packet` comes from elsewhere by `link` and arrives at `arrival`.
    pub(crate) fn receive_packet(
        &mut self,
        link: u32,
        arrival: Time,
        packet: &Packet,
        telemetry: &[HopTelemetry],
    ) -> PacketId {
        let flow = match packet.kind.is_link_local() {
            true => 0,
            false => self.slots.name_of(packet.flow_hash),
        };
        let id = self.pool.insert(Packet { flow, ..*packet });
        for &hop in telemetry {
            self.pool.push_telemetry(id, hop);
        }
        let wire = &mut self.wires[link as usize];
        debug_assert!(wire.from == ELSEWHERE, "only packets of cut links cross");
        assert!(arrival >= self.wheel.now(), "a packet crosses for a window that is over");
        if wire.append(&mut self.pool, id, arrival) {
            self.wheel.schedule(link, arrival);
        }
        id
    }

    /// The payload that waits to cross (bytes).
    pub(crate) fn posted(&self) -> u64 {
        let mail = || self.outbox.iter().chain(&self.inbox);
        let waiting = mail().flat_map(|mail| &mail.packets);
        let data = waiting.filter(|packet| packet.kind == PacketKind::Data);
        let receipts = mail().flat_map(|mail| &mail.receipts).map(|receipt| receipt.size);
        data.map(|packet| u64::from(packet.payload)).chain(receipts).sum()
    }
}
