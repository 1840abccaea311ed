//! What the names can be before the formula is looked at.

use std::collections::BTreeMap;

use crate::formula::lint::ranges::kinds::Kinds;
use crate::formula::lint::ranges::values::Values;
use crate::python::Value;
use crate::schema::{InputType, Schema};

/// More than any amount that a resource can have, 2^128: floats are C's on the server, all others have 64 bits and
/// a unit.
const MOST: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

/// What each input can be. A name without a range of its own has that of the schema, or at most 2^128 where the
/// schema sets no bound.
///
/// ```
/// use job_sort_formula::{Schema, Value};
/// use job_sort_formula::formula::lint::Ranges;
///
/// let mut ranges = Ranges::default();
/// ranges.observe("ncpus", [Value::Int(1), Value::Int(64)]);
/// let schema = Schema::openpbs();
/// assert_eq!(ranges.of("ncpus", &schema).to_string(), "an int from 1 to 64");
/// assert_eq!(ranges.of("fairshare_perc", &schema).to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    named: BTreeMap<Box<str>, Values>,
}

impl Ranges {
    /// Sets what one input can be, whatever the schema says.
    pub fn set(&mut self, name: &str, values: Values) {
        self.named.insert(name.into(), values);
    }

    /// Sets what one input can be to what it was seen to be, and all between.
    pub fn observe(&mut self, name: &str, seen: impl IntoIterator<Item = Value>) {
        let values = seen.into_iter().fold(Values::NEVER, |values, value| values.or(Values::just(&value)));
        if !values.is_never() {
            self.set(name, values);
        }
    }

    /// The range that was set for a name.
    pub fn own(&self, name: &str) -> Option<Values> {
        self.named.get(name).copied()
    }

    /// What a name can be.
    ///
    /// Counts, sizes and durations are integers, the fair-share numbers floats; a float resource without decimals
    /// reaches the formula as an integer, as OpenPBS prints it.
    pub fn of(&self, name: &str, schema: &Schema) -> Values {
        self.own(name).unwrap_or_else(|| from_schema(name, schema))
    }
}

fn from_schema(name: &str, schema: &Schema) -> Values {
    let Some(entry) = schema.entry(name) else {
        return Values::between(Kinds::INT.or(Kinds::FLOAT), -MOST, MOST);
    };
    let kinds = match entry.input_type {
        InputType::Ratio => Kinds::FLOAT,
        InputType::Count | InputType::Size | InputType::Duration => Kinds::INT,
        InputType::Float | InputType::Bool | InputType::Text => Kinds::INT.or(Kinds::FLOAT),
    };
    Values::between(kinds, entry.range.least.max(-MOST), entry.range.most.min(MOST))
}
