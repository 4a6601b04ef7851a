//! What the switches of a scheme need of its hosts, and the hosts of the switches. The policies of
//! a switch check themselves what they need of each other.

use penstock_fabric::Surroundings;
use penstock_transport::{ControllerConfig, RecoveryConfig};
use penstock_units::{Fidelity, Problems};

use super::{full_packet, hop_credit, kind, levels};
use crate::scenario::Scenario;

pub(super) fn combinations(scenario: &Scenario, problems: &mut Problems) {
    let (switch, faults) = (&scenario.scheme.switch, &scenario.faults);
    let surroundings = Surroundings {
        packet: full_packet(scenario, problems),
        has_outages: !faults.outages.is_empty(),
        loses_control: faults.control_loss > 0.0,
        corrupts_frames: !faults.corruption.is_empty(),
    };
    problems.within("scheme.switch", |problems| switch.fits(&surroundings, problems));
    paused_queues(scenario, problems);
    hop_credit::queues(scenario, problems);
    levels::by_priority(scenario, problems);
    levels::sprayed(scenario, problems);
    hears(scenario, problems);
    stops(scenario, problems);
    writes_paths(scenario, problems);
    other_controllers(scenario, problems);
    finds_losses(scenario, problems);
    trims(scenario, problems);
    connections(scenario, problems);
}

/// Flows on an open connection go on with what the flow before has learnt, so that recovery and control must
/// have something that lasts.
fn connections(scenario: &Scenario, problems: &mut Problems) {
    let host = &scenario.scheme.host;
    let recovery = &host.recovery;
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let place = host.controller_of(entry.label());
        let controller = host.controllers().nth(place).expect("a place among them");
        let lacking = match recovery.keeps_connections() {
            false => format!("the {} recovery", kind(recovery)),
            true => format!("the {} controller", kind(controller)),
        };
        let keeps = recovery.keeps_connections() && controller.keeps_connections();
        let holds = entry.connections() == 0 || keeps;
        let remedy = format!(
            "{lacking} begins anew with each flow, and flows share the connections of TCP alone; write 0, or \
             use fast-retransmit with new-reno, reno-dctcp, cubic or packet-pair"
        );
        let field = format!("traffic[{index}].connections");
        problems.unless(holds, &field, entry.connections(), remedy);
    }
}

/// A recovery that relies on switches to report losses does not go with losses on links.
fn finds_losses(scenario: &Scenario, problems: &mut Problems) {
    let (recovery, faults) = (&scenario.scheme.host.recovery, &scenario.faults);
    let is_told = matches!(recovery, RecoveryConfig::Perfect(_));
    for (is_there, what, fault) in [
        (!faults.outages.is_empty(), "what a failed link loses", "outages"),
        (!faults.corruption.is_empty(), "a corrupted frame", "corruption"),
    ] {
        let remedy = format!(
            "nobody tells a source of {what}; use another recovery, or leave out faults.{fault}"
        );
        let holds = !is_there || !is_told;
        problems.unless(holds, "scheme.host.recovery.kind", kind(recovery), remedy);
    }
}

/// Switches that trim need hosts that report headers, and the other way round. NDP's window is one of that
/// recovery.
fn trims(scenario: &Scenario, problems: &mut Problems) {
    let (admission, host) = (&scenario.scheme.switch.admission, &scenario.scheme.host);
    let reports = host.recovery.needs_trimming();
    let remedy = "it reports headers, and the switches make none; use admission \"trimming\", or another \
                  recovery";
    let field = "scheme.host.recovery.kind";
    problems.unless(!reports || admission.trims(), field, kind(&host.recovery), remedy);
    let remedy = format!(
        "the {} recovery knows no headers; use recovery \"trimmed-headers\", or another admission",
        kind(&host.recovery)
    );
    let holds = reports || !admission.trims();
    problems.unless(holds, "scheme.switch.admission.kind", admission.kind(), remedy);
    let pulls = matches!(host.controller, ControllerConfig::Ndp(_));
    let remedy = "its window counts all that has left, as that recovery does; use recovery \
                  \"trimmed-headers\", or another controller";
    problems.unless(reports || !pulls, "scheme.host.controller.kind", "ndp", remedy);
}

/// Other controllers are for traffic that there is, and plan nothing at the receiver.
fn other_controllers(scenario: &Scenario, problems: &mut Problems) {
    let host = &scenario.scheme.host;
    let plans = host.controllers().any(plans);
    for (index, other) in host.other_controllers.iter().enumerate() {
        let field = format!("scheme.host.other_controllers[{index}]");
        let is_there = scenario.traffic.iter().any(|entry| entry.label() == other.label);
        let remedy = "no traffic has this label; write the label of an entry of traffic";
        problems.unless(is_there, &format!("{field}.label"), &other.label, remedy);
        let remedy = "receivers of homa, expresspass and ndp plan for all flows of a host, which then have \
                      one controller; leave it out, or use other controllers";
        problems.unless(
            !plans,
            &format!("{field}.controller.kind"),
            kind(&other.controller),
            remedy,
        );
    }
}

/// Whether receivers of this controller grant bytes, give credits for them, or pull them.
fn plans(controller: &ControllerConfig) -> bool {
    matches!(
        controller,
        ControllerConfig::Homa(_) | ControllerConfig::Expresspass(_) | ControllerConfig::Ndp(_)
    )
}

/// Telemetry writes the name of the path where these controllers have their levels or credits.
fn writes_paths(scenario: &Scenario, problems: &mut Problems) {
    let controller = &scenario.scheme.host.controller;
    let remedy = format!(
        "the {} controller reads no telemetry, and has numbers of its own where telemetry names the path; \
         use another marking, or another controller",
        kind(controller)
    );
    let holds = !(plans(controller) && scenario.has_telemetry());
    problems.unless(holds, "scheme.switch.marking.kind", "telemetry", remedy);
}

/// Receivers that grant bytes, give credits for them, or pull them, have to know how many there will be.
fn stops(scenario: &Scenario, problems: &mut Problems) {
    let controller = &scenario.scheme.host.controller;
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let remedy = format!(
            "receivers of the {} controller plan with the size of a flow, which a flow that stops does not \
             know; leave it out, or use another controller",
            kind(controller)
        );
        let holds = !(plans(controller) && entry.stops());
        problems.unless(holds, &format!("traffic[{index}].lasts"), "given", remedy);
    }
}

/// A switch that pauses queues also pauses the queues of NICs that react.
fn paused_queues(scenario: &Scenario, problems: &mut Problems) {
    let (switch, nic) = (&scenario.scheme.switch, &scenario.scheme.host.nic);
    let field = "scheme.host.nic.queues";
    let pauses_flows = scenario.fidelity == Fidelity::Ns3Bfc;
    let has_queues = !nic.reacts || nic.queues > 0 || pauses_flows || !problems.is_sound(field);
    let remedy = "a NIC that obeys the pauses of queues needs queues to pause; use at least 2 (BFC: 32), or \
                  set scheme.host.nic.reacts = false";
    let holds = has_queues || !switch.backpressure.pauses_queues();
    problems.unless(holds, field, nic.queues, remedy);
}

/// Controllers need the marks and the reports of losses to which they react.
fn hears(scenario: &Scenario, problems: &mut Problems) {
    for controller in scenario.scheme.host.controllers() {
        controller_hears(scenario, controller, problems);
    }
}

fn controller_hears(scenario: &Scenario, controller: &ControllerConfig, problems: &mut Problems) {
    let (marking, host) = (&scenario.scheme.switch.marking, &scenario.scheme.host);
    let name = kind(controller);
    for (needs, has, what) in [
        (controller.uses_telemetry(), scenario.has_telemetry(), "telemetry"),
        (controller.uses_marks(), marking.has_marks(), "ecn"),
        (controller.uses_feedback(), marking.has_feedback(), "qcn"),
    ] {
        let remedy = format!(
            "the {name} controller reacts to {what}, and switches do not send it; use marking \"{what}\", or \
             another controller"
        );
        let holds = !needs || has;
        problems.unless(holds, "scheme.switch.marking.kind", marking.kind(), remedy);
    }
    let holds = !controller.needs_losses() || host.recovery.reports_losses();
    let remedy = format!(
        "the {name} controller reacts to losses, and the recovery reports timeouts at most; use recovery \
         \"fast-retransmit\" or \"selective-repeat\", or another controller"
    );
    problems.unless(holds, "scheme.host.recovery.kind", kind(&host.recovery), remedy);
}
