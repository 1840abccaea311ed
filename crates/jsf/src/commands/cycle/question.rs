//! What is asked of a scheduling cycle.

use std::num::NonZeroU32;

use jsf_openpbs::amounts::Time;
use serde::Deserialize;

#[cfg(feature = "command")]
use crate::cli::args::processors;
use crate::job_filter::{NamedEntities, NamedJobs};

/// Which jobs of the cycle are shown, and on which machine it runs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "command", derive(clap::Args))]
pub struct CycleQuestion {
    /// The jobs.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub(crate) jobs: NamedJobs,
    /// Whose jobs are shown.
    #[serde(flatten)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub(crate) entities: NamedEntities,
    /// The number of processors, instead of the nodes
    ///
    /// No job waits for anything else then, such as memory and GPUs: a warning names it.
    #[cfg_attr(feature = "command", arg(long, value_name = "N", value_parser = processors, allow_negative_numbers = true))]
    pub(crate) processors: Option<NonZeroU32>,
    /// The moment of the cycle, if it is given.
    #[serde(skip)]
    #[cfg_attr(feature = "command", arg(skip))]
    pub(crate) at: Option<Time>,
}
