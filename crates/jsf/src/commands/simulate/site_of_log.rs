//! The site and the formulas of a simulation.

use std::path::PathBuf;

use job_sort_formula::rank::OldNew;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_site::{FormulaText, Role, Site, SiteError, SiteFiles, is_stdin};

use crate::cli::args::FormulaArgs;
use crate::cli::args::log::simulated_files;
use crate::cli::args::site::{PolicyArg, note_idle, refuse_idle};
use crate::cli::{CliError, FormulaOptions, STDIN, read_formula, read_formula_of, show_site};
use crate::commands::compare::run::{NO_NEW_FORMULA, NO_OLD_FORMULA, no_formula};
use crate::commands::simulate::anonymity::without_names;
use crate::commands::simulate::request::SimulateArgs;

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
    let of_queue = ("--queue", arguments.site.files.has(Role::Queue));
    refuse_idle(
        &[of_queue],
        "in a simulation, whose jobs are those of --workload",
    )?;
    let formula = match &arguments.formula.formula {
        Some(text) if text == STDIN => Some(FormulaText::source(STDIN.as_ref())?),
        Some(_) => None,
        None => arguments
            .formula
            .formula_file
            .as_deref()
            .map(FormulaText::source)
            .transpose()?,
    };
    let mut files = simulated_files(&arguments.site)?;
    if let Some(formula) = formula {
        files = files.with(Role::Formula, formula);
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

/// The formulas of --old and --new.
fn given_sides(arguments: &SimulateArgs) -> OldNew<FormulaArgs> {
    let given = |formula: &Option<String>, formula_file: &Option<PathBuf>| FormulaArgs {
        formula: formula.clone(),
        formula_file: formula_file.clone(),
    };
    OldNew {
        old: given(&arguments.old, &arguments.old_file),
        new: given(&arguments.new, &arguments.new_file),
    }
}

/// Whether two formulas are to be compared.
pub(crate) fn is_change(arguments: &SimulateArgs) -> bool {
    let OldNew { old, new } = given_sides(arguments);
    old.is_given() || new.is_given()
}

/// Both formulas; the one that is not given is the formula of the command or the site's.
pub(crate) fn read_formulas(
    arguments: &SimulateArgs,
    site: &Site,
) -> Result<OldNew<FormulaText>, CliError> {
    let OldNew { old, new } = given_sides(arguments);
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
        (old, new) => Ok(OldNew {
            old: old?,
            new: new?,
        }),
    }
}

/// Whether a formula is read from standard input.
pub(crate) fn is_from_stdin(formula: &FormulaArgs) -> bool {
    let file = formula.formula_file.as_deref();
    formula.formula.as_deref() == Some(STDIN) || file.is_some_and(is_stdin)
}

/// The options that read standard input.
pub(crate) fn options_from_stdin(arguments: &SimulateArgs) -> Vec<&'static str> {
    let OldNew { old, new } = given_sides(arguments);
    let formulas = [
        ("the formula", &arguments.formula),
        ("--old", &old),
        ("--new", &new),
    ];
    let mut options = Vec::new();
    for (name, formula) in formulas {
        options.extend(is_from_stdin(formula).then_some(name));
    }
    options.extend(arguments.site.files_from(is_stdin));
    let workloads = arguments.log.workload.iter().filter(|path| is_stdin(path));
    options.extend(workloads.map(|_| "--workload"));
    let goals = arguments.goals.as_deref();
    options.extend(goals.is_some_and(is_stdin).then_some("--goals"));
    options
}

/// The files that are read besides those of the site.
pub(crate) fn read_files(arguments: &SimulateArgs) -> Vec<&PathBuf> {
    let formulas = [
        &arguments.formula.formula_file,
        &arguments.old_file,
        &arguments.new_file,
    ];
    formulas
        .into_iter()
        .flatten()
        .chain(&arguments.log.workload)
        .collect()
}
