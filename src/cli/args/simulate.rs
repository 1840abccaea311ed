//! The arguments of `jsf simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use job_sort_formula::simulate::Backfill;
use job_sort_formula::site::parse_duration;

use super::site::{NumbersArg, RulesArg};
use super::{CsvArgs, FormulaArgs, OnErrorArg, PolicyArg};

/// `jsf simulate`
#[derive(Debug, Args)]
#[command(after_help = "\
Jobs are submitted as in the log. At each submission and each end of a job the waiting jobs are ordered by the formula, the \
higher value first, then the earlier submission, then the lower id, and started as far as processors are free. A job \
ends after its run time or its walltime, whichever is shorter. The formula gets ncpus (the processors), walltime, \
eligible_time (the time since the submission) and the fair-share numbers; everything else is 0.

--backfill is about the first job that does not fit:
  easy    later jobs start if, as far as walltimes tell, they do not delay it
  greedy  later jobs start wherever they fit
  none    later jobs wait

Usage is the processors times the seconds that jobs hold them, and begins with 1 for every entity. At every multiple of \
--decay it is multiplied by --decay-factor, but does not fall below 1.

A log in the Standard Workload Format has a line of 18 numbers for each job. A damaged line is left out, counted and named. \
So is a job that asks for more processors than there are: it could never start.

Exit codes: 0 success, 1 the formula cannot work, or fails for a job under --on-error fail, 2 usage error, or a file that \
cannot be read.

Example:
  printf '%s\\n' '1 0 -1 60 2 -1 -1 2 90 -1 1 7 1 -1 1 -1 -1 -1' \\
      '2 5 -1 60 4 -1 -1 4 90 -1 1 8 1 -1 1 -1 -1 -1' \\
      '3 9 -1 30 2 -1 -1 2 30 -1 1 9 1 -1 1 -1 -1 -1' \\
      | jsf simulate 'eligible_time' --workload - --processors 4")]
pub struct SimulateArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// A log of jobs in the Standard Workload Format, or a folder of such logs; repeat the option for several; - is standard
    /// input
    #[arg(long, value_name = "FILE", required = true)]
    pub workload: Vec<PathBuf>,
    /// The number of processors of the machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub processors: u32,
    /// Which jobs may start although a job before them does not fit
    #[arg(long, value_enum, default_value_t = BackfillArg::Easy, value_name = "MODE")]
    pub backfill: BackfillArg,
    /// Everything that is known of the site, as for `jsf rank`: of it, the formula in force, the resources, the fair-share
    /// tree and its decay are used
    #[arg(long, value_name = "PATH", help_heading = "Context")]
    pub site: Option<PathBuf>,
    /// The scheduler's folder sched_priv, of which the shares and the decay are used
    #[arg(long, value_name = "DIR", help_heading = "Context")]
    pub sched_priv: Option<PathBuf>,
    /// The fair-share tree: native JSON, `sshare -a -l -P`, `sshare -a --json` or a `sacctmgr dump` file
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    pub tree: Option<PathBuf>,
    /// The time between two decays of usage [default: as in the sched_config; without one, nothing decays]
    #[arg(long, value_name = "DURATION", value_parser = decay_period, help_heading = "Context")]
    pub decay: Option<u64>,
    /// The factor of a decay, from 0 to 1 [default: as in the sched_config, else 0.5]
    #[arg(long, value_name = "F", value_parser = decay_factor, allow_negative_numbers = true, help_heading = "Context")]
    pub decay_factor: Option<f64>,
    /// The fair-share policy [default: pbs, or that of Slurm's tree]
    #[arg(long, value_enum, help_heading = "Rules")]
    pub policy: Option<PolicyArg>,
    /// Whose rules apply: what the daemon does, or what the published document says
    #[arg(long, value_enum, default_value_t = RulesArg::Documented, help_heading = "Rules")]
    pub rules: RulesArg,
    /// How the value of a formula is kept: as float32, as OpenPBS keeps it, or as a double
    #[arg(long, value_enum, default_value_t = NumbersArg::Exact, help_heading = "Rules")]
    pub numbers: NumbersArg,
    /// The value of a job whose evaluation fails: 0, 0 with exit code 1, or less than every other value
    #[arg(long, value_enum, default_value_t = OnErrorArg::Zero, help_heading = "Rules")]
    pub on_error: OnErrorArg,
    /// Leave out of the statistics the jobs that are submitted in this time after the first one, while the machine fills
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub warm_up: Option<u64>,
    /// Replace the names of entities and groups by u1, u2 … and g1, g2 … in everything that is written
    #[arg(long)]
    pub anonymise: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = SimulateFormatName::Human)]
    pub format: SimulateFormatName,
    /// How CSV is written.
    #[command(flatten)]
    pub csv: CsvArgs,
}

/// Which jobs may start before their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackfillArg {
    /// Those that do not delay the first job that does not fit
    Easy,
    /// All that fit
    Greedy,
    /// None
    None,
}

impl From<BackfillArg> for Backfill {
    fn from(backfill: BackfillArg) -> Self {
        match backfill {
            BackfillArg::Easy => Self::Easy,
            BackfillArg::Greedy => Self::Greedy,
            BackfillArg::None => Self::None,
        }
    }
}

/// The formats of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulateFormatName {
    /// Text and tables
    Human,
    /// One JSON document
    Json,
    /// The jobs as comma-separated values
    Csv,
}

fn decay_period(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        0 => Err("expected at least a second".to_owned()),
        seconds => Ok(seconds),
    }
}

fn decay_factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|factor: &f64| (0.0..=1.0).contains(factor));
    number.ok_or_else(|| "expected a number from 0 to 1, such as 0.5".to_owned())
}
