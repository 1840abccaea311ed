//! The names that a formula needs, and how the attributes of a job become their values.

use std::collections::HashMap;

use crate::ingest::attribute_values::{is_shortened, real, seconds, whole};
use crate::ingest::options::ReadOptions;
use crate::json_visitor::Token;
use crate::pbs::resource_amount::{AmountSource, Numbers};
use crate::python::Value;
use crate::schema::{FairshareInput, current_name, deprecated_name};

/// How a column is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Seconds,
    Whole,
    QueuePriority,
    Ratio,
    Resource,
}

impl Column {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "eligible_time" => Self::Seconds,
            "accrue_type" | "job_priority" => Self::Whole,
            "queue_priority" => Self::QueuePriority,
            _ if FairshareInput::from_name(name).is_some() => Self::Ratio,
            _ => Self::Resource,
        }
    }

    /// What the formula sees where a job does not have it.
    pub(super) fn default(self) -> Value {
        if self == Self::Ratio { Value::Float(0.0) } else { Value::Int(0) }
    }

    /// The value of a special name, or what was expected instead.
    pub(super) fn value(self, token: &Token<'_>, numbers: Numbers) -> Result<Value, &'static str> {
        match self {
            Self::Seconds => seconds(token).map(Value::Int).ok_or("`HH:MM:SS` or seconds"),
            Self::Ratio => match real(token) {
                Some(ratio) => Ok(numbers.fairshare(ratio)),
                None => Err("a number between 0 and 1"),
            },
            _ => whole(token).map(Value::Int).ok_or("a whole number"),
        }
    }
}

/// What the formula sees of an amount, and what became of it on the way.
#[derive(Debug)]
pub(super) struct Seen {
    pub value: Value,
    /// qstat may have cut digits off.
    pub is_shortened: bool,
    /// It was not 0 and is seen as 0.
    pub is_lost: bool,
}

impl Seen {
    /// Of the amount that was read off a token.
    pub(super) fn of(amount: Value, token: &Token<'_>, numbers: Numbers, source: AmountSource) -> Self {
        let value = numbers.resource(amount);
        let is_shortened = matches!((source, token), (AmountSource::Server, Token::Number(text)) if is_shortened(text));
        let is_lost = matches!(value, Value::Int(0)) && real(token).is_some_and(|written| written != 0.0);
        Self { value, is_shortened, is_lost }
    }
}

/// The names that the formula needs: a column for each.
#[derive(Debug, Clone)]
pub(super) struct Wanted<'a> {
    pub columns: Vec<(&'a str, Column)>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(options: &ReadOptions<'a>) -> Self {
        let (mut columns, mut places) = (Vec::new(), HashMap::new());
        for &name in options.needed {
            places.entry(name).or_insert_with(|| {
                columns.push((name, Column::of(name)));
                columns.len() - 1
            });
        }
        Self { columns, places }
    }

    /// The column of a name.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Whether the formula needs this name.
    pub(super) fn needs(&self, name: &str) -> bool {
        self.places.contains_key(name) || deprecated_name(name).is_some_and(|old| self.places.contains_key(old))
    }

    /// Whether this is a resource, by the schema or because the formula needs it.
    pub(super) fn is_resource(&self, name: &str, options: &ReadOptions<'_>) -> bool {
        Column::of(name) == Column::Resource && (options.schema.entry(name).is_some() || self.needs(name))
    }

    /// The columns that a special name fills.
    pub(super) fn special(&self, special: &str) -> impl Iterator<Item = (usize, &'a str, Column)> {
        let columns = self.columns.iter().enumerate();
        columns
            .filter(move |(_, (name, _))| current_name(name) == current_name(special))
            .map(|(index, &(name, column))| (index, name, column))
    }
}
