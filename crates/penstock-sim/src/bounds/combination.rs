//! Policies that do not go together.

use penstock_fabric::assignment::rounds::RoundSource;
use penstock_fabric::backpressure::pfc::PfcConfig;
use penstock_fabric::scheduling::strict::QUEUES_MAX;
use penstock_fabric::{
    AdmissionConfig, AssignmentConfig, BackpressureConfig, MarkingConfig, SchedulingConfig,
};
use penstock_units::Bytes;

use super::{levels, unless};
use crate::error::ScenarioError;
use crate::hop_credit;
use crate::scenario::Scenario;

pub(super) fn combinations(scenario: &Scenario) -> Result<(), ScenarioError> {
    let switch = &scenario.scheme.switch;
    let scheduling = "scheme.switch.scheduling.kind";
    let one_queue = matches!(&switch.assignment, AssignmentConfig::Class(c) if c.classes == 1);
    let per_flow = matches!(switch.assignment, AssignmentConfig::PerFlow {});
    let by_ingress = matches!(switch.assignment, AssignmentConfig::Ingress {});
    let data_queues = switch.assignment.queue_classes(0).len();
    let remedy = "it needs assignment \"class\" with one class; use drr or strict otherwise";
    let classes_share =
        matches!(&switch.assignment, AssignmentConfig::Dynamic(d) if d.classes_share);
    match switch.scheduling {
        SchedulingConfig::Fifo {} => unless(one_queue, scheduling, "fifo", remedy)?,
        SchedulingConfig::CreditShaping(_) => {
            unless(one_queue, scheduling, "credit-shaping", remedy)?;
        }
        SchedulingConfig::Strict {} => {
            let holds = !per_flow && !by_ingress && data_queues < QUEUES_MAX;
            unless(holds, scheduling, "strict", "it serves at most 128 queues; use drr")?;
            let remedy = "it ranks queues by number, and classes that share them do not; use drr";
            unless(!classes_share, scheduling, "strict", remedy)?;
        }
        SchedulingConfig::IdealFair {} => {
            unless(per_flow, scheduling, "ideal-fair", "it needs assignment \"per-flow\"")?;
        }
        SchedulingConfig::RotatingStrict {}
        | SchedulingConfig::ScanningDrr(_)
        | SchedulingConfig::PriorityGroups(_) => {
            let known = matches!(&switch.assignment, AssignmentConfig::Rounds(_));
            unless(known, scheduling, "this", "it needs assignment \"rounds\"")?;
        }
        SchedulingConfig::Drr(_) | SchedulingConfig::Srf {} => {}
    }
    by_rounds(scenario)?;
    levels::by_priority(scenario)?;
    levels::sprayed(scenario)?;
    match &switch.backpressure {
        BackpressureConfig::None {} => Ok(()),
        BackpressureConfig::Bfc(_) => numbered_queues(&switch.assignment),
        BackpressureConfig::FlowPauses(_) => flow_pauses(scenario),
        BackpressureConfig::Credits(credits) => {
            numbered_queues(&switch.assignment).and_then(|()| hop_credit::bounds(scenario, credits))
        }
        BackpressureConfig::Pfc(pfc) => pause_threshold(pfc, &switch.admission, "xoff"),
        BackpressureConfig::Fafc(config) => beneath(&config.pfc, scenario),
        BackpressureConfig::Capfc(config) => beneath(&config.pfc, scenario),
        BackpressureConfig::PPfc(config) => beneath(&config.pfc, scenario),
    }?;
    let is_fafc = matches!(switch.backpressure, BackpressureConfig::Fafc(_));
    let is_predicted = matches!(switch.marking, MarkingConfig::Predicted(_));
    let remedy = "it needs backpressure \"fafc\", which predicts the queue";
    unless(!is_predicted || is_fafc, "scheme.switch.marking.kind", "predicted", remedy)?;
    let controller = &scenario.scheme.host.controller;
    let is_ecn = matches!(switch.marking, MarkingConfig::Ecn(_) | MarkingConfig::NonPauseEcn {});
    let is_rounds = matches!(switch.marking, MarkingConfig::Rounds(_));
    let has_marks = is_predicted || is_ecn || is_rounds;
    let has_feedback = matches!(switch.marking, MarkingConfig::Qcn(_));
    for (needs, has, remedy) in [
        (controller.uses_telemetry(), scenario.has_telemetry(), "it needs marking \"telemetry\""),
        (controller.uses_marks(), has_marks, "it needs marking \"ecn\" or \"non-pause-ecn\""),
        (controller.uses_feedback(), has_feedback, "it needs marking \"qcn\""),
        (
            controller.needs_losses(),
            scenario.scheme.host.recovery.reports_losses(),
            "it needs recovery \"fast-retransmit\" or \"selective-repeat\"",
        ),
    ] {
        unless(!needs || has, "scheme.host.controller.kind", controller.kind(), remedy)?;
    }
    Ok(())
}

/// FAFC and its relatives know one class, and have PFC beneath.
fn beneath(pfc: &PfcConfig, scenario: &Scenario) -> Result<(), ScenarioError> {
    let switch = &scenario.scheme.switch;
    let classes = switch.assignment.classes();
    let remedy = "FAFC, CaPFC and P-PFC know one class; use one";
    unless(classes == 1, "scheme.switch.assignment.classes", classes, remedy)?;
    pause_threshold(pfc, &switch.admission, "pfc.xoff")
}

/// Pauses of flows are not told again, and hosts have those of queues.
fn flow_pauses(scenario: &Scenario) -> Result<(), ScenarioError> {
    let holds = scenario.faults.outages.is_empty() && scenario.faults.control_loss == 0.0;
    let remedy = "pauses of flows are not told again; use \"bfc\", or leave out the faults";
    unless(holds, "scheme.switch.backpressure.kind", "flow-pauses", remedy)?;
    numbered_queues(&scenario.scheme.switch.assignment)
}

/// BFC pauses queues by number.
fn numbered_queues(assignment: &AssignmentConfig) -> Result<(), ScenarioError> {
    let holds = !matches!(assignment, AssignmentConfig::PerFlow {} | AssignmentConfig::Ingress {})
        && assignment.queue_classes(0).len() < penstock_fabric::backpressure::bfc::UPSTREAM_QUEUES;
    let remedy = "it signals at most 128 queues a port; use assignment \"dynamic\"";
    unless(holds, "scheme.switch.backpressure.kind", "bfc", remedy)
}

/// XOFF of PFC is above XON, or dynamic where the admission has thresholds.
fn pause_threshold(
    pfc: &PfcConfig,
    admission: &AdmissionConfig,
    field: &str,
) -> Result<(), ScenarioError> {
    let field = format!("scheme.switch.backpressure.{field}");
    match pfc.xoff {
        Some(xoff) => unless(
            xoff > pfc.xon_offset && xoff > Bytes::ZERO,
            &field,
            xoff,
            "it must exceed xon_offset, or XON would not lie below XOFF",
        ),
        None => {
            let has_ingress =
                matches!(admission, AdmissionConfig::Shared(s) if s.ingress.is_some());
            let remedy = "write a static xoff, or admission \"shared\" with an ingress table";
            unless(has_ingress, &field, "null", remedy)
        }
    }
}

/// AFQ's rounds must hold a packet; they need a scheduler that serves them in order, and queues that are
/// not paused one by one.
fn by_rounds(scenario: &Scenario) -> Result<(), ScenarioError> {
    let switch = &scenario.scheme.switch;
    let AssignmentConfig::Rounds(rounds) = &switch.assignment else {
        let holds = !matches!(switch.marking, MarkingConfig::Rounds(_));
        let remedy = "it needs assignment \"rounds\"";
        return unless(holds, "scheme.switch.marking.kind", "rounds", remedy);
    };
    let packet = u64::from(scenario.wire.payload + scenario.data_overhead());
    let holds = packet < u64::from(rounds.queues - 1) * u64::from(rounds.bytes_per_round);
    let (field, value) = ("scheme.switch.assignment.bytes_per_round", rounds.bytes_per_round);
    let remedy = format!("a packet of {packet} B must fit into the rounds that have a queue");
    unless(holds, field, value, &remedy)?;
    let source = match switch.scheduling {
        SchedulingConfig::RotatingStrict {} | SchedulingConfig::PriorityGroups(_) => {
            Some(RoundSource::Scheduler)
        }
        SchedulingConfig::ScanningDrr(_) => Some(RoundSource::Occupancy),
        _ => None,
    };
    let remedy = "use \"rotating-strict\", \"scanning-drr\" or \"priority-groups\"";
    unless(source.is_some(), "scheme.switch.scheduling.kind", "this", remedy)?;
    let remedy = "\"occupancy\" belongs to \"scanning-drr\", \"scheduler\" to the others";
    let field = "scheme.switch.assignment.round";
    unless(source == Some(rounds.round), field, "this", remedy)?;
    let is_odd = !rounds.queues.is_multiple_of(2);
    let holds = is_odd || !matches!(switch.scheduling, SchedulingConfig::PriorityGroups(_));
    let remedy = "write an odd number: two groups of one size and the control queue";
    unless(holds, "scheme.switch.assignment.queues", rounds.queues, remedy)?;
    let known = BackpressureConfig::None {} == switch.backpressure;
    let holds = known || matches!(switch.backpressure, BackpressureConfig::Pfc(_));
    let remedy = "a round that is paused cannot end; use none or pfc";
    unless(holds, "scheme.switch.backpressure.kind", "this", remedy)
}
