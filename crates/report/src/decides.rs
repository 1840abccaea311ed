//! What decides the order: the range of each summand, and how far it agrees with the order.

use job_sort_formula::rank::{OldNew, SummandAgreement};
use serde::Serialize;

use crate::document::{Cell, Column, Section, Table};
use crate::words::significant;

/// A summand as JSON.
#[derive(Debug, Serialize)]
pub struct DecidingSummand<'a> {
    text: &'a str,
    low: f64,
    high: f64,
    tau: Option<f64>,
}

impl<'a> From<&'a SummandAgreement> for DecidingSummand<'a> {
    fn from(summand: &'a SummandAgreement) -> Self {
        Self { text: &summand.text, low: summand.low, high: summand.high, tau: summand.tau }
    }
}

/// The summands of a formula as JSON.
pub fn decides_json(summands: &[SummandAgreement]) -> Vec<DecidingSummand<'_>> {
    summands.iter().map(DecidingSummand::from).collect()
}

/// What decides, in one line: the summands that agree with the order most come first. Empty for a formula that is one summand.
pub(super) fn decides_line(summands: &[SummandAgreement]) -> String {
    if summands.len() < 2 {
        return String::new();
    }
    let part = |summand: &SummandAgreement| match summand.tau {
        Some(tau) => {
            format!("`{}` {} to {} (tau {tau:.2})", summand.text, significant(summand.low), significant(summand.high))
        }
        None => format!("`{}` is always {}", summand.text, significant(summand.low)),
    };
    by_agreement(summands).map(part).collect::<Vec<_>>().join(", ")
}

/// What decides the order of both sides.
pub(super) fn decides_section<'a>(sides: OldNew<&[SummandAgreement]>) -> Option<Section<'a>> {
    let columns = vec![
        Column::text("side", 8),
        Column::code("summand", 9),
        Column::number("agrees (tau)", 7),
        Column::number("low", 6),
        Column::number("high", 6),
    ];
    let row = |side: &'static str, summand: &SummandAgreement| {
        vec![
            Cell::text(side),
            Cell::Code(summand.text.clone().into()),
            Cell::decimals(summand.tau, 2),
            Cell::significant(summand.low),
            Cell::significant(summand.high),
        ]
    };
    // a formula that is one summand agrees with itself
    let several = sides.map(|summands| if summands.len() > 1 { summands } else { &[] });
    let new = by_agreement(several.new).map(|summand| row("new", summand));
    let old = by_agreement(several.old).map(|summand| row("old", summand));
    let rows: Vec<Vec<Cell<'a>>> = new.chain(old).collect();
    (!rows.is_empty()).then(|| Section::new("what decides").table(Table::from_rows(columns, rows)))
}

/// The summands, those that agree with the order most first.
fn by_agreement(summands: &[SummandAgreement]) -> impl Iterator<Item = &SummandAgreement> {
    let mut sorted: Vec<&SummandAgreement> = summands.iter().collect();
    sorted.sort_by(|left, right| right.tau.unwrap_or(0.0).abs().total_cmp(&left.tau.unwrap_or(0.0).abs()));
    sorted.into_iter()
}
