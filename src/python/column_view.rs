//! A borrowed view of one numeric column, as stored, for code that computes on many rows at once.

/// The numbers of a run of rows. Each is read as a double.
#[derive(Debug, Clone, Copy)]
pub enum ColumnValues<'a> {
    /// The same number in every row.
    Same(f64),
    /// Integers of 32 bits.
    I32(&'a [i32]),
    /// Integers of 64 bits.
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
    /// All rows, of which none is beyond 2^53.
    Exact,
    /// No row.
    None,
    /// The rows for which this is true.
    Each(&'a [bool]),
}

/// The numbers of a run of rows, and their Python types.
#[derive(Debug, Clone, Copy)]
pub struct ColumnView<'a> {
    /// The numbers.
    pub values: ColumnValues<'a>,
    /// Which of them are integers.
    pub ints: IntMask<'a>,
}
