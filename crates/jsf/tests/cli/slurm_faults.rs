//! Files of a Slurm site with faults, and what each command says of them.
//!
//! The site is the recorded case `97_random14`, of which a test changes some files.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use jsf_testing::golden;
use tempfile::TempDir;

use crate::command::{jsf, json, said, stderr, success};

/// A copy of the recorded files.
struct Cluster(TempDir);

impl Cluster {
    /// The files with these names.
    fn with(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = fs::File::open(golden::path("slurm-priority/97_random14.tar.gz"));
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file.expect("a file")));
        for entry in archive.entries().expect("members") {
            let mut entry = entry.expect("a member");
            let path = entry.path().expect("a path").into_owned();
            if names.iter().any(|name| path == Path::new(name)) {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).expect("read");
                fs::write(folder.path().join(path), bytes).expect("written");
            }
        }
        Self(folder)
    }

    /// All files that the priority depends on, with this one of the jobs.
    fn with_jobs(jobs: &str) -> Self {
        const OTHERS: [&str; 9] = [
            "slurm.conf",
            "sshare.txt",
            "qos.txt",
            "assoc.txt",
            "partitions.txt",
            "nodes.txt",
            "sprio_o.txt",
            "sprio_l.txt",
            "sprio_n.txt",
        ];
        Self::with(&[&OTHERS[..], &[jobs]].concat())
    }

    fn path(&self) -> &str {
        self.0.path().to_str().expect("UTF-8")
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("a file")
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("written");
    }

    /// Replaces what occurs in a file.
    fn replace(&self, name: &str, from: &str, to: &str) {
        let text = self.text(name);
        assert!(text.contains(from), "{name}: {from}");
        self.put(name, &text.replacen(from, to, 1));
    }

    fn run(&self, command: &str, arguments: &[&str]) -> std::process::Output {
        jsf(&[&[command, "--site", self.path()], arguments].concat())
    }

    /// What a command warns of.
    fn warnings(&self, command: &str, arguments: &[&str]) -> String {
        let output = self.run(command, arguments);
        success(&output);
        said(&output)
    }
}

/// Slurm's priority is a whole number of 32 bits, of which a C float keeps 24.
#[test]
fn a_priority_has_all_its_digits() {
    let cluster = Cluster::with_jobs("squeue_o.txt");
    let text = success(&cluster.run("explain", &["--job", "7"]));
    let expected = "rank 3 is `15` with 57265627: 50740783 more are needed";
    assert!(text.contains(expected), "{text}");
    let queue = json(&cluster.run("rank", &["--format", "json"]));
    let jobs = queue["jobs"].as_array().expect("jobs");
    let third = jobs.iter().find(|job| job["rank"] == 3).expect("a job");
    assert_eq!(third["logged"], "57265627");
    let csv = success(&cluster.run("rank", &["--format", "csv"]));
    assert!(csv.contains("57265627.0,57265627,57265627,"), "{csv}");
    let job = json(&cluster.run("explain", &["--job", "15", "--format", "json"]));
    assert_eq!(job["jobs"][0]["logged"], "57265627");
    let held = success(&cluster.run("explain", &["--job", "13"]));
    assert!(held.contains("its value is 12725699"), "{held}");
}

/// A file that ends within a record says so with the record, wherever it is cut.
#[test]
fn a_file_that_is_cut_off_names_the_record_at_its_end() {
    for (name, first) in [
        ("scontrol_show_job.txt", "JobId="),
        ("nodes.txt", "NodeName="),
        ("partitions.txt", "PartitionName="),
    ] {
        let cluster = Cluster::with_jobs("scontrol_show_job.txt");
        let text = cluster.text(name);
        assert!(!cluster.warnings("rank", &[]).contains("cut off"), "{name}");
        for percent in [25, 40, 75] {
            let cut = &text[..text.len() * percent / 100];
            let record = cut.rfind(first).map(|at| &cut[at + first.len()..]);
            let record = record.and_then(|record| record.split_whitespace().next());
            let record = record.expect("a record");
            cluster.put(name, cut);
            let said = cluster.warnings("rank", &[]);
            let is_named = said.contains(&format!("`{record}`"))
                && (said.contains("ends within the record of")
                    || said.contains("may be cut off: the last line has no line end"));
            assert!(is_named, "{name} {percent}: {said}");
        }
    }
    for name in ["sprio_o.txt", "sprio_l.txt", "sprio_n.txt"] {
        let cluster = Cluster::with_jobs("squeue_o.txt");
        let text = cluster.text(name);
        cluster.put(name, &text[..text.len() * 2 / 5]);
        let said = cluster.warnings("rank", &[]);
        assert!(said.contains("a row is left out"), "{name}: {said}");
    }
}

/// Each value that cannot be read is named with its file and line, or its job.
#[test]
fn a_value_that_cannot_be_read_is_named() {
    for (name, from, to, expected) in [
        (
            "qos.txt",
            "long|76813",
            "long|abc",
            "qos.txt`: line 5: `Priority` of QOS `long` is `abc`, expected a whole number",
        ),
        (
            "partitions.txt",
            "PriorityJobFactor=1 ",
            "PriorityJobFactor=abc ",
            "`PriorityJobFactor` of partition `main` is `abc`",
        ),
        (
            "nodes.txt",
            "CPUTot=256",
            "CPUTot=many",
            "line 2: `CPUTot` of node `f1` is `many`",
        ),
        (
            "sprio_o.txt",
            "37980060|2969|",
            "37980060|xyz|",
            "line 2: `SITE` of job `1` is `xyz`",
        ),
        (
            "squeue_o.txt",
            "|37980060|200000|",
            "|37980060|1e30|",
            "line 5: `NICE` of job `1` is `1e30`",
        ),
        (
            "squeue_o.txt",
            "|37980060|200000|",
            "|37980060|-99999999999|",
            "`NICE` of job `1` is `-99999999999`",
        ),
        (
            "squeue_o.txt",
            "200000|2026-11-27T09:21:21",
            "200000|27.11.2026",
            "`SUBMIT_TIME` of job `1` is `27.11.2026`",
        ),
        (
            "squeue_o.txt",
            "|phys|ann|gpu|normal|",
            "|phys|ann|nosuch|normal|",
            "has a partition that is not in `",
        ),
        (
            "squeue_o.txt",
            "|phys|ann|gpu|normal|",
            "|phys|ann|gpu|nosuch|",
            "has a QOS that is not in `",
        ),
    ] {
        let cluster = Cluster::with_jobs("squeue_o.txt");
        let before = cluster.warnings("rank", &[]);
        assert!(!before.contains(expected), "{before}");
        cluster.replace(name, from, to);
        let said = cluster.warnings("rank", &[]);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let cluster = Cluster::with_jobs("squeue.json");
    for (from, to, expected) in [
        (
            "\"nice\": 200000",
            "\"nice\": 1e30",
            "`nice` of job `1` is `1e30`",
        ),
        (
            "\"cpus\": 1,",
            "\"cpus\": 99999999999999999999,",
            "`cpus` of job `1` is `",
        ),
    ] {
        cluster.replace("squeue.json", from, to);
        let said = cluster.warnings("rank", &[]);
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

/// Settings with which slurmctld does not start rank no jobs.
#[test]
fn settings_with_which_slurmctld_does_not_start_are_errors() {
    for line in [
        "PriorityWeightQOS=abc",
        "PriorityWeightTRES=foo=100",
        "PriorityWeightNothing=1",
        "PriorityWeightAge=",
        "no setting",
        "PartitionName=p PriorityJobFactor=abc",
    ] {
        let cluster = Cluster::with_jobs("squeue_o.txt");
        let conf = cluster.text("slurm.conf") + line + "\n";
        let number = conf.lines().count();
        let new = cluster.0.path().join("new");
        fs::write(&new, &conf).expect("written");
        let compared = cluster.run(
            "compare",
            &["--new-slurm-conf", new.to_str().expect("UTF-8")],
        );
        fs::remove_file(new).expect("removed");
        cluster.put("slurm.conf", &conf);
        for output in [cluster.run("rank", &[]), compared] {
            let said = stderr(&output);
            assert_ne!(output.status.code(), Some(0), "{said}");
            let place = format!("line {number}: ");
            assert!(
                said.contains(&place) && said.contains("slurmctld does not start"),
                "{said}"
            );
        }
    }
    let cluster = Cluster::with_jobs("squeue_o.txt");
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty");
    fs::write(&empty, "").expect("written");
    let empty = empty.to_str().expect("UTF-8");
    for output in [
        cluster.run("compare", &["--new-slurm-conf", empty]),
        cluster.run("rank", &["--slurm-conf", empty]),
    ] {
        let said = stderr(&output);
        assert_ne!(output.status.code(), Some(0), "{said}");
        assert!(
            said.contains("empty` is empty, expected `slurm.conf`"),
            "{said}"
        );
    }
}

/// Files of two clusters are named with their clusters.
#[test]
fn files_of_two_clusters_are_named() {
    for (jobs, name, from, to) in [
        (
            "squeue.json",
            "slurm.conf",
            "ClusterName=gold",
            "ClusterName=silver",
        ),
        ("squeue_o.txt", "assoc.txt", "\ngold|", "\nsilver|"),
    ] {
        let cluster = Cluster::with_jobs(jobs);
        assert!(!cluster.warnings("rank", &[]).contains("cluster"));
        let text = cluster.text(name).replace(from, to);
        cluster.put(name, &text);
        let said = cluster.warnings("rank", &[]);
        assert!(
            said.contains("of the cluster `")
                && said.contains("`silver`")
                && said.contains("`gold`"),
            "{said}"
        );
        assert!(said.contains(name), "{said}");
    }
}

/// Of totals that are not those of `squeue`, the component and where it comes from are named.
#[test]
fn the_component_that_differs_is_named() {
    for (name, from, to, expected) in [
        (
            "slurm.conf",
            "PriorityWeightAge=15",
            "PriorityWeightAge=5000",
            "AGE differs for ",
        ),
        (
            "slurm.conf",
            "PriorityWeightQOS=166975",
            "PriorityWeightQOS=1669",
            "QOS differs for ",
        ),
        (
            "qos.txt",
            "urgent|10|",
            "urgent|100|",
            "QOS differs for 2 jobs (`6`: printed 22, computed 217), which follows from ",
        ),
        (
            "partitions.txt",
            "PriorityJobFactor=1 ",
            "PriorityJobFactor=30000 ",
            "PARTITION differs for ",
        ),
    ] {
        let cluster = Cluster::with_jobs("squeue_o.txt");
        assert!(!cluster.warnings("rank", &[]).contains("differs"));
        cluster.replace(name, from, to);
        let said = cluster.warnings("rank", &[]);
        assert!(said.contains(expected), "{expected}: {said}");
        assert!(
            said.contains(name) && !said.contains("PriorityCalcPeriod"),
            "{said}"
        );
    }
    // a little more age is a matter of time
    let cluster = Cluster::with_jobs("squeue_o.txt");
    cluster.replace("slurm.conf", "PriorityWeightAge=15", "PriorityWeightAge=16");
    let said = cluster.warnings("rank", &[]);
    assert!(
        said.contains("PriorityCalcPeriod") && !said.contains("AGE differs"),
        "{said}"
    );
}

/// Totals that are not at all those of Slurm are in the headline.
#[test]
fn totals_that_contradict_squeue_are_in_the_headline() {
    let cluster = Cluster::with(&[
        "scontrol_show_config.txt",
        "squeue_o.txt",
        "sshare.txt",
        "qos.txt",
        "partitions.txt",
        "nodes.txt",
    ]);
    let text = success(&cluster.run("rank", &[]));
    let headline = text.lines().next().expect("a line");
    assert!(
        headline.starts_with("The computed priorities are not those that `"),
        "{text}"
    );
    assert!(headline.contains("computed 4294967295"), "{text}");
}

/// What is missing is asked for in Slurm's words.
#[test]
fn hints_name_the_commands_of_slurm() {
    let cluster = Cluster::with(&["slurm.conf", "squeue_o.txt"]);
    let said = stderr(&cluster.run("rank", &[]));
    let mut lines = said.lines();
    let said = lines.find(|line| line.contains("PriorityWeightFairshare"));
    let said = said.unwrap_or_default();
    assert!(
        said.contains("`sshare -a -l -P`") && !said.contains("sched_priv"),
        "{said}"
    );
    let said = stderr(&Cluster::with(&["slurm.conf"]).run("rank", &[]));
    assert!(said.contains("`squeue --json`"), "{said}");
    let said = stderr(&Cluster::with(&[]).run("rank", &[]));
    assert!(said.contains("`squeue.json`"), "{said}");
    let cluster = Cluster::with(&["slurm.conf"]);
    fs::write(cluster.0.path().join("squeue.json"), [0, 159, 146, 150]).expect("written");
    let said = stderr(&cluster.run("rank", &[]));
    assert!(
        said.contains("squeue.json` is binary data, or text in another encoding than UTF-8, expected `squeue --json`"),
        "{said}"
    );
    let cluster = Cluster::with(&["slurm.conf", "squeue_o.txt"]);
    let text = cluster.text("squeue_o.txt");
    let (header, rows) = text.split_once('\n').expect("a header");
    cluster.put(
        "squeue_o.txt",
        &format!("{header}\n{}", rows.replace("PENDING|", "PENDING||")),
    );
    let said = stderr(&cluster.run("rank", &[]));
    assert!(
        said.contains("none of its jobs can be read: a row is left out, line 2: it has "),
        "{said}"
    );
}

/// Jobs are found as `squeue` prints them, and of one that is not there it is said why.
#[test]
fn jobs_are_found_by_what_squeue_prints() {
    for jobs in ["squeue_o.txt", "squeue.json", "scontrol_show_job.txt"] {
        let cluster = Cluster::with_jobs(jobs);
        let text = success(&cluster.run("explain", &["--job", "16_1"]));
        assert!(text.starts_with("`16` is "), "{jobs}: {text}");
        success(&cluster.run("rank", &["--job", "16_1"]));
        let said = stderr(&cluster.run("rank", &["--job", "999"]));
        assert!(said.contains("no job is called `999`"), "{said}");
    }
    let cluster = Cluster::with_jobs("scontrol_show_job.txt");
    for command in ["rank", "explain"] {
        let said = stderr(&cluster.run(command, &["--job", "4"]));
        assert!(
            said.contains("job `4` is in `")
                && said.contains("with the state FAILED and does not wait"),
            "{said}"
        );
    }
}

/// What is said of jobs is a part of what ranks them.
#[test]
fn shares_say_nothing_of_jobs() {
    let cluster = Cluster::with_jobs("squeue_o.txt");
    assert!(cluster.warnings("rank", &[]).contains("several partitions"));
    let said = cluster.warnings("shares", &[]);
    assert!(!said.contains("several partitions"), "{said}");
    // jobs with one number are named by it, not by a line of another document
    let text = cluster.text("squeue_o.txt");
    let row = text.lines().nth(3).expect("a row").to_owned();
    cluster.put("squeue_o.txt", &format!("{text}{row}\n"));
    let said = cluster.warnings("rank", &[]);
    assert!(
        said.contains("squeue_o.txt`: job `11` is there again; the first counts"),
        "{said}"
    );
    cluster.put(
        "sshare.txt",
        &cluster.text("sshare.txt").replace("|ann|", "|anne|"),
    );
    let said = cluster.warnings("rank", &[]);
    assert!(
        said.contains("the jobs of `phys/ann` get 0: the tree has no `phys/ann`")
            && !said.contains("?;"),
        "{said}"
    );
}

#[test]
fn a_total_that_no_component_explains_is_of_another_moment() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = Path::new(jsf_testing::ROOT).join("examples/slurm");
    for entry in fs::read_dir(files).expect("the files") {
        let path = entry.expect("a file").path();
        let mut text = fs::read_to_string(&path).expect("a text");
        if path.ends_with("squeue_o.txt") {
            text = text.replace("|104605|", "|904605|");
        }
        fs::write(folder.path().join(path.file_name().expect("a name")), text).expect("written");
    }
    let site = folder.path().to_str().expect("a path");
    let text = stderr(&jsf(&["rank", "--site", site, "--full"]));
    assert!(
        text.contains("the files are of different moments"),
        "{text}"
    );
    assert!(!text.contains("give what `sprio -l` prints"), "{text}");
}
