//! Fits of generated logs. By default they are few and short; the study of many is that of
//! `JSF_FIT_SEEDS=40 JSF_FIT_JOBS=10000 JSF_FIT_EVALUATIONS=200 cargo test --release -p jsf-fit study -- --nocapture`.

use job_sort_formula::schema::InputType;
use jsf_simulate::{LogInputs, LoggedAmount, LoggedJob, WorkloadBuilder, WorkloadJob, WorkloadModel, generate};
use jsf_site::{SiteFiles, SiteOptions};
use jsf_testing::random::Generator;

use super::*;

const PROCESSORS: u32 = 8;
/// An input that is a random number of each job.
const PRIORITY: &str = "static_priority";
const WEEK: i64 = 7 * 86_400;
const MAX_WALLTIME: i64 = 3 * 86_400;
const SLOWDOWN: &str = "[objective]\nminimise = \"mean bounded_slowdown\"\n";

/// A generated log of so many weeks, whose jobs hold this fraction of the machine and have a random priority each.
fn log(jobs: usize, weeks: i64, load: f64, seed: u64) -> Workload {
    let model = WorkloadModel { jobs, processors: PROCESSORS, seed, ..WorkloadModel::default() };
    let generated = generate(&model);
    let is_kept = |job: &WorkloadJob| job.walltime <= MAX_WALLTIME;
    let held: f64 = generated.jobs().iter().filter(|job| is_kept(job)).map(|job| job.core_seconds() as f64).sum();
    let span = generated.jobs()[jobs - 1].submit - generated.jobs()[0].submit;
    let slower = load * (weeks * WEEK) as f64 * f64::from(PROCESSORS) / held;
    let names = vec![(PRIORITY.into(), Some(InputType::Float))];
    let mut builder = WorkloadBuilder::with_inputs(LogInputs { names, ..LogInputs::default() });
    let mut generator = Generator(seed);
    for (index, job) in generated.jobs().iter().enumerate().filter(|(_, job)| is_kept(job)) {
        let number = generator.below(1 << 40).to_string();
        let amounts = [LoggedAmount { name: PRIORITY, text: &number, source: None }];
        let logged = LoggedJob {
            id: generated.id(index),
            entity: &generated.entities()[job.entity as usize],
            submit: job.submit * (weeks * WEEK) / span,
            run: (job.run as f64 * slower) as i64,
            walltime: Some((job.walltime as f64 * slower).min(MAX_WALLTIME as f64) as i64),
            processors: job.processors.into(),
            amounts: &amounts,
            ..LoggedJob::default()
        };
        builder.push(&logged).expect("a job that can be simulated");
    }
    builder.finish()
}

fn site() -> Site {
    let files = SiteFiles::default().declaring(vec![(PRIORITY.to_owned(), InputType::Float)]);
    Site::from_files(files, SiteOptions::default()).expect("a site")
}

fn options(evaluations: usize) -> FitOptions {
    FitOptions { evaluations, processors: Some(PROCESSORS), ..FitOptions::default() }
}

fn fit(
    workload: &Workload,
    template: &str,
    goals: &str,
    options: &FitOptions,
    observer: &dyn FitObserver,
) -> Result<GoalFit, FitError> {
    let site = site();
    let template = Template::parse(template).expect("a template");
    let goals = Goals::parse("goals.toml", goals, site.schema()).expect("goals");
    fit_goals(&site, &template, workload, &goals, options, observer)
}

#[test]
fn a_formula_that_helps_is_advised() {
    let workload = log(3000, 30, 0.85, 1);
    let start = std::time::Instant::now();
    let fitted =
        fit(&workload, "eligible_time - {short=0:0..50}*walltime", SLOWDOWN, &options(24), &()).expect("a fit");
    println!("{:?} {} {:?}", start.elapsed(), workload.jobs().len(), fitted.split);
    println!("{} {:?} {:?} {:?}", fitted.formula, fitted.reason, fitted.objective, fitted.constants);
    println!("{:?}\n{:?}", fitted.baselines, fitted.validation);
}
