//! Which format a document of jobs has, told by its content.

use std::borrow::Cow;

use serde::de::Error;

use crate::jobs::ReadError;
use crate::json_visitor as lax;
use crate::json_visitor::{Entry, ObjectReader};

const EXPECTED: &str = "`qstat -f -F json`, `qstat -f`, {\"jobs\":[…]}, or one job per line as JSON";
/// How many lines are looked at for a first one that tells the format.
const LINES_LOOKED_AT: usize = 1000;

/// A format that jobs come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What `qstat -f -F json` prints.
    QstatJson,
    /// What `qstat -f` prints, wrapped or not.
    QstatText,
    /// `{"jobs":[…]}`
    OwnJson,
    /// One job per line.
    Ndjson,
}

impl Format {
    /// The format of a document.
    ///
    /// # Errors
    /// The document is empty or of no known format.
    pub fn of(text: &str, source_name: &str) -> Result<Self, ReadError> {
        let source_name = source_name.to_owned();
        if text.trim().is_empty() {
            return Err(ReadError::Empty { source_name, expected: EXPECTED });
        }
        if text.trim_start().starts_with("Job Id:") {
            return Ok(Self::QstatText);
        }
        let keys = Keys::of(text);
        match keys.decisive {
            Some(Decisive::Jobs(format)) => Ok(format),
            None if keys.is_from_pbs => Ok(Self::QstatJson),
            _ if Self::has_a_job_line(text) => Ok(Self::Ndjson),
            Some(Decisive::Other(found)) => {
                Err(ReadError::Unrecognised { source_name, found: found.to_owned(), expected: EXPECTED })
            }
            None => match keys.error {
                Some(error) if text.trim_start().starts_with('{') => {
                    Err(crate::ingest::json_error(&source_name, text, &error, 0))
                }
                _ => Err(ReadError::Unrecognised { source_name, found: looks(text), expected: EXPECTED }),
            },
        }
    }

    /// The format of a document by its start, if the start decides: then the whole document has it.
    pub(super) fn of_head(head: &str, is_whole: bool) -> Option<Self> {
        if is_whole {
            return Self::of(head, "").ok();
        }
        if head.trim_start().starts_with("Job Id:") {
            return Some(Self::QstatText);
        }
        let keys = Keys::of(head);
        let complete = head.rfind('\n').map_or("", |end| &head[..end]);
        match keys.decisive {
            Some(Decisive::Jobs(format)) => Some(format),
            None if keys.is_from_pbs || keys.error.is_none_or(|error| error.is_eof()) => None,
            _ => Self::has_a_job_line(complete).then_some(Self::Ndjson),
        }
    }

    fn has_a_job_line(text: &str) -> bool {
        text.lines()
            .filter(|line| line.trim_start().starts_with('{'))
            .take(LINES_LOOKED_AT)
            .any(|line| matches!(Keys::of(line).decisive, Some(Decisive::Jobs(Self::Ndjson))))
    }
}

/// What a document looks like that has no known format.
fn looks(text: &str) -> String {
    let start = text.trim_start();
    if start.chars().take(200).any(|c| c == '\u{fffd}' || (c.is_control() && !c.is_whitespace())) {
        return "binary data".to_owned();
    }
    match start.chars().next() {
        Some('[') => "a JSON list".to_owned(),
        Some('{') => "a JSON object without `Jobs` or `jobs`".to_owned(),
        _ => format!("a text that begins with `{}`", lax::clipped(start.lines().next().unwrap_or("").trim_end())),
    }
}

#[derive(Debug, Clone, Copy)]
enum Decisive {
    Jobs(Format),
    Other(&'static str),
}

/// The keys at the top of a document, up to the first one that decides.
#[derive(Debug, Default)]
struct Keys {
    decisive: Option<Decisive>,
    is_from_pbs: bool,
    error: Option<serde_json::Error>,
}

impl Keys {
    fn of(text: &str) -> Self {
        let mut keys = Self::default();
        let error = lax::read_object(text, &mut keys).err();
        Self { error: error.filter(|_| keys.decisive.is_none()), ..keys }
    }
}

impl<'d> ObjectReader<'d> for Keys {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        self.decisive = match &*key {
            "Jobs" => Some(Decisive::Jobs(Format::QstatJson)),
            "jobs" => Some(Decisive::Jobs(Format::OwnJson)),
            "id" | "resources" | "inputs" => Some(Decisive::Jobs(Format::Ndjson)),
            "Queue" => Some(Decisive::Other("a document of queues, as `qstat -Qf -F json` prints it")),
            "Server" => Some(Decisive::Other("a document of servers, as `qstat -Bf -F json` prints it")),
            "nodes" => Some(Decisive::Other("a document of nodes, as `pbsnodes -F json` prints it")),
            _ => None,
        };
        self.is_from_pbs |= matches!(&*key, "pbs_version" | "pbs_server");
        if self.decisive.is_some() { Err(E::Error::custom("decided")) } else { value.skip() }
    }
}
