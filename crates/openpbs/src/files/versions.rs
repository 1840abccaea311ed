//! The versions of OpenPBS with their defects, and of the Python that a server embeds.
//!
//! In: `pbs_version`, a text that names a Python, and `/etc/os-release`. Out: a [`PbsVersion`] and a
//! [`PythonVersion`].

use std::collections::BTreeMap;

use job_sort_formula::PythonVersion;
use jsf_words::and_list;

/// The first three numbers of a version, such as `23.06.06`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PbsVersion(pub [u32; 3]);

impl PbsVersion {
    /// Reads a version; `None` if it does not begin with three numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('.');
        let mut numbers = [0; 3];
        for number in &mut numbers {
            let part = parts.next()?;
            let end = part.find(|character: char| !character.is_ascii_digit());
            *number = part[..end.unwrap_or(part.len())].parse().ok()?;
        }
        Some(Self(numbers))
    }
}

impl std::fmt::Display for PbsVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [year, month, day] = self.0;
        write!(f, "{year}.{month}.{day}")
    }
}

/// A defect of OpenPBS that concerns every formula, and the versions that have it.
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
pub fn defects_of(version: PbsVersion) -> impl Iterator<Item = &'static Defect> {
    DEFECTS
        .iter()
        .filter(move |defect| (defect.first..=defect.last).contains(&version))
}

/// The releases of a Linux distribution, each with the Python 3 of its system.
struct Distribution {
    name: &'static str,
    /// `ID` in `/etc/os-release`, of this one and of those that are built from the same sources.
    ids: &'static [&'static str],
    /// How the release begins, and the minor version of Python.
    releases: &'static [(&'static str, u8)],
}

const DISTRIBUTIONS: [Distribution; 4] = [
    Distribution {
        name: "Red Hat",
        ids: &["rhel", "centos", "rocky", "almalinux", "ol"],
        releases: &[("8", 6), ("9", 9)],
    },
    Distribution {
        name: "SLES",
        ids: &["sles", "sled", "opensuse-leap"],
        releases: &[("15", 6)],
    },
    Distribution {
        name: "Debian",
        ids: &["debian"],
        releases: &[("11", 9), ("12", 11)],
    },
    Distribution {
        name: "Ubuntu",
        ids: &["ubuntu"],
        releases: &[("20.04", 8), ("22.04", 10), ("24.04", 12)],
    },
];

/// The first version that a text names as `python --version` prints it (`Python 3.9.18`), as the
/// name of a library (`libpython3.6m.so.1.0`), or alone (`3.9`); `None` if it names none that is
/// known.
///
/// ```
/// use jsf_openpbs::files::versions::version_in;
///
/// let version = |text| version_in(text).map(|version| version.to_string());
/// assert_eq!(version("Python 3.9.18\n").as_deref(), Some("3.9"));
/// assert_eq!(version("libpython3.6m.so.1.0 => /lib64/libpython3.6m.so.1.0").as_deref(), Some("3.6"));
/// assert_eq!(version("Python 2.7.5"), None);
/// ```
pub fn version_in(text: &str) -> Option<PythonVersion> {
    // what follows each mention of Python, then the whole text
    for rest in text.split("ython").skip(1).chain([text]) {
        let rest = rest.trim_start();
        let end = rest.find(|character: char| !character.is_ascii_digit() && character != '.');
        if let Ok(version) = rest[..end.unwrap_or(rest.len())].parse() {
            return Some(version);
        }
    }
    None
}

/// The system that `/etc/os-release` describes, and the Python that an OpenPBS of this version has
/// there. `None` if the text describes none, or one of which that is not certain.
///
/// ```
/// use jsf_openpbs::files::versions::python_of_system;
/// use jsf_openpbs::files::versions::PbsVersion;
///
/// let system = "PRETTY_NAME=\"Rocky Linux 9.3 (Blue Onyx)\"\nID=\"rocky\"\nVERSION_ID=\"9.3\"\n";
/// let (version, name) = python_of_system(system, PbsVersion([23, 6, 6])).unwrap();
/// assert_eq!((version.to_string().as_str(), &*name), ("3.9", "Rocky Linux 9.3 (Blue Onyx)"));
/// // PBS Professional brings its own
/// assert_eq!(python_of_system(system, PbsVersion([2022, 1, 1])), None);
/// ```
pub fn python_of_system(os_release: &str, pbs: PbsVersion) -> Option<(PythonVersion, String)> {
    // since version 20, whose number is a year of two digits, an OpenPBS has the Python 3 of its
    // system; the number of a PBS Professional has four
    let PbsVersion([year, ..]) = pbs;
    if !(20..100).contains(&year) {
        return None;
    }
    let mut settings = BTreeMap::new();
    for line in os_release.lines() {
        if let Some((name, value)) = line.split_once('=') {
            settings.insert(name, value.trim().trim_matches(['"', '\'']));
        }
    }
    let (id, version) = (*settings.get("ID")?, *settings.get("VERSION_ID")?);
    let name = match settings.get("PRETTY_NAME") {
        Some(name) => (*name).to_owned(),
        None => format!("{id} {version}"),
    };
    let mut distributions = DISTRIBUTIONS.iter();
    let distribution = distributions.find(|distribution| distribution.ids.contains(&id))?;
    for &(release, minor) in distribution.releases {
        if let Some(rest) = version.strip_prefix(release)
            && (rest.is_empty() || rest.starts_with('.'))
        {
            return Some((PythonVersion::new(minor)?, name));
        }
    }
    None
}

/// The systems whose Python is one of `versions`, in words: `Red Hat 8 and 9, Ubuntu 20.04`; empty
/// if no system has one.
pub fn systems_with(versions: &[PythonVersion]) -> String {
    let mut systems = Vec::new();
    for Distribution { name, releases, .. } in &DISTRIBUTIONS {
        let mut listed = Vec::new();
        for &(release, minor) in *releases {
            if versions.iter().any(|version| version.minor() == minor) {
                listed.push(release);
            }
        }
        if !listed.is_empty() {
            systems.push(format!("{name} {}", and_list(&listed)));
        }
    }
    systems.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_of_a_system_is_known_where_it_is_certain() {
        let openpbs = PbsVersion([23, 6, 6]);
        let of = |id: &str, version: &str| {
            let found = python_of_system(&format!("ID={id}\nVERSION_ID='{version}'\n"), openpbs);
            found.map(|(version, _)| version.to_string())
        };
        for (id, version, expected) in [
            ("rhel", "8.10", Some("3.6")),
            ("\"almalinux\"", "9.4", Some("3.9")),
            ("sles", "15.5", Some("3.6")),
            ("debian", "11", Some("3.9")),
            ("debian", "12", Some("3.11")),
            ("ubuntu", "20.04", Some("3.8")),
            ("ubuntu", "22.04", Some("3.10")),
            ("ubuntu", "24.04", Some("3.12")),
            ("ubuntu", "23.10", None),
            ("rhel", "80", None),
            ("arch", "8", None),
        ] {
            assert_eq!(of(id, version).as_deref(), expected, "{id} {version}");
        }
        assert_eq!(
            python_of_system("ID=debian\nVERSION_ID=12\n", PbsVersion([19, 1, 3])),
            None
        );
        assert_eq!(python_of_system("", openpbs), None);
    }

    #[test]
    fn systems_are_listed_by_their_versions() {
        let all: Vec<PythonVersion> = PythonVersion::all().collect();
        let expected = "Red Hat 8 and 9, SLES 15, Debian 11 and 12, Ubuntu 20.04, 22.04 and 24.04";
        assert_eq!(systems_with(&all), expected);
        assert_eq!(systems_with(&all[..2]), "Red Hat 8, SLES 15");
        assert_eq!(systems_with(&all[1..2]), "");
    }

    #[test]
    fn a_text_without_a_known_version_names_none() {
        for text in [
            "",
            "Python",
            "Python 3",
            "Python 3.5.2",
            "pbs_version = 23.06.06",
            "Python 4.0",
        ] {
            assert_eq!(version_in(text), None, "{text:?}");
        }
        assert_eq!(version_in("3.12\n"), PythonVersion::new(12));
    }
}
