//! A switch beside a plain account of what it was told and what it did.

use std::collections::{BTreeMap, BTreeSet};

use penstock_fabric::parts::Draws;
use penstock_fabric::{
    AdmissionConfig, AssignmentConfig, BackpressureConfig, Received, Routes, SchedulingConfig,
    Switch, SwitchConfig, SwitchRequest, SwitchRequests, SwitchTimer, SwitchTurn,
};
use penstock_packet::{
    Balance, ControlFrame, Packet, PacketFlags, PacketId, PacketKind, PacketPool, PortFacts,
    Signal, SwitchFacts, SwitchFrames, Unobserved,
};
use penstock_units::random::Pcg32;
use penstock_units::{BitRate, Fidelity, Time};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::{FLOWS, PORTS};

/// What happens at the switch.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Arrive { flow: u32, bytes: u16 },
    Depart(u16),
    Queue { port: u16, queue: u16, is_paused: bool },
    Class { port: u16, class: u8, is_paused: bool },
    Bitmap { port: u16, bits: u16 },
    Hold { port: u16, nanoseconds: u32 },
    Acknowledge(u16),
    Wait(u64),
}

/// The switch, and what should be true of it.
pub struct Model<'a> {
    pub config: &'a SwitchConfig,
    pub switch: Switch,
    pub pool: PacketPool,
    now: Time,
    /// Packets of each flow that have come, also those without room.
    come: BTreeMap<u32, u64>,
    /// Control packets that left each port while data waited, since a data packet last had its turn.
    in_a_row: BTreeMap<u16, u32>,
    /// The last packet of each flow that left, by how many had come before it.
    last: BTreeMap<u32, u64>,
    /// Packets of each flow that were admitted, and that left.
    pub admitted: BTreeMap<u32, u64>,
    pub departed: BTreeMap<u32, u64>,
    /// What the neighbour behind each port has paused.
    pub paused_queues: BTreeSet<(u16, u16)>,
    pub paused_classes: BTreeSet<(u16, u8)>,
    pub paused_flows: BTreeSet<(u16, u32)>,
    /// Until when the neighbour behind each port holds it.
    pub held: BTreeMap<u16, Time>,
    /// What the switch has paused at the neighbour behind each port.
    pub told_queues: BTreeSet<(u16, u16)>,
    pub told_classes: BTreeSet<(u16, u8)>,
    pub told_flows: BTreeSet<(u16, u32)>,
    pub data_bytes: u64,
    pub drops: u64,
    /// Of these, how many had been queued.
    pub late_drops: u64,
    /// What the neighbour behind each port may send, where there are credits.
    balances: Vec<Option<Balance>>,
    /// Control packets that wait: acknowledgements, frames, congestion feedback.
    controls: u32,
    /// When each timer that the switch has asked for is due.
    timers: BTreeMap<u16, (SwitchTimer, Time)>,
    requests: SwitchRequests,
}

/// Flow n arrives by port n mod 3, and leaves by port n / 3 mod 4; a reply goes where data of the flow go.
/// What the switch tells the source leaves by the port by which data arrive.
struct ByFlow;

fn ports_of(flow: u32) -> (u16, u16) {
    ((flow % 3) as u16, ((flow / 3) % 4) as u16)
}

impl Routes for ByFlow {
    fn egress(&mut self, _node: u32, packet: &mut Packet) -> u16 {
        let (arrival, departure) = ports_of(packet.flow);
        let is_told = packet.kind.goes_to_source() && !packet.kind.is_reply();
        if is_told { arrival } else { departure }
    }
}

/// A number for each timer.
fn number_of(timer: SwitchTimer) -> u16 {
    match timer {
        SwitchTimer::Port(port) => port,
        SwitchTimer::Clock => PORTS,
        SwitchTimer::Repeat => PORTS + 1,
    }
}

/// The longest data packet on the wire (bytes).
pub const FULL_PACKET: u16 = 1_048;

/// The first ports are those of hosts.
pub const HOSTS: u16 = 2;

/// Delay of the link behind a port.
fn hop(port: u16) -> Time {
    Time::from_ns(500 + 200 * u64::from(port))
}

fn facts() -> SwitchFacts {
    let port = |number: u16| PortFacts {
        rate: BitRate::from_gbps(if number == 1 { 40 } else { 100 }),
        delay: hop(number),
        neighbour_pipeline: Time::ZERO,
        neighbour_tier: if number < HOSTS { 0 } else { 2 },
        neighbour: u32::from(number),
    };
    let ports = (0..PORTS).map(port).collect();
    let frames = SwitchFrames { control: 64, notice: None, packet: FULL_PACKET };
    SwitchFacts {
        node: 0,
        tier: 1,
        pipeline_delay: Time::ZERO,
        ports,
        salt: 3,
        frames,
        fidelity: Fidelity::Exact,
        shared: None,
    }
}

fn hash_of(flow: u32) -> u32 {
    flow.wrapping_mul(0x9e37_79b1)
}

fn class_of(config: &SwitchConfig, flow: u32) -> u8 {
    (flow % config.assignment.classes()) as u8
}

impl<'a> Model<'a> {
    pub fn new(config: &'a SwitchConfig) -> Self {
        let switch = Switch::new(config, &facts(), Draws::new(Pcg32::new(5, 5)));
        let mut model = Model {
            config,
            balances: (0..PORTS).map(|port| switch.opening_balance(port)).collect(),
            switch,
            pool: PacketPool::new(config.marking.has_telemetry()),
            now: Time::ZERO,
            come: BTreeMap::new(),
            in_a_row: BTreeMap::new(),
            last: BTreeMap::new(),
            admitted: BTreeMap::new(),
            departed: BTreeMap::new(),
            paused_queues: BTreeSet::new(),
            paused_classes: BTreeSet::new(),
            paused_flows: BTreeSet::new(),
            held: BTreeMap::new(),
            told_queues: BTreeSet::new(),
            told_classes: BTreeSet::new(),
            told_flows: BTreeSet::new(),
            data_bytes: 0,
            drops: 0,
            late_drops: 0,
            controls: 0,
            timers: BTreeMap::new(),
            requests: SwitchRequests::default(),
        };
        model.call(|switch, turn| switch.start(turn));
        model.serve().expect("no frames at the start");
        model
    }

    fn call<A>(
        &mut self,
        call: impl FnOnce(&mut Switch, &mut SwitchTurn<'_, Unobserved, ByFlow>) -> A,
    ) -> A {
        let mut turn = SwitchTurn {
            now: self.now,
            pool: &mut self.pool,
            observer: &mut Unobserved,
            routes: &mut ByFlow,
            requests: &mut self.requests,
        };
        call(&mut self.switch, &mut turn)
    }

    /// Does what the switch asks for.
    fn serve(&mut self) -> Result<(), TestCaseError> {
        let mut next = 0;
        while let Some(request) = self.requests.get(next) {
            next += 1;
            match request {
                SwitchRequest::Told(frame) => {
                    self.controls += 1;
                    self.on_frame(frame)?;
                }
                SwitchRequest::Ready(_)
                | SwitchRequest::Dropped(_)
                | SwitchRequest::Lapsed { .. } => {}
                SwitchRequest::Timer(timer, time) => {
                    let entry = self.timers.entry(number_of(timer)).or_insert((timer, time));
                    entry.1 = entry.1.min(time);
                }
            }
        }
        self.requests.truncate(0);
        Ok(())
    }

    pub fn apply(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            // Nobody pauses single queues where they are rounds; a scenario refuses it.
            Step::Queue { .. } | Step::Bitmap { .. }
                if matches!(self.config.assignment, AssignmentConfig::Rounds(_)) => {}
            // Nor where single flows are paused: then a step means the flow of that number.
            Step::Queue { port, queue, is_paused } if self.pauses_flows() => {
                self.pause_flow(port, u32::from(queue), is_paused);
            }
            Step::Bitmap { port, bits } if self.pauses_flows() => {
                for flow in 0..FLOWS {
                    self.pause_flow(port, flow, bits & (1 << flow) != 0);
                }
            }
            Step::Arrive { flow, bytes } => self.arrive(flow, bytes)?,
            Step::Depart(port) => drop(self.depart(port)?),
            Step::Queue { port, queue, is_paused } => {
                let signal = if is_paused { Signal::PauseQueue } else { Signal::ResumeQueue };
                self.signal(port, signal(queue));
                if usize::from(queue) < self.switch.queue_count(port) {
                    toggle(&mut self.paused_queues, (port, queue), is_paused);
                }
            }
            Step::Class { port, class, is_paused } => {
                let signal = if is_paused { Signal::PauseClass } else { Signal::ResumeClass };
                self.signal(port, signal(class));
                toggle(&mut self.paused_classes, (port, class), is_paused);
            }
            Step::Bitmap { port, bits } => {
                self.signal(port, Signal::QueueBitmap { epoch: 0, queues: u128::from(bits) });
                // A bitmap speaks of the queues that the port has.
                let queues = self.switch.queue_count(port).min(128) as u16;
                for queue in 0..queues {
                    let is_paused = queue < 16 && bits & (1 << queue) != 0;
                    toggle(&mut self.paused_queues, (port, queue), is_paused);
                }
            }
            Step::Acknowledge(port) => {
                let kind = PacketKind::Acknowledgement;
                let flow = 3 * u32::from(port);
                let packet = Packet { kind, flow, wire_bytes: 60, ..Packet::default() };
                let id = self.pool.insert(packet);
                let received = self.call(|switch, turn| switch.receive(turn, 0, id));
                prop_assert!(matches!(received, Received::Waits(_)));
                self.controls += 1;
            }
            Step::Hold { port, nanoseconds } => {
                self.signal(port, Signal::PauseTime(nanoseconds));
                let held = self.held.entry(port).or_insert(self.now);
                *held += Time::from_ns(u64::from(nanoseconds));
                prop_assert_eq!(self.switch.port(port).held_until(), *held);
            }
            Step::Wait(span) => self.pass(Time::from_ps(span))?,
        }
        Ok(())
    }

    pub fn pauses_flows(&self) -> bool {
        matches!(self.config.backpressure, BackpressureConfig::FlowPauses(_))
    }

    fn pause_flow(&mut self, port: u16, flow: u32, is_paused: bool) {
        let signal = if is_paused { Signal::PauseFlow } else { Signal::ResumeFlow };
        self.signal(port, signal(hash_of(flow)));
        toggle(&mut self.paused_flows, (port, flow), is_paused);
    }

    /// Time passes, with the timers of the switch on the way.
    fn pass(&mut self, span: Time) -> Result<(), TestCaseError> {
        let end = self.now + span;
        while let Some((&number, &(timer, due))) =
            self.timers.iter().min_by_key(|(number, (_, due))| (*due, **number))
        {
            if due > end {
                break;
            }
            self.timers.remove(&number);
            self.now = due;
            self.call(|switch, turn| switch.on_timer(turn, timer));
            self.serve()?;
        }
        self.now = end;
        self.held.retain(|_, until| *until > end);
        Ok(())
    }

    fn arrive(&mut self, flow: u32, bytes: u16) -> Result<(), TestCaseError> {
        let mut flags = PacketFlags::TRACKED;
        if flow.is_multiple_of(5) {
            flags.insert(PacketFlags::INCAST);
        }
        let (ingress, _) = ports_of(flow);
        let queue = 1 + (flow % self.upstream_queues()) as u16;
        let credit = &mut self.balances[usize::from(ingress)];
        if credit.as_ref().is_some_and(|credit| credit.is_dry(queue)) {
            return Ok(());
        }
        let come = self.come.entry(flow).or_default();
        let sent = *come;
        *come += 1;
        let mut packet = Packet {
            flow_hash: hash_of(flow),
            flow,
            offset: sent,
            remaining: 100_000u32.saturating_sub(sent as u32),
            wire_bytes: bytes,
            queue,
            class: class_of(self.config, flow),
            flags,
            ..Packet::default()
        };
        if let Some(credit) = credit {
            credit.pay(&mut packet);
        }
        let id = self.pool.insert(packet);
        let live = self.pool.live();
        let received = self.call(|switch, turn| switch.receive(turn, ingress, id));
        let displaced = self.count_displaced()?;
        match received {
            Received::Dropped { .. } => {
                let gone = if self.config.admission.trims() { 0 } else { displaced + 1 };
                prop_assert_eq!(self.pool.live(), live - gone);
                self.drops += 1;
            }
            received => {
                prop_assert!(matches!(received, Received::Queued(_)));
                *self.admitted.entry(flow).or_default() += 1;
                self.data_bytes += u64::from(bytes);
            }
        }
        self.count_feedback();
        self.serve()
    }

    /// Accounts for the packets that the last arrival has displaced: each was the first or the last one of
    /// its flow.
    fn count_displaced(&mut self) -> Result<usize, TestCaseError> {
        let mut next = 0;
        let mut displaced = 0;
        while let Some(request) = self.requests.get(next) {
            next += 1;
            let SwitchRequest::Dropped(packet) = request else { continue };
            let flow = (0..FLOWS).find(|&flow| hash_of(flow) == packet.flow_hash);
            *self.admitted.entry(flow.expect("a flow of the model")).or_default() -= 1;
            self.data_bytes -= u64::from(packet.wire_bytes);
            self.drops += 1;
            displaced += 1;
        }
        Ok(displaced)
    }

    /// Counts the congestion feedback that the last call has made.
    fn count_feedback(&mut self) {
        let mut next = 0;
        while let Some(request) = self.requests.get(next) {
            next += 1;
            self.controls += u32::from(matches!(request, SwitchRequest::Ready(_)));
        }
    }

    /// Accounts for the packets that the last call has dropped instead of sending them by `egress`, where the
    /// queues `held` were paused; whether there are any.
    fn count_late_drops(
        &mut self,
        egress: u16,
        held: &BTreeSet<u16>,
    ) -> Result<bool, TestCaseError> {
        let before = self.late_drops;
        let mut next = 0;
        while let Some(request) = self.requests.get(next) {
            next += 1;
            let SwitchRequest::Dropped(packet) = request else { continue };
            prop_assert_eq!(packet.port, egress);
            prop_assert!(!held.contains(&packet.queue), "a paused queue lost a packet");
            let flow = (0..FLOWS).find(|&flow| hash_of(flow) == packet.flow_hash);
            *self.departed.entry(flow.expect("a flow of the model")).or_default() += 1;
            self.data_bytes -= u64::from(packet.wire_bytes);
            self.drops += 1;
            self.late_drops += 1;
        }
        Ok(self.late_drops > before)
    }

    /// The next packet out of `egress`; checks that it may leave, and leaves in order.
    pub fn depart(&mut self, egress: u16) -> Result<Option<PacketKind>, TestCaseError> {
        let is_ready = self.switch.port(egress).is_ready();
        let held = self.held_queues(egress);
        let has_control = self.switch.port(egress).control_packets(&self.pool).next().is_some();
        let may_send = !self.held.contains_key(&egress);
        let has_data = may_send && self.switch.port(egress).active() > 0;
        let weight = match &self.config.admission {
            AdmissionConfig::Trimming(config) => config.control_weight,
            _ => u32::MAX,
        };
        let is_turn_of_data = *self.in_a_row.entry(egress).or_default() >= weight;
        prop_assert_eq!(self.switch.has_more(egress), is_ready);
        let departure = self.call(|switch, turn| switch.transmit(turn, egress));
        let has_dropped = self.count_late_drops(egress, &held)?;
        prop_assert_eq!(departure.is_some() || has_dropped, is_ready, "work conservation");
        let Some(id) = departure else {
            self.count_feedback();
            self.serve()?;
            return Ok(None);
        };
        let packet = self.pool[id];
        match packet.kind {
            PacketKind::Data => {
                prop_assert!(!held.contains(&packet.queue), "a paused queue sent");
                prop_assert!(!has_control || is_turn_of_data, "control packets go first");
                self.on_data_departure(&packet, id, egress)?;
            }
            kind => {
                if kind == PacketKind::CongestionFeedback {
                    prop_assert!((1..=63).contains(&packet.remaining));
                }
                prop_assert!(!has_data || !is_turn_of_data, "it is the turn of data");
                let is_quiet = has_dropped || self.requests.is_empty();
                prop_assert!(is_quiet, "a control packet caused something");
            }
        }
        let is_control = packet.kind != PacketKind::Data;
        if has_control && has_data {
            let in_a_row = self.in_a_row.entry(egress).or_default();
            *in_a_row = if is_control { *in_a_row + 1 } else { 0 };
        }
        self.pool.remove(id);
        self.count_feedback();
        self.serve()?;
        // Perhaps a frame that the packet dropped before it has caused.
        self.controls -= u32::from(is_control);
        // 80 ps a byte: the link is busy meanwhile.
        self.pass(Time::from_ps(80 * u64::from(packet.wire_bytes)))?;
        Ok(Some(packet.kind))
    }

    /// Whether the neighbour has paused a queue, or the flow at its head.
    pub fn is_paused(&self, port: u16, queue: u16) -> bool {
        if !self.pauses_flows() {
            return self.paused_queues.contains(&(port, queue));
        }
        let mut packets = self.switch.port(port).packets_in(usize::from(queue), &self.pool);
        packets.next().is_some_and(|head| self.paused_flows.contains(&(port, head.flow)))
    }

    /// The queues of a port that are paused and have no grace.
    fn held_queues(&self, egress: u16) -> BTreeSet<u16> {
        let queues = (0u16..).zip(self.switch.port(egress).queues());
        let held = queues.filter(|(number, queue)| {
            self.paused_queues.contains(&(egress, *number)) && queue.grace == 0
        });
        held.map(|(number, _)| number).collect()
    }

    fn on_data_departure(
        &mut self,
        packet: &Packet,
        id: PacketId,
        egress: u16,
    ) -> Result<(), TestCaseError> {
        prop_assert!(!self.paused_classes.contains(&(egress, packet.class)), "a paused class sent");
        prop_assert!(!self.held.contains_key(&egress), "a held port sent");
        prop_assert!(!self.paused_flows.contains(&(egress, packet.flow)), "a paused flow sent");
        prop_assert!(packet.queue > 0);
        *self.departed.entry(packet.flow).or_default() += 1;
        let last = self.last.insert(packet.flow, packet.offset);
        if self.is_in_order() {
            prop_assert!(last < Some(packet.offset), "flow {} out of order", packet.flow);
        }
        self.data_bytes -= u64::from(packet.wire_bytes);
        let telemetry = self.pool.telemetry(id);
        if self.config.marking.has_telemetry() {
            let port = self.switch.port(egress);
            prop_assert_eq!(telemetry.len(), 1);
            prop_assert_eq!(telemetry[0].queue_bytes, port.bytes());
            let sent = telemetry[0].sent_bytes + u64::from(packet.wire_bytes);
            prop_assert_eq!(sent, port.sent_bytes());
        } else {
            prop_assert!(telemetry.is_empty());
        }
        Ok(())
    }

    /// Whether the packets of a flow must leave in order: with sampling a flow may change its queue
    /// while packets that were not sampled wait in the old one, and groups of queues change places.
    fn is_in_order(&self) -> bool {
        !matches!(&self.config.assignment, AssignmentConfig::Dynamic(d) if d.sampling < 1.0)
            && !matches!(self.config.scheduling, SchedulingConfig::PriorityGroups(_))
    }

    /// Queues from which the neighbours' packets come, no more than the switch has at a port.
    fn upstream_queues(&self) -> u32 {
        match self.switch.ledger(0).len() as u32 {
            0 => 3,
            accounts => (accounts - 1).min(3),
        }
    }

    /// A frame tells the neighbour something that it does not know.
    fn on_frame(&mut self, frame: ControlFrame) -> Result<(), TestCaseError> {
        let port = frame.port;
        let is_news = match frame.signal {
            Signal::PauseQueue(queue) => self.told_queues.insert((port, queue)),
            Signal::ResumeQueue(queue) => self.told_queues.remove(&(port, queue)),
            Signal::PauseClass(class) => self.told_classes.insert((port, class)),
            // Timed pauses are told again and again.
            Signal::PauseClassFor { class, nanoseconds } => {
                self.told_classes.insert((port, class));
                nanoseconds > 0
            }
            Signal::ResumeClass(class) => self.told_classes.remove(&(port, class)),
            Signal::PauseFlow(flow) => self.told_flows.insert((port, flow)),
            Signal::ResumeFlow(flow) => self.told_flows.remove(&(port, flow)),
            Signal::QueueBitmap { .. } => false,
            Signal::PauseTime(time) => (1..=hop(port).as_ps() / 1_000).contains(&u64::from(time)),
            Signal::Credit { account, granted } => {
                let balance = self.balances[usize::from(port)].as_mut();
                balance.is_some_and(|balance| {
                    let was = balance.granted(account);
                    balance.on_credit(account, granted);
                    granted > was
                })
            }
        };
        prop_assert!(is_news, "{frame:?} again");
        Ok(())
    }

    fn signal(&mut self, port: u16, signal: Signal) {
        let id = self.pool.insert(signal.frame(64));
        let received = self.call(|switch, turn| switch.receive(turn, port, id));
        assert_eq!(received, Received::Heard);
        self.serve().expect("a frame that arrives causes none");
    }

    /// Without pauses everything leaves, and every account returns to zero.
    pub fn drain(&mut self) -> Result<(), TestCaseError> {
        let last = self.held.values().copied().max().unwrap_or(self.now);
        self.pass(last - self.now)?;
        for port in 0..PORTS {
            self.apply(Step::Bitmap { port, bits: 0 })?;
            for class in 0..8 {
                self.apply(Step::Class { port, class, is_paused: false })?;
            }
        }
        // What leaves by one port may make a frame for another.
        while (0..PORTS).any(|port| self.switch.has_more(port)) {
            for port in 0..PORTS {
                while self.depart(port)?.is_some() {
                    self.check()?;
                }
            }
        }
        prop_assert_eq!(&self.admitted_flows(), &self.departed);
        prop_assert_eq!((self.pool.live(), self.data_bytes, self.controls), (0, 0, 0));
        prop_assert!(self.told_queues.is_empty() && self.told_classes.is_empty(), "not resumed");
        prop_assert!(self.told_flows.is_empty(), "not resumed");
        let accounts = self.switch.accounts();
        prop_assert_eq!((accounts.total, accounts.shared), (0, 0));
        Ok(())
    }

    fn admitted_flows(&self) -> BTreeMap<u32, u64> {
        self.admitted.clone().into_iter().filter(|&(_, packets)| packets > 0).collect()
    }
}

fn toggle<T: Ord>(set: &mut BTreeSet<T>, element: T, is_in: bool) {
    if is_in {
        set.insert(element);
    } else {
        set.remove(&element);
    }
}
