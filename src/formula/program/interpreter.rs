//! The interpreter: a row of inputs enters, a value or an error leaves. The columnar executor must
//! give the same values.

use crate::formula::program::Instruction;
use crate::formula::program::{EvalError, Operand, Program};
use crate::formula::syntax::ExprId;
use crate::python::{Arithmetic, BooleanOperator, ErrorKind, Python, Raised, Value};

/// The memory of an [`Interpreter`] in Python's arithmetic, for the next one.
#[derive(Debug, Default)]
pub struct InterpreterBuffers {
    constants: Vec<Result<Value, Raised>>,
    stack: Vec<Value>,
}

/// Runs one program in one arithmetic, row after row, and reuses its memory.
#[derive(Debug)]
pub struct Interpreter<'p, A: Arithmetic> {
    program: &'p Program,
    arithmetic: A,
    constants: Vec<Result<A::Value, Raised>>,
    stack: Vec<A::Value>,
}

impl<'p, A: Arithmetic> Interpreter<'p, A> {
    pub(super) fn new(program: &'p Program, arithmetic: A) -> Self {
        Self::with_memory(program, arithmetic, Vec::new(), Vec::new())
    }

    fn with_memory(
        program: &'p Program,
        mut arithmetic: A,
        mut constants: Vec<Result<A::Value, Raised>>,
        stack: Vec<A::Value>,
    ) -> Self {
        arithmetic.set_version(program.python);
        constants.clear();
        for constant in &program.constants {
            // kept as a result: a refused literal fails only where it is evaluated
            constants.push(match &constant.text {
                Some(text) => arithmetic.literal(text, &constant.value),
                None => arithmetic.number(&constant.value),
            });
        }
        Self {
            program,
            constants,
            stack,
            arithmetic,
        }
    }

    /// Evaluates one row; `inputs` are in the order of [`Program::inputs`].
    ///
    /// # Errors
    /// The exception that Python raises, with its span. Another number of inputs than the program
    /// reads is a `TypeError`.
    pub fn evaluate(&mut self, inputs: &[A::Value]) -> Result<A::Value, EvalError> {
        self.run(inputs, |_, _| {})
    }

    /// Evaluates one row, and passes the value of every node that an instruction computes to
    /// `observe`.
    pub(super) fn run(
        &mut self,
        inputs: &[A::Value],
        mut observe: impl FnMut(ExprId, &A::Value),
    ) -> Result<A::Value, EvalError> {
        if let Some((raised, span)) = &self.program.refused {
            return Err(EvalError::new(raised.clone(), *span));
        }
        if inputs.len() != self.program.inputs.len() {
            return Err(self.error_at(
                0,
                wrong_number_of_inputs(self.program.inputs.len(), inputs.len()),
            ));
        }
        self.arithmetic.begin();
        // an evaluation that fails leaves its operands there
        self.stack.clear();
        let mut index = 0;
        while let Some(instruction) = self.program.code.get(index) {
            let exit = match self.step(instruction, inputs) {
                Ok(exit) => exit,
                Err(raised) => return Err(self.error_at(index, raised)),
            };
            if let Some(value) = self.stack.last()
                && instruction.completes_node(exit.is_some())
            {
                observe(self.program.nodes[index], value);
            }
            index = match exit {
                Some(exit) => exit as usize,
                None => index + 1,
            };
        }
        match self.stack.pop() {
            Some(result) => Ok(result),
            None => Err(self.error_at(0, underflow())),
        }
    }

    /// The arithmetic of the interpreter.
    pub fn arithmetic(&self) -> &A {
        &self.arithmetic
    }

    /// Grants the next evaluations this much work, see [`Arithmetic::grant`].
    pub(crate) fn grant(&mut self, words: u64) {
        self.arithmetic.grant(words);
    }

    /// Executes one instruction. If it jumps, returns the index of the next instruction.
    fn step(
        &mut self,
        instruction: &Instruction,
        inputs: &[A::Value],
    ) -> Result<Option<u32>, Raised> {
        let arithmetic = &self.arithmetic;
        match instruction {
            Instruction::Constant(index) => {
                let constant = self.constants.get(*index as usize).ok_or_else(underflow)?;
                self.stack
                    .push(constant.as_ref().map_err(Raised::clone)?.clone());
            }
            Instruction::Input(slot) => {
                let input = inputs.get(*slot as usize).ok_or_else(underflow)?;
                self.stack.push(input.clone());
            }
            Instruction::Undefined(index) => {
                let undefined = self.program.undefined.get(*index as usize);
                let (name, _) = undefined.ok_or_else(underflow)?;
                return Err(name_error(name));
            }
            Instruction::Unary(op) => {
                let top = self.stack.last_mut().ok_or_else(underflow)?;
                *top = arithmetic.unary(*op, top)?;
            }
            Instruction::Binary(op) => {
                let [left, right] = top_two(&self.stack)?;
                let result = arithmetic.binary(*op, left, right)?;
                self.replace_two(result);
            }
            Instruction::Compare(op) => {
                let [left, right] = top_two(&self.stack)?;
                let is_true = arithmetic.compare(*op, left, right)?;
                let result = arithmetic.number(&Value::Bool(is_true))?;
                self.replace_two(result);
            }
            Instruction::CompareLink { op, exit } => {
                let [left, right] = top_two(&self.stack)?;
                if arithmetic.compare(*op, left, right)? {
                    let right = self.stack.pop().ok_or_else(underflow)?;
                    *self.stack.last_mut().ok_or_else(underflow)? = right;
                } else {
                    let result = arithmetic.number(&Value::Bool(false))?;
                    self.replace_two(result);
                    return Ok(Some(*exit));
                }
            }
            Instruction::ShortCircuit { op, exit } => {
                let is_true = arithmetic.truth(self.stack.last().ok_or_else(underflow)?)?;
                if is_true == (*op == BooleanOperator::Or) {
                    return Ok(Some(*exit));
                }
                self.stack.pop();
            }
            Instruction::BranchIfFalse { exit } => {
                let condition = self.stack.pop().ok_or_else(underflow)?;
                if !arithmetic.truth(&condition)? {
                    return Ok(Some(*exit));
                }
            }
            Instruction::Jump { exit } => return Ok(Some(*exit)),
            Instruction::Call {
                positional,
                keywords,
            } => self.call(*positional as usize, keywords)?,
            Instruction::Tuple(count) => {
                let items = self.stack.split_off(self.index_of_top(*count as usize)?);
                self.stack.push(self.arithmetic.tuple(items));
            }
            Instruction::List(count) => {
                let items = self.stack.split_off(self.index_of_top(*count as usize)?);
                self.stack.push(self.arithmetic.list(items));
            }
        }
        Ok(None)
    }

    fn call(&mut self, positional: usize, keywords: &[Box<str>]) -> Result<(), Raised> {
        let base = self.index_of_top(1 + positional + keywords.len())?;
        let (callee, arguments) = self.stack[base..].split_first().ok_or_else(underflow)?;
        let (positional_values, keyword_values) = arguments.split_at(positional);
        let result = if keywords.is_empty() {
            self.arithmetic.call(callee, positional_values, &[])?
        } else {
            let mut named = Vec::with_capacity(keywords.len());
            for (name, value) in keywords.iter().zip(keyword_values) {
                named.push((&**name, value.clone()));
            }
            self.arithmetic.call(callee, positional_values, &named)?
        };
        self.stack.truncate(base);
        self.stack.push(result);
        Ok(())
    }

    /// The index of the first of the `count` topmost entries of the stack.
    fn index_of_top(&self, count: usize) -> Result<usize, Raised> {
        self.stack.len().checked_sub(count).ok_or_else(underflow)
    }

    /// Replaces the two topmost entries of the stack.
    fn replace_two(&mut self, result: A::Value) {
        self.stack.pop();
        if let Some(top) = self.stack.last_mut() {
            *top = result;
        }
    }

    /// Adds the span and the operands of the instruction at `index` to an exception.
    fn error_at(&self, index: usize, raised: Raised) -> EvalError {
        let expr = &self.program.expr;
        let Some(&node) = self.program.nodes.get(index) else {
            return EvalError::new(raised, expr.span());
        };
        let span = expr.node(node).span;
        let mut children = expr.node(node).kind.children();
        match self.program.code.get(index) {
            Some(Instruction::Unary(_) | Instruction::Binary(_)) => {}
            // the callee is no operand
            Some(Instruction::Call { .. }) => _ = children.remove(0),
            _ => children.clear(),
        }
        // an instruction that fails leaves its operands on the stack
        let first = self.stack.len().saturating_sub(children.len());
        let mut operands = Vec::new();
        for (child, value) in children.into_iter().zip(&self.stack[first..]) {
            let value = self.arithmetic.to_python(value);
            if value.is_small() {
                let span = expr.node(child).span;
                operands.push(Operand { span, value });
            }
        }
        // every job that fails keeps its operands
        EvalError {
            raised,
            span,
            operands,
        }
    }
}

impl<'p> Interpreter<'p, Python> {
    pub(super) fn with_buffers(program: &'p Program, buffers: InterpreterBuffers) -> Self {
        Self::with_memory(program, Python::new(), buffers.constants, buffers.stack)
    }

    /// The memory of the interpreter, for [`Program::interpreter_with`].
    pub fn into_buffers(self) -> InterpreterBuffers {
        InterpreterBuffers {
            constants: self.constants,
            stack: self.stack,
        }
    }
}

fn top_two<V>(stack: &[V]) -> Result<[&V; 2], Raised> {
    match stack {
        [.., left, right] => Ok([left, right]),
        _ => Err(underflow()),
    }
}

/// Not reachable: a compiled program pushes the operands of every instruction.
fn underflow() -> Raised {
    Raised::new(ErrorKind::Limit, "stack underflow")
}

fn wrong_number_of_inputs(expected: usize, found: usize) -> Raised {
    let text = format!("number of inputs: expected {expected}, found {found}");
    Raised::new(ErrorKind::Type, text)
}

/// The `NameError` of an undefined name. A longer name than a resource has is cut, because each job
/// keeps its error.
fn name_error(name: &str) -> Raised {
    const MAX_NAME: usize = 256;
    Raised::new(
        ErrorKind::Name,
        match name.char_indices().nth(MAX_NAME) {
            Some((end, _)) => format!("name '{}…' is not defined", &name[..end]),
            None => format!("name '{name}' is not defined"),
        },
    )
}
