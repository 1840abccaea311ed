//! Which way a formula moves when one input grows and all others stay.

use super::ranges::{Facts, Values};
use crate::formula::number::Function;
use crate::formula::operator::{BinaryOperator, ComparisonOperator, UnaryOperator};
use crate::formula::syntax::{Expr, NodeId, NodeKind};

/// How a value moves when one input grows.
///
/// ```
/// use job_sort_formula::formula::{Formula, analysis};
/// use job_sort_formula::formula::analysis::Direction;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "pow(2, -(fairshare_tree_usage / fairshare_perc))".parse()?;
/// let facts = analysis::ranges(formula.expr(), &Schema::openpbs(), &analysis::Ranges::default());
/// assert_eq!(analysis::direction(formula.expr(), &facts, "fairshare_tree_usage"), Direction::Falling);
/// assert_eq!(analysis::direction(formula.expr(), &facts, "fairshare_perc"), Direction::Rising);
/// assert_eq!(analysis::direction(formula.expr(), &facts, "ncpus"), Direction::Constant);
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
/// `Rising` and `Falling` are certain up to the last bits in which the C library's functions may be off.
pub fn direction(expr: &Expr, facts: &Facts, name: &str) -> Direction {
    let mut walk = Walk { facts, known: Vec::with_capacity(expr.nodes().len()) };
    for (id, node) in expr.iter() {
        let fact = facts.of(id);
        let direction = match walk.node(&node.kind, name) {
            _ if !fact.reached || fact.values.only().is_some() => Direction::Constant,
            // no order holds for a nan
            direction if fact.values.may_be_nan() => direction.unclear(),
            direction => direction,
        };
        walk.known.push(direction);
    }
    walk.known.last().copied().unwrap_or(Direction::Constant)
}

struct Walk<'e> {
    facts: &'e Facts,
    known: Vec<Direction>,
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

    fn node(&self, kind: &NodeKind, name: &str) -> Direction {
        match kind {
            NodeKind::Name(other) if **other == *name => Direction::Rising,
            NodeKind::Literal { .. } | NodeKind::Name(_) => Direction::Constant,
            NodeKind::Unary { op, operand } => self.unary(*op, *operand),
            NodeKind::Binary { op, left, right } => self.binary(*op, *left, *right),
            NodeKind::Comparison { operators, operands } => self.comparison(operators, operands),
            NodeKind::Conditional { then, condition, otherwise } => match self.of(*condition) {
                Direction::Constant => self.of(*then).with(self.of(*otherwise)),
                _ => Direction::Either,
            },
            NodeKind::Parenthesised(inner) => self.of(*inner),
            NodeKind::Tuple { items, .. } | NodeKind::List(items) => self.all(items),
            NodeKind::Call { callee, positional, keywords } if keywords.is_empty() => self.call(*callee, positional),
            NodeKind::Boolean { .. } | NodeKind::Call { .. } | NodeKind::Foreign { .. } => {
                self.all(&kind.children()).unclear()
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
            Op::FloorDivide if !x.is_whole() || !y.is_whole() => a.with(b).unclear(),
            // a divisor that may have either sign jumps at 0
            Op::Divide | Op::FloorDivide => a.times(y).with(b.times(x).turned()).with(b.times(y).unless_signed()),
            Op::Power => self.power(left, right),
            _ => a.with(b).unclear(),
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
            _ => a.with(b).unclear(),
        }
    }

    fn comparison(&self, operators: &[ComparisonOperator], operands: &[NodeId]) -> Direction {
        use ComparisonOperator as Op;
        match (operators, operands) {
            ([Op::Less | Op::LessOrEqual], [left, right]) => self.of(*left).turned().with(self.of(*right)),
            ([Op::Greater | Op::GreaterOrEqual], [left, right]) => self.of(*left).with(self.of(*right).turned()),
            _ => self.all(operands).unclear(),
        }
    }

    fn call(&self, callee: NodeId, arguments: &[NodeId]) -> Direction {
        use Function as F;
        let all = self.all(arguments);
        let Some(function) = self.facts.function(callee) else { return all.with(self.of(callee)).unclear() };
        match (function, arguments) {
            (F::Max | F::Min | F::Sum | F::Fsum, [_, ..]) => all,
            (F::Pow, [base, exponent]) => self.power(*base, *exponent),
            (F::Log, [x, base]) if self.values(*base).least() > 1.0 && self.of(*base) == Direction::Constant => {
                self.of(*x)
            }
            (F::Round, [x, digits]) if self.of(*digits) == Direction::Constant => self.of(*x),
            (F::Abs | F::Fabs | F::Cosh, [x]) => self.of(*x).times(self.values(*x)),
            (F::Acos | F::Erfc, [_]) => all.turned(),
            (function, [_]) if rises(function) => all,
            _ => all.unclear(),
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
