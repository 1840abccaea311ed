use job_sort_formula::schema::Schema;

use super::*;
use crate::reader::ReadOptions;
use crate::{ParsedJobs, read_jobs};

fn read_whole(document: &str) -> ParsedJobs {
    let schema = Schema::openpbs();
    let options = ReadOptions {
        cycle_jobs: true,
        strict: false,
        ..ReadOptions::new(&schema, &[])
    };
    let read = read_jobs(document.as_bytes(), &options).unwrap();
    assert_eq!(
        read.table.len(),
        read.cycle_jobs.as_ref().unwrap().jobs.len()
    );
    read
}

fn read(document: &str) -> CycleJobs {
    read_whole(document).cycle_jobs.unwrap()
}

fn recorded(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/openpbs/qstat/"
    );
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

fn find<'j>(jobs: &'j CycleJobs, id: &str) -> &'j QueuedJob {
    jobs.jobs.iter().find(|job| *job.id == *id).unwrap()
}

fn amounts(amounts: &[(&str, i64)]) -> Vec<(Box<str>, i64)> {
    amounts
        .iter()
        .map(|(name, amount)| ((*name).into(), *amount))
        .collect()
}

#[test]
fn every_recorded_format_gives_the_same_jobs() {
    let json = read(&recorded("qstat_f.json"));
    assert_eq!(
        (json.timestamp, json.is_time_zone_known, json.jobs.len()),
        (Some(1_795_199_073), true, 59)
    );
    for name in ["qstat_f.txt", "qstat_f_w.txt", "qstat_f.dsv"] {
        let other = read(&recorded(name));
        for (job, expected) in other.jobs.iter().zip(&json.jobs) {
            // the jobs went on waiting between the calls of qstat
            assert!(
                job.eligible_time
                    .unwrap()
                    .abs_diff(expected.eligible_time.unwrap())
                    < 5,
                "{name}"
            );
            assert_eq!(
                QueuedJob {
                    eligible_time: expected.eligible_time,
                    ..exact(job)
                },
                exact(expected),
                "{name}"
            );
        }
        assert_eq!((other.jobs.len(), other.timestamp), (59, None), "{name}");
    }
    let array = find(&json, "50[].vm");
    let indices = array.queued_subjobs.as_ref().unwrap();
    assert_eq!(
        (indices.len(), indices.iter().collect::<Vec<_>>()),
        (4, vec![0, 1, 2, 3])
    );
    assert_eq!(
        (array.ncpus, array.state, &*array.place),
        (Some(5), 'Q', "free")
    );
    let first = find(&json, "0.vm");
    assert_eq!(
        (&*first.user, &*first.group, &*first.project),
        ("root", "root", "_pbs_project_default")
    );
    assert_eq!(
        (first.qtime, first.etime, first.stime),
        (Some(1_795_197_902), Some(1_795_197_902), None)
    );
    assert_eq!(
        (first.queue_rank, first.accrue_type, first.eligible_time),
        (Some(1_795_197_902_290_033), Some(1), Some(37))
    );
    assert_eq!(
        (first.walltime, first.ncpus, first.queued_subjobs.clone()),
        (None, Some(1), None)
    );
    assert!(first.is_topjob_eligible);
    let chunks = json.jobs.iter().find(|job| job.chunks.len() == 2).unwrap();
    assert_eq!(
        chunks.chunks,
        [
            Chunk {
                count: 2,
                amounts: amounts(&[("ncpus", 1), ("mem", 512 << 10)]),
                others: Vec::new()
            },
            Chunk {
                count: 1,
                amounts: amounts(&[("ncpus", 3), ("mem", 2 << 20)]),
                others: Vec::new()
            }
        ]
    );
    let walltimes = json
        .jobs
        .iter()
        .filter(|job| job.walltime.is_some())
        .count();
    assert!(walltimes > 3, "{walltimes}");
}

/// The job without the amounts of which JSON has not all digits.
fn exact(job: &QueuedJob) -> QueuedJob {
    let mut job = job.clone();
    job.amounts.retain(|_, amount| *amount < 1 << 52);
    job
}

/// A running job and a waiting one, as qstat prints them on a clock 5:30 hours before UTC.
const RUNNING: &str = r#"{
	"timestamp":	1795199073,
	"Jobs":	{
		"1.vm":	{
			"job_state":	"R",
			"queue":	"workq",
			"euser":	"ada",
			"egroup":	"chem",
			"project":	"p",
			"qtime":	"Fri Nov 20 23:35:02 2026",
			"queue_rank":	1795197902290033,
			"stime":	"Fri Nov 20 23:40:02 2026",
			"exec_vnode":	"(vn1:ncpus=4:mem=1048576kb)+(vn2:ncpus=1+vn3:ncpus=2)",
			"Resource_List":	{
				"ncpus":	7,
				"select":	"1:ncpus=4:mem=1gb:host=\"a+b\"+ncpus=3",
				"walltime":	"01:00:00"
			},
			"resources_used":	{
				"ncpus":	7,
				"walltime":	"00:14:10"
			},
			"accrue_type":	3
		},
		"2.vm":	{
			"job_state":	"Q",
			"queue":	"workq",
			"Job_Owner":	"bob@vm",
			"qtime":	"Fri Nov 20 23:35:05 2026",
			"queue_rank":	1795197905290033,
			"topjob_ineligible":	"True",
			"estimated":	{
				"exec_vnode":	"(vn9:ncpus=1)",
				"start_time":	"Sat Nov 21 00:40:02 2026"
			},
			"Resource_List":	{
				"select":	"2:ncpus=2"
			}
		}
	}
}
"#;

fn check_running(jobs: &CycleJobs, is_whole: bool) {
    let [running, waiting] = &jobs.jobs[..] else {
        panic!("{jobs:?}")
    };
    assert!(jobs.is_time_zone_known);
    assert_eq!(
        (running.stime, running.qtime),
        (Some(1_795_198_202), Some(1_795_197_902))
    );
    assert_eq!(
        (running.state, running.walltime, running.accrue_type),
        ('R', Some(3600), Some(3))
    );
    assert_eq!(
        (
            &*running.user,
            &*running.group,
            &*running.project,
            &*running.entity
        ),
        ("ada", "chem", "p", "ada")
    );
    let placed: Vec<_> = running
        .placed
        .iter()
        .map(|part| (&*part.node, part.amounts.clone()))
        .collect();
    assert_eq!(
        placed,
        [
            ("vn1", amounts(&[("ncpus", 4), ("mem", 1 << 20)])),
            ("vn2", amounts(&[("ncpus", 1)])),
            ("vn3", amounts(&[("ncpus", 2)]))
        ]
    );
    assert_eq!(running.chunks[0].others, [("host".into(), "a+b".into())]);
    assert_eq!(
        running.chunks[1],
        Chunk {
            count: 1,
            amounts: amounts(&[("ncpus", 3)]),
            others: Vec::new()
        }
    );
    assert_eq!(
        (&*waiting.user, waiting.ncpus, waiting.is_topjob_eligible),
        ("bob", Some(4), false)
    );
    if is_whole {
        assert_eq!(waiting.estimated_start, Some(1_795_201_802));
    }
}

#[test]
fn a_running_job_is_read_on_the_clock_of_its_host() {
    let jobs = read(RUNNING);
    assert_eq!(jobs.timestamp, Some(1_795_199_073));
    check_running(&jobs, true);
    for utc in [0, 1_795_199_073] {
        assert_eq!(jobs.clock.utc_of_wall(jobs.clock.wall_of_utc(utc)), utc);
    }
    assert_ne!(jobs.clock.wall_of_utc(1_795_199_073), 1_795_199_073);
    let text = "Job Id: 1.vm\n    job_state = R\n    queue = workq\n    euser = ada\n    egroup = chem\n    project = p\n    \
        qtime = Fri Nov 20 23:35:02 2026\n    queue_rank = 1795197902290033\n    stime = Fri Nov 20 23:40:02 2026\n    \
        exec_vnode = (vn1:ncpus=4:mem=1048576kb)+(vn2:ncpus=1+\n\tvn3:ncpus=2)\n    Resource_List.ncpus = 7\n    \
        Resource_List.select = 1:ncpus=4:mem=1gb:host=\"a+b\"+ncpus=3\n    Resource_List.walltime = 01:00:00\n    \
        resources_used.walltime = 00:14:10\n    accrue_type = 3\n\nJob Id: 2.vm\n    job_state = Q\n    queue = workq\n    \
        Job_Owner = bob@vm\n    qtime = Fri Nov 20 23:35:05 2026\n    queue_rank = 1795197905290033\n    \
        topjob_ineligible = True\n    estimated.start_time = Sat Nov 21 00:40:02 2026\n    Resource_List.select = 2:ncpus=2\n\n";
    check_running(&read(text), true);
}

#[test]
fn damaged_json_gives_the_same_jobs() {
    for (from, to) in [
        ("\"01:00:00\"\n\t\t\t},", "\"01:00:00\"\n\t\t\t}"),
        ("\"R\",", "\"R\",\n\t\t\t\"comment\":\t\"say \"hello\"\","),
        ("\"egroup\"", "\"x\":\t00012,\n\t\t\t\"egroup\""),
    ] {
        let damaged = RUNNING.replace(from, to);
        assert!(serde_json::from_str::<serde_json::Value>(&damaged).is_err());
        let jobs = read(&damaged);
        assert_eq!(jobs.timestamp, Some(1_795_199_073));
        check_running(&jobs, true);
    }
    // a time that cannot be read is never replaced
    let read = read_whole(&RUNNING.replace("\"Fri Nov 20 23:40:02 2026\"", "\"Fri \"Nov\" 20\""));
    assert_eq!((read.table.len(), read.problems.skipped()), (1, 1));
}

#[test]
fn without_ranks_the_running_jobs_tell_the_time_zone() {
    let hidden = RUNNING.replace("queue_rank", "hidden_rank");
    check_running(&read(&hidden), true);
    let unknown = read(&hidden.replace("resources_used", "hidden_used"));
    assert_eq!(
        (unknown.is_time_zone_known, unknown.jobs[0].stime),
        (false, Some(1_795_218_002))
    );
    let none_runs = read(&hidden.replace("\"stime\"", "\"hidden_time\""));
    assert!(none_runs.is_time_zone_known);
}

#[test]
fn daylight_saving_time_applies_to_the_times_near_it() {
    // 25 October 2026, 01:00 UTC: from 2 hours before UTC to 1
    let job = |id: u32, queued: &str, rank: i64, started: &str| {
        format!(
            "Job Id: {id}.vm\n    job_state = R\n    qtime = {queued}\n    queue_rank = {rank}000000\n    stime = {started}\n    Resource_List.ncpus = 1\n\n"
        )
    };
    let summer = job(
        1,
        "Sat Oct 24 12:00:00 2026",
        1_792_836_000,
        "Sat Oct 24 13:00:00 2026",
    );
    let winter = job(
        2,
        "Mon Oct 26 12:00:00 2026",
        1_793_012_400,
        "Mon Oct 26 13:00:00 2026",
    );
    let jobs = read(&(summer + &winter));
    assert_eq!(
        [0, 1].map(|job| jobs.jobs[job].stime),
        [Some(1_792_839_600), Some(1_793_016_000)]
    );
}

#[test]
fn native_json_may_have_the_attributes() {
    let job = r#"{"id":"1","entity":"ada","group":"g","project":"p","queue":"workq","state":"R","stime":1000,"accrue_type":3,
        "eligible_time":"00:01:00","resources":{"ncpus":4,"mem":"4gb","walltime":"01:00:00","licence":2.5},"select":"2:ncpus=2"}"#;
    let array = r#"{"id":"2[]","user":"bob","array_state_count":"Queued:3 Running:1","inputs":{"ncpus":2,"walltime":60}}"#;
    let native = format!("{{\"timestamp\":1100,\"jobs\":[{job},{array}]}}");
    let ndjson = format!("{}\n{array}\n", job.replace('\n', " "));
    for (document, timestamp) in [(native, Some(1100)), (ndjson, None)] {
        let whole = read_whole(&document);
        assert!(whole.problems.is_empty(), "{:?}", whole.problems.listed());
        let jobs = whole.cycle_jobs.unwrap();
        assert_eq!((jobs.timestamp, jobs.is_time_zone_known), (timestamp, true));
        let [running, array] = &jobs.jobs[..] else {
            panic!("{document}")
        };
        assert_eq!(
            (&*running.user, &*running.group, &*running.project),
            ("ada", "g", "p")
        );
        assert_eq!(
            (running.stime, running.walltime, running.ncpus),
            (Some(1000), Some(3600), Some(4))
        );
        assert_eq!(
            (
                running.chunks.len(),
                running.accrue_type,
                running.eligible_time
            ),
            (1, Some(3), Some(60))
        );
        assert_eq!(
            running
                .amounts
                .keys()
                .map(|name| &**name)
                .collect::<Vec<_>>(),
            ["mem", "ncpus", "walltime"]
        );
        assert_eq!(
            (&*array.user, array.state, array.ncpus, array.walltime),
            ("bob", 'Q', Some(2), Some(60))
        );
        assert_eq!(
            array
                .queued_subjobs
                .as_ref()
                .unwrap()
                .iter()
                .collect::<Vec<_>>(),
            [0, 1, 2]
        );
    }
}

#[test]
fn indices_of_arrays() {
    let indices = ArrayIndices::parse("0-9:3,12, 20-21").unwrap();
    assert_eq!(
        (indices.iter().collect::<Vec<_>>(), indices.len()),
        (vec![0, 3, 6, 9, 12, 20, 21], 7)
    );
    assert_eq!(ArrayIndices::parse("0-4294967295").unwrap().len(), 1 << 32);
    assert!(ArrayIndices::parse("-").unwrap().is_empty() && ArrayIndices::first(0).is_empty());
    for text in ["a", "3-1", "1-2:0", "1,,2", "4294967296"] {
        assert_eq!(ArrayIndices::parse(text), None, "{text}");
    }
}

#[test]
fn rows_stay_those_of_the_table() {
    let twice = RUNNING.replace("\"2.vm\"", "\"1.vm\"");
    assert_eq!(read(&twice).jobs.len(), 1);
    let document = recorded("qstat_f.json");
    let schema = Schema::openpbs();
    let options = ReadOptions::new(&schema, &["ncpus", "eligible_time"]);
    let fast = read_jobs(document.as_bytes(), &options).unwrap();
    let slow = read_jobs(
        document.as_bytes(),
        &ReadOptions {
            cycle_jobs: true,
            ..options
        },
    )
    .unwrap();
    assert!(fast.cycle_jobs.is_none());
    let rows = slow.cycle_jobs.unwrap().jobs;
    for (row, job) in rows.iter().enumerate() {
        assert_eq!(
            (fast.table.id(row), fast.table.entity(row)),
            (&*job.id, &*job.entity)
        );
        assert_eq!(
            fast.table.column("ncpus").unwrap().nearest_double(row),
            job.ncpus.unwrap_or(0) as f64
        );
    }
}
