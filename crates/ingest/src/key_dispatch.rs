//! Decides, once per key, what the fast reader does with the values.

use std::collections::HashMap;

use job_sort_formula::jobs::InputPrecedence;
use job_sort_formula::schema::InputType;
use jsf_openpbs::resource_amount::{AmountSource, NumberMode};

use crate::job_key::{JobKey, SpecialInput};
use crate::options::ReadOptions;
use crate::requested_columns::{RequestedColumns, ResourcePlan};

/// An index into one of the lists of [`KeyDispatch`].
pub(super) type Index = u32;

/// The kinds that an amount can have by its form.
const KINDS: [InputType; 6] =
    [InputType::Count, InputType::Size, InputType::Duration, InputType::Float, InputType::Bool, InputType::Text];

/// The bit of a kind.
fn bit(kind: InputType) -> u8 {
    1 << kind as u8
}

/// The meaning of a key at the top of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DispatchedKey {
    pub key: JobKey,
    /// The index of a resource, a special input or an unknown key.
    pub index: Index,
}

impl DispatchedKey {
    /// A key whose value is skipped.
    pub(super) const UNUSED: Self = Self { key: JobKey::Unused, index: 0 };
}

/// A resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource {
    pub plan: ResourcePlan,
    /// Whether the formula gets a small integer unchanged.
    pub keeps_small_integers: bool,
    /// The index among the names that no schema declares.
    pub undeclared: Option<Index>,
}

/// A ready-made input.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// The columns that it fills.
    pub columns: Vec<(usize, InputPrecedence)>,
    /// The index among the names that no schema declares.
    pub undeclared: Option<Index>,
}

/// The keys of the jobs that were read so far.
#[derive(Debug)]
pub(super) struct KeyDispatch<'a> {
    options: &'a ReadOptions<'a>,
    source: AmountSource,
    columns: RequestedColumns<'a>,
    pub queue_priority: Option<usize>,
    pub resources: Vec<Resource>,
    /// For each special input that is needed, the columns that it fills.
    pub special: Vec<(SpecialInput, Vec<usize>)>,
    pub inputs: Vec<Input>,
    pub unknown: Vec<Box<str>>,
    undeclared: Vec<Undeclared>,
    undeclared_indices: HashMap<Box<str>, Index>,
}

/// A name that no schema declares.
#[derive(Debug)]
struct Undeclared {
    name: Box<str>,
    /// The kinds that its amounts looked like, a bit for each of [`KINDS`].
    kinds: u8,
    /// Those that [`KeyDispatch::take_undeclared`] has passed on.
    taken: u8,
}

impl<'a> KeyDispatch<'a> {
    pub(super) fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        let columns = RequestedColumns::new(options);
        Self {
            options,
            source,
            queue_priority: columns.index("queue_priority"),
            columns,
            resources: Vec::new(),
            special: Vec::new(),
            inputs: Vec::new(),
            unknown: Vec::new(),
            undeclared: Vec::new(),
            undeclared_indices: HashMap::new(),
        }
    }

    /// The number of columns that the formula needs.
    pub(super) fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Decides what is done with a key at the top of a job.
    pub(super) fn dispatch(&mut self, name: &str) -> DispatchedKey {
        let key = self.columns.job_key(name, self.source);
        let index = match key {
            JobKey::Special(special) => self.add_special(special),
            JobKey::Resource => self.add_resource(name),
            JobKey::Unknown => {
                self.unknown.push(name.into());
                Some(self.unknown.len() as Index - 1)
            }
            _ => Some(0),
        };
        index.map_or(DispatchedKey::UNUSED, |index| DispatchedKey { key, index })
    }

    /// Adds a special input and returns its index; `None` if no column needs it.
    fn add_special(&mut self, special: SpecialInput) -> Option<Index> {
        let columns: Vec<_> = self.columns.filled_by(special).map(|(column, _)| column).collect();
        if columns.is_empty() {
            return None;
        }
        self.special.push((special, columns));
        Some(self.special.len() as Index - 1)
    }

    /// Adds a resource and returns its index; `None` if its amounts are skipped.
    pub(super) fn add_resource(&mut self, name: &str) -> Option<Index> {
        let plan = self.columns.resource_plan(name);
        if plan.is_skipped {
            return None;
        }
        let undeclared = plan.declared.is_none().then(|| self.undeclared_index(name));
        let keeps_small_integers = match plan.declared {
            None | Some(InputType::Count | InputType::Duration) => true,
            Some(InputType::Float) => {
                self.source == AmountSource::Server || self.options.numbers != NumberMode::OpenPbs
            }
            Some(_) => false,
        };
        self.resources.push(Resource { plan, keeps_small_integers, undeclared });
        Some(self.resources.len() as Index - 1)
    }

    /// Adds a ready-made input and returns its index.
    pub(super) fn add_input(&mut self, name: &str) -> Index {
        let columns = self.columns.filled_by_input(name).collect();
        let undeclared = self.options.schema.entry(name).is_none().then(|| self.undeclared_index(name));
        self.inputs.push(Input { columns, undeclared });
        self.inputs.len() as Index - 1
    }

    /// The index of an undeclared name, which is added if it is new.
    fn undeclared_index(&mut self, name: &str) -> Index {
        *self.undeclared_indices.entry(name.into()).or_insert_with(|| {
            self.undeclared.push(Undeclared { name: name.into(), kinds: 0, taken: 0 });
            self.undeclared.len() as Index - 1
        })
    }

    /// Whether an undeclared name has looked like this kind before.
    #[inline]
    pub(super) fn is_known_as(&self, undeclared: Index, kind: InputType) -> bool {
        self.undeclared.get(undeclared as usize).is_some_and(|name| name.kinds & bit(kind) != 0)
    }

    /// Records the kind that an undeclared name looks like.
    pub(super) fn record_undeclared(&mut self, undeclared: Index, kind: InputType) {
        if let Some(name) = self.undeclared.get_mut(undeclared as usize) {
            name.kinds |= bit(kind);
        }
    }

    /// Passes on what was recorded since the last call.
    pub(super) fn take_undeclared(&mut self, mut each: impl FnMut(&str, InputType)) {
        for name in &mut self.undeclared {
            let kinds = name.kinds & !name.taken;
            name.taken = name.kinds;
            KINDS.into_iter().filter(|&kind| kinds & bit(kind) != 0).for_each(|kind| each(&name.name, kind));
        }
    }
}
