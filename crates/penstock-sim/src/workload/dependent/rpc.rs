//! Requests: clients ask servers, wait for all answers, think, and ask again.
//!
//! What it is: a closed loop. Each client has some requests at a time, each in a slot of its own. A request
//! goes to several servers at once (fan-out) and is over with the last answer. What it is not: a server does
//! not compute; its answer starts when it has the last byte of the request.
//!
//! A flow has the number slot * 2 * fan-out + place, plus the flows of a round times the number of the round.
//! The first fan-out places are requests, the others answers. Slots of one client are neighbours.

use penstock_transport::SizeShare;
use penstock_units::source::{NO_PRIORITIES, WHOLE_DURATION};
use penstock_units::{Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::closed_loop::{PauseConfig, Purpose, Streams, check_count, check_peers, pick, rounds};
use super::{Edge, Event, Pattern, PlannedFlow, Step, Waits};
use crate::label::LONGEST_LABEL;
use crate::topology::Topology;
use crate::workload::entry::Entry;
use crate::workload::hosts::{check_hosts, named};
use crate::workload::{SizeConfig, SizeDistribution, shortened};

/// The most requests of a client at a time, and the most servers of a request (our choice: more are no
/// client, but a fleet).
const MOST_AT_ONCE: u32 = 4_096;

/// Clients that ask servers and wait for the answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rpc {
    /// Name in the results.
    #[schemars(
        length(min = 1, max = LONGEST_LABEL),
        extend("default" = "rpc", "source" = "our choice: the kind")
    )]
    pub label: String,
    /// Priority class, 0 is served first.
    #[schemars(extend("default" = 0, "source" = NO_PRIORITIES))]
    pub class: u8,
    /// Hosts that ask; none: all.
    #[schemars(extend("default" = [], "source" = "our choice: every host asks"))]
    pub clients: Vec<u32>,
    /// Hosts that answer; none: all. No host asks itself.
    #[schemars(extend("default" = [], "source" = "our choice: every host answers"))]
    pub servers: Vec<u32>,
    /// Requests of a client at a time.
    #[schemars(
        range(min = 1, max = MOST_AT_ONCE),
        extend("default" = 1, "source" = "our choice: one after the other")
    )]
    pub outstanding: u32,
    /// Servers of a request, different ones drawn for each.
    #[schemars(
        range(min = 1, max = MOST_AT_ONCE),
        extend("default" = 1, "source" = "our choice: one server answers")
    )]
    pub fan_out: u32,
    /// Sizes of requests, to each server.
    pub request: SizeConfig,
    /// Sizes of answers, of each server.
    pub response: SizeConfig,
    /// How long a client pauses before each request.
    #[schemars(extend(
        "default" = { "kind": "fixed", "time": 0 },
        "source" = "our choice: the next request at once"
    ))]
    pub think: PauseConfig,
    /// When clients begin to think.
    #[schemars(extend("default" = 0, "source" = WHOLE_DURATION))]
    pub start: Time,
    /// No request starts later; none: the duration.
    ///
    /// Python writes the duration where a scenario has none.
    #[schemars(extend("default" = null, "source" = WHOLE_DURATION))]
    pub stop: Time,
}

impl Rpc {
    /// Checks the entry: hosts that exist, sizes, and that every client has servers.
    pub(in crate::workload) fn check(&self, entry: &Entry, problems: &mut Problems) {
        let hosts = entry.topology.hosts;
        check_hosts("clients", &self.clients, hosts, problems);
        check_hosts("servers", &self.servers, hosts, problems);
        let field = entry.field();
        for (name, sizes) in [("request", &self.request), ("response", &self.response)] {
            problems.value_of(sizes.distribution(&format!("{field}.{name}")));
        }
        let (clients, servers) = (named(&self.clients, hosts), named(&self.servers, hosts));
        check_peers("servers", (&clients, &servers), self.fan_out, problems);
        let flows = clients.len() as u64 * u64::from(self.outstanding) * u64::from(self.fan_out);
        check_count(flows, "outstanding", self.outstanding, problems);
    }

    /// The flows of a sound entry, by size, as many as an idle network allows.
    pub(in crate::workload) fn expected(&self, topology: &Topology) -> Option<Vec<SizeShare>> {
        let request = self.request.distribution("request").ok()?;
        let response = self.response.distribution("response").ok()?;
        let (fan_out, span) = (f64::from(self.fan_out), self.stop.saturating_sub(self.start));
        let bytes = fan_out * request.mean().max(response.mean());
        let slots = f64::from(self.outstanding);
        let clients = named(&self.clients, topology.hosts);
        let of = |&host: &u32| rounds(topology, host, (bytes, 2.0, self.think), slots, span);
        let flows = fan_out * clients.iter().map(of).sum::<f64>();
        Some(request.points(flows).chain(response.points(flows)).collect())
    }

    /// The entry with at most one row in each list, for a check that all rows have in common.
    pub(in crate::workload) fn shortened(&self) -> Rpc {
        Rpc {
            label: String::new(),
            clients: shortened(&self.clients),
            servers: shortened(&self.servers),
            request: self.request.shortened(),
            response: self.response.shortened(),
            ..*self
        }
    }
}

/// Requests that were checked.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    clients: Vec<u32>,
    servers: Vec<u32>,
    outstanding: u64,
    fan_out: u64,
    request: SizeDistribution,
    response: SizeDistribution,
    think: PauseConfig,
    start: Time,
    stop: Time,
    streams: Streams,
}

impl Plan {
    /// The plan of a sound entry, with its label, the number of hosts and the seed.
    pub(super) fn new(entry: &Rpc, (label, hosts, seed): (u16, u32, u64)) -> Option<Self> {
        Some(Plan {
            clients: named(&entry.clients, hosts),
            servers: named(&entry.servers, hosts),
            outstanding: entry.outstanding.into(),
            fan_out: entry.fan_out.into(),
            request: entry.request.distribution("request").ok()?,
            response: entry.response.distribution("response").ok()?,
            think: entry.think,
            start: entry.start,
            stop: entry.stop,
            streams: Streams::new(seed, label),
        })
    }

    /// When clients begin, and when they stop.
    pub(crate) fn window(&self) -> [Time; 2] {
        [self.start, self.stop]
    }

    /// The slot, the number of the round, and the place of `flow`.
    fn split(&self, flow: u64) -> [u64; 3] {
        let (round, within) = (flow / self.count(), flow % self.count());
        [within / (2 * self.fan_out), round, within % (2 * self.fan_out)]
    }

    fn client(&self, slot: u64) -> u32 {
        self.clients[(slot / self.outstanding) as usize]
    }
}

impl Pattern for Plan {
    fn count(&self) -> u64 {
        self.clients.len() as u64 * self.outstanding * 2 * self.fan_out
    }

    fn roots(&self, each: &mut dyn FnMut(u64, Time)) {
        for first in (0..self.count()).step_by(2 * self.fan_out as usize) {
            let start = self.start.saturating_add(self.pause(first));
            if start < self.stop {
                each(first, start);
            }
        }
    }

    fn flow(&self, flow: u64) -> PlannedFlow {
        let [slot, round, place] = self.split(flow);
        let (client, place_of_server) = (self.client(slot), (place % self.fan_out) as usize);
        let mut peers = self.streams.of(slot, round, Purpose::Peers);
        let server = pick(&self.servers, client, place_of_server, &mut peers);
        let mut sizes = self.streams.of(slot, round, Purpose::Size(place));
        match place < self.fan_out {
            true => PlannedFlow {
                source: client,
                destination: server,
                size: self.request.draw(&mut sizes),
            },
            false => PlannedFlow {
                source: server,
                destination: client,
                size: self.response.draw(&mut sizes),
            },
        }
    }

    fn step(&self, flow: u64) -> Step {
        let [slot, round, place] = self.split(flow);
        let step = u32::from(place >= self.fan_out);
        Step { iteration: round as u32, step, rank: slot as u32 }
    }

    fn group(&self, first: u64) -> u64 {
        if self.is_request(first) { self.fan_out } else { 1 }
    }

    fn waits(&self, first: u64) -> Waits {
        Waits::all(self.group(first))
    }

    fn dependents(&self, flow: u64, event: Event, each: &mut dyn FnMut(Edge)) {
        if event != Event::Received {
            return;
        }
        let [_, _, place] = self.split(flow);
        let waiter = match place < self.fan_out {
            true => flow + self.fan_out,
            false => flow - place + self.count(),
        };
        each(Edge::after(waiter, Time::ZERO));
    }

    fn pause(&self, first: u64) -> Time {
        let [slot, round, place] = self.split(first);
        match place {
            0 => self.think.draw(&mut self.streams.of(slot, round, Purpose::Pause)),
            _ => Time::ZERO,
        }
    }

    fn stop(&self, first: u64) -> Time {
        if self.is_request(first) { self.stop } else { Time::NEVER }
    }

    fn is_request(&self, first: u64) -> bool {
        first.is_multiple_of(2 * self.fan_out)
    }
}
