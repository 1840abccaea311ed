//! What is asked of an explanation.

#[cfg(feature = "command")]
use std::str::FromStr;

use jsf_openpbs::amounts::Time;
#[cfg(feature = "command")]
use jsf_openpbs::amounts::parse_duration;
use jsf_site::DescribedJob;
use serde::Deserialize;

#[cfg(feature = "command")]
use crate::cli::args::number_within;
use crate::job_filter::{NamedEntities, NamedJobs};
use crate::log_options::seconds;

/// The longest wait that can be asked for, in seconds: ten years.
pub(crate) const MAX_WAIT: u64 = 10 * 366 * 24 * 3600;

/// Which jobs are explained, and until when a rank is looked for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "command", derive(clap::Args))]
pub struct ExplainQuestion {
    /// The jobs.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub jobs: NamedJobs,
    /// Explain a job that is only described
    ///
    /// A job as if it were submitted now, such as 'queue=gpu,ncpus=12,walltime=4h': its queue (else
    /// the default one), what it requests in all, and what else the formula reads, such as
    /// fairshare_factor=0.4 or eligible_time=2h; its entity is that of --entity; what it does not request it has by the defaults of
    /// its queue and the server. At a site of Slurm the queue is the partition, and qos=NAME the
    /// QOS
    #[serde(skip)]
    #[cfg_attr(feature = "command", arg(long = "as", value_name = "DESCRIPTION", value_parser = DescribedJob::from_str))]
    pub described: Option<DescribedJob>,
    /// Whose jobs to explain.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub entities: NamedEntities,
    /// Also say when the job reaches rank N
    ///
    /// If all considered jobs keep waiting and nothing else changes
    #[cfg_attr(feature = "command", arg(long, value_name = "N", value_parser = rank_to_reach, allow_negative_numbers = true))]
    pub to: Option<usize>,
    /// The longest wait for --to
    ///
    /// The longest wait that --to considers, such as 90s, 15m, 24h, 7d or 1-12:00:00 [default: 30d]
    #[serde(deserialize_with = "seconds")]
    #[cfg_attr(
        feature = "command",
        arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration, requires = "to")
    )]
    pub within: Option<u64>,
    /// The most work of the searches for one job.
    #[serde(skip)]
    #[cfg_attr(feature = "command", arg(skip))]
    pub work: Option<u64>,
    /// The moment at which running jobs would give way, if it is given.
    #[serde(skip)]
    #[cfg_attr(feature = "command", arg(skip))]
    pub at: Option<Time>,
}

/// Parses the rank that a job is to reach.
#[cfg(feature = "command")]
fn rank_to_reach(text: &str) -> Result<usize, String> {
    number_within(
        text,
        1..=u32::MAX as usize,
        "a rank of 1 or more, such as 5",
    )
}
