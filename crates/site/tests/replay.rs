//! Scheduler's logs, made of the recorded values, against the recorded queue.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use job_sort_formula::Formula;
use job_sort_formula::fairshare::NodeId;
use job_sort_formula::fairshare::decay::IntervalDecay;
use jsf_openpbs::amounts::logged;
use jsf_openpbs::log_comparison::{
    CauseKind, Difference, NotCaptured, Replay, formulas_set, logged_values,
};
use jsf_openpbs::pbs_tree::MIN_USAGE;
use jsf_openpbs::{NumberMode, PbsTree, SchedConfig};
use jsf_site::{FileSource, FormulaText, Role, Site, SiteError, SiteFiles, SiteOptions};
use jsf_testing::golden;
use jsf_testing::recorded::{self, Record};

/// A queue and a log in a folder, beside the other files of the recorded site.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    fn site(&self, queue: &str, change: impl FnOnce(SiteFiles) -> SiteFiles) -> Site {
        let golden = |name: &str| FileSource::from(golden::path("openpbs/qstat").join(name));
        let files = SiteFiles::default()
            .with(Role::Queue, self.put("qstat.json", queue))
            .with(Role::ResourceGroup, golden("resource_group"))
            .with(Role::Usage, golden("usage"))
            .with(Role::SchedConfig, golden("sched_config"))
            .with(Role::Queues, golden("qstat_Qf.json"))
            .with(Role::Resources, golden("resourcedef"));
        Site::from_files(change(files), SiteOptions::default()).expect("a site")
    }

    fn replay(&self, site: &Site, record: &Record) -> Replay {
        let log = self.put("sched.log", &log(record));
        let formula = Formula::parse(&record.formula).expect("a formula");
        site.replay(&log, &formula)
            .unwrap_or_else(|error| panic!("{}: {error}", record.formula))
            .replay
    }
}

/// The recorded queue at the time of the evaluation, one second before it was listed.
fn queue() -> String {
    let queue = golden::text("openpbs/qstat/qstat_f.json").replace("\"00:00:38\"", "\"00:00:37\"");
    // qstat prints a double where the scheduler had all digits
    queue.replace("9.00719925474099e+15", "9007199254740993")
}

fn log(record: &Record) -> String {
    let mut log =
        String::from("11/22/2026 04:17:58;0080;pbs_sched;Req;;Starting Scheduling Cycle\n");
    for (job, value) in &record.values {
        let _ = writeln!(
            log,
            "11/22/2026 04:17:59.000001;0400;pbs_sched;Job;{job};Formula Evaluation = {value}"
        );
        let _ = writeln!(
            log,
            "11/22/2026 04:17:59.000001;0400;pbs_sched;Job;{job};Considering job to run"
        );
    }
    log
}

fn records() -> Vec<Record> {
    golden::lines("openpbs/evaluate/evaluate.jsonl.gz")
}

fn record(formula: &str) -> Record {
    records()
        .into_iter()
        .find(|record| record.formula == formula)
        .expect("recorded")
}

fn why(different: &Difference) -> String {
    different
        .why
        .clone()
        .unwrap_or_else(|| panic!("nothing explains {different:?}"))
}

#[test]
fn every_recorded_value_is_equal() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    let (mut formulas, mut values) = (0, 0);
    // a formula that breaks the scheduler's script leaves the values of the previous one
    let is_stale = |record: &Record| record.values.values().any(|value| value == "-12345.0625");
    for record in records()
        .iter()
        .filter(|record| record.sched_crashed.is_empty() && !is_stale(record))
    {
        let Ok(text) = FormulaText::new(&record.formula) else {
            panic!("{}", record.formula)
        };
        let submitted = text.submitted(NumberMode::OpenPbs);
        let Ok(formula) = submitted.formula() else {
            continue;
        };
        let log = folder.put("sched.log", &log(record));
        let replay = match site.replay(&log, formula) {
            Err(SiteError::NotArithmetic) => continue,
            replay => {
                replay
                    .unwrap_or_else(|error| panic!("{}: {error}", record.formula))
                    .replay
            }
        };
        let all = Replay {
            lines: record.values.len(),
            equal: record.values.len(),
            ..Replay::default()
        };
        assert_eq!(replay, all, "{}", record.formula);
        (formulas, values) = (formulas + 1, values + replay.equal);
    }
    assert!(
        formulas > 150 && values > 8000,
        "{formulas} formulas, {values} values"
    );
}

#[test]
fn a_later_cycle_is_found() {
    let folder = Folder::new();
    let site = folder.site(&queue().replace("\"00:00:37\"", "\"00:00:34\""), |files| {
        files
    });
    for formula in [
        "eligible_time",
        "10 * ncpus + 0.01*walltime + 0.5*eligible_time",
    ] {
        let replay = folder.replay(&site, &record(formula));
        assert_eq!(
            (
                replay.equal + replay.different.len(),
                replay.different.len(),
                replay.unexplained
            ),
            (55, 47, 0)
        );
        for different in &replay.different {
            assert_eq!(different.explanations[0].seconds, Some(3), "{different:?}");
            assert!(
                why(different).starts_with("eligible_time is 3 s later"),
                "{different:?}"
            );
        }
    }
}

#[test]
fn another_amount_is_explained_by_nothing() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    for formula in ["walltime", "mem / 1024 / 1024", "r_float * 2"] {
        let mut recorded = record(formula);
        let mut amounts = recorded.values.iter().filter(|(_, value)| *value != "0");
        let (job, value) = amounts.next().expect("a job");
        let (_, other) = amounts
            .find(|(_, other)| *other != value)
            .expect("another amount");
        let (job, other) = (job.clone(), other.clone());
        recorded.values.insert(job.clone(), other);
        let replay = folder.replay(&site, &recorded);
        assert_eq!(
            (replay.different.len(), replay.unexplained),
            (1, 1),
            "{formula}"
        );
        assert_eq!(
            (&replay.different[0].job, &replay.different[0].explanations),
            (&job, &vec![]),
            "{formula}"
        );
        assert_eq!(replay.causes[0].kind, CauseKind::Nothing);
    }
}

/// The usage file of a tree whose usage is changed, as the daemon writes it: entities with the
/// least usage are not in it.
fn usage_file(tree: &PbsTree, change: impl Fn(f64) -> f64) -> Vec<u8> {
    let is_entity = |&node: &NodeId| tree.tree().children(node).is_empty() && node != tree.unknown;
    let entities = tree.tree().nodes().filter(is_entity);
    let records = entities.map(|node| (tree.tree().name(node), change(tree.tree().usage(node))));
    jsf_testing::recorded::encode_usage_file(0, records.filter(|&(_, usage)| usage != MIN_USAGE))
}

#[test]
fn decayed_usage_is_found() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    let config = SchedConfig::parse(&golden::bytes("openpbs/qstat/sched_config"));
    let decay = IntervalDecay::new(config.fairshare_decay_factor, config.fairshare_decay_time);
    let tree = recorded::tree("openpbs/qstat", "usage", &config, []);
    let usage = folder.folder.path().join("usage");
    fs::write(
        &usage,
        usage_file(&tree, |usage| decay.step(decay.step(usage))),
    )
    .expect("written");
    let later = folder.site(&queue(), |files| files.with(Role::Usage, usage));
    // all six digits of the input reach the log, so one number of decays explains all of them
    let formula = Formula::parse("1000000 * fairshare_tree_usage").expect("a formula");
    let ranked = later.rank(&formula).expect("ranked");
    let mut log = String::new();
    for (row, score) in ranked.ranking.scores().iter() {
        let _ = writeln!(
            log,
            "pbs_sched;Job;{};Formula Evaluation = {}",
            ranked.table.id(row),
            logged(score.value)
        );
    }
    let replay = site
        .replay(folder.put("sched.log", &log), &formula)
        .expect("replayed")
        .replay;
    assert!(replay.different.len() > 10, "{}", replay.different.len());
    for different in &replay.different {
        assert_eq!(
            different.explanations[0].kind,
            CauseKind::Decayed(2),
            "{different:?}"
        );
    }
}

#[test]
fn without_usage_nothing_is_verified() {
    let folder = Folder::new();
    let without = folder.site(&queue(), |files| files.without(Role::Usage));
    let replay = folder.replay(&without, &record("fairshare_factor"));
    assert!(
        replay.different.len() > 10 && replay.unexplained == replay.different.len(),
        "{replay:?}"
    );
    let kinds: Vec<_> = replay
        .causes
        .iter()
        .map(|cause| (&cause.kind, cause.lines))
        .collect();
    assert_eq!(
        kinds,
        [(
            &CauseKind::NotCaptured(NotCaptured::Usage),
            replay.unexplained
        )]
    );
    let remark = replay.different[0].remark.as_deref();
    assert_eq!(
        remark,
        Some("not verified, because the site has no file `usage`")
    );
}

#[test]
fn a_broken_number_is_shown_with_what_was_expected() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    for digits in [
        "0.0o67", "1e5", "0,1234", "-", "abc", "0.12 34", "1.2.3", "5.", ".5", "-é", "é",
    ] {
        let mut recorded = record("fairshare_factor");
        recorded.values.insert("0.vm".to_owned(), digits.to_owned());
        let replay = folder.replay(&site, &recorded);
        assert_eq!(
            (replay.different.len(), replay.unexplained),
            (1, 1),
            "{digits}"
        );
        let remark = replay.different[0].remark.as_deref().unwrap_or_default();
        let expected = format!("expected a decimal number such as 0.8843, found `{digits}`");
        assert_eq!(remark, expected);
    }
}

#[test]
fn without_declarations_the_jobs_show_which_amounts_there_are() {
    let folder = Folder::new();
    let undeclared = folder.site(&queue(), |files| files.without(Role::Resources));
    assert_eq!(
        folder
            .replay(&undeclared, &record("r_long + 0.5"))
            .different,
        []
    );
}

#[test]
fn what_nothing_explains_is_counted() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    let mut recorded = record("2/3*100");
    recorded
        .values
        .insert("3.vm".to_owned(), "66.6666".to_owned());
    recorded.values.insert("4.vm".to_owned(), "12".to_owned());
    recorded.values.insert("999.vm".to_owned(), "12".to_owned());
    let replay = folder.replay(&site, &recorded);
    assert_eq!(
        (
            replay.lines,
            replay.equal,
            replay.unknown_jobs,
            replay.unexplained
        ),
        (56, 53, 1, 2)
    );
    let found: Vec<_> = replay
        .different
        .iter()
        .map(|different| (&*different.job, different.why.clone()))
        .collect();
    assert_eq!(found, [("3.vm", None), ("4.vm", None)]);
    let error = site.replay(
        golden::path("openpbs/qstat/qstat_Bf.txt"),
        &Formula::parse("1").expect("a formula"),
    );
    let message = error.expect_err("no log").to_string();
    assert!(
        message.contains("is not a log with values") && message.contains("log_events"),
        "{message}"
    );
    assert!(
        site.replay(
            Path::new("/nonexistent"),
            &Formula::parse("1").expect("a formula")
        )
        .is_err()
    );
}

#[test]
fn other_lines_are_skipped() {
    let log = "\n;Formula Evaluation = 1\nJob;;Formula Evaluation = 1\nJob;1.vm;Formula Evaluation = \n\
        Nov 22 host pbs_sched[12]: x;pbs_sched;Job;1[].vm;Formula Evaluation = -nan\r\nJob;2.vm;Formula Evaluation = 3";
    let found: Vec<_> = logged_values(log.as_bytes())
        .map(|value| {
            (
                value.line,
                value.job.into_owned(),
                value.digits.into_owned(),
            )
        })
        .collect();
    let expected = [(5, "1[].vm", "-nan"), (6, "2.vm", "3")];
    assert_eq!(
        found,
        expected.map(|(line, job, digits)| (line, job.to_owned(), digits.to_owned()))
    );
}

#[test]
fn the_moment_of_a_cycle_is_that_of_most_of_its_lines() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    let formula = Formula::parse("eligible_time + 1000").expect("a formula");
    let ranked = site.rank(&formula).expect("ranked");
    let scores: Vec<(&str, f64)> = ranked
        .ranking
        .scores()
        .iter()
        .map(|(row, score)| (ranked.table.id(row), score.value))
        .collect();
    let log_of = |change: &dyn Fn(usize) -> f64| {
        let lines = scores.iter().enumerate().map(|(index, (job, value))| {
            format!(
                "pbs_sched;Job;{job};Formula Evaluation = {}\n",
                logged(value + change(index))
            )
        });
        lines.collect::<String>()
    };
    let causes = |log: &str| {
        let replay = site
            .replay(folder.put("sched.log", log), &formula)
            .expect("replayed")
            .replay;
        let causes: Vec<_> = replay
            .causes
            .iter()
            .map(|cause| (cause.kind.clone(), cause.lines, cause.seconds))
            .collect();
        (causes, replay.unexplained)
    };
    let all = scores.len();
    assert_eq!(
        causes(&log_of(&|_| 7440.0)),
        (vec![(CauseKind::EligibleTime, all, Some((7440, 7440)))], 0)
    );
    // two jobs were not eligible all the time
    let some = log_of(&|index| if index < 2 { 100.0 } else { 7440.0 });
    let most = (CauseKind::EligibleTime, all - 2, Some((7440, 7440)));
    assert_eq!(
        causes(&some),
        (vec![most, (CauseKind::Nothing, 2, None)], 2)
    );
    // the server computes the times of a cycle's jobs one after the other
    let (found, unexplained) = causes(&log_of(&|index| {
        if index % 3 == 0 { 7441.0 } else { 7440.0 }
    }));
    assert_eq!((found.len(), unexplained), (1, 0), "{found:?}");
    // every line would need a moment of its own
    assert_eq!(
        causes(&log_of(&|index| (index + 1) as f64 * 100.0)),
        (vec![(CauseKind::Nothing, all, None)], all)
    );
    // one line has another moment than the others
    let one = log_of(&|index| if index == 3 { 9000.0 } else { 7440.0 });
    assert_eq!(causes(&one).1, 1);
}

/// The first 30 lines leave the moment open by some seconds, the last ones do not.
#[test]
fn the_moment_of_a_cycle_is_that_of_the_lines_whose_digits_tell_seconds_apart() {
    let folder = Folder::new();
    let factor = |job: usize| if job <= 30 { 0.00001 } else { 10.0 };
    let job = |job: usize| {
        format!(
            r#"{{"id":"{job}.vm","entity":"Bob","eligible_time":1000,"inputs":{{"a":{}}}}}"#,
            factor(job)
        )
    };
    let jobs: Vec<String> = (1..=40).map(job).collect();
    let site = folder.site(&format!(r#"{{"jobs":[{}]}}"#, jobs.join(",")), |files| {
        files.declaring(vec![(
            "a".to_owned(),
            job_sort_formula::schema::InputType::Float,
        )])
    });
    let value = |job: usize| logged(1777.0 * factor(job));
    let line = |job: usize| {
        format!(
            "pbs_sched;Job;{job}.vm;Formula Evaluation = {}\n",
            value(job)
        )
    };
    let log: String = (1..=40).map(line).collect();
    let formula = Formula::parse("a * eligible_time").expect("a formula");
    let replay = site
        .replay(folder.put("sched.log", &log), &formula)
        .expect("replayed")
        .replay;
    let causes: Vec<_> = replay
        .causes
        .iter()
        .map(|cause| (&cause.kind, cause.lines, cause.seconds))
        .collect();
    assert_eq!(causes, [(&CauseKind::EligibleTime, 40, Some((777, 777)))]);
}

#[test]
fn each_cycle_has_its_own_moment_which_the_times_of_the_log_tell() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    let formula = Formula::parse("eligible_time + 1000").expect("a formula");
    let ranked = site.rank(&formula).expect("ranked");
    let mut log = String::new();
    for minute in 0..60 {
        let _ = writeln!(
            log,
            "11/22/2026 04:{minute:02}:00;0080;pbs_sched;Req;;Starting Scheduling Cycle"
        );
        for (row, score) in ranked.ranking.scores().iter() {
            let (job, value) = (
                ranked.table.id(row),
                score.value + 60.0 + f64::from(minute) * 60.0,
            );
            let _ = writeln!(
                log,
                "11/22/2026 04:{minute:02}:00;0400;pbs_sched;Job;{job};Formula Evaluation = {value}"
            );
        }
    }
    let replay = site
        .replay(folder.put("sched.log", &log), &formula)
        .expect("replayed")
        .replay;
    assert!(
        replay.lines > 3000 && replay.equal == 0,
        "{} lines",
        replay.lines
    );
    assert_eq!(replay.unexplained, 0);
    let [cause] = &replay.causes[..] else {
        panic!("{:?}", replay.causes)
    };
    assert_eq!(
        (&cause.kind, cause.seconds),
        (&CauseKind::EligibleTime, Some((60, 3600)))
    );
}

#[test]
fn a_formula_of_the_site_s_files_or_of_a_server_s_log_explains_the_log() {
    let folder = Folder::new();
    let recorded = record("10 * ncpus + 0.01*walltime + 0.5*eligible_time");
    let former =
        "### PBS INTERNAL FILE DO NOT MODIFY ###\n10 * ncpus + 0.01*walltime + 0.5*eligible_time\n";
    let former = folder.put("sched_formula", former);
    let with_file = folder.site(&queue(), |files| files.with(Role::SchedFormula, former));
    let without_file = folder.site(&queue(), |files| files);
    let formula = Formula::parse("ncpus / 7 + 0.3").expect("a formula");
    let set =
        "11/22/2026 03:00:00;0004;Server@vm;Svr;Server@vm;attributes set: job_sort_formula = ";
    let of_server = format!(
        "{set}mem\n{set}10 * ncpus + 0.01*walltime + 0.5*eligible_time\n{set}ncpus / 7 + 0.3\n"
    );
    assert_eq!(
        formulas_set(of_server.as_bytes()),
        ["ncpus / 7 + 0.3", &recorded.formula, "mem"]
    );
    for (site, log, origin) in [
        (&with_file, log(&recorded), "sched_formula"),
        (
            &without_file,
            of_server + &log(&recorded),
            "which a server's log line names",
        ),
    ] {
        let replay = site
            .replay(folder.put("sched.log", &log), &formula)
            .expect("replayed")
            .replay;
        let [cause] = &replay.causes[..] else {
            panic!("{:?}", replay.causes)
        };
        let CauseKind::Formula {
            origin: found,
            text,
        } = &cause.kind
        else {
            panic!("{cause:?}")
        };
        assert!(
            found.contains(origin) && *text == recorded.formula,
            "{cause:?}"
        );
        assert_eq!(
            (cause.lines, replay.unexplained),
            (recorded.values.len() - replay.equal, 0)
        );
    }
    let replay = without_file
        .replay(folder.put("sched.log", &log(&recorded)), &formula)
        .expect("replayed")
        .replay;
    assert_eq!(replay.unexplained, recorded.values.len() - replay.equal);
}

#[test]
fn damaged_lines_are_counted() {
    let folder = Folder::new();
    let site = folder.site(&queue(), |files| files);
    let log = "pbs_sched;Job;0.vm;Formula Evaluation = 1\npbs_sched;Job;1.vm;Formula Evaluation\n\
        pbs_sched;Job;;Formula Evaluation = 1\npbs_sched;Job;2.vm;Formula Eval";
    let replay = site
        .replay(
            folder.put("sched.log", log),
            &Formula::parse("1").expect("a formula"),
        )
        .expect("replayed");
    assert_eq!(
        (
            replay.replay.lines,
            replay.replay.equal,
            replay.replay.damaged
        ),
        (1, 1, 2)
    );
}

/// Inputs outside of their ranges: a usage below 1, a priority beyond OpenPBS's, a negative amount,
/// an integer that no double holds.
#[test]
fn a_replay_ends_whatever_the_inputs_are() {
    const JOBS: &str = r#"{"jobs":[{"id":"1.vm","entity":"Bob","job_priority":5000,"inputs":{"a":-7}},
        {"id":"2.vm","entity":"Tom","job_priority":-2000,"inputs":{"a":99999999999999999999999999}},
        {"id":"3.vm","entity":"Sue","inputs":{"a":-9223372036854775808}},
        {"id":"4.vm","entity":"Sue","eligible_time":-9223372036854775808,"inputs":{"a":1e300,"eligible_time":-9223372036854775808}}]}"#;
    let folder = Folder::new();
    for usage in ["0", "0.3", "1", "9e307"] {
        let tree = format!(
            r#"{{"unknown_shares":0,"children":[{{"name":"Bob","shares":50,"usage":{usage}}},{{"name":"Tom","shares":30,"usage":0.5}},{{"name":"Sue","shares":20}}]}}"#
        );
        let tree = folder.put("tree.json", &tree);
        let site = folder.site(JOBS, |files| {
            let declared = vec![("a".to_owned(), job_sort_formula::schema::InputType::Count)];
            files
                .without(Role::ResourceGroup)
                .without(Role::Usage)
                .with(Role::Tree, tree)
                .declaring(declared)
        });
        for text in [
            "fairshare_factor",
            "job_priority",
            "a",
            "a + eligible_time",
            "fairshare_tree_usage * a + job_priority",
        ] {
            let formula = Formula::parse(text).expect("a formula");
            for digits in [
                "0.1234",
                "-3",
                "123456789",
                "inf",
                "-inf",
                "nan",
                "-nan",
                "5000",
                "-9223372036854775808",
            ] {
                let lines = [1, 2, 3, 4]
                    .map(|job| format!("pbs_sched;Job;{job}.vm;Formula Evaluation = {digits}\n"));
                let log = folder.put("sched.log", &lines.concat());
                let replay = site
                    .replay(&log, &formula)
                    .unwrap_or_else(|error| panic!("{text}: {error}"))
                    .replay;
                assert_eq!(
                    (
                        replay.lines,
                        replay.unknown_jobs,
                        replay.equal + replay.differing()
                    ),
                    (4, 0, 4),
                    "{text}: {digits}"
                );
            }
        }
    }
}
