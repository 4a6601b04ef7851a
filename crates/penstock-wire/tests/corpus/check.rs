//! What must hold of any bytes. Nothing panics, and what is read can be written and read again. The tests and
//! the fuzzer share these checks, which allocate nothing.

use core::fmt::Debug;

use penstock_packet::{Packet, Signal};
use penstock_wire::ethernet::Ethernet;
use penstock_wire::ipv4::{Ipv4, checksum};
use penstock_wire::ipv6::Ipv6;
use penstock_wire::roce::Roce;
use penstock_wire::tcp::Tcp;
use penstock_wire::udp::Udp;
use penstock_wire::vlan::Vlan;
use penstock_wire::{
    Frame, KernelFrame, MacAddress, Malformed, NoRoom, PriorityPause, classify, encapsulate,
    mark_congestion, read, write,
};

/// Room for a copy of an input; longer inputs are cut off.
const LONGEST: usize = 2_048;

/// Checks all parsers on `bytes`.
pub fn every_parser(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    headers(bytes);
    if let Ok(frame) = read(bytes) {
        ours(bytes, &frame);
    }
    if let Ok(pause) = PriorityPause::parse(bytes) {
        let mut again = [0; 60];
        assert_eq!(pause.emit(MacAddress::BROADCAST, &mut again), Ok(60));
        assert_eq!(PriorityPause::parse(&again), Ok(pause));
    }
    kernel(bytes);
    // Few random changes keep the checksum right, so it is put right.
    let mut sound = [0; LONGEST];
    let sound = &mut sound[..bytes.len()];
    sound.copy_from_slice(bytes);
    if fill_checksum(sound).is_some() {
        kernel(sound);
    }
}

/// How a header is read, and how it is written.
type Parse<H> = fn(&[u8]) -> Result<(H, &[u8]), Malformed>;
type Emit<H> = for<'a> fn(&H, &'a mut [u8]) -> Result<&'a mut [u8], NoRoom>;

/// Reads a header at the start of `bytes`, writes it, and reads it again.
fn again<H: PartialEq + Debug>(bytes: &[u8], parse: Parse<H>, emit: Emit<H>) {
    let Ok((header, rest)) = parse(bytes) else { return };
    // The rest stays, for the lengths in the header are about it.
    let mut copy = [0; LONGEST];
    copy[..bytes.len()].copy_from_slice(bytes);
    let behind = emit(&header, &mut copy[..bytes.len()]).expect("it was read from as many bytes");
    assert!(behind.len() >= rest.len());
    let (second, rest_again) = parse(&copy[..bytes.len()]).expect("what was written is valid");
    assert_eq!((second, rest_again.len()), (header, rest.len()));
}

/// Every header by itself, at the start of the bytes and where an Ethernet header would end.
fn headers(bytes: &[u8]) {
    again(bytes, Ethernet::parse, Ethernet::emit);
    let payload = bytes.get(Ethernet::LENGTH..).unwrap_or_default();
    again(payload, Vlan::parse, Vlan::emit);
    again(payload, Ipv4::parse, Ipv4::emit);
    again(payload, Ipv6::parse, Ipv6::emit);
    again(payload, Udp::parse, Udp::emit);
    again(payload, Tcp::parse, Tcp::emit);
    again(payload, Roce::parse, Roce::emit);
}

/// Whether two packets agree in every field that travels.
fn is_same(one: &Packet, other: &Packet) -> bool {
    let numbers = |packet: &Packet| {
        let Packet { flow_hash, source, destination, remaining, offset, sent_at, .. } = *packet;
        (flow_hash, source, destination, remaining, offset, sent_at)
    };
    let small = |packet: &Packet| {
        let Packet { wire_bytes, payload, queue, tag, kind, class, flags, .. } = *packet;
        (wire_bytes, payload, queue, tag, kind, class, flags)
    };
    numbers(one) == numbers(other)
        && small(one) == small(other)
        && Signal::of(one) == Signal::of(other)
}

/// A frame of ours is written again, and is read as the same frame.
fn ours(bytes: &[u8], frame: &Frame<'_>) {
    let mut hops = [Default::default(); 8];
    let count = frame.telemetry.hops();
    hops.iter_mut().zip(frame.telemetry.iter()).for_each(|(place, hop)| *place = hop);
    let (packet, telemetry) = (&frame.packet, &hops[..count]);
    let mut copy = [0; 2 * LONGEST];
    let length = if frame.encapsulates {
        let mut original = [0; LONGEST];
        let length = frame.restore(&mut original).expect("it is shorter than the frame");
        assert_eq!(original[..12], bytes[..12]);
        let _ = classify(&original[..length]);
        encapsulate(packet, telemetry, &original[..length], &mut copy).expect("it was read")
    } else if usize::from(packet.wire_bytes) > copy.len() {
        return;
    } else {
        write(packet, telemetry, frame.addresses, &mut copy).expect("it was read")
    };
    let second = read(&copy[..length]).expect("what was written is valid");
    assert!(is_same(&second.packet, packet), "{:?} {packet:?}", second.packet);
    assert!(second.telemetry.iter().eq(telemetry.iter().copied()));
    assert_eq!((second.addresses, second.content_at), (frame.addresses, frame.content_at));
    assert_eq!(second.content.len(), frame.content.len());
    assert!(!frame.encapsulates || second.content == frame.content);
    assert_eq!(classify(bytes), Err(Malformed::Forged));
}

/// A frame of a kernel's host stays the same packet when it is marked.
fn kernel(bytes: &[u8]) {
    let mut marked = [0; LONGEST];
    let marked = &mut marked[..bytes.len()];
    marked.copy_from_slice(bytes);
    let is_marked = mark_congestion(marked);
    assert!(is_marked || marked == bytes);
    let Ok(KernelFrame::Packet(packet)) = classify(bytes) else { return };
    assert_eq!(is_marked, packet.ecn.is_capable());
    let Ok(KernelFrame::Packet(second)) = classify(marked) else {
        panic!("a mark makes no frame invalid");
    };
    assert_eq!((second.flow_hash, second.payload), (packet.flow_hash, packet.payload));
    assert_eq!((second.source, second.destination), (packet.source, packet.destination));
    assert_eq!(second.class, packet.class);
    assert!(packet.class < 8 && packet.payload <= packet.frame_bytes);
}

/// Puts the checksum of an IPv4 header right, behind at most one VLAN tag.
fn fill_checksum(frame: &mut [u8]) -> Option<()> {
    let place = if frame.get(12..14)? == [0x81, 0x00] { 18 } else { 14 };
    if frame.get(place - 2..place)? != [0x08, 0x00] {
        return None;
    }
    let length = 4 * usize::from(frame.get(place)? & 0xf);
    let header = frame.get_mut(place..place + length)?;
    header.get_mut(10..12)?.fill(0);
    let sum = checksum(header).to_be_bytes();
    header.get_mut(10..12)?.copy_from_slice(&sum);
    Some(())
}
