//! Templates: texts of formulas in which some numbers are still to be found.

use crate::diagnostic::Span;
use crate::formula::name_resolution::Resolution;
use crate::formula::syntax::{self, Expr, SyntaxError, Template, TemplateConstant, template_error};
use crate::python::{PythonVersion, Value};

/// Up to this magnitude a whole number is filled in without a point or an exponent, as a Python
/// `int`.
const MAX_WHOLE: f64 = 1e16;

impl Template {
    /// Parses the text of a template.
    ///
    /// # Errors
    /// A [`SyntaxError`] with its span if the text is not a formula but for its constants, or if a
    /// constant is not written as it should be, has a name with another meaning, or is missing.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let template = syntax::parse_template(text)?;
        if template.constants.is_empty() {
            let message = "the template has no constant to find".to_owned();
            let help =
                "write `{name=START:LOW..HIGH}` instead of a number, such as `{fs=100:0..500}`"
                    .to_owned();
            return Err(template_error(message, help, Span::new(0, text.len())));
        }
        for constant in &template.constants {
            check_name(constant, &template)?;
        }
        template.check_filled()?;
        Ok(template)
    }

    /// Refuses a template with a constant where a name is allowed, but no number:
    /// `({a=1:0..2} := 3)`.
    fn check_filled(&self) -> Result<(), SyntaxError> {
        let starts: Vec<f64> = self
            .constants()
            .iter()
            .map(|constant| constant.start)
            .collect();
        syntax::parse(&self.fill(&starts))
            .map(drop)
            .map_err(|refused| {
                let message = format!("a number cannot stand where a constant does: {refused}");
                template_error(
                    message,
                    "put constants only where numbers can stand".to_owned(),
                    Span::new(0, self.text().len()),
                )
            })
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        self.expr.text()
    }

    /// The constants, in the order in which they are declared.
    pub fn constants(&self) -> &[TemplateConstant] {
        &self.constants
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
            let is_int = self.constants()[*constant].is_int;
            let value = if is_int {
                values[*constant].round()
            } else {
                values[*constant]
            };
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

/// Refuses a name that means something else in Python or in the rest of the formula.
fn check_name(constant: &TemplateConstant, template: &Template) -> Result<(), SyntaxError> {
    let name = &*constant.name;
    let help = "give the constant another name".to_owned();
    if !matches!(
        Resolution::resolve(name, PythonVersion::default(), |_| false),
        Resolution::Undefined
    ) {
        return Err(template_error(
            format!("`{name}` is a name of Python, which no constant can have"),
            help,
            constant.span,
        ));
    }
    let is_filled = |span: Span| {
        template
            .places
            // the places are sorted
            .binary_search_by_key(&span, |(place, _)| *place)
            .is_ok()
    };
    let is_input = |node: &syntax::Node| node.name() == Some(name);
    match template
        .expr
        .nodes()
        .iter()
        .find(|node| is_input(node) && !is_filled(node.span))
    {
        Some(input) => Err(template_error(
            format!("`{name}` is both a constant and an input of the formula"),
            format!(
                "give the constant another name, or write `{{{name}}}` where the constant stands again"
            ),
            input.span,
        )),
        None => Ok(()),
    }
}
