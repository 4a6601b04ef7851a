//! A histogram with buckets of constant relative width, for the delays of all packets.

use borsh::{BorshDeserialize, BorshSerialize};

/// log2 of the number of buckets in an octave: a value is known to 1/64, or 1.6 %.
const SUB_BITS: u32 = 6;
const BUCKETS: usize = ((64 - SUB_BITS) as usize + 1) << SUB_BITS;

/// Counts of non-negative integers, to a relative precision of 1/64; exact below 64.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct LogHistogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
}

impl Default for LogHistogram {
    fn default() -> Self {
        LogHistogram { counts: vec![0; BUCKETS], count: 0, sum: 0 }
    }
}

impl LogHistogram {
    /// Counts `value`.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.count += 1;
        self.sum += u128::from(value);
    }

    /// Adds what `other` has counted.
    pub fn add(&mut self, other: &LogHistogram) {
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            *own += other;
        }
        self.count += other.count;
        self.sum += other.sum;
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact mean; zero when nothing was counted.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The lower end of the bucket that holds the value of rank `floor(share * count)`; zero when
    /// nothing was counted.
    pub fn percentile(&self, share: f64) -> u64 {
        let rank = ((self.count as f64 * share) as u64).min(self.count.saturating_sub(1));
        let mut seen = 0;
        let found = self.counts.iter().position(|&count| {
            seen += count;
            seen > rank
        });
        found.map_or(0, lower_end)
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    if value >> SUB_BITS == 0 {
        return value as usize;
    }
    let octave = 64 - SUB_BITS - value.leading_zeros();
    ((octave as usize) << SUB_BITS) + ((value >> (octave - 1)) as usize & 63)
}

fn lower_end(bucket: usize) -> u64 {
    let (octave, step) = (bucket >> SUB_BITS, (bucket & 63) as u64);
    match octave {
        0 => step,
        _ => (64 + step) << (octave - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_starts_at_most_one_64th_below_its_values(value: u64) {
            let start = lower_end(bucket(value));
            prop_assert!(start <= value && value - start <= start / 64, "{} {}", value, start);
        }

        #[test]
        fn percentiles_follow_the_sorted_values(
            mut values in proptest::collection::vec(0u64..1_000_000, 1..200),
        ) {
            let mut histogram = LogHistogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            values.sort_unstable();
            for share in [0.0, 0.5, 0.99] {
                let exact = values[(values.len() as f64 * share) as usize];
                prop_assert_eq!(histogram.percentile(share), lower_end(bucket(exact)));
            }
        }
    }
}
