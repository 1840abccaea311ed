//! The abstract syntax tree: every node of a formula with its span; and how it is written as text,
//! with or without the comments of its source.
//!
//! The nodes lie in one vector, children before parents, and refer to each other by index. So
//! neither a walk over a tree nor its drop recurses, however deep the formula is nested.

use std::fmt::{self, Display, Formatter, Write};

use crate::diagnostic::Span;
use crate::formula::syntax::parser::is_reserved;
use crate::formula::syntax::raw_text::{comment_length, string_length};
use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// The index of a node in its [`Expr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(u32);

/// A parsed formula. Its `Display` writes the formula with normalised spaces.
#[derive(Debug, Clone)]
pub struct Expr {
    text: Box<str>,
    nodes: Vec<Node>,
}

/// A sub-expression and its span in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The kind of expression, with its children.
    pub kind: ExprKind,
    /// The bytes of the text that it covers.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A number literal.
    Literal {
        /// Whether it is an integer or a float.
        kind: LiteralKind,
        /// Its digits, as in the text.
        text: Box<str>,
    },
    /// A name in the normal form (NFKC) in which Python compares names. `True`, `False` and `None`
    /// are names too.
    Name(Box<str>),
    /// `op operand`
    Unary {
        /// The operator.
        op: UnaryOperator,
        /// The operand.
        operand: ExprId,
    },
    /// `left op right`
    Binary {
        /// The operator.
        op: BinaryOperator,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `a < b <= c`: one operand more than operators.
    Comparison {
        /// The operators, left to right.
        operators: Box<[ComparisonOperator]>,
        /// The operands, left to right.
        operands: Box<[ExprId]>,
    },
    /// `a and b and c`
    Boolean {
        /// The operator between all of them.
        op: BooleanOperator,
        /// The operands, left to right; at least two.
        operands: Box<[ExprId]>,
    },
    /// `then if condition else otherwise`
    Conditional {
        /// The value if the condition is true.
        then: ExprId,
        /// The condition, which is evaluated first.
        condition: ExprId,
        /// The value if the condition is false.
        otherwise: ExprId,
    },
    /// `callee(positional, keyword=value)`
    Call {
        /// The function.
        callee: ExprId,
        /// The positional arguments.
        positional: Box<[ExprId]>,
        /// The keyword arguments.
        keywords: Box<[Keyword]>,
    },
    /// `(inner)`
    Parenthesized(ExprId),
    /// `a, b`, with or without parentheses.
    Tuple(Box<[ExprId]>),
    /// `[a, b]`
    List(Box<[ExprId]>),
    /// Python that is not arithmetic. CPython may refuse it: only its brackets and the expressions
    /// in it are read.
    Unsupported {
        /// The kind of construct.
        construct: Construct,
        /// Its sub-expressions, in the order of the text.
        parts: Box<[ExprId]>,
    },
}

/// The kinds of number literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// `12`, `0x1f`, `1_000`
    Integer,
    /// `1.5`, `1e3`, `.5`
    Float,
}

/// A keyword argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyword {
    /// The name before `=`.
    pub name: Box<str>,
    /// The span of the name.
    pub span: Span,
    /// The value after `=`.
    pub value: ExprId,
}

/// A construct of Python that is not arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Construct {
    /// `"text"`
    String,
    /// `a.b`
    Attribute,
    /// `a[i]`
    Subscript,
    /// `lambda x: x`
    Lambda,
    /// `[x for x in y]`, `{x for x in y}`, `(x for x in y)`
    Comprehension,
    /// `(x := 1)`
    AssignmentExpression,
    /// `3j`
    Imaginary,
    /// `*x`, `**x`
    Unpacking,
    /// `{a, b}`
    Set,
    /// `{a: b}`
    Dict,
    /// `...`
    Ellipsis,
    /// `a is b`
    Identity,
}

impl Construct {
    /// Its name in messages, with the article.
    pub fn description(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Attribute => "an attribute",
            Self::Subscript => "a subscript",
            Self::Lambda => "a lambda",
            Self::Comprehension => "a comprehension",
            Self::AssignmentExpression => "an assignment expression",
            Self::Imaginary => "an imaginary number",
            Self::Unpacking => "an unpacking",
            Self::Set => "a set",
            Self::Dict => "a dictionary",
            Self::Ellipsis => "an ellipsis",
            Self::Identity => "an identity test",
        }
    }
}

impl ExprId {
    /// The index in [`Expr::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Expr {
    /// The text that was parsed; spans are byte offsets in it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All nodes, children before parents; the last is the root.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of the whole formula.
    pub fn root(&self) -> ExprId {
        // a text without an expression is a syntax error, so there is a node
        ExprId(self.nodes.len() as u32 - 1)
    }

    /// The part of the text with the whole formula, without the blanks and comments around it.
    pub fn span(&self) -> Span {
        self.node(self.root()).span
    }

    /// The node with this index.
    pub fn node(&self, id: ExprId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node without the parentheses around it.
    pub fn without_parentheses(&self, mut id: ExprId) -> ExprId {
        while let ExprKind::Parenthesized(inner) = self.node(id).kind {
            id = inner;
        }
        id
    }

    /// Every node with its index, children before parents.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ExprId, &Node)> {
        self.nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (ExprId(index as u32), node))
    }

    /// The first place of a name in the text.
    pub fn first_use(&self, name: &str) -> Option<Span> {
        self.nodes
            .iter()
            // leaves are in the order of the text
            .find(|node| node.name() == Some(name))
            .map(|node| node.span)
    }

    /// The first construct in the text that is valid Python but not arithmetic.
    pub fn unsupported(&self) -> Option<(Construct, Span)> {
        let unsupported = self.nodes.iter().filter_map(|node| match node.kind {
            ExprKind::Unsupported { construct, .. } => Some((construct, node.span)),
            _ => None,
        });
        // nodes are not in the order of the text: an outer one comes after its parts
        unsupported.min_by_key(|(_, span)| span.start)
    }

    /// A tree without nodes, to which [`Expr::push`] adds.
    pub(super) fn empty(text: &str) -> Self {
        // a formula has about one node for every four bytes
        Self {
            text: text.into(),
            nodes: Vec::with_capacity(text.len() / 4 + 1),
        }
    }

    /// Removes the node that was added last.
    pub(super) fn remove_last(&mut self) {
        self.nodes.pop();
    }

    /// Adds a node, after its children.
    pub(super) fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.nodes.push(Node { kind, span });
        ExprId(self.nodes.len() as u32 - 1)
    }
}

impl Node {
    /// The name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl ExprKind {
    /// The direct children, in the order of the text.
    pub fn children(&self) -> Vec<ExprId> {
        match self {
            Self::Literal { .. } | Self::Name(_) => Vec::new(),
            Self::Unary { operand, .. } => vec![*operand],
            Self::Binary { left, right, .. } => vec![*left, *right],
            Self::Comparison { operands, .. } | Self::Boolean { operands, .. } => operands.to_vec(),
            Self::Conditional {
                then,
                condition,
                otherwise,
            } => vec![*then, *condition, *otherwise],
            Self::Call {
                callee,
                positional,
                keywords,
            } => {
                let values = keywords.iter().map(|keyword| keyword.value);
                std::iter::once(*callee)
                    .chain(positional.iter().copied())
                    .chain(values)
                    .collect()
            }
            Self::Parenthesized(inner) => vec![*inner],
            Self::Tuple(items) | Self::List(items) => items.to_vec(),
            Self::Unsupported { parts, .. } => parts.to_vec(),
        }
    }
}

/// A part of the text that is still to be written. The parts are on a stack, the next one on top.
enum Step<'e> {
    Node(ExprId),
    Text(&'e str),
    /// A part of the source, with its own spaces.
    Source(&'e str),
    /// The tokens of a part of the source, with this instead of a comma.
    Tokens(&'e str, &'static str),
}

impl Display for Expr {
    /// The formula with normalised spaces: one around binary operators (none around `**`) and one
    /// after a comma. Literals, names and parentheses are unchanged. What is not arithmetic keeps
    /// its spaces, but never more than one.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut steps = vec![Step::Node(self.root())];
        while let Some(step) = steps.pop() {
            match step {
                Step::Text(text) => f.write_str(text)?,
                Step::Source(text) => write_source(text, f)?,
                Step::Tokens(text, comma) => {
                    for piece in pieces(text) {
                        if let Piece::Code(token) = piece {
                            f.write_str(if token == "," { comma } else { token })?;
                        }
                    }
                }
                Step::Node(id) => {
                    let first = steps.len();
                    push_parts(self, id, &mut steps);
                    // the part that comes next belongs on top
                    steps[first..].reverse();
                }
            }
        }
        Ok(())
    }
}

/// Writes one space for the blanks and comments between two tokens.
fn write_source(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let mut follows_space = false;
    for piece in pieces(text) {
        match piece {
            Piece::Code(code) | Piece::String(code) => f.write_str(code)?,
            Piece::Blank(_) | Piece::Comment(_) if follows_space => {}
            Piece::Blank(_) | Piece::Comment(_) => f.write_char(' ')?,
        }
        follows_space = matches!(piece, Piece::Blank(_) | Piece::Comment(_));
    }
    Ok(())
}

fn push_parts<'e>(expr: &'e Expr, id: ExprId, steps: &mut Vec<Step<'e>>) {
    let node = expr.node(id);
    match &node.kind {
        ExprKind::Name(name) => steps.push(Step::Text(written_name(expr, name, node.span))),
        ExprKind::Literal { text, .. } => steps.push(Step::Text(text)),
        ExprKind::Unsupported { .. } => steps.push(Step::Source(node.span.slice(expr.text()))),
        ExprKind::Unary { op, operand } => {
            let blank = if *op == UnaryOperator::Not { " " } else { "" };
            let symbol = Step::Text(op.symbol());
            steps.extend([symbol, Step::Text(blank), Step::Node(*operand)]);
        }
        ExprKind::Binary {
            op: BinaryOperator::Power,
            left,
            right,
        } => {
            steps.extend([Step::Node(*left), Step::Text("**"), Step::Node(*right)]);
        }
        ExprKind::Binary { op, left, right } => push_chain(&[*left, *right], [op.symbol()], steps),
        ExprKind::Comparison {
            operators,
            operands,
        } => {
            let symbols = operators.iter().map(|op| op.symbol());
            push_chain(operands, symbols, steps);
        }
        ExprKind::Boolean { op, operands } => {
            push_chain(operands, std::iter::repeat(op.symbol()), steps)
        }
        ExprKind::Conditional {
            then,
            condition,
            otherwise,
        } => push_chain(&[*then, *condition, *otherwise], ["if", "else"], steps),
        ExprKind::Call { .. }
        | ExprKind::Parenthesized(_)
        | ExprKind::Tuple(_)
        | ExprKind::List(_) => push_in_brackets(expr, id, steps),
    }
}

/// A name in its normal form, unless Python would read another word there: it reads `aſ` as the name
/// `as`.
fn written_name<'e>(expr: &'e Expr, name: &'e str, span: Span) -> &'e str {
    if is_reserved(name) {
        span.slice(expr.text())
    } else {
        name
    }
}

/// The operands with a symbol between two of them, and blanks around it.
fn push_chain<'e>(
    operands: &[ExprId],
    symbols: impl IntoIterator<Item = &'e str>,
    steps: &mut Vec<Step<'e>>,
) {
    let mut symbols = symbols.into_iter();
    for (index, &operand) in operands.iter().enumerate() {
        if index > 0 {
            let symbol = symbols.next().unwrap_or_default();
            steps.extend([Step::Text(" "), Step::Text(symbol), Step::Text(" ")]);
        }
        steps.push(Step::Node(operand));
    }
}

/// A node that ends with a bracket, or a tuple without brackets: its children, and the brackets,
/// commas and names of arguments between them.
fn push_in_brackets<'e>(expr: &'e Expr, id: ExprId, steps: &mut Vec<Step<'e>>) {
    let Node { kind, span } = expr.node(id);
    let mut parts = Vec::new();
    for child in kind.children() {
        parts.push((expr.node(child).span, Step::Node(child)));
    }
    if let ExprKind::Call { keywords, .. } = kind {
        for Keyword { name, span, .. } in keywords {
            parts.push((*span, Step::Text(written_name(expr, name, *span))));
        }
    }
    // `*x` and `**x` can follow named arguments
    parts.sort_by_key(|(span, _)| span.start);
    let mut end = span.start;
    for (part, step) in parts {
        let before = Span {
            start: end,
            end: part.start,
        };
        steps.extend([Step::Tokens(before.slice(expr.text()), ", "), step]);
        end = part.end;
    }
    // without its comma, a tuple of one item is the item
    if matches!(kind, ExprKind::Tuple(items) if items.len() == 1) {
        steps.push(Step::Text(","));
    }
    let after = Span {
        start: end,
        ..*span
    };
    steps.push(Step::Tokens(after.slice(expr.text()), ""));
}

/// The text with its names as they are printed.
fn with_printed_names(expr: &Expr) -> String {
    let mut names = Vec::new();
    for node in expr.nodes() {
        match &node.kind {
            ExprKind::Name(name) => names.push((node.span, &**name)),
            ExprKind::Call { keywords, .. } => {
                let keywords = keywords.iter();
                names.extend(keywords.map(|keyword| (keyword.span, &*keyword.name)));
            }
            ExprKind::Unsupported { .. } => {
                // the names in it, which are the last ones, are printed as they are
                while names
                    .pop_if(|(span, _)| node.span.contains(*span))
                    .is_some()
                {}
            }
            _ => {}
        }
    }
    names.sort_unstable();
    let mut text = expr.text().to_owned();
    for (span, name) in names.into_iter().rev() {
        text.replace_range(span.range(), written_name(expr, name, span));
    }
    text
}

/// The formula with normalised spaces and with the comments of its text, each after the same token
/// as before. A text whose tokens are printed differently is returned as it is, rather than without
/// its comments.
pub(crate) fn with_comments(expr: &Expr) -> String {
    let printed = expr.to_string();
    let source = with_printed_names(expr);
    let (comments, solid) = split(&source);
    if comments.is_empty() {
        return printed;
    }
    if printed.replace(is_blank, "") != solid {
        return expr.text().trim_end().to_owned();
    }
    let mut text = String::new();
    let mut position = 0;
    let mut comments = comments.into_iter().peekable();
    // a line feed of a string may be followed by blanks, one after a comment is not
    let mut follows_comment = false;
    for character in printed.chars() {
        while let Some(comment) =
            comments.next_if(|comment| comment.position == position && !is_blank(character))
        {
            push(&comment, &mut text);
            text.push('\n');
            follows_comment = true;
        }
        if !(is_blank(character) && follows_comment) {
            text.push(character);
            follows_comment = false;
        }
        position += usize::from(!is_blank(character));
    }
    for comment in comments {
        push(&comment, &mut text);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// A comment of the source.
struct Comment<'t> {
    /// How many characters that are not blank come before it, comments not counted.
    position: usize,
    /// Its text, from `#` on.
    text: &'t str,
    /// Whether nothing comes before it on its line.
    has_own_line: bool,
}

fn push(comment: &Comment<'_>, text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    let starts_line = text.is_empty() || text.ends_with('\n');
    match (starts_line, comment.has_own_line) {
        (true, _) => {}
        (false, true) => text.push('\n'),
        (false, false) => text.push_str("  "),
    }
    text.push_str(comment.text.trim_end());
}

/// The comments of a text, and its other characters that are not blank.
fn split(source: &str) -> (Vec<Comment<'_>>, String) {
    let mut comments = Vec::new();
    let mut solid = String::new();
    let mut position = 0;
    let mut has_own_line = true;
    for piece in pieces(source) {
        match piece {
            Piece::Comment(text) => comments.push(Comment {
                position,
                text,
                has_own_line,
            }),
            Piece::Blank(blank) => has_own_line |= matches!(blank, "\n" | "\r"),
            Piece::Code(text) | Piece::String(text) => {
                let text = text.replace(is_blank, "");
                position += text.chars().count();
                solid += &text;
                has_own_line = false;
            }
        }
    }
    (comments, solid)
}

/// A part of a text.
#[derive(Clone, Copy)]
enum Piece<'t> {
    /// A blank character, or a backslash with the end of the line.
    Blank(&'t str),
    /// From `#` to the end of the line.
    Comment(&'t str),
    /// A string without its prefix.
    String(&'t str),
    /// Any other character.
    Code(&'t str),
}

/// The parts of a text, from left to right.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '#' => comment_length(rest),
            '"' | '\'' => string_length(rest),
            '\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r") => 2,
            _ => first.len_utf8(),
        };
        let (text, after) = rest.split_at(length);
        rest = after;
        Some(match first {
            '#' => Piece::Comment(text),
            '"' | '\'' => Piece::String(text),
            '\\' if length == 2 => Piece::Blank(text),
            _ if is_blank(first) => Piece::Blank(text),
            _ => Piece::Code(text),
        })
    })
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::syntax::parse;

    #[test]
    fn comments_stay_after_their_tokens() {
        for (text, expected) in [
            ("a+b", "a + b"),
            ("a+b # the sum  ", "a + b  # the sum"),
            ("# first\n\n#second\na+b", "# first\n#second\na + b"),
            ("max(a, # one\n  b # two\n)", "max(a,  # one\nb  # two\n)"),
            ("max(a,\n  # own line\n  b)", "max(a,\n# own line\nb)"),
            ("(a+\\\n b) # x", "(a + b)  # x"),
            (
                "len('# no comment')+1 # one",
                "len('# no comment') + 1  # one",
            ),
            (
                "len(\"\"\"a\"#\"\"\")+1#one",
                "len(\"\"\"a\"#\"\"\") + 1  #one",
            ),
            ("x[1 # inside\n]+ 1", "x[1  # inside\n] + 1"),
            ("é+1 # grüße\n", "é + 1  # grüße"),
            // names in full width, and a ligature, as Python reads them
            ("ｍａｘ(1,ｋｅｙ=ﬁ)", "max(1, key=fi)"),
            ("ﬁ+ｘ.ｙ # ﬁ", "fi + ｘ.ｙ  # ﬁ"),
            (
                "# a\n'''a\n\n  b'''+1 # one",
                "# a\n'''a\n\n  b''' + 1  # one",
            ),
        ] {
            let Ok(expr) = parse(text) else {
                panic!("{text}")
            };
            let printed = with_comments(&expr);
            assert_eq!(printed, expected, "{text}");
            let Ok(again) = parse(&printed) else {
                panic!("{printed}")
            };
            assert_eq!(with_comments(&again), printed);
            assert_eq!(again.to_string(), expr.to_string());
        }
    }
}
