//! The hooks of a scheduling policy. A policy writes only the hooks for which it has something to do.

use alloc::format;

use penstock_packet::{CreditQueue, CreditShapingConfig, Packet, PacketId, PacketPool};
use penstock_units::{BitRate, Bytes, Fidelity, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admission::AdmissionConfig;
use crate::config::{Surroundings, SwitchConfig};
use crate::queue::DataQueue;

/// Who says which round it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundSource {
    /// The scheduler.
    Scheduler,
    /// The queues that are empty.
    Occupancy,
}

impl RoundSource {
    /// The value as scenarios write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RoundSource::Scheduler => "scheduler",
            RoundSource::Occupancy => "occupancy",
        }
    }
}

/// Checks of a policy's parameters, and what other policies ask of them.
pub(crate) trait Parameters {
    /// Compares the fields with each other. Each field declares its own bounds.
    fn check(&self, _problems: &mut Problems) {}

    /// Checks that the policy goes together with the other policies of `switch`, its own switch, in its
    /// surroundings. Fields are named by their path below the switch. Fields that were refused before
    /// are skipped.
    fn fits(&self, _switch: &SwitchConfig, _around: &Surroundings, _problems: &mut Problems) {}

    /// Whether the simulator of this fidelity has the policy. Ours has all.
    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator == Fidelity::Exact
    }

    /// Whether queues are served in the order of their numbers.
    fn is_in_order(&self) -> bool {
        false
    }

    /// Whether a packet that is queued may be dropped for one that finds no room.
    fn makes_room(&self) -> bool {
        false
    }

    /// The parameters of the credit queue, where credits have a queue of their own.
    fn credit_shaping(&self) -> Option<&CreditShapingConfig> {
        None
    }

    /// Who can tell the round, where rounds are served in their order.
    fn round_source(&self) -> Option<RoundSource> {
        None
    }
}

/// What a scheduler knows of its port.
#[derive(Clone, Copy, Debug)]
pub struct Egress {
    /// The switch, by its node number.
    pub node: u32,
    /// Number of the port at its switch.
    pub port: u16,
    /// Rate of the link.
    pub rate: BitRate,
    /// The longest data packet on the wire (bytes).
    pub packet: u16,
}

/// The largest quantum of a round robin (bytes); our choice: a thousand packets.
pub(crate) const LARGEST_QUANTUM: u64 = 1 << 20;

/// Where the default quantum of a round robin comes from, 0.
pub(crate) const QUANTUM_SOURCE: &str =
    "our choice: one full packet on the wire, the finest that takes constant time (DRR)";

/// The quantum (bytes) that `quantum` stands for: 0 is a full packet.
pub(crate) fn quantum_of(quantum: Bytes, egress: &Egress) -> u32 {
    if quantum == Bytes::ZERO { u32::from(egress.packet) } else { quantum.get() as u32 }
}

/// Checks that `quantum` covers a full packet. With less, a queue may be passed over in a round.
pub(crate) fn fits_quantum(quantum: Bytes, around: &Surroundings, problems: &mut Problems) {
    let Some(packet) = around.packet else { return };
    let holds = quantum == Bytes::ZERO || quantum >= packet;
    let remedy = format!(
        "a full packet has {packet} on the wire, and a queue that may not send one in its turn is passed \
         over; write that or more, or 0 for a full packet"
    );
    problems.unless(holds, "scheduling.quantum", quantum, remedy);
}

/// Checks that a port has one data queue, for a policy that serves no more.
pub(crate) fn fits_one_queue(switch: &SwitchConfig, problems: &mut Problems) {
    let kind = switch.scheduling.kind();
    let words = ("it serves one queue", ", or scheduling \"drr\" or \"strict\"");
    switch.fits_one_queue(("scheduling.kind", &kind), words, problems);
}

/// Checks that the assignment keeps rounds, for a policy that serves rounds.
pub(crate) fn fits_rounds(switch: &SwitchConfig, problems: &mut Problems) {
    let remedy = format!(
        "the {} assignment knows no rounds; use assignment \"rounds\"",
        switch.assignment.kind()
    );
    let holds = switch.assignment.keeps_rounds();
    problems.unless(holds, "scheduling.kind", switch.scheduling.kind(), remedy);
}

/// Checks that a packet that is queued may be dropped for one that finds no room, as the `value` of `field`
/// has it.
pub(crate) fn fits_room_in_ports(
    switch: &SwitchConfig,
    (field, value): (&str, &str),
    problems: &mut Problems,
) {
    let holds = matches!(switch.admission, AdmissionConfig::Static(_));
    let remedy = "it makes room in the memory of a port; use admission \"static\"";
    problems.unless(holds, field, value, remedy);
    switch.fits_drops_of_queued_packets((field, value), problems);
}

/// An end of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The packet that leaves next.
    First,
    /// The packet that came last.
    Last,
}

/// A scheduling policy of a port.
pub(crate) trait Policy {
    /// Tags an arriving packet before it joins `queue`.
    #[inline]
    fn tag(&mut self, _queue: &mut DataQueue, _number: u32, _packet: &mut Packet) {}

    /// The queue that loses a packet to make room for `packet`, which has come for `queue`. `None` when it
    /// is the packet that has come which is to be dropped.
    fn displaced_by(&self, _queue: &DataQueue, _packet: &Packet) -> Option<u32> {
        None
    }

    /// Which packet a queue loses to make room.
    fn displaces(&self) -> End {
        End::Last
    }

    /// `packet` stood at that end of `queue`, number `number`, and is dropped.
    fn untag(
        &mut self,
        _queue: &mut DataQueue,
        _number: u32,
        _packet: &Packet,
        _pool: &PacketPool,
    ) {
    }

    /// Queue `number` has packets and may send.
    #[inline]
    fn activate(&mut self, _queues: &mut [DataQueue], _number: u32, _pool: &PacketPool) {}

    /// Queue `number` is empty or paused.
    #[inline]
    fn deactivate(&mut self, _queues: &mut [DataQueue], _number: u32) {}

    /// The active queue that sends next at `now`; called only when there is one.
    fn select(&mut self, now: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32;

    /// `bytes` of `queue` were sent.
    #[inline]
    fn charge(&mut self, _queue: &mut DataQueue, _bytes: u32) {}

    /// The active queue `number` has another packet at its head.
    #[inline]
    fn head_changed(&mut self, _number: u32, _class: u8, _head: &Packet) {}

    /// The queue of credits, where credits have a queue of their own.
    #[inline]
    fn credits(&self) -> Option<&CreditQueue> {
        None
    }

    /// Appends a credit. Answers false when there is no room for it.
    fn push_credit(&mut self, _pool: &mut PacketPool, _id: PacketId) -> bool {
        false
    }

    /// The credit that leaves ahead of data at `now`, if one may.
    #[inline]
    fn pop_credit(&mut self, _now: Time, _pool: &PacketPool) -> Option<PacketId> {
        None
    }

    /// The current round; 0 where the scheduler has no rounds.
    #[inline]
    fn round(&self) -> u64 {
        0
    }

    /// The first round for which none of the `queues` data queues is free yet.
    #[inline]
    fn rounds_end(&self, queues: u64) -> u64 {
        self.round() + queues
    }
}
