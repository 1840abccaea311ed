//! The objects of `-F json`.

use std::borrow::Cow;

use jsf_json::{JsonScalar, entries};
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
