//! The verdict on a formula as a sentence, which every command begins with, and its findings in one
//! line each.

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::OldNew;
use jsf_openpbs::check::{CRASH_CODES, Checked, Verdict};

use crate::view::document::Section;
use crate::view::words::{capitalised, count, part_of_jobs};

/// The most findings that the first screen lists; the others are counted.
const MAX_FINDINGS: usize = 3;

/// What becomes of a formula at a site of Slurm.
pub(crate) const NO_FORMULA_IN_SLURM: &str = "Slurm computes priorities from weights; `jsf translate --to slurm` gives those that order as another formula does";

/// The verdict as a sentence about `subject`, such as `the new formula`; `None` for a formula that
/// works.
pub(crate) fn verdict_sentence(checked: &Checked, subject: &str) -> Option<String> {
    Some(match checked.verdict {
        Verdict::Works => return None,
        Verdict::Refused => format!("qmgr refuses {subject}: {}.", refusal(checked)),
        Verdict::Crashes => {
            let mut why = String::new();
            let mut findings = checked.findings.iter();
            if let Some(crash) = findings.find(|found| CRASH_CODES.contains(&found.code)) {
                why = format!(": {}", crash.message);
            }
            capitalised(&format!("{subject} crashes the scheduler{why}."))
        }
        Verdict::CrashesAtStart { jobs, kind } => capitalised(&format!(
            "{subject} fails for {} ({kind}) and would crash the scheduler at its next start.",
            part_of_jobs(jobs, jobs)
        )),
        Verdict::Fails {
            failing,
            evaluated,
            kind,
            consequence,
            can_crash,
        } => {
            let jobs = part_of_jobs(failing, evaluated);
            let crash = if can_crash {
                ", and can crash the scheduler at its next start"
            } else {
                ""
            };
            capitalised(&format!(
                "{subject} fails for {jobs} ({kind}), {consequence}{crash}."
            ))
        }
        Verdict::Ties { jobs } => capitalised(&format!(
            "{subject} orders nothing: {} have the same value.",
            part_of_jobs(jobs, jobs)
        )),
    })
}

/// Why the server or qmgr refuses a formula, in the words of the first finding that says so.
fn refusal(checked: &Checked) -> String {
    let mut findings = checked.findings.iter();
    match findings.find(|found| found.severity == Severity::Error) {
        Some(error) => error.message.to_string(),
        None => checked.validation.message.to_owned(),
    }
}

/// The errors and warnings about a formula, one line each.
pub(crate) fn brief_findings<'a>(checked: &Checked) -> Option<Section<'a>> {
    section(brief_lines(checked))
}

/// The lines of the errors and warnings about a formula.
pub(crate) fn brief_lines(checked: &Checked) -> Vec<String> {
    brief(checked.findings.iter().map(|found| (found, "")).collect())
}

/// The errors and warnings about two formulas, one line each; one that both have is listed once.
pub(crate) fn brief_findings_of_sides<'a>(checked: OldNew<&Checked>) -> Option<Section<'a>> {
    section(brief_lines_of_sides(checked))
}

/// Whether findings have one with the same code and message.
fn has(findings: &[Diagnostic], found: &Diagnostic) -> bool {
    let mut findings = findings.iter();
    findings.any(|known| known.code == found.code && known.message == found.message)
}

/// The lines of the errors and warnings about two formulas.
pub(crate) fn brief_lines_of_sides(checked: OldNew<&Checked>) -> Vec<String> {
    let (old, new) = (&checked.old.findings, &checked.new.findings);
    let mut findings = Vec::new();
    for found in new {
        findings.push((found, if has(old, found) { " both:" } else { " new:" }));
    }
    for found in old {
        // the old formula is in force already: what it does is known
        if found.severity == Severity::Error && !has(new, found) {
            findings.push((found, " old:"));
        }
    }
    brief(findings)
}

/// The word for a severity, which SARIF has too.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A finding in one line; `side` names the formula where there are two.
pub(crate) fn brief_finding(found: &Diagnostic, side: &str) -> String {
    let severity = severity_word(found.severity);
    format!("{severity}[{}]{side} {}", found.code, found.message)
}

fn section<'a>(lines: Vec<String>) -> Option<Section<'a>> {
    (!lines.is_empty()).then(|| Section::new("").in_text().list(lines))
}

fn brief(mut findings: Vec<(&Diagnostic, &str)>) -> Vec<String> {
    findings.retain(|(found, _)| found.severity != Severity::Note);
    findings.sort_by_key(|(found, _)| found.severity != Severity::Error);
    let more = findings.len().saturating_sub(MAX_FINDINGS);
    findings.truncate(MAX_FINDINGS);
    let mut lines = Vec::new();
    for (found, side) in findings {
        lines.push(brief_finding(found, side));
    }
    if more > 0 {
        lines.push(format!("and {} more: jsf check", count(more, "finding")));
    }
    lines
}
