//! What is made of a log: which of its jobs are simulated, how long they run, and how many processors
//! they hold.

use jsf_words::count;
use serde::Deserialize;

use crate::log_faults::Fault;

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
