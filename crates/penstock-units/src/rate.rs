//! Data rates in bits per second, and the one place where bytes become time.

use core::fmt;

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::write_exact;
use crate::{Bytes, Fidelity, Time};

/// Picoseconds in a second times bits in a byte.
pub const BIT_PICOSECONDS: u128 = 8 * 1_000_000_000_000;

/// Below this many bytes the exact product fits 64 bits. A 64-bit division takes a tenth of the
/// time of a 128-bit one, and the ideal completion time of a flow needs two dozen divisions.
const NARROW_BYTES: u64 = u64::MAX / BIT_PICOSECONDS as u64;

/// A data rate (bit/s).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(transparent)]
#[schemars(inline, extend("quantity" = "rate"))]
pub struct BitRate(u64);

impl BitRate {
    /// From bits per second.
    pub const fn from_bps(bits_per_second: u64) -> Self {
        BitRate(bits_per_second)
    }

    /// From megabits per second.
    pub const fn from_mbps(megabits_per_second: u64) -> Self {
        BitRate(megabits_per_second * 1_000_000)
    }

    /// From gigabits per second.
    pub const fn from_gbps(gigabits_per_second: u64) -> Self {
        BitRate(gigabits_per_second * 1_000_000_000)
    }

    /// In bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The time that `bytes` occupy a link of this rate, rounded up to whole picoseconds.
    ///
    /// # Panics
    /// When the rate is zero.
    pub fn transmission_time(self, bytes: Bytes) -> Time {
        if bytes.get() < NARROW_BYTES {
            return Time::from_ps((bytes.get() * BIT_PICOSECONDS as u64).div_ceil(self.0));
        }
        let exact = (u128::from(bytes.get()) * BIT_PICOSECONDS).div_ceil(u128::from(self.0));
        Time::from_ps(u64::try_from(exact).unwrap_or(u64::MAX))
    }

    /// The time that `bytes` occupy a link of this rate in the arithmetic of `fidelity`: rounded up
    /// to whole picoseconds, or what ns-3 calculates.
    ///
    /// # Panics
    /// When the rate is zero.
    #[inline]
    pub fn serialization_time(self, bytes: Bytes, fidelity: Fidelity) -> Time {
        match fidelity {
            Fidelity::Exact => self.transmission_time(bytes),
            Fidelity::Ns3Hpcc | Fidelity::Ns3Bfc => self.whole_nanoseconds(bytes),
        }
    }

    /// The time that `bytes` occupy a link in ns-3 (`DataRate::CalculateTxTime`,
    /// `Time::FromDouble`). ns-3 divides in seconds as a double, stores the quotient with 64 binary
    /// places, and cuts off everything below a nanosecond. A whole number of nanoseconds can thus
    /// become one less.
    fn whole_nanoseconds(self, bytes: Bytes) -> Time {
        const BINARY_PLACES: f64 = 18_446_744_073_709_551_616.0; // 2^64
        let seconds = (bytes.get() * 8) as f64 / self.0 as f64;
        let whole = seconds as u64;
        let fraction = ((seconds - whole as f64) * BINARY_PLACES) as u64;
        let nanoseconds = (u128::from(fraction) * 1_000_000_000) >> 64;
        Time::from_ns(whole * 1_000_000_000 + nanoseconds as u64)
    }

    /// The bytes that a link of this rate carries in `span`, rounded down.
    pub fn bytes_in(self, span: Time) -> Bytes {
        let exact = u128::from(span.as_ps()) * u128::from(self.0) / BIT_PICOSECONDS;
        Bytes::new(u64::try_from(exact).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] = [
            (1_000_000_000_000, "Tb/s"),
            (1_000_000_000, "Gb/s"),
            (1_000_000, "Mb/s"),
            (1_000, "kb/s"),
            (1, "b/s"),
        ];
        write_exact(f, self.0, &UNITS)
    }
}

/// A rate prepared for the hot path. The result is that of [`BitRate::serialization_time`], with
/// one multiplication where a byte takes a whole number of picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Transmission {
    rate: BitRate,
    /// Picoseconds per byte, when that number is whole and fits; else zero.
    byte_time: u32,
    fidelity: Fidelity,
}

impl Transmission {
    /// Prepares `rate`.
    ///
    /// # Panics
    /// When the rate is zero.
    pub fn new(rate: BitRate, fidelity: Fidelity) -> Self {
        assert!(rate.0 > 0, "a link rate must be positive");
        let per_second = BIT_PICOSECONDS as u64;
        let is_whole = per_second.is_multiple_of(rate.0);
        let byte_time = if is_whole { u32::try_from(per_second / rate.0).unwrap_or(0) } else { 0 };
        Transmission { rate, byte_time, fidelity }
    }

    /// The rate that was prepared.
    pub fn rate(self) -> BitRate {
        self.rate
    }

    /// The time that `bytes` occupy the link.
    #[inline]
    pub fn time(self, bytes: u32) -> Time {
        let exact = u64::from(bytes) * u64::from(self.byte_time);
        if exact > 0 && self.fidelity == Fidelity::Exact {
            return Time::from_ps(exact);
        }
        self.odd_time(bytes, exact)
    }

    /// As [`Transmission::time`], at a rate that is not prepared or under the fidelity of the ns-3 HPCC
    /// simulator; `exact` is the exact time (ps), 0 when the rate is not prepared. Out of line, so that
    /// the code of a usual packet-hop is short.
    #[cold]
    #[inline(never)]
    fn odd_time(self, bytes: u32, exact: u64) -> Time {
        match self.fidelity {
            // Unless the exact time is a whole number of nanoseconds, ns-3 simply rounds it down.
            fidelity if fidelity.is_ns3() && !exact.is_multiple_of(1_000) => {
                Time::from_ns(exact / 1_000)
            }
            fidelity => self.rate.serialization_time(Bytes::new(u64::from(bytes)), fidelity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_kilobyte_frame_at_100_gbps_takes_83_84_ns() {
        let rate = BitRate::from_gbps(100);
        assert_eq!(rate.transmission_time(Bytes::new(1_048)), Time::from_ps(83_840));
        assert_eq!(Transmission::new(rate, Fidelity::Exact).time(1_048), Time::from_ps(83_840));
    }

    #[test]
    fn ns_3_cuts_off_what_is_below_a_nanosecond() {
        // reference/ns3-hpcc/MODEL.md: bytes and ns at 100 Gb/s.
        let link = Transmission::new(BitRate::from_gbps(100), Fidelity::Ns3Hpcc);
        for (bytes, ns) in [(1_048, 83), (1_090, 87), (1_056, 84), (60, 4), (88, 7), (43, 3)] {
            assert_eq!(link.time(bytes), Time::from_ns(ns));
        }
    }

    #[test]
    fn ns_3_makes_99_ns_of_a_quotient_just_below_100_ns() {
        // 8,720 bits at 87.2 Gb/s are 1e-7 s, whose nearest double is smaller.
        let link = Transmission::new(BitRate::from_mbps(87_200), Fidelity::Ns3Hpcc);
        assert_eq!(link.time(1_090), Time::from_ns(99));
    }

    #[test]
    fn a_hop_of_2_us_holds_25_kb_at_100_gbps() {
        assert_eq!(BitRate::from_gbps(100).bytes_in(Time::from_us(2)), Bytes::new(25_000));
    }

    proptest! {
        #[test]
        fn prepared_and_plain_agree(bps in 1u64..2_000_000_000_000, bytes in 0u32..20_000) {
            let rate = BitRate::from_bps(bps);
            prop_assert_eq!(
                Transmission::new(rate, Fidelity::Exact).time(bytes),
                rate.transmission_time(Bytes::new(u64::from(bytes)))
            );
            prop_assert_eq!(
                Transmission::new(rate, Fidelity::Ns3Hpcc).time(bytes),
                rate.serialization_time(Bytes::new(u64::from(bytes)), Fidelity::Ns3Hpcc)
            );
        }

        #[test]
        fn time_rounds_up_and_bytes_round_down(bps in 1_000u64..1_000_000_000_000, bytes in 0u64..8_000_000) {
            let rate = BitRate::from_bps(bps);
            let time = rate.transmission_time(Bytes::new(bytes));
            prop_assert!(rate.bytes_in(time) >= Bytes::new(bytes));
            if time > Time::ZERO {
                prop_assert!(rate.bytes_in(time - Time::from_ps(1)) <= Bytes::new(bytes));
            }
        }
    }
}
