//! `jsf rank`: a ranking, for people as a table of the jobs, and for programs as JSON, as one JSON
//! object per line, or as CSV.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::iter;

use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::program::{Program, Summand};
use job_sort_formula::jobs::{Exclusion, JobState, JobTable};
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::{inputs, nearest_double};
use job_sort_formula::rank::{Comparison, Ranking, ScoreError, SummandAgreement};
use jsf_openpbs::amounts;
use jsf_openpbs::check::Checked;
use jsf_openpbs::order::NotConsidered;
use jsf_site::RankedQueue;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, CsvText, Each, Format, guarded, object, write_in_order};
use crate::commands::shares::view::tree_section;
use crate::view::charts::{Axis, Plot, StepLine};
use crate::view::document::{Cell, Chart, Column, DECIDES, Document, Fact, Section, Table, cells};
use crate::view::findings::{brief_findings, has_effect, verdict_sentence};
use crate::view::sections::{decides_fact, group_sections, rule_facts, summand_columns};
use crate::view::words::{count, grouped_count, grouped_number, significant, state_words};

#[cfg(feature = "command")]
pub mod run;

/// A ranking, ready to be written.
#[derive(Debug)]
pub struct RankAnswer<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The ranked queue.
    pub queue: &'a RankedQueue,
    /// The rank of each row, from 1; 0 for a job that the scheduler does not consider.
    pub(crate) ranks: Vec<usize>,
    /// The waiting rows that the scheduler does not consider, and why.
    pub(crate) not_considered: HashMap<usize, NotConsidered>,
    /// The rows to show, in the order in which they are shown.
    pub rows: &'a [usize],
    /// Whether the inputs of the formula are shown with each job.
    pub has_inputs: bool,
    /// The summands of the formula to show with each job, if they are shown.
    pub terms: Option<TermColumns<'a>>,
    /// The result of checking the formula, for people.
    pub checked: Option<Checked>,
    /// What only a page shows; `None` if none is written.
    pub page: Option<RankPageParts>,
}

/// What a page shows beside a ranking.
#[derive(Debug)]
pub struct RankPageParts {
    /// The findings about the formula, as they are drawn in a terminal.
    findings: Vec<String>,
    /// The ranking compared with itself, which counts the jobs of each entity and of each queue.
    groups: Comparison,
}

/// A job of a ranking.
#[derive(Debug, Serialize)]
struct Job<'a> {
    rank: Option<usize>,
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    state: &'static str,
    /// The value that jobs are sorted by; in JSON null if it is not finite.
    score: Option<f64>,
    /// Slurm's priority, as `squeue` prints it with `%Q`: 0 for a job that is held. Absent for
    /// another formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    /// Python's `repr` of the value before it is rounded to float32.
    exact: Option<String>,
    /// The digits that OpenPBS logs.
    logged: Option<String>,
    #[serde(serialize_with = "serialize_error")]
    error: Option<&'a ScoreError>,
    considered: bool,
    /// Why the job is not considered: `state`, `threshold`, `no shares`, `partition`,
    /// `routing queue` or `invalid`.
    excluded: Option<&'static str>,
    /// The same in words.
    reason: Option<String>,
    /// The inputs that are shown; a value is missing if the scheduler ignores the job and it was
    /// not read.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "serialize_inputs"
    )]
    inputs: Vec<(&'a str, Option<Value>)>,
    /// As in the explanation of a job; absent unless they are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<Vec<Term<'a>>>,
}

/// A summand of the formula.
#[derive(Debug, Serialize)]
struct Term<'a> {
    span: Span,
    text: &'a str,
    /// Missing where the formula fails.
    value: Option<Value>,
}

/// The summands of a formula, with their values for each job.
#[derive(Debug)]
pub struct TermColumns<'a> {
    program: &'a Program,
    summands: Vec<Summand>,
    /// The columns of `sprio`, which take the place of the summands of Slurm's priority.
    sprio: &'a [(String, Program)],
}

impl<'a> TermColumns<'a> {
    /// The summands at the top of a formula.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            summands: program.summands(),
            sprio: &[],
        }
    }

    /// The columns of `sprio` for Slurm's priority, each a whole number; else the summands.
    pub fn of(queue: &'a RankedQueue) -> Self {
        let mut terms = Self::new(&queue.program);
        if !queue.sprio_columns.is_empty() {
            terms.sprio = &queue.sprio_columns;
            terms.summands.clear();
        }
        terms
    }

    /// Where each summand is, and its text with its sign. A column of `sprio` is no part of the
    /// formula's text.
    pub(crate) fn parts(&self) -> Vec<(Span, &str)> {
        let mut parts = Vec::new();
        for summand in &self.summands {
            parts.push((summand.span, &*summand.text));
        }
        for (name, _) in self.sprio {
            parts.push((Span::new(0, 0), name.as_str()));
        }
        parts
    }

    /// The value of each summand for a job, with its sign; `None` where the formula fails.
    pub fn values(&self, table: &JobTable, row: usize) -> Vec<Option<Value>> {
        let mut values = Vec::new();
        for (_, program) in self.sprio {
            values.push(sprio_value(program, table, row));
        }
        if self.summands.is_empty() {
            return values;
        }
        let Some(inputs) = inputs(self.program, table, row) else {
            return vec![None; self.summands.len()];
        };
        let trace = self.program.trace(&inputs);
        for summand in &self.summands {
            values.push(match trace.result {
                Ok(_) => trace.summand(summand),
                Err(_) => None,
            });
        }
        values
    }
}

/// The value of a column as `sprio` prints it: the nearest whole number, an even one in the middle.
fn sprio_value(program: &Program, table: &JobTable, row: usize) -> Option<Value> {
    let inputs = inputs(program, table, row)?;
    let value = nearest_double(&program.evaluate(&inputs).ok()?)?;
    Some(Value::Int(value.round_ties_even() as i64))
}

impl Answer for RankAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let decides = self.queue.decides();
        let mut sections = vec![Section::formulas(self.formula, self.formula)];
        if let Some(checked) = &self.checked {
            sections.extend(brief_findings(checked, None));
        }
        if let Some(page) = &self.page {
            sections.extend(Section::findings(&page.findings));
        }
        let has_effect = has_effect(self.checked.as_ref());
        let mut section = Section::new("jobs");
        // a chart is shown on a page only, and the table has its numbers
        if self.queue.ranking.order().len() > 1 {
            section = section.chart(|| values_chart(self.queue));
        }
        let section = section.table(self.jobs(&decides));
        // without an effect, the order is that of the submission, which says nothing of the formula
        sections.push(section.in_full_if(!has_effect));
        if let Some(page) = &self.page {
            let groups = group_sections(&page.groups, true).into_iter();
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

    fn write_as(&self, format: Format, cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Ndjson => self.write_ndjson(out),
            _ => self.write_csv(cells, out),
        }
    }
}

impl Serialize for RankAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = object! {
            formula: self.formula,
            jobs: Each(|| self.rows.iter().map(|&row| self.job(row))),
            summary: self.summary(),
            decides: self.queue.decides(),
        };
        answer.serialize(serializer)
    }
}

impl<'a> RankAnswer<'a> {
    /// These rows of a ranking.
    pub fn new(formula: &'a str, queue: &'a RankedQueue, rows: &'a [usize]) -> Self {
        let mut ranks = vec![0; queue.table.len()];
        for (place, &row) in queue.ranking.order().iter().enumerate() {
            ranks[row] = place + 1;
        }
        Self {
            formula,
            queue,
            ranks,
            not_considered: queue.not_considered.iter().copied().collect(),
            rows,
            has_inputs: false,
            terms: None,
            checked: None,
            page: None,
        }
    }

    /// A job, with its rank in the whole order.
    fn job(&self, row: usize) -> Job<'_> {
        let RankedQueue { table, ranking, .. } = self.queue;
        let rank = match self.ranks[row] {
            0 => None,
            rank => Some(rank),
        };
        let state = table.state(row);
        let is_slurm_priority = self.queue.is_slurm_priority;
        let found = ranking.score(row);
        let score = found.as_ref().map(|found| found.value);
        let (exact, error) = exact_or_error(found.map(|found| found.unrounded));
        let value = match score {
            _ if !is_slurm_priority => None,
            // Slurm holds a job by a priority of 0
            _ if state == JobState::Held => Some(0),
            // the formula of the priority ends at the largest number of 32 bits
            score => score.map(|score| score as u32),
        };
        let logged_score = score.map(|score| logged(score, is_slurm_priority));
        let not_considered = self.not_considered.get(&row).copied();
        let (excluded, reason) = excluded(table, row, rank, not_considered).unzip();
        let mut inputs = Vec::new();
        for name in self.inputs() {
            inputs.push((&**name, self.input(name, row)));
        }
        let mut shown_terms = None;
        if let Some(terms) = &self.terms {
            let mut valued = Vec::new();
            for ((span, text), value) in iter::zip(terms.parts(), terms.values(table, row)) {
                valued.push(Term { span, text, value });
            }
            shown_terms = Some(valued);
        }
        Job {
            rank,
            id: table.id(row),
            entity: table.entity(row),
            queue: table.queue(row),
            state: state.letter(),
            score,
            value,
            exact,
            logged: logged_score,
            error,
            considered: rank.is_some(),
            excluded,
            reason,
            inputs,
            terms: shown_terms,
        }
    }

    /// The inputs that are shown.
    fn inputs(&self) -> &[Box<str>] {
        if self.has_inputs {
            self.queue.program.inputs()
        } else {
            &[]
        }
    }

    /// The texts of the summands that are shown.
    fn term_texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        if let Some(terms) = &self.terms {
            for (_, text) in terms.parts() {
                texts.push(text);
            }
        }
        texts
    }

    fn input(&self, name: &str, row: usize) -> Option<Value> {
        let column = self.queue.table.column(name)?;
        // of a job that the scheduler ignores, 0 would be an amount that nobody has read
        if self.queue.table.exclusion(row).is_some() && !column.is_set(row) {
            return None;
        }
        Some(column.value(row))
    }

    /// Writes one JSON object per job.
    fn write_ndjson(&self, out: &mut dyn Write) -> io::Result<()> {
        write_in_order(self.rows, out, |rows, text| {
            for &row in rows {
                // every value of an answer can be serialised
                _ = serde_json::to_writer(&mut *text, &self.job(row));
                text.push(b'\n');
            }
        })
    }

    fn summary(&self) -> impl Serialize {
        let RankedQueue { table, ranking, .. } = self.queue;
        let scores = ranking.scores();
        let mut errors_by_kind = BTreeMap::new();
        for (kind, jobs) in scores.errors_by_kind() {
            errors_by_kind.insert(kind.description(), jobs);
        }
        object! {
            jobs: table.len(),
            considered: ranking.order().len(),
            ignored: table.len() - scores.count(),
            errors: ranking.error_count(),
            errors_by_kind,
            ties: ranking.ties(),
        }
    }

    /// Writes comma-separated values as in RFC 4180.
    fn write_csv(&self, cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        let mut header: Vec<String> = HEADER.split(',').map(str::to_owned).collect();
        for name in self.inputs() {
            header.push(guarded(name, cells).into_owned());
        }
        for text in self.term_texts() {
            header.push(guarded(text, cells).into_owned());
        }
        let mut first_line = Vec::new();
        csv::Writer::from_writer(&mut first_line).write_record(&header)?;
        out.write_all(&first_line)?;
        write_in_order(self.rows, out, |rows, text| {
            let mut writer = csv::Writer::from_writer(text);
            for &row in rows {
                // a text in memory can be written
                _ = writer.write_record(fields(self.job(row), cells));
            }
        })
    }

    /// The verdict on the formula, then which job is first, then how many jobs are ranked.
    fn headline(&self) -> String {
        let checked = self.checked.as_ref();
        let verdict = checked.and_then(|checked| verdict_sentence(checked, "the formula"));
        if !has_effect(checked) {
            return verdict.unwrap_or_default();
        }
        let mut sentences = Vec::from_iter(verdict);
        sentences.extend(self.queue.contradiction.clone());
        sentences.extend(first_job(self.queue));
        sentences.push(self.job_counts());
        sentences.join(" ")
    }

    /// How many jobs are ranked, and what the others are.
    fn job_counts(&self) -> String {
        let RankedQueue { table, ranking, .. } = self.queue;
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
        let mut facts = rule_facts(self.formula, &self.queue.rules);
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
        let mut jobs = Table::new(columns, self.rows.to_vec(), |&row| cells(self.job(row)));
        // rows are made when they are shown: to measure all would make each twice
        jobs.measured = MEASURED_ROWS;
        jobs
    }
}

/// Every row of a ranking: the ranked ones first, then the others.
pub(crate) fn all_rows(ranking: &Ranking) -> Vec<usize> {
    let mut rows = ranking.order().to_vec();
    let mut is_ranked = vec![false; ranking.scores().len()];
    for &row in &rows {
        is_ranked[row] = true;
    }
    for (row, is_ranked) in is_ranked.into_iter().enumerate() {
        if !is_ranked {
            rows.push(row);
        }
    }
    rows
}

/// The `repr` of a value, or why the job has no value.
pub(crate) fn exact_or_error(
    result: Option<Result<impl ToString, &ScoreError>>,
) -> (Option<String>, Option<&ScoreError>) {
    match result {
        Some(Ok(value)) => (Some(value.to_string()), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    }
}

/// The digits that OpenPBS logs for a value, which has become a C float; of Slurm's priority, a
/// whole number of 32 bits, all digits.
pub fn logged(score: f64, is_slurm_priority: bool) -> String {
    if is_slurm_priority {
        (score as u32).to_string()
    } else {
        amounts::logged(score)
    }
}

/// Why the scheduler does not consider a job: `state`, `threshold`, `no shares`, `partition`,
/// `routing queue` or `invalid`, and in words.
pub fn excluded(
    table: &JobTable,
    row: usize,
    rank: Option<usize>,
    not_considered: Option<NotConsidered>,
) -> Option<(&'static str, String)> {
    if let Some(exclusion) = table.exclusion(row) {
        let keyword = match exclusion {
            Exclusion::Invalid { .. } => "invalid",
            Exclusion::Partition { .. } => "partition",
            Exclusion::RoutingQueue => "routing queue",
            _ => "state",
        };
        return Some((keyword, exclusion.to_string()));
    }
    match not_considered {
        Some(reason @ NotConsidered::NoShares) => Some(("no shares", reason.to_string())),
        Some(reason) => Some(("threshold", reason.to_string())),
        None if rank.is_some() => None,
        None => {
            let state = table.state(row).letter();
            Some(("state", format!("not considered (state {state})")))
        }
    }
}

fn serialize_error<S: Serializer>(
    error: &Option<&ScoreError>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    error.map(error_numbers).serialize(serializer)
}

/// Why the formula has no value for a job.
pub(crate) fn error_numbers(error: &ScoreError) -> impl Serialize {
    let (exception, operands) = match error {
        ScoreError::Raised(raised) => (Some(raised.kind().exception()), raised.operands()),
        _ => (None, &[][..]),
    };
    let mut values = Vec::new();
    for operand in operands {
        values.push(object! { value: operand.value.repr(), span: operand.span });
    }
    object! {
        kind: error.kind().description(),
        #[serde(flatten)]
        exception: exception.map(|exception| object! { exception }),
        message: error.to_string(),
        span: error.span(),
        #[serde(flatten)]
        operands: (!values.is_empty()).then_some(object! { operands: values }),
    }
}

/// The inputs by their names: a number if JSON can represent it, else its `repr` in Python.
fn serialize_inputs<S: Serializer>(
    inputs: &[(&str, Option<Value>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut by_name: BTreeMap<&str, serde_json::Value> = BTreeMap::new();
    for (name, value) in inputs {
        by_name.insert(
            name,
            match value {
                None => serde_json::Value::Null,
                Some(Value::Int(integer)) => (*integer).into(),
                Some(Value::Float(float)) if float.is_finite() => (*float).into(),
                Some(other) => other.repr().into(),
            },
        );
    }
    by_name.serialize(serializer)
}

/// The fields of every job; the inputs and the summands that are shown follow.
const HEADER: &str =
    "rank,id,entity,queue,state,score,exact,logged,error,considered,excluded,reason";

fn fields(job: Job<'_>, cells: CsvText) -> Vec<String> {
    let text = |text: &str| guarded(text, cells).into_owned();
    let mut fields = vec![
        job.rank.map(|rank| rank.to_string()).unwrap_or_default(),
        text(job.id),
        text(job.entity),
        text(job.queue),
        job.state.to_owned(),
        // an infinite value is ordered, and CSV has no number for it
        repr(
            job.score
                .filter(|score| score.is_finite())
                .map(Value::Float),
        ),
        job.exact.unwrap_or_default(),
        job.logged.unwrap_or_default(),
        text(&job.error.map(ToString::to_string).unwrap_or_default()),
        job.considered.to_string(),
        job.excluded.unwrap_or_default().to_owned(),
        text(&job.reason.unwrap_or_default()),
    ];
    for (_, value) in job.inputs {
        fields.push(repr(value));
    }
    for term in job.terms.unwrap_or_default() {
        fields.push(repr(term.value));
    }
    fields
}

fn repr(value: Option<Value>) -> String {
    value.map(|value| value.repr()).unwrap_or_default()
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

fn cells(job: Job<'_>) -> Vec<Cell<'_>> {
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
