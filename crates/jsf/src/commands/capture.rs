//! `jsf capture`

use std::io::Write;

use crate::cli::{CliError, Outcome};

pub(crate) fn run(without_environment: bool, out: &mut impl Write) -> Result<Outcome, CliError> {
    const SETTING: &str = "\nwithout_environment=";
    let script = include_str!("capture.sh");
    let value = if without_environment { "1" } else { "" };
    out.write_all(
        script
            .replacen(SETTING, &format!("{SETTING}{value}"), 1)
            .as_bytes(),
    )?;
    Ok(Outcome::Fine)
}
