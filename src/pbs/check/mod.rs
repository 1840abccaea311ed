//! Everything that can be said of a formula before it is set: the server's answer, and every finding.
//!
//! Enters: a [`FormulaSubmission`] text, the [`Schema`], and what is known of the site. Leaves: a [`Checked`].

mod trial;

use std::sync::Arc;

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Severity, Span, sort_by_place};
use crate::formula::name_resolution::Resolution;
use crate::formula::program::Program;
use crate::formula::syntax::Construct;
use crate::formula::{Formula, lint};
use crate::jobs::JobTable;
use crate::pbs::files::sched_config::SchedConfig;
use crate::pbs::files::server::ServerSettings;
use crate::pbs::order::Ordered;
use crate::pbs::qmgr_validation::operands::{Operand, OperandArithmetic};
use crate::pbs::qmgr_validation::{Validation, validate};
use crate::pbs::share_tree::PbsTree;
use crate::pbs::site_findings as advice;
use crate::pbs::submission::FormulaSubmission;
use crate::python::ErrorKind;
use crate::rank::ScorePrecision;
use crate::schema::Schema;
pub use trial::{trial, trial_kills};

/// A queue on which the formula was tried.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// The jobs.
    pub table: &'a JobTable,
    /// Their scores and their order.
    pub ordered: &'a Ordered,
    /// In which form the values are kept.
    pub keep: ScorePrecision,
}

/// What is known of the site; all of it is optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The queue, tried.
    pub trial: Option<Trial<'a>>,
    /// The fair-share tree, which knows the jobs' entities.
    pub tree: Option<&'a PbsTree>,
    /// The scheduler's settings.
    pub config: Option<&'a SchedConfig>,
    /// The server's settings.
    pub server: ServerSettings,
    /// `job_sort_formula_threshold`, which [`Trial::ordered`] has been told.
    pub threshold: Option<f64>,
}

/// What there is to say of a formula.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The server's answer when the formula is set.
    pub validation: Validation,
    /// Whether the scheduler dies of it.
    pub crashes_scheduler: bool,
    /// The jobs of the queue, if it was tried on one.
    pub jobs: Option<JobCounts>,
    /// All findings, by their place in the admin's text.
    pub findings: Vec<Diagnostic>,
    /// What is odd in the site's files, a sentence each.
    pub warnings: Vec<String>,
}

/// How many jobs a formula was tried on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobCounts {
    /// All of them.
    pub total: usize,
    /// Those with an error.
    pub errors: usize,
    /// Which those are, in the order of the document.
    pub failing: Vec<String>,
}

impl JobCounts {
    fn of(trial: &Trial<'_>) -> Self {
        let fails = |row: &usize| trial.ordered.ranking.score(*row).is_some_and(|score| score.exact.is_err());
        let failing: Vec<String> =
            (0..trial.table.len()).filter(fails).map(|row| trial.table.id(row).to_owned()).collect();
        Self { total: trial.table.len(), errors: failing.len(), failing }
    }
}

impl Checked {
    /// Checks a formula.
    ///
    /// ```
    /// use job_sort_formula::Schema;
    /// use job_sort_formula::pbs::check::{Checked, Surroundings};
    /// use job_sort_formula::pbs::submission::FormulaSubmission;
    ///
    /// let submitted = FormulaSubmission::to_openpbs("10 * fair_share_perc + walltme");
    /// let checked = Checked::of(&submitted, &Schema::openpbs(), &Surroundings::default());
    /// assert_eq!(checked.validation.code, Some(15124));
    /// assert_eq!(checked.findings.iter().map(|found| found.code).collect::<Vec<_>>(), ["JSF203", "JSF201"]);
    /// ```
    pub fn of(submitted: &FormulaSubmission<'_>, schema: &Schema, site: &Surroundings<'_>) -> Self {
        let formula = match submitted.formula() {
            Ok(formula) => formula,
            Err(refusal) => {
                let validation = validate(submitted.text(), schema);
                let mut findings = vec![(*refusal.finding).clone()];
                findings.extend(submitted.dropped_lines());
                return Self { validation, crashes_scheduler: false, jobs: None, findings, warnings: Vec::new() };
            }
        };
        let mut findings = lint::lint(formula.expr(), schema);
        let refused = formula.compile(schema).ok().and_then(|program| refused(&program));
        let trial = site.trial.filter(|_| refused.is_none());
        findings.extend(refused);
        findings.extend(advise(formula, site));
        let tried = trial.map(|tried| trial::trial(tried.table, &tried.ordered.ranking)).unwrap_or_default();
        findings.extend(foreseen(formula, schema, &findings, &tried));
        findings.extend(tried);
        let mut findings: Vec<_> = findings.into_iter().map(|found| submitted.in_source(found)).collect();
        findings.extend(submitted.dropped_lines());
        sort_by_place(&mut findings);
        let trial_kills = trial.is_some_and(|trial| trial_kills(&trial.ordered.ranking));
        Self {
            validation: validate(submitted.text(), schema),
            crashes_scheduler: trial_kills || findings.iter().any(kills) || is_always_complex(formula, schema),
            jobs: site.trial.as_ref().map(JobCounts::of),
            findings,
            warnings: Vec::new(),
        }
    }

    /// Whether something is wrong.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|found| found.severity == Severity::Error)
    }
}

/// What can be foreseen of the values, beyond what was found already: a failure that jobs of the queue show is said
/// with those jobs, and a name that means nothing is no matter of values.
fn foreseen(formula: &Formula, schema: &Schema, found: &[Diagnostic], tried: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut findings = lint::lint_values(formula.expr(), schema, &lint::Ranges::default());
    findings.retain(|new| {
        let is_shown =
            |shown: &Diagnostic| matches!(new.code, "JSF303" | "JSF304" | "JSF305" | "JSF306") && covers(shown, new);
        let is_known = |known: &Diagnostic| known.code == new.code && known.span == new.span;
        !tried.iter().any(is_shown) && !found.iter().any(is_known)
    });
    findings
}

/// Whether the place of a failure that happened has the place of one that was foreseen within it.
fn covers(shown: &Diagnostic, foreseen: &Diagnostic) -> bool {
    shown.code == "JSF301" && shown.span.start <= foreseen.span.start && foreseen.span.end <= shown.span.end
}

/// Whether a finding says that the scheduler dies as soon as the formula is set.
fn kills(found: &Diagnostic) -> bool {
    found.severity == Severity::Error && matches!(found.code, "JSF302" | "JSF401" | "JSF405")
}

/// Whether the result is a complex number for every job.
fn is_always_complex(formula: &Formula, schema: &Schema) -> bool {
    let resolve = |name: &str| Resolution::from_schema(name, schema);
    let Ok(program) = Program::compile_python(Arc::new(formula.expr().clone()), &resolve) else { return false };
    let operand = |name: &str| match resolve(name) {
        Resolution::Input => Operand::Number,
        _ if name == Construct::Imaginary.description() => Operand::Complex,
        _ => Operand::Opaque,
    };
    let inputs: Vec<Operand> = program.inputs().iter().map(|name| operand(name)).collect();
    let mut evaluator = program.interpreter(OperandArithmetic::default());
    let is_complex = matches!(evaluator.evaluate(&inputs), Ok(Operand::Complex));
    is_complex && evaluator.arithmetic().uncertainty().is_none()
}

/// What the site has to say.
fn advise(formula: &Formula, site: &Surroundings<'_>) -> Vec<Diagnostic> {
    let expr = formula.expr();
    let mut findings: Vec<_> = advice::eligible_time(expr, &site.server).into_iter().collect();
    if let Some(config) = site.config {
        findings.extend(advice::beside(expr, config));
    }
    let Some(Trial { table, ordered, keep }) = site.trial else { return findings };
    if keep == ScorePrecision::Float32 {
        findings.extend(advice::amounts(expr, table));
        findings.extend(site.tree.map(|tree| advice::shares(expr, table, tree)).unwrap_or_default());
        findings.extend(advice::ties(expr, table, &ordered.ranking));
        findings.extend(trial::first_evaluation(table, &ordered.ranking));
    }
    findings.extend(site.threshold.and_then(|bound| advice::threshold(expr, table, ordered, bound)));
    findings
}

/// What CPython's compiler says before it evaluates anything.
fn refused(program: &Program) -> Option<Diagnostic> {
    program.refused()?;
    let error = program.evaluate(&[]).err()?;
    Some(match error.raised.kind {
        ErrorKind::Memory => too_deep("CPython's parser has no memory for a formula this deep", error.span)
            .with_help("the scheduler notices nothing: every job keeps a stale value; write a shorter formula"),
        ErrorKind::Recursion => too_deep("CPython's compiler cannot follow a formula this deep", error.span)
            .with_help("every job gets an error and the value 0; write a shorter formula"),
        _ => Diagnostic::error("JSF103", error.raised.text, error.span)
            .with_help("every job gets an error and the value 0; a float such as `1e300` has no such limit"),
    })
}

fn too_deep(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error("JSF310", message, span)
}
