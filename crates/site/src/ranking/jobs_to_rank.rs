//! Reads the jobs of a site with what a formula needs, and compiles the formula for them.

use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::lint::lint;
use job_sort_formula::formula::program::Program;
use job_sort_formula::schema::Schema;

use crate::jobs::site_jobs::ColumnsRequest;
use crate::slurm::slurm_queue::AgingFormula;
use crate::{Site, SiteError, SiteJobs};

/// A formula by which the jobs of a site are ranked, with the options of the ranking.
pub struct RankRequest<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// How many ranks are determined at most.
    pub limit: usize,
    /// Whether it is recorded where the inputs of the jobs come from, which [`Site::explain`]
    /// shows.
    pub record_origins: bool,
    /// Whether the columns of `sprio` are read, if the formula is Slurm's priority.
    pub sprio_columns: bool,
}

impl<'a> From<&'a Formula> for RankRequest<'a> {
    /// All ranks.
    fn from(formula: &'a Formula) -> Self {
        Self {
            formula,
            limit: usize::MAX,
            record_origins: false,
            sprio_columns: false,
        }
    }
}

/// The jobs of a site with the columns that a formula needs, and the formula compiled for them.
#[derive(Debug, Clone)]
pub struct JobsToRank {
    /// The jobs.
    pub jobs: SiteJobs,
    /// The formula, compiled for the names of the jobs; `None` if it is not arithmetic.
    pub program: Option<Program>,
    /// The findings about the text of the formula and its names, without evaluating it.
    pub findings: Vec<Diagnostic>,
    /// How many ranks are determined at most.
    pub(super) limit: usize,
    /// Whether the ranking is compared with another one.
    pub(super) is_compared: bool,
    /// Whether the formula is Slurm's priority at this site.
    pub(super) is_slurm_priority: bool,
    /// The formula for later times, if it reads the age of Slurm's jobs.
    pub(super) aging: Option<AgingFormula>,
    /// The columns of `sprio`, if they were asked for: the name and the program of each.
    pub(super) sprio_columns: Vec<(String, Program)>,
}

impl JobsToRank {
    /// Jobs whose ranking by a formula is compared with another one.
    pub(crate) fn compared(formula: &Formula, jobs: SiteJobs) -> Self {
        Self {
            program: formula.compile(&jobs.schema).ok(),
            findings: lint(formula.expr(), &jobs.schema),
            limit: usize::MAX,
            is_compared: true,
            is_slurm_priority: false,
            aging: None,
            sprio_columns: Vec::new(),
            jobs,
        }
    }
}

impl Site {
    /// The first half of [`rank`](Self::rank): reads the jobs with the columns that the formula
    /// needs, compiles the formula and finds what is to be said of its text.
    ///
    /// # Errors
    /// The jobs cannot be read.
    pub fn read_jobs_to_rank(&self, request: &RankRequest<'_>) -> Result<JobsToRank, SiteError> {
        let mut names = request.formula.names();
        let mut of_sprio: Vec<(String, Formula)> = Vec::new();
        if let Some(slurm) = &self.slurm
            && request.sprio_columns
            && slurm.is_priority(request.formula)
        {
            of_sprio = slurm.columns();
        }
        for (_, formula) in &of_sprio {
            names.extend(formula.names());
        }
        let columns = ColumnsRequest {
            record_origins: request.record_origins,
            ..self.request(&names)
        };
        let mut read = self.read_for_formula(request.formula, &columns)?;
        read.limit = request.limit;
        for (name, formula) in &of_sprio {
            if let Ok(program) = formula.compile(&read.jobs.schema) {
                read.sprio_columns.push((name.clone(), program));
            }
        }
        Ok(read)
    }

    /// The formula for later times, if it reads the age of Slurm's jobs.
    pub(super) fn aging_formula(&self, formula: &Formula, schema: &Schema) -> Option<AgingFormula> {
        self.slurm.as_ref()?.aging_formula(formula, schema)
    }

    /// Reads the jobs with the columns of a request, which names those of the formula, to rank them
    /// all.
    pub(crate) fn read_for_formula(
        &self,
        formula: &Formula,
        request: &ColumnsRequest<'_>,
    ) -> Result<JobsToRank, SiteError> {
        let mut read = JobsToRank::compared(formula, self.read_columns(request)?);
        read.is_compared = false;
        if let Some(slurm) = &self.slurm {
            read.is_slurm_priority = slurm.is_priority(formula);
            read.aging = slurm.aging_formula(formula, &read.jobs.schema);
        }
        Ok(read)
    }
}
