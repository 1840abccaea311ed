//! The result of a check, for people and as JSON. A finding is drawn under the formula, with carets and a fix.

use std::collections::BTreeMap;
use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use crate::diagnostic::{Applicability, Diagnostic, Severity, Span};
use crate::pbs::check::{Checked, JobCounts};
use crate::pbs::qmgr;
use crate::pbs::qmgr_validation::RefusedBy;
use crate::report::terminal::{printable, printable_in_place};

/// The most findings of one code that are drawn; the others are counted.
const MAX_OF_A_CODE: usize = 10;

/// A checked formula and its source.
#[derive(Debug, Clone, Copy)]
pub struct CheckReport<'a> {
    /// The formula in its document.
    pub source: FormulaSource<'a>,
    /// The result of the check.
    pub checked: &'a Checked,
}

/// A formula in its document, to draw findings on it.
#[derive(Debug, Clone, Copy)]
pub struct FormulaSource<'a> {
    /// The formula.
    pub text: &'a str,
    /// The name of the document: a file, or `FORMULA` for the command line.
    pub origin: &'a str,
    /// What precedes the formula in the document; empty if the document does not contain the formula.
    pub before: &'a str,
    /// The bytes of the formula before which the document has a line break and a tab.
    pub wraps: &'a [usize],
}

/// What a listing of PBS puts into a long value.
const WRAP: &str = "\n\t";

impl FormulaSource<'_> {
    /// The formula as the document has it.
    pub(super) fn written(&self) -> String {
        let ends = self.wraps.iter().copied().chain([self.text.len()]);
        let starts = std::iter::once(0).chain(self.wraps.iter().copied());
        let parts: Vec<&str> = starts.zip(ends).map(|(start, end)| self.text.get(start..end).unwrap_or("")).collect();
        parts.join(WRAP)
    }

    /// The range in the formula as the document has it.
    pub(super) fn range_in_written(&self, span: Span) -> std::ops::Range<usize> {
        let range = clamped(self.text, span);
        let before =
            |is_before: &dyn Fn(usize) -> bool| WRAP.len() * self.wraps.iter().filter(|&&wrap| is_before(wrap)).count();
        let start = range.start + before(&|wrap| wrap <= range.start);
        let end = range.end + before(&|wrap| wrap < range.end || wrap <= range.start);
        start..end
    }

    /// The line of the document on which the formula begins, from 1, and what precedes the formula on it.
    fn first_line(&self) -> (usize, &str) {
        let start = self.before.rfind('\n').map_or(0, |end| end + 1);
        (1 + self.before.matches('\n').count(), &self.before[start..])
    }
}

/// A format that a checked formula can be written in.
pub trait CheckFormat {
    /// Writes the whole report.
    ///
    /// # Errors
    /// `out` cannot be written.
    fn write(&self, report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()>;
}

/// For people: every finding drawn on the formula, then the server's answer.
#[derive(Debug, Clone, Copy)]
pub struct CheckHuman {
    /// Whether to use colours.
    pub coloured: bool,
}

/// For programs: one document.
#[derive(Debug, Clone, Copy)]
pub struct CheckJson;

impl CheckFormat for CheckHuman {
    fn write(&self, report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let checked = report.checked;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for found in &checked.findings {
            let count = counts.entry(found.code).or_default();
            *count += 1;
            if *count <= MAX_OF_A_CODE {
                writeln!(out, "{}\n", draw_finding(&report.source, found, self.coloured))?;
            }
        }
        for (code, count) in counts.into_iter().filter(|(_, count)| *count > MAX_OF_A_CODE) {
            writeln!(out, "and {} more findings {code}\n", count - MAX_OF_A_CODE)?;
        }
        let validation = &checked.validation;
        match (validation.accepted, validation.code) {
            _ if validation.by == Some(RefusedBy::Qmgr) => {
                let reason = qmgr::refusal(report.source.text).map(|reason| reason.to_string()).unwrap_or_default();
                writeln!(out, "qmgr: does not pass the formula on to the server: {reason}")?;
            }
            (Some(true), _) => match &*checked.guessed_types {
                [] => writeln!(out, "qmgr: accepts the formula")?,
                guessed => {
                    let names: Vec<String> = guessed.iter().map(|name| format!("`{}`", printable(name))).collect();
                    let are = if names.len() == 1 { "is a numeric resource" } else { "are numeric resources" };
                    writeln!(
                        out,
                        "qmgr: accepts the formula if {} {are}, which is guessed from the jobs; --resource NAME=TYPE declares one",
                        names.join(", ")
                    )?;
                }
            },
            (Some(false), Some(code)) => writeln!(out, "qmgr: refuses the formula ({code}: {})", validation.message)?,
            _ => {
                let reason = validation.uncertainty.map(|reason| format!(": {reason}")).unwrap_or_default();
                writeln!(out, "qmgr: cannot tell whether it accepts the formula{reason}")?;
            }
        }
        if checked.crashes_scheduler && validation.accepted != Some(false) {
            writeln!(out, "scheduler: crashes on this formula")?;
        }
        match &checked.jobs {
            Some(JobCounts { total, ignored, errors, .. }) => {
                let tried = total - ignored;
                let jobs = if tried == 1 { "job" } else { "jobs" };
                write!(out, "queue: {tried} {jobs} tried, {} fine, {errors} with an error", tried - errors)?;
                if *ignored > 0 {
                    write!(out, "; {ignored} not tried, because the scheduler ignores such jobs")?;
                }
                writeln!(out)
            }
            None => Ok(()),
        }
    }
}

impl CheckFormat for CheckJson {
    fn write(&self, report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &report.checked.document(report.source.text))?;
        writeln!(out)
    }
}

/// Draws a finding as the Rust compiler does.
pub fn draw_finding(source: &FormulaSource<'_>, finding: &Diagnostic, coloured: bool) -> String {
    let (line, before) = source.first_line();
    let shown = printable_in_place(&format!("{before}{}", source.written()));
    let place = |span: Span| {
        let range = source.range_in_written(span);
        clamped(&shown, Span::new(before.len() + range.start, before.len() + range.end))
    };
    let origin = printable(source.origin);
    let (message, label) = (printable(&finding.message), printable(&finding.label));
    let labels: Vec<_> = finding.labels.iter().map(|label| (label.span, printable(&label.text))).collect();
    let help = finding.help.as_deref().map(printable);
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut snippet = Snippet::source(&*shown).line_start(line).path(&*origin);
    let primary = AnnotationKind::Primary.span(place(finding.span));
    snippet = snippet.annotation(primary.label((!label.is_empty()).then_some(&*label)));
    for (span, text) in &labels {
        snippet = snippet.annotation(AnnotationKind::Context.span(place(*span)).label(&**text));
    }
    let mut group = level.primary_title(&*message).id(finding.code).element(snippet);
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(&**help));
    }
    let mut report = vec![group];
    let fix = finding.fix.as_ref().filter(|fix| fix.applicability != Applicability::DisplayOnly);
    let replacement = fix.map(|fix| (fix.span, printable_in_place(&fix.replacement)));
    if let Some((span, replacement)) = &replacement {
        let patch = Patch::new(place(*span), &**replacement);
        let title = Level::HELP.secondary_title("write");
        report.push(
            Group::with_title(title).element(Snippet::source(&*shown).line_start(line).path(&*origin).patch(patch)),
        );
    }
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&report).clone()
}

/// The span as a range of the text, moved to the boundaries of characters.
pub(super) fn clamped(text: &str, span: Span) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}
