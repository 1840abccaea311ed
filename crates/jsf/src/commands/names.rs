//! `jsf names`: every name and function that a formula may use, and the resources that none can use.

use std::io::Write;

use clap::Args;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::schema::{Entry, InputType, NameError, Origin, slurm_source};
use job_sort_formula::{Function, PythonVersion, Schema};
use jsf_site::Role;
use serde::{Serialize, Serializer};

use crate::answers::Answer;
use crate::cli::messages::answered;
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::{AnswerArgs, Output};
use crate::cli::site::SiteArgs;
use crate::view::document::{Cell, Column, Document, Section, Table, cells};

/// `jsf names`
#[derive(Debug, Args)]
#[command(after_help = "\
Units: a size reaches the formula in kb (1024 bytes), a duration in seconds (s), a ratio lies between 0 and 1; a count \
and a float have no unit. Resources that no formula can use, such as strings, or `my-res`, which Python reads as a \
difference, are listed below the others with the reason (`unusable` in JSON). With --queue, resources that only jobs \
have are listed too; their kinds are inferred from their amounts. The functions are those of the server's Python (--python); \
`since` is the first version that has one, if that is later than 3.6.

Examples:
  jsf names
  jsf names --site examples/site --full
  jsf names --resources examples/site/resourcedef --format json")]
pub struct NamesArgs {
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

impl NamesArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let site = self.site.open_without_formula()?;
        let is_document = self.answer.format.is_document();
        self.site.show(&site, is_document);
        let (schema, _) = answered("reading the jobs", false, |warnings, _| {
            warnings.add(site.warnings());
            // the names that only jobs have
            if !site.files().has(Role::Queue) {
                return Ok(site.schema().clone());
            }
            let jobs = site.jobs(&[])?;
            warnings.add(jobs.warnings);
            Ok(jobs.schema)
        })?;
        let names = names(&schema).into_iter();
        let (names, unusable) = names.partition(|name| name.unusable.is_none());
        let names = Names { names, unusable };
        Output::new(self.answer, names, Vec::new()).write(out)?;
        Ok(Outcome::Fine)
    }
}

/// A name that a formula may use; a function ends with `()`.
#[derive(Default, Serialize)]
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

/// What the command answers.
#[derive(Serialize)]
struct Names {
    names: Vec<Name>,
    unusable: Vec<Name>,
}

/// The inputs, those of the scheduler first, then those of the site, then Python's constants and
/// functions.
fn names(schema: &Schema) -> Vec<Name> {
    let mut names = Vec::new();
    let mut entries = Vec::from_iter(schema.iter());
    entries.sort_by_key(|(_, entry)| order(entry.origin));
    for (name, entry) in entries {
        names.push(Name {
            name: name.to_owned(),
            kind: match entry.input_type {
                InputType::Count => "count",
                InputType::Ratio => "ratio",
                other => other.pbs_type(),
            },
            unit: match entry.input_type {
                InputType::Ratio => Some("0..1"),
                other => other.unit(),
            },
            origin: match entry.origin {
                Origin::Slurm => slurm_source(name),
                Origin::Special => "the scheduler",
                Origin::Standard => "every OpenPBS server",
                Origin::Site => "declared by the site",
                _ => "listed by the site's documents, not declared",
            },
            unusable: unusable(name, entry, schema),
            ..Name::default()
        });
    }
    for name in ["e", "inf", "nan", "pi", "tau"] {
        names.push(Name {
            name: name.to_owned(),
            kind: "constant",
            origin: "Python's math",
            ..Name::default()
        });
    }
    for function in Function::ALL {
        // a resource hides a builtin of its name
        // names of math come before resources in the scheduler, builtins after them
        let is_hidden = !function.is_math() && schema.is_numeric(function.name());
        if is_hidden || !function.exists_in(schema.python()) {
            continue;
        }
        let since = function.since();
        names.push(Name {
            name: format!("{}()", function.name()),
            kind: "function",
            origin: if function.is_math() {
                "Python's math"
            } else {
                "Python's builtins"
            },
            since: (since != PythonVersion::OLDEST).then_some(since),
            ..Name::default()
        });
    }
    names
}

/// Why no formula can use a resource.
fn unusable(name: &str, entry: &Entry, schema: &Schema) -> Option<&'static str> {
    match Resolution::from_schema(name, schema) {
        _ if !entry.input_type.is_numeric() => Some("its value is not a number"),
        // an empty schema, as one with the names of OpenPBS refuses to declare them
        Resolution::Input => match Schema::empty().add(name, entry.input_type) {
            Err(NameError::NotAName(_)) => {
                Some("it is not a name in Python (a keyword, or more than letters, digits and `_`)")
            }
            _ => None,
        },
        _ => Some("the name has another meaning in Python, which wins"),
    }
}

/// The names of the scheduler come first, then those of the site.
fn order(origin: Origin) -> usize {
    match origin {
        Origin::Special | Origin::Slurm => 0,
        Origin::Site => 1,
        Origin::Standard => 3,
        _ => 2,
    }
}

impl Answer for Names {
    fn document(&self) -> Document<'_> {
        let names = names_table(&self.names, "where it comes from");
        let mut sections = vec![Section::new("names").table(names)];
        if !self.unusable.is_empty() {
            let section = Section::new("resources that no formula can use").in_full();
            sections.push(section.table(names_table(&self.unusable, "why")));
        }
        Document {
            command: "jsf names",
            title: "Names of a formula".to_owned(),
            headline: format!(
                "A formula may use {} names; resources that none can use: {}.",
                self.names.len(),
                self.unusable.len()
            ),
            facts: Vec::new(),
            sections,
            read_on: "",
        }
    }
}

/// Names with their kinds and units, and why none can be used, or where they come from.
fn names_table<'a>(names: &'a [Name], heading: &str) -> Table<'a> {
    let mut has_since = false;
    let mut rows = Vec::new();
    for name in names {
        let since = name.since.map(|since| since.to_string());
        has_since |= since.is_some();
        rows.push(cells![
            &*name.name,
            name.kind,
            Cell::prose(name.unit.unwrap_or_default()),
            Cell::prose(since.unwrap_or_default()),
            Cell::prose(name.unusable.unwrap_or(name.origin)),
        ]);
    }
    let columns = [
        Column::name("name", 9),
        Column::text("kind", 7),
        Column::text("unit", 7),
        Column::text("since", 6).shown_if(has_since),
        Column::wrapped(heading, 8),
    ];
    Table::from_rows(columns, rows)
}
