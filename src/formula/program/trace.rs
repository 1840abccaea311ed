//! One evaluation with the value of every sub-expression, and the summands that add up to the result.

use serde::Serialize;

use crate::diagnostic::Span;
use crate::formula::program::{EvalError, Program};
use crate::formula::syntax::{Expr, ExprId, ExprKind};
use crate::python::{BinaryOperator, BooleanOperator, Python, UnaryOperator, Value};

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
