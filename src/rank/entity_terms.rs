//! Evaluates the terms of a formula that depend on the job's entity alone once for each entity.
//!
//! A sub-expression of inputs by entity is itself an input by entity, whose values have the same bits.

use std::ops::Range;

use crate::formula::program::{ColumnarBuffers, LANES, LaneType, Program, Terms};
use crate::python::{ColumnValues, ColumnView, IntMask};

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
    /// Whether an entity has a term that is left to the interpreter; empty if none has.
    falls_back: Vec<bool>,
}

impl EntityTerms {
    /// Finds the terms that are worth it, and evaluates them. `inputs` has the values by entity of each input of the program
    /// that has such.
    #[inline(never)]
    pub(super) fn evaluate<'c>(
        &mut self,
        program: &Program,
        inputs: impl Iterator<Item = Option<&'c [f64]>> + Clone,
        rows: usize,
        columnar: &mut ColumnarBuffers,
    ) {
        self.terms.ranges.clear();
        self.falls_back.clear();
        let Some(entities) = inputs.clone().flatten().map(<[f64]>::len).min() else { return };
        if rows < LEAST_ROWS || entities > rows / 2 {
            return;
        }
        let is_by_entity = |input| inputs.clone().nth(input).flatten().is_some();
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
        inputs: impl Iterator<Item = Option<&'c [f64]>> + Clone,
        entities: usize,
        columnar: &mut ColumnarBuffers,
    ) -> bool {
        self.values.resize_with(self.values.len().max(term + 1), Vec::new);
        self.values[term].clear();
        for start in (0..entities).step_by(LANES) {
            let block = start..entities.min(start + LANES);
            // the term reads no other inputs
            let views = inputs.clone().map(|values| float_view(values.map_or(&[], |values| &values[block.clone()])));
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

    /// The instructions of the terms.
    pub(super) fn ranges(&self) -> &[Range<usize>] {
        &self.terms.ranges
    }

    /// The values in a block of rows, whose entities these are, as inputs after those of the program.
    pub(super) fn views<'t>(&'t self, index: &'t [u32]) -> impl Iterator<Item = ColumnView<'t>> {
        let values = self.values.iter().take(self.terms.ranges.len());
        values.map(move |values| ColumnView { values: ColumnValues::ByEntity { index, values }, ints: IntMask::None })
    }

    /// Appends the rows of a block, whose entities these are, that are left to the interpreter because of a term.
    pub(super) fn list_fallback(&self, index: &[u32], rows: &mut Vec<usize>) {
        if !self.falls_back.is_empty() {
            rows.extend((0..index.len()).filter(|&row| self.falls_back[index[row] as usize]));
        }
    }
}

fn float_view(values: &[f64]) -> ColumnView<'_> {
    ColumnView { values: ColumnValues::F64(values), ints: IntMask::None }
}
