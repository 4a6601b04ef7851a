//! Flows that wait for others: when they start, on any number of threads, in checkpoints, in summaries; and
//! collectives and requests against their closed forms.

use penstock_sim::measure::table::{Column, Table};
use penstock_sim::{Results, validate};
use serde_json::{Value, json};

use crate::checkpoint;
use crate::fixture::{
    GBPS, MS, US, bfc, column, dctcp, expresspass, graph, hpcc, leaf_spine, listed, name, parse,
    pfc, run, run_to_the_end, scenario, single_switch, with,
};
use crate::threads;

/// Listed flows, with who waits for whom.
pub fn after(flows: &[(u32, u32, u64, u64)], after: &[(u32, u32, &str)]) -> Value {
    with(listed(flows), "/after", json!(after))
}

/// A column of exact numbers.
pub fn exact(results: &Results, table: &str, name: &str) -> Vec<u64> {
    numbers(results.tables.iter().find(|candidate| candidate.name == table).unwrap(), name)
}

/// A column of a table, as exact numbers.
pub fn numbers(table: &Table, name: &str) -> Vec<u64> {
    match &table.columns.iter().find(|candidate| candidate.0 == name).unwrap().1 {
        Column::U64(values) => values.clone(),
        Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
        other => panic!("{other:?}"),
    }
}

/// By number: start and end of each flow (ps).
pub fn spans(results: &Results) -> Vec<(u64, u64)> {
    let flows = column(results, "flows", "flow");
    let (starts, times) =
        (column(results, "flows", "start_ns"), column(results, "flows", "fct_ns"));
    let mut spans = vec![(0, 0); flows.len()];
    for ((flow, start), time) in flows.into_iter().zip(starts).zip(times) {
        let ps = |ns: f64| (1_000.0 * ns).round() as u64;
        spans[flow as usize] = (ps(start), ps(start) + ps(time));
    }
    spans
}

/// How long `bytes` take from one host to another of a star with 100 Gb/s and 1 us, to the last byte:
/// packets of 1,000 B have headers of 48 B, and the last packet is stored and forwarded.
fn received_after(bytes: u64) -> u64 {
    let on_wire = |payload: u64| 80 * (payload + 48);
    let (full, rest) = (bytes / 1_000, bytes % 1_000);
    let sent = full * on_wire(1_000) + if rest > 0 { on_wire(rest) } else { 0 };
    let last = if rest > 0 { on_wire(rest) } else { on_wire(1_000) };
    sent + last + 2 * US
}

/// As [`received_after`], where as much comes the other way: a link that carries data also carries the
/// acknowledgements of 60 B for what comes the other way.
fn exchanged_after(bytes: u64) -> u64 {
    received_after(bytes) + bytes.div_ceil(1_000) * ACKNOWLEDGEMENT
}

/// An acknowledgement of 60 B on a link of 100 Gb/s.
const ACKNOWLEDGEMENT: u64 = 80 * 60;

/// An acknowledgement on its way back.
const ACKNOWLEDGED: u64 = 2 * ACKNOWLEDGEMENT + 2 * US;

fn star(traffic: &[Value]) -> Value {
    scenario(single_switch(8), pfc(), traffic, 5 * MS)
}

#[test]
fn each_event_has_a_lag_of_its_own() {
    let flows = [(0, 1, 5_000, 0), (2, 1, 900, 0), (1, 3, 700, 0)];
    let edges = [(2, 0, "received"), (2, 1, "received")];
    let traffic = |lag: [u64; 2], delay| {
        let traffic = with(after(&flows, &edges), "/lag", json!(lag));
        with(traffic, "/delay", json!([0, 0, delay]))
    };
    let start = |lag, delay| spans(&run_to_the_end(&star(&[traffic(lag, delay)])))[2].0;
    let none = start([0, 0], 0);
    // The small flow comes first, so its event counts only with a lag.
    assert_eq!(start([3 * US, 0], US), none + 4 * US);
    let late = start([0, 50 * US], US);
    assert!(none + 40 * US < late && late < none + 51 * US, "{late} {none}");
}

#[test]
fn a_list_with_places_is_a_job_with_iterations_and_steps() {
    let flows = [(0, 1, 5_000, 0), (1, 0, 700, 0), (0, 1, 5_000, 0), (2, 3, 100, US)];
    let edges = [(1, 0, "received"), (2, 1, "received")];
    let traffic =
        with(after(&flows, &edges), "/places", json!([[0, 0, 0], [0, 1, 1], [4, 0, 0], [4, 1, 2]]));
    let traffic = with(traffic, "/steps", json!(["there", "back"]));
    let results = run_to_the_end(&star(&[traffic]));
    let first = received_after(5_000);
    let [starts, times] = ["start_ps", "time_ps"].map(|name| exact(&results, "steps", name));
    assert_eq!(exact(&results, "steps", "iteration"), [0, 0, 4, 4]);
    assert_eq!(exact(&results, "steps", "step"), [0, 1, 0, 1]);
    assert_eq!([starts[0], starts[1], starts[3]], [0, first, US]);
    assert_eq!([times[0], times[3]], [first, received_after(100)]);
    assert_eq!(exact(&results, "jobs", "iteration"), [0, 4]);
    assert_eq!(exact(&results, "jobs", "start_ps"), [0, US]);
    let times = exact(&results, "jobs", "time_ps");
    assert_eq!(times[0], exact(&results, "steps", "time_ps")[1] + first);
    assert_eq!(times[1], starts[2] + exact(&results, "steps", "time_ps")[2] - US);
    assert_eq!(exact(&results, "jobs", "bytes"), [5_700, 5_100]);
    assert!(column(&results, "jobs", "bus_bandwidth_bps").iter().all(|rate| rate.is_nan()));
    let job = &results.summary.applications.as_ref().unwrap().jobs["listed"];
    assert_eq!((job.iterations, job.finished, job.bus_bandwidth_bps), (2, 2, None));
    assert_eq!(job.steps, ["there", "back"]);
}

#[test]
fn a_job_that_is_cut_short_has_no_row_for_what_is_not_over() {
    let flows = [(0, 1, 5_000, 0), (1, 0, 700, 0)];
    let traffic =
        with(after(&flows, &[(1, 0, "received")]), "/places", json!([[0, 0, 0], [1, 0, 1]]));
    let traffic = with(traffic, "/delay", json!([0, 90 * MS]));
    let results = run(&star(&[traffic]));
    assert_eq!(exact(&results, "jobs", "iteration"), [0]);
    assert_eq!(exact(&results, "steps", "iteration"), [0]);
    let job = &results.summary.applications.as_ref().unwrap().jobs["listed"];
    assert_eq!((job.iterations, job.finished), (2, 1));
}

#[test]
fn a_flow_waits_for_what_its_host_receives_or_for_its_own_flow() {
    let flows = [(0, 1, 5_000, US), (1, 2, 700, 0), (1, 3, 9_000, 0), (3, 0, 100, 0)];
    // 1 waits for 0 at the destination of 0; 2 waits for 1 at the source of both; 3 for 2 and for a delay.
    let edges = [(1, 0, "natural"), (2, 1, "natural"), (3, 2, "natural")];
    let traffic = with(after(&flows, &edges), "/delay", json!([0, 0, 0, 7 * US]));
    let spans = spans(&run_to_the_end(&star(&[traffic])));
    let first = US + received_after(5_000);
    assert_eq!(spans[0], (US, first + ACKNOWLEDGED));
    // The acknowledgement of 0 leaves host 1 first.
    assert_eq!(spans[1], (first, first + ACKNOWLEDGEMENT + received_after(700) + ACKNOWLEDGED));
    assert_eq!(spans[2].0, spans[1].1);
    assert_eq!(spans[3].0, spans[2].0 + received_after(9_000) + 7 * US);
}

#[test]
fn barriers_forks_and_the_first_of_several() {
    let flows = [
        (0, 1, 5_000, 0),
        (2, 1, 50_000, 0),
        (1, 3, 100, 0),       // a barrier: both
        (1, 4, 100, 0),       // a fork, and the first of two
        (1, 5, 100, 90 * US), // not before its start
    ];
    let edges = [
        (2, 0, "natural"),
        (2, 1, "natural"),
        (3, 0, "received"),
        (3, 1, "received"),
        (4, 0, "natural"),
    ];
    let traffic = with(after(&flows, &edges), "/needed", json!([0, 0, 0, 1, 0]));
    let results = run_to_the_end(&star(&[traffic]));
    let spans = spans(&results);
    assert!(spans[2].0 > received_after(50_000), "the barrier waits for the larger one");
    assert!(spans[3].0 < spans[2].0 && spans[3].0 >= received_after(5_000));
    assert_eq!(spans[4].0, 90 * US);
    assert_eq!(exact(&results, "dependents", "flow"), [3, 2, 4]);
    assert_eq!(exact(&results, "dependents", "released_by"), [0, 1, 0]);
    assert_eq!(exact(&results, "dependents", "start_ps"), [spans[3].0, spans[2].0, spans[4].0]);
}

#[test]
fn news_for_another_host_travels_a_window() {
    // Hosts 0 and 1 are at switch 4, 2 and 3 at switch 5; 3 us between the switches.
    let cables =
        [(0, 4, 100, US), (1, 4, 100, US), (2, 5, 100, US), (3, 5, 100, US), (4, 5, 100, 3 * US)];
    let network = graph(4, 2, &cables);
    let flows = [(0, 1, 1_000, 0), (2, 3, 1_000, 0), (1, 0, 1_000, 0), (3, 2, 1_000, 0)];
    let edges = [(1, 0, "received"), (2, 0, "received"), (3, 0, "acknowledged")];
    let case = scenario(network, pfc(), &[after(&flows, &edges)], 5 * MS);
    let spans = spans(&run_to_the_end(&case));
    let received = received_after(1_000);
    assert_eq!(spans[2].0, received, "at the host itself");
    assert_eq!(spans[1].0, received + 3 * US);
    assert_eq!(spans[3].0, spans[0].1 + 3 * US);
    assert_eq!(threads::difference(&parse(&case), &[2]), None);
}

pub fn collective(operation: &str, bytes: u64, iterations: u32) -> Value {
    json!({"kind": "collective", "label": operation, "class": 0, "operation": operation, "ranks": [],
           "bytes": bytes, "chunks": 1, "peers": 1, "iterations": iterations, "gap": 3 * US, "start": 0})
}

pub fn rpc(outstanding: u32, fan_out: u32, stop: u64) -> Value {
    json!({"kind": "rpc", "label": "rpc", "class": 0, "clients": [0, 1], "servers": [],
           "outstanding": outstanding, "fan_out": fan_out,
           "request": {"kind": "fixed", "size": 300}, "response": {"kind": "exponential", "mean": 5_000},
           "think": {"kind": "exponential", "mean": 4 * US}, "start": 0, "stop": stop})
}

pub fn on_off(stop: u64) -> Value {
    json!({"kind": "on-off", "label": "bursts", "class": 0, "senders": [], "receivers": [],
           "sizes": {"kind": "fixed", "size": 20_000},
           "gaps": {"kind": "exponential", "mean": 9 * US}, "start": US, "stop": stop})
}

/// Everything at once between eight hosts.
fn mixed(scheme: Value) -> Value {
    let flows: Vec<(u32, u32, u64, u64)> = (0..40)
        .map(|row| (row % 8, (row * 3 + 1 + row % 8) % 8, 3_000 + 400 * u64::from(row), 0))
        .collect();
    let flows: Vec<_> = flows
        .into_iter()
        .map(|(a, b, size, t)| (a, if a == b { (b + 1) % 8 } else { b }, size, t))
        .collect();
    let edges: Vec<(u32, u32, &str)> = (8..40u32)
        .flat_map(|row| [(row, row - 8, "natural"), (row, row - 5, "received")])
        .collect();
    let traffic = [
        after(&flows, &edges),
        collective("ring-all-reduce", 160_000, 2),
        with(collective("tree-all-reduce", 40_000, 2), "/chunks", 4),
        with(collective("all-to-all", 80_000, 2), "/peers", 3),
        rpc(2, 3, 300 * US),
        on_off(300 * US),
    ];
    scenario(leaf_spine(4, 2, 2), scheme, &traffic, 400 * US)
}

#[test]
fn dependent_traffic_is_the_same_on_any_number_of_threads() {
    for scheme in [bfc(), hpcc(), dctcp(), expresspass(1_048)] {
        let name = name(&scheme).to_owned();
        let measured = parse(&threads::measured(mixed(scheme)));
        assert_eq!(threads::difference(&measured, &[2, 4]), None, "{name}");
    }
}

/// In the first instant partitions with hosts hear news. Spines that are apart hear none, and packets reach
/// them soon, because the links of hosts are short.
#[test]
fn collectives_are_the_same_where_partitions_have_no_hosts() {
    let network = with(leaf_spine(2, 2, 2), "/host_delay", 10_000);
    let operations = [
        "ring-all-reduce",
        "tree-all-reduce",
        "halving-doubling-all-reduce",
        "all-gather",
        "reduce-scatter",
        "all-to-all",
    ];
    for operation in operations {
        let traffic = [collective(operation, 40_000, 2)];
        let case = scenario(network.clone(), dctcp(), &traffic, 400 * US);
        assert_eq!(threads::difference(&parse(&case), &[2, 3, 4]), None, "{operation}");
    }
}

#[test]
fn a_run_with_dependent_traffic_goes_on_where_it_was_saved() {
    for (scheme, share) in [(bfc(), 0.3), (pfc(), 0.6)] {
        let case = parse(&threads::measured(mixed(scheme)));
        assert_eq!(checkpoint::difference(&case, &[1, 3], share), None, "{share}");
    }
}

#[test]
fn an_outage_does_not_matter_to_who_waits_for_whom() {
    let outage = json!([{"link": [8, 12], "start": 20 * US, "end": 45 * US}]);
    let case = parse(&threads::measured(with(mixed(bfc()), "/faults/outages", outage)));
    assert_eq!(threads::difference(&case, &[3]), None);
}

#[test]
fn flows_that_never_start_are_named_with_what_they_wait_for() {
    let flows = [(0, 1, 500_000_000, 0), (1, 2, 1_000, 0), (2, 3, 1_000, 0)];
    let edges = [(1, 0, "natural"), (2, 1, "natural")];
    let case = with(star(&[after(&flows, &edges)]), "/drain", 0);
    let summary = run(&case).summary;
    let applications = summary.applications.unwrap();
    assert_eq!((applications.planned_flows, applications.not_started), (3, 2));
    let waiting: Vec<(u64, &str)> =
        applications.waiting.iter().map(|one| (one.flow, &one.waits_for[..])).collect();
    assert_eq!(waiting, [(1, "flow 0 to be received")]);
    assert_eq!(summary.unfinished[0].flow, 0);
    let late = with(after(&flows[1..], &[(1, 0, "natural")]), "/delay", json!([0, 50 * MS]));
    let summary = run(&star(&[late])).summary;
    let waiting = summary.applications.unwrap().waiting;
    assert!(waiting[0].waits_for.starts_with("its delay after flow 0, until 50"), "{waiting:?}");
}

fn refusal(case: &Value) -> String {
    validate(&parse(case)).unwrap_err().to_string()
}

/// Every traffic is refused, alone on a star, and the refusal says what is expected.
fn each_is_refused<const N: usize>(cases: [(Value, &str); N]) {
    for (traffic, expected) in cases {
        let found = refusal(&star(&[traffic]));
        assert!(found.contains(expected), "{found} does not say {expected}");
    }
}

#[test]
fn lists_that_cannot_be_are_refused() {
    let cases = [
        (
            with(listed(&[(0, 1, 9, 0)]), "/delay", json!([5])),
            "traffic[0].delay is a list of 1; no flow waits",
        ),
        (
            with(after(&[(0, 1, 9, 0), (1, 0, 9, 0)], &[(1, 0, "natural")]), "/lag", json!([1, 2])),
            "traffic[0].lag is a list of 2; write one for each of the 1 rows of `after`",
        ),
        (
            with(listed(&[(0, 1, 9, 0)]), "/steps", json!(["forward"])),
            "traffic[0].steps is a list of 1; the flows are no job",
        ),
        (
            with(
                with(listed(&[(0, 1, 9, 0)]), "/places", json!([[0, 2, 0]])),
                "/steps",
                json!(["forward", "back"]),
            ),
            "traffic[0].places[0][1] is 2; `steps` has names for 0 to 1",
        ),
        (
            with(listed(&[(0, 1, 9, 0), (1, 2, 9, 0)]), "/places", json!([[0, 0, 0]])),
            "traffic[0].places is a list of 1; write one for each of the 2 flows",
        ),
        (
            with(after(&[(0, 1, 9, 0), (1, 0, 9, 0)], &[(1, 0, "natural")]), "/spread", 5),
            "traffic[0].spread is 5 ps; flows that wait",
        ),
        (
            after(&[(0, 1, 9, 0), (1, 0, 9, 0)], &[(1, 0, "natural"), (0, 1, "natural")]),
            "traffic[0].after[1] is [0, 1]; these flows wait for each other",
        ),
    ];
    each_is_refused(cases);
}

#[test]
fn dependent_traffic_is_refused_where_it_cannot_be() {
    let one = collective("ring-all-reduce", 100_000, 1);
    let cases = [
        (
            with(one.clone(), "/ranks", json!([0, 1, 8])),
            "traffic[0].ranks[2] is 8; there is no such host",
        ),
        (
            with(one.clone(), "/ranks", json!([3])),
            "traffic[0].ranks is a list of 1; a collective needs two",
        ),
        (
            with(
                with(one.clone(), "/operation", "halving-doubling-all-reduce"),
                "/ranks",
                json!([0, 1, 2]),
            ),
            "traffic[0].ranks is a list of 3; halving and doubling needs 2, 4, 8",
        ),
        (with(one.clone(), "/bytes", 7), "traffic[0].bytes is 7 B; it is cut into 8 parts"),
        (with(one.clone(), "/bytes", u64::MAX), "traffic[0].bytes is 18446744073709551"),
        (with(one.clone(), "/peers", 2), "traffic[0].peers is 2; only an all-to-all"),
        (with(one.clone(), "/start", 9 * MS), "traffic[0].start is 9 ms; it is not before"),
        (
            with(with(one, "/chunks", 4_096), "/iterations", 1_000_000),
            "traffic[0].iterations is 1000000; the collective has 458752000000 flows",
        ),
        (
            with(rpc(4_096, 200, MS), "/servers", json!([])),
            "traffic[0].outstanding is 4096; all clients together would have 1638400 flows",
        ),
        (
            with(rpc(1, 9, MS), "/servers", json!([0, 3])),
            "traffic[0].servers is a list of 2; host 0 needs 9 others among them",
        ),
        (
            with(on_off(MS), "/receivers", json!([0])),
            "traffic[0].receivers is a list of 1; host 0 needs 1",
        ),
    ];
    each_is_refused(cases);
    let many = |label: &str| {
        let job = with(collective("ring-all-reduce", 1_000_000, 1_000_000), "/chunks", 9);
        with(job, "/label", label)
    };
    let found = refusal(&star(&["a", "b", "c"].map(many)));
    assert!(
        found.contains("traffic is a list of 3; its lists and collectives have 3024000000"),
        "{found}"
    );
}

/// The time of the first iteration of a job (ps), and its bus bandwidth (bit/s).
fn job(operation: &str, bytes: u64, change: impl Fn(Value) -> Value) -> (f64, f64) {
    let traffic = change(collective(operation, bytes, 1));
    let results = run_to_the_end(&star(&[traffic]));
    let summary = results.summary.applications.as_ref().unwrap();
    assert_eq!((summary.not_started, summary.jobs[operation].finished), (0, 1));
    (column(&results, "jobs", "time_ps")[0], column(&results, "jobs", "bus_bandwidth_bps")[0])
}

/// Within 1 % of `expected`.
fn is_close(found: f64, expected: u64) {
    assert!((found / expected as f64 - 1.0).abs() < 0.01, "{found} is not {expected}");
}

#[test]
fn collectives_on_an_idle_network_take_the_time_of_their_closed_forms() {
    let (n, bytes) = (8u64, 8_000_000u64);
    let same = |entry| entry;
    // Each of the 2 (n - 1) steps, or n - 1 of them, sends a part of bytes / n.
    let step = exchanged_after(bytes / n);
    let (time, bus) = job("ring-all-reduce", bytes, same);
    is_close(time, 2 * (n - 1) * step);
    // The rate is that of payload: 1,000 of the 1,108 B that a packet and an acknowledgement take.
    let wire = 1.108 * 8.0 * bytes as f64 * 2.0 * 7.0 / 8.0 / (100 * GBPS) as f64;
    let latency = 14.0 * 2.084e-6;
    assert!(
        (time / 1e12 / (wire + latency) - 1.0).abs() < 0.01,
        "2(n-1)/n bytes/rate plus latency"
    );
    // NCCL's tests: bytes / time * 2 (n - 1) / n.
    let expected = 8.0 * bytes as f64 / (time / 1e12) * 2.0 * 7.0 / 8.0;
    assert!((bus / expected - 1.0).abs() < 1e-9, "{bus} {expected}");
    for operation in ["all-gather", "reduce-scatter"] {
        let (time, bus) = job(operation, bytes, same);
        is_close(time, (n - 1) * step);
        let expected = 8.0 * bytes as f64 / (time / 1e12) * 7.0 / 8.0;
        assert!((bus / expected - 1.0).abs() < 1e-9);
    }
    // Halving sends a half, a quarter, an eighth; doubling the same again.
    let (time, _) = job("halving-doubling-all-reduce", bytes, same);
    is_close(time, 2 * [2, 4, 8].map(|part| exchanged_after(bytes / part)).iter().sum::<u64>());
    // One after the other, each with its acknowledgement but the last.
    let (time, bus) = job("all-to-all", bytes, same);
    is_close(time, 6 * (step + ACKNOWLEDGED) + step);
    let expected = 8.0 * bytes as f64 / (time / 1e12) * 7.0 / 8.0;
    assert!((bus / expected - 1.0).abs() < 1e-9);
    // All seven at once share the link, and nothing waits.
    let (time, _) = job("all-to-all", bytes, |entry| with(entry, "/peers", 7));
    is_close(time, exchanged_after(7 * bytes / n));
}

#[test]
fn a_tree_takes_the_time_of_its_closed_form() {
    // Eight ranks: 7 is below 3, 3 and 4 below 1, 5 and 6 below 2, 1 and 2 below 0. Two children share the
    // link of their parent, and a parent sends to two children.
    let bytes = 4_000_000u64;
    let (time, _) = job("tree-all-reduce", bytes, |entry| entry);
    let (one, two) = (received_after(bytes), received_after(2 * bytes));
    // Up: 7 to 3 and 4 to 1; then 3 to 1, while 5 and 6 share the link of 2; then 1 and 2 share that of 0.
    // Down: 0 to 1 and 2, 1 to 3 and 4, 3 to 7.
    is_close(time, (one + one + two) + (two + two + one));
    // In chunks the levels work at the same time. A chain of three ranks has two edges: 1 and 2 to 0.
    let chunks = 16u32;
    let pair = |entry| with(with(entry, "/ranks", json!([0, 1])), "/chunks", chunks);
    let (time, _) = job("tree-all-reduce", bytes, pair);
    let chunk = exchanged_after(bytes / u64::from(chunks));
    // The link of each way sends a chunk when the last one is acknowledged; down follows one chunk later.
    is_close(time, u64::from(chunks - 1) * (chunk + ACKNOWLEDGED) + 2 * chunk);
}

#[test]
fn iterations_follow_each_other_after_the_gap() {
    let results = run_to_the_end(&star(&[collective("ring-all-reduce", 800_000, 3)]));
    let (starts, times) = (exact(&results, "jobs", "start_ps"), exact(&results, "jobs", "time_ps"));
    assert_eq!(exact(&results, "jobs", "iteration"), [0, 1, 2]);
    for iteration in 1..3 {
        // On an idle network all ranks end together.
        assert_eq!(starts[iteration], starts[iteration - 1] + times[iteration - 1] + 3 * US);
        assert_eq!(times[iteration], times[0]);
    }
    let job = &results.summary.applications.as_ref().unwrap().jobs["ring-all-reduce"];
    assert_eq!((job.iterations, job.finished), (3, 3));
    assert_eq!(job.completion_ns, (starts[2] + times[2]) as f64 / 1e3);
}

#[test]
fn closed_loops_obey_littles_law_and_a_request_ends_with_its_slowest_answer() {
    let stop = 4 * MS;
    let results = run_to_the_end(&star(&[rpc(3, 4, stop)]));
    let (starts, latencies) =
        (exact(&results, "requests", "start_ps"), exact(&results, "requests", "latency_ps"));
    let count = starts.len() as f64;
    // 6 requests at a time are each asked, or thought about for 4 us in the mean.
    let latency = latencies.iter().sum::<u64>() as f64 / count;
    let rate = count / stop as f64;
    let outstanding = rate * (latency + 4.0 * US as f64);
    // The rate comes from the mean of the thoughts, whose standard error is 1 / sqrt(count) of their share.
    let share = 4.0 * US as f64 / (latency + 4.0 * US as f64);
    let error = 3.0 * share / count.sqrt();
    assert!(count > 2_000.0 && error < 0.03, "{count} {error}");
    assert!((outstanding / 6.0 - 1.0).abs() < error.max(0.01), "{outstanding} {count} {error}");
    let summary = &results.summary.applications.as_ref().unwrap().requests["rpc"];
    assert!((summary.rate_per_s / (rate * 1e12) - 1.0).abs() < 1e-9);
    assert!((summary.latency_ns.mean / (latency / 1e3) - 1.0).abs() < 1e-9);

    // By flow: when it was received, which is when the answer of a request that waits for it starts.
    let firsts = exact(&results, "requests", "flow");
    let slowest = exact(&results, "requests", "slowest_flow");
    let ends = exact(&results, "requests", "end_ps");
    let acknowledged: std::collections::HashMap<u64, f64> = column(&results, "flows", "flow")
        .into_iter()
        .map(|flow| flow as u64)
        .zip(
            column(&results, "flows", "start_ns")
                .into_iter()
                .zip(column(&results, "flows", "fct_ns")),
        )
        .map(|(flow, (start, time))| (flow, start + time))
        .collect();
    for ((first, slowest), end) in firsts.iter().zip(&slowest).zip(&ends) {
        // Four requests, then their four answers. Acknowledgements of answers all take as long, or a little
        // longer where they wait for a packet.
        let last = (first + 4..first + 8).map(|flow| acknowledged[&flow]).fold(0.0, f64::max);
        assert!((first + 4..first + 8).contains(slowest));
        let way = (ACKNOWLEDGED as f64) / 1e3;
        let found = last - way - *end as f64 / 1e3;
        assert!((0.0..1_000.0).contains(&(found + 1e-3)), "{first}: {found}");
    }
}

#[test]
fn bursts_stop_and_the_next_one_waits_for_the_last_acknowledgement() {
    let results = run_to_the_end(&star(&[on_off(MS)]));
    let spans: Vec<(u32, f64, f64)> = column(&results, "flows", "src")
        .into_iter()
        .zip(
            column(&results, "flows", "start_ns")
                .into_iter()
                .zip(column(&results, "flows", "fct_ns")),
        )
        .map(|(source, (start, time))| (source as u32, start, start + time))
        .collect();
    for host in 0..8 {
        let mut own: Vec<_> = spans.iter().filter(|span| span.0 == host).collect();
        own.sort_by(|one, other| one.1.total_cmp(&other.1));
        assert!(own.len() > 20, "host {host}: {}", own.len());
        assert!(own.windows(2).all(|pair| pair[0].2 <= pair[1].1));
        assert!(own.iter().all(|span| span.1 >= 1_000.0 && span.1 < 1e6));
    }
}
