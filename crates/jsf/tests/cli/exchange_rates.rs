//! What inputs are worth in time of waiting: the time that raises the value as much.

use serde_json::{Value, json};

use super::small_site::{SmallSite, qstat};
use crate::command::{jsf, success};

fn site() -> SmallSite {
    let job = |cpus: u64| json!({"ncpus": cpus, "nodect": 1, "ngpus": 2, "total": 64, "walltime": "02:00:00", "mem": "4gb"});
    let jobs = qstat(&[
        (
            "1",
            "workq",
            "Q",
            job(8),
            json!({"eligible_time": "01:00:00"}),
        ),
        (
            "2",
            "workq",
            "Q",
            job(4),
            json!({"eligible_time": "10:00:00"}),
        ),
    ]);
    SmallSite::new(&[
        ("qstat.json", &jobs),
        (
            "resourcedef",
            "ngpus type=long flag=nh\ntotal type=long flag=r\n",
        ),
    ])
}

/// The rates of the first job, and those of the check: the name, the amount, the wait in whole
/// milliseconds, and whether it is constant.
fn rates(formula: &str) -> [Vec<(String, f64, i64, bool)>; 2] {
    let site = site();
    let explained = site.json(&["explain", formula, "--job", "1"]);
    let checked = site.json(&["check", formula]);
    [
        &explained["jobs"][0]["exchange_rates"],
        &checked["exchange_rates"],
    ]
    .map(|rates| {
        let rates = rates.as_array().into_iter().flatten();
        let rate = |rate: &Value| {
            let wait = (rate["wait"].as_f64().unwrap() * 1000.0).round() as i64;
            let name = rate["input"].as_str().unwrap().to_owned();
            (
                name,
                rate["amount"].as_f64().unwrap(),
                wait,
                rate["is_constant"].as_bool().unwrap(),
            )
        };
        rates.map(rate).collect()
    })
}

#[test]
fn the_rates_of_a_linear_formula_are_ratios_of_its_weights() {
    // the weights of an hour of waiting, a processor, a GPU, an hour of walltime and a gibibyte
    for [wait, cpu, gpu, hour, memory] in [[1, 2, 64, -3, 5], [7, 1, 3, 9, -2], [3600, 10, 1, 1, 1]]
    {
        let formula = format!(
            "eligible_time * {wait} / 3600 + ncpus * {cpu} + ngpus * {gpu} + walltime * {hour} / 3600 + mem * {memory} / 1048576"
        );
        let expected = [
            ("ncpus", 1.0, cpu),
            ("ngpus", 1.0, gpu),
            ("walltime", 3600.0, hour),
            ("mem", 1_048_576.0, memory),
        ];
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(name, amount, weight)| {
                let seconds = 3600.0 * f64::from(weight) / f64::from(wait);
                (
                    name.to_owned(),
                    amount,
                    (seconds * 1000.0).round() as i64,
                    true,
                )
            })
            .collect();
        assert_eq!(rates(&formula), [expected.clone(), expected], "{formula}");
    }
}

#[test]
fn a_rate_that_depends_on_the_job_is_not_constant() {
    let [explained, checked] = rates("ncpus * eligible_time + 36 * nodect");
    // the first job waited an hour with 8 processors; the medians are its own hour with 4
    assert_eq!(
        explained,
        [
            ("ncpus".to_owned(), 1.0, 450_000, false),
            ("nodect".to_owned(), 1.0, 4500, false)
        ]
    );
    assert_eq!(
        checked,
        [
            ("ncpus".to_owned(), 1.0, 900_000, false),
            ("nodect".to_owned(), 1.0, 9000, false)
        ]
    );
    for formula in [
        "eligible_time + ncpus ** 2",
        "eligible_time ** 2 + ncpus",
        "eligible_time + min(ncpus, 9)",
    ] {
        assert!(
            rates(formula)
                .iter()
                .flatten()
                .all(|(.., is_constant)| !is_constant),
            "{formula}"
        );
    }
}

#[test]
fn nothing_is_worth_time_where_waiting_gains_nothing() {
    for formula in [
        "ncpus + walltime",
        "min(eligible_time, 60) + ncpus",
        "ncpus - eligible_time",
        "ncpus + 0 * eligible_time",
    ] {
        assert_eq!(rates(formula), [vec![], vec![]], "{formula}");
    }
    // what the site alone decides is nobody's to trade, and an input without effect is worth
    // nothing
    assert_eq!(rates("eligible_time + total + 0 * ncpus"), [vec![], vec![]]);
}

#[test]
fn people_read_the_rates_in_an_explanation_and_a_full_check() {
    let formula = "eligible_time / 3600 + ncpus / 100 + ngpus * 0.32";
    let line = "1 `ncpus` = 36 s; 1 `ngpus` = 19 min 12 s = 32 `ncpus`";
    let site = site();
    for format in ["human", "markdown"] {
        let explained = success(&site.run(&["explain", formula, "--job", "1", "--format", format]));
        assert!(
            explained.contains(&format!("{line} (in waiting)")),
            "{explained}"
        );
    }
    let full = success(&site.run(&["check", formula, "--full"]));
    assert!(full.contains(line), "{full}");
    assert!(!success(&site.run(&["check", formula])).contains(line));
    let share = success(&jsf(&[
        "check",
        "eligible_time / 3600 + 840 * fairshare_factor",
        "--full",
    ]));
    assert!(
        share.contains("0.1 of `fairshare_factor` = 3 d 12 h"),
        "{share}"
    );
}
