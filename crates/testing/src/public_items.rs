//! The public items of a crate, and their methods, as its source declares them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Panics unless the public items of the crate in `folder`, and their methods, are those in its
/// `tests/public_api.txt`. The items are at most `most`; methods do not count. No two types of the
/// crate may have the same name. That the types in the signatures are public items too is a lint of
/// the compiler, `unnameable_types`.
pub fn assert_public_items(folder: &Path, most: usize) {
    let items = items_of(folder);
    assert!(
        items.len() <= most,
        "{} public items, at most {most}",
        items.len()
    );
    let mut types = BTreeSet::new();
    for item in &items {
        types.extend(item.rsplit("::").next());
    }
    let mut found = items.clone();
    for file in sources(&folder.join("src")) {
        for (type_name, method) in methods(&file) {
            if types.contains(&*type_name) {
                found.insert(format!("{type_name}::{method}"));
            }
        }
    }
    assert_listed(folder, &found);
}

fn items_of(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let sources = folder.join("src");
    public_items(&sources.join("lib.rs"), &sources, "", &mut found);
    found
}

fn assert_listed(folder: &Path, found: &BTreeSet<String>) {
    let listed = fs::read_to_string(folder.join("tests/public_api.txt")).expect("the list");
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let added: Vec<_> = found.difference(&listed).collect();
    let removed: Vec<_> = listed.difference(found).collect();
    assert!(
        added.is_empty() && removed.is_empty(),
        "not in tests/public_api.txt: {added:#?}; only there: {removed:#?}"
    );
}

/// The items that `module`'s file makes public, and those of its public child modules.
fn public_items(file: &Path, children: &Path, module: &str, found: &mut BTreeSet<String>) {
    let mut is_hidden = false;
    for statement in statements(&read(file)) {
        // a feature is no part of what every user sees
        if statement.starts_with("#[") {
            is_hidden |= statement.starts_with("#[cfg(");
            continue;
        }
        if std::mem::take(&mut is_hidden) {
            continue;
        }
        let Some(item) = statement.strip_prefix("pub ") else {
            continue;
        };
        let (keyword, rest) = item.split_once(' ').unwrap_or((item, ""));
        match keyword {
            "mod" => {
                let name = rest.trim_end_matches(';');
                let nested = children.join(name);
                let mut path = nested.with_extension("rs");
                if !path.is_file() {
                    path = nested.join("mod.rs");
                }
                public_items(&path, &nested, &format!("{module}{name}::"), found);
            }
            "use" => {
                for name in reexported(rest) {
                    found.insert(format!("{module}{name}"));
                }
            }
            _ => {
                let name = first_name(rest.trim_start_matches("fn "));
                found.insert(format!("{module}{name}"));
            }
        }
    }
}

/// The Rust files in a folder and below.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The names of the public methods and fields in the `impl` blocks at the margin of a file, each
/// with that of its type.
fn methods(file: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut type_name = None;
    for line in read(file).lines() {
        if let Some(block) = line.strip_prefix("impl") {
            type_name = None;
            if !block.contains(" for ") {
                type_name = Some(implemented_type(block));
            }
        } else if let (Some(type_name), Some(item)) = (&type_name, line.strip_prefix("    pub ")) {
            let item = item.trim_start_matches("const ");
            if item.starts_with("fn ") || item.contains(": ") {
                found.push((
                    type_name.clone(),
                    first_name(item.trim_start_matches("fn ")),
                ));
            }
        } else if line == "}" {
            type_name = None;
        }
    }
    found
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The name at the start of a text.
fn first_name(text: &str) -> String {
    let letters = text.chars();
    letters
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// The name of the type of `impl<…> TYPE<…> {`, from what follows `impl`.
fn implemented_type(block: &str) -> String {
    let rest = match block.strip_prefix('<') {
        Some(generics) => generics.split_once("> ").map_or("", |(_, rest)| rest),
        None => block.trim_start(),
    };
    first_name(rest)
}

/// The lines at the margin of a file that begin an item or are its attributes, with a `pub use` of
/// several lines joined.
fn statements(text: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if is_open {
            statements
                .last_mut()
                .expect("an open statement")
                .push_str(line.trim());
            is_open = !line.contains(';');
        // also items that are not public: an attribute before them is theirs
        } else if !line.is_empty() && !line.starts_with([' ', '}', '/']) {
            is_open = line.starts_with("pub use ") && !line.contains(';');
            statements.push(line.to_owned());
        }
    }
    statements
}

/// The names that a `pub use` makes public.
fn reexported(path: &str) -> Vec<&str> {
    let path = path.trim_end_matches([';', '}']);
    let (_, names) = path.split_once('{').unwrap_or(("", path));
    let mut found = Vec::new();
    for name in names.split(',') {
        found.extend(name.trim().rsplit([':', ' ']).next());
    }
    found.retain(|name| !name.is_empty());
    found
}
