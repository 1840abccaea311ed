//! The objects of `-F json`.

use std::borrow::Cow;

use jsf_json::{Entry, JsonScalar, ObjectReader, read_object};
use serde_json::value::RawValue;

use super::{Attribute, Notation, ObjectKind, Objects, Place, offset, without_byte_order_mark};

pub(super) fn read(text: &str) -> Objects<'_> {
    let mut objects = Objects::new(text, Notation::Json);
    let read = read_object(without_byte_order_mark(text), Document(&mut objects));
    objects.json_error = read.err().map(|error| error.to_string());
    objects
}

struct Document<'o, 't>(&'o mut Objects<'t>);

impl<'t> ObjectReader<'t> for Document<'_, 't> {
    fn entry<E: Entry<'t>>(&mut self, key: Cow<'t, str>, value: E) -> Result<(), E::Error> {
        let kind = match &*key {
            "Server" => ObjectKind::Server,
            "Queue" => ObjectKind::Queue,
            "nodes" => ObjectKind::Node,
            _ => {
                return Attributes::of(None, self.0).entry(key, value);
            }
        };
        // a key that is given again is found among the attributes
        let value_of_list = JsonScalar::Other("an object");
        self.0.push(
            None,
            Attribute::of_list(key, None, value_of_list, Place::default()),
        );
        value
            .object(ObjectList {
                kind,
                objects: self.0,
            })
            .map(drop)
    }
}

/// The objects of a kind by their names.
struct ObjectList<'o, 't> {
    kind: ObjectKind,
    objects: &'o mut Objects<'t>,
}

impl<'t> ObjectReader<'t> for ObjectList<'_, 't> {
    fn entry<E: Entry<'t>>(&mut self, key: Cow<'t, str>, value: E) -> Result<(), E::Error> {
        let object = Some(self.objects.declare(self.kind, key, 0));
        value.object(Attributes::of(object, self.objects)).map(drop)
    }
}

/// The attributes of an object or of the document, or the resources in one of its lists.
struct Attributes<'o, 't> {
    object: Option<usize>,
    list: Option<Cow<'t, str>>,
    objects: &'o mut Objects<'t>,
}

impl<'o, 't> Attributes<'o, 't> {
    fn of(object: Option<usize>, objects: &'o mut Objects<'t>) -> Self {
        Self {
            object,
            list: None,
            objects,
        }
    }
}

impl<'t> ObjectReader<'t> for Attributes<'_, 't> {
    fn entry<E: Entry<'t>>(&mut self, key: Cow<'t, str>, value: E) -> Result<(), E::Error> {
        let raw = value.raw()?;
        let place = Place {
            line: 0,
            at: offset(self.objects.text, raw.get()),
        };
        let (name, resource) = match &self.list {
            Some(list) => (list.clone(), Some(key.clone())),
            None => (key.clone(), None),
        };
        let attribute = Attribute::of_list(name, resource, scalar(raw), place);
        self.objects.push(self.object, attribute);
        if self.object.is_some() && self.list.is_none() && raw.get().starts_with('{') {
            let resources = Attributes {
                list: Some(key),
                ..Attributes::of(self.object, self.objects)
            };
            // it has been found to be valid
            let _ = read_object(raw.get(), resources);
        }
        Ok(())
    }
}

/// The value of an attribute. A list is written as the other notations write it, and a boolean as
/// text.
pub(super) fn scalar(raw: &RawValue) -> JsonScalar<'_> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b't' | b'f') => JsonScalar::String(Cow::Borrowed(text)),
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(items) => JsonScalar::String(Cow::Owned(joined(&items))),
            Err(_) => JsonScalar::Other("an array"),
        },
        _ => JsonScalar::from_raw(raw).unwrap_or(JsonScalar::NULL),
    }
}

fn joined(items: &[&RawValue]) -> String {
    let mut text = String::new();
    for item in items.iter().filter_map(|item| JsonScalar::from_raw(item)) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(item.text().unwrap_or_default());
    }
    text
}
