//! `jsf rank`: what is asked, and the ranking: for programs as JSON, as one JSON object per line, or as
//! CSV.

mod view;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::iter;
use std::sync::OnceLock;

use clap::Args;
use job_sort_formula::Value;
use job_sort_formula::diagnostic::{Message, Need, Span};
use job_sort_formula::formula::program::{Program, Summand};
use job_sort_formula::jobs::{Exclusion, JobState, JobTable};
use job_sort_formula::rank::explain::{inputs, nearest_double};
use job_sort_formula::rank::{Comparison, Ranking, ScoreError};
use jsf_openpbs::amounts::{self, NumberMode};
use jsf_openpbs::check::{Checked, FAILURE_CODES, error_findings_of};
use jsf_openpbs::order::NotConsidered;
use jsf_site::{JobsToRank, RankRequest, RankedQueue, Rule, Site};
use serde::{Deserialize, Serialize, Serializer};

use crate::answers::{Answer, AnswerError, Each, Format, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::QueueArgs,
    outcome::{CliError, Outcome},
    output::{AnswerArgs, CsvArgs, Output, formats},
    page_file::ReportArgs,
};
use crate::csv::{CsvText, guarded, write_in_order};
use crate::questions::named_jobs::{
    JobFilter, NamedEntities, NamedJobs, NamedQueues, selected_rows,
};
use crate::questions::values::number_of_jobs;
use crate::view::document::Document;
use crate::view::words::clock_time;

/// Which jobs of the ranked queue are shown, and what of each.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct RankQuestion {
    /// Show only the first N jobs
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    pub top: Option<usize>,
    /// The jobs to show.
    #[serde(flatten)]
    #[command(flatten)]
    jobs: NamedJobs,
    /// Whose jobs are shown.
    #[serde(flatten)]
    #[command(flatten)]
    entities: NamedEntities,
    /// The queues whose jobs are shown.
    #[serde(flatten)]
    #[command(flatten)]
    queues: NamedQueues,
    /// Show the inputs of the formula for each job
    #[arg(long)]
    pub inputs: bool,
    /// Show the summands of the formula for each job
    ///
    /// With their signs, as `sprio -l` does: added up they are the value
    #[arg(long)]
    pub terms: bool,
    /// Whether a page shows the answer, which has the groups and the fair-share tree too.
    #[serde(skip)]
    #[arg(skip)]
    pub is_for_page: bool,
}

impl RankQuestion {
    /// The jobs to show.
    fn filter(&self) -> JobFilter<'_> {
        JobFilter {
            jobs: &self.jobs.job,
            entities: &self.entities.entity,
            queues: &self.queues.queue_name,
        }
    }
}

/// `jsf rank`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
Columns of CSV, and keys of JSON and NDJSON:
  rank        the place in the queue, from 1; empty for a job that is not considered
  score       the value that is sorted on: with --numbers openpbs a C float; empty if it is not finite
  exact       the value before it becomes a C float, as Python's repr prints it
  logged      the digits that OpenPBS logs; Slurm's priority as squeue prints it
  error       why the formula has no value; OpenPBS then uses 0
  considered  whether the scheduler tries to run the job now
  excluded    why not: state, threshold, no shares, partition, routing queue or
              invalid; reason says it in words
Later criteria (see `order:`), and finally the order of submission, decide between equal scores. An input is empty (null, or - \
in a table) where the scheduler ignores the job and so does not read it.

Examples:
  jsf rank 'fairshare_factor' --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv
  jsf rank 'eligible_time / 3600 + ncpus' --queue - --top 20 --inputs \\
      < examples/site/qstat.json
  jsf rank -f examples/formulas/pp718.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv --entity lnovak --format csv",
mut_arg("format", |given| given.value_parser(formats(&[Format::Csv, Format::Ndjson]))))]
pub struct RankArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs to show, and what of each.
    #[command(flatten)]
    question: RankQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    csv: CsvArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

#[cfg(feature = "command")]
impl RankArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let (site, given) = self.queue.open(self.answer.format)?;
        let question = RankQuestion {
            is_for_page: self.report.is_given(),
            ..self.question.clone()
        };
        let ranked = self.answer.answered("ranking the jobs", |warnings, _| {
            RankAnswer::new(&site, given, question, warnings)
        })?;
        Output {
            has_asked_rows: self.question.top.is_some(),
            csv_texts: self.csv.texts(),
            page_file: self.report.page_file(vec![&site], Vec::new()),
            ..ranked
        }
        .write_ranking(self.queue.site.on_error, out)
    }
}

/// A ranking, ready to be written.
pub struct RankAnswer<'a> {
    site: &'a Site,
    question: RankQuestion,
    /// The formula.
    pub given: AskedFormula,
    /// The ranked queue.
    pub queue: RankedQueue,
    /// The rank of each row, from 1; 0 for a job that the scheduler does not consider.
    ranks: Vec<u32>,
    /// The waiting rows that the scheduler does not consider, and why.
    not_considered: HashMap<usize, NotConsidered>,
    /// The rows to show, in the order in which they are shown.
    rows: Vec<usize>,
    /// The summands, if they are shown with each job.
    terms: Option<Terms>,
    /// The ranking compared with itself, which counts the jobs of each entity and of each queue, for
    /// a page.
    groups: Option<Comparison>,
    /// Made when it is asked for, as lines for programs do without it.
    checked: OnceLock<Checked>,
}

impl<'a> RankAnswer<'a> {
    /// Ranks the queue of a site.
    ///
    /// # Errors
    /// The jobs cannot be read, the formula is not arithmetic, or none of the jobs to show exists.
    pub fn new(
        site: &'a Site,
        given: AskedFormula,
        question: RankQuestion,
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        if question.terms && site.numbers() == NumberMode::Decimal {
            return Err(AnswerError::question(Message::asking(
                "terms follow Python's arithmetic: ",
                [Need::PythonNumbers],
            )));
        }
        let formula = given.parsed()?;
        let mut columns = Vec::new();
        if question.terms {
            columns = site.sprio_columns(formula);
        }
        let request = RankRequest {
            further: &columns,
            applies_tree: question.is_for_page,
            ..RankRequest::from(formula)
        };
        let read = read_jobs(site, &given, &request, warnings)?;
        let queue = rank_jobs(site, &given, read, warnings)?;
        let mut sprio = Vec::new();
        for (name, formula) in columns {
            if let Ok(program) = formula.compile(&queue.schema) {
                sprio.push((name, program));
            }
        }
        let terms = if !question.terms {
            None
        } else if sprio.is_empty() {
            Some(Terms::Summands(queue.program.summands()))
        } else {
            Some(Terms::Sprio(sprio))
        };
        let (filter, all) = (question.filter(), all_rows(&queue.ranking));
        let mut rows = selected_rows(filter, all, site, &queue.table, warnings)?;
        rows.truncate(question.top.unwrap_or(usize::MAX));
        Ok(Self {
            ranks: queue.ranking.ranks(),
            not_considered: queue.not_considered.iter().copied().collect(),
            rows,
            terms,
            groups: question.is_for_page.then(|| {
                let side = queue.compared();
                Comparison::new(&side, &side)
            }),
            checked: OnceLock::new(),
            site,
            question,
            given,
            queue,
        })
    }

    /// What becomes of the formula. With a filter, what is found in jobs that are not shown is no
    /// finding.
    pub(crate) fn checked(&self) -> &Checked {
        self.checked.get_or_init(|| {
            let queue = &self.queue;
            let mut checked = self.site.check_ranked(&self.given.submitted, queue);
            if !self.question.filter().is_empty() {
                let mut is_shown = vec![false; queue.table.len()];
                for &row in &self.rows {
                    is_shown[row] = true;
                }
                let shown = error_findings_of(&queue.table, &queue.ranking, |row| is_shown[row]);
                let findings = &mut checked.findings;
                findings.retain(|found| !FAILURE_CODES.contains(&found.code));
                findings.extend(self.given.submitted.in_source(shown));
            }
            checked
        })
    }

    /// A job, with its rank in the whole order.
    fn job(&self, row: usize) -> Job<'_> {
        let RankedQueue { table, ranking, .. } = &self.queue;
        let rank = match self.ranks[row] {
            0 => None,
            rank => Some(rank as usize),
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
            for ((span, text), value) in iter::zip(terms.parts(), terms.values(&self.queue, row)) {
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
        if self.question.inputs {
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

    /// Reserves memory for the lines of some jobs.
    ///
    /// Neighbours in the order lie far apart in the table. Here, where nothing else is done for a job,
    /// the processor fetches the names of many at a time; later it would wait for each, a quarter of
    /// the time of a million jobs.
    fn reserve(&self, rows: &[usize], text: &mut Vec<u8>) {
        let table = &self.queue.table;
        let mut bytes = 0;
        for &row in rows {
            let names = table.id(row).len() + table.entity(row).len() + table.queue(row).len();
            let digits = self.ranks[row].checked_ilog10().unwrap_or_default() as usize;
            bytes += LINE_BYTES + names + digits;
        }
        text.reserve(bytes);
    }

    /// Writes one JSON object per job.
    fn write_ndjson(&self, out: &mut dyn Write) -> io::Result<()> {
        write_in_order(&self.rows, out, |rows, text| {
            for &row in rows {
                // every value of an answer can be serialised
                _ = serde_json::to_writer(&mut *text, &self.job(row));
                text.push(b'\n');
            }
        })
    }

    fn summary(&self) -> impl Serialize {
        let RankedQueue { table, ranking, .. } = &self.queue;
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
    fn write_csv(&self, texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
        let mut header: Vec<String> = HEADER.split(',').map(str::to_owned).collect();
        for name in self.inputs() {
            header.push(guarded(name, texts).into_owned());
        }
        for text in self.term_texts() {
            header.push(guarded(text, texts).into_owned());
        }
        let mut first_line = Vec::new();
        csv::Writer::from_writer(&mut first_line).write_record(&header)?;
        out.write_all(&first_line)?;
        write_in_order(&self.rows, out, |rows, text| {
            self.reserve(rows, text);
            let mut writer = csv::Writer::from_writer(text);
            for &row in rows {
                // a text in memory can be written
                let fields = fields(self.job(row), texts);
                _ = writer.write_record(fields.iter().map(|field| field.as_bytes()));
            }
        })
    }
}

impl Serialize for RankAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = object! {
            formula: self.given.text(),
            jobs: Each(|| self.rows.iter().map(|&row| self.job(row))),
            summary: self.summary(),
            decides: self.queue.decides(),
        };
        answer.serialize(serializer)
    }
}

impl Answer for RankAnswer<'_> {
    fn rankings(&self) -> Vec<(&AskedFormula, &RankedQueue)> {
        vec![(&self.given, &self.queue)]
    }

    fn shows_findings(&self) -> bool {
        true
    }

    fn document(&self) -> Document<'_> {
        self.shown()
    }

    fn write_as(&self, format: Format, texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Ndjson => self.write_ndjson(out),
            _ => self.write_csv(texts, out),
        }
    }
}

/// A job of a ranking.
#[derive(Serialize)]
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
#[derive(Serialize)]
struct Term<'a> {
    span: Span,
    text: &'a str,
    /// Missing where the formula fails.
    value: Option<Value>,
}

/// What a formula adds up, which has a value for each job.
pub(crate) enum Terms {
    /// The summands at the top of the formula.
    Summands(Vec<Summand>),
    /// The columns of `sprio`, each a whole number, in the place of the summands of Slurm's priority:
    /// the name and the program of each.
    Sprio(Vec<(String, Program)>),
}

impl Terms {
    /// Where each summand is, and its text with its sign. A column of `sprio` is no part of the
    /// formula's text.
    pub(crate) fn parts(&self) -> Vec<(Span, &str)> {
        match self {
            Self::Summands(summands) => (summands.iter())
                .map(|summand| (summand.span, &*summand.text))
                .collect(),
            Self::Sprio(columns) => (columns.iter())
                .map(|(name, _)| (Span::new(0, 0), name.as_str()))
                .collect(),
        }
    }

    /// The value of each for a job of a queue, with its sign; `None` where the formula fails.
    pub(crate) fn values(&self, queue: &RankedQueue, row: usize) -> Vec<Option<Value>> {
        let RankedQueue { program, table, .. } = queue;
        let summands = match self {
            Self::Summands(summands) => summands,
            Self::Sprio(columns) => {
                let programs = columns.iter().map(|(_, program)| program);
                return programs
                    .map(|program| sprio_value(program, table, row))
                    .collect();
            }
        };
        let Some(inputs) = inputs(program, table, row) else {
            return vec![None; summands.len()];
        };
        let trace = program.trace(&inputs);
        let mut values = Vec::new();
        for summand in summands {
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

/// Reads the jobs of a site with what the formula needs.
///
/// # Errors
/// The jobs cannot be read, or the formula is not arithmetic.
pub(crate) fn read_jobs(
    site: &Site,
    given: &AskedFormula,
    request: &RankRequest<'_>,
    warnings: &mut Warnings,
) -> Result<JobsToRank, AnswerError> {
    warnings.add_site(site, &request.formula.names());
    let mut read = site.read_jobs_to_rank(request)?;
    warnings.add(std::mem::take(&mut read.jobs.warnings));
    given.require_arithmetic(&read)?;
    Ok(read)
}

/// Ranks the jobs.
///
/// # Errors
/// The fair-share tree cannot be read.
pub(crate) fn rank_jobs(
    site: &Site,
    given: &AskedFormula,
    read: JobsToRank,
    warnings: &mut Warnings,
) -> Result<RankedQueue, AnswerError> {
    let schema = read.jobs.schema.clone();
    let ranked = site.rank_read_jobs(read);
    let mut queue = match ranked {
        Ok(queue) => queue,
        Err(error) => {
            given.suspect(given.lint(&schema), warnings);
            return Err(error.into());
        }
    };
    if let Some(at) = site.priorities_at() {
        queue.rules.push(Rule::new("ages at", clock_time(at)));
    }
    warnings.add(queue.warnings.clone());
    Ok(queue)
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

/// About how many bytes a line has besides the names.
const LINE_BYTES: usize = 60;
/// The fields of every job; the inputs and the summands that are shown follow.
const HEADER: &str =
    "rank,id,entity,queue,state,score,exact,logged,error,considered,excluded,reason";

fn fields(job: Job<'_>, texts: CsvText) -> Vec<Cow<'_, str>> {
    let rank = job.rank.map(|rank| rank.to_string());
    // an infinite value is ordered, and CSV has no number for it
    let score = job.score.filter(|score| score.is_finite());
    let error = job.error.map(ToString::to_string).unwrap_or_default();
    let reason = job.reason.unwrap_or_default();
    let mut fields = vec![
        rank.unwrap_or_default().into(),
        guarded(job.id, texts),
        guarded(job.entity, texts),
        guarded(job.queue, texts),
        job.state.into(),
        repr(score.map(Value::Float)),
        job.exact.unwrap_or_default().into(),
        job.logged.unwrap_or_default().into(),
        guarded(&error, texts).into_owned().into(),
        if job.considered { "true" } else { "false" }.into(),
        job.excluded.unwrap_or_default().into(),
        guarded(&reason, texts).into_owned().into(),
    ];
    for (_, value) in job.inputs {
        fields.push(repr(value));
    }
    for term in job.terms.unwrap_or_default() {
        fields.push(repr(term.value));
    }
    fields
}

fn repr(value: Option<Value>) -> Cow<'static, str> {
    value.map(|value| value.repr()).unwrap_or_default().into()
}
