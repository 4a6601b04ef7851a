//! Two hosts and a switch, driven by hand: a calendar, four wires, and the calls of the two contracts.
//!
//! Nothing here comes from the simulator. Events at one instant happen in the order of [`Source`]'s
//! variants.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use penstock_fabric::{
    Received, Routes, Switch, SwitchRequest, SwitchRequests, SwitchTimer, SwitchTurn,
};
use penstock_packet::{Packet, PacketId, PacketPool, Unobserved};
use penstock_transport::{Flows, Host, Opening, Request, Requests, Timer, Turn};
use penstock_units::{BitRate, Bytes, Time};

/// The sources of events, in the order in which they happen at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A packet arrives at the far end of a wire.
    Arrival(usize),
    /// A packet has left its node for a wire, and another packet waits for the wire.
    End(usize),
    /// The pacing timer of a host.
    Alarm(usize),
    /// The timer of the port at the sending end of a wire.
    Port(usize),
    /// The clock of the switch.
    Clock,
    /// The next flow starts.
    Traffic,
    /// The switch repeats its signals to its neighbours.
    Repeat,
    /// A timer of the flow with this number, at its receiving end (0) or its sending end (1).
    Flow(usize, u8),
}

/// When each source is due.
#[derive(Default)]
struct Calendar {
    due: BTreeMap<Source, Time>,
    order: BTreeSet<(Time, Source)>,
}

impl Calendar {
    fn set(&mut self, source: Source, time: Time) {
        self.cancel(source);
        self.due.insert(source, time);
        self.order.insert((time, source));
    }

    fn set_earlier(&mut self, source: Source, time: Time) {
        if self.due.get(&source).is_none_or(|&due| time < due) {
            self.set(source, time);
        }
    }

    fn cancel(&mut self, source: Source) {
        if let Some(due) = self.due.remove(&source) {
            self.order.remove(&(due, source));
        }
    }

    fn pop(&mut self) -> Option<(Time, Source)> {
        let next = self.order.pop_first()?;
        self.due.remove(&next.1);
        Some(next)
    }
}

/// One direction of a cable.
struct Wire {
    rate: BitRate,
    delay: Time,
    free_at: Time,
    has_end: bool,
    flying: VecDeque<(Time, PacketId)>,
}

/// A flow, and its completion time.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub opening: Opening,
    pub start: Time,
    pub completion: Option<Time>,
}

/// The ways of packets: port n of the switch leads to host n.
struct Ways;

impl Routes for Ways {
    fn egress(&mut self, _node: u32, packet: &mut Packet) -> u16 {
        (if packet.kind.goes_to_source() { packet.source } else { packet.destination }) as u16
    }
}

/// The driver of two hosts and a switch. Host n sends by wire 2n and receives by wire 2n + 1.
pub struct Driver {
    hosts: [Host; 2],
    switch: Switch,
    wires: Vec<Wire>,
    calendar: Calendar,
    pool: PacketPool,
    ends: Flows,
    ways: Ways,
    requests: Requests,
    told: SwitchRequests,
    /// The flows, in the order in which they start.
    flows: Vec<Flow>,
    next: usize,
    /// By name of a flow: its number.
    named: Vec<usize>,
    /// The length of a window.
    window: Time,
    /// Flows whose destinations do not know yet that they have completed: when they hear of it.
    closing: VecDeque<(Time, u32)>,
    pub drops: u64,
    /// Pauses that the switch has sent.
    pub pauses: u64,
    now: Time,
}

impl Driver {
    pub fn new(
        hosts: [Host; 2],
        switch: Switch,
        cables: [(BitRate, Time); 2],
        pool: PacketPool,
        flows: Vec<Flow>,
        window: Time,
    ) -> Self {
        let wire = |cable: usize| {
            let (rate, delay) = cables[cable];
            Wire { rate, delay, free_at: Time::ZERO, has_end: false, flying: VecDeque::new() }
        };
        Driver {
            hosts,
            switch,
            wires: [0, 0, 1, 1].map(wire).into(),
            calendar: Calendar::default(),
            pool,
            ends: Flows::default(),
            ways: Ways,
            requests: Requests::default(),
            told: SwitchRequests::default(),
            flows,
            next: 0,
            named: Vec::new(),
            window,
            closing: VecDeque::new(),
            drops: 0,
            pauses: 0,
            now: Time::ZERO,
        }
    }

    /// Runs until every flow is complete, or until `end`. Returns the flows, the number of drops
    /// and the number of pauses.
    pub fn run(mut self, end: Time) -> (Vec<Flow>, u64, u64) {
        self.with_switch(|switch, turn| switch.start(turn));
        self.serve_switch(0, None);
        self.calendar.set(Source::Traffic, self.flows[0].start);
        while let Some((now, source)) = self.calendar.pop() {
            if now > end || self.flows.iter().all(|flow| flow.completion.is_some()) {
                break;
            }
            if self.closing.front().is_some_and(|closing| closing.0 < now) {
                // A timer that is due may be one that the end of its flow cancels.
                self.calendar.set(source, now);
                self.close(now);
                continue;
            }
            self.now = now;
            self.step(source);
        }
        (self.flows, self.drops, self.pauses)
    }

    fn step(&mut self, source: Source) {
        match source {
            Source::Arrival(wire) => self.arrive(wire),
            Source::End(wire) => {
                self.wires[wire].has_end = false;
                self.send(wire);
                self.serve_host_of(wire);
            }
            Source::Alarm(host) => {
                self.offer(2 * host);
                self.serve_host(host);
            }
            Source::Port(wire) if wire % 2 == 0 => self.host_timer(wire / 2, Timer::Uplink),
            Source::Port(wire) => self.switch_timer(SwitchTimer::Port((wire / 2) as u16)),
            Source::Clock => self.switch_timer(SwitchTimer::Clock),
            Source::Repeat => self.switch_timer(SwitchTimer::Repeat),
            Source::Traffic => self.start_flow(),
            Source::Flow(number, end) => {
                let opening = &self.flows[number].opening;
                let (host, timer) = match end {
                    0 => (opening.destination, Timer::Receiver(opening.flow)),
                    _ => (opening.source, Timer::Sender(opening.flow)),
                };
                self.host_timer(host as usize, timer);
            }
        }
    }

    fn start_flow(&mut self) {
        let number = self.next;
        self.next += 1;
        let name = self.pool.name_flow();
        let flow = &mut self.flows[number];
        flow.opening.flow = name;
        let opening = flow.opening;
        let index = name as usize;
        if self.named.len() <= index {
            self.named.resize(index + 1, usize::MAX);
        }
        self.named[index] = number;
        self.with_host(opening.destination as usize, |host, turn| host.expect(turn, &opening));
        self.with_host(opening.source as usize, |host, turn| host.open(turn, &opening));
        self.serve_host(opening.source as usize);
        if let Some(next) = self.flows.get(self.next) {
            self.calendar.set(Source::Traffic, next.start);
        }
    }

    fn with_host<A>(&mut self, host: usize, call: impl FnOnce(&mut Host, &mut Turn<'_>) -> A) -> A {
        let mut turn = Turn {
            now: self.now,
            pool: &mut self.pool,
            flows: &mut self.ends,
            requests: &mut self.requests,
        };
        call(&mut self.hosts[host], &mut turn)
    }

    fn host_timer(&mut self, host: usize, timer: Timer) {
        self.with_host(host, |host, turn| host.on_timer(turn, timer));
        self.serve_host(host);
    }

    fn serve_host_of(&mut self, wire: usize) {
        if wire.is_multiple_of(2) {
            self.serve_host(wire / 2);
        }
    }

    fn serve_host(&mut self, host: usize) {
        while let Some(request) = self.requests.poll() {
            match request {
                Request::Timer(timer, time) => {
                    let source = match timer {
                        Timer::Receiver(name) => Source::Flow(self.named[name as usize], 0),
                        Timer::Sender(name) => Source::Flow(self.named[name as usize], 1),
                        Timer::Uplink => Source::Port(2 * host),
                    };
                    self.calendar.set_earlier(source, time);
                }
                Request::Completed(name) => self.complete(name),
                Request::Ready => self.offer(2 * host),
                Request::Lapsed(_) => {}
                Request::Due(timer) => {
                    self.with_host(host, |host, turn| host.on_timer(turn, timer));
                }
                Request::Alarm(_) => unreachable!("of another fidelity"),
            }
        }
    }

    fn complete(&mut self, name: u32) {
        let flow = &mut self.flows[self.named[name as usize]];
        flow.completion = Some(self.now - flow.start);
        self.calendar.cancel(Source::Flow(self.named[name as usize], 1));
        let windows = self.now.as_ps().div_ceil(self.window.as_ps());
        self.closing.push_back((self.window * windows, name));
    }

    /// The destinations of flows that have completed hear of it at the end of the window, before
    /// anything happens after that.
    fn close(&mut self, now: Time) {
        while let Some(&(end, name)) = self.closing.front().filter(|closing| closing.0 < now) {
            self.now = end;
            self.closing.pop_front();
            let number = self.named[name as usize];
            let destination = self.flows[number].opening.destination as usize;
            self.with_host(destination, |host, turn| host.close(turn, name));
            self.calendar.cancel(Source::Flow(number, 0));
            self.pool.give_back(name);
        }
    }

    fn with_switch<A>(
        &mut self,
        call: impl FnOnce(&mut Switch, &mut SwitchTurn<'_, Unobserved, Ways>) -> A,
    ) -> A {
        let mut turn = SwitchTurn {
            now: self.now,
            pool: &mut self.pool,
            observer: &mut Unobserved,
            routes: &mut self.ways,
            requests: &mut self.told,
        };
        call(&mut self.switch, &mut turn)
    }

    fn switch_timer(&mut self, timer: SwitchTimer) {
        self.with_switch(|switch, turn| switch.on_timer(turn, timer));
        self.serve_switch(0, None);
    }

    fn serve_switch(&mut self, done: usize, busy: Option<usize>) {
        let mut next = done;
        while let Some(request) = self.told.get(next) {
            next += 1;
            let port = match request {
                SwitchRequest::Told(frame) => {
                    self.pauses += u64::from(frame.signal.is_pause());
                    frame.port
                }
                SwitchRequest::Ready(port) => port,
                SwitchRequest::Lapsed { .. } => continue,
                SwitchRequest::Dropped(_) => {
                    self.drops += 1;
                    continue;
                }
                SwitchRequest::Timer(timer, time) => {
                    let source = match timer {
                        SwitchTimer::Clock => Source::Clock,
                        SwitchTimer::Repeat => Source::Repeat,
                        SwitchTimer::Port(port) => Source::Port(wire_of(port)),
                    };
                    self.calendar.set_earlier(source, time);
                    continue;
                }
            };
            if Some(wire_of(port)) != busy {
                self.offer(wire_of(port));
            }
        }
        self.told.truncate(done);
    }

    fn arrive(&mut self, wire: usize) {
        let (_, id) = self.wires[wire].flying.pop_front().expect("it flies");
        if let Some(&(next, _)) = self.wires[wire].flying.front() {
            self.calendar.set(Source::Arrival(wire), next);
        }
        let end = wire / 2;
        if wire % 2 == 1 {
            self.with_host(end, |host, turn| host.receive(turn, id));
            return self.serve_host(end);
        }
        let done = self.told.len();
        let received = self.with_switch(|switch, turn| switch.receive(turn, end as u16, id));
        self.drops += u64::from(matches!(received, Received::Dropped { .. }));
        self.serve_switch(done, None);
        match received {
            Received::Queued(port) | Received::Waits(port) => self.offer(wire_of(port)),
            Received::Heard => self.offer(wire_of(end as u16)),
            Received::Dropped { .. } | Received::Refused => {}
        }
    }

    /// Something waits at the sending end of `wire`.
    fn offer(&mut self, wire: usize) {
        let free_at = self.wires[wire].free_at;
        if self.wires[wire].has_end {
            return;
        }
        if free_at > self.now {
            self.wires[wire].has_end = true;
            self.calendar.set(Source::End(wire), free_at);
        } else {
            self.send(wire);
        }
    }

    /// The wire is free: its sending end sends the next packet, if any.
    fn send(&mut self, wire: usize) {
        let end = wire / 2;
        if wire.is_multiple_of(2) {
            let sent = self.with_host(end, |host, turn| host.transmit(turn));
            let Some(id) = sent else { return self.sleep(end, self.now) };
            let more = self.hosts[end].has_more();
            self.put(wire, id, more);
            if !more {
                self.sleep(end, self.wires[wire].free_at);
            }
            return;
        }
        let done = self.told.len();
        let sent = self.with_switch(|switch, turn| switch.transmit(turn, end as u16));
        self.serve_switch(done, Some(wire));
        if let Some(id) = sent {
            let more = self.switch.has_more(end as u16);
            self.put(wire, id, more);
        }
    }

    fn sleep(&mut self, host: usize, earliest: Time) {
        if let Some(time) = self.hosts[host].ready_at(&self.ends, earliest) {
            self.calendar.set_earlier(Source::Alarm(host), time);
        }
    }

    fn put(&mut self, number: usize, id: PacketId, more: bool) {
        let wire = &mut self.wires[number];
        let bytes = Bytes::new(u64::from(self.pool[id].wire_bytes));
        wire.free_at = self.now + wire.rate.transmission_time(bytes);
        let arrival = wire.free_at + wire.delay;
        if wire.flying.is_empty() {
            self.calendar.set(Source::Arrival(number), arrival);
        }
        wire.flying.push_back((arrival, id));
        if more && !wire.has_end {
            wire.has_end = true;
            self.calendar.set(Source::End(number), wire.free_at);
        }
    }
}

/// The wire that begins at a port of the switch.
fn wire_of(port: u16) -> usize {
    2 * usize::from(port) + 1
}
