//! What a pause frame counts the length of a pause in: FAFC's nanoseconds (sec. III-B), or the quanta of
//! IEEE 802.1Qbb that the NICs of its testbed understand.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quantum is the time of 512 bits at the rate of the link (IEEE 802.1Qbb, and 802.3 annex 31B).
const QUANTUM: Bytes = Bytes::new(512 / 8);

/// What a frame counts the length of a pause in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseUnit {
    /// Nanoseconds in 32 bits (sec. III-B).
    Nanoseconds,
    /// The time of 512 bits on the link, in 16 bits (IEEE 802.1Qbb).
    Quanta,
}

impl PauseUnit {
    /// The lengths that a frame on a link of this rate can name.
    pub(super) fn at(self, rate: BitRate) -> WholeUnits {
        let (unit, most) = match self {
            PauseUnit::Nanoseconds => (Time::from_ns(1), u64::from(u32::MAX)),
            PauseUnit::Quanta => (rate.transmission_time(QUANTUM), u64::from(u16::MAX)),
        };
        WholeUnits { unit, most }
    }
}

/// The lengths that a frame can name.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub(super) struct WholeUnits {
    unit: Time,
    /// The largest number of units.
    most: u64,
}

impl WholeUnits {
    /// The length that is named for `time` (ns, > 0): rounded up to a whole unit, but at most `longest`,
    /// and at least one unit. In whole nanoseconds, rounded up.
    pub(super) fn round_up(self, time: f64, longest: Time) -> u32 {
        let units = time / self.unit.as_ns_f64();
        let whole = units as u64;
        let needed = whole + u64::from(units > whole as f64);
        let allowed = (longest.as_ps() / self.unit.as_ps()).clamp(1, self.most);
        let picoseconds = self.unit.as_ps() * needed.min(allowed);
        u32::try_from(picoseconds.div_ceil(1_000)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: Time = Time::from_us(1);

    #[test]
    fn nanoseconds_are_whole_and_at_most_a_hop() {
        let frame = PauseUnit::Nanoseconds.at(BitRate::from_gbps(25));
        assert_eq!(frame.round_up(833.3, HOP), 834);
        assert_eq!(frame.round_up(834.0, HOP), 834);
        assert_eq!(frame.round_up(1_000.4, HOP), 1_000);
        assert_eq!(frame.round_up(0.1, Time::from_ps(500)), 1);
    }

    #[test]
    fn quanta_are_512_bits_and_16_bits_of_them_at_most() {
        // A quantum takes 20.48 ns at 25 Gb/s: 41 of them are 839.68 ns, and 48 are 983.04 ns.
        let frame = PauseUnit::Quanta.at(BitRate::from_gbps(25));
        assert_eq!(frame.round_up(833.3, HOP), 840);
        assert_eq!(frame.round_up(1_000.0, HOP), 984);
        assert_eq!(frame.round_up(3e6, Time::from_ms(5)), 1_342_157); // 65,535 of them
        assert_eq!(frame.round_up(0.1, Time::from_ps(500)), 21);
    }
}
