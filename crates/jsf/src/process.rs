//! The command line of `jsf`: the commands, what becomes of the arguments of the process, and its
//! exit code; and the answers to arguments that no command gets: what is wrong with them, and the help.
//! `-h` is one screen, with the usage, examples and the command's own options; `--help` has everything,
//! and so have `jsf man` and `jsf completions`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use signal_hook::consts::{SIGABRT, SIGXFSZ};
use signal_hook::flag::register_conditional_shutdown;

use crate::cli::args::looks_like_an_option;
use crate::cli::messages::draw_all;
use crate::cli::output::{CliError, Outcome};
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

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check whether qmgr accepts a formula and whether it works for every job
    Check(commands::check::run::CheckArgs),
    /// Show the value and the rank of every job
    Rank(commands::rank::run::RankArgs),
    /// Show what another formula, tree, policy or threshold would change in the queue
    Compare(commands::compare::run::CompareArgs),
    /// Show why jobs have their places in the queue
    Explain(commands::explain::run::ExplainArgs),
    /// Write a page for a browser on which you edit the formula and see the queue change
    Page(commands::page::run::PageArgs),
    /// Show how ranks change while jobs wait, and which jobs overtake
    Trajectory(commands::trajectory::run::TrajectoryArgs),
    /// Show the fair-share tree with the values that a policy computes
    Shares(commands::shares::run::SharesArgs),
    /// Show which jobs start next, and when and why the others wait
    Cycle(commands::cycle::run::CycleArgs),
    /// Simulate a log of jobs under a formula, and report how long they would wait
    Simulate(commands::simulate::run::SimulateArgs),
    /// Find the numbers of a formula by wishes about jobs or by goals
    Fit(commands::fit::run::FitArgs),
    /// Compare the values in a scheduler's log with jsf's, and explain the differences
    Replay(commands::replay::run::ReplayArgs),
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
    #[command(after_help = "\
Examples:
  jsf capture > capture.sh
  jsf capture --without-environment | head -20

The script only reads and needs no root. What it cannot read is noted in missing.txt in the folder that it makes. As root on \
the PBS server (sudo sh capture.sh my-site) it reads everything. On a login node of Slurm any user can run it, unless PrivateData \
hides the jobs of others. It leaves out the names, commands, folders and comments of Slurm's jobs.")]
    Capture {
        /// Leave out the environments of jobs (Variable_List)
        #[arg(long)]
        without_environment: bool,
    },
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
        Command::Check(arguments) => commands::check::run::run(arguments, &mut out)?,
        Command::Compare(arguments) => arguments.run(&mut out)?,
        Command::Shares(arguments) => commands::shares::run::run(arguments, &mut out)?,
        Command::Cycle(arguments) => commands::cycle::run::run(arguments, &mut out)?,
        Command::Simulate(arguments) => commands::simulate::run::run(arguments, &mut out)?,
        Command::Fit(arguments) => arguments.run(&mut out)?,
        Command::Replay(arguments) => commands::replay::run::run(arguments, &mut out)?,
        Command::Translate(arguments) => commands::translate::run(arguments, &mut out)?,
        Command::Fmt(arguments) => commands::fmt::run(arguments, &mut out)?,
        Command::Codes(arguments) => commands::codes::run(arguments, &mut out)?,
        // it asks whether standard output is a terminal, which a buffered writer does not tell
        Command::Pbsfs(arguments) => commands::pbsfs::run(arguments)?,
        Command::Completions { shell } => write_completions(*shell, &mut out)?,
        Command::Names(arguments) => commands::names::run(arguments, &mut out)?,
        Command::Capture {
            without_environment,
        } => write_capture_script(*without_environment, &mut out)?,
        Command::Man { command } => write_manual(command.as_deref(), &mut out)?,
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
    Err(with_tip(error, &arguments))
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

/// The examples after the usage that `-h` shows, which is one screen.
const MOST_EXAMPLES: usize = 3;
/// The options of the site that `-h` names: the first of these that a command has.
const CONTEXT_OPTIONS: [&str; 5] = ["site", "queue", "sched-priv", "tree", "server"];
const MOST_CONTEXT_OPTIONS: usize = 3;
/// The headings of the options that only `--help` shows.
const CONTEXT_HEADINGS: [&str; 3] = ["Context", "Rules", "The log"];
/// The usage comes first, then the examples, then the options.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// A command whose help is arranged, and that of its subcommands.
fn arranged(command: clap::Command) -> clap::Command {
    let command = with_notes(command)
        .help_template(TEMPLATE)
        .mut_args(arranged_argument);
    command.mut_subcommands(arranged)
}

/// The command with its examples after the usage, and what else it says after the options in
/// `--help` only.
fn with_notes(command: clap::Command) -> clap::Command {
    let text = command
        .get_after_long_help()
        .or(command.get_after_help())
        .map(StyledStr::to_string)
        .unwrap_or_default();
    let (mut examples, mut notes, mut short_notes) = (Vec::new(), Vec::new(), Vec::new());
    for paragraph in text.split("\n\n") {
        if paragraph.starts_with("Example") {
            examples.push(paragraph);
            continue;
        }
        notes.push(paragraph);
        // such as the requests of pbsfs
        if paragraph.contains("\n  -") {
            short_notes.push(paragraph.to_owned());
        }
    }
    short_notes.extend(context_line(&command));
    let examples = examples.join("\n\n");
    let command = match examples.as_str() {
        "" => command,
        all => command
            .before_help(first_examples(all))
            .before_long_help(all.to_owned()),
    };
    command
        .after_help(short_notes.join("\n\n"))
        .after_long_help(notes.join("\n\n"))
}

/// The heading of examples and the first of them.
fn first_examples(examples: &str) -> String {
    let mut ended = 0;
    let mut lines = Vec::new();
    for line in examples.lines() {
        if ended == MOST_EXAMPLES {
            break;
        }
        // an example goes on in the next line after a backslash
        ended += usize::from(line.starts_with("  ") && !line.ends_with('\\'));
        lines.push(line);
    }
    lines.join("\n")
}

/// A line that names options of the site, which `-h` does not list.
fn context_line(command: &clap::Command) -> Option<String> {
    let mut named = Vec::new();
    for name in CONTEXT_OPTIONS {
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.get_long() == Some(name));
        if let Some(argument) = argument
            && is_context(argument)
            && !argument.is_hide_set()
            && let Some([value, ..]) = argument.get_value_names()
            && named.len() < MOST_CONTEXT_OPTIONS
        {
            named.push(format!("--{name} {value}"));
        }
    }
    if named.is_empty() {
        return None;
    }
    Some(format!("context: {}, … (all: --help)", named.join(", ")))
}

fn is_context(argument: &Arg) -> bool {
    let heading = argument.get_help_heading();
    CONTEXT_HEADINGS.contains(&heading.unwrap_or_default())
}

/// An option of which `-h` has one line, or none if it is of the site.
fn arranged_argument(argument: Arg) -> Arg {
    if is_context(&argument) {
        return argument.hide_short_help(true);
    }
    let values = argument.get_possible_values();
    let takes_one = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    if values.is_empty() || !takes_one {
        return argument;
    }
    let help = argument
        .get_long_help()
        .or(argument.get_help())
        .map(StyledStr::to_string)
        .unwrap_or_default();
    let mut width = 0;
    for value in &values {
        width = width.max(value.get_name().len() + 1);
    }
    // as clap lists them
    let mut help = format!("{help}\n\nPossible values:");
    for value in &values {
        let name = value.get_name();
        help += &match value.get_help() {
            Some(help) => format!("\n- {:width$} {help}", format!("{name}:")),
            None => format!("\n- {name}"),
        };
    }
    argument.hide_possible_values(true).long_help(help)
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

fn write_manual(name: Option<&str>, out: &mut impl Write) -> Result<Outcome, CliError> {
    // the pages are the same for all machines, and `help` has none
    let mut all = Cli::command()
        .long_version(None::<&str>)
        .disable_help_subcommand(true);
    all.build();
    let page = match name {
        None => all,
        Some(name) => match all
            .get_subcommands()
            .find(|command| command.get_name() == name)
        {
            Some(command) => command.clone(),
            None => {
                let message = format!("`{name}` is not a command; `jsf --help` lists all commands");
                return Err(CliError::usage(message));
            }
        },
    };
    let after_help = page
        .get_after_long_help()
        .or(page.get_after_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    // clap_mangen writes this text as paragraphs to be filled, which joins the lines of its
    // examples and tables
    let page = page.after_help(None::<&str>).after_long_help(None::<&str>);
    clap_mangen::Man::new(page)
        .source(concat!("jsf ", env!("CARGO_PKG_VERSION")))
        .render(out)?;
    out.write_all(after_help_in_roff(&after_help).as_bytes())?;
    Ok(Outcome::Fine)
}

/// The text after the options as roff: the line `Examples:` begins a section, and indented lines
/// are printed as they are, neither filled nor hyphenated.
fn after_help_in_roff(text: &str) -> String {
    let mut roff = String::from(".SH NOTES\n");
    let mut is_filled = true;
    // a paragraph is ended by the section after it
    let text = text.replace("\n\nExample", "\nExample");
    for line in text.lines().map(str::trim_end) {
        let is_heading = matches!(line, "Example:" | "Examples:");
        let fills = !line.starts_with(' ');
        if fills != is_filled {
            roff.push_str(if fills { ".fi\n" } else { ".nf\n" });
            is_filled = fills;
        }
        match line {
            "" => roff.push_str(".PP\n"),
            _ if is_heading => roff.push_str(".SH EXAMPLES\n"),
            _ => {
                roff.push_str(&escaped(line));
                roff.push('\n');
            }
        }
    }
    if !is_filled {
        roff.push_str(".fi\n");
    }
    roff.replace(".SH NOTES\n.SH EXAMPLES\n", ".SH EXAMPLES\n")
}

/// A line as roff prints it unchanged: without escapes, requests, or quotes and hyphens that it
/// replaces by others.
fn escaped(line: &str) -> String {
    // a line that begins with a full stop or a quote would be a request to roff
    let mut escaped = String::from(r"\&");
    for character in line.chars() {
        match character {
            '\\' => escaped.push_str(r"\e"),
            '-' => escaped.push_str(r"\-"),
            '\'' => escaped.push_str(r"\(aq"),
            '`' => escaped.push_str(r"\(ga"),
            '^' => escaped.push_str(r"\(ha"),
            '~' => escaped.push_str(r"\(ti"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn write_completions(
    shell: clap_complete::Shell,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    // `generate` panics if it cannot write
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "jsf", &mut script);
    out.write_all(&script)?;
    Ok(Outcome::Fine)
}

/// `jsf capture`: prints the script that copies the files of a site.
fn write_capture_script(
    without_environment: bool,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    const SETTING: &str = "\nwithout_environment=";
    let script = include_str!("commands/capture.sh");
    let value = if without_environment { "1" } else { "" };
    out.write_all(
        script
            .replacen(SETTING, &format!("{SETTING}{value}"), 1)
            .as_bytes(),
    )?;
    Ok(Outcome::Fine)
}
