//! Wishes about the order of a queue: hidden constants are found again, and what cannot be met is
//! named.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use job_sort_formula::Formula;
use job_sort_formula::formula::Template;
use jsf_fit::wishes::{WishFit, WishOptions, Wishes, fit_wishes};
use jsf_site::{FileSource, Role, Site, SiteFiles, SiteOptions};
use jsf_testing::random::Xorshift;
use jsf_testing::setting;
use serde_json::{Value, json};

const CONFIGS: &[&str] = &[
    "by_queue: False ALL\n",
    "by_queue: False ALL\njob_sort_key: \"ncpus HIGH\" ALL\n",
    "by_queue: True ALL\n",
];
const QUEUES: &str = "Queue: workq\n    queue_type = Execution\n    Priority = 10\n\nQueue: short\n    queue_type = Execution\n    \
                      Priority = 20\n\nQueue: fast\n    queue_type = Execution\n    Priority = 200\n\n";

fn random_jobs(count: u64, random: &mut Xorshift) -> Vec<Value> {
    let job = |index: u64| {
        let queue = ["workq", "workq", "workq", "short", "fast"][random.next() as usize % 5];
        json!({
            "id": format!("{index}.vm"),
            "entity": "Bob",
            "queue": queue,
            "state": "Q",
            "resources": {"ncpus": 1 << (random.next() % 9), "walltime": 60 * (10 + random.next() % 2000)},
            "eligible_time": random.next() % 500_000,
            "job_priority": random.next() % 100,
            "fairshare_factor": (random.next() % 1_000_000) as f64 / 1e6,
        })
    };
    (1..=count).map(job).collect()
}

/// Jobs without the queue that comes before all others.
fn without_express(mut jobs: Vec<Value>) -> Vec<Value> {
    jobs.iter_mut()
        .for_each(|job| job["queue"] = json!("workq"));
    jobs
}

fn site(jobs: &[Value], config: &str, options: SiteOptions) -> Site {
    let source = |name: &str, text: &str| FileSource::Bytes {
        name: name.into(),
        bytes: text.as_bytes().into(),
    };
    let files = SiteFiles::default()
        .with(
            Role::Queue,
            source("queue.json", &json!({ "jobs": jobs }).to_string()),
        )
        .with(Role::SchedConfig, source("sched_config", config))
        .with(Role::Queues, source("qstat_Qf.txt", QUEUES));
    Site::from_files(files, options).expect("a site")
}

fn plain(jobs: &[Value]) -> Site {
    site(jobs, CONFIGS[0], SiteOptions::default())
}

fn template(text: &str) -> Template {
    Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn order(site: &Site, formula: &str) -> Vec<String> {
    let ranked = site
        .rank(&Formula::parse(formula).expect("a formula"))
        .expect("a ranking");
    ranked
        .ranking
        .order()
        .iter()
        .map(|&row| ranked.table.id(row).to_owned())
        .collect()
}

fn list(ids: &[String]) -> Wishes {
    let mut wishes = Wishes::default();
    wishes
        .read("wishes.txt", &ids.join("\n"))
        .expect("a list of jobs");
    wishes
}

fn pairs(wished: &[(&str, &str)]) -> Wishes {
    let mut wishes = Wishes::default();
    wished
        .iter()
        .for_each(|(above, below)| wishes.prefer(above, below));
    wishes
}

/// Finds the constants with half of the usual rankings, and checks what is said of the wishes
/// against the scheduler's order.
fn fit(site: &Site, template: &Template, wishes: &Wishes) -> WishFit {
    let options = WishOptions {
        evaluations: 2000,
        ..WishOptions::default()
    };
    let fit = fit_wishes(site, template, wishes, &options, &|_| {
        ControlFlow::Continue(())
    });
    let fit = fit.expect("wishes that can be tried");
    let order = order(site, &fit.formula);
    let place = |id: &String| {
        order
            .iter()
            .position(|other| other == id)
            .unwrap_or(usize::MAX)
    };
    assert!(
        fit.wishes
            .violated
            .iter()
            .all(|(above, below)| place(above) >= place(below)),
        "{fit:?}"
    );
    assert_eq!(fit.wishes.met + fit.wishes.violated.len(), fit.wishes.total);
    assert_eq!(fit.is_feasible, fit.wishes.violated.is_empty());
    for (parameter, constant) in fit.parameters.iter().zip(template.constants()) {
        let [low, high] = parameter.within.expect("a range");
        let value = parameter.value;
        assert!(constant.low <= low && low <= value, "{fit:?}");
        assert!(value <= high && high <= constant.high, "{fit:?}");
    }
    fit
}

/// The part of all pairs of jobs that both orders have alike.
fn agreement(one: &[String], other: &[String]) -> f64 {
    let places: HashMap<&String, usize> = other
        .iter()
        .enumerate()
        .map(|(place, id)| (id, place))
        .collect();
    let places: Vec<usize> = one.iter().map(|id| places[id]).collect();
    let pairs =
        (0..places.len()).flat_map(|left| (left + 1..places.len()).map(move |right| (left, right)));
    let (alike, all) = pairs.fold((0, 0), |(alike, all), (left, right)| {
        (alike + u32::from(places[left] < places[right]), all + 1)
    });
    f64::from(alike) / f64::from(all)
}

/// A number between two others, with all its digits.
fn between(low: f64, high: f64, random: &mut Xorshift) -> f64 {
    low + (high - low) * (random.next() % 1_000_003) as f64 / 1_000_003.0
}

const LINEAR: &[&str] = &[
    "{fs=100:0..500}*fairshare_factor + {age=1:0..50}*eligible_time/3600",
    "{fs=100:0..500}*fairshare_factor + {age=1:0..50}*eligible_time/3600 + {cpu=1:-10..10}*ncpus",
    "eligible_time/3600 + {p=1:0..20}*job_priority - {w=0.1:0..5}*walltime/3600",
    "({a=1:0..10}*ncpus + {b=5:0..10}*job_priority)/walltime*3600 + (fairshare_factor - {c=0.5:0..1})*10",
    "({a=1:0..10} if ncpus > 16 else {b=2:0..20})*log(ncpus + 1) + eligible_time/86400",
    "-{a=1:0.1..100:log}*walltime/3600 + {n=3:0..40:int}*job_priority - -eligible_time/7200",
    "(ncpus > 8)*{bonus=10:0..500} + {age=1:0..50}*min(eligible_time/3600, 48) + {fs=100:0..500}*fairshare_factor",
];

/// The constants that a test hides.
fn hidden(template: &Template, random: &mut Xorshift) -> Vec<f64> {
    let value = |constant: &job_sort_formula::formula::TemplateConstant| {
        let value = between(constant.low, constant.high, random);
        if constant.is_int {
            value.round()
        } else {
            value
        }
    };
    template.constants().iter().map(value).collect()
}

#[test]
fn hidden_weights_give_the_same_order() {
    let cases = setting("JSF_FIT_CASES", 210);
    for case in 0..cases {
        let mut random = Xorshift(case * 7919 + 1);
        let template = template(LINEAR[case as usize % LINEAR.len()]);
        let count = if case % 20 == 0 {
            120
        } else {
            5 + random.next() % 40
        };
        let jobs = random_jobs(count, &mut random);
        let site = site(
            &jobs,
            CONFIGS[case as usize / LINEAR.len() % CONFIGS.len()],
            SiteOptions::default(),
        );
        let wished = order(&site, &template.fill(&hidden(&template, &mut random)));
        let fit = fit(&site, &template, &list(&wished));
        assert!(fit.is_feasible && fit.is_complete, "case {case}: {fit:?}");
        assert_eq!(order(&site, &fit.formula), wished, "case {case}");
        assert_eq!(fit.wishes.conflict, [], "case {case}");
    }
}

#[test]
fn hidden_powers_and_logarithms_are_found_nearly() {
    let templates = [
        "fairshare_factor**{p=1:0.1..4} * {fs=100:1..500:log} + eligible_time/3600",
        "{fs=100:0..500}*fairshare_factor + log(ncpus + {shift=1:0.1..100:log})*{cpu=1:0..50}",
        "(eligible_time/3600)**{age=1:0.2..3} + {fs=100:1..1000:log}*fairshare_factor - ncpus**{c=0.5:0.1..1.5}",
        "{w=100:1..1000} * (ncpus if ncpus < {limit=32:1..256:log:int} else 0) + eligible_time/3600*{age=1:0.1..10:log}",
    ];
    let cases = setting("JSF_FIT_CASES", 16);
    for case in 0..cases {
        let mut random = Xorshift(case * 104_729 + 3);
        let template = template(templates[case as usize % templates.len()]);
        let site = plain(&random_jobs(120, &mut random));
        let wished = order(&site, &template.fill(&hidden(&template, &mut random)));
        let fit = fit(&site, &template, &list(&wished));
        let alike = agreement(&order(&site, &fit.formula), &wished);
        assert!(alike >= 0.98, "case {case}: {alike} {fit:?}");
    }
}

#[test]
fn exchanged_neighbours_change_the_order_hardly() {
    let cases = setting("JSF_FIT_CASES", 14);
    for case in (0..cases).chain([552]) {
        let mut random = Xorshift(case * 15_485_863 + 5);
        let template = template(LINEAR[case as usize % LINEAR.len()]);
        let site = plain(&random_jobs(120, &mut random));
        let truth = order(&site, &template.fill(&hidden(&template, &mut random)));
        let mut wished = truth.clone();
        for _ in 0..6 {
            let place = random.next() as usize % (wished.len() - 1);
            wished.swap(place, place + 1);
        }
        let fit = fit(&site, &template, &list(&wished));
        let alike = agreement(&order(&site, &fit.formula), &truth);
        assert!(alike >= 0.97, "case {case}: {alike} {:?}", fit.parameters);
        assert!(
            fit.wishes.met * 10 >= fit.wishes.total * 8,
            "case {case}: {:?}",
            fit.wishes
        );
    }
}

fn ids(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(above, below)| ((*above).to_owned(), (*below).to_owned()))
        .collect()
}

#[test]
fn a_circle_of_three_wishes_is_the_conflict() {
    let circle = [("3.vm", "4.vm"), ("4.vm", "5.vm"), ("5.vm", "3.vm")];
    let wished = [&[("1.vm", "2.vm")], &circle[..], &[("6.vm", "7.vm")]].concat();
    let site = site(
        &without_express(random_jobs(12, &mut Xorshift(9))),
        CONFIGS[0],
        SiteOptions::default(),
    );
    let signed = "{fs=0:-500..500}*fairshare_factor + {age=0:-50..50}*eligible_time/3600 + {cpu=0:-10..10}*ncpus";
    for text in [
        signed,
        "{fs=0:-500..500}*fairshare_factor**{p=1:0.5..2} + {c=1:-5..5}*ncpus",
    ] {
        let fit = fit(&site, &template(text), &pairs(&wished));
        assert!(!fit.is_feasible);
        assert_eq!(fit.wishes.conflict, ids(&circle), "{text}");
        assert_eq!(
            (fit.wishes.total, fit.wishes.met),
            (5, 4),
            "{text}: {fit:?}"
        );
    }
}

/// Whether some of the wishes contradict each other: without the jobs that are only below others,
/// again and again, some are left.
fn has_circle(wishes: &[(String, String)]) -> bool {
    let mut left: Vec<&(String, String)> = wishes.iter().collect();
    for _ in 0..wishes.len() {
        let above: Vec<&String> = left.iter().map(|wish| &wish.0).collect();
        left.retain(|wish| above.contains(&&wish.1));
    }
    !left.is_empty()
}

#[test]
fn a_conflict_is_a_circle_that_each_of_its_wishes_closes() {
    let (mut circles, mut without) = (0, 0);
    for case in 0..60 {
        let mut random = Xorshift(case * 31 + 17);
        let site = plain(&without_express(random_jobs(9, &mut random)));
        let mut wished: Vec<(String, String)> = Vec::new();
        while wished.len() < 8 {
            let [above, below] = [1 + random.next() % 9, 1 + random.next() % 9];
            let wish = (format!("{above}.vm"), format!("{below}.vm"));
            if above != below && !wished.contains(&wish) {
                wished.push(wish);
            }
        }
        let named: Vec<(&str, &str)> = wished
            .iter()
            .map(|(above, below)| (&**above, &**below))
            .collect();
        let (template, options) = (
            template(LINEAR[0]),
            WishOptions {
                evaluations: 20,
                ..WishOptions::default()
            },
        );
        let fit = fit_wishes(&site, &template, &pairs(&named), &options, &|_| {
            ControlFlow::Continue(())
        });
        let conflict = fit.expect("wishes that can be tried").wishes.conflict;
        assert_eq!(
            conflict.is_empty(),
            !has_circle(&wished),
            "case {case}: {wished:?}"
        );
        assert!(
            conflict.iter().all(|wish| wished.contains(wish)),
            "case {case}"
        );
        for left_out in 0..conflict.len() {
            let mut others = conflict.clone();
            others.remove(left_out);
            assert!(
                !has_circle(&others),
                "case {case}: {conflict:?} without {left_out}"
            );
        }
        circles += usize::from(!conflict.is_empty());
        without += usize::from(conflict.is_empty());
    }
    assert!(
        circles > 10 && without > 10,
        "{circles} with a circle, {without} without one"
    );
}

fn three_jobs() -> Vec<Value> {
    let job = |id: &str, queue: &str, ncpus: u64, eligible_time: u64| {
        json!({"id": id, "entity": "Bob", "queue": queue, "state": "Q", "eligible_time": eligible_time,
               "resources": {"ncpus": ncpus}})
    };
    vec![
        job("1.vm", "workq", 1, 100),
        job("2.vm", "workq", 4, 50),
        job("3.vm", "short", 9, 0),
    ]
}

#[test]
fn a_constant_that_cancels_decides_nothing() {
    let site = plain(&three_jobs());
    let template = template("{a=1:0..2}*0*ncpus");
    assert!(
        fit(&site, &template, &pairs(&[("1", "2"), ("2", "3")])).is_feasible,
        "the order of submission"
    );
    let impossible = fit(&site, &template, &pairs(&[("1", "2"), ("3", "2")]));
    assert_eq!(
        (impossible.wishes.violated, impossible.wishes.conflict),
        (ids(&[("3.vm", "2.vm")]), vec![])
    );
    let constant = &impossible.parameters[0];
    assert_eq!(
        (constant.value, constant.within),
        (1.0, Some([0.0, 2.0])),
        "it stays as it is"
    );
}

#[test]
fn equal_values_leave_the_order_to_what_follows() {
    let site = plain(&three_jobs());
    let backwards = pairs(&[("1", "3"), ("2", "3")]);
    let only_without = fit(&site, &template("{a=1:0..5}*ncpus"), &backwards);
    assert!(only_without.is_feasible, "{only_without:?}");
    assert_eq!(only_without.formula, "0*ncpus");
    let by_queue = self::site(&three_jobs(), CONFIGS[2], SiteOptions::default());
    let fixed = fit(
        &by_queue,
        &template("{a=1:-5..5}*ncpus"),
        &pairs(&[("2", "1"), ("2", "3")]),
    );
    assert_eq!(
        fixed.wishes.violated,
        ids(&[("2.vm", "3.vm")]),
        "the queue decides before the value"
    );
    assert_eq!(fixed.wishes.met, 1);
    let fixed = fit(
        &by_queue,
        &template("ncpus**{a=1:-5..5}"),
        &pairs(&[("2", "1"), ("2", "3")]),
    );
    assert_eq!(
        fixed.wishes.violated,
        ids(&[("2.vm", "3.vm")]),
        "the queue decides before the value"
    );
}

#[test]
fn jobs_under_the_threshold_are_below_all_others() {
    let options = SiteOptions {
        threshold: Some(100.0),
        ..SiteOptions::default()
    };
    let site = site(&three_jobs(), CONFIGS[0], options);
    let fit = fit(
        &site,
        &template("{a=1:0..60}*ncpus + {b=0:-200..200}"),
        &pairs(&[("3", "2"), ("2", "1")]),
    );
    assert!(fit.is_feasible, "{fit:?}");
}

#[test]
fn scores_are_fitted_in_spite_of_wrong_ones() {
    for case in 0..40 {
        let mut random = Xorshift(case * 97 + 11);
        let template = template(LINEAR[case as usize % LINEAR.len()]);
        let site = plain(&random_jobs(60, &mut random));
        let hidden: Vec<f64> = hidden(&template, &mut random)
            .iter()
            .zip(template.constants())
            .map(|(value, constant)| {
                format!("{value:.1e}")
                    .parse::<f64>()
                    .expect("a number")
                    .clamp(constant.low, constant.high)
            })
            .map(|value| if case % 2 == 0 { value } else { value * 0.5 })
            .zip(template.constants())
            .map(|(value, constant)| {
                if constant.is_int {
                    value.round()
                } else {
                    value.max(constant.low)
                }
            })
            .collect();
        let ranked = site
            .rank(&Formula::parse(&template.fill(&hidden)).expect("a formula"))
            .expect("a ranking");
        let mut csv = "job,score\n".to_owned();
        for row in 0..ranked.table.len() {
            let value = ranked
                .ranking
                .score(row)
                .expect("a score")
                .unrounded
                .expect("a value")
                .to_f64()
                .expect("a number");
            let wrong = if row % 10 == 3 { 1000.0 } else { 0.0 };
            csv += &format!("{},{}\n", ranked.table.id(row), value + wrong);
        }
        let mut wishes = Wishes::default();
        wishes.read("scores.csv", &csv).expect("scores");
        let fit = fit(&site, &template, &wishes);
        let found: Vec<f64> = fit
            .parameters
            .iter()
            .map(|parameter| parameter.value)
            .collect();
        let is_near =
            |(found, hidden): (&f64, &f64)| (found - hidden).abs() <= 1e-6 * hidden.abs().max(1e-3);
        assert!(
            found.iter().zip(&hidden).all(is_near),
            "case {case}: {found:?} {hidden:?}"
        );
        assert!(
            (fit.wishes.mean_deviation.expect("scores") - 100.0).abs() < 1.0,
            "{fit:?}"
        );
    }
}

#[test]
fn groups_are_ordered_and_their_jobs_are_equals() {
    let site = plain(&three_jobs());
    let mut wishes = Wishes::default();
    wishes
        .read(
            "groups.txt",
            "# large jobs\n3.vm\n\n\n1 # and\n# the\n2\n\n",
        )
        .expect("groups");
    let fit = fit(&site, &template("{a=-1:-5..5}*ncpus"), &wishes);
    assert!(fit.is_feasible);
    assert_eq!(fit.wishes.total, 2);
}

#[test]
fn wrong_wishes_are_named_with_their_line() {
    let mut jobs = three_jobs();
    jobs[1]["state"] = json!("H");
    let site = plain(&jobs);
    let error = |name: &str, text: &str| {
        let mut wishes = Wishes::default();
        let read = wishes.read(name, text);
        let options = WishOptions::default();
        read.and_then(|()| {
            fit_wishes(
                &site,
                &template("{a=1:0..5}*ncpus"),
                &wishes,
                &options,
                &|_| ControlFlow::Continue(()),
            )
        })
        .expect_err(text)
        .to_string()
    };
    assert_eq!(error("w", "1\n77\n3"), "w:2: no job is called `77`");
    assert_eq!(
        error("w", "1\n2"),
        "w:2: the scheduler does not consider `2.vm`: its state is H"
    );
    assert_eq!(
        error("w", "1\n# first\n3\n1"),
        "w:4: `1` is there twice, first on line 1"
    );
    assert_eq!(
        error("w", "1\n1.vm"),
        "w:2: `1.vm` is the same job as `1` on line 1"
    );
    assert_eq!(
        error("w", "1 3"),
        "w:1: `1 3` is not the id of a job; write one on each line"
    );
    assert_eq!(error("w", "# none\n"), "w:1: no job is wished anywhere");
    assert_eq!(error("w", "1"), "no job is wished before another one");
    assert_eq!(
        error("w", "id,score\n1,5\n3,high"),
        "w:3: `high` is not a score; write `id,score`"
    );
    assert_eq!(
        error("w", "1,5\n3,nan"),
        "w:2: `nan` is not a score; write `id,score`"
    );
    let mut wishes = Wishes::default();
    wishes.prefer("1", "1.vm");
    let options = WishOptions::default();
    let same = fit_wishes(
        &site,
        &template("{a=1:0..5}*ncpus"),
        &wishes,
        &options,
        &|_| ControlFlow::Continue(()),
    );
    assert_eq!(
        same.expect_err("one job").to_string(),
        "`1.vm` is the same job as `1`"
    );
}

#[test]
fn an_interrupted_search_returns_what_it_has() {
    let mut random = Xorshift(77);
    let site = plain(&random_jobs(40, &mut random));
    for text in [
        "fairshare_factor**{p=1:0.1..4} * {fs=100:1..500:log} + eligible_time/3600",
        LINEAR[0],
    ] {
        let template = template(text);
        let wished = list(&order(&site, "job_priority"));
        let calls = AtomicUsize::new(0);
        let fit = fit_wishes(
            &site,
            &template,
            &wished,
            &WishOptions::default(),
            &|done| {
                assert!(done.is_some_and(|(met, total)| met <= total));
                if calls.fetch_add(1, Ordering::Relaxed) < 2 {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            },
        );
        let fit = fit.expect("a formula");
        let calls = calls.into_inner();
        assert!(!fit.is_complete && calls < 20, "{calls} calls");
        assert!(Formula::parse(&fit.formula).is_ok());
    }
}

#[test]
fn equal_seeds_give_equal_constants() {
    let mut random = Xorshift(78);
    let site = plain(&random_jobs(30, &mut random));
    let template =
        template("fairshare_factor**{p=1:0.1..4} * {fs=100:1..500:log} + eligible_time/3600");
    let wished = list(&order(&site, "fairshare_factor*ncpus"));
    assert_eq!(
        fit(&site, &template, &wished),
        fit(&site, &template, &wished)
    );
}

/// Not a test of time: prints how long 120 jobs and three constants take.
#[test]
fn the_time_of_120_jobs_and_three_constants_is_printed() {
    let mut random = Xorshift(79);
    let site = plain(&random_jobs(120, &mut random));
    for text in [
        LINEAR[1],
        "fairshare_factor**{p=1:0.1..4} * {fs=100:1..500:log} + {age=1:0..9}*eligible_time/3600",
    ] {
        let template = template(text);
        let wished = list(&order(
            &site,
            &template.fill(&hidden(&template, &mut random)),
        ));
        let begin = Instant::now();
        let fit = fit(&site, &template, &wished);
        println!(
            "{:?} for {} rankings: {} of {} wishes",
            begin.elapsed(),
            fit.evaluations,
            fit.wishes.met,
            fit.wishes.total
        );
    }
}

fn values(fit: &WishFit) -> Vec<f64> {
    fit.parameters
        .iter()
        .map(|parameter| parameter.value)
        .collect()
}

/// Jobs that differ in one number each from the first one.
fn four_jobs() -> Vec<Value> {
    let job = |id: &str, ncpus: u64, eligible_time: u64, job_priority: u64| {
        json!({"id": id, "entity": "Bob", "queue": "workq", "state": "Q", "eligible_time": eligible_time,
               "resources": {"ncpus": ncpus}, "job_priority": job_priority})
    };
    vec![
        job("1.vm", 1, 0, 0),
        job("2.vm", 5, 0, 0),
        job("3.vm", 1, 3600, 0),
        job("4.vm", 1, 0, 7),
    ]
}

#[test]
fn constants_stay_where_they_begin_if_that_meets_the_wishes() {
    let site = plain(&four_jobs());
    for text in [
        "{a=2.125:0..100}*ncpus + {b=3:0..50}*eligible_time/3600 + {c=4:0.1..100:log}*job_priority",
        "{a=2.125:0..100}*ncpus + {b=3:0..50}*eligible_time/3600 + {c=4:0..10:int}*job_priority + 1",
        "ncpus**{a=2.125:1..9} + {b=3:0..50}*eligible_time/3600 + {c=4:0.1..100:log}*job_priority",
    ] {
        let fit = fit(
            &site,
            &template(text),
            &pairs(&[("2", "1"), ("3", "1"), ("4", "3")]),
        );
        assert!(fit.is_feasible);
        assert_eq!(values(&fit), [2.125, 3.0, 4.0], "{text}");
    }
}

#[test]
fn only_the_constants_that_must_leave_where_they_begin() {
    let site = plain(&four_jobs());
    // 4 a is to be above 7 c, and nothing is wished about b
    for text in [
        "{a=1:0..100}*ncpus + {b=3:0..50}*eligible_time/3600 + {c=4:0..100}*job_priority",
        "{a=1:0..100}*ncpus + {b=3:0..50}*eligible_time/3600 + {c=4:0..100}*job_priority + 1",
        "{a=1:0..100:int}*ncpus + {b=3:0..50}*eligible_time/3600 + {c=4:0..100}*job_priority",
        "{a=1:0.1..100:log}*ncpus + {b=3:0..50}*eligible_time/3600 + ({c=4:0..100}*job_priority)**1.0",
    ] {
        let fit = fit(&site, &template(text), &pairs(&[("2", "4")]));
        let found = values(&fit);
        assert!(fit.is_feasible, "{text}");
        assert_eq!(found[1], 3.0, "{text}: {found:?}");
        assert!(found[0] == 1.0 || found[2] == 4.0, "{text}: {found:?}");
        assert!(
            found[0] < 40.0,
            "not at the end of its range: {text}: {found:?}"
        );
    }
}

#[test]
fn a_common_factor_stays_near_to_the_first_constants() {
    for case in 0..20 {
        let mut random = Xorshift(case * 17 + 3);
        let template =
            template("{fs=100:0..500}*fairshare_factor + {age=1:0..50}*eligible_time/3600");
        let site = plain(&random_jobs(40, &mut random));
        let wished = order(&site, &template.fill(&hidden(&template, &mut random)));
        let fit = fit(&site, &template, &list(&wished));
        let found = values(&fit);
        assert!(
            fit.is_feasible && (found[0] == 100.0 || found[1] == 1.0),
            "case {case}: {found:?}"
        );
    }
}

#[test]
fn scores_leave_a_constant_that_they_do_not_need_where_it_begins() {
    let site = plain(&four_jobs());
    let mut wishes = Wishes::default();
    wishes.read("scores.csv", "1,3\n2,15\n").expect("scores");
    let fit = fit(
        &site,
        &template("{a=1:0..100}*ncpus + {c=4:0..100}*job_priority"),
        &wishes,
    );
    assert_eq!(values(&fit), [3.0, 4.0]);
}

#[test]
fn what_is_not_met_together_is_named() {
    let site = plain(&four_jobs());
    // more processors come first under each of these, and fewer are wished first
    let text = "ncpus**{p=1:0.5..3} + {age=1:0..9}*eligible_time/3600 + {c=4:0..100}*job_priority";
    let alone = fit(
        &site,
        &template(text),
        &pairs(&[("3", "1"), ("1", "2"), ("4", "3")]),
    );
    assert_eq!(alone.wishes.violated, ids(&[("1.vm", "2.vm")]));
    // each of them can be met, but not both
    let both = "ncpus**{p=1:-2..2} + job_priority*({p}<0) + {age=1:0.5..9}*eligible_time/3600";
    let both = fit(
        &site,
        &template(both),
        &pairs(&[("2", "1"), ("3", "1"), ("4", "1")]),
    );
    let [violated] = &both.wishes.violated[..] else {
        panic!("{both:?}")
    };
    assert!(
        ids(&[("2.vm", "1.vm"), ("4.vm", "1.vm")]).contains(violated),
        "{both:?}"
    );
    assert_eq!(
        (alone.wishes.conflict, both.wishes.conflict),
        (vec![], vec![])
    );
}

#[test]
fn hidden_integers_are_found_nearly() {
    let templates = [
        "ncpus**{p=2:1..6:int} + {age=1:0..50}*eligible_time/3600",
        "{w=10:1..60:int}*log(ncpus + {shift=5:1..50:int}) + fairshare_factor*{fs=100:0..500}",
        "fairshare_factor**{p=1:1..5:int}*{fs=100:1..500:log} + min(eligible_time/3600, {cap=48:1..139:int})*{age=1:0..9}",
        "({n=4:1..16:int}*job_priority)**{p=1:0.2..3} + {fs=100:0..500:int}*fairshare_factor",
    ];
    let cases = setting("JSF_FIT_CASES", 16);
    for case in 0..cases {
        let mut random = Xorshift(case * 7877 + 29);
        let template = template(templates[case as usize % templates.len()]);
        let site = plain(&random_jobs(120, &mut random));
        let hidden = hidden(&template, &mut random);
        let wished = order(&site, &template.fill(&hidden));
        let fit = fit(&site, &template, &list(&wished));
        let alike = agreement(&order(&site, &fit.formula), &wished);
        println!(
            "{case}: {alike:.4} {} of {} {hidden:?} {:?}",
            fit.wishes.met,
            fit.wishes.total,
            values(&fit)
        );
        assert!(alike >= 0.98, "case {case}: {alike} {fit:?}");
    }
}
