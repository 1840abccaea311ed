//! The library inside a scheduler: the formula is compiled once; every cycle scores and orders all jobs, starts what
//! fits, charges its usage, and lets the rest wait on.
//!
//! ```text
//! cargo run --example scheduler_cycle
//! ```

use std::error::Error;

use job_sort_formula::fairshare::Pp718;
use job_sort_formula::fairshare::{AssessedTree, FairShare, Member, ShareTree, TreeBuilder, TreeError};
use job_sort_formula::jobs::{Job, Problem};
use job_sort_formula::rank::{OnError, ScorePrecision, fill_fairshare};
use job_sort_formula::{Formula, JobTable, Program, Ranking, Schema, Value};

/// Seconds from one cycle to the next. Jobs are short here: what starts is over when the next cycle begins.
const CYCLE: i64 = 600;
const CPUS: i64 = 64;

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

    let mut tree = share_tree()?;
    let mut queue = jobs();
    for cycle in 1..=4 {
        // The policy turns shares and usage into numbers once per cycle, as OpenPBS does.
        let fairshare = AssessedTree::new(tree, &Pp718);
        let table = table_of(&queue, &program, &fairshare)?;
        // With `Null` a job with an error comes last; `ZeroLikePbs` would give it the value 0.
        let ranking = Ranking::new(&program, &table, ScorePrecision::Double, OnError::Null);
        tree = fairshare.into_tree();

        println!("cycle {cycle}");
        let started = start(&queue, &ranking, &mut tree, formula.text());
        queue.retain(|job| !started.contains(&job.id));
        queue.iter_mut().for_each(|job| job.eligible_time += CYCLE);
    }
    Ok(())
}

/// Starts what fits, best first, and charges it.
fn start(queue: &[Waiting], ranking: &Ranking, tree: &mut ShareTree, text: &str) -> Vec<&'static str> {
    let mut started = Vec::new();
    let mut free = CPUS;
    for (&row, score) in ranking.order().iter().filter_map(|row| Some((row, ranking.score(*row)?))) {
        let job = &queue[row];
        let (id, user) = (job.id, job.user);
        match &score.unrounded {
            // One job's error is its own: no other job is the worse for it.
            Err(error) => println!("  {id:<8} {user:<6} cannot be ranked: {error} in `{}`", error.span().slice(text)),
            Ok(_) if job.ncpus > free => println!("  {id:<8} {user:<6} {:8.3}", score.value),
            Ok(_) => {
                println!("  {id:<8} {user:<6} {:8.3}  starts", score.value);
                free -= job.ncpus;
                started.push(id);
                // Usage counts for the entity and for everything above it.
                if let Some(entity) = tree.find(user) {
                    tree.charge(entity, (job.ncpus * job.walltime.unwrap_or(CYCLE)) as f64);
                }
            }
        }
    }
    started
}

/// The jobs as columns, one for each input of the formula.
fn table_of(queue: &[Waiting], program: &Program, fairshare: &dyn FairShare) -> Result<JobTable, Problem> {
    let mut table = JobTable::new(program.inputs().iter().map(|name| &**name));
    let mut inputs = Vec::with_capacity(program.inputs().len());
    for job in queue {
        inputs.clear();
        // `Ok` is what the job has itself, `Err` what the formula sees if it has nothing.
        inputs.extend(program.inputs().iter().map(|name| match &**name {
            "ncpus" => Ok(Value::Int(job.ncpus)),
            "walltime" => job.walltime.map(Value::Int).ok_or(Value::Int(0)),
            "eligible_time" => Ok(Value::Int(job.eligible_time)),
            _ => Err(Value::Int(0)),
        }));
        table.push(&Job { id: job.id, entity: job.user, ..Job::default() }, &inputs)?;
    }
    fill_fairshare(&mut table, fairshare, Value::Float);
    Ok(table)
}

fn share_tree() -> Result<ShareTree, TreeError> {
    let mut builder = TreeBuilder::new("root");
    let physics = builder.add(builder.root(), Member::group("physics").shares(60))?;
    builder.add(physics, Member::entity("ada").shares(50).usage(60_000.0))?;
    builder.add(physics, Member::entity("emmy").shares(50).usage(20_000.0))?;
    builder.add(builder.root(), Member::entity("rosa").shares(40).usage(8_000.0))?;
    Ok(builder.finish())
}

fn jobs() -> Vec<Waiting> {
    let job = |id, user, ncpus, walltime, eligible_time| Waiting { id, user, ncpus, walltime, eligible_time };
    vec![
        job("fold-1", "rosa", 32, Some(600), 0),
        job("fold-2", "rosa", 32, Some(600), 0),
        job("fold-3", "rosa", 32, Some(600), 0),
        job("fold-4", "rosa", 32, Some(600), 0),
        job("fold-5", "rosa", 32, Some(600), 0),
        job("map-1", "ada", 48, Some(600), 6600),
        job("map-2", "ada", 48, Some(600), 6600),
        job("ring-1", "emmy", 16, Some(300), 600),
        job("ring-2", "emmy", 32, Some(600), 600),
        job("forgot", "emmy", 4, None, 3600),
    ]
}
