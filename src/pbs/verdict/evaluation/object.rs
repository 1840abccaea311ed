//! What is known of a value.

use std::rc::Rc;
use std::sync::Arc;

use crate::formula::syntax::{Expr, NodeId, Scope};
use crate::python::Value;

/// A Python object, as far as it can be known without Python.
#[derive(Debug, Clone)]
pub(super) enum Object {
    /// A number, `None`, a function of arithmetic, or a tuple or list of these.
    Known(Value),
    /// A string.
    Text(Rc<str>),
    /// Something to go through, whose items are known as far as they are.
    Items {
        /// The items.
        items: Rc<[Object]>,
        /// Whether it is a tuple, a list or something else.
        kind: Sequence,
    },
    /// A builtin that is no arithmetic, by its name.
    Builtin(Rc<str>),
    /// A lambda or a generator: code that has yet to run.
    Code(Rc<Code>),
    /// A complex number: whether it counts as true, if that is known.
    Complex(Option<bool>),
    /// Something else: whether it counts as true, if that is known.
    Opaque(Option<bool>),
    /// Something from which anything can be reached, such as the names of the server's script.
    Powerful,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    Tuple,
    List,
    Other,
}

/// Code that has yet to run.
#[derive(Debug)]
pub(super) struct Code {
    /// The formula that it stands in.
    pub expr: Arc<Expr>,
    /// The lambda or the comprehension.
    pub node: NodeId,
    /// The scopes around it.
    pub frames: Vec<u32>,
    /// What was computed when it came to be: a lambda's defaults, what a generator goes through.
    pub given: Vec<Object>,
}

impl Object {
    pub(super) const UNKNOWN: Self = Self::Opaque(None);
    pub(super) const TRUE_OBJECT: Self = Self::Opaque(Some(true));

    pub(super) fn items(items: Vec<Self>, kind: Sequence) -> Self {
        let known: Option<Vec<Value>> = items
            .iter()
            .map(|item| match item {
                Self::Known(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        match (known, kind) {
            (Some(values), Sequence::Tuple) => Self::Known(Value::tuple(values)),
            (Some(values), Sequence::List) => Self::Known(Value::list(values)),
            _ => Self::Items { items: items.into(), kind },
        }
    }

    /// Whether it counts as true, if that is known.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::Known(value) => Some(value.truth()),
            Self::Text(text) => Some(!text.is_empty()),
            Self::Items { items, .. } => Some(!items.is_empty()),
            Self::Builtin(_) | Self::Code(_) => Some(true),
            Self::Complex(truth) | Self::Opaque(truth) => *truth,
            Self::Powerful => None,
        }
    }

    /// What it gives one by one, if that is known.
    pub(super) fn sequence(&self) -> Option<Vec<Self>> {
        match self {
            Self::Known(Value::Tuple(items) | Value::List(items)) => {
                Some(items.iter().cloned().map(Self::Known).collect())
            }
            Self::Text(text) => Some(text.chars().map(|one| Self::Text(one.to_string().into())).collect()),
            Self::Items { items, .. } => Some(items.to_vec()),
            _ => None,
        }
    }

    /// Whether it surely can be in a set.
    pub(super) fn is_hashable(&self) -> bool {
        match self {
            Self::Known(value) => !matches!(value, Value::Tuple(_) | Value::List(_)),
            Self::Text(_) | Self::Builtin(_) | Self::Code(_) | Self::Complex(_) => true,
            Self::Items { .. } | Self::Opaque(_) | Self::Powerful => false,
        }
    }

    /// Whether it surely can be in no set.
    pub(super) fn is_no_key(&self) -> bool {
        match self {
            Self::Known(_) => self.is_mutable(),
            Self::Items { kind, .. } => *kind == Sequence::List,
            _ => false,
        }
    }

    /// What `str` makes of it, if that is known.
    pub(super) fn printed(&self) -> Option<String> {
        match self {
            Self::Known(value) if !matches!(value, Value::Function(_)) => Some(value.repr()),
            Self::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Whether it can run code that is given as text, or reaches something that can.
    pub(super) fn is_powerful(&self) -> bool {
        match self {
            Self::Powerful => true,
            Self::Builtin(name) => matches!(
                &**name,
                "eval"
                    | "exec"
                    | "compile"
                    | "__import__"
                    | "breakpoint"
                    | "getattr"
                    | "setattr"
                    | "delattr"
                    | "vars"
                    | "globals"
                    | "locals"
                    | "dir"
                    | "__build_class__"
                    | "super"
                    | "input"
            ),
            Self::Items { items, .. } => items.iter().any(Self::is_powerful),
            _ => false,
        }
    }

    /// Whether Python cannot go through it.
    pub(super) fn is_no_iterable(&self) -> bool {
        match self {
            Self::Known(value) => !matches!(value, Value::Tuple(_) | Value::List(_)),
            Self::Complex(_) => true,
            Self::Code(code) => matches!(code.scope(), Some(Scope::Lambda { .. })),
            _ => false,
        }
    }

    /// Whether a part of it can be changed later, behind the back of a name for it.
    pub(super) fn is_mutable(&self) -> bool {
        match self {
            Self::Known(Value::List(_)) => true,
            Self::Known(Value::Tuple(items)) => items.iter().any(|item| Self::Known(item.clone()).is_mutable()),
            Self::Items { items, kind } => *kind != Sequence::Tuple || items.iter().any(Self::is_mutable),
            Self::Opaque(truth) => truth.is_some(),
            _ => false,
        }
    }
}

impl Code {
    pub(super) fn scope(&self) -> Option<&Scope> {
        self.expr.scope(self.node)
    }
}
