//! The log of a simulation, and the goals that it is judged by.

use job_sort_formula::Formula;
use jsf_simulate::{Goals, LogRules, WarmUp, Workload, WorkloadModel, generate};
use jsf_site::{Site, check_warm_up};

use crate::cli::args::log::simulation;
use crate::cli::{CliError, GivenFormula, Progress, warn};
use crate::commands::simulate::anonymity::without_names;
use crate::commands::simulate::log_facts::messages;
use crate::commands::simulate::request::SimulateArgs;
use crate::text_files::read_goals;
use crate::view::words::too_short;

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
        given: &[&GivenFormula],
    ) -> Result<Self, CliError> {
        let goals = match &arguments.goals {
            Some(path) => Some(read_goals(path, site)?),
            None => None,
        };
        let workload = match (arguments.generate, arguments.log.processors) {
            (Some(jobs), Some(processors)) => generate_workload(arguments, jobs, processors.get()),
            _ => read_workload(arguments, site, given, goals.as_ref())?,
        };
        let (warm_up, is_until_decay) = match arguments.log.warm_up_seconds() {
            Some(seconds) => (seconds, false),
            None => {
                let warm_up = default_warm_up(arguments, site, &workload)?.seconds();
                (warm_up, warm_up > 0)
            }
        };
        check_warm_up(&workload, warm_up)?;
        Ok(Self {
            workload,
            goals,
            warm_up,
            is_until_decay,
        })
    }
}

/// Which of the first jobs do not count unless the arguments say it.
fn default_warm_up(
    arguments: &SimulateArgs,
    site: &Site,
    workload: &Workload,
) -> Result<WarmUp, CliError> {
    let warm_up = site.warm_up(workload, &simulation(&arguments.log, &arguments.site));
    let warm_up = warm_up.map_err(|error| without_names(arguments, error))?;
    too_short(warm_up).iter().for_each(warn);
    Ok(warm_up)
}

fn generate_workload(arguments: &SimulateArgs, jobs: usize, processors: u32) -> Workload {
    let SimulateArgs { load, seed, .. } = *arguments;
    let _progress = Progress::start("generating the workload");
    let mut workload = generate(&WorkloadModel {
        jobs,
        processors,
        load,
        seed,
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
    given: &[&GivenFormula],
    goals: Option<&Goals>,
) -> Result<Workload, CliError> {
    // a formula that does not parse is drawn when it is simulated
    let formulas: Vec<&Formula> = given
        .iter()
        .filter_map(|given| given.submitted.formula().ok())
        .collect();
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
