//! The resources and inputs that the jobs of a document name, and what is done with the amounts of
//! each.

use std::collections::HashMap;

use job_sort_formula::jobs::InputPrecedence;
use job_sort_formula::schema::InputType;
use jsf_json::JsonScalar;
use jsf_openpbs::resource_amount::{AmountSource, NumberMode, inferred_type};

use crate::job_key::SpecialInput;
use crate::options::ReadOptions;
use crate::requested_columns::RequestedColumns;

/// The most resources that the jobs may have together.
pub(super) const MAX_RESOURCES: usize = 100_000;

/// An index into [`KnownNames`].
pub(super) type NameIndex = u32;

/// The names that were read so far.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    names: Vec<KnownName>,
    indices: HashMap<Box<str>, NameIndex>,
}

/// The name of a resource or an input.
#[derive(Debug)]
pub(super) struct KnownName {
    pub name: Box<str>,
    /// Its kind, if a schema declares it.
    pub declared: Option<InputType>,
    /// The column that gets the amounts.
    pub column: Option<usize>,
    /// The columns that get a ready-made input of this name.
    pub input_columns: Vec<(usize, InputPrecedence)>,
    /// Whether the amounts are not numbers, or the name is not that of a resource.
    pub is_skipped: bool,
    /// Whether the formula gets a small integer unchanged.
    pub keeps_small_integers: bool,
    /// The kinds that the amounts looked like, a bit for each.
    kinds: u8,
}

impl KnownNames {
    /// The index of a name, which is added if it is new; `None` if there are too many names.
    pub(super) fn index(
        &mut self,
        name: &str,
        columns: &RequestedColumns<'_>,
        options: &ReadOptions<'_>,
        source: AmountSource,
    ) -> Option<NameIndex> {
        if let Some(&known) = self.indices.get(name) {
            return Some(known);
        }
        if self.names.len() > MAX_RESOURCES {
            return None;
        }
        let index = self.names.len() as NameIndex;
        self.names
            .push(KnownName::new(name, columns, options, source));
        self.indices.insert(name.into(), index);
        Some(index)
    }

    /// The index of a name that was read before.
    pub(super) fn find(&self, name: &str) -> Option<NameIndex> {
        self.indices.get(name).copied()
    }

    pub(super) fn name(&self, index: NameIndex) -> &str {
        &self.names[index as usize].name
    }

    pub(super) fn get(&self, index: NameIndex) -> &KnownName {
        &self.names[index as usize]
    }

    pub(super) fn get_mut(&mut self, index: NameIndex) -> &mut KnownName {
        &mut self.names[index as usize]
    }
}

impl KnownName {
    fn new(
        name: &str,
        columns: &RequestedColumns<'_>,
        options: &ReadOptions<'_>,
        source: AmountSource,
    ) -> Self {
        let declared = options.schema.input_type(name);
        let keeps_small_integers = match declared {
            None | Some(InputType::Count | InputType::Duration) => true,
            Some(InputType::Float) => {
                source == AmountSource::Server || options.numbers != NumberMode::OpenPbs
            }
            Some(_) => false,
        };
        let is_skipped = SpecialInput::from_name(name).is_some()
            || declared.is_some_and(|kind| !kind.is_numeric());
        Self {
            name: name.into(),
            declared,
            column: columns.index(name),
            input_columns: columns.filled_by_input(name).collect(),
            is_skipped,
            keeps_small_integers: keeps_small_integers && !is_skipped,
            kinds: 0,
        }
    }

    /// The kind of an amount: the declared one, else the one that it looks like.
    pub(super) fn kind(&self, scalar: &JsonScalar<'_>) -> InputType {
        let is_number = matches!(scalar, JsonScalar::Number(_));
        self.declared
            .unwrap_or_else(|| inferred_type(scalar.text().unwrap_or(""), is_number))
    }

    /// Notes the kind that an undeclared name looks like. Returns whether it is new.
    #[inline]
    pub(super) fn note_kind(&mut self, kind: InputType) -> bool {
        let is_new = self.declared.is_none() && self.kinds & (1 << kind as u8) == 0;
        self.kinds |= 1 << kind as u8;
        is_new
    }
}
