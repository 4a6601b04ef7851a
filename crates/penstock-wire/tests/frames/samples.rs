//! One frame of each kind, with values that can be told apart.

use penstock_packet::{Packet, PacketFlags, PacketKind, Signal};
use penstock_units::{BitRate, HopTelemetry, Time};
use penstock_wire::address::{ipv4_of, mac_of, switch_mac_of};
use penstock_wire::ipv4::{Ecn, Ipv4};
use penstock_wire::tcp::{self, Tcp, TcpFlags};
use penstock_wire::{
    EtherType, Ethernet, LinkAddresses, MacAddress, PriorityPause, encapsulate, write,
};

/// The hosts of the samples; 9 sends the data.
const HOSTS: (u32, u32) = (9, 4);

/// Every sample, by name.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let mut samples = end_to_end();
    samples.push(("encapsulated", encapsulated()));
    samples.extend(link_local());
    samples.push(("priority-pause", priority_pause()));
    samples
}

/// The samples as the file `frames.txt` has them: a name and hexadecimal digits on each line.
pub fn listing() -> String {
    let line = |(name, bytes): (&str, Vec<u8>)| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name} {digits}\n")
    };
    all().into_iter().map(line).collect()
}

fn data() -> Packet {
    let mut flags = PacketFlags::default();
    for flag in [PacketFlags::TRACKED, PacketFlags::OPENS_PAIR] {
        flags.insert(flag);
    }
    Packet {
        kind: PacketKind::Data,
        flags,
        class: 1,
        queue: 0x0305,
        tag: 7,
        flow_hash: 0xc0ff_ee01,
        source: HOSTS.0,
        destination: HOSTS.1,
        remaining: 2_008,
        offset: 64_000,
        sent_at: Time::from_us(125),
        payload: 8,
        wire_bytes: 56,
        ..Packet::default()
    }
}

fn hops(count: usize) -> Vec<HopTelemetry> {
    let hop = |number: u64| HopTelemetry {
        time: Time::from_us(126 + number),
        sent_bytes: 1_000_000 + number,
        queue_bytes: 30_000 * number,
        rate: BitRate::from_gbps(100),
    };
    (1..=count as u64).map(hop).collect()
}

fn written(packet: &Packet, telemetry: &[HopTelemetry], addresses: LinkAddresses) -> Vec<u8> {
    let mut buffer = vec![0; 2_000];
    let length = write(packet, telemetry, addresses, &mut buffer).expect("a sample can be written");
    buffer.truncate(length);
    buffer
}

fn end_to_end() -> Vec<(&'static str, Vec<u8>)> {
    let control = Packet { payload: 0, wire_bytes: 60, ..data() };
    let marked = Packet { flags: PacketFlags::MARKED, ..control };
    let of = |kind| Packet { kind, ..control };
    let packets = [
        ("data", data(), 0),
        ("data-telemetry", data(), 1),
        ("data-padded", Packet { wire_bytes: 96, ..data() }, 0),
        ("acknowledgement", Packet { kind: PacketKind::Acknowledgement, ..marked }, 2),
        ("negative-acknowledgement", of(PacketKind::NegativeAcknowledgement), 0),
        ("drop-notice", Packet { payload: 1_000, ..of(PacketKind::DropNotice) }, 0),
        ("congestion-feedback", of(PacketKind::CongestionFeedback), 0),
        ("congestion-notification", of(PacketKind::CongestionNotification), 0),
        ("grant", of(PacketKind::Grant), 0),
        ("resend", of(PacketKind::Resend), 0),
        ("busy", of(PacketKind::Busy), 0),
        ("credit", Packet { wire_bytes: 84, ..of(PacketKind::Credit) }, 0),
        ("credit-request", of(PacketKind::CreditRequest), 0),
        ("credit-stop", of(PacketKind::CreditStop), 0),
        ("trimmed", Packet { payload: 1_000, ..of(PacketKind::Trimmed) }, 0),
    ];
    let written = |(name, packet, count): (_, Packet, usize)| {
        let (from, to) = match packet.kind.goes_to_source() {
            true => (HOSTS.1, HOSTS.0),
            false => HOSTS,
        };
        let addresses = LinkAddresses {
            destination: mac_of(to).expect("a host of the plan"),
            source: mac_of(from).expect("a host of the plan"),
        };
        (name, written(&packet, &hops(count), addresses))
    };
    packets.into_iter().map(written).collect()
}

/// An acknowledgement of a kernel's TCP, ECN-capable, behind our header.
fn encapsulated() -> Vec<u8> {
    let original = kernel_frame();
    let packet = Packet { payload: 0, wire_bytes: original.len() as u16, ..data() };
    let mut buffer = vec![0; 2_000];
    let length = encapsulate(&packet, &hops(1), &original, &mut buffer).expect("it fits");
    buffer.truncate(length);
    buffer
}

/// An acknowledgement of a kernel's TCP, ECN-capable.
pub fn kernel_frame() -> Vec<u8> {
    let ethernet = Ethernet {
        destination: mac_of(HOSTS.1).expect("a host of the plan"),
        source: mac_of(HOSTS.0).expect("a host of the plan"),
        ether_type: EtherType::IPV4,
    };
    let internet = Ipv4 {
        differentiated_services: 8,
        ecn: Ecn::Capable0,
        options: 0,
        payload: Tcp::LENGTH as u16,
        identification: 77,
        is_unfragmentable: true,
        has_more_fragments: false,
        fragment_offset: 0,
        time_to_live: 64,
        protocol: tcp::PROTOCOL,
        source: ipv4_of(HOSTS.0).expect("a host of the plan"),
        destination: ipv4_of(HOSTS.1).expect("a host of the plan"),
    };
    let transport = Tcp {
        source_port: 43_210,
        destination_port: 80,
        sequence: 1_000,
        acknowledgement: 2_000,
        options: 0,
        flags: TcpFlags::ACKNOWLEDGE,
        window: 512,
        checksum: 0,
        urgent: 0,
    };
    let mut bytes = vec![0; 54];
    let rest = ethernet.emit(&mut bytes).expect("it fits");
    let rest = internet.emit(rest).expect("it fits");
    transport.emit(rest).expect("it fits");
    bytes
}

fn link_local() -> Vec<(&'static str, Vec<u8>)> {
    let signals = [
        ("pause-class", Signal::PauseClass(1)),
        ("pause-class-for", Signal::PauseClassFor { class: 1, nanoseconds: 5_000 }),
        ("resume-class", Signal::ResumeClass(1)),
        ("pause-queue", Signal::PauseQueue(0x0305)),
        ("resume-queue", Signal::ResumeQueue(0x0305)),
        ("pause-flow", Signal::PauseFlow(0xc0ff_ee01)),
        ("resume-flow", Signal::ResumeFlow(0xc0ff_ee01)),
        ("queue-bitmap", Signal::QueueBitmap { epoch: 3, queues: 1 << 127 | 1 << 64 | 0x25 }),
        ("pause-time", Signal::PauseTime(1_500)),
        ("hop-credit", Signal::Credit { account: 5, granted: 1_048_576 }),
    ];
    let addresses = LinkAddresses {
        destination: MacAddress::NEAREST_BRIDGE,
        source: switch_mac_of(0).expect("a switch of the plan"),
    };
    let written = |(name, signal): (_, Signal)| (name, written(&signal.frame(64), &[], addresses));
    signals.into_iter().map(written).collect()
}

fn priority_pause() -> Vec<u8> {
    let signal = Signal::PauseClassFor { class: 1, nanoseconds: 5_000 };
    let pause = PriorityPause::of(signal, BitRate::from_gbps(100)).expect("it is about a class");
    let mut buffer = vec![0; 60];
    let source = switch_mac_of(0).expect("a switch of the plan");
    pause.emit(source, &mut buffer).expect("it fits");
    buffer
}
