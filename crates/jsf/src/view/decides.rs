//! What decides the order: the range of each summand, and how far it agrees with the order.

use job_sort_formula::rank::{OldNew, SummandAgreement};

use crate::view::document::{Cell, Column, DECIDES, Section, Table};
use crate::view::words::significant;

/// A summand with at least this tau-b decides the order.
const MOST: f64 = 0.6;
/// The longest heading of a summand.
const MAX_HEADING: usize = 32;
/// A summand with less than this tau-b hardly counts.
const HARDLY: f64 = 0.1;

/// What decides, in one line: the summands that agree with the order most come first. Empty for a
/// formula that is one summand.
pub(crate) fn decides_line(summands: &[SummandAgreement]) -> String {
    if summands.len() < 2 {
        return String::new();
    }
    let part = |summand: &SummandAgreement| match summand.tau {
        Some(tau) => {
            format!(
                "`{}` {} to {} (tau {tau:.2})",
                summand.text,
                significant(summand.low),
                significant(summand.high)
            )
        }
        None => format!("`{}` is always {}", summand.text, significant(summand.low)),
    };
    let parts = by_agreement(summands)
        .map(part)
        .collect::<Vec<_>>()
        .join(", ");
    let has_range = summands.iter().any(|summand| summand.tau.is_some());
    if has_range {
        format!("{parts}, for 90 % of the jobs")
    } else {
        parts
    }
}

/// What decides the order of both sides.
pub(crate) fn decides_section<'a>(sides: OldNew<&'a [SummandAgreement]>) -> Option<Section<'a>> {
    // a formula that is one summand agrees with itself
    if sides.old.len().max(sides.new.len()) < 2 {
        return None;
    }
    let new = by_agreement(sides.new).map(|summand| ("new", summand));
    let rows = new.chain(by_agreement(sides.old).map(|summand| ("old", summand)));
    let table = Table::of(rows)
        .column(Column::text("side", 8), |(side, _)| Cell::text(*side))
        .column(Column::code("summand", 9), |(_, summand)| {
            Cell::Code((&*summand.text).into())
        })
        .column(Column::number("agrees (tau)", 7), |(_, summand)| {
            Cell::decimals(summand.tau, 2)
        })
        .column(Column::number("range (5 to 95 %)", 6), |(_, summand)| {
            let [low, high] = [summand.low, summand.high].map(significant);
            Cell::Written(format!("{low} to {high}"), Some(summand.high))
        });
    Some(Section::new(decides_heading(sides.new)).table(table.table()))
}

/// What decides the new order: the summand that agrees with it, and one that does not.
fn decides_heading(summands: &[SummandAgreement]) -> String {
    let sorted: Vec<&SummandAgreement> = by_agreement(summands).collect();
    let [_, .., last] = sorted[..] else {
        return "what decides".to_owned();
    };
    // one that orders the jobs the other way round decides nothing
    let tau = |summand: &SummandAgreement| summand.tau.unwrap_or(0.0);
    let first = sorted.iter().fold(
        sorted[0],
        |best, other| if tau(other) > tau(best) { other } else { best },
    );
    let [most, least] = [first, last].map(tau);
    match (most >= MOST, least.abs() < HARDLY) {
        (true, true) => format!(
            "what decides: `{}`; `{}` hardly counts",
            first.text, last.text
        ),
        (true, false) => format!("what decides: most of all `{}`", first.text),
        (false, _) => "what decides: none of the summands alone".to_owned(),
    }
}

/// The columns of the summands with these texts. The one that agrees with the order most is dropped
/// last.
pub(crate) fn summand_columns<'a>(
    texts: impl Iterator<Item = &'a str>,
    agreements: &[SummandAgreement],
    importance: u8,
) -> impl Iterator<Item = Column> {
    let deciding = by_agreement(agreements)
        .next()
        .map(|summand| &*summand.text);
    texts.map(move |text| {
        let importance = if deciding == Some(text) {
            DECIDES
        } else {
            importance
        };
        Column::number(cut_in_the_middle(text), importance)
    })
}

/// A heading of at most [`MAX_HEADING`] characters, the beginning and the end of the text.
fn cut_in_the_middle(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= MAX_HEADING {
        return text.to_owned();
    }
    let half = MAX_HEADING / 2;
    let start = &characters[..half - 1];
    let end = &characters[characters.len() - half..];
    start.iter().chain(['…'].iter()).chain(end).collect()
}

/// The summands, those that agree with the order most first.
fn by_agreement(summands: &[SummandAgreement]) -> impl Iterator<Item = &SummandAgreement> {
    let mut sorted: Vec<&SummandAgreement> = summands.iter().collect();
    sorted.sort_by(|left, right| {
        right
            .tau
            .unwrap_or(0.0)
            .abs()
            .total_cmp(&left.tau.unwrap_or(0.0).abs())
    });
    sorted.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_agrees_with_the_order_and_not_with_its_reverse() {
        let summand = |text: &str, tau: f64| SummandAgreement {
            span: job_sort_formula::diagnostic::Span { start: 0, end: 1 },
            text: text.to_owned(),
            low: 0.0,
            high: 1.0,
            tau: Some(tau),
        };
        for (taus, heading) in [
            ([0.9, 0.05], "what decides: `a`; `b` hardly counts"),
            ([0.05, 0.9], "what decides: `b`; `a` hardly counts"),
            ([0.7, -0.9], "what decides: most of all `a`"),
            ([-0.9, 0.7], "what decides: most of all `b`"),
            ([-0.9, 0.05], "what decides: none of the summands alone"),
            ([0.5, 0.5], "what decides: none of the summands alone"),
        ] {
            assert_eq!(
                decides_heading(&[summand("a", taus[0]), summand("b", taus[1])]),
                heading,
                "{taus:?}"
            );
        }
    }
}
