//! The speed of `jsf fit`: goals on a generated log, with two and with three constants, on all cores; and what a fit does besides
//! simulating, on one thread.
//!
//! ```sh
//! cargo bench --bench fit
//! ```
//!
//! `JSF_BENCH_JOBS` sets the number of jobs of the log, and `JSF_BENCH_EVALUATIONS` the number of formulas.

use std::time::Instant;

use job_sort_formula::Formula;
use job_sort_formula::formula::Template;
use jsf_fit::goals::{COPIES, FitOptions, GoalFit, fit_goals};
use jsf_fit::is_scale_free;
use jsf_simulate::{Goals, Workload, WorkloadModel, generate};
use jsf_site::{SimulateRequest, Site, SiteFiles, SiteOptions};

const PROCESSORS: u32 = 128;
const TEMPLATES: [&str; 2] = [
    "{wait=1:0..10}*eligible_time/3600 - {short=1:0..10}*walltime/3600",
    "{wait=1:0..10}*eligible_time/3600 - {short=1:0..10}*walltime/3600 + {size=0:-1..1}*ncpus",
];
const GOALS: &str = "[[goal]]\nname = \"short jobs start soon\"\njobs = \"walltime <= 3600\"\nmeasure = \"wait\"\n\
    statistic = \"p95\"\nat_most = \"1h\"\n[objective]\nminimise = \"mean bounded_slowdown\"\n";

fn fit(site: &Site, template: &str, workload: &Workload, evaluations: usize) -> (GoalFit, f64) {
    let template = Template::parse(template).expect("a template");
    let goals = Goals::parse("goals.toml", GOALS, site.schema()).expect("goals");
    // the log is shorter than eight weeks
    let is_scale_free = is_scale_free(&template);
    let options =
        FitOptions { evaluations, is_scale_free, force: true, processors: Some(PROCESSORS), ..FitOptions::default() };
    let start = Instant::now();
    let fitted = fit_goals(site, &template, workload, &goals, &options, &()).expect("a fit");
    (fitted, start.elapsed().as_secs_f64())
}

/// The seconds for nothing but the simulations of the points that were searched.
fn simulations(site: &Site, workload: &Workload, fitted: &GoalFit) -> f64 {
    let searched = workload.submitted_before(fitted.split.searched_until);
    let copies: Vec<Workload> = (0..COPIES).map(|copy| searched.shaken(copy)).collect();
    let start = Instant::now();
    for point in &fitted.points {
        let formula = Formula::parse(&point.formula).expect("a formula");
        for copy in &copies {
            let mut observer = ();
            let request =
                SimulateRequest { processors: Some(PROCESSORS), ..SimulateRequest::new(&formula, copy, &mut observer) };
            site.simulate(request).expect("a schedule");
        }
    }
    start.elapsed().as_secs_f64()
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() {
    let jobs = setting("JSF_BENCH_JOBS", 10_000);
    let evaluations = setting("JSF_BENCH_EVALUATIONS", 200);
    let workload = generate(&WorkloadModel { jobs, processors: PROCESSORS, load: 0.9, ..WorkloadModel::default() });
    let site = Site::from_files(SiteFiles::default(), SiteOptions::default()).expect("a site");
    for template in TEMPLATES {
        let (fitted, seconds) = fit(&site, template, &workload, evaluations);
        println!("{jobs} jobs, {} formulas on {COPIES} copies: {seconds:.1} s; {}", fitted.evaluations, fitted.formula);
    }
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let few = evaluations / 4;
    let (fitted, seconds) = one.install(|| fit(&site, TEMPLATES[0], &workload, few));
    let formulas = fitted.points.len() as f64;
    let simulated = simulations(&site, &workload, &fitted) / formulas * fitted.evaluations as f64;
    println!(
        "one thread, {} formulas: {seconds:.2} s, of which simulating takes {simulated:.2} s: {:.1} % around it",
        fitted.evaluations,
        (seconds / simulated - 1.0) * 100.0
    );
}
