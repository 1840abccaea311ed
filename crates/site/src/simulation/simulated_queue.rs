//! A log run through time: with which options; with which usage the fair-share tree begins, how it
//! decays and for how long it says nothing yet; what comes out, and of what it warns.

use job_sort_formula::diagnostic::Need;
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::fairshare::decay::HalfLife;
use job_sort_formula::schema::FairshareInput;
use job_sort_formula::{Formula, Program, ShareTree};
use jsf_openpbs::NumberMode;
use jsf_simulate::{
    Backfill, Decay, Fairshare, FairsharePolicy, Observer, Schedule, Statistics, UsageMeasure,
    WarmUp, Workload, simulate,
};
use jsf_words::{counted, quoted_and_list_of_five};
use serde::{Deserialize, Serialize};

use crate::site_tree::SiteTree;
use crate::{LeftOut, PolicyName, Role, Site, SiteError};

/// How a workload is run through time, where that is not as the site says.
#[derive(Debug, Clone, Copy, Default)]
pub struct SimulationOptions {
    /// The number of processors, instead of the site's nodes.
    pub processors: Option<u32>,
    /// Which jobs may start before their turn; `None`: as in the `sched_config`, and EASY without
    /// one.
    pub backfill: Option<Backfill>,
    /// The usage that every entity begins with.
    pub usage: StartingUsage,
    /// The seconds between two decays of usage; `None`: as in the `slurm.conf` under a policy of
    /// Slurm, else as in the `sched_config`, and no decay without one.
    pub decay_period: Option<u64>,
    /// The factor of a decay; `None`: as in the file that the period is from, else 0.5.
    pub decay_factor: Option<f64>,
}

/// The usage with which a simulation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum StartingUsage {
    /// The usage in the tree
    #[default]
    #[serde(rename = "start")]
    #[cfg_attr(feature = "clap", value(name = "start"))]
    Tree,
    /// None, which is 1 for every entity
    Fresh,
}

/// Fewer jobs do not say whether jobs wait.
const MIN_JOBS: usize = 20;
/// Where at most this part of the jobs waits, a formula decides nothing.
const FEW_WAIT: f64 = 0.01;

/// A simulated workload.
#[derive(Debug)]
pub struct SimulatedQueue {
    /// When the jobs start.
    pub schedule: Schedule,
    /// The processors of the machine.
    pub processors: Processors,
    /// How many jobs are placed on the hosts of the nodes as their `select` says.
    pub placed: usize,
    /// What a cycle starts, in words.
    pub backfilling: String,
    /// The fair-share policy; `None` without a tree.
    pub policy: Option<PolicyName>,
    /// How usage decays.
    pub decay: Option<Decay>,
    /// The server and the queues that have limits of running jobs, in words.
    pub limits: Vec<String>,
    /// What the site has and the simulation does without.
    pub left_out: Vec<LeftOut>,
    /// The share of the machine of each entity of the workload, by its index, 0..=1: `None` for an
    /// entity that the tree does not have, and no list without a tree.
    pub shares: Option<Vec<Option<f64>>>,
    /// What the simulation leaves out or assumes, one sentence each.
    pub warnings: Vec<String>,
}

/// The processors of a simulated machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Processors {
    /// How many there are.
    pub total: u32,
    /// Where that number is from.
    pub(crate) from: ProcessorsSource,
}

/// Where the number of processors of a simulated machine is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessorsSource {
    /// It was given.
    Given,
    /// They are those of the site's nodes.
    Nodes,
    /// The log says it.
    Log,
}

impl Processors {
    /// Whether their number was given.
    pub fn are_given(self) -> bool {
        self.from == ProcessorsSource::Given
    }

    /// Where their number is from, which follows it in a sentence.
    pub fn source_in_words(self) -> &'static str {
        match self.from {
            ProcessorsSource::Given => "as given",
            ProcessorsSource::Nodes => "of the site's nodes",
            ProcessorsSource::Log => "by the log",
        }
    }
}

impl SimulatedQueue {
    /// What the simulation says of the jobs of its workload that are submitted at least `warm_up`
    /// seconds after the first one.
    pub fn statistics(&self, workload: &Workload, warm_up: i64) -> Statistics {
        let Self {
            schedule, shares, ..
        } = self;
        let mut statistics = Statistics::new(workload, schedule, self.processors.total, warm_up);
        if let Some(shares) = shares {
            statistics.add_fairness(workload, schedule, shares);
        }
        statistics
    }

    /// The warning that hardly any job waits, so that the formula decides nothing: the machine is
    /// larger than that of the log, or it was idle. `None` if jobs wait, and where there are too
    /// few to say it.
    pub fn no_waits(&self, workload: &Workload) -> Option<String> {
        let (mut started, mut waiting) = (0, 0);
        for (index, job) in workload.jobs().iter().enumerate() {
            if let Some(start) = self.schedule.start(index) {
                started += 1;
                waiting += usize::from(start > job.submit);
            }
        }
        if started < MIN_JOBS || waiting as f64 > started as f64 * FEW_WAIT {
            return None;
        }
        let mut logged = String::new();
        if let Some(most) = workload.most_processors_in_use() {
            logged = format!("; the jobs of the log never used more than {most} at once");
        }
        Some(format!(
            "hardly any job waits, so that no formula makes a difference: the machine has {} processors \
             {}{logged}; give the number that the machine of the log had, or a busier log",
            self.processors.total,
            self.processors.source_in_words()
        ))
    }
}

impl Site {
    /// Runs a workload, as [`Site::open_workload`] reads it for the formula, through time under the
    /// formula, by the rules of the site's scheduler.
    ///
    /// # Errors
    /// The formula is not arithmetic, it needs fair share and the site has no tree, the tree cannot
    /// be built, or the number of processors is not known.
    pub fn simulate(
        &self,
        formula: &Formula,
        workload: &Workload,
        options: SimulationOptions,
        observer: &mut dyn Observer,
    ) -> Result<SimulatedQueue, SiteError> {
        let program = &formula.compile(&self.schema)?;
        let decay = self.simulated_decay(&options);
        let mut warnings = Vec::new();
        let mut unknown: Vec<&str> = Vec::new();
        for name in program.inputs() {
            if !self.is_simulated(name) && !workload.has_input(name) {
                unknown.push(name);
            }
        }
        if !unknown.is_empty() {
            warnings.push(format!(
                "no job of the log has {}, so every job has 0",
                quoted_and_list_of_five(unknown)
            ));
        }
        let mut queues: Vec<(&str, usize)> = Vec::new();
        for queue in workload.queues() {
            queues.push((queue, 0));
        }
        for job in workload.jobs() {
            queues[job.queue as usize].1 += 1;
        }
        let (times, of_times) = self.simulated_times(workload, &queues, &mut warnings)?;
        let mut left_out = Vec::new();
        let (rules, from, placed) =
            self.simulation_rules(workload, &options, times, &mut left_out)?;
        let preempts = rules.preempts();
        left_out.extend(self.left_out_of_preemption(preempts, workload.jobs().len()));
        left_out.extend(self.left_out(&queues));
        left_out.extend(of_times);
        let fairshare = self.simulated_fairshare(
            program,
            workload,
            decay,
            options.usage,
            rules.orders_by_fair_share(),
            &mut warnings,
        )?;
        let total = rules.processors();
        let backfilling = self.backfilling(&options, &rules.cycle);
        let schedule =
            simulate(program, workload, rules, fairshare, observer).map_err(SiteError::content)?;
        warnings.extend(too_large(workload, &schedule, total));
        warnings.extend(never_started(workload, &schedule));
        warnings.extend(self.unlisted_queues(workload, &queues));
        let mut simulated = SimulatedQueue {
            schedule,
            processors: Processors { total, from },
            placed,
            backfilling,
            policy: self.tree.is_some().then_some(self.policy.name),
            decay,
            limits: self.limited_owners(workload),
            left_out,
            shares: self.entity_shares(workload)?,
            warnings,
        };
        let no_waits = simulated.no_waits(workload);
        simulated.warnings.splice(0..0, no_waits);
        Ok(simulated)
    }

    /// The server and the queues of a workload that have limits of running jobs.
    fn limited_owners(&self, workload: &Workload) -> Vec<String> {
        let mut owners = Vec::new();
        if self.queues.limits.hard.contains_key("") {
            owners.push("the server".to_owned());
        }
        for queue in workload.queues() {
            if !queue.is_empty() && self.queues.limits.hard.contains_key(queue) {
                owners.push(format!("queue {queue}"));
            }
        }
        owners
    }

    /// The queues of a workload that the site's documents do not list, in a warning. The
    /// queues have the numbers of their jobs.
    fn unlisted_queues(&self, workload: &Workload, queues: &[(&str, usize)]) -> Option<String> {
        let mut unlisted = Vec::new();
        let mut jobs = 0;
        for &(queue, jobs_in) in queues {
            if !queue.is_empty() && jobs_in > 0 && !self.queues.contains(queue) {
                unlisted.push(queue);
                jobs += jobs_in;
            }
        }
        if jobs == 0 || self.queues.is_empty() {
            return None;
        }
        let names = quoted_and_list_of_five(unlisted);
        let all = workload.jobs().len();
        Some(format!(
            "queues of the log that the site does not have: {names} ({jobs} of {all} jobs); they have no limits here"
        ))
    }
}

/// The warning about jobs that ask for more than there is.
fn too_large(workload: &Workload, schedule: &Schedule, processors: u32) -> Option<String> {
    if schedule.too_large.is_empty() {
        return None;
    }
    let list = quoted_and_list_of_five(schedule.too_large.iter().map(|&job| workload.id(job)));
    let jobs = counted(schedule.too_large.len(), "job asks", "jobs ask");
    Some(format!(
        "{jobs} for more than there is ({processors} processors) and can never start, so the simulation leaves out {list}"
    ))
}

/// The warnings about jobs that never start although the machine is large enough.
fn never_started(workload: &Workload, schedule: &Schedule) -> Vec<String> {
    let mut held = schedule.never_start().collect::<Vec<_>>();
    held.retain(|job| !schedule.deleted.contains(job));
    let mut warnings = Vec::new();
    for (jobs, what) in [
        (
            &held,
            "jobs that never start, because a limit, a threshold or a stopped queue lets none run",
        ),
        (
            &schedule.deleted,
            "jobs that are deleted to make room for others",
        ),
    ] {
        if !jobs.is_empty() {
            let names = quoted_and_list_of_five(jobs.iter().map(|&job| workload.id(job)));
            warnings.push(format!("{what}: {names}"));
        }
    }
    warnings
}

/// The usage of an entity that has run nothing.
const FRESH: f64 = 1.0;

impl Site {
    /// How usage decays: as the options say, else as in the `slurm.conf` or the `sched_config`.
    fn simulated_decay(&self, options: &SimulationOptions) -> Option<Decay> {
        let (given, factor) = (options.decay_period, options.decay_factor);
        let period = self.decay_period(given)?;
        let is_of_slurm = self.decays_as_in_slurm_conf();
        if is_of_slurm && given.is_none() && factor.is_none() {
            // slurmctld decays usage at every PriorityCalcPeriod, by that part of the half-life
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
    fn entity_shares(&self, workload: &Workload) -> Result<Option<Vec<Option<f64>>>, SiteError> {
        let Some(tree) = &self.tree else {
            return Ok(None);
        };
        let tree = self.simulated_tree(tree, workload)?;
        // the shares that are given do not depend on who has pending jobs
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
        // jobs without an entity are not one entity
        let entities = workload.names_in_log().entities.iter();
        let entities = entities.filter(|entity| !entity.is_empty());
        // the scheduler's rules take any usage, and the documented ones do without that of the tree
        tree.tree_for(self.policy.name, PolicyRules::Scheduler, entities)
    }

    fn simulated_fairshare(
        &self,
        program: &Program,
        workload: &Workload,
        decay: Option<Decay>,
        usage: StartingUsage,
        orders_jobs: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Fairshare>, SiteError> {
        let mut inputs = program.inputs().iter();
        let input = inputs.find(|name| FairshareInput::from_name(name).is_some());
        let tree = match (&self.tree, input) {
            (Some(tree), _) if input.is_some() || orders_jobs => tree,
            (None, Some(input)) => {
                let missing =
                    format!("the formula needs `{input}`, which a log of jobs does not have: ");
                return Err(SiteError::missing(missing, Need::Tree));
            }
            _ => return Ok(None),
        };
        let (name, rules) = (self.policy.name, self.policy.rules);
        let in_log = &workload.names_in_log().entities;
        let policy = match name {
            // its shares depend on who waits, which changes with every cycle
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
            // by the documented rules the usage of every entity begins at 1
            usage == StartingUsage::Tree && !is_documented,
        );
        if self.files.has(Role::SchedConfig) {
            let measure = UsageMeasure::from_formula(&self.config.fairshare_usage_res);
            fairshare.measure = measure.unwrap_or_default();
        }
        fairshare.is_printed = self.options.numbers == NumberMode::OpenPbs;
        let known = match name {
            // without the entities of the log, for which `simulated` has nodes in `unknown`
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
