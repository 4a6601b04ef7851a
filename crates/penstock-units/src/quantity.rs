//! Quantities as people read them: a number, a space, a unit. No digit is rounded away.

use core::fmt;

/// Writes `value` in the largest unit that leaves at most three exact decimals.
pub(crate) fn write_exact(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(u64, &str)],
) -> fmt::Result {
    for &(factor, name) in units {
        let step = (factor / 1_000).max(1);
        if value >= factor && value.is_multiple_of(step) {
            let (whole, rest) = (value / factor, value % factor / step);
            return match rest {
                0 => write!(f, "{whole} {name}"),
                _ => {
                    let decimals = alloc::format!("{rest:03}");
                    write!(f, "{whole}.{} {name}", decimals.trim_end_matches('0'))
                }
            };
        }
    }
    let smallest = units.last().map_or("", |unit| unit.1);
    write!(f, "{value} {smallest}")
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use crate::{BitRate, Bytes, Time};

    #[test]
    fn printing_is_short_and_exact() {
        assert_eq!(Time::from_ns(1_500).to_string(), "1.5 us");
        assert_eq!(Time::from_ps(1_000_001).to_string(), "1000.001 ns");
        assert_eq!(Time::ZERO.to_string(), "0 ps");
        assert_eq!(Bytes::new(12_582_912).to_string(), "12 MiB");
        assert_eq!(Bytes::new(1_024_000).to_string(), "1.024 MB");
        assert_eq!(Bytes::new(1_048).to_string(), "1.048 kB");
        assert_eq!(BitRate::from_gbps(100).to_string(), "100 Gb/s");
    }
}
