//! How much of a flow was delivered by regular sample times.

use penstock_units::{Bytes, Time};

/// The bytes of a flow that its server had read by the sample times `interval`, 2 × `interval`, … from
/// the origin.
///
/// A sample needs no timer: it is taken when the first bytes after its time are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    interval: Time,
    delivered: Vec<Bytes>,
}

impl Samples {
    /// No samples yet; `interval` > 0.
    pub(crate) fn every(interval: Time) -> Self {
        Samples { interval, delivered: Vec::new() }
    }

    /// The time between two samples.
    pub fn interval(&self) -> Time {
        self.interval
    }

    /// Bytes delivered by each sample time, from the origin. The last sample is the last before the
    /// server's host ended.
    pub fn delivered(&self) -> &[Bytes] {
        &self.delivered
    }

    /// Bytes delivered by sample time `index` (0 is the origin); behind the last sample, those of the last.
    pub fn by(&self, index: usize) -> Bytes {
        let last = index.min(self.delivered.len());
        last.checked_sub(1).map_or(Bytes::ZERO, |last| self.delivered[last])
    }

    /// Bytes delivered between the sample times `from` and `to`: for shares of a link and Jain's index.
    pub fn between(&self, from: usize, to: usize) -> Bytes {
        self.by(to).saturating_sub(self.by(from))
    }

    /// Takes the samples that are due at `now`, when `delivered` bytes have been read.
    pub(crate) fn take(&mut self, now: Time, delivered: Bytes) {
        let due = now.as_ps() / self.interval.as_ps();
        let due = usize::try_from(due).unwrap_or(usize::MAX);
        if due > self.delivered.len() {
            self.delivered.resize(due, delivered);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_holds_what_was_read_before_its_time() {
        let mut samples = Samples::every(Time::from_ms(10));
        samples.take(Time::from_ms(9), Bytes::ZERO);
        assert!(samples.delivered().is_empty());
        // Nothing was read before 12 ms, and 500 B between 12 ms and 25 ms.
        samples.take(Time::from_ms(12), Bytes::ZERO);
        samples.take(Time::from_ms(25), Bytes::new(500));
        samples.take(Time::from_ms(40), Bytes::new(900));
        assert_eq!(samples.delivered(), [0, 500, 900, 900].map(Bytes::new));
        assert_eq!(samples.between(1, 3), Bytes::new(900));
        assert_eq!(samples.between(0, 99), Bytes::new(900));
        assert_eq!(samples.by(0), Bytes::ZERO);
    }
}
