//! All combinations of policies that go together.

use penstock_fabric::{Surroundings, SwitchConfig};
use penstock_units::Problems;
use serde_json::{Value, json};

/// A memory that credits can share out, with little beyond what they set aside: four windows of 69,500 B
/// in all and 16 packets, and up to 36 reserves.
const CREDITED: u64 = 152_000;

fn admissions() -> Vec<Value> {
    let ingress = json!({"alpha": 0.5, "reserve": 500, "headroom": {"kind": "bytes", "size": 900}});
    vec![
        json!({"kind": "infinite"}),
        json!({"kind": "shared", "buffer": 20_000, "other_buffers": [], "ingress": null}),
        json!({"kind": "shared", "buffer": 20_000, "other_buffers": [], "ingress": ingress}),
        json!({"kind": "shared", "buffer": CREDITED, "other_buffers": [], "ingress": null}),
        json!({"kind": "static", "per_port": 6_000, "other_tiers": []}),
        json!({"kind": "trimming", "packets": 5, "control_weight": 2}),
    ]
}

fn dynamic(
    queues: u32,
    classes: u32,
    table_factor: u32,
    incast_queue: bool,
    sampling: f64,
) -> Value {
    json!({
        "kind": "dynamic", "queues": queues, "classes": classes, "table_factor": table_factor,
        "sticky_hop_rtts": 2.0, "incast_queue": incast_queue, "sampling": sampling,
        "search": if queues == 5 { "rotating" } else { "lowest" },
        "empty_queue": if queues == 5 { "any" } else { "unpaused-only" },
        "epoch_bits": 0, "grace_hop_rtts": if queues == 5 { 0.0 } else { 0.5 },
        "classes_share": false, "full_port": "random", "acknowledgements": "control",
    })
}

/// Three classes that share two of five data queues.
fn shared(full_port: &str) -> Value {
    let mut assignment = dynamic(6, 3, 100, false, 1.0);
    assignment["classes_share"] = json!(true);
    assignment["full_port"] = json!(full_port);
    assignment
}

fn rounds(queues: u32, bids: &str, round: &str) -> Value {
    json!({
        "kind": "rounds", "queues": queues, "bytes_per_round": 1_000, "rows": 2, "columns": 4,
        "bids": bids, "round": round, "horizon": "queues",
    })
}

/// Rounds whose flows heed the memory that is free.
fn heedful(round: &str) -> Value {
    let mut assignment = rounds(6, "sketch", round);
    assignment["horizon"] = json!("free-memory");
    assignment
}

fn assignments() -> Vec<Value> {
    vec![
        json!({"kind": "class", "classes": 1}),
        json!({"kind": "class", "classes": 3}),
        json!({"kind": "stochastic", "queues": 6, "classes": 1}),
        json!({"kind": "stochastic", "queues": 9, "classes": 3}),
        json!({"kind": "per-flow"}),
        json!({"kind": "ingress"}),
        dynamic(6, 1, 100, false, 1.0),
        dynamic(10, 3, 1, true, 1.0),
        dynamic(5, 1, 100, true, 0.5),
        rounds(6, "audited", "scheduler"),
        rounds(7, "per-flow", "scheduler"),
        rounds(6, "sketch", "occupancy"),
        heedful("scheduler"),
        heedful("occupancy"),
        shared("random"),
        shared("closest-remaining"),
    ]
}

fn schedulings() -> Vec<Value> {
    vec![
        json!({"kind": "fifo"}),
        json!({"kind": "strict"}),
        json!({"kind": "drr", "quantum": 1_500}),
        json!({"kind": "drr", "quantum": 40}),
        json!({"kind": "wrr", "weights": [3, 1, 2], "quantum": 1_500}),
        json!({"kind": "wrr", "weights": [1, 5, 2, 7], "quantum": 40}),
        json!({"kind": "ideal-fair", "full_memory": "drop-arriving"}),
        json!({"kind": "ideal-fair", "full_memory": "drop-furthest"}),
        json!({"kind": "pfabric"}),
        json!({"kind": "srf"}),
        json!({"kind": "rotating-strict"}),
        json!({"kind": "scanning-drr", "quantum": 1_048_576}),
        json!({"kind": "priority-groups", "period": 2_000_000}),
        json!({"kind": "credit-shaping", "queue": 2, "burst": 1, "credit": 84, "frame": 1_538}),
    ]
}

fn markings() -> Vec<Value> {
    let ecn = |at, of| {
        json!({"kind": "ecn", "kmin": 1_000, "kmax": 4_000, "pmax": 0.5, "at": at, "of": of,
               "per_rate": []})
    };
    let qcn = |at, sooner| {
        json!({"kind": "qcn", "set_point": 2_000, "weight": 2.0, "sample_base": 4_000,
               "sooner_when_congested": sooner, "jitter": 0.15, "at": at})
    };
    let codel = |action| {
        json!({"kind": "codel", "target": 300_000, "interval": 2_000_000, "mtu": 500,
               "action": action})
    };
    vec![
        json!({"kind": "none"}),
        ecn("enqueue", "queue"),
        ecn("dequeue", "queue"),
        ecn("dequeue", "port"),
        json!({"kind": "non-pause-ecn"}),
        json!({"kind": "telemetry", "multiplier": 0}),
        qcn("enqueue", true),
        qcn("dequeue", false),
        json!({"kind": "predicted", "threshold": 2_000}),
        json!({"kind": "rounds", "rounds": 2}),
        codel("drop"),
        codel("mark"),
    ]
}

fn backpressures() -> Vec<Value> {
    let bfc = |threshold, elide_down_up| {
        json!({"kind": "bfc", "threshold": threshold, "bitmap_interval": 0, "counts_last": true,
               "elide_down_up": elide_down_up, "elide": [[2, 0, 3]]})
    };
    let fafc = |drain_share| {
        json!({"kind": "fafc", "threshold": 3_000, "queue_smoothing": 0.8, "rate_smoothing": 0.8,
               "congested_hops": 1.0, "rate_decrease": 0.9, "congested_queue": "egress",
               "decrease_in": "need-and-relief", "drain_share": drain_share, "solver_delay": 0,
               "pause_unit": "nanoseconds",
               "pfc": {"xon_offset": 500, "xoff": 5_000, "pause": {"kind": "lasting"}}})
    };
    vec![
        json!({"kind": "none"}),
        json!({"kind": "pfc", "xon_offset": 500, "xoff": null, "pause": {"kind": "lasting"}}),
        json!({"kind": "pfc", "xon_offset": 1_000, "xoff": 3_000, "pause": {"kind": "lasting"}}),
        json!({"kind": "pfc", "xon_offset": 1_000, "xoff": 3_000,
               "pause": {"kind": "timed", "lifetime": 400_000, "refresh": 300_000,
                         "at_arrivals": true}}),
        bfc(json!({"kind": "hop-rtts", "factor": 0.1}), false),
        bfc(json!({"kind": "time", "time": 120_000}), true),
        json!({"kind": "bfc", "threshold": {"kind": "hop-rtts", "factor": 0.1},
               "bitmap_interval": 0, "counts_last": false, "elide_down_up": false, "elide": []}),
        fafc(0.0),
        fafc(0.25),
        json!({"kind": "capfc", "threshold": 3_000, "xon_offset": 500,
               "pfc": {"xon_offset": 500, "xoff": 5_000, "pause": {"kind": "lasting"}}}),
        json!({"kind": "p-pfc", "threshold": 3_000, "xon_offset": 500, "horizon": 500_000,
               "pfc": {"xon_offset": 500, "xoff": 5_000, "pause": {"kind": "lasting"}}}),
        json!({"kind": "credits", "packet": 1_500, "queue_reserve": 1_500, "batch": 1_500,
               "pauses": {"threshold": {"kind": "hop-rtts", "factor": 0.5}, "bitmap_interval": 0,
                          "counts_last": true, "elide_down_up": false, "elide": []}}),
        json!({"kind": "flow-pauses", "threshold": {"kind": "hop-rtts", "factor": 0.1}}),
    ]
}

/// Whether the policies go together; credits and their memory are for each other.
fn goes_together(config: &SwitchConfig) -> bool {
    let mut problems = Problems::default();
    config.fits(&Surroundings::default(), &mut problems);
    let is_credited = config.admission.memory(0) == CREDITED;
    let has_credits = config.backpressure.has_credits();
    problems.is_empty() && is_credited == has_credits
}

/// Every combination that is allowed.
pub fn all() -> Vec<SwitchConfig> {
    let mut combinations = vec![];
    for admission in admissions() {
        for assignment in assignments() {
            for scheduling in schedulings() {
                for marking in markings() {
                    for backpressure in backpressures() {
                        let text = json!({
                            "admission": admission, "assignment": assignment,
                            "scheduling": scheduling, "marking": marking,
                            "backpressure": backpressure,
                        });
                        combinations.push(serde_json::from_value(text).unwrap());
                    }
                }
            }
        }
    }
    combinations.retain(goes_together);
    combinations
}
