//! `jsf capture`: a shell script that copies the files of a site.

use std::io::Write;

use clap::Args;

use crate::cli::outcome::{CliError, Outcome};

/// `jsf capture`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf capture > capture.sh
  jsf capture --without-environment | head -20

The script only reads and needs no root. What it cannot read is noted in missing.txt in the folder that it makes. As root on \
the PBS server (sudo sh capture.sh my-site) it reads everything. On a login node of Slurm any user can run it, unless PrivateData \
hides the jobs of others. It leaves out the names, commands, folders and comments of Slurm's jobs.")]
pub struct CaptureArgs {
    /// Leave out the environments of jobs (Variable_List)
    #[arg(long)]
    without_environment: bool,
}

impl CaptureArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        const SETTING: &str = "\nwithout_environment=";
        let value = if self.without_environment { "1" } else { "" };
        let setting = format!("{SETTING}{value}");
        let script = include_str!("capture.sh").replacen(SETTING, &setting, 1);
        out.write_all(script.as_bytes())?;
        Ok(Outcome::Fine)
    }
}
