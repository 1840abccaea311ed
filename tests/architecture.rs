//! What Cargo does not see: which folder of the engine imports which, and which crate writes what.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder, and the folders and single files that it may import. A folder may always import
/// itself. The most specific entry wins: `formula/syntax` before `formula`.
const FOLDERS: &[(&str, &[&str])] = &[
    ("parallel", &[]),
    ("simd", &[]),
    ("diagnostic", &[]),
    ("schema", &["diagnostic", "python"]),
    ("python", &["simd"]),
    // the operators of the tree are those of the arithmetic
    ("formula/syntax", &["diagnostic", "python"]),
    // `formula/syntax`: a resource can be declared if its name is read as a name
    (
        "formula/name_resolution",
        &["formula/syntax", "python", "schema"],
    ),
    (
        "formula/program",
        &[
            "diagnostic",
            "formula/name_resolution",
            "formula/syntax",
            "python",
            "schema",
            "simd",
        ],
    ),
    ("formula", &["formula/*", "diagnostic", "python", "schema"]),
    ("printing", &["python"]),
    ("fairshare", &["printing"]),
    ("jobs", &["parallel", "python", "schema", "simd"]),
    (
        "rank",
        &[
            "diagnostic",
            "fairshare",
            "formula",
            "formula/*",
            "jobs",
            "parallel",
            "printing",
            "python",
            "schema",
        ],
    ),
];

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The folder that a path such as `formula/number/value` lies in.
fn folder_of(path: &str) -> Option<&'static str> {
    let inside = |folder: &str| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    FOLDERS
        .iter()
        .map(|(folder, _)| *folder)
        .filter(|folder| inside(folder))
        .max_by_key(|folder| folder.len())
}

fn may_import(folder: &str, import: &str) -> bool {
    let Some(other) = folder_of(import) else {
        return true;
    };
    let allowed = FOLDERS
        .iter()
        .find(|(name, _)| *name == folder)
        .map_or(&[][..], |(_, allowed)| *allowed);
    folder == other
        || allowed.contains(&other)
        || allowed.iter().any(|pattern| {
            pattern
                .strip_suffix("/*")
                .is_some_and(|base| other.starts_with(&format!("{base}/")))
        })
        || allowed.iter().any(|file| {
            import
                .strip_prefix(file)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

/// The paths behind every `crate::` in a file, with `/` between their parts.
fn imports(text: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
            .unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches(':').replace("::", "/");
        match rest[end..].strip_prefix('{') {
            // one level of braces is enough to tell the folder
            Some(group) if path.is_empty() || folder_of(&path) == Some("formula") => {
                let names = group.split('}').next().unwrap_or("").split(',');
                found.extend(names.map(|name| {
                    let name = name.trim().replace("::", "/");
                    if path.is_empty() {
                        name
                    } else {
                        format!("{path}/{name}")
                    }
                }));
            }
            _ => found.push(path),
        }
    }
    found
}

#[test]
fn every_import_follows_the_diagram() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    assert!(
        files.len() > 20,
        "the sources are not where this test looks for them"
    );
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let path = file
            .strip_prefix(&root)
            .expect("a file below src")
            .with_extension("");
        let path = path.to_string_lossy().trim_end_matches("/mod").to_owned();
        if path == "lib" {
            continue;
        }
        let folder = folder_of(&path)
            .unwrap_or_else(|| panic!("src/{path} lies in no folder of the diagram"));
        for import in imports(&fs::read_to_string(&file).expect("a readable file")) {
            if !may_import(folder, &import) {
                wrong.entry(path.clone()).or_default().push(import);
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the diagram: {wrong:#?}");
}

/// The files and folders of some crates, but for `lib.rs`. Each may import those of the lines before
/// it and of its own line.
const ORDERS: [(&str, &[&[&str]]); 6] = [
    (
        "ingest",
        &[
            &["scanner"],
            &["attributes", "file_kind", "native_tree"],
            &["clock", "cycle_jobs"],
            &["table_builder"],
            &["json_reader"],
            &["damaged_json", "job_lines"],
            &["qstat_listing"],
        ],
    ),
    (
        "openpbs",
        &[
            &["times", "c_text", "submission"],
            &["amounts", "qmgr_command"],
            &["job_attributes", "server_validation"],
            &["files", "pbs_tree"],
            &["cycle"],
            &["order", "pbsfs", "log_comparison"],
            &["order_in_words"],
            &["check"],
        ],
    ),
    (
        "slurm",
        &[
            &["values"],
            &["tables"],
            &["records"],
            &["priority"],
            &["slurm_conf", "slurm_jobs", "associations"],
            &["sprio"],
            &["cluster"],
        ],
    ),
    (
        "simulate",
        &[
            &["faults"],
            &["workload"],
            &["logs"],
            &["schedule"],
            &["results"],
        ],
    ),
    (
        "site",
        &[
            &["files"],
            &["warnings"],
            &["site_jobs"],
            &["site_tree", "policy"],
            &["shares"],
            &["settings"],
            &["formulas"],
            &["slurm_queue"],
            &["described_job", "printed_numbers"],
            &["rank"],
            &["checks"],
            &["log_replay"],
            &["translation"],
            &["cycle"],
            &["simulation"],
        ],
    ),
    (
        "jsf",
        &[
            &["view"],
            &["csv"],
            &["answers", "asked_formula"],
            &["questions"],
            &["cli"],
            &["commands"],
            &["requests", "process"],
            &["main"],
        ],
    ),
];

/// The file of each item that the root of a crate exports from one.
fn exported_items(root: &str) -> BTreeMap<&str, &str> {
    let mut files = BTreeMap::new();
    for statement in root.split(';') {
        let Some((_, export)) = statement.split_once("pub use ") else {
            continue;
        };
        let (file, items) = export.split_once("::").expect("a path");
        let items = items.split(|c: char| !c.is_alphanumeric() && c != '_');
        let named = items.filter(|item| !item.is_empty());
        files.extend(named.map(|item| (item, file)));
    }
    files
}

#[test]
fn files_import_only_those_before_them() {
    for (name, order) in ORDERS {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/{name}/src"));
        let lib = fs::read_to_string(root.join("lib.rs")).expect("a readable file");
        let exported = exported_items(&lib);
        let mut files = Vec::new();
        source_files(&root, &mut files);
        files.retain(|file| !file.ends_with("tests.rs") && !file.ends_with("lib.rs"));
        for file in files {
            let inside = file.strip_prefix(&root).expect("a file below src");
            let inside = inside.with_extension("");
            let own = inside.iter().next().expect("a name").to_string_lossy();
            let place = order.iter().position(|names| names.contains(&&*own));
            let place = place.unwrap_or_else(|| panic!("{name}: {own} has no place"));
            let later = order[place + 1..].concat();
            for import in imports(&fs::read_to_string(&file).expect("a readable file")) {
                let other = import.split('/').next().unwrap_or_default();
                let imported = exported.get(other).unwrap_or(&other);
                assert!(!later.contains(imported), "{name}: {own} imports {import}");
            }
        }
    }
}

/// The folders with the sources of the crates from which programs are built, but for `left_out`.
fn library_sources(left_out: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("an entry").path());
    let is_left_out = |folder: &PathBuf| left_out.iter().any(|name| folder.ends_with(name));
    let mut files = Vec::new();
    source_files(&root.join("src"), &mut files);
    crates
        .filter(|folder| !is_left_out(folder))
        .for_each(|folder| source_files(&folder.join("src"), &mut files));
    files
}

#[test]
fn the_library_names_no_option_of_the_command() {
    // `jsf` writes for people at a terminal, and `pbsfs` is a command itself
    let files = library_sources(&["jsf", "testing"]);
    for file in files
        .iter()
        .filter(|file| !file.to_string_lossy().contains("openpbs/src/pbsfs"))
    {
        let text = fs::read_to_string(file).expect("a readable file");
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            let of_other_commands = [
                "squeue --json",
                "sshare --json",
                "sshare -a --json",
                "sacctmgr --json",
                "flux account export-db --fairshare-emulate",
            ];
            let line = of_other_commands
                .iter()
                .fold(line.to_owned(), |line, command| line.replace(command, ""));
            let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            let option = words.find(|word| {
                word.strip_prefix("--")
                    .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
            });
            assert_eq!(option, None, "{}: {line}", file.display());
        }
    }
}

#[test]
fn only_the_syntax_folder_says_pest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    for file in files {
        let inside = file.starts_with(root.join("formula/syntax"));
        let text = fs::read_to_string(&file).expect("a readable file");
        assert!(
            inside || !text.contains("pest::"),
            "{} says pest",
            file.display()
        );
    }
}
