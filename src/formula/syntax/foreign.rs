//! Valid Python that is no arithmetic: parsed in full, so that what Python refuses is refused.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::grammar::Rule;
use crate::formula::syntax::parameters::Parameters;
use crate::formula::syntax::tree::{Builder, Group, Result, span_of};
use crate::formula::syntax::{
    Clause, Construct, Makes, NodeId, NodeKind, Parameter, Scope, SyntaxError, SyntaxErrorKind,
};
use crate::python::UnaryOperator;

/// What is read of one `for … in … if …`.
#[derive(Default)]
struct OpenClause {
    is_async: bool,
    targets: Vec<NodeId>,
    stars: usize,
    commas: usize,
    iterable: Option<NodeId>,
    conditions: Vec<NodeId>,
}

impl OpenClause {
    fn close(self) -> Option<Clause> {
        Some(Clause {
            targets: self.targets.into(),
            unpacks: self.commas > 0,
            iterable: self.iterable?,
            conditions: self.conditions.into(),
            is_async: self.is_async,
        })
    }
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
        let (mut own, mut rules, mut body) = (Vec::new(), Parameters::default(), None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expression => {
                    rules.finish(span)?;
                    body = Some(self.expression(part)?);
                }
                Rule::parameter => {
                    let parameter = rules.add(&part)?;
                    let default = self.expressions(part.into_inner())?.pop();
                    own.extend(parameter.map(|(name, takes)| Parameter { name, takes, default }));
                }
                _ => {}
            }
        }
        let Some(body) = body else { return Err(SyntaxError::new(SyntaxErrorKind::Empty, span)) };
        let parts = own.iter().filter_map(|parameter| parameter.default).chain([body]).collect();
        let id = self.foreign(Construct::Lambda, span, parts);
        self.expr.set_scope(id, Scope::Lambda { parameters: own.into(), body });
        Ok(id)
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

    /// The clauses `for target in iterable if condition`, behind the item that stands in `parts`, to which their
    /// parts are added. Only a lazy comprehension, a generator, may be `async` here.
    pub(super) fn clauses(&mut self, pair: Pair<'_, Rule>, lazy: bool, parts: &mut Vec<NodeId>) -> Result<Vec<Clause>> {
        if let Some(&item) = parts.last() {
            self.no_unpacking(item)?;
        }
        let (mut clauses, mut open) = (Vec::new(), OpenClause::default());
        for part in pair.into_inner() {
            let span = span_of(&part);
            match part.as_rule() {
                Rule::disjunction if open.iterable.is_none() => open.iterable = Some(self.expression(part)?),
                Rule::disjunction => open.conditions.push(self.expression(part)?),
                Rule::target => {
                    let (target, starred) = self.target(part)?;
                    open.stars += usize::from(starred);
                    open.targets.push(target);
                }
                Rule::comma => open.commas += 1,
                Rule::in_ if open.stars > 1 || (open.stars == 1 && open.commas == 0) => {
                    return Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, span));
                }
                Rule::async_ if !lazy => {
                    return Err(SyntaxError::new(SyntaxErrorKind::ReservedWord("async".into()), span));
                }
                Rule::async_ => {
                    clauses.extend(std::mem::take(&mut open).close());
                    open.is_async = true;
                }
                Rule::for_ if open.iterable.is_some() => clauses.extend(std::mem::take(&mut open).close()),
                _ => {}
            }
        }
        clauses.extend(open.close());
        parts.extend(clauses.iter().flat_map(|clause| clause.conditions.iter()));
        parts.extend(clauses.iter().flat_map(|clause| clause.targets.iter()));
        parts.extend(clauses.iter().map(|clause| clause.iterable));
        Ok(clauses)
    }

    /// The node of a comprehension: its parts, how many of them are items, and its clauses.
    pub(super) fn comprehension(
        &mut self,
        makes: Makes,
        span: Span,
        parts: Vec<NodeId>,
        (items, clauses): (usize, Vec<Clause>),
    ) -> NodeId {
        let items = parts.iter().copied().take(items).collect();
        let id = self.foreign(Construct::Comprehension, span, parts);
        self.expr.set_scope(id, Scope::Comprehension { makes, items, clauses: clauses.into() });
        id
    }

    /// A target, and whether a `*` stands before it.
    fn target(&mut self, pair: Pair<'_, Rule>) -> Result<(NodeId, bool)> {
        let (span, mut starred, mut target) = (span_of(&pair), false, None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::star => starred = true,
                _ => target = Some(self.primary(part)?),
            }
        }
        let Some(id) = target else { return Err(SyntaxError::new(SyntaxErrorKind::Empty, span)) };
        if !self.is_target(id) {
            return Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, self.expr.node(id).span));
        }
        Ok((if starred { self.foreign(Construct::Unpacking, span, vec![id]) } else { id }, starred))
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
