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

impl Column {
    /// Appends the rows of `other`, which has the same type.
    ///
    /// # Panics
    /// When the types differ.
    pub fn append(&mut self, other: Column) {
        match (self, other) {
            (Column::Bool(rows), Column::Bool(more)) => rows.extend(more),
            (Column::U32(rows), Column::U32(more)) => rows.extend(more),
            (Column::I32(rows), Column::I32(more)) => rows.extend(more),
            (Column::U64(rows), Column::U64(more)) => rows.extend(more),
            (Column::I64(rows), Column::I64(more)) => rows.extend(more),
            (Column::F64(rows), Column::F64(more)) => rows.extend(more),
            _ => panic!("columns of one name have one type"),
        }
    }

    /// Puts row `order[n]` into row n.
    fn reorder(&mut self, order: &[usize]) {
        fn of<T: Copy>(rows: &mut Vec<T>, order: &[usize]) {
            *rows = order.iter().map(|&row| rows[row]).collect();
        }
        match self {
            Column::Bool(rows) => of(rows, order),
            Column::U32(rows) => of(rows, order),
            Column::I32(rows) => of(rows, order),
            Column::U64(rows) => of(rows, order),
            Column::I64(rows) => of(rows, order),
            Column::F64(rows) => of(rows, order),
        }
    }

    /// Row `row` as a number by which rows can be sorted. Non-negative reals keep their order.
    ///
    /// # Panics
    /// When there is no such row.
    pub(crate) fn key(&self, row: usize) -> u64 {
        match self {
            Column::Bool(rows) => u64::from(rows[row]),
            Column::U32(rows) => u64::from(rows[row]),
            Column::I32(rows) => rows[row] as u64,
            Column::U64(rows) => rows[row],
            Column::I64(rows) => rows[row] as u64,
            Column::F64(rows) => rows[row].to_bits(),
        }
    }
}

impl Table {
    /// The rows of `tables`, of equal name and columns, sorted by `key`. Rows with equal keys keep their
    /// order. None without tables.
    ///
    /// `key` gets a row's values in the columns `by`, as [`Column::key`] gives them.
    pub(crate) fn merged<const N: usize, K: Ord>(
        tables: Vec<Table>,
        by: [&str; N],
        key: impl Fn([u64; N]) -> K,
    ) -> Option<Table> {
        let mut tables = tables.into_iter();
        let mut merged = tables.next()?;
        for table in tables {
            for ((_, rows), (_, more)) in merged.columns.iter_mut().zip(table.columns) {
                rows.append(more);
            }
        }
        let columns = by.map(|name| {
            let column = merged.columns.iter().find(|column| column.0 == name);
            &column.expect("the table has the column").1
        });
        let rows = merged.rows();
        let key = |&row: &usize| key(columns.map(|column| column.key(row)));
        if !(0..rows).is_sorted_by_key(|row| key(&row)) {
            let mut order: Vec<usize> = (0..rows).collect();
            order.sort_by_cached_key(key);
            merged.columns.iter_mut().for_each(|(_, column)| column.reorder(&order));
        }
        Some(merged)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self.columns.first().map(|column| &column.1) {
            None => 0,
            Some(Column::Bool(rows)) => rows.len(),
            Some(Column::U32(rows)) => rows.len(),
            Some(Column::I32(rows)) => rows.len(),
            Some(Column::U64(rows)) => rows.len(),
            Some(Column::I64(rows)) => rows.len(),
            Some(Column::F64(rows)) => rows.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_tables_are_sorted_and_equal_ones_keep_their_order() {
        let table = |times: [f64; 2], nodes: [u32; 2], numbers: [u64; 2]| Table {
            name: "rows",
            columns: vec![
                ("time", Column::F64(times.into())),
                ("node", Column::U32(nodes.into())),
                ("number", Column::U64(numbers.into())),
            ],
        };
        let parts = vec![
            table([1.5, 2.0], [7, 7], [10, 11]),
            table([0.0, 1.5], [9, 3], [12, 13]),
            table([1.5, 1.5], [7, 8], [14, 15]),
        ];
        let merged = Table::merged(parts, ["time", "node"], |key| key).unwrap();
        assert_eq!(merged.columns[2].1, Column::U64(vec![12, 13, 10, 14, 15, 11]));
        assert_eq!(merged.columns[1].1, Column::U32(vec![9, 3, 7, 7, 8, 7]));
    }
}
