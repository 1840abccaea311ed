//! Formulas: their syntax and their compiled programs. What is wrong with a formula is said by the
//! crate `jsf-lint`, and of one at a site by `jsf-site` (`Site::check`).
//!
//! A [`Formula`] comes from [`Formula::parse`] or from `text.parse::<Formula>()`. A [`Template`] is
//! the text of a formula in which some numbers are still to be found.

pub mod name_resolution;
pub mod program;
pub mod syntax;
mod template;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::diagnostic::Span;
use crate::python::PythonVersion;
use crate::schema::Schema;
use program::{CompileError, Program};
use syntax::{Expr, Node, SyntaxError};

pub use syntax::{Construct, SyntaxErrorKind};
pub use template::{Template, TemplateConstant};

/// A parsed formula.
///
/// ```
/// use job_sort_formula::{Formula, Schema, Value};
///
/// let formula: Formula = "eligible_time / 3600 + ncpus".parse()?;
/// let program = formula.compile(&Schema::openpbs())?;
/// assert_eq!(program.inputs().len(), 2);
/// let score = program.evaluate(&[Value::Int(7200), Value::Int(4)])?;
/// assert_eq!(score.repr(), "6.0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Formula {
    expr: Arc<Expr>,
}

impl Formula {
    /// Parses the text of a formula.
    ///
    /// # Errors
    /// A [`SyntaxError`] with its span if CPython refuses the text, or if it is longer than 64 KiB
    /// or has more than 200 levels of brackets. A text that is not arithmetic, which does not
    /// [`compile`](Self::compile), may be refused by CPython and not here.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        syntax::parse(text).map(|expr| Self {
            expr: Arc::new(expr),
        })
    }

    /// Where the sum is to which the formula applies limits or rounding: `a + b` in
    /// `max(0, floor(a + b))`; all of the formula if there is no such sum.
    pub fn sum_under_limits(&self) -> Span {
        self.expr.node(program::sum_under_limits(&self.expr)).span
    }

    /// Parses the text as a version of Python does; [`parse`](Self::parse) does so as the default
    /// one.
    ///
    /// ```
    /// use job_sort_formula::{Formula, PythonVersion};
    ///
    /// let read = |python: &str| Formula::parse_for("async + 1", python.parse().unwrap());
    /// assert!(read("3.6").is_ok());
    /// assert_eq!(read("3.7").unwrap_err().to_string(), "`async` is a reserved word and cannot be used here");
    /// ```
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn parse_for(text: &str, python: PythonVersion) -> Result<Self, SyntaxError> {
        syntax::parse_for(text, syntax::MAX_LENGTH, python).map(|expr| Self {
            expr: Arc::new(expr),
        })
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        self.expr.text()
    }

    /// The abstract syntax tree.
    pub fn expr(&self) -> &Arc<Expr> {
        &self.expr
    }

    /// Every name once, including functions and constants, in the order of the text.
    pub fn names(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        // the leaves of the tree are in the order of the text
        self.expr
            .nodes()
            .iter()
            .filter_map(Node::name)
            .filter(|name| known.insert(*name))
            .collect()
    }

    /// Compiles the formula to a program that can be evaluated for one job or for many.
    ///
    /// A name that the schema does not have is not an error here: as in Python, each job for which
    /// it is evaluated gets a `NameError`. [`Program::undefined`] lists these names, to refuse the
    /// formula.
    ///
    /// ```
    /// use job_sort_formula::{Formula, Schema};
    ///
    /// let program = Formula::parse("ncpus + ngpu")?.compile(&Schema::openpbs())?;
    /// assert_eq!(&*program.undefined()[0].0, "ngpu");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A [`CompileError`] if the formula is valid Python but not arithmetic.
    pub fn compile(&self, schema: &Schema) -> Result<Program, CompileError> {
        Program::compile(Arc::clone(&self.expr), schema)
    }
}

impl FromStr for Formula {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::parse(text)
    }
}

impl Formula {
    /// The formula with normalised spaces and with the comments of its text, which
    /// [`Display`](fmt::Display) leaves out.
    ///
    /// ```
    /// use job_sort_formula::Formula;
    ///
    /// let formula: Formula = "ncpus*2 # twice".parse()?;
    /// assert_eq!(formula.with_comments(), "ncpus * 2  # twice");
    /// assert_eq!(formula.to_string(), "ncpus * 2");
    /// # Ok::<(), job_sort_formula::SyntaxError>(())
    /// ```
    pub fn with_comments(&self) -> String {
        syntax::with_comments(&self.expr)
    }
}

impl fmt::Display for Formula {
    /// The formula with normalised spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}
