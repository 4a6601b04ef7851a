//! Incast: at every period, many hosts send to one at the same time.

use penstock_engine::stream::stream;
use penstock_units::{Bytes, Problem, Problems, Time};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::demand::Demand;
use super::draw;
use super::entry::{Entry, FlowArrival};
use super::load::{Knob, Offered};
use super::pair::{check_host, check_hosts};

/// An incast entry of the `traffic` list.
///
/// BFC's evaluation has degree 100, 20 MB in aggregate, one event every 500 us (BFC Sec. 6.2.2);
/// its generator draws the senders with replacement (BASELINES 0.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Name in tables and figures, not empty.
    pub label: String,
    /// Priority, 0 = highest data class.
    pub class: u8,
    /// Flows in an event, >= 1.
    pub degree: u32,
    /// Payload of all flows of an event together (bytes), >= degree; each has size / degree,
    /// rounded down.
    pub size: Bytes,
    /// Time between events (ps), > 0.
    pub period: Time,
    /// The first event (ps).
    pub start: Time,
    /// All events are earlier (ps), > start.
    pub stop: Time,
    /// The host that all send to, or none: a host drawn for every event.
    pub receiver: Option<u32>,
    /// The hosts that may send, without repetition, or none: every host. The receiver never sends.
    pub senders: Option<Vec<u32>>,
    /// Whether a host may send several flows of an event.
    pub replace: bool,
}

/// The flows of one entry.
#[derive(Clone, Debug)]
pub(super) struct IncastFlows {
    hosts: u32,
    fixed_receiver: Option<u32>,
    /// Candidates; without replacement, those before `taken` have had their turn in this event.
    pool: Vec<u32>,
    replace: bool,
    random: Pcg64Mcg,
    period: Time,
    stop: Time,
    degree: u32,
    /// Flows of the current event that were given out.
    sent: u32,
    taken: usize,
    /// The current event.
    next: FlowArrival,
}

impl Incast {
    /// Checks the entry and prepares its flows and, when there are several events, what they put on
    /// the links in the long run.
    pub(super) fn flows(
        &self,
        entry: &Entry,
        problems: &mut Problems,
    ) -> Option<(IncastFlows, Option<Offered>)> {
        let field = entry.field();
        entry.check_window(self.start, self.stop, problems);
        let is_positive = self.period > Time::ZERO;
        let remedy = "write a positive time between events";
        problems.unless(is_positive, &format!("{field}.period"), self.period, remedy);
        problems.value_of(self.check_sizes(&field));
        let hosts = entry.topology.hosts;
        problems.value_of(self.check_ends(&field, hosts));
        if !problems.is_sound(&field) {
            return None;
        }
        let pool = self.senders.clone().unwrap_or_else(|| (0..hosts).collect());
        let has_several = self.start.saturating_add(self.period) < self.stop;
        let offered = has_several.then(|| self.offered(entry, &pool));
        let size = self.size.get() / u64::from(self.degree);
        let flows = IncastFlows {
            hosts,
            fixed_receiver: self.receiver,
            pool,
            replace: self.replace,
            random: stream(entry.seed, &format!("traffic/{}/pairs", entry.index)),
            period: self.period,
            stop: self.stop,
            degree: self.degree,
            sent: 0,
            taken: 0,
            next: FlowArrival {
                time: self.start,
                source: 0,
                destination: 0,
                size,
                label: entry.index,
                class: self.class,
                destination_port: 0,
            },
        };
        Some((flows, offered))
    }

    fn check_sizes(&self, field: &str) -> Result<(), Problem> {
        if self.degree == 0 {
            let remedy = "write how many flows an event has, at least 1";
            return Err(Problem::new(format!("{field}.degree"), 0, remedy));
        }
        if self.size.get() < u64::from(self.degree) {
            let remedy =
                format!("it is shared by {} senders; write at least 1 byte for each", self.degree);
            return Err(Problem::new(format!("{field}.size"), self.size, remedy));
        }
        Ok(())
    }

    /// Receiver and senders exist, and there are enough senders beside the receiver.
    fn check_ends(&self, field: &str, hosts: u32) -> Result<(), Problem> {
        if let Some(receiver) = self.receiver {
            check_host(&format!("{field}.receiver"), receiver, hosts)?;
        }
        let available = match &self.senders {
            None => hosts as usize - 1,
            Some(senders) => {
                check_hosts(&format!("{field}.senders"), senders, hosts)?;
                if let Some(receiver) = self.receiver.filter(|host| senders.contains(host)) {
                    let remedy = "it is among the senders, and a host does not send to itself";
                    return Err(Problem::new(format!("{field}.receiver"), receiver, remedy));
                }
                // A receiver that is drawn may be one of the senders.
                senders.len() - usize::from(self.receiver.is_none())
            }
        };
        if available == 0 {
            let remedy = "the only sender may be drawn as the receiver; write another host, or a \
                          receiver";
            return Err(Problem::new(
                format!("{field}.senders"),
                format!("{:?}", self.senders.as_deref().unwrap_or_default()),
                remedy,
            ));
        }
        if !self.replace && self.degree as usize > available {
            let remedy = format!(
                "only {available} hosts can send to the receiver; write at most {available}, or \
                 replace = true"
            );
            return Err(Problem::new(format!("{field}.degree"), self.degree, remedy));
        }
        Ok(())
    }

    /// The mean over many events; with and without replacement, every possible sender of a receiver
    /// is as likely.
    fn offered(&self, entry: &Entry, pool: &[u32]) -> Offered {
        let (topology, routing) = (entry.topology, entry.routing);
        let mut demand = Demand::new(routing, topology.hosts);
        if let Some(receiver) = self.receiver {
            demand.add(routing, pool, &[receiver], 1.0);
        } else {
            // A receiver that may send has one sender less; within either group all are alike.
            let share = pool.len() as f64 / f64::from(topology.hosts);
            let mut is_sender = vec![false; topology.hosts as usize];
            pool.iter().for_each(|host| is_sender[*host as usize] = true);
            let others: Vec<u32> =
                (0..topology.hosts).filter(|host| !is_sender[*host as usize]).collect();
            demand.add(routing, pool, pool, share);
            demand.add(routing, pool, &others, 1.0 - share);
        }
        let flow = (self.size.get() / u64::from(self.degree)) as f64;
        let rate = 8.0 * flow * f64::from(self.degree) / self.period.as_s_f64();
        let crossings = demand.crossings(topology, routing);
        Offered {
            field: format!("{}.period", entry.field()),
            knob: Knob::Period(self.period),
            start: self.start,
            stop: self.stop,
            carried: crossings.iter().map(|times| times * rate).collect(),
        }
    }
}

impl IncastFlows {
    fn draw_receiver(&mut self) -> u32 {
        self.fixed_receiver
            .unwrap_or_else(|| draw::index(&mut self.random, self.hosts as usize) as u32)
    }

    /// A uniform candidate other than the receiver; without replacement, one that has not sent in
    /// this event (the next step of a Fisher-Yates shuffle).
    fn draw_sender(&mut self) -> u32 {
        loop {
            let pick = self.taken + draw::index(&mut self.random, self.pool.len() - self.taken);
            let sender = self.pool[pick];
            if !self.replace {
                self.pool.swap(self.taken, pick);
                self.taken += 1;
            }
            if sender != self.next.destination {
                return sender;
            }
        }
    }
}

impl Iterator for IncastFlows {
    type Item = FlowArrival;

    fn next(&mut self) -> Option<FlowArrival> {
        if self.sent == self.degree {
            self.next.time = self.next.time.saturating_add(self.period);
            (self.sent, self.taken) = (0, 0);
        }
        if self.next.time >= self.stop {
            return None;
        }
        if self.sent == 0 {
            self.next.destination = self.draw_receiver();
        }
        self.next.source = self.draw_sender();
        self.sent += 1;
        Some(self.next)
    }
}

#[cfg(test)]
#[path = "incast_tests.rs"]
mod tests;
