//! The warnings about what an answer is computed from: they are a part of it in JSON and in what people read.

use std::io::{self, Write};

use serde::Serialize;

use crate::view::document::{Document, Section, WARNINGS};

/// An object with the warnings beside its members.
#[derive(Serialize)]
struct Warned<'a, T: Serialize> {
    #[serde(flatten)]
    answer: &'a T,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// Writes an object as one JSON document, with the warnings under `warnings` where there are some.
pub(crate) fn write_json(answer: &impl Serialize, warnings: &[String], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Warned { answer, warnings })?;
    out.write_all(b"\n")
}

impl Document<'_> {
    /// The document with the warnings before everything else but its headline and facts.
    pub(crate) fn with_warnings(mut self, warnings: &[String]) -> Self {
        if !warnings.is_empty() {
            self.sections.insert(0, Section::new(WARNINGS).list(warnings.to_vec()));
        }
        self
    }
}
