//! The library inside a scheduler. The formula is compiled once. The table of jobs follows the
//! queue: in every cycle the jobs that have started leave it and new ones are pushed, usage decays
//! and is charged, and the jobs are ranked again. The numbers are those of OpenPBS: its shares and
//! their six decimals, its decay, and its `float` scores, errors and digits.
//!
//! ```text
//! cargo run --example scheduler_cycle
//! ```

use std::error::Error;

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{
    AssessedTree, EntityShares, FairShare, Member, OpenPbs, ShareTree, TreeBuilder, TreeError,
};
use job_sort_formula::jobs::Job;
use job_sort_formula::printing::{logged, resource};
use job_sort_formula::rank::{OnError, ScorePrecision, fill_fairshare, score};
use job_sort_formula::{Formula, JobTable, Ranking, Schema, Value};

/// Seconds from one cycle to the next. Jobs are short here: what starts is over when the next cycle
/// begins.
const CYCLE: i64 = 600;
const CPUS: i64 = 64;

/// The shares as OpenPBS prints them for a formula, with six decimals.
struct Printed<'t>(&'t AssessedTree);

impl FairShare for Printed<'_> {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.0.shares_of(entity).map(EntityShares::printed)
    }
}

/// What this scheduler knows of a job.
struct Waiting {
    id: &'static str,
    user: &'static str,
    ncpus: i64,
    /// In seconds; `None` if the user gave none.
    walltime: Option<i64>,
    /// How long it has waited, in seconds.
    eligible_time: i64,
}

fn main() -> Result<(), Box<dyn Error>> {
    // Once: a program can be shared by threads and lives as long as the formula is in force.
    let formula: Formula = "100 * fairshare_factor + eligible_time/600 + 300/walltime".parse()?;
    let program = formula.compile(&Schema::openpbs())?;
    println!("{formula}\n");

    // The policy turns shares and usage into numbers once per cycle, as OpenPBS does.
    let mut fairshare = AssessedTree::new(share_tree()?, &OpenPbs);
    let mut table = JobTable::new(["walltime", "eligible_time", "fairshare_factor"]);
    // The rows of the table, in its order.
    let mut queue: Vec<Waiting> = Vec::new();
    for cycle in 1..=4 {
        for job in arriving(cycle) {
            // `Ok` is what the job has itself, `Err` what the formula gets if it has nothing.
            // OpenPBS holds an amount of a resource as a double, and prints it for the formula.
            let walltime = job
                .walltime
                .map(|seconds| resource(seconds as f64))
                .ok_or(Value::Int(0));
            table.push(
                &Job {
                    id: job.id,
                    entity: job.user,
                    ..Job::default()
                },
                &[walltime],
            )?;
            queue.push(job);
        }
        let waits: Vec<i64> = queue.iter().map(|job| job.eligible_time).collect();
        table.set_integers("eligible_time", &waits)?;
        fill_fairshare(&mut table, &Printed(&fairshare), Value::Float);
        // With `ZeroLikePbs` a job with an error has the value 0; with `Null` it would come last.
        let scores = score(
            &program,
            &table,
            ScorePrecision::Float32,
            OnError::ZeroLikePbs,
        );
        let ranking = Ranking::top(scores, &table, 6);

        println!("cycle {cycle}");
        let started = start(&queue, &ranking, formula.text());
        let ended = queue.iter().filter(|job| started.contains(&job.id));
        fairshare.update(&OpenPbs, |tree| charge(tree, ended))?;
        table.remove(started.iter().copied())?;
        queue.retain(|job| !started.contains(&job.id));
        queue.iter_mut().for_each(|job| job.eligible_time += CYCLE);
    }
    Ok(())
}

/// Charges the usage of the jobs that have ended, then lets usage decay, in OpenPBS's order.
fn charge<'j>(
    tree: &mut ShareTree,
    ended: impl Iterator<Item = &'j Waiting>,
) -> Result<(), TreeError> {
    for job in ended {
        // Usage counts for the entity and for everything above it.
        if let Some(entity) = tree.find(job.user) {
            tree.charge(entity, (job.ncpus * job.walltime.unwrap_or(CYCLE)) as f64)?;
        }
    }
    let decay = IntervalDecay::new(0.9, CYCLE as u64);
    tree.decay_with(|usage| decay.step(usage));
    Ok(())
}

/// Starts what fits of the first jobs, best first.
fn start(queue: &[Waiting], ranking: &Ranking, text: &str) -> Vec<&'static str> {
    let mut started = Vec::new();
    let mut free = CPUS;
    for (&row, score) in ranking
        .order()
        .iter()
        .filter_map(|row| Some((row, ranking.score(*row)?)))
    {
        let Waiting {
            id, user, ncpus, ..
        } = queue[row];
        match &score.unrounded {
            // One job's error is its own: no other job is the worse for it.
            Err(error) => println!(
                "  {id:<8} {user:<6} {:>8}  {error} in `{}`",
                score.value,
                error.span().slice(text)
            ),
            Ok(_) if ncpus > free => {
                println!("  {id:<8} {user:<6} {:>8}", logged(score.value))
            }
            Ok(_) => {
                println!("  {id:<8} {user:<6} {:>8}  starts", logged(score.value));
                free -= ncpus;
                started.push(id);
            }
        }
    }
    started
}

fn share_tree() -> Result<ShareTree, TreeError> {
    let mut builder = TreeBuilder::new("root");
    let physics = builder.add(builder.root(), Member::group("physics").shares(60))?;
    builder.add(physics, Member::entity("ada").shares(50).usage(60_000.0))?;
    builder.add(physics, Member::entity("emmy").shares(50).usage(20_000.0))?;
    builder.add(
        builder.root(),
        Member::entity("rosa").shares(40).usage(8_000.0),
    )?;
    let mut tree = builder.finish();
    OpenPbs::start_usage(&mut tree);
    Ok(tree)
}

/// The jobs that arrive before a cycle.
fn arriving(cycle: usize) -> Vec<Waiting> {
    let job = |id, user, ncpus, walltime, eligible_time| Waiting {
        id,
        user,
        ncpus,
        walltime,
        eligible_time,
    };
    match cycle {
        1 => vec![
            job("fold-1", "rosa", 32, Some(600), 0),
            job("fold-2", "rosa", 32, Some(600), 0),
            job("fold-3", "rosa", 32, Some(600), 0),
            job("map-1", "ada", 48, Some(600), 6600),
            job("ring-1", "emmy", 16, Some(300), 600),
            job("forgot", "emmy", 4, None, 3600),
        ],
        2 => vec![
            job("map-2", "ada", 48, Some(600), 0),
            job("ring-2", "emmy", 32, Some(600), 0),
        ],
        3 => vec![job("fold-4", "rosa", 32, Some(600), 0)],
        _ => Vec::new(),
    }
}
