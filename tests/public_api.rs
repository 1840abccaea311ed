//! What an embedding program relies on: the list of public items, types that are `Send` and `Sync`, and programs that
//! threads share.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use job_sort_formula::pbs::share_tree::PbsTree;
use job_sort_formula::{Formula, JobTable, Program, Ranking, Schema, Value};

fn assert_send_and_sync<T: Send + Sync>() {}

#[test]
fn the_main_types_are_send_and_sync() {
    assert_send_and_sync::<Formula>();
    assert_send_and_sync::<Schema>();
    assert_send_and_sync::<Program>();
    assert_send_and_sync::<JobTable>();
    assert_send_and_sync::<Ranking>();
    assert_send_and_sync::<PbsTree>();
}

#[test]
fn threads_can_share_a_program() {
    let formula: Formula = "sqrt(ncpus) + eligible_time // 3600".parse().expect("a formula");
    let program = formula.compile(&Schema::openpbs()).expect("a program");
    let one = |ncpus: i64| program.evaluate(&[Value::Int(ncpus), Value::Int(7200)]).expect("a value").repr();
    thread::scope(|scope| {
        let threads: Vec<_> = (1..5).map(|n| scope.spawn(move || one(n * n))).collect();
        let values: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        assert_eq!(values, ["3.0", "4.0", "5.0", "6.0"]);
    });
}

/// The most public items that the library may have, the command line's output formats not counted.
const MAX_PUBLIC_ITEMS: usize = 121;

/// The items that `module`'s file makes public, and those of its public child modules. Hidden modules and those of the
/// feature `cli` are left out.
fn public_items(file: &Path, children: &Path, module: &str, found: &mut BTreeSet<String>) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut is_hidden = false;
    for statement in statements(&text) {
        if statement.starts_with("#[") {
            is_hidden |= statement.starts_with("#[doc(hidden)]") || statement.starts_with("#[cfg(");
            continue;
        }
        let is_listed = !std::mem::take(&mut is_hidden);
        let Some(item) = statement.strip_prefix("pub ").filter(|_| is_listed) else { continue };
        let (keyword, rest) = item.split_once(' ').unwrap_or((item, ""));
        match keyword {
            "mod" => {
                let name = rest.trim_end_matches(';');
                let nested = children.join(name);
                let path = Some(nested.with_extension("rs")).filter(|path| path.is_file());
                let path = path.unwrap_or_else(|| nested.join("mod.rs"));
                public_items(&path, &nested, &format!("{module}{name}::"), found);
            }
            "use" => found.extend(reexported(rest).map(|name| format!("{module}{name}"))),
            _ => {
                let rest = rest.trim_start_matches("fn ");
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                found.insert(format!("{module}{}", &rest[..end]));
            }
        }
    }
}

/// The lines at the margin of a file, with a `pub use` of several lines joined.
fn statements(text: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if is_open {
            statements.last_mut().expect("an open statement").push_str(line.trim());
            is_open = !line.contains(';');
        } else if line.starts_with("pub ") || line.starts_with("#[") {
            is_open = line.starts_with("pub use ") && !line.contains(';');
            statements.push(line.to_owned());
        }
    }
    statements
}

fn reexported(path: &str) -> impl Iterator<Item = String> {
    let path = path.trim_end_matches(';');
    let names = path.split_once('{').map_or(path, |(_, names)| names.trim_end_matches('}'));
    let names: Vec<String> =
        names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    names.into_iter().map(|name| {
        let last = name.rsplit("::").next().unwrap_or_default();
        last.rsplit(" as ").next().unwrap_or_default().to_owned()
    })
}

#[test]
fn the_public_items_are_those_of_the_list() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    public_items(&root.join("src/lib.rs"), &root.join("src"), "", &mut found);
    let listed = fs::read_to_string(root.join("tests/public_api.txt")).expect("the list");
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let (added, removed): (Vec<_>, Vec<_>) = (found.difference(&listed).collect(), listed.difference(&found).collect());
    assert!(
        added.is_empty() && removed.is_empty(),
        "not in tests/public_api.txt: {added:#?}; only there: {removed:#?}"
    );
    assert!(found.len() <= MAX_PUBLIC_ITEMS, "{} public items, at most {MAX_PUBLIC_ITEMS}", found.len());
}
