//! The path and the host that the unit tests share.

use alloc::string::String;
use alloc::vec::Vec;

use penstock_packet::EmptyQueue;
use penstock_units::{BitRate, Bytes, Fidelity, Problems, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{BaseRtt, HostConfig};
use crate::control::{ControllerConfig, LineRateConfig};
use crate::flow::{FlowFacts, FlowView};
use crate::nic::{NicConfig, NicScheduling};
use crate::path::PathFacts;
use crate::recovery::{PerfectConfig, RecoveryConfig};

/// 100 Gb/s and 8 us, the standard path of BFC (Sec. 6.2.1) and of the HPCC test vectors.
pub(crate) fn path() -> PathFacts {
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

/// A long flow on `path`, without grants.
pub(crate) fn flow(path: &PathFacts) -> FlowFacts<'_> {
    FlowFacts {
        number: 0,
        start: Time::ZERO,
        size: 1_000_000,
        unscheduled: u64::MAX,
        path,
        clock: 0.0,
    }
}

/// A host without congestion control and with perfect recovery. Its NIC has a queue per flow.
pub(crate) fn line_rate() -> HostConfig {
    let controller = ControllerConfig::LineRate(LineRateConfig {});
    let recovery = RecoveryConfig::Perfect(PerfectConfig {});
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

/// The state of a flow with packets of 1,000 B. Packets up to `next` are sent and those up to
/// `acknowledged` are acknowledged; the latest acknowledgement covered `newly` of them.
pub(crate) fn view(acknowledged: u64, next: u64, newly: u64) -> FlowView {
    FlowView {
        acknowledged: acknowledged * 1_000,
        next: next * 1_000,
        newly_acknowledged: newly * 1_000,
    }
}

/// Reads the controller `json`, finds nothing wrong with it, and writes the same text again. Then reads
/// each entry of `refused`; the field named there must be the first that is refused.
pub(crate) fn check_controller(json: &str, refused: &[(String, &str)]) -> ControllerConfig {
    check(json, refused, ControllerConfig::check)
}

/// The same check for a recovery.
pub(crate) fn check_recovery(json: &str, refused: &[(String, &str)]) -> RecoveryConfig {
    check(json, refused, RecoveryConfig::check)
}

fn check<Config: DeserializeOwned + Serialize>(
    json: &str,
    refused: &[(String, &str)],
    bounds: fn(&Config, &mut Problems),
) -> Config {
    let read = |text: &str| {
        let config: Config = serde_json::from_str(text).unwrap();
        let mut problems = Problems::default();
        bounds(&config, &mut problems);
        (config, problems)
    };
    for (text, field) in refused {
        assert_eq!(read(text).1.found()[0].path, *field, "{text}");
    }
    let (config, problems) = read(json);
    assert_eq!(problems.found(), []);
    assert_eq!(serde_json::to_string(&config).unwrap(), json);
    config
}
