//! `jsf check`

use std::io::Write;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::formula::analysis;
use job_sort_formula::formula::number::ErrorKind;
use job_sort_formula::formula::program::OutsideLanguage;
use job_sort_formula::pbs::verdict::Verdict;
use job_sort_formula::rank::{ErrorGroup, ScoreError};
use job_sort_formula::report::finding;
use job_sort_formula::{JobTable, Ranking};
use serde::Serialize;

use super::args::{CheckArgs, FormatName};
use super::formula::{self, Parsed, Source};
use super::site::Site;
use super::{CliError, Outcome};

#[derive(Serialize)]
struct Report<'a> {
    formula: &'a str,
    verdict: Verdict,
    crashes_scheduler: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<Jobs>,
    findings: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Jobs {
    total: usize,
    errors: usize,
}

pub(super) fn run(arguments: &CheckArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let source = formula::source(&arguments.formula, Some(&arguments.site))?;
    let mut site = Site::read(&arguments.site)?;
    let report = match source.parse(arguments.site.numbers) {
        Ok(parsed) => examine(&source, &parsed, &mut site)?,
        Err(refusal) => Report {
            formula: &source.text,
            verdict: refusal.error.map_or(Verdict::UNKNOWN, |error| Verdict::on_syntax_error(&error)),
            crashes_scheduler: false,
            jobs: None,
            findings: vec![refusal.finding],
        },
    };
    match arguments.format {
        FormatName::Json => {
            serde_json::to_writer_pretty(&mut *out, &report).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        FormatName::Human => write_human(&source, &report, out)?,
    }
    let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
    Ok(if report.findings.iter().any(is_error) { Outcome::Findings } else { Outcome::Fine })
}

fn examine<'s>(source: &'s Source, parsed: &Parsed, site: &mut Site<'_>) -> Result<Report<'s>, CliError> {
    let formula = &parsed.formula;
    let table = site.read_queue(formula)?;
    let verdict = Verdict::on_formula(formula, &site.schema);
    let mut findings = analysis::names(formula.expr(), &site.schema);
    let (mut jobs, mut crashes_scheduler) = (None, false);
    match formula.compile(&site.schema) {
        Err(outside) => findings.push(self::outside(&outside)),
        Ok(program) => {
            if let Some(mut table) = table {
                let tree = site.supply_shares(&program, &mut table)?;
                let ranking = site.rank(&program, &table, tree.as_ref(), None).ranking;
                jobs = Some(Jobs { total: table.len(), errors: ranking.error_count() });
                let errors = ranking.scores().iter().flatten().filter_map(|score| score.exact.as_ref().err());
                crashes_scheduler = errors.into_iter().any(ScoreError::crashes_the_scheduler);
                findings.extend(trial(&table, &ranking));
            }
        }
    }
    let findings = findings.into_iter().map(|finding| parsed.in_source(finding)).collect();
    Ok(Report { formula: &source.text, verdict, crashes_scheduler, jobs, findings })
}

fn write_human(source: &Source, report: &Report<'_>, out: &mut impl Write) -> Result<(), CliError> {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    for found in &report.findings {
        writeln!(out, "{}\n", finding::draw(&source.text, &source.origin, found, coloured))?;
    }
    let verdict = &report.verdict;
    match (verdict.accepted, verdict.code) {
        (Some(true), _) => writeln!(out, "qmgr: accepts the formula")?,
        (Some(false), Some(code)) => writeln!(out, "qmgr: refuses the formula ({code}: {})", verdict.message)?,
        _ => writeln!(out, "qmgr: cannot tell whether it accepts the formula")?,
    }
    if let Some(jobs) = &report.jobs {
        let fine = jobs.total - jobs.errors;
        writeln!(out, "queue: {} jobs tried, {fine} fine, {} with an error", jobs.total, jobs.errors)?;
    }
    Ok(())
}

/// The finding that a formula outside the language is.
pub(super) fn outside(outside: &OutsideLanguage) -> Diagnostic {
    Diagnostic::error("JSF104", outside.to_string(), outside.span())
        .with_help("a formula computes one number from numbers; what else Python can do has no place in a scheduler")
}

/// A finding for each kind of error that jobs have.
pub(super) fn trial(table: &JobTable, ranking: &Ranking) -> Vec<Diagnostic> {
    let groups = ranking.error_groups();
    groups.iter().filter(|group| !is_unknown_name(group.error)).map(|group| error_group(table, group)).collect()
}

/// The name has a finding of its own already.
fn is_unknown_name(error: &ScoreError) -> bool {
    matches!(error, ScoreError::Raised(error) if error.raised.kind == ErrorKind::Name)
}

fn error_group(table: &JobTable, group: &ErrorGroup<'_>) -> Diagnostic {
    let jobs: Vec<_> = group.rows.iter().take(3).map(|&row| format!("`{}`", table.id(row))).collect();
    let more = group.rows.len().saturating_sub(jobs.len());
    let jobs = if more > 0 { format!("{} and {more} more", jobs.join(", ")) } else { jobs.join(", ") };
    let number = if group.rows.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", group.rows.len()) };
    let (code, consequence) = match group.error {
        ScoreError::Raised(_) if !group.error.crashes_the_scheduler() => ("JSF301", "OpenPBS counts such a job as 0"),
        _ => ("JSF302", "OpenPBS's scheduler crashes on such a result"),
    };
    let mut finding = Diagnostic::error(code, format!("{} for {number}: {}", group.error, jobs), group.error.span());
    if let ScoreError::Raised(error) = group.error {
        let first = group.rows.first().map_or("", |&row| table.id(row));
        for operand in &error.operands {
            finding = finding.with_place(operand.span, format!("{} in `{first}`", operand.value.repr()));
        }
    }
    finding.with_help(consequence)
}
