//! The distribution of a quantity over jobs.

use serde::{Serialize, Serializer};

/// The distribution of a quantity over jobs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// The least value that is not below a quarter of all.
    #[serde(serialize_with = "without_fraction")]
    pub p25: f64,
    /// The median; of an even number of values the mean of the two in the middle.
    #[serde(serialize_with = "without_fraction")]
    pub median: f64,
    /// The least value that is not below three quarters of all.
    #[serde(serialize_with = "without_fraction")]
    pub p75: f64,
    /// The least value that is not below 95 % of all.
    #[serde(serialize_with = "without_fraction")]
    pub p95: f64,
    /// The greatest value.
    #[serde(serialize_with = "without_fraction")]
    pub max: f64,
}

impl Distribution {
    /// The distribution of no values.
    pub(crate) const NOT_NUMBERS: Self = Self {
        mean: f64::NAN,
        p25: f64::NAN,
        median: f64::NAN,
        p75: f64::NAN,
        p95: f64::NAN,
        max: f64::NAN,
    };

    /// The distribution of these values, which are sorted; all zeros for none.
    pub fn new(values: &mut [f64]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let Some(&max) = values.last() else {
            return Self::default();
        };
        let count = values.len();
        let percentile = |percent: usize| values[(count * percent).div_ceil(100) - 1];
        Self {
            mean: values.iter().sum::<f64>() / count as f64,
            p25: percentile(25),
            median: (values[(count - 1) / 2] + values[count / 2]) / 2.0,
            p75: percentile(75),
            p95: percentile(95),
            max,
        }
    }
}

/// Serialises a number, without a fraction if it is whole.
pub(crate) fn without_fraction<S: Serializer>(
    value: &f64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Whole(*value).serialize(serializer)
}

/// A number that is serialised without a fraction if it is whole: most waits are.
#[derive(Debug, Clone, Copy)]
pub struct Whole(pub f64);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value) = *self;
        if value.fract() == 0.0 && value.abs() < 1e15 {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}
