//! The attributes of a job, whichever format its document has.
//!
//! In: the keys and values of a job, and the names that a formula needs. Out: a [`ParsedJob`], which
//! the readers of all formats make. What each key means is in one table, [`JobKey`]; what becomes of a
//! value follows from the [`KnownName`] of its resource, or its [`SpecialInput`].

use std::borrow::Cow;

use job_sort_formula::Value;
use job_sort_formula::jobs::{InputOrigin, InputPrecedence, Problem};
use job_sort_formula::schema::{FairshareInput, InputType};
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::amounts::{NumberMode, inferred_type, number};
use jsf_openpbs::times;

use crate::ReadOptions;

/// The most resources and the most inputs of a job.
pub const MAX_ENTRIES: usize = 10_000;
/// The most problems of a job that are reported.
pub const MAX_PROBLEMS: usize = 1000;
/// What follows from a key that is given more than once.
pub const LAST_COUNTS: &str = "the last one counts";

/// The attributes of one job as its document has them.
#[derive(Debug, Default)]
pub struct ParsedJob<'d> {
    /// The line, if the document has a job per line.
    pub line: Option<usize>,
    /// All but amounts, each once.
    pub attributes: Vec<Attribute<'d>>,
    pub resources: Vec<Amount<'d>>,
    /// Ready-made inputs, which are passed on unchanged.
    pub inputs: Vec<Amount<'d>>,
    pub problems: Vec<Problem>,
}

/// A resource or an input of a job.
pub type Amount<'d> = (NameIndex, JsonScalar<'d>);

#[derive(Debug)]
pub struct Attribute<'d> {
    pub key: JobKey,
    pub value: JsonScalar<'d>,
    is_repeated: bool,
}

impl<'d> ParsedJob<'d> {
    /// Removes all attributes, and keeps the memory.
    pub fn clear(&mut self) {
        self.line = None;
        self.attributes.clear();
        self.resources.clear();
        self.inputs.clear();
        self.problems.clear();
    }

    /// Gives the job the id that precedes its attributes.
    pub fn set_id(&mut self, id: Cow<'d, str>) {
        self.attributes.push(Attribute {
            key: JobKey::Id,
            value: JsonScalar::String(id),
            is_repeated: false,
        });
    }

    /// The value of an attribute.
    pub fn get(&self, key: JobKey) -> Option<&JsonScalar<'d>> {
        let mut attributes = self.attributes.iter();
        Some(&attributes.find(|attribute| attribute.key == key)?.value)
    }

    /// The text of an attribute; empty if the job has none.
    pub fn text(&self, key: JobKey) -> &str {
        self.get(key).and_then(JsonScalar::text).unwrap_or_default()
    }

    /// The id; empty if the job has none.
    pub fn id(&self) -> &str {
        self.text(JobKey::Id)
    }

    /// Sets the attribute `key`, which the document calls `name`; one that is given again is
    /// reported.
    pub fn set(&mut self, key: JobKey, name: &str, mut value: JsonScalar<'d>) {
        match key {
            // an amount that is given again is reported where its column is filled
            JobKey::Resource(resource) => {
                return push_entry(&mut self.resources, resource, value);
            }
            JobKey::CycleList | JobKey::Unused | JobKey::Unknown => return,
            _ => {}
        }
        let mut attributes = self.attributes.iter();
        let known = attributes.position(|attribute| attribute.key == key);
        if let Some(known) = known
            && !std::mem::replace(&mut self.attributes[known].is_repeated, true)
        {
            let consequence = match key {
                JobKey::Resources | JobKey::Inputs => "the lists are joined",
                _ => LAST_COUNTS,
            };
            self.push_problem(repeated(name, consequence));
        }
        if key.is_name() {
            match &value {
                JsonScalar::Other(_) => {
                    self.push_problem(wrong_attribute(name, &value, "a string"));
                    if known.is_some() {
                        return;
                    }
                    value = JsonScalar::NULL;
                }
                JsonScalar::String(text) if text.contains(char::REPLACEMENT_CHARACTER) => {
                    let what =
                        format!("`{name}` contains bytes that are not UTF-8, which are replaced");
                    self.push_problem(Problem::Doubtful(what));
                }
                _ => {}
            }
        }
        match known {
            Some(index) => self.attributes[index].value = value,
            None => self.attributes.push(Attribute {
                key,
                value,
                is_repeated: false,
            }),
        }
    }

    /// Adds a problem that does not reject the job, unless it has very many.
    pub fn push_problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

/// The problem of a key that is given again, and which of its values counts.
pub fn repeated(key: &str, consequence: &str) -> Problem {
    Problem::Repeated(format!(
        "`{}` is given more than once; {consequence}",
        clipped(key)
    ))
}

/// The problem of an attribute whose value is not what it should be.
pub fn wrong_attribute(name: &str, scalar: &JsonScalar<'_>, expected: &'static str) -> Problem {
    Problem::Doubtful(format!(
        "`{name}` is {}, expected {expected}; the attribute is ignored",
        scalar.found()
    ))
}

/// The problem of an input that a column needs and whose value cannot be read.
pub fn wrong_input(name: &str, scalar: &JsonScalar<'_>, expected: &'static str) -> Problem {
    Problem::Unreadable(format!(
        "`{name}` is needed, and is {}, expected {expected}",
        scalar.found()
    ))
}

/// Adds an amount or an input of a job, unless there are already more than a job may have.
#[inline]
pub fn push_entry<'d>(entries: &mut Vec<Amount<'d>>, name: NameIndex, scalar: JsonScalar<'d>) {
    // one more than a job may have is kept, by which the converter finds that there are too many
    if entries.len() <= MAX_ENTRIES {
        entries.push((name, scalar));
    }
}

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
        let mut keys = QSTAT_KEYS.into_iter();
        let known = keys.find(|(name, _)| *name == attribute);
        // qstat prints many attributes that nothing here needs
        known.map_or(Self::Unused, |(_, key)| key)
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

    /// The meaning of a key of native JSON that is not a resource.
    pub fn from_native(key: &str) -> Self {
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
                // a document for `jsf cycle` can be ranked too: such a key is no mistake
                None if cycle_key(key).is_some() => Self::Unused,
                None => Self::Unknown,
            },
        }
    }
}

/// The attributes that only a scheduling cycle needs, in `qstat -f` or native JSON; of `Hold_Types`
/// the state of the job says enough, and `estimated_start` is accepted, not read.
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
        _ => CYCLE_KEYS.into_iter().find(|key| *key == name),
    }
}

/// Whether the attribute of this name is an object with attributes of a cycle.
pub fn is_cycle_list(name: &str) -> bool {
    name == "resources_used"
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
            // the scheduler prints these with `%f`, so that Python reads a float of 0 too
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
    /// Whether small integers keep their value: the amounts are neither bytes nor floats.
    pub keeps_small: bool,
    /// The columns that get a ready-made input of this name. `fairshare_perc` has two names: an
    /// input fills the column of its own name with the higher precedence.
    pub input_columns: Vec<(usize, InputPrecedence)>,
    /// Whether the amounts are not numbers, or the name is not that of a resource.
    pub is_skipped: bool,
    /// The kinds that the amounts looked like, a bit for each.
    pub kinds: u8,
}

impl KnownName {
    pub fn new(name: &str, columns: &[RequestedColumn<'_>], options: &ReadOptions<'_>) -> Self {
        let declared = options.schema.input_type(name);
        let special = SpecialInput::from_name(name);
        // a resource with the name of an input is hidden by it, so that no formula reads it
        let is_skipped = special.is_some() || declared.is_some_and(|kind| !kind.is_numeric());
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
        let keeps_small = matches!(
            declared,
            None | Some(InputType::Count | InputType::Duration)
        );
        Self {
            name: name.into(),
            declared,
            column: own_column,
            keeps_small: keeps_small && !is_skipped,
            input_columns,
            is_skipped,
            kinds: 0,
        }
    }

    /// Whether no schema declares the name, and no amount looked like this kind before.
    pub fn is_new(&self, kind: InputType) -> bool {
        self.declared.is_none() && self.kinds & (1 << kind as u8) == 0
    }

    /// The kind of an amount: the declared one, else the one that it looks like.
    pub fn kind(&self, scalar: &JsonScalar<'_>) -> InputType {
        let is_number = matches!(scalar, JsonScalar::Number(_));
        self.declared
            .unwrap_or_else(|| inferred_type(scalar.text().unwrap_or(""), is_number))
    }
}

/// The value of an input that the document gives as it is: a number, or one of the strings `inf`,
/// `-inf` and `nan`, which JSON cannot express as numbers.
pub fn input(scalar: &JsonScalar<'_>) -> Option<Value> {
    match scalar {
        JsonScalar::Number(text) => number(text),
        JsonScalar::String(text) => match &**text {
            "inf" => Some(Value::Float(f64::INFINITY)),
            "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            _ => None,
        },
        JsonScalar::Other(_) => None,
    }
}

/// The value of a whole number of at most 64 bits, as a number or a string.
pub fn integer(scalar: &JsonScalar<'_>) -> Option<i64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer),
        // The JSON of qstat prints integers from 1e15 on with an exponent.
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9.0e18 => Some(x as i64),
        _ => None,
    }
}

/// The value of any finite number of at most 64 bits or with a fraction, as a number or a string.
pub fn ratio(scalar: &JsonScalar<'_>) -> Option<f64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer as f64),
        Value::Float(x) => Some(x),
        _ => None,
    }
}

/// The seconds in a duration in the syntax of PBS, or a whole number of seconds, which may be
/// negative.
pub fn seconds(scalar: &JsonScalar<'_>) -> Option<i64> {
    let text = scalar.text()?.trim();
    // digits alone are the most frequent, and a duration takes several times as long to read
    let seconds = text.parse().ok().or_else(|| times::seconds(text));
    seconds.or_else(|| integer(scalar))
}

/// Whether qstat may have removed digits of an integer. Its JSON has only 15 digits if these are
/// within one part in 2^52 of the amount, so that from 2^52 on two different integers may be
/// printed alike.
pub fn is_shortened(text: &str) -> bool {
    let Some((mantissa, _)) = text.split_once(['e', 'E']) else {
        return false;
    };
    mantissa.bytes().filter(u8::is_ascii_digit).count() <= 15
        && text.parse().unwrap_or(0.0_f64).abs() >= 4_503_599_627_370_496.0
}
