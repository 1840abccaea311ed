//! The smallest change of each input of a job that gives it a rank, while nothing else changes, and by
//! what means such a change is made.

use job_sort_formula::Value;
use job_sort_formula::fairshare::NodeKind;
use job_sort_formula::rank::WorkBudget;
use job_sort_formula::schema::{FairshareInput, InputType, Origin, Range, Schema};
use jsf_slurm::AGE;
use serde::Serialize;

use crate::rank::race::{Competitor, FirstStep, Race};
use crate::rank::sweep::Sweep;
use crate::site_tree::SiteTree;
use crate::{PolicyName, Site};

/// The fair-share numbers reach the formula with six decimals.
const STEPS_OF_RATIO: f64 = 1e6;
/// The amount of a resource reaches the formula with at most four decimals.
const STEPS_OF_AMOUNT: f64 = 1e4;
/// The most steps by which an input is changed: a terabyte in kilobytes.
const MAX_STEPS: i64 = 1 << 30;

/// What is known of the changes of single inputs.
#[derive(Debug, Clone, Default)]
pub struct SmallestChanges {
    /// The inputs of which a change gives the rank.
    pub found: Vec<SmallestChange>,
    /// The inputs for which finding it out takes too long.
    pub unknown: Vec<Box<str>>,
}

/// How an input can be changed. A user can honestly make the first ones; they come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Means {
    /// The job asks for less of a resource, which it may if it needs no more.
    #[serde(rename = "ask for less")]
    AskForLess,
    /// The job waits, as all others do.
    #[serde(rename = "wait")]
    Wait,
    /// The job moves to another queue of the site.
    #[serde(rename = "another queue")]
    Queue,
    /// What nobody can do for this job alone: the site's shares and usage, or another attribute of
    /// the job.
    #[serde(rename = "what if")]
    WhatIf,
}

impl Means {
    /// How a user would change an input.
    fn from_input(name: &str, schema: &Schema) -> Self {
        match (name, schema.origin(name)) {
            ("eligible_time" | AGE, _) => Self::Wait,
            ("queue_priority", _) => Self::Queue,
            (_, Some(Origin::Special) | None) => Self::WhatIf,
            _ => Self::AskForLess,
        }
    }
}

/// The resources of which every job needs some.
const ALWAYS_NEEDED: [&str; 4] = ["ncpus", "mem", "nodect", "walltime"];

/// The smallest change of one input that gives a job a rank, while nothing else changes.
#[derive(Debug, Clone, Serialize)]
pub struct SmallestChange {
    /// The name of the input.
    pub name: Box<str>,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// Its value now.
    pub from: Value,
    /// The nearest value that gives the rank.
    pub to: Value,
    /// The rank that it gives at most.
    pub rank: usize,
    /// How the input can be changed.
    pub means: Means,
    /// The other queues of the site, in their order, whose priority gives the rank, where that is
    /// the input. What else a queue demands of its jobs is not considered.
    pub queues: Vec<Box<str>>,
}

impl Site {
    /// The most that a job of a queue may have of an input; infinite where no limit is known.
    fn maximum(&self, queue: &str, name: &str, schema: &Schema) -> f64 {
        let most = self.queues.maximum(queue, name);
        let most = most.and_then(|most| self.amount(most, schema.input_type(name)));
        most.unwrap_or(f64::INFINITY)
    }

    /// The number of values of an input between two integers.
    fn steps_per_unit(&self, name: &str, schema: &Schema) -> f64 {
        use PolicyName::{FairTree, WeightedWalk};

        // the rank of a user divided by the number of users
        if matches!(self.policy.name, FairTree | WeightedWalk)
            && FairshareInput::from_name(name) == Some(FairshareInput::Factor)
            && let Some(Ok(tree)) = self.tree.as_ref().map(SiteTree::share_tree)
        {
            let users = tree
                .nodes()
                .filter(|&node| tree.kind(node) == NodeKind::Entity);
            return users.count() as f64;
        }
        match schema.input_type(name) {
            Some(InputType::Ratio) => STEPS_OF_RATIO,
            _ => STEPS_OF_AMOUNT,
        }
    }
}

impl Race<'_> {
    /// For each input of the formula the smallest change that gives the job at most this rank, where
    /// there is one within the `resources_max` of its queue or the server, those that a user can
    /// honestly make first. A job never asks for more of a resource. Inputs that are a
    /// `job_sort_key` too are left out, since they also change the order of equal values, and so is
    /// what the site alone gives to every job.
    pub(crate) fn smallest_changes(&self, rank: usize, budget: &mut WorkBudget) -> SmallestChanges {
        let (site, ranked, competition) = (self.site, self.ranked, &self.competition);
        let mut changes = SmallestChanges::default();
        let Some(places) = competition.places(rank) else {
            return changes;
        };
        // the job that is now at the place must not be ahead
        let Some(&(other, wins_ties)) = competition.competitors.get(places - 1) else {
            return changes;
        };
        let sweep = Sweep::constant(self.scoring, self.inputs(other));
        let competitors = [Competitor { sweep, wins_ties }];
        let sort_keys = site.order_columns();
        let schema = &ranked.schema;
        let mut searches = Vec::new();
        for (slot, name) in ranked.program.inputs().iter().enumerate() {
            let constant = site.site_constant(name, schema, Some(&ranked.table));
            // what follows from the requests and the settings of Slurm does not change by itself
            if let Some(entry) = schema.entry(name)
                && entry.origin != Origin::Slurm
                && constant.is_none()
                && !sort_keys.contains(&&**name)
            {
                searches.push(Search {
                    race: self,
                    competitors: &competitors,
                    name,
                    slot,
                    range: entry.range,
                    most: site.maximum(ranked.table.queue(self.row), name, schema),
                    steps_per_unit: site.steps_per_unit(name, schema),
                    means: Means::from_input(name, schema),
                });
            }
        }
        for (index, search) in searches.iter().enumerate() {
            let parts = (searches.len() - index) as u64;
            let own = self.inputs(self.row);
            let from = own[search.slot].clone();
            let to = match budget.with_part(parts, |part| search.nearest_value(own, part)) {
                Ok(None) => continue,
                Ok(Some(to)) => to,
                Err(SearchTooLong) => {
                    changes.unknown.push(search.name.into());
                    continue;
                }
            };
            let (mut means, mut queues) = (search.means, Vec::new());
            if means == Means::Queue {
                queues = search.queues_with_rank(budget);
                // a priority that no queue has is for the site to give
                if queues.is_empty() {
                    means = Means::WhatIf;
                }
            }
            changes.found.push(SmallestChange {
                name: search.name.into(),
                unit: schema.input_type(search.name).and_then(InputType::unit),
                from,
                to,
                rank,
                means,
                queues,
            });
        }
        changes.found.sort_by_key(|change| change.means);
        changes
    }
}

/// The search for the smallest change of an input.
struct Search<'s, 'a> {
    race: &'s Race<'a>,
    competitors: &'s [Competitor<'a>],
    name: &'s str,
    /// The place of the input in the program.
    slot: usize,
    range: Range,
    /// The most that a job may have of the input.
    most: f64,
    /// The number of values between two integers.
    steps_per_unit: f64,
    means: Means,
}

/// It takes too long to find out a change of an input.
struct SearchTooLong;

impl<'a> Search<'_, 'a> {
    /// The nearest value of the input that gives the rank, if there is one.
    fn nearest_value(
        &self,
        inputs: Vec<Value>,
        budget: &mut WorkBudget,
    ) -> Result<Option<Value>, SearchTooLong> {
        let scoring = self.race.scoring;
        let upward = Sweep::new(scoring, inputs, self.name, self.steps_per_unit);
        let downward = upward.clone().reversed();
        let up = match self.means {
            Means::AskForLess => FirstStep::Never,
            _ => self.first_step(&upward, MAX_STEPS, budget),
        };
        // only a nearer value is searched
        let limit = match up {
            FirstStep::At(steps) => steps - 1,
            _ => MAX_STEPS,
        };
        Ok(match (up, self.first_step(&downward, limit, budget)) {
            (FirstStep::Unknown, _) | (_, FirstStep::Unknown) => return Err(SearchTooLong),
            (_, FirstStep::At(steps)) => downward.input(steps),
            (FirstStep::At(steps), FirstStep::Never) => upward.input(steps),
            (FirstStep::Never, FirstStep::Never) => None,
        })
    }

    /// The other queues that accept jobs and start them, and whose priority gives the job the rank.
    fn queues_with_rank(&self, budget: &mut WorkBudget) -> Vec<Box<str>> {
        let queues = &self.race.site.queues;
        let own = self.race.ranked.table.queue(self.race.row);
        let mut with_rank = Vec::new();
        for (name, priority) in queues.iter() {
            let is_used = queues.is_started(name) && queues.is_enabled(name);
            let is_of_scheduler = queues.partition(name) == queues.partition(own);
            if name == own || !is_used || !is_of_scheduler || queues.is_route(name) {
                continue;
            }
            let mut changed = self.race.inputs(self.race.row);
            changed[self.slot] = Value::Int(priority.unwrap_or(0));
            let job = Sweep::constant(self.race.scoring, changed);
            let contest = self.race.contest(&job, self.competitors);
            if let FirstStep::At(_) = contest.first_step(1, 0..=0, budget) {
                with_rank.push(name.into());
            }
        }
        with_rank
    }

    fn first_step(&self, job: &Sweep<'a>, limit: i64, budget: &mut WorkBudget) -> FirstStep {
        let contest = self.race.contest(job, self.competitors);
        let least = match self.means {
            Means::AskForLess if ALWAYS_NEEDED.contains(&self.name) => 1.0,
            // the types of a site's resources allow negative amounts, which nobody requests
            Means::AskForLess => self.range.least.max(0.0),
            _ => self.range.least,
        };
        let last = job.steps_until(least, self.range.most.min(self.most));
        contest.first_step(1, 1..=last.min(limit), budget)
    }
}
