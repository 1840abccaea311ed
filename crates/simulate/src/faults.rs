//! What of a log is left out and why: lines that cannot be read, and jobs that are not simulated
//! ([`Faults`]).

use std::collections::BTreeMap;
use std::fmt;

use jsf_json::clipped;
use jsf_words::count;

/// A number of processors in a log; `None` for an empty text and for 0. `kind` is the fault of a
/// text that is no whole number.
pub(crate) fn processor_count(text: &str, kind: &'static str) -> Result<Option<i64>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<i64>() {
        // `sacct` prints 0 for a job that was given nothing, such as one that was cancelled while
        // it waited
        Ok(0) => Ok(None),
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(Fault::from(kind).found(text)),
    }
}

/// The most lines of one kind that are named; the others are counted.
const MAX_NAMED: usize = 10;

/// Why something in a log is not simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutReason {
    /// A job was cancelled, or aborted, while it waited.
    Cancelled,
    /// A job still waits at the end of the log.
    Waiting,
    /// A job still runs at the end of the log.
    Running,
    /// A job was moved to another server.
    Moved,
    /// A subjob of an array of which the log lists the array only.
    Unlisted,
    /// A job was submitted before the time in which the log is complete.
    Incomplete,
    /// A job was submitted outside the time that is simulated.
    Outside,
    /// An execution after which the job was queued again; its last execution counts.
    Rerun,
    /// A reservation of processors.
    Reservation,
    /// A line has the same id as another one.
    Repeated,
    /// A job has no number of processors.
    NoProcessors,
    /// A line cannot be read, or a job has an amount that is out of range.
    Damaged,
}

impl LeftOutReason {
    /// All reasons, each with its name in JSON and what is said behind a number.
    const ALL: [(Self, &str, &str); 12] = [
        (Self::Cancelled, "cancelled", "cancelled before they ran"),
        (
            Self::Waiting,
            "waiting",
            "still waiting at the end of the log",
        ),
        (
            Self::Running,
            "running",
            "still running at the end of the log",
        ),
        (Self::Moved, "moved", "moved to another server"),
        (
            Self::Unlisted,
            "unlisted",
            "in arrays whose subjobs are not listed (use `qstat -x -t -f -F json`)",
        ),
        (
            Self::Incomplete,
            "incomplete",
            "submitted before the log is complete",
        ),
        (
            Self::Outside,
            "outside",
            "submitted outside the time that is simulated",
        ),
        (Self::Rerun, "rerun", "run again later"),
        (Self::Reservation, "reservation", "of reservations"),
        (Self::Repeated, "repeated", "with an id of another line"),
        (Self::NoProcessors, "no_processors", "without processors"),
        (Self::Damaged, "damaged", "damaged"),
    ];

    /// Whether something is wrong with the log, so that its lines are named.
    fn is_fault(self) -> bool {
        matches!(self, Self::Repeated | Self::NoProcessors | Self::Damaged)
    }
}

/// What a line of a log has that cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Why it is left out.
    pub reason: LeftOutReason,
    /// What is wrong with lines of its kind.
    pub kind: &'static str,
    /// What the line has in place of what is expected.
    pub found: Option<Box<str>>,
    /// The number of jobs that are left out with the line.
    pub jobs: usize,
}

impl Fault {
    /// A job without a number of processors.
    pub(crate) const NO_PROCESSORS: Self =
        Self::new(LeftOutReason::NoProcessors, "no number of processors");

    pub(crate) const fn new(reason: LeftOutReason, kind: &'static str) -> Self {
        Self {
            reason,
            kind,
            found: None,
            jobs: 1,
        }
    }

    /// The fault with what the line has.
    pub(crate) fn found(self, text: &str) -> Self {
        Self {
            found: Some(clipped(text).into()),
            ..self
        }
    }

    /// The fault of a line that describes several jobs.
    pub(crate) fn of_jobs(self, jobs: usize) -> Self {
        Self { jobs, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        match &self.found {
            Some(found) => write!(f, ", found `{found}`"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

impl From<LeftOutReason> for Fault {
    /// The fault of a line with which nothing is wrong.
    fn from(reason: LeftOutReason) -> Self {
        let mut all = LeftOutReason::ALL.into_iter();
        let known = all.find(|(other, ..)| *other == reason);
        Self::new(reason, known.map_or("", |(.., words)| words))
    }
}

impl From<&'static str> for Fault {
    fn from(kind: &'static str) -> Self {
        Self::new(LeftOutReason::Damaged, kind)
    }
}

/// What of logs is left out, by kind: lines that are damaged are named, a few of each kind, and all
/// are counted.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    kinds: BTreeMap<(&'static str, LeftOutReason), Kind>,
    /// Whether the texts that lines have in place of what is expected are not shown: they may be
    /// names.
    pub(crate) hides_texts: bool,
}

#[derive(Debug, Clone, Default)]
struct Kind {
    count: usize,
    named: Vec<String>,
}

impl Faults {
    /// Adds a line, which `line` names.
    pub fn add(&mut self, fault: impl Into<Fault>, line: impl fmt::Display) {
        let mut fault = fault.into();
        if self.hides_texts {
            fault.found = None;
        }
        let Fault {
            reason, kind, jobs, ..
        } = fault;
        let entry = self.kinds.entry((kind, reason)).or_default();
        entry.count += jobs;
        // the count goes on, so that `messages` can say how many more there are
        if reason.is_fault() && entry.named.len() < MAX_NAMED {
            entry.named.push(format!("{line}: {fault}"));
        }
    }

    /// The number of lines and jobs that are left out.
    pub fn count(&self) -> usize {
        self.kinds.values().map(|kind| kind.count).sum()
    }

    /// The number of lines and jobs that are left out for this reason.
    pub fn of(&self, reason: LeftOutReason) -> usize {
        let kinds = self.kinds.iter().filter(|((_, other), _)| *other == reason);
        kinds.map(|(_, kind)| kind.count).sum()
    }

    /// The number of lines and jobs that are left out for each reason, by its name.
    pub fn by_reason(&self) -> BTreeMap<&'static str, usize> {
        LeftOutReason::ALL
            .map(|(reason, key, _)| (key, self.of(reason)))
            .into()
    }

    /// A sentence for each of the named lines and, where a kind has more, one with their number.
    pub fn messages(&self) -> Vec<String> {
        let mut messages = Vec::new();
        for ((name, reason), kind) in &self.kinds {
            // a log of any length has cancelled and waiting jobs: the summary counts them, and no
            // line is wrong
            if !reason.is_fault() {
                continue;
            }
            messages.extend(kind.named.iter().cloned());
            if kind.count > kind.named.len() {
                let more = count(kind.count - kind.named.len(), "more line");
                messages.push(format!("and {more}: {name}"));
            }
        }
        messages
    }

    /// What is left out, in words; `None` if nothing is. `others` counts what else is left out.
    pub fn summary(
        &self,
        others: impl IntoIterator<Item = (usize, &'static str)>,
    ) -> Option<String> {
        let by_reason = LeftOutReason::ALL.map(|(reason, _, words)| (self.of(reason), words));
        let mut parts = Vec::new();
        for (count, words) in by_reason.into_iter().chain(others) {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        }
        (!parts.is_empty()).then_some(parts.join(", "))
    }
}
