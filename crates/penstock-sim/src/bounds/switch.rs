//! Bounds of the fields of a switch: each policy knows its own.

use penstock_units::Problems;

use crate::error::ScenarioError;
use crate::scenario::Scenario;

pub(super) fn switch(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut problems = Problems::below("scheme.switch");
    scenario.scheme.switch.check(&mut problems);
    match problems.found() {
        [] => Ok(()),
        [first, ..] => Err(ScenarioError::new(&first.path, &first.value, &first.remedy)),
    }
}
