//! `jsf names`: every name and function that a formula may use, and the resources that none can use.

use std::borrow::Cow;
use std::io::Write;

use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::python::{Function, PythonVersion, constant};
use job_sort_formula::schema::{Entry, InputType, NameError, Origin, Schema};
use jsf_site::{Role, Site};
use serde::{Serialize, Serializer};

use crate::answer::Answer;
use crate::cli::output::Output;
use crate::cli::{CliError, Outcome, show_site, warn_all};
use crate::commands::names::request::NamesArgs;
use crate::view::document::{Cell, Column, Document, Section, Table};

/// A name that a formula may use; a function ends with `()`.
#[derive(Serialize)]
struct Name {
    #[serde(serialize_with = "without_brackets")]
    name: String,
    kind: &'static str,
    unit: Option<&'static str>,
    origin: &'static str,
    /// The first version of Python that has it, if the oldest one does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<PythonVersion>,
    /// Why no formula can use it.
    #[serde(rename = "reason", skip_serializing_if = "Option::is_none")]
    unusable: Option<&'static str>,
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
            origin: origin(entry.origin),
            since: None,
            unusable: unusable(name, entry, schema),
        }
    }

    fn of_python(name: String, kind: &'static str, origin: &'static str) -> Self {
        Self { name, kind, unit: None, origin, since: None, unusable: None }
    }
}

/// What the command answers.
#[derive(Serialize)]
struct Names {
    names: Vec<Name>,
    unusable: Vec<Name>,
}

impl Answer for Names {
    fn document(&self) -> Document<'_> {
        names_document(&self.names, &self.unusable)
    }
}

pub(crate) fn run(arguments: &NamesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments.site.open_for_shares()?;
    show_site(&arguments.site, &site, arguments.format.is_document());
    warn_all(site.warnings());
    let schema = schema_with_jobs(&site)?;
    let (names, unusable): (Vec<Name>, Vec<Name>) =
        names(&schema).into_iter().partition(|name| name.unusable.is_none());
    Output::new(arguments.format, arguments.text, &[]).write(&Names { names, unusable }, out)?;
    Ok(Outcome::Fine)
}

/// The site's names, and with a queue those that only its jobs have.
fn schema_with_jobs(site: &Site) -> Result<Cow<'_, Schema>, CliError> {
    if !site.files().has(Role::Queue) {
        return Ok(Cow::Borrowed(site.schema()));
    }
    let jobs = site.jobs(&[])?;
    warn_all(&jobs.warnings);
    Ok(Cow::Owned(jobs.schema))
}

/// The inputs, those of the scheduler first, then those of the site, then Python's constants and functions.
fn names(schema: &Schema) -> Vec<Name> {
    let mut names: Vec<Name> = schema.iter().map(|(name, entry)| Name::from_entry(name, entry, schema)).collect();
    names.sort_by_key(|name| order(name.origin));
    let constants = ["e", "inf", "nan", "pi", "tau"].into_iter().filter(|name| constant(name).is_some());
    names.extend(constants.map(|name| Name::of_python(name.into(), "constant", "Python's math")));
    // a resource hides a builtin of its name
    let functions = Function::ALL.iter().filter(|function| function.exists_in(schema.python()));
    let functions = functions.filter(|function| function.is_math() || !schema.is_numeric(function.name()));
    names.extend(functions.map(|function| {
        let origin = if function.is_math() { "Python's math" } else { "Python's builtins" };
        let since = Some(function.since()).filter(|since| *since != PythonVersion::OLDEST);
        Name { since, ..Name::of_python(format!("{}()", function.name()), "function", origin) }
    }));
    names
}

fn names_document<'a>(names: &'a [Name], unusable: &'a [Name]) -> Document<'a> {
    let mut sections = vec![Section::new("names").table(names_table(names, "where it comes from", |name| name.origin))];
    if !unusable.is_empty() {
        let table = names_table(unusable, "why", |name| name.unusable.unwrap_or_default());
        sections.push(Section::new("resources that no formula can use").in_full().table(table));
    }
    let unusable = match unusable.len() {
        0 => String::new(),
        1 => "; 1 resource can be used by none".to_owned(),
        several => format!("; {several} resources can be used by none"),
    };
    Document {
        command: "jsf names",
        title: "Names of a formula".to_owned(),
        headline: format!("A formula may use {} names{unusable}.", names.len()),
        facts: Vec::new(),
        sections,
        read_on: "",
    }
}

/// Names with their kinds and units, and what else is said of each.
fn names_table<'a>(names: &'a [Name], heading: &str, remark: fn(&Name) -> &'static str) -> Table<'a> {
    let has_since = names.iter().any(|name| name.since.is_some());
    let since = has_since.then(|| Column::text("since", 6));
    let columns = [Column::name("name", 9), Column::text("kind", 7), Column::text("unit", 7)];
    let columns = columns.into_iter().chain(since).chain([Column::wrapped(heading, 8)]).collect();
    Table::new(columns, names.len(), move |index| {
        let name = &names[index];
        let since = has_since.then(|| Cell::prose(name.since.map(|since| since.to_string()).unwrap_or_default()));
        let cells = [Cell::prose(&*name.name), Cell::prose(name.kind), Cell::prose(name.unit.unwrap_or_default())];
        cells.into_iter().chain(since).chain([Cell::prose(remark(name))]).collect()
    })
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
        _ => 2,
    }
}
