//! A log of jobs, and how it is run through time: the arguments of the commands that simulate.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jsf_openpbs::duration_notation::parse_duration;
use jsf_simulate::{Backfill, Cancelled, LogRules, Overrun, ProcessorsOf};
use jsf_site::{FileSource, Role, SimulationOptions, SiteFiles, StartingUsage};

use crate::cli::CliError;
use crate::cli::args::moment;
use crate::cli::args::site::SiteArgs;

/// A log of jobs, and how it is run through time.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// A log of jobs, or a folder of logs
    ///
    /// Standard Workload Format, PBS accounting records, `qstat -x -f -F json`, `sacct -P`, the CSV
    /// of ALCF or NDJSON; repeat the option for several; - is standard input
    #[arg(long, alias = "log", value_name = "FILE")]
    pub workload: Vec<PathBuf>,
    /// Jobs of the log that were cancelled before they ran
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        hide_short_help = true,
        help_heading = "The log"
    )]
    pub cancelled: Cancelled,
    /// Jobs of the log that ran longer than they asked for
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        hide_short_help = true,
        help_heading = "The log"
    )]
    pub overrun: Overrun,
    /// Whose number of processors counts, where the log has both
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHOSE",
        hide_short_help = true,
        help_heading = "The log"
    )]
    pub processors_of: ProcessorsOf,
    /// The number of processors of the machine
    ///
    /// As one pool [default: the site's nodes, else `MaxProcs` in the header of the log]
    #[arg(long, value_name = "N", value_parser = processors, allow_negative_numbers = true)]
    pub processors: Option<u32>,
    /// Which jobs may start earlier
    ///
    /// Even though an earlier job does not fit [default: by strict_ordering and backfill_depth of
    /// the site; easy without a sched_config]
    #[arg(long, value_enum, value_name = "MODE")]
    pub backfill: Option<Backfill>,
    /// The interval of the decay of usage [default: as in the sched_config or the slurm.conf;
    /// without one, nothing decays]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = decay_period, help_heading = "Context")]
    pub decay: Option<u64>,
    /// The factor of the decay, from 0 to 1 [default: as in the sched_config, else 0.5;
    /// --slurm-conf alone: its half-life, in steps of its PriorityCalcPeriod]
    #[arg(long, value_name = "F", value_parser = decay_factor, allow_negative_numbers = true, help_heading = "Context")]
    pub decay_factor: Option<f64>,
    /// Leave out the jobs submitted before this time
    ///
    /// Seconds of the log's clock, or ISO 8601 [default: from when on the log is complete: one that
    /// is cut by the end of its jobs has only some of those submitted before its first end]
    #[arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log")]
    pub from: Option<i64>,
    /// Leave out the jobs submitted at this time or later
    #[arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log")]
    pub to: Option<i64>,
    /// Leave out the first jobs
    ///
    /// Those submitted within this time of the first, while the machine fills up, are not in the
    /// statistics [default: where usage starts fresh and decays, until the first decay, but at most
    /// half of the log; else 0]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration)]
    pub warm_up: Option<u64>,
}

impl LogArgs {
    /// What is made of the log.
    pub fn rules(&self) -> LogRules {
        let Self {
            cancelled,
            overrun,
            processors_of,
            from,
            to,
            ..
        } = *self;
        LogRules {
            cancelled,
            overrun,
            processors_of,
            from,
            to,
            ..LogRules::default()
        }
    }

    /// How the log is run through time.
    pub fn simulation(&self, site: &SiteArgs) -> SimulationOptions {
        SimulationOptions {
            processors: self.processors,
            backfill: self.backfill,
            usage: starting_usage(site).unwrap_or_default(),
            decay_period: self.decay,
            decay_factor: self.decay_factor,
        }
    }

    /// The files of the log.
    pub fn sources(&self) -> Vec<FileSource> {
        self.workload
            .iter()
            .cloned()
            .map(FileSource::from)
            .collect()
    }
}

/// The usage that the entities begin with, if --usage is one of its names and not a file.
fn starting_usage(site: &SiteArgs) -> Option<StartingUsage> {
    StartingUsage::from_str(site.files.get(Role::Usage)?.to_str()?, false).ok()
}

/// The files of a site whose usage may be named instead of given.
pub fn simulated_files(site: &SiteArgs) -> Result<SiteFiles, CliError> {
    let named = starting_usage(site);
    if named.is_none() && site.files.has(Role::Usage) && site.files.has(Role::Tree) {
        return Err(CliError::usage(
            "a file of --usage belongs to --resource-group: with --tree, --usage is start or fresh",
        ));
    }
    site.files_without(named.map(|_| Role::Usage))
}

/// Parses a number of processors.
pub fn processors(text: &str) -> Result<u32, String> {
    match text.parse::<i128>() {
        Ok(..1) => Err("`--processors` must be at least 1".to_owned()),
        Ok(number) => u32::try_from(number)
            .map_err(|_| format!("`--processors` must be at most {}", u32::MAX)),
        Err(_) => Err("expected a number of processors, such as 128".to_owned()),
    }
}

fn decay_period(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        0 => Err("expected at least a second".to_owned()),
        seconds => Ok(seconds),
    }
}

fn decay_factor(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|factor: &f64| (0.0..=1.0).contains(factor));
    number.ok_or_else(|| "expected a number from 0 to 1, such as 0.5".to_owned())
}
