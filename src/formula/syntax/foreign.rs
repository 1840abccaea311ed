//! Valid Python that is no arithmetic: parsed in full, so that what Python refuses is refused.

use pest::iterators::Pair;

use super::grammar::Rule;
use super::parameters::Parameters;
use super::tree::{Builder, Group, Result, span_of};
use super::{Construct, NodeId, NodeKind, SyntaxError, SyntaxErrorKind};
use crate::formula::operator::UnaryOperator;
use crate::span::Span;

/// What is read of one `for … in … if …`.
#[derive(Default)]
struct Clause {
    stars: usize,
    commas: usize,
    /// Whether its `if` has come.
    conditions: bool,
}

impl Builder {
    pub(super) fn subscript(&mut self, base: NodeId, pair: Pair<'_, Rule>, span: Span) -> Result<NodeId> {
        let mut parts = vec![base];
        for slice in pair.into_inner().filter(|part| part.as_rule() == Rule::slice) {
            let (span, inner) = (span_of(&slice), slice.into_inner());
            let assigned = inner.clone().any(|part| part.as_rule() == Rule::walrus);
            let mut own = Vec::new();
            for part in inner {
                match part.as_rule() {
                    Rule::expression => own.push(self.expression(part)?),
                    _ => own.extend(self.expressions(part.into_inner())?),
                }
            }
            if assigned {
                own = vec![self.maybe_assignment(own, span)?];
            }
            parts.append(&mut own);
        }
        Ok(self.foreign(Construct::Subscript, span, parts))
    }

    pub(super) fn lambda(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let span = span_of(&pair);
        let (mut parts, mut parameters) = (Vec::new(), Parameters::default());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expression => {
                    parameters.finish(span)?;
                    parts.push(self.expression(part)?);
                }
                Rule::parameter => {
                    parameters.add(&part)?;
                    parts.extend(self.expressions(part.into_inner())?);
                }
                _ => {}
            }
        }
        Ok(self.foreign(Construct::Lambda, span, parts))
    }

    /// `*operand`, which takes no operator looser than `|` without parentheses.
    pub(super) fn unpacking(&mut self, operand: NodeId, span: Span) -> Result<NodeId> {
        let is_loose = match &self.expr.node(operand).kind {
            NodeKind::Unary { op, .. } => *op == UnaryOperator::Not,
            NodeKind::Comparison { .. } | NodeKind::Boolean { .. } | NodeKind::Conditional { .. } => true,
            NodeKind::Foreign { construct, .. } => {
                matches!(construct, Construct::Identity | Construct::Lambda | Construct::AssignmentExpression)
            }
            _ => false,
        };
        if is_loose {
            return Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses("*"), self.expr.node(operand).span));
        }
        Ok(self.foreign(Construct::Unpacking, span, vec![operand]))
    }

    /// The clauses `for target in iterable if condition`, behind the item that stands in `parts`. Only a lazy one,
    /// a generator, may be `async` here.
    pub(super) fn comprehension(&mut self, pair: Pair<'_, Rule>, lazy: bool, parts: &mut Vec<NodeId>) -> Result<()> {
        let (mut targets, mut iterables) = (Vec::new(), Vec::new());
        if let Some(&item) = parts.last() {
            self.no_unpacking(item)?;
        }
        let mut clause = Clause::default();
        for part in pair.into_inner() {
            let span = span_of(&part);
            match part.as_rule() {
                Rule::disjunction => {
                    let into = if clause.conditions { &mut *parts } else { &mut iterables };
                    into.push(self.expression(part)?);
                }
                Rule::target => {
                    clause.stars += usize::from(part.clone().into_inner().any(|star| star.as_rule() == Rule::star));
                    targets.extend(self.target(part)?);
                }
                Rule::comma => clause.commas += 1,
                Rule::in_ if clause.stars > 1 || (clause.stars == 1 && clause.commas == 0) => {
                    return Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, span));
                }
                Rule::async_ if !lazy => {
                    return Err(SyntaxError::new(SyntaxErrorKind::ReservedWord("async".into()), span));
                }
                Rule::for_ => clause = Clause::default(),
                Rule::if_ => clause.conditions = true,
                _ => {}
            }
        }
        self.no_rebinding(&targets, parts)?;
        self.no_assignment(&iterables)?;
        parts.append(&mut targets);
        parts.append(&mut iterables);
        Ok(())
    }

    fn target(&mut self, pair: Pair<'_, Rule>) -> Result<Option<NodeId>> {
        let Some(primary) = pair.into_inner().find(|part| part.as_rule() == Rule::primary) else { return Ok(None) };
        let id = self.primary(primary)?;
        if self.is_target(id) {
            return Ok(Some(id));
        }
        Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, self.expr.node(id).span))
    }

    /// Whether a loop may assign to it: a name, an attribute, an item, or brackets of these.
    fn is_target(&self, id: NodeId) -> bool {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match &self.expr.node(id).kind {
                NodeKind::Name(_) if self.is_assignable(id) => {}
                NodeKind::Foreign { construct: Construct::Attribute | Construct::Subscript, .. } => {}
                NodeKind::Foreign { construct: Construct::Unpacking, parts } => open.extend(parts.iter()),
                NodeKind::Parenthesised(inner) => open.push(*inner),
                NodeKind::Tuple { items, .. } | NodeKind::List(items)
                    if items.iter().filter(|&&item| self.is_unpacking(item)).count() < 2 =>
                {
                    open.extend(items.iter());
                }
                _ => return false,
            }
        }
        true
    }

    /// Refuses `:=` on a name that stands in a target, be it only as the base of an item; in a lambda it is another.
    fn no_rebinding(&self, targets: &[NodeId], parts: &[NodeId]) -> Result<()> {
        let mut bound = Vec::new();
        let mut open = targets.to_vec();
        while let Some(id) = open.pop() {
            match &self.expr.node(id).kind {
                NodeKind::Name(name) => bound.push(name),
                NodeKind::Foreign { construct: Construct::Lambda, .. } => {}
                kind => open.extend(kind.children()),
            }
        }
        let mut open = parts.to_vec();
        while let Some(id) = open.pop() {
            match &self.expr.node(id).kind {
                NodeKind::Foreign { construct: Construct::Lambda, .. } => {}
                NodeKind::Foreign { construct: Construct::AssignmentExpression, parts } => {
                    let target = parts.first().map(|&target| &self.expr.node(target).kind);
                    if matches!(target, Some(NodeKind::Name(name)) if bound.contains(&name)) {
                        return Err(SyntaxError::new(SyntaxErrorKind::MisplacedAssignment, self.expr.node(id).span));
                    }
                    open.extend(parts.iter());
                }
                kind => open.extend(kind.children()),
            }
        }
        Ok(())
    }

    /// Refuses `:=` anywhere in what a comprehension loops over.
    fn no_assignment(&self, iterables: &[NodeId]) -> Result<()> {
        let mut open = iterables.to_vec();
        while let Some(id) = open.pop() {
            let node = self.expr.node(id);
            if matches!(node.kind, NodeKind::Foreign { construct: Construct::AssignmentExpression, .. }) {
                return Err(SyntaxError::new(SyntaxErrorKind::MisplacedAssignment, node.span));
            }
            open.extend(node.kind.children());
        }
        Ok(())
    }

    /// One entry between braces.
    pub(super) fn entry(&mut self, pair: Pair<'_, Rule>, group: &mut Group) -> Result<()> {
        let span = span_of(&pair);
        let is_pair = pair
            .clone()
            .into_inner()
            .any(|part| part.as_rule() == Rule::colon || (part.as_rule() == Rule::spread && part.as_str() == "**"));
        if group.pairs.is_some_and(|pairs| pairs != is_pair) {
            let (expected, found) =
                if is_pair { ("a value", "a key and its value") } else { ("`key: value`", "one value") };
            return Err(SyntaxError::new(SyntaxErrorKind::Unexpected { expected, found: found.into() }, span));
        }
        group.pairs = Some(is_pair);
        let spread = pair.clone().into_inner().any(|part| part.as_rule() == Rule::spread);
        let walrus = pair.clone().into_inner().any(|part| part.as_rule() == Rule::walrus);
        let inner = self.expressions(pair.into_inner())?;
        if walrus {
            let id = self.maybe_assignment(inner, span)?;
            group.items.push(id);
        } else if let (true, &[operand]) = (spread, inner.as_slice()) {
            let id = self.unpacking(operand, span)?;
            group.items.push(id);
        } else {
            group.items.extend(inner);
        }
        Ok(())
    }
}
