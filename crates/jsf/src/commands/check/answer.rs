//! The answer of `jsf check`: the result of a check, for people and as JSON.

use std::io::{self, Write};

use job_sort_formula::diagnostic::{Code, Severity};
use jsf_openpbs::check::{Checked, JobCounts, Verdict};
use jsf_openpbs::submission::{self, AnsweredBy, set_command_for};
use jsf_site::FormulaText;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, CsvText, Format};
use crate::commands::check::sarif::sarif;
use crate::view::document::{Document, DrawingStyle, Fact, Section};
use crate::view::findings::{
    NO_FORMULA_IN_SLURM, brief_finding, draw_finding, limit_each_code, more_findings,
    verdict_sentence,
};
use crate::view::sections::{WORTH, rates_line};
use crate::view::words::{count, first_few_quoted, printable_lines};

/// The most guessed names that are listed; the others are counted.
const MAX_GUESSED: usize = 10;

/// A checked formula and its source.
#[derive(Debug, Clone, Copy)]
pub struct CheckAnswer<'a> {
    /// The formula in its document.
    pub source: &'a FormulaText,
    /// The result of the check.
    pub checked: &'a Checked,
}

impl Serialize for CheckAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.checked.serialize(serializer)
    }
}

impl Answer for CheckAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let CheckAnswer { source, checked } = self;
        let (shown, others) = limit_each_code(&checked.findings);
        let mut sections = Vec::new();
        for found in shown {
            let draw =
                move |style: DrawingStyle| draw_finding(source, found, style.coloured, style.width);
            let section = Section::new("").draw(draw);
            sections.push(section.in_brief(brief_finding(found, "")));
        }
        for (code, count) in others {
            sections.push(Section::new("").prose(more_findings(count, code)));
        }
        let rates = rates_line(&checked.rates, "at the medians of the queue");
        if !rates.is_empty() {
            sections.push(Section::new(WORTH).prose(rates).in_full());
        }
        let mut facts = Vec::from_iter(checked.jobs.as_ref().map(jobs_fact));
        if let Some(source) = &checked.python_source {
            let python = format!("{} ({source})", checked.python);
            facts.push(Fact::new("python", python).in_full());
        }
        Document {
            command: "jsf check",
            title: "Check of a formula".to_owned(),
            headline: self.headline(),
            facts,
            sections,
            read_on: "",
        }
    }

    fn write_as(&self, _format: Format, _cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &sarif(self))?;
        writeln!(out)
    }
}

impl<'a> CheckAnswer<'a> {
    /// The answer of qmgr and the server, or at a site of Slurm what becomes of it, then what the scheduler makes of a formula that they accept,
    /// else its first error.
    fn headline(self) -> String {
        let checked = self.checked;
        let is_accepted = checked.validation.accepted == Some(true);
        let answer = if checked.runs_slurm && is_accepted {
            NO_FORMULA_IN_SLURM.to_owned()
        } else {
            format!("qmgr: {}", self.answer())
        };
        if checked.verdict != Verdict::Refused
            && let Some(verdict) = verdict_sentence(checked, "it")
        {
            return format!("{answer}. {verdict}");
        }
        // otherwise the answer says what is wrong
        if is_accepted && checked.validation.by == Some(AnsweredBy::Server) {
            for found in &checked.findings {
                if found.severity == Severity::Error {
                    return format!("{answer}. Error {}: {}.", found.code, found.message);
                }
            }
        }
        answer
    }

    /// What qmgr and the server answer.
    fn answer(self) -> String {
        let checked = self.checked;
        let validation = &checked.validation;
        match (validation.accepted, validation.code) {
            // qmgr reads the text first, and what it refuses the server never sees
            _ if validation.by == Some(AnsweredBy::Qmgr) => {
                let reason = submission::refused_by_qmgr(&self.source.text);
                let reason = reason.map(|reason| reason.message).unwrap_or_default();
                format!("does not pass the formula on to the server: {reason}")
            }
            (Some(true), _) if !checked.guessed_types.is_empty() => {
                accepted_if(&checked.guessed_types)
            }
            (Some(true), _)
                if self.source.text.trim_end().contains(['\n', '\r'])
                    && (checked.findings.iter()).any(|found| found.code == Code::InvalidSyntax) =>
            {
                "accepts the first line".to_owned()
            }
            (Some(true), _) => "accepts the formula".to_owned(),
            (Some(false), Some(code)) => {
                format!("refuses the formula ({code}: {})", validation.message)
            }
            _ => {
                let mut words = "cannot tell whether it accepts the formula".to_owned();
                if let Some(reason) = validation.uncertainty {
                    words += &format!(": {reason}");
                }
                words
            }
        }
    }
}

/// On which guesses the answer depends.
fn accepted_if(guessed: &[String]) -> String {
    let names = first_few_quoted(guessed, MAX_GUESSED);
    format!(
        "accepts the formula if these are numeric resources, which is guessed from the jobs: {names}; \
         --resource NAME=TYPE declares one"
    )
}

/// How many jobs the formula was tried on.
fn jobs_fact(jobs: &JobCounts) -> Fact {
    let tried = jobs.total - jobs.ignored;
    let mut text = format!(
        "{} tried, {} fine, {} with an error",
        count(tried, "job"),
        tried - jobs.errors,
        jobs.errors
    );
    if jobs.ignored > 0 {
        text += &format!("; {} ignored by the scheduler", jobs.ignored);
    }
    if let Some(sentence) = stopped_by_threshold(jobs) {
        text += &format!("; {sentence}");
    }
    Fact::new("queue", text)
}

/// How many jobs the threshold in force, or the given one, stops; `None` without a threshold.
pub(crate) fn stopped_by_threshold(jobs: &JobCounts) -> Option<String> {
    let [under, over] = [jobs.under_threshold?, jobs.over_threshold?];
    let threshold = jobs.threshold?;
    Some(format!(
        "{under} of {} do not pass the threshold {threshold}",
        count(under + over, "waiting job")
    ))
}

/// The command that sets the formula of an object of `qmgr`.
///
/// # Errors
/// Why no command can be printed.
pub(crate) fn set_command(object: &str, text: &str) -> Result<String, String> {
    let command = set_command_for(object, text).map_err(|refusal| refusal.message)?;
    if printable_lines(&command) == command {
        Ok(command)
    } else {
        // escaped it would set another formula, and as it is it would reach the terminal
        Err("the formula has control characters, with which no command can be printed".to_owned())
    }
}
