//! Sources of events of a partition, and the clocks among them: when traffic, samples and the end of a
//! window are due.
//!
//! Sources, in the order that breaks ties: the arrival on each wire; the end of each transmission
//! (only while something waits); a timer for each host; the end of a timed pause of each link; a
//! clock for each switch whose policy has one; a few clocks of the partition, among which each switch
//! has one for the signals that it repeats; for each flow, by number, the timers of its receiving end
//! and of its sending end; the end of the window.

use penstock_engine::SourceId;
use penstock_fabric::SwitchTimer;
use penstock_packet::Observer;
use penstock_transport::Timer;
use penstock_units::{Fidelity, Time};

use super::Partition;
use crate::measure::backlog;

/// The clocks of a partition, in the order that breaks ties.
#[derive(Clone, Copy)]
pub(crate) enum Clock {
    /// Links fail or recover now.
    Routes,
    /// The next flow arrives now, or flows hear of what they wait for, or a flow inside a server ends.
    Traffic,
    /// Buffers and series are sampled now.
    Sample,
    /// The backlog is sampled now.
    Backlog,
    /// The traffic ends: no more flows are generated.
    Duration,
    /// The window ends. Its rank puts it behind all other events of its time.
    Window,
}

const CLOCKS: u32 = Clock::Window as u32 + 1;

/// The clocks below this number come before the repeated signals of switches.
const EARLY_CLOCKS: u32 = Clock::Duration as u32;

impl Clock {
    /// All clocks.
    const ALL: [Clock; CLOCKS as usize] = [
        Clock::Routes,
        Clock::Traffic,
        Clock::Sample,
        Clock::Backlog,
        Clock::Duration,
        Clock::Window,
    ];

    /// The purpose of the clock, in words.
    pub(crate) fn purpose(self) -> &'static str {
        match self {
            Clock::Routes => "links that fail or recover",
            Clock::Traffic => "the traffic",
            Clock::Sample => "samples",
            Clock::Backlog => "the backlog",
            Clock::Duration => "the end of the traffic",
            Clock::Window => "the end of the window",
        }
    }
}

/// Numbers of the event sources of a partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) links: u32,
    pub(crate) hosts: u32,
    pub(crate) switches: u32,
}

impl Sources {
    pub(crate) fn transmission(self, link: u32) -> SourceId {
        self.links + link
    }

    pub(crate) fn host(self, host: u32) -> SourceId {
        2 * self.links + host
    }

    /// The end of a timed pause of the sending end of `link`.
    pub(crate) fn release(self, link: u32) -> SourceId {
        2 * self.links + self.hosts + link
    }

    pub(crate) fn switch(self, switch: u32) -> SourceId {
        3 * self.links + self.hosts + switch
    }

    /// The clock for the signals that `switch` repeats.
    pub(crate) fn repeat(self, switch: u32) -> SourceId {
        self.switch(self.switches) + EARLY_CLOCKS + switch
    }

    pub(crate) fn clock(self, clock: Clock) -> SourceId {
        let clock = clock as u32;
        let repeats = if clock < EARLY_CLOCKS { 0 } else { self.switches };
        self.switch(self.switches) + clock + repeats
    }

    /// The end of the window: the first source with a rank.
    pub(crate) fn window(self) -> SourceId {
        self.clock(Clock::Window)
    }

    /// The clock that `source` is: a clock of the partition, or (as an error) the number of the switch whose
    /// repeated signals are due. `source` must not belong to a link, a host, a switch's own clock
    /// or a flow.
    pub(crate) fn kind(self, source: SourceId) -> Result<Clock, u32> {
        let place = source - self.switch(self.switches);
        if (EARLY_CLOCKS..EARLY_CLOCKS + self.switches).contains(&place) {
            return Err(place - EARLY_CLOCKS);
        }
        let clock = if place < EARLY_CLOCKS { place } else { place - self.switches };
        Ok(Clock::ALL[clock as usize])
    }

    /// The timers of the receiving end of `flow`, a flow's name, 1 or more.
    pub(crate) fn receiver(self, flow: u32) -> SourceId {
        self.switch(self.switches) + CLOCKS + self.switches + 2 * (flow - 1)
    }

    /// The name of the flow with timer number `timer` among the timers of all flows.
    pub(crate) fn flow(timer: u32) -> u32 {
        timer / 2 + 1
    }

    /// The timers of the sending end of `flow`, a flow's name.
    pub(crate) fn sender(self, flow: u32) -> SourceId {
        self.receiver(flow) + 1
    }
}

impl<O: Observer> Partition<O> {
    pub(crate) fn start_clocks(&mut self) {
        let scenario = &self.setting.scenario;
        self.wheel.schedule(self.sources.clock(Clock::Duration), scenario.duration);
        self.wheel.schedule(self.sources.clock(Clock::Backlog), Time::ZERO);
        if scenario.measure.sample_interval > Time::ZERO {
            self.wheel.schedule(self.sources.clock(Clock::Sample), Time::ZERO);
        }
        self.start_switches();
        self.expect_route_change();
        self.expect_roots();
        self.expect_flow();
    }

    /// Starts a window that ends at `end`: takes in what has come from elsewhere.
    pub(crate) fn open_window(&mut self, end: Time) {
        self.opened = self.now();
        self.receive_mail();
        self.measured.backlog.open_window();
        self.expect_flow();
        self.is_at_end = false;
        self.schedule_window(end);
    }

    /// A flow completes `now`, so the end of this window matters: further windows that were to be taken
    /// with it are left for later. Only a single partition takes several. What happens in the instant in
    /// which a window was opened belongs to that window: to the first one, or it was heard of too late for
    /// the one before.
    pub(super) fn end_windows(&mut self, now: Time) {
        let length = self.setting.window.as_ps();
        let first = self.opened.as_ps() / length + 1;
        let number = now.as_ps().div_ceil(length).max(first);
        let end = Time::from_ps(number * length);
        let window = self.sources.window();
        if end < self.wheel.due(window) {
            self.wheel.cancel(window);
            self.schedule_window(end);
        }
    }

    fn schedule_window(&mut self, end: Time) {
        let window = self.sources.window();
        match self.ns3 {
            None => self.wheel.schedule(window, end),
            Some(_) => self.wheel.schedule_ranked(window, end, u64::MAX),
        }
    }

    #[inline(never)] // few events are timers, and the loop of the others must stay short
    pub(crate) fn on_timer(&mut self, now: Time, timer: SourceId) {
        let sources = self.sources;
        if timer < sources.release(0) {
            let host = timer - sources.host(0);
            self.offer(now, self.uplinks[host as usize]);
            return self.serve(now, host);
        } else if timer < sources.switch(0) {
            return self.on_port_timer(now, timer - sources.release(0));
        } else if timer < sources.switch(sources.switches) {
            let switch = (timer - sources.switch(0)) as usize;
            return self.on_switch_timer(now, switch, SwitchTimer::Clock);
        } else if timer >= sources.receiver(1) {
            return self.on_flow_timer(now, timer - sources.receiver(1));
        }
        self.measured.clock_steps += 1;
        match sources.kind(timer) {
            Ok(Clock::Routes) => self.on_route_change(now),
            Ok(Clock::Traffic) => self.on_traffic(now),
            Ok(Clock::Sample) => self.on_sample(now),
            Ok(Clock::Backlog) => self.on_backlog(now),
            Ok(Clock::Duration) => self.on_duration(),
            Ok(Clock::Window) => self.is_at_end = true,
            Err(switch) => {
                self.measured.clock_steps -= 1;
                self.on_switch_timer(now, switch as usize, SwitchTimer::Repeat);
            }
        }
    }

    /// The timer at the sending end of `link` is due.
    fn on_port_timer(&mut self, now: Time, link: u32) {
        let wire = &self.wires[link as usize];
        let (node, port) = (wire.from, wire.from_port);
        match node.checked_sub(self.sources.hosts) {
            None => {
                let (host, mut turn) = self.lend(now, node);
                host.on_timer(&mut turn, Timer::Uplink);
                self.serve(now, node);
            }
            Some(switch) => self.on_switch_timer(now, switch as usize, SwitchTimer::Port(port)),
        }
    }

    /// Schedules the start of the next flow, the next event for which a flow waits, or what is next inside
    /// servers.
    pub(super) fn expect_flow(&mut self) {
        let clock = self.sources.clock(Clock::Traffic);
        let start = self.starts.front().map(|start| start.arrival.time);
        let due = start.into_iter().chain(self.dependents.due()).chain(self.inner.due());
        let Some(time) = due.min() else { return };
        match self.setting.scenario.fidelity {
            Fidelity::Exact => self.wheel.schedule_earlier(clock, time),
            Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc if self.wheel.is_pending(clock) => {}
            // In the ns-3 HPCC simulator a flow starts after everything else of its nanosecond, in the
            // one with BFC before.
            Fidelity::Ns3Hpcc => self.wheel.schedule_ranked(clock, time, u64::MAX),
            Fidelity::Ns3Bfc => self.wheel.schedule_ranked(clock, time, 0),
        }
    }

    /// Something is due inside a server; else a flow starts, or an event takes effect for which a flow waits.
    fn on_traffic(&mut self, now: Time) {
        let is_announced = self.starts.front().is_some_and(|start| start.arrival.time <= now);
        if self.inner.due().is_some_and(|time| time <= now) {
            self.on_inner(now);
        } else if let Some(start) = is_announced.then(|| self.starts.pop_front()).flatten() {
            self.start_flow(now, &start);
        } else {
            self.on_news(now);
        }
        self.expect_flow();
    }

    fn on_sample(&mut self, now: Time) {
        self.sample(now);
        let next = now + self.setting.scenario.measure.sample_interval;
        self.wheel.schedule(self.sources.clock(Clock::Sample), next);
    }

    fn on_backlog(&mut self, now: Time) {
        let started = self.outbox.iter().flat_map(|mail| &mail.starts);
        let unknown = started.map(|start| i128::from(start.arrival.size)).sum::<i128>();
        let (flows, inside) = self.inner.backlog(now);
        let beside = (flows, unknown + inside);
        if self.measured.backlog.sample(now, &self.slots, &self.flows, beside) {
            let next = now + backlog::interval(self.setting.scenario.duration);
            self.wheel.schedule(self.sources.clock(Clock::Backlog), next);
        }
    }
}
