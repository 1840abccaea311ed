//! The instructions of the stack machine. All jumps are forward.

use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// One instruction. `exit` is the address of a later instruction, or one past the last.
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
    /// Replaces the two top entries.
    Binary(BinaryOperator),
    /// Replaces the two top entries by a truth value.
    Compare(ComparisonOperator),
    /// A comparison of a chain, not the last: if false, leaves `False` and exits; else leaves the
    /// right operand.
    CompareLink {
        /// The comparison.
        op: ComparisonOperator,
        /// The end of the chain.
        exit: u32,
    },
    /// Exits with the top entry if it decides the result; else drops it.
    ShortCircuit {
        /// `and` exits on false, `or` on true.
        op: BooleanOperator,
        /// The end of the operands.
        exit: u32,
    },
    /// Drops the top entry and jumps if it is false.
    BranchIfFalse {
        /// The start of the other branch.
        exit: u32,
    },
    /// Jumps.
    Jump {
        /// The end of both branches.
        exit: u32,
    },
    /// Replaces the callee and its arguments by the result.
    Call {
        /// The number of positional arguments.
        positional: u32,
        /// The names of the keyword arguments, in the order of their values on the stack.
        keywords: Box<[Box<str>]>,
    },
    /// Replaces the last items by a tuple.
    Tuple(u32),
    /// Replaces the last items by a list.
    List(u32),
}

impl Instruction {
    /// Whether the top entry is the value of the instruction's node after it was executed; `jumped`
    /// tells whether it jumped.
    pub(super) fn completes_node(&self, jumped: bool) -> bool {
        match self {
            Self::ShortCircuit { .. }
            | Self::BranchIfFalse { .. }
            | Self::Jump { .. }
            | Self::Undefined(_) => false,
            Self::CompareLink { .. } => jumped,
            _ => true,
        }
    }

    /// About how many simple operations on a double it takes for a row of a column.
    pub(super) fn lane_work(&self) -> u64 {
        use BinaryOperator as Op;
        match self {
            Self::Binary(Op::Power | Op::FloorDivide | Op::Modulo) | Self::Call { .. } => 24,
            _ => 1,
        }
    }

    /// The address to which this instruction can jump.
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
