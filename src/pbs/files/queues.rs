//! The queues of a server and their priorities.
//!
//! In: `qstat -Qf` as text or JSON, or a listing of `qmgr`. Out: [`Queues`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use thiserror::Error;

use crate::json_visitor;
use crate::json_visitor::{Entry, JsonScalar, ObjectReader, Shape};
use crate::pbs::resource_amount;
use crate::schema::{InputType, Schema};

/// The priorities of the queues, and the undeclared resources that their attributes mention.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queues {
    priorities: BTreeMap<Box<str>, Option<i64>>,
    /// In the order of the document.
    names: Vec<Box<str>>,
    undeclared: BTreeMap<Box<str>, InputType>,
}

/// A document of queues that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueuesError {
    /// It contains no queue.
    #[error("`{source_name}` contains no queue, expected `qstat -Qf` as text or JSON, or `qmgr -c 'print server'`")]
    NoQueue {
        /// The document's name.
        source_name: String,
    },
    /// It is invalid JSON.
    #[error("`{source_name}` is not valid JSON: {reason}")]
    Json {
        /// The document's name.
        source_name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// A priority is not a whole number.
    #[error("`{source_name}`: the `Priority` of queue `{queue}` is {found}, expected a whole number")]
    Priority {
        /// The document's name.
        source_name: String,
        /// The queue.
        queue: String,
        /// What was found.
        found: String,
    },
}

impl Queues {
    /// Reads `qstat -Qf` as text or JSON, `qmgr -c 'print server'`, `'print queue'` or `'list queue'`. The format is
    /// detected from the content.
    ///
    /// # Errors
    /// The document contains no queue, is invalid JSON, or has a priority that is not a whole number.
    pub fn read(source_name: &str, text: &str) -> Result<Self, QueuesError> {
        let text = text.trim_start_matches('\u{feff}');
        let mut parser = Parser { source_name, queues: Self::default(), error: None };
        if text.trim_start().starts_with('{') {
            parser.json(text)?;
        } else {
            text.lines().fold(String::new(), |queue, line| parser.line(queue, line));
        }
        match parser.error {
            Some(error) => Err(error),
            None if parser.queues.priorities.is_empty() => {
                Err(QueuesError::NoQueue { source_name: source_name.to_owned() })
            }
            None => Ok(parser.queues),
        }
    }

    /// The priority of a queue; `None` if it has none (the formula then sees 0) or is unknown.
    pub fn priority(&self, queue: &str) -> Option<i64> {
        self.priorities.get(queue).copied().flatten()
    }

    /// The priority of each queue that has one.
    pub fn priorities(&self) -> BTreeMap<String, i64> {
        let known = self.priorities.iter().filter_map(|(name, priority)| Some((name.to_string(), (*priority)?)));
        known.collect()
    }

    /// Whether the document contains the queue.
    pub fn contains(&self, queue: &str) -> bool {
        self.priorities.contains_key(queue)
    }

    /// The position of the queue in the document, which is the server's order of queues.
    pub fn position(&self, queue: &str) -> Option<usize> {
        self.names.iter().position(|name| **name == *queue)
    }

    /// The queues with their priorities, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<i64>)> {
        self.priorities.iter().map(|(name, &priority)| (&**name, priority))
    }

    /// Adds the undeclared resources that have a default or a limit in a queue or the server, with the types inferred
    /// from their amounts.
    pub fn add_seen_to(&self, schema: &mut Schema) {
        for (name, &kind) in &self.undeclared {
            schema.add_seen(name, kind);
        }
    }

    fn add_undeclared(&mut self, resource: &str, scalar: &JsonScalar<'_>) {
        let (text, bare) = match scalar {
            JsonScalar::Number(text) => (*text, true),
            JsonScalar::String(text) => (&**text, false),
            JsonScalar::Other(_) => return,
        };
        let kind = resource_amount::inferred_type(text, bare);
        let known = self.undeclared.entry(resource.into()).or_insert(kind);
        let numbers = [InputType::Count, InputType::Float];
        if *known != kind {
            *known =
                if numbers.contains(known) && numbers.contains(&kind) { InputType::Float } else { InputType::Text };
        }
    }
}

struct Parser<'a> {
    source_name: &'a str,
    queues: Queues,
    error: Option<QueuesError>,
}

impl Parser<'_> {
    fn json(&mut self, text: &str) -> Result<(), QueuesError> {
        let source_name = self.source_name.to_owned();
        match json_visitor::read_object(text, Document(self)) {
            Ok(_) => Ok(()),
            Err(error) => Err(QueuesError::Json { source_name, reason: error.to_string() }),
        }
    }

    /// Reads one line of text in the block of `queue`; returns the queue whose block the next line is in.
    fn line(&mut self, queue: String, line: &str) -> String {
        if let Some(name) = line.strip_prefix("Queue:").or_else(|| line.strip_prefix("Queue ")) {
            return self.add_queue(name);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["create", "queue", name, ..] => {
                self.add_queue(name);
            }
            ["set", "queue", name, attribute, "=", value @ ..] => self.attribute(name, attribute, &value.join(" ")),
            ["set", "server", attribute, "=", value @ ..] => self.attribute("", attribute, &value.join(" ")),
            [attribute, "=", value @ ..] if !queue.is_empty() && line.starts_with([' ', '\t']) => {
                self.attribute(&queue, attribute, &value.join(" "));
            }
            _ => {}
        }
        queue
    }

    fn add_queue(&mut self, name: &str) -> String {
        let name = name.trim().trim_matches('"');
        if !self.queues.contains(name) {
            self.queues.priorities.insert(name.into(), None);
            self.queues.names.push(name.into());
        }
        name.to_owned()
    }

    fn attribute(&mut self, queue: &str, attribute: &str, value: &str) {
        let value = value.trim_matches('"');
        if attribute == "Priority" {
            self.priority(queue, Some(JsonScalar::String(value.into())));
        } else if let Some(resource) = resource_name(attribute) {
            let number = resource_amount::number(value).is_some();
            let scalar = if number { JsonScalar::Number(value) } else { JsonScalar::String(value.into()) };
            self.queues.add_undeclared(resource, &scalar);
        }
    }

    fn priority(&mut self, queue: &str, scalar: Option<JsonScalar<'_>>) {
        let Some(scalar) = scalar else { return };
        match scalar.text().and_then(|text| text.parse().ok()) {
            Some(priority) => {
                self.add_queue(queue);
                self.queues.priorities.insert(queue.into(), Some(priority));
            }
            None => {
                let (source_name, queue) = (self.source_name.to_owned(), queue.to_owned());
                self.error.get_or_insert(QueuesError::Priority { source_name, queue, found: scalar.found() });
            }
        }
    }
}

/// The resource in `resources_default.NAME` and the like.
fn resource_name(attribute: &str) -> Option<&str> {
    let (list, resource) = attribute.split_once('.')?;
    is_resource_list(list).then_some(resource)
}

fn is_resource_list(attribute: &str) -> bool {
    matches!(attribute, "resources_default" | "default_chunk" | "resources_max" | "resources_min")
}

struct Document<'r, 'a>(&'r mut Parser<'a>);

impl<'d> ObjectReader<'d> for Document<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        if key == "Queue" { value.object(QueueList(self.0)).map(|_| ()) } else { value.skip() }
    }
}

struct QueueList<'r, 'a>(&'r mut Parser<'a>);

impl<'d> ObjectReader<'d> for QueueList<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let queue = self.0.add_queue(&key);
        value.object(QueueAttributes { queue: &queue, parser: self.0 }).map(|_: Shape| ())
    }
}

struct QueueAttributes<'r, 'a> {
    queue: &'r str,
    parser: &'r mut Parser<'a>,
}

impl<'d> ObjectReader<'d> for QueueAttributes<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        if key == "Priority" {
            let raw: &RawValue = value.raw()?;
            self.parser.priority(self.queue, JsonScalar::from_raw(raw));
            return Ok(());
        }
        if is_resource_list(&key) { value.object(Amounts(self.parser)).map(|_| ()) } else { value.skip() }
    }
}

struct Amounts<'r, 'a>(&'r mut Parser<'a>);

impl<'d> ObjectReader<'d> for Amounts<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        if let Some(scalar) = JsonScalar::from_raw(value.raw()?) {
            self.0.queues.add_undeclared(&key, &scalar);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_format() {
        let expected = [("high", Some(100)), ("low", Some(-50)), ("workq", None)];
        for text in [
            "Queue: workq\n    queue_type = Execution\n    Priority_x = 3\n\nQueue: high\n    Priority = 100\n\nQueue: low\n    Priority = -50\n",
            "{\"pbs_version\":\"1\",\"Queue\":{\"workq\":{\"enabled\":\"True\"},\"high\":{\"Priority\":100},\"low\":{\"Priority\":\"-50\"}}}",
            "#\ncreate queue workq\ncreate queue high\nset queue high Priority = 100\r\ncreate queue low\nset queue low Priority = -50\nset server x = 1\n",
            "Queue workq\n    queue_type = Execution\nQueue high\n    Priority = 100\nQueue low\n    Priority = -50\n",
        ] {
            let queues = Queues::read("queues", text).unwrap();
            assert_eq!(queues.iter().collect::<Vec<_>>(), expected, "{text}");
            assert_eq!(["workq", "high", "low"].map(|name| queues.position(name)), [Some(0), Some(1), Some(2)]);
        }
    }

    #[test]
    fn invalid_documents_are_errors() {
        let read = |text| Queues::read("q.txt", text).unwrap_err().to_string();
        assert!(read("").contains("`q.txt` contains no queue"));
        assert!(read("{\"Queue\":{\"a\":{\"Priority\":\"high\"}}}").contains("queue `a` is the string \"high\""));
        assert!(read("{\"Queue\":{\"a\":").contains("line 1"));
        assert!(read("\u{0}\u{1}rubbish").contains("contains no queue"));
    }

    #[test]
    fn undeclared_resources_have_inferred_types() {
        let text = "Queue: a\n    resources_default.score = 5\n    resources_max.disk = 5gb\n    resources_default.note = hello\n\
                    Queue: b\n    resources_default.score = 0.5\n    resources_max.ncpus = 3\n";
        let mut schema = Schema::openpbs();
        Queues::read("q", text).unwrap().add_seen_to(&mut schema);
        let kind = |name| schema.entry(name).map(|entry| entry.input_type);
        assert_eq!(kind("score"), Some(InputType::Float));
        assert_eq!(kind("disk"), Some(InputType::Size));
        assert_eq!(kind("note"), Some(InputType::Text));
        assert_eq!(kind("ncpus"), Some(InputType::Count));
    }
}
