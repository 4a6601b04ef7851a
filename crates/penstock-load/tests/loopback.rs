//! Hosts on addresses of the loopback device. No test has an upper bound of a time.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;

use penstock_load::header::Header;
use penstock_load::{
    FlowEnd, HostReport, HostSetup, LoadError, LoadFlow, LoadHost, LoadRecord, LoadRun, Origin,
    Protocol, RunOptions, available_congestion_controls, check_congestion, join,
};
use penstock_units::{BitRate, Bytes, Time};

const TCP: Protocol = Protocol::Tcp { congestion: None };

/// An address of 127.0.0.0/8 that no other test uses at the same time.
fn address() -> SocketAddr {
    static COUNT: AtomicU16 = AtomicU16::new(1);
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    let count = COUNT.fetch_add(1, Ordering::Relaxed) as u8;
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, high, low, count)), 7_117)
}

fn flow(number: u64, destination: SocketAddr, size: Option<u64>) -> LoadFlow {
    LoadFlow {
        number,
        destination,
        start: Time::ZERO,
        stop: Time::NEVER,
        size: size.map(Bytes::new),
        class: 0,
        protocol: TCP,
    }
}

fn client(flows: Vec<LoadFlow>) -> HostSetup {
    HostSetup { flows, ..HostSetup::default() }
}

fn server(address: SocketAddr, expected: impl IntoIterator<Item = u64>) -> HostSetup {
    HostSetup {
        listen: Some(address),
        expected: expected.into_iter().collect(),
        ..HostSetup::default()
    }
}

/// Runs the hosts, each on a thread, and `beside` on this one while they run.
fn run_beside(
    options: RunOptions,
    hosts: Vec<HostSetup>,
    beside: impl FnOnce(&LoadRun),
) -> Vec<HostReport> {
    let run = LoadRun::new(hosts.len(), options).unwrap();
    let hosts: Vec<LoadHost> =
        hosts.into_iter().map(|setup| LoadHost::new(Arc::clone(&run), setup).unwrap()).collect();
    let origin = Origin::after(Time::from_ms(1));
    thread::scope(|scope| {
        let threads: Vec<_> =
            hosts.into_iter().map(|host| scope.spawn(move || host.run(origin).unwrap())).collect();
        beside(&run);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn run(options: RunOptions, hosts: Vec<HostSetup>) -> Vec<LoadRecord> {
    join(run_beside(options, hosts, |_| {}))
}

#[test]
fn a_thousand_short_flows_between_two_servers_all_complete() {
    let (one, other) = (address(), address());
    let size = |number: u64| number * number % 40_000;
    let flows = |from: u64, to| {
        let flow_of = |number| LoadFlow {
            start: Time::from_us(50 * number),
            class: (number % 3) as u8,
            ..flow(number, to, Some(size(number)))
        };
        (from..1_000).step_by(2).map(flow_of).collect()
    };
    let odd = (1..1_000).step_by(2);
    let even = (0..1_000).step_by(2);
    let hosts = vec![
        HostSetup { flows: flows(0, other), ..server(one, odd) },
        HostSetup { flows: flows(1, one), ..server(other, even) },
    ];
    let records = run(RunOptions::default(), hosts);
    assert!(records.iter().map(|record| record.number).eq(0..1_000));
    for record in records {
        let all = Bytes::new(size(record.number));
        assert_eq!((record.end, record.delivered, record.sent), (FlowEnd::Completed, all, all));
        let (setup, completion) = (record.setup_time.unwrap(), record.completion_time.unwrap());
        assert!(setup <= completion, "{record:?}");
        assert!(record.started.unwrap() >= record.due);
        assert!(record.first.unwrap() <= record.last.unwrap());
        let tcp = record.tcp.unwrap();
        // The kernel cuts the smoothed round-trip time off to whole microseconds (tcp_get_info).
        let above_last = tcp.last_rtt.map(|last| last + Time::from_us(1));
        assert!(tcp.least_rtt.is_some() && tcp.least_rtt <= above_last, "{tcp:?}");
    }
}

#[test]
fn a_paced_flow_takes_at_least_its_size_over_its_rate() {
    let to = address();
    let (rate, payload) = (BitRate::from_mbps(8), Bytes::new(1_000));
    let udp = Protocol::Udp { rate, payload };
    let sizes = [1, 1_000, 20_500];
    let flows = (0..)
        .zip(sizes)
        .map(|(n, size)| LoadFlow { protocol: udp.clone(), ..flow(n, to, Some(size)) });
    let records = run(RunOptions::default(), vec![client(flows.collect()), server(to, 0..3)]);
    for (record, size) in records.iter().zip(sizes) {
        let facts = record.datagrams.unwrap();
        assert_eq!(facts.scheduled, size.div_ceil(1_000));
        assert_eq!((record.setup_time, record.tcp), (None, None));
        let Some(completion) = record.completion_time else {
            assert!(
                facts.unsent > 0,
                "only a thread that stood still for 100 ms leaves datagrams out"
            );
            continue;
        };
        assert_eq!((record.end, record.delivered), (FlowEnd::Completed, Bytes::new(size)));
        // The last datagram is due when all before it have been paid for. The schedule counts from when the
        // flow is due, the completion time from when it starts.
        let paid_for = (size - 1) / 1_000 * 1_000;
        let least = rate.transmission_time(Bytes::new(paid_for));
        let since_due = completion + record.lateness().unwrap();
        assert!(since_due >= least, "{since_due} < {least}");
    }
}

#[test]
fn a_constant_rate_gives_rate_times_time_datagrams() {
    let to = address();
    let protocol = Protocol::Udp { rate: BitRate::from_mbps(16), payload: Bytes::new(500) };
    let stop = Time::from_us(60_100);
    let endless = LoadFlow { protocol, stop, ..flow(4, to, None) };
    let drain = Time::from_ms(50);
    let options = RunOptions { drain, ..RunOptions::default() };
    let records = run(options, vec![client(vec![endless]), server(to, [4])]);
    let record = &records[0];
    // 16 Mb/s are 4,000 datagrams of 500 B in a second; one is due every 250 us, the first at once.
    let facts = record.datagrams.unwrap();
    assert_eq!(facts.scheduled, 241);
    assert_eq!(record.sent, Bytes::new(500 * (facts.scheduled - facts.unsent)));
    assert!(record.delivered <= record.sent);
    assert_eq!(record.end, FlowEnd::Stopped);
}

#[test]
fn an_endless_flow_stops_at_its_stop_and_leaves_samples() {
    let to = address();
    let stop = Time::from_ms(60);
    let endless = LoadFlow { stop, ..flow(1, to, None) };
    let options = RunOptions {
        end: Time::from_ms(60_000),
        sample_interval: Some(Time::from_ms(10)),
        ..RunOptions::default()
    };
    let records = run(options, vec![client(vec![endless]), server(to, [1])]);
    let record = &records[0];
    assert_eq!(record.end, FlowEnd::Stopped);
    // What the kernel had taken at the stop is delivered before the connection ends.
    assert_eq!(record.delivered, record.sent);
    assert_eq!(record.completion_time, None);
    let Some(samples) = &record.samples else {
        assert_eq!(
            record.sent,
            Bytes::ZERO,
            "only a thread that stood still until the stop sends nothing"
        );
        return;
    };
    let delivered = samples.delivered();
    assert!(delivered.is_sorted());
    assert!(delivered.len() >= 6, "the run lasted until the stop");
    assert!(samples.by(delivered.len() + 1) <= record.delivered);
}

#[test]
fn a_port_without_a_server_refuses() {
    let (dead, live) = (address(), address());
    let flows = vec![flow(1, dead, Some(10)), flow(2, live, Some(10))];
    let records = run(RunOptions::default(), vec![client(flows), server(live, [2])]);
    assert_eq!(records[0].end, FlowEnd::Refused);
    assert_eq!((records[0].setup_time, records[0].delivered), (None, Bytes::ZERO));
    assert_eq!(records[1].end, FlowEnd::Completed);
}

#[test]
fn congestion_controls_are_set_or_refused_by_name() {
    let to = address();
    let with = |name: &str| {
        let protocol = Protocol::Tcp { congestion: Some(name.to_owned()) };
        LoadFlow { protocol, ..flow(1, to, Some(10_000)) }
    };
    let available = available_congestion_controls().unwrap();
    let error = check_congestion(&[with("nonesuch")]).unwrap_err();
    let LoadError::UnknownCongestion { name, available: listed } = &error else {
        panic!("{error}")
    };
    assert_eq!((name.as_str(), listed), ("nonesuch", &available));
    assert!(error.to_string().contains(&available.join(", ")), "{error}");
    let run_of_two = LoadRun::new(2, RunOptions::default()).unwrap();
    assert!(LoadHost::new(run_of_two, client(vec![with("nonesuch")])).is_err());

    // Linux has Reno always, and lets everybody use it.
    let records = run(RunOptions::default(), vec![client(vec![with("reno")]), server(to, [1])]);
    assert_eq!(records[0].end, FlowEnd::Completed);
}

#[test]
fn strangers_are_counted_and_harm_nobody() {
    let to = address();
    let header = |number, size| Header { number, size, class: 0 }.encode();
    let beside = |_: &LoadRun| {
        let garbage = [7; 100];
        for _ in 0..20 {
            let mut stream = TcpStream::connect(to).unwrap();
            stream.write_all(&garbage).unwrap();
            // The server closes at once, or resets because it has not read all.
            assert!(matches!(stream.read(&mut [0; 9]), Ok(0) | Err(_)));
        }
        let mut cut_off = TcpStream::connect(to).unwrap();
        cut_off.write_all(&garbage[..5]).unwrap();
        cut_off.shutdown(Shutdown::Write).unwrap();
        assert!(matches!(cut_off.read(&mut [0; 9]), Ok(0) | Err(_)));
        let unknown = header(99, None);
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(&unknown).unwrap();
        assert!(matches!(stream.read(&mut [0; 9]), Ok(0) | Err(_)));
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        for datagram in [&garbage[..], &garbage[..3], &[], &unknown] {
            datagrams.send_to(datagram, to).unwrap();
        }
        // Without this flow, which is written by hand, the server would wait for an hour.
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(&header(2, Some(Bytes::new(3)))).unwrap();
        stream.write_all(b"abc").unwrap();
        assert_eq!(stream.read(&mut [0; 9]).unwrap(), 0);
    };
    let hosts = vec![client(vec![flow(1, to, Some(5_000))]), server(to, [1, 2])];
    let options = RunOptions { drain: Time::from_ms(3_600_000), ..RunOptions::default() };
    let reports = run_beside(options, hosts, beside);
    assert!(reports[1].received.iter().all(|flow| flow.is_complete));
    let faults = reports[1].faults;
    assert_eq!((faults.damaged, faults.unknown), (21 + 3, 2));
    assert_eq!(join(reports)[0].end, FlowEnd::Completed);
}

#[test]
fn a_server_of_another_kind_ends_a_flow_as_reset() {
    let listeners: [TcpListener; 2] = [(); 2].map(|()| TcpListener::bind(address()).unwrap());
    let to = |index: usize| listeners[index].local_addr().unwrap();
    let flows = vec![flow(1, to(0), None), flow(2, to(1), None)];
    let beside = |_: &LoadRun| {
        // One closes at once, one talks back.
        drop(listeners[0].accept().unwrap());
        let (mut stream, _) = listeners[1].accept().unwrap();
        stream.read_exact(&mut [0; 32]).unwrap();
        stream.write_all(b"hello").unwrap();
    };
    let records = join(run_beside(RunOptions::default(), vec![client(flows)], beside));
    assert!(records.iter().all(|record| record.end == FlowEnd::Reset), "{records:?}");
}

#[test]
fn the_stop_flag_ends_flows_that_nobody_reads() {
    // Connections wait in the backlog of a server that never accepts.
    let deaf = TcpListener::bind(address()).unwrap();
    let never =
        LoadFlow { start: Time::from_ms(1 << 30), ..flow(2, deaf.local_addr().unwrap(), Some(1)) };
    let flows = vec![flow(1, deaf.local_addr().unwrap(), Some(1 << 40)), never];
    let to = address();
    let hosts = vec![client(flows), server(to, [5])];
    let records = join(run_beside(RunOptions::default(), hosts, |run| {
        let (mut stream, _) = deaf.accept().unwrap();
        stream.read_exact(&mut [0; 32]).unwrap();
        run.stop();
        run.stop();
    }));
    assert_eq!(records[0].end, FlowEnd::Unfinished);
    assert!(records[0].sent > Bytes::ZERO);
    assert_eq!((records[1].end, records[1].started), (FlowEnd::Unfinished, None));
}

#[test]
fn flows_that_are_open_at_the_end_are_unfinished_not_reset() {
    let to = address();
    let flows = (0..20).map(|number| flow(number, to, None)).collect();
    let options = RunOptions { end: Time::from_ms(40), ..RunOptions::default() };
    let records = run(options, vec![client(flows), server(to, 0..20)]);
    assert!(records.iter().all(|record| record.end == FlowEnd::Unfinished), "{records:?}");
    assert!(records.iter().all(|record| record.delivered <= record.sent));
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let options = |end, interval| RunOptions {
        end,
        sample_interval: Some(interval),
        ..RunOptions::default()
    };
    assert!(LoadRun::new(1, options(Time::NEVER, Time::from_ms(1))).is_err());
    assert!(LoadRun::new(1, options(Time::from_ms(1), Time::ZERO)).is_err());
    assert!(LoadRun::new(1, options(Time::from_ms(1), Time::from_us(1))).is_ok());
}
