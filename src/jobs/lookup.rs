//! Finds jobs by their ids, given with or without the server.

use std::collections::HashMap;

use crate::jobs::JobTable;
use crate::schema::suggestions::{MAX_COMPARED, did_you_mean};

/// For this many unknown ids at most, similar ones are looked for: each search compares all jobs.
const MAX_SUGGESTED: usize = 3;
/// The most arrays that are named for an unknown id.
const MAX_ARRAYS: usize = 3;

/// The jobs of a table that some ids denote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundJobs {
    /// The rows of the jobs, each once, in the order of the ids.
    pub rows: Vec<usize>,
    /// What no job is called, in the order of the ids, one sentence each; those of the first ones
    /// name similar ids.
    pub unmatched: Vec<String>,
}

impl JobTable {
    /// The rows of the jobs with this id, which may lack the server's name: `12` finds `12.vm`.
    ///
    /// # Errors
    /// No job has it: says so, with similar ids.
    pub fn find_jobs(&self, wanted: &str) -> Result<Vec<usize>, String> {
        let FoundJobs { rows, unmatched } = self.find_all_jobs(&[wanted]);
        match unmatched.into_iter().next() {
            Some(unmatched) => Err(unmatched),
            None => Ok(rows),
        }
    }

    /// The rows of the jobs with these ids, each found as by [`find_jobs`](Self::find_jobs).
    pub fn find_all_jobs<S: AsRef<str>>(&self, wanted: &[S]) -> FoundJobs {
        // the places of the ids by number and host; of equal ids the first one counts
        let mut by_number: HashMap<&str, HashMap<&str, Vec<usize>>> = HashMap::new();
        let mut places = Vec::with_capacity(wanted.len());
        for (place, id) in wanted.iter().map(AsRef::as_ref).enumerate() {
            let (number, server) = parts(id);
            let by_host = by_number.entry(number).or_default();
            let same = by_host.entry(host(server)).or_default();
            if !same.iter().any(|&known| wanted[known].as_ref() == id) {
                same.push(place);
                places.push(place);
            }
        }
        // one pass over the jobs, however many ids are wanted
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); wanted.len()];
        for row in 0..self.len() {
            let id = self.id(row);
            let (number, server) = parts(id);
            let Some(by_host) = by_number.get(number) else {
                continue;
            };
            let mut candidates = Vec::new();
            if server.is_empty() {
                candidates.extend(by_host.values().flatten());
            } else {
                for host in [host(server), ""] {
                    candidates.extend(by_host.get(host).into_iter().flatten());
                }
            }
            for &place in candidates {
                if is_job(id, wanted[place].as_ref()) {
                    rows[place].push(row);
                }
            }
        }
        let mut is_found = vec![false; self.len()];
        let mut found = FoundJobs::default();
        for place in places {
            let wanted = wanted[place].as_ref();
            if rows[place].is_empty() {
                let similar = if found.unmatched.len() < MAX_SUGGESTED {
                    self.similar_ids(wanted)
                } else {
                    String::new()
                };
                let unmatched = format!("no job is called `{wanted}`{similar}");
                found.unmatched.push(unmatched);
            }
            for &row in &rows[place] {
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
        let mut arrays = Vec::new();
        for id in ids
            .clone()
            .filter(|id| is_array(id, wanted))
            .take(MAX_ARRAYS)
        {
            arrays.push(format!("`{id}`"));
        }
        match arrays.as_slice() {
            [] => did_you_mean(wanted, ids),
            arrays => format!("; did you mean the array {}?", arrays.join(" or ")),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Job;

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
                    expected
                        .unmatched
                        .push(format!("no job is called `{wanted_id}`"));
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
                assert!(found.starts_with(expected.as_str()), "{found} {expected}");
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
}
