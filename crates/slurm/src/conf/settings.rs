//! Reads the settings line by line, following `Include`s, and interprets them as `slurmctld` does.

use std::collections::HashMap;

use jsf_json::clipped;

use crate::conf::{
    ConfFault, ConfPolicy, ConfWarning, MAX_FILES, MAX_INCLUDE_DEPTH, ResetPeriod, SlurmConf,
};
use crate::logical_lines::logical_lines;

/// The settings that affect the priority of jobs, and those that they depend on.
const KEYS: &[&str] = &[
    "PriorityType",
    "PriorityFlags",
    "PriorityDecayHalfLife",
    "PriorityCalcPeriod",
    "PriorityUsageResetPeriod",
    "FairShareDampeningFactor",
    "ClusterName",
    "SLURM_VERSION",
    "AccountingStorageTRES",
    "PriorityFavorSmall",
    "PriorityMaxAge",
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
];

/// The beginning of the first line of `scontrol show config`.
const SHOW_CONFIG: &str = "Configuration data as of";

/// Slurm's other settings that begin with `Priority`.
const OTHER_KEYS: &[&str] = &[
    "PriorityParameters",
    "PrioritySiteFactorParameters",
    "PrioritySiteFactorPlugin",
];

/// The first keys of lines that describe nodes, partitions and the like.
const OBJECTS: &[&str] = &[
    "NodeName",
    "PartitionName",
    "DownNodes",
    "NodeSet",
    "FrontendName",
    "SwitchName",
];

/// The flags of current releases.
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

/// The value of a setting, and the line that sets it.
#[derive(Debug, Clone)]
struct Found {
    value: String,
    file: String,
    line: usize,
}

/// The settings that were found in the files.
pub(super) struct Settings<'a> {
    /// Reads an included file by its name; an error says why it is not read.
    include: Include<'a>,
    /// The number of files that were read.
    files: usize,
    /// By the names in [`KEYS`].
    found: HashMap<&'static str, Found>,
    conf: SlurmConf,
}

impl<'a> Settings<'a> {
    /// Reads the settings of a file and of the files that it includes, and interprets them.
    pub(super) fn collect(file: &str, text: &str, include: Include<'a>) -> SlurmConf {
        let mut settings = Self {
            include,
            files: 1,
            found: HashMap::new(),
            conf: SlurmConf::default(),
        };
        if text.trim_start().starts_with(SHOW_CONFIG) {
            settings.conf.is_printed = true;
            settings.read_show_config(file, text);
        } else {
            settings.read_file(file, text, 0);
        }
        settings.interpret();
        settings.conf
    }

    fn read_file(&mut self, file: &str, text: &str, depth: usize) {
        for line in logical_lines(text) {
            match include_target(&line.text) {
                Some(name) => self.include_file(file, line.number, name, depth),
                None => self.read_line(file, line.number, &line.text),
            }
        }
    }

    /// Reads `scontrol show config`: one setting per line, with blanks around `=` and in values,
    /// and lines of other forms between them. A setting without a value has its default.
    fn read_show_config(&mut self, file: &str, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let Some(key) = canonical_name(KEYS, key.trim()) else {
                continue;
            };
            let value = value.trim();
            if !matches!(value, "" | "(null)") {
                self.set(file, index + 1, key, value);
            }
        }
    }

    fn include_file(&mut self, file: &str, line: usize, name: &str, depth: usize) {
        let cluster = self
            .found
            .get("ClusterName")
            .map_or("", |found| &found.value);
        let name = name.trim_matches('"').replace("%c", cluster);
        self.files += 1;
        let text = match () {
            () if depth >= MAX_INCLUDE_DEPTH => Err(format!(
                "it is nested in more than {MAX_INCLUDE_DEPTH} `Include`s"
            )),
            () if self.files > MAX_FILES => Err(format!("there are more than {MAX_FILES} files")),
            () => (self.include)(&name),
        };
        match text {
            Ok(text) => self.read_file(&name, &text, depth + 1),
            Err(reason) => {
                let name = clipped(&name).into_owned();
                self.warn_at(file, line, ConfFault::NotIncluded { name, reason });
            }
        }
    }

    fn read_line(&mut self, file: &str, line: usize, text: &str) {
        for (index, setting) in split_settings(text).enumerate() {
            match setting {
                Ok((key, _)) if index == 0 && canonical_name(OBJECTS, key).is_some() => {
                    if let Err((key, value, expected)) = self.conf.objects.add_line(text, line) {
                        let fault = ConfFault::BadValue {
                            key,
                            value,
                            expected,
                        };
                        self.warn_at(file, line, fault);
                    }
                    return;
                }
                Ok((key, value)) => self.set(file, line, key, value),
                Err(rest) => {
                    let text = clipped(rest).into_owned();
                    let fault = if is_key(rest) {
                        ConfFault::NoValue(text)
                    } else {
                        ConfFault::NotASetting(text)
                    };
                    self.warn_at(file, line, fault);
                }
            }
        }
    }

    fn set(&mut self, file: &str, line: usize, key: &str, value: &str) {
        let Some(key) = canonical_name(KEYS, key) else {
            let is_priority = key
                .get(..8)
                .is_some_and(|start| start.eq_ignore_ascii_case("priority"));
            if is_priority && canonical_name(OTHER_KEYS, key).is_none() {
                self.warn_at(file, line, ConfFault::UnknownKey(clipped(key).into_owned()));
            }
            return;
        };
        let found = Found {
            value: value.to_owned(),
            file: file.to_owned(),
            line,
        };
        if let Some(Found {
            file: before,
            line: at,
            ..
        }) = self.found.insert(key, found)
        {
            self.warn_at(
                file,
                line,
                ConfFault::Repeated {
                    key,
                    file: before,
                    line: at,
                },
            );
        }
    }

    /// The values of the settings of the priority, interpreted; one that is wrong is a warning.
    fn interpret_weights(&mut self) {
        let mut settings: Vec<_> = self.found.clone().into_iter().collect();
        settings.sort_by_key(|(_, found)| found.line);
        for (key, found) in settings {
            if let Err(expected) = self.conf.priority.set(key, &found.value) {
                self.warn_of_bad_value(key, &found, expected);
            }
        }
        let order = self.found.get("AccountingStorageTRES");
        let order = order.map_or("", |found| &found.value).to_owned();
        let has_unknown = self.conf.priority.sort_tres(&order);
        if let Some(found) = self.found.get("PriorityWeightTRES").cloned()
            && has_unknown
        {
            let expected = "resources that Slurm tracks: those of `AccountingStorageTRES`, and cpu, mem, energy, node, \
                            billing, fs/disk, vmem and pages";
            self.warn_of_bad_value("PriorityWeightTRES", &found, expected);
        }
    }

    /// Interprets each setting as the daemon does.
    fn interpret(&mut self) {
        self.conf.version = self
            .found
            .get("SLURM_VERSION")
            .map(|found| found.value.clone());
        self.conf.cluster = self
            .found
            .get("ClusterName")
            .map(|found| found.value.clone());
        self.interpret_priority_type();
        self.interpret_flags();
        self.interpret_weights();
        self.interpret_decay_and_reset();
        if let Some(found) = self.found.get("PriorityCalcPeriod").cloned() {
            match parse_minutes(&found.value).filter(|&minutes| minutes >= 1) {
                Some(minutes) => self.conf.calc_period = stored_seconds(minutes),
                None => self.warn_of_bad_value(
                    "PriorityCalcPeriod",
                    &found,
                    "a time of at least one minute",
                ),
            }
        }
        if let Some(found) = self.found.get("FairShareDampeningFactor").cloned() {
            match found.value.parse::<u16>().ok().filter(|&factor| factor > 0) {
                Some(factor) => {
                    (self.conf.dampening_factor, self.conf.sets_dampening) = (factor, true)
                }
                None => self.warn_of_bad_value(
                    "FairShareDampeningFactor",
                    &found,
                    "a whole number from 1 to 65535",
                ),
            }
            if self.conf.policy == ConfPolicy::FairTree && self.conf.dampening_factor > 1 {
                self.warn(&found, ConfFault::DampeningWithoutEffect);
            }
        }
    }

    fn interpret_priority_type(&mut self) {
        let Some(found) = self.found.get("PriorityType").cloned() else {
            return;
        };
        let plugin = found.value.to_ascii_lowercase();
        match plugin.strip_prefix("priority/").unwrap_or(&plugin) {
            "multifactor" => {}
            "basic" => self.warn(&found, ConfFault::NoFairShare),
            "multifactor2" => self.warn(&found, ConfFault::Multifactor2Removed),
            other => self.warn(
                &found,
                ConfFault::UnknownPlugin(clipped(other).into_owned()),
            ),
        }
        self.conf.priority_type = Some(plugin);
    }

    /// Interprets `PriorityFlags`. The daemon searches the whole text for each flag, for
    /// `DEPTH_OBLIVIOUS` first.
    fn interpret_flags(&mut self) {
        let Some(found) = self.found.get("PriorityFlags").cloned() else {
            return;
        };
        let text = found.value.to_ascii_uppercase();
        let flags: Vec<&str> = text
            .split(',')
            .map(str::trim)
            .filter(|flag| !flag.is_empty())
            .collect();
        self.conf.sets_flags = !flags.is_empty();
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
                self.warn(
                    &found,
                    ConfFault::Contradiction {
                        loser: "FAIR_TREE",
                        winner: "DEPTH_OBLIVIOUS",
                    },
                );
            }
            ConfPolicy::Classic => {
                self.warn(
                    &found,
                    ConfFault::Contradiction {
                        loser: "FAIR_TREE",
                        winner: "NO_FAIR_TREE",
                    },
                );
            }
        }
        for flag in flags {
            match flag {
                "FAIR_TREE" => {}
                "TICKET_BASED" => self.warn(
                    &found,
                    ConfFault::TicketBasedRemoved(self.conf.policy.name()),
                ),
                _ if FLAGS.contains(&flag) => {}
                _ => self.warn(&found, ConfFault::UnknownFlag(clipped(flag).into_owned())),
            }
        }
    }

    fn interpret_decay_and_reset(&mut self) {
        let half_life = self.found.get("PriorityDecayHalfLife").cloned();
        if let Some(found) = &half_life {
            match parse_minutes(&found.value) {
                Some(minutes) => {
                    self.conf.decay_half_life = stored_seconds(minutes);
                    self.conf.sets_half_life = true;
                }
                None => self.warn_of_bad_value(
                    "PriorityDecayHalfLife",
                    found,
                    "a time, or 0 for usage that does not decay",
                ),
            }
        }
        let reset = self.found.get("PriorityUsageResetPeriod").cloned();
        if let Some(found) = &reset {
            match parse_reset_period(&found.value) {
                Some(period) => self.conf.usage_reset_period = period,
                None => self.warn_of_bad_value(
                    "PriorityUsageResetPeriod",
                    found,
                    "`NONE`, `NOW`, `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`",
                ),
            }
        }
        let never = self.conf.usage_reset_period == ResetPeriod::Never;
        if let Some(found) = half_life.filter(|_| never && self.conf.decay_half_life == 0) {
            self.warn(&found, ConfFault::UsageOnlyGrows);
        }
    }

    fn warn_of_bad_value(&mut self, key: &'static str, found: &Found, expected: &'static str) {
        let value = clipped(&found.value).into_owned();
        self.warn(
            found,
            ConfFault::BadValue {
                key,
                value,
                expected,
            },
        );
    }

    fn warn(&mut self, found: &Found, fault: ConfFault) {
        self.warn_at(&found.file, found.line, fault);
    }

    fn warn_at(&mut self, file: &str, line: usize, fault: ConfFault) {
        self.conf.warnings.push(ConfWarning {
            file: file.to_owned(),
            line,
            fault,
        });
    }
}

fn parse_reset_period(text: &str) -> Option<ResetPeriod> {
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

fn canonical_name(names: &[&'static str], name: &str) -> Option<&'static str> {
    names
        .iter()
        .copied()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// Whether the text is a key and `=`, and nothing else.
fn is_key(text: &str) -> bool {
    text.trim_end()
        .strip_suffix('=')
        .is_some_and(|key| !key.trim().contains(|c: char| c.is_whitespace() || c == '='))
}

/// The file that an `Include` names.
fn include_target(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(|c: char| c.is_ascii_whitespace())?;
    (word.eq_ignore_ascii_case("include") && !rest.trim_start().starts_with('='))
        .then(|| rest.trim())
}

/// Splits a line into its settings, `Key=Value` or `Key="some value"`, which are separated by
/// blanks. Text that is not a setting is returned as `Err`.
pub(super) fn split_settings(line: &str) -> impl Iterator<Item = Result<(&str, &str), &str>> {
    let mut rest = line.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let start = rest;
        let key_end = rest
            .find(|c: char| c.is_ascii_whitespace() || c == '=')
            .unwrap_or(rest.len());
        let (key, after) = rest.split_at(key_end);
        let Some(value) = after
            .trim_start()
            .strip_prefix('=')
            .filter(|_| !key.is_empty())
        else {
            rest = "";
            return Some(Err(start));
        };
        let value = value.trim_start();
        if value.is_empty() {
            rest = "";
            return Some(Err(start));
        }
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => value.split_at(
                value
                    .find(|c: char| c.is_ascii_whitespace())
                    .unwrap_or(value.len()),
            ),
        };
        rest = after.trim_start();
        Some(Ok((key.trim_end_matches(['+', '-', '*', '/']), value)))
    })
}

/// The daemon's value for an infinite time, in minutes.
const INFINITE: i64 = -1;

/// Parses a time into minutes, rounded up; `None` if the text is not a time.
///
/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` or
/// `days-hours:minutes:seconds`.
pub(crate) fn parse_minutes(text: &str) -> Option<i64> {
    if ["-1", "infinite", "unlimited"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
    {
        return Some(INFINITE);
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(short_number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<i64> = rest.split(':').map(short_number).collect::<Option<_>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, &[minutes]) => minutes * 60,
        (None, &[minutes, seconds]) => minutes * 60 + seconds,
        (None, &[hours, minutes, seconds]) => (hours * 60 + minutes) * 60 + seconds,
        (Some(days), &[hours]) => (days * 24 + hours) * 3600,
        (Some(days), &[hours, minutes]) => ((days * 24 + hours) * 60 + minutes) * 60,
        (Some(days), &[hours, minutes, seconds]) => {
            ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        }
        _ => return None,
    };
    Some((seconds + 59) / 60)
}

/// A number of at most nine digits.
fn short_number(text: &str) -> Option<i64> {
    let is_number = text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// A number of minutes as the daemon keeps it, in unsigned 32-bit seconds: an infinite time becomes
/// 136 years.
pub(super) fn stored_seconds(minutes: i64) -> u32 {
    if minutes < 0 {
        (minutes * 60) as u32
    } else {
        u32::try_from(minutes * 60).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_include_is_a_word_and_a_file() {
        assert_eq!(include_target("iNclude  x.conf"), Some("x.conf"));
        assert_eq!(include_target("Includes=x"), None);
        assert_eq!(include_target("Include = x"), None);
    }

    #[test]
    fn a_line_may_have_several_settings() {
        let found: Vec<_> = split_settings("a=1  B = \"two words\" c+=3,4 d").collect();
        assert_eq!(
            found,
            [
                Ok(("a", "1")),
                Ok(("B", "two words")),
                Ok(("c", "3,4")),
                Err("d")
            ]
        );
    }

    #[test]
    fn all_forms_are_read() {
        for (text, expected) in [
            ("0", Some(0)),
            ("10", Some(10)),
            ("10:01", Some(11)),
            ("1:00:00", Some(60)),
            ("7-0", Some(10_080)),
            ("1-2:3", Some(1563)),
            ("1-2:3:1", Some(1564)),
            ("INFINITE", Some(-1)),
            ("-1", Some(-1)),
            ("", None),
            ("a", None),
            ("1:2:3:4", None),
            ("-2", None),
            ("1.5", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_minutes(text), expected, "{text}");
        }
        assert_eq!(
            stored_seconds(parse_minutes("unlimited").expect("a time")),
            4_294_967_236
        );
    }
}
