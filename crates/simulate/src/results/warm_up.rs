//! Which of the first jobs of a simulation do not count.

/// Which of the first jobs of a simulation do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// All jobs count.
    None,
    /// Usage starts fresh, and the jobs of the time until it decays first, in seconds, do not
    /// count.
    UntilDecay(i64),
    /// Usage starts fresh, but that time, in seconds, is more than half of the log, so that all
    /// jobs count.
    LogTooShort(i64),
}

impl WarmUp {
    /// How long after the first submission the jobs begin that count, in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::None | Self::LogTooShort(_) => 0,
            Self::UntilDecay(seconds) => seconds,
        }
    }
}
