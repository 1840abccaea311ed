//! Which names there are where the formula is executed, and in which order they are looked up.
//!
//! The formula itself sees the script's variables (into which `math` was imported), then the resources, then Python's
//! builtins. A lambda or a comprehension sees its own names and those around it, and then the resources and the builtins
//! at once: neither `ans` nor `sqrt`.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::formula::name_resolution::Meaning;
use crate::python::{Function, Value, constant};
use crate::schema::Schema;

use crate::pbs::verdict::evaluation::object::Object;

/// What a name stands for at a place.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// It was taken away, or has no value yet.
    Unbound,
    Bound(Object),
    /// It may have a value, or none.
    Doubtful,
}

pub(super) type Slots = BTreeMap<Box<str>, Slot>;

/// The names of a lambda or a comprehension.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub id: u32,
    pub opened: Opened,
    pub slots: Slots,
}

/// What opened a frame.
#[derive(Debug, Clone)]
pub(super) enum Opened {
    Lambda,
    Comprehension {
        /// What `:=` assigns to in it, the comprehensions in it left out.
        assigned: Rc<[Box<str>]>,
    },
}

impl Frame {
    fn is_comprehension(&self) -> bool {
        matches!(self.opened, Opened::Comprehension { .. })
    }

    fn assigns(&self, name: &str) -> bool {
        matches!(&self.opened, Opened::Comprehension { assigned } if assigned.iter().any(|own| **own == *name))
    }
}

/// All names that change.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// The script's own variables, as far as the formula changed them.
    pub script: Slots,
    /// The names beside the resources, which `:=` in a comprehension sets.
    pub globals: Slots,
    /// The innermost last.
    pub frames: Vec<Frame>,
    /// Names that the formula's own level looks up beside the resources, because a comprehension assigns to them.
    pub global_only: Vec<Box<str>>,
    /// Whether the resources that are no numbers are there too.
    pub everything: bool,
}

/// What a look-up gives.
pub(super) enum Found {
    Object(Object),
    /// `NameError`
    Nothing,
    /// One of the two.
    Perhaps,
}

impl Names {
    pub(super) fn look_up(&self, name: &str, schema: &Schema) -> Found {
        if let Some(word) = word(name) {
            return Found::Object(word);
        }
        let lambda = self.frames.iter().position(|frame| !frame.is_comprehension()).unwrap_or(self.frames.len());
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            if depth < lambda && frame.assigns(name) {
                return self.beside(name, schema);
            }
            if let Some(slot) = frame.slots.get(name) {
                return match slot {
                    Slot::Bound(object) => Found::Object(object.clone()),
                    Slot::Unbound => Found::Nothing,
                    Slot::Doubtful => Found::Perhaps,
                };
            }
        }
        let is_script = self.frames.is_empty() && !self.global_only.iter().any(|own| **own == *name);
        match (self.script.get(name), is_script) {
            (Some(Slot::Bound(object)), true) => Found::Object(object.clone()),
            (Some(Slot::Unbound), true) | (_, false) => self.beside(name, schema),
            (Some(Slot::Doubtful), true) => perhaps(self.beside(name, schema)),
            (None, true) => match of_script(name) {
                Some(object) => Found::Object(object),
                None => self.beside(name, schema),
            },
        }
    }

    /// The resources, then the builtins.
    fn beside(&self, name: &str, schema: &Schema) -> Found {
        let is_resource = if self.everything { schema.entry(name).is_some() } else { schema.is_numeric(name) };
        let below = match builtin(name) {
            _ if is_resource => Found::Object(Object::Known(Value::Int(1))),
            Some(object) => Found::Object(object),
            None => Found::Nothing,
        };
        match self.globals.get(name) {
            Some(Slot::Bound(object)) => Found::Object(object.clone()),
            Some(Slot::Doubtful) => perhaps(below),
            Some(Slot::Unbound) | None => below,
        }
    }

    /// Whether a name is there however the formula comes to it.
    pub(super) fn has_everywhere(&self, name: &str, schema: &Schema, in_function: bool) -> bool {
        let beside = matches!(self.beside(name, schema), Found::Object(object) if !matches!(object, Object::Powerful));
        let harmless = |object: Option<Object>| object.is_some_and(|object| !matches!(object, Object::Powerful));
        beside || word(name).is_some() || (!in_function && name != "e" && harmless(of_script(name)))
    }

    /// Where `:=` keeps its value: in a lambda with the innermost scope that has the name, else beside the resources
    /// from a comprehension, and with the script's variables from the formula's own level.
    pub(super) fn assign(&mut self, name: &str, slot: Slot) {
        let in_lambda = self.frames.iter().any(|frame| !frame.is_comprehension());
        let has_it = |frame: &&mut Frame| !frame.is_comprehension() || frame.slots.contains_key(name);
        let is_global = !self.frames.is_empty() || self.global_only.iter().any(|own| **own == *name);
        let slots = match self.frames.iter_mut().rev().find(has_it).filter(|_| in_lambda) {
            Some(frame) => &mut frame.slots,
            None if is_global => &mut self.globals,
            None => &mut self.script,
        };
        slots.insert(name.into(), slot);
    }

    /// Where the target of a loop is kept.
    pub(super) fn bind(&mut self, name: &str, object: Object) {
        match self.frames.last_mut() {
            Some(frame) => {
                frame.slots.insert(name.into(), Slot::Bound(object));
            }
            None => self.assign(name, Slot::Bound(object)),
        }
    }

    /// Every slot.
    pub(super) fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        let frames = self.frames.iter_mut().flat_map(|frame| frame.slots.values_mut());
        self.script.values_mut().chain(self.globals.values_mut()).chain(frames)
    }

    /// Whatever was assigned in the script may not have been reached.
    pub(super) fn doubt_script(&mut self) {
        for (name, slot) in &mut self.script {
            *slot = match (&*slot, of_script(name)) {
                (Slot::Bound(object), Some(before)) => Slot::Bound(either(object, &before)),
                _ => Slot::Doubtful,
            };
        }
    }

    /// What is known when either this or `other` came to be.
    pub(super) fn join(&mut self, other: &Self) {
        join_slots(&mut self.script, &other.script);
        join_slots(&mut self.globals, &other.globals);
        for (own, other) in self.frames.iter_mut().zip(&other.frames) {
            join_slots(&mut own.slots, &other.slots);
        }
    }
}

fn join_slots(own: &mut Slots, other: &Slots) {
    for (name, slot) in own.iter_mut() {
        let both = match (&*slot, other.get(name)) {
            (Slot::Bound(mine), Some(Slot::Bound(theirs))) => Slot::Bound(either(mine, theirs)),
            (Slot::Unbound, Some(Slot::Unbound)) => Slot::Unbound,
            _ => Slot::Doubtful,
        };
        *slot = both;
    }
    for name in other.keys() {
        own.entry(name.clone()).or_insert(Slot::Doubtful);
    }
}

/// What is known of an object that is one of two.
pub(super) fn either(one: &Object, other: &Object) -> Object {
    match (one, other) {
        (Object::Known(x), Object::Known(y)) if x.is_same(y) => one.clone(),
        (Object::Text(x), Object::Text(y)) if x == y => one.clone(),
        (Object::Powerful | Object::Code(_), _) | (_, Object::Powerful | Object::Code(_)) => Object::Powerful,
        _ if one.truth() == other.truth() => Object::Opaque(one.truth()),
        _ => Object::UNKNOWN,
    }
}

fn perhaps(found: Found) -> Found {
    match found {
        Found::Object(Object::Powerful) => Found::Object(Object::Powerful),
        Found::Object(_) => Found::Object(Object::UNKNOWN),
        Found::Nothing | Found::Perhaps => Found::Perhaps,
    }
}

/// Names that are words of the language.
fn word(name: &str) -> Option<Object> {
    Some(Object::Known(match name {
        "True" | "__debug__" => Value::Bool(true),
        "False" => Value::Bool(false),
        "None" => Value::None,
        _ => return None,
    }))
}

/// What the server's script has before the formula is executed.
fn of_script(name: &str) -> Option<Object> {
    if let Some(value) = constant(name) {
        return Some(Object::Known(value));
    }
    if let Some(function) = Function::from_name(name).filter(|function| function.is_math()) {
        return Some(Object::Known(Value::Function(function)));
    }
    Some(match name {
        "ans" | "errnum" => Object::Known(Value::Int(0)),
        "errmsg" => Object::Text("".into()),
        "__name__" => Object::Text("__main__".into()),
        "__doc__" | "__package__" | "__spec__" => Object::UNKNOWN,
        "globals1" | "globals2" | "__builtins__" | "__loader__" | "__annotations__" => Object::Powerful,
        _ => return None,
    })
}

/// Whether the script has a variable of this name before the formula is executed.
pub(super) fn is_of_script(name: &str) -> bool {
    of_script(name).is_some()
}

/// What Python itself has.
fn builtin(name: &str) -> Option<Object> {
    if let Some(function) = Function::from_name(name).filter(|function| !function.is_math()) {
        return Some(Object::Known(Value::Function(function)));
    }
    match name {
        "pow" => Some(Object::Builtin(name.into())),
        // the script's own
        "__annotations__" => None,
        "__builtins__" | "__loader__" | "__spec__" => Some(Object::Powerful),
        "__name__" | "__doc__" | "__package__" => Some(Object::UNKNOWN),
        "NotImplemented" | "Ellipsis" => Some(Object::TRUE_OBJECT),
        _ if matches!(Meaning::of(name, &Schema::empty()), Meaning::Foreign) => Some(Object::Builtin(name.into())),
        _ => None,
    }
}
