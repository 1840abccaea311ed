//! The site and the formulas of a simulation.

use std::path::PathBuf;

use job_sort_formula::rank::OldNew;
use jsf_openpbs::amounts::NumberMode;
use jsf_site::{FormulaText, Role, Site, SiteError, SiteFiles, is_stdin};

use crate::cli::args::FormulaArgs;
use crate::cli::args::log::{simulated_files, workload_readers};
use crate::cli::args::site::require_one_reader;
use crate::cli::args::site::{PolicyArg, note_idle, refuse_idle};
use crate::cli::{
    CliError, FormulaOptions, GivenFormula, read_formula, read_formula_of, show_site,
};
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
    let formula = arguments.formula.file();
    let formula = formula.map(FormulaText::source).transpose()?;
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

/// Whether two formulas are to be compared.
pub(crate) fn is_change(arguments: &SimulateArgs) -> bool {
    let OldNew { old, new } = arguments.sides.formulas();
    old.is_given() || new.is_given()
}

/// Both formulas; the one that is not given is the formula of the command or the site's.
pub(crate) fn read_formulas(
    arguments: &SimulateArgs,
    site: &Site,
) -> Result<OldNew<GivenFormula>, CliError> {
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
        (old, new) => {
            let sources = OldNew::new(old?, new?);
            Ok(sources.map(|source| GivenFormula::new(source, arguments.site.numbers)))
        }
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
