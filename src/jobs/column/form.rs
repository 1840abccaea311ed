//! In how many bits numbers can be held exactly, and how they get there: many at a time.

use crate::jobs::column::BLOCK_ROWS;
use crate::simd::dispatch;

/// How many bits a number takes: 8, 16 or 32 as an integer, or those of a double. Each form holds what those before it
/// do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Tiny,
    Short,
    Narrow,
    Wide,
}

/// What numbers have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// All are the same, bit by bit.
    pub(super) are_same: bool,
    /// All are integers of 32 bits, sign of zero included.
    are_narrow: bool,
    /// As far as they are: the least and the greatest, or 0.
    least: i32,
    most: i32,
}

impl Look {
    pub(super) fn at<L: Lane>(lanes: &[L]) -> Self {
        let Some(&first) = lanes.first() else { return Self { are_same: true, are_narrow: true, least: 0, most: 0 } };
        dispatch(
            #[inline(always)]
            move || {
                let (mut differ, mut lost, mut least, mut most) = (L::Bits::default(), L::Bits::default(), 0, 0);
                for &lane in lanes {
                    differ = differ | lane.difference(first);
                    lost = lost | lane.loss();
                    least = lane.narrow().min(least);
                    most = lane.narrow().max(most);
                }
                let nothing = L::Bits::default();
                Self { are_same: differ == nothing, are_narrow: lost == nothing, least, most }
            },
        )
    }

    /// The least form that holds them.
    pub(super) fn form(self) -> Form {
        let are_in = |low: i32, high: i32| self.least >= low && self.most <= high;
        match () {
            () if !self.are_narrow => Form::Wide,
            () if are_in(i8::MIN.into(), i8::MAX.into()) => Form::Tiny,
            () if are_in(i16::MIN.into(), i16::MAX.into()) => Form::Short,
            () => Form::Narrow,
        }
    }
}

/// A number as it comes: a double, or a whole number that was read as such.
pub(super) trait Lane: Copy {
    /// Bits that are all 0 where there is nothing to tell.
    type Bits: Copy + Default + PartialEq + std::ops::BitOr<Output = Self::Bits>;

    /// In which bits it differs from another.
    fn difference(self, other: Self) -> Self::Bits;
    /// What is lost of it in an integer of 32 bits.
    fn loss(self) -> Self::Bits;
    /// The integer of 32 bits that it is, if nothing is lost.
    fn narrow(self) -> i32;
    fn double(self) -> f64;
}

impl Lane for f64 {
    type Bits = u64;

    #[inline(always)]
    fn difference(self, other: Self) -> u64 {
        self.to_bits() ^ other.to_bits()
    }

    #[inline(always)]
    fn loss(self) -> u64 {
        f64::from(self.narrow()).to_bits() ^ self.to_bits()
    }

    #[inline(always)]
    fn narrow(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self
    }
}

impl Lane for u32 {
    type Bits = u32;

    #[inline(always)]
    fn difference(self, other: Self) -> u32 {
        self ^ other
    }

    #[inline(always)]
    fn loss(self) -> u32 {
        self >> 31
    }

    #[inline(always)]
    fn narrow(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self.into()
    }
}

/// An integer that some doubles are.
pub(super) trait Small: Copy {
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

/// Appends numbers in another form.
pub(super) fn append<L: Lane, T: Copy + Default>(kept: &mut Vec<T>, lanes: &[L], of: impl Fn(L) -> T + Copy) {
    let start = kept.len();
    kept.resize(start + lanes.len(), T::default());
    let room = &mut kept[start..];
    dispatch(
        #[inline(always)]
        move || room.iter_mut().zip(lanes).for_each(|(kept, &lane)| *kept = of(lane)),
    );
}

/// These rows, and room for so many more: for the rest of the block where it will be filled, so that it grows once; a
/// short queue needs no whole block.
pub(super) fn with_room<T>(rows: impl ExactSizeIterator<Item = T>, more: usize) -> Vec<T> {
    let room = match rows.len() + more {
        0..64 => 64,
        count @ 64..512 => count.next_power_of_two(),
        _ => BLOCK_ROWS,
    };
    let mut all = Vec::with_capacity(room);
    all.extend(rows);
    all
}
