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
    /// A block without rows, of doubles.
    pub(super) fn in_memory_of(mut spare: Vec<f64>) -> Self {
        spare.clear();
        Self { lanes: Kept::Wide(spare), ..Self::default() }
    }

    /// The memory of doubles; a block of anything else has none to give.
    pub(super) fn into_memory(self) -> Option<Vec<f64>> {
        match self.lanes {
            Kept::Wide(lanes) => Some(lanes),
            Kept::Same(_) | Kept::Narrow(_) => None,
        }
    }

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
        let Some(&first) = lanes.first() else { return };
        self.lanes = match std::mem::take(&mut self.lanes) {
            Kept::Same(same) if self.len == 0 || same.to_bits() == first.to_bits() => match () {
                () if are_same(lanes) => Kept::Same(first),
                () if are_narrow(lanes) => Kept::Narrow(joined(self.len, first as i32, lanes, |lane| lane as i32)),
                () => Kept::Wide(joined(self.len, first, lanes, |lane| lane)),
            },
            Kept::Same(same) => match narrow(same).filter(|_| are_narrow(lanes)) {
                Some(same) => Kept::Narrow(joined(self.len, same, lanes, |lane| lane as i32)),
                None => Kept::Wide(joined(self.len, same, lanes, |lane| lane)),
            },
            Kept::Narrow(mut kept) if are_narrow(lanes) => {
                kept.extend(lanes.iter().map(|&lane| lane as i32));
                Kept::Narrow(kept)
            }
            Kept::Narrow(kept) => {
                Kept::Wide(kept.iter().map(|&lane| f64::from(lane)).chain(lanes.iter().copied()).collect())
            }
            Kept::Wide(mut kept) => {
                kept.extend_from_slice(lanes);
                Kept::Wide(kept)
            }
        };
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

/// So many equal rows, and others behind them.
fn joined<T: Clone>(count: usize, same: T, lanes: &[f64], of: impl Fn(f64) -> T) -> Vec<T> {
    // who adds many rows at once will fill the block
    let rows = count + lanes.len();
    let mut joined = Vec::with_capacity(if rows < 512 { rows.next_power_of_two() } else { BLOCK_ROWS });
    joined.resize(count, same);
    joined.extend(lanes.iter().map(|&lane| of(lane)));
    joined
}

/// Whether all are the same, bit by bit.
fn are_same(lanes: &[f64]) -> bool {
    lanes.iter().all(|lane| lane.to_bits() == lanes[0].to_bits())
}

/// Whether all are small integers.
fn are_narrow(lanes: &[f64]) -> bool {
    lanes.iter().fold(true, |all, &lane| all & narrow(lane).is_some())
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
