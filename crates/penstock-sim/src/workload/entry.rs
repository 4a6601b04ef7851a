//! What every kind of traffic entry gets, and the flows that it gives.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{Problems, Time};

use crate::routing::Routing;
use crate::topology::Topology;

/// A flow that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct FlowArrival {
    /// When its first byte is ready to be sent (ps), before the scenario's duration.
    pub time: Time,
    /// The sending host.
    pub source: u32,
    /// The receiving host, different from the source.
    pub destination: u32,
    /// Payload (bytes); 0 = endless.
    pub size: u64,
    /// Index of the traffic entry, and into [`super::Workload::labels`].
    pub label: u16,
    /// Priority, 0 = highest data class.
    pub class: u8,
    /// UDP destination port; 0 for traffic without ports.
    pub destination_port: u16,
    /// How long the flow sends at most (ps); 0: to its last byte.
    pub lasts: Time,
}

/// The place of an entry in the scenario, and what the entry gets from the scenario.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    /// Index in the `traffic` list.
    pub(super) index: u16,
    pub(super) topology: &'a Topology,
    pub(super) routing: &'a Routing,
    /// Seed of the scenario.
    pub(super) seed: u64,
    /// Duration of the scenario: all flows start earlier (ps).
    pub(super) duration: Time,
}

/// What is said of the field `lasts`.
pub(super) const TO_THE_END: &str = "our choice: every flow goes on to its last byte";

/// Why a flow that stops or never ends is refused inside a server.
pub(super) const UNENDED_INSIDE: &str = "flows inside a server follow each other, each to its last byte; \
     give the flow a size and no end, name a host of another server, or write topology.inner_rate = 0";

impl FlowArrival {
    /// Whether the flow neither has a last byte nor stops.
    pub fn is_endless(&self) -> bool {
        self.size == 0 && self.lasts == Time::ZERO
    }

    /// When the flow stops; [`Time::NEVER`] when it goes on to its last byte.
    pub fn stop(&self) -> Time {
        if self.lasts == Time::ZERO { Time::NEVER } else { self.time.saturating_add(self.lasts) }
    }
}

impl Entry<'_> {
    /// The path of the entry's field in messages.
    pub(super) fn field(&self) -> String {
        format!("traffic[{}]", self.index)
    }

    /// Checks the fields `start` and `stop`.
    pub(super) fn check_window(&self, start: Time, stop: Time, problems: &mut Problems) {
        let field = self.field();
        let remedy = format!("it is not before its stop, {stop}; start earlier, or stop later");
        problems.unless(start < stop, &format!("{field}.start"), start, remedy);
        let remedy = format!(
            "traffic ends with the scenario's duration, {}; stop earlier, or raise duration",
            self.duration
        );
        problems.unless(stop <= self.duration, &format!("{field}.stop"), stop, remedy);
    }
}
