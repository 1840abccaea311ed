//! The links of the Markdown pages lead to files and headings that exist.

use std::fs;
use std::path::{Path, PathBuf};

fn pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            let has_pages = !["target", "golden", "node_modules"].iter().any(|other| name == *other);
            if has_pages && !name.to_string_lossy().starts_with('.') {
                self::pages(&path, pages);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// The anchor of a heading, as Git services make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of the links outside blocks of code.
fn links(text: &str) -> Vec<&str> {
    let parts = text.split("```").step_by(2);
    let targets = parts.flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut all, mut checked) = (Vec::new(), 0);
    pages(root, &mut all);
    for page in &all {
        let text = fs::read_to_string(page).expect("a page");
        for link in links(&text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().expect("a folder").join(file) };
            // the published package has no bindings
            let is_left_out = !root.join("bindings").exists() && link.contains("bindings/");
            assert!(target.exists() || is_left_out, "{}: {link}", page.display());
            let is_heading = |line: &str| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading;
            let has_heading = || fs::read_to_string(&target).is_ok_and(|text| text.lines().any(is_heading));
            assert!(heading.is_empty() || is_left_out || has_heading(), "{}: {link}", page.display());
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} links");
}
