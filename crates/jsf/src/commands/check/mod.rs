//! `jsf check`: the result of a check, for people, as JSON, and as SARIF.

#[cfg(feature = "command")]
pub mod run;

use std::io::{self, Write};
use std::ops::Range;

use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Fix, Span};
use jsf_openpbs::check::{Checked, JobCounts, Verdict};
use jsf_openpbs::qmgr_command::{refused_by_qmgr, set_command_for};
use jsf_openpbs::server_validation::AnsweredBy;
use jsf_site::FormulaText;
use serde::{Serialize, Serializer};

use crate::answers::{Answer, CsvText, Format, object};
use crate::view::document::{Document, DrawingStyle, Fact, Section};
use crate::view::findings::{
    NO_FORMULA_IN_SLURM, brief_finding, draw_finding, limit_each_code, more_findings,
    range_in_written, severity_word, verdict_sentence,
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
            let mut errors = checked.errors();
            if let Some(found) = errors.next() {
                return format!("{answer}. Error {}: {}.", found.code, found.message);
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
                let reason = refused_by_qmgr(&self.source.text);
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
        Err("the formula has control characters".to_owned())
    }
}

/// The run as SARIF has it.
pub(crate) fn sarif(answer: &CheckAnswer<'_>) -> impl Serialize {
    let findings = &answer.checked.findings;
    let mut codes = Code::ALL.to_vec();
    codes.retain(|code| findings.iter().any(|found| found.code == *code));
    let source = Source::new(answer.source);
    let mut results = Vec::new();
    for found in findings {
        results.push(source.result(found, &codes));
    }
    let mut rules = Vec::new();
    for code in codes {
        rules.push(object! {
            defaultConfiguration: object! { level: severity_word(code.severity()) },
            help: object! { markdown: code.page(), text: code.page() },
            id: code.name(),
            shortDescription: object! { text: code.title() },
        });
    }
    let validation = &answer.checked.validation;
    // the text too, as a formula of the command line is in no file
    let artifact = object! {
        contents: object! { text: source.whole },
        location: object! { uri: source.uri },
    };
    let run = object! {
        artifacts: [artifact],
        columnKind: "unicodeCodePoints",
        properties: object! {
            accepted: validation.accepted,
            crashesScheduler: answer.checked.crashes_scheduler,
            pbsCode: validation.code,
        },
        results,
        tool: object! {
            driver: object! { name: "jsf", rules, version: env!("CARGO_PKG_VERSION") },
        },
    };
    object! {
        #[serde(rename = "$schema")]
        schema: SCHEMA,
        runs: [run],
        version: "2.1.0",
    }
}

/// The published JSON schema of the standard.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The artifact that contains all locations.
struct Source<'a> {
    uri: String,
    formula: &'a FormulaText,
    /// The text of the document.
    whole: String,
}

impl<'a> Source<'a> {
    fn new(formula: &'a FormulaText) -> Self {
        Self {
            uri: uri(&formula.origin),
            formula,
            whole: format!("{}{}", formula.before, formula.written),
        }
    }

    fn result(&self, found: &Diagnostic, codes: &[Code]) -> impl Serialize + use<> {
        let mut message = found.message.clone();
        if let Some(help) = &found.help {
            message += &format!("\n{help}");
        }
        let mut related = Vec::new();
        for label in &found.labels {
            related.push(object! {
                message: object! { text: label.text.clone() },
                physicalLocation: self.location(label.span),
            });
        }
        object! {
            #[serde(flatten)]
            fixes: found.fix.as_ref().and_then(|fix| self.fixes(fix)),
            level: severity_word(found.severity),
            locations: [object! { physicalLocation: self.location(found.span) }],
            message: object! { text: message },
            #[serde(flatten)]
            related: (!related.is_empty()).then_some(object! { relatedLocations: related }),
            ruleId: found.code.name(),
            ruleIndex: codes.iter().position(|code| *code == found.code),
        }
    }

    /// A fix that may be applied.
    fn fixes(&self, fix: &Fix) -> Option<impl Serialize + use<>> {
        let meaning = match fix.applicability {
            Applicability::Safe => "safe: means the same",
            // a service may apply whatever is listed
            Applicability::DisplayOnly => return None,
            _ => "probably what was meant",
        };
        let replacement = object! {
            deletedRegion: self.region(fix.span),
            insertedContent: object! { text: fix.replacement.clone() },
        };
        let change = object! {
            artifactLocation: self.artifact_location(),
            replacements: [replacement],
        };
        let fix = object! {
            artifactChanges: [change],
            description: object! { text: meaning },
        };
        Some(object! { fixes: [fix] })
    }

    fn artifact_location(&self) -> impl Serialize + use<> {
        object! { index: 0, uri: self.uri.clone() }
    }

    fn location(&self, span: Span) -> impl Serialize + use<> {
        object! { artifactLocation: self.artifact_location(), region: self.region(span) }
    }

    /// Lines and columns count from 1, columns and characters in code points, bytes and characters
    /// from 0.
    fn region(&self, span: Span) -> impl Serialize + use<> {
        let Range { start, end } = range_in_written(self.formula, span);
        let [first, last] = [start, end].map(|at| self.place(at));
        object! {
            byteLength: end - start,
            byteOffset: self.formula.before.len() + start,
            charLength: last.characters - first.characters,
            charOffset: first.characters,
            endColumn: last.column,
            endLine: last.line,
            startColumn: first.column,
            startLine: first.line,
        }
    }

    /// The place of a byte of the formula as the document has it.
    fn place(&self, at: usize) -> Place {
        let at = self.formula.before.len() + at;
        let before = self.whole.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        Place {
            line: 1 + before.matches('\n').count(),
            column: 1 + line.chars().count(),
            characters: before.chars().count(),
        }
    }
}

struct Place {
    line: usize,
    column: usize,
    characters: usize,
}

/// A path as a relative URI: all but slashes and the unreserved characters of RFC 3986 is
/// percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}
