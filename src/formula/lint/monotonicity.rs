//! Monotonicity: whether the value of a formula increases or decreases when one input grows and the others stay.

use crate::formula::lint::parents::aggregated;
use crate::formula::lint::ranges::{Facts, TypeSet, ValueSet};
use crate::formula::syntax::{Expr, ExprId, ExprKind};
use crate::python::{BinaryOperator, ComparisonOperator, Function, MAX_EXACT_FLOAT, UnaryOperator};

/// How a value changes when one input grows and the others stay.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::formula::lint::Monotonicity;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "pow(2, -(fairshare_tree_usage / fairshare_perc))".parse()?;
/// let facts = lint::analyze_ranges(formula.expr(), &Schema::openpbs(), &lint::Ranges::default());
/// assert_eq!(lint::monotonicity(formula.expr(), &facts, "fairshare_tree_usage"), Monotonicity::Decreasing);
/// assert_eq!(lint::monotonicity(formula.expr(), &facts, "fairshare_perc"), Monotonicity::Increasing);
/// assert_eq!(lint::monotonicity(formula.expr(), &facts, "ncpus"), Monotonicity::Constant);
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Monotonicity {
    /// It does not depend on the input.
    Constant,
    /// It never decreases.
    Increasing,
    /// It never increases.
    Decreasing,
    /// It may both increase and decrease, as far as the analysis can tell.
    Unknown,
}

impl Monotonicity {
    fn reversed(self) -> Self {
        match self {
            Self::Increasing => Self::Decreasing,
            Self::Decreasing => Self::Increasing,
            same => same,
        }
    }

    /// The monotonicity of a sum.
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant, one) | (one, Self::Constant) => one,
            _ if self == other => self,
            _ => Self::Unknown,
        }
    }

    /// The monotonicity of a product with a constant factor whose value is in `factor`.
    fn times(self, factor: ValueSet) -> Self {
        match self {
            Self::Constant => Self::Constant,
            _ if factor.least() >= 0.0 => self,
            _ if factor.most() <= 0.0 => self.reversed(),
            _ => Self::Unknown,
        }
    }

    /// Constant if it is constant, otherwise unknown.
    fn constant_or_unknown(self) -> Self {
        if self == Self::Constant { self } else { Self::Unknown }
    }

    /// Unknown if it is unknown, otherwise constant. For `divisor.times(its own values)` this is unknown if the divisor
    /// varies and may have either sign.
    fn unknown_or_constant(self) -> Self {
        if self == Self::Unknown { self } else { Self::Constant }
    }
}

/// The monotonicity of the whole formula in the input `name`, over the jobs for which the formula does not fail.
///
/// `Increasing` and `Decreasing` hold up to the last bits, in which the functions of the C library may be wrong. All
/// results but `Unknown` also mean that inputs that compare equal, such as `0`, `0.0` and `-0.0`, give equal values.
pub fn monotonicity(expr: &Expr, facts: &Facts, name: &str) -> Monotonicity {
    let size = expr.nodes().len();
    let mut walk = Walk { expr, facts, results: Vec::with_capacity(size), unchanged: Vec::with_capacity(size) };
    for (id, node) in expr.iter() {
        let fact = facts.at(id);
        let monotonicity = match walk.analyze_node(id, &node.kind, name) {
            _ if !fact.reachable || fact.values.single().is_some() => Monotonicity::Constant,
            // nan is not ordered
            monotonicity if fact.values.may_be_nan() => monotonicity.constant_or_unknown(),
            monotonicity => monotonicity,
        };
        let is_unchanged = !fact.reachable || is_single(fact.values) || walk.does_not_use(&node.kind, name);
        walk.results.push(monotonicity);
        walk.unchanged.push(is_unchanged);
    }
    walk.results.last().copied().unwrap_or(Monotonicity::Constant)
}

/// Whether there is a single value, of a single type, and not a float zero, which has two signs: numbers that compare
/// equal can still differ.
fn is_single(values: ValueSet) -> bool {
    let types = values.types();
    let has_one_type = [TypeSet::INT, TypeSet::FLOAT, TypeSet::BOOL].iter().any(|&kind| types.is_subset(kind));
    values.single().is_some_and(|single| has_one_type && (single != 0.0 || !types.intersects(TypeSet::FLOAT)))
}

/// Whether the value can be an integer for one job and a float for another.
fn is_mixed(values: ValueSet) -> bool {
    values.types().intersects(TypeSet::FLOAT) && values.types().intersects(TypeSet::INTEGRAL)
}

fn is_beyond_exact_doubles(values: ValueSet) -> bool {
    values.most() > MAX_EXACT_FLOAT || values.least() < -MAX_EXACT_FLOAT
}

struct Walk<'e> {
    expr: &'e Expr,
    facts: &'e Facts,
    /// The monotonicity of every node that has been visited.
    results: Vec<Monotonicity>,
    /// Whether the value of a node does not change with the input; the type and the sign of a zero are part of it.
    unchanged: Vec<bool>,
}

impl Walk<'_> {
    fn monotonicity(&self, node: ExprId) -> Monotonicity {
        self.results[node.index()]
    }

    fn values(&self, node: ExprId) -> ValueSet {
        self.facts.at(node).values
    }

    /// The monotonicity of the sum of the nodes.
    fn sum(&self, nodes: &[ExprId]) -> Monotonicity {
        nodes.iter().fold(Monotonicity::Constant, |all, &node| all.plus(self.monotonicity(node)))
    }

    /// Whether the node is another name than the input, or an operation on unchanged operands.
    fn does_not_use(&self, kind: &ExprKind, name: &str) -> bool {
        match kind {
            ExprKind::Name(other) => **other != *name,
            kind => self.are_unchanged(&kind.children()),
        }
    }

    fn are_unchanged(&self, nodes: &[ExprId]) -> bool {
        nodes.iter().all(|node| self.unchanged[node.index()])
    }

    /// The monotonicity of an operation that is not monotonic, or that distinguishes numbers that compare equal.
    fn not_monotonic(&self, nodes: &[ExprId]) -> Monotonicity {
        if self.are_unchanged(nodes) { Monotonicity::Constant } else { Monotonicity::Unknown }
    }

    /// Whether the result may be rounded for some operands and exact for others, which breaks the order of the results.
    /// This happens beyond 2^53 if an operand that changes is an integer for one job and a float for another.
    fn is_rounded_unevenly(&self, operands: &[ExprId], result: ValueSet) -> bool {
        let changes_type = operands.iter().any(|&node| !self.unchanged[node.index()] && is_mixed(self.values(node)));
        changes_type && operands.iter().map(|&node| self.values(node)).chain([result]).any(is_beyond_exact_doubles)
    }

    fn analyze_node(&self, id: ExprId, kind: &ExprKind, name: &str) -> Monotonicity {
        match kind {
            ExprKind::Name(other) if **other == *name => Monotonicity::Increasing,
            ExprKind::Literal { .. } | ExprKind::Name(_) => Monotonicity::Constant,
            ExprKind::Unary { op, operand } => self.unary(*op, *operand),
            ExprKind::Binary { left, right, .. } if self.is_rounded_unevenly(&[*left, *right], self.values(id)) => {
                Monotonicity::Unknown
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, *left, *right),
            ExprKind::Comparison { operators, operands } => self.comparison(operators, operands),
            ExprKind::Conditional { then, condition, otherwise } => match self.monotonicity(*condition) {
                Monotonicity::Constant => self.monotonicity(*then).plus(self.monotonicity(*otherwise)),
                _ => Monotonicity::Unknown,
            },
            ExprKind::Parenthesized(inner) => self.monotonicity(*inner),
            ExprKind::Tuple { items, .. } | ExprKind::List(items) => self.sum(items),
            ExprKind::Call { callee, positional, keywords } if keywords.is_empty() => {
                self.call(*callee, positional, self.values(id))
            }
            ExprKind::Boolean { .. } | ExprKind::Call { .. } | ExprKind::Unsupported { .. } => {
                self.not_monotonic(&kind.children())
            }
        }
    }

    fn unary(&self, op: UnaryOperator, operand: ExprId) -> Monotonicity {
        match op {
            UnaryOperator::Plus => self.monotonicity(operand),
            UnaryOperator::Minus | UnaryOperator::Invert => self.monotonicity(operand).reversed(),
            UnaryOperator::Not => self.monotonicity(operand).times(self.values(operand)).reversed(),
        }
    }

    fn binary(&self, op: BinaryOperator, left: ExprId, right: ExprId) -> Monotonicity {
        use BinaryOperator as Op;
        let a = self.monotonicity(left);
        let b = self.monotonicity(right);
        let x = self.values(left);
        let y = self.values(right);
        match op {
            Op::Add if x.is_number() && y.is_number() => a.plus(b),
            Op::Subtract => a.plus(b.reversed()),
            Op::Multiply if x.is_number() && y.is_number() => a.times(y).plus(b.times(x)),
            // `//` of floats can be off by 1
            Op::FloorDivide if !x.is_integral() || !y.is_integral() => self.not_monotonic(&[left, right]),
            // the quotient jumps where the divisor changes its sign
            Op::Divide | Op::FloorDivide => {
                a.times(y).plus(b.times(x).reversed()).plus(b.times(y).unknown_or_constant())
            }
            Op::Power => self.power(left, right),
            _ => self.not_monotonic(&[left, right]),
        }
    }

    fn power(&self, base: ExprId, exponent: ExprId) -> Monotonicity {
        let a = self.monotonicity(base);
        let b = self.monotonicity(exponent);
        let x = self.values(base);
        let y = self.values(exponent);
        if x.least() >= 0.0 {
            let in_exponent = match x {
                _ if x.least() >= 1.0 => b,
                _ if x.most() <= 1.0 => b.reversed(),
                _ => b.constant_or_unknown(),
            };
            return a.times(y).plus(in_exponent);
        }
        match y.single().filter(|&power| b == Monotonicity::Constant && power > 0.0) {
            Some(power) if power % 2.0 == 1.0 => a,
            Some(power) if power % 2.0 == 0.0 => a.times(x),
            _ => self.not_monotonic(&[base, exponent]),
        }
    }

    fn comparison(&self, operators: &[ComparisonOperator], operands: &[ExprId]) -> Monotonicity {
        use ComparisonOperator as Op;
        match (operators, operands) {
            ([Op::Less | Op::LessOrEqual], [left, right]) => {
                self.monotonicity(*left).reversed().plus(self.monotonicity(*right))
            }
            ([Op::Greater | Op::GreaterOrEqual], [left, right]) => {
                self.monotonicity(*left).plus(self.monotonicity(*right).reversed())
            }
            _ => self.not_monotonic(operands),
        }
    }

    fn call(&self, callee: ExprId, arguments: &[ExprId], result: ValueSet) -> Monotonicity {
        use Function as F;
        let all = self.sum(arguments);
        let Some(function) = self.facts.function(callee) else {
            return self.not_monotonic(&[&[callee], arguments].concat());
        };
        let items = aggregated(self.expr, arguments);
        let are_numbers = items.iter().all(|&item| self.values(item).is_number());
        match (function, arguments) {
            (F::Sum, [_]) if are_numbers && !self.is_rounded_unevenly(items, result) => all,
            (F::Max | F::Min | F::Fsum, [_, ..]) if are_numbers => all,
            (F::Pow, [base, exponent]) => self.power(*base, *exponent),
            (F::Log, [x, base])
                if self.values(*base).least() > 1.0 && self.monotonicity(*base) == Monotonicity::Constant =>
            {
                self.monotonicity(*x)
            }
            (F::Round, [x, digits]) if self.monotonicity(*digits) == Monotonicity::Constant => self.monotonicity(*x),
            (F::Abs | F::Fabs | F::Cosh, [x]) => self.monotonicity(*x).times(self.values(*x)),
            (F::Acos | F::Erfc, [_]) => all.reversed(),
            (function, [_]) if is_increasing(function) => all,
            _ => self.not_monotonic(arguments),
        }
    }
}

/// Functions of one number that never decrease.
fn is_increasing(function: Function) -> bool {
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
