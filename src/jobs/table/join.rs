//! How rows that were read aside come into the table.

use std::ops::Range;

use crate::jobs::batch::{Locals, UNKNOWN};
use crate::jobs::names::Names;
use crate::jobs::table::{JobTable, MAX_JOBS};
use crate::jobs::{Batch, Exclusion, Problem};
use crate::python::Value;

/// The table's numbers of the names of a batch, as far as they are known.
type Numbers = Vec<Option<u32>>;

impl JobTable {
    /// Appends rows of a batch; `defaults` has one entry per column. Gives those that are not taken, by their row
    /// in the batch.
    pub(crate) fn join(&mut self, batch: &Batch, rows: Range<usize>, defaults: &[Value]) -> Vec<(usize, Problem)> {
        let refused = self.join_ids(batch, rows.clone());
        let (mut entities, mut queues) = (vec![None; batch.entities.len()], vec![None; batch.queues.len()]);
        let mut start = rows.start;
        for end in refused.iter().map(|&(row, _)| row).chain([rows.end]) {
            self.entities.join(&batch.entities, start..end, &mut entities);
            self.queues.join(&batch.queues, start..end, &mut queues);
            self.join_states(batch, start..end);
            self.join_columns(batch, start..end, defaults);
            start = end + 1;
        }
        refused
    }

    fn join_ids(&mut self, batch: &Batch, rows: Range<usize>) -> Vec<(usize, Problem)> {
        let mut refused = Vec::new();
        let mut next = rows.start;
        while next < rows.end {
            if self.ids.is_next(batch.id(next)) {
                // All that climb from here on are greater than all rows of the table.
                let most = rows.end.min(next + (MAX_JOBS - self.ids.len().min(MAX_JOBS)));
                let end = (next + 1..most).find(|&row| !batch.climbs(row)).unwrap_or(most);
                let (text, ends) = batch.ids(next..end);
                self.ids.extend(text, ends);
                next = end;
            }
            if next < rows.end {
                if let Err(problem) = self.admit_id(batch.id(next)) {
                    refused.push((next, problem));
                }
                next += 1;
            }
        }
        refused
    }

    fn join_states(&mut self, batch: &Batch, rows: Range<usize>) {
        let states = &batch.states[rows.clone()];
        let first = self.states.len();
        self.states.extend_from_slice(states);
        if let Some(times) = batch.queued_at(rows) {
            self.queued_at.resize(first, UNKNOWN);
            self.queued_at.extend_from_slice(times);
        }
        let over = states.iter().enumerate().filter(|(_, state)| state.is_over());
        self.exclusions.extend(over.map(|(place, &state)| ((first + place) as u32, Exclusion::Over(state))));
    }

    fn join_columns(&mut self, batch: &Batch, rows: Range<usize>, defaults: &[Value]) {
        for (((_, column), lanes), default) in self.columns.iter_mut().zip(&batch.columns).zip(defaults) {
            lanes.append_to(column, rows.clone(), default);
        }
    }
}

impl Names {
    /// Appends the names of these rows of a batch.
    fn join(&mut self, names: &Locals, rows: Range<usize>, known: &mut Numbers) {
        let mut number = |local: u32| match &mut known[local as usize] {
            Some(number) => *number,
            unknown => *unknown.insert(self.number(names.name(local as usize))),
        };
        match names.numbers(rows.clone()) {
            _ if rows.is_empty() => {}
            Some(locals) => {
                let numbers: Vec<_> = locals.iter().map(|&local| number(local)).collect();
                self.push_numbers(numbers.into_iter());
            }
            None => {
                let number = number(0);
                self.push_numbers(std::iter::repeat_n(number, rows.len()));
            }
        }
    }
}
