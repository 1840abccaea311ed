//! Calls of the builtins that are no arithmetic.

use crate::pbs::verdict::evaluation::access::TEXT_QUESTIONS;
use crate::pbs::verdict::evaluation::call::Arguments;
use crate::pbs::verdict::evaluation::comprehension::Asked;
use crate::pbs::verdict::evaluation::object::{Object, Sequence};
use crate::pbs::verdict::evaluation::{Evaluation, Flow, LONGEST_LOOP, Stop};
use crate::pbs::verdict::statements;
use crate::pbs::verdict::statements::{Statement, Unread};
use crate::python::Value;

impl Evaluation<'_> {
    pub(super) fn call_builtin(&mut self, name: &str, arguments: Arguments) -> Flow<Object> {
        if !arguments.are_known || !arguments.named.is_empty() {
            return self.call_unknown(name, &arguments);
        }
        match (name, arguments.positional.as_slice()) {
            ("eval" | "exec", [Object::Text(text)]) => self.run_text(name, &text.clone()),
            ("eval" | "exec", [Object::Known(_)]) => Err(Stop::Other),
            ("globals" | "locals" | "vars" | "dir", []) => Ok(Object::Powerful),
            ("__import__", [Object::Text(module)])
                if crate::pbs::verdict::evaluation::statement::is_plain_module(module) =>
            {
                Ok(crate::pbs::verdict::evaluation::statement::module(module))
            }
            ("print", _) => {
                self.lend(&arguments)?;
                Ok(Object::Known(Value::None))
            }
            ("type" | "id", [_]) | ("repr" | "callable", [Object::Powerful]) => {
                self.lend(&arguments)?;
                Ok(Object::TRUE_OBJECT)
            }
            ("callable", [_]) => {
                self.lend(&arguments)?;
                Ok(Object::UNKNOWN)
            }
            ("str", []) => Ok(Object::Text("".into())),
            ("str", [object]) => match object.printed() {
                Some(text) => Ok(Object::Text(text.into())),
                None => self.lend(&arguments).and_then(|()| self.uncertain()),
            },
            ("repr", [Object::Known(value)]) => Ok(Object::Text(value.repr().into())),
            ("chr", [Object::Known(Value::Int(code))]) => character(*code),
            ("ord", [Object::Text(text)]) => match text.chars().collect::<Vec<_>>().as_slice() {
                &[only] => Ok(Object::Known(Value::Int(i64::from(u32::from(only))))),
                _ => Err(Stop::Other),
            },
            ("range", positional) => self.range(&whole_numbers(positional), &arguments),
            ("list" | "tuple" | "set" | "frozenset" | "dict", []) => Ok(empty(name)),
            ("list" | "tuple" | "sorted" | "set" | "frozenset", [object]) => self.gather(name, object),
            ("reversed" | "iter" | "enumerate", [object]) => self.iterate(name, object),
            ("hex" | "oct" | "bin", [Object::Known(Value::Int(_) | Value::Bool(_))]) => Ok(Object::TRUE_OBJECT),
            ("hex" | "oct" | "bin", [Object::Known(_)]) => Err(Stop::Other),
            ("hash", [Object::Known(Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::None)])
            | ("hash", [Object::Text(_)]) => Ok(Object::UNKNOWN),
            ("complex", [Object::Known(Value::Int(_) | Value::Float(_))])
            | ("complex", [Object::Known(Value::Int(_) | Value::Float(_)), Object::Known(Value::Int(_))]) => {
                Ok(Object::Complex(None))
            }
            (_, []) if is_question(name) => Ok(Object::UNKNOWN),
            ("object", []) => Ok(Object::TRUE_OBJECT),
            _ => self.call_unknown(name, &arguments),
        }
    }

    fn call_unknown(&mut self, name: &str, arguments: &Arguments) -> Flow<Object> {
        match name {
            "getattr" => {
                self.lend(arguments)?;
                self.doubts.other = true;
                Ok(Object::Powerful)
            }
            _ if Object::Builtin(name.into()).is_powerful() => Err(Stop::Lost),
            "isinstance" | "issubclass" => {
                self.lend(arguments)?;
                self.uncertain()
            }
            _ => self.hand_over(arguments),
        }
    }

    /// Hands arguments to something that does not run them.
    fn lend(&mut self, arguments: &Arguments) -> Flow<()> {
        arguments.all().try_for_each(|object| self.release(object))
    }

    fn range(&mut self, numbers: &Option<Vec<i64>>, arguments: &Arguments) -> Flow<Object> {
        let (start, stop, step) = match numbers.as_deref() {
            Some(&[stop]) => (0, stop, 1),
            Some(&[start, stop]) => (start, stop, 1),
            Some(&[start, stop, step]) if step != 0 => (start, stop, step),
            Some(_) => return Err(Stop::Other),
            None => return self.hand_over(arguments),
        };
        let (distance, stride) = (i128::from(stop) - i128::from(start), i128::from(step));
        let count = if (distance > 0) == (stride > 0) { (distance.abs() + stride.abs() - 1) / stride.abs() } else { 0 };
        if count > LONGEST_LOOP as i128 {
            return Ok(Object::Opaque(Some(true)));
        }
        let numbers = (0..count as i64).map(|index| Object::Known(Value::Int(start + index * step)));
        Ok(Object::Items { items: numbers.collect(), kind: Sequence::Other })
    }

    /// A builtin that takes all that its argument gives.
    fn gather(&mut self, name: &str, object: &Object) -> Flow<Object> {
        let Some(objects) = self.go_through_as(object, Asked::AtOnce)? else {
            return Ok(if object.is_powerful() { Object::Powerful } else { Object::UNKNOWN });
        };
        match name {
            "list" => Ok(Object::items(objects, Sequence::List)),
            "tuple" => Ok(Object::items(objects, Sequence::Tuple)),
            "sorted" => Ok(sorted(objects).unwrap_or_else(|objects| {
                self.doubts.other = true;
                Object::Opaque(Some(!objects.is_empty()))
            })),
            _ => {
                self.doubts.other |= !objects.iter().all(Object::is_hashable);
                Ok(Object::Opaque(Some(!objects.is_empty())))
            }
        }
    }

    fn iterate(&mut self, name: &str, object: &Object) -> Flow<Object> {
        if object.is_no_iterable() {
            return Err(Stop::Other);
        }
        self.release(object)?;
        if object.is_powerful() {
            return Ok(Object::Powerful);
        }
        match object.sequence() {
            Some(mut objects) if name == "reversed" => {
                objects.reverse();
                Ok(Object::Items { items: objects.into(), kind: Sequence::Other })
            }
            Some(_) => Ok(Object::TRUE_OBJECT),
            None => self.uncertain(),
        }
    }

    /// `eval` and `exec` see what the formula's own level sees.
    fn run_text(&mut self, name: &str, text: &str) -> Flow<Object> {
        if !self.names.frames.is_empty() || text.contains(['\n', '\r', ':', '=', ';']) {
            return Err(Stop::Lost);
        }
        let text = text.trim_start_matches([' ', '\t']);
        let statements = match statements::read_text(text) {
            Ok(statements) => statements,
            Err(Unread::Syntax) => return Err(Stop::Syntax),
            Err(Unread::Unknown) => return Err(Stop::Lost),
        };
        let [Statement::Assignment { targets, value }] = statements.as_slice() else { return Err(Stop::Lost) };
        if !targets.is_empty() || value.scopes().next().is_some() {
            return Err(Stop::Lost);
        }
        self.step()?;
        let object = self.of(value)?;
        Ok(if name == "eval" { object } else { Object::Known(Value::None) })
    }
}

/// Whether it is a method of strings that never fails.
fn is_question(name: &str) -> bool {
    name.strip_prefix("str.").is_some_and(|method| TEXT_QUESTIONS.contains(&method))
}

fn whole_numbers(objects: &[Object]) -> Option<Vec<i64>> {
    let number = |object: &Object| match object {
        Object::Known(Value::Int(number)) => Some(*number),
        Object::Known(Value::Bool(truth)) => Some(i64::from(*truth)),
        _ => None,
    };
    objects.iter().map(number).collect()
}

fn character(code: i64) -> Flow<Object> {
    match u32::try_from(code) {
        Ok(code) if code < 0x11_0000 => {
            Ok(char::from_u32(code).map_or(Object::TRUE_OBJECT, |only| Object::Text(only.to_string().into())))
        }
        _ => Err(Stop::Other),
    }
}

fn empty(name: &str) -> Object {
    match name {
        "list" => Object::items(Vec::new(), Sequence::List),
        "tuple" => Object::items(Vec::new(), Sequence::Tuple),
        _ => Object::Opaque(Some(false)),
    }
}

/// The objects in order, where they are whole numbers; else the objects.
fn sorted(objects: Vec<Object>) -> Result<Object, Vec<Object>> {
    match whole_numbers(&objects) {
        Some(mut numbers) => {
            numbers.sort_unstable();
            let objects = numbers.into_iter().map(|number| Object::Known(Value::Int(number)));
            Ok(Object::items(objects.collect(), Sequence::List))
        }
        None => Err(objects),
    }
}
