//! The file `slurm.conf`, or what `scontrol show config` prints of it.
//!
//! In: the file, and the files that it includes from its own folder. Out: the settings that affect
//! fair share and the priority of jobs, and the nodes and partitions. A value with which `slurmctld` does not start
//! is a [`ConfWarning`], and the setting keeps its default. Flags that contradict each other, or
//! that current releases do not have, are warnings too.

mod objects;
mod priority;
mod settings;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use job_sort_formula::diagnostic::{Message, Need};
use settings::Settings;
pub(crate) use settings::parse_minutes;
use thiserror::Error;

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
    pub warnings: Vec<ConfWarning>,
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
            priority: PrioritySettings::default(),
            objects: ConfObjects::default(),
            warnings: Vec::new(),
        }
    }
}

impl SlurmConf {
    /// Checks that slurmctld starts with the settings.
    ///
    /// # Errors
    /// The first setting with which it does not.
    pub fn require_start(&self) -> Result<(), String> {
        let mut faults = self.warnings.iter();
        match faults.find(|warning| warning.fault.prevents_start()) {
            Some(ConfWarning { file, line, fault }) => {
                Err(format!("`{file}`, line {line}: {fault}"))
            }
            None => Ok(()),
        }
    }

    /// Reads the file and the files that it includes.
    ///
    /// # Errors
    /// The file itself cannot be read. An included file that cannot be read is a warning.
    pub fn read(path: &Path) -> Result<Self, ConfError> {
        let (folder, text) = Folder::containing(path)?;
        Ok(Settings::collect(
            &path.display().to_string(),
            &text,
            &|name| folder.read(name),
        ))
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
        let text = String::from_utf8_lossy(bytes);
        Settings::collect(source_name, &text, &|_| {
            Err("the folder of `slurm.conf` is not known".to_owned())
        })
    }
}

/// A `slurm.conf` that cannot be read.
#[derive(Debug, Error)]
#[error("cannot read `{}`: {reason}", path.display())]
pub struct ConfError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    #[source]
    pub reason: io::Error,
}

/// A folder, by its canonical path.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens the folder of a file and reads the file's text.
    fn containing(file: &Path) -> Result<(Self, String), ConfError> {
        let parent = file
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        read_text(file)
            .and_then(|text| {
                Ok((
                    Self {
                        path: fs::canonicalize(parent)?,
                    },
                    text,
                ))
            })
            .map_err(|reason| ConfError {
                path: file.to_owned(),
                reason,
            })
    }

    /// The text of a file in the folder, or the reason why it is not read.
    fn read(&self, name: &str) -> Result<String, String> {
        let path = fs::canonicalize(self.path.join(name)).map_err(|error| error.to_string())?;
        if !path.starts_with(&self.path) {
            return Err("it is outside the folder of `slurm.conf`".to_owned());
        }
        // opening a pipe would wait for a writer
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                read_text(&path).map_err(|error| error.to_string())
            }
            Ok(_) => Err("it is not a regular file".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it is longer than {MAX_FILE_BYTES} bytes"),
        ));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A setting that is wrong, has no effect, or contradicts another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfWarning {
    /// The file, as `Include` names it.
    pub file: String,
    /// The line of the file, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: ConfFault,
}

impl From<&ConfWarning> for Message {
    fn from(warning: &ConfWarning) -> Self {
        let ConfWarning { file, line, fault } = warning;
        let text = format!("`{file}`, line {line}: {fault}");
        match fault {
            ConfFault::TicketBasedRemoved(_) => Self::asking(
                text + "; for 14.11 and earlier ",
                [Need::Policy("ticket-based")],
            ),
            ConfFault::BadValue { .. } => (text + ", the default is used").into(),
            _ => text.into(),
        }
    }
}

impl ConfFault {
    /// Whether slurmctld does not start with it.
    fn prevents_start(&self) -> bool {
        matches!(
            self,
            Self::NotASetting(_) | Self::NoValue(_) | Self::BadValue { .. } | Self::UnknownKey(_)
        )
    }
}

impl fmt::Display for ConfWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Message::from(self).fmt(f)
    }
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfFault {
    /// A line that is not a setting.
    #[error("`{0}` is not `Key=Value`; slurmctld does not start with it")]
    NotASetting(String),
    /// A key without a value.
    #[error(
        "`{0}` has no value: a parse error, with which slurmctld does not start; remove the line"
    )]
    NoValue(String),
    /// A value that `slurmctld` rejects.
    #[error("`{key}` is `{value}`, expected {expected}; slurmctld does not start with it")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The values that the setting accepts.
        expected: &'static str,
    },
    /// An unknown setting.
    #[error("`{0}` is not a Slurm setting; slurmctld does not start with it")]
    UnknownKey(String),
    /// A setting that was given before.
    #[error("`{key}` is on line {line} of `{file}` too; this line replaces it")]
    Repeated {
        /// The key.
        key: &'static str,
        /// The file of the earlier line.
        file: String,
        /// The earlier line.
        line: usize,
    },
    /// Flags that exclude each other.
    #[error("`{loser}` contradicts `{winner}`, which takes precedence")]
    Contradiction {
        /// The flag without effect.
        loser: &'static str,
        /// The flag that takes precedence.
        winner: &'static str,
    },
    /// A flag that is the default.
    #[error("`FAIR_TREE` is not a flag since 19.05, when fair tree became the default")]
    FairTreeIsDefault,
    /// A flag that was removed.
    #[error("`TICKET_BASED` was removed in 15.08 and is ignored: the policy is {0}")]
    TicketBasedRemoved(&'static str),
    /// An unknown flag.
    #[error("`{0}` is not a priority flag; slurmctld ignores it")]
    UnknownFlag(String),
    /// The plugin without fair share.
    #[error("under `priority/basic` jobs run in the order of submission; fair share has no effect")]
    NoFairShare,
    /// A plugin that was removed.
    #[error(
        "`priority/multifactor2` was removed: it became `priority/multifactor` with `TICKET_BASED`, which was removed too"
    )]
    Multifactor2Removed,
    /// An unknown plugin.
    #[error("the plugin `{0}` is not known; `priority/multifactor` is assumed")]
    UnknownPlugin(String),
    /// A dampening factor without effect.
    #[error("`FairShareDampeningFactor` has no effect under fair tree")]
    DampeningWithoutEffect,
    /// Usage that neither decays nor is reset.
    #[error("usage neither decays nor is reset; give `PriorityUsageResetPeriod` a period")]
    UsageOnlyGrows,
    /// An included file that is not read.
    #[error("`{name}` is not included: {reason}")]
    NotIncluded {
        /// The file.
        name: String,
        /// The reason.
        reason: String,
    },
}

#[cfg(test)]
mod tests;
