//! Compiles a syntax tree: lowers it to the instructions of a [`Program`], with a stack of tasks instead of
//! recursion.

use std::collections::HashMap;
use std::sync::Arc;

use num_bigint::BigInt;

use crate::formula::name_resolution::Resolution;
use crate::formula::program::{CompileError, Constant, Instruction, Program, Summand};
use crate::formula::syntax::{Expr, ExprId, ExprKind, Keyword, LiteralKind};
use crate::python::{
    BinaryOperator, BooleanOperator, ErrorKind, PythonVersion, Raised, UnaryOperator, Value, limits,
};
use crate::schema::Schema;

impl Program {
    /// Compiles a tree. Names are resolved as in OpenPBS: first in Python's `math`, then in the
    /// numeric names of `schema`, then in Python's builtins. Any other name raises `NameError` when
    /// it is evaluated.
    ///
    /// # Errors
    /// A [`CompileError`] if the formula is valid Python but not arithmetic.
    pub fn compile(expr: Arc<Expr>, schema: &Schema) -> Result<Self, CompileError> {
        Self::compile_with(expr, schema.python(), &|name| {
            Resolution::from_schema(name, schema)
        })
    }

    /// The same, with other names than those of a schema.
    ///
    /// # Errors
    /// As for [`Program::compile`].
    pub fn compile_with(
        expr: Arc<Expr>,
        python: PythonVersion,
        resolve: &dyn Fn(&str) -> Resolution,
    ) -> Result<Self, CompileError> {
        let root = expr.root();
        lower(expr, root, python, resolve)
    }

    /// Compiles a summand of this program, with its sign. Its errors have the places that they have
    /// in the whole formula.
    pub(crate) fn compile_summand(
        &self,
        summand: &Summand,
        schema: &Schema,
    ) -> Result<Self, CompileError> {
        let resolve = |name: &str| Resolution::from_schema(name, schema);
        let mut program = lower(
            Arc::clone(&self.expr),
            summand.node,
            schema.python(),
            &resolve,
        )?;
        if summand.is_subtracted {
            program.code.push(Instruction::Unary(UnaryOperator::Minus));
            program.nodes.push(summand.node);
        }
        Ok(program)
    }
}

/// Compiles a sub-expression of a tree.
fn lower(
    expr: Arc<Expr>,
    root: ExprId,
    python: PythonVersion,
    resolve: &dyn Fn(&str) -> Resolution,
) -> Result<Program, CompileError> {
    // before the walk, which may meet another one than the first in the text
    if let Some((construct, span)) = expr.unsupported() {
        return Err(CompileError::Construct { construct, span });
    }
    let is_too_deep = is_too_deep(&expr, root, python);
    let too_deep = || {
        let text = "the formula is nested so deep that CPython may give up";
        (Raised::new(ErrorKind::Limit, text), expr.node(root).span)
    };
    let program = Program {
        python,
        expr: Arc::clone(&expr),
        code: Vec::with_capacity(expr.nodes().len()),
        nodes: Vec::with_capacity(expr.nodes().len()),
        constants: Vec::new(),
        inputs: Vec::new(),
        undefined: Vec::new(),
        refused: is_too_deep.then(too_deep),
    };
    let mut lowering = Lowering {
        expr: &expr,
        resolve,
        program,
        names: HashMap::new(),
        tasks: Vec::with_capacity(expr.nodes().len()),
        labels: Vec::new(),
    };
    lowering.tasks.push(Task::Visit(root));
    lowering.run()?;
    Ok(lowering.program)
}

/// The work that remains, last first.
enum Task {
    Visit(ExprId),
    Emit(Instruction, ExprId),
    /// Binds a label to the present address.
    Bind(u32),
}

struct Lowering<'e> {
    expr: &'e Expr,
    resolve: &'e dyn Fn(&str) -> Resolution,
    program: Program,
    /// The instruction of each name.
    names: HashMap<&'e str, Instruction>,
    tasks: Vec<Task>,
    /// The address of each label once it is bound.
    labels: Vec<u32>,
}

impl<'e> Lowering<'e> {
    fn run(&mut self) -> Result<(), CompileError> {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Emit(instruction, node) => self.emit(instruction, node),
                Task::Bind(label) => self.labels[label as usize] = self.program.code.len() as u32,
                Task::Visit(node) => {
                    let first = self.tasks.len();
                    self.visit(node)?;
                    // the last task is done first
                    self.tasks[first..].reverse();
                }
            }
        }
        // jumps are forward, so that their labels are all bound only now
        for instruction in &mut self.program.code {
            if let Some(exit) = instruction.exit_mut() {
                *exit = self.labels[*exit as usize];
            }
        }
        Ok(())
    }

    /// Emits a leaf; for any other node, pushes its tasks in the order of execution.
    fn visit(&mut self, id: ExprId) -> Result<(), CompileError> {
        let expr = self.expr;
        let node = expr.node(id);
        match &node.kind {
            ExprKind::Literal { kind, text } => {
                match literal_value(*kind, text, self.program.python) {
                    Ok(value) => {
                        let constant = self.constant(value, Some(text.clone()));
                        self.emit(constant, id);
                    }
                    // no instruction, because a refused program never runs
                    Err(raised) => {
                        self.program.refused.get_or_insert((raised, node.span));
                    }
                }
            }
            ExprKind::Name(name) => self.name(name, id)?,
            ExprKind::Unary { op, operand } => {
                self.then_emit(&[*operand], Instruction::Unary(*op), id)
            }
            ExprKind::Binary { op, left, right } => {
                self.then_emit(&[*left, *right], Instruction::Binary(*op), id)
            }
            ExprKind::Comparison {
                operators,
                operands,
            } => {
                let end = self.label();
                self.visit_all(&operands[..1]);
                for (index, (&op, &operand)) in operators.iter().zip(&operands[1..]).enumerate() {
                    let instruction = if index + 1 < operators.len() {
                        Instruction::CompareLink { op, exit: end }
                    } else {
                        Instruction::Compare(op)
                    };
                    self.then_emit(&[operand], instruction, id);
                }
                self.tasks.push(Task::Bind(end));
            }
            ExprKind::Boolean { op, operands } => self.boolean(*op, operands, id),
            ExprKind::Conditional {
                then,
                condition,
                otherwise,
            } => {
                let other = self.label();
                let end = self.label();
                self.then_emit(
                    &[*condition],
                    Instruction::BranchIfFalse { exit: other },
                    id,
                );
                self.then_emit(&[*then], Instruction::Jump { exit: end }, id);
                self.tasks
                    .extend([Task::Bind(other), Task::Visit(*otherwise), Task::Bind(end)]);
            }
            ExprKind::Call {
                callee,
                positional,
                keywords,
            } => self.call(*callee, positional, keywords, id),
            ExprKind::Parenthesized(inner) => self.tasks.push(Task::Visit(*inner)),
            ExprKind::Tuple(items) => {
                self.then_emit(items, Instruction::Tuple(items.len() as u32), id)
            }
            ExprKind::List(items) => {
                self.then_emit(items, Instruction::List(items.len() as u32), id)
            }
            ExprKind::Unsupported { construct, .. } => {
                return Err(CompileError::Construct {
                    construct: *construct,
                    span: node.span,
                });
            }
        }
        Ok(())
    }

    fn name(&mut self, name: &'e str, id: ExprId) -> Result<(), CompileError> {
        // an input has one slot, however often it is read
        if let Some(known) = self.names.get(name) {
            self.emit(known.clone(), id);
            return Ok(());
        }
        let span = self.expr.node(id).span;
        let instruction = match (self.resolve)(name) {
            Resolution::Constant(value) => self.constant(value, None),
            Resolution::Input => Instruction::Input(push(&mut self.program.inputs, name.into())),
            Resolution::Undefined => {
                Instruction::Undefined(push(&mut self.program.undefined, (name.into(), span)))
            }
            Resolution::UnsupportedBuiltin => {
                let name = name.into();
                return Err(CompileError::Builtin { name, span });
            }
        };
        self.names.insert(name, instruction.clone());
        self.emit(instruction, id);
        Ok(())
    }

    fn constant(&mut self, value: Value, text: Option<Box<str>>) -> Instruction {
        Instruction::Constant(push(&mut self.program.constants, Constant { value, text }))
    }

    fn boolean(&mut self, op: BooleanOperator, operands: &[ExprId], id: ExprId) {
        let end = self.label();
        for (index, &operand) in operands.iter().enumerate() {
            self.tasks.push(Task::Visit(operand));
            if index + 1 < operands.len() {
                self.tasks
                    .push(Task::Emit(Instruction::ShortCircuit { op, exit: end }, id));
            }
        }
        self.tasks.push(Task::Bind(end));
    }

    fn call(&mut self, callee: ExprId, positional: &[ExprId], keywords: &[Keyword], id: ExprId) {
        // before the arguments, as in Python: `nope(1/0)` is a `NameError`
        self.tasks.push(Task::Visit(callee));
        self.visit_all(positional);
        for keyword in keywords {
            self.tasks.push(Task::Visit(keyword.value));
        }
        let call = Instruction::Call {
            positional: positional.len() as u32,
            keywords: keywords
                .iter()
                .map(|keyword| keyword.name.clone())
                .collect(),
        };
        self.tasks.push(Task::Emit(call, id));
    }

    fn then_emit(&mut self, operands: &[ExprId], instruction: Instruction, id: ExprId) {
        self.visit_all(operands);
        self.tasks.push(Task::Emit(instruction, id));
    }

    fn visit_all(&mut self, nodes: &[ExprId]) {
        for &node in nodes {
            self.tasks.push(Task::Visit(node));
        }
    }

    fn label(&mut self) -> u32 {
        self.labels.push(0);
        self.labels.len() as u32 - 1
    }

    fn emit(&mut self, instruction: Instruction, node: ExprId) {
        self.program.code.push(instruction);
        self.program.nodes.push(node);
    }
}

/// Appends an element and returns its index.
fn push<T>(all: &mut Vec<T>, new: T) -> u32 {
    all.push(new);
    all.len() as u32 - 1
}

/// CPython refuses longer decimal literals (`sys.int_info.default_max_str_digits`).
const MAX_DECIMAL_DIGITS: usize = 4300;

/// The value of a literal.
///
/// # Errors
/// CPython's `SyntaxError`, or the limit on the size of integers.
pub fn literal_value(
    kind: LiteralKind,
    text: &str,
    python: PythonVersion,
) -> Result<Value, Raised> {
    let digits = text.replace('_', "");
    match kind {
        LiteralKind::Float => match digits.parse() {
            Ok(float) => Ok(Value::Float(float)),
            Err(_) => Err(malformed(text)),
        },
        LiteralKind::Integer => integer_literal(&digits, python),
    }
}

fn integer_literal(digits: &str, python: PythonVersion) -> Result<Value, Raised> {
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    // in base ten alone, whose conversion takes quadratic time in CPython
    if radix == 10 && digits.len() > MAX_DECIMAL_DIGITS && python.limits_decimal_digits() {
        return Err(too_many_digits(digits.len()));
    }
    if let Ok(small) = i64::from_str_radix(digits, radix) {
        return Ok(Value::Int(small));
    }
    match BigInt::parse_bytes(digits.as_bytes(), radix) {
        Some(integer) => {
            limits::check_bits(integer.bits())?;
            Ok(Value::int(integer))
        }
        None => Err(malformed(digits)),
    }
}

fn too_many_digits(count: usize) -> Raised {
    let text = format!(
        "Exceeds the limit ({MAX_DECIMAL_DIGITS} digits) for integer string conversion: value has {count} digits; use \
         sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal for huge integer literals to avoid \
         decimal conversion limits. (<string>, line 1)"
    );
    Raised::new(ErrorKind::Syntax, text)
}

/// Not reachable: the grammar accepts no such text.
fn malformed(text: &str) -> Raised {
    Raised::new(ErrorKind::Syntax, format!("`{text}` is not a number"))
}

/// The deepest tree of operators and calls. The compiler up to 3.12 reaches 2994, later ones 9997.
const MAX_HEIGHT: u32 = 2900;

/// What the parser needs.
struct Parser {
    /// Its recursion, or the entries of its stack, without those of the innermost name.
    frames: u32,
    brackets: u32,
    list: u32,
}

/// The parser since 3.9 has 6000 frames.
const PEG: Parser = Parser {
    frames: 5900,
    brackets: 28,
    list: 30,
};
/// The parser up to 3.7 has 1500 entries.
const LL1: Parser = Parser {
    frames: 1450,
    brackets: 17,
    list: 17,
};

/// What each parser needs at most for an operator before its right operand.
const OPERATOR: u32 = 3;

/// Whether CPython may give up on a sub-expression as a formula: it is deeper than every release of
/// the version parses and compiles.
///
/// Beyond that depth, the parser raises a `MemoryError`, which the scheduler does not notice, the
/// compiler a `RecursionError`, and the parser up to 3.8 sometimes a `SyntaxError`. Where each begins
/// depends on the release and on the stack of the caller, so nothing is said of a formula that is
/// deeper. Measured with `eval` on each version.
fn is_too_deep(expr: &Expr, root: ExprId, python: PythonVersion) -> bool {
    let parser = if python < PythonVersion::V3_9 {
        LL1
    } else {
        PEG
    };
    let mut sizes: Vec<(u32, u32)> = Vec::with_capacity(expr.nodes().len());
    for node in expr.nodes() {
        let (level, own_frames) = match &node.kind {
            // CPython's parser reads brackets, but its tree, which the compiler walks, has none
            ExprKind::Parenthesized(_) => (0, parser.brackets),
            ExprKind::Call { .. } => (1, parser.brackets),
            ExprKind::Tuple(_) | ExprKind::List(_) => (1, parser.list),
            // all operands but those of a power are read one after the other
            ExprKind::Binary { op, .. } if *op != BinaryOperator::Power => (1, 0),
            _ => (1, OPERATOR),
        };
        let (mut height, mut frames) = (0, 0);
        for child in node.kind.children() {
            let (child_height, child_frames) = sizes[child.index()];
            (height, frames) = (child_height.max(height), child_frames.max(frames));
        }
        sizes.push((height + level, frames + own_frames));
    }
    sizes
        .get(root.index())
        .is_some_and(|(height, frames)| *height > MAX_HEIGHT || *frames > parser.frames)
}
