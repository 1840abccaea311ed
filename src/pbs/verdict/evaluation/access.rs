//! Attributes and items.

use std::sync::Arc;

use crate::formula::syntax::{Construct, NodeId, NodeKind};
use crate::pbs::verdict::evaluation::object::{Object, Sequence};
use crate::pbs::verdict::evaluation::{Evaluation, Flow, Stop};
use crate::python::Value;

impl Evaluation<'_> {
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
            (Object::Complex(_), "real" | "imag") => Ok(Object::UNKNOWN),
            (Object::Complex(_), _) if !COMPLEX_METHODS.contains(&name) => Err(Stop::Other),
            (Object::Text(_), _) if TEXT_QUESTIONS.contains(&name) => Ok(Object::Builtin(format!("str.{name}").into())),
            (Object::Text(_), _) if !TEXT_METHODS.contains(&name) => Err(Stop::Other),
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
        let whole = expr.node(base).span.end as usize..expr.node(id).span.end as usize;
        let inside = expr.text().get(whole).unwrap_or("").trim().trim_start_matches('[').trim_end_matches(']');
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
    !matches!(object, Object::Items { kind: Sequence::Other, .. })
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

const COMPLEX_METHODS: &[&str] = &["conjugate"];

/// The methods of strings that need no argument and then never fail.
pub(super) const TEXT_QUESTIONS: &[&str] = &[
    "capitalize",
    "casefold",
    "expandtabs",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "lower",
    "lstrip",
    "rstrip",
    "split",
    "rsplit",
    "splitlines",
    "strip",
    "swapcase",
    "title",
    "upper",
];

/// The other methods of strings.
const TEXT_METHODS: &[&str] = &[
    "center",
    "count",
    "encode",
    "endswith",
    "find",
    "format",
    "format_map",
    "index",
    "join",
    "ljust",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "startswith",
    "translate",
    "zfill",
];
