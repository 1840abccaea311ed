//! What it takes for a job to reach a rank: how long it waits, or how one of its inputs changes.

use super::{PolicyName, RankedQueue, Site};
use crate::fairshare::NodeKind;
use crate::pbs::order::Competition;
use crate::pbs::resource_amount::AmountSource;
use crate::python::Value;
use crate::rank::{Competitor, FirstStep, Goal, ScorePrecision, ScoreRules, Sweep, first_step};
use crate::schema::{FairshareInput, InputType, Schema};

/// The fair-share numbers reach the formula with six decimals.
const STEPS_OF_RATIO: f64 = 1e6;
/// The amount of a resource reaches the formula with at most four decimals.
const STEPS_OF_AMOUNT: f64 = 1e4;
/// The most steps by which an input is changed: a terabyte in kilobytes.
const MAX_STEPS: i64 = 1 << 30;
/// The time after which a job counts as never having reached a rank: 68 years.
const LIFETIME: i64 = i32::MAX as i64;
/// The most ranges of steps that are examined for the changes of all inputs in one direction, each input with an equal part:
/// enough for any formula without long stretches in which its values are unknown.
const MAX_RANGES: usize = 2_000;
/// The most comparisons of two jobs over a range of steps in the search for a rank: some seconds of work.
const MAX_COMPARISONS: usize = 200_000;

/// Whether and when a job reaches a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It does.
    Until(Reached),
    /// It does not in the time that was considered.
    Never,
    /// Finding it out takes too long: the formula changes the order too irregularly.
    Unknown,
}

/// When a job reaches a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The `eligible_time` of the job then, in seconds.
    pub eligible_time: i64,
    /// The time until then, in seconds.
    pub wait: i64,
}

/// The smallest change of one input that gives a job a rank, while nothing else changes.
#[derive(Debug, Clone)]
pub struct SmallestChange {
    /// The name of the input.
    pub name: Box<str>,
    /// Its value now.
    pub from: Value,
    /// The nearest value that gives the rank.
    pub to: Value,
    /// The rank that it gives at most.
    pub rank: usize,
}

impl Site {
    /// When a job first has at most this rank, in whole seconds from now up to `within`, if it and all other considered
    /// jobs age alike.
    ///
    /// Exact for every formula: a time at which bounds of the values leave the order open is evaluated. Unknown with
    /// decimals, where there are no bounds.
    pub fn first_wait(&self, ranked: &RankedQueue, schema: &Schema, row: usize, rank: usize, within: i64) -> Wait {
        let Some(race) = self.race(ranked, schema, row) else {
            return if self.precision() == ScorePrecision::Decimal { Wait::Unknown } else { Wait::Never };
        };
        let Some(places) = race.competition.places(rank) else { return Wait::Never };
        let (job, competitors) = (race.waiting(ranked, row), race.waiting_competitors(ranked));
        let goal = Goal { job: &job, competitors: &competitors, places, threshold: race.competition.threshold };
        let now = ranked.table.column("eligible_time").map_or(0, |column| column.nearest_double(row) as i64);
        match first_step(&goal, 0..=within, MAX_COMPARISONS) {
            FirstStep::At(wait) => Wait::Until(Reached { eligible_time: now.saturating_add(wait), wait }),
            FirstStep::Never => Wait::Never,
            FirstStep::Unknown => Wait::Unknown,
        }
    }

    /// Whether a job never has this rank because the value of every considered job grows by the same in the same time.
    pub(super) fn gain_alike(&self, ranked: &RankedQueue, schema: &Schema, row: usize, rank: usize) -> bool {
        let Some(race) = self.race(ranked, schema, row) else { return false };
        let Some(places) = race.competition.places(rank) else { return false };
        let (job, competitors) = (race.waiting(ranked, row), race.waiting_competitors(ranked));
        let gain = job.constant_slope(0..=LIFETIME);
        if gain.is_none() || competitors.iter().any(|other| other.sweep.constant_slope(0..=LIFETIME) != gain) {
            return false;
        }
        let goal = Goal { job: &job, competitors: &competitors, places, threshold: race.competition.threshold };
        first_step(&goal, 0..=LIFETIME, MAX_COMPARISONS) == FirstStep::Never
    }

    /// For each input of the formula the smallest change that gives a job at most this rank, where there is one within the
    /// `resources_max` of its queue or the server. Inputs that are a `job_sort_key` too are left out, since they also change the order of equal values.
    pub fn smallest_changes(
        &self,
        ranked: &RankedQueue,
        schema: &Schema,
        row: usize,
        rank: usize,
    ) -> Vec<SmallestChange> {
        let sort_keys = self.order_rules(None, None).columns();
        let change = |race: &Race<'_>| {
            let places = race.competition.places(rank)?;
            // whoever is now at the place must not be ahead
            let &(other, wins_ties) = race.competition.competitors.get(places - 1)?;
            let sweep = Sweep::constant(race.rules, inputs(ranked, other));
            let competitors = [Competitor { sweep, wins_ties }];
            let names = ranked.program.inputs().iter().filter(|name| !sort_keys.contains(&&***name));
            let change = |name| {
                let limits = Limits {
                    most: self.maximum(ranked.table.queue(row), name, schema),
                    steps_per_unit: self.steps_per_unit(name, schema),
                    ranges: MAX_RANGES / ranked.program.inputs().len().max(1),
                };
                smallest_change(race, &competitors, inputs(ranked, row), name, rank, limits)
            };
            Some(names.filter_map(|name| change(&**name)).collect())
        };
        self.race(ranked, schema, row).as_ref().and_then(change).unwrap_or_default()
    }

    /// The most that a job of a queue may have of an input; infinite where no limit is known.
    fn maximum(&self, queue: &str, name: &str, schema: &Schema) -> f64 {
        let kind = schema.entry(name).map(|entry| entry.input_type);
        let amount = self.queues.maximum(queue, name);
        let amount = amount.and_then(|text| self.rules.numbers.amount(text, kind, AmountSource::Server).ok());
        amount.and_then(|amount| amount.to_f64()).unwrap_or(f64::INFINITY)
    }

    /// The number of values of an input between two integers.
    fn steps_per_unit(&self, name: &str, schema: &Schema) -> f64 {
        let is_rank = matches!(self.policy.name, PolicyName::FairTree | PolicyName::WeightedWalk)
            && FairshareInput::from_name(name) == Some(FairshareInput::Factor);
        let tree = self.tree.as_ref().filter(|_| is_rank).and_then(|tree| tree.share_tree().ok());
        match tree {
            // the rank of a user divided by the number of users
            Some(tree) => tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Entity).count() as f64,
            None if schema.entry(name).is_some_and(|entry| entry.input_type == InputType::Ratio) => STEPS_OF_RATIO,
            None => STEPS_OF_AMOUNT,
        }
    }

    pub(super) fn race<'a>(&'a self, ranked: &'a RankedQueue, schema: &'a Schema, row: usize) -> Option<Race<'a>> {
        let precision = self.precision();
        let is_waiting = ranked.table.is_considered(row) && ranked.ranking.score(row).is_some();
        if precision == ScorePrecision::Decimal || !is_waiting {
            return None;
        }
        let order = self.order_rules(ranked.tree.as_ref(), self.threshold());
        Some(Race {
            rules: ScoreRules { program: &ranked.program, schema, precision, on_error: self.rules.on_error },
            competition: order.competition(&ranked.ranking, &ranked.table, row),
        })
    }
}

/// A job among its competitors.
pub(super) struct Race<'a> {
    pub(super) rules: ScoreRules<'a>,
    pub(super) competition: Competition,
}

impl<'a> Race<'a> {
    /// A job whose `eligible_time` grows by a second in each step.
    pub(super) fn waiting(&self, ranked: &RankedQueue, row: usize) -> Sweep<'a> {
        Sweep::new(self.rules, inputs(ranked, row), "eligible_time", 1.0)
    }

    /// The competitors, as they wait as long as the job.
    pub(super) fn waiting_competitors(&self, ranked: &RankedQueue) -> Vec<Competitor<'a>> {
        let competitors = self.competition.competitors.iter();
        competitors.map(|&(row, wins_ties)| Competitor { sweep: self.waiting(ranked, row), wins_ties }).collect()
    }
}

/// The inputs of a job, in the order of the program.
pub(super) fn inputs(ranked: &RankedQueue, row: usize) -> Vec<Value> {
    let column = |name: &str| ranked.table.column(name).map_or(Value::Int(0), |column| column.value(row));
    ranked.program.inputs().iter().map(|name| column(name)).collect()
}

/// Which values an input can have, and how long they are searched.
struct Limits {
    most: f64,
    /// The number of values between two integers.
    steps_per_unit: f64,
    /// The most ranges of steps that are examined.
    ranges: usize,
}

fn smallest_change(
    race: &Race<'_>,
    competitors: &[Competitor<'_>],
    inputs: Vec<Value>,
    name: &str,
    rank: usize,
    limits: Limits,
) -> Option<SmallestChange> {
    let entry = race.rules.schema.entry(name)?;
    let slot = race.rules.program.inputs().iter().position(|input| **input == *name)?;
    let from = inputs[slot].clone();
    let upward = Sweep::new(race.rules, inputs, name, limits.steps_per_unit);
    let downward = upward.clone().reversed();
    let first_step = |job: &Sweep<'_>, limit: i64| {
        let goal = Goal { job, competitors, places: 1, threshold: race.competition.threshold };
        let last = job.steps_until(entry.range.least, entry.range.most.min(limits.most)).min(limit);
        match first_step(&goal, 1..=last, limits.ranges) {
            FirstStep::At(steps) => Some(steps),
            FirstStep::Never | FirstStep::Unknown => None,
        }
    };
    let up = first_step(&upward, MAX_STEPS);
    let to = match (up, first_step(&downward, up.map_or(MAX_STEPS, |steps| steps - 1))) {
        (_, Some(steps)) => downward.input(steps)?,
        (Some(steps), None) => upward.input(steps)?,
        (None, None) => return None,
    };
    Some(SmallestChange { name: name.into(), from, to, rank })
}
