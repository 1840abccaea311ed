//! How much of a queue or of the server may run at the same time.
//!
//! In: the attributes of a queue or of the server with their values. Out: [`RunLimits`].

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::schema::{InputType, Schema};

use crate::files::objects::Attribute;
use crate::resource_amount::{self, AmountSource};

/// The run limits of one queue or of the server, at most one for each subject and resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// In the order of resources, then of subjects.
    entries: Vec<RunLimit>,
}

/// One run limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimit {
    /// Whose jobs count.
    pub subject: Subject,
    /// The resource whose amounts are added; `None` for the number of jobs.
    pub resource: Option<Box<str>>,
    /// The most that may run: sizes in kb, durations in seconds.
    pub most: i64,
}

/// Whose jobs a limit counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Those of all users together (`o:PBS_ALL`).
    All,
    /// Those of each user without a limit of its own (`u:PBS_GENERIC`).
    EachUser,
    /// Those of one user.
    User(Box<str>),
    /// Those of each group without a limit of its own (`g:PBS_GENERIC`).
    EachGroup,
    /// Those of one group.
    Group(Box<str>),
    /// Those of each project without a limit of its own (`p:PBS_GENERIC`).
    EachProject,
    /// Those of one project.
    Project(Box<str>),
}

/// The run limits of queues by their names, and those of the server under an empty name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LimitsByQueue {
    pub hard: BTreeMap<Box<str>, RunLimits>,
    /// The limits beyond which jobs may be preempted (`max_run_soft` and the like).
    pub soft: BTreeMap<Box<str>, RunLimits>,
    /// The names of the attributes with these.
    pub soft_attributes: BTreeSet<Box<str>>,
    /// The attributes with limits that are not read, each with what it says if only a part of it is
    /// not read.
    pub unread: BTreeSet<Box<str>>,
}

impl LimitsByQueue {
    /// Reads an attribute if it is a run limit. The limits in `max_run` and `max_run_res`, which
    /// name their subjects, are added to those already read.
    ///
    /// The value is a number, or such as `[u:PBS_GENERIC=4], [u:"ada b"=8], [o:PBS_ALL=100]`.
    pub(super) fn read(&mut self, queue: &str, attribute: &Attribute<'_>) {
        let Some(value) = attribute.value.text() else {
            return;
        };
        let hard = attribute.name.strip_suffix("_soft");
        let resource = attribute.resource.as_deref();
        let subject = match (hard.unwrap_or(&attribute.name), resource) {
            ("max_run", None) | ("max_run_res", Some(_)) => None,
            ("max_running", None) => Some(Subject::All),
            ("max_user_run", None) | ("max_user_res", Some(_)) => Some(Subject::EachUser),
            ("max_group_run", None) | ("max_group_res", Some(_)) => Some(Subject::EachGroup),
            (name, _) => {
                if OTHER_ATTRIBUTES.contains(&name) {
                    self.unread.insert(Box::from(&*attribute.name));
                }
                return;
            }
        };
        let all = if hard.is_some() {
            self.soft_attributes.insert(Box::from(&*attribute.name));
            &mut self.soft
        } else {
            &mut self.hard
        };
        let limits = all.entry(queue.into()).or_default();
        let kind = kind_of(resource);
        let found: Vec<(String, Option<RunLimit>)> = match subject {
            Some(subject) => {
                let limit = RunLimit::new(subject, resource, value, kind);
                vec![(value.to_owned(), limit)]
            }
            None => limits_in(value)
                .into_iter()
                .map(|limit| (format!("[{limit}]"), RunLimit::parse(limit, resource, kind)))
                .collect(),
        };
        for (text, limit) in found {
            match limit {
                Some(limit) => limits.set(limit),
                None => {
                    let unread = format!("{} = {text}", attribute.full_name());
                    self.unread.insert(unread.into());
                }
            }
        }
    }

    /// Adds the limits of the queues of another document that have none here.
    pub(super) fn add(&mut self, other: Self) {
        for (queue, limits) in other.hard {
            self.hard.entry(queue).or_insert(limits);
        }
        for (queue, limits) in other.soft {
            self.soft.entry(queue).or_insert(limits);
        }
        self.soft_attributes.extend(other.soft_attributes);
        self.unread.extend(other.unread);
    }
}

/// The limits of running jobs that are found and not read.
const OTHER_ATTRIBUTES: [&str; 1] = ["max_run_subjobs"];

impl RunLimits {
    /// The limits, in the order of resources, then of subjects; those of the number of jobs come
    /// first.
    pub fn iter(&self) -> impl Iterator<Item = &RunLimit> {
        self.entries.iter()
    }

    fn set(&mut self, limit: RunLimit) {
        match self.position(limit.resource.as_deref(), limit.subject.key()) {
            Ok(at) => self.entries[at] = limit,
            Err(at) => self.entries.insert(at, limit),
        }
    }

    fn position(&self, resource: Option<&str>, subject: (u8, &str)) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| {
            entry
                .resource
                .as_deref()
                .cmp(&resource)
                .then_with(|| entry.subject.key().cmp(&subject))
        })
    }
}

impl RunLimit {
    /// `None` if the most is not a whole number.
    fn new(
        subject: Subject,
        resource: Option<&str>,
        most: &str,
        kind: Option<InputType>,
    ) -> Option<Self> {
        Some(Self {
            subject,
            resource: resource.map(Into::into),
            most: whole_amount(most, kind)?,
        })
    }

    /// Reads the inside of one pair of brackets.
    fn parse(limit: &str, resource: Option<&str>, kind: Option<InputType>) -> Option<Self> {
        let (subject, most) = limit.rsplit_once('=')?;
        Self::new(Subject::parse(subject)?, resource, most, kind)
    }
}

impl Subject {
    /// Reads `o:PBS_ALL`, `u:PBS_GENERIC`, `u:ada` and the same for groups (`g`) and projects
    /// (`p`). A name may be quoted.
    fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        let name = name.trim().trim_matches(['"', '\'']);
        Some(match (kind.trim(), name) {
            ("o", "PBS_ALL") => Self::All,
            (_, "" | "PBS_ALL") => return None,
            ("u", "PBS_GENERIC") => Self::EachUser,
            ("u", _) => Self::User(name.into()),
            ("g", "PBS_GENERIC") => Self::EachGroup,
            ("g", _) => Self::Group(name.into()),
            ("p", "PBS_GENERIC") => Self::EachProject,
            ("p", _) => Self::Project(name.into()),
            _ => return None,
        })
    }

    /// What subjects are sorted and found by: their kind, and their name.
    fn key(&self) -> (u8, &str) {
        match self {
            Self::All => (0, ""),
            Self::EachUser => (1, ""),
            Self::User(user) => (2, user),
            Self::EachGroup => (3, ""),
            Self::Group(group) => (4, group),
            Self::EachProject => (5, ""),
            Self::Project(project) => (6, project),
        }
    }
}

/// The inside of each pair of brackets. A bracket in a quoted name is an ordinary character.
fn limits_in(value: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, character) in value.char_indices() {
        match (character, start) {
            (_, Some(_)) if quote == Some(character) => quote = None,
            _ if quote.is_some() => {}
            ('"' | '\'', Some(_)) => quote = Some(character),
            ('[', None) => start = Some(at + 1),
            (']', Some(from)) => {
                found.push(&value[from..at]);
                start = None;
            }
            _ => {}
        }
    }
    // a list that was cut off, or no list at all
    let rest = start.map_or(if found.is_empty() { value } else { "" }, |from| {
        &value[from..]
    });
    found.extend(Some(rest.trim()).filter(|rest| !rest.is_empty()));
    found
}

/// The type of a resource that OpenPBS defines.
fn kind_of(resource: Option<&str>) -> Option<InputType> {
    Schema::openpbs().input_type(resource?)
}

/// An amount that the server wrote, if it is a whole number and not negative: in kb for a size, in
/// seconds for a duration.
pub fn whole_amount(text: &str, kind: Option<InputType>) -> Option<i64> {
    let amount = resource_amount::whole_amount(text.trim(), kind, AmountSource::Server)?;
    (amount >= 0).then_some(amount)
}

#[cfg(test)]
impl RunLimits {
    fn find(&self, resource: Option<&str>, subject: (u8, &str)) -> Option<i64> {
        self.position(resource, subject)
            .ok()
            .map(|at| self.entries[at].most)
    }

    pub(super) fn of_all(&self, resource: Option<&str>) -> Option<i64> {
        self.find(resource, (0, ""))
    }

    /// The limit of a user, else that of each user.
    pub(super) fn of_user(&self, resource: Option<&str>, user: &str) -> Option<i64> {
        self.find(resource, (2, user))
            .or_else(|| self.find(resource, (1, "")))
    }

    /// The limit of a group, else that of each group.
    pub(super) fn of_group(&self, resource: Option<&str>, group: &str) -> Option<i64> {
        self.find(resource, (4, group))
            .or_else(|| self.find(resource, (3, "")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::objects::Objects;

    fn read(attributes: &[(&str, &str)]) -> (RunLimits, Vec<String>) {
        let mut limits = LimitsByQueue::default();
        let listing: String = attributes
            .iter()
            .map(|(name, value)| format!("    {name} = {value}\n"))
            .collect();
        for attribute in &Objects::read(&listing).attributes {
            limits.read("q", attribute);
        }
        (
            limits.hard.get("q").cloned().unwrap_or_default(),
            limits.unread.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn a_named_limit_replaces_that_of_each() {
        let (limits, unread) = read(&[
            ("max_run", "[u:PBS_GENERIC=4], [u:ada=8],[g:x=3]"),
            ("max_run", "[p:PBS_GENERIC=2]"),
            (
                "max_run",
                "[o:PBS_ALL=100], [u:\"a]b=c\"=0], [g:PBS_GENERIC = 5], [p:p=1]",
            ),
            ("max_run_res.mem", "[u:PBS_GENERIC=4gb]"),
            ("max_run_res.walltime", "[o:PBS_ALL=100:00:00]"),
        ]);
        assert_eq!(unread, [""; 0]);
        assert_eq!(
            ["ada", "bob", "a]b=c"].map(|user| limits.of_user(None, user)),
            [Some(8), Some(4), Some(0)]
        );
        assert_eq!(
            ["x", "y"].map(|group| limits.of_group(None, group)),
            [Some(3), Some(5)]
        );
        let of_projects = [(5, ""), (6, "p")].map(|project| limits.find(None, project));
        assert_eq!(of_projects, [Some(2), Some(1)]);
        assert_eq!(
            (limits.of_all(None), limits.of_all(Some("walltime"))),
            (Some(100), Some(360_000))
        );
        assert_eq!(
            (
                limits.of_user(Some("mem"), "ada"),
                limits.of_user(Some("ncpus"), "ada")
            ),
            (Some(4 << 20), None)
        );
        let resources: Vec<Option<&str>> = limits
            .iter()
            .map(|limit| limit.resource.as_deref())
            .collect();
        assert_eq!(
            resources,
            [[None; 8].as_slice(), &[Some("mem"), Some("walltime")]].concat()
        );
    }

    #[test]
    fn the_older_attributes_have_one_number() {
        let (limits, unread) = read(&[
            ("max_running", "7"),
            ("max_user_run", "3"),
            ("max_group_run", "5"),
            ("max_user_res.ncpus", "16"),
            ("max_group_res.mem", "1gb"),
        ]);
        assert_eq!(unread, [""; 0]);
        assert_eq!(
            (
                limits.of_all(None),
                limits.of_user(None, "a"),
                limits.of_group(None, "g")
            ),
            (Some(7), Some(3), Some(5))
        );
        assert_eq!(
            (
                limits.of_user(Some("ncpus"), "a"),
                limits.of_group(Some("mem"), "g")
            ),
            (Some(16), Some(1 << 20))
        );
    }

    #[test]
    fn what_is_not_read_is_named() {
        let (limits, unread) = read(&[
            (
                "max_run",
                "[u:a=x], [z:a=1], [u:b=-1], u:c=1, [u:d=2], [u:e=3",
            ),
            ("max_running", "many"),
            ("max_run_res.f", "[u:a=1.5]"),
            ("max_run_soft", "[u:a=1]"),
            ("max_run_res_soft.ncpus", "[u:a=1]"),
            ("max_queued", "[u:a=1]"),
        ]);
        let named: Vec<&Subject> = limits.iter().map(|limit| &limit.subject).collect();
        assert_eq!(
            named,
            [&Subject::User("d".into()), &Subject::User("e".into())]
        );
        assert_eq!(
            unread,
            [
                "max_run = [u:a=x]",
                "max_run = [u:b=-1]",
                "max_run = [z:a=1]",
                "max_run_res.f = [u:a=1.5]",
                "max_running = many"
            ]
        );
    }
}
