//! A whole site, ranked as the command `jsf rank` does.

use std::ffi::c_char;

use job_sort_formula::Formula;
use jsf::answer::write_json;
use jsf::commands::rank::answer::{RankReport, RankedRow};
use jsf_site::{RankedQueue, Site};

use crate::argument::{required_text, text};
use crate::error::{created_text, jsf_error, jsf_failure, jsf_status, site_error};
use crate::need::in_c;

/// Ranks the queue of a site as `jsf rank --site PATH --format json` does. `path` is a folder or a tar archive with the scheduler's files,
/// as `jsf capture` or `pbs_snapshot` make it. `formula` is the text of the formula; a null pointer with length 0 takes the one in
/// force at the site, and an empty text that is given is an error. The lengths are in bytes, or `JSF_NUL_TERMINATED`. `*json` becomes
/// the JSON of the command, ended by a NUL, to be freed with `jsf_string_free`: `jobs` in the order in which the scheduler considers them,
/// with their scores and errors, a `summary`, and, where there is something, `warnings` about the site's files and undefined names. The jobs are read and
/// scored by several threads.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_SYNTAX` (with a place), `JSF_STATUS_NOT_ARITHMETIC`, `JSF_STATUS_ARGUMENT`,
/// `JSF_STATUS_UTF8`; `*json` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_site_rank(
    path: *const c_char,
    path_length: usize,
    formula: *const c_char,
    formula_length: usize,
    json: *mut *mut c_char,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or texts of these lengths
        let (path, given) =
            unsafe { (required_text(path, path_length, "path")?, given_formula(formula, formula_length)?) };
        let site = Site::open(path).map_err(|error| site_error(&error))?;
        let formula = match given {
            Some(text) => text.to_owned(),
            None => site.formula_text().map_err(|error| site_error(&error))?.text,
        };
        let parsed = Formula::parse(&formula).map_err(|error| {
            let finding = error.diagnostic();
            jsf_error::new(jsf_status::Syntax, finding.message).at(finding.span).because(jsf_failure::Syntax)
        })?;
        let queue = site.rank(&parsed).map_err(|error| site_error(&error))?;
        let warnings = site.warnings().iter().chain(&queue.warnings).map(|warning| warning.worded(in_c));
        let undefined = queue.program.undefined().iter();
        let undefined = undefined.map(|(name, _)| format!("the formula uses `{name}`, which is not defined"));
        document(&formula, &queue, &warnings.chain(undefined).collect::<Vec<String>>())
    };
    // SAFETY: the caller passes null or pointers to a text and a handle
    unsafe { created_text(json, "json", error, work) }
}

/// The JSON of a ranking.
fn document(formula: &str, queue: &RankedQueue, warnings: &[String]) -> Result<String, jsf_error> {
    let report = RankReport {
        formula,
        table: &queue.table,
        ranking: &queue.ranking,
        not_considered: &queue.not_considered,
        rows: &RankedRow::all(&queue.ranking),
        inputs: &[],
        terms: None,
        schema: &queue.schema,
        rules: &[],
        decides: &queue.decides(),
        checked: None,
        page: None,
    };
    let defect = |error: String| jsf_error::new(jsf_status::Internal, error);
    let mut json = Vec::new();
    write_json(&report, warnings, &mut json).map_err(|error| defect(error.to_string()))?;
    String::from_utf8(json).map_err(|error| defect(error.to_string()))
}

/// The formula that is given; `None` for the one in force.
///
/// # Safety
/// As for [`text`].
unsafe fn given_formula<'a>(formula: *const c_char, length: usize) -> Result<Option<&'a str>, jsf_error> {
    if !formula.is_null() {
        // SAFETY: as the caller of this function promises
        return unsafe { text(formula, length, "formula") }.map(Some);
    }
    match length {
        0 => Ok(None),
        _ => Err(jsf_error::argument("`formula` is null, which takes the formula in force only with the length 0")),
    }
}
