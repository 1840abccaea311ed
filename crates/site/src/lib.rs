//! A site: opens its files, ranks its jobs, checks a formula against them, and applies policies to
//! its fair-share tree.
//!
//! In: the paths of a scheduler's files and of the output of its commands. Out: the formula in
//! force, the jobs, their [`RankedQueue`], the findings of a checked formula, the fair-share tree
//! under any policy.

#![forbid(unsafe_code)]
#![warn(missing_docs, unnameable_types)]

mod checks;
mod cycle;
mod described_job;
mod files;
mod formulas;
mod log_replay;
mod policy;
mod printed_numbers;
mod rank;
mod settings;
mod shares;
mod simulation;
mod site_jobs;
mod site_tree;
mod slurm_queue;
mod translation;
mod warnings;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use cycle::{
    CycleProcessors, CycleRequest, CycledQueue, EstimatedStart, LeftOut, PreemptedJob, ReservedJob,
    WaitingJob,
};
pub use described_job::DescribedJob;
pub use files::file_role::Role;
pub use files::file_source::{FileSource, is_stdin};
pub use files::site_bundle::SiteBundle;
pub use files::site_files::SiteFiles;
pub use formulas::FormulaText;
pub use log_replay::LogReplay;
pub use policy::{PolicyName, PolicySettings};
pub use rank::{
    Against, Cause, ComparedQueue, ExplainOptions, ExplainedInput, Explanation, Explanations,
    Influence, JobTrajectory, JobsToRank, Means, Neighbour, OtherValues, Overtaking, RankReached,
    RankRequest, RankedQueue, Reached, Rule, SmallestChange, SmallestChanges, TermDifference,
    Trajectory, TrajectoryPoint, Wait, WhatIf,
};
pub use shares::{PolicyShares, SharesRequest, UsageChange};
pub use simulation::{Processors, SimulatedQueue, SimulationOptions, StartingUsage, check_warm_up};
pub use site_jobs::SiteJobs;
pub use translation::{LargestJob, OrderAgreement, TranslatedPart, Translation, UntranslatedPart};

use formulas::SiteFormulas;
use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::{PolicyRules, Release};
use job_sort_formula::formula::program::CompileError;
use job_sort_formula::{OnError, PythonVersion, Schema, SyntaxError};
use jsf_openpbs::files::server::ServerSettings;
use jsf_openpbs::{Nodes, NumberMode, Objects, Queues, SchedConfig};
use policy::PolicySelection;
use settings::ServerPython;
use site_jobs::LastJobs;
use site_tree::SiteTree;
use slurm_queue::SlurmQueue;
use warnings::SiteWarnings;

/// The rules that apply to a site. The default is what the OpenPBS daemon does.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SiteOptions {
    /// The fair-share policy; `None`: the one in `slurm.conf`, else OpenPBS's.
    pub policy: Option<PolicyName>,
    /// The release of Slurm; `None`: the one that wrote the tree's document, else the newest.
    pub slurm_release: Option<Release>,
    /// Whether the daemon's behaviour or the published document applies.
    pub rules: PolicyRules,
    /// The version of Python that the server embeds; `None`: the one that the site's files say,
    /// else [`PythonVersion::default`].
    pub python: Option<PythonVersion>,
    /// How numbers reach the formula and how its value is kept.
    pub numbers: NumberMode,
    /// The value of a job for which the formula raises an error.
    pub on_error: OnError,
    /// `job_sort_formula_threshold`, instead of the server's: a job whose value is at most this
    /// does not run.
    pub threshold: Option<f64>,
    /// When Slurm's priorities are computed, in seconds since 1970; `None`: when the daemon computed
    /// them, as far as the site's files say so.
    pub at: Option<i64>,
    /// Whether a damaged job document is an error, see
    /// [`ReadOptions::strict`](jsf_ingest::ReadOptions::strict), any file that gives something more
    /// than once, and a usage that is not a number, infinite or subnormal.
    pub strict: bool,
}

/// A site: its server, queues, resources, scheduler settings, fair-share tree, jobs and rules.
///
/// ```
/// use job_sort_formula::Formula;
/// use jsf_site::Site;
///
/// let formula = Formula::parse("fairshare_factor")?;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let queue = Site::open("examples/site")?.rank(&formula)?;
/// let first = queue.ranking.order()[0];
/// assert_eq!(queue.table.entity(first), "trial07");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Site {
    files: SiteFiles,
    options: SiteOptions,
    schema: Schema,
    queues: Queues,
    config: SchedConfig,
    server: ServerSettings,
    python: ServerPython,
    /// The resources that its documents declare under names that the scheduler defines.
    hidden: Vec<String>,
    formulas: SiteFormulas,
    /// The partition of the scheduler whose jobs are ranked; `None` for the default one.
    partition: Option<String>,
    policy: PolicySelection,
    tree: Option<SiteTree>,
    /// The priority and the jobs, if these are Slurm's.
    slurm: Option<SlurmQueue>,
    /// The document of the jobs, if it can be read only once and may be asked for again.
    job_document: OnceLock<Vec<u8>>,
    /// The jobs that were read last, if they may be asked for again.
    last_jobs: Mutex<Option<LastJobs>>,
    warnings: SiteWarnings,
}

impl Site {
    /// Opens a folder or a tar archive by the usual names of the files in it, see
    /// [`SiteFiles::open`].
    ///
    /// # Errors
    /// It contains none of these files, or one of them has another content than its name says.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SiteError> {
        Self::from_files(SiteFiles::open(path.as_ref())?, SiteOptions::default())
    }

    /// Opens a site by its files and reads all of them except the jobs, which are only checked by
    /// their first bytes, and read when a formula needs them.
    ///
    /// # Errors
    /// A file cannot be read, or has another content than it should.
    pub fn from_files(files: SiteFiles, options: SiteOptions) -> Result<Self, SiteError> {
        Self::from_files_or_warnings(files, options).map_err(|(error, _)| error)
    }

    /// Opens a site as [`from_files`](Self::from_files) does.
    ///
    /// # Errors
    /// As for [`from_files`](Self::from_files), with the warnings about the files that were read
    /// before.
    pub fn from_files_or_warnings(
        files: SiteFiles,
        options: SiteOptions,
    ) -> Result<Self, (SiteError, Vec<Message>)> {
        let mut site = Self {
            options,
            schema: Schema::openpbs(),
            warnings: SiteWarnings::new(options.strict),
            ..Self::default()
        };
        match site.read_files(files) {
            Ok(()) => Ok(site),
            Err(error) => Err((error, site.warnings())),
        }
    }

    fn read_files(&mut self, files: SiteFiles) -> Result<(), SiteError> {
        let files = files.with_scheduler_files()?.kept()?;
        let jobs = files.first(Role::Queue);
        let jobs = jobs.map(|jobs| jobs.check(Role::Queue)).transpose()?;
        self.warn_of_files(&files)?;
        // settings.rs, formulas.rs: the server, its queues and resources, and the formulas
        self.read_documents(&files)?;
        self.read_sched_config(&files)?;
        // slurm_queue.rs: its jobs become native ones, and its priority the formula in force
        let conf = self.read_slurm(&files, jobs.flatten())?;
        // site_tree.rs, by the settings of the scheduler
        self.tree = SiteTree::read(&files, &self.config, &mut self.warnings.of_shares)?;
        // policy.rs: what the rules, the tree and the settings say
        self.select_policy(&files, conf)?;
        self.warn_of_clusters(&files);
        self.files = files;
        Ok(())
    }

    /// The files of the site.
    pub fn files(&self) -> &SiteFiles {
        &self.files
    }

    /// When Slurm's priorities are computed, in seconds since 1970; `None` if the jobs are not
    /// Slurm's.
    pub fn priorities_at(&self) -> Option<i64> {
        Some(self.slurm.as_ref()?.at.as_ref()?.now)
    }

    /// How numbers reach the formula, and how its value is kept.
    pub fn numbers(&self) -> NumberMode {
        self.options.numbers
    }

    /// The names that a formula may use at this site.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether a document of the site describes a queue of this name.
    pub fn has_queue(&self, name: &str) -> bool {
        self.queues.contains(name)
    }

    /// The nodes, which are read now; `None` if the site has no document of them.
    ///
    /// # Errors
    /// The document cannot be read, or is not one of nodes.
    pub fn nodes(&self) -> Result<Option<Nodes>, SiteError> {
        let Some(source) = self.files.first(Role::Nodes) else {
            return Ok(None);
        };
        let text = source.read_expected(Role::Nodes)?.into_text();
        Ok(Some(Nodes::read(&source.name(), &Objects::read(&text))?))
    }
}

/// The system's reason, and what to give instead of a folder.
fn reason(error: &io::Error) -> Message {
    match error.kind() {
        io::ErrorKind::IsADirectory => {
            Message::asking("it is a folder; give a file of it, or ", [Need::Site])
        }
        _ => error.to_string().into(),
    }
}

/// A file of the site cannot be used, or something that the request needs is missing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SiteError {
    /// A file cannot be read.
    #[error("cannot read `{path}`: {}", reason(error))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A file has another content than it should, or the formula fails for a job under
    /// [`OnError::Fail`].
    #[error("{0}")]
    Content(Message),
    /// The request needs something that the site does not have.
    #[error("{0}")]
    Missing(Message),
    /// The formula is valid Python but not arithmetic, so it cannot be ranked.
    #[error("the formula is valid Python but not arithmetic: it cannot be ranked")]
    NotArithmetic,
}

impl From<CompileError> for SiteError {
    fn from(_: CompileError) -> Self {
        Self::NotArithmetic
    }
}

impl From<String> for SiteError {
    fn from(sentence: String) -> Self {
        Self::Content(sentence.into())
    }
}

impl From<SyntaxError> for SiteError {
    fn from(error: SyntaxError) -> Self {
        Self::content(error)
    }
}

impl From<serde_json::Error> for SiteError {
    fn from(error: serde_json::Error) -> Self {
        Self::content(error)
    }
}

impl SiteError {
    /// Makes the error on a file from that of the system.
    fn reading(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::Read {
            path: path.to_owned(),
            error,
        }
    }

    fn content(message: impl ToString) -> Self {
        Self::Content(message.to_string().into())
    }

    fn missing(message: impl Into<String>, need: Need) -> Self {
        Self::Missing(Message::asking(message, [need]))
    }

    /// The error with what it asks for.
    pub fn message(&self) -> Message {
        match self {
            Self::Read { path, error } => {
                reason(error).after(format!("cannot read `{}`: ", path.display()))
            }
            Self::Content(message) | Self::Missing(message) => message.clone(),
            other => other.to_string().into(),
        }
    }
}
