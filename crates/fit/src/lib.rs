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

pub mod goals;
mod search;
pub mod wishes;

use job_sort_formula::formula::TemplateConstant;
use jsf_json::object;
use serde::{Serialize, Serializer};

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
