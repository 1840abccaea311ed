//! What the commands that rank a queue have in common: the site is opened, the formula read, and the
//! jobs ranked.

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::jobs::FoundJobs;
use job_sort_formula::{Formula, JobTable};
use jsf_site::{JobsToRank, RankRequest, RankedQueue, Rule, Site};

use crate::cli::args::{JobArgs, QueueArgs};
use crate::cli::filter::{job_ids, unknown_job_sentences, unknown_jobs_error};
use crate::cli::formula::{GivenFormula, read_formula};
use crate::cli::messages::{Progress, Warnings, warn, warn_all};
use crate::cli::outcome::CliError;
use crate::view::words::clock_time;

/// The site and the formula of a command that ranks its queue.
pub(crate) struct OpenedQueue {
    pub(crate) site: Site,
    pub(crate) given: GivenFormula,
    pub(crate) formula: Formula,
}

impl OpenedQueue {
    /// Opens the site and reads the formula, then says what was found there; of a formula that does
    /// not parse only its finding is shown.
    pub(crate) fn open(
        arguments: &QueueArgs,
        is_document: bool,
    ) -> Result<(Self, Warnings), CliError> {
        let site = arguments.open()?;
        let source = read_formula(&arguments.formula, Some(&site))?;
        let given = GivenFormula::new(source, site.numbers());
        let formula = given.parsed()?.clone();
        arguments.site.show(&site, is_document);
        let mut warnings = Warnings::new(is_document);
        warnings.add_site(&site, &site.warnings_for(&formula.names()));
        let opened = Self {
            site,
            given,
            formula,
        };
        Ok((opened, warnings))
    }

    /// Reads the jobs, and shows what is found in them and in the formula: the findings of this
    /// severity at least, and all if the formula is not arithmetic.
    ///
    /// # Errors
    /// The jobs cannot be read, or the formula is not arithmetic.
    pub(crate) fn read_jobs(
        &self,
        request: &RankRequest<'_>,
        least_drawn: Option<Severity>,
        warnings: &mut Warnings,
    ) -> Result<JobsToRank, CliError> {
        let progress = Progress::start("reading the jobs");
        let mut read = self.site.read_jobs_to_rank(request)?;
        // erased before the warnings, which take its line
        drop(progress);
        warnings.show(&std::mem::take(&mut read.jobs.warnings));
        let is_arithmetic = read.program.is_some();
        let mut drawn = read.findings.clone();
        drawn.retain(|found| !is_arithmetic || least_drawn.is_some_and(|it| found.severity >= it));
        self.given.draw(drawn);
        if is_arithmetic {
            Ok(read)
        } else {
            Err(CliError::Findings)
        }
    }

    /// Ranks the jobs.
    pub(crate) fn rank(
        &self,
        read: JobsToRank,
        warnings: &mut Warnings,
    ) -> Result<RankedQueue, CliError> {
        let progress = Progress::start("ranking the jobs");
        let mut queue = self.site.rank_read_jobs(read)?;
        drop(progress);
        if let Some(at) = self.site.priorities_at() {
            queue.rules.push(Rule::new("ages at", clock_time(at)));
        }
        warnings.show(&queue.warnings);
        Ok(queue)
    }

    /// The rows of jobs, each once, in the order in which they are given; none if none is. Warns of
    /// those that do not exist.
    ///
    /// # Errors
    /// None of them exists.
    pub(crate) fn find_or_warn(
        &self,
        named: &JobArgs,
        table: &JobTable,
    ) -> Result<Vec<usize>, CliError> {
        let given = job_ids(&named.job, &self.site);
        let FoundJobs { rows, unmatched } = table.find_all_jobs(&given);
        let is_one = unmatched.len() == 1;
        let unmatched = unknown_job_sentences(&unmatched, is_one, &self.site, table);
        if rows.is_empty() && !given.is_empty() {
            return Err(unknown_jobs_error(unmatched).into());
        }
        warn_all(&unmatched);
        warn_of_job_id(self.given.text(), &named.job, table);
        Ok(rows)
    }
}

/// Warns if the formula is the number of a job, which was to be one more `--job`.
fn warn_of_job_id(formula: &str, given: &[String], table: &JobTable) {
    let formula = formula.trim();
    if !given.is_empty()
        && formula.bytes().all(|byte| byte.is_ascii_digit())
        && table.find_jobs(formula).is_ok()
    {
        let jobs = given.join(",");
        warn(format_args!(
            "`{formula}` is taken as the formula, and a job has this number; for both: --job {jobs},{formula}"
        ));
    }
}
