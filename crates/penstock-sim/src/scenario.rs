//! A scenario as the simulator takes it: complete, every quantity an integer in its base unit.
//!
//! Python resolves what people write (presets, units, file names, defaults) into this; unknown and
//! missing fields are refused here, so that the two sides cannot drift apart unnoticed.

use penstock_fabric::SwitchConfig;
use penstock_transport::HostConfig;
use penstock_units::{Bytes, Fidelity, Problem, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ScenarioError;
use crate::outage::OutageConfig;
use crate::routing::RoutingConfig;
use crate::topology::TopologyConfig;
use crate::workload::TrafficConfig;

/// Everything a run depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the run is called in reports.
    pub name: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Whose arithmetic the run follows.
    pub fidelity: Fidelity,
    /// Traffic is generated in `[0, duration)` (ps), > 0.
    pub duration: Time,
    /// How much longer flows may take to finish (ps).
    pub drain: Time,
    /// Sizes of frames.
    pub wire: WireConfig,
    /// Hosts, switches, links.
    pub topology: TopologyConfig,
    /// What switches and hosts do.
    pub scheme: SchemeConfig,
    /// Who sends what to whom, when.
    pub traffic: Vec<TrafficConfig>,
    /// What goes wrong.
    pub faults: FaultConfig,
    /// What is written down.
    pub measure: MeasureConfig,
}

/// Sizes of frames on the wire (`BASELINES.md` sec. 24, the HPCC family's column) (bytes).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireConfig {
    /// Payload of a full data packet, 1 to 9,000.
    pub payload: u32,
    /// Header of a data packet.
    pub header: u32,
    /// An acknowledgement that echoes neither telemetry nor a timestamp.
    pub acknowledgement: u32,
    /// Telemetry of a data packet, where the scheme uses it.
    pub telemetry: u32,
    /// Timestamp of a data packet, where the controller uses it.
    pub timestamp: u32,
    /// A pause, resume or bitmap frame.
    pub control_frame: u32,
}

/// Header of an acknowledgement that echoes something (`BASELINES.md` sec. 0.2: 14 + 20 + 12).
const ACKNOWLEDGEMENT_HEADER: u32 = 46;

/// A scheme: the five axes of its switches, its hosts, and its routing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchemeConfig {
    /// What the scheme is called in reports.
    pub name: String,
    /// The switches.
    pub switch: SwitchConfig,
    /// The hosts.
    pub host: HostConfig,
    /// Which of several shortest paths.
    pub routing: RoutingConfig,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// Probability that a pause, resume or bitmap frame is lost on a wire, in [0, 1).
    pub control_loss: f64,
    /// Cables that fail, and recover.
    pub outages: Vec<OutageConfig>,
}

/// What is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasureConfig {
    /// Time between two samples of buffers and series (ps); zero for none.
    pub sample_interval: Time,
    /// Whether the flows with packets at each switch port are counted.
    pub active_flows: bool,
    /// Whether the time that data packets wait at switches is counted by group of links.
    pub queue_delays: bool,
    /// Links with a series, as (from, to) nodes.
    pub series: Vec<(u32, u32)>,
    /// Whether pauses, resumes and drops are listed.
    pub events: bool,
    /// Whose packets are listed.
    pub trace: Option<TraceConfig>,
}

/// Whose packets are listed, event by event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Switches, as nodes; empty for all.
    pub nodes: Vec<u32>,
}

impl Scenario {
    /// Reads a scenario from JSON.
    ///
    /// # Errors
    /// When the text is not JSON, or a field is unknown, missing or of the wrong type.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        serde_json::from_str(text)
            .map_err(|error| Problem::new("scenario", "this text", error).into())
    }

    /// Writes the scenario as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a scenario is plain data")
    }

    /// The JSON schema of a scenario: every field with its meaning, type, bounds, default and source
    /// ([`penstock_units::declared`]).
    pub fn schema() -> String {
        serde_json::to_string(&schemars::schema_for!(Scenario)).expect("a schema is plain data")
    }

    /// Whether packets carry telemetry.
    pub fn has_telemetry(&self) -> bool {
        self.scheme.switch.marking.has_telemetry()
    }

    /// Bytes of a data packet beside its payload.
    pub fn data_overhead(&self) -> u32 {
        self.wire.header + self.echo()
    }

    /// Bytes of an acknowledgement.
    pub fn acknowledgement_bytes(&self) -> u32 {
        match self.echo() {
            0 => self.wire.acknowledgement,
            echo => self.wire.acknowledgement.max(ACKNOWLEDGEMENT_HEADER + echo),
        }
    }

    /// What a data packet carries for its controller and the acknowledgement brings back (bytes).
    fn echo(&self) -> u32 {
        let telemetry = if self.has_telemetry() { self.wire.telemetry } else { 0 };
        let has_timestamp = self.scheme.host.controller.uses_timestamp();
        telemetry + if has_timestamp { self.wire.timestamp } else { 0 }
    }

    /// Payload of a full packet.
    pub fn payload(&self) -> Bytes {
        Bytes::new(u64::from(self.wire.payload))
    }
}
