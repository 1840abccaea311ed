//! The result of a check, for people and as JSON.

use std::io::{self, Write};

use jsf_openpbs::check::{Checked, JobCounts};
use jsf_openpbs::qmgr;
use jsf_openpbs::qmgr_validation::AnsweredBy;

use crate::finding::{FormulaSource, draw_finding, few_of_each_code};
use crate::terminal::printable;

/// The most guessed names that are listed; the others are counted.
const MAX_GUESSED: usize = 10;

/// A checked formula and its source.
#[derive(Debug, Clone, Copy)]
pub struct CheckReport<'a> {
    /// The formula in its document.
    pub source: FormulaSource<'a>,
    /// The result of the check.
    pub checked: &'a Checked,
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
    /// The number of characters in a line of the terminal, to which drawn lines are cut.
    pub width: Option<usize>,
}

/// For programs: one document.
#[derive(Debug, Clone, Copy)]
pub struct CheckJson;

impl CheckFormat for CheckHuman {
    fn write(&self, report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let checked = report.checked;
        let (few, others) = few_of_each_code(&checked.findings);
        for found in few {
            writeln!(out, "{}\n", draw_finding(&report.source, found, self.coloured, self.width))?;
        }
        for (code, count) in others {
            writeln!(out, "and {count} more findings {code}\n")?;
        }
        let validation = &checked.validation;
        let has = |code| checked.findings.iter().any(|found| found.code == code);
        match (validation.accepted, validation.code) {
            _ if validation.by == Some(AnsweredBy::Qmgr) => {
                let reason = qmgr::refusal(report.source.text).map(|reason| reason.to_string()).unwrap_or_default();
                writeln!(out, "qmgr: does not pass the formula on to the server: {reason}")?;
            }
            (Some(true), _) => match &*checked.guessed_types {
                [] if !report.source.text.is_empty() && has("JSF101") => {
                    writeln!(out, "qmgr: accepts the first line")?;
                }
                [] => writeln!(out, "qmgr: accepts the formula")?,
                guessed => {
                    let shown = guessed.iter().take(MAX_GUESSED);
                    let mut names: Vec<String> = shown.map(|name| format!("`{}`", printable(name))).collect();
                    if guessed.len() > names.len() {
                        names.push(format!("{} more", guessed.len() - names.len()));
                    }
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
