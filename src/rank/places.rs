//! The place of every job in two orders of one queue.

use std::collections::HashMap;

use super::Ranking;
use crate::jobs::JobTable;

/// A queue in two orders.
#[derive(Debug)]
pub struct Places {
    /// The jobs.
    pub table: JobTable,
    /// The jobs that are considered in either order: in the order after, then those that are not considered there.
    pub jobs: Vec<JobPlaces>,
    /// What the orders leave out, one sentence each.
    pub warnings: Vec<String>,
}

/// The places of one job, from 1; `None` where the scheduler does not consider it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobPlaces {
    /// The row in the table.
    pub row: usize,
    /// The place in the first order.
    pub before: Option<usize>,
    /// The place in the second order.
    pub after: Option<usize>,
}

impl JobPlaces {
    /// The number of places that the job wins; negative if it loses some, `None` if it is not in both orders.
    pub fn won(&self) -> Option<i64> {
        Some(self.before? as i64 - self.after? as i64)
    }
}

/// The places that the jobs of an entity win together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityPlaces<'a> {
    /// The entity.
    pub name: &'a str,
    /// The number of its jobs that are in both orders.
    pub jobs: usize,
    /// The sum of the places that they win; negative if they lose.
    pub won: i64,
}

impl Places {
    /// Compares two orders of the jobs of `table`.
    pub fn new(table: JobTable, before: &Ranking, after: &Ranking) -> Self {
        let places = |ranking: &Ranking| {
            let mut places = vec![None; table.len()];
            ranking.order().iter().zip(1..).for_each(|(&row, place)| places[row] = Some(place));
            places
        };
        let (first, second) = (places(before), places(after));
        let job = |row: usize| JobPlaces { row, before: first[row], after: second[row] };
        let left_out = before.order().iter().filter(|&&row| second[row].is_none());
        let jobs = after.order().iter().chain(left_out).map(|&row| job(row)).collect();
        Self { table, jobs, warnings: Vec::new() }
    }

    /// The entities with jobs in both orders: who wins the most places first, then by name.
    pub fn entities(&self) -> Vec<EntityPlaces<'_>> {
        let mut entities: HashMap<&str, EntityPlaces<'_>> = HashMap::new();
        for job in &self.jobs {
            let Some(won) = job.won() else { continue };
            let name = self.table.entity(job.row);
            let entity = entities.entry(name).or_insert(EntityPlaces { name, jobs: 0, won: 0 });
            entity.jobs += 1;
            entity.won += won;
        }
        let mut entities: Vec<_> = entities.into_values().collect();
        entities.sort_unstable_by_key(|entity| (std::cmp::Reverse(entity.won), entity.name));
        entities
    }
}
