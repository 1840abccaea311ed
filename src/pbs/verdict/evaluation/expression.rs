//! Expressions: each gives an object, or stops.

use std::sync::Arc;

use crate::formula::syntax::{Construct, NodeId, NodeKind};
use crate::pbs::verdict::evaluation::display::literal;
use crate::pbs::verdict::evaluation::names::{Found, Slot};
use crate::pbs::verdict::evaluation::object::{Object, Sequence};
use crate::pbs::verdict::evaluation::{Evaluation, Flow, Stop};

impl Evaluation<'_> {
    pub(super) fn value(&mut self, id: NodeId) -> Flow<Object> {
        self.down(|own| own.value_below(id))
    }

    fn value_below(&mut self, id: NodeId) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        match &expr.node(id).kind {
            NodeKind::Literal { kind, text } => Ok(literal(*kind, text)),
            NodeKind::Name(name) => self.name(name),
            NodeKind::Unary { op, operand } => self.unary(*op, *operand),
            NodeKind::Binary { .. } => self.binary_chain(id),
            NodeKind::Comparison { operators, operands } => self.comparison(operators, operands),
            NodeKind::Boolean { op, operands } => self.boolean(*op, operands),
            NodeKind::Conditional { then, condition, otherwise } => {
                let condition = self.value(*condition)?;
                match condition.truth() {
                    Some(true) => self.value(*then),
                    Some(false) => self.value(*otherwise),
                    None => self.one_of(|own| own.value(*then), |own| own.value(*otherwise)),
                }
            }
            NodeKind::Call { callee, positional, keywords } => self.call(*callee, positional, keywords),
            NodeKind::Parenthesised(inner) => self.value(*inner),
            NodeKind::Tuple { items, .. } => self.display(items, Sequence::Tuple),
            NodeKind::List(items) => self.display(items, Sequence::List),
            NodeKind::Foreign { construct, parts } => self.foreign(id, *construct, parts),
        }
    }

    fn name(&mut self, name: &str) -> Flow<Object> {
        match self.names.look_up(name, self.schema) {
            Found::Object(object) => Ok(object),
            Found::Nothing => Err(Stop::Name),
            Found::Perhaps => {
                self.doubts.name = true;
                Ok(Object::UNKNOWN)
            }
        }
    }

    fn foreign(&mut self, id: NodeId, construct: Construct, parts: &[NodeId]) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        match construct {
            Construct::String => self.string(expr.node(id).span.of(expr.text())),
            Construct::Ellipsis => Ok(Object::TRUE_OBJECT),
            Construct::Imaginary => {
                let is_zero = expr.node(id).span.of(expr.text()).bytes().take_while(|byte| !b"eEjJ".contains(byte));
                Ok(Object::Complex(Some(is_zero.into_iter().any(|byte| (b'1'..=b'9').contains(&byte)))))
            }
            Construct::Identity => self.identity(parts),
            Construct::AssignmentExpression => self.assignment(parts),
            Construct::Attribute => self.attribute(id, parts),
            Construct::Subscript => self.subscript(id, parts),
            Construct::Lambda => self.lambda(id),
            Construct::Comprehension => self.comprehension(id),
            Construct::Set | Construct::Dict => self.braces(construct, parts),
            Construct::Unpacking => Err(Stop::Lost),
        }
    }

    fn assignment(&mut self, parts: &[NodeId]) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let &[target, value] = parts else { return Err(Stop::Lost) };
        let object = self.value(value)?;
        let object = self.released(object)?;
        if let NodeKind::Name(name) = &expr.node(target).kind {
            self.names.assign(name, Slot::Bound(object.clone()));
        }
        Ok(object)
    }

    /// Assigns to a target of a statement or of a loop.
    pub(super) fn store(&mut self, target: NodeId, object: Object) -> Flow<()> {
        let expr = Arc::clone(&self.expr);
        let object = self.released(object)?;
        match &expr.node(target).kind {
            NodeKind::Name(name) => self.names.bind(name, object),
            NodeKind::Parenthesised(inner) => self.store(*inner, object)?,
            NodeKind::Tuple { items, .. } | NodeKind::List(items) => {
                let starred = items.iter().any(|&item| self.is_starred(item));
                match self.go_through(&object)? {
                    Some(objects) if objects.len() == items.len() && !starred => {
                        for (&item, object) in items.iter().zip(objects) {
                            self.store(item, object)?;
                        }
                    }
                    Some(objects) if !starred || objects.len() + 1 < items.len() => return Err(Stop::Other),
                    _ => {
                        self.doubts.other = true;
                        for &item in items {
                            self.store(item, Object::UNKNOWN)?;
                        }
                    }
                }
            }
            NodeKind::Foreign { construct: Construct::Unpacking, parts } => {
                for &part in parts {
                    self.store(part, Object::UNKNOWN)?;
                }
            }
            NodeKind::Foreign { parts, .. } => {
                for &part in parts {
                    if self.value(part)?.is_powerful() {
                        return Err(Stop::Lost);
                    }
                }
                self.uncertain()?;
                self.forget_mutables();
            }
            _ => return Err(Stop::Lost),
        }
        Ok(())
    }

    fn is_starred(&self, id: NodeId) -> bool {
        matches!(self.expr.node(id).kind, NodeKind::Foreign { construct: Construct::Unpacking, .. })
    }

    /// Whatever ran may have changed lists behind the backs of their names.
    pub(super) fn forget_mutables(&mut self) {
        for slot in self.names.slots_mut() {
            if let Slot::Bound(object) = slot
                && object.is_mutable()
            {
                *object = Object::UNKNOWN;
            }
        }
    }

    /// The object, after its code has been looked through: from here on it may run at any time.
    pub(super) fn released(&mut self, object: Object) -> Flow<Object> {
        match &object {
            Object::Code(code) => self.may_run(code).map(|()| Object::TRUE_OBJECT),
            _ => Ok(object),
        }
    }

    /// The same of an object that is only lent.
    pub(super) fn release(&mut self, object: &Object) -> Flow<()> {
        match object {
            Object::Code(code) => self.may_run(code),
            _ => Ok(()),
        }
    }
}
