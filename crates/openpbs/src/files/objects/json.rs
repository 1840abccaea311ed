//! The objects of `-F json`, and the nodes of JSON that is not valid, as several versions of pbsnodes
//! print it: an attribute on each line.

use std::borrow::Cow;

use jsf_json::{JsonScalar, clipped, entries};
use serde_json::value::RawValue;

use super::{Attribute, Notation, ObjectKind, Objects, Place, offset, without_byte_order_mark};

pub fn read(text: &str) -> Objects<'_> {
    let mut objects = Objects::new(text, Notation::Json);
    let read = objects.read_json(without_byte_order_mark(text));
    objects.json_error = read.err().map(|error| error.to_string());
    objects
}

impl<'t> Objects<'t> {
    fn read_json(&mut self, document: &'t str) -> serde_json::Result<()> {
        for (key, value) in entries(document)? {
            let kind = match &*key {
                "Server" => ObjectKind::Server,
                "Queue" => ObjectKind::Queue,
                "nodes" => ObjectKind::Node,
                _ => {
                    self.push_json(None, key, None, value);
                    continue;
                }
            };
            // a key that is given again is found among the attributes
            let list = Attribute::of_list(key, None, JsonScalar::OBJECT, Place::default());
            self.push(None, list);
            for (name, attributes) in entries(value.get())? {
                let object = Some(self.declare(kind, name, 0));
                for (name, value) in entries(attributes.get())? {
                    self.push_json(object, name.clone(), None, value);
                    for (resource, amount) in entries(value.get())? {
                        self.push_json(object, name.clone(), Some(resource), amount);
                    }
                }
            }
        }
        Ok(())
    }

    fn push_json(
        &mut self,
        object: Option<usize>,
        name: Cow<'t, str>,
        resource: Option<Cow<'t, str>>,
        value: &'t RawValue,
    ) {
        let place = Place {
            line: 0,
            at: offset(self.text, value.get()),
        };
        let attribute = Attribute::of_list(name, resource, scalar(value.get()), place);
        self.push(object, attribute);
    }
}

/// The value of an attribute. A list is written as the other notations write it, and a boolean as
/// text.
pub fn scalar(text: &str) -> JsonScalar<'_> {
    match text.as_bytes().first() {
        Some(b't' | b'f') => JsonScalar::String(Cow::Borrowed(text)),
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(items) => JsonScalar::String(Cow::Owned(joined(&items))),
            Err(_) => JsonScalar::Other("an array"),
        },
        _ => JsonScalar::from_text(text),
    }
}

fn joined(items: &[&RawValue]) -> String {
    let mut text = String::new();
    for item in items {
        let item = JsonScalar::from_text(item.get());
        if item.is_null() {
            continue;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(item.text().unwrap_or_default());
    }
    text
}

/// Reads one attribute from each line; `is_needed` says of which attributes the value must be
/// readable. `None` if not every object is closed at the end.
pub fn read_damaged<'t>(
    text: &'t str,
    is_needed: impl Fn(&Attribute<'t>) -> bool,
) -> Result<Option<Objects<'t>>, String> {
    let mut reader = Reader {
        objects: Objects::new(text, Notation::Json),
        path: Vec::new(),
        node: None,
    };
    let mut is_inside_string = false;
    for (number, line) in (1..).zip(without_byte_order_mark(text).lines()) {
        let line = line.trim().trim_end_matches(',').trim_end();
        match key_and_value(line) {
            Some((key, "{")) => reader.open(key, number),
            Some((key, value)) => {
                if let Some(attribute) = reader.attribute(key, value, number) {
                    if reader.node.is_some()
                        && attribute.value.text().is_none()
                        && is_needed(&attribute)
                    {
                        return Err(damaged(number, line));
                    }
                    reader.objects.push(reader.node, attribute);
                }
                is_inside_string =
                    value.starts_with('"') && (value.len() == 1 || !value.ends_with('"'));
            }
            None if is_inside_string => is_inside_string = !line.ends_with('"'),
            None if line.bytes().all(|byte| byte == b'}') => reader.close(line.len()),
            // the outermost object has no key
            None if line == "{" && reader.path.is_empty() => {}
            None => {
                return Err(damaged(number, line));
            }
        }
    }
    Ok(reader.path.is_empty().then_some(reader.objects))
}

/// What is wrong with a document of which a line that counts cannot be read.
fn damaged(line: usize, text: &str) -> String {
    let text = clipped(text);
    format!(" is not valid JSON, and line {line} cannot be read: `{text}`")
}

struct Reader<'t> {
    objects: Objects<'t>,
    /// The keys of the objects that are open.
    path: Vec<&'t str>,
    node: Option<usize>,
}

impl<'t> Reader<'t> {
    fn open(&mut self, key: &'t str, line: usize) {
        self.path.push(key);
        if let ["nodes", name] = self.path[..] {
            self.node = Some(self.objects.declare(ObjectKind::Node, name.into(), line));
        }
    }

    fn close(&mut self, count: usize) {
        self.path.truncate(self.path.len().saturating_sub(count));
        if self.path.len() < 2 {
            self.node = None;
        }
    }

    /// The attribute of a node, or of the document.
    fn attribute(&self, key: &'t str, value: &'t str, line: usize) -> Option<Attribute<'t>> {
        let (list, resource) = match *self.path {
            [] | ["nodes", _] => (key, None),
            ["nodes", _, list] => (list, Some(Cow::Borrowed(key))),
            _ => return None,
        };
        let scalar = match serde_json::from_str::<&RawValue>(value) {
            Ok(raw) => scalar(raw.get()),
            Err(_) => JsonScalar::Other("damaged"),
        };
        let place = Place {
            line,
            at: offset(self.objects.text, value),
        };
        Some(Attribute::of_list(list.into(), resource, scalar, place))
    }
}

/// The key and the value of `"key": value` in a line of JSON.
pub fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.strip_prefix('"')?.split_once('"')?;
    Some((key, rest.trim_start().strip_prefix(':')?.trim_start()))
}
