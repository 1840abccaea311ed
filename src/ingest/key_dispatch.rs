//! What each key of a job means to the quick road: decided once per name.

use std::collections::HashMap;

use crate::ingest::options::ReadOptions;
use crate::ingest::requested_columns::{Column, Wanted};
use crate::ingest::resource_plan::Slot;
use crate::jobs::InputPrecedence;
use crate::pbs::resource_amount::{AmountSource, Numbers};
use crate::schema::{FairshareInput, InputType, current_name};

/// The number of something in one of the lists of [`Meanings`].
pub(super) type Place = u32;

/// The kinds that an amount can look like.
const KINDS: [InputType; 6] =
    [InputType::Count, InputType::Size, InputType::Duration, InputType::Float, InputType::Bool, InputType::Text];

/// The bit of a kind.
fn bit(kind: InputType) -> u8 {
    1 << kind as u8
}

/// What a key at the top of a job means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Id,
    Entity,
    User,
    Group,
    Account,
    Queue,
    State,
    QueuedAt,
    /// An object of amounts.
    Resources,
    /// An object of ready-made inputs.
    Inputs,
    Amount(Place),
    Special(Place),
    /// Nobody needs it.
    Skip,
    /// It is to be reported. Its place among the [unknown](Meanings::unknown) keys.
    Unknown(Place),
}

/// A resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource {
    pub slot: Slot,
    /// Whether a small whole number is itself to the formula.
    pub is_plain: bool,
    /// Whether that also says nothing new of the name.
    is_settled: bool,
    /// Its place among the names that no schema declares.
    pub undeclared: Option<Place>,
}

/// A ready-made input.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// The columns that it fills.
    pub columns: Vec<(usize, InputPrecedence)>,
    /// Its place among the names that no schema declares.
    pub undeclared: Option<Place>,
}

/// What the keys of jobs mean, and what the lists behind their numbers are.
#[derive(Debug)]
pub(super) struct Meanings<'a> {
    options: &'a ReadOptions<'a>,
    source: AmountSource,
    wanted: Wanted<'a>,
    pub queue_priority: Option<usize>,
    pub resources: Vec<Resource>,
    pub specials: Vec<Vec<(usize, Column)>>,
    pub inputs: Vec<Input>,
    /// The keys that mean nothing.
    pub unknown: Vec<Box<str>>,
    undeclared: Vec<Undeclared>,
    undeclared_places: HashMap<Box<str>, Place>,
}

/// A name that no schema declares, and the kinds that it looked like.
#[derive(Debug)]
struct Undeclared {
    name: Box<str>,
    /// A bit for each of [`KINDS`].
    kinds: u8,
    /// Those that were given on.
    given: u8,
}

impl<'a> Meanings<'a> {
    pub(super) fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        let wanted = Wanted::new(options);
        Self {
            options,
            source,
            queue_priority: wanted.place("queue_priority"),
            wanted,
            resources: Vec::new(),
            specials: Vec::new(),
            inputs: Vec::new(),
            unknown: Vec::new(),
            undeclared: Vec::new(),
            undeclared_places: HashMap::new(),
        }
    }

    /// How many columns the formula needs.
    pub(super) fn columns(&self) -> usize {
        self.wanted.columns.len()
    }

    /// What a key at the top of a job means.
    pub(super) fn of(&mut self, key: &str) -> Meaning {
        match self.source {
            AmountSource::Server => self.of_qstat(key),
            AmountSource::User => self.of_own(key),
        }
    }

    fn of_qstat(&mut self, key: &str) -> Meaning {
        match key {
            "Resource_List" => Meaning::Resources,
            "queue" => Meaning::Queue,
            "Account_Name" => Meaning::Account,
            "euser" => Meaning::User,
            "egroup" => Meaning::Group,
            "job_state" => Meaning::State,
            "queue_rank" => Meaning::QueuedAt,
            "eligible_time" | "accrue_type" => self.special(key),
            "Priority" => self.special("job_priority"),
            _ => Meaning::Skip,
        }
    }

    fn of_own(&mut self, key: &str) -> Meaning {
        match key {
            "resources" => Meaning::Resources,
            "inputs" => Meaning::Inputs,
            "id" => Meaning::Id,
            "entity" => Meaning::Entity,
            "queue" => Meaning::Queue,
            "state" | "job_state" => Meaning::State,
            "queued_at" | "queue_rank" => Meaning::QueuedAt,
            "eligible_time" | "queue_priority" | "job_priority" | "accrue_type" => self.special(key),
            name if FairshareInput::from_name(name).is_some() => self.special(name),
            name if self.wanted.is_resource(name, self.options) => {
                self.resource(name).map_or(Meaning::Skip, Meaning::Amount)
            }
            _ => {
                self.unknown.push(key.into());
                Meaning::Unknown(self.unknown.len() as Place - 1)
            }
        }
    }

    fn special(&mut self, name: &str) -> Meaning {
        let columns: Vec<_> = self.wanted.special(name).map(|(index, _, column)| (index, column)).collect();
        if columns.is_empty() {
            return Meaning::Skip;
        }
        self.specials.push(columns);
        Meaning::Special(self.specials.len() as Place - 1)
    }

    /// The place of a resource; nothing for one whose amounts nobody looks at.
    pub(super) fn resource(&mut self, name: &str) -> Option<Place> {
        let is_resource = Column::of(name) == Column::Resource;
        let slot = Slot::new(name, self.options.schema, self.wanted.place(name), is_resource);
        if slot.is_skipped {
            return None;
        }
        let undeclared = slot.declared.is_none().then(|| self.undeclared(name));
        let is_plain = match slot.declared {
            None | Some(InputType::Count | InputType::Duration) => true,
            Some(InputType::Float) => self.source == AmountSource::Server || self.options.numbers != Numbers::OpenPbs,
            Some(_) => false,
        };
        let is_settled = is_plain && undeclared.is_none_or(|name| self.is_known_as(name, InputType::Count));
        self.resources.push(Resource { slot, is_plain, is_settled, undeclared });
        Some(self.resources.len() as Place - 1)
    }

    /// The place of a ready-made input.
    pub(super) fn input(&mut self, name: &str) -> Place {
        let columns = self.wanted.columns.iter().enumerate().filter_map(|(index, &(column, _))| {
            let is_old_name = column != name && current_name(column) == current_name(name);
            let authority = if is_old_name { InputPrecedence::OldInput } else { InputPrecedence::Input };
            (column == name || is_old_name).then_some((index, authority))
        });
        let columns = columns.collect();
        let undeclared = self.options.schema.entry(name).is_none().then(|| self.undeclared(name));
        self.inputs.push(Input { columns, undeclared });
        self.inputs.len() as Place - 1
    }

    fn undeclared(&mut self, name: &str) -> Place {
        *self.undeclared_places.entry(name.into()).or_insert_with(|| {
            self.undeclared.push(Undeclared { name: name.into(), kinds: 0, given: 0 });
            self.undeclared.len() as Place - 1
        })
    }

    /// Whether an undeclared name has looked like this before.
    #[inline]
    pub(super) fn is_known_as(&self, undeclared: Place, kind: InputType) -> bool {
        self.undeclared.get(undeclared as usize).is_some_and(|name| name.kinds & bit(kind) != 0)
    }

    /// The column that small whole numbers of this resource fill as they are, if there is one; nothing where more than
    /// that is to be done with them.
    pub(super) fn plain_amount(&self, place: Place) -> Option<Option<usize>> {
        let resource = self.resources.get(place as usize)?;
        resource.is_settled.then_some(resource.slot.column)
    }

    /// The same of a key at the top of a job.
    pub(super) fn plain(&self, meaning: Meaning) -> Option<Option<usize>> {
        match meaning {
            Meaning::Amount(place) => self.plain_amount(place),
            Meaning::Special(place) => match self.specials.get(place as usize)?[..] {
                [(index, column)] if column != Column::Ratio => Some(Some(index)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Records what an undeclared name looks like.
    pub(super) fn saw(&mut self, undeclared: Place, kind: InputType) {
        if let Some(name) = self.undeclared.get_mut(undeclared as usize) {
            name.kinds |= bit(kind);
        }
        if kind == InputType::Count {
            let named = self.resources.iter_mut().filter(|resource| resource.undeclared == Some(undeclared));
            named.for_each(|resource| resource.is_settled = resource.is_plain);
        }
    }

    /// Gives what [`Meanings::saw`] has recorded since the last time.
    pub(super) fn take_undeclared(&mut self, mut each: impl FnMut(&str, InputType)) {
        for name in &mut self.undeclared {
            let kinds = name.kinds & !name.given;
            name.given = name.kinds;
            KINDS.into_iter().filter(|&kind| kinds & bit(kind) != 0).for_each(|kind| each(&name.name, kind));
        }
    }
}
