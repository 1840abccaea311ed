//! One cycle of a scheduler: 50,000 jobs of 2,000 users, of which 2 % have left and 2 % are new;
//! usage decays and is charged; all jobs are scored, and the first 500 are ordered.
//!
//! `cargo bench --bench scheduling_cycle`
//!
//! `live table`: a `JobTable` that follows the queue. `rebuilt table`: a new one in each cycle.
//! `own columns`: columns that the scheduler maintains itself, scored with `Program::score_columns`
//! on one thread for each processor.

use std::collections::VecDeque;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use job_sort_formula::fairshare::{
    AssessedTree, DocumentedOpenPbs, Member, NodeId, ShareTree, TreeBuilder,
};
use job_sort_formula::rank::{
    ColumnScratch, InputColumn, OnError, ScoreError, ScorePrecision, fill_fairshare, score,
};
use job_sort_formula::{Job, JobTable, Program, Ranking, Threads, Value};
use queues::Draws;

const FORMULA: &str =
    "100 * pow(2, -(fairshare_tree_usage/fairshare_perc)) + eligible_time/3600 + 10*ncpus/walltime";
const JOBS: usize = 50_000;
const USERS: usize = 2_000;
/// The jobs that leave and arrive in a cycle.
const CHANGES: usize = JOBS / 50;
const TOP: usize = 500;
const CYCLE: i64 = 60;
const PRECISION: ScorePrecision = ScorePrecision::Float32;
const ON_ERROR: OnError = OnError::ZeroLikePbs;

/// What the scheduler knows of a job.
#[derive(Clone)]
struct Waiting {
    id: String,
    user: usize,
    ncpus: i64,
    walltime: i64,
    queued_at: i64,
}

/// The queue of the scheduler before a cycle, the jobs that change in it, and the tree.
struct Site {
    draws: Draws,
    now: i64,
    next_number: usize,
    queue: VecDeque<Waiting>,
    names: Vec<String>,
    nodes: Vec<NodeId>,
    tree: Option<ShareTree>,
}

impl Site {
    fn new() -> Self {
        let mut builder = TreeBuilder::new("root");
        let (mut names, mut nodes, mut draws) = (Vec::new(), Vec::new(), Draws(3));
        for group in 0..40 {
            let member = Member::group(format!("group{group}")).shares(1 + draws.below(50));
            let above = builder.add(builder.root(), member).expect("a new name");
            for user in 0..USERS / 40 {
                let name = format!("g{group}u{user}");
                let member = Member::entity(&*name)
                    .shares(1 + draws.below(50))
                    .usage(draws.below(1_000_000) as f64);
                nodes.push(builder.add(above, member).expect("a new name"));
                names.push(name);
            }
        }
        let tree = Some(builder.finish());
        let mut site = Self {
            draws,
            now: 1_000_000,
            next_number: 100_000,
            queue: VecDeque::new(),
            names,
            nodes,
            tree,
        };
        let first_time = site.now - 4 * JOBS as i64;
        site.queue = (0..JOBS as i64)
            .map(|job| site.job(first_time + 4 * job))
            .collect();
        site
    }

    fn job(&mut self, queued_at: i64) -> Waiting {
        self.next_number += 1;
        let number = self.next_number;
        Waiting {
            id: format!("{number}.server"),
            user: self.draws.below(USERS as i64) as usize,
            ncpus: 1 + self.draws.below(256),
            walltime: 600 + self.draws.below(86_400),
            queued_at,
        }
    }

    /// The jobs that leave, ascending, as places in the queue, and those that arrive.
    fn changes(&mut self) -> (Vec<usize>, Vec<Waiting>) {
        let step = JOBS / CHANGES;
        let leaving = (0..CHANGES)
            .map(|change| change * step + self.draws.below(step as i64) as usize)
            .collect();
        let arriving = (0..CHANGES).map(|_| self.job(self.now)).collect();
        self.now += CYCLE;
        (leaving, arriving)
    }

    /// Decays the tree, charges the jobs that have left, and computes all shares.
    fn charge(&mut self, left: impl Iterator<Item = (usize, f64)>) -> AssessedTree {
        let mut tree = self.tree.take().expect("the tree is put back");
        tree.decay(0.999).expect("a factor from 0 to 1");
        for (user, usage) in left {
            tree.charge(self.nodes[user], usage).expect("a usage");
        }
        AssessedTree::new(tree, &DocumentedOpenPbs)
    }
}

/// The cycle with a table that lives; it keeps what it needs to follow the queue.
struct Live {
    site: Site,
    table: JobTable,
    waits: Vec<i64>,
    /// The node of each entity of the table.
    nodes: Vec<NodeId>,
}

/// The columns of a table, in the order in which [`push`] has them; the shares are filled in later.
const COLUMNS: [&str; 5] = [
    "ncpus",
    "walltime",
    "eligible_time",
    "fairshare_perc",
    "fairshare_tree_usage",
];

fn push(table: &mut JobTable, job: &Waiting, names: &[String], now: i64) {
    let inputs =
        [job.ncpus, job.walltime, now - job.queued_at].map(|integer| Ok(Value::Int(integer)));
    let job = Job {
        id: &job.id,
        entity: &names[job.user],
        queued_at: Some(job.queued_at),
        ..Job::default()
    };
    table.push(&job, &inputs).expect("a new id");
}

impl Live {
    fn new() -> Self {
        let mut site = Site::new();
        let mut table = JobTable::new(COLUMNS);
        let queue = std::mem::take(&mut site.queue);
        queue
            .iter()
            .for_each(|job| push(&mut table, job, &site.names, site.now));
        let mut live = Self {
            site,
            table,
            waits: Vec::new(),
            nodes: Vec::new(),
        };
        live.find_new_nodes();
        live
    }

    fn find_new_nodes(&mut self) {
        let tree = self.site.tree.as_ref().expect("the tree is put back");
        let new_entities = &self.table.entities()[self.nodes.len()..];
        self.nodes.extend(
            new_entities
                .iter()
                .map(|name| tree.find(name).expect("the entity is in the tree")),
        );
    }

    fn cycle(
        &mut self,
        program: &Program,
        (leaving, arriving): (Vec<usize>, Vec<Waiting>),
    ) -> Vec<usize> {
        let tree = self.site.tree.as_mut().expect("the tree is put back");
        tree.decay(0.999).expect("a factor from 0 to 1");
        let ncpus = self.table.column("ncpus").expect("a column");
        for &row in &leaving {
            let entity = self.nodes[self.table.entity_index(row)];
            tree.charge(entity, ncpus.nearest_double(row) * CYCLE as f64)
                .expect("a usage");
        }
        self.table
            .remove_rows(leaving)
            .expect("the jobs are in the table");
        arriving
            .iter()
            .for_each(|job| push(&mut self.table, job, &self.site.names, self.site.now));
        self.find_new_nodes();
        self.waits.clear();
        self.waits.extend(
            self.table
                .queue_times()
                .iter()
                .map(|queued_at| self.site.now - queued_at),
        );
        self.table
            .set_integers("eligible_time", &self.waits)
            .expect("a wait for each job");
        let fairshare = AssessedTree::new(
            self.site.tree.take().expect("the tree is put back"),
            &DocumentedOpenPbs,
        );
        let shares = |node: &NodeId| {
            fairshare
                .shares()
                .get(*node)
                .expect("every node has shares")
        };
        let perc: Vec<_> = self
            .nodes
            .iter()
            .map(|node| Some(Value::Float(shares(node).fairshare_perc)))
            .collect();
        let usage: Vec<_> = self
            .nodes
            .iter()
            .map(|node| Some(Value::Float(shares(node).fairshare_tree_usage)))
            .collect();
        self.table.fill("fairshare_perc", &perc);
        self.table.fill("fairshare_tree_usage", &usage);
        self.site.tree = Some(fairshare.into_tree());
        let scores = score(program, &self.table, PRECISION, ON_ERROR);
        Ranking::top(scores, &self.table, TOP).order().to_vec()
    }
}

/// The cycle with a new table.
fn rebuild(
    site: &mut Site,
    queue: &mut Vec<Waiting>,
    program: &Program,
    changes: (Vec<usize>, Vec<Waiting>),
) -> Vec<usize> {
    let (leaving, arriving) = changes;
    let left: Vec<(usize, f64)> = leaving
        .iter()
        .map(|&row| (queue[row].user, (queue[row].ncpus * CYCLE) as f64))
        .collect();
    let mut gone = leaving.iter().peekable();
    let mut row = 0;
    queue.retain(|_| {
        row += 1;
        gone.next_if(|&&gone| gone == row - 1).is_none()
    });
    queue.extend(arriving);
    let mut table = JobTable::new(COLUMNS);
    queue
        .iter()
        .for_each(|job| push(&mut table, job, &site.names, site.now));
    let fairshare = site.charge(left.into_iter());
    fill_fairshare(&mut table, &fairshare, Value::Float);
    site.tree = Some(fairshare.into_tree());
    let ranking = Ranking::top(score(program, &table, PRECISION, ON_ERROR), &table, TOP);
    ranking.order().to_vec()
}

/// Columns that the scheduler maintains itself.
#[derive(Default)]
struct OwnColumns {
    user: Vec<u32>,
    ncpus: Vec<i64>,
    walltime: Vec<i64>,
    queued_at: Vec<i64>,
    waits: Vec<i64>,
    scores: Vec<f64>,
    keys: Vec<(f32, u32)>,
    scratch: [(ColumnScratch, Vec<(usize, ScoreError)>); 2],
}

impl OwnColumns {
    fn push(&mut self, job: &Waiting) {
        self.user.push(job.user as u32);
        self.ncpus.push(job.ncpus);
        self.walltime.push(job.walltime);
        self.queued_at.push(job.queued_at);
    }

    fn cycle(
        &mut self,
        site: &mut Site,
        program: &Program,
        changes: (Vec<usize>, Vec<Waiting>),
    ) -> Vec<usize> {
        let (leaving, arriving) = changes;
        let left: Vec<(usize, f64)> = leaving
            .iter()
            .map(|&row| (self.user[row] as usize, (self.ncpus[row] * CYCLE) as f64))
            .collect();
        remove(&mut self.user, &leaving);
        remove(&mut self.ncpus, &leaving);
        remove(&mut self.walltime, &leaving);
        remove(&mut self.queued_at, &leaving);
        arriving.iter().for_each(|job| self.push(job));
        self.waits.clear();
        self.waits
            .extend(self.queued_at.iter().map(|queued_at| site.now - queued_at));
        let fairshare = site.charge(left.into_iter());
        let shares = |node: &NodeId| {
            fairshare
                .shares()
                .get(*node)
                .expect("every node has shares")
        };
        let perc: Vec<f64> = site
            .nodes
            .iter()
            .map(|node| shares(node).fairshare_perc)
            .collect();
        let usage: Vec<f64> = site
            .nodes
            .iter()
            .map(|node| shares(node).fairshare_tree_usage)
            .collect();
        site.tree = Some(fairshare.into_tree());

        self.scores.resize(self.user.len(), 0.0);
        let half = self.user.len() / 2;
        let (first, second) = self.scores.split_at_mut(half);
        let [one, two] = &mut self.scratch;
        let (user, ncpus, walltime, waits) = (&self.user, &self.ncpus, &self.walltime, &self.waits);
        let evaluate = |rows: std::ops::Range<usize>,
                        scores: &mut [f64],
                        scratch: &mut (ColumnScratch, Vec<_>)| {
            let columns = [
                (
                    "fairshare_perc",
                    InputColumn::ByEntity {
                        index: &user[rows.clone()],
                        values: &perc,
                    },
                ),
                (
                    "fairshare_tree_usage",
                    InputColumn::ByEntity {
                        index: &user[rows.clone()],
                        values: &usage,
                    },
                ),
                ("eligible_time", InputColumn::I64(&waits[rows.clone()])),
                ("ncpus", InputColumn::I64(&ncpus[rows.clone()])),
                ("walltime", InputColumn::I64(&walltime[rows])),
            ];
            program
                .score_columns(
                    &columns,
                    OnError::ZeroLikePbs,
                    &mut scratch.0,
                    scores,
                    &mut scratch.1,
                )
                .expect("the columns fit");
        };
        std::thread::scope(|scope| {
            scope.spawn(|| evaluate(0..half, first, one));
            evaluate(half..user.len(), second, two);
        });
        self.keys.clear();
        self.keys.extend(
            self.scores
                .iter()
                .zip(0..)
                .map(|(&score, row)| (score as f32, row)),
        );
        let better = |x: &(f32, u32), y: &(f32, u32)| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1));
        self.keys.select_nth_unstable_by(TOP, better);
        self.keys.truncate(TOP);
        self.keys.sort_unstable_by(better);
        self.keys.iter().map(|&(_, row)| row as usize).collect()
    }
}

fn remove<T: Copy>(items: &mut Vec<T>, leaving: &[usize]) {
    let (mut end, mut start) = (0, 0);
    for &row in leaving.iter().chain([&items.len()]) {
        items.copy_within(start..row, end);
        (end, start) = (end + row - start, row + 1);
    }
    items.truncate(end);
}

fn cycles(criterion: &mut Criterion) {
    let program = queues::compile(FORMULA);
    // work that is already on one of the threads does not wait for one to wake up
    let threads = Threads::new(0);
    let mut group = criterion.benchmark_group("50,000 jobs, 2,000 users");

    let mut live = Live::new();
    let (mut site, mut own) = (Site::new(), OwnColumns::default());
    site.queue.iter().for_each(|job| own.push(job));
    let mut other = Site::new();
    let mut queue: Vec<Waiting> = std::mem::take(&mut other.queue).into();
    for _ in 0..3 {
        let by_live = {
            let changes = live.site.changes();
            live.cycle(&program, changes)
        };
        let by_own = {
            let changes = site.changes();
            own.cycle(&mut site, &program, changes)
        };
        let by_rebuilding = {
            let changes = other.changes();
            rebuild(&mut other, &mut queue, &program, changes)
        };
        assert!(
            by_live == by_own && by_live == by_rebuilding,
            "the three ways order the same jobs"
        );
    }

    group.bench_function("live table", |bencher| {
        bencher.iter_custom(|cycles| {
            let mut time = std::time::Duration::ZERO;
            for _ in 0..cycles {
                let changes = live.site.changes();
                let start = std::time::Instant::now();
                black_box(threads.run(|| live.cycle(&program, changes)));
                time += start.elapsed();
            }
            time
        })
    });
    group.bench_function("own columns", |bencher| {
        bencher.iter_custom(|cycles| {
            let mut time = std::time::Duration::ZERO;
            for _ in 0..cycles {
                let changes = site.changes();
                let start = std::time::Instant::now();
                black_box(threads.run(|| own.cycle(&mut site, &program, changes)));
                time += start.elapsed();
            }
            time
        })
    });
    group.bench_function("rebuilt table", |bencher| {
        bencher.iter_custom(|cycles| {
            let mut time = std::time::Duration::ZERO;
            for _ in 0..cycles {
                let changes = other.changes();
                let start = std::time::Instant::now();
                black_box(threads.run(|| rebuild(&mut other, &mut queue, &program, changes)));
                time += start.elapsed();
            }
            time
        })
    });
    group.finish();
}

criterion_group!(benches, cycles);
criterion_main!(benches);
