//! A borrowed view of one numeric column, as stored, for code that computes on many rows at once.

/// The numbers of a run of rows, at the width at which they are stored. Each is read as a double.
#[derive(Debug, Clone, Copy)]
pub enum ColumnValues<'a> {
    /// The same number in every row.
    Constant(f64),
    /// Integers of 8 bits.
    I8(&'a [i8]),
    /// Integers of 16 bits.
    I16(&'a [i16]),
    /// Integers of 32 bits.
    I32(&'a [i32]),
    /// Integers of 64 bits. One beyond 2^53 is not read as a double, but computed exactly.
    I64(&'a [i64]),
    /// Doubles.
    F64(&'a [f64]),
    /// A double for each entity: that of a row is `values[index[row]]`.
    ByEntity {
        /// The entity of each row.
        index: &'a [u32],
        /// The double of each entity; an entity beyond them has 0.
        values: &'a [f64],
    },
}

/// Which rows are `int` in Python; the others are `float`.
#[derive(Debug, Clone, Copy)]
pub enum IntMask<'a> {
    /// All rows.
    All,
    /// No row.
    None,
    /// The rows whose bit is set. The first row is the lowest bit of the first word.
    Bits(&'a [u64]),
}

/// The numbers of a run of rows, and their Python types.
#[derive(Debug, Clone, Copy)]
pub struct ColumnView<'a> {
    /// The numbers.
    pub values: ColumnValues<'a>,
    /// Which of them are integers.
    pub ints: IntMask<'a>,
}

impl<'a> ColumnView<'a> {
    /// The rows from `start` on, at most `rows` of them. `start` is a multiple of 64.
    pub fn window(self, start: usize, rows: usize) -> Self {
        let values = match self.values {
            ColumnValues::Constant(value) => ColumnValues::Constant(value),
            ColumnValues::I8(values) => ColumnValues::I8(subslice(values, start, rows)),
            ColumnValues::I16(values) => ColumnValues::I16(subslice(values, start, rows)),
            ColumnValues::I32(values) => ColumnValues::I32(subslice(values, start, rows)),
            ColumnValues::I64(values) => ColumnValues::I64(subslice(values, start, rows)),
            ColumnValues::F64(values) => ColumnValues::F64(subslice(values, start, rows)),
            ColumnValues::ByEntity { index, values } => {
                ColumnValues::ByEntity { index: subslice(index, start, rows), values }
            }
        };
        let ints = match self.ints {
            IntMask::Bits(words) => IntMask::Bits(subslice(words, start / 64, rows.div_ceil(64))),
            uniform => uniform,
        };
        Self { values, ints }
    }
}

/// The items from `start` on, at most `count`; fewer, or none, where the slice ends earlier.
fn subslice<T>(items: &[T], start: usize, count: usize) -> &[T] {
    let rest = items.get(start..).unwrap_or(&[]);
    rest.get(..count).unwrap_or(rest)
}

impl IntMask<'_> {
    /// Whether this row is an integer.
    #[inline]
    pub fn is_int(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Bits(words) => words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1),
        }
    }
}
