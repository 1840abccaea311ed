//! Where formula and fair share meet: the three names that a tree supplies.

use crate::fairshare::{EntityShares, FairShare};
use crate::jobs::JobTable;
use crate::python::Value;
use crate::schema::FairshareInput;

/// Fills the fair-share columns of a table from a backend, for every job that does not carry the number itself.
/// `as_seen` says what the formula sees of a number. Gives the entities of which the backend knows nothing.
///
/// A table is supplied once: what one call has filled in, the next does not change.
pub fn fill_fairshare(table: &mut JobTable, backend: &dyn FairShare, as_seen: impl Fn(f64) -> Value) -> Vec<String> {
    let entities: Vec<_> = table.entities().to_vec();
    let shares: Vec<_> = entities.iter().map(|entity| backend.shares_of(entity)).collect();
    for (name, input) in FairshareInput::NAMES {
        table.fill(name, |entity| {
            let shares = (*shares.get(entity)?)?;
            Some(as_seen(fairshare_number(input, &shares)))
        });
    }
    let unknown = entities.iter().zip(&shares).filter(|(_, shares)| shares.is_none());
    unknown.map(|(entity, _)| entity.to_string()).collect()
}

/// The number of an entity that a formula knows as `input`.
pub(crate) fn fairshare_number(input: FairshareInput, shares: &EntityShares) -> f64 {
    match input {
        FairshareInput::Perc => shares.fairshare_perc,
        FairshareInput::TreeUsage => shares.fairshare_tree_usage,
        FairshareInput::Factor => shares.fairshare_factor,
    }
}

/// A job that needs a fair-share number which neither the job nor a backend has; the name that is missing.
pub fn first_without_shares<'t>(table: &'t JobTable, inputs: &[Box<str>]) -> Option<(&'t str, &'static str)> {
    let names = FairshareInput::NAMES.into_iter().map(|(name, _)| name);
    let mut needed = names.filter(|name| inputs.iter().any(|input| **input == **name));
    needed.find_map(|name| {
        let column = table.column(name)?;
        let row = (0..table.len()).find(|&row| table.exclusion(row).is_none() && !column.is_set(row))?;
        Some((table.id(row), name))
    })
}
