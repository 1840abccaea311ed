//! The example site's queue, in the order in which OpenPBS would consider it: fair-share tree and jobs come from the
//! scheduler's own files and from `qstat`.
//!
//! ```text
//! cargo run --example rank_queue [FORMULA]
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;

use job_sort_formula::ingest::options::ReadOptions;
use job_sort_formula::ingest::read_jobs;
use job_sort_formula::pbs::files::queues::Queues;
use job_sort_formula::pbs::files::resource_group::ResourceGroup;
use job_sort_formula::pbs::files::resources::add_resources;
use job_sort_formula::pbs::files::sched_config::SchedConfig;
use job_sort_formula::pbs::files::usage::UsageFile;
use job_sort_formula::pbs::number_format::logged;
use job_sort_formula::pbs::resource_amount::Numbers;
use job_sort_formula::pbs::share_tree::PbsTreeBuilder;
use job_sort_formula::rank::{Keep, OnError, supply};
use job_sort_formula::{Formula, Ranking, Schema};

fn main() -> Result<(), Box<dyn Error>> {
    let site = Path::new("examples/site");
    let sched_priv = site.join("sched_priv");

    // What the formula may name: OpenPBS's own resources and those that the site declared.
    let mut schema = Schema::openpbs();
    for problem in add_resources("resourcedef", &fs::read_to_string(site.join("resourcedef"))?, &mut schema) {
        eprintln!("{problem}");
    }

    // The formula: the argument, or the one that is in force. The first line of `sched_formula` is a header.
    let in_force = fs::read_to_string(sched_priv.join("sched_formula"))?;
    let text = std::env::args().nth(1).or_else(|| in_force.lines().nth(1).map(str::to_owned)).unwrap_or_default();
    let formula = Formula::parse(&text)?;
    let program = formula.compile(&schema)?;

    // The jobs. Of all that qstat says, only what this formula needs is kept.
    let config = SchedConfig::parse(&fs::read(sched_priv.join("sched_config"))?);
    let queues = Queues::read("queues.json", &fs::read_to_string(site.join("queues.json"))?)?;
    let options = ReadOptions {
        source_name: "qstat.json",
        needed: &formula.names(),
        schema: &schema,
        numbers: Numbers::OpenPbs,
        entity: config.fairshare_entity,
        queues: &queues,
    };
    let read = read_jobs(&fs::read(site.join("qstat.json"))?, &options)?;
    for problem in read.problems.listed() {
        eprintln!("{problem}");
    }
    let mut table = read.table;

    // The tree. Users with jobs but without a line in `resource_group` share what `unknown_shares` gives them.
    let lines = ResourceGroup::parse(&fs::read(sched_priv.join("resource_group"))?);
    let usage = UsageFile::read(fs::File::open(sched_priv.join("usage"))?)?;
    let tree = PbsTreeBuilder::new(&lines)
        .usage(&usage)
        .unknown_shares(config.unknown_shares)
        .with_entities(table.entities().iter().map(|entity| &**entity))
        .build()?;

    // Jobs and tree meet here; `Numbers` cuts the tree's numbers to the six decimals that the formula sees.
    supply(&mut table, &tree, |number| Numbers::OpenPbs.fairshare(number));
    let ranking = Ranking::new(&program, &table, Keep::Float32, OnError::ZeroLikePbs);

    println!("{text}\n");
    println!("{:>4}  {:<18} {:<11} {:<9} {:>12}", "rank", "job", "user", "queue", "value");
    for (place, &row) in ranking.order().iter().enumerate().take(10) {
        let value = ranking.score(row).map(|score| logged(score.kept)).unwrap_or_default();
        let (id, user, queue) = (table.id(row), table.entity(row), table.queue(row));
        println!("{:>4}  {id:<18} {user:<11} {queue:<9} {value:>12}", place + 1);
    }

    let (considered, ties) = (ranking.order().len(), ranking.ties());
    println!("\n{considered} of {} jobs are considered; {ties} have the value of the one before them", table.len());
    for (kind, count) in ranking.scores().errors_by_kind() {
        println!("{count} with an error, which counts as 0: {kind}");
    }
    for &row in ranking.order() {
        if let Some(error) = ranking.scores().error(row) {
            println!("  {} of {}: {error} in `{}`", table.id(row), table.entity(row), error.span().of(&text));
        }
    }
    Ok(())
}
