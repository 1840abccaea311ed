//! A comparison of two rankings, and the formats that it can be written in.

use std::collections::BTreeMap;
use std::io::{self, Write};

use job_sort_formula::python::Value;
use job_sort_formula::rank::{
    Comparison, Fairness, GroupChange, OldNew, SummandAgreement, Transitions,
};
use jsf_openpbs::check::Checked;
use jsf_site::ComparedQueue;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Format};
use crate::commands::compare::view::{ComparePageParts, ListedJobs, compare_document};
use crate::ranked_row::RankedRow;
use crate::view::csv_writer::{Cells, guarded, write_csv};
use crate::view::document::Document;

/// A comparison, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct CompareReport<'a> {
    /// The texts of the formulas.
    pub formulas: OldNew<&'a str>,
    /// The jobs under both rankings, and what changes.
    pub compared: &'a ComparedQueue,
    /// The rows to list, in the order in which they are listed.
    pub rows: &'a [RankedRow],
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
        let lines = self.jobs().map(|job| {
            (
                [job.id, job.entity, job.queue].map(|name| guarded(name, cells)),
                [job.old_rank, job.new_rank],
                [job.old_score, job.new_score].map(finite_score),
                job.moved,
            )
        });
        write_csv(header.split(','), lines, out)
    }
}

impl<'a> CompareReport<'a> {
    /// The numbers that concern the whole queue.
    pub(crate) fn numbers(&self) -> Numbers<'a> {
        let ComparedQueue {
            comparison, sides, ..
        } = self.compared;
        let sides = sides.as_ref();
        Numbers {
            summary: Summary {
                comparison,
                moved: comparison.moved(),
                evaluated: sides.map(|side| side.ranking.scores().count()),
                ties: sides.map(|side| side.ranking.ties()),
            },
            fairness: ComparedFairness {
                sides: comparison.fairness,
                first: comparison.first,
            },
        }
    }

    fn transitions(&self, transitions: &Transitions) -> StartStop<'a> {
        let [start, stop] = [&transitions.start, &transitions.stop].map(|rows| {
            let rows = rows.iter();
            rows.map(|&row| self.compared.table.id(row as usize))
                .collect()
        });
        StartStop { start, stop }
    }

    /// The jobs to list.
    fn jobs(&self) -> impl Iterator<Item = Job<'a>> {
        self.rows.iter().map(|ranked| Job::new(self, ranked.row()))
    }

    /// The scores of a row; `None` for a side on which the job is excluded.
    pub(crate) fn scores(&self, row: usize) -> OldNew<Option<f64>> {
        let sides = self.compared.sides.as_ref();
        sides.map(|side| Some(side.ranking.score(row)?.value))
    }
}

/// The rows that a comparison lists: the new order, then the jobs that are considered only under
/// the old ranking.
pub fn compared_rows(comparison: &Comparison) -> Vec<RankedRow> {
    comparison
        .moves()
        .map(|job| RankedRow {
            row: job.row as u32,
            rank: job.new.unwrap_or(0) as u32,
        })
        .collect()
}

impl Serialize for CompareReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ComparedQueue {
            comparison, sides, ..
        } = self.compared;
        let changes = [
            ("failing", self.transitions(&comparison.failing)),
            ("passing", self.transitions(&comparison.passing)),
            ("considered", self.transitions(&comparison.being_considered)),
        ];
        let json = CompareJson {
            sides: OldNew::new(
                Side::new(self.formulas.old, &sides.old.rules),
                Side::new(self.formulas.new, &sides.new.rules),
            ),
            jobs: self.jobs().collect(),
            numbers: self.numbers(),
            changes: BTreeMap::from(changes),
            entities: comparison.entities.iter().map(Group::new).collect(),
            groups: comparison.groups.iter().map(Group::new).collect(),
            queues: comparison.queues.iter().map(Group::new).collect(),
            sizes: comparison.sizes.iter().map(Group::new).collect(),
            decides: self.decides,
        };
        json.serialize(serializer)
    }
}

fn finite_score(score: Option<f64>) -> Option<String> {
    let score = score.filter(|score| score.is_finite())?;
    Some(Value::Float(score).repr())
}

#[derive(Serialize)]
struct CompareJson<'a> {
    #[serde(flatten)]
    sides: OldNew<Side<'a>>,
    jobs: Vec<Job<'a>>,
    #[serde(flatten)]
    numbers: Numbers<'a>,
    changes: BTreeMap<&'static str, StartStop<'a>>,
    entities: Vec<Group<'a>>,
    groups: Vec<Group<'a>>,
    queues: Vec<Group<'a>>,
    sizes: Vec<Group<'a>>,
    decides: OldNew<&'a [SummandAgreement]>,
}

#[derive(Serialize)]
struct Side<'a> {
    formula: &'a str,
    /// By heading.
    rules: BTreeMap<&'a str, &'a str>,
}

impl<'a> Side<'a> {
    fn new(formula: &'a str, rules: &'a [(&'static str, String)]) -> Self {
        let rules = rules.iter().map(|(heading, text)| (*heading, &**text));
        Self {
            formula,
            rules: rules.collect(),
        }
    }
}

/// The numbers that concern the whole queue.
#[derive(Serialize)]
pub(crate) struct Numbers<'a> {
    summary: Summary<'a>,
    fairness: ComparedFairness,
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    moved: usize,
    evaluated: OldNew<usize>,
    ties: OldNew<usize>,
}

#[derive(Serialize)]
struct ComparedFairness {
    #[serde(flatten)]
    sides: OldNew<Fairness>,
    first: usize,
}

/// The ids of the jobs that start and stop doing something.
#[derive(Serialize)]
struct StartStop<'a> {
    start: Vec<&'a str>,
    stop: Vec<&'a str>,
}

#[derive(Serialize)]
struct Group<'a> {
    #[serde(flatten)]
    change: &'a GroupChange,
    old_mean_rank: Option<f64>,
    new_mean_rank: Option<f64>,
    won: i64,
}

impl<'a> Group<'a> {
    fn new(change: &'a GroupChange) -> Self {
        let mean = change.mean_rank();
        Self {
            change,
            old_mean_rank: mean.map(|mean| mean.old),
            new_mean_rank: mean.map(|mean| mean.new),
            won: change.won(),
        }
    }
}

#[derive(Serialize)]
struct Job<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    /// From 1; null for a job that is not considered.
    old_rank: Option<usize>,
    new_rank: Option<usize>,
    /// Null if it is not finite.
    old_score: Option<f64>,
    new_score: Option<f64>,
    moved: Option<i64>,
}

impl<'a> Job<'a> {
    fn new(report: &CompareReport<'a>, row: usize) -> Self {
        let ComparedQueue {
            table, comparison, ..
        } = report.compared;
        let job = comparison.job(row);
        let scores = report.scores(row);
        Self {
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
}
