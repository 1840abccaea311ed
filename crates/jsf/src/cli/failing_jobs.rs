//! The jobs for which a formula fails, on standard error.

use job_sort_formula::rank::{Consequence, OnError};
use job_sort_formula::{JobTable, Ranking};

use crate::cli::report;

/// Counts the jobs with an error on standard error, for formats without a summary: a line for each
/// consequence in OpenPBS. `formula` names the formula.
pub(crate) fn report_errors(on_error: OnError, formula: &str, table: &JobTable, ranking: &Ranking) {
    for consequence in [Consequence::Zero, Consequence::Crash, Consequence::Unknown] {
        let mut errors = ranking
            .scores()
            .errors()
            .filter(|(_, error)| error.consequence() == consequence);
        let Some((row, error)) = errors.next() else {
            continue;
        };
        let jobs = match 1 + errors.count() {
            1 => "1 job".to_owned(),
            count => format!("{count} jobs"),
        };
        let (kind, effect) = match on_error {
            OnError::ZeroLikePbs => ("warning", consequence.in_words()),
            OnError::Null => ("warning", "ranked last"),
            OnError::Fail => ("error", "--on-error is fail"),
        };
        report(
            kind,
            format_args!(
                "{formula} fails for {jobs}, first for `{}`: {error}; {effect}",
                table.id(row)
            ),
        );
    }
}
