//! `jsf translate`: a formula of PBS as weights of Slurm, and the reverse.

use std::fmt::Write as _;
use std::fs;

use jsf_testing::golden;
use serde_json::Value;

use crate::command::{jsf, jsf_with_input, json, stderr, success};

/// The formula of ARCHER's last years, as its operators published it.
const ARCHER: &str = "queue_priority + (nodect + walltime/3600 + eligible_time/3600*100)/10";

/// The settings that ARCHER2 published: a machine of 5860 nodes.
const ARCHER2: &str = "PriorityType=priority/multifactor\nPriorityMaxAge=14-0\nPriorityWeightQOS=10000\n\
    PriorityWeightAge=500\nPriorityWeightFairshare=300\nPriorityWeightJobSize=100\n\
    NodeName=nid[000001-005860] CPUs=256\nPartitionName=standard Nodes=ALL\n";

fn settings(answer: &Value) -> Vec<&str> {
    let settings = answer["settings"].as_array().expect("a list").iter();
    settings
        .map(|line| line.as_str().expect("a text"))
        .collect()
}

/// The hours of waiting that the size of the largest job is worth.
fn hours(answer: &Value) -> f64 {
    answer["largest_job"]["wait"].as_f64().expect("a number") / 3600.0
}

#[test]
fn the_largest_job_of_archer_counts_49_hours_of_waiting() {
    let jobs = "{\"id\":\"1\",\"entity\":\"a\",\"nodect\":4920,\"ncpus\":118080}\n\
        {\"id\":\"2\",\"entity\":\"a\",\"nodect\":1,\"ncpus\":24,\"eligible_time\":180000}\n";
    let command = [
        "translate",
        ARCHER,
        "--to",
        "slurm",
        "--queue",
        "-",
        "--format",
        "json",
    ];
    let answer = json(&jsf_with_input(&command, jobs));
    assert!((hours(&answer) - 49.2).abs() < 1e-9);
    assert_eq!(answer["agreement"]["tau_b"], 1.0);
    let lines = settings(&answer);
    for line in [
        "PriorityFlags=NO_FAIR_TREE,NO_NORMAL_PART,NO_NORMAL_TRES",
        "PriorityWeightAge=876000000",
        "PriorityWeightPartition=10000",
        "PriorityWeightTRES=node=1000",
    ] {
        assert!(lines.contains(&line), "{lines:?}");
    }
    let left_out = answer["not_expressed"].as_array().expect("a list");
    assert_eq!(left_out.len(), 1);
    assert!(golden::field(&left_out[0], "text").starts_with("walltime in"));
}

/// A summand that does not depend on usage and shares is not taken for their factor.
#[test]
fn a_summand_without_shares_is_not_blamed_on_fair_share() {
    let formula = "eligible_time/3600 + job_priority + 5*ncpus + 10*2**-(fairshare_tree_usage/fairshare_perc)";
    let answer = json(&jsf(&[
        "translate",
        formula,
        "--to",
        "slurm",
        "--format",
        "json",
    ]));
    let left_out = answer["not_expressed"].as_array().expect("a list");
    assert_eq!(left_out.len(), 1);
    assert_eq!(golden::field(&left_out[0], "text"), "job_priority");
    assert_eq!(
        golden::field(&left_out[0], "why"),
        "Slurm has `nice`, which a user can only raise"
    );
    let parts = answer["parts"].as_array().expect("a list").iter();
    let becomes: Vec<&str> = parts.map(|part| golden::field(part, "becomes")).collect();
    assert_eq!(
        becomes,
        [
            "PriorityWeightAge and PriorityMaxAge",
            "PriorityWeightTRES, cpu",
            "PriorityWeightFairshare"
        ]
    );
}

#[test]
fn the_largest_job_of_archer2_counts_67_hours_of_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("slurm.conf");
    fs::write(&conf, ARCHER2).expect("written");
    let conf = conf.to_str().expect("UTF-8");
    let command = [
        "translate",
        "--to",
        "pbs",
        "--slurm-conf",
        conf,
        "--format",
        "json",
    ];
    let answer = json(&jsf(&command));
    assert!((hours(&answer) - 67.2).abs() < 1e-9);
    let formula = golden::field(&answer, "formula");
    assert!(
        formula.starts_with(
            "500*min(1, eligible_time/1209600) + 300*fairshare_factor + 100*(nodect/5860"
        ),
        "{formula}"
    );
    assert!(settings(&answer).contains(&"qmgr -c 'create resource qos_priority type=long'"));
}

/// The orders agree for each formula that Slurm can express, whatever its weights are.
#[test]
fn weights_give_the_order_of_the_formula() {
    let mut random = 12_345_u64;
    let mut next = |limit: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % limit
    };
    for _ in 0..40 {
        let mut jobs = String::new();
        for id in 0..60 {
            writeln!(
                jobs,
                "{{\"id\":\"{id}\",\"entity\":\"a\",\"nodect\":{},\"ncpus\":{},\"mem\":\"{}mb\",\"eligible_time\":{},\
                 \"queue_priority\":{},\"fairshare_factor\":0.{:04}}}",
                1 + next(500),
                1 + next(9000),
                1 + next(100_000),
                next(900_000),
                next(300),
                next(10_000)
            )
            .expect("a text");
        }
        let terms = [
            format!("{}*queue_priority/7", 1 + next(50)),
            format!("nodect*{}", 1 + next(20)),
            format!("(ncpus*{}.5 + mem/1048576)/16", next(9)),
            format!("min({}, eligible_time/3600)", 1 + next(400)),
            format!("{}*fairshare_factor", 1 + next(9000)),
            format!("-{}*ncpus/64", 1 + next(3)),
        ];
        let used: Vec<&str> = terms
            .iter()
            .map(String::as_str)
            .filter(|_| next(3) > 0)
            .collect();
        let formula = ["10000", &used.join(" + ")]
            .join(" + ")
            .replace("+ -", "- ");
        let formula = formula.trim_end_matches([' ', '+']);
        let command = [
            "translate",
            formula,
            "--to",
            "slurm",
            "--queue",
            "-",
            "--format",
            "json",
            "--numbers",
            "exact",
        ];
        let output = jsf_with_input(&command, &jobs);
        let answer = json(&output);
        assert_eq!(
            answer["not_expressed"],
            Value::Array(Vec::new()),
            "{formula}"
        );
        if !used.is_empty() {
            let tau_b = answer["agreement"]["tau_b"].as_f64().expect("a number");
            assert!(tau_b > 0.998, "{formula}: {tau_b} {}", stderr(&output));
        }
    }
}

/// Slurm's priority as a formula of PBS orders the recorded jobs as before.
#[test]
fn the_formula_of_pbs_gives_the_order_of_the_weights() {
    for name in [
        "29_part_normal",
        "20_assoc_no_normal",
        "38_multi_part_no_normal_all",
        "41_size_favor_large",
        "44_size_relative_small",
    ] {
        let site = golden::path(&format!("slurm-priority/{name}.tar.gz"));
        let site = site.to_str().expect("UTF-8");
        let answer = json(&jsf(&[
            "translate",
            "--to",
            "pbs",
            "--site",
            site,
            "--format",
            "json",
        ]));
        let tau_b = answer["agreement"]["tau_b"].as_f64().expect("a number");
        assert!(tau_b > 0.99, "{name}: {tau_b}");
        let settings = answer["settings"].as_array().expect("a list").iter();
        let mut settings = settings.map(|line| line.as_str().expect("a text"));
        // OpenPBS defines it
        assert!(
            !settings.any(|line| line.contains("resource nice ")),
            "{name}"
        );
    }
}

/// The names that the translation to PBS declares are carried back.
#[test]
fn priorities_as_resources_become_weights() {
    let answer = json(&jsf(&[
        "translate",
        "20*qos_priority + 3*assoc_priority",
        "--to",
        "slurm",
        "--site",
        "examples/slurm",
        "--format",
        "json",
    ]));
    assert_eq!(answer["not_expressed"], Value::Array(Vec::new()));
    let settings = answer["settings"].as_array().expect("a list");
    for line in [
        "PriorityFlags=NO_FAIR_TREE,NO_NORMAL_QOS,NO_NORMAL_ASSOC",
        "PriorityWeightQOS=2000",
        "PriorityWeightAssoc=300",
    ] {
        assert!(settings.iter().any(|one| one == line), "{settings:?}");
    }
}

#[test]
fn what_slurm_cannot_express_is_named_with_the_reason() {
    for (formula, reason) in [
        (
            "ncpus*fairshare_factor",
            "it is not a sum of functions of `ncpus` and `fairshare_factor`",
        ),
        ("-eligible_time", "the gain by waiting is negative"),
        (
            "sqrt(eligible_time)",
            "it is neither a multiple of `eligible_time` nor one that ends at a limit",
        ),
        ("walltime", "Slurm weighs no time limit by itself"),
        ("job_priority", "Slurm has `nice`"),
        ("-nice", "Slurm subtracts a job's `nice` with the weight 1"),
        (
            "min(9, eligible_time) + min(5, eligible_time)",
            "Slurm's age ends at one PriorityMaxAge",
        ),
    ] {
        let text = success(&jsf(&["translate", formula, "--to", "slurm"]));
        assert!(text.contains(reason), "{formula}: {text}");
    }
}
