//! A second interpreter, of the syntax tree, that records the value or the error of every part that
//! it evaluates.

use job_sort_formula::Schema;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind, LiteralKind};
use job_sort_formula::python::{BooleanOperator, ErrorKind, Python, Raised, Value};

/// The result of a part; an error only if its own operation raised it.
pub type Seen = (ExprId, Result<Value, ErrorKind>);

pub struct Tracer<'e> {
    pub expr: &'e Expr,
    pub schema: &'e Schema,
    pub inputs: &'e dyn Fn(&str) -> Value,
    pub seen: Vec<Seen>,
    python: Python,
}

impl<'e> Tracer<'e> {
    pub fn new(expr: &'e Expr, schema: &'e Schema, inputs: &'e dyn Fn(&str) -> Value) -> Self {
        Self {
            expr,
            schema,
            inputs,
            seen: Vec::new(),
            python: Python::new(),
        }
    }

    /// The value of a part, or `None` if it or a part of it raised an error.
    pub fn value(&mut self, id: ExprId) -> Option<Value> {
        let result = self.parts(id)?;
        self.seen
            .push((id, result.clone().map_err(|raised| raised.kind)));
        result.ok()
    }

    fn values(&mut self, ids: &[ExprId]) -> Option<Vec<Value>> {
        ids.iter().map(|&id| self.value(id)).collect()
    }

    fn parts(&mut self, id: ExprId) -> Option<Result<Value, Raised>> {
        let expr = self.expr;
        Some(match &expr.node(id).kind {
            ExprKind::Literal { kind, text } => Ok(literal(*kind, text)),
            ExprKind::Name(name) => match Resolution::from_schema(name, self.schema) {
                Resolution::Constant(value) => Ok(value),
                Resolution::Input => Ok((self.inputs)(name)),
                _ => Err(Raised::new(ErrorKind::Name, "")),
            },
            ExprKind::Unary { op, operand } => {
                let x = self.value(*operand)?;
                self.python.unary(*op, &x)
            }
            ExprKind::Binary { op, left, right } => {
                let (x, y) = (self.value(*left)?, self.value(*right)?);
                self.python.binary(*op, &x, &y)
            }
            ExprKind::Comparison {
                operators,
                operands,
            } => {
                let mut left = self.value(operands[0])?;
                let mut result = Ok(Value::Bool(true));
                for (&op, &operand) in operators.iter().zip(&operands[1..]) {
                    let right = self.value(operand)?;
                    result = self.python.compare(op, &left, &right).map(Value::Bool);
                    if !matches!(result, Ok(Value::Bool(true))) {
                        break;
                    }
                    left = right;
                }
                result
            }
            ExprKind::Boolean { op, operands } => {
                let mut value = self.value(operands[0])?;
                for &operand in &operands[1..] {
                    if value.truth() == (*op == BooleanOperator::Or) {
                        break;
                    }
                    value = self.value(operand)?;
                }
                Ok(value)
            }
            ExprKind::Conditional {
                then,
                condition,
                otherwise,
            } => {
                let holds = self.value(*condition)?.truth();
                Ok(self.value(if holds { *then } else { *otherwise })?)
            }
            ExprKind::Call {
                callee,
                positional,
                keywords,
            } => {
                let callee = self.value(*callee)?;
                let by_place = self.values(positional)?;
                let named = keywords
                    .iter()
                    .map(|keyword| Some((&*keyword.name, self.value(keyword.value)?)));
                let named = named.collect::<Option<Vec<_>>>()?;
                self.python.call(&callee, &by_place, &named)
            }
            ExprKind::Parenthesized(inner) => Ok(self.value(*inner)?),
            ExprKind::Tuple(items) => Ok(Value::tuple(self.values(items)?)),
            ExprKind::List(items) => Ok(Value::list(self.values(items)?)),
            ExprKind::Unsupported { .. } => return None,
        })
    }
}

fn literal(kind: LiteralKind, text: &str) -> Value {
    match kind {
        LiteralKind::Float => Value::Float(text.parse().unwrap()),
        LiteralKind::Integer => Value::int(text.parse().unwrap()),
    }
}
