//! The fair-share numbers of the jobs, which a backend has and a formula reads.

use crate::fairshare::{EntityShares, FairShare};
use crate::jobs::JobTable;
use crate::python::Value;
use crate::schema::FairshareInput;

/// Fills the fair-share columns of a table from a backend, for every job that does not carry the
/// number itself. `to_value` converts a number to the value that the formula gets. Returns the
/// entities that the backend does not know, `""` among them if there are jobs without an entity.
///
/// Fill the table of a live queue in each cycle: a later call replaces what an earlier one has
/// filled in. An entity whose jobs have all left is neither asked for nor returned.
pub fn fill_fairshare(
    table: &mut JobTable,
    backend: &dyn FairShare,
    to_value: impl Fn(f64) -> Value,
) -> Vec<String> {
    let have_jobs = table.entities_have_jobs();
    // asked for once per entity, which may have many jobs
    let mut shares = Vec::with_capacity(have_jobs.len());
    let mut unknown = Vec::new();
    for (entity, has_jobs) in table.entities().iter().zip(have_jobs) {
        let known = if has_jobs {
            backend.shares_of(entity)
        } else {
            None
        };
        if has_jobs && known.is_none() {
            unknown.push(entity.to_string());
        }
        shares.push(known);
    }
    for (name, input) in FairshareInput::NAMES {
        if table.column(name).is_none() {
            continue;
        }
        let mut numbers = Vec::with_capacity(shares.len());
        for shares in &shares {
            let number = shares.map(|shares| fairshare_number(input, &shares));
            numbers.push(number.map(&to_value));
        }
        table.fill(name, &numbers);
    }
    unknown
}

/// The number of an entity that a formula gets as `input`.
pub fn fairshare_number(input: FairshareInput, shares: &EntityShares) -> f64 {
    match input {
        FairshareInput::Perc => shares.fairshare_perc,
        FairshareInput::TreeUsage => shares.fairshare_tree_usage,
        FairshareInput::Factor => shares.fairshare_factor,
    }
}

/// Finds a fair-share input in `inputs` for which a job has no number. Returns the id of the job
/// and the name of the input.
pub fn missing_fairshare_input<'t>(
    table: &'t JobTable,
    inputs: &[Box<str>],
) -> Option<(&'t str, &'static str)> {
    for (name, _) in FairshareInput::NAMES {
        let Some(column) = table.column(name) else {
            continue;
        };
        if !inputs.iter().any(|input| **input == *name) {
            continue;
        }
        for row in 0..table.len() {
            if table.exclusion(row).is_none() && !column.is_set(row) {
                return Some((table.id(row), name));
            }
        }
    }
    None
}
