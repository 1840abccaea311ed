//! `jsf simulate --shake`: the same jobs again, submitted a little earlier or later.

use jsf_simulate::{Difference, Shake, Workload};
use jsf_site::SimulatedQueue;

use crate::cli::{CliError, GivenFormula};
use crate::commands::simulate::interruption::{Interruptible, on_all_cores};
use crate::commands::simulate::simulation::Simulation;

/// What moved submissions make of the means under a formula, or of their changes from one formula to
/// another, with the same moves for both; `None` if that is not asked for.
pub(crate) fn shaken(
    simulation: &Simulation<'_>,
    formulas: &[&GivenFormula],
) -> Result<Option<Shake>, CliError> {
    let runs = simulation.arguments.shake.map_or(0, |runs| runs as usize);
    let warm_up = simulation.log.warm_up;
    let runs = on_all_cores("shaking", runs, |index| {
        let workload = simulation.log.workload.shaken(index as u64 + 1);
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
    let simulated = simulation.run_once(formula, workload, &mut Interruptible)?;
    Ok(Some(simulated).filter(|simulated| simulated.schedule.is_complete))
}
