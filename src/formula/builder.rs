//! Formulas built by a program instead of parsed from text.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use crate::formula::Formula;
use crate::formula::syntax::SyntaxError;

/// An expression under construction.
///
/// ```
/// use job_sort_formula::formula::builder::{call, name, number};
///
/// let formula = (number(1e3) * name("fairshare_factor") + call("log", [name("ncpus")])).formula()?;
/// assert_eq!(formula.to_string(), "1000.0 * fairshare_factor + log(ncpus)");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExprBuilder {
    text: String,
    precedence: Precedence,
}

/// The precedence of the outermost operator, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Conditional,
    Sum,
    Product,
    Sign,
    Atom,
}

/// A name: an input or a constant of `math`.
pub fn name(name: &str) -> ExprBuilder {
    ExprBuilder {
        text: name.into(),
        precedence: Precedence::Atom,
    }
}

/// A float, in the notation of Python's `repr`; infinities and NaN become the names `inf` and
/// `nan`.
pub fn number(value: f64) -> ExprBuilder {
    let text = crate::python::Value::Float(value).repr();
    ExprBuilder {
        precedence: if value.is_sign_negative() {
            Precedence::Sign
        } else {
            Precedence::Atom
        },
        text,
    }
}

/// An integer.
pub fn integer(value: i64) -> ExprBuilder {
    ExprBuilder {
        text: value.to_string(),
        precedence: if value < 0 {
            Precedence::Sign
        } else {
            Precedence::Atom
        },
    }
}

/// A function call.
pub fn call(function: &str, arguments: impl IntoIterator<Item = ExprBuilder>) -> ExprBuilder {
    let arguments: Vec<_> = arguments
        .into_iter()
        .map(|argument| argument.text)
        .collect();
    ExprBuilder {
        text: format!("{function}({})", arguments.join(", ")),
        precedence: Precedence::Atom,
    }
}

impl ExprBuilder {
    /// `self ** exponent`
    pub fn power(self, exponent: Self) -> Self {
        let text = format!(
            "{}**{}",
            self.parenthesized_below(Precedence::Atom),
            exponent.parenthesized_below(Precedence::Atom)
        );
        Self {
            text,
            // below an atom: `**` is right-associative, so a base that is a power needs
            // brackets
            precedence: Precedence::Sign,
        }
    }

    /// `self if condition else otherwise`
    pub fn when(self, condition: Self, otherwise: Self) -> Self {
        let (then, condition) = (
            self.parenthesized_below(Precedence::Sum),
            condition.parenthesized_below(Precedence::Sum),
        );
        Self {
            // all that follows `else` belongs to it
            text: format!("{then} if {condition} else {}", otherwise.text),
            precedence: Precedence::Conditional,
        }
    }

    /// `(self > other)`
    pub fn greater_than(self, other: Self) -> Self {
        let text = format!(
            "({} > {})",
            self.parenthesized_below(Precedence::Sum),
            other.parenthesized_below(Precedence::Sum)
        );
        Self {
            text,
            precedence: Precedence::Atom,
        }
    }

    /// The finished formula.
    ///
    /// # Errors
    /// A [`SyntaxError`] if a name is not a valid identifier.
    pub fn formula(self) -> Result<Formula, SyntaxError> {
        Formula::parse(&self.text)
    }

    fn parenthesized_below(self, least: Precedence) -> String {
        if self.precedence >= least {
            self.text
        } else {
            format!("({})", self.text)
        }
    }

    fn binary(
        self,
        symbol: &str,
        right: Self,
        precedence: Precedence,
        right_precedence: Precedence,
    ) -> Self {
        let text = format!(
            "{} {symbol} {}",
            self.parenthesized_below(precedence),
            right.parenthesized_below(right_precedence)
        );
        Self { text, precedence }
    }
}

impl Add for ExprBuilder {
    type Output = Self;
    fn add(self, right: Self) -> Self {
        // a sum on the right keeps its brackets, because `+` of floats is not associative
        self.binary("+", right, Precedence::Sum, Precedence::Product)
    }
}

impl Sub for ExprBuilder {
    type Output = Self;
    fn sub(self, right: Self) -> Self {
        self.binary("-", right, Precedence::Sum, Precedence::Product)
    }
}

impl Mul for ExprBuilder {
    type Output = Self;
    fn mul(self, right: Self) -> Self {
        self.binary("*", right, Precedence::Product, Precedence::Sign)
    }
}

impl Div for ExprBuilder {
    type Output = Self;
    fn div(self, right: Self) -> Self {
        self.binary("/", right, Precedence::Product, Precedence::Sign)
    }
}

impl Rem for ExprBuilder {
    type Output = Self;
    fn rem(self, right: Self) -> Self {
        self.binary("%", right, Precedence::Product, Precedence::Sign)
    }
}

impl Neg for ExprBuilder {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            text: format!("-{}", self.parenthesized_below(Precedence::Sign)),
            precedence: Precedence::Sign,
        }
    }
}
