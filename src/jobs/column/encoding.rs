//! The narrowest type that represents some numbers exactly, and conversions to it that use SIMD.

use crate::simd::dispatch;

/// The type in which the numbers of a block are stored. Each type represents all numbers of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Encoding {
    I8,
    I16,
    I32,
    F64,
}

/// What decides the encoding of some numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberStats {
    /// Whether all are equal, bit by bit.
    pub(super) are_equal: bool,
    /// Whether all are 32-bit integers; -0.0 is not one.
    are_i32: bool,
    /// The minimum and the maximum of the numbers and 0, if all are 32-bit integers.
    min: i32,
    max: i32,
}

impl NumberStats {
    pub(super) fn new<N: Number>(numbers: &[N]) -> Self {
        let Some(&first) = numbers.first() else { return Self { are_equal: true, are_i32: true, min: 0, max: 0 } };
        dispatch(
            #[inline(always)]
            move || {
                let mut different = N::Bits::default();
                let mut lost = N::Bits::default();
                let mut min = 0;
                let mut max = 0;
                for &number in numbers {
                    different = different | number.different_bits(first);
                    lost = lost | number.bits_lost_in_i32();
                    min = number.to_i32().min(min);
                    max = number.to_i32().max(max);
                }
                let no_bits = N::Bits::default();
                Self { are_equal: different == no_bits, are_i32: lost == no_bits, min, max }
            },
        )
    }

    /// The narrowest encoding of the numbers.
    pub(super) fn encoding(self) -> Encoding {
        match () {
            () if !self.are_i32 => Encoding::F64,
            () if self.are_in(i8::MIN.into(), i8::MAX.into()) => Encoding::I8,
            () if self.are_in(i16::MIN.into(), i16::MAX.into()) => Encoding::I16,
            () => Encoding::I32,
        }
    }

    fn are_in(self, min: i32, max: i32) -> bool {
        self.min >= min && self.max <= max
    }
}

/// A number before it is encoded: a double, or a small integer as the reader parsed it.
pub(super) trait Number: Copy {
    /// A bit pattern; 0 if nothing differs or nothing is lost.
    type Bits: Copy + Default + PartialEq + std::ops::BitOr<Output = Self::Bits>;

    /// The bits in which the number differs from another.
    fn different_bits(self, other: Self) -> Self::Bits;
    /// The bits that differ after a conversion to a 32-bit integer and back.
    fn bits_lost_in_i32(self) -> Self::Bits;
    /// The number as a 32-bit integer.
    fn to_i32(self) -> i32;
    fn to_f64(self) -> f64;
}

impl Number for f64 {
    type Bits = u64;

    #[inline(always)]
    fn different_bits(self, other: Self) -> u64 {
        self.to_bits() ^ other.to_bits()
    }

    #[inline(always)]
    fn bits_lost_in_i32(self) -> u64 {
        f64::from(self.to_i32()).to_bits() ^ self.to_bits()
    }

    #[inline(always)]
    fn to_i32(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

/// The nearest double is stored.
impl Number for i64 {
    type Bits = u64;

    #[inline(always)]
    fn different_bits(self, other: Self) -> u64 {
        (self ^ other) as u64
    }

    #[inline(always)]
    fn bits_lost_in_i32(self) -> u64 {
        (i64::from(self.to_i32()) ^ self) as u64
    }

    #[inline(always)]
    fn to_i32(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self as f64
    }
}

impl Number for u32 {
    type Bits = u32;

    #[inline(always)]
    fn different_bits(self, other: Self) -> u32 {
        self ^ other
    }

    #[inline(always)]
    fn bits_lost_in_i32(self) -> u32 {
        self >> 31
    }

    #[inline(always)]
    fn to_i32(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
}

/// An integer type that represents some doubles exactly.
pub(super) trait SmallInt: Copy {
    /// The integer that equals this double; `None` for -0.0.
    fn from_f64_exact(number: f64) -> Option<Self>;
}

macro_rules! small_int {
    ($($integer:ty),*) => {$(
        impl SmallInt for $integer {
            #[inline]
            fn from_f64_exact(number: f64) -> Option<Self> {
                let integer = number as $integer;
                (f64::from(integer).to_bits() == number.to_bits()).then_some(integer)
            }
        }
    )*};
}

small_int!(i8, i16, i32);

/// Appends numbers in another type.
pub(super) fn extend_converted<N: Number, T: Copy + Default>(
    encoded: &mut Vec<T>,
    numbers: &[N],
    convert: impl Fn(N) -> T + Copy,
) {
    let start = encoded.len();
    encoded.resize(start + numbers.len(), T::default());
    let added = &mut encoded[start..];
    dispatch(
        #[inline(always)]
        move || added.iter_mut().zip(numbers).for_each(|(encoded, &number)| *encoded = convert(number)),
    );
}
