//! Up to [`BLOCK_ROWS`] rows of a column, in the least memory that holds them exactly.

use super::BLOCK_ROWS;
use super::marks::Marks;
use crate::formula::number::lanes::dispatch::widest;
use crate::formula::number::{LaneValues, Strip, Wholes};

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

/// How many bits a number of many takes. Each form holds what those before it do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Tiny,
    Short,
    Narrow,
    Wide,
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
    pub(super) fn extend(&mut self, lanes: &[f64], whole: bool, set: bool) {
        self.take_up(lanes);
        self.len += lanes.len();
        self.whole.push_many(whole, lanes.len());
        self.set.push_many(set, lanes.len());
    }

    /// Appends numbers, in another form if the present one cannot hold them.
    fn take_up(&mut self, lanes: &[f64]) {
        let Some(first) = lanes.first() else { return };
        if let Kept::Wide(kept) = &mut self.lanes {
            return kept.extend_from_slice(lanes);
        }
        let look = Look::at(lanes);
        let agrees = |same: &f64| self.len == 0 || same.to_bits() == first.to_bits();
        if look.are_same && matches!(&self.lanes, Kept::Same(same) if agrees(same)) {
            self.lanes = Kept::Same(*first);
            return;
        }
        self.change_to(look.form(), lanes.len());
        match &mut self.lanes {
            Kept::Same(_) => {}
            Kept::Tiny(kept) => append(kept, lanes, |lane| lane as i32 as i8),
            Kept::Short(kept) => append(kept, lanes, |lane| lane as i32 as i16),
            Kept::Narrow(kept) => append(kept, lanes, |lane| lane as i32),
            Kept::Wide(kept) => kept.extend_from_slice(lanes),
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

    pub(super) fn strip(&self) -> Strip<'_> {
        let lanes = match &self.lanes {
            Kept::Same(same) => LaneValues::Same(*same),
            Kept::Tiny(lanes) => LaneValues::Tiny(lanes),
            Kept::Short(lanes) => LaneValues::Short(lanes),
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

/// What numbers have in common.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// All are the same, bit by bit.
    are_same: bool,
    /// All are integers of 32 bits, sign of zero included.
    are_narrow: bool,
    /// As far as they are: the least and the greatest, or 0.
    least: i32,
    most: i32,
}

impl Look {
    fn at(lanes: &[f64]) -> Self {
        let first = lanes.first().map_or(0, |lane| lane.to_bits());
        let (mut differ, mut lost, mut least, mut most) = (0, 0, 0, 0);
        widest(
            #[inline(always)]
            || {
                for &lane in lanes {
                    let narrow = lane as i32;
                    differ |= lane.to_bits() ^ first;
                    lost |= f64::from(narrow).to_bits() ^ lane.to_bits();
                    least = narrow.min(least);
                    most = narrow.max(most);
                }
            },
        );
        Self { are_same: differ == 0, are_narrow: lost == 0, least, most }
    }

    /// The least form that holds them.
    fn form(self) -> Form {
        let are_in = |low: i32, high: i32| self.least >= low && self.most <= high;
        match () {
            () if !self.are_narrow => Form::Wide,
            () if are_in(i8::MIN.into(), i8::MAX.into()) => Form::Tiny,
            () if are_in(i16::MIN.into(), i16::MAX.into()) => Form::Short,
            () => Form::Narrow,
        }
    }
}

/// Appends numbers in another form.
fn append<T: Copy + Default>(kept: &mut Vec<T>, lanes: &[f64], of: impl Fn(f64) -> T + Copy) {
    let start = kept.len();
    kept.resize(start + lanes.len(), T::default());
    let room = &mut kept[start..];
    widest(
        #[inline(always)]
        move || room.iter_mut().zip(lanes).for_each(|(kept, &lane)| *kept = of(lane)),
    );
}

/// An integer that some doubles are.
trait Small: Copy {
    /// The integer that is this double, sign of zero included.
    fn exact(lane: f64) -> Option<Self>;
}

macro_rules! small {
    ($($integer:ty),*) => {$(
        impl Small for $integer {
            #[inline]
            fn exact(lane: f64) -> Option<Self> {
                let small = lane as $integer;
                (f64::from(small).to_bits() == lane.to_bits()).then_some(small)
            }
        }
    )*};
}

small!(i8, i16, i32);

/// These rows, and room for so many more: for the rest of the block where it will be filled, so that it grows once; a
/// short queue needs no whole block.
fn with_room<T>(rows: impl ExactSizeIterator<Item = T>, more: usize) -> Vec<T> {
    let count = rows.len() + more;
    let mut all = Vec::with_capacity(if count < 64 {
        64
    } else if count < 512 {
        count.next_power_of_two()
    } else {
        BLOCK_ROWS
    });
    all.extend(rows);
    all
}
