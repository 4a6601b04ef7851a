//! A network of hosts with kernels, over pairs of sockets: the test writes the frames of their kernels.

use std::collections::HashSet;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::AtomicBool;
use std::thread;

use penstock_emulate::assemble::{Assembly, assemble, build, in_order};
use penstock_emulate::clock::Clock;
use penstock_emulate::drive::Drive;
use penstock_packet::PacketKind;
use penstock_sim::Scenario;
use penstock_sim::flow::FlowNames;
use penstock_sim::measure::table::Column;
use penstock_sim::measure::trace::{PacketTrace, PortLinks};
use penstock_sim::scenario::TraceConfig;
use penstock_sim::topology::Topology;
use penstock_units::{Bytes, Time};
use penstock_wire::ipv4::{Ecn, Ipv4};
use penstock_wire::udp::{self, Udp};
use penstock_wire::{EtherType, Ethernet, address};

mod golden;

/// Hosts of the golden scenarios.
const HOSTS: u32 = 8;

/// Frames that each of the other hosts sends to the first one: as much as its link carries in 0.15 s of the
/// machine.
const FRAMES: u16 = 256;

/// What a NIC holds: a quarter of what its host sends.
const NIC_MEMORY: Bytes = Bytes::new(64 << 10);

/// What ends the reading of a pair.
const END: &[u8] = b"end";

/// A datagram of 1,000 B from `source` to the first host; `number` is in its headers.
fn frame(source: u32, number: u16) -> Vec<u8> {
    let mut frame = vec![0; Ethernet::LENGTH + Ipv4::LENGTH + Udp::LENGTH + 1_000];
    let ethernet = Ethernet {
        destination: address::mac_of(0).unwrap(),
        source: address::mac_of(source).unwrap(),
        ether_type: EtherType::IPV4,
    };
    let internet = Ipv4 {
        differentiated_services: 0,
        ecn: Ecn::NotCapable,
        options: 0,
        payload: 1_008,
        identification: number,
        is_unfragmentable: true,
        has_more_fragments: false,
        fragment_offset: 0,
        time_to_live: 64,
        protocol: udp::PROTOCOL,
        source: address::ipv4_of(source).unwrap(),
        destination: address::ipv4_of(0).unwrap(),
    };
    let datagram = Udp { source_port: 1, destination_port: 2, payload: 1_000, checksum: 0 };
    datagram.emit(internet.emit(ethernet.emit(&mut frame).unwrap()).unwrap()).unwrap();
    frame
}

fn trace(topology: &Topology) -> PacketTrace {
    let everything = TraceConfig { nodes: vec![], events: vec![] };
    PacketTrace::new(&everything, PortLinks::new(topology), FlowNames::new(1))
}

/// An incast under scheme `name`: what comes to each host, how many frames were dropped, and the kinds of
/// the packets that switches have seen.
fn incast(name: &str) -> (Vec<Vec<Vec<u8>>>, u64, Vec<u32>) {
    let scenario = Scenario::from_json(&golden::without_flows(name).to_string()).unwrap();
    let kernels: Vec<u32> = (0..HOSTS).collect();
    let pairs = (0..HOSTS).map(|_| UnixDatagram::pair().unwrap());
    let (at_network, at_hosts): (Vec<_>, Vec<_>) = pairs.unzip();
    at_network.iter().for_each(|end| end.set_nonblocking(true).unwrap());
    let nobody = |_| -> UnixDatagram { panic!("all hosts have kernels") };
    let network = build(&scenario, &kernels, NIC_MEMORY, trace).unwrap();
    let clock = Clock::starting_in(Time::from_ms(1), 1_000);
    let Assembly { run, mut network, idle, .. } =
        assemble(&scenario, clock, network, at_network, nobody, ()).unwrap();
    let total = u64::from(HOSTS - 1) * u64::from(FRAMES);
    let stop = AtomicBool::new(false);
    let come = thread::scope(|scope| {
        for (host, end) in (0..).zip(&at_hosts).skip(1) {
            scope.spawn(move || (0..FRAMES).for_each(|n| _ = end.send(&frame(host, n)).unwrap()));
        }
        let readers: Vec<_> = at_hosts.iter().map(|end| scope.spawn(|| read_all(end))).collect();
        let goes_on = |network: &Drive<_, _, _>| {
            let sent: u64 = network.ports().iter().map(|port| port.sent).sum();
            sent + network.parts()[0].glance().drops < total
        };
        network.run_while(Time::from_ms(100), &stop, goes_on).unwrap();
        for end in network.take_devices() {
            end.set_nonblocking(false).unwrap();
            end.send(END).unwrap();
        }
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    let (switches, ..) = network.into_parts();
    let dropped = switches[0].glance().drops;
    let results = run.finish(in_order(switches, idle), &[], clock.now());
    let table = results.tables.iter().find(|table| table.name == "packets").unwrap();
    let (_, kinds) = table.columns.iter().find(|(column, _)| *column == "kind").unwrap();
    let Column::U32(kinds) = kinds else { panic!("kinds are numbers") };
    (come, dropped, kinds.clone())
}

/// All that comes to one end of a pair before [`END`].
fn read_all(end: &UnixDatagram) -> Vec<Vec<u8>> {
    let mut buffer = vec![0; 2_000];
    let mut next = || {
        let length = end.recv(&mut buffer).unwrap();
        Some(buffer[..length].to_vec()).filter(|frame| frame != END)
    };
    std::iter::from_fn(&mut next).collect()
}

/// Feedback of QCN and notices of drops are for hosts of ours; a kernel gets the frames of other kernels and
/// nothing else, each of them once.
#[test]
fn messages_of_switches_to_sources_are_no_frames_of_kernels() {
    for (name, kind) in
        [("qcn", PacketKind::CongestionFeedback), ("hpcc-pfc", PacketKind::DropNotice)]
    {
        let (mut come, dropped, kinds) = incast(name);
        assert!(kinds.contains(&(kind as u32)), "{name}: switches have sent {kind:?}");
        let at_first = come.remove(0);
        let sent: HashSet<_> = (1..HOSTS)
            .flat_map(|host| (0..FRAMES).map(move |number| frame(host, number)))
            .collect();
        assert!(at_first.iter().all(|frame| sent.contains(frame)), "{name}");
        assert_eq!(at_first.iter().collect::<HashSet<_>>().len(), at_first.len(), "{name}");
        assert_eq!(at_first.len() as u64 + dropped, sent.len() as u64, "{name}");
        assert!(come.iter().all(Vec::is_empty), "{name}: senders get nothing");
    }
}

/// A frame of a kernel to a host of ours does not enter the network, and the host's port counts it.
#[test]
fn a_kernel_does_not_reach_hosts_of_ours() {
    let scenario = Scenario::from_json(&golden::without_flows("bfc").to_string()).unwrap();
    let kernels: Vec<u32> = (2..HOSTS).collect();
    let pairs = (0..HOSTS).map(|_| UnixDatagram::pair().unwrap());
    let (at_network, at_hosts): (Vec<_>, Vec<_>) = pairs.unzip();
    at_network.iter().for_each(|end| end.set_nonblocking(true).unwrap());
    at_hosts[..2].iter().for_each(|end| end.set_nonblocking(true).unwrap());
    let host = |host: u32| at_hosts[host as usize].try_clone().unwrap();
    let network = build(&scenario, &kernels, NIC_MEMORY, trace).unwrap();
    let clock = Clock::starting_in(Time::from_ms(1), 1_000);
    let Assembly { mut network, .. } =
        assemble(&scenario, clock, network, at_network, host, ()).unwrap();
    at_hosts[2].send(&frame(2, 0)).unwrap();
    let has_refused =
        |network: &Drive<_, _, _>| network.ports()[2].refusals.named().next().is_some();
    let stop = AtomicBool::new(false);
    network.run_while(Time::from_ms(100), &stop, |network| !has_refused(network)).unwrap();
    let refused: Vec<_> = network.ports()[2].refusals.named().collect();
    assert_eq!(refused, [("no-kernel", 1)]);
    assert_eq!(network.ports()[2].received, 0);
}
