//! The attributes of one job as its document has them, whichever format it has.

use std::borrow::Cow;

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};

use crate::cycle_jobs::CycleKey;
use crate::job_converter::JobConverter;
use crate::job_key::{JobKey, SpecialInput};
use crate::known_names::NameIndex;

/// The most resources and the most inputs of a job.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// The most problems of a job that are reported.
pub(super) const MAX_PROBLEMS: usize = 1000;
/// What follows from a key that is given more than once.
pub(super) const LAST_COUNTS: &str = "the last one counts";

/// A resource or an input of a job.
pub(super) type Amount<'d> = (NameIndex, JsonScalar<'d>);

/// The attributes of one job as its document has them.
#[derive(Debug, Default)]
pub(super) struct ParsedJob<'d> {
    pub id: Option<Cow<'d, str>>,
    /// The line, if the document has a job per line.
    pub line: Option<usize>,
    /// The entity, if the document names it; otherwise it is derived from the following attributes.
    pub entity: Option<Cow<'d, str>>,
    pub user: Cow<'d, str>,
    pub group: Cow<'d, str>,
    pub account: Cow<'d, str>,
    /// `Job_Owner`: the user and the host of the submission.
    pub owner: Cow<'d, str>,
    pub queue: Cow<'d, str>,
    pub state: Option<JsonScalar<'d>>,
    pub queued_at: Option<JsonScalar<'d>>,
    pub special: Vec<(SpecialInput, JsonScalar<'d>)>,
    /// Whether the job has a list of resources.
    pub has_resources: bool,
    pub resources: Vec<Amount<'d>>,
    /// Ready-made inputs, which are passed on unchanged.
    pub inputs: Vec<Amount<'d>>,
    /// What only a scheduling cycle needs, if it is read.
    pub cycle: Vec<(CycleKey, JsonScalar<'d>)>,
    pub problems: Vec<Problem>,
    pub is_rejected: bool,
    /// The keys that were given, and those that were given more than once.
    given: Vec<JobKey>,
    repeated: Vec<JobKey>,
}

impl<'d> ParsedJob<'d> {
    /// A job whose id precedes its attributes.
    pub(super) fn with_id(id: &'d str) -> Self {
        Self {
            id: Some(Cow::Borrowed(id)),
            ..Self::default()
        }
    }

    /// The id; empty if the job has none.
    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Removes all attributes, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.special.clear();
        self.resources.clear();
        self.inputs.clear();
        self.cycle.clear();
        self.problems.clear();
        self.given.clear();
        self.repeated.clear();
        self.id = None;
        self.line = None;
        self.entity = None;
        self.state = None;
        self.queued_at = None;
        for name in [
            &mut self.user,
            &mut self.group,
            &mut self.account,
            &mut self.owner,
            &mut self.queue,
        ] {
            *name = Cow::Borrowed("");
        }
        self.has_resources = false;
        self.is_rejected = false;
    }

    /// Notes that the document gives a key, other than that of a resource, and reports one that is
    /// given again.
    pub(super) fn note_given(&mut self, key: JobKey, name: &str) {
        if !self.given.contains(&key) {
            self.given.push(key);
        } else if !self.repeated.contains(&key) {
            self.repeated.push(key);
            let is_list = matches!(key, JobKey::Resources | JobKey::Inputs);
            let consequence = if is_list {
                "the lists are joined"
            } else {
                LAST_COUNTS
            };
            self.push_problem(Problem::Repeated {
                key: clipped(name).into_owned(),
                consequence,
            });
        }
    }

    /// Sets the attribute `key`, which the document calls `name`.
    #[inline]
    pub(super) fn set(&mut self, key: JobKey, name: &str, scalar: JsonScalar<'d>) {
        match key {
            JobKey::Resource(resource) => push_entry(&mut self.resources, resource, scalar),
            _ => self.set_attribute(key, name, scalar),
        }
    }

    fn set_attribute(&mut self, key: JobKey, name: &str, scalar: JsonScalar<'d>) {
        if !matches!(key, JobKey::Unused | JobKey::Unknown) {
            self.note_given(key, name);
        }
        match key {
            JobKey::State => self.state = Some(scalar),
            JobKey::QueuedAt => self.queued_at = Some(scalar),
            JobKey::Special(special) => {
                match self.special.iter_mut().find(|(given, _)| *given == special) {
                    Some((_, given)) => *given = scalar,
                    None => self.special.push((special, scalar)),
                }
            }
            JobKey::Id
            | JobKey::Entity
            | JobKey::User
            | JobKey::Group
            | JobKey::Account
            | JobKey::Owner
            | JobKey::Queue => self.set_name(key, name, scalar),
            JobKey::Cycle(key) => self.cycle.push((key, scalar)),
            JobKey::Resource(_)
            | JobKey::Resources
            | JobKey::Inputs
            | JobKey::CycleList
            | JobKey::Unused
            | JobKey::Unknown => {}
        }
    }

    fn set_name(&mut self, key: JobKey, attribute: &str, scalar: JsonScalar<'d>) {
        let text = match scalar {
            JsonScalar::String(text) => text,
            JsonScalar::Number(digits) => Cow::Borrowed(digits),
            JsonScalar::Other(found) => return self.report(attribute, found, "a string"),
        };
        if !text.is_ascii() && text.contains(char::REPLACEMENT_CHARACTER) {
            let what =
                format!("`{attribute}` contains bytes that are not UTF-8, which are replaced");
            self.push_problem(Problem::Repaired { what });
        }
        match key {
            JobKey::Id => self.id = Some(text),
            JobKey::Entity => self.entity = Some(text),
            JobKey::User => self.user = text,
            JobKey::Group => self.group = text,
            JobKey::Account => self.account = text,
            JobKey::Owner => self.owner = text,
            _ => self.queue = text,
        }
    }

    /// Reports an attribute that is not what it should be.
    pub(super) fn report(&mut self, attribute: &str, found: &str, expected: &'static str) {
        let attribute = attribute.to_owned();
        self.push_problem(Problem::Attribute {
            attribute,
            found: found.to_owned(),
            expected,
        });
    }

    /// Adds a problem that does not reject the job, unless it has very many.
    pub(super) fn push_problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Reports an unknown key, unless the job has it again.
    pub(super) fn push_unknown_key(&mut self, key: &str, converter: &JobConverter<'_>) {
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        for problem in &self.problems {
            if matches!(problem, Problem::UnknownKey { key: known, .. } if *known == clipped(key)) {
                return;
            }
        }
        self.problems.extend(converter.unknown_key(key));
    }

    /// Reports an attribute without which the job cannot be evaluated.
    pub(super) fn reject(&mut self, attribute: &str, found: &str, expected: &'static str) {
        if !std::mem::replace(&mut self.is_rejected, true) {
            let attribute = attribute.to_owned();
            self.problems.push(Problem::WrongInput {
                attribute,
                found: found.to_owned(),
                expected,
            });
        }
    }
}

/// Adds an amount or an input of a job, unless there are already more than a job may have.
#[inline]
pub(super) fn push_entry<'d>(
    entries: &mut Vec<Amount<'d>>,
    name: NameIndex,
    scalar: JsonScalar<'d>,
) {
    if entries.len() <= MAX_ENTRIES {
        entries.push((name, scalar));
    }
}
