//! What ExpressPass needs of the switches, the hosts and the routing, all at once.

use penstock_fabric::{BackpressureConfig, SchedulingConfig};
use penstock_packet::CreditShapingConfig;
use penstock_transport::{
    ControllerConfig, ExpressPassConfig, NicConfig, NicScheduling, RecoveryConfig,
};
use penstock_units::{Fidelity, Problems};

use super::{full_packet, kind};
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;

/// The most credits that may wait or be saved: more than a data center has in flight; our choice.
const MOST_CREDITS: u32 = 1_000_000;

/// The largest frame that a credit can stand for (bytes): the wire's, a jumbo frame with its headers.
const LARGEST_FRAME: u64 = 1 << 14;

/// Checks the parts of ExpressPass in `scenario`, and that none of them is there alone.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) {
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let is_symmetric = scenario.scheme.routing == (RoutingConfig::SymmetricEcmp {});
    let remedy = "the simulator of fidelity ns3-hpcc hashes each direction; use ecmp";
    let holds = !is_symmetric || scenario.fidelity == Fidelity::Exact;
    problems.unless(holds, "scheme.routing.kind", "symmetric-ecmp", remedy);
    let holds = !is_symmetric || scenario.faults.outages.is_empty();
    let remedy = "packets are forwarded by a hash of each direction while links fail; use ecmp";
    problems.unless(holds, "scheme.routing.kind", "symmetric-ecmp", remedy);
    let shaping = match &switch.scheduling {
        SchedulingConfig::CreditShaping(shaping) => Some(shaping),
        _ => None,
    };
    let controller = match &host.controller {
        ControllerConfig::Expresspass(controller) => Some(controller),
        _ => None,
    };
    let (shaping, controller) = match (shaping, controller) {
        (Some(shaping), Some(controller)) => (shaping, controller),
        (None, None) => return,
        (Some(_), None) => {
            let remedy = "nobody sends credits; use controller \"expresspass\"";
            let kind = kind(&host.controller);
            return problems.unless(false, "scheme.host.controller.kind", kind, remedy);
        }
        (None, Some(_)) => {
            let remedy = "nobody holds credits back; use scheduling \"credit-shaping\"";
            let kind = kind(&switch.scheduling);
            return problems.unless(false, "scheme.switch.scheduling.kind", kind, remedy);
        }
    };
    let remedy = "data must take the way of their credits; use symmetric-ecmp";
    problems.unless(is_symmetric, "scheme.routing.kind", kind(&scenario.scheme.routing), remedy);
    let holds = matches!(switch.backpressure, BackpressureConfig::None(_));
    let remedy = "data that credits have paid for are not paused; use none";
    problems.unless(holds, "scheme.switch.backpressure.kind", kind(&switch.backpressure), remedy);
    let holds = matches!(host.recovery, RecoveryConfig::GoBackN(_));
    let remedy = "what credits acknowledge is for go-back-n";
    problems.unless(holds, "scheme.host.recovery.kind", kind(&host.recovery), remedy);
    nic(&host.nic, problems);
    sizes(scenario, shaping, controller, problems);
}

/// Data leave in the order of their credits.
fn nic(nic: &NicConfig, problems: &mut Problems) {
    problems.unless(
        nic.queues == 0,
        "scheme.host.nic.queues",
        nic.queues,
        "nothing is paused; use 0",
    );
    let holds = nic.scheduling == NicScheduling::RoundRobin;
    let remedy = "data leave in the order of their credits; use round-robin";
    problems.unless(holds, "scheme.host.nic.scheduling", "srf", remedy);
}

/// Switches must count with the frames that hosts send.
fn sizes(
    scenario: &Scenario,
    shaping: &CreditShapingConfig,
    controller: &ExpressPassConfig,
    problems: &mut Problems,
) {
    let at = |field: &str| format!("scheme.switch.scheduling.{field}");
    for (field, credits) in [("queue", shaping.queue), ("burst", shaping.burst)] {
        let holds = (1..=MOST_CREDITS).contains(&credits);
        problems.unless(holds, &at(field), credits, "write 1 to 1000000 credits");
    }
    if problems.is_sound("scheme.host.controller") {
        let credit = controller.credit();
        let holds = shaping.credit == credit && credit.get() <= LARGEST_FRAME;
        let remedy = format!("credits weigh {credit} in the mean; write that");
        problems.unless(holds, &at("credit"), shaping.credit, &remedy);
    }
    if let Some(frame) = full_packet(scenario, problems) {
        let holds = shaping.frame == frame && frame.get() <= LARGEST_FRAME;
        let remedy = format!("a full data packet weighs {frame} on the wire; write that");
        problems.unless(holds, &at("frame"), shaping.frame, &remedy);
    }
}
