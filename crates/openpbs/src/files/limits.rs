//! How much of a queue or of the server may run at the same time.
//!
//! In: the attributes of a queue or of the server with their values. Out: [`RunLimits`].

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::schema::{InputType, Schema};

use crate::cycle::LimitKind;
use crate::files::objects::Attribute;
use crate::resource_amount::{self, AmountSource};

/// The run limits of one queue or of the server, at most one for each subject and resource: those
/// of the number of jobs first, then in the order of resources and of subjects.
pub type RunLimits = Vec<RunLimit>;

/// One run limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimit {
    /// The resource whose amounts are added; `None` for the number of jobs.
    pub resource: Option<Box<str>>,
    /// Whose jobs count: those of all users together (`o:PBS_ALL`), or of one user, group or
    /// project.
    pub kind: LimitKind,
    /// The user, the group or the project; `None` for each without a limit of its own
    /// (`PBS_GENERIC`).
    pub name: Option<Box<str>>,
    /// The most that may run: sizes in kb, durations in seconds.
    pub most: i64,
}

/// The run limits of queues by their names, and those of the server under an empty name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitsByQueue {
    /// The limits beyond which no job starts.
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
        let kind = match (hard.unwrap_or(&attribute.name), resource) {
            ("max_run", None) | ("max_run_res", Some(_)) => None,
            ("max_running", None) => Some(LimitKind::All),
            ("max_user_run", None) | ("max_user_res", Some(_)) => Some(LimitKind::User),
            ("max_group_run", None) | ("max_group_res", Some(_)) => Some(LimitKind::Group),
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
        // once for all limits of the attribute
        let input_type = resource.and_then(|resource| Schema::openpbs().input_type(resource));
        let mut found = Vec::new();
        if let Some(kind) = kind {
            let limit = RunLimit::new(kind, None, resource, input_type, value);
            found.push((value.to_owned(), limit));
        } else {
            for limit in limits_in(value) {
                let parsed = RunLimit::parse(limit, resource, input_type);
                found.push((format!("[{limit}]"), parsed));
            }
        }
        for (text, limit) in found {
            let Some(limit) = limit else {
                let unread = format!("{} = {text}", attribute.full_name());
                self.unread.insert(unread.into());
                continue;
            };
            limits.push(limit);
        }
    }

    /// Brings the limits that were read into their order. Of those with the same subject and
    /// resource the last one counts.
    pub(super) fn sort(&mut self) {
        for limits in self.hard.values_mut().chain(self.soft.values_mut()) {
            limits.reverse();
            limits.sort_by(|limit, other| limit.key().cmp(&other.key()));
            limits.dedup_by(|limit, last| limit.key() == last.key());
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

impl RunLimit {
    /// `None` if the most is not a whole number.
    fn new(
        kind: LimitKind,
        name: Option<&str>,
        resource: Option<&str>,
        input_type: Option<InputType>,
        most: &str,
    ) -> Option<Self> {
        Some(Self {
            resource: resource.map(Into::into),
            kind,
            name: name.map(Into::into),
            most: whole_amount(most, input_type)?,
        })
    }

    /// Reads the inside of one pair of brackets: `o:PBS_ALL=4`, `u:PBS_GENERIC=4`, `u:ada=4` and the
    /// same for groups (`g`) and projects (`p`). A name may be quoted.
    fn parse(limit: &str, resource: Option<&str>, input_type: Option<InputType>) -> Option<Self> {
        let (subject, most) = limit.rsplit_once('=')?;
        let (letter, name) = subject.split_once(':')?;
        let name = name.trim().trim_matches(['"', '\'']);
        let kind = match (letter.trim(), name) {
            ("o", "PBS_ALL") => return Self::new(LimitKind::All, None, resource, input_type, most),
            (_, "" | "PBS_ALL") => return None,
            ("u", _) => LimitKind::User,
            ("g", _) => LimitKind::Group,
            ("p", _) => LimitKind::Project,
            _ => return None,
        };
        let name = if name == "PBS_GENERIC" {
            None
        } else {
            Some(name)
        };
        Self::new(kind, name, resource, input_type, most)
    }

    /// What limits are sorted and found by.
    fn key(&self) -> (Option<&str>, u8, Option<&str>) {
        let kind = match self.kind {
            LimitKind::All => 0,
            LimitKind::User => 1,
            LimitKind::Group => 2,
            LimitKind::Project => 3,
            // not of run limits
            LimitKind::Subjobs | LimitKind::Available => 4,
        };
        (self.resource.as_deref(), kind, self.name.as_deref())
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
    let rest = match start {
        Some(from) => value[from..].trim(),
        None if found.is_empty() => value.trim(),
        None => "",
    };
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

/// An amount that the server wrote, if it is a whole number and not negative: in kb for a size, in
/// seconds for a duration.
pub fn whole_amount(text: &str, kind: Option<InputType>) -> Option<i64> {
    let amount = resource_amount::whole_amount(text.trim(), kind, AmountSource::Server)?;
    if amount < 0 { None } else { Some(amount) }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// The limit of a user or a group, else that of each.
    pub(crate) fn limit_of(
        limits: &RunLimits,
        resource: Option<&str>,
        kind: LimitKind,
        name: &str,
    ) -> Option<i64> {
        let find = |name: Option<&str>| {
            let mut limits = limits.iter();
            limits.find(|limit| {
                limit.kind == kind
                    && limit.resource.as_deref() == resource
                    && limit.name.as_deref() == name
            })
        };
        let found = find(Some(name)).or_else(|| find(None))?;
        Some(found.most)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::limit_of;
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
            ["ada", "bob", "a]b=c"].map(|user| limit_of(&limits, None, LimitKind::User, user)),
            [Some(8), Some(4), Some(0)]
        );
        assert_eq!(
            ["x", "y"].map(|group| limit_of(&limits, None, LimitKind::Group, group)),
            [Some(3), Some(5)]
        );
        let of_projects =
            ["", "p"].map(|project| limit_of(&limits, None, LimitKind::Project, project));
        assert_eq!(of_projects, [Some(2), Some(1)]);
        assert_eq!(
            (
                limit_of(&limits, None, LimitKind::All, ""),
                limit_of(&limits, Some("walltime"), LimitKind::All, "")
            ),
            (Some(100), Some(360_000))
        );
        assert_eq!(
            (
                limit_of(&limits, Some("mem"), LimitKind::User, "ada"),
                limit_of(&limits, Some("ncpus"), LimitKind::User, "ada")
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
                limit_of(&limits, None, LimitKind::All, ""),
                limit_of(&limits, None, LimitKind::User, "a"),
                limit_of(&limits, None, LimitKind::Group, "g")
            ),
            (Some(7), Some(3), Some(5))
        );
        assert_eq!(
            (
                limit_of(&limits, Some("ncpus"), LimitKind::User, "a"),
                limit_of(&limits, Some("mem"), LimitKind::Group, "g")
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
        let named: Vec<_> = limits
            .iter()
            .map(|limit| (limit.kind, limit.name.as_deref()))
            .collect();
        let expected = ["d", "e"].map(|user| (LimitKind::User, Some(user)));
        assert_eq!(named, expected);
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
