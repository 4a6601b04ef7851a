//! What the two ends of a link tell each other, and the frames that carry it.

use penstock_units::Time;

use crate::packet::{Packet, PacketKind};

/// What one end of a link tells the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Stop sending a priority class.
    PauseClass(u8),
    /// Send it again.
    ResumeClass(u8),
    /// Stop sending from a queue.
    PauseQueue(u16),
    /// Send from it again.
    ResumeQueue(u16),
    /// Stop sending the flow of this hash (pauses by flow).
    PauseFlow(u32),
    /// Send it again.
    ResumeFlow(u32),
    /// The queues 0..128 that should be paused; all others should not.
    QueueBitmap(u128),
    /// Send no data for so many nanoseconds, beyond those of earlier frames (FAFC).
    PauseTime(u32),
    /// Credit for data (BFC with credits).
    Credit {
        /// 0 for what all queues of the link share, else a queue.
        account: u16,
        /// Bytes that it has been granted since the start.
        granted: u64,
    },
}

impl Signal {
    /// The frame that carries the signal, `wire_bytes` long.
    pub fn frame(self, wire_bytes: u16) -> Packet {
        let nanoseconds = if let Signal::PauseTime(time) = self { time } else { 0 };
        let (kind, queue, value) = match self {
            Signal::PauseClass(class) => (PacketKind::PauseClass, u16::from(class), 0),
            Signal::ResumeClass(class) => (PacketKind::ResumeClass, u16::from(class), 0),
            Signal::PauseQueue(queue) => (PacketKind::PauseQueue, queue, 0),
            Signal::ResumeQueue(queue) => (PacketKind::ResumeQueue, queue, 0),
            Signal::PauseFlow(flow) => (PacketKind::PauseFlow, 0, u128::from(flow)),
            Signal::ResumeFlow(flow) => (PacketKind::ResumeFlow, 0, u128::from(flow)),
            Signal::QueueBitmap(bitmap) => (PacketKind::QueueBitmap, 0, bitmap),
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

    /// The signal that a frame carries, if it carries one.
    pub fn of(packet: &Packet) -> Option<Signal> {
        let queue = packet.upstream_queue;
        match packet.kind {
            PacketKind::PauseClass => Some(Signal::PauseClass(queue as u8)),
            PacketKind::ResumeClass => Some(Signal::ResumeClass(queue as u8)),
            PacketKind::PauseQueue => Some(Signal::PauseQueue(queue)),
            PacketKind::ResumeQueue => Some(Signal::ResumeQueue(queue)),
            PacketKind::PauseFlow => Some(Signal::PauseFlow(packet.offset as u32)),
            PacketKind::ResumeFlow => Some(Signal::ResumeFlow(packet.offset as u32)),
            PacketKind::QueueBitmap => {
                let high = u128::from(packet.sent_at.as_ps());
                Some(Signal::QueueBitmap((high << 64) | u128::from(packet.offset)))
            }
            PacketKind::PauseTime => Some(Signal::PauseTime(packet.remaining)),
            PacketKind::HopCredit => {
                Some(Signal::Credit { account: queue, granted: packet.offset })
            }
            _ => None,
        }
    }

    /// The class or queue that it names; 0 where it names none.
    pub fn queue(self) -> u16 {
        match self {
            Signal::PauseClass(class) | Signal::ResumeClass(class) => u16::from(class),
            Signal::PauseQueue(queue) | Signal::ResumeQueue(queue) => queue,
            Signal::Credit { account, .. } => account,
            _ => 0,
        }
    }

    /// Whether it stops somebody or lets him go on; bitmaps repeat, and credits come before a stop.
    pub fn is_event(self) -> bool {
        !matches!(self, Signal::QueueBitmap(_) | Signal::Credit { .. })
    }

    /// Whether it makes somebody stop.
    pub fn is_pause(self) -> bool {
        matches!(
            self,
            Signal::PauseClass(_)
                | Signal::PauseQueue(_)
                | Signal::PauseFlow(_)
                | Signal::PauseTime(_)
        )
    }
}

/// A frame to be sent out of a port, ahead of everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlFrame {
    /// Local port whose neighbour is told.
    pub port: u16,
    /// What it is told.
    pub signal: Signal,
}

#[cfg(test)]
#[path = "signal_tests.rs"]
mod tests;
