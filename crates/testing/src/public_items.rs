//! The public items of a crate, and their methods, as its source declares them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Panics unless the public items of the crate in `folder`, and their methods, are those in its
/// `tests/public_api.txt`. The items are at most `most`; methods do not count. No two types of the
/// crate may have the same name. The types that the signatures of the methods name are public items
/// too.
pub fn assert_public_items(folder: &Path, most: usize) {
    let items = items_of(folder);
    assert!(
        items.len() <= most,
        "{} public items, at most {most}",
        items.len()
    );
    let types: BTreeSet<&str> = items
        .iter()
        .filter_map(|item| item.rsplit("::").next())
        .collect();
    let mut found = items.clone();
    let files = sources(&folder.join("src"));
    let declared: BTreeSet<String> = files.iter().flat_map(|file| declared_types(file)).collect();
    for file in files {
        for Method {
            method, signature, ..
        } in methods(&file).filter(|of| types.contains(&*of.type_name))
        {
            let mut words = signature.split(|c: char| !c.is_alphanumeric() && c != '_');
            let without_page = words.find(|word| declared.contains(*word) && !types.contains(word));
            assert_eq!(
                without_page, None,
                "the signature of `{method}` names a type that is not a public item"
            );
            found.insert(method);
        }
    }
    assert_listed(folder, &found);
}

/// The types and traits that a file declares `pub`.
fn declared_types(file: &Path) -> Vec<String> {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let keywords = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
    let name = |line: &str| {
        keywords
            .iter()
            .find_map(|keyword| line.strip_prefix(keyword))
            .map(implemented_type)
    };
    text.lines().filter_map(name).collect()
}

fn items_of(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    public_items(
        &folder.join("src/lib.rs"),
        &folder.join("src"),
        "",
        &mut found,
    );
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
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut is_hidden = false;
    for statement in statements(&text) {
        if statement.starts_with("#[") {
            is_hidden |= statement.starts_with("#[cfg(");
            continue;
        }
        let is_listed = !std::mem::take(&mut is_hidden);
        let Some(item) = statement.strip_prefix("pub ").filter(|_| is_listed) else {
            continue;
        };
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
                let end = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                found.insert(format!("{module}{}", &rest[..end]));
            }
        }
    }
}

/// The Rust files in a folder and below.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let files = paths.flat_map(|path| {
        if path.is_dir() {
            sources(&path)
        } else {
            vec![path]
        }
    });
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

struct Method {
    type_name: String,
    /// The name with that of the type.
    method: String,
    signature: String,
}

/// The public methods in the `impl` blocks at the margin of a file.
fn methods(file: &Path) -> impl Iterator<Item = Method> {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut found = Vec::new();
    let mut type_name = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(block) = line.strip_prefix("impl") {
            type_name = Some(block)
                .filter(|block| !block.contains(" for "))
                .map(implemented_type);
        } else if let (Some(type_name), Some(item)) = (&type_name, line.strip_prefix("    pub ")) {
            let item = item.trim_start_matches("const ");
            if let Some(rest) = item
                .strip_prefix("fn ")
                .or_else(|| item.contains(": ").then_some(item))
            {
                let end = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                let method = format!("{type_name}::{}", &rest[..end]);
                let mut signature = line.to_owned();
                while item.starts_with("fn ")
                    && !signature.ends_with('{')
                    && !signature.ends_with('}')
                {
                    signature += lines.next().unwrap_or("{");
                }
                found.push(Method {
                    type_name: type_name.clone(),
                    method,
                    signature,
                });
            }
        } else if line == "}" {
            type_name = None;
        }
    }
    found.into_iter()
}

/// The name of the type of `impl<…> TYPE<…> {`, from what follows `impl`.
fn implemented_type(block: &str) -> String {
    let rest = match block.strip_prefix('<') {
        Some(generics) => generics.split_once("> ").map_or("", |(_, rest)| rest),
        None => block.trim_start(),
    };
    rest.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// The lines at the margin of a file, with a `pub use` of several lines joined.
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
        } else if line.starts_with("pub ") || line.starts_with("#[") {
            is_open = line.starts_with("pub use ") && !line.contains(';');
            statements.push(line.to_owned());
        }
    }
    statements
}

fn reexported(path: &str) -> impl Iterator<Item = String> {
    let path = path.trim_end_matches(';');
    let names = path
        .split_once('{')
        .map_or(path, |(_, names)| names.trim_end_matches('}'));
    let names: Vec<String> = names
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    names.into_iter().map(|name| {
        let last = name.rsplit("::").next().unwrap_or_default();
        last.rsplit(" as ").next().unwrap_or_default().to_owned()
    })
}
