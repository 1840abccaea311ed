//! What every answer is made with: what is doubtful about it, why there is none, and the formats that
//! it is written in.
//!
//! Nothing is printed here: a command line shows warnings on standard error, and a program finds
//! them under `warnings` of the answer.

use std::io::{self, Write};

use job_sort_formula::diagnostic::{Diagnostic, Message, Severity};
use jsf_site::{FormulaText, RankedQueue, Site, SiteError};
use serde::{Serialize, Serializer};

use crate::asked_formula::AskedFormula;
use crate::csv::CsvText;
use crate::view::document::Document;

pub(crate) use jsf_json::object;

/// Why a question has no answer.
#[derive(Debug)]
pub enum AnswerError {
    /// It does not say what is asked, or asks for something that there is not.
    Question(Message),
    /// The files of the site cannot be used, or something is missing.
    Site(SiteError),
    /// The text of a formula does not parse.
    Syntax(Box<FormulaText>, Box<Diagnostic>),
    /// A formula is Python but not arithmetic, or has another error with which it cannot work, and
    /// what is found about it.
    Unusable(Box<FormulaText>, Vec<Diagnostic>),
    /// The caller wanted an end.
    Interrupted,
}

impl From<SiteError> for AnswerError {
    fn from(error: SiteError) -> Self {
        Self::Site(error)
    }
}

impl From<serde_json::Error> for AnswerError {
    fn from(error: serde_json::Error) -> Self {
        Self::question(error.to_string())
    }
}

impl AnswerError {
    /// A question that has no answer, and why.
    pub(crate) fn question(why: impl Into<Message>) -> Self {
        Self::Question(why.into())
    }
}

/// The warnings about the files of a site and what is computed from them.
#[derive(Debug, Default)]
pub struct Warnings {
    /// Those that say nothing against the answer, such as about files that it does not need.
    pub beside: Vec<Message>,
    /// Those that belong to the answer: pasted elsewhere without them, it would say nothing of a
    /// missing usage.
    pub of_answer: Vec<Message>,
    /// What is found about a formula that cannot be ranked, in its text: it may be why.
    pub(crate) suspected: Option<(FormulaText, Vec<Diagnostic>)>,
}

impl Warnings {
    /// Adds those about the files of a site, of which those about these inputs belong to the answer.
    pub(crate) fn add_site(&mut self, site: &Site, inputs: &[impl AsRef<str>]) {
        self.add_files(site, site.warnings_for(inputs));
    }

    /// Adds those about the files of a site, of which those about shares belong to the answer.
    pub(crate) fn add_site_of_shares(&mut self, site: &Site) {
        self.add_files(site, site.warnings_of_shares());
    }

    fn add_files(&mut self, site: &Site, of_answer: Vec<Message>) {
        let mut others = site.warnings();
        others.retain(|warning| !of_answer.contains(warning));
        self.beside.extend(others);
        self.of_answer.extend(of_answer);
    }

    /// Adds warnings that say nothing against the answer.
    pub(crate) fn add<M: Into<Message>>(&mut self, warnings: impl IntoIterator<Item = M>) {
        self.beside.extend(warnings.into_iter().map(Into::into));
    }

    /// Adds what findings give reason to doubt, one sentence each, for a program.
    pub(crate) fn doubt<'f>(&mut self, findings: impl IntoIterator<Item = &'f Diagnostic>) {
        for found in findings {
            if found.severity != Severity::Note {
                let sentence = format!("{}: {}", found.code, found.message);
                self.beside.push(advice(found).after(sentence));
            }
        }
    }
}

/// What a finding advises, after a semicolon.
pub fn advice(found: &Diagnostic) -> Message {
    let mut label = String::new();
    if !found.label.is_empty() {
        label = format!("; {}", found.label);
    }
    match &found.help {
        Some(help) => help.clone().after(label + "; "),
        None => label.into(),
    }
}

/// A format of an answer. Every answer has the first three, some have others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text and tables
    #[value(alias = "table")]
    Human,
    /// The same as Markdown, for a mail or a ticket
    Markdown,
    /// One JSON document
    Json,
    /// One JSON object per job
    Ndjson,
    /// Comma-separated values
    Csv,
    /// SARIF 2.1.0, for CI
    Sarif,
    /// A picture
    Svg,
    /// The log with the simulated waits, in the Standard Workload Format
    Swf,
}

impl Format {
    /// Whether people read it.
    pub fn is_document(self) -> bool {
        matches!(self, Self::Human | Self::Markdown)
    }
}

/// The answer of a command. As JSON it is what it serialises to.
pub trait Answer: Serialize {
    /// What people see of it.
    fn document(&self) -> Document<'_>;

    /// The formulas by which it ranks jobs, the ranked queues, and what is found of the formulas there,
    /// which is said beside the answer.
    fn rankings(&self) -> Vec<(&AskedFormula, &RankedQueue)> {
        Vec::new()
    }

    /// Whether the document says itself what is found in these.
    fn shows_findings(&self) -> bool {
        false
    }

    /// Writes a format that not every answer has.
    ///
    /// # Errors
    /// `out` cannot be written, or the answer does not have the format.
    fn write_as(&self, format: Format, _text: CsvText, _out: &mut dyn Write) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("this answer is not written as {format:?}"),
        ))
    }
}

/// A list of JSON that is made while it is written, since all of it may take much memory.
pub(crate) struct Each<F>(pub(crate) F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Writes an answer as one JSON document, with the warnings under `warnings` where there are some.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json(
    answer: &impl Serialize,
    warnings: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let warnings = (!warnings.is_empty()).then_some(object! { warnings });
    let warned = object! { #[serde(flatten)] answer, #[serde(flatten)] warnings };
    serde_json::to_writer_pretty(&mut *out, &warned)?;
    out.write_all(b"\n")
}
