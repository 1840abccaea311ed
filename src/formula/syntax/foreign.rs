//! Valid Python that is no arithmetic: parsed in full, so that what Python refuses is refused.

use pest::iterators::Pair;

use super::grammar::Rule;
use super::tree::{Builder, Group, Result, span_of};
use super::{Construct, NodeId, NodeKind, SyntaxError, SyntaxErrorKind};
use crate::span::Span;

impl Builder {
    pub(super) fn subscript(&mut self, base: NodeId, pair: Pair<'_, Rule>, span: Span) -> Result<NodeId> {
        let mut parts = vec![base];
        for slice in pair.into_inner().filter(|part| part.as_rule() == Rule::slice) {
            for part in slice.into_inner() {
                match part.as_rule() {
                    Rule::expression => parts.push(self.expression(part)?),
                    _ => parts.extend(self.expressions(part.into_inner())?),
                }
            }
        }
        Ok(self.foreign(Construct::Subscript, span, parts))
    }

    pub(super) fn lambda(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let span = span_of(&pair);
        let (mut parts, mut names) = (Vec::new(), Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expression => parts.push(self.expression(part)?),
                _ => {
                    let name = part.clone().into_inner().find(|inner| inner.as_rule() == Rule::name);
                    if let Some(name) = name {
                        if names.contains(&name.as_str()) {
                            return Err(super::call::arguments_error("a parameter is repeated", span_of(&name)));
                        }
                        names.push(name.as_str());
                    }
                    parts.extend(self.expressions(part.into_inner())?);
                }
            }
        }
        Ok(self.foreign(Construct::Lambda, span, parts))
    }

    /// The clauses `for target in iterable if condition`, behind the item that stands in `parts`.
    pub(super) fn comprehension(&mut self, pair: Pair<'_, Rule>, parts: &mut Vec<NodeId>) -> Result<()> {
        if let Some(&item) = parts.last()
            && self.is_unpacking(item)
        {
            return Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, self.expr.node(item).span));
        }
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::disjunction => parts.push(self.expression(part)?),
                Rule::target => parts.extend(self.target(part)?),
                Rule::async_ => {
                    let span = span_of(&part);
                    return Err(SyntaxError::new(SyntaxErrorKind::ReservedWord("async".into()), span));
                }
                _ => {}
            }
        }
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
                NodeKind::Tuple { items, .. } | NodeKind::List(items) => open.extend(items.iter()),
                _ => return false,
            }
        }
        true
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
        } else if spread {
            let id = self.foreign(Construct::Unpacking, span, inner);
            group.items.push(id);
        } else {
            group.items.extend(inner);
        }
        Ok(())
    }
}
