//! `docs/language.md` has the table of the functions that differ between the versions of Python. `JSF_WRITE_DOCS=1` rewrites
//! it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use job_sort_formula::python::{Function, PythonVersion};

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
    let keywords = function.keywords(version).into_iter().map(|keyword| format!(" `{keyword}=`"));
    number + &keywords.collect::<String>()
}

fn table() -> String {
    let versions: Vec<_> = PythonVersion::all().collect();
    let mut rows: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut same = Vec::new();
    for &function in Function::ALL {
        let row: Vec<_> = versions.iter().map(|version| arguments(function, *version)).collect();
        let name = format!("`{}`", function.name());
        match row.iter().all(|cell| *cell == row[0]) {
            true => same.push(name),
            false => rows.entry(row).or_default().push(name),
        }
    }
    let headings: String = versions.iter().map(|version| format!(" {version} |")).collect();
    let mut text = format!("| arguments of |{headings}\n|---|{}\n", "---|".repeat(versions.len()));
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
    assert!(found == expected, "{DOCUMENT} is not true any more; the table should be:\n{}", table());
}
