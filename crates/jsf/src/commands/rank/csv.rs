//! A ranking as CSV: a header and one line per job.
//!
//! The lines are made without the crate `csv`, which takes longer to look at twelve fields than the
//! formula to be evaluated: numbers and keywords never need quotes.

use std::io::{self, Write};

use job_sort_formula::jobs::JobState;
use job_sort_formula::python::Value;
use job_sort_formula::python::repr::fixed_point_digits;
use job_sort_formula::rank::FormulaResult;
use jsf_openpbs::number_format::write_logged;

use crate::commands::rank::answer::{Line, RankReport};
use crate::view::csv_writer::{Cells, guarded};
use crate::view::ordered_writer::write_in_order;

/// The fields of every job; the inputs and the summands that are shown follow.
const HEADER: &str =
    "rank,id,entity,queue,state,score,exact,logged,error,considered,excluded,reason";

/// Writes comma-separated values as in RFC 4180.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_csv(
    report: &RankReport<'_>,
    cells: Cells,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut header = HEADER.as_bytes().to_vec();
    for name in report.inputs.iter().copied().chain(report.term_texts()) {
        header.push(b',');
        push_text(name, cells, &mut header);
    }
    header.push(b'\n');
    out.write_all(&header)?;
    let lines = report.line_maker();
    write_in_order(report.rows, out, |rows, text| {
        let mut logged = String::new();
        // the rows of a ranking lie anywhere in the table: what is far away is fetched for many
        // lines at once
        let lines: Vec<_> = rows.iter().map(|&ranked| lines.line(ranked)).collect();
        let ids: Vec<_> = lines.iter().map(|line| report.table.id(line.row)).collect();
        let states: Vec<_> = lines
            .iter()
            .map(|line| report.table.state(line.row))
            .collect();
        for ((line, id), state) in lines.iter().zip(ids).zip(states) {
            push_line(report, line, id, state, cells, &mut logged, text);
        }
    })
}

/// Appends the line of a job. `logged` is a text that is used again for each line.
fn push_line(
    report: &RankReport<'_>,
    line: &Line<'_>,
    id: &str,
    state: JobState,
    cells: Cells,
    logged: &mut String,
    text: &mut Vec<u8>,
) {
    let table = report.table;
    if let Some(rank) = line.rank {
        push_str(itoa::Buffer::new().format(rank), text);
    }
    for name in [id, table.entity(line.row), table.queue(line.row)] {
        text.push(b',');
        push_text(name, cells, text);
    }
    text.push(b',');
    push_str(state.letter(), text);
    text.push(b',');
    push_values(line, logged, text);
    text.push(b',');
    if let Some(error) = line.error() {
        push_text(&error.to_string(), cells, text);
    }
    match report.excluded(line) {
        None => push_str(
            if line.is_considered() {
                ",true,,"
            } else {
                ",false,,"
            },
            text,
        ),
        Some((keyword, reason)) => {
            push_str(",false,", text);
            push_str(keyword, text);
            text.push(b',');
            push_text(&reason, cells, text);
        }
    }
    for input in report.inputs {
        push_value(report.input(input, line.row), text);
    }
    for value in report.term_values(line.row) {
        push_value(value, text);
    }
    text.push(b'\n');
}

/// The fields `score`, `exact` and `logged`.
fn push_values(line: &Line<'_>, logged: &mut String, text: &mut Vec<u8>) {
    let Some(score) = &line.score else {
        return push_str(",,", text);
    };
    // an infinite value is ordered, and CSV has no number for it
    if score.value.is_finite() {
        push_float(score.value, text);
    }
    text.push(b',');
    match &score.unrounded {
        Ok(FormulaResult::Python(Value::Float(exact))) => push_float(*exact, text),
        Ok(FormulaResult::Python(exact)) => push_str(&exact.repr(), text),
        Ok(FormulaResult::Decimal(exact)) => push_str(&exact.to_string(), text),
        Err(_) => {}
    }
    text.push(b',');
    logged.clear();
    write_logged(score.value, logged);
    push_str(logged, text);
}

/// A double as Python's `repr` prints it.
fn push_float(value: f64, text: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    match fixed_point_digits(value, &mut buffer) {
        Some(digits) => push_str(digits, text),
        None => push_str(&Value::Float(value).repr(), text),
    }
}

/// A comma and the field of an input or a summand.
fn push_value(value: Option<Value>, text: &mut Vec<u8>) {
    text.push(b',');
    if let Some(value) = value {
        push_text(&value.repr(), Cells::Plain, text);
    }
}

/// A text, in quotes if it contains a separator, a quote or a line end.
fn push_text(field: &str, cells: Cells, text: &mut Vec<u8>) {
    let field = guarded(field, cells);
    if !field
        .bytes()
        .any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'))
    {
        return push_str(&field, text);
    }
    text.push(b'"');
    push_str(&field.replace('"', "\"\""), text);
    text.push(b'"');
}

fn push_str(field: &str, text: &mut Vec<u8>) {
    text.extend_from_slice(field.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_reads_the_fields_back() {
        for field in [
            "",
            "12.vm",
            "a,b",
            "say \"x\"",
            "two\r\nlines",
            "\"",
            "grüße",
        ] {
            let mut text = b"x,".to_vec();
            push_text(field, Cells::Plain, &mut text);
            text.extend_from_slice(b",y\n");
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(text.as_slice());
            let record = reader.records().next().unwrap().unwrap();
            assert_eq!(record.iter().collect::<Vec<_>>(), ["x", field, "y"]);
        }
    }
}
