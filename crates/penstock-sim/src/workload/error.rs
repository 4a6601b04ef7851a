//! Why traffic is refused.

use std::fmt::Display;

use thiserror::Error;

/// Traffic that cannot be generated; the message names the field, its value and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}; {remedy}")]
pub struct WorkloadError {
    /// Path of the field, such as `traffic[2].pairs.sources[3]`.
    pub field: String,
    /// What was written there.
    pub value: String,
    /// What would be right, and why.
    pub remedy: String,
}

impl WorkloadError {
    /// From a field path, the value found there, and what would be right.
    pub(super) fn new(
        field: impl Into<String>,
        value: impl Display,
        remedy: impl Into<String>,
    ) -> Self {
        WorkloadError { field: field.into(), value: value.to_string(), remedy: remedy.into() }
    }
}
