//! The attributes of one job as its document has them, whichever format it has.

use std::borrow::Cow;

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};

use crate::job_key::{JobKey, NameIndex};

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
        for attribute in &self.attributes {
            if attribute.key == key {
                return Some(&attribute.value);
            }
        }
        None
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
            JobKey::Resource(resource) => {
                return push_entry(&mut self.resources, resource, value);
            }
            JobKey::CycleList | JobKey::Unused | JobKey::Unknown => return,
            _ => {}
        }
        let mut known = None;
        for (index, attribute) in self.attributes.iter_mut().enumerate() {
            if attribute.key == key {
                known = Some(index);
                if !std::mem::replace(&mut attribute.is_repeated, true) {
                    self.push_problem(Problem::Repeated {
                        key: clipped(name).into_owned(),
                        consequence: match key {
                            JobKey::Resources | JobKey::Inputs => "the lists are joined",
                            _ => LAST_COUNTS,
                        },
                    });
                }
                break;
            }
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
                    self.push_problem(Problem::Repaired { what });
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

/// The problem of an attribute whose value is not what it should be.
pub fn wrong_attribute(name: &str, scalar: &JsonScalar<'_>, expected: &'static str) -> Problem {
    Problem::Attribute {
        attribute: name.to_owned(),
        found: scalar.found(),
        expected,
    }
}

/// The problem of an input that a column needs and whose value cannot be read.
pub fn wrong_input(name: &str, scalar: &JsonScalar<'_>, expected: &'static str) -> Problem {
    Problem::WrongInput {
        attribute: name.to_owned(),
        found: scalar.found(),
        expected,
    }
}

/// Adds an amount or an input of a job, unless there are already more than a job may have.
#[inline]
pub fn push_entry<'d>(entries: &mut Vec<Amount<'d>>, name: NameIndex, scalar: JsonScalar<'d>) {
    if entries.len() <= MAX_ENTRIES {
        entries.push((name, scalar));
    }
}
