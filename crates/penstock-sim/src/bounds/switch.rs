//! Bounds of the fields of a switch.

use penstock_fabric::AssignmentConfig;
use penstock_fabric::assignment::rounds::RoundsConfig;
use penstock_transport::control::homa::MAXIMUM_LEVELS;
use penstock_units::Problems;

use super::unless;
use crate::error::ScenarioError;
use crate::scenario::Scenario;

/// The most that a flow may send in a round of AFQ (bytes): a thousand packets.
const LARGEST_ROUND: u32 = 1 << 20;

/// The most rows of AFQ's sketch: each takes a stage of a switch's pipeline, and a switch has 12 to 16
/// (AFQ sec. 3.2).
const SKETCH_ROWS: u32 = 16;

/// The most columns of AFQ's sketch: sixteen times the register entries of a stage (AFQ sec. 3.2).
const SKETCH_COLUMNS: u32 = 1 << 20;

pub(super) fn switch(scenario: &Scenario) -> Result<(), ScenarioError> {
    let switch = &scenario.scheme.switch;
    let at = |axis: &str| format!("scheme.switch.{axis}");
    let classes = switch.assignment.classes();
    unless((1..=8).contains(&classes), &at("assignment.classes"), classes, "write 1 to 8")?;
    match &switch.assignment {
        AssignmentConfig::Stochastic(config) => queues(config.queues, classes)?,
        AssignmentConfig::Dynamic(config) => {
            queues(config.queues, classes + u32::from(config.incast_queue) * classes)?;
            let factor = config.table_factor;
            unless(
                (1..=10_000).contains(&factor),
                &at("assignment.table_factor"),
                factor,
                "write 1 to 10000 entries a queue",
            )?;
            let sticky = config.sticky_hop_rtts;
            unless(
                (0.0..=1e6).contains(&sticky),
                &at("assignment.sticky_hop_rtts"),
                sticky,
                "write 0 or more",
            )?;
            let grace = config.grace_hop_rtts;
            let holds = (0.0..=1e6).contains(&grace);
            unless(holds, &at("assignment.grace_hop_rtts"), grace, "write 0 or more")?;
            let holds = !(config.classes_share && config.incast_queue);
            let remedy = "an incast_queue knows classes with fixed queues only";
            unless(holds, &at("assignment.classes_share"), true, remedy)?;
            let share = config.sampling;
            let holds = share > 0.0 && share <= 1.0;
            unless(holds, &at("assignment.sampling"), share, "write above 0, at most 1")?;
        }
        AssignmentConfig::Rounds(config) => rounds(config)?,
        AssignmentConfig::Priority(config) => {
            let remedy = "write 2 to 127, one for unscheduled and one for scheduled data at least";
            let holds = (2..=MAXIMUM_LEVELS).contains(&config.levels);
            unless(holds, &at("assignment.levels"), config.levels, remedy)?;
        }
        AssignmentConfig::Class(_)
        | AssignmentConfig::PerFlow {}
        | AssignmentConfig::Ingress {} => {}
    }
    let mut problems = Problems::below("scheme.switch");
    switch.check(&mut problems);
    match problems.found() {
        [] => Ok(()),
        [first, ..] => Err(ScenarioError::new(&first.path, &first.value, &first.remedy)),
    }
}

fn queues(queues: u32, needed: u32) -> Result<(), ScenarioError> {
    unless(
        queues > needed && queues <= 4_096,
        "scheme.switch.assignment.queues",
        queues,
        "write at most 4096, and enough for the control queue and a data queue for each class",
    )
}

fn rounds(config: &RoundsConfig) -> Result<(), ScenarioError> {
    let at = |field: &str| format!("scheme.switch.assignment.{field}");
    queues(config.queues, 2)?;
    for (field, value, largest) in [
        ("bytes_per_round", config.bytes_per_round, LARGEST_ROUND),
        ("rows", config.rows, SKETCH_ROWS),
        ("columns", config.columns, SKETCH_COLUMNS),
    ] {
        let remedy = format!("write 1 to {largest}");
        unless((1..=largest).contains(&value), &at(field), value, &remedy)?;
    }
    Ok(())
}
