//! `docs/language.md` has the table of the functions that differ between the versions of Python.
//! `JSF_WRITE_DOCS=1` rewrites it. Every Python of this machine is asked for its functions and
//! their arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use job_sort_formula::{Function, PythonVersion};

const DOCUMENT: &str = "docs/language.md";
const BEGIN: &str = "<!-- the table of functions -->\n";
const END: &str = "<!-- the end of the table -->\n";

/// The arguments that a version takes: their number, and the keywords.
fn arguments(function: Function, version: PythonVersion) -> String {
    if !function.exists_in(version) {
        return "–".to_owned();
    }
    let number = match function.arity(version) {
        (least, Some(most)) if least == most => least.to_string(),
        (least, Some(most)) => format!("{least} to {most}"),
        (0, None) => "any".to_owned(),
        (least, None) => format!("{least} or more"),
    };
    let keywords = function
        .keywords(version)
        .into_iter()
        .map(|keyword| format!(" `{keyword}=`"));
    number + &keywords.collect::<String>()
}

fn table() -> String {
    let versions: Vec<_> = PythonVersion::all().collect();
    let mut rows: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut same = Vec::new();
    for &function in Function::ALL {
        let row: Vec<_> = versions
            .iter()
            .map(|version| arguments(function, *version))
            .collect();
        let name = format!("`{}`", function.name());
        if row.iter().all(|cell| *cell == row[0]) {
            same.push(name)
        } else {
            rows.entry(row).or_default().push(name)
        }
    }
    let headings: String = versions
        .iter()
        .map(|version| format!(" {version} |"))
        .collect();
    let mut text = format!(
        "| arguments of |{headings}\n|---|{}\n",
        "---|".repeat(versions.len())
    );
    for (row, names) in rows {
        text += &format!("| {} | {} |\n", names.join(" "), row.join(" | "));
    }
    text + &format!("\nThe same in all versions: {}.\n", same.join(" "))
}

#[test]
fn the_document_has_the_functions_of_each_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    let found = fs::read_to_string(&path).expect("the document");
    let (before, rest) = found.split_once(BEGIN).expect("the beginning of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let expected = [before, BEGIN, &table(), END, after].concat();
    if std::env::var_os("JSF_WRITE_DOCS").is_some() {
        return fs::write(&path, &expected).expect("written");
    }
    assert!(
        found == expected,
        "{DOCUMENT} is not true any more; the table should be:\n{}",
        table()
    );
}

/// Writes a line for each name of `math` and each builtin of the arguments: the name, the numbers
/// of arguments from 0 to 4 that it takes, and which of the keywords behind `--` it has.
const PROBE: &str = r"
import builtins, math, re, sys
names, keywords = sys.argv[1:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
WRONG_COUNT = re.compile('expected|takes|requires|missing|given|not found')
WRONG_NAME = re.compile('invalid keyword|no keyword|unexpected keyword')
def message(function, count, **named):
    try:
        function(*[1] * count, **named)
    except TypeError as error:
        return str(error)
    except Exception:
        pass
    return ''
functions = {name: getattr(math, name) for name in dir(math) if callable(getattr(math, name)) and name[0] != '_'}
functions.update((name, getattr(builtins, name)) for name in names)
for name, function in sorted(functions.items()):
    counts = [str(count) for count in range(5) if not WRONG_COUNT.search(message(function, count))]
    known = [k for k in keywords if not any(WRONG_NAME.search(message(function, n, **{k: 1})) for n in range(4))]
    print(name, ','.join(counts), ','.join(known))
";

/// The most arguments that [`PROBE`] tries.
const MOST_ARGUMENTS: usize = 4;

/// What [`PROBE`] writes for the functions of a version by the table.
fn declared(version: PythonVersion, keywords: &[&str]) -> Vec<String> {
    let line = |function: &Function| {
        let (least, most) = function.arity(version);
        let named = function.keywords(version);
        // `arity` counts parameters that are given by name only too
        let most = match function {
            Function::Prod => 1,
            Function::Isclose | Function::Nextafter => 2,
            _ => most.unwrap_or(MOST_ARGUMENTS),
        };
        let counts: Vec<String> = (least..=most).map(|count| count.to_string()).collect();
        let known: Vec<&str> = keywords
            .iter()
            .copied()
            .filter(|keyword| named.contains(keyword))
            .collect();
        format!(
            "{} {} {}",
            function.name(),
            counts.join(","),
            known.join(",")
        )
    };
    let mut lines: Vec<String> = Function::ALL
        .iter()
        .filter(|function| function.exists_in(version))
        .map(line)
        .collect();
    lines.sort();
    lines
}

#[test]
fn every_interpreter_has_the_functions_of_the_table_with_their_arguments() {
    let all = Function::ALL
        .iter()
        .flat_map(|function| PythonVersion::all().map(|version| function.keywords(version)));
    let keywords: BTreeSet<&str> = all.flatten().chain(["nosuch", "n", "iterable"]).collect();
    let keywords: Vec<&str> = keywords.into_iter().collect();
    let builtins = Function::ALL
        .iter()
        .filter(|function| !function.is_math())
        .map(|function| function.name());
    let arguments: Vec<&str> = builtins
        .chain(["--"])
        .chain(keywords.iter().copied())
        .collect();
    for (version, python) in jsf_testing::python::referees() {
        let mut probe = Command::new(python);
        let output = probe
            .args(["-E", "-S", "-W", "ignore", "-c", PROBE])
            .args(&arguments)
            .output()
            .expect("python3 runs");
        assert!(
            output.status.success(),
            "{version}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let found: Vec<String> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect();
        assert_eq!(found, declared(*version, &keywords), "{version}");
    }
}
