//! Evaluates the terms of a formula that depend on the job's entity alone once for each entity.
//!
//! A sub-expression of inputs by entity is itself an input by entity: its values are gathered for the rows like those of
//! the inputs, and have the same bits.

use std::ops::Range;

use crate::formula::program::{ColumnarBuffers, LANES, LaneType, Program, Terms};
use crate::python::{ColumnValues, ColumnView, IntMask};
use crate::rank::InputColumn;

/// What a term has to save, in simple operations on a double, to be evaluated apart.
const LEAST_SAVED: usize = 20_000;

/// The least number of rows for which terms are looked for.
const LEAST_ROWS: usize = 512;

/// The terms of a program that depend on the entity alone, and their values.
#[derive(Debug, Default)]
pub(super) struct EntityTerms {
    terms: Terms,
    /// The values of each term by entity.
    values: Vec<Vec<f64>>,
    /// The values of each term in a block of rows.
    gathered: Vec<Vec<f64>>,
    /// Whether an entity has a term that is left to the interpreter; empty if none has.
    falls_back: Vec<bool>,
    /// The rows of a block that have such an entity.
    fallback_rows: Vec<usize>,
}

impl EntityTerms {
    /// Finds the terms that are worth it, and evaluates them.
    #[inline(never)]
    pub(super) fn evaluate<'c>(
        &mut self,
        program: &Program,
        inputs: impl Iterator<Item = &'c InputColumn<'c>> + Clone,
        rows: usize,
        columnar: &mut ColumnarBuffers,
    ) {
        self.terms.ranges.clear();
        self.falls_back.clear();
        self.fallback_rows.clear();
        if rows < LEAST_ROWS {
            return;
        }
        let index = entity_index(inputs.clone());
        let Some(entities) = inputs.clone().filter_map(|input| values_by(input, index)).map(<[f64]>::len).min() else {
            return;
        };
        if entities > rows / 2 {
            return;
        }
        let is_by_entity = |input| inputs.clone().nth(input).is_some_and(|input| values_by(input, index).is_some());
        program.find_terms(is_by_entity, (LEAST_SAVED / rows) as u64, &mut self.terms);
        let mut kept = 0;
        for at in 0..self.terms.ranges.len() {
            let range = self.terms.ranges[at].clone();
            if self.evaluate_term(kept, program, range.clone(), inputs.clone(), entities, columnar) {
                self.terms.ranges[kept] = range;
                kept += 1;
            }
        }
        self.terms.ranges.truncate(kept);
    }

    /// Evaluates one term for all entities; returns whether its values are floats.
    fn evaluate_term<'c>(
        &mut self,
        term: usize,
        program: &Program,
        range: Range<usize>,
        inputs: impl Iterator<Item = &'c InputColumn<'c>> + Clone,
        entities: usize,
        columnar: &mut ColumnarBuffers,
    ) -> bool {
        let index = entity_index(inputs.clone());
        self.values.resize_with(self.values.len().max(term + 1), Vec::new);
        self.values[term].clear();
        for start in (0..entities).step_by(LANES) {
            let block = start..entities.min(start + LANES);
            // the term reads no other inputs
            let views =
                inputs.clone().map(|input| float_view(values_by(input, index).map_or(&[], |v| &v[block.clone()])));
            let mut executor = program.columnar_with(std::mem::take(columnar));
            executor.evaluate_views(views, range.clone(), &[], std::iter::empty(), block.len(), &[]);
            *columnar = executor.into_buffers();
            let results = columnar.results();
            if results.lane_type() != Some(LaneType::Float) {
                return false;
            }
            self.values[term].extend(results.lanes());
            for lane in results.fallback_lanes() {
                self.falls_back.resize(entities, false);
                self.falls_back[start + lane] = true;
            }
        }
        true
    }

    /// Whether the input is read outside of the terms.
    pub(super) fn is_read_outside(&self, program: &Program, input: usize) -> bool {
        program.reads_outside(input, &self.terms)
    }

    /// Whether there are no terms.
    pub(super) fn is_empty(&self) -> bool {
        self.terms.ranges.is_empty()
    }

    /// Collects the values of a block of rows, whose entities these are.
    #[inline(never)]
    pub(super) fn gather(&mut self, entities: &[u32]) {
        self.gathered.resize_with(self.gathered.len().max(self.terms.ranges.len()), Vec::new);
        for (gathered, values) in self.gathered.iter_mut().zip(&self.values).take(self.terms.ranges.len()) {
            gathered.clear();
            gathered.extend(entities.iter().map(|&entity| values[entity as usize]));
        }
        if !self.falls_back.is_empty() {
            let falls_back = |entity: u32| self.falls_back[entity as usize];
            self.fallback_rows.clear();
            self.fallback_rows.extend((0..entities.len()).filter(|&row| falls_back(entities[row])));
        }
    }

    /// The instructions of the terms.
    pub(super) fn ranges(&self) -> &[Range<usize>] {
        &self.terms.ranges
    }

    /// The values in the block of rows, as inputs after those of the program.
    pub(super) fn views(&self) -> impl Iterator<Item = ColumnView<'_>> {
        self.gathered.iter().take(self.terms.ranges.len()).map(|values| float_view(values))
    }

    /// The rows of the block that are left to the interpreter.
    pub(super) fn fallback_rows(&self) -> &[usize] {
        &self.fallback_rows
    }
}

/// The entity of each row, by the first column that has one; none if no column is by entity.
pub(super) fn entity_index<'c>(mut inputs: impl Iterator<Item = &'c InputColumn<'c>>) -> &'c [u32] {
    let index = inputs.find_map(|input| match input {
        InputColumn::ByEntity { index, .. } => Some(*index),
        _ => None,
    });
    index.unwrap_or(&[])
}

/// The values of a column by the entities of `index`.
fn values_by<'c>(input: &InputColumn<'c>, index: &[u32]) -> Option<&'c [f64]> {
    match input {
        InputColumn::ByEntity { index: own, values } if std::ptr::eq(*own, index) => Some(values),
        _ => None,
    }
}

fn float_view(values: &[f64]) -> ColumnView<'_> {
    ColumnView { values: ColumnValues::F64(values), ints: IntMask::None }
}
