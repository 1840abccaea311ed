//! From the grammar's pairs to the tree. Recursion follows brackets only, whose depth `limits` bounds.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::error::BARE_UNPACKING;
use crate::formula::syntax::grammar::Rule;
use crate::formula::syntax::lookalike::{lookalike, statement};
use crate::formula::syntax::operators::{infix, prefix};
use crate::formula::syntax::precedence::Climber;
use crate::formula::syntax::{
    Clause, Construct, Expr, LiteralKind, Makes, NodeId, NodeKind, SyntaxError, SyntaxErrorKind, bindings,
};

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Builds the tree of a whole formula.
pub(super) fn build(text: &str, formula: Pair<'_, Rule>) -> Result<Expr> {
    let mut builder = Builder { expr: Expr::empty(text), climber: Climber::new() };
    let span = span_of(&formula);
    let mut group = Group::default();
    for pair in formula.into_inner() {
        match pair.as_rule() {
            Rule::element => {
                let id = builder.element(pair)?;
                builder.no_bare_assignment(id)?;
                group.items.push(id);
            }
            Rule::comma => group.commas += 1,
            Rule::statement_rest => return Err(statement(&pair)),
            _ => {}
        }
    }
    builder.no_bare_unpacking(&group)?;
    builder.group(group, span, false)?;
    bindings::check(&builder.expr)?;
    Ok(builder.expr)
}

/// Grows a tree from pairs; `call` and `foreign` add their kinds of pairs to it.
pub(super) struct Builder {
    pub(super) expr: Expr,
    climber: Climber,
}

/// The items between two brackets.
#[derive(Default)]
pub(super) struct Group {
    pub(super) items: Vec<NodeId>,
    /// Whether the items between braces are keys and values.
    pub(super) pairs: Option<bool>,
    commas: usize,
    /// How many items stand before the clauses of a comprehension, and those.
    clauses: Option<(usize, Vec<Clause>)>,
}

impl Builder {
    /// One item, several with commas, or a comprehension; `span` covers the brackets too.
    fn group(&mut self, group: Group, span: Span, parenthesised: bool) -> Result<NodeId> {
        if let Some(clauses) = group.clauses {
            return Ok(self.comprehension(Makes::Generator, span, group.items, clauses));
        }
        match (group.items.as_slice(), group.commas) {
            (&[item], 0) if parenthesised => {
                self.no_unpacking(item).map(|()| self.expr.push(NodeKind::Parenthesised(item), span))
            }
            (&[item], 0) => Ok(item),
            _ => {
                let span = if parenthesised { span } else { self.covering(&group.items, span) };
                Ok(self.expr.push(NodeKind::Tuple { items: group.items.into(), parenthesised }, span))
            }
        }
    }

    fn bracketed(&mut self, pair: Pair<'_, Rule>) -> Result<Group> {
        let mut group = Group::default();
        let lazy = pair.as_rule() == Rule::parenthesised;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::comma => group.commas += 1,
                Rule::comprehension => {
                    let items = group.items.len();
                    group.clauses = Some((items, self.clauses(part, lazy, &mut group.items)?));
                }
                Rule::entry => self.entry(part, &mut group)?,
                _ => group.items.push(self.element(part)?),
            }
        }
        Ok(group)
    }

    /// `expression`, `name := expression` or `*expression`.
    fn element(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let span = span_of(&pair);
        let (mut starred, mut parts) = (false, Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::star => starred = true,
                Rule::expression => parts.push(self.expression(part)?),
                _ => {}
            }
        }
        let id = self.maybe_assignment(parts, span)?;
        if starred { self.unpacking(id, span) } else { Ok(id) }
    }

    /// `parts` is one expression, or the two sides of `:=`.
    pub(super) fn maybe_assignment(&mut self, parts: Vec<NodeId>, span: Span) -> Result<NodeId> {
        if let &[only] = parts.as_slice() {
            return Ok(only);
        }
        if let Some(&target) = parts.first()
            && !self.is_assignable(target)
        {
            return Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, self.expr.node(target).span));
        }
        Ok(self.foreign(Construct::AssignmentExpression, span, parts))
    }

    pub(super) fn no_unpacking(&self, id: NodeId) -> Result<()> {
        match self.is_unpacking(id) {
            true => Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, self.expr.node(id).span)),
            false => Ok(()),
        }
    }

    /// `*(1, 2),` is a line of Python, which is what the server tries, but no expression, which is what the scheduler
    /// evaluates.
    fn no_bare_unpacking(&self, group: &Group) -> Result<()> {
        let Some(&starred) = group.items.iter().find(|&&item| self.is_unpacking(item)) else { return Ok(()) };
        match group.commas {
            0 => self.no_unpacking(starred),
            _ => Err(SyntaxError::new(SyntaxErrorKind::Statement(BARE_UNPACKING), self.expr.node(starred).span)),
        }
    }

    fn no_bare_assignment(&self, id: NodeId) -> Result<()> {
        let node = self.expr.node(id);
        match &node.kind {
            NodeKind::Foreign { construct: Construct::AssignmentExpression, .. } => {
                Err(SyntaxError::new(SyntaxErrorKind::BareAssignmentExpression, node.span))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn expression(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        self.climber.open();
        for token in pair.clone().into_inner() {
            match token.as_rule() {
                Rule::primary => {
                    let id = self.primary(token)?;
                    self.climber.operand(id);
                }
                Rule::lambda => {
                    let id = self.lambda(token)?;
                    self.climber.greedy_operand(id, &self.expr)?;
                }
                Rule::sign | Rule::not => {
                    let op = prefix(token.as_str()).ok_or_else(|| lookalike(&pair, &token))?;
                    self.climber.prefix(op, span_of(&token))?;
                }
                _ => {
                    let op = infix(token.as_str()).ok_or_else(|| lookalike(&pair, &token))?;
                    self.climber.infix(op, span_of(&token), &mut self.expr)?;
                }
            }
        }
        self.climber.close(&mut self.expr)
    }

    pub(super) fn primary(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let start = pair.as_span().start();
        let mut parts = pair.into_inner();
        let Some(atom) = parts.next() else {
            return Err(SyntaxError::new(SyntaxErrorKind::Empty, Span::new(start, start)));
        };
        let mut id = self.atom(atom)?;
        for trailer in parts {
            let span = Span { start: start as u32, end: span_of(&trailer).end };
            id = match trailer.as_rule() {
                Rule::call => self.call(id, trailer, span)?,
                Rule::attribute => self.foreign(Construct::Attribute, span, vec![id]),
                _ => self.subscript(id, trailer, span)?,
            };
        }
        Ok(id)
    }

    fn atom(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let span = span_of(&pair);
        let rule = pair.as_rule();
        Ok(match rule {
            Rule::number => self.number(pair, span),
            Rule::name => self.expr.push(NodeKind::Name(normalised(pair.as_str())), span),
            Rule::strings => self.strings(pair, span)?,
            Rule::ellipsis => self.foreign(Construct::Ellipsis, span, Vec::new()),
            _ => {
                let mut group = self.bracketed(pair)?;
                let makes = match (rule, group.pairs) {
                    (Rule::parenthesised, _) => return self.group(group, span, true),
                    (Rule::list, _) => Makes::List,
                    (_, Some(false)) => Makes::Set,
                    _ => Makes::Dict,
                };
                match (group.clauses.take(), makes) {
                    (Some(clauses), _) => self.comprehension(makes, span, group.items, clauses),
                    (None, Makes::Set) => self.foreign(Construct::Set, span, group.items),
                    (None, Makes::Dict) => self.foreign(Construct::Dict, span, group.items),
                    _ => self.expr.push(NodeKind::List(group.items.into()), span),
                }
            }
        })
    }

    fn number(&mut self, pair: Pair<'_, Rule>, span: Span) -> NodeId {
        let text: Box<str> = pair.as_str().into();
        if text.ends_with(['j', 'J']) {
            return self.foreign(Construct::Imaginary, span, Vec::new());
        }
        let has_radix = text.len() > 2 && matches!(text.as_bytes()[1], b'x' | b'X' | b'o' | b'O' | b'b' | b'B');
        let has_point = !has_radix && text.contains(['.', 'e', 'E']);
        // the float `04` that an `else` touches would print as no number at all
        let is_late_float = !has_radix && text.starts_with('0') && text.contains(|digit| matches!(digit, '1'..='9'));
        let (kind, text) = match (has_point, is_late_float) {
            (true, _) => (LiteralKind::Float, text),
            (false, true) => (LiteralKind::Float, format!("{text}.0").into()),
            (false, false) => (LiteralKind::Integer, text),
        };
        self.expr.push(NodeKind::Literal { kind, text }, span)
    }

    pub(super) fn expressions<'p>(&mut self, pairs: impl Iterator<Item = Pair<'p, Rule>>) -> Result<Vec<NodeId>> {
        let expressions = pairs.filter(|pair| pair.as_rule() == Rule::expression);
        expressions.map(|pair| self.expression(pair)).collect()
    }

    pub(super) fn foreign(&mut self, construct: Construct, span: Span, parts: Vec<NodeId>) -> NodeId {
        self.expr.push(NodeKind::Foreign { construct, parts: parts.into() }, span)
    }

    fn covering(&self, items: &[NodeId], otherwise: Span) -> Span {
        match (items.first(), items.last()) {
            (Some(&first), Some(&last)) => self.expr.node(first).span.to(self.expr.node(last).span),
            _ => otherwise,
        }
    }

    pub(super) fn is_unpacking(&self, id: NodeId) -> bool {
        matches!(self.expr.node(id).kind, NodeKind::Foreign { construct: Construct::Unpacking, .. })
    }

    pub(super) fn is_assignable(&self, id: NodeId) -> bool {
        match &self.expr.node(id).kind {
            NodeKind::Name(name) => !matches!(&**name, "True" | "False" | "None" | "__debug__"),
            _ => false,
        }
    }
}

/// Where a pair stands, without the blanks and comments that pest skips in search of a repetition that may follow.
pub(super) fn span_of(pair: &Pair<'_, Rule>) -> Span {
    let start = pair.as_span().start();
    let mut last = pair.clone();
    while ends_with_its_last_part(last.as_rule())
        && let Some(inner) = last.clone().into_inner().next_back()
    {
        last = inner;
    }
    let span = last.as_span();
    Span::new(start, span.start() + span.as_str().trim_end().len())
}

fn ends_with_its_last_part(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::argument
            | Rule::comprehension
            | Rule::disjunction
            | Rule::element
            | Rule::entry
            | Rule::expression
            | Rule::keyword_value
            | Rule::lambda
            | Rule::parameter
            | Rule::primary
            | Rule::slice
            | Rule::strings
            | Rule::target
            | Rule::walrus_value
    )
}

/// The form of a name by which Python compares it.
pub(super) fn normalised(name: &str) -> Box<str> {
    use unicode_normalization::UnicodeNormalization;
    if name.is_ascii() { name.into() } else { name.nfkc().collect::<String>().into() }
}
