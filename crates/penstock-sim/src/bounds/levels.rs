//! Which schemes can have priority levels that hosts give, and which can spray packets.

use penstock_fabric::{AssignmentConfig, MarkingConfig, SchedulingConfig};
use penstock_transport::{ControllerConfig, RecoveryConfig};
use penstock_units::Problems;

use super::kind;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;

/// Homa's levels need a switch that serves them in their order, and its hosts their own recovery; nobody
/// else has levels.
pub(super) fn by_priority(scenario: &Scenario, problems: &mut Problems) {
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let is_resend = matches!(host.recovery, RecoveryConfig::Resend(_));
    let ControllerConfig::Homa(homa) = &host.controller else {
        let remedy = "only the \"homa\" controller grants and gives levels; use another";
        problems.unless(!is_resend, "scheme.host.recovery.kind", "resend", remedy);
        let holds = !matches!(switch.assignment, AssignmentConfig::Priority(_));
        problems.unless(holds, "scheme.switch.assignment.kind", "priority", remedy);
        return;
    };
    let remedy = "the homa controller needs \"resend\"; use that";
    problems.unless(is_resend, "scheme.host.recovery.kind", kind(&host.recovery), remedy);
    let is_known = matches!(switch.assignment, AssignmentConfig::Priority(_));
    let remedy = "the homa controller needs \"priority\"; use that";
    let given = kind(&switch.assignment);
    problems.unless(is_known, "scheme.switch.assignment.kind", given, remedy);
    let is_strict = matches!(switch.scheduling, SchedulingConfig::Strict(_));
    let remedy = "the homa controller needs \"strict\"; use that";
    problems.unless(is_strict, "scheme.switch.scheduling.kind", kind(&switch.scheduling), remedy);
    let is_sound = problems.is_sound("scheme.switch.assignment")
        && problems.is_sound("scheme.host.controller");
    if let (true, AssignmentConfig::Priority(assignment)) = (is_sound, &switch.assignment) {
        let scheduled = homa.overcommitment.unwrap_or(1);
        let holds = u32::from(homa.first_scheduled_level()) + scheduled <= assignment.levels;
        let remedy = format!(
            "the unscheduled levels, one more than cutoffs, and the scheduled ones exceed the {} of \
             the switch",
            assignment.levels
        );
        problems.unless(holds, "scheme.host.controller.overcommitment", scheduled, &remedy);
    }
}

/// Packet spraying changes the order of packets, and a packet's path cannot be followed back.
pub(super) fn sprayed(scenario: &Scenario, problems: &mut Problems) {
    if !matches!(scenario.scheme.routing, RoutingConfig::Spray(_)) {
        return;
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
        problems.unless(holds, "scheme.routing.kind", "spray", remedy);
    }
}
