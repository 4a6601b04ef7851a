//! What of an emulation is not in its scenario.

use std::path::PathBuf;

use penstock_units::{BitRate, Bytes};
use serde::Deserialize;

/// An emulation, beside its scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulationConfig {
    /// The hosts with kernels; all others are ours.
    pub kernels: Vec<u32>,
    /// How many seconds of the machine are a second of the scenario, at least 1.
    pub scale_time: u32,
    /// Whether to run what seems too fast for the machine.
    pub is_forced: bool,
    /// What the NIC of a host with a kernel holds for each of its two directions.
    pub nic_memory: Bytes,
    /// By traffic entry: how hosts with kernels send its flows.
    pub senders: Vec<SenderConfig>,
    /// Programs that hosts with kernels run.
    pub programs: Vec<ProgramConfig>,
    /// Where the output of programs goes; it exists.
    pub directory: PathBuf,
    /// The file for all frames at the edge of the network, if they are to be kept.
    pub capture: Option<PathBuf>,
}

/// How hosts with kernels send flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SenderConfig {
    /// By TCP.
    Tcp {
        /// The congestion control, by the kernel's name; none for the kernel's default.
        congestion: Option<String>,
    },
    /// By UDP datagrams at a constant rate, whatever happens in the network.
    Udp {
        /// Rate of the payload on the scenario's scale of time.
        rate: BitRate,
    },
}

/// A program on a host with a kernel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramConfig {
    /// The host.
    pub host: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether the run goes on until the program has ended.
    pub awaited: bool,
}
