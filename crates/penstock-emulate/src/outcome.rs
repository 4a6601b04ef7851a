//! What a run leaves.

use penstock_load::{FlowEnd, LoadRecord};
use penstock_sim::Results;
use penstock_sim::measure::histogram::LogHistogram;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::clock::Clock;
use crate::missed::Missed;
use crate::programs::EndedProgram;
use crate::refusal::Refusals;

/// What a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// The tables and the summary of the network, as a simulation leaves them.
    pub results: Results,
    /// How many seconds of the machine were a second of the run.
    pub scale_time: u32,
    /// Frames a second that the machine copied from a device to another before the run.
    pub copies: f64,
    /// What TCP did for the flows between hosts with kernels.
    pub connections: Connections,
    /// How late frames left the network, and how late frames left our hosts.
    pub lateness: [Lateness; 2],
    /// By host: the frames that the network did not let in.
    pub refused: Vec<(u32, Refusals)>,
    /// By host: the frames that were lost between the host and the network.
    pub missed: Vec<(u32, Missed)>,
    /// Frames that the network has read and written.
    pub frames: u64,
    /// How each program ended.
    pub programs: Vec<EndedProgram>,
}

/// How late frames left, in the machine's time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lateness {
    /// Frames.
    pub frames: u64,
    /// Median (us), to 1.6 %.
    pub p50_us: f64,
    /// 99th percentile (us), to 1.6 %.
    pub p99_us: f64,
    /// The latest (us), to 1.6 %.
    pub max_us: f64,
}

impl Lateness {
    /// Of a histogram of nanoseconds.
    pub(crate) fn of(histogram: &LogHistogram) -> Self {
        let at = |share: f64| histogram.percentile(share) as f64 / 1e3;
        Lateness { frames: histogram.count(), p50_us: at(0.5), p99_us: at(0.99), max_us: at(1.0) }
    }
}

/// What TCP did for the flows between hosts with kernels.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Connections {
    /// Connections that were established.
    pub established: u64,
    /// Median time from the call of `connect` to the connection, in the run's time (ns).
    pub setup_p50_ns: f64,
    /// 99th percentile of that time (ns).
    pub setup_p99_ns: f64,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Flows that were refused, reset or failed otherwise.
    pub failed: u64,
}

impl Connections {
    pub(crate) fn of(records: &[LoadRecord], clock: Clock) -> Self {
        let mut setups: Vec<_> = records.iter().filter_map(|record| record.setup_time).collect();
        setups.sort_unstable();
        let at = |share: f64| {
            let rank = ((setups.len() as f64 * share) as usize).min(setups.len().saturating_sub(1));
            setups.get(rank).map_or(0.0, |&time| clock.in_run(time).as_ns_f64())
        };
        let is_failed = |end: FlowEnd| {
            matches!(end, FlowEnd::Refused | FlowEnd::Reset | FlowEnd::Failed { .. })
        };
        let tcp = records.iter().filter_map(|record| record.tcp);
        Connections {
            established: setups.len() as u64,
            setup_p50_ns: at(0.5),
            setup_p99_ns: at(0.99),
            retransmissions: tcp.map(|tcp| u64::from(tcp.retransmissions)).sum(),
            failed: records.iter().filter(|record| is_failed(record.end)).count() as u64,
        }
    }
}

impl Outcome {
    /// What is beside the results, as JSON.
    pub fn beside(&self) -> Value {
        let refused = self.refused.iter().filter(|(_, refusals)| refusals.named().count() > 0);
        let refused: Map<String, Value> = refused
            .map(|(host, refusals)| {
                let named = refusals.named().map(|(name, count)| (name.to_owned(), count.into()));
                (format!("H{host}"), Value::Object(named.collect()))
            })
            .collect();
        let missed = self.missed.iter().filter(|(_, missed)| *missed != Missed::default());
        let missed: Map<String, Value> = missed
            .map(|(host, Missed { from_host, to_host })| {
                (format!("H{host}"), json!({ "from_host": from_host, "to_host": to_host }))
            })
            .collect();
        let programs: Vec<Value> = self.programs.iter().map(EndedProgram::to_json).collect();
        json!({
            "lateness": { "network": self.lateness[0], "hosts": self.lateness[1] },
            "scale_time": self.scale_time,
            "frames": self.frames,
            "copies_per_second": self.copies,
            "refused": refused,
            "missed": missed,
            "connections": self.connections,
            "programs": programs,
        })
    }
}
