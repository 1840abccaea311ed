//! Templates: texts of formulas in which some numbers are still to be found.

use std::ops::Range;

use crate::diagnostic::Span;
use crate::formula::name_resolution::Resolution;
use crate::formula::syntax::{self, Expr, MAX_LENGTH, SyntaxError, TemplatePlace};
use crate::python::{PythonVersion, Value};

/// The most constants of a template.
const MAX_CONSTANTS: usize = 20;

/// The greatest length of a number that is filled in, in bytes: `(-1.2345678901234567e-300)`.
const MAX_FILLED: usize = 26;

/// Up to this magnitude a whole number is filled in without a point or an exponent, as a Python
/// `int`.
// from here on, Python writes a float with an exponent
const MAX_WHOLE: f64 = 1e16;

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
    expr: Expr,
    constants: Vec<TemplateConstant>,
    /// Where numbers are filled in, ascending, and the index of the constant of each.
    places: Vec<(Span, usize)>,
}

impl Template {
    /// Parses the text of a template.
    ///
    /// # Errors
    /// A [`SyntaxError`] with its span if the text is not a formula but for its constants, or if a
    /// constant is not written as it should be, has a name with another meaning, or is missing.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let (expr, places) = syntax::parse_template(text)?;
        let mut constants: Vec<TemplateConstant> = Vec::new();
        for place in places.iter().filter(|place| !place.parts.is_empty()) {
            let constant = read_constant(text, place)?;
            let TemplateConstant { name, span, .. } = &constant;
            if constants.iter().any(|other| other.name == *name) {
                let message = format!("the constant `{name}` is declared twice");
                let help = format!("declare it once, and write `{{{name}}}` where it stands again");
                return Err(error(message, help, *span));
            }
            if constants.len() == MAX_CONSTANTS {
                let message = format!("a template has at most {MAX_CONSTANTS} constants");
                let help = "write the numbers that matter least as numbers";
                return Err(error(message, help, *span));
            }
            constants.push(constant);
        }
        let mut filled = Vec::with_capacity(places.len());
        // a constant may be declared after a place
        for TemplatePlace { name, span, .. } in places {
            let Some(index) = constants.iter().position(|constant| constant.name == name) else {
                let message = format!("the constant `{name}` has no range");
                let help =
                    format!("declare it where it stands first: `{{{name}=START:LOW..HIGH}}`");
                return Err(error(message, help, span));
            };
            filled.push((span, index));
        }
        // in the order of the text, in which numbers are filled in
        filled.sort_unstable();
        // whatever numbers are filled in, the formula is not too long
        if text.len() + filled.len() * MAX_FILLED > MAX_LENGTH {
            let end = Span::new(text.len(), text.len());
            return Err(SyntaxError::too_long(end));
        }
        if constants.is_empty() {
            let message = "the template has no constant to find";
            let help =
                "write `{name=START:LOW..HIGH}` instead of a number, such as `{fs=100:0..500}`";
            return Err(error(message, help, Span::new(0, text.len())));
        }
        for constant in &constants {
            check_name(constant, &expr)?;
        }
        let template = Self {
            expr,
            constants,
            places: filled,
        };
        template.check_filled()?;
        Ok(template)
    }

    /// Refuses a template with a constant where a name is allowed, but no number:
    /// `({a=1:0..2} := 3)`.
    fn check_filled(&self) -> Result<(), SyntaxError> {
        let Err(refused) = syntax::parse(&self.fill(&self.starts())) else {
            return Ok(());
        };
        let message = format!("a number cannot stand where a constant does: {refused}");
        let help = "put constants only where numbers can stand";
        Err(error(message, help, Span::new(0, self.text().len())))
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        self.expr.text()
    }

    /// The constants, in the order in which they are declared.
    pub fn constants(&self) -> &[TemplateConstant] {
        &self.constants
    }

    /// The numbers from which a search starts, one for each constant.
    pub fn starts(&self) -> Vec<f64> {
        let constants = self.constants.iter();
        constants.map(|constant| constant.start).collect()
    }

    /// The abstract syntax tree, in which each constant is a name.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The text of the formula with these numbers, one for each constant; numbers of `:int`
    /// constants are rounded.
    ///
    /// A negative number is put in parentheses, a whole one has no point, and others have the
    /// fewest digits that give the same double.
    ///
    /// # Panics
    /// If there are fewer numbers than constants, or one of them is not finite.
    pub fn fill(&self, values: &[f64]) -> String {
        let mut filled = String::with_capacity(self.text().len() + self.places.len() * 8);
        let mut copied = 0;
        for (span, constant) in &self.places {
            filled.push_str(&self.text()[copied..span.start as usize]);
            copied = span.end as usize;
            let mut value = values[*constant];
            if self.constants[*constant].is_int {
                value = value.round();
            }
            let rest = &self.text()[copied..];
            push_separated(&mut filled, &number_text(value), rest);
        }
        filled.push_str(&self.text()[copied..]);
        filled
    }
}

/// A number as Python reads it, also before `**` and after `-`.
fn number_text(value: f64) -> String {
    assert!(value.is_finite(), "{value} cannot be filled into a formula");
    let is_whole = value.fract() == 0.0 && value.abs() <= MAX_WHOLE;
    // an integer has no sign of zero
    let text = if is_whole {
        (value as i64).to_string()
    } else {
        Value::Float(value).repr()
    };
    if text.starts_with('-') {
        format!("({text})")
    } else {
        text
    }
}

/// Adds a number, with blanks around it where it would otherwise become a part of a name, as in
/// `not{a}`.
fn push_separated(text: &mut String, number: &str, rest: &str) {
    let is_joined = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
    if text.ends_with(is_joined) {
        text.push(' ');
    }
    text.push_str(number);
    if rest.starts_with(is_joined) {
        text.push(' ');
    }
}

/// Reads `{name=START:LOW..HIGH}`.
fn read_constant(text: &str, place: &TemplatePlace) -> Result<TemplateConstant, SyntaxError> {
    let TemplatePlace { name, span, parts } = place.clone();
    let mut parts = parts.into_iter().map(|part| trimmed(text, part));
    // never missing: this is called for places with parts only
    let start_at = parts.next().unwrap_or(span);
    let start = number(text, start_at)?;
    let Some(range) = parts.next() else {
        let message = format!("the constant `{name}` has no range");
        return Err(error(message, form(&name), span));
    };
    let Some((before_dots, _)) = range.slice(text).split_once("..") else {
        let message = format!("`{}` is not a range", range.slice(text));
        return Err(error(message, form(&name), range));
    };
    let Range { start: from, end } = range.range();
    let dots = from + before_dots.len();
    let low = number(text, Span::new(from, dots))?;
    let high = number(text, Span::new(dots + "..".len(), end))?;
    let (mut is_log, mut is_int) = (false, false);
    for suffix in parts {
        match suffix.slice(text) {
            "log" if !is_log => is_log = true,
            "int" if !is_int => is_int = true,
            other => {
                let message = format!("`:{other}` is not known here");
                let help = "`:log`, `:int` or both may follow the range";
                return Err(error(message, help, suffix));
            }
        }
    }
    let numbers = [start, low, high];
    let fraction = numbers.into_iter().find(|number| number.fract() != 0.0);
    let (message, help, at) = if low >= high {
        (
            format!("the range `{low}..{high}` does not ascend"),
            "write the smaller number first; for a single number, write it without braces",
            range,
        )
    } else if !(low..=high).contains(&start) {
        (
            format!("the start {start} is outside of the range `{low}..{high}`"),
            "start within the range, or widen it",
            start_at,
        )
    } else if is_log && low <= 0.0 {
        (
            format!("the range `{low}..{high}` has no logarithms"),
            "with `:log` a range begins above 0",
            range,
        )
    } else if let Some(fraction) = fraction
        && is_int
    {
        (
            format!("{fraction} is not a whole number"),
            "with `:int` the start and the range are whole numbers",
            if fraction == start { start_at } else { range },
        )
    } else {
        return Ok(TemplateConstant {
            name,
            start,
            low,
            high,
            is_log,
            is_int,
            span,
        });
    };
    Err(error(message, help, at))
}

/// A span of a text without the blanks around what it covers.
fn trimmed(text: &str, span: Span) -> Span {
    let covered = span.slice(text);
    let start = span.start as usize + covered.len() - covered.trim_start().len();
    Span::new(start, start + covered.trim().len())
}

fn number(text: &str, span: Span) -> Result<f64, SyntaxError> {
    let span = trimmed(text, span);
    let digits = span.slice(text);
    // the standard library reads `inf` and `nan` as well
    let mut bytes = digits.bytes();
    let is_of_digits = bytes.all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let message = match digits.parse::<f64>() {
        Ok(number) if is_of_digits && number.is_finite() => return Ok(number),
        Ok(_) if is_of_digits => format!("`{digits}` is too large for a number"),
        _ if digits.is_empty() => "a number is missing".to_owned(),
        _ => format!("`{digits}` is not a number"),
    };
    Err(error(message, form("name"), span))
}

/// How a constant is written.
fn form(name: &str) -> String {
    format!(
        "a constant to find is written `{{{name}=START:LOW..HIGH}}`, such as `{{{name}=100:0..500}}`"
    )
}

/// Refuses a name that means something else in Python or in the rest of the formula.
fn check_name(constant: &TemplateConstant, expr: &Expr) -> Result<(), SyntaxError> {
    let name = &*constant.name;
    let resolution = Resolution::resolve(name, PythonVersion::default(), |_| false);
    if !matches!(resolution, Resolution::Undefined) {
        let message = format!("`{name}` is a name of Python, which no constant can have");
        return Err(error(
            message,
            "give the constant another name",
            constant.span,
        ));
    }
    for node in expr.nodes() {
        // the node of a constant has its braces
        if node.name() == Some(name) && !node.span.slice(expr.text()).starts_with('{') {
            let message = format!("`{name}` is both a constant and an input of the formula");
            let help = format!(
                "give the constant another name, or write `{{{name}}}` where the constant stands again"
            );
            return Err(error(message, help, node.span));
        }
    }
    Ok(())
}

/// The error of a template that cannot be used.
fn error(message: impl Into<String>, help: impl Into<String>, span: Span) -> SyntaxError {
    SyntaxError::new(message, span).with_help(help.into())
}
