//! Detects the format of a job document by its content.

use std::borrow::Cow;

use jsf_json::{Entry, ObjectReader, clipped, read_object};
use serde::de::Error;

use crate::error::ReadErrorKind;

pub(super) const EXPECTED: &str =
    "`qstat -f -F json`, `qstat -f -F dsv`, `qstat -f`, {\"jobs\":[…]}, or one job per line as JSON";
/// How many lines that begin with `{` are searched for a job.
const MAX_LINES: usize = 1000;

/// The format of a job document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentFormat {
    /// What `qstat -f -F json` prints.
    QstatJson,
    /// What `qstat -f` prints, wrapped or not.
    QstatText,
    /// What `qstat -f -F dsv` prints.
    QstatDsv,
    /// `{"jobs":[…]}`
    NativeJson,
    /// One native job per line.
    Ndjson,
}

impl DocumentFormat {
    /// The format of a document.
    ///
    /// # Errors
    /// The document is empty or has another format.
    pub(super) fn detect(text: &str) -> Result<Self, ReadErrorKind> {
        if text.trim().is_empty() {
            return Err(ReadErrorKind::Empty { expected: EXPECTED });
        }
        if let Some(format) = Self::from_job_line(text.trim_start()) {
            return Ok(format);
        }
        let keys = TopLevelKeys::read(text);
        match keys.decisive {
            Some(DecisiveKey::Jobs(format)) => Ok(format),
            None if keys.is_from_pbs => Ok(Self::QstatJson),
            _ if Self::has_a_job_line(text) => Ok(Self::Ndjson),
            Some(DecisiveKey::Other(found)) => {
                Err(ReadErrorKind::Unrecognised { found: found.to_owned(), expected: EXPECTED })
            }
            None => match (Self::after_other_lines(text), keys.error) {
                (Some(format), _) => Ok(format),
                (None, Some(error)) if text.trim_start().starts_with('{') => Err(ReadErrorKind::json(text, &error, 0)),
                _ => Err(ReadErrorKind::Unrecognised { found: describe(text), expected: EXPECTED }),
            },
        }
    }

    /// The format of a document by its head, if the head decides. `is_complete` says that it is the whole document.
    pub(super) fn detect_by_head(head: &str, is_complete: bool) -> Option<Self> {
        if is_complete {
            return Self::detect(head).ok();
        }
        if let Some(format) = Self::from_job_line(head.trim_start()) {
            return Some(format);
        }
        let keys = TopLevelKeys::read(head);
        let complete_lines = head.rfind('\n').map_or("", |end| &head[..end]);
        match keys.decisive {
            Some(DecisiveKey::Jobs(format)) => Some(format),
            None if keys.is_from_pbs || keys.error.is_none_or(|error| error.is_eof()) => None,
            _ => Self::has_a_job_line(complete_lines).then_some(Self::Ndjson),
        }
    }

    /// The format of a document that begins with this line of qstat.
    fn from_job_line(line: &str) -> Option<Self> {
        let job = line.strip_prefix("Job Id:")?;
        let end = job.find('\n').unwrap_or(job.len());
        Some(if job[..end].contains('=') { Self::QstatDsv } else { Self::QstatText })
    }

    /// The format of a document of qstat behind other lines, such as a shell's prompt or an error of qstat, or of one whose
    /// JSON is damaged before its jobs.
    fn after_other_lines(text: &str) -> Option<Self> {
        text.lines().map(str::trim).enumerate().find_map(|(number, line)| {
            let is_jobs = line.strip_prefix("\"Jobs\"").is_some_and(|rest| rest.trim_start().starts_with(':'));
            if is_jobs && number > 0 { Some(Self::QstatJson) } else { Self::from_job_line(line) }
        })
    }

    fn has_a_job_line(text: &str) -> bool {
        let mut lines = text.lines().filter(|line| line.trim_start().starts_with('{')).take(MAX_LINES);
        lines.any(|line| matches!(TopLevelKeys::read(line).decisive, Some(DecisiveKey::Jobs(Self::Ndjson))))
    }
}

/// Describes a document that has none of the formats.
fn describe(text: &str) -> String {
    let start = text.trim_start();
    if start.chars().take(200).any(|c| c == '\u{fffd}' || (c.is_control() && !c.is_whitespace())) {
        return "binary data".to_owned();
    }
    match start.chars().next() {
        Some('[') => "a JSON array".to_owned(),
        Some('{') => "a JSON object without `Jobs` or `jobs`".to_owned(),
        _ => format!("a text that begins with `{}`", clipped(start.lines().next().unwrap_or("").trim_end())),
    }
}

/// A key that decides what the document is.
#[derive(Debug, Clone, Copy)]
enum DecisiveKey {
    Jobs(DocumentFormat),
    /// The document is not one of jobs.
    Other(&'static str),
}

/// The keys of the object at the top of a document, up to the first one that decides.
#[derive(Debug, Default)]
struct TopLevelKeys {
    decisive: Option<DecisiveKey>,
    is_from_pbs: bool,
    error: Option<serde_json::Error>,
}

impl TopLevelKeys {
    fn read(text: &str) -> Self {
        let mut keys = Self::default();
        let error = read_object(text, &mut keys).err();
        Self { error: error.filter(|_| keys.decisive.is_none()), ..keys }
    }
}

impl<'d> ObjectReader<'d> for TopLevelKeys {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        self.decisive = match &*key {
            "Jobs" => Some(DecisiveKey::Jobs(DocumentFormat::QstatJson)),
            "jobs" => Some(DecisiveKey::Jobs(DocumentFormat::NativeJson)),
            "id" | "resources" | "inputs" => Some(DecisiveKey::Jobs(DocumentFormat::Ndjson)),
            "Queue" => Some(DecisiveKey::Other("a document of queues, as `qstat -Qf -F json` prints it")),
            "Server" => Some(DecisiveKey::Other("a document of servers, as `qstat -Bf -F json` prints it")),
            "nodes" => Some(DecisiveKey::Other("a document of nodes, as `pbsnodes -F json` prints it")),
            _ => None,
        };
        self.is_from_pbs |= matches!(&*key, "pbs_version" | "pbs_server");
        // Any error ends the walk through the document.
        if self.decisive.is_some() { Err(E::Error::custom("decided")) } else { value.skip() }
    }
}
