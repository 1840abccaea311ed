//! What is made of a log: which of its jobs are simulated, how long they run, and how many processors
//! they hold; what of it is left out and why ([`Faults`]), and what it says of jobs besides their
//! ends ([`Mentions`]).

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use jsf_json::clipped;
use jsf_words::count;
use serde::Deserialize;

/// What is made of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogRules {
    /// Jobs that were cancelled before they ran.
    pub cancelled: Cancelled,
    /// Runs beyond the requested time.
    pub overrun: Overrun,
    /// Whose number of processors counts.
    pub processors_of: ProcessorsOf,
    /// The first time of submission of the jobs that are simulated; without one, the log is
    /// simulated from when on it is complete.
    pub from: Option<i64>,
    /// The time of submission before which they are submitted.
    pub to: Option<i64>,
    /// Whether other names than those in the log are shown, and no text of a line that cannot be
    /// read.
    pub anonymise: bool,
}

/// What is made of jobs that were cancelled before they ran. Each text is the help of its option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Cancelled {
    /// They are left out and counted
    ///
    /// Nobody knows for how long they would have run.
    #[default]
    LeaveOut,
    /// They wait for their turn, and end as they start
    Keep,
}

/// What is made of jobs that run longer than they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Overrun {
    /// They end after the requested time, and are counted
    #[default]
    Cut,
    /// They run as long as in the log
    Keep,
}

/// Whose number of processors a job holds, where a log has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ProcessorsOf {
    /// What the job asks for
    #[default]
    Requested,
    /// What the job was given, such as whole nodes
    Allocated,
}

impl ProcessorsOf {
    /// The number that counts, else the other one. One that cannot be read is not replaced by the
    /// other.
    pub(crate) fn choose(
        self,
        requested: Result<Option<i64>, Fault>,
        allocated: Result<Option<i64>, Fault>,
    ) -> Result<Option<i64>, Fault> {
        let [first, second] = match self {
            Self::Requested => [requested, allocated],
            Self::Allocated => [allocated, requested],
        };
        match first? {
            Some(number) => Ok(Some(number)),
            None => second,
        }
    }
}

/// A number of processors in a log; `None` for an empty text and for 0. `kind` is the fault of a
/// text that is no whole number.
pub(crate) fn processor_count(text: &str, kind: &'static str) -> Result<Option<i64>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<i64>() {
        Ok(0) => Ok(None),
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(Fault::from(kind).found(text)),
    }
}

/// What jobs get that do not say how long they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AssumedWalltimes {
    /// The jobs that get the default of their queue or of the server.
    pub defaults: usize,
    /// The jobs that get their run time.
    pub run_times: usize,
}

impl AssumedWalltimes {
    /// What is assumed, in words; `None` if nothing is.
    pub fn in_words(self) -> Option<String> {
        let mut parts = Vec::new();
        if self.defaults > 0 {
            let jobs = count(self.defaults, "job");
            parts.push(format!("the default of the queue for {jobs}"));
        }
        if self.run_times > 0 {
            let jobs = count(self.run_times, "job");
            parts.push(format!(
                "the run time for {jobs}, so that backfilling sees the future"
            ));
        }
        (!parts.is_empty()).then_some(parts.join(", "))
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
        let mut kind = "";
        for (other, _, words) in LeftOutReason::ALL {
            if other == reason {
                kind = words;
            }
        }
        Self::new(reason, kind)
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
        let mut count = 0;
        for ((_, other), kind) in &self.kinds {
            if *other == reason {
                count += kind.count;
            }
        }
        count
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

/// The lines about jobs, in whatever order they come.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    courses: HashMap<Box<str>, Course>,
}

/// The course of a job: when it last started and was queued again, 0 for never.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    started: u64,
    requeued: u64,
    is_deleted: bool,
    is_moved: bool,
    /// Whether a line about its end was left out, and counted.
    is_left_out: bool,
}

impl Course {
    /// What became of a job that did not end.
    fn fate(&self) -> LeftOutReason {
        if self.started > 0 && self.started >= self.requeued {
            LeftOutReason::Running
        } else if self.is_deleted {
            LeftOutReason::Cancelled
        } else if self.is_moved {
            LeftOutReason::Moved
        } else {
            LeftOutReason::Waiting
        }
    }
}

impl Mentions {
    /// Adds what an accounting record of a kind says. `time` orders the records; it is not 0.
    pub fn add(&mut self, id: &str, kind: &str, time: u64) {
        let course = self.courses.entry(id.into()).or_default();
        match kind {
            "S" | "T" => course.started = course.started.max(time),
            // an execution ended, and the job waits again
            "R" | "C" => course.requeued = course.requeued.max(time),
            // it was deleted, or aborted by the server
            "D" | "A" => course.is_deleted = true,
            "M" => course.is_moved = true,
            _ => {}
        }
    }

    /// Forgets a job that ended, unless more than its end matters.
    pub fn end(&mut self, id: &str) {
        if let Some(course) = self.courses.get(id)
            && course.requeued == 0
        {
            self.courses.remove(id);
        }
    }

    /// Notes that a line about a job's end is left out: the job is not counted again for what the
    /// other lines say.
    pub fn leave_out(&mut self, id: &str) {
        self.courses.entry(id.into()).or_default().is_left_out = true;
    }

    pub fn is_empty(&self) -> bool {
        self.courses.is_empty()
    }

    /// Whether a job, which did not end, was cancelled while it waited.
    pub fn is_cancelled(&self, id: &str) -> bool {
        let fate = self.courses.get(id).map(Course::fate);
        fate == Some(LeftOutReason::Cancelled)
    }

    /// Whether a job was queued again after an execution.
    pub fn is_rerun(&self, id: &str) -> bool {
        matches!(self.courses.get(id), Some(course) if course.requeued > 0)
    }

    /// What became of each job whose end was not read.
    pub fn fates(&self) -> Vec<(&str, LeftOutReason)> {
        let mut fates = Vec::new();
        for (id, course) in &self.courses {
            if !course.is_left_out {
                fates.push((&**id, course.fate()));
            }
        }
        fates
    }
}
