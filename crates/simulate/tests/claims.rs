//! What a comparison claims, and how often it is wrong: pairs of orders that differ by chance
//! alone, a real effect, and how often an interval contains the true change.
//!
//! By default few logs are simulated. The figures of `docs/simulation.md` are those of
//! `JSF_CLAIM_PAIRS=200 JSF_CLAIM_LOGS=200 JSF_CLAIM_EFFECTS=100 JSF_CLAIM_JOBS=10000 cargo test -p jsf-simulate claims -- --nocapture`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Schema};
use jsf_simulate::{
    Backfill, Difference, LogInputs, LoggedAmount, LoggedJob, MeanChange, Random, Schedule,
    Workload, WorkloadBuilder, WorkloadModel, generate, simulate,
};
use jsf_testing::random::Generator;
use jsf_testing::setting;

use crate::identical_processors::identical_processors;

/// The names of two inputs that are random numbers.
const RANDOM: [&str; 2] = ["first_priority", "second_priority"];
/// The processors and the load of two kinds of logs.
const KINDS: [(u32, f64); 2] = [(16, 0.7), (64, 0.8)];

fn builder() -> WorkloadBuilder {
    let names = RANDOM.map(|name| (name.into(), Some(InputType::Float)));
    WorkloadBuilder::with_inputs(LogInputs {
        names: names.into(),
        ..LogInputs::default()
    })
}

/// A generated log whose jobs have two random priorities each.
fn log(jobs: usize, (processors, load): (u32, f64), seed: u64) -> Workload {
    let generated = generate(&WorkloadModel {
        jobs,
        processors,
        load,
        seed,
        ..WorkloadModel::default()
    });
    let mut builder = builder();
    let mut generator = Generator(seed);
    for (index, job) in generated.jobs().iter().enumerate() {
        let numbers = RANDOM.map(|_| generator.below(1 << 40).to_string());
        let amounts = [0, 1].map(|input| LoggedAmount {
            name: RANDOM[input].into(),
            text: (&*numbers[input]).into(),
            source: None,
        });
        let logged = LoggedJob {
            id: generated.id(index),
            entity: &generated.entities()[job.entity as usize],
            group: &generated.groups()[job.group as usize],
            queue: &generated.queues()[job.queue as usize],
            submit: job.submit,
            run: job.run,
            walltime: Some(job.walltime),
            processors: job.processors.into(),
            amounts: &amounts,
            ..LoggedJob::default()
        };
        builder.push(&logged).expect("a job that can be simulated");
    }
    builder.finish()
}

fn run(workload: &Workload, formula: &str, processors: u32) -> Schedule {
    let mut schema = Schema::openpbs();
    for name in RANDOM {
        schema.add_listed(name, InputType::Float);
    }
    let program = Formula::parse(formula)
        .expect("a formula")
        .compile(&schema)
        .expect("arithmetic");
    let rules = identical_processors(workload, processors, Backfill::Easy);
    simulate(&program, workload, rules, None, &mut ()).expect("a schedule")
}

/// Compares two formulas on logs with the seeds from 1 on.
fn differences_on(
    logs: usize,
    processors: u32,
    log: impl Fn(u64) -> Workload + Sync,
    [old, new]: [&str; 2],
) -> Vec<Difference> {
    let next = AtomicUsize::new(1);
    let compare_some = || {
        let mut compared = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > logs {
                return compared;
            }
            let workload = log(seed as u64);
            let [old, new] = [old, new].map(|formula| run(&workload, formula, processors));
            compared.push((seed, Difference::new(&workload, &old, &new, 0)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut compared: Vec<(usize, Difference)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(compare_some)).collect();
        running
            .into_iter()
            .flat_map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    compared.sort_by_key(|(seed, _)| *seed);
    compared
        .into_iter()
        .map(|(_, difference)| difference)
        .collect()
}

/// The same on generated logs.
fn differences(logs: usize, jobs: usize, kind: (u32, f64), formulas: [&str; 2]) -> Vec<Difference> {
    differences_on(logs, kind.0, |seed| log(jobs, kind, seed), formulas)
}

/// All changes of a comparison that can have a star.
fn changes(difference: &Difference) -> impl Iterator<Item = &MeanChange> {
    let classes = difference.classes.each_ref().into_iter();
    let classes = classes.flatten();
    let all = difference.means().map(|(_, change)| change);
    all.into_iter().chain(classes.map(|group| &group.wait))
}

fn claims_something(difference: &Difference) -> bool {
    changes(difference).any(MeanChange::is_significant)
}

#[test]
fn two_random_orders_are_hardly_ever_told_apart() {
    let pairs = setting("JSF_CLAIM_PAIRS", 30) as usize;
    let jobs = setting("JSF_CLAIM_JOBS", 6000) as usize;
    for kind in KINDS {
        let compared = differences(pairs, jobs, kind, RANDOM);
        let tested: usize = compared
            .iter()
            .flat_map(changes)
            .filter(|change| change.interval().is_some())
            .count();
        let claims = compared
            .iter()
            .filter(|difference| claims_something(difference))
            .count();
        println!(
            "{kind:?}: {claims} of {pairs} pairs claim something, of {} changes each",
            tested / pairs
        );
        assert!(
            tested > pairs * 20,
            "{kind:?}: {tested} changes have an interval"
        );
        assert!(
            claims * 10 <= pairs,
            "{kind:?}: {claims} of {pairs} pairs of random orders claim something"
        );
    }
}

#[test]
fn a_real_effect_is_found() {
    let logs = setting("JSF_CLAIM_EFFECTS", 4) as usize;
    let jobs = setting("JSF_CLAIM_JOBS", 6000) as usize;
    for kind in KINDS {
        let compared = differences(logs, jobs, kind, ["eligible_time", "-walltime"]);
        let found = compared
            .iter()
            .filter(|difference| difference.bounded_slowdown.is_decrease())
            .count();
        let classes: usize = compared
            .iter()
            .filter(|difference| {
                difference
                    .classes
                    .lengths
                    .iter()
                    .any(|group| group.wait.is_decrease())
            })
            .count();
        println!(
            "{kind:?}: the slowdown falls in {found} of {logs} logs, and short jobs win in {classes}"
        );
        assert!(
            found * 10 >= logs * 7,
            "{kind:?}: found in {found} of {logs} logs"
        );
    }
}

/// The true change is the mean over all logs.
#[test]
fn intervals_contain_the_true_change() {
    let logs = setting("JSF_CLAIM_LOGS", 8) as usize;
    let jobs = setting("JSF_CLAIM_JOBS", 6000) as usize;
    let pairs = [
        ["eligible_time", "eligible_time / (walltime + 1)"],
        RANDOM,
        ["eligible_time", "-walltime"],
    ];
    for (kind, pair) in KINDS
        .into_iter()
        .flat_map(|kind| pairs.map(|pair| (kind, pair)))
    {
        let compared = differences(logs, jobs, kind, pair);
        let waits: Vec<MeanChange> = compared.iter().map(|difference| difference.wait).collect();
        let slowdowns: Vec<MeanChange> = compared
            .iter()
            .map(|difference| difference.bounded_slowdown)
            .collect();
        let covered = [covered(&waits), covered(&slowdowns)];
        let percent = covered.map(|covered| covered as f64 / logs as f64 * 100.0);
        println!(
            "{kind:?} {pair:?}: {:.1} % of the intervals of waits, {:.1} % of slowdowns",
            percent[0], percent[1]
        );
        // few logs say little, and their mean is not the truth
        let is_study = logs >= 200;
        let bounds = match is_study {
            true if kind == KINDS[1] && pair != RANDOM => 93.0..=97.0,
            // between orders by chance an interval that counts users is wider than it need be
            true if pair == RANDOM => 90.0..=100.0,
            true => 90.0..=98.0,
            false => 60.0..=100.0,
        };
        assert!(
            percent.iter().all(|percent| bounds.contains(percent)),
            "{kind:?} {pair:?}: {percent:?}"
        );
    }
}

fn covered(changes: &[MeanChange]) -> usize {
    let truth = changes.iter().map(MeanChange::difference).sum::<f64>() / changes.len() as f64;
    let contains = |change: &&MeanChange| {
        change
            .interval()
            .is_some_and(|[low, high]| (low..=high).contains(&truth))
    };
    changes.iter().filter(contains).count()
}

/// What two random priorities are fixed for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FixedFor {
    Job,
    Burst,
    User,
}

/// Users who submit bursts of jobs that are alike.
#[derive(Debug, Clone, Copy)]
struct Bursts {
    users: usize,
    processors: u32,
    load: f64,
    /// The mean number of jobs in a burst.
    jobs: f64,
    fixed_for: FixedFor,
}

const BURSTS: [Bursts; 5] = [
    Bursts {
        users: 160,
        processors: 128,
        load: 0.93,
        jobs: 25.0,
        fixed_for: FixedFor::User,
    },
    Bursts {
        users: 40,
        processors: 64,
        load: 0.85,
        jobs: 12.0,
        fixed_for: FixedFor::User,
    },
    Bursts {
        users: 80,
        processors: 128,
        load: 0.9,
        jobs: 60.0,
        fixed_for: FixedFor::User,
    },
    Bursts {
        users: 160,
        processors: 128,
        load: 0.93,
        jobs: 25.0,
        fixed_for: FixedFor::Burst,
    },
    Bursts {
        users: 160,
        processors: 128,
        load: 0.93,
        jobs: 25.0,
        fixed_for: FixedFor::Job,
    },
];
const HALF_YEAR: f64 = 182.0 * 86_400.0;
const HOUR: f64 = 3600.0;
const LONGEST_RUN: f64 = 3.0 * 86_400.0;

/// A job of a burst: when it is submitted in a half-year, whose it is, what it asks for, and its
/// priorities.
#[derive(Debug, Clone, Copy)]
struct BurstJob {
    submit: f64,
    user: usize,
    processors: u32,
    run: f64,
    walltime: f64,
    priorities: [usize; 2],
}

impl Bursts {
    /// About so many jobs, in a time in which they hold the load of the machine.
    fn log(&self, jobs: usize, seed: u64) -> Workload {
        let random = &mut Random(seed);
        let mut bursts: Vec<BurstJob> = Vec::new();
        let users: Vec<BurstJob> = (0..self.users)
            .map(|user| self.user(user, random))
            .collect();
        while bursts.len() < jobs {
            // a few users submit most bursts
            let user = libm::pow(self.users as f64 + 1.0, random.uniform()) as usize - 1;
            self.add_burst(&users[user.min(self.users - 1)], &mut bursts, random);
        }
        bursts.sort_by(|one, other| one.submit.total_cmp(&other.submit));
        let held: f64 = bursts
            .iter()
            .map(|job| job.run * f64::from(job.processors))
            .sum();
        let span = bursts[bursts.len() - 1].submit - bursts[0].submit;
        let speed = held / f64::from(self.processors) / self.load / span;
        let mut builder = builder();
        for (id, job) in bursts.iter().enumerate() {
            let [id, user, group] = [
                id.to_string(),
                format!("u{}", job.user),
                format!("g{}", job.user / 8),
            ];
            let numbers = job.priorities.map(|number| number.to_string());
            let amounts = [0, 1].map(|input| LoggedAmount {
                name: RANDOM[input].into(),
                text: (&*numbers[input]).into(),
                source: None,
            });
            let logged = LoggedJob {
                id: &id,
                entity: &user,
                user: &user,
                group: &group,
                queue: if job.walltime <= HOUR {
                    "short"
                } else {
                    "workq"
                },
                submit: ((job.submit - bursts[0].submit) * speed) as i64,
                run: job.run as i64,
                walltime: Some(job.walltime as i64),
                processors: job.processors.into(),
                amounts: &amounts,
                ..LoggedJob::default()
            };
            builder.push(&logged).expect("a job that can be simulated");
        }
        builder.finish()
    }

    /// What the jobs of a user are like: logarithms of processors and run times.
    fn user(&self, user: usize, random: &mut Random) -> BurstJob {
        let priorities = [0, 1].map(|_| random.below(1 << 30));
        let processors = self.size(2.5 + 1.6 * random.normal());
        BurstJob {
            submit: 0.0,
            user,
            processors,
            run: 7.8 + 1.3 * random.normal(),
            walltime: 0.0,
            priorities,
        }
    }

    fn size(&self, exponent: f64) -> u32 {
        libm::exp2(libm::round(exponent).clamp(0.0, libm::log2(self.processors.into()) - 1.0))
            as u32
    }

    fn add_burst(&self, user: &BurstJob, bursts: &mut Vec<BurstJob>, random: &mut Random) {
        let jobs = 1 + (-self.jobs * libm::log(random.uniform())) as usize;
        let between = [2.0, 30.0, 300.0, 1800.0][random.below(4)];
        let mut submit = random.uniform() * HALF_YEAR;
        let run = user.run + 0.8 * random.normal();
        let walltime = libm::ceil(libm::exp(run + 1.2) / 900.0) * 900.0;
        let processors = self.size(libm::log2(user.processors.into()) + 0.7 * random.normal());
        let of_burst = [0, 1].map(|_| random.below(1 << 30));
        for _ in 0..jobs {
            let run = libm::exp(run + 0.5 * random.normal())
                .clamp(10.0, LONGEST_RUN)
                .min(walltime);
            let priorities = match self.fixed_for {
                FixedFor::User => user.priorities,
                FixedFor::Burst => of_burst,
                FixedFor::Job => [0, 1].map(|_| random.below(1 << 30)),
            };
            bursts.push(BurstJob {
                submit,
                processors,
                run,
                walltime,
                priorities,
                ..*user
            });
            submit -= between * libm::log(random.uniform());
        }
    }
}

/// The jobs of a user go one way under orders that know the user, and those of a burst are alike:
/// that is no effect either.
#[test]
fn random_orders_of_users_are_hardly_ever_told_apart() {
    let pairs = setting("JSF_CLAIM_PAIRS", 24) as usize;
    let jobs = setting("JSF_CLAIM_JOBS", 6000) as usize;
    let first = setting("JSF_CLAIM_SEED", 0) * 1000;
    for bursts in BURSTS {
        let compared = differences_on(
            pairs,
            bursts.processors,
            |seed| bursts.log(jobs, first + seed),
            RANDOM,
        );
        let claims = compared
            .iter()
            .filter(|difference| claims_something(difference))
            .count();
        let groups: usize = compared
            .iter()
            .flat_map(changes)
            .filter(|change| change.is_significant())
            .count();
        // over all draws of the priorities, no mean changes
        let is_missed = |change: &MeanChange| {
            change
                .interval()
                .is_some_and(|[low, high]| low > 0.0 || high < 0.0)
        };
        let missed = compared
            .iter()
            .filter(|difference| is_missed(&difference.wait))
            .count();
        println!(
            "{bursts:?}: {claims} of {pairs} pairs claim something, {groups} changes; {missed} intervals lack 0"
        );
        assert!(
            claims * 12 <= pairs,
            "{bursts:?}: {claims} of {pairs} pairs of random orders claim something"
        );
        assert!(
            missed * 10 <= pairs,
            "{bursts:?}: {missed} of {pairs} intervals do not contain 0"
        );
    }
}

#[test]
fn an_effect_on_the_jobs_of_bursts_is_found() {
    let logs = setting("JSF_CLAIM_EFFECTS", 12) as usize;
    let jobs = setting("JSF_CLAIM_JOBS", 6000) as usize;
    let bursts = BURSTS[0];
    let formulas = ["eligible_time", "-walltime"];
    let compared = differences_on(
        logs,
        bursts.processors,
        |seed| bursts.log(jobs, seed),
        formulas,
    );
    let found = compared
        .iter()
        .filter(|difference| claims_something(difference))
        .count();
    println!("{bursts:?}: something is claimed in {found} of {logs} logs");
    assert!(found * 3 >= logs, "found in {found} of {logs} logs");
}
