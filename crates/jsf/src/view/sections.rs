//! The facts and sections that the documents of several commands have: the rules, what decides the
//! order, what inputs are worth, the groups of jobs, and the goals of a simulation, with which of them
//! are not met.

use std::cmp::Ordering;

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{Comparison, GroupChange, JobMove, OldNew, SummandAgreement};
use jsf_openpbs::check::ExchangeRate;
use jsf_simulate::{GoalState, JudgedGoal, Measure};
use jsf_site::{LeftOut, Rule};

use crate::view::document::{Cell, Column, DECIDES, Fact, RowLimit, Section, Table, cells};
use crate::view::words::{
    count, duration, excerpt, grouped_count, percent, significant, waiting_time,
};

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

/// The most groups in text: of more, the first and the last half of this number are shown.
const MAX_GROUPS: usize = 20;

/// The tables that have names, each in a section. A ranking that is compared with itself has no
/// columns for what changes.
pub(crate) fn group_sections(comparison: &Comparison, is_one_ranking: bool) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    for (heading, column, changes) in [
        ("entities", "entity", &comparison.entities),
        ("groups", "group", &comparison.groups),
        ("queues", "queue", &comparison.queues),
        (
            "sizes of the jobs",
            comparison.size_input.unwrap_or_default(),
            &comparison.sizes,
        ),
    ] {
        // jobs without entities, groups or a size are one group without a name
        if changes.iter().all(|change| change.name.is_empty()) {
            continue;
        }
        let mut groups = Vec::new();
        for change in changes {
            // the heading says which kind it is
            groups.push(("", change));
        }
        groups.sort_by(if is_one_ranking { by_rank } else { by_gain });
        let table = group_table(column, groups, comparison, is_one_ranking);
        sections.push(Section::new(heading).table(table));
    }
    sections
}

/// A group with its kind, which is written before its name.
pub(crate) type KindOfGroup<'a> = (&'static str, &'a GroupChange);

/// A row for each group.
pub(crate) fn group_table<'a>(
    column: &str,
    groups: Vec<KindOfGroup<'a>>,
    comparison: &Comparison,
    is_one_ranking: bool,
) -> Table<'a> {
    let all = comparison.considered.old.max(comparison.considered.new);
    let has_shares = groups.iter().any(|(_, change)| change.perc.is_some());
    // all groups count the same first jobs
    let tops = match groups.first() {
        Some((_, change)) => change.top,
        None => [(0, OldNew::default()); 2],
    };
    let is_change = !is_one_ranking;
    let new = if is_change { "new " } else { "" };
    let mut columns = vec![
        Column::text(column, 9),
        Column::number("jobs", 6),
        Column::number("old mean rank", 8).shown_if(is_change),
        Column::number(format!("{new}mean rank"), 8),
        Column::number("gained", 9).with_bar().shown_if(is_change),
    ];
    let mut importance = 5;
    for (first, _) in tops {
        // the number of jobs among the first ones says nothing if all jobs are among them
        let is_shown = first < all;
        let old = Column::number(format!("old in first {first}"), importance - 1);
        columns.push(old.shown_if(is_shown && is_change));
        let new = Column::number(format!("{new}in first {first}"), importance);
        columns.push(new.shown_if(is_shown));
        importance -= 1;
    }
    columns.push(Column::number("share", 3).shown_if(has_shares));
    // of many groups few are shown
    Table::new(columns, groups, group_cells).limit(RowLimit::Ends(MAX_GROUPS))
}

fn group_cells<'a>(group: &KindOfGroup<'_>) -> Vec<Cell<'a>> {
    let (_, change) = group;
    let (mut old_mean, mut new_mean) = (Cell::Missing, Cell::Missing);
    if let Some(mean) = change.mean_rank() {
        old_mean = Cell::Decimals(mean.old, 1);
        new_mean = Cell::Decimals(mean.new, 1);
    }
    let mut cells = cells![
        group_name(group),
        change.jobs,
        old_mean,
        new_mean,
        Cell::Gained(change.gain()),
    ];
    for (_, jobs) in change.top {
        cells.extend(cells![jobs.old, jobs.new]);
    }
    cells.push(change.perc.map(Cell::Share).into());
    cells
}

/// The groups whose jobs are first come first.
fn by_rank((_, one): &KindOfGroup<'_>, (_, other): &KindOfGroup<'_>) -> Ordering {
    new_rank(one).total_cmp(&new_rank(other))
}

fn new_rank(change: &GroupChange) -> f64 {
    match change.mean_rank() {
        Some(mean) => mean.new,
        None => f64::INFINITY,
    }
}

/// The groups whose jobs gain most places come first.
pub(crate) fn by_gain((_, one): &KindOfGroup<'_>, (_, other): &KindOfGroup<'_>) -> Ordering {
    other.gain().total_cmp(&one.gain())
}

/// The name of a group with its kind, and with its path in the tree if it has one.
pub(crate) fn group_name((kind, change): &KindOfGroup<'_>) -> String {
    if change.path.is_empty() {
        format!("{kind}{}", change.name)
    } else {
        format!("{kind}{}", change.path.join("/"))
    }
}

/// The columns of jobs with their old and new ranks.
pub(crate) fn move_columns() -> Vec<Column> {
    vec![
        Column::id("job", DECIDES),
        Column::text("entity", 6),
        Column::text("queue", 3),
        Column::number("old rank", 8),
        Column::number("new rank", 8),
        Column::number("moved", 9),
    ]
}

/// The cells of these columns.
pub(crate) fn move_cells<'a>(table: &'a JobTable, job: &JobMove) -> Vec<Cell<'a>> {
    cells![
        table.id(job.row),
        table.entity(job.row),
        table.queue(job.row),
        job.old,
        job.new,
        job.moved().map(Cell::Places),
    ]
}

/// The deepest level that is drawn: else the lines of a chain of nodes take the square of its
/// length.
pub(crate) const MAX_LEVELS: usize = 40;

/// The lines before the name of each node, from the depths of the nodes in depth-first order.
/// Deeper nodes than those of the last level are drawn on that level.
pub(crate) fn branches(depths: &[usize]) -> Vec<String> {
    // whether a later node continues the line of a level
    let mut continues = [false; MAX_LEVELS + 1];
    let mut branches = Vec::with_capacity(depths.len());
    // from the end, since a line goes on only if a later node is on its level
    for depth in depths.iter().rev() {
        let level = (*depth).min(MAX_LEVELS);
        let mut lines: String = (1..level)
            .map(|above| if continues[above] { "│  " } else { "   " })
            .collect();
        if level > 0 {
            lines.push_str(if continues[level] {
                "├─ "
            } else {
                "└─ "
            });
        }
        branches.push(lines);
        continues[level] = true;
        continues[level + 1..].fill(false);
    }
    branches.reverse();
    branches
}

/// The table of the goals of one formula, or of two; `None` without goals.
pub(crate) fn goals_section<'a>(sides: OldNew<&'a [JudgedGoal]>) -> Option<Section<'a>> {
    let OldNew { old, new } = sides;
    // a simulation of one formula gives its goals as both sides
    let has_old = !std::ptr::eq(old, new);
    if new.is_empty() {
        return None;
    }
    // those that are missed first: there may be no room for all
    let mut order: Vec<usize> = (0..new.len()).collect();
    order.sort_by_key(|&index| new[index].state);
    let columns = [
        Column::name("goal", 9),
        Column::number("jobs", 4),
        Column::text("measure", 3),
        Column::number("old", 6).shown_if(has_old),
        Column::number(if has_old { "new" } else { "value" }, 8),
        Column::number("limit", 7),
        Column::text("met", 8),
    ];
    let table = Table::new(columns, order, move |&index| {
        let goal = &new[index];
        let old = match old.get(index) {
            Some(old) => value_in_words(old.measure, old.value),
            None => String::new(),
        };
        let bound = if goal.is_most { "at most" } else { "at least" };
        let limit = value_in_words(goal.measure, goal.limit);
        cells![
            &*goal.name,
            goal.jobs,
            goal.measure.to_string(),
            Cell::prose(old),
            value_in_words(goal.measure, goal.value),
            format!("{bound} {limit}"),
            met_in_words(goal),
        ]
    });
    Some(Section::new("goals, each without an interval").table(table))
}

/// What of the goals is not met, for the headline: those that are missed, else those that cannot be
/// judged. `None` if all are met.
pub(crate) fn unmet(goals: &[JudgedGoal]) -> Option<String> {
    for (state, what) in [
        (GoalState::Missed, "missed"),
        (GoalState::NoJobs, "about no job"),
    ] {
        if let Some((number, names)) = names(goals, state) {
            let all = count(goals.len(), "goal");
            return Some(format!("{number} of {all} {what}: {names}"));
        }
    }
    not_judged(goals)
}

/// Which goals refer to an old formula that there is not; `None` if there are none.
pub(crate) fn not_judged(goals: &[JudgedGoal]) -> Option<String> {
    let (number, names) = names(goals, GoalState::NoOldSide)?;
    let all = count(goals.len(), "goal");
    Some(format!(
        "{number} of {all} not judged, which needs a comparison (--old F --new F): {names}"
    ))
}

/// How many goals are in a state, and their names; `None` if there are none.
fn names(goals: &[JudgedGoal], state: GoalState) -> Option<(usize, String)> {
    let mut found = Vec::new();
    for goal in goals {
        if goal.state == state {
            found.push(&*goal.name);
        }
    }
    let names = match &found[..] {
        [] => return None,
        [one] => format!("`{one}`"),
        [one, other] => format!("`{one}` and `{other}`"),
        [first, others @ ..] => format!("`{first}` and {}", count(others.len(), "other")),
    };
    Some((found.len(), names))
}

/// Whether a goal is met, in a cell, and how many jobs that never start it is missed with.
fn met_in_words(goal: &JudgedGoal) -> String {
    match (goal.state, goal.never_start) {
        (GoalState::Missed, 1) => "no (1 job never starts)".to_owned(),
        (GoalState::Missed, 2..) => format!(
            "no ({} never start)",
            grouped_count(goal.never_start, "job")
        ),
        (state, _) => state_in_words(state).to_owned(),
    }
}

/// Whether a goal is met, in a cell: a dash where it cannot be judged.
pub(crate) fn state_in_words(state: GoalState) -> &'static str {
    match state {
        GoalState::Missed => "no",
        GoalState::NoJobs | GoalState::NoOldSide => "–",
        GoalState::Met => "yes",
    }
}

pub(crate) fn value_in_words(measure: Measure, value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        // jobs that never start
        Some(value) if value.is_infinite() => "∞".to_owned(),
        Some(value) if measure.is_duration() => duration(value),
        Some(value) if measure.is_fraction() => percent(value),
        Some(value) => significant(value),
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
