//! Operators: numbers are computed, and what stops early stops early.

use std::sync::Arc;

use crate::formula::syntax::{Construct, NodeId, NodeKind};
use crate::pbs::verdict::evaluation::names::Names;
use crate::pbs::verdict::evaluation::object::Object;
use crate::pbs::verdict::evaluation::{Evaluation, Flow, LONGEST_TEXT, Stop, names};
use crate::python::{Arithmetic, BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator, Value};

impl Evaluation<'_> {
    pub(super) fn unary(&mut self, op: UnaryOperator, operand: NodeId) -> Flow<Object> {
        let object = self.value(operand)?;
        match object {
            _ if op == UnaryOperator::Not => {
                let truth = object.truth().map(|truth| Object::Known(Value::Bool(!truth)));
                Ok(truth.unwrap_or(Object::UNKNOWN))
            }
            Object::Known(value) => {
                let result = self.python.unary(op, &value);
                self.computed(result)
            }
            Object::Complex(truth) if op != UnaryOperator::Invert => Ok(Object::Complex(truth)),
            Object::Text(_) | Object::Items { .. } | Object::Code(_) | Object::Complex(_) => Err(Stop::Other),
            _ => self.uncertain(),
        }
    }

    /// A long sum is deep to the left: it is done without going down.
    pub(super) fn binary_chain(&mut self, id: NodeId) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let (mut first, mut waiting) = (id, Vec::new());
        while let NodeKind::Binary { op, left, right } = &expr.node(first).kind {
            waiting.push((*op, *right));
            first = *left;
        }
        let mut object = self.value(first)?;
        while let Some((op, right)) = waiting.pop() {
            self.step()?;
            let right = self.value(right)?;
            object = self.binary(op, &object, &right)?;
        }
        Ok(object)
    }

    fn binary(&mut self, op: BinaryOperator, left: &Object, right: &Object) -> Flow<Object> {
        match (left, right) {
            // `int | float` is a type
            (Object::Known(Value::Function(x)), Object::Known(Value::Function(y)))
                if op == BinaryOperator::BitOr && x.is_type() && y.is_type() =>
            {
                Ok(Object::TRUE_OBJECT)
            }
            (Object::Known(x), Object::Known(y)) => {
                let result = self.python.binary(op, x, y);
                self.computed(result)
            }
            (Object::Text(x), Object::Text(y)) if op == BinaryOperator::Add && x.len() + y.len() < LONGEST_TEXT => {
                Ok(Object::Text(format!("{x}{y}").into()))
            }
            (
                Object::Complex(_),
                Object::Complex(_) | Object::Known(Value::Int(_) | Value::Float(_) | Value::Bool(_)),
            )
            | (Object::Known(Value::Int(_) | Value::Float(_) | Value::Bool(_)), Object::Complex(_))
                if matches!(op, BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply) =>
            {
                Ok(Object::Complex(None))
            }
            (Object::Text(_), Object::Known(Value::Float(_) | Value::None)) if op != BinaryOperator::Modulo => {
                Err(Stop::Other)
            }
            (Object::Code(_), _) | (_, Object::Code(_)) if !matches!((left, right), (Object::Text(_), _)) => {
                self.release(left)?;
                self.release(right)?;
                self.uncertain()
            }
            (Object::Powerful, _) | (_, Object::Powerful) => {
                self.doubts.other = true;
                Ok(Object::Powerful)
            }
            _ => self.uncertain(),
        }
    }

    pub(super) fn comparison(&mut self, operators: &[ComparisonOperator], operands: &[NodeId]) -> Flow<Object> {
        let [first, rest @ ..] = operands else { return Err(Stop::Lost) };
        let mut left = self.value(*first)?;
        for (index, (&op, &operand)) in operators.iter().zip(rest).enumerate() {
            let right = self.value(operand)?;
            let holds = self.compare(op, &left, &right)?;
            match holds {
                Some(false) => return Ok(Object::Known(Value::Bool(false))),
                None => {
                    self.rest_of_chain(&rest[index + 1..])?;
                    return Ok(Object::UNKNOWN);
                }
                Some(true) => left = right,
            }
        }
        Ok(Object::Known(Value::Bool(true)))
    }

    /// Operands that may not be reached, each if those before it are.
    fn rest_of_chain(&mut self, operands: &[NodeId]) -> Flow<()> {
        let mut ended: Option<Names> = None;
        for &operand in operands {
            let here = self.names.clone();
            ended = Some(joined(ended, here));
            let object = self.value(operand).and_then(|object| self.release(&object));
            if let Err(stop) = object {
                self.doubt(stop)?;
                self.names = ended.unwrap_or_default();
                return Ok(());
            }
            self.uncertain()?;
        }
        if let Some(ended) = ended {
            self.names.join(&ended);
        }
        Ok(())
    }

    fn compare(&mut self, op: ComparisonOperator, left: &Object, right: &Object) -> Flow<Option<bool>> {
        use ComparisonOperator as Op;
        self.release(left)?;
        self.release(right)?;
        let holds = match (left, op, right) {
            (Object::Known(x), _, Object::Known(y)) => {
                let result = self.python.compare(op, x, y).map(Value::Bool);
                return self.computed(result).map(|object| object.truth());
            }
            (Object::Text(x), Op::In, Object::Text(y)) => y.contains(&**x),
            (Object::Text(x), Op::NotIn, Object::Text(y)) => !y.contains(&**x),
            (Object::Text(x), Op::Equal, Object::Text(y)) => x == y,
            (Object::Text(x), Op::NotEqual, Object::Text(y)) => x != y,
            (Object::Text(_), Op::Equal, Object::Known(_)) | (Object::Known(_), Op::Equal, Object::Text(_)) => false,
            (Object::Text(_), Op::NotEqual, Object::Known(_)) | (Object::Known(_), Op::NotEqual, Object::Text(_)) => {
                true
            }
            (Object::Text(_), Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual, Object::Known(_))
            | (Object::Known(_), Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual, Object::Text(_))
            | (Object::Known(_), Op::In | Op::NotIn, Object::Text(_)) => return Err(Stop::Other),
            (Object::Text(_), Op::In | Op::NotIn, Object::Known(_)) if right.is_no_iterable() => {
                return Err(Stop::Other);
            }
            _ => {
                self.uncertain()?;
                return Ok(None);
            }
        };
        Ok(Some(holds))
    }

    pub(super) fn boolean(&mut self, op: BooleanOperator, operands: &[NodeId]) -> Flow<Object> {
        // how it may have ended before
        let mut ended: Option<(Object, Names)> = None;
        for (index, &operand) in operands.iter().enumerate() {
            let object = self.value(operand).and_then(|object| match index + 1 < operands.len() || ended.is_some() {
                true => self.released(object),
                false => Ok(object),
            });
            let object = match (object, ended.take()) {
                (Ok(object), before) => {
                    ended = before;
                    object
                }
                (Err(stop), None) => return Err(stop),
                (Err(stop), Some((object, names))) => {
                    self.names = names;
                    self.doubt(stop)?;
                    return Ok(object);
                }
            };
            let goes_on = object.truth().map(|truth| truth != (op == BooleanOperator::Or));
            if index + 1 == operands.len() || goes_on == Some(false) {
                return Ok(self.joined_with(ended, object));
            }
            if goes_on.is_none() {
                let here = self.names.clone();
                ended = Some(match ended {
                    Some((before, names)) => (names::either(&before, &object), joined(Some(names), here)),
                    None => (object, here),
                });
            }
        }
        Err(Stop::Lost)
    }

    fn joined_with(&mut self, ended: Option<(Object, Names)>, object: Object) -> Object {
        let Some((before, names)) = ended else { return object };
        self.names.join(&names);
        names::either(&before, &object)
    }

    fn is_identity(&self, id: NodeId) -> bool {
        matches!(self.expr.node(id).kind, NodeKind::Foreign { construct: Construct::Identity, .. })
    }

    /// `a is b`; with comparisons beside it, it is a link of one chain with them.
    pub(super) fn identity(&mut self, parts: &[NodeId]) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let &[left, right] = parts else { return Err(Stop::Lost) };
        let first = self.value(left)?;
        if self.is_identity(left) || matches!(expr.node(left).kind, NodeKind::Comparison { .. }) {
            self.rest_of_chain(&[right])?;
            return Ok(Object::UNKNOWN);
        }
        if let NodeKind::Comparison { operands, .. } = &expr.node(right).kind
            && let Some((&next, rest)) = operands.split_first()
        {
            self.release(&first)?;
            let second = self.value(next)?;
            self.release(&second)?;
            self.rest_of_chain(rest)?;
            return Ok(Object::UNKNOWN);
        }
        let second = self.value(right)?;
        self.release(&first)?;
        self.release(&second)?;
        let between = expr.node(left).span.end as usize..expr.node(right).span.start as usize;
        let is_negated = expr.text().get(between).is_some_and(|between| between.contains("not"));
        let is_same = match (&first, &second) {
            (Object::Known(Value::None), Object::Known(Value::None)) => Some(true),
            (Object::Known(Value::Bool(x)), Object::Known(Value::Bool(y))) => Some(x == y),
            (Object::Known(Value::None), Object::Known(_) | Object::Text(_))
            | (Object::Known(_) | Object::Text(_), Object::Known(Value::None)) => Some(false),
            _ => None,
        };
        Ok(is_same.map_or(Object::UNKNOWN, |is_same| Object::Known(Value::Bool(is_same != is_negated))))
    }
}

fn joined(one: Option<Names>, mut other: Names) -> Names {
    if let Some(one) = one {
        other.join(&one);
    }
    other
}
