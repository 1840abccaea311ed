//! The arguments that describe a site: its files, and the rules that apply.

use std::path::{Path, PathBuf};

use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, Resettable, TypedValueParser,
    ValueParser, ValueParserFactory,
};
use clap::{Arg, Args, Id, ValueEnum};
use job_sort_formula::fairshare::{PolicyRules, Release};
use job_sort_formula::schema::InputType;
use job_sort_formula::{OnError, PythonVersion};
use jsf_openpbs::files::resources::{MAX_RESOURCE_NAME, is_resource_name};
use jsf_openpbs::times::seconds_of_ctime;
use jsf_openpbs::{NumberMode, Time};
use jsf_site::{
    FileSource, PolicyName, Role, Site, SiteError, SiteFiles, SiteOptions, StartingUsage, is_stdin,
};

use crate::cli::messages::{print_message, warn, with_options};
use crate::cli::outcome::CliError;
use crate::questions::log::LogOptions;
use crate::questions::values::moment;

/// The environment variable with the site of a command that is given none.
const ENVIRONMENT: &str = "JSF_SITE";

/// The folder or the archive with all files of the site, and what gave it.
#[derive(Debug)]
pub struct GivenSite {
    /// The folder or the archive.
    pub path: PathBuf,
    /// `--site`, or the environment variable.
    origin: &'static str,
}

impl GivenSite {
    /// The site of the option, else that of the environment.
    pub fn find(option: Option<&Path>) -> Option<Self> {
        if let Some(path) = option {
            return Some(Self {
                path: path.to_owned(),
                origin: "--site",
            });
        }
        let path = PathBuf::from(std::env::var_os(ENVIRONMENT)?);
        // `JSF_SITE= jsf …` leaves the site of the environment out
        if path.as_os_str().is_empty() {
            return None;
        }
        Some(Self {
            path,
            origin: ENVIRONMENT,
        })
    }

    /// What precedes a message about the site: the environment variable is not on the command line.
    pub fn prefix(&self) -> String {
        if self.origin == ENVIRONMENT {
            format!("{ENVIRONMENT}: ")
        } else {
            String::new()
        }
    }

    /// Finds the files.
    pub fn open(&self) -> Result<SiteFiles, CliError> {
        match SiteFiles::open(&self.path) {
            // nothing on the command line says which site is meant
            Err(error) if self.origin == ENVIRONMENT => {
                Err(CliError::usage(format!("{}{error}", self.prefix())))
            }
            opened => Ok(opened?),
        }
    }
}

/// The files of a site, and the rules.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// All files of the site: a folder, or a tar archive of one (.tar, .tar.gz, .tar.zst; - is
    /// standard input), with the usual names or those of pbs_snapshot; `jsf capture` prints a
    /// script that makes this folder. The options below replace single files of it [default: the
    /// environment variable JSF_SITE]
    #[arg(long, value_name = "PATH", help_heading = "Context")]
    site: Option<PathBuf>,
    /// List each file of --site that was found, and what follows from those that are missing,
    /// instead of one line
    #[arg(short, long, help_heading = "Context")]
    pub verbose: bool,
    /// The single files.
    #[command(flatten)]
    pub files: FileArgs,
    /// The jobs of another scheduler: that with this partition, as queues and schedulers have it.
    /// Its own formula, threshold and sched_priv count [default: the jobs of the default scheduler]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Context")]
    partition: Option<String>,
    /// Refuse a job document that is not valid JSON, any file that gives something twice, and a
    /// usage that no job causes, instead of reading what can be read of it
    #[arg(long, help_heading = "Context")]
    strict: bool,
    /// Declare a resource of the site, repeatable; TYPE as in resourcedef: long (the default),
    /// float, size, duration, boolean, string
    #[arg(long, value_name = "NAME[=TYPE]", value_parser = declaration, help_heading = "Context")]
    resource: Vec<(String, InputType)>,
    /// The release of Slurm, such as 24.05 [default: the one that wrote the tree's JSON, else the
    /// newest]. Only 22.05 and 26.11 have been compared with Slurm itself; following the release
    /// notes, releases before 23.11 use the rules of 22.05, and later ones those of 26.11
    #[arg(long, value_name = "RELEASE", value_parser = release, help_heading = "Rules")]
    pub slurm_release: Option<Release>,
    /// The moment of a scheduling cycle, or that at which Slurm's priorities are computed
    ///
    /// Seconds since 1970, or ISO 8601, in UTC unless it says otherwise, or as `date -u` prints it,
    /// or as `qstat -f` prints times, on the clock of its host [default: that of the document of
    /// jobs, else that of the capture; of Slurm's priorities, that which follows from the ages in
    /// sprio, else that of the capture]
    #[arg(long, value_name = "TIME", value_parser = moment_or_wall_time, allow_negative_numbers = true, help_heading = "Rules")]
    pub at: Option<Time>,
    /// The fair-share policy [default: pbs, or that of --slurm-conf]
    #[arg(long, help_heading = "Rules")]
    pub policy: Option<PolicyArg>,
    /// Whose rules apply: what the daemon does, or what the published document says
    #[arg(long, value_enum, default_value_t, help_heading = "Rules")]
    pub rules: PolicyRules,
    /// The version of Python that the server embeds, such as 3.9: which functions exist, and what
    /// they compute [default: what the site's files say, else 3.11]
    #[arg(long, value_name = "X.Y", value_parser = python_version, help_heading = "Rules")]
    pub python: Option<PythonVersion>,
    /// The numbers of the formula: openpbs, inputs as OpenPBS prints them and the value as float32;
    /// exact, doubles; decimal, 28 digits in base ten
    #[arg(long, value_enum, default_value_t, help_heading = "Rules")]
    pub numbers: NumberMode,
    /// The value of a job whose evaluation fails: that of OpenPBS (0, or -1 if its scheduler
    /// crashes), 0 with exit code 1, or no value, so that the job ranks last
    #[arg(long, value_enum, default_value_t, help_heading = "Rules")]
    pub on_error: OnError,
}

/// The fair-share policy of `--policy`; `None`: every one of them, for `jsf shares`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyArg(pub Option<PolicyName>);

impl ValueParserFactory for PolicyArg {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        let policies = PolicyName::value_variants().iter();
        let mut names: Vec<_> = policies.filter_map(ValueEnum::to_possible_value).collect();
        names.push(PossibleValue::new("all").help("Every one of them (`jsf shares` only)"));
        PossibleValuesParser::new(names)
            .map(|name| Self(name.parse().ok()))
            .into()
    }
}

/// The files of a site that are given one by one.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// The jobs: `qstat -f` as JSON, dsv or text, native JSON or NDJSON, `squeue --json` or
    /// `scontrol show job`; - is standard input
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    queue: Option<PathBuf>,
    /// The scheduler's folder sched_priv: resource_group, usage, sched_config, and sched_formula if
    /// no formula is given
    #[arg(long, value_name = "DIR", help_heading = "Context")]
    sched_priv: Option<PathBuf>,
    /// The resource_group with the fair-share tree, instead of the one in --sched-priv
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    resource_group: Option<PathBuf>,
    /// The binary usage file, instead of the one in --sched-priv
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    usage: Option<PathBuf>,
    /// The sched_config, instead of the one in --sched-priv; its by_queue, job_sort_key and the
    /// like also order the jobs
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    sched_config: Option<PathBuf>,
    /// A fair-share tree: native JSON, `sshare -a -l -P`, `sshare -a --json`, a `sacctmgr dump`
    /// file or `flux account export-db --fairshare-emulate`
    // such a document has the usage with the tree
    #[arg(long, value_name = "FILE", help_heading = "Context", conflicts_with_all = ["resource_group", "usage"])]
    tree: Option<PathBuf>,
    /// The server: `qstat -Bf` as text or JSON, `qmgr -c 'print server'`; its formula is used if
    /// none is given
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    server: Option<PathBuf>,
    /// The queues and their priorities: `qstat -Qf` as text or JSON, `qmgr -c 'print server'`
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    queues: Option<PathBuf>,
    /// The site's resources: resourcedef, `qmgr -c 'print resource'`, `qmgr -c 'list resource'`
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    resources: Option<PathBuf>,
    /// The nodes, for what a scheduling cycle does: `pbsnodes -av` as JSON or text, `qmgr -c 'print
    /// node @default'`
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    nodes: Option<PathBuf>,
    /// The reservations, for what a scheduling cycle does: `pbs_rstat -f`
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    reservations: Option<PathBuf>,
    /// The slurm.conf, which chooses the policy, its dampening factor and half-life, and the
    /// weights of the priority
    #[arg(long, value_name = "FILE", help_heading = "Context")]
    slurm_conf: Option<PathBuf>,
}

impl FileArgs {
    /// The role and the option of each file, and its path if it is given.
    fn all(&self) -> impl Iterator<Item = (Role, &'static str, Option<&Path>)> {
        let all = [
            (Role::Queue, "--queue", &self.queue),
            (Role::SchedPriv, "--sched-priv", &self.sched_priv),
            (
                Role::ResourceGroup,
                "--resource-group",
                &self.resource_group,
            ),
            (Role::Usage, "--usage", &self.usage),
            (Role::SchedConfig, "--sched-config", &self.sched_config),
            (Role::Tree, "--tree", &self.tree),
            (Role::Server, "--server", &self.server),
            (Role::Queues, "--queues", &self.queues),
            (Role::Resources, "--resources", &self.resources),
            (Role::Nodes, "--nodes", &self.nodes),
            (Role::Reservations, "--reservations", &self.reservations),
            (Role::SlurmConf, "--slurm-conf", &self.slurm_conf),
        ];
        all.into_iter()
            .map(|(role, option, path)| (role, option, path.as_deref()))
    }

    /// Whether a file of a role is given.
    pub fn has(&self, role: Role) -> bool {
        self.get(role).is_some()
    }

    /// The path for a role.
    pub fn get(&self, role: Role) -> Option<&Path> {
        let mut all = self.all();
        all.find(|(of, ..)| *of == role)?.2
    }
}

/// Parses a threshold.
pub fn threshold(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!(
            "`{text}` is not a threshold, expected a number such as 0.5"
        )),
    }
}

/// Parses a time as [`moment`] does, or as qstat prints it, on the clock of its host.
fn moment_or_wall_time(text: &str) -> Result<Time, String> {
    match (moment(text), seconds_of_ctime(text)) {
        (Ok(seconds), _) => Ok(Time::Utc(seconds)),
        (Err(_), Some(seconds)) => Ok(Time::Wall(seconds)),
        (Err(expected), None) => Err(format!("{expected}, or `qstat -f`")),
    }
}

/// An argument of a site as the commands have it that simulate a log.
pub(crate) fn argument_of_log(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "verbose" => argument.hide(true),
        // `start` and `fresh` go with a tree; a file of usage is refused by `simulated_files`
        "tree" => argument
            .conflicts_with(Resettable::<Id>::Reset)
            .conflicts_with("resource_group"),
        "usage" => argument.value_name("FILE|start|fresh").help(
            "The binary usage file; or `start`, the usage of the tree, with which the entities begin by default; or `fresh`, none",
        ),
        "sched_config" => argument.help(
            "The sched_config, instead of the one in --sched-priv: the order of the jobs, backfilling, preemption, decay, and the resources that jobs wait for",
        ),
        "server" => argument.help(
            "The server: `qstat -Bf` as text or JSON, `qmgr -c 'print server'`; its threshold, its limits and its backfill_depth count, and its formula is used if none is given",
        ),
        _ => argument,
    }
}

/// Parses a release of Slurm. One that was not recorded is assigned to one that was.
fn release(text: &str) -> Result<Release, String> {
    let newest = Release::default().as_str();
    let (year, rest) = text.split_once('.').unwrap_or_default();
    let month = rest.split('.').next().unwrap_or_default();
    let mut parts = [year, month].into_iter();
    let is_release = parts.all(|part| part.len() == 2 && part.parse::<u8>().is_ok());
    match Release::from_version(text) {
        // year and month have two digits each, so that texts compare as the numbers do
        _ if is_release && text.get(..newest.len()) > Some(newest) => Err(format!(
            "`{text}` is newer than {newest}, the newest release whose rules are known"
        )),
        Some(release) if is_release => Ok(release),
        _ => Err(format!(
            "`{text}` is not a release of Slurm, expected its year and month such as 24.05"
        )),
    }
}

/// Parses a version of Python.
fn python_version(text: &str) -> Result<PythonVersion, String> {
    text.parse()
        .map_err(|expected| format!("`{text}` is not a known version of Python, {expected}"))
}

/// Parses `NAME[=TYPE]`.
fn declaration(text: &str) -> Result<(String, InputType), String> {
    let (name, word) = text.split_once('=').unwrap_or((text, "long"));
    let expected = if name.len() > MAX_RESOURCE_NAME {
        format!("expected at most {MAX_RESOURCE_NAME} bytes")
    } else {
        "expected a letter, then letters, digits, `_` and `-`".to_owned()
    };
    let types = "expected long, float, size, duration, boolean, string or string_array";
    match InputType::from_pbs_type(word) {
        _ if !is_resource_name(name) => Err(format!("`{name}` is not a resource name, {expected}")),
        Some(kind) => Ok((name.to_owned(), kind)),
        None => Err(format!("`{word}` is not a resource type, {types}")),
    }
}

/// Opens a site. If that fails, no answer says what is doubtful about the files that were read before.
pub(crate) fn open_site(files: SiteFiles, options: SiteOptions) -> Result<Site, CliError> {
    Site::from_files_or_warnings(files, options).map_err(|(error, warnings)| {
        for warning in &warnings {
            warn(with_options(warning));
        }
        error.into()
    })
}

/// Refuses `all` where there can be only one policy.
pub(crate) fn require_one_policy(what: &str, given: &[Option<PolicyArg>]) -> Result<(), CliError> {
    if given.contains(&Some(PolicyArg(None))) {
        let why = format!("{what} needs one policy, not `all` of them");
        return Err(CliError::usage(why));
    }
    Ok(())
}

impl SiteArgs {
    /// Opens the site of a command that needs one policy, and may take a formula from a file.
    pub fn open(&self, formula: Option<&Path>, threshold: Option<f64>) -> Result<Site, CliError> {
        require_one_reader(&[], self, &[("the formula", formula)])?;
        let formula = kept(formula)?;
        require_one_policy("a ranking", &[self.policy])?;
        self.open_with(formula, threshold)
    }

    /// The site that is given by the option or the environment.
    pub fn given_site(&self) -> Option<GivenSite> {
        GivenSite::find(self.site.as_deref())
    }

    /// Opens the site of a command that takes no formula, and may show all policies.
    pub fn open_without_formula(&self) -> Result<Site, CliError> {
        require_one_reader(&[], self, &[])?;
        self.open_with(None, None)
    }

    fn open_with(
        &self,
        formula: Option<FileSource>,
        threshold: Option<f64>,
    ) -> Result<Site, CliError> {
        let mut files = self.files()?;
        if let Some(formula) = formula {
            files = files.with(Role::Formula, formula);
        }
        // what is in a `sched_priv` is found only when the site is opened
        let has_group = files.has(Role::ResourceGroup)
            || matches!(self.files.get(Role::SchedPriv), Some(folder) if folder.join("resource_group").exists());
        if self.files.has(Role::Usage) && !has_group {
            return Err(CliError::usage(
                "--usage has no effect without a fair-share tree: give --resource-group FILE too",
            ));
        }
        self.note_ignored_files();
        open_site(files, self.options(threshold))
    }

    /// Says that files are not read: ignored in silence, they would be believed in.
    pub fn note_ignored_files(&self) {
        if self.files.has(Role::Tree) && self.files.has(Role::SchedPriv) {
            print_message(
                "note",
                "--tree gives the fair-share tree: resource_group and usage in --sched-priv have no effect",
            );
        }
    }

    /// Writes what was found in `--site` or in the site of the environment, and what is missing, to
    /// standard error: for people a line, with -v every file.
    pub(crate) fn show(&self, site: &Site, is_document: bool) {
        let Some(given) = self.given_site() else {
            return;
        };
        let prefix = given.prefix();
        if self.verbose {
            for (index, line) in site.summary().iter().enumerate() {
                let prefix = if index == 0 { &*prefix } else { "" };
                print_message("site", format_args!("{prefix}{line}"));
            }
        } else if is_document {
            let headline = site.files().headline();
            print_message(
                "site",
                format_args!("{prefix}{headline} (-v lists the files)"),
            );
        }
    }

    /// The files, without a formula's.
    pub fn files(&self) -> Result<SiteFiles, CliError> {
        self.files_without(None)
    }

    /// The files, without the one that is given for a role.
    pub fn files_without(&self, role: Option<Role>) -> Result<SiteFiles, CliError> {
        let mut given = SiteFiles::default();
        for (of, _, path) in self.files.all() {
            if let Some(path) = path
                && Some(of) != role
            {
                given = given.with(of, path);
            }
        }
        let given = given.declaring(self.resource.clone());
        // a file that is given counts whatever the partition is
        Ok(match self.given_site() {
            Some(site) => self.of_partition(site.open()?)?.replaced_by(given),
            None => self.of_partition(given)?,
        })
    }

    /// Opens the site of a log, whose jobs are not those of its queue. `--usage` may name the usage
    /// with which they begin instead of a file.
    pub(crate) fn open_for_log(&self, formula: Option<FileSource>) -> Result<Site, CliError> {
        require_one_policy("a simulation", &[self.policy])?;
        let named = self.named_usage();
        if named.is_none() && self.files.has(Role::Usage) && self.files.has(Role::Tree) {
            return Err(CliError::usage(
                "a file of --usage belongs to --resource-group: with --tree, --usage is start or fresh",
            ));
        }
        let mut files = self.files_without(named.map(|_| Role::Usage))?;
        if let Some(formula) = formula {
            files = files.with(Role::Formula, formula);
        }
        open_site(files.for_workload(), self.options(None))
    }

    /// The usage that the entities of a simulation begin with.
    pub fn starting_usage(&self) -> StartingUsage {
        self.named_usage().unwrap_or_default()
    }

    /// The same if `--usage` is one of its names and not a file.
    fn named_usage(&self) -> Option<StartingUsage> {
        StartingUsage::from_str(self.files.get(Role::Usage)?.to_str()?, false).ok()
    }

    fn of_partition(&self, files: SiteFiles) -> Result<SiteFiles, SiteError> {
        match &self.partition {
            Some(partition) => files.of_partition(partition),
            None => Ok(files),
        }
    }

    /// What of the site is chosen by options.
    pub fn options(&self, threshold: Option<f64>) -> SiteOptions {
        SiteOptions {
            policy: self.policy.and_then(|PolicyArg(name)| name),
            slurm_release: self.slurm_release,
            rules: self.rules,
            python: self.python,
            numbers: self.numbers,
            on_error: self.on_error,
            threshold,
            at: self.at.map(|time| match time {
                Time::Utc(seconds) | Time::Wall(seconds) => seconds,
            }),
            strict: self.strict,
        }
    }
}

/// The path that means standard input.
pub(crate) const STDIN: &str = "-";

/// A file whose content is kept if it is standard input, which can be read once.
pub(crate) fn kept(path: Option<&Path>) -> Result<Option<FileSource>, SiteError> {
    path.map(|path| FileSource::from(path).kept()).transpose()
}

/// What a command reads, and the path if it is given.
pub(crate) type Reader<'a> = (&'a str, Option<&'a Path>);

/// The files of a log.
pub(crate) fn readers_of_log(log: &LogOptions) -> Vec<Reader<'_>> {
    let paths = log.workload.iter();
    paths.map(|path| ("--workload", Some(&**path))).collect()
}

/// Standard input can be read only once: by a file of the site, or by one of the others, which a
/// message names before and after those of the site.
pub(crate) fn require_one_reader(
    before: &[Reader<'_>],
    site: &SiteArgs,
    after: &[Reader<'_>],
) -> Result<(), CliError> {
    let mut all = before.to_vec();
    let given = site.given_site();
    all.extend(given.iter().map(|given| (given.origin, Some(&*given.path))));
    // a folder cannot be standard input
    let files = site
        .files
        .all()
        .filter(|(role, ..)| *role != Role::SchedPriv);
    all.extend(files.map(|(_, option, path)| (option, path)));
    all.extend(after);
    all.retain(|(_, path)| path.is_some_and(is_stdin));
    let readers: Vec<&str> = all.into_iter().map(|(name, _)| name).collect();
    if readers.len() < 2 {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "standard input cannot be both {}: give a file for all but one of them",
        readers.join(" and ")
    )))
}
