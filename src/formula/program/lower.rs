//! From the tree to instructions, with a stack of our own instead of recursion.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Span;
use crate::formula::name_resolution::Meaning;
use crate::formula::program::instruction::Instruction;
use crate::formula::program::{Constant, OutsideLanguage, Program, compiler_limits, literal};
use crate::formula::syntax::{Expr, Keyword, NodeId, NodeKind};
use crate::python::{BooleanOperator, ErrorKind, Raised, Value};
use crate::schema::Schema;

/// What is still to be done, last first.
enum Task {
    Visit(NodeId),
    Emit(Instruction, NodeId),
    /// Here lands every jump to the label.
    Land(u32),
}

/// Lowers a whole tree.
pub(super) fn lower(expr: Arc<Expr>, schema: &Schema) -> Result<Program, OutsideLanguage> {
    if let Some((construct, span)) = expr.foreign() {
        return Err(OutsideLanguage::Construct { construct, span });
    }
    let refused = compiler_limits::check(&expr).map(|raised| (raised, expr.node(expr.root()).span));
    let program = Program {
        expr: Arc::clone(&expr),
        code: Vec::with_capacity(expr.nodes().len()),
        nodes: Vec::with_capacity(expr.nodes().len()),
        constants: Vec::new(),
        inputs: Vec::new(),
        undefined: Vec::new(),
        refused,
    };
    let mut lowering = Lowering {
        expr: &expr,
        schema,
        program,
        names: BTreeMap::new(),
        tasks: Vec::with_capacity(expr.nodes().len()),
        labels: Vec::new(),
    };
    lowering.tasks.push(Task::Visit(expr.root()));
    lowering.run()?;
    Ok(lowering.program)
}

struct Lowering<'e> {
    expr: &'e Expr,
    schema: &'e Schema,
    program: Program,
    /// What each name came to where it stood first. Next to the name its length, in which most names differ.
    names: BTreeMap<(usize, &'e str), Instruction>,
    tasks: Vec<Task>,
    /// The address of each label, once it has landed.
    labels: Vec<u32>,
}

impl<'e> Lowering<'e> {
    fn run(&mut self) -> Result<(), OutsideLanguage> {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Emit(instruction, node) => self.emit(instruction, node),
                Task::Land(label) => self.labels[label as usize] = self.program.code.len() as u32,
                Task::Visit(node) => {
                    let first = self.tasks.len();
                    self.visit(node)?;
                    self.tasks[first..].reverse();
                }
            }
        }
        for instruction in &mut self.program.code {
            if let Some(exit) = instruction.exit_mut() {
                *exit = self.labels[*exit as usize];
            }
        }
        Ok(())
    }

    /// Emits a leaf; of any other node, pushes the tasks in the order in which they are to be done.
    fn visit(&mut self, id: NodeId) -> Result<(), OutsideLanguage> {
        let expr = self.expr;
        let node = expr.node(id);
        match &node.kind {
            NodeKind::Literal { kind, text } => self.literal(literal::value(*kind, text), text, id),
            NodeKind::Name(name) => self.name(name, id)?,
            NodeKind::Unary { op, operand } => self.then_emit(&[*operand], Instruction::Unary(*op), id),
            NodeKind::Binary { op, left, right } => self.then_emit(&[*left, *right], Instruction::Binary(*op), id),
            NodeKind::Comparison { operators, operands } => {
                let end = self.label();
                self.visit_all(&operands[..1]);
                for (index, (&op, &operand)) in operators.iter().zip(&operands[1..]).enumerate() {
                    let is_last = index + 1 == operators.len();
                    let link = Instruction::CompareLink { op, exit: end };
                    self.then_emit(&[operand], if is_last { Instruction::Compare(op) } else { link }, id);
                }
                self.tasks.push(Task::Land(end));
            }
            NodeKind::Boolean { op, operands } => self.boolean(*op, operands, id),
            NodeKind::Conditional { then, condition, otherwise } => {
                let (other, end) = (self.label(), self.label());
                self.then_emit(&[*condition], Instruction::BranchIfFalse { exit: other }, id);
                self.then_emit(&[*then], Instruction::Jump { exit: end }, id);
                self.tasks.extend([Task::Land(other), Task::Visit(*otherwise), Task::Land(end)]);
            }
            NodeKind::Call { callee, positional, keywords } => self.call(*callee, positional, keywords, id),
            NodeKind::Parenthesised(inner) => self.tasks.push(Task::Visit(*inner)),
            NodeKind::Tuple { items, .. } => self.then_emit(items, Instruction::Tuple(items.len() as u32), id),
            NodeKind::List(items) => self.then_emit(items, Instruction::List(items.len() as u32), id),
            NodeKind::Foreign { construct, .. } => {
                return Err(OutsideLanguage::Construct { construct: *construct, span: node.span });
            }
        }
        Ok(())
    }

    fn literal(&mut self, value: Result<Value, Raised>, text: &str, id: NodeId) {
        match value {
            Ok(value) => {
                let constant = self.constant(value, Some(text.into()));
                self.emit(constant, id);
            }
            Err(raised) => {
                self.program.refused.get_or_insert((raised, self.expr.node(id).span));
            }
        }
    }

    fn name(&mut self, name: &'e str, id: NodeId) -> Result<(), OutsideLanguage> {
        let instruction = match self.names.get(&(name.len(), name)) {
            Some(known) => known.clone(),
            None => {
                let new = self.new_name(name, self.expr.node(id).span)?;
                self.names.insert((name.len(), name), new.clone());
                new
            }
        };
        self.emit(instruction, id);
        Ok(())
    }

    fn new_name(&mut self, name: &str, span: Span) -> Result<Instruction, OutsideLanguage> {
        Ok(match Meaning::of(name, self.schema) {
            Meaning::Constant(value) => self.constant(value, None),
            Meaning::Input => Instruction::Input(push(&mut self.program.inputs, name.into())),
            Meaning::Undefined => Instruction::Undefined(push(&mut self.program.undefined, (name.into(), span))),
            Meaning::Foreign => return Err(OutsideLanguage::Builtin { name: name.into(), span }),
        })
    }

    fn constant(&mut self, value: Value, text: Option<Box<str>>) -> Instruction {
        Instruction::Constant(push(&mut self.program.constants, Constant { value, text }))
    }

    fn boolean(&mut self, op: BooleanOperator, operands: &[NodeId], id: NodeId) {
        let end = self.label();
        for (index, &operand) in operands.iter().enumerate() {
            self.tasks.push(Task::Visit(operand));
            if index + 1 < operands.len() {
                self.tasks.push(Task::Emit(Instruction::ShortCircuit { op, exit: end }, id));
            }
        }
        self.tasks.push(Task::Land(end));
    }

    fn call(&mut self, callee: NodeId, positional: &[NodeId], keywords: &[Keyword], id: NodeId) {
        self.tasks.push(Task::Visit(callee));
        self.visit_all(positional);
        self.tasks.extend(keywords.iter().map(|keyword| Task::Visit(keyword.value)));
        let keywords = keywords.iter().map(|keyword| keyword.name.clone()).collect();
        self.tasks.push(Task::Emit(Instruction::Call { positional: positional.len() as u32, keywords }, id));
    }

    fn then_emit(&mut self, operands: &[NodeId], instruction: Instruction, id: NodeId) {
        self.visit_all(operands);
        self.tasks.push(Task::Emit(instruction, id));
    }

    fn visit_all(&mut self, nodes: &[NodeId]) {
        self.tasks.extend(nodes.iter().map(|&node| Task::Visit(node)));
    }

    fn label(&mut self) -> u32 {
        self.labels.push(0);
        self.labels.len() as u32 - 1
    }

    fn emit(&mut self, instruction: Instruction, node: NodeId) {
        self.program.code.push(instruction);
        self.program.nodes.push(node);
    }
}

/// Adds something, and says where.
fn push<T>(all: &mut Vec<T>, new: T) -> u32 {
    all.push(new);
    all.len() as u32 - 1
}

impl Program {
    /// What CPython raises where an undefined name is reached.
    pub(super) fn name_error(&self, index: u32) -> Raised {
        let name = self.undefined.get(index as usize).map_or("", |(name, _)| name);
        Raised::new(ErrorKind::Name, format!("name '{name}' is not defined"))
    }
}
