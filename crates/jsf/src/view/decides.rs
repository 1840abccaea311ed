//! What decides the order: the range of each summand, and how far it agrees with the order.

use job_sort_formula::rank::{OldNew, SummandAgreement};

use crate::view::document::{Cell, Column, DECIDES, Fact, Section, Table};
use crate::view::printable::excerpt;
use crate::view::words::significant;

/// The longest heading of a summand; of a longer text, its middle is left out.
const MAX_HEADING: usize = 32;

/// What decides, in one line: the summands that agree with the order most come first. `None` for a
/// formula that is one summand.
pub(crate) fn decides_fact(summands: &[SummandAgreement]) -> Option<Fact> {
    if summands.len() < 2 {
        return None;
    }
    let mut parts = Vec::new();
    for summand in by_agreement(summands) {
        let SummandAgreement {
            text, low, high, ..
        } = summand;
        let [low, high] = [*low, *high].map(significant);
        parts.push(match summand.tau {
            Some(tau) => format!("`{text}` {low} to {high} (tau {tau:.2})"),
            None => format!("`{text}` is always {low}"),
        });
    }
    if summands.iter().any(|summand| summand.tau.is_some()) {
        // the ranges are those of 90 % of the jobs
        parts.push(
            "for 90 % of the jobs (tau: 1 is the order of the jobs, -1 its reverse)".to_owned(),
        );
    }
    Some(Fact::new("decides", parts.join(", ")))
}

/// What decides the order of both sides.
pub(crate) fn decides_section<'a>(sides: OldNew<&'a [SummandAgreement]>) -> Option<Section<'a>> {
    // a formula that is one summand agrees with itself
    if sides.old.len().max(sides.new.len()) < 2 {
        return None;
    }
    let new = by_agreement(sides.new).into_iter();
    let mut rows: Vec<_> = new.map(|summand| ("new", summand)).collect();
    for summand in by_agreement(sides.old) {
        rows.push(("old", summand));
    }
    let table = Table::of(rows)
        .text("side", 8, |(side, _)| *side)
        .code("summand", 9, |(_, summand)| {
            Cell::Code((&*summand.text).into())
        })
        .number("agrees (tau)", 7, |(_, summand)| {
            summand.tau.map(|tau| Cell::Decimals(tau, 2))
        })
        .number("range (5 to 95 %)", 6, |(_, summand)| {
            let [low, high] = [summand.low, summand.high].map(significant);
            Cell::Written(format!("{low} to {high}"), Some(summand.high))
        });
    Some(Section::new("what decides").table(table))
}

/// The columns of the summands with these texts. The one that agrees with the order most is dropped
/// last.
pub(crate) fn summand_columns(
    texts: Vec<&str>,
    agreements: &[SummandAgreement],
    importance: u8,
) -> Vec<Column> {
    let deciding = by_agreement(agreements)
        .first()
        .map(|summand| &*summand.text);
    let mut columns = Vec::new();
    for text in texts {
        let is_deciding = deciding == Some(text);
        let importance = if is_deciding { DECIDES } else { importance };
        columns.push(Column::number(excerpt(text, MAX_HEADING), importance));
    }
    columns
}

/// The summands, those that agree with the order most first.
fn by_agreement(summands: &[SummandAgreement]) -> Vec<&SummandAgreement> {
    let agreement = |summand: &SummandAgreement| summand.tau.unwrap_or(0.0).abs();
    let mut sorted: Vec<&SummandAgreement> = summands.iter().collect();
    sorted.sort_by(|left, right| agreement(right).total_cmp(&agreement(left)));
    sorted
}
