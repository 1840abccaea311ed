//! The custom resources of a site: `resourcedef`, `qmgr print resource`, `qmgr list resource`.

use job_sort_formula::schema::{InputType, Schema};
use jsf_json::clipped;
use thiserror::Error;

/// The most lines that are reported.
const MAX_PROBLEMS: usize = 10_000;

/// A declaration that cannot be read; it does not affect the others.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{source_name}` line {line}: {reason}")]
pub struct ResourceProblem {
    /// The document's name.
    pub source_name: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Adds the resources of a document to a schema: `resourcedef` (`NAME type=long flag=hn`), `qmgr -c 'print
/// resource'` or `'print server'`, and `qmgr -c 'list resource'`; the format is detected line by line. A resource without
/// a type is a string, as in PBS; a built-in resource is not changed.
///
/// Returns the lines that cannot be read, at most the first 10,000.
///
/// ```
/// use jsf_openpbs::files::resources::add_resources;
/// use job_sort_formula::schema::Schema;
///
/// let mut schema = Schema::openpbs();
/// let problems = add_resources("resourcedef", "base_score type=long\ngpu_model type=string flag=h\n", &mut schema);
/// assert!(problems.is_empty() && schema.is_numeric("base_score") && !schema.is_numeric("gpu_model"));
/// ```
pub fn add_resources(source_name: &str, text: &str, schema: &mut Schema) -> Vec<ResourceProblem> {
    let mut parser = Parser { schema, listed: None };
    let mut problems = Vec::new();
    for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if let Err(reason) = parser.line(text)
            && problems.len() < MAX_PROBLEMS
        {
            problems.push(ResourceProblem { source_name: source_name.to_owned(), line, reason });
        }
    }
    problems
}

struct Parser<'a> {
    schema: &'a mut Schema,
    /// The resource whose block of `list resource` the line is in.
    listed: Option<String>,
}

impl Parser<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => Ok(()),
            [comment, ..] if comment.starts_with('#') => Ok(()),
            ["create" | "set", kind, ..] if *kind != "resource" => Ok(()),
            ["create", "resource", names, rest @ ..] => self.declare(names, rest),
            ["set", "resource", names, "type", "=", kind] => self.declare(names, &["type=", kind]),
            ["set", "resource", names, "flag", "=", flags] => {
                self.withhold(names, flags);
                Ok(())
            }
            ["set", "resource", ..] => Ok(()),
            ["Resource", name] => {
                self.listed = Some((*name).to_owned());
                self.declare(name, &[])
            }
            [attribute, "=", value] => match (*attribute, self.listed.clone()) {
                ("type", Some(name)) => self.declare(&name, &["type=", value]),
                ("flag", Some(name)) => {
                    self.withhold(&name, value);
                    Ok(())
                }
                _ => Ok(()),
            },
            [name, rest @ ..] => self.declare(name, rest),
        }
    }

    /// Declares one or more resources, separated by commas; the type is among `attributes`.
    fn declare(&mut self, names: &str, attributes: &[&str]) -> Result<(), String> {
        let attributes = attributes.join(" ").replace(" =", "=").replace("= ", "=");
        let word = attributes.split([' ', ',']).find_map(|attribute| attribute.strip_prefix("type="));
        let kind = word.map_or(Ok(InputType::Text), resource_type)?;
        for name in names.split(',').filter(|name| !name.is_empty()) {
            if !is_name(name) {
                return Err(format!("`{}` is not a resource name", clipped(name)));
            }
            self.schema.add_listed(name, kind);
        }
        let flags = attributes.split([' ', ',']).find_map(|attribute| attribute.strip_prefix("flag="));
        self.withhold(names, flags.unwrap_or_default());
        Ok(())
    }

    /// Records the resources that `qsub` refuses to everyone: read-only and invisible ones (pbs_resources(7B)). Of those
    /// with `m`, which are passed to the execution hosts, the amounts are taken to be the site's too.
    fn withhold(&mut self, names: &str, flags: &str) {
        if flags.contains(['r', 'i', 'm']) {
            names.split(',').for_each(|name| self.schema.withhold(name));
        }
    }
}

fn resource_type(word: &str) -> Result<InputType, String> {
    InputType::from_pbs_type(word).ok_or_else(|| {
        let word = clipped(word);
        format!("`{word}` is not a resource type, expected long, float, size, string, string_array or boolean")
    })
}

/// Letters, digits, `_` and `-`, starting with a letter.
fn is_name(name: &str) -> bool {
    name.len() <= 255
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> (Schema, Vec<ResourceProblem>) {
        let mut schema = Schema::empty();
        let problems = add_resources("rd", text, &mut schema);
        (schema, problems)
    }

    #[test]
    fn reads_every_format() {
        for text in [
            "a type=long\nb  type=size flag=hn\nc type=string flag=h\nd\n# e type=long\n",
            "create resource a\nset resource a type = long\ncreate resource b type=size,flag=hn\nset resource b flag = hn\ncreate resource c,d\nset server e = 1\ncreate queue q\n",
            "Resource a\n    type = long\nResource b\n    type = size\n    flag = hn\n\nResource c\n    type = string\nResource d\n",
        ] {
            let (schema, problems) = kinds(text);
            let found: Vec<_> = schema.iter().map(|(name, entry)| (name, entry.input_type)).collect();
            assert_eq!(
                found,
                [("a", InputType::Count), ("b", InputType::Size), ("c", InputType::Text), ("d", InputType::Text)],
                "{text}"
            );
            assert_eq!(problems, []);
        }
    }

    #[test]
    fn an_invalid_line_does_not_affect_others() {
        let (schema, problems) = kinds("a type=lnog\r\n%% type=long\r\nb type=long\r\n");
        assert!(schema.is_numeric("b") && schema.len() == 1);
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [1, 2]);
        assert!(problems[0].to_string().starts_with("`rd` line 1: `lnog` is not a resource type"), "{}", problems[0]);
    }
}
