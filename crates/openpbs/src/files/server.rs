//! The settings of a server and its scheduler that decide how a formula is applied.

use crate::files::objects::Objects;
use crate::files::schedulers;

/// The settings in a document; `None` for one that the document does not set, or whose value cannot
/// be read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServerSettings {
    /// Whether jobs accrue `eligible_time`.
    pub eligible_time_enable: Option<bool>,
    /// The value that a job must exceed to be run.
    pub job_sort_formula_threshold: Option<f64>,
    /// How many jobs the server has, without those that are over.
    pub total_jobs: Option<u64>,
    /// The version of PBS.
    pub pbs_version: Option<PbsVersion>,
}

/// The first three numbers of a version, such as `23.06.06`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PbsVersion(pub [u32; 3]);

impl PbsVersion {
    /// Reads a version; `None` if it does not begin with three numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().split('.').map(|number| {
            let end = number
                .find(|character: char| !character.is_ascii_digit())
                .unwrap_or(number.len());
            number[..end].parse().ok()
        });
        Some(Self([numbers.next()??, numbers.next()??, numbers.next()??]))
    }
}

impl std::fmt::Display for PbsVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [year, month, day] = self.0;
        write!(f, "{year}.{month}.{day}")
    }
}

impl ServerSettings {
    /// The settings of the server and of the scheduler that has a partition, or of its default one.
    ///
    /// ```
    /// use jsf_openpbs::files::objects::Objects;
    /// use jsf_openpbs::files::server::ServerSettings;
    ///
    /// let settings = ServerSettings::read(&Objects::read("set server eligible_time_enable = False\n"), None);
    /// assert_eq!((settings.eligible_time_enable, settings.job_sort_formula_threshold), (Some(false), None));
    /// ```
    pub fn read(objects: &Objects<'_>, partition: Option<&str>) -> Self {
        let mut settings = Self::default();
        for attribute in schedulers::in_force(objects, partition) {
            settings.set(
                &attribute.full_name(),
                attribute.value.text().unwrap_or_default(),
            );
        }
        settings
    }

    /// Fills in the settings that are missing here from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            eligible_time_enable: self.eligible_time_enable.or(other.eligible_time_enable),
            job_sort_formula_threshold: self
                .job_sort_formula_threshold
                .or(other.job_sort_formula_threshold),
            total_jobs: self.total_jobs.or(other.total_jobs),
            pbs_version: self.pbs_version.or(other.pbs_version),
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        match name {
            "eligible_time_enable" => self.eligible_time_enable = boolean(value),
            "job_sort_formula_threshold" => {
                self.job_sort_formula_threshold = value
                    .parse()
                    .ok()
                    .filter(|threshold: &f64| threshold.is_finite());
            }
            "total_jobs" => self.total_jobs = value.parse().ok(),
            "state_count" => self.total_jobs = self.total_jobs.or_else(|| jobs_in_states(value)),
            "pbs_version" => self.pbs_version = PbsVersion::parse(value),
            _ => {}
        }
    }
}

/// The jobs of a `state_count`, such as `Transit:0 Queued:2 Held:1`.
fn jobs_in_states(counts: &str) -> Option<u64> {
    let counts = counts
        .split_whitespace()
        .map(|state| state.rsplit(':').next()?.parse::<u64>().ok());
    counts.sum()
}

/// A Boolean in the server's syntax.
pub(super) fn boolean(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "t" | "y" | "1" => Some(true),
        "false" | "f" | "n" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_gives_the_same_settings() {
        for document in [
            "{\"Server\":{\"vm\":{\"eligible_time_enable\":\"False\",\"job_sort_formula_threshold\":7.5}}}",
            "Server: vm|eligible_time_enable=False|job_sort_formula_threshold=7.5\n",
            "\u{feff}Server: vm|eligible_time_enable=False|job_sort_formula_threshold=7.5\n",
            "Server: vm\n    eligible_time_enable = False\n    job_sort_formula_threshold = 7.5\n",
            "set server eligible_time_enable = False\nset sched default job_sort_formula_threshold = 7.5\n",
        ] {
            let settings = ServerSettings::read(&Objects::read(document), None);
            assert_eq!(settings.eligible_time_enable, Some(false), "{document}");
            assert_eq!(settings.job_sort_formula_threshold, Some(7.5), "{document}");
        }
        let formula = "Server: vm\n    job_sort_formula = eligible_time_enable == 1\n";
        assert_eq!(
            ServerSettings::read(&Objects::read(formula), None),
            ServerSettings::default()
        );
        assert_eq!(
            ServerSettings::read(&Objects::read("\u{0}{"), None),
            ServerSettings::default()
        );
    }
}
