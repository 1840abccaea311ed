//! How much of a simulation is shaped by usage that starts fresh.

use jsf_simulate::{WarmUp, Workload};

use crate::simulation::site_simulation::{SimulationOptions, StartingUsage};
use crate::{Site, SiteError};

/// The usage of an entity that has run nothing.
const FRESH: f64 = 1.0;

/// Checks that a warm-up leaves jobs of a workload that count.
///
/// # Errors
/// The last job is submitted before the warm-up, in seconds after the first submission, is over.
pub fn check_warm_up(workload: &Workload, warm_up: i64) -> Result<(), SiteError> {
    let (Some(first), Some(last)) = (workload.jobs().first(), workload.jobs().last()) else {
        return Ok(());
    };
    let length = last.submit.saturating_sub(first.submit);
    if warm_up <= length {
        return Ok(());
    }
    Err(SiteError::content(format!(
        "the warm-up of {warm_up} s leaves no job: the last one is submitted {length} s after the first"
    )))
}

impl Site {
    /// How long after the first submission of a workload the jobs begin that count: under any
    /// formula the same, so that the results of one are the same beside any other.
    ///
    /// # Errors
    /// The tree cannot be built.
    pub fn warm_up(
        &self,
        workload: &Workload,
        options: &SimulationOptions,
    ) -> Result<WarmUp, SiteError> {
        let Some(period) = self.fresh_usage_decay(options)? else {
            return Ok(WarmUp::None);
        };
        let period = i64::try_from(period).unwrap_or(i64::MAX).max(1);
        let [first, .., last] = workload.jobs() else {
            return Ok(WarmUp::None);
        };
        let until_decay = if self.decays_as_in_slurm_conf() && options.decay_period.is_none() {
            period
        } else {
            // usage decays at every multiple of the period, wherever the log begins
            period - first.submit.rem_euclid(period)
        };
        let is_short = until_decay > last.submit.saturating_sub(first.submit) / 2;
        Ok(if is_short {
            WarmUp::LogTooShort(until_decay)
        } else {
            WarmUp::UntilDecay(until_decay)
        })
    }

    /// The time in which usage that starts fresh decays once, in seconds: until then it says who
    /// ran first, and not who runs much. `None` without a tree, where the tree has usage to start
    /// with, and where nothing decays.
    fn fresh_usage_decay(&self, options: &SimulationOptions) -> Result<Option<u64>, SiteError> {
        let Some(tree) = &self.tree else {
            return Ok(None);
        };
        let tree = self.simulated_tree(tree, &Workload::default())?;
        let mut nodes = tree.nodes();
        let has_usage =
            nodes.any(|node| tree.children(node).is_empty() && tree.usage(node) > FRESH);
        if has_usage && options.usage != StartingUsage::Fresh {
            return Ok(None);
        }
        Ok(self.decay_period(options.decay_period))
    }
}
