//! The inputs of each job, compared with what a real scheduler passed to Python.

use std::collections::BTreeMap;

use job_sort_formula::jobs::{Exclusion, JobProblem, JobTable};
use job_sort_formula::{Schema, Value};
use jsf_ingest::{ParsedJobs, ReadOptions, read_jobs};
use jsf_openpbs::amounts::logged;
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::{FairshareEntity, Objects, Queues};
use jsf_testing::golden;
use jsf_testing::recorded::{self, RecordedSite};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Recorded {
    job: String,
    entity: String,
    invalid: Option<String>,
    scheduler_inputs: Option<BTreeMap<String, String>>,
    qstat: Option<Box<RawValue>>,
}

fn read_all(bytes: &[u8], needed: &[&str]) -> ParsedJobs {
    RecordedSite::open().read_jobs(bytes, needed)
}

/// The recorded names that do not come from the fair-share tree.
fn needed(jobs: &[Recorded]) -> Vec<&str> {
    let inputs = jobs
        .iter()
        .find_map(|job| job.scheduler_inputs.as_ref())
        .unwrap();
    inputs
        .keys()
        .map(String::as_str)
        .filter(|name| !name.starts_with("fair"))
        .collect()
}

/// A value as Python's `repr` spells it, as far as inputs go.
fn repr(value: &Value) -> String {
    match value {
        Value::Int(i) => i.to_string(),
        Value::Big(big) => big.to_string(),
        Value::Float(x) => format!("{x:?}"),
        other => format!("{other:?}"),
    }
}

/// Every job's inputs in `table` that differ from the recorded ones.
fn differences(table: &JobTable, jobs: &[Recorded]) -> Vec<(String, String, String, String)> {
    let mut differences = Vec::new();
    for job in jobs {
        let row = table
            .row(&job.job)
            .unwrap_or_else(|| panic!("{} is missing", job.job));
        assert_eq!(table.entity(row), job.entity, "{}", job.job);
        assert_eq!(
            table.exclusion(row).is_some(),
            job.invalid.is_some(),
            "{}",
            job.job
        );
        let Some(inputs) = &job.scheduler_inputs else {
            continue;
        };
        for (name, column) in table.columns() {
            let (seen, recorded) = (repr(&column.value(row)), &inputs[name]);
            if seen != *recorded {
                differences.push((job.job.clone(), name.to_owned(), seen, recorded.clone()));
            }
        }
    }
    differences
}

/// The one amount of which qstat's JSON had cut off the end: 9007199254740992 is printed there as
/// `9.00719925474099e+15`.
fn cut_by_qstat(job: &str, name: &str) -> bool {
    (job, name) == ("24.vm", "r_long")
}

#[test]
fn the_queue_as_qstat_prints_it() {
    let jobs: Vec<Recorded> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let read = read_all(
        golden::text("openpbs/qstat/qstat_f.json").as_bytes(),
        &needed(&jobs),
    );
    assert_eq!(read.table.len(), 59);
    for (job, name, seen, recorded) in differences(&read.table, &jobs) {
        let a_second_later =
            ["4.vm", "5.vm"].contains(&&*job) && name == "eligible_time" && seen == "38";
        assert!(
            a_second_later || cut_by_qstat(&job, &name),
            "{job} {name}: {seen}, recorded {recorded}"
        );
    }
    let problems: Vec<_> = read
        .problems
        .listed()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(
        problems[0].contains("24.vm") && problems[0].contains("9.00719925474099e+15"),
        "{problems:#?}"
    );
}

#[test]
fn the_jobs_that_the_scheduler_ignores() {
    let read = read_all(golden::text("openpbs/qstat/qstat_f.json").as_bytes(), &[]);
    let exclusion: Vec<_> = (0..read.table.len())
        .filter_map(|row| Some((read.table.id(row), read.table.exclusion(row)?)))
        .collect();
    let invalid = |resource: &str, found: &str| Exclusion::Invalid {
        resource: resource.into(),
        found: found.into(),
    };
    assert_eq!(
        exclusion,
        [
            ("17.vm", &invalid("mem", "3pb")),
            ("28.vm", &invalid("r_float", "inf")),
            ("33.vm", &invalid("r_float", "inf")),
            ("34.vm", &invalid("r_float", "nan")),
        ]
    );
    let considered = (0..59).filter(|&row| read.table.is_considered(row)).count();
    assert_eq!(considered, 53);
}

/// Text and dsv have every digit, so nothing is lost there.
#[test]
fn the_queue_as_text_and_dsv() {
    let jobs: Vec<Recorded> = golden::lines("openpbs/evaluate/jobs.jsonl");
    for name in [
        "openpbs/qstat/qstat_f.txt",
        "openpbs/qstat/qstat_f_w.txt",
        "openpbs/qstat/qstat_f.dsv",
    ] {
        let read = read_all(golden::text(name).as_bytes(), &needed(&jobs));
        assert_eq!((read.table.len(), read.problems.total()), (59, 0), "{name}");
        let scheduled = jobs
            .iter()
            .filter(|job| job.scheduler_inputs.is_some())
            .count();
        assert_eq!(
            scheduled * read.table.columns().count(),
            55 * 60,
            "{name}: inputs compared"
        );
        for (job, attribute, seen, recorded) in differences(&read.table, &jobs) {
            let is_listed_later =
                ["4.vm", "5.vm"].contains(&&*job) && attribute == "eligible_time" && seen == "38";
            assert!(
                is_listed_later,
                "{name} {job} {attribute}: {seen}, recorded {recorded}"
            );
        }
    }
}

/// A qstat document of the recorded objects.
fn document(jobs: &[Recorded]) -> String {
    let jobs: Vec<String> = jobs
        .iter()
        .filter_map(|job| {
            Some(format!(
                "{}:{}",
                serde_json::to_string(&job.job).unwrap(),
                job.qstat.as_ref()?.get()
            ))
        })
        .collect();
    format!(
        "{{\"pbs_version\":\"23.06.06\",\"Jobs\":{{{}}}}}",
        jobs.join(",")
    )
}

#[test]
fn the_recorded_objects() {
    let jobs: Vec<Recorded> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let read = read_all(document(&jobs).as_bytes(), &needed(&jobs));
    for (job, name, seen, recorded) in differences(&read.table, &jobs) {
        assert!(
            cut_by_qstat(&job, &name),
            "{job} {name}: {seen}, recorded {recorded}"
        );
    }
}

#[test]
fn the_big_queue() {
    let jobs: Vec<Recorded> = golden::lines("openpbs/bulk/jobs.jsonl.gz");
    assert_eq!(jobs.len(), 2559);
    let read = read_all(document(&jobs).as_bytes(), &needed(&jobs));
    assert_eq!(read.table.len(), 2559);
    for (job, name, seen, recorded) in differences(&read.table, &jobs) {
        assert!(
            cut_by_qstat(&job, &name),
            "{job} {name}: {seen}, recorded {recorded}"
        );
    }
}

#[derive(Deserialize)]
struct Requested {
    phase: String,
    resource: Option<String>,
    requested: Option<String>,
    qstat_json: Option<Box<RawValue>>,
    qstat_text: Option<String>,
    scheduler_input: Option<String>,
    qsub_rc: Option<i32>,
}

fn requested() -> Vec<Requested> {
    golden::lines::<Requested>("openpbs/evaluate/extra.jsonl")
        .into_iter()
        .filter(|record| record.phase == "E_resource_values")
        .collect()
}

/// What the formula sees of one resource of the first job, or `None` when the job is ignored.
fn seen(document: &str, resource: &str) -> Option<String> {
    let read = read_all(document.as_bytes(), &[resource]);
    read.table
        .exclusion(0)
        .is_none()
        .then(|| repr(&read.table.columns().next().unwrap().1.value(0)))
}

/// Each file of the recorded queue with the amount of the first job: how it writes the amount of
/// `ncpus`, and the field of the record that has the amount as it writes it.
#[test]
fn unusual_amounts_as_qstat_prints_them() {
    let mut counts = BTreeMap::new();
    for (name, ncpus, is_json) in [
        ("qstat_f.json", "\"ncpus\":\t1,", true),
        ("qstat_f.txt", "    Resource_List.ncpus = 1\n", false),
        ("qstat_f_w.txt", "    Resource_List.ncpus = 1\n", false),
        ("qstat_f.dsv", "|Resource_List.ncpus=1|", false),
    ] {
        let file = golden::text(&format!("openpbs/qstat/{name}"));
        assert!(file.contains(ncpus), "{name}");
        for record in requested()
            .iter()
            .filter(|record| record.qsub_rc == Some(0))
        {
            let resource = record.resource.as_deref().unwrap();
            let amount = match (is_json, &record.qstat_json, &record.qstat_text) {
                (true, Some(json), _) => json.get(),
                (false, _, Some(text)) => text,
                _ => "",
            };
            let others = if resource == "ncpus" { "" } else { ncpus };
            let line = ncpus.replace("ncpus", resource).replace('1', amount);
            let line = if amount.is_empty() { "" } else { &*line };
            let document = file.replacen(ncpus, &format!("{others}{line}").replace("||", "|"), 1);
            assert_eq!(
                seen(&document, resource),
                record.scheduler_input,
                "{name} {resource} {amount}"
            );
            *counts.entry(name).or_insert(0) += 1;
        }
    }
    assert!(
        counts.len() == 4 && counts.values().all(|&count| count == 43),
        "{counts:?}"
    );
}

/// The same amounts as a person would write them: qsub's argument goes straight to the formula.
#[test]
fn unusual_amounts_as_requested() {
    for record in requested()
        .iter()
        .filter(|record| record.qsub_rc == Some(0))
    {
        let (resource, requested) = (
            record.resource.as_deref().unwrap(),
            record.requested.as_deref().unwrap(),
        );
        if requested.is_empty()
            || requested == "0x10"
            || resource.starts_with("r_long") && requested == "010"
        {
            continue;
        }
        let document = format!(r#"{{"id":"1","resources":{{"{resource}":"{requested}"}}}}"#);
        assert_eq!(
            seen(&document, resource),
            record.scheduler_input,
            "{resource} {requested}"
        );
    }
}

#[test]
fn the_digits_that_are_logged() {
    let mut compared = 0;
    for name in [
        "openpbs/evaluate/evaluate.jsonl.gz",
        "openpbs/bulk/evaluate.jsonl.gz",
    ] {
        for record in golden::lines::<serde_json::Value>(name) {
            let (Some(values), Some(exact)) =
                (record["values"].as_object(), record["exact"].as_object())
            else {
                continue;
            };
            for (job, value) in values {
                let text = exact.get(job).and_then(|text| text.as_str()).unwrap_or("");
                if text.is_empty() || !record["errors"][job].is_null() {
                    continue;
                }
                // What is no number in Python, or has another sign than it prints, is not told by
                // its text.
                let Ok(exact) = text.parse::<f64>() else {
                    continue;
                };
                if exact.is_nan() || (value == "-1" && exact != -1.0) {
                    continue;
                }
                assert_eq!(logged(exact), *value, "{} {job} {text}", record["formula"]);
                compared += 1;
            }
        }
    }
    assert!(compared > 17_500, "{compared}");
}

#[test]
fn waiting_subjobs_are_excluded() {
    let read = read_all(
        golden::text("openpbs/qstat/qstat_f_t.json").as_bytes(),
        &["mem"],
    );
    let table = &read.table;
    let row = table.row("50[].vm").unwrap();
    assert!(table.is_considered(row) && table.column("mem").unwrap().is_set(row));
    for index in 0..4 {
        assert_eq!(
            table.exclusion(table.row(&format!("50[{index}].vm")).unwrap()),
            Some(&Exclusion::Subjob)
        );
    }
}

#[test]
fn documents_of_other_kinds() {
    let schema = Schema::openpbs();
    let options = ReadOptions {
        source_name: "q.json",
        entity: FairshareEntity::Account,
        ..ReadOptions::new(&schema, &[])
    };
    let error = |name| {
        read_jobs(golden::text(name).as_bytes(), &options)
            .unwrap_err()
            .to_string()
    };
    assert!(
        error("openpbs/qstat/qstat_Bf.json")
            .contains("describes a server, as `qstat -Bf` prints it")
    );
    assert!(error("openpbs/qstat/qstat_Qf.json").contains("describes queues"));
    assert!(error("openpbs/qstat/qstat_short.json").starts_with("`q.json` is empty"));
    assert!(
        error("openpbs/qstat/resourcedef").contains("is a `resourcedef`, which declares resources")
    );
    let read = read_jobs(
        golden::text("openpbs/qstat/qstat_f_three_ids.json").as_bytes(),
        &options,
    )
    .unwrap();
    assert_eq!((read.table.len(), read.table.entity(0)), (1, "Bob"));
}

#[test]
fn every_form_of_the_queues_gives_the_same() {
    let read = |name| Queues::read(name, &Objects::read(&golden::text(name))).unwrap();
    let expected = [
        ("alcf", Some(10)),
        ("express", Some(200)),
        ("high", Some(100)),
        ("low", Some(-50)),
        ("workq", None),
    ];
    for name in [
        "openpbs/qstat/qstat_Qf.json",
        "openpbs/qstat/qstat_Qf.txt",
        "openpbs/qstat/qmgr_print_server.txt",
    ] {
        assert_eq!(read(name).iter().collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn every_form_of_the_resources_gives_the_same() {
    let read = |name: &str| {
        let mut schema = Schema::openpbs();
        let text = golden::text(name);
        let objects = if name.ends_with("resourcedef") {
            Objects::read_resourcedef(&text)
        } else {
            Objects::read(&text)
        };
        assert_eq!(add_resources(name, &objects, &mut schema), [""; 0]);
        schema
            .iter()
            .map(|(name, entry)| (name.to_owned(), *entry))
            .collect::<Vec<_>>()
    };
    let expected = read("openpbs/qstat/resourcedef");
    assert_eq!(expected.len(), Schema::openpbs().len() + 35);
    for name in [
        "openpbs/qstat/qmgr_print_server.txt",
        "openpbs/qstat/qmgr_print_resource.txt",
        "openpbs/qstat/qmgr_list_resource.txt",
    ] {
        assert_eq!(read(name), expected, "{name}");
    }
}

/// Names alone as formulas: what the server answers is what the schema says.
#[test]
fn the_schema_knows_what_the_server_knows() {
    let schema = recorded::schema();
    for record in golden::lines::<serde_json::Value>("openpbs/validate.jsonl") {
        let name = record["formula"].as_str().unwrap();
        match record["code"].as_i64() {
            Some(15125) if !name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') => {
                assert!(
                    schema
                        .entry(name)
                        .is_some_and(|entry| !entry.input_type.is_numeric()),
                    "{name}"
                );
            }
            Some(15124) => assert!(!schema.is_numeric(name) || name.contains('-'), "{name}"),
            _ => {}
        }
    }
    let jobs: Vec<Recorded> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let inputs = jobs[0].scheduler_inputs.as_ref().unwrap();
    let numeric: Vec<&str> = schema
        .iter()
        .filter(|(_, entry)| entry.input_type.is_numeric())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        numeric,
        inputs.keys().map(String::as_str).collect::<Vec<_>>()
    );
}

/// JSON, text, wrapped text and dsv of one queue give the same table.
#[test]
fn every_form_of_qstat_gives_the_same_table() {
    let jobs: Vec<Recorded> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let mut needed = needed(&jobs);
    // qstat ran a second later for each document
    needed.retain(|name| *name != "eligible_time");
    let contents = |name: &str| {
        let read = read_all(
            golden::text(&format!("openpbs/qstat/{name}")).as_bytes(),
            &needed,
        );
        let is_json = name.ends_with("json");
        let rounded =
            |found: &JobProblem| is_json && found.to_string().contains("has rounded to 15 digits");
        assert!(
            read.problems.listed().iter().all(rounded) && read.notes.is_empty(),
            "{name}"
        );
        let table = read.table;
        let row = |row: usize| {
            let values: Vec<String> = table
                .columns()
                .map(|(name, column)| format!("{name}={}", column.value(row).repr()))
                .collect();
            let (id, entity, queue) = (table.id(row), table.entity(row), table.queue(row));
            format!(
                "{id} {entity} {queue} {:?} {:?} {:?} {values:?}",
                table.state(row),
                table.submit_order(row),
                table.exclusion(row)
            )
        };
        (0..table.len()).map(row).collect::<Vec<String>>()
    };
    let json = contents("qstat_f.json");
    assert_eq!(json.len(), 59);
    for name in ["qstat_f.txt", "qstat_f_w.txt", "qstat_f.dsv"] {
        for (json, other) in json.iter().zip(contents(name)) {
            // the JSON of qstat has 15 digits
            assert_eq!(
                json.replace("=9007199254740990\"", "=9007199254740992\""),
                other,
                "{name}"
            );
        }
    }
}

/// The text as it is quoted in a mail or copied from a terminal.
#[test]
fn text_at_any_indentation_and_behind_prompts() {
    let text = golden::text("openpbs/qstat/qstat_f.txt");
    let rows = |text: &str| {
        let read = read_all(
            text.as_bytes(),
            &["ncpus", "mem", "walltime", "eligible_time"],
        );
        assert_eq!(read.problems.total(), 0);
        let table = read.table;
        let value = |name: &str, row| table.column(name).unwrap().value(row).repr();
        (0..table.len())
            .map(|row| {
                format!(
                    "{} {} {}",
                    table.id(row),
                    table.entity(row),
                    value("mem", row)
                )
            })
            .collect::<Vec<_>>()
    };
    let expected = rows(&text);
    assert_eq!(expected.len(), 59);
    let indented: String = text.lines().map(|line| format!("  {line}\n")).collect();
    let prompted = format!(
        "user@login:~> qstat -f\n{}\n----------\nuser@login:~> \n",
        text.replace("\n\n", "\n\n-----\n")
    );
    let spaces = text.replace('\t', "        ");
    for (changed, what) in [
        (indented, "indented"),
        (prompted, "prompted"),
        (spaces, "without tabs"),
    ] {
        assert_eq!(rows(&changed), expected, "{what}");
    }
}

/// Torque prints states that OpenPBS does not have.
#[test]
fn states_of_torque() {
    let job = |id: u32, state: &str| {
        format!(
            "Job Id: {id}.vm\n    Job_Name = a\n    Job_Owner = bob@login\n    job_state = {state}\n    Resource_List.nodes = 1:ppn=4\n\n"
        )
    };
    let read = read_all(
        (job(1, "C") + &job(2, "Q") + &job(3, "Z")).as_bytes(),
        &["ncpus"],
    );
    let considered: Vec<bool> = (0..3).map(|row| read.table.is_considered(row)).collect();
    assert_eq!(considered, [false, true, false]);
    let problems: Vec<String> = read
        .problems
        .listed()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("`job_state` is the string \"Z\""),
        "{problems:?}"
    );
}

/// The processors of a job of Torque are in its `nodes`; OpenPBS has both, and its `ncpus` counts.
#[test]
fn processors_of_torque() {
    let job = |id: u32, resources: &str| {
        format!(
            "Job Id: {id}.vm\n    Job_Name = a\n    euser = bob\n    job_state = Q\n{resources}\n\n"
        )
    };
    let nodes =
        |nodes: &str| format!("    Resource_List.nodect = 2\n    Resource_List.nodes = {nodes}");
    let torque =
        job(1, &nodes("4:ppn=8:big")) + &job(2, &nodes("a+b:ppn=2")) + &job(3, &nodes("1:ppn=x"));
    let openpbs = job(
        4,
        &format!("    Resource_List.ncpus = 6\n{}", nodes("4:ppn=8")),
    );
    let read = read_all((torque + &openpbs).as_bytes(), &["ncpus"]);
    let ncpus = read.table.column("ncpus").expect("a column");
    assert_eq!(
        (0..4)
            .map(|row| ncpus.nearest_double(row))
            .collect::<Vec<_>>(),
        [32.0, 3.0, 0.0, 6.0]
    );
    assert_eq!(
        read.notes,
        ["jobs without `ncpus` have that of `nodes`: the nodes times `ppn`"]
    );
    let other = read_all(job(1, &nodes("4:ppn=8")).as_bytes(), &["mem"]);
    assert!(other.notes.is_empty(), "the formula does not need it");
}

#[test]
fn dsv_need_not_have_the_name_of_a_job() {
    let schema = Schema::openpbs();
    let options = ReadOptions::new(&schema, &["ncpus"]);
    for document in [
        "Job Id: 1.vm|queue=a|Resource_List.ncpus=4\n",
        "Job Id: 1.vm;;queue=a;;Job_Name=b;;Resource_List.ncpus=4\n",
    ] {
        let read = read_jobs(document.as_bytes(), &options).expect(document);
        assert_eq!(
            (read.table.id(0), read.table.queue(0)),
            ("1.vm", "a"),
            "{document}"
        );
        assert_eq!(
            read.table
                .column("ncpus")
                .expect("a column")
                .nearest_double(0),
            4.0,
            "{document}"
        );
    }
}
