//! The rows of a ranking in the order in which they are shown.

use job_sort_formula::Ranking;

/// A row, and its rank if it has one.
#[derive(Debug, Clone, Copy)]
pub struct RankedRow {
    pub(crate) row: u32,
    /// From 1; 0 for a job that the scheduler does not consider.
    pub(crate) rank: u32,
}

impl RankedRow {
    /// Every row of a ranking: the ranked ones first, then the others.
    pub fn all(ranking: &Ranking) -> Vec<Self> {
        let order = ranking.order();
        let mut all = Vec::with_capacity(ranking.scores().len());
        all.extend(order.iter().zip(1..).map(|(&row, rank)| Self {
            row: row as u32,
            rank,
        }));
        if order.len() < ranking.scores().len() {
            let mut ordered = vec![false; ranking.scores().len()];
            for &row in order {
                ordered[row] = true;
            }
            let others = (0..ordered.len()).filter(|&row| !ordered[row]);
            all.extend(others.map(|row| Self {
                row: row as u32,
                rank: 0,
            }));
        }
        all
    }

    /// The row in the table.
    pub fn row(self) -> usize {
        self.row as usize
    }

    /// The rank, from 1; `None` for a job that the scheduler does not consider.
    pub fn rank(self) -> Option<usize> {
        (self.rank > 0).then_some(self.rank as usize)
    }
}
