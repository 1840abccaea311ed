//! A comparison of two rankings, and the formats that it can be written in.

use std::collections::BTreeMap;
use std::io::{self, Write};

use job_sort_formula::python::Value;
use job_sort_formula::rank::{Comparison, GroupChange, OldNew, SummandAgreement, Transitions};
use jsf_openpbs::check::Checked;
use jsf_site::{ComparedQueue, Rule};
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Each, Format, object};
use crate::commands::compare::view::{ComparePageParts, ListedJobs, compare_document};
use crate::view::csv_writer::{Cells, CsvWriter, guarded_names};
use crate::view::document::Document;

/// A comparison, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct CompareReport<'a> {
    /// The texts of the formulas.
    pub formulas: OldNew<&'a str>,
    /// The jobs under both rankings, and what changes.
    pub compared: &'a ComparedQueue,
    /// The rows to list, in the order in which they are listed.
    pub rows: &'a [usize],
    /// What each summand of the formulas decides of its order.
    pub decides: OldNew<&'a [SummandAgreement]>,
    /// The result of checking the formulas, for people.
    pub checked: OldNew<Option<&'a Checked>>,
    /// Which jobs are listed.
    pub listed: ListedJobs,
    /// What only a page shows; `None` if none is written.
    pub page: Option<&'a ComparePageParts>,
}

impl Answer for CompareReport<'_> {
    fn document(&self) -> Document<'_> {
        compare_document(Self {
            page: None,
            ..*self
        })
    }

    fn page(&self) -> Document<'_> {
        compare_document(*self)
    }

    /// Writes comma-separated values as in RFC 4180: a header, and a line for each job.
    fn write_as(&self, _format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let header = "id,entity,queue,old_rank,new_rank,old_score,new_score,moved";
        let mut csv = CsvWriter::new(header, out)?;
        let table = self.compared.table();
        for &row in self.rows {
            let names = [table.id(row), table.entity(row), table.queue(row)];
            let names = guarded_names(names, cells);
            let job = self.compared.comparison.job(row);
            let OldNew { old, new } = self.scores(row).map(finite_score);
            csv.write((names, job.old, job.new, old, new, job.moved()))?;
        }
        csv.finish()
    }
}

impl CompareReport<'_> {
    /// The numbers that concern the whole queue.
    pub(crate) fn numbers(&self) -> impl Serialize {
        let comparison = &self.compared.comparison;
        let OldNew { old, new } = &self.compared.sides;
        let (old, new) = (&old.ranking, &new.ranking);
        object! {
            summary: object! {
                #[serde(flatten)]
                comparison,
                moved: comparison.moved(),
                evaluated: OldNew::new(old.scores().count(), new.scores().count()),
                ties: OldNew::new(old.ties(), new.ties()),
            },
            fairness: object! {
                #[serde(flatten)]
                sides: comparison.fairness,
                first: comparison.first,
            },
        }
    }

    /// The ids of the jobs that start and stop doing something.
    fn start_stop(&self, transitions: &Transitions) -> impl Serialize {
        object! { start: self.ids(&transitions.start), stop: self.ids(&transitions.stop) }
    }

    fn ids(&self, rows: &[u32]) -> Vec<&str> {
        let mut ids = Vec::new();
        for &row in rows {
            ids.push(self.compared.table().id(row as usize));
        }
        ids
    }

    /// A job; its ranks count from 1, and are null where it is not considered. A score is null if
    /// it is not finite.
    fn job(&self, row: usize) -> impl Serialize {
        let table = self.compared.table();
        let job = self.compared.comparison.job(row);
        let scores = self.scores(row);
        object! {
            id: table.id(row),
            entity: table.entity(row),
            queue: table.queue(row),
            old_rank: job.old,
            new_rank: job.new,
            old_score: scores.old,
            new_score: scores.new,
            moved: job.moved(),
        }
    }

    /// The scores of a row; `None` for a side on which the job is excluded.
    pub(crate) fn scores(&self, row: usize) -> OldNew<Option<f64>> {
        let sides = self.compared.sides.as_ref();
        sides.map(|side| Some(side.ranking.score(row)?.value))
    }
}

/// The rows that a comparison lists: the new order, then the jobs that are considered only under
/// the old ranking.
pub fn compared_rows(comparison: &Comparison) -> Vec<usize> {
    comparison.moves().map(|job| job.row).collect()
}

impl Serialize for CompareReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ComparedQueue {
            comparison, sides, ..
        } = self.compared;
        let report = object! {
            old: side(self.formulas.old, &sides.old.rules),
            new: side(self.formulas.new, &sides.new.rules),
            jobs: Each(|| self.rows.iter().map(|&row| self.job(row))),
            #[serde(flatten)]
            numbers: self.numbers(),
            changes: object! {
                considered: self.start_stop(&comparison.being_considered),
                failing: self.start_stop(&comparison.failing),
                passing: self.start_stop(&comparison.passing),
            },
            entities: groups(&comparison.entities),
            groups: groups(&comparison.groups),
            queues: groups(&comparison.queues),
            sizes: groups(&comparison.sizes),
            decides: self.decides,
        };
        report.serialize(serializer)
    }
}

/// A formula, and its rules by heading.
fn side(formula: &str, given: &[Rule]) -> impl Serialize {
    let mut rules = BTreeMap::new();
    for rule in given {
        rules.insert(rule.heading, rule.text.clone());
    }
    object! { formula, rules }
}

fn groups(changes: &[GroupChange]) -> Vec<impl Serialize> {
    let mut groups = Vec::new();
    for change in changes {
        let mean = change.mean_rank();
        groups.push(object! {
            #[serde(flatten)]
            change,
            old_mean_rank: mean.map(|mean| mean.old),
            new_mean_rank: mean.map(|mean| mean.new),
            won: change.won(),
        });
    }
    groups
}

fn finite_score(score: Option<f64>) -> Option<String> {
    match score {
        Some(score) if score.is_finite() => Some(Value::Float(score).repr()),
        _ => None,
    }
}
