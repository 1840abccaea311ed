//! The names in a table of jobs: ids, concatenated, and the row of each; the entity or queue of each
//! row; and the jobs that ids denote, given with or without the server.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::jobs::{JobTable, KeptRows};
use crate::schema::suggestions::{MAX_COMPARED, did_you_mean};

/// A growing list of distinct ids.
///
/// While every id is greater than the previous one ([`compare`]), which is the order in which a
/// server assigns them, an id is found by binary search. [`push`](Ids::push) builds a hash index at
/// the first id that is out of order or repeated.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    text: String,
    /// Where each id ends in the text.
    ends: Vec<usize>,
    index: Option<HashMap<Box<str>, u32>>,
}

impl Ids {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The id of a row; `None` beyond the last row.
    pub(super) fn id_at(&self, row: usize) -> Option<&str> {
        self.text.get(self.range(row)?)
    }

    /// The place of an id in the text.
    fn range(&self, row: usize) -> Option<Range<usize>> {
        Some(self.start(row)..*self.ends.get(row)?)
    }

    /// Where the id of a row starts in the text.
    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }

    /// The row of an id; `None` if the list does not contain it.
    pub(super) fn row_of(&self, id: &str) -> Option<usize> {
        match &self.index {
            Some(index) => Some(*index.get(id)? as usize),
            None => self.binary_search(id),
        }
    }

    fn binary_search(&self, id: &str) -> Option<usize> {
        let mut rows = 0..self.len();
        while !rows.is_empty() {
            let middle = rows.start + rows.len() / 2;
            match compare(self.id_at(middle)?, id) {
                Ordering::Less => rows.start = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => rows.end = middle,
            }
        }
        None
    }

    /// Appends an id unless the list contains it; returns whether it was appended.
    pub(super) fn push(&mut self, id: &str) -> bool {
        if self.index.is_none() && self.is_next(id) {
            self.append(id);
            return true;
        }
        // taken out, because `append` borrows the whole list
        let mut index = self.index.take().unwrap_or_else(|| self.indexed());
        let row = self.len() as u32;
        // a known id keeps its earlier row
        let is_new = *index.entry(id.into()).or_insert(row) == row;
        if is_new {
            self.append(id);
        }
        self.index = Some(index);
        is_new
    }

    /// Whether the ids stay in order if this one follows.
    fn is_next(&self, id: &str) -> bool {
        match self.len() {
            0 => true,
            len => compare(self.id_at(len - 1).unwrap_or_default(), id).is_lt(),
        }
    }

    /// The rows by their ids.
    fn indexed(&self) -> HashMap<Box<str>, u32> {
        let mut index = HashMap::with_capacity(self.len() + 1);
        for row in 0..self.len() {
            index.insert(self.id_at(row).unwrap_or_default().into(), row as u32);
        }
        index
    }

    /// Appends an id that the list does not contain, without entering it in the index.
    fn append(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// Removes rows.
    pub(super) fn remove_rows(&mut self, kept: &KeptRows) {
        let old = std::mem::take(self);
        self.text.reserve(old.text.len());
        self.ends.reserve(old.len());
        for row in 0..old.len() {
            if kept.new_row(row as u32).is_some() {
                self.append(old.id_at(row).unwrap_or_default());
            }
        }
        // without one, the ids ascend, and so do those that are left
        if let Some(mut index) = old.index {
            index.retain(|_, row| match kept.new_row(*row) {
                Some(new_row) => {
                    *row = new_row;
                    true
                }
                None => false,
            });
            self.index = Some(index);
        }
    }

    /// The rows whose id contains a `[`: arrays and subjobs.
    pub(super) fn bracketed(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        for row in 0..self.len() {
            if self.id_at(row).unwrap_or_default().contains('[') {
                rows.push(row);
            }
        }
        rows
    }
}

/// Compares ids by the number at their start, then byte by byte. Only identical ids are equal.
fn compare(left: &str, right: &str) -> Ordering {
    let left_number = leading_number(left);
    let right_number = leading_number(right);
    // without leading zeros the longer number is the greater; it may exceed any integer
    let by_number = left_number
        .len()
        .cmp(&right_number.len())
        .then_with(|| left_number.cmp(right_number));
    // `07` and `7` are equal as numbers, but are two ids
    by_number.then_with(|| left.cmp(right))
}

/// The digits at the start, without leading zeros.
fn leading_number(id: &str) -> &str {
    let digits = id.trim_start_matches('0');
    let rest = digits.trim_start_matches(|character: char| character.is_ascii_digit());
    &digits[..digits.len() - rest.len()]
}

/// For this many unknown ids at most, similar ones are looked for: each search compares all jobs.
const MAX_SUGGESTED: usize = 3;
/// The most arrays that are named for an unknown id.
const MAX_ARRAYS: usize = 3;

/// The jobs of a table that some ids denote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundJobs {
    /// The rows of the jobs, each once, in the order of the ids.
    pub rows: Vec<usize>,
    /// The ids that no job has, each once, in their order; the first ones with similar ids.
    pub unmatched: Vec<UnknownJob>,
}

/// An id that no job of a table has. Displayed, it is a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownJob {
    /// The id, as it was asked for.
    pub id: String,
    /// The question `; did you mean …?` with ids that are similar; empty if none is.
    pub similar: String,
}

impl fmt::Display for UnknownJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no job is called `{}`{}", self.id, self.similar)
    }
}

impl JobTable {
    /// The rows of the jobs with this id, which may lack the server's name: `12` finds `12.vm`.
    ///
    /// # Errors
    /// No job has it: says so, with similar ids.
    pub fn find_jobs(&self, wanted: &str) -> Result<Vec<usize>, String> {
        let FoundJobs { rows, unmatched } = self.find_all_jobs(&[wanted]);
        match unmatched.into_iter().next() {
            Some(unknown) => Err(unknown.to_string()),
            None => Ok(rows),
        }
    }

    /// The rows of the jobs with these ids, each found as by [`find_jobs`](Self::find_jobs).
    pub fn find_all_jobs<S: AsRef<str>>(&self, wanted: &[S]) -> FoundJobs {
        let mut distinct: Vec<&str> = Vec::new();
        // their places by number and host
        let mut places: HashMap<&str, HashMap<&str, Vec<usize>>> = HashMap::new();
        let mut seen = HashSet::new();
        for id in wanted.iter().map(AsRef::as_ref) {
            if seen.insert(id) {
                let (number, server) = parts(id);
                let by_host = places.entry(number).or_default();
                by_host
                    .entry(host(server))
                    .or_default()
                    .push(distinct.len());
                distinct.push(id);
            }
        }
        // one pass over the jobs, however many ids are wanted
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); distinct.len()];
        for row in 0..self.len() {
            let id = self.id(row);
            let (number, server) = parts(id);
            let Some(by_host) = places.get(number) else {
                continue;
            };
            let candidates: Vec<_> = if server.is_empty() {
                by_host.values().collect()
            } else {
                let hosts = [host(server), ""];
                hosts.iter().filter_map(|host| by_host.get(host)).collect()
            };
            for &place in candidates.into_iter().flatten() {
                if is_job(id, distinct[place]) {
                    rows[place].push(row);
                }
            }
        }
        let mut is_found = vec![false; self.len()];
        let mut found = FoundJobs::default();
        for (id, rows) in distinct.into_iter().zip(rows) {
            if rows.is_empty() {
                let similar = if found.unmatched.len() < MAX_SUGGESTED {
                    self.similar_ids(id)
                } else {
                    String::new()
                };
                let id = id.to_owned();
                found.unmatched.push(UnknownJob { id, similar });
            }
            for row in rows {
                // several of the ids may denote the same job
                if !is_found[row] {
                    is_found[row] = true;
                    found.rows.push(row);
                }
            }
        }
        found
    }

    /// `; did you mean …?` with ids that are similar, arrays first.
    fn similar_ids(&self, wanted: &str) -> String {
        let ids = (0..self.len().min(MAX_COMPARED)).map(|row| self.id(row));
        let arrays = ids
            .clone()
            .filter(|id| is_array(id, wanted))
            .take(MAX_ARRAYS);
        let arrays: Vec<String> = arrays.map(|id| format!("`{id}`")).collect();
        if arrays.is_empty() {
            return did_you_mean(wanted, ids);
        }
        format!("; did you mean the array {}?", arrays.join(" or "))
    }
}

/// The parts of an id: its number, with the index of a subjob, and its server; `""` for no server.
fn parts(id: &str) -> (&str, &str) {
    id.split_once('.').unwrap_or((id, ""))
}

/// The name of a server without its domain.
fn host(server: &str) -> &str {
    server.split('.').next().unwrap_or_default()
}

/// Whether a job has this id, given with or without the server or with a shorter name of it.
fn is_job(id: &str, wanted: &str) -> bool {
    let (number, server) = parts(id);
    let (wanted_number, wanted_server) = parts(wanted);
    // two names with a domain must be equal
    let is_short = !server.contains('.') || !wanted_server.contains('.');
    number == wanted_number
        && (server == wanted_server
            || server.is_empty()
            || wanted_server.is_empty()
            || is_short && host(server) == host(wanted_server))
}

/// Whether the id is that of an array or a subjob with this number, given without its brackets or
/// with another index.
fn is_array(id: &str, wanted: &str) -> bool {
    let (number, server) = wanted.split_once('.').unwrap_or((wanted, ""));
    let number = number.split('[').next().unwrap_or(number);
    let Some((before, rest)) = id.split_once('[') else {
        return false;
    };
    let Some((index, _)) = rest.split_once(']') else {
        return false;
    };
    let dot = if server.is_empty() { "" } else { "." };
    before == number && is_job(id, &format!("{number}[{index}]{dot}{server}"))
}

/// The least number of names of which unused ones are removed.
const MANY_NAMES: usize = 4096;

/// The names of rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    distinct: Vec<Arc<str>>,
    indices: HashMap<Arc<str>, u32>,
    /// The index of the name of each row.
    rows: Vec<u32>,
}

impl Dictionary {
    /// Removes all rows and names, and keeps the buffers.
    pub(super) fn clear(&mut self) {
        self.distinct.clear();
        self.indices.clear();
        self.rows.clear();
    }

    /// Removes rows; and names too if most of them are those of removed rows.
    pub(super) fn remove_rows(&mut self, kept: &KeptRows) {
        kept.retain_in(&mut self.rows);
        if self.distinct.len() > MANY_NAMES.max(2 * self.rows.len()) {
            // names are numbered by their first rows, so the rows are entered again
            let old = std::mem::take(self);
            for row in 0..old.rows.len() {
                self.push(old.at(row));
            }
        }
    }

    pub(super) fn push(&mut self, name: &str) {
        let index = self.index_or_insert(name);
        self.rows.push(index);
    }

    fn index_or_insert(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        let index = self.distinct.len() as u32;
        let name: Arc<str> = name.into();
        self.distinct.push(name.clone());
        self.indices.insert(name, index);
        index
    }

    /// Appends rows of another dictionary. `known` caches the index in this dictionary of each name
    /// of the other one.
    pub(super) fn append(&mut self, other: &Self, rows: Range<usize>, known: &mut [Option<u32>]) {
        for row in rows {
            let index = other.index(row);
            // one look-up for each name, not for each row
            let translated = match known[index] {
                Some(translated) => translated,
                None => *known[index].insert(self.index_or_insert(&other.distinct[index])),
            };
            self.rows.push(translated);
        }
    }

    /// The index of the name of a row.
    pub(super) fn index(&self, row: usize) -> usize {
        self.rows.get(row).copied().unwrap_or_default() as usize
    }

    /// The name of a row; `""` if there is no such row.
    pub(super) fn at(&self, row: usize) -> &str {
        match self.rows.get(row) {
            Some(&index) => &self.distinct[index as usize],
            None => "",
        }
    }

    /// The distinct names. Those of removed rows stay until they are many.
    pub(super) fn distinct(&self) -> &[Arc<str>] {
        &self.distinct
    }

    /// Whether each distinct name is that of a row.
    pub(super) fn are_used(&self) -> Vec<bool> {
        let mut are_used = vec![false; self.distinct.len()];
        for &index in &self.rows {
            are_used[index as usize] = true;
        }
        are_used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Job;

    #[test]
    fn ids_are_compared_by_number_first() {
        for pair in [
            ["9.vm", "10.vm"],
            ["1.vm", "01.vm2"],
            ["1.a", "1.b"],
            ["7", "7.vm"],
            ["", "1"],
            ["0", "00"],
            ["1234567.vm", "1234568.vm"],
            ["1234567.vm", "1234567.vn"],
            ["12345678.a", "12345679.a"],
            ["1.vm.xyzw", "01.vm.xyz"],
            ["[]abcdefg", "[]abcdefh"],
            ["99999.xyz", "100000.xyz"],
        ] {
            assert_ne!(compare(pair[0], pair[1]), Ordering::Equal);
            assert_eq!(
                compare(pair[0], pair[1]),
                compare(pair[1], pair[0]).reverse(),
                "{pair:?}"
            );
        }
        assert_eq!(compare("9.vm", "10.vm"), Ordering::Less);
        assert_eq!(
            compare("18446744073709551616", "18446744073709551617"),
            Ordering::Less
        );
    }

    #[test]
    fn every_id_is_found_by_binary_search_and_by_index() {
        let mut ids = Ids::default();
        for number in 0..10_000 {
            assert!(ids.push(&format!("{number}.vm")));
        }
        assert!(
            ids.index.is_none() && ids.row_of("77.vm") == Some(77) && ids.row_of("77").is_none()
        );
        assert!(!ids.push("5000.vm") && ids.push("3[].vm") && !ids.push("3[].vm"));
        assert!(ids.index.is_some());
        assert_eq!(
            (ids.row_of("9999.vm"), ids.row_of("3[].vm"), ids.len()),
            (Some(9999), Some(10_000), 10_001)
        );
        assert_eq!(ids.bracketed(), [10_000]);
        assert_eq!(
            (ids.id_at(4095), ids.id_at(4096), ids.id_at(10_001)),
            (Some("4095.vm"), Some("4096.vm"), None)
        );
    }

    fn table(ids: &[String]) -> JobTable {
        let mut table = JobTable::new([""; 0]);
        for id in ids {
            let _ = table.push(
                &Job {
                    id,
                    ..Job::default()
                },
                &[],
            );
        }
        table
    }

    #[test]
    fn many_ids_are_found_as_one_by_one() {
        let servers = [
            "",
            ".",
            ".vm",
            ".vm.",
            ".vm.a",
            ".vm.a.org",
            ".vm.b",
            ".vm-2",
            ".vm-2.a",
            "..a",
            ".wm",
            "[].vm",
            "[3].vm",
        ];
        let ids: Vec<String> = [2, 1, 12]
            .iter()
            .flat_map(|number| servers.map(|server| format!("{number}{server}")))
            .collect();
        for count in 0..ids.len() {
            // every other one is not in the table
            let jobs: Vec<String> = ids
                .iter()
                .cycle()
                .skip(count)
                .step_by(2)
                .take(ids.len() / 2)
                .cloned()
                .collect();
            let table = table(&jobs);
            let wanted = [&ids[count..], &ids[..count], &ids[..1]].concat();
            let found = table.find_all_jobs(&wanted);
            let mut expected = FoundJobs::default();
            for (index, wanted_id) in wanted.iter().enumerate() {
                let rows: Vec<usize> = (0..table.len())
                    .filter(|&row| is_job(table.id(row), wanted_id))
                    .collect();
                let is_repeated = wanted[..index]
                    .iter()
                    .any(|earlier| parts(earlier) == parts(wanted_id));
                if rows.is_empty() && !is_repeated {
                    expected.unmatched.push(UnknownJob {
                        id: wanted_id.clone(),
                        similar: String::new(),
                    });
                }
                for row in rows {
                    if !expected.rows.contains(&row) {
                        expected.rows.push(row);
                    }
                }
            }
            assert_eq!(found.rows, expected.rows, "{jobs:?} {wanted:?}");
            assert_eq!(found.unmatched.len(), expected.unmatched.len());
            for (found, expected) in found.unmatched.iter().zip(&expected.unmatched) {
                assert_eq!(found.id, expected.id);
            }
        }
    }

    #[test]
    fn ids_of_one_number_on_many_servers_are_found_without_comparing_all_with_all() {
        let ids: Vec<String> = (0..180_000)
            .map(|server| format!("1.vm{server}.org"))
            .collect();
        let table = table(&ids[..100_000]);
        let found = table.find_all_jobs(&ids[80_000..]);
        assert_eq!((found.rows.len(), found.unmatched.len()), (20_000, 80_000));
    }

    #[test]
    fn an_array_is_suggested_for_its_number_and_for_any_index() {
        for (wanted, expected) in [
            ("12", true),
            ("12[3]", true),
            ("12[3].vm", true),
            ("12[3].other", false),
            ("1[3]", false),
        ] {
            assert_eq!(is_array("12[].vm", wanted), expected, "{wanted}");
        }
    }

    #[test]
    fn an_id_matches_with_and_without_its_server() {
        for (id, wanted, expected) in [
            ("12.vm", "12", true),
            ("12.vm", "12.vm", true),
            ("12.vm.example.org", "12.vm", true),
            ("12.vm", "12.vm.example.org", true),
            ("12", "12.vm", true),
            ("12[3].vm", "12[3]", true),
            ("12[3].vm", "12", false),
            ("12.vm", "1", false),
            ("12.vm", "12.other", false),
            ("12.vm.a.org", "12.vm.b.org", false),
        ] {
            assert_eq!(is_job(id, wanted), expected, "{id} {wanted}");
        }
    }

    #[test]
    fn each_row_has_the_index_of_its_name() {
        let mut names = Dictionary::default();
        (0..3).for_each(|_| names.push("workq"));
        assert_eq!((names.at(2), names.at(3)), ("workq", ""));
        names.push("");
        names.push("workq");
        let rows: Vec<_> = (0..6)
            .map(|row| (names.at(row), names.index(row)))
            .collect();
        assert_eq!(
            rows,
            [
                ("workq", 0),
                ("workq", 0),
                ("workq", 0),
                ("", 1),
                ("workq", 0),
                ("", 0)
            ]
        );
        assert_eq!(names.distinct().len(), 2);
    }

    #[test]
    fn appended_rows_keep_their_names() {
        let mut all = Dictionary::default();
        let mut expected = Vec::new();
        for names in [
            vec!["a", "a"],
            vec!["a"],
            vec!["b", "a", "b"],
            vec!["c", "c"],
            vec![],
        ] {
            let mut batch = Dictionary::default();
            names.iter().for_each(|name| batch.push(name));
            let mut known = vec![None; batch.distinct().len()];
            for row in 0..names.len() {
                all.append(&batch, row..row + 1, &mut known);
            }
            expected.extend(names);
        }
        let rows: Vec<_> = (0..expected.len()).map(|row| all.at(row)).collect();
        assert_eq!((rows, all.distinct().len()), (expected, 3));
    }
}
