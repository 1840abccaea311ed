//! What the site alone gives to jobs is never a user's advice, and has no values that the site does
//! not give.

use serde_json::json;

use super::small_site::{SmallSite, qstat};

const QUEUES: &str = r#"{"Queue":{
    "workq":{"queue_type":"Execution","resources_default":{"base":51,"total":64,"walltime":"01:00:00"}},
    "small":{"queue_type":"Execution","resources_default":{"base":20,"total":32,"walltime":"01:00:00"}}}}"#;
const FORMULA: &str = "eligible_time - base - total - walltime - gpus";

fn site(resourcedef: &str, last_total: u64) -> SmallSite {
    let resources = |base: u64, total: u64| json!({"base": base, "total": total, "walltime": "01:00:00", "gpus": 8});
    let jobs = qstat(&[
        (
            "1",
            "workq",
            "Q",
            resources(51, 64),
            json!({"eligible_time": "00:00:30"}),
        ),
        (
            "2",
            "workq",
            "Q",
            resources(51, 64),
            json!({"eligible_time": "00:00:20"}),
        ),
        (
            "3",
            "small",
            "Q",
            resources(20, last_total),
            json!({"eligible_time": "00:00:00"}),
        ),
    ]);
    SmallSite::new(&[
        ("resourcedef", resourcedef),
        ("queues.json", QUEUES),
        ("qstat.json", &jobs),
    ])
}

/// The inputs of which a user is told to ask for less.
fn asked(site: &SmallSite) -> Vec<String> {
    let explained = site.json(&["explain", FORMULA, "--job", "2"]);
    let changes = explained["jobs"][0]["changes"].as_array().unwrap().clone();
    let asked = changes
        .iter()
        .filter(|change| change["means"] == "ask for less");
    asked
        .map(|change| change["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_every_job_has_by_default_is_no_advice() {
    let types = "base type=long\ntotal type=long\ngpus type=long\n";
    assert_eq!(asked(&site(types, 32)), ["walltime"]);
    // a job that requests another amount shows that users can
    assert_eq!(asked(&site(types, 16)), ["total", "walltime"]);
}

#[test]
fn what_flags_withhold_is_no_advice_in_any_format() {
    for flag in ["r", "i", "m", "hr"] {
        for text in [
            format!("base type=long\ntotal type=long flag={flag}\ngpus type=long\n"),
            format!(
                "create resource total\nset resource total type = long\nset resource total flag = {flag}\n"
            ),
            format!("create resource total type=long,flag={flag}\n"),
            format!(
                "Resource total\n    type = long\n    flag = {flag}\n\nResource gpus\n    type = long\n"
            ),
        ] {
            assert_eq!(asked(&site(&text, 16)), ["walltime"], "{text}");
        }
    }
    assert_eq!(
        asked(&site("total type=long flag=nh\nbase type=long\n", 16)),
        ["total", "walltime"]
    );
}

#[test]
fn findings_take_the_amounts_that_the_site_gives() {
    let failing = "1 / (total - 1) + log(total - 2) + base ** 100.0 + 1 / gpus";
    let codes = |site: &SmallSite| {
        let messages = ["JSF303", "JSF304", "JSF305"].map(|code| site.findings(failing, code));
        messages.concat()
    };
    let withheld = "base type=long flag=r\ntotal type=long flag=i\ngpus type=long\n";
    let given = SmallSite::new(&[("resourcedef", withheld), ("queues.json", QUEUES)]);
    for site in [given, site(withheld, 32)] {
        assert_eq!(codes(&site), ["`1 / gpus` divides by 0 if `gpus` is 0"]);
    }
    let requested = SmallSite::new(&[(
        "resourcedef",
        "base type=long\ntotal type=long\ngpus type=long\n",
    )]);
    assert_eq!(codes(&requested).len(), 4);
}

#[test]
fn an_amount_that_the_site_gives_is_no_number_between_the_limits_of_its_type() {
    for resourcedef in ["factor type=long flag=r\n", "factor type=long\n"] {
        let queues = r#"{"Queue":{"workq":{"resources_default":{"factor":100000}}}}"#;
        let site = SmallSite::new(&[("resourcedef", resourcedef), ("queues.json", queues)]);
        let findings = site.findings("factor ** 9.0 + 1 / factor", "JSF305");
        assert!(findings.is_empty(), "{findings:?}");
    }
}
