//! Nothing is lost or counted twice under any traffic.

use penstock_packet::Unobserved;
use penstock_sim::network::Network;
use penstock_sim::simulation::Simulation;
use penstock_units::Time;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::fixture::{
    GBPS, MS, US, bfc, credits, dumbbell, incast, leaf_spine, ndp, open_loop, parse, rail,
    scenario, schemes, with,
};

/// All schemes, and the variants of BFC that run other code.
fn all_schemes() -> Vec<Value> {
    let variant = |pointer, value: Value| with(bfc(), pointer, value);
    let tiny = "/switch/admission/buffer";
    let mut all: Vec<Value> = schemes();
    all.extend(
        schemes()
            .into_iter()
            .filter(|scheme| {
                scheme.pointer(tiny).is_some()
                    && scheme.pointer("/switch/admission/ingress").unwrap().is_null()
            })
            .map(|scheme| with(scheme, tiny, 60_000)),
    );
    all.extend([
        // The buffer is little larger than the windows and reserves of ports of up to 400 Gb/s.
        credits(6, 700_000),
        credits(32, 12 << 20),
        variant("/switch/assignment/full_port", json!("closest-remaining")),
        variant("/switch/assignment/classes_share", json!(true)),
        variant("/switch/assignment/sampling", json!(0.5)),
        variant("/switch/assignment/incast_queue", json!(true)),
        variant("/switch/assignment/grace_hop_rtts", json!(1.0)),
        variant("/switch/assignment/empty_queue", json!("unpaused")),
        variant("/host/nic/empty_queue", json!("unpaused")),
        variant("/switch/assignment/epoch_bits", json!(2)),
        with(variant("/switch/assignment/epoch_bits", json!(1)), "/switch/assignment/queues", 4),
        with(
            variant("/switch/assignment/epoch_bits", json!(3)),
            "/switch/backpressure/bitmap_interval",
            20 * US,
        ),
        variant("/switch/assignment", json!({"kind": "stochastic", "queues": 8, "classes": 1})),
        variant("/switch/assignment", json!({"kind": "class", "classes": 1})),
        variant("/switch/assignment/queues", json!(4)),
        variant("/switch/backpressure/counts_last", json!(false)),
        variant("/switch/backpressure/elide_down_up", json!(true)),
        variant("/switch/backpressure/bitmap_interval", json!(5 * US)),
        variant("/switch/scheduling", json!({"kind": "srf"})),
        variant("/host/controller", json!({"kind": "delay", "target_factor": 1.5})),
        variant("/host/nic/reacts", json!(false)),
        variant("/host/nic/queues", json!(3)),
        variant("/host/nic/scheduling", json!("srf")),
        with(ndp(), "/routing", json!({"kind": "spray", "order": "random"})),
        with(ndp(), "/host/controller", json!({"kind": "window", "bdp_factor": 1.0})),
    ]);
    all
}

/// Networks, each with the layer of links whose load is chosen: the scarcest links.
fn topologies() -> Vec<(Value, &'static str)> {
    let mut slow = leaf_spine(2, 3, 1);
    slow["spine_rate"] = json!(40 * GBPS);
    slow["pipeline_delay"] = json!(300_000);
    vec![
        (leaf_spine(2, 4, 2), "core"),
        (slow, "core"),
        (dumbbell(3, 3, 25 * GBPS), "edge"),
        (dumbbell(3, 3, 400 * GBPS), "core"),
        (rail(4, 2, 30), "edge"),
    ]
}

prop_compose! {
    /// Any scheme on any network, under load.
    pub fn any_case()(
        seed in any::<u64>(),
        load in 0.2f64..0.9,
        degree in 2u32..5,
        size in 1u64..200_000,
        scheme in select(all_schemes()),
        (topology, links) in select(topologies()),
        control_loss in select(vec![0.0, 0.0, 0.1]),
        corruption in select(vec![0.0, 0.0, 0.01]),
        has_timer in any::<bool>(),
        connections in 0u32..4,
    ) -> Value {
        let sizes = json!({"kind": "exponential", "mean": 15_000});
        let background = with(open_loop(sizes, load, 60 * US), "/load_on/kind", links);
        let traffic = [background, incast(degree, size, None)];
        let scenario = scenario(topology, scheme, &traffic, 60 * US);
        let mut scenario = with(with(scenario, "/seed", seed), "/faults/control_loss", control_loss);
        let kind = |part: &str| scenario["scheme"].pointer(part).cloned();
        let is_told = kind("/host/recovery/kind") == Some(json!("perfect"));
        let is_tcp = kind("/host/recovery/kind") == Some(json!("fast-retransmit"));
        let has_credit = kind("/switch/backpressure/kind") == Some(json!("credits"));
        if corruption > 0.0 && !is_told && !has_credit {
            scenario["faults"]["corruption"] = json!([{"link": null, "probability": corruption}]);
        }
        if is_tcp {
            scenario["traffic"][0]["connections"] = json!(connections);
        }
        // The timeout is below the round-trip time of a crowd: there are duplicates of all ages,
        // and not every flow needs to finish.
        let timeout = "/scheme/host/recovery/timeout";
        if has_timer && scenario.pointer(timeout).is_some() {
            return with(scenario, timeout, 15 * US);
        }
        with(scenario, "/drain", 1_000 * MS)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_scheme_keeps_them_at_every_moment(case in any_case(), stride in 1u64..700) {
        let scenario = parse(&case);
        let network = Network::build(&scenario).unwrap();
        let mut simulation = Simulation::new(&scenario, network, Unobserved).unwrap();
        while simulation.advance(stride).unwrap() {
            simulation.verify().map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
        simulation.verify().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let summary = simulation.finish(false).summary;
        let has_credits = scenario.scheme.name == "credits";
        prop_assert!(!has_credits || summary.drops == 0, "{} drops", summary.drops);
        let (finished, started) = (summary.flows_finished, summary.flows_started);
        let has_faults = scenario.faults.control_loss > 0.0 || !scenario.faults.corruption.is_empty();
        let must_finish = scenario.drain > Time::from_ms(20) && !has_faults;
        prop_assert!(
            finished == started || !must_finish,
            "{:?} of {}",
            summary.unfinished,
            scenario.to_json()
        );
    }
}
