//! The attributes of the default scheduler, and those of the server, that decide what a scheduling
//! cycle does.
//!
//! In: `qmgr -c 'list sched'` or `'print sched'`, and the documents of the server. Out:
//! [`SchedulerSettings`].

use std::collections::BTreeMap;

use crate::files::objects::Objects;
use crate::files::schedulers;
use crate::files::server::boolean;

/// The attributes in a document; `None` for one that the document does not set, or whose value
/// cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchedulerSettings {
    /// The seconds of a window in which the start of a reserved job is estimated: `off` is 1, `low`
    /// 60, `medium` 600 and `high` 3600.
    pub opt_backfill_fuzzy: Option<u32>,
    /// The least priority of an express queue. Since version 20 this attribute counts, and that in
    /// `sched_config` does not.
    pub preempt_queue_prio: Option<i32>,
    /// Attributes with another value than the default, of which [`SchedulerSettings`] has no field.
    others: BTreeMap<Box<str>, Box<str>>,
}

/// The window if `opt_backfill_fuzzy` is not set, in seconds.
pub const DEFAULT_BACKFILL_FUZZY: u32 = 60;

/// The attributes that change what a cycle does, with their defaults.
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

impl SchedulerSettings {
    /// The attributes of the scheduler that has a partition, or of the default one, and those of
    /// the server.
    ///
    /// ```
    /// use jsf_openpbs::files::objects::Objects;
    /// use jsf_openpbs::files::scheduler_settings::SchedulerSettings;
    ///
    /// let listed = Objects::read("Sched default\n    opt_backfill_fuzzy = medium\n    throughput_mode = False\n");
    /// let settings = SchedulerSettings::read(&listed, None);
    /// assert_eq!(settings.opt_backfill_fuzzy, Some(600));
    /// assert_eq!(settings.others().collect::<Vec<_>>(), [("throughput_mode", "False")]);
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

    /// Fills in the attributes that are missing here from `other`.
    pub fn or(mut self, other: Self) -> Self {
        for (name, value) in other.others {
            self.others.entry(name).or_insert(value);
        }
        Self {
            opt_backfill_fuzzy: self.opt_backfill_fuzzy.or(other.opt_backfill_fuzzy),
            preempt_queue_prio: self.preempt_queue_prio.or(other.preempt_queue_prio),
            others: self.others,
        }
    }

    /// The other attributes that change what a cycle does and whose value is not the default, by
    /// their names: placement sets, preemption, and how the scheduler waits for the start of a job.
    pub fn others(&self) -> impl Iterator<Item = (&str, &str)> {
        self.others.iter().map(|(name, value)| (&**name, &**value))
    }

    /// `preempt_prio`: the levels of jobs in preemption, from high to low.
    pub fn preempt_prio(&self) -> &str {
        let given = self.others.get("preempt_prio");
        given.map_or("express_queue, normal_jobs", |levels| levels)
    }

    /// `preempt_order`: how jobs give way.
    pub fn preempt_order(&self) -> &str {
        self.others
            .get("preempt_order")
            .map_or("SCR", |order| order)
    }

    /// Whether one of the other attributes is true.
    pub fn is_true(&self, name: &str) -> bool {
        self.others
            .get(name)
            .is_some_and(|value| boolean(value) == Some(true))
    }

    fn set(&mut self, name: &str, value: &str) {
        match name {
            "opt_backfill_fuzzy" => self.opt_backfill_fuzzy = window(value),
            "preempt_queue_prio" => self.preempt_queue_prio = value.parse().ok(),
            _ => {
                let Some((_, default)) = OTHER_ATTRIBUTES.iter().find(|(other, _)| *other == name)
                else {
                    return;
                };
                if value.is_empty() || is_equal(value, default) {
                    self.others.remove(name);
                } else {
                    self.others.insert(name.into(), value.into());
                }
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(name: &str) -> SchedulerSettings {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/golden/openpbs/qstat/"
        );
        SchedulerSettings::read(
            &Objects::read(&std::fs::read_to_string(format!("{folder}{name}")).unwrap()),
            None,
        )
    }

    #[test]
    fn the_recorded_listings_have_the_defaults() {
        let expected = SchedulerSettings {
            preempt_queue_prio: Some(150),
            ..SchedulerSettings::default()
        };
        for name in ["qmgr_list_sched.txt", "qmgr_print_sched.txt"] {
            assert_eq!(recorded(name), expected, "{name}");
        }
        for name in ["qstat_Bf.json", "qstat_Bf.txt", "qmgr_print_server.txt"] {
            assert_eq!(
                recorded(name),
                SchedulerSettings {
                    preempt_queue_prio: None,
                    ..expected.clone()
                },
                "{name}"
            );
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
        let settings = SchedulerSettings::read(&Objects::read(document), None);
        assert_eq!(
            settings.others().collect::<Vec<_>>(),
            [
                ("node_group_enable", "True"),
                ("only_explicit_psets", "true")
            ]
        );
        assert_eq!(settings.opt_backfill_fuzzy, None);
        let other = SchedulerSettings::read(
            &Objects::read("set sched opt_backfill_fuzzy = high\n"),
            None,
        );
        assert_eq!(settings.or(other).opt_backfill_fuzzy, Some(3600));
    }
}
