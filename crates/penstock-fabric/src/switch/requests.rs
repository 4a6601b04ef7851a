//! What a switch answers to its driver: what has become of a packet, and what the driver is to do.

use alloc::vec::Vec;

use penstock_packet::ControlFrame;
use penstock_units::Time;

#[cfg(doc)]
use super::Switch;

/// What a timer of a switch is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchTimer {
    /// The clock of the backpressure (FAFC, P-PFC).
    Clock,
    /// Neighbours are told again what they should know (BFC's bitmap, credits).
    Repeat,
    /// A port: a pause that ends by itself is over, or the tokens suffice for the next credit.
    Port(u16),
}

/// A data packet that has left its queue and was dropped instead of sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPacket {
    /// Port by which it was to leave.
    pub port: u16,
    /// The queue that it has left.
    pub queue: u16,
    /// Hash of its flow.
    pub flow_hash: u32,
    /// Its size on the wire (bytes).
    pub wire_bytes: u16,
    /// Its payload (bytes).
    pub payload: u16,
}

/// Something that a driver does for a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchRequest {
    /// The frame waits at its port: call [`Switch::transmit`] as soon as the link is free.
    Told(ControlFrame),
    /// Something waits at the port: call [`Switch::transmit`] as soon as the link is free.
    Ready(u16),
    /// A pause has ended by itself (FAFC, PFC with timed pauses): for a list of events.
    Lapsed {
        /// The port whose neighbour had sent the pause.
        port: u16,
        /// The class, or [`penstock_packet::ALL_CLASSES`].
        subject: u32,
    },
    /// Count the packet, which [`Switch::transmit`] has dropped, as one for which there was no room.
    Dropped(DroppedPacket),
    /// Call [`Switch::on_timer`] with this timer at this time; a timer of a port that is set for an earlier
    /// time stays as it is.
    Timer(SwitchTimer, Time),
}

/// What switches have asked for and the driver has not done yet, first things first. A driver that calls a
/// switch while it does what another call has asked for reads from where the list ended before, and cuts the
/// list there afterwards.
#[derive(Debug, Default)]
pub struct SwitchRequests(Vec<SwitchRequest>);

impl SwitchRequests {
    /// The switch asks for another thing.
    #[inline]
    pub(super) fn push(&mut self, request: SwitchRequest) {
        self.0.push(request);
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Request number `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<SwitchRequest> {
        self.0.get(index).copied()
    }

    /// Forgets all but the first `length`.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }
}

/// What has become of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A data packet has joined a queue of this port; call [`Switch::transmit`] for the port as soon as its
    /// link is free.
    Queued(u16),
    /// Another packet that is forwarded waits likewise.
    Waits(u16),
    /// A frame of the neighbour behind the port by which it came has been obeyed; that port may have
    /// something to send.
    Heard,
    /// There was no room for a data packet at this port.
    Dropped {
        /// Port by which the packet was to leave.
        port: u16,
        /// Its payload (bytes).
        payload: u16,
    },
    /// There was no room for a credit (ExpressPass).
    Refused,
}
