//! The errors of a queue, put together by what went wrong and where.

use crate::diagnostic::Span;
use crate::rank::{Ranking, ScoreError};

/// Jobs that failed in the same way at the same place.
#[derive(Debug, Clone)]
pub struct ErrorGroup<'r> {
    /// The error of the first of them.
    pub error: &'r ScoreError,
    /// Their rows.
    pub rows: Vec<usize>,
}

impl Ranking {
    /// The errors, the most frequent first.
    pub fn error_groups(&self) -> Vec<ErrorGroup<'_>> {
        let mut groups: Vec<ErrorGroup<'_>> = Vec::new();
        for (row, error) in self.scores().errors() {
            match groups.iter_mut().find(|group| is_same(group.error, error)) {
                Some(group) => group.rows.push(row),
                None => groups.push(ErrorGroup { error, rows: vec![row] }),
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
        groups
    }
}

fn is_same(left: &ScoreError, right: &ScoreError) -> bool {
    let place = |error: &ScoreError| -> Span { error.span() };
    left.kind() == right.kind() && place(left) == place(right)
}
