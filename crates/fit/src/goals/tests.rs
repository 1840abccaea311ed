//! Fits of generated logs. By default they are few and short; the study of many is that of
//! `JSF_FIT_SEEDS=40 JSF_FIT_JOBS=10000 JSF_FIT_EVALUATIONS=200 cargo test --release -p jsf-fit study -- --nocapture`.

use std::sync::atomic::AtomicUsize;

use job_sort_formula::Threads;
use job_sort_formula::schema::InputType;
use jsf_simulate::{
    LogInputs, LoggedAmount, LoggedJob, WorkloadBuilder, WorkloadJob, WorkloadModel, generate,
};
use jsf_site::{SiteFiles, SiteOptions};
use jsf_testing::random::Generator;
use jsf_testing::setting;

use super::*;

const PROCESSORS: u32 = 8;
/// Two inputs that are random numbers of each job.
const RANDOM: [&str; 2] = ["first_priority", "second_priority"];
const WEEK: i64 = 7 * 86_400;
const MAX_WALLTIME: i64 = 3 * 86_400;
const SLOWDOWN: &str = "[objective]\nminimise = \"mean bounded_slowdown\"\n";

/// A generated log of so many weeks, whose jobs hold this fraction of the machine and have a random
/// priority each.
fn log(jobs: usize, weeks: i64, load: f64, seed: u64) -> Workload {
    let model = WorkloadModel {
        jobs,
        processors: PROCESSORS,
        seed,
        ..WorkloadModel::default()
    };
    let generated = generate(&model);
    let is_kept = |job: &WorkloadJob| job.walltime <= MAX_WALLTIME;
    let held: f64 = generated
        .jobs()
        .iter()
        .filter(|job| is_kept(job))
        .map(|job| job.core_seconds() as f64)
        .sum();
    let span = generated.jobs()[jobs - 1].submit - generated.jobs()[0].submit;
    let slower = load * (weeks * WEEK) as f64 * f64::from(PROCESSORS) / held;
    let names = RANDOM.map(|name| (name.into(), Some(InputType::Float)));
    let mut builder = WorkloadBuilder::with_inputs(LogInputs {
        names: names.into(),
        ..LogInputs::default()
    });
    let mut generator = Generator(seed);
    for (index, job) in generated
        .jobs()
        .iter()
        .enumerate()
        .filter(|(_, job)| is_kept(job))
    {
        let numbers = RANDOM.map(|_| generator.below(1 << 40).to_string());
        let amounts = [0, 1].map(|input| LoggedAmount {
            name: RANDOM[input].into(),
            text: (&*numbers[input]).into(),
            source: None,
        });
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
    let declared = RANDOM.map(|name| (name.to_owned(), InputType::Float));
    let files = SiteFiles::default().declaring(declared.into());
    Site::from_files(files, SiteOptions::default()).expect("a site")
}

fn options(evaluations: usize) -> FitOptions {
    FitOptions {
        evaluations,
        simulation: SimulationOptions {
            processors: Some(PROCESSORS),
            ..SimulationOptions::default()
        },
        ..FitOptions::default()
    }
}

fn fit(
    workload: &Workload,
    template: &str,
    goals: &str,
    options: &FitOptions,
    observer: &Watch<'_>,
) -> Result<GoalFit, FitError> {
    let site = site();
    let template = Template::parse(template).expect("a template");
    let goals = Goals::parse("goals.toml", goals, site.schema()).expect("goals");
    fit_goals(&site, &template, workload, &goals, options, observer)
}

/// A template whose constant says how much shorter jobs come first.
const SHORT_FIRST: &str = "eligible_time - {short=0:0..50}*walltime";

/// A log that is fitted in a test: too short for a recommendation.
fn short_log() -> Workload {
    log(400, 10, 0.85, 1)
}

fn forced(evaluations: usize) -> FitOptions {
    FitOptions {
        force: true,
        ..options(evaluations)
    }
}

#[test]
fn a_formula_that_helps_is_advised() {
    let workload = log(2100, 30, 0.85, 1);
    let fitted = fit(&workload, SHORT_FIRST, SLOWDOWN, &options(20), &unfollowed).expect("a fit");
    assert_eq!(fitted.reason, Reason::Better, "{:?}", fitted.objective);
    assert_eq!(fitted.reason.recommendation(), Recommendation::Use);
    assert!(fitted.evaluations <= 20, "{}", fitted.evaluations);
    let objective = fitted.objective.expect("an objective");
    let HeldOutObjective {
        current,
        fitted: found,
        change,
    } = objective.held_out;
    let [_, high] = change
        .and_then(|change| change.interval())
        .expect("an interval");
    assert!(high < 0.0 && found < current);
    // the change is that of the comparison
    let compared = fitted.held_out.difference.bounded_slowdown;
    let values = current.zip(found).expect("values");
    assert!((compared.old - values.0).abs() + (compared.new - values.1).abs() < 1e-9);
    let short = &fitted.constants[0];
    let [low, high] = short.within.expect("a range");
    assert!(
        0.0 < low && low <= short.value && short.value <= high && !short.hardly_matters,
        "{short:?}"
    );
    // the formula in force is first come, first served, which is no baseline beside it
    let names: Vec<&str> = fitted
        .held_out
        .baselines
        .iter()
        .map(|baseline| baseline.name)
        .collect();
    assert_eq!(names, ["shortest first", "expansion factor"]);
    assert!(fitted.split.held_out_days() > 60.0 && fitted.held_out.validation.is_none());
}

#[test]
fn goals_that_the_first_constants_miss_are_met() {
    let workload = log(2100, 30, 0.85, 1);
    let goals = "[[goal]]\nname = \"slowdown\"\nmeasure = \"bounded_slowdown\"\nstatistic = \"mean\"\nat_most = 200\n\
        [[goal]]\nname = \"use\"\nmeasure = \"utilisation\"\nat_least = { old = 0.9 }\n";
    let fitted = fit(&workload, SHORT_FIRST, goals, &options(20), &unfollowed).expect("a fit");
    let [slowdown, used] = &*fitted.goals else {
        panic!("{:?}", fitted.goals)
    };
    assert!(
        slowdown.current.is_missed()
            && slowdown.train.is_met()
            && used.current.is_met()
            && used.train.is_met()
    );
    assert!(slowdown.best <= slowdown.train.value);
    assert_eq!(
        used.train.limit,
        used.current.value.map(|value| value * 0.9)
    );
    assert_eq!(fitted.reason, Reason::Better, "{slowdown:?}");
    assert!(fitted.objective.is_none() && fitted.exclusions.is_empty());
    // not the constants that barely meet the goals, which are nearer to the first ones
    assert!(slowdown.train.margin() > Some(0.2), "{slowdown:?}");
}

/// The longest wait and the jobs within a limit have no interval, and are no estimate: a formula
/// that keeps such a goal is advised.
#[test]
fn a_goal_about_each_job_that_only_the_fitted_formula_meets_is_a_reason() {
    let workload = log(600, 10, 0.9, 3);
    let in_force = FitOptions {
        in_force: Some("-walltime".to_owned()),
        ..forced(20)
    };
    let template = "{short=0:0..1:int}*-walltime + {age=1:0..1:int}*eligible_time";
    let goal = |statistic: &str, limit: &str| {
        format!("[[goal]]\nname = \"each\"\nmeasure = \"wait\"\nstatistic = {statistic}\n{limit}\n")
    };
    let reason = |goal: &str| {
        let fitted = fit(&workload, template, goal, &in_force, &unfollowed).expect("a fit");
        (fitted.reason, fitted.goals)
    };
    let (_, easy) = reason(&goal("\"max\"", "at_most = 1e9"));
    let longest = |formula: fn(&FittedGoal) -> [&JudgedGoal; 2]| {
        formula(&easy[0])
            .into_iter()
            .filter_map(|part| part.value)
            .fold(0.0, f64::max)
    };
    let [old, new] = [
        longest(|goal| [&goal.current, &goal.held_out_current]),
        longest(|goal| [&goal.train, &goal.held_out]),
    ];
    assert!(
        new < old,
        "first come, first served has the shorter longest wait: {new} against {old}"
    );
    let limit = (old + new) / 2.0;
    for goals in [
        goal("\"max\"", &format!("at_most = {limit:?}")),
        goal(&format!("{{ within = {limit:?} }}"), "at_least = 1"),
    ] {
        let (gained, goals) = reason(&goals);
        assert!(
            goals[0].held_out.is_met() && goals[0].train.is_met(),
            "{goals:?}"
        );
        assert_eq!(gained.recommendation(), Recommendation::Use, "{gained:?}");
    }
    // met in force, too: no reason
    let (kept, _) = reason(&goal("\"max\"", &format!("at_most = {:?}", old + 1.0)));
    assert_eq!(kept, Reason::GoalsMetInForce);
}

#[test]
fn goals_that_exclude_each_other_are_named() {
    let workload = short_log();
    // the jobs with low random numbers against those with high ones
    let goals = |low: f64, high: f64| {
        let middle = 1_u64 << 39;
        format!(
            "[[goal]]\nname = \"low\"\njobs = \"first_priority < {middle}\"\nmeasure = \"wait\"\nstatistic = \"mean\"\n\
             at_most = {low:?}\n[[goal]]\nname = \"high\"\njobs = \"first_priority >= {middle}\"\nmeasure = \"wait\"\n\
             statistic = \"mean\"\nat_most = {high:?}\n"
        )
    };
    let template = "eligible_time + {lift=0:-1..1}*first_priority/100000";
    let easy = fit(
        &workload,
        template,
        &goals(1e9, 1e9),
        &forced(24),
        &unfollowed,
    )
    .expect("a fit");
    assert_eq!(easy.reason, Reason::GoalsMetInForce);
    let best: Vec<f64> = easy.goals.iter().filter_map(|goal| goal.best).collect();
    let fitted = fit(
        &workload,
        template,
        &goals(best[0] * 1.01, best[1] * 1.01),
        &forced(24),
        &unfollowed,
    )
    .expect("a fit");
    assert_eq!(fitted.reason.recommendation(), Recommendation::None);
    assert_eq!(fitted.exclusions.len(), 2, "{:?}", fitted.goals);
    for exclusion in &fitted.exclusions {
        let goal = &fitted.goals[exclusion.other];
        assert!(
            goal.train.limit.is_some_and(|limit| exclusion.best > limit),
            "{exclusion:?}"
        );
    }
    assert!(fitted.goals.iter().any(|goal| goal.train.missed() > 0.0));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let workload = short_log();
    let template = "eligible_time - {short=1:0..50}*walltime + {size=0:-100..100}*ncpus + {random=1:0.1..9:log}*first_priority";
    let run = |threads: usize, seed: u64| {
        let threads = Threads::new(threads);
        let options = FitOptions { seed, ..forced(30) };
        threads.run(|| fit(&workload, template, SLOWDOWN, &options, &unfollowed).expect("a fit"))
    };
    let fitted = [1, 2, 8].map(|threads| run(threads, 1));
    let printed = fitted.each_ref().map(|fitted| format!("{fitted:?}"));
    assert!(printed[0] == printed[1] && printed[0] == printed[2]);
    // another seed searches other points; what is held out does not depend on that
    let other = run(2, 2);
    assert_ne!(fitted[0].points, other.points);
    assert_eq!(
        (&fitted[0].held_out.current, &fitted[0].held_out.baselines),
        (&other.held_out.current, &other.held_out.baselines)
    );
    assert_eq!(fitted[0].points[0].values, [1.0, 0.0, 1.0]);
}

/// Ends a search after so many formulas.
struct EndAfter {
    formulas: usize,
    seen: AtomicUsize,
}

impl EndAfter {
    fn follow(&self, done: Option<(usize, usize)>) -> ControlFlow<()> {
        let evaluations = match done {
            None if self.formulas > 0 => return ControlFlow::Continue(()),
            None => 0,
            Some((evaluations, planned)) => {
                assert!(evaluations <= planned);
                self.seen.store(evaluations, Ordering::Relaxed);
                evaluations
            }
        };
        if evaluations >= self.formulas {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Lets a search come to its end.
fn unfollowed(_: Option<(usize, usize)>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn an_interrupted_search_gives_the_best_so_far() {
    let workload = short_log();
    let observer = EndAfter {
        formulas: 5,
        seen: AtomicUsize::new(0),
    };
    let fitted = fit(&workload, SHORT_FIRST, SLOWDOWN, &forced(60), &|progress| {
        observer.follow(progress)
    })
    .expect("a fit");
    assert!(
        !fitted.is_complete
            && fitted.evaluations < 30
            && fitted.evaluations == observer.seen.into_inner()
    );
    let best = fitted
        .points
        .iter()
        .map(|point| point.score.objective)
        .fold(f64::INFINITY, f64::min);
    assert_eq!(
        fitted
            .objective
            .as_ref()
            .and_then(|objective| objective.fitted),
        Some(best)
    );
    assert!(
        fitted
            .objective
            .is_some_and(|objective| objective.held_out.fitted.is_some())
    );
    assert_eq!(fitted.constants[0].within, None);
    let at_once = EndAfter {
        formulas: 0,
        seen: AtomicUsize::new(0),
    };
    let ended = fit(&workload, SHORT_FIRST, SLOWDOWN, &forced(60), &|progress| {
        at_once.follow(progress)
    });
    let ended = ended.expect_err("no result").to_string();
    assert!(ended.starts_with("interrupted"), "{ended}");
}

#[test]
fn a_short_log_is_refused() {
    let message = |workload: &Workload, options: &FitOptions| {
        fit(workload, SHORT_FIRST, SLOWDOWN, options, &unfollowed)
            .expect_err("an error")
            .to_string()
    };
    let workload = log(300, 5, 0.8, 1);
    let expected = "the log has 299 jobs in 5.0 weeks; a fit needs at least 2000 jobs in 8 weeks, since it is judged on a part that \
        was not searched";
    assert_eq!(message(&workload, &options(20)), expected);
    assert!(fit(&workload, SHORT_FIRST, SLOWDOWN, &forced(20), &unfollowed).is_ok());
    assert!(
        message(
            &workload,
            &FitOptions {
                held_out: 1.0,
                ..forced(20)
            }
        )
        .contains("expected a fraction")
    );
    let warm_up = FitOptions {
        warm_up: Some(5 * WEEK),
        ..forced(20)
    };
    assert!(message(&workload, &warm_up).contains("no job of the log is left"));
    assert!(message(&Workload::default(), &options(20)).contains("no job of the log is left"));
}

#[test]
fn a_goal_about_no_job_is_neither_met_nor_missed() {
    let workload = short_log();
    let nobody = "[[goal]]\nname = \"nobody\"\njobs = \"walltime > 1e9\"\nmeasure = \"wait\"\nstatistic = \"p95\"\nat_most = 1\n";
    let fitted = fit(
        &workload,
        SHORT_FIRST,
        &format!("{nobody}{SLOWDOWN}"),
        &forced(20),
        &unfollowed,
    )
    .expect("a fit");
    let goal = &fitted.goals[0];
    for part in [
        &goal.current,
        &goal.train,
        &goal.held_out_current,
        &goal.held_out,
    ] {
        assert_eq!(
            (part.jobs, part.value, part.state),
            (0, None, GoalState::NoJobs)
        );
        assert!(!part.is_met() && !part.is_missed());
    }
    let alone = fit(&workload, SHORT_FIRST, nobody, &forced(20), &unfollowed);
    let alone = alone.expect_err("no result").to_string();
    assert!(alone.contains("nothing can be fitted"), "{alone}");
}

#[test]
fn a_constant_that_does_nothing_keeps_its_value() {
    let workload = short_log();
    let fitted = fit(
        &workload,
        "eligible_time + 0*{idle=3.25:0..10}",
        SLOWDOWN,
        &forced(24),
        &unfollowed,
    )
    .expect("a fit");
    assert_eq!(fitted.formula, "eligible_time + 0*3.25");
    assert!(fitted.constants[0].hardly_matters, "{:?}", fitted.constants);
    assert_eq!(fitted.constants[0].within, Some([0.0, 10.0]));
    assert_eq!(fitted.reason.recommendation(), Recommendation::Keep);
    let in_force = FitOptions {
        in_force: Some(fitted.formula),
        ..forced(24)
    };
    let fitted = fit(
        &workload,
        "eligible_time + 0*{idle=3.25:0..10}",
        SLOWDOWN,
        &in_force,
        &unfollowed,
    )
    .expect("a fit");
    assert_eq!(fitted.reason, Reason::InForce);
}

#[test]
fn a_common_factor_is_fixed() {
    let workload = short_log();
    let template = "{wait=2:0..10}*eligible_time - {short=1:0..10}*walltime";
    let fitted = fit(&workload, template, SLOWDOWN, &forced(24), &unfollowed).expect("a fit");
    let values: Vec<f64> = fitted
        .constants
        .iter()
        .map(|constant| constant.value)
        .collect();
    assert!(values[0] == 2.0 || values[1] == 1.0, "{values:?}");
    let searched = fitted.points.iter().skip(1);
    assert!(
        searched
            .into_iter()
            .all(|point| point.values.contains(&10.0))
    );
}

/// How often chance alone is advised: among random orders none is better than another.
#[test]
fn chance_is_hardly_ever_advised_in_a_study() {
    let seeds = setting("JSF_FIT_SEEDS", 3);
    let jobs = setting("JSF_FIT_JOBS", 1000) as usize;
    let evaluations = setting("JSF_FIT_EVALUATIONS", 10) as usize;
    let template = "{one=1:0..1}*first_priority + {other=0:0..1}*second_priority";
    let in_force = Some("first_priority".to_owned());
    let mut advised = 0;
    let mut judged = 0;
    for seed in 1..=seeds {
        let workload = log(jobs, 30, 0.8, seed);
        let options = FitOptions {
            in_force: in_force.clone(),
            seed,
            force: true,
            ..options(evaluations)
        };
        let fitted = fit(&workload, template, SLOWDOWN, &options, &unfollowed).expect("a fit");
        let objective = fitted.objective.expect("an objective");
        judged += u64::from(
            objective
                .held_out
                .change
                .is_some_and(|change| change.interval().is_some()),
        );
        advised += u64::from(fitted.reason.recommendation() == Recommendation::Use);
        println!(
            "{seed}: {:?}, optimism {:?} of {:?}",
            fitted.reason, objective.optimism, objective.held_out.fitted
        );
    }
    println!("advised in {advised} of {judged} logs that can be judged, of {seeds}");
    assert!(judged * 10 >= seeds * 9 && advised * 10 <= judged);
}

#[test]
fn goals_come_before_the_objective_and_that_before_the_distance() {
    let score = |missed, objective, distance| Score {
        missed,
        objective,
        distance,
    };
    let mut scores = [
        score(0.1, 0.0, 0.0),
        score(0.0, 2.0, 0.0),
        score(0.0, 1.0, 0.5),
        score(0.0, 1.0, 0.2),
    ];
    scores.sort();
    assert_eq!(scores.map(|score| score.distance), [0.2, 0.5, 0.0, 0.0]);
    assert_eq!(scores[3].missed, 0.1);
}
