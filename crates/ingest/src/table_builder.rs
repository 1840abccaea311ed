//! The [`TableBuilder`], which collects the jobs of a document and what is wrong with it, and what
//! every reader returns: [`ParsedJobs`].

use std::collections::{BTreeSet, HashSet};

use job_sort_formula::jobs::{JobProblem, JobTable, MAX_JOBS, Problem, Problems};
use job_sort_formula::python::Value;
use jsf_json::clipped;

use crate::attributes::{MAX_RESOURCES, RequestedColumn};
use crate::cycle_jobs::{CycleJob, CycleJobs};
use crate::job_converter::{ConvertedJobs, JobConverter, OF_NODES, OF_PROCS, Part};
use crate::options::{ReadErrorKind, ReadOptions};

/// The jobs of a document, and what is wrong with some of them.
#[derive(Debug, Clone, Default)]
pub struct ParsedJobs {
    /// The jobs.
    pub table: JobTable,
    /// The jobs of the table as a scheduling cycle sees them, if the options ask for them.
    pub cycle_jobs: Option<CycleJobs>,
    /// What is wrong with single jobs. The other jobs are read nevertheless.
    pub problems: Problems,
    /// Remarks on the document as a whole, one sentence each.
    pub notes: Vec<String>,
}

/// How many jobs and problems are converted before the table takes them.
const MAX_PENDING: usize = 4096;

/// The most unknown keys that are counted by name. Later ones are not reported.
const MAX_KEYS: usize = 10_000;

/// Builds a table from jobs that were converted.
#[derive(Debug)]
pub struct TableBuilder<'a> {
    options: &'a ReadOptions<'a>,
    table: JobTable,
    cycle_jobs: Vec<CycleJob>,
    timestamp: Option<i64>,
    problems: Problems,
    /// What the formula gets from a job without any attribute.
    defaults: Vec<Value>,
    reported_keys: HashSet<String>,
    is_full: bool,
    /// Why the document is refused if the options are strict.
    refusal: Option<String>,
    has_too_many_names: bool,
    notes: BTreeSet<&'static str>,
}

impl<'a> TableBuilder<'a> {
    pub fn new(options: &'a ReadOptions<'a>) -> Self {
        let columns = RequestedColumn::all(options);
        let mut table = JobTable::new(columns.iter().map(|column| column.name));
        if options.record_origins {
            table.record_origins(columns.iter().map(RequestedColumn::own_origin).collect());
        }
        Self {
            options,
            table,
            cycle_jobs: Vec::new(),
            timestamp: None,
            problems: Problems::default(),
            defaults: columns.iter().map(RequestedColumn::default).collect(),
            reported_keys: HashSet::new(),
            is_full: false,
            refusal: None,
            has_too_many_names: false,
            notes: BTreeSet::new(),
        }
    }

    /// Takes the jobs that were converted one after the other, if they are many: what is reported
    /// of a job may take more memory than its text.
    pub fn take_many(&mut self, converter: &mut JobConverter<'_>) {
        let output = &mut converter.output;
        if output.parts.len() + output.batch.rows() >= MAX_PENDING {
            self.append(output, 0);
            converter.clear_output();
        }
    }

    /// How many jobs were read, those that were skipped included.
    pub fn jobs_read(&self) -> usize {
        self.table.len() + self.problems.skipped()
    }

    /// Appends jobs, which begin on this line of the document.
    pub fn append(&mut self, jobs: &mut ConvertedJobs, first_line: usize) {
        // as many as rows, or none
        let mut cycle_jobs = std::mem::take(&mut jobs.cycle).into_iter();
        for part in jobs.parts.drain(..) {
            let number = self.jobs_read() + 1;
            match part {
                Part::Rows(rows) => {
                    let batch = &jobs.batch;
                    let refused = self.table.append(batch, rows.clone(), &self.defaults);
                    for row in rows.clone() {
                        let cycle_job = cycle_jobs.next();
                        if refused.binary_search_by_key(&row, |(row, _)| *row).is_err() {
                            self.cycle_jobs.extend(cycle_job);
                        }
                    }
                    for (row, problem) in refused {
                        let line = batch.line(row).map(|line| first_line + line);
                        self.report(line, batch.id(row), number + row - rows.start, problem);
                    }
                }
                Part::Problem { line, id, problem } => {
                    self.report(line.map(|line| first_line + line), &id, number, problem)
                }
                Part::TruncatedToZero {
                    resource,
                    id,
                    amount,
                } => {
                    self.table.record_truncated(&resource, &id, &amount);
                }
            }
        }
        for (name, kind) in jobs.undeclared.drain(..) {
            if self.table.undeclared_count() <= MAX_RESOURCES {
                self.table.record_undeclared(&name, kind);
            }
        }
        if let Some(what) = jobs.ambiguity.take() {
            let refusal = format!("is ambiguous: {what}");
            self.refusal.get_or_insert(refusal);
        }
        self.timestamp = jobs.timestamp;
        self.has_too_many_names |= jobs.has_too_many_names;
        self.notes.extend(&jobs.notes);
    }

    /// Reports a problem of a job, which is called by its number in the document if it has no id.
    fn report(&mut self, line: Option<usize>, id: &str, number: usize, mut problem: Problem) {
        if let Problem::UnknownKey { key, advice } = &mut problem {
            if self.reported_keys.len() >= MAX_KEYS || !self.reported_keys.insert(key.clone()) {
                return;
            }
            // a problem that is not listed needs no advice, and to look for similar names takes
            // longer than all else
            if self.problems.listed().len() < Problems::MAX_LISTED
                && let Some(similar) = self.options.schema.suggestions(key).into_iter().next()
            {
                *advice = format!("; did you mean `{similar}`?");
            }
        }
        let job = if id.is_empty() {
            format!("#{number}")
        } else {
            clipped(id).into_owned()
        };
        self.is_full |= problem == Problem::TooMany;
        let is_refused = matches!(
            problem,
            Problem::Repeated(_) | Problem::Duplicate | Problem::NotAJob(_)
        );
        let problem = JobProblem { line, job, problem };
        if is_refused && self.refusal.is_none() {
            self.refusal = Some(format!("is ambiguous or damaged: {problem}"));
        }
        self.problems.push(problem);
    }

    /// Whether there are more jobs than a table can hold, or more resources.
    pub fn is_full(&self) -> bool {
        self.is_full || self.has_too_many_resources()
    }

    fn has_too_many_resources(&self) -> bool {
        self.has_too_many_names || self.table.undeclared_count() > MAX_RESOURCES
    }

    /// Finishes the table at the end of a document, after its last jobs.
    ///
    /// # Errors
    /// There are too many jobs or resources, or the document is damaged or ambiguous and the options
    /// are strict.
    pub fn finish(mut self, mut last: ConvertedJobs) -> Result<ParsedJobs, ReadErrorKind> {
        self.append(&mut last, 0);
        let refusal = if self.is_full {
            Some(format!(
                "contains more than {MAX_JOBS} jobs, the most that can be read; split it into several files"
            ))
        } else if self.has_too_many_resources() {
            Some(format!(
                "contains more than {MAX_RESOURCES} different resources, which no server has; check what wrote it"
            ))
        } else {
            self.refusal.take().filter(|_| self.options.strict)
        };
        if let Some(reason) = refusal {
            return Err(ReadErrorKind::Other(reason));
        }
        self.table.exclude_waiting_subjobs();
        if self.notes.contains(OF_PROCS) {
            self.notes.remove(OF_NODES);
        }
        let mut cycle_jobs = None;
        if self.options.cycle_jobs {
            cycle_jobs = Some(CycleJobs::new(self.cycle_jobs, self.timestamp));
        }
        Ok(ParsedJobs {
            table: self.table,
            cycle_jobs,
            problems: self.problems,
            notes: self.notes.into_iter().map(str::to_owned).collect(),
        })
    }
}
