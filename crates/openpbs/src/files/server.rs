//! The attributes of a server and its scheduler that decide how a formula is applied, and what a
//! scheduling cycle does; the schedulers that a document describes; the custom resources; and the
//! versions of OpenPBS with their defects, and of the Python that a server embeds.
//!
//! In: the documents of the server, `qmgr -c 'list sched'` or `'print sched'`, a `resourcedef`, a text
//! that names a Python, and `/etc/os-release`. Out: [`ServerSettings`], [`ListedScheduler`]s, the names of
//! a [`Schema`], and a [`PythonVersion`].
//!
//! A server may have schedulers beside the default one. The jobs of a queue with a `partition` belong
//! to the scheduler with that partition, all others to the default one. The formula of the default
//! scheduler is an attribute of the server or of `sched default`; both write the same file, and the
//! server refuses to have two that differ. Any other scheduler has its formula, or that of the server,
//! in its own folder.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::schema::InputType;
use job_sort_formula::{PythonVersion, Schema};
use jsf_json::clipped;
use jsf_words::and_list;

use crate::files::objects::{Attribute, DEFAULT, Object, ObjectKind, Objects, last};

/// The attributes in force, as they are written. One that cannot be read counts as unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSettings {
    attributes: BTreeMap<String, String>,
}

/// The window if `opt_backfill_fuzzy` is not set, in seconds.
pub const DEFAULT_BACKFILL_FUZZY: u32 = 60;

/// The attributes that change what a cycle does and have no method of their own here, with their
/// defaults: placement sets, preemption, and how the scheduler waits for the start of a job.
const OTHER_ATTRIBUTES: [(&str, &str); 9] = [
    ("do_not_span_psets", "False"),
    ("only_explicit_psets", "False"),
    ("node_group_enable", "False"),
    ("preempt_prio", "express_queue, normal_jobs"),
    ("preempt_order", "SCR"),
    ("preempt_targets_enable", "True"),
    ("sched_preempt_enforce_resumption", "False"),
    ("throughput_mode", "True"),
    ("job_run_wait", "runjob_hook"),
];

impl ServerSettings {
    /// The attributes of the server and of the scheduler that has a partition, or of its default
    /// one.
    ///
    /// ```
    /// use jsf_openpbs::files::objects::Objects;
    /// use jsf_openpbs::files::server::ServerSettings;
    ///
    /// let listed = Objects::read("Sched default\n    opt_backfill_fuzzy = medium\n    throughput_mode = False\n");
    /// let settings = ServerSettings::read(&listed, None);
    /// assert_eq!(settings.backfill_fuzzy(), 600);
    /// assert_eq!(settings.others().collect::<Vec<_>>(), [("throughput_mode", "False")]);
    /// ```
    pub fn read(objects: &Objects<'_>, partition: Option<&str>) -> Self {
        let mut settings = Self::default();
        settings.add(objects, partition);
        settings
    }

    /// Adds the attributes that the documents before do not have.
    pub fn add(&mut self, objects: &Objects<'_>, partition: Option<&str>) {
        let mut given = BTreeMap::new();
        for attribute in in_force(objects, partition) {
            let value = attribute.value.text().unwrap_or_default();
            given.insert(attribute.full_name().into_owned(), value.to_owned());
        }
        given.retain(|_, value| !value.is_empty());
        given.append(&mut self.attributes);
        self.attributes = given;
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Whether jobs accrue `eligible_time`.
    pub fn eligible_time_enable(&self) -> Option<bool> {
        boolean(self.get("eligible_time_enable")?)
    }

    /// The value that a job must exceed to be run.
    pub fn job_sort_formula_threshold(&self) -> Option<f64> {
        let threshold: f64 = self.get("job_sort_formula_threshold")?.parse().ok()?;
        Some(threshold).filter(|threshold| threshold.is_finite())
    }

    /// How many jobs the server has, without those that are over.
    pub fn total_jobs(&self) -> Option<u64> {
        let total = self.get("total_jobs").and_then(|total| total.parse().ok());
        total.or_else(|| jobs_in_states(self.get("state_count")?))
    }

    /// The version of PBS.
    pub fn pbs_version(&self) -> Option<PbsVersion> {
        PbsVersion::parse(self.get("pbs_version")?)
    }

    /// The seconds of a window in which the start of a reserved job is estimated
    /// (`opt_backfill_fuzzy`): `off` is 1, `low` 60, `medium` 600 and `high` 3600.
    pub fn backfill_fuzzy(&self) -> u32 {
        let window = self.get("opt_backfill_fuzzy").and_then(window);
        window.unwrap_or(DEFAULT_BACKFILL_FUZZY)
    }

    /// The least priority of an express queue. Since version 20 this attribute counts, and that in
    /// `sched_config` does not.
    pub fn preempt_queue_prio(&self) -> Option<i32> {
        self.get("preempt_queue_prio")?.parse().ok()
    }

    /// The other attributes that change what a cycle does and whose value is not the default, by
    /// their names: placement sets, preemption, and how the scheduler waits for the start of a job.
    pub fn others(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().filter_map(|(name, value)| {
            let mut others = OTHER_ATTRIBUTES.iter();
            let (name, default) = others.find(|(other, _)| other == name)?;
            (!is_equal(value, default)).then_some((*name, value.as_str()))
        })
    }

    /// `preempt_prio`: the levels of jobs in preemption, from high to low.
    pub fn preempt_prio(&self) -> &str {
        self.get_or_default("preempt_prio")
    }

    /// `preempt_order`: how jobs give way.
    pub fn preempt_order(&self) -> &str {
        self.get_or_default("preempt_order")
    }

    /// One of the other attributes.
    fn get_or_default(&self, name: &str) -> &str {
        let mut others = OTHER_ATTRIBUTES.iter();
        let default = others.find(|(other, _)| *other == name);
        let default = default.map_or("", |(_, default)| default);
        self.get(name).unwrap_or(default)
    }

    /// Whether jobs may name the jobs that they preempt (`preempt_targets_enable`).
    pub fn has_preempt_targets(&self) -> bool {
        boolean(self.get_or_default("preempt_targets_enable")) != Some(false)
    }

    /// Whether an attribute is true.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).and_then(boolean) == Some(true)
    }
}

/// The jobs of a `state_count`, such as `Transit:0 Queued:2 Held:1`.
fn jobs_in_states(counts: &str) -> Option<u64> {
    let mut total: u64 = 0;
    for state in counts.split_whitespace() {
        total = total.checked_add(state.rsplit(':').next()?.parse().ok()?)?;
    }
    Some(total)
}

/// A Boolean in the server's syntax.
pub fn boolean(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "t" | "y" | "1" => Some(true),
        "false" | "f" | "n" | "0" => Some(false),
        _ => None,
    }
}

/// The seconds of a window; `None` if it is not one that the server accepts.
fn window(value: &str) -> Option<u32> {
    match value.to_ascii_lowercase().as_str() {
        "off" => Some(1),
        "low" => Some(60),
        "med" | "medium" => Some(600),
        "high" => Some(3600),
        // less than a second is no window
        seconds => seconds.parse().ok().map(|seconds: u32| seconds.max(1)),
    }
}

/// Whether two values are the same, in whichever way they are written.
fn is_equal(value: &str, default: &str) -> bool {
    match (boolean(value), boolean(default)) {
        (Some(value), Some(default)) => value == default,
        _ => value.split_whitespace().eq(default.split_whitespace()),
    }
}

/// The partition of the default scheduler.
pub const DEFAULT_PARTITION: &str = "pbs-default";

/// A scheduler that a document describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedScheduler {
    /// Its name.
    pub name: String,
    /// Its partition.
    pub partition: Option<String>,
    /// The name of the folder with its files (`sched_priv`), which by default is named after it.
    pub folder: String,
    /// Its formula.
    pub formula: Option<SourceFormula>,
}

impl ListedScheduler {
    fn new(name: &str, attributes: &[&Attribute<'_>]) -> Self {
        let mut scheduler = Self {
            name: name.to_owned(),
            partition: None,
            folder: format!("sched_priv_{name}"),
            formula: SourceFormula::in_attributes(attributes.iter().copied()),
        };
        if let Some(partition) = last(attributes.iter().copied(), "partition") {
            scheduler.partition = partition.value.text().map(str::to_owned);
        }
        if let Some(path) = last(attributes.iter().copied(), "sched_priv")
            && let Some(path) = path.value.text()
            && let Some(folder) = path.trim_end_matches('/').rsplit('/').next()
        {
            scheduler.folder = folder.to_owned();
        }
        scheduler
    }

    fn has_partition(&self, partition: &str) -> bool {
        let Some(names) = &self.partition else {
            return false;
        };
        names.split(',').any(|name| name.trim() == partition)
    }
}

/// The schedulers that a document describes, in alphabetical order.
pub fn listed_schedulers(objects: &Objects<'_>) -> Vec<ListedScheduler> {
    let mut attributes: BTreeMap<&str, Vec<&Attribute<'_>>> = BTreeMap::new();
    for scheduler in objects.of(ObjectKind::Scheduler) {
        let listed_attributes = attributes.entry(&scheduler.name).or_default();
        listed_attributes.extend(&scheduler.attributes);
    }
    let mut listed = Vec::new();
    for (name, attributes) in attributes {
        listed.push(ListedScheduler::new(name, &attributes));
    }
    listed
}

/// The scheduler that a document describes and that has a partition.
pub fn scheduler_of_partition(objects: &Objects<'_>, partition: &str) -> Option<ListedScheduler> {
    let mut listed = listed_schedulers(objects).into_iter();
    listed.find(|scheduler| scheduler.has_partition(partition))
}

/// The attributes in force for the scheduler that has a partition, or for the default one: those of
/// the server, then its own, which come before them. Another scheduler has its own threshold.
fn in_force<'o, 't>(objects: &'o Objects<'t>, partition: Option<&str>) -> Vec<&'o Attribute<'t>> {
    let mut attributes: Vec<_> = objects.attributes_of(ObjectKind::Server).collect();
    let mut name = DEFAULT.to_owned();
    if let Some(partition) = partition {
        attributes.retain(|attribute| attribute.name != "job_sort_formula_threshold");
        match scheduler_of_partition(objects, partition) {
            Some(scheduler) => name = scheduler.name,
            None => return attributes,
        }
    }
    for scheduler in objects.of(ObjectKind::Scheduler) {
        if *scheduler.name == *name {
            attributes.extend(&scheduler.attributes);
        }
    }
    attributes
}

/// The most lines that are reported.
const MAX_PROBLEMS: usize = 10_000;

/// Adds the resources that a document declares to a schema. A resource without a type is a string,
/// as in PBS; a built-in resource is not changed.
///
/// Returns what is said of the declarations that cannot be read, which do not affect the others, at
/// most the first 10,000.
///
/// ```
/// use jsf_openpbs::files::objects::Objects;
/// use jsf_openpbs::files::server::add_resources;
/// use job_sort_formula::schema::Schema;
///
/// let mut schema = Schema::openpbs();
/// let resourcedef = Objects::read_resourcedef("base_score type=long\ngpu_model type=string flag=h\n");
/// assert!(add_resources("resourcedef", &resourcedef, &mut schema).is_empty());
/// assert!(schema.is_numeric("base_score") && !schema.is_numeric("gpu_model"));
/// ```
pub fn add_resources(source_name: &str, objects: &Objects<'_>, schema: &mut Schema) -> Vec<String> {
    let mut problems = Vec::new();
    for resource in objects.of(ObjectKind::Resource) {
        if let Err(problem) = add_resource(resource, schema)
            && problems.len() < MAX_PROBLEMS
        {
            problems.push(problem);
        }
    }
    problems.sort_by_key(|(line, _)| *line);
    let said = problems.iter();
    said.map(|(line, reason)| format!("`{source_name}` line {line}: {reason}"))
        .collect()
}

/// The names of the resources that a document declares.
pub fn declared_names<'o>(objects: &'o Objects<'_>) -> BTreeSet<&'o str> {
    objects.of(ObjectKind::Resource).flat_map(names).collect()
}

fn names<'o>(resource: &'o Object<'_>) -> impl Iterator<Item = &'o str> {
    resource.name.split(',').filter(|name| !name.is_empty())
}

/// Adds one resource, or those that are declared together. An error is a line, and what is wrong
/// with it.
fn add_resource(resource: &Object<'_>, schema: &mut Schema) -> Result<(), (usize, String)> {
    let kind = last(&resource.attributes, "type");
    if resource.is_declared || kind.is_some() {
        let mut input_type = InputType::Text;
        if let Some(kind) = kind {
            input_type = resource_type(kind.value.text().unwrap_or_default())
                .map_err(|reason| (kind.place.line, reason))?;
        }
        for name in names(resource) {
            if !is_resource_name(name) {
                return Err((
                    resource.line,
                    format!("`{}` is not a resource name", clipped(name)),
                ));
            }
            schema.add_listed(name, input_type);
        }
    }
    // those that are read-only or invisible `qsub` refuses to everyone (pbs_resources(7B)); of
    // those with `m`, which are passed to the execution hosts, the amounts are taken to be the
    // site's too
    let flags = resource.get("flag").unwrap_or_default();
    if flags.contains(['r', 'i', 'm']) {
        for name in names(resource) {
            schema.withhold(name);
        }
    }
    Ok(())
}

fn resource_type(word: &str) -> Result<InputType, String> {
    match InputType::from_pbs_type(word) {
        Some(input_type) => Ok(input_type),
        None => Err(format!(
            "`{}` is not a resource type, expected long, float, size, string, string_array or boolean",
            clipped(word)
        )),
    }
}

/// The longest name of a resource, in bytes.
pub const MAX_RESOURCE_NAME: usize = 255;

/// Whether a resource may have this name: letters, digits, `_` and `-`, starting with a letter, and
/// at most [`MAX_RESOURCE_NAME`] of them.
pub fn is_resource_name(name: &str) -> bool {
    // OpenPBS allows a `-` too, though no formula can use such a name
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c));
    name.len() <= MAX_RESOURCE_NAME
        && rest.is_empty()
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// A formula, and where its document has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFormula {
    /// The formula.
    pub text: String,
    /// The byte of the document at which it begins, with its quotes.
    pub at: usize,
}

impl SourceFormula {
    /// The formula among the attributes of an object.
    pub(super) fn in_attributes<'a, 't: 'a>(
        attributes: impl IntoIterator<Item = &'a Attribute<'t>>,
    ) -> Option<Self> {
        let formula = last(attributes, "job_sort_formula")?;
        Some(Self {
            text: formula.value.text()?.to_owned(),
            at: formula.place.at,
        })
    }

    /// The formula of the server.
    pub fn of_server(objects: &Objects<'_>) -> Option<Self> {
        Self::in_attributes(objects.attributes_of(ObjectKind::Server))
    }
}

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
/// use jsf_openpbs::files::server::version_in;
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
/// use jsf_openpbs::files::server::python_of_system;
/// use jsf_openpbs::files::server::PbsVersion;
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
    fn every_format_gives_the_same_settings() {
        for document in [
            "{\"Server\":{\"vm\":{\"eligible_time_enable\":\"False\",\"job_sort_formula_threshold\":7.5}}}",
            "Server: vm|eligible_time_enable=False|job_sort_formula_threshold=7.5\n",
            "\u{feff}Server: vm|eligible_time_enable=False|job_sort_formula_threshold=7.5\n",
            "Server: vm\n    eligible_time_enable = False\n    job_sort_formula_threshold = 7.5\n",
            "set server eligible_time_enable = False\nset sched default job_sort_formula_threshold = 7.5\n",
        ] {
            let settings = ServerSettings::read(&Objects::read(document), None);
            assert_eq!(settings.eligible_time_enable(), Some(false), "{document}");
            assert_eq!(
                settings.job_sort_formula_threshold(),
                Some(7.5),
                "{document}"
            );
        }
        let formula = "Server: vm\n    job_sort_formula = eligible_time_enable == 1\n";
        let settings = ServerSettings::read(&Objects::read(formula), None);
        assert_eq!(settings.eligible_time_enable(), None);
        assert_eq!(
            ServerSettings::read(&Objects::read("\u{0}{"), None),
            ServerSettings::default()
        );
    }

    fn recorded(name: &str) -> ServerSettings {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/golden/openpbs/qstat/"
        );
        let text = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
        ServerSettings::read(&Objects::read(&text), None)
    }

    #[test]
    fn the_recorded_listings_have_the_defaults() {
        for (name, express) in [
            ("qmgr_list_sched.txt", Some(150)),
            ("qmgr_print_sched.txt", Some(150)),
            ("qstat_Bf.json", None),
            ("qstat_Bf.txt", None),
            ("qmgr_print_server.txt", None),
        ] {
            let settings = recorded(name);
            assert_eq!(settings.preempt_queue_prio(), express, "{name}");
            assert_eq!(settings.backfill_fuzzy(), DEFAULT_BACKFILL_FUZZY, "{name}");
            assert_eq!(settings.others().next(), None, "{name}");
        }
    }

    #[test]
    fn windows_are_in_seconds() {
        for (value, seconds) in [
            ("off", Some(1)),
            ("LOW", Some(60)),
            ("med", Some(600)),
            ("high", Some(3600)),
            ("90", Some(90)),
            ("x", None),
        ] {
            assert_eq!(window(value), seconds, "{value}");
        }
    }

    #[test]
    fn attributes_away_from_their_defaults_are_named() {
        let document = "set sched only_explicit_psets = true\nset sched preempt_prio = \"express_queue,  normal_jobs\"\n\
            set sched throughput_mode = t\nset server node_group_enable = True\n\
            set sched gpu opt_backfill_fuzzy = high\nset sched gpu throughput_mode = False\n";
        let mut settings = ServerSettings::read(&Objects::read(document), None);
        assert_eq!(
            settings.others().collect::<Vec<_>>(),
            [
                ("node_group_enable", "True"),
                ("only_explicit_psets", "true")
            ]
        );
        assert_eq!(settings.backfill_fuzzy(), DEFAULT_BACKFILL_FUZZY);
        let other = "set sched opt_backfill_fuzzy = high\nset sched only_explicit_psets = False\n";
        settings.add(&Objects::read(other), None);
        assert_eq!(settings.backfill_fuzzy(), 3600);
        assert!(settings.is_true("only_explicit_psets"));
    }

    const PRINTED: &str = "create sched default\nset sched partition = pbs-default\nset sched job_sort_formula = a\n\
        create sched gpu\nset sched gpu partition = p1\nset sched gpu sched_priv = /var/spool/pbs/priv_gpu\n\
        set sched gpu job_sort_formula = \"b + 1\"\nset server x = 1\n";
    const LISTED: &str = "Sched gpu\n    partition = p1\n    sched_priv = /var/spool/pbs/priv_gpu\n    job_sort_formula = b +\n\t 1\n\n\
        Sched default\n    partition = pbs-default\n    job_sort_formula = a\n\nServer vm\n    x = 1\n";

    #[test]
    fn each_scheduler_has_its_own_attributes() {
        for document in [PRINTED, LISTED] {
            let objects = Objects::read(document);
            let listed = listed_schedulers(&objects);
            let [default, gpu] = &listed[..] else {
                panic!("{listed:?}")
            };
            let formula = |scheduler: &ListedScheduler| {
                scheduler
                    .formula
                    .as_ref()
                    .map(|formula| formula.text.clone())
            };
            assert_eq!(
                (&*default.name, formula(default).as_deref()),
                (DEFAULT, Some("a")),
                "{document}"
            );
            assert_eq!(
                (&*gpu.name, gpu.partition.as_deref(), &*gpu.folder),
                ("gpu", Some("p1"), "priv_gpu")
            );
            assert_eq!(formula(gpu).as_deref(), Some("b + 1"), "{document}");
            let names = |partition| {
                let attributes = in_force(&objects, partition).into_iter();
                attributes
                    .map(|attribute| attribute.name.to_string())
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                names(Some("p1")),
                ["x", "partition", "sched_priv", "job_sort_formula"]
            );
            assert_eq!(
                names(None),
                ["x", "partition", "job_sort_formula"],
                "{document}"
            );
            assert_eq!(names(Some("p2")), ["x"]);
        }
        assert_eq!(
            listed_schedulers(&Objects::read("set server c = d\nServer vm\n    x = 1\n")),
            []
        );
    }

    fn kinds(objects: &Objects<'_>) -> (Schema, Vec<String>) {
        let mut schema = Schema::empty();
        let problems = add_resources("rd", objects, &mut schema);
        (schema, problems)
    }

    #[test]
    fn reads_every_format() {
        for objects in [
            Objects::read_resourcedef(
                "a type=long\nb  type=size flag=hn\nc type=string flag=h\nd\n# e type=long\n",
            ),
            Objects::read(
                "create resource a\nset resource a type = long\ncreate resource b type=size,flag=hn\nset resource b flag = hn\ncreate resource c,d\nset server e = 1\ncreate queue q\n",
            ),
            Objects::read(
                "Resource a\n    type = long\nResource b\n    type = size\n    flag = hn\n\nResource c\n    type = string\nResource d\n",
            ),
        ] {
            let (schema, problems) = kinds(&objects);
            let found: Vec<_> = schema
                .iter()
                .map(|(name, entry)| (name, entry.input_type))
                .collect();
            assert_eq!(
                found,
                [
                    ("a", InputType::Count),
                    ("b", InputType::Size),
                    ("c", InputType::Text),
                    ("d", InputType::Text)
                ],
                "{}",
                objects.text
            );
            assert!(problems.is_empty());
        }
    }

    #[test]
    fn an_invalid_line_does_not_affect_others() {
        let (schema, problems) = kinds(&Objects::read_resourcedef(
            "a type=lnog\r\n%% type=long\r\nb type=long\r\n",
        ));
        assert!(schema.is_numeric("b") && schema.len() == 1);
        assert!(problems[0].starts_with("`rd` line 1: `lnog` is not a resource type"));
        assert!(problems[1].starts_with("`rd` line 2: "), "{problems:?}");
        assert_eq!(problems.len(), 2);
    }

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
