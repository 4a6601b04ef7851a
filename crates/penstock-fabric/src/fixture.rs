//! A switch on a bench: tests feed packets and signals to the switch and step it by hand.

mod driver;
pub(crate) mod refusal;

use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{
    ControlFrame, EmptyQueue, Moment, Observation, Observer, Packet, PacketEvent, PacketFlags,
    PacketKind, PacketPool, PortFacts, Signal, SwitchFacts, SwitchFrames,
};
use penstock_units::random::Pcg32;
use penstock_units::{BitRate, Bytes, Fidelity, Time};

use crate::parts::Draws;
use crate::scheduling::fifo;

use crate::admission::infinite::InfiniteConfig;
use crate::admission::static_port::StaticConfig;
use crate::assignment::class::ByClassConfig;
use crate::assignment::dynamic::{AcknowledgementQueue, DynamicConfig, FullPort, QueueSearch};
use crate::assignment::per_flow::PerFlowConfig;
use crate::backpressure::bfc::{BfcConfig, ThresholdConfig};
use crate::backpressure::none::NoneConfig;
use crate::queue::DataQueue;
use crate::scheduling::drr::DrrConfig;
use crate::scheduling::ideal_fair::{FullMemory, IdealFairConfig};
use crate::switch::{Arrival, Departure};
use crate::{
    AdmissionConfig, AssignmentConfig, BackpressureConfig, MarkingConfig, SchedulingConfig, Switch,
    SwitchConfig, marking,
};

/// Records every observation of a switch.
#[derive(Debug, Default)]
pub(crate) struct Recorder(pub Vec<Observation>);

impl Observer for Recorder {
    const IS_WATCHING: bool = true;
    fn watches(&self, _: u32, _: PacketEvent) -> bool {
        true
    }
    fn record(&mut self, observation: Observation) {
        self.0.push(observation);
    }
}

/// A flow, as one switch sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flow {
    pub hash: u32,
    pub ingress: u16,
    pub egress: u16,
    pub upstream_queue: u16,
    pub class: u8,
    pub is_incast: bool,
    pub remaining: u32,
}

/// Flow number `number`, from port 1 to port 0, from upstream queue 1.
pub(crate) fn flow(number: u32) -> Flow {
    Flow { hash: number, ingress: 1, egress: 0, upstream_queue: 1, ..Flow::default() }
}

/// A switch, its packets, its clock and its observations.
pub(crate) struct Bench {
    pub switch: Switch,
    pub pool: PacketPool,
    pub now: Time,
    pub recorder: Recorder,
    /// Offset of the next packet in its flow.
    pub offset: u64,
    /// What the last packet that arrived or left has made necessary upstream.
    pub frame: Option<ControlFrame>,
}

impl Bench {
    pub(crate) fn new(config: &SwitchConfig, facts: &SwitchFacts) -> Self {
        Bench {
            switch: Switch::new(config, facts, Draws::new(Pcg32::new(1, 1))),
            pool: PacketPool::new(config.marking.has_telemetry()),
            now: Time::ZERO,
            recorder: Recorder::default(),
            offset: 0,
            frame: None,
        }
    }

    /// A packet of `flow` arrives with `flags` from the switch before.
    pub(crate) fn arrive_with(&mut self, flow: Flow, bytes: u16, flags: PacketFlags) -> Arrival {
        let mut packet = Packet {
            flow_hash: flow.hash,
            offset: self.offset,
            remaining: flow.remaining,
            wire_bytes: bytes,
            queue: flow.upstream_queue,
            class: flow.class,
            flags,
            ..Packet::default()
        };
        self.offset += 1;
        packet.flags.insert(PacketFlags::TRACKED);
        if flow.is_incast {
            packet.flags.insert(PacketFlags::INCAST);
        }
        let id = self.pool.insert(packet);
        let (now, pool, observer) = (self.now, &mut self.pool, &mut self.recorder);
        let mut moment = Moment { now, pool, observer };
        let arrival = self.switch.on_arrival(&mut moment, id, flow.ingress, flow.egress);
        if arrival == Arrival::Dropped {
            self.pool.remove(id);
        }
        while let Some(displaced) = self.switch.take_displaced(&self.pool) {
            self.pool.remove(displaced);
        }
        self.frame = self.switch.take_caused();
        self.switch.verify(&self.pool).unwrap();
        arrival
    }

    pub(crate) fn arrive(&mut self, flow: Flow, bytes: u16) -> Arrival {
        self.arrive_with(flow, bytes, PacketFlags::default())
    }

    /// Admits a packet of `flow`. Answers the frame that the packet causes.
    pub(crate) fn admit(&mut self, flow: Flow, bytes: u16) -> Option<ControlFrame> {
        match self.arrive(flow, bytes) {
            Arrival::Queued { .. } => self.frame,
            Arrival::Dropped => panic!("there is room"),
        }
    }

    /// Admits a packet of `flow`. Answers the queue of the packet.
    pub(crate) fn queue_of(&mut self, flow: Flow) -> u16 {
        self.admit(flow, 1_000);
        self.recorder.0.last().unwrap().packet.queue
    }

    /// Takes the next packet out of `egress`. Answers the packet and the frame that its departure
    /// causes.
    pub(crate) fn depart(&mut self, egress: u16) -> Option<(Packet, Option<ControlFrame>)> {
        let Departure { id, .. } = self.departure(egress)?;
        let packet = self.pool[id];
        self.pool.remove(id);
        self.switch.verify(&self.pool).unwrap();
        Some((packet, self.frame))
    }

    /// Takes the next packet out of `egress` and leaves it in the pool. Answers the departure.
    pub(crate) fn departure(&mut self, egress: u16) -> Option<Departure> {
        let (now, pool, observer) = (self.now, &mut self.pool, &mut self.recorder);
        let mut moment = Moment { now, pool, observer };
        let departure = match self.switch.on_control_departure(&mut moment, egress) {
            Some(id) => Some(Departure { id, feedback: None, is_dropped: false }),
            None => self.switch.on_departure(&mut moment, egress),
        };
        self.frame = self.switch.take_caused();
        departure
    }

    /// Sends packets out of `egress` until none may leave. Answers their flows.
    pub(crate) fn drain(&mut self, egress: u16) -> Vec<u32> {
        core::iter::from_fn(|| self.depart(egress)).map(|(packet, _)| packet.flow_hash).collect()
    }

    /// The neighbour behind `port` signals.
    pub(crate) fn signal(&mut self, port: u16, signal: Signal) {
        let id = self.pool.insert(signal.frame(64));
        let (now, pool, observer) = (self.now, &mut self.pool, &mut self.recorder);
        let mut moment = Moment { now, pool, observer };
        self.switch.on_signal(&mut moment, port, signal, id);
        self.pool.remove(id);
        self.switch.verify(&self.pool).unwrap();
    }

    /// Queues an acknowledgement that leaves by `egress`.
    pub(crate) fn acknowledge(&mut self, egress: u16) {
        let kind = PacketKind::Acknowledgement;
        let id = self.pool.insert(Packet { kind, wire_bytes: 60, ..Packet::default() });
        self.switch.enqueue_control(&mut self.pool, id, egress);
    }

    pub(crate) fn queues(&self, egress: u16) -> &[DataQueue] {
        self.switch.port(egress).queues()
    }

    pub(crate) fn after(&mut self, span: Time) {
        self.now += span;
    }
}

/// One FIFO per port, no limits, no marks, no backpressure.
pub(crate) fn plain() -> SwitchConfig {
    SwitchConfig {
        admission: AdmissionConfig::Infinite(InfiniteConfig {}),
        assignment: AssignmentConfig::Class(ByClassConfig { classes: 1 }),
        scheduling: SchedulingConfig::Fifo(fifo::FifoConfig {}),
        marking: MarkingConfig::None(marking::none::NoneConfig {}),
        backpressure: BackpressureConfig::None(NoneConfig {}),
    }
}

/// Per-flow queues under `scheduling`.
pub(crate) fn per_flow(scheduling: SchedulingConfig) -> SwitchConfig {
    SwitchConfig { assignment: AssignmentConfig::PerFlow(PerFlowConfig {}), scheduling, ..plain() }
}

/// A switch under `scheduling` with a queue per flow, whose ports store `memory` bytes.
pub(crate) fn small_ports(scheduling: SchedulingConfig, memory: u64) -> Bench {
    let memory = StaticConfig { per_port: Bytes::new(memory), other_tiers: vec![] };
    let admission = AdmissionConfig::Static(memory);
    Bench::new(&SwitchConfig { admission, ..per_flow(scheduling) }, &hosts(2))
}

/// Bit-by-bit round robin that drops the packet that finds no room.
pub(crate) fn ideal_fair() -> SchedulingConfig {
    SchedulingConfig::IdealFair(IdealFairConfig { full_memory: FullMemory::DropArriving })
}

pub(crate) fn drr(quantum: u64) -> SchedulingConfig {
    SchedulingConfig::Drr(DrrConfig { quantum: Bytes::new(quantum) })
}

/// BFC's table for `queues` queues, the control queue included.
pub(crate) fn dynamic(queues: u32) -> DynamicConfig {
    DynamicConfig {
        queues,
        classes: 1,
        table_factor: 100,
        sticky_hop_rtts: 2.0,
        incast_queue: false,
        search: QueueSearch::Rotating,
        empty_queue: EmptyQueue::Any,
        grace_hop_rtts: 0.0,
        epoch_bits: 0,
        classes_share: false,
        full_port: FullPort::Random,
        acknowledgements: AcknowledgementQueue::Control,
        sampling: 1.0,
    }
}

pub(crate) fn hop_rtts(factor: f64) -> BfcConfig {
    BfcConfig {
        threshold: ThresholdConfig::HopRtts { factor },
        bitmap_interval: Time::ZERO,
        counts_last: true,
        elide_down_up: false,
        elide: Vec::new(),
    }
}

/// BFC with `assignment` and `backpressure`.
pub(crate) fn bfc(assignment: DynamicConfig, backpressure: BfcConfig) -> SwitchConfig {
    SwitchConfig {
        assignment: AssignmentConfig::Dynamic(assignment),
        scheduling: drr(1_048),
        backpressure: BackpressureConfig::Bfc(backpressure),
        ..plain()
    }
}

/// A 100 Gb/s, 1 us link to a host: its HRTT holds 25,000 bytes.
pub(crate) fn host_port() -> PortFacts {
    PortFacts {
        rate: BitRate::from_gbps(100),
        delay: Time::from_us(1),
        neighbour_pipeline: Time::ZERO,
        neighbour_tier: 0,
        neighbour: 0,
    }
}

/// Frames of 64 B, and no notices of drops.
pub(crate) const FRAMES: SwitchFrames = SwitchFrames { control: 64, notice: None, packet: 1_048 };

/// A top-of-rack switch with these ports.
pub(crate) fn switch_with(ports: Vec<PortFacts>) -> SwitchFacts {
    SwitchFacts {
        node: 9,
        tier: 1,
        pipeline_delay: Time::ZERO,
        ports,
        salt: 7,
        frames: FRAMES,
        fidelity: Fidelity::Exact,
        shared: None,
    }
}

/// A top-of-rack switch with `count` hosts.
pub(crate) fn hosts(count: usize) -> SwitchFacts {
    switch_with(vec![host_port(); count])
}
