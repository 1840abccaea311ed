//! The names of resources and inputs: those that a formula needs, each of which is a column of the
//! table, and those that the jobs of a document have.

use job_sort_formula::jobs::{InputOrigin, InputPrecedence};
use job_sort_formula::python::Value;
use job_sort_formula::schema::InputType;
use jsf_json::JsonScalar;
use jsf_openpbs::resource_amount::{AmountSource, NumberMode, inferred_type};

use crate::job_key::SpecialInput;
use crate::options::ReadOptions;

/// A column that a formula needs.
#[derive(Debug, Clone, Copy)]
pub struct RequestedColumn<'a> {
    pub name: &'a str,
    /// The input, unless it is a resource.
    pub special: Option<SpecialInput>,
}

impl<'a> RequestedColumn<'a> {
    /// The columns, each name once.
    pub fn all(options: &ReadOptions<'a>) -> Vec<Self> {
        let mut columns: Vec<Self> = Vec::new();
        for &name in options.needed {
            if columns.iter().all(|column| column.name != name) {
                let special = SpecialInput::from_name(name);
                columns.push(Self { name, special });
            }
        }
        columns
    }

    /// What the formula gets from a job without any attribute.
    pub fn default(&self) -> Value {
        match self.special {
            Some(SpecialInput::Fairshare(_)) => Value::Float(0.0),
            _ => Value::Int(0),
        }
    }

    /// The origin of what the job itself has.
    pub fn own_origin(&self) -> InputOrigin {
        match self.special {
            Some(_) => InputOrigin::Job,
            None => InputOrigin::ResourceList,
        }
    }
}

/// The most resources that the jobs may have together.
pub const MAX_RESOURCES: usize = 100_000;

/// An index into the names that the jobs have.
pub type NameIndex = u32;

/// The name of a resource or an input that jobs have.
#[derive(Debug)]
pub struct KnownName {
    pub name: Box<str>,
    /// Its kind, if a schema declares it.
    pub declared: Option<InputType>,
    /// The column that gets the amounts.
    pub column: Option<usize>,
    /// The columns that get a ready-made input of this name. `fairshare_perc` has two names: an
    /// input fills the column of its own name with the higher precedence.
    pub input_columns: Vec<(usize, InputPrecedence)>,
    /// Whether the amounts are not numbers, or the name is not that of a resource.
    pub is_skipped: bool,
    /// Whether the formula gets a small integer unchanged.
    pub keeps_small_integers: bool,
    /// The kinds that the amounts looked like, a bit for each.
    kinds: u8,
}

impl KnownName {
    pub fn new(
        name: &str,
        columns: &[RequestedColumn<'_>],
        options: &ReadOptions<'_>,
        source: AmountSource,
    ) -> Self {
        let declared = options.schema.input_type(name);
        let special = SpecialInput::from_name(name);
        let is_skipped = special.is_some() || declared.is_some_and(|kind| !kind.is_numeric());
        let keeps_small_integers = match declared {
            None | Some(InputType::Count | InputType::Duration) => true,
            Some(InputType::Float) => {
                source == AmountSource::Server || options.numbers != NumberMode::OpenPbs
            }
            Some(_) => false,
        };
        let mut own_column = None;
        let mut input_columns = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            if column.name == name {
                own_column = Some(index);
                input_columns.push((index, InputPrecedence::Input));
            } else if special.is_some() && column.special == special {
                input_columns.push((index, InputPrecedence::AliasedInput));
            }
        }
        Self {
            name: name.into(),
            declared,
            column: own_column,
            input_columns,
            is_skipped,
            keeps_small_integers: keeps_small_integers && !is_skipped,
            kinds: 0,
        }
    }

    /// The kind of an amount: the declared one, else the one that it looks like.
    pub fn kind(&self, scalar: &JsonScalar<'_>) -> InputType {
        let is_number = matches!(scalar, JsonScalar::Number(_));
        self.declared
            .unwrap_or_else(|| inferred_type(scalar.text().unwrap_or(""), is_number))
    }

    /// Notes the kind that an undeclared name looks like. Returns whether it is new.
    #[inline]
    pub fn note_kind(&mut self, kind: InputType) -> bool {
        let is_new = self.declared.is_none() && self.kinds & (1 << kind as u8) == 0;
        self.kinds |= 1 << kind as u8;
        is_new
    }
}
