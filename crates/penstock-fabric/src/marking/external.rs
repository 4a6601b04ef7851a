//! Marking whose code lies outside of this crate: the program that runs the scenario supplies it.
//!
//! The scenario names a class, which the program finds and fills in before it checks the scenario
//! (`penstock_transport::control::external` does the same for controllers). The class makes one marker
//! for each switch. The marker sees each data packet when the packet joins a queue and when it leaves, and
//! answers whether the packet is marked. It may answer a probability: the switch's own stream draws.
//!
//! What it is not: it neither drops packets nor sends feedback. Its state cannot be saved.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::Debug;

use borsh::io::{Error, ErrorKind, Read, Result, Write};
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use penstock_units::{Problems, Supplied, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, MarkingPoint, Parameters, Policy};
use crate::passing::Passing;

/// Which class marks the packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalMarkingConfig {
    /// The class, as module:Class or ./file.py:Class.
    #[schemars(extend("is_long" = true))]
    pub class: String,
    /// SHA-256 of the file of the class, which is filled in when the scenario is read.
    #[schemars(extend("default" = null, "source" = "our choice: that of the file as it is"))]
    pub sha256: Option<String>,
    /// The class itself, from the program.
    #[serde(skip)]
    pub supplied: Supplied<dyn MarkingClass>,
}

/// A class of markers, as a program supplies it.
pub trait MarkingClass: Debug + Send + Sync {
    /// The marker of a switch.
    fn open(&self, switch: &SwitchFacts) -> Box<dyn ExternalMarking>;
}

/// The marker of one switch, as a program supplies it.
pub trait ExternalMarking: Debug + Send {
    /// Whether the packet that was seen is marked.
    fn mark(&mut self, seen: &Seen) -> Verdict;
}

/// A data packet that joins a queue or leaves one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The time.
    pub now: Time,
    /// Whether the packet joins the queue or leaves it.
    pub point: MarkingPoint,
    /// The port by which the packet leaves.
    pub egress: u16,
    /// The packet's queue.
    pub queue: u16,
    /// Bytes in the queue, with the packet when it joins and without it when it leaves (bytes).
    pub queue_bytes: u64,
    /// Bytes in all data queues of the port, counted in the same way (bytes).
    pub port_bytes: u64,
    /// Size of the packet on the wire (bytes).
    pub packet_bytes: u16,
    /// Priority class of the packet.
    pub class: u8,
    /// The flow identifier that switches see.
    pub flow: u32,
}

/// Whether a packet is marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Yes or no.
    Marked(bool),
    /// With this probability, from 0 to 1.
    Perhaps(f64),
}

impl Parameters for ExternalMarkingConfig {
    fn check(&self, problems: &mut Problems) {
        check_supplied(self.supplied.get().is_some(), &self.class, problems);
    }

    fn has_marks(&self) -> bool {
        true
    }
}

/// Refuses `class` unless the program `is_supplied` with it.
pub(crate) fn check_supplied(is_supplied: bool, class: &str, problems: &mut Problems) {
    let remedy =
        "this program has no such class; simulate it with `penstock run`, or use another kind";
    problems.unless(is_supplied, "class", class, remedy);
}

/// The marker of a switch.
#[derive(Debug)]
pub(crate) struct ExternalMarker(Box<dyn ExternalMarking>);

impl ExternalMarker {
    /// The marker of the switch that `facts` describe. Panics when nobody has supplied the class;
    /// [`Parameters::check`] refuses such a scenario.
    pub(crate) fn new(config: &ExternalMarkingConfig, facts: &SwitchFacts) -> Self {
        let class = config.supplied.get().expect("a scenario without its class is refused");
        ExternalMarker(class.open(facts))
    }

    fn judge(&mut self, point: MarkingPoint, passing: &mut Passing<'_>) -> Mark {
        let packet = passing.packet();
        let seen = Seen {
            now: passing.now,
            point,
            egress: passing.egress,
            queue: packet.queue,
            queue_bytes: passing.queue_bytes,
            port_bytes: passing.port().bytes(),
            packet_bytes: packet.wire_bytes,
            class: packet.class,
            flow: packet.flow_hash,
        };
        Mark::of(match self.0.mark(&seen) {
            Verdict::Marked(is_marked) => is_marked,
            Verdict::Perhaps(probability) => passing.draws.happens(probability),
        })
    }
}

impl Policy for ExternalMarker {
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Mark {
        self.judge(MarkingPoint::Enqueue, packet)
    }

    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Mark {
        self.judge(MarkingPoint::Dequeue, packet)
    }
}

/// The state lies in the program that supplies the class.
pub(crate) fn unsaved() -> Error {
    Error::new(ErrorKind::InvalidData, "the state of a class in Python cannot be saved")
}

impl BorshSerialize for ExternalMarker {
    fn serialize<W: Write>(&self, _: &mut W) -> Result<()> {
        Err(unsaved())
    }
}

impl BorshDeserialize for ExternalMarker {
    fn deserialize_reader<R: Read>(_: &mut R) -> Result<Self> {
        Err(unsaved())
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::*;
    use crate::MarkingConfig;
    use crate::SchedulingConfig;
    use crate::fixture::{Bench, flow, hosts, per_flow};
    use crate::scheduling::srf::SrfConfig;
    use penstock_packet::PacketFlags;

    /// Marks what joins a queue of more than 1,500 B, and by a coin what leaves one of more.
    #[derive(Debug)]
    struct Threshold;

    impl MarkingClass for Threshold {
        fn open(&self, switch: &SwitchFacts) -> Box<dyn ExternalMarking> {
            assert_eq!(switch.ports.len(), 2);
            Box::new(Threshold)
        }
    }

    impl ExternalMarking for Threshold {
        fn mark(&mut self, seen: &Seen) -> Verdict {
            match seen.point {
                MarkingPoint::Enqueue => Verdict::Marked(seen.queue_bytes > 1_500),
                MarkingPoint::Dequeue if seen.port_bytes > 1_500 => Verdict::Perhaps(0.5),
                MarkingPoint::Dequeue => Verdict::Perhaps(0.0),
            }
        }
    }

    fn config() -> ExternalMarkingConfig {
        let supplied = Supplied::with(Arc::new(Threshold) as Arc<dyn MarkingClass>);
        ExternalMarkingConfig { class: "mine:Mine".into(), sha256: None, supplied }
    }

    fn marked(packets: u32) -> usize {
        let switch = crate::SwitchConfig {
            marking: MarkingConfig::Python(config()),
            ..per_flow(SchedulingConfig::Srf(SrfConfig {}))
        };
        let mut bench = Bench::new(&switch, &hosts(2));
        for _ in 0..packets {
            bench.admit(flow(1), 1_000);
        }
        let sent = (0..packets).map(|_| bench.depart(0).unwrap().0);
        sent.filter(|packet| packet.flags.contains(PacketFlags::MARKED)).count()
    }

    #[test]
    fn what_the_marker_answers_is_on_the_packets() {
        assert_eq!(marked(1), 0);
        assert_eq!(marked(2), 1); // the second one joined a queue of 2,000 B
        assert_eq!(marked(3), 2);
    }

    #[test]
    fn a_class_that_nobody_supplies_is_refused_and_a_state_is_not_saved() {
        let mut problems = Problems::default();
        let missing = ExternalMarkingConfig { supplied: Supplied::default(), ..config() };
        MarkingConfig::Python(missing).check(&mut problems);
        assert_eq!(problems.found()[0].path, "class");
        let supplied = MarkingConfig::Python(config());
        assert!(supplied.has_marks() && !supplied.has_feedback() && !supplied.has_telemetry());
        let marker = ExternalMarker::new(&config(), &hosts(2));
        assert!(borsh::to_vec(&marker).is_err());
        assert!(ExternalMarker::deserialize(&mut [0].as_slice()).is_err());
    }
}
