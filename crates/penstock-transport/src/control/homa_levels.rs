//! Homa's priority levels, from the sizes of the flows that are expected.
//!
//! B. Montazeri et al., "Homa", SIGCOMM 2018, sec. 3.4, with the levels of P. Goyal et al. (BFC, NSDI
//! 2022), App. A.2:
//! - The levels of a switch are divided between unscheduled and scheduled bytes in the proportion in
//!   which the workload has them, at least one level each.
//! - A host grants to as many messages as there are scheduled levels.
//! - The cutoffs between the unscheduled levels give each level the same number of unscheduled bytes.
//!
//! The sizes are the expected ones, not those that a run happens to draw, so that the levels are the
//! same for every seed.
//!
//! Where the sources are silent: several entries of traffic count with the bytes that they offer,
//! incasts included. Endless flows do not count, because their unscheduled bytes are nothing against
//! the rest.

use alloc::vec::Vec;

use penstock_units::Bytes;

use super::homa::HomaConfig;
use crate::flow::SizeShare;

impl HomaConfig {
    /// These parameters, with the open ones filled in for a switch of `levels` levels in all, at least
    /// 2.
    pub(crate) fn with_levels(
        &self,
        sizes: &[SizeShare],
        rtt_bytes: u64,
        levels: u32,
    ) -> HomaConfig {
        let unscheduled: f64 = sizes.iter().map(|share| share.flows * share.first(rtt_bytes)).sum();
        let total: f64 = sizes.iter().map(|share| share.flows * share.size as f64).sum();
        let proportion = if total > 0.0 { unscheduled / total } else { 0.0 };
        let by_workload = libm::round(f64::from(levels) * proportion) as u32;
        let chosen = match (&self.cutoffs, self.overcommitment) {
            (Some(cutoffs), _) => cutoffs.len() as u32 + 1,
            (None, Some(scheduled)) => levels.saturating_sub(scheduled),
            (None, None) => by_workload,
        };
        let chosen = chosen.clamp(1, levels - 1);
        let cutoffs = self.cutoffs.clone().unwrap_or_else(|| cutoffs(sizes, rtt_bytes, chosen));
        HomaConfig {
            bdp_factor: self.bdp_factor,
            overcommitment: Some(self.overcommitment.unwrap_or(levels - chosen)),
            cutoffs: Some(cutoffs),
        }
    }
}

/// The sizes that divide the unscheduled bytes into `levels` equal parts, ascending. There are fewer
/// where many flows have one size.
fn cutoffs(sizes: &[SizeShare], rtt_bytes: u64, levels: u32) -> Vec<Bytes> {
    let mut sorted = sizes.to_vec();
    sorted.sort_by_key(|share| share.size);
    let total: f64 = sorted.iter().map(|share| share.flows * share.first(rtt_bytes)).sum();
    let mut found: Vec<Bytes> = Vec::new();
    let mut below = 0.0;
    for share in &sorted {
        let part = f64::from(found.len() as u32 + 1) / f64::from(levels);
        below += share.flows * share.first(rtt_bytes);
        if below >= total * part && found.len() + 1 < levels as usize {
            found.push(Bytes::new(share.size));
        }
    }
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const OPEN: HomaConfig = HomaConfig { bdp_factor: 1.0, overcommitment: None, cutoffs: None };

    fn sizes(of: &[(u64, f64)]) -> Vec<SizeShare> {
        of.iter().map(|&(size, flows)| SizeShare { size, flows }).collect()
    }

    #[test]
    fn levels_follow_the_share_of_unscheduled_bytes() {
        // The unscheduled bytes are 100 x 1 kB + 1 x 100 kB = 200 kB. All bytes are 100 kB + 300 kB.
        let half = OPEN.with_levels(&sizes(&[(1_000, 100.0), (300_000, 1.0)]), 100_000, 32);
        assert_eq!(half.overcommitment, Some(16));
        assert_eq!(half.first_scheduled_level() as usize, half.cutoffs.unwrap().len() + 1);
        let all = OPEN.with_levels(&sizes(&[(1_000, 1.0)]), 100_000, 8);
        assert_eq!((all.overcommitment, all.cutoffs), (Some(1), Some(vec![Bytes::new(1_000)])));
        let none = OPEN.with_levels(&[], 100_000, 8);
        assert_eq!((none.overcommitment, none.cutoffs), (Some(7), Some(Vec::new())));
    }

    #[test]
    fn what_is_written_stays() {
        let written = HomaConfig { overcommitment: Some(3), ..OPEN };
        let three = written.with_levels(&sizes(&[(1_000, 1.0), (2_000, 1.0)]), 100_000, 8);
        assert_eq!(three.overcommitment, Some(3));
        let written = HomaConfig { cutoffs: Some(vec![Bytes::new(7)]), ..OPEN };
        let one = written.with_levels(&sizes(&[(1_000, 1.0)]), 100_000, 8);
        assert_eq!((one.overcommitment, one.cutoffs), (Some(6), Some(vec![Bytes::new(7)])));
    }

    #[test]
    fn every_level_has_the_same_unscheduled_bytes() {
        let sizes: Vec<SizeShare> =
            (1..=10_000).map(|step| SizeShare { size: step * 20, flows: 1.0 }).collect();
        let found = cutoffs(&sizes, 100_000, 5);
        let of_level = |level: usize| -> f64 {
            let from = if level == 0 { 0 } else { found[level - 1].get() };
            let to = found.get(level).map_or(u64::MAX, |cutoff| cutoff.get());
            let inside = sizes.iter().filter(|share| share.size > from && share.size <= to);
            inside.map(|share| share.first(100_000)).sum()
        };
        let total: f64 = (0..5).map(of_level).sum();
        for level in 0..5 {
            // The error is at most one flow of 100 kB at either end, of 750 MB.
            assert!((of_level(level) - total / 5.0).abs() <= 200_000.0, "level {level}");
        }
    }
}
