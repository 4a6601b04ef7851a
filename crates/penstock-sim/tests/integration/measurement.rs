//! The tables of a run agree with each other and with what the scenario implies.

use penstock_sim::{Progress, Results, RunOptions, forecast, validate};
use penstock_units::Time;
use serde_json::{Value, json};

use crate::dependent::collective;
use crate::fixture::{
    GBPS, US, bfc, column, dctcp, dumbbell, hpcc, ideal_fq, incast, leaf_spine, listed, open_loop,
    parse, pfc, run, run_to_the_end, scenario, single_switch, with,
};

/// A loaded network with two racks of four hosts. Hosts are nodes 0 to 7, ToRs 8 and 9, spines 10
/// and 11.
fn busy(scheme: Value) -> Value {
    let sizes = json!({"kind": "pareto", "shape": 1.3, "mean": 20_000});
    let traffic = [open_loop(sizes, 0.6, 200 * US), incast(7, 400_000, Some(0))];
    scenario(leaf_spine(2, 4, 2), scheme, &traffic, 200 * US)
}

fn event(results: &Results, name: &str) -> f64 {
    results.summary.event_names.iter().position(|other| *other == name).unwrap() as f64
}

#[test]
fn every_payload_byte_is_on_each_link_of_its_path_once() {
    for scheme in [bfc(), dctcp(), hpcc(), ideal_fq()] {
        let results = run_to_the_end(&busy(scheme));
        assert_eq!(results.summary.drops + results.summary.retransmitted_packets, 0);
        let read = |name| column(&results, "flows", name);
        let rack = |host: f64| (host / 4.0).floor();
        let hops =
            |row: usize| if rack(read("src")[row]) == rack(read("dst")[row]) { 2.0 } else { 4.0 };
        let (sizes, links) = (read("size_bytes"), column(&results, "links", "data_bytes"));
        let expected: f64 = (0..sizes.len()).map(|row| sizes[row] * hops(row)).sum();
        assert_eq!(links.iter().sum::<f64>(), expected);
        assert_eq!(sizes.iter().sum::<f64>(), results.summary.delivered_bytes as f64);
        let hops: f64 = column(&results, "links", "tx_packets").iter().sum();
        assert_eq!(hops, results.summary.packet_hops as f64);
    }
}

#[test]
fn no_flow_beats_its_ideal_time_and_no_link_its_rate() {
    for scheme in [bfc(), dctcp(), pfc(), ideal_fq()] {
        let results = run_to_the_end(&busy(scheme));
        let slowdown = column(&results, "flows", "slowdown");
        assert!(slowdown.iter().all(|&slowdown| slowdown >= 1.0));
        let end_ns = results.summary.sim_end_ps as f64 / 1e3;
        let busy = column(&results, "links", "busy_ns");
        assert!(busy.iter().all(|&busy| busy <= end_ns + 200.0), "a frame may be on the wire");
    }
}

/// Little's law: the mean number of open flows is the sum of their times over the traffic's.
#[test]
fn open_flows_are_foreseen() {
    let duration = 1_000 * US;
    let case = |duration| {
        let background = open_loop(json!({"kind": "fixed", "size": 1_000}), 0.1, duration);
        scenario(leaf_spine(2, 4, 2), dctcp(), &[background], duration)
    };
    for pipeline_delay in [0, US] {
        let case = with(case(duration), "/topology/pipeline_delay", pipeline_delay);
        let completion = column(&run_to_the_end(&case), "flows", "fct_ns");
        let measured = completion.iter().sum::<f64>() / (duration as f64 / 1e3);
        let foreseen = forecast(&parse(&case)).unwrap().open_flows;
        assert!((foreseen / measured - 1.0).abs() < 0.1, "{foreseen}, not {measured}");
    }
    // All flows of a time shorter than a round trip are open at its end.
    let short = forecast(&parse(&case(US))).unwrap();
    assert_eq!(short.open_flows, short.flows);
}

/// What the hosts can send in time decides how many iterations of a collective start.
#[test]
fn flows_of_iterations_for_which_there_is_no_time_are_not_foreseen() {
    let case = |iterations| {
        let ring = collective("ring-all-reduce", 1_000_000, iterations);
        parse(&with(scenario(single_switch(16), pfc(), &[ring], 1_000 * US), "/drain", 0))
    };
    let started = penstock_sim::run(&case(1_000), RunOptions::default(), |_| true).unwrap();
    let started = started.summary.flows_started as f64;
    for iterations in [1_000, 1_000_000] {
        let foreseen = forecast(&case(iterations)).unwrap();
        let share = foreseen.flows / started;
        assert!((0.5..2.5).contains(&share), "{} flows, not {started}", foreseen.flows);
        assert!(foreseen.open_flows <= foreseen.flows);
    }
}

/// The permutation of a scenario decides how many flows make a load on the core, and whether any crosses it.
#[test]
fn flows_of_a_permutation_are_foreseen_for_its_seed() {
    let duration = 1_000 * US;
    let sizes = json!({"kind": "fixed", "size": 1_000});
    let background = with(open_loop(sizes, 0.1, duration), "/pairs/kind", "permutation");
    let case = scenario(dumbbell(2, 4, 100 * GBPS), dctcp(), &[background], duration);
    let mut refused = 0;
    for seed in 0..40 {
        let scenario = parse(&with(case.clone(), "/seed", seed));
        let is_refused = validate(&scenario).is_err();
        assert_eq!(forecast(&scenario).is_err(), is_refused, "seed {seed}");
        refused += u32::from(is_refused);
    }
    assert!((1..40).contains(&refused), "{refused} permutations stay on their sides");
    let scenario = with(case, "/seed", 7);
    let started = run(&scenario).summary.flows_started as f64;
    let foreseen = forecast(&parse(&scenario)).unwrap().flows;
    assert!((foreseen / started - 1.0).abs() < 0.1, "{foreseen}, not {started}");
}

#[test]
fn pauses_and_drops_are_listed_one_by_one() {
    for scheme in [bfc(), pfc()] {
        let scheme = with(scheme, "/switch/admission/buffer", 1_500_000);
        let results = run_to_the_end(&with(busy(scheme), "/measure/events", true));
        let events = column(&results, "events", "event");
        let count = |name| events.iter().filter(|&&other| other == event(&results, name)).count();
        let summary = &results.summary;
        let pauses = summary.pfc_pauses + summary.queue_pauses;
        assert!(pauses > 0);
        assert_eq!(count("pause_sent") as u64, pauses);
        assert_eq!(count("drop") as u64, summary.drops);
        assert!(count("resume_sent") <= count("pause_sent"));
        let times = column(&results, "events", "time_ps");
        assert!(times.is_sorted());
        let of_link = |name| column(&results, "links", name).iter().sum::<f64>();
        assert_eq!(of_link("drops"), summary.drops as f64);
        assert!(of_link("queue_pauses") + of_link("port_pauses") > 0.0);
    }
}

#[test]
fn pauses_that_hosts_receive_are_listed_too() {
    let scheme = with(pfc(), "/switch/admission/buffer", 1_500_000);
    let results = run_to_the_end(&with(busy(scheme), "/measure/events", true));
    let read = |name| column(&results, "events", name);
    let (nodes, links, events) = (read("node"), read("link"), read("event"));
    let (from, pauses) =
        (column(&results, "links", "from"), column(&results, "links", "port_pauses"));
    let mut counted = vec![0.0; from.len()];
    for row in 0..nodes.len() {
        if events[row] == event(&results, "pause_received") {
            let link = links[row] as usize;
            assert_eq!(from[link], nodes[row], "the link leaves the node that is paused");
            counted[link] += 1.0;
        }
    }
    assert_eq!(counted, pauses);
    assert!(nodes.iter().any(|&node| node < 8.0), "hosts are paused");
}

#[test]
fn the_time_that_queues_were_paused_is_that_between_the_frames() {
    // Pauses between two switches, as the first switch received them, by queue.
    let silent = with(bfc(), "/switch/backpressure/bitmap_interval", 0);
    let flows: Vec<_> = (0..6).map(|flow| (flow, 6, 400_000, u64::from(flow) * US)).collect();
    let scenario = scenario(dumbbell(6, 1, 100 * GBPS), silent, &[listed(&flows)], 100 * US);
    // The core is faster than the receiver's link, so the second switch pauses the first.
    let scenario = with(scenario, "/topology/core_rate", 400 * GBPS);
    let results = run_to_the_end(&with(scenario, "/measure/events", true));
    let read = |name| column(&results, "events", name);
    let (times, nodes, events, queues) =
        (read("time_ps"), read("node"), read("event"), read("queue"));
    let mut paused_at = std::collections::BTreeMap::new();
    let (mut total, mut pauses) = (0.0, 0.0);
    for row in (0..times.len()).filter(|&row| nodes[row] == 7.0) {
        let queue = queues[row] as u32;
        if events[row] == event(&results, "pause_received") {
            assert!(paused_at.insert(queue, times[row]).is_none(), "paused twice");
            pauses += 1.0;
        } else if events[row] == event(&results, "resume_received") {
            total += times[row] - paused_at.remove(&queue).expect("resumed after a pause");
        }
    }
    let end = results.summary.sim_end_ps as f64;
    total += paused_at.values().map(|since| end - since).sum::<f64>();
    // The core link from the first switch belongs to cable 7.
    assert!(pauses > 10.0);
    assert_eq!(column(&results, "links", "queue_pauses")[14], pauses);
    assert!((column(&results, "links", "queue_pause_ns")[14] - total / 1e3).abs() < 1e-3);
}

#[test]
fn samples_come_at_their_interval_and_below_the_peak() {
    let scenario = with(busy(bfc()), "/measure/sample_interval", 5 * US);
    let scenario = with(scenario, "/measure/series", json!([[8, 0], [8, 10]]));
    let results = run_to_the_end(&with(scenario, "/measure/active_flows", true));
    let ticks = results.summary.sim_end_ps / (5 * US) + 1;
    let times = column(&results, "buffers", "time_ns");
    assert_eq!(times.len() as u64, 4 * ticks);
    assert_eq!((times[0], times[4], times[5]), (0.0, 5_000.0, 5_000.0));
    let (nodes, bytes) =
        (column(&results, "buffers", "node"), column(&results, "buffers", "buffer_bytes"));
    for (node, bytes) in nodes.iter().zip(&bytes) {
        assert!(*bytes <= results.summary.buffer_peak_bytes[*node as usize - 8] as f64);
    }
    assert!(bytes.iter().any(|&bytes| bytes > 100_000.0), "the incast is seen");
    let read = |name| column(&results, "series", name);
    assert_eq!(read("time_ns").len() as u64, 2 * ticks);
    let (queued, active, flows, paused) =
        (read("queue_bytes"), read("active_queues"), read("active_flows"), read("paused_queues"));
    for row in 0..queued.len() {
        assert_eq!(queued[row] > 0.0, flows[row] > 0.0);
        assert!(active[row] + paused[row] <= 31.0);
        assert!(active[row] <= flows[row], "a queue has packets of some flow");
    }
    for link in [0, 1] {
        let sent: Vec<f64> = read("tx_bytes").into_iter().skip(link).step_by(2).collect();
        assert!(sent.is_sorted());
    }
}

#[test]
fn active_flow_times_add_up_to_the_run() {
    let results = run_to_the_end(&with(busy(ideal_fq()), "/measure/active_flows", true));
    let read = |name| column(&results, "active_flows", name);
    let (links, times) = (read("link"), read("time_ns"));
    let end_ns = results.summary.sim_end_ps as f64 / 1e3;
    let used =
        |link: f64| links.iter().zip(&times).filter(move |row| *row.0 == link).map(|row| row.1);
    // Cable 0 joins host 0, the receiver of the incast, to its rack; link 1 leads to host 0.
    assert!((used(1.0).sum::<f64>() - end_ns).abs() < 1e-6 * end_ns);
    let most = links.iter().zip(read("flows")).filter(|row| *row.0 == 1.0).map(|row| row.1);
    assert!(most.fold(0.0, f64::max) >= 7.0, "seven flows of the incast");
}

/// Under fidelity ns3-bfc acknowledgements wait with the data, and they make no flow active.
#[test]
fn acknowledgements_in_data_queues_are_no_active_flows() {
    let scheme = with(bfc(), "/switch/assignment/acknowledgements", "data");
    let scheme = with(scheme, "/switch/scheduling", json!({"kind": "round-robin"}));
    let scheme = with(scheme, "/switch/backpressure/bitmap_interval", 0);
    let flows = listed(&[(0, 1, 1_000_000, 0), (2, 1, 1_000_000, 0)]);
    let scenario = scenario(single_switch(3), scheme, &[flows], US);
    let scenario = with(with(scenario, "/fidelity", "ns3-bfc"), "/measure/active_flows", true);
    let results = run_to_the_end(&scenario);
    // Link 1 leads to host 0, which gets acknowledgements and nothing else.
    let links = column(&results, "active_flows", "link");
    let flows = column(&results, "active_flows", "flows");
    let most = |link: f64| {
        links.iter().zip(&flows).filter(|row| *row.0 == link).map(|row| *row.1).fold(0.0, f64::max)
    };
    assert_eq!((most(1.0), most(3.0)), (0.0, 2.0));
}

#[test]
fn a_trace_tells_of_every_data_packet_at_its_nodes() {
    let scenario = with(busy(bfc()), "/measure/trace", json!({"nodes": [8], "events": []}));
    let results = run_to_the_end(&with(scenario, "/measure/events", true));
    let read = |name| column(&results, "packets", name);
    let (events, nodes) = (read("event"), read("node"));
    assert!(nodes.iter().all(|&node| node == 8.0));
    let count = |name| events.iter().filter(|&&other| other == event(&results, name)).count();
    let arrivals = count("arrive");
    assert!(arrivals > 1_000);
    assert_eq!([count("assign"), count("enqueue"), count("depart")], [arrivals; 3]);
    let table = column(&results, "events", "event");
    let at_rack = column(&results, "events", "node");
    let listed = |name| {
        let name = event(&results, name);
        table.iter().zip(&at_rack).filter(|row| *row.0 == name && *row.1 == 8.0).count()
    };
    for name in ["pause_sent", "resume_sent", "pause_received"] {
        assert_eq!(count(name), listed(name), "{name}");
    }
}

#[test]
fn queueing_delay_is_that_of_packets_that_wait() {
    // Two flows of 100 packets enter one link at once. Packets come in pairs, and the second packet
    // of each pair waits one packet longer than the previous pair, 99 packets at most.
    let flows = [(1, 0, 100_000, 0), (2, 0, 100_000, 0)];
    let results = run(&scenario(single_switch(3), pfc(), &[listed(&flows)], US));
    let delay = &results.summary.queue_delay_ns["listed"];
    let packet_ns = 1_048.0 * 0.08;
    assert_eq!(delay.count, 200);
    // Packet k of either flow finds k packets of backlog. The mean over both flows is (0 + … + 99
    // and 1 + … + 100) / 200 = 50 packets.
    assert!((delay.mean - 50.0 * packet_ns).abs() < 0.01, "{}", delay.mean / packet_ns);
    assert!((delay.p50 / packet_ns - 50.0).abs() < 1.5, "{}", delay.p50 / packet_ns);
    assert!((delay.p99 / packet_ns - 98.5).abs() < 2.5, "{}", delay.p99 / packet_ns);
}

#[test]
fn hosts_count_the_pauses_of_their_switch() {
    for (scheme, pauses, time) in [
        (with(bfc(), "/switch/backpressure/bitmap_interval", 0), "queue_pauses", "queue_pause_ns"),
        (with(pfc(), "/switch/admission/buffer", 2_000_000), "port_pauses", "port_pause_ns"),
    ] {
        let traffic = [incast(8, 400_000, Some(0))];
        let results = run_to_the_end(&scenario(single_switch(9), scheme, &traffic, US));
        let summary = &results.summary;
        let sent = summary.queue_pauses + summary.pfc_pauses;
        assert!(sent > 8);
        // Every link of the switch leads to a host, so only host links are paused.
        let received: f64 = column(&results, "links", pauses).iter().sum();
        assert_eq!(received, sent as f64);
        let end_ns = summary.sim_end_ps as f64 / 1e3;
        let (from, paused) = (column(&results, "links", "from"), column(&results, "links", time));
        for (from, paused) in from.iter().zip(&paused) {
            let is_sender = (1.0..9.0).contains(from);
            assert_eq!(*paused > 0.0, is_sender, "{from}: {paused} ns");
            assert!(*paused < end_ns);
        }
    }
}

#[test]
fn a_run_that_is_stopped_hands_over_what_it_has() {
    let scenario = parse(&busy(bfc()));
    let options = RunOptions { check: true, ..Default::default() };
    let mut last = None;
    let results = penstock_sim::run(&scenario, options, |progress| {
        last = Some(progress);
        false
    });
    let (results, progress) = (results.unwrap(), last.unwrap());
    let summary = &results.summary;
    assert!(summary.cancelled);
    assert_eq!(summary.flows_finished, progress.flows_finished);
    assert_eq!(summary.sim_end_ps, progress.now.as_ps());
    assert_eq!(progress.end, scenario.duration + scenario.drain);
    let finished = column(&results, "flows", "finished");
    assert_eq!(finished.len() as u64, summary.flows_started);
    assert_eq!(finished.iter().sum::<f64>() as u64, summary.flows_finished);
    assert!(finished.is_sorted_by(|a, b| a >= b), "unfinished ones come last");
    assert!(!summary.unfinished.is_empty());
}

#[test]
fn a_run_that_is_stopped_ends_where_it_stands_on_any_number_of_threads() {
    // A single partition takes many windows at once, and ends them itself when a flow completes.
    let sizes = json!({"kind": "pareto", "shape": 1.3, "mean": 20_000});
    let long =
        scenario(leaf_spine(2, 4, 2), bfc(), &[open_loop(sizes, 0.6, 5_000 * US)], 5_000 * US);
    for threads in [1, 2] {
        let options = RunOptions { threads, ..Default::default() };
        let mut told = Time::ZERO;
        let results = penstock_sim::run(&parse(&long), options, |progress: Progress| {
            told = progress.now;
            false
        });
        let results = results.unwrap();
        assert!(results.summary.cancelled);
        assert_eq!(told.as_ps(), results.summary.sim_end_ps);
        let end_ns = results.summary.sim_end_ps as f64 / 1e3;
        let latest = column(&results, "flows", "start_ns").into_iter().fold(0.0, f64::max);
        assert!((latest - end_ns).abs() < 10e3, "on {threads}: {latest} ns, {end_ns} ns");
    }
}

#[test]
fn a_backlog_of_more_bytes_than_a_number_holds_is_written_as_the_largest_one() {
    let flows = listed(&[0, 1, 2].map(|source| (source, 3, u64::MAX / 2, 0)));
    let overloaded = with(scenario(single_switch(4), pfc(), &[flows], 10 * US), "/drain", 0);
    let written = serde_json::to_value(run(&overloaded).summary.backlog).unwrap();
    for sums in ["bytes", "arrived_bytes"] {
        assert_eq!(written[sums][30], json!(u64::MAX), "{sums}");
    }
}

#[test]
fn the_backlog_is_what_has_arrived_and_is_not_delivered() {
    let mut overloaded = busy(ideal_fq());
    overloaded["drain"] = json!(0);
    overloaded["wire"]["header"] = json!(1_000);
    let results = run(&overloaded);
    let backlog = &results.summary.backlog;
    assert_eq!(backlog.time_ns.len(), 31);
    let read = |name| column(&results, "flows", name);
    let (start, fct, size) = (read("start_ns"), read("fct_ns"), read("size_bytes"));
    for (place, &time) in backlog.time_ns.iter().enumerate() {
        let arrived: Vec<usize> = (0..start.len()).filter(|&row| start[row] <= time).collect();
        // The completion time of an unfinished flow is not a number.
        let is_left = |row: &&usize| fct[**row].is_nan() || start[**row] + fct[**row] > time;
        let left: Vec<usize> = arrived.iter().filter(is_left).copied().collect();
        let bytes = |rows: &[usize]| rows.iter().map(|&row| size[row]).sum::<f64>();
        assert_eq!(backlog.flows[place], left.len() as u64);
        assert_eq!(backlog.arrived_flows[place], arrived.len() as u64);
        assert_eq!(backlog.arrived_bytes[place] as f64, bytes(&arrived));
        assert!(backlog.bytes[place] as f64 <= bytes(&left));
    }
    let undelivered: f64 =
        size.iter().zip(read("delivered_bytes")).map(|(all, has)| all - has).sum();
    assert!(undelivered > 0.0);
    // The run ends with its traffic, so at the last sample.
    assert_eq!(*backlog.bytes.last().unwrap() as f64, undelivered);
}
