//! The commands: what is asked, what is answered, and how it is shown to people.

pub mod check;
#[cfg(feature = "command")]
pub mod codes;
pub mod compare;
pub mod cycle;
pub mod explain;
pub mod fit;
#[cfg(feature = "command")]
pub mod fmt;
#[cfg(feature = "command")]
pub mod names;
pub mod page;
#[cfg(feature = "command")]
pub mod pbsfs;
pub mod rank;
pub mod replay;
pub mod shares;
pub mod simulate;
pub mod trajectory;
#[cfg(feature = "command")]
pub mod translate;

/// `jsf capture`: prints the script that copies the files of a site.
#[cfg(feature = "command")]
pub(crate) fn write_capture_script(
    without_environment: bool,
    out: &mut impl std::io::Write,
) -> Result<crate::cli::outcome::Outcome, crate::cli::outcome::CliError> {
    const SETTING: &str = "\nwithout_environment=";
    let script = include_str!("capture.sh");
    let value = if without_environment { "1" } else { "" };
    out.write_all(
        script
            .replacen(SETTING, &format!("{SETTING}{value}"), 1)
            .as_bytes(),
    )?;
    Ok(crate::cli::outcome::Outcome::Fine)
}
