//! The links of the Markdown pages lead to files and headings that exist, and no page or comment
//! has a placeholder where a measured number belongs.

use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder with one of these extensions, without what is built, recorded or
/// downloaded.
fn add_files(folder: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            let is_written = !["target", "golden", "node_modules"]
                .iter()
                .any(|other| name == *other);
            if is_written && !name.to_string_lossy().starts_with('.') {
                add_files(&path, extensions, files);
            }
        } else if path
            .extension()
            .is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
        {
            files.push(path);
        }
    }
}

/// The anchor of a heading, as Git services make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The targets of the links outside blocks of code.
fn links(text: &str) -> Vec<&str> {
    let parts = text.split("```").step_by(2);
    let targets = parts.flat_map(|part| {
        part.split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
    });
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut all, mut checked) = (Vec::new(), 0);
    add_files(root, &["md"], &mut all);
    for page in &all {
        let text = fs::read_to_string(page).expect("a page");
        for link in links(&text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().expect("a folder").join(file)
            };
            // the published package has no bindings
            let is_left_out = !root.join("bindings").exists() && link.contains("bindings/");
            assert!(target.exists() || is_left_out, "{}: {link}", page.display());
            let is_heading = |line: &str| {
                line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading
            };
            let has_heading =
                || fs::read_to_string(&target).is_ok_and(|text| text.lines().any(is_heading));
            assert!(
                heading.is_empty() || is_left_out || has_heading(),
                "{}: {link}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} links");
}

/// Whether a line has a word of capitals where the number of a ratio belongs, such as `GAIN %` or
/// `FACTOR times`.
fn has_placeholder(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_capitals =
        |word: &str| word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let is_unit = |word: &str| {
        matches!(
            word.trim_end_matches(['.', ',', ';', ':', ')']),
            "%" | "times"
        )
    };
    let is_ratio = |word: &&str| word.strip_suffix('%').is_some_and(is_capitals);
    words
        .windows(2)
        .any(|pair| is_capitals(pair[0]) && is_unit(pair[1]))
        || words.iter().any(is_ratio)
}

#[test]
fn every_ratio_is_a_number() {
    assert!(has_placeholder("takes GAIN_CSV % more time") && has_placeholder("FACTOR times,"));
    assert!(!has_placeholder(
        "takes 8 % more time of the CPU, at all times"
    ));
    let mut files = Vec::new();
    add_files(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        &["md", "rs"],
        &mut files,
    );
    for file in &files {
        let text = fs::read_to_string(file).expect("a text");
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        for (line, number) in text.lines().zip(1..) {
            let is_prose = is_page || line.trim_start().starts_with("//");
            assert!(
                !is_prose || !has_placeholder(line),
                "{}:{number}: {line}",
                file.display()
            );
        }
    }
    assert!(files.len() > 20, "only {} files", files.len());
}
