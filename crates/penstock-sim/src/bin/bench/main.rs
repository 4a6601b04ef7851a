//! Times scenarios beside each other and beside the bare event loop, in one process:
//! `bench REPEATS bare|alone [SCENARIO.json THREADS]…`
//!
//! Prints one line of JSON. In each repeat every scenario and then, with `bare`, the bare loop of the
//! first scenario take their turns, so that what disturbs the machine disturbs all of them alike. The times
//! of all repeats are printed in order; the reader compares times of one repeat. The loop is timed by
//! itself, and making the results by itself. Building the network is not timed. Before and after a run on
//! several threads a cache line is handed over between two of them.

mod handover;

use std::process::ExitCode;
use std::time::Instant;

use penstock_packet::Unobserved;
use penstock_sim::bare::BareLoop;
use penstock_sim::flow::FlowNames;
use penstock_sim::measure::trace::{PacketTrace, PortLinks};
use penstock_sim::network::Network;
use penstock_sim::rows::Record;
use penstock_sim::simulation::{Simulation, processors};
use penstock_sim::{RunError, RunOptions, Scenario, partitions};
use serde::Serialize;

use handover::handover_ns;

/// Rows that a run holds; more leave it and are forgotten, as those of a saved run leave it for a file
/// (`MOST_ROWS` of `penstock/storage/pieces.py`).
const MOST_ROWS: usize = 1 << 20;

/// What is timed together.
struct Case {
    repeats: u32,
    /// Whether the bare loop of the first scenario is timed too.
    is_beside_bare: bool,
    /// The scenarios, each with its number of threads.
    runs: Vec<(Scenario, usize)>,
}

/// The times of one run or of the bare loop.
#[derive(Clone, Default, Serialize)]
struct Timed {
    packet_hops: u64,
    events: u64,
    flows: u64,
    pauses: u64,
    /// Of the loop, by repeat (s).
    seconds: Vec<f64>,
    /// Of making the results, by repeat (s).
    finish_seconds: Vec<f64>,
    /// How long a cache line takes from one core to another before and after the loop, the longer one, by
    /// repeat (ns); nothing for runs on one thread or processor.
    handover_ns: Vec<f64>,
}

#[derive(Default, Serialize)]
struct Report {
    runs: Vec<Timed>,
    bare: Option<Timed>,
    /// The memory of the first run alone, with the network (bytes); none where the system does not say.
    peak_resident_bytes: Option<u64>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let report = read(&arguments)
        .and_then(|case| timed(&case).map_err(text))
        .and_then(|report| serde_json::to_string(&report).map_err(text));
    match report {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The case that the command line describes.
fn read(arguments: &[String]) -> Result<Case, String> {
    let usage = "usage: bench REPEATS bare|alone [SCENARIO.json THREADS]...";
    let [repeats, beside, pairs @ ..] = arguments else { return Err(usage.to_owned()) };
    let (pairs, []) = pairs.as_chunks::<2>() else { return Err(usage.to_owned()) };
    let run = |[path, threads]: &[String; 2]| -> Result<(Scenario, usize), String> {
        let named = |message: String| format!("{path}: {message}");
        let json = std::fs::read_to_string(path).map_err(|error| named(text(error)))?;
        let scenario = Scenario::from_json(&json).map_err(|error| named(text(error)))?;
        Ok((scenario, threads.parse().map_err(text)?))
    };
    Ok(Case {
        repeats: repeats.parse().map_err(text)?,
        is_beside_bare: beside == "bare",
        runs: pairs.iter().map(run).collect::<Result<_, _>>()?,
    })
}

fn timed(case: &Case) -> Result<Report, RunError> {
    let mut report = Report { runs: vec![Timed::default(); case.runs.len()], ..Report::default() };
    for _ in 0..case.repeats {
        for ((scenario, threads), timed) in case.runs.iter().zip(&mut report.runs) {
            time_run(scenario, *threads, timed)?;
            // Read when nothing but the first run has used memory.
            report.peak_resident_bytes = report.peak_resident_bytes.or_else(peak_resident_bytes);
        }
        if let Some((scenario, _)) = case.runs.first().filter(|_| case.is_beside_bare) {
            time_bare(scenario, report.bare.get_or_insert_default())?;
        }
    }
    Ok(report)
}

/// Times a run of `scenario` on `threads` threads, with the packet trace that it asks for.
fn time_run(scenario: &Scenario, threads: usize, timed: &mut Timed) -> Result<(), RunError> {
    let network = Network::build(scenario)?;
    let Some(trace) = &scenario.measure.trace else {
        return time_loop(scenario, network, threads, || Unobserved, timed);
    };
    let names = FlowNames::new(scenario.seed);
    let ports = PortLinks::new(&network.topology);
    let observer = || PacketTrace::new(trace, ports.clone(), names);
    time_loop(scenario, network, threads, observer, timed)
}

fn time_loop<O: Record + Send>(
    scenario: &Scenario,
    network: Network,
    threads: usize,
    observer: impl FnMut() -> O,
    timed: &mut Timed,
) -> Result<(), RunError> {
    let count = partitions(&network.topology, threads);
    let mut simulation = Simulation::partitioned(scenario, network, count, observer)?;
    let options = RunOptions { threads, most_rows: MOST_ROWS, ..RunOptions::default() };
    let before = (threads.min(processors()) > 1).then(handover_ns);
    let start = Instant::now();
    simulation.run(options, &mut |_| true)?;
    timed.seconds.push(start.elapsed().as_secs_f64());
    timed.handover_ns.extend(before.map(|before| before.max(handover_ns())));
    let start = Instant::now();
    let results = simulation.finish(false);
    timed.finish_seconds.push(start.elapsed().as_secs_f64());
    let summary = results.summary;
    timed.packet_hops = summary.packet_hops;
    timed.events = summary.events;
    timed.flows = summary.flows_finished;
    timed.pauses = summary.pfc_pauses + summary.queue_pauses;
    Ok(())
}

fn time_bare(scenario: &Scenario, timed: &mut Timed) -> Result<(), RunError> {
    let mut bare = BareLoop::new(scenario)?;
    let start = Instant::now();
    (timed.packet_hops, timed.events) = bare.run();
    timed.seconds.push(start.elapsed().as_secs_f64());
    Ok(())
}

/// The largest resident set so far, on systems that report it (Linux).
fn peak_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes = line.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    Some(kibibytes * 1024)
}
