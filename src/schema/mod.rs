//! The names that a formula may use, and what each one measures.
//!
//! Enters: the names that OpenPBS defines ([`Schema::openpbs`]), the numbers of Slurm's multifactor
//! priority ([`Schema::add_slurm`]), and the names of a site ([`Schema::add`]). Leaves: an [`Entry`]
//! for each name, and for an unknown name the known names nearest to it ([`Schema::suggestions`]).

pub mod suggestions;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::python::PythonVersion;

/// What a name measures, and in which unit its value reaches the formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputType {
    /// An integer without a unit (PBS type `long`).
    Count,
    /// An amount of memory or disk space, in kb (PBS type `size`).
    Size,
    /// A duration, in seconds (PBS type `duration`).
    Duration,
    /// A number that may have decimals (PBS type `float`).
    Float,
    /// A share or a factor between 0 and 1.
    Ratio,
    /// A truth value (PBS type `boolean`), which no formula may use.
    Bool,
    /// A string or a list of strings (PBS types `string` and `string_array`), which no formula may
    /// use.
    Text,
}

impl InputType {
    /// Whether a formula may use a name of this type; for the other types the server answers 15125.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Bool | Self::Text)
    }

    /// The unit in which a value of this type reaches a formula; `None` if it has no unit.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Size => Some("kb"),
            Self::Duration => Some("s"),
            _ => None,
        }
    }

    /// The type with this name in `resourcedef` and `qmgr`, in any case; `None` if PBS has no such
    /// type.
    pub fn from_pbs_type(pbs_type: &str) -> Option<Self> {
        const TYPES: [(&str, InputType); 9] = [
            ("long", InputType::Count),
            ("short", InputType::Count),
            ("ll", InputType::Count),
            ("size", InputType::Size),
            ("float", InputType::Float),
            ("duration", InputType::Duration),
            ("boolean", InputType::Bool),
            ("string", InputType::Text),
            ("string_array", InputType::Text),
        ];
        let mut types = TYPES.iter();
        let (_, input_type) = types.find(|(name, _)| name.eq_ignore_ascii_case(pbs_type))?;
        Some(*input_type)
    }

    /// PBS's name of the type, of which [`from_pbs_type`](Self::from_pbs_type) reads more than one
    /// for some types.
    pub fn pbs_type(self) -> &'static str {
        match self {
            Self::Count => "long",
            Self::Size => "size",
            Self::Duration => "duration",
            Self::Float | Self::Ratio => "float",
            Self::Bool => "boolean",
            Self::Text => "string",
        }
    }

    /// The values that a resource of this type can have if OpenPBS itself defines it.
    pub fn range(self) -> Range {
        match self {
            Self::Ratio => Range::new(0.0, 1.0),
            Self::Count | Self::Size | Self::Duration => Range::new(0.0, f64::INFINITY),
            Self::Float | Self::Bool | Self::Text => Range::ANY,
        }
    }
}

/// A closed interval: the least and the greatest value of a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub most: f64,
}

impl Range {
    /// All numbers.
    pub const ANY: Self = Self::new(f64::NEG_INFINITY, f64::INFINITY);

    /// The interval with these bounds.
    pub const fn new(least: f64, most: f64) -> Self {
        Self { least, most }
    }

    /// The smallest interval that contains the numbers.
    pub fn hull<const N: usize>(numbers: [f64; N]) -> Self {
        let least = numbers.into_iter().fold(f64::INFINITY, f64::min);
        let most = numbers.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self { least, most }
    }
}

/// Where a name comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// One of the eight values that the scheduler computes itself, such as `eligible_time`.
    Special,
    /// A resource that every OpenPBS server defines.
    Standard,
    /// A resource that the site defines (`resourcedef`, `qmgr`).
    Site,
    /// A number that Slurm's priority is made of.
    Slurm,
    /// A resource that a job or a queue has but no file defines; its type is inferred from its
    /// value.
    Seen,
}

/// What is known about a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// What the name measures, and in which unit its value reaches the formula.
    pub input_type: InputType,
    /// Where the name comes from.
    pub origin: Origin,
    /// The values that it can have.
    pub range: Range,
    /// For a deprecated name: its current name.
    pub replaced_by: Option<&'static str>,
    /// Whether no job can request it: the site alone gives an amount to a job.
    pub is_withheld: bool,
}

/// Why a resource cannot be declared: no formula could use it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    #[error("the name of a resource is empty")]
    Empty,
    /// Python does not read it as one name, such as `my-gpu`, or `lambda`.
    #[error("no formula can use the resource `{0}`: Python does not read it as one name")]
    NotAName(String),
    /// Python's `math` has the name, or the scheduler's script does; they come before resources.
    #[error(
        "no formula can use the resource `{0}`: the name has another meaning in the scheduler's Python, which wins"
    )]
    Hidden(String),
    /// OpenPBS defines the name.
    #[error("`{0}` is defined by OpenPBS and cannot be redefined")]
    DefinedByOpenPbs(String),
}

/// The names that a formula may use. Names are case-sensitive, as in Python.
///
/// ```
/// use job_sort_formula::schema::{InputType, Schema};
///
/// let mut schema = Schema::openpbs();
/// schema.add("base_score", InputType::Count)?;
/// assert!(schema.is_numeric("base_score"));
/// assert_eq!(schema.entry("place").unwrap().input_type, InputType::Text);
/// assert_eq!(schema.suggestions("walltme"), ["walltime"]);
/// # Ok::<(), job_sort_formula::schema::NameError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Schema {
    entries: BTreeMap<Box<str>, Entry>,
    python: PythonVersion,
}

impl Schema {
    /// A schema without names.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The schema of a server that embeds this version of Python: which functions exist, and what
    /// they compute.
    pub fn with_python(self, python: PythonVersion) -> Self {
        Self { python, ..self }
    }

    /// The version of Python that the server embeds.
    pub fn python(&self) -> PythonVersion {
        self.python
    }

    /// The eight values that the scheduler computes and the resources that every OpenPBS server
    /// defines.
    ///
    /// Source: the names that a 23.06.06 scheduler passes to Python, and what its server answers to
    /// the others.
    pub fn openpbs() -> Self {
        let mut schema = Self::empty();
        for &(name, input_type, range) in SCHEDULER_INPUTS {
            schema.insert(name, input_type, Origin::Special, range);
        }
        for (name, _) in FairshareInput::NAMES {
            schema.insert(
                name,
                InputType::Ratio,
                Origin::Special,
                InputType::Ratio.range(),
            );
        }
        for (input_type, names) in BUILT_IN_RESOURCES {
            for name in names.split(' ') {
                schema.insert(name, input_type, Origin::Standard, input_type.range());
            }
        }
        if let Some(entry) = schema.entries.get_mut(DEPRECATED_NAME) {
            entry.replaced_by = Some(CURRENT_NAME);
        }
        schema
    }

    /// Adds a resource that a document of the server lists, and returns whether it was added. The
    /// server takes names that no formula can use; like it, this does not redefine a name that
    /// OpenPBS defines.
    pub fn add_listed(&mut self, name: &str, input_type: InputType) -> bool {
        self.add_from(name, input_type, Origin::Site)
    }

    /// Adds a resource that a job or a queue has but no file defines, and returns whether it was
    /// added. A known name keeps its type.
    pub fn add_seen(&mut self, name: &str, input_type: InputType) -> bool {
        !self.entries.contains_key(name) && self.add_from(name, input_type, Origin::Seen)
    }

    fn add_from(&mut self, name: &str, input_type: InputType, origin: Origin) -> bool {
        let mut is_withheld = false;
        if let Some(known) = self.entry(name) {
            if matches!(known.origin, Origin::Special | Origin::Standard) {
                return false;
            }
            // a document may list a resource again after it was withheld
            is_withheld = known.is_withheld;
        }
        // a resource of the site may have negative amounts, whatever its type is
        self.insert(name, input_type, origin, Range::ANY);
        if is_withheld {
            self.withhold(name);
        }
        true
    }

    /// Adds the numbers that Slurm's priority is made of; `weighted` are the names of those of single
    /// resources (TRES).
    pub fn add_slurm<'n>(&mut self, weighted: impl IntoIterator<Item = &'n str>) {
        for &(name, range, _) in SLURM_INPUTS {
            self.insert(name, InputType::Float, Origin::Slurm, range);
        }
        for name in weighted {
            self.insert(name, InputType::Float, Origin::Slurm, Range::ANY);
        }
    }

    /// Records that no job can request a resource of the site.
    pub fn withhold(&mut self, name: &str) {
        if let Some(entry) = self.entries.get_mut(name)
            && entry.origin == Origin::Site
        {
            entry.is_withheld = true;
        }
    }

    fn insert(&mut self, name: &str, input_type: InputType, origin: Origin, range: Range) {
        self.entries.insert(
            name.into(),
            Entry {
                input_type,
                origin,
                range,
                replaced_by: None,
                is_withheld: false,
            },
        );
    }

    /// What is known about `name`; `None` if the schema does not contain it.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// The type of `name`; `None` if the schema does not contain it.
    pub fn input_type(&self, name: &str) -> Option<InputType> {
        Some(self.entry(name)?.input_type)
    }

    /// Where `name` comes from; `None` if the schema does not contain it.
    pub fn origin(&self, name: &str) -> Option<Origin> {
        Some(self.entry(name)?.origin)
    }

    /// Whether a formula may use `name`; `false` for an unknown name.
    pub fn is_numeric(&self, name: &str) -> bool {
        self.input_type(name).is_some_and(InputType::is_numeric)
    }

    /// Every name with its entry, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(name, entry)| (&**name, entry))
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the schema has no names.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The numeric names nearest to the misspelled `name`, nearest first, at most three; none if no
    /// name is near, or if `name` is one that many sites give to a resource of their own, such as
    /// `gpus`.
    pub fn suggestions(&self, name: &str) -> Vec<&str> {
        suggestions::nearest(name, self.numeric_names())
    }

    /// The names that a formula may use.
    pub fn numeric_names(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .filter(|(_, entry)| entry.input_type.is_numeric())
            .map(|(known, _)| known)
    }
}

/// The range of the `Priority` of a job or a queue; the server refuses values outside this range
/// (pbs_job_attributes(7B), pbs_queue_attributes(7B)).
const PRIORITY: Range = Range::new(-1024.0, 1023.0);

/// The inputs that the scheduler provides besides resources and the fair-share numbers.
const SCHEDULER_INPUTS: &[(&str, InputType, Range)] = &[
    (
        "eligible_time",
        InputType::Duration,
        Range::new(0.0, f64::INFINITY),
    ),
    ("queue_priority", InputType::Count, PRIORITY),
    ("job_priority", InputType::Count, PRIORITY),
    (
        "accrue_type",
        InputType::Count,
        // initial, ineligible, eligible, running, exiting
        Range::new(0.0, 4.0),
    ),
];

/// Whether the scheduler computes this input of a formula itself, so that it is not a resource.
pub fn is_scheduler_input(name: &str) -> bool {
    SCHEDULER_INPUTS.iter().any(|(known, ..)| *known == name)
        || FairshareInput::from_name(name).is_some()
}

/// A fair-share number that the scheduler computes for the entity of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FairshareInput {
    /// `fairshare_perc`: the fraction of the whole tree that is allotted to the entity, from 0 to
    /// 1.
    Perc,
    /// `fairshare_tree_usage`: the entity's effective usage, as a fraction of the usage of the
    /// whole tree.
    TreeUsage,
    /// `fairshare_factor`: `2 ** -(fairshare_tree_usage / fairshare_perc)`.
    Factor,
}

impl FairshareInput {
    /// Every name that a formula may use for one of these numbers.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("fairshare_perc", Self::Perc),
        (DEPRECATED_NAME, Self::Perc),
        ("fairshare_tree_usage", Self::TreeUsage),
        ("fairshare_factor", Self::Factor),
    ];

    /// The fair-share input called `name`; the deprecated name is accepted too.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        let (_, input) = names.find(|(known, _)| *known == name)?;
        Some(input)
    }
}

/// The deprecated name of `fairshare_perc`, which OpenPBS still accepts.
const DEPRECATED_NAME: &str = "fair_share_perc";
const CURRENT_NAME: &str = "fairshare_perc";

/// The current name of an input: `fairshare_perc` for the deprecated `fair_share_perc`, else `name`
/// itself.
pub fn current_name(name: &str) -> &str {
    if name == DEPRECATED_NAME {
        CURRENT_NAME
    } else {
        name
    }
}

/// The resources that a server has before the site adds any, by their types: those in its resource table
/// (`master_resc_def_all.xml` in OpenPBS), and `exec_host`, which is not in the table but which the
/// server treats in the same way.
const BUILT_IN_RESOURCES: [(InputType, &str); 6] = [
    (
        InputType::Count,
        "cpupercent hpm mpiprocs naccelerators nchunk ncpus nice nodect ompthreads \
         pcap_accelerator pcap_node ssinodes start_time",
    ),
    (
        InputType::Size,
        "accelerator_memory file hbmem mem pmem pvmem vmem",
    ),
    (
        InputType::Duration,
        "cput max_walltime min_walltime pcput soft_walltime walltime",
    ),
    (InputType::Float, "energy"),
    (InputType::Bool, "accelerator"),
    (
        InputType::Text,
        "accelerator_group accelerator_model aoe arch eoe exec_host exec_vnode host \
         nodemask nodes partition pgov place preempt_targets pstate resc select site \
         software tolerate_node_failures vnode vntype",
    ),
];

const FACTOR: Range = Range::new(0.0, 1.0);

/// An interval from 0 on.
const POSITIVE: Range = Range::new(0.0, f64::INFINITY);

/// The numbers, the values that they can have, and what they follow from. The priorities of
/// associations, partitions and QOS are parts of the largest one, or the numbers themselves under
/// the flags `NO_NORMAL_ASSOC`, `NO_NORMAL_PART` and `NO_NORMAL_QOS`.
const SLURM_INPUTS: &[(&str, Range, &str)] = &[
    (
        "age_factor",
        FACTOR,
        "Slurm: AccrueTime of the job, PriorityMaxAge",
    ),
    (
        "assoc_factor",
        POSITIVE,
        "Slurm: Priority of the association",
    ),
    (
        "assoc_priority",
        POSITIVE,
        "Slurm: Priority of the association, as it is",
    ),
    (
        "job_factor",
        POSITIVE,
        "Slurm: PriorityJobFactor of the partition, as it is",
    ),
    ("ngpus", POSITIVE, "Slurm: gres/gpu of the job"),
    (
        "qos_priority",
        POSITIVE,
        "Slurm: Priority of the QOS, as it is",
    ),
    (
        "direct_priority",
        POSITIVE,
        "Slurm: the priority of a job, if it was set directly",
    ),
    ("nice", Range::ANY, "Slurm: Nice of the job"),
    (
        "partition_factor",
        POSITIVE,
        "Slurm: PriorityJobFactor of the partition",
    ),
    ("qos_factor", POSITIVE, "Slurm: Priority of the QOS"),
    ("site_factor", Range::ANY, "Slurm: SITE in sprio"),
    (
        "size_factor",
        FACTOR,
        "Slurm: nodes and processors of the job and of the cluster, PriorityFavorSmall",
    ),
    (
        "tres_points",
        Range::ANY,
        "Slurm: TRES of the job and of its partition, PriorityWeightTRES",
    ),
];

/// What a number of Slurm's priority follows from.
pub fn slurm_source(name: &str) -> &'static str {
    match SLURM_INPUTS.iter().find(|(known, ..)| *known == name) {
        Some((_, _, source)) => source,
        None => "Slurm: a TRES of the job and of its partition, weighted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_special_names() {
        let schema = Schema::openpbs();
        for name in [
            "eligible_time",
            "queue_priority",
            "job_priority",
            "fairshare_perc",
            "accrue_type",
        ] {
            assert_eq!(
                schema.entry(name).map(|entry| entry.origin),
                Some(Origin::Special),
                "{name}"
            );
            assert!(schema.is_numeric(name));
        }
        assert_eq!(
            schema
                .entry("fair_share_perc")
                .and_then(|entry| entry.replaced_by),
            Some("fairshare_perc")
        );
    }

    #[test]
    fn standard_names_cannot_be_redefined() {
        let mut schema = Schema::openpbs();
        assert!(!schema.add_listed("mem", InputType::Text));
        assert!(schema.is_numeric("mem"));
        assert!(schema.add_listed("gpus", InputType::Text));
        assert!(!schema.add_seen("gpus", InputType::Count));
        assert!(schema.add_listed("gpus", InputType::Count));
        assert!(schema.is_numeric("gpus"));
    }

    #[test]
    fn case_matters_to_the_name_but_not_to_the_suggestion() {
        let schema = Schema::openpbs();
        assert!(schema.entry("NCPUS").is_none());
        assert_eq!(schema.suggestions("NCPUS").first(), Some(&"ncpus"));
        assert_eq!(schema.suggestions("eligible-time"), ["eligible_time"]);
        assert_eq!(schema.suggestions("walltiem"), ["walltime"]);
        assert_eq!(schema.suggestions("nothing_like_it"), [""; 0]);
        assert_eq!(schema.suggestions(""), [""; 0]);
        assert_eq!(schema.suggestions(&"x".repeat(100_000)), [""; 0]);
    }
}
