//! What switches decide about the frames of kernels, and what the same switches decide when they get the same
//! frames again.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use penstock_emulate::assemble::{Assembly, assemble, build, in_order};
use penstock_emulate::clock::Clock;
use penstock_emulate::namespace::{
    Ecn, HostNamespace, HostSettings, KernelStack, PacketSocket, Stack, enter,
};
use penstock_emulate::record::Recording;
use penstock_sim::flow::FlowNames;
use penstock_sim::measure::trace::{PacketTrace, PortLinks};
use penstock_sim::scenario::TraceConfig;
use penstock_sim::topology::Topology;
use penstock_sim::{Results, Scenario};
use penstock_units::{Bytes, Time};
use penstock_wire::address;

use crate::golden;

/// Hosts of the golden scenarios.
const HOSTS: u32 = 8;

/// A second of the run takes so many of the machine: 100 Gb/s are 100 Mb/s.
const SCALE: u32 = 1_000;

/// What each host sends to the first one (bytes): 0.5 s in all at 100 Mb/s, and queues of its window.
const TRANSFER: usize = 800_000;

fn scenario(name: &str) -> Scenario {
    Scenario::from_json(&golden::without_flows(name).to_string()).unwrap()
}

fn trace(topology: &Topology) -> PacketTrace {
    let everything = TraceConfig { nodes: vec![], events: vec![] };
    PacketTrace::new(&everything, PortLinks::new(topology), FlowNames::new(1))
}

fn settings(host: u32) -> HostSettings {
    let mac = |host| address::mac_of(host).unwrap().0;
    let ip = |host| IpAddr::V4(address::ipv4_of(host).unwrap());
    let others = (0..HOSTS).filter(|&other| other != host);
    HostSettings {
        name: format!("H{host}"),
        mac: mac(host),
        mtu: 1_500,
        queue_frames: 1_000,
        stack: Stack::Kernel(KernelStack {
            addresses: vec![ip(host)],
            neighbours: others.map(|other| (ip(other), mac(other))).collect(),
            ecn: Ecn::On,
            ..KernelStack::default()
        }),
    }
}

/// Every other host sends a transfer to the first one, all at once.
fn incast(hosts: &[HostNamespace]) {
    let address: SocketAddr = (address::ipv4_of(0).unwrap(), 80).into();
    let listener = hosts[0].run(move || TcpListener::bind(address)).expect("its own address");
    let senders = hosts[1..].iter().map(|host| {
        let send = move || {
            let mut stream = TcpStream::connect(address).expect("the server is there");
            stream.write_all(&vec![7; TRANSFER]).expect("the transfer is sent");
            stream.shutdown(Shutdown::Write).expect("the transfer ends");
            stream.read_to_end(&mut vec![]).expect("the server has all");
        };
        host.thread("sender", send).expect("a thread")
    });
    let senders: Vec<_> = senders.collect();
    let receivers: Vec<_> = (1..HOSTS)
        .map(|_| {
            let (mut stream, _) = listener.accept().expect("a client comes");
            std::thread::spawn(move || {
                let mut bytes = vec![];
                stream.read_to_end(&mut bytes).expect("the transfer is received");
                assert_eq!(bytes.len(), TRANSFER);
            })
        })
        .collect();
    senders.into_iter().chain(receivers).for_each(|thread| thread.join().expect("it is content"));
}

/// The rows of the packet trace, as text. In `sequence` a frame of a kernel has the place of its bytes in
/// memory, which decides nothing and is left out.
fn rows(results: &Results) -> Vec<String> {
    let table = results.tables.iter().find(|table| table.name == "packets").unwrap();
    let decisions = table.columns.iter().filter(|(column, _)| *column != "sequence");
    decisions.map(|(column, rows)| format!("{column}: {rows:?}")).collect()
}

/// Switches and NICs of these schemes, under the TCP of Linux. The results of the run and of the replay have
/// the same assignments, marks, pauses, drops and departures, in the same order.
fn decided_twice(names: &[&str], times: usize) -> usize {
    let namespaces = enter().expect("the probe has entered too");
    let made = (0..HOSTS).map(|host| namespaces.host(&settings(host)).expect("a host"));
    let (hosts, mut taps): (Vec<_>, Vec<_>) = made.unzip();
    namespaces.drop_privileges(&hosts).expect("no capability is left");
    let kernels: Vec<u32> = (0..HOSTS).collect();
    let mut entered = 0;
    for name in names {
        let scenario = scenario(name);
        let memory = Bytes::new(4 << 20);
        let network = build(&scenario, &kernels, memory, trace).unwrap();
        let clock = Clock::starting_in(Time::from_ms(1), SCALE);
        let nobody = |_| -> PacketSocket { panic!("all hosts have kernels") };
        let devices = std::mem::take(&mut taps);
        let Assembly { run, mut network, idle, .. } =
            assemble(&scenario, clock, network, devices, nobody, Recording::default()).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let driven = scope.spawn(|| network.run(Time::from_ms(1_000), &stop));
            (0..times).for_each(|_| incast(&hosts));
            stop.store(true, Ordering::Relaxed);
            driven.join().unwrap().expect("the network carried everything");
        });
        let now = clock.now();
        taps = network.take_devices();
        let (switches, _, _, recording) = network.into_parts();
        let until = switches[0].now();
        let (again, mut parts) = build(&scenario, &kernels, memory, trace).unwrap();
        recording.replay(&again, &mut parts[0], until).unwrap();
        let results = run.finish(in_order(switches, idle), &[], now);
        let replayed = again.finish(parts, &[], now);
        let [seen, seen_again] = [&results, &replayed].map(rows);
        let frames = recording.0.len();
        assert!(
            frames > 1_000 && seen[0].len() > frames,
            "{name}: the switches have done something"
        );
        assert!(seen == seen_again, "{name}: switches decide the same");
        let summary = &results.summary;
        let pauses = summary.queue_pauses + summary.pfc_pauses + summary.timed_pauses;
        println!("  {name}: {frames} frames of Linux, {pauses} pauses, {} drops", summary.drops);
        entered += frames;
    }
    entered
}

/// One incast under each of the four papers' schemes and PFC.
pub fn of_kernels() {
    decided_twice(&["bfc", "afq", "pfc", "pcn", "fafc"], 1);
}

/// A million frames of Linux: `PENSTOCK_NAMESPACE_CASE=a_million_frames_of_kernels`, minutes.
pub fn of_a_million() {
    let frames = decided_twice(&["bfc", "afq", "pfc", "pcn", "fafc"], 32);
    assert!(frames >= 1_000_000, "{frames} frames");
}
