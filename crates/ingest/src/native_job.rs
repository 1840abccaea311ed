//! A job as it is written in native JSON, for the reader of jobs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use job_sort_formula::python;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A job in native JSON, as [`read_jobs`](crate::read_jobs) takes it.
#[derive(Debug, Default, Serialize)]
pub struct NativeJob<'j> {
    pub id: Cow<'j, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub entity: Cow<'j, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub queue: Cow<'j, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<i64>,
    /// The attributes that a formula reads, such as `eligible_time`.
    #[serde(flatten)]
    pub attributes: BTreeMap<&'j str, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<Cow<'j, str>, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<Cow<'j, str>, Box<RawValue>>,
}

impl<'j> NativeJob<'j> {
    /// Adds a ready-made input, a number with all of its digits.
    pub fn add_input(&mut self, name: impl Into<Cow<'j, str>>, number: &python::Value) {
        let text = number.repr();
        // an infinite number is no JSON, and is written as a string
        let raw = RawValue::from_string(text.clone()).or_else(|_| to_raw_value(&text));
        self.inputs.extend(raw.ok().map(|raw| (name.into(), raw)));
    }
}
