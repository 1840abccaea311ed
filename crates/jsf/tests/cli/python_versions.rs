//! What depends on the version of Python: names, values, findings, and what says which version it
//! is.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::command::{jsf, stderr, stdout};

/// The version before the one that has the function, that version, the formula, and its value for a
/// resource of 6.
const HIDDEN_RESOURCES: [(&str, &str, &str, f64); 3] = [
    ("3.8", "3.9", "lcm", 6.0),
    ("3.10", "3.11", "cbrt", 6.0),
    ("3.10", "3.11", "exp2", 6.0),
];

fn write_site(folder: &Path) -> [String; 4] {
    fs::write(
        folder.join("resourcedef"),
        "lcm type=long\ncbrt type=float\nexp2 type=float\n",
    )
    .expect("written");
    let amounts = json!({"lcm": 6, "cbrt": 6, "exp2": 6, "ncpus": 8, "walltime": "01:00:00"});
    let job =
        json!({"Job_Name": "a", "job_state": "Q", "queue": "workq", "Resource_List": amounts});
    let queue = json!({"timestamp": 1, "pbs_version": "23.06.06", "Jobs": {"1.srv": job}});
    fs::write(folder.join("queue.json"), queue.to_string()).expect("written");
    let path = |name: &str| folder.join(name).display().to_string();
    [
        "--resources".to_owned(),
        path("resourcedef"),
        "--queue".to_owned(),
        path("queue.json"),
    ]
}

fn document(arguments: &[&str]) -> Value {
    let output = jsf(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&stdout(&output))
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", stderr(&output)))
}

/// The kind of a name that a formula may use, if it is one.
fn kind<'d>(names: &'d Value, name: &str) -> Option<&'d str> {
    let named = names["names"]
        .as_array()?
        .iter()
        .find(|known| known["name"] == name)?;
    named["kind"].as_str()
}

#[test]
fn a_resource_is_hidden_only_by_a_function_that_the_version_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = write_site(folder.path());
    let site: Vec<&str> = site.iter().map(String::as_str).collect();
    for (before, since, name, value) in HIDDEN_RESOURCES {
        let run = |command: &[&str], version: &str| {
            document(&[command, &["--python", version], &site].concat())
        };
        let formula = format!("{name} * 2");
        let old = run(&["check", &formula], before);
        assert_eq!(
            (&old["verdict"]["code"], &old["jobs"]["errors"]),
            (&json!(0), &json!(0)),
            "{name} {before}: {old}"
        );
        assert_eq!(
            run(&["rank", &formula], before)["jobs"][0]["score"],
            json!(2.0 * value),
            "{name} {before}"
        );
        assert_ne!(
            kind(&run(&["names"], before), name),
            Some("function"),
            "{before}"
        );
        assert!(
            kind(&run(&["names"], before), name).is_some(),
            "{name} {before}"
        );

        let new = run(&["check", &formula], since);
        assert_eq!(new["jobs"]["errors"], json!(1), "{name} {since}: {new}");
        assert_eq!(
            kind(&run(&["names"], since), name),
            Some("function"),
            "{since}"
        );
        let unusable = run(&["names"], since)["unusable"].to_string();
        assert!(
            unusable.contains(&format!("\"{name}\"")),
            "{name} {since}: {unusable}"
        );
        // a call is the other way round
        let call = format!("{name}(ncpus)");
        assert_eq!(
            run(&["check", &call], before)["jobs"]["errors"],
            json!(1),
            "{name} {before}"
        );
        assert_eq!(
            run(&["check", &call], since)["jobs"]["errors"],
            json!(0),
            "{name} {since}"
        );
    }
}

/// The findings of `check` on the version alone.
fn on_versions(formula: &str, arguments: &[&str]) -> Vec<Value> {
    let checked = document(&[&["check", formula], arguments].concat());
    let findings = checked["findings"].as_array().expect("findings").clone();
    findings
        .into_iter()
        .filter(|found| matches!(found["code"].as_str(), Some("JSF209" | "JSF210")))
        .collect()
}

#[test]
fn the_versions_that_give_other_values_are_named_unless_the_version_is_known() {
    let sum = "sum((walltime / 3600 / 10, ncpus / 80, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1))";
    let found = on_versions(sum, &[]);
    assert_eq!(
        found[0]["message"],
        "`sum` of floats gives another last digit since Python 3.12"
    );
    assert_eq!(
        (&found[0]["code"], &found[0]["severity"]),
        (&json!("JSF210"), &json!("note"))
    );
    assert_eq!(on_versions(sum, &["--python", "3.12"]), [Value::Null; 0]);

    let folder = tempfile::tempdir().expect("a folder");
    let site = write_site(folder.path());
    let site: Vec<&str> = site.iter().map(String::as_str).collect();
    let found = on_versions(sum, &site);
    let expected = "`sum` of floats gives another last digit since Python 3.12: the value differs for 1 of 1 jobs, the one \
                    by which jobs are ordered for 0";
    assert_eq!(found[0]["message"], expected);
    // of these jobs no value differs
    assert_eq!(
        on_versions("sum((walltime / 4, ncpus, 0.5))", &site),
        [Value::Null; 0]
    );
    let found = on_versions("gcd(ncpus, 12, 6)", &site);
    let expected = "`gcd` with these arguments is a `TypeError` before Python 3.9: the value differs for 1 of 1 jobs, the one by which jobs are ordered for 1";
    assert_eq!(
        (&found[0]["message"], &found[0]["severity"]),
        (&json!(expected), &json!("warning"))
    );
    // versions that refuse the formula have no values
    let found = on_versions("cbrt(hypot(ncpus, walltime))", &[]);
    assert_eq!(
        found.iter().map(|one| &one["code"]).collect::<Vec<_>>(),
        ["JSF209"],
        "{found:?}"
    );
}

#[test]
fn a_newer_function_is_replaced_only_where_the_value_is_the_same() {
    for (formula, fix) in [
        ("1 + cbrt(ncpus)", Some("1 + ncpus ** (1/3)")),
        ("cbrt(ncpus + 1) ** 2", Some("((ncpus + 1) ** (1/3)) ** 2")),
        ("exp2(-ncpus)", Some("2.0 ** (-ncpus)")),
        // below 0 the power is complex
        ("cbrt(job_priority)", None),
        ("cbrt(ncpus) + cbrt(mem)", None),
        ("lcm(ncpus, 2)", None),
    ] {
        let found = on_versions(formula, &[]);
        let fixed = found[0]["fix"].as_object().map(|fix| {
            let [start, end] =
                ["start", "end"].map(|end| fix["span"][end].as_u64().expect("a place") as usize);
            assert_eq!(fix["applicability"], "unsafe");
            [
                &formula[..start],
                fix["replacement"].as_str().expect("a text"),
                &formula[end..],
            ]
            .concat()
        });
        assert_eq!(fixed.as_deref(), fix, "{formula}");
    }
}

#[test]
fn a_function_that_the_server_does_not_have_yet_is_named_with_its_version() {
    let found =
        |formula: &str| document(&["check", formula, "--python", "3.6"])["findings"][0].clone();
    let cbrt = found("1 + cbrt(ncpus)");
    assert_eq!(
        (&cbrt["code"], &cbrt["message"]),
        (&json!("JSF201"), &json!("`cbrt` exists since Python 3.11"))
    );
    assert_eq!(cbrt["fix"]["replacement"], "ncpus ** (1/3)");
    let help = cbrt["help"].as_str().expect("help");
    assert!(
        help.starts_with(
            "this server has Python 3.6 (given); `x ** (1/3)` exists in every version"
        ),
        "{help}"
    );
    let isqrt = found("isqrt(ncpus)");
    assert_eq!(
        (&isqrt["message"], &isqrt["fix"]),
        (&json!("`isqrt` exists since Python 3.8"), &Value::Null)
    );
    assert_eq!(isqrt["help"], "this server has Python 3.6 (given)");
}

#[test]
fn a_replay_says_which_python_it_computed_with() {
    let replay = [
        "replay",
        "examples/site/sched.log",
        "--queue",
        "examples/site/qstat.json",
    ];
    let replay = [&replay[..], &["--sched-priv", "examples/site/sched_priv"]].concat();
    assert_eq!(document(&replay)["python"], "3.11");
    assert_eq!(
        document(&[&replay[..], &["--python", "3.9"]].concat())["python"],
        "3.9"
    );
    let text = stdout(&jsf(&[&replay[..], &["--python", "3.9"]].concat()));
    assert!(text.contains("\npython:  3.9 (given)\n"), "{text}");
}
