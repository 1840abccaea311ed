//! The order of the jobs of a queue by their scores, and the errors of those without a value.

use std::cmp::Reverse;

use crate::formula::program::Program;
use crate::jobs::JobTable;
use crate::rank::sort::{higher_first, sort_listed_by_value};
use crate::rank::{OnError, Score, ScoreError, ScorePrecision, Scores, score};

/// The scores of a queue, and the order of its jobs.
///
/// ```
/// use job_sort_formula::jobs::{Job, JobTable};
/// use job_sort_formula::rank::{ScorePrecision, OnError, Ranking};
/// use job_sort_formula::{Formula, Schema, Value};
///
/// let program = Formula::parse("ncpus * 10")?.compile(&Schema::openpbs())?;
/// let mut table = JobTable::new(["ncpus"]);
/// for (id, ncpus) in [("1.vm", 4), ("2.vm", 64)] {
///     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(ncpus))])?;
/// }
/// let ranking = Ranking::new(&program, &table, ScorePrecision::Float32, OnError::ZeroLikePbs);
/// assert_eq!(ranking.order().iter().map(|&row| table.id(row)).collect::<Vec<_>>(), ["2.vm", "1.vm"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ranking {
    scores: Scores,
    order: Vec<usize>,
}

impl Ranking {
    /// Scores every job and orders those that the scheduler considers: the higher value first, then
    /// the earlier submission.
    pub fn new(
        program: &Program,
        table: &JobTable,
        precision: ScorePrecision,
        on_error: OnError,
    ) -> Self {
        Self::from_scores(score(program, table, precision, on_error), table)
    }

    /// Orders scored jobs: the higher value first, then the earlier submission. Decimal results are
    /// compared exactly. The scores are those of the table as it is: score it again after rows were
    /// added or removed.
    pub fn from_scores(scores: Scores, table: &JobTable) -> Self {
        Self::top(scores, table, usize::MAX)
    }

    /// Orders the first `limit` of scored jobs, as [`Ranking::from_scores`] does. This takes less
    /// time than to order all.
    ///
    /// ```
    /// use job_sort_formula::jobs::{Job, JobTable};
    /// use job_sort_formula::rank::{OnError, Ranking, ScorePrecision, score};
    /// use job_sort_formula::{Formula, Schema, Value};
    ///
    /// let program = Formula::parse("ncpus")?.compile(&Schema::openpbs())?;
    /// let mut table = JobTable::new(["ncpus"]);
    /// for (id, ncpus) in [("1.vm", 4), ("2.vm", 64), ("3.vm", 16)] {
    ///     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(ncpus))])?;
    /// }
    /// let ranking = Ranking::top(score(&program, &table, ScorePrecision::Float32, OnError::Null), &table, 2);
    /// assert_eq!(ranking.order().iter().map(|&row| table.id(row)).collect::<Vec<_>>(), ["2.vm", "3.vm"]);
    /// table.remove(["2.vm"])?;
    /// let scores = score(&program, &table, ScorePrecision::Float32, OnError::Null);
    /// assert_eq!(Ranking::top(scores, &table, 2).order(), [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn top(scores: Scores, table: &JobTable, limit: usize) -> Self {
        // rows that were pushed after the scoring have no score
        let scored = table
            .considered_rows()
            .take_while(|&row| row < scores.len());
        let mut rows: Vec<usize> = scored.collect();
        table.sort_by_submit_order(&mut rows);
        let order = sort_listed_by_value(&rows, &scores.comparable_values(), limit);
        Self { scores, order }
    }

    /// Makes a ranking of scores and an order that the caller computed: rows, best first. Rows
    /// without a score are left out.
    pub fn from_order(scores: Scores, mut order: Vec<usize>) -> Self {
        order.retain(|&row| row < scores.len());
        Self { scores, order }
    }

    /// Keeps the ranks of those rows only that `is_kept` accepts.
    pub fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        self.order.retain(|&row| is_kept(row));
    }

    /// Keeps the first ranks only.
    pub fn truncate(&mut self, limit: usize) {
        self.order.truncate(limit);
    }

    /// The score of a row; `None` if its job is excluded.
    pub fn score(&self, row: usize) -> Option<Score<'_>> {
        self.scores.get(row)
    }

    /// All scores, by row.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// The rows that the scheduler considers, best first; at most as many as were asked for.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// By row the rank of its job, from 1; 0 for a row that is not in the order.
    pub fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.scores.len()];
        for (&row, rank) in self.order.iter().zip(1..) {
            ranks[row] = rank;
        }
        ranks
    }

    /// The number of adjacent pairs in the order whose values are equal, so that the formula does
    /// not order them.
    pub fn ties(&self) -> usize {
        let values = self.scores.comparable_values();
        let mut ties = 0;
        for pair in self.order.windows(2) {
            ties += usize::from(higher_first(values[pair[0]], values[pair[1]]).is_eq());
        }
        ties
    }

    /// The first job with an error, and its error, if the scores use [`OnError::Fail`].
    pub fn failure(&self) -> Option<(usize, &ScoreError)> {
        if self.scores.on_error() == OnError::Fail {
            self.scores.errors().next()
        } else {
            None
        }
    }

    /// The number of jobs with an error.
    pub fn error_count(&self) -> usize {
        self.scores.errors().len()
    }

    /// The errors of some rows, grouped by kind and place; the largest group first.
    pub fn error_groups_of(&self, is_asked_for: impl Fn(usize) -> bool) -> Vec<ErrorGroup<'_>> {
        let mut groups: Vec<ErrorGroup<'_>> = Vec::new();
        for (row, error) in self.scores.errors() {
            if !is_asked_for(row) {
                continue;
            }
            let known = groups.iter_mut().find(|group| {
                group.error.kind() == error.kind() && group.error.span() == error.span()
            });
            match known {
                Some(group) => group.rows.push(row),
                None => groups.push(ErrorGroup {
                    error,
                    rows: vec![row],
                }),
            }
        }
        // stable: of groups of one size, that of the earliest job comes first
        groups.sort_by_key(|group| Reverse(group.rows.len()));
        groups
    }
}

/// Jobs whose errors have the same kind and come from the same part of the formula.
#[derive(Debug, Clone)]
pub struct ErrorGroup<'r> {
    /// The error of the first of these jobs.
    pub error: &'r ScoreError,
    /// The rows of the jobs.
    pub rows: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;
    use crate::diagnostic::Span;
    use crate::jobs::{Column, Job};
    use crate::python::Value;

    /// Three decimals whose doubles are -1, between two of which an error has the value -1.
    #[test]
    fn the_order_of_decimals_and_errors_is_total() {
        let mut table = JobTable::new([]);
        let mut results = Column::new();
        for (id, text) in [
            ("1", "-1.0000000000000000000001"),
            ("2", "0"),
            ("3", "-0.9999999999999999999999"),
            ("4", "-1"),
        ] {
            let job = Job {
                id,
                ..Job::default()
            };
            table.push(&job, &[]).unwrap();
            let decimal: Decimal = text.parse().unwrap();
            results.push(Ok(&Value::Decimal(decimal)));
        }
        let error = ScoreError::TooLarge {
            span: Span::default(),
        };
        let scores = Scores {
            results,
            errors: vec![(1, error)],
            excluded: Vec::new(),
            precision: ScorePrecision::Decimal,
            on_error: OnError::ZeroLikePbs,
        };
        let ranking = Ranking::from_scores(scores, &table);
        assert_eq!(ranking.order(), [2, 1, 3, 0]);
        assert_eq!(ranking.ties(), 1);
    }
}
