//! Scenarios as JSON, piece by piece, and the results of running them.

use penstock_sim::measure::table::Column;
use penstock_sim::{Results, RunOptions, Scenario};
use serde_json::{Value, json};

/// Picoseconds in a nanosecond, microsecond and millisecond.
pub const NS: u64 = 1_000;
pub const US: u64 = 1_000 * NS;
pub const MS: u64 = 1_000 * US;
/// Bits per second.
pub const GBPS: u64 = 1_000_000_000;

/// A scenario without faults and measurements: 1,000 B of payload and 48 B of header in a packet,
/// acknowledgements of 60 B, and a drain of 20 ms. Traffic that would last longer stops at
/// `duration`.
pub fn scenario(topology: Value, scheme: Value, traffic: &[Value], duration: u64) -> Value {
    let stopped = |entry: &Value| match entry["stop"].as_u64() {
        Some(stop) => with(entry.clone(), "/stop", stop.min(duration)),
        None => entry.clone(),
    };
    let traffic: Vec<Value> = traffic.iter().map(stopped).collect();
    json!({
        "name": "test", "seed": 1, "fidelity": "exact", "duration": duration, "drain": 20 * MS,
        "wire": {"payload": 1_000, "header": 48, "acknowledgement": 60, "telemetry": 42,
                 "timestamp": 8, "control_frame": 64},
        "topology": topology, "scheme": scheme, "traffic": traffic,
        "faults": {"control_loss": 0.0, "outages": [], "corruption": []},
        "measure": {"sample_interval": 0, "active_flows": false, "queue_delays": false,
                    "series": [], "events": false, "trace": null},
    })
}

/// `value` with `new` at `pointer`. The place at `pointer` must exist.
pub fn with(mut value: Value, pointer: &str, new: impl Into<Value>) -> Value {
    *value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = new.into();
    value
}

pub fn parse(scenario: &Value) -> Scenario {
    Scenario::from_json(&scenario.to_string()).unwrap()
}

/// Runs `scenario` with its invariants checked.
pub fn run(scenario: &Value) -> Results {
    penstock_sim::run(&parse(scenario), RunOptions { check: true, ..RunOptions::default() }, |_| {
        true
    })
    .unwrap()
}

/// Runs `scenario`; every flow must finish.
pub fn run_to_the_end(scenario: &Value) -> Results {
    let results = run(scenario);
    let summary = &results.summary;
    assert_eq!(summary.flows_finished, summary.flows_started, "{:?}", summary.unfinished);
    results
}

/// A column of a table as real numbers.
pub fn column(results: &Results, table: &str, column: &str) -> Vec<f64> {
    let table = results.tables.iter().find(|candidate| candidate.name == table).unwrap();
    let found = table.columns.iter().find(|candidate| candidate.0 == column).unwrap();
    match &found.1 {
        Column::Bool(values) => values.iter().map(|&value| f64::from(u8::from(value))).collect(),
        Column::U32(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Column::I32(values) => values.iter().map(|&value| f64::from(value)).collect(),
        Column::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Column::I64(values) => values.iter().map(|&value| value as f64).collect(),
        Column::F64(values) => values.clone(),
    }
}

/// A leaf-spine network with 100 Gb/s and 1 us everywhere, as in BFC sec. 6.2.1.
pub fn leaf_spine(racks: u32, hosts_per_rack: u32, spines: u32) -> Value {
    json!({"kind": "leaf-spine", "racks": racks, "hosts_per_rack": hosts_per_rack,
           "spines": spines, "host_rate": 100 * GBPS, "spine_rate": 100 * GBPS,
           "host_delay": US, "spine_delay": US, "pipeline_delay": 0, "failed_links": []})
}

pub fn single_switch(hosts: u32) -> Value {
    json!({"kind": "single-switch", "hosts": hosts, "rate": 100 * GBPS, "delay": US,
           "pipeline_delay": 0, "failed_links": []})
}

/// `servers` of `gpus` hosts in one group, with a leaf for each rail and two spines: 100 Gb/s and 1 us
/// everywhere, and links of `inner` Gb/s and 1 us inside servers.
pub fn rail(servers: u32, gpus: u32, inner: u64) -> Value {
    json!({"kind": "rail", "servers": servers, "gpus": gpus, "servers_per_group": servers,
           "spines": 2, "oversubscription": 1, "rate": 100 * GBPS, "delay": US,
           "pipeline_delay": 0, "inner_rate": inner * GBPS, "inner_delay": null, "failed_links": []})
}

/// A dumbbell with a core of 100 Gb/s between edges of `edge_rate`.
pub fn dumbbell(left: u32, right: u32, edge_rate: u64) -> Value {
    json!({"kind": "dumbbell", "left": left, "right": right, "edge_rate": edge_rate,
           "edge_delay": US, "core_rate": 100 * GBPS, "core_delay": US, "pipeline_delay": 0,
           "failed_links": []})
}

/// A graph, with links as (a, b, rate in Gb/s, delay in ps).
pub fn graph(hosts: u32, switches: u32, links: &[(u32, u32, u64, u64)]) -> Value {
    let link = |&(a, b, rate, delay): &(u32, u32, u64, u64)| {
        json!({"a": a, "b": b,
        "rate": rate * GBPS, "delay": delay})
    };
    let links: Vec<Value> = links.iter().map(link).collect();
    json!({"kind": "graph", "hosts": hosts, "switches": switches, "links": links,
           "pipeline_delay": 0, "failed_links": []})
}

/// Listed flows, as (source, destination, size, start).
pub fn listed(flows: &[(u32, u32, u64, u64)]) -> Value {
    json!({"kind": "listed", "label": "listed", "class": 0, "flows": flows,
        "spread": 0, "lasts": [], "after": [], "lag": [], "delay": [], "needed": [],
        "places": [], "steps": [], "destination_ports": []})
}

/// Poisson arrivals of `sizes` between uniform pairs, with `load` on the core.
pub fn open_loop(sizes: Value, load: f64, stop: u64) -> Value {
    json!({"kind": "open-loop", "label": "background", "class": 0, "class_above": [], "sizes": sizes,
           "arrivals": {"kind": "poisson"}, "pairs": {"kind": "uniform"}, "load": load,
           "load_on": {"kind": "core"}, "load_counts": "crossing", "connections": 0, "start": 0,
           "stop": stop})
}

/// One incast at the start: `degree` hosts send `size` bytes each to `receiver`.
pub fn incast(degree: u32, size: u64, receiver: Option<u32>) -> Value {
    json!({"kind": "incast", "label": "incast", "class": 0, "degree": degree,
           "size": u64::from(degree) * size, "period": 100 * MS, "start": 0, "stop": 100 * MS,
           "receiver": receiver, "senders": null, "lasts": 0, "replace": false})
}

/// A shared buffer of 12 MiB; with dynamic thresholds, so that it is lossless, if `is_lossless`.
fn shared(is_lossless: bool) -> Value {
    let headroom = json!({"kind": "bdp", "factor": 3.0});
    let ingress = json!({"alpha": 0.125, "reserve": 4_096, "headroom": headroom});
    let ingress = if is_lossless { ingress } else { Value::Null };
    json!({"kind": "shared", "buffer": 12 << 20, "other_buffers": [], "ingress": ingress})
}

fn scheme(name: &str, switch: Value, controller: Value, nic_queues: u32) -> Value {
    json!({
        "name": name,
        "switch": switch,
        "host": {
            "controller": controller,
            "recovery": {"kind": "go-back-n", "timeout": 4 * MS, "nack_interval": 500 * US},
            "nic": {"queues": nic_queues, "reacts": true, "empty_queue": "any", "scheduling": "round-robin"},
            "base_rtt": "longest", "other_controllers": [],
        },
        "routing": {"kind": "ecmp"},
    })
}

fn fifo(marking: Value) -> Value {
    json!({
        "admission": shared(true), "assignment": {"kind": "class", "classes": 1},
        "scheduling": {"kind": "fifo"}, "marking": marking,
        "backpressure": {"kind": "pfc", "xon_offset": 3_072, "xoff": null, "pause": {"kind": "lasting"}},
    })
}

fn window() -> Value {
    json!({"kind": "window", "bdp_factor": 1.0})
}

/// Line rate over PFC.
pub fn pfc() -> Value {
    scheme("pfc", fifo(json!({"kind": "none"})), json!({"kind": "line-rate"}), 0)
}

/// Line rate over one FIFO a port, with drops.
pub fn line_rate() -> Value {
    let lossy = with(pfc(), "/switch/admission", shared(false));
    let lossy = with(lossy, "/switch/backpressure", json!({"kind": "none"}));
    with(lossy, "/name", "line-rate")
}

pub fn dctcp() -> Value {
    let controller = json!({"kind": "dctcp", "gain": 0.0625, "start": "line-rate",
        "initial_window_packets": 10, "increase": {"kind": "window", "size": 1_000},
        "minimum_rate": GBPS / 10, "window": "scaled"});
    scheme("dctcp", fifo(ecn(1.0)), controller, 0)
}

pub fn hpcc() -> Value {
    let controller = json!({"kind": "hpcc", "target_utilization": 0.95, "maximum_stage": 5,
        "additive_increase": {"kind": "window", "size": 80}, "minimum_rate": GBPS / 10,
        "react": "per-ack", "window": "scaled"});
    scheme("hpcc", fifo(json!({"kind": "telemetry", "multiplier": 0})), controller, 0)
}

fn ecn(pmax: f64) -> Value {
    json!({"kind": "ecn", "kmin": 100_000, "kmax": 400_000, "pmax": pmax, "at": "dequeue",
           "of": "queue", "per_rate": []})
}

/// DCQCN of its paper.
pub fn dcqcn() -> Value {
    let controller = json!({"kind": "dcqcn", "gain": 0.00390625, "first_estimate": 1.0,
        "cut_by": "estimate", "alpha_interval": 55 * US, "notification_interval": 50 * US,
        "notify_at": "mark", "increase_interval": 55 * US, "increase_bytes": 10_000_000,
        "fast_recovery_rounds": 5, "additive_increase": GBPS / 25, "hyper_increase": GBPS / 5,
        "recovery": "paper", "minimum_rate": GBPS / 10, "window": "none"});
    scheme("dcqcn", fifo(ecn(1.0)), controller, 0)
}

/// DCQCN of NVIDIA's firmware.
pub fn dcqcn_mellanox() -> Value {
    let controller = json!({"kind": "dcqcn-mellanox", "gain": 0.00390625, "alpha_interval": US,
        "decrease_interval": 4 * US, "increase_interval": 300 * US, "fast_recovery_rounds": 1,
        "additive_increase": GBPS / 50, "hyper_increase": GBPS / 5, "minimum_rate": GBPS,
        "clamps_target": false, "window": "none"});
    scheme("dcqcn-mellanox", fifo(ecn(0.2)), controller, 0)
}

/// PCN with the values of its paper.
pub fn pcn() -> Value {
    let controller = json!({"kind": "pcn", "minimum_weight": 0.0078125, "maximum_weight": 0.5,
        "notification_interval": 50 * US, "first_notification": "period", "clock_error": 0.0,
        "marked_share": 0.95, "minimum_rate": GBPS / 1_000});
    scheme("pcn", fifo(json!({"kind": "non-pause-ecn"})), controller, 0)
}

/// PCN whose first notification may leave at a mark (ours).
pub fn pcn_early() -> Value {
    let early = with(pcn(), "/host/controller/first_notification", "mark");
    with(early, "/name", "pcn-early")
}

/// QCN with the values of its standard.
pub fn qcn() -> Value {
    let marking = json!({"kind": "qcn", "set_point": 26_000, "weight": 2.0,
        "sample_base": 150_000, "sooner_when_congested": true, "jitter": 0.15, "at": "enqueue"});
    let controller = json!({"kind": "qcn", "decrease_gain": 0.0078125,
        "minimum_decrease_factor": 0.5, "increase_interval": 15 * MS, "increase_bytes": 150_000,
        "fast_recovery_rounds": 5, "additive_increase": GBPS / 200, "hyper_increase": GBPS / 20,
        "minimum_rate": GBPS / 200, "window": "none"});
    scheme("qcn", fifo(marking), controller, 0)
}

/// TIMELY as in the HPCC simulator.
pub fn timely() -> Value {
    let controller = json!({"kind": "timely", "ewma_weight": 0.875, "decrease_factor": 0.8,
        "additive_increase": GBPS / 10, "hyper_increase": GBPS / 2, "hyper_after": 5,
        "hyper_below_low": true, "low_rtt": 50 * US, "high_rtt": 500 * US,
        "minimum_rtt": 20 * US, "largest_cut": 1.0, "weighs_interval": false,
        "update": {"kind": "round-trip"}, "band": {"kind": "gradient"},
        "minimum_rate": GBPS, "window": "none"});
    scheme("timely", fifo(json!({"kind": "none"})), controller, 0)
}

/// HPCC without PFC; the switch reports drops to the source.
pub fn perfect_retransmission() -> Value {
    let lossy = with(hpcc(), "/switch/admission", shared(false));
    let lossy = with(lossy, "/switch/backpressure", json!({"kind": "none"}));
    let perfect = with(lossy, "/host/recovery", json!({"kind": "perfect"}));
    with(perfect, "/name", "perfect-retransmission")
}

pub fn bfc() -> Value {
    let switch = json!({
        "admission": shared(false),
        "assignment": {"kind": "dynamic", "queues": 32, "classes": 1, "table_factor": 100,
                       "sticky_hop_rtts": 2.0, "incast_queue": false, "sampling": 1.0,
                       "search": "rotating", "empty_queue": "any", "grace_hop_rtts": 0.0, "epoch_bits": 0,
                       "classes_share": false, "full_port": "random",
                       "acknowledgements": "control"},
        "scheduling": {"kind": "drr", "quantum": 1_048},
        "marking": {"kind": "none"},
        "backpressure": {"kind": "bfc", "threshold": {"kind": "hop-rtts", "factor": 1.0},
                         "bitmap_interval": 100 * US, "counts_last": true,
                         "elide_down_up": false, "elide": []},
    });
    scheme("bfc", switch, json!({"kind": "line-rate"}), 32)
}

/// BFC with `queues` queues a port and credits for a memory of `buffer` bytes.
pub fn credits(queues: u32, buffer: u64) -> Value {
    let bfc = bfc();
    let mut pauses = bfc["switch"]["backpressure"].clone();
    pauses.as_object_mut().unwrap().remove("kind");
    let credits = json!({"kind": "credits", "pauses": pauses, "packet": 1_048,
                         "queue_reserve": 1_048, "batch": 8_384});
    let scheme = with(with(bfc, "/switch/backpressure", credits), "/name", "credits");
    let scheme = with(scheme, "/switch/assignment/queues", queues);
    with(with(scheme, "/host/nic/queues", queues), "/switch/admission/buffer", buffer)
}

pub fn sfq() -> Value {
    let switch = json!({
        "admission": shared(false),
        "assignment": {"kind": "stochastic", "queues": 32, "classes": 1},
        "scheduling": {"kind": "drr", "quantum": 1_048},
        "marking": {"kind": "none"}, "backpressure": {"kind": "none"},
    });
    scheme("sfq", switch, window(), 0)
}

pub fn ideal_fq() -> Value {
    let switch = json!({
        "admission": {"kind": "infinite"}, "assignment": {"kind": "per-flow"},
        "scheduling": {"kind": "ideal-fair", "full_memory": "drop-arriving"},
        "marking": {"kind": "none"}, "backpressure": {"kind": "none"},
    });
    scheme("ideal-fq", switch, window(), 0)
}

/// NewReno over drop-tail ports of `buffer` bytes.
pub fn tcp(buffer: u64) -> Value {
    let static_port = json!({"kind": "static", "per_port": buffer, "other_tiers": []});
    let lossy = with(line_rate(), "/switch/admission", static_port);
    let controller = json!({"kind": "new-reno", "initial_window_packets": 10});
    let recovery = json!({"kind": "fast-retransmit", "duplicate_threshold": 3,
        "initial_timeout": 200 * US, "minimum_timeout": 200 * US, "maximum_timeout": 100 * MS});
    let tcp = with(with(lossy, "/host/controller", controller), "/host/recovery", recovery);
    with(tcp, "/name", "tcp")
}

/// DCTCP on the window of TCP, over drop-tail ports of `buffer` bytes.
pub fn dctcp_tcp(buffer: u64) -> Value {
    let controller = json!({"kind": "reno-dctcp", "gain": 0.0625, "initial_window_packets": 1});
    let marked = with(tcp(buffer), "/switch/marking", ecn(1.0));
    with(with(marked, "/host/controller", controller), "/name", "dctcp-tcp")
}

/// AFQ with packet pairs over drop-tail ports of `buffer` bytes. The errors of AFQ's sketch are
/// counted.
pub fn afq(buffer: u64) -> Value {
    let axes = [
        (
            "assignment",
            json!({"kind": "rounds", "queues": 33, "bytes_per_round": 1_048, "rows": 2,
            "columns": 64, "bids": "audited", "round": "scheduler", "horizon": "queues"}),
        ),
        ("scheduling", json!({"kind": "rotating-strict"})),
        ("marking", json!({"kind": "rounds", "rounds": 8})),
    ];
    let pair = json!({"kind": "packet-pair", "gain": 0.25, "mark_gain": 0.0625,
        "in_flight_factor": 1.5, "bytes_per_round": 1_048, "on_change": "follow"});
    let afq = axes.into_iter().fold(tcp(buffer), |scheme, (axis, policy)| {
        with(scheme, &format!("/switch/{axis}"), policy)
    });
    with(with(afq, "/host/controller", pair), "/name", "afq")
}

/// Line rate with selective repeat over drop-tail ports of `buffer` bytes.
pub fn irn(buffer: u64) -> Value {
    let recovery = json!({"kind": "selective-repeat", "bdp_factor": 1.0,
        "timeout_low": 100 * US, "timeout_high": 320 * US, "low_packets": 3});
    let irn = with(tcp(buffer), "/host/recovery", recovery);
    with(with(irn, "/host/controller", json!({"kind": "line-rate"})), "/name", "irn")
}

/// PowerTCP over PFC, with `expected_flows` at a NIC.
pub fn powertcp(expected_flows: u32) -> Value {
    let controller = json!({"kind": "powertcp", "weight": 0.9, "expected_flows": expected_flows,
        "minimum_rate": 100_000_000, "window": "scaled"});
    with(with(hpcc(), "/host/controller", controller), "/name", "powertcp")
}

/// Theta-PowerTCP over PFC, with `expected_flows` at a NIC.
pub fn theta_powertcp(expected_flows: u32) -> Value {
    let controller = json!({"kind": "theta-powertcp", "weight": 0.9,
        "expected_flows": expected_flows, "least_current": 0.0, "minimum_rate": 100_000_000,
        "window": "scaled"});
    with(with(pfc(), "/host/controller", controller), "/name", "theta-powertcp")
}

/// Swift over PFC, from a window of `initial` packets.
pub fn swift(initial: u32) -> Value {
    let controller = json!({"kind": "swift", "additive_increase": 1.0, "beta": 0.8,
        "maximum_decrease": 0.5, "base_target": null, "hop_target": 1_200_000, "range": 8 * US,
        "minimum_flow_window": 0.1, "maximum_flow_window": 100.0, "minimum_window": 0.001,
        "maximum_window": 1000.0, "initial_window_packets": initial, "reset_after": 5});
    with(with(pfc(), "/host/controller", controller), "/name", "swift")
}

/// FAFC with DCTCP. FAFC predicts a queue beyond `threshold` early enough for small bursts.
pub fn fafc(threshold: u64) -> Value {
    let switch = json!({
        "admission": shared(true), "assignment": {"kind": "ingress"},
        "scheduling": {"kind": "drr", "quantum": 1_048},
        "marking": {"kind": "predicted", "threshold": threshold / 2},
        "backpressure": {"kind": "fafc", "threshold": threshold, "queue_smoothing": 0.8,
                         "rate_smoothing": 0.8, "congested_hops": 1.0, "rate_decrease": 0.9,
                         "congested_queue": "egress", "decrease_in": "need-and-relief",
                         "drain_share": 0.0, "solver_delay": 0, "pause_unit": "nanoseconds",
                         "pfc": {"xon_offset": 3_072, "xoff": null, "pause": {"kind": "lasting"}}},
    });
    with(with(dctcp(), "/switch", switch), "/name", "fafc")
}

/// FAFC whose queues also hold ingresses by their length (ours).
pub fn fafc_hold(threshold: u64) -> Value {
    let hold = with(fafc(threshold), "/switch/backpressure/drain_share", 0.25);
    with(hold, "/name", "fafc-hold")
}

/// ExpressPass with BFC's parameters, for data packets of `frame` bytes and credits of 76 to 92 B.
pub fn expresspass(frame: u64) -> Value {
    let controller = json!({"kind": "expresspass", "initial_rate": 0.5, "initial_weight": 0.0625,
        "minimum_weight": 0.01, "maximum_weight": 0.5,
        "feedback": {"kind": "released", "target_loss": 0.125, "weight_step": 0.05},
        "jitter": 0.1, "credit_minimum": 76, "credit_maximum": 92, "full_rate_packets": 40,
        "early_stop": true, "request_timeout": 100 * US});
    let scheduling =
        json!({"kind": "credit-shaping", "queue": 16, "burst": 2, "credit": 84, "frame": frame});
    let expresspass = with(line_rate(), "/switch/scheduling", scheduling);
    let expresspass = with(expresspass, "/host/controller", controller);
    with(with(expresspass, "/routing/kind", "symmetric-ecmp"), "/name", "expresspass")
}

/// NDP with packets that keep the path of their flow, and a timeout of 1 ms.
pub fn ndp() -> Value {
    let ndp = with(
        line_rate(),
        "/switch/admission",
        json!({"kind": "trimming", "packets": 8, "control_weight": 10}),
    );
    let ndp = with(ndp, "/host/controller", json!({"kind": "ndp", "bdp_factor": 1.0}));
    let recovery = json!({"kind": "trimmed-headers", "timeout": MS});
    with(with(ndp, "/host/recovery", recovery), "/name", "ndp")
}

/// pFabric with packets that keep the path of their flow, and 100 kB a port.
pub fn pfabric() -> Value {
    let memory = json!({"kind": "static", "per_port": 100_000, "other_tiers": []});
    let pfabric = with(line_rate(), "/switch/admission", memory);
    let pfabric = with(pfabric, "/switch/assignment", json!({"kind": "per-flow"}));
    let pfabric = with(pfabric, "/switch/scheduling", json!({"kind": "pfabric"}));
    let controller =
        json!({"kind": "pfabric", "initial_bdp_factor": 1.0, "maximum_bdp_factor": 1.25});
    let pfabric = with(pfabric, "/host/controller", controller);
    let recovery = json!({"kind": "timeout-only", "timeout_rtts": 3.0});
    let pfabric = with(pfabric, "/host/recovery", recovery);
    with(with(pfabric, "/host/nic/scheduling", "srf"), "/name", "pfabric")
}

/// All schemes, by name.
pub fn schemes() -> Vec<Value> {
    vec![
        bfc(),
        dctcp(),
        hpcc(),
        pfc(),
        line_rate(),
        sfq(),
        ideal_fq(),
        perfect_retransmission(),
        dcqcn(),
        dcqcn_mellanox(),
        pcn_early(),
        qcn(),
        timely(),
        tcp(50_000),
        irn(50_000),
        swift(100),
        powertcp(167),
        theta_powertcp(167),
        fafc(60_000),
        fafc_hold(60_000),
        afq(50_000),
        expresspass(1_048),
        ndp(),
        pfabric(),
    ]
}

pub fn name(scheme: &Value) -> &str {
    scheme["name"].as_str().unwrap()
}
