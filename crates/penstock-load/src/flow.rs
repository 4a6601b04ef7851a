//! What a host is told to send.

use std::collections::HashSet;
use std::net::SocketAddr;

use penstock_units::{BitRate, Bytes, Time};

use crate::error::LoadError;
use crate::header::{HEADER_BYTES, LARGEST_CLASS};

/// Headers of IPv4 (20 B, RFC 791), UDP (8 B, RFC 768) and ours.
const DATAGRAM_HEADERS: u64 = 20 + 8 + HEADER_BYTES as u64;

/// The most bytes of a flow that one UDP datagram over IPv4 takes: 65,535 less headers.
pub const LARGEST_UDP_PAYLOAD: u64 = 65_535 - DATAGRAM_HEADERS;

/// The most bytes of a flow that fill a frame of 1,500 B (IEEE 802.3) as one UDP datagram over IPv4.
pub const ETHERNET_UDP_PAYLOAD: Bytes = Bytes::new(1_500 - DATAGRAM_HEADERS);

/// A flow that a host sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFlow {
    /// The number by which both ends and all tables know the flow; unique in the run.
    pub number: u64,
    /// Where the server of the destination host listens.
    pub destination: SocketAddr,
    /// When the flow starts, from the origin of the run.
    pub start: Time,
    /// When the flow stops, finished or not, from the origin; not before `start`. [`Time::NEVER`]: not before
    /// its last byte or the end of the run.
    pub stop: Time,
    /// How many bytes it sends; none for an endless flow.
    pub size: Option<Bytes>,
    /// Priority class, 0 to 7. It becomes `SO_PRIORITY` and the class selector of the IP header (RFC 2474
    /// sec. 4.2.2). Without CAP_NET_ADMIN the priority of class 7 is 6 (socket(7)); the header has 7.
    pub class: u8,
    /// How the bytes are sent.
    pub protocol: Protocol,
}

/// How the bytes of a flow are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// A TCP connection, as fast as TCP lets it.
    Tcp {
        /// The congestion control, by the kernel's name; none for the kernel's default.
        congestion: Option<String>,
    },
    /// UDP datagrams, evenly spaced, whatever happens in the network.
    Udp {
        /// Rate of the flow's bytes, > 0; headers come on top.
        rate: BitRate,
        /// The flow's bytes in each datagram, 1 to 65,475; the last datagram may have fewer.
        payload: Bytes,
    },
}

impl LoadFlow {
    /// Whether the flow can be sent as it is described.
    ///
    /// # Errors
    /// [`LoadError::Flow`] names the flow and what would be right.
    pub fn check(&self) -> Result<(), LoadError> {
        let refuse = |reason| Err(LoadError::Flow { number: self.number, reason });
        if self.class > LARGEST_CLASS {
            return refuse("its class must be 0 to 7");
        }
        if self.stop < self.start {
            return refuse("its stop must not be before its start");
        }
        if let Protocol::Udp { rate, payload } = &self.protocol {
            if *rate == BitRate::default() {
                return refuse("its rate must be positive");
            }
            if !(1..=LARGEST_UDP_PAYLOAD).contains(&payload.get()) {
                return refuse("the payload of its datagrams must be 1 to 65,475 B");
            }
        }
        Ok(())
    }

    /// The congestion control that the flow asks for, if any.
    pub fn congestion(&self) -> Option<&str> {
        match &self.protocol {
            Protocol::Tcp { congestion } => congestion.as_deref(),
            Protocol::Udp { .. } => None,
        }
    }
}

/// Checks each flow, and that no two have the same number.
pub(crate) fn check_all(flows: &[LoadFlow]) -> Result<(), LoadError> {
    let mut numbers = HashSet::with_capacity(flows.len());
    for flow in flows {
        flow.check()?;
        if !numbers.insert(flow.number) {
            let reason = "another flow has its number; numbers must be unique";
            return Err(LoadError::Flow { number: flow.number, reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow() -> LoadFlow {
        LoadFlow {
            number: 7,
            destination: "127.0.0.1:9".parse().unwrap(),
            start: Time::from_ms(2),
            stop: Time::NEVER,
            size: Some(Bytes::new(1)),
            class: 0,
            protocol: Protocol::Udp { rate: BitRate::from_mbps(1), payload: ETHERNET_UDP_PAYLOAD },
        }
    }

    #[test]
    fn refusals_name_the_flow() {
        assert!(flow().check().is_ok());
        let udp = |rate, payload| Protocol::Udp { rate, payload: Bytes::new(payload) };
        let rate = BitRate::from_mbps(1);
        let refused = [
            LoadFlow { class: 8, ..flow() },
            LoadFlow { stop: Time::from_ms(1), ..flow() },
            LoadFlow { protocol: udp(BitRate::from_bps(0), 100), ..flow() },
            LoadFlow { protocol: udp(rate, 0), ..flow() },
            LoadFlow { protocol: udp(rate, LARGEST_UDP_PAYLOAD + 1), ..flow() },
        ];
        for flow in refused {
            let message = flow.check().unwrap_err().to_string();
            assert!(message.starts_with("flow 7: "), "{message}");
        }
    }

    #[test]
    fn two_flows_may_not_share_a_number() {
        assert!(check_all(&[flow(), LoadFlow { number: 8, ..flow() }]).is_ok());
        assert!(check_all(&[flow(), flow()]).is_err());
    }
}
