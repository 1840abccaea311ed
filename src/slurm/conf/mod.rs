//! `slurm.conf`: which fair-share policy a cluster uses, and with which constants.
//!
//! Only the settings that bear on fair share are kept. A value that `slurmctld` would not start with is a
//! [`ConfWarning`] and the setting stays at its default; so are flags that contradict each other or that today's Slurm
//! no longer knows. Files that are included are read if they lie in the folder of `slurm.conf`.

mod folder;
mod lines;
mod settings;
mod times;
mod warning;

use std::path::Path;

pub use folder::{ConfError, MAX_FILE_BYTES};
pub use warning::{ConfFault, ConfWarning};

use folder::Folder;
use settings::Settings;

/// The most files that are read, `slurm.conf` included.
pub const MAX_FILES: usize = 64;
/// How deep an `Include` may lie in another.
pub const MAX_INCLUDE_DEPTH: usize = 8;

/// The fair-share policy that `slurmctld` uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ConfPolicy {
    /// The default since 19.05.
    #[default]
    FairTree,
    /// `PriorityFlags=DEPTH_OBLIVIOUS`
    DepthOblivious,
    /// `PriorityFlags=NO_FAIR_TREE`
    Classic,
}

impl ConfPolicy {
    /// The policy's name, as a user would type it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FairTree => "fair-tree",
            Self::DepthOblivious => "depth-oblivious",
            Self::Classic => "classic",
        }
    }
}

/// When all usage is set back to 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ResetPeriod {
    /// `NONE`
    #[default]
    Never,
    /// `NOW`: once, at the next start.
    Now,
    /// `DAILY`
    Daily,
    /// `WEEKLY`
    Weekly,
    /// `MONTHLY`
    Monthly,
    /// `QUARTERLY`
    Quarterly,
    /// `YEARLY`
    Yearly,
}

/// The settings that bear on fair share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmConf {
    /// The plugin that makes priorities; `None` where the file does not say, which was `priority/basic` for long.
    pub priority_type: Option<String>,
    /// The policy, which counts under `priority/multifactor` alone.
    pub policy: ConfPolicy,
    /// The half-life of usage in seconds, 0 for usage that does not decay. Default: 7 days.
    pub decay_half_life: u32,
    /// The time between two calculations, in seconds. Default: 300.
    pub calc_period: u32,
    /// When all usage is set back to 0. Default: never.
    pub usage_reset_period: ResetPeriod,
    /// What the factor's exponent is divided by, at least 1; fair tree has no use for it. Default: 1.
    pub dampening_factor: u16,
    /// What has no effect, contradicts something, or is no more; in the order in which it was read.
    pub warnings: Vec<ConfWarning>,
}

impl Default for SlurmConf {
    fn default() -> Self {
        Self {
            priority_type: None,
            policy: ConfPolicy::default(),
            decay_half_life: 7 * 24 * 60 * 60,
            calc_period: 5 * 60,
            usage_reset_period: ResetPeriod::default(),
            dampening_factor: 1,
            warnings: Vec::new(),
        }
    }
}

impl SlurmConf {
    /// Reads the file and those that it includes.
    ///
    /// # Errors
    /// The file itself cannot be read. What it includes and cannot be read is a warning.
    pub fn read(path: &Path) -> Result<Self, ConfError> {
        let (folder, text) = Folder::around(path)?;
        Ok(Settings::collect(&path.display().to_string(), &text, &|name| folder.read(name)))
    }

    /// Reads a text alone: an `Include` in it is a warning.
    ///
    /// ```
    /// use job_sort_formula::slurm::conf::{ConfPolicy, SlurmConf};
    ///
    /// let conf = SlurmConf::parse("slurm.conf", b"PriorityType=priority/multifactor\npriorityflags=NO_FAIR_TREE\n");
    /// assert_eq!((conf.policy, conf.decay_half_life), (ConfPolicy::Classic, 604_800));
    /// assert_eq!(conf.warnings, []);
    /// ```
    pub fn parse(source_name: &str, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Settings::collect(source_name, &text, &|_| Err("only the one text is at hand".to_owned()))
    }
}

#[cfg(test)]
mod tests;
