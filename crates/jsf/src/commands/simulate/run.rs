//! `jsf simulate`

use std::io::Write;

use job_sort_formula::rank::OldNew;
use jsf_simulate::{GoalState, JudgedGoal, Validation};
use jsf_site::Site;

use crate::answer::Format;
use crate::cli::output::Output;
use crate::cli::{CliError, GivenFormula, Outcome, read_formula, report};
use crate::commands::simulate::anonymity::warn_of_site;
use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change_answer::SimulatedChangeReport;
use crate::commands::simulate::judged_log::JudgedLog;
use crate::commands::simulate::request::SimulateArgs;
use crate::commands::simulate::shake::shaken;
use crate::commands::simulate::simulation::{Simulation, failure_kind};
use crate::commands::simulate::site_of_log::{
    is_change, open_site, read_files, read_formulas, require_one_file,
};
use crate::commands::simulate::sweep::sweep;
use crate::commands::simulate::view::{failing_clause, named_sides};

pub(crate) fn run(arguments: &SimulateArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    require_one_file(arguments)?;
    if is_change(arguments) && arguments.format == Format::Swf {
        return Err(CliError::usage(
            "--format swf writes one schedule: give one formula, without --old and --new",
        ));
    }
    let site = open_site(arguments)?;
    warn_of_site(arguments, &site);
    if !arguments.param.is_empty() {
        sweep(arguments, &site, out)
    } else if is_change(arguments) {
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
    let log = JudgedLog::read(arguments, site, &[&given])?;
    let simulation = Simulation {
        arguments,
        site,
        log: &log,
    };
    let mut report = simulation.simulate(&given, None)?;
    let failing = report.found.failing.as_ref();
    let clause = failing.map(|failing| failing.clause("the formula"));
    report_failing(arguments, clause.as_slice());
    if arguments.validate {
        let schedule = &report.jobs.schedule;
        report.validation = Validation::new(&log.workload, schedule, log.warm_up);
        if report.validation.is_none() {
            return Err(CliError::content(
                "the log does not say how long its jobs waited, so there is nothing to compare with",
            ));
        }
    }
    report.shake = shaken(&simulation, &[&given])?;
    output(arguments, site).write(&report, out)?;
    Ok(outcome(&report, true))
}

/// Simulates the log under two formulas.
fn simulate_change(
    arguments: &SimulateArgs,
    site: &Site,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let given = read_formulas(arguments, site)?;
    let log = JudgedLog::read(arguments, site, &[&given.old, &given.new])?;
    let simulation = Simulation {
        arguments,
        site,
        log: &log,
    };
    let old = simulation.simulate(&given.old, None)?;
    let new = simulation.simulate(&given.new, Some(&old))?;
    let sides = OldNew::new(old, new);
    let failing: Vec<_> = named_sides(&sides)
        .iter()
        .filter_map(failing_clause)
        .collect();
    report_failing(arguments, &failing);
    let shake = shaken(&simulation, &[&given.old, &given.new])?;
    let change = SimulatedChangeReport::new(sides, shake);
    output(arguments, site).write(&change, out)?;
    let OldNew { old, new } = &change.sides;
    Ok(outcome(new, old.found.is_fine))
}

/// Whether the (new) formula works and meets the goals, and all else is fine.
fn outcome(report: &SimulationReport<'_>, is_fine: bool) -> Outcome {
    Outcome::fine_if(is_fine && report.found.is_fine && meets_goals(&report.goals))
}

/// Whether no goal is missed.
pub(crate) fn meets_goals(goals: &[JudgedGoal]) -> bool {
    goals.iter().all(|goal| goal.state != GoalState::Missed)
}

/// Says for which jobs formulas fail, where no document does.
fn report_failing(arguments: &SimulateArgs, clauses: &[String]) {
    if !clauses.is_empty() && !arguments.format.is_document() {
        report(failure_kind(arguments), clauses.join("; "));
    }
}

/// How the answer is written.
fn output<'a>(arguments: &'a SimulateArgs, site: &'a Site) -> Output<'a> {
    Output::new(arguments.format, arguments.text, &[])
        .with_cells(arguments.csv.cells())
        .with_page(
            arguments.report.as_deref(),
            vec![site],
            read_files(arguments),
        )
}
