//! Bounds of a scenario's fields, and policies that do not go together.

use penstock_units::{Problems, Time};
use serde::Serialize;

use crate::error::ScenarioError;
use crate::scenario::Scenario;

mod combination;
mod credit;
mod fidelity;
mod hop_credit;
mod levels;
mod network;
mod switch;

pub(crate) use network::nodes;

/// The longest run (ps): the timing wheel tells times apart up to hours; a minute of simulated time
/// at 100 Gb/s is a billion packets a link.
const LONGEST: Time = Time::from_ms(60_000);

/// The largest frame (bytes): jumbo frames carry 9,000.
const LARGEST_PAYLOAD: u32 = 9_000;

pub(crate) fn unless(
    holds: bool,
    field: &str,
    value: impl ToString,
    remedy: &str,
) -> Result<(), ScenarioError> {
    if holds { Ok(()) } else { Err(ScenarioError::new(field, value, remedy)) }
}

/// The kind of a policy, as scenarios write it.
pub(crate) fn kind(policy: &impl Serialize) -> String {
    let table = serde_json::to_value(policy).unwrap_or_default();
    table["kind"].as_str().unwrap_or_default().to_owned()
}

/// Checks everything that does not need the built topology.
pub(crate) fn scenario(scenario: &Scenario) -> Result<(), ScenarioError> {
    let span = scenario.duration.saturating_add(scenario.drain);
    unless(scenario.duration > Time::ZERO, "duration", scenario.duration, "write a positive time")?;
    unless(span <= LONGEST, "duration", span, "with drain it must be at most one minute")?;
    unless(!scenario.traffic.is_empty(), "traffic", "empty", "write at least one entry")?;
    let loss = scenario.faults.control_loss;
    unless((0.0..1.0).contains(&loss), "faults.control_loss", loss, "write 0 or more, below 1")?;
    wire(scenario)?;
    switch::switch(scenario)?;
    hosts(scenario)?;
    combination::combinations(scenario)?;
    credit::check(scenario)?;
    fidelity::parts(scenario)
}

fn hosts(scenario: &Scenario) -> Result<(), ScenarioError> {
    let host = &scenario.scheme.host;
    let classes = scenario.scheme.switch.assignment.classes();
    let mut problems = Problems::below("scheme.host");
    host.check(&mut problems);
    problems.within("nic", |nic| host.nic.check_classes(classes, nic));
    ScenarioError::unless_none(&problems)
}

fn wire(scenario: &Scenario) -> Result<(), ScenarioError> {
    let wire = &scenario.wire;
    let remedy = "write 1 to 9000 bytes";
    unless((1..=LARGEST_PAYLOAD).contains(&wire.payload), "wire.payload", wire.payload, remedy)?;
    for (field, value) in [
        ("wire.header", wire.header),
        ("wire.acknowledgement", wire.acknowledgement),
        ("wire.control_frame", wire.control_frame),
    ] {
        unless((1..=LARGEST_PAYLOAD).contains(&value), field, value, remedy)?;
    }
    for (field, value) in [("wire.telemetry", wire.telemetry), ("wire.timestamp", wire.timestamp)] {
        unless(value <= LARGEST_PAYLOAD, field, value, "write at most 9000 bytes")?;
    }
    Ok(())
}
