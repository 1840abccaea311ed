//! The one place that writes answers: to standard output, and as a page to a file, of which a
//! reader sees either the old version or the new one, never a part of it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use job_sort_formula::fairshare::AssessedTree;
use jsf_site::{Role, SharesRequest, Site};
use terminal_size::{Height, terminal_size_of};

use crate::answer::{Answer, Cells, Format, write_json};
use crate::cli::args::{AnswerArgs, TextArgs};
use crate::cli::{CliError, report};
use crate::view::document::{self, Document, GENERATOR, Section, TerminalStyle, write_markdown};

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
fn command_line() -> String {
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

/// Refuses a path to which no page is written: a folder, a file that is no page, a file of one of
/// the sites, or one of `files`, which the command reads.
pub(crate) fn require_page_file(
    path: &Path,
    sites: &[&Site],
    files: &[&PathBuf],
) -> Result<(), CliError> {
    let mut is_read = files.iter().any(|file| is_same(file, path));
    for site in sites {
        is_read |= site.files().paths().any(|file| is_same(file, path));
    }
    let shown = path.display();
    let obstacle = if is_read {
        format!("the page would replace `{shown}`, which the command reads: give it another name")
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

/// Writes a page to a file at once: a reader sees either all of it or nothing.
pub(crate) fn write_page_file(path: &Path, page: &[u8]) -> Result<(), CliError> {
    let shown = path.display();
    replace_file(path, page)
        .map_err(|error| io::Error::new(error.kind(), format!("`{shown}`: {error}")))?;
    report("note", format_args!("the page is in `{shown}`"));
    Ok(())
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

/// The fair-share tree of a site under the policy in force; `None` if it has none.
pub(crate) fn tree(site: &Site) -> Result<Option<AssessedTree>, CliError> {
    if !site.files().has(Role::Tree) && !site.files().has(Role::ResourceGroup) {
        return Ok(None);
    }
    let shares = site.shares(&SharesRequest::default())?;
    Ok(shares.into_iter().next().map(|shares| shares.assessed))
}

/// The number of characters in a line of a finding.
pub(crate) const WIDTH: usize = 110;

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
    let mut new = tempfile::Builder::new()
        .prefix(".jsf-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().sync_all()?;
    new.persist(&target)?;
    Ok(())
}

/// Whether root or the user of this process made the link: somebody else's could lead to any file.
fn is_trusted(link: &Metadata) -> bool {
    link.uid() == 0 || link.uid() == rustix::process::geteuid().as_raw()
}
