//! Hosts whose NICs have different rates.

use serde_json::json;

use crate::fixture::{
    US, column, dcqcn, dcqcn_mellanox, dctcp, graph, hpcc, listed, pcn, powertcp, run, scenario,
    theta_powertcp, timely, with,
};

#[test]
fn a_controller_knows_the_rate_of_its_own_nic() {
    // Hosts 0 (10 Gb/s) and 1 (100 Gb/s) send to host 2 (5 Gb/s) through switch 3; a round trip takes 20 us.
    let links = [(0, 3, 10, 5 * US), (1, 3, 100, 5 * US), (2, 3, 5, 5 * US)];
    let flows = listed(&[(0, 2, 500_000, 0), (1, 2, 4_000_000, 0)]);
    for scheme in [
        dctcp(),
        dcqcn(),
        dcqcn_mellanox(),
        hpcc(),
        timely(),
        pcn(),
        powertcp(100),
        theta_powertcp(100),
    ] {
        let name = scheme["name"].clone();
        let scenario =
            scenario(graph(3, 1, &links), scheme, std::slice::from_ref(&flows), 600 * US);
        let scenario = with(scenario, "/measure/sample_interval", 5 * US);
        let results = run(&with(scenario, "/measure/series", json!([[0, 3]])));
        let allowed = column(&results, "series", "allowed_bps");
        let sent = allowed.iter().filter(|&&rate| rate > 0.0);
        let (least, most) =
            sent.fold((f64::MAX, 0.0f64), |(least, most), &rate| (least.min(rate), most.max(rate)));
        assert!(most <= 1e10 && least < 9.9e9, "{name}: {least} to {most}");
    }
}
