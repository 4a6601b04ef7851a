//! Which schemes can have priority levels from their hosts, and which schemes can spray packets.

use penstock_transport::{ControllerConfig, RecoveryConfig};
use penstock_units::Problems;

use super::kind;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;

/// Homa's levels need a switch that serves the levels in order, and hosts with Homa's own recovery.
/// No other controller has levels.
pub(super) fn by_priority(scenario: &Scenario, problems: &mut Problems) {
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let is_resend = matches!(host.recovery, RecoveryConfig::Resend(_));
    let ControllerConfig::Homa(homa) = &host.controller else {
        let remedy = format!(
            "it is made for the homa controller, and the controller is {}; use another one, or controller \
             \"homa\"",
            kind(&host.controller)
        );
        let (field, given) = ("scheme.switch.assignment.kind", switch.assignment.kind());
        problems.unless(switch.assignment.levels().is_none(), field, given, &remedy);
        problems.unless(!is_resend, "scheme.host.recovery.kind", "resend", &remedy);
        return;
    };
    for (holds, axis, needed, given) in [
        (
            switch.assignment.levels().is_some(),
            "switch.assignment",
            "priority",
            switch.assignment.kind(),
        ),
        (is_resend, "host.recovery", "resend", kind(&host.recovery)),
        (switch.scheduling.is_in_order(), "switch.scheduling", "strict", switch.scheduling.kind()),
    ] {
        let remedy = format!(
            "the homa controller needs \"{needed}\"; use \"{needed}\", or another controller"
        );
        problems.unless(holds, &format!("scheme.{axis}.kind"), given, remedy);
    }
    let is_sound = problems.is_sound("scheme.switch.assignment")
        && problems.is_sound("scheme.host.controller");
    if let Some(levels) = switch.assignment.levels().filter(|_| is_sound) {
        let scheduled = homa.overcommitment.unwrap_or(1);
        let unscheduled = u32::from(homa.first_scheduled_level());
        let remedy = format!(
            "with {unscheduled} unscheduled level(s) that makes {}, and the switch has {levels}; \
             lower it, or \
             raise scheme.switch.assignment.levels",
            unscheduled + scheduled
        );
        let holds = unscheduled + scheduled <= levels;
        problems.unless(holds, "scheme.host.controller.overcommitment", scheduled, remedy);
    }
}

/// Packet spraying changes the order of packets, and the path of a sprayed packet cannot be
/// followed back.
pub(super) fn sprayed(scenario: &Scenario, problems: &mut Problems) {
    if !matches!(scenario.scheme.routing, RoutingConfig::Spray(_)) {
        return;
    }
    let (switch, recovery) = (&scenario.scheme.switch, &scenario.scheme.host.recovery);
    let tolerates = matches!(
        recovery,
        RecoveryConfig::Resend(_)
            | RecoveryConfig::FastRetransmit(_)
            | RecoveryConfig::TimeoutOnly(_)
            | RecoveryConfig::TrimmedHeaders(_)
    );
    let overtaken =
        format!("sprayed packets overtake each other, which are losses to {}", kind(recovery));
    for (holds, reason, other) in [
        (
            tolerates,
            overtaken.as_str(),
            "recovery (\"resend\", \"timeout-only\", \"trimmed-headers\", or \"fast-retransmit\" with a \
             high duplicate_threshold)",
        ),
        (
            !switch.marking.has_feedback(),
            "QCN's feedback goes back on the path of a flow, and a sprayed flow has none",
            "marking",
        ),
        (
            !switch.backpressure.pauses_queues(),
            "BFC pauses a flow on its one path, and a sprayed flow has many",
            "backpressure",
        ),
    ] {
        let remedy = format!("{reason}; use routing \"ecmp\", or another {other}");
        problems.unless(holds, "scheme.routing.kind", "spray", remedy);
    }
}
