//! How much of a simulation is shaped by usage that starts fresh.

use job_sort_formula::formula::Formula;
use job_sort_formula::schema::FairshareInput;
use jsf_simulate::Workload;

use super::simulate::StartingUsage;
use super::{Site, SiteError};

/// The usage of an entity that has run nothing.
const FRESH: f64 = 1.0;

impl Site {
    /// The time in which usage that starts fresh decays once, in seconds: until then it says who ran first, and not who runs much.
    /// `None` where the simulation does without fair share, where the tree has usage to start with, and where nothing decays.
    ///
    /// # Errors
    /// The tree cannot be built.
    pub fn fresh_usage_decay(
        &self,
        formulas: &[&Formula],
        usage: StartingUsage,
        decay_period: Option<u64>,
    ) -> Result<Option<u64>, SiteError> {
        let Some(tree) = &self.tree else { return Ok(None) };
        let mut names = formulas.iter().flat_map(|formula| formula.names());
        let is_used = self.config.fair_share.prime || names.any(|name| FairshareInput::from_name(name).is_some());
        if !is_used {
            return Ok(None);
        }
        let tree = self.simulated_tree(tree, &Workload::default())?;
        let mut leaves = tree.nodes().filter(|&node| tree.children(node).is_empty());
        let has_usage = leaves.any(|node| tree.usage(node) > FRESH);
        let is_fresh = usage == StartingUsage::Fresh || !has_usage;
        Ok(self.simulated_decay(decay_period, None).filter(|_| is_fresh).map(|decay| decay.period))
    }
}
