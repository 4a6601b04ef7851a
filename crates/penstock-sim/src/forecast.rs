//! How much work a scenario is, before anything is built: flows, packets, packet-hops.
//!
//! What it is: expected values, so that a run too large for any machine is refused before it
//! starts. What it is not: a bound. Losses, pauses and control frames are not foreseen.

use penstock_units::{Bytes, Time};
use serde::Serialize;

use crate::bounds;
use crate::error::ScenarioError;
use crate::scenario::Scenario;
use crate::topology::Topology;
use crate::workload::{FullestLink, TrafficConfig, Workload, expected_flows, mean_crossings};

/// The expected work of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// Flows that start.
    pub flows: f64,
    /// Flows that are open at one time, when each is open for the mean round trip of its packets.
    pub open_flows: f64,
    /// Data packets that hosts send.
    pub data_packets: f64,
    /// Packets put on a wire, one acknowledgement for each data packet included.
    pub packet_hops: f64,
    /// The link that open loops and repeated incasts load most; none without such traffic.
    pub fullest_link: Option<FullestLink>,
}

/// The expected work of a run of `scenario`.
///
/// # Errors
/// When the scenario is refused.
pub fn forecast(scenario: &Scenario) -> Result<Forecast, ScenarioError> {
    let (topology, routing, _) = bounds::network(scenario)?;
    let duration = scenario.duration;
    let workload = Workload::new(&scenario.traffic, &topology, &routing, scenario.seed, duration)?;
    let expected = expected_flows(&scenario.traffic, &topology, &routing, scenario.seed, duration)?;
    let payload = scenario.payload().get();
    let overhead = f64::from(scenario.data_overhead());
    let packets = |size: u64| size.div_ceil(payload) as f64;
    let shares = || expected.shares.iter();
    let endless = endless(scenario, &topology);
    let (mut wanted, mut bytes) =
        (endless.packets, endless.packets * scenario.full_packet().get() as f64);
    for share in shares() {
        let packets = share.flows * packets(share.size);
        wanted += packets;
        bytes += share.flows * share.size as f64 + packets * overhead;
    }
    // Of flows that do not end in time, what the hosts can send.
    let sent = (sendable(&topology, duration + scenario.drain) / bytes.max(1.0)).min(1.0);
    let data_packets = wanted * sent;
    let crossings = mean_crossings(&topology, &routing);
    // Nor do those start that wait for such flows.
    let [crossing, inside] = expected.behind.map(|flows| flows * (1.0 - sent));
    let flows = shares().map(|share| share.flows).sum::<f64>() - crossing;
    let open = round_trip(scenario, &topology, &crossings) / duration.as_s_f64();
    Ok(Forecast {
        flows: flows + expected.inside - inside + endless.flows,
        open_flows: flows * open.min(1.0) + endless.at_a_time,
        data_packets,
        packet_hops: 2.0 * data_packets * crossings.iter().sum::<f64>(),
        fullest_link: workload.fullest_link().cloned(),
    })
}

/// The mean time from the start of a full data packet to its acknowledgement (s), on paths that cross
/// each link so many times. A cable is alike in both directions.
fn round_trip(scenario: &Scenario, topology: &Topology, crossings: &[f64]) -> f64 {
    let frames = [scenario.full_packet(), Bytes::new(scenario.acknowledgement_bytes().into())];
    let times = topology.links.iter().zip(crossings).map(|(link, crossing)| {
        let is_to_switch = link.to >= topology.hosts;
        let pipeline = if is_to_switch { topology.pipeline_delay } else { Time::ZERO };
        let in_wire = frames.map(|frame| link.rate.transmission_time(frame).as_s_f64());
        let ways = 2.0 * (link.delay.as_s_f64() + pipeline.as_s_f64());
        crossing * (in_wire.iter().sum::<f64>() + ways)
    });
    times.sum()
}

/// The flows without a last byte.
struct Endless {
    flows: f64,
    /// How many are there at a time, in the mean; all that do not stop.
    at_a_time: f64,
    /// What they send until they stop or the traffic ends.
    packets: f64,
}

/// The flows without a last byte. Those of a host share its link evenly.
fn endless(scenario: &Scenario, topology: &Topology) -> Endless {
    let duration = scenario.duration;
    let listed = scenario.traffic.iter().filter_map(|entry| match entry {
        TrafficConfig::Listed(listed) => Some(listed),
        _ => None,
    });
    let mut at_a_time = 0.0;
    // Source, destination, and for how much of the traffic's time the flow is there.
    let flows: Vec<(u32, u32, f64)> = listed
        .flat_map(|listed| {
            let lasts = listed.lasts.iter().copied().chain(std::iter::repeat(Time::ZERO));
            listed.flows.iter().zip(lasts)
        })
        .filter(|((_, _, size, _), _)| size.get() == 0)
        .map(|(&(source, destination, _, start), lasts)| {
            let left = duration.saturating_sub(start);
            let time = if lasts == Time::ZERO { left } else { left.min(lasts) };
            let part = time.as_s_f64() / duration.as_s_f64();
            at_a_time += if lasts == Time::ZERO { 1.0 } else { part };
            (source, destination, part)
        })
        .collect();
    let mut sent = vec![0.0; topology.hosts as usize];
    let mut received = sent.clone();
    for &(source, destination, part) in &flows {
        sent[source as usize] += part;
        received[destination as usize] += part;
    }
    let packets = flows.iter().map(|&(source, destination, part)| {
        let links = [
            (topology.uplink(source), sent[source as usize]),
            (topology.downlink(destination), received[destination as usize]),
        ];
        // Flows that follow each other do not share the link.
        let share = links
            .map(|(link, at_a_time)| packet_rate(scenario, topology, link) / at_a_time.max(1.0));
        share[0].min(share[1]) * part * duration.as_s_f64()
    });
    Endless { flows: flows.len() as f64, at_a_time, packets: packets.sum() }
}

/// How many full data packets a link carries in a second.
fn packet_rate(scenario: &Scenario, topology: &Topology, link: u32) -> f64 {
    let bytes = u64::from(scenario.wire.payload) + u64::from(scenario.data_overhead());
    topology.links[link as usize].rate.as_bps() as f64 / (8 * bytes) as f64
}

/// The most bytes that all hosts together can send in `span`.
fn sendable(topology: &Topology, span: Time) -> f64 {
    let rate = |host| topology.links[topology.uplink(host) as usize].rate.as_bps() as f64;
    (0..topology.hosts).map(rate).sum::<f64>() / 8.0 * span.as_s_f64()
}
