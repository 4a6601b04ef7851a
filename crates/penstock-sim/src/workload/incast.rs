//! Incast: at every period, many hosts send to one at the same time.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_engine::stream::stream;
use penstock_units::random::Pcg64Mcg;
use penstock_units::source::{BFC_SIMULATOR, NO_PRIORITIES, WHOLE_DURATION};
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::demand::Demand;
use super::draw;
use super::entry::{Entry, FlowArrival, TO_THE_END, UNENDED_INSIDE};
use super::hosts::{check_host, check_hosts, share_inside};
use super::load::{Knob, Offered};
use super::size;
use crate::label::LONGEST_LABEL;
use crate::topology::Topology;

/// Many senders to one receiver at once, again and again.
///
/// BFC's evaluation has degree 100, 20 MB in aggregate, one event every 500 us (BFC Sec. 6.2.2);
/// its generator draws the senders with replacement (BASELINES 0.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Name in the results.
    #[schemars(
        length(min = 1, max = LONGEST_LABEL),
        extend("default" = "incast", "source" = "our choice: BFC's word")
    )]
    pub label: String,
    /// Priority class, 0 is served first.
    #[schemars(extend("default" = 0, "source" = NO_PRIORITIES))]
    pub class: u8,
    /// Senders.
    #[schemars(range(min = 1), extend("default" = 100, "source" = INCAST_OF_BFC))]
    pub degree: u32,
    /// Bytes of all senders together.
    ///
    /// Each sends size / degree, rounded down.
    #[schemars(range(min = 1), extend("default" = "20 MB", "source" = INCAST_OF_BFC))]
    pub size: Bytes,
    /// Time from one incast to the next.
    #[schemars(range(min = 1), extend("default" = "500 us", "source" = INCAST_OF_BFC))]
    pub period: Time,
    /// First incast.
    #[schemars(extend("default" = 0, "source" = WHOLE_DURATION))]
    pub start: Time,
    /// End of incasts; none: the duration.
    ///
    /// All are earlier. Python writes the duration where a scenario has none.
    #[schemars(extend("default" = null, "source" = WHOLE_DURATION))]
    pub stop: Time,
    /// The receiver; null: random each time.
    #[schemars(extend("default" = null, "source" = format!("{BFC_SIMULATOR}: uniform")))]
    pub receiver: Option<u32>,
    /// Hosts to draw senders from; null: all others.
    #[schemars(
        length(min = 1),
        extend("default" = null, "source" = format!("{BFC_SIMULATOR}: all"))
    )]
    pub senders: Option<Vec<u32>>,
    /// Each flow stops so long after its start, with what it has sent by then; 0: never.
    ///
    /// Senders that go on and off: `period` is on and off together. Such an incast counts as no load.
    #[schemars(extend("default" = 0, "source" = TO_THE_END))]
    pub lasts: Time,
    /// A sender may be drawn twice.
    #[schemars(extend("default" = true, "source" = format!("{BFC_SIMULATOR}: with replacement")))]
    pub replace: bool,
}

/// The source of the defaults.
const INCAST_OF_BFC: &str = "BFC 6.2.2: 100-to-1, 20 MB in aggregate, every 500 us";

/// The flows of one entry.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct IncastFlows {
    hosts: u32,
    fixed_receiver: Option<u32>,
    /// Hosts that may send. Without replacement, the hosts before `taken` have been drawn in this event.
    pool: Vec<u32>,
    replace: bool,
    random: Pcg64Mcg,
    period: Time,
    stop: Time,
    degree: u32,
    /// How many flows of the current event have been returned.
    sent: u32,
    taken: usize,
    /// The next flow of the current event.
    next: FlowArrival,
}

impl Incast {
    /// Checks the entry and prepares its flows. When there is more than one event, also calculates
    /// the mean load of the links.
    pub(super) fn flows(
        &self,
        entry: &Entry,
        problems: &mut Problems,
    ) -> Option<(IncastFlows, Option<Offered>)> {
        let field = entry.field();
        entry.check_window(self.start, self.stop, problems);
        let hosts = entry.topology.hosts;
        problems.within(&field, |problems| self.check(hosts, problems));
        if !problems.is_sound(&field) {
            return None;
        }
        let holds = self.lasts == Time::ZERO || self.inside(entry.topology) == 0.0;
        problems.unless(holds, &format!("{field}.lasts"), self.lasts, UNENDED_INSIDE);
        if !holds {
            return None;
        }
        let pool = self.senders.clone().unwrap_or_else(|| (0..hosts).collect());
        let has_several = self.start.saturating_add(self.period) < self.stop;
        let offered = (has_several && self.lasts == Time::ZERO).then(|| self.offered(entry, &pool));
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
                lasts: self.lasts,
            },
        };
        Some((flows, offered))
    }

    /// Checks that the receiver and the senders exist, that there are enough senders besides the
    /// receiver, and that each sender has a byte to send.
    fn check(&self, hosts: u32, problems: &mut Problems) {
        let least = Bytes::new(self.degree.into());
        let remedy = format!(
            "{} senders share it, so each would send less than a byte; use at least {least}",
            self.degree
        );
        // A size of zero is refused elsewhere.
        let holds = self.size >= least || self.size == Bytes::ZERO;
        problems.unless(holds, "size", self.size, remedy);
        let holds = self.size.get() <= size::MOST;
        problems.unless(holds, "size", self.size, size::write_at_most());
        if let Some(receiver) = self.receiver {
            check_host("receiver", receiver, hosts, problems);
        }
        let available = match &self.senders {
            None => hosts as usize - 1,
            Some(senders) => {
                check_hosts("senders", senders, hosts, problems);
                let own = self.receiver.filter(|receiver| senders.contains(receiver));
                let remedy =
                    "it is among the senders, and a host does not send to itself; take it out";
                problems.unless(own.is_none(), "receiver", own.unwrap_or_default(), remedy);
                // A receiver that is drawn at random may be one of the senders.
                senders.len().saturating_sub(usize::from(self.receiver.is_none()))
            }
        };
        let senders = self.senders.as_deref().unwrap_or_default();
        let remedy = "when the only sender is drawn as the receiver nobody can send; name another sender, or \
                      a receiver";
        problems.unless(
            available > 0 || senders.is_empty(),
            "senders",
            format!("{senders:?}"),
            remedy,
        );
        let holds = self.replace || available == 0 || self.degree as usize <= available;
        let remedy = format!(
            "only {available} hosts can send, each once; use at most {available}, or set replace = true"
        );
        problems.unless(holds, "degree", self.degree, remedy);
    }

    /// The share of the flows that stay inside servers.
    pub(super) fn inside(&self, topology: &Topology) -> f64 {
        let receiver = self.receiver.map_or(vec![], |receiver| vec![receiver]);
        share_inside(topology, self.senders.as_deref().unwrap_or_default(), &receiver)
    }

    /// The mean over many events. With or without replacement, every possible sender of a receiver
    /// is equally likely.
    fn offered(&self, entry: &Entry, pool: &[u32]) -> Offered {
        let (topology, routing) = (entry.topology, entry.routing);
        let mut demand = Demand::new(routing, topology);
        if let Some(receiver) = self.receiver {
            demand.add(routing, pool, &[receiver], 1.0);
        } else {
            // A receiver that may also send has one sender less. Receivers that may send are all
            // alike, and so are the others.
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
        let times = crossings.iter().chain(demand.inside());
        Offered {
            field: format!("{}.period", entry.field()),
            knob: Knob::Period(self.period),
            start: self.start,
            stop: self.stop,
            carried: times.map(|times| times * rate).collect(),
        }
    }
}

impl IncastFlows {
    fn draw_receiver(&mut self) -> u32 {
        self.fixed_receiver
            .unwrap_or_else(|| draw::index(&mut self.random, self.hosts as usize) as u32)
    }

    /// A uniform candidate other than the receiver. Without replacement, the candidate has not sent
    /// in this event yet (the next step of a Fisher-Yates shuffle).
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
