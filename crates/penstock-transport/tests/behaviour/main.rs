//! The behaviour of senders, receivers and NICs through their public interface.

mod connection;
mod delivery;
mod fast_retransmit;
mod go_back_n;
mod homa;
mod nic;
mod nic_model;
mod pair;
mod perfect;
mod polled;
mod selective_repeat;
mod sender;
mod timer;

use penstock_packet::EmptyQueue;
use penstock_transport::control::dctcp::DctcpStart;
use penstock_transport::control::{
    CubicConfig, DctcpConfig, Increase, LineRateConfig, NewRenoConfig, PfabricConfig, RateWindow,
    SwiftConfig, WindowConfig,
};
use penstock_transport::recovery::{
    FastRetransmitConfig, GoBackNConfig, PerfectConfig, SelectiveRepeatConfig, TimeoutOnlyConfig,
    TrimmedHeadersConfig,
};
use penstock_transport::{
    Acknowledgement, BaseRtt, ControllerConfig, HostConfig, NicConfig, NicScheduling, PathFacts,
    RecoveryConfig,
};
use penstock_units::{BitRate, Bytes, Fidelity, Time};

/// 100 Gb/s and 8 us.
fn path() -> PathFacts {
    PathFacts {
        base_rtt: Time::from_us(8),
        line_rate: BitRate::from_gbps(100),
        receiver_rate: BitRate::from_gbps(100),
        bdp: Bytes::new(100_000),
        largest_bdp: Bytes::new(100_000),
        payload: 1_000,
        hops: 3,
        data_overhead: 48,
        last_flight: Time::from_ns(1_005),
        fidelity: Fidelity::Exact,
    }
}

fn host(controller: ControllerConfig, recovery: RecoveryConfig) -> HostConfig {
    let nic = NicConfig {
        queues: 0,
        reacts: true,
        empty_queue: EmptyQueue::Any,
        scheduling: NicScheduling::RoundRobin,
    };
    HostConfig {
        controller,
        recovery,
        nic,
        base_rtt: BaseRtt::Longest,
        other_controllers: Vec::new(),
    }
}

fn go_back_n() -> RecoveryConfig {
    let (timeout, nack_interval) = (Time::from_us(100), Time::from_us(20));
    RecoveryConfig::GoBackN(GoBackNConfig { timeout, nack_interval })
}

/// Perfect recovery: switches report their drops.
fn perfect() -> RecoveryConfig {
    RecoveryConfig::Perfect(PerfectConfig {})
}

/// The paper's timeouts, and one bandwidth-delay product outstanding.
fn selective_repeat() -> RecoveryConfig {
    RecoveryConfig::SelectiveRepeat(SelectiveRepeatConfig {
        bdp_factor: 1.0,
        timeout_low: Time::from_us(100),
        timeout_high: Time::from_us(320),
        low_packets: 3,
    })
}

/// Three duplicates, and timeouts from 200 us on.
fn fast_retransmit() -> RecoveryConfig {
    RecoveryConfig::FastRetransmit(FastRetransmitConfig {
        duplicate_threshold: 3,
        initial_timeout: Time::from_us(200),
        minimum_timeout: Time::from_us(200),
        maximum_timeout: Time::from_ms(100),
    })
}

/// What is missing is sent again after three round trips without progress.
fn timeout_only() -> RecoveryConfig {
    RecoveryConfig::TimeoutOnly(TimeoutOnlyConfig { timeout_rtts: 3.0 })
}

/// What was trimmed is sent again, and all of it after 200 us without a report.
fn trimmed_headers() -> RecoveryConfig {
    RecoveryConfig::TrimmedHeaders(TrimmedHeadersConfig { timeout: Time::from_us(200) })
}

/// No control.
fn line_rate() -> ControllerConfig {
    ControllerConfig::LineRate(LineRateConfig {})
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

/// NewReno from a window of `packets`.
fn new_reno(packets: u32) -> ControllerConfig {
    ControllerConfig::NewReno(NewRenoConfig { initial_window_packets: packets })
}

/// CUBIC from a window of `packets`, with the values of RFC 9438.
fn cubic(packets: u32) -> ControllerConfig {
    ControllerConfig::Cubic(CubicConfig {
        initial_window_packets: packets,
        steepness: 0.4,
        beta: 0.7,
        fast_convergence: true,
    })
}

/// pFabric from a window of 100 packets.
fn pfabric() -> ControllerConfig {
    ControllerConfig::Pfabric(PfabricConfig { initial_bdp_factor: 1.0, maximum_bdp_factor: 1.25 })
}

/// Swift from a window of 100 packets, with a target of 12 us.
fn swift() -> ControllerConfig {
    ControllerConfig::Swift(SwiftConfig {
        additive_increase: 1.0,
        beta: 0.8,
        maximum_decrease: 0.5,
        base_target: Some(Time::from_us(12)),
        hop_target: Time::ZERO,
        range: Time::from_us(8),
        minimum_flow_window: 0.1,
        maximum_flow_window: 100.0,
        minimum_window: 0.001,
        maximum_window: 1_000.0,
        initial_window_packets: 100,
        reset_after: 5,
    })
}

/// An unmarked positive acknowledgement.
fn acknowledgement(cumulative: u64) -> Acknowledgement<'static> {
    Acknowledgement {
        cumulative,
        is_negative: false,
        received: 0,
        is_marked: false,
        sent_at: Time::ZERO,
        pair_gap: Time::ZERO,
        path: 0,
        telemetry: &[],
    }
}
