//! The three choices that make an end host, and the check of their bounds.
//!
//! The fields are those of a scenario's `scheme.host` table. Unknown fields are refused while
//! parsing; [`HostConfig::check`] refuses values that make no sense.

use penstock_units::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::ControllerConfig;
use crate::flow::FlowFacts;
use crate::nic::config::NicConfig;
use crate::path::PathFacts;
use crate::recovery::RecoveryConfig;

/// How the end hosts of a scheme behave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// How much a flow may send, and how fast.
    pub controller: ControllerConfig,
    /// What happens when a packet is lost.
    pub recovery: RecoveryConfig,
    /// How the flows of a host share its NIC.
    pub nic: NicConfig,
    /// Which base round-trip time a controller knows.
    pub base_rtt: BaseRtt,
}

/// Which base round-trip time, and bandwidth-delay product, a controller knows: `GLOBAL_T` of the
/// HPCC simulator, 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BaseRtt {
    /// The longest in the network, for every flow.
    Longest,
    /// That of the flow's own path.
    Own,
}

impl HostConfig {
    /// Whether every data packet is acknowledged, or only the one that makes a flow whole (Homa), or
    /// that no credit acknowledges (ExpressPass).
    pub fn acknowledges_each(&self) -> bool {
        self.controller.acknowledges_each() && self.recovery.acknowledges_each()
    }

    /// What both ends know of a flow of `size` bytes, 0 for an endless one.
    pub(crate) fn flow<'a>(&self, size: u64, path: &'a PathFacts) -> FlowFacts<'a> {
        let size = if size == 0 { u64::MAX } else { size };
        FlowFacts { size, unscheduled: self.controller.unscheduled_bytes(path), path }
    }

    /// Checks every field against its bounds.
    pub fn check(&self, problems: &mut Problems) {
        problems.within("controller", |inner| self.controller.check(inner));
        problems.within("recovery", |inner| self.recovery.check(inner));
        problems.within("nic", |inner| self.nic.check(inner));
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    /// A host table with the given controller, recovery and nic tables as JSON.
    fn host(controller: &str, recovery: &str, nic: &str) -> String {
        format!(
            r#"{{"controller":{controller},"recovery":{recovery},"nic":{nic},"base_rtt":"own"}}"#
        )
    }

    const WINDOW: &str = r#"{"kind":"window","bdp_factor":1.0}"#;
    const GO_BACK_N: &str =
        r#"{"kind":"go-back-n","timeout":1000000000,"nack_interval":500000000}"#;
    const PERFECT: &str = r#"{"kind":"perfect"}"#;
    const NIC: &str = r#"{"queues":32,"reacts":true,"scheduling":"round-robin"}"#;
    const NIC_SRF: &str = r#"{"queues":0,"reacts":false,"scheduling":"srf"}"#;

    #[test]
    fn a_host_round_trips_through_json() {
        for (recovery, nic) in [(GO_BACK_N, NIC), (PERFECT, NIC_SRF)] {
            let text = host(WINDOW, recovery, nic);
            let parsed: HostConfig = serde_json::from_str(&text).unwrap();
            let mut problems = Problems::default();
            parsed.check(&mut problems);
            assert_eq!(problems.found(), []);
            assert_eq!(serde_json::to_string(&parsed).unwrap(), text);
        }
    }

    #[test]
    fn unknown_and_missing_fields_are_refused() {
        let refused = [
            host(r#"{"kind":"line-rate","speed":1}"#, PERFECT, NIC),
            host(r#"{"kind":"window","bdp_factor":1.0,"speed":1}"#, PERFECT, NIC),
            host(r#"{"kind":"window"}"#, PERFECT, NIC),
            host(r#"{"kind":"bbr"}"#, PERFECT, NIC),
            host(r#"{"kind":"line-rate"}"#, r#"{"kind":"perfect","timeout":1}"#, NIC),
            host(
                r#"{"kind":"line-rate"}"#,
                r#"{"kind":"go-back-n","timeout":1.5,"nack_interval":0}"#,
                NIC,
            ),
            host(r#"{"kind":"line-rate"}"#, PERFECT, r#"{"queues":32,"reacts":true}"#),
        ];
        for text in refused {
            assert!(serde_json::from_str::<HostConfig>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_out_of_bounds_are_refused_with_the_path_of_the_field() {
        for (text, path, value) in [
            (host(&WINDOW.replace("1.0", "-1.0"), PERFECT, NIC), "controller.bdp_factor", "-1"),
            (host(WINDOW, &GO_BACK_N.replace("1000000000", "0"), NIC), "recovery.timeout", "0 ps"),
            (host(WINDOW, PERFECT, &NIC.replace("32", "1")), "nic.queues", "1"),
            (host(WINDOW, PERFECT, &NIC.replace("32", "129")), "nic.queues", "129"),
        ] {
            let parsed: HostConfig = serde_json::from_str(&text).unwrap();
            let mut problems = Problems::default();
            parsed.check(&mut problems);
            let first = &problems.found()[0];
            assert_eq!((first.path.as_str(), first.value.as_str()), (path, value));
        }
    }
}
