//! The custom resources that a site declares: a `resourcedef`, or the listing of `qmgr`.
//!
//! In: the objects of the document. Out: names of a [`Schema`].

use std::collections::BTreeSet;

use job_sort_formula::Schema;
use job_sort_formula::schema::InputType;
use jsf_json::clipped;

use crate::files::objects::{Object, ObjectKind, Objects, last};

/// The most lines that are reported.
const MAX_PROBLEMS: usize = 10_000;

/// Adds the resources that a document declares to a schema. A resource without a type is a string,
/// as in PBS; a built-in resource is not changed.
///
/// Returns what is said of the declarations that cannot be read, which do not affect the others, at
/// most the first 10,000.
///
/// ```
/// use jsf_openpbs::files::objects::Objects;
/// use jsf_openpbs::files::resources::add_resources;
/// use job_sort_formula::schema::Schema;
///
/// let mut schema = Schema::openpbs();
/// let resourcedef = Objects::read_resourcedef("base_score type=long\ngpu_model type=string flag=h\n");
/// assert!(add_resources("resourcedef", &resourcedef, &mut schema).is_empty());
/// assert!(schema.is_numeric("base_score") && !schema.is_numeric("gpu_model"));
/// ```
pub fn add_resources(source_name: &str, objects: &Objects<'_>, schema: &mut Schema) -> Vec<String> {
    let mut problems = Vec::new();
    for resource in objects.of(ObjectKind::Resource) {
        if let Err(problem) = add_resource(resource, schema)
            && problems.len() < MAX_PROBLEMS
        {
            problems.push(problem);
        }
    }
    problems.sort_by_key(|(line, _)| *line);
    let said = problems.iter();
    said.map(|(line, reason)| format!("`{source_name}` line {line}: {reason}"))
        .collect()
}

/// The names of the resources that a document declares.
pub fn declared_names<'o>(objects: &'o Objects<'_>) -> BTreeSet<&'o str> {
    objects.of(ObjectKind::Resource).flat_map(names).collect()
}

fn names<'o>(resource: &'o Object<'_>) -> impl Iterator<Item = &'o str> {
    resource.name.split(',').filter(|name| !name.is_empty())
}

/// Adds one resource, or those that are declared together. An error is a line, and what is wrong
/// with it.
fn add_resource(resource: &Object<'_>, schema: &mut Schema) -> Result<(), (usize, String)> {
    let kind = last(&resource.attributes, "type");
    if resource.is_declared || kind.is_some() {
        let mut input_type = InputType::Text;
        if let Some(kind) = kind {
            input_type = resource_type(kind.value.text().unwrap_or_default())
                .map_err(|reason| (kind.place.line, reason))?;
        }
        for name in names(resource) {
            if !is_resource_name(name) {
                return Err((
                    resource.line,
                    format!("`{}` is not a resource name", clipped(name)),
                ));
            }
            schema.add_listed(name, input_type);
        }
    }
    // those that are read-only or invisible `qsub` refuses to everyone (pbs_resources(7B)); of
    // those with `m`, which are passed to the execution hosts, the amounts are taken to be the
    // site's too
    let flags = resource.get("flag").unwrap_or_default();
    if flags.contains(['r', 'i', 'm']) {
        for name in names(resource) {
            schema.withhold(name);
        }
    }
    Ok(())
}

fn resource_type(word: &str) -> Result<InputType, String> {
    match InputType::from_pbs_type(word) {
        Some(input_type) => Ok(input_type),
        None => Err(format!(
            "`{}` is not a resource type, expected long, float, size, string, string_array or boolean",
            clipped(word)
        )),
    }
}

/// The longest name of a resource, in bytes.
pub const MAX_RESOURCE_NAME: usize = 255;

/// Whether a resource may have this name: letters, digits, `_` and `-`, starting with a letter, and
/// at most [`MAX_RESOURCE_NAME`] of them.
pub fn is_resource_name(name: &str) -> bool {
    // OpenPBS allows a `-` too, though no formula can use such a name
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c));
    name.len() <= MAX_RESOURCE_NAME
        && rest.is_empty()
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(objects: &Objects<'_>) -> (Schema, Vec<String>) {
        let mut schema = Schema::empty();
        let problems = add_resources("rd", objects, &mut schema);
        (schema, problems)
    }

    #[test]
    fn reads_every_format() {
        for objects in [
            Objects::read_resourcedef(
                "a type=long\nb  type=size flag=hn\nc type=string flag=h\nd\n# e type=long\n",
            ),
            Objects::read(
                "create resource a\nset resource a type = long\ncreate resource b type=size,flag=hn\nset resource b flag = hn\ncreate resource c,d\nset server e = 1\ncreate queue q\n",
            ),
            Objects::read(
                "Resource a\n    type = long\nResource b\n    type = size\n    flag = hn\n\nResource c\n    type = string\nResource d\n",
            ),
        ] {
            let (schema, problems) = kinds(&objects);
            let found: Vec<_> = schema
                .iter()
                .map(|(name, entry)| (name, entry.input_type))
                .collect();
            assert_eq!(
                found,
                [
                    ("a", InputType::Count),
                    ("b", InputType::Size),
                    ("c", InputType::Text),
                    ("d", InputType::Text)
                ],
                "{}",
                objects.text
            );
            assert!(problems.is_empty());
        }
    }

    #[test]
    fn an_invalid_line_does_not_affect_others() {
        let (schema, problems) = kinds(&Objects::read_resourcedef(
            "a type=lnog\r\n%% type=long\r\nb type=long\r\n",
        ));
        assert!(schema.is_numeric("b") && schema.len() == 1);
        assert!(problems[0].starts_with("`rd` line 1: `lnog` is not a resource type"));
        assert!(problems[1].starts_with("`rd` line 2: "), "{problems:?}");
        assert_eq!(problems.len(), 2);
    }
}
