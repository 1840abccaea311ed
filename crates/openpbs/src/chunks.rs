//! The chunks that jobs and reservations ask for, and what they have of the nodes.
//!
//! In: a `select`, `exec_vnode` or `resv_nodes`. Out: amounts: sizes in kb, durations in seconds.

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
