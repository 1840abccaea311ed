//! Builds the syntax tree from the pairs of pest: each is a grammar rule and the text that it matched. The recursion is
//! as deep as the brackets are nested, which is limited.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::error::{BARE_UNPACKING, Result};
use crate::formula::syntax::foreign_notation::foreign_operator;
use crate::formula::syntax::grammar::{Rule, span_of};
use crate::formula::syntax::precedence::{Infix, PrecedenceParser, prefix_operator};
use crate::formula::syntax::template::{TemplateConstants, TemplateTree, not_a_formula};
use crate::formula::syntax::{
    Clause, Construct, Expr, ExprId, ExprKind, Keyword, LiteralKind, SyntaxError, SyntaxErrorKind, newer, symbol_table,
};
use crate::python::PythonVersion;

/// Builds the tree of a whole formula, or of a template.
pub(super) fn build(
    text: &str,
    formula: Pair<'_, Rule>,
    python: PythonVersion,
    is_template: bool,
) -> Result<TemplateTree> {
    let template = is_template.then(TemplateConstants::default);
    let mut builder = AstBuilder { expr: Expr::empty(text), python, precedence: PrecedenceParser::new(), template };
    let span = span_of(&formula);
    let mut group = Group::default();
    for pair in formula.into_inner() {
        match pair.as_rule() {
            Rule::element => {
                let id = builder.element(pair)?;
                builder.reject_bare_assignment(id)?;
                group.items.push(id);
            }
            Rule::comma => group.commas += 1,
            Rule::statement_rest => return Err(statement_error(&pair)),
            _ => {}
        }
    }
    builder.reject_bare_unpacking(&group)?;
    builder.group_node(group, span, false)?;
    builder.reject_parenthesized_stars()?;
    newer::check(&builder.expr, python)?;
    symbol_table::check(&builder.expr, python)?;
    builder.template.unwrap_or_default().finish(builder.expr)
}

/// Adds nodes to a tree pair by pair; `unsupported` adds the constructs that are not arithmetic.
pub(super) struct AstBuilder {
    pub(super) expr: Expr,
    pub(super) python: PythonVersion,
    precedence: PrecedenceParser,
    /// The constants of a template so far; `None` in a formula.
    template: Option<TemplateConstants>,
}

/// The items between two brackets.
#[derive(Default)]
pub(super) struct Group {
    pub(super) items: Vec<ExprId>,
    /// Whether the items between braces are keys and values.
    pub(super) has_keys: Option<bool>,
    commas: usize,
    /// The number of items before the clauses of a comprehension, and its clauses.
    clauses: Option<(usize, Vec<Clause>)>,
}

impl AstBuilder {
    /// Adds the node of a group: one item, several with commas, or a comprehension. `span` includes the brackets.
    fn group_node(&mut self, group: Group, span: Span, parenthesized: bool) -> Result<ExprId> {
        if let Some(clauses) = group.clauses {
            return Ok(self.comprehension(span, group.items, clauses));
        }
        match (group.items.as_slice(), group.commas) {
            // the parser before 3.9 drops the parentheses
            (&[item], 0) if parenthesized && self.is_unpacking(item) && self.python < PythonVersion::V3_9 => {
                self.expr.set_span(item, span);
                Ok(item)
            }
            (&[item], 0) if parenthesized => {
                self.reject_unpacking(item).map(|()| self.expr.push(ExprKind::Parenthesized(item), span))
            }
            (&[item], 0) => Ok(item),
            _ => {
                let span = if parenthesized { span } else { self.span_of_items(&group.items).unwrap_or(span) };
                Ok(self.expr.push(ExprKind::Tuple { items: group.items.into(), parenthesized }, span))
            }
        }
    }

    /// Builds the items between two brackets.
    fn items_in_brackets(&mut self, pair: Pair<'_, Rule>) -> Result<Group> {
        let mut group = Group::default();
        let is_generator = pair.as_rule() == Rule::parenthesized;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::comma => group.commas += 1,
                Rule::comprehension => {
                    let items = group.items.len();
                    group.clauses = Some((items, self.clauses(part, is_generator, &mut group.items)?));
                }
                Rule::entry => self.entry(part, &mut group)?,
                _ => group.items.push(self.element(part)?),
            }
        }
        Ok(group)
    }

    /// `expression`, `name := expression` or `*expression`.
    fn element(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        let span = span_of(&pair);
        let mut starred = false;
        let mut parts = Vec::new();
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
    pub(super) fn maybe_assignment(&mut self, parts: Vec<ExprId>, span: Span) -> Result<ExprId> {
        let mut parts = parts;
        if let &[only] = parts.as_slice() {
            return Ok(only);
        }
        if let Some(target) = parts.first_mut() {
            // the parser before 3.9 drops parentheses before the compiler looks at the target
            if self.python < PythonVersion::V3_9 {
                *target = self.expr.without_parentheses(*target);
            }
            if !self.is_assignable(*target) {
                return Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, self.expr.node(*target).span));
            }
        }
        Ok(self.unsupported(Construct::AssignmentExpression, span, parts))
    }

    pub(super) fn reject_unpacking(&self, id: ExprId) -> Result<()> {
        match self.is_unpacking(id) {
            true => Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, self.expr.node(id).span)),
            false => Ok(()),
        }
    }

    /// `*(1, 2),` is a statement, which the server executes, but not an expression, which the scheduler evaluates.
    fn reject_bare_unpacking(&self, group: &Group) -> Result<()> {
        let mut stars = group.items.iter().copied().filter(|&item| self.is_unpacking(item));
        match group.commas {
            0 => stars.next().map_or(Ok(()), |star| self.reject_unpacking(star)),
            _ => match stars.find(|&star| !self.is_parenthesized_star(star)) {
                Some(star) => {
                    Err(SyntaxError::new(SyntaxErrorKind::Statement(BARE_UNPACKING), self.expr.node(star).span))
                }
                None => Ok(()),
            },
        }
    }

    fn reject_bare_assignment(&self, id: ExprId) -> Result<()> {
        let node = self.expr.node(id);
        match &node.kind {
            ExprKind::Unsupported { construct: Construct::AssignmentExpression, .. } => {
                Err(SyntaxError::new(SyntaxErrorKind::BareAssignmentExpression, node.span))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn expression(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        self.precedence.begin_expression();
        for token in pair.clone().into_inner() {
            match token.as_rule() {
                Rule::primary => {
                    let id = self.primary(token)?;
                    self.precedence.operand(id);
                }
                Rule::lambda => {
                    let id = self.lambda(token)?;
                    self.precedence.lambda(id, &self.expr)?;
                }
                Rule::sign | Rule::not => {
                    let op = prefix_operator(token.as_str()).ok_or_else(|| self.foreign_operator(&pair, &token))?;
                    self.precedence.prefix(op, span_of(&token))?;
                }
                _ => {
                    let op = Infix::from_text(token.as_str()).ok_or_else(|| self.foreign_operator(&pair, &token))?;
                    self.precedence.infix(op, span_of(&token), &mut self.expr)?;
                }
            }
        }
        self.precedence.end_expression(&mut self.expr)
    }

    fn foreign_operator(&self, expression: &Pair<'_, Rule>, token: &Pair<'_, Rule>) -> SyntaxError {
        let operand = token.clone().into_inner().next().map_or("", |operand| operand.as_str());
        foreign_operator(self.expr.text(), span_of(expression), span_of(token), operand)
    }

    pub(super) fn primary(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
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
                Rule::attribute => {
                    self.reject_reserved_words(&trailer)?;
                    self.unsupported(Construct::Attribute, span, vec![id])
                }
                _ => self.subscript(id, trailer, span)?,
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
                self.expr.push(ExprKind::Name(normalize_name(pair.as_str())), span)
            }
            Rule::strings => self.strings(pair, span)?,
            Rule::ellipsis => self.unsupported(Construct::Ellipsis, span, Vec::new()),
            Rule::parenthesized => {
                let group = self.items_in_brackets(pair)?;
                self.group_node(group, span, true)?
            }
            Rule::template_constant => {
                let Some(template) = &mut self.template else { return Err(not_a_formula(&pair)) };
                let name = template.declare(&pair)?;
                self.expr.push(ExprKind::Name(name), span)
            }
            rule => {
                let mut group = self.items_in_brackets(pair)?;
                if rule == Rule::braces
                    && let Some(name) = self.only_name(&group)
                    && let Some(template) = &mut self.template
                {
                    template.refer(name.clone(), span);
                    self.expr.remove_last();
                    return Ok(self.expr.push(ExprKind::Name(name), span));
                }
                match (group.clauses.take(), rule, group.has_keys) {
                    (Some(clauses), _, _) => self.comprehension(span, group.items, clauses),
                    (None, Rule::list, _) => self.expr.push(ExprKind::List(group.items.into()), span),
                    (None, _, Some(false)) => self.unsupported(Construct::Set, span, group.items),
                    (None, _, _) => self.unsupported(Construct::Dict, span, group.items),
                }
            }
        })
    }

    /// The name, if the items between braces are a name alone, which is the last node.
    fn only_name(&self, group: &Group) -> Option<Box<str>> {
        match (&group.items[..], &group.clauses, group.commas) {
            (&[item], None, 0) if item == self.expr.root() => match &self.expr.node(item).kind {
                ExprKind::Name(name) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    fn number(&mut self, pair: Pair<'_, Rule>, span: Span) -> ExprId {
        let text: Box<str> = pair.as_str().into();
        if text.ends_with(['j', 'J']) {
            return self.unsupported(Construct::Imaginary, span, Vec::new());
        }
        let has_radix = text.len() > 2 && matches!(text.as_bytes()[1], b'x' | b'X' | b'o' | b'O' | b'b' | b'B');
        let has_point = !has_radix && text.contains(['.', 'e', 'E']);
        // CPython reads the `04` of `04else` as a float; printed alone it would not be a number
        let is_float_before_else =
            !has_radix && text.starts_with('0') && text.contains(|digit| matches!(digit, '1'..='9'));
        let (kind, text) = match (has_point, is_float_before_else) {
            (true, _) => (LiteralKind::Float, text),
            (false, true) => (LiteralKind::Float, format!("{text}.0").into()),
            (false, false) => (LiteralKind::Integer, text),
        };
        self.expr.push(ExprKind::Literal { kind, text }, span)
    }

    pub(super) fn expressions<'p>(&mut self, pairs: impl Iterator<Item = Pair<'p, Rule>>) -> Result<Vec<ExprId>> {
        let expressions = pairs.filter(|pair| pair.as_rule() == Rule::expression);
        expressions.map(|pair| self.expression(pair)).collect()
    }

    pub(super) fn unsupported(&mut self, construct: Construct, span: Span, parts: Vec<ExprId>) -> ExprId {
        self.expr.push(ExprKind::Unsupported { construct, parts: parts.into() }, span)
    }

    fn span_of_items(&self, items: &[ExprId]) -> Option<Span> {
        Some(self.expr.node(*items.first()?).span.to(self.expr.node(*items.last()?).span))
    }

    pub(super) fn is_unpacking(&self, id: ExprId) -> bool {
        matches!(self.expr.node(id).kind, ExprKind::Unsupported { construct: Construct::Unpacking, .. })
    }

    /// `async` and `await` are reserved since "What's New in Python 3.7".
    pub(super) fn reject_reserved_word(&self, name: &Pair<'_, Rule>) -> Result<()> {
        let word = name.as_str();
        if self.python >= PythonVersion::V3_7 && matches!(word, "async" | "await") {
            return Err(SyntaxError::new(SyntaxErrorKind::ReservedWord(word.into()), span_of(name)));
        }
        Ok(())
    }

    /// The same for the names of an attribute or a parameter.
    pub(super) fn reject_reserved_words(&self, pair: &Pair<'_, Rule>) -> Result<()> {
        let mut names = pair.clone().into_inner().filter(|part| part.as_rule() == Rule::name);
        names.try_for_each(|name| self.reject_reserved_word(&name))
    }

    pub(super) fn is_assignable(&self, id: ExprId) -> bool {
        match &self.expr.node(id).kind {
            ExprKind::Name(name) => !matches!(&**name, "True" | "False" | "None" | "__debug__"),
            _ => false,
        }
    }
}

/// The NFKC form of a name, in which Python compares names.
pub(super) fn normalize_name(name: &str) -> Box<str> {
    use unicode_normalization::UnicodeNormalization;
    if name.is_ascii() { name.into() } else { name.nfkc().collect::<String>().into() }
}

/// The error for text with `;` or `=` after the expression.
fn statement_error(pair: &Pair<'_, Rule>) -> SyntaxError {
    let (what, span) = match pair.clone().into_inner().next() {
        Some(token) if token.as_rule() == Rule::semicolon => ("a sequence separated by `;`", span_of(&token)),
        Some(token) => ("an assignment", span_of(&token)),
        None => ("this", span_of(pair)),
    };
    SyntaxError::new(SyntaxErrorKind::Statement(what), span)
}

/// The most arguments of a call before Python 3.7.
const MAX_ARGUMENTS: usize = 255;

/// The arguments of a call, in the order that Python requires.
#[derive(Default)]
struct Arguments {
    /// Whether a `**mapping` has been read.
    has_mapping: bool,
    positional: Vec<ExprId>,
    keywords: Vec<Keyword>,
}

impl AstBuilder {
    fn call(&mut self, callee: ExprId, pair: Pair<'_, Rule>, span: Span) -> Result<ExprId> {
        let mut arguments = Arguments::default();
        // before 3.7 a comma may follow a generator that is the only argument
        let others = if self.python < PythonVersion::V3_7 { Rule::argument } else { Rule::comma };
        let least = usize::from(others == Rule::argument) + 1;
        let has_others = pair.clone().into_inner().filter(|part| part.as_rule() == others).count() >= least;
        for argument in pair.into_inner().filter(|part| part.as_rule() == Rule::argument) {
            self.argument(argument, has_others, &mut arguments)?;
        }
        if self.python.limits_arguments() && arguments.positional.len() + arguments.keywords.len() > MAX_ARGUMENTS {
            return Err(argument_error("more than 255 arguments", span));
        }
        let positional = arguments.positional.into();
        let keywords = arguments.keywords.into();
        Ok(self.expr.push(ExprKind::Call { callee, positional, keywords }, span))
    }

    fn argument(&mut self, pair: Pair<'_, Rule>, has_others: bool, arguments: &mut Arguments) -> Result<()> {
        let span = span_of(&pair);
        let mut parts = pair.into_inner();
        let Some(first) = parts.next() else { return Ok(()) };
        if first.as_rule() == Rule::spread {
            arguments.check_spread(first.as_str() == "**", span)?;
            let inner = self.expressions(parts)?;
            let id = self.unsupported(Construct::Unpacking, span, inner);
            arguments.positional.push(id);
            return Ok(());
        }
        let mut value = self.expression(first)?;
        for part in parts {
            match part.as_rule() {
                Rule::keyword_value => {
                    let (name, name_span) = self.take_keyword_name(value)?;
                    let inner = self.expressions(part.into_inner())?;
                    return arguments.push_keyword(name, name_span, inner);
                }
                Rule::walrus_value => {
                    let mut sides = vec![value];
                    sides.extend(self.expressions(part.into_inner())?);
                    value = self.maybe_assignment(sides, span)?;
                }
                _ if has_others => {
                    return Err(argument_error("a generator among other arguments must be parenthesized", span));
                }
                _ => {
                    let mut inner = vec![value];
                    let clauses = self.clauses(part, true, &mut inner)?;
                    value = self.comprehension(span, inner, (1, clauses));
                }
            }
        }
        arguments.push_positional(value, span)
    }

    /// The name of a keyword argument, which is not an expression, with its span. Before 3.8 it can be parenthesized.
    fn take_keyword_name(&mut self, id: ExprId) -> Result<(Box<str>, Span)> {
        let node = self.expr.node(id);
        let span = node.span;
        match &node.kind {
            ExprKind::Name(name) if self.is_assignable(id) => {
                let name = name.clone();
                self.expr.remove_last();
                Ok((name, span))
            }
            ExprKind::Parenthesized(inner) if self.python < PythonVersion::V3_8 => {
                let inner = *inner;
                self.expr.remove_last();
                self.take_keyword_name(inner)
            }
            _ => Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, span)),
        }
    }
}

impl Arguments {
    fn push_positional(&mut self, id: ExprId, span: Span) -> Result<()> {
        if !self.keywords.is_empty() || self.has_mapping {
            return Err(argument_error("a positional argument follows a keyword argument", span));
        }
        self.positional.push(id);
        Ok(())
    }

    fn check_spread(&mut self, is_mapping: bool, span: Span) -> Result<()> {
        if self.has_mapping && !is_mapping {
            return Err(argument_error("an argument with `*` follows one with `**`", span));
        }
        self.has_mapping |= is_mapping;
        Ok(())
    }

    fn push_keyword(&mut self, name: Box<str>, span: Span, value: Vec<ExprId>) -> Result<()> {
        if self.keywords.iter().any(|keyword| keyword.name == name) {
            return Err(argument_error(&format!("the keyword argument `{name}` is repeated"), span));
        }
        self.keywords.extend(value.into_iter().map(|value| Keyword { name: name.clone(), span, value }));
        Ok(())
    }
}

fn argument_error(what: &str, span: Span) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::Arguments(what.into()), span)
}
