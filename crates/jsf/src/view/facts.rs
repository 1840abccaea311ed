//! The facts that the documents of several commands have: the rules, what an answer does without, what
//! each summand decides of the order, and what inputs are worth.

use job_sort_formula::rank::{OldNew, SummandAgreement};
use jsf_openpbs::check::ExchangeRate;
use jsf_site::{LeftOut, Rule};

use crate::view::document::{Cell, Column, DECIDES, Fact, Section, Table, cells};
use crate::view::words::{count, excerpt, significant, waiting_time};

/// The part of the jobs that something must concern so that a headline names it.
const HEADLINE_PART: usize = 10;

/// The formula and the rules of one ranking.
pub(crate) fn rule_facts(formula: &str, rules: &[Rule]) -> Vec<Fact> {
    let mut facts = vec![Fact::new("formula", formula.trim_end())];
    facts.extend(facts_of(rules));
    facts
}

/// The rules, of which those that belong beside the answer are on the first screen.
pub(crate) fn facts_of(rules: &[Rule]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for rule in rules {
        facts.push(Fact::new(rule.heading, &*rule.text).in_full_if(!rule.is_notable));
    }
    facts
}

/// All of it, in words; empty if there is nothing.
pub fn without_words(left_out: &[LeftOut]) -> String {
    let mut parts = Vec::new();
    for one in left_out {
        parts.push(format!("{} ({})", one.what, count(one.jobs, "job")));
    }
    parts.join("; ")
}

/// What concerns more than a tenth of so many jobs, for a headline; `None` if nothing does.
pub(crate) fn without_most(left_out: &[LeftOut], jobs: usize) -> Option<String> {
    let mut names = Vec::new();
    for one in left_out {
        if one.jobs * HEADLINE_PART > jobs {
            names.push(&*one.what);
        }
    }
    (!names.is_empty()).then(|| names.join(" and "))
}

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
pub(crate) fn decides_section<'a>(sides: OldNew<Vec<SummandAgreement>>) -> Option<Section<'a>> {
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
    for (side, summands) in [("new", &sides.new), ("old", &sides.old)] {
        for summand in by_agreement(summands) {
            rows.push(cells![
                side,
                Cell::Code(summand.text.to_string().into()),
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

/// What the line is about.
pub(crate) const WORTH: &str = "worth in waiting";
/// The resource by which others are measured too.
const CORES: &str = "ncpus";
/// The most rates that are told.
const MAX_RATES: usize = 8;

/// The rates, those that hold for every job first; `place` says where the others hold. Empty if
/// there are none.
pub(crate) fn rates_line(rates: &[ExchangeRate], place: &str) -> String {
    let (mut cores, mut constant, mut others) = (None, Vec::new(), Vec::new());
    for rate in rates {
        if !rate.is_constant {
            others.push(words(rate, None));
        } else if *rate.name == *CORES {
            cores = Some(rate.wait);
        }
    }
    for rate in rates {
        if rate.is_constant {
            constant.push(words(rate, cores));
        }
    }
    constant.truncate(MAX_RATES);
    others.truncate(MAX_RATES - constant.len());
    let more = rates.len() - constant.len() - others.len();
    let mut parts = constant;
    if !others.is_empty() {
        parts.push(format!("not constant, {place}: {}", others.join("; ")));
    }
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    parts.join("; ")
}

/// An amount and what it is worth; `cores` is what a processor is worth.
fn words(rate: &ExchangeRate, cores: Option<f64>) -> String {
    let name = &rate.name;
    let amount = match (rate.unit, rate.amount) {
        (Some("s"), _) => format!("1 h of `{name}`"),
        (Some("kb"), _) => format!("1 GiB of `{name}`"),
        (_, 1.0) => format!("1 `{name}`"),
        (_, amount) => format!("{amount} of `{name}`"),
    };
    let mut words = format!("{amount} = {}", signed_time(rate.wait));
    if let Some(cores) = cores
        && cores != 0.0
        && rate.unit.is_none()
        && rate.amount == 1.0
        && **name != *CORES
    {
        words += &format!(" = {} `{CORES}`", significant(rate.wait / cores));
    }
    words
}

/// A time with its sign, in seconds below a minute.
fn signed_time(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let magnitude = seconds.abs();
    match magnitude {
        ..60.0 => format!("{sign}{} s", significant(magnitude)),
        _ => format!("{sign}{}", waiting_time(magnitude.round() as i64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(
        name: &str,
        amount: f64,
        unit: Option<&'static str>,
        wait: f64,
        is_constant: bool,
    ) -> ExchangeRate {
        ExchangeRate {
            name: name.into(),
            amount,
            unit,
            wait,
            is_constant,
        }
    }

    #[test]
    fn units_signs_and_cores_are_named() {
        let rates = [
            rate("walltime", 3600.0, Some("s"), -7200.0, false),
            rate("ncpus", 1.0, None, 36.0, true),
            rate("ngpus", 1.0, None, 1152.0, true),
            rate("fairshare_factor", 0.1, None, 302_400.0, true),
            rate("mem", 1_048_576.0, Some("kb"), 0.5, true),
        ];
        assert_eq!(
            rates_line(&rates, "at this job"),
            "1 `ncpus` = 36 s; 1 `ngpus` = 19 min 12 s = 32 `ncpus`; 0.1 of `fairshare_factor` = 3 d 12 h; 1 GiB of `mem` = 0.5 s; \
             not constant, at this job: 1 h of `walltime` = -2 h"
        );
        assert_eq!(rates_line(&[], "at this job"), "");
    }
}
