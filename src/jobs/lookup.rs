//! Finds jobs by their ids, given with or without the server.

use crate::jobs::JobTable;
use crate::schema::suggestions::{MAX_COMPARED, did_you_mean};

impl JobTable {
    /// The rows of the jobs with this id, which may lack the server's name: `12` finds `12.vm`.
    ///
    /// # Errors
    /// No job has it: says so, with similar ids.
    pub fn find_jobs(&self, wanted: &str) -> Result<Vec<usize>, String> {
        let rows: Vec<usize> = (0..self.len()).filter(|&row| is_job(self.id(row), wanted)).collect();
        if !rows.is_empty() {
            return Ok(rows);
        }
        let ids = (0..self.len().min(MAX_COMPARED)).map(|row| self.id(row));
        let arrays: Vec<String> =
            ids.clone().filter(|id| is_array(id, wanted)).take(3).map(|id| format!("`{id}`")).collect();
        Err(match arrays.as_slice() {
            [] => format!("no job is called `{wanted}`{}", did_you_mean(wanted, ids)),
            arrays => format!("no job is called `{wanted}`; did you mean the array {}?", arrays.join(" or ")),
        })
    }
}

/// Whether a job has this id, given with or without the server or with a shorter name of it.
fn is_job(id: &str, wanted: &str) -> bool {
    let (number, wanted_server) = wanted.split_once('.').unwrap_or((wanted, ""));
    // most ids begin otherwise
    let Some(rest) = id.strip_prefix(number) else { return false };
    let Some(server) = (if rest.is_empty() { Some("") } else { rest.strip_prefix('.') }) else { return false };
    let host = |server: &str| server.split('.').next().map(str::to_owned);
    let is_short = !server.contains('.') || !wanted_server.contains('.');
    server == wanted_server
        || server.is_empty()
        || wanted_server.is_empty()
        || is_short && host(server) == host(wanted_server)
}

/// Whether the id is that of an array or a subjob with this number, given without its brackets or with another index.
fn is_array(id: &str, wanted: &str) -> bool {
    let (number, server) = wanted.split_once('.').unwrap_or((wanted, ""));
    let number = number.split('[').next().unwrap_or(number);
    let Some((before, rest)) = id.split_once('[') else { return false };
    let Some((index, _)) = rest.split_once(']') else { return false };
    let dot = if server.is_empty() { "" } else { "." };
    before == number && is_job(id, &format!("{number}[{index}]{dot}{server}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_suggested_for_its_number_and_for_any_index() {
        for (wanted, expected) in
            [("12", true), ("12[3]", true), ("12[3].vm", true), ("12[3].other", false), ("1[3]", false)]
        {
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
