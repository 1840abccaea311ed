//! Range analysis: the numbers that each expression of a formula can have.
//!
//! Enters: a tree, a schema, and optionally narrower ranges of the inputs ([`Ranges`]). Leaves:
//! [`Facts`], which give for each node what is [`Known`] about it: bounds of its value, that it
//! always fails, or nothing. The [`Interval`]s are computed from the leaves to the root, by Python's
//! operators and functions on them; conditions do not narrow them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Div, Mul};

use num_traits::ToPrimitive;

use crate::aggregated;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::program::literal_value;
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind, Keyword};
use job_sort_formula::python::{
    BinaryOperator, BooleanOperator, ComparisonOperator, ErrorKind, Function, MAX_EXACT_FLOAT,
    Python, PythonVersion, Raised, UnaryOperator, Value, real_function,
};
use job_sort_formula::schema::{InputType, Range, Schema};

/// The work of an operation on constants, in operations on 64-bit words; nothing is known of one
/// that needs more.
const CONSTANT_WORK: u64 = 1 << 10;

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

    /// Whether an exception ends the evaluation for every job. A complex number ends none: it may
    /// be the result.
    pub fn always_raises(&self) -> bool {
        let mut facts = self.all.iter();
        self.result().has_no_value()
            && !facts.any(|fact| matches!(fact.known, Known::Fails(ErrorKind::Complex)))
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
/// use job_sort_formula::Formula;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "100 * fairshare_factor + min(ncpus, 64)".parse()?;
/// let facts = jsf_lint::analyze_ranges(formula.expr(), &Schema::openpbs(), &jsf_lint::Ranges::default());
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
        nodes
            .iter()
            .map(|&node| self.known(node).number())
            .collect()
    }

    /// What an operation makes of these nodes, if they are constants, and if it does not take long.
    fn folded(
        &self,
        nodes: &[ExprId],
        operation: impl FnOnce(&Python, &[Value]) -> Result<Value, Raised>,
    ) -> Option<Known> {
        let values: Option<Vec<_>> = nodes.iter().map(|&node| self.known(node).value()).collect();
        let python = Python::with_work_limit(CONSTANT_WORK).of_version(self.python);
        match operation(&python, &values?) {
            Ok(value) => Some(Known::from_value(&value)),
            // that a computation takes long does not prove that the result is large
            Err(raised)
                if raised.kind == ErrorKind::Limit && !raised.text.starts_with("an integer") =>
            {
                None
            }
            Err(raised) => Some(Known::Fails(raised.kind)),
        }
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
            ExprKind::Parenthesized(inner) => self.part(*inner),
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

    /// What is known of a part that is the value of the whole, which does not fail itself: the error
    /// has the span of the part.
    fn part(&self, node: ExprId) -> Known {
        match self.known(node) {
            Known::Fails(_) => Known::Never,
            known => known.clone(),
        }
    }

    fn unary(&self, op: UnaryOperator, operand: ExprId) -> Known {
        let folded = self.folded(&[operand], |python, values| python.unary(op, &values[0]));
        folded.unwrap_or_else(|| match self.known(operand) {
            Known::Number(number) => unary(op, *number),
            _ => Known::Anything,
        })
    }

    fn binary(&self, op: BinaryOperator, left: ExprId, right: ExprId) -> Known {
        let folded = self.folded(&[left, right], |python, values| {
            python.binary(op, &values[0], &values[1])
        });
        folded.unwrap_or_else(|| match (self.known(left), self.known(right)) {
            (Known::Number(x), Known::Number(y)) => binary(op, *x, *y),
            // `None` and functions support no operator
            (Known::Object(_), Known::Number(_)) | (Known::Number(_), Known::Object(_)) => {
                Known::Fails(ErrorKind::Type)
            }
            _ => Known::Anything,
        })
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
        // never empty: `and` and `or` have two operands at least
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
        if ops.contains(&ComparisonOperator::In) || ops.contains(&ComparisonOperator::NotIn) {
            return Known::Anything;
        }
        let links = ops.iter().zip(numbers.windows(2));
        let truths: Vec<_> = links
            .map(|(op, pair)| comparison(*op, pair[0], pair[1]))
            .collect();
        Interval::truth_values(if truths.contains(&Some(false)) {
            // one false link decides, though links before it may be unknown
            Some(false)
        } else {
            (!truths.contains(&None)).then_some(true)
        })
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
        let callee = Value::Function(function);
        let folded = self.folded(positional, |python, values| {
            python.call(&callee, values, &[])
        });
        if let Some(folded) = folded {
            return folded;
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
        let (arguments, items) = numbers.split_at(if is_aggregate { 0 } else { numbers.len() });
        call(function, arguments, items)
    }
}

/// Whether a version of Python takes so many arguments with these names for a function.
pub(super) fn is_taken(
    function: Function,
    python: PythonVersion,
    positional: &[ExprId],
    keywords: &[Keyword],
) -> bool {
    let names: Vec<&str> = keywords.iter().map(|keyword| &*keyword.name).collect();
    function.takes(python, positional.len(), &names)
}

/// Larger numbers are in no interval: an operation on them may overflow.
const MAX_BOUND: f64 = 1e300;

/// The types of the numbers in an [`Interval`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberType {
    /// Integers and truth values.
    Int,
    /// Floats.
    Float,
    /// Both, as OpenPBS prints an amount of a float resource without decimals as an integer.
    Either,
}

impl NumberType {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "an int",
            Self::Float => "a float",
            Self::Either => "an int or a float",
        }
    }

    /// The type of an arithmetic operation on this and another type.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Float, _) | (_, Self::Float) => Self::Float,
            (Self::Int, Self::Int) => Self::Int,
            _ => Self::Either,
        }
    }
}

/// The finite numbers between two bounds, both included. It can contain numbers that no job gives,
/// but it lacks none.
///
/// ```
/// use job_sort_formula::Value;
/// use jsf_lint::{Interval, NumberType};
///
/// let share = Interval::new(NumberType::Float, 0.0, 1.0);
/// assert!(share.contains(&Value::Float(0.5)) && share.contains_zero());
/// assert!(!share.contains(&Value::Int(2)));
/// assert_eq!(share.to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    kind: NumberType,
    /// The least number.
    pub low: f64,
    /// The greatest number.
    pub high: f64,
}

impl Interval {
    /// The numbers of a type from `low` to `high`.
    pub fn new(kind: NumberType, low: f64, high: f64) -> Self {
        // a zero is positive, so that the sign of a quotient does not depend on it
        let (low, high) = (low + 0.0, high + 0.0);
        match kind {
            NumberType::Int => Self {
                kind,
                // no integer lies between a bound and the next integer
                low: low.ceil(),
                high: high.floor(),
            },
            _ => Self { kind, low, high },
        }
    }

    /// The numbers with their signs changed.
    pub(super) fn negated(self) -> Self {
        Self::new(self.kind, -self.high, -self.low)
    }

    /// A single number; an integer beyond 2^53 is between the doubles around it. `None` for what is
    /// no number, for nan and for what is too large.
    pub fn from_value(value: &Value) -> Option<Self> {
        let (kind, number) = match value {
            Value::Bool(truth) => (NumberType::Int, f64::from(u8::from(*truth))),
            Value::Int(number) => (NumberType::Int, *number as f64),
            Value::Big(number) => (NumberType::Int, number.digits().to_f64()?),
            Value::Float(number) => (NumberType::Float, *number),
            _ => return None,
        };
        Self::rounded(kind, number, number)
    }

    /// The interval of results that are computed with these bounds, whose integers beyond 2^53 are
    /// rounded; `None` if a result may be too large, or none.
    fn rounded(kind: NumberType, mut low: f64, mut high: f64) -> Option<Self> {
        // written so that a nan is refused too
        if !(low.abs() <= MAX_BOUND && high.abs() <= MAX_BOUND && low <= high) {
            return None;
        }
        if kind != NumberType::Float {
            // a conversion to a double may have rounded it inwards
            if low.abs() >= MAX_EXACT_FLOAT {
                low = low.next_down();
            }
            if high.abs() >= MAX_EXACT_FLOAT {
                high = high.next_up();
            }
        }
        Some(Self::new(kind, low, high))
    }

    /// The types of the numbers.
    pub fn kind(&self) -> NumberType {
        self.kind
    }

    /// Its bounds.
    pub(super) fn range(&self) -> Range {
        Range::new(self.low, self.high)
    }

    /// The number, if there is only one.
    pub fn single(&self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }

    /// The value, if there is only one, of one type; a float zero has two signs.
    fn value(&self) -> Option<Value> {
        match (self.single()?, self.kind) {
            (number, NumberType::Int) if number.abs() <= MAX_EXACT_FLOAT => {
                Some(Value::Int(number as i64))
            }
            (number, NumberType::Float) if number != 0.0 => Some(Value::Float(number)),
            _ => None,
        }
    }

    /// The greatest absolute value.
    pub(super) fn size(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The least absolute value.
    fn least_size(&self) -> f64 {
        if self.contains_zero() {
            0.0
        } else {
            self.low.abs().min(self.high.abs())
        }
    }

    /// Whether 0 is between the bounds.
    pub fn contains_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The truth value in Python, if all numbers have the same.
    pub(super) fn truth(&self) -> Option<bool> {
        if self.single() == Some(0.0) {
            Some(false)
        } else {
            (!self.contains_zero()).then_some(true)
        }
    }

    /// Whether `value` is one of the numbers.
    pub fn contains(&self, value: &Value) -> bool {
        let is_within = |op, bound| {
            Python::new()
                .compare(op, value, &Value::Float(bound))
                // what cannot be compared with a number is in no interval
                .unwrap_or(false)
        };
        let has_type = match value {
            Value::Float(_) => self.kind != NumberType::Int,
            _ => self.kind != NumberType::Float,
        };
        has_type
            && is_within(ComparisonOperator::GreaterOrEqual, self.low)
            && is_within(ComparisonOperator::LessOrEqual, self.high)
    }

    /// The interval from the lower to the higher of the bounds of both.
    fn hull(self, other: Self) -> Self {
        let kind = if self.kind == other.kind {
            self.kind
        } else {
            NumberType::Either
        };
        Self {
            kind,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The truth values that a condition can have.
    fn truth_values(truth: Option<bool>) -> Known {
        let low = f64::from(u8::from(truth == Some(true)));
        let high = f64::from(u8::from(truth != Some(false)));
        Known::Number(Self::new(NumberType::Int, low, high))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [kind, low, high] = [
            self.kind.name().to_owned(),
            Rounded(self.low).to_string(),
            Rounded(self.high).to_string(),
        ];
        if self.low == self.high {
            write!(f, "{kind}, {low}")
        } else if low == high {
            write!(f, "{kind}, about {low}")
        } else {
            write!(f, "{kind} from {low} to {high}")
        }
    }
}

/// The bounds moved outward, but not to the other side of 0.
pub(super) fn widened(bounds: Range, below: f64, above: f64) -> Range {
    with_signs_of(bounds, bounds.least - below, bounds.most + above)
}

/// Bounds that were moved outward, but not to the other side of 0: rounding does not change the
/// sign.
fn with_signs_of(bounds: Range, least: f64, most: f64) -> Range {
    Range {
        least: if bounds.least >= 0.0 {
            least.max(0.0)
        } else {
            least
        },
        most: if bounds.most <= 0.0 {
            most.min(0.0)
        } else {
            most
        },
    }
}

/// A few units in the last place, by which the C library may be wrong.
fn library_error(result: f64) -> f64 {
    // the least normal number, because the relative error of a subnormal is larger
    result.abs() * 8.0 * f64::EPSILON + f64::MIN_POSITIVE
}

/// Displays a number as people write it: an integer, or rounded to six significant digits.
pub(super) struct Rounded(pub f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        // through the text, which rounds in base ten
        let rounded: f64 = format!("{:.5e}", self.0).parse().unwrap_or(self.0);
        match magnitude {
            0.0 => f.write_str("0"),
            ..1e15 if self.0.fract() == 0.0 => write!(f, "{}", self.0),
            1e-4..1e15 => write!(f, "{rounded}"),
            _ => write!(f, "{rounded:e}"),
        }
    }
}

/// 2^128, which no amount of a resource exceeds: the server holds floats as C floats, all other
/// amounts in 64 bits with a unit.
const MAX_AMOUNT: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

/// The numbers that each input can have. An input without an explicit range has that of the schema,
/// limited to ±2^128.
///
/// ```
/// use job_sort_formula::{Schema, Value};
/// use jsf_lint::Ranges;
///
/// let mut ranges = Ranges::default();
/// ranges.observe("ncpus", [Value::Int(1), Value::Int(64)]);
/// let schema = Schema::openpbs();
/// assert_eq!(ranges.interval("ncpus", &schema).to_string(), "an int from 1 to 64");
/// assert_eq!(ranges.interval("fairshare_perc", &schema).to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    named: BTreeMap<Box<str>, Interval>,
}

impl Ranges {
    /// Sets the numbers that one input can have; they replace those of the schema.
    pub fn set(&mut self, name: &str, interval: Interval) {
        self.named.insert(name.into(), interval);
    }

    /// Sets the range of one input to the smallest interval that contains these values; changes
    /// nothing if there are none, or one is not finite.
    pub fn observe(&mut self, name: &str, seen: impl IntoIterator<Item = Value>) {
        let mut hull: Option<Interval> = None;
        for value in seen {
            let Some(interval) = Interval::from_value(&value) else {
                return;
            };
            hull = Some(match hull {
                Some(hull) => hull.hull(interval),
                None => interval,
            });
        }
        if let Some(hull) = hull {
            self.set(name, hull);
        }
    }

    /// The range that was set for an input; `None` if none was.
    pub fn explicit(&self, name: &str) -> Option<Interval> {
        self.named.get(name).copied()
    }

    /// The numbers that an input can have.
    ///
    /// Counts, sizes and durations are integers, and the fair-share numbers are floats. A float
    /// resource can be either: OpenPBS prints an amount without decimals as an integer.
    pub fn interval(&self, name: &str, schema: &Schema) -> Interval {
        if let Some(interval) = self.explicit(name) {
            return interval;
        }
        let (kind, range) = match schema.entry(name) {
            Some(entry) => match entry.input_type {
                InputType::Ratio => (NumberType::Float, entry.range),
                InputType::Count | InputType::Size | InputType::Duration => {
                    (NumberType::Int, entry.range)
                }
                _ => (NumberType::Either, entry.range),
            },
            None => (NumberType::Either, Range::ANY),
        };
        let low = range.least.max(-MAX_AMOUNT);
        Interval::new(kind, low, range.most.min(MAX_AMOUNT))
    }
}

/// `op x`.
fn unary(op: UnaryOperator, x: Interval) -> Known {
    match (op, x.kind()) {
        (UnaryOperator::Plus, _) => Known::Number(x),
        (UnaryOperator::Minus, _) => Known::Number(x.negated()),
        (UnaryOperator::Not, _) => Interval::truth_values(negated(x.truth())),
        (UnaryOperator::Invert, NumberType::Int) => {
            Known::rounded(NumberType::Int, -x.high - 1.0, -x.low - 1.0)
        }
        (UnaryOperator::Invert, NumberType::Float) => Known::Fails(ErrorKind::Type),
        (UnaryOperator::Invert, NumberType::Either) => Known::Anything,
    }
}

/// `x op y`. Rounding is monotonic, so that the bounds of a sum, a product or a quotient are
/// computed as Python computes them.
fn binary(op: BinaryOperator, x: Interval, y: Interval) -> Known {
    use BinaryOperator as Op;
    let kind = x.kind().with(y.kind());
    match op {
        Op::Add => Known::rounded(kind, x.low + y.low, x.high + y.high),
        Op::Subtract => Known::rounded(kind, x.low - y.high, x.high - y.low),
        Op::Multiply => corners(kind, x, y, Mul::mul),
        Op::Divide | Op::FloorDivide | Op::Modulo if y.single() == Some(0.0) => {
            Known::Fails(ErrorKind::ZeroDivision)
        }
        // may divide by zero, and is not bounded near it
        Op::Divide | Op::FloorDivide | Op::Modulo if y.contains_zero() => Known::Anything,
        Op::Divide => corners(NumberType::Float, x, y, Div::div),
        Op::FloorDivide => floor_quotient(kind, x, y),
        Op::Modulo => modulo(kind, x, y),
        Op::Power => power(x, y),
        Op::MatrixMultiply => Known::Fails(ErrorKind::Type),
        _ if kind == NumberType::Float => Known::Fails(ErrorKind::Type),
        _ if kind == NumberType::Either => Known::Anything,
        Op::ShiftLeft | Op::ShiftRight if y.high < 0.0 => Known::Fails(ErrorKind::Value),
        Op::ShiftLeft | Op::ShiftRight if y.low < 0.0 => Known::Anything,
        // a shift is a product with a power of two
        Op::ShiftLeft => corners(kind, x, y, |x, y| x * y.exp2()),
        // a shift moves a number towards 0 or -1, so that 0 bounds it on the other side
        Op::ShiftRight => Known::rounded(kind, x.low.min(0.0), x.high.max(0.0)),
        Op::BitAnd | Op::BitOr | Op::BitXor => bitwise(op, x, y),
    }
}

/// The least and the greatest of an operation that is monotonic in each operand.
fn corners(kind: NumberType, x: Interval, y: Interval, operation: fn(f64, f64) -> f64) -> Known {
    let Range { least, most } = Range::hull([
        operation(x.low, y.low),
        operation(x.low, y.high),
        operation(x.high, y.low),
        operation(x.high, y.high),
    ]);
    Known::rounded(kind, least, most)
}

fn floor_quotient(kind: NumberType, x: Interval, y: Interval) -> Known {
    let Known::Number(quotient) = corners(NumberType::Float, x, y, Div::div) else {
        return Known::Anything;
    };
    // rounding can carry a quotient to the next integer, and `//` of floats can be off by 1
    let slack = if kind == NumberType::Int { 0.0 } else { 1.0 };
    let low = quotient.low.next_down().floor() - slack;
    let high = quotient.high.next_up().floor() + slack;
    let mut signs = quotient.range();
    // a negative quotient that underflows to 0 is still below it
    if x.low < 0.0 && y.high > 0.0 || x.high > 0.0 && y.low < 0.0 {
        signs.least = signs.least.min(-f64::MIN_POSITIVE);
    }
    let Range { least, most } = with_signs_of(signs, low, high);
    Known::rounded(kind, least, most)
}

/// `x % y`, which has the sign of `y`.
fn modulo(kind: NumberType, x: Interval, y: Interval) -> Known {
    // the remainder of integers is at least 1 less than the divisor; that of floats may round to it
    let step = if kind == NumberType::Int { 1.0 } else { 0.0 };
    let (mut least, mut most) = (0.0, 0.0);
    if y.low > 0.0 {
        most = y.high - step;
        if x.low >= 0.0 {
            most = x.high.min(most);
        }
    } else {
        least = y.low + step;
        if x.high <= 0.0 {
            least = x.low.max(least);
        }
    }
    Known::rounded(kind, least, most)
}

/// `x ** y`; with `pow` of `math`, the result is always a float.
fn power(x: Interval, y: Interval) -> Known {
    let kind = match x.kind().with(y.kind()) {
        NumberType::Int if y.low >= 0.0 => NumberType::Int,
        NumberType::Int if y.high < 0.0 => NumberType::Float,
        NumberType::Int => NumberType::Either,
        kind => kind,
    };
    match y.single() {
        Some(exponent) if x.high < 0.0 && exponent.fract() != 0.0 => {
            Known::Fails(ErrorKind::Complex)
        }
        // 0 to a negative power is an error
        _ if x.low > 0.0 || x.low == 0.0 && y.low >= 0.0 => corner_powers(kind, x, y),
        // an even or an odd power
        Some(exponent) if exponent >= 0.0 && exponent.fract() == 0.0 => {
            let sizes = Interval::new(x.kind(), x.least_size(), x.size());
            match corner_powers(kind, sizes, y) {
                Known::Number(sizes) if exponent % 2.0 == 0.0 => Known::Number(sizes),
                Known::Number(sizes) if x.high <= 0.0 => Known::Number(sizes.negated()),
                Known::Number(sizes) => Known::Number(sizes.hull(sizes.negated())),
                other => other,
            }
        }
        _ => Known::Anything,
    }
}

/// Powers of numbers that are not negative, which are monotonic in the base and in the exponent.
fn corner_powers(kind: NumberType, x: Interval, y: Interval) -> Known {
    let Known::Number(powers) = corners(kind, x, y, f64::powf) else {
        return Known::Anything;
    };
    let Range { least, most } = widened(
        powers.range(),
        power_error(powers.low),
        power_error(powers.high),
    );
    // `0 ** 0` is 1
    let has_one = x.low == 0.0 && y.low == 0.0;
    Known::rounded(kind, least, if has_one { most.max(1.0) } else { most })
}

/// The error of a power: none of a whole number that is exact.
fn power_error(power: f64) -> f64 {
    if power == power.floor() && power.abs() <= MAX_EXACT_FLOAT {
        0.0
    } else {
        library_error(power)
    }
}

/// `x op y` for `& | ^` of integers, whose result has no bit above the highest of the operands.
fn bitwise(op: BinaryOperator, x: Interval, y: Interval) -> Known {
    if x.low < 0.0 || y.low < 0.0 {
        return Known::Anything;
    }
    let high = match op {
        BinaryOperator::BitAnd => x.high.min(y.high),
        // the next power of two, and one more because the logarithm is rounded
        _ => ((x.high.max(y.high) + 1.0).log2().ceil() + 1.0).exp2(),
    };
    Known::rounded(NumberType::Int, 0.0, high)
}

/// The truth value of `x op y`, if it is the same for all numbers.
pub(super) fn comparison(op: ComparisonOperator, x: Interval, y: Interval) -> Option<bool> {
    use ComparisonOperator as Op;
    match op {
        Op::Less => {
            if x.high < y.low {
                Some(true)
            } else {
                (x.low >= y.high).then_some(false)
            }
        }
        // there are no nans in an interval, so that the negation is exact
        Op::LessOrEqual => negated(comparison(Op::Less, y, x)),
        Op::Greater => comparison(Op::Less, y, x),
        Op::GreaterOrEqual => negated(comparison(Op::Less, x, y)),
        Op::Equal if x.high < y.low || y.high < x.low => Some(false),
        Op::Equal => {
            // beyond 2^53 a bound is the double of several integers
            let is_exact = x.size() < MAX_EXACT_FLOAT;
            (is_exact && x.single().is_some() && x.single() == y.single()).then_some(true)
        }
        Op::NotEqual => negated(comparison(Op::Equal, x, y)),
        Op::In | Op::NotIn => None,
    }
}

fn negated(truth: Option<bool>) -> Option<bool> {
    Some(!truth?)
}

/// `function(arguments…)` of numbers. `items` are those that an aggregate function combines.
fn call(function: Function, arguments: &[Interval], items: &[Interval]) -> Known {
    use Function as F;
    match (function, arguments) {
        (F::Max | F::Min, []) => extreme(function, items),
        (F::Sum, []) => sum(items),
        (F::Pow, &[x, y]) => match power(x, y) {
            // `math.pow` has no complex numbers: a `ValueError`
            Known::Fails(_) => Known::Fails(ErrorKind::Value),
            known => as_float(known),
        },
        (F::Log, &[x, base]) => match (real(F::Log, x), real(F::Log, base)) {
            (Known::Number(x), Known::Number(base)) => binary(BinaryOperator::Divide, x, base),
            _ => Known::Anything,
        },
        (F::Round, &[x, digits]) => round_to_digits(x, digits),
        (F::Abs, &[x]) => absolute(x),
        (F::Fabs, &[x]) => as_float(absolute(x)),
        (F::Float, &[x]) => as_float(Known::Number(x)),
        (F::Bool, &[x]) => Interval::truth_values(x.truth()),
        (F::Ceil, &[x]) => whole(x, f64::ceil),
        (F::Floor, &[x]) => whole(x, f64::floor),
        (F::Int | F::Trunc, &[x]) => whole(x, f64::trunc),
        (F::Round, &[x]) => whole(x, f64::round_ties_even),
        // not monotonic, so that the bounds of the argument say nothing
        (F::Sin | F::Cos, &[_]) => Known::rounded(NumberType::Float, -1.0, 1.0),
        (_, &[x]) => real(function, x),
        _ => Known::Anything,
    }
}

/// A function that rounds to integers.
fn whole(x: Interval, round: fn(f64) -> f64) -> Known {
    Known::rounded(NumberType::Int, round(x.low), round(x.high))
}

fn as_float(known: Known) -> Known {
    match known {
        Known::Number(x) => Known::rounded(NumberType::Float, x.low, x.high),
        other => other,
    }
}

fn absolute(x: Interval) -> Known {
    Known::Number(Interval::new(x.kind(), x.least_size(), x.size()))
}

/// `round(x, digits)`, which changes a float by half a unit at most, and not its sign.
fn round_to_digits(x: Interval, digits: Interval) -> Known {
    let places = match digits.single() {
        // so that `10 ** -places` is a normal double
        Some(places) if digits.kind() == NumberType::Int && places.abs() < 300.0 => places,
        _ => return Known::Anything,
    };
    // half a unit, a little more for its own rounding, and that of the result
    let unit = 10.0_f64.powf(-places) * 0.500_001 + x.size() * f64::EPSILON;
    let Range { least, most } = widened(x.range(), unit, unit);
    Known::rounded(x.kind(), least, most)
}

/// `min` and `max` of several numbers.
fn extreme(function: Function, items: &[Interval]) -> Known {
    let Some((&first, others)) = items.split_first() else {
        return Known::Anything;
    };
    let mut extreme = first;
    for item in others {
        let hull = extreme.hull(*item);
        extreme = if function == Function::Max {
            Interval::new(hull.kind(), extreme.low.max(item.low), hull.high)
        } else {
            Interval::new(hull.kind(), hull.low, extreme.high.min(item.high))
        };
    }
    Known::Number(extreme)
}

/// `sum`, wider by as much as the compensation of the rounding errors of floats can change it.
fn sum(items: &[Interval]) -> Known {
    let mut kind = NumberType::Int;
    let mut sum = Interval::new(NumberType::Int, 0.0, 0.0);
    // since 3.12, `sum` compensates errors of at most this size
    let mut size = 0.0;
    for item in items {
        kind = kind.with(item.kind());
        size += item.size();
        match binary(BinaryOperator::Add, sum, *item) {
            Known::Number(longer) => sum = longer,
            _ => return Known::Anything,
        }
    }
    let slack = if kind == NumberType::Int {
        0.0
    } else {
        size * f64::EPSILON * items.len() as f64
    };
    Known::rounded(kind, sum.low - slack, sum.high + slack)
}

/// A function of one number that is monotonic on its domain: the bounds of the result are the
/// results at the bounds.
fn real(function: Function, x: Interval) -> Known {
    let Some((domain, _)) = monotonic(function) else {
        return Known::Anything;
    };
    // all of it outside: an error for every job; a part: nothing is known
    if x.high < domain.least || domain.most < x.low {
        return Known::Fails(ErrorKind::Value);
    }
    if x.low < domain.least || domain.most < x.high {
        return Known::Anything;
    }
    let [Ok(low), Ok(high)] = [x.low, x.high].map(|bound| real_function(function, bound)) else {
        return Known::Anything;
    };
    let results = Range::hull([low, high]);
    let [below, above] = [results.least, results.most].map(library_error);
    let Range { least, most } = widened(results, below, above);
    Known::rounded(NumberType::Float, least, most)
}

/// The derivative of a function.
type Derivative = fn(f64) -> f64;

/// Where a function of one number is defined that is monotonic there, and its derivative, where that
/// is monotonic too. All of them but `acos` and `erfc` increase.
pub(super) fn monotonic(function: Function) -> Option<(Range, Option<Derivative>)> {
    use Function as F;
    use std::f64::consts::{LN_2, LN_10};
    let derivative: Option<Derivative> = match function {
        F::Sqrt => Some(|x| 0.5 / x.sqrt()),
        F::Log => Some(|x| 1.0 / x),
        F::Log2 => Some(|x| 1.0 / (x * LN_2)),
        F::Log10 => Some(|x| 1.0 / (x * LN_10)),
        F::Log1p => Some(|x| 1.0 / (1.0 + x)),
        F::Exp | F::Expm1 => Some(f64::exp),
        F::Exp2 => Some(|x| LN_2 * x.exp2()),
        _ => None,
    };
    let (least, most) = match function {
        F::Sqrt => (0.0, f64::MAX),
        // the least positive double, since 0 itself is a pole
        F::Log | F::Log2 | F::Log10 => (f64::from_bits(1), f64::MAX),
        F::Log1p => ((-1.0_f64).next_up(), f64::MAX),
        F::Acosh => (1.0, f64::MAX),
        F::Asin | F::Acos => (-1.0, 1.0),
        // both ends are poles
        F::Atanh => ((-1.0_f64).next_up(), 1.0_f64.next_down()),
        // an overflow is found where the bounds are computed
        F::Exp | F::Exp2 | F::Expm1 | F::Sinh | F::Asinh | F::Atan | F::Tanh => {
            (f64::MIN, f64::MAX)
        }
        F::Erf | F::Erfc | F::Cbrt | F::Degrees | F::Radians => (f64::MIN, f64::MAX),
        _ => return None,
    };
    Some((Range { least, most }, derivative))
}
