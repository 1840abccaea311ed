//! Logs of jobs: what is read of them, and what is said about the rest.

use std::path::Path;

use jsf_simulate::{Statistics, WorkloadBuilder, read_workload};
use jsf_site::FileSource;

use super::{Case, bytes, described, open_workload, read};

const LINE: &str = "1 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1";

#[test]
fn the_columns_of_swf() {
    let workload = read(&format!(
        "; a comment\n\n{LINE}\n2 10 -1 60 2 -1 -1 -1 -1 -1 1 8 -1 -1 -1 -1 -1 -1\n"
    ));
    let jobs = workload.jobs();
    let times = [jobs[0], jobs[1]].map(|job| (job.submit, job.run, job.walltime, job.processors));
    assert_eq!(times, [(10, 60, 90, 4), (10, 60, 60, 2)]);
    assert_eq!(
        workload
            .entities()
            .iter()
            .map(|name| &**name)
            .collect::<Vec<_>>(),
        ["7", "8"]
    );
    assert_eq!(
        workload
            .queues()
            .iter()
            .map(|name| &**name)
            .collect::<Vec<_>>(),
        ["2", ""]
    );
    assert_eq!([jobs[0].started, jobs[1].started], [Some(15), None]);
}

#[test]
fn damaged_lines_are_counted_and_named() {
    let damaged = [
        "2 10 5 60",
        "3 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1 9",
        "4 10 5 sixty 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1",
        "5 -1 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1",
        "6 10 5 -1 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1",
        "7 10 5 60 -1 -1 -1 -1 90 -1 1 7 3 -1 2 -1 -1 -1",
        "8 10 5 60 2 -1 -1 9999999999 90 -1 1 7 3 -1 2 -1 -1 -1",
        "9 99999999999999 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1",
        "10 1 5 99999999999999 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1",
        "1 20 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1",
    ];
    let workload = read(&[&[LINE], &damaged[..]].concat().join("\n"));
    assert_eq!(
        (workload.jobs().len(), workload.faults().count()),
        (1, damaged.len())
    );
    assert_eq!(
        workload.faults().messages(),
        [
            "`log`, line 9: a duration is out of range, found `99999999999999`",
            "`log`, line 4: a field is not a number",
            "job `1`: another line has the same id",
            "`log`, line 2: fewer than 18 fields, expected 18 numbers",
            "`log`, line 3: more than 18 fields, expected 18 numbers (`cut -d ' ' -f 1-18` keeps these)",
            "`log`, line 7: no number of processors",
            "`log`, line 6: no run time",
            "`log`, line 5: no time of submission",
            "`log`, line 8: the number of processors is out of range, found `9999999999`",
            "`log`, line 9: the time of submission is out of range (milliseconds in place of seconds?), found `99999999999999`",
        ]
        .map(|message| message.replace("line 9: a duration", "line 10: a duration"))
    );
    let many = format!("{LINE}\n{}", "1 2 3\n".repeat(25));
    let messages = read(&many).faults().messages();
    assert_eq!(messages.len(), 11);
    assert_eq!(
        messages[10],
        "and 15 more lines: fewer than 18 fields, expected 18 numbers"
    );
}

#[test]
fn what_is_no_log_is_refused_with_what_it_seems_to_be() {
    let refusal = |content: &str| {
        open_workload(&[bytes("file", content)])
            .expect_err("no log")
            .to_string()
    };
    assert_eq!(
        refusal("{\"children\":[]}"),
        "`file` is a fair-share tree in native JSON, expected a log of jobs: Standard Workload Format, PBS accounting records, `qstat -x -f -F json`, `sacct -P`, the CSV of ALCF or NDJSON"
    );
    assert_eq!(
        refusal("; nothing but a comment\n"),
        "`file` is another text and begins with `; nothing but a comment`, expected a log of jobs: Standard Workload Format, PBS accounting records, `qstat -x -f -F json`, `sacct -P`, the CSV of ALCF or NDJSON"
    );
    assert_eq!(
        refusal("; Version: 2.2\n; MaxProcs: 8\n"),
        "`file` has no job that can be simulated; `file`: it has the header of a log in SWF and no job"
    );
    assert_eq!(
        refusal(""),
        "`file` has no job that can be simulated; `file`: it is empty"
    );
    assert_eq!(
        refusal("1 2 3 4 5 6 7 8 9 10 11 12\n"),
        "`file` has no job that can be simulated; `file`, line 1: fewer than 18 fields, expected 18 numbers"
    );
}

#[test]
fn a_log_without_a_job_says_why() {
    let refusal = |content: &str| {
        open_workload(&[bytes("file", content)])
            .expect_err("no log")
            .to_string()
    };
    let cancelled = "1 10 5 -1 2 -1 -1 4 90 -1 5 7 3 -1 2 -1 -1 -1\n";
    assert_eq!(
        refusal(cancelled),
        "`file` has no job that can be simulated: 1 cancelled before they ran"
    );
    assert_eq!(
        refusal(&format!("{cancelled}{cancelled}1 2 3\n")),
        "`file` has no job that can be simulated: 2 cancelled before they ran, 1 damaged; `file`, line 3: fewer than 18 \
         fields, expected 18 numbers"
    );
    let queued = "11/02/2026 10:00:01;Q;1.vm;queue=workq\n";
    assert_eq!(
        refusal(queued),
        "`file` has no job that can be simulated: 1 still waiting at the end of the log"
    );
}

#[test]
fn a_summary_replaces_the_parts_of_an_execution() {
    let part = |status: u32, run: u32| {
        format!("1 10 5 {run} 2 -1 -1 4 90 -1 {status} 7 3 -1 2 -1 -1 -1\n")
    };
    for lines in [
        [part(2, 5), part(1, 60), part(3, 55)],
        [part(3, 55), part(2, 5), part(1, 60)],
    ] {
        let workload = read(&lines.concat());
        assert_eq!(
            workload
                .jobs()
                .iter()
                .map(|job| job.run)
                .collect::<Vec<_>>(),
            [60]
        );
    }
    assert_eq!(
        read(&part(2, 5)).jobs()[0].run,
        5,
        "without a summary, a part is what is known"
    );
}

#[test]
fn a_line_without_end_is_not_kept_in_memory() {
    let endless = format!("{LINE}\n{}\n2{}\n", "9 ".repeat(1 << 20), &LINE[1..]);
    let mut builder = WorkloadBuilder::new();
    read_workload("log", endless.as_bytes(), &mut builder).expect("readable");
    let workload = builder.finish();
    assert_eq!((workload.jobs().len(), workload.faults().count()), (2, 1));
}

#[test]
fn statistics_of_a_schedule_that_is_known() {
    let line = |id, submit, run, processors| {
        format!(
            "{id} {submit} -1 {run} {processors} -1 -1 {processors} {run} -1 1 7 1 -1 1 -1 -1 -1\n"
        )
    };
    let log = [
        line(1, 0, 100, 2),
        line(2, 0, 50, 2),
        line(3, 10, 50, 1),
        line(4, 200, 5, 2),
    ]
    .concat();
    let (formula, backfill) = ("eligible_time".to_owned(), "none".to_owned());
    let case = Case {
        workload: log,
        processors: 2,
        formula,
        backfill,
        tree: None,
        decay: None,
        decay_factor: None,
    };
    let workload = read(&case.workload);
    let schedule = case.run(&workload, &mut ());
    // 1: 0 to 100, 2: 100 to 150, 3: 150 to 200, 4: 200 to 205
    let statistics = Statistics::new(&workload, &schedule, 2, 0);
    let summary = statistics.summary;
    assert_eq!(
        (summary.jobs, summary.makespan, summary.core_seconds),
        (4, 205, 360)
    );
    assert_eq!(summary.utilisation, 360.0 / 410.0);
    let wait = summary.wait;
    assert_eq!(
        [
            wait.mean,
            wait.p25,
            wait.median,
            wait.p75,
            wait.p95,
            wait.max
        ],
        [60.0, 0.0, 50.0, 100.0, 140.0, 140.0]
    );
    assert_eq!(summary.bounded_slowdown.mean, (1.0 + 3.0 + 3.8 + 1.0) / 4.0);
    assert_eq!(summary.mean_queue, 240.0 / 205.0);
    // the waits of 0, 100, 140 and 0 s are those of 200, 100, 50 and 10 core seconds
    assert_eq!(
        summary.wait_per_core_hour,
        (100.0 * 100.0 + 140.0 * 50.0) / 360.0
    );
    let counts = [
        summary.started_within_minute,
        summary.started_within_hour,
        summary.waited_over_day,
    ];
    assert_eq!((counts, summary.waited_over_week), ([2, 4, 0], 0));
    let periods: Vec<_> = statistics
        .periods
        .iter()
        .map(|period| (period.start, period.seconds, period.submitted))
        .collect();
    assert_eq!(
        periods,
        [(0, 60, 3), (60, 60, 0), (120, 60, 0), (180, 25, 1)]
    );
    let sums = |of: fn(&jsf_simulate::Period) -> f64| {
        statistics
            .periods
            .iter()
            .map(|period| of(period) * period.seconds as f64)
            .sum::<f64>()
    };
    assert!((sums(|period| period.utilisation) * 2.0 - 360.0).abs() < 1e-9);
    assert!((sums(|period| period.mean_queue) - 240.0).abs() < 1e-9);
    let warm = Statistics::new(&workload, &schedule, 2, 10);
    assert_eq!((warm.summary.jobs, warm.summary.makespan), (2, 195));
    // from 10 to 205 the machine is used by all jobs: 2 · 90 + 2 · 50 + 50 + 2 · 5
    assert_eq!(
        (warm.summary.core_seconds, warm.summary.utilisation),
        (60, 340.0 / 390.0)
    );
    assert_eq!(warm.summary.mean_queue, (90.0 + 140.0) / 195.0);
}

const ACCOUNTING: &str = "\
11/02/2026 10:00:00;L;license;floating license hour:0 day:0 month:0 max:0
11/02/2026 10:00:01;Q;1.vm;queue=workq
11/02/2026 10:00:01;Q;2.vm;queue=workq
11/02/2026 10:00:01;Q;4.vm;queue=workq
11/02/2026 10:00:01;Q;5[].vm;queue=workq
11/02/2026 10:00:05;S;1.vm;user=ada group=users queue=workq ctime=1000 qtime=1000 etime=1005 start=1010
11/02/2026 10:00:06;S;3.vm;user=ada group=users queue=workq ctime=1000 qtime=1000 etime=1005 start=1010
11/02/2026 10:00:06;D;2.vm;requestor=ada@login
11/02/2026 10:01:10;E;1.vm;user=ada group=users account=\"physics\" project=_pbs_project_default jobname=a b queue=workq ctime=1000 qtime=1001 etime=1005 start=1010 exec_host=n/0 Resource_List.ncpus=4 Resource_List.nodect=1 Resource_List.select=1:ncpus=4 Resource_List.walltime=00:02:00 session=1 end=1070 Exit_status=0 resources_used.walltime=00:01:00 run_count=1
11/02/2026 10:02:00;E;5[1].vm;user=bob group=users queue=long ctime=1000 qtime=1000 etime=0 start=1020 Resource_List.select=2:ncpus=8:mem=1gb+ncpus=1 end=1100 Exit_status=0
11/02/2026 10:02:00;E;5[2].vm;user=bob group=users queue=long ctime=1000 start=1030 Resource_List.nodect=3 Resource_List.walltime=90 end=1040
11/02/2026 10:02:00;E;5[].vm;user=bob group=users queue=long ctime=1000 start=1030 end=1040 Resource_List.ncpus=1
11/02/2026 10:02:00;E;6.vm;user=bob queue=long ctime=1000 start=900 end=1040 Resource_List.ncpus=1
11/02/2026 10:02:00;E;7.vm;user=bob queue=long ctime=1000 Resource_List.ncpus=1
cut off
";

#[test]
fn pbs_accounting_records() {
    let workload = read(ACCOUNTING);
    let expected = [
        "5[1].vm bob users long 1000 80 80 17",
        "5[2].vm bob users long 1000 10 90 3",
        "1.vm ada physics workq 1005 60 120 4",
    ];
    assert_eq!(described(&workload), expected);
    assert_eq!(workload.jobs()[2].started, Some(1010));
    let mut messages = workload.faults().messages();
    messages.sort();
    assert_eq!(
        messages,
        [
            "`log`, line 13: the times are not in the order etime, start, end",
            "`log`, line 14: no start or end",
            "`log`, line 15: not a record `date;type;id;…`",
        ]
    );
    let left_out = "1 cancelled before they ran, 1 still waiting at the end of the log, 1 still running at the end of the log, \
                    3 damaged";
    assert_eq!(workload.faults().summary([]).as_deref(), Some(left_out));
    // the files of two days, the later one first
    let (first, second) =
        ACCOUNTING.split_at(ACCOUNTING.find("11/02/2026 10:01:10").expect("a record"));
    let days = open_workload(&[bytes("log", second), bytes("log", first)]).expect("logs");
    assert_eq!(described(&days), expected);
    assert_eq!(days.faults().count(), 6);
}

#[test]
fn the_output_of_sacct() {
    let log = "\
JobID|JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|TimelimitRaw|ReqCPUS|AllocCPUS|State
7|7|ada|phys|cpu|2026-11-01T00:00:00|2026-11-01T00:00:10|2026-11-01T00:01:00|2026-11-01T00:02:00|60|01:00:00|60|3|4|COMPLETED
7.batch|7.batch||phys||2026-11-01T00:01:00|2026-11-01T00:01:00|2026-11-01T00:01:00|2026-11-01T00:02:00|60||||4|COMPLETED
8_1|9|bob|chem|gpu|2026-11-01T00:00:00|2026-11-01T00:00:00|2026-11-01T00:01:00|2026-11-01T01:01:00|3600|UNLIMITED||2|2|TIMEOUT
10|10|bob|chem|gpu|2026-11-01T00:00:00|2026-11-01T00:00:00|None|2026-11-01T01:01:00|0|UNLIMITED||2|0|CANCELLED by 5
11|11|bob|chem|gpu|2026-11-01T00:00:00|2026-11-01T00:00:00|2026-11-01T00:01:00|Unknown|9|UNLIMITED||2|2|RUNNING
12|short
";
    let workload = read(log);
    assert_eq!(
        described(&workload),
        [
            "8_1 bob chem gpu 1793491200 3600 3600 2",
            "7 ada phys cpu 1793491210 60 3600 3"
        ]
    );
    assert_eq!(workload.jobs()[1].started, Some(1_793_491_260));
    assert_eq!(
        workload.faults().messages(),
        ["`log`, line 7: not as many fields as the first line has"]
    );
    let left_out = "1 cancelled before they ran, 1 still running at the end of the log, 1 damaged";
    assert_eq!(workload.faults().summary([]).as_deref(), Some(left_out));
}

#[test]
fn native_ndjson() {
    let log = r#"{"id":"2.vm","entity":"Bob","group":"g","queue":"q","submit":5,"run":60,"start":9,"resources":{"ncpus":4,"walltime":"01:00:00","mem":"1gb"}}
{"id":1,"submit":5,"run":"00:01:00","resources":{"ncpus":"2"}}

{"id":3,"submit":5,"resources":{"ncpus":2}}
{"id":4,"#;
    let workload = read(log);
    assert_eq!(
        described(&workload),
        ["1    5 60 60 2", "2.vm Bob g q 5 60 3600 4"]
    );
    assert_eq!(workload.faults().count(), 2);
}

#[test]
fn numbers_of_ndjson() {
    let log = r#"{"id":1.0,"entity":7,"user":3,"group":4,"queue":2,"submit":0.0,"run":60.0,"start":65.0,"resources":{"ncpus":4.0,"walltime":300.0}}
{"id":2,"entity":"7","submit":0.5,"run":10.4,"resources":{"ncpus":1,"walltime":60.2}}
{"id":3,"entity":null,"submit":3,"run":60,"start":null,"resources":{"ncpus":1,"walltime":null}}"#;
    let workload = read(log);
    // 2: from 0.5 to 10.9
    assert_eq!(
        described(&workload),
        ["1 7 4 2 0 60 300 4", "2 7   1 10 61 1", "3    3 60 60 1"]
    );
    assert_eq!(
        (&*workload.names().users[0], workload.jobs()[0].started),
        ("3", Some(65))
    );
    assert_eq!(
        workload.entities().len(),
        2,
        "the number and the text are one name"
    );
    assert_eq!(workload.faults().count(), 0);
}

#[test]
fn values_of_ndjson_that_cannot_be_read() {
    let job = |rest: &str| format!("{{\"id\":1,{rest}}}\n");
    let requested = |walltime: &str| {
        job(&format!(
            "\"submit\":5,\"run\":60,\"resources\":{{\"ncpus\":1,\"walltime\":{walltime}}}"
        ))
    };
    let lines = [
        requested("60"),
        requested("\"abc\""),
        requested("-10"),
        requested("0"),
        requested("[]"),
        job("\"submit\":5,\"run\":60,\"resources\":{\"ncpus\":1.5}"),
        job("\"submit\":\"noon\",\"run\":60,\"resources\":{\"ncpus\":1}"),
        job("\"submit\":5,\"start\":true,\"run\":60,\"resources\":{\"ncpus\":1}"),
        job("\"submit\":5,\"run\":{},\"resources\":{\"ncpus\":1}"),
        job("\"submit\":5,\"run\":60,\"entity\":[7],\"resources\":{\"ncpus\":1}"),
        job("\"submit\":999999999999,\"run\":60,\"resources\":{\"ncpus\":1}"),
        "{\"submit\":5,\"run\":60,\"resources\":{\"ncpus\":1}}\n".to_owned(),
    ];
    let workload = read(&lines.concat());
    assert_eq!(
        (workload.jobs().len(), workload.assumed_walltimes.run_times),
        (1, 0)
    );
    let mut messages = workload.faults().messages();
    messages.sort_by_key(|message| {
        message["`log`, line ".len()..]
            .split(':')
            .next()
            .and_then(|line| line.parse::<u32>().ok())
    });
    let walltime = "`resources.walltime` is not a duration of a second or more, found";
    assert_eq!(
        messages,
        [
            format!("`log`, line 2: {walltime} `\"abc\"`"),
            format!("`log`, line 3: {walltime} `-10`"),
            format!("`log`, line 4: {walltime} `0`"),
            format!("`log`, line 5: {walltime} `[]`"),
            "`log`, line 6: `resources.ncpus` is not a whole number, found `1.5`".to_owned(),
            "`log`, line 7: `submit` is not a number of seconds, found `\"noon\"`".to_owned(),
            "`log`, line 8: `start` is not a number of seconds, found `true`".to_owned(),
            "`log`, line 9: `run` is not a duration, found `{}`".to_owned(),
            "`log`, line 10: a name is neither a text nor a number, found `[7]`".to_owned(),
            "`log`, line 11: the time of submission is out of range (milliseconds in place of seconds?), found `999999999999`"
                .to_owned(),
            "`log`, line 12: no id".to_owned(),
        ]
    );
}

#[test]
fn a_start_out_of_range_is_not_used() {
    let native = r#"{"id":1,"submit":5,"start":1e300,"run":60,"resources":{"ncpus":1}}
{"id":2,"submit":6,"start":1e15,"run":"00:01:00","resources":{"ncpus":1}}
{"id":3,"submit":7,"start":9,"run":60.4,"resources":{"ncpus":1}}"#;
    let swf = "1 5 1e3 60 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n".replace("1e3", &"9".repeat(30))
        + "3 7 2 60 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n";
    for (log, jobs) in [(native, 2), (&*swf, 1)] {
        let workload = read(log);
        let read: Vec<_> = workload
            .jobs()
            .iter()
            .map(|job| (job.run, job.started))
            .collect();
        let mut expected = vec![(60, None); jobs];
        expected.push((60, Some(9)));
        assert_eq!(read, expected, "{log}");
        let counted = ["1 line has", "2 lines have"][jobs - 1];
        let note = format!("{counted} a start that is out of range, which is not used");
        assert_eq!(
            (&workload.notes, workload.faults().count()),
            (&vec![note], 0)
        );
    }
}

#[test]
fn names_are_anonymised_in_the_order_of_their_first_submission() {
    let mut workload = read(ACCOUNTING);
    workload.anonymise();
    assert_eq!(described(&workload)[0], "5[1].vm u1 g1 long 1000 80 80 17");
    assert_eq!(described(&workload)[2], "1.vm u2 g2 workq 1005 60 120 4");
}

/// A sparse file has no line end behind its first blocks, and a device such as `/dev/zero` none at all.
#[cfg(unix)]
#[test]
fn a_log_without_a_line_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    std::fs::write(&path, "1 ".repeat(1 << 20)).expect("written");
    let file = std::fs::File::options().append(true).open(&path);
    file.and_then(|file| file.set_len(1 << 30))
        .expect("a sparse file");
    for (path, expected) in [
        (&*path, "line 1 has more than 256 MiB"),
        (Path::new("/dev/zero"), "zero bytes"),
    ] {
        let error = open_workload(&[FileSource::from(path)])
            .expect_err("no log")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}
