//! Ranks the example site's queue as OpenPBS would, from the scheduler's own files and the output
//! of `qstat`.
//!
//! ```text
//! cargo run --example rank_queue [FORMULA]
//! ```

use std::error::Error;

use job_sort_formula::Formula;
use jsf_site::Site;

fn main() -> Result<(), Box<dyn Error>> {
    let site = Site::open("examples/site")?;
    let text = std::env::args()
        .nth(1)
        .map_or_else(|| site.formula_text().map(|formula| formula.text), Ok)?;
    let queue = site.rank(&Formula::parse(&text)?)?;
    site.warnings()
        .iter()
        .chain(&queue.warnings)
        .for_each(|warning| eprintln!("{warning}"));

    let (table, ranking) = (&queue.table, &queue.ranking);
    println!("{text}\n");
    println!(
        "{:>4}  {:<18} {:<11} {:<9} {:>12}",
        "rank", "job", "user", "queue", "value"
    );
    for (place, &row) in ranking.order().iter().enumerate().take(10) {
        let value = ranking.score(row).map_or(f64::NAN, |score| score.value);
        let (id, user, queue) = (table.id(row), table.entity(row), table.queue(row));
        println!(
            "{:>4}  {id:<18} {user:<11} {queue:<9} {value:>12.6}",
            place + 1
        );
    }

    println!(
        "\n{} of {} jobs are considered",
        ranking.order().len(),
        table.len()
    );
    for (row, error) in ranking.scores().errors() {
        println!(
            "{} of {} counts as 0: {error} in `{}`",
            table.id(row),
            table.entity(row),
            error.span().slice(&text)
        );
    }
    Ok(())
}
