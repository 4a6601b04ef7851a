//! The metadata of a packet: one cache line.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use crate::id::PacketId;

/// The kind of a packet. All kinds except [`PacketKind::Data`] and [`PacketKind::Credit`] travel
/// ahead of data in the reserved control queue (queue 0), as pause frames do in BFC (sec. 3.3.2). They are
/// neither paused nor counted against the buffer (our choice, for every scheme). Under fidelity ns3-bfc
/// acknowledgements may wait in data queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
#[repr(u8)]
pub enum PacketKind {
    /// Payload of a flow.
    #[default]
    Data,
    /// Cumulative acknowledgement. `offset` is the next byte expected; `remaining` is the gap of a
    /// packet pair in the runtime's unit, 0 without a pair.
    Acknowledgement,
    /// Negative acknowledgement. `offset` is the next byte expected; `remaining` is the distance
    /// from there to the start of the packet that revealed the gap (bytes).
    NegativeAcknowledgement,
    /// The source learns that this packet was dropped: from the switch (idealised recovery), or from the
    /// receiver, to which its header has come (trimming).
    DropNotice,
    /// A switch tells the source how congested a queue was; the level is in `remaining` (QCN).
    CongestionFeedback,
    /// The receiver tells the source of congestion (DCQCN, PCN). The flag `MARKED` says that there
    /// is congestion; `remaining` is the rate at which the flow arrives (Mb/s), 0 when the receiver
    /// does not say.
    CongestionNotification,
    /// The receiver lets the source send all bytes before `offset`, at level `tag` (Homa), or so many bytes
    /// in all, those that are sent again included (NDP, where it is called PULL).
    Grant,
    /// The receiver asks for `remaining` bytes from `offset` on to be sent again (Homa).
    Resend,
    /// The source answers a [`PacketKind::Resend`] for bytes that it has not sent yet (Homa).
    Busy,
    /// The receiver lets the source send one data packet (ExpressPass). `offset` acknowledges the
    /// bytes that the receiver has; `tag` is the number of the credit within its flow.
    Credit,
    /// The source has `remaining` packets for which it wants credits (ExpressPass).
    CreditRequest,
    /// The source needs no more credits (ExpressPass).
    CreditStop,
    /// The header of a data packet of which a switch has cut off the payload. It goes on to the
    /// destination; `payload` says how many bytes are gone (NDP).
    Trimmed,
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
    /// The bitmap of all upstream queues that are paused in epoch `upstream_queue`, in `offset` (queues
    /// 0-63) and `sent_at` (64-127).
    QueueBitmap,
    /// Pause of all data on the link for `remaining` nanoseconds (FAFC).
    PauseTime,
    /// Credit account `upstream_queue` has been granted `offset` bytes since the start (BFC with
    /// credits).
    HopCredit,
}

impl PacketKind {
    /// The names of all kinds, in the order in which they are declared.
    pub const NAMES: [&'static str; 22] = [
        "data",
        "acknowledgement",
        "negative_acknowledgement",
        "drop_notice",
        "congestion_feedback",
        "congestion_notification",
        "grant",
        "resend",
        "busy",
        "credit",
        "credit_request",
        "credit_stop",
        "trimmed",
        "pause_class",
        "resume_class",
        "pause_queue",
        "resume_queue",
        "pause_flow",
        "resume_flow",
        "queue_bitmap",
        "pause_time",
        "hop_credit",
    ];

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

    /// Whether a switch may send the packet to the source, from anywhere on the path of the data.
    #[inline]
    pub fn is_notice(self) -> bool {
        matches!(self, PacketKind::DropNotice | PacketKind::CongestionFeedback)
    }

    /// Whether the packet travels towards the source of its flow; the flow's destination or a
    /// switch sent it.
    #[inline]
    pub fn goes_to_source(self) -> bool {
        self.is_reply() || self.is_notice()
    }

    /// Whether the neighbour consumes the frame instead of forwarding it.
    #[inline]
    pub fn is_link_local(self) -> bool {
        self as u8 >= PacketKind::PauseClass as u8
    }
}

/// Single-bit facts about a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct PacketFlags(u8);

impl PacketFlags {
    /// Congestion was experienced (ECN); the acknowledgement echoes the mark. Writer: marking.
    pub const MARKED: PacketFlags = PacketFlags(1);
    /// The packet holds a pause counter (`counterIncr` in BFC's pseudo-code). Writer: backpressure.
    pub const COUNTED: PacketFlags = PacketFlags(2);
    /// The packet takes part in BFC's bookkeeping (App. A.8, sampling). Writer: assignment.
    pub const TRACKED: PacketFlags = PacketFlags(4);
    /// The flow was labelled as incast by its sender (BFC App. A.7). Writer: the source.
    pub const INCAST: PacketFlags = PacketFlags(8);
    /// The bytes of the packet were sent before. Writer: the source.
    pub const RETRANSMISSION: PacketFlags = PacketFlags(16);
    /// The first of two packets whose gap the receiver measures (packet-pair). Writer: the source.
    pub const OPENS_PAIR: PacketFlags = PacketFlags(32);
    /// The account of the packet's upstream queue paid for the packet, not the account of the link.
    /// Writer: backpressure of the upstream.
    pub const OWN_CREDIT: PacketFlags = PacketFlags(64);

    /// The flags as bits, the values of the constants above added up.
    #[inline]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The flags that have these bits.
    #[inline]
    pub fn from_bits(bits: u8) -> PacketFlags {
        PacketFlags(bits)
    }

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

/// A packet as the simulator and the switch see it. In control frames some fields have another
/// meaning, which [`PacketKind`] gives.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
#[repr(C, align(64))]
pub struct Packet {
    /// The next packet of the list that holds this packet: a queue or a wire.
    pub next: PacketId,
    /// The name of the flow ([`crate::PacketPool::name_flow`]); 0 in frames between neighbours, and where
    /// neither end of the flow is known.
    pub flow: u32,
    /// Hash of the flow identifier (FID); any two flows of a run have different hashes.
    pub flow_hash: u32,
    /// The host that sends the data of the flow. The same in all packets of the flow.
    pub source: u32,
    /// The host that receives the data of the flow.
    pub destination: u32,
    /// Bytes of the flow from `offset` on, at most `u32::MAX` (SRF scheduling). In a data packet
    /// that a credit paid for: the time from making the credit at the receiver to its arrival at
    /// the source (ns).
    pub remaining: u32,
    /// First payload byte within the flow; in acknowledgements the next byte expected.
    pub offset: u64,
    /// When the packet started to leave its source; with ExpressPass, when the source made the
    /// packet, which may then wait there. Acknowledgements echo this time.
    pub sent_at: Time,
    /// On a wire: when the last bit of the packet behind this one arrives (ps). In a queue: the
    /// scheduler's tag; with AFQ, by how many rounds the packet was ahead when it joined (writer:
    /// assignment).
    pub time: u64,
    /// Size on the wire (bytes).
    pub wire_bytes: u16,
    /// Payload (bytes).
    pub payload: u16,
    /// Port by which the packet entered its present switch.
    pub ingress: u16,
    /// The packet's queue at this port. On a wire: the label of that queue, which is its upstream queue at
    /// the next hop ([`crate::epochs`]).
    pub queue: u16,
    /// The label of the packet's queue at the upstream port (`upstreamQ` in BFC).
    pub upstream_queue: u16,
    /// What a scheme writes into its header. Homa: the priority level, 0 the highest. ExpressPass: the
    /// number of the credit, or of the credit that paid for the data, modulo 2^16. Telemetry: the name of
    /// the path; acknowledgements echo it.
    pub tag: u16,
    /// Kind of the packet.
    pub kind: PacketKind,
    /// Priority class, 0 the highest.
    pub class: u8,
    /// See [`PacketFlags`].
    pub flags: PacketFlags,
    /// Links of the route that the packet has taken, where a runtime forwards by routes.
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
