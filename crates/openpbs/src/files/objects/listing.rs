//! The objects of a text: of what qstat, pbsnodes and pbs_rstat print as text or dsv, of a listing
//! of `qmgr`, and of a `resourcedef`.
//!
//! A heading begins an object, whose attributes follow, one a line. A line that begins with a tab
//! continues the value above it, as qstat breaks long values, unless the attributes themselves are
//! indented by tabs and the line is one; a terminal may have printed eight blanks for the tab. A
//! directive of `qmgr` names its object.

use std::borrow::Cow;

use jsf_json::JsonScalar;

use super::{Attribute, Notation, ObjectKind, Objects, Place, offset, without_byte_order_mark};
use crate::files::server::DEFAULT;
use crate::resource_amount::number;

/// By how much more than the attributes a continued value is indented where a tab was printed as
/// blanks.
const BLANKS_OF_A_TAB: usize = 4;

pub fn read(text: &str) -> Objects<'_> {
    let mut reader = Reader::new(text, Notation::Listing);
    for line in without_byte_order_mark(text).lines() {
        reader.line += 1;
        reader.read_line(line);
    }
    reader.end_value();
    reader.objects
}

pub fn read_resourcedef(text: &str) -> Objects<'_> {
    let mut reader = Reader::new(text, Notation::ResourceDef);
    for line in without_byte_order_mark(text).lines() {
        reader.line += 1;
        if !line.trim_start().starts_with('#') {
            reader.create(ObjectKind::Resource, line.trim());
        }
    }
    reader.objects
}

struct Reader<'t> {
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

impl<'t> Reader<'t> {
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
            Verb::Create => self.create(kind, rest),
            Verb::Unset => {
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
            Verb::Set => {
                let Some((left, value)) = rest.split_once('=') else {
                    return;
                };
                if left.ends_with('-') {
                    return;
                }
                let single = left.trim_end_matches('+');
                let is_repeatable = single.len() < left.len();
                let Some((name, attribute)) = target(kind, single) else {
                    return;
                };
                let object = self.objects.latest(kind, name.into(), self.line);
                let value = value.trim_start();
                let attribute = Attribute {
                    is_repeatable,
                    ..self.attribute(attribute, value)
                };
                self.set(Some(object), attribute, value, indentation);
            }
        }
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
    verb: Verb,
    kind: ObjectKind,
    /// What follows the kind.
    rest: &'t str,
}

#[derive(Clone, Copy)]
enum Verb {
    Create,
    Set,
    Unset,
}

impl<'t> Directive<'t> {
    fn parse(line: &'t str) -> Option<Self> {
        let (verb, rest) = line.split_once(char::is_whitespace)?;
        let verb = match verb {
            "create" | "c" => Verb::Create,
            "set" | "s" => Verb::Set,
            "unset" | "u" => Verb::Unset,
            _ => return None,
        };
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
