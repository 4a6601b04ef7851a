//! Frames that are lost on links by chance.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::random::Pcg32;
use rand_core::RngCore;

/// Which frames of the links of a partition are lost. Each link draws for itself, frame by frame.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Losses {
    links: Vec<Draws>,
}

/// The draws of a link.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Draws {
    /// A frame is lost when a draw of 64 bits is below.
    below: u64,
    random: Pcg32,
}

impl Losses {
    /// Those of `links` of the network, each with its probability (from 0 to below 1) and its draws; none
    /// where no frame is ever lost.
    pub(crate) fn new(
        links: &[u32],
        probability: impl Fn(u32) -> f64,
        random: impl Fn(u32) -> Pcg32,
    ) -> Option<Box<Self>> {
        let below = |&link: &u32| (probability(link) * 2f64.powi(64)) as u64;
        let draws = |link: &u32| Draws { below: below(link), random: random(*link) };
        let is_any = links.iter().any(|link| below(link) > 0);
        is_any.then(|| Box::new(Losses { links: links.iter().map(draws).collect() }))
    }

    /// Draws whether the next frame of a link of the partition is lost.
    pub(crate) fn hits(&mut self, link: u32) -> bool {
        let draws = &mut self.links[link as usize];
        draws.below > 0 && draws.random.next_u64() < draws.below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_loses_its_share_of_frames_and_a_sound_one_draws_nothing() {
        let random = |link: u32| Pcg32::new(u64::from(link), 1);
        assert!(Losses::new(&[3, 4], |_| 0.0, random).is_none());
        let mut losses = Losses::new(&[3, 4], |link| f64::from(link - 3) / 4.0, random).unwrap();
        let hits: [usize; 2] = [0, 1].map(|link| (0..40_000).filter(|_| losses.hits(link)).count());
        assert_eq!(hits[0], 0);
        assert_eq!(losses.links[0].random.next_u64(), random(3).next_u64());
        assert!(hits[1].abs_diff(10_000) < 4 * 87, "{hits:?}"); // four deviations
    }
}
