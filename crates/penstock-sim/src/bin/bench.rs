//! Times one scenario beside the bare event loop, in one process: `bench SCENARIO.json REPEATS`.
//!
//! Prints one line of JSON. Only the loops are timed, not the building of the network. Repeats
//! alternate between the two loops, and the fastest of each counts: the result of an otherwise idle
//! core.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use penstock_packet::Unobserved;
use penstock_sim::bare::BareLoop;
use penstock_sim::network::Network;
use penstock_sim::simulation::Simulation;
use penstock_sim::{RunError, Scenario};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, repeats] = arguments.as_slice() else {
        eprintln!("usage: bench SCENARIO.json REPEATS");
        return ExitCode::from(2);
    };
    let measured = std::fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|text| Scenario::from_json(&text).map_err(|error| error.to_string()))
        .and_then(|scenario| {
            let repeats = repeats.parse::<u32>().map_err(|error| error.to_string())?;
            measure(&scenario, repeats.max(1)).map_err(|error| error.to_string())
        });
    match measured {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{path}: {message}");
            ExitCode::from(2)
        }
    }
}

fn measure(scenario: &Scenario, repeats: u32) -> Result<serde_json::Value, RunError> {
    let (mut bare_time, mut bare_hops, mut bare_events) = (Duration::MAX, 0, 0);
    let (mut time, mut hops, mut events, mut flows) = (Duration::MAX, 0, 0, 0);
    let mut peak = None;
    for _ in 0..repeats {
        let mut simulation = Simulation::new(scenario, Network::build(scenario)?, Unobserved)?;
        let start = Instant::now();
        while simulation.advance(u64::MAX)? {}
        time = time.min(start.elapsed());
        let (results, _) = simulation.finish(false);
        // Measured before the bare loop has run for the first time, so that the memory of the bare
        // loop does not count.
        peak = peak.or_else(peak_resident_bytes);
        hops = results.summary.packet_hops;
        events = results.summary.events;
        flows = results.summary.flows_finished;
        let mut bare = BareLoop::new(scenario)?;
        let start = Instant::now();
        (bare_hops, bare_events) = bare.run();
        bare_time = bare_time.min(start.elapsed());
    }
    let per_hop = |time: Duration, hops: u64| time.as_secs_f64() * 1e9 / hops as f64;
    Ok(serde_json::json!({
        "packet_hops": hops,
        "events": events,
        "flows": flows,
        "ns_per_packet_hop": per_hop(time, hops),
        "bare_packet_hops": bare_hops,
        "bare_events": bare_events,
        "bare_ns_per_packet_hop": per_hop(bare_time, bare_hops),
        "ratio": per_hop(time, hops) / per_hop(bare_time, bare_hops),
        "peak_resident_bytes": peak,
    }))
}

/// The largest resident set so far, on systems that report it (Linux).
fn peak_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes = line.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    Some(kibibytes * 1024)
}
