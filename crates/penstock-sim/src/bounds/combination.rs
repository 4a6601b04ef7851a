//! Policies that do not go together.

use penstock_fabric::assignment::rounds::RoundSource;
use penstock_fabric::backpressure::pfc::PfcConfig;
use penstock_fabric::scheduling::strict::QUEUES_MAX;
use penstock_fabric::{
    AdmissionConfig, AssignmentConfig, BackpressureConfig, MarkingConfig, SchedulingConfig,
};
use penstock_units::{Bytes, Problems};

use super::{data_queues, full_packet, kind, levels};
use crate::scenario::Scenario;

pub(super) fn combinations(scenario: &Scenario, problems: &mut Problems) {
    let switch = &scenario.scheme.switch;
    let scheduling = "scheme.switch.scheduling.kind";
    let has_classes = problems.is_sound("scheme.switch.assignment.classes");
    let one_queue = match &switch.assignment {
        AssignmentConfig::Class(class) => class.classes == 1 || !has_classes,
        _ => false,
    };
    let per_flow = matches!(switch.assignment, AssignmentConfig::PerFlow(_));
    let by_ingress = matches!(switch.assignment, AssignmentConfig::Ingress(_));
    let data_queues = data_queues(&switch.assignment, problems);
    let remedy = "it needs assignment \"class\" with one class; use drr or strict otherwise";
    let classes_share =
        matches!(&switch.assignment, AssignmentConfig::Dynamic(d) if d.classes_share);
    match switch.scheduling {
        SchedulingConfig::Fifo(_) => problems.unless(one_queue, scheduling, "fifo", remedy),
        SchedulingConfig::CreditShaping(_) => {
            problems.unless(one_queue, scheduling, "credit-shaping", remedy);
        }
        SchedulingConfig::Strict(_) => {
            let holds =
                !per_flow && !by_ingress && data_queues.is_none_or(|queues| queues < QUEUES_MAX);
            problems.unless(holds, scheduling, "strict", "it serves at most 128 queues; use drr");
            let remedy = "it ranks queues by number, and classes that share them do not; use drr";
            problems.unless(!classes_share, scheduling, "strict", remedy);
        }
        SchedulingConfig::IdealFair(_) => {
            problems.unless(per_flow, scheduling, "ideal-fair", "it needs assignment \"per-flow\"");
        }
        SchedulingConfig::RotatingStrict(_)
        | SchedulingConfig::ScanningDrr(_)
        | SchedulingConfig::PriorityGroups(_) => {
            let known = matches!(&switch.assignment, AssignmentConfig::Rounds(_));
            let remedy = "it needs assignment \"rounds\"";
            problems.unless(known, scheduling, kind(&switch.scheduling), remedy);
        }
        SchedulingConfig::Srf(_) => {
            let holds = per_flow || matches!(switch.assignment, AssignmentConfig::Dynamic(_));
            let remedy = "it ranks flows, and others mix them; use per-flow or dynamic";
            problems.unless(holds, scheduling, "srf", remedy);
        }
        SchedulingConfig::Drr(_) => {}
    }
    by_rounds(scenario, problems);
    levels::by_priority(scenario, problems);
    levels::sprayed(scenario, problems);
    match &switch.backpressure {
        BackpressureConfig::None(_) => {}
        BackpressureConfig::Bfc(_) => numbered_queues(scenario, problems),
        BackpressureConfig::FlowPauses(_) => flow_pauses(scenario, problems),
        BackpressureConfig::Credits(credits) => {
            super::hop_credit::bounds(scenario, credits, problems);
            numbered_queues(scenario, problems);
        }
        BackpressureConfig::Pfc(pfc) => {
            pause_threshold(pfc, &switch.admission, "scheme.switch.backpressure", problems);
        }
        BackpressureConfig::Fafc(config) => beneath(&config.pfc, scenario, problems),
        BackpressureConfig::Capfc(config) => beneath(&config.pfc, scenario, problems),
        BackpressureConfig::PPfc(config) => beneath(&config.pfc, scenario, problems),
    }
    let is_fafc = matches!(switch.backpressure, BackpressureConfig::Fafc(_));
    let is_predicted = matches!(switch.marking, MarkingConfig::Predicted(_));
    let remedy = "it needs backpressure \"fafc\", which predicts the queue";
    problems.unless(!is_predicted || is_fafc, "scheme.switch.marking.kind", "predicted", remedy);
    hears(scenario, problems);
}

/// Controllers need the marks, and the reports of losses, that they react to.
fn hears(scenario: &Scenario, problems: &mut Problems) {
    let (marking, host) = (&scenario.scheme.switch.marking, &scenario.scheme.host);
    let controller = &host.controller;
    let has_marks = matches!(
        marking,
        MarkingConfig::Ecn(_)
            | MarkingConfig::NonPauseEcn(_)
            | MarkingConfig::Predicted(_)
            | MarkingConfig::Rounds(_)
    );
    let has_feedback = matches!(marking, MarkingConfig::Qcn(_));
    for (needs, has, what) in [
        (controller.uses_telemetry(), scenario.has_telemetry(), "telemetry"),
        (controller.uses_marks(), has_marks, "ecn"),
        (controller.uses_feedback(), has_feedback, "qcn"),
    ] {
        let remedy = format!("the {} controller needs \"{what}\"; use that", kind(controller));
        problems.unless(!needs || has, "scheme.switch.marking.kind", kind(marking), &remedy);
    }
    let holds = !controller.needs_losses() || host.recovery.reports_losses();
    let remedy = format!(
        "the {} controller needs \"fast-retransmit\" or \"selective-repeat\"; use one",
        kind(controller)
    );
    problems.unless(holds, "scheme.host.recovery.kind", kind(&host.recovery), &remedy);
}

/// FAFC and its relatives know one class, and have PFC beneath.
fn beneath(pfc: &PfcConfig, scenario: &Scenario, problems: &mut Problems) {
    let switch = &scenario.scheme.switch;
    let classes = switch.assignment.classes();
    let remedy = "FAFC, CaPFC and P-PFC know one class; use one";
    let field = "scheme.switch.assignment.classes";
    problems.unless(classes == 1 || !problems.is_sound(field), field, classes, remedy);
    pause_threshold(pfc, &switch.admission, "scheme.switch.backpressure.pfc", problems);
}

/// Pauses of flows are not told again, and hosts have those of queues.
fn flow_pauses(scenario: &Scenario, problems: &mut Problems) {
    let holds = scenario.faults.outages.is_empty() && scenario.faults.control_loss == 0.0;
    let remedy = "pauses of flows are not told again; use \"bfc\", or leave out the faults";
    problems.unless(holds, "scheme.switch.backpressure.kind", "flow-pauses", remedy);
    numbered_queues(scenario, problems);
}

/// BFC pauses queues by number, those of NICs that react included.
fn numbered_queues(scenario: &Scenario, problems: &mut Problems) {
    let (assignment, nic) = (&scenario.scheme.switch.assignment, &scenario.scheme.host.nic);
    let has_numbers =
        !matches!(assignment, AssignmentConfig::PerFlow(_) | AssignmentConfig::Ingress(_));
    let remedy = "BFC pauses queues by number; use \"dynamic\", \"stochastic\" or \"class\"";
    problems.unless(has_numbers, "scheme.switch.assignment.kind", kind(assignment), remedy);
    if let Some(queues) = data_queues(assignment, problems).map(|queues| queues + 1) {
        let remedy = "BFC signals at most 128 queues a port; use at most that";
        let holds = queues <= penstock_fabric::backpressure::bfc::UPSTREAM_QUEUES;
        problems.unless(holds, "scheme.switch.assignment.queues", queues, remedy);
    }
    let remedy =
        "a NIC that obeys the pauses of queues needs queues; use 2 or more, or reacts false";
    let field = "scheme.host.nic.queues";
    let holds = !nic.reacts || nic.queues > 0 || !problems.is_sound(field);
    problems.unless(holds, field, nic.queues, remedy);
}

/// XOFF of PFC, at `path`, is above XON, or dynamic where the admission has thresholds.
fn pause_threshold(
    pfc: &PfcConfig,
    admission: &AdmissionConfig,
    path: &str,
    problems: &mut Problems,
) {
    let field = |name| format!("{path}.{name}");
    match pfc.xoff {
        Some(xoff) => {
            let is_positive = xoff > Bytes::ZERO;
            problems.unless(is_positive, &field("xoff"), xoff, "write at least 1 B");
            let holds = !is_positive || xoff > pfc.xon_offset;
            let remedy = format!("it must be below xoff, {xoff}, or XON would not lie below XOFF");
            problems.unless(holds, &field("xon_offset"), pfc.xon_offset, &remedy);
        }
        None => {
            let has_ingress =
                matches!(admission, AdmissionConfig::Shared(s) if s.ingress.is_some());
            let remedy = "write a static xoff, or admission \"shared\" with an ingress table";
            problems.unless(has_ingress, &field("xoff"), "null", remedy);
        }
    }
}

/// AFQ's rounds must hold a packet; they need a scheduler that serves them in order, and queues that are
/// not paused one by one.
fn by_rounds(scenario: &Scenario, problems: &mut Problems) {
    let switch = &scenario.scheme.switch;
    let AssignmentConfig::Rounds(rounds) = &switch.assignment else {
        let holds = !matches!(switch.marking, MarkingConfig::Rounds(_));
        let remedy = "it needs assignment \"rounds\"";
        problems.unless(holds, "scheme.switch.marking.kind", "rounds", remedy);
        return;
    };
    let is_sound = problems.is_sound("scheme.switch.assignment");
    if let Some(packet) = full_packet(scenario, problems).filter(|_| is_sound) {
        let room = u64::from(rounds.queues - 1) * u64::from(rounds.bytes_per_round);
        let (field, value) = ("scheme.switch.assignment.bytes_per_round", rounds.bytes_per_round);
        let remedy =
            format!("a packet of {} B must fit into the rounds that have a queue", packet.get());
        problems.unless(packet.get() < room, field, value, &remedy);
    }
    let source = match switch.scheduling {
        SchedulingConfig::RotatingStrict(_) | SchedulingConfig::PriorityGroups(_) => {
            Some(RoundSource::Scheduler)
        }
        SchedulingConfig::ScanningDrr(_) => Some(RoundSource::Occupancy),
        _ => None,
    };
    let remedy = "use \"rotating-strict\", \"scanning-drr\" or \"priority-groups\"";
    problems.unless(
        source.is_some(),
        "scheme.switch.scheduling.kind",
        kind(&switch.scheduling),
        remedy,
    );
    let remedy = "\"occupancy\" belongs to \"scanning-drr\", \"scheduler\" to the others";
    let field = "scheme.switch.assignment.round";
    let holds = source.is_none_or(|source| source == rounds.round);
    problems.unless(holds, field, format!("{:?}", rounds.round), remedy);
    let is_odd = !rounds.queues.is_multiple_of(2);
    let holds = is_odd || !matches!(switch.scheduling, SchedulingConfig::PriorityGroups(_));
    let remedy = "write an odd number: two groups of one size and the control queue";
    problems.unless(holds, "scheme.switch.assignment.queues", rounds.queues, remedy);
    let holds =
        matches!(switch.backpressure, BackpressureConfig::None(_) | BackpressureConfig::Pfc(_));
    let remedy = "a round that is paused cannot end; use none or pfc";
    problems.unless(holds, "scheme.switch.backpressure.kind", kind(&switch.backpressure), remedy);
}
