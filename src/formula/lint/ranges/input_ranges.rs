//! The values that each input of a formula can have.

use std::collections::BTreeMap;

use crate::formula::lint::ranges::type_set::TypeSet;
use crate::formula::lint::ranges::value_set::ValueSet;
use crate::python::Value;
use crate::schema::{InputType, Schema};

/// 2^128, which no amount of a resource exceeds: the server holds floats as C floats, all other amounts in 64 bits
/// with a unit.
const MAX_AMOUNT: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

/// The values that each input can have. An input without an explicit range has that of the schema, limited to ±2^128.
///
/// ```
/// use job_sort_formula::{Schema, Value};
/// use job_sort_formula::formula::lint::Ranges;
///
/// let mut ranges = Ranges::default();
/// ranges.observe("ncpus", [Value::Int(1), Value::Int(64)]);
/// let schema = Schema::openpbs();
/// assert_eq!(ranges.values("ncpus", &schema).to_string(), "an int from 1 to 64");
/// assert_eq!(ranges.values("fairshare_perc", &schema).to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    named: BTreeMap<Box<str>, ValueSet>,
}

impl Ranges {
    /// Sets the values that one input can have; they replace those of the schema.
    pub fn set(&mut self, name: &str, values: ValueSet) {
        self.named.insert(name.into(), values);
    }

    /// Sets the range of one input to the smallest interval that contains these values; changes nothing if there are none.
    pub fn observe(&mut self, name: &str, seen: impl IntoIterator<Item = Value>) {
        let values = seen.into_iter().fold(ValueSet::EMPTY, |values, value| values.or(ValueSet::from_value(&value)));
        if !values.is_empty() {
            self.set(name, values);
        }
    }

    /// The range that was set for an input; `None` if none was.
    pub fn explicit(&self, name: &str) -> Option<ValueSet> {
        self.named.get(name).copied()
    }

    /// The values that an input can have.
    ///
    /// Counts, sizes and durations are integers, and the fair-share numbers are floats. A float resource can be either:
    /// OpenPBS prints an amount without decimals as an integer.
    pub fn values(&self, name: &str, schema: &Schema) -> ValueSet {
        self.explicit(name).unwrap_or_else(|| range_in_schema(name, schema))
    }
}

fn range_in_schema(name: &str, schema: &Schema) -> ValueSet {
    let Some(entry) = schema.entry(name) else {
        return ValueSet::between(TypeSet::INT.or(TypeSet::FLOAT), -MAX_AMOUNT, MAX_AMOUNT);
    };
    let types = match entry.input_type {
        InputType::Ratio => TypeSet::FLOAT,
        InputType::Count | InputType::Size | InputType::Duration => TypeSet::INT,
        InputType::Float | InputType::Bool | InputType::Text => TypeSet::INT.or(TypeSet::FLOAT),
    };
    ValueSet::between(types, entry.range.least.max(-MAX_AMOUNT), entry.range.most.min(MAX_AMOUNT))
}
