//! The jobs' inputs, as `generate.py columns` writes them.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of columns, of which the first jobs count.
pub struct Columns {
    folder: PathBuf,
    jobs: usize,
}

/// One input of every job.
pub struct Column {
    pub numbers: Vec<f64>,
    /// Whether Python sees integers.
    pub is_whole: bool,
}

impl Columns {
    pub fn new(folder: impl AsRef<Path>, jobs: usize) -> Self {
        Self {
            folder: folder.as_ref().to_owned(),
            jobs,
        }
    }

    pub fn jobs(&self) -> usize {
        self.jobs
    }

    pub fn column(&self, name: &str) -> Result<Column, Box<dyn Error>> {
        let whole = self.folder.join(format!("{name}.int"));
        let is_whole = whole.exists();
        let path = if is_whole {
            whole
        } else {
            self.folder.join(format!("{name}.float"))
        };
        Ok(Column {
            numbers: self.read(&path)?,
            is_whole,
        })
    }

    /// What CPython makes of the jobs.
    pub fn expected(&self, letter: &str) -> Result<Vec<f64>, Box<dyn Error>> {
        self.read(&self.folder.join(format!("expected.{letter}")))
    }

    fn read(&self, path: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let (doubles, _) = bytes.as_chunks();
        let numbers: Vec<f64> = doubles
            .iter()
            .take(self.jobs)
            .map(|&double| f64::from_le_bytes(double))
            .collect();
        if numbers.len() == self.jobs {
            Ok(numbers)
        } else {
            Err(format!("{}: too short", path.display()).into())
        }
    }
}
