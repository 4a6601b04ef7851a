//! FAFC's knowledge of the traffic between two ports, and its forecast (Algorithm 1): counters for
//! every pair of an ingress and an egress, smoothed at intervals by Holt's linear trend.
//!
//! Rates are in bytes per nanosecond, queues in bytes. A smoothed value may be negative for a moment
//! after a queue has drained.

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

/// A smoothed value (bytes, bytes/ns) below this counts as 0. Our choice: a millionth of a byte.
/// Otherwise the values of idle ports would decay into the range of numbers that processors handle
/// slowly.
const NOTHING: f64 = 1e-6;

/// The traffic from one ingress to one egress.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Pair {
    /// q'_ie: stored bytes (bytes).
    stored: u64,
    /// b_ie: bytes that have arrived so far (bytes).
    arrived: u64,
    /// qLast_ie (bytes).
    last_stored: u64,
    /// bLast_ie (bytes).
    last_arrived: u64,
    /// q_ie, smoothed (bytes).
    queue: f64,
    /// r_ie: how fast the queue grows (bytes/ns).
    growth: f64,
    /// r^i_ie: how fast bytes arrive (bytes/ns).
    arrival: f64,
}

/// Counters and trends of a switch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Forecast {
    ports: usize,
    /// alpha.
    smoothing: f64,
    /// beta.
    rate_smoothing: f64,
    /// Time between two updates (ns).
    interval: f64,
    /// One row of ingresses for each egress.
    pairs: Vec<Pair>,
    /// Whether an egress needs updates. It needs none while all its pairs are at rest, with smoothed
    /// values of 0.
    is_awake: Vec<bool>,
    /// q_*e by egress (bytes).
    egress_queue: Vec<f64>,
    /// r_*e by egress (bytes/ns).
    egress_growth: Vec<f64>,
    /// Bytes by which the egress queue grows in the T_hop of each ingress: Σ_i r_ie T_hop,i.
    egress_trend: Vec<f64>,
    /// q_i*: bytes of an ingress at all egresses; a negative share counts as 0 (bytes).
    ingress_queue: Vec<f64>,
    /// r^i_i* by ingress (bytes/ns).
    ingress_arrival: Vec<f64>,
}

impl Forecast {
    /// A forecast that has seen no traffic. Both factors are in (0, 1], `interval` in ns.
    pub(crate) fn new(ports: usize, smoothing: f64, rate_smoothing: f64, interval: f64) -> Self {
        Forecast {
            ports,
            smoothing,
            rate_smoothing,
            interval,
            pairs: vec![Pair::default(); ports * ports],
            is_awake: vec![false; ports],
            egress_queue: vec![0.0; ports],
            egress_growth: vec![0.0; ports],
            egress_trend: vec![0.0; ports],
            ingress_queue: vec![0.0; ports],
            ingress_arrival: vec![0.0; ports],
        }
    }

    #[inline]
    fn index(&self, ingress: u16, egress: u16) -> usize {
        usize::from(egress) * self.ports + usize::from(ingress)
    }

    fn pair(&self, ingress: u16, egress: u16) -> &Pair {
        &self.pairs[self.index(ingress, egress)]
    }

    /// Bytes came from `ingress` for `egress` (Algorithm 1, lines 2 and 3).
    #[inline]
    pub(crate) fn on_enqueue(&mut self, ingress: u16, egress: u16, bytes: u64) {
        let index = self.index(ingress, egress);
        self.is_awake[usize::from(egress)] = true;
        self.pairs[index].stored += bytes;
        self.pairs[index].arrived += bytes;
    }

    /// Bytes from `ingress` leave `egress` (line 6).
    #[inline]
    pub(crate) fn on_dequeue(&mut self, ingress: u16, egress: u16, bytes: u64) {
        let index = self.index(ingress, egress);
        self.pairs[index].stored -= bytes;
    }

    /// Takes the traffic since the last update into the trends (`UpdateRate`). `hops` is T_hop of each
    /// port's link (ns).
    pub(crate) fn update(&mut self, hops: &[f64]) -> bool {
        if !self.is_awake.contains(&true) {
            return false; // the sums of ingresses are 0 already
        }
        let (alpha, beta, interval) = (self.smoothing, self.rate_smoothing, self.interval);
        self.ingress_queue.fill(0.0);
        self.ingress_arrival.fill(0.0);
        for (egress, row) in self.pairs.chunks_exact_mut(self.ports).enumerate() {
            if !self.is_awake[egress] {
                continue; // its sums are 0 already, and it adds nothing to those of ingresses
            }
            let (mut queue, mut growth, mut trend) = (0.0, 0.0, 0.0);
            let mut is_awake = false;
            for (ingress, pair) in row.iter_mut().enumerate() {
                let estimate = pair.queue + pair.growth * interval;
                let grown = pair.stored as f64 - pair.last_stored as f64;
                let arrived = (pair.arrived - pair.last_arrived) as f64;
                pair.queue = settled(alpha * pair.stored as f64 + (1.0 - alpha) * estimate);
                pair.growth = settled(beta * grown / interval + (1.0 - beta) * pair.growth);
                pair.arrival = settled(beta * arrived / interval + (1.0 - beta) * pair.arrival);
                pair.last_stored = pair.stored;
                pair.last_arrived = pair.arrived;
                is_awake |= pair.stored > 0
                    || pair.queue != 0.0
                    || pair.growth != 0.0
                    || pair.arrival != 0.0;
                queue += pair.queue;
                growth += pair.growth;
                trend += pair.growth * hops[ingress];
                self.ingress_queue[ingress] += pair.queue.max(0.0);
                self.ingress_arrival[ingress] += pair.arrival;
            }
            self.is_awake[egress] = is_awake;
            self.egress_queue[egress] = queue;
            self.egress_growth[egress] = growth;
            self.egress_trend[egress] = trend;
        }
        true
    }

    /// q'_ie: bytes that `egress` holds of `ingress` (bytes).
    pub(crate) fn stored(&self, ingress: u16, egress: u16) -> u64 {
        self.pair(ingress, egress).stored
    }

    /// q_ie, smoothed (bytes).
    pub(crate) fn pair_queue(&self, ingress: u16, egress: u16) -> f64 {
        self.pair(ingress, egress).queue
    }

    /// q_*e, smoothed (bytes).
    pub(crate) fn queue(&self, egress: u16) -> f64 {
        self.egress_queue[usize::from(egress)]
    }

    /// r_*e: how fast an egress queue grows (bytes/ns).
    pub(crate) fn growth(&self, egress: u16) -> f64 {
        self.egress_growth[usize::from(egress)]
    }

    /// Growth of an egress queue in T_hop (bytes).
    pub(crate) fn trend(&self, egress: u16) -> f64 {
        self.egress_trend[usize::from(egress)]
    }

    /// r^i_ie (bytes/ns).
    pub(crate) fn arrival(&self, ingress: u16, egress: u16) -> f64 {
        self.pair(ingress, egress).arrival
    }

    /// r^o_ie = r^i_ie - r_ie, at least 0 (bytes/ns).
    pub(crate) fn departure(&self, ingress: u16, egress: u16) -> f64 {
        let pair = self.pair(ingress, egress);
        (pair.arrival - pair.growth).max(0.0)
    }

    /// r^i_i* (bytes/ns).
    pub(crate) fn ingress_arrival(&self, ingress: u16) -> f64 {
        self.ingress_arrival[usize::from(ingress)]
    }

    /// q_ie / q_i*, the share of an ingress port's bytes that is for `egress`; 0 when the port has
    /// none.
    pub(crate) fn share(&self, ingress: u16, egress: u16) -> f64 {
        let all = self.ingress_queue[usize::from(ingress)];
        if all > 0.0 { self.pair(ingress, egress).queue.max(0.0) / all } else { 0.0 }
    }
}

fn settled(value: f64) -> f64 {
    if value.abs() < NOTHING { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_has_nothing_to_take_before_its_traffic_and_when_that_is_forgotten() {
        let mut forecast = Forecast::new(2, 0.5, 0.5, 1_000.0);
        let hops = [1_000.0; 2];
        assert!(!forecast.update(&hops));
        forecast.on_enqueue(0, 1, 1_000);
        assert!(forecast.update(&hops));
        assert_eq!((forecast.queue(1), forecast.ingress_arrival(0)), (500.0, 0.5));
        forecast.on_dequeue(0, 1, 1_000);
        // Each update halves what is left of 1,000 B, down to a millionth of a byte.
        assert!((0..20).all(|_| forecast.update(&hops)));
        assert!((0..40).any(|_| !forecast.update(&hops)));
        assert_eq!((forecast.queue(1), forecast.ingress_arrival(0)), (0.0, 0.0));
    }

    #[test]
    fn an_egress_needs_updates_while_bytes_that_have_left_are_in_its_trends() {
        let mut forecast = Forecast::new(2, 1.0, 0.5, 1_000.0);
        let hops = [1_000.0; 2];
        // A packet that comes and goes between two updates has arrived, and the queue has not grown.
        forecast.on_enqueue(0, 1, 1_000);
        forecast.on_dequeue(0, 1, 1_000);
        for arrival in [0.5, 0.25, 0.125] {
            assert!(forecast.update(&hops));
            assert_eq!((forecast.arrival(0, 1), forecast.growth(1)), (arrival, 0.0));
        }
        // One that stays until its arrival is forgotten leaves, and the queue shrinks.
        forecast.on_enqueue(0, 1, 1_000);
        (0..60).for_each(|_| assert!(forecast.update(&hops)));
        assert_eq!((forecast.arrival(0, 1), forecast.growth(1)), (0.0, 0.0));
        forecast.on_dequeue(0, 1, 1_000);
        for growth in [-0.5, -0.25, -0.125] {
            assert!(forecast.update(&hops));
            assert_eq!((forecast.arrival(0, 1), forecast.growth(1)), (0.0, growth));
        }
    }

    #[test]
    fn an_egress_whose_smoothed_queue_is_negative_has_no_share_of_an_ingress() {
        let mut forecast = Forecast::new(2, 0.5, 1.0, 1_000.0);
        let hops = [1_000.0; 2];
        forecast.on_enqueue(0, 0, 1_000);
        forecast.update(&hops); // q_00 = 500, r_00 = 1
        forecast.on_dequeue(0, 0, 1_000);
        forecast.update(&hops); // q_00 = (500 + 1,000) / 2 = 750, r_00 = -1
        forecast.on_enqueue(0, 1, 1_000);
        forecast.update(&hops); // q_00 = (750 - 1,000) / 2 = -125, q_01 = 500
        assert_eq!((forecast.pair_queue(0, 0), forecast.pair_queue(0, 1)), (-125.0, 500.0));
        assert_eq!((forecast.share(0, 0), forecast.share(0, 1)), (0.0, 1.0));
        assert_eq!(forecast.share(1, 1), 0.0, "port 1 has sent nothing");
    }
}
