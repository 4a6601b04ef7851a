//! Limits of fidelity ns3-hpcc: the parts that the ns-3 HPCC simulator has, and the times that its
//! arithmetic can express.

use penstock_transport::{NicScheduling, RecoveryConfig};
use penstock_units::{Fidelity, Problems, Time};

use super::{full_packet, kind};
use crate::ns3;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// Refuses parts that the ns-3 HPCC simulator lacks. The simulator has one data queue and PFC, and
/// NICs with a queue per flow.
pub(super) fn parts(scenario: &Scenario, problems: &mut Problems) {
    if scenario.fidelity == Fidelity::Exact {
        return;
    }
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let (scheduling, backpressure) = (&switch.scheduling, &switch.backpressure);
    let (marking, recovery) = (&switch.marking, &host.recovery);
    let routing = &scenario.scheme.routing;
    for (holds, part, given, known) in [
        (scheduling.is_in_ns3_hpcc(), "switch.scheduling", scheduling.kind(), "fifo"),
        (backpressure.is_in_ns3_hpcc(), "switch.backpressure", backpressure.kind(), "none or pfc"),
        (marking.is_in_ns3_hpcc(), "switch.marking", marking.kind(), "none or ecn or telemetry"),
        (
            matches!(recovery, RecoveryConfig::GoBackN(_)),
            "host.recovery",
            kind(recovery),
            "go-back-n",
        ),
        (!matches!(routing, RoutingConfig::Spray(_)), "routing", kind(routing), "ecmp"),
    ] {
        let remedy = format!(
            "the simulator of fidelity ns3-hpcc has nothing like it; use {known}, or fidelity \"exact\""
        );
        problems.unless(holds, &format!("scheme.{part}.kind"), given, remedy);
    }
    let nic = &host.nic;
    let remedy = "a NIC of fidelity ns3-hpcc serves its flows in turn, without queues; use";
    let queues = format!("{remedy} 0, or fidelity \"exact\"");
    problems.unless(nic.queues == 0, "scheme.host.nic.queues", nic.queues, queues);
    let holds = nic.scheduling == NicScheduling::RoundRobin;
    let turns = format!("{remedy} round-robin, or fidelity \"exact\"");
    problems.unless(holds, "scheme.host.nic.scheduling", "srf", turns);
    let others = host.other_controllers.len();
    let remedy = "all flows of fidelity ns3-hpcc have one controller; leave it out, or use fidelity \"exact\"";
    let value = format!("a list of {others}");
    problems.unless(others == 0, "scheme.host.other_controllers", value, remedy);
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let remedy = "flows of fidelity ns3-hpcc do not stop before their last bytes; leave it out, or use \
                      fidelity \"exact\"";
        problems.unless(!entry.stops(), &format!("traffic[{index}].lasts"), "given", remedy);
    }
    let holds = scenario.faults.outages.is_empty();
    let remedy = "the simulator of fidelity ns3-hpcc has no routes that change; leave them out, or use \
                  fidelity \"exact\"";
    let value = format!("a list of {}", scenario.faults.outages.len());
    problems.unless(holds, "faults.outages", value, remedy);
}

/// Refuses full data packets and round trips that take 0 ns, because the ns-3 HPCC simulator cuts
/// times off to whole nanoseconds.
///
/// A last packet that is shorter than the others, an acknowledgement or a control frame may take 0
/// ns, as in that simulator: each of them answers something that took time.
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
