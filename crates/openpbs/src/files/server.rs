//! The settings of a server and its scheduler that decide how a formula is applied.

use serde_json::{Map, Value};

use crate::files::schedulers;

/// The settings in a document; `None` for one that the document does not set, or whose value cannot be read.
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
            let end = number.find(|character: char| !character.is_ascii_digit()).unwrap_or(number.len());
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

/// The attributes of the servers in the output of `qstat -Bf -F json`; `None` for another document. Of a key that is
/// given more than once the last value counts.
pub(super) fn servers_in_json(document: &str) -> Option<Vec<Map<String, Value>>> {
    let mut document: Map<String, Value> = serde_json::from_str(document).ok()?;
    let Some(Value::Object(servers)) = document.remove("Server") else { return None };
    servers
        .into_iter()
        .map(|(_, server)| if let Value::Object(server) = server { Some(server) } else { None })
        .collect()
}

/// The text of an attribute: qstat prints without quotes what looks like a number.
pub(super) fn attribute_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl ServerSettings {
    /// Reads `qstat -Bf` as JSON, dsv or text, and `print server`, `list server`, `print sched` or `list sched` of
    /// `qmgr`: of a document that is not JSON, every line `NAME = VALUE` is read, unless it is about a scheduler other than
    /// the default one, whose threshold is its own.
    ///
    /// ```
    /// use jsf_openpbs::files::server::ServerSettings;
    ///
    /// let settings = ServerSettings::read("set server eligible_time_enable = False\n");
    /// assert_eq!((settings.eligible_time_enable, settings.job_sort_formula_threshold), (Some(false), None));
    /// ```
    pub fn read(document: &str) -> Self {
        let mut settings = Self::default();
        each_attribute(document, |name, value| settings.set(name, value));
        settings
    }

    /// Fills in the settings that are missing here from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            eligible_time_enable: self.eligible_time_enable.or(other.eligible_time_enable),
            job_sort_formula_threshold: self.job_sort_formula_threshold.or(other.job_sort_formula_threshold),
            total_jobs: self.total_jobs.or(other.total_jobs),
            pbs_version: self.pbs_version.or(other.pbs_version),
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        match name {
            "eligible_time_enable" => self.eligible_time_enable = boolean(value),
            "job_sort_formula_threshold" => {
                self.job_sort_formula_threshold = value.parse().ok().filter(|threshold: &f64| threshold.is_finite());
            }
            "total_jobs" => self.total_jobs = value.parse().ok(),
            "state_count" => self.total_jobs = self.total_jobs.or_else(|| jobs_in_states(value)),
            "pbs_version" => self.pbs_version = PbsVersion::parse(value),
            _ => {}
        }
    }
}

/// Passes on the attributes of the server and of the default scheduler with their values.
pub(super) fn each_attribute(document: &str, mut set: impl FnMut(&str, &str)) {
    let document = document.trim_start_matches('\u{feff}');
    if let Some(servers) = servers_in_json(document) {
        for (name, value) in servers.iter().flatten() {
            set(name, &attribute_text(value));
        }
        return;
    }
    let document = schedulers::of_scheduler(document, schedulers::DEFAULT);
    // the lines of `-F dsv` come last, so that their values count
    let (dsv_lines, lines): (Vec<&str>, Vec<&str>) =
        document.lines().partition(|line| line.starts_with("Server: ") && line.contains('|'));
    for line in lines.into_iter().chain(dsv_lines.into_iter().flat_map(|line| line.split('|'))) {
        if let Some((left, value)) = line.split_once('=') {
            let name = left.split_whitespace().next_back().unwrap_or("");
            set(name, value.trim().trim_matches('"'));
        }
    }
}

/// The jobs of a `state_count`, such as `Transit:0 Queued:2 Held:1`.
fn jobs_in_states(counts: &str) -> Option<u64> {
    let counts = counts.split_whitespace().map(|state| state.rsplit(':').next()?.parse::<u64>().ok());
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
            let settings = ServerSettings::read(document);
            assert_eq!(settings.eligible_time_enable, Some(false), "{document}");
            assert_eq!(settings.job_sort_formula_threshold, Some(7.5), "{document}");
        }
        let formula = "Server: vm\n    job_sort_formula = eligible_time_enable == 1\n";
        assert_eq!(ServerSettings::read(formula), ServerSettings::default());
        assert_eq!(ServerSettings::read("\u{0}{"), ServerSettings::default());
    }
}
