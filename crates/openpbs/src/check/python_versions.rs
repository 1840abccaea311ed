//! The findings on a formula that the server accepts or refuses depending on the version of its Python.

use job_sort_formula::diagnostic::{Diagnostic, Message, Need, Span};
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::syntax::{Expr, ExprKind};
use job_sort_formula::python::PythonVersion;
use job_sort_formula::schema::Schema;

use crate::files::python_version::systems_with;
use crate::qmgr_validation::validate;

/// What gives the value of a newer function in every version, and where it differs.
const ALTERNATIVES: [(&str, &str); 3] = [
    (
        "cbrt",
        "`x ** (1/3)` exists in every version: for x from 0 it is the same up to the last digit, below 0 it is complex",
    ),
    ("exp2", "`2.0 ** x` exists in every version and is the same up to the last digit"),
    ("lcm", "`a * b // gcd(a, b)` exists in every version: for a and b above 0 it is the same"),
];

/// The server's answer under one version: the error code, 0 if it accepts the formula, `None` if that cannot be told.
type Answer = (PythonVersion, Option<u32>);

/// What the server answers under each version, if that is not always the same: a finding for each name that only some
/// versions have, else one for the formula. `expr` is that of the formula, if it has been parsed.
pub(super) fn findings(text: &str, expr: Option<&Expr>, schema: &Schema) -> Vec<Diagnostic> {
    let schemas: Vec<Schema> = PythonVersion::all().map(|version| schema.clone().with_python(version)).collect();
    let answers: Vec<Answer> = schemas.iter().map(|schema| (schema.python(), validate(text, schema).code)).collect();
    let is_bound = |name: &str, version: PythonVersion| {
        let schema = schemas.iter().find(|schema| schema.python() == version);
        schema.is_some_and(|schema| !matches!(Resolution::from_schema(name, schema), Resolution::Undefined))
    };
    differences(&answers, &names(expr), is_bound, schema.python(), Span::new(0, text.len()))
}

/// The names of a formula, each with its first place.
fn names(expr: Option<&Expr>) -> Vec<(&str, Span)> {
    let mut names: Vec<(&str, Span)> = Vec::new();
    for node in expr.into_iter().flat_map(Expr::nodes) {
        if let ExprKind::Name(name) = &node.kind {
            match names.iter_mut().find(|(known, _)| *known == &**name) {
                Some((_, first)) if node.span.start < first.start => *first = node.span,
                Some(_) => {}
                None => names.push((name, node.span)),
            }
        }
    }
    names
}

fn differences(
    answers: &[Answer],
    names: &[(&str, Span)],
    is_bound: impl Fn(&str, PythonVersion) -> bool,
    assumed: PythonVersion,
    whole: Span,
) -> Vec<Diagnostic> {
    if answers.iter().all(|(_, answer)| *answer == answers[0].1) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (name, span) in names {
        let (bound, unbound): (Vec<Answer>, Vec<Answer>) =
            answers.iter().partition(|(version, _)| is_bound(name, *version));
        let refusals: Vec<Answer> = unbound.into_iter().filter(|(_, answer)| is_refusal(*answer)).collect();
        let (Some((since, _)), Some(_)) = (bound.first(), refusals.first()) else { continue };
        if bound.iter().all(|(_, answer)| is_refusal(*answer)) {
            continue;
        }
        let message = format!("`{name}` exists since Python {since}: {}", refused(&refusals));
        let alternative = ALTERNATIVES.iter().find(|(known, _)| known == name).map(|(_, text)| *text);
        findings.push(found(message, *span, alternative, assumed));
    }
    if findings.is_empty() {
        let message = format!("the server's answer depends on its Python: {}", in_groups(answers));
        findings.push(found(message, whole, None, assumed));
    }
    findings
}

fn found(message: String, span: Span, alternative: Option<&str>, assumed: PythonVersion) -> Diagnostic {
    let alternative = alternative.map(|text| format!("{text}; ")).unwrap_or_default();
    let unknown = format!("{alternative}nothing says which Python this server has, and {assumed} is assumed: ");
    Diagnostic::warning("JSF209", message, span).with_help(Message::asking(unknown, [Need::Python]))
}

fn is_refusal(answer: Option<u32>) -> bool {
    answer.is_some_and(|code| code != 0)
}

/// Which servers refuse the formula, by their codes.
fn refused(refusals: &[Answer]) -> String {
    let groups = groups(refusals).into_iter().map(|(answer, versions)| {
        let systems = systems_with(&versions);
        let servers = if systems.is_empty() { in_ranges(&versions) } else { systems };
        format!("on {servers} {}", verb(answer))
    });
    format!("servers {}", groups.collect::<Vec<_>>().join(", "))
}

/// Each answer with its versions and their systems.
fn in_groups(answers: &[Answer]) -> String {
    let groups = groups(answers).into_iter().map(|(answer, versions)| {
        let systems = systems_with(&versions);
        let systems = if systems.is_empty() { systems } else { format!(" ({systems})") };
        format!("those with {}{systems} {}", in_ranges(&versions), verb(answer))
    });
    groups.collect::<Vec<_>>().join("; ")
}

fn verb(answer: Option<u32>) -> String {
    match answer {
        Some(0) => "accept the formula".to_owned(),
        Some(code) => format!("refuse the formula ({code})"),
        None => "may accept or refuse the formula".to_owned(),
    }
}

/// The answers with their versions, in the order of the oldest version of each.
fn groups(answers: &[Answer]) -> Vec<(Option<u32>, Vec<PythonVersion>)> {
    let mut groups: Vec<(Option<u32>, Vec<PythonVersion>)> = Vec::new();
    for (version, answer) in answers {
        match groups.iter_mut().find(|(known, _)| known == answer) {
            Some((_, versions)) => versions.push(*version),
            None => groups.push((*answer, vec![*version])),
        }
    }
    groups
}

/// `Python 3.6 to 3.8, 3.11`.
fn in_ranges(versions: &[PythonVersion]) -> String {
    let ranges = versions.chunk_by(|one, next| one.minor() + 1 == next.minor()).map(|range| match range {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    format!("Python {}", ranges.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(minor: u8, before: u32) -> Vec<Answer> {
        PythonVersion::all().map(|version| (version, Some(if version.minor() < minor { before } else { 0 }))).collect()
    }

    fn messages(answers: &[Answer], names: &[&str], known_since: impl Fn(&str) -> u8) -> Vec<String> {
        let names: Vec<(&str, Span)> = names.iter().map(|name| (*name, Span::new(0, name.len()))).collect();
        let is_bound = |name: &str, version: PythonVersion| known_since(name) <= version.minor();
        let found = differences(answers, &names, is_bound, PythonVersion::default(), Span::new(0, 9));
        found.into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn a_name_that_older_versions_lack_is_named_with_their_systems() {
        let since_of = |name: &str| if name == "cbrt" { 11 } else { 6 };
        assert_eq!(
            messages(&since(11, 15124), &["ncpus", "cbrt"], since_of),
            [
                "`cbrt` exists since Python 3.11: servers on Red Hat 8 and 9, SLES 15, Debian 11, Ubuntu 20.04 and 22.04 refuse \
              the formula (15124)"
            ]
        );
        // whose absence is never reached
        assert!(messages(&since(0, 15124), &["cbrt"], since_of).is_empty());
        let two = |name: &str| if name == "lcm" { 9 } else { 8 };
        let found = messages(&since(9, 15124), &["lcm", "prod"], two);
        assert!(
            found[0].starts_with("`lcm` exists since Python 3.9: servers on Red Hat 8, SLES 15, Ubuntu 20.04 refuse")
        );
        assert!(found[1].starts_with("`prod` exists since Python 3.8: servers on Red Hat 8, SLES 15 refuse"));
    }

    #[test]
    fn other_differences_are_grouped_by_the_answer() {
        let mut answers = since(8, 15123);
        answers[3].1 = None;
        assert_eq!(
            messages(&answers, &["ncpus"], |_| 6),
            [
                "the server's answer depends on its Python: those with Python 3.6 to 3.7 (Red Hat 8, SLES 15) refuse the formula \
              (15123); those with Python 3.8, 3.10 to 3.14 (Debian 12, Ubuntu 20.04, 22.04 and 24.04) accept the formula; those \
              with Python 3.9 (Red Hat 9, Debian 11) may accept or refuse the formula"
            ]
        );
    }

    #[test]
    fn a_formula_that_every_version_answers_alike_has_none() {
        for text in ["ncpus * 2", "nosuch", "ncpus +", ""] {
            assert_eq!(findings(text, None, &Schema::openpbs()), [], "{text}");
        }
    }
}
