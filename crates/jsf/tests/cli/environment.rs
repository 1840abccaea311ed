//! `JSF_SITE`: the site of a command that is given none.

use std::ffi::OsStr;
use std::process::Output;

use crate::cli::calls::WITH_SITE;
use crate::command::{command, jsf, stderr, stdout, words};

const SITE: &str = "examples/site";

fn with_site(site: impl AsRef<OsStr>, arguments: &[&str]) -> Output {
    command()
        .env("JSF_SITE", site)
        .args(arguments)
        .output()
        .expect("jsf runs")
}

#[test]
fn every_command_with_a_site_takes_it_from_the_environment() {
    for call in WITH_SITE {
        let call = &words(call)[..];
        let (given, found) = (
            jsf(&[call, &["--site", SITE]].concat()),
            with_site(SITE, call),
        );
        assert_eq!(
            (found.status.code(), stdout(&found)),
            (given.status.code(), stdout(&given)),
            "{call:?}"
        );
        assert!(!stdout(&found).is_empty(), "{call:?}: {}", stderr(&found));
        let plain = jsf(call);
        assert_ne!(
            (plain.status.code(), stdout(&plain)),
            (given.status.code(), stdout(&given)),
            "{call:?}"
        );
        // the site line says where the site is from, and nothing else differs
        let messages = stderr(&found).replace("jsf: site: JSF_SITE: found", "jsf: site: found");
        assert_eq!(messages, stderr(&given), "{call:?}");
        let has_site_line = stderr(&given).contains("jsf: site: ");
        assert_eq!(
            stderr(&found).contains("jsf: site: JSF_SITE: "),
            has_site_line,
            "{call:?}"
        );
    }
    let formats = ["human", "json"].map(|format| {
        let arguments =
            format!("simulate --workload examples/site/accounting.gz --format {format}");
        stderr(&with_site(SITE, &words(&arguments)))
            .contains("jsf: site: JSF_SITE: found in `examples/site`: ")
    });
    assert_eq!(formats, [true, false]);
}

#[test]
fn what_is_given_comes_before_the_environment() {
    let rank = ["rank", "ncpus", "--format", "csv"];
    let both = with_site("examples/slurm", &[&rank[..], &["--site", SITE]].concat());
    assert_eq!(
        stdout(&both),
        stdout(&jsf(&[&rank[..], &["--site", SITE]].concat()))
    );
    let queue = ["--queue", "tests/golden/openpbs/qstat/qstat_f.json"];
    let single = with_site(SITE, &[&rank[..], &queue].concat());
    assert_eq!(
        stdout(&single),
        stdout(&jsf(&[&rank[..], &queue, &["--site", SITE]].concat()))
    );
    assert!(!stdout(&single).is_empty());
    assert_eq!(
        with_site("", &rank).status.code(),
        Some(2),
        "an empty one is none"
    );
}

#[test]
fn a_site_that_cannot_be_read_is_named_with_its_variable() {
    for (site, reason) in [
        ("no-such-folder", "cannot read"),
        ("examples/formulas", "contains no file of a site"),
    ] {
        let output = with_site(site, &["rank"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).starts_with("jsf: JSF_SITE: "),
            "{}",
            stderr(&output)
        );
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}
