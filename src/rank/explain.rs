//! How a formula gives a job its value: its inputs, and the value of every sub-expression. Why a job
//! is before another one says `Site::explain` of the crate `jsf-site`.

use crate::diagnostic::Span;
use crate::formula::program::{EvalError, Program, Trace};
use crate::formula::syntax::{ExprId, ExprKind, Node};
use crate::jobs::{Exclusion, JobTable};
use crate::python::{Python, Value};
use crate::rank::work::{WorkBudget, row_work};

/// The value of a sub-expression.
#[derive(Debug, Clone)]
pub struct NodeValue {
    /// Its place in the formula.
    pub span: Span,
    /// Its value.
    pub value: Value,
    /// The number of evaluated sub-expressions that contain it.
    pub depth: usize,
    /// Whether it is a number literal, with or without a sign.
    pub is_literal: bool,
}

/// The inputs of a job, in the order of [`Program::inputs`]; `None` if the scheduler ignores the
/// job because it cannot read one of them.
pub fn inputs(program: &Program, table: &JobTable, row: usize) -> Option<Vec<Value>> {
    if matches!(table.exclusion(row), Some(Exclusion::Invalid { .. })) {
        return None;
    }
    let inputs = program
        .inputs()
        .iter()
        .map(|name| match table.column(name) {
            Some(column) => column.value(row),
            None => Value::Int(0),
        });
    Some(inputs.collect())
}

/// The sub-expressions that were evaluated, as Python's `ast` has them: neither brackets nor the
/// names of the functions that are called. They are in the order of their spans, a shorter one
/// first.
pub fn nodes(program: &Program, trace: &Trace) -> Vec<NodeValue> {
    let expr = program.expr();
    let mut is_listed = vec![true; expr.nodes().len()];
    for node in expr.nodes() {
        if let ExprKind::Call { callee, .. } = node.kind {
            let callee = expr.without_parentheses(callee);
            is_listed[callee.index()] &= !is_name(expr.node(callee));
        }
    }
    let mut depths = vec![0; expr.nodes().len()];
    let mut found = Vec::new();
    // children precede their parents, and a depth is that of the parent plus 1
    for (id, node) in expr.iter().rev() {
        let value = match node.kind {
            ExprKind::Parenthesized(_) => None,
            _ if is_listed[id.index()] => trace.value(id),
            _ => None,
        };
        for child in node.kind.children() {
            depths[child.index()] = depths[id.index()] + usize::from(value.is_some());
        }
        if let Some(value) = value {
            found.push(NodeValue {
                span: node.span,
                value: value.clone(),
                depth: depths[id.index()],
                is_literal: is_literal(program, id),
            });
        }
    }
    found.sort_by_key(|node| (node.span.start, node.span.end));
    found
}

fn is_literal(program: &Program, node: ExprId) -> bool {
    match program.expr().node(node).kind {
        ExprKind::Unary { operand, .. } => {
            matches!(program.expr().node(operand).kind, ExprKind::Literal { .. })
        }
        ref kind => matches!(kind, ExprKind::Literal { .. }),
    }
}

/// Whether a node is a name in Python's `ast`, where `True`, `False` and `None` are constants.
fn is_name(node: &Node) -> bool {
    match &node.kind {
        ExprKind::Name(name) => !matches!(&**name, "True" | "False" | "None"),
        _ => false,
    }
}

/// The median of every input over the rows, the lower one of two.
pub fn medians(program: &Program, table: &JobTable, rows: &[usize]) -> Vec<Value> {
    let inputs = program.inputs().iter();
    inputs
        // 0, as a formula gets it where no job has the input
        .map(|name| median(table, name, rows).unwrap_or(Value::Int(0)))
        .collect()
}

/// `None` if there are no rows, or no column of this name.
fn median(table: &JobTable, name: &str, rows: &[usize]) -> Option<Value> {
    let column = table.column(name)?;
    let middle = rows.len().checked_sub(1)? / 2;
    let mut rows = rows.to_vec();
    let (_, row, _) = rows.select_nth_unstable_by(middle, |&left, &right| {
        column
            .nearest_double(left)
            .total_cmp(&column.nearest_double(right))
    });
    Some(column.value(*row))
}

/// Evaluates a program once; `None` if the budget is spent.
pub fn evaluate(
    program: &Program,
    inputs: &[Value],
    budget: &mut WorkBudget,
) -> Option<Result<Value, EvalError>> {
    budget.take(row_work(program))?;
    // a new one, so that the work counted is that of this evaluation alone
    let mut interpreter = program.interpreter(Python::new());
    let result = interpreter.evaluate(inputs);
    budget.charge(interpreter.arithmetic().work());
    Some(result)
}

/// A number as the nearest double: infinite if it is too large, `None` if it is not a number.
pub fn nearest_double(value: &Value) -> Option<f64> {
    match (value.to_f64(), value) {
        (None, Value::Big(big)) if big.is_negative() => Some(f64::NEG_INFINITY),
        (None, Value::Big(_)) => Some(f64::INFINITY),
        (double, _) => double,
    }
}
