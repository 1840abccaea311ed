//! Defects of OpenPBS that concern every formula and that depend on its version.

use crate::files::server::PbsVersion;

/// A defect, and the versions that have it.
#[derive(Debug, Clone, Copy)]
pub struct Defect {
    /// The first version with the defect, as the server states it.
    first: PbsVersion,
    /// The last version with the defect.
    last: PbsVersion,
    /// The numbers of the issues in the project `openpbs/openpbs`.
    pub issues: &'static str,
    /// What happens.
    pub effect: &'static str,
    /// Which servers of these versions have it, and what to do.
    pub help: &'static str,
}

/// Every known defect.
///
/// Issue 2475: since commit c3d8a5490 of 2021-03-22 the server ends its first Python interpreter
/// before it reads its attributes, so that it cannot validate the formula and ends. Commit
/// c2a397e58 of 2022-05-12 (pull request 2533) mends that. No tag of a release has the one without
/// the other, but what is built in between states the version 20.0.0.
const DEFECTS: &[Defect] = &[Defect {
    first: PbsVersion([20, 0, 0]),
    last: PbsVersion([20, 0, 0]),
    issues: "2475 and 2530",
    effect: "a server that has a formula may not come up again after a restart",
    help: "servers built from the development branch of 22 March 2021 to 12 May 2022 call themselves 20.0.0 and have the \
           defect, but the releases 20.0.0, 20.0.1 and 22.05.11 do not; unset the formula before a restart, or update \
           OpenPBS",
}];

/// The defects of a version.
pub fn of_version(version: PbsVersion) -> impl Iterator<Item = &'static Defect> {
    DEFECTS
        .iter()
        .filter(move |defect| (defect.first..=defect.last).contains(&version))
}
