//! Pauses that end by themselves (FAFC).

use serde_json::json;

use crate::fixture::{
    GBPS, MS, US, column, dctcp, dumbbell, fafc, incast, listed, run, run_to_the_end, scenario,
    single_switch, with,
};

/// Pause time of each link [ns].
fn pauses(results: &penstock_sim::Results) -> Vec<f64> {
    column(results, "links", "port_pause_ns")
}

#[test]
fn an_incast_is_paused_for_a_while_and_loses_nothing() {
    let traffic = [incast(16, 500_000, Some(0))];
    let results = run_to_the_end(&scenario(single_switch(17), fafc(60_000), &traffic, US));
    let summary = &results.summary;
    assert_eq!((summary.drops, summary.pfc_pauses, summary.timeouts), (0, 0, 0));
    assert!(summary.timed_pauses > 0);
    // Links 0 and 1 belong to the receiver; the other even links come from the senders.
    let pauses = pauses(&results);
    assert!(pauses.iter().skip(2).step_by(2).all(|&time| time > 0.0), "{pauses:?}");
    assert!(pauses[..2].iter().chain(pauses.iter().skip(3).step_by(2)).all(|&time| time == 0.0));
    // Every frame is received, and no pause is longer than the T_hop of 1 us.
    let total: f64 = pauses.iter().sum();
    assert!(total <= 1_000.0 * summary.timed_pauses as f64, "{total}");
}

#[test]
fn the_link_that_victims_share_is_paused_less_than_the_others_and_than_under_pfc() {
    // Host 0 sends to host 8 over the core. Host 1's flow to the receiver of the incast takes the
    // same link.
    let flows = [(0, 8, 2_000_000, 0), (1, 9, 2_000_000, 0)];
    let burst: Vec<_> = (3..8).map(|host| (host, 9, 500_000, 100 * US)).collect();
    let traffic = [listed(&flows), with(listed(&burst), "/label", "burst")];
    let of = |scheme| {
        let network = dumbbell(3, 8, 100 * GBPS);
        pauses(&run_to_the_end(&scenario(network, scheme, &traffic, MS)))
    };
    let core = 2 * 11; // behind both directions of the links of eleven hosts
    let by_fafc = of(fafc(60_000));
    let hosts = (3..8).map(|host| by_fafc[2 * host]).sum::<f64>() / 5.0;
    assert!(by_fafc[core] < hosts, "{by_fafc:?}");
    let by_pfc = of(with(dctcp(), "/switch/backpressure/xoff", 20_000));
    assert!(by_fafc[core] < by_pfc[core], "{by_pfc:?}");
}

#[test]
fn lost_pauses_cost_buffer_and_block_nobody() {
    let traffic = [incast(16, 500_000, Some(0))];
    let mut lossy = scenario(single_switch(17), fafc(60_000), &traffic, US);
    lossy["faults"]["control_loss"] = json!(0.5);
    let results = run_to_the_end(&lossy);
    assert!(results.summary.timed_pauses > 0);
}

#[test]
fn a_lost_resume_of_pfc_beneath_holds_a_port_for_the_time_of_the_pause_alone() {
    // An XOFF of 20 kB, so that PFC pauses and resumes before FAFC does; every other frame is lost.
    let traffic = [incast(16, 500_000, Some(0))];
    let of = |pause: serde_json::Value| {
        let scheme = with(fafc(1_000_000), "/switch/backpressure/pfc/xoff", 20_000);
        let scheme = with(scheme, "/switch/backpressure/pfc/pause", pause);
        let lossy = scenario(single_switch(17), scheme, &traffic, US);
        run(&with(lossy, "/faults/control_loss", 0.5)).summary
    };
    let lasting = of(json!({"kind": "lasting"}));
    assert!(lasting.flows_finished < lasting.flows_started);
    let timed =
        of(json!({"kind": "timed", "lifetime": 50 * US, "refresh": 20 * US, "at_arrivals": false}));
    assert_eq!(timed.flows_finished, timed.flows_started, "{:?}", timed.unfinished);
    assert!(timed.pfc_pauses > 0);
}

#[test]
fn links_without_delay_are_refused() {
    let mut topology = single_switch(4);
    topology["delay"] = json!(0);
    let refused = scenario(topology, fafc(60_000), &[listed(&[(0, 1, 1_000, 0)])], US);
    let error = penstock_sim::validate(&crate::fixture::parse(&refused)).unwrap_err();
    assert!(error.to_string().contains("1 ns"), "{error}");
}
