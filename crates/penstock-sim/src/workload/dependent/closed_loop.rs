//! What requests and bursts share: a client that does something again and again, with pauses, and begins
//! anew only when the last time is over.
//!
//! What a client does in a round is drawn from a stream that belongs to the entry, the client's slot and the
//! number of the round. So a draw depends on nothing else, and nothing of it need be kept.

use penstock_engine::stream::{mix, stream};
use penstock_units::random::Pcg64Mcg;
use penstock_units::{Problems, Time};
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topology::Topology;
use crate::workload::draw;

/// How long a client pauses; `kind` names the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PauseConfig {
    /// Always as long.
    Fixed {
        /// The time.
        #[schemars(extend("default" = 0, "source" = "our choice: none"))]
        time: Time,
    },
    /// Exponentially distributed times.
    Exponential {
        /// The mean.
        #[schemars(range(min = 1))]
        mean: Time,
    },
}

impl PauseConfig {
    /// The mean (s).
    fn mean(&self) -> f64 {
        match self {
            PauseConfig::Fixed { time } => time.as_s_f64(),
            PauseConfig::Exponential { mean } => mean.as_s_f64(),
        }
    }

    /// Draws a pause.
    pub(super) fn draw(&self, random: &mut impl RngCore) -> Time {
        match self {
            PauseConfig::Fixed { time } => *time,
            PauseConfig::Exponential { mean } => {
                Time::from_ps((-libm::log(draw::unit(random)) * mean.as_ps() as f64) as u64)
            }
        }
    }
}

/// How many rounds the slots of client `host` make in `span`, about: as many as an idle network allows. In a
/// round `bytes` go over the client's link, and the client waits for so many packets that cross the network.
pub(super) fn rounds(
    topology: &Topology,
    host: u32,
    (bytes, crossings, pause): (f64, f64, PauseConfig),
    slots: f64,
    span: Time,
) -> f64 {
    let link = &topology.links[topology.uplink(host) as usize];
    let sent = 8.0 * bytes / link.rate.as_bps() as f64;
    let round = pause.mean() + sent + 2.0 * crossings * link.delay.as_s_f64();
    slots * span.as_s_f64() / round.max(slots * sent)
}

/// The most flows that all clients of an entry may have at a time (our choice: a gigabyte of memory).
const MOST_AT_ONCE: u64 = 1 << 20;

/// Refuses the entry when its clients would have too many flows at a time; `field` is one that says how many.
pub(super) fn check_count(flows: u64, field: &str, value: u32, problems: &mut Problems) {
    let remedy = format!(
        "all clients together would have {flows} flows at a time; at most {MOST_AT_ONCE} are possible"
    );
    problems.unless(flows <= MOST_AT_ONCE, field, value, remedy);
}

/// The streams of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    key: u64,
}

/// For what a draw is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// How long the client pauses before the round.
    Pause,
    /// With whom it speaks.
    Peers,
    /// How much is sent by the flow of this number in the round.
    Size(u64),
}

impl Streams {
    /// The streams of the traffic entry `label`.
    pub(super) fn new(seed: u64, label: u16) -> Self {
        Streams { key: stream(seed, &format!("traffic/{label}/rounds")).next_u64() }
    }

    /// The draws of `slot` in `round` for `purpose`.
    pub(super) fn of(self, slot: u64, round: u64, purpose: Purpose) -> Pcg64Mcg {
        let purpose = match purpose {
            Purpose::Pause => 0,
            Purpose::Peers => 1,
            Purpose::Size(flow) => 2 + flow,
        };
        let low = mix(mix(mix(self.key ^ slot) ^ round) ^ purpose);
        Pcg64Mcg::new((u128::from(mix(low)) << 64) | u128::from(low))
    }
}

/// The one in place `place` of some different ones drawn from `list` without `own`.
pub(super) fn pick(list: &[u32], own: u32, place: usize, random: &mut impl RngCore) -> u32 {
    // The steps of a Fisher-Yates shuffle, of which only the places that were exchanged are kept.
    // In a list of all hosts each has its own place.
    let at = match list.get(own as usize) == Some(&own) {
        true => Some(own as usize),
        false => list.iter().position(|&host| host == own),
    };
    let left = list.len() - usize::from(at.is_some());
    let mut exchanged: Vec<(usize, usize)> = Vec::with_capacity(place + 1);
    for step in 0..=place {
        let drawn = step + draw::index(random, left - step);
        let value = |place: usize| {
            let moved = exchanged.iter().rev().find(|(at, _)| *at == place);
            moved.map_or(place, |(_, value)| *value)
        };
        let (here, there) = (value(step), value(drawn));
        exchanged.push((drawn, here));
        exchanged.push((step, there));
    }
    let found = exchanged.last().map_or(0, |(_, value)| *value);
    list[found + usize::from(at.is_some_and(|at| found >= at))]
}

/// Checks that every one of `from` can speak with `most` others of `to`, the hosts of the list `field`.
pub(super) fn check_peers(
    field: &str,
    (from, to): (&[u32], &[u32]),
    most: u32,
    problems: &mut Problems,
) {
    if to.len() > most as usize {
        return;
    }
    let alone = from.iter().find(|host| {
        let own = usize::from(to.contains(host));
        to.len() - own < most as usize
    });
    if let Some(host) = alone {
        let remedy = format!(
            "host {host} needs {most} others among them, without itself; name more, or ask fewer at once"
        );
        problems.unless(false, field, format!("a list of {}", to.len()), remedy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_are_different_and_never_the_client() {
        let list = [3, 9, 4, 7, 5];
        let streams = Streams::new(1, 0);
        let mut counts = [0u32; 10];
        for round in 0..2_000 {
            let picked: Vec<u32> = (0..4)
                .map(|place| pick(&list, 4, place, &mut streams.of(0, round, Purpose::Peers)))
                .collect();
            let mut sorted = picked.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [3, 5, 7, 9], "all others, each once");
            counts[picked[0] as usize] += 1;
        }
        // Each is first in a quarter of 2,000 rounds, within five standard deviations of 19.
        for host in [3, 5, 7, 9] {
            assert!(counts[host].abs_diff(500) < 97, "{counts:?}");
        }
    }

    #[test]
    fn exponential_pauses_have_their_mean() {
        let pause = PauseConfig::Exponential { mean: Time::from_us(3) };
        let streams = Streams::new(7, 2);
        let draws = (0..20_000).map(|round| pause.draw(&mut streams.of(5, round, Purpose::Pause)));
        let mean = draws.map(|one| one.as_ps() as f64).sum::<f64>() / 20_000.0;
        // Within five standard errors: 5 / sqrt(20,000) is 3.5 %.
        assert!((mean / 3e6 - 1.0).abs() < 0.035, "{mean}");
    }
}
