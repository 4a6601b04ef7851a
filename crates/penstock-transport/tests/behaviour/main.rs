//! The behaviour of senders, receivers and NICs through their public interface.

mod go_back_n;
mod nic;
mod nic_model;
mod perfect;
mod polled;
mod sender;
mod timer;

use penstock_transport::control::{DctcpConfig, DctcpStart, Increase, RateWindow, WindowConfig};
use penstock_transport::recovery::GoBackNConfig;
use penstock_transport::{
    Acknowledgement, ControllerConfig, HostConfig, NicConfig, NicScheduling, PathFacts,
    RecoveryConfig,
};
use penstock_units::{BitRate, Bytes, Fidelity, Time};

/// 100 Gb/s and 8 us.
fn path() -> PathFacts {
    PathFacts {
        base_rtt: Time::from_us(8),
        line_rate: BitRate::from_gbps(100),
        bdp: Bytes::new(100_000),
        payload: 1_000,
        data_overhead: 48,
        last_flight: Time::from_ns(1_005),
        fidelity: Fidelity::Exact,
    }
}

fn host(controller: ControllerConfig, recovery: RecoveryConfig) -> HostConfig {
    let nic = NicConfig { queues: 0, reacts: true, scheduling: NicScheduling::RoundRobin };
    HostConfig { controller, recovery, nic }
}

fn go_back_n() -> RecoveryConfig {
    let (timeout, nack_interval) = (Time::from_us(100), Time::from_us(20));
    RecoveryConfig::GoBackN(GoBackNConfig { timeout, nack_interval })
}

/// A constant window of `bytes`.
fn window(bytes: u64) -> ControllerConfig {
    ControllerConfig::Window(WindowConfig { bdp_factor: bytes as f64 / 100_000.0 })
}

/// DCTCP from line rate with a gain of 1/16, an increase of 1000 B and at least 100 Mb/s.
fn dctcp() -> ControllerConfig {
    ControllerConfig::Dctcp(DctcpConfig {
        gain: 0.0625,
        start: DctcpStart::LineRate,
        initial_window_packets: 10,
        increase: Increase::Window { size: Bytes::new(1_000) },
        minimum_rate: BitRate::from_mbps(100),
        window: RateWindow::Scaled,
    })
}

/// An unmarked positive acknowledgement.
fn acknowledgement(cumulative: u64) -> Acknowledgement<'static> {
    Acknowledgement {
        cumulative,
        is_negative: false,
        is_marked: false,
        sent_at: Time::ZERO,
        telemetry: &[],
    }
}
