//! Endless flows into one host, each from a host of its own: measures the bottleneck link.

use penstock_sim::Results;
use serde_json::{Value, json};

use crate::fixture::{GBPS, US, column, listed, run, scenario, single_switch, with};

/// A run with one bottleneck: the link from the switch to host 0.
pub struct Bottleneck {
    pub scheme: Value,
    /// When each flow starts (ps).
    pub starts: Vec<u64>,
    /// Rate of every link (bit/s).
    pub rate: u64,
    /// One-way delay of every link (ps).
    pub delay: u64,
    /// Duration of the run (ps).
    pub duration: u64,
    /// Time between two samples (ps).
    pub interval: u64,
    /// Start of the measurement (ps).
    pub from: u64,
}

/// The measurements, from the start of the measurement to the end of the run.
pub struct Measured {
    /// Payload that each flow sent (bit/s).
    pub goodputs: Vec<f64>,
    /// Share of the time that the bottleneck was busy.
    pub utilization: f64,
    /// Samples of the queue in front of the bottleneck (bytes).
    pub queue: Vec<f64>,
    pub results: Results,
}

impl Bottleneck {
    /// `flows` flows that start together on links of 100 Gb/s and 1 us. Measured in the second half
    /// of `duration`.
    pub fn new(scheme: Value, flows: usize, duration: u64) -> Self {
        let (rate, delay, interval, from) = (100 * GBPS, US, 5 * US, duration / 2);
        Bottleneck { scheme, starts: vec![0; flows], rate, delay, duration, interval, from }
    }

    pub fn measure(self) -> Measured {
        let flows = self.starts.len() as u32;
        let list: Vec<_> =
            (1..=flows).zip(&self.starts).map(|(host, &at)| (host, 0, 0, at)).collect();
        let topology = with(single_switch(flows + 1), "/rate", self.rate);
        let topology = with(topology, "/delay", self.delay);
        let scenario = scenario(topology, self.scheme, &[listed(&list)], self.duration);
        let scenario = with(with(scenario, "/drain", 0), "/measure/sample_interval", self.interval);
        let uplinks = (1..=flows).map(|host| (host, flows + 1));
        let links: Vec<_> = std::iter::once((flows + 1, 0)).chain(uplinks).collect();
        let results = run(&with(scenario, "/measure/series", json!(links)));
        let series = |name: &str, link: usize| -> Vec<f64> {
            column(&results, "series", name).into_iter().skip(link).step_by(links.len()).collect()
        };
        let first = (self.from / self.interval) as usize;
        let span = (self.duration / self.interval) as usize - first;
        let bits = |sent: Vec<f64>| (sent[first + span] - sent[first]) * 8.0;
        let seconds = (span as u64 * self.interval) as f64 / 1e12;
        let goodputs =
            (1..links.len()).map(|link| bits(series("data_bytes", link)) / seconds).collect();
        let utilization = bits(series("tx_bytes", 0)) / seconds / self.rate as f64;
        let queue = series("queue_bytes", 0).split_off(first);
        Measured { goodputs, utilization, queue, results }
    }
}

impl Measured {
    /// Jain's index of the goodputs: 1 when all are equal, 1/n when one flow has everything.
    pub fn jain(&self) -> f64 {
        let sum: f64 = self.goodputs.iter().sum();
        let squares: f64 = self.goodputs.iter().map(|goodput| goodput * goodput).sum();
        sum * sum / (squares * self.goodputs.len() as f64)
    }

    pub fn mean_queue(&self) -> f64 {
        self.queue.iter().sum::<f64>() / self.queue.len() as f64
    }

    pub fn largest_queue(&self) -> f64 {
        self.queue.iter().copied().fold(0.0, f64::max)
    }

    /// Splits the samples of the queue into stretches of `samples`; returns the mean of the
    /// stretches' smallest queues, and the mean of their largest.
    pub fn mean_extremes(&self, samples: usize) -> (f64, f64) {
        let stretches = self.queue.chunks_exact(samples);
        let count = stretches.len() as f64;
        let extreme = |choose: fn(f64, f64) -> f64| {
            let of = |stretch: &[f64]| stretch.iter().copied().reduce(choose).unwrap();
            stretches.clone().map(of).sum::<f64>() / count
        };
        (extreme(f64::min), extreme(f64::max))
    }
}

/// The scheme `dctcp`, or another one with ECN, that marks everything above `threshold` (bytes).
pub fn step(scheme: Value, threshold: u64, at: &str) -> Value {
    profile(with(scheme, "/switch/marking/at", at), threshold, threshold, 1.0)
}

/// A scheme with ECN and the marking profile `kmin` (bytes), `kmax` (bytes), `pmax` (probability).
pub fn profile(scheme: Value, kmin: u64, kmax: u64, pmax: f64) -> Value {
    let scheme = with(scheme, "/switch/marking/kmin", kmin);
    with(with(scheme, "/switch/marking/kmax", kmax), "/switch/marking/pmax", pmax)
}
