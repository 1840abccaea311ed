//! The priorities that Slurm 22.05 computed, as `jsf rank` computes them from what a site can print.
//!
//! Recorded in `tests/golden/slurm-priority`, with the rules in its `SPEC.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use job_sort_formula::Formula;
use jsf_simulate::LogRules;
use jsf_site::{FileSource, SimulationOptions, Site, SiteFiles, SiteOptions};
use jsf_testing::golden;
use serde_json::Value;

use crate::command::{jsf, json, said, stderr};

/// The case in which the daemon has not computed eight priorities again after a change of the
/// partitions.
const STALE: &str = "35_part_updated_norestart";

/// The columns of `sprio -l` by their keys in the recordings.
const COLUMNS: [(&str, &str); 8] = [
    ("SITE", "site"),
    ("AGE", "age"),
    ("ASSOC", "assoc"),
    ("FAIRSHARE", "fairshare"),
    ("JOBSIZE", "jobsize"),
    ("PARTITION", "partition_prio"),
    ("QOS", "qos"),
    ("NICE", "nice"),
];

struct Case {
    name: String,
    archive: PathBuf,
    /// The recorded jobs by their numbers.
    jobs: BTreeMap<String, Value>,
}

fn cases() -> Vec<Case> {
    let folder = golden::path("slurm-priority");
    let mut cases: Vec<Case> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .map(|archive| {
            let want = member(&archive, "want.json");
            let want: Value = serde_json::from_str(&want).expect("JSON");
            let jobs = want["jobs"].as_array().expect("a list").iter();
            Case {
                name: archive
                    .file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .replace(".tar.gz", ""),
                jobs: jobs
                    .map(|job| (golden::field(job, "job").to_owned(), job.clone()))
                    .collect(),
                archive,
            }
        })
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    assert_eq!(cases.len(), 68);
    cases
}

/// A file of an archive.
fn member(archive: &Path, name: &str) -> String {
    let file = fs::File::open(archive).expect("an archive");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    for entry in archive.entries().expect("members") {
        let mut entry = entry.expect("a member");
        if entry.path().expect("a path").as_ref() == Path::new(name) {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut entry, &mut text).expect("text");
            return text;
        }
    }
    panic!("no {name}")
}

/// The jobs that a command prints, by their numbers.
fn ranked(site: &Path, arguments: &[&str]) -> BTreeMap<String, Value> {
    let site = site.to_str().expect("UTF-8");
    let command = [&["rank", "--site", site, "--format", "json"], arguments].concat();
    let answer = json(&jsf(&command));
    let jobs = answer["jobs"].as_array().expect("a list").iter();
    jobs.map(|job| (golden::field(job, "id").to_owned(), job.clone()))
        .collect()
}

/// The jobs whose totals differ from those that `squeue` printed.
fn different_totals(case: &Case, jobs: &BTreeMap<String, Value>) -> Vec<String> {
    let mut different = Vec::new();
    for (id, recorded) in &case.jobs {
        let expected: u64 = golden::field(recorded, "squeue_priority")
            .parse()
            .expect("a number");
        let value = jobs.get(id).and_then(|job| job["value"].as_u64());
        if value != Some(expected) {
            different.push(format!("{} {id}: {expected}, got {value:?}", case.name));
        }
    }
    different
}

#[test]
fn all_totals_are_those_of_squeue() {
    for case in cases() {
        let different = different_totals(&case, &ranked(&case.archive, &[]));
        let stale = if case.name == STALE { 8 } else { 0 };
        assert_eq!(different.len(), stale, "{different:?}");
    }
}

#[test]
fn all_components_are_those_of_sprio() {
    let mut compared = 0;
    for case in cases() {
        let jobs = ranked(&case.archive, &["--terms"]);
        let mut different = Vec::new();
        for (id, recorded) in &case.jobs {
            let job = &jobs[id];
            let rows = recorded["sprio"].as_array().expect("a list");
            // the row of the first partition; sprio has no correct one of a job with a direct
            // priority and several partitions
            let row = rows.iter().find(|row| row["partition"] == job["queue"]);
            let Some(row) = row.filter(|row| row["nice"] != "-2147483648") else {
                continue;
            };
            let terms = job["terms"].as_array().expect("a list").iter();
            let terms: BTreeMap<&str, &str> = terms
                .map(|term| (golden::field(term, "text"), golden::field(term, "value")))
                .collect();
            let resources = golden::field(row, "tres").split(',');
            let resources = resources.filter_map(|amount| amount.split_once('='));
            let columns = COLUMNS.map(|(column, key)| (column, golden::field(row, key)));
            for (column, expected) in columns.into_iter().chain(resources) {
                compared += 1;
                let value = terms.get(column).copied().unwrap_or("0");
                if value != expected {
                    different.push(format!(
                        "{} {id} {column}: {expected}, got {value}",
                        case.name
                    ));
                }
            }
        }
        let stale = if case.name == STALE { 8 } else { 0 };
        assert_eq!(different.len(), stale, "{different:?}");
    }
    assert!(compared > 8500, "{compared}");
}

/// The same numbers from the other documents of the jobs, in files with any names.
#[test]
fn each_document_of_jobs_gives_the_same_totals() {
    const OTHERS: [&str; 8] = [
        "slurm.conf",
        "sshare.txt",
        "qos.txt",
        "assoc.txt",
        "partitions.txt",
        "nodes.txt",
        "sprio_l.txt",
        "sprio_n.txt",
    ];
    for case in cases()
        .into_iter()
        .filter(|case| case.name != STALE)
        .step_by(3)
    {
        for document in ["squeue_o.txt", "scontrol_show_job.txt"] {
            let folder = tempfile::tempdir().expect("a folder");
            for (index, name) in OTHERS.into_iter().chain([document]).enumerate() {
                let path = folder.path().join(format!("file{index}"));
                fs::write(path, member(&case.archive, name)).expect("written");
            }
            let different = different_totals(&case, &ranked(folder.path(), &[]));
            assert!(different.is_empty(), "{document}: {different:?}");
        }
    }
}

/// The processors of a simulated machine on which all jobs of a case have room.
const PROCESSORS: u32 = 1_000_000;
/// The cases recorded in the first cycle of slurmctld under depth-oblivious, in which it has not
/// computed all of the tree yet. A simulation has no such cycle.
const FIRST_CYCLES: [&str; 2] = ["77_fs_depth_oblivious", "95_random12"];

/// A log of `sacct` with the pending jobs of a table of `squeue -O`, which wait from the time at
/// which they began to age until `now` for a job that holds the whole machine.
fn log_of(squeue: &str, now: i64) -> String {
    let mut lines = squeue.lines().map(|line| line.split('|').collect());
    let heading: Vec<&str> = lines.next().expect("a heading");
    let begin = now - 1_000_000;
    let mut log = format!(
        "JobID|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|Timelimit|ReqCPUS|ReqTRES|Nice\n\
         0|nobody|none|none|none|{begin}|{begin}|{now}|1000000|30-00:00:00|{PROCESSORS}||\n"
    );
    for row in lines {
        let row: Vec<&str> = row;
        let place = |name| heading.iter().position(|known| *known == name);
        let cell = |name| row[place(name).expect("a column")];
        if cell("STATE") == "PENDING" {
            let before = [
                "JOBID",
                "USER",
                "ACCOUNT",
                "PARTITION",
                "QOS",
                "ACCRUE_TIME",
            ];
            let after = ["TIME_LIMIT", "CPUS", "TRES_ALLOC", "NICE"];
            let (before, after) = (before.map(cell).join("|"), after.map(cell).join("|"));
            log += &format!("{before}|{now}|{}|60|{after}\n", now + 60);
        }
    }
    log
}

fn open(files: SiteFiles, at: Option<i64>) -> Site {
    let options = SiteOptions {
        at,
        ..SiteOptions::default()
    };
    Site::from_files(files, options).expect("a site")
}

/// At the moment at which the jobs of a log start, they have the priorities that a ranking computes
/// for the same jobs in the queue at that moment.
#[test]
fn a_simulation_has_the_priorities_of_a_ranking() {
    let mut compared = 0;
    for case in cases() {
        if FIRST_CYCLES.contains(&&*case.name) {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "slurm.conf",
            "sshare.txt",
            "qos.txt",
            "assoc.txt",
            "partitions.txt",
            "nodes.txt",
            "squeue_o.txt",
        ] {
            let content = member(&case.archive, name);
            fs::write(folder.path().join(name), content).expect("written");
        }
        let files = || SiteFiles::open(folder.path()).expect("files");
        let now = open(files(), None).priorities_at().expect("a time") + 600;
        let queue = open(files(), Some(now));
        let text = queue.formula_text().expect("a formula").text;
        let formula = Formula::parse(&text).expect("a formula");
        let ranked = queue.rank(&formula).expect("a ranking");
        let values = ranked.ranking.order().iter();
        let values: BTreeMap<&str, Option<f64>> = values
            .map(|&row| {
                let score = ranked.ranking.score(row);
                (ranked.table.id(row), score.map(|score| score.value))
            })
            .collect();
        let site = open(files().for_workload(), None);
        assert_eq!(site.formula_text().expect("a formula").text, text);
        let log = log_of(&member(&case.archive, "squeue_o.txt"), now).into_bytes();
        let log = FileSource::Bytes {
            name: "log".to_owned(),
            bytes: log.into(),
        };
        let rules = LogRules {
            from: Some(0),
            ..LogRules::default()
        };
        let workload = site.open_workload(&[log], &[&formula], rules);
        let workload = workload.expect("a log");
        let options = SimulationOptions {
            processors: Some(PROCESSORS),
            decay_period: Some(1),
            decay_factor: Some(1.0),
            ..SimulationOptions::default()
        };
        let simulated = site.simulate(&formula, &workload, options, &mut ());
        let schedule = simulated.expect("a schedule").schedule;
        for job in 1..workload.jobs().len() {
            let id = workload.id(job);
            // a ranking has no held jobs
            if let Some(value) = values.get(id) {
                compared += 1;
                let simulated = (schedule.start(job), schedule.start_value(job));
                assert_eq!(simulated, (Some(now), *value), "{} {id}", case.name);
            }
        }
    }
    assert!(compared > 800, "{compared}");
}

/// The cells of a table below one of its headers, by its first column.
fn cells(table: &str, header: &str) -> BTreeMap<String, Vec<String>> {
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split('|').collect()).collect();
    let column = rows[0].iter().position(|name| *name == header);
    let column = column.expect("a column");
    let mut cells: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &rows[1..] {
        let of_job = cells.entry(row[0].to_owned()).or_default();
        of_job.push(row[column].to_owned());
    }
    cells
}

/// The numbers in the example follow from its other files, by the rules that were recorded.
#[test]
fn the_example_has_the_priorities_that_follow_from_its_files() {
    let site = jsf_testing::path("examples/slurm");
    let read = |name: &str| fs::read_to_string(site.join(name)).expect("a file");
    let jobs = ranked(&site, &["--terms"]);
    let totals = cells(&read("squeue_o.txt"), "PRIORITY");
    let mut compared = 0;
    for (id, total) in &totals {
        if jobs[id]["rank"].is_null() {
            continue;
        }
        compared += 1;
        assert_eq!(jobs[id]["value"].to_string(), total[0], "{id}");
    }
    assert_eq!((totals.len(), compared), (20, 16));
    let sprio = read("sprio_o.txt");
    for column in ["AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "QOS", "NICE"] {
        for (id, printed) in cells(&sprio, column) {
            let terms = jobs[&id]["terms"].as_array().expect("a list").iter();
            let mut terms = terms.filter(|term| term["text"] == column);
            let term = terms.next().map(|term| golden::field(term, "value"));
            assert_eq!(term, Some(&*printed[0]), "{id} {column}");
        }
    }
    let output = jsf(&["rank", "--site", site.to_str().expect("UTF-8")]);
    assert!(!stderr(&output).contains("differs"), "{}", stderr(&output));
}

/// Every command that reads the jobs of a site reads those of Slurm.
#[test]
fn the_priority_is_checked_with_the_jobs_of_the_site() {
    let archive = golden::path("slurm-priority/84_random1.tar.gz");
    for site in [&archive, &jsf_testing::path("examples/slurm")] {
        let output = jsf(&["check", "--site", site.to_str().expect("UTF-8")]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

/// Settings that change nearly every input of the priority.
const OTHER_SETTINGS: &str = "\
ClusterName=lichen
PriorityType=priority/multifactor
PriorityDecayHalfLife=14-0
PriorityMaxAge=1-0
PriorityFavorSmall=YES
PriorityFlags=NO_NORMAL_QOS
PriorityWeightAge=50000
PriorityWeightFairshare=20000
PriorityWeightJobSize=90000
PriorityWeightQOS=10
PriorityWeightTRES=CPU=1000,Mem=2000,GRES/gpu=900000
NodeName=n[1-8] CPUs=64 RealMemory=256000
NodeName=g[1-2] CPUs=64 RealMemory=512000 Gres=gpu:4
PartitionName=main Nodes=n[1-8] Default=YES MaxTime=1-0 PriorityJobFactor=10 PriorityTier=2
PartitionName=long Nodes=n[1-8] MaxTime=7-0 PriorityJobFactor=5 PriorityTier=1
PartitionName=gpu Nodes=g[1-2] MaxTime=2-0 PriorityJobFactor=20 PriorityTier=3
";

/// The new side of a comparison is what a ranking by the new settings is at the same time.
#[test]
fn other_settings_give_the_jobs_other_inputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("other.conf");
    fs::write(&conf, OTHER_SETTINGS).expect("a file");
    let conf = conf.to_str().expect("UTF-8");
    let site = jsf_testing::path("examples/slurm");
    let ranked = ranked(
        &site,
        &["--slurm-conf", conf, "--at", "2026-11-27T09:00:00"],
    );
    let compared = json(&jsf(&[
        "compare",
        "--site",
        "examples/slurm",
        "--new-slurm-conf",
        conf,
        "--at",
        "2026-11-27T09:00:00",
        "--format",
        "json",
    ]));
    let jobs = compared["jobs"].as_array().expect("a list");
    assert_eq!(jobs.len(), 16);
    let mut moved = 0;
    for job in jobs {
        let id = job["id"].as_str().expect("an id");
        assert_eq!(job["new_rank"], ranked[id]["rank"], "{id}");
        assert_eq!(
            job["new_score"].as_f64(),
            ranked[id]["value"].as_f64(),
            "{id}"
        );
        moved += usize::from(job["old_rank"] != job["new_rank"]);
    }
    assert!(moved > 8, "{moved}");
}

/// With a formula for the old side alone, the new side is the priority by the new settings.
#[test]
fn the_priority_by_other_settings_is_compared_with_a_formula() {
    let compared = json(&jsf(&[
        "compare",
        "--old",
        "ncpus",
        "--new-slurm-conf",
        "examples/slurm_new.conf",
        "--site",
        "examples/slurm",
        "--format",
        "json",
    ]));
    assert_eq!(compared["old"]["formula"], "ncpus");
    let new = compared["new"]["formula"].as_str().expect("a formula");
    assert!(new.contains("age_factor"), "{new}");
}

/// When a job overtakes another one is the first second at which a ranking has them so.
#[test]
fn ages_grow_while_jobs_wait() {
    let site = jsf_testing::path("examples/slurm");
    let jobs = ranked(&site, &[]);
    let ids: Vec<&str> = jobs.keys().map(String::as_str).collect();
    let trajectory = json(&jsf(&[
        "trajectory",
        "--site",
        "examples/slurm",
        "--at",
        "2026-11-27T09:00:00",
        "--job",
        &ids.join(","),
        "--hours",
        "168",
        "--format",
        "json",
    ]));
    let crossings = trajectory["crossings"].as_array().expect("a list");
    assert!(crossings.len() > 2, "{crossings:?}");
    let start = 1_795_770_000;
    for crossing in crossings.iter().take(8) {
        let wait = crossing["wait"].as_i64().expect("seconds");
        let [winner, loser] =
            ["job", "overtakes"].map(|key| crossing[key].as_str().expect("an id"));
        let is_ahead = |at: i64| {
            let jobs = ranked(&site, &["--at", &at.to_string()]);
            jobs[winner]["rank"].as_u64() < jobs[loser]["rank"].as_u64()
        };
        assert!(is_ahead(start + wait), "{crossing}");
        assert!(!is_ahead(start + wait - 1), "{crossing}");
    }
}

/// A described job has the inputs of a job of the queue that asks for the same.
#[test]
fn a_described_job_has_the_inputs_of_its_requests() {
    let explain = |arguments: &[&str]| {
        let site = ["explain", "--site", "examples/slurm", "--format", "json"];
        jsf(&[&site, arguments].concat())
    };
    let explain_described =
        |description: &str| explain(&["--as", description, "--entity", "guests/noor"]);
    let jobs = ranked(&jsf_testing::path("examples/slurm"), &[]);
    let described = "queue=main,qos=normal,ncpus=1,mem=2gb,nodect=1,walltime=10m,age_factor=";
    let explained = json(&explain(&["--job", "8106"]));
    let inputs = explained["jobs"][0]["inputs"].as_array().expect("a list");
    let age = inputs.iter().find(|input| input["name"] == "age_factor");
    let age = age.expect("an age")["value"].as_str().expect("a number");
    let answer = json(&explain_described(&format!("{described}{age}")));
    assert_eq!(
        answer["jobs"][0]["score"].as_f64(),
        jobs["8106"]["value"].as_f64()
    );
    for (description, refused) in [
        (
            "queue=mian",
            "no partition is called `mian`; did you mean `main`?",
        ),
        (
            "queue=main,qos=lwo",
            "no QOS is called `lwo`; did you mean `low`?",
        ),
    ] {
        let output = explain_described(description);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(refused), "{}", stderr(&output));
    }
}

/// The ages that `sprio` printed do not tell the time of other settings.
#[test]
fn ages_by_another_greatest_age_are_no_clock() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("slurm.conf");
    let text = fs::read_to_string(jsf_testing::path("examples/slurm/slurm.conf")).expect("a file");
    fs::write(
        &conf,
        text.replace("PriorityMaxAge=7-0", "PriorityMaxAge=365-0"),
    )
    .expect("a file");
    let output = jsf(&[
        "rank",
        "--site",
        "examples/slurm",
        "--slurm-conf",
        conf.to_str().expect("UTF-8"),
    ]);
    let found = said(&output);
    assert!(found.contains("do not fit PriorityMaxAge"), "{found}");
}
