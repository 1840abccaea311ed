//! Makes a syntax tree of a text, with the parser that pest generates from `grammar/formula.pest`.
//!
//! Pest's pairs, each a grammar rule and the text that it matched, become nodes; the recursion is as
//! deep as the brackets are nested, which is limited. The grammar leaves expressions flat, as
//! `operand operator operand …`, so that its recursion does not depend on the number of operators;
//! an operator-precedence parser with a stack of pending operators makes the tree of them. Where
//! pest stops, it becomes an error with what was expected.

use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::syntax_error::{
    Result, foreign_operator, number_with_unit, word_operator,
};
use crate::formula::syntax::{
    Construct, Expr, ExprId, ExprKind, Keyword, LiteralKind, Node, SyntaxError,
};
use crate::python::{
    BinaryOperator, BooleanOperator, ComparisonOperator, PythonVersion, UnaryOperator,
};

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/formula.pest"]
struct FormulaParser;

/// Parses a formula, or a template, whose places are returned too; `None` if a limit of pest is
/// reached, such as that of its calls, which any program may set for all.
pub(super) fn parse(
    text: &str,
    python: PythonVersion,
    is_template: bool,
) -> Option<Result<(Expr, Vec<TemplatePlace>)>> {
    match FormulaParser::parse(Rule::formula, text) {
        Ok(mut pairs) => Some(build(text, pairs.next()?, python, is_template)),
        Err(error) => Some(Err(to_syntax_error(text, &error)?)),
    }
}

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
fn build(
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
                    return Err(SyntaxError::statement(
                        "an unpacking without brackets",
                        *span,
                    ));
                }
                group.items.push(id);
            }
            Rule::comma => group.commas += 1,
            Rule::statement_rest => return Err(statement_error(&pair)),
            // `EOI`, the end of the text, for which pest makes a pair too
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
                self.expr.push(ExprKind::Tuple(group.items.into()), span)
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
                        // not by the rule `spread` alone, which is also the `*` of a set
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
            return Err(SyntaxError::empty(Span::new(start, start)));
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
                let Some(written) = inner.next() else {
                    return Err(SyntaxError::empty(span));
                };
                self.reject_reserved_word(&written)?;
                let name = normalize_name(written.as_str());
                let parts = Vec::from_iter(inner.map(|part| span_of(&part)));
                if let Some(places) = &mut self.places {
                    places.push(TemplatePlace {
                        name: name.clone(),
                        span,
                        parts,
                    });
                    self.expr.push(ExprKind::Name(name), span)
                } else if parts.is_empty() {
                    let item = self.expr.push(ExprKind::Name(name), span_of(&written));
                    self.unsupported(Construct::Set, span, vec![item])
                } else {
                    let message = format!(
                        "this is a template, not a formula: `{}` in braces is a constant to find",
                        written.as_str()
                    );
                    return Err(SyntaxError::new(message, span).with_help(
                        "`jsf fit` finds the constants of a template; a formula has the number itself",
                    ));
                }
            }
            rule => {
                let group = self.items_in_brackets(pair)?;
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
        // the grammar, which knows no version, refuses all other reserved words
        if self.python >= PythonVersion::V3_7 && matches!(word, "async" | "await") {
            return Err(SyntaxError::reserved_word(word, span_of(name)));
        }
        Ok(())
    }
}

/// The NFKC form of a name, in which Python compares names.
fn normalize_name(name: &str) -> Box<str> {
    use unicode_normalization::UnicodeNormalization;
    name.nfkc().collect::<String>().into()
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
    SyntaxError::statement(what, span)
}

/// The most arguments of a call before Python 3.7.
const MAX_ARGUMENTS: usize = 255;

impl AstBuilder {
    fn call(&mut self, callee: ExprId, pair: Pair<'_, Rule>, span: Span) -> Result<ExprId> {
        let mut positional = Vec::new();
        let mut keywords = Vec::new();
        for argument in pair.into_inner() {
            // the commas between them are pairs too
            if argument.as_rule() == Rule::argument {
                self.argument(argument, &mut positional, &mut keywords)?;
            }
        }
        if self.python.limits_arguments() && positional.len() + keywords.len() > MAX_ARGUMENTS {
            return Err(SyntaxError::new("more than 255 arguments", span));
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
                return Err(SyntaxError::new(what, span));
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
            return Err(SyntaxError::assignment_target(span));
        };
        // CPython refuses these as names of keywords: `f(None=1)` is a SyntaxError
        if matches!(&*name, "True" | "False" | "None" | "__debug__") {
            return Err(SyntaxError::assignment_target(span));
        }
        // the name of a keyword is not a name that the formula reads
        self.expr.remove_last();
        for value in value.into_iter().flat_map(Pair::into_inner) {
            let value = self.expression(value)?;
            if keywords.iter().any(|keyword| keyword.name == name) {
                let what = format!("the keyword argument `{name}` is repeated");
                return Err(SyntaxError::new(what, span));
            }
            let name = name.clone();
            keywords.push(Keyword { name, span, value });
        }
        Ok(())
    }
}

/// The span of a pair without the whitespace and comments at its end. Pest includes them because it
/// skips them before it looks for a further repetition.
fn span_of(pair: &Pair<'_, Rule>) -> Span {
    let start = pair.as_span().start();
    let mut final_pair = pair.clone();
    while ends_with_child(final_pair.as_rule())
        && let Some(child) = final_pair.clone().into_inner().next_back()
    {
        final_pair = child;
    }
    let span = final_pair.as_span();
    Span::new(start, span.start() + span.as_str().trim_end().len())
}

/// Whether text that matches the rule ends with its last child, and not with a token such as `)`.
fn ends_with_child(rule: Rule) -> bool {
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
    )
}

/// An operator that is read, or the start of an expression, while it waits for its right operand.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    /// The start of an expression: operators before it take no operands after it.
    Start,
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Comparison(ComparisonOperator),
    Boolean(BooleanOperator),
    /// `is` or `is not`, which is not arithmetic.
    Identity,
    /// `then if`, before its `else`.
    If,
    /// `then if condition else`.
    Else,
}

impl Operator {
    /// The operator between two operands; `None` if it is not Python's.
    fn infix(text: &str) -> Option<Self> {
        match text {
            "if" => return Some(Self::If),
            "else" => return Some(Self::Else),
            // blanks and comments may separate the two words of `not in` and `is not`
            _ if text.starts_with("not") => {
                return Some(Self::Comparison(ComparisonOperator::NotIn));
            }
            _ if text.starts_with("is") => return Some(Self::Identity),
            _ => {}
        }
        if let Some(op) = BinaryOperator::from_symbol(text) {
            return Some(Self::Binary(op));
        }
        if let Some(op) = ComparisonOperator::from_symbol(text) {
            return Some(Self::Comparison(op));
        }
        BooleanOperator::from_symbol(text).map(Self::Boolean)
    }

    /// How tightly it binds, in the order of the table in Python's reference.
    fn binding_power(self) -> u8 {
        use BinaryOperator as Op;
        match self {
            // not completed by any operator: an `if` waits for its `else`
            Self::Start | Self::If => 0,
            Self::Else => CONDITIONAL,
            Self::Boolean(BooleanOperator::Or) => 2,
            Self::Boolean(BooleanOperator::And) => 3,
            Self::Unary(UnaryOperator::Not) => NOT,
            Self::Comparison(_) | Self::Identity => 5,
            Self::Binary(Op::BitOr) => 6,
            Self::Binary(Op::BitXor) => 7,
            Self::Binary(Op::BitAnd) => 8,
            Self::Binary(Op::ShiftLeft | Op::ShiftRight) => 9,
            Self::Binary(Op::Add | Op::Subtract) => 10,
            Self::Binary(Op::Power) => 13,
            // `*`, `/`, `//`, `%`, `@`
            Self::Binary(_) => 11,
            // below a power: `-2**2` is `-(2**2)`
            Self::Unary(_) => 12,
        }
    }

    /// Whether an operator before it that binds as tightly takes its operand first.
    fn is_left_associative(self) -> bool {
        // comparisons, `and` and `or` become one node with all their operands
        match self {
            Self::Binary(op) => op != BinaryOperator::Power,
            // `a < b is c` is one chain in Python; what contains `is` is never evaluated, so its
            // shape is of no account
            _ => self == Self::Identity,
        }
    }

    /// Whether it and the operator before it have one node together.
    fn continues(self, before: Self) -> bool {
        match self {
            Self::Comparison(_) => matches!(before, Self::Comparison(_)),
            Self::Boolean(_) => self == before,
            _ => false,
        }
    }
}

const CONDITIONAL: u8 = 1;
const NOT: u8 = 4;

/// An operator-precedence parser: takes operands and operators in the order of the text and adds
/// nodes to the tree. Expressions may nest.
#[derive(Default)]
struct PrecedenceParser {
    operands: Vec<ExprId>,
    /// The operators whose right operand is not complete.
    pending: Vec<(Operator, Span)>,
}

impl PrecedenceParser {
    /// Begins an expression, which [`PrecedenceParser::end_expression`] ends.
    fn begin_expression(&mut self) {
        self.pending.push((Operator::Start, Span::default()));
    }

    fn operand(&mut self, id: ExprId) {
        self.operands.push(id);
    }

    fn prefix(&mut self, op: UnaryOperator, span: Span) -> Result<()> {
        let before = self.last().map_or(0, |(before, _)| before.binding_power());
        // `-not x` and `a + not b` are syntax errors in Python
        if op == UnaryOperator::Not && before > NOT {
            let message = "`not` and its operand must be parenthesized here";
            return Err(SyntaxError::new(message, span).with_help("put parentheses around `not …`"));
        }
        self.pending.push((Operator::Unary(op), span));
        Ok(())
    }

    /// Takes an operator between two operands, one of [`Operator::infix`].
    fn infix(&mut self, op: Operator, span: Span, expr: &mut Expr) -> Result<()> {
        let limit = match op {
            // so `a if b else c if d else e` nests to the right: an earlier `else` stays pending
            Operator::If | Operator::Else => CONDITIONAL,
            _ => op.binding_power() - u8::from(op.is_left_associative()),
        };
        self.reduce_above(limit, expr);
        match (op, self.last()) {
            (Operator::If, Some((Operator::If, unfinished))) => {
                return Err(SyntaxError::missing_else(unfinished));
            }
            (Operator::Else, Some((Operator::If, _))) => {
                self.pending.pop();
            }
            (Operator::Else, _) => {
                return Err(SyntaxError::new("`else` without `if`", span));
            }
            _ => {}
        }
        self.pending.push((op, span));
        Ok(())
    }

    /// Ends the expression that was begun last, and returns its node.
    fn end_expression(&mut self, expr: &mut Expr) -> Result<ExprId> {
        self.reduce_above(CONDITIONAL, expr);
        if let Some((Operator::If, span)) = self.last() {
            return Err(SyntaxError::missing_else(span));
        }
        self.reduce_above(0, expr);
        self.pending.pop();
        self.operands
            .pop()
            .ok_or_else(|| SyntaxError::empty(Span::default()))
    }

    fn last(&self) -> Option<(Operator, Span)> {
        self.pending.last().copied()
    }

    /// Completes the pending operators whose binding power is greater than `limit`.
    fn reduce_above(&mut self, limit: u8, expr: &mut Expr) {
        while let Some((op, span)) = self.last()
            && op.binding_power() > limit
        {
            self.reduce(op, span, expr);
        }
    }

    /// Replaces the operands of a complete operator, the last one, by its node.
    fn reduce(&mut self, op: Operator, span: Span, expr: &mut Expr) {
        let mut chain = Vec::new();
        // the first one is `op` itself
        while let Some((before, _)) = self.last()
            && (chain.is_empty() || op.continues(before))
        {
            chain.push(before);
            self.pending.pop();
        }
        let count = match op {
            Operator::Unary(_) => 1,
            Operator::Else => 3,
            _ => chain.len() + 1,
        };
        // the grammar gives each operator its operands, so this never saturates
        let first = self.operands.len().saturating_sub(count);
        let operands = &self.operands[first..];
        let covered = match operands {
            [first, .., last] => expr.node(*first).span.to(expr.node(*last).span),
            [only] => expr.node(*only).span.to(span),
            [] => span,
        };
        let kind = match (op, operands) {
            (Operator::Unary(op), &[operand]) => ExprKind::Unary { op, operand },
            (Operator::Binary(op), &[left, right]) => ExprKind::Binary { op, left, right },
            (Operator::Else, &[then, condition, otherwise]) => ExprKind::Conditional {
                then,
                condition,
                otherwise,
            },
            (Operator::Comparison(_), _) => {
                let mut operators = Vec::with_capacity(chain.len());
                for link in chain.into_iter().rev() {
                    if let Operator::Comparison(op) = link {
                        operators.push(op);
                    }
                }
                ExprKind::Comparison {
                    operators: operators.into(),
                    operands: operands.into(),
                }
            }
            (Operator::Boolean(op), _) => ExprKind::Boolean {
                op,
                operands: operands.into(),
            },
            // `a is b` compares identities, not values
            _ => ExprKind::Unsupported {
                construct: Construct::Identity,
                parts: operands.into(),
            },
        };
        self.operands.truncate(first);
        self.operands.push(expr.push(kind, covered));
    }
}

/// Converts pest's error, which pest reports where no rule matches.
fn to_syntax_error(text: &str, error: &Error<Rule>) -> Option<SyntaxError> {
    let ErrorVariant::ParsingError {
        positives: expected_rules,
        ..
    } = &error.variant
    else {
        return None;
    };
    let position = match error.location {
        InputLocation::Pos(position) | InputLocation::Span((position, _)) => position,
    };
    let position = skip_whitespace(text, position);
    // first, because to the parser a unit is a name
    if let Some(error) = number_with_unit(text, position) {
        return Some(error);
    }
    let unparsed = &text[position..];
    let end = Span::new(position, position);
    Some(match unparsed.chars().next() {
        None if text.trim().is_empty() => SyntaxError::empty(end),
        None => unexpected("the end of the formula", expected_rules, end),
        Some(first) => error_at_token(unparsed, first, expected_rules, position),
    })
}

/// The error for the token at the start of `unparsed`, which is at `position` of the text. `first`
/// is its first character.
fn error_at_token(
    unparsed: &str,
    first: char,
    expected_rules: &[Rule],
    position: usize,
) -> SyntaxError {
    let span = |length: usize| Span::new(position, position + length);
    if starts_with_number(unparsed) {
        let number = &unparsed[..number_length(unparsed)];
        let span = span(number.len());
        return match number_problem(number) {
            Some(problem) => SyntaxError::new("invalid number", span).with_help(problem),
            None => unexpected(&format!("`{number}`"), expected_rules, span),
        };
    }
    let word = &unparsed[..word_length(unparsed)];
    if !word.is_empty() {
        let span = span(word.len());
        // a prefix, such as `rb`, has at most two letters
        let is_string_prefix = unparsed[word.len()..].starts_with(['"', '\'']) && word.len() <= 2;
        return match word {
            _ if is_string_prefix => unclosed_string(span),
            _ if is_reserved(word) => SyntaxError::reserved_word(word, span),
            _ => match word_operator(word, span) {
                Some(error) if !expects_operand(expected_rules) => error,
                _ => unexpected(&format!("`{word}`"), expected_rules, span),
            },
        };
    }
    match first {
        '"' | '\'' if expects_operand(expected_rules) => {
            unclosed_string(span(unparsed.trim_end().len()))
        }
        '"' | '\'' => unexpected("a string", expected_rules, span(1)),
        // the excluded ones are characters that Python does not use
        _ if first.is_ascii_graphic() && !matches!(first, '$' | '`' | '\\' | '?') => {
            unexpected(&format!("`{first}`"), expected_rules, span(1))
        }
        _ => SyntaxError::character(first, span(first.len_utf8())),
    }
}

fn unclosed_string(span: Span) -> SyntaxError {
    SyntaxError::new("the string is never closed", span)
}

fn unexpected(found: &str, expected_rules: &[Rule], span: Span) -> SyntaxError {
    let expected = match (
        expects_operand(expected_rules),
        expected_rules.contains(&Rule::EOI),
    ) {
        (true, _) => "a number, a name or `(`",
        (false, true) => "an operator or the end of the formula",
        (false, false) => "an operator, `,` or a closing bracket",
    };
    SyntaxError::unexpected(expected, found, span)
}

/// Whether one of the rules that pest expects begins an operand.
fn expects_operand(expected_rules: &[Rule]) -> bool {
    expected_rules.is_empty()
        || expected_rules.iter().any(|rule| {
            matches!(
                rule,
                Rule::number
                    | Rule::name
                    | Rule::primary
                    | Rule::expression
                    | Rule::element
                    | Rule::formula
            )
        })
}

/// The position of the first character at `position` or later that is not whitespace.
fn skip_whitespace(text: &str, position: usize) -> usize {
    let unparsed = text.get(position..).unwrap_or("");
    position
        + (unparsed.len()
            - unparsed
                .trim_start_matches([' ', '\t', '\u{c}', '\n', '\r'])
                .len())
}

/// The length of the name or keyword at the start of `unparsed`, 0 if it starts with another token.
fn word_length(unparsed: &str) -> usize {
    // good enough for a message: what a name is, the grammar alone decides
    for (offset, character) in unparsed.char_indices() {
        let is_digit = offset > 0 && character.is_numeric();
        if character != '_' && !character.is_alphabetic() && !is_digit {
            return offset;
        }
    }
    unparsed.len()
}

fn starts_with_number(unparsed: &str) -> bool {
    let digits = unparsed.strip_prefix('.').unwrap_or(unparsed);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

/// The length of the number at the start of `unparsed`, with all letters and digits that follow it.
fn number_length(unparsed: &str) -> usize {
    // in `0x1e+1` the `e` is a digit, not an exponent
    let is_hexadecimal = unparsed.starts_with("0x") || unparsed.starts_with("0X");
    let mut previous = ' ';
    for (offset, character) in unparsed.char_indices() {
        let is_exponent_sign =
            matches!(character, '+' | '-') && matches!(previous, 'e' | 'E') && !is_hexadecimal;
        if !character.is_alphanumeric() && !matches!(character, '_' | '.') && !is_exponent_sign {
            return offset;
        }
        previous = character;
    }
    unparsed.len()
}

/// Says how to correct an invalid number; `None` if the number is valid.
fn number_problem(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let after_digits = lower.trim_start_matches(|character: char| {
        character.is_ascii_digit() || matches!(character, '.' | '_')
    });
    Some(match &lower {
        // before the other rules, to which the letter begins a name
        _ if lower.starts_with("0x") => "only the digits 0-9 and a-f can follow `0x`",
        _ if lower.starts_with("0o") => "only the digits 0-7 can follow `0o`",
        _ if lower.starts_with("0b") => "only the digits 0 and 1 can follow `0b`",
        _ if lower.contains("__") || lower.ends_with('_') => "`_` can only separate two digits",
        _ if after_digits.starts_with('e') => "digits must follow the `e` of a number: `1e-7`",
        _ if after_digits.starts_with(char::is_alphabetic) => {
            "a name cannot begin with a digit; for a product write `*`"
        }
        _ if lower.starts_with('0') && after_digits.is_empty() && !lower.contains('.') => {
            "an integer has no leading zeros; for octal write `0o`"
        }
        _ => return None,
    })
}

/// Whether the word is a keyword of Python.
pub(super) fn is_reserved(word: &str) -> bool {
    // not `True`, `False` and `None`, which are names here, as for `ExprKind::Name`
    const RESERVED: [&str; 32] = [
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
        "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with",
        "yield",
    ];
    RESERVED.contains(&word)
}
