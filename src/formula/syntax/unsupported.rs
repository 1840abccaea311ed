//! Builds the nodes of valid Python that is not arithmetic, and refuses what CPython refuses.
//!
//! The expressions in an f-string and the names of characters in `\\N{…}` are not parsed.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::ast_builder::{AstBuilder, Group, normalize_name};
use crate::formula::syntax::error::Result;
use crate::formula::syntax::grammar::{Rule, span_of};
use crate::formula::syntax::{Clause, Construct, ExprId, ExprKind, Parameter, Scope, SyntaxError, SyntaxErrorKind};
use crate::python::{PythonVersion, UnaryOperator};

/// The parts of one `for … in … if …` that have been read.
#[derive(Default)]
struct OpenClause {
    is_async: bool,
    targets: Vec<ExprId>,
    stars: usize,
    commas: usize,
    iterable: Option<ExprId>,
    conditions: Vec<ExprId>,
}

impl OpenClause {
    fn close(self) -> Option<Clause> {
        Some(Clause {
            targets: self.targets.into(),
            iterable: self.iterable?,
            conditions: self.conditions.into(),
            is_async: self.is_async,
        })
    }
}

impl AstBuilder {
    pub(super) fn subscript(&mut self, base: ExprId, pair: Pair<'_, Rule>, span: Span) -> Result<ExprId> {
        let mut parts = vec![base];
        let is_tuple = is_tuple(&pair);
        for slice in pair.into_inner().filter(|part| part.as_rule() == Rule::slice) {
            let span = span_of(&slice);
            let inner = slice.into_inner();
            let has_walrus = inner.clone().any(|part| part.as_rule() == Rule::walrus);
            if inner.clone().any(|part| part.as_rule() == Rule::star) {
                // "What's New in Python 3.11", PEP 646
                self.require(PythonVersion::V3_11, span)?;
            }
            let mut expressions = Vec::new();
            for part in inner {
                match part.as_rule() {
                    Rule::expression => expressions.push(self.expression(part)?),
                    _ => expressions.extend(self.expressions(part.into_inner())?),
                }
            }
            if has_walrus {
                expressions = vec![self.maybe_assignment(expressions, span)?];
            }
            parts.append(&mut expressions);
        }
        if !is_tuple && let Some(&star) = parts.iter().skip(1).find(|&&part| self.is_parenthesized_star(part)) {
            return self.reject_unpacking(star).map(|()| star);
        }
        Ok(self.unsupported(Construct::Subscript, span, parts))
    }

    /// # Errors
    /// The version of Python that the text is for is older than the one that first has what is at this place.
    fn require(&self, since: PythonVersion, span: Span) -> Result<()> {
        match self.python < since {
            true => Err(SyntaxError::new(SyntaxErrorKind::Newer(since), span)),
            false => Ok(()),
        }
    }

    pub(super) fn lambda(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        let span = span_of(&pair);
        let mut parameters = Vec::new();
        let mut checker = ParameterChecker::default();
        let mut body = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expression | Rule::disjunction | Rule::lambda_without_if => {
                    checker.finish(span)?;
                    body = Some(self.condition(part)?);
                }
                Rule::parameter => {
                    self.reject_reserved_words(&part)?;
                    if part.clone().into_inner().any(|inner| inner.as_rule() == Rule::slash) {
                        // "What's New in Python 3.8", "Positional-only parameters"
                        self.require(PythonVersion::V3_8, span_of(&part))?;
                    }
                    let name = checker.add(&part)?;
                    let default = self.expressions(part.into_inner())?.pop();
                    parameters.extend(name.map(|name| Parameter { name, default }));
                }
                _ => {}
            }
        }
        let Some(body) = body else { return Err(SyntaxError::new(SyntaxErrorKind::Empty, span)) };
        let parts = parameters.iter().filter_map(|parameter| parameter.default).chain([body]).collect();
        let id = self.unsupported(Construct::Lambda, span, parts);
        self.expr.set_scope(id, Scope::Lambda { parameters: parameters.into(), body });
        Ok(id)
    }

    /// A condition of a comprehension, which before the parser of 3.9 can be a lambda.
    fn condition(&mut self, pair: Pair<'_, Rule>) -> Result<ExprId> {
        if pair.as_rule() != Rule::lambda_without_if {
            return self.expression(pair);
        }
        match pair.clone().into_inner().next() {
            Some(word) if self.python >= PythonVersion::V3_9 => {
                Err(SyntaxError::new(SyntaxErrorKind::ReservedWord("lambda".into()), span_of(&word)))
            }
            _ => self.lambda(pair),
        }
    }

    /// `*operand`; an operand with an operator looser than `|` must be parenthesized.
    pub(super) fn unpacking(&mut self, operand: ExprId, span: Span) -> Result<ExprId> {
        let is_loose = match &self.expr.node(operand).kind {
            ExprKind::Unary { op, .. } => *op == UnaryOperator::Not,
            ExprKind::Comparison { .. } | ExprKind::Boolean { .. } | ExprKind::Conditional { .. } => true,
            ExprKind::Unsupported { construct, .. } => {
                matches!(construct, Construct::Identity | Construct::Lambda | Construct::AssignmentExpression)
            }
            _ => false,
        };
        if is_loose {
            return Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses("*"), self.expr.node(operand).span));
        }
        Ok(self.unsupported(Construct::Unpacking, span, vec![operand]))
    }

    /// Whether the node is `(*operand)`, which the parser before 3.9 takes for `*operand`.
    pub(super) fn is_parenthesized_star(&self, id: ExprId) -> bool {
        self.is_unpacking(id) && self.expr.node(id).span.slice(self.expr.text()).starts_with('(')
    }

    /// Refuses `(*operand)` where it is no item of a tuple, a list or a set, no argument and no target of a loop.
    pub(super) fn reject_parenthesized_stars(&self) -> Result<()> {
        if self.python >= PythonVersion::V3_9 {
            return Ok(());
        }
        for (id, node) in self.expr.iter() {
            let misplaced: Vec<ExprId> = match &node.kind {
                ExprKind::Tuple { .. } | ExprKind::List(_) => continue,
                ExprKind::Unsupported { construct: Construct::Set, .. } => continue,
                ExprKind::Call { callee, keywords, .. } => {
                    keywords.iter().map(|keyword| keyword.value).chain([*callee]).collect()
                }
                // an index was checked when it was read
                ExprKind::Unsupported { construct: Construct::Subscript, parts } => {
                    parts.iter().take(1).copied().collect()
                }
                ExprKind::Unsupported { construct: Construct::Comprehension, .. } => match self.expr.scope(id) {
                    Some(Scope::Comprehension { clauses, .. }) => {
                        let conditions = clauses.iter().flat_map(|clause| clause.conditions.iter().copied());
                        clauses.iter().map(|clause| clause.iterable).chain(conditions).collect()
                    }
                    _ => continue,
                },
                other => other.children(),
            };
            if let Some(&star) = misplaced.iter().find(|&&part| self.is_parenthesized_star(part)) {
                return Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, self.expr.node(star).span));
            }
        }
        Ok(())
    }

    /// The clauses `for target in iterable if condition` after the item in `parts`, to which their sub-expressions are
    /// added. Only a generator can be `async` in an expression.
    pub(super) fn clauses(
        &mut self,
        pair: Pair<'_, Rule>,
        is_generator: bool,
        parts: &mut Vec<ExprId>,
    ) -> Result<Vec<Clause>> {
        if let Some(&item) = parts.last() {
            self.reject_unpacking(item)?;
        }
        let mut clauses = Vec::new();
        let mut open = OpenClause::default();
        for part in pair.into_inner() {
            let span = span_of(&part);
            match part.as_rule() {
                Rule::disjunction if open.iterable.is_none() => open.iterable = Some(self.expression(part)?),
                Rule::disjunction | Rule::lambda_without_if => open.conditions.push(self.condition(part)?),
                Rule::target => {
                    let (target, starred) = self.target(part)?;
                    open.stars += usize::from(starred);
                    open.targets.push(target);
                }
                Rule::comma => open.commas += 1,
                Rule::in_ if open.stars > 1 || (open.stars == 1 && open.commas == 0) => {
                    return Err(SyntaxError::new(SyntaxErrorKind::MisplacedStar, span));
                }
                // before 3.7 it is a name
                Rule::async_ if !is_generator || self.python < PythonVersion::V3_7 => {
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

    /// Adds the node of a comprehension. The first `items` of its parts are before its clauses.
    pub(super) fn comprehension(
        &mut self,
        span: Span,
        parts: Vec<ExprId>,
        (items, clauses): (usize, Vec<Clause>),
    ) -> ExprId {
        let items = parts.iter().copied().take(items).collect();
        let id = self.unsupported(Construct::Comprehension, span, parts);
        self.expr.set_scope(id, Scope::Comprehension { items, clauses: clauses.into() });
        id
    }

    /// A target, and whether it is starred.
    fn target(&mut self, pair: Pair<'_, Rule>) -> Result<(ExprId, bool)> {
        let span = span_of(&pair);
        let mut starred = false;
        let mut target = None;
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
        match starred {
            true => Ok((self.unsupported(Construct::Unpacking, span, vec![id]), true)),
            false => Ok((id, self.is_unpacking(id))),
        }
    }

    /// Whether a loop may assign to the node: a name, an attribute, a subscript, or a tuple or list of these.
    fn is_target(&self, id: ExprId) -> bool {
        let mut unvisited = vec![id];
        while let Some(id) = unvisited.pop() {
            match &self.expr.node(id).kind {
                ExprKind::Name(_) if self.is_assignable(id) => {}
                ExprKind::Unsupported { construct: Construct::Attribute | Construct::Subscript, .. } => {}
                ExprKind::Unsupported { construct: Construct::Unpacking, parts } => unvisited.extend(parts.iter()),
                ExprKind::Parenthesized(inner) => unvisited.push(*inner),
                ExprKind::Tuple { items, .. } | ExprKind::List(items)
                    if items.iter().filter(|&&item| self.is_unpacking(item)).count() < 2 =>
                {
                    unvisited.extend(items.iter());
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
        if group.has_keys.is_some_and(|has_keys| has_keys != is_pair) {
            let (expected, found) =
                if is_pair { ("a value", "a key with a value") } else { ("`key: value`", "a single value") };
            return Err(SyntaxError::new(SyntaxErrorKind::Unexpected { expected, found: found.into() }, span));
        }
        group.has_keys = Some(is_pair);
        let has_spread = pair.clone().into_inner().any(|part| part.as_rule() == Rule::spread);
        let has_walrus = pair.clone().into_inner().any(|part| part.as_rule() == Rule::walrus);
        let expressions = self.expressions(pair.into_inner())?;
        if has_walrus {
            let id = self.maybe_assignment(expressions, span)?;
            group.items.push(id);
        } else if let (true, &[operand]) = (has_spread, expressions.as_slice()) {
            let id = self.unpacking(operand, span)?;
            group.items.push(id);
        } else {
            group.items.extend(expressions);
        }
        Ok(())
    }
}

impl AstBuilder {
    /// One string, or several that are concatenated.
    pub(super) fn strings(&mut self, pair: Pair<'_, Rule>, span: Span) -> Result<ExprId> {
        let mut bytes = None;
        for string in pair.into_inner() {
            let text = string.as_str();
            let prefix = text.split(['"', '\'']).next().unwrap_or_default().to_ascii_lowercase();
            let is_bytes = prefix.contains('b');
            let what = match () {
                () if bytes.is_some_and(|bytes| bytes != is_bytes) => "strings and bytes cannot be concatenated",
                () if is_bytes && !text.is_ascii() => "bytes can only contain ASCII characters",
                () if !prefix.contains('r') && !escapes_are_complete(text, is_bytes) => {
                    "an escape sequence in the string is incomplete"
                }
                () => {
                    bytes = Some(is_bytes);
                    continue;
                }
            };
            return Err(SyntaxError::new(SyntaxErrorKind::String(what), span_of(&string)));
        }
        Ok(self.unsupported(Construct::String, span, Vec::new()))
    }
}

/// Whether the index between brackets is a tuple: it has a comma and no slice.
fn is_tuple(subscript: &Pair<'_, Rule>) -> bool {
    let mut parts = subscript.clone().into_inner();
    let has_comma = parts.clone().any(|part| part.as_rule() == Rule::comma);
    has_comma && !parts.any(|part| part.into_inner().any(|inner| inner.as_rule() == Rule::slice_rest))
}

/// Whether every `\\x`, `\\u` and `\\U` has all its digits, and denotes a character.
fn escapes_are_complete(text: &str, bytes: bool) -> bool {
    let mut unread = text;
    while let Some(backslash) = unread.find('\\') {
        let mut escape = unread[backslash + 1..].chars();
        let count = match escape.next() {
            Some('x') => 2,
            Some('u') if !bytes => 4,
            Some('U') if !bytes => 8,
            _ => 0,
        };
        let digits = escape.as_str().get(..count).unwrap_or_default();
        let exceeds_unicode = count == 8 && u32::from_str_radix(digits, 16).is_ok_and(|code| code > 0x10_ffff);
        if digits.len() < count || exceeds_unicode || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return false;
        }
        unread = escape.as_str();
    }
    true
}

/// Checks the parameters of a lambda against Python's rules about their names and their order.
#[derive(Default)]
struct ParameterChecker {
    names: Vec<Box<str>>,
    /// Whether a parameter before `*` has a default, so that every later one needs one too.
    has_defaults: bool,
    has_slash: bool,
    has_star: bool,
    /// Whether the last `*` has no name, so that a name must follow.
    is_bare_star: bool,
    has_mapping: bool,
}

impl ParameterChecker {
    /// Checks the next parameter; returns its name unless it is a bare `*` or `/`.
    fn add(&mut self, pair: &Pair<'_, Rule>) -> Result<Option<Box<str>>> {
        let span = span_of(pair);
        if self.has_mapping {
            return refused("no parameter can follow `**` in a lambda", span);
        }
        let mut spread = "";
        let mut has_default = false;
        let mut named = None;
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Rule::slash if self.has_slash || self.has_star || self.names.is_empty() => {
                    return refused("`/` can be used once, after a parameter and before `*`", span);
                }
                Rule::slash => self.has_slash = true,
                Rule::star => spread = "bare",
                Rule::spread => spread = part.as_str(),
                Rule::name => {
                    let name = normalize_name(part.as_str());
                    if matches!(&*name, "None" | "True" | "False" | "__debug__") || self.names.contains(&name) {
                        return refused("the name of a parameter must be unique and not a constant", span);
                    }
                    self.names.push(name.clone());
                    named = Some(name);
                }
                _ => has_default = true,
            }
        }
        let is_name = spread.is_empty() && !pair.as_str().starts_with('/');
        match spread {
            "*" | "bare" if self.has_star => return refused("`*` can be used once among the parameters", span),
            "*" | "bare" => self.has_star = true,
            "**" if self.is_bare_star => return refused("a name must follow `*`", span),
            "**" => self.has_mapping = true,
            _ if is_name && self.has_defaults && !has_default && !self.has_star => {
                return refused("a parameter without a default follows a parameter with a default", span);
            }
            _ => self.has_defaults |= has_default && !self.has_star,
        }
        self.is_bare_star = spread == "bare" || (self.is_bare_star && !is_name);
        Ok(named)
    }

    /// Checks the end of the parameters.
    fn finish(&self, span: Span) -> Result<()> {
        match self.is_bare_star {
            true => refused("a name must follow `*`", span),
            false => Ok(()),
        }
    }
}

fn refused<T>(what: &'static str, span: Span) -> Result<T> {
    Err(SyntaxError::new(SyntaxErrorKind::Parameters(what), span))
}
