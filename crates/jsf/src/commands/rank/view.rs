//! What people see of a ranking: the jobs as a table, and which of them is first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use job_sort_formula::rank::SummandAgreement;
use job_sort_formula::rank::explain::nearest_double;
use jsf_openpbs::amounts;
use jsf_site::RankedQueue;

use crate::commands::rank::{Job, RankAnswer};
use crate::commands::shares::view::tree_section;
use crate::view::charts::{Axis, Plot, StepLine};
use crate::view::document::{Cell, Chart, Column, DECIDES, Document, Fact, Section, Table, cells};
use crate::view::facts::{decides_fact, rule_facts, summand_columns};
use crate::view::findings::{brief_findings, drawn_findings};
use crate::view::groups::group_sections;
use crate::view::verdict::verdict_sentence;
use crate::view::words::{count, grouped_count, grouped_number, significant, state_words};

impl RankAnswer<'_> {
    /// What people see of it.
    pub(super) fn shown(&self) -> Document<'_> {
        let decides = self.queue.decides();
        let text = self.given.text();
        let checked = self.checked();
        let mut sections = vec![Section::formulas(text, text)];
        sections.extend(brief_findings(checked, None));
        sections.extend(drawn_findings(&self.given.source, &checked.findings));
        let has_effect = checked.verdict.has_effect();
        let mut section = Section::new("jobs");
        // a chart is shown on a page only, and the table has its numbers
        if self.queue.ranking.order().len() > 1 {
            section = section.chart(|| values_chart(&self.queue));
        }
        let section = section.table(self.jobs(&decides));
        // without an effect, the order is that of the submission, which says nothing of the formula
        sections.push(section.in_full_if(!has_effect));
        if let Some(groups) = &self.groups {
            let groups = group_sections(groups, true).into_iter();
            sections.extend(groups.map(Section::on_page));
            sections.extend(self.queue.assessed_tree().map(tree_section));
        }
        Document {
            command: "jsf rank",
            title: "Ranking of a queue".to_owned(),
            headline: self.headline(),
            facts: self.facts(has_effect, &decides),
            sections,
            read_on: "jsf explain --job ID",
        }
    }

    /// The verdict on the formula, then which job is first, then how many jobs are ranked.
    fn headline(&self) -> String {
        let checked = self.checked();
        let verdict = verdict_sentence(checked, "the formula");
        if !checked.verdict.has_effect() {
            return verdict.unwrap_or_default();
        }
        let mut sentences = Vec::from_iter(verdict);
        sentences.extend(self.queue.contradiction.clone());
        sentences.extend(first_job(&self.queue));
        sentences.push(self.job_counts());
        sentences.join(" ")
    }

    /// How many jobs are ranked, and what the others are.
    fn job_counts(&self) -> String {
        let RankedQueue { table, ranking, .. } = &self.queue;
        let mut others: BTreeMap<&str, usize> = BTreeMap::new();
        for row in 0..table.len() {
            let why = if self.ranks[row] > 0 {
                continue;
            } else if self.not_considered.contains_key(&row) {
                "below the threshold or without shares"
            } else if table.exclusion(row).is_some() {
                "ignored"
            } else {
                state_words(table.state(row))
            };
            *others.entry(why).or_default() += 1;
        }
        let ranked = grouped_number(ranking.order().len());
        let all = grouped_count(table.len(), "job");
        if others.is_empty() {
            return format!("{ranked} of {all} are ranked.");
        }
        let mut others = Vec::from_iter(others);
        others.sort_by_key(|(_, jobs)| Reverse(*jobs));
        let mut words = Vec::new();
        for (why, jobs) in others {
            words.push(format!("{} {why}", grouped_number(jobs)));
        }
        format!("{ranked} of {all} are ranked; {}.", words.join(", "))
    }

    /// The rules, what decides the order, how many pairs of neighbours the formula does not order, and
    /// how many jobs have an error of each kind.
    fn facts(&self, has_effect: bool, decides: &[SummandAgreement]) -> Vec<Fact> {
        let ranking = &self.queue.ranking;
        let mut facts = rule_facts(self.given.text(), &self.queue.rules);
        if has_effect {
            facts.extend(decides_fact(decides));
            if ranking.ties() > 0 {
                let text = format!(
                    "{} of {} neighbouring pairs have equal values",
                    grouped_number(ranking.ties()),
                    grouped_number(ranking.order().len() - 1)
                );
                facts.push(Fact::new("ties", text));
            }
        }
        let mut errors = Vec::new();
        for (kind, jobs) in ranking.scores().errors_by_kind() {
            errors.push(format!("{}: {}", kind.description(), count(jobs, "job")));
        }
        if !errors.is_empty() {
            errors.sort_unstable();
            facts.push(Fact::new("errors", errors.join("; ")).in_full());
        }
        facts
    }

    /// The jobs, in the order of the answer.
    fn jobs(&self, decides: &[SummandAgreement]) -> Table<'_> {
        let mut columns = vec![
            Column::number("rank", 9),
            Column::id("job", DECIDES),
            Column::text("entity", 5),
            Column::text("queue", 3),
            Column::text("state", 1).on_page(),
            Column::number("value", DECIDES),
        ];
        for name in self.inputs() {
            let entry = self.queue.schema.entry(name);
            let heading = match entry.and_then(|entry| entry.input_type.unit()) {
                Some(unit) => format!("{name} ({unit})"),
                None => name.to_string(),
            };
            columns.push(Column::number(heading, 4));
        }
        columns.extend(summand_columns(self.term_texts(), decides, 7));
        columns.push(Column::wrapped("note", 6));
        let mut jobs = Table::new(columns, self.rows.to_vec(), |&row| job_cells(self.job(row)));
        // rows are made when they are shown: to measure all would make each twice
        jobs.measured = MEASURED_ROWS;
        jobs
    }
}

/// The most steps of the chart of the values; of more jobs each second, third … one is drawn.
const MAX_POINTS: usize = 2000;
/// The number of rows that decide the widths of the columns, about a screenful.
const MEASURED_ROWS: usize = 50;

/// Which job is first, and by how much.
fn first_job(queue: &RankedQueue) -> Option<String> {
    let RankedQueue { table, ranking, .. } = queue;
    let order = ranking.order();
    let first = *order.first()?;
    let mut job = format!("`{}`", table.id(first));
    if !table.entity(first).is_empty() {
        job += &format!(" (`{}`)", table.entity(first));
    }
    let mut lead = String::new();
    if let Some(&second) = order.get(1)
        && let Some(first) = ranking.score(first)
        && let Some(second) = ranking.score(second)
    {
        let ahead = first.value - second.value;
        if ahead > 0.0 && ahead.is_finite() {
            let points = if ahead == 1.0 { "point" } else { "points" };
            lead = format!(", {} {points} ahead", significant(ahead));
        } else if ahead == 0.0 {
            let scores = order.iter().map_while(|&row| ranking.score(row));
            let tied = scores.take_while(|score| score.value == first.value);
            lead = format!(" of {} with the same value", tied.count());
        }
    }
    Some(format!("{job} is first{lead}."))
}

/// The values of the jobs over their ranks, of many jobs only some. A level line is a group of jobs
/// of the same value, which the formula does not order.
fn values_chart(queue: &RankedQueue) -> Chart {
    let order = queue.ranking.order();
    let values = queue.ranking.scores().values();
    let every = order.len().div_ceil(MAX_POINTS).max(1);
    let [mut low, mut high] = [f64::INFINITY, f64::NEG_INFINITY];
    let mut steps = Vec::new();
    for (index, &row) in order.iter().enumerate() {
        let value = values[row];
        if !value.is_finite() {
            continue;
        }
        // also of the jobs between two steps, so that the axis has all values
        [low, high] = [low.min(value), high.max(value)];
        if index.is_multiple_of(every) {
            let end = (index + every).min(order.len());
            steps.push([index as f64, end as f64, value]);
        }
    }
    let line = StepLine {
        class: "new".to_owned(),
        name: String::new(),
        is_named: false,
        steps,
    };
    let plot = Plot {
        x: Axis::whole([0.0, order.len() as f64], "rank"),
        y: Axis {
            range: [low, high],
            caption: "value".to_owned(),
            is_whole: false,
        },
        lines: vec![line],
    };
    plot.chart("The value of each job over its rank", &[])
}

fn job_cells(job: Job<'_>) -> Vec<Cell<'_>> {
    let mut cells = cells![
        job.rank,
        job.id,
        job.entity,
        job.queue,
        job.state,
        job.score.map(Cell::Score),
    ];
    for (_, value) in job.inputs {
        cells.push(value.into());
    }
    for term in job.terms.unwrap_or_default() {
        // with the digits that OpenPBS gives to a formula
        cells.push(match term.value.as_ref().and_then(nearest_double) {
            Some(number) => Cell::Written(amounts::printed(number), Some(number)),
            None => Cell::Missing,
        });
    }
    let mut notes = Vec::new();
    if let Some(error) = job.error {
        notes.push(format!("error: {error}"));
    }
    notes.extend(job.reason);
    cells.push(Cell::prose(notes.join("; ")));
    cells
}
