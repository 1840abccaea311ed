//! Random columns of every type that a caller can score.

use job_sort_formula::Value;
use job_sort_formula::python::float_to_int;

use super::Generator;

/// A column of the caller.
#[derive(Debug)]
pub enum OwnedColumn {
    I32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    /// Integers of any size in the rows that are set, else floats.
    Mixed(Vec<f64>, Vec<bool>),
    Same(Value),
    ByEntity(Vec<u32>, Vec<f64>),
}

impl OwnedColumn {
    /// A column of similar or of any numbers; only of integers if `is_integer`.
    pub fn random(random: &mut Generator, rows: usize, is_integer: bool) -> Self {
        match random.below(if is_integer { 5 } else { 9 }) {
            0 => Self::Same(if is_integer {
                random.integer()
            } else {
                random.number()
            }),
            1 => Self::I32((0..rows).map(|_| random.below(1 << 32) as i32).collect()),
            2 => Self::I64(
                (0..rows)
                    .map(|_| random.below(100_000) as i64 - 50)
                    .collect(),
            ),
            3 => {
                // integers on both sides of 2^51, where the conversion changes, and of 2^53
                let shift = random.below(16);
                Self::I64(
                    (0..rows)
                        .map(|_| (random.below(1 << 63) as i64 >> shift) - (1 << 52))
                        .collect(),
                )
            }
            4 => {
                // mostly small integers, and few next to a power of two, which alone decide the
                // bound of the column
                let edge = [31, 51, 52, 53, 54, 62][random.below(6) as usize];
                let values = (0..rows).map(|_| match random.below(4) {
                    0 => (1i64 << edge) + random.below(5) as i64 - 2,
                    1 => 2 - (1i64 << edge) - random.below(5) as i64,
                    _ => random.below(3) as i64 - 1,
                });
                Self::I64(values.collect())
            }
            5 => {
                let values: Vec<f64> = (0..1 + random.below(20)).map(|_| number(random)).collect();
                Self::ByEntity(
                    (0..rows)
                        .map(|_| random.below(values.len() as u64) as u32)
                        .collect(),
                    values,
                )
            }
            6 => {
                let is_int: Vec<bool> = (0..rows).map(|_| random.below(2) == 0).collect();
                let large = [1.0, 1e16, 1e19, 1e30][random.below(4) as usize];
                let mut value = |is_int: bool| match (is_int, random.below(8)) {
                    (true, 0) => (random.moderate() * large).trunc() + 0.0,
                    (true, _) => random.below(100_000) as f64 - 50.0,
                    (false, _) => number(random),
                };
                Self::Mixed(is_int.iter().map(|&is_int| value(is_int)).collect(), is_int)
            }
            _ => Self::F64((0..rows).map(|_| number(random)).collect()),
        }
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> Value {
        match self {
            Self::I32(values) => Value::Int(values[row].into()),
            Self::I64(values) => Value::Int(values[row]),
            Self::F64(values) => Value::Float(values[row]),
            Self::Mixed(values, is_int) if is_int[row] => {
                float_to_int(values[row]).unwrap_or(Value::None)
            }
            Self::Mixed(values, _) => Value::Float(values[row]),
            Self::Same(value) => value.clone(),
            Self::ByEntity(index, values) => Value::Float(values[index[row] as usize]),
        }
    }
}

fn number(random: &mut Generator) -> f64 {
    match random.below(4) {
        0 => random.below(50) as f64 / 4.0,
        1 => random.float(),
        _ => random.moderate(),
    }
}
