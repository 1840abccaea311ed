//! Up to [`BLOCK_ROWS`] rows of a column, in the least memory that holds them exactly.

use crate::jobs::column::BLOCK_ROWS;
use crate::jobs::column::form::{Form, Lane, Look, Small, append, with_room};
use crate::jobs::column::marks::Marks;
use crate::python::{ColumnValues, ColumnView, IntMask};

/// The rows of a block and what is known of each.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    lanes: Kept,
    len: usize,
    pub(super) whole: Marks,
    pub(super) set: Marks,
}

/// The numbers: one for all rows, or integers of 8, 16 or 32 bits, or doubles.
#[derive(Debug, Clone)]
enum Kept {
    Same(f64),
    Tiny(Vec<i8>),
    Short(Vec<i16>),
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
            _ => None,
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
            Kept::Same(same) if same.to_bits() == lane.to_bits() && self.len > 0 => {}
            Kept::Tiny(lanes) if i8::exact(lane).is_some() => lanes.extend(i8::exact(lane)),
            Kept::Short(lanes) if i16::exact(lane).is_some() => lanes.extend(i16::exact(lane)),
            Kept::Narrow(lanes) if i32::exact(lane).is_some() => lanes.extend(i32::exact(lane)),
            Kept::Wide(lanes) => lanes.push(lane),
            _ => self.take_up(&[lane]),
        }
        self.len += 1;
        self.whole.push(whole);
        self.set.push(set);
    }

    /// Appends rows of one type. There must be room for them.
    pub(super) fn extend<L: Lane>(&mut self, lanes: &[L], whole: bool, set: bool) {
        self.take_up(lanes);
        self.len += lanes.len();
        self.whole.push_many(whole, lanes.len());
        self.set.push_many(set, lanes.len());
    }

    /// Appends numbers, in another form if the present one cannot hold them.
    fn take_up<L: Lane>(&mut self, lanes: &[L]) {
        let Some(first) = lanes.first().map(|first| first.double()) else { return };
        if let Kept::Wide(kept) = &mut self.lanes {
            return kept.extend(lanes.iter().map(|lane| lane.double()));
        }
        let look = Look::at(lanes);
        let agrees = |same: &f64| self.len == 0 || same.to_bits() == first.to_bits();
        if look.are_same && matches!(&self.lanes, Kept::Same(same) if agrees(same)) {
            self.lanes = Kept::Same(first);
            return;
        }
        self.change_to(look.form(), lanes.len());
        match &mut self.lanes {
            Kept::Same(_) => {}
            Kept::Tiny(kept) => append(kept, lanes, |lane| lane.narrow() as i8),
            Kept::Short(kept) => append(kept, lanes, |lane| lane.narrow() as i16),
            Kept::Narrow(kept) => append(kept, lanes, L::narrow),
            Kept::Wide(kept) => kept.extend(lanes.iter().map(|lane| lane.double())),
        }
    }

    /// Brings the rows into a form that holds them and this one, with room for so many more.
    fn change_to(&mut self, form: Form, more: usize) {
        let (len, form) = (self.len, self.form().map_or(form, |present| present.max(form)));
        if self.form() == Some(form) && !matches!(self.lanes, Kept::Same(_)) {
            return;
        }
        let old = std::mem::take(&mut self.lanes);
        let rows = (0..len).map(|row| old.lane(row));
        self.lanes = match form {
            Form::Tiny => Kept::Tiny(with_room(rows.map(|lane| lane as i8), more)),
            Form::Short => Kept::Short(with_room(rows.map(|lane| lane as i16), more)),
            Form::Narrow => Kept::Narrow(with_room(rows.map(|lane| lane as i32), more)),
            Form::Wide => Kept::Wide(with_room(rows, more)),
        };
    }

    /// The least form that holds the rows, if there is any.
    fn form(&self) -> Option<Form> {
        match &self.lanes {
            Kept::Same(same) => (self.len > 0).then(|| Look::at(&[*same]).form()),
            Kept::Tiny(_) => Some(Form::Tiny),
            Kept::Short(_) => Some(Form::Short),
            Kept::Narrow(_) => Some(Form::Narrow),
            Kept::Wide(_) => Some(Form::Wide),
        }
    }

    #[inline]
    pub(super) fn lane(&self, row: usize) -> Option<f64> {
        (row < self.len).then(|| self.lanes.lane(row))
    }

    pub(super) fn strip(&self) -> ColumnView<'_> {
        let values = match &self.lanes {
            Kept::Same(same) => ColumnValues::Constant(*same),
            Kept::Tiny(lanes) => ColumnValues::I8(lanes),
            Kept::Short(lanes) => ColumnValues::I16(lanes),
            Kept::Narrow(lanes) => ColumnValues::I32(lanes),
            Kept::Wide(lanes) => ColumnValues::F64(lanes),
        };
        let ints = match self.whole.words() {
            _ if self.whole.is_all() => IntMask::All,
            Some(words) if !self.whole.is_none() => IntMask::Bits(words),
            _ => IntMask::None,
        };
        ColumnView { values, ints }
    }
}

impl Kept {
    /// The number of a row; NaN of one that does not exist.
    #[inline]
    fn lane(&self, row: usize) -> f64 {
        let lane = match self {
            Self::Same(same) => Some(*same),
            Self::Tiny(lanes) => lanes.get(row).map(|&lane| f64::from(lane)),
            Self::Short(lanes) => lanes.get(row).map(|&lane| f64::from(lane)),
            Self::Narrow(lanes) => lanes.get(row).map(|&lane| f64::from(lane)),
            Self::Wide(lanes) => lanes.get(row).copied(),
        };
        lane.unwrap_or(f64::NAN)
    }
}
