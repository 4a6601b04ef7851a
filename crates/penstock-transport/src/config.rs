//! The three choices that make an end host, and the check of their bounds.
//!
//! The fields are those of a scenario's `scheme.host` table. Unknown fields are refused while
//! parsing; [`HostConfig::check`] refuses values that make no sense.

use penstock_units::Problems;
use serde::{Deserialize, Serialize};

use crate::control::ControllerConfig;
use crate::flow::FlowFacts;
use crate::nic::config::NicConfig;
use crate::path::PathFacts;
use crate::recovery::RecoveryConfig;

/// How the end hosts of a scheme behave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    use alloc::vec::Vec;

    use penstock_units::Problem;

    use super::*;

    /// A host table with the given controller, recovery and nic tables as JSON.
    fn host(controller: &str, recovery: &str, nic: &str) -> String {
        format!(
            r#"{{"controller":{controller},"recovery":{recovery},"nic":{nic},"base_rtt":"own"}}"#
        )
    }

    const DCTCP: &str = concat!(
        r#"{"kind":"dctcp","gain":0.0625,"start":"slow-start","initial_window_packets":10,"#,
        r#""increase":{"kind":"window","size":1000},"minimum_rate":100000000,"window":"scaled"}"#
    );
    const HPCC: &str = concat!(
        r#"{"kind":"hpcc","target_utilization":0.95,"maximum_stage":5,"#,
        r#""additive_increase":{"kind":"rate","rate":50000000},"minimum_rate":100000000,"#,
        r#""react":"per-ack","window":"scaled"}"#
    );
    const DCQCN_MELLANOX: &str = concat!(
        r#"{"kind":"dcqcn-mellanox","gain":0.00390625,"alpha_interval":1000000,"#,
        r#""decrease_interval":4000000,"increase_interval":300000000,"fast_recovery_rounds":1,"#,
        r#""additive_increase":20000000,"hyper_increase":200000000,"minimum_rate":1000000000,"#,
        r#""clamps_target":false,"window":"none"}"#
    );
    const DCQCN: &str = concat!(
        r#"{"kind":"dcqcn","gain":0.00390625,"alpha_interval":55000000,"#,
        r#""notification_interval":50000000,"increase_interval":55000000,"#,
        r#""increase_bytes":10000000,"fast_recovery_rounds":5,"additive_increase":40000000,"#,
        r#""hyper_increase":200000000,"minimum_rate":100000000,"window":"bdp"}"#
    );
    const QCN: &str = concat!(
        r#"{"kind":"qcn","decrease_gain":0.0078125,"minimum_decrease_factor":0.5,"#,
        r#""increase_interval":15000000000,"increase_bytes":150000,"fast_recovery_rounds":5,"#,
        r#""additive_increase":5000000,"hyper_increase":50000000,"minimum_rate":5000000,"#,
        r#""window":"none"}"#
    );
    const TIMELY: &str = concat!(
        r#"{"kind":"timely","ewma_weight":0.875,"decrease_factor":0.8,"#,
        r#""additive_increase":10000000,"hyper_increase":50000000,"hyper_after":5,"#,
        r#""hyper_below_low":false,"low_rtt":50000000,"high_rtt":500000000,"#,
        r#""minimum_rtt":20000000,"largest_cut":0.5,"weighs_interval":true,"#,
        r#""update":{"kind":"segment","size":64000},"#,
        r#""band":{"kind":"patched","reference_rtt":50000000},"#,
        r#""minimum_rate":1000000000,"window":"scaled"}"#
    );
    const NEW_RENO: &str = r#"{"kind":"new-reno","initial_window_packets":10}"#;
    const SWIFT: &str = concat!(
        r#"{"kind":"swift","additive_increase":1.0,"beta":0.8,"maximum_decrease":0.5,"#,
        r#""base_target":null,"hop_target":1200000,"range":8000000,"minimum_flow_window":0.1,"#,
        r#""maximum_flow_window":100.0,"minimum_window":0.001,"maximum_window":1000.0,"#,
        r#""initial_window_packets":100,"reset_after":5}"#
    );
    const PCN: &str = concat!(
        r#"{"kind":"pcn","minimum_weight":0.0078125,"maximum_weight":0.5,"#,
        r#""notification_interval":50000000,"marked_share":0.95,"minimum_rate":1000000}"#
    );
    const SELECTIVE_REPEAT: &str = concat!(
        r#"{"kind":"selective-repeat","bdp_factor":1.0,"timeout_low":100000000,"#,
        r#""timeout_high":320000000,"low_packets":3}"#
    );
    const FAST_RETRANSMIT: &str = concat!(
        r#"{"kind":"fast-retransmit","duplicate_threshold":3,"initial_timeout":200000000,"#,
        r#""minimum_timeout":200000000,"maximum_timeout":100000000000}"#
    );
    const GO_BACK_N: &str =
        r#"{"kind":"go-back-n","timeout":1000000000,"nack_interval":500000000}"#;
    const PERFECT: &str = r#"{"kind":"perfect"}"#;
    const NIC: &str = r#"{"queues":32,"reacts":true,"scheduling":"round-robin"}"#;
    const NIC_SRF: &str = r#"{"queues":0,"reacts":false,"scheduling":"srf"}"#;

    #[test]
    fn every_kind_round_trips_through_json() {
        let controllers = [
            r#"{"kind":"line-rate"}"#,
            r#"{"kind":"window","bdp_factor":1.0}"#,
            DCTCP,
            HPCC,
            r#"{"kind":"delay","target_factor":2.5}"#,
            DCQCN_MELLANOX,
            DCQCN,
            QCN,
            TIMELY,
            NEW_RENO,
            SWIFT,
            PCN,
        ];
        for controller in controllers {
            for (recovery, nic) in [
                (GO_BACK_N, NIC),
                (PERFECT, NIC_SRF),
                (SELECTIVE_REPEAT, NIC),
                (FAST_RETRANSMIT, NIC),
            ] {
                let text = host(controller, recovery, nic);
                let parsed: HostConfig = serde_json::from_str(&text).unwrap();
                assert_eq!(problems_of(&parsed), []);
                assert_eq!(parsed.controller.uses_telemetry(), controller == HPCC);
                let is_timed = controller == TIMELY || controller == SWIFT;
                assert_eq!(parsed.controller.uses_timestamp(), is_timed);
                assert_eq!(serde_json::to_string(&parsed).unwrap(), text);
            }
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
    fn values_out_of_bounds_are_refused_with_the_field_and_the_remedy() {
        let cases = [
            (host(&DCTCP.replace("0.0625", "1.5"), PERFECT, NIC), "controller.gain"),
            (
                host(&DCTCP.replace(":10,", ":0,"), PERFECT, NIC),
                "controller.initial_window_packets",
            ),
            (host(&DCTCP.replace("100000000", "0"), PERFECT, NIC), "controller.minimum_rate"),
            (host(&HPCC.replace("0.95", "0"), PERFECT, NIC), "controller.target_utilization"),
            (
                host(r#"{"kind":"delay","target_factor":1.0}"#, PERFECT, NIC),
                "controller.target_factor",
            ),
            (host(r#"{"kind":"window","bdp_factor":-1.0}"#, PERFECT, NIC), "controller.bdp_factor"),
            (host(&DCQCN_MELLANOX.replace("0.00390625", "0"), PERFECT, NIC), "controller.gain"),
            (
                host(&DCQCN_MELLANOX.replace(":4000000,", ":0,"), PERFECT, NIC),
                "controller.decrease_interval",
            ),
            (
                host(&TIMELY.replace(":50000000,", ":600000000,"), PERFECT, NIC),
                "controller.low_rtt",
            ),
            (
                host(
                    &DCQCN.replace(r#"alpha_interval":55000000"#, r#"alpha_interval":0"#),
                    PERFECT,
                    NIC,
                ),
                "controller.alpha_interval",
            ),
            (host(&QCN.replace("0.5", "1.5"), PERFECT, NIC), "controller.minimum_decrease_factor"),
            (
                host(&QCN.replace(":5000000,\"window", ":0,\"window"), PERFECT, NIC),
                "controller.minimum_rate",
            ),
            (host(&TIMELY.replace("64000", "0"), PERFECT, NIC), "controller.update.size"),
            (
                host(&TIMELY.replace(":50000000}", ":0}"), PERFECT, NIC),
                "controller.band.reference_rtt",
            ),
            (host(HPCC, &GO_BACK_N.replace("1000000000", "0"), NIC), "recovery.timeout"),
            (host(HPCC, PERFECT, &NIC.replace("32", "1")), "nic.queues"),
            (host(HPCC, PERFECT, &NIC.replace("32", "129")), "nic.queues"),
        ];
        refuse(&cases);
    }

    #[test]
    fn parameters_of_pcn_out_of_bounds_are_refused_likewise() {
        refuse(&[
            (host(&PCN.replace("0.0078125", "0"), PERFECT, NIC), "controller.minimum_weight"),
            (host(&PCN.replace("0.0078125", "1.0"), PERFECT, NIC), "controller.minimum_weight"),
            (host(&PCN.replace("0.5", "0.001"), PERFECT, NIC), "controller.maximum_weight"),
            (host(&PCN.replace("0.5", "1.5"), PERFECT, NIC), "controller.maximum_weight"),
            (host(&PCN.replace("50000000", "0"), PERFECT, NIC), "controller.notification_interval"),
            (host(&PCN.replace("0.95", "1.0"), PERFECT, NIC), "controller.marked_share"),
            (host(&PCN.replace(":1000000}", ":0}"), PERFECT, NIC), "controller.minimum_rate"),
        ]);
    }

    #[test]
    fn windows_and_timeouts_out_of_bounds_are_refused_likewise() {
        refuse(&[
            (host(&NEW_RENO.replace("10", "0"), PERFECT, NIC), "controller.initial_window_packets"),
            (host(&SWIFT.replace("0.5", "1.0"), PERFECT, NIC), "controller.maximum_decrease"),
            (host(&SWIFT.replace("0.8", "0"), PERFECT, NIC), "controller.beta"),
            (host(&SWIFT.replace("null", "0"), PERFECT, NIC), "controller.base_target"),
            (
                host(&SWIFT.replace(":0.1", ":100.0"), PERFECT, NIC),
                "controller.maximum_flow_window",
            ),
            (host(&SWIFT.replace("0.001", "1.5"), PERFECT, NIC), "controller.minimum_window"),
            (host(&SWIFT.replace("1000.0", "0.5"), PERFECT, NIC), "controller.maximum_window"),
            (host(&SWIFT.replace(":5}", ":0}"), PERFECT, NIC), "controller.reset_after"),
            (host(HPCC, &SELECTIVE_REPEAT.replace("1.0", "0"), NIC), "recovery.bdp_factor"),
            (host(HPCC, &SELECTIVE_REPEAT.replace("100000000", "0"), NIC), "recovery.timeout_low"),
            (
                host(HPCC, &SELECTIVE_REPEAT.replace("320000000", "90000000"), NIC),
                "recovery.timeout_high",
            ),
            (
                host(HPCC, &FAST_RETRANSMIT.replace(":3,", ":0,"), NIC),
                "recovery.duplicate_threshold",
            ),
            (
                host(HPCC, &FAST_RETRANSMIT.replace("100000000000", "100000000"), NIC),
                "recovery.initial_timeout",
            ),
            (
                host(
                    HPCC,
                    &FAST_RETRANSMIT.replace("minimum_timeout\":200000000", "minimum_timeout\":0"),
                    NIC,
                ),
                "recovery.minimum_timeout",
            ),
        ]);
    }

    /// What is wrong with `host`.
    fn problems_of(host: &HostConfig) -> Vec<Problem> {
        let mut problems = Problems::default();
        host.check(&mut problems);
        problems.found().to_vec()
    }

    /// Each of `cases` parses and is refused because of its field.
    fn refuse(cases: &[(String, &str)]) {
        for (text, field) in cases {
            let parsed: HostConfig = serde_json::from_str(text).unwrap();
            assert_eq!(problems_of(&parsed)[0].path, *field);
        }
    }
}
