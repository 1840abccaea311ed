//! What every answer is made with: the formula of the question, what is doubtful about the answer, and
//! why there is none; and the formats that it is written in: JSON, and comma-separated values as in
//! RFC 4180, whose lines are made in parallel and written in order.
//!
//! Nothing is printed here: a command line shows warnings on standard error, and a program finds
//! them under `warnings` of the answer.

use std::borrow::Cow;
use std::io::{self, Write};

use job_sort_formula::diagnostic::{Diagnostic, Message, Severity};
use job_sort_formula::{Formula, Schema, parallel};
pub(crate) use jsf_json::object;
use jsf_lint::lint;
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{FormulaText, JobsToRank, RankedQueue, Site, SiteError};
use serde::{Serialize, Serializer};

use crate::view::document::Document;

/// A formula that was given, or that is in force.
#[derive(Debug, Clone)]
pub struct GivenFormula {
    /// The text, and where it comes from.
    pub source: FormulaText,
    /// What Python reads.
    pub submitted: FormulaSubmission,
}

impl GivenFormula {
    /// The formula of a source.
    pub fn new(source: FormulaText, numbers: NumberMode) -> Self {
        Self {
            submitted: source.submitted(numbers),
            source,
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The formula.
    ///
    /// # Errors
    /// The text does not parse.
    pub fn parsed(&self) -> Result<&Formula, AnswerError> {
        self.submitted.formula().map_err(|refusal| {
            AnswerError::Syntax(Box::new(self.source.clone()), refusal.finding.clone())
        })
    }

    /// The findings about the text of the formula and its names.
    pub(crate) fn lint(&self, schema: &Schema) -> Vec<Diagnostic> {
        match self.submitted.formula() {
            Ok(formula) => lint(formula.expr(), schema),
            Err(_) => Vec::new(),
        }
    }

    /// The same findings in the submitted text, for the names of a ranked queue.
    pub(crate) fn findings_in(&self, queue: &RankedQueue) -> Vec<Diagnostic> {
        self.submitted.in_source(self.lint(&queue.schema))
    }

    /// The error of a site, with all findings about a formula that is not arithmetic there.
    pub(crate) fn refused(&self, error: SiteError, site: &Site) -> AnswerError {
        match error {
            SiteError::NotArithmetic => self.unusable(self.lint(site.schema())),
            error => error.into(),
        }
    }

    pub(crate) fn unusable(&self, findings: Vec<Diagnostic>) -> AnswerError {
        let findings = self.submitted.in_source(findings);
        AnswerError::Unusable(Box::new(self.source.clone()), findings)
    }

    /// Refuses a formula that is not arithmetic for the jobs that it is to rank.
    pub(crate) fn require_arithmetic(&self, read: &JobsToRank) -> Result<(), AnswerError> {
        match read.program {
            Some(_) => Ok(()),
            None => Err(self.unusable(self.lint(&read.jobs.schema))),
        }
    }
}

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
    fn rankings(&self) -> Vec<(&GivenFormula, &RankedQueue)> {
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

/// How the cells of CSV are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvText {
    /// As they are.
    Plain,
    /// With a `'` before what a spreadsheet would compute: before each `=`, `+`, `-` or `@` at the
    /// start of a text, or after a separator in it, at which some spreadsheets begin another cell.
    Guarded,
}

/// Writes a line for each record.
pub(crate) struct CsvWriter<'a>(csv::Writer<&'a mut dyn Write>);

impl<'a> CsvWriter<'a> {
    /// Writes the header, whose names commas separate.
    pub(crate) fn new(header: &str, out: &'a mut dyn Write) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(header.split(',')).map_err(io_error)?;
        Ok(Self(writer))
    }

    /// Writes a record, a tuple of its fields.
    pub(crate) fn write(&mut self, record: impl Serialize) -> io::Result<()> {
        self.0.serialize(record).map_err(io_error)
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The error of the file itself, by which callers recognise a closed pipe.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// A field as the cells are written.
pub(crate) fn guarded(field: &str, cells: CsvText) -> Cow<'_, str> {
    match cells {
        CsvText::Plain => Cow::Borrowed(field),
        CsvText::Guarded => with_guards(field),
    }
}

/// The fields of a job's names.
pub(crate) fn guarded_names(names: [&str; 3], cells: CsvText) -> [Cow<'_, str>; 3] {
    names.map(|name| guarded(name, cells))
}

/// The text with a `'` before each character that would begin a formula. A spreadsheet may separate
/// cells by another character than the comma, and then quotes do not hold the text together; it may
/// also trim what precedes the formula.
fn with_guards(field: &str) -> Cow<'_, str> {
    // the last four are the same in full width
    const SIGNS: [char; 8] = [
        '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ];
    if !field.contains(SIGNS) {
        return Cow::Borrowed(field);
    }
    let mut guarded = String::with_capacity(field.len() + 1);
    let mut is_start_of_cell = true;
    for character in field.chars() {
        if is_start_of_cell && SIGNS.contains(&character) {
            guarded.push('\'');
        }
        guarded.push(character);
        is_start_of_cell = match character {
            ',' | ';' | '|' | '\t' | '\r' | '\n' => true,
            // where another character separates cells, the quote opens one and is no part of it
            '"' => is_start_of_cell,
            other => is_start_of_cell && (other.is_whitespace() || other.is_control()),
        };
    }
    Cow::Owned(guarded)
}

/// The number of lines in a block: few enough that what they are made of stays in a processor's caches.
const BLOCK_LINES: usize = 256;
/// How many blocks are in memory at a time.
const BLOCKS_AT_ONCE: usize = 128;

/// Writes the text that `write_block` appends for each block of lines; several blocks are made in
/// parallel.
///
/// # Errors
/// The first error of `out`; no further block is made or written.
pub(crate) fn write_in_order<L: Sync>(
    lines: &[L],
    out: &mut dyn Write,
    write_block: impl Fn(&[L], &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    for lines in lines.chunks(BLOCKS_AT_ONCE * BLOCK_LINES) {
        let texts = parallel::map(lines.chunks(BLOCK_LINES).collect(), |lines| {
            let mut text = Vec::new();
            write_block(lines, &mut text);
            text
        });
        for text in texts {
            out.write_all(&text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_computes_no_text() {
        for (field, expected) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("\t=1", "\t'=1"),
            (" \r=1", " \r'=1"),
            ("\u{b}\"=1", "\u{b}\"'=1"),
            ("x;=1", "x;'=1"),
            ("x,-1", "x,'-1"),
            ("x; \"@a", "x; \"'@a"),
            ("a=1", "a=1"),
            ("12-3.vm", "12-3.vm"),
            ("", ""),
            ("1", "1"),
        ] {
            assert_eq!(guarded(field, CsvText::Guarded), expected);
        }
    }

    #[test]
    fn blocks_are_written_in_order() {
        for count in [0, 1, BLOCK_LINES, 100 * BLOCK_LINES + 7] {
            let lines: Vec<usize> = (0..count).collect();
            let mut out = Vec::new();
            write_in_order(&lines, &mut out, |lines, text| {
                lines.iter().for_each(|line| _ = writeln!(text, "{line}"))
            })
            .unwrap();
            let expected: String = lines.iter().map(|line| format!("{line}\n")).collect();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_closed_pipe_ends_the_writing() {
        struct Closed(usize);
        impl Write for Closed {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lines: Vec<usize> = (0..100 * BLOCK_LINES).collect();
        let error = write_in_order(&lines, &mut Closed(3), |_, text| text.push(b'x')).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    #[should_panic(expected = "line 5000")]
    fn a_panic_reaches_the_caller() {
        let lines: Vec<usize> = (0..100 * BLOCK_LINES).collect();
        _ = write_in_order(&lines, &mut io::sink(), |lines, _| {
            lines
                .iter()
                .for_each(|line| assert_ne!(*line, 5000, "line 5000"));
        });
    }
}
