//! `jsf pbsfs --site`: the scheduler's folder of a site.

use std::fs;
use std::path::Path;

use crate::command::{command, jsf, stderr, stdout};
use crate::site::support::{tar_of, write_snapshot};

const READS: [&[&str]; 4] = [&["-p"], &["-t"], &["-g", "Bob"], &["-g", "nobody"]];

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_site_gives_the_same_answers_as_its_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let site = place.path().join("site");
    write_snapshot(&site, |_| true);
    let archive = place.path().join("site.tar");
    fs::write(&archive, tar_of(&site, "site")).expect("a file");
    let folder = site.join("sched_priv");
    for request in READS {
        let expected = jsf(&[&["pbsfs", "--sched-priv", text(&folder)], request].concat());
        let same = |output: &std::process::Output| {
            assert_eq!(
                (output.status.code(), &output.stdout, &output.stderr),
                (expected.status.code(), &expected.stdout, &expected.stderr),
                "{request:?}"
            );
        };
        same(&jsf(&[&["pbsfs", "--site", text(&site)], request].concat()));
        same(&jsf(
            &[&["pbsfs"], request, &["--site", text(&site)]].concat()
        ));
        same(&jsf(&[
            &["pbsfs", &format!("--site={}", text(&archive))],
            request,
        ]
        .concat()));
        same(&jsf(
            &[&["pbsfs", "--site", text(&folder)], request].concat()
        ));
        let found = command()
            .env("JSF_SITE", &site)
            .arg("pbsfs")
            .args(request)
            .output()
            .expect("jsf runs");
        assert_eq!(
            (found.status.code(), &found.stdout),
            (expected.status.code(), &expected.stdout),
            "{request:?}"
        );
        let note = format!("jsf: site: JSF_SITE: `{}`\n", text(&site));
        assert_eq!(stderr(&found), note + &stderr(&expected), "{request:?}");
    }
}

#[test]
fn a_scheduler_of_the_site_is_found_by_its_name() {
    let place = tempfile::tempdir().expect("a folder");
    let site = place.path().join("site");
    write_snapshot(&site, |_| true);
    let named = site.join("sched_priv_gpu");
    fs::create_dir(&named).expect("a folder");
    fs::write(named.join("resource_group"), "only_there 60 root 10\n").expect("a file");
    fs::write(named.join("sched_config"), "fair_share: true all\n").expect("a file");
    let shown = stdout(&jsf(&["pbsfs", "-I", "gpu", "-p", "--site", text(&site)]));
    assert!(shown.contains("only_there"), "{shown}");
    assert!(!stdout(&jsf(&["pbsfs", "-p", "--site", text(&site)])).contains("only_there"));
    let missing = jsf(&["pbsfs", "-I", "none", "-p", "--site", text(&site)]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn a_site_without_a_scheduler_and_two_folders_are_refused() {
    let output = jsf(&["pbsfs", "-p", "--site", "examples/slurm"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("has no file of a `sched_priv`"),
        "{}",
        stderr(&output)
    );
    let both = jsf(&[
        "pbsfs",
        "-p",
        "--site",
        "examples/site",
        "--sched-priv",
        "examples/site/sched_priv",
    ]);
    assert_eq!(both.status.code(), Some(2));
}
