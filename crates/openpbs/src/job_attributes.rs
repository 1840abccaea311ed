//! What the attributes of a job or a reservation say: the chunks that a `select` asks for, and what
//! an `exec_vnode` or `resv_nodes` has of the nodes; the number of processors alone, also of what
//! Torque writes of a request and of its hosts; the array of a subjob and the indices of an array;
//! and the fair-share entity that is charged.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use job_sort_formula::Schema;

use crate::amounts::{AmountSource, whole_amount};

/// Chunks that are alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// How many.
    pub count: u32,
    /// What each of them requests: whole amounts, sizes in kb, durations in seconds.
    pub amounts: BTreeMap<Box<str>, i64>,
    /// What each of them requests that is not a number, such as a host.
    pub others: Vec<(Box<str>, Box<str>)>,
}

impl Chunk {
    /// Reads a `select`, such as `2:ncpus=4:mem=1gb+ncpus=1`.
    pub fn read_select(select: &str, source: AmountSource, schema: &Schema) -> Vec<Self> {
        // the value of a string resource may contain the separators if it is in quotes
        let chunks = split_unquoted(select, '+').into_iter();
        chunks
            .map(|chunk| Self::read(chunk, source, schema))
            .collect()
    }

    /// Reads `2:ncpus=4:mem=1gb`; the number is 1 if it is missing.
    fn read(text: &str, source: AmountSource, schema: &Schema) -> Self {
        let parts = split_unquoted(text, ':');
        let mut chunk = Self {
            count: parts[0].trim().parse().unwrap_or(1),
            ..Self::default()
        };
        for part in parts {
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            let value = value.trim_matches(['"', '\'']);
            match whole_amount(value, schema.input_type(name), source) {
                Some(amount) => _ = chunk.amounts.insert(name.into(), amount),
                None => chunk.others.push((name.into(), value.into())),
            }
        }
        chunk
    }
}

/// What a job or a reservation has on a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacedChunk {
    /// The node.
    pub node: Box<str>,
    /// What it has there: whole amounts, sizes in kb, durations in seconds.
    pub amounts: BTreeMap<Box<str>, i64>,
}

impl PlacedChunk {
    /// Reads `(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)`.
    pub fn read_all(text: &str, source: AmountSource, schema: &Schema) -> Vec<Self> {
        let mut chunks = Vec::new();
        // parentheses join the vnodes of one chunk; here only what is held on each vnode matters
        for part in split_unquoted(text, '+') {
            let part = part.trim().trim_matches(['(', ')']);
            let node = part.split(':').next().unwrap_or_default();
            if !node.is_empty() {
                chunks.push(Self {
                    node: node.into(),
                    amounts: Chunk::read(part, source, schema).amounts,
                });
            }
        }
        chunks
    }
}

/// The parts of a text between separators that are not in quotes.
pub(crate) fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
    let mut quote = None;
    let parts = text.split(|character| {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            _ => {}
        }
        quote.is_none() && character == separator
    });
    parts.collect()
}

/// The processors of a `select` such as `2:ncpus=8+ncpus=1`; `None` if it does not say.
pub fn processors_of_select(select: &str) -> Option<i64> {
    let chunks = split_unquoted(select, '+').into_iter();
    positive_sum(chunks.map(|chunk| {
        let mut parts = split_unquoted(chunk, ':').into_iter();
        let ncpus: i64 = parts.find_map(|part| part.strip_prefix("ncpus=")?.parse().ok())?;
        count(chunk).checked_mul(ncpus)
    }))
}

/// The processors of Torque's `nodes`, such as `4:ppn=8:bigmem+node7:ppn=2#shared`: of a chunk
/// without a number one node, of a node without `ppn` one processor; `None` for an empty text.
pub fn processors_of_nodes(nodes: &str) -> Option<i64> {
    // what follows `#`, such as `shared`, is a property that all nodes are to have
    let nodes = nodes.split('#').next().filter(|nodes| !nodes.is_empty())?;
    positive_sum(nodes.split('+').map(|chunk| {
        let mut parts = chunk.split(':');
        let ppn = parts.find_map(|part| part.strip_prefix("ppn="));
        count(chunk).checked_mul(ppn.unwrap_or("1").parse().ok()?)
    }))
}

/// The processors of an `exec_vnode` such as `(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)`.
pub fn processors_of_exec_vnode(vnodes: &str) -> Option<i64> {
    let parts = vnodes.split(['(', ')', '+', ':']);
    let amounts = parts.filter_map(|part| part.strip_prefix("ncpus="));
    positive_sum(amounts.map(|ncpus| ncpus.parse().ok()))
}

/// The processors of an `exec_host`: OpenPBS writes `vn1/0*4+vn2/1`, Torque `n1/0+n1/1` or
/// `n1/0-5,7+n2/0`.
pub fn processors_of_exec_host(hosts: &str) -> Option<i64> {
    if hosts.is_empty() {
        return None;
    }
    positive_sum(hosts.split('+').map(|host| {
        let Some((_, slots)) = host.split_once('/') else {
            return Some(1);
        };
        match slots.split_once('*') {
            Some((_, ncpus)) => ncpus.parse().ok(),
            None => sum(slots.split(',').map(slots_in)),
        }
    }))
}

/// The sum of amounts; `None` if one cannot be read.
fn sum(amounts: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    let mut total: i64 = 0;
    for amount in amounts {
        total = total.checked_add(amount?)?;
    }
    Some(total)
}

/// The sum of amounts, if it is above 0.
fn positive_sum(amounts: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    sum(amounts).filter(|total| *total > 0)
}

/// The number of slots in a range such as `0-5`, or in the number of one slot.
fn slots_in(range: &str) -> Option<i64> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

/// How often a chunk is asked for.
fn count(chunk: &str) -> i64 {
    let first = chunk.split(':').next().unwrap_or_default();
    first.parse().unwrap_or(1)
}

/// Whether an id is that of an array.
pub fn is_array(id: &str) -> bool {
    id.split('.').next().unwrap_or_default().ends_with("[]")
}

/// The id of the array of a subjob, and the index of the subjob; `None` for an id of another job.
///
/// ```
/// use jsf_openpbs::job_attributes::array_and_index;
///
/// assert_eq!(array_and_index("12[3].vm"), Some(("12[].vm".to_owned(), 3)));
/// assert_eq!(array_and_index("12[].vm"), None);
/// ```
pub fn array_and_index(id: &str) -> Option<(String, u32)> {
    let (number, rest) = id.split_once('[')?;
    let (index, server) = rest.split_once(']')?;
    Some((format!("{number}[]{server}"), index.parse().ok()?))
}

/// The indices of subjobs, such as `0-9:3,12`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrayIndices {
    /// First, last and step.
    ranges: Vec<(u32, u32, u32)>,
}

impl ArrayIndices {
    /// Reads indices, without what follows `%`; an empty text and `-` are none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('%').next().unwrap_or_default().trim();
        // the server writes `-` where no subjob is left (`update_array_indices_remaining_attr`)
        if matches!(text, "" | "-") {
            return Some(Self::default());
        }
        let mut ranges = Vec::new();
        for range in text.split(',') {
            ranges.push(parse_range(range.trim())?);
        }
        Some(Self { ranges })
    }

    /// So many indices from 0 on.
    pub fn first(count: u32) -> Self {
        let mut ranges = Vec::new();
        if count > 0 {
            ranges.push((0, count - 1, 1));
        }
        Self { ranges }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        let mut count = 0;
        for (first, last, step) in &self.ranges {
            count += u64::from((last - first) / step) + 1;
        }
        count
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The place of an index among them, from 0.
    pub fn position(&self, index: u32) -> Option<usize> {
        let mut before = 0;
        for &(first, last, step) in &self.ranges {
            if (first..=last).contains(&index) && (index - first).is_multiple_of(step) {
                return Some(before + ((index - first) / step) as usize);
            }
            before += ((last - first) / step) as usize + 1;
        }
        None
    }

    /// The indices, in the order of the text, which PBS writes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let ranges = self.ranges.iter();
        ranges.flat_map(|&(first, last, step)| (first..=last).step_by(step as usize))
    }
}

/// Reads `4`, `0-9` or `0-9:3`.
fn parse_range(range: &str) -> Option<(u32, u32, u32)> {
    let (range, step) = range.split_once(':').unwrap_or((range, "1"));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last, step) = (first.parse().ok()?, last.parse().ok()?, step.parse().ok()?);
    // `len` and `position` subtract and divide without a check
    if first > last || step == 0 {
        return None;
    }
    Some((first, last, step))
}

/// `fairshare_entity` of `sched_config`: which attribute of a job names its fair-share entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FairshareEntity {
    /// `euser`, OpenPBS's default.
    #[default]
    User,
    /// `egroup`
    Group,
    /// `Account_Name`
    Account,
    /// `queue`
    Queue,
    /// `egroup:euser`
    GroupUser,
}

/// The attributes of a job that may name its entity; each is empty if the job lacks that attribute.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntityAttributes<'a> {
    pub user: &'a str,
    pub group: &'a str,
    pub account: &'a str,
    /// `Job_Owner`, `user@host`.
    pub submitter: &'a str,
    pub queue: &'a str,
}

impl<'a> EntityAttributes<'a> {
    /// `euser`, or the user in `Job_Owner` for a job without it: qstat does not show `euser` to
    /// ordinary users.
    fn user_or_submitter(&self) -> &'a str {
        if self.takes_user_from_job_owner() {
            // `Job_Owner` also names the host of the submission
            self.submitter.split('@').next().unwrap_or("")
        } else {
            self.user
        }
    }

    /// Whether only `Job_Owner` gives the user, because there is no `euser`.
    pub fn takes_user_from_job_owner(&self) -> bool {
        self.user.is_empty() && !self.submitter.is_empty()
    }
}

impl FairshareEntity {
    /// Whether the entity depends on the user.
    pub fn uses_user(self) -> bool {
        matches!(self, Self::User | Self::GroupUser)
    }

    const NAMES: [(&'static str, Self); 5] = [
        ("euser", Self::User),
        ("egroup", Self::Group),
        ("Account_Name", Self::Account),
        ("queue", Self::Queue),
        ("egroup:euser", Self::GroupUser),
    ];

    /// The value of `fairshare_entity`, ignoring case.
    pub fn from_name(text: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        let known = names.find(|(word, _)| word.eq_ignore_ascii_case(text.trim()));
        Some(known?.1)
    }

    /// The entity of a job. A job that lacks the attribute has the entity `""`, or `":"` under
    /// `egroup:euser`, which OpenPBS puts into its fair-share group `unknown`.
    pub fn entity_of<'a>(self, job: EntityAttributes<'a>) -> Cow<'a, str> {
        match self {
            Self::User => Cow::Borrowed(job.user_or_submitter()),
            Self::Group => Cow::Borrowed(job.group),
            Self::Account => Cow::Borrowed(job.account),
            Self::Queue => Cow::Borrowed(job.queue),
            Self::GroupUser => Cow::Owned(format!("{}:{}", job.group, job.user_or_submitter())),
        }
    }
}

impl fmt::Display for FairshareEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = Self::NAMES.into_iter();
        let known = names.find(|(_, entity)| entity == self);
        f.write_str(known.map_or("", |(word, _)| word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        assert_eq!(processors_of_select("2:ncpus=8:mem=1gb+ncpus=1"), Some(17));
        let quoted = "ncpus=2:software='a+2:ncpus=9'";
        assert_eq!(processors_of_select(quoted), Some(2));
        assert_eq!(
            [processors_of_select("2:mem=1gb"), processors_of_select("")],
            [None, None]
        );
        let nodes = [
            "4:ppn=8",
            "a+b:ppn=2",
            "4:bigmem:ppn=8+1:ppn=2:gpus=1#shared",
            "4",
            "node7",
            "1:ppn=x",
            "",
        ];
        assert_eq!(
            nodes.map(processors_of_nodes),
            [Some(32), Some(3), Some(34), Some(4), Some(1), None, None]
        );
    }

    #[test]
    fn hosts() {
        let hosts = [
            "n/0+n/1+m/0",
            "2/0-31+3/0-31",
            "n/0-2,5",
            "napali",
            "vn1/0*4+vn2/1",
            "vn1/0*0",
            "n/x",
            "",
        ];
        let slots = [
            Some(3),
            Some(64),
            Some(4),
            Some(1),
            Some(5),
            None,
            None,
            None,
        ];
        assert_eq!(hosts.map(processors_of_exec_host), slots);
        assert_eq!(
            processors_of_exec_vnode("(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)"),
            Some(6)
        );
        assert_eq!(
            [
                processors_of_exec_vnode("(vn1:mem=1gb)"),
                processors_of_exec_vnode("")
            ],
            [None, None]
        );
    }
}
