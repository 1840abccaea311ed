//! What decides an order: how far each summand of a formula ranges over the queue, and how far it
//! agrees with the order.
//!
//! In: a program, the jobs and their ranking. Out: for each summand, most of its range, and
//! Kendall's tau-b of its values and the scores.

use serde::Serialize;

use crate::diagnostic::Span;
use crate::formula::program::Program;
use crate::jobs::JobTable;
use crate::rank::Ranking;
use crate::rank::measures::tau_b;
use crate::rank::summands::SummandColumns;
use crate::schema::Schema;

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
    let mut rows = Vec::with_capacity(examined);
    for index in 0..examined {
        // no division by 0: without rows there is no index
        rows.push(order[index * order.len() / examined]);
    }
    let values = ranking.scores().values();
    let Some(columns) = SummandColumns::new(program, schema, table, &rows) else {
        return Vec::new();
    };
    let mut agreements = Vec::new();
    if columns.rows.is_empty() {
        return agreements;
    }
    let scores: Vec<f64> = columns.rows.iter().map(|&row| values[row]).collect();
    for (summand, values) in columns.ranges.iter().zip(&columns.columns) {
        agreements.push(agreement(&summand.text, summand.span, values, &scores));
    }
    agreements
}

fn agreement(text: &str, span: Span, values: &[f64], scores: &[f64]) -> SummandAgreement {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (quantile(&sorted, 0.05), quantile(&sorted, 0.95));
    SummandAgreement {
        span,
        text: text.to_owned(),
        low,
        high,
        tau: tau_b(values, scores),
    }
}

/// A quantile of sorted values, between the two nearest ones by linear interpolation.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    // no column is empty here
    let place = (sorted.len() - 1) as f64 * part;
    let below = place.floor() as usize;
    let above = sorted[(below + 1).min(sorted.len() - 1)];
    sorted[below] + (above - sorted[below]) * place.fract()
}
