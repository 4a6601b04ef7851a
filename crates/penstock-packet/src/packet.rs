//! The metadata of a packet: one cache line.

use penstock_units::Time;

use crate::id::PacketId;

/// What a packet is. Everything but [`PacketKind::Data`] and [`PacketKind::Credit`] travels in the
/// reserved control queue (queue 0), ahead of data, and is neither paused nor counted against the buffer
/// (BFC sec. 3.3.2, `DESIGN.md` sec. 9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// Payload of a flow.
    #[default]
    Data,
    /// Cumulative acknowledgement; `offset` is the next byte expected, `remaining` the gap of a packet
    /// pair in units of the runtime's, 0 without one.
    Acknowledgement,
    /// Negative acknowledgement; `offset` is the next byte expected, and `remaining` how far beyond
    /// it the packet began that revealed the gap (bytes).
    NegativeAcknowledgement,
    /// A switch tells the source that this packet was dropped (idealised recovery).
    DropNotice,
    /// A switch tells the source how congested a queue was, in `remaining` (QCN).
    CongestionFeedback,
    /// The receiver tells the source of congestion: with the flag `MARKED` that there is some, and in
    /// `remaining` the rate at which the flow arrives (Mb/s); 0 when it does not say (DCQCN, PCN).
    CongestionNotification,
    /// The receiver lets the source send the bytes before `offset`, at level `tag` (Homa).
    Grant,
    /// The receiver asks for the `remaining` bytes from `offset` on again (Homa).
    Resend,
    /// The source answers a [`PacketKind::Resend`] for bytes that it has not sent yet (Homa).
    Busy,
    /// The receiver lets the source send a data packet, and acknowledges what it has with `offset`;
    /// number `tag` of its flow (ExpressPass).
    Credit,
    /// The source has `remaining` packets for which it wants credits (ExpressPass).
    CreditRequest,
    /// The source needs no more credits (ExpressPass).
    CreditStop,
    /// Pause of priority class `queue` on the link (PFC).
    PauseClass,
    /// End of [`PacketKind::PauseClass`].
    ResumeClass,
    /// Pause of upstream queue `queue` (BFC).
    PauseQueue,
    /// End of [`PacketKind::PauseQueue`].
    ResumeQueue,
    /// Pause of the flow with the hash `offset` (pauses by flow).
    PauseFlow,
    /// End of [`PacketKind::PauseFlow`].
    ResumeFlow,
    /// The bitmap of all paused upstream queues, in `offset` (queues 0-63) and `sent_at` (64-127).
    QueueBitmap,
    /// Pause of all data for `remaining` nanoseconds (FAFC).
    PauseTime,
    /// Credit account `upstream_queue` has been granted `offset` bytes since the start (BFC with
    /// credits).
    HopCredit,
}

impl PacketKind {
    /// Whether the destination of the flow sends the packet to the source.
    #[inline]
    pub fn is_reply(self) -> bool {
        matches!(
            self,
            PacketKind::Acknowledgement
                | PacketKind::NegativeAcknowledgement
                | PacketKind::CongestionNotification
                | PacketKind::Grant
                | PacketKind::Resend
                | PacketKind::Credit
        )
    }

    /// Whether the packet travels towards the source of its flow, from the destination or from a switch.
    #[inline]
    pub fn goes_to_source(self) -> bool {
        self.is_reply() || matches!(self, PacketKind::DropNotice | PacketKind::CongestionFeedback)
    }

    /// Whether the frame is consumed by the neighbour instead of being forwarded.
    #[inline]
    pub fn is_link_local(self) -> bool {
        self as u8 >= PacketKind::PauseClass as u8
    }
}

/// Single-bit facts about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketFlags(u8);

impl PacketFlags {
    /// Congestion was experienced (ECN); echoed by the acknowledgement. Writer: marking.
    pub const MARKED: PacketFlags = PacketFlags(1);
    /// The packet holds a pause counter (`counterIncr` in BFC's pseudo-code). Writer: backpressure.
    pub const COUNTED: PacketFlags = PacketFlags(2);
    /// The packet takes part in BFC's bookkeeping (App. A.8, sampling). Writer: assignment.
    pub const TRACKED: PacketFlags = PacketFlags(4);
    /// The flow was labelled as incast by its sender (BFC App. A.7). Writer: the source.
    pub const INCAST: PacketFlags = PacketFlags(8);
    /// The bytes were sent before. Writer: the source.
    pub const RETRANSMISSION: PacketFlags = PacketFlags(16);
    /// The first of two packets whose gap the receiver measures (packet-pair). Writer: the source.
    pub const OPENS_PAIR: PacketFlags = PacketFlags(32);
    /// The credit of its upstream queue paid for the packet, not that of the link. Writer: backpressure
    /// of the upstream.
    pub const OWN_CREDIT: PacketFlags = PacketFlags(64);

    /// Whether all bits of `flag` are set.
    #[inline]
    pub fn contains(self, flag: PacketFlags) -> bool {
        self.0 & flag.0 == flag.0
    }

    /// Sets `flag`.
    #[inline]
    pub fn insert(&mut self, flag: PacketFlags) {
        self.0 |= flag.0;
    }

    /// Clears `flag`.
    #[inline]
    pub fn remove(&mut self, flag: PacketFlags) {
        self.0 &= !flag.0;
    }
}

/// A packet as the simulator and the switch see it. Control frames reuse fields as their
/// [`PacketKind`] says.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Packet {
    /// The next packet of the list this one is in: a queue, a wire, or the pool's free list.
    pub next: PacketId,
    /// The name of the flow ([`crate::PacketPool::name_flow`]); 0 in frames between neighbours.
    pub flow: u32,
    /// Hash of the flow identifier (FID), different for any two flows of a run.
    pub flow_hash: u32,
    /// First payload byte within the flow; in acknowledgements the next byte expected.
    pub offset: u64,
    /// When the packet started to leave its source; acknowledgements echo it.
    pub sent_at: Time,
    /// On a wire: when the last bit of the packet behind it arrives. In a queue: the scheduler's tag, or by how many rounds the
    /// packet was ahead when it joined (AFQ; writer: assignment).
    pub time: u64,
    /// Bytes of the flow from `offset` on, at most `u32::MAX` (SRF scheduling) (bytes). In a data packet
    /// that a credit paid for, how long before its departure that credit left the receiver (ns).
    pub remaining: u32,
    /// On a wire: the runtime's number of the arrival of the packet behind it, where ties in time are
    /// broken by it.
    pub order: u32,
    /// Size on the wire (bytes).
    pub wire_bytes: u16,
    /// Payload (bytes).
    pub payload: u16,
    /// Port by which the packet entered the switch it is in.
    pub ingress: u16,
    /// Queue it was assigned at this port; at the next hop this is its upstream queue.
    pub queue: u16,
    /// Queue it came from at the upstream port (`upstreamQ` in BFC).
    pub upstream_queue: u16,
    /// What the hosts of a scheme write into its header. Homa: its priority level, 0 the highest.
    /// ExpressPass: the number of the credit, or of the one that paid for the data, modulo 2^16.
    pub tag: u16,
    /// What it is.
    pub kind: PacketKind,
    /// Priority class, 0 the highest.
    pub class: u8,
    /// See [`PacketFlags`].
    pub flags: PacketFlags,
    /// Links of its route already taken.
    pub hop: u8,
}

impl Packet {
    /// Whether a data packet has the last bytes of its flow.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.remaining <= u32::from(self.payload)
    }
}

const _: () = assert!(size_of::<Packet>() == 64, "a packet is one cache line");
