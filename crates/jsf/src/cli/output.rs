//! The one place that writes answers: to standard output, and as a page to a file.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jsf_site::Site;
use terminal_size::{Height, terminal_size_of};

use crate::answer::{Answer, Format, write_json};
use crate::cli::CliError;
use crate::cli::args::{AnswerArgs, TextArgs};
use crate::cli::page_file::{require_page_file, write_page_file};
use crate::view::csv_writer::Cells;
use crate::view::document::{self, Document, Section, TerminalStyle, write_markdown};

/// How an answer is written.
pub(crate) struct Output<'a> {
    format: Format,
    /// How much of it people see.
    text: TextArgs,
    /// Whether the number of rows was asked for: people see all of them.
    has_asked_rows: bool,
    /// The width of tables where there is no terminal.
    piped_width: Option<usize>,
    cells: Cells,
    /// The warnings about what it is computed from, which are a part of it.
    warnings: &'a [String],
    page: Option<Page<'a>>,
}

/// The file for a page, and what the command reads, which no page may replace.
struct Page<'a> {
    path: &'a Path,
    sites: Vec<&'a Site>,
    files: Vec<&'a PathBuf>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(format: Format, text: TextArgs, warnings: &'a [String]) -> Self {
        Self {
            format,
            text,
            has_asked_rows: false,
            piped_width: None,
            cells: Cells::Plain,
            warnings,
            page: None,
        }
    }

    /// The same by the arguments that most commands have.
    pub(crate) fn of(arguments: AnswerArgs, warnings: &'a [String]) -> Self {
        Self::new(arguments.format, arguments.text, warnings)
    }

    pub(crate) fn with_cells(mut self, cells: Cells) -> Self {
        self.cells = cells;
        self
    }

    pub(crate) fn with_asked_rows(mut self, has_asked_rows: bool) -> Self {
        self.has_asked_rows = has_asked_rows;
        self
    }

    /// For an answer whose cells may be very long: the width of its tables where there is no
    /// terminal.
    pub(crate) fn with_piped_width(mut self, width: usize) -> Self {
        self.piped_width = Some(width);
        self
    }

    /// Writes a page too, if there is a path for it. It replaces no file of the sites, and none of
    /// `files`.
    pub(crate) fn with_page(
        self,
        path: Option<&'a Path>,
        sites: Vec<&'a Site>,
        files: Vec<&'a PathBuf>,
    ) -> Self {
        Self {
            page: path.map(|path| Page { path, sites, files }),
            ..self
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
        if let Some(Page { path, sites, files }) = &self.page {
            require_page_file(path, sites, files)?;
            let mut page = Vec::new();
            document::write_page(&self.warned(answer.page()), &command_line(), &mut page)?;
            write_page_file(path, &page)?;
        }
        match self.format {
            Format::Human => self.style().write(&self.warned(answer.document()), out)?,
            Format::Markdown => {
                let document = self.warned(answer.document());
                write_markdown(&document, &command_line(), self.text.full, out)?;
            }
            Format::Json => write_json(answer, self.warnings, out)?,
            other => answer.write_as(other, self.cells, out)?,
        }
        Ok(out.flush()?)
    }

    /// On a terminal one screen or in full, elsewhere all rows, since another program reads them.
    fn style(&self) -> TerminalStyle {
        let TextArgs { full, wide } = self.text;
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

/// Parses one of the formats that a command has.
pub(crate) fn format(offered: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let values = offered.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(values).try_map(|name| Format::from_str(&name, false))
}

/// The lines of a screen, of which a terminal may have fewer.
const SCREEN_LINES: usize = 24;
/// The lines of a screen that the answer leaves free: for the note about the site, and for the
/// prompt.
const FREE_LINES: usize = 2;
/// The command line of this process as a shell takes it.
pub(crate) fn command_line() -> String {
    let mut words = vec!["jsf".to_owned()];
    words.extend(std::env::args_os().skip(1).map(quoted));
    words.join(" ")
}

/// An argument as a shell takes it.
fn quoted(argument: std::ffi::OsString) -> String {
    /// The most characters of an argument; the document shows a formula anyway.
    const MAX_ARGUMENT: usize = 200;
    let argument = argument.to_string_lossy();
    let is_plain =
        !argument.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_./=:,@%+".contains(c));
    match argument.char_indices().nth(MAX_ARGUMENT) {
        Some((end, _)) => format!("'{}…'", argument[..end].replace('\'', r"'\''")),
        None if is_plain && !argument.is_empty() => argument.into_owned(),
        None => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// Whether a terminal shows standard output.
pub(crate) fn is_on_screen() -> bool {
    screen_height().is_some()
}

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
    let of_terminal = || Some(terminal_size_of(io::stdout())?.0.0.into());
    positive_variable("COLUMNS").or_else(of_terminal)
}

/// The value of an environment variable that is a positive number.
fn positive_variable(name: &str) -> Option<usize> {
    match std::env::var(name).ok()?.parse() {
        Ok(value @ 1..) => Some(value),
        _ => None,
    }
}
