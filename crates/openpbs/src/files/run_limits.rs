//! How much of a queue or of the server may run at the same time.
//!
//! In: the attributes of the server and the queues. Out: [`LimitsByQueue`].

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::schema::{InputType, Schema};

use crate::amounts::{self, AmountSource};
use crate::files::objects::Attribute;

/// Whose jobs a limit counts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitKind {
    /// Those of a group.
    Group,
    /// Those of a project.
    Project,
    /// All.
    All,
    /// Those of a user.
    User,
    /// The subjobs of an array, by its `max_run_subjobs`.
    Subjobs,
    /// All: what `resources_available` has.
    Available,
}

/// The run limits of one queue or of the server: the most that may run, sizes in kb and durations in
/// seconds.
type RunLimits = BTreeMap<RunLimit, i64>;

/// What a run limit counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunLimit {
    /// The resource whose amounts are added; `None` for the number of jobs.
    pub resource: Option<Box<str>>,
    /// Whose jobs count: those of all users together (`o:PBS_ALL`), or of one user, group or
    /// project.
    pub kind: LimitKind,
    /// The user, the group or the project; `None` for each without a limit of its own
    /// (`PBS_GENERIC`).
    pub name: Option<Box<str>>,
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
    /// name their subjects, are added to those already read; of one given twice the last one counts.
    ///
    /// The value is a number, or such as `[u:PBS_GENERIC=4], [u:"ada b"=8], [o:PBS_ALL=100]`.
    pub fn read(&mut self, queue: &str, attribute: &Attribute<'_>) {
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
            ("max_run_subjobs", _) => {
                self.unread.insert(Box::from(&*attribute.name));
                return;
            }
            _ => return,
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
        let entries = match kind {
            Some(kind) => vec![(value.to_owned(), Some((kind, None, value)))],
            None => limits_in(value)
                .into_iter()
                .map(|limit| (format!("[{limit}]"), subject_and_most(limit)))
                .collect(),
        };
        for (text, entry) in entries {
            if let Some((kind, name, most)) = entry
                && let Some(most) = whole_amount(most, input_type)
            {
                let resource = resource.map(Into::into);
                let name = name.map(Into::into);
                let limit = RunLimit {
                    resource,
                    kind,
                    name,
                };
                limits.insert(limit, most);
            } else {
                let unread = format!("{} = {text}", attribute.full_name());
                self.unread.insert(unread.into());
            }
        }
    }

    /// Adds the limits of the queues of another document that have none here.
    pub fn add(&mut self, other: Self) {
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

/// Whose jobs a limit counts, the name of these and the most, from the inside of one pair of brackets:
/// `o:PBS_ALL=4`, `u:PBS_GENERIC=4`, `u:ada=4` and the same for groups (`g`) and projects (`p`). A name
/// may be quoted.
fn subject_and_most(limit: &str) -> Option<(LimitKind, Option<&str>, &str)> {
    let (subject, most) = limit.rsplit_once('=')?;
    let (letter, name) = subject.split_once(':')?;
    let name = name.trim().trim_matches(['"', '\'']);
    let kind = match (letter.trim(), name) {
        ("o", "PBS_ALL") => return Some((LimitKind::All, None, most)),
        (_, "" | "PBS_ALL") => return None,
        ("u", _) => LimitKind::User,
        ("g", _) => LimitKind::Group,
        ("p", _) => LimitKind::Project,
        _ => return None,
    };
    let name = Some(name).filter(|name| *name != "PBS_GENERIC");
    Some((kind, name, most))
}

/// The inside of each pair of brackets, or all of a text without brackets. What separates the pairs is
/// not looked at: `qmgr` takes them with and without commas.
fn limits_in(value: &str) -> Vec<&str> {
    let mut limits = Vec::new();
    if !value.contains('[') && !value.trim().is_empty() {
        limits.push(value.trim());
    }
    let mut rest = value;
    while let Some((_, inside)) = rest.split_once('[') {
        // a list may be cut off
        let end = closing_bracket(inside).unwrap_or(inside.len());
        limits.push(inside[..end].trim());
        rest = &inside[end..];
    }
    limits
}

/// Where the bracket of a limit such as `u:"ada [b]"=8]` is closed. Quotes are those around a whole
/// name: in `u:o'neil=8` there are none.
fn closing_bracket(inside: &str) -> Option<usize> {
    let mut from = inside.find([':', ']'])?;
    let name = inside[from..].trim_start_matches(':').trim_start();
    if let Some(quote @ ('"' | '\'')) = name.chars().next() {
        let opened = inside.len() - name.len() + 1;
        from = opened + inside[opened..].find(quote)?;
    }
    Some(from + inside[from..].find(']')?)
}

/// An amount that the server wrote, if it is a whole number and not negative: in kb for a size, in
/// seconds for a duration.
pub fn whole_amount(text: &str, kind: Option<InputType>) -> Option<i64> {
    let amount = amounts::whole_amount(text.trim(), kind, AmountSource::Server)?;
    if amount < 0 { None } else { Some(amount) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::objects::Objects;
    use crate::files::queues::Queues;

    /// The limit of a user or a group, else that of each.
    fn limit_of(
        limits: &RunLimits,
        resource: Option<&str>,
        kind: LimitKind,
        name: &str,
    ) -> Option<i64> {
        let find = |name: Option<&str>| {
            limits.get(&RunLimit {
                resource: resource.map(Into::into),
                kind,
                name: name.map(Into::into),
            })
        };
        find(Some(name)).or_else(|| find(None)).copied()
    }

    #[test]
    fn limits_of_running_jobs() {
        let json = r#"{"Server":{"vm":{"max_run":"[o:PBS_ALL=9]","max_run_res":{"ncpus":"[u:PBS_GENERIC=8]"},"max_run_res_soft":{"ncpus":"[u:a=1]"}}},
            "Queue":{"q":{"max_run":"[u:PBS_GENERIC=4], [u:ada=8],[g:g=1]"},"old":{"max_user_run":3,"max_running":"7"}}}"#;
        let qmgr = "set server max_run = [o:PBS_ALL=9]\nset server max_run_res.ncpus = [u:PBS_GENERIC=8]\nset server max_run_res_soft.ncpus = [u:a=1]\ncreate queue q\nset queue q max_run = [u:PBS_GENERIC=4]\nset queue q max_run += [u:ada=8]\nset queue q max_run += \"[g:g=1]\"\ncreate queue old\nset queue old max_user_run = 3\nset queue old max_running = 7\n";
        let text = "Server: vm\n    max_run = [o:PBS_ALL=9]\n    max_run_res.ncpus = [u:PBS_GENERIC=8]\n    max_run_res_soft.ncpus = [u:a=1]\nQueue: q\n    max_run = [u:PBS_GENERIC=4],[u:ada=8],[g:g=1]\nQueue: old\n    max_user_run = 3\n    max_running = 7\n";
        for document in [json, qmgr, text] {
            let queues = Queues::read("s", &Objects::read(document)).unwrap();
            let limits = ["", "q", "old"].map(|queue| {
                let limits = queues.limits.hard.get(queue).unwrap();
                (
                    limit_of(limits, None, LimitKind::All, ""),
                    limit_of(limits, None, LimitKind::User, "bob"),
                    limit_of(limits, None, LimitKind::User, "ada"),
                )
            });
            assert_eq!(
                limits,
                [
                    (Some(9), None, None),
                    (None, Some(4), Some(8)),
                    (Some(7), Some(3), Some(3))
                ],
                "{document}"
            );
            assert_eq!(
                limit_of(
                    queues.limits.hard.get("").unwrap(),
                    Some("ncpus"),
                    LimitKind::User,
                    "ada"
                ),
                Some(8),
                "{document}"
            );
            assert_eq!(
                limit_of(
                    queues.limits.hard.get("q").unwrap(),
                    None,
                    LimitKind::Group,
                    "g"
                ),
                Some(1),
                "{document}"
            );
            assert!(queues.limits.soft.contains_key(""), "{document}");
        }
    }

    #[test]
    fn a_list_that_qstat_breaks_is_read_whole() {
        let text =
            "Queue: q\n    max_run = [u:a=1],[u:b=2],\n\t[u:c=3],[u:d=4]\n    Priority = 7\n";
        let queues = Queues::read("q", &Objects::read(text)).unwrap();
        let limits = queues.limits.hard.get("q").unwrap();
        assert_eq!(
            ["a", "b", "c", "d"].map(|user| limit_of(limits, None, LimitKind::User, user)),
            [1, 2, 3, 4].map(Some)
        );
        assert_eq!(queues.priority("q"), Some(7));
    }

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
            .keys()
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
    fn limits_need_no_commas_and_an_apostrophe_is_no_quote() {
        for value in [
            "[u:o'neil=1],[u:ada=0]",
            "[u:o'neil=1] [u:ada=0]",
            "[u:o'neil=1][u:'ada'=0]",
            "x [u:o'neil=1], [u: \"ada\" =0]",
        ] {
            let (limits, unread) = read(&[("max_run", value)]);
            assert_eq!(unread, [""; 0], "{value}");
            let of_user = |user| limit_of(&limits, None, LimitKind::User, user);
            assert_eq!(
                ["o'neil", "ada"].map(of_user),
                [Some(1), Some(0)],
                "{value}"
            );
        }
    }

    #[test]
    fn what_is_not_read_is_named() {
        let (limits, unread) = read(&[
            (
                "max_run",
                "[u:a=x], [z:a=1], [u:b=-1], u:c=1, [u:d=2], [u:e=3",
            ),
            ("max_run", "[]"),
            ("max_running", "many"),
            ("max_run_res.f", "[u:a=1.5]"),
            ("max_run_soft", "[u:a=1]"),
            ("max_run_res_soft.ncpus", "[u:a=1]"),
            ("max_queued", "[u:a=1]"),
        ]);
        let named: Vec<_> = limits
            .keys()
            .map(|limit| (limit.kind, limit.name.as_deref()))
            .collect();
        let expected = ["d", "e"].map(|user| (LimitKind::User, Some(user)));
        assert_eq!(named, expected);
        assert_eq!(
            unread,
            [
                "max_run = []",
                "max_run = [u:a=x]",
                "max_run = [u:b=-1]",
                "max_run = [z:a=1]",
                "max_run_res.f = [u:a=1.5]",
                "max_running = many"
            ]
        );
    }
}
