//! A log run through time: with which options, what comes out, and of what it warns.

use job_sort_formula::formula::Formula;
use jsf_simulate::{Backfill, Decay, Observer, Results, Schedule, Workload, simulate};
use jsf_words::{counted, quoted_and_list_of_five};
use serde::Deserialize;

use crate::simulation::simulated_machine::SimulatedMachine;
use crate::{LeftOut, PolicyName, Processors, Site, SiteError};

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

impl SimulatedQueue {
    /// What the simulation says of the jobs of its workload that are submitted at least `warm_up`
    /// seconds after the first one.
    pub fn results(&self, workload: &Workload, warm_up: i64) -> Results {
        Results::new(
            workload,
            &self.schedule,
            self.processors.total,
            self.shares.as_deref(),
            warm_up,
        )
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
        let backfill = options.backfill;
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
        let (mut rules, machine) = self.simulation_rules(workload, &options, times)?;
        let SimulatedMachine {
            source,
            placed_jobs,
            mut left_out,
        } = machine;
        if !rules.cycle.times.is_empty() {
            rules.non_prime = self.non_prime_rules(workload, backfill);
        }
        let preempts = rules.cycle.levels.is_preemptive;
        left_out.extend(self.left_out_of_preemption(preempts, workload.jobs().len()));
        left_out.extend(self.left_out(&queues));
        left_out.extend(of_times);
        let usage = options.usage;
        let fairshare = self.simulated_fairshare(program, workload, decay, usage, &mut warnings)?;
        let total = rules.processors();
        let backfilling = self.backfilling(backfill, &rules.cycle);
        let schedule =
            simulate(program, workload, rules, fairshare, observer).map_err(SiteError::content)?;
        warnings.extend(too_large(workload, &schedule, total));
        warnings.extend(never_started(workload, &schedule));
        warnings.extend(self.unlisted_queues(workload, &queues));
        let mut simulated = SimulatedQueue {
            schedule,
            processors: Processors {
                total,
                from: source,
            },
            placed: placed_jobs,
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
