//! The check of a formula before it is set: the server's answer, every finding, what becomes of the
//! formula on a queue in one word ([`Verdict`]), and what its inputs are worth in time of waiting
//! ([`ExchangeRate`]).
//!
//! In: a [`FormulaSubmission`], the [`Schema`], and the [`SiteFacts`]. Out: a [`Checked`].

use job_sort_formula::diagnostic::{Code, Diagnostic, Message, Severity, Span, sort_by_span};
use job_sort_formula::python::Python;
use job_sort_formula::rank::{Consequence, Ranking, ScoreError, ScorePrecision};
use job_sort_formula::{ErrorKind, Formula, JobTable, Program, PythonVersion, Schema, Value};
use jsf_words::{count, first_few_quoted};
use serde::Serialize;

use crate::files::queues::Queues;
use crate::files::sched_config::SchedConfig;
use crate::files::server::ServerSettings;
use crate::order::NotConsidered;
use crate::pbs_tree::PbsTree;
use crate::qmgr_command::refused_by_qmgr;
use crate::server_validation::{Validation, validate};
use crate::submission::FormulaSubmission;

mod exchange_rates;
mod python_version_findings;
mod site_findings;
mod verdict;

pub use exchange_rates::{ExchangeRate, exchange_rates};
use python_version_findings::{explain_newer_functions, findings_on_formula, findings_on_text};
pub use site_findings::CHECKED_COLUMNS;
use site_findings::SiteFormula;
pub use verdict::Verdict;

/// The most jobs or entities that a message names.
const MAX_NAMES: usize = 3;

/// The least amount above 0 of a float resource: OpenPBS prints four decimals.
const SMALLEST_FLOAT: f64 = 1e-4;

/// What the server does with an empty formula.
const EMPTY: &str = "`qmgr` accepts the empty text and removes the formula: jobs are then ordered as without one; to set one, \
                     write an expression, such as `eligible_time + 1000 * fairshare_factor`";
/// What becomes of a formula below an empty line.
const EMPTY_LINE: &str =
    "the server refuses a text whose first line is empty: put the formula on the first line";
/// The help of a finding on a quote or an escape, which otherwise is about a formula in the
/// scheduler, if the server refuses it.
const REFUSED: &str = "the server refuses the formula, so the scheduler never gets it";
/// What becomes of a formula below a comment.
const COMMENT: &str = "PBS keeps only the first line, which is a comment: put the formula there, and the comment behind it or below";

/// A queue whose jobs the formula was evaluated for.
#[derive(Debug, Clone, Copy)]
pub struct ScoredQueue<'a> {
    /// The jobs.
    pub table: &'a JobTable,
    /// Their scores and their order.
    pub ranking: &'a Ranking,
    /// The waiting rows that the scheduler does not consider, in evaluation order.
    pub not_considered: &'a [(usize, NotConsidered)],
    /// The precision in which the values are kept.
    pub precision: ScorePrecision,
    /// The fair-share tree with the entities of the jobs, if the order or the formula needs it.
    pub tree: Option<&'a PbsTree>,
}

/// What is known about the site; every part is optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct SiteFacts<'a> {
    /// The scored queue.
    pub queue: Option<ScoredQueue<'a>>,
    /// The scheduler's settings.
    pub config: Option<&'a SchedConfig>,
    /// The server's settings.
    pub server: Option<&'a ServerSettings>,
    /// `job_sort_formula_threshold`, which [`ScoredQueue::not_considered`] takes into account.
    pub threshold: Option<f64>,
    /// The resources of which every new job has more than 0, because the server or its queue has a
    /// default.
    pub defaulted: &'a [String],
    /// The queues.
    pub queues: Option<&'a Queues>,
    /// The resources of the site that no formula can read, because the scheduler defines their
    /// names.
    pub hidden: &'a [String],
    /// The resources that no job requests, each with the amounts that the site is known to give.
    pub constants: &'a [(&'a str, Vec<Value>)],
    /// What says which Python the server embeds; `None`: nothing does.
    pub python_source: Option<&'a str>,
    /// Whether the site runs Slurm, whose scheduler evaluates no formula.
    pub runs_slurm: bool,
}

/// The codes of the findings about jobs for which the formula fails, and of what this does to the
/// scheduler.
pub const FAILURE_CODES: [Code; 4] = [
    Code::FailingJobs,
    Code::CrashingJobs,
    Code::UnknownValues,
    Code::FirstEvaluation,
];

/// The codes of the findings about results that crash the scheduler.
pub const CRASH_CODES: [Code; 3] = [
    Code::CrashingJobs,
    Code::NotANumber,
    Code::TooLargeForDouble,
];

/// The result of checking a formula.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// The submitted text.
    pub formula: String,
    /// The version of Python that the server embeds.
    pub python: PythonVersion,
    /// What says that it is this one; `None`: it is assumed.
    #[serde(skip)]
    pub python_source: Option<String>,
    /// The server's answer when the formula is set.
    #[serde(rename = "verdict")]
    pub validation: Validation,
    /// Whether the formula crashes the scheduler as soon as it evaluates the formula. A formula
    /// with an error for every job crashes it only at its next start, which is the finding
    /// `JSF402`.
    pub crashes_scheduler: bool,
    /// The worst that happens with the formula.
    #[serde(skip)]
    pub verdict: Verdict,
    /// The names in the formula that only the amounts of the jobs show to be numeric resources: the
    /// server refuses the formula if it knows one of them as a string.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guessed_types: Vec<String>,
    /// The jobs of the queue, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<JobCounts>,
    /// What inputs are worth in time of waiting: at the medians of the jobs that wait, and without
    /// jobs only what holds for every job.
    #[serde(rename = "exchange_rates", skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<ExchangeRate>,
    /// All findings, in the order of their spans in the submitted text.
    pub findings: Vec<Diagnostic>,
    /// The warnings about the site's files and its jobs, one sentence each.
    #[serde(skip)]
    pub warnings: Vec<Message>,
    /// Whether the site runs Slurm, which has weights and no formula to set.
    #[serde(skip)]
    pub runs_slurm: bool,
}

/// How many jobs a formula was evaluated for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobCounts {
    /// The number of jobs.
    pub total: usize,
    /// The number of jobs that are not tried: the scheduler ignores them as invalid, or does not
    /// get them.
    pub ignored: usize,
    /// The number of jobs with an error.
    pub errors: usize,
    /// The ids of the jobs with an error, in the order of the document.
    pub failing: Vec<String>,
    /// The `job_sort_formula_threshold` that a value must exceed, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The number of waiting jobs that do not run because their values do not exceed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_threshold: Option<usize>,
    /// The number of waiting jobs whose values exceed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_threshold: Option<usize>,
}

impl JobCounts {
    fn new(queue: &ScoredQueue<'_>, threshold: Option<f64>) -> Self {
        let table = queue.table;
        let under = rows_under_threshold(queue.not_considered).len();
        let errors = queue.ranking.scores().errors();
        let failing: Vec<String> = errors.map(|(row, _)| table.id(row).to_owned()).collect();
        Self {
            total: table.len(),
            ignored: table.excluded_rows().count(),
            errors: failing.len(),
            failing,
            threshold,
            under_threshold: threshold.and(Some(under)),
            over_threshold: threshold.and(Some(queue.ranking.order().len())),
        }
    }
}

impl Checked {
    /// Checks a formula.
    ///
    /// ```
    /// use job_sort_formula::Schema;
    /// use jsf_openpbs::check::{Checked, SiteFacts};
    /// use jsf_openpbs::submission::FormulaSubmission;
    ///
    /// let submitted = FormulaSubmission::to_openpbs("10 * fair_share_perc + walltme");
    /// let checked = Checked::new(&submitted, &Schema::openpbs(), &SiteFacts::default());
    /// assert_eq!(checked.validation.code, Some(15124));
    /// assert_eq!(checked.findings.iter().map(|found| found.code).collect::<Vec<_>>(), ["JSF203", "JSF201"]);
    /// ```
    pub fn new(submitted: &FormulaSubmission, schema: &Schema, site: &SiteFacts<'_>) -> Self {
        match submitted.formula() {
            Ok(formula) => Self::of_formula(submitted, formula, schema, site),
            Err(refusal) => {
                Self::of_no_formula(submitted, (*refusal.finding).clone(), schema, site)
            }
        }
    }

    /// The result for a text that the server refuses, without findings.
    fn refused(
        submitted: &FormulaSubmission,
        validation: Validation,
        schema: &Schema,
        site: &SiteFacts<'_>,
    ) -> Self {
        Self {
            formula: submitted.text().to_owned(),
            python: schema.python(),
            python_source: site.python_source.map(str::to_owned),
            validation,
            crashes_scheduler: false,
            verdict: Verdict::Refused,
            jobs: None,
            findings: Vec::new(),
            warnings: Vec::new(),
            runs_slurm: site.runs_slurm,
            guessed_types: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// The result for a text that is no formula, of which `first` says why.
    fn of_no_formula(
        submitted: &FormulaSubmission,
        mut first: Diagnostic,
        schema: &Schema,
        site: &SiteFacts<'_>,
    ) -> Self {
        let text = submitted.text();
        let is_below_empty_line = submitted.is_below_empty_line();
        // `text` is the first line alone, and an empty one would remove the formula
        let validation = validate(if is_below_empty_line { "\n" } else { text }, schema);
        let is_refused = validation.accepted == Some(false);
        if is_below_empty_line {
            first.help = Some(EMPTY_LINE.into());
        } else if text.is_empty() {
            first.help = Some(EMPTY.into());
        } else if text.trim_start().starts_with('#') {
            first.help = Some(COMMENT.into());
        } else if is_refused && first.code == Code::BreaksScript {
            first.help = Some(REFUSED.into());
        }
        let mut findings = vec![first];
        findings.extend(not_passed_on(text, &findings));
        findings.extend(submitted.lines_left_out());
        // the answers of other versions matter only where the server's version is not known
        if site.python_source.is_none() {
            findings.extend(findings_on_text(text, schema));
        }
        Self {
            findings,
            ..Self::refused(submitted, validation, schema, site)
        }
    }

    fn of_formula(
        submitted: &FormulaSubmission,
        formula: &Formula,
        schema: &Schema,
        site: &SiteFacts<'_>,
    ) -> Self {
        let (text, expr) = (submitted.text(), formula.expr());
        let mut findings = jsf_lint::lint(expr, schema);
        let compiled = formula.compile(schema).ok();
        let program = compiled.as_ref();
        let compile_error = program.and_then(compile_error);
        // what CPython does not compile is evaluated for no job, and the finding says what each job
        // gets
        let queue = site.queue.filter(|_| compile_error.is_none());
        findings.extend(compile_error);
        let on_site = SiteFormula {
            expr,
            program,
            schema,
            site,
            findings: Vec::new(),
        };
        findings.extend(on_site.findings());
        let mut observed = Vec::new();
        if let Some(queue) = queue {
            observed = error_findings_of(queue.table, queue.ranking, |_| true);
        }
        let ranges = ranges(schema, site);
        let facts = jsf_lint::analyze_ranges(expr, schema, &ranges);
        let mut predicted = jsf_lint::lint_values(expr, schema, &ranges);
        predicted.retain(|new| !is_known(new, &findings, &observed));
        findings.extend(predicted);
        findings.extend(observed);
        if let Some(source) = site.python_source {
            let python = schema.python();
            explain_newer_functions(&mut findings, expr, &facts, python, source);
        } else {
            findings.extend(findings_on_formula(text, formula, schema, &facts, queue));
        }
        // the formula alone says why the values are equal
        let mut all = findings.iter();
        if all.any(|found| found.code == Code::ConstantValue) {
            findings.retain(|found| found.code != Code::OneValueForAll);
        }
        // those added below have their spans in the submitted text already
        findings = submitted.in_source(findings);
        findings.extend(not_passed_on(text, &findings));
        findings.extend(submitted.lines_left_out());
        let validation = validate(text, schema);
        let never_evaluated = never_evaluated(&validation, site);
        findings.extend(single_quote(text, &validation));
        for found in &mut findings {
            if let Some(reason) = never_evaluated
                && found.code == Code::FirstEvaluation
            {
                *found = without_evaluation(found.span, reason);
            }
            leave_out_fix_of_text(text, found);
        }
        sort_by_span(&mut findings);
        let ranking = queue.map(|queue| queue.ranking);
        let crashes_scheduler = ranking.is_some_and(crashes_scheduler)
            || findings.iter().any(|found| {
                found.severity == Severity::Error && CRASH_CODES.contains(&found.code)
            })
            || program.is_some_and(is_always_complex);
        let is_refused = validation.accepted == Some(false);
        Self {
            verdict: Verdict::new(is_refused, crashes_scheduler, &findings, ranking),
            crashes_scheduler,
            jobs: site
                .queue
                .map(|queue| JobCounts::new(&queue, site.threshold)),
            findings,
            ..Self::refused(submitted, validation, schema, site)
        }
    }

    /// The findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.findings.iter();
        findings.filter(|found| found.severity == Severity::Error)
    }

    /// What the jobs of the queue show: that the formula fails for them, and what this does to the
    /// scheduler.
    pub fn failures(&self) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.findings.iter();
        findings.filter(|found| FAILURE_CODES.contains(&found.code))
    }

    /// The errors besides those of single jobs: of the text, of what `qmgr` passes on, of a value for
    /// every job, and of a threshold that no job passes.
    pub fn errors_for_all_jobs(&self) -> impl Iterator<Item = &Diagnostic> {
        self.errors()
            .filter(|found| !FAILURE_CODES.contains(&found.code))
    }

    /// Whether some finding is an error.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Whether the server refuses the formula, so that setting it changes nothing.
    pub fn is_refused(&self) -> bool {
        self.validation.accepted == Some(false)
    }
}

/// The waiting rows whose values do not exceed the threshold.
fn rows_under_threshold(not_considered: &[(usize, NotConsidered)]) -> Vec<usize> {
    let mut rows = not_considered.to_vec();
    rows.retain(|(_, reason)| matches!(reason, NotConsidered::UnderThreshold { .. }));
    rows.into_iter().map(|(row, _)| row).collect()
}

/// The finding on what `qmgr` passes on to no server, unless one of `found` is about the same text,
/// which is then wrong anyway.
fn not_passed_on(text: &str, found: &[Diagnostic]) -> Option<Diagnostic> {
    let refusal = refused_by_qmgr(text)?;
    let span = refusal.span;
    for error in found {
        // the codes of texts and names come before those of jobs and values
        let is_about_text = error.severity == Severity::Error && error.code < Code::FailingJobs;
        if is_about_text && error.span.start < span.end && span.start < error.span.end {
            return None;
        }
    }
    Some(*refusal)
}

/// The finding on a single quote in a comment, which makes the server's script invalid: the script
/// has the formula between two single quotes.
fn single_quote(text: &str, validation: &Validation) -> Option<Diagnostic> {
    if validation.code != Some(15011) {
        return None;
    }
    let start = text.find('\'')?;
    let message = "`'` ends the string in which the server passes the formula to Python";
    let found = Diagnostic::new(Code::BreaksScript, message, Span::new(start, start + 1));
    let is_in_comment = text[..start].contains('#');
    Some(found.with_help(if is_in_comment {
        "the server refuses the formula; remove the quote from the comment"
    } else {
        "the server refuses the formula; names of queues and other texts cannot be compared in a formula"
    }))
}

/// Removes the fix, and the label that proposes it, of an unknown name that is compared with a
/// text: no number that replaces it is meant.
fn leave_out_fix_of_text(text: &str, found: &mut Diagnostic) {
    let after = text.get(found.span.end as usize..).unwrap_or_default();
    let after = after.trim_start();
    let compared = after.strip_prefix("==").or(after.strip_prefix("!="));
    if found.code == Code::UnknownName
        && let Some(other) = compared
        && other.trim_start().starts_with(['\'', '"'])
    {
        found.fix = None;
        found.label = String::new();
    }
}

/// Why no scheduler of OpenPBS evaluates the formula, if that is so.
fn never_evaluated(validation: &Validation, site: &SiteFacts<'_>) -> Option<&'static str> {
    if validation.accepted == Some(false) {
        Some("the server refuses the formula, so the scheduler never evaluates it")
    } else if site.runs_slurm {
        Some("the site runs Slurm, whose scheduler evaluates no formula")
    } else {
        None
    }
}

/// Whether a finding of the value analysis is already in `found`, or a failure that `observed`
/// reports together with the jobs that have it.
fn is_known(new: &Diagnostic, found: &[Diagnostic], observed: &[Diagnostic]) -> bool {
    use Code::{ComplexPower, DivisionByZero, OutsideDomain, Overflow};

    let mut found = found.iter();
    let mut observed = observed.iter();
    let is_failure = matches!(
        new.code,
        DivisionByZero | OutsideDomain | Overflow | ComplexPower
    );
    found.any(|known| (known.code, known.span) == (new.code, new.span))
        || is_failure
            && observed.any(|error| {
                matches!(error.code, Code::FailingJobs | Code::UnknownValues)
                    && error.span.contains(new.span)
            })
}

/// The values of the inputs: those with a default are above 0, and so are those that the site gives
/// to every job.
fn ranges(schema: &Schema, site: &SiteFacts<'_>) -> jsf_lint::Ranges {
    let mut ranges = jsf_lint::Ranges::default();
    let mut above_0: Vec<&str> = site.defaulted.iter().map(String::as_str).collect();
    let given = site.constants.iter();
    above_0.extend(given.filter_map(|(name, amounts)| amounts.is_empty().then_some(name)));
    above_0.retain(|name| schema.is_numeric(name));
    for name in above_0 {
        let interval = ranges.interval(name, schema);
        let least = match interval.kind() {
            jsf_lint::NumberType::Int => 1.0,
            _ => SMALLEST_FLOAT,
        };
        let interval = jsf_lint::Interval::new(interval.kind(), least, interval.high);
        ranges.set(name, interval);
    }
    for (name, amounts) in site.constants {
        if schema.is_numeric(name) {
            ranges.observe(name, amounts.iter().cloned());
        }
    }
    ranges
}

/// Whether the result is a complex number for every job, whatever the inputs are.
fn is_always_complex(program: &Program) -> bool {
    let inputs = vec![Value::OfType("float"); program.inputs().len()];
    let mut interpreter = program.interpreter(Python::new().following_complex());
    let result = interpreter.evaluate(&inputs);
    matches!(result, Ok(Value::OfType("complex")))
}

/// The error that CPython's compiler raises before it evaluates anything.
fn compile_error(program: &Program) -> Option<Diagnostic> {
    program.refused()?;
    // this error comes before that of the missing inputs
    let error = program.evaluate(&[]).err()?;
    Some(match error.kind() {
        ErrorKind::Limit => Diagnostic::new(
            Code::TooDeep,
            "CPython may give up on a formula this deep",
            error.span(),
        )
        .with_help("every job then gets the value 0 or keeps a stale one; write a shorter formula"),
        _ => Diagnostic::new(Code::BeyondLimits, error.text(), error.span()).with_help(
            "every job gets an error and the value 0; a float such as `1e300` has no such limit",
        ),
    })
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
        let error = group.error;
        // name resolution reports a finding of its own on an unknown name
        if error.kind() == ErrorKind::Name {
            continue;
        }
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
        let ids: Vec<&str> = group.rows.iter().map(|&row| table.id(row)).collect();
        let jobs = count(ids.len(), "job");
        let listed = first_few_quoted(&ids, MAX_NAMES);
        let message = format!("{error} for {jobs}: {listed}");
        let mut finding = Diagnostic::new(code, message, error.span()).with_help(help);
        if let ScoreError::Raised(error) = error {
            let first = ids.first().copied().unwrap_or_default();
            for operand in error.operands() {
                let label = format!("{} in `{first}`", operand.value.repr());
                finding = finding.with_secondary_label(operand.span, label);
            }
        }
        findings.push(finding);
    }
    findings
}

/// Whether the result of a job crashes the scheduler.
fn crashes_scheduler(ranking: &Ranking) -> bool {
    let mut errors = ranking.scores().errors();
    errors.any(|(_, error)| error.crashes_the_scheduler())
}

/// What an error does to the scheduler.
const FIRST_EVALUATION: &str = "an error in the very first evaluation after its start crashes the scheduler; a later error does not";

/// A finding if an error would crash the scheduler in its first evaluation after a start.
fn first_evaluation(table: &JobTable, ranking: &Ranking) -> Option<Diagnostic> {
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
fn without_evaluation(span: Span, reason: &str) -> Diagnostic {
    let help =
        format!("if a scheduler of OpenPBS has the formula nevertheless, {FIRST_EVALUATION}");
    Diagnostic::new(Code::FirstEvaluation, reason, span).with_help(help)
}
