//! The file `slurm.conf`, or what `scontrol show config` prints of it.
//!
//! In: the file, and the files that it includes from its own folder. Out: the settings that affect
//! fair share and the priority of jobs, and the nodes and partitions. A value with which `slurmctld` does not start
//! is a warning, and the setting keeps its default. Flags that contradict each other, or
//! that current releases do not have, are warnings too.

mod objects;
mod priority;
mod settings;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use job_sort_formula::diagnostic::Message;
use settings::Settings;
pub(crate) use settings::parse_minutes;

pub use objects::ConfObjects;
pub use priority::{PrioritySettings, TresWeight};

/// The most bytes that are read of one file.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// The most files that are read, `slurm.conf` included.
pub const MAX_FILES: usize = 64;
/// The most levels of nested `Include`s.
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
    /// The policy's name, as in `--policy`.
    pub fn name(self) -> &'static str {
        match self {
            Self::FairTree => "fair-tree",
            Self::DepthOblivious => "depth-oblivious",
            Self::Classic => "classic",
        }
    }
}

/// When all usage is reset to 0.
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

/// The settings that affect fair share.
#[derive(Debug, Clone, PartialEq)]
pub struct SlurmConf {
    /// The priority plugin; `None` if the file does not set it. The default is `priority/basic`
    /// before 23.11.
    pub priority_type: Option<String>,
    /// The version of Slurm, which only `scontrol show config` prints.
    pub version: Option<String>,
    /// The policy, which applies under `priority/multifactor` only.
    pub policy: ConfPolicy,
    /// Whether `PriorityFlags` is set, which chooses the policy.
    pub sets_flags: bool,
    /// Whether `decay_half_life` is read from the files.
    pub sets_half_life: bool,
    /// Whether `dampening_factor` is read from the files.
    pub sets_dampening: bool,
    /// `PriorityDecayHalfLife` in seconds, 0 for usage that does not decay. Default: 7 days.
    pub decay_half_life: u32,
    /// `PriorityCalcPeriod`: the time between two calculations, in seconds. Default: 300.
    pub calc_period: u32,
    /// `PriorityUsageResetPeriod`: when all usage is reset to 0. Default: never.
    pub usage_reset_period: ResetPeriod,
    /// `FairShareDampeningFactor`, the divisor of the factor's exponent, 1..=65535; not used by
    /// fair tree. Default: 1.
    pub dampening_factor: u16,
    /// The name of the cluster.
    pub cluster: Option<String>,
    /// Whether `scontrol show config` printed the settings. Before 23.02 it prints `NO_NORMAL_ALL`
    /// for each of the flags that begin with `NO_NORMAL_`.
    pub is_printed: bool,
    /// The settings of the multifactor priority.
    pub priority: PrioritySettings,
    /// The nodes and partitions of `slurm.conf`.
    pub objects: ConfObjects,
    /// The settings that are invalid, have no effect, contradict others or were removed, in the
    /// order of the files.
    pub warnings: Vec<Message>,
    /// The first of them with which `slurmctld` does not start.
    start_fault: Option<String>,
}

impl Default for SlurmConf {
    fn default() -> Self {
        Self {
            priority_type: None,
            version: None,
            policy: ConfPolicy::default(),
            sets_flags: false,
            sets_half_life: false,
            sets_dampening: false,
            decay_half_life: 7 * 24 * 60 * 60,
            calc_period: 5 * 60,
            usage_reset_period: ResetPeriod::default(),
            dampening_factor: 1,
            cluster: None,
            is_printed: false,
            priority: PrioritySettings {
                max_age: 7 * 24 * 60 * 60,
                ..PrioritySettings::default()
            },
            objects: ConfObjects::default(),
            warnings: Vec::new(),
            start_fault: None,
        }
    }
}

impl SlurmConf {
    /// Checks that slurmctld starts with the settings.
    ///
    /// # Errors
    /// The first setting with which it does not.
    pub fn require_start(&self) -> Result<(), String> {
        self.start_fault.clone().map_or(Ok(()), Err)
    }

    /// Reads a text without its folder: an `Include` in it is a warning.
    ///
    /// ```
    /// use jsf_slurm::conf::{ConfPolicy, SlurmConf};
    ///
    /// let conf = SlurmConf::parse("slurm.conf", b"PriorityType=priority/multifactor\npriorityflags=NO_FAIR_TREE\n");
    /// assert_eq!((conf.policy, conf.decay_half_life), (ConfPolicy::Classic, 604_800));
    /// assert_eq!(conf.warnings, []);
    /// ```
    pub fn parse(source_name: &str, bytes: &[u8]) -> Self {
        Self::parse_in(source_name, bytes, None)
    }

    /// Reads a text in its folder, from which it may include files. One that cannot be read is a
    /// warning.
    pub fn parse_in(source_name: &str, bytes: &[u8], folder: Option<&Path>) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Settings::collect(source_name, &text, folder)
    }
}

/// The text of a file in a folder; an error says why it is not read.
fn read_included(folder: Option<&Path>, name: &str) -> io::Result<String> {
    let Some(mut folder) = folder else {
        return Err(io::Error::other("the folder of `slurm.conf` is not known"));
    };
    if folder.as_os_str().is_empty() {
        folder = Path::new(".");
    }
    let folder = fs::canonicalize(folder)?;
    let path = fs::canonicalize(folder.join(name))?;
    if !path.starts_with(&folder) {
        return Err(io::Error::other("it is outside the folder of `slurm.conf`"));
    }
    // opening a pipe would wait for a writer
    if !fs::metadata(&path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let fault = format!("it is longer than {MAX_FILE_BYTES} bytes");
        return Err(io::Error::other(fault));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
