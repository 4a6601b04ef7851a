//! A scenario as the simulator takes it: complete, every quantity an integer in its base unit.
//!
//! Python resolves what people write (presets, units, file names, defaults) into this form. Unknown
//! and missing fields are refused here, so that the two sides cannot drift apart unnoticed.

use penstock_fabric::SwitchConfig;
use penstock_packet::{PacketEvent, SwitchFacts, SwitchFrames};
use penstock_transport::{ControllerConfig, HostConfig};
use penstock_units::source::{HPCC_SIMULATOR, ITS_FIELDS, NO_FAULTS};
use penstock_units::{Bytes, Fidelity, Problem, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::corruption::CorruptionConfig;
use crate::error::ScenarioError;
use crate::label::LONGEST_LABEL;
use crate::outage::OutageConfig;
use crate::routing::{Routing, RoutingConfig};
use crate::topology::{Topology, TopologyConfig};
use crate::workload::{MOST_TRAFFIC, TrafficConfig, Workload};

/// The largest payload, and the largest of the other parts of a packet (bytes): a jumbo frame.
const LARGEST_PART: u32 = 9_000;

/// Everything a run depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name in results.
    #[schemars(length(min = 1, max = LONGEST_LABEL), extend("default" = "scenario"))]
    pub name: String,
    /// Seed of every random draw.
    #[schemars(extend("default" = 1, "source" = "our choice: any will do"))]
    pub seed: u64,
    /// Whose arithmetic the run follows: exact, the ns-3 HPCC simulator's, or that of a BFC built on it.
    #[schemars(extend(
        "default" = "exact",
        "source" = "our choice: exact unless a run is compared with that simulator"
    ))]
    pub fidelity: Fidelity,
    /// Traffic is generated in [0, duration).
    #[schemars(
        range(min = 1),
        extend(
            "default" = "5 ms",
            "source" = "our choice: ten of BFC's incasts (6.2.2), and a run takes less than a minute"
        )
    )]
    pub duration: Time,
    /// How much longer flows may take to finish.
    #[schemars(extend(
        "default" = "20 ms",
        "source" = "our choice: the largest Google flow takes 12 ms at a tenth of line rate"
    ))]
    pub drain: Time,
    /// What packets weigh.
    #[schemars(extend("default" = {}, "source" = ITS_FIELDS))]
    pub wire: WireConfig,
    /// The network.
    #[schemars(extend("default" = { "kind": "leaf-spine" }, "source" = "BFC 6.2.1"))]
    pub topology: TopologyConfig,
    /// How switches and hosts control the flows.
    #[schemars(extend("default" = "bfc", "source" = "BFC"))]
    pub scheme: SchemeConfig,
    /// The flows.
    #[schemars(length(min = 1, max = MOST_TRAFFIC))]
    pub traffic: Vec<TrafficConfig>,
    /// What breaks on purpose.
    #[schemars(extend("default" = {}, "source" = ITS_FIELDS))]
    pub faults: FaultConfig,
    /// What is recorded.
    #[schemars(extend("default" = {}, "source" = ITS_FIELDS))]
    pub measure: MeasureConfig,
}

/// What packets weigh on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireConfig {
    /// Largest payload of a packet.
    #[schemars(
        range(min = 1, max = LARGEST_PART),
        extend("quantity" = "size", "default" = "1000 B", "source" = "BFC 6.2.1")
    )]
    pub payload: u32,
    /// Headers of a data packet.
    #[schemars(
        range(min = 1, max = LARGEST_PART),
        extend(
            "quantity" = "size",
            "default" = "48 B",
            "source" = format!("{HPCC_SIMULATOR}: Ethernet 14, IP 20, UDP 8, sequence 6")
        )
    )]
    pub header: u32,
    /// An ACK or NACK that echoes neither telemetry nor a timestamp.
    #[schemars(
        range(min = 1, max = LARGEST_PART),
        extend(
            "quantity" = "size",
            "default" = "60 B",
            "source" = format!("{HPCC_SIMULATOR}: Ethernet 14, IP 20, ACK 12, padded to 60")
        )
    )]
    pub acknowledgement: u32,
    /// Telemetry in data packets and ACKs, where the scheme marks with telemetry.
    #[schemars(
        range(max = LARGEST_PART),
        extend(
            "quantity" = "size",
            "default" = "42 B",
            "source" = format!("{HPCC_SIMULATOR}: 5 hops x 8 + 2")
        )
    )]
    pub telemetry: u32,
    /// Timestamp in data packets and ACKs, where the controller measures round-trip times.
    #[schemars(
        range(max = LARGEST_PART),
        extend(
            "quantity" = "size",
            "default" = "8 B",
            "source" = format!("{HPCC_SIMULATOR}: TIMELY's 8 B header")
        )
    )]
    pub timestamp: u32,
    /// A pause, resume or bitmap frame.
    #[schemars(
        range(min = 1, max = LARGEST_PART),
        extend(
            "quantity" = "size",
            "default" = "64 B",
            "source" = "smallest Ethernet frame (IEEE 802.3)"
        )
    )]
    pub control_frame: u32,
}

/// Header of an acknowledgement that echoes something (bytes): 14 of Ethernet, 20 of IP and 12 of its own, as
/// in alibaba-edu/High-Precision-Congestion-Control.
const ACKNOWLEDGEMENT_HEADER: u32 = 46;

/// How switches and hosts control the flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchemeConfig {
    /// Name in results and figures.
    #[schemars(length(min = 1, max = LONGEST_LABEL), extend("default" = "custom"))]
    pub name: String,
    /// The five choices of a switch.
    pub switch: SwitchConfig,
    /// The end host.
    pub host: HostConfig,
    /// Which of several shortest paths.
    #[schemars(extend(
        "default" = { "kind": "ecmp" },
        "source" = "BFC 6.2.1, A.2: flow-level ECMP; ExpressPass 3.1 needs the symmetric one"
    ))]
    pub routing: RoutingConfig,
}

/// Faults that are put in on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    /// Probability that a pause, resume, bitmap or credit between neighbours is lost on a wire.
    #[schemars(
        range(min = 0),
        extend("exclusiveMaximum" = 1, "default" = 0.0, "source" = NO_FAULTS)
    )]
    pub control_loss: f64,
    /// Links between switches that fail for a while.
    #[schemars(extend("default" = [], "source" = NO_FAULTS))]
    pub outages: Vec<OutageConfig>,
    /// Cables on which frames are corrupted.
    #[schemars(extend("default" = [], "source" = NO_FAULTS))]
    pub corruption: Vec<CorruptionConfig>,
}

/// What a run records besides its flows and links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasureConfig {
    /// How often buffers and queues are sampled; 100 ns or more, or 0: never.
    #[schemars(extend(
        "default" = "10 us",
        "source" = "our choice: about one round trip of BFC's fabric"
    ))]
    pub sample_interval: Time,
    /// How long each link had how many active flows.
    #[schemars(extend("default" = false, "source" = TIME_PER_PACKET))]
    pub active_flows: bool,
    /// How long data packets wait at switches, by group of links.
    #[schemars(extend("default" = false, "source" = TIME_PER_PACKET))]
    pub queue_delays: bool,
    /// Links [from, to] with a row per sample.
    #[schemars(extend("default" = [], "source" = "our choice: nobody asked"))]
    pub series: Vec<(u32, u32)>,
    /// A row per pause, resume and drop.
    #[schemars(extend("default" = false, "source" = "our choice: large under PFC"))]
    pub events: bool,
    /// Packet trace.
    #[schemars(extend("default" = null, "source" = "our choice: very large"))]
    pub trace: Option<TraceConfig>,
}

/// The source of the default for measurements that must be asked for.
const TIME_PER_PACKET: &str = "our choice: costs time per packet";

/// A row per event of a packet at a switch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Switches to trace; none: all.
    #[schemars(extend("default" = [], "source" = "our choice: a trace asked for without nodes"))]
    pub nodes: Vec<u32>,
    /// Events to trace; none: all.
    #[schemars(extend("default" = [], "source" = "our choice: a trace asked for without events"))]
    pub events: Vec<PacketEvent>,
}

impl Scenario {
    /// The flows of its traffic on a network.
    pub(crate) fn workload(
        &self,
        topology: &Topology,
        routing: &Routing,
    ) -> Result<Workload, ScenarioError> {
        Workload::new(&self.traffic, topology, routing, self.seed, self.duration)
    }

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

    /// Bytes of a data packet besides its payload.
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

    /// Bytes that a data packet carries for its controller and the acknowledgement brings back.
    fn echo(&self) -> u32 {
        let telemetry = if self.has_telemetry() { self.wire.telemetry } else { 0 };
        let has_timestamp = self.scheme.host.controllers().any(ControllerConfig::uses_timestamp);
        telemetry + if has_timestamp { self.wire.timestamp } else { 0 }
    }

    /// Payload of a full packet.
    pub fn payload(&self) -> Bytes {
        Bytes::new(u64::from(self.wire.payload))
    }

    /// What the switch `node` knows of itself, its links and its frames. What a run gives it besides is not
    /// set: its salt, notices of drops, and what other switches share with it.
    pub(crate) fn switch_facts(&self, topology: &Topology, node: u32) -> SwitchFacts {
        let (control, packet) = (self.wire.control_frame as u16, self.full_packet().get() as u16);
        let frames = SwitchFrames { control, notice: None, packet };
        SwitchFacts { frames, fidelity: self.fidelity, ..topology.switch_facts(node) }
    }

    /// The longest data packet on the wire (bytes).
    pub fn full_packet(&self) -> Bytes {
        self.payload() + Bytes::new(self.data_overhead().into())
    }
}
