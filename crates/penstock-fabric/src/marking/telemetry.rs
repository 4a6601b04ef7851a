//! In-band telemetry (HPCC, Y. Li et al., SIGCOMM 2019, sec. 3.1). At dequeue each switch adds four
//! numbers: the time; the bytes that the port has sent before this packet; the data bytes that the
//! packet leaves behind in all queues of the port, whose control queue is empty then; the port's rate.
//! It also takes its own number into the name of the packet's path (pathID, sec. 4.1): the exclusive or
//! of the numbers of all switches. The scenario's `wire.telemetry` gives the bytes of telemetry on the
//! wire. They are charged from the source on, as HPCC's fixed-size header is.
//!
//! Numbers are exact, or cut off to the units of HPCC's 8-byte hop entry: with a multiplier m, the sent
//! bytes to 128 m B and the queue to 80 m B. Left out: the wrap of the entry's fields (after 134 m MB
//! and 16.8 ms), because a sender subtracts modulo the wrap.

use alloc::format;
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{Fidelity, HopTelemetry, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, Parameters, Policy};
use crate::passing::Passing;
use crate::port::Port;

/// Units of the bytes sent and of the queue in an entry of HPCC's header (bytes), as the ns-3 HPCC
/// simulator encodes them.
const SENT_UNIT: u64 = 128;
const QUEUE_UNIT: u64 = 80;

/// Parameters of the telemetry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Units of HPCC's header per step of a field; 0: exact numbers.
    #[schemars(extend(
        "default" = 0,
        "source" = format!("our choice: exact; {HPCC_SIMULATOR} has INT_MULTI 4 at 100 Gb/s")
    ))]
    pub multiplier: u32,
}

impl Parameters for TelemetryConfig {
    fn has_telemetry(&self) -> bool {
        true
    }

    fn is_in(&self, simulator: Fidelity) -> bool {
        simulator != Fidelity::Ns3Bfc
    }
}

/// The telemetry of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Telemetry {
    /// Steps of the two fields (bytes), >= 1.
    sent_step: u64,
    queue_step: u64,
    /// The number of the switch, modulo 2^16: switches are fewer.
    number: u16,
}

impl Telemetry {
    pub(crate) fn new(config: &TelemetryConfig, facts: &SwitchFacts) -> Self {
        let multiplier = u64::from(config.multiplier);
        let step = |unit: u64| (unit * multiplier).max(1);
        let number = facts.node as u16;
        Telemetry { sent_step: step(SENT_UNIT), queue_step: step(QUEUE_UNIT), number }
    }

    /// The report of a port about a packet of `wire_bytes` that has just left its queue.
    #[inline]
    fn hop(&self, now: Time, port: &Port, wire_bytes: u16) -> HopTelemetry {
        let sent = port.sent_bytes() - u64::from(wire_bytes);
        HopTelemetry {
            time: now,
            sent_bytes: cut(sent, self.sent_step),
            queue_bytes: cut(port.bytes(), self.queue_step),
            rate: port.rate(),
        }
    }
}

impl Policy for Telemetry {
    #[inline]
    fn on_dequeue(&mut self, leaving: &mut Passing<'_>) -> Mark {
        let hop = self.hop(leaving.now, leaving.port(), leaving.packet().wire_bytes);
        leaving.packet_mut().tag ^= self.number;
        leaving.pool.push_telemetry(leaving.id, hop);
        Mark::default()
    }
}

/// `bytes` cut off to a multiple of `step`.
#[inline]
fn cut(bytes: u64, step: u64) -> u64 {
    if step == 1 { bytes } else { bytes - bytes % step }
}

#[cfg(test)]
#[path = "telemetry_tests.rs"]
mod tests;
