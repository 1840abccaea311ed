//! The JSON that Slurm's tools print, as records. Numbers are plain before 23.02, and objects with
//! `set`, `infinite` and `number` since; states and types are texts, then lists of texts.

use jsf_json::{JsonScalar, entries, json_fault};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::records::Record;

/// The items of a document, and what it says of itself.
pub struct JsonDocument<'t> {
    /// The version of Slurm that wrote it.
    pub version: Option<String>,
    pub items: Vec<&'t RawValue>,
}

impl<'t> JsonDocument<'t> {
    /// Reads a document whose items are a list of this name, or in an object of this name.
    ///
    /// # Errors
    /// What the text is instead, in words that follow `is`.
    pub fn read(text: &'t str, list: &str) -> Result<Self, String> {
        let mut version = None;
        let mut items = None;
        for (key, raw) in entries(text).map_err(|error| invalid(text, &error))? {
            let mut raw = raw.get();
            if key == "meta" {
                version = version_of(raw);
            } else if key == list {
                for (inner, inner_raw) in entries(raw).map_err(|error| invalid(raw, &error))? {
                    if inner == list {
                        raw = inner_raw.get();
                    }
                }
                items = serde_json::from_str(raw).ok();
            }
        }
        match items {
            Some(items) => Ok(Self { version, items }),
            None => Err(format!("JSON without a list `{list}`")),
        }
    }
}

fn invalid(text: &str, error: &serde_json::Error) -> String {
    format!("invalid JSON ({})", json_fault(text, error))
}

/// The key `Slurm` is `slurm` since 23.11.
fn version_of(meta: &str) -> Option<String> {
    let meta: Value = serde_json::from_str(meta).ok()?;
    let slurm = meta.get("Slurm").or(meta.get("slurm"))?;
    slurm.get("release")?.as_str().map(str::to_owned)
}

/// An item with other names for its keys; a key without one is left out.
///
/// # Errors
/// It is not valid JSON.
pub fn record_of(item: &RawValue, keys: &[(&'static str, &'static str)]) -> Result<Record, String> {
    let mut record = Record::default();
    for (key, raw) in entries(item.get()).map_err(|error| error.to_string())? {
        if let Some(names) = keys.iter().find(|(known, _)| *known == key)
            && let Some(text) = text_of(raw.get())
        {
            // JSON has no lines
            record.add(*names, &text, 0);
        }
    }
    Ok(record)
}

/// A number since 23.02.
#[derive(Deserialize)]
struct Flagged<'t> {
    set: bool,
    #[serde(default)]
    infinite: bool,
    #[serde(borrow)]
    number: &'t RawValue,
}

/// The text of a value that is set, or the word for an infinite number.
fn text_of(raw: &str) -> Option<String> {
    match JsonScalar::from_text(raw) {
        JsonScalar::NULL => None,
        JsonScalar::OBJECT => {
            if let Ok(Flagged {
                set,
                infinite,
                number,
            }) = serde_json::from_str(raw)
            {
                let text = if infinite { "UNLIMITED" } else { number.get() };
                return (set || infinite).then(|| text.to_owned());
            }
            // the fair-share factor, beside the level
            let inside = entries(raw).ok()?;
            let (_, factor) = inside.iter().find(|(key, _)| key == "factor")?;
            text_of(factor.get())
        }
        JsonScalar::Other(_) => {
            let texts: Vec<String> = serde_json::from_str(raw).ok()?;
            Some(texts.join(","))
        }
        scalar => scalar.text().map(str::to_owned),
    }
}
