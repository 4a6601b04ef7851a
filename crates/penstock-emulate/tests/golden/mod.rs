//! The golden scenarios (`tests/golden/builds.json`), for frames that come from elsewhere.

use serde_json::{Value, json};

/// The scenario of the scheme `name`, which measures nothing and has no flows but one that must be there.
///
/// # Panics
/// When no golden scenario has this name.
pub fn without_flows(name: &str) -> Value {
    let file = include_str!("../../../../tests/golden/builds.json");
    let cases: Vec<Value> = serde_json::from_str(file).expect("a file of the repository");
    let case = cases.into_iter().find(|case| case["name"] == name);
    let mut scenario = case.unwrap_or_else(|| panic!("no {name}"))["scenario"].take();
    scenario["measure"] = json!({
        "sample_interval": 0, "active_flows": false, "queue_delays": false,
        "series": [], "events": false, "trace": null,
    });
    scenario["traffic"] = json!([{
        "kind": "listed", "label": "flows", "class": 0, "flows": [[0, 1, 1000, 0]],
        "spread": 0, "lasts": [], "after": [], "lag": [], "delay": [], "needed": [],
        "places": [], "steps": [], "destination_ports": [],
    }]);
    scenario
}
