//! Why jobs have their places in the queue: what the formula saw of a job, its terms, its
//! neighbours with what they have more or less, and the criterion that decides between them.

use job_sort_formula::diagnostic::Need;
use job_sort_formula::fairshare::NodeId;
use job_sort_formula::formula::program::{Program, Term, Trace};
use job_sort_formula::jobs::InputOrigin;
use job_sort_formula::python::{BinaryOperator, ComparisonOperator, Python, Value};
use job_sort_formula::rank::explain::{self, NodeValue, evaluate, nearest_double};
use job_sort_formula::rank::{
    SEARCH_WORK, ScoreError, ScorePrecision, WorkBudget, fairshare_number, higher_first, number_of,
    python_result, row_work,
};
use job_sort_formula::schema::{FairshareInput, InputType};
use jsf_openpbs::NumberMode;
use jsf_openpbs::check::{ExchangeRate, exchange_rates};
use jsf_openpbs::order::{Criterion, JobComparison, NotConsidered};
use serde::Serialize;

use crate::site_tree::SiteTree;
use crate::{
    Cause, Influence, PolicyShares, RankedQueue, Role, SharesRequest, Site, SiteError,
    SmallestChanges, Wait,
};

/// The most neighbours above and below a job.
const NEIGHBOURS: usize = 5;
/// The number of places that the smallest changes gain.
const GAINED_PLACES: usize = 10;

/// Why jobs have their places in the queue.
#[derive(Debug)]
pub struct Explanations {
    /// The jobs.
    pub jobs: Vec<Explanation>,
    /// Whether the usage of the fair-share tree is unknown, because its file is not given.
    pub lacks_usage: bool,
    /// The fair-share tree under the policy in force; `None` if the site has none.
    pub shares: Option<PolicyShares>,
}

/// Why a job has its place in the queue.
#[derive(Debug, Default)]
pub struct Explanation {
    /// The row of the job.
    pub row: usize,
    /// The rank, from 1; `None` for a job that the scheduler does not consider.
    pub rank: Option<usize>,
    /// Why a waiting job is not considered, if the order says so.
    pub not_considered: Option<NotConsidered>,
    /// The result of the formula before it is rounded, or the error; `None` if an input of the job
    /// cannot be read.
    pub result: Option<Result<Value, ScoreError>>,
    /// The value that jobs are compared by.
    pub score: Option<f64>,
    /// The inputs of the formula.
    pub inputs: Vec<ExplainedInput>,
    /// The value of every sub-expression that was evaluated, in the order of the spans.
    pub nodes: Vec<NodeValue>,
    /// The terms that add up to the result.
    pub terms: Vec<Term>,
    /// How much each input contributes against the median of the considered jobs, the largest
    /// contribution first.
    pub influences: Vec<Influence>,
    /// The inputs that move the job if it has the values of others, those that move it most first.
    pub causes: Vec<Cause>,
    /// The other jobs with the same error at the same place, by row.
    pub same_error: Vec<usize>,
    /// The path from the root of the fair-share tree to the entity; empty if the site has no tree,
    /// or the tree no such entity.
    pub path: Vec<NodeId>,
    /// The next considered jobs that are ahead, the nearest first.
    pub above: Vec<Neighbour>,
    /// The next considered jobs that are behind, the nearest first.
    pub below: Vec<Neighbour>,
    /// The rank that `changes` are for: that of [`ExplainOptions::to`] if it is better than the
    /// job's, else ten places better; `None` if there is no better one.
    pub goal: Option<usize>,
    /// For each input the smallest change that gives this rank.
    pub changes: SmallestChanges,
    /// What inputs of the job are worth in time of waiting, but for those that the site alone
    /// decides.
    pub rates: Vec<ExchangeRate>,
    /// When the job reaches the rank of [`ExplainOptions::to`]; `None` if that is not asked for.
    pub reached: Option<RankReached>,
    /// Whether all searches were completed. They share one budget of work; once it is spent,
    /// influences, causes and changes may be missing.
    pub is_complete: bool,
}

/// What an explanation contains in addition.
#[derive(Debug, Clone, Copy)]
pub struct ExplainOptions {
    /// The rank for which the necessary wait is determined.
    pub to: Option<usize>,
    /// The longest wait that is considered, in seconds.
    pub within: i64,
    /// Whether the smallest change of each input that gains places is determined, which takes
    /// longer than all the rest.
    pub changes: bool,
    /// The most work of the searches for one job, in units of a [`WorkBudget`].
    pub work: u64,
}

impl Default for ExplainOptions {
    /// No rank; 30 days; with the smallest changes.
    fn default() -> Self {
        Self {
            to: None,
            within: 30 * 24 * 3600,
            changes: true,
            work: SEARCH_WORK,
        }
    }
}

/// When a job reaches a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankReached {
    /// The rank.
    pub rank: usize,
    /// The longest wait that was considered, in seconds.
    pub within: i64,
    /// Whether and when the job reaches it.
    pub wait: Wait,
}

/// An input of a formula, as a job has it.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainedInput {
    /// Its name.
    pub name: String,
    /// Its value; `None` if it cannot be read.
    pub value: Option<Value>,
    /// The unit of the value.
    pub unit: Option<&'static str>,
    /// Where it comes from.
    pub origin: InputOrigin,
}

/// A job near another one in the order.
#[derive(Debug, Clone)]
pub struct Neighbour {
    /// Its row.
    pub row: usize,
    /// Its rank, from 1.
    pub rank: usize,
    /// The terms of the explained job minus those of this one, the largest magnitude first.
    pub differences: Vec<TermDifference>,
    /// The criterion that decides which of the two is ahead; `None` if none does, which happens
    /// only if some value is NaN.
    pub decided_by: Option<Criterion>,
    /// The criterion in words.
    pub reason: String,
    /// What rounding does to the order of the two, in words.
    pub rounding: Option<&'static str>,
}

impl Site {
    /// Explains the places of jobs in a queue that was [ranked](Self::rank) without a limit, with
    /// the origins of its inputs.
    ///
    /// # Errors
    /// The tree cannot be built, or numbers are decimals.
    pub fn explain(
        &self,
        ranked: &RankedQueue,
        rows: &[usize],
        options: &ExplainOptions,
    ) -> Result<Explanations, SiteError> {
        if self.precision() == ScorePrecision::Decimal {
            return Err(SiteError::missing(
                "an explanation follows Python's arithmetic: ",
                Need::PythonNumbers,
            ));
        }
        let mut shares = None;
        if let Some(tree) = &self.tree {
            // with the entities of the jobs, under the policy in force
            let request = SharesRequest::default();
            let policy = self.policy.name;
            shares = Some(self.policy_shares(policy, tree, &ranked.table, &request)?);
        }
        let order = self.order_rules(ranked.pbs_tree(), self.threshold());
        let explainer = Explainer {
            site: self,
            ranked,
            options,
            ranks: ranked.ranking.ranks(),
            medians: explain::medians(&ranked.program, &ranked.table, ranked.ranking.order()),
            comparison: order.comparison(ranked.ranking.scores(), &ranked.table),
            criteria: self.criteria(&ranked.table, ranked.pbs_tree()),
            shares: shares.as_ref(),
        };
        let jobs = rows.iter().map(|&row| explainer.explain(row)).collect();
        let is_of_openpbs = self.tree.as_ref().is_some_and(SiteTree::is_of_openpbs);
        Ok(Explanations {
            jobs,
            lacks_usage: is_of_openpbs && !self.files.has(Role::Usage),
            shares,
        })
    }
}

/// A ranked queue whose jobs are explained.
pub struct Explainer<'a> {
    pub site: &'a Site,
    pub ranked: &'a RankedQueue,
    options: &'a ExplainOptions,
    /// By row, as [`Ranking::ranks`] has them.
    ranks: Vec<u32>,
    /// The medians of the inputs over the considered jobs.
    pub medians: Vec<Value>,
    comparison: JobComparison<'a>,
    criteria: Vec<(Criterion, String)>,
    shares: Option<&'a PolicyShares>,
}

/// The evaluation of the formula for a job.
pub struct Evaluation {
    pub inputs: Vec<Value>,
    trace: Trace,
    terms: Vec<Term>,
}

impl Explainer<'_> {
    fn explain(&self, row: usize) -> Explanation {
        let (site, ranked) = (self.site, self.ranked);
        let (program, schema, table) = (&ranked.program, &ranked.schema, &ranked.table);
        let mut found = Explanation {
            row,
            rank: self.rank(row),
            not_considered: ranked.reason_against(row),
            score: ranked.ranking.score(row).map(|score| score.value),
            inputs: self.inputs(row),
            goal: self.goal(row),
            is_complete: true,
            ..Explanation::default()
        };
        let evaluation = self.evaluate(row);
        let race = site.race(ranked, row);
        let mut budget = WorkBudget::new(self.options.work);
        [found.above, found.below] = budget.with_part(4, |part| {
            let neighbours = self.neighbours(row, evaluation.as_ref(), part);
            found.is_complete = !part.is_spent();
            neighbours
        });
        if let Some(own) = &evaluation
            && let Ok(exact) = &own.trace.result
            && let Some(value) = nearest_double(exact)
        {
            budget.with_part(4, |part| {
                found.influences = self.influences(own, value, part);
                if let Some(race) = &race {
                    found.causes = self.causes(race, own, value, part);
                }
                found.rates = exchange_rates(program, schema, &own.inputs, part);
                found.is_complete &= !part.is_spent();
            });
            found.rates.retain(|rate| {
                let of_site = site.site_constant(&rate.name, schema, Some(table));
                of_site.is_none()
            });
        }
        if let Some(rank) = self.options.to {
            let within = self.options.within;
            let mut wait = Wait::Never { gain_alike: false };
            if let Some(race) = &race {
                wait = budget.with_part(2, |part| race.reached(rank, within, part));
            }
            found.is_complete &= wait != Wait::Unknown;
            found.reached = Some(RankReached { rank, within, wait });
        }
        if let (Some(goal), Some(race)) = (found.goal, &race) {
            // last, with all that is left, because it takes longer than the rest
            found.changes = race.smallest_changes(goal, &mut budget);
            found.is_complete &= found.changes.unknown.is_empty();
        }
        if let Some(shares) = self.shares
            && let Some(node) = shares.node(table.entity(row))
        {
            found.path = shares.path(node);
        }
        if let Some(own) = evaluation {
            let interpreter = program.interpreter(Python::new());
            let result = number_of(own.trace.result.clone(), &interpreter, &own.inputs);
            match &result {
                // the ranking has no score of a job that is not evaluated, such as a running one
                Ok(unscored) if found.score.is_none() => {
                    let value = unscored.to_f64().unwrap_or(f64::NAN);
                    found.score = Some(site.precision().round(value));
                }
                Ok(_) => {}
                Err(error) => found.same_error = self.same_error(row, error),
            }
            found.result = Some(result);
            found.nodes = explain::nodes(program, &own.trace);
            found.terms = own.terms;
        }
        found
    }

    pub fn rank(&self, row: usize) -> Option<usize> {
        let rank = self.ranks[row] as usize;
        (rank > 0).then_some(rank)
    }

    /// The other jobs with the same error at the same place.
    fn same_error(&self, row: usize, error: &ScoreError) -> Vec<usize> {
        let mut same = Vec::new();
        for (other, found) in self.ranked.ranking.scores().errors() {
            if other != row && found.kind() == error.kind() && found.span() == error.span() {
                same.push(other);
            }
        }
        same
    }

    /// The rows of the next considered jobs ahead of a rank and behind it, the nearest first.
    pub fn near(&self, rank: usize) -> [Vec<usize>; 2] {
        let order = self.ranked.ranking.order();
        let own = rank - 1;
        let mut ahead = order[own.saturating_sub(NEIGHBOURS)..own].to_vec();
        ahead.reverse();
        let behind = &order[rank..order.len().min(rank + NEIGHBOURS)];
        [ahead, behind.to_vec()]
    }

    /// The rank that the changes of single inputs are to give.
    fn goal(&self, row: usize) -> Option<usize> {
        let rank = self.rank(row)?;
        if rank <= 1 || !self.options.changes {
            return None;
        }
        match self.options.to {
            Some(to) if to < rank => Some(to),
            _ => Some(rank.saturating_sub(GAINED_PLACES).max(1)),
        }
    }

    fn evaluate(&self, row: usize) -> Option<Evaluation> {
        let program = &self.ranked.program;
        let inputs = explain::inputs(program, &self.ranked.table, row)?;
        let trace = program.trace(&inputs);
        let terms = program.terms(&trace);
        Some(Evaluation {
            inputs,
            trace,
            terms,
        })
    }

    fn inputs(&self, row: usize) -> Vec<ExplainedInput> {
        let table = &self.ranked.table;
        let mut inputs = Vec::new();
        for name in self.ranked.program.inputs() {
            let column = table.column(name);
            let is_set = matches!(column, Some(column) if column.is_set(row));
            let is_filled = is_set && FairshareInput::from_name(name).is_some();
            let mut origin = table.origin(name, row).unwrap_or(InputOrigin::Unset);
            // `fill_fairshare` sets the value, but records no origin
            if is_filled && origin == InputOrigin::Unset {
                origin = InputOrigin::FairShareTree;
            }
            let is_read = is_set || table.exclusion(row).is_none();
            let value = match column {
                _ if !is_read => None,
                Some(column) => Some(column.value(row)),
                None => Some(Value::Int(0)),
            };
            let kind = self.ranked.schema.input_type(name);
            inputs.push(ExplainedInput {
                name: name.to_string(),
                value,
                unit: kind.and_then(InputType::unit),
                origin,
            });
        }
        inputs
    }

    fn neighbours(
        &self,
        row: usize,
        own: Option<&Evaluation>,
        budget: &mut WorkBudget,
    ) -> [Vec<Neighbour>; 2] {
        let mut neighbours = [Vec::new(), Vec::new()];
        if let (Some(rank), Some(own)) = (self.rank(row), own) {
            for (of_side, rows) in neighbours.iter_mut().zip(self.near(rank)) {
                for other in rows {
                    of_side.push(self.neighbour(row, own, other, budget));
                }
            }
        }
        neighbours
    }

    fn neighbour(
        &self,
        row: usize,
        own: &Evaluation,
        other: usize,
        budget: &mut WorkBudget,
    ) -> Neighbour {
        let program = &self.ranked.program;
        let (criterion, order) = self.comparison.decide(row, other);
        // between queues that take turns the comparison is equal: the other jobs in them decide
        let is_right =
            order == self.ranks[row].cmp(&self.ranks[other]) || criterion == Criterion::RoundRobin;
        let decided_by = is_right.then_some(criterion);
        let mut neighbour = Neighbour {
            row: other,
            rank: self.ranks[other] as usize,
            differences: Vec::new(),
            decided_by,
            reason: self.words(decided_by),
            rounding: None,
        };
        if budget.take(row_work(program)).is_some()
            && let Some(others) = self.evaluate(other)
        {
            budget.charge(others.trace.work);
            neighbour.differences = differences(program, own, &others);
            if let Some(criterion) = decided_by {
                neighbour.rounding = self.rounding(criterion, (row, own), (other, &others), budget);
            }
        }
        neighbour
    }

    fn words(&self, criterion: Option<Criterion>) -> String {
        let Some(criterion) = criterion else {
            return "NaN equals every value, so the algorithm of the sort decides".to_owned();
        };
        for (known, words) in &self.criteria {
            if *known == criterion {
                return words.clone();
            }
        }
        criterion.to_string()
    }

    /// Whether rounding makes two values equal, or orders them.
    fn rounding(
        &self,
        criterion: Criterion,
        (row, own): (usize, &Evaluation),
        (other, others): (usize, &Evaluation),
        budget: &mut WorkBudget,
    ) -> Option<&'static str> {
        use Criterion::{ExpressQueue, Queue, RoundRobin};

        // these decide whatever the values are
        if matches!(criterion, Queue | RoundRobin | ExpressQueue) {
            return None;
        }
        let scores = self.ranked.ranking.scores();
        let (value, other_value) = (scores.get(row)?.value, scores.get(other)?.value);
        let (Ok(exact), Ok(other_exact)) = (&own.trace.result, &others.trace.result) else {
            return None;
        };
        // tuples have an order too, but their jobs are equal for having no value
        if exact.to_f64().is_none() || other_exact.to_f64().is_none() {
            return None;
        }
        let order = higher_first(value, other_value);
        if order.is_eq() && (is_less(exact, other_exact) || is_less(other_exact, exact)) {
            return Some("equal only after rounding to float32");
        }
        let value = self.with_unprinted_shares(row, own, budget);
        let other_value = self.with_unprinted_shares(other, others, budget);
        match higher_first(value?, other_value?) {
            unprinted if unprinted == order => None,
            _ if order.is_eq() => Some("equal only because fair-share numbers have six decimals"),
            _ => Some("in this order only because fair-share numbers have six decimals"),
        }
    }

    /// The value of a job if the formula got the numbers of the fair-share tree without rounding.
    fn with_unprinted_shares(
        &self,
        row: usize,
        evaluation: &Evaluation,
        budget: &mut WorkBudget,
    ) -> Option<f64> {
        if self.site.options.numbers != NumberMode::OpenPbs {
            return None;
        }
        let shares = self.shares?;
        let node = shares.node(self.ranked.table.entity(row))?;
        let numbers = shares.assessed.shares().get(node)?;
        let mut inputs = evaluation.inputs.clone();
        for (name, value) in self.ranked.program.inputs().iter().zip(&mut inputs) {
            // a number that the job brings along was never printed
            if let Some(input) = FairshareInput::from_name(name)
                && self.ranked.table.origin(name, row) == Some(InputOrigin::Unset)
            {
                *value = Value::Float(fairshare_number(input, &numbers));
            }
        }
        let program = &self.ranked.program;
        let value = evaluate(program, &inputs, budget)?.ok()?;
        let result = python_result(value, program.expr().span()).ok()?;
        Some(self.site.precision().round(result.to_f64()?))
    }
}

/// The difference of a term between two jobs.
#[derive(Debug, Clone, Serialize)]
pub struct TermDifference {
    /// The text of the term with its sign.
    pub text: String,
    /// The term of the first job minus that of the second; `None` if Python raises an exception.
    pub difference: Option<Value>,
}

/// The differences between the terms of two jobs, the largest magnitude first. If one of them is a
/// single term because a zero would lose its sign, the whole formulas are compared.
fn differences(program: &Program, own: &Evaluation, other: &Evaluation) -> Vec<TermDifference> {
    let mut differences = Vec::new();
    if own.terms.len() == other.terms.len() {
        for (own, other) in own.terms.iter().zip(&other.terms) {
            differences.push(TermDifference::new(&own.text, &own.value, &other.value));
        }
    } else if let (Ok(left), Ok(right)) = (&own.trace.result, &other.trace.result) {
        differences.push(TermDifference::new(program.expr().text(), left, right));
    }
    differences.sort_by(|left, right| right.magnitude().total_cmp(&left.magnitude()));
    differences
}

impl TermDifference {
    fn new(text: &str, own: &Value, other: &Value) -> Self {
        let difference = Python::new()
            .binary(BinaryOperator::Subtract, own, other)
            .ok();
        Self {
            text: text.to_owned(),
            difference,
        }
    }

    /// The difference as the nearest double; `None` if a term is not a number.
    pub fn nearest_double(&self) -> Option<f64> {
        nearest_double(self.difference.as_ref()?)
    }

    /// The absolute difference; -1 if it is NaN or missing.
    fn magnitude(&self) -> f64 {
        match self.nearest_double() {
            Some(double) if !double.is_nan() => double.abs(),
            _ => -1.0,
        }
    }
}

/// Whether a number is less than another one, as Python compares them exactly.
fn is_less(left: &Value, right: &Value) -> bool {
    Python::new().compare(ComparisonOperator::Less, left, right) == Ok(true)
}
