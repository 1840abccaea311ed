//! Every function that a formula can call, by name.

/// A function of Python's `math` module or one of its builtins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `abs`
    Abs,
}
