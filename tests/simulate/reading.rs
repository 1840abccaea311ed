//! Logs of jobs: what is read of them, and what is said about the rest.

use job_sort_formula::simulate::{Statistics, WorkloadBuilder, read_workload};
use job_sort_formula::site::open_workload;

use super::{Case, bytes, read};

const LINE: &str = "1 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1";

#[test]
fn the_columns_of_swf() {
    let workload = read(&format!("; a comment\n\n{LINE}\n2 10 -1 60 2 -1 -1 -1 -1 -1 1 8 -1 -1 -1 -1 -1 -1\n"));
    let jobs = workload.jobs();
    let times = [jobs[0], jobs[1]].map(|job| (job.submit, job.run, job.walltime, job.processors));
    assert_eq!(times, [(10, 60, 90, 4), (10, 60, 60, 2)]);
    assert_eq!(workload.entities().iter().map(|name| &**name).collect::<Vec<_>>(), ["7", "8"]);
    assert_eq!(workload.queues().iter().map(|name| &**name).collect::<Vec<_>>(), ["2", ""]);
    assert_eq!([jobs[0].started(), jobs[1].started()], [Some(15), None]);
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
    assert_eq!((workload.jobs().len(), workload.faults().count()), (1, damaged.len()));
    assert_eq!(
        workload.faults().messages(),
        [
            "`log`, line 9: a duration is out of range",
            "`log`, line 4: a field is not a number",
            "job `1`: another line has the same id",
            "`log`, line 2: fewer than 18 fields, expected 18 numbers",
            "`log`, line 3: more than 18 fields, expected 18 numbers",
            "`log`, line 7: no number of processors",
            "`log`, line 6: no run time",
            "`log`, line 5: no time of submission",
            "`log`, line 8: the number of processors is out of range",
            "`log`, line 9: the time of submission is out of range",
        ]
        .map(|message| message.replace("line 9: a duration", "line 10: a duration"))
    );
    let many = format!("{LINE}\n{}", "1 2 3\n".repeat(25));
    let messages = read(&many).faults().messages();
    assert_eq!(messages.len(), 11);
    assert_eq!(messages[10], "and 15 more lines: fewer than 18 fields, expected 18 numbers");
}

#[test]
fn what_is_no_log_is_refused_with_what_it_seems_to_be() {
    let refusal = |content: &str| open_workload(&[bytes("file", content)]).expect_err("no log").to_string();
    assert_eq!(
        refusal("{\"children\":[]}"),
        "`file` is a fair-share tree in native JSON, expected a log of jobs: Standard Workload Format"
    );
    assert_eq!(
        refusal("; nothing but a comment\n"),
        "`file` is another text, expected a log of jobs: Standard Workload Format"
    );
    assert_eq!(refusal(""), "`file` has no job that can be simulated");
    assert_eq!(
        refusal("1 2 3 4 5 6 7 8 9 10 11 12\n"),
        "`file` has no job that can be simulated; `file`, line 1: fewer than 18 fields, expected 18 numbers"
    );
}

#[test]
fn a_summary_replaces_the_parts_of_an_execution() {
    let part = |status: u32, run: u32| format!("1 10 5 {run} 2 -1 -1 4 90 -1 {status} 7 3 -1 2 -1 -1 -1\n");
    for lines in [[part(2, 5), part(1, 60), part(3, 55)], [part(3, 55), part(2, 5), part(1, 60)]] {
        let workload = read(&lines.concat());
        assert_eq!(workload.jobs().iter().map(|job| job.run).collect::<Vec<_>>(), [60]);
    }
    assert_eq!(read(&part(2, 5)).jobs()[0].run, 5, "without a summary, a part is what is known");
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
        format!("{id} {submit} -1 {run} {processors} -1 -1 {processors} {run} -1 1 7 1 -1 1 -1 -1 -1\n")
    };
    let log = [line(1, 0, 100, 2), line(2, 0, 50, 2), line(3, 10, 50, 1), line(4, 200, 5, 2)].concat();
    let (formula, backfill) = ("eligible_time".to_owned(), "none".to_owned());
    let case = Case { workload: log, processors: 2, formula, backfill, tree: None, decay: None, decay_factor: None };
    let workload = read(&case.workload);
    let schedule = case.run(&workload, &mut ());
    // 1: 0 to 100, 2: 100 to 150, 3: 150 to 200, 4: 200 to 205
    let statistics = Statistics::new(&workload, &schedule, 2, 0);
    let summary = statistics.summary;
    assert_eq!((summary.jobs, summary.makespan, summary.core_seconds), (4, 205, 360));
    assert_eq!(summary.utilisation, 360.0 / 410.0);
    let wait = summary.wait;
    assert_eq!([wait.mean, wait.median, wait.p95, wait.max], [60.0, 50.0, 140.0, 140.0]);
    assert_eq!(summary.bounded_slowdown.mean, (1.0 + 3.0 + 3.8 + 1.0) / 4.0);
    assert_eq!(summary.mean_queue, 240.0 / 205.0);
    let periods: Vec<_> =
        statistics.periods.iter().map(|period| (period.start, period.seconds, period.submitted)).collect();
    assert_eq!(periods, [(0, 60, 3), (60, 60, 0), (120, 60, 0), (180, 25, 1)]);
    let sums = |of: fn(&job_sort_formula::simulate::Period) -> f64| {
        statistics.periods.iter().map(|period| of(period) * period.seconds as f64).sum::<f64>()
    };
    assert!((sums(|period| period.utilisation) * 2.0 - 360.0).abs() < 1e-9);
    assert!((sums(|period| period.mean_queue) - 240.0).abs() < 1e-9);
    let warm = Statistics::new(&workload, &schedule, 2, 10);
    assert_eq!((warm.summary.jobs, warm.summary.makespan), (2, 195));
}
