//! What entities use against what their shares promise.
//!
//! In each block of time, a day or a tenth of a shorter schedule, the processor time that all jobs
//! hold is divided as the shares promise it: in proportion to the shares, but no entity gets more
//! than its jobs ask for while they wait or run, and what it leaves goes to the others. That is
//! weighted max-min fairness. An entity that waits is promised time that others use, so that its
//! jobs use less than promised. Entities without shares are promised what all others leave.
//!
//! Two measures of the whole: Jain's index of what each entity uses of what it is promised, and the
//! Hoover index, the part of the processor time that other entities use than those to which it is
//! promised.
//!
//! Sources: D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2 (max-min fairness); R.
//! Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource
//! Allocation in Shared Computer Systems", 1984; E. M. Hoover, "The Measurement of Industrial
//! Localization", 1936.

use job_sort_formula::rank::measures::jain_index;
use jsf_json::object;
use serde::{Serialize, Serializer};

use super::statistics::{DAY, TimeShares};
use crate::schedule::{Schedule, StartedJob};
use crate::workload::Workload;

/// The fewest blocks that a short schedule is divided into.
const LEAST_BLOCKS: i64 = 10;
/// The most blocks.
const MAX_BLOCKS: i64 = 4000;

/// The use of a machine against shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fairness {
    /// Jain's index over the entities with shares that are promised something: 1 if all use the
    /// same part of what they are promised, `1/n` if one of `n` uses everything. `None` if there is
    /// no such entity.
    pub jain: Option<f64>,
    /// The part of the processor time that other entities use than those to which it is promised: 0
    /// if all use what they are promised.
    pub hoover: f64,
    /// The length of a block, in seconds.
    pub block_seconds: i64,
    /// The entities with jobs, in the order of their first submission.
    #[serde(skip)]
    pub entities: Vec<EntityUse>,
}

/// What an entity uses.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityUse {
    /// The name of the entity.
    pub name: String,
    /// Its share of the machine, 0..=1; `None` if the tree does not have it.
    pub perc: Option<f64>,
    /// The processors times seconds that its share promises.
    pub promised: f64,
    /// The processors times seconds that its jobs hold.
    pub used: f64,
}

impl EntityUse {
    /// What the entity uses of what it is promised; `None` if it is promised nothing.
    pub fn ratio(&self) -> Option<f64> {
        (self.promised > 0.0).then_some(self.used / self.promised)
    }
}

impl Serialize for EntityUse {
    /// What an entity is promised and uses of it, without its name: a member beside other numbers
    /// of the entity.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = object! {
            perc: self.perc,
            promised_core_seconds: self.promised,
            used_of_promised: self.ratio(),
        };
        members.serialize(serializer)
    }
}

/// What an entity uses in a block, and what its jobs ask for.
#[derive(Debug, Clone, Copy)]
struct BlockUse {
    entity: usize,
    used: f64,
    demand: f64,
}

impl Fairness {
    /// Compares use with the share of each entity of the workload, by its index. Jobs that are
    /// submitted less than `warm_up` seconds after the first one are left out.
    pub fn new(
        workload: &Workload,
        schedule: &Schedule,
        percs: &[Option<f64>],
        warm_up: i64,
    ) -> Self {
        let begin = workload.begin(warm_up);
        let mut has_jobs = vec![false; workload.entities().len()];
        let mut jobs_by_entity: Vec<Vec<StartedJob<'_>>> =
            vec![Vec::new(); workload.entities().len()];
        let mut last_end = begin;
        for index in workload.after_warm_up(warm_up) {
            let job = &workload.jobs()[index];
            has_jobs[job.entity as usize] = true;
            let Some(started) = schedule.started(workload, index) else {
                continue;
            };
            last_end = last_end.max(started.end());
            jobs_by_entity[job.entity as usize].push(started);
        }
        let block_seconds = block_length(begin, last_end).max((last_end - begin) / MAX_BLOCKS + 1);
        let blocks = blocks(
            &jobs_by_entity,
            begin,
            block_seconds,
            ((last_end - begin) / block_seconds + 1) as usize,
        );
        let mut entities = Vec::new();
        for (name, perc) in workload.entities().iter().zip(percs) {
            entities.push(EntityUse {
                name: name.to_string(),
                perc: *perc,
                promised: 0.0,
                used: 0.0,
            });
        }
        let (mut misplaced, mut all) = (0.0, 0.0);
        for block in &blocks {
            for (of_block, promised) in block.iter().zip(promised(block, percs)) {
                let entity = &mut entities[of_block.entity];
                entity.promised += promised;
                entity.used += of_block.used;
                // time that another entity uses counts twice, where it is used and where it is
                // missing
                misplaced += (of_block.used - promised).abs() / 2.0;
                all += of_block.used;
            }
        }
        let mut ratios = Vec::new();
        for entity in &entities {
            if entity.perc > Some(0.0) {
                ratios.extend(entity.ratio());
            }
        }
        let mut has_jobs = has_jobs.into_iter();
        // the jobs of an empty name are those without a user, which are nobody's
        entities.retain(|entity| has_jobs.next() == Some(true) && !entity.name.is_empty());
        let hoover = if all > 0.0 { misplaced / all } else { 0.0 };
        Self {
            jain: jain_index(&ratios),
            hoover,
            block_seconds,
            entities,
        }
    }
}

/// The length of a block of a schedule between these times: a day, or a tenth of a shorter one.
fn block_length(begin: i64, end: i64) -> i64 {
    ((end - begin) / LEAST_BLOCKS + 1).clamp(1, DAY)
}

/// What every entity uses and asks for, in each block.
fn blocks(
    of_entity: &[Vec<StartedJob<'_>>],
    begin: i64,
    length: i64,
    count: usize,
) -> Vec<Vec<BlockUse>> {
    let mut blocks = vec![Vec::new(); count];
    for (entity, jobs) in of_entity.iter().enumerate() {
        if jobs.is_empty() {
            continue;
        }
        let mut used = TimeShares::new(begin, length, count);
        let mut demand = TimeShares::new(begin, length, count);
        for started in jobs {
            let processors = started.job.processors.into();
            for (from, to) in started.runs() {
                used.add(from, to, processors);
            }
            demand.add(started.job.submit, started.end(), processors);
        }
        let (used, demand) = (used.amounts, demand.amounts);
        for (index, block) in blocks.iter_mut().enumerate() {
            if demand[index] > 0.0 {
                block.push(BlockUse {
                    entity,
                    used: used[index],
                    demand: demand[index],
                });
            }
        }
    }
    blocks
}

/// Divides the processor time that is used in a block as the shares promise it.
fn promised(block: &[BlockUse], percs: &[Option<f64>]) -> Vec<f64> {
    let mut left = 0.0;
    let (mut with_shares, mut without) = (Vec::new(), Vec::new());
    for (index, of_block) in block.iter().enumerate() {
        left += of_block.used;
        let demand = of_block.demand;
        let (claims, weight) = match percs[of_block.entity] {
            Some(share) if share > 0.0 => (&mut with_shares, share),
            _ => (&mut without, 1.0),
        };
        claims.push(Claim {
            index,
            demand,
            weight,
        });
    }
    let mut promised = vec![0.0; block.len()];
    divide(&mut left, with_shares, &mut promised);
    divide(&mut left, without, &mut promised);
    promised
}

/// What the entity at a place of a block asks for, and its weight.
struct Claim {
    index: usize,
    demand: f64,
    weight: f64,
}

impl Claim {
    fn level(&self) -> f64 {
        self.demand / self.weight
    }
}

/// Divides an amount in proportion to the weights, to nobody more than its demand.
fn divide(left: &mut f64, mut claims: Vec<Claim>, promised: &mut [f64]) {
    // whoever asks for least by weight is served in full first, and leaves the rest of the share to
    // all
    claims.sort_by(|one, other| one.level().total_cmp(&other.level()));
    let mut weights: f64 = claims.iter().map(|claim| claim.weight).sum();
    let last = claims.len().saturating_sub(1);
    for (place, claim) in claims.into_iter().enumerate() {
        // the last one gets all that is left, whatever rounding has made of the weights
        let part = if place == last {
            1.0
        } else {
            (claim.weight / weights).min(1.0)
        };
        let amount = claim.demand.min(*left * part);
        promised[claim.index] = amount;
        *left -= amount;
        weights -= claim.weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_block(entity: usize, used: f64, demand: f64) -> BlockUse {
        BlockUse {
            entity,
            used,
            demand,
        }
    }

    #[test]
    fn what_is_not_asked_for_goes_to_the_others() {
        let percs = [Some(0.5), Some(0.25), Some(0.25), None, Some(0.0)];
        let block = [
            of_block(0, 10.0, 10.0),
            of_block(1, 80.0, 200.0),
            of_block(2, 10.0, 300.0),
        ];
        assert_eq!(promised(&block, &percs), [10.0, 45.0, 45.0]);
        let block = [of_block(0, 60.0, 100.0), of_block(1, 40.0, 100.0)];
        let third = 100.0 / 3.0;
        assert!(
            promised(&block, &percs)
                .iter()
                .zip([2.0 * third, third])
                .all(|(one, other)| (one - other).abs() < 1e-9)
        );
        // without shares: what others leave, in equal parts
        let block = [
            of_block(3, 50.0, 50.0),
            of_block(4, 50.0, 50.0),
            of_block(1, 0.0, 60.0),
        ];
        assert_eq!(promised(&block, &percs), [20.0, 20.0, 60.0]);
        assert_eq!(promised(&[], &percs), [0.0; 0]);
    }
}
