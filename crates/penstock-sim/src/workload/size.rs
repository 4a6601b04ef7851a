//! Flow sizes: a table of cumulative probabilities, or a built-in distribution.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_transport::SizeShare;
use penstock_units::{Bytes, Problem};
use rand_core::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{draw, shortened};

/// How far the last cumulative probability may be from 1 (our choice: more than the rounding of
/// percentages divided by 100, less than any intended difference).
const LAST_TOLERANCE: f64 = 1e-9;

/// How many points stand for a distribution of sizes (our choice: a hundred for each of 127
/// priority levels).
const POINTS: u32 = 1 << 14;

/// The largest flow (bytes) (our choice: who reads tables of results may have no larger whole number).
pub(super) const MOST: u64 = i64::MAX as u64;

/// What to do with a size above [`MOST`].
pub(super) fn write_at_most() -> String {
    format!("no table of results holds a larger flow; write at most {MOST} bytes")
}

/// The `sizes` section of an open-loop entry; `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizeConfig {
    /// A table of sizes and cumulative shares of flows.
    Cdf {
        /// Name of the distribution, or of the file it came from.
        name: String,
        /// How the table is sampled: straight lines, or each row one size.
        convention: Convention,
        /// Rows [size in bytes, share of flows].
        ///
        /// The share is of the flows that are at most so large; neither decreases, and the last share is 1.
        points: Vec<(Bytes, f64)>,
    },
    /// Every flow has the same size.
    Fixed {
        /// Size of every flow.
        #[schemars(range(min = 1))]
        size: Bytes,
    },
    /// Exponentially distributed sizes.
    ///
    /// Rounded to whole bytes.
    Exponential {
        /// Mean size.
        #[schemars(range(min = 1))]
        mean: Bytes,
    },
    /// Pareto-distributed sizes, e.g. AFQ's shape 1.1 and mean 30 KB (sec. 6.2.1).
    ///
    /// Type I, unbounded, rounded to whole bytes.
    Pareto {
        /// Tail index.
        ///
        /// The mean of 1 would be infinite.
        #[schemars(extend("exclusiveMinimum" = 1, "default" = 1.1, "source" = AFQ))]
        shape: f64,
        /// Mean size.
        #[schemars(range(min = 1), extend("default" = "30 kB", "source" = AFQ))]
        mean: Bytes,
    },
}

/// The source of the Pareto distribution.
const AFQ: &str = "AFQ 6.2.1";

/// How a table of cumulative probabilities is sampled; the wrong one changes the mean by up to half
/// (workloads/README.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, JsonSchema, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// Straight lines between the rows.
    ///
    /// As in the HPCC and BFC traffic generators. What the first row already has above zero is an atom at
    /// its size (our choice: the published tables start at zero).
    Linear,
    /// Each row one size.
    ///
    /// The first size whose share reaches the draw, as in Homa's generator.
    Step,
}

/// A distribution of flow sizes that was checked and can be drawn from.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct SizeDistribution {
    form: Form,
    mean: f64,
}

#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
enum Form {
    Table { convention: Convention, sizes: Vec<f64>, shares: Vec<f64> },
    Fixed(u64),
    Exponential,
    Pareto { shape: f64, least: f64 },
}

impl SizeConfig {
    /// The distribution that the section describes; `field` is the path of the section in the
    /// scenario.
    ///
    /// # Errors
    /// When a table is empty, not monotone, or does not end at 1; when a size is too large.
    pub fn distribution(&self, field: &str) -> Result<SizeDistribution, Problem> {
        self.check_largest(field)?;
        let (form, mean) = match self {
            SizeConfig::Cdf { convention, points, .. } => table(field, *convention, points)?,
            SizeConfig::Fixed { size } => (Form::Fixed(size.get()), size.get() as f64),
            SizeConfig::Exponential { mean } => (Form::Exponential, mean.get() as f64),
            SizeConfig::Pareto { shape, mean } => {
                let mean = mean.get() as f64;
                (Form::Pareto { shape: *shape, least: mean * ((shape - 1.0) / shape) }, mean)
            }
        };
        Ok(SizeDistribution { form, mean })
    }

    /// Refuses a size that no table of results holds.
    fn check_largest(&self, field: &str) -> Result<(), Problem> {
        let (size, at) = match self {
            SizeConfig::Cdf { points, .. } => match points.last() {
                Some(&(size, _)) => (size, format!("points[{}][0]", points.len() - 1)),
                None => return Ok(()),
            },
            SizeConfig::Fixed { size } => (*size, "size".to_owned()),
            SizeConfig::Exponential { mean } | SizeConfig::Pareto { mean, .. } => {
                (*mean, "mean".to_owned())
            }
        };
        if size.get() > MOST {
            return Err(Problem::new(format!("{field}.{at}"), size, write_at_most()));
        }
        Ok(())
    }

    /// The same choice with at most one row of a table, for a check that all rows have in common.
    pub(super) fn shortened(&self) -> SizeConfig {
        match self {
            SizeConfig::Cdf { convention, points, .. } => SizeConfig::Cdf {
                name: String::new(),
                convention: *convention,
                points: shortened(points),
            },
            other => other.clone(),
        }
    }
}

/// Checks a table; returns the distribution with its mean.
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
        let (at, remedy) =
            (format!("{field}.points"), "every flow has no bytes; write sizes above 0");
        return Err(Problem::new(at, "a table of mean 0 B", remedy));
    }
    let form = Form::Table { convention, sizes, shares };
    Ok((form, mean))
}

/// Refuses the first row that does not continue a cumulative distribution.
fn check_rows(field: &str, points: &[(Bytes, f64)]) -> Result<(), Problem> {
    if points.is_empty() {
        let remedy = "the table is empty; write rows of size and cumulative share";
        return Err(Problem::new(format!("{field}.points"), "a list of 0", remedy));
    }
    let mut before = (Bytes::ZERO, 0.0);
    for (row, &(size, share)) in points.iter().enumerate() {
        let above = || {
            if row == 0 {
                "sizes and shares are 0 or more".to_owned()
            } else {
                format!(
                    "row {} has [{}, {}]; neither may decrease from row to row",
                    row - 1,
                    before.0.get(),
                    before.1
                )
            }
        };
        if !(before.1..=1.0).contains(&share) {
            let remedy = format!("{}, and shares are at most 1", above());
            return Err(Problem::new(format!("{field}.points[{row}][1]"), share, remedy));
        }
        if size < before.0 {
            return Err(Problem::new(format!("{field}.points[{row}][0]"), size, above()));
        }
        before = (size, share);
    }
    if (before.1 - 1.0).abs() > LAST_TOLERANCE {
        let (at, value) = (format!("{field}.points"), format!("a table that ends at {}", before.1));
        let remedy = "its last share is not 1; end it with the largest flow at 1";
        return Err(Problem::new(at, value, remedy));
    }
    Ok(())
}

impl SizeDistribution {
    /// Mean size under the table's convention (bytes). The mean does not count that each draw is
    /// rounded to whole bytes, at least one.
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

    /// The size at `level`, a share of the flows in (0, 1] (bytes), from 1 to 2^63 - 1.
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
        (libm::round(size) as u64).clamp(1, MOST)
    }

    /// So many `flows` of these sizes, at equally likely points.
    pub(super) fn points(&self, flows: f64) -> impl Iterator<Item = SizeShare> + '_ {
        let at = |point: u32| (f64::from(point) + 0.5) / f64::from(POINTS);
        let flows = flows / f64::from(POINTS);
        (0..POINTS).map(move |point| SizeShare { size: self.at(at(point)), flows })
    }
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
