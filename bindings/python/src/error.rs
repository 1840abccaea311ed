//! The errors of the library as Python's exceptions.

use std::path::Path;

use job_sort_formula::diagnostic::{Diagnostic, Message, Span};
use jsf_site::SiteError;
use pyo3::exceptions::{PyOSError, PySyntaxError, PyValueError};
use pyo3::{PyErr, create_exception};

use crate::need::in_python;

create_exception!(
    job_sort_formula,
    FormulaError,
    PyValueError,
    "A formula is Python but not arithmetic. `span` is the place in characters: `text[span[0]:span[1]]`."
);

/// Where a span begins and ends, in characters, as Python counts them.
pub fn characters(text: &str, span: Span) -> (usize, usize) {
    let count = |end: u32| {
        text.char_indices()
            .take_while(|(at, _)| *at < end as usize)
            .count()
    };
    (count(span.start), count(span.end))
}

/// The `SyntaxError` for a text that does not parse, with the place that Python shows below the
/// line.
pub fn syntax_error(text: &str, finding: &Diagnostic) -> PyErr {
    let mut start = (finding.span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let line_end = text[start..].find('\n');
    let line_end = line_end.map_or(text.len(), |end| start + end);
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
    let worded = messages.iter().map(|message| message.worded(in_python));
    worded.collect()
}

/// `OSError`, or the class derived from it that fits, for a file that cannot be read; `ValueError`
/// for the rest.
pub fn site_error(error: &SiteError) -> PyErr {
    let message = error.message().worded(in_python);
    match error {
        SiteError::Read {
            path,
            error: reason,
        } => match reason.raw_os_error() {
            Some(code) => {
                let text = reason.to_string();
                let text = text
                    .strip_suffix(&format!(" (os error {code})"))
                    .unwrap_or(&text)
                    .to_owned();
                PyOSError::new_err((code, text, path.display().to_string()))
            }
            None => PyOSError::new_err(message),
        },
        _ => PyValueError::new_err(message),
    }
}
