//! Templates that are affine in their constants: the value of a job is a sum of products of a constant and a number.
//!
//! Whether a template is, is decided on its tree: sums, differences, signs, products and quotients by what has no constant, and
//! conditionals on what has none. Such a part is evaluated as a formula of its own, so that it has Python's value, and the
//! values are combined as doubles. So nothing is lost to cancellation, as it would be if coefficients were differences of
//! two values of the whole formula.

use job_sort_formula::Formula;
use job_sort_formula::formula::Template;
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind};
use job_sort_formula::python::{BinaryOperator, UnaryOperator};
use job_sort_formula::rank::{OnError, ScorePrecision, score};
use jsf_site::RankedQueue;

/// The value of each job as a function of the constants.
pub(super) struct AffineValues {
    /// By row.
    rows: Vec<Affine>,
}

/// `free + coefficients · constants`
#[derive(Debug, Clone)]
pub(super) struct Affine {
    pub(super) free: f64,
    pub(super) coefficients: Vec<f64>,
}

/// The values of a part of the formula by row; `None` where Python raises an error.
enum Part {
    /// Without constants.
    Free(Vec<Option<f64>>),
    Affine(Vec<Option<Affine>>),
}

impl AffineValues {
    /// `None` if the template is not affine, or if a number in it is infinite.
    pub(super) fn new(template: &Template, queue: &RankedQueue) -> Option<Self> {
        let expr = template.expr();
        let has_constant = nodes_with_constants(template);
        let mut parts: Vec<Option<Part>> = (0..expr.nodes().len()).map(|_| None).collect();
        for (id, _) in expr.iter().filter(|(id, _)| has_constant[id.index()]) {
            let mut reader = PartReader { template, queue, has_constant: &has_constant, parts: &mut parts };
            let part = reader.read(id)?;
            parts[id.index()] = Some(Part::Affine(part));
        }
        let Some(Part::Affine(rows)) = parts.pop()? else { return None };
        // OpenPBS gives a job with an error the value 0
        let zero = Affine { free: 0.0, coefficients: vec![0.0; template.constants().len()] };
        let rows: Vec<Affine> = rows.into_iter().map(|row| row.unwrap_or_else(|| zero.clone())).collect();
        let is_finite = |row: &Affine| row.free.is_finite() && row.coefficients.iter().all(|number| number.is_finite());
        rows.iter().all(is_finite).then_some(Self { rows })
    }

    pub(super) fn row(&self, row: usize) -> &Affine {
        &self.rows[row]
    }
}

/// Whether each node contains a constant.
fn nodes_with_constants(template: &Template) -> Vec<bool> {
    let expr = template.expr();
    let mut has_constant = vec![false; expr.nodes().len()];
    for (id, node) in expr.iter() {
        has_constant[id.index()] = match &node.kind {
            ExprKind::Name(name) => index_of(template, name).is_some(),
            kind => kind.children().iter().any(|child| has_constant[child.index()]),
        };
    }
    has_constant
}

fn index_of(template: &Template, name: &str) -> Option<usize> {
    template.constants().iter().position(|constant| *constant.name == *name)
}

struct PartReader<'a> {
    template: &'a Template,
    queue: &'a RankedQueue,
    has_constant: &'a [bool],
    /// The parts of the nodes before this one, which each have one parent that takes them.
    parts: &'a mut [Option<Part>],
}

impl PartReader<'_> {
    /// The values of a node that contains a constant; `None` if it is not affine.
    fn read(&mut self, id: ExprId) -> Option<Vec<Option<Affine>>> {
        let expr = self.template.expr();
        match &expr.node(id).kind {
            ExprKind::Name(name) => {
                let mut coefficients = vec![0.0; self.template.constants().len()];
                coefficients[index_of(self.template, name)?] = 1.0;
                Some(vec![Some(Affine { free: 0.0, coefficients }); self.queue.table.len()])
            }
            ExprKind::Parenthesized(inner) => self.affine(*inner),
            ExprKind::Unary { op: UnaryOperator::Plus, operand } => self.affine(*operand),
            ExprKind::Unary { op: UnaryOperator::Minus, operand } => {
                Some(each(self.affine(*operand)?, |row| row.times(-1.0)))
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, *left, *right),
            ExprKind::Conditional { then, condition, otherwise } => self.conditional(*then, *condition, *otherwise),
            _ => None,
        }
    }

    fn binary(&mut self, op: BinaryOperator, left: ExprId, right: ExprId) -> Option<Vec<Option<Affine>>> {
        match op {
            BinaryOperator::Add => {
                Some(both(self.affine(left)?, self.affine(right)?, |left, right| Some(left.plus(right, 1.0))))
            }
            BinaryOperator::Subtract => {
                Some(both(self.affine(left)?, self.affine(right)?, |left, right| Some(left.plus(right, -1.0))))
            }
            BinaryOperator::Multiply => {
                let (affine, factor) = if self.has_constant[left.index()] { (left, right) } else { (right, left) };
                Some(both(self.affine(affine)?, self.free(factor)?, |row, factor| Some(row.times(factor))))
            }
            BinaryOperator::Divide => {
                let divided = |row: Affine, divisor: f64| (divisor != 0.0).then(|| row.over(divisor));
                Some(both(self.affine(left)?, self.free(right)?, divided))
            }
            _ => None,
        }
    }

    fn conditional(&mut self, then: ExprId, condition: ExprId, otherwise: ExprId) -> Option<Vec<Option<Affine>>> {
        let condition = self.condition(condition)?;
        let then = self.affine(then)?;
        let otherwise = self.affine(otherwise)?;
        let branches = then.into_iter().zip(otherwise).zip(condition);
        let chosen = branches.map(|((then, otherwise), condition)| match condition {
            Some(1.0) => then,
            Some(_) => otherwise,
            None => None,
        });
        Some(chosen.collect())
    }

    /// A part with or without constants as an affine function.
    fn affine(&mut self, id: ExprId) -> Option<Vec<Option<Affine>>> {
        let without = vec![0.0; self.template.constants().len()];
        match self.part(id)? {
            Part::Affine(rows) => Some(rows),
            Part::Free(values) => {
                let affine = |free| Affine { free, coefficients: without.clone() };
                Some(values.into_iter().map(|value| value.map(affine)).collect())
            }
        }
    }

    /// A part without constants.
    fn free(&mut self, id: ExprId) -> Option<Vec<Option<f64>>> {
        match self.part(id)? {
            Part::Free(values) => Some(values),
            Part::Affine(_) => None,
        }
    }

    fn part(&mut self, id: ExprId) -> Option<Part> {
        match self.has_constant[id.index()] {
            true => self.parts[id.index()].take(),
            false => self.evaluated(&text_of(self.template.expr(), id)).map(Part::Free),
        }
    }

    /// 1 where a condition without constants is true, 0 where it is false.
    fn condition(&mut self, id: ExprId) -> Option<Vec<Option<f64>>> {
        if self.has_constant[id.index()] {
            return None;
        }
        self.evaluated(&format!("1 if {} else 0", text_of(self.template.expr(), id)))
    }

    fn evaluated(&self, text: &str) -> Option<Vec<Option<f64>>> {
        let program = Formula::parse(text).ok()?.compile(&self.queue.schema).ok()?;
        let scores = score(&program, &self.queue.table, ScorePrecision::Double, OnError::Null);
        let values = scores.values().into_iter().enumerate();
        Some(values.map(|(row, value)| scores.error(row).is_none().then_some(value)).collect())
    }
}

/// The text of a part in parentheses, on lines of their own: it may contain a comment.
fn text_of(expr: &Expr, id: ExprId) -> String {
    format!("(\n{}\n)", expr.node(id).span.slice(expr.text()))
}

impl Affine {
    fn times(mut self, factor: f64) -> Self {
        self.free *= factor;
        self.coefficients.iter_mut().for_each(|coefficient| *coefficient *= factor);
        self
    }

    fn over(mut self, divisor: f64) -> Self {
        self.free /= divisor;
        self.coefficients.iter_mut().for_each(|coefficient| *coefficient /= divisor);
        self
    }

    fn plus(mut self, other: Self, sign: f64) -> Self {
        self.free += sign * other.free;
        let pairs = self.coefficients.iter_mut().zip(other.coefficients);
        pairs.for_each(|(coefficient, other)| *coefficient += sign * other);
        self
    }
}

fn each(rows: Vec<Option<Affine>>, change: impl Fn(Affine) -> Affine) -> Vec<Option<Affine>> {
    rows.into_iter().map(|row| row.map(&change)).collect()
}

fn both<T>(
    left: Vec<Option<Affine>>,
    right: Vec<Option<T>>,
    combine: impl Fn(Affine, T) -> Option<Affine>,
) -> Vec<Option<Affine>> {
    left.into_iter().zip(right).map(|(left, right)| combine(left?, right?)).collect()
}
