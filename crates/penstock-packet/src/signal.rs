//! Signals between the two ends of a link, and the frames that carry them.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

use crate::packet::{Packet, PacketKind};

/// What a pause of all data pauses, in place of one of the classes 0 to 7 (FAFC): see [`Signal::subject`].
pub const ALL_CLASSES: u32 = 8;

/// What one end of a link tells the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Signal {
    /// Stop sending a priority class.
    PauseClass(u8),
    /// Stop sending a priority class for a time from now on, unless another frame comes before
    /// (IEEE 802.1Qbb).
    PauseClassFor {
        /// The class.
        class: u8,
        /// How long (ns), > 0.
        nanoseconds: u32,
    },
    /// Resume a priority class.
    ResumeClass(u8),
    /// Stop sending from the queue with this label ([`crate::epochs`]).
    PauseQueue(u16),
    /// Resume the queue with this label.
    ResumeQueue(u16),
    /// Stop sending the flow with this hash (pauses by flow).
    PauseFlow(u32),
    /// Resume the flow with this hash.
    ResumeFlow(u32),
    /// The queues that should be paused in an epoch; all others should not.
    QueueBitmap {
        /// The epoch; 0 where there are no epochs.
        epoch: u8,
        /// Bit q: whether queue q, below 128, should be paused.
        queues: u128,
    },
    /// Send no data for this many nanoseconds, beyond the nanoseconds of earlier frames (FAFC).
    PauseTime(u32),
    /// Credit for data (BFC with credits).
    Credit {
        /// The account: 0 for the credit that all queues of the link share, else a queue.
        account: u16,
        /// Bytes that the account has been granted since the start.
        granted: u64,
    },
}

impl Signal {
    /// The frame that carries this signal, `wire_bytes` long.
    pub fn frame(self, wire_bytes: u16) -> Packet {
        let nanoseconds = match self {
            Signal::PauseTime(time) | Signal::PauseClassFor { nanoseconds: time, .. } => time,
            _ => 0,
        };
        let (kind, queue, value) = match self {
            Signal::PauseClass(class) | Signal::PauseClassFor { class, .. } => {
                (PacketKind::PauseClass, u16::from(class), 0)
            }
            Signal::ResumeClass(class) => (PacketKind::ResumeClass, u16::from(class), 0),
            Signal::PauseQueue(queue) => (PacketKind::PauseQueue, queue, 0),
            Signal::ResumeQueue(queue) => (PacketKind::ResumeQueue, queue, 0),
            Signal::PauseFlow(flow) => (PacketKind::PauseFlow, 0, u128::from(flow)),
            Signal::ResumeFlow(flow) => (PacketKind::ResumeFlow, 0, u128::from(flow)),
            Signal::QueueBitmap { epoch, queues } => {
                (PacketKind::QueueBitmap, u16::from(epoch), queues)
            }
            Signal::PauseTime(_) => (PacketKind::PauseTime, 0, 0),
            Signal::Credit { account, granted } => {
                (PacketKind::HopCredit, account, u128::from(granted))
            }
        };
        Packet {
            kind,
            upstream_queue: queue,
            offset: value as u64,
            sent_at: Time::from_ps((value >> 64) as u64),
            remaining: nanoseconds,
            wire_bytes,
            ..Packet::default()
        }
    }

    /// The signal that `packet` carries, if any.
    pub fn of(packet: &Packet) -> Option<Signal> {
        let queue = packet.upstream_queue;
        match packet.kind {
            PacketKind::PauseClass => Some(match packet.remaining {
                0 => Signal::PauseClass(queue as u8),
                nanoseconds => Signal::PauseClassFor { class: queue as u8, nanoseconds },
            }),
            PacketKind::ResumeClass => Some(Signal::ResumeClass(queue as u8)),
            PacketKind::PauseQueue => Some(Signal::PauseQueue(queue)),
            PacketKind::ResumeQueue => Some(Signal::ResumeQueue(queue)),
            PacketKind::PauseFlow => Some(Signal::PauseFlow(packet.offset as u32)),
            PacketKind::ResumeFlow => Some(Signal::ResumeFlow(packet.offset as u32)),
            PacketKind::QueueBitmap => {
                let high = u128::from(packet.sent_at.as_ps());
                let queues = (high << 64) | u128::from(packet.offset);
                Some(Signal::QueueBitmap { epoch: queue as u8, queues })
            }
            PacketKind::PauseTime => Some(Signal::PauseTime(packet.remaining)),
            PacketKind::HopCredit => {
                Some(Signal::Credit { account: queue, granted: packet.offset })
            }
            _ => None,
        }
    }

    /// What the signal pauses or resumes: a class or [`ALL_CLASSES`], the label of a queue, or the hash of a
    /// flow; 0 for signals that pause nothing.
    pub fn subject(self) -> u32 {
        match self {
            Signal::PauseClass(class)
            | Signal::PauseClassFor { class, .. }
            | Signal::ResumeClass(class) => u32::from(class),
            Signal::PauseQueue(label) | Signal::ResumeQueue(label) => u32::from(label),
            Signal::PauseFlow(flow) | Signal::ResumeFlow(flow) => flow,
            Signal::PauseTime(_) => ALL_CLASSES,
            Signal::QueueBitmap { .. } | Signal::Credit { .. } => 0,
        }
    }

    /// Whether the signal pauses or resumes. Bitmaps and credits do not count: bitmaps repeat, and
    /// credits come before a stop.
    pub fn is_event(self) -> bool {
        !matches!(self, Signal::QueueBitmap { .. } | Signal::Credit { .. })
    }

    /// Whether the signal pauses.
    pub fn is_pause(self) -> bool {
        matches!(
            self,
            Signal::PauseClass(_)
                | Signal::PauseClassFor { .. }
                | Signal::PauseQueue(_)
                | Signal::PauseFlow(_)
                | Signal::PauseTime(_)
        )
    }
}

/// A frame to be sent out of a port, ahead of everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct ControlFrame {
    /// Local port that sends the frame.
    pub port: u16,
    /// The signal for the neighbour behind that port.
    pub signal: Signal,
}

#[cfg(test)]
#[path = "signal_tests.rs"]
mod tests;
