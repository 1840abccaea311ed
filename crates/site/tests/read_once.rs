//! The files of a site are read once: what was read stays when they change.

use std::fs;
use std::path::Path;

use jsf_openpbs::FormulaSubmission;
use jsf_site::{Role, Site, SiteFiles, SiteOptions};

const JOBS: &str = "{\"id\":\"1.vm\",\"ncpus\":4}\n{\"id\":\"2.vm\",\"ncpus\":0}\n";

fn write(folder: &Path, name: &str, content: &str) {
    fs::write(folder.join(name), content).unwrap();
}

#[test]
fn the_formula_is_that_of_the_server_when_the_site_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "server.txt",
        "Server: vm\n    job_sort_formula = ncpus *\n\t 2\n",
    );
    let site = Site::open(folder.path()).unwrap();
    write(
        folder.path(),
        "server.txt",
        "Server: vm\n    job_sort_formula = walltime\n",
    );
    for formula in [
        site.formula_text().unwrap(),
        site.formula_in_force().unwrap(),
    ] {
        assert_eq!(
            (&*formula.text, &*formula.written),
            ("ncpus * 2", "ncpus *\n\t 2")
        );
    }
}

#[test]
fn a_mended_formula_is_checked_with_the_jobs_that_were_read() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "jobs.ndjson", JOBS);
    let site = Site::open(folder.path()).unwrap();
    let check = |text: &str| site.check(&FormulaSubmission::to_openpbs(text));
    let failing = |text: &str| check(text).map(|checked| checked.jobs.unwrap().failing);
    assert_eq!(failing("1 / ncpus").unwrap(), ["2.vm"]);
    fs::remove_file(folder.path().join("jobs.ndjson")).unwrap();
    assert_eq!(failing("2 / ncpus").unwrap(), ["2.vm"]);
    // other columns are not those that were read
    assert!(check("mem").is_err());
}

#[test]
fn the_jobs_beside_a_log_are_those_of_the_site() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "jobs.ndjson", JOBS);
    let files = SiteFiles::open(folder.path()).unwrap().for_workload();
    assert!(!files.has(Role::Queue));
    let site = Site::from_files(files, SiteOptions::default()).unwrap();
    let submission = FormulaSubmission::to_openpbs("1 / ncpus");
    let with_queue = site.check_with_queue(&submission).unwrap().unwrap();
    assert_eq!(with_queue.jobs.unwrap().failing, ["2.vm"]);
    assert!(site.check(&submission).unwrap().jobs.is_none());
    assert_eq!(
        site.check_text("1 / ncpus").unwrap().jobs.unwrap().failing,
        ["2.vm"]
    );
}
