//! What ExpressPass needs of the switches, the hosts and the routing: all of its parts at once.

use penstock_packet::CreditShapingConfig;
use penstock_transport::{
    ControllerConfig, ExpressPassConfig, NicConfig, NicScheduling, RecoveryConfig,
};
use penstock_units::{Fidelity, Problems};

use super::kind;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;

/// Checks the parts of ExpressPass in `scenario`, and refuses one part without the others.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) {
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let is_symmetric = scenario.scheme.routing == (RoutingConfig::SymmetricEcmp {});
    let remedy = format!(
        "the simulator of fidelity {} hashes each direction; use \"ecmp\", or fidelity \"exact\"",
        scenario.fidelity.name()
    );
    let holds = !is_symmetric || scenario.fidelity == Fidelity::Exact;
    problems.unless(holds, "scheme.routing.kind", "symmetric-ecmp", remedy);
    let holds = !is_symmetric || scenario.faults.outages.is_empty();
    let remedy = "packets are forwarded by a hash of each direction while links fail; use \"ecmp\", or \
                  no outages";
    problems.unless(holds, "scheme.routing.kind", "symmetric-ecmp", remedy);
    let shaping = switch.scheduling.credit_shaping();
    let controller = match &host.controller {
        ControllerConfig::Expresspass(controller) => Some(controller),
        _ => None,
    };
    let (shaping, controller) = match (shaping, controller) {
        (Some(shaping), Some(controller)) => (shaping, controller),
        (None, None) => return,
        (Some(_), None) => {
            let remedy = "switches have a queue for credits, and nobody sends any; use controller \
                          \"expresspass\", or scheduling \"fifo\"";
            let kind = kind(&host.controller);
            return problems.unless(false, "scheme.host.controller.kind", kind, remedy);
        }
        (None, Some(_)) => {
            let remedy = "nobody holds back the credits of the expresspass controller; use scheduling \
                          \"credit-shaping\"";
            let kind = switch.scheduling.kind();
            return problems.unless(false, "scheme.switch.scheduling.kind", kind, remedy);
        }
    };
    let remedy = "with ExpressPass data take the way of their credits; use symmetric-ecmp";
    problems.unless(is_symmetric, "scheme.routing.kind", kind(&scenario.scheme.routing), remedy);
    let holds = matches!(host.recovery, RecoveryConfig::GoBackN(_));
    let remedy = "with ExpressPass credits acknowledge for go-back-n; use go-back-n";
    problems.unless(holds, "scheme.host.recovery.kind", kind(&host.recovery), remedy);
    nic(&host.nic, problems);
    credit_size(shaping, controller, problems);
}

/// Data leave a NIC in the order of their credits.
fn nic(nic: &NicConfig, problems: &mut Problems) {
    problems.unless(
        nic.queues == 0,
        "scheme.host.nic.queues",
        nic.queues,
        "with ExpressPass nothing is paused; use 0",
    );
    let holds = nic.scheduling == NicScheduling::RoundRobin;
    let remedy = "with ExpressPass data leave as their credits came; use round-robin";
    problems.unless(holds, "scheme.host.nic.scheduling", "srf", remedy);
}

/// The credit queue of switches is set for one size of credit; hosts must send that size on
/// average.
fn credit_size(
    shaping: &CreditShapingConfig,
    controller: &ExpressPassConfig,
    problems: &mut Problems,
) {
    let field = "scheme.switch.scheduling.credit";
    if problems.is_sound(field) && problems.is_sound("scheme.host.controller") {
        let credit = controller.credit();
        let remedy = format!(
            "credits of {} to {} weigh another size in the mean; write {credit}",
            controller.credit_minimum, controller.credit_maximum
        );
        problems.unless(shaping.credit == credit, field, shaping.credit, remedy);
    }
}
