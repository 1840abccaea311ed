//! `jsf simulate`: opens the site, simulates its log under one formula or under two, and writes the answer.

use std::io::Write;
use std::path::PathBuf;

use job_sort_formula::rank::{OldNew, OnError};
use jsf_simulate::{Difference, Shake, Validation, Workload};
use jsf_site::{FileSource, Role, SimulatedQueue, Site, SiteError};

use crate::answer::Format;
use crate::cli::args::FormulaArgs;
use crate::cli::formula::read_formula;
use crate::cli::interrupt::{on_all_cores, until_interrupted};
use crate::cli::messages::{print_message, warn, warn_all};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::site::require_one_reader;
use crate::commands::compare::run::{NO_NEW_FORMULA, NO_OLD_FORMULA, no_formula};
use crate::commands::simulate::simulate_args::SimulateArgs;
use crate::commands::simulate::simulated_log::{Simulation, meets_goals, without_names};
use crate::commands::simulate::sweep::sweep;
use crate::commands::simulate::view::{failing_clause, named_sides, warnings};
use crate::commands::simulate::{SimulatedChangeAnswer, SimulationAnswer};
use crate::given_formula::GivenFormula;

pub(crate) fn run(arguments: &SimulateArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    require_one_file(arguments)?;
    if arguments.is_change() && arguments.answer.format == Format::Swf {
        return Err(CliError::usage(
            "--format swf writes one schedule: give one formula, without --old and --new",
        ));
    }
    let site = open_site(arguments)?;
    warn_of_site(arguments, &site);
    if !arguments.param.is_empty() {
        sweep(arguments, &site, out)
    } else if arguments.is_change() {
        simulate_change(arguments, &site, out)
    } else {
        simulate_one(arguments, &site, out)
    }
}

/// Simulates the log under one formula.
fn simulate_one(
    arguments: &SimulateArgs,
    site: &Site,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let source = read_formula(&arguments.formula, Some(site))?;
    let given = GivenFormula::new(source, arguments.site.numbers);
    let simulation = Simulation::read(arguments, site, &[&given])?;
    let mut answer = simulation.simulate(&given, None)?;
    report_sides(arguments, &[&answer]);
    if arguments.validate {
        let schedule = &answer.simulated.schedule;
        answer.validation = Validation::new(answer.workload, schedule, simulation.warm_up);
        if answer.validation.is_none() {
            return Err(CliError::content(
                "the log does not say how long its jobs waited, so there is nothing to compare with",
            ));
        }
    }
    answer.shake = shaken(&simulation, &[&given])?;
    output(arguments, site).write(&answer, out)?;
    Ok(outcome(&answer, true))
}

/// Simulates the log under two formulas.
fn simulate_change(
    arguments: &SimulateArgs,
    site: &Site,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let given = read_formulas(arguments, site)?;
    let simulation = Simulation::read(arguments, site, &[&given.old, &given.new])?;
    let old = simulation.simulate(&given.old, None)?;
    let new = simulation.simulate(&given.new, Some(&old))?;
    let sides = OldNew::new(old, new);
    report_sides(arguments, &[&sides.old, &sides.new]);
    let shake = shaken(&simulation, &[&given.old, &given.new])?;
    let change = SimulatedChangeAnswer::new(sides, shake);
    output(arguments, site).write(&change, out)?;
    let OldNew { old, new } = &change.sides;
    Ok(outcome(new, old.found.is_fine))
}

/// Whether the (new) formula works and meets the goals, and all else is fine.
fn outcome(answer: &SimulationAnswer<'_>, is_fine: bool) -> Outcome {
    Outcome::fine_if(is_fine && answer.found.is_fine && meets_goals(&answer.goals))
}

/// Warns of the simulations, and says for which jobs formulas fail, where no document does.
fn report_sides(arguments: &SimulateArgs, sides: &[&SimulationAnswer<'_>]) {
    if arguments.answer.format.is_document() {
        return;
    }
    warn_all(&warnings(sides));
    let is_error = arguments.site.on_error == OnError::Fail;
    let kind = if is_error { "error" } else { "warning" };
    for side in named_sides(sides) {
        if let Some(clause) = failing_clause(&side) {
            print_message(kind, clause);
        }
    }
}

/// How the answer is written.
fn output<'a>(arguments: &'a SimulateArgs, site: &'a Site) -> Output<'a> {
    Output {
        cells: arguments.csv.cells(),
        page_file: arguments
            .report
            .page_file(vec![site], read_files(arguments)),
        ..Output::new(arguments.answer, &[])
    }
}

/// Opens the site of a log, whose jobs are not those of its queue.
fn open_site(arguments: &SimulateArgs) -> Result<Site, CliError> {
    arguments.site.require_simulated_rules()?;
    if arguments.site.files.has(Role::Queue) {
        return Err(CliError::usage(
            "--queue has no effect in a simulation, whose jobs are those of --workload",
        ));
    }
    let formula = arguments.formula.file();
    // as a file of the site it is read once, though it may be standard input
    let formula = formula
        .map(|path| FileSource::from(path).kept())
        .transpose()?;
    let mut files = arguments.site.simulated_files()?;
    if let Some(formula) = formula {
        files = files.with(Role::Formula, formula);
    }
    let files = files.for_workload();
    let site = Site::from_files(files, arguments.site.options(None))
        .map_err(|error| without_names(arguments, error))?;
    arguments
        .site
        .show(&site, arguments.answer.format.is_document());
    Ok(site)
}

/// Both formulas; the one that is not given is the formula of the command or the site's.
fn read_formulas(arguments: &SimulateArgs, site: &Site) -> Result<OldNew<GivenFormula>, CliError> {
    let OldNew { old, new } = arguments.sides.formulas();
    if old.is_given() && new.is_given() && arguments.formula.is_given() {
        return Err(CliError::usage(
            "give two formulas: a third one has no effect beside --old and --new",
        ));
    }
    let read = |given: &FormulaArgs| {
        if given.is_given() {
            read_formula(given, None)
        } else {
            read_formula(&arguments.formula, Some(site))
        }
    };
    match (read(&old), read(&new)) {
        (Err(CliError::Site(SiteError::Missing(_))), Ok(_)) => Err(no_formula(NO_OLD_FORMULA)),
        (Ok(_), Err(CliError::Site(SiteError::Missing(_)))) => Err(no_formula(NO_NEW_FORMULA)),
        (old, new) => {
            let sources = OldNew::new(old?, new?);
            Ok(sources.map(|source| GivenFormula::new(source, arguments.site.numbers)))
        }
    }
}

/// Standard input can be only one of the files.
fn require_one_file(arguments: &SimulateArgs) -> Result<(), CliError> {
    let OldNew { old, new } = arguments.sides.formulas();
    let before = [
        ("the formula", arguments.formula.file()),
        ("--old", old.file()),
        ("--new", new.file()),
    ];
    let mut after = arguments.log.readers();
    after.push(("--goals", arguments.goals.as_deref()));
    require_one_reader(&before, &arguments.site, &after)
}

/// The files that are read besides those of the site.
fn read_files(arguments: &SimulateArgs) -> Vec<&PathBuf> {
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

/// What moved submissions make of the means under a formula, or of their changes from one formula to
/// another, with the same moves for both; `None` if that is not asked for.
fn shaken(
    simulation: &Simulation<'_>,
    formulas: &[&GivenFormula],
) -> Result<Option<Shake>, CliError> {
    let runs = simulation.arguments.shake.map_or(0, |runs| runs as usize);
    let warm_up = simulation.warm_up;
    let runs = on_all_cores("shaking", runs, |index| {
        // the same seeds for all formulas and in each call: what differs is not the moves
        let workload = simulation.workload.shaken(index as u64 + 1);
        let mut sides = Vec::new();
        for given in formulas {
            let Some(side) = simulate(simulation, &workload, given)? else {
                return Ok(None);
            };
            sides.push(side);
        }
        Ok(match &sides[..] {
            [old, new] => {
                let (old, new) = (&old.schedule, &new.schedule);
                let difference = Difference::new(&workload, old, new, warm_up);
                Some(difference.means().map(|(_, change)| change.difference()))
            }
            sides => sides.first().map(|side| {
                let summary = side.results(&workload, warm_up).statistics.summary;
                [
                    summary.wait.mean,
                    summary.wait_per_core_hour,
                    summary.bounded_slowdown.mean,
                ]
            }),
        })
    });
    Ok(Shake::new(&runs?))
}

/// Simulates a workload once more, without messages; `None` after Ctrl-C.
fn simulate(
    simulation: &Simulation<'_>,
    workload: &Workload,
    given: &GivenFormula,
) -> Result<Option<SimulatedQueue>, CliError> {
    let Ok(formula) = given.submitted.formula() else {
        return Ok(None);
    };
    let simulated = simulation.run_once(formula, workload, &mut |_| until_interrupted())?;
    Ok(Some(simulated).filter(|simulated| simulated.schedule.is_complete))
}

/// Shows the warnings about the files of a site; with --anonymise, that there are some.
fn warn_of_site(arguments: &SimulateArgs, site: &Site) {
    if !arguments.anonymise {
        warn_all(&site.warnings());
    } else if !site.warnings().is_empty() {
        warn("the warnings about the files of the site may contain names, which --anonymise hides");
    }
}
