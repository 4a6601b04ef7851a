//! Flow sizes: a table of cumulative probabilities, or a built-in distribution.

use penstock_units::{Bytes, Problem};
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw;

/// How far the last cumulative probability may be from 1 (our choice: above the rounding of
/// percentages divided by 100, below any difference that is meant).
const LAST_TOLERANCE: f64 = 1e-9;

/// The `sizes` section of an open-loop entry; `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizeConfig {
    /// A table, as published with the workloads of a paper.
    Cdf {
        /// What the table is called, for people.
        name: String,
        /// How the tool that the table comes from draws from it.
        convention: Convention,
        /// Rows of (size in bytes, share of the flows that are at most so large, in [0, 1]), both
        /// non-decreasing, the last share 1.
        points: Vec<(Bytes, f64)>,
    },
    /// Every flow has the same size.
    Fixed {
        /// Bytes, > 0.
        size: Bytes,
    },
    /// Exponential, rounded to whole bytes.
    Exponential {
        /// Bytes, > 0.
        mean: Bytes,
    },
    /// Pareto (type I, unbounded), rounded to whole bytes. AFQ's evaluation uses shape 1.1 and a
    /// mean of 30 KB.
    Pareto {
        /// Tail index, > 1 so that the mean exists.
        shape: f64,
        /// Bytes, > 0.
        mean: Bytes,
    },
}

/// How a table of cumulative probabilities is drawn from; the wrong one changes the mean by up to
/// half (workloads/README.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// Straight lines between the rows (the HPCC and BFC traffic generators). What the first row
    /// already has above zero is an atom at its size (our choice: the published tables start at
    /// zero).
    Linear,
    /// Every row is an atom: the first size whose share reaches the draw (Homa's generator).
    Step,
}

/// A distribution of flow sizes that was checked and is ready to be drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeDistribution {
    form: Form,
    mean: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Form {
    Table { convention: Convention, sizes: Vec<f64>, shares: Vec<f64> },
    Fixed(u64),
    Exponential,
    Pareto { shape: f64, least: f64 },
}

impl SizeConfig {
    /// Checks the section, which is at `field` in the scenario.
    ///
    /// # Errors
    /// When a size or mean is zero, a shape is not above 1, or a table is empty, not monotone, or
    /// does not end at 1.
    pub fn distribution(&self, field: &str) -> Result<SizeDistribution, Problem> {
        let positive = |name: &str, bytes: Bytes| match bytes.get() {
            0 => Err(Problem::new(format!("{field}.{name}"), bytes, "write at least 1 byte")),
            bytes => Ok(bytes),
        };
        let (form, mean) = match self {
            SizeConfig::Cdf { convention, points, .. } => table(field, *convention, points)?,
            SizeConfig::Fixed { size } => {
                let size = positive("size", *size)?;
                (Form::Fixed(size), size as f64)
            }
            SizeConfig::Exponential { mean } => {
                (Form::Exponential, positive("mean", *mean)? as f64)
            }
            SizeConfig::Pareto { shape, mean } => {
                let mean = positive("mean", *mean)? as f64;
                if !(shape.is_finite() && *shape > 1.0) {
                    let remedy = "write a tail index above 1, or the mean would be infinite";
                    return Err(Problem::new(format!("{field}.shape"), shape, remedy));
                }
                (Form::Pareto { shape: *shape, least: mean * (shape - 1.0) / shape }, mean)
            }
        };
        Ok(SizeDistribution { form, mean })
    }
}

/// Checks a table; returns it with its mean.
fn table(
    field: &str,
    convention: Convention,
    points: &[(Bytes, f64)],
) -> Result<(Form, f64), Problem> {
    check_rows(field, points)?;
    let sizes: Vec<f64> = points.iter().map(|point| point.0.get() as f64).collect();
    let mut shares: Vec<f64> = points.iter().map(|point| point.1).collect();
    if let Some(last) = shares.last_mut() {
        *last = 1.0;
    }
    let mut mean = sizes[0] * shares[0];
    for row in 1..sizes.len() {
        let size = match convention {
            Convention::Step => sizes[row],
            Convention::Linear => (sizes[row] + sizes[row - 1]) / 2.0,
        };
        mean += size * (shares[row] - shares[row - 1]);
    }
    if mean <= 0.0 {
        let (at, remedy) = (format!("{field}.points"), "write a table with sizes above 0 bytes");
        return Err(Problem::new(at, "a table of mean 0 B", remedy));
    }
    let form = Form::Table { convention, sizes, shares };
    Ok((form, mean))
}

/// Refuses rows that are not a cumulative distribution.
fn check_rows(field: &str, points: &[(Bytes, f64)]) -> Result<(), Problem> {
    let mut before = (Bytes::ZERO, 0.0);
    for (row, &(size, share)) in points.iter().enumerate() {
        if !(before.1..=1.0).contains(&share) {
            let remedy = "write cumulative shares from 0 to 1 that do not decrease";
            return Err(Problem::new(format!("{field}.points[{row}][1]"), share, remedy));
        }
        if size < before.0 {
            let remedy = "write sizes that do not decrease from row to row";
            return Err(Problem::new(format!("{field}.points[{row}][0]"), size, remedy));
        }
        before = (size, share);
    }
    if (before.1 - 1.0).abs() > LAST_TOLERANCE {
        let (at, value) = (format!("{field}.points"), format!("a table that ends at {}", before.1));
        let remedy = "write a table whose last cumulative share is 1";
        return Err(Problem::new(at, value, remedy));
    }
    Ok(())
}

impl SizeDistribution {
    /// Mean size, by the table's own convention (bytes); the rounding of a draw to whole bytes, at
    /// least one, is not counted.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Draws a size (bytes), >= 1.
    pub fn draw(&self, random: &mut impl RngCore) -> u64 {
        match self.form {
            Form::Fixed(size) => size,
            _ => self.at(draw::unit(random)),
        }
    }

    /// The size that `level` stands for, which is uniform in (0, 1] (bytes), >= 1.
    pub fn at(&self, level: f64) -> u64 {
        let size = match &self.form {
            Form::Fixed(size) => return *size,
            Form::Exponential => -self.mean * libm::log(level),
            Form::Pareto { shape, least } => least * libm::pow(level, -1.0 / shape),
            Form::Table { convention, sizes, shares } => {
                let row = shares.partition_point(|share| *share < level);
                match (convention, row) {
                    (Convention::Step, _) | (Convention::Linear, 0) => sizes[row],
                    (Convention::Linear, _) => {
                        let below = shares[row - 1];
                        let part = (level - below) / (shares[row] - below);
                        sizes[row - 1] + part * (sizes[row] - sizes[row - 1])
                    }
                }
            }
        };
        (libm::round(size) as u64).max(1)
    }
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
