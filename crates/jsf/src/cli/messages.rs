//! Messages on standard error: findings, warnings, some of which are a part of an answer too, and a line on
//! the terminal while work takes long, which Ctrl-C ends early, so that what was found until then is
//! written.

use std::io::{self, IsTerminal, Write};
use std::iter;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Once};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use job_sort_formula::diagnostic::{Diagnostic, Message, Severity, limit_each_kind};
use job_sort_formula::parallel;
use job_sort_formula::rank::{Consequence, OnError};
use jsf_site::{FormulaText, RankedQueue};
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use signal_hook::flag::register_conditional_shutdown;

use crate::answers::{Answer, AnswerError, Format, Warnings};
use crate::cli::output::CliError;
use crate::view::findings::{draw_finding, in_options, limit_each_code, more_findings};
use crate::view::words::{count, printable};

/// Writes a message to standard error.
pub(crate) fn print_message(kind: &str, message: impl std::fmt::Display) {
    // there is no other place to say that standard error cannot be written
    let _ = writeln!(
        anstream::stderr(),
        "jsf: {kind}: {}",
        printable(&message.to_string())
    );
}

/// Writes a warning to standard error.
pub(crate) fn warn(message: impl std::fmt::Display) {
    print_message("warning", message);
}

/// Draws findings on standard error: of each code the first ten, then how many more there are.
pub(crate) fn draw_all<'f>(
    source: &FormulaText,
    findings: impl IntoIterator<Item = &'f Diagnostic>,
) {
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
    let size = terminal_size::terminal_size_of(io::stderr());
    let width = size.map_or(usize::MAX, |(width, _)| width.0.into());
    let drawn = draw_finding(source, found, coloured, width);
    let _ = writeln!(anstream::stderr(), "{drawn}\n");
}

/// A message with the options that give what it asks for.
pub(crate) fn with_options(message: &Message) -> String {
    message.worded(in_options)
}

/// Says what is found in the rankings of an answer, and for which jobs the formulas fail. People see
/// the errors alone, as far as the answer does not say so itself.
pub(crate) fn show_rankings(answer: &impl Answer, format: Format, on_error: OnError) {
    if format.is_document() && answer.shows_findings() {
        return;
    }
    let rankings = answer.rankings();
    let names: &[&str] = match rankings.len() {
        2 => &["the old formula", "the new formula"],
        _ => &["the formula"],
    };
    for (name, (given, queue)) in iter::zip(names, &rankings) {
        let mut findings = given.findings_in(queue);
        findings.retain(|found| !format.is_document() || found.severity == Severity::Error);
        if rankings.len() == 2 && !findings.is_empty() {
            print_message("note", format_args!("findings of {name}:"));
        }
        draw_all(&given.source, &findings);
        report_errors(on_error, name, queue);
    }
}

/// Counts the jobs with an error on standard error, for formats without a summary: a line for each
/// consequence in OpenPBS. `formula` names the formula.
fn report_errors(on_error: OnError, formula: &str, queue: &RankedQueue) {
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
        print_message(
            kind,
            format_args!(
                "{formula} fails for {jobs}, first for `{}`: {error}; {effect}",
                queue.table.id(row)
            ),
        );
    }
}

/// Answers a question, while a terminal shows what is being done, then shows the warnings, and
/// returns the answer with those that belong to it. `is_document`: people read these with the answer.
pub(crate) fn answered<A>(
    doing: &'static str,
    is_document: bool,
    answer: impl FnOnce(&mut Warnings, &Progress) -> Result<A, AnswerError>,
) -> Result<(A, Vec<String>), CliError> {
    let mut found = Warnings::default();
    let progress = Progress::start(doing);
    let answer = answer(&mut found, &progress);
    // erased before the warnings, which take its line
    drop(progress);
    let of_answer = unique(lines(&found.of_answer));
    let mut shown = lines(&found.beside);
    // without an answer, standard error alone can have them
    if answer.is_err() || !is_document {
        shown.extend_from_slice(&of_answer);
    }
    unique(shown).iter().for_each(warn);
    Ok((answer?, of_answer))
}

fn unique(lines: Vec<String>) -> Vec<String> {
    let mut unique = Vec::new();
    for line in lines {
        if !unique.contains(&line) {
            unique.push(line);
        }
    }
    unique
}

fn lines(messages: &[Message]) -> Vec<String> {
    limit_each_kind(messages.iter().map(with_options))
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
            // where the system starts no thread the work is done all the same
            let started = thread::Builder::new().spawn(show);
            thread = started.ok().map(|thread| (sender, thread));
        }
        Self { thread, per_cent }
    }

    /// Shows how much of the work is done.
    fn show_fraction(&self, done: usize, all: usize) {
        let per_cent = done.saturating_mul(100).checked_div(all);
        self.per_cent
            .store(per_cent.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
}

/// Shows the line until the sender is dropped.
fn show(what: &str, receiver: &Receiver<()>, per_cent: &AtomicUsize) {
    let begin = Instant::now();
    let mut is_shown = false;
    // unlike a sleep, this wait ends with the work, so that no command takes a second for it
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
            // else the thread could erase what is written next
            let _ = thread.join();
        }
    }
}

/// Whether Ctrl-C was pressed.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a process that Ctrl-C ends, as shells give it: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// From now on the first Ctrl-C ends the simulation, and what it has is written; the second one
/// ends the process. Where no handler can be set, the first one does.
pub(crate) fn end_simulation_at_interrupt() {
    static IS_SET: Once = Once::new();
    IS_SET.call_once(|| {
        // the handlers run in this order: at the first Ctrl-C this one finds the flag unset
        let _ = register_conditional_shutdown(SIGINT, INTERRUPTED, &IS_INTERRUPTED)
            .and_then(|_| flag::register(SIGINT, &IS_INTERRUPTED));
    });
}

/// Goes on until Ctrl-C was pressed.
pub(crate) fn until_interrupted() -> ControlFlow<()> {
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Shows how much of some work is done, and ends it after Ctrl-C, which ends the process before the
/// work has begun: until then there is no result that could be written.
pub(crate) fn watched(
    progress: &Progress,
) -> impl Fn(Option<(usize, usize)>) -> ControlFlow<()> + Sync {
    |done| {
        end_simulation_at_interrupt();
        if let Some((done, all)) = done {
            progress.show_fraction(done, all);
        }
        until_interrupted()
    }
}

/// The results of some runs on all cores in their order, without those that Ctrl-C has ended.
pub(crate) fn on_all_cores<T: Send>(
    what: &'static str,
    count: usize,
    run: impl Fn(usize) -> Result<Option<T>, CliError> + Sync,
) -> Result<Vec<T>, CliError> {
    let progress = Progress::start(what);
    let ended = AtomicUsize::new(0);
    let runs = parallel::map((0..count).collect(), |index| {
        if until_interrupted().is_break() {
            return Ok(None);
        }
        let result = run(index);
        progress.show_fraction(ended.fetch_add(1, Ordering::Relaxed) + 1, count);
        result
    });
    let runs: Vec<Option<T>> = runs.into_iter().collect::<Result<_, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}
