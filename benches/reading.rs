//! How fast a queue is read: the project's reader against a typed `serde_json` reader on one
//! thread, written here, which takes the same fields and checks nothing else. The documents are
//! made here, the same on every run.

use std::fmt::{self, Write};
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use job_sort_formula::{Schema, Threads};
use jsf_ingest::{ReadOptions, read_jobs};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

const LINES: usize = 100_000;
const JOBS: usize = 10_000;

/// The counts that the longest published formula needs, as fields, names and columns.
macro_rules! counts {
    ($($name:ident)*) => {
        const COUNTS: &[&str] = &[$(stringify!($name)),*];

        #[derive(Deserialize)]
        struct Line<'d> {
            id: &'d str,
            eligible_time: i64,
            walltime: i64,
            $($name: i64),*
        }

        #[derive(Deserialize)]
        struct Resources<'d> {
            walltime: &'d str,
            $($name: i64),*
        }

        impl Line<'_> {
            fn join(&self, columns: &mut [Vec<f64>]) {
                let values = [self.eligible_time, self.walltime, $(self.$name),*];
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value as f64));
            }
        }

        impl Resources<'_> {
            fn join(&self, eligible_time: &str, columns: &mut [Vec<f64>]) {
                let values = [seconds(eligible_time), seconds(self.walltime), $(self.$name),*];
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value as f64));
            }
        }
    };
}

counts! {
    base_score score_boost enable_wfp wfp_factor project_priority nodect total_cpus enable_backfill backfill_max
    backfill_factor enable_fifo fifo_factor
}

fn seconds(text: &str) -> i64 {
    text.split(':').fold(0, |seconds, part| {
        seconds * 60 + part.parse::<i64>().unwrap_or(0)
    })
}

/// What both readers make: the ids, and a column for each name.
#[derive(Default)]
struct Table {
    ids: Vec<Box<str>>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    fn new() -> Self {
        Self {
            ids: Vec::new(),
            columns: vec![Vec::new(); COUNTS.len() + 2],
        }
    }
}

fn typed_lines(text: &str) -> Table {
    let mut table = Table::new();
    for line in text.lines() {
        let line: Line<'_> = serde_json::from_str(line).expect("a job");
        table.ids.push(line.id.into());
        line.join(&mut table.columns);
    }
    table
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "Jobs", deserialize_with = "jobs")]
    table: Table,
}

#[derive(Deserialize)]
struct Job<'d> {
    eligible_time: &'d str,
    #[serde(rename = "Resource_List", borrow)]
    resources: Resources<'d>,
}

fn jobs<'d, D: Deserializer<'d>>(source: D) -> Result<Table, D::Error> {
    struct Jobs;

    impl<'d> Visitor<'d> for Jobs {
        type Value = Table;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("jobs")
        }

        fn visit_map<M: MapAccess<'d>>(self, mut map: M) -> Result<Table, M::Error> {
            let mut table = Table::new();
            while let Some((id, job)) = map.next_entry::<&str, Job<'_>>()? {
                table.ids.push(id.into());
                job.resources.join(job.eligible_time, &mut table.columns);
            }
            Ok(table)
        }
    }

    source.deserialize_map(Jobs)
}

fn typed_qstat(text: &str) -> Table {
    serde_json::from_str::<Document>(text)
        .expect("a document")
        .table
}

/// Numbers that look random and are the same on every run (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
    }

    /// A number of one to `digits` digits.
    fn number(&mut self, digits: u64) -> u64 {
        let bound = 10_u64.pow(1 + self.roll(digits) as u32);
        self.roll(bound)
    }

    fn time(&mut self) -> String {
        format!(
            "{:02}:{:02}:{:02}",
            self.roll(48),
            self.roll(60),
            self.roll(60)
        )
    }
}

fn lines() -> String {
    let (mut dice, mut text) = (Dice(20_260_101), String::new());
    for number in 0..LINES {
        write!(
            text,
            r#"{{"id":"{}.server","eligible_time":{}"#,
            1_000_000 + number,
            dice.number(6)
        )
        .expect("room");
        write!(text, r#","walltime":{}"#, dice.number(5)).expect("room");
        COUNTS
            .iter()
            .for_each(|name| write!(text, r#","{name}":{}"#, dice.number(5)).expect("room"));
        text.push_str("}\n");
    }
    text
}

/// As the server prints it: a line for each attribute, most of which nobody needs.
fn qstat() -> String {
    const IDLE: [&str; 8] = [
        "Job_Owner",
        "Error_Path",
        "Output_Path",
        "Mail_Points",
        "mtime",
        "Rerunable",
        "Checkpoint",
        "qtime",
    ];
    let (mut dice, mut jobs) = (Dice(20_260_102), Vec::new());
    for number in 0..JOBS {
        let mut job = vec![format!(r#""Job_Name":"job_{number}""#)];
        job.extend(
            IDLE.iter()
                .map(|key| format!(r#""{key}":"login1.example.org:/lustre/run/{key}.{number}""#)),
        );
        let counts: Vec<_> = COUNTS
            .iter()
            .map(|name| format!(r#""{name}":{}"#, dice.number(5)))
            .collect();
        let (walltime, gap) = (dice.time(), ",\n                ");
        job.push(format!(
            r#""Resource_List":{{"walltime":"{walltime}","mem":"4gb"{gap}{}}}"#,
            counts.join(gap)
        ));
        let variables: Vec<_> = (0..20)
            .map(|n| format!(r#""VARIABLE_{n}":"/home/user{number}/bin:\"x\"""#))
            .collect();
        job.push(format!(r#""Variable_List":{{{}}}"#, variables.join(gap)));
        job.push(format!(
            r#""euser":"user{}","eligible_time":"{}""#,
            dice.roll(997),
            dice.time()
        ));
        jobs.push(format!(
            "\"{}.server\":{{\n            {}\n        }}",
            1_000_000 + number,
            job.join(",\n            ")
        ));
    }
    format!(
        "{{\n    \"pbs_version\":\"23.06.06\",\n    \"Jobs\":{{\n        {}\n    }}\n}}\n",
        jobs.join(",\n        ")
    )
}

fn reading(criterion: &mut Criterion) {
    let schema = Schema::openpbs();
    let needed = [&["eligible_time", "walltime"], COUNTS].concat();
    let options = ReadOptions::new(&schema, &needed);
    let typed_readers: [fn(&str) -> Table; 2] = [typed_lines, typed_qstat];
    for ((name, text), typed) in [("lines", lines()), ("qstat", qstat())]
        .into_iter()
        .zip(typed_readers)
    {
        let read = read_jobs(text.as_bytes(), &options).expect("jobs").table;
        assert_eq!(read.len(), typed(&text).ids.len());
        let mut group = criterion.benchmark_group(name);
        group
            .sample_size(20)
            .throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("typed serde_json", |bencher| {
            bencher.iter(|| typed(black_box(&text)))
        });
        for threads in [1, 2] {
            let threads_of_reader = Threads::new(threads);
            group.bench_function(format!("jsf, {threads} threads"), |bencher| {
                threads_of_reader
                    .run(|| bencher.iter(|| read_jobs(black_box(text.as_bytes()), &options)));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, reading);
criterion_main!(benches);
