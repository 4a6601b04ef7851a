//! Groups of flows to one receiver: open-loop traffic with a random incast ratio.
//!
//! PCN's paper draws the two hosts of each flow at random, with 1 to 15 senders to a receiver (W. Cheng
//! et al., PCN, NSDI 2020, sec. 7.4). The paper says no more. Here
//! a uniform receiver gets flows from a uniform number of different senders, which start together.
//! The gaps of the entry are the gaps between groups; they are longer by the mean ratio, so that
//! the load stays.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Problems;
use rand_core::RngCore;

use super::draw;

/// Groups of flows, drawn one flow at a time.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct FanIn {
    least: u32,
    most: u32,
    /// All hosts. The last host is the receiver of the group. The `left` hosts before it are the
    /// senders of the group that have not sent yet.
    hosts: Vec<u32>,
    left: usize,
}

impl FanIn {
    /// Groups of `least` to `most` senders among `hosts` hosts.
    pub(super) fn new((least, most): (u32, u32), hosts: u32, problems: &mut Problems) -> Self {
        let remedy = format!("it is below least, {least}; write it the other way round");
        problems.unless(least <= most, "most", most, remedy);
        let remedy = format!("a host has {} others; write at most that", hosts - 1);
        problems.unless(most < hosts, "most", most, remedy);
        FanIn { least, most, hosts: (0..hosts).collect(), left: 0 }
    }

    /// Mean number of flows in a group.
    pub(super) fn mean(&self) -> f64 {
        (f64::from(self.least) + f64::from(self.most)) / 2.0
    }

    /// Whether the next flow starts together with the previous flow.
    pub(super) fn is_within_group(&self) -> bool {
        self.left > 0
    }

    /// Draws (source, destination), two different hosts. The sources of a group differ, too.
    pub(super) fn draw(&mut self, random: &mut impl RngCore) -> (u32, u32) {
        let end = self.hosts.len() - 1;
        if self.left == 0 {
            self.hosts.swap(draw::index(random, end + 1), end);
            let ratios = (self.most - self.least + 1) as usize;
            self.left = self.least as usize + draw::index(random, ratios);
            // The first steps of a Fisher-Yates shuffle, from the back.
            for place in (end - self.left..end).rev() {
                self.hosts.swap(draw::index(random, place + 1), place);
            }
        }
        self.left -= 1;
        (self.hosts[end - 1 - self.left], self.hosts[end])
    }
}

#[cfg(test)]
mod tests {
    use penstock_engine::stream::stream;

    use super::*;

    #[test]
    fn groups_have_one_receiver_different_senders_and_a_uniform_ratio() {
        let mut fan_in = FanIn::new((1, 15), 64, &mut Problems::default());
        let mut random = stream(1, "pairs");
        let (mut ratios, mut received) = ([0u32; 16], [0u32; 64]);
        let groups = 64_000;
        for _ in 0..groups {
            let (first, receiver) = fan_in.draw(&mut random);
            let mut senders = vec![first];
            while fan_in.is_within_group() {
                let (source, destination) = fan_in.draw(&mut random);
                assert_eq!(destination, receiver);
                senders.push(source);
            }
            ratios[senders.len()] += 1;
            received[receiver as usize] += 1;
            senders.push(receiver);
            senders.sort_unstable();
            assert!(senders.windows(2).all(|pair| pair[0] < pair[1]), "{senders:?}");
        }
        assert_eq!(ratios[0], 0);
        // Within five standard errors of a binomial count.
        let near = |count: u32, share: f64| {
            let expected = f64::from(groups) * share;
            (f64::from(count) - expected).abs() < 5.0 * (expected * (1.0 - share)).sqrt()
        };
        assert!(ratios[1..].iter().all(|count| near(*count, 1.0 / 15.0)), "{ratios:?}");
        assert!(received.iter().all(|count| near(*count, 1.0 / 64.0)), "{received:?}");
    }

    #[test]
    fn ratios_are_checked() {
        let new = |ratios| {
            let mut problems = Problems::below("x");
            let mean = FanIn::new(ratios, 4, &mut problems).mean();
            (mean, problems.to_string())
        };
        assert!(new((3, 2)).1.starts_with("x.most is 2; it is below least, 3"));
        assert!(new((1, 4)).1.contains("a host has 3 others"));
        assert_eq!(new((9, 4)).1.lines().count(), 2);
        assert_eq!(new((1, 3)), (2.0, String::new()));
    }
}
