//! Builds the syntax tree from the pairs of pest: each is a grammar rule and the text that it
//! matched. The recursion is as deep as the brackets are nested, which is limited.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::error::Result;
use crate::formula::syntax::foreign_notation::foreign_operator;
use crate::formula::syntax::grammar::{Rule, span_of};
use crate::formula::syntax::precedence::{Operator, PrecedenceParser};
use crate::formula::syntax::{
    Construct, Expr, ExprId, ExprKind, Keyword, LiteralKind, Node, SyntaxError, SyntaxErrorKind,
};
use crate::python::{PythonVersion, UnaryOperator};

/// A place in a template where a number is filled in.
#[derive(Debug, Clone)]
pub(in super::super) struct TemplatePlace {
    /// The name of the constant.
    pub(in super::super) name: Box<str>,
    /// The place, with the braces.
    pub(in super::super) span: Span,
    /// The start, the range and what follows them of `{name=START:LOW..HIGH}`; empty for `{name}`.
    pub(in super::super) parts: Vec<Span>,
}

/// Builds the tree of a whole formula, or of a template, with its places.
pub(super) fn build(
    text: &str,
    formula: Pair<'_, Rule>,
    python: PythonVersion,
    is_template: bool,
) -> Result<(Expr, Vec<TemplatePlace>)> {
    let mut builder = AstBuilder {
        expr: Expr::empty(text),
        python,
        precedence: PrecedenceParser::default(),
        places: is_template.then(Vec::new),
    };
    let span = span_of(&formula);
    let mut group = Group::default();
    for pair in formula.into_inner() {
        match pair.as_rule() {
            Rule::element => {
                let id = builder.element(pair)?;
                // `eval` takes `*x` in brackets only
                let Node { kind, span } = builder.expr.node(id);
                if matches!(
                    kind,
                    ExprKind::Unsupported {
                        construct: Construct::Unpacking,
                        ..
                    }
                ) {
                    let statement = SyntaxErrorKind::Statement("an unpacking without brackets");
                    return Err(SyntaxError::new(statement, *span));
                }
                group.items.push(id);
            }
            Rule::comma => group.commas += 1,
            Rule::statement_rest => return Err(statement_error(&pair)),
            _ => {}
        }
    }
    builder.group_node(group, span, false);
    Ok((builder.expr, builder.places.unwrap_or_default()))
}

/// Adds nodes to a tree pair by pair.
struct AstBuilder {
    expr: Expr,
    python: PythonVersion,
    precedence: PrecedenceParser,
    /// The places of a template so far; `None` in a formula.
    places: Option<Vec<TemplatePlace>>,
}

/// The items between two brackets.
#[derive(Default)]
struct Group {
    items: Vec<ExprId>,
    commas: usize,
    is_comprehension: bool,
    /// Whether an item is a key with its value, or an unpacked mapping.
    has_keys: bool,
}

impl AstBuilder {
    /// Adds the node of a group: one item, several with commas, or a comprehension. `span` includes
    /// the brackets.
    fn group_node(&mut self, group: Group, span: Span, parenthesized: bool) -> ExprId {
        match (group.items.as_slice(), group.commas) {
            _ if group.is_comprehension => {
                self.unsupported(Construct::Comprehension, span, group.items)
            }
            (&[item], 0) if parenthesized => self.expr.push(ExprKind::Parenthesized(item), span),
            (&[item], 0) => item,
            _ => {
                let span = if parenthesized {
                    span
                } else {
                    self.span_of_items(&group.items).unwrap_or(span)
                };
                self.expr.push(
                    ExprKind::Tuple {
                        items: group.items.into(),
                        parenthesized,
                    },
                    span,
                )
            }
        }
    }

    /// Builds the items between two brackets.
    fn items_in_brackets(&mut self, pair: Pair<'_, Rule>) -> Result<Group> {
        let mut group = Group::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::comma => group.commas += 1,
                Rule::comprehension => {
                    group.is_comprehension = true;
                    group.items.extend(self.parts(part)?);
                }
                Rule::entry => {
                    let mut inner = part.clone().into_inner();
                    group.has_keys |=
                        inner.any(|token| token.as_rule() == Rule::colon || token.as_str() == "**");
                    group.items.extend(self.parts(part)?);
                }
                _ => group.items.push(self.element(part)?),
            }
        }
        Ok(group)
    }

    /// The expressions in a construct that is not arithmetic; `name := expression` is one.
    fn parts(&mut self, pair: Pair<'_, Rule>) -> Result<Vec<ExprId>> {
        let mut parts = Vec::new();
        let mut target = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::expression | Rule::disjunction => {
                    let mut id = self.expression(inner)?;
                    if let Some(target) = target.take() {
                        let span = self.expr.node(target).span.to(self.expr.node(id).span);
                        id = self.unsupported(
                            Construct::AssignmentExpression,
                            span,
                            vec![target, id],
                        );
                    }
                    parts.push(id);
                }
                Rule::walrus => target = parts.pop(),
                Rule::primary => parts.push(self.primary(inner)?),
                _ => parts.extend(self.parts(inner)?),
            }
        }
        Ok(parts)
    }

    /// `expression`, `name := expression` or `*expression`.
    fn element(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        let span = span_of(&pair);
        let is_starred = pair
            .clone()
            .into_inner()
            .any(|part| part.as_rule() == Rule::star);
        let parts = self.parts(pair)?;
        match parts.as_slice() {
            &[only] if !is_starred => Ok(only),
            _ => Ok(self.unsupported(Construct::Unpacking, span, parts)),
        }
    }

    fn expression(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        self.precedence.begin_expression();
        for token in pair.clone().into_inner() {
            match token.as_rule() {
                Rule::primary => {
                    let id = self.primary(token)?;
                    self.precedence.operand(id);
                }
                Rule::lambda => {
                    let span = span_of(&token);
                    let parts = self.parts(token)?;
                    let id = self.unsupported(Construct::Lambda, span, parts);
                    self.precedence.operand(id);
                }
                Rule::sign | Rule::not => {
                    let Some(op) = UnaryOperator::from_symbol(token.as_str()) else {
                        return Err(self.foreign_operator(&pair, &token));
                    };
                    self.precedence.prefix(op, span_of(&token))?;
                }
                _ => {
                    let Some(op) = Operator::infix(token.as_str()) else {
                        return Err(self.foreign_operator(&pair, &token));
                    };
                    self.precedence.infix(op, span_of(&token), &mut self.expr)?;
                }
            }
        }
        self.precedence.end_expression(&mut self.expr)
    }

    fn foreign_operator(&self, expression: &Pair<'_, Rule>, token: &Pair<'_, Rule>) -> SyntaxError {
        let operand = match token.clone().into_inner().next() {
            Some(operand) => operand.as_str(),
            None => "",
        };
        let text = self.expr.text();
        foreign_operator(text, span_of(expression), span_of(token), operand)
    }

    fn primary(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        let start = pair.as_span().start();
        let mut parts = pair.into_inner();
        let Some(atom) = parts.next() else {
            return Err(SyntaxError::new(
                SyntaxErrorKind::Empty,
                Span::new(start, start),
            ));
        };
        let mut id = self.atom(atom)?;
        for trailer in parts {
            let span = Span {
                start: start as u32,
                end: span_of(&trailer).end,
            };
            id = match trailer.as_rule() {
                Rule::call => self.call(id, trailer, span)?,
                Rule::attribute => self.unsupported(Construct::Attribute, span, vec![id]),
                _ => {
                    let mut parts = vec![id];
                    parts.extend(self.parts(trailer)?);
                    self.unsupported(Construct::Subscript, span, parts)
                }
            };
        }
        Ok(id)
    }

    fn atom(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        let span = span_of(&pair);
        Ok(match pair.as_rule() {
            Rule::number => self.number(pair, span),
            Rule::name => {
                self.reject_reserved_word(&pair)?;
                self.expr
                    .push(ExprKind::Name(normalize_name(pair.as_str())), span)
            }
            Rule::strings => self.unsupported(Construct::String, span, Vec::new()),
            Rule::ellipsis => self.unsupported(Construct::Ellipsis, span, Vec::new()),
            Rule::parenthesized => {
                let group = self.items_in_brackets(pair)?;
                self.group_node(group, span, true)
            }
            Rule::template_constant => {
                let mut inner = pair.into_inner();
                let written = inner.next().map_or("", |name| name.as_str());
                let name = normalize_name(written);
                let Some(places) = &mut self.places else {
                    let kind = SyntaxErrorKind::TemplateConstant(written.into());
                    return Err(SyntaxError::new(kind, span));
                };
                places.push(TemplatePlace {
                    name: name.clone(),
                    span,
                    parts: inner.map(|part| span_of(&part)).collect(),
                });
                self.expr.push(ExprKind::Name(name), span)
            }
            rule => {
                let group = self.items_in_brackets(pair)?;
                if rule == Rule::braces
                    && let Some(name) = self.only_name(&group)
                    && let Some(places) = &mut self.places
                {
                    places.push(TemplatePlace {
                        name: name.clone(),
                        span,
                        parts: Vec::new(),
                    });
                    // the name in braces would be left as a node without a parent
                    self.expr.remove_last();
                    return Ok(self.expr.push(ExprKind::Name(name), span));
                }
                match rule {
                    _ if group.is_comprehension => {
                        self.unsupported(Construct::Comprehension, span, group.items)
                    }
                    Rule::list => self.expr.push(ExprKind::List(group.items.into()), span),
                    _ if group.has_keys || group.items.is_empty() => {
                        self.unsupported(Construct::Dict, span, group.items)
                    }
                    _ => self.unsupported(Construct::Set, span, group.items),
                }
            }
        })
    }

    /// The name, if the items between braces are a name alone, which is the last node.
    fn only_name(&self, group: &Group) -> Option<Box<str>> {
        match (&group.items[..], group.commas) {
            // only the last node can be removed
            (&[item], 0) if item == self.expr.root() && !group.has_keys => {
                match &self.expr.node(item).kind {
                    ExprKind::Name(name) => Some(name.clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn number(&mut self, pair: Pair<'_, Rule>, span: Span) -> ExprId {
        let text: Box<str> = pair.as_str().into();
        if text.ends_with(['j', 'J']) {
            return self.unsupported(Construct::Imaginary, span, Vec::new());
        }
        let has_radix =
            text.len() > 2 && matches!(text.as_bytes()[1], b'x' | b'X' | b'o' | b'O' | b'b' | b'B');
        // in `0x1e5` the `e` is a digit
        let has_point = !has_radix && text.contains(['.', 'e', 'E']);
        // CPython reads the `04` of `04else` as a float; printed alone it would not be a number
        let is_float_before_else = !has_radix
            && text.starts_with('0')
            && text.contains(|digit| matches!(digit, '1'..='9'));
        let (kind, text) = match (has_point, is_float_before_else) {
            (true, _) => (LiteralKind::Float, text),
            (false, true) => (LiteralKind::Float, format!("{text}.0").into()),
            (false, false) => (LiteralKind::Integer, text),
        };
        self.expr.push(ExprKind::Literal { kind, text }, span)
    }

    fn unsupported(&mut self, construct: Construct, span: Span, parts: Vec<ExprId>) -> ExprId {
        self.expr.push(
            ExprKind::Unsupported {
                construct,
                parts: parts.into(),
            },
            span,
        )
    }

    fn span_of_items(&self, items: &[ExprId]) -> Option<Span> {
        Some(
            self.expr
                .node(*items.first()?)
                .span
                .to(self.expr.node(*items.last()?).span),
        )
    }

    /// `async` and `await` are reserved since "What's New in Python 3.7".
    fn reject_reserved_word(&self, name: &Pair<'_, Rule>) -> Result<()> {
        let word = name.as_str();
        if self.python >= PythonVersion::V3_7 && matches!(word, "async" | "await") {
            return Err(SyntaxError::new(
                SyntaxErrorKind::ReservedWord(word.into()),
                span_of(name),
            ));
        }
        Ok(())
    }
}

/// The NFKC form of a name, in which Python compares names.
fn normalize_name(name: &str) -> Box<str> {
    use unicode_normalization::UnicodeNormalization;
    if name.is_ascii() {
        name.into()
    } else {
        name.nfkc().collect::<String>().into()
    }
}

/// The error for text with `;` or `=` after the expression.
fn statement_error(pair: &Pair<'_, Rule>) -> SyntaxError {
    let (what, span) = match pair.clone().into_inner().next() {
        Some(token) if token.as_rule() == Rule::semicolon => {
            ("a sequence separated by `;`", span_of(&token))
        }
        Some(token) => ("an assignment", span_of(&token)),
        None => ("this", span_of(pair)),
    };
    SyntaxError::new(SyntaxErrorKind::Statement(what), span)
}

/// The most arguments of a call before Python 3.7.
const MAX_ARGUMENTS: usize = 255;

impl AstBuilder {
    fn call(&mut self, callee: ExprId, pair: Pair<'_, Rule>, span: Span) -> Result<ExprId> {
        let mut positional = Vec::new();
        let mut keywords = Vec::new();
        for argument in pair.into_inner() {
            if argument.as_rule() == Rule::argument {
                self.argument(argument, &mut positional, &mut keywords)?;
            }
        }
        if self.python.limits_arguments() && positional.len() + keywords.len() > MAX_ARGUMENTS {
            return Err(argument_error("more than 255 arguments", span));
        }
        let call = ExprKind::Call {
            callee,
            positional: positional.into(),
            keywords: keywords.into(),
        };
        Ok(self.expr.push(call, span))
    }

    fn argument(
        &mut self,
        pair: Pair<'_, Rule>,
        positional: &mut Vec<ExprId>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<()> {
        let span = span_of(&pair);
        let mut inner = pair.clone().into_inner();
        let (Some(first), last) = (inner.next(), inner.next_back()) else {
            return Ok(());
        };
        let construct = match last.as_ref().map(Pair::as_rule) {
            Some(Rule::keyword_value) => return self.keyword(first, last, keywords),
            _ if first.as_rule() == Rule::spread => Some(Construct::Unpacking),
            Some(Rule::comprehension) => Some(Construct::Comprehension),
            _ => None,
        };
        let parts = self.parts(pair)?;
        positional.push(match (construct, parts.as_slice()) {
            // before the others, as it may follow a keyword argument
            (Some(construct), _) => self.unsupported(construct, span, parts),
            (None, &[only]) if keywords.is_empty() => only,
            _ => {
                let what = "a positional argument follows a keyword argument";
                return Err(argument_error(what, span));
            }
        });
        Ok(())
    }

    /// `name=value`; the name is not an expression.
    fn keyword(
        &mut self,
        name: Pair<'_, Rule>,
        value: Option<Pair<'_, Rule>>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<()> {
        let id = self.expression(name)?;
        let Node { kind, span } = self.expr.node(id).clone();
        let ExprKind::Name(name) = kind else {
            return Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, span));
        };
        if matches!(&*name, "True" | "False" | "None" | "__debug__") {
            return Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, span));
        }
        // the name of a keyword is not a name that the formula reads
        self.expr.remove_last();
        for value in value.into_iter().flat_map(Pair::into_inner) {
            let value = self.expression(value)?;
            if keywords.iter().any(|keyword| keyword.name == name) {
                let what = format!("the keyword argument `{name}` is repeated");
                return Err(argument_error(what, span));
            }
            let name = name.clone();
            keywords.push(Keyword { name, span, value });
        }
        Ok(())
    }
}

fn argument_error(what: impl Into<String>, span: Span) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::Arguments(what.into()), span)
}
