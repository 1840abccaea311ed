//! The answer of a command, written to standard output, and as a page to a file.

use std::io::{self, Write};

use job_sort_formula::rank::OnError;

use crate::answer_formats::{Answer, CsvText, Format, write_json};
use crate::cli::args::{AnswerArgs, TextArgs};
use crate::cli::messages::show_rankings;
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::page_file::PageFile;
use crate::cli::screen::{screen_height, terminal_width};
use crate::view::document::{self, Document, Section, TerminalStyle, write_markdown};

/// How an answer is written.
pub(crate) struct Output<'a> {
    /// The format, and how much of the answer people see.
    pub(crate) answer: AnswerArgs,
    /// Whether the number of rows was asked for: people see all of them.
    pub(crate) has_asked_rows: bool,
    /// For an answer whose cells may be very long: the width of its tables where there is no
    /// terminal.
    pub(crate) piped_width: Option<usize>,
    pub(crate) cells: CsvText,
    /// The warnings about what it is computed from, which are a part of it: pasted elsewhere, the
    /// answer would say nothing of a missing usage.
    pub(crate) warnings: &'a [String],
    /// The file for the answer as a page, if it is asked for.
    pub(crate) page_file: Option<PageFile<'a>>,
}

impl<'a> Output<'a> {
    /// The answer alone, with these warnings.
    pub(crate) fn new(answer: AnswerArgs, warnings: &'a [String]) -> Self {
        Self {
            answer,
            has_asked_rows: false,
            piped_width: None,
            cells: CsvText::Plain,
            warnings,
            page_file: None,
        }
    }

    /// The document with the warnings before everything else but its headline and facts.
    fn warned<'d>(&self, mut document: Document<'d>) -> Document<'d> {
        if !self.warnings.is_empty() {
            document
                .sections
                .insert(0, Section::new("warnings").list(self.warnings.to_vec()));
        }
        document
    }

    /// Writes an answer. All of it is written when this returns, so that messages can follow.
    pub(crate) fn write(&self, answer: &impl Answer, out: &mut impl Write) -> Result<(), CliError> {
        // the page comes first: a reader that closes the pipe must not cost it
        if let Some(file) = &self.page_file {
            file.require_replaceable()?;
            let mut page = Vec::new();
            document::write_page(&self.warned(answer.document()), &command_line(), &mut page)?;
            file.write(&page)?;
        }
        match self.answer.format {
            Format::Human => self.style().write(&self.warned(answer.document()), out)?,
            Format::Markdown => {
                let document = self.warned(answer.document());
                write_markdown(&document, &command_line(), self.answer.text.full, out)?;
            }
            Format::Json => write_json(answer, self.warnings, out)?,
            other => answer.write_as(other, self.cells, out)?,
        }
        Ok(out.flush()?)
    }

    /// Says what is found in the rankings of an answer, and writes it; returns what was found.
    pub(crate) fn write_ranking(
        &self,
        answer: &impl Answer,
        on_error: OnError,
        out: &mut impl Write,
    ) -> Result<Outcome, CliError> {
        show_rankings(answer, self.answer.format, on_error);
        self.write(answer, out)?;
        Ok(Outcome::of_answer(answer))
    }

    /// On a terminal one screen or in full, elsewhere all rows, since another program reads them.
    fn style(&self) -> TerminalStyle {
        let TextArgs { full, wide } = self.answer.text;
        let width = if wide { None } else { terminal_width() };
        let mut height = screen_height().unwrap_or(usize::MAX);
        if self.has_asked_rows {
            height = usize::MAX;
        }
        TerminalStyle {
            table_width: if wide {
                None
            } else {
                width.or(self.piped_width)
            },
            prose_width: width,
            height: if full { None } else { Some(height) },
            coloured: anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        }
    }
}

/// The command line of this process as a shell takes it.
fn command_line() -> String {
    let mut words = vec!["jsf".to_owned()];
    words.extend(std::env::args_os().skip(1).map(shell_quoted));
    words.join(" ")
}

/// An argument as a shell takes it.
fn shell_quoted(argument: std::ffi::OsString) -> String {
    /// The most characters of an argument; the document shows a formula anyway.
    const MAX_ARGUMENT: usize = 200;
    let argument = argument.to_string_lossy();
    // a shell gives no meaning to these characters
    let is_plain =
        !argument.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_./=:,@%+".contains(c));
    match argument.char_indices().nth(MAX_ARGUMENT) {
        Some((end, _)) => format!("'{}…'", argument[..end].replace('\'', r"'\''")),
        None if is_plain && !argument.is_empty() => argument.into_owned(),
        None => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}
