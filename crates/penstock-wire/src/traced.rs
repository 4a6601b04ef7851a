//! A packet of a simulated link as the frame that real devices would send there.
//!
//! Pauses of classes are those of IEEE 802.1Qbb ([`PriorityPause`]), which every tool reads. All other
//! packets bear our headers ([`crate::frame`]). A trace has no telemetry, so the frames have none.

use penstock_packet::{Packet, Signal};
use penstock_units::BitRate;

use crate::address::{mac_of, switch_mac_of};
use crate::frame::{LinkAddresses, Unwritable, frame_bytes, write};
use crate::{Header, MacAddress, PriorityPause};

/// A node that sends a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The host of this number.
    Host(u32),
    /// The switch that is the node of this number.
    Switch(u32),
}

impl Sender {
    /// The MAC address of the node; none above the [plan](crate::address::HOSTS).
    fn address(self) -> Option<MacAddress> {
        match self {
            Sender::Host(host) => mac_of(host),
            Sender::Switch(switch) => switch_mac_of(switch),
        }
    }
}

/// Writes `packet`, which `sender` sends on a link of `rate`, into `buffer`; returns the length of the frame.
/// Packets from host to host bear the addresses of both hosts, replies the other way round. Frames between
/// neighbours bear the address of `sender`.
///
/// # Errors
/// When `buffer` is too small, or the packet has a value that no frame bears, or a node above the plan.
pub fn write_traced(
    packet: &Packet,
    sender: Sender,
    rate: BitRate,
    buffer: &mut [u8],
) -> Result<usize, Unwritable> {
    let above_plan = Unwritable::Value(Header::Ethernet);
    if packet.kind.is_link_local() {
        let source = sender.address().ok_or(above_plan)?;
        if let Some(pause) = Signal::of(packet).and_then(|signal| PriorityPause::of(signal, rate)) {
            return Ok(pause.emit(source, buffer)?);
        }
        let addresses = LinkAddresses { destination: MacAddress::NEAREST_BRIDGE, source };
        return write(packet, &[], addresses, buffer);
    }
    let source = mac_of(packet.source).ok_or(above_plan)?;
    let destination = mac_of(packet.destination).ok_or(above_plan)?;
    let addresses = match packet.kind.goes_to_source() {
        true => LinkAddresses { destination: source, source: destination },
        false => LinkAddresses { destination, source },
    };
    write(packet, &[], addresses, buffer)
}

/// The bytes of a buffer that holds every frame of [`write_traced`].
pub fn most_bytes() -> usize {
    let largest = Packet { wire_bytes: u16::MAX, payload: u16::MAX, ..Packet::default() };
    frame_bytes(&largest, 0)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use penstock_packet::PacketKind;

    use super::*;
    use crate::{Ethernet, read};

    const RATE: BitRate = BitRate::from_bps(100_000_000_000);

    #[test]
    fn pauses_of_classes_are_frames_that_every_tool_reads() {
        let signal = Signal::PauseClassFor { class: 1, nanoseconds: 5_000 };
        let mut buffer = [1; 64];
        let length = write_traced(&signal.frame(64), Sender::Switch(7), RATE, &mut buffer).unwrap();
        let pause = PriorityPause::parse(&buffer[..length]).unwrap();
        assert_eq!(pause.times[6], Some(977), "5 us at 5.12 ns, rounded up");
        let (ethernet, _) = Ethernet::parse(&buffer).unwrap();
        assert_eq!(Some(ethernet.source), switch_mac_of(7));
    }

    #[test]
    fn other_packets_are_read_again_as_they_were() {
        let mut buffer = vec![0; most_bytes()];
        let base = Packet { source: 3, destination: 5, wire_bytes: 64, ..Packet::default() };
        for kind in [PacketKind::Data, PacketKind::Acknowledgement, PacketKind::DropNotice] {
            let packet = Packet { kind, offset: 9_000, flow_hash: 77, ..base };
            let length = write_traced(&packet, Sender::Host(3), RATE, &mut buffer).unwrap();
            let frame = read(&buffer[..length]).unwrap();
            assert_eq!((frame.packet.kind, frame.packet.offset), (kind, 9_000));
            let sends = if kind == PacketKind::Data { 3 } else { 5 };
            assert_eq!(Some(frame.addresses.source), mac_of(sends), "{kind:?}");
        }
        let length =
            write_traced(&Signal::PauseQueue(6).frame(64), Sender::Host(3), RATE, &mut buffer);
        let frame = read(&buffer[..length.unwrap()]).unwrap();
        assert_eq!(Signal::of(&frame.packet), Some(Signal::PauseQueue(6)));
        assert_eq!(frame.addresses.destination, MacAddress::NEAREST_BRIDGE);
    }

    #[test]
    fn the_largest_packet_fits_and_nodes_above_the_plan_are_refused() {
        let mut buffer = vec![0; most_bytes()];
        let largest = Packet { wire_bytes: u16::MAX, payload: u16::MAX, ..Packet::default() };
        let length = write_traced(&largest, Sender::Host(0), RATE, &mut buffer).unwrap();
        assert_eq!(length, buffer.len());
        let far = Packet { source: u32::MAX, wire_bytes: 64, ..Packet::default() };
        let refused = Err(Unwritable::Value(Header::Ethernet));
        assert_eq!(write_traced(&far, Sender::Host(0), RATE, &mut buffer), refused);
        let pause = Signal::PauseClass(0).frame(64);
        assert_eq!(write_traced(&pause, Sender::Switch(u32::MAX), RATE, &mut buffer), refused);
    }
}
