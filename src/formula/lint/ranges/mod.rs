//! Range analysis: the numbers that each expression of a formula can have.
//!
//! Enters: a tree, a schema, and optionally narrower ranges of the inputs ([`Ranges`]). Leaves:
//! [`Facts`], which give for each node what is [`Known`] about it: bounds of its value, that it
//! always fails, or nothing. The intervals are computed from the leaves to the root; conditions do
//! not narrow them.

mod functions;
mod input_ranges;
mod interval;
mod operators;

pub(super) use crate::formula::lint::ranges::functions::is_monotonic;
pub use crate::formula::lint::ranges::input_ranges::Ranges;
pub use crate::formula::lint::ranges::interval::{Interval, NumberType};
pub(super) use crate::formula::lint::ranges::interval::{Rounded, widened};
pub(super) use crate::formula::lint::ranges::operators::comparison;

use crate::formula::lint::parents::aggregated;
use crate::formula::name_resolution::Resolution;
use crate::formula::program::literal_value;
use crate::formula::syntax::{Expr, ExprId, ExprKind, Keyword};
use crate::python::{
    Arithmetic, BinaryOperator, BooleanOperator, ComparisonOperator, ErrorKind, Function, Python,
    PythonVersion, Raised, Value, bind,
};
use crate::schema::Schema;

/// The work of an operation on constants, in operations on 64-bit words; nothing is known of one
/// that needs more.
const FUEL: u64 = 1 << 10;

/// What is known about an expression, over all jobs whose inputs are within their ranges.
#[derive(Debug, Clone)]
pub enum Known {
    /// Nothing: it may have any value or raise any error.
    Anything,
    /// It raises this error for every job.
    Fails(ErrorKind),
    /// It is not evaluated to the end for any job, because a part of it fails.
    Never,
    /// `None` or a function.
    Object(Value),
    /// It raises no error, and its value is one of these numbers.
    Number(Interval),
}

impl Known {
    /// The numbers between bounds that are computed; see [`Interval::rounded`].
    fn rounded(kind: NumberType, low: f64, high: f64) -> Self {
        Interval::rounded(kind, low, high).map_or(Self::Anything, Self::Number)
    }

    fn from_value(value: &Value) -> Self {
        match value {
            Value::None | Value::Function(_) => Self::Object(value.clone()),
            value => Interval::from_value(value).map_or(Self::Anything, Self::Number),
        }
    }

    /// What an operation on constants makes of them; `None` if that takes long.
    fn folded(result: Result<Value, Raised>) -> Option<Self> {
        match result {
            Ok(value) => Some(Self::from_value(&value)),
            // that a computation takes long does not prove that the result is large
            Err(raised)
                if raised.kind == ErrorKind::Limit && !raised.text.starts_with("an integer") =>
            {
                None
            }
            Err(raised) => Some(Self::Fails(raised.kind)),
        }
    }

    /// The numbers, if it is one without doubt.
    pub fn number(&self) -> Option<Interval> {
        match self {
            Self::Number(interval) => Some(*interval),
            _ => None,
        }
    }

    /// The value, if it is known.
    fn value(&self) -> Option<Value> {
        match self {
            Self::Object(value) => Some(value.clone()),
            known => known.number()?.value(),
        }
    }

    /// The truth value, if it is the same for all jobs.
    fn truth(&self) -> Option<bool> {
        match self {
            Self::Object(value) => Some(value.truth()),
            known => known.number()?.truth(),
        }
    }

    fn has_no_value(&self) -> bool {
        matches!(self, Self::Fails(_) | Self::Never)
    }

    /// What is known of an expression that is one or the other.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number(x), Self::Number(y)) => Self::Number(x.hull(y)),
            (x, y) if x.has_no_value() && y.has_no_value() => Self::Never,
            _ => Self::Anything,
        }
    }
}

/// What is known about one expression.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Over all jobs for which it is evaluated.
    pub known: Known,
    /// Whether it may be evaluated for a job.
    pub reachable: bool,
    /// Whether it is in a branch that not every job takes.
    pub conditional: bool,
}

/// What is known about every expression of a formula.
#[derive(Debug, Clone)]
pub struct Facts {
    all: Vec<Fact>,
}

impl Facts {
    /// What is known about one expression.
    pub fn at(&self, node: ExprId) -> &Fact {
        &self.all[node.index()]
    }

    /// The numbers that an expression can have, if it is a number without doubt.
    pub fn number(&self, node: ExprId) -> Option<Interval> {
        self.at(node).known.number()
    }

    /// The function that an expression names.
    pub fn function(&self, node: ExprId) -> Option<Function> {
        match self.at(node).known {
            Known::Object(Value::Function(function)) => Some(function),
            _ => None,
        }
    }

    /// Whether the operation itself fails for every job for which it is evaluated.
    pub fn always_fails(&self, node: ExprId) -> bool {
        matches!(self.at(node).known, Known::Fails(_))
    }

    /// What is known about the formula.
    pub fn result(&self) -> &Known {
        self.all.last().map_or(&Known::Anything, |fact| &fact.known)
    }
}

/// What is known about every expression of a formula, over all jobs whose inputs are within their
/// ranges.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "100 * fairshare_factor + min(ncpus, 64)".parse()?;
/// let facts = lint::analyze_ranges(formula.expr(), &Schema::openpbs(), &lint::Ranges::default());
/// assert_eq!(facts.result().number().unwrap().to_string(), "a float from 0 to 164");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn analyze_ranges(expr: &Expr, schema: &Schema, ranges: &Ranges) -> Facts {
    let mut analysis = Analysis {
        expr,
        python: schema.python(),
        known: Vec::with_capacity(expr.nodes().len()),
    };
    for node in expr.nodes() {
        let known = analysis.node(&node.kind, schema, ranges);
        analysis.known.push(known);
    }
    let Analysis { known, .. } = analysis;
    let facts = known.into_iter().map(|known| Fact {
        known,
        reachable: false,
        conditional: false,
    });
    let mut facts = Facts {
        all: facts.collect(),
    };
    // reachability goes from the root down, the other way than the values
    facts.all[expr.root().index()].reachable = true;
    for (id, node) in expr.iter().rev() {
        if !facts.at(id).reachable {
            continue;
        }
        for (child, is_conditional) in evaluated(&node.kind, &facts) {
            let conditional = is_conditional || facts.at(id).conditional;
            let fact = &mut facts.all[child.index()];
            (fact.reachable, fact.conditional) = (true, conditional);
        }
    }
    facts
}

/// The parts of an expression that may be evaluated, each with whether not every job evaluates it.
fn evaluated(kind: &ExprKind, facts: &Facts) -> Vec<(ExprId, bool)> {
    let known = |node: &ExprId| &facts.at(*node).known;
    match kind {
        ExprKind::Conditional {
            then,
            condition,
            otherwise,
        } => match known(condition).truth() {
            // a condition that fails evaluates no branch
            _ if known(condition).has_no_value() => vec![(*condition, false)],
            Some(true) => vec![(*condition, false), (*then, false)],
            Some(false) => vec![(*condition, false), (*otherwise, false)],
            None => vec![(*condition, false), (*then, true), (*otherwise, true)],
        },
        ExprKind::Boolean { op, operands } => {
            let continues = |node: &ExprId| {
                !known(node).has_no_value()
                    && known(node).truth() != Some(*op == BooleanOperator::Or)
            };
            // the first operand that decides or fails is evaluated itself
            let count = operands.iter().take_while(|node| continues(node)).count() + 1;
            let mut is_conditional = false;
            let evaluated = operands.iter().take(count).map(|node| {
                let is_node_conditional = is_conditional;
                is_conditional |= known(node).truth().is_none();
                (*node, is_node_conditional)
            });
            evaluated.collect()
        }
        ExprKind::Comparison { operands, .. } => operands
            .iter()
            .enumerate()
            // the first two are always compared; the others only if the chain goes on
            .map(|(index, operand)| (*operand, index > 1))
            .collect(),
        kind => kind
            .children()
            .into_iter()
            .map(|child| (child, false))
            .collect(),
    }
}

/// The analysis of a formula, of which the nodes up to some have been visited.
struct Analysis<'e> {
    expr: &'e Expr,
    python: PythonVersion,
    known: Vec<Known>,
}

impl Analysis<'_> {
    fn known(&self, node: ExprId) -> &Known {
        &self.known[node.index()]
    }

    /// The numbers of all these nodes; `None` if one may be anything else.
    fn numbers(&self, nodes: &[ExprId]) -> Option<Vec<Interval>> {
        nodes
            .iter()
            .map(|&node| self.known(node).number())
            .collect()
    }

    /// The values of all these nodes, if they are constants.
    fn values(&self, nodes: &[ExprId]) -> Option<Vec<Value>> {
        nodes.iter().map(|&node| self.known(node).value()).collect()
    }

    fn node(&self, kind: &ExprKind, schema: &Schema, ranges: &Ranges) -> Known {
        match kind {
            ExprKind::Literal { kind, text } => literal_value(*kind, text, self.python)
                .map_or(Known::Anything, |value| Known::from_value(&value)),
            ExprKind::Name(name) => match Resolution::from_schema(name, schema) {
                Resolution::Constant(value) => Known::from_value(&value),
                Resolution::Input => Known::Number(ranges.interval(name, schema)),
                Resolution::UnsupportedBuiltin => Known::Anything,
                Resolution::Undefined => Known::Fails(ErrorKind::Name),
            },
            ExprKind::Parenthesized(inner) => match self.known(*inner) {
                // the bracket does not fail itself: the error has the span of what is in it
                Known::Fails(_) => Known::Never,
                known => known.clone(),
            },
            ExprKind::Conditional {
                then,
                condition,
                otherwise,
            } => match self.known(*condition) {
                condition if condition.has_no_value() => Known::Never,
                condition => match condition.truth() {
                    Some(truth) => self.part(if truth { *then } else { *otherwise }),
                    // the condition itself may fail
                    None if matches!(condition, Known::Anything) => Known::Anything,
                    None => self.part(*then).or(self.part(*otherwise)),
                },
            },
            ExprKind::Boolean { op, operands } => self.boolean(*op, operands),
            ExprKind::Comparison {
                operators,
                operands,
            } => self.comparison(operators, operands),
            kind if kind
                .children()
                .iter()
                .any(|&child| self.known(child).has_no_value()) =>
            {
                Known::Never
            }
            ExprKind::Unary { op, operand } => {
                let folded = self
                    .values(&[*operand])
                    .and_then(|values| Known::folded(self.python().unary(*op, &values[0])));
                folded.unwrap_or_else(|| {
                    self.known(*operand)
                        .number()
                        .map_or(Known::Anything, |number| operators::unary(*op, number))
                })
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, *left, *right),
            ExprKind::Call {
                callee,
                positional,
                keywords,
            } => self.call(*callee, positional, keywords),
            _ => Known::Anything,
        }
    }

    fn python(&self) -> Python {
        Python::with_fuel(FUEL).of_version(self.python)
    }

    /// What is known of a part that is the value of the whole.
    fn part(&self, node: ExprId) -> Known {
        match self.known(node) {
            Known::Fails(_) => Known::Never,
            known => known.clone(),
        }
    }

    fn binary(&self, op: BinaryOperator, left: ExprId, right: ExprId) -> Known {
        if let Some(values) = self.values(&[left, right])
            && let Some(folded) = Known::folded(self.python().binary(op, &values[0], &values[1]))
        {
            return folded;
        }
        match (self.known(left), self.known(right)) {
            (Known::Number(x), Known::Number(y)) => operators::binary(op, *x, *y),
            (Known::Object(_), Known::Number(_)) | (Known::Number(_), Known::Object(_)) => {
                Known::Fails(ErrorKind::Type)
            }
            _ => Known::Anything,
        }
    }

    fn boolean(&self, op: BooleanOperator, operands: &[ExprId]) -> Known {
        let mut so_far: Option<Known> = None;
        for &operand in operands {
            let known = self.part(operand);
            let truth = known.truth();
            let is_decided = known.has_no_value() || truth == Some(op == BooleanOperator::Or);
            // an operand that never decides is not the result, unless it is the last one
            let is_result = truth.is_none() || is_decided || Some(&operand) == operands.last();
            if is_result {
                so_far = Some(so_far.map_or(known.clone(), |so_far| so_far.or(known)));
            }
            if is_decided {
                break;
            }
        }
        so_far.unwrap_or(Known::Anything)
    }

    fn comparison(&self, ops: &[ComparisonOperator], operands: &[ExprId]) -> Known {
        if operands
            .iter()
            // only these two are evaluated for every job
            .take(2)
            .any(|&operand| self.known(operand).has_no_value())
        {
            return Known::Never;
        }
        let is_ordered = ops
            .iter()
            .all(|op| !matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn));
        let Some(numbers) = self.numbers(operands).filter(|_| is_ordered) else {
            return Known::Anything;
        };
        let links: Vec<Option<bool>> = ops
            .iter()
            .zip(numbers.windows(2))
            .map(|(op, pair)| operators::comparison(*op, pair[0], pair[1]))
            .collect();
        // one false link decides, though links before it may be unknown
        let is_false = links.contains(&Some(false));
        let is_true = links.iter().all(|link| *link == Some(true));
        Interval::truth_values(if is_false {
            Some(false)
        } else {
            is_true.then_some(true)
        })
    }

    fn call(&self, callee: ExprId, positional: &[ExprId], keywords: &[Keyword]) -> Known {
        let function = match self.known(callee) {
            Known::Object(Value::Function(function)) => *function,
            Known::Object(_) | Known::Number(_) => return Known::Fails(ErrorKind::Type),
            _ => return Known::Anything,
        };
        let names: Vec<(&str, ())> = keywords
            .iter()
            .map(|keyword| (&*keyword.name, ()))
            .collect();
        // arguments are counted before they are looked at, as in CPython
        if bind(function, self.python, &vec![(); positional.len()], &names).is_err() {
            return Known::Fails(ErrorKind::Type);
        }
        if !keywords.is_empty() {
            return Known::Anything;
        }
        if let Some(values) = self.values(positional) {
            let folded =
                Known::folded(self.python().call(&Value::Function(function), &values, &[]));
            return folded.unwrap_or(Known::Anything);
        }
        let items = aggregated(self.expr, positional);
        let is_list = items != positional;
        let is_aggregate = match function {
            Function::Max | Function::Min => is_list || positional.len() > 1,
            Function::Sum => is_list,
            _ => false,
        };
        match (
            is_aggregate,
            self.numbers(if is_aggregate { items } else { positional }),
        ) {
            (true, Some(items)) => functions::call(function, &[], &items),
            (false, Some(arguments)) => functions::call(function, &arguments, &[]),
            (_, None) => Known::Anything,
        }
    }
}
