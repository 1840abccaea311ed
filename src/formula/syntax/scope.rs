//! What a lambda and a comprehension bind: names that mean something only inside.

use crate::formula::syntax::NodeId;

/// A lambda or a comprehension, as far as its [`NodeKind::Foreign`](crate::formula::syntax::NodeKind::Foreign) does not say it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Scope {
    /// `lambda parameters: body`
    Lambda {
        /// Left to right; the bare `*` and `/` left out.
        parameters: Box<[Parameter]>,
        /// What a call computes.
        body: NodeId,
    },
    /// `[items for … in … if …]` and its kin.
    Comprehension {
        /// What it makes.
        makes: Makes,
        /// What stands before `for`: one item, or a key and a value.
        items: Box<[NodeId]>,
        /// At least one.
        clauses: Box<[Clause]>,
    },
}

/// A parameter of a lambda.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Box<str>,
    /// How it takes its value.
    pub takes: Takes,
    /// What it is without a value.
    pub default: Option<NodeId>,
}

/// How a parameter takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// From its place.
    Place,
    /// By its name only: it stands behind a `*`.
    Name,
    /// `*name`: all that is left of those without a name.
    Rest,
    /// `**name`: all that is left of those with a name.
    RestByName,
}

impl Takes {
    /// Whether it takes all that is left.
    pub fn all(self) -> bool {
        matches!(self, Self::Rest | Self::RestByName)
    }
}

/// What a comprehension makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Makes {
    /// `(…)`, or the argument of a call: nothing is computed until someone asks.
    Generator,
    /// `[…]`
    List,
    /// `{…}`
    Set,
    /// `{key: value …}`
    Dict,
}

/// `for targets in iterable if condition`
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// What is assigned to: one target, or several with commas.
    pub targets: Box<[NodeId]>,
    /// Whether a comma makes a tuple of the targets.
    pub unpacks: bool,
    /// What is gone through. That of the first clause is computed outside.
    pub iterable: NodeId,
    /// What must hold.
    pub conditions: Box<[NodeId]>,
    /// `async for`
    pub is_async: bool,
}
