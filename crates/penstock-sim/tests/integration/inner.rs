//! Links inside servers: the times of transfers by closed forms, events for flows that wait, conservation,
//! any number of threads, checkpoints, refusals.

use penstock_packet::Unobserved;
use penstock_sim::network::Network;
use penstock_sim::simulation::Simulation;
use penstock_sim::{Results, forecast, validate};
use serde_json::{Value, json};

use crate::checkpoint;
use crate::dependent::{after, collective, exact, on_off, rpc, spans};
use crate::fixture::{
    MS, US, bfc, column, dctcp, expresspass, hpcc, incast, listed, name, open_loop, parse, pfc,
    rail, run, run_to_the_end, scenario, with,
};
use crate::threads;

/// The time of `bytes` at 3.6 Tb/s, rounded up (ps).
fn sent_after(bytes: u64) -> u64 {
    (8 * bytes * 10).div_ceil(36)
}

/// Traffic between two servers of four hosts.
fn servers(traffic: &[Value], duration: u64) -> Value {
    scenario(rail(2, 4, 3_600), pfc(), traffic, duration)
}

#[test]
fn transfers_of_a_host_follow_each_other_and_those_of_others_do_not() {
    let flows =
        [(0, 1, 1_000_000, 0), (0, 2, 500_000, US), (3, 1, 1_000_000, US), (0, 3, 7, 40 * US)];
    let results = run_to_the_end(&servers(&[listed(&flows)], MS));
    let spans = spans(&results);
    let (long, short) = (sent_after(1_000_000), sent_after(500_000));
    assert_eq!(spans[0], (0, long + 2 * US), "its bytes, there and back");
    assert_eq!(spans[1], (US, long + short + 2 * US), "behind the first one");
    assert_eq!(spans[2], (US, US + long + 2 * US));
    assert_eq!(spans[3], (40 * US, 40 * US + sent_after(7) + 2 * US), "the link is free again");
    let flow = column(&results, "flows", "flow");
    for (row, slowdown) in column(&results, "flows", "slowdown").into_iter().enumerate() {
        assert!(if flow[row] == 1.0 { slowdown > 1.0 } else { slowdown == 1.0 }, "{row}");
    }
    assert_eq!(results.summary.packet_hops, 0, "nothing entered the network");
    assert_eq!(results.summary.delivered_bytes, 2_500_007);
    assert_eq!(results.summary.inner_bytes, Some(2_500_007));
}

#[test]
fn a_flow_between_servers_does_not_notice() {
    // On one rail, and between two.
    let between = [(0, 4, 300_000, 0), (1, 6, 300_000, 0)];
    let inside = [(0, 1, 9_000_000, 0), (1, 0, 9_000_000, 0), (4, 6, 9_000_000, 0)];
    let alone = spans(&run_to_the_end(&servers(&[listed(&between)], MS)));
    let beside = run_to_the_end(&servers(&[listed(&[&between[..], &inside].concat())], MS));
    assert_eq!(spans(&beside)[..2], alone);
    assert_eq!(beside.summary.inner_bytes, Some(27_000_000));
    let off = run_to_the_end(&scenario(rail(2, 4, 0), pfc(), &[listed(&between)], MS));
    assert_eq!(spans(&off), alone);
    assert_eq!(off.summary.inner_bytes, None);
}

#[test]
fn events_of_a_transfer_are_known_where_they_happen() {
    let flows = [
        (0, 1, 1_000_000, 0),
        (1, 2, 9, 0),
        (0, 3, 9, 0),
        (4, 5, 9, 0),
        (2, 3, 9, 0),
        (0, 4, 9, 0),
    ];
    let edges = [
        (1, 0, "natural"),
        (2, 0, "natural"),
        (3, 0, "received"),
        (4, 0, "acknowledged"),
        (5, 0, "started"),
    ];
    let case = servers(&[after(&flows, &edges)], MS);
    let spans = spans(&run_to_the_end(&case));
    let received = sent_after(1_000_000) + US;
    assert_eq!(spans[1].0, received, "at the destination");
    assert_eq!(spans[2].0, received + US, "at the source, a delay later");
    assert_eq!(spans[3].0, received + US, "elsewhere, a window later");
    assert_eq!(spans[4].0, received + 2 * US);
    assert_eq!(spans[5].0, 0);
    assert_eq!(threads::difference(&parse(&case), &[2, 3]), None);
}

/// The time of the only iteration of a job (ps).
fn job_time(results: &Results) -> u64 {
    exact(results, "jobs", "time_ps")[0]
}

#[test]
fn a_ring_inside_a_server_takes_the_time_of_its_closed_form() {
    let (n, bytes) = (8, 8_000_000);
    let ring =
        with(collective("ring-all-reduce", bytes, 1), "/ranks", json!((0..n).collect::<Vec<_>>()));
    let case = scenario(rail(2, 8, 3_600), pfc(), &[ring], MS);
    let results = run_to_the_end(&case);
    assert_eq!(job_time(&results), 2 * (n - 1) * (sent_after(bytes / n) + US));
    assert_eq!(results.summary.inner_bytes, Some(2 * (n - 1) * bytes));
    // A delay of its own, and all messages of a rank at once, which follow each other.
    let all = with(collective("all-to-all", bytes, 1), "/peers", n - 1);
    let case = with(with(case, "/traffic", json!([all])), "/topology/inner_delay", 3 * US);
    let case = with(case, "/topology/servers", 1);
    let results = run_to_the_end(&with(case, "/topology/servers_per_group", 1));
    assert_eq!(job_time(&results), (n - 1) * sent_after(bytes / n) + 3 * US);
}

#[test]
fn a_ring_over_servers_is_as_fast_as_its_links_between_servers() {
    let (n, bytes) = (4u64, 16_000_000u64);
    // Inside a server, along rail 1, inside the other server, along rail 0.
    let ring = with(collective("ring-all-reduce", bytes, 1), "/ranks", json!([0, 1, 3, 2]));
    let case = |inner| scenario(rail(2, 2, inner), pfc(), std::slice::from_ref(&ring), 5 * MS);
    let results = run_to_the_end(&case(3_600));
    // A link along a rail carries a part of every step, 1,048 B on the wire for 1,000 B. The part that comes
    // from inside the server follows the host's own one, so that the link is never idle for long.
    let part = bytes / n;
    let sent = 80 * 1_048 * part / 1_000;
    let latency = 2 * US + 80 * 1_048;
    let least = 2 * (n - 1) * sent + latency;
    let found = job_time(&results);
    assert!((least..least + least / 100).contains(&found), "{found} {least}");
    assert_eq!(results.summary.inner_bytes, Some(2 * (n - 1) * part * 2), "two of four links");
    assert!(job_time(&run_to_the_end(&case(0))) > found);
}

/// Traffic of every kind on four servers of four hosts.
fn every_kind(scheme: Value) -> Value {
    let flows: Vec<(u32, u32, u64, u64)> =
        (0..32).map(|row| (row % 16, (row + 1 + row / 16) % 16, 9_000, 0)).collect();
    let edges: Vec<(u32, u32, &str)> = (8..32u32)
        .flat_map(|row| [(row, row - 8, "natural"), (row, row - 5, "received")])
        .collect();
    let background = open_loop(json!({"kind": "exponential", "mean": 20_000}), 0.2, 150 * US);
    let traffic = [
        after(&flows, &edges),
        collective("ring-all-reduce", 160_000, 2),
        with(collective("tree-all-reduce", 40_000, 2), "/chunks", 4),
        with(collective("all-to-all", 80_000, 2), "/peers", 3),
        rpc(2, 3, 150 * US),
        on_off(150 * US),
        background,
        with(incast(6, 5_000, None), "/period", 40 * US),
    ];
    scenario(rail(4, 4, 400), scheme, &traffic, 200 * US)
}

#[test]
fn transfers_are_the_same_on_any_number_of_threads() {
    for scheme in [bfc(), hpcc(), dctcp(), expresspass(1_048)] {
        let name = name(&scheme).to_owned();
        let case = parse(&threads::measured(every_kind(scheme)));
        assert_eq!(threads::difference(&case, &[2, 3, 4]), None, "{name}");
    }
}

#[test]
fn a_run_with_transfers_goes_on_where_it_was_saved() {
    for (scheme, share) in [(bfc(), 0.35), (pfc(), 0.7)] {
        let case = parse(&threads::measured(every_kind(scheme)));
        assert_eq!(checkpoint::difference(&case, &[1, 3], share), None, "{share}");
    }
}

#[test]
fn payload_is_counted_once_at_any_time() {
    // At 20 Gb/s transfers are on their way most of the time.
    let case = parse(&with(every_kind(bfc()), "/topology/inner_rate", 20_000_000_000u64));
    for partitions in [1, 3] {
        let network = Network::build(&case).unwrap();
        let mut simulation =
            Simulation::partitioned(&case, network, partitions, || Unobserved).unwrap();
        while simulation.advance(997).unwrap() {
            simulation.verify().unwrap();
        }
        assert!(simulation.finish(false).summary.inner_bytes > Some(1_000_000));
    }
}

#[test]
fn a_transfer_that_does_not_end_is_named() {
    let slow = scenario(rail(2, 2, 1), pfc(), &[listed(&[(2, 3, 10_000_000, 0)])], 300 * US);
    let summary = run(&with(slow.clone(), "/drain", 0)).summary;
    assert_eq!((summary.flows_started, summary.flows_finished), (1, 0));
    assert_eq!((summary.unfinished[0].src, summary.unfinished[0].delivered_bytes), (2, 0));
    assert!(summary.unfinished[0].waits_for.contains("inside its server"));
    assert_eq!(summary.backlog.flows.last(), Some(&1));
    assert_eq!(summary.backlog.bytes.last(), Some(&10_000_000));
    // 80 ms at 1 Gb/s, and a microsecond: the last byte has come, and its source does not know.
    let summary = run(&with(slow, "/drain", 79_701 * US)).summary;
    assert_eq!((summary.flows_finished, summary.unfinished[0].delivered_bytes), (0, 10_000_000));
    assert_eq!(summary.inner_bytes, Some(10_000_000));
    // A flow that waits for it is named with it.
    let flows = [(2, 3, 10_000_000, 0), (3, 2, 1, 0)];
    let waits = after(&flows, &[(1, 0, "natural")]);
    let case = scenario(rail(2, 2, 1), pfc(), &[waits], 300 * US);
    let applications = run(&with(case, "/drain", 0)).summary.applications.unwrap();
    assert_eq!(applications.waiting[0].waits_for, "flow 0 to be received");
}

#[test]
fn a_transfer_beyond_the_range_of_times_never_ends() {
    let flows = [(0, 1, 1 << 61, 0), (0, 2, 1, 0), (2, 3, 1, 0)];
    let case = servers(&[listed(&flows)], 50 * US);
    let case = with(with(case, "/topology/inner_rate", 1), "/drain", MS);
    assert_eq!(run(&case).summary.flows_finished, 0, "8 bits at a bit a second");
    let case = with(case, "/topology/inner_rate", 1_000_000_000u64);
    assert_eq!(run(&case).summary.flows_finished, 1);
}

#[test]
fn load_is_what_the_network_carries() {
    let duration = 2 * MS;
    let sizes = json!({"kind": "fixed", "size": 10_000});
    let background = |load| with(open_loop(sizes.clone(), load, duration), "/load_on/kind", "edge");
    let case = servers(&[background(0.4)], duration);
    let summary = run_to_the_end(&case).summary;
    let inside = summary.inner_bytes.unwrap();
    // Eight NICs of 100 Gb/s; 3 of 7 others are in the server, so a flow of four crosses for three inside.
    let carried = 8.0 * (summary.delivered_bytes - inside) as f64 / 2e-3 / 800e9;
    assert!((carried / 0.4 - 1.0).abs() < 0.05, "{carried}");
    let share = inside as f64 / summary.delivered_bytes as f64;
    assert!((share - 3.0 / 7.0).abs() < 0.02, "{share}");
    let expected = forecast(&parse(&case)).unwrap();
    assert!((expected.flows / summary.flows_started as f64 - 1.0).abs() < 0.05);
    let packets = (summary.delivered_bytes - inside) as f64 / 1_000.0;
    assert!((expected.data_packets / packets - 1.0).abs() < 0.05);
    let slow = with(case, "/topology/inner_rate", 20_000_000_000u64);
    let found = validate(&parse(&slow)).unwrap_err().to_string();
    assert!(found.contains("to its server (inside servers) with 1.500 of its rate"), "{found}");
}

#[test]
fn a_collective_inside_a_server_is_no_work_for_the_network() {
    let ring = with(collective("ring-all-reduce", 800_000, 5), "/ranks", json!([0, 1, 2, 3]));
    let expected = forecast(&parse(&servers(&[ring], MS))).unwrap();
    assert_eq!((expected.flows, expected.data_packets), (5.0 * 6.0 * 4.0, 0.0));
}

#[test]
fn what_cannot_be_inside_a_server_is_refused() {
    let refusal = |case: &Value| validate(&parse(case)).unwrap_err().to_string();
    let good = listed(&[(0, 4, 9, 0), (0, 1, 9, 0)]);
    let stops = with(good.clone(), "/lasts", json!([US, US]));
    let bursts = with(incast(3, 1_000, Some(0)), "/lasts", 2 * US);
    let away = with(bursts.clone(), "/senders", json!([4, 5, 6]));
    validate(&parse(&servers(&[away], MS))).unwrap();
    let cases = [
        (
            servers(&[listed(&[(0, 4, 0, 0), (0, 1, 0, 0)])], MS),
            "traffic[0].flows[1][1] is 1; flows inside a server",
        ),
        (servers(&[stops], MS), "traffic[0].lasts[1] is 1 us; flows inside a server"),
        (servers(&[bursts], MS), "traffic[0].lasts is 2 us; flows inside a server"),
        (
            with(servers(std::slice::from_ref(&good), MS), "/topology/inner_delay", 999_999),
            "topology.inner_delay is 999.999 ns; a link between switches takes 1 us",
        ),
        (
            with(servers(std::slice::from_ref(&good), MS), "/fidelity", "ns3-hpcc"),
            "topology.inner_rate is 3.6 Tb/s; the simulator of fidelity ns3-hpcc has no links inside",
        ),
    ];
    for (case, expected) in cases {
        let found = refusal(&case);
        assert!(found.contains(expected), "{found} does not say {expected}");
        let off = refusal_without(&case);
        assert!(!off.contains("server"), "{off}");
    }
}

/// What is refused of `case` without links inside servers.
fn refusal_without(case: &Value) -> String {
    let off = with(case.clone(), "/topology/inner_rate", 0);
    validate(&parse(&off)).err().map(|error| error.to_string()).unwrap_or_default()
}
