//! In-band telemetry (HPCC, Y. Li et al., SIGCOMM 2019, sec. 3.1): at dequeue each switch adds the
//! time, the bytes its port has sent before this packet, the data bytes it leaves behind in all
//! queues of the port, and the port's rate. The bytes it costs on the wire are the scenario's
//! `wire.telemetry`, charged from the source on, as HPCC's fixed-size header is.

use penstock_units::{HopTelemetry, Time};

use crate::port::Port;

/// What a port reports about a packet of `wire_bytes` that has just left its queue.
#[inline]
pub(crate) fn hop(now: Time, port: &Port, wire_bytes: u16) -> HopTelemetry {
    HopTelemetry {
        time: now,
        sent_bytes: port.sent_bytes() - u64::from(wire_bytes),
        queue_bytes: port.bytes(),
        rate: port.rate(),
    }
}

#[cfg(test)]
#[path = "telemetry_tests.rs"]
mod tests;
