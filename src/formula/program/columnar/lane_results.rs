//! The results of a formula for one block of jobs.

use crate::formula::program::columnar::double_double::DoubleDouble;
use crate::formula::program::columnar::kernels;
use crate::formula::program::columnar::kernels::Broadcast;
use crate::formula::program::columnar::vector::{Entry, LaneBuffer, LaneType, LaneTypesRef, Scratch, Vector};
use crate::python::Value;

/// The results of a formula for one block of jobs, one lane for each job.
#[derive(Debug, Default)]
pub struct LaneResults {
    lanes: Vec<f64>,
    /// What the nearest double of each integer lacks; empty if no integer is beyond 2^53.
    low: Vec<f64>,
    lane_type: Option<LaneType>,
    /// The type tag of each lane, if they differ.
    types: Vec<u8>,
    fallback: Vec<u8>,
}

impl LaneResults {
    /// The numbers, of integers beyond 2^53 the nearest doubles; those of lanes that fall back are meaningless.
    pub fn lanes(&self) -> &[f64] {
        &self.lanes
    }

    /// 1 for every lane that falls back to the interpreter, else 0.
    pub fn fallback(&self) -> &[u8] {
        &self.fallback
    }

    /// Whether an integer can be beyond 2^53, so that only [`LaneResults::value`] is exact.
    pub fn has_large_integers(&self) -> bool {
        !self.low.is_empty()
    }

    /// The lanes that fall back to the interpreter.
    pub fn fallback_lanes(&self) -> impl Iterator<Item = usize> {
        let falls_back = kernels::any_byte(&self.fallback);
        let fallback = if falls_back { self.fallback.as_slice() } else { &[] };
        fallback.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(lane, _)| lane)
    }

    /// The type that all lanes share; `None` if they differ.
    pub fn lane_type(&self) -> Option<LaneType> {
        self.lane_type
    }

    /// The tag of each lane's type, if the types differ.
    pub fn lane_types(&self) -> Option<&[u8]> {
        self.lane_type.is_none().then_some(&self.types)
    }

    /// The Python value of a lane; `None` if it falls back or does not exist.
    pub fn value(&self, lane: usize) -> Option<Value> {
        let lane_type = match self.lane_type {
            Some(lane_type) => lane_type,
            None => LaneType::from_tag(*self.types.get(lane)?),
        };
        let number = DoubleDouble { high: *self.lanes.get(lane)?, low: self.low.get(lane).copied().unwrap_or(0.0) };
        (*self.fallback.get(lane)? == 0).then(|| lane_type.value(number))
    }

    /// Starts a block of so many lanes. The inputs of the `inexact` lanes are not all doubles, so that these fall back.
    pub(super) fn reset(&mut self, lanes: usize, inexact: &[usize]) {
        self.lanes.resize(lanes, 0.0);
        self.lane_type = Some(LaneType::Float);
        self.low.clear();
        self.fallback.clear();
        self.fallback.resize(lanes, 0);
        inexact.iter().filter(|&&lane| lane < lanes).for_each(|&lane| self.fallback[lane] = 1);
    }

    pub(super) fn fall_back_all(&mut self) {
        self.fallback.fill(1);
    }

    /// Marks every lane whose byte in `mask` is 1 as falling back.
    pub(super) fn fall_back(&mut self, mask: &[u8]) {
        kernels::zip_into(&mut self.fallback, mask, |fallback, mask| fallback | mask);
    }

    /// Stores the result. Lanes whose result is NaN fall back, because the sign of a NaN that is computed here may differ from
    /// Python's.
    pub(super) fn store(&mut self, mut result: Entry<'_>, scratch: &mut Scratch) {
        match result.operand() {
            // a sequence is not a number
            None => self.fall_back_all(),
            Some(operand) => {
                self.store_types(operand.types);
                if let Broadcast::Same(number) = operand.lanes {
                    self.lanes.fill(number);
                }
                if operand.is_large() {
                    self.low.extend((0..self.lanes.len()).map(|lane| operand.low.at(lane)));
                }
            }
        }
        match &mut result {
            Entry::Vector(Vector { lanes: LaneBuffer::Owned(lanes), .. }) => {
                std::mem::swap(&mut self.lanes, lanes);
                self.lanes.truncate(self.fallback.len());
            }
            Entry::Vector(Vector { lanes: LaneBuffer::Borrowed(lanes), .. }) => self.lanes.copy_from_slice(lanes),
            Entry::Scalar(_) | Entry::Sequence { .. } => {}
        }
        if kernels::any(&self.lanes, f64::is_nan) {
            let mut mask = scratch.bytes(self.lanes.len());
            kernels::test(Broadcast::Each(&self.lanes), Broadcast::Same(0.0), &mut mask, |x, _| x.is_nan());
            self.fall_back(&mask);
            scratch.recycle_bytes(mask);
        }
        result.recycle(scratch);
    }

    fn store_types(&mut self, types: LaneTypesRef<'_>) {
        self.types.clear();
        self.lane_type = match types {
            LaneTypesRef::All(lane_type) => Some(lane_type),
            LaneTypesRef::Each(types) => {
                self.types.extend_from_slice(types);
                None
            }
        };
    }
}
