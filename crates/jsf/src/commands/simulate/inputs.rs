//! What a simulation is of: the site, the formulas, and the log with the goals that it is judged by.
//! With `--anonymise`, the names of the log are numbered when it is read, and texts about the files
//! of the site, which may quote any name of theirs, are not shown.

use std::path::PathBuf;

use job_sort_formula::Formula;
use job_sort_formula::rank::OldNew;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_simulate::{Goals, LogRules, Workload, WorkloadModel, generate};
use jsf_site::{FormulaText, Role, Site, SiteError, SiteFiles, check_warm_up, is_stdin};

use crate::cli::args::FormulaArgs;
use crate::cli::args::log::{simulated_files, simulation, workload_readers};
use crate::cli::args::site::{PolicyArg, note_idle, refuse_idle, require_one_reader};
use crate::cli::{
    CliError, FormulaOptions, Progress, read_formula, read_formula_of, show_site, warn, warn_all,
};
use crate::commands::compare::run::{NO_NEW_FORMULA, NO_OLD_FORMULA, no_formula};
use crate::commands::simulate::log_facts::messages;
use crate::commands::simulate::request::SimulateArgs;
use crate::text_files::read_goals;
use crate::view::words::too_short;

/// An error about the files of a site. --anonymise shows that there is one alone.
pub(crate) fn without_names(arguments: &SimulateArgs, error: SiteError) -> SiteError {
    match error {
        SiteError::Content(_) if arguments.anonymise => {
            let text = "the files of the site cannot be used; the reason may contain names, which --anonymise hides";
            SiteError::Content(text.to_owned().into())
        }
        error => error,
    }
}

/// Shows the warnings about the files of a site; with --anonymise, that there are some.
pub(crate) fn warn_of_site(arguments: &SimulateArgs, site: &Site) {
    if !arguments.anonymise {
        warn_all(&site.warnings());
    } else if !site.warnings().is_empty() {
        warn("the warnings about the files of the site may contain names, which --anonymise hides");
    }
}

/// Opens the site of a log, whose jobs are not those of its queue.
pub(crate) fn open_site(arguments: &SimulateArgs) -> Result<Site, CliError> {
    if arguments.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "a simulation computes with doubles, not with decimals",
        ));
    }
    if arguments.site.policy == Some(PolicyArg::All) {
        return Err(CliError::usage(
            "a simulation needs one policy, not `all` of them",
        ));
    }
    refuse_idle(
        &[("--queue", arguments.site.files.has(Role::Queue))],
        "in a simulation, whose jobs are those of --workload",
    )?;
    let mut files = simulated_files(&arguments.site)?;
    if let Some(formula) = arguments.formula.file() {
        files = files.with(Role::Formula, FormulaText::source(formula)?);
    }
    let files = files.for_workload();
    if !has_tree(&files) {
        let options = [
            ("--decay", arguments.log.decay.is_some()),
            ("--decay-factor", arguments.log.decay_factor.is_some()),
            ("--policy", arguments.site.policy.is_some()),
            (
                "--slurm-conf",
                arguments.site.files.has(Role::SlurmConf) && files.are_of_openpbs(),
            ),
            ("--slurm-release", arguments.site.slurm_release.is_some()),
        ];
        note_idle(
            &options,
            "without a fair-share tree: give --tree FILE or --sched-priv DIR",
        );
    }
    let site = Site::from_files(files, arguments.site.rules(None))
        .map_err(|error| without_names(arguments, error))?;
    show_site(&arguments.site, &site, arguments.format.is_document());
    Ok(site)
}

pub(crate) fn has_tree(files: &SiteFiles) -> bool {
    [Role::Tree, Role::ResourceGroup, Role::SchedPriv]
        .into_iter()
        .any(|role| files.has(role))
}

/// Whether two formulas are to be compared.
pub(crate) fn is_change(arguments: &SimulateArgs) -> bool {
    let OldNew { old, new } = arguments.sides.formulas();
    old.is_given() || new.is_given()
}

/// Both formulas; the one that is not given is the formula of the command or the site's.
pub(crate) fn read_formulas(
    arguments: &SimulateArgs,
    site: &Site,
) -> Result<OldNew<FormulaText>, CliError> {
    let OldNew { old, new } = arguments.sides.formulas();
    if old.is_given() && new.is_given() && arguments.formula.is_given() {
        return Err(CliError::usage(
            "give two formulas: a third one has no effect beside --old and --new",
        ));
    }
    let read = |options, given: &FormulaArgs| {
        if given.is_given() {
            read_formula_of(options, given, None)
        } else {
            read_formula(&arguments.formula, Some(site))
        }
    };
    match (
        read(FormulaOptions::OLD, &old),
        read(FormulaOptions::NEW, &new),
    ) {
        (Err(CliError::Site(SiteError::Missing(_))), Ok(_)) => Err(no_formula(NO_OLD_FORMULA)),
        (Ok(_), Err(CliError::Site(SiteError::Missing(_)))) => Err(no_formula(NO_NEW_FORMULA)),
        (old, new) => Ok(OldNew::new(old?, new?)),
    }
}

/// Standard input can be only one of the files.
pub(crate) fn require_one_file(arguments: &SimulateArgs) -> Result<(), CliError> {
    let OldNew { old, new } = arguments.sides.formulas();
    let before = [
        ("the formula", arguments.formula.is_from_stdin()),
        ("--old", old.is_from_stdin()),
        ("--new", new.is_from_stdin()),
    ];
    let mut after = workload_readers(&arguments.log);
    let goals = arguments.goals.as_deref();
    after.push(("--goals", goals.is_some_and(is_stdin)));
    require_one_reader(&before, &arguments.site, &after)
}

/// The files that are read besides those of the site.
pub(crate) fn read_files(arguments: &SimulateArgs) -> Vec<&PathBuf> {
    let formulas = [
        &arguments.formula.formula_file,
        &arguments.sides.old_file,
        &arguments.sides.new_file,
    ];
    formulas
        .into_iter()
        .flatten()
        .chain(&arguments.log.workload)
        .collect()
}

/// A log and how it is judged.
pub(crate) struct JudgedLog {
    pub(crate) workload: Workload,
    /// The goals by which a simulation is judged.
    pub(crate) goals: Option<Goals>,
    /// How long after the first submission the jobs begin that are counted, in seconds.
    pub(crate) warm_up: i64,
    /// Whether that is the time in which usage that starts fresh decays once.
    pub(crate) is_until_decay: bool,
}

impl JudgedLog {
    /// Reads the log with what the formulas and the goals need, or generates one.
    pub(crate) fn read(
        arguments: &SimulateArgs,
        site: &Site,
        submitted: &[&FormulaSubmission<'_>],
    ) -> Result<Self, CliError> {
        let goals = match &arguments.goals {
            Some(path) => Some(read_goals(path, site)?),
            None => None,
        };
        let workload = match (arguments.generate, arguments.log.processors) {
            (Some(jobs), Some(processors)) => generate_workload(arguments, jobs, processors.get()),
            _ => read_workload(arguments, site, submitted, goals.as_ref())?,
        };
        let given = arguments.log.warm_up_seconds();
        let warm_up = match given {
            Some(seconds) => seconds,
            None => default_warm_up(arguments, site, &workload)?,
        };
        check_warm_up(&workload, warm_up)?;
        Ok(Self {
            workload,
            goals,
            warm_up,
            is_until_decay: given.is_none() && warm_up > 0,
        })
    }
}

/// Which of the first jobs do not count unless the arguments say it.
fn default_warm_up(
    arguments: &SimulateArgs,
    site: &Site,
    workload: &Workload,
) -> Result<i64, CliError> {
    let warm_up = site.warm_up(workload, &simulation(&arguments.log, &arguments.site));
    let warm_up = warm_up.map_err(|error| without_names(arguments, error))?;
    too_short(warm_up).iter().for_each(warn);
    Ok(warm_up.seconds())
}

fn generate_workload(arguments: &SimulateArgs, jobs: usize, processors: u32) -> Workload {
    let _progress = Progress::start("generating the workload");
    let mut workload = generate(&WorkloadModel {
        jobs,
        processors,
        load: arguments.load,
        seed: arguments.seed,
        ..WorkloadModel::default()
    });
    if arguments.anonymise {
        workload.anonymise();
    }
    workload
}

fn read_workload(
    arguments: &SimulateArgs,
    site: &Site,
    submitted: &[&FormulaSubmission<'_>],
    goals: Option<&Goals>,
) -> Result<Workload, CliError> {
    // a formula that does not parse is drawn when it is simulated
    let mut formulas: Vec<&Formula> = Vec::new();
    for submitted in submitted {
        formulas.extend(submitted.formula().ok());
    }
    let rules = LogRules {
        anonymise: arguments.anonymise,
        ..arguments.log.rules()
    };
    let progress = Progress::start("reading the workload");
    let (workload, warnings) = arguments.log.open(rules, site, &formulas, goals)?;
    drop(progress);
    let has_counts = !arguments.format.is_document();
    for message in [warnings, messages(&workload, has_counts)].concat() {
        warn(message);
    }
    Ok(workload)
}
