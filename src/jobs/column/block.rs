//! Up to [`BLOCK_ROWS`] rows of a column, in the least memory that holds them exactly.

use super::BLOCK_ROWS;
use super::marks::Marks;
use crate::formula::number::{LaneValues, Strip, Wholes};

/// The rows of a block and what is known of each.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    lanes: Kept,
    len: usize,
    pub(super) whole: Marks,
    pub(super) set: Marks,
}

/// The numbers: one for all rows, or small integers, or doubles.
#[derive(Debug, Clone)]
enum Kept {
    Same(f64),
    Narrow(Vec<i32>),
    Wide(Vec<f64>),
}

impl Default for Kept {
    fn default() -> Self {
        Self::Same(0.0)
    }
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_full(&self) -> bool {
        self.len == BLOCK_ROWS
    }

    /// Appends a row. A block that is full takes none.
    #[inline]
    pub(super) fn push(&mut self, lane: f64, whole: bool, set: bool) {
        match &mut self.lanes {
            Kept::Narrow(lanes) if narrow(lane).is_some() => lanes.extend(narrow(lane)),
            Kept::Wide(lanes) => lanes.push(lane),
            Kept::Same(same) if same.to_bits() == lane.to_bits() && self.len > 0 => {}
            _ => self.widen(lane),
        }
        self.len += 1;
        self.whole.push(whole);
        self.set.push(set);
    }

    /// Appends a row that the present form cannot hold.
    #[cold]
    fn widen(&mut self, lane: f64) {
        self.lanes = match std::mem::take(&mut self.lanes) {
            Kept::Same(_) if self.len == 0 => Kept::Same(lane),
            Kept::Same(same) => match (narrow(same), narrow(lane)) {
                (Some(same), Some(lane)) => Kept::Narrow(grown(vec![same; self.len], lane)),
                _ => Kept::Wide(grown(vec![same; self.len], lane)),
            },
            Kept::Narrow(lanes) => Kept::Wide(grown(lanes.iter().map(|&lane| f64::from(lane)).collect(), lane)),
            Kept::Wide(lanes) => Kept::Wide(grown(lanes, lane)),
        };
    }

    /// Appends rows of one type that are all set. There must be room for them.
    pub(super) fn extend(&mut self, lanes: &[f64], whole: bool) {
        match &mut self.lanes {
            Kept::Wide(kept) => kept.extend_from_slice(lanes),
            Kept::Same(_) if self.len == 0 && !whole => {
                let mut kept = Vec::with_capacity(BLOCK_ROWS.min(lanes.len().next_power_of_two()));
                kept.extend_from_slice(lanes);
                self.lanes = Kept::Wide(kept);
            }
            _ => return lanes.iter().for_each(|&lane| self.push(lane, whole, true)),
        }
        self.len += lanes.len();
        self.whole.push_many(whole, lanes.len());
        self.set.push_many(true, lanes.len());
    }

    #[inline]
    pub(super) fn lane(&self, row: usize) -> Option<f64> {
        match &self.lanes {
            Kept::Same(same) => (row < self.len).then_some(*same),
            Kept::Narrow(lanes) => lanes.get(row).map(|&lane| f64::from(lane)),
            Kept::Wide(lanes) => lanes.get(row).copied(),
        }
    }

    pub(super) fn strip(&self) -> Strip<'_> {
        let lanes = match &self.lanes {
            Kept::Same(same) => LaneValues::Same(*same),
            Kept::Narrow(lanes) => LaneValues::Narrow(lanes),
            Kept::Wide(lanes) => LaneValues::Wide(lanes),
        };
        let wholes = match self.whole.words() {
            _ if self.whole.is_all() => Wholes::All,
            Some(words) if !self.whole.is_none() => Wholes::Bits(words),
            _ => Wholes::Nobody,
        };
        Strip { lanes, wholes }
    }
}

/// The small integer that is this double, sign of zero included.
#[inline]
fn narrow(lane: f64) -> Option<i32> {
    let small = lane as i32;
    (f64::from(small).to_bits() == lane.to_bits()).then_some(small)
}

/// With room for the rest of the block, so that it grows once.
fn grown<T>(mut lanes: Vec<T>, lane: T) -> Vec<T> {
    lanes.reserve_exact(growth(lanes.len()));
    lanes.push(lane);
    lanes
}

/// How much room to add: a short queue needs no whole block.
fn growth(len: usize) -> usize {
    if len < 64 { 64 } else { BLOCK_ROWS - len }
}
