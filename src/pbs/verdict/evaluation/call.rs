//! Calls, attributes and items.

use std::sync::Arc;

use super::comprehension::Asked;
use super::object::Object;
use super::{Evaluation, Flow, Stop};
use crate::formula::number::{Arithmetic, Function, Value};
use crate::formula::syntax::{Construct, Keyword, NodeId, NodeKind};

/// What a call hands over.
pub(super) struct Arguments {
    pub positional: Vec<Object>,
    pub named: Vec<(Box<str>, Object)>,
    /// Whether these are all.
    pub are_known: bool,
}

impl Evaluation<'_> {
    pub(super) fn call(&mut self, callee: NodeId, positional: &[NodeId], keywords: &[Keyword]) -> Flow<Object> {
        let callee = self.value(callee)?;
        let arguments = self.arguments(positional, keywords)?;
        self.apply(&callee, arguments)
    }

    fn arguments(&mut self, positional: &[NodeId], keywords: &[Keyword]) -> Flow<Arguments> {
        let expr = Arc::clone(&self.expr);
        let mut arguments = Arguments { positional: Vec::new(), named: Vec::new(), are_known: true };
        for &argument in positional {
            let NodeKind::Foreign { construct: Construct::Unpacking, parts } = &expr.node(argument).kind else {
                arguments.positional.push(self.value(argument)?);
                continue;
            };
            let &[inner] = &**parts else { return Err(Stop::Lost) };
            let object = self.value(inner)?;
            let is_mapping = expr.node(argument).span.of(expr.text()).starts_with("**");
            // keywords before it in the text may come after it in time
            if is_mapping || !keywords.is_empty() {
                self.release(&object)?;
                self.uncertain()?;
                arguments.are_known = false;
                continue;
            }
            match self.go_through(&object)? {
                Some(objects) => arguments.positional.extend(objects),
                None => arguments.are_known = false,
            }
        }
        for keyword in keywords {
            arguments.named.push((keyword.name.clone(), self.value(keyword.value)?));
        }
        Ok(arguments)
    }

    fn apply(&mut self, callee: &Object, arguments: Arguments) -> Flow<Object> {
        match callee {
            Object::Known(Value::Function(function)) => self.call_function(*function, arguments),
            Object::Known(_) | Object::Text(_) | Object::Items { .. } => Err(Stop::Other),
            Object::Builtin(name) => self.call_builtin(name, arguments),
            Object::Code(code) if arguments.are_known => self.call_lambda(code, &arguments),
            Object::Code(_) => {
                self.release(callee)?;
                self.hand_over(&arguments)
            }
            Object::Opaque(_) => self.hand_over(&arguments),
            Object::Powerful => Err(Stop::Lost),
        }
    }

    /// Hands arguments to something of which only that is known that it runs no text.
    pub(super) fn hand_over(&mut self, arguments: &Arguments) -> Flow<Object> {
        for object in arguments.all() {
            if object.is_powerful() {
                return Err(Stop::Lost);
            }
            self.release(object)?;
        }
        self.forget_mutables();
        self.uncertain()
    }

    fn call_function(&mut self, function: Function, arguments: Arguments) -> Flow<Object> {
        if let Some(values) = arguments.values() {
            let result = self.python.call(&Value::Function(function), &values.positional, &values.named);
            return self.computed(result);
        }
        if let (true, [only], true) = (arguments.are_known, &*arguments.positional, arguments.named.is_empty()) {
            return self.call_with(function, only);
        }
        self.hand_over(&arguments)
    }

    /// Calls a function with one object that is no plain value.
    fn call_with(&mut self, function: Function, object: &Object) -> Flow<Object> {
        match (function, object) {
            (Function::Bool, _) if object.truth().is_some() => {
                self.release(object)?;
                Ok(Object::Known(Value::Bool(object.truth() == Some(true))))
            }
            (Function::Len, Object::Code(_) | Object::Builtin(_)) => Err(Stop::Other),
            (Function::Len, _) if object.sequence().is_some() => {
                let length = object.sequence().map_or(0, |items| items.len());
                Ok(Object::Known(Value::Int(length as i64)))
            }
            (Function::Float, Object::Text(text)) => match number(text) {
                Some(number) => Ok(Object::Known(Value::Float(number))),
                None => self.uncertain(),
            },
            (Function::Int, Object::Text(text)) => match text.trim_matches(' ').parse() {
                Ok(number) if !text.contains('+') => Ok(Object::Known(Value::Int(number))),
                _ => self.uncertain(),
            },
            (Function::Sum | Function::Min | Function::Max | Function::Any | Function::All, _)
            | (Function::Fsum | Function::Prod, _) => self.fold(function, object),
            (Function::Len, Object::Powerful) => self.uncertain(),
            _ => {
                let arguments = Arguments { positional: vec![object.clone()], named: Vec::new(), are_known: true };
                self.hand_over(&arguments)
            }
        }
    }

    /// A function that goes through its argument.
    fn fold(&mut self, function: Function, object: &Object) -> Flow<Object> {
        let Some(objects) = self.go_through(object)? else { return Ok(Object::UNKNOWN) };
        let whole = Object::items(objects, super::object::Sequence::Tuple);
        match &whole {
            Object::Known(value) => {
                let result = self.python.call(&Value::Function(function), std::slice::from_ref(value), &[]);
                self.computed(result)
            }
            _ => self.uncertain(),
        }
    }

    /// What an object gives one by one, if that is known; what cannot be gone through stops.
    pub(super) fn go_through(&mut self, object: &Object) -> Flow<Option<Vec<Object>>> {
        self.go_through_as(object, Asked::OneByOne)
    }

    pub(super) fn go_through_as(&mut self, object: &Object, asked: Asked) -> Flow<Option<Vec<Object>>> {
        if object.is_no_iterable() {
            return Err(Stop::Other);
        }
        if let Object::Code(code) = object {
            return self.run_generator(code, asked);
        }
        match object.sequence() {
            Some(objects) => Ok(Some(objects)),
            None => self.uncertain().map(|_| None),
        }
    }

    pub(super) fn attribute(&mut self, id: NodeId, parts: &[NodeId]) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let &[base] = parts else { return Err(Stop::Lost) };
        let object = self.value(base)?;
        let text = expr.node(id).span.of(expr.text());
        let name_start = text.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
        let name = text.get(name_start..).unwrap_or("");
        if is_powerful_attribute(name) || object.is_powerful() {
            self.release(&object)?;
            self.doubts.other = true;
            return Ok(Object::Powerful);
        }
        match (&object, name) {
            (Object::Known(Value::Int(_) | Value::Big(_) | Value::Bool(_)), "numerator" | "denominator")
            | (Object::Known(Value::Int(_) | Value::Big(_) | Value::Bool(_) | Value::Float(_)), "real" | "imag") => {
                Ok(Object::UNKNOWN)
            }
            (Object::Known(Value::None), _) => Err(Stop::Other),
            (Object::Known(Value::Int(_) | Value::Big(_) | Value::Bool(_)), _) if !INT_METHODS.contains(&name) => {
                Err(Stop::Other)
            }
            (Object::Known(Value::Float(_)), _) if !FLOAT_METHODS.contains(&name) => Err(Stop::Other),
            _ => {
                self.release(&object)?;
                self.forget_mutables();
                self.uncertain()
            }
        }
    }

    pub(super) fn subscript(&mut self, id: NodeId, parts: &[NodeId]) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let Some((&base, indices)) = parts.split_first() else { return Err(Stop::Lost) };
        let object = self.value(base)?;
        self.release(&object)?;
        let mut index = Object::UNKNOWN;
        for &part in indices {
            index = match &expr.node(part).kind {
                NodeKind::Foreign { construct: Construct::Unpacking, parts } => {
                    let &[inner] = &**parts else { return Err(Stop::Lost) };
                    let unpacked = self.value(inner)?;
                    self.go_through(&unpacked)?;
                    Object::UNKNOWN
                }
                _ => self.value(part)?,
            };
            self.release(&index)?;
        }
        if object.is_powerful() {
            self.doubts.other = true;
            return Ok(Object::Powerful);
        }
        // one index and nothing else, no `:` and no `,`
        let whole = &expr.text()[expr.node(base).span.end as usize..expr.node(id).span.end as usize];
        let inside = whole.trim().trim_start_matches('[').trim_end_matches(']');
        let is_index = matches!(indices, [only] if expr.node(*only).span.of(expr.text()) == inside.trim());
        match (&object, object.sequence(), &index) {
            (_, Some(objects), Object::Known(Value::Int(place))) if is_index && is_ordered(&object) => {
                let length = objects.len() as i64;
                let place = if *place < 0 { *place + length } else { *place };
                let found = usize::try_from(place).ok().and_then(|place| objects.get(place).cloned());
                found.ok_or(Stop::Other)
            }
            (Object::Known(value), None, _) if !matches!(value, Value::Function(_)) => Err(Stop::Other),
            _ => self.uncertain(),
        }
    }
}

/// Tuples, lists and strings.
fn is_ordered(object: &Object) -> bool {
    !matches!(object, Object::Items { kind: super::object::Sequence::Other, .. })
}

impl Arguments {
    pub(super) fn all(&self) -> impl Iterator<Item = &Object> {
        self.positional.iter().chain(self.named.iter().map(|(_, object)| object))
    }

    /// The arguments, where they are plain values.
    fn values(&self) -> Option<Values<'_>> {
        let value = |object: &Object| match object {
            Object::Known(value) => Some(value.clone()),
            _ => None,
        };
        let positional: Option<Vec<_>> = self.positional.iter().map(value).collect();
        let named = self.named.iter().map(|(name, object)| Some((&**name, value(object)?)));
        let named: Option<Vec<_>> = named.collect();
        let (positional, named) = positional.zip(named)?;
        self.are_known.then_some(Values { positional, named })
    }
}

/// Arguments that are plain values.
struct Values<'a> {
    positional: Vec<Value>,
    named: Vec<(&'a str, Value)>,
}

/// What `float` reads in a plain text.
fn number(text: &str) -> Option<f64> {
    let text = text.trim_matches(' ');
    let digits = text.trim_start_matches(['+', '-']);
    let is_word = matches!(&*digits.to_ascii_lowercase(), "inf" | "infinity" | "nan");
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'-' | b'+'));
    if is_word || is_number { text.parse().ok() } else { None }
}

/// Attributes by which code, scopes or exceptions can be reached.
fn is_powerful_attribute(name: &str) -> bool {
    let prefixes = ["_", "gi_", "cr_", "ag_", "tb_", "f_", "func_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        || matches!(name, "throw" | "athrow" | "send" | "asend" | "close" | "aclose" | "with_traceback" | "mro")
}

const INT_METHODS: &[&str] =
    &["as_integer_ratio", "bit_count", "bit_length", "conjugate", "from_bytes", "to_bytes", "is_integer"];

const FLOAT_METHODS: &[&str] = &["as_integer_ratio", "conjugate", "fromhex", "hex", "is_integer"];
