//! A job in its race with those that it competes with: how long it waits for a rank, how one of its
//! inputs changes for it, and how values and ranks change while all jobs wait, and which jobs
//! overtake which: exactly, at whole steps.
//!
//! In: the scores of the job and of its competitors, see [`Sweep`]. Where bounds of the scores decide
//! the order over a range of steps, the range is not evaluated step by step; any other range is halved
//! until it is short.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use job_sort_formula::fairshare::NodeKind;
use job_sort_formula::python::Value;
use job_sort_formula::rank::{ScorePrecision, WorkBudget, explain};
use job_sort_formula::schema::{FairshareInput, InputType, Origin, Range, Schema};
use jsf_openpbs::order::Competition;
use jsf_slurm::priority::AGE;
use serde::Serialize;

use crate::rank::sweep::{Scoring, Sweep};
use crate::site_tree::SiteTree;
use crate::{PolicyName, RankedQueue, Site};

/// The fair-share numbers reach the formula with six decimals.
const STEPS_OF_RATIO: f64 = 1e6;
/// The amount of a resource reaches the formula with at most four decimals.
const STEPS_OF_AMOUNT: f64 = 1e4;
/// The most steps by which an input is changed: a terabyte in kilobytes.
const MAX_STEPS: i64 = 1 << 30;
/// The work of copying an input of a job, so that the inputs of all jobs fit into memory.
const COPIED_INPUT: u64 = 64;
/// The time after which a job counts as never having reached a rank: 68 years.
const LIFETIME: i64 = i32::MAX as i64;

/// Whether and when a job reaches a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It does.
    Until(Reached),
    /// It does not in the time that was considered.
    Never {
        /// Whether it never does because all jobs gain the same in the same time.
        gain_alike: bool,
    },
    /// Finding it out takes too long: the formula changes the order too irregularly.
    Unknown,
}

/// When a job reaches a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// The `eligible_time` of the job then, in seconds.
    pub eligible_time: i64,
    /// The time until then, in seconds.
    pub wait: i64,
}

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

    pub(crate) fn race<'a>(&'a self, ranked: &'a RankedQueue, row: usize) -> Option<Race<'a>> {
        // a sweep computes with doubles, so that it says nothing of decimals
        let precision = self.precision();
        let is_waiting = ranked.table.is_considered(row) && ranked.ranking.score(row).is_some();
        if precision == ScorePrecision::Decimal || !is_waiting {
            return None;
        }
        let order = self.order_rules(ranked.pbs_tree(), self.threshold());
        let scoring = Scoring {
            program: &ranked.program,
            schema: &ranked.schema,
            precision,
            on_error: self.options.on_error,
        };
        Some(Race {
            site: self,
            ranked,
            row,
            scoring,
            competition: order.competition(&ranked.ranking, &ranked.table, row),
        })
    }

    /// The scores and ranks of some waiting jobs over the next `seconds`. The times at which jobs
    /// overtake each other are exact. `work` is the most work for one job, in units of a
    /// [`WorkBudget`]; a job is followed as far as it goes. A job that does not wait is left out;
    /// so are all if the site computes with decimals.
    pub fn trajectory(
        &self,
        ranked: &RankedQueue,
        rows: &[usize],
        seconds: i64,
        work: u64,
    ) -> Trajectory {
        let mut trajectory = Trajectory {
            seconds,
            jobs: Vec::new(),
            overtakings: Vec::new(),
        };
        for &row in rows {
            if let Some(race) = self.race(ranked, row) {
                add(&mut trajectory, &race, WorkBudget::new(work));
            }
        }
        trajectory.overtakings.sort_unstable();
        trajectory.overtakings.dedup();
        trajectory
    }
}

/// A job among its competitors.
pub struct Race<'a> {
    site: &'a Site,
    pub ranked: &'a RankedQueue,
    pub row: usize,
    scoring: Scoring<'a>,
    pub competition: Competition,
}

impl<'a> Race<'a> {
    /// The inputs of a considered job, in the order of the program.
    fn inputs(&self, row: usize) -> Vec<Value> {
        explain::inputs(self.scoring.program, &self.ranked.table, row).unwrap_or_default()
    }

    /// A job whose `eligible_time` or Slurm's age grows by a second in each step.
    fn waiting(&self, row: usize) -> Sweep<'a> {
        let inputs = self.inputs(row);
        let (Some(slurm), Some(aging)) = (&self.site.slurm, &self.ranked.aging) else {
            return Sweep::new(self.scoring, inputs, "eligible_time", 1.0);
        };
        // the age of a job that is held, or waits for another one, stands still
        if !slurm.is_aging(self.ranked.table.id(row)) {
            return Sweep::constant(self.scoring, inputs);
        }
        let scoring = Scoring {
            program: &aging.program,
            ..self.scoring
        };
        Sweep::new(scoring, inputs, AGE, aging.max_age.into())
    }

    /// A job among some competitors.
    fn contest<'c>(
        &self,
        job: &'c Sweep<'a>,
        competitors: &'c [Competitor<'a>],
    ) -> Contest<'c, 'a> {
        Contest {
            job,
            competitors,
            threshold: self.competition.threshold,
        }
    }

    /// The competitors, as they wait as long as the job; `None` if the budget does not suffice for
    /// their inputs.
    fn waiting_competitors(&self, budget: &mut WorkBudget) -> Option<Vec<Competitor<'a>>> {
        let competitors = &self.competition.competitors;
        let inputs = competitors.len() as u64 * self.scoring.program.inputs().len() as u64;
        budget.take(inputs * COPIED_INPUT)?;
        let mut waiting = Vec::with_capacity(competitors.len());
        for &(row, wins_ties) in competitors {
            let sweep = self.waiting(row);
            waiting.push(Competitor { sweep, wins_ties });
        }
        Some(waiting)
    }
}

impl Race<'_> {
    /// When the job first has at most this rank, in whole seconds from now up to `within`, if it
    /// and all other considered jobs age alike.
    ///
    /// Exact for every formula: a time at which bounds of the values leave the order open is
    /// evaluated. Unknown where the budget is spent.
    pub(crate) fn reached(&self, rank: usize, within: i64, budget: &mut WorkBudget) -> Wait {
        let Some(places) = self.competition.places(rank) else {
            return Wait::Never { gain_alike: false };
        };
        let Some(competitors) = self.waiting_competitors(budget) else {
            return Wait::Unknown;
        };
        let job = self.waiting(self.row);
        let contest = self.contest(&job, &competitors);
        let waited = self.ranked.table.column("eligible_time");
        let now = waited.map_or(0, |column| column.nearest_double(self.row) as i64);
        match contest.first_step(places, 0..=within, budget) {
            FirstStep::At(wait) => Wait::Until(Reached {
                eligible_time: now.saturating_add(wait),
                wait,
            }),
            FirstStep::Never => Wait::Never {
                gain_alike: gain_alike(contest, places, budget),
            },
            FirstStep::Unknown => Wait::Unknown,
        }
    }

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

/// Whether a job never reaches a goal because the value of every considered job grows by the same
/// in the same time.
fn gain_alike(contest: Contest<'_, '_>, places: usize, budget: &mut WorkBudget) -> bool {
    let gain = contest.job.constant_slope(0..=LIFETIME, budget);
    let mut others = contest.competitors.iter();
    gain.is_some()
        && others.all(|other| other.sweep.constant_slope(0..=LIFETIME, budget) == gain)
        && contest.first_step(places, 0..=LIFETIME, budget) == FirstStep::Never
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

/// The number of points at which scores are given.
const POINTS: i64 = 60;

/// Jobs over the waiting time. All considered jobs age alike, and nothing else changes.
#[derive(Debug, Clone)]
pub struct Trajectory {
    /// The waiting time that is covered, from now on, in seconds.
    pub seconds: i64,
    /// The jobs that were asked for.
    pub jobs: Vec<JobTrajectory>,
    /// Which job overtakes which other one, in the order of time.
    pub overtakings: Vec<Overtaking>,
}

/// One job over the waiting time.
#[derive(Debug, Clone)]
pub struct JobTrajectory {
    /// Its row in the table.
    pub row: usize,
    /// The time up to which it is followed, in seconds: less than asked for if finding out more
    /// takes too long. After it its ranks are not known.
    pub known_until: i64,
    /// Its scores at times that are equally far apart.
    pub points: Vec<TrajectoryPoint>,
    /// Its rank at the time 0, and at each time at which it changes, as long as it is followed;
    /// `None` while the scheduler does not consider it.
    pub ranks: Vec<(i64, Option<usize>)>,
}

/// The score and the rank of a job at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TrajectoryPoint {
    /// The time from now, in seconds.
    pub wait: i64,
    /// The score.
    pub score: f64,
    /// The rank, from 1; `None` if the scheduler does not consider the job, or if the rank is not
    /// known.
    pub rank: Option<usize>,
    /// Whether the rank is known.
    #[serde(rename = "known")]
    pub is_known: bool,
}

/// A job overtakes another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overtaking {
    /// The time from now, in seconds: the first second at which the job is ahead.
    pub wait: i64,
    /// The row of the job that is ahead from then on.
    pub winner: usize,
    /// The row of the other one.
    pub loser: usize,
}

/// Adds a job to a trajectory.
fn add(trajectory: &mut Trajectory, race: &Race<'_>, mut budget: WorkBudget) {
    let row = race.row;
    let job = race.waiting(row);
    let seconds = trajectory.seconds;
    // the rank now is that of the ranking
    let mut course = Course {
        changes: Vec::new(),
        known_until: 0,
    };
    budget.with_part(2, |part| {
        if let Some(competitors) = race.waiting_competitors(part) {
            course = race.contest(&job, &competitors).course(0..=seconds, part);
        }
    });
    let known_until = course.known_until.max(0);
    let ranks = race.ranks_over_time(&course.changes);
    let mut points = Vec::new();
    for point in 0..=POINTS {
        let wait = seconds * point / POINTS;
        let score = job
            .scores(wait..=wait, &mut budget)
            .and_then(|mut scores| scores.pop());
        let is_known = wait <= known_until;
        let so_far = ranks.partition_point(|(from, _)| *from <= wait);
        points.push(TrajectoryPoint {
            wait,
            score: score.unwrap_or(f64::NAN),
            rank: ranks[so_far - 1].1.filter(|_| is_known),
            is_known,
        });
    }
    for change in &course.changes {
        if change.step > 0
            && let Some(index) = change.competitor
        {
            let (other, _) = race.competition.competitors[index];
            let (winner, loser) = if change.is_ahead {
                (other, row)
            } else {
                (row, other)
            };
            trajectory.overtakings.push(Overtaking {
                wait: change.step,
                winner,
                loser,
            });
        }
    }
    trajectory.jobs.push(JobTrajectory {
        row,
        known_until,
        points,
        ranks,
    });
}

impl Race<'_> {
    /// The rank of the job now, and at each time at which it changes; `None` while its value does not
    /// exceed the threshold.
    fn ranks_over_time(&self, changes: &[Change]) -> Vec<(i64, Option<usize>)> {
        let mut order = self.ranked.ranking.order().iter();
        let now = order.position(|&other| other == self.row);
        let mut ranks = vec![(0, now.map(|place| place + 1))];
        let mut ahead = 0;
        let mut is_held_back = false;
        for at_once in changes.chunk_by(|one, other| one.step == other.step) {
            let wait = at_once[0].step;
            for change in at_once {
                match change.competitor {
                    None => is_held_back = change.is_ahead,
                    Some(_) if change.is_ahead => ahead += 1,
                    // at first it is said of each whether it is ahead
                    Some(_) => ahead -= usize::from(wait > 0),
                }
            }
            if wait > 0 {
                let rank = self.competition.rank(ahead);
                ranks.push((wait, rank.filter(|_| !is_held_back)));
            }
        }
        ranks.dedup_by_key(|(_, rank)| *rank);
        ranks
    }
}

/// The number of steps that are evaluated one by one.
const SHORT_RANGE: i64 = 1024;
/// The work that counts for a change that is kept, so that not more are kept than fit into memory.
const KEPT_CHANGE: u64 = 2048;

/// A job that competes with another one for its place.
#[derive(Debug, Clone)]
struct Competitor<'p> {
    /// Its scores.
    sweep: Sweep<'p>,
    /// Whether it is ahead if the scores are equal.
    wins_ties: bool,
}

impl Competitor<'_> {
    fn is_ahead(&self, order: Option<Ordering>) -> bool {
        // nan equals every score
        let order = order.unwrap_or(Ordering::Equal);
        order.is_gt() || order.is_eq() && self.wins_ties
    }
}

/// A job and those that it competes with.
#[derive(Debug, Clone, Copy)]
struct Contest<'c, 'p> {
    /// The job.
    job: &'c Sweep<'p>,
    /// The others.
    competitors: &'c [Competitor<'p>],
    /// The scheduler considers the job while its score exceeds this.
    threshold: f64,
}

/// When a job reaches a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstStep {
    /// At this step for the first time.
    At(i64),
    /// At none of the steps.
    Never,
    /// The search was ended before it was known.
    Unknown,
}

/// The order of a job and its competitors over a range of steps.
#[derive(Debug, Clone)]
struct Course {
    /// What holds at the first step, and each change, in the order of the steps.
    changes: Vec<Change>,
    /// The last step up to which the changes are known.
    known_until: i64,
}

/// From a step on, a competitor is ahead or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Change {
    /// The step.
    step: i64,
    /// The index of the competitor; `None`: the threshold, which holds the job back.
    competitor: Option<usize>,
    /// Whether it is ahead, or holds the job back.
    is_ahead: bool,
}

impl Contest<'_, '_> {
    /// The first step at which fewer competitors than `places` are ahead of the job, and the
    /// threshold does not hold it back. The search ends when the budget is spent.
    fn first_step(
        &self,
        places: usize,
        steps: RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> FirstStep {
        self.walk(Some(places), steps, budget).1
    }

    /// Who is ahead of the job at each step, as far as the budget goes.
    fn course(&self, steps: RangeInclusive<i64>, budget: &mut WorkBudget) -> Course {
        let (mut course, _) = self.walk(None, steps, budget);
        let known_until = course.known_until;
        course.changes.retain(|change| change.step <= known_until);
        course
    }

    fn walk(
        &self,
        places: Option<usize>,
        steps: RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> (Course, FirstStep) {
        let mut walk = Walk {
            contest: *self,
            budget,
            places,
            latest: vec![None; self.competitors.len() + 1],
            course: Course {
                changes: Vec::new(),
                known_until: *steps.start() - 1,
            },
        };
        let mut found = FirstStep::Never;
        if !steps.is_empty() {
            let all: Vec<usize> = (0..self.competitors.len()).collect();
            found = walk.range(steps, 0, &all);
        }
        (walk.course, found)
    }
}

/// Goes through steps in their order.
// in their order, so that what is known when the budget is spent is a beginning without gaps
struct Walk<'w, 'c, 'p> {
    contest: Contest<'c, 'p>,
    budget: &'w mut WorkBudget,
    /// It ends where fewer competitors than this are ahead. `None`: it notes who is ahead, and goes to
    /// the end.
    places: Option<usize>,
    /// By competitor, then of the threshold: what was noted last.
    latest: Vec<Option<bool>>,
    course: Course,
}

impl Walk<'_, '_, '_> {
    /// Goes through a range. So many competitors are ahead in all of it, and some others may be in a
    /// part of it.
    fn range(
        &mut self,
        steps: RangeInclusive<i64>,
        mut ahead: usize,
        others: &[usize],
    ) -> FirstStep {
        let Contest {
            job,
            competitors,
            threshold,
        } = self.contest;
        let first = *steps.start();
        let last = *steps.end();
        let places = self.places.unwrap_or(usize::MAX);
        let mut is_held_back = None;
        let mut undecided = others.to_vec();
        if let Some(enclosure) = job.enclosure(steps.clone(), self.budget) {
            let is_under = job.is_held_back(enclosure.most, threshold);
            if is_under && self.places.is_some() {
                return FirstStep::Never;
            }
            if is_under || enclosure.least > threshold {
                is_held_back = Some(is_under);
                self.note(first, None, is_under);
            }
            undecided.retain(|&index| {
                // once no place is left, the others do not matter
                if ahead >= places {
                    return true;
                }
                let competitor = &competitors[index];
                let own = competitor.sweep.enclosure(steps.clone(), self.budget);
                let order = own.and_then(|own| own.compare(&enclosure, job.precision()));
                if order.is_some() {
                    let is_ahead = competitor.is_ahead(order);
                    ahead += usize::from(is_ahead);
                    self.note(first, Some(index), is_ahead);
                }
                order.is_none()
            });
        }
        // bounds may be missing for lack of work, which says nothing about the range; those that are
        // known hold in all parts of it, which so need not ask again
        if self.budget.is_spent() {
            return FirstStep::Unknown;
        }
        if ahead >= places {
            return FirstStep::Never;
        }
        let may_be_ahead = ahead + undecided.len();
        if is_held_back == Some(false) && self.places.is_some_and(|places| may_be_ahead < places) {
            return FirstStep::At(first);
        }
        if is_held_back.is_some() && undecided.is_empty() {
            self.course.known_until = last;
            return FirstStep::Never;
        }
        if last - first < SHORT_RANGE {
            let found = self.each_step(steps, ahead, &undecided);
            return found.unwrap_or(FirstStep::Unknown);
        }
        // the sum of both could overflow
        let middle = first + (last - first) / 2;
        match self.range(first..=middle, ahead, &undecided) {
            FirstStep::Never => self.range(middle + 1..=last, ahead, &undecided),
            found => found,
        }
    }

    /// Evaluates the steps one by one; `None` if that takes more than the work that is left.
    fn each_step(
        &mut self,
        steps: RangeInclusive<i64>,
        ahead: usize,
        undecided: &[usize],
    ) -> Option<FirstStep> {
        let Contest {
            job,
            competitors,
            threshold,
        } = self.contest;
        let scores = job.scores(steps.clone(), self.budget)?;
        let mut others = Vec::new();
        for &index in undecided {
            let competitor = &competitors[index];
            let scores = competitor.sweep.scores(steps.clone(), self.budget)?;
            others.push((index, competitor, scores));
        }
        for (place, step) in steps.enumerate() {
            let score = scores[place];
            let mut ahead = ahead;
            for (index, competitor, scores) in &others {
                let is_ahead = competitor.is_ahead(scores[place].partial_cmp(&score));
                ahead += usize::from(is_ahead);
                self.note(step, Some(*index), is_ahead);
            }
            let is_under = job.is_held_back(score, threshold);
            self.note(step, None, is_under);
            if !is_under && self.places.is_some_and(|places| ahead < places) {
                return Some(FirstStep::At(step));
            }
            if self.budget.is_spent() {
                return None;
            }
            self.course.known_until = step;
        }
        Some(FirstStep::Never)
    }

    fn note(&mut self, step: i64, competitor: Option<usize>, is_ahead: bool) {
        if self.places.is_some() {
            return;
        }
        let latest = competitor.unwrap_or(self.latest.len() - 1);
        let is_change = self.latest[latest].replace(is_ahead) != Some(is_ahead);
        if is_change && self.budget.take(KEPT_CHANGE).is_some() {
            self.course.changes.push(Change {
                step,
                competitor,
                is_ahead,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    //! When jobs overtake each other, against the evaluation of every step.
    //!
    //! `JSF_RACES` sets how many queues are tried, `JSF_RACE_SEED` the seed.

    use std::cmp::Ordering;

    use job_sort_formula::rank::{OnError, ScorePrecision, WorkBudget};
    use job_sort_formula::{Formula, Program, Schema, Value};
    use jsf_testing::random::formulas::{Writer, schema};
    use jsf_testing::random::{Generator, Xorshift, text};
    use jsf_testing::setting;

    use super::*;
    use crate::rank::sweep::Scoring;

    /// Terms of a formula; `#` is replaced by a random number.
    const TERMS: &[&str] = &[
        "eligible_time / #",
        "# * eligible_time",
        "eligible_time * ncpus / #",
        "ncpus / #",
        "# * fairshare_factor",
        "# * (eligible_time / walltime)",
        "# * min(1, eligible_time / #)",
        "max(eligible_time - #, 0) / #",
        "(# if eligible_time > # else 0)",
        "(eligible_time / # if ncpus > 8 else #)",
        "# * (eligible_time // #)",
        "floor(eligible_time / #) * #",
        "# * pow(eligible_time / walltime, 2)",
        "# * sqrt(eligible_time + 1)",
        "# * log(eligible_time + ncpus)",
        "# * exp(-eligible_time / #)",
        "# * 2 ** (-fairshare_factor * eligible_time / #)",
        "# / (1 + eligible_time)",
        "(eligible_time > #) * #",
        "# * abs(eligible_time - #)",
        "eligible_time % # / #",
        "# / (eligible_time - #)",
        "log(eligible_time - #)",
        "# * (eligible_time ** 3) / walltime ** 3",
        "sin(eligible_time / #)",
        // fails at every step
        "log(-# - eligible_time)",
    ];

    const NUMBERS: &[&str] = &[
        "1", "2", "10", "60", "100", "600", "1000", "3600", "86400", "0.5", "0.1", "1e-3", "7.25",
        "1e6", "20000.0",
    ];

    fn formula(random: &mut Xorshift) -> String {
        let count = 1 + random.next() % 3;
        let term = |random: &mut Xorshift| {
            let term = TERMS[random.next() as usize % TERMS.len()];
            let parts: Vec<&str> = term.split('#').collect();
            let mut text = parts[0].to_owned();
            for part in &parts[1..] {
                text.push_str(NUMBERS[random.next() as usize % NUMBERS.len()]);
                text.push_str(part);
            }
            text
        };
        (0..count)
            .map(|_| term(random))
            .collect::<Vec<_>>()
            .join(" + ")
    }

    fn job(program: &Program, random: &mut Xorshift) -> Vec<Value> {
        let input = |name: &str, random: &mut Xorshift| match name {
            "eligible_time" => Value::Int((random.next() % 20_000) as i64),
            "ncpus" => Value::Int(1 << (random.next() % 7)),
            "walltime" => Value::Int(600 * (1 + random.next() as i64 % 200)),
            _ => Value::Float((random.next() % 1_000_000) as f64 / 1e6),
        };
        program
            .inputs()
            .iter()
            .map(|name| input(name, random))
            .collect()
    }

    struct Queue<'p> {
        job: Sweep<'p>,
        competitors: Vec<Competitor<'p>>,
    }

    fn queue<'p>(scoring: Scoring<'p>, random: &mut Xorshift) -> Queue<'p> {
        let sweep = |random: &mut Xorshift| {
            Sweep::new(scoring, job(scoring.program, random), "eligible_time", 1.0)
        };
        let count = 1 + random.next() % 12;
        let competitor = |random: &mut Xorshift| Competitor {
            sweep: sweep(random),
            wins_ties: random.next().is_multiple_of(2),
        };
        Queue {
            job: sweep(random),
            competitors: (0..count).map(|_| competitor(random)).collect(),
        }
    }

    fn unlimited() -> WorkBudget {
        WorkBudget::new(u64::MAX)
    }

    /// The changes of a competitor, or of the threshold.
    fn changes_of(course: &Course, competitor: Option<usize>) -> Vec<(i64, bool)> {
        let changes = course.changes.iter();
        let changes = changes.filter(|change| change.competitor == competitor);
        changes
            .map(|change| (change.step, change.is_ahead))
            .collect()
    }

    fn is_ahead(competitor: &Competitor<'_>, own: f64, other: f64) -> bool {
        match own.partial_cmp(&other) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Less) => false,
            _ => competitor.wins_ties,
        }
    }

    #[test]
    fn first_steps_and_crossings_equal_those_of_all_steps() {
        let mut random =
            Xorshift(setting("JSF_RACE_SEED", 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let steps = 0..=setting("JSF_RACE_STEPS", 20_000) as i64;
        let (mut reached, mut changed) = (0, 0);
        for _ in 0..setting("JSF_RACES", 60) {
            let text = formula(&mut random);
            let schema = Schema::openpbs();
            let program = Formula::parse(&text).unwrap().compile(&schema).unwrap();
            let precision = if random.next().is_multiple_of(4) {
                ScorePrecision::Double
            } else {
                ScorePrecision::Float32
            };
            let scoring = Scoring {
                program: &program,
                schema: &schema,
                precision,
                on_error: OnError::ZeroLikePbs,
            };
            let Queue { job, competitors } = queue(scoring, &mut random);
            let all_scores =
                |sweep: &Sweep<'_>| sweep.scores(steps.clone(), &mut unlimited()).unwrap();
            let own = all_scores(&job);
            let scores: Vec<_> = competitors
                .iter()
                .map(|competitor| all_scores(&competitor.sweep))
                .collect();
            let threshold = if random.next().is_multiple_of(3) {
                own[own.len() / 2]
            } else {
                f64::NEG_INFINITY
            };
            let contest = Contest {
                job: &job,
                competitors: &competitors,
                threshold,
            };
            let course = contest.course(steps.clone(), &mut unlimited());
            assert_eq!(course.known_until, *steps.end(), "{text}");
            let mut held: Vec<(i64, bool)> = Vec::new();
            for (step, own) in own.iter().enumerate() {
                let is_held = *own <= threshold;
                if held.last().is_none_or(|(_, last)| *last != is_held) {
                    held.push((step as i64, is_held));
                }
            }
            assert_eq!(changes_of(&course, None), held, "{text}");
            for (index, (competitor, scores)) in competitors.iter().zip(&scores).enumerate() {
                let mut expected: Vec<(i64, bool)> = Vec::new();
                for (step, (score, own)) in scores.iter().zip(&own).enumerate() {
                    let is_ahead = is_ahead(competitor, *score, *own);
                    if expected.last().is_none_or(|(_, last)| *last != is_ahead) {
                        expected.push((step as i64, is_ahead));
                    }
                }
                changed += usize::from(expected.len() > 1);
                assert_eq!(changes_of(&course, Some(index)), expected, "{text}");
            }
            for places in 1..=competitors.len() {
                let ahead = |step: usize| {
                    let all = competitors.iter().zip(&scores);
                    all.filter(|(competitor, scores)| is_ahead(competitor, scores[step], own[step]))
                        .count()
                };
                let fits = |&step: &usize| {
                    ahead(step) < places && (own[step].is_nan() || own[step] > threshold)
                };
                let expected = (0..own.len()).find(fits).map(|step| step as i64);
                reached += usize::from(expected.is_some_and(|step| step > 0));
                let expected = expected.map_or(FirstStep::Never, FirstStep::At);
                assert_eq!(
                    contest.first_step(places, steps.clone(), &mut unlimited()),
                    expected,
                    "{text}"
                );
            }
        }
        println!("{reached} places reached later, {changed} pairs with a crossing");
        assert!(
            reached > 20 && changed > 20,
            "{reached} places, {changed} pairs"
        );
    }

    /// Formulas whose order neither bounds nor slopes decide.
    const IRREGULAR: &[&str] = &[
        "sin(eligible_time * ncpus)",
        "(0.5+(1 if log(2)>=(eligible_time*eligible_time) else (eligible_time-ncpus)))",
        "(eligible_time * 7919) % 10007 + ncpus / 100",
        "(3 + ncpus) ** (eligible_time % 300) % 1009",
    ];

    /// The work of a search over the lifetime of a job with a limit, and whether its answer is known.
    fn work_over_a_lifetime(text: &str, schema: &Schema, limit: u64) -> (u64, bool) {
        let program = Formula::parse(text).unwrap().compile(schema).unwrap();
        let on_error = OnError::ZeroLikePbs;
        let scoring = Scoring {
            program: &program,
            schema,
            precision: ScorePrecision::Float32,
            on_error,
        };
        let Queue { job, competitors } = queue(scoring, &mut Xorshift(7));
        let mut budget = WorkBudget::new(limit);
        let contest = Contest {
            job: &job,
            competitors: &competitors,
            threshold: f64::NEG_INFINITY,
        };
        let found = contest.first_step(1, 0..=i64::from(i32::MAX), &mut budget);
        (limit - budget.left(), found != FirstStep::Unknown)
    }

    #[test]
    fn a_search_ends_when_its_work_is_done_whatever_the_formula_is() {
        let mut random = Generator(setting("JSF_SEED", 3));
        let schema = schema();
        let mut formulas: Vec<String> = IRREGULAR.iter().map(|text| (*text).to_owned()).collect();
        while formulas.len() < setting("JSF_CASES", 80) as usize {
            let tokens = Writer::formula(&mut random).tokens;
            let text = text(&tokens, &mut random);
            let compiles =
                Formula::parse(&text).is_ok_and(|formula| formula.compile(&schema).is_ok());
            formulas.extend(compiles.then_some(text));
        }
        let limit = 1 << 22;
        let mut unknown = 0;
        for text in &formulas {
            let (work, is_known) = work_over_a_lifetime(text, &schema, limit);
            assert!(work <= limit, "{text}: {work}");
            // a search that does not end with some work does not end with less
            let is_known_with_less = work_over_a_lifetime(text, &schema, limit / 16).1;
            assert!(is_known || !is_known_with_less, "{text}");
            // the work of a search that ends is that of one without a limit
            if is_known {
                assert_eq!(
                    work_over_a_lifetime(text, &schema, u64::MAX / 2),
                    (work, true),
                    "{text}"
                );
            }
            unknown += usize::from(!is_known);
        }
        println!("{unknown} of {} searches ended early", formulas.len());
        assert!(
            unknown >= IRREGULAR.len() - 1 && unknown < formulas.len(),
            "{unknown} of {}",
            formulas.len()
        );
    }

    #[test]
    fn crossings_are_those_of_all_steps_as_far_as_they_are_known() {
        let schema = Schema::openpbs();
        let steps = 0..=20_000;
        let mut partial = 0;
        for text in IRREGULAR {
            let program = Formula::parse(text).unwrap().compile(&schema).unwrap();
            let on_error = OnError::ZeroLikePbs;
            let scoring = Scoring {
                program: &program,
                schema: &schema,
                precision: ScorePrecision::Float32,
                on_error,
            };
            let Queue { job, competitors } = queue(scoring, &mut Xorshift(11));
            let contest = Contest {
                job: &job,
                competitors: &competitors,
                threshold: f64::NEG_INFINITY,
            };
            let whole = contest.course(steps.clone(), &mut unlimited());
            let some = contest.course(steps.clone(), &mut WorkBudget::new(1 << 21));
            let mut known = whole.changes;
            known.retain(|change| change.step <= some.known_until);
            assert_eq!(some.changes, known, "{text}");
            assert_eq!(whole.known_until, *steps.end(), "{text}");
            partial += usize::from(some.known_until < *steps.end());
        }
        assert!(partial > 0);
    }
}
