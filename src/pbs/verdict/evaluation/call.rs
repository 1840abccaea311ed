//! Calls, attributes and items.

use std::sync::Arc;

use crate::formula::syntax::{Construct, Keyword, NodeId, NodeKind};
use crate::pbs::verdict::evaluation::comprehension::Asked;
use crate::pbs::verdict::evaluation::object::Object;
use crate::pbs::verdict::evaluation::{Evaluation, Flow, Stop};
use crate::python::{Arithmetic, Function, Value};

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
            Object::Known(_) | Object::Text(_) | Object::Items { .. } | Object::Complex(_) => Err(Stop::Other),
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
            (Function::Abs, Object::Complex(_)) => Ok(Object::UNKNOWN),
            // other blanks and digits, and `_` between digits, are left open
            (Function::Float, Object::Text(text)) if is_plain(text) => {
                text.trim_ascii().parse().map(|number| Object::Known(Value::Float(number))).map_err(|_| Stop::Other)
            }
            (Function::Int, Object::Text(text)) if is_plain(text) && text.len() < 19 => {
                text.trim_ascii().parse().map(|number| Object::Known(Value::Int(number))).map_err(|_| Stop::Other)
            }
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
        let whole = Object::items(objects, crate::pbs::verdict::evaluation::object::Sequence::Tuple);
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

/// Printable ASCII without `_`.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (byte == b' ' || byte.is_ascii_graphic()) && byte != b'_')
}
