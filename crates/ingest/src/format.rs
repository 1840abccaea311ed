//! Detects the format of a job document by its content.

use jsf_json::{clipped, decode_utf8};

use crate::chunked_reader::DocumentLayout;
use crate::error::ReadErrorKind;
use crate::json_reader::json_error;
use crate::json_scanner::Scanner;
use crate::object_keys::{Next, ObjectKeys};

pub(super) const EXPECTED: &str = "`qstat -f -F json`, `qstat -f -F dsv`, `qstat -f`, {\"jobs\":[…]}, or one job per line as JSON";
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
        Self::of_keys(text, TopLevelKeys::read(text))
    }

    /// The format of a document with these keys.
    fn of_keys(text: &str, keys: TopLevelKeys) -> Result<Self, ReadErrorKind> {
        match keys.decisive {
            Some(DecisiveKey::Jobs(format)) => Ok(format),
            None if keys.is_from_pbs => Ok(Self::QstatJson),
            _ if Self::has_a_job_line(text) => Ok(Self::Ndjson),
            Some(DecisiveKey::Other(found)) => Err(ReadErrorKind::Unrecognised {
                found: found.to_owned(),
                expected: EXPECTED,
            }),
            None => match (Self::after_other_lines(text), keys.error) {
                (Some(format), _) => Ok(format),
                (None, Some(error)) if text.trim_start().starts_with('{') => {
                    Err(ReadErrorKind::json(text, &error, 0))
                }
                _ => Err(ReadErrorKind::Unrecognised {
                    found: describe(text),
                    expected: EXPECTED,
                }),
            },
        }
    }

    /// The format of a document that begins with this head, if the head decides.
    fn of_head(head: &str, keys: &TopLevelKeys) -> Option<Self> {
        if let Some(format) = Self::from_job_line(head.trim_start()) {
            return Some(format);
        }
        let complete_lines = head.rfind('\n').map_or("", |end| &head[..end]);
        match keys.decisive {
            Some(DecisiveKey::Jobs(format)) => Some(format),
            None if keys.is_from_pbs
                || keys.error.as_ref().is_none_or(serde_json::Error::is_eof) =>
            {
                None
            }
            _ => Self::has_a_job_line(complete_lines).then_some(Self::Ndjson),
        }
    }

    /// The format of a document that begins with this line of qstat.
    fn from_job_line(line: &str) -> Option<Self> {
        let job = line.strip_prefix("Job Id:")?;
        let end = job.find('\n').unwrap_or(job.len());
        Some(if job[..end].contains('=') {
            Self::QstatDsv
        } else {
            Self::QstatText
        })
    }

    /// The format of a document of qstat behind other lines, such as a shell's prompt or an error
    /// of qstat, or of one whose JSON is damaged before its jobs.
    fn after_other_lines(text: &str) -> Option<Self> {
        text.lines()
            .map(str::trim)
            .enumerate()
            .find_map(|(number, line)| {
                let is_jobs = line
                    .strip_prefix("\"Jobs\"")
                    .is_some_and(|rest| rest.trim_start().starts_with(':'));
                if is_jobs && number > 0 {
                    Some(Self::QstatJson)
                } else {
                    Self::from_job_line(line)
                }
            })
    }

    fn has_a_job_line(text: &str) -> bool {
        let mut lines = text
            .lines()
            .filter(|line| line.trim_start().starts_with('{'))
            .take(MAX_LINES);
        lines.any(|line| {
            matches!(
                TopLevelKeys::read(line).decisive,
                Some(DecisiveKey::Jobs(Self::Ndjson))
            )
        })
    }
}

/// Describes a document that has none of the formats.
fn describe(text: &str) -> String {
    let start = text.trim_start();
    if start
        .chars()
        .take(200)
        .any(|c| c == '\u{fffd}' || (c.is_control() && !c.is_whitespace()))
    {
        return "binary data".to_owned();
    }
    match start.chars().next() {
        Some('[') => "a JSON array".to_owned(),
        Some('{') => "a JSON object without `Jobs` or `jobs`".to_owned(),
        _ => format!(
            "a text that begins with `{}`",
            clipped(start.lines().next().unwrap_or("").trim_end())
        ),
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
    /// Where the value of the decisive key begins.
    value: usize,
    is_from_pbs: bool,
    error: Option<serde_json::Error>,
}

impl TopLevelKeys {
    fn read(text: &str) -> Self {
        let mut keys = Self::default();
        if keys.walk(text).is_none() {
            keys.error = json_error(text);
        }
        keys
    }

    /// `None` if the text is not an object, or not valid JSON up to the decisive key.
    fn walk(&mut self, text: &str) -> Option<()> {
        let mut scanner = Scanner::new(text);
        let mut keys = ObjectKeys::new();
        scanner.space();
        scanner.take(b'{')?;
        let mut is_first = true;
        while let Next::Value((), key) = keys.next(&mut scanner, is_first, |_| ())? {
            is_first = false;
            let key = keys.name(key);
            self.decisive = DecisiveKey::from_name(key);
            if self.decisive.is_some() {
                self.value = scanner.at;
                return Some(());
            }
            self.is_from_pbs |= matches!(key, "pbs_version" | "pbs_server");
            scanner.skip_value()?;
        }
        scanner.space();
        scanner.is_at_end().then_some(())
    }
}

impl DecisiveKey {
    fn from_name(key: &str) -> Option<Self> {
        Some(match key {
            "Jobs" => Self::Jobs(DocumentFormat::QstatJson),
            "jobs" => Self::Jobs(DocumentFormat::NativeJson),
            "id" | "resources" | "inputs" => Self::Jobs(DocumentFormat::Ndjson),
            "Queue" => Self::Other("a document of queues, as `qstat -Qf -F json` prints it"),
            "Server" => Self::Other("a document of servers, as `qstat -Bf -F json` prints it"),
            "nodes" => Self::Other("a document of nodes, as `pbsnodes -F json` prints it"),
            _ => return None,
        })
    }
}

/// What the head of a document shows: it is looked at once.
#[derive(Debug)]
pub(super) struct Head {
    /// `None` if the rest of the document decides.
    pub format: Option<DocumentFormat>,
    /// Where the jobs of qstat begin and what separates them, if the head shows that.
    pub layout: Option<DocumentLayout>,
}

impl Head {
    /// Looks at a head. `is_complete` says that it is the whole document.
    pub(super) fn new(head: &[u8], is_complete: bool) -> Self {
        let text = decode_utf8(head);
        let keys = TopLevelKeys::read(&text);
        // places in a text with replaced bytes are not those in the document
        let is_qstat = matches!(
            keys.decisive,
            Some(DecisiveKey::Jobs(DocumentFormat::QstatJson))
        );
        let valid = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let layout = if is_qstat {
            DocumentLayout::detect(valid, keys.value)
        } else {
            None
        };
        let format = if !is_complete {
            DocumentFormat::of_head(&text, &keys)
        } else if text.trim().is_empty() {
            None
        } else {
            DocumentFormat::from_job_line(text.trim_start())
                .or_else(|| DocumentFormat::of_keys(&text, keys).ok())
        };
        Self { format, layout }
    }
}
