//! Sends 200 flows of mixed sizes between two hosts over loopback and prints a record of each.
//!
//! `cargo run --release -p penstock-load --example loopback [SEED]`

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use penstock_load::flow::ETHERNET_UDP_PAYLOAD;
use penstock_load::{
    HostReport, HostSetup, LoadError, LoadFlow, LoadHost, LoadRecord, LoadRun, Origin, Protocol,
    RunOptions, check_congestion, descriptors_at_most, join, raise_descriptor_limit,
};
use penstock_units::{BitRate, Bytes, Time};

const FLOWS: u64 = 200;

/// Every tenth flow is a sender at this rate.
const RATE: BitRate = BitRate::from_mbps(100);

/// A flow starts every 2 ms.
const GAP: Time = Time::from_ms(2);

/// Sizes from 1 kB to 3 MB, small ones more often: powers of ten, and a third of the flows between them.
fn size(number: u64, seed: u64) -> Bytes {
    let mixed = (number + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let decade = [1_000, 1_000, 10_000, 10_000, 100_000, 1_000_000][(mixed % 6) as usize];
    Bytes::new(decade * (1 + mixed / 6 % 3))
}

fn flow(number: u64, seed: u64, servers: [SocketAddr; 2]) -> LoadFlow {
    let protocol = match number % 10 {
        9 => Protocol::Udp { rate: RATE, payload: ETHERNET_UDP_PAYLOAD },
        _ => Protocol::Tcp { congestion: None },
    };
    LoadFlow {
        number,
        destination: servers[(1 - number % 2) as usize],
        start: GAP * number,
        stop: Time::NEVER,
        size: Some(size(number, seed)),
        class: 0,
        protocol,
    }
}

fn microseconds(time: Option<Time>) -> String {
    time.map_or("-".to_owned(), |time| format!("{:.1}", time.as_ns_f64() / 1e3))
}

fn print(records: &[LoadRecord]) {
    println!(
        "{:>6} {:>9} {:>9} {:>11} {:>8} {:>8} {:>10} {:>7} {:>8}  end",
        "flow",
        "sent [B]",
        "delivered",
        "due [us]",
        "late",
        "set-up",
        "completion",
        "resent",
        "min RTT"
    );
    for record in records {
        println!(
            "{:>6} {:>9} {:>9} {:>11} {:>8} {:>8} {:>10} {:>7} {:>8}  {}",
            record.number,
            record.sent.get(),
            record.delivered.get(),
            microseconds(Some(record.due)),
            microseconds(record.lateness()),
            microseconds(record.setup_time),
            microseconds(record.completion_time),
            record.tcp.map_or("-".to_owned(), |tcp| tcp.retransmissions.to_string()),
            microseconds(record.tcp.and_then(|tcp| tcp.least_rtt)),
            record.end,
        );
    }
}

/// Median, 99th percentile and maximum of `times`.
fn spread(mut times: Vec<Time>) -> String {
    times.sort_unstable();
    let at = |percent: usize| {
        microseconds(times.get((times.len() * percent / 100).min(times.len() - 1)).copied())
    };
    if times.is_empty() { "-".to_owned() } else { format!("{} / {} / {}", at(50), at(99), at(100)) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?;
    let servers =
        [SocketAddr::from(([127, 0, 1, 1], 7_117)), SocketAddr::from(([127, 0, 1, 2], 7_117))];
    let flows: Vec<LoadFlow> = (0..FLOWS).map(|number| flow(number, seed, servers)).collect();
    raise_descriptor_limit(descriptors_at_most(servers.len(), &flows))?;
    check_congestion(&flows)?;

    let run = LoadRun::new(
        servers.len(),
        RunOptions { end: Time::from_ms(60_000), ..RunOptions::default() },
    )?;
    let mut hosts = Vec::new();
    for (index, address) in servers.into_iter().enumerate() {
        let is_own = |flow: &&LoadFlow| flow.number % 2 == index as u64;
        let comes_here = |flow: &&LoadFlow| flow.destination == address;
        let setup = HostSetup {
            listen: Some(address),
            expected: flows.iter().filter(comes_here).map(|flow| flow.number).collect(),
            flows: flows.iter().filter(is_own).cloned().collect(),
        };
        hosts.push(LoadHost::new(Arc::clone(&run), setup)?);
    }
    let origin = Origin::after(Time::from_ms(10));
    let threads: Vec<_> =
        hosts.into_iter().map(|host| thread::spawn(move || host.run(origin))).collect();
    let reports: Result<Vec<HostReport>, LoadError> =
        threads.into_iter().map(|thread| thread.join().expect("a host never panics")).collect();
    let records = join(reports?);

    print(&records);
    let lateness = records.iter().filter_map(LoadRecord::lateness).collect();
    println!("starts late by (median / 99 % / most) [us]: {}", spread(lateness));
    let facts = records.iter().filter_map(|record| record.datagrams);
    let datagrams: u64 = facts.clone().map(|facts| facts.scheduled).sum();
    println!(
        "{datagrams} datagrams; each flow's latest was late by: {}",
        spread(facts.map(|f| f.most_late).collect())
    );
    Ok(())
}
