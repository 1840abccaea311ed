//! A table whose jobs come, change and go equals a table of the same jobs that was built at once.

use std::cell::RefCell;
use std::collections::HashMap;

use job_sort_formula::fairshare::{EntityShares, FairShare};
use job_sort_formula::jobs::{Exclusion, Job, JobState};
use job_sort_formula::rank::{
    ColumnScratch, InputColumn, OnError, ScorePrecision, fill_fairshare, score,
};
use job_sort_formula::{Formula, JobTable, Program, Ranking, Schema, Value};
use jsf_testing::random::Generator;
use jsf_testing::setting;

const COLUMNS: [&str; 3] = ["ncpus", "walltime", "fairshare_factor"];

#[derive(Debug, Clone)]
struct Waiting {
    id: String,
    entity: String,
    queue: &'static str,
    state: JobState,
    queued_at: Option<i64>,
    exclusion: Option<Exclusion>,
    inputs: [Result<Value, Value>; 3],
}

impl Waiting {
    fn random(random: &mut Generator, number: usize) -> Self {
        let id = match random.below(30) {
            0 => format!("{}[].vm", number),
            // out of order
            1 => format!("{}.other", random.below(1 << 40)),
            _ => format!("{number}.vm"),
        };
        let factor = || Err(Value::Int(0));
        Self {
            id,
            entity: format!("user{}", random.below(40)),
            queue: ["workq", "express"][random.below(2) as usize],
            state: [JobState::Queued, JobState::Held][usize::from(random.below(8) == 0)],
            queued_at: (random.below(3) > 0).then_some(number as i64 * 1000),
            exclusion: (random.below(20) == 0).then_some(Exclusion::Subjob),
            inputs: [
                number_of_cpus(random),
                if random.below(3) == 0 {
                    Err(Value::Int(0))
                } else {
                    Ok(Value::Int(random.below(90_000) as i64))
                },
                if random.below(50) == 0 {
                    Ok(Value::Float(0.125))
                } else {
                    factor()
                },
            ],
        }
    }

    fn push(&self, table: &mut JobTable) {
        let Self {
            id,
            entity,
            queue,
            state,
            queued_at,
            exclusion,
            inputs,
        } = self;
        let exclusion = exclusion.clone();
        let job = Job {
            id,
            entity,
            queue,
            state: *state,
            queued_at: *queued_at,
            exclusion,
        };
        table.push(&job, inputs).expect("a new id");
    }
}

fn number_of_cpus(random: &mut Generator) -> Result<Value, Value> {
    Ok(match random.below(40) {
        0 => Value::Int(1 << 40),
        1 => Value::Int((1 << 53) + 1),
        2 => Value::Float(2.5),
        _ => Value::Int(random.below(100) as i64),
    })
}

fn shares(random: &mut Generator) -> HashMap<String, EntityShares> {
    let mut share = |number: u64| {
        let factor = random.below(1 << 20) as f64 / f64::from(1 << 20);
        (
            format!("user{number}"),
            EntityShares::new(0.5, 0.5, factor).expect("in range"),
        )
    };
    (0..40).map(&mut share).collect()
}

/// A table of these jobs, built at once.
fn built(jobs: &[Waiting], shares: &HashMap<String, EntityShares>) -> JobTable {
    let mut table = JobTable::new(COLUMNS);
    jobs.iter().for_each(|job| job.push(&mut table));
    fill_fairshare(&mut table, shares, Value::Float);
    table
}

fn assert_equal(live: &JobTable, built: &JobTable, programs: &[Program]) {
    assert_eq!(live.len(), built.len());
    for row in 0..built.len() {
        let attributes = |table: &JobTable| {
            let names = [table.id(row), table.entity(row), table.queue(row)].map(str::to_owned);
            let state = (
                table.state(row),
                table.exclusion(row).cloned(),
                table.is_considered(row),
            );
            (
                names,
                state,
                table.row(table.id(row)),
                table.submit_order(row),
            )
        };
        assert_eq!(attributes(live), attributes(built), "row {row}");
        for name in COLUMNS {
            let [live, built] = [live, built].map(|table| table.column(name).expect("a column"));
            assert!(
                live.value(row).is_identical(&built.value(row)),
                "{name} of row {row}"
            );
            assert_eq!(
                (live.is_set(row), live.is_int(row)),
                (built.is_set(row), built.is_int(row)),
                "{name} {row}"
            );
        }
    }
    let exceptions = |table: &JobTable| {
        let columns = table
            .columns()
            .map(|(_, column)| column.exceptions().iter().map(|(row, _)| *row).collect());
        columns.collect::<Vec<Vec<u32>>>()
    };
    assert_eq!(exceptions(live), exceptions(built));
    for program in programs {
        let rank = |table: &JobTable| {
            let ranking = Ranking::new(
                program,
                table,
                ScorePrecision::Float32,
                OnError::ZeroLikePbs,
            );
            (ranking.order().to_vec(), ranking.error_count())
        };
        assert_eq!(rank(live), rank(built));
    }
}

#[test]
fn a_live_table_equals_one_that_is_built_at_once() {
    let mut random = Generator(setting("JSF_SEED", 7));
    let compile = |text: &str| {
        Formula::parse(text)
            .unwrap()
            .compile(&Schema::openpbs())
            .unwrap()
    };
    let programs = ["ncpus * fairshare_factor", "100 / walltime + ncpus"].map(compile);
    for _ in 0..setting("JSF_CASES", 12) {
        let (mut jobs, mut table): (Vec<Waiting>, _) = (Vec::new(), JobTable::new(COLUMNS));
        let mut number = 1;
        let cycles = 1 + random.below(12);
        for cycle in 0..cycles {
            let most = [30, 300, 9000][random.below(3) as usize];
            for _ in 0..random.below(most) {
                let job = Waiting::random(&mut random, number);
                number += 1;
                if jobs.iter().rev().take(50).all(|known| known.id != job.id)
                    && table.row(&job.id).is_none()
                {
                    job.push(&mut table);
                    jobs.push(job);
                }
            }
            let removes_one_in =
                [2, 50, 1][random.below(if cycle % 4 == 3 { 3 } else { 2 }) as usize];
            let gone: Vec<bool> = jobs
                .iter()
                .map(|_| random.below(removes_one_in) == 0)
                .collect();
            if random.below(2) == 0 {
                table.retain(|row| !gone[row]);
            } else {
                table
                    .remove(
                        jobs.iter()
                            .zip(&gone)
                            .filter(|(_, gone)| **gone)
                            .map(|(job, _)| &*job.id),
                    )
                    .unwrap();
            }
            let mut gone = gone.iter();
            jobs.retain(|_| !gone.next().unwrap());
            for _ in 0..random.below(20).min(jobs.len() as u64) {
                let row = random.below(jobs.len() as u64) as usize;
                let value = number_of_cpus(&mut random);
                table.set(row, "ncpus", value.clone().unwrap()).unwrap();
                table.set_state(row, JobState::Held).unwrap();
                (jobs[row].inputs[0], jobs[row].state) = (value, JobState::Held);
                if random.below(4) == 0 {
                    table
                        .set(row, "fairshare_factor", Value::Float(0.75))
                        .unwrap();
                    jobs[row].inputs[2] = Ok(Value::Float(0.75));
                }
            }
            if random.below(2) == 0 {
                let times: Vec<i64> = jobs.iter().map(|_| random.below(1 << 54) as i64).collect();
                table.set_integers("walltime", &times).unwrap();
                jobs.iter_mut()
                    .zip(times)
                    .for_each(|(job, time)| job.inputs[1] = Ok(Value::Int(time)));
            }
            let shares = shares(&mut random);
            fill_fairshare(&mut table, &shares, Value::Float);
            assert_equal(&table, &built(&jobs, &shares), &programs);
        }
        table.clear();
        assert_equal(&table, &JobTable::new(COLUMNS), &programs);
    }
}

/// A job with its inputs as they are now, and whether its share is its own.
struct Sharing {
    ncpus: i64,
    perc: Value,
    usage: Value,
    is_own: bool,
}

fn assert_values(table: &JobTable, jobs: &[Sharing]) {
    let [perc, usage] = ["fairshare_perc", "fairshare_tree_usage"]
        .map(|name| table.column(name).expect("a column"));
    assert_eq!((table.len(), perc.len()), (jobs.len(), jobs.len()));
    for (row, job) in jobs.iter().enumerate() {
        assert!(
            perc.value(row).is_identical(&job.perc) && usage.value(row).is_identical(&job.usage),
            "row {row}"
        );
    }
}

/// Compares the scores of a table with those of single jobs, and if the shares are by entity with
/// those of own columns.
fn assert_scores(
    program: &Program,
    table: &JobTable,
    jobs: &[Sharing],
    perc: &[f64],
    usage: &[f64],
) -> usize {
    let scores = score(program, table, ScorePrecision::Double, OnError::ZeroLikePbs);
    let mut scratch = ColumnScratch::new();
    for (row, (job, score)) in jobs.iter().zip(scores.values()).enumerate() {
        let values = program.inputs().iter().map(|name| match &**name {
            "ncpus" => Value::Int(job.ncpus),
            "fairshare_perc" => job.perc.clone(),
            _ => job.usage.clone(),
        });
        let alone = program.score_row(&values.collect::<Vec<_>>(), &mut scratch);
        assert_eq!(alone.is_err(), scores.error(row).is_some(), "row {row}");
        assert_eq!(alone.unwrap_or(0.0).to_bits(), score.to_bits(), "row {row}");
    }
    if jobs.iter().all(|job| !job.is_own) {
        let index: Vec<u32> = (0..jobs.len())
            .map(|row| table.entity_index(row) as u32)
            .collect();
        let ncpus: Vec<i64> = jobs.iter().map(|job| job.ncpus).collect();
        let columns = [
            ("ncpus", InputColumn::I64(&ncpus)),
            (
                "fairshare_perc",
                InputColumn::ByEntity {
                    index: &index,
                    values: perc,
                },
            ),
            (
                "fairshare_tree_usage",
                InputColumn::ByEntity {
                    index: &index,
                    values: usage,
                },
            ),
        ];
        let (mut own, mut errors) = (vec![f64::NAN; jobs.len()], Vec::new());
        program
            .score_columns(
                &columns,
                OnError::ZeroLikePbs,
                &mut scratch,
                &mut own,
                &mut errors,
            )
            .expect("the columns fit");
        assert!(
            own.iter()
                .zip(scores.values())
                .all(|(own, score)| own.to_bits() == score.to_bits())
        );
        assert!(
            errors
                .iter()
                .map(|(row, _)| *row)
                .eq(scores.errors().map(|(row, _)| row))
        );
    }
    scores.errors().len()
}

#[test]
fn a_live_table_has_the_values_and_scores_of_own_columns() {
    const FORMULA: &str =
        "100 * pow(2, -(fairshare_tree_usage/fairshare_perc)) + fairshare_perc * ncpus + ncpus % 7";
    let mut random = Generator(setting("JSF_SEED", 11));
    let program = Formula::parse(FORMULA)
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    let mut errors = 0;
    for case in 0..setting("JSF_CASES", 16) {
        let mut table = JobTable::new(["ncpus", "fairshare_perc", "fairshare_tree_usage"]);
        let (mut jobs, mut number) = (Vec::<Sharing>::new(), 0);
        let users = [1, 40, 5000][random.below(3) as usize];
        for cycle in 0..6 {
            let most = [30, 300, 9000][random.below(3) as usize];
            for _ in 0..random.below(most) {
                number += 1;
                let entity = format!("user{}", random.below(users));
                let ncpus = random.below(256) as i64;
                let job = Job {
                    id: &format!("{number}.vm"),
                    entity: &entity,
                    ..Job::default()
                };
                table
                    .push(&job, &[Ok(Value::Int(ncpus))])
                    .expect("a new id");
                jobs.push(Sharing {
                    ncpus,
                    perc: Value::Int(0),
                    usage: Value::Int(0),
                    is_own: false,
                });
            }
            assert_values(&table, &jobs);
            if case % 2 == 1 && cycle % 3 == 1 && !jobs.is_empty() {
                let row = random.below(jobs.len() as u64) as usize;
                table
                    .set(row, "fairshare_perc", Value::Float(0.25))
                    .expect("a row");
                (jobs[row].perc, jobs[row].is_own) = (Value::Float(0.25), true);
                assert_values(&table, &jobs);
            }
            let perc: Vec<f64> = table
                .entities()
                .iter()
                .map(|_| random.below(20) as f64 / 20.0)
                .collect();
            let usage: Vec<f64> = perc
                .iter()
                .map(|_| random.below(1000) as f64 / 1000.0)
                .collect();
            let values = |numbers: &[f64]| {
                numbers
                    .iter()
                    .map(|&number| Some(Value::Float(number)))
                    .collect::<Vec<_>>()
            };
            table.fill("fairshare_perc", &values(&perc));
            table.fill("fairshare_tree_usage", &values(&usage));
            for (row, job) in jobs.iter_mut().enumerate() {
                let entity = table.entity_index(row);
                job.usage = Value::Float(usage[entity]);
                if !job.is_own {
                    job.perc = Value::Float(perc[entity]);
                }
            }
            assert_values(&table, &jobs);
            errors += assert_scores(&program, &table, &jobs, &perc, &usage);
            let removes_one_in = [2, 50, 1][random.below(3) as usize];
            let gone: Vec<usize> = (0..jobs.len())
                .filter(|_| random.below(removes_one_in) == 0)
                .collect();
            table
                .remove_rows(gone.iter().copied())
                .expect("the rows are there");
            gone.iter().rev().for_each(|&row| _ = jobs.remove(row));
            assert_values(&table, &jobs);
        }
    }
    assert!(errors > 100, "{errors} divisions by zero");
}

#[test]
fn a_change_that_cannot_be_made_changes_nothing() {
    let mut table = JobTable::new(["ncpus", "mem"]);
    table
        .push(
            &Job {
                id: "1.vm",
                ..Job::default()
            },
            &[Ok(Value::Int(4))],
        )
        .unwrap();
    let errors = [
        table
            .set(0, "ngpus", Value::Int(1))
            .unwrap_err()
            .to_string(),
        table.set(1, "mem", Value::Int(1)).unwrap_err().to_string(),
        table.set_integers("mem", &[1, 2]).unwrap_err().to_string(),
        table.set_integers("vmem", &[1]).unwrap_err().to_string(),
        table.remove(["1.vm", "2.vm"]).unwrap_err().to_string(),
        table.set_state(7, JobState::Held).unwrap_err().to_string(),
    ];
    assert_eq!(
        errors,
        [
            "the table has no column `ngpus`; it has `ncpus`, `mem`",
            "the table has 1 jobs, so that there is no row 1",
            "2 values are given for the column `mem`, expected 1, one for each job",
            "the table has no column `vmem`; it has `ncpus`, `mem`",
            "no job of the table has the id `2.vm`",
            "the table has 1 jobs, so that there is no row 7",
        ]
    );
    assert_eq!((table.len(), table.row("1.vm")), (1, Some(0)));
    assert!(table.remove(["x"]).is_err());
}

/// Counts how often each entity is asked for, and knows none.
#[derive(Default)]
struct Asked(RefCell<Vec<String>>);

impl FairShare for Asked {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.0.borrow_mut().push(entity.to_owned());
        None
    }
}

#[test]
fn entities_whose_jobs_have_left_are_not_asked_for() {
    let mut table = JobTable::new(["fairshare_factor"]);
    let push = |table: &mut JobTable, id: &str, entity: &str| {
        table
            .push(
                &Job {
                    id,
                    entity,
                    ..Job::default()
                },
                &[],
            )
            .unwrap();
    };
    for (id, entity) in [("1.vm", "ada"), ("2.vm", "emmy"), ("3.vm", "ada")] {
        push(&mut table, id, entity);
    }
    for (removed, arriving, expected) in [
        ("1.vm", ("4.vm", "rosa"), vec!["ada", "emmy", "rosa"]),
        ("3.vm", ("5.vm", "rosa"), vec!["emmy", "rosa"]),
        ("2.vm", ("6.vm", "ada"), vec!["ada", "rosa"]),
    ] {
        table.remove([removed]).unwrap();
        push(&mut table, arriving.0, arriving.1);
        let backend = Asked::default();
        let mut unknown = fill_fairshare(&mut table, &backend, Value::Float);
        assert_eq!(unknown, backend.0.into_inner());
        unknown.sort();
        assert_eq!(unknown, expected);
    }
}

#[test]
fn entities_of_many_cycles_are_bounded() {
    let mut table = JobTable::new(["fairshare_factor"]);
    for number in 0..10_000 {
        let [id, entity] = ["vm", "user"].map(|suffix| format!("{number}.{suffix}"));
        table
            .push(
                &Job {
                    id: &id,
                    entity: &entity,
                    ..Job::default()
                },
                &[],
            )
            .unwrap();
        if number > 0 {
            table.remove_rows([0]).unwrap();
        }
        assert!(table.entities().len() <= 4098, "{number}");
    }
}

#[test]
fn rows_that_do_not_exist_are_not_excluded() {
    let mut table = JobTable::new(["ncpus"]);
    table.exclude(0, Exclusion::Subjob);
    for id in ["1.vm", "2.vm"] {
        table
            .push(
                &Job {
                    id,
                    ..Job::default()
                },
                &[Ok(Value::Int(1))],
            )
            .unwrap();
    }
    table.exclude(99, Exclusion::Subjob);
    table.remove(["1.vm"]).unwrap();
    assert_eq!(
        (
            table.excluded_rows().count(),
            table.considered_rows().count()
        ),
        (0, 1)
    );
}

#[test]
fn a_column_of_fairshare_perc_serves_its_deprecated_name() {
    let program = Formula::parse("fair_share_perc * 2")
        .unwrap()
        .compile(&Schema::openpbs())
        .unwrap();
    let mut table = JobTable::new(["fairshare_perc"]);
    table
        .push(
            &Job {
                id: "1.vm",
                ..Job::default()
            },
            &[Ok(Value::Float(0.25))],
        )
        .unwrap();
    let scores = score(
        &program,
        &table,
        ScorePrecision::Float32,
        OnError::ZeroLikePbs,
    );
    assert_eq!(scores.values(), [0.5]);
    // an order of the caller may contain rows of another table
    assert_eq!(Ranking::from_order(scores, vec![7, 0]).order(), [0]);
}
