//! A run that is saved, built anew and restored ends as one that was never stopped.

use std::io;

use penstock_packet::Unobserved;
use penstock_sim::flow::FlowNames;
use penstock_sim::measure::table::Table;
use penstock_sim::measure::trace::{PacketTrace, PortLinks};
use penstock_sim::network::Network;
use penstock_sim::scenario::TraceConfig;
use penstock_sim::simulation::Simulation;
use penstock_sim::{CheckpointError, Progress, RunOptions, Scenario, Watch};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::determinism::busy;
use crate::fixture::{MS, US, bfc, hpcc, leaf_spine, listed, name, parse, scenario, schemes, with};
use crate::invariant::any_case;
use crate::threads::measured;

/// A simulation of `scenario` that has not begun, with a trace of every packet.
fn built(scenario: &Scenario, partitions: usize) -> Simulation<PacketTrace> {
    let network = Network::build(scenario).unwrap();
    let ports = PortLinks::new(&network.topology);
    let trace = TraceConfig::default();
    let observer = || PacketTrace::new(&trace, ports.clone(), FlowNames::new(scenario.seed));
    let mut simulation = Simulation::partitioned(scenario, network, partitions, observer).unwrap();
    simulation.watch_order();
    simulation
}

/// Saves `simulation`, builds it anew and restores it.
fn reborn(
    scenario: &Scenario,
    partitions: usize,
    simulation: Simulation<PacketTrace>,
) -> Simulation<PacketTrace> {
    let [mut saved, mut again] = [vec![], vec![]];
    simulation.save(&mut saved).unwrap();
    drop(simulation);
    let restored = built(scenario, partitions).restored(&saved[..]).unwrap();
    restored.save(&mut again).unwrap();
    assert_eq!(saved.len(), again.len(), "the order of a hash map aside, it is the same state");
    restored
}

fn options(threads: usize) -> RunOptions {
    RunOptions { check: true, threads, ..RunOptions::default() }
}

/// How a run has ended.
struct Outcome {
    tables: Vec<Table>,
    summary: String,
    events: u64,
}

impl Outcome {
    /// The first parts that differ.
    fn difference(&self, other: &Outcome) -> Option<(String, String)> {
        let text = |table: &Table| format!("{table:?}");
        assert_eq!(self.tables.len(), other.tables.len());
        let tables = self.tables.iter().zip(&other.tables);
        // A number that is none differs from itself, but not its text.
        let unequal = tables.filter(|(one, other)| one != other);
        let texts = unequal.map(|(one, other)| (text(one), text(other)));
        let summaries = (self.summary.clone(), other.summary.clone());
        texts.chain([summaries]).find(|(one, other)| one != other)
    }
}

fn end(mut simulation: Simulation<PacketTrace>, threads: usize) -> Outcome {
    assert!(!simulation.run(options(threads), &mut |_| true).unwrap());
    let results = simulation.finish(false);
    Outcome {
        tables: results.tables,
        summary: serde_json::to_string(&results.summary).unwrap(),
        events: results.summary.events,
    }
}

/// What differs from a run on one thread when the run is cut into so many partitions and stopped after
/// this share of its events.
pub fn difference(scenario: &Scenario, partitions: &[usize], share: f64) -> Option<String> {
    let expected = end(built(scenario, 1), 1);
    partitions.iter().find_map(|&partitions| {
        let mut stopped = built(scenario, partitions);
        stopped.advance((share * expected.events as f64) as u64).unwrap();
        let found = end(reborn(scenario, partitions, stopped), partitions);
        let (one, other) = found.difference(&expected)?;
        Some(format!("{partitions} partitions, stopped at {share}:\n{one:.2000}\n{other:.2000}"))
    })
}

/// `scenario` with everything measured, and with an outage where the scheme goes with one.
fn eventful(scenario: Value) -> Scenario {
    let scenario = measured(scenario);
    let outage = json!([{"link": [8, 10], "start": 40 * US, "end": 90 * US}]);
    let with_outage = parse(&with(scenario.clone(), "/faults/outages", outage));
    match penstock_sim::validate(&with_outage).is_ok() && Network::build(&with_outage).is_ok() {
        true => with_outage,
        false => parse(&scenario),
    }
}

/// Shares of a run, different for each case: multiples of the golden ratio, which fall evenly.
fn shares() -> impl Iterator<Item = f64> {
    (1..).map(|case| (f64::from(case) * 0.618_034).fract())
}

#[test]
fn every_scheme_goes_on_where_it_was_saved() {
    for (scheme, share) in schemes().into_iter().zip(shares()) {
        let name = name(&scheme).to_owned();
        let scenario = eventful(busy(scheme));
        assert_eq!(difference(&scenario, &[1, 3], share), None, "{name}");
    }
}

#[test]
fn every_preset_goes_on_where_it_was_saved() {
    let file = include_str!("../../../../tests/golden/builds.json");
    let cases: Vec<Value> = serde_json::from_str(file).unwrap();
    for (case, share) in cases.into_iter().zip(shares()) {
        let scenario = parse(&measured(case["scenario"].clone()));
        assert_eq!(difference(&scenario, &[1, 3], share), None, "{}", case["name"]);
    }
}

/// Progress is told about every 32,768 events, between windows.
#[test]
fn a_run_may_be_stopped_and_saved_whenever_progress_is_told() {
    let scenario = with(busy(bfc()), "/topology", leaf_spine(4, 2, 2));
    let scenario = parse(&measured(scenario));
    for threads in [1, 3] {
        let mut simulation = built(&scenario, threads);
        let mut stops = 0;
        while simulation.run(options(threads), &mut |_| false).unwrap() {
            simulation = reborn(&scenario, threads, simulation);
            stops += 1;
        }
        assert!(stops > 0, "the scenario is too short");
        let expected = end(built(&scenario, threads), threads);
        assert_eq!(end(simulation, threads).difference(&expected), None);
    }
}

/// Stops a run whenever it hands out rows.
struct Stopper;

impl Watch for Stopper {
    fn progress(&mut self, _: Progress) -> bool {
        true
    }

    fn rows(&mut self, _: Vec<Table>) -> bool {
        false
    }

    fn state(&mut self) -> io::Result<Option<Box<dyn io::Write>>> {
        Ok(None)
    }

    fn saved(&mut self) -> bool {
        true
    }
}

/// When a flow has ended, the window in which the next one starts is announced, and little else is due
/// earlier: the backlog is sampled every 333 us.
#[test]
fn a_run_may_be_stopped_and_saved_whenever_it_hands_out_rows() {
    let flow = |number: u32| (number % 8, (number + 3) % 8, 3_000, u64::from(number) * 37 * US);
    let flows: Vec<_> = (0..20).map(flow).collect();
    let scenario = parse(&scenario(leaf_spine(4, 2, 2), bfc(), &[listed(&flows)], 10 * MS));
    for threads in [1, 3] {
        let options = RunOptions { most_rows: 0, ..options(threads) };
        let mut simulation = built(&scenario, threads);
        let mut stops = 0;
        while simulation.run(options, &mut Stopper).unwrap() {
            simulation = reborn(&scenario, threads, simulation);
            stops += 1;
        }
        assert!(stops >= flows.len(), "each flow has a row");
        // The digest in the summary is that of all rows.
        let expected = end(built(&scenario, threads), threads);
        assert_eq!(end(simulation, threads).summary, expected.summary);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_run_goes_on_where_it_was_saved(
        case in any_case(), partitions in 1usize..4, share in 0.0f64..1.0,
    ) {
        let scenario = parse(&measured(case));
        prop_assert_eq!(difference(&scenario, &[partitions], share), None, "{}", scenario.to_json());
    }
}

/// A simulation of BFC, with this seed and so many partitions.
fn small(seed: u64, partitions: usize) -> Simulation<Unobserved> {
    let scenario = parse(&with(busy(bfc()), "/seed", seed));
    let network = Network::build(&scenario).unwrap();
    Simulation::partitioned(&scenario, network, partitions, || Unobserved).unwrap()
}

/// A checkpoint of [`small`] with seed 1, on two partitions.
fn saved() -> Vec<u8> {
    let mut simulation = small(1, 2);
    simulation.advance(5_000).unwrap();
    let mut bytes = vec![];
    simulation.save(&mut bytes).unwrap();
    bytes
}

fn refused(simulation: Simulation<Unobserved>, bytes: &[u8]) -> CheckpointError {
    simulation.restored(bytes).err().expect("it is refused")
}

#[test]
fn what_does_not_belong_to_the_run_is_refused() {
    let bytes = saved();
    assert!(small(1, 2).restored(&bytes[..]).is_ok());
    assert_eq!(refused(small(2, 2), &bytes), CheckpointError::Scenario);
    let partitions = CheckpointError::Partitions { saved: 2, built: 1 };
    assert_eq!(refused(small(1, 1), &bytes), partitions);
    assert_eq!(refused(small(1, 2), b"a text that is long enough"), CheckpointError::Foreign);
    assert_eq!(refused(small(1, 2), &[&bytes[..], b"\n"].concat()), CheckpointError::Length);
    let other = [&bytes[..8], &[7, 0, 0, 0], &bytes[12..]].concat();
    assert_eq!(refused(small(1, 2), &other), CheckpointError::Format { saved: 7, read: 1 });
}

#[test]
fn a_damaged_or_cut_checkpoint_is_refused() {
    let bytes = saved();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    // Half of the places are in the header.
    let place = prop_oneof![0..48usize, 0..bytes.len()];
    let outcome = runner.run(&(place, 0u8..8), |(place, bit)| {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << bit;
        prop_assert!(small(1, 2).restored(&damaged[..]).is_err());
        prop_assert!(small(1, 2).restored(&bytes[..place]).is_err());
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_run_as_in_ns3_is_not_saved() {
    let scenario = parse(&with(busy(hpcc()), "/fidelity", "ns3-hpcc"));
    let network = Network::build(&scenario).unwrap();
    let simulation = Simulation::new(&scenario, network, Unobserved).unwrap();
    assert_eq!(simulation.save(vec![]).err(), Some(CheckpointError::Fidelity));
}
