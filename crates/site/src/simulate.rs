//! Simulates the queue of a site: reads logs of jobs, and runs them through time under a formula.

use std::collections::BTreeSet;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use job_sort_formula::diagnostic::{Diagnostic, Need};
use job_sort_formula::fairshare::{PolicyRules, ShareTree};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::lint::lint;
use job_sort_formula::formula::program::Program;
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::files::limits::{RunLimits, Subject};
use jsf_openpbs::resource_amount::NumberMode;
use jsf_simulate::{
    Decay, Fairshare, FairsharePolicy, LimitedQueue, LogInputs, Observer, Schedule, SimulationOptions, Workload,
    WorkloadBuilder, read_workload, simulate,
};

use super::compression::decompressed;
use super::file_kind::FileKind;
use super::policy::PolicyName;
use super::role::Role;
use super::source::FileSource;
use super::tree::SiteTree;
use super::{Site, SiteError};

/// The number of bytes by which a log is recognised.
const HEAD: u64 = 64 << 10;
/// The most names in a warning.
const MAX_NAMES: usize = 5;

/// A workload that is run through time under a formula.
pub struct SimulateRequest<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// The jobs, as [`Site::open_workload`] reads them for this formula.
    pub workload: &'a Workload,
    /// The machine and the rules.
    pub rules: SimulationOptions,
    /// The seconds between two decays of usage; `None`: as in the `sched_config`, and no decay without one.
    pub decay_period: Option<u64>,
    /// The factor of a decay; `None`: as in the `sched_config`, else 0.5.
    pub decay_factor: Option<f64>,
    /// Follows the simulation.
    pub observer: &'a mut dyn Observer,
}

impl<'a> SimulateRequest<'a> {
    /// A simulation in which usage decays as in the `sched_config`.
    pub fn new(
        formula: &'a Formula,
        workload: &'a Workload,
        rules: SimulationOptions,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self { formula, workload, rules, decay_period: None, decay_factor: None, observer }
    }
}

/// A simulated workload.
#[derive(Debug)]
pub struct SimulatedQueue {
    /// When the jobs start.
    pub schedule: Schedule,
    /// How usage decays.
    pub decay: Option<Decay>,
    /// The limits of running jobs that matter to the workload, in words: the queue or the server, and the limit.
    pub limits: Vec<String>,
    /// The share of the machine of each entity of the workload, by its index, 0..=1: `None` for an entity that the tree
    /// does not have, and no list without a tree.
    pub shares: Option<Vec<Option<f64>>>,
    /// What the simulation leaves out or assumes, one sentence each.
    pub warnings: Vec<String>,
}

impl Site {
    /// Reads logs of jobs as one workload, with the resources and the priorities that these formulas need. Of a folder, all
    /// files are read. What cannot be read of a log is in [`Workload::faults`].
    ///
    /// # Errors
    /// A log cannot be read, or has no job in a known format.
    pub fn open_workload(&self, sources: &[FileSource], formulas: &[&Formula]) -> Result<Workload, SiteError> {
        let mut names: Vec<&str> = formulas.iter().flat_map(|formula| formula.names()).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| self.schema.is_numeric(name) && !is_always_known(name));
        let inputs = names.into_iter().map(|name| (name.into(), self.schema.entry(name).map(|entry| entry.input_type)));
        let inputs = LogInputs {
            numbers: self.rules.numbers,
            names: inputs.collect(),
            queue_priorities: self
                .queues
                .iter()
                .map(|(name, priority)| (name.to_owned(), priority.unwrap_or(0)))
                .collect(),
        };
        read_logs(sources, WorkloadBuilder::with_inputs(inputs))
    }

    /// The findings about the text of a formula and its names.
    pub fn lint(&self, formula: &Formula) -> Vec<Diagnostic> {
        lint(formula.expr(), &self.schema)
    }

    /// Runs a workload through time under a formula. Fair share is charged to the site's tree, where every entity begins with
    /// a usage of 1.
    ///
    /// # Errors
    /// The formula is not arithmetic, it needs fair share and the site has no tree, or the tree cannot be built.
    pub fn simulate(&self, request: SimulateRequest<'_>) -> Result<SimulatedQueue, SiteError> {
        let SimulateRequest { formula, workload, rules, decay_period, decay_factor, observer } = request;
        let program = &formula.compile(&self.schema).map_err(|_| SiteError::NotArithmetic)?;
        let decay = self.simulated_decay(decay_period, decay_factor);
        let mut warnings = Vec::new();
        let mut unknown: Vec<&str> = program.inputs().iter().map(|name| &**name).collect();
        unknown.retain(|name| !is_always_known(name) && !workload.has_input(name));
        if !unknown.is_empty() {
            warnings.push(format!("no job of the log has {}, so every job has 0", few(unknown.into_iter())));
        }
        let fairshare = self.simulated_fairshare(program, workload, decay, &mut warnings)?;
        let others = self.limits_left_out();
        if !others.is_empty() {
            warnings
                .push(format!("the simulation has no limits of the kinds {}", few(others.iter().map(|name| &**name))));
        }
        let limits = self.limited_queues(workload);
        let schedule = simulate(program, workload, &rules, fairshare, limits, observer).map_err(SiteError::content)?;
        if !schedule.too_large.is_empty() {
            let ids = schedule.too_large.iter().map(|&job| workload.id(job));
            let list = few(ids);
            let count = schedule.too_large.len();
            let jobs = if count == 1 { "1 job asks" } else { &format!("{count} jobs ask") };
            warnings.push(format!(
                "{jobs} for more than the {} and can never start, so the simulation leaves out {list}",
                match rules.processors {
                    1 => "processor".to_owned(),
                    processors => format!("{processors} processors"),
                }
            ));
        }
        let held = (0..workload.jobs().len()).filter(|job| {
            schedule.is_complete && schedule.start(*job).is_none() && schedule.too_large.binary_search(job).is_err()
        });
        let held: Vec<&str> = held.map(|job| workload.id(job)).collect();
        if !held.is_empty() {
            warnings.push(format!("jobs that never start, because a limit lets none run: {}", few(held.into_iter())));
        }
        let limits = self.run_limits(workload);
        let shares = self.entity_shares(workload)?;
        Ok(SimulatedQueue { schedule, decay, limits, shares, warnings })
    }

    /// The limits of running jobs that matter to a workload, in words.
    fn run_limits(&self, workload: &Workload) -> Vec<String> {
        let queues =
            std::iter::once("").chain(workload.queues().iter().map(|queue| &**queue).filter(|queue| !queue.is_empty()));
        let described = queues.filter_map(|queue| {
            let of = if queue.is_empty() { "the server".to_owned() } else { format!("queue {queue}") };
            let of_jobs = self.queues.run_limits(queue)?.iter().filter(|limit| limit.resource.is_none());
            let limits = of_jobs.filter_map(|limit| match &limit.subject {
                Subject::All => Some(format!("{} in all", limit.most)),
                Subject::EachUser => Some(format!("{} of each user", limit.most)),
                Subject::User(user) => Some(format!("{} of `{user}`", limit.most)),
                _ => None,
            });
            let limits: Vec<String> = limits.collect();
            (!limits.is_empty()).then(|| format!("{of}: {} at the same time", limits.join(", ")))
        });
        described.collect()
    }

    /// The kinds of limits of the site that the simulation does without.
    fn limits_left_out(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self.queues.unread_limits().map(str::to_owned).collect();
        let queues = std::iter::once("").chain(self.queues.iter().map(|(queue, _)| queue));
        for limit in queues.filter_map(|queue| self.queues.run_limits(queue)).flat_map(RunLimits::iter) {
            match (&limit.resource, &limit.subject) {
                (Some(_), _) => _ = names.insert("max_run_res".to_owned()),
                (None, Subject::All | Subject::EachUser | Subject::User(_)) => {}
                (None, _) => _ = names.insert("max_run of groups or projects".to_owned()),
            }
        }
        names
    }

    fn limited_queues(&self, workload: &Workload) -> Vec<LimitedQueue> {
        let named = workload.queues().iter().zip(0..).filter(|(queue, _)| !queue.is_empty());
        let queues = std::iter::once(("", None)).chain(named.map(|(queue, index)| (&**queue, Some(index))));
        let limited = queues.filter_map(|(queue, index)| {
            let limits = self.queues.run_limits(queue)?;
            let count = |most: i64| u32::try_from(most).unwrap_or(u32::MAX);
            let of_users = workload.entities().iter().map(|user| limits.of_user(None, user).map(count));
            Some(LimitedQueue::new(index, limits.of_all(None).map(count), of_users))
        });
        limited.collect()
    }

    /// How usage decays: as the request says, else as in the `sched_config`.
    fn simulated_decay(&self, period: Option<u64>, factor: Option<f64>) -> Option<Decay> {
        let config = &self.config;
        let is_configured = self.files.has(Role::SchedConfig) && config.fairshare_decay_time > 0;
        let configured = is_configured.then(|| (config.fairshare_decay_time, f64::from(config.fairshare_decay_factor)));
        let period = period.or(configured.map(|(period, _)| period))?;
        let factor = factor.or(configured.map(|(_, factor)| factor)).unwrap_or(0.5);
        Some(Decay { period, factor })
    }

    /// The share of the machine of each entity of a workload.
    fn entity_shares(&self, workload: &Workload) -> Result<Option<Vec<Option<f64>>>, SiteError> {
        let Some(tree) = &self.tree else { return Ok(None) };
        let tree = self.simulated_tree(tree, workload)?;
        let shares = self.policy.build_policy(self.policy.name, &[]).assess(&tree);
        let of_entities = workload.entities().iter().map(|entity| shares.get(tree.resolve(entity)?));
        Ok(Some(of_entities.map(|shares| Some(shares?.fairshare_perc)).collect()))
    }

    /// The tree with the entities of a workload; those that OpenPBS does not find are in the group `unknown`.
    fn simulated_tree(&self, tree: &SiteTree, workload: &Workload) -> Result<ShareTree, SiteError> {
        match self.policy.name {
            PolicyName::Pbs => {
                let entities = workload.entities().iter().map(|entity| &**entity);
                // the scheduler's rules take any usage, and the documented ones do without that of the tree
                Ok(tree.pbs_tree(PolicyRules::Scheduler, entities)?.into_tree())
            }
            _ => tree.share_tree(),
        }
    }

    fn simulated_fairshare(
        &self,
        program: &Program,
        workload: &Workload,
        decay: Option<Decay>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Fairshare>, SiteError> {
        let Some(input) = program.inputs().iter().find(|name| FairshareInput::from_name(name).is_some()) else {
            return Ok(None);
        };
        let Some(tree) = &self.tree else {
            let missing = format!("the formula needs `{input}`, which a log of jobs does not have: ");
            return Err(SiteError::missing(missing, Need::Tree));
        };
        let name = self.policy.name;
        let unknown: Vec<&str> = match name {
            PolicyName::Pbs => {
                let known = tree.pbs_tree(PolicyRules::Scheduler, [])?;
                let entities = workload.entities().iter().map(|entity| &**entity);
                entities.filter(|entity| known.tree().find(entity).is_none()).collect()
            }
            _ => Vec::new(),
        };
        let tree = self.simulated_tree(tree, workload)?;
        if tree.nodes().any(|node| tree.children(node).is_empty() && tree.usage(node) > 1.0) {
            warnings
                .push("the usage in the tree does not count: in a simulation every entity begins with 1".to_owned());
        }
        let policy = match (name, self.policy.rules) {
            (PolicyName::Pbs, PolicyRules::Documented) => FairsharePolicy::Documented,
            _ => FairsharePolicy::Other(self.policy.build_policy(name, &[])),
        };
        let fairshare = Fairshare::new(tree, policy, decay, workload.entities());
        let fairshare = if self.rules.numbers == NumberMode::OpenPbs { fairshare.printed() } else { fairshare };
        let unknown: Vec<&str> = match name {
            PolicyName::Pbs => unknown,
            _ => fairshare.unknown_entities().map(|entity| &*workload.entities()[entity]).collect(),
        };
        if !unknown.is_empty() {
            let consequence = match name {
                PolicyName::Pbs => "they join the group `unknown`",
                _ => "their fair-share numbers are 0",
            };
            let list = few(unknown.into_iter());
            warnings.push(format!("entities of the log that are not in the tree: {list}; {consequence}"));
        }
        Ok(Some(fairshare))
    }
}

fn read_logs(sources: &[FileSource], mut builder: WorkloadBuilder) -> Result<Workload, SiteError> {
    for source in sources {
        match source {
            FileSource::Path(path) if path.is_dir() => {
                let entries = path.read_dir().and_then(|entries| {
                    entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()
                });
                let mut files = entries.map_err(|error| SiteError::read(path, error))?;
                files.sort_unstable();
                let (files, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.is_file());
                for other in others {
                    builder
                        .faults()
                        .add("it is a folder, a pipe or a broken link", || format!("`{}`", other.display()));
                }
                if files.is_empty() {
                    return Err(SiteError::content(format!("the folder `{}` contains no file", path.display())));
                }
                files.into_iter().try_for_each(|file| read_log(&FileSource::from(file), &mut builder))?;
            }
            _ => read_log(source, &mut builder)?,
        }
    }
    if builder.is_empty() {
        let names: Vec<String> = sources.iter().map(|source| format!("`{}`", source.name())).collect();
        let faults = builder.finish().faults().messages();
        let reason = faults.first().map_or_else(String::new, |fault| format!("; {fault}"));
        return Err(SiteError::content(format!("{} has no job that can be simulated{reason}", names.join(", "))));
    }
    Ok(builder.finish())
}

fn read_log(source: &FileSource, builder: &mut WorkloadBuilder) -> Result<(), SiteError> {
    let name = source.name();
    let failed = SiteError::reading(name.as_ref());
    let mut log = BufReader::with_capacity(1 << 16, decompressed(source.open()?).map_err(&failed)?);
    let mut head = Vec::new();
    log.by_ref().take(HEAD).read_to_end(&mut head).map_err(&failed)?;
    let kind = FileKind::detect(&head);
    let format = read_workload(&name, BufReader::new(head.as_slice().chain(log)), builder).map_err(&failed)?;
    if kind == FileKind::Empty {
        builder.faults().add("it is empty", || format!("`{name}`"));
    } else if format.is_none() {
        return Err(kind.refusal(format!(
            "`{name}` {}, expected a log of jobs: Standard Workload Format, PBS accounting records, `sacct -P` or NDJSON",
            kind.description()
        )));
    }
    Ok(())
}

/// Whether a simulation computes an input of every job, whatever the log says.
fn is_always_known(name: &str) -> bool {
    matches!(name, "ncpus" | "walltime" | "eligible_time") || FairshareInput::from_name(name).is_some()
}

/// The first few names, and how many more there are.
fn few<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut listed: Vec<String> = names.by_ref().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    let more = names.count();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    match listed.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => listed.concat(),
    }
}
