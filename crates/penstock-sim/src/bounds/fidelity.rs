//! Limits of the fidelities of other simulators: the parts that those simulators have, and the times that
//! their arithmetic can express.

use std::sync::LazyLock;

use penstock_transport::{ControllerConfig, NicScheduling, RecoveryConfig};
use penstock_units::{Fidelity, Problems, Time};
use serde_json::{Value, json};

use super::{full_packet, kind};
use crate::network::longest_path;
use crate::ns3;
use crate::partition::router::MOST_LINKS;
use crate::routing::{Routing, RoutingConfig};
use crate::scenario::Scenario;
use crate::topology::Topology;

/// Fields of a scheme that NASA-NJU/Pyrrha-NS3 has with one value only.
static NS3_BFC_FIELDS: LazyLock<[(&str, Value); 13]> = LazyLock::new(|| {
    [
        ("switch.assignment.classes", json!(1)),
        ("switch.assignment.incast_queue", json!(false)),
        ("switch.assignment.sampling", json!(1.0)),
        ("switch.assignment.grace_hop_rtts", json!(0.0)),
        ("switch.assignment.epoch_bits", json!(0)),
        ("switch.assignment.full_port", json!("random")),
        ("switch.backpressure.threshold", json!({"kind": "hop-rtts", "factor": 1.0})),
        ("switch.backpressure.bitmap_interval", json!(0)),
        ("switch.backpressure.counts_last", json!(true)),
        ("switch.backpressure.elide_down_up", json!(false)),
        ("switch.backpressure.elide", json!([])),
        ("host.nic.reacts", json!(true)),
        ("host.nic.empty_queue", json!("any")),
    ]
});

/// Refuses parts that the simulator of the run's fidelity lacks.
pub(super) fn parts(scenario: &Scenario, problems: &mut Problems) {
    let fidelity = scenario.fidelity;
    let queues = scenario.scheme.switch.assignment.queues_acknowledgements();
    let remedy = "only fidelity ns3-bfc has acknowledgements in data queues; use \"control\"";
    let field = "scheme.switch.assignment.acknowledgements";
    problems.unless(!queues || fidelity == Fidelity::Ns3Bfc, field, "data", remedy);
    if fidelity == Fidelity::Exact {
        return;
    }
    let name = fidelity.name();
    kinds(scenario, problems);
    let nic = &scenario.scheme.host.nic;
    let remedy = format!("a NIC of fidelity {name} serves its flows in turn");
    if fidelity == Fidelity::Ns3Hpcc {
        let queues = format!("{remedy}, without queues; use 0, or fidelity \"exact\"");
        problems.unless(nic.queues == 0, "scheme.host.nic.queues", nic.queues, queues);
    } else {
        fields(scenario, problems);
    }
    let holds = nic.scheduling == NicScheduling::RoundRobin;
    let turns = format!("{remedy}; use round-robin, or fidelity \"exact\"");
    problems.unless(holds, "scheme.host.nic.scheduling", "srf", turns);
    let others = scenario.scheme.host.other_controllers.len();
    let remedy = format!(
        "all flows of fidelity {name} have one controller; leave it out, or use fidelity \"exact\""
    );
    let value = format!("a list of {others}");
    problems.unless(others == 0, "scheme.host.other_controllers", value, remedy);
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let remedy = format!(
            "flows of fidelity {name} do not stop before their last bytes; leave it out, or use fidelity \
             \"exact\""
        );
        problems.unless(!entry.stops(), &format!("traffic[{index}].lasts"), "given", remedy);
        let remedy = format!(
            "flows of fidelity {name} cannot wait for others; leave the entry out, or use fidelity \"exact\""
        );
        let (holds, field) = (!entry.is_dependent(), format!("traffic[{index}]"));
        problems.unless(holds, &field, format!("\"{}\"", entry.label()), remedy);
    }
    let faults = &scenario.faults;
    for (field, count, lacks) in [
        ("faults.outages", faults.outages.len(), "has no routes that change"),
        ("faults.corruption", faults.corruption.len(), "draws losses of its own"),
    ] {
        let remedy = format!(
            "the simulator of fidelity {name} {lacks}; leave them out, or use fidelity \"exact\""
        );
        problems.unless(count == 0, field, format!("a list of {count}"), remedy);
    }
}

/// Refuses policies that the simulator of the run's fidelity lacks. The ns-3 HPCC simulator has one data
/// queue and PFC; the other one has BFC.
fn kinds(scenario: &Scenario, problems: &mut Problems) {
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let fidelity = scenario.fidelity;
    let (assignment, scheduling) = (&switch.assignment, &switch.scheduling);
    let (backpressure, marking) = (&switch.backpressure, &switch.marking);
    let (recovery, routing) = (&host.recovery, &scenario.scheme.routing);
    let or = |hpcc, bfc| if fidelity == Fidelity::Ns3Hpcc { hpcc } else { bfc };
    for (holds, part, given, known) in [
        (
            assignment.is_in(fidelity),
            "switch.assignment",
            assignment.kind(),
            or("class", "dynamic"),
        ),
        (
            scheduling.is_in(fidelity),
            "switch.scheduling",
            scheduling.kind(),
            or("fifo", "round-robin or strict"),
        ),
        (
            backpressure.is_in(fidelity),
            "switch.backpressure",
            backpressure.kind(),
            or("none or pfc", "bfc"),
        ),
        (
            marking.is_in(fidelity),
            "switch.marking",
            marking.kind(),
            or("none or ecn of the queue or telemetry", "none"),
        ),
        (
            matches!(recovery, RecoveryConfig::GoBackN(_)),
            "host.recovery",
            kind(recovery),
            "go-back-n",
        ),
        (
            !matches!(host.controller, ControllerConfig::Python(_)),
            "host.controller",
            kind(&host.controller),
            "a controller of ours",
        ),
        (!matches!(routing, RoutingConfig::Spray(_)), "routing", kind(routing), "ecmp"),
    ] {
        let remedy = format!(
            "the simulator of fidelity {} has nothing like it; use {known}, or fidelity \"exact\"",
            fidelity.name()
        );
        problems.unless(holds, &format!("scheme.{part}.kind"), given, remedy);
    }
}

/// Refuses values of fields that NASA-NJU/Pyrrha-NS3 does not know.
fn fields(scenario: &Scenario, problems: &mut Problems) {
    let scheme = json!(scenario.scheme);
    for (field, known) in NS3_BFC_FIELDS.iter() {
        let Some(value) = scheme.pointer(&format!("/{}", field.replace('.', "/"))) else {
            continue;
        };
        let remedy = format!(
            "the simulator of fidelity ns3-bfc has nothing else; use {known}, or fidelity \"exact\""
        );
        let given = match value.as_u64() {
            Some(time) if field.ends_with("interval") => Time::from_ps(time).to_string(),
            _ => value.to_string(),
        };
        problems.unless(value == known, &format!("scheme.{field}"), given, remedy);
    }
}

/// Refuses full data packets and round trips that take 0 ns, because those simulators cut times off to
/// whole nanoseconds.
///
/// A last packet that is shorter than the others, an acknowledgement or a control frame may take 0
/// ns, as in that simulator: each of them answers something that took time.
pub(super) fn times(scenario: &Scenario, topology: &Topology, problems: &mut Problems) {
    if scenario.fidelity == Fidelity::Exact {
        return;
    }
    let name = scenario.fidelity.name();
    if let Some(links) = topology.inner {
        let remedy = format!(
            "the simulator of fidelity {name} has no links inside servers; write 0, or fidelity \"exact\""
        );
        problems.unless(false, "topology.inner_rate", links.rate, remedy);
    }
    let (payload, Some(packet)) = (scenario.payload(), full_packet(scenario, problems)) else {
        return;
    };
    for (number, link) in (0..).zip(&topology.links) {
        let (link_name, rate) = (topology.link_name(number), link.rate);
        let time = rate.serialization_time(packet, scenario.fidelity);
        let refused = if time == Time::ZERO {
            format!(
                "a packet of {packet} takes 0 ns on {link_name} at {rate}; write more, a lower rate"
            )
        } else if ns3::link_round_trip(link, payload) == Time::ZERO {
            format!(
                "the round trip over {link_name}, at {rate} with a delay of {}, takes 0 ns; write more, \
                 a longer delay",
                link.delay
            )
        } else {
            continue;
        };
        let remedy =
            format!("fidelity {name} cuts times to whole ns, and {refused}, or fidelity exact");
        return problems.unless(false, "wire.payload", payload, remedy);
    }
}

/// Refuses paths of more links than packets count where the paths of flows are fixed.
pub(super) fn paths(
    scenario: &Scenario,
    (topology, routing): (&Topology, &Routing),
    problems: &mut Problems,
) {
    if scenario.fidelity == Fidelity::Exact {
        return;
    }
    let (name, links) = (scenario.fidelity.name(), longest_path(topology, routing));
    let remedy = format!(
        "the longest path of the topology has {links} links, and a packet of this fidelity counts at most \
         {MOST_LINKS}; use a topology with shorter paths, or fidelity \"exact\""
    );
    problems.unless(links <= MOST_LINKS, "fidelity", name, remedy);
}
