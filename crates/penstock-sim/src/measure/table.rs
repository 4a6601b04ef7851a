//! Named, typed columns: what a run hands over.

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
    /// Real numbers; NaN where there is none.
    F64(Vec<f64>),
}

/// A table: columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it is called, which is also the stem of its file.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<(&'static str, Column)>,
}
