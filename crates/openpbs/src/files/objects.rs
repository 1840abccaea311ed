//! The objects that a document of PBS describes, with their attributes: the only reader of such
//! documents.
//!
//! In: the output of `qstat -Bf`, `qstat -Qf` or `pbsnodes -av` as text, JSON or dsv, of
//! `pbs_rstat -f`, a listing of `qmgr` (`print` or `list`), or a `resourcedef`. Out: [`Objects`],
//! of which the other readers in [`files`](super) are views.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use jsf_json::{JsonScalar, clipped, entries, json_fault};
use serde_json::value::RawValue;

use crate::amounts::number;

/// The name of the default scheduler.
pub const DEFAULT: &str = "default";

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
    is_repeatable: bool,
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
        let mut names = Self::NAMES.into_iter();
        let known = names.find(|(kind, ..)| *kind == self);
        known.map_or("", |(_, heading, _)| heading)
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
            let mut objects = Self::new(text, Notation::Json);
            let document = without_byte_order_mark(text);
            let read = objects.read_json(document);
            objects.json_error = read.err().map(|error| json_fault(document, &error));
            objects
        } else {
            let mut reader = ListingReader::new(text, Notation::Listing);
            for line in without_byte_order_mark(text).lines() {
                reader.line += 1;
                reader.read_line(line);
            }
            reader.end_value();
            reader.objects
        }
    }

    /// Reads a `resourcedef`, each line of which is a resource: `NAME type=long flag=hn`.
    pub fn read_resourcedef(text: &'t str) -> Self {
        let mut reader = ListingReader::new(text, Notation::ResourceDef);
        for line in without_byte_order_mark(text).lines() {
            reader.line += 1;
            if !line.trim_start().starts_with('#') {
                reader.create(ObjectKind::Resource, line.trim());
            }
        }
        reader.objects
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

    /// Adds an object that the document describes or creates.
    fn declare(&mut self, kind: ObjectKind, name: Cow<'t, str>, line: usize) -> usize {
        self.add(kind, name, line, true)
    }

    /// The object of this name that was described last, or a new one.
    fn latest(&mut self, kind: ObjectKind, name: Cow<'t, str>, line: usize) -> usize {
        let known = self.latest.get(&key(kind, &name)).copied();
        known.unwrap_or_else(|| self.add(kind, name, line, false))
    }

    fn add(
        &mut self,
        kind: ObjectKind,
        name: Cow<'t, str>,
        line: usize,
        is_declared: bool,
    ) -> usize {
        let object = self.objects.len();
        // only directives add to an object that is already there; in JSON one that is given again
        // is another
        if self.notation == Notation::Listing {
            self.latest.insert(key(kind, &name), object);
        }
        self.objects.push(Object {
            kind,
            name,
            line,
            is_declared,
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
    let attributes = attributes.into_iter();
    let named = attributes.filter(|one| one.name == name && one.resource.is_none());
    named.last()
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

/// By how much more than the attributes a continued value is indented where a tab was printed as
/// blanks.
const BLANKS_OF_A_TAB: usize = 4;

/// Reads what qstat, pbsnodes and pbs_rstat print as text or dsv, a listing of `qmgr`, and a
/// `resourcedef`.
///
/// A heading begins an object, whose attributes follow, one a line. A line that begins with a tab
/// continues the value above it, as qstat breaks long values, unless the attributes themselves are
/// indented by tabs and the line is one; a terminal may have printed eight blanks for the tab. A
/// directive of `qmgr` names its object.
struct ListingReader<'t> {
    objects: Objects<'t>,
    line: usize,
    /// The object whose heading is above.
    block: Option<usize>,
    value: Option<OpenValue<'t>>,
}

/// The value that the next line may continue: the last one of an object.
struct OpenValue<'t> {
    object: Option<usize>,
    /// The white space before its attribute.
    indentation: &'t str,
    text: Cow<'t, str>,
}

impl<'t> ListingReader<'t> {
    fn new(text: &'t str, notation: Notation) -> Self {
        Self {
            objects: Objects::new(text, notation),
            line: 0,
            block: None,
            value: None,
        }
    }

    fn read_line(&mut self, line: &'t str) {
        let content = line.trim_start();
        let indentation = &line[..line.len() - content.len()];
        let directive = Directive::parse(content);
        let may_continue = indentation.starts_with('\t') || self.is_deeper(indentation);
        let mut assignment = assignment(content);
        if may_continue {
            // qstat prints blanks around the `=` of an attribute; the rest of a value may have one
            // without
            assignment = assignment.filter(|found| found.is_spaced);
        }
        if self.continues(indentation, directive.is_some() || assignment.is_some()) {
            return self.continue_value(line, content);
        }
        self.end_value();
        if content.is_empty() || content.starts_with('#') {
            return;
        }
        if indentation.is_empty() && self.read_heading(line) {
            return;
        }
        if let Some(directive) = directive {
            self.block = None;
            self.run(directive, indentation);
        } else if let Some(Assignment { name, value, .. }) = assignment {
            self.set(self.block, self.attribute(name, value), value, indentation);
        } else if indentation.is_empty() && self.may_be_a_node(content) {
            let name = unquoted(content).into();
            self.block = Some(self.objects.declare(ObjectKind::Node, name, self.line));
        }
    }

    /// Whether a line is indented further than the attribute above.
    fn is_deeper(&self, indentation: &str) -> bool {
        let above = self.value.as_ref().map_or("", |value| value.indentation);
        !above.is_empty() && indentation.len() > above.len()
    }

    /// Whether a line continues the value above.
    fn continues(&self, indentation: &str, is_assignment: bool) -> bool {
        let Some(value) = &self.value else {
            return false;
        };
        if indentation.starts_with('\t') {
            !is_assignment || !value.indentation.starts_with('\t')
        } else {
            !is_assignment && self.is_deeper(indentation)
        }
    }

    fn continue_value(&mut self, line: &str, content: &str) {
        let Some(value) = &mut self.value else { return };
        let blanks = (value.indentation.len() + BLANKS_OF_A_TAB).min(line.len() - content.len());
        // qstat breaks a value anywhere, so that blanks behind the tab belong to it
        let rest = line
            .strip_prefix('\t')
            .or_else(|| line.get(blanks..))
            .unwrap_or(content);
        value.text.to_mut().push_str(rest);
    }

    /// Gives an attribute its value where several lines have it.
    fn end_value(&mut self) {
        if let Some(OpenValue {
            object,
            text: Cow::Owned(text),
            ..
        }) = self.value.take()
            && let Some(attribute) = self.objects.attributes_mut(object).last_mut()
        {
            // the quote that ends a value may be on its last line
            attribute.value =
                JsonScalar::String(Cow::Owned(unquoted(text.trim_start()).to_owned()));
        }
    }

    /// Reads a line that begins an object, and in dsv has its attributes too.
    fn read_heading(&mut self, line: &'t str) -> bool {
        let (heading, fields) = line.split_once('|').unwrap_or((line, ""));
        let Some((kind, name)) = heading_of_object(heading, !fields.is_empty()) else {
            return false;
        };
        let object = self.objects.declare(kind, name.into(), self.line);
        self.block = Some(object);
        for field in split_unescaped(fields, "|") {
            if let Some((name, value)) = field.split_once('=') {
                let mut attribute = self.attribute(name, value);
                if value.contains("\\|") {
                    attribute.value = JsonScalar::String(Cow::Owned(value.replace("\\|", "|")));
                }
                self.objects.push(Some(object), attribute);
            }
        }
        true
    }

    fn attribute(&self, name: &'t str, value: &'t str) -> Attribute<'t> {
        let place = Place {
            line: self.line,
            at: offset(self.objects.text, value),
        };
        Attribute::new(name, scalar(unquoted(value)), place)
    }

    /// Adds an attribute, whose value the next line may continue.
    fn set(
        &mut self,
        object: Option<usize>,
        attribute: Attribute<'t>,
        value: &'t str,
        indentation: &'t str,
    ) {
        self.objects.push(object, attribute);
        self.value = Some(OpenValue {
            object,
            indentation,
            text: value.into(),
        });
    }

    /// pbsnodes begins a node by its name alone.
    fn may_be_a_node(&self, line: &str) -> bool {
        if let Some(block) = self.block
            && self.objects.objects[block].kind != ObjectKind::Node
        {
            return false;
        }
        let name = line.trim_end();
        !name.contains(char::is_whitespace) && !name.ends_with([':', '}'])
    }

    fn run(&mut self, Directive { verb, kind, rest }: Directive<'t>, indentation: &'t str) {
        match verb {
            "create" | "c" => self.create(kind, rest),
            "unset" | "u" => self.unset(kind, rest),
            _ => self.set_by_directive(kind, rest, indentation),
        }
    }

    fn unset(&mut self, kind: ObjectKind, rest: &'t str) {
        let mut attributes = rest.split(',').map(str::trim);
        let first = attributes.next().unwrap_or_default();
        let Some((name, first)) = target(kind, first) else {
            return;
        };
        let object = self.objects.latest(kind, name.into(), self.line);
        for attribute in [first].into_iter().chain(attributes) {
            let attribute = Attribute {
                value: JsonScalar::NULL,
                ..self.attribute(attribute, attribute)
            };
            self.objects.push(Some(object), attribute);
        }
    }

    fn set_by_directive(&mut self, kind: ObjectKind, rest: &'t str, indentation: &'t str) {
        let Some((left, value)) = rest.split_once('=') else {
            return;
        };
        // what `-=` leaves is known to the server alone; what `qmgr` prints has `=` and `+=` only
        if left.ends_with('-') {
            return;
        }
        let single = left.trim_end_matches('+');
        let Some((name, attribute)) = target(kind, single) else {
            return;
        };
        let object = self.objects.latest(kind, name.into(), self.line);
        let value = value.trim_start();
        let attribute = Attribute {
            is_repeatable: single.len() < left.len(),
            ..self.attribute(attribute, value)
        };
        self.set(Some(object), attribute, value, indentation);
    }

    /// Adds an object with its attributes: `NAME a=b,c=d`, also with blanks in place of the commas
    /// and around `=`.
    fn create(&mut self, kind: ObjectKind, rest: &'t str) {
        let (name, mut rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name.is_empty() {
            return;
        }
        let object = self.objects.declare(kind, unquoted(name).into(), self.line);
        while let Some((attribute, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let end = after.find([',', ' ', '\t']).unwrap_or(after.len());
            let attribute = attribute
                .trim_end()
                .rsplit([',', ' ', '\t'])
                .next()
                .unwrap_or_default();
            let attribute = Attribute {
                is_repeatable: true,
                ..self.attribute(attribute, &after[..end])
            };
            self.objects.push(Some(object), attribute);
            rest = &after[end..];
        }
    }
}

/// A directive of `qmgr`.
struct Directive<'t> {
    verb: &'t str,
    kind: ObjectKind,
    /// What follows the kind.
    rest: &'t str,
}

impl<'t> Directive<'t> {
    fn parse(line: &'t str) -> Option<Self> {
        let (verb, rest) = line.split_once(char::is_whitespace)?;
        if !matches!(verb, "create" | "c" | "set" | "s" | "unset" | "u") {
            return None;
        }
        let (kind, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        Some(Self {
            verb,
            kind: ObjectKind::of_directive(kind)?,
            rest: rest.trim_start(),
        })
    }
}

/// The object and the attribute that a directive sets: `[NAME] ATTRIBUTE`.
fn target(kind: ObjectKind, left: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = left.split_whitespace().collect();
    match (&words[..], kind) {
        (&[name, attribute], _) => Some((unquoted(name), attribute)),
        (&[attribute], ObjectKind::Server) => Some(("", attribute)),
        (&[attribute], ObjectKind::Scheduler) => Some((DEFAULT, attribute)),
        _ => None,
    }
}

/// The object that a line without indentation begins.
fn heading_of_object(line: &str, is_dsv: bool) -> Option<(ObjectKind, &str)> {
    if is_dsv && let Some(name) = line.strip_prefix("Name=") {
        return Some((ObjectKind::Node, name));
    }
    let (word, rest) = line.split_once([':', ' '])?;
    let (kind, name) = match word {
        "Resv" => (ObjectKind::Reservation, rest.strip_prefix("ID:")?),
        "Job" => (ObjectKind::Other, rest.strip_prefix("Id:")?),
        _ => (ObjectKind::of_heading(word)?, rest),
    };
    let name = unquoted(name.trim());
    // the table that `qstat -Q` prints begins with the word `Queue` too
    if name.contains(char::is_whitespace) {
        return None;
    }
    Some((kind, name))
}

/// `NAME = VALUE`, or without blanks.
struct Assignment<'t> {
    name: &'t str,
    value: &'t str,
    is_spaced: bool,
}

fn assignment(line: &str) -> Option<Assignment<'_>> {
    let (left, value) = line.split_once('=')?;
    let name = left.trim_end();
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        || name.contains(char::is_whitespace)
        // a continued formula may compare
        || value.starts_with('=')
    {
        return None;
    }
    Some(Assignment {
        name,
        value: value.trim_start(),
        is_spaced: name.len() < left.len(),
    })
}

/// A value without the quotes around it; one in the same quotes cannot contain them.
fn unquoted(text: &str) -> &str {
    let text = text.trim_end();
    for quote in ['"', '\''] {
        if let Some(opened) = text.strip_prefix(quote)
            && let Some(inside) = opened.strip_suffix(quote)
            && !inside.contains(quote)
        {
            return inside;
        }
    }
    text
}

fn scalar(text: &str) -> JsonScalar<'_> {
    if number(text).is_some() {
        JsonScalar::Number(text)
    } else {
        JsonScalar::String(Cow::Borrowed(text))
    }
}

/// The parts of a text between delimiters that have no `\` before them.
pub fn split_unescaped<'d>(text: &'d str, delimiter: &str) -> Vec<&'d str> {
    if delimiter.is_empty() {
        return vec![text];
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(delimiter) {
        if !text[..at].ends_with('\\') {
            parts.push(&text[start..at]);
            start = at + delimiter.len();
        }
    }
    parts.push(&text[start..]);
    parts
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
        let attribute = Attribute::of_list(name, resource, json_scalar(value.get()), place);
        self.push(object, attribute);
    }
}

/// The value of an attribute in JSON. A list is written as the other notations write it, and a boolean as
/// text.
fn json_scalar(text: &str) -> JsonScalar<'_> {
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

/// The key and the value of `"key": value` in a line of JSON.
pub fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.strip_prefix('"')?.split_once('"')?;
    Some((key, rest.trim_start().strip_prefix(':')?.trim_start()))
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
        let Some(name) = name(object) else {
            continue;
        };
        // directives name the object that they set at each attribute
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
            // what is unset may be set again
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

/// The name of an object in messages; of a resource it is enough.
fn name(object: &Object<'_>) -> Option<String> {
    let name = clipped(&object.name);
    match object.kind {
        ObjectKind::Node | ObjectKind::Reservation | ObjectKind::Other => None,
        ObjectKind::Resource => Some(name.into_owned()),
        kind => {
            let heading = kind.heading().to_lowercase();
            Some(format!("{heading} {name}").trim_end().to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each object with its attributes, as directives would set them.
    fn shown(objects: &Objects<'_>) -> Vec<String> {
        let mut shown = Vec::new();
        for object in &objects.objects {
            let attributes = object.attributes.iter();
            let attributes = attributes
                .filter(|attribute| !matches!(attribute.value, JsonScalar::Other("an object")));
            let values = attributes.map(|attribute| match &attribute.value {
                JsonScalar::Number(number) => format!("{}={number}", attribute.full_name()),
                value => format!("{}={:?}", attribute.full_name(), value.text()),
            });
            shown.push(format!(
                "{:?} {}: {}",
                object.kind,
                object.name,
                values.collect::<Vec<_>>().join(" ")
            ));
        }
        shown
    }

    fn values(text: &str, name: &str) -> Vec<Option<String>> {
        let objects = Objects::read(text);
        let attributes = objects
            .objects
            .iter()
            .flat_map(|object| &object.attributes)
            .filter(|attribute| attribute.name == name);
        attributes
            .map(|attribute| attribute.value.text().map(str::to_owned))
            .collect()
    }

    #[test]
    fn every_notation_has_the_same_objects() {
        let expected = [
            r#"Server vm: comment=Some("a | b") default_chunk.ncpus=1"#,
            r#"Queue q: Priority=-5 max_run_res.mem=Some("[u:a b=1gb]")"#,
        ];
        for document in [
            "{\"timestamp\":1,\"Server\":{\"vm\":{\"comment\":\"a | b\",\"default_chunk\":{\"ncpus\":1}}},\
          \"Queue\":{\"q\":{\"Priority\":-5,\"max_run_res\":{\"mem\":\"[u:a b=1gb]\"}}}}",
            "Server: vm\n    comment = a | b\n    default_chunk.ncpus = 1\n\nQueue: q\n    Priority = -5\n    max_run_res.mem = [u:a b=1gb]\n",
            "Server vm\n    comment = a | b\n    default_chunk.ncpus = 1\nQueue q\n    Priority = -5\n    max_run_res.mem = [u:a b=1gb]\n",
            "Server: vm|comment=a \\| b|default_chunk.ncpus=1\nQueue: q|Priority=-5|max_run_res.mem=[u:a b=1gb]\n",
            "set server vm comment = \"a | b\"\nset server default_chunk.ncpus=1\n#\ncreate queue q\nset queue q Priority = -5\n\
         s q q max_run_res.mem += '[u:a b=1gb]'\n",
        ] {
            for text in [
                document.to_owned(),
                format!("\u{feff}{}", document.replace('\n', "\r\n")),
            ] {
                assert_eq!(shown(&Objects::read(&text)), expected, "{text}");
            }
        }
    }

    #[test]
    fn a_line_that_begins_with_a_tab_continues_the_value_above() {
        for (text, expected) in [
            // one tab is removed, and nothing else
            ("Server: vm\n    a = x +\n\t y\n\tz\n    b = 1\n", "x + yz"),
            // whatever it looks like
            ("Server: vm\n    a = x\n\tb = y\n\t# z\n", "xb = y# z"),
            ("Resv ID: R1.vm\na = x\n\ty\n", "xy"),
            ("set server a = \"x\n\ty\"\n", "xy"),
            // attributes may be indented by tabs
            ("Server: vm\n\ta = x\n\ty\n\tb = 1\n", "xy"),
            // a terminal prints the tab as blanks
            ("Server: vm\n    a = x\n         y\n    b = 1\n", "x y"),
            ("Server: vm\n    a = x\n        y=z\n    b = 1\n", "xy=z"),
            (
                "Server: vm\n    a = x\n   \u{a0}\u{a0}\u{a0}\u{a0}y\n",
                "xy",
            ),
            ("  Server: vm\n", ""),
        ] {
            let expected: Vec<Option<String>> = Some(expected.to_owned())
                .filter(|text| !text.is_empty())
                .map(Some)
                .into_iter()
                .collect();
            assert_eq!(values(text, "a"), expected, "{text}");
        }
        // a line that another one separates from the value does not continue it
        assert_eq!(
            values("Server: vm\n    a = x\n\n\ty\n", "a"),
            [Some("x".to_owned())]
        );
    }

    #[test]
    fn quotes_belong_to_a_value_that_has_the_same_ones_inside() {
        for (value, expected) in [
            ("\"a b\"", "a b"),
            ("'a \"b\"'", "a \"b\""),
            ("\"a\" if x else \"b\"", "\"a\" if x else \"b\""),
            ("\"a", "\"a"),
        ] {
            assert_eq!(
                values(&format!("set server x = {value}\n"), "x"),
                [Some(expected.to_owned())]
            );
        }
    }

    #[test]
    fn directives_are_about_the_object_that_they_name() {
        let text = "create resource a,b type = long, flag=hn\nset resource c type = size\ncreate node n Mom=h\n\
        set sched x = 1\nset sched gpu x = 2\nset queue x = 3\nset server y -= 1\nset server y\n\
        create queue q queue_type=e,enabled = t\nunset queue q enabled, started\nunset sched x\n# set server z = 1\n";
        let expected = [
            r#"Resource a,b: type=Some("long") flag=Some("hn")"#,
            r#"Resource c: type=Some("size")"#,
            r#"Node n: Mom=Some("h")"#,
            "Scheduler default: x=1 x=None",
            "Scheduler gpu: x=2",
            r#"Queue q: queue_type=Some("e") enabled=Some("t") enabled=None started=None"#,
        ];
        let objects = Objects::read(text);
        assert_eq!(shown(&objects), expected);
        let declared: Vec<bool> = objects
            .objects
            .iter()
            .map(|object| object.is_declared)
            .collect();
        assert_eq!(declared, [true, false, true, false, false, true]);
    }

    #[test]
    fn what_is_no_object_begins_none() {
        let text = "$ qstat -Q\nQueue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n\
        Queue: q\n    a = 1\n    b=2\nword\n    c = 3\nJob Id: 1.vm\n    d = 4\n";
        assert_eq!(
            shown(&Objects::read(text)),
            ["Queue q: a=1 b=2 c=3", "Other 1.vm: d=4"]
        );
        let nodes = "$ pbsnodes -a\nvn1\n     state = free\n\nvn2\n     state = down\n";
        assert_eq!(
            shown(&Objects::read(nodes)),
            [
                r#"Node vn1: state=Some("free")"#,
                r#"Node vn2: state=Some("down")"#
            ]
        );
    }

    #[test]
    fn json_has_values_of_every_type() {
        let text = "{\"timestamp\":5,\"Server\":{\"vm\":{\"a\":null,\"b\":true,\"c\":[\"1.vm/0\",2],\"d\":{\"e\":{\"f\":1}}},\"vm\":{}}}";
        let objects = Objects::read(text);
        let expected = [
            r#"Server vm: a=None b=Some("true") c=Some("1.vm/0, 2")"#,
            "Server vm: ",
        ];
        assert_eq!(shown(&objects), expected);
        assert_eq!(
            last(&objects.attributes, "timestamp").and_then(|attribute| attribute.value.text()),
            Some("5")
        );
        let cut = Objects::read(&text[..text.len() - 12]);
        assert!(
            cut.json_error
                .as_ref()
                .is_some_and(|error| error.contains("line 1"))
                && cut.objects.is_empty()
        );
    }

    #[test]
    fn places_are_those_of_the_values() {
        for text in [
            "\u{feff}Server: vm\r\n    x = 1\r\n    a = value\r\n",
            "set server a = value\n",
            "Server: vm|x=1|a=value\n",
            "{\"Server\":{\"vm\":{\"a\":\"value\"}}}",
        ] {
            let objects = Objects::read(text);
            let place = last(objects.attributes_of(ObjectKind::Server), "a")
                .map(|attribute| attribute.place)
                .expect("a place");
            assert!(
                text[place.at..]
                    .trim_start_matches('"')
                    .starts_with("value"),
                "{text}"
            );
            let line = text[..place.at].matches('\n').count() + 1;
            assert_eq!(place.line, if text.starts_with('{') { 0 } else { line });
        }
    }

    #[test]
    fn what_is_given_again_is_found_in_every_format() {
        for (text, expected) in [
            (
                "{\"Queue\":{\"a\":{\"Priority\":1,\"Priority\":2},\"b\":{\"Priority\":1}}}",
                "queue a.Priority",
            ),
            (
                "\u{feff}{\"Queue\":{\"a\":{},\"a\":{}},\"x\":[{\"Queue\":1}]}",
                "queue a",
            ),
            (
                "Queue: a\n    Priority = 1\n    Priority = 2\nQueue: b\n    Priority = 1\n",
                "queue a.Priority",
            ),
            ("Queue: a|Priority=1|Priority=2\n", "queue a.Priority"),
            (
                "Server vm\n    job_sort_formula = a +\n\tb = c\n\tb = c\n    x = 1\n    x = 1\n",
                "server vm.x",
            ),
            (
                "create queue a\nset queue a Priority = 1\nset queue b Priority = 1\ncreate queue a\n",
                "queue a",
            ),
            (
                "set server a = 1\nset server a += 2\nset server b = 1\nset server b = 2\n",
                "server.b",
            ),
        ] {
            assert_eq!(
                repeated(&Objects::read(text))
                    .into_iter()
                    .collect::<Vec<_>>(),
                [expected],
                "{text}"
            );
        }
        let resources = repeated(&Objects::read_resourcedef(
            "# a\n# a\na type=long\nb type=long\n\na type=float\n",
        ));
        assert_eq!(resources.into_iter().collect::<Vec<_>>(), ["a"]);
    }
}
