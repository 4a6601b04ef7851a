//! Which schemes can have priority levels that hosts give, and which can spray packets.

use penstock_fabric::{AssignmentConfig, MarkingConfig, SchedulingConfig};
use penstock_transport::{ControllerConfig, RecoveryConfig};

use super::{kind, unless};
use crate::error::ScenarioError;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;

/// Homa's levels need a switch that serves them in their order, and its hosts their own recovery; nobody
/// else has levels.
pub(super) fn by_priority(scenario: &Scenario) -> Result<(), ScenarioError> {
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let is_resend = matches!(host.recovery, RecoveryConfig::Resend(_));
    let ControllerConfig::Homa(homa) = &host.controller else {
        let remedy = "only the \"homa\" controller grants and gives levels; use another";
        unless(!is_resend, "scheme.host.recovery.kind", "resend", remedy)?;
        let holds = !matches!(switch.assignment, AssignmentConfig::Priority(_));
        return unless(holds, "scheme.switch.assignment.kind", "priority", remedy);
    };
    let remedy = "the homa controller needs \"resend\"; use that";
    unless(is_resend, "scheme.host.recovery.kind", kind(&host.recovery), remedy)?;
    let AssignmentConfig::Priority(assignment) = &switch.assignment else {
        let remedy = "the homa controller needs \"priority\"; use that";
        return unless(false, "scheme.switch.assignment.kind", kind(&switch.assignment), remedy);
    };
    let is_strict = matches!(switch.scheduling, SchedulingConfig::Strict(_));
    let remedy = "the homa controller needs \"strict\"; use that";
    unless(is_strict, "scheme.switch.scheduling.kind", kind(&switch.scheduling), remedy)?;
    let scheduled = homa.overcommitment.unwrap_or(1);
    let holds = u32::from(homa.first_scheduled_level()) + scheduled <= assignment.levels;
    let remedy = format!(
        "the unscheduled levels, one more than cutoffs, and the scheduled ones exceed the {} of the \
         switch",
        assignment.levels
    );
    unless(holds, "scheme.host.controller.overcommitment", scheduled, &remedy)
}

/// Packet spraying changes the order of packets, and a packet's path cannot be followed back.
pub(super) fn sprayed(scenario: &Scenario) -> Result<(), ScenarioError> {
    if !matches!(scenario.scheme.routing, RoutingConfig::Spray(_)) {
        return Ok(());
    }
    let (switch, recovery) = (&scenario.scheme.switch, &scenario.scheme.host.recovery);
    let tolerates =
        matches!(recovery, RecoveryConfig::Resend(_) | RecoveryConfig::FastRetransmit(_));
    let goes_back = matches!(switch.marking, MarkingConfig::Qcn(_));
    let is_bfc = switch.backpressure.pauses_queues();
    for (holds, remedy) in [
        (
            tolerates,
            "packets overtake each other; use recovery \"resend\", or \"fast-retransmit\" with a high threshold",
        ),
        (
            !goes_back,
            "feedback travels back on the path of a flow, and there is none; use another marking",
        ),
        (!is_bfc, "BFC pauses a flow on its one path; use ecmp"),
    ] {
        unless(holds, "scheme.routing.kind", "spray", remedy)?;
    }
    Ok(())
}
