//! The jobs' document: read as it comes, or kept where it is read more than once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use job_sort_formula::ingest::JobReader;
use job_sort_formula::ingest::options::{ReadJobs, ReadOptions};

use super::CliError;
use super::formula::read_bytes;

/// The largest file of jobs that is read.
const MOST: u64 = 64 << 30;

/// What is kept of the jobs' document between two readings.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Whether the document is read more than once.
    pub is_read_again: bool,
    /// Whether it was read.
    pub was_read: bool,
    /// Standard input, which gives what it has once only.
    input: Option<Vec<u8>>,
}

impl Queue {
    pub(super) fn read(&mut self, path: &Path, options: &ReadOptions<'_>) -> Result<ReadJobs, CliError> {
        let reader = JobReader::new(options);
        let read = if path.as_os_str() != "-" {
            let file = File::open(path).map_err(|error| CliError::read(path, error))?;
            if file.metadata().is_ok_and(|metadata| metadata.len() > MOST) {
                return Err(CliError::TooLarge { path: path.to_owned(), most: MOST });
            }
            reader.read_file(file)
        } else if self.is_read_again {
            if self.input.is_none() {
                self.input = Some(read_bytes(path, MOST)?);
            }
            reader.read(self.input.as_deref().unwrap_or_default())
        } else {
            reader.read_stream(Bounded { source: io::stdin(), left: MOST })
        };
        self.was_read = true;
        read.map_err(CliError::content)
    }
}

/// A source that is an error from a certain length on.
struct Bounded<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(format!("it is larger than {MOST} bytes, the most that is read of it")))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_an_error() {
        let read = |left| Bounded { source: &b"12345"[..], left }.read_to_end(&mut Vec::new()).ok();
        assert_eq!((read(5), read(4)), (Some(5), None));
    }
}
