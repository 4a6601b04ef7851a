//! FAFC (C. Lu, Y. Chen, F. Zhang, H. Lu, "FAFC: Fast and Accurate Flow Control in Data Center
//! Networks"), Algorithms 1 and 2.
//!
//! Implemented: counters of every pair of ports and their trends (`forecast`), the bytes that pauses
//! hold back in time slots (`slots`), egress triggering, the pause times as the exact solution of the
//! linear program ([`pause_time`]), pauses of a given time without resumes, and PFC beneath as the
//! safety net. The marking axis holds `predicted` (Algorithm 4), the assignment axis holds `ingress`
//! (the fair queueing of sec. IV), and the host cuts its rates (Algorithm 3). Left out: several
//! priority classes, which the paper leaves out as well; and Algorithm 1, lines 8 to 12, where a packet
//! whose egress fails `chkRsrv` is held back. The paper says nowhere what `chkRsrv` is.
//!
//! Options of what the testbed of sec. IV-B does: a slow solver (`solver`), and pauses in the quanta of
//! 802.1Qbb ([`PauseUnit`]). `fafc/table3` has the sensitivity to each option. An option of ours: ingresses
//! that stay paused while a queue is beyond the threshold (`hold`).
//!
//! Algorithm 1 subtracts the length of a packet twice (lines 6 and 14); here it is subtracted once. We
//! read r^o as r^i - r. Where the paper is silent or contradicts itself:
//!
//! - The trend r_ie follows the raw queue q'_ie, as in Algorithm 1, line 25. Eq. (3) has the smoothed
//!   one.
//! - A port j is uncongested by its whole queue q_*j, as in eq. (9). Algorithm 2 compares q_ik
//!   ([`CongestedQueue`]).
//! - R_i leaves out the egress that triggers, as eq. (5) does. Line 6 of Algorithm 2 looks at every port,
//!   so the egress itself would count as a victim of the pauses while its queue is short.
//! - f_dec multiplies r^i_ie on both sides of the constraint, as it is there to avoid pauses that are too
//!   long. In Algorithm 2 it stands on the left side alone, where it makes them longer ([`DecreaseIn`]).
//! - "Last pause trigger" is the last time that the port has sent pauses.
//! - With links of different T_hop each ingress counts with its own T_hop: r_*e T_hop is Σ_i r_ie
//!   T_hop,i, T_i is at most T_hop,i, and a slot lasts T_hop,i. The trends are renewed in the shortest
//!   T_hop of the switch, as the paper says. The 4 T_hop are those of the longest link.
//! - T_hop is the link's delay with the neighbour's pipeline.
//! - q_ie / q_i* counts negative smoothed queues as 0.
//! - A need of less than a byte counts as none, because it would be rounding. Pauses are rounded up to
//!   whole units of their frames, to T_hop at most.
//! - Where expired pauses leave the linear program without a solution, each packet that leaves pauses
//!   every ingress for another T_hop. Sec. II-D says that pauses are "normally" sent once in a T_hop.
//!   Pauses of one T_hop in a slot at most, which were tried, change what is measured of fig. 6 to 9 by a
//!   tenth at most; see `fafc/buffer`.
//! - f_dec is not given; see the experiment `fafc/table3`.

mod config;
mod forecast;
mod hold;
pub mod pause_time;
mod pause_unit;
mod slots;
mod solver;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{ControlFrame, PortFacts, Signal};
use penstock_units::Time;

pub use self::config::{CongestedQueue, DecreaseIn, FafcConfig};
use self::forecast::Forecast;
use self::hold::Hold;
use self::pause_time::{IngressPort, Ranked, allocate};
pub use self::pause_unit::PauseUnit;
use self::pause_unit::WholeUnits;
use self::slots::Slots;
use self::solver::{Solver, Task};
use super::pairs::audit_pairs;
use super::pfc::Pfc;
use super::policy::{KeptPause, Place, Policy, Stops};
use crate::admission::Admission;
use crate::passing::Passing;
use crate::port::{Port, QueueForecast};
use crate::ports::Ports;
use crate::stored::Stored;

/// Triggers closer than this many T_hop decrease r^i (sec. III-D).
const CONSECUTIVE_HOPS: u64 = 4;

/// The prediction looks this many T_hop ahead (Algorithm 1, line 15).
const LOOK_AHEAD_HOPS: f64 = 2.0;

/// A smaller need (bytes) counts as none.
const SMALLEST_NEED: f64 = 1.0;

/// FAFC at a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Fafc {
    threshold: f64,
    rate_decrease: f64,
    decrease_in: DecreaseIn,
    congested_queue: CongestedQueue,
    solver: Solver,
    hold: Hold,
    forecast: Forecast,
    /// The time slots, by ingress.
    slots: Vec<Slots>,
    /// When the first of them ends.
    first_end: Time,
    /// pausOf_ie: one row of ingresses for each egress (bytes).
    offsets: Vec<f64>,
    /// pausOf_*e by egress (bytes).
    egress_offsets: Vec<f64>,
    /// T_hop by port.
    hops: Vec<Time>,
    /// T_hop by port (ns).
    hops_ns: Vec<f64>,
    /// Lengths that frames can name, by port.
    units: Vec<WholeUnits>,
    /// th_c by egress (bytes).
    congested: Vec<f64>,
    /// When each egress last sent pauses.
    last_trigger: Vec<Option<Time>>,
    interval: Time,
    next_update: Time,
    /// Working memory for the linear program.
    candidates: Vec<IngressPort>,
    ranks: Vec<Ranked>,
    /// Its answer, by ingress (ns); that of a slow solver waits here until its task ends.
    times: Vec<f64>,
    /// Frames that wait to be taken.
    outbox: Vec<ControlFrame>,
    pfc: Pfc,
}

impl Fafc {
    pub(crate) fn new(config: &FafcConfig, place: &Place<'_>) -> Self {
        let facts = place.facts;
        let ports = facts.ports.len();
        let hops: Vec<Time> =
            facts.ports.iter().map(|port| port.delay + port.neighbour_pipeline).collect();
        let interval = hops.iter().copied().min().unwrap_or(Time::NEVER);
        let congested = |(port, &hop): (&PortFacts, &Time)| {
            port.rate.bytes_in(hop).get() as f64 * config.congested_hops
        };
        Fafc {
            threshold: config.threshold.get() as f64,
            rate_decrease: config.rate_decrease,
            decrease_in: config.decrease_in,
            congested_queue: config.congested_queue,
            solver: Solver::new(config.solver_delay),
            hold: Hold::new(ports, config.drain_share),
            forecast: Forecast::new(
                ports,
                config.queue_smoothing,
                config.rate_smoothing,
                interval.as_ns_f64(),
            ),
            slots: vec![Slots::IDLE; ports],
            first_end: Time::NEVER,
            offsets: vec![0.0; ports * ports],
            egress_offsets: vec![0.0; ports],
            hops_ns: hops.iter().map(|hop| hop.as_ns_f64()).collect(),
            units: facts.ports.iter().map(|port| config.pause_unit.at(port.rate)).collect(),
            congested: facts.ports.iter().zip(&hops).map(congested).collect(),
            hops,
            last_trigger: vec![None; ports],
            interval,
            next_update: interval,
            candidates: vec![IngressPort::default(); ports],
            ranks: vec![0; ports],
            times: vec![0.0; ports],
            outbox: Vec::with_capacity(ports),
            pfc: Pfc::new(&config.pfc, place),
        }
    }

    /// The first half of `calculateAndSendPause`: finds the pause times of all ingresses, and answers with
    /// which share of the arrivals; None when none is needed.
    fn solve(&mut self, now: Time, egress: u16) -> Option<f64> {
        if self.forecast.growth(egress) <= 0.0 {
            return None;
        }
        let kept = if self.has_just_triggered(now, egress) { self.rate_decrease } else { 1.0 };
        let need = self.need(egress, kept);
        if need < SMALLEST_NEED {
            return None;
        }
        for ingress in 0..self.slots.len() as u16 {
            self.candidates[usize::from(ingress)] = IngressPort {
                relief: self.forecast.arrival(ingress, egress) * kept,
                loss: self.loss(ingress, egress),
                longest: self.hops_ns[usize::from(ingress)],
            };
        }
        allocate(&self.candidates, need, &mut self.ranks, &mut self.times);
        Some(kept)
    }

    /// The second half: pauses the ingresses for the times that were found for `egress`, with the share
    /// `kept` of the arrivals.
    fn send(&mut self, now: Time, egress: u16, kept: f64) {
        for ingress in (0..self.slots.len() as u16).rev() {
            let time = self.times[usize::from(ingress)];
            if time > 0.0 {
                self.pause(now, (ingress, egress), time, kept);
            }
        }
        self.last_trigger[usize::from(egress)] = Some(now);
    }

    /// Ends a task of the slow solver that is due by `now`, and begins the next.
    fn serve_solver(&mut self, now: Time) {
        if let Some(Task { egress, kept, .. }) = self.solver.take_finished(now) {
            self.send(now, egress, kept);
        }
        while let Some(egress) = self.solver.next_digest() {
            if let Some(kept) = self.solve(now, egress) {
                self.solver.begin(now, egress, kept);
            }
        }
    }

    fn has_just_triggered(&self, now: Time, egress: u16) -> bool {
        let longest = self.hops.iter().copied().max().unwrap_or(Time::ZERO);
        let last = self.last_trigger[usize::from(egress)];
        last.is_some_and(|last| now - last <= longest * CONSECUTIVE_HOPS)
    }

    /// r_*e T_hop + pausOf_*e, with only the share `kept` of the arrivals counted where they count less
    /// here (bytes).
    fn need(&self, egress: u16, kept: f64) -> f64 {
        let kept = if self.decrease_in == DecreaseIn::NeedAndRelief { kept } else { 1.0 };
        let inflow = |ingress| self.forecast.arrival(ingress, egress);
        let in_a_hop: f64 =
            (0u16..).zip(&self.hops_ns).map(|(ingress, hop)| inflow(ingress) * hop).sum();
        self.forecast.trend(egress) - (1.0 - kept) * in_a_hop
            + self.egress_offsets[usize::from(egress)]
    }

    /// R_i: the rate from `ingress` to uncongested ports other than `egress` (bytes/ns).
    fn loss(&self, ingress: u16, egress: u16) -> f64 {
        let queue = |port| match self.congested_queue {
            CongestedQueue::Egress => self.forecast.queue(port),
            CongestedQueue::Pair => self.forecast.pair_queue(ingress, port),
        };
        let is_uncongested =
            |&(port, congested): &(u16, &f64)| port != egress && queue(port) <= *congested;
        (0u16..)
            .zip(&self.congested)
            .filter(is_uncongested)
            .map(|(port, _)| self.forecast.departure(ingress, port))
            .sum()
    }

    /// Pauses `ingress` for `time` ns because of `egress`.
    fn pause(&mut self, now: Time, (ingress, egress): (u16, u16), time: f64, kept: f64) {
        let index = usize::from(ingress);
        let nanoseconds = self.units[index].round_up(time, self.hops[index]);
        let signal = Signal::PauseTime(nanoseconds);
        self.outbox.push(ControlFrame { port: ingress, signal });
        let decrease = (1.0 - kept) * self.forecast.arrival(ingress, egress);
        let rate = self.forecast.ingress_arrival(ingress) - decrease;
        self.slots[index].pause(now, self.hops[index], rate, f64::from(nanoseconds));
        self.first_end = self.first_end.min(self.slots[index].ends_at());
        self.spread(ingress);
    }

    /// Gives each egress its share of the bytes that the pauses of `ingress` hold back (pausOf_ie).
    fn spread(&mut self, ingress: u16) {
        let ports = self.slots.len();
        let balance = self.slots[usize::from(ingress)].balance();
        for egress in 0..ports as u16 {
            let offset = balance * self.forecast.share(ingress, egress);
            let row = usize::from(egress) * ports;
            self.offsets[row + usize::from(ingress)] = offset;
            self.egress_offsets[usize::from(egress)] = self.offsets[row..row + ports].iter().sum();
        }
    }

    /// Ends the slots that end by `now`.
    fn expire_slots(&mut self, now: Time) {
        for ingress in 0..self.slots.len() as u16 {
            let slots = &mut self.slots[usize::from(ingress)];
            if slots.ends_at() <= now {
                slots.expire(now, self.hops[usize::from(ingress)]);
                self.spread(ingress);
            }
        }
        self.first_end = self.slots.iter().map(Slots::ends_at).min().unwrap_or(Time::NEVER);
    }

    /// Stores the forecast of each port in the port. Nothing is done to a port whose forecast stays the same.
    fn publish(&self, ports: &mut Ports) {
        for egress in 0..ports.len() as u16 {
            let queue = self.forecast.queue(egress);
            let ahead = LOOK_AHEAD_HOPS * self.forecast.trend(egress);
            let predicted = queue + ahead + self.egress_offsets[usize::from(egress)];
            let forecast = QueueForecast { queue, predicted };
            if ports[usize::from(egress)].forecast() != forecast {
                ports[usize::from(egress)].set_forecast(forecast);
            }
        }
    }
}

impl Policy for Fafc {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        let (ingress, bytes) = (packet.packet().ingress, packet.packet().wire_bytes);
        self.forecast.on_enqueue(ingress, packet.egress, u64::from(bytes));
        self.pfc.on_enqueue(packet)
    }

    /// `CheckCong`. Pauses wait in the outbox.
    #[inline]
    fn on_dequeue(&mut self, packet: &mut Passing<'_>) -> Option<ControlFrame> {
        let (ingress, bytes) = (packet.packet().ingress, packet.packet().wire_bytes);
        self.forecast.on_dequeue(ingress, packet.egress, u64::from(bytes));
        let predicted = packet.port().forecast().predicted;
        if predicted > self.threshold && !self.goes_by_length(packet.egress) {
            if self.solver.takes_time() {
                self.solver.ask(packet.egress);
            } else if let Some(kept) = self.solve(packet.now, packet.egress) {
                self.send(packet.now, packet.egress, kept);
                self.publish(packet.ports);
            }
        }
        self.pfc.on_dequeue(packet)
    }

    #[inline]
    fn take_frame(&mut self) -> Option<ControlFrame> {
        self.outbox.pop()
    }

    /// A pause does not make the deadline earlier.
    fn deadline(&self) -> Option<Time> {
        Some(self.next_update.min(self.solver.ends_at()).min(self.first_end))
    }

    /// Serves what is due by `now`: first the trends, then the slots, then the solver.
    fn on_deadline(&mut self, now: Time, ports: &mut Ports) {
        // Most switches of a large network are at rest most of the time: with 65,536 hosts, to look at each
        // of their ports took 43 % of a run of 2 us.
        let mut has_changed = self.solver.takes_time();
        if self.next_update <= now {
            has_changed |= self.forecast.update(&self.hops_ns);
            self.next_update = now + self.interval;
            if self.hold.has_work(has_changed) {
                self.hold_by_length(now);
            }
        }
        if self.first_end <= now {
            has_changed = true;
            self.expire_slots(now);
        }
        self.serve_solver(now);
        if has_changed {
            self.publish(ports);
        }
    }

    fn threshold(&self, _: &Admission, _: u16, _: u16, _: &Port) -> i64 {
        self.threshold as i64
    }

    fn standing_pauses(&self, admission: &Admission, ingress: u16) -> Vec<ControlFrame> {
        self.pfc.standing_pauses(admission, ingress)
    }

    fn repeated_frame(
        &mut self,
        admission: &Admission,
        ingress: u16,
        number: usize,
    ) -> Option<ControlFrame> {
        self.pfc.repeated_frame(admission, ingress, number)
    }

    fn peak_fraction(&self) -> Option<f64> {
        self.pfc.peak_fraction()
    }

    fn stops(&self) -> Option<Stops> {
        self.pfc.stops()
    }

    fn lasts(&self, admission: &Admission, pause: &KeptPause, shared: u64) -> bool {
        self.pfc.lasts(admission, pause, shared)
    }

    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        audit_pairs(stored, |ingress, egress| self.forecast.stored(ingress, egress))
    }
}

#[cfg(test)]
#[path = "fafc_tests.rs"]
mod tests;
