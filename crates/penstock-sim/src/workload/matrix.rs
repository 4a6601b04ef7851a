//! A traffic matrix: how large a share of the flows goes from which hosts to which.
//!
//! What it is: weights of rows, each from a host or a rack to a host or a rack. What it is not: rates. The
//! load of the entry says how much all rows together offer.

use std::collections::HashMap;
use std::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Problems;
use rand_core::RngCore;

use super::draw;
use super::racks::Racks;
use crate::routing::Routing;

/// The rows of a matrix that have a weight, each drawn by its weight.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Matrix {
    racks: Racks,
    /// By row: the hosts of the two sides, as places in [`Racks::members`].
    rows: Vec<(Range<u32>, Range<u32>)>,
    /// By row: its weight and those of all rows before it.
    sums: Vec<f64>,
}

impl Matrix {
    /// Checks the rows [from, to, weight]. Rows without a weight are left out.
    pub(super) fn new(
        rows: &[(u32, u32, f64)],
        racks: Racks,
        routing: &Routing,
        problems: &mut Problems,
    ) -> Self {
        let mut matrix = Matrix { racks, rows: Vec::new(), sums: Vec::new() };
        let (mut first_at, mut sum) = (HashMap::with_capacity(rows.len()), 0.0);
        for (position, &(from, to, weight)) in rows.iter().enumerate() {
            if problems.is_full() {
                break;
            }
            let field = format!("rows[{position}]");
            let first = *first_at.entry((from, to)).or_insert(position);
            let remedy = format!("it repeats rows[{first}]; add their weights to one row");
            problems.unless(first == position, &field, format!("[{from}, {to}]"), remedy);
            let remedy = "write a finite number of 0 or more";
            let holds = weight.is_finite() && weight >= 0.0;
            problems.unless(holds, &format!("{field}[2]"), weight, remedy);
            let sides = [from, to].map(|node| matrix.racks.hosts_of(node, routing));
            for (column, (node, side)) in [from, to].into_iter().zip(&sides).enumerate() {
                let remedy = format!(
                    "it is neither a host nor a switch with hosts; hosts are 0 to {}",
                    matrix.racks.members().len() - 1
                );
                problems.unless(side.is_some(), &format!("{field}[{column}]"), node, remedy);
            }
            let [Some(from_hosts), Some(to_hosts)] = sides else { continue };
            if weight <= 0.0 {
                continue;
            }
            let is_alone = from_hosts.len() == 1 && from_hosts == to_hosts;
            let remedy =
                "its only host does not send to itself; take the row out, or write a weight of 0";
            problems.unless(!is_alone, &field, format!("[{from}, {to}, {weight}]"), remedy);
            sum += weight;
            let places = |hosts: Range<usize>| hosts.start as u32..hosts.end as u32;
            matrix.rows.push((places(from_hosts), places(to_hosts)));
            matrix.sums.push(sum);
        }
        let remedy = "no flow has a pair to go between; give some row a weight above 0";
        let value = format_args!("a list of {} without a weight", rows.len());
        problems.unless(!matrix.rows.is_empty() || !problems.is_empty(), "rows", value, remedy);
        problems.unless(
            sum.is_finite(),
            "rows",
            sum,
            "write smaller weights, their sum is too large",
        );
        matrix
    }

    /// Draws a row by its weight: its sources, its destinations.
    pub(super) fn draw(&self, random: &mut impl RngCore) -> (&[u32], &[u32]) {
        let total = self.sums.last().copied().unwrap_or_default();
        let at = draw::unit(random) * total;
        let row = self.sums.partition_point(|sum| *sum < at);
        self.sides(row.min(self.rows.len() - 1))
    }

    /// Each row: its sources, its destinations, its share of the flows.
    pub(super) fn shares(&self) -> impl Iterator<Item = (&[u32], &[u32], f64)> {
        let total = self.sums.last().copied().unwrap_or_default();
        let before = std::iter::once(0.0).chain(self.sums.iter().copied());
        let weights = self.sums.iter().zip(before).map(|(sum, before)| sum - before);
        weights.enumerate().map(move |(row, weight)| {
            let (sources, destinations) = self.sides(row);
            (sources, destinations, weight / total)
        })
    }

    fn sides(&self, row: usize) -> (&[u32], &[u32]) {
        let (from, to) = &self.rows[row];
        let hosts =
            |places: &Range<u32>| &self.racks.members()[places.start as usize..places.end as usize];
        (hosts(from), hosts(to))
    }
}

#[cfg(test)]
mod tests {
    use penstock_engine::stream::stream;

    use super::*;
    use crate::topology::build;
    use crate::topology::tests::leaf_spine;

    /// Three racks of four hosts: switches 12 to 14, and the spines 15 and 16.
    fn matrix(rows: &[(u32, u32, f64)], problems: &mut Problems) -> Matrix {
        let routing = Routing::new(&build(&leaf_spine(3, 4, 2)).unwrap());
        Matrix::new(rows, Racks::new(&routing, 12), &routing, problems)
    }

    #[test]
    fn rows_are_drawn_by_their_weights() {
        let rows = [(12, 13, 3.0), (0, 0, 0.0), (7, 13, 1.0), (14, 2, 4.0)];
        let mut problems = Problems::default();
        let matrix = matrix(&rows, &mut problems);
        assert!(problems.is_empty(), "{problems}");
        let shares: Vec<_> = matrix.shares().collect();
        assert_eq!(
            shares,
            [
                (&[0, 1, 2, 3][..], &[4, 5, 6, 7][..], 0.375),
                (&[7], &[4, 5, 6, 7], 0.125),
                (&[8, 9, 10, 11], &[2], 0.5),
            ]
        );
        let (mut random, mut drawn) = (stream(1, "matrix"), [0u32; 3]);
        for _ in 0..80_000 {
            let row = matrix.draw(&mut random);
            drawn[shares.iter().position(|&(from, to, _)| row == (from, to)).unwrap()] += 1;
        }
        // Within five standard errors, which are at most 141.
        for (drawn, expected) in drawn.iter().zip([30_000, 10_000, 40_000]) {
            assert!(drawn.abs_diff(expected) < 705, "{drawn}, not {expected}");
        }
    }

    type Rows<'a> = &'a [(u32, u32, f64)];

    #[test]
    fn rows_are_checked() {
        let refused = |rows: Rows<'_>| {
            let mut problems = Problems::below("x");
            matrix(rows, &mut problems);
            problems.to_string()
        };
        let cases: [(Rows<'_>, &str); 6] = [
            (&[(0, 1, 1.0), (0, 17, 1.0)], "x.rows[1][1] is 17; it is neither a host nor"),
            (&[(15, 1, 1.0)], "x.rows[0][0] is 15; it is neither a host nor a switch with hosts"),
            (&[(0, 1, -1.0)], "x.rows[0][2] is -1; write a finite number of 0 or more"),
            (&[(0, 1, 1.0), (0, 1, 2.0)], "x.rows[1] is [0, 1]; it repeats rows[0]"),
            (&[(3, 3, 1.0)], "x.rows[0] is [3, 3, 1]; its only host does not send to itself"),
            (&[(0, 1, 0.0)], "x.rows is a list of 1 without a weight; no flow has a pair"),
        ];
        for (rows, expected) in cases {
            let message = refused(rows);
            assert!(message.starts_with(expected), "{message:?} does not say {expected:?}");
        }
        let huge = refused(&[(0, 1, 1e308), (0, 2, 1e308)]);
        assert!(huge.starts_with("x.rows is inf; write smaller weights"), "{huge:?}");
    }
}
