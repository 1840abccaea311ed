//! The objects that a document of PBS describes, with their attributes: the only reader of such
//! documents.
//!
//! In: the output of `qstat -Bf`, `qstat -Qf` or `pbsnodes -av` as text, JSON or dsv, of
//! `pbs_rstat -f`, a listing of `qmgr` (`print` or `list`), or a `resourcedef`. Out: [`Objects`],
//! of which the other readers in [`files`](super) are views.

mod json;
mod listing;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use jsf_json::{JsonScalar, clipped};

pub use json::key_and_value;
pub(super) use json::read_damaged;
pub use listing::split_unescaped;

/// The objects of a document.
#[derive(Debug, Clone)]
pub struct Objects<'t> {
    /// The document.
    pub text: &'t str,
    /// How it is written.
    pub notation: Notation,
    /// All objects, in the order of the document.
    pub objects: Vec<Object<'t>>,
    /// The attributes of no object, such as `timestamp` in JSON.
    pub attributes: Vec<Attribute<'t>>,
    /// Why the document is not valid JSON, if it should be; it then has no objects.
    pub json_error: Option<String>,
    /// The object to which a directive about this kind and name adds an attribute.
    latest: HashMap<(ObjectKind, Cow<'t, str>), usize>,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `-F json`.
    Json,
    /// Text or dsv, or the directives of `qmgr`.
    Listing,
    /// A resource on each line.
    ResourceDef,
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A server.
    Server,
    /// A queue.
    Queue,
    /// A scheduler.
    Scheduler,
    /// A node (vnode).
    Node,
    /// A resource, or several that `qmgr` declares together: their names have commas between them.
    Resource,
    /// A reservation.
    Reservation,
    /// A hook or a job, which no view reads.
    Other,
}

/// An object of a document. One that the document describes twice is there twice.
#[derive(Debug, Clone)]
pub struct Object<'t> {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name; empty for the server in directives.
    pub name: Cow<'t, str>,
    /// Its line, from 1; 0 in JSON.
    pub line: usize,
    /// Whether the document describes or creates it, or only sets its attributes.
    pub is_declared: bool,
    /// In the order of the document.
    pub attributes: Vec<Attribute<'t>>,
}

/// An attribute of an object.
#[derive(Debug, Clone)]
pub struct Attribute<'t> {
    /// Its name, without a resource.
    pub name: Cow<'t, str>,
    /// The resource of `resources_default.ncpus` and the like.
    pub resource: Option<Cow<'t, str>>,
    /// Its value, `null` if it is unset. One of a listing is a number if it looks like one.
    pub value: JsonScalar<'t>,
    /// Whether the attribute is commonly given again: in a directive with `+=`, or where its object
    /// is created.
    pub is_repeatable: bool,
    /// Where the value begins in the text.
    pub place: Place,
}

/// A place in a document.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    /// The line, from 1; 0 in JSON.
    pub line: usize,
    /// The byte.
    pub at: usize,
}

impl ObjectKind {
    /// How the listings of `qmgr` and qstat name the kinds, and how directives do, also in short.
    const NAMES: [(Self, &'static str, [&'static str; 2]); 6] = [
        (Self::Server, "Server", ["server", "s"]),
        (Self::Queue, "Queue", ["queue", "q"]),
        (Self::Scheduler, "Sched", ["sched", "sched"]),
        (Self::Node, "Node", ["node", "n"]),
        (Self::Resource, "Resource", ["resource", "r"]),
        (Self::Other, "Hook", ["hook", "h"]),
    ];

    fn of_heading(word: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        Some(names.find(|(_, heading, _)| *heading == word)?.0)
    }

    fn of_directive(word: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        Some(names.find(|(.., words)| words.contains(&word))?.0)
    }

    /// Its name in a heading.
    pub fn heading(self) -> &'static str {
        for (kind, heading, _) in Self::NAMES {
            if kind == self {
                return heading;
            }
        }
        ""
    }
}

impl<'t> Objects<'t> {
    /// Reads a document. Its notation is recognised; what is not understood is left out.
    ///
    /// ```
    /// use jsf_openpbs::files::objects::{ObjectKind, Objects};
    ///
    /// let objects = Objects::read("Server: vm\n    scheduling = True\n    comment = a long\n\t value\n");
    /// let server = objects.of(ObjectKind::Server).next().unwrap();
    /// assert_eq!(server.get("comment"), Some("a long value"));
    /// ```
    pub fn read(text: &'t str) -> Self {
        if without_byte_order_mark(text).trim_start().starts_with('{') {
            json::read(text)
        } else {
            listing::read(text)
        }
    }

    /// Reads a `resourcedef`, each line of which is a resource: `NAME type=long flag=hn`.
    pub fn read_resourcedef(text: &'t str) -> Self {
        listing::read_resourcedef(text)
    }

    fn new(text: &'t str, notation: Notation) -> Self {
        Self {
            text,
            notation,
            objects: Vec::new(),
            attributes: Vec::new(),
            json_error: None,
            latest: HashMap::new(),
        }
    }

    /// The objects of a kind.
    pub fn of(&self, kind: ObjectKind) -> impl Iterator<Item = &Object<'t>> {
        let objects = self.objects.iter();
        objects.filter(move |object| object.kind == kind)
    }

    /// Whether the document describes an object of a kind.
    pub fn has(&self, kind: ObjectKind) -> bool {
        self.of(kind).next().is_some()
    }

    /// The attributes of all objects of a kind.
    pub fn attributes_of(&self, kind: ObjectKind) -> impl Iterator<Item = &Attribute<'t>> {
        self.of(kind).flat_map(|object| &object.attributes)
    }

    /// Adds an object.
    fn declare(&mut self, kind: ObjectKind, name: Cow<'t, str>, line: usize) -> usize {
        let object = self.add(kind, name, line);
        self.objects[object].is_declared = true;
        object
    }

    /// The object of this name that was described last, or a new one.
    fn latest(&mut self, kind: ObjectKind, name: Cow<'t, str>, line: usize) -> usize {
        let known = self.latest.get(&key(kind, &name)).copied();
        known.unwrap_or_else(|| self.add(kind, name, line))
    }

    fn add(&mut self, kind: ObjectKind, name: Cow<'t, str>, line: usize) -> usize {
        let object = self.objects.len();
        if self.notation == Notation::Listing {
            self.latest.insert(key(kind, &name), object);
        }
        self.objects.push(Object {
            kind,
            name,
            line,
            is_declared: false,
            attributes: Vec::new(),
        });
        object
    }

    /// Adds an attribute to an object, or to none.
    fn push(&mut self, object: Option<usize>, attribute: Attribute<'t>) {
        let attributes = self.attributes_mut(object);
        if attributes.is_empty() {
            // of a million resources each has only one
            attributes.reserve_exact(1);
        }
        attributes.push(attribute);
    }

    fn attributes_mut(&mut self, object: Option<usize>) -> &mut Vec<Attribute<'t>> {
        match object {
            Some(object) => &mut self.objects[object].attributes,
            None => &mut self.attributes,
        }
    }
}

/// A listing has one server, which directives do not name.
fn key<'t>(kind: ObjectKind, name: &Cow<'t, str>) -> (ObjectKind, Cow<'t, str>) {
    match kind {
        ObjectKind::Server => (kind, Cow::Borrowed("")),
        _ => (kind, name.clone()),
    }
}

impl Object<'_> {
    /// The text of an attribute without a resource.
    pub fn get(&self, name: &str) -> Option<&str> {
        last(&self.attributes, name)?.value.text()
    }
}

/// The attribute of this name that counts, as `qmgr` runs directives one after the other.
pub(super) fn last<'a, 't: 'a>(
    attributes: impl IntoIterator<Item = &'a Attribute<'t>>,
    name: &str,
) -> Option<&'a Attribute<'t>> {
    let mut found = None;
    for attribute in attributes {
        if attribute.name == name && attribute.resource.is_none() {
            found = Some(attribute);
        }
    }
    found
}

impl<'t> Attribute<'t> {
    /// An attribute with the name `NAME` or `NAME.RESOURCE`.
    fn new(full_name: &'t str, value: JsonScalar<'t>, place: Place) -> Self {
        match full_name.split_once('.') {
            Some((list, resource)) => {
                Self::of_list(list.into(), Some(resource.into()), value, place)
            }
            None => Self::of_list(full_name.into(), None, value, place),
        }
    }

    fn of_list(
        name: Cow<'t, str>,
        resource: Option<Cow<'t, str>>,
        value: JsonScalar<'t>,
        place: Place,
    ) -> Self {
        Self {
            name,
            resource,
            value,
            is_repeatable: false,
            place,
        }
    }

    /// `NAME` or `NAME.RESOURCE`.
    pub fn full_name(&self) -> Cow<'_, str> {
        match &self.resource {
            Some(resource) => Cow::Owned(format!("{}.{resource}", self.name)),
            None => Cow::Borrowed(&self.name),
        }
    }
}

fn without_byte_order_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Where a part of a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

/// The objects and attributes that a document has more than once, each once; of a `resourcedef` the
/// resources. OpenPBS up to 23.06.06 writes a limit such as `max_run` once for each of its entries,
/// so that a limit is never among them.
pub fn repeated(objects: &Objects<'_>) -> BTreeSet<String> {
    let mut given = Given::default();
    if objects.notation == Notation::Json {
        given.add_all(None, &objects.attributes);
    }
    for object in &objects.objects {
        let Some(name) = name(object, objects.notation) else {
            continue;
        };
        if object.is_declared {
            given.add(name.clone());
        }
        if objects.notation != Notation::ResourceDef {
            given.add_all(Some(&name), &object.attributes);
        }
    }
    given.repeated
}

#[derive(Default)]
struct Given {
    names: HashSet<String>,
    repeated: BTreeSet<String>,
}

impl Given {
    fn add(&mut self, name: String) {
        if self.names.contains(&name) {
            self.repeated.insert(name);
        } else {
            self.names.insert(name);
        }
    }

    fn add_all(&mut self, object: Option<&str>, attributes: &[Attribute<'_>]) {
        for attribute in attributes {
            if attribute.is_repeatable || is_limit(&attribute.name) {
                continue;
            }
            let own_name = attribute.full_name();
            let own_name = clipped(&own_name);
            let name = match object {
                Some(object) => format!("{object}.{own_name}"),
                None => own_name.into(),
            };
            if attribute.value.is_null() {
                self.names.remove(&name);
            } else {
                self.add(name);
            }
        }
    }
}

fn is_limit(attribute: &str) -> bool {
    attribute.starts_with("max_run") || attribute.starts_with("max_queued")
}

/// How a document names an object.
fn name(object: &Object<'_>, notation: Notation) -> Option<String> {
    let heading = object.kind.heading();
    let name = clipped(&object.name);
    match (notation, object.kind) {
        (_, ObjectKind::Node | ObjectKind::Reservation | ObjectKind::Other) => None,
        (Notation::Json, _) => Some(format!("{heading}.{name}")),
        (Notation::Listing, _) => Some(
            format!("{} {name}", heading.to_lowercase())
                .trim_end()
                .to_owned(),
        ),
        (Notation::ResourceDef, _) => Some(name.into_owned()),
    }
}

#[cfg(test)]
mod tests;
