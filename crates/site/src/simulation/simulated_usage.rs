//! The usage of a fair-share tree in a simulation: with what it begins, how it decays, and for how
//! long it says nothing yet.

use job_sort_formula::diagnostic::Need;
use job_sort_formula::fairshare::decay::HalfLife;
use job_sort_formula::fairshare::{PolicyRules, ShareTree};
use job_sort_formula::formula::program::Program;
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::amounts::NumberMode;
use jsf_simulate::{Decay, Fairshare, FairsharePolicy, UsageMeasure, WarmUp, Workload};
use jsf_words::quoted_and_list_of_five;

use crate::site_tree::SiteTree;
use crate::{PolicyName, Role, SimulationOptions, Site, SiteError, StartingUsage};

/// The usage of an entity that has run nothing.
const FRESH: f64 = 1.0;

impl Site {
    /// How usage decays: as the options say, else as in the `slurm.conf` or the `sched_config`.
    pub(super) fn simulated_decay(&self, options: &SimulationOptions) -> Option<Decay> {
        let (given, factor) = (options.decay_period, options.decay_factor);
        let period = self.decay_period(given)?;
        let is_of_slurm = self.decays_as_in_slurm_conf();
        if is_of_slurm && given.is_none() && factor.is_none() {
            let conf = &self.policy.conf;
            return Some(Decay {
                period: conf.calc_period.into(),
                factor: HalfLife::new(conf.decay_half_life).factor(conf.calc_period),
            });
        }
        let configured = if self.files.has(Role::SchedConfig) && !is_of_slurm {
            self.config.fairshare_decay_factor.into()
        } else {
            0.5
        };
        Some(Decay {
            period,
            factor: factor.unwrap_or(configured),
        })
    }

    /// The time in which usage decays once, in seconds: as the options say, else the half-life of
    /// the `slurm.conf` or the interval of the `sched_config`.
    pub(crate) fn decay_period(&self, given: Option<u64>) -> Option<u64> {
        if given.is_some() {
            return given;
        }
        let configured = if self.decays_as_in_slurm_conf() {
            self.policy.conf.decay_half_life.into()
        } else if self.files.has(Role::SchedConfig) {
            self.config.fairshare_decay_time
        } else {
            0
        };
        (configured > 0).then_some(configured)
    }

    fn decays_as_in_slurm_conf(&self) -> bool {
        self.policy.name != PolicyName::Pbs && self.files.has(Role::SlurmConf)
    }

    /// The share of the machine of each entity of a workload.
    pub(super) fn entity_shares(
        &self,
        workload: &Workload,
    ) -> Result<Option<Vec<Option<f64>>>, SiteError> {
        let Some(tree) = &self.tree else {
            return Ok(None);
        };
        let tree = self.simulated_tree(tree, workload)?;
        let policy = self.policy.build_policy(self.policy.name, &[]);
        let shares = policy.assess(&tree);
        let entities = workload.names_in_log().entities.iter();
        let entity_shares =
            entities.map(|entity| Some(shares.get(tree.resolve(entity)?)?.fairshare_perc));
        Ok(Some(entity_shares.collect()))
    }

    /// The tree with the entities of a workload; those that OpenPBS does not find are in the group
    /// `unknown`.
    fn simulated_tree(&self, tree: &SiteTree, workload: &Workload) -> Result<ShareTree, SiteError> {
        if self.policy.name != PolicyName::Pbs {
            return tree.share_tree();
        }
        let entities = workload.names_in_log().entities.iter();
        // jobs without an entity are not one entity
        let entities = entities
            .map(AsRef::as_ref)
            .filter(|entity: &&str| !entity.is_empty());
        // the scheduler's rules take any usage, and the documented ones do without that of the tree
        Ok(tree.pbs_tree(PolicyRules::Scheduler, entities)?.into_tree())
    }

    pub(super) fn simulated_fairshare(
        &self,
        program: &Program,
        workload: &Workload,
        decay: Option<Decay>,
        usage: StartingUsage,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Fairshare>, SiteError> {
        let mut inputs = program.inputs().iter();
        let input = inputs.find(|name| FairshareInput::from_name(name).is_some());
        if input.is_none() && !self.config.fair_share.prime {
            return Ok(None);
        }
        let Some(tree) = &self.tree else {
            let Some(input) = input else {
                return Ok(None);
            };
            let missing =
                format!("the formula needs `{input}`, which a log of jobs does not have: ");
            return Err(SiteError::missing(missing, Need::Tree));
        };
        let (name, rules) = (self.policy.name, self.policy.rules);
        let in_log = &workload.names_in_log().entities;
        let policy = match name {
            PolicyName::TicketBased => FairsharePolicy::TicketBased(rules),
            _ => FairsharePolicy::Other(self.policy.build_policy(name, &[])),
        };
        let simulated = self.simulated_tree(tree, workload)?;
        let is_documented = (name, rules) == (PolicyName::Pbs, PolicyRules::Documented);
        let mut fairshare = Fairshare::new(
            simulated,
            policy,
            decay,
            in_log,
            // Slurm has no least usage
            if self.slurm.is_some() { 0.0 } else { 1.0 },
            usage == StartingUsage::Tree && !is_documented,
        );
        if self.files.has(Role::SchedConfig) {
            let measure = UsageMeasure::from_formula(&self.config.fairshare_usage_res);
            fairshare.measure = measure.unwrap_or_default();
        }
        fairshare.is_printed = self.options.numbers == NumberMode::OpenPbs;
        let known = match name {
            PolicyName::Pbs => Some(tree.pbs_tree(PolicyRules::Scheduler, [""; 0])?),
            _ => None,
        };
        let consequence = match known {
            Some(_) => "they join the group `unknown`",
            None => "their fair-share numbers are 0",
        };
        let mut unknown = Vec::new();
        for (entity, name) in in_log.iter().enumerate() {
            let is_known = match &known {
                Some(known) => known.tree().find(name).is_some(),
                None => fairshare.nodes[entity].is_some(),
            };
            if !is_known {
                unknown.push(&*workload.entities()[entity]);
            }
        }
        if unknown.contains(&"") {
            let zero = "jobs whose user the log does not say have fair-share numbers of 0";
            warnings.push(zero.to_owned());
            unknown.retain(|name| !name.is_empty());
        }
        if !unknown.is_empty() {
            let list = quoted_and_list_of_five(unknown);
            warnings.push(format!(
                "entities of the log that are not in the tree: {list}; {consequence}"
            ));
        }
        Ok(Some(fairshare))
    }

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
