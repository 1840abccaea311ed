//! The columns that a formula needs, and which keys fill them.

use job_sort_formula::jobs::{InputOrigin, InputPrecedence};
use job_sort_formula::python::Value;

use crate::job_key::SpecialInput;
use crate::options::ReadOptions;

/// The columns that a formula needs.
#[derive(Debug, Clone)]
pub(super) struct RequestedColumns<'a> {
    /// Each name once, with its special input unless it is a resource.
    columns: Vec<(&'a str, Option<SpecialInput>)>,
}

impl<'a> RequestedColumns<'a> {
    pub(super) fn new(options: &ReadOptions<'a>) -> Self {
        let mut requested = Self {
            columns: Vec::new(),
        };
        for &name in options.needed {
            if requested.index(name).is_none() {
                let special = SpecialInput::from_name(name);
                requested.columns.push((name, special));
            }
        }
        requested
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
        self.columns.iter().position(|(known, _)| *known == name)
    }

    /// Whether a column needs a special input.
    pub(super) fn needs(&self, special: SpecialInput) -> bool {
        self.columns
            .iter()
            .any(|(_, other)| *other == Some(special))
    }

    /// The name of a column, if a special input fills it.
    pub(super) fn name_of(&self, special: SpecialInput, column: usize) -> Option<&'a str> {
        let &(name, other) = self.columns.get(column)?;
        (other == Some(special)).then_some(name)
    }

    /// The columns that a ready-made input fills. `fairshare_perc` has two names: an input fills
    /// the column of its own name with the higher precedence.
    pub(super) fn filled_by_input(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (usize, InputPrecedence)> {
        let special = SpecialInput::from_name(name);
        self.columns
            .iter()
            .enumerate()
            .filter_map(move |(index, &(column, other))| {
                if column == name {
                    Some((index, InputPrecedence::Input))
                } else {
                    (special.is_some() && other == special)
                        .then_some((index, InputPrecedence::AliasedInput))
                }
            })
    }
}
