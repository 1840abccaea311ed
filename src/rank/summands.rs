//! What decides an order: the summands of its formula.
//!
//! In: a program, the jobs and their ranking. Out: how far each summand of the formula ranges over
//! the queue, which pairs of neighbours it decides, and how far it agrees with the order, as Kendall's
//! tau-b of its values and the scores.

use serde::Serialize;

use crate::diagnostic::Span;
use crate::formula::program::{Program, Summand};
use crate::jobs::JobTable;
use crate::rank::measures::tau_b;
use crate::rank::sort::sort_by_value;
use crate::rank::{OnError, Ranking, ScorePrecision, score};
use crate::schema::Schema;

/// A formula of more summands is not examined.
const MAX_SUMMANDS: usize = 32;
/// The most values of all summands for all rows: 128 MiB.
const MAX_VALUES: usize = 1 << 24;

/// A summand, and the range of its values.
#[derive(Debug, Clone)]
pub struct SummandRange {
    /// The summand without its sign.
    pub span: Span,
    /// Its text with the sign.
    pub text: String,
    /// The least of its values.
    pub least: f64,
    /// The greatest of its values.
    pub most: f64,
}

/// The values of the summands of a formula.
#[derive(Debug, Clone)]
pub struct SummandColumns {
    /// The rows for which all summands have a value.
    pub rows: Vec<usize>,
    /// The summands, left to right.
    pub ranges: Vec<SummandRange>,
    /// The values of each summand, by row of [`rows`](Self::rows).
    pub columns: Vec<Vec<f64>>,
}

impl SummandColumns {
    /// Evaluates each summand for these rows. Rows for which a summand fails or is not finite are
    /// left out; `None` for a formula that has very many summands.
    pub fn new(
        program: &Program,
        schema: &Schema,
        table: &JobTable,
        rows: &[usize],
    ) -> Option<Self> {
        let summands = program.summands();
        if summands.len() > MAX_SUMMANDS || rows.len().saturating_mul(summands.len()) > MAX_VALUES {
            return None;
        }
        let mut columns = Vec::with_capacity(summands.len());
        for summand in &summands {
            // a part of a formula that compiles does so as well
            let program = program.compile_summand(summand, schema).ok()?;
            columns.push(values(&program, table, rows));
        }
        let mut rows = rows.to_vec();
        let mut are_kept = vec![true; rows.len()];
        for column in &columns {
            for (is_kept, value) in are_kept.iter_mut().zip(column) {
                *is_kept &= value.is_finite();
            }
        }
        if are_kept.contains(&false) {
            retain(&mut rows, &are_kept);
            for column in &mut columns {
                retain(column, &are_kept);
            }
        }
        let range = |(summand, column): (Summand, &Vec<f64>)| SummandRange {
            span: summand.span,
            text: summand.text,
            least: column.iter().copied().fold(f64::INFINITY, f64::min),
            most: column.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        Some(Self {
            rows,
            ranges: summands.into_iter().zip(&columns).map(range).collect(),
            columns,
        })
    }

    /// Finds how many pairs of neighbours each summand decides: a summand that decides none could
    /// be left out, and the jobs would have the same order. Returns these numbers, left to right,
    /// and the number of pairs of neighbours with different values. The time grows as that of
    /// sorting the rows.
    pub fn decided_pairs(&self) -> (Vec<usize>, usize) {
        let columns = &self.columns;
        let mut sums = vec![0.0; self.rows.len()];
        for column in columns {
            for (sum, value) in sums.iter_mut().zip(column) {
                *sum += value;
            }
        }
        // by the sums alone: `job_sort_key` is not a summand, nor is a `min` or `max` around the
        // sum
        let order = sort_by_value(&sums, usize::MAX);
        let mut decided = vec![0; columns.len()];
        let mut pairs = 0;
        let mut differences = vec![0.0; columns.len()];
        // one more for the empty sum behind the last column
        let mut later = vec![0.0; columns.len() + 1];
        for pair in order.windows(2) {
            let ahead = pair[0];
            let behind = pair[1];
            if sums[ahead] == sums[behind] {
                continue;
            }
            pairs += 1;
            for (difference, column) in differences.iter_mut().zip(columns) {
                *difference = column[ahead] - column[behind];
            }
            for index in (0..columns.len()).rev() {
                later[index] = later[index + 1] + differences[index];
            }
            let mut earlier = 0.0;
            for (index, difference) in differences.iter().enumerate() {
                // the others are added up, and not subtracted from the sum, so that equal ones
                // leave nothing
                let others = earlier + later[index + 1];
                decided[index] += usize::from(others <= 0.0);
                earlier += difference;
            }
        }
        (decided, pairs)
    }
}

/// The values of a summand; NaN where it fails.
fn values(summand: &Program, table: &JobTable, rows: &[usize]) -> Vec<f64> {
    let scores = score(summand, table, ScorePrecision::Double, OnError::ZeroLikePbs);
    let mut values = scores.values();
    for (row, _) in scores.errors() {
        values[row] = f64::NAN;
    }
    rows.iter().map(|&row| values[row]).collect()
}

/// Keeps the items that are to be kept.
fn retain<T>(items: &mut Vec<T>, are_kept: &[bool]) {
    let mut are_kept = are_kept.iter();
    items.retain(|_| are_kept.next() == Some(&true));
}

/// Of a longer queue, so many jobs are examined, evenly spaced in the order: tau-b is then exact to
/// about 0.01.
const MAX_ROWS: usize = 10_000;

/// A summand of a formula, and its part in the order of the jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummandAgreement {
    /// The summand without its sign, in the formula.
    #[serde(skip)]
    pub span: Span,
    /// Its text with the sign.
    pub text: String,
    /// 5 % of its values are less, by linear interpolation.
    pub low: f64,
    /// 5 % of its values are greater.
    pub high: f64,
    /// Kendall's tau-b of its values and the scores: 1 if it alone gives the same order, -1 the
    /// reverse; `None` if all values or all scores are equal.
    pub tau: Option<f64>,
}

/// The summands of a formula, left to right, and what each decides of the order of a ranking. A
/// formula without sums is one summand. Jobs for which a summand fails or is not finite do not
/// count, nor do rows of the ranking that the table does not have; nothing is returned for very
/// many summands.
pub fn summand_agreements(
    program: &Program,
    schema: &Schema,
    table: &JobTable,
    ranking: &Ranking,
) -> Vec<SummandAgreement> {
    let mut order = ranking.order().to_vec();
    order.retain(|&row| row < table.len());
    let examined = order.len().min(MAX_ROWS);
    // no division by 0: without rows there is no index
    let examined = (0..examined).map(|index| order[index * order.len() / examined]);
    let rows: Vec<usize> = examined.collect();
    let values = ranking.scores().values();
    let Some(columns) = SummandColumns::new(program, schema, table, &rows) else {
        return Vec::new();
    };
    if columns.rows.is_empty() {
        return Vec::new();
    }
    let scores: Vec<f64> = columns.rows.iter().map(|&row| values[row]).collect();
    let mut agreements = Vec::new();
    for (summand, values) in columns.ranges.into_iter().zip(&columns.columns) {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        agreements.push(SummandAgreement {
            span: summand.span,
            text: summand.text,
            low: quantile(&sorted, 0.05),
            high: quantile(&sorted, 0.95),
            tau: tau_b(values, &scores),
        });
    }
    agreements
}

/// A quantile of sorted values, between the two nearest ones by linear interpolation.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    // no column is empty here
    let place = (sorted.len() - 1) as f64 * part;
    let below = place.floor() as usize;
    let above = sorted[(below + 1).min(sorted.len() - 1)];
    sorted[below] + (above - sorted[below]) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided_pairs(columns: &[Vec<f64>]) -> (Vec<usize>, usize) {
        let columns = SummandColumns {
            rows: (0..columns[0].len()).collect(),
            ranges: Vec::new(),
            columns: columns.to_vec(),
        };
        columns.decided_pairs()
    }

    /// The pairs whose order changes if a column is left out, by sorting again.
    fn by_sorting(columns: &[Vec<f64>]) -> Vec<usize> {
        let rows = columns[0].len();
        let sums: Vec<f64> = (0..rows)
            .map(|row| sum_without(columns, row, usize::MAX))
            .collect();
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&left, &right| sums[right].total_cmp(&sums[left]));
        let mut changes = vec![0; columns.len()];
        for pair in order
            .windows(2)
            .filter(|pair| sums[pair[0]] != sums[pair[1]])
        {
            for (left_out, changes) in changes.iter_mut().enumerate() {
                let is_changed = sum_without(columns, pair[0], left_out)
                    <= sum_without(columns, pair[1], left_out);
                *changes += usize::from(is_changed);
            }
        }
        changes
    }

    fn sum_without(columns: &[Vec<f64>], row: usize, left_out: usize) -> f64 {
        columns
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != left_out)
            .map(|(_, column)| column[row])
            .sum()
    }

    #[test]
    fn a_column_decides_the_pairs_that_change_without_it() {
        let mut bits = 0x9e37_79b9_u32;
        for rows in [0, 1, 2, 50] {
            for bounds in [[1000, 10, 3], [7, 7, 7], [1, 100, 1]] {
                let columns: Vec<Vec<f64>> = bounds
                    .iter()
                    .map(|&bound| (0..rows).map(|_| next(&mut bits, bound)).collect())
                    .collect();
                assert_eq!(
                    decided_pairs(&columns).0,
                    by_sorting(&columns),
                    "{columns:?}"
                );
            }
        }
        assert_eq!(
            decided_pairs(&[vec![1.0, 2.0, 3.0], vec![0.5, 0.25, 0.25]]),
            (vec![2, 0], 2)
        );
        assert_eq!(
            decided_pairs(&[vec![1.0, 1.0, 3.0], vec![0.5, 0.25, 0.25]]),
            (vec![1, 1], 2)
        );
        assert_eq!(
            decided_pairs(&[vec![1.0, 1.0], vec![5.0, 5.0]]),
            (vec![0, 0], 0)
        );
    }

    /// The next pseudo-random number below a bound.
    fn next(bits: &mut u32, bound: u32) -> f64 {
        *bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        f64::from((*bits >> 8) % bound)
    }
}
