//! One input of every job.

use num_traits::ToPrimitive;

use crate::formula::number::Value;

/// Integers up to this magnitude are the same as a double: 2^53.
const EXACT: i64 = 1 << 53;

/// One input of every job, by row: doubles side by side, with a mark on those that Python sees as integers.
///
/// An integer beyond 2^53, and anything that is not a number, stands aside; its lane then holds the nearest
/// double, or NaN. A row that was never given holds its default and is not [set](Column::is_set).
#[derive(Debug, Clone, Default)]
pub struct Column {
    lanes: Vec<f64>,
    whole: Bits,
    set: Bits,
    aside: Vec<(u32, Value)>,
}

impl Column {
    /// A column without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the input of the next job.
    pub fn push(&mut self, value: Value) {
        self.append(value, true);
    }

    /// Appends what the formula sees of a job that does not have this input.
    pub fn push_default(&mut self, value: Value) {
        self.append(value, false);
    }

    fn append(&mut self, value: Value, set: bool) {
        let row = self.lanes.len() as u32;
        let (lane, whole, exact) = match &value {
            Value::Int(i) => (*i as f64, true, (-EXACT..=EXACT).contains(i)),
            Value::Float(x) => (*x, false, true),
            Value::Big(big) => (big.to_f64().unwrap_or(f64::NAN), true, false),
            Value::Bool(truth) => (f64::from(u8::from(*truth)), false, false),
            _ => (f64::NAN, false, false),
        };
        self.lanes.push(lane);
        self.whole.push(whole);
        self.set.push(set);
        if !exact {
            self.aside.push((row, value));
        }
    }

    /// What the formula sees of the job in this row. A row that does not exist is `None`, as Python's.
    pub fn value(&self, row: usize) -> Value {
        let Some(&lane) = self.lanes.get(row) else { return Value::None };
        if let Ok(at) = self.aside.binary_search_by_key(&row, |&(aside, _)| aside as usize) {
            return self.aside[at].1.clone();
        }
        if self.whole.at(row) { Value::Int(lane as i64) } else { Value::Float(lane) }
    }

    /// Whether the job itself has this input; false where it only has the default.
    pub fn is_set(&self, row: usize) -> bool {
        self.set.at(row)
    }

    /// Whether this row is an integer in Python.
    pub fn is_whole(&self, row: usize) -> bool {
        self.whole.at(row)
    }

    /// Whether every row is an integer in Python.
    pub fn all_whole(&self) -> bool {
        self.whole.ones == self.lanes.len()
    }

    /// Whether every row is a float in Python.
    pub fn all_float(&self) -> bool {
        self.whole.ones == 0 && self.aside.is_empty()
    }

    /// The rows as doubles. Where [`Column::aside`] has an entry the lane is not the exact value.
    pub fn lanes(&self) -> &[f64] {
        &self.lanes
    }

    /// The values that no double holds, each with its row, by ascending row.
    pub fn aside(&self) -> &[(u32, Value)] {
        &self.aside
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }
}

/// In the order of the rows: `Ok` for what the job has, `Err` for its default.
impl FromIterator<Result<Value, Value>> for Column {
    fn from_iter<I: IntoIterator<Item = Result<Value, Value>>>(rows: I) -> Self {
        let mut column = Self::new();
        for row in rows {
            match row {
                Ok(value) => column.push(value),
                Err(default) => column.push_default(default),
            }
        }
        column
    }
}

/// A growing row of bits.
#[derive(Debug, Clone, Default)]
struct Bits {
    words: Vec<u64>,
    len: usize,
    ones: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(bit) << (self.len % 64);
        }
        self.len += 1;
        self.ones += usize::from(bit);
    }

    fn at(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use num_bigint::BigInt;

    use super::*;

    #[test]
    fn keeps_every_value_as_it_came() {
        let big = BigInt::from(1u64 << 63) * BigInt::from(4);
        let mut column = Column::new();
        column.push(Value::Int(EXACT));
        column.push(Value::Int(EXACT + 1));
        column.push(Value::Float(2.0));
        column.push(Value::Big(Arc::new(big.clone())));
        column.push_default(Value::Int(0));
        assert!(matches!(column.value(0), Value::Int(EXACT)));
        assert!(matches!(column.value(1), Value::Int(i) if i == EXACT + 1));
        assert!(matches!(column.value(2), Value::Float(2.0)));
        assert!(matches!(column.value(3), Value::Big(x) if *x == big));
        assert!(matches!(column.value(4), Value::Int(0)) && !column.is_set(4) && column.is_set(3));
        assert!(matches!(column.value(5), Value::None));
        assert_eq!(column.aside().len(), 2);
        assert_eq!(column.lanes()[3], 4.0 * 9_223_372_036_854_775_808.0);
        assert!(!column.all_whole() && column.is_whole(3) && !column.is_whole(2));
    }

    #[test]
    fn bits_cross_words() {
        let mut column = Column::new();
        for row in 0..200 {
            if row % 3 == 0 { column.push(Value::Int(row)) } else { column.push_default(Value::Float(0.5)) }
        }
        assert!((0..200).all(|row| column.is_whole(row) == (row % 3 == 0) && column.is_set(row) == (row % 3 == 0)));
    }
}
