//! Sites as folders, as `pbs_snapshot` folders and as archives; what is found, what is missing,
//! what is refused.

mod archives;
#[cfg(unix)]
mod capture;
mod implausible_usage;
mod python;
mod quoted_mail;
mod schedulers;
mod snapshots;
mod sort_keys;
pub mod support;
mod wrong_files;
