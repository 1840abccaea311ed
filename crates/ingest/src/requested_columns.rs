//! The columns that a formula needs, and which keys fill them.

use std::collections::HashMap;

use job_sort_formula::jobs::{InputOrigin, InputPrecedence};
use job_sort_formula::python::Value;
use job_sort_formula::schema::{InputType, Schema};
use jsf_json::JsonScalar;
use jsf_openpbs::resource_amount::{AmountSource, inferred_type};

use crate::job_key::{JobKey, SpecialInput};
use crate::options::ReadOptions;

/// The columns that a formula needs.
#[derive(Debug, Clone)]
pub(super) struct RequestedColumns<'a> {
    schema: &'a Schema,
    /// Each name once, with its special input unless it is a resource.
    columns: Vec<(&'a str, Option<SpecialInput>)>,
    indices: HashMap<&'a str, usize>,
}

impl<'a> RequestedColumns<'a> {
    pub(super) fn new(options: &ReadOptions<'a>) -> Self {
        let mut columns = Vec::new();
        let mut indices = HashMap::new();
        for &name in options.needed {
            indices.entry(name).or_insert_with(|| {
                columns.push((name, SpecialInput::from_name(name)));
                columns.len() - 1
            });
        }
        Self { schema: options.schema, columns, indices }
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.columns.iter().map(|&(name, _)| name)
    }

    /// What the formula gets from a job without any attribute, column by column.
    pub(super) fn defaults(&self) -> Vec<Value> {
        let defaults = self.columns.iter().map(|(_, special)| match special {
            Some(special) if special.is_ratio() => Value::Float(0.0),
            _ => Value::Int(0),
        });
        defaults.collect()
    }

    /// The origin of what the job itself has, column by column.
    pub(super) fn own_origins(&self) -> Vec<InputOrigin> {
        let origins = self.columns.iter().map(|(_, special)| match special {
            Some(_) => InputOrigin::Job,
            None => InputOrigin::ResourceList,
        });
        origins.collect()
    }

    /// The column of this name.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// What a key at the top of a job means.
    pub(super) fn job_key(&self, key: &str, source: AmountSource) -> JobKey {
        match source {
            AmountSource::Server => JobKey::from_qstat(key),
            AmountSource::User => {
                JobKey::from_native(key, |name| self.schema.entry(name).is_some() || self.index(name).is_some())
            }
        }
    }

    /// The columns that a special input fills, with their names.
    pub(super) fn filled_by(&self, special: SpecialInput) -> impl Iterator<Item = (usize, &'a str)> {
        let columns = self.columns.iter().enumerate();
        columns.filter(move |(_, (_, other))| *other == Some(special)).map(|(index, &(name, _))| (index, name))
    }

    /// The columns that a ready-made input fills. `fairshare_perc` has two names: an input fills the column of its own
    /// name with the higher precedence.
    pub(super) fn filled_by_input(&self, name: &str) -> impl Iterator<Item = (usize, InputPrecedence)> {
        let special = SpecialInput::from_name(name);
        self.columns.iter().enumerate().filter_map(move |(index, &(column, other))| {
            if column == name {
                Some((index, InputPrecedence::Input))
            } else {
                (special.is_some() && other == special).then_some((index, InputPrecedence::AliasedInput))
            }
        })
    }

    /// What is done with the amounts of a resource.
    pub(super) fn resource_plan(&self, name: &str) -> ResourcePlan {
        let declared = self.schema.entry(name).map(|entry| entry.input_type);
        let is_skipped = SpecialInput::from_name(name).is_some() || declared.is_some_and(|kind| !kind.is_numeric());
        ResourcePlan { declared, column: self.index(name), is_skipped }
    }
}

/// What is done with the amounts of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResourcePlan {
    /// Its kind, if a schema declares it.
    pub declared: Option<InputType>,
    /// The column that it fills.
    pub column: Option<usize>,
    /// Whether its amounts are not numbers, or its name is not that of a resource.
    pub is_skipped: bool,
}

impl ResourcePlan {
    /// The kind of an amount: the declared one, else the one that it looks like.
    pub(super) fn kind(&self, scalar: &JsonScalar<'_>) -> InputType {
        let is_number = matches!(scalar, JsonScalar::Number(_));
        self.declared.unwrap_or_else(|| inferred_type(scalar.text().unwrap_or(""), is_number))
    }
}
