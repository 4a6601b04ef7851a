//! Random sequences of packets, signals and departures at a switch, for every combination of
//! policies that a scenario may ask for.

mod combination;
mod invariant;
mod model;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use model::{Model, Step};

/// Ports of the switch under test; the last two lead to a higher tier.
const PORTS: u16 = 4;
/// Flows of a sequence; each has one way through the switch.
const FLOWS: u32 = 12;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..FLOWS, 64u16..1_500).prop_map(|(flow, bytes)| Step::Arrive { flow, bytes }),
        8 => (0..PORTS).prop_map(Step::Depart),
        2 => (0..PORTS, 0u16..12, any::<bool>()).prop_map(|(port, queue, is_paused)| {
            Step::Queue { port, queue, is_paused }
        }),
        1 => (0..PORTS, 0u8..3, any::<bool>()).prop_map(|(port, class, is_paused)| {
            Step::Class { port, class, is_paused }
        }),
        1 => (0..PORTS, any::<u16>()).prop_map(|(port, bits)| Step::Bitmap { port, bits }),
        1 => (0..PORTS, 1u32..3_000).prop_map(|(port, nanoseconds)| {
            Step::Hold { port, nanoseconds }
        }),
        1 => (0..PORTS).prop_map(Step::Acknowledge),
        1 => (1u64..8_000_000).prop_map(Step::Wait),
    ]
}

/// A few sequences for each combination; the same ones in every run.
#[test]
fn every_combination_of_policies_keeps_its_invariants() {
    let combinations = combination::all();
    assert!(combinations.len() > 500, "{}", combinations.len());
    let sequences = proptest::collection::vec(step(), 1..160);
    for (number, config) in combinations.iter().enumerate() {
        let mut runner = TestRunner::new(Config {
            cases: 3,
            max_shrink_iters: 20_000,
            rng_seed: RngSeed::Fixed(number as u64),
            failure_persistence: None,
            ..Config::default()
        });
        let outcome = runner.run(&sequences, |steps| {
            let mut model = Model::new(config);
            for &step in &steps {
                model.apply(step)?;
                model.check()?;
            }
            model.drain()
        });
        if let Err(error) = outcome {
            panic!("{error}\n{}", serde_json::to_string(config).unwrap());
        }
    }
}
