//! The pause times of FAFC (sec. II-D, eq. 9 to 11; Algorithm 2, lines 11 to 14): the linear program
//!
//! > minimise Σ R_i T_i subject to Σ r_ie T_i ≥ need and 0 ≤ T_i ≤ T_hop
//!
//! is a continuous knapsack. Each nanosecond of pause of port i takes r_ie bytes off the congested
//! egress and costs R_i bytes of others. So it is optimal to fill the ports in the order of R_i / r_ie
//! until the need is met. This is exact, and takes O(n log n) at most; the paper runs the simplex
//! method.
//!
//! The paper says that the need can always be met. With pauses that have just expired this may be
//! false. Then every port that feeds the egress is paused for T_hop (our choice: as near as possible).
//! Of ports with the same ratio the lowest number comes first (our choice).
//!
//! A sum of products may miss the need by its rounding. What is left then pauses no further port: every
//! pause is a frame of at least a nanosecond, and the next port may be the one that carries victims.

use borsh::{BorshDeserialize, BorshSerialize};

/// At most this many ports are sorted. Of more ports the cheaper half is found first. That half is
/// paused as a whole, or the other half does not matter. For 64 ports this takes half the time of
/// sorting all of them.
const SORTED: usize = 8;

/// What is left of the need counts as nothing up to this share of the need, because it comes from
/// rounding. Our choice: 2^-53 for each of hundreds of sums, and far below a byte.
const ROUNDING: f64 = 1e-13;

/// The program's data of an ingress port.
#[derive(Clone, Copy, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct IngressPort {
    /// r_ie: rate of the port to the congested egress (bytes/ns), >= 0. With 0 the port is not paused.
    pub relief: f64,
    /// R_i: rate of the port to uncongested ports (bytes/ns), >= 0.
    pub loss: f64,
    /// T_hop of the port's link: the longest pause (ns), >= 0.
    pub longest: f64,
}

/// A port and its R_i / r_ie while the ports are sorted: the bits of the ratio, then the port's number.
/// The ratio is not negative (nor a negative zero), so its bits sort like the ratio. One integer sorts
/// faster than a pair.
pub type Ranked = u128;

/// Writes the optimal pause time of each port (ns) into `times`, so that the congested egress gets
/// `need` bytes less. With a need of 0 or less no port is paused. `ranks` is working memory. `ranks`
/// and `times` are as long as `ports`. Nothing is allocated.
///
/// # Panics
/// When `ranks` or `times` is shorter than `ports`.
pub fn allocate(ports: &[IngressPort], need: f64, ranks: &mut [Ranked], times: &mut [f64]) {
    times[..ports.len()].fill(0.0);
    let mut count = 0;
    for (number, port) in ports.iter().enumerate() {
        if port.relief > 0.0 {
            let ratio = u128::from((port.loss / port.relief).abs().to_bits());
            ranks[count] = (ratio << 32) | number as u128;
            count += 1;
        }
    }
    let (mut left, mut open) = (need, &mut ranks[..count]);
    while open.len() > SORTED {
        let middle = open.len() / 2;
        open.select_nth_unstable(middle);
        let (cheaper, dearer) = open.split_at_mut(middle);
        let relief = |&rank: &Ranked| ports[number(rank)].relief * ports[number(rank)].longest;
        let all: f64 = cheaper.iter().map(relief).sum();
        if all > left {
            open = cheaper;
            continue;
        }
        for &rank in cheaper.iter() {
            times[number(rank)] = ports[number(rank)].longest;
        }
        left -= all;
        open = dearer;
    }
    open.sort_unstable();
    for number in open.iter().copied().map(number) {
        if left <= need * ROUNDING {
            return;
        }
        let port = &ports[number];
        times[number] = (left / port.relief).min(port.longest);
        left -= port.relief * times[number];
    }
}

/// The number of a ranked port.
fn number(rank: Ranked) -> usize {
    rank as u32 as usize
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    fn times(ports: &[(f64, f64)], need: f64) -> Vec<f64> {
        let port = |&(relief, loss)| IngressPort { relief, loss, longest: 1_000.0 };
        let ports: Vec<IngressPort> = ports.iter().map(port).collect();
        let (mut ranks, mut times) = (vec![0; ports.len()], vec![9.0; ports.len()]);
        allocate(&ports, need, &mut ranks, &mut times);
        times
    }

    #[test]
    fn ports_without_loss_are_paused_before_the_one_that_carries_victims() {
        // 25 Gb/s is 3.125 bytes/ns. There are two incast ports, and a link with half of its traffic
        // for others.
        let ports = [(1.5625, 1.5625), (3.125, 0.0), (3.125, 0.0)];
        assert_eq!(times(&ports, 3_125.0), [0.0, 1_000.0, 0.0]);
        assert_eq!(times(&ports, 4_687.5), [0.0, 1_000.0, 500.0]);
        assert_eq!(times(&ports, 7_031.25), [500.0, 1_000.0, 1_000.0]);
    }

    #[test]
    fn the_loss_for_each_byte_of_relief_decides_and_not_the_loss() {
        // 2/4 is below 1/1: the port with the larger loss is paused.
        assert_eq!(times(&[(1.0, 1.0), (4.0, 2.0)], 2_000.0), [0.0, 500.0]);
    }

    #[test]
    fn of_many_ports_the_cheapest_are_paused_wherever_they_are() {
        // The losses are 0 to 63, mixed. A port relieves the egress by 2,000 bytes in all of T_hop.
        let ports: Vec<(f64, f64)> = (0..64).map(|port| (2.0, f64::from(port * 45 % 64))).collect();
        for whole in 0..64 {
            let need = 2_000.0 * f64::from(whole) + 500.0;
            let expected = ports.iter().map(|&(_, loss)| match loss - f64::from(whole) {
                0.0 => 250.0,
                dearer if dearer > 0.0 => 0.0,
                _ => 1_000.0,
            });
            assert_eq!(times(&ports, need), expected.collect::<Vec<f64>>(), "{whole}");
        }
    }

    #[test]
    fn what_rounding_leaves_of_a_need_pauses_no_further_port() {
        for count in 1..2_000 {
            let relief = f64::from(count) / 700.0;
            // The first port alone can meet each of these needs, the second one all of T_hop.
            let one = times(&[(relief, 0.0), (1.0, 1.0)], relief * 333.3);
            assert_eq!(one[1], 0.0, "{relief}");
            let share = relief / 3.0;
            let whole = times(&[(share, 0.0), (0.1, 0.0), (1.0, 1.0)], (share + 0.1) * 1_000.0);
            assert_eq!(whole[2], 0.0, "{relief}");
        }
    }

    #[test]
    fn a_need_that_cannot_be_met_pauses_all_that_feed_the_egress() {
        assert_eq!(times(&[(1.0, 0.0), (0.0, 0.0), (1.0, 5.0)], 1e9), [1_000.0, 0.0, 1_000.0]);
    }

    #[test]
    fn a_sum_of_nothing_is_no_loss_whatever_its_sign() {
        let nothing: f64 = core::iter::empty::<f64>().sum();
        assert_eq!(
            times(&[(1.0, 0.5), (1.0, nothing), (1.0, -nothing)], 1_500.0),
            [0.0, 1_000.0, 500.0]
        );
    }

    #[test]
    fn without_need_nobody_is_paused() {
        assert_eq!(times(&[(1.0, 0.0)], 0.0), [0.0]);
        assert_eq!(times(&[(1.0, 0.0)], -5.0), [0.0]);
        assert_eq!(times(&[], 5.0), [0.0; 0]);
    }
}
