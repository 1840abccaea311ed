//! Reads a log of jobs in any of the formats, line by line.

use std::io::{self, BufRead, Read};

use super::swf;
use super::workload::WorkloadBuilder;

/// The longest line that is read, in bytes; the rest of a longer one is skipped, and it is counted as damaged.
const MAX_LINE: u64 = 1 << 20;

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadFormat {
    /// The Standard Workload Format.
    Swf,
}

impl WorkloadFormat {
    /// The format of a log in which this is the first line that is neither blank nor a comment.
    fn detect(line: &str) -> Option<Self> {
        swf::is_swf(line).then_some(Self::Swf)
    }
}

/// Adds the jobs of a log. `name` is the log's name in messages. A line that cannot be read is left out, counted and named,
/// see [`Workload::faults`](super::Workload::faults). Returns the format, or `None` if the log has no line in a known one;
/// no job is added then.
///
/// # Errors
/// The log cannot be read.
pub fn read_workload(
    name: &str,
    log: impl BufRead,
    builder: &mut WorkloadBuilder,
) -> io::Result<Option<WorkloadFormat>> {
    let mut format = None;
    let mut unknown = Vec::new();
    for_each_line(log, |number, line| {
        let is_blank = line.trim_start().is_empty() || line.trim_start().starts_with(';');
        if format.is_none() && !is_blank {
            format = WorkloadFormat::detect(line);
        }
        let read = match format {
            Some(WorkloadFormat::Swf) => swf::read_line(line, builder),
            None => {
                if !is_blank && unknown.len() < MAX_UNKNOWN {
                    unknown.push(number);
                }
                return unknown.len() < MAX_UNKNOWN;
            }
        };
        if let Err(kind) = read {
            builder.faults().add(kind, || format!("`{name}`, line {number}"));
        }
        true
    })?;
    if format.is_some() {
        for number in unknown {
            builder.faults().add("not a line of this format", || format!("`{name}`, line {number}"));
        }
    }
    Ok(format)
}

/// How many lines may precede the first one whose format is recognised, apart from blank ones and comments.
const MAX_UNKNOWN: usize = 100;

/// Calls a function with the number and the text of each line, until it returns `false`. Bytes that are not UTF-8 are
/// replaced; a line of more than [`MAX_LINE`] bytes is passed as an empty one with a control character, which no format has.
fn for_each_line(mut log: impl BufRead, mut call: impl FnMut(usize, &str) -> bool) -> io::Result<()> {
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let read = log.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE && bytes.last() != Some(&b'\n') {
            log.skip_until(b'\n')?;
            bytes.clear();
            bytes.push(0);
        }
        let line = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1).unwrap_or(&bytes);
        if !call(number, &String::from_utf8_lossy(line)) {
            break;
        }
    }
    Ok(())
}
