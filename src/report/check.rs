//! The result of a check, for people and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::pbs::check::{Checked, JobCounts};
use crate::pbs::qmgr;
use crate::pbs::qmgr_validation::{RefusedBy, Validation};
use crate::report::finding;

/// A checked formula and where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct CheckReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The name of its source: a file, or `FORMULA` for the command line.
    pub origin: &'a str,
    /// What precedes the formula in its source, where the source contains it word for word.
    pub before: &'a str,
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
}

/// For programs: one document.
#[derive(Debug, Clone, Copy)]
pub struct CheckJson;

impl CheckFormat for CheckHuman {
    fn write(&self, report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let checked = report.checked;
        for found in &checked.findings {
            writeln!(out, "{}\n", finding::draw(report.formula, report.origin, found, self.coloured))?;
        }
        let validation = &checked.validation;
        match (validation.accepted, validation.code) {
            _ if validation.by == Some(RefusedBy::Qmgr) => {
                let reason = qmgr::refusal(report.formula).map(|reason| reason.to_string()).unwrap_or_default();
                writeln!(out, "qmgr: does not pass the formula on to the server: {reason}")?;
            }
            (Some(true), _) => writeln!(out, "qmgr: accepts the formula")?,
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
            Some(JobCounts { total, errors, .. }) => {
                writeln!(out, "queue: {total} jobs tried, {} fine, {errors} with an error", total - errors)
            }
            None => Ok(()),
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    formula: &'a str,
    #[serde(rename = "verdict")]
    validation: &'a Validation,
    crashes_scheduler: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: &'a Option<JobCounts>,
    findings: &'a [Diagnostic],
}

impl CheckFormat for CheckJson {
    fn write(&self, report: &CheckReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Checked { validation, crashes_scheduler, jobs, findings, .. } = report.checked;
        let crashes_scheduler = *crashes_scheduler;
        let document = Document { formula: report.formula, validation, crashes_scheduler, jobs, findings };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}
