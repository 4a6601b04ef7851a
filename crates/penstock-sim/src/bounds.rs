//! Bounds of a scenario's fields, and policies that do not go together.

use penstock_fabric::assignment::rounds::{RoundSource, RoundsConfig};
use penstock_fabric::backpressure::fafc::FafcConfig;
use penstock_fabric::backpressure::pfc::PfcConfig;
use penstock_fabric::marking::ecn::EcnConfig;
use penstock_fabric::marking::qcn::QcnConfig;
use penstock_fabric::scheduling::strict::QUEUES_MAX;
use penstock_fabric::{
    AdmissionConfig, AssignmentConfig, BackpressureConfig, MarkingConfig, SchedulingConfig,
};
use penstock_transport::control::homa::MAXIMUM_LEVELS;
use penstock_transport::{NicScheduling, RecoveryConfig};
use penstock_units::{Bytes, Fidelity, Time};

use crate::error::ScenarioError;
use crate::hop_credit;
use crate::routing::RoutingConfig;
use crate::scenario::Scenario;
use crate::topology::Topology;

mod credit;
mod levels;

/// The longest run (ps): the timing wheel tells times apart up to hours; a minute of simulated time
/// at 100 Gb/s is a billion packets a link.
const LONGEST: Time = Time::from_ms(60_000);

/// The largest frame (bytes): jumbo frames carry 9,000.
const LARGEST_PAYLOAD: u32 = 9_000;

/// The largest set point and sampling distance of QCN: a thousand times any that is used.
const LARGEST_SAMPLE: Bytes = Bytes::new(1_000_000_000);

/// The shortest T_hop of FAFC (ps), the unit of its pauses; our choice.
const SHORTEST_HOP: Time = Time::from_ns(1);

/// The largest quantum of deficit round robin (bytes): a thousand packets.
const LARGEST_QUANTUM: u32 = 1 << 20;

/// The most that a flow may send in a round of AFQ (bytes): a thousand packets.
const LARGEST_ROUND: u32 = 1 << 20;

/// The most rows of AFQ's sketch: each takes a stage of a switch's pipeline, and a switch has 12 to 16
/// (AFQ sec. 3.2).
const SKETCH_ROWS: u32 = 16;

/// The most columns of AFQ's sketch: sixteen times the register entries of a stage (AFQ sec. 3.2).
const SKETCH_COLUMNS: u32 = 1 << 20;

pub(crate) fn unless(
    holds: bool,
    field: &str,
    value: impl ToString,
    remedy: &str,
) -> Result<(), ScenarioError> {
    if holds { Ok(()) } else { Err(ScenarioError::new(field, value, remedy)) }
}

/// Checks everything that does not need the built topology.
pub(crate) fn scenario(scenario: &Scenario) -> Result<(), ScenarioError> {
    let span = scenario.duration.saturating_add(scenario.drain);
    unless(scenario.duration > Time::ZERO, "duration", scenario.duration, "write a positive time")?;
    unless(span <= LONGEST, "duration", span, "with drain it must be at most one minute")?;
    unless(!scenario.traffic.is_empty(), "traffic", "empty", "write at least one entry")?;
    let loss = scenario.faults.control_loss;
    unless((0.0..1.0).contains(&loss), "faults.control_loss", loss, "write 0 or more, below 1")?;
    wire(scenario)?;
    switch(scenario)?;
    scenario.scheme.host.validate()?;
    let classes = scenario.scheme.switch.assignment.classes();
    scenario.scheme.host.nic.validate_classes(classes)?;
    combinations(scenario)?;
    credit::check(scenario)?;
    fidelity(scenario)
}

fn wire(scenario: &Scenario) -> Result<(), ScenarioError> {
    let wire = &scenario.wire;
    let remedy = "write 1 to 9000 bytes";
    unless((1..=LARGEST_PAYLOAD).contains(&wire.payload), "wire.payload", wire.payload, remedy)?;
    for (field, value) in [
        ("wire.header", wire.header),
        ("wire.acknowledgement", wire.acknowledgement),
        ("wire.control_frame", wire.control_frame),
    ] {
        unless((1..=LARGEST_PAYLOAD).contains(&value), field, value, remedy)?;
    }
    for (field, value) in [("wire.telemetry", wire.telemetry), ("wire.timestamp", wire.timestamp)] {
        unless(value <= LARGEST_PAYLOAD, field, value, "write at most 9000 bytes")?;
    }
    Ok(())
}

fn switch(scenario: &Scenario) -> Result<(), ScenarioError> {
    let switch = &scenario.scheme.switch;
    let at = |axis: &str| format!("scheme.switch.{axis}");
    let classes = switch.assignment.classes();
    unless((1..=8).contains(&classes), &at("assignment.classes"), classes, "write 1 to 8")?;
    match &switch.assignment {
        AssignmentConfig::Stochastic(config) => queues(config.queues, classes)?,
        AssignmentConfig::Dynamic(config) => {
            queues(config.queues, classes + u32::from(config.incast_queue) * classes)?;
            let factor = config.table_factor;
            unless(
                (1..=10_000).contains(&factor),
                &at("assignment.table_factor"),
                factor,
                "write 1 to 10000 entries a queue",
            )?;
            let sticky = config.sticky_hop_rtts;
            unless(
                (0.0..=1e6).contains(&sticky),
                &at("assignment.sticky_hop_rtts"),
                sticky,
                "write 0 or more",
            )?;
            let holds = !(config.classes_share && (config.incast_queue || config.avoid_paused));
            let remedy = "incast_queue and avoid_paused know classes with fixed queues only";
            unless(holds, &at("assignment.classes_share"), true, remedy)?;
            let share = config.sampling;
            let holds = share > 0.0 && share <= 1.0;
            unless(holds, &at("assignment.sampling"), share, "write above 0, at most 1")?;
        }
        AssignmentConfig::Rounds(config) => rounds(config)?,
        AssignmentConfig::Priority(config) => {
            let remedy = "write 2 to 127, one for unscheduled and one for scheduled data at least";
            let holds = (2..=MAXIMUM_LEVELS).contains(&config.levels);
            unless(holds, &at("assignment.levels"), config.levels, remedy)?;
        }
        AssignmentConfig::Class(_)
        | AssignmentConfig::PerFlow {}
        | AssignmentConfig::Ingress {} => {}
    }
    scheduling(&switch.scheduling)?;
    marking(&switch.marking)?;
    match &switch.backpressure {
        BackpressureConfig::Fafc(config) => fafc(config),
        BackpressureConfig::Capfc(config) => egress_threshold(config.threshold, config.xon_offset),
        BackpressureConfig::PPfc(config) => {
            let (field, horizon) = ("scheme.switch.backpressure.horizon", config.horizon);
            unless(horizon > Time::ZERO, field, horizon, "write a positive time")?;
            egress_threshold(config.threshold, config.xon_offset)
        }
        BackpressureConfig::None {}
        | BackpressureConfig::Pfc(_)
        | BackpressureConfig::Bfc(_)
        | BackpressureConfig::Credits(_) => Ok(()),
    }
}

fn scheduling(scheduling: &SchedulingConfig) -> Result<(), ScenarioError> {
    let quantum = match scheduling {
        SchedulingConfig::Drr(config) => config.quantum,
        SchedulingConfig::ScanningDrr(config) => config.quantum,
        SchedulingConfig::PriorityGroups(config) => {
            let (field, period) = ("scheme.switch.scheduling.period", config.period);
            return unless(period > Time::ZERO, field, period, "write a positive time");
        }
        _ => return Ok(()),
    };
    let holds = (1..=LARGEST_QUANTUM).contains(&quantum);
    let remedy = "write 1 B to 1 MiB; a full packet is usual";
    unless(holds, "scheme.switch.scheduling.quantum", quantum, remedy)
}

fn marking(marking: &MarkingConfig) -> Result<(), ScenarioError> {
    match marking {
        MarkingConfig::Ecn(config) => ecn(config),
        MarkingConfig::Qcn(config) => qcn(config),
        MarkingConfig::None {}
        | MarkingConfig::NonPauseEcn {}
        | MarkingConfig::Telemetry(_)
        | MarkingConfig::Rounds(_)
        | MarkingConfig::Predicted(_) => Ok(()),
    }
}

fn ecn(ecn: &EcnConfig) -> Result<(), ScenarioError> {
    let path = "scheme.switch.marking".to_owned();
    let own = (0..).zip(&ecn.per_rate).map(|(index, own): (usize, _)| {
        (format!("{path}.per_rate[{index}]"), own.kmin, own.kmax, own.pmax)
    });
    let profiles = [(path.clone(), ecn.kmin, ecn.kmax, ecn.pmax)];
    for (path, kmin, kmax, pmax) in profiles.into_iter().chain(own) {
        unless(kmin <= kmax, &format!("{path}.kmin"), kmin, "it must not exceed kmax")?;
        let holds = pmax > 0.0 && pmax <= 1.0;
        unless(holds, &format!("{path}.pmax"), pmax, "write above 0, at most 1")?;
    }
    Ok(())
}

fn qcn(qcn: &QcnConfig) -> Result<(), ScenarioError> {
    let at = |field: &str| format!("scheme.switch.marking.{field}");
    for (field, size) in [("set_point", qcn.set_point), ("sample_base", qcn.sample_base)] {
        let holds = size > Bytes::ZERO && size <= LARGEST_SAMPLE;
        unless(holds, &at(field), size, "write 1 B to 1 GB")?;
    }
    let (weight, jitter) = (qcn.weight, qcn.jitter);
    let holds = (0.0..=1e6).contains(&weight);
    unless(holds, &at("weight"), weight, "write 0 or more; 2 is usual")?;
    unless((0.0..1.0).contains(&jitter), &at("jitter"), jitter, "write 0 or more, below 1")
}

fn fafc(fafc: &FafcConfig) -> Result<(), ScenarioError> {
    let at = |field: &str| format!("scheme.switch.backpressure.{field}");
    let holds = fafc.threshold > Bytes::ZERO;
    unless(holds, &at("threshold"), fafc.threshold, "write at least 1 B")?;
    for (field, share) in [
        ("queue_smoothing", fafc.queue_smoothing),
        ("rate_smoothing", fafc.rate_smoothing),
        ("rate_decrease", fafc.rate_decrease),
    ] {
        let holds = share > 0.0 && share <= 1.0;
        unless(holds, &at(field), share, "write above 0, at most 1")?;
    }
    let hops = fafc.congested_hops;
    unless((0.0..=1e6).contains(&hops), &at("congested_hops"), hops, "write 0 or more")
}

/// The egress threshold of CaPFC and P-PFC is above the one at which ingresses are resumed.
fn egress_threshold(threshold: Bytes, xon_offset: Bytes) -> Result<(), ScenarioError> {
    let field = "scheme.switch.backpressure.threshold";
    let remedy = "it must exceed xon_offset, or paused ports would never be resumed";
    unless(threshold > xon_offset, field, threshold, remedy)
}

fn queues(queues: u32, needed: u32) -> Result<(), ScenarioError> {
    unless(
        queues > needed && queues <= 4_096,
        "scheme.switch.assignment.queues",
        queues,
        "write at most 4096, and enough for the control queue and a data queue for each class",
    )
}

fn rounds(config: &RoundsConfig) -> Result<(), ScenarioError> {
    let at = |field: &str| format!("scheme.switch.assignment.{field}");
    queues(config.queues, 2)?;
    for (field, value, largest) in [
        ("bytes_per_round", config.bytes_per_round, LARGEST_ROUND),
        ("rows", config.rows, SKETCH_ROWS),
        ("columns", config.columns, SKETCH_COLUMNS),
    ] {
        let remedy = format!("write 1 to {largest}");
        unless((1..=largest).contains(&value), &at(field), value, &remedy)?;
    }
    Ok(())
}

fn combinations(scenario: &Scenario) -> Result<(), ScenarioError> {
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

/// The ns-3 HPCC simulator has one data queue and PFC, and NICs with a queue per flow.
fn fidelity(scenario: &Scenario) -> Result<(), ScenarioError> {
    if scenario.fidelity == Fidelity::Exact {
        return Ok(());
    }
    let (switch, host) = (&scenario.scheme.switch, &scenario.scheme.host);
    let is_simple = host.nic.queues == 0 && host.nic.scheduling == NicScheduling::RoundRobin;
    let holds = is_simple
        && !matches!(scenario.scheme.routing, RoutingConfig::Spray(_))
        && matches!(switch.scheduling, SchedulingConfig::Fifo {})
        && matches!(switch.backpressure, BackpressureConfig::None {} | BackpressureConfig::Pfc(_))
        && !matches!(
            switch.marking,
            MarkingConfig::Qcn(_) | MarkingConfig::NonPauseEcn {} | MarkingConfig::Rounds(_)
        )
        && matches!(host.recovery, RecoveryConfig::GoBackN(_));
    let remedy =
        "that simulator has one FIFO, PFC, Go-Back-N and a round robin of flows; use exact";
    unless(holds, "fidelity", "ns3-hpcc", remedy)
}

/// Checks what names nodes, ports and memory of the built topology.
pub(crate) fn nodes(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    for (index, &(from, to)) in scenario.measure.series.iter().enumerate() {
        let remedy = "name two nodes that a link joins, the sending one first";
        let link = topology.link_between(from, to);
        let field = format!("measure.series[{index}]");
        unless(link.is_some(), &field, format!("[{from}, {to}]"), remedy)?;
    }
    if let Some(trace) = &scenario.measure.trace {
        for (index, &node) in trace.nodes.iter().enumerate() {
            let last = topology.hosts + topology.switches;
            let field = format!("measure.trace.nodes[{index}]");
            let remedy = format!("switches are the nodes {} to {}", topology.hosts, last - 1);
            unless((topology.hosts..last).contains(&node), &field, node, &remedy)?;
        }
    }
    let classes = scenario.scheme.switch.assignment.classes();
    for (index, entry) in scenario.traffic.iter().enumerate() {
        let class = entry.class();
        let field = format!("traffic[{index}].class");
        let remedy = format!("the scheme has {classes} classes, numbered from 0");
        unless(u32::from(class) < classes, &field, class, &remedy)?;
    }
    elisions(scenario, topology)?;
    hops(scenario, topology)?;
    hop_credit::memory(scenario, topology)?;
    memory(scenario, topology)
}

/// The match table of BFC's elisions names ways through switches.
fn elisions(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    let BackpressureConfig::Bfc(bfc) = &scenario.scheme.switch.backpressure else { return Ok(()) };
    for (index, &(from, at, to)) in bfc.elide.iter().enumerate() {
        let way = topology.link_between(from, at).zip(topology.link_between(at, to));
        let holds = way.is_some() && !topology.is_host(at);
        let field = format!("scheme.switch.backpressure.elide[{index}]");
        let remedy =
            "name a node, a switch that it is linked to, and a node that this is linked to";
        unless(holds, &field, format!("[{from}, {at}, {to}]"), remedy)?;
    }
    Ok(())
}

/// FAFC counts in the delays of links.
fn hops(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    let is_fafc = matches!(scenario.scheme.switch.backpressure, BackpressureConfig::Fafc(_));
    let shortest = topology.links.iter().map(|link| link.delay).min().unwrap_or_default();
    let holds = !is_fafc || shortest >= SHORTEST_HOP;
    let remedy = "a link without delay has no time slots for it; write 1 ns or more";
    unless(holds, "scheme.switch.backpressure.kind", "fafc", remedy)
}

/// A shared buffer must hold the headrooms and reserves of its ports, and a packet.
fn memory(scenario: &Scenario, topology: &Topology) -> Result<(), ScenarioError> {
    let AdmissionConfig::Shared(shared) = &scenario.scheme.switch.admission else { return Ok(()) };
    let switches = topology.hosts..topology.hosts + topology.switches;
    for (index, &(node, buffer)) in shared.other_buffers.iter().enumerate() {
        let holds = switches.contains(&node) && buffer > Bytes::ZERO;
        let field = format!("scheme.switch.admission.other_buffers[{index}]");
        let remedy = format!(
            "name a switch, one of {} to {}, and a positive size",
            switches.start,
            switches.end - 1
        );
        unless(holds, &field, format!("[{node}, {buffer}]"), &remedy)?;
    }
    let Some(ingress) = &shared.ingress else { return Ok(()) };
    let holds = ingress.alpha > 0.0 && ingress.alpha <= 64.0;
    let field = "scheme.switch.admission.ingress.alpha";
    unless(holds, field, ingress.alpha, "write above 0, at most 64")?;
    for switch in switches {
        let needed = topology
            .egress_links(switch)
            .iter()
            .map(|&link| {
                let link = &topology.links[link as usize];
                ingress.reserve.get() + ingress.headroom.of(link.rate, link.delay)
            })
            .sum::<u64>()
            * u64::from(scenario.scheme.switch.assignment.classes());
        let name = &topology.nodes[switch as usize].name;
        let remedy = format!(
            "the headroom and reserve of the ports of {name} alone take {}",
            Bytes::new(needed)
        );
        let field = "scheme.switch.admission.buffer";
        let buffer = shared.buffer_of(switch);
        unless(needed < buffer.get(), field, buffer, &remedy)?;
    }
    Ok(())
}
