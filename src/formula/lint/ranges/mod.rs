//! Range analysis: the numbers that each expression of a formula can have.
//!
//! Enters: a tree, a schema, and optionally narrower ranges of the inputs ([`Ranges`]). Leaves:
//! [`Facts`], which give for each node what is [`Known`] about it: bounds of its value, that it
//! always fails, or nothing. The intervals are computed from the leaves to the root; conditions do
//! not narrow them.

mod interval;

pub use interval::{Interval, NumberType, Ranges};
pub(super) use interval::{Rounded, comparison, is_monotonic, widened};

use super::aggregated;
use crate::formula::name_resolution::Resolution;
use crate::formula::program::literal_value;
use crate::formula::syntax::{Expr, ExprId, ExprKind, Keyword};
use crate::python::{
    Arithmetic, BinaryOperator, BooleanOperator, ComparisonOperator, ErrorKind, Function, Python,
    PythonVersion, Raised, UnaryOperator, Value, bind,
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
        Self::from_interval(Interval::rounded(kind, low, high))
    }

    fn from_interval(interval: Option<Interval>) -> Self {
        match interval {
            Some(interval) => Self::Number(interval),
            None => Self::Anything,
        }
    }

    fn from_value(value: &Value) -> Self {
        match value {
            Value::None | Value::Function(_) => Self::Object(value.clone()),
            value => Self::from_interval(Interval::from_value(value)),
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
        match self.all.last() {
            Some(fact) => &fact.known,
            None => &Known::Anything,
        }
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
        facts: Facts {
            all: Vec::with_capacity(expr.nodes().len()),
        },
    };
    for node in expr.nodes() {
        let known = analysis.node(&node.kind, schema, ranges);
        analysis.facts.all.push(Fact {
            known,
            reachable: false,
            conditional: false,
        });
    }
    let mut facts = analysis.facts;
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
    let mut evaluated = Vec::new();
    match kind {
        ExprKind::Conditional {
            then,
            condition,
            otherwise,
        } => {
            let known = &facts.at(*condition).known;
            evaluated.push((*condition, false));
            match known.truth() {
                // a condition that fails evaluates no branch
                _ if known.has_no_value() => {}
                Some(true) => evaluated.push((*then, false)),
                Some(false) => evaluated.push((*otherwise, false)),
                None => evaluated.extend([(*then, true), (*otherwise, true)]),
            }
        }
        ExprKind::Boolean { op, operands } => {
            let mut is_conditional = false;
            for &operand in operands {
                evaluated.push((operand, is_conditional));
                let known = &facts.at(operand).known;
                let truth = known.truth();
                // the first operand that decides or fails is the last that is evaluated
                if known.has_no_value() || truth == Some(*op == BooleanOperator::Or) {
                    break;
                }
                is_conditional |= truth.is_none();
            }
        }
        ExprKind::Comparison { operands, .. } => {
            for (index, &operand) in operands.iter().enumerate() {
                // the first two are always compared; the others only if the chain goes on
                evaluated.push((operand, index > 1));
            }
        }
        kind => {
            for child in kind.children() {
                evaluated.push((child, false));
            }
        }
    }
    evaluated
}

/// The analysis of a formula, of which the nodes up to some have been visited.
struct Analysis<'e> {
    expr: &'e Expr,
    python: PythonVersion,
    facts: Facts,
}

impl Analysis<'_> {
    fn known(&self, node: ExprId) -> &Known {
        &self.facts.at(node).known
    }

    /// The numbers of all these nodes; `None` if one may be anything else.
    fn numbers(&self, nodes: &[ExprId]) -> Option<Vec<Interval>> {
        let mut numbers = Vec::with_capacity(nodes.len());
        for &node in nodes {
            numbers.push(self.known(node).number()?);
        }
        Some(numbers)
    }

    /// The values of all these nodes, if they are constants.
    fn values(&self, nodes: &[ExprId]) -> Option<Vec<Value>> {
        let mut values = Vec::with_capacity(nodes.len());
        for &node in nodes {
            values.push(self.known(node).value()?);
        }
        Some(values)
    }

    fn have_values(&self, nodes: &[ExprId]) -> bool {
        !nodes.iter().any(|&node| self.known(node).has_no_value())
    }

    fn node(&self, kind: &ExprKind, schema: &Schema, ranges: &Ranges) -> Known {
        match kind {
            ExprKind::Literal { kind, text } => match literal_value(*kind, text, self.python) {
                Ok(value) => Known::from_value(&value),
                // beyond the limits of this crate, CPython may have a value
                Err(_) => Known::Anything,
            },
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
            kind if !self.have_values(&kind.children()) => Known::Never,
            ExprKind::Unary { op, operand } => self.unary(*op, *operand),
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

    fn unary(&self, op: UnaryOperator, operand: ExprId) -> Known {
        if let Some(value) = self.known(operand).value()
            && let Some(folded) = Known::folded(self.python().unary(op, &value))
        {
            return folded;
        }
        match self.known(operand) {
            Known::Number(number) => interval::unary(op, *number),
            _ => Known::Anything,
        }
    }

    fn binary(&self, op: BinaryOperator, left: ExprId, right: ExprId) -> Known {
        if let Some(values) = self.values(&[left, right])
            && let Some(folded) = Known::folded(self.python().binary(op, &values[0], &values[1]))
        {
            return folded;
        }
        match (self.known(left), self.known(right)) {
            (Known::Number(x), Known::Number(y)) => interval::binary(op, *x, *y),
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
                so_far = Some(match so_far {
                    Some(so_far) => so_far.or(known),
                    None => known,
                });
            }
            if is_decided {
                break;
            }
        }
        so_far.unwrap_or(Known::Anything)
    }

    fn comparison(&self, ops: &[ComparisonOperator], operands: &[ExprId]) -> Known {
        // only the first two are evaluated for every job
        if !self.have_values(&operands[..operands.len().min(2)]) {
            return Known::Never;
        }
        let Some(numbers) = self.numbers(operands) else {
            return Known::Anything;
        };
        let mut truth = Some(true);
        for (op, pair) in ops.iter().zip(numbers.windows(2)) {
            if matches!(op, ComparisonOperator::In | ComparisonOperator::NotIn) {
                return Known::Anything;
            }
            match interval::comparison(*op, pair[0], pair[1]) {
                Some(true) => {}
                // one false link decides, though links before it may be unknown
                Some(false) => truth = Some(false),
                None if truth == Some(true) => truth = None,
                None => {}
            }
        }
        Interval::truth_values(truth)
    }

    fn call(&self, callee: ExprId, positional: &[ExprId], keywords: &[Keyword]) -> Known {
        let function = match self.known(callee) {
            Known::Object(Value::Function(function)) => *function,
            Known::Object(_) | Known::Number(_) => return Known::Fails(ErrorKind::Type),
            _ => return Known::Anything,
        };
        // arguments are counted before they are looked at, as in CPython
        if !is_taken(function, self.python, positional, keywords) {
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
        let Some(numbers) = self.numbers(if is_aggregate { items } else { positional }) else {
            return Known::Anything;
        };
        if is_aggregate {
            interval::call(function, &[], &numbers)
        } else {
            interval::call(function, &numbers, &[])
        }
    }
}

/// Whether a version of Python takes so many arguments with these names for a function.
pub(super) fn is_taken(
    function: Function,
    python: PythonVersion,
    positional: &[ExprId],
    keywords: &[Keyword],
) -> bool {
    let mut names = Vec::with_capacity(keywords.len());
    for keyword in keywords {
        names.push((&*keyword.name, ()));
    }
    bind(function, python, &vec![(); positional.len()], &names).is_ok()
}
