//! Messages on standard error: findings, and warnings, some of which are a part of an answer too.

use std::io::{self, Write};
use std::iter;

use job_sort_formula::diagnostic::{Diagnostic, Message, Severity, limit_each_kind};
use job_sort_formula::rank::{Consequence, OnError};
use jsf_site::{FormulaText, RankedQueue};

use crate::answers::{Answer, AnswerError, Format, Warnings};
use crate::cli::outcome::CliError;
use crate::cli::progress::Progress;
use crate::view::findings::{draw_finding, in_options, limit_each_code, more_findings};
use crate::view::words::{count, printable};

/// Writes a message to standard error.
pub(crate) fn print_message(kind: &str, message: impl std::fmt::Display) {
    // there is no other place to say that standard error cannot be written
    let _ = writeln!(
        anstream::stderr(),
        "jsf: {kind}: {}",
        printable(&message.to_string())
    );
}

/// Writes a warning to standard error.
pub(crate) fn warn(message: impl std::fmt::Display) {
    print_message("warning", message);
}

/// Draws findings on standard error: of each code the first ten, then how many more there are.
pub(crate) fn draw_all<'f>(
    source: &FormulaText,
    findings: impl IntoIterator<Item = &'f Diagnostic>,
) {
    let (shown, others) = limit_each_code(findings);
    for found in shown {
        draw(source, found);
    }
    for (code, more) in others {
        warn(more_findings(more, code));
    }
}

/// Draws a finding under the formula on standard error.
pub(crate) fn draw(source: &FormulaText, found: &Diagnostic) {
    let coloured = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let size = terminal_size::terminal_size_of(io::stderr());
    let width = size.map_or(usize::MAX, |(width, _)| width.0.into());
    let drawn = draw_finding(source, found, coloured, width);
    let _ = writeln!(anstream::stderr(), "{drawn}\n");
}

/// A message with the options that give what it asks for.
pub(crate) fn with_options(message: &Message) -> String {
    message.worded(in_options)
}

/// Says what is found in the rankings of an answer, and for which jobs the formulas fail. People see
/// the errors alone, as far as the answer does not say so itself.
pub(crate) fn show_rankings(answer: &impl Answer, format: Format, on_error: OnError) {
    if format.is_document() && answer.shows_findings() {
        return;
    }
    let rankings = answer.rankings();
    let names: &[&str] = match rankings.len() {
        2 => &["the old formula", "the new formula"],
        _ => &["the formula"],
    };
    for (name, (given, queue)) in iter::zip(names, &rankings) {
        let mut findings = given.findings_in(queue);
        findings.retain(|found| !format.is_document() || found.severity == Severity::Error);
        if rankings.len() == 2 && !findings.is_empty() {
            print_message("note", format_args!("findings of {name}:"));
        }
        draw_all(&given.source, &findings);
        report_errors(on_error, name, queue);
    }
}

/// Counts the jobs with an error on standard error, for formats without a summary: a line for each
/// consequence in OpenPBS. `formula` names the formula.
fn report_errors(on_error: OnError, formula: &str, queue: &RankedQueue) {
    for consequence in [Consequence::Zero, Consequence::Crash, Consequence::Unknown] {
        let errors = queue.ranking.scores().errors();
        let mut errors = errors.filter(|(_, error)| error.consequence() == consequence);
        let Some((row, error)) = errors.next() else {
            continue;
        };
        let jobs = count(1 + errors.count(), "job");
        let (kind, effect) = match on_error {
            OnError::ZeroLikePbs => ("warning", consequence.in_words()),
            OnError::Null => ("warning", "ranked last"),
            OnError::Fail => ("error", "--on-error is fail"),
        };
        print_message(
            kind,
            format_args!(
                "{formula} fails for {jobs}, first for `{}`: {error}; {effect}",
                queue.table.id(row)
            ),
        );
    }
}

/// Answers a question, while a terminal shows what is being done, then shows the warnings, and
/// returns the answer with those that belong to it. `is_document`: people read these with the answer.
pub(crate) fn answered<A>(
    doing: &'static str,
    is_document: bool,
    answer: impl FnOnce(&mut Warnings, &Progress) -> Result<A, AnswerError>,
) -> Result<(A, Vec<String>), CliError> {
    let mut found = Warnings::default();
    let progress = Progress::start(doing);
    let answer = answer(&mut found, &progress);
    // erased before the warnings, which take its line
    drop(progress);
    let of_answer = unique(lines(&found.of_answer));
    let mut shown = lines(&found.beside);
    // without an answer, standard error alone can have them
    if answer.is_err() || !is_document {
        shown.extend_from_slice(&of_answer);
    }
    unique(shown).iter().for_each(warn);
    if let Some((source, findings)) = &found.suspected {
        draw_all(source, findings);
    }
    Ok((answer?, of_answer))
}

fn unique(lines: Vec<String>) -> Vec<String> {
    let mut unique = Vec::new();
    for line in lines {
        if !unique.contains(&line) {
            unique.push(line);
        }
    }
    unique
}

fn lines(messages: &[Message]) -> Vec<String> {
    limit_each_kind(messages.iter().map(with_options))
}
