//! The arguments of a call, and Python's rules about their order.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::grammar::Rule;
use crate::formula::syntax::tree::{Builder, Result, span_of};
use crate::formula::syntax::{Construct, Keyword, Makes, NodeId, NodeKind, SyntaxError, SyntaxErrorKind};

impl Builder {
    pub(super) fn call(&mut self, callee: NodeId, pair: Pair<'_, Rule>, span: Span) -> Result<NodeId> {
        let mut arguments = Arguments::default();
        let several = pair.clone().into_inner().any(|part| part.as_rule() == Rule::comma);
        for argument in pair.into_inner().filter(|part| part.as_rule() == Rule::argument) {
            self.argument(argument, several, &mut arguments)?;
        }
        let (positional, keywords) = (arguments.positional.into(), arguments.keywords.into());
        Ok(self.expr.push(NodeKind::Call { callee, positional, keywords }, span))
    }

    fn argument(&mut self, pair: Pair<'_, Rule>, several: bool, arguments: &mut Arguments) -> Result<()> {
        let span = span_of(&pair);
        let mut parts = pair.into_inner();
        let Some(first) = parts.next() else { return Ok(()) };
        if first.as_rule() == Rule::spread {
            arguments.spread(first.as_str() == "**", span)?;
            let inner = self.expressions(parts)?;
            let id = self.foreign(Construct::Unpacking, span, inner);
            arguments.positional.push(id);
            return Ok(());
        }
        let mut value = self.expression(first)?;
        for rest in parts {
            match rest.as_rule() {
                Rule::keyword_value => {
                    let (name, place) = (self.keyword_name(value)?, self.expr.node(value).span);
                    self.expr.take_back(value);
                    let inner = self.expressions(rest.into_inner())?;
                    return arguments.keyword(name, place, inner);
                }
                Rule::walrus_value => {
                    let mut both = vec![value];
                    both.extend(self.expressions(rest.into_inner())?);
                    value = self.maybe_assignment(both, span)?;
                }
                _ if several => {
                    return Err(arguments_error("a generator among other arguments needs parentheses", span));
                }
                _ => {
                    let mut inner = vec![value];
                    let clauses = self.clauses(rest, true, &mut inner)?;
                    value = self.comprehension(Makes::Generator, span, inner, (1, clauses));
                }
            }
        }
        arguments.positional(value, span)
    }

    fn keyword_name(&self, id: NodeId) -> Result<Box<str>> {
        let node = self.expr.node(id);
        match &node.kind {
            NodeKind::Name(name) if self.is_assignable(id) => Ok(name.clone()),
            _ => Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, node.span)),
        }
    }
}

/// The arguments of a call, as far as they are read.
#[derive(Default)]
struct Arguments {
    /// Whether `**mapping` stood already.
    mapping: bool,
    positional: Vec<NodeId>,
    keywords: Vec<Keyword>,
}

impl Arguments {
    fn positional(&mut self, id: NodeId, span: Span) -> Result<()> {
        if !self.keywords.is_empty() || self.mapping {
            return Err(arguments_error("a positional argument stands behind a keyword argument", span));
        }
        self.positional.push(id);
        Ok(())
    }

    fn spread(&mut self, mapping: bool, span: Span) -> Result<()> {
        if self.mapping && !mapping {
            return Err(arguments_error("`*` stands behind `**`", span));
        }
        self.mapping |= mapping;
        Ok(())
    }

    fn keyword(&mut self, name: Box<str>, span: Span, value: Vec<NodeId>) -> Result<()> {
        if self.keywords.iter().any(|keyword| keyword.name == name) {
            return Err(arguments_error(&format!("the keyword argument `{name}` is repeated"), span));
        }
        self.keywords.extend(value.into_iter().map(|value| Keyword::new(&name, span, value)));
        Ok(())
    }
}

pub(super) fn arguments_error(what: &str, span: Span) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::Arguments(what.into()), span)
}
