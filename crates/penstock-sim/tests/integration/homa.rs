//! Homa as a whole: the checks that its papers describe, in small networks.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{
    MS, US, column, expresspass, graph, incast, leaf_spine, listed, parse, run, run_to_the_end,
    scenario, single_switch, with,
};

/// Homa with 8 levels, `overcommitment` of them scheduled, unscheduled levels up to 2 kB and
/// beyond, and timeouts of 1 ms.
fn homa(overcommitment: u32) -> Value {
    json!({
        "name": "homa",
        "switch": {
            "admission": {"kind": "infinite"}, "assignment": {"kind": "priority", "levels": 8},
            "scheduling": {"kind": "strict"}, "marking": {"kind": "none"},
            "backpressure": {"kind": "none"},
        },
        "host": {
            "controller": {"kind": "homa", "bdp_factor": 1.0, "overcommitment": overcommitment,
                           "cutoffs": [2_000]},
            "base_rtt": "longest", "other_controllers": [],
            "recovery": {"kind": "resend", "timeout": MS},
            "nic": {"queues": 0, "reacts": true, "empty_queue": "any", "scheduling": "srf"},
            "base_rtt": "longest", "other_controllers": [],
        },
        "routing": {"kind": "ecmp"},
    })
}

fn sprayed(order: &str) -> Value {
    with(homa(2), "/routing", json!({"kind": "spray", "order": order}))
}

fn last_completion(results: &Results) -> f64 {
    column(results, "flows", "fct_ns").into_iter().fold(0.0, f64::max)
}

/// The largest queue in front of host `host`.
fn downlink_queue(results: &Results, host: f64) -> f64 {
    let to = column(results, "links", "to");
    let queues = column(results, "links", "queue_bytes_max");
    to.iter().zip(queues).filter(|(to, _)| **to == host).map(|(_, queue)| queue).sum()
}

#[test]
fn a_lone_message_takes_the_ideal_time_whatever_its_size() {
    for scheme in [homa(1), homa(4), sprayed("random")] {
        for size in [1, 1_000, 1_001, 100_000, 1_234_567] {
            let traffic = [listed(&[(0, 3, size, 0)])];
            let results =
                run_to_the_end(&scenario(leaf_spine(2, 2, 2), scheme.clone(), &traffic, MS));
            let slowdown = column(&results, "flows", "slowdown")[0];
            // On another path a short last packet may overtake the packet before it, or may not.
            let most = if scheme["routing"]["kind"] == "spray" { 1.001 } else { 1.0 };
            assert!((1.0..=most).contains(&slowdown), "{size} B: {slowdown}");
        }
    }
}

#[test]
fn overcommitment_fills_the_link_when_a_sender_does_not_answer() {
    // At 20 us host 0 turns to its shorter message, to host 3. Host 2 has granted to host 0's other
    // message.
    let flows = [(0, 2, 2_500_000, 0), (1, 2, 3_000_000, 0), (0, 3, 2_000_000, 20 * US)];
    let time = |overcommitment| {
        let scheme = homa(overcommitment);
        let results = run_to_the_end(&scenario(single_switch(4), scheme, &[listed(&flows)], MS));
        last_completion(&results)
    };
    // 5.5 MB to host 2 take 461 us. With K = 1 the 2 MB to host 3, 168 us, come first.
    let (one, two) = (time(1), time(2));
    assert!(two < 480_000.0, "{two}");
    assert!(one > 600_000.0, "{one}");
}

#[test]
fn the_queue_in_front_of_a_host_is_bounded_by_overcommitment() {
    for overcommitment in [1, 3, 6] {
        let flows: Vec<_> = (1..16).map(|host| (host, 0, 2_000_000, 0)).collect();
        let scheme = homa(overcommitment);
        let results = run_to_the_end(&scenario(single_switch(16), scheme, &[listed(&flows)], MS));
        let rtt_bytes = results.summary.bdp_bytes.next_multiple_of(1_000) as f64 * 1.048;
        let bound = (f64::from(overcommitment) + 15.0) * rtt_bytes;
        let queue = downlink_queue(&results, 0.0);
        assert!(queue <= bound, "K = {overcommitment}: {queue} B of {bound} B");
        assert!(queue > 13.0 * rtt_bytes, "all unscheduled bytes arrive at once: {queue} B");
    }
}

#[test]
fn an_incast_brings_all_unscheduled_bytes_at_once() {
    let traffic = [incast(100, 200_000, Some(0))];
    let results = run_to_the_end(&scenario(single_switch(101), homa(2), &traffic, MS));
    let unscheduled = 100.0 * results.summary.bdp_bytes.next_multiple_of(1_000) as f64 * 1.048;
    let queue = downlink_queue(&results, 0.0);
    assert!((0.95 * unscheduled..1.05 * unscheduled).contains(&queue), "{queue} of {unscheduled}");
    // 20 MB with headers at 100 Gb/s take 1,677 us.
    let time = last_completion(&results);
    assert!((1_677_000.0..1_700_000.0).contains(&time), "{time} ns");
}

#[test]
fn what_is_dropped_is_asked_for_again() {
    let small = json!({"kind": "static", "per_port": 60_000, "other_tiers": []});
    for scheme in [homa(2), sprayed("random")] {
        let scheme = with(scheme, "/switch/admission", small.clone());
        let traffic = [incast(8, 300_000, Some(0))];
        let results = run_to_the_end(&scenario(leaf_spine(3, 4, 2), scheme, &traffic, MS));
        assert!(results.summary.drops > 100, "{}", results.summary.drops);
        assert!(results.summary.retransmitted_packets >= results.summary.drops);
        assert_eq!(column(&results, "flows", "delivered_bytes"), [300_000.0; 8]);
    }
}

#[test]
fn a_message_of_which_nothing_arrives_is_sent_again() {
    // Eight packets, each a message of its own, meet in a port with room for two.
    let small = json!({"kind": "static", "per_port": 2_100, "other_tiers": []});
    let scheme = with(homa(2), "/switch/admission", small);
    let results =
        run_to_the_end(&scenario(single_switch(9), scheme, &[incast(8, 1_000, Some(0))], MS));
    assert!(results.summary.drops > 0 && results.summary.timeouts > 0);
}

#[test]
fn sprayed_packets_share_the_core_evenly_and_flows_do_not_share_a_link() {
    let flows = [(0, 4, 1_000_000, 0), (1, 5, 1_000_000, 0), (2, 6, 1_000_000, 0)];
    let data = |scheme| {
        let results = run_to_the_end(&scenario(leaf_spine(2, 4, 4), scheme, &[listed(&flows)], MS));
        let (from, to) = (column(&results, "links", "from"), column(&results, "links", "to"));
        let bytes = column(&results, "links", "data_bytes");
        // The first ToR is node 8, the spines are 10 to 13.
        let ends = from.into_iter().zip(to).zip(bytes);
        let up = ends.filter(|((from, to), _)| *from == 8.0 && *to >= 10.0);
        up.map(|(_, bytes)| bytes).collect::<Vec<f64>>()
    };
    assert_eq!(data(sprayed("round-robin")), [750_000.0; 4]);
    // A binomial count: 3,000 packets, mean 750, standard deviation 23.7. Within five of them.
    let random = data(sprayed("random"));
    assert!(random.iter().all(|bytes| (bytes - 750_000.0).abs() < 119_000.0), "{random:?}");
}

#[test]
fn waiting_times_are_counted_by_layer() {
    let flows = [(0, 2, 1_000_000, 0), (1, 2, 1_000_000, 0)];
    let plain = scenario(single_switch(3), homa(2), &[listed(&flows)], MS);
    let results = run_to_the_end(&with(plain, "/measure/queue_delays", true));
    assert_eq!(column(&results, "queue_delays", "scheduled"), [0.0, 1.0]);
    let packets = column(&results, "queue_delays", "packets");
    let unscheduled = 2.0 * (results.summary.bdp_bytes as f64 / 1_000.0).ceil();
    assert_eq!(packets, [2_000.0, 2_000.0 - unscheduled]);
    // One message waits for at least its RTTbytes, and at most until the other message's 84 us are
    // over.
    let longest = column(&results, "queue_delays", "p99_ns")[0];
    let round_trip = results.summary.base_rtt_ps as f64 / 1e3;
    assert!((0.5 * round_trip..90_000.0).contains(&longest), "{longest} ns");
}

#[test]
fn schemes_that_do_not_go_together_are_refused() {
    let refusal = |scheme: Value| {
        let scenario = parse(&scenario(single_switch(3), scheme, &[listed(&[(0, 1, 1, 0)])], US));
        penstock_sim::validate(&scenario).unwrap_err().to_string()
    };
    let go_back_n = json!({"kind": "go-back-n", "timeout": MS, "nack_interval": 0});
    let telemetry = json!({"kind": "telemetry", "multiplier": 0});
    for (scheme, words) in [
        (with(homa(2), "/host/recovery", go_back_n), "needs \"resend\""),
        (with(homa(2), "/switch/marking", telemetry.clone()), "telemetry names the path"),
        (with(expresspass(1_538), "/switch/marking", telemetry), "telemetry names the path"),
        (with(homa(2), "/switch/scheduling", json!({"kind": "drr", "quantum": 1_048})), "strict"),
        (with(homa(2), "/host/controller", json!({"kind": "line-rate"})), "homa"),
        (homa(7), "the switch has 8"),
        (with(homa(2), "/host/controller/cutoffs", json!([5, 5])), "ascend"),
        (
            with(crate::fixture::pfc(), "/routing", json!({"kind": "spray", "order": "random"})),
            "overtake",
        ),
    ] {
        let refused = refusal(scheme);
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn levels_come_from_the_traffic_when_they_are_not_written() {
    let flows = [(0, 3, 1_000, 0), (1, 3, 900_000, 0), (0, 3, 900_000, 0), (2, 3, 50_000, 10 * US)];
    let digest = |overcommitment: Value, cutoffs: Value| {
        let levels = with(homa(2), "/host/controller/overcommitment", overcommitment);
        let levels = with(levels, "/host/controller/cutoffs", cutoffs);
        let results = run(&scenario(leaf_spine(2, 2, 2), levels, &[listed(&flows)], MS));
        assert_eq!(results.summary.flows_finished, 4);
        results.summary.digest
    };
    // Of 1.85 MB a seventh is unscheduled, at most a round trip of each flow: one of eight levels.
    let open = digest(Value::Null, Value::Null);
    assert_eq!(open, digest(json!(7), json!([])));
    assert_ne!(open, digest(json!(1), json!([2_000])));
}

#[test]
fn a_message_is_granted_to_its_end_whatever_the_nics_and_the_round_trips() {
    // Hosts 0 and 1 send to host 2: from 10 Gb/s over 1 us, and from 100 Gb/s over 10 us.
    let links = [(0, 3, 10, US), (1, 3, 100, 10 * US), (2, 3, 25, US)];
    let flows = listed(&[(0, 2, 100_000, 0), (1, 2, 100_000, 0), (2, 0, 100_000, 0)]);
    for base_rtt in ["longest", "own"] {
        let scheme = with(homa(2), "/host/base_rtt", base_rtt);
        let flows = std::slice::from_ref(&flows);
        run_to_the_end(&scenario(graph(3, 1, &links), scheme, flows, MS));
    }
}
