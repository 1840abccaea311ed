//! How rows that were read aside come into the table.

use std::ops::Range;

use super::{JobTable, MAX_JOBS};
use crate::formula::number::Value;
use crate::jobs::{Batch, Ignored, Problem};

impl JobTable {
    /// Appends rows of a batch; `defaults` has one entry per column. Gives those that are not taken, by their row
    /// in the batch.
    pub(crate) fn join(&mut self, batch: &Batch, rows: Range<usize>, defaults: &[Value]) -> Vec<(usize, Problem)> {
        let refused = self.join_ids(batch, rows.clone());
        let taken = || {
            let mut refused = refused.iter().map(|&(row, _)| row).peekable();
            rows.clone().filter(move |row| refused.next_if_eq(row).is_none())
        };
        let first = self.states.len();
        let (mut entities, mut queues) = (vec![None; batch.entities.len()], vec![None; batch.queues.len()]);
        for (place, row) in taken().enumerate() {
            let (entity, queue) = (batch.entities.number(row), batch.queues.number(row));
            let number = *entities[entity].get_or_insert_with(|| self.entities.number(batch.entities.name(entity)));
            self.entities.push_number(number);
            let number = *queues[queue].get_or_insert_with(|| self.queues.number(batch.queues.name(queue)));
            self.queues.push_number(number);
            self.states.push(batch.states[row]);
            self.queue_at(first + place, batch.queued_at[row]);
            if batch.states[row].is_over() {
                self.ignored.insert((first + place) as u32, Ignored::Over(batch.states[row]));
            }
        }
        for (((_, column), lanes), default) in self.columns.iter_mut().zip(&batch.columns).zip(defaults) {
            if refused.is_empty() && lanes.append_to(column, rows.clone()) {
                continue;
            }
            for row in taken() {
                match lanes.value(row) {
                    Some(value) => column.push(value),
                    None => column.push_default(default.clone()),
                }
            }
        }
        refused
    }

    fn join_ids(&mut self, batch: &Batch, rows: Range<usize>) -> Vec<(usize, Problem)> {
        let mut refused = Vec::new();
        // Whether the row before was greater than all rows of the table.
        let mut climbing = false;
        for row in rows {
            let id = batch.id(row);
            if climbing && batch.climbs(row) && self.ids.len() < MAX_JOBS {
                self.ids.append(id);
                continue;
            }
            climbing = self.ids.is_next(id);
            if let Err(problem) = self.admit_id(id) {
                refused.push((row, problem));
            }
        }
        refused
    }
}
