//! The tree: what a formula says, node by node, with the place of each.
//!
//! The nodes lie in one vector, children before parents, and point at each other by index. So no walk over a
//! tree recurses, and dropping one never does, however deep the text made it.

use crate::diagnostic::Span;
use crate::formula::syntax::scope::Scope;
use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// The index of a node in its [`Expr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// A parsed formula. Its `Display` prints it back, with the house's spaces.
#[derive(Debug, Clone)]
pub struct Expr {
    text: Box<str>,
    nodes: Vec<Node>,
    /// By ascending node.
    scopes: Vec<(NodeId, Scope)>,
}

/// A part of the formula and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it stands.
    pub span: Span,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A number, as written.
    Literal {
        /// Which kind of number.
        kind: LiteralKind,
        /// Its text.
        text: Box<str>,
    },
    /// A name, in the form (NFKC) by which Python compares names. `True`, `False` and `None` are names too.
    Name(Box<str>),
    /// `op operand`
    Unary {
        /// The operator.
        op: UnaryOperator,
        /// What it works on.
        operand: NodeId,
    },
    /// `left op right`
    Binary {
        /// The operator.
        op: BinaryOperator,
        /// What stands left of it.
        left: NodeId,
        /// What stands right of it.
        right: NodeId,
    },
    /// `a < b <= c`: one operand more than operators.
    Comparison {
        /// The operators, left to right.
        operators: Box<[ComparisonOperator]>,
        /// The operands, left to right.
        operands: Box<[NodeId]>,
    },
    /// `a and b and c`
    Boolean {
        /// The operator between all of them.
        op: BooleanOperator,
        /// The operands, left to right; at least two.
        operands: Box<[NodeId]>,
    },
    /// `then if condition else otherwise`
    Conditional {
        /// The value if the condition holds.
        then: NodeId,
        /// What is asked first.
        condition: NodeId,
        /// The value if it does not hold.
        otherwise: NodeId,
    },
    /// `callee(positional, keyword=value)`
    Call {
        /// What is called.
        callee: NodeId,
        /// The positional arguments.
        positional: Box<[NodeId]>,
        /// The keyword arguments.
        keywords: Box<[Keyword]>,
    },
    /// `(inner)`
    Parenthesised(NodeId),
    /// `a, b`, with or without parentheses around it.
    Tuple {
        /// The items.
        items: Box<[NodeId]>,
        /// Whether parentheses stand around it.
        parenthesised: bool,
    },
    /// `[a, b]`
    List(Box<[NodeId]>),
    /// Valid Python that is no arithmetic.
    Foreign {
        /// What it is.
        construct: Construct,
        /// The expressions that stand in it.
        parts: Box<[NodeId]>,
    },
}

/// The kinds of number that can be written.
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
    /// Where the name stands.
    pub span: Span,
    /// The value behind `=`.
    pub value: NodeId,
}

/// What is valid Python but no arithmetic.
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
    /// `[x for x in y]` and its kin
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
    /// What a Python programmer calls it.
    pub fn words(self) -> &'static str {
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

impl NodeId {
    /// The index in [`Expr::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Expr {
    /// The text that was parsed; the spans count its bytes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All nodes, children before parents; the last is the root.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that is the whole formula.
    pub fn root(&self) -> NodeId {
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The node with this index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Every node with its index, children before parents.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId(index as u32), node))
    }

    /// The first construct that is valid Python but no arithmetic.
    pub fn foreign(&self) -> Option<(Construct, Span)> {
        let foreign = self.nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Foreign { construct, .. } => Some((construct, node.span)),
            _ => None,
        });
        foreign.min_by_key(|(_, span)| span.start)
    }

    /// A tree without nodes, to which [`Expr::push`] adds.
    pub(super) fn empty(text: &str) -> Self {
        // formulas have a node for every four bytes or so
        Self { text: text.into(), nodes: Vec::with_capacity(text.len() / 4 + 1), scopes: Vec::new() }
    }

    /// What a lambda or a comprehension binds, and where; `None` for any other node.
    pub fn scope(&self, id: NodeId) -> Option<&Scope> {
        let index = self.scopes.binary_search_by_key(&id, |(owner, _)| *owner).ok()?;
        self.scopes.get(index).map(|(_, scope)| scope)
    }

    /// Every lambda and every comprehension with what it binds, children before parents.
    pub fn scopes(&self) -> impl Iterator<Item = (NodeId, &Scope)> {
        self.scopes.iter().map(|(owner, scope)| (*owner, scope))
    }

    /// Says what the node that was added last binds.
    pub(super) fn set_scope(&mut self, id: NodeId, scope: Scope) {
        self.scopes.push((id, scope));
    }

    /// Takes the last node back, if it is this one: a name that turns out to be a keyword's is no part of the tree.
    pub(super) fn take_back(&mut self, id: NodeId) {
        self.nodes.truncate(if id == self.root() { id.index() } else { self.nodes.len() });
    }

    /// Adds a node. Its children are in the tree already: they came out of `push`.
    pub(super) fn push(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.nodes.push(Node { kind, span });
        NodeId(self.nodes.len() as u32 - 1)
    }
}

impl NodeKind {
    /// The nodes directly under this one, in the order in which they are written.
    pub fn children(&self) -> Vec<NodeId> {
        match self {
            Self::Literal { .. } | Self::Name(_) => Vec::new(),
            Self::Unary { operand, .. } => vec![*operand],
            Self::Binary { left, right, .. } => vec![*left, *right],
            Self::Comparison { operands, .. } | Self::Boolean { operands, .. } => operands.to_vec(),
            Self::Conditional { then, condition, otherwise } => vec![*then, *condition, *otherwise],
            Self::Call { callee, positional, keywords } => {
                let values = keywords.iter().map(|keyword| keyword.value);
                std::iter::once(*callee).chain(positional.iter().copied()).chain(values).collect()
            }
            Self::Parenthesised(inner) => vec![*inner],
            Self::Tuple { items, .. } | Self::List(items) => items.to_vec(),
            Self::Foreign { parts, .. } => parts.to_vec(),
        }
    }
}
