//! Logs as sites have them: each line is read right, or left out and counted by its reason.
//!
//! The lines follow the definition of the Standard Workload Format, the manual pages of `sacct`,
//! and records that PBS and Torque wrote.

use job_sort_formula::{Formula, Schema};
use jsf_openpbs::NumberMode;
use jsf_simulate::{
    Backfill, Cancelled, LogRules, Overrun, ProcessorsOf, Statistics, Workload, simulate,
};
use jsf_site::{Role, Site, SiteFiles, SiteOptions};

use super::{bytes, described, open_workload, read, read_by};

use crate::identical_processors::identical_processors;

const KEEP_CANCELLED: LogRules = LogRules {
    cancelled: Cancelled::Keep,
    overrun: Overrun::Cut,
    processors_of: ProcessorsOf::Requested,
    from: None,
    to: None,
    anonymise: false,
};
const ALLOCATED: LogRules = LogRules {
    cancelled: Cancelled::LeaveOut,
    overrun: Overrun::Cut,
    processors_of: ProcessorsOf::Allocated,
    from: None,
    to: None,
    anonymise: false,
};

/// What is left out, by reason.
fn left_out(workload: &Workload) -> Vec<(&'static str, usize)> {
    let counts = workload.faults().by_reason();
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn starts_recorded(workload: &Workload) -> Vec<Option<i64>> {
    workload.jobs().iter().map(|job| job.started).collect()
}

#[test]
fn jobs_of_swf_that_were_cancelled_while_they_waited() {
    let log = "\
1 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1
2 11 500 0 0 -1 -1 4 90 -1 5 7 3 -1 2 -1 -1 -1
3 12 500 -1 -1 -1 -1 4 90 -1 5 7 3 -1 2 -1 -1 -1
4 13 5 30 4 -1 -1 4 90 -1 5 7 3 -1 2 -1 -1 -1
5 14 5 0 4 -1 -1 4 90 -1 0 7 3 -1 2 -1 -1 -1
";
    let workload = read(log);
    assert_eq!(
        described(&workload),
        [
            "1 7 3 2 10 60 90 4",
            "4 7 3 2 13 30 90 4",
            "5 7 3 2 14 0 90 4"
        ]
    );
    assert_eq!(left_out(&workload), [("cancelled", 2)]);
    assert!(workload.faults().messages().is_empty());
    let kept = read_by(log, KEEP_CANCELLED);
    let expected = [
        "1 7 3 2 10 60 90 4",
        "2 7 3 2 11 0 90 4",
        "3 7 3 2 12 0 90 4",
        "4 7 3 2 13 30 90 4",
        "5 7 3 2 14 0 90 4",
    ];
    assert_eq!(described(&kept), expected);
    assert_eq!(
        starts_recorded(&kept),
        [Some(15), None, None, Some(18), Some(19)]
    );
    assert!(left_out(&kept).is_empty());
}

#[test]
fn swf_with_fractions_of_seconds() {
    let log = "\
1 0.5 2.25 10.5 2 -1 -1 4 10.5 -1 1 7 3 -1 2 -1 -1 -1
2 1.5 -1 10.49 2 -1 -1 4 10.2 -1 1 7 3 -1 2 -1 -1 -1
";
    let workload = read(log);
    // 1: from 0.5, 2.75 and 13.25; 2: from 1.5 to 11.99, and as much as 10.2 s asked for
    assert_eq!(
        described(&workload),
        ["1 7 3 2 1 10 11 4", "2 7 3 2 2 10 11 4"]
    );
    assert_eq!(starts_recorded(&workload), [Some(3), None]);
}

#[test]
fn swf_with_more_columns() {
    let log = "1 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1 0.7 node1\n2 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1 0.3\n\
               3 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1 0.3 a b\n";
    let workload = read(log);
    assert_eq!(
        described(&workload),
        ["1 7 3 2 10 60 90 4", "2 7 3 2 10 60 90 4"]
    );
    assert_eq!(
        &*workload.notes,
        ["`log` has 20 columns; those after the first 18, which are the format's, are not read"]
    );
    assert_eq!(left_out(&workload), [("damaged", 1)]);
}

#[test]
fn parts_without_a_submission_are_named_in_the_order_of_the_log() {
    let mut log = "50 0 0 5 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1\n".to_owned();
    let mut expected = Vec::new();
    for id in [7, 2, 9, 4, 1, 8, 3, 6, 5] {
        log += &format!("{id} -1 30 8 2 -1 -1 4 90 -1 4 7 3 -1 2 -1 -1 -1\n");
        expected.push(format!("job `{id}`: no time of submission"));
    }
    assert_eq!(read(&log).faults().messages(), expected);
}

#[test]
fn parts_of_an_execution_are_joined() {
    let log = "\
1 10 5 7 2 -1 -1 4 90 -1 2 7 3 -1 2 -1 -1 -1
1 -1 30 8 2 -1 -1 4 90 -1 2 7 3 -1 2 -1 -1 -1
1 -1 20 9 2 -1 -1 4 90 -1 3 7 3 -1 2 -1 -1 -1
2 20 5 15 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1
2 20 5 7 2 -1 -1 4 90 -1 2 7 3 -1 2 -1 -1 -1
2 -1 30 8 2 -1 -1 4 90 -1 4 7 3 -1 2 -1 -1 -1
3 -1 30 8 2 -1 -1 4 90 -1 4 7 3 -1 2 -1 -1 -1
";
    let expected = ["1 7 3 2 10 24 90 4", "2 7 3 2 20 15 90 4"];
    let workload = read(log);
    assert_eq!(
        (described(&workload), starts_recorded(&workload)),
        (expected.map(str::to_owned).into(), vec![Some(15), Some(25)])
    );
    assert_eq!(
        workload.faults().messages(),
        ["job `3`: no time of submission"]
    );
    let mut lines: Vec<&str> = log.lines().collect();
    lines.reverse();
    assert_eq!(
        described(&read(&lines.join("\n"))),
        expected,
        "in whatever order the lines are"
    );
}

#[test]
fn an_unknown_user_is_no_entity() {
    let log = "\
1 10 5 60 2 -1 -1 4 90 -1 1 -1 3 -1 2 -1 -1 -1
2 10 5 60 2 -1 -1 4 90 -1 1 -1 3 -1 2 -1 -1 -1
3 10 5 60 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1
";
    let workload = read(log);
    assert_eq!(
        described(&workload),
        [
            "1  3 2 10 60 90 4",
            "2  3 2 10 60 90 4",
            "3 7 3 2 10 60 90 4"
        ]
    );
    let program = Formula::parse("ncpus")
        .expect("a formula")
        .compile(&Schema::openpbs())
        .expect("arithmetic");
    let rules = identical_processors(&workload, 4, Backfill::Easy);
    let schedule = simulate(&program, &workload, rules, None, &mut ()).expect("a schedule");
    let statistics = Statistics::new(&workload, &schedule, 4, 0);
    let entities: Vec<(&str, usize)> = statistics
        .classes
        .entities
        .iter()
        .map(|group| (&*group.name, group.jobs))
        .collect();
    assert_eq!(entities, [("7", 1)]);
}

#[test]
fn requested_times_that_the_log_does_not_say() {
    let log = "\
1 10 5 60 2 -1 -1 4 -1 -1 1 7 3 -1 short -1 -1 -1
2 11 5 7200 2 -1 -1 4 -1 -1 1 7 3 -1 short -1 -1 -1
3 12 5 60 2 -1 -1 4 90 -1 1 7 3 -1 short -1 -1 -1
4 13 5 60 2 -1 -1 4 -1 -1 1 7 3 -1 long -1 -1 -1
";
    let assumed = |workload: &Workload| workload.assumed_walltimes.in_words();
    let workload = read(log);
    assert_eq!(
        workload
            .jobs()
            .iter()
            .map(|job| job.walltime)
            .collect::<Vec<_>>(),
        [60, 7200, 90, 60]
    );
    assert_eq!(
        assumed(&workload).as_deref(),
        Some("the run time for 3 jobs, so that backfilling sees the future")
    );
    let queues = "create queue short queue_type = e\nset queue short resources_default.walltime = 01:00:00\n\
                  set server resources_default.walltime = 24:00:00\n";
    let files: SiteFiles = [(Role::Queues, bytes("queues", queues))]
        .into_iter()
        .collect();
    let site = Site::from_files(
        files,
        SiteOptions {
            numbers: NumberMode::Exact,
            ..SiteOptions::default()
        },
    )
    .expect("a site");
    let workload = site
        .open_workload(&[bytes("log", log)], &[], LogRules::default())
        .expect("a log");
    assert_eq!(
        workload
            .jobs()
            .iter()
            .map(|job| job.walltime)
            .collect::<Vec<_>>(),
        [3600, 7200, 90, 86_400]
    );
    assert_eq!(
        assumed(&workload).as_deref(),
        Some(
            "the default of the queue for 2 jobs, the run time for 1 job, so that backfilling sees the future"
        )
    );
}

#[test]
fn runs_beyond_the_requested_time_are_cut() {
    let log = "1 10 5 100 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1\n2 10 5 80 2 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1\n";
    let cut = |workload: &Workload| {
        workload
            .jobs()
            .iter()
            .map(|job| (job.duration(), job.cut()))
            .collect::<Vec<_>>()
    };
    assert_eq!(cut(&read(log)), [(90, 40), (80, 0)]);
    let keep = LogRules {
        overrun: Overrun::Keep,
        ..LogRules::default()
    };
    assert_eq!(cut(&read_by(log, keep)), [(100, 0), (80, 0)]);
}

/// A job that runs longer than it asks for blocks others as long as it runs, under every rule of
/// backfilling.
#[test]
fn runs_beyond_the_requested_time_hold_their_processors() {
    let log = "\
1 0 -1 100 2 -1 -1 2 50 -1 1 7 3 -1 2 -1 -1 -1
2 1 -1 10 4 -1 -1 4 10 -1 1 7 3 -1 2 -1 -1 -1
3 60 -1 10 2 -1 -1 2 10 -1 1 7 3 -1 2 -1 -1 -1
4 61 -1 500 2 -1 -1 2 500 -1 1 7 3 -1 2 -1 -1 -1
";
    let workload = read_by(
        log,
        LogRules {
            overrun: Overrun::Keep,
            ..LogRules::default()
        },
    );
    let program = Formula::parse("eligible_time")
        .expect("a formula")
        .compile(&Schema::openpbs())
        .expect("arithmetic");
    for (backfill, expected) in [
        (Backfill::None, [0, 100, 110, 110]),
        (Backfill::Greedy, [0, 570, 60, 70]),
    ] {
        let rules = identical_processors(&workload, 4, backfill);
        let schedule = simulate(&program, &workload, rules, None, &mut ()).expect("a schedule");
        assert_eq!(
            [0, 1, 2, 3].map(|job| schedule.start(job)),
            expected.map(Some),
            "{backfill:?}"
        );
    }
    let schedule = simulate(
        &program,
        &workload,
        identical_processors(&workload, 4, Backfill::Easy),
        None,
        &mut (),
    );
    let schedule = schedule.expect("a schedule");
    assert!((0..4).all(|job| schedule.start(job).is_some()) && schedule.start(1) >= Some(100));
}

#[test]
fn requested_and_allocated_processors() {
    let swf = "1 10 5 60 8 -1 -1 4 90 -1 1 7 3 -1 2 -1 -1 -1\n2 10 5 60 8 -1 -1 -1 90 -1 1 7 3 -1 2 -1 -1 -1\n";
    let sacct = "JobID|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|State\n\
                 7|ada|100|110|170|60|2|3|64|COMPLETED\n";
    let pbs = "11/02/2026 10:01:10;E;1.vm;user=ada queue=q ctime=1000 qtime=1000 etime=1000 start=1010 exec_host=n/0*8 \
               exec_vnode=(n:ncpus=8) Resource_List.ncpus=4 Resource_List.walltime=00:02:00 end=1070\n";
    let processors = |workload: Workload| {
        workload
            .jobs()
            .iter()
            .map(|job| job.processors)
            .collect::<Vec<_>>()
    };
    for (log, requested, allocated) in [
        (swf, vec![4, 8], vec![8, 8]),
        (sacct, vec![3], vec![64]),
        (pbs, vec![4], vec![8]),
    ] {
        assert_eq!(
            (processors(read(log)), processors(read_by(log, ALLOCATED))),
            (requested, allocated)
        );
    }
}

const TORQUE: &str = "\
08/26/2014 17:07:44;Q;11923.napali;queue=batch
08/26/2014 17:07:50;S;11923.napali;user=dbeer group=company jobname=STDIN queue=batch ctime=1000 qtime=1000 etime=1000 start=1010 owner=dbeer@napali exec_host=napali/0+napali/1 Resource_List.neednodes=2:ppn=6 Resource_List.nodect=2 Resource_List.nodes=2:ppn=6
08/26/2014 17:08:04;E;11923.napali;user=dbeer group=company jobname=STDIN queue=batch ctime=1000 qtime=1000 etime=1000 start=1010 owner=dbeer@napali exec_host=napali/0-5+dev-03/0-5 Resource_List.neednodes=2:ppn=6 Resource_List.nodect=2 Resource_List.nodes=2:ppn=6 session=11352 total_execution_slots=12 unique_node_count=2 end=1080 Exit_status=265
08/26/2014 17:08:05;E;2.napali;user=eva group=g queue=batch ctime=1000 qtime=1000 etime=1000 start=1010 exec_host=a/0+b/0+b/1 Resource_List.ncpus=1 Resource_List.nodect=2 Resource_List.nodes=a+b:ppn=2 Resource_List.walltime=01:00:00 end=1080 Exit_status=0
08/26/2014 17:08:05;E;3.napali;user=eva group=g queue=batch ctime=1000 qtime=1000 etime=1000 start=1010 exec_host=p0221/0-79 Resource_List.walltime=01:00:00 Resource_Request_2.0=-L tasks=1:lprocs=80:memory=100GB end=1080 Exit_status=0
08/26/2014 17:08:05;E;4.napali;user=eva group=g queue=batch ctime=1000 qtime=1000 etime=1000 start=1010 exec_host=p/0+p/1+q/0 Resource_List.nodect=1 Resource_List.walltime=01:00:00 end=1080
08/26/2014 17:08:05;E;5.napali;user=eva group=g queue=batch ctime=1000 qtime=1000 etime=1000 Resource_List.nodes=1:ppn=4 end=1080 Exit_status=271
08/26/2014 17:08:06;Q;6.napali;queue=batch
08/26/2014 17:08:07;A;6.napali;
";

#[test]
fn processors_of_torque() {
    let workload = read(TORQUE);
    let expected = [
        "2.napali eva g batch 1000 70 3600 3",
        "3.napali eva g batch 1000 70 3600 80",
        "4.napali eva g batch 1000 70 3600 3",
        "11923.napali dbeer company batch 1000 70 70 12",
    ];
    assert_eq!(described(&workload), expected);
    assert_eq!(left_out(&workload), [("cancelled", 2)]);
    assert_eq!(
        described(&read_by(TORQUE, KEEP_CANCELLED))[3],
        "5.napali eva g batch 1000 0 0 4"
    );
}

#[test]
fn quoted_values_of_accounting_records() {
    let log = r#"11/02/2026 10:01:10;E;1.vm;user=ada group=users account="the lab" project="x y" jobname="a Resource_List.ncpus=99" queue=workq ctime=1000 qtime=1000 etime=1005 start=1010 Resource_List.comment='say "hi" queue=other' Resource_List.select="2:ncpus=4:host=a b" Resource_List.walltime=00:02:00 end=1070 Exit_status=0
"#;
    let workload = read(log);
    assert_eq!(
        described(&workload),
        ["1.vm ada the lab workq 1005 60 120 8"]
    );
    assert_eq!(workload.names().projects[0].as_ref(), "x y");
}

const COURSES: &str = "\
11/02/2026 10:00:00;Q;1.vm;queue=workq
11/02/2026 10:00:01;S;1.vm;user=ada queue=workq ctime=1000 qtime=1000 etime=1000 start=1001 Resource_List.ncpus=4
11/02/2026 10:00:30;R;1.vm;user=ada queue=workq ctime=1000 qtime=1000 etime=1000 start=1001 Resource_List.ncpus=4 end=1030 run_count=1
11/02/2026 10:00:40;S;1.vm;user=ada queue=workq ctime=1000 qtime=1000 etime=1000 start=1040 Resource_List.ncpus=4
11/02/2026 10:01:40;E;1.vm;user=ada queue=workq ctime=1000 qtime=1000 etime=1000 start=1040 Resource_List.ncpus=4 Resource_List.walltime=120 end=1100 run_count=2
11/02/2026 10:02:00;S;2.vm;user=ada queue=workq ctime=1000 qtime=1000 etime=1000 start=1120 Resource_List.ncpus=4
11/02/2026 10:03:00;R;2.vm;user=ada queue=workq ctime=1000 qtime=1000 etime=1000 start=1120 Resource_List.ncpus=4 end=1180
11/02/2026 10:03:10;D;2.vm;requestor=ada@login
11/02/2026 10:03:20;S;3.vm;user=ada queue=workq ctime=1000 qtime=1000 etime=1000 start=1200 Resource_List.ncpus=4
11/02/2026 10:03:30;D;3.vm;requestor=ada@login
11/02/2026 10:03:40;M;4.vm;destination=other
11/02/2026 10:03:50;Q;5.vm;user=bob group=g account=\"a b\" project=_pbs_project_default jobname=x queue=workq ctime=1230 qtime=1230 etime=1230 Resource_List.ncpus=6 Resource_List.walltime=00:01:00
11/02/2026 10:03:55;D;5.vm;requestor=bob@login
11/02/2026 10:04:00;Q;6[].vm;queue=workq
11/02/2026 10:04:01;U;R1.vm;requestor=ada@login
11/02/2026 10:04:01;Y;R1.vm;requestor=Scheduler start=1300 end=1400 nodes=(vn1:ncpus=2)
11/02/2026 10:05:00;B;R1.vm;owner=ada ctime=1241 start=1300 end=1400 nodes=(vn1:ncpus=2)
11/02/2026 10:06:00;K;R1.vm;requestor=ada@login
11/02/2026 10:06:00;E;7.vm;user=ada queue=R1 resvID=R1.vm ctime=1300 qtime=1300 etime=1300 start=1301 Resource_List.ncpus=2 Resource_List.walltime=60 end=1310
";

#[test]
fn courses_of_jobs_and_reservations() {
    let jobs = ["1.vm ada  workq 1000 60 120 4", "7.vm ada  R1 1300 9 60 2"];
    let reasons = [
        ("cancelled", 2),
        ("moved", 1),
        ("rerun", 2),
        ("reservation", 1),
        ("running", 1),
    ];
    let workload = read(COURSES);
    assert_eq!(
        (described(&workload), left_out(&workload)),
        (jobs.map(str::to_owned).into(), reasons.into())
    );
    assert_eq!(
        starts_recorded(&workload),
        [None, Some(1301)],
        "the wait of a job that ran twice contains its first run"
    );
    let mut lines: Vec<&str> = COURSES.lines().collect();
    lines.reverse();
    let reversed = read(&lines.join("\n"));
    assert_eq!(
        (described(&reversed), left_out(&reversed)),
        (jobs.map(str::to_owned).into(), reasons.into())
    );
    // where the record of a job that was queued says what it asks for, the job can be kept
    let kept = read_by(COURSES, KEEP_CANCELLED);
    assert_eq!(
        described(&kept),
        [jobs[0], "5.vm bob a b workq 1230 0 60 6", jobs[1]]
    );
    assert_eq!(left_out(&kept)[0], ("cancelled", 1));
}

const COLUMNS: &str = "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|State|JobName";

#[test]
fn rows_of_sacct_with_the_separator_in_a_name() {
    let row = "7|ada|phys|cpu|100|110|120|180|60|2|3|4|COMPLETED";
    let expected = ["7 ada phys cpu 110 60 120 3"];
    assert_eq!(
        described(&read(&format!("{COLUMNS}\n{row}|a|b|c\n"))),
        expected
    );
    // one text among the columns
    let before = "JobID|JobName|Submit|Start|End|ReqCPUS|Priority|TimelimitRaw\n7|a|5000|x|110|120|180|3|99|2\n8|b|111|121|181|3|9|2\n";
    assert_eq!(
        described(&read(before)),
        ["7    110 60 120 3", "8    111 60 120 3"]
    );
    // two of them: nobody knows whose fields they are
    let two = "JobID|JobName|Constraints|Submit|Start|End|ReqCPUS\n7|a|b|c|110|120|180|3\n8|a|b|110|120|180|3\n";
    let workload = read(two);
    assert_eq!(
        (workload.jobs().len(), left_out(&workload)),
        (1, vec![("damaged", 1)])
    );
    let message = &workload.faults().messages()[0];
    assert!(
        message.contains("`JobName` at the end of `-o`") && message.contains("another separator"),
        "{message}"
    );
    // another separator, and one at the end of each line (`-p`)
    for separator in ["^", "\t", "@@"] {
        let log = format!("{COLUMNS}\n{row}|a|b\n").replace('|', separator);
        assert_eq!(described(&read(&log)), expected, "{separator}");
    }
    assert_eq!(
        described(&read(&format!("{COLUMNS}|\n{row}|a|\n"))),
        expected
    );
}

#[test]
fn states_of_sacct() {
    let log = format!(
        "{COLUMNS}\n\
         1|ada|phys|cpu|100|110|120|180|60|2|3|4|COMPLETED|a\n\
         2|ada|phys|cpu|100|110|None|180|0|2|3|0|CANCELLED by 1000|a\n\
         3|ada|phys|cpu|100|110|180|180|0|2|3|3|CANCELLED|a\n\
         4|ada|phys|cpu|100|110|120|180|60|2|3|4|CANCELLED by 1000|a\n\
         5|ada|phys|cpu|100|110|Unknown|Unknown|0|2|3|0|PENDING|a\n\
         6|ada|phys|cpu|100|110|120|Unknown|60|2|3|4|RUNNING|a\n\
         8|ada|phys|cpu|100|110|120|180|60|2|3|4|REQUEUED|a\n\
         8|ada|phys|cpu|100|110|300|360|60|2|3|4|COMPLETED|a\n\
         9_[2-7%2]|ada|phys|cpu|100|110|None|180|0|2|3|0|CANCELLED|a\n\
         10|ada|phys|cpu|100|Unknown|None|180|0|2|3|0|CANCELLED|a\n"
    );
    let workload = read(&log);
    let expected = [
        "1 ada phys cpu 110 60 120 3",
        "4 ada phys cpu 110 60 120 3",
        "8 ada phys cpu 110 60 120 3",
    ];
    assert_eq!(described(&workload), expected);
    assert_eq!(
        left_out(&workload),
        [
            ("cancelled", 9),
            ("rerun", 1),
            ("running", 1),
            ("waiting", 1)
        ]
    );
    let kept = read_by(&log, KEEP_CANCELLED);
    assert_eq!(kept.jobs().len(), 7);
    assert_eq!(described(&kept)[0], "10 ada phys cpu 100 0 120 3");
}

#[test]
fn tasks_that_wait_in_one_row_of_sacct() {
    let log = format!(
        "{COLUMNS}\n\
         1|ada|phys|cpu|100|110|120|180|60|2|3|4|COMPLETED|a\n\
         15_[2-9%4]|ada|phys|cpu|100|110|Unknown|Unknown|0|2|3|0|PENDING|a\n\
         16|ada|phys|cpu|100|110|Unknown|Unknown|0|2|3|0|PENDING|a\n"
    );
    let workload = read(&log);
    assert_eq!(
        (left_out(&workload), workload.faults().count()),
        (vec![("waiting", 9)], 9)
    );
}

/// A request that cannot be read is not replaced by another number.
#[test]
fn requests_that_cannot_be_read() {
    let record = |id: u32, request: &str| {
        format!(
            "11/02/2026 10:00:00;Q;{id}.vm;queue=q\n\
             11/02/2026 10:00:01;S;{id}.vm;user=ada queue=q ctime=1000 start=1010\n\
             11/02/2026 10:01:10;E;{id}.vm;user=ada queue=q ctime=1000 start=1010 exec_host=n/0*8 end=1070 {request}\n"
        )
    };
    let accounting = [
        record(1, "Resource_List.ncpus=4"),
        record(2, "Resource_List.ncpus=4 Resource_List.walltime=12h"),
        record(3, "Resource_List.ncpus=64x Resource_List.walltime=60"),
        record(4, "Resource_List.procs=many Resource_List.walltime=60"),
    ];
    let row = |id: u32, limit: &str, raw: &str, requested: &str| {
        format!("{id}|ada|0|110|170|60|{limit}|{raw}|{requested}|8|COMPLETED\n")
    };
    let sacct = [
        "JobID|User|Submit|Start|End|ElapsedRaw|Timelimit|TimelimitRaw|ReqCPUS|AllocCPUS|State\n"
            .to_owned(),
        row(1, "UNLIMITED", "UNLIMITED", "4"),
        row(2, "12h", "", "4"),
        row(3, "01:00:00", "-5", "4"),
        row(4, "01:00:00", "60", "64x"),
    ];
    let swf = "\
        1 10 5 60 8 -1 -1 4 -1 -1 1 7 3 -1 2 -1 -1 -1\n2 10 5 60 8 -1 -1 4 12h -1 1 7 3 -1 2 -1 -1 -1\n\
        3 10 5 60 8 -1 -1 64x 90 -1 1 7 3 -1 2 -1 -1 -1\n4 10 5 60 8 -1 -1 4 x -1 1 7 3 -1 2 -1 -1 -1\n";
    let messages = [accounting.concat(), sacct.concat(), swf.to_owned()].map(|log| {
        let workload = read(&log);
        assert_eq!(
            (workload.jobs().len(), workload.jobs()[0].walltime),
            (1, 60),
            "{log}"
        );
        assert_eq!(
            (left_out(&workload), workload.faults().count()),
            (vec![("damaged", 3)], 3),
            "{log}"
        );
        workload.faults().messages()
    });
    assert_eq!(
        messages[0],
        [
            "`log`, line 9: `Resource_List.ncpus` is not a whole number, found `64x`",
            "`log`, line 12: `Resource_List.procs` is not a whole number, found `many`",
            "`log`, line 6: `Resource_List.walltime` is not a duration, found `12h`",
        ]
    );
    assert_eq!(
        messages[1],
        [
            "`log`, line 5: `ReqCPUS` is not a whole number, found `64x`",
            "`log`, line 3: `TimelimitRaw` or `Timelimit` cannot be read, found `12h`",
            "`log`, line 4: `TimelimitRaw` or `Timelimit` cannot be read, found `-5`",
        ]
    );
    // in whatever order the records are, a job is counted once
    let all = accounting.concat();
    let mut lines: Vec<&str> = all.lines().collect();
    lines.reverse();
    assert_eq!(left_out(&read(&lines.join("\n"))), [("damaged", 3)]);
}

#[test]
fn of_lines_with_one_id_the_order_does_not_choose() {
    let line = |submit: u32, run: u32, processors: u32| {
        format!("5 {submit} 0 {run} {processors} -1 -1 {processors} 90 -1 1 7 3 -1 2 -1 -1 -1\n")
    };
    let kept = |lines: &[String]| {
        read(&lines.concat())
            .jobs()
            .iter()
            .map(|job| (job.run, job.processors))
            .collect::<Vec<_>>()
    };
    for (one, other, expected) in [
        (line(0, 20, 7), line(0, 20, 3), (20, 3)),
        (line(0, 30, 3), line(0, 20, 3), (20, 3)),
        (line(9, 20, 3), line(0, 30, 3), (30, 3)),
    ] {
        assert_eq!(kept(&[one.clone(), other.clone()]), [expected]);
        assert_eq!(kept(&[other, one]), [expected]);
    }
}

#[test]
fn what_sacct_prints_otherwise_is_refused_with_the_command() {
    let refusal = |content: &str| {
        open_workload(&[bytes("file", content)])
            .expect_err("no log")
            .to_string()
    };
    for content in [
        "JobID|JobName|State\n7|a|COMPLETED\n",
        "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n------------ ---------- \n",
        "7|ada|phys|cpu|100|110|120|180|60|2|3|4|COMPLETED\n",
    ] {
        let message = refusal(content);
        assert!(
            message.contains("of sacct, give what `sacct -a -P -X -o JobID,"),
            "{message}"
        );
        let is_job = content.starts_with('7');
        assert_eq!(
            message.contains("the line of the column names is missing"),
            is_job,
            "{message}"
        );
    }
}

/// The same jobs in every format that has all of what is compared.
#[test]
fn one_job_is_the_same_in_every_log() {
    let accounting = "02/23/2026 07:00:05;E;7.vm;user=ada group=staff account=phys project=p queue=long ctime=1771824044 \
        qtime=1771824044 etime=1771824050 start=1771830000 Resource_List.ncpus=4 Resource_List.walltime=02:00:00 \
        session=9 end=1771830005 Exit_status=0\n";
    let job = |state: &str| {
        let resources = "\"Resource_List\":{\"ncpus\":4,\"walltime\":\"02:00:00\"},\"resources_used\":{\"walltime\":\"00:00:05\"}";
        format!(
            "{{\"Job_Owner\":\"ada@login\",\"job_state\":\"{state}\",\"queue\":\"long\",\"egroup\":\"staff\",\"project\":\"p\",\
             \"Account_Name\":\"phys\",\"ctime\":\"Mon Feb 23 05:20:44 2026\",\"qtime\":\"Mon Feb 23 05:20:44 2026\",\
             \"etime\":\"Mon Feb 23 05:20:50 2026\",\"stime\":\"Mon Feb 23 07:00:00 2026\",{resources}}}"
        )
    };
    let [finished, runs, waits, moved] = ["F", "R", "Q", "M"].map(job);
    let qstat = format!(
        "{{\n\t\"timestamp\":\t1771840000,\n\t\"Jobs\":\t{{\n\"7.vm\":{finished},\"8.vm\":{runs},\"9.vm\":{waits},\"10[].vm\":{finished},\
         \"11.vm\":{moved},\"12.vm\":{{\"job_state\":\"F\"}}}}\n}}\n"
    );
    let of_qstat = read(&qstat);
    assert_eq!(described(&of_qstat), described(&read(accounting)));
    assert_eq!(of_qstat.jobs()[0].started, Some(1_771_830_000));
    assert_eq!(
        left_out(&of_qstat),
        [
            ("damaged", 1),
            ("moved", 1),
            ("running", 1),
            ("unlisted", 1),
            ("waiting", 1)
        ]
    );
    // what follows a fault is not read, and that is said
    let cut = read(&qstat[..qstat.find("\"9.vm").expect("a job") + 20]);
    assert_eq!(
        (cut.jobs().len(), left_out(&cut)),
        (1, vec![("damaged", 1), ("running", 1)])
    );

    let heading =
        "JobID|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|ReqCPUS\n";
    let times =
        "2026-02-23T05:20:44|2026-02-23T05:20:50|2026-02-23T07:00:00|2026-02-23T07:00:05|00:00:05";
    let sacct = read(&format!("{heading}7|ada|phys|long|{times}|02:00:00|4\n"));
    let xdmod = |qos: &str| {
        format!(
            "7|7|c|long{qos}|phys|staff|100|ada|1000|{times}|0:0|COMPLETED|1|4|4|4G|billing=4|billing=4|02:00:00|n1|a|name\n"
        )
    };
    for line in [xdmod("|normal"), xdmod("")] {
        assert_eq!(described(&read(&line)), described(&sacct), "{line}");
        assert_eq!(
            described(&read(&line.repeat(2))),
            described(&sacct),
            "{line}"
        );
    }

    let alcf = "JOB_NAME,COBALT_JOBID,MACHINE_NAME,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,\
        PROJECT_NAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_REQUESTED,CORES_USED,CORES_REQUESTED\n\
        \"7.vm\",7,theta,\"2026-02-23 05:20:44\",2026-02-23 07:00:00.500000,2026-02-23 07:00:05,123,45,\"a,b\",7200.0,5.0,1,64.0,4.0\n\
        8.vm,8,theta,2026-02-23 05:20:44,,2026-02-23 07:00:05,123,45,long,7200.0,0,1,64,4\n";
    let of_alcf = read(alcf);
    assert_eq!(described(&of_alcf), ["7.vm 123 45 a,b 1771824044 5 7200 4"]);
    assert_eq!(
        (of_alcf.jobs()[0].started, left_out(&of_alcf)),
        (Some(1_771_830_000), vec![("cancelled", 1)])
    );
    assert_eq!(read_by(alcf, ALLOCATED).jobs()[0].processors, 64);
}

#[test]
fn subjobs_that_qstat_does_not_list_are_counted() {
    let array = |state: &str, more: &str| format!("\"7[].vm\":{{\"job_state\":\"{state}\"{more}}}");
    let finished = "\"job_state\":\"X\",\"euser\":\"ada\",\"Resource_List\":{\"ncpus\":4},\"ctime\":\"Mon Feb 23 05:20:44 2026\",\
        \"stime\":\"Mon Feb 23 07:00:00 2026\",\"resources_used\":{\"walltime\":\"00:00:05\"}";
    let subjob = |index: u32| format!("\"7[{index}].vm\":{{{finished}}}");
    let states = |queued: u32, running: u32, expired: u32| {
        format!(
            ",\"array_state_count\":\"Queued:{queued} Running:{running} Exiting:0 Expired:{expired} \""
        )
    };
    let read = |jobs: &[String]| {
        read(&format!(
            "{{\"Jobs\":{{\"1.vm\":{{{finished}}},{}}}}}",
            jobs.join(",")
        ))
    };
    for (jobs, expected) in [
        (vec![array("F", "")], vec![("unlisted", 1)]),
        (vec![array("F", &states(0, 0, 10))], vec![("unlisted", 10)]),
        // of one that runs, some subjobs have finished
        (vec![array("B", &states(3, 2, 5))], vec![("unlisted", 10)]),
        (vec![array("Q", &states(10, 0, 0))], vec![("waiting", 10)]),
        (vec![array("H", "")], vec![("waiting", 1)]),
        (vec![array("M", &states(10, 0, 0))], vec![("moved", 10)]),
        (
            vec![array("F", &states(0, 0, 2)), subjob(0), subjob(1)],
            vec![],
        ),
        (vec![array("F", ""), subjob(0)], vec![]),
        (
            vec![array("F", &states(0, 0, 2)), subjob(0)],
            vec![("unlisted", 1)],
        ),
    ] {
        let workload = read(&jobs);
        assert_eq!(
            (workload.jobs().len(), left_out(&workload)),
            (jobs.len(), expected),
            "{jobs:?}"
        );
    }
    let words = "10 in arrays whose subjobs are not listed (use `qstat -x -t -f -F json`)";
    assert_eq!(
        read(&[array("F", &states(0, 0, 10))])
            .faults()
            .summary([])
            .as_deref(),
        Some(words)
    );
}
