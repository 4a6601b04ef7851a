//! What the ns-3 HPCC simulator has, and where its arithmetic ends.

use penstock_fabric::{BackpressureConfig, MarkingConfig, SchedulingConfig};
use penstock_transport::{NicScheduling, RecoveryConfig};
use penstock_units::{Fidelity, Problems, Time};

use super::full_packet;
use crate::ns3;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// The ns-3 HPCC simulator has one data queue and PFC, and NICs with a queue per flow.
pub(super) fn parts(scenario: &Scenario, problems: &mut Problems) {
    if scenario.fidelity == Fidelity::Exact {
        return;
    }
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let is_known = [
        (matches!(switch.scheduling, SchedulingConfig::Fifo(_)), "switch.scheduling"),
        (
            matches!(switch.backpressure, BackpressureConfig::None(_) | BackpressureConfig::Pfc(_)),
            "switch.backpressure",
        ),
        (
            matches!(
                switch.marking,
                MarkingConfig::None(_) | MarkingConfig::Ecn(_) | MarkingConfig::Telemetry(_)
            ),
            "switch.marking",
        ),
        (matches!(host.recovery, RecoveryConfig::GoBackN(_)), "host.recovery"),
        (!matches!(scenario.scheme.routing, RoutingConfig::Spray(_)), "routing"),
    ];
    let remedy = "that simulator has one FIFO, PFC, Go-Back-N and a round robin of flows; use fidelity exact";
    for (holds, part) in is_known {
        let field = format!("scheme.{part}.kind");
        problems.unless(holds, &field, "unknown to ns3-hpcc", remedy);
    }
    let nic = &host.nic;
    problems.unless(nic.queues == 0, "scheme.host.nic.queues", nic.queues, remedy);
    let holds = nic.scheduling == NicScheduling::RoundRobin;
    problems.unless(holds, "scheme.host.nic.scheduling", "srf", remedy);
    let holds = scenario.faults.outages.is_empty();
    let remedy = "the simulator of fidelity ns3-hpcc has no routes that change; leave them out, or use \
                  fidelity \"exact\"";
    let value = format!("a list of {}", scenario.faults.outages.len());
    problems.unless(holds, "faults.outages", value, remedy);
}

/// No full data packet and no round trip takes 0 ns: that simulator cuts times off to whole ns.
///
/// A last packet shorter than the others, an acknowledgement or a control frame may take 0 ns, as there:
/// each of them answers something that took time.
pub(super) fn times(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    if scenario.fidelity == Fidelity::Exact {
        return;
    }
    let (payload, Some(packet)) = (scenario.payload(), full_packet(scenario, problems)) else {
        return;
    };
    for (number, link) in (0..).zip(&topology.links) {
        let (name, rate) = (topology.link_name(number), link.rate);
        let time = rate.serialization_time(packet, scenario.fidelity);
        let refused = if time == Time::ZERO {
            format!("a packet of {packet} takes 0 ns on {name} at {rate}; write more, a lower rate")
        } else if ns3::link_round_trip(link, payload) == Time::ZERO {
            format!(
                "the round trip over {name}, at {rate} with a delay of {}, takes 0 ns; write more, \
                 a longer delay",
                link.delay
            )
        } else {
            continue;
        };
        let remedy =
            format!("fidelity ns3-hpcc cuts times to whole ns, and {refused}, or fidelity exact");
        return problems.unless(false, "wire.payload", payload, remedy);
    }
}
