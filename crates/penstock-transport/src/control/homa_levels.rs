//! Homa's priority levels, from the sizes of the flows that are expected.
//!
//! B. Montazeri et al., "Homa", SIGCOMM 2018, sec. 3.4, with the levels of P. Goyal et al. (BFC, NSDI
//! 2022), App. A.2:
//! - The levels of a switch are divided between unscheduled and scheduled bytes in the proportion in
//!   which the workload has them, at least one level each.
//! - A host grants to as many messages as there are scheduled levels.
//! - The cutoffs between the unscheduled levels give each level the same number of unscheduled bytes.
//!
//! All flows of one size have one level, so one size may have more bytes than a level's part. The codes
//! of Homa's authors differ there. Their simulator (PlatformLab/HomaSimulation, PriorityResolver.cc)
//! gives each of the next larger sizes a level, until it has caught up. Their tool for Linux
//! (PlatformLab/HomaModule, util/homa_prio.cc) counts anew behind such a size and leaves the last
//! levels without flows. Here the levels that are left share the bytes that are left (our choice:
//! that comes closer to equal bytes, and uses all levels).
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

/// The largest size of each of `levels` levels but the last, ascending: the sizes that divide the
/// unscheduled bytes into equal parts. Behind a size that has more than one part, the parts are made
/// anew. There are fewer levels only where there are fewer sizes.
fn cutoffs(sizes: &[SizeShare], rtt_bytes: u64, levels: u32) -> Vec<Bytes> {
    let unscheduled = |shares: &[SizeShare]| -> f64 {
        shares.iter().map(|share| share.flows * share.first(rtt_bytes)).sum()
    };
    let mut sorted = sizes.to_vec();
    sorted.sort_by_key(|share| share.size);
    let of_sizes: Vec<_> = sorted.chunk_by(|one, other| one.size == other.size).collect();
    let total = unscheduled(&sorted);
    let mut part = total / f64::from(levels);
    let (mut below, mut end) = (0.0, part);
    let mut found: Vec<Bytes> = Vec::new();
    for (index, &shares) in of_sizes.iter().enumerate() {
        let levels_behind = levels as usize - found.len() - 1;
        let sizes_behind = of_sizes.len() - index - 1;
        if levels_behind == 0 || sizes_behind == 0 {
            break;
        }
        let own = unscheduled(shares);
        below += own;
        if below >= end || sizes_behind <= levels_behind {
            found.push(Bytes::new(shares[0].size));
            end += part;
            if own > part {
                part = (total - below) / levels_behind as f64;
                end = below + part;
            }
        }
    }
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
        assert_eq!((all.overcommitment, all.cutoffs), (Some(1), Some(Vec::new())));
        let none = OPEN.with_levels(&[], 100_000, 8);
        assert_eq!((none.overcommitment, none.cutoffs), (Some(7), Some(Vec::new())));
    }

    #[test]
    fn what_is_written_stays() {
        let written = HomaConfig { overcommitment: Some(3), ..OPEN };
        let three = written.with_levels(&sizes(&[(1_000, 1.0), (2_000, 1.0)]), 100_000, 8);
        assert_eq!(three.overcommitment, Some(3));
        // Three scheduled levels of eight leave five unscheduled ones.
        let many: Vec<(u64, f64)> = (1..=10).map(|step| (step * 1_000, 1.0)).collect();
        let five = written.with_levels(&sizes(&many), 100_000, 8);
        assert_eq!((five.overcommitment, five.cutoffs.unwrap().len()), (Some(3), 4));
        let written = HomaConfig { cutoffs: Some(vec![Bytes::new(7)]), ..OPEN };
        let one = written.with_levels(&sizes(&[(1_000, 1.0)]), 100_000, 8);
        assert_eq!((one.overcommitment, one.cutoffs), (Some(6), Some(vec![Bytes::new(7)])));
    }

    #[test]
    fn behind_a_size_with_more_than_a_part_the_rest_is_divided_anew() {
        // 1,000 kB, a quarter of which is 250 kB. Sizes up to 2 kB have 100 + 700 kB: the first level.
        // A third of the 200 kB left is 66.7 kB, and sizes up to 5 kB have 30 + 20 + 50 kB of them.
        // Two thirds are 133.3 kB, which sizes up to 6 kB have. Larger flows have the last level.
        let of = [
            (1_000, 100.0),
            (2_000, 350.0),
            (3_000, 10.0),
            (4_000, 5.0),
            (5_000, 10.0),
            (6_000, 8.0),
            (13_000, 3.0),
            (13_001, 1.0),
        ];
        let found = [2_000, 5_000, 6_000].map(Bytes::new);
        assert_eq!(cutoffs(&sizes(&of), 100_000, 4), found);
        // It is no matter whether the flows of a size come in one share or in several.
        let halves: Vec<(u64, f64)> =
            of.iter().chain(&of).map(|&(size, flows)| (size, flows / 2.0)).collect();
        assert_eq!(cutoffs(&sizes(&halves), 100_000, 4), found);
    }

    #[test]
    fn a_level_ends_where_its_part_is_full_to_the_byte() {
        // Four sizes with 12 kB each: two for each of two levels.
        let equal = [(1_000, 12.0), (2_000, 6.0), (3_000, 4.0), (4_000, 3.0)];
        assert_eq!(cutoffs(&sizes(&equal), 100_000, 2), [Bytes::new(2_000)]);
        // A quarter of 48 kB is 12 kB. The second size has no more than that, so the parts stay: the
        // levels end at 18, 24 and 36 kB.
        let whole = [
            (1_000, 6.0),
            (2_000, 6.0),
            (3_000, 2.0),
            (4_000, 1.5),
            (6_000, 1.0),
            (12_000, 0.5),
            (24_000, 0.25),
        ];
        assert_eq!(cutoffs(&sizes(&whole), 100_000, 4), [2_000, 3_000, 6_000].map(Bytes::new));
    }

    #[test]
    fn every_size_has_a_level_of_its_own_where_there_are_enough() {
        // 2 kB have nearly all bytes: by equal parts alone, 1 kB and 2 kB would share a level.
        let three = [(1_000, 1.0), (2_000, 90.0), (3_000, 1.0)];
        let own = [1_000, 2_000].map(Bytes::new);
        assert_eq!(cutoffs(&sizes(&three), 100_000, 4), own);
        assert_eq!(cutoffs(&sizes(&three), 100_000, 3), own);
        assert_eq!(cutoffs(&sizes(&three), 100_000, 2), own[1..]);
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
