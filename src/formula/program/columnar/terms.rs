//! Finds the terms of a program that depend on few of its inputs, so that a caller can evaluate them apart.

use std::ops::Range;

use crate::formula::program::Program;
use crate::formula::program::instruction::Instruction;
use crate::python::{Function, Value};

/// The memory of [`Program::find_terms`], and what it found.
#[derive(Debug, Default)]
pub struct Terms {
    /// The instructions of each term, ascending. They compute one value and contain no jump.
    pub ranges: Vec<Range<usize>>,
    operands: Vec<Operand>,
    exits: Vec<usize>,
}

/// The instructions that compute an entry of the stack.
#[derive(Debug, Clone)]
struct Operand {
    range: Range<usize>,
    /// Whether an input is read.
    reads_input: bool,
    /// Whether all inputs that are read are the chosen ones.
    is_chosen: bool,
}

impl Program {
    /// Finds the largest sub-expressions that read at least one input, only inputs for which `is_chosen` is true, and whose
    /// work for each row is at least this, in simple operations on a double.
    pub(crate) fn find_terms(&self, is_chosen: impl Fn(usize) -> bool, least_work: u64, terms: &mut Terms) {
        terms.ranges.clear();
        terms.exits.clear();
        for (at, instruction) in self.code.iter().enumerate() {
            if terms.exits.contains(&at) {
                self.end_operands(0, least_work, terms);
            }
            let range = at..at + 1;
            match instruction {
                Instruction::Constant(_) => {
                    terms.operands.push(Operand { range, reads_input: false, is_chosen: true });
                }
                Instruction::Input(slot) => {
                    terms.operands.push(Operand { range, reads_input: true, is_chosen: is_chosen(*slot as usize) });
                }
                Instruction::Undefined(_) => {
                    terms.operands.push(Operand { range, reads_input: true, is_chosen: false });
                }
                Instruction::Unary(_) => self.join_operands(at, 1, least_work, terms),
                Instruction::Binary(_) | Instruction::Compare(_) => self.join_operands(at, 2, least_work, terms),
                Instruction::Call { positional, keywords } => {
                    self.join_operands(at, 1 + *positional as usize + keywords.len(), least_work, terms);
                }
                Instruction::Tuple(count) | Instruction::List(count) => {
                    self.join_operands(at, *count as usize, least_work, terms);
                }
                Instruction::CompareLink { exit, .. }
                | Instruction::ShortCircuit { exit, .. }
                | Instruction::BranchIfFalse { exit }
                | Instruction::Jump { exit } => {
                    self.end_operands(0, least_work, terms);
                    terms.exits.push(*exit as usize);
                }
            }
        }
        self.end_operands(0, least_work, terms);
        terms.ranges.sort_unstable_by_key(|range| range.start);
    }

    /// The instruction at `at` replaces the last operands by its result. What was pushed before a jump is not known here,
    /// so that there can be fewer.
    fn join_operands(&self, at: usize, count: usize, least_work: u64, terms: &mut Terms) {
        let first = terms.operands.len().saturating_sub(count);
        let operands = &terms.operands[first..];
        let is_chosen = operands.len() == count && operands.iter().all(|operand| operand.is_chosen);
        let reads_input = operands.iter().any(|operand| operand.reads_input);
        let start = operands.first().map_or(at, |operand| operand.range.start);
        if is_chosen {
            terms.operands.truncate(first);
        } else {
            self.end_operands(first, least_work, terms);
        }
        terms.operands.push(Operand { range: start..at + 1, reads_input, is_chosen });
    }

    /// The work of an instruction as [`Instruction::lane_work`] has it, but for functions that are one instruction of the
    /// processor.
    fn term_work(&self, instruction: &Instruction) -> u64 {
        match instruction {
            Instruction::Call { .. } => 1,
            Instruction::Constant(index) => match self.constants.get(*index as usize).map(|constant| &constant.value) {
                Some(Value::Function(Function::Max | Function::Min | Function::Abs | Function::Fabs)) => 1,
                Some(Value::Function(Function::Sqrt | Function::Float | Function::Int | Function::Round)) => 1,
                Some(Value::Function(_)) => 24,
                _ => 1,
            },
            other => other.lane_work(),
        }
    }

    /// Removes the operands from `first` on, which belong to no larger term.
    fn end_operands(&self, first: usize, least_work: u64, terms: &mut Terms) {
        for operand in terms.operands.drain(first..).filter(|operand| operand.is_chosen && operand.reads_input) {
            let work: u64 =
                self.code[operand.range.clone()].iter().map(|instruction| self.term_work(instruction)).sum();
            if operand.range.len() > 1 && work >= least_work {
                terms.ranges.push(operand.range);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::formula::syntax::parse;
    use crate::schema::{InputType, Schema};

    /// The texts of the terms that read only `u` and `p`.
    fn terms(text: &str) -> Vec<String> {
        let mut schema = Schema::empty();
        ["u", "p", "n"].into_iter().for_each(|name| schema.add(name, InputType::Float).expect("a name"));
        let program = Program::compile(Arc::new(parse(text).unwrap()), &schema).unwrap();
        let mut found = Terms::default();
        program.find_terms(|input| ["u", "p"].contains(&&*program.inputs()[input]), 0, &mut found);
        let last = |range: &Range<usize>| program.expr().node(program.nodes[range.end - 1]).span;
        found.ranges.iter().map(|range| last(range).slice(program.expr().text()).to_owned()).collect()
    }

    #[test]
    fn terms_are_the_largest_sub_expressions_of_the_chosen_inputs() {
        assert_eq!(terms("pow(2, -(u/p)) + n/3600"), ["pow(2, -(u/p))"]);
        assert_eq!(terms("n * u + p * 2 * n + (u - p)"), ["p * 2", "u - p"]);
        assert_eq!(terms("u + p"), ["u + p"]);
        assert_eq!(terms("n + 2 * 3 + u"), Vec::<String>::new());
        assert_eq!(terms("max(u, n, p ** 2)"), ["p ** 2"]);
    }

    #[test]
    fn a_term_contains_no_jump_and_no_value_that_one_leaves() {
        assert_eq!(terms("(u and p) + u"), Vec::<String>::new());
        assert_eq!(terms("(u*2 and p*3) + u*4"), ["u*2", "p*3", "u*4"]);
        assert_eq!(terms("(u/p if u > p else 2*p) + (u+1)"), ["u > p", "u/p", "2*p", "u+1"]);
        assert_eq!(terms("(0 < u*2 < p*3 < n) * u"), ["u*2", "p*3"]);
        assert_eq!(terms("u + (1 if n else 2) * p"), Vec::<String>::new());
    }
}
