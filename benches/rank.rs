//! From a table of jobs to their order, for queues of several sizes, and with a fair-share tree of
//! a million entities.
//!
//! `cargo bench --bench rank`
//!
//! On all processors. `assess` is what a policy makes of the tree, `fill_fairshare` brings its
//! numbers to the jobs, `rank` scores and orders them.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use job_sort_formula::fairshare::{
    AssessedTree, DocumentedOpenPbs, Member, NodeId, Policy, ShareTree, TreeBuilder,
};
use job_sort_formula::rank::{OnError, ScorePrecision, fill_fairshare};
use job_sort_formula::{Job, JobTable, Program, Ranking, Value};
use queues::{ALCF, Draws, PP718};

const MILLION: usize = 1_000_000;

fn rank(program: &Program, table: &JobTable) -> Ranking {
    Ranking::new(
        program,
        black_box(table),
        ScorePrecision::Float32,
        OnError::ZeroLikePbs,
    )
}

/// Jobs that carry all their inputs.
fn table(program: &Program, jobs: usize) -> JobTable {
    let (mut draws, mut table) = (
        Draws(1),
        JobTable::new(program.inputs().iter().map(|name| &**name)),
    );
    for job in 0..jobs {
        let inputs: Vec<_> = program
            .inputs()
            .iter()
            .map(|name| Ok(queues::input(name, &mut draws)))
            .collect();
        let id = format!("{job}.server");
        table
            .push(
                &Job {
                    id: &id,
                    queued_at: Some(job as i64),
                    ..Job::default()
                },
                &inputs,
            )
            .expect("a new id");
    }
    table
}

fn sizes(criterion: &mut Criterion) {
    let program = queues::compile(ALCF);
    let mut group = criterion.benchmark_group("rank");
    for jobs in [1000, 100_000, MILLION] {
        let table = table(&program, jobs);
        group.throughput(Throughput::Elements(jobs as u64));
        group.sample_size(if jobs == MILLION { 10 } else { 100 });
        group.bench_function(format!("{jobs} jobs"), |bencher| {
            bencher.iter(|| rank(&program, &table))
        });
    }
    group.finish();
}

/// 100 groups of 100 groups of 100 users, uneven in shares and usage.
fn tree() -> ShareTree {
    let (mut draws, mut builder) = (Draws(2), TreeBuilder::new("root"));
    let root = builder.root();
    let mut add =
        |above: NodeId, member: Member| builder.add(above, member).expect("the names differ");
    for division in 0..100 {
        let member = Member::group(format!("d{division}")).shares(1 + draws.below(50));
        let above = add(root, member);
        for group in 0..100 {
            let member = Member::group(format!("d{division}g{group}")).shares(1 + draws.below(50));
            let above = add(above, member);
            for user in 0..100 {
                let member =
                    Member::entity(user_of(division, group, user)).shares(1 + draws.below(50));
                add(above, member.usage(draws.below(1_000_000) as f64));
            }
        }
    }
    builder.finish()
}

fn user_of(division: i64, group: i64, user: i64) -> String {
    format!("d{division}g{group}u{user}")
}

/// One job for every user, in no order, which lacks the numbers that the tree has.
fn table_of_users(program: &Program) -> JobTable {
    let mut table = JobTable::new(program.inputs().iter().map(|name| &**name));
    let lacks = vec![Err(Value::Float(0.0)); program.inputs().len()];
    for job in 0..MILLION as i64 {
        // 7,919 divides no power of ten: every user once
        let place = job * 7919 % MILLION as i64;
        let (id, entity) = (
            format!("{job}.server"),
            user_of(place / 10_000, place / 100 % 100, place % 100),
        );
        let job = Job {
            id: &id,
            entity: &entity,
            queued_at: Some(job),
            ..Job::default()
        };
        table.push(&job, &lacks).expect("a new id");
    }
    table
}

fn with_a_tree(criterion: &mut Criterion) {
    let program = queues::compile(PP718);
    let (tree, bare) = (tree(), table_of_users(&program));
    let mut group = criterion.benchmark_group("million jobs of a million entities");
    group
        .throughput(Throughput::Elements(MILLION as u64))
        .sample_size(10);
    group.bench_function("assess", |bencher| {
        bencher.iter(|| DocumentedOpenPbs.assess(black_box(&tree)))
    });
    let backend = AssessedTree::new(tree, &DocumentedOpenPbs);
    let fill = |mut table: JobTable| {
        let unknown = fill_fairshare(&mut table, &backend, Value::Float);
        assert!(unknown.is_empty());
        table
    };
    group.bench_function("fill_fairshare", |bencher| {
        bencher.iter_batched(|| bare.clone(), fill, BatchSize::PerIteration)
    });
    let table = fill(bare.clone());
    group.bench_function("rank", |bencher| bencher.iter(|| rank(&program, &table)));
    group.finish();
}

criterion_group!(benches, sizes, with_a_tree);
criterion_main!(benches);
