//! The errors of the library as Python's exceptions, with the arguments and files that give what a
//! message asks for.

use std::path::Path;

use job_sort_formula::diagnostic::{Diagnostic, Message, Need, Span};
use jsf::requests::in_program;
use jsf_site::SiteError;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PySyntaxError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    job_sort_formula,
    FormulaError,
    PyValueError,
    "A formula is Python but not arithmetic. `span` is the place in characters: `text[span[0]:span[1]]`."
);

/// Where a span begins and ends, in characters, as Python counts them.
pub fn characters(text: &str, span: Span) -> (usize, usize) {
    let count = |end: u32| {
        let before = text.char_indices().take_while(|(at, _)| *at < end as usize);
        before.count()
    };
    (count(span.start), count(span.end))
}

/// The `SyntaxError` for a text that does not parse, with the place that Python shows below the
/// line.
pub fn syntax_error(text: &str, finding: &Diagnostic) -> PyErr {
    let start = finding.span.range_in(text).start;
    let before = text[..start].rsplit('\n').next().unwrap_or_default();
    let after = text[start..].split('\n').next().unwrap_or_default();
    let line_start = start - before.len();
    let line_end = start + after.len();
    let line_number = 1 + text[..line_start].matches('\n').count();
    let line = &text[line_start..line_end];
    let in_line = |at: u32| (at as usize).clamp(line_start, line_end) - line_start;
    let (offset, end) = characters(
        line,
        Span::new(in_line(finding.span.start), in_line(finding.span.end)),
    );
    let message = match &finding.help {
        Some(help) => format!("{}; {}", finding.message, help.worded(in_python)),
        None => finding.message.clone(),
    };
    let message = message + &path_advice(text);
    // Python counts the columns of a `SyntaxError` from 1
    let place = (
        "<formula>",
        line_number,
        offset + 1,
        line.to_owned(),
        line_number,
        end + 1,
    );
    PySyntaxError::new_err((message, place))
}

/// What is advised, after a semicolon, for a text that is the path of a file; empty for any other.
pub fn path_advice(text: &str) -> String {
    if Path::new(text.trim()).is_file() {
        "; this is the path of a file: give the formula in it, as `pathlib.Path(path).read_text()` does".to_owned()
    } else {
        String::new()
    }
}

/// Messages that ask for what Python gives.
pub fn worded(messages: &[Message]) -> Vec<String> {
    let mut worded = Vec::with_capacity(messages.len());
    for message in messages {
        worded.push(message.worded(in_python));
    }
    worded
}

/// `OSError`, or the class derived from it that fits, for a file that cannot be read; `ValueError`
/// for the rest.
pub fn site_error(error: SiteError) -> PyErr {
    let message = error.message().worded(in_python);
    let SiteError::Read {
        path,
        error: reason,
    } = error
    else {
        return PyValueError::new_err(message);
    };
    let Some(code) = reason.raw_os_error() else {
        return PyOSError::new_err(message);
    };
    let text = reason.to_string();
    // Python adds the number of the error itself
    let text = text.replace(&format!(" (os error {code})"), "");
    PyOSError::new_err((code, text, path.display().to_string()))
}

/// What is asked for, and how this package takes it.
pub fn in_python(need: Need) -> String {
    let argument = match need {
        Need::Formula => "the argument `formula`, or `qmgr_print_server.txt` in the site's folder",
        Need::Moment => "as `at`",
        Need::OpenPbsNumbers => "`Site.open(…, numbers=\"openpbs\")`",
        Need::Policy(name) | Need::PolicyOfRelease(name, _) => {
            return in_program(need, Some(format!("`Site.open(…, policy=\"{name}\")`")));
        }
        Need::Processors => "as `pbsnodes.json` in the site's folder, or as `processors`",
        Need::Python => "`Formula(…, python=\"X.Y\")`, `Site.open(…, python=\"X.Y\")`",
        Need::PythonNumbers => "`Site.open(…, numbers=\"decimal\")`",
        Need::ResourceType => "`Formula(…, resources={name: type})`, where there is no site",
        Need::Site => "`Site.open`",
        Need::Threshold => "`Site.open(…, threshold=…)`",
        _ => return in_program(need, None),
    };
    in_program(need, Some(argument.to_owned()))
}
