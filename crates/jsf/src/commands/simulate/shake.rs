//! `jsf simulate --shake`: the same jobs again, submitted a little earlier or later.

use job_sort_formula::rank::OldNew;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_simulate::{Difference, Schedule, Shake, Statistics, Workload};
use jsf_site::Site;

use crate::cli::CliError;
use crate::commands::simulate::request::SimulateArgs;
use crate::commands::simulate::run::run_once;
use crate::commands::simulate::runs::{Interruptible, on_all_cores};

/// What moved submissions make of the means under a formula, if that is asked for.
pub(crate) fn shaken_side(
    arguments: &SimulateArgs,
    site: &Site,
    workload: &Workload,
    warm_up: i64,
    submitted: &FormulaSubmission<'_>,
) -> Result<Option<Shake>, CliError> {
    let runs = on_all_cores("shaking", count(arguments), |index| {
        let workload = workload.shaken(index as u64 + 1);
        let simulated = simulate(arguments, site, &workload, submitted)?;
        Ok(simulated.map(|(schedule, processors)| Statistics::new(&workload, &schedule, processors, warm_up).summary))
    });
    Ok(Shake::of_means(&runs?))
}

/// What moved submissions make of the changes between two formulas, with the same moves for both.
pub(crate) fn shaken_change(
    arguments: &SimulateArgs,
    site: &Site,
    workload: &Workload,
    warm_up: i64,
    submitted: &OldNew<FormulaSubmission<'_>>,
) -> Result<Option<Shake>, CliError> {
    let runs = on_all_cores("shaking", count(arguments), |index| {
        let workload = workload.shaken(index as u64 + 1);
        let Some((old, _)) = simulate(arguments, site, &workload, &submitted.old)? else { return Ok(None) };
        let Some((new, _)) = simulate(arguments, site, &workload, &submitted.new)? else { return Ok(None) };
        Ok(Some(Difference::new(&workload, &old, &new, warm_up)))
    });
    Ok(Shake::of_changes(&runs?))
}

fn count(arguments: &SimulateArgs) -> usize {
    arguments.shake.map_or(0, |runs| runs as usize)
}

/// Simulates a workload once more, without messages: when its jobs start, and on how many processors. `None` after Ctrl-C.
fn simulate(
    arguments: &SimulateArgs,
    site: &Site,
    workload: &Workload,
    submitted: &FormulaSubmission<'_>,
) -> Result<Option<(Schedule, u32)>, CliError> {
    let Ok(formula) = submitted.formula() else { return Ok(None) };
    let mut observer = Interruptible;
    let simulated = run_once(arguments, site, formula, workload, &mut observer)?;
    Ok(simulated.schedule.is_complete.then_some((simulated.schedule, simulated.processors)))
}
