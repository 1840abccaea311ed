//! The schedulers that a listing of `qmgr` describes: a server may have others beside the default one.
//!
//! The jobs of a queue with a `partition` belong to the scheduler with that partition, all others to the default one. The
//! formula of the default scheduler is an attribute of the server or of `sched default`; both write the same file, and the
//! server refuses to have two that differ. Any other scheduler has its formula, or that of the server, in its own folder.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The name of the default scheduler.
pub const DEFAULT: &str = "default";
/// The partition of the default scheduler.
pub const DEFAULT_PARTITION: &str = "pbs-default";

/// A scheduler that a document describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedScheduler {
    /// Its name.
    pub name: String,
    /// Its partition.
    pub partition: Option<String>,
    /// The lines about it.
    pub text: String,
}

impl ListedScheduler {
    /// The lines about it as they would be if it were the default scheduler.
    pub fn as_default(&self) -> String {
        let named = format!(" {} ", self.name);
        let renamed = format!(" {DEFAULT} ");
        let mut text = String::new();
        for line in self.text.lines() {
            if line.starts_with("Sched ") {
                text += &format!("Sched {DEFAULT}");
            } else {
                text += &line.replacen(&named, &renamed, 1);
            }
            text.push('\n');
        }
        text
    }

    fn has_partition(&self, partition: &str) -> bool {
        self.partition.as_ref().is_some_and(|names| names.split(',').any(|name| name.trim() == partition))
    }

    /// The name of the folder with its files (`sched_priv`), which by default is named after it.
    pub fn folder(&self) -> String {
        let given = self.text.lines().find_map(|line| value_of(line, "sched_priv"));
        let last = given.and_then(|path| path.trim_end_matches('/').rsplit('/').next());
        last.map_or_else(|| format!("sched_priv_{}", self.name), str::to_owned)
    }
}

/// The scheduler that a document describes and that has a partition.
pub fn scheduler_of_partition(document: &str, partition: &str) -> Option<ListedScheduler> {
    listed_schedulers(document).into_iter().find(|scheduler| scheduler.has_partition(partition))
}

/// The schedulers that a document describes, in alphabetical order.
pub fn listed_schedulers(document: &str) -> Vec<ListedScheduler> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for OwnedLine { owner, full, .. } in owned_lines(document) {
        if let Some(owner) = owner {
            texts.entry(owner).or_default().push_str(full);
        }
    }
    texts
        .into_iter()
        .map(|(name, text)| {
            let partition = text.lines().find_map(|line| value_of(line, "partition")).map(str::to_owned);
            ListedScheduler { name: name.to_owned(), partition, text }
        })
        .collect()
}

/// The value of an attribute that a line sets.
fn value_of<'l>(line: &'l str, attribute: &str) -> Option<&'l str> {
    let (left, value) = line.split_once('=')?;
    (left.split_whitespace().next_back() == Some(attribute)).then(|| value.trim().trim_matches('"'))
}

/// The document with spaces in place of the lines about other schedulers, so that the offsets of the other lines stay the
/// same. No scheduler has an empty name.
pub fn of_scheduler<'d>(document: &'d str, scheduler: &str) -> Cow<'d, str> {
    if owned_lines(document).all(|line| line.owner.is_none_or(|owner| owner == scheduler)) {
        return Cow::Borrowed(document);
    }
    let mut masked = String::with_capacity(document.len());
    for OwnedLine { owner, line, full } in owned_lines(document) {
        let is_other = owner.is_some_and(|owner| owner != scheduler);
        let blanks = if is_other { line.len() } else { 0 };
        masked.extend(std::iter::repeat_n(' ', blanks));
        masked.push_str(&full[blanks..]);
    }
    Cow::Owned(masked)
}

/// A line, and the scheduler that it describes.
struct OwnedLine<'d> {
    owner: Option<&'d str>,
    /// The line without its end.
    line: &'d str,
    full: &'d str,
}

/// The lines of a document, each with the scheduler that it describes, if it describes one.
fn owned_lines(document: &str) -> impl Iterator<Item = OwnedLine<'_>> {
    let mut block = None;
    document.split_inclusive('\n').map(move |full| {
        let line = full.trim_end_matches(['\n', '\r']);
        if !line.starts_with(char::is_whitespace) {
            block = line.strip_prefix("Sched ").map(str::trim);
        }
        OwnedLine { owner: block.or_else(|| owner_of_directive(line)), line, full }
    })
}

/// The scheduler that `create sched NAME`, `set sched NAME attribute = …` or, for the default one, `set sched attribute = …`
/// names.
fn owner_of_directive(line: &str) -> Option<&str> {
    let left = line.split_once('=').map_or(line, |(left, _)| left.trim_end_matches('+'));
    let mut words = left.split_whitespace();
    match (words.next()?, words.next()?, words.next()?, words.next()) {
        ("create" | "c", "sched", name, _) | ("set" | "s", "sched", name, Some(_)) => Some(name),
        ("set" | "s", "sched", _, None) => Some(DEFAULT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "create sched default\nset sched partition = pbs-default\nset sched job_sort_formula = a\n\
        create sched gpu\nset sched gpu partition = p1\nset sched gpu job_sort_formula = \"b + 1\"\nset server x = 1\n";
    const LISTED: &str = "Sched gpu\n    partition = p1\n    job_sort_formula = b +\n\t1\n\nSched default\n    \
        job_sort_formula = a\n\nServer vm\n    x = 1\n";

    #[test]
    fn each_scheduler_has_its_own_lines() {
        for document in [PRINTED, LISTED] {
            let listed = listed_schedulers(document);
            let [default, gpu] = &listed[..] else { panic!("{listed:?}") };
            assert_eq!(default.name, DEFAULT);
            assert_eq!((&*gpu.name, gpu.partition.as_deref()), ("gpu", Some("p1")), "{document}");
            assert!(gpu.text.contains("job_sort_formula") && !gpu.text.contains("= a"), "{}", gpu.text);
            let of_default = formula_lines(document, DEFAULT);
            assert!(matches!(&of_default[..], [only] if only.ends_with("= a")), "{document}");
            let of_gpu = formula_lines(document, "gpu");
            assert!(matches!(&of_gpu[..], [only] if only.contains("= \"b + 1") || only.ends_with("= b +")));
            assert_eq!(formula_lines(document, ""), [""; 0]);
            assert!(of_scheduler(document, "").contains("x = 1"));
        }
        assert_eq!(of_scheduler(LISTED, DEFAULT).matches('\t').count(), 0);
        assert_eq!(listed_schedulers("set server c = d\nServer vm\n    x = 1\n"), []);
    }

    fn formula_lines(document: &str, scheduler: &str) -> Vec<String> {
        let masked = of_scheduler(document, scheduler);
        assert_eq!(masked.len(), document.len());
        masked.lines().filter(|line| line.contains("job_sort_formula")).map(str::to_owned).collect()
    }
}
