//! A log of jobs, how it is run through time, and the files of goals and wishes about the result,
//! as a command line or a program asks for it.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use job_sort_formula::Formula;
use jsf_openpbs::amounts::parse_duration;
use jsf_simulate::{
    Backfill, Cancelled, Goals, LogRules, MAX_GOALS_BYTES, Overrun, ProcessorsOf, Workload,
};
use jsf_site::{FileSource, SimulationOptions, Site, SiteError, StartingUsage};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[cfg(feature = "command")]
use crate::cli::args::{decay_factor, decay_period, processors};
#[cfg(feature = "command")]
use crate::cli::site::{Reader, moment};

/// A log of jobs, and how it is run through time.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "command", derive(clap::Args))]
pub struct LogOptions {
    /// A log of jobs, or a folder of logs
    ///
    /// Standard Workload Format, PBS accounting records, `qstat -x -f -F json`, `sacct -P`, the CSV
    /// of ALCF or NDJSON; repeat the option for several; - is standard input
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "command", arg(long, alias = "log", value_name = "FILE"))]
    pub workload: Vec<PathBuf>,
    /// Jobs of the log that were cancelled before they ran
    #[cfg_attr(
        feature = "command",
        arg(
            long,
            value_enum,
            default_value_t,
            value_name = "HOW",
            help_heading = "The log"
        )
    )]
    cancelled: Cancelled,
    /// Jobs of the log that ran longer than they asked for
    #[cfg_attr(
        feature = "command",
        arg(
            long,
            value_enum,
            default_value_t,
            value_name = "HOW",
            help_heading = "The log"
        )
    )]
    overrun: Overrun,
    /// Whose number of processors counts, where the log has both
    #[cfg_attr(
        feature = "command",
        arg(
            long,
            value_enum,
            default_value_t,
            value_name = "WHOSE",
            help_heading = "The log"
        )
    )]
    processors_of: ProcessorsOf,
    /// The number of processors of the machine
    ///
    /// As one pool [default: the site's nodes, else `MaxProcs` in the header of the log]
    #[cfg_attr(feature = "command", arg(long, value_name = "N", value_parser = processors, allow_negative_numbers = true))]
    pub processors: Option<NonZeroU32>,
    /// Which jobs may start earlier
    ///
    /// Even though an earlier job does not fit [default: by strict_ordering and backfill_depth of
    /// the site; easy without a sched_config]
    #[cfg_attr(feature = "command", arg(long, value_enum, value_name = "MODE"))]
    backfill: Option<Backfill>,
    /// The interval of the decay of usage [default: as in the sched_config or the slurm.conf;
    /// without one, nothing decays]
    #[serde(deserialize_with = "seconds")]
    #[cfg_attr(feature = "command", arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = decay_period, help_heading = "Context"))]
    pub decay: Option<u64>,
    /// The factor of the decay, from 0 to 1 [default: as in the sched_config, else 0.5;
    /// --slurm-conf alone: its half-life, in steps of its PriorityCalcPeriod]
    #[cfg_attr(feature = "command", arg(long, value_name = "F", value_parser = decay_factor, allow_negative_numbers = true, help_heading = "Context"))]
    pub decay_factor: Option<f64>,
    /// Leave out the jobs submitted before this time
    ///
    /// Seconds of the log's clock, or ISO 8601 [default: from when on the log is complete: one that
    /// is cut by the end of its jobs has only some of those submitted before its first end]
    #[cfg_attr(feature = "command", arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log"))]
    from: Option<i64>,
    /// Leave out the jobs submitted at this time or later
    #[cfg_attr(feature = "command", arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log"))]
    to: Option<i64>,
    /// Leave out the first jobs
    ///
    /// Those submitted within this time of the first, while the machine fills up, are not in the
    /// statistics [default: where usage starts fresh and decays, until the first decay, but at most
    /// half of the log; else 0]
    #[serde(deserialize_with = "seconds")]
    #[cfg_attr(feature = "command", arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration))]
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

    /// The files of the log.
    #[cfg(feature = "command")]
    pub(crate) fn readers(&self) -> Vec<Reader<'_>> {
        let paths = self.workload.iter();
        paths.map(|path| ("--workload", Some(&**path))).collect()
    }

    /// The warm-up, if it is given.
    pub fn warm_up_seconds(&self) -> Option<i64> {
        let seconds = self.warm_up?;
        // so long a warm-up leaves no job, which is refused where the log is known
        Some(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// Reads the log with what the formulas and the conditions of the goals need; and warnings
    /// about the goals.
    ///
    /// # Errors
    /// The log cannot be read, or it has nothing of what the goals name.
    pub fn open(
        &self,
        rules: LogRules,
        site: &Site,
        formulas: &[&Formula],
        goals: Option<&Goals>,
    ) -> Result<(Workload, Vec<String>), SiteError> {
        let mut formulas = formulas.to_vec();
        formulas.extend(goals.into_iter().flat_map(Goals::conditions));
        let paths = self.workload.iter().cloned();
        let sources: Vec<FileSource> = paths.map(FileSource::from).collect();
        let workload = site.open_workload(&sources, &formulas, rules)?;
        let warnings = match goals {
            Some(goals) => site.check_goals(goals, &workload)?,
            None => Vec::new(),
        };
        Ok((workload, warnings))
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

/// A number of seconds, or a duration such as `24h`.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(given: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(given)? {
        Value::String(text) => parse_duration(&text).map(Some).map_err(D::Error::custom),
        number => serde_json::from_value(number).map_err(D::Error::custom),
    }
}

/// The longest file of wishes, in bytes. The number of pairs has a limit of its own in `jsf_fit`.
pub(crate) const MAX_WISHES_BYTES: usize = 4 << 20;

/// Reads the goals that simulations are judged by.
///
/// # Errors
/// The file cannot be read, or has no goals.
pub(crate) fn read_goals(path: &Path, site: &Site) -> Result<Goals, SiteError> {
    let (name, text) = read_text(path, MAX_GOALS_BYTES)?;
    Goals::parse(&name, &text, site.schema()).map_err(|error| {
        SiteError::Content(match FileSource::description(text.as_bytes()) {
            Some(description) => format!("`{name}` {description}, expected goals as TOML").into(),
            None => error.to_string().into(),
        })
    })
}

/// The name and the text of a file of at most `limit` bytes.
///
/// # Errors
/// The file cannot be read, or is no text.
pub(crate) fn read_text(path: &Path, limit: usize) -> Result<(String, String), SiteError> {
    let source = FileSource::Path(path.to_owned());
    let name = source.name();
    match String::from_utf8(source.read_up_to(limit as u64)?) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(SiteError::Content(
            format!("`{name}` is not UTF-8 text").into(),
        )),
    }
}
