//! Bounds that parameters of several policies have.

use penstock_units::{BitRate, Problems, Time};

/// Refuses a weight that is not in (0, 1].
pub(crate) fn weight(problems: &mut Problems, field: &str, weight: f64) {
    let remedy = "it must be above 0 and at most 1";
    problems.unless(weight > 0.0 && weight <= 1.0, field, weight, remedy);
}

/// Refuses a span of no time.
pub(crate) fn interval(problems: &mut Problems, field: &str, interval: Time) {
    problems.unless(interval > Time::ZERO, field, interval, "it must be above 0, such as 50 us");
}

/// Refuses a rate of zero: a smallest one at which nothing is sent any more, a step that is none.
pub(crate) fn rate(problems: &mut Problems, field: &str, rate: BitRate) {
    problems.unless(rate.as_bps() > 0, field, rate, "it must be above 0, such as 100 Mb/s");
}
