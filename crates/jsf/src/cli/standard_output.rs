//! Standard output, and whether there is one.

use std::io::{self, StdoutLock, Write};
use std::os::fd::AsFd;

/// Whether the process began with an open standard output. The runtime opens `/dev/null` in the place of a closed one before
/// `main`, so that what is written would be lost without an error.
#[ctor::ctor(unsafe)]
static IS_OPEN: bool = rustix::io::fcntl_getfd(io::stdout().as_fd()).is_ok();

/// Fails if standard output was closed when the process began.
pub(crate) fn require() -> io::Result<()> {
    if *IS_OPEN { Ok(()) } else { Err(io::Error::other("standard output is closed")) }
}

/// Standard output; writing to it fails if it was closed when the process began.
pub(crate) struct StandardOutput(StdoutLock<'static>);

impl StandardOutput {
    pub(crate) fn lock() -> Self {
        Self(io::stdout().lock())
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        require()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
