//! Fair share from accounting of one's own: whoever implements `FairShare` supplies the numbers,
//! and the formulas stay as they are.
//!
//! ```text
//! cargo run --example own_fairshare
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::fs;

use job_sort_formula::fairshare::{EntityShares, FairShare};
use job_sort_formula::rank::{OnError, ScorePrecision, fill_fairshare};
use job_sort_formula::{Formula, Ranking, Schema};
use jsf_ingest::{ReadOptions, read_jobs};
use jsf_openpbs::amounts::NumberMode;

/// What a project bought, and what it has spent of that, in core-hours.
struct Grant {
    bought: f64,
    spent: f64,
}

/// A bank instead of a tree: there are no groups, and nothing decays.
struct Bank {
    grants: HashMap<&'static str, Grant>,
}

impl FairShare for Bank {
    /// The three numbers that a formula may ask for. What they mean is up to the backend; all lie
    /// between 0 and 1.
    fn shares_of(&self, project: &str) -> Option<EntityShares> {
        let grant = self.grants.get(project)?;
        let bought: f64 = self.grants.values().map(|grant| grant.bought).sum();
        let spent: f64 = self.grants.values().map(|grant| grant.spent).sum();
        let left = (1.0 - grant.spent / grant.bought).max(0.0);
        EntityShares::new(grant.bought / bought, grant.spent / spent, left).ok()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let bank = Bank {
        grants: HashMap::from([
            (
                "Bob",
                Grant {
                    bought: 50_000.0,
                    spent: 10_000.0,
                },
            ),
            (
                "Cathy",
                Grant {
                    bought: 20_000.0,
                    spent: 15_000.0,
                },
            ),
            (
                "Suzy",
                Grant {
                    bought: 5_000.0,
                    spent: 5_100.0,
                },
            ),
        ]),
    };
    let schema = Schema::openpbs();
    let formula: Formula =
        "1000 * fairshare_factor + eligible_time/3600 + queue_priority".parse()?;
    let program = formula.compile(&schema)?;

    // Jobs can come from anywhere; here from a file in the project's own format, one job per line.
    let options = ReadOptions {
        source_name: "jobs.ndjson",
        needed: &formula.names(),
        numbers: NumberMode::Exact,
        ..ReadOptions::new(&schema, &[])
    };
    let mut table = read_jobs(fs::File::open("examples/site/jobs.ndjson")?, &options)?.table;

    // The bank is asked once per entity. A job that carries the number itself keeps it.
    let strangers = fill_fairshare(&mut table, &bank, |number| {
        NumberMode::Exact.fairshare(number)
    });
    println!("{formula}\n\nno account: {}\n", strangers.join(", "));

    // Nothing is rounded to OpenPBS's float32 here.
    let ranking = Ranking::new(&program, &table, ScorePrecision::Double, OnError::Fail);
    println!(
        "{:<10} {:<8} {:>8} {:>10}",
        "job", "project", "factor", "value"
    );
    for &row in ranking.order() {
        let factor = table
            .column("fairshare_factor")
            .map(|column| column.value(row).repr())
            .unwrap_or_default();
        let value = ranking.score(row).map_or(0.0, |score| score.value);
        println!(
            "{:<10} {:<8} {factor:>8} {value:>10.3}",
            table.id(row),
            table.entity(row)
        );
    }
    Ok(())
}
