//! Numbers side by side: the form in which a column is handed to whoever computes on many rows at once.

/// The numbers of some rows, each as a double.
#[derive(Debug, Clone, Copy)]
pub enum Lanes<'a> {
    /// Every row has this number.
    Same(f64),
    /// Small integers.
    Narrow(&'a [i32]),
    /// Doubles.
    Wide(&'a [f64]),
}

/// Which rows Python sees as integers; the others are floats.
#[derive(Debug, Clone, Copy)]
pub enum Wholes<'a> {
    /// All of them.
    All,
    /// None of them.
    Nobody,
    /// Those whose bit is set, the first row in the lowest bit of the first word.
    Bits(&'a [u64]),
}

/// The numbers of some rows, and their types.
#[derive(Debug, Clone, Copy)]
pub struct Strip<'a> {
    /// The numbers.
    pub lanes: Lanes<'a>,
    /// Their types.
    pub wholes: Wholes<'a>,
}

impl Wholes<'_> {
    /// Whether this row is an integer.
    #[inline]
    pub fn is_whole(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Nobody => false,
            Self::Bits(words) => words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1),
        }
    }
}
