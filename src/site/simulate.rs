//! Simulates the queue of a site: reads logs of jobs, and runs them through time under a formula.

use std::io::{BufReader, Read};
use std::path::PathBuf;

use super::compression::decompressed;
use super::file_kind::FileKind;
use super::policy::PolicyName;
use super::source::FileSource;
use super::{Site, SiteError};
use crate::fairshare::Rules;
use crate::formula::program::Program;
use crate::schema::FairshareInput;
use crate::simulate::{
    Decay, Fairshare, FairsharePolicy, Observer, Schedule, SimulationRules, Workload, WorkloadBuilder, read_workload,
    simulate,
};

/// How many bytes of a log decide what it is.
const HEAD: u64 = 64 << 10;
/// The most names in a warning.
const MAX_NAMES: usize = 5;

/// A simulated workload, and the warnings about it.
#[derive(Debug)]
pub struct SimulatedQueue {
    /// When the jobs start.
    pub schedule: Schedule,
    /// What the simulation leaves out or assumes, one sentence each.
    pub warnings: Vec<String>,
}

/// Reads logs of jobs as one workload. Of a folder, all files are read. What cannot be read of a log is in
/// [`Workload::faults`].
///
/// # Errors
/// A log cannot be read, or has no job in a known format.
pub fn open_workload(sources: &[FileSource]) -> Result<Workload, SiteError> {
    let mut builder = WorkloadBuilder::new();
    for source in sources {
        match source {
            FileSource::Path(path) if path.is_dir() => {
                let entries = path.read_dir().and_then(|entries| {
                    entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()
                });
                let mut files = entries.map_err(|error| SiteError::read(path, error))?;
                files.retain(|file| file.is_file());
                files.sort_unstable();
                if files.is_empty() {
                    return Err(SiteError::Content(format!("the folder `{}` contains no file", path.display())));
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
        return Err(SiteError::Content(format!("{} has no job that can be simulated{reason}", names.join(", "))));
    }
    Ok(builder.finish())
}

fn read_log(source: &FileSource, builder: &mut WorkloadBuilder) -> Result<(), SiteError> {
    let name = source.name();
    let failed = |error| SiteError::read(name.as_ref(), error);
    let mut log = BufReader::with_capacity(1 << 16, decompressed(source.open()?).map_err(failed)?);
    let mut head = Vec::new();
    log.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
    let kind = FileKind::detect(&head);
    let is_known = read_workload(&name, BufReader::new(head.as_slice().chain(log)), builder).map_err(failed)?.is_some();
    if !is_known && kind != FileKind::Empty {
        return Err(SiteError::Content(format!(
            "`{name}` {}, expected a log of jobs: Standard Workload Format, PBS accounting records, `sacct -P` or NDJSON",
            kind.description()
        )));
    }
    Ok(())
}

impl Site {
    /// Runs a workload through time under a formula. Fair share is charged to the site's tree, where every entity begins with
    /// a usage of 1, and decays as `decay` says, or else as the `sched_config` says if the site has one.
    ///
    /// # Errors
    /// The formula needs fair share and the site has no tree, or the tree cannot be built.
    pub fn simulate(
        &self,
        program: &Program,
        workload: &Workload,
        rules: &SimulationRules,
        decay: Option<Decay>,
        observer: &mut dyn Observer,
    ) -> Result<SimulatedQueue, SiteError> {
        let mut warnings = Vec::new();
        let fairshare = self.simulated_fairshare(program, workload, decay, &mut warnings)?;
        let schedule = simulate(program, workload, rules, fairshare, observer).map_err(SiteError::content)?;
        if !schedule.too_large.is_empty() {
            let ids = schedule.too_large.iter().map(|&job| workload.id(job));
            let (list, count) = (few(ids), schedule.too_large.len());
            let jobs = if count == 1 { "1 job asks" } else { &format!("{count} jobs ask") };
            warnings.push(format!(
                "{jobs} for more than {} processors and can never start, so the simulation leaves out {list}",
                rules.processors
            ));
        }
        Ok(SimulatedQueue { schedule, warnings })
    }

    /// How usage decays in a simulation unless the caller says otherwise: as in the `sched_config`, if the site has one.
    pub fn configured_decay(&self) -> Option<Decay> {
        let config = &self.config;
        self.files
            .sched_config
            .as_ref()
            .filter(|_| config.fairshare_decay_time > 0)
            .map(|_| Decay { period: config.fairshare_decay_time, factor: config.fairshare_decay_factor.into() })
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
            return Err(SiteError::Missing(format!(
                "the formula needs `{input}`, which a log of jobs does not have: give the scheduler's `sched_priv` or a tree"
            )));
        };
        let name = self.policy.name;
        let (tree, unknown) = match name {
            PolicyName::Pbs => {
                let known = tree.pbs_tree(self.policy.rules, [])?;
                let is_unknown = |entity: &&str| known.tree().find(entity).is_none();
                let unknown: Vec<&str> =
                    workload.entities().iter().map(|entity| &**entity).filter(is_unknown).collect();
                let entities = workload.entities().iter().map(|entity| &**entity);
                (tree.pbs_tree(self.policy.rules, entities)?.tree().clone(), unknown)
            }
            _ => (tree.share_tree()?, Vec::new()),
        };
        if tree.nodes().any(|node| tree.children(node).is_empty() && tree.usage(node) > 1.0) {
            warnings
                .push("the usage in the tree does not count: in a simulation every entity begins with 1".to_owned());
        }
        let policy = match (name, self.policy.rules) {
            (PolicyName::Pbs, Rules::Documented) => FairsharePolicy::Documented,
            _ => FairsharePolicy::Other(self.policy.build_policy(name, &[])),
        };
        let fairshare = Fairshare::new(tree, policy, decay, workload.entities());
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
