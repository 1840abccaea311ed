//! The log of jobs that a question is about, how it is run through time, and the files of goals and
//! wishes about the result.

use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use job_sort_formula::Formula;
use jsf_openpbs::NumberMode;
use jsf_openpbs::times::parse_duration;
use jsf_simulate::{
    Backfill, Cancelled, Goals, LeftOutReason, LogRules, MAX_GOALS_BYTES, Overrun, ProcessorsOf,
    Workload,
};
use jsf_site::{FileSource, SimulationOptions, Site, SiteError, StartingUsage};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::answers::{AnswerError, Warnings};
use crate::questions::values::{decay_factor, moment, processors, seconds};
use crate::view::words::{self, count};

/// A log of jobs, and how it is run through time.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct LogOptions {
    /// A log of jobs, or a folder of logs
    ///
    /// Standard Workload Format, PBS accounting records, `qstat -x -f -F json`, `sacct -P`, the CSV
    /// of ALCF or NDJSON; repeat the option for several; - is standard input
    #[serde(deserialize_with = "one_or_many")]
    #[arg(long, alias = "log", value_name = "FILE")]
    pub workload: Vec<PathBuf>,
    /// Jobs of the log that were cancelled before they ran
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        help_heading = "The log"
    )]
    cancelled: Cancelled,
    /// Jobs of the log that ran longer than they asked for
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        help_heading = "The log"
    )]
    overrun: Overrun,
    /// Whose number of processors counts, where the log has both
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHOSE",
        help_heading = "The log"
    )]
    processors_of: ProcessorsOf,
    /// The number of processors of the machine
    ///
    /// As one pool [default: the site's nodes, else `MaxProcs` in the header of the log]
    #[arg(long, value_name = "N", value_parser = processors, allow_negative_numbers = true)]
    pub processors: Option<NonZeroU32>,
    /// Which jobs may start earlier
    ///
    /// Even though an earlier job does not fit [default: by strict_ordering and backfill_depth of
    /// the site; easy without a sched_config]
    #[arg(long, value_enum, value_name = "MODE")]
    backfill: Option<Backfill>,
    /// The interval of the decay of usage [default: as in the sched_config or the slurm.conf;
    /// without one, nothing decays]
    #[serde(deserialize_with = "decay_seconds")]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = decay_period, help_heading = "Context")]
    pub decay: Option<u64>,
    /// The factor of the decay, from 0 to 1 [default: as in the sched_config, else 0.5;
    /// --slurm-conf alone: its half-life, in steps of its PriorityCalcPeriod]
    #[serde(deserialize_with = "factor")]
    #[arg(long, value_name = "F", value_parser = decay_factor, allow_negative_numbers = true, help_heading = "Context")]
    pub decay_factor: Option<f64>,
    /// Leave out the jobs submitted before this time
    ///
    /// Seconds of the log's clock, or ISO 8601 [default: from when on the log is complete: one that
    /// is cut by the end of its jobs has only some of those submitted before its first end]
    #[arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log")]
    from: Option<i64>,
    /// Leave out the jobs submitted at this time or later
    #[arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log")]
    to: Option<i64>,
    /// Leave out the first jobs
    ///
    /// Those submitted within this time of the first, while the machine fills up, are not in the
    /// statistics [default: where usage starts fresh and decays, until the first decay, but at most
    /// half of the log; else 0]
    #[serde(deserialize_with = "seconds")]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration)]
    warm_up: Option<u64>,
}

impl LogOptions {
    /// What is made of the log.
    pub fn rules(&self) -> LogRules {
        LogRules {
            cancelled: self.cancelled,
            overrun: self.overrun,
            processors_of: self.processors_of,
            from: self.from,
            to: self.to,
            ..LogRules::default()
        }
    }

    /// How the log is run through time.
    pub fn simulation(&self, usage: StartingUsage) -> SimulationOptions {
        SimulationOptions {
            processors: self.processors.map(NonZeroU32::get),
            backfill: self.backfill,
            usage,
            decay_period: self.decay,
            decay_factor: self.decay_factor,
        }
    }

    /// The warm-up, if it is given.
    pub fn warm_up_seconds(&self) -> Option<i64> {
        let seconds = self.warm_up?;
        // so long a warm-up leaves no job, which is refused where the log is known
        Some(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// Reads the log with what the formulas and the conditions of the goals need, and the goals.
    ///
    /// # Errors
    /// The log or the goals cannot be read, or the log has nothing of what the goals name.
    pub fn open(
        &self,
        rules: LogRules,
        site: &Site,
        formulas: &[&Formula],
        goals: Option<&Path>,
        warnings: &mut Warnings,
    ) -> Result<(Workload, Option<Goals>), AnswerError> {
        require_doubles(site)?;
        if self.workload.is_empty() {
            let why = "`workload` is missing, expected the path of a log";
            return Err(AnswerError::question(why));
        }
        let goals = match goals {
            Some(path) => Some(read_goals(path, site)?),
            None => None,
        };
        let mut formulas = formulas.to_vec();
        formulas.extend(goals.iter().flat_map(Goals::conditions));
        let paths = self.workload.iter().cloned();
        let sources: Vec<FileSource> = paths.map(FileSource::from).collect();
        let workload = site.open_workload(&sources, &formulas, rules)?;
        if let Some(goals) = &goals {
            warnings.add(site.check_goals(goals, &workload)?);
        }
        warnings.add(workload.faults().messages());
        warnings.add(workload.notes.clone());
        Ok((workload, goals))
    }
}

/// Follows work on a log: it is told how much is done, and of how much, where that is known, and may
/// end the work.
pub type Watch<'a> = dyn Fn(Option<(usize, usize)>) -> ControlFlow<()> + Sync + 'a;

/// What is left out of a log, and which requested times are assumed, each under its heading;
/// `too_large` is how many jobs are larger than the machine.
pub(crate) fn left_out_and_assumed(
    workload: &Workload,
    too_large: usize,
) -> Vec<(&'static str, String)> {
    let left_out = workload
        .faults()
        .summary([(too_large, "larger than the machine")]);
    let mut told = Vec::new();
    for (heading, text) in [
        ("log", cut_by_end(workload)),
        ("left out", left_out),
        ("walltime", workload.assumed_walltimes.in_words()),
    ] {
        told.extend(text.map(|text| (heading, text)));
    }
    told
}

/// The same of a log whose jobs are not run yet, in sentences.
pub(crate) fn log_counts(workload: &Workload) -> Vec<String> {
    let counts = left_out_and_assumed(workload, 0).into_iter();
    counts
        .map(|(heading, text)| format!("{heading}: {text}"))
        .collect()
}

/// That a log is cut by the end of its jobs, and how many are left out for it; `None` for one that
/// is complete.
fn cut_by_end(workload: &Workload) -> Option<String> {
    let from = moment_of_log(workload.complete_from?);
    let jobs = count(workload.faults().of(LeftOutReason::Incomplete), "job");
    Some(format!(
        "cut by the end of its jobs, and complete from {from} on, its first end; {jobs} submitted before left out, as others of that \
         time are missing (--from TIME)"
    ))
}

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;

/// A time of the log's clock, which need not begin in 1970.
fn moment_of_log(seconds: i64) -> String {
    if seconds < LEAST_EPOCH {
        format!("second {seconds} of its clock")
    } else {
        words::moment(seconds)
    }
}

/// A path, or a list of paths.
fn one_or_many<'de, D: Deserializer<'de>>(given: D) -> Result<Vec<PathBuf>, D::Error> {
    // an untagged enum would say only that no variant matches, and not what is expected
    let given = match Value::deserialize(given)? {
        Value::Array(many) => many,
        one => vec![one],
    };
    let paths: Vec<String> = serde_json::from_value(given.into()).map_err(D::Error::custom)?;
    Ok(paths.into_iter().map(PathBuf::from).collect())
}

/// Parses the interval of a decay.
fn decay_period(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        0 => Err("expected at least a second".to_owned()),
        seconds => Ok(seconds),
    }
}

/// The interval of a decay.
fn decay_seconds<'de, D: Deserializer<'de>>(given: D) -> Result<Option<u64>, D::Error> {
    match seconds(given)? {
        Some(0) => Err(D::Error::custom("`decay` is 0, expected at least a second")),
        seconds => Ok(seconds),
    }
}

/// The factor of a decay.
fn factor<'de, D: Deserializer<'de>>(given: D) -> Result<Option<f64>, D::Error> {
    let factor = Option::deserialize(given)?;
    match factor {
        Some(factor) if !(0.0..=1.0).contains(&factor) => Err(D::Error::custom(format!(
            "`decay_factor` is {factor}, expected a number from 0 to 1"
        ))),
        factor => Ok(factor),
    }
}

/// Refuses numbers with which nothing is simulated.
pub(crate) fn require_doubles(site: &Site) -> Result<(), AnswerError> {
    match site.numbers() {
        NumberMode::Decimal => Err(AnswerError::question(
            "a simulation computes with doubles, not with decimals",
        )),
        _ => Ok(()),
    }
}

/// Reads the goals that simulations are judged by.
pub(crate) fn read_goals(path: &Path, site: &Site) -> Result<Goals, AnswerError> {
    let (name, text) = read_text(path, MAX_GOALS_BYTES)?;
    Goals::parse(&name, &text, site.schema()).map_err(|error| {
        AnswerError::question(match FileSource::description(text.as_bytes()) {
            Some(description) => format!("`{name}` {description}, expected goals as TOML"),
            None => error.to_string(),
        })
    })
}

/// The name and the text of a file of at most `limit` bytes, which is a part of a question.
///
/// # Errors
/// The file cannot be read, or is no text.
pub(crate) fn read_text(path: &Path, limit: usize) -> Result<(String, String), AnswerError> {
    let source = FileSource::Path(path.to_owned());
    let name = source.name();
    let bytes = match source.read_up_to(limit as u64) {
        Err(SiteError::Content(message)) => return Err(AnswerError::Question(message)),
        read => read?,
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(AnswerError::question(format!("`{name}` is not UTF-8 text"))),
    }
}
