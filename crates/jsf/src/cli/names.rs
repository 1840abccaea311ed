//! `jsf names`: every name and function that a formula may use, and the resources that none can use.

use std::borrow::Cow;
use std::io::{self, Write};

use job_sort_formula::Formula;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::python::{Function, constant};
use job_sort_formula::schema::{Entry, InputType, NameError, Origin, Schema};
use jsf_report::printable;
use jsf_site::Site;
use serde_json::{Value, json};

use super::args::{NamesArgs, NamesFormatName};
use super::{CliError, Outcome, show_site, warn_all};

/// The column of names is not made wider than this: a longer name moves the rest of its line only.
const MAX_PADDED: usize = 64;

/// A name that a formula may use.
struct Name {
    name: String,
    kind: &'static str,
    unit: &'static str,
    origin: &'static str,
    /// Why no formula can use it.
    unusable: Option<&'static str>,
}

impl Name {
    fn from_entry(name: &str, entry: &Entry, schema: &Schema) -> Self {
        let (kind, unit) = kind(entry.input_type);
        Self {
            name: name.to_owned(),
            kind,
            unit,
            origin: origin(entry.origin),
            unusable: unusable(name, entry, schema),
        }
    }

    fn of_python(name: String, kind: &'static str, origin: &'static str) -> Self {
        Self { name, kind, unit: "", origin, unusable: None }
    }
}

pub(super) fn run(arguments: &NamesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments.site.open_for_shares()?;
    show_site(&arguments.site, &site, arguments.format == NamesFormatName::Human);
    warn_all(site.warnings());
    let schema = schema_with_jobs(&site)?;
    let (names, unusable): (Vec<Name>, Vec<Name>) =
        names(&schema).into_iter().partition(|name| name.unusable.is_none());
    match arguments.format {
        NamesFormatName::Human => write_human(&names, &unusable, out)?,
        NamesFormatName::Json => {
            let list = |names: &[Name]| names.iter().map(object).collect::<Vec<_>>();
            writeln!(out, "{}", json!({"names": list(&names), "unusable": list(&unusable)}))?;
        }
    }
    Ok(Outcome::Fine)
}

/// The site's names, and with a queue those that only its jobs have.
fn schema_with_jobs(site: &Site) -> Result<Cow<'_, Schema>, CliError> {
    if site.files().queue.is_none() {
        return Ok(Cow::Borrowed(site.schema()));
    }
    let no_inputs = Formula::parse("0").map_err(CliError::content)?;
    let jobs = site.jobs(&no_inputs)?;
    warn_all(&jobs.warnings);
    Ok(Cow::Owned(jobs.schema))
}

/// The inputs, those of the scheduler first, then those of the site, then Python's constants and functions.
fn names(schema: &Schema) -> Vec<Name> {
    let mut names: Vec<Name> = schema.iter().map(|(name, entry)| Name::from_entry(name, entry, schema)).collect();
    names.sort_by_key(|name| order(name.origin));
    let constants = ["e", "inf", "nan", "pi", "tau"].into_iter().filter(|name| constant(name).is_some());
    names.extend(constants.map(|name| Name::of_python(name.into(), "constant", "Python's math")));
    let is_hidden = |function: &Function| schema.is_numeric(function.name()) && !function.is_math();
    let functions = Function::ALL.iter().filter(|function| !is_hidden(function));
    names.extend(functions.map(|function| {
        let origin = if function.is_math() { "Python's math" } else { "Python's builtins" };
        Name::of_python(format!("{}()", function.name()), "function", origin)
    }));
    names
}

fn write_human(names: &[Name], unusable: &[Name], out: &mut impl Write) -> io::Result<()> {
    let widths = names.iter().chain(unusable).map(|name| printable(&name.name).chars().count().min(MAX_PADDED));
    let width = widths.max().unwrap_or_default();
    writeln!(out, "{:width$}  {:8}  {:4}  where it comes from", "name", "kind", "unit")?;
    for Name { name, kind, unit, origin, .. } in names {
        writeln!(out, "{:width$}  {kind:8}  {unit:4}  {origin}", printable(name))?;
    }
    if unusable.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nresources that no formula can use:")?;
    writeln!(out, "{:width$}  {:8}  why", "name", "kind")?;
    for Name { name, kind, unusable, .. } in unusable {
        writeln!(out, "{:width$}  {kind:8}  {}", printable(name), unusable.unwrap_or_default())?;
    }
    Ok(())
}

fn object(name: &Name) -> Value {
    let plain = name.name.trim_end_matches("()");
    let unit = if name.unit.is_empty() { Value::Null } else { name.unit.into() };
    let mut object = json!({"name": plain, "kind": name.kind, "unit": unit, "origin": name.origin});
    if let Some(reason) = name.unusable {
        object["reason"] = reason.into();
    }
    object
}

/// Why no formula can use a resource.
fn unusable(name: &str, entry: &Entry, schema: &Schema) -> Option<&'static str> {
    let is_name = || !matches!(Schema::empty().add(name, entry.input_type), Err(NameError::NotAName(_)));
    match Resolution::from_schema(name, schema) {
        _ if !entry.input_type.is_numeric() => Some("its value is not a number"),
        Resolution::Input if is_name() => None,
        Resolution::Input => Some("it is not a name in Python (a keyword, or more than letters, digits and `_`)"),
        _ => Some("the name has another meaning in Python, which wins"),
    }
}

/// The kind of an input, and the unit in which it reaches the formula.
fn kind(input_type: InputType) -> (&'static str, &'static str) {
    match input_type {
        InputType::Count => ("count", ""),
        InputType::Size => ("size", "kb"),
        InputType::Duration => ("duration", "s"),
        InputType::Float => ("float", ""),
        InputType::Ratio => ("ratio", "0..1"),
        InputType::Bool => ("boolean", ""),
        _ => ("string", ""),
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
