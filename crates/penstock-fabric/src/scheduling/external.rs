//! A scheduler whose code lies outside of this crate: the program that runs the scenario supplies it.
//!
//! The scenario names a class, which the program finds and fills in before it checks the scenario
//! (`penstock_transport::control::external` does the same for controllers). The class makes a scheduler
//! for each port. The scheduler chooses among the queues that have packets and are not paused; it may
//! also hear when a queue becomes one of these, ceases to be one, or has sent a packet. Its state cannot
//! be saved.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use borsh::io::{Read, Result, Write};
use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::PacketPool;
use penstock_units::{Problems, Supplied, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Parameters, Policy};
use crate::marking::external::{check_supplied, unsaved};
use crate::queue::DataQueue;

pub use super::policy::Egress;

/// Which class schedules the queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalSchedulingConfig {
    /// The class, as module:Class or ./file.py:Class.
    #[schemars(extend("is_long" = true))]
    pub class: String,
    /// SHA-256 of the file of the class, which is filled in when the scenario is read.
    #[schemars(extend("default" = null, "source" = "our choice: that of the file as it is"))]
    pub sha256: Option<String>,
    /// The class itself, from the program.
    #[serde(skip)]
    pub supplied: Supplied<dyn SchedulingClass>,
}

/// A class of schedulers, as a program supplies it.
pub trait SchedulingClass: Debug + Send + Sync {
    /// The scheduler of a port.
    fn open(&self, egress: &Egress) -> Box<dyn ExternalScheduling>;
}

/// The scheduler of one port, as a program supplies it.
pub trait ExternalScheduling: Debug + Send {
    /// Queue `number`, of priority `class`, has packets and may send.
    fn activate(&mut self, number: u32, class: u8);

    /// Queue `number` is empty or paused.
    fn deactivate(&mut self, number: u32);

    /// The number of the queue that sends next at `now`: one of `queues`, of which there is at least one.
    /// They stand in the order in which they became active.
    fn select(&mut self, now: Time, queues: &[ActiveQueue]) -> u32;

    /// Queue `number` has sent a packet of `bytes`.
    fn sent(&mut self, number: u32, bytes: u32);
}

/// A queue that has packets and may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveQueue {
    /// Number of the queue, from 1.
    pub number: u32,
    /// Priority class that the queue serves.
    pub class: u8,
    /// Bytes that wait (bytes).
    pub bytes: u64,
    /// Size of the first packet on the wire (bytes).
    pub head_bytes: u16,
    /// The flow identifier of the first packet.
    pub head_flow: u32,
}

impl Parameters for ExternalSchedulingConfig {
    fn check(&self, problems: &mut Problems) {
        check_supplied(self.supplied.get().is_some(), &self.class, problems);
    }
}

/// The scheduler of a port.
#[derive(Debug)]
pub(crate) struct ExternalScheduler(Box<Inside>);

/// What is kept of a scheduler, in a box so that the ports of other schedulers stay small.
#[derive(Debug)]
struct Inside {
    scheduler: Box<dyn ExternalScheduling>,
    /// Active queues with their classes, in the order in which they became active.
    active: Vec<(u32, u8)>,
    /// Memory for what `select` shows.
    shown: Vec<ActiveQueue>,
    /// The queue that was selected last.
    selected: u32,
}

impl ExternalScheduler {
    /// The scheduler of a port. Panics when nobody has supplied the class; [`Parameters::check`] refuses
    /// such a scenario.
    pub(crate) fn new(config: &ExternalSchedulingConfig, egress: &Egress) -> Self {
        let class = config.supplied.get().expect("a scenario without its class is refused");
        let scheduler = class.open(egress);
        let (active, shown) = (Vec::new(), Vec::new());
        ExternalScheduler(Box::new(Inside { scheduler, active, shown, selected: 0 }))
    }
}

impl Policy for ExternalScheduler {
    fn activate(&mut self, queues: &mut [DataQueue], number: u32, _: &PacketPool) {
        let class = queues[number as usize].class;
        self.0.active.push((number, class));
        self.0.scheduler.activate(number, class);
    }

    fn deactivate(&mut self, _: &mut [DataQueue], number: u32) {
        self.0.active.retain(|&(other, _)| other != number);
        self.0.scheduler.deactivate(number);
    }

    fn select(&mut self, now: Time, queues: &mut [DataQueue], pool: &PacketPool) -> u32 {
        let inside = &mut *self.0;
        inside.shown.clear();
        inside.shown.extend(inside.active.iter().map(|&(number, class)| {
            let packets = &queues[number as usize].packets;
            let head = &pool[packets.head()];
            let (head_bytes, head_flow) = (head.wire_bytes, head.flow_hash);
            ActiveQueue { number, class, bytes: packets.bytes(), head_bytes, head_flow }
        }));
        inside.selected = inside.scheduler.select(now, &inside.shown);
        inside.selected
    }

    fn charge(&mut self, _: &mut DataQueue, bytes: u32) {
        self.0.scheduler.sent(self.0.selected, bytes);
    }
}

impl BorshSerialize for ExternalScheduler {
    fn serialize<W: Write>(&self, _: &mut W) -> Result<()> {
        Err(unsaved())
    }
}

impl BorshDeserialize for ExternalScheduler {
    fn deserialize_reader<R: Read>(_: &mut R) -> Result<Self> {
        Err(unsaved())
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use penstock_packet::Signal;
    use penstock_units::BitRate;

    use super::*;
    use crate::SchedulingConfig;
    use crate::fixture::{Bench, flow, hosts, per_flow};

    /// The longest queue first; of equally long ones the first that became active.
    #[derive(Debug, Default)]
    struct Longest {
        active: Vec<u32>,
        sent: u32,
    }

    impl SchedulingClass for Longest {
        fn open(&self, egress: &Egress) -> Box<dyn ExternalScheduling> {
            assert!(egress.port < 2);
            Box::new(Longest::default())
        }
    }

    impl ExternalScheduling for Longest {
        fn activate(&mut self, number: u32, class: u8) {
            assert_eq!(class, 0);
            self.active.push(number);
        }

        fn deactivate(&mut self, number: u32) {
            self.active.retain(|&other| other != number);
        }

        fn select(&mut self, _: Time, queues: &[ActiveQueue]) -> u32 {
            assert!(queues.iter().map(|queue| queue.number).eq(self.active.iter().copied()));
            assert!(queues.iter().all(|queue| queue.head_bytes == 1_000));
            let longer = |best: ActiveQueue, one: ActiveQueue| {
                if one.bytes > best.bytes { one } else { best }
            };
            queues.iter().copied().reduce(longer).unwrap().number
        }

        fn sent(&mut self, number: u32, bytes: u32) {
            assert!(self.active.contains(&number));
            self.sent += bytes;
        }
    }

    fn config() -> ExternalSchedulingConfig {
        let supplied = Supplied::with(Arc::new(Longest::default()) as Arc<dyn SchedulingClass>);
        ExternalSchedulingConfig { class: "mine:Mine".into(), sha256: None, supplied }
    }

    fn bench(packets: &[u32]) -> Bench {
        let mut bench = Bench::new(&per_flow(SchedulingConfig::Python(config())), &hosts(2));
        for &number in packets {
            bench.admit(flow(number), 1_000);
        }
        bench
    }

    #[test]
    fn the_queue_that_the_scheduler_names_sends() {
        assert_eq!(bench(&[1, 2, 2, 2]).drain(0), [2, 2, 1, 2]);
    }

    #[test]
    fn a_paused_queue_is_not_shown() {
        let mut bench = bench(&[1, 1, 1, 2]);
        let (first, _) = bench.depart(0).unwrap();
        bench.signal(0, Signal::PauseQueue(first.queue));
        let (second, _) = bench.depart(0).unwrap();
        assert_eq!([first.flow_hash, second.flow_hash], [1, 2]);
    }

    #[test]
    fn a_class_that_nobody_supplies_is_refused_and_a_state_is_not_saved() {
        let mut problems = Problems::default();
        let missing = ExternalSchedulingConfig { supplied: Supplied::default(), ..config() };
        SchedulingConfig::Python(missing).check(&mut problems);
        assert_eq!(problems.found()[0].path, "class");
        let egress = Egress { node: 0, port: 0, rate: BitRate::from_gbps(100), packet: 1_048 };
        let scheduler = ExternalScheduler::new(&config(), &egress);
        assert!(borsh::to_vec(&scheduler).is_err());
        assert!(ExternalScheduler::deserialize(&mut [0].as_slice()).is_err());
    }
}
