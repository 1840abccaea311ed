//! The process of the command `jsf`: its commands, what becomes of its arguments, and its exit code,
//! also where it panics or the system ends it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use clap::error::{ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use signal_hook::consts::{SIGABRT, SIGXFSZ};
use signal_hook::flag::register_conditional_shutdown;

use crate::cli::help::{arranged, with_tip, write_completions, write_manual};
use crate::cli::messages::draw_all;
use crate::cli::outcome::{CliError, Outcome};
use crate::view::words::{printable, printable_lines};
use crate::{STACK_SIZE, commands};

/// Shows what a PBS job_sort_formula will do, before the scheduler uses it.
#[derive(Debug, Parser)]
#[command(
    name = "jsf",
    version,
    long_version = concat!(env!("CARGO_PKG_VERSION"), " (", env!("JSF_BUILD"), ")"),
    after_help = "\
Examples:
  jsf check 'pow(2, -(fairshare_tree_usage/fairshare_perc))'
  jsf rank -f examples/formulas/alcf.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv --top 10
  jsf compare --new 'fairshare_factor * 100' --site examples/site

Exit codes: 0 success, 1 findings, 2 usage error, or a file that cannot be read or written; 70 is an error in jsf itself."
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Whether to use colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check whether qmgr accepts a formula and whether it works for every job
    Check(commands::check::CheckArgs),
    /// Show the value and the rank of every job
    Rank(commands::rank::RankArgs),
    /// Show what another formula, tree, policy or threshold would change in the queue
    Compare(commands::compare::CompareArgs),
    /// Show why jobs have their places in the queue
    Explain(commands::explain::ExplainArgs),
    /// Write a page for a browser on which you edit the formula and see the queue change
    Page(commands::page::PageArgs),
    /// Show how ranks change while jobs wait, and which jobs overtake
    Trajectory(commands::trajectory::TrajectoryArgs),
    /// Show the fair-share tree with the values that a policy computes
    Shares(commands::shares::SharesArgs),
    /// Show which jobs start next, and when and why the others wait
    Cycle(commands::cycle::CycleArgs),
    /// Simulate a log of jobs under a formula, and report how long they would wait
    Simulate(commands::simulate::SimulateArgs),
    /// Find the numbers of a formula by wishes about jobs or by goals
    Fit(commands::fit::FitArgs),
    /// Compare the values in a scheduler's log with jsf's, and explain the differences
    Replay(commands::replay::ReplayArgs),
    /// Carry a formula over to Slurm or PBS
    Translate(commands::translate::TranslateArgs),
    /// Print a formula with normalised spaces
    Fmt(commands::fmt::FmtArgs),
    /// List the kinds of findings, or explain one
    Codes(commands::codes::CodesArgs),
    /// Print what pbsfs prints, without root and without a server
    Pbsfs(commands::pbsfs::PbsfsArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  jsf completions bash")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print every name and function that a formula may use
    Names(commands::names::NamesArgs),
    /// Print a shell script that collects what --site reads
    Capture(commands::capture::CaptureArgs),
    /// Print a manual page, in roff
    #[command(after_help = "Examples:\n  jsf man\n  jsf man rank > jsf-rank.1")]
    Man {
        /// The command whose page to print [default: the page that names all commands]
        command: Option<String>,
    },
}

/// Does what the arguments of this process ask for. Standard error says why it cannot be done.
pub fn run_process() -> ExitCode {
    let result = match parse(std::env::args_os()) {
        Ok(arguments) => run(&arguments),
        Err(answer) => print_answer(answer),
    };
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(CliError::Formula(source, findings)) => {
            draw_all(&source, &findings);
            ExitCode::from(1)
        }
        Err(CliError::Arguments) => ExitCode::from(2),
        // `jsf rank | head` has got what it wants
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
        Command::Rank(arguments) => arguments.run(&mut out)?,
        Command::Explain(arguments) => arguments.run(&mut out)?,
        Command::Page(arguments) => arguments.run(&mut out)?,
        Command::Trajectory(arguments) => arguments.run(&mut out)?,
        Command::Check(arguments) => arguments.run(&mut out)?,
        Command::Compare(arguments) => arguments.run(&mut out)?,
        Command::Shares(arguments) => arguments.run(&mut out)?,
        Command::Cycle(arguments) => arguments.run(&mut out)?,
        Command::Simulate(arguments) => arguments.run(&mut out)?,
        Command::Fit(arguments) => arguments.run(&mut out)?,
        Command::Replay(arguments) => arguments.run(&mut out)?,
        Command::Translate(arguments) => arguments.run(&mut out)?,
        Command::Fmt(arguments) => arguments.run(&mut out)?,
        Command::Codes(arguments) => arguments.run(&mut out)?,
        // it asks whether standard output is a terminal, which a buffered writer does not tell
        Command::Pbsfs(arguments) => arguments.run()?,
        Command::Completions { shell } => write_completions(Cli::command(), *shell, &mut out)?,
        Command::Names(arguments) => arguments.run(&mut out)?,
        Command::Capture(arguments) => arguments.run(&mut out)?,
        Command::Man { command } => write_manual(Cli::command(), command.as_deref(), &mut out)?,
    };
    // dropped, a writer does not say that it cannot write the rest
    out.flush()?;
    Ok(outcome)
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
    Err(with_tip(error, Cli::command(), &arguments))
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

/// Whether to use colours.
#[derive(Debug, Clone, Copy, Args)]
pub struct ColorArgs {
    /// When to use colours; NO_COLOR is respected
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    color: When,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorArgs {
    /// The choice on a command line that cannot be parsed as a whole.
    pub fn find(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut found = None;
        while let Some(argument) = arguments.next()
            && argument != "--"
        {
            let argument = argument.to_string_lossy();
            let value = match argument.strip_prefix("--color") {
                Some("") => arguments.next().unwrap_or_default(),
                Some(rest) => rest.strip_prefix('=').unwrap_or_default().into(),
                None => continue,
            };
            if let Ok(color) = When::from_str(&value.to_string_lossy(), false) {
                found = Some(Self { color });
            }
        }
        found
    }

    /// Applies the choice to standard output and standard error.
    pub fn write_global(self) {
        match self.color {
            When::Auto => anstream::ColorChoice::Auto.write_global(),
            When::Always => anstream::ColorChoice::Always.write_global(),
            When::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
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
