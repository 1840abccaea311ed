//! A formula as an admin submits it, and as Python reads it.
//!
//! The text of the formula goes in. The parsed [`Formula`] or a [`Refusal`] comes out, and the
//! mapping of findings back to the submitted text.

use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Span};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::syntax::SyntaxError;

use crate::python_string_literal::{InvalidLiteral, PythonStringLiteral};

/// The text of a formula, and the result of parsing it.
#[derive(Debug, Clone)]
pub struct FormulaSubmission {
    text: String,
    /// What follows the first line, which OpenPBS leaves out.
    below: String,
    literal: Option<PythonStringLiteral>,
    formula: Result<Formula, Refusal>,
}

/// Why a text is not a formula.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The finding, with its span in the submitted text.
    pub finding: Box<Diagnostic>,
    /// The syntax error; `None` if the text is no valid string literal, so that Python has no
    /// formula to parse.
    pub error: Option<SyntaxError>,
    /// Why the text is no valid string literal.
    pub literal_error: Option<InvalidLiteral>,
}

impl FormulaSubmission {
    /// Reads the text as OpenPBS does: its first line, as a Python string literal, and then as an
    /// expression.
    ///
    /// ```
    /// use jsf_openpbs::submission::FormulaSubmission;
    ///
    /// assert!(FormulaSubmission::to_openpbs(r"ncpus\t* 2").formula().is_ok());
    /// // the server puts the formula between quotes, and the first `"` ends them
    /// let refusal = FormulaSubmission::to_openpbs("float(\"2\")").formula().unwrap_err().clone();
    /// assert_eq!(refusal.finding.code, "JSF106");
    /// ```
    pub fn to_openpbs(text: &str) -> Self {
        let below = text.split_once('\n').map_or("", |(_, below)| below);
        let (literal, formula) = match PythonStringLiteral::parse(text) {
            Ok(literal) => {
                let formula = Formula::parse(literal.text())
                    .map_err(|error| Refusal::from_syntax_error(error, Some(&literal)));
                (Some(literal), formula)
            }
            Err(error) => {
                let refusal = Refusal {
                    finding: Box::new(literal_finding(&error, text)),
                    error: None,
                    literal_error: Some(error),
                };
                (None, Err(refusal))
            }
        };
        Self {
            text: text.to_owned(),
            below: below.to_owned(),
            literal,
            formula,
        }
    }

    /// Reads the text as an expression, without OpenPBS's string literal.
    pub fn as_expression(text: &str) -> Self {
        let formula = Formula::parse(text).map_err(|error| Refusal::from_syntax_error(error, None));
        Self {
            text: text.to_owned(),
            below: String::new(),
            literal: None,
            formula,
        }
    }

    /// The submitted text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The formula, or why the text is not one.
    pub fn formula(&self) -> Result<&Formula, &Refusal> {
        self.formula.as_ref()
    }

    /// The string literal that Python reads before the formula in it, if the text is to be read as
    /// one.
    pub fn literal(&self) -> Option<&PythonStringLiteral> {
        self.literal.as_ref()
    }

    /// The same submission, with the lines that the source has below the text.
    #[must_use]
    pub fn followed_by(self, below: &str) -> Self {
        Self {
            below: below.to_owned(),
            ..self
        }
    }

    /// Whether the source has text only below its first line, which is empty.
    pub(crate) fn is_below_empty_line(&self) -> bool {
        self.text.is_empty() && !self.below.trim().is_empty()
    }

    /// A finding if the source has more than comments below the first line: OpenPBS silently leaves
    /// it out.
    pub fn lines_left_out(&self) -> Option<Diagnostic> {
        let mut count = 0;
        for line in self.below.lines() {
            count += usize::from(!matches!(line.trim().chars().next(), None | Some('#')));
        }
        let lines = match count {
            0 => return None,
            1 => "1 line below it is".to_owned(),
            count => format!("{count} lines below it are"),
        };
        let end = self.text.split('\n').next().unwrap_or("").trim_end().len();
        let message = format!("PBS keeps only the first line: {lines} left out");
        Some(
            Diagnostic::new(Code::LinesLeftOut, message, Span::new(end, end)).with_help(
                "write the whole formula on the first line; begin notes below it with `#`",
            ),
        )
    }

    /// Maps the spans of a finding on the formula to the submitted text.
    pub fn in_source(&self, finding: Diagnostic) -> Diagnostic {
        mapped(finding, self.literal.as_ref())
    }
}

impl Refusal {
    fn from_syntax_error(error: SyntaxError, literal: Option<&PythonStringLiteral>) -> Self {
        Self {
            finding: Box::new(mapped(error.diagnostic(), literal)),
            error: Some(error),
            literal_error: None,
        }
    }
}

fn mapped(mut finding: Diagnostic, literal: Option<&PythonStringLiteral>) -> Diagnostic {
    if let Some(literal) = literal {
        finding.span = literal.in_source(finding.span);
        for label in &mut finding.labels {
            label.span = literal.in_source(label.span);
        }
        if let Some(fix) = &mut finding.fix {
            fix.span = literal.in_source(fix.span);
        }
    }
    finding
}

fn literal_finding(error: &InvalidLiteral, text: &str) -> Diagnostic {
    let help = if error.keeps_stale_values() {
        "the scheduler does not detect the error: every job gets the last value that the previous formula had; \
         if it is the first formula after the scheduler's start, the scheduler crashes"
    } else {
        "write the character instead of its escape"
    };
    let found = Diagnostic::new(Code::BreaksScript, error.to_string(), error.span).with_help(help);
    match in_quotes(text) {
        Some(formula) => found
            .with_label("the quotes of a shell command are not part of the formula")
            .with_fix(Span::new(0, text.len()), formula, Applicability::Unsafe),
        None => found,
    }
}

/// The formula in a text that was copied with the double quotes around it.
fn in_quotes(text: &str) -> Option<&str> {
    let formula = text.trim().strip_prefix('"')?.strip_suffix('"')?;
    (!formula.contains('"') && Formula::parse(formula).is_ok()).then_some(formula)
}
