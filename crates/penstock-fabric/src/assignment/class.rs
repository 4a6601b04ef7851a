//! By class: one data queue for each priority class. With one class the port is a FIFO.

use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::LARGEST_CLASSES;
use super::policy::{Assigning, Parameters, Policy};

/// Parameters of the by-class assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByClassConfig {
    /// Classes, each with a queue.
    #[schemars(
        range(min = 1, max = LARGEST_CLASSES),
        extend("default" = 1, "source" = "our choice: no priorities")
    )]
    pub classes: u32,
}

impl Parameters for ByClassConfig {
    fn classes(&self) -> u32 {
        self.classes
    }

    fn queue_classes(&self, _: usize) -> Vec<u8> {
        (0..self.classes as u8).collect()
    }

    fn is_one_queue(&self) -> bool {
        self.classes == 1
    }
}

/// The by-class assignment of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ByClass {
    last: u8,
}

impl ByClass {
    pub(crate) fn new(config: &ByClassConfig, _: &SwitchFacts) -> Self {
        ByClass { last: config.classes as u8 - 1 }
    }
}

impl Policy for ByClass {
    #[inline]
    fn assign(&mut self, arrival: Assigning<'_>) -> Option<u16> {
        Some(1 + u16::from(arrival.packet.class.min(self.last)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ByClassConfig;
    use crate::fixture::refusal::{STRICT, refused};
    use crate::fixture::{Bench, Flow, flow, hosts, plain};
    use crate::scheduling::strict::StrictConfig;
    use crate::{AssignmentConfig, SchedulingConfig, SwitchConfig};

    #[test]
    fn every_class_has_its_queue_and_the_last_takes_what_is_beyond() {
        let config = SwitchConfig {
            assignment: AssignmentConfig::Class(ByClassConfig { classes: 3 }),
            scheduling: SchedulingConfig::Strict(StrictConfig {}),
            ..plain()
        };
        let mut bench = Bench::new(&config, &hosts(2));
        let queues = [0, 1, 2, 3, 7].map(|class| bench.queue_of(Flow { class, ..flow(1) }));
        assert_eq!(queues, [1, 2, 3, 3, 3]);
    }

    #[test]
    fn one_class_is_a_fifo_whatever_packets_say() {
        let mut bench = Bench::new(&plain(), &hosts(2));
        for (number, class) in [(5, 3), (6, 0), (7, 7)] {
            assert_eq!(bench.queue_of(Flow { class, ..flow(number) }), 1);
        }
        assert_eq!(bench.drain(0), [5, 6, 7]);
    }

    #[test]
    fn there_are_as_many_classes_as_pauses_can_name() {
        let classes = |classes| {
            let by_class = ("assignment", r#"{"kind": "class", "classes": 3}"#);
            refused(&[by_class, STRICT], &[("/assignment/classes", json!(classes))])
        };
        assert!(classes(1).is_empty() && classes(8).is_empty());
        assert_eq!(classes(0), ["assignment.classes is 0; write 1 to 8"]);
        assert_eq!(classes(9), ["assignment.classes is 9; write 1 to 8"]);
    }
}
