//! The instructions of the stack machine. All jumps go forward.

use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// One step. `exit` is the address of an instruction further on, or one past the last.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Instruction {
    /// Pushes a constant.
    Constant(u32),
    /// Pushes an input of the row.
    Input(u32),
    /// Raises `NameError` for an undefined name.
    Undefined(u32),
    /// Replaces the top.
    Unary(UnaryOperator),
    /// Replaces the two on top.
    Binary(BinaryOperator),
    /// Replaces the two on top by a truth value.
    Compare(ComparisonOperator),
    /// A link of a chain that goes on: if it fails, leaves `False` and exits; else leaves the right operand.
    CompareLink {
        /// The comparison.
        op: ComparisonOperator,
        /// Where the chain ends.
        exit: u32,
    },
    /// Exits with the top if it decides the result; else drops it.
    ShortCircuit {
        /// `and` exits on false, `or` on true.
        op: BooleanOperator,
        /// Where the operands end.
        exit: u32,
    },
    /// Drops the top and jumps if it is false.
    BranchIfFalse {
        /// Where the other branch starts.
        exit: u32,
    },
    /// Jumps.
    Jump {
        /// Where both branches meet.
        exit: u32,
    },
    /// Replaces the callee and its arguments by the result.
    Call {
        /// How many arguments are positional.
        positional: u32,
        /// The names of the others, in the order in which their values lie on the stack.
        keywords: Box<[Box<str>]>,
    },
    /// Replaces the last items by a tuple.
    Tuple(u32),
    /// Replaces the last items by a list.
    List(u32),
}

impl Instruction {
    /// The address that this instruction may jump to.
    pub(super) fn exit_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::CompareLink { exit, .. }
            | Self::ShortCircuit { exit, .. }
            | Self::BranchIfFalse { exit }
            | Self::Jump { exit } => Some(exit),
            _ => None,
        }
    }
}
