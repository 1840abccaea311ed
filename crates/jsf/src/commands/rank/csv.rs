//! A ranking as CSV: a header and one line per job.

use std::io::{self, Write};

use job_sort_formula::python::Value;

use crate::commands::rank::answer::{Job, RankReport};
use crate::view::csv_writer::{self, Cells, guarded};

/// The fields of every job; the inputs and the summands that are shown follow.
const HEADER: [&str; 12] = [
    "rank",
    "id",
    "entity",
    "queue",
    "state",
    "score",
    "exact",
    "logged",
    "error",
    "considered",
    "excluded",
    "reason",
];

/// Writes comma-separated values as in RFC 4180.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_csv(
    report: &RankReport<'_>,
    cells: Cells,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = report.inputs.iter().copied().chain(report.term_texts());
    let names: Vec<_> = names.map(|name| guarded(name, cells)).collect();
    let mut header = HEADER.to_vec();
    header.extend(names.iter().map(|name| &**name));
    csv_writer::write_csv(&header, report.jobs().map(|job| fields(job, cells)), out)
}

fn fields(job: Job<'_>, cells: Cells) -> Vec<String> {
    let text = |text: &str| guarded(text, cells).into_owned();
    // an infinite value is ordered, and CSV has no number for it
    let score = job.score.filter(|score| score.is_finite());
    let mut fields = vec![
        job.rank.map(|rank| rank.to_string()).unwrap_or_default(),
        text(job.id),
        text(job.entity),
        text(job.queue),
        job.state.to_owned(),
        score
            .map(|score| Value::Float(score).repr())
            .unwrap_or_default(),
        job.exact.unwrap_or_default(),
        job.logged.unwrap_or_default(),
        job.error
            .map(|error| text(&error.message))
            .unwrap_or_default(),
        job.considered.to_string(),
        job.excluded.unwrap_or_default().to_owned(),
        text(&job.reason.unwrap_or_default()),
    ];
    let inputs = job.inputs.into_iter().map(|(_, value)| value);
    let terms = job.terms.into_iter().flatten().map(|term| term.value);
    fields.extend(
        inputs
            .chain(terms)
            .map(|value| value.map(|value| value.repr()).unwrap_or_default()),
    );
    fields
}
