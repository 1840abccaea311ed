//! Findings that need the site as well as the formula: its fair-share tree, its jobs with their
//! scores, its settings; those on its documents against each other, where they say of its jobs
//! together what they do not say alone.

use std::cmp::Ordering;

use job_sort_formula::diagnostic::{Code, Diagnostic, Severity, Span};
use job_sort_formula::fairshare::FairShare;
use job_sort_formula::formula::program::Program;
use job_sort_formula::formula::syntax::Expr;
use job_sort_formula::jobs::{JobState, JobTable, TruncatedToZero};
use job_sort_formula::python::{ErrorKind, Value};
use job_sort_formula::rank::{
    Consequence, Ranking, ScoreError, SummandColumns, SummandRange, fairshare_number,
};
use job_sort_formula::schema::{FairshareInput, Origin, Schema};
use jsf_words::{count, counted, first_few_quoted};

use crate::amounts;
use crate::check::{ScoredQueue, rows_under_threshold};
use crate::files::queues::Queues;
use crate::files::sched_priv::SchedConfig;
use crate::files::server::ServerSettings;
use crate::files::versions::{Defect, defects_of};
use crate::order::NotConsidered;
use crate::share_tree::PbsTree;

/// The most jobs or entities that a message names.
const MAX_NAMES: usize = 3;

/// A finding for each resource whose amount in some job is above 0 and reaches the formula as 0.
pub fn truncated_amounts(expr: &Expr, table: &JobTable) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (name, TruncatedToZero { jobs, amount, job }) in table.truncated_amounts() {
        let Some(span) = expr.first_use(name) else {
            continue;
        };
        let jobs = count(*jobs, "job");
        let message =
            format!("the `{name}` of {jobs} reaches the formula as 0: {amount} in `{job}`");
        let help = "OpenPBS prints amounts with four decimals, and none where the first three are zeros: use a smaller unit";
        findings.push(Diagnostic::new(Code::TruncatedAmount, message, span).with_help(help));
    }
    findings
}

/// A finding for each fair-share name whose number is above 0 for some entity and is printed as 0.
pub fn truncated_shares(expr: &Expr, table: &JobTable, backend: &dyn FairShare) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (name, input) in FairshareInput::NAMES {
        let Some(span) = expr.first_use(name) else {
            continue;
        };
        let mut truncated = Vec::new();
        let mut first = None;
        for entity in table.entities() {
            if let Some(shares) = backend.shares_of(entity) {
                let number = fairshare_number(input, &shares);
                if number > 0.0 && amounts::fairshare(number) == 0.0 {
                    first = first.or(Some(number));
                    truncated.push(entity);
                }
            }
        }
        let Some(first) = first else { continue };
        let entities = counted(truncated.len(), "entity", "entities");
        let names = first_few_quoted(&truncated, MAX_NAMES);
        let message = format!("the `{name}` of {entities} is printed as 0.000000: {names}");
        let help = "the scheduler passes fair-share numbers with six decimals; give such entities more shares, or bound the \
                    name from below: `max(…, 1e-6)`";
        findings.push(
            Diagnostic::new(Code::TruncatedShare, message, span)
                .with_label(format!("{first:.3e} in the tree"))
                .with_help(help),
        );
    }
    findings
}

/// A finding for each resource in the formula that no considered job has.
pub fn unused_resources(expr: &Expr, schema: &Schema, table: &JobTable) -> Vec<Diagnostic> {
    let considered = table.considered_rows().count();
    if considered == 0 {
        return Vec::new();
    }
    let jobs = count(considered, "considered job");
    let mut findings = Vec::new();
    for (name, column) in table.columns() {
        // the amount of a string is 0 for the job that has it, too
        if is_resource(schema, name)
            && schema.is_numeric(name)
            && let Some(span) = expr.first_use(name)
            && !table.considered_rows().any(|row| column.is_set(row))
        {
            let message = format!(
                "`{name}` is 0 for every job of the queue: none of {jobs} has this resource"
            );
            let help = "jobs that do not request a resource, and get no default when they are queued, have 0";
            findings.push(Diagnostic::new(Code::UnusedResource, message, span).with_help(help));
        }
    }
    findings
}

/// Whether a name is that of a resource of jobs.
pub fn is_resource(schema: &Schema, name: &str) -> bool {
    !matches!(schema.origin(name), None | Some(Origin::Special))
}

/// A finding if all considered jobs, and more than one, have the same value without an error.
pub fn one_value(expr: &Expr, table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let mut count = 0;
    let mut value = 0.0;
    for row in table.considered_rows() {
        let score = ranking.score(row)?;
        if score.unrounded.is_err() || count > 0 && score.value != value {
            return None;
        }
        if count == 0 {
            value = score.value;
        }
        count += 1;
    }
    if count < 2 {
        return None;
    }
    let message = format!(
        "all {count} considered jobs of the queue get the same value, {}",
        amounts::logged(value)
    );
    let help = "the formula does not order this queue: later sort criteria decide, at last the order of submission";
    Some(Diagnostic::new(Code::OneValueForAll, message, expr.span()).with_help(help))
}

/// A queue with fewer pairs of neighbours says little about a summand.
const MIN_PAIRS: usize = 10;
/// A summand is idle if it decides at most one of this many pairs of neighbours.
const PAIRS_OF_IDLE: usize = 100;
/// A summand of a range this much smaller than that of another is too small; one of a similar range
/// may agree with the others by chance.
const SMALLER_RANGE: f64 = 10.0;

/// A finding for each summand that decides the order of no neighbours, or of almost none, because
/// its values vary far less than those of another. As long as nothing has run, a summand that
/// depends on usage says nothing about later.
pub fn idle_summands(
    program: &Program,
    schema: &Schema,
    queue: &ScoredQueue<'_>,
) -> Vec<Diagnostic> {
    let table = queue.table;
    let mut rows = Vec::new();
    for row in table.considered_rows() {
        if let Some(score) = queue.ranking.score(row)
            && score.unrounded.is_ok()
        {
            rows.push(row);
        }
    }
    let Some(columns) = SummandColumns::new(program, schema, table, &rows) else {
        return Vec::new();
    };
    let ranges = &columns.ranges;
    let summands = ranges.iter();
    let Some(widest) = summands.max_by(|left, right| width(left).total_cmp(&width(right))) else {
        return Vec::new();
    };
    // the jobs are ordered only if some summand may decide nothing
    if !ranges.iter().any(|summand| is_narrow(summand, widest)) {
        return Vec::new();
    }
    let (decided, pairs) = columns.decided_pairs();
    let is_unused = queue.tree.is_some_and(PbsTree::is_unused);
    let mut findings = Vec::new();
    for (summand, decided) in ranges.iter().zip(decided) {
        if pairs >= MIN_PAIRS
            && decided * PAIRS_OF_IDLE <= pairs
            && is_narrow(summand, widest)
            && !(is_unused && depends_on_usage(program.expr(), summand.span))
        {
            findings.push(idle_summand(summand, widest, decided, pairs));
        }
    }
    findings
}

/// Whether the part of the formula in the span has a fair-share name that changes with usage;
/// `fairshare_perc` does not.
fn depends_on_usage(expr: &Expr, span: Span) -> bool {
    use FairshareInput::{Factor, TreeUsage};

    let mut nodes = expr.nodes().iter();
    nodes.any(|node| {
        let is_within = span.start <= node.span.start && node.span.end <= span.end;
        let input = node.name().and_then(FairshareInput::from_name);
        is_within && matches!(input, Some(TreeUsage | Factor))
    })
}

fn is_narrow(summand: &SummandRange, widest: &SummandRange) -> bool {
    summand.most > summand.least && width(summand) * SMALLER_RANGE <= width(widest)
}

fn width(summand: &SummandRange) -> f64 {
    summand.most - summand.least
}

/// The finding on a summand that decides `decided` of the pairs of neighbours.
fn idle_summand(
    idle: &SummandRange,
    widest: &SummandRange,
    decided: usize,
    pairs: usize,
) -> Diagnostic {
    let text = shortened(&idle.text);
    let other = shortened(&widest.text);
    let count = match decided {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    let message = format!(
        "`{text}` decides {count} of {pairs} pairs of neighbours: it ranges from {} to {}, `{other}` from {} to {}",
        short_number(idle.least),
        short_number(idle.most),
        short_number(widest.least),
        short_number(widest.most)
    );
    let factor = short_number(one_digit(width(widest) / width(idle)));
    let help = format!(
        "unless it is to decide between equal values only, give it more weight: multiplied by {factor}, it has \
         about the range of `{other}`"
    );
    Diagnostic::new(Code::IdleSummand, message, idle.span).with_help(help)
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
    amounts::printed(number)
}

/// The number, rounded to its first digit.
fn one_digit(number: f64) -> f64 {
    format!("{number:.0e}").parse().unwrap_or(number)
}

/// A finding if the formula uses `eligible_time` and the server accrues none.
pub fn disabled_eligible_time(expr: &Expr, server: &ServerSettings) -> Option<Diagnostic> {
    let span = expr.first_use("eligible_time")?;
    if server.eligible_time_enable() != Some(false) {
        return None;
    }
    let message = "the server's `eligible_time_enable` is false, so none accrues";
    let help = "qmgr -c 'set server eligible_time_enable = True'";
    Some(Diagnostic::new(Code::NoEligibleTime, message, span).with_help(help))
}

/// A finding for each known defect of the server's version.
pub fn defects(expr: &Expr, server: &ServerSettings) -> Vec<Diagnostic> {
    let Some(version) = server.pbs_version() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for Defect {
        issues,
        effect,
        help,
        ..
    } in defects_of(version)
    {
        let message = format!(
            "{effect}, a defect of OpenPBS that states the version {version} (openpbs issues {issues})"
        );
        let found = Diagnostic::new(Code::DefectOfVersion, message, expr.span());
        findings.push(found.with_help(*help));
    }
    findings
}

/// A finding for each scheduler setting that orders jobs after the formula.
pub fn other_orderings(expr: &Expr, config: &SchedConfig) -> Vec<Diagnostic> {
    let fair_share = config.fair_share.prime || config.fair_share.non_prime;
    let keys = &config.job_sort_key;
    let has_keys = !(keys.prime.is_empty() && keys.non_prime.is_empty());
    let mut findings = Vec::new();
    for (is_set, setting, help) in [
        (
            fair_share,
            "`fair_share` is on",
            "to have it count, use `fairshare_factor` in the formula",
        ),
        (
            has_keys,
            "`job_sort_key` is set",
            "the scheduler logs that the two are incompatible and uses the formula",
        ),
    ] {
        if is_set {
            let message = format!("{setting}: it decides only between jobs of the same value");
            let found = Diagnostic::new(Code::OtherOrdering, message, expr.span());
            findings.push(found.with_help(help));
        }
    }
    findings
}

/// A finding if no waiting job exceeds the threshold, or every one does.
pub fn useless_threshold(
    expr: &Expr,
    queue: &ScoredQueue<'_>,
    threshold: f64,
) -> Option<Diagnostic> {
    let ranking = queue.ranking;
    let under = rows_under_threshold(queue.not_considered);
    let bound = amounts::printed(amounts::server_float(threshold));
    let (rows, passes) = match (ranking.order(), under.as_slice()) {
        ([], under) => (under, false),
        (passing, []) => (passing, true),
        _ => return None,
    };
    let value_of = |row: &usize| ranking.score(*row).map_or(f64::NAN, |score| score.value);
    let by_value = |left: &&usize, right: &&usize| value_of(left).total_cmp(&value_of(right));
    let row = *if passes {
        rows.iter().min_by(by_value)?
    } else {
        rows.iter().max_by(by_value)?
    };
    let (which, extreme, severity, help) = if passes {
        let help = "it has no effect: to hold jobs back, choose it in the scale of the formula's values; else unset it";
        ("every one", "lowest", Severity::Warning, help)
    } else {
        let help = "no job runs whose value is at most `job_sort_formula_threshold`: choose it below the highest value";
        ("none", "highest", Severity::Error, help)
    };
    let message = format!(
        "{which} of {} passes the threshold {bound}: the {extreme} value is {} (`{}`)",
        count(rows.len(), "job"),
        amounts::logged(value_of(&row)),
        queue.table.id(row)
    );
    Some(
        Diagnostic::new(Code::UselessThreshold, message, expr.span())
            .with_severity(severity)
            .with_help(help),
    )
}

/// The values of a job: rounded to a C `float` as in the scheduler, and as the formula computed it.
#[derive(Debug, Clone, Copy)]
struct RoundedValue {
    row: usize,
    rounded: f64,
    unrounded: f64,
}

/// A finding if different values become equal when the scheduler keeps them in a C `float`.
pub fn rounding_ties(expr: &Expr, table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let mut values = Vec::new();
    for &row in ranking.order() {
        values.extend(RoundedValue::new(ranking, row));
    }
    values.sort_by(RoundedValue::higher_first);
    let mut all_tied = 0;
    // the first group, and two of its jobs with different values
    let mut first_tied = None;
    for group in values.chunk_by(|left, right| left.rounded == right.rounded) {
        let one = &group[0];
        if let Some(other) = group.iter().find(|job| job.unrounded != one.unrounded) {
            all_tied += group.len();
            first_tied.get_or_insert((group.len(), one, other));
        }
    }
    let (tied, one, other) = first_tied?;
    let (count, why, help) = if one.rounded.is_infinite() {
        (
            tied,
            "tie because their values exceed the range of float32 (3.4e38)",
            "the scheduler keeps infinity for all of them; make the large terms smaller",
        )
    } else {
        (
            all_tied,
            "tie only because the scheduler keeps 24 bits of a value",
            "later sort criteria, not the formula, decide between them; make the large terms smaller",
        )
    };
    let jobs = jsf_words::count(count, "job");
    let (one, other) = (one.in_words(table, ranking), other.in_words(table, ranking));
    let message = format!("{jobs} {why}: {one} and {other}");
    Some(Diagnostic::new(Code::RoundingTies, message, expr.span()).with_help(help))
}

impl RoundedValue {
    /// `None` for a job without a value, or with a NaN or a value that is not a number.
    fn new(ranking: &Ranking, row: usize) -> Option<Self> {
        let score = ranking.score(row)?;
        let rounded = score.value;
        let unrounded = match score.unrounded.ok()? {
            Value::Float(double) => double,
            Value::Int(integer) => integer as f64,
            _ => return None,
        };
        if rounded.is_nan() || unrounded.is_nan() {
            return None;
        }
        Some(Self {
            row,
            rounded,
            unrounded,
        })
    }

    fn higher_first(left: &Self, right: &Self) -> Ordering {
        let by_rounded = right.rounded.total_cmp(&left.rounded);
        by_rounded
            .then(right.unrounded.total_cmp(&left.unrounded))
            .then(left.row.cmp(&right.row))
    }

    fn in_words(&self, table: &JobTable, ranking: &Ranking) -> String {
        let result = match ranking.score(self.row).map(|score| score.unrounded) {
            Some(Ok(result)) => result.to_string(),
            _ => String::new(),
        };
        format!("`{}` ({result})", table.id(self.row))
    }
}

/// A finding for each kind of error that jobs have.
pub fn error_findings(table: &JobTable, ranking: &Ranking) -> Vec<Diagnostic> {
    error_findings_of(table, ranking, |_| true)
}

/// A finding for each kind of error that the jobs in rows for which `is_asked_for` holds have, with
/// the span and the operands of its first job.
pub fn error_findings_of(
    table: &JobTable,
    ranking: &Ranking,
    is_asked_for: impl Fn(usize) -> bool,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for group in ranking.error_groups_of(is_asked_for) {
        // name resolution reports a finding of its own on an unknown name
        if group.error.kind() != ErrorKind::Name {
            let ids: Vec<&str> = group.rows.iter().map(|&row| table.id(row)).collect();
            let jobs = count(ids.len(), "job");
            let listed = first_few_quoted(&ids, MAX_NAMES);
            let first = ids.first().copied().unwrap_or_default();
            findings.push(error_finding(
                group.error,
                &format!("{jobs}: {listed}"),
                first,
            ));
        }
    }
    findings
}

/// Whether the result of a job crashes the scheduler.
pub fn crashes_scheduler(ranking: &Ranking) -> bool {
    let mut errors = ranking.scores().errors();
    errors.any(|(_, error)| error.crashes_the_scheduler())
}

/// What an error does to the scheduler.
const FIRST_EVALUATION: &str = "an error in the very first evaluation after its start crashes the scheduler; a later error does not";

/// A finding if an error would crash the scheduler in its first evaluation after a start.
pub fn first_evaluation(table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
    let mut failing: Vec<_> = ranking.scores().errors().collect();
    failing.retain(|(_, error)| error.consequence() == Consequence::Zero);
    let span = failing.first()?.1.span();
    let mut finding = Diagnostic::new(Code::FirstEvaluation, "", span)
        .with_severity(Severity::Warning)
        .with_help(FIRST_EVALUATION);
    if failing.len() == ranking.scores().count() {
        finding.severity = Severity::Error;
        finding.message =
            "every job has an error, so the scheduler crashes when it is next started".into();
    } else {
        let jobs: Vec<&str> = failing.iter().map(|&(row, _)| table.id(row)).collect();
        let jobs = first_few_quoted(&jobs, MAX_NAMES);
        let any = if failing.len() == 1 { "" } else { "any of " };
        finding.message =
            format!("the scheduler crashes at its next start if {any}{jobs} is evaluated first");
    }
    Some(finding)
}

/// The finding if jobs have an error in a formula that no scheduler evaluates.
pub fn without_evaluation(span: Span, reason: &str) -> Diagnostic {
    let help =
        format!("if a scheduler of OpenPBS has the formula nevertheless, {FIRST_EVALUATION}");
    Diagnostic::new(Code::FirstEvaluation, reason, span).with_help(help)
}

/// The finding for the error of a single job, with its span and its operands.
pub fn job_error(table: &JobTable, row: usize, error: &ScoreError) -> Diagnostic {
    let id = table.id(row);
    error_finding(error, &format!("`{id}`"), id)
}

/// A finding for an error of `jobs`; the operands are those of the job `first`.
fn error_finding(error: &ScoreError, jobs: &str, first: &str) -> Diagnostic {
    let (code, help) = match error.consequence() {
        Consequence::Zero => (Code::FailingJobs, "OpenPBS counts such a job as 0"),
        Consequence::Crash => (
            Code::CrashingJobs,
            "OpenPBS counts such a job as -1, and its scheduler crashes",
        ),
        Consequence::Unknown => (
            Code::UnknownValues,
            "jsf counts such a job as 0, but OpenPBS may compute another value",
        ),
    };
    let mut finding = Diagnostic::new(code, format!("{error} for {jobs}"), error.span());
    if let ScoreError::Raised(error) = error {
        for operand in error.operands() {
            let label = format!("{} in `{first}`", operand.value.repr());
            finding = finding.with_secondary_label(operand.span, label);
        }
    }
    finding.with_help(help)
}

/// The columns of the jobs in which something is found under any formula.
pub const CHECKED_COLUMNS: [&str; 1] = ["walltime"];

/// A finding for each resource of the formula that waiting jobs lack although new ones of their
/// queue get it.
pub fn without_default(
    expr: &Expr,
    schema: &Schema,
    table: &JobTable,
    queues: &Queues,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (name, column) in table.columns() {
        let Some(span) = expr.first_use(name) else {
            continue;
        };
        if !is_resource(schema, name) {
            continue;
        }
        let mut count = 0;
        let mut first = None;
        for row in table.considered_rows() {
            if !column.is_set(row)
                && let Some(default) = queues.resources_default(table.queue(row), name)
            {
                count += 1;
                first.get_or_insert((table.id(row), default));
            }
        }
        let Some((id, default)) = first else { continue };
        let jobs = counted(count, "waiting job that lacks", "waiting jobs that lack");
        let message = format!(
            "`{name}` is 0 for {jobs} it, although `resources_default` gives {default}: first `{id}`"
        );
        let help = format!(
            "the server gives defaults to a job when it is queued, not later: `qalter -l {name}={default} {id}`"
        );
        findings.push(Diagnostic::new(Code::LacksDefault, message, span).with_help(help));
    }
    findings
}

/// A finding if running jobs have no walltime.
pub fn without_walltime(expr: &Expr, table: &JobTable) -> Option<Diagnostic> {
    let column = table.column("walltime")?;
    let mut rows = Vec::new();
    for row in 0..table.len() {
        if table.state(row) == JobState::Running && !column.is_set(row) {
            rows.push(row);
        }
    }
    let first = table.id(*rows.first()?);
    let jobs = counted(rows.len(), "running job has", "running jobs have");
    let message = format!("{jobs} no `walltime`: first `{first}`");
    let help = "the scheduler expects such a job to run for five years, so that a place it promises to a waiting job can be as \
                late; set `resources_default.walltime`";
    Some(Diagnostic::new(Code::NoWalltime, message, expr.span()).with_help(help))
}

/// A finding if the document has fewer jobs than the server counts.
pub fn missing_jobs(expr: &Expr, table: &JobTable, total: u64) -> Option<Diagnostic> {
    let found = (0..table.len())
        .filter(|&row| !table.state(row).is_over())
        .count();
    if found as u64 >= total {
        return None;
    }
    let jobs = count(found, "job");
    let message = format!("the document of jobs has {jobs}, and the server counts {total}");
    let help = "it is from another moment, or shows only some jobs, as `qstat -u` and a user without rights do: places are \
                those among these jobs";
    Some(Diagnostic::new(Code::MissingJobs, message, expr.span()).with_help(help))
}

/// A finding if jobs do not run because of the threshold that is in force where none is set.
pub fn under_default_threshold(
    expr: &Expr,
    table: &JobTable,
    not_considered: &[(usize, NotConsidered)],
) -> Option<Diagnostic> {
    let mut under = Vec::new();
    for (row, reason) in not_considered {
        if let NotConsidered::UnderThreshold { value, threshold } = reason {
            under.push((*row, *value, *threshold));
        }
    }
    let &(row, value, threshold) = under.first()?;
    let jobs = counted(under.len(), "job does", "jobs do");
    let message = format!(
        "{jobs} not run: the value {} of `{}` does not exceed {}, the threshold if none is set",
        amounts::logged(value),
        table.id(row),
        amounts::printed(threshold)
    );
    let help = "scale the formula down, or set `job_sort_formula_threshold` below its values";
    Some(Diagnostic::new(Code::UnderDefaultThreshold, message, expr.span()).with_help(help))
}

/// A finding for each name of the formula that the scheduler defines and the site declares as a
/// resource too.
pub fn hidden_resources(expr: &Expr, hidden: &[String]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for name in hidden {
        if let Some(span) = expr.first_use(name) {
            let message = format!(
                "`{name}` is what the scheduler defines, not the resource `{name}` that the site declares"
            );
            let help = "no formula can read a resource of this name: declare it under another one";
            let found = Diagnostic::new(Code::ResourceNamedAsInput, message, span);
            findings.push(found.with_help(help));
        }
    }
    findings
}
