//! What decides the order: the range of each summand, and how far it agrees with the order.

use job_sort_formula::rank::{OldNew, SummandAgreement};

use crate::view::document::{Cell, Column, DECIDES, Fact, Section, Table, cells};
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
    let mut has_range = false;
    for summand in by_agreement(summands) {
        let text = &summand.text;
        parts.push(match summand.tau {
            Some(tau) => format!("`{text}` {} (tau {tau:.2})", range_in_words(summand)),
            None => format!("`{text}` is always {}", significant(summand.low)),
        });
        has_range |= summand.tau.is_some();
    }
    if has_range {
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
    let columns = [
        Column::text("side", 8),
        Column::code("summand", 9),
        Column::number("agrees (tau)", 7),
        Column::number("range (5 to 95 %)", 6),
    ];
    let mut rows = Vec::new();
    for (side, summands) in [("new", sides.new), ("old", sides.old)] {
        for summand in by_agreement(summands) {
            rows.push(cells![
                side,
                Cell::Code((&*summand.text).into()),
                summand.tau.map(|tau| Cell::Decimals(tau, 2)),
                Cell::Written(range_in_words(summand), Some(summand.high)),
            ]);
        }
    }
    Some(Section::new("what decides").table(Table::from_rows(columns, rows)))
}

fn range_in_words(summand: &SummandAgreement) -> String {
    format!(
        "{} to {}",
        significant(summand.low),
        significant(summand.high)
    )
}

/// The columns of the summands with these texts. The one that agrees with the order most is dropped
/// last.
pub(crate) fn summand_columns(
    texts: Vec<&str>,
    agreements: &[SummandAgreement],
    importance: u8,
) -> Vec<Column> {
    let deciding = by_agreement(agreements).into_iter().next();
    let mut columns = Vec::new();
    for text in texts {
        let is_deciding = deciding.is_some_and(|summand| *summand.text == *text);
        let importance = if is_deciding { DECIDES } else { importance };
        columns.push(Column::number(excerpt(text, MAX_HEADING), importance));
    }
    columns
}

/// The summands, those that agree with the order most first.
fn by_agreement(summands: &[SummandAgreement]) -> Vec<&SummandAgreement> {
    let mut sorted = Vec::from_iter(summands);
    sorted.sort_by(|left, right| agreement(right).total_cmp(&agreement(left)));
    sorted
}

fn agreement(summand: &SummandAgreement) -> f64 {
    summand.tau.unwrap_or(0.0).abs()
}
