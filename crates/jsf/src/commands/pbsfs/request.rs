//! The arguments of `jsf pbsfs`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// `jsf pbsfs`
#[derive(Debug, Args)]
#[command(after_help = "\
Requests of pbsfs (the last one wins; -I NAME may be added):
  -p                  print the fair-share tree as a table (the default)
  -t                  print the tree, indented
  -g ENTITY           print one entity or group, and its path
  -c ENTITY1 ENTITY2  print which of the two has the higher fair-share priority

-s, -d and -e, which change the usage, are refused: jsf does not write a scheduler's files.
Without --sched-priv and --site the folder is that of the site in JSF_SITE, else $PBS_HOME/sched_priv.

Exit codes: 0 success, 1 an error that pbsfs reports, 2 a file that cannot be read, or -s, -d or -e.

Examples:
  jsf pbsfs --sched-priv examples/site/sched_priv -p
  jsf pbsfs -t --sched-priv examples/site/sched_priv")]
pub struct PbsfsArgs {
    /// The scheduler's folder sched_priv
    ///
    /// The folder with resource_group, usage and sched_config; may be given among the arguments too
    #[arg(long, value_name = "DIR")]
    pub sched_priv: Option<PathBuf>,
    /// The site whose sched_priv it is
    ///
    /// As for `jsf rank`; may be given among the arguments too
    #[arg(long, value_name = "PATH", conflicts_with = "sched_priv")]
    pub site: Option<PathBuf>,
    /// The arguments of pbsfs
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    pub arguments: Vec<OsString>,
}
