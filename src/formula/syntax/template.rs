//! Reads the constants of a template. The text between two braces enters; a [`TemplateConstant`]
//! leaves, or a [`SyntaxError`] at the part that is wrong.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::ast_builder::normalize_name;
use crate::formula::syntax::error::{MAX_LENGTH, Result};
use crate::formula::syntax::grammar::{Rule, span_of};
use crate::formula::syntax::scanner::too_long;
use crate::formula::syntax::{Expr, SyntaxError, SyntaxErrorKind};

/// The most constants of a template.
const MAX_CONSTANTS: usize = 20;

/// The greatest length of a number that is filled in, in bytes: `(-1.2345678901234567e-300)`.
pub(super) const MAX_FILLED: usize = 26;

/// A number of a formula that is to be found: `{name=START:LOW..HIGH}`.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateConstant {
    /// Its name.
    pub name: Box<str>,
    /// The number from which a search starts.
    pub start: f64,
    /// The smallest number that it may be.
    pub low: f64,
    /// The largest number that it may be.
    pub high: f64,
    /// Whether a search moves by factors instead of by differences (`:log`).
    pub is_log: bool,
    /// Whether it is a whole number (`:int`).
    pub is_int: bool,
    /// Where the template declares it, with the braces.
    pub span: Span,
}

/// The text of a formula in which some numbers are still to be found.
///
/// A constant is declared once, as `{name=START:LOW..HIGH}`, and may be repeated as `{name}`,
/// before or after it. `:log` after the range says that a search moves it by factors, `:int` that
/// it is a whole number. All else is the text of a formula, with its comments.
///
/// ```
/// use job_sort_formula::formula::Template;
/// use job_sort_formula::Formula;
///
/// let template = Template::parse("{fs=100:0..500}*fairshare_factor + ncpus**{power=-1:-2..2}")?;
/// assert_eq!(template.constants()[0].high, 500.0);
/// let text = template.fill(&[120.0, -0.5]);
/// assert_eq!(text, "120*fairshare_factor + ncpus**(-0.5)");
/// assert!(Formula::parse(&text).is_ok());
/// # Ok::<(), job_sort_formula::SyntaxError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    /// The tree, in which each constant is a name.
    pub(in super::super) expr: Expr,
    /// The constants, in the order in which they are declared.
    pub(in super::super) constants: Vec<TemplateConstant>,
    /// Where numbers are filled in, ascending, and the index of the constant of each.
    pub(in super::super) places: Vec<(Span, usize)>,
}

/// The error for a constant in a formula.
pub(super) fn not_a_formula(pair: &Pair<'_, Rule>) -> SyntaxError {
    let name = pair
        .clone()
        .into_inner()
        .next()
        .map_or("", |name| name.as_str());
    SyntaxError::new(
        SyntaxErrorKind::TemplateConstant(name.into()),
        span_of(pair),
    )
}

/// The constants of a template of which a part has been read.
#[derive(Default)]
pub(super) struct TemplateConstants {
    declared: Vec<TemplateConstant>,
    places: Vec<(Span, Box<str>)>,
}

impl TemplateConstants {
    /// Reads `{name=START:LOW..HIGH}` and returns the name.
    pub(super) fn declare(&mut self, pair: &Pair<'_, Rule>) -> Result<Box<str>> {
        let constant = read_constant(pair)?;
        let name = constant.name.clone();
        if self.declared.iter().any(|other| other.name == name) {
            let help = format!("declare it once, and write `{{{name}}}` where it stands again");
            return Err(error(
                format!("the constant `{name}` is declared twice"),
                help,
                constant.span,
            ));
        }
        if self.declared.len() == MAX_CONSTANTS {
            let message = format!("a template has at most {MAX_CONSTANTS} constants");
            return Err(error(
                message,
                "write the numbers that matter least as numbers",
                constant.span,
            ));
        }
        self.places.push((constant.span, name.clone()));
        self.declared.push(constant);
        Ok(name)
    }

    /// Reads `{name}`, which may be declared later in the text.
    pub(super) fn refer(&mut self, name: Box<str>, span: Span) {
        self.places.push((span, name));
    }

    /// The whole template.
    pub(super) fn finish(self, expr: Expr) -> Result<Template> {
        let Self { declared, places } = self;
        let index = |name: &str| declared.iter().position(|constant| *constant.name == *name);
        let mut filled = Vec::with_capacity(places.len());
        for (span, name) in &places {
            let Some(constant) = index(name) else {
                let help =
                    format!("declare it where it stands first: `{{{name}=START:LOW..HIGH}}`");
                return Err(error(
                    format!("the constant `{name}` has no range"),
                    help,
                    *span,
                ));
            };
            filled.push((*span, constant));
        }
        // in the order of the text, in which numbers are filled in
        filled.sort_unstable();
        // a formula may be longer where the caller allows it
        if !filled.is_empty() && expr.text().len() + filled.len() * MAX_FILLED > MAX_LENGTH {
            return Err(too_long(expr.text(), MAX_LENGTH));
        }
        Ok(Template {
            expr,
            constants: declared,
            places: filled,
        })
    }
}

fn read_constant(pair: &Pair<'_, Rule>) -> Result<TemplateConstant> {
    let span = span_of(pair);
    let mut pairs = pair.clone().into_inner();
    let name = normalize_name(pairs.next().map_or("", |name| name.as_str()));
    let mut parts = pairs.map(|part| Part::new(part.as_span().start(), part.as_str()));
    let start_part = parts.next().unwrap_or(Part { text: "", span });
    let start = start_part.number()?;
    let Some(range) = parts.next() else {
        return Err(error(
            format!("the constant `{name}` has no range"),
            form(&name),
            span,
        ));
    };
    let (low, high) = range.range(&name)?;
    let mut constant = TemplateConstant {
        name,
        start,
        low,
        high,
        is_log: false,
        is_int: false,
        span,
    };
    for suffix in parts {
        match suffix.text {
            "log" if !constant.is_log => constant.is_log = true,
            "int" if !constant.is_int => constant.is_int = true,
            other => {
                let message = format!("`:{other}` is not known here");
                return Err(error(
                    message,
                    "`:log`, `:int` or both may follow the range",
                    suffix.span,
                ));
            }
        }
    }
    check_values(&constant, start_part.span, range.span)?;
    Ok(constant)
}

fn check_values(constant: &TemplateConstant, start_span: Span, range_span: Span) -> Result<()> {
    let TemplateConstant {
        start, low, high, ..
    } = *constant;
    let numbers = [start, low, high];
    let fraction = numbers.into_iter().find(|number| number.fract() != 0.0);
    let (message, help, at) = if low > high {
        (
            format!("the range `{low}..{high}` is upside down"),
            format!("write the smaller number first: `{high}..{low}`"),
            range_span,
        )
    } else if low == high {
        (
            format!("the range `{low}..{high}` has one number only"),
            "write the number itself, without braces".to_owned(),
            range_span,
        )
    } else if !(low..=high).contains(&start) {
        (
            format!("the start {start} is outside of the range `{low}..{high}`"),
            "start within the range, or widen it".to_owned(),
            start_span,
        )
    } else if constant.is_log && low <= 0.0 {
        (
            format!("the range `{low}..{high}` has no logarithms"),
            "with `:log` a range begins above 0".to_owned(),
            range_span,
        )
    } else if let Some(fraction) = fraction.filter(|_| constant.is_int) {
        (
            format!("{fraction} is not a whole number"),
            "with `:int` the start and the range are whole numbers".to_owned(),
            if fraction == start {
                start_span
            } else {
                range_span
            },
        )
    } else {
        return Ok(());
    };
    Err(error(message, help, at))
}

/// A text between two colons, without the blanks around it.
#[derive(Clone, Copy)]
struct Part<'t> {
    text: &'t str,
    span: Span,
}

impl<'t> Part<'t> {
    fn new(start: usize, text: &'t str) -> Self {
        let start = start + text.len() - text.trim_start().len();
        let text = text.trim();
        Self {
            text,
            span: Span::new(start, start + text.len()),
        }
    }

    fn number(self) -> Result<f64> {
        // the standard library reads `inf` and `nan` as well
        let is_written_as_number = self
            .text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        match self
            .text
            .parse::<f64>()
            .ok()
            .filter(|_| is_written_as_number)
        {
            Some(number) if number.is_finite() => Ok(number),
            Some(_) => Err(error(
                format!("`{}` is too large for a number", self.text),
                form("name"),
                self.span,
            )),
            None if self.text.is_empty() => Err(error(
                "a number is missing".to_owned(),
                form("name"),
                self.span,
            )),
            None => Err(error(
                format!("`{}` is not a number", self.text),
                form("name"),
                self.span,
            )),
        }
    }

    fn range(self, name: &str) -> Result<(f64, f64)> {
        let Some((low, high)) = self.text.split_once("..") else {
            return Err(error(
                format!("`{}` is not a range", self.text),
                form(name),
                self.span,
            ));
        };
        let start = self.span.start as usize;
        let high_start = start + low.len() + "..".len();
        Ok((
            Part::new(start, low).number()?,
            Part::new(high_start, high).number()?,
        ))
    }
}

/// How a constant is written.
fn form(name: &str) -> String {
    format!(
        "a constant to find is written `{{{name}=START:LOW..HIGH}}`, such as `{{{name}=100:0..500}}`"
    )
}

/// The error of a template that cannot be used.
pub(in super::super) fn error(message: String, help: impl Into<String>, span: Span) -> SyntaxError {
    SyntaxError::new(
        SyntaxErrorKind::Template {
            message,
            help: help.into(),
        },
        span,
    )
}
