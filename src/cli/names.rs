//! `jsf names`: every name and function that a formula may use.

use std::io::Write;

use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::python::{Function, constant};
use job_sort_formula::schema::{InputType, Origin};
use serde_json::{Value, json};

use super::args::{NamesArgs, NamesFormatName};
use super::{CliError, Outcome, show_site, warn_all};

/// A name that a formula may use.
struct Name {
    name: String,
    kind: &'static str,
    unit: &'static str,
    origin: &'static str,
}

pub(super) fn run(arguments: &NamesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments.site.open_for_shares()?;
    show_site(&arguments.site, &site, arguments.format == NamesFormatName::Human);
    warn_all(site.warnings());
    let schema = site.schema();
    let inputs = schema.iter().filter(|(name, _)| matches!(Resolution::from_schema(name, schema), Resolution::Input));
    let mut names: Vec<Name> = inputs
        .map(|(name, entry)| {
            let (kind, unit) = kind(entry.input_type);
            Name { name: name.to_owned(), kind, unit, origin: origin(entry.origin) }
        })
        .collect();
    names.sort_by_key(|name| order(name.origin));
    let constants = ["e", "inf", "nan", "pi", "tau"].into_iter().filter(|name| constant(name).is_some());
    names.extend(constants.map(|name| Name { name: name.into(), kind: "constant", unit: "", origin: "Python's math" }));
    let is_hidden = |function: &Function| schema.is_numeric(function.name()) && !function.is_math();
    let functions = Function::ALL.iter().filter(|function| !is_hidden(function));
    names.extend(functions.map(|function| Name {
        name: format!("{}()", function.name()),
        kind: "function",
        unit: "",
        origin: if function.is_math() { "Python's math" } else { "Python's builtins" },
    }));
    match arguments.format {
        NamesFormatName::Human => {
            let width = names.iter().map(|name| name.name.len()).max().unwrap_or_default();
            writeln!(out, "{:width$}  {:8}  {:4}  where it comes from", "name", "kind", "unit")?;
            for Name { name, kind, unit, origin } in &names {
                writeln!(out, "{name:width$}  {kind:8}  {unit:4}  {origin}")?;
            }
        }
        NamesFormatName::Json => {
            let unit = |unit: &str| if unit.is_empty() { Value::Null } else { unit.into() };
            let object = |name: &Name| {
                let plain = name.name.trim_end_matches("()");
                json!({"name": plain, "kind": name.kind, "unit": unit(name.unit), "origin": name.origin})
            };
            let document = json!({"names": names.iter().map(object).collect::<Vec<_>>()});
            writeln!(out, "{document}")?;
        }
    }
    Ok(Outcome::Fine)
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
        InputType::Text => ("string", ""),
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Special => "the scheduler",
        Origin::Standard => "every OpenPBS server",
        Origin::Site => "declared by the site",
        Origin::Seen => "listed by the site's documents, not declared",
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
