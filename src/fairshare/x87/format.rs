//! Rounding, once, for any binary format.

/// How many bits a format keeps, and between which exponents.
pub(super) struct Format {
    pub(super) bits: i32,
    lowest: i32,
    pub(super) highest: i32,
}

pub(super) const EXTENDED: Format = Format { bits: 64, lowest: -16382, highest: 16383 };
pub(super) const DOUBLE: Format = Format { bits: 53, lowest: -1022, highest: 1023 };

impl Format {
    /// Whether a number with this exponent has all the bits of the format, and still has them if it is rounded up.
    #[inline]
    pub(super) fn is_inside(&self, exponent: i32) -> bool {
        (self.lowest..self.highest).contains(&exponent)
    }

    /// Rounds `wide * 2^(exponent - 127)`, whose leading bit is set, and whatever little `sticky` stands for:
    /// a whole number and the exponent of its last bit.
    pub(super) fn round(&self, exponent: i32, wide: u128, sticky: bool) -> (u128, i32) {
        let dropped = 128 - self.bits + (self.lowest - exponent).max(0);
        if dropped > 128 {
            return (0, 0);
        }
        let kept = wide.checked_shr(dropped as u32).unwrap_or(0);
        let rest = wide << (128 - dropped);
        let half = 1u128 << 127;
        let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
        (kept + u128::from(up), exponent - 127 + dropped)
    }
}

/// Whether the bits that are kept go up by one: to nearest, ties to even. `half` is half of the last bit that is kept,
/// and `sticky` whether there is anything below `rest`.
#[inline]
pub(super) fn rounds_up(rest: u64, half: u64, sticky: bool, kept: u64) -> bool {
    rest > half || (rest == half && (sticky || kept & 1 == 1))
}
