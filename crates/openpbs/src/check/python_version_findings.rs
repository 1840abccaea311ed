//! Findings on a formula that the server accepts or refuses, or that has other values, depending on
//! the version of its Python.

use job_sort_formula::diagnostic::{
    Applicability, Code, Diagnostic, Fix, Message, Need, Severity, Span,
};
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind};
use job_sort_formula::python::BinaryOperator;
use job_sort_formula::rank::{ScoreError, Scores, score};
use job_sort_formula::{Formula, Function, PythonVersion, Schema, Value};
use jsf_lint::Facts;

use crate::check::ScoredQueue;
use crate::files::versions::systems_with;
use crate::server_validation::validate;

/// The server's answer under one version: the error code, 0 if it accepts the formula, `None` if
/// that cannot be told.
type Answer = (PythonVersion, Option<u32>);

/// The findings on a text that is no formula: whether the server's answer is the same under each
/// version.
pub fn findings_on_text(text: &str, schema: &Schema) -> Vec<Diagnostic> {
    differences(&answers_by_version(text, schema), &[], schema, text.len())
}

/// The findings on a formula: the names that only some versions have, else an answer of the server
/// that is not always the same, and what the versions compute differently, for the jobs of the
/// queue if there is one. `text` is what the server gets.
pub fn findings_on_formula(
    text: &str,
    formula: &Formula,
    schema: &Schema,
    facts: &Facts,
    queue: Option<ScoredQueue<'_>>,
) -> Vec<Diagnostic> {
    let expr = formula.expr();
    let answers = answers_by_version(text, schema);
    let mut findings = differences(&answers, &names_in(expr), schema, formula.text().len());
    for found in &mut findings {
        add_fix(found, expr, facts);
    }
    findings.extend(differing_values(formula, schema, facts, queue, &answers));
    findings
}

fn answers_by_version(text: &str, schema: &Schema) -> Vec<Answer> {
    let mut answers = Vec::new();
    for version in PythonVersion::all() {
        let validation = validate(text, &schema.clone().with_python(version));
        answers.push((version, validation.code));
    }
    answers
}

/// The names of a formula, each with its first place.
fn names_in(expr: &Expr) -> Vec<(&str, Span)> {
    let mut names = Vec::new();
    for node in expr.nodes() {
        names.extend(node.name().map(|name| (name, node.span)));
    }
    // equal names are then in the order of their places, of which the first one is kept
    names.sort_unstable();
    names.dedup_by_key(|(name, _)| *name);
    names
}

/// The findings on the answers about a text of this length, which has the names.
fn differences(
    answers: &[Answer],
    names: &[(&str, Span)],
    schema: &Schema,
    length: usize,
) -> Vec<Diagnostic> {
    // a version whose answer cannot be told may well give that of the others
    let mut told: Vec<_> = answers.iter().filter_map(|(_, answer)| *answer).collect();
    told.dedup();
    if told.len() <= 1 {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for &(name, span) in names {
        let mut since = None;
        let mut is_accepted = false;
        let mut refusals = Vec::new();
        for &(version, answer) in answers {
            let schema = schema.clone().with_python(version);
            let resolution = Resolution::from_schema(name, &schema);
            if !matches!(resolution, Resolution::Undefined) {
                since = since.or(Some(version));
                is_accepted |= !is_refusal(answer);
            } else if is_refusal(answer) {
                refusals.push((version, answer));
            }
        }
        if let Some(since) = since
            && is_accepted
            && !refusals.is_empty()
        {
            let refused = in_words(&refusals);
            let message = format!("`{name}` exists since Python {since}: {refused}");
            let function = Function::from_name(name);
            let alternative = match function.and_then(Function::alternative_in_every_version) {
                Some(text) => format!("{text}; "),
                None => String::new(),
            };
            findings.push(finding_on_versions(message, span, &alternative, schema));
        }
    }
    if findings.is_empty() {
        let answers = in_words(answers);
        let message = format!("the server's answer depends on its Python: {answers}");
        findings.push(finding_on_versions(
            message,
            Span::new(0, length),
            "",
            schema,
        ));
    }
    findings
}

fn finding_on_versions(
    message: String,
    span: Span,
    alternative: &str,
    schema: &Schema,
) -> Diagnostic {
    let help = unknown_version(alternative, schema.python());
    Diagnostic::new(Code::NewerPython, message, span).with_help(help)
}

fn unknown_version(before: &str, assumed: PythonVersion) -> Message {
    let unknown =
        format!("{before}nothing says which Python this server has, and {assumed} is assumed: ");
    Message::asking(unknown, [Need::Python])
}

/// Adds to the findings on functions that this server's Python does not have yet which version it
/// has, what says so, and what gives the same value there.
pub fn explain_newer_functions(
    findings: &mut [Diagnostic],
    expr: &Expr,
    facts: &Facts,
    python: PythonVersion,
    source: &str,
) {
    for found in findings {
        let Some(function) = Function::from_name(found.span.slice(expr.text())) else {
            continue;
        };
        if found.code != Code::UnknownName {
            continue;
        }
        let mut help = format!("this server has Python {python} ({source})");
        if let Some(alternative) = function.alternative_in_every_version() {
            help += &format!("; {alternative}");
        }
        found.help = Some(help.into());
        add_fix(found, expr, facts);
    }
}

fn is_refusal(answer: Option<u32>) -> bool {
    !matches!(answer, None | Some(0))
}

/// Each answer with the versions that give it, and their systems, in the order of the oldest version
/// of each.
fn in_words(answers: &[Answer]) -> String {
    let mut groups: Vec<(Option<u32>, Vec<PythonVersion>)> = Vec::new();
    for (version, answer) in answers {
        match groups.iter_mut().find(|(known, _)| known == answer) {
            Some((_, versions)) => versions.push(*version),
            None => groups.push((*answer, vec![*version])),
        }
    }
    let mut words = Vec::new();
    for (answer, versions) in groups {
        let answer = match answer {
            Some(0) => "accept the formula".to_owned(),
            Some(code) => format!("refuse the formula ({code})"),
            None => "may accept or refuse the formula".to_owned(),
        };
        let mut servers = in_ranges(&versions);
        let systems = systems_with(&versions);
        if !systems.is_empty() {
            servers += &format!(" ({systems})");
        }
        words.push(format!("servers with {servers} {answer}"));
    }
    words.join("; ")
}

/// `Python 3.6 to 3.8, 3.11`.
fn in_ranges(versions: &[PythonVersion]) -> String {
    let mut ranges = Vec::new();
    for range in versions.chunk_by(|one, next| one.minor() + 1 == next.minor()) {
        ranges.push(match range {
            [first, .., last] => format!("{first} to {last}"),
            _ => range[0].to_string(),
        });
    }
    format!("Python {}", ranges.join(", "))
}

/// Adds to a finding on a name the fix that gives the value in every version, if the name has one
/// place, where it is right.
fn add_fix(found: &mut Diagnostic, expr: &Expr, facts: &Facts) {
    let name = found.span.slice(expr.text());
    let ids = expr.iter().map(|(id, _)| id);
    let mut fixes = ids.filter_map(|id| alternative(expr, facts, id, name));
    // a finding has one fix: of two calls it would mend one, and the server would still refuse the
    // other
    if let (Some(fix), None) = (fixes.next(), fixes.next()) {
        found.fix = Some(fix);
    }
}

/// What a call of `name` can be replaced by: the same value up to the last digit.
fn alternative(expr: &Expr, facts: &Facts, call: ExprId, name: &str) -> Option<Fix> {
    let node = expr.node(call);
    let ExprKind::Call {
        callee,
        positional,
        keywords,
    } = &node.kind
    else {
        return None;
    };
    let is_called = expr.node(*callee).name() == Some(name);
    let [argument] = **positional else {
        return None;
    };
    let values = facts.number(argument)?;
    if !is_called || !keywords.is_empty() {
        return None;
    }
    let operand = as_operand(expr, argument);
    let mut replacement = match name {
        // Python's power of a negative number to a fraction is complex
        "cbrt" if values.low >= 0.0 => format!("{operand} ** (1/3)"),
        // `exp2` gives a float, where `2 ** 3` would be an integer
        "exp2" => format!("2.0 ** {operand}"),
        _ => return None,
    };
    if binds_tightly(expr, call) {
        replacement = format!("({replacement})");
    }
    Some(Fix {
        span: node.span,
        replacement,
        applicability: Applicability::Unsafe,
    })
}

/// The text of an argument as an operand of `**`.
fn as_operand(expr: &Expr, argument: ExprId) -> String {
    let node = expr.node(argument);
    let text = node.span.slice(expr.text());
    match node.kind {
        ExprKind::Name(_)
        | ExprKind::Literal { .. }
        | ExprKind::Call { .. }
        | ExprKind::Parenthesized(_) => text.to_owned(),
        _ => format!("({text})"),
    }
}

/// Whether a power in this place needs parentheses: an operand of another power.
fn binds_tightly(expr: &Expr, id: ExprId) -> bool {
    expr.nodes().iter().any(|node| match node.kind {
        ExprKind::Binary {
            op: BinaryOperator::Power,
            left,
            right,
        } => left == id || right == id,
        _ => false,
    })
}

/// A finding for each difference of the values between versions that accept the formula: on the
/// queue's jobs, or, without them, by what the formula calls.
fn differing_values(
    formula: &Formula,
    schema: &Schema,
    facts: &Facts,
    queue: Option<ScoredQueue<'_>>,
    answers: &[Answer],
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for difference in jsf_lint::version_differences(formula.expr(), facts) {
        let Some(before) = PythonVersion::new(difference.since.minor() - 1) else {
            continue;
        };
        let versions = [before, difference.since];
        // what one of the two refuses is a finding already, and it computes no value
        let mut refusals = answers.iter().filter(|(_, answer)| is_refusal(*answer));
        if refusals.any(|(version, _)| versions.contains(version)) {
            continue;
        }
        let mut is_warning = difference.is_error;
        let mut message = difference.text.to_string();
        if let Some(queue) = queue {
            let Some([differing, ordered]) = differing_jobs(formula, schema, &queue, versions)
            else {
                continue;
            };
            is_warning |= ordered > 0;
            message += &format!(
                ": the value differs for {differing} of {} jobs, the one by which jobs are ordered for {ordered}",
                queue.table.len()
            );
        }
        let severity = if is_warning {
            Severity::Warning
        } else {
            Severity::Note
        };
        let found = Diagnostic::new(Code::VersionDependentValue, message, difference.span);
        let help = unknown_version("", schema.python());
        findings.push(found.with_severity(severity).with_help(help));
    }
    findings
}

/// How many jobs two versions give different values, and how many of them differ in the value that
/// jobs are ordered by; `None` if there is no such job.
fn differing_jobs(
    formula: &Formula,
    schema: &Schema,
    queue: &ScoredQueue<'_>,
    versions: [PythonVersion; 2],
) -> Option<[usize; 2]> {
    let before = scores(formula, schema, queue, versions[0])?;
    let since = scores(formula, schema, queue, versions[1])?;
    let (mut differing, mut ordered) = (0, 0);
    for (row, old) in before.iter() {
        let Some(new) = since.get(row) else { continue };
        differing += usize::from(!is_same(&old.unrounded, &new.unrounded));
        ordered += usize::from(old.value.to_bits() != new.value.to_bits());
    }
    if differing == 0 {
        return None;
    }
    Some([differing, ordered])
}

/// The values of the jobs under a version.
fn scores(
    formula: &Formula,
    schema: &Schema,
    queue: &ScoredQueue<'_>,
    version: PythonVersion,
) -> Option<Scores> {
    let program = formula.compile(&schema.clone().with_python(version)).ok()?;
    let on_error = queue.ranking.scores().on_error();
    Some(score(&program, queue.table, queue.precision, on_error))
}

fn is_same(old: &Result<Value, &ScoreError>, new: &Result<Value, &ScoreError>) -> bool {
    match (old, new) {
        (Ok(old), Ok(new)) => old.is_identical(new),
        // every exception counts as 0, and its words differ between the versions
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use jsf_lint::{NumberType, Ranges, analyze_ranges};
    use jsf_testing::random::Generator;
    use jsf_testing::random::formulas::{Writer, schema};
    use jsf_testing::setting;

    use super::*;

    fn since(minor: u8, before: u32) -> Vec<Answer> {
        PythonVersion::all()
            .map(|version| {
                (
                    version,
                    Some(if version.minor() < minor { before } else { 0 }),
                )
            })
            .collect()
    }

    fn messages(answers: &[Answer], names: &[&str]) -> Vec<String> {
        let names: Vec<(&str, Span)> = names
            .iter()
            .map(|name| (*name, Span::new(0, name.len())))
            .collect();
        let found = differences(answers, &names, &Schema::openpbs(), 9);
        found.into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn a_name_that_older_versions_lack_is_named_with_their_systems() {
        assert_eq!(
            messages(&since(11, 15124), &["ncpus", "cbrt"]),
            [
                "`cbrt` exists since Python 3.11: servers with Python 3.6 to 3.10 (Red Hat 8 and 9, SLES 15, Debian 11, \
              Ubuntu 20.04 and 22.04) refuse the formula (15124)"
            ]
        );
        // whose absence is never reached
        assert!(messages(&since(0, 15124), &["cbrt"]).is_empty());
        let found = messages(&since(9, 15124), &["lcm", "prod"]);
        assert!(found[0].starts_with(
            "`lcm` exists since Python 3.9: servers with Python 3.6 to 3.8 (Red Hat 8, SLES 15, Ubuntu 20.04) refuse"
        ));
        assert!(
            found[1].starts_with(
                "`prod` exists since Python 3.8: servers with Python 3.6 to 3.7 (Red Hat 8, SLES 15) refuse"
            )
        );
    }

    #[test]
    fn other_differences_are_grouped_by_the_answer() {
        let mut answers = since(8, 15123);
        answers[3].1 = None;
        assert_eq!(
            messages(&answers, &["ncpus"]),
            [
                "the server's answer depends on its Python: servers with Python 3.6 to 3.7 (Red Hat 8, SLES 15) refuse the formula \
              (15123); servers with Python 3.8, 3.10 to 3.14 (Debian 12, Ubuntu 20.04, 22.04 and 24.04) accept the formula; servers \
              with Python 3.9 (Red Hat 9, Debian 11) may accept or refuse the formula"
            ]
        );
    }

    /// A value that the input can have.
    fn draw(name: &str, schema: &Schema, random: &mut Generator) -> Value {
        let interval = Ranges::default().interval(name, schema);
        match interval.kind() {
            NumberType::Int => Value::Int(
                (random.below(100) as i64).clamp(interval.low as i64, interval.high as i64),
            ),
            _ => Value::Float(
                (random.below(1000) as f64 / 1000.0).clamp(interval.low, interval.high),
            ),
        }
    }

    #[test]
    fn e_is_missing_after_an_exception_of_some_versions() {
        let codes = |text: &str| {
            answers_by_version(text, &schema())
                .into_iter()
                .map(|(_, code)| code)
                .collect::<Vec<_>>()
        };
        let until_3_7 = [vec![Some(15125); 2], vec![Some(0); 7]].concat();
        assert_eq!(codes("hypot(ncpus, walltime, e)"), until_3_7);
        let until_3_8 = [vec![Some(15125); 3], vec![Some(0); 6]].concat();
        assert_eq!(codes("e + gcd()"), until_3_8);
    }

    #[test]
    fn values_that_differ_have_a_difference() {
        let cases = setting("JSF_REFEREE_CASES", 3000);
        let mut random = Generator(setting("JSF_REFEREE_SEED", 20_261_121));
        let schema = schema();
        let (mut computed, mut different) = (0, 0);
        for _ in 0..cases {
            let text = Writer::formula(&mut random).tokens.join(" ");
            let Ok(formula) = Formula::parse(&text) else {
                continue;
            };
            let programs = PythonVersion::all()
                .filter_map(|version| formula.compile(&schema.clone().with_python(version)).ok());
            let programs: Vec<_> = programs.collect();
            let has_every_name = programs
                .iter()
                .all(|program| program.undefined().is_empty());
            let Some(first) = programs.first().filter(|_| has_every_name) else {
                continue;
            };
            let facts = analyze_ranges(formula.expr(), &schema, &Ranges::default());
            let differences = jsf_lint::version_differences(formula.expr(), &facts);
            for _ in 0..4 {
                let row: Vec<Value> = first
                    .inputs()
                    .iter()
                    .map(|name| draw(name, &schema, &mut random))
                    .collect();
                let values: Vec<_> = programs
                    .iter()
                    .map(|program| program.evaluate(&row).ok())
                    .collect();
                let is_same = |value: &Option<Value>| match (value, &values[0]) {
                    (Some(value), Some(first)) => value.is_identical(first),
                    (value, first) => value.is_none() && first.is_none(),
                };
                let are_same = values.iter().all(is_same);
                assert!(
                    are_same || !differences.is_empty(),
                    "{text} for {row:?}: {values:?}"
                );
                computed += 1;
                different += usize::from(!are_same);
            }
        }
        eprintln!("of {computed} values {different} differ");
        assert!(
            computed as u64 > cases && different > 0,
            "{computed} {different}"
        );
    }

    #[test]
    fn a_text_that_every_version_answers_alike_has_no_finding() {
        for text in [
            "ncpus +",
            "",
            "ncpus = 2",
            "ncpus 4 +",
            "*ncpus, 1",
            "4gb",
            "1 +\\\n",
            "[x for x in",
            "lambda",
        ] {
            assert_eq!(findings_on_text(text, &Schema::openpbs()), [], "{text}");
        }
        // whether the parser up to 3.8 accepts such a depth is not known
        let deep = format!("{}1 +{}", "(".repeat(90), ")".repeat(90));
        assert_eq!(findings_on_text(&deep, &Schema::openpbs()), []);
        assert_eq!(findings_on_text("async +", &Schema::openpbs()), []);
    }
}
