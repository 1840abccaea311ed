//! Changes to a table whose jobs come, change and go.

use crate::jobs::kept_rows::KeptRows;
use crate::jobs::{Column, JobState, JobTable};
use crate::python::Value;

/// Why a table was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TableError(String);

/// A queue that lives: jobs are [pushed](JobTable::push) when they arrive, and removed when they
/// leave. The rows stay in the order in which the jobs arrived; a removal closes the gaps, so that
/// later rows get new numbers. A removal takes time in proportion to the table, therefore remove
/// the jobs of one cycle together.
///
/// ```
/// use job_sort_formula::jobs::{Job, JobTable};
/// use job_sort_formula::Value;
///
/// let mut table = JobTable::new(["ncpus", "eligible_time"]);
/// for (id, ncpus) in [("1.vm", 4), ("2.vm", 8), ("3.vm", 16)] {
///     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(ncpus))])?;
/// }
/// table.set(1, "ncpus", Value::Int(2))?;
/// table.remove(["1.vm"])?;
/// table.set_integers("eligible_time", &[60, 30])?;
/// assert_eq!((table.len(), table.id(0), table.row("3.vm")), (2, "2.vm", Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl JobTable {
    /// Sets an input of a job.
    ///
    /// # Errors
    /// There is no such row or column.
    pub fn set(&mut self, row: usize, name: &str, value: Value) -> Result<(), TableError> {
        self.check_row(row)?;
        self.column_mut(name)?.set(row, Ok(value));
        Ok(())
    }

    /// Sets an input of every job to Python integers, in the order of the rows.
    ///
    /// # Errors
    /// There is no such column, or not one integer for each job.
    pub fn set_integers(&mut self, name: &str, integers: &[i64]) -> Result<(), TableError> {
        let expected = self.len();
        let column = self.column_mut(name)?;
        if integers.len() != expected {
            return Err(TableError(format!(
                "{} values are given for the column `{name}`, expected {expected}, one for each job",
                integers.len()
            )));
        }
        column.clear();
        for &integer in integers {
            column.push(Ok(&Value::Int(integer)));
        }
        Ok(())
    }

    /// Sets the state of a job. An exclusion of the job stays.
    ///
    /// # Errors
    /// There is no such row.
    pub fn set_state(&mut self, row: usize, state: JobState) -> Result<(), TableError> {
        self.check_row(row)?;
        self.states[row] = state;
        Ok(())
    }

    /// Removes jobs.
    ///
    /// # Errors
    /// No job has one of the ids; no job is removed then.
    pub fn remove<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<(), TableError> {
        // all ids are looked up before any row is removed
        let mut rows = Vec::new();
        for id in ids {
            let Some(row) = self.row(id) else {
                return Err(TableError(format!("no job of the table has the id `{id}`")));
            };
            rows.push(row);
        }
        self.remove_rows(rows)
    }

    /// Removes the jobs of these rows, such as those that [`Ranking::order`](crate::Ranking::order)
    /// lists first and that have been started. This is faster than by their ids.
    ///
    /// # Errors
    /// There is no such row; no job is removed then.
    pub fn remove_rows(&mut self, rows: impl IntoIterator<Item = usize>) -> Result<(), TableError> {
        let removed: Vec<usize> = rows.into_iter().collect();
        if let Some(&greatest) = removed.iter().max() {
            // if it exists, all do
            self.check_row(greatest)?;
            self.close_gaps(&removed);
        }
        Ok(())
    }

    /// Keeps the jobs in whose rows `is_kept` returns `true`.
    pub fn retain(&mut self, mut is_kept: impl FnMut(usize) -> bool) {
        let mut removed: Vec<usize> = (0..self.len()).collect();
        removed.retain(|&row| !is_kept(row));
        self.close_gaps(&removed);
    }

    /// Removes all jobs, and keeps the columns.
    pub fn clear(&mut self) {
        let columns = std::mem::take(&mut self.columns);
        *self = Self::new(columns.iter().map(|(name, _)| &**name));
    }

    fn close_gaps(&mut self, removed: &[usize]) {
        if removed.is_empty() {
            return;
        }
        let kept = KeptRows::new(removed, self.len());
        for (row, exclusion) in std::mem::take(&mut self.exclusions) {
            if let Some(new_row) = kept.new_row(row) {
                self.exclusions.insert(new_row, exclusion);
            }
        }
        self.ids.remove_rows(&kept);
        self.entities.remove_rows(&kept);
        self.queues.remove_rows(&kept);
        kept.retain_in(&mut self.states);
        kept.retain_in(&mut self.queued_at);
        for (_, column) in &mut self.columns {
            column.remove_rows(&kept);
        }
    }

    fn check_row(&self, row: usize) -> Result<(), TableError> {
        if row < self.len() {
            Ok(())
        } else {
            Err(TableError(format!(
                "the table has {} jobs, so that there is no row {row}",
                self.len()
            )))
        }
    }

    fn column_mut(&mut self, name: &str) -> Result<&mut Column, TableError> {
        if let Some(&index) = self.column_indices.get(name) {
            return Ok(&mut self.columns[index].1);
        }
        let mut columns = String::new();
        for (known, _) in &self.columns {
            columns += if columns.is_empty() { "`" } else { ", `" };
            columns += known;
            columns += "`";
        }
        if columns.is_empty() {
            columns += "none";
        }
        Err(TableError(format!(
            "the table has no column `{name}`; it has {columns}"
        )))
    }
}
