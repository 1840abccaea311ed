//! The command line: parses the arguments of the process, calls a command, and turns its result
//! into text and an exit code.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use job_sort_formula::diagnostic::Severity;
use jsf_site::{RankedQueue, SiteError};
use signal_hook::consts::{SIGABRT, SIGXFSZ};
use signal_hook::flag::register_conditional_shutdown;
use thiserror::Error;

use crate::cli::args::{Cli, ColorArgs, Command};
use crate::cli::help::arranged;
use crate::cli::queue::looks_like_an_option;
use crate::view::words::{printable, printable_lines};
use crate::{STACK_SIZE, commands};

pub mod args;
mod help;
pub(crate) mod output;
pub(crate) mod page_file;
pub(crate) mod queue;
pub mod site;

pub(crate) use crate::cli::args::{
    AnswerArgs, CsvArgs, EntityArgs, FilterArgs, FormulaArgs, FormulaOptions, JobArgs, QueueArgs,
    ReportArgs, listed_name, number_of_jobs,
};
pub(crate) use crate::cli::output::{
    Output, Progress, Warnings, draw, draw_all, format, in_options, report, report_errors,
    show_site, warn, warn_all, with_options,
};
pub(crate) use crate::cli::queue::{
    GivenFormula, MAX_UNKNOWN, OpenedQueue, check_and_report, read_formula, select_rows_or_warn,
    unknown_jobs_error,
};

/// Does what the arguments of this process ask for. Standard error says why it cannot be done.
pub fn run_process() -> ExitCode {
    let result = match parse(std::env::args_os()) {
        Ok(arguments) => run(&arguments),
        Err(answer) => print_answer(answer),
    };
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) | Err(CliError::Findings) => ExitCode::from(1),
        Err(CliError::Arguments) => ExitCode::from(2),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // there is no other place to say that standard error cannot be written
            let _ = writeln!(anstream::stderr(), "jsf: {}", printable(&error.to_string()));
            ExitCode::from(2)
        }
    }
}

/// Runs a command.
fn run(arguments: &Cli) -> Result<Outcome, CliError> {
    arguments.color.write_global();
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = match &arguments.command {
        Command::Rank(arguments) => commands::rank::run::run(arguments, &mut out)?,
        Command::Explain(arguments) => commands::explain::run::run(arguments, &mut out)?,
        Command::Page(arguments) => commands::page::run::run(arguments, &mut out)?,
        Command::Trajectory(arguments) => commands::trajectory::run::run(arguments, &mut out)?,
        Command::Check(arguments) => commands::check::run::run(arguments, &mut out)?,
        Command::Compare(arguments) => commands::compare::run::run(arguments, &mut out)?,
        Command::Shares(arguments) => commands::shares::run::run(arguments, &mut out)?,
        Command::Cycle(arguments) => commands::cycle::run::run(arguments, &mut out)?,
        Command::Simulate(arguments) => commands::simulate::run::run(arguments, &mut out)?,
        Command::Fit(arguments) => commands::fit::run::run(arguments, &mut out)?,
        Command::Replay(arguments) => commands::replay::run::run(arguments, &mut out)?,
        Command::Translate(arguments) => commands::translate::run(arguments, &mut out)?,
        Command::Fmt(arguments) => commands::fmt::run(arguments, &mut out)?,
        Command::Codes(arguments) => commands::codes::run(arguments, &mut out)?,
        Command::Pbsfs(arguments) => commands::pbsfs::run(arguments)?,
        Command::Completions { shell } => help::write_completions(*shell, &mut out)?,
        Command::Names(arguments) => commands::names::run(arguments, &mut out)?,
        Command::Capture {
            without_environment,
        } => commands::write_capture_script(*without_environment, &mut out)?,
        Command::Man { command } => help::write_manual(command.as_deref(), &mut out)?,
    };
    out.flush()?;
    Ok(outcome)
}

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

    /// What a ranking says of its formula: findings if it cannot work, fails for every job, or
    /// failed under `--on-error fail`.
    pub(crate) fn of_ranking(queue: &RankedQueue) -> Self {
        let ranking = &queue.ranking;
        let mut is_fine = ranking.failure().is_none();
        for finding in &queue.findings {
            is_fine &= finding.severity != Severity::Error;
        }
        let jobs = ranking.scores().count();
        let all_fail = jobs > 0 && ranking.error_count() == jobs;
        Self::fine_if(is_fine && !all_fail)
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
    /// The formula cannot be used, and what is found about it is drawn: exit code 1.
    #[error("the formula cannot be used")]
    Findings,
    /// The arguments cannot be parsed, and standard error says why.
    #[error("the arguments cannot be parsed")]
    Arguments,
}

impl CliError {
    /// Whether the reader has closed the output, which is not an error.
    fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn content(message: impl ToString) -> Self {
        Self::Site(SiteError::Content(message.to_string().into()))
    }
}

/// Parses the arguments of this process.
///
/// # Errors
/// They are not valid, or ask for help or the version.
fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let arguments: Vec<OsString> = arguments.collect();
    let error = match Cli::try_parse_from(&arguments) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    // only `--help` and `-h` need the help arranged
    if error.kind() == ErrorKind::DisplayHelp {
        arranged(Cli::command()).try_get_matches_from(&arguments)?;
    }
    Err(with_tip(error, &arguments))
}

/// Prints what `clap` answers instead of a command: the help or the version to standard output, and
/// an error in the arguments to standard error. What it repeats of the arguments is escaped, as
/// everywhere.
///
/// # Errors
/// [`CliError::Arguments`] for an error in the arguments.
fn print_answer(mut answer: clap::Error) -> Result<Outcome, CliError> {
    if let Some(color) = ColorArgs::find(std::env::args_os()) {
        color.write_global();
    }
    let mut escaped = Vec::new();
    for (kind, value) in answer.context() {
        let mut value = value.clone();
        match &mut value {
            ContextValue::String(text) => *text = printable(text).into_owned(),
            ContextValue::Strings(texts) => {
                for text in texts {
                    *text = printable(text).into_owned();
                }
            }
            _ => continue,
        }
        escaped.push((kind, value));
    }
    for (kind, value) in escaped {
        answer.insert(kind, value);
    }
    if !answer.use_stderr() {
        answer.print()?;
        io::stdout().flush()?;
        return Ok(Outcome::Fine);
    }
    let mut rendered = answer.render().ansi().to_string();
    // the reason why a value is refused may repeat it
    if let Some(reason) = std::error::Error::source(&answer).map(ToString::to_string)
        && let Cow::Owned(escaped) = printable_lines(&reason)
    {
        rendered = rendered.replace(&reason, &escaped);
    }
    // there is no other place to say that nothing can be written
    let _ = write!(anstream::stderr(), "{rendered}");
    Err(CliError::Arguments)
}

/// The error, with a tip if an argument is probably a formula, or a part of one that the shell has
/// split.
fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && error.get(ContextKind::Suggested).is_none()
        && let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg)
        && !argument.starts_with("--")
        && let Some(tip) = tip_for(arguments)
    {
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// How the command takes a formula; `None` if it takes none, or if there is no command.
fn tip_for(arguments: &[OsString]) -> Option<String> {
    let mut cli = Cli::command();
    // the options of every command
    cli.build();
    let mut words = arguments.iter().filter_map(|argument| argument.to_str());
    let command = words.find_map(|word| cli.find_subcommand(word))?;
    let mut takes_formula = false;
    let mut known = Vec::new();
    for argument in command.get_arguments() {
        takes_formula |= argument.is_positional() && argument.get_id() == "formula";
        known.extend(argument.get_long_and_visible_aliases().unwrap_or_default());
    }
    if !takes_formula {
        let takes_new = known.contains(&"new");
        return takes_new.then(|| "give the new formula with --new, in single quotes".to_owned());
    }
    // what begins with a hyphen may be a formula, so clap takes the first unknown option for it
    for word in words {
        let option = word.trim_start_matches('-');
        let name = option.split('=').next().unwrap_or_default();
        if looks_like_an_option(word) && !known.contains(&name) {
            return Some(if option == "formula" {
                "the formula has no option: give it by itself, in single quotes".to_owned()
            } else {
                format!("there is no option --{option}")
            });
        }
    }
    Some("a formula is one argument: put it into single quotes".to_owned())
}

/// The exit code of an internal error, as in BSD's `sysexits.h`.
const INTERNAL_ERROR: i32 = 70;

/// Runs the command on a thread with a stack of 8 MiB, or on this one if the system starts no
/// other.
pub fn with_enough_stack(run: impl Fn() -> ExitCode + Sync) -> ExitCode {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_SIZE);
        match thread.spawn_scoped(scope, &run) {
            // a panic ends the process
            Ok(running) => running.join().unwrap_or(ExitCode::FAILURE),
            Err(_) => run(),
        }
    })
}

/// From now on a panic in any thread writes one line to standard error and ends the process with
/// exit code 70.
pub fn exit_on_panic() {
    panic::set_hook(Box::new(|panic| {
        if is_refused_memory(panic) {
            let _ = writeln!(
                std::io::stderr(),
                "jsf: memory allocation failed while zstd was decompressed or a thread was started"
            );
            process::exit(2);
        }
        let _ = writeln!(std::io::stderr(), "{}", message(panic));
        process::exit(INTERNAL_ERROR);
    }));
}

/// From now on an abort ends the process with exit code 2. The runtime aborts when an allocation
/// fails, after it has written how many bytes it could not get, and when a stack is exhausted; what
/// was written so far is useless in either case.
pub fn exit_on_abort() {
    static ALWAYS: AtomicBool = AtomicBool::new(true);
    // without the handler the process ends too, but as an aborted one
    let _ = register_conditional_shutdown(SIGABRT, 2, &ALWAYS);
}

/// From now on a file that would exceed the limit of `ulimit -f` is an error of the function that
/// writes it.
pub fn ignore_limit_of_file_size() {
    // without the handler the process ends, as it would have
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default());
}

/// Whether the system refused memory to the decoder of zstd, or to the runtime for the signal stack
/// of a thread, which both report this by a panic.
fn is_refused_memory(panic: &PanicHookInfo<'_>) -> bool {
    let is_in = |file: &str| panic.location().is_some_and(|at| at.file().contains(file));
    is_in("sys/pal/unix/stack_overflow.rs")
        || is_in("ruzstd") && text(panic).is_some_and(|text| text.starts_with("Allocating"))
}

fn text<'p>(panic: &'p PanicHookInfo<'_>) -> Option<&'p str> {
    let payload = panic.payload();
    match payload.downcast_ref::<String>() {
        Some(text) => Some(text),
        None => payload.downcast_ref::<&str>().copied(),
    }
}

/// One line without control characters.
fn message(panic: &PanicHookInfo<'_>) -> String {
    let place = panic
        .location()
        .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let text = text(panic).unwrap_or("unknown error").escape_debug();
    format!(
        "jsf: internal error{place}: {text}; please report this line, the command and its files to the maintainers"
    )
}
