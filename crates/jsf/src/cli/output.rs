//! What the command writes: the answer to standard output, and as a page to a file; and messages to
//! standard error: findings, warnings, some of which are a part of an answer too, and a line on the
//! terminal while work takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use job_sort_formula::diagnostic::{Diagnostic, Message, Need, limit_each_kind};
use job_sort_formula::fairshare::AssessedTree;
use job_sort_formula::rank::{Consequence, OnError};
use jsf_site::{FormulaText, RankedQueue, Role, SharesRequest, Site};
use terminal_size::{Height, terminal_size_of};

use crate::answer::{Answer, Cells, Format, write_json};
use crate::cli::CliError;
use crate::cli::args::{AnswerArgs, TextArgs};
use crate::cli::page_file::PageFile;
use crate::cli::site::SiteArgs;
use crate::view::document::{self, Document, Section, TerminalStyle, write_markdown};
use crate::view::findings::{draw_finding, limit_each_code, more_findings};
use crate::view::words::{count, printable};

/// How an answer is written.
pub(crate) struct Output<'a> {
    /// The format, and how much of the answer people see.
    pub(crate) answer: AnswerArgs,
    /// Whether the number of rows was asked for: people see all of them.
    pub(crate) has_asked_rows: bool,
    /// For an answer whose cells may be very long: the width of its tables where there is no
    /// terminal.
    pub(crate) piped_width: Option<usize>,
    pub(crate) cells: Cells,
    /// The warnings about what it is computed from, which are a part of it.
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
            cells: Cells::Plain,
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
    positive_variable("COLUMNS").or_else(|| Some(terminal_size_of(io::stdout())?.0.0.into()))
}

/// The value of an environment variable that is a positive number.
fn positive_variable(name: &str) -> Option<usize> {
    match std::env::var(name).ok()?.parse() {
        Ok(value @ 1..) => Some(value),
        _ => None,
    }
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

/// Writes a message to standard error.
pub(crate) fn report(kind: &str, message: impl std::fmt::Display) {
    let _ = writeln!(
        anstream::stderr(),
        "jsf: {kind}: {}",
        printable(&message.to_string())
    );
}

/// Writes a warning to standard error.
pub(crate) fn warn(message: impl std::fmt::Display) {
    report("warning", message);
}

/// Writes what was found in `--site` or in the site of the environment, and what is missing, to
/// standard error: for people a line, with -v every file.
pub(crate) fn show_site(arguments: &SiteArgs, site: &Site, is_document: bool) {
    let Some(given) = arguments.given_site() else {
        return;
    };
    let prefix = given.prefix();
    if arguments.verbose {
        for (index, line) in site.summary().iter().enumerate() {
            let prefix = if index == 0 { &*prefix } else { "" };
            report("site", format_args!("{prefix}{line}"));
        }
    } else if is_document {
        let headline = site.files().headline();
        report(
            "site",
            format_args!("{prefix}{headline} (-v lists the files)"),
        );
    }
}

/// Writes warnings to standard error: of each kind the first ten, then how many more there are.
pub(crate) fn warn_all<M: Clone + Into<Message>>(messages: &[M]) {
    lines(messages).iter().for_each(warn);
}

/// Draws findings on standard error: of each code the first ten, then how many more there are.
pub(crate) fn draw_all(source: &FormulaText, findings: &[Diagnostic]) {
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
    let width =
        terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
    let drawn = draw_finding(source, &found.clone().worded(in_options), coloured, width);
    let _ = writeln!(anstream::stderr(), "{drawn}\n");
}

/// A message with the options that give what it asks for.
pub(crate) fn with_options(message: &Message) -> String {
    message.worded(in_options)
}

/// What is asked for, and the options that give it.
pub(crate) fn in_options(need: Need) -> String {
    let options = match need {
        Need::ActiveEntities => "--active NAME,…",
        Need::CommandOutput => "-f FILE or --server FILE",
        Need::Entity => "--entity NAME",
        Need::Formula => "-f FILE, --server FILE, --sched-priv DIR or --site PATH",
        Need::OpenPbsNumbers => "no --numbers, no --on-error null",
        Need::Policy(name) => return format!("{need} (--policy {name})"),
        Need::PolicyOfRelease(..) => "--policy NAME, --slurm-release NAME",
        Need::Processors => "--nodes FILE, --processors N",
        Need::Moment => "--at TIME",
        Need::Python => "--python X.Y, or `python_version.txt` in the site's folder",
        Need::PythonNumbers => "--numbers decimal",
        Need::Queue => "--queue FILE",
        Need::Queues => "--queues FILE",
        Need::ResourceType => "--resource NAME=TYPE",
        Need::Resources => "--resources FILE",
        Need::SchedConfig => "--sched-config FILE",
        Need::ServerSettings => "--server FILE",
        Need::Site => "--site PATH",
        Need::SlurmConf => "--slurm-conf FILE",
        Need::Sshare => "--tree FILE, or `sshare.txt` in the site's folder",
        Need::Threshold => "--threshold X",
        Need::Tree => "--sched-priv DIR, --tree FILE",
    };
    format!("{need} ({options})")
}

/// Counts the jobs with an error on standard error, for formats without a summary: a line for each
/// consequence in OpenPBS. `formula` names the formula.
pub(crate) fn report_errors(on_error: OnError, formula: &str, queue: &RankedQueue) {
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
        report(
            kind,
            format_args!(
                "{formula} fails for {jobs}, first for `{}`: {error}; {effect}",
                queue.table.id(row)
            ),
        );
    }
}

/// Warnings, each of them once: of each kind the first ten, then how many more there are. Standard
/// error has those of the answer too, unless a terminal shows the answer: a person reads them once.
pub(crate) struct Warnings {
    /// Whether those of the answer are left to it.
    are_left: bool,
    /// Those that standard error has.
    shown: Vec<String>,
    of_answer: Vec<String>,
}

impl Warnings {
    /// No warnings yet. `is_document`: people read the answer.
    pub(crate) fn new(is_document: bool) -> Self {
        Self {
            are_left: is_document && is_on_screen(),
            shown: Vec::new(),
            of_answer: Vec::new(),
        }
    }

    /// Adds the warnings about the files of a site, of which these belong to the answer.
    pub(crate) fn add_site(&mut self, site: &Site, of_answer: &[Message]) {
        let mut others = site.warnings();
        others.retain(|warning| !of_answer.contains(warning));
        self.show(&others);
        self.add(of_answer);
    }

    /// Shows warnings that do not belong to the answer.
    pub(crate) fn show<M: Clone + Into<Message>>(&mut self, messages: &[M]) {
        self.show_lines(lines(messages));
    }

    /// Adds warnings that belong to the answer.
    pub(crate) fn add<M: Clone + Into<Message>>(&mut self, messages: &[M]) {
        let mut lines = lines(messages);
        if !self.are_left {
            self.show_lines(lines.clone());
        }
        lines.retain(|line| !self.of_answer.contains(line));
        self.of_answer.extend(lines);
    }

    fn show_lines(&mut self, mut lines: Vec<String>) {
        lines.retain(|line| !self.shown.contains(line));
        lines.iter().for_each(warn);
        self.shown.extend(lines);
    }

    /// The lines of the answer.
    pub(crate) fn into_answer(mut self) -> Vec<String> {
        std::mem::take(&mut self.of_answer)
    }
}

impl Drop for Warnings {
    /// Without an answer, standard error alone can have them.
    fn drop(&mut self) {
        if self.are_left {
            self.of_answer.iter().for_each(warn);
        }
    }
}

fn lines<M: Clone + Into<Message>>(messages: &[M]) -> Vec<String> {
    limit_each_kind(
        messages
            .iter()
            .map(|message| with_options(&message.clone().into())),
    )
}

/// How long work takes before it is shown, and how often the line is rewritten.
const INTERVAL: Duration = Duration::from_secs(1);
/// Erases the line of the cursor.
const ERASE_LINE: &[u8] = b"\r\x1b[K";

/// Shows on standard error what is being done and for how long, if standard error is a terminal.
/// The line is erased when the value is dropped.
pub(crate) struct Progress {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
    /// The percentage that is done; more than 100 if it is not known.
    per_cent: Arc<AtomicUsize>,
}

impl Progress {
    pub(crate) fn start(what: &'static str) -> Self {
        let per_cent = Arc::new(AtomicUsize::new(usize::MAX));
        let mut thread = None;
        if io::stderr().is_terminal() {
            let (sender, receiver) = mpsc::channel();
            let shown = Arc::clone(&per_cent);
            let show = move || show(what, &receiver, &shown);
            let started = thread::Builder::new().spawn(show);
            thread = started.ok().map(|thread| (sender, thread));
        }
        Self { thread, per_cent }
    }

    /// Shows how much of the work is done.
    pub(crate) fn show_fraction(&self, done: usize, all: usize) {
        let per_cent = done.saturating_mul(100).checked_div(all);
        self.per_cent
            .store(per_cent.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
}

/// Shows the line until the sender is dropped.
fn show(what: &str, receiver: &Receiver<()>, per_cent: &AtomicUsize) {
    let begin = Instant::now();
    let mut is_shown = false;
    while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(INTERVAL) {
        let mut out = io::stderr().lock();
        let _ = out.write_all(ERASE_LINE);
        let _ = write!(out, "jsf: {what}, {} s", begin.elapsed().as_secs());
        if let done @ 0..=100 = per_cent.load(Ordering::Relaxed) {
            let _ = write!(out, ", {done} %");
        }
        let _ = out.flush();
        is_shown = true;
    }
    if is_shown {
        let _ = io::stderr().write_all(ERASE_LINE);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
