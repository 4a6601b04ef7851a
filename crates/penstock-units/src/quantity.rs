//! Quantities as people write them: a number, an optional space, a unit.
//!
//! Decimal fractions are exact: `"1.5 us"` is 1,500,000 ps, and `"0.3 ps"` is refused, not rounded.
//! Bytes have decimal (`kB`, `MB`) and binary (`KiB`, `MiB`) units.

use alloc::string::{String, ToString};
use core::fmt;

use thiserror::Error;

/// Why a text is not a quantity. The message names the text and says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a {quantity}: {reason}; write a number and a unit, one of {units}")]
pub struct ParseQuantityError {
    text: String,
    quantity: &'static str,
    reason: &'static str,
    units: &'static str,
}

/// What is read as one kind of quantity.
pub(crate) struct Quantity {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// Each unit that is understood, and what it stands for.
    pub(crate) units: &'static [(&'static str, u64)],
    /// The units that a message offers.
    pub(crate) listed: &'static str,
}

impl Quantity {
    /// Reads a text, exactly.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, ParseQuantityError> {
        let refuse = |reason| ParseQuantityError {
            text: text.to_string(),
            quantity: self.name,
            reason,
            units: self.listed,
        };
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(refuse("it is negative"));
        }
        let end = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let factor = self
            .units
            .iter()
            .find(|(name, _)| *name == unit.trim())
            .map(|(_, factor)| *factor)
            .ok_or_else(|| refuse("its unit is unknown"))?;
        let digits = number.replace('_', "");
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(refuse("it has no number"));
        }
        scale(whole, fraction, factor).ok_or_else(|| refuse("it is too large or too fine"))
    }
}

/// `whole.fraction * factor`; none unless the product is a whole number that fits.
fn scale(whole: &str, fraction: &str, factor: u64) -> Option<u64> {
    let digits = |text: &str| {
        if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() }
    };
    let power = 10u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fractional = u128::from(digits(fraction)?) * u128::from(factor);
    if !fractional.is_multiple_of(u128::from(power)) {
        return None;
    }
    let total = u128::from(digits(whole)?) * u128::from(factor) + fractional / u128::from(power);
    u64::try_from(total).ok()
}

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
    use super::*;
    use proptest::prelude::*;

    use crate::{BitRate, Bytes, Time};

    #[test]
    fn quantities_parse_exactly() {
        assert_eq!("1.5 us".parse(), Ok(Time::from_ns(1_500)));
        assert_eq!("80ps".parse(), Ok(Time::from_ps(80)));
        assert_eq!("100 Gb/s".parse(), Ok(BitRate::from_gbps(100)));
        assert_eq!("12 MiB".parse(), Ok(Bytes::new(12_582_912)));
        assert_eq!("37.5 kB".parse(), Ok(Bytes::new(37_500)));
    }

    #[test]
    fn refusals_name_the_text_and_the_units() {
        let message = "12 parsecs".parse::<Time>().unwrap_err().to_string();
        assert!(message.contains("12 parsecs") && message.contains("us"), "{message}");
        assert!("".parse::<Bytes>().is_err());
        let message = "-3 us".parse::<Time>().unwrap_err().to_string();
        assert!(message.contains("it is negative"), "{message}");
        assert!("0.3 ps".parse::<Time>().is_err());
        assert!("99999999999999 s".parse::<Time>().is_err());
    }

    #[test]
    fn printing_is_short_and_exact() {
        assert_eq!(Time::from_ns(1_500).to_string(), "1.5 us");
        assert_eq!(Time::ZERO.to_string(), "0 ps");
        assert_eq!(Bytes::new(12_582_912).to_string(), "12 MiB");
        assert_eq!(Bytes::new(1_024_000).to_string(), "1.024 MB");
        assert_eq!(Bytes::new(1_048).to_string(), "1.048 kB");
    }

    proptest! {
        #[test]
        fn printing_round_trips(ps in any::<u64>(), bytes in any::<u64>(), bps in any::<u64>()) {
            prop_assert_eq!(Time::from_ps(ps).to_string().parse(), Ok(Time::from_ps(ps)));
            prop_assert_eq!(Bytes::new(bytes).to_string().parse(), Ok(Bytes::new(bytes)));
            prop_assert_eq!(BitRate::from_bps(bps).to_string().parse(), Ok(BitRate::from_bps(bps)));
        }
    }
}
