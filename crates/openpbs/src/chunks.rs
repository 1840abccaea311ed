//! The chunks that jobs and reservations ask for, and what they have of the nodes.
//!
//! In: a `select`, `exec_vnode` or `resv_nodes`. Out: amounts: sizes in kb, durations in seconds. Or
//! the number of processors alone, also of what Torque writes of a job's request and of its hosts.

use job_sort_formula::schema::Schema;

use crate::resource_amount::{AmountSource, whole_amount};

/// Chunks that are alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// How many.
    pub count: u32,
    /// What each of them requests: whole amounts, sizes in kb, durations in seconds.
    pub amounts: Vec<(Box<str>, i64)>,
    /// What each of them requests that is not a number, such as a host.
    pub others: Vec<(Box<str>, Box<str>)>,
}

impl Chunk {
    /// Reads a `select`, such as `2:ncpus=4:mem=1gb+ncpus=1`.
    pub fn read_select(select: &str, source: AmountSource, schema: &Schema) -> Vec<Self> {
        let mut chunks = Vec::new();
        for chunk in split_unquoted(select, '+') {
            chunks.push(Self::read(chunk, source, schema));
        }
        chunks
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
                Some(amount) => chunk.amounts.push((name.into(), amount)),
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
    pub amounts: Vec<(Box<str>, i64)>,
}

impl PlacedChunk {
    /// Reads `(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)`.
    pub fn read_all(text: &str, source: AmountSource, schema: &Schema) -> Vec<Self> {
        let mut chunks = Vec::new();
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
fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
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
pub fn of_select(select: &str) -> Option<i64> {
    let mut total: i64 = 0;
    for chunk in select.split('+') {
        let mut parts = chunk.split(':');
        let ncpus: i64 = parts.find_map(|part| part.strip_prefix("ncpus=")?.parse().ok())?;
        total = total.checked_add(count(chunk).checked_mul(ncpus)?)?;
    }
    positive(total)
}

/// The processors of Torque's `nodes`, such as `4:ppn=8:bigmem+node7:ppn=2#shared`: of a chunk
/// without a number one node, of a node without `ppn` one processor; `None` for an empty text.
pub fn of_nodes(nodes: &str) -> Option<i64> {
    let nodes = nodes.split('#').next()?;
    if nodes.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    for chunk in nodes.split('+') {
        let mut parts = chunk.split(':');
        let processors = match parts.find_map(|part| part.strip_prefix("ppn=")) {
            Some(ppn) => ppn.parse().ok()?,
            None => 1,
        };
        total = total.checked_add(count(chunk).checked_mul(processors)?)?;
    }
    positive(total)
}

/// The processors of an `exec_vnode` such as `(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)`.
pub fn of_exec_vnode(vnodes: &str) -> Option<i64> {
    let mut total: i64 = 0;
    for part in vnodes.split(['(', ')', '+', ':']) {
        if let Some(ncpus) = part.strip_prefix("ncpus=") {
            total = total.checked_add(ncpus.parse().ok()?)?;
        }
    }
    positive(total)
}

/// The processors of an `exec_host`: OpenPBS writes `vn1/0*4+vn2/1`, Torque `n1/0+n1/1` or
/// `n1/0-5,7+n2/0`.
pub fn of_exec_host(hosts: &str) -> Option<i64> {
    if hosts.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    for host in hosts.split('+') {
        let Some((_, slots)) = host.split_once('/') else {
            total = total.checked_add(1)?;
            continue;
        };
        if let Some((_, ncpus)) = slots.split_once('*') {
            total = total.checked_add(ncpus.parse().ok()?)?;
            continue;
        }
        for range in slots.split(',') {
            total = total.checked_add(slots_in(range)?)?;
        }
    }
    positive(total)
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

fn positive(total: i64) -> Option<i64> {
    if total > 0 { Some(total) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        assert_eq!(of_select("2:ncpus=8:mem=1gb+ncpus=1"), Some(17));
        assert_eq!([of_select("2:mem=1gb"), of_select("")], [None, None]);
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
            nodes.map(of_nodes),
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
        assert_eq!(hosts.map(of_exec_host), slots);
        assert_eq!(
            of_exec_vnode("(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)"),
            Some(6)
        );
        assert_eq!(
            [of_exec_vnode("(vn1:mem=1gb)"), of_exec_vnode("")],
            [None, None]
        );
    }
}
