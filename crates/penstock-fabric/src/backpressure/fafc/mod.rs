//! FAFC (C. Lu, Y. Chen, F. Zhang, H. Lu, "FAFC: Fast and Accurate Flow Control in Data Center
//! Networks"), Algorithms 1 and 2.
//!
//! Implemented: counters of every pair of ports and their trends (`forecast`), the bytes that pauses
//! hold back in time slots (`slots`), egress triggering, the pause times as the exact solution of the
//! linear program ([`pause_time`]), pauses of a given time without resumes, and PFC beneath as the
//! safety net. The marking axis holds `predicted` (Algorithm 4), the assignment axis holds `ingress`
//! (the fair queueing of sec. IV), and the host cuts its rates (Algorithm 3). Left out: several
//! priority classes, which the paper leaves out as well; the conversion to the 16-bit quanta of
//! 802.1Qbb.
//!
//! Two readings are those of `DESIGN.md` sec. 9: the packet's length is subtracted once, and r^o = r^i
//! - r. Where the paper is silent or contradicts itself:
//!
//! - A port j is uncongested by its whole queue q_*j, as in eq. (9). Algorithm 2 compares q_ik. With
//!   q_ik each of many senders into one queue would count as uncongested.
//! - f_dec multiplies r^i_ie on both sides of the constraint. On the left side alone it would make
//!   pauses longer, but f_dec is there to avoid pauses that are too long.
//! - "Last pause trigger" is the last time that the port has sent pauses.
//! - With links of different T_hop each ingress counts with its own T_hop: r_*e T_hop is Σ_i r_ie
//!   T_hop,i, T_i is at most T_hop,i, and a slot lasts T_hop,i. The trends are renewed in the shortest
//!   T_hop of the switch, as the paper says. The 4 T_hop are those of the longest link.
//! - T_hop is the link's delay with the neighbour's pipeline.
//! - q_ie / q_i* counts negative smoothed queues as 0.
//! - A need of less than a byte counts as none, because it would be rounding. Pauses are rounded up to
//!   nanoseconds, to T_hop at most.
//! - f_dec is not given; see the experiment `fafc/table3`.

mod forecast;
pub mod pause_time;
mod slots;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::{ControlFrame, PortFacts, Signal};
use penstock_units::{Bytes, Problems, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::forecast::Forecast;
use self::pause_time::{IngressPort, Ranked, allocate};
use self::slots::Slots;
use super::pairs::audit_pairs;
use super::pfc::{Pfc, PfcConfig};
use super::policy::{KeptPause, Parameters, Place, Policy, Stops};
use crate::admission::Admission;
use crate::config::{Surroundings, SwitchConfig};
use crate::passing::Passing;
use crate::port::{Port, QueueForecast};
use crate::stored::Stored;

/// Triggers closer than this many T_hop decrease r^i (sec. III-D).
const CONSECUTIVE_HOPS: u64 = 4;

/// The prediction looks this many T_hop ahead (Algorithm 1, line 15).
const LOOK_AHEAD_HOPS: f64 = 2.0;

/// A smaller need (bytes) counts as none.
const SMALLEST_NEED: f64 = 1.0;

/// The most hops of data that count as uncongested; our choice: seconds.
const LARGEST_HOPS: f64 = 1e6;

/// Parameters of FAFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FafcConfig {
    /// Predicted queue of an egress beyond which its ingresses pause (th_p).
    #[schemars(
        range(min = 1),
        extend("default" = "350 kB", "source" = "FAFC (Lu et al.) IV-A")
    )]
    pub threshold: Bytes,
    /// Weight of a new queue length (alpha).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.8, "source" = "FAFC (Lu et al.) III-A")
    )]
    pub queue_smoothing: f64,
    /// Weight of a new rate (beta).
    #[schemars(
        range(max = 1),
        extend("exclusiveMinimum" = 0, "default" = 0.8, "source" = "FAFC (Lu et al.) III-A")
    )]
    pub rate_smoothing: f64,
    /// An egress with more data than it sends in so many T_hop is congested (th_c).
    #[schemars(
        range(min = 0, max = LARGEST_HOPS),
        extend(
            "default" = 1.0,
            "source" = "our choice: a longer queue loses nothing in a pause of T_hop (eq. 4)"
        )
    )]
    pub congested_hops: f64,
    /// Factor of arrival rates when an egress triggers again within 4 T_hop (f_dec).
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "default" = 0.9,
            "source" = "our choice: close to 1, as rates are measured anew in each T_hop"
        )
    )]
    pub rate_decrease: f64,
    /// The safety net beneath.
    #[schemars(extend(
        "default" = {},
        "source" = "FAFC (Lu et al.) II-E: PFC with dynamic thresholds"
    ))]
    pub pfc: PfcConfig,
}

impl Parameters for FafcConfig {
    fn check(&self, problems: &mut Problems) {
        problems.within("pfc", |problems| self.pfc.check(problems));
    }

    fn fits(&self, switch: &SwitchConfig, _: &Surroundings, problems: &mut Problems) {
        self.pfc.fits_beneath(switch, problems);
    }

    fn predicts_queues(&self) -> bool {
        true
    }
}

/// FAFC at a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Fafc {
    threshold: f64,
    rate_decrease: f64,
    forecast: Forecast,
    /// The time slots, by ingress.
    slots: Vec<Slots>,
    /// pausOf_ie: one row of ingresses for each egress (bytes).
    offsets: Vec<f64>,
    /// pausOf_*e by egress (bytes).
    egress_offsets: Vec<f64>,
    /// T_hop by port.
    hops: Vec<Time>,
    /// T_hop by port (ns).
    hops_ns: Vec<f64>,
    /// th_c by egress (bytes).
    congested: Vec<f64>,
    /// When each egress last sent pauses.
    last_trigger: Vec<Option<Time>>,
    interval: Time,
    next_update: Time,
    /// Working memory for the linear program.
    candidates: Vec<IngressPort>,
    ranks: Vec<Ranked>,
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
            forecast: Forecast::new(
                ports,
                config.queue_smoothing,
                config.rate_smoothing,
                interval.as_ns_f64(),
            ),
            slots: vec![Slots::IDLE; ports],
            offsets: vec![0.0; ports * ports],
            egress_offsets: vec![0.0; ports],
            hops_ns: hops.iter().map(|hop| hop.as_ns_f64()).collect(),
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

    /// `calculateAndSendPause`.
    fn relieve(&mut self, now: Time, egress: u16, ports: &mut [Port]) {
        if self.forecast.growth(egress) <= 0.0 {
            return;
        }
        let kept = if self.has_just_triggered(now, egress) { self.rate_decrease } else { 1.0 };
        let need = self.need(egress, kept);
        if need < SMALLEST_NEED {
            return;
        }
        for ingress in 0..self.slots.len() as u16 {
            self.candidates[usize::from(ingress)] = IngressPort {
                relief: self.forecast.arrival(ingress, egress) * kept,
                loss: self.loss(ingress, egress),
                longest: self.hops_ns[usize::from(ingress)],
            };
        }
        allocate(&self.candidates, need, &mut self.ranks, &mut self.times);
        for ingress in (0..self.slots.len() as u16).rev() {
            let time = self.times[usize::from(ingress)];
            if time > 0.0 {
                self.pause(now, (ingress, egress), time, kept);
            }
        }
        self.last_trigger[usize::from(egress)] = Some(now);
        self.publish(ports);
    }

    fn has_just_triggered(&self, now: Time, egress: u16) -> bool {
        let longest = self.hops.iter().copied().max().unwrap_or(Time::ZERO);
        let last = self.last_trigger[usize::from(egress)];
        last.is_some_and(|last| now - last <= longest * CONSECUTIVE_HOPS)
    }

    /// r_*e T_hop + pausOf_*e, with only the share `kept` of the arrivals counted (bytes).
    fn need(&self, egress: u16, kept: f64) -> f64 {
        let inflow = |ingress| self.forecast.arrival(ingress, egress);
        let in_a_hop: f64 =
            (0u16..).zip(&self.hops_ns).map(|(ingress, hop)| inflow(ingress) * hop).sum();
        self.forecast.trend(egress) - (1.0 - kept) * in_a_hop
            + self.egress_offsets[usize::from(egress)]
    }

    /// R_i: the rate from `ingress` to uncongested ports other than `egress` (bytes/ns).
    fn loss(&self, ingress: u16, egress: u16) -> f64 {
        let is_uncongested = |&(port, congested): &(u16, &f64)| {
            port != egress && self.forecast.queue(port) <= *congested
        };
        (0u16..)
            .zip(&self.congested)
            .filter(is_uncongested)
            .map(|(port, _)| self.forecast.departure(ingress, port))
            .sum()
    }

    /// Pauses `ingress` for `time` ns because of `egress`.
    fn pause(&mut self, now: Time, (ingress, egress): (u16, u16), time: f64, kept: f64) {
        let index = usize::from(ingress);
        let longest = self.hops[index].as_ps() / 1_000;
        let whole = time as u64;
        let nanoseconds = (whole + u64::from(time > whole as f64)).min(longest.max(1));
        let signal = Signal::PauseTime(u32::try_from(nanoseconds).unwrap_or(u32::MAX));
        self.outbox.push(ControlFrame { port: ingress, signal });
        let decrease = (1.0 - kept) * self.forecast.arrival(ingress, egress);
        let rate = self.forecast.ingress_arrival(ingress) - decrease;
        self.slots[index].pause(now, self.hops[index], rate, nanoseconds as f64);
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

    /// Stores the forecast of each port in the port.
    fn publish(&self, ports: &mut [Port]) {
        for (egress, port) in (0u16..).zip(ports) {
            let queue = self.forecast.queue(egress);
            let ahead = LOOK_AHEAD_HOPS * self.forecast.trend(egress);
            let predicted = queue + ahead + self.egress_offsets[usize::from(egress)];
            port.set_forecast(QueueForecast { queue, predicted });
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
        if packet.port().forecast().predicted > self.threshold {
            self.relieve(packet.now, packet.egress, packet.ports);
        }
        self.pfc.on_dequeue(packet)
    }

    #[inline]
    fn take_frame(&mut self) -> Option<ControlFrame> {
        self.outbox.pop()
    }

    /// A pause does not make the deadline earlier.
    fn deadline(&self) -> Option<Time> {
        Some(self.slots.iter().map(Slots::ends_at).fold(self.next_update, Time::min))
    }

    /// Serves what is due by `now`: first the trends, then the slots.
    fn on_deadline(&mut self, now: Time, ports: &mut [Port]) {
        if self.next_update <= now {
            self.forecast.update(&self.hops_ns);
            self.next_update = now + self.interval;
        }
        for ingress in 0..self.slots.len() as u16 {
            let slots = &mut self.slots[usize::from(ingress)];
            if slots.ends_at() <= now {
                slots.expire(now, self.hops[usize::from(ingress)]);
                self.spread(ingress);
            }
        }
        self.publish(ports);
    }

    fn threshold(&self, _: &Admission, _: u16, _: u16, _: &Port) -> i64 {
        self.threshold as i64
    }

    fn standing_pauses(&self, admission: &Admission, ingress: u16) -> Vec<ControlFrame> {
        self.pfc.standing_pauses(admission, ingress)
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
