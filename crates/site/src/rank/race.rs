//! A job in its race with those that it competes with, over the steps of an input: who is ahead at each
//! step, exactly, at whole steps.
//!
//! In: the scores of the job and of its competitors, see [`Sweep`]. Where bounds of the scores decide
//! the order over a range of steps, the range is not evaluated step by step; any other range is halved
//! until it is short.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use job_sort_formula::Value;
use job_sort_formula::rank::{ScorePrecision, WorkBudget, explain};
use jsf_openpbs::order::Competition;
use jsf_slurm::AGE;

use crate::rank::sweep::{Scoring, Sweep};
use crate::{RankedQueue, Site};

/// The work of copying an input of a job, so that the inputs of all jobs fit into memory.
const COPIED_INPUT: u64 = 64;

impl Site {
    /// A waiting job among its competitors; `None` for one that does not wait.
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
}

/// A job among its competitors.
pub struct Race<'a> {
    pub site: &'a Site,
    pub ranked: &'a RankedQueue,
    pub row: usize,
    pub scoring: Scoring<'a>,
    pub competition: Competition,
}

impl<'a> Race<'a> {
    /// The inputs of a considered job, in the order of the program.
    pub fn inputs(&self, row: usize) -> Vec<Value> {
        explain::inputs(self.scoring.program, &self.ranked.table, row).unwrap_or_default()
    }

    /// A job whose `eligible_time` or Slurm's age grows by a second in each step.
    pub fn waiting(&self, row: usize) -> Sweep<'a> {
        let inputs = self.inputs(row);
        let slurm = self.site.slurm.as_ref();
        let compile = || slurm?.aging_formula(&self.ranked.program, &self.ranked.schema);
        let (Some(slurm), Some(aging)) = (slurm, self.ranked.aging.get_or_init(compile)) else {
            return Sweep::new(self.scoring, inputs, "eligible_time", 1.0);
        };
        // the age of a job that is held, or waits for another one, does not grow
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
    pub fn contest<'c>(
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
    pub fn waiting_competitors(&self, budget: &mut WorkBudget) -> Option<Vec<Competitor<'a>>> {
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

/// The number of steps that are evaluated one by one.
const SHORT_RANGE: i64 = 1024;
/// The work that counts for a change that is kept, so that not more are kept than fit into memory.
const KEPT_CHANGE: u64 = 2048;

/// A job that competes with another one for its place.
#[derive(Debug, Clone)]
pub struct Competitor<'p> {
    /// Its scores.
    pub sweep: Sweep<'p>,
    /// Whether it is ahead if the scores are equal.
    pub wins_ties: bool,
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
pub struct Contest<'c, 'p> {
    /// The job.
    pub job: &'c Sweep<'p>,
    /// The others.
    pub competitors: &'c [Competitor<'p>],
    /// The scheduler considers the job while its score exceeds this.
    threshold: f64,
}

/// When a job reaches a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstStep {
    /// At this step for the first time.
    At(i64),
    /// At none of the steps.
    Never,
    /// The search was ended before it was known.
    Unknown,
}

/// The order of a job and its competitors over a range of steps.
#[derive(Debug, Clone)]
pub struct Course {
    /// What holds at the first step, and each change, in the order of the steps.
    pub changes: Vec<Change>,
    /// The last step up to which the changes are known.
    pub known_until: i64,
}

/// From a step on, a competitor is ahead or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The step.
    pub step: i64,
    /// The index of the competitor; `None`: the threshold, which holds the job back.
    pub competitor: Option<usize>,
    /// Whether it is ahead, or holds the job back.
    pub is_ahead: bool,
}

impl Contest<'_, '_> {
    /// The first step at which fewer competitors than `places` are ahead of the job, and the
    /// threshold does not hold it back. The search ends when the budget is spent.
    pub fn first_step(
        &self,
        places: usize,
        steps: RangeInclusive<i64>,
        budget: &mut WorkBudget,
    ) -> FirstStep {
        self.walk(Some(places), steps, budget).1
    }

    /// Who is ahead of the job at each step, as far as the budget goes.
    pub fn course(&self, steps: RangeInclusive<i64>, budget: &mut WorkBudget) -> Course {
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
