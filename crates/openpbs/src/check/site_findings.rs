//! Findings that need the site as well as the formula: its fair-share tree, its jobs with their
//! scores, its settings; those on its documents against each other, where they say of its jobs
//! together what they do not say alone.

use std::cmp::Ordering;

use job_sort_formula::diagnostic::{Code, Diagnostic, Message, Severity, Span};
use job_sort_formula::fairshare::FairShare;
use job_sort_formula::formula::syntax::Expr;
use job_sort_formula::jobs::{JobState, JobTable, TruncatedToZero};
use job_sort_formula::rank::{
    Ranking, ScorePrecision, SummandColumns, SummandRange, fairshare_number,
};
use job_sort_formula::schema::{FairshareInput, Origin, Schema};
use job_sort_formula::{Program, Value};
use jsf_words::{count, counted, first_few_quoted};

use crate::amounts;
use crate::check::{MAX_NAMES, ScoredQueue, SiteFacts, first_evaluation, rows_under_threshold};
use crate::files::queues::Queues;
use crate::files::sched_config::SchedConfig;
use crate::files::server::ServerSettings;
use crate::files::versions::{Defect, defects_of};
use crate::order::NotConsidered;
use crate::pbs_tree::PbsTree;

/// A formula at a site.
pub(super) struct SiteFormula<'a> {
    pub(super) expr: &'a Expr,
    /// The formula compiled, if it is arithmetic.
    pub(super) program: Option<&'a Program>,
    pub(super) schema: &'a Schema,
    pub(super) site: &'a SiteFacts<'a>,
    /// What was found so far.
    pub(super) findings: Vec<Diagnostic>,
}

impl SiteFormula<'_> {
    /// All of them.
    pub(super) fn findings(mut self) -> Vec<Diagnostic> {
        if let Some(server) = self.site.server {
            self.disabled_eligible_time(server);
            self.defects(server);
        }
        if let Some(config) = self.site.config {
            self.other_orderings(config);
        }
        self.hidden_resources();
        if let Some(queue) = self.site.queue {
            self.on_queue(&queue);
        }
        self.findings
    }

    fn on_queue(&mut self, queue: &ScoredQueue<'_>) {
        let table = queue.table;
        if let Some(queues) = self.site.queues {
            self.without_default(table, queues);
        }
        self.findings.extend(self.without_walltime(table));
        if let Some(total) = self.site.server.and_then(ServerSettings::total_jobs) {
            self.missing_jobs(table, total);
        }
        if self.site.threshold.is_none() {
            self.findings.extend(self.under_default_threshold(queue));
        }
        let mut ties = None;
        if queue.precision == ScorePrecision::Float32 {
            self.truncated_amounts(table);
            if let Some(tree) = queue.tree {
                self.truncated_shares(table, tree);
            }
            ties = self.rounding_ties(queue);
            self.findings.extend(ties.clone());
            self.findings.extend(first_evaluation(table, queue.ranking));
        }
        self.unused_resources(table);
        // the ties say already that the values are equal, and why
        if ties.is_none() {
            self.findings.extend(self.one_value(queue));
        }
        if let Some(program) = self.program {
            self.idle_summands(program, queue);
        }
        if let Some(bound) = self.site.threshold {
            self.findings.extend(self.useless_threshold(queue, bound));
        }
    }

    fn add(&mut self, code: Code, span: Span, message: String, help: impl Into<Message>) {
        let found = Diagnostic::new(code, message, span).with_help(help);
        self.findings.push(found);
    }

    /// A finding on the whole formula.
    fn on_formula(&self, code: Code, message: String, help: impl Into<Message>) -> Diagnostic {
        Diagnostic::new(code, message, self.expr.span()).with_help(help)
    }

    /// A finding for each resource whose amount in some job is above 0 and reaches the formula as 0.
    fn truncated_amounts(&mut self, table: &JobTable) {
        for (name, TruncatedToZero { jobs, amount, job }) in table.truncated_amounts() {
            let Some(span) = self.expr.first_use(name) else {
                continue;
            };
            let jobs = count(*jobs, "job");
            let message =
                format!("the `{name}` of {jobs} reaches the formula as 0: {amount} in `{job}`");
            let help = "OpenPBS prints amounts with four decimals, and none where the first three are zeros: use a smaller unit";
            self.add(Code::TruncatedAmount, span, message, help);
        }
    }

    /// A finding for each fair-share name whose number is above 0 for some entity and is printed as 0.
    fn truncated_shares(&mut self, table: &JobTable, backend: &dyn FairShare) {
        for (name, input) in FairshareInput::NAMES {
            let Some(span) = self.expr.first_use(name) else {
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
            let found = Diagnostic::new(Code::TruncatedShare, message, span);
            let found = found.with_label(format!("{first:.3e} in the tree"));
            self.findings.push(found.with_help(help));
        }
    }

    /// A finding for each resource in the formula that no considered job has.
    fn unused_resources(&mut self, table: &JobTable) {
        let considered = table.considered_rows().count();
        if considered == 0 {
            return;
        }
        let jobs = count(considered, "considered job");
        for (name, column) in table.columns() {
            // the amount of a string is 0 for the job that has it, too
            if self.is_resource(name)
                && self.schema.is_numeric(name)
                && let Some(span) = self.expr.first_use(name)
                && !table.considered_rows().any(|row| column.is_set(row))
            {
                let message = format!(
                    "`{name}` is 0 for every job of the queue: none of {jobs} has this resource"
                );
                let help = "jobs that do not request a resource, and get no default when they are queued, have 0";
                self.add(Code::UnusedResource, span, message, help);
            }
        }
    }

    /// A finding if all considered jobs, and more than one, have the same value without an error.
    fn one_value(&self, queue: &ScoredQueue<'_>) -> Option<Diagnostic> {
        let mut count = 0;
        let mut value = 0.0;
        for row in queue.table.considered_rows() {
            let score = queue.ranking.score(row)?;
            // errors have findings of their own, whatever value they count as
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
        Some(self.on_formula(Code::OneValueForAll, message, help))
    }

    /// A finding for each summand that decides the order of no neighbours, or of almost none, because
    /// its values vary far less than those of another. As long as nothing has run, a summand that
    /// depends on usage says nothing about later.
    fn idle_summands(&mut self, program: &Program, queue: &ScoredQueue<'_>) {
        let table = queue.table;
        let mut rows = Vec::new();
        for row in table.considered_rows() {
            if let Some(score) = queue.ranking.score(row)
                && score.unrounded.is_ok()
            {
                rows.push(row);
            }
        }
        let Some(columns) = SummandColumns::new(program, self.schema, table, &rows) else {
            return;
        };
        let ranges = &columns.ranges;
        let summands = ranges.iter();
        let Some(widest) = summands.max_by(|left, right| width(left).total_cmp(&width(right)))
        else {
            return;
        };
        // the jobs are ordered only if some summand may decide nothing
        if !ranges.iter().any(|summand| is_narrow(summand, widest)) {
            return;
        }
        let (decided, pairs) = columns.decided_pairs();
        let is_unused = queue.tree.is_some_and(PbsTree::is_unused);
        for (summand, decided) in ranges.iter().zip(decided) {
            if pairs >= MIN_PAIRS
                && decided * PAIRS_OF_IDLE <= pairs
                && is_narrow(summand, widest)
                && !(is_unused && depends_on_usage(self.expr, summand.span))
            {
                self.idle_summand(summand, widest, decided, pairs);
            }
        }
    }

    /// The finding on a summand that decides `decided` of the pairs of neighbours.
    fn idle_summand(
        &mut self,
        idle: &SummandRange,
        widest: &SummandRange,
        decided: usize,
        pairs: usize,
    ) {
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
        self.add(Code::IdleSummand, idle.span, message, help);
    }

    /// A finding if the formula uses `eligible_time` and the server accrues none.
    fn disabled_eligible_time(&mut self, server: &ServerSettings) {
        if server.eligible_time_enable() == Some(false)
            && let Some(span) = self.expr.first_use("eligible_time")
        {
            let message =
                "the server's `eligible_time_enable` is false, so none accrues".to_owned();
            let help = "qmgr -c 'set server eligible_time_enable = True'";
            self.add(Code::NoEligibleTime, span, message, help);
        }
    }

    /// A finding for each known defect of the server's version.
    fn defects(&mut self, server: &ServerSettings) {
        let Some(version) = server.pbs_version() else {
            return;
        };
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
            self.add(Code::DefectOfVersion, self.expr.span(), message, *help);
        }
    }

    /// A finding for each scheduler setting that orders jobs after the formula.
    fn other_orderings(&mut self, config: &SchedConfig) {
        let fair_share = config.fair_share.prime || config.fair_share.non_prime;
        let keys = &config.job_sort_key;
        let has_keys = !(keys.prime.is_empty() && keys.non_prime.is_empty());
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
                self.add(Code::OtherOrdering, self.expr.span(), message, help);
            }
        }
    }

    /// A finding if no waiting job exceeds the threshold, or every one does.
    fn useless_threshold(&self, queue: &ScoredQueue<'_>, threshold: f64) -> Option<Diagnostic> {
        let ranking = queue.ranking;
        let under = rows_under_threshold(queue.not_considered);
        // the server keeps the threshold in a C `float`, and the scheduler reads what it prints
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
        let found = self.on_formula(Code::UselessThreshold, message, help);
        Some(found.with_severity(severity))
    }

    /// A finding if different values become equal when the scheduler keeps them in a C `float`.
    fn rounding_ties(&self, queue: &ScoredQueue<'_>) -> Option<Diagnostic> {
        let mut values = Vec::new();
        for &row in queue.ranking.order() {
            values.extend(RoundedValue::new(queue.ranking, row));
        }
        values.sort_by(RoundedValue::higher_first);
        let mut all_tied = 0;
        // the first group, and two of its jobs with different values
        let mut first_tied = None;
        for group in values.chunk_by(|left, right| left.rounded == right.rounded) {
            let one = &group[0];
            // jobs of equal values would tie in any precision
            if let Some(other) = group.iter().find(|job| job.unrounded != one.unrounded) {
                all_tied += group.len();
                first_tied.get_or_insert((group.len(), one, other));
            }
        }
        let (tied, one, other) = first_tied?;
        // the highest values come first, so that an infinite group is the first one
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
        let jobs = counted(count, "job", "jobs");
        let (one, other) = (one.in_words(queue), other.in_words(queue));
        let message = format!("{jobs} {why}: {one} and {other}");
        Some(self.on_formula(Code::RoundingTies, message, help))
    }

    /// A finding for each resource of the formula that waiting jobs lack although new ones of their
    /// queue get it.
    fn without_default(&mut self, table: &JobTable, queues: &Queues) {
        for (name, column) in table.columns() {
            let Some(span) = self.expr.first_use(name) else {
                continue;
            };
            if !self.is_resource(name) {
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
            self.add(Code::LacksDefault, span, message, help);
        }
    }

    /// A finding if running jobs have no walltime.
    fn without_walltime(&self, table: &JobTable) -> Option<Diagnostic> {
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
        Some(self.on_formula(Code::NoWalltime, message, help))
    }

    /// A finding if the document has fewer jobs than the server counts.
    fn missing_jobs(&mut self, table: &JobTable, total: u64) {
        let found = (0..table.len())
            .filter(|&row| !table.state(row).is_over())
            .count();
        if found as u64 >= total {
            return;
        }
        let jobs = count(found, "job");
        let message = format!("the document of jobs has {jobs}, and the server counts {total}");
        let help = "it is from another moment, or shows only some jobs, as `qstat -u` and a user without rights do: places are \
                those among these jobs";
        self.add(Code::MissingJobs, self.expr.span(), message, help);
    }

    /// A finding if jobs do not run because of the threshold that is in force where none is set.
    fn under_default_threshold(&self, queue: &ScoredQueue<'_>) -> Option<Diagnostic> {
        let mut under = Vec::new();
        for (row, reason) in queue.not_considered {
            if let NotConsidered::UnderThreshold { value, threshold } = reason {
                under.push((*row, *value, *threshold));
            }
        }
        let &(row, value, threshold) = under.first()?;
        let jobs = counted(under.len(), "job does", "jobs do");
        let message = format!(
            "{jobs} not run: the value {} of `{}` does not exceed {}, the threshold if none is set",
            amounts::logged(value),
            queue.table.id(row),
            amounts::printed(threshold)
        );
        let help = "scale the formula down, or set `job_sort_formula_threshold` below its values";
        Some(self.on_formula(Code::UnderDefaultThreshold, message, help))
    }

    /// A finding for each name of the formula that the scheduler defines and the site declares as a
    /// resource too.
    fn hidden_resources(&mut self) {
        for name in self.site.hidden {
            if let Some(span) = self.expr.first_use(name) {
                let message = format!(
                    "`{name}` is what the scheduler defines, not the resource `{name}` that the site declares"
                );
                let help =
                    "no formula can read a resource of this name: declare it under another one";
                self.add(Code::ResourceNamedAsInput, span, message, help);
            }
        }
    }

    /// Whether a name is that of a resource of jobs.
    fn is_resource(&self, name: &str) -> bool {
        !matches!(self.schema.origin(name), None | Some(Origin::Special))
    }
}

/// A queue with fewer pairs of neighbours says little about a summand.
const MIN_PAIRS: usize = 10;
/// A summand is idle if it decides at most one of this many pairs of neighbours.
const PAIRS_OF_IDLE: usize = 100;
/// A summand of a range this much smaller than that of another is too small; one of a similar range
/// may agree with the others by chance.
const SMALLER_RANGE: f64 = 10.0;

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

/// The values of a job: rounded to a C `float` as in the scheduler, and as the formula computed it.
#[derive(Debug, Clone, Copy)]
struct RoundedValue {
    row: usize,
    rounded: f64,
    unrounded: f64,
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

    fn in_words(&self, queue: &ScoredQueue<'_>) -> String {
        let result = match queue.ranking.score(self.row).map(|score| score.unrounded) {
            Some(Ok(result)) => result.to_string(),
            _ => String::new(),
        };
        format!("`{}` ({result})", queue.table.id(self.row))
    }
}

/// The columns of the jobs in which something is found under any formula.
pub const CHECKED_COLUMNS: [&str; 1] = ["walltime"];
