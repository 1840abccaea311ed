//! The score of every job under a formula, and the order in which the scheduler considers the jobs,
//! with the NaN semantics of OpenPBS.
//!
//! In: a [`Program`](crate::Program), a [`JobTable`](crate::JobTable) and, through
//! [`fill_fairshare`], a fair-share backend. Out: the [`Scores`], of which each is a value or an error that concerns its job alone, and a [`Ranking`].

mod compare;
mod evaluate;
pub mod explain;
mod fairshare_columns;
mod input_columns;
pub mod measures;
mod ranking;
mod scores;
mod sort;
mod summands;
mod work;

pub use crate::python::InputColumn;
pub use compare::{
    ComparedRanking, Comparison, Fairness, GroupChange, JobMove, OldNew, SIZES, Transitions,
};
pub use evaluate::{RowScorer, number_of, python_result, score};
pub use fairshare_columns::{fairshare_number, fill_fairshare, missing_fairshare_input};
pub use input_columns::{ColumnError, ColumnScratch};
pub use ranking::{ErrorGroup, Ranking};
pub use scores::{Consequence, OnError, Score, ScoreError, ScorePrecision, Scores};
pub use sort::{double_key, higher_first, merge_sort, sort_listed_by_value, top_rows};
pub use summands::{SummandAgreement, SummandColumns, SummandRange, summand_agreements};
pub use work::{QueueWork, SEARCH_WORK, WorkBudget, row_work};
