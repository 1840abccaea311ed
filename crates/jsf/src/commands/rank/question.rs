//! What is asked of a ranking.

use serde::Deserialize;

#[cfg(feature = "command")]
use crate::cli::args::number_of_jobs;
use crate::job_filter::{JobFilter, NamedEntities, NamedJobs, NamedQueues};

/// Which jobs of the ranked queue are shown, and what of each.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "command", derive(clap::Args))]
pub struct RankQuestion {
    /// Show only the first N jobs
    #[cfg_attr(
        feature = "command",
        arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)
    )]
    pub top: Option<usize>,
    /// The jobs to show.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub(crate) jobs: NamedJobs,
    /// Whose jobs are shown.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub(crate) entities: NamedEntities,
    /// The queues whose jobs are shown.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub(crate) queues: NamedQueues,
    /// Show the inputs of the formula for each job
    #[cfg_attr(feature = "command", arg(long))]
    pub inputs: bool,
    /// Show the summands of the formula for each job
    ///
    /// With their signs, as `sprio -l` does: added up they are the value
    #[cfg_attr(feature = "command", arg(long))]
    pub terms: bool,
    /// Whether a page shows the answer, which has the groups and the fair-share tree too.
    #[serde(skip)]
    #[cfg_attr(feature = "command", arg(skip))]
    pub is_for_page: bool,
}

impl RankQuestion {
    /// The jobs to show.
    pub(crate) fn filter(&self) -> JobFilter<'_> {
        JobFilter {
            jobs: &self.jobs.job,
            entities: &self.entities.entity,
            queues: &self.queues.queue_name,
        }
    }
}
