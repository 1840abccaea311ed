//! The folder of `slurm.conf`, out of which no `Include` leads.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The most bytes that are read of one file.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// A `slurm.conf` that cannot be read.
#[derive(Debug, Error)]
#[error("cannot read `{}`: {reason}", path.display())]
pub struct ConfError {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    #[source]
    pub reason: io::Error,
}

/// A folder, by its true path.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder in which a file stands, and the file's text.
    pub(super) fn around(file: &Path) -> Result<(Self, String), ConfError> {
        let open = || {
            let text = text(file)?;
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok((Self { path: fs::canonicalize(parent)? }, text))
        };
        open().map_err(|reason| ConfError { path: file.to_owned(), reason })
    }

    /// The text of a file in the folder; the reason if there is none, or if it lies elsewhere.
    pub(super) fn read(&self, name: &str) -> Result<String, String> {
        let path = fs::canonicalize(self.path.join(name)).map_err(|error| error.to_string())?;
        if !path.starts_with(&self.path) {
            return Err("it lies outside the folder of `slurm.conf`".to_owned());
        }
        // opening a pipe would wait for whoever writes to it
        match fs::metadata(&path) {
            Ok(about) if about.is_file() => text(&path).map_err(|error| error.to_string()),
            Ok(_) => Err("it is not a plain file".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is longer than {MAX_FILE_BYTES} bytes")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
