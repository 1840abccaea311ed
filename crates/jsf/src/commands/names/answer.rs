//! Every name and function that a formula may use, and the resources that none can use.

use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::python::{Function, PythonVersion, constant};
use job_sort_formula::schema::{Entry, InputType, NameError, Origin, Schema, slurm_source};
use serde::{Serialize, Serializer};

use crate::answer::Answer;
use crate::view::document::Document;

/// A name that a formula may use; a function ends with `()`.
#[derive(Serialize)]
pub struct Name {
    #[serde(serialize_with = "without_brackets")]
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) unit: Option<&'static str>,
    pub(super) origin: &'static str,
    /// The first version of Python that has it, if the oldest one does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<PythonVersion>,
    /// Why no formula can use it.
    #[serde(rename = "reason", skip_serializing_if = "Option::is_none")]
    pub(super) unusable: Option<&'static str>,
}

fn without_brackets<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name.trim_end_matches("()"))
}

impl Name {
    fn from_entry(name: &str, entry: &Entry, schema: &Schema) -> Self {
        let (kind, unit) = kind(entry.input_type);
        Self {
            name: name.to_owned(),
            kind,
            unit,
            origin: match entry.origin {
                Origin::Slurm => slurm_source(name),
                other => origin(other),
            },
            since: None,
            unusable: unusable(name, entry, schema),
        }
    }

    fn of_python(name: String, kind: &'static str, origin: &'static str) -> Self {
        Self {
            name,
            kind,
            unit: None,
            origin,
            since: None,
            unusable: None,
        }
    }
}

/// What the command answers.
#[derive(Serialize)]
pub struct Names {
    pub(super) names: Vec<Name>,
    pub(super) unusable: Vec<Name>,
}

impl Names {
    /// The names of a site.
    pub fn new(schema: &Schema) -> Self {
        let (names, unusable) = names(schema)
            .into_iter()
            .partition(|name| name.unusable.is_none());
        Self { names, unusable }
    }
}

impl Answer for Names {
    fn document(&self) -> Document<'_> {
        self.names_document()
    }
}

/// The inputs, those of the scheduler first, then those of the site, then Python's constants and
/// functions.
fn names(schema: &Schema) -> Vec<Name> {
    let mut names: Vec<Name> = schema
        .iter()
        .map(|(name, entry)| Name::from_entry(name, entry, schema))
        .collect();
    names.sort_by_key(|name| order(name.origin));
    for name in ["e", "inf", "nan", "pi", "tau"] {
        if constant(name).is_some() {
            names.push(Name::of_python(name.into(), "constant", "Python's math"));
        }
    }
    for function in Function::ALL {
        // a resource hides a builtin of its name
        let is_hidden = !function.is_math() && schema.is_numeric(function.name());
        if is_hidden || !function.exists_in(schema.python()) {
            continue;
        }
        let origin = if function.is_math() {
            "Python's math"
        } else {
            "Python's builtins"
        };
        let since = Some(function.since()).filter(|since| *since != PythonVersion::OLDEST);
        names.push(Name {
            since,
            ..Name::of_python(format!("{}()", function.name()), "function", origin)
        });
    }
    names
}

/// Why no formula can use a resource.
fn unusable(name: &str, entry: &Entry, schema: &Schema) -> Option<&'static str> {
    match Resolution::from_schema(name, schema) {
        _ if !entry.input_type.is_numeric() => Some("its value is not a number"),
        Resolution::Input => match Schema::empty().add(name, entry.input_type) {
            Err(NameError::NotAName(_)) => {
                Some("it is not a name in Python (a keyword, or more than letters, digits and `_`)")
            }
            _ => None,
        },
        _ => Some("the name has another meaning in Python, which wins"),
    }
}

/// The kind of an input, and the unit in which it reaches the formula.
fn kind(input_type: InputType) -> (&'static str, Option<&'static str>) {
    match input_type {
        InputType::Count => ("count", None),
        InputType::Size => ("size", Some("kb")),
        InputType::Duration => ("duration", Some("s")),
        InputType::Float => ("float", None),
        InputType::Ratio => ("ratio", Some("0..1")),
        InputType::Bool => ("boolean", None),
        _ => ("string", None),
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Special => "the scheduler",
        Origin::Standard => "every OpenPBS server",
        Origin::Site => "declared by the site",
        _ => "listed by the site's documents, not declared",
    }
}

/// The names of the scheduler come first, then those of the site.
fn order(origin: &str) -> usize {
    match origin {
        "the scheduler" => 0,
        "declared by the site" => 1,
        "every OpenPBS server" => 3,
        _ if origin.starts_with("Slurm") => 0,
        _ => 2,
    }
}
