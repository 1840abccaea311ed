//! How a command ends: its answer, written to standard output, and as a page to a file; what it found, or
//! why it cannot be carried out.
//!
//! A page replaces the file of another page alone, of which a reader sees either the old version or
//! the new one, never a part of it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::OnError;
use jsf_site::{FormulaText, Site, SiteError};
use terminal_size::{Height, terminal_size_of};
use thiserror::Error;

use crate::answers::{Answer, AnswerError, CsvText, Format, write_json};
use crate::cli::args::{AnswerArgs, TextArgs};
use crate::cli::messages::{print_message, show_rankings, with_options};
use crate::view::document::{self, Document, GENERATOR, Section, TerminalStyle, write_markdown};

/// The result of a command that could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No findings: exit code 0.
    Fine,
    /// Findings: exit code 1.
    Findings,
}

impl Outcome {
    /// Findings unless all is fine.
    pub(crate) fn fine_if(is_fine: bool) -> Self {
        if is_fine { Self::Fine } else { Self::Findings }
    }

    /// What the rankings of an answer say of their formulas: findings if one cannot work, fails for
    /// every job, or failed under `--on-error fail`.
    pub(crate) fn of_answer(answer: &impl Answer) -> Self {
        let mut is_fine = true;
        for (given, queue) in answer.rankings() {
            let ranking = &queue.ranking;
            let jobs = ranking.scores().count();
            // a script would take it for a formula that works
            let all_fail = jobs > 0 && ranking.error_count() == jobs;
            let findings = given.findings_in(queue);
            let has_errors = findings
                .iter()
                .any(|found| found.severity == Severity::Error);
            is_fine &= ranking.failure().is_none() && !all_fail && !has_errors;
        }
        Self::fine_if(is_fine)
    }
}

/// Why a command cannot be carried out, which gives exit code 2 unless it is what was found.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file of the site cannot be used, or something is missing.
    #[error("{}", with_options(&.0.message()))]
    Site(#[from] SiteError),
    /// The arguments are invalid, or contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The result cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// The formula cannot be used: exit code 1. What is found about it is drawn when the command ends.
    #[error("the formula cannot be used")]
    Formula(Box<FormulaText>, Vec<Diagnostic>),
    /// The arguments cannot be parsed, and standard error says why.
    #[error("the arguments cannot be parsed")]
    Arguments,
}

impl From<AnswerError> for CliError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Question(message) => Self::Usage(with_options(&message)),
            AnswerError::Site(error) => Self::Site(error),
            AnswerError::Syntax(source, finding) => Self::Formula(source, vec![*finding]),
            AnswerError::Unusable(source, findings) => Self::Formula(source, findings),
            AnswerError::Interrupted => Self::usage("interrupted"),
        }
    }
}

impl CliError {
    /// Whether the reader has closed the output, which is not an error.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn content(message: impl ToString) -> Self {
        Self::Site(SiteError::Content(message.to_string().into()))
    }
}

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

/// The file for a page, and what the command reads, which no page may replace.
pub(crate) struct PageFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) sites: Vec<&'a Site>,
    pub(crate) read_files: Vec<&'a PathBuf>,
}

impl PageFile<'_> {
    /// Refuses a path to which no page is written: a folder, a file that is no page, or a file that
    /// the command reads.
    pub(crate) fn require_replaceable(&self) -> Result<(), CliError> {
        let path = self.path;
        let mut is_read = self.read_files.iter().any(|file| is_same(file, path));
        for site in &self.sites {
            is_read |= site.files().paths().any(|file| is_same(file, path));
        }
        let shown = path.display();
        let obstacle = if is_read {
            format!(
                "the page would replace `{shown}`, which the command reads: give it another name"
            )
        } else if names_a_folder(path) {
            format!("`{shown}` is a folder: give the page the name of a file")
        } else if is_other_file(path) {
            format!(
                "`{shown}` exists and is not a page of jsf: give the page another name, or remove the file"
            )
        } else {
            return Ok(());
        };
        Err(CliError::usage(obstacle))
    }

    /// Writes the page at once, and says where it is.
    pub(crate) fn write(&self, page: &[u8]) -> Result<(), CliError> {
        let shown = self.path.display();
        replace_file(self.path, page)
            .map_err(|error| io::Error::new(error.kind(), format!("`{shown}`: {error}")))?;
        print_message("note", format_args!("the page is in `{shown}`"));
        Ok(())
    }
}

/// Whether the path is that of a folder, or is written as one.
fn names_a_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let last = bytes
        .rsplit(|&byte| std::path::is_separator(byte.into()))
        .next();
    path.is_dir() || matches!(last, Some(b"" | b"." | b".."))
}

fn is_same(file: &Path, path: &Path) -> bool {
    match (file.canonicalize(), path.canonicalize()) {
        // one that does not exist is not read either
        (Ok(file), Ok(path)) => file == path,
        _ => false,
    }
}

/// Whether the path is a file with other content than a page of jsf: the command may have read it
/// through another file.
fn is_other_file(path: &Path) -> bool {
    /// The first bytes of a page, which contain its mark.
    const MARKED: u64 = 4096;
    let mut start = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
        && file.take(MARKED).read_to_end(&mut start).is_ok()
    {
        return !start.is_empty() && !String::from_utf8_lossy(&start).contains(GENERATOR);
    }
    false
}

/// Replaces a file, or the one that a symbolic link points to, by a new one with the permissions of
/// a new file. A device, such as `/dev/null`, is written to; a pipe is refused, because nothing may
/// ever read it.
fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.file_type().is_char_device() => {
            return OpenOptions::new().write(true).open(path)?.write_all(bytes);
        }
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a file")),
        _ => {}
    }
    let target = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && !is_trusted(&found) => {
            return Err(io::Error::other(
                "it is a symbolic link that another user made: give the path of the file itself",
            ));
        }
        Ok(found) if found.is_symlink() => path.canonicalize()?,
        _ => path.to_owned(),
    };
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // in the folder of the old file, since a rename stays within a file system; the umask applies to
    // the permissions, which are those of the user alone by default
    let mut new = tempfile::Builder::new()
        .prefix(".jsf-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    new.write_all(bytes)?;
    // else the new name may be there after a crash, and the content not
    new.as_file().sync_all()?;
    new.persist(&target)?;
    Ok(())
}

/// Whether root or the user of this process made the link: somebody else's could lead to any file.
fn is_trusted(link: &Metadata) -> bool {
    link.uid() == 0 || link.uid() == rustix::process::geteuid().as_raw()
}
