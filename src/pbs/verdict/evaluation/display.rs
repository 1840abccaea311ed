//! What is written down: numbers, strings, and displays in brackets.

use std::sync::Arc;

use crate::formula::syntax::{Construct, LiteralKind, NodeId, NodeKind};
use crate::pbs::verdict::evaluation::object::{Object, Sequence};
use crate::pbs::verdict::evaluation::{Evaluation, Flow, LONGEST_TEXT, Stop};
use crate::pbs::verdict::strings;
use crate::pbs::verdict::strings::{Piece, Text};
use crate::python::Value;

impl Evaluation<'_> {
    pub(super) fn display(&mut self, items: &[NodeId], kind: Sequence) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let mut objects = Some(Vec::new());
        for &item in items {
            let starred = match &expr.node(item).kind {
                NodeKind::Foreign { construct: Construct::Unpacking, parts } => parts.first().copied(),
                _ => None,
            };
            let object = self.value(starred.unwrap_or(item))?;
            match starred {
                Some(_) => {
                    let unpacked = self.go_through(&object)?;
                    objects = objects.zip(unpacked).map(|(known, more)| [known, more].concat());
                }
                None => {
                    let object = self.released(object)?;
                    objects.iter_mut().for_each(|objects| objects.push(object.clone()));
                }
            }
        }
        Ok(objects.map_or(Object::UNKNOWN, |objects| Object::items(objects, kind)))
    }

    /// `{…}`: what is hashed in it must be hashable, which shows when all of it is there, or all so far.
    pub(super) fn braces(&mut self, construct: Construct, parts: &[NodeId]) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let (mut is_filled, mut is_odd, mut in_parts, mut is_hashable) = (Some(false), false, parts.len() > 30, true);
        for &part in parts {
            if let NodeKind::Foreign { construct: Construct::Unpacking, parts } = &expr.node(part).kind {
                for &part in parts {
                    let object = self.value(part)?;
                    self.release(&object)?;
                }
                self.uncertain()?;
                is_filled = is_filled.filter(|is_filled| *is_filled);
                in_parts = true;
                continue;
            }
            let object = self.value(part)?;
            is_hashable &= object.is_hashable() || (construct == Construct::Dict && is_odd);
            self.release(&object)?;
            self.doubts.other |= in_parts && !is_hashable;
            (is_filled, is_odd) = (Some(true), !is_odd);
        }
        self.doubts.other |= !is_hashable;
        Ok(Object::Opaque(is_filled))
    }

    pub(super) fn string(&mut self, text: &str) -> Flow<Object> {
        match strings::read(text) {
            Ok(Text::Plain(text)) => Ok(Object::Text(text.into())),
            Ok(Text::Unspoken) => Ok(Object::TRUE_OBJECT),
            Ok(Text::Bytes { is_empty }) => Ok(Object::Opaque(Some(!is_empty))),
            Ok(Text::Formatted(pieces)) => self.formatted(&pieces),
            Err(_) => Err(Stop::Lost),
        }
    }

    fn formatted(&mut self, pieces: &[Piece]) -> Flow<Object> {
        let mut text = Some(String::new());
        for piece in pieces {
            let part = match piece {
                Piece::Plain(plain) => Some(plain.clone()),
                Piece::Field { expr, is_converted, format } => {
                    if expr.scopes().next().is_some() || expr.text().contains(":=") {
                        return Err(Stop::Lost);
                    }
                    let object = self.of(expr)?;
                    self.formatted(format)?;
                    if !format.is_empty() {
                        self.doubts.other = true;
                    }
                    object.printed().filter(|_| format.is_empty() && !is_converted)
                }
            };
            text = text.zip(part).map(|(text, part)| text + &part);
        }
        Ok(text.map_or(Object::UNKNOWN, |text| Object::Text(text.into())))
    }
}

pub(super) fn literal(kind: LiteralKind, text: &str) -> Object {
    let digits: String = text.chars().filter(|&digit| digit != '_').collect();
    if kind == LiteralKind::Float {
        return digits.parse().map_or(Object::UNKNOWN, |float| Object::Known(Value::Float(float)));
    }
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, &*digits),
    };
    let number = num_bigint::BigInt::parse_bytes(digits.as_bytes(), radix).filter(|_| digits.len() <= LONGEST_TEXT);
    let is_true = digits.bytes().any(|digit| digit != b'0');
    number.map_or(Object::Opaque(Some(is_true)), |number| Object::Known(Value::int(number)))
}
