//! What a command shows to people: the document on standard output, or as a page in a file.

use std::io::{self, IsTerminal, Write};

use terminal_size::{Height, Width, terminal_size_of};

use crate::cli::CliError;
use crate::cli::args::TextArgs;
use crate::view::document::{Document, TerminalStyle, write_markdown};

/// The lines of a screen, of which a terminal may have fewer.
const SCREEN_LINES: usize = 24;
/// The lines of a screen that the answer leaves free: for the note about the site, and for the
/// prompt.
const FREE_LINES: usize = 2;
/// The width of a table of a command whose cells may be very long, where standard output is not a
/// terminal.
pub(crate) const PIPED_WIDTH: usize = 120;

/// How much of a document is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// What the options say.
    pub(crate) text: TextArgs,
    /// Whether the number of rows was asked for: all of them are shown.
    pub(crate) has_asked_rows: bool,
    /// The width of tables where there is no terminal.
    pub(crate) piped_width: Option<usize>,
}

impl From<TextArgs> for Shown {
    fn from(text: TextArgs) -> Self {
        Self {
            text,
            has_asked_rows: false,
            piped_width: None,
        }
    }
}

/// Writes a document as text: on a terminal one screen or in full, elsewhere with all rows, since
/// another program reads them.
pub(crate) fn write_text(
    document: &Document<'_>,
    shown: impl Into<Shown>,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let Shown {
        text: TextArgs { full, wide },
        has_asked_rows,
        piped_width,
    } = shown.into();
    let width = if wide { None } else { terminal_width() };
    let height = if has_asked_rows {
        usize::MAX
    } else {
        screen_height().unwrap_or(usize::MAX)
    };
    let style = TerminalStyle {
        table_width: if wide { None } else { width.or(piped_width) },
        prose_width: width,
        height: if full { None } else { Some(height) },
        coloured: anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
    };
    Ok(style.write(document, out)?)
}

/// Writes a document for a mail or a ticket.
pub(crate) fn write_as_markdown(
    document: &Document<'_>,
    shown: impl Into<Shown>,
    out: &mut impl Write,
) -> Result<(), CliError> {
    Ok(write_markdown(
        document,
        &command_line(),
        shown.into().text.full,
        out,
    )?)
}

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
    let lines = positive_variable("JSF_LINES").or_else(terminal_lines)?;
    Some(lines.saturating_sub(FREE_LINES).max(1))
}

fn terminal_lines() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    Some(match terminal_size_of(io::stdout()) {
        Some((_, Height(lines))) => SCREEN_LINES.min(lines.into()),
        None => SCREEN_LINES,
    })
}

/// The number of characters in a line: what the environment variable COLUMNS says, else the
/// terminal's; `None` if standard output is not a terminal.
fn terminal_width() -> Option<usize> {
    let columns = positive_variable("COLUMNS");
    if columns.is_some() {
        return columns;
    }
    let (Width(columns), _) = terminal_size_of(io::stdout())?;
    Some(columns.into())
}

/// The value of an environment variable that is a positive number.
fn positive_variable(name: &str) -> Option<usize> {
    match std::env::var(name).ok()?.parse() {
        Ok(value @ 1..) => Some(value),
        _ => None,
    }
}
