//! The three choices that make an end host, and the check of their bounds.
//!
//! The fields are those of a scenario's `scheme.host` table. Parsing refuses unknown fields.
//! [`HostConfig::check`] refuses values that make no sense.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use penstock_units::source::HPCC_SIMULATOR;
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::ControllerConfig;
use crate::flow::FlowFacts;
use crate::nic::config::NicConfig;
use crate::path::PathFacts;
use crate::recovery::RecoveryConfig;

/// What an end host does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// How much a flow may send, and how fast.
    pub controller: ControllerConfig,
    /// What a loss costs.
    #[schemars(extend("default" = {"kind": "go-back-n"}, "source" = "BFC 6.2.1"))]
    pub recovery: RecoveryConfig,
    /// The network interface.
    #[schemars(extend("default" = {}, "source" = "see its fields"))]
    pub nic: NicConfig,
    /// Base RTT that a controller knows: the longest of the network, or that of the flow's own path.
    #[schemars(extend("default" = "longest", "source" = format!("{HPCC_SIMULATOR}: GLOBAL_T 1")))]
    pub base_rtt: BaseRtt,
    /// Traffic whose flows have another controller than `controller`.
    #[schemars(extend("default" = [], "source" = "our choice: all flows alike"))]
    pub other_controllers: Vec<OtherController>,
}

/// The controller of the flows of some traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherController {
    /// Label of the traffic.
    pub label: String,
    /// How much a flow of this traffic may send, and how fast.
    pub controller: ControllerConfig,
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
    /// The controllers of all flows: `controller` first, then those of `other_controllers`.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerConfig> {
        let others = self.other_controllers.iter().map(|other| &other.controller);
        core::iter::once(&self.controller).chain(others)
    }

    /// What a host does for the flows of each of [`HostConfig::controllers`].
    pub fn of_controllers(&self) -> Arc<[HostConfig]> {
        let of = |controller: &ControllerConfig| HostConfig {
            controller: controller.clone(),
            other_controllers: Vec::new(),
            ..self.clone()
        };
        self.controllers().map(of).collect()
    }

    /// Which of [`HostConfig::controllers`] the flows of traffic with this `label` have.
    pub fn controller_of(&self, label: &str) -> usize {
        let other = self.other_controllers.iter().position(|other| other.label == label);
        other.map_or(0, |index| index + 1)
    }

    /// Whether every data packet is acknowledged. Homa acknowledges only the packet that completes a
    /// flow; ExpressPass acknowledges a packet only where no credit does.
    pub fn acknowledges_each(&self) -> bool {
        self.controller.acknowledges_each() && self.recovery.acknowledges_each()
    }

    /// What both ends know of a flow of `size` bytes, 0 for an endless one. The end has a clock without
    /// error.
    pub(crate) fn flow<'a>(&self, size: u64, path: &'a PathFacts) -> FlowFacts<'a> {
        let size = if size == 0 { u64::MAX } else { size };
        let unscheduled = self.controller.unscheduled_bytes(path);
        FlowFacts { number: 0, start: Time::ZERO, size, unscheduled, path, clock: 0.0 }
    }

    /// Checks every field against the bounds that the field declares. Then checks the fields of each
    /// choice against each other.
    pub fn check(&self, problems: &mut Problems) {
        problems.within("controller", |inner| self.controller.check(inner));
        problems.within("recovery", |inner| self.recovery.check(inner));
        problems.within("nic", |inner| self.nic.check(inner));
        for (index, other) in self.other_controllers.iter().enumerate() {
            let field = format!("other_controllers[{index}]");
            problems.within(&field, |problems| {
                problems.within("controller", |inner| other.controller.check(inner));
                let is_first = self.controller_of(&other.label) == index + 1;
                let remedy = "it has a controller above; name it once";
                problems.unless(is_first, "label", &other.label, remedy);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use schemars::SchemaGenerator;
    use serde_json::Value;

    use super::*;

    /// A host table with the given tables of controller, recovery and NIC, as JSON.
    fn host(controller: &str, recovery: &str, nic: &str) -> String {
        let parts = format!(r#""controller":{controller},"recovery":{recovery},"nic":{nic}"#);
        format!(r#"{{{parts},"base_rtt":"own","other_controllers":[]}}"#)
    }

    /// The problems of a host, one per line.
    fn refused(text: &str) -> String {
        let parsed: HostConfig = serde_json::from_str(text).unwrap();
        let mut problems = Problems::default();
        parsed.check(&mut problems);
        problems.to_string()
    }

    const WINDOW: &str = r#"{"kind":"window","bdp_factor":1.0}"#;
    const GO_BACK_N: &str =
        r#"{"kind":"go-back-n","timeout":1000000000,"nack_interval":500000000}"#;
    const PERFECT: &str = r#"{"kind":"perfect"}"#;
    const NIC: &str =
        r#"{"queues":32,"reacts":true,"empty_queue":"any","scheduling":"round-robin"}"#;
    const NIC_SRF: &str = r#"{"queues":0,"reacts":false,"empty_queue":"any","scheduling":"srf"}"#;

    #[test]
    fn a_host_round_trips_through_json() {
        for (recovery, nic) in [(GO_BACK_N, NIC), (PERFECT, NIC_SRF)] {
            let text = host(WINDOW, recovery, nic);
            let parsed: HostConfig = serde_json::from_str(&text).unwrap();
            assert_eq!(refused(&text), "");
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
            host(
                r#"{"kind":"line-rate"}"#,
                PERFECT,
                r#"{"queues":32,"reacts":true,"empty_queue":"any"}"#,
            ),
        ];
        for text in refused {
            assert!(serde_json::from_str::<HostConfig>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_out_of_bounds_are_refused_with_the_path_of_the_field() {
        let fast = r#"{"kind":"fast-retransmit","duplicate_threshold":3,"initial_timeout":900000,"#;
        let fast = format!(r#"{fast}"minimum_timeout":900000,"maximum_timeout":800000}}"#);
        for (text, expected) in [
            (
                host(&WINDOW.replace("1.0", "-1.0"), PERFECT, NIC),
                "controller.bdp_factor is -1.0; write above 0",
            ),
            (
                host(WINDOW, &GO_BACK_N.replace("1000000000", "0"), NIC),
                "recovery.timeout is 0 ps; write 100 ns or more",
            ),
            (
                host(WINDOW, &fast, NIC),
                "recovery.initial_timeout is 900 ns; write at most maximum_timeout, 800 ns\n\
                 recovery.minimum_timeout is 900 ns; write at most maximum_timeout, 800 ns",
            ),
            (
                host(WINDOW, PERFECT, &NIC.replace("32", "1")),
                "nic.queues is 1; one is the control queue; write 2 or more, or 0 for one per flow",
            ),
            (host(WINDOW, PERFECT, &NIC.replace("32", "129")), "nic.queues is 129; write 0 to 128"),
        ] {
            assert_eq!(refused(&text), expected);
        }
    }

    #[test]
    fn every_class_needs_a_queue_of_the_nic() {
        let nic: NicConfig = serde_json::from_str(&NIC.replace("32", "4")).unwrap();
        let mut problems = Problems::default();
        nic.check_classes(3, &mut problems);
        assert!(problems.is_empty());
        nic.check_classes(4, &mut problems);
        assert_eq!(
            problems.to_string(),
            "queues is 4; one is the control queue, and each of 4 class(es) needs one; write 5 or \
             more, or 0 for one per flow",
        );
    }

    /// Checks that every field below `schema`, at `path`, describes itself in a sentence and names the
    /// source of its default.
    fn check_declared(schema: &Value, path: &str) {
        let fields = schema.get("properties").and_then(Value::as_object);
        for (name, field) in fields.into_iter().flatten().filter(|(name, _)| *name != "kind") {
            let path = format!("{path}.{name}");
            let text = |key| field.get(key).and_then(Value::as_str).unwrap_or_default();
            let meaning = text("description").split("\n\n").next().unwrap_or_default();
            let is_sentence = meaning.starts_with(char::is_uppercase) && meaning.ends_with('.');
            assert!(is_sentence && !meaning.contains('\n'), "{path}: {meaning}");
            assert_eq!(field.get("default").is_some(), !text("source").is_empty(), "{path}");
        }
        match schema {
            Value::Object(entries) => {
                entries
                    .iter()
                    .for_each(|(name, inner)| check_declared(inner, &format!("{path}.{name}")));
            }
            Value::Array(entries) => entries.iter().for_each(|inner| check_declared(inner, path)),
            _ => {}
        }
    }

    #[test]
    fn every_field_says_what_it_means_and_where_its_default_comes_from() {
        let schema = SchemaGenerator::default().into_root_schema_for::<HostConfig>();
        check_declared(schema.as_value(), "host");
    }
}
