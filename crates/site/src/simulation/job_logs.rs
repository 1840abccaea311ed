//! Logs of jobs as the workload of a simulation: which inputs are taken from them, and what is left
//! out.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read};

use job_sort_formula::Formula;
use job_sort_formula::schema::{FairshareInput, Origin};
use jsf_ingest::FileKind;
use jsf_openpbs::times::seconds;
use jsf_simulate::{
    FORMATS, Faults, LogInputs, LogRules, MAX_RUN_SUBJOBS, Workload, WorkloadBuilder,
    read_workload, sacct_advice,
};
use jsf_slurm::{AGE, Cluster};
use jsf_words::quoted_list;

use crate::files::file_role::unexpected;
use crate::files::file_source::OpenedFile;
use crate::site_tree::SiteTree;
use crate::{FileSource, Role, Site, SiteError};

impl Site {
    /// Reads logs of jobs as one workload, with the resources and the priorities that these
    /// formulas need. Of a folder, all files are read. What is left out of a log is in
    /// [`Workload::faults`].
    ///
    /// # Errors
    /// A log cannot be read, or has no job in a known format.
    pub fn open_workload(
        &self,
        sources: &[FileSource],
        formulas: &[&Formula],
        rules: LogRules,
    ) -> Result<Workload, SiteError> {
        let queues: Vec<Box<str>> = self.queues.iter().map(|(queue, _)| queue.into()).collect();
        let priorities = self.queues.iter();
        let queue_priorities =
            priorities.map(|(queue, priority)| (queue.to_owned(), priority.unwrap_or(0)));
        let mut names = self.limited_resources(&queues);
        names.retain(|name| !is_always_known(name));
        names.extend(self.names_in_log(formulas).into_iter().map(Into::into));
        names.extend(self.counted_resources()?);
        names.extend(self.sorted_resources());
        names.insert(MAX_RUN_SUBJOBS.into());
        let mut typed_names = Vec::new();
        for name in names {
            let kind = self.schema.input_type(&name);
            typed_names.push((name, kind));
        }
        let inputs = LogInputs {
            numbers: self.options.numbers,
            entity: self.config.fairshare_entity,
            names: typed_names,
            queue_priorities: queue_priorities.collect(),
            default_walltimes: self.default_walltimes(&queues),
            slurm: self.logged_priority(formulas),
            // without these files only differences of times count
            takes_clock: self.files.has(Role::Holidays) || self.files.has(Role::DedicatedTime),
            // without nodes no chunk is placed
            takes_chunks: self.files.has(Role::Nodes),
            // a tree of Slurm has a node for each account of a user
            by_association: self.slurm.is_some()
                && self.tree.as_ref().is_some_and(SiteTree::is_of_slurm),
            rules,
        };
        read_logs(sources, WorkloadBuilder::with_inputs(inputs))
    }

    /// The names in formulas that a simulation takes from the log.
    pub fn names_in_log<'f>(&self, formulas: &[&'f Formula]) -> Vec<&'f str> {
        let mut names = BTreeSet::new();
        for formula in formulas {
            names.extend(formula.names());
        }
        names.retain(|name| self.schema.is_numeric(name) && !self.is_simulated(name));
        names.into_iter().collect()
    }

    /// Whether a simulation computes an input, whatever the log says.
    pub(super) fn is_simulated(&self, name: &str) -> bool {
        is_always_known(name) || name == AGE && self.slurm.is_some()
    }

    /// What the numbers of Slurm's priority follow from, if the site is one of Slurm and a formula
    /// names one.
    fn logged_priority(&self, formulas: &[&Formula]) -> Option<Cluster> {
        let slurm = self.slurm.as_ref()?;
        let mut names = self.names_in_log(formulas).into_iter();
        if !names.any(|name| self.schema.origin(name) == Some(Origin::Slurm)) {
            return None;
        }
        Some(slurm.cluster.clone())
    }

    /// The time that a job of each queue gets if it asks for none; that of an empty name is for all
    /// other queues.
    fn default_walltimes(&self, queues: &[Box<str>]) -> BTreeMap<String, i64> {
        let mut defaults = BTreeMap::new();
        for queue in [""].into_iter().chain(queues.iter().map(AsRef::as_ref)) {
            if let Some(default) = self.queues.default_amount(queue, "walltime")
                // as in a log, 0 is no requested time
                && let Some(walltime @ 1..) = seconds(default)
            {
                defaults.insert(queue.to_owned(), walltime);
            }
        }
        defaults
    }
}

fn read_logs(sources: &[FileSource], mut builder: WorkloadBuilder) -> Result<Workload, SiteError> {
    for source in sources {
        let folder = match source {
            FileSource::Path(path) if path.is_dir() => path,
            _ => {
                read_log(source, &mut builder)?;
                continue;
            }
        };
        let mut entries = Vec::new();
        for entry in folder.read_dir().map_err(SiteError::reading(folder))? {
            entries.push(entry.map_err(SiteError::reading(folder))?.path());
        }
        // `read_dir` has no order, and of equal faults the first is named
        entries.sort_unstable();
        if !entries.iter().any(|entry| entry.is_file()) {
            return Err(SiteError::content(format!(
                "the folder `{}` contains no file",
                folder.display()
            )));
        }
        for entry in entries {
            if entry.is_file() {
                read_log(&FileSource::from(entry), &mut builder)?;
                continue;
            }
            builder.faults().add(
                "it is a folder, a pipe or a broken link",
                format_args!("`{}`", entry.display()),
            );
        }
    }
    let workload = builder.finish();
    if workload.jobs().is_empty() {
        return Err(SiteError::content(format!(
            "{} has no job that can be simulated{}",
            quoted_list(sources.iter().map(FileSource::name)),
            reasons(workload.faults())
        )));
    }
    Ok(workload)
}

/// Why a log has no job: how many lines are left out for each reason, and the first that is named.
fn reasons(faults: &Faults) -> String {
    let mut reasons = String::new();
    if let Some(fault) = faults.messages().first() {
        reasons = format!("; {fault}");
    }
    // of a single fault the message says all
    if let Some(counts) = faults.summary([])
        && (faults.count() != 1 || reasons.is_empty())
    {
        reasons.insert_str(0, &format!(": {counts}"));
    }
    reasons
}

fn read_log(source: &FileSource, builder: &mut WorkloadBuilder) -> Result<(), SiteError> {
    let name = source.name();
    let OpenedFile { head, kind, rest } = source.opened()?;
    let log = BufReader::with_capacity(1 << 16, head.as_slice().chain(rest));
    let is_log = read_workload(&name, log, builder).map_err(SiteError::reading(name.as_ref()))?;
    if kind == FileKind::Empty {
        builder
            .faults()
            .add("it is empty", format_args!("`{name}`"));
    } else if !is_log {
        let mut expected = format!("a log of jobs: {FORMATS}");
        if let Some(advice) = sacct_advice(&String::from_utf8_lossy(&head)) {
            expected += &format!("; {advice}");
        }
        return Err(unexpected(kind, &name, &head, &expected));
    }
    Ok(())
}

/// Whether a simulation computes an input of every job, whatever the log says.
pub fn is_always_known(name: &str) -> bool {
    matches!(name, "ncpus" | "walltime" | "eligible_time")
        || FairshareInput::from_name(name).is_some()
}
