//! Sources of events and the clocks among them: when traffic, samples and the end of a run are due.
//!
//! Sources, in the order that breaks ties: the arrival on each wire, the end of each transmission (only
//! while something waits), a timer for each host, the end of a timed pause of each link, a clock for
//! each switch whose policy has one, a few global clocks, and for each flow the timers of its receiving
//! and of its sending end.

use penstock_engine::SourceId;
use penstock_packet::Observer;
use penstock_units::Time;

use crate::measure::backlog;
use crate::simulation::Simulation;

/// The global clocks, in the order that breaks ties.
#[derive(Clone, Copy)]
pub(crate) enum Clock {
    /// Links fail or recover.
    Routes,
    /// The next flow arrives.
    Traffic,
    /// Buffers and series are sampled.
    Sample,
    /// The backlog is sampled.
    Backlog,
    /// Switches send the bitmap of paused queues.
    Bitmap,
    /// Somebody looks for deadlocks.
    Deadlock,
    /// No more traffic is generated.
    Duration,
    /// Nothing more is waited for.
    End,
}

const CLOCKS: u32 = Clock::End as u32 + 1;

impl Clock {
    /// What `clock`, a number among the global clocks, is for, in words.
    pub(crate) fn purpose(clock: u32) -> &'static str {
        const PURPOSES: [&str; CLOCKS as usize] = [
            "links that fail or recover",
            "the traffic",
            "samples",
            "the backlog",
            "bitmaps of paused queues",
            "deadlocks",
            "the end of the traffic",
            "the end",
        ];
        PURPOSES[clock as usize]
    }
}

/// Numbers of the event sources.
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

    pub(crate) fn clock(self, clock: Clock) -> SourceId {
        self.switch(self.switches) + clock as u32
    }

    /// The timers of the receiving end of the flow with this name, 1 or more.
    pub(crate) fn receiver(self, flow: u32) -> SourceId {
        self.switch(self.switches) + CLOCKS + 2 * (flow - 1)
    }

    /// The name of the flow that has timer number `timer` of all flows' timers.
    pub(crate) fn flow(timer: u32) -> u32 {
        timer / 2 + 1
    }

    /// The timers of the sending end of the flow with this name.
    pub(crate) fn sender(self, flow: u32) -> SourceId {
        self.receiver(flow) + 1
    }
}

impl<O: Observer> Simulation<O> {
    pub(crate) fn start_clocks(&mut self) {
        let (duration, drain) = (self.scenario.duration, self.scenario.drain);
        self.wheel.schedule(self.sources.clock(Clock::Duration), duration);
        self.wheel.schedule(self.sources.clock(Clock::End), duration + drain);
        self.wheel.schedule(self.sources.clock(Clock::Backlog), Time::ZERO);
        if self.scenario.measure.sample_interval > Time::ZERO {
            self.wheel.schedule(self.sources.clock(Clock::Sample), Time::ZERO);
        }
        if let Some(interval) = self.bitmap_interval() {
            self.wheel.schedule(self.sources.clock(Clock::Bitmap), interval);
        }
        if let Some(watch) = &self.deadlock_watch {
            self.wheel.schedule(self.sources.clock(Clock::Deadlock), watch.interval());
        }
        for switch in 0..self.network.switches.len() {
            self.expect_deadline(switch);
        }
        self.expect_route_change();
        self.expect_flow();
    }

    pub(crate) fn on_timer(&mut self, now: Time, timer: SourceId) {
        let sources = self.sources;
        if timer < sources.release(0) {
            let host = timer - sources.host(0);
            self.offer(now, self.network.uplinks[host as usize]);
            return self.serve(now, host);
        } else if timer < sources.switch(0) {
            return self.on_release(now, timer - sources.release(0));
        } else if timer < sources.switch(sources.switches) {
            return self.on_switch_deadline(now, (timer - sources.switch(0)) as usize);
        }
        match timer - sources.switch(sources.switches) {
            clock if clock == Clock::Routes as u32 => self.on_route_change(now),
            clock if clock == Clock::Traffic as u32 => self.on_traffic(now),
            clock if clock == Clock::Sample as u32 => self.on_sample(now),
            clock if clock == Clock::Backlog as u32 => self.on_backlog(now),
            clock if clock == Clock::Bitmap as u32 => self.on_bitmap(now),
            clock if clock == Clock::Deadlock as u32 => self.on_deadlock_clock(now),
            clock if clock == Clock::Duration as u32 => {
                self.has_passed_duration = true;
                self.measured.on_duration(&self.slots, &self.flows, &self.counters);
                self.stop_if_finished();
            }
            clock if clock == Clock::End as u32 => self.is_done = true,
            flow => self.on_flow_timer(now, flow - CLOCKS),
        }
    }

    /// Schedules the arrival of the next flow.
    fn expect_flow(&mut self) {
        self.pending = self.workload.next();
        if let Some(arrival) = &self.pending {
            let clock = self.sources.clock(Clock::Traffic);
            match self.ns3 {
                None => self.wheel.schedule(clock, arrival.time),
                // There a flow starts behind everything else of its nanosecond.
                Some(_) => self.wheel.schedule_ranked(clock, arrival.time, u64::MAX),
            }
        }
    }

    fn on_traffic(&mut self, now: Time) {
        if let Some(arrival) = self.pending.take() {
            self.start_flow(now, &arrival);
        }
        self.expect_flow();
    }

    /// Ends the run when nothing more can happen to a flow with an end.
    pub(crate) fn stop_if_finished(&mut self) {
        let has_endless = self.measured.endless > 0;
        if self.pending.is_none()
            && self.measured.live_finite == 0
            && (self.has_passed_duration || !has_endless)
        {
            self.is_done = true;
        }
    }

    fn on_sample(&mut self, now: Time) {
        let hosts = (&self.hosts[..], &self.flows);
        self.measured.sample(now, &self.network, &self.counters, hosts);
        let next = now + self.scenario.measure.sample_interval;
        self.wheel.schedule(self.sources.clock(Clock::Sample), next);
    }

    fn on_backlog(&mut self, now: Time) {
        if self.measured.backlog.sample(now, &self.slots, &self.flows) {
            let next = now + backlog::interval(self.scenario.duration);
            self.wheel.schedule(self.sources.clock(Clock::Backlog), next);
        }
    }
}
