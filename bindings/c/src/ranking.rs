//! A whole site, ranked as the command `jsf rank` does.

use std::ffi::{CString, c_char};
use std::ptr;

use job_sort_formula::site::RankedQueue;
use job_sort_formula::{Formula, Site};

use crate::argument::{borrow, free, out, text};
use crate::error::{answered, c_text, guarded, jsf_error, jsf_status};

/// The jobs of a site in the order in which its scheduler considers them. It is immutable and may be read by several threads.
/// Free it with `jsf_ranking_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_ranking {
    jobs: Vec<Job>,
    warnings: CString,
}

#[derive(Debug)]
struct Job {
    id: CString,
    entity: CString,
    score: f64,
    exact: f64,
    failed: bool,
}

/// One job of a ranking.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy)]
pub struct jsf_ranked_job {
    /// The id of the job, such as `184127.kestrel`; UTF-8, ended by a NUL. It belongs to the ranking and lives as long.
    pub id: *const c_char,
    /// The entity to which its usage is charged, by default the user; UTF-8, ended by a NUL. It belongs to the ranking and
    /// lives as long.
    pub entity: *const c_char,
    /// The value that is sorted on: OpenPBS's `float`.
    pub score: f64,
    /// The result of the formula before it is rounded; NaN if the job failed.
    pub exact: f64,
    /// 1 if the formula raises an error for this job, else 0.
    pub failed: u8,
}

impl From<&RankedQueue> for jsf_ranking {
    fn from(queue: &RankedQueue) -> Self {
        let jobs = queue.ranking.order().iter().filter_map(|&row| {
            let score = queue.ranking.score(row)?;
            Some(Job {
                id: c_text(queue.table.id(row)),
                entity: c_text(queue.table.entity(row)),
                score: score.value,
                exact: score.unrounded.as_ref().map_or(f64::NAN, |result| result.to_f64()),
                failed: score.unrounded.is_err(),
            })
        });
        Self { jobs: jobs.collect(), warnings: CString::default() }
    }
}

/// Ranks the queue of a site as `jsf rank --site PATH` does. `path` is a folder or a tar archive with the scheduler's files, as
/// `jsf capture` or `pbs_snapshot` make it. `formula` is the text of the formula; null with length 0 takes the one in force
/// at the site. The lengths are in bytes, or `JSF_NUL_TERMINATED`. On success `*ranking` is to be freed with
/// `jsf_ranking_free`; read `jsf_ranking_warnings` then. The jobs are read and scored by several threads.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_SYNTAX` (with a place), `JSF_STATUS_NOT_ARITHMETIC`, `JSF_STATUS_ARGUMENT`,
/// `JSF_STATUS_UTF8`; `*ranking` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_site_rank(
    path: *const c_char,
    path_length: usize,
    formula: *const c_char,
    formula_length: usize,
    ranking: *mut *mut jsf_ranking,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a pointer to a handle
        let out = unsafe { out(ranking, "ranking") }?;
        *out = ptr::null_mut();
        // SAFETY: the caller passes null or texts of these lengths
        let (path, formula) = unsafe { (text(path, path_length, "path")?, text(formula, formula_length, "formula")?) };
        let document_error = |error: job_sort_formula::SiteError| {
            let status = match error {
                job_sort_formula::SiteError::NotArithmetic => jsf_status::NotArithmetic,
                _ => jsf_status::Document,
            };
            jsf_error::new(status, error.to_string())
        };
        let site = Site::open(path).map_err(document_error)?;
        let formula = match formula {
            "" => site.formula_text().map_err(document_error)?.text,
            text => text.to_owned(),
        };
        let formula = Formula::parse(&formula)
            .map_err(|error| jsf_error::new(jsf_status::Syntax, error.to_string()).at(error.diagnostic().span))?;
        let queue = site.rank(&formula).map_err(document_error)?;
        let warnings: Vec<&str> = site.warnings().iter().chain(&queue.warnings).map(String::as_str).collect();
        let ranked = jsf_ranking { warnings: c_text(warnings.join("\n")), ..jsf_ranking::from(&queue) };
        *out = Box::into_raw(Box::new(ranked));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The number of jobs that the scheduler considers; 0 if `ranking` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_count(ranking: *const jsf_ranking) -> usize {
    // SAFETY: the caller passes null or a ranking of this library
    answered(0, || Ok(unsafe { borrow(ranking, "ranking") }?.jobs.len()))
}

/// Writes the job at `place`, from 0, the first one that the scheduler considers, to `*job`. Returns false, and writes nothing,
/// beyond the last one or if an argument is null or misaligned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_job(ranking: *const jsf_ranking, place: usize, job: *mut jsf_ranked_job) -> bool {
    answered(false, || {
        // SAFETY: the caller passes null or a ranking of this library, and a structure
        let (ranking, job) = unsafe { (borrow(ranking, "ranking")?, out(job, "job")?) };
        let Some(Job { id, entity, score, exact, failed }) = ranking.jobs.get(place) else { return Ok(false) };
        let (id, entity) = (id.as_ptr(), entity.as_ptr());
        *job = jsf_ranked_job { id, entity, score: *score, exact: *exact, failed: u8::from(*failed) };
        Ok(true)
    })
}

/// What was wrong or missing in the site's files: a sentence per line, ended by a NUL, empty if there is nothing. It belongs to
/// the ranking and lives as long. Null if `ranking` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_warnings(ranking: *const jsf_ranking) -> *const c_char {
    // SAFETY: the caller passes null or a ranking of this library
    answered(ptr::null(), || Ok(unsafe { borrow(ranking, "ranking") }?.warnings.as_ptr()))
}

/// Frees a ranking. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_free(ranking: *mut jsf_ranking) {
    // SAFETY: the caller passes null or a ranking of this library that was not freed
    unsafe { free(ranking) }
}
