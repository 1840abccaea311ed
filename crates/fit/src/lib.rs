//! Finds the constants of a formula: those that meet wishes about the order of a queue, or goals
//! about the waits of a log.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]
#![allow(
    non_camel_case_types,
    reason = "`object!` names the type of each value after its key"
)]

mod cma_es;
pub mod goals;
mod search_space;
pub mod wishes;

use std::ops::ControlFlow;

use job_sort_formula::formula::TemplateConstant;
use jsf_json::object;
use jsf_site::SiteError;
use serde::{Serialize, Serializer};
use thiserror::Error;

/// Follows a search, and may end it, which then gives the best so far. It is told how much is done,
/// and of how much, or nothing while a formula is simulated. It is called from several threads.
pub type Watch<'a> = dyn Fn(Option<(usize, usize)>) -> ControlFlow<()> + Sync + 'a;

/// Why nothing is found.
#[derive(Debug, Error)]
pub enum FitError {
    /// The log is too short to say something of other weeks, unless that is forced.
    #[error("{0}")]
    TooShort(String),
    /// What is wanted, the log or a formula cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// The site cannot rank its queue, or simulate the log.
    #[error(transparent)]
    Site(#[from] SiteError),
}

impl FitError {
    fn new(why: impl Into<String>) -> Self {
        Self::Unusable(why.into())
    }

    fn interrupted() -> Self {
        Self::new("interrupted before a formula was simulated")
    }
}

/// A constant that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedConstant {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The values that it may have.
    #[serde(skip)]
    pub range: TemplateConstant,
    /// The least and the greatest value that do as well, all others being fixed: meet the same
    /// wishes, or are within one standard error on the searched part. `None` where that was not
    /// tried.
    #[serde(flatten, serialize_with = "serialize_ends")]
    pub within: Option<[f64; 2]>,
    /// Whether all values of the range do as well.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hardly_matters: bool,
}

impl FittedConstant {
    /// A constant of a template with a value.
    fn new(range: &TemplateConstant, value: f64, within: Option<[f64; 2]>) -> Self {
        Self {
            name: range.name.to_string(),
            value,
            range: range.clone(),
            within,
            hardly_matters: false,
        }
    }
}

/// Serialises the ends of an interval as `low` and `high`, which are null where it is not known.
fn serialize_ends<S: Serializer>(
    ends: &Option<[f64; 2]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let ends = object! { low: ends.map(|[low, _]| low), high: ends.map(|[_, high]| high) };
    ends.serialize(serializer)
}

/// A value with so many significant digits: through its text, so that it is the double nearest to
/// the decimal number.
fn round(value: f64, digits: usize) -> f64 {
    let decimals = digits - 1;
    format!("{value:.decimals$e}").parse().unwrap_or(value)
}
