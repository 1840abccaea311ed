//! The abstract syntax tree: every node of a formula with its span.
//!
//! The nodes lie in one vector, children before parents, and refer to each other by index. So
//! neither a walk over a tree nor its drop recurses, however deep the formula is nested.

use crate::diagnostic::Span;
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
    Tuple {
        /// The items.
        items: Box<[ExprId]>,
        /// Whether the tuple is written in parentheses.
        parenthesized: bool,
    },
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
            Self::Tuple { items, .. } | Self::List(items) => items.to_vec(),
            Self::Unsupported { parts, .. } => parts.to_vec(),
        }
    }
}
