//! Rows that say by their leading blanks what is below what.

/// The accounts from the top down to the latest one.
#[derive(Debug, Default)]
pub(super) struct Ladder {
    rungs: Vec<(usize, String)>,
}

impl Ladder {
    /// The account that a row at this depth is in; `None` at the top.
    pub(super) fn above(&mut self, depth: usize) -> Option<&str> {
        while self.rungs.last().is_some_and(|(rung, _)| *rung >= depth) {
            self.rungs.pop();
        }
        self.rungs.last().map(|(_, name)| name.as_str())
    }

    /// An account at this depth, below which the next rows may stand.
    pub(super) fn stand_on(&mut self, depth: usize, account: &str) {
        self.rungs.push((depth, account.to_owned()));
    }
}

/// The number of leading blanks, and the name behind them.
pub(super) fn indented(cell: &str) -> (usize, &str) {
    let name = cell.trim_start_matches(' ');
    (cell.len() - name.len(), name.trim_end())
}
