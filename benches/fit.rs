//! The speed of `jsf fit`: wishes about 120 jobs with three constants; goals on a generated log,
//! with two and with three constants, on all cores; and what a fit does besides simulating, on one
//! thread.
//!
//! ```sh
//! cargo bench --bench fit
//! ```
//!
//! `JSF_BENCH_JOBS` sets the number of jobs of the log, and `JSF_BENCH_EVALUATIONS` the number of
//! formulas.

use std::ops::ControlFlow;
use std::time::Instant;

use job_sort_formula::formula::Template;
use job_sort_formula::{Formula, Threads};
use jsf_fit::goals::{FitOptions, GoalFit, fit_goals};
use jsf_fit::wishes::{WishFit, WishOptions, Wishes, WishesMet, fit_wishes};
use jsf_simulate::{Goals, Workload, WorkloadModel, generate};
use jsf_site::{FileSource, Role, SimulationOptions, Site, SiteFiles, SiteOptions};

const PROCESSORS: u32 = 128;
const TEMPLATES: [&str; 2] = [
    "{wait=1:0..10}*eligible_time/3600 - {short=1:0..10}*walltime/3600",
    "{wait=1:0..10}*eligible_time/3600 - {short=1:0..10}*walltime/3600 + {size=0:-1..1}*ncpus",
];
/// A linear template and another one, each with a formula that they contain.
const QUEUE_TEMPLATES: [(&str, &str); 2] = [
    (
        "{fs=100:0..500}*fairshare_factor + {age=1:0..50}*eligible_time/3600 + {cpu=1:-10..10}*ncpus",
        "317.3*fairshare_factor + 4.71*eligible_time/3600 - 1.37*ncpus",
    ),
    (
        "fairshare_factor**{p=1:0.1..4} * {fs=100:1..500:log} + {age=1:0..9}*eligible_time/3600",
        "fairshare_factor**2.31 * 41.7 + 0.83*eligible_time/3600",
    ),
];
const GOALS: &str = "[[goal]]\nname = \"short jobs start soon\"\njobs = \"walltime <= 3600\"\nmeasure = \"wait\"\n\
    statistic = \"p95\"\nat_most = \"1h\"\n[objective]\nminimise = \"mean bounded_slowdown\"\n";

/// A fit, with its seconds and those in which this thread had a processor.
fn fit(
    site: &Site,
    template: &str,
    workload: &Workload,
    evaluations: usize,
) -> (GoalFit, [f64; 2]) {
    let template = Template::parse(template).expect("a template");
    let goals = Goals::parse("goals.toml", GOALS, site.schema()).expect("goals");
    // the log is shorter than eight weeks
    let options = FitOptions {
        evaluations,
        force: true,
        simulation: SimulationOptions {
            processors: Some(PROCESSORS),
            ..SimulationOptions::default()
        },
        ..FitOptions::default()
    };
    let start = Instant::now();
    let before = processor_seconds();
    let fitted = fit_goals(site, &template, workload, &goals, &options, &|_| {
        ControlFlow::Continue(())
    })
    .expect("a fit");
    (
        fitted,
        [start.elapsed().as_secs_f64(), processor_seconds() - before],
    )
}

/// The processor seconds of this thread, which do not depend on what else the machine does. Linux
/// counts them in nanoseconds.
fn processor_seconds() -> f64 {
    let counted =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("the thread's statistics");
    let nanoseconds: u64 = counted
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok())
        .expect("nanoseconds");
    nanoseconds as f64 / 1e9
}

/// The processor seconds for nothing but the simulations of a fit: those of the formulas that were
/// searched, of which the ranges of the constants are as many as are missing among the points, and
/// those of the whole log under the formula in force, the fitted one and the baselines.
fn simulations(site: &Site, workload: &Workload, fitted: &GoalFit) -> f64 {
    let searched = workload.submitted_before(fitted.split.searched_until);
    let of_points: f64 = fitted
        .points
        .iter()
        .map(|point| simulation(site, &searched, &point.formula))
        .sum();
    let of_searched = of_points / fitted.points.len() as f64 * fitted.evaluations as f64;
    let in_force = simulation(site, &searched, &fitted.held_out.current.formula);
    let others = fitted
        .held_out
        .baselines
        .iter()
        .chain([&fitted.held_out.current])
        .map(|formula| &*formula.formula);
    let of_whole: f64 = others
        .chain([&*fitted.formula])
        .map(|formula| simulation(site, workload, formula))
        .sum();
    of_searched + in_force + of_whole
}

fn simulation(site: &Site, workload: &Workload, formula: &str) -> f64 {
    let formula = Formula::parse(formula).expect("a formula");
    let options = SimulationOptions {
        processors: Some(PROCESSORS),
        ..SimulationOptions::default()
    };
    let before = processor_seconds();
    site.simulate(&formula, workload, options, &mut ())
        .expect("a schedule");
    processor_seconds() - before
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// The seconds that 120 jobs in an order that a hidden formula gives take.
fn fit_queue(template: &str, hidden: &str) -> (WishFit, f64) {
    let jobs = (1..=120_u64).map(|job| {
        let [first, second, third] = [7919, 104_729, 15_485_863].map(|prime| job * prime % 1009);
        format!(
            "{{\"id\":\"{job}.vm\",\"entity\":\"Bob\",\"state\":\"Q\",\"resources\":{{\"ncpus\":{}}},\"eligible_time\":{},\
             \"fairshare_factor\":{}}}",
            1 << (first % 9),
            second * 500,
            third as f64 / 1009.0
        )
    });
    let document = format!("{{\"jobs\":[{}]}}", jobs.collect::<Vec<_>>().join(","));
    let source = FileSource::Bytes {
        name: "queue.json".into(),
        bytes: document.into_bytes().into(),
    };
    let files = SiteFiles::default().with(Role::Queue, source);
    let site = Site::from_files(files, SiteOptions::default()).expect("a site");
    let ranked = site
        .rank(&Formula::parse(hidden).expect("a formula"))
        .expect("a ranking");
    let ids: Vec<&str> = ranked
        .ranking
        .order()
        .iter()
        .map(|&row| ranked.table.id(row))
        .collect();
    let mut wishes = Wishes::default();
    wishes
        .read("wishes.txt", &ids.join("\n"))
        .expect("a list of jobs");
    let template = Template::parse(template).expect("a template");
    let start = Instant::now();
    let options = WishOptions::default();
    let fitted = fit_wishes(&site, &template, &wishes, &options, &|_| {
        ControlFlow::Continue(())
    })
    .expect("a fit");
    (fitted, start.elapsed().as_secs_f64())
}

fn main() {
    for (template, hidden) in QUEUE_TEMPLATES {
        let (fitted, seconds) = fit_queue(template, hidden);
        let WishesMet { met, total, .. } = fitted.wishes;
        println!(
            "120 jobs, {} constants: {seconds:.2} s for {} rankings; {met} of {total} wishes",
            fitted.parameters.len(),
            fitted.evaluations
        );
    }
    let jobs = setting("JSF_BENCH_JOBS", 10_000);
    let evaluations = setting("JSF_BENCH_EVALUATIONS", 200);
    let workload = generate(&WorkloadModel {
        jobs,
        processors: PROCESSORS,
        load: 0.9,
        ..WorkloadModel::default()
    });
    let site = Site::from_files(SiteFiles::default(), SiteOptions::default()).expect("a site");
    for template in TEMPLATES {
        let (fitted, [seconds, _]) = fit(&site, template, &workload, evaluations);
        println!(
            "{jobs} jobs, {} formulas: {seconds:.1} s; {}",
            fitted.evaluations, fitted.formula
        );
    }
    let few = evaluations / 4;
    let (fitted, [_, seconds]) = Threads::new(1).run(|| fit(&site, TEMPLATES[0], &workload, few));
    let simulated = simulations(&site, &workload, &fitted);
    println!(
        "one thread, {} formulas: {seconds:.2} s of the processor, of which simulating takes {simulated:.2} s: {:.1} % around it",
        fitted.evaluations,
        (seconds / simulated - 1.0) * 100.0
    );
}
