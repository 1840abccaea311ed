//! The attributes of a server and its scheduler that decide how a formula is applied, and what a
//! scheduling cycle does; and the schedulers that a document describes.
//!
//! In: the documents of the server, `qmgr -c 'list sched'` or `'print sched'`. Out: [`ServerSettings`]
//! and [`ListedScheduler`]s.
//!
//! A server may have schedulers beside the default one. The jobs of a queue with a `partition` belong
//! to the scheduler with that partition, all others to the default one. The formula of the default
//! scheduler is an attribute of the server or of `sched default`; both write the same file, and the
//! server refuses to have two that differ. Any other scheduler has its formula, or that of the server,
//! in its own folder.

use std::collections::BTreeMap;

use crate::files::formula_text::SourceFormula;
use crate::files::objects::{Attribute, DEFAULT, ObjectKind, Objects, last};
use crate::files::versions::PbsVersion;

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
        // a directive `unset` has replaced the value above it by an empty one
        given.retain(|_, value| !value.is_empty());
        // `append` replaces what both have: the documents before come first
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
            // the path is that on the server's host, of which a site has the last folder alone
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
    let listed = attributes.iter();
    listed
        .map(|(name, attributes)| ListedScheduler::new(name, attributes))
        .collect()
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
}
