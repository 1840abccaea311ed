//! `jsf simulate --shake`: the same jobs again, submitted a little earlier or later.

use job_sort_formula::rank::OldNew;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_simulate::{Difference, Schedule, Shake, Statistics, Workload};

use crate::cli::CliError;
use crate::commands::simulate::interruption::Interruptible;
use crate::commands::simulate::runs::on_all_cores;
use crate::commands::simulate::side::{Simulation, run_once};

/// What moved submissions make of the means under a formula, if that is asked for.
pub(crate) fn shaken_side(
    simulation: &Simulation<'_>,
    submitted: &FormulaSubmission<'_>,
) -> Result<Option<Shake>, CliError> {
    let warm_up = simulation.log.warm_up;
    let runs = on_all_cores("shaking", count_runs(simulation), |index| {
        let workload = simulation.log.workload.shaken(index as u64 + 1);
        let simulated = simulate(simulation, &workload, submitted)?;
        Ok(simulated.map(|(schedule, processors)| {
            Statistics::new(&workload, &schedule, processors, warm_up).summary
        }))
    });
    Ok(Shake::of_means(&runs?))
}

/// What moved submissions make of the changes between two formulas, with the same moves for both.
pub(crate) fn shaken_change(
    simulation: &Simulation<'_>,
    submitted: &OldNew<FormulaSubmission<'_>>,
) -> Result<Option<Shake>, CliError> {
    let runs = on_all_cores("shaking", count_runs(simulation), |index| {
        let workload = simulation.log.workload.shaken(index as u64 + 1);
        let Some((old, _)) = simulate(simulation, &workload, &submitted.old)? else {
            return Ok(None);
        };
        let Some((new, _)) = simulate(simulation, &workload, &submitted.new)? else {
            return Ok(None);
        };
        Ok(Some(Difference::new(
            &workload,
            &old,
            &new,
            simulation.log.warm_up,
        )))
    });
    Ok(Shake::of_changes(&runs?))
}

fn count_runs(simulation: &Simulation<'_>) -> usize {
    simulation.arguments.shake.map_or(0, |runs| runs as usize)
}

/// Simulates a workload once more, without messages: when its jobs start, and on how many
/// processors. `None` after Ctrl-C.
fn simulate(
    simulation: &Simulation<'_>,
    workload: &Workload,
    submitted: &FormulaSubmission<'_>,
) -> Result<Option<(Schedule, u32)>, CliError> {
    let Simulation {
        arguments, site, ..
    } = *simulation;
    let Ok(formula) = submitted.formula() else {
        return Ok(None);
    };
    let simulated = run_once(arguments, site, formula, workload, &mut Interruptible)?;
    Ok(simulated
        .schedule
        .is_complete
        .then_some((simulated.schedule, simulated.processors)))
}
