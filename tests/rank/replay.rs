//! Scheduler's logs, made of the recorded values, against the recorded queue.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::pbs::files::sched_config::SchedConfig;
use job_sort_formula::pbs::number_format::logged;
use job_sort_formula::pbs::replay::{Difference, Explanation, Replay, logged_values};
use job_sort_formula::pbs::resource_amount::NumberMode;
use job_sort_formula::pbs::share_tree::encode_usage;
use job_sort_formula::site::{FileSource, FormulaText, SiteFiles, SiteRules};
use job_sort_formula::{Formula, Site, SiteError};

use crate::support::golden;
use crate::support::recorded::{self, Record};

/// A queue and a log in a folder, beside the other files of the recorded site.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    fn site(&self, queue: &str, change: impl FnOnce(&mut SiteFiles)) -> Site {
        let golden = |name: &str| FileSource::from(golden::path("openpbs/qstat").join(name));
        let mut files = SiteFiles {
            queue: Some(self.put("qstat.json", queue).into()),
            resource_group: Some(golden("resource_group")),
            usage: Some(golden("usage")),
            sched_config: Some(golden("sched_config")),
            queues: vec![golden("qstat_Qf.json")],
            resources: vec![golden("resourcedef")],
            ..SiteFiles::default()
        };
        change(&mut files);
        Site::from_files(files, SiteRules::default()).expect("a site")
    }

    fn replay(&self, site: &Site, record: &Record) -> Replay {
        let log = self.put("sched.log", &log(record));
        let formula = Formula::parse(&record.formula).expect("a formula");
        site.replay(&log, &formula).unwrap_or_else(|error| panic!("{}: {error}", record.formula)).replay
    }
}

/// The recorded queue at the time of the evaluation, one second before it was listed.
fn queue() -> String {
    let queue = golden::text("openpbs/qstat/qstat_f.json").replace("\"00:00:38\"", "\"00:00:37\"");
    // qstat prints a double where the scheduler had all digits
    queue.replace("9.00719925474099e+15", "9007199254740993")
}

fn log(record: &Record) -> String {
    let mut log = String::from("11/22/2026 04:17:58;0080;pbs_sched;Req;;Starting Scheduling Cycle\n");
    for (job, value) in &record.values {
        let _ = writeln!(log, "11/22/2026 04:17:59.000001;0400;pbs_sched;Job;{job};Formula Evaluation = {value}");
        let _ = writeln!(log, "11/22/2026 04:17:59.000001;0400;pbs_sched;Job;{job};Considering job to run");
    }
    log
}

fn records() -> Vec<Record> {
    golden::lines("openpbs/evaluate/evaluate.jsonl")
}

fn record(formula: &str) -> Record {
    records().into_iter().find(|record| record.formula == formula).expect("recorded")
}

fn why(different: &Difference) -> String {
    different.why().unwrap_or_else(|| panic!("nothing explains {different:?}"))
}

#[test]
fn every_recorded_value_is_equal() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    let (mut formulas, mut values) = (0, 0);
    // a formula that breaks the scheduler's script leaves the values of the previous one
    let is_stale = |record: &Record| record.values.values().any(|value| value == "-12345.0625");
    for record in records().iter().filter(|record| record.sched_crashed.is_empty() && !is_stale(record)) {
        let Ok(text) = FormulaText::new(&record.formula) else { panic!("{}", record.formula) };
        let submitted = text.submitted(NumberMode::OpenPbs);
        let Ok(formula) = submitted.formula() else { continue };
        let log = folder.put("sched.log", &log(record));
        let replay = match site.replay(&log, formula) {
            Err(SiteError::NotArithmetic) => continue,
            replay => replay.unwrap_or_else(|error| panic!("{}: {error}", record.formula)).replay,
        };
        let all = Replay { lines: record.values.len(), equal: record.values.len(), ..Replay::default() };
        assert_eq!(replay, all, "{}", record.formula);
        (formulas, values) = (formulas + 1, values + replay.equal);
    }
    assert!(formulas > 150 && values > 8000, "{formulas} formulas, {values} values");
}

#[test]
fn a_later_cycle_is_found() {
    let folder = Folder::new();
    let site = folder.site(&queue().replace("\"00:00:37\"", "\"00:00:34\""), |_| {});
    for formula in ["eligible_time", "10 * ncpus + 0.01*walltime + 0.5*eligible_time"] {
        let replay = folder.replay(&site, &record(formula));
        assert_eq!((replay.equal + replay.different.len(), replay.different.len(), replay.unexplained), (55, 47, 0));
        for different in &replay.different {
            assert_eq!(different.explanations[0], Explanation::EligibleTime(3), "{different:?}");
            assert!(why(different).starts_with("eligible_time is 3 s later"), "{different:?}");
        }
    }
}

#[test]
fn another_amount_is_found_for_the_job_that_has_it() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    let mut compared = 0;
    for (formula, name) in [("walltime", "walltime"), ("mem / 1024 / 1024", "mem"), ("r_float * 2", "r_float")] {
        let mut recorded = record(formula);
        let mut amounts = recorded.values.iter().filter(|(_, value)| *value != "0");
        let (job, value) = amounts.next().expect("a job");
        let (_, other) = amounts.find(|(_, other)| *other != value).expect("another amount");
        let (job, other) = (job.clone(), other.clone());
        recorded.values.insert(job.clone(), other);
        let replay = folder.replay(&site, &recorded);
        assert_eq!((replay.different.len(), replay.unexplained), (1, 0), "{formula}");
        let different = &replay.different[0];
        assert_eq!(different.job, job);
        let is_named =
            |explanation: &Explanation| matches!(explanation, Explanation::Input { name: found, .. } if found == name);
        assert!(different.explanations.iter().any(is_named), "{different:?}");
        compared += 1;
    }
    assert_eq!(compared, 3);
}

#[test]
fn decayed_usage_is_found() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    let config = SchedConfig::parse(&golden::bytes("openpbs/qstat/sched_config"));
    let decay = IntervalDecay::new(config.fairshare_decay_factor, config.fairshare_decay_time);
    let tree = recorded::tree("openpbs/qstat", "usage", &config, []);
    let usage = folder.folder.path().join("usage");
    fs::write(&usage, encode_usage(&tree, 0, |usage| decay.step(decay.step(usage)))).expect("written");
    let later = folder.site(&queue(), |files| files.usage = Some(usage.into()));
    // all six digits of the input reach the log, so one number of decays explains all of them
    let formula = Formula::parse("1000000 * fairshare_tree_usage").expect("a formula");
    let ranked = later.rank(&formula).expect("ranked");
    let mut log = String::new();
    for (row, score) in ranked.ranking.scores().iter() {
        let _ = writeln!(log, "pbs_sched;Job;{};Formula Evaluation = {}", ranked.table.id(row), logged(score.value));
    }
    let replay = site.replay(&folder.put("sched.log", &log), &formula).expect("replayed").replay;
    assert!(replay.different.len() > 10, "{}", replay.different.len());
    for different in &replay.different {
        assert_eq!(different.explanations[0], Explanation::Decayed(2), "{different:?}");
    }
}

#[test]
fn the_usage_of_an_entity_is_found() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    let mut recorded = record("fairshare_factor");
    let jobs = jobs_like(&recorded, "0.vm");
    jobs.iter().for_each(|job| drop(recorded.values.insert(job.clone(), "0.1234".to_owned())));
    let replay = folder.replay(&site, &recorded);
    assert_eq!((replay.different.len(), replay.unexplained), (jobs.len(), 0));
    assert!(replay.different.iter().all(|different| why(different).contains("the usage of `")), "{replay:?}");
}

/// The jobs whose value is that of `job`: with `fairshare_factor`, those of Bob and of Cathy.
fn jobs_like(recorded: &Record, job: &str) -> Vec<String> {
    let alike = recorded.values.iter().filter(|(_, value)| **value == recorded.values[job]);
    alike.map(|(job, _)| job.clone()).collect()
}

#[test]
fn a_usage_that_other_jobs_of_the_entity_contradict_explains_nothing() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    let mut recorded = record("fairshare_factor");
    recorded.values.insert("0.vm".to_owned(), "0.1234".to_owned());
    let replay = folder.replay(&site, &recorded);
    assert_eq!((replay.different.len(), replay.unexplained), (1, 1));
    let different = &replay.different[0];
    let remark = different.remark.as_deref().unwrap_or_default();
    assert!(different.why().is_none() && remark.contains("another usage of `Bob`"), "{different:?}");
    // in another cycle, or in another second of a log without cycles, the usage may be another one
    let formula = Formula::parse(&recorded.formula).expect("a formula");
    let line = |start: &str, job: &str, value: &str| {
        format!("{start};0400;pbs_sched;Job;{job};Formula Evaluation = {value}\n")
    };
    let (first, second) = ("11/22/2026 04:17:59", "11/22/2026 04:18:00");
    let equal = &recorded.values["12.vm"];
    let start = "11/22/2026 04:17:59;0080;pbs_sched;Req;;Starting Scheduling Cycle\n";
    for (log, unexplained) in [
        (line(first, "0.vm", "0.1234") + &line(first, "12.vm", equal), 1),
        (line(first, "0.vm", "0.1234") + &line(second, "12.vm", equal), 0),
        (line(first, "0.vm", "0.1234") + start + &line(first, "12.vm", equal), 0),
        (start.to_owned() + &line(first, "0.vm", "0.1234") + &line(second, "12.vm", equal), 1),
        (line(first, "12.vm", equal) + &line(first, "0.vm", equal) + &line(first, "0.vm", "0.1234"), 0),
    ] {
        let replay = site.replay(&folder.put("sched.log", &log), &formula).expect("replayed").replay;
        assert_eq!((replay.different.len(), replay.unexplained), (1, unexplained), "{log}");
    }
}

#[test]
fn a_usage_gives_the_digits_of_all_jobs_of_the_entity() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    let config = SchedConfig::parse(&golden::bytes("openpbs/qstat/sched_config"));
    let tree = recorded::tree("openpbs/qstat", "usage", &config, []);
    let ours = tree.tree().usage(tree.tree().find("Scott").expect("Scott"));
    let usage = folder.folder.path().join("usage");
    let change = |usage: f64| if usage == ours { 4321.0 } else { usage };
    fs::write(&usage, encode_usage(&tree, 0, change)).expect("written");
    let changed = folder.site(&queue(), |files| files.usage = Some(usage.into()));
    // the first job's digits leave the usage open, those of the others do not
    let formula = Formula::parse("fairshare_factor * (1000 if ncpus > 100 else 1)").expect("a formula");
    let ranked = changed.rank(&formula).expect("ranked");
    let mut log = String::new();
    for (row, score) in ranked.ranking.scores().iter().filter(|(row, _)| ranked.table.entity(*row) == "Scott") {
        let _ = writeln!(log, "pbs_sched;Job;{};Formula Evaluation = {}", ranked.table.id(row), logged(score.value));
    }
    let replay = site.replay(&folder.put("sched.log", &log), &formula).expect("replayed").replay;
    let usage_of = |different: &Difference| {
        different.explanations.iter().find_map(|found| match found {
            Explanation::Usage { logged, .. } => Some(*logged),
            _ => None,
        })
    };
    let usages: Vec<Option<f64>> = replay.different.iter().map(usage_of).collect();
    assert!(log.contains("= 0.") && log.contains("= 3"), "{log}");
    assert_eq!((usages, replay.unexplained), (vec![Some(4321.0); 4], 0), "{log}");
}

#[test]
fn a_broken_number_is_shown_with_what_was_expected() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    for (digits, found) in [
        ("0.0o67", "found `o67` after `0.0`"),
        ("1e5", "found `e5` after `1`"),
        ("0,1234", "found `,1234` after `0`"),
        ("-", "found `-`"),
        ("abc", "found `abc`"),
        ("0.12 34", "found ` 34` after `0.12`"),
        ("1.2.3", "found `.3` after `1.2`"),
        ("5.", "found `5.`, which lacks digits"),
        ("-é", "found `é` after `-`"),
        ("é", "found `é`"),
    ] {
        let mut recorded = record("fairshare_factor");
        recorded.values.insert("0.vm".to_owned(), digits.to_owned());
        let replay = folder.replay(&site, &recorded);
        assert_eq!((replay.different.len(), replay.unexplained), (1, 1), "{digits}");
        let remark = replay.different[0].remark.as_deref().unwrap_or_default();
        assert!(remark.contains("expected a decimal number such as 0.8843") && remark.contains(found), "{remark}");
    }
}

#[test]
fn an_undeclared_resource_counts_as_zero() {
    let folder = Folder::new();
    let undeclared = folder.site(&queue(), |files| files.resources.clear());
    let recorded = record("r_long + 0.5");
    // without `resourcedef` the jobs show which amounts there are, so the recorded values are still equal
    assert_eq!(folder.replay(&undeclared, &recorded).different, []);
    let mut zero = record("r_long + 0.5");
    zero.values.values_mut().for_each(|value| *value = "0.5".to_owned());
    let replay = folder.replay(&undeclared, &zero);
    assert!(!replay.different.is_empty());
    assert_eq!(replay.unexplained, 0);
    for different in &replay.different {
        assert_eq!(different.explanations[0], Explanation::Undeclared("r_long".to_owned()));
    }
    let formula = Formula::parse("no_such_resource + ncpus").expect("a formula");
    let log = folder.put("sched.log", &log(&record("ncpus")));
    let replay = undeclared.replay(&log, &formula).expect("replayed").replay;
    assert_eq!(replay.unexplained, 0);
    let named = |different: &&Difference| {
        different.explanations.contains(&Explanation::Undeclared("no_such_resource".to_owned()))
    };
    assert_eq!(replay.different.iter().filter(named).count(), replay.different.len());
}

#[test]
fn what_nothing_explains_is_counted() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |_| {});
    let mut recorded = record("2/3*100");
    recorded.values.insert("3.vm".to_owned(), "66.6666".to_owned());
    recorded.values.insert("4.vm".to_owned(), "12".to_owned());
    recorded.values.insert("999.vm".to_owned(), "12".to_owned());
    let replay = folder.replay(&site, &recorded);
    assert_eq!((replay.lines, replay.equal, replay.unknown_jobs, replay.unexplained), (56, 53, 1, 1));
    let found: Vec<_> = replay.different.iter().map(|different| (&*different.job, different.why())).collect();
    let digits = Some("the last digit is rounded differently".to_owned());
    assert_eq!(found, [("3.vm", digits), ("4.vm", None)]);
    let error = site.replay(&golden::path("openpbs/qstat/qstat_Bf.txt"), &Formula::parse("1").expect("a formula"));
    let message = error.expect_err("no log").to_string();
    assert!(message.contains("is not a log with values") && message.contains("log_events"), "{message}");
    assert!(site.replay(Path::new("/nonexistent"), &Formula::parse("1").expect("a formula")).is_err());
}

#[test]
fn other_lines_are_skipped() {
    let log = "\n;Formula Evaluation = 1\nJob;;Formula Evaluation = 1\nJob;1.vm;Formula Evaluation = \n\
        Nov 22 host pbs_sched[12]: x;pbs_sched;Job;1[].vm;Formula Evaluation = -nan\r\nJob;2.vm;Formula Evaluation = 3";
    let found: Vec<_> = logged_values(log.as_bytes())
        .map(|value| (value.line, value.job.into_owned(), value.digits.into_owned()))
        .collect();
    let expected = [(5, "1[].vm", "-nan"), (6, "2.vm", "3")];
    assert_eq!(found, expected.map(|(line, job, digits)| (line, job.to_owned(), digits.to_owned())));
}
