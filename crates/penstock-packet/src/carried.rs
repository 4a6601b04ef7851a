//! What a link has carried, as its sending end counts it: each end of a link keeps its own.

use borsh::{BorshDeserialize, BorshSerialize};

use crate::packet::{Packet, PacketKind};

/// What a link has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Carried {
    /// Wire bytes.
    pub bytes: u64,
    /// Packets, control packets included.
    pub packets: u64,
    /// Payload of data packets (bytes).
    pub payload: u64,
}

impl Carried {
    /// `packet` leaves.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.bytes += u64::from(packet.wire_bytes);
        self.packets += 1;
        self.payload += payload(packet);
    }

    /// `packet`, which was added, has not left after all.
    pub fn take_back(&mut self, packet: &Packet) {
        self.bytes -= u64::from(packet.wire_bytes);
        self.packets -= 1;
        self.payload -= payload(packet);
    }
}

/// The payload of a data packet (bytes); 0 for any other, which may still bear that of the packet it was.
#[inline]
fn payload(packet: &Packet) -> u64 {
    if packet.kind == PacketKind::Data { packet.payload.into() } else { 0 }
}
