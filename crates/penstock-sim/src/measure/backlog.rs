//! The backlog: payload that has arrived and is not delivered, at equal times of the traffic.
//!
//! What it is: the series from which the front end judges whether the network keeps up with its
//! traffic. What it is not: a judgement. Each sample looks at the flows that are alive at that
//! time, so the backlog costs nothing per packet. Endless flows do not count.

use std::ops::AddAssign;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;
use serde::{Serialize, Serializer};

use penstock_transport::Flows;

use crate::flow::FlowSlots;

/// Intervals between the samples of a run (our choice). The front end judges the last two thirds:
/// twenty intervals, enough for a standard error, with many flows in each.
pub const INTERVALS: u64 = 30;

/// Time between two samples of traffic that lasts for `duration`, > 0.
pub fn interval(duration: Time) -> Time {
    Time::from_ps((duration.as_ps() / INTERVALS).max(1))
}

/// Flows with an end: their payload that is not delivered, and their arrivals since the start of
/// the run.
#[derive(Clone, Debug, Default, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Backlog {
    /// Times of the samples (ns): from 0 to the end of the traffic, or to an earlier end of the
    /// run.
    pub time_ns: Vec<f64>,
    /// Flows that have arrived and not finished.
    pub flows: Vec<u64>,
    /// Payload of these flows that their receivers do not have (bytes). That of one partition may be
    /// negative: see [`GrowingBacklog::on_stop`].
    #[serde(serialize_with = "within_u64")]
    pub bytes: Vec<i128>,
    /// Flows that have arrived since the start.
    pub arrived_flows: Vec<u64>,
    /// Payload of all flows that have arrived since the start (bytes).
    #[serde(serialize_with = "within_u64")]
    pub arrived_bytes: Vec<i128>,
}

/// Writes sums of sizes, of which a single one may be near the end of `u64`.
fn within_u64<S: Serializer>(sums: &[i128], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(sums.iter().map(|&sum| u64::try_from(sum).unwrap_or(u64::MAX)))
}

impl Backlog {
    /// Adds what another partition has counted at the same times.
    pub fn add(&mut self, other: &Backlog) {
        add(&mut self.flows, &other.flows);
        add(&mut self.bytes, &other.bytes);
        add(&mut self.arrived_flows, &other.arrived_flows);
        add(&mut self.arrived_bytes, &other.arrived_bytes);
    }
}

fn add<T: AddAssign + Copy>(own: &mut [T], other: &[T]) {
    own.iter_mut().zip(other).for_each(|(own, &other)| *own += other);
}

/// The series as it grows, and the arrivals until now.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct GrowingBacklog {
    /// The samples so far.
    pub series: Backlog,
    arrived_flows: u64,
    arrived_bytes: i128,
    /// See [`GrowingBacklog::on_stop`].
    unsent: i128,
}

impl GrowingBacklog {
    /// A flow of `size` bytes, > 0, arrives.
    pub fn on_flow_start(&mut self, size: u64) {
        self.arrived_flows += 1;
        self.arrived_bytes += i128::from(size);
    }

    /// A flow has completed that had stopped `unsent` bytes before its last one. Its destination is in
    /// another partition, which counts these bytes until the end of the window, when it hears of that.
    pub fn on_stop(&mut self, unsent: u64) {
        self.unsent += i128::from(unsent);
    }

    /// A window begins: all destinations have heard what happened in the one before.
    pub fn open_window(&mut self) {
        self.unsent = 0;
    }

    /// Takes a sample; true when another sample is to follow. `beside` are flows inside servers, and their
    /// payload with that of flows of which their destinations do not know yet.
    pub fn sample(
        &mut self,
        now: Time,
        slots: &FlowSlots,
        ends: &Flows,
        beside: (u64, i128),
    ) -> bool {
        let (mut flows, mut bytes) = beside;
        bytes -= self.unsent;
        // An endless flow has size 0 and does not count.
        for (name, flow) in (0u32..).zip(&slots.flows).filter(|(_, flow)| flow.size > 0) {
            flows += u64::from(flow.is_sending);
            if flow.is_receiving {
                bytes += i128::from(flow.size.saturating_sub(ends.receiver(name).delivered()));
            }
        }
        let series = &mut self.series;
        series.time_ns.push(now.as_ns_f64());
        series.flows.push(flows);
        series.bytes.push(bytes);
        series.arrived_flows.push(self.arrived_flows);
        series.arrived_bytes.push(self.arrived_bytes);
        series.time_ns.len() as u64 <= INTERVALS
    }
}
