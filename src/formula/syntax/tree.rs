//! From the grammar's pairs to the tree. Recursion follows brackets only, whose depth `limits` bounds.

use pest::iterators::Pair;

use super::grammar::Rule;
use super::precedence::{Climber, Infix};
use super::{Construct, Expr, Keyword, LiteralKind, NodeId, NodeKind, SyntaxError, SyntaxErrorKind};
use crate::formula::operator::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};
use crate::span::Span;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Builds the tree of a whole formula.
pub(super) fn build(text: &str, formula: Pair<'_, Rule>) -> Result<Expr> {
    let mut builder = Builder { text, expr: Expr::empty() };
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
    builder.group(group, span, false)?;
    Ok(builder.expr)
}

struct Builder<'t> {
    text: &'t str,
    expr: Expr,
}

/// The items between two brackets.
#[derive(Default)]
struct Group {
    items: Vec<NodeId>,
    commas: usize,
    comprehension: bool,
}

impl Builder<'_> {
    /// One item, several with commas, or a comprehension; `span` covers the brackets too.
    fn group(&mut self, group: Group, span: Span, parenthesised: bool) -> Result<NodeId> {
        if group.comprehension {
            return Ok(self.foreign(Construct::Comprehension, span, group.items));
        }
        match (group.items.as_slice(), group.commas) {
            (&[item], 0) if self.is_unpacking(item) => {
                Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, self.expr.node(item).span))
            }
            (&[item], 0) if parenthesised => Ok(self.expr.push(NodeKind::Parenthesised(item), span)),
            (&[item], 0) => Ok(item),
            _ => {
                let span = if parenthesised { span } else { self.covering(&group.items, span) };
                Ok(self.expr.push(NodeKind::Tuple { items: group.items.into(), parenthesised }, span))
            }
        }
    }

    fn bracketed(&mut self, pair: Pair<'_, Rule>) -> Result<Group> {
        let mut group = Group::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::comma => group.commas += 1,
                Rule::comprehension => {
                    group.comprehension = true;
                    self.comprehension(part, &mut group.items)?;
                }
                Rule::entry => self.entry(part, &mut group.items)?,
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
        Ok(if starred { self.foreign(Construct::Unpacking, span, vec![id]) } else { id })
    }

    /// `parts` is one expression, or the two sides of `:=`.
    fn maybe_assignment(&mut self, parts: Vec<NodeId>, span: Span) -> Result<NodeId> {
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

    fn no_bare_assignment(&self, id: NodeId) -> Result<()> {
        let node = self.expr.node(id);
        match &node.kind {
            NodeKind::Foreign { construct: Construct::AssignmentExpression, .. } => {
                Err(SyntaxError::new(SyntaxErrorKind::BareAssignmentExpression, node.span))
            }
            _ => Ok(()),
        }
    }

    fn expression(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let whole = pair.clone();
        let mut expr = std::mem::replace(&mut self.expr, Expr::empty());
        let mut climber = Climber::new(&mut expr, self.text);
        let result = self.climb(pair, &whole, &mut climber).and_then(|()| climber.finish());
        self.expr = expr;
        result
    }

    fn climb(&mut self, pair: Pair<'_, Rule>, whole: &Pair<'_, Rule>, climber: &mut Climber<'_>) -> Result<()> {
        for token in pair.into_inner() {
            let span = span_of(&token);
            match token.as_rule() {
                Rule::primary => {
                    let id = self.with(climber, |builder| builder.primary(token))?;
                    climber.operand(id);
                }
                Rule::lambda => {
                    let id = self.with(climber, |builder| builder.lambda(token))?;
                    climber.greedy_operand(id)?;
                }
                Rule::lookalike => return Err(lookalike(whole, token)),
                Rule::bang => {
                    return Err(foreign_operator("!", "not ", "for a negation write `not`", span));
                }
                rule => match prefix(rule) {
                    Some(op) => climber.prefix(op, span)?,
                    None => climber.infix(infix(rule), span)?,
                },
            }
        }
        Ok(())
    }

    /// Lends the tree that the climber holds to the builder.
    fn with<T>(&mut self, climber: &mut Climber<'_>, work: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.expr, climber.expr());
        let result = work(self);
        std::mem::swap(&mut self.expr, climber.expr());
        result
    }

    fn primary(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let whole = span_of(&pair);
        let mut parts = pair.into_inner();
        let Some(atom) = parts.next() else { return Err(SyntaxError::new(SyntaxErrorKind::Empty, whole)) };
        let mut id = self.atom(atom)?;
        for trailer in parts {
            let span = Span { start: whole.start, end: span_of(&trailer).end };
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
            Rule::strings => self.foreign(Construct::String, span, Vec::new()),
            Rule::ellipsis => self.foreign(Construct::Ellipsis, span, Vec::new()),
            _ => {
                let is_dict = pair.clone().into_inner().any(|entry| is_dict_entry(&entry));
                let group = self.bracketed(pair)?;
                match rule {
                    Rule::parenthesised => self.group(group, span, true)?,
                    _ if group.comprehension => self.foreign(Construct::Comprehension, span, group.items),
                    Rule::list => self.expr.push(NodeKind::List(group.items.into()), span),
                    _ if is_dict || group.items.is_empty() => self.foreign(Construct::Dict, span, group.items),
                    _ => self.foreign(Construct::Set, span, group.items),
                }
            }
        })
    }

    fn number(&mut self, pair: Pair<'_, Rule>, span: Span) -> NodeId {
        let text: Box<str> = pair.as_str().into();
        let literal = |kind| NodeKind::Literal { kind, text };
        match pair.into_inner().next().map(|number| number.as_rule()) {
            Some(Rule::integer) => self.expr.push(literal(LiteralKind::Integer), span),
            Some(Rule::float) => self.expr.push(literal(LiteralKind::Float), span),
            _ => self.foreign(Construct::Imaginary, span, Vec::new()),
        }
    }

    fn call(&mut self, callee: NodeId, pair: Pair<'_, Rule>, span: Span) -> Result<NodeId> {
        let mut arguments = Arguments::default();
        let several = pair.clone().into_inner().filter(|part| part.as_rule() == Rule::argument).count() > 1;
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
            let inner = self.expressions(parts)?;
            let id = self.foreign(Construct::Unpacking, span, inner);
            arguments.positional.push(id);
            return Ok(());
        }
        let value = self.expression(first)?;
        let Some(rest) = parts.next() else { return arguments.positional(value, span) };
        match rest.as_rule() {
            Rule::keyword_value => {
                let name = self.keyword_name(value)?;
                let inner = self.expressions(rest.into_inner())?;
                arguments.keyword(name, self.expr.node(value).span, inner)
            }
            Rule::walrus_value => {
                let mut both = vec![value];
                both.extend(self.expressions(rest.into_inner())?);
                let id = self.maybe_assignment(both, span)?;
                arguments.positional(id, span)
            }
            _ if several => Err(arguments_error("a generator among other arguments needs parentheses", span)),
            _ => {
                let mut inner = vec![value];
                self.comprehension(rest, &mut inner)?;
                let id = self.foreign(Construct::Comprehension, span, inner);
                arguments.positional(id, span)
            }
        }
    }

    fn keyword_name(&self, id: NodeId) -> Result<Box<str>> {
        let node = self.expr.node(id);
        match &node.kind {
            NodeKind::Name(name) if self.is_assignable(id) => Ok(name.clone()),
            _ => Err(SyntaxError::new(SyntaxErrorKind::AssignmentTarget, node.span)),
        }
    }

    fn subscript(&mut self, base: NodeId, pair: Pair<'_, Rule>, span: Span) -> Result<NodeId> {
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

    fn lambda(&mut self, pair: Pair<'_, Rule>) -> Result<NodeId> {
        let span = span_of(&pair);
        let mut parts = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expression => parts.push(self.expression(part)?),
                _ => parts.extend(self.expressions(part.into_inner())?),
            }
        }
        Ok(self.foreign(Construct::Lambda, span, parts))
    }

    fn comprehension(&mut self, pair: Pair<'_, Rule>, parts: &mut Vec<NodeId>) -> Result<()> {
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::disjunction => parts.push(self.expression(part)?),
                Rule::target => {
                    let primary = part.into_inner().find(|part| part.as_rule() == Rule::primary);
                    if let Some(primary) = primary {
                        parts.push(self.primary(primary)?);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn entry(&mut self, pair: Pair<'_, Rule>, items: &mut Vec<NodeId>) -> Result<()> {
        items.extend(self.expressions(pair.into_inner())?);
        Ok(())
    }

    fn expressions<'p>(&mut self, pairs: impl Iterator<Item = Pair<'p, Rule>>) -> Result<Vec<NodeId>> {
        let expressions = pairs.filter(|pair| pair.as_rule() == Rule::expression);
        expressions.map(|pair| self.expression(pair)).collect()
    }

    fn foreign(&mut self, construct: Construct, span: Span, parts: Vec<NodeId>) -> NodeId {
        let (text, parts) = (span.of(self.text).into(), parts.into());
        self.expr.push(NodeKind::Foreign { construct, text, parts }, span)
    }

    fn covering(&self, items: &[NodeId], otherwise: Span) -> Span {
        match (items.first(), items.last()) {
            (Some(&first), Some(&last)) => self.expr.node(first).span.to(self.expr.node(last).span),
            _ => otherwise,
        }
    }

    fn is_unpacking(&self, id: NodeId) -> bool {
        matches!(self.expr.node(id).kind, NodeKind::Foreign { construct: Construct::Unpacking, .. })
    }

    fn is_assignable(&self, id: NodeId) -> bool {
        match &self.expr.node(id).kind {
            NodeKind::Name(name) => !matches!(&**name, "True" | "False" | "None" | "__debug__"),
            _ => false,
        }
    }
}

/// The arguments of a call, as far as they are read.
#[derive(Default)]
struct Arguments {
    positional: Vec<NodeId>,
    keywords: Vec<Keyword>,
}

impl Arguments {
    fn positional(&mut self, id: NodeId, span: Span) -> Result<()> {
        if !self.keywords.is_empty() {
            return Err(arguments_error("a positional argument stands behind a keyword argument", span));
        }
        self.positional.push(id);
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

fn arguments_error(what: &str, span: Span) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::Arguments(what.into()), span)
}

fn statement(pair: &Pair<'_, Rule>) -> SyntaxError {
    let mut parts = pair.clone().into_inner();
    let (what, span) = match parts.next() {
        Some(sign) if sign.as_rule() == Rule::semicolon => ("what `;` separates", span_of(&sign)),
        Some(sign) => ("an assignment", span_of(&sign)),
        None => ("this", span_of(pair)),
    };
    SyntaxError::new(SyntaxErrorKind::Statement(what), span)
}

fn lookalike(whole: &Pair<'_, Rule>, pair: Pair<'_, Rule>) -> SyntaxError {
    let (span, written) = (span_of(&pair), pair.as_str().to_owned());
    let Some(token) = pair.into_inner().next() else {
        return foreign_operator(&written, "", "", span);
    };
    match token.as_rule() {
        Rule::and_and => foreign_operator("&&", " and ", "both must hold: write `and`", span),
        Rule::or_or => foreign_operator("||", " or ", "one must hold: write `or`", span),
        Rule::diamond => foreign_operator("<>", "!=", "for different write `!=`", span),
        Rule::triple_equal => {
            let instead = if written == "===" { "==" } else { "!=" };
            foreign_operator(&written, instead, "Python compares values with two characters", span)
        }
        Rule::escaped => {
            let instead = written.trim_start_matches('\\');
            foreign_operator(&written, instead, "the backslash was for a shell or for Markdown; leave it out", span)
        }
        _ => conditional(whole, token, span),
    }
}

/// `a ? b : c`, which Python writes `b if a else c`.
fn conditional(whole: &Pair<'_, Rule>, token: Pair<'_, Rule>, at: Span) -> SyntaxError {
    let span = span_of(whole);
    let start = whole.as_span().start();
    let text = whole.as_str();
    let then = token.into_inner().next().map_or("", |then| then.as_str()).trim();
    let condition = text[..at.start as usize - start].trim();
    let otherwise = text[at.end as usize - start..].trim();
    let instead = format!("{then} if {condition} else {otherwise}");
    foreign_operator("? :", &instead, "Python writes the condition in the middle", span)
}

fn foreign_operator(written: &str, instead: &str, help: &'static str, span: Span) -> SyntaxError {
    let (written, instead) = (written.to_owned(), instead.to_owned());
    SyntaxError::new(SyntaxErrorKind::Lookalike { written, instead, help }, span)
}

fn is_dict_entry(pair: &Pair<'_, Rule>) -> bool {
    let mut inner = pair.clone().into_inner();
    pair.as_rule() == Rule::entry
        && inner.any(|part| part.as_rule() == Rule::colon || (part.as_rule() == Rule::spread && part.as_str() == "**"))
}

fn prefix(rule: Rule) -> Option<UnaryOperator> {
    Some(match rule {
        Rule::not => UnaryOperator::Not,
        Rule::minus => UnaryOperator::Minus,
        Rule::plus => UnaryOperator::Plus,
        Rule::invert => UnaryOperator::Invert,
        _ => return None,
    })
}

fn infix(rule: Rule) -> Infix {
    use BinaryOperator as Binary;
    use ComparisonOperator as Compare;
    match rule {
        Rule::or => Infix::Boolean(BooleanOperator::Or),
        Rule::and => Infix::Boolean(BooleanOperator::And),
        Rule::if_ => Infix::If,
        Rule::else_ => Infix::Else,
        Rule::in_ => Infix::Comparison(Compare::In),
        Rule::not_in => Infix::Comparison(Compare::NotIn),
        Rule::equal => Infix::Comparison(Compare::Equal),
        Rule::not_equal => Infix::Comparison(Compare::NotEqual),
        Rule::less => Infix::Comparison(Compare::Less),
        Rule::less_or_equal => Infix::Comparison(Compare::LessOrEqual),
        Rule::greater => Infix::Comparison(Compare::Greater),
        Rule::greater_or_equal => Infix::Comparison(Compare::GreaterOrEqual),
        Rule::power => Infix::Binary(Binary::Power),
        Rule::multiply => Infix::Binary(Binary::Multiply),
        Rule::floor_divide => Infix::Binary(Binary::FloorDivide),
        Rule::divide => Infix::Binary(Binary::Divide),
        Rule::modulo => Infix::Binary(Binary::Modulo),
        Rule::matmul => Infix::Binary(Binary::MatrixMultiply),
        Rule::plus_ => Infix::Binary(Binary::Add),
        Rule::minus_ => Infix::Binary(Binary::Subtract),
        Rule::shift_left => Infix::Binary(Binary::ShiftLeft),
        Rule::shift_right => Infix::Binary(Binary::ShiftRight),
        Rule::bit_and => Infix::Binary(Binary::BitAnd),
        Rule::bit_or => Infix::Binary(Binary::BitOr),
        Rule::bit_xor => Infix::Binary(Binary::BitXor),
        _ => Infix::Identity,
    }
}

fn span_of(pair: &Pair<'_, Rule>) -> Span {
    let span = pair.as_span();
    Span::new(span.start(), span.start() + span.as_str().trim_end().len())
}

/// The form of a name by which Python compares it.
fn normalised(name: &str) -> Box<str> {
    use unicode_normalization::UnicodeNormalization;
    if name.is_ascii() { name.into() } else { name.nfkc().collect::<String>().into() }
}
