//! The third door to a formula: put together by a program instead of written.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use crate::formula::Formula;
use crate::formula::syntax::SyntaxError;

/// A part of a formula under construction.
///
/// ```
/// use job_sort_formula::formula::builder::{call, name, number};
///
/// let formula = (number(1e3) * name("fairshare_factor") + call("log", [name("ncpus")])).formula()?;
/// assert_eq!(formula.to_string(), "1000.0 * fairshare_factor + log(ncpus)");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    text: String,
    binds: Binds,
}

/// How tightly a part holds together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Conditional,
    Sum,
    Product,
    Sign,
    Atom,
}

/// A name: an input, a constant of `math`.
pub fn name(name: &str) -> Part {
    Part { text: name.into(), binds: Binds::Atom }
}

/// A number, as Python prints a float; infinities and NaN become the names `inf` and `nan`.
pub fn number(value: f64) -> Part {
    let text = crate::python::Value::Float(value).repr();
    Part { binds: if value.is_sign_negative() { Binds::Sign } else { Binds::Atom }, text }
}

/// A whole number.
pub fn integer(value: i64) -> Part {
    Part { text: value.to_string(), binds: if value < 0 { Binds::Sign } else { Binds::Atom } }
}

/// A call of a function.
pub fn call(function: &str, arguments: impl IntoIterator<Item = Part>) -> Part {
    let arguments: Vec<_> = arguments.into_iter().map(|argument| argument.text).collect();
    Part { text: format!("{function}({})", arguments.join(", ")), binds: Binds::Atom }
}

impl Part {
    /// `self ** exponent`
    pub fn power(self, exponent: Self) -> Self {
        let text = format!("{}**{}", self.holding(Binds::Atom), exponent.holding(Binds::Atom));
        Self { text, binds: Binds::Sign }
    }

    /// `self if condition else otherwise`
    pub fn when(self, condition: Self, otherwise: Self) -> Self {
        let (then, condition) = (self.holding(Binds::Sum), condition.holding(Binds::Sum));
        Self { text: format!("{then} if {condition} else {}", otherwise.text), binds: Binds::Conditional }
    }

    /// `self > other`, in parentheses.
    pub fn above(self, other: Self) -> Self {
        let text = format!("({} > {})", self.holding(Binds::Sum), other.holding(Binds::Sum));
        Self { text, binds: Binds::Atom }
    }

    /// The finished formula.
    ///
    /// # Errors
    /// A [`SyntaxError`] when a name that was given is none.
    pub fn formula(self) -> Result<Formula, SyntaxError> {
        Formula::parse(&self.text)
    }

    fn holding(self, least: Binds) -> String {
        if self.binds >= least { self.text } else { format!("({})", self.text) }
    }

    fn join(self, symbol: &str, right: Self, binds: Binds, right_binds: Binds) -> Self {
        let text = format!("{} {symbol} {}", self.holding(binds), right.holding(right_binds));
        Self { text, binds }
    }
}

impl Add for Part {
    type Output = Self;
    fn add(self, right: Self) -> Self {
        self.join("+", right, Binds::Sum, Binds::Product)
    }
}

impl Sub for Part {
    type Output = Self;
    fn sub(self, right: Self) -> Self {
        self.join("-", right, Binds::Sum, Binds::Product)
    }
}

impl Mul for Part {
    type Output = Self;
    fn mul(self, right: Self) -> Self {
        self.join("*", right, Binds::Product, Binds::Sign)
    }
}

impl Div for Part {
    type Output = Self;
    fn div(self, right: Self) -> Self {
        self.join("/", right, Binds::Product, Binds::Sign)
    }
}

impl Rem for Part {
    type Output = Self;
    fn rem(self, right: Self) -> Self {
        self.join("%", right, Binds::Product, Binds::Sign)
    }
}

impl Neg for Part {
    type Output = Self;
    fn neg(self) -> Self {
        Self { text: format!("-{}", self.holding(Binds::Sign)), binds: Binds::Sign }
    }
}
