//! Finds jobs by their ids, given with or without the server.

use std::cmp::Ordering;

use crate::jobs::JobTable;
use crate::schema::suggestions::{MAX_COMPARED, did_you_mean};

/// For this many unknown ids at most similar ones are looked for: each search compares all jobs.
const MAX_SUGGESTED: usize = 3;

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
        unmatched.into_iter().next().map_or(Ok(rows), Err)
    }

    /// The rows of the jobs with these ids, each found as by [`find_jobs`](Self::find_jobs).
    pub fn find_all_jobs<S: AsRef<str>>(&self, wanted: &[S]) -> FoundJobs {
        let ids = WantedIds::new(wanted);
        let mut matches: Vec<(usize, usize)> = Vec::new();
        for row in 0..self.len() {
            ids.matching(self.id(row), |index| matches.push((index, row)));
        }
        // by the position of the id, then by the row
        matches.sort_unstable();
        let mut is_matched = vec![false; wanted.len()];
        let mut is_found = vec![false; self.len()];
        let mut found = FoundJobs::default();
        for (index, row) in matches {
            is_matched[index] = true;
            if !std::mem::replace(&mut is_found[row], true) {
                found.rows.push(row);
            }
        }
        let mut unmatched: Vec<usize> = ids
            .0
            .iter()
            .map(|id| id.index)
            .filter(|&index| !is_matched[index])
            .collect();
        unmatched.sort_unstable();
        for (wanted, number) in unmatched
            .into_iter()
            .map(|index| wanted[index].as_ref())
            .zip(0..)
        {
            let similar = if number < MAX_SUGGESTED {
                self.similar_ids(wanted)
            } else {
                String::new()
            };
            found
                .unmatched
                .push(format!("no job is called `{wanted}`{similar}"));
        }
        found
    }

    /// `; did you mean …?` with ids that are similar, arrays first.
    fn similar_ids(&self, wanted: &str) -> String {
        let ids = (0..self.len().min(MAX_COMPARED)).map(|row| self.id(row));
        let arrays = ids.clone().filter(|id| is_array(id, wanted)).take(3);
        let arrays: Vec<String> = arrays.map(|id| format!("`{id}`")).collect();
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

/// Ids that are looked for, sorted and each once, so that those that a job matches are found by
/// binary search.
struct WantedIds<'a>(Vec<WantedId<'a>>);

struct WantedId<'a> {
    number: &'a str,
    server: &'a str,
    /// The first position at which it is given.
    index: usize,
}

impl<'a> WantedIds<'a> {
    fn new<S: AsRef<str>>(wanted: &'a [S]) -> Self {
        let ids = wanted.iter().enumerate().map(|(index, wanted)| {
            let (number, server) = parts(wanted.as_ref());
            WantedId {
                number,
                server,
                index,
            }
        });
        let mut ids: Vec<WantedId<'a>> = ids.collect();
        // the position last, so that the first of equal ids is kept
        ids.sort_unstable_by_key(|id| (id.number, id.server, id.index));
        ids.dedup_by_key(|id| (id.number, id.server));
        Self(ids)
    }

    /// Calls `found` with the position of each id that the job matches, see [`is_job`].
    fn matching(&self, id: &str, mut found: impl FnMut(usize)) {
        let (number, server) = parts(id);
        let same_number = equal_range(&self.0, |wanted| wanted.number.cmp(number));
        if same_number.is_empty() {
            return;
        }
        // a server may be given by its host name alone
        let host = server.split('.').next().unwrap_or_default();
        let none: &[WantedId<'_>] = &[];
        let others = match server {
            "" => [same_number, none, none],
            _ => {
                let shorter_or_longer = match host {
                    "" => none,
                    _ if host == server => with_longer_server(same_number, server),
                    _ => with_server(same_number, host),
                };
                [
                    with_server(same_number, server),
                    with_server(same_number, ""),
                    shorter_or_longer,
                ]
            }
        };
        others
            .into_iter()
            .flatten()
            .for_each(|wanted| found(wanted.index));
    }
}

/// The ids with this server, of sorted ids with the same number.
fn with_server<'w, 'a>(ids: &'w [WantedId<'a>], server: &str) -> &'w [WantedId<'a>] {
    equal_range(ids, |wanted| wanted.server.cmp(server))
}

/// The ids whose server begins with this one and a dot, of sorted ids with the same number.
fn with_longer_server<'w, 'a>(ids: &'w [WantedId<'a>], server: &str) -> &'w [WantedId<'a>] {
    // the dot, so that `vm` is not taken for the start of `vm2`
    let longer = format!("{server}.");
    equal_range(ids, |wanted| {
        if wanted.server.starts_with(&longer) {
            Ordering::Equal
        } else {
            wanted.server.cmp(&longer)
        }
    })
}

/// The elements of a sorted list that are equal to what `order` compares them with.
fn equal_range<T>(sorted: &[T], order: impl Fn(&T) -> Ordering) -> &[T] {
    let start = sorted.partition_point(|element| order(element).is_lt());
    let end = start + sorted[start..].partition_point(|element| order(element).is_eq());
    &sorted[start..end]
}

/// Whether a job has this id, given with or without the server or with a shorter name of it.
fn is_job(id: &str, wanted: &str) -> bool {
    let (number, server) = parts(id);
    let (wanted_number, wanted_server) = parts(wanted);
    let is_short = !server.contains('.') || !wanted_server.contains('.');
    number == wanted_number
        && (server == wanted_server
            || server.is_empty()
            || wanted_server.is_empty()
            || is_short && server.split('.').next() == wanted_server.split('.').next())
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
