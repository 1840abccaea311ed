//! The interpreter: a row of inputs enters, a value or an error leaves. The columnar executor must
//! give the same values.
//!
//! A traced evaluation keeps the value of every sub-expression, and the terms that add up to the
//! result.

use serde::Serialize;

use crate::diagnostic::Span;
use crate::formula::program::{EvalError, Instruction, Operand, Program};
use crate::formula::syntax::{Expr, ExprId, ExprKind};
use crate::python::{
    BinaryOperator, BooleanOperator, ErrorKind, Python, Raised, UnaryOperator, Value,
};

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
    fn run(
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
                let constant = self
                    .buffers
                    .constants
                    .get(*index as usize)
                    .ok_or_else(underflow)?;
                stack.push(constant.as_ref().map_err(Raised::clone)?.clone());
            }
            Instruction::Input(slot) => {
                let input = inputs.get(*slot as usize).ok_or_else(underflow)?;
                stack.push(input.clone());
            }
            Instruction::Undefined(index) => {
                let undefined = self.program.undefined.get(*index as usize);
                let (name, _) = undefined.ok_or_else(underflow)?;
                return Err(name_error(name));
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

/// The evaluation of a formula for one job, with the value of every sub-expression that was
/// evaluated.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The result of the formula, or the exception that Python raises.
    pub result: Result<Value, EvalError>,
    values: Vec<Option<Value>>,
    /// The work on long integers and sequences, in words.
    pub work: u64,
}

/// A summand of a formula.
#[derive(Debug, Clone, Serialize)]
pub struct Term {
    /// The summand without its sign.
    pub span: Span,
    /// Its text with the sign: `-(a * b)` where the formula subtracts `a * b`.
    pub text: String,
    /// Its value with the sign.
    pub value: Value,
}

/// A summand of a formula, whatever the job.
#[derive(Debug, Clone)]
pub struct Summand {
    /// The summand without its sign.
    pub span: Span,
    /// Its text with the sign, as in [`Term::text`].
    pub text: String,
    pub(super) node: ExprId,
    pub(super) is_subtracted: bool,
}

impl Program {
    /// Evaluates the program once in Python's arithmetic, and records the value of every
    /// sub-expression.
    ///
    /// ```
    /// use job_sort_formula::{Formula, Schema, Value};
    ///
    /// let program = Formula::parse("ncpus * 2 - mem / 1024")?.compile(&Schema::openpbs())?;
    /// let trace = program.trace(&[Value::Int(4), Value::Int(512)]);
    /// let terms: Vec<_> = program.terms(&trace).iter().map(|term| (term.text.clone(), term.value.repr())).collect();
    /// assert_eq!(terms, [("ncpus * 2".into(), "8".into()), ("-(mem / 1024)".into(), "-0.5".into())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trace(&self, inputs: &[Value]) -> Trace {
        let mut values = vec![None; self.expr.nodes().len()];
        let mut interpreter = self.interpreter(Python::new());
        let result = interpreter.run(inputs, |node, value| {
            values[node.index()] = Some(value.clone())
        });
        let work = interpreter.arithmetic().work();
        // children precede their parents
        for (id, node) in self.expr.iter() {
            if values[id.index()].is_none() {
                values[id.index()] = value_of_child(&node.kind, &values);
            }
        }
        Trace {
            result,
            values,
            work,
        }
    }

    /// The [`summands`](Self::summands) with their values. Added in order, as Python does, they
    /// give the result, or the sum to which limits apply. Empty if the evaluation failed.
    pub fn terms(&self, trace: &Trace) -> Vec<Term> {
        if trace.result.is_err() {
            return Vec::new();
        }
        let Some(result) = trace.value(sum_under_limits(&self.expr)) else {
            return Vec::new();
        };
        let summands = self.summands().into_iter();
        let terms: Vec<Term> = summands.filter_map(|summand| trace.term(summand)).collect();
        match sum(&terms) {
            Some(sum) if sum.is_identical(result) => terms,
            // a zero lost its sign
            _ => Vec::from_iter(trace.term(self.summand(self.expr.root(), false))),
        }
    }

    /// The summands at the top of the formula, left to right, with their signs applied. Those of
    /// `min(100, max(0, floor(a + b)))` are `a` and `b`.
    pub fn summands(&self) -> Vec<Summand> {
        let nodes = summands(&self.expr).into_iter();
        let summand = |(node, is_subtracted)| self.summand(node, is_subtracted);
        nodes.map(summand).collect()
    }

    fn summand(&self, node: ExprId, is_subtracted: bool) -> Summand {
        let span = self.expr.node(node).span;
        let text = span.slice(self.expr.text());
        let text = if !is_subtracted {
            text.to_owned()
        } else if needs_parentheses(&self.expr.node(node).kind) {
            format!("-({text})")
        } else {
            format!("-{text}")
        };
        Summand {
            span,
            text,
            node,
            is_subtracted,
        }
    }
}

impl Trace {
    fn term(&self, summand: Summand) -> Option<Term> {
        let value = self.summand(&summand)?;
        Some(Term {
            span: summand.span,
            text: summand.text,
            value,
        })
    }

    /// The value of a summand with its sign; `None` if it was not evaluated or failed.
    pub fn summand(&self, summand: &Summand) -> Option<Value> {
        let value = self.value(summand.node)?;
        if summand.is_subtracted {
            Python::new().unary(UnaryOperator::Minus, value).ok()
        } else {
            Some(value.clone())
        }
    }

    /// The value of a sub-expression; `None` if it was not evaluated or failed.
    pub fn value(&self, node: ExprId) -> Option<&Value> {
        self.values.get(node.index())?.as_ref()
    }
}

/// The value of a node whose value is that of one of its children; no instruction computes it.
fn value_of_child(kind: &ExprKind, values: &[Option<Value>]) -> Option<Value> {
    match kind {
        ExprKind::Parenthesized(inner) => values[inner.index()].clone(),
        ExprKind::Conditional {
            then, otherwise, ..
        // only the branch that was taken has a value
        } => values[then.index()]
            .as_ref()
            .or(values[otherwise.index()].as_ref())
            .cloned(),
        ExprKind::Boolean { op, operands } => {
            let (last, others) = operands.split_last()?;
            if let Some(value) = &values[last.index()] {
                return Some(value.clone());
            }
            for node in others {
                // an operand that was dropped has a value too: it has the other truth
                if let Some(value) = &values[node.index()]
                    && value.truth() == (*op == BooleanOperator::Or)
                {
                    return Some(value.clone());
                }
            }
            None
        }
        _ => None,
    }
}

/// The summands at the top of a formula, left to right, each with whether it is subtracted.
fn summands(expr: &Expr) -> Vec<(ExprId, bool)> {
    let mut summands = Vec::new();
    let mut node = sum_under_limits(expr);
    loop {
        match expr.node(node).kind {
            ExprKind::Parenthesized(inner) => node = inner,
            ExprKind::Binary {
                op: op @ (BinaryOperator::Add | BinaryOperator::Subtract),
                left,
                right,
            } => {
                summands.push((right, op == BinaryOperator::Subtract));
                // only the left operand is split: Python adds a bracket on the right first
                node = left;
            }
            _ => break,
        }
    }
    summands.push((node, false));
    summands.reverse();
    summands
}

/// The sum to which a formula applies limits or rounding, which change no order but by making
/// values equal; the formula itself if there is no such sum.
pub(crate) fn sum_under_limits(expr: &Expr) -> ExprId {
    let mut node = expr.root();
    loop {
        match &expr.node(node).kind {
            ExprKind::Parenthesized(inner) => node = *inner,
            ExprKind::Call {
                callee,
                positional,
                keywords,
            } if keywords.is_empty() => {
                let ExprKind::Name(function) = &expr.node(*callee).kind else {
                    return expr.root();
                };
                let mut others = positional.to_vec();
                others.retain(|id| !matches!(expr.node(*id).kind, ExprKind::Literal { .. }));
                let is_limit = match &**function {
                    // with one argument they take the items of a sequence
                    "min" | "max" => positional.len() > 1,
                    "floor" | "ceil" | "int" | "round" => positional.len() == 1,
                    _ => false,
                };
                match others.as_slice() {
                    &[only] if is_limit => node = only,
                    _ => return expr.root(),
                }
            }
            ExprKind::Binary {
                op: BinaryOperator::Add | BinaryOperator::Subtract,
                ..
            } => return node,
            _ => return expr.root(),
        }
    }
}

/// The sum of the terms in their order; `None` if Python raises an exception.
fn sum(terms: &[Term]) -> Option<Value> {
    let (first, others) = terms.split_first()?;
    let mut sum = first.value.clone();
    for term in others {
        sum = Python::new()
            .binary(BinaryOperator::Add, &sum, &term.value)
            .ok()?;
    }
    Some(sum)
}

/// Whether `-` before the text of a node would apply to a part of it only, or change the sign of a
/// zero.
fn needs_parentheses(kind: &ExprKind) -> bool {
    !matches!(
        kind,
        ExprKind::Literal { .. }
            | ExprKind::Name(_)
            | ExprKind::Parenthesized(_)
            | ExprKind::Call { .. }
            | ExprKind::Unary { .. }
            // `**` binds more tightly than a `-` before it
            | ExprKind::Binary {
                op: BinaryOperator::Power,
                ..
            }
    )
}
