//! The settings as they are found, and what `slurmctld` makes of them in the end.

use std::collections::HashMap;

use crate::json_visitor::clipped;
use crate::slurm::conf::lines::{included, settings};
use crate::slurm::conf::times::{minutes, seconds};
use crate::slurm::conf::{ConfFault, ConfPolicy, ConfWarning, MAX_FILES, MAX_INCLUDE_DEPTH, ResetPeriod, SlurmConf};
use crate::slurm::logical_lines::logical_lines;

/// The settings that are kept.
const KEYS: &[&str] = &[
    "PriorityType",
    "PriorityFlags",
    "PriorityDecayHalfLife",
    "PriorityCalcPeriod",
    "PriorityUsageResetPeriod",
    "FairShareDampeningFactor",
    "ClusterName",
];

/// Slurm's other settings that begin with `Priority`.
const OTHERS: &[&str] = &[
    "PriorityFavorSmall",
    "PriorityMaxAge",
    "PriorityParameters",
    "PrioritySiteFactorParameters",
    "PrioritySiteFactorPlugin",
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
];

/// What a line of many settings begins with that are not of the cluster.
const OBJECTS: &[&str] = &["NodeName", "PartitionName", "DownNodes", "NodeSet", "FrontendName", "SwitchName"];

/// The flags that today's Slurm knows.
const FLAGS: &[&str] = &[
    "ACCRUE_ALWAYS",
    "CALCULATE_RUNNING",
    "DEPTH_OBLIVIOUS",
    "INCR_ONLY",
    "MAX_TRES",
    "MAX_TRES_GRES",
    "NO_FAIR_TREE",
    "NO_NORMAL_ALL",
    "NO_NORMAL_ASSOC",
    "NO_NORMAL_PART",
    "NO_NORMAL_QOS",
    "NO_NORMAL_TRES",
    "SMALL_RELATIVE_TO_TIME",
];

type Include<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A value and where it stands.
#[derive(Debug, Clone)]
struct Found {
    value: String,
    file: String,
    line: usize,
}

pub(super) struct Settings<'a> {
    include: Include<'a>,
    files: usize,
    found: HashMap<&'static str, Found>,
    conf: SlurmConf,
}

impl<'a> Settings<'a> {
    pub(super) fn collect(file: &str, text: &str, include: Include<'a>) -> SlurmConf {
        let mut settings = Self { include, files: 1, found: HashMap::new(), conf: SlurmConf::default() };
        settings.file(file, text, 0);
        settings.decide();
        settings.conf
    }

    fn file(&mut self, file: &str, text: &str, depth: usize) {
        for line in logical_lines(text) {
            match included(&line.text) {
                Some(name) => self.included(file, line.number, name, depth),
                None => self.line(file, line.number, &line.text),
            }
        }
    }

    fn included(&mut self, file: &str, line: usize, name: &str, depth: usize) {
        let cluster = self.found.get("ClusterName").map_or("", |found| &found.value);
        let name = name.trim_matches('"').replace("%c", cluster);
        self.files += 1;
        let text = match () {
            () if depth >= MAX_INCLUDE_DEPTH => Err(format!("it lies deeper than {MAX_INCLUDE_DEPTH} `Include`s")),
            () if self.files > MAX_FILES => Err(format!("there are more than {MAX_FILES} files")),
            () => (self.include)(&name),
        };
        match text {
            Ok(text) => self.file(&name, &text, depth + 1),
            Err(reason) => {
                let name = clipped(&name).into_owned();
                self.warn_at(file, line, ConfFault::NotIncluded { name, reason });
            }
        }
    }

    fn line(&mut self, file: &str, line: usize, text: &str) {
        for (index, setting) in settings(text).enumerate() {
            match setting {
                Ok((key, _)) if index == 0 && is_one_of(OBJECTS, key).is_some() => return,
                Ok((key, value)) => self.setting(file, line, key, value),
                Err(rest) => self.warn_at(file, line, ConfFault::NotASetting(clipped(rest).into_owned())),
            }
        }
    }

    fn setting(&mut self, file: &str, line: usize, key: &str, value: &str) {
        let Some(key) = is_one_of(KEYS, key) else {
            let is_priority = key.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("priority"));
            if is_priority && is_one_of(OTHERS, key).is_none() {
                self.warn_at(file, line, ConfFault::UnknownKey(clipped(key).into_owned()));
            }
            return;
        };
        let found = Found { value: value.to_owned(), file: file.to_owned(), line };
        if let Some(Found { file: before, line: at, .. }) = self.found.insert(key, found) {
            self.warn_at(file, line, ConfFault::Again { key, file: before, line: at });
        }
    }

    /// What the daemon makes of all that was found.
    fn decide(&mut self) {
        self.priority_type();
        self.flags();
        self.half_life();
        if let Some(found) = self.found.get("PriorityCalcPeriod").cloned() {
            match minutes(&found.value).filter(|&minutes| minutes >= 1) {
                Some(minutes) => self.conf.calc_period = seconds(minutes),
                None => self.bad("PriorityCalcPeriod", &found, "it is a time of at least a minute"),
            }
        }
        if let Some(found) = self.found.get("FairShareDampeningFactor").cloned() {
            match found.value.parse::<u16>().ok().filter(|&factor| factor > 0) {
                Some(factor) => self.conf.dampening_factor = factor,
                None => self.bad("FairShareDampeningFactor", &found, "it is a whole number from 1 to 65535"),
            }
            if self.conf.policy == ConfPolicy::FairTree && self.conf.dampening_factor > 1 {
                self.warn(&found, ConfFault::DampeningWithoutEffect);
            }
        }
    }

    fn priority_type(&mut self) {
        let Some(found) = self.found.get("PriorityType").cloned() else { return };
        let plugin = found.value.to_ascii_lowercase();
        match plugin.strip_prefix("priority/").unwrap_or(&plugin) {
            "multifactor" => {}
            "basic" => self.warn(&found, ConfFault::NoFairShare),
            "multifactor2" => self.warn(&found, ConfFault::Multifactor2IsGone),
            other => self.warn(&found, ConfFault::UnknownPlugin(clipped(other).into_owned())),
        }
        self.conf.priority_type = Some(plugin);
    }

    /// The daemon looks for each flag anywhere in the text, and for `DEPTH_OBLIVIOUS` first.
    fn flags(&mut self) {
        let Some(found) = self.found.get("PriorityFlags").cloned() else { return };
        let text = found.value.to_ascii_uppercase();
        let flags: Vec<&str> = text.split(',').map(str::trim).filter(|flag| !flag.is_empty()).collect();
        let fair_tree = flags.contains(&"FAIR_TREE");
        self.conf.policy = match () {
            () if text.contains("DEPTH_OBLIVIOUS") => ConfPolicy::DepthOblivious,
            () if text.contains("NO_FAIR_TREE") => ConfPolicy::Classic,
            () => ConfPolicy::FairTree,
        };
        match self.conf.policy {
            _ if !fair_tree => {}
            ConfPolicy::FairTree => self.warn(&found, ConfFault::FairTreeIsDefault),
            ConfPolicy::DepthOblivious => {
                self.warn(&found, ConfFault::Contradiction { loser: "FAIR_TREE", winner: "DEPTH_OBLIVIOUS" });
            }
            ConfPolicy::Classic => {
                self.warn(&found, ConfFault::Contradiction { loser: "FAIR_TREE", winner: "NO_FAIR_TREE" });
            }
        }
        for flag in flags {
            match flag {
                "FAIR_TREE" => {}
                "TICKET_BASED" => self.warn(&found, ConfFault::TicketBasedIsGone(self.conf.policy.name())),
                _ if FLAGS.contains(&flag) => {}
                _ => self.warn(&found, ConfFault::UnknownFlag(clipped(flag).into_owned())),
            }
        }
    }

    fn half_life(&mut self) {
        let half_life = self.found.get("PriorityDecayHalfLife").cloned();
        if let Some(found) = &half_life {
            match minutes(&found.value) {
                Some(minutes) => self.conf.decay_half_life = seconds(minutes),
                None => self.bad("PriorityDecayHalfLife", found, "it is a time, or 0 for usage that does not decay"),
            }
        }
        let reset = self.found.get("PriorityUsageResetPeriod").cloned();
        if let Some(found) = &reset {
            match reset_period(&found.value) {
                Some(period) => self.conf.usage_reset_period = period,
                None => self.bad(
                    "PriorityUsageResetPeriod",
                    found,
                    "it is `NONE`, `NOW`, `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`",
                ),
            }
        }
        let never = self.conf.usage_reset_period == ResetPeriod::Never;
        if let Some(found) = half_life.filter(|_| never && self.conf.decay_half_life == 0) {
            self.warn(&found, ConfFault::UsageOnlyGrows);
        }
    }

    fn bad(&mut self, key: &'static str, found: &Found, expected: &'static str) {
        let value = clipped(&found.value).into_owned();
        self.warn(found, ConfFault::BadValue { key, value, expected });
    }

    fn warn(&mut self, found: &Found, fault: ConfFault) {
        self.warn_at(&found.file, found.line, fault);
    }

    fn warn_at(&mut self, file: &str, line: usize, fault: ConfFault) {
        self.conf.warnings.push(ConfWarning { file: file.to_owned(), line, fault });
    }
}

fn reset_period(text: &str) -> Option<ResetPeriod> {
    Some(match text.to_ascii_lowercase().as_str() {
        "none" => ResetPeriod::Never,
        "now" => ResetPeriod::Now,
        "daily" => ResetPeriod::Daily,
        "weekly" => ResetPeriod::Weekly,
        "monthly" => ResetPeriod::Monthly,
        "quarterly" => ResetPeriod::Quarterly,
        "yearly" => ResetPeriod::Yearly,
        _ => return None,
    })
}

fn is_one_of(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().copied().find(|known| known.eq_ignore_ascii_case(name))
}
