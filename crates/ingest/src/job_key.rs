//! What each key of a job means: the one table that the readers of all formats share.

use job_sort_formula::python::Value;
use job_sort_formula::schema::FairshareInput;
use jsf_json::JsonScalar;
use jsf_openpbs::resource_amount::NumberMode;

use crate::attribute_values::{integer, ratio, seconds};
use crate::names::NameIndex;

/// What a key at the top of a job means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKey {
    Id,
    Entity,
    User,
    Group,
    Account,
    /// `Job_Owner`, for documents without `euser`.
    Owner,
    Queue,
    State,
    QueuedAt,
    /// An object of resource amounts.
    Resources,
    /// An object of ready-made inputs of the formula.
    Inputs,
    /// The amount of a resource.
    Resource(NameIndex),
    /// An input of the formula that is not a resource.
    Special(SpecialInput),
    /// An attribute that only a scheduling cycle needs, see [`cycle_key`].
    Cycle(&'static str),
    /// An object with attributes that only a scheduling cycle needs.
    CycleList,
    /// Nothing that a formula or a fair-share tree needs.
    Unused,
    /// Not a key of a job: the user is told.
    Unknown,
}

/// The attributes of `qstat -f` that a formula, the order or a fair-share tree needs.
pub const QSTAT_KEYS: [(&str, JobKey); 11] = [
    ("Resource_List", JobKey::Resources),
    ("euser", JobKey::User),
    ("egroup", JobKey::Group),
    ("Account_Name", JobKey::Account),
    ("Job_Owner", JobKey::Owner),
    ("queue", JobKey::Queue),
    ("job_state", JobKey::State),
    ("queue_rank", JobKey::QueuedAt),
    ("eligible_time", JobKey::Special(SpecialInput::EligibleTime)),
    ("accrue_type", JobKey::Special(SpecialInput::AccrueType)),
    ("Priority", JobKey::Special(SpecialInput::JobPriority)),
];

impl JobKey {
    /// The meaning of an attribute of `qstat -f`.
    pub fn from_qstat(attribute: &str) -> Self {
        for (name, key) in QSTAT_KEYS {
            if name == attribute {
                return key;
            }
        }
        Self::Unused
    }

    /// The meaning of a key for a scheduling cycle, if it has one for nothing else.
    pub fn for_cycle(self, key: &str) -> Self {
        match self {
            Self::Unused if is_cycle_list(key) => Self::CycleList,
            Self::Unused => match cycle_key(key) {
                Some(key) => Self::Cycle(key),
                None => self,
            },
            _ => self,
        }
    }

    /// Whether the value is a name, which qstat may print without quotes.
    pub fn is_name(self) -> bool {
        matches!(
            self,
            Self::Id
                | Self::Entity
                | Self::User
                | Self::Group
                | Self::Account
                | Self::Owner
                | Self::Queue
        )
    }

    /// The meaning of a key of native JSON; `resource` answers for one that is a resource's.
    pub fn from_native(key: &str, resource: impl FnOnce(&str) -> Option<Self>) -> Self {
        match key {
            "id" => Self::Id,
            "entity" => Self::Entity,
            "queue" => Self::Queue,
            "state" | "job_state" => Self::State,
            "queued_at" | "queue_rank" => Self::QueuedAt,
            "resources" => Self::Resources,
            "inputs" => Self::Inputs,
            _ => match SpecialInput::from_name(key) {
                Some(special) => Self::Special(special),
                None => resource(key).unwrap_or_else(|| match cycle_key(key) {
                    Some(_) => Self::Unused,
                    None => Self::Unknown,
                }),
            },
        }
    }
}

/// The attributes that only a scheduling cycle needs, in `qstat -f` or native JSON.
const CYCLE_KEYS: [&str; 19] = [
    "user",
    "group",
    "project",
    "stime",
    "qtime",
    "etime",
    "Hold_Types",
    "topjob_ineligible",
    "array_state_count",
    "array_indices_remaining",
    "array_indices_submitted",
    "max_run_subjobs",
    "Rerunable",
    "run_count",
    "estimated_start",
    "place",
    "select",
    "schedselect",
    "exec_vnode",
];

/// The name by which such an attribute is found; that of a list has the name of the list before it.
fn cycle_key(name: &str) -> Option<&'static str> {
    match name {
        "euser" => Some("user"),
        "egroup" => Some("group"),
        "resources_used.walltime" => Some("used_walltime"),
        "estimated.start_time" => Some("estimated_start"),
        _ => CYCLE_KEYS.into_iter().find(|key| *key == name),
    }
}

/// Whether the attribute of this name is an object with attributes of a cycle.
pub fn is_cycle_list(name: &str) -> bool {
    matches!(name, "estimated" | "resources_used")
}

/// An input of a formula that is not a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialInput {
    EligibleTime,
    AccrueType,
    JobPriority,
    QueuePriority,
    Fairshare(FairshareInput),
}

impl SpecialInput {
    /// The input of this name in a formula.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "eligible_time" => Self::EligibleTime,
            "accrue_type" => Self::AccrueType,
            "job_priority" => Self::JobPriority,
            "queue_priority" => Self::QueuePriority,
            _ => Self::Fairshare(FairshareInput::from_name(name)?),
        })
    }

    /// The value that the formula gets for `scalar`.
    ///
    /// # Errors
    /// What was expected instead of `scalar`, in words for a message.
    pub fn value(
        self,
        scalar: &JsonScalar<'_>,
        numbers: NumberMode,
    ) -> Result<Value, &'static str> {
        match self {
            Self::EligibleTime => seconds(scalar)
                .map(Value::Int)
                .ok_or("`HH:MM:SS` or seconds"),
            Self::Fairshare(_) => match ratio(scalar) {
                Some(ratio) => Ok(numbers.fairshare(ratio)),
                None => Err("a number between 0 and 1"),
            },
            _ => integer(scalar).map(Value::Int).ok_or("a whole number"),
        }
    }
}
