//! How an answer is written to standard output: the options for it, its formats, and how much of it
//! a terminal shows.

use std::io::{self, IsTerminal, Write};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use job_sort_formula::OnError;
use terminal_size::{Height, terminal_size_of};

use crate::answers::{Answer, AnswerError, Format, Warnings, write_json};
use crate::cli::messages::{answered, show_rankings};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::page_file::PageFile;
use crate::cli::progress::Progress;
use crate::csv::CsvText;
use crate::view::document::markdown::write_markdown;
use crate::view::document::page::write_page;
use crate::view::document::terminal::TerminalStyle;
use crate::view::document::{Document, Section};

/// How much is shown to people.
#[derive(Debug, Clone, Copy, Args)]
pub struct TextArgs {
    /// Show everything instead of one screen
    ///
    /// A terminal gets one screen (at most 24 lines, or the environment variable JSF_LINES); a file
    /// or a pipe gets all rows
    #[arg(long)]
    pub full: bool,
    /// Show all columns in full
    ///
    /// However wide the terminal is
    #[arg(long)]
    pub wide: bool,
}

/// How an answer is written that people and programs read.
#[derive(Debug, Clone, Copy, Args)]
pub struct AnswerArgs {
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_parser = formats(&[]), default_value = "human")]
    pub format: Format,
}

/// How CSV is written.
#[derive(Debug, Args)]
pub struct CsvArgs {
    /// Guard the cells of CSV for a spreadsheet
    ///
    /// With --format csv, write a ' before each text, or part of a text after a separator such as ;,
    /// that begins with =, +, - or @, so that no spreadsheet computes it
    #[arg(long)]
    csv_safe: bool,
}

impl CsvArgs {
    /// How cells are written.
    pub(crate) fn texts(&self) -> CsvText {
        if self.csv_safe {
            CsvText::Guarded
        } else {
            CsvText::Plain
        }
    }
}

/// Parses one of the formats that every answer has, or of these. The parser that clap derives would
/// offer all of them in the help and in completions.
pub(crate) fn formats(others: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let of_all = [Format::Human, Format::Markdown, Format::Json];
    let offered = of_all.iter().chain(others);
    PossibleValuesParser::new(offered.filter_map(ValueEnum::to_possible_value))
        .try_map(|name| Format::from_str(&name, false))
}

impl AnswerArgs {
    /// Answers a question as [`answered`] does.
    pub(crate) fn answered<'a, A: Answer>(
        self,
        doing: &'static str,
        answer: impl FnOnce(&mut Warnings, &Progress) -> Result<A, AnswerError>,
    ) -> Result<Output<'a, A>, CliError> {
        let (answer, warnings) = answered(doing, self.format.is_document(), answer)?;
        Ok(Output::new(self, answer, warnings))
    }
}

/// An answer, and how it is written.
pub(crate) struct Output<'a, A> {
    pub(crate) answer: A,
    /// The format, and how much of the answer people see.
    pub(crate) arguments: AnswerArgs,
    /// Whether the number of rows was asked for: people see all of them.
    pub(crate) has_asked_rows: bool,
    /// For an answer whose cells may be very long: the width of its tables where there is no
    /// terminal.
    pub(crate) piped_width: Option<usize>,
    pub(crate) csv_texts: CsvText,
    /// The warnings about what it is computed from, which are a part of it: pasted elsewhere, the
    /// answer would say nothing of a missing usage.
    pub(crate) warnings: Vec<String>,
    /// The file for the answer as a page, if it is asked for.
    pub(crate) page_file: Option<PageFile<'a>>,
}

impl<A: Answer> Output<'_, A> {
    /// The answer alone, with these warnings.
    pub(crate) fn new(arguments: AnswerArgs, answer: A, warnings: Vec<String>) -> Self {
        Self {
            answer,
            arguments,
            has_asked_rows: false,
            piped_width: None,
            csv_texts: CsvText::Plain,
            warnings,
            page_file: None,
        }
    }

    /// The document with the warnings before everything else but its headline and facts.
    fn document(&self) -> Document<'_> {
        let mut document = self.answer.document();
        if !self.warnings.is_empty() {
            let warnings = Section::new("warnings").list(self.warnings.clone());
            document.sections.insert(0, warnings);
        }
        document
    }

    /// Writes the answer. All of it is written when this returns, so that messages can follow.
    pub(crate) fn write(&self, out: &mut impl Write) -> Result<(), CliError> {
        // the page comes first: a reader that closes the pipe must not cost it
        if let Some(file) = &self.page_file {
            file.require_replaceable()?;
            let mut page = Vec::new();
            write_page(&self.document(), &command_line(), &mut page)?;
            file.write(&page)?;
        }
        match self.arguments.format {
            Format::Human => self.style().write(&self.document(), out)?,
            Format::Markdown => {
                let is_full = self.arguments.text.full;
                write_markdown(&self.document(), &command_line(), is_full, out)?;
            }
            Format::Json => write_json(&self.answer, &self.warnings, out)?,
            other => self.answer.write_as(other, self.csv_texts, out)?,
        }
        Ok(out.flush()?)
    }

    /// Says what is found in the rankings of the answer, and writes it; returns what was found.
    pub(crate) fn write_ranking(
        &self,
        on_error: OnError,
        out: &mut impl Write,
    ) -> Result<Outcome, CliError> {
        show_rankings(&self.answer, self.arguments.format, on_error);
        self.write(out)?;
        Ok(Outcome::of_answer(&self.answer))
    }

    /// On a terminal one screen or in full, elsewhere all rows, since another program reads them.
    fn style(&self) -> TerminalStyle {
        let TextArgs { full, wide } = self.arguments.text;
        let width = terminal_width().filter(|_| !wide);
        let piped_width = self.piped_width.filter(|_| !wide);
        let height = screen_height().filter(|_| !self.has_asked_rows && !full);
        TerminalStyle {
            table_width: width.or(piped_width).unwrap_or(usize::MAX),
            prose_width: width.unwrap_or(usize::MAX),
            height: height.unwrap_or(usize::MAX),
            is_full: full,
            coloured: anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        }
    }
}

/// The command line of this process as a shell takes it.
fn command_line() -> String {
    let mut arguments = vec!["jsf".to_owned()];
    arguments.extend(std::env::args_os().skip(1).map(shell_quoted));
    arguments.join(" ")
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
        // an empty argument without quotes would vanish from the command line
        None if is_plain && !argument.is_empty() => argument.into_owned(),
        None => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// The lines of a screen, of which a terminal may have fewer.
const SCREEN_LINES: usize = 24;
/// The lines of a screen that the answer leaves free: for the note about the site, and for the
/// prompt.
const FREE_LINES: usize = 2;

/// The lines that the answer may have: by the environment variable JSF_LINES, else those of a
/// screen; `None` if standard output is not a terminal. LINES does not count, since shells export
/// it to what is piped too.
fn screen_height() -> Option<usize> {
    let lines = match (
        positive_variable("JSF_LINES"),
        terminal_size_of(io::stdout()),
    ) {
        (Some(lines), _) => lines,
        _ if !io::stdout().is_terminal() => return None,
        (None, Some((_, Height(lines)))) => SCREEN_LINES.min(lines.into()),
        (None, None) => SCREEN_LINES,
    };
    Some(lines.saturating_sub(FREE_LINES).max(1))
}

/// The number of characters in a line: what the environment variable COLUMNS says, else the
/// terminal's; `None` if standard output is not a terminal.
fn terminal_width() -> Option<usize> {
    positive_variable("COLUMNS").or_else(|| Some(terminal_size_of(io::stdout())?.0.0.into()))
}

/// The value of an environment variable that is a positive number.
fn positive_variable(name: &str) -> Option<usize> {
    match std::env::var(name).ok()?.parse() {
        Ok(value @ 1..) => Some(value),
        _ => None,
    }
}
