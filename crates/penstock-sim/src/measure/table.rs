//! Named, typed columns: the form in which a run returns its measurements.

/// A column of a table; the unit is part of its name.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Truth values.
    Bool(Vec<bool>),
    /// Small non-negative integers.
    U32(Vec<u32>),
    /// Small integers.
    I32(Vec<i32>),
    /// Non-negative integers.
    U64(Vec<u64>),
    /// Integers.
    I64(Vec<i64>),
    /// Real numbers; NaN where a row has no value.
    F64(Vec<f64>),
}

/// A table: columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table, and the stem of its file.
    pub name: &'static str,
    /// Columns of the table, by name.
    pub columns: Vec<(&'static str, Column)>,
}
