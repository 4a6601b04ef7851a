//! Packets to frames and back, for every kind.

use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::PacketFlags;
use penstock_units::{BitRate, Time};
use proptest::prelude::*;

use super::*;
use crate::end_to_end::FLAGS;
use crate::kind::KINDS;

const ADDRESSES: LinkAddresses = LinkAddresses {
    destination: MacAddress::NEAREST_BRIDGE,
    source: MacAddress([0x02, 0x50, 0x45, 0, 0, 9]),
};

fn hop() -> impl Strategy<Value = HopTelemetry> {
    any::<[u64; 4]>().prop_map(|[time, sent_bytes, queue_bytes, rate]| HopTelemetry {
        time: Time::from_ps(time),
        sent_bytes,
        queue_bytes,
        rate: BitRate::from_bps(rate),
    })
}

/// A packet of any kind that goes from host to host, with random values in all fields.
fn end_to_end_packet() -> impl Strategy<Value = Packet> {
    let numbers = any::<(u32, u32, u32, u32, u64, u64)>();
    let small = any::<(u16, u16, u16, u16, u16)>();
    (0..12usize, 0..8u8, 0..1u8 << FLAGS.len(), numbers, small, any::<(u32, u64, u8)>()).prop_map(
        |(kind, class, bits, numbers, small, local)| {
            let mut flags = PacketFlags::default();
            let set = FLAGS.into_iter().enumerate().filter(|(place, _)| bits >> place & 1 != 0);
            set.for_each(|(_, flag)| flags.insert(flag));
            Packet {
                kind: KINDS[kind],
                class,
                flags,
                flow_hash: numbers.0,
                source: numbers.1,
                destination: numbers.2,
                remaining: numbers.3,
                offset: numbers.4,
                sent_at: Time::from_ps(numbers.5),
                payload: small.0.min(9_000),
                wire_bytes: small.1.clamp(1, 10_000).max(small.0.min(9_000)),
                queue: small.2,
                tag: small.3,
                upstream_queue: small.4,
                ingress: small.4,
                flow: local.0,
                time: local.1,
                hop: local.2,
                ..Packet::default()
            }
        },
    )
}

fn signal() -> impl Strategy<Value = Signal> {
    prop_oneof![
        (0u8..8).prop_map(Signal::PauseClass),
        (0u8..8, 1..=u32::MAX)
            .prop_map(|(class, nanoseconds)| Signal::PauseClassFor { class, nanoseconds }),
        (0u8..8).prop_map(Signal::ResumeClass),
        any::<u16>().prop_map(Signal::PauseQueue),
        any::<u16>().prop_map(Signal::ResumeQueue),
        any::<u32>().prop_map(Signal::PauseFlow),
        any::<u32>().prop_map(Signal::ResumeFlow),
        any::<(u8, u128)>().prop_map(|(epoch, queues)| Signal::QueueBitmap { epoch, queues }),
        any::<u32>().prop_map(Signal::PauseTime),
        any::<(u16, u64)>().prop_map(|(account, granted)| Signal::Credit { account, granted }),
    ]
}

/// `packet` without what belongs to the node that holds it.
fn travelling(packet: Packet) -> alloc::string::String {
    let default = Packet::default();
    let Packet { next, flow, time, ingress, upstream_queue, hop, .. } = default;
    alloc::format!("{:?}", Packet { next, flow, time, ingress, upstream_queue, hop, ..packet })
}

fn written(packet: &Packet, telemetry: &[HopTelemetry]) -> Vec<u8> {
    let mut buffer = vec![0xee; frame_bytes(packet, telemetry.len())];
    let length = write(packet, telemetry, ADDRESSES, &mut buffer).unwrap();
    assert_eq!(length, buffer.len());
    buffer
}

proptest! {
    #[test]
    fn a_packet_survives_its_frame(
        packet in end_to_end_packet(),
        telemetry in prop::collection::vec(hop(), 0..=TELEMETRY_HOPS),
    ) {
        let bytes = written(&packet, &telemetry);
        prop_assert!(bytes.len() >= SHORTEST_FRAME.max(packet.wire_bytes.into()));
        let frame = read(&bytes).unwrap();
        prop_assert_eq!(travelling(frame.packet), travelling(packet));
        prop_assert_eq!(alloc::format!("{:?}", frame.packet), travelling(packet));
        prop_assert!(frame.telemetry.iter().eq(telemetry));
        prop_assert_eq!((frame.addresses, frame.encapsulates), (ADDRESSES, false));
        let payload = if packet.kind == PacketKind::Data { packet.payload } else { 0 };
        prop_assert_eq!(frame.content, vec![0; payload.into()]);
        prop_assert!(bytes[frame.content_at..].iter().all(|&byte| byte == 0), "zeros, and no old bytes");
    }

    #[test]
    fn a_signal_survives_its_frame(signal in signal(), wire_bytes in 1..9_000u16) {
        let bytes = written(&signal.frame(wire_bytes), &[]);
        prop_assert_eq!(bytes.len(), SHORTEST_FRAME.max(wire_bytes.into()));
        let frame = read(&bytes).unwrap();
        prop_assert_eq!(Signal::of(&frame.packet), Some(signal));
        let (read, told) = (frame.packet, signal.frame(wire_bytes));
        prop_assert_eq!(alloc::format!("{read:?}"), alloc::format!("{told:?}"));
        prop_assert_eq!((frame.addresses, frame.content.len()), (ADDRESSES, 0));
    }

    #[test]
    fn an_encapsulated_frame_is_restored_to_the_byte(
        packet in end_to_end_packet(),
        telemetry in prop::collection::vec(hop(), 0..=TELEMETRY_HOPS),
        original in prop::collection::vec(any::<u8>(), 14..1_600),
    ) {
        let mut buffer = vec![0xee; 2_000];
        let length = encapsulate(&packet, &telemetry, &original, &mut buffer).unwrap();
        prop_assert!(length >= SHORTEST_FRAME);
        prop_assert_eq!(&buffer[..12], &original[..12]);
        let frame = read(&buffer[..length]).unwrap();
        prop_assert!(frame.encapsulates);
        prop_assert_eq!(travelling(frame.packet), travelling(packet));
        prop_assert!(frame.telemetry.iter().eq(telemetry));
        let mut restored = vec![0; 1_600];
        prop_assert_eq!(frame.restore(&mut restored), Ok(original.len()));
        prop_assert_eq!(&restored[..original.len()], &original);
        let room = NoRoom { needed: original.len(), given: original.len() - 1 };
        prop_assert_eq!(frame.restore(&mut restored[..original.len() - 1]), Err(room));
    }

    #[test]
    fn a_frame_that_is_cut_off_is_refused(
        packet in end_to_end_packet(),
        telemetry in prop::collection::vec(hop(), 0..=TELEMETRY_HOPS),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = written(&Packet { wire_bytes: 1, payload: 1, ..packet }, &telemetry);
        let headers = Ethernet::ADDRESSES + EndToEnd::LENGTH + ENTRY * telemetry.len();
        prop_assert!(read(&bytes[..cut.index(headers)]).is_err());
    }

    #[test]
    fn a_buffer_that_is_too_small_is_refused(packet in end_to_end_packet(), missing in 1..50usize) {
        let mut buffer = vec![0; frame_bytes(&packet, 1) - missing];
        let needed = buffer.len() + missing;
        let room = NoRoom { needed, given: buffer.len() };
        let hops = [HopTelemetry::default()];
        prop_assert_eq!(write(&packet, &hops, ADDRESSES, &mut buffer), Err(Unwritable::NoRoom(room)));
    }

    #[test]
    fn nothing_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..120), is_ours: bool) {
        if is_ours && bytes.len() > 16 {
            bytes[12..15].copy_from_slice(&[0x88, 0xb5, 1]);
        }
        let _ = read(&bytes);
    }
}

#[test]
fn packets_that_no_frame_bears_are_refused() {
    let good = Packet { wire_bytes: 64, ..Packet::default() };
    let refused = |packet: &Packet, hops: usize| {
        let telemetry = vec![HopTelemetry::default(); hops];
        write(packet, &telemetry, ADDRESSES, &mut [0; 1_000]).unwrap_err()
    };
    let of = Unwritable::Value;
    assert_eq!(refused(&Packet { class: 8, ..good }, 0), of(Header::EndToEnd));
    assert_eq!(refused(&Packet { payload: 65, ..good }, 0), of(Header::EndToEnd));
    assert_eq!(refused(&good, 9), of(Header::Telemetry));
    assert_eq!(refused(&Signal::PauseClass(8).frame(64), 0), of(Header::LinkLocal));
    assert_eq!(refused(&Signal::PauseQueue(8).frame(64), 1), of(Header::LinkLocal));
    assert_eq!(refused(&Signal::PauseQueue(8).frame(0), 0), of(Header::LinkLocal));
    let short = encapsulate(&good, &[], &[0; 13], &mut [0; 100]);
    assert_eq!(short, Err(of(Header::Ethernet)));
    let long = encapsulate(&good, &[], &vec![0; 65_548], &mut vec![0; 70_000]);
    assert_eq!(long, Err(of(Header::Ethernet)));
    let room = NoRoom { needed: 62, given: 61 };
    assert_eq!(encapsulate(&good, &[], &[0; 14], &mut [0; 61]), Err(Unwritable::NoRoom(room)));
}

#[test]
fn contents_that_contradict_the_header_are_refused() {
    let wrong = Malformed::Length(Header::EndToEnd);
    let data = Packet { wire_bytes: 100, payload: 40, ..Packet::default() };
    let bytes = written(&data, &[]);
    assert_eq!(bytes.len(), 100);
    assert_eq!(read(&bytes[..99]).unwrap_err(), wrong, "one byte of the payload is missing");
    let mut other = bytes.clone();
    other[59] = 39;
    assert_eq!(read(&other).unwrap_err(), wrong);
    other[16] |= 0x40;
    assert!(read(&other).unwrap().encapsulates);
    other[59] = 1;
    assert_eq!(read(&other).unwrap_err(), wrong, "no room for an EtherType");
    other[13] = 0;
    assert_eq!(read(&other).unwrap_err(), Malformed::EtherType(0x8800));
}
