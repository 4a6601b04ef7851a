//! The NIC against a slow model that looks at every flow for every packet.

use penstock_packet::EmptyQueue;
use penstock_transport::{
    Acknowledgement, ControllerConfig, HostConfig, Nic, NicConfig, NicScheduling, Readiness, Sender,
};
use penstock_units::random::Pcg32;
use penstock_units::{Fidelity, Time};
use proptest::prelude::*;

use crate::{acknowledgement, dctcp, go_back_n, host, line_rate, path, window};

const QUEUES: u32 = 6;
const CLASSES: u32 = 2;

/// Something that happens to a NIC.
#[derive(Clone, Debug)]
enum Step {
    Start { size: u64, class: u8, controller: ControllerConfig },
    Finish { pick: usize },
    Acknowledge { pick: usize, is_marked: bool },
    Rewind { pick: usize },
    PauseQueue(u16),
    ResumeQueue(u16),
    SetPausedQueues(u128),
    PauseClass(u8),
    ResumeClass(u8),
    Pass(u64),
    Send,
}

fn step() -> impl Strategy<Value = Step> {
    let queue = 0..QUEUES as u16;
    let class = 0..CLASSES as u8;
    let controller = prop_oneof![Just(line_rate()), Just(window(3_000)), Just(dctcp())];
    prop_oneof![
        3 => (1u64..20_000, class.clone(), controller)
            .prop_map(|(size, class, controller)| Step::Start { size, class, controller }),
        1 => any::<usize>().prop_map(|pick| Step::Finish { pick }),
        6 => (any::<usize>(), any::<bool>())
            .prop_map(|(pick, is_marked)| Step::Acknowledge { pick, is_marked }),
        1 => any::<usize>().prop_map(|pick| Step::Rewind { pick }),
        2 => queue.clone().prop_map(Step::PauseQueue),
        2 => queue.prop_map(Step::ResumeQueue),
        1 => any::<u128>().prop_map(Step::SetPausedQueues),
        1 => class.clone().prop_map(Step::PauseClass),
        1 => class.prop_map(Step::ResumeClass),
        3 => (0u64..400_000).prop_map(Step::Pass),
        10 => Just(Step::Send),
    ]
}

/// A NIC, and the knowledge of a slow model: the live flows, their classes and the pauses.
struct Model {
    nic: Nic,
    flows: Vec<Sender>,
    classes: Vec<u8>,
    live: Vec<u32>,
    paused_queues: [bool; QUEUES as usize],
    paused_classes: [bool; CLASSES as usize],
    rng: Pcg32,
    now: Time,
    config: HostConfig,
}

impl Model {
    fn new(scheduling: NicScheduling) -> Self {
        let nic =
            NicConfig { queues: QUEUES, reacts: true, empty_queue: EmptyQueue::Any, scheduling };
        let config = HostConfig { nic, ..host(line_rate(), go_back_n()) };
        Model {
            nic: Nic::new(&config.nic, CLASSES, Fidelity::Exact),
            flows: Vec::new(),
            classes: Vec::new(),
            live: Vec::new(),
            paused_queues: [false; QUEUES as usize],
            paused_classes: [false; CLASSES as usize],
            rng: Pcg32::new(3, 5),
            now: Time::ZERO,
            config,
        }
    }

    fn picked(&self, pick: usize) -> Option<u32> {
        (!self.live.is_empty()).then(|| self.live[pick % self.live.len()])
    }

    fn can_send(&self, slot: u32) -> bool {
        let flow = &self.flows[slot as usize];
        flow.readiness(self.now) == Readiness::Ready
            && !self.paused_queues[usize::from(flow.queue())]
            && !self.paused_classes[usize::from(self.classes[slot as usize])]
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Start { size, class, controller } => self.start(size, class, controller),
            Step::Finish { pick } => self.finish(pick),
            Step::Acknowledge { pick, is_marked } => {
                self.feedback(pick, |flow| Acknowledgement {
                    is_marked,
                    ..acknowledgement((flow.acknowledged() + 1_000).min(flow.next()))
                });
            }
            Step::Rewind { pick } => self.feedback(pick, |flow| Acknowledgement {
                is_negative: true,
                ..acknowledgement(flow.acknowledged())
            }),
            Step::PauseQueue(queue) => {
                self.nic.pause_queue(queue);
                self.paused_queues[usize::from(queue)] = queue != 0;
            }
            Step::ResumeQueue(queue) => {
                self.nic.resume_queue(queue, &mut self.flows);
                self.paused_queues[usize::from(queue)] = false;
            }
            Step::SetPausedQueues(bitmap) => {
                self.nic.set_paused_queues((0, bitmap), &mut self.flows);
                for queue in 1..QUEUES as usize {
                    self.paused_queues[queue] = bitmap & (1 << queue) != 0;
                }
            }
            Step::PauseClass(class) => {
                self.nic.pause_class(class);
                self.paused_classes[usize::from(class)] = true;
            }
            Step::ResumeClass(class) => {
                self.nic.resume_class(class);
                self.paused_classes[usize::from(class)] = false;
            }
            Step::Pass(ps) => self.now += Time::from_ps(ps),
            Step::Send => self.send(),
        }
    }

    fn start(&mut self, size: u64, class: u8, controller: ControllerConfig) {
        let slot = self.flows.len() as u32;
        self.config.controller = controller;
        self.flows.push(Sender::new(size, &self.config, &path(), self.now));
        self.classes.push(class);
        self.live.push(slot);
        self.nic.start(slot, (class, u64::from(slot)), &mut self.flows, &mut self.rng);
    }

    fn finish(&mut self, pick: usize) {
        if let Some(slot) = self.picked(pick) {
            self.nic.finish(slot, &mut self.flows);
            self.live.retain(|&other| other != slot);
        }
    }

    fn feedback(&mut self, pick: usize, ack: impl Fn(&Sender) -> Acknowledgement<'static>) {
        if let Some(slot) = self.picked(pick) {
            let flow = &mut self.flows[slot as usize];
            let ack = ack(flow);
            flow.on_acknowledgement(self.now, &ack);
            self.nic.on_change(slot, self.now, &mut self.flows, &mut self.rng);
        }
    }

    /// Compares what the NIC sends with what the model allows.
    fn send(&mut self) {
        let able: Vec<u32> =
            self.live.iter().copied().filter(|&slot| self.can_send(slot)).collect();
        let lowest = able.iter().map(|&slot| self.classes[slot as usize]).min();
        let Some(slot) = self.nic.next(self.now, &mut self.flows) else {
            assert_eq!(able, [0u32; 0], "the NIC rests though flows can send");
            self.check_wake();
            return;
        };
        assert!(able.contains(&slot), "flow {slot} cannot send");
        assert_eq!(Some(self.classes[slot as usize]), lowest);
        if self.config.nic.scheduling == NicScheduling::Srf {
            let remaining = |slot: u32| (self.flows[slot as usize].remaining_unsent(), slot);
            let fewest = able
                .iter()
                .copied()
                .filter(|&slot| Some(self.classes[slot as usize]) == lowest)
                .map(remaining)
                .min();
            assert_eq!(Some(remaining(slot)), fewest);
        }
        self.flows[slot as usize].send(self.now);
        self.nic.after_send(slot, self.now, &mut self.flows);
    }

    /// Checks that a resting NIC wakes no later than the first paced flow that nothing pauses.
    fn check_wake(&self) {
        for &slot in &self.live {
            let flow = &self.flows[slot as usize];
            let is_paused = self.paused_queues[usize::from(flow.queue())]
                || self.paused_classes[usize::from(self.classes[slot as usize])];
            if let (Readiness::At(time), false) = (flow.readiness(self.now), is_paused) {
                assert!(self.nic.wake_at(self.now, &self.flows).is_some_and(|wake| wake <= time));
            }
        }
    }
}

proptest! {
    #[test]
    fn the_nic_sends_what_the_model_allows(
        scheduling in prop_oneof![Just(NicScheduling::RoundRobin), Just(NicScheduling::Srf)],
        steps in prop::collection::vec(step(), 1..300),
    ) {
        let mut model = Model::new(scheduling);
        for step in steps {
            model.apply(step);
        }
    }

    #[test]
    fn flows_in_turn_share_the_nic_evenly(flows in 1usize..50, rounds in 1usize..20) {
        let mut model = Model::new(NicScheduling::RoundRobin);
        for _ in 0..flows {
            model.start(0, 0, line_rate());
        }
        for _ in 0..flows * rounds {
            model.send();
        }
        prop_assert!(model.flows.iter().all(|flow| flow.next() == 1_000 * rounds as u64));
    }
}
