//! The interpreter: a row of inputs enters, a value or an error leaves. The columnar executor must
//! give the same values.

use crate::formula::program::{EvalError, Instruction, Operand, Program};
use crate::formula::syntax::ExprId;
use crate::python::{BooleanOperator, ErrorKind, Python, Raised, Value};

/// The memory of an [`Interpreter`], for the next one.
#[derive(Debug, Default)]
pub struct InterpreterBuffers {
    constants: Vec<Result<Value, Raised>>,
    stack: Vec<Value>,
}

/// Runs one program in one arithmetic, row after row, and reuses its memory.
#[derive(Debug)]
pub struct Interpreter<'p> {
    program: &'p Program,
    arithmetic: Python,
    buffers: InterpreterBuffers,
}

impl<'p> Interpreter<'p> {
    pub(super) fn new(
        program: &'p Program,
        arithmetic: Python,
        mut buffers: InterpreterBuffers,
    ) -> Self {
        let arithmetic = arithmetic.of_version(program.python);
        buffers.constants.clear();
        for constant in &program.constants {
            // kept as a result: a refused literal fails only where it is evaluated
            buffers.constants.push(match &constant.text {
                Some(text) => arithmetic.literal(text, &constant.value),
                None => arithmetic.number(&constant.value),
            });
        }
        Self {
            program,
            arithmetic,
            buffers,
        }
    }

    /// The memory of the interpreter, for [`Program::interpreter_with`].
    pub fn into_buffers(self) -> InterpreterBuffers {
        self.buffers
    }

    /// Evaluates one row; `inputs` are in the order of [`Program::inputs`].
    ///
    /// # Errors
    /// The exception that Python raises, with its span. Another number of inputs than the program
    /// reads is a `TypeError`.
    pub fn evaluate(&mut self, inputs: &[Value]) -> Result<Value, EvalError> {
        self.run(inputs, |_, _| {})
    }

    /// Evaluates one row, and passes the value of every node that an instruction computes to
    /// `observe`.
    pub(super) fn run(
        &mut self,
        inputs: &[Value],
        mut observe: impl FnMut(ExprId, &Value),
    ) -> Result<Value, EvalError> {
        if let Some((raised, span)) = &self.program.refused {
            return Err(EvalError::new(raised.clone(), *span));
        }
        if inputs.len() != self.program.inputs.len() {
            let (expected, found) = (self.program.inputs.len(), inputs.len());
            let text = format!("number of inputs: expected {expected}, found {found}");
            return Err(self.error_at(0, Raised::new(ErrorKind::Type, text)));
        }
        self.arithmetic.begin();
        // an evaluation that fails leaves its operands there
        self.buffers.stack.clear();
        let mut index = 0;
        while let Some(instruction) = self.program.code.get(index) {
            let exit = match self.step(instruction, inputs) {
                Ok(exit) => exit,
                Err(raised) => return Err(self.error_at(index, raised)),
            };
            if let Some(value) = self.buffers.stack.last()
                && instruction.completes_node(exit.is_some())
            {
                observe(self.program.nodes[index], value);
            }
            index = exit.map_or(index + 1, |exit| exit as usize);
        }
        let result = self.buffers.stack.pop();
        result.ok_or_else(|| self.error_at(0, underflow()))
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The arithmetic of the interpreter.
    pub fn arithmetic(&self) -> &Python {
        &self.arithmetic
    }

    /// Grants the next evaluations this much work, see [`Python::begin`].
    pub(crate) fn grant(&mut self, words: u64) {
        self.arithmetic.grant(words);
    }

    /// Executes one instruction. If it jumps, returns the index of the next instruction.
    fn step(&mut self, instruction: &Instruction, inputs: &[Value]) -> Result<Option<u32>, Raised> {
        let arithmetic = &self.arithmetic;
        let stack = &mut self.buffers.stack;
        match instruction {
            Instruction::Constant(index) => {
                stack.push(self.buffers.constants[*index as usize].clone()?);
            }
            Instruction::Input(slot) => stack.push(inputs[*slot as usize].clone()),
            Instruction::Undefined(index) => {
                return Err(name_error(&self.program.undefined[*index as usize].0));
            }
            Instruction::Unary(op) => {
                let top = stack.last_mut().ok_or_else(underflow)?;
                *top = arithmetic.unary(*op, top)?;
            }
            Instruction::Binary(op) => {
                // looked at and not popped: after a failure `error_at` reads them
                let [left, right] = top_two(stack)?;
                let result = arithmetic.binary(*op, left, right)?;
                replace_two(stack, result);
            }
            Instruction::Compare(op) => {
                let [left, right] = top_two(stack)?;
                let is_true = arithmetic.compare(*op, left, right)?;
                replace_two(stack, Value::Bool(is_true));
            }
            Instruction::CompareLink { op, exit } => {
                let [left, right] = top_two(stack)?;
                if arithmetic.compare(*op, left, right)? {
                    let right = stack.pop().ok_or_else(underflow)?;
                    *stack.last_mut().ok_or_else(underflow)? = right;
                } else {
                    replace_two(stack, Value::Bool(false));
                    return Ok(Some(*exit));
                }
            }
            Instruction::ShortCircuit { op, exit } => {
                let is_true = stack.last().ok_or_else(underflow)?.known_truth()?;
                if is_true == (*op == BooleanOperator::Or) {
                    return Ok(Some(*exit));
                }
                stack.pop();
            }
            Instruction::BranchIfFalse { exit } => {
                let condition = stack.pop().ok_or_else(underflow)?;
                if !condition.known_truth()? {
                    return Ok(Some(*exit));
                }
            }
            Instruction::Jump { exit } => return Ok(Some(*exit)),
            Instruction::Call {
                positional,
                keywords,
            } => self.call(*positional as usize, keywords)?,
            Instruction::Tuple(count) => {
                let items = stack.split_off(index_of_top(stack, *count as usize)?);
                stack.push(Value::tuple(items));
            }
            Instruction::List(count) => {
                let items = stack.split_off(index_of_top(stack, *count as usize)?);
                stack.push(Value::list(items));
            }
        }
        Ok(None)
    }

    fn call(&mut self, positional: usize, keywords: &[Box<str>]) -> Result<(), Raised> {
        let stack = &mut self.buffers.stack;
        let base = index_of_top(stack, 1 + positional + keywords.len())?;
        let (callee, arguments) = stack[base..].split_first().ok_or_else(underflow)?;
        let (positional, named) = arguments.split_at(positional);
        let names = keywords.iter().map(|name| &**name);
        let named: Vec<_> = names.zip(named.iter().cloned()).collect();
        let result = self.arithmetic.call(callee, positional, &named)?;
        stack.truncate(base);
        stack.push(result);
        Ok(())
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
            // of a chain of comparisons, the stack holds only two operands
            _ => children.clear(),
        }
        // an instruction that fails leaves its operands on the stack
        let first = self.buffers.stack.len().saturating_sub(children.len());
        let mut operands = Vec::new();
        for (child, value) in children.into_iter().zip(&self.buffers.stack[first..]) {
            let value = self.arithmetic.to_python(value);
            // every job that fails keeps its operands
            if value.is_small() {
                let span = expr.node(child).span;
                operands.push(Operand { span, value });
            }
        }
        EvalError {
            raised,
            span,
            operands,
        }
    }
}

/// The index of the first of the `count` topmost entries of the stack.
fn index_of_top(stack: &[Value], count: usize) -> Result<usize, Raised> {
    stack.len().checked_sub(count).ok_or_else(underflow)
}

/// Replaces the two topmost entries of the stack.
fn replace_two(stack: &mut Vec<Value>, result: Value) {
    stack.pop();
    if let Some(top) = stack.last_mut() {
        *top = result;
    }
}

fn top_two(stack: &[Value]) -> Result<[&Value; 2], Raised> {
    match stack {
        [.., left, right] => Ok([left, right]),
        _ => Err(underflow()),
    }
}

/// Not reachable: a compiled program pushes the operands of every instruction.
fn underflow() -> Raised {
    Raised::new(ErrorKind::Limit, "stack underflow")
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
