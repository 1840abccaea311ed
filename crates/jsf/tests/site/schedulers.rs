//! Which jobs the scheduler gets: a server with a second scheduler, and one with routing queues.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::command::{jsf, json as document, stderr, stdout, success};

/// `qmgr -c 'print sched'`, as it prints the default scheduler (without its name) and another one.
const PRINTED: &str = "create sched default\nset sched partition = pbs-default\n\
    set sched job_sort_formula = \"ncpus * 2\"\nset sched job_sort_formula_threshold = 1\n\
    create sched gpu\nset sched gpu partition = p1\nset sched gpu job_sort_formula = \"ncpus * 3\"\n\
    set sched gpu job_sort_formula_threshold = 100\n";
/// The same by `qmgr -c 'list sched'`, the other one first.
const LISTED: &str = "Sched gpu\n    partition = p1\n    job_sort_formula = ncpus * 3\n    \
    job_sort_formula_threshold = 100\n\nSched default\n    partition = pbs-default\n    job_sort_formula = ncpus * 2\n    \
    job_sort_formula_threshold = 1\n\n";
const QUEUES: &str = "create queue workq\nset queue workq Priority = 5\ncreate queue gpuq\nset queue gpuq partition = p1\n\
    create queue own\nset queue own partition = pbs-default\n";

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    path.display().to_string()
}

/// The queue with a job in each of its three queues, and the listing of the queues.
fn queue_and_queues(folder: &Path) -> [String; 2] {
    let job =
        |(id, queue): (&str, &str)| json!({"id": id, "queue": queue, "resources": {"ncpus": 4}});
    let jobs: Vec<Value> = [("1.vm", "workq"), ("2.vm", "gpuq"), ("3.vm", "own")]
        .map(job)
        .into();
    [
        write(folder, "jobs.json", &json!({ "jobs": jobs }).to_string()),
        write(folder, "queues.txt", QUEUES),
    ]
}

/// The formula, the threshold's effect and the ids of the jobs with a rank.
fn ranked(arguments: &[&str]) -> (String, Vec<String>, Vec<Value>, String) {
    let output = jsf(&[&["rank", "--format", "json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = document(&output);
    let jobs = found["jobs"].as_array().expect("jobs").clone();
    let ids = jobs
        .iter()
        .filter(|job| !job["rank"].is_null())
        .map(|job| job["id"].as_str().expect("an id").to_owned());
    let excluded = jobs
        .iter()
        .map(|job| job["excluded"].clone())
        .filter(|excluded| !excluded.is_null());
    (
        found["formula"].as_str().expect("a formula").to_owned(),
        ids.collect(),
        excluded.collect(),
        stderr(&output),
    )
}

#[test]
fn the_jobs_of_the_default_scheduler_are_ranked_by_its_formula() {
    let folder = tempfile::tempdir().expect("a folder");
    let [queue, queues] = queue_and_queues(folder.path());
    for (name, text) in [("printed", PRINTED), ("listed", LISTED)] {
        let server = write(folder.path(), name, text);
        for option in ["--server", "-f"] {
            let (formula, ids, excluded, messages) =
                ranked(&["--queue", &queue, "--queues", &queues, option, &server]);
            // 8 is above the threshold of the default scheduler, and below that of the other one
            assert_eq!(
                (&*formula, ids),
                ("ncpus * 2", vec!["1.vm".to_owned(), "3.vm".to_owned()]),
                "{name} {option}"
            );
            assert_eq!(excluded, [json!("partition")], "{name} {option}");
            let other =
                "the formula `ncpus * 3` is that of the scheduler `gpu`; it is not used here";
            assert!(messages.contains(other), "{messages}");
            assert!(
                messages.contains("1 job is not ranked because of the queue (first `gpuq`): the job belongs to another"),
                "{messages}"
            );
        }
    }
}

#[test]
fn a_document_of_another_scheduler_alone_gives_its_formula_only_where_it_is_given_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let [queue, queues] = queue_and_queues(folder.path());
    for text in [PRINTED, LISTED] {
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.contains("= ncpus * 2") && !line.contains("\"ncpus * 2"))
            .collect();
        let only = write(folder.path(), "only", &(lines.join("\n") + "\n"));
        let (formula, ids, _, messages) =
            ranked(&["--queue", &queue, "--queues", &queues, "-f", &only]);
        assert_eq!(
            (&*formula, ids),
            ("ncpus * 3", vec!["2.vm".to_owned()]),
            "{messages}"
        );
        assert!(
            messages.contains("it is used here, as the only one"),
            "{messages}"
        );
        let in_force = jsf(&["rank", "--queue", &queue, "--server", &only]);
        assert_eq!(in_force.status.code(), Some(2));
        let reason = "has no formula of the default scheduler, only that of `gpu`";
        assert!(stderr(&in_force).contains(reason), "{}", stderr(&in_force));
        let command = success(&jsf(&["check", "--qmgr", "--force", "-f", &only]));
        assert_eq!(
            command,
            "qmgr -c 'set sched gpu job_sort_formula=\"ncpus * 3\"'\n"
        );
    }
}

#[test]
fn the_command_that_sets_a_formula_names_the_object_that_has_it() {
    let folder = tempfile::tempdir().expect("a folder");
    // the server refuses another formula beside that of a scheduler
    let of_default = write(folder.path(), "printed", PRINTED);
    let command = |file: &str| success(&jsf(&["check", "--qmgr", "--force", "-f", file]));
    assert_eq!(
        command(&of_default),
        "qmgr -c 'set sched job_sort_formula=\"ncpus * 2\"'\n"
    );
    // the formula of the default one is a part of that of the other one, which comes first
    let listed = write(
        folder.path(),
        "listed",
        &LISTED.replace("ncpus * 3", "ncpus * 2 + 1"),
    );
    assert_eq!(
        command(&listed),
        "qmgr -c 'set sched default job_sort_formula=\"ncpus * 2\"'\n"
    );
    let of_server = write(
        folder.path(),
        "server",
        &format!("set server job_sort_formula = \"ncpus * 2\"\n{PRINTED}"),
    );
    assert_eq!(
        command(&of_server),
        "qmgr -c 'set server job_sort_formula=\"ncpus * 2\"'\n"
    );
}

#[test]
fn the_formula_of_the_server_comes_before_another_one_of_the_default_scheduler() {
    let folder = tempfile::tempdir().expect("a folder");
    let [queue, _] = queue_and_queues(folder.path());
    for text in [
        format!("{PRINTED}set server job_sort_formula = ncpus\n"),
        format!("set server job_sort_formula = ncpus\n{PRINTED}"),
    ] {
        let server = write(folder.path(), "server", &text);
        let (formula, ids, _, messages) = ranked(&["--queue", &queue, "--server", &server]);
        assert_eq!(
            (&*formula, ids.len()),
            ("ncpus", 3),
            "without the queues no partition is known"
        );
        let both =
            "has the formula `ncpus` of the server, which is used, and `ncpus * 2` of the default";
        assert!(
            messages.contains(both) && messages.contains("15226"),
            "{messages}"
        );
    }
    let same = write(
        folder.path(),
        "same",
        &format!("{PRINTED}set server job_sort_formula = \"ncpus * 2\"\n"),
    );
    assert!(
        !ranked(&["--queue", &queue, "--server", &same])
            .3
            .contains("15226")
    );
}

#[test]
fn a_partition_is_read_from_every_format_of_the_queues() {
    let folder = tempfile::tempdir().expect("a folder");
    let [queue, _] = queue_and_queues(folder.path());
    let json =
        json!({"Queue": {"workq": {"queue_type": "Execution"}, "gpuq": {"partition": "p1"}, "own": {}}}).to_string();
    let text = "Queue: workq\n    queue_type = Execution\n\nQueue: gpuq\n    partition = p1\n\nQueue: own\n    x = 1\n";
    for queues in [QUEUES, &json, text] {
        let queues = write(folder.path(), "queues", queues);
        let (_, ids, excluded, _) = ranked(&["ncpus", "--queue", &queue, "--queues", &queues]);
        assert_eq!(
            (ids, excluded),
            (
                vec!["1.vm".to_owned(), "3.vm".to_owned()],
                vec![json!("partition")]
            ),
            "{queues}"
        );
    }
}

/// Every spelling of `queue_type`, in every format of the queues.
const ROUTING_QUEUES: [&str; 4] = [
    "create queue workq\nset queue workq queue_type = Execution\ncreate queue routeq\nset queue routeq queue_type = Route\n",
    "Queue: workq\n    queue_type = Execution\n\nQueue: routeq\n    queue_type = Route\n",
    r#"{"Queue": {"workq": {"queue_type": "Execution"}, "routeq": {"queue_type": "Route"}}}"#,
    "create queue workq queue_type = e\ncreate queue routeq queue_type = r\nset queue routeq queue_type = R\n",
];

#[test]
fn jobs_in_routing_queues_are_not_considered() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = |(id, queue): (&str, &str)| json!({"id": id, "queue": queue, "resources": {"ncpus": 1, "walltime": "01:00:00"}});
    let jobs: Vec<Value> = [("1.vm", "routeq"), ("2.vm", "workq"), ("3.vm", "routeq")]
        .map(job)
        .into();
    let queue = write(
        folder.path(),
        "jobs.json",
        &json!({ "jobs": jobs }).to_string(),
    );
    for queues in ROUTING_QUEUES {
        let queues = write(folder.path(), "queues", queues);
        let site = ["--queue", &queue, "--queues", &queues];
        let command = |arguments: &[&str]| {
            document(&jsf(&[arguments, &site, &["--format", "json"]].concat()))
        };
        let (_, ids, excluded, messages) = ranked(&[&["1"][..], &site].concat());
        assert_eq!(
            (ids, excluded),
            (vec!["2.vm".to_owned()], vec![json!("routing queue"); 2]),
            "{queues}"
        );
        assert!(
            messages
                .contains("because of the queue (first `routeq`): the job is in a routing queue"),
            "{messages}"
        );
        assert_eq!(command(&["rank", "1"])["summary"]["considered"], json!(1));
        let cycle = command(&["cycle", "1", "--processors", "9", "--at", "0"]);
        assert_eq!(cycle["started"], json!(["2.vm"]));
        let reason =
            "the job is in a routing queue: the server moves it when a destination accepts it";
        for job in ["1.vm", "3.vm"] {
            assert!(
                cycle["waiting"]
                    .as_array()
                    .expect("jobs")
                    .contains(&json!({"id": job, "reason": reason})),
                "{cycle}"
            );
        }
        let explained = &command(&["explain", "1", "--job", "3.vm"])["jobs"][0];
        assert_eq!(
            (&explained["rank"], &explained["considered"]),
            (&Value::Null, &json!(1)),
            "{explained}"
        );
        let checked = jsf(&[&["check", "1/0"][..], &site].concat());
        assert!(
            String::from_utf8_lossy(&checked.stdout).contains("1 job tried"),
            "{checked:?}"
        );
        let compared = command(&["compare", "--old", "1", "--new", "ncpus"]);
        assert_eq!(
            compared["summary"]["considered"],
            json!({"old": 1, "new": 1})
        );
    }
}

/// The folder of a site with the schedulers and the queues, and a `sched_priv` of each scheduler.
fn site_of_two_schedulers(server: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    queue_and_queues(folder.path());
    fs::rename(
        folder.path().join("queues.txt"),
        folder.path().join("qstat_Qf.txt"),
    )
    .expect("a file");
    write(folder.path(), "qmgr_list_sched.txt", server);
    for (scheduler, key) in [("sched_priv", "walltime"), ("sched_priv_gpu", "ncpus")] {
        fs::create_dir(folder.path().join(scheduler)).expect("a folder");
        let config = format!("by_queue: False ALL\njob_sort_key: \"{key} HIGH\" ALL\n");
        write(&folder.path().join(scheduler), "sched_config", &config);
    }
    folder
}

#[test]
fn the_jobs_of_a_partition_are_ranked_by_the_rules_of_its_scheduler() {
    for server in [PRINTED, LISTED] {
        let folder = site_of_two_schedulers(server);
        let site = folder.path().display().to_string();
        let (formula, ids, _, messages) = ranked(&["--site", &site]);
        assert_eq!(
            (&*formula, ids),
            ("ncpus * 2", vec!["1.vm".to_owned(), "3.vm".to_owned()])
        );
        assert!(messages.contains("it is not used here"), "{messages}");
        let of_default = ranked(&["--site", &site, "--partition", "pbs-default"]);
        assert_eq!(
            (of_default.0, of_default.1.len()),
            ("ncpus * 2".to_owned(), 2)
        );
        let (formula, ids, excluded, messages) = ranked(&["--site", &site, "--partition", "p1"]);
        // 12 is not above its threshold of 100, which is not that of the default scheduler
        assert_eq!((&*formula, ids.len()), ("ncpus * 3", 0));
        assert_eq!(
            excluded,
            [json!("partition"), json!("threshold"), json!("partition")]
        );
        assert!(
            messages.contains("2 jobs are not ranked because of the queue"),
            "{messages}"
        );
        let other_formula = ["--site", &site, "--partition", "p1", "ncpus * 99"];
        assert_eq!(ranked(&other_formula).1, ["2.vm"]);
        let cycle = jsf(&[
            &[
                "cycle",
                "--processors",
                "9",
                "--at",
                "0",
                "--format",
                "json",
            ][..],
            &other_formula,
        ]
        .concat());
        let cycle = document(&cycle);
        assert_eq!(cycle["started"], json!(["2.vm"]));
        assert!(
            cycle["rules"]["order"]
                .as_str()
                .expect("words")
                .contains("job_sort_key ncpus HIGH"),
            "{cycle}"
        );
        let command = stdout(&jsf(&[
            "check",
            "--qmgr",
            "--force",
            "--site",
            &site,
            "--partition",
            "p1",
        ]));
        assert_eq!(
            command.lines().next(),
            Some("qmgr -c 'set sched gpu job_sort_formula=\"ncpus * 3\"'")
        );
    }
}

#[test]
fn a_scheduler_without_a_formula_or_a_folder_has_not_that_of_the_default_one() {
    let without = LISTED.replace(
        "    job_sort_formula = ncpus * 3\n",
        "    sched_priv = /var/spool/pbs/sched_priv_of_gpus\n",
    );
    let folder = site_of_two_schedulers(&without);
    let site = folder.path().display().to_string();
    let arguments = ["--site", &site, "--partition", "p1"];
    let output = jsf(&[&["rank"][..], &arguments].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let messages = ranked(&[&["ncpus * 99"][..], &arguments].concat()).3;
    assert!(
        messages.contains("the site has no `sched_priv` of the scheduler with the partition `p1`"),
        "{messages}"
    );
    let renamed = folder.path().join("sched_priv_of_gpus");
    fs::rename(folder.path().join("sched_priv_gpu"), renamed).expect("a folder");
    let messages = ranked(&[&["ncpus * 99"][..], &arguments].concat()).3;
    assert!(!messages.contains("no `sched_priv`"), "{messages}");
    let unknown = jsf(&["rank", "ncpus", "--site", &site, "--partition", "p2"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("no queue has the partition `p2`"),
        "{}",
        stderr(&unknown)
    );
}
