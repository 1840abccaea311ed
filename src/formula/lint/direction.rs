//! Which way a formula moves when one input grows and all others stay.

use crate::formula::lint::ranges::{Facts, Kinds, Values, inside};
use crate::formula::syntax::{Expr, NodeId, NodeKind};
use crate::python::MAX_EXACT_FLOAT;
use crate::python::{BinaryOperator, ComparisonOperator, Function, UnaryOperator};

/// How a value moves when one input grows.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::formula::lint::Direction;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "pow(2, -(fairshare_tree_usage / fairshare_perc))".parse()?;
/// let facts = lint::ranges(formula.expr(), &Schema::openpbs(), &lint::Ranges::default());
/// assert_eq!(lint::direction(formula.expr(), &facts, "fairshare_tree_usage"), Direction::Falling);
/// assert_eq!(lint::direction(formula.expr(), &facts, "fairshare_perc"), Direction::Rising);
/// assert_eq!(lint::direction(formula.expr(), &facts, "ncpus"), Direction::Constant);
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// It does not depend on the input.
    Constant,
    /// It never falls.
    Rising,
    /// It never rises.
    Falling,
    /// It may do either, or nothing is known.
    Either,
}

impl Direction {
    fn turned(self) -> Self {
        match self {
            Self::Rising => Self::Falling,
            Self::Falling => Self::Rising,
            same => same,
        }
    }

    /// Of a sum of both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant, one) | (one, Self::Constant) => one,
            _ if self == other => self,
            _ => Self::Either,
        }
    }

    /// Times a factor that has these values.
    fn times(self, factor: Values) -> Self {
        match self {
            Self::Constant => Self::Constant,
            _ if factor.least() >= 0.0 => self,
            _ if factor.most() <= 0.0 => self.turned(),
            _ => Self::Either,
        }
    }

    /// Nothing is known if it depends on the input at all.
    fn unclear(self) -> Self {
        if self == Self::Constant { self } else { Self::Either }
    }

    /// For a divisor: fine if it has one sign, of which `times` made no [`Direction::Either`].
    fn unless_signed(self) -> Self {
        if self == Self::Either { self } else { Self::Constant }
    }
}

/// Which way the whole formula moves when the input `name` grows, wherever it has a value.
///
/// `Rising` and `Falling` are certain up to the last bits in which the C library's functions may be off. They and
/// `Constant` also say that equal inputs give equal values, be they `0`, `0.0` or `-0.0`.
pub fn direction(expr: &Expr, facts: &Facts, name: &str) -> Direction {
    let size = expr.nodes().len();
    let mut walk = Walk { expr, facts, known: Vec::with_capacity(size), same: Vec::with_capacity(size) };
    for (id, node) in expr.iter() {
        let fact = facts.of(id);
        let direction = match walk.node(id, &node.kind, name) {
            _ if !fact.reached || fact.values.only().is_some() => Direction::Constant,
            // no order holds for a nan
            direction if fact.values.may_be_nan() => direction.unclear(),
            direction => direction,
        };
        let same = !fact.reached || is_one(fact.values) || walk.is_untouched(&node.kind, name);
        walk.known.push(direction);
        walk.same.push(same);
    }
    walk.known.last().copied().unwrap_or(Direction::Constant)
}

/// Whether there is one value only, of one type, and no zero of either sign: equal numbers are not always the same.
fn is_one(values: Values) -> bool {
    let kinds = values.kinds();
    let has_one_type = [Kinds::INT, Kinds::FLOAT, Kinds::BOOL].iter().any(|&kind| kinds.within(kind));
    values.only().is_some_and(|only| has_one_type && (only != 0.0 || !kinds.meets(Kinds::FLOAT)))
}

/// Whether an operand may turn from an exact integer to a float.
fn is_mixed(values: Values) -> bool {
    values.kinds().meets(Kinds::FLOAT) && values.kinds().meets(Kinds::WHOLE)
}

struct Walk<'e> {
    expr: &'e Expr,
    facts: &'e Facts,
    known: Vec<Direction>,
    /// Whether a part stays the same value, in its type and in the sign of its zeros too.
    same: Vec<bool>,
}

impl Walk<'_> {
    fn of(&self, node: NodeId) -> Direction {
        self.known[node.index()]
    }

    fn values(&self, node: NodeId) -> Values {
        self.facts.of(node).values
    }

    fn all(&self, nodes: &[NodeId]) -> Direction {
        nodes.iter().fold(Direction::Constant, |all, &node| all.with(self.of(node)))
    }

    /// Whether no part of it changes.
    fn is_untouched(&self, kind: &NodeKind, name: &str) -> bool {
        match kind {
            NodeKind::Name(other) => **other != *name,
            kind => self.are_same(&kind.children()),
        }
    }

    fn are_same(&self, nodes: &[NodeId]) -> bool {
        nodes.iter().all(|node| self.same[node.index()])
    }

    /// Of an operation that does not follow the order of its operands, or tells equal ones apart.
    fn unclear(&self, nodes: &[NodeId]) -> Direction {
        if self.are_same(nodes) { Direction::Constant } else { Direction::Either }
    }

    /// Whether the result is rounded for some operands and exact for others, which then are out of order: beyond 2^53
    /// that is where one of them, as it changes, is now an integer and now a float.
    fn is_rounded_unevenly(&self, operands: &[NodeId], result: Values) -> bool {
        let turns = |node: &NodeId| !self.same[node.index()] && is_mixed(self.values(*node));
        let is_large = |values: Values| values.most() > MAX_EXACT_FLOAT || values.least() < -MAX_EXACT_FLOAT;
        let sizes = || operands.iter().map(|&node| self.values(node)).chain([result]);
        operands.iter().any(turns) && sizes().any(is_large)
    }

    fn node(&self, id: NodeId, kind: &NodeKind, name: &str) -> Direction {
        match kind {
            NodeKind::Name(other) if **other == *name => Direction::Rising,
            NodeKind::Literal { .. } | NodeKind::Name(_) => Direction::Constant,
            NodeKind::Unary { op, operand } => self.unary(*op, *operand),
            NodeKind::Binary { left, right, .. } if self.is_rounded_unevenly(&[*left, *right], self.values(id)) => {
                Direction::Either
            }
            NodeKind::Binary { op, left, right } => self.binary(*op, *left, *right),
            NodeKind::Comparison { operators, operands } => self.comparison(operators, operands),
            NodeKind::Conditional { then, condition, otherwise } => match self.of(*condition) {
                Direction::Constant => self.of(*then).with(self.of(*otherwise)),
                _ => Direction::Either,
            },
            NodeKind::Parenthesised(inner) => self.of(*inner),
            NodeKind::Tuple { items, .. } | NodeKind::List(items) => self.all(items),
            NodeKind::Call { callee, positional, keywords } if keywords.is_empty() => {
                self.call(*callee, positional, self.values(id))
            }
            NodeKind::Boolean { .. } | NodeKind::Call { .. } | NodeKind::Foreign { .. } => {
                self.unclear(&kind.children())
            }
        }
    }

    fn unary(&self, op: UnaryOperator, operand: NodeId) -> Direction {
        match op {
            UnaryOperator::Plus => self.of(operand),
            UnaryOperator::Minus | UnaryOperator::Invert => self.of(operand).turned(),
            UnaryOperator::Not => self.of(operand).times(self.values(operand)).turned(),
        }
    }

    fn binary(&self, op: BinaryOperator, left: NodeId, right: NodeId) -> Direction {
        use BinaryOperator as Op;
        let (a, b) = (self.of(left), self.of(right));
        let (x, y) = (self.values(left), self.values(right));
        match op {
            Op::Add if x.is_number() && y.is_number() => a.with(b),
            Op::Subtract => a.with(b.turned()),
            Op::Multiply if x.is_number() && y.is_number() => a.times(y).with(b.times(x)),
            // Python's own rounding of `//` goes astray by 1 on doubles
            Op::FloorDivide if !x.is_whole() || !y.is_whole() => self.unclear(&[left, right]),
            // a divisor that may have either sign jumps at 0
            Op::Divide | Op::FloorDivide => a.times(y).with(b.times(x).turned()).with(b.times(y).unless_signed()),
            Op::Power => self.power(left, right),
            _ => self.unclear(&[left, right]),
        }
    }

    fn power(&self, base: NodeId, exponent: NodeId) -> Direction {
        let (a, b) = (self.of(base), self.of(exponent));
        let (x, y) = (self.values(base), self.values(exponent));
        if x.least() >= 0.0 {
            let above_one = if x.least() >= 1.0 {
                b
            } else if x.most() <= 1.0 {
                b.turned()
            } else {
                b.unclear()
            };
            return a.times(y).with(above_one);
        }
        match y.only() {
            Some(exponent) if b == Direction::Constant && exponent > 0.0 && (exponent % 2.0).abs() == 1.0 => a,
            Some(exponent) if b == Direction::Constant && exponent > 0.0 && exponent % 2.0 == 0.0 => a.times(x),
            _ => self.unclear(&[base, exponent]),
        }
    }

    fn comparison(&self, operators: &[ComparisonOperator], operands: &[NodeId]) -> Direction {
        use ComparisonOperator as Op;
        match (operators, operands) {
            ([Op::Less | Op::LessOrEqual], [left, right]) => self.of(*left).turned().with(self.of(*right)),
            ([Op::Greater | Op::GreaterOrEqual], [left, right]) => self.of(*left).with(self.of(*right).turned()),
            _ => self.unclear(operands),
        }
    }

    /// What a function goes through: its arguments, or the items of the one list or tuple that is written out.
    fn items<'n>(&'n self, arguments: &'n [NodeId]) -> &'n [NodeId] {
        let &[only] = arguments else { return arguments };
        match &self.expr.node(inside(self.expr, only)).kind {
            NodeKind::Tuple { items, .. } | NodeKind::List(items) => items,
            _ => arguments,
        }
    }

    fn call(&self, callee: NodeId, arguments: &[NodeId], result: Values) -> Direction {
        use Function as F;
        let all = self.all(arguments);
        let Some(function) = self.facts.function(callee) else { return self.unclear(&[&[callee], arguments].concat()) };
        let items = self.items(arguments);
        let are_numbers = items.iter().all(|&item| self.values(item).is_number());
        match (function, arguments) {
            (F::Sum, [_]) if are_numbers && !self.is_rounded_unevenly(items, result) => all,
            (F::Max | F::Min | F::Fsum, [_, ..]) if are_numbers => all,
            (F::Pow, [base, exponent]) => self.power(*base, *exponent),
            (F::Log, [x, base]) if self.values(*base).least() > 1.0 && self.of(*base) == Direction::Constant => {
                self.of(*x)
            }
            (F::Round, [x, digits]) if self.of(*digits) == Direction::Constant => self.of(*x),
            (F::Abs | F::Fabs | F::Cosh, [x]) => self.of(*x).times(self.values(*x)),
            (F::Acos | F::Erfc, [_]) => all.turned(),
            (function, [_]) if rises(function) => all,
            _ => self.unclear(arguments),
        }
    }
}

/// Functions of one number that never fall.
fn rises(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::Sqrt
            | F::Log
            | F::Log2
            | F::Log10
            | F::Log1p
            | F::Exp
            | F::Exp2
            | F::Expm1
            | F::Sinh
            | F::Asinh
            | F::Acosh
            | F::Asin
            | F::Atan
            | F::Atanh
            | F::Tanh
            | F::Erf
            | F::Cbrt
            | F::Degrees
            | F::Radians
            | F::Ceil
            | F::Floor
            | F::Trunc
            | F::Int
            | F::Float
            | F::Round
            | F::Isqrt
            | F::Factorial
    )
}
