//! Findings that need the site as well as the formula: its fair-share tree, its jobs with their scores, its settings.

use std::cmp::Ordering;

use job_sort_formula::diagnostic::{Diagnostic, Severity, Span};
use job_sort_formula::fairshare::{EntityShares, FairShare};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::syntax::{Expr, NodeKind};
use job_sort_formula::jobs::{Column, JobTable, TruncatedToZero};
use job_sort_formula::python::{ErrorKind, Value};
use job_sort_formula::rank::summands::{DecidedPairs, SummandColumns, SummandRange};
use job_sort_formula::rank::{Consequence, ErrorGroup, FormulaResult, Ranking, ScoreError, fairshare_number};
use job_sort_formula::schema::{FairshareInput, Origin, Schema};

use crate::defects::{self, Defect};
use crate::files::sched_config::SchedConfig;
use crate::files::server::ServerSettings;
use crate::number_format;
use crate::order::{NotConsidered, Ordered};

/// A finding for each resource whose amount in some job is above 0 and reaches the formula as 0.
pub(super) fn truncated_amounts(expr: &Expr, table: &JobTable) -> Vec<Diagnostic> {
    let finding = |(name, truncated): (&str, &TruncatedToZero)| {
        let jobs = counted(truncated.jobs, "job", "jobs");
        let (amount, job) = (&truncated.amount, &truncated.job);
        let message = format!("the `{name}` of {jobs} reaches the formula as 0: {amount} in `{job}`");
        let help =
            "OpenPBS prints amounts with four decimals, and none where the first three are zeros: use a smaller unit";
        Some(Diagnostic::warning("JSF502", message, first_span_of(expr, name)?).with_help(help))
    };
    table.truncated_amounts().filter_map(finding).collect()
}

/// A finding for each fair-share name whose number is above 0 for some entity and is printed as 0.
pub(super) fn truncated_shares(expr: &Expr, table: &JobTable, backend: &dyn FairShare) -> Vec<Diagnostic> {
    let entities = table.entities();
    let shares: Vec<_> = entities.iter().map(|entity| backend.shares_of(entity)).collect();
    let finding = |(name, input): (&str, FairshareInput)| {
        let span = first_span_of(expr, name)?;
        let is_truncated = |shares: &EntityShares| {
            let number = fairshare_number(input, shares);
            number > 0.0 && number_format::fairshare(number) == 0.0
        };
        let truncated: Vec<_> =
            entities.iter().zip(&shares).filter(|(_, shares)| shares.as_ref().is_some_and(is_truncated)).collect();
        let (_, first) = truncated.first()?;
        let number = first.as_ref().map_or(0.0, |first| fairshare_number(input, first));
        let count = truncated.len();
        let entities = counted(count, "entity", "entities");
        let names = listed(count, truncated.iter().map(|(entity, _)| entity));
        let message = format!("the `{name}` of {entities} is printed as 0.000000: {names}");
        Some(Diagnostic::warning("JSF501", message, span).with_label(format!("{number:.3e} in the tree")).with_help(
            "the scheduler passes fair-share numbers with six decimals; give such entities more shares, or bound the \
             name from below: `max(…, 1e-6)`",
        ))
    };
    FairshareInput::NAMES.into_iter().filter_map(finding).collect()
}

/// A finding for each resource in the formula that no considered job has.
pub(super) fn unused_resources(expr: &Expr, schema: &Schema, table: &JobTable) -> Vec<Diagnostic> {
    let considered: Vec<usize> = (0..table.len()).filter(|&row| table.is_considered(row)).collect();
    let finding = |(name, column): (&str, &Column)| {
        let is_resource = schema.entry(name).is_some_and(|entry| entry.origin != Origin::Special);
        let span = first_span_of(expr, name).filter(|_| is_resource && !considered.is_empty())?;
        if considered.iter().any(|&row| column.is_set(row)) {
            return None;
        }
        let jobs = counted(considered.len(), "considered job", "considered jobs");
        let message = format!("`{name}` is 0 for every job of the queue: none of {jobs} has this resource");
        let help = "jobs that do not request a resource, and get no default when they are queued, have 0";
        Some(Diagnostic::warning("JSF615", message, span).with_help(help))
    };
    table.columns().filter_map(finding).collect()
}

/// A finding if all considered jobs, and more than one, have the same value without an error.
pub(super) fn one_value(expr: &Expr, table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let considered = || (0..table.len()).filter(|&row| table.is_considered(row));
    let value = |row: usize| ranking.score(row).filter(|score| score.unrounded.is_ok()).map(|score| score.value);
    let first = value(considered().next()?)?;
    let count = considered().count();
    if count < 2 || considered().any(|row| value(row) != Some(first)) {
        return None;
    }
    let message =
        format!("all {count} considered jobs of the queue get the same value, {}", number_format::logged(first));
    let help = "the formula does not order this queue: later sort criteria decide, at last the order of submission";
    Some(Diagnostic::warning("JSF616", message, whole_span(expr)).with_help(help))
}

/// A queue with fewer pairs of neighbours says little about a summand.
const MIN_PAIRS: usize = 10;
/// A summand is idle if it decides at most one of this many pairs of neighbours.
const PAIRS_OF_IDLE: usize = 100;
/// A summand of a range this much smaller than that of another is too small; one of a similar range may agree with the
/// others by chance.
const SMALLER_RANGE: f64 = 10.0;

/// A finding for each summand that decides the order of no neighbours, or of almost none, because its values vary far less
/// than those of another.
pub(super) fn idle_summands(
    formula: &Formula,
    schema: &Schema,
    table: &JobTable,
    ranking: &Ranking,
) -> Vec<Diagnostic> {
    let has_value =
        |&row: &usize| table.is_considered(row) && ranking.score(row).is_some_and(|score| score.unrounded.is_ok());
    let rows: Vec<usize> = (0..table.len()).filter(has_value).collect();
    let columns = formula.compile(schema).ok().and_then(|program| SummandColumns::new(&program, schema, table, &rows));
    let Some(columns) = columns else { return Vec::new() };
    let range = |summand: &SummandRange| summand.most - summand.least;
    let Some(widest) = columns.ranges().iter().max_by(|left, right| range(left).total_cmp(&range(right))) else {
        return Vec::new();
    };
    let is_narrow =
        |summand: &SummandRange| summand.most > summand.least && range(summand) * SMALLER_RANGE <= range(widest);
    // the jobs are ordered only where some summand may decide nothing
    if !columns.ranges().iter().any(is_narrow) {
        return Vec::new();
    }
    let DecidedPairs { decided, pairs } = columns.decided_pairs();
    if pairs < MIN_PAIRS {
        return Vec::new();
    }
    let finding = |(idle, decided_by_it): (&SummandRange, usize)| {
        let (text, other) = (shortened(&idle.text), shortened(&widest.text));
        let decided = match decided_by_it {
            0 => "none".to_owned(),
            some => some.to_string(),
        };
        let message = format!(
            "`{text}` decides {decided} of {pairs} pairs of neighbours: it ranges from {} to {}, `{other}` from {} to {}",
            short_number(idle.least),
            short_number(idle.most),
            short_number(widest.least),
            short_number(widest.most)
        );
        let factor = short_number(one_digit(range(widest) / range(idle)));
        let consequence = if decided_by_it == 0 { "without it the jobs would have the same order; " } else { "" };
        let help = format!(
            "{consequence}unless it is to decide between equal values only, give it more weight: multiplied by {factor}, it has \
             about the range of `{other}`"
        );
        Diagnostic::warning("JSF618", message, idle.span).with_help(help)
    };
    let is_idle = |(summand, decided): &(&SummandRange, usize)| decided * PAIRS_OF_IDLE <= pairs && is_narrow(summand);
    columns.ranges().iter().zip(decided).filter(is_idle).map(finding).collect()
}

/// A text of at most 48 characters.
fn shortened(text: &str) -> String {
    const MAX: usize = 48;
    if text.chars().count() <= MAX {
        return text.to_owned();
    }
    text.chars().take(MAX - 1).chain(['…']).collect()
}

/// A number with at most four decimals, or in scientific notation if it is very large or small.
fn short_number(number: f64) -> String {
    let magnitude = number.abs();
    if number != 0.0 && !(1e-3..1e9).contains(&magnitude) {
        return format!("{number:.2e}");
    }
    number_format::printed(number)
}

/// The number with its first digit alone.
fn one_digit(number: f64) -> f64 {
    format!("{number:.0e}").parse().unwrap_or(number)
}

/// A finding if the formula uses `eligible_time` and the server accrues none.
pub(super) fn disabled_eligible_time(expr: &Expr, server: &ServerSettings) -> Option<Diagnostic> {
    let span = first_span_of(expr, "eligible_time").filter(|_| server.eligible_time_enable == Some(false))?;
    Some(
        Diagnostic::warning("JSF603", "the server's `eligible_time_enable` is false, so none accrues", span)
            .with_help("qmgr -c 'set server eligible_time_enable = True'"),
    )
}

/// A finding for each known defect of the server's version.
pub(super) fn defects(expr: &Expr, server: &ServerSettings) -> Vec<Diagnostic> {
    let Some(version) = server.pbs_version else { return Vec::new() };
    let finding = |defect: &Defect| {
        let Defect { issues, effect, help, .. } = defect;
        let message =
            format!("{effect}, a defect of OpenPBS that states the version {version} (openpbs issues {issues})");
        Diagnostic::warning("JSF406", message, whole_span(expr)).with_help(*help)
    };
    defects::of_version(version).map(finding).collect()
}

/// A finding for each scheduler setting that orders jobs after the formula.
pub(super) fn other_orderings(expr: &Expr, config: &SchedConfig) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let note = |message: &str| Diagnostic::note("JSF604", message, whole_span(expr));
    if config.fair_share.prime || config.fair_share.non_prime {
        let help = "to have it count, use `fairshare_factor` in the formula";
        let message = "`fair_share` is on: it decides only between jobs of the same value";
        findings.push(note(message).with_help(help));
    }
    if !(config.job_sort_key.prime.is_empty() && config.job_sort_key.non_prime.is_empty()) {
        let message = "`job_sort_key` is set: it decides only between jobs of the same value";
        findings.push(note(message).with_help("the scheduler logs that the two are incompatible and uses the formula"));
    }
    findings
}

/// A finding if no waiting job exceeds the threshold, or every one does.
pub(super) fn useless_threshold(
    expr: &Expr,
    table: &JobTable,
    ordered: &Ordered,
    threshold: f64,
) -> Option<Diagnostic> {
    let ranking = &ordered.ranking;
    let is_under = |reason: &NotConsidered| matches!(reason, NotConsidered::UnderThreshold { .. });
    let under: Vec<usize> =
        ordered.not_considered.iter().filter(|(_, reason)| is_under(reason)).map(|&(row, _)| row).collect();
    let value = |row: usize| ranking.score(row).map_or(f64::NAN, |score| score.value);
    let logged = |row: usize| format!("{} (`{}`)", number_format::logged(value(row)), table.id(row));
    let by_value = |&left: &usize, &right: &usize| value(left).total_cmp(&value(right));
    let bound = number_format::printed(number_format::server_float(threshold));
    let (severity, message) = match (ranking.order(), under.as_slice()) {
        ([], []) => return None,
        ([], under) => {
            let (count, highest) = (counted(under.len(), "job", "jobs"), under.iter().copied().max_by(by_value)?);
            let message =
                format!("none of {count} passes the threshold {bound}: the highest value is {}", logged(highest));
            (Severity::Error, message)
        }
        (passing, []) => {
            let (count, lowest) = (counted(passing.len(), "job", "jobs"), passing.iter().copied().min_by(by_value)?);
            let message = format!("all of {count} pass the threshold {bound}: the lowest value is {}", logged(lowest));
            (Severity::Warning, message)
        }
        _ => return None,
    };
    let help = "a job whose value is at most `job_sort_formula_threshold` is not run";
    Some(Diagnostic::new(severity, "JSF605", message, whole_span(expr)).with_help(help))
}

/// The values of a job: rounded to a C `float` as in the scheduler, and as the formula computed it.
#[derive(Debug, Clone, Copy)]
struct RoundedValue {
    row: usize,
    rounded: f64,
    unrounded: f64,
}

/// A finding if different values become equal when the scheduler keeps them in a C `float`.
pub(super) fn rounding_ties(expr: &Expr, table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let value = |&row: &usize| {
        let score = ranking.score(row)?;
        let (rounded, unrounded) = (score.value, nearest_double(score.unrounded.as_ref().ok()?)?);
        Some(RoundedValue { row, rounded, unrounded }).filter(|_| !rounded.is_nan() && !unrounded.is_nan())
    };
    let mut values: Vec<RoundedValue> = ranking.order().iter().filter_map(value).collect();
    values.sort_by(higher_value_first);
    let is_tie = |group: &&[RoundedValue]| group.iter().any(|job| job.unrounded != group[0].unrounded);
    let groups: Vec<_> = values.chunk_by(|left, right| left.rounded == right.rounded).filter(is_tie).collect();
    let tied = groups.first()?;
    let first = tied.first()?;
    let second = tied.iter().find(|job| job.unrounded != first.unrounded)?;
    let jobs = counted(groups.iter().map(|group| group.len()).sum(), "job", "jobs");
    let described = |job: &RoundedValue| {
        let result = ranking.score(job.row).and_then(|score| score.unrounded.ok());
        format!("`{}` ({})", table.id(job.row), result.map(|result| result.to_string()).unwrap_or_default())
    };
    let (first, second) = (described(first), described(second));
    if tied[0].rounded.is_infinite() {
        let jobs = counted(tied.len(), "job", "jobs");
        let message =
            format!("{jobs} tie because their values exceed the range of float32 (3.4e38): {first} and {second}");
        let help = "the scheduler keeps infinity for all of them; make the large terms smaller";
        return Some(Diagnostic::warning("JSF504", message, whole_span(expr)).with_help(help));
    }
    let message = format!("{jobs} tie only because the scheduler keeps 24 bits of a value: {first} and {second}");
    let help = "later sort criteria, not the formula, decide between them; make the large terms smaller";
    Some(Diagnostic::warning("JSF504", message, whole_span(expr)).with_help(help))
}

fn higher_value_first(left: &RoundedValue, right: &RoundedValue) -> Ordering {
    let by_rounded = right.rounded.total_cmp(&left.rounded);
    by_rounded.then(right.unrounded.total_cmp(&left.unrounded)).then(left.row.cmp(&right.row))
}

fn nearest_double(result: &FormulaResult) -> Option<f64> {
    match result {
        FormulaResult::Python(Value::Float(double)) => Some(*double),
        FormulaResult::Python(Value::Int(integer)) => Some(*integer as f64),
        _ => None,
    }
}

/// A finding for each kind of error that jobs have, with the span and the operands of its first job.
pub fn error_findings(table: &JobTable, ranking: &Ranking) -> Vec<Diagnostic> {
    error_findings_of(table, ranking, |_| true)
}

/// A finding for each kind of error that some rows have, as by [`error_findings`].
pub fn error_findings_of(table: &JobTable, ranking: &Ranking, is_asked_for: impl Fn(usize) -> bool) -> Vec<Diagnostic> {
    let groups = ranking.error_groups_of(is_asked_for);
    groups.iter().filter(|group| !is_unknown_name(group.error)).map(|group| error_group(table, group)).collect()
}

/// Whether the result of a job crashes the scheduler.
pub(super) fn crashes_scheduler(ranking: &Ranking) -> bool {
    errors(ranking).any(|(_, error)| error.crashes_the_scheduler())
}

/// What an error does to the scheduler.
const FIRST_EVALUATION: &str =
    "an error in the very first evaluation after its start crashes the scheduler; a later error does not";

/// A finding if an error would crash the scheduler in its first evaluation after a start.
pub(super) fn first_evaluation(table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let is_noticed = |(_, error): &(usize, &ScoreError)| error.consequence() == Consequence::Zero;
    let failing: Vec<_> = errors(ranking).filter(is_noticed).collect();
    let span = failing.first()?.1.span();
    let mut finding = Diagnostic::warning("JSF402", "", span).with_help(FIRST_EVALUATION);
    if failing.len() == ranking.scores().count() {
        finding.severity = Severity::Error;
        finding.message = "every job has an error, so the scheduler crashes when it is next started".into();
    } else {
        let jobs = listed(failing.len(), failing.iter().map(|&(row, _)| table.id(row)));
        let any = if failing.len() == 1 { "" } else { "any of " };
        finding.message = format!("the scheduler crashes at its next start if {any}{jobs} is evaluated first");
    }
    Some(finding)
}

/// The finding where jobs have an error in a formula that no scheduler evaluates.
pub(super) fn without_evaluation(span: Span, reason: &str) -> Diagnostic {
    let help = format!("in a scheduler of OpenPBS that has the formula, {FIRST_EVALUATION}");
    Diagnostic::note("JSF402", reason, span).with_help(help)
}

fn errors(ranking: &Ranking) -> impl Iterator<Item = (usize, &ScoreError)> {
    ranking.scores().errors()
}

/// Whether the error is an unknown name, for which name resolution reports a finding of its own.
fn is_unknown_name(error: &ScoreError) -> bool {
    matches!(error, ScoreError::Raised(error) if error.raised.kind == ErrorKind::Name)
}

fn error_group(table: &JobTable, group: &ErrorGroup<'_>) -> Diagnostic {
    let count = group.rows.len();
    let (jobs, ids) = (counted(count, "job", "jobs"), listed(count, group.rows.iter().map(|&row| table.id(row))));
    let first = group.rows.first().map_or("", |&row| table.id(row));
    error_finding(group.error, &format!("{jobs}: {ids}"), first)
}

/// The finding for the error of a single job, with its span and its operands.
pub fn job_error(table: &JobTable, row: usize, error: &ScoreError) -> Diagnostic {
    let id = table.id(row);
    error_finding(error, &format!("`{id}`"), id)
}

/// A finding for an error of `jobs`; the operands are those of the job `first`.
fn error_finding(error: &ScoreError, jobs: &str, first: &str) -> Diagnostic {
    let code = match error.consequence() {
        Consequence::Zero => "JSF301",
        Consequence::Crash => "JSF302",
        Consequence::Unknown => "JSF311",
    };
    let mut finding = Diagnostic::error(code, format!("{error} for {jobs}"), error.span());
    if let ScoreError::Raised(error) = error {
        for operand in &error.operands {
            finding = finding.with_secondary_label(operand.span, format!("{} in `{first}`", operand.value.repr()));
        }
    }
    finding.with_help(match error.consequence() {
        Consequence::Zero => "OpenPBS counts such a job as 0",
        Consequence::Crash => "OpenPBS counts such a job as -1, and its scheduler crashes",
        Consequence::Unknown => "jsf counts such a job as 0, but OpenPBS may compute another value",
    })
}

/// The span of the first use of a name in the formula.
fn first_span_of(expr: &Expr, name: &str) -> Option<Span> {
    let is_name = |kind: &NodeKind| matches!(kind, NodeKind::Name(found) if **found == *name);
    expr.nodes().iter().filter(|node| is_name(&node.kind)).map(|node| node.span).min()
}

/// The span of the whole formula.
fn whole_span(expr: &Expr) -> Span {
    expr.node(expr.root()).span
}

/// `1 job`, `2 jobs`.
fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// The first three names, and how many more there are.
fn listed(count: usize, names: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let shown: Vec<_> = names.take(3).map(|name| format!("`{name}`")).collect();
    match count.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
