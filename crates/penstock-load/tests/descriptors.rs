//! A process that runs out of descriptors. In a process of its own, because the limit is the process's.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use penstock_load::{
    FlowEnd, HostSetup, LoadFlow, LoadHost, LoadRun, Origin, Protocol, RunOptions,
    descriptors_at_most, join, raise_descriptor_limit,
};
use penstock_units::{Bytes, Time};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn flows_without_a_descriptor_fail_and_the_others_go_on() {
    let to: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(80), ..limit }).unwrap();

    let options = RunOptions { end: Time::from_ms(400), ..RunOptions::default() };
    let run = LoadRun::new(2, options).unwrap();
    let listen = HostSetup { listen: Some(to), expected: (0..300).collect(), flows: vec![] };
    let server = LoadHost::new(Arc::clone(&run), listen).unwrap();
    let flow = |number| LoadFlow {
        number,
        destination: server.address().unwrap(),
        start: Time::ZERO,
        stop: Time::NEVER,
        size: Some(Bytes::new(100_000)),
        class: 0,
        protocol: Protocol::Tcp { congestion: None },
    };
    let flows: Vec<LoadFlow> = (0..300).map(flow).collect();
    let needed = descriptors_at_most(2, &flows);
    assert!(needed > 600);
    let client = LoadHost::new(run, HostSetup { flows, ..HostSetup::default() }).unwrap();
    let origin = Origin::now();
    let server = thread::spawn(move || server.run(origin).unwrap());
    let reports = vec![client.run(origin).unwrap(), server.join().unwrap()];
    let shortages = reports[1].faults.out_of_descriptors;
    let records = join(reports);
    let failed =
        records.iter().filter(|record| matches!(record.end, FlowEnd::Failed { .. })).count();
    assert!(
        failed > 0 || shortages > 0,
        "80 descriptors are not enough for 300 connections at a time"
    );
    for record in &records {
        let is_known = matches!(
            record.end,
            FlowEnd::Completed | FlowEnd::Unfinished | FlowEnd::Failed { errno: libc::EMFILE }
        );
        assert!(is_known, "{record:?}");
    }
    raise_descriptor_limit(needed).unwrap();
    assert!(getrlimit(Resource::Nofile).current.is_none_or(|limit| limit >= needed));
}
