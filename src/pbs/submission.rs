//! A formula as an admin submits it, and as Python comes to read it.

use crate::diagnostic::{Diagnostic, Span};
use crate::formula::Formula;
use crate::formula::syntax::SyntaxError;
use crate::pbs::python_string_literal::{InvalidLiteral, PythonStringLiteral};

/// The text of a formula with what was made of it.
#[derive(Debug, Clone)]
pub struct FormulaSubmission<'t> {
    text: &'t str,
    /// Whether it is read as a line in a script.
    is_line: bool,
    script: Option<PythonStringLiteral>,
    formula: Result<Formula, Refusal>,
}

/// Why a text is no formula.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// What is wrong, placed in the admin's text.
    pub finding: Box<Diagnostic>,
    /// The error, if it is one of syntax; else the text never reaches Python as it was meant.
    pub error: Option<SyntaxError>,
}

impl<'t> FormulaSubmission<'t> {
    /// Reads the text as OpenPBS does: its first line, as a string in a Python script, and then as an expression.
    ///
    /// ```
    /// use job_sort_formula::pbs::submission::FormulaSubmission;
    ///
    /// assert!(FormulaSubmission::to_openpbs(r"ncpus\t* 2").formula().is_ok());
    /// let refusal = FormulaSubmission::to_openpbs("float(\"2\")").formula().unwrap_err().clone();
    /// assert_eq!(refusal.finding.code, "JSF106");
    /// ```
    pub fn to_openpbs(text: &'t str) -> Self {
        match PythonStringLiteral::parse(text) {
            Ok(script) => {
                let formula = Formula::parse(script.text()).map_err(|error| Refusal::of(error, Some(&script)));
                Self { text, is_line: true, script: Some(script), formula }
            }
            Err(broken) => {
                let refusal = Refusal { finding: Box::new(broken_script(broken)), error: None };
                Self { text, is_line: true, script: None, formula: Err(refusal) }
            }
        }
    }

    /// Reads the text as an expression, as it stands.
    pub fn as_expression(text: &'t str) -> Self {
        let formula = Formula::parse(text).map_err(|error| Refusal::of(error, None));
        Self { text, is_line: false, script: None, formula }
    }

    /// The admin's text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The formula, or why the text is none.
    pub fn formula(&self) -> Result<&Formula, &Refusal> {
        self.formula.as_ref()
    }

    /// The finding that the text goes on behind its first line, all of which OpenPBS drops without a word.
    pub(super) fn dropped_lines(&self) -> Option<Diagnostic> {
        let (first, rest) = self.text.split_once('\n')?;
        let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        if !self.is_line || rest.lines().all(is_blank) {
            return None;
        }
        let start = first.len() + 1 + (rest.len() - rest.trim_start().len());
        let span = Span::new(start, self.text.trim_end().len());
        let message = "the formula goes on behind the end of its line";
        Some(
            Diagnostic::error("JSF101", message, span)
                .with_help("PBS keeps only the first line; write the formula on one line"),
        )
    }

    /// A finding on the formula, moved to its place in the admin's text.
    pub fn in_source(&self, finding: Diagnostic) -> Diagnostic {
        moved(finding, self.script.as_ref())
    }
}

impl Refusal {
    fn of(error: SyntaxError, script: Option<&PythonStringLiteral>) -> Self {
        Self { finding: Box::new(moved(error.diagnostic(), script)), error: Some(error) }
    }
}

fn moved(mut finding: Diagnostic, script: Option<&PythonStringLiteral>) -> Diagnostic {
    if let Some(script) = script {
        finding.span = script.in_source(finding.span);
        finding.labels.iter_mut().for_each(|label| label.span = script.in_source(label.span));
        finding.fix.iter_mut().for_each(|fix| fix.span = script.in_source(fix.span));
    }
    finding
}

fn broken_script(broken: InvalidLiteral) -> Diagnostic {
    let help = if broken.keeps_stale_values() {
        "the scheduler notices nothing: every job keeps the value that the formula before gave to the job before it; \
         if it is the first formula after the scheduler's start, the scheduler dies"
    } else {
        "write the character itself"
    };
    Diagnostic::error("JSF106", broken.to_string(), broken.span).with_help(help)
}
