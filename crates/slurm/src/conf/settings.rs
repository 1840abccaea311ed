//! Reads the settings line by line, following `Include`s, and interprets them as `slurmctld` does.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use job_sort_formula::diagnostic::{Message, Need};
use jsf_json::clipped;

use crate::conf::{
    ConfPolicy, MAX_FILES, MAX_INCLUDE_DEPTH, ResetPeriod, SlurmConf, read_included,
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

/// Those of [`KEYS`] that are interpreted after all others.
const LAST_KEYS: [&str; 4] = [
    "PriorityDecayHalfLife",
    "PriorityUsageResetPeriod",
    "PriorityCalcPeriod",
    "FairShareDampeningFactor",
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

/// The value of a setting, and the line that sets it.
#[derive(Debug, Clone)]
struct Found {
    value: String,
    at: Place,
}

/// A line of a file.
#[derive(Debug, Clone, Default)]
struct Place {
    file: String,
    line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, line {}", self.file, self.line)
    }
}

/// The settings that were found in the files.
pub struct Settings<'a> {
    /// The folder of the included files.
    folder: Option<&'a Path>,
    /// The number of files that were read.
    files: usize,
    /// The line that is read or interpreted.
    at: Place,
    /// By the names in [`KEYS`].
    found: HashMap<&'static str, Found>,
    conf: SlurmConf,
}

impl<'a> Settings<'a> {
    /// Reads the settings of a file and of the files that it includes, and interprets them.
    pub fn collect(file: &str, text: &str, folder: Option<&'a Path>) -> SlurmConf {
        let mut settings = Self {
            folder,
            files: 1,
            at: Place::default(),
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
            self.begin_line(file, line.number);
            match include_target(&line.text) {
                Some(name) => self.include_file(name, depth),
                None => self.read_line(&line.text),
            }
        }
    }

    /// Reads `scontrol show config`: one setting per line, with blanks around `=` and in values,
    /// and lines of other forms between them. A setting without a value has its default.
    fn read_show_config(&mut self, file: &str, text: &str) {
        for (line, text) in (1..).zip(text.lines()) {
            if let Some((key, value)) = text.split_once('=')
                && let Some(key) = canonical_name(KEYS, key.trim())
                && !matches!(value.trim(), "" | "(null)")
            {
                self.begin_line(file, line);
                self.set(key, value.trim());
            }
        }
    }

    fn begin_line(&mut self, file: &str, line: usize) {
        self.at = Place {
            file: file.to_owned(),
            line,
        };
    }

    fn include_file(&mut self, name: &str, depth: usize) {
        let cluster = self.value("ClusterName").unwrap_or_default();
        let name = name.trim_matches('"').replace("%c", &cluster);
        self.files += 1;
        let reason = if depth >= MAX_INCLUDE_DEPTH {
            format!("it is nested in more than {MAX_INCLUDE_DEPTH} `Include`s")
        } else if self.files > MAX_FILES {
            format!("there are more than {MAX_FILES} files")
        } else {
            match read_included(self.folder, &name) {
                Ok(text) => return self.read_file(&name, &text, depth + 1),
                Err(error) => error.to_string(),
            }
        };
        let name = clipped(&name);
        self.warn(&format!("`{name}` is not included: {reason}"));
    }

    fn read_line(&mut self, text: &str) {
        for (index, setting) in split_settings(text).into_iter().enumerate() {
            match setting {
                Ok((key, _)) if index == 0 && canonical_name(OBJECTS, key).is_some() => {
                    let added = self.conf.objects.add_line(text, self.at.line);
                    if let Err((key, value, expected)) = added {
                        self.warn_of_bad_value(key, &value, expected);
                    }
                    return;
                }
                Ok((key, value)) => self.set(key, value),
                Err(rest) => {
                    let text = clipped(rest);
                    let fault = if is_key(rest) {
                        format!(
                            "`{text}` has no value: a parse error, with which slurmctld does not start; remove the line"
                        )
                    } else {
                        format!("`{text}` is not `Key=Value`; slurmctld does not start with it")
                    };
                    self.warn_of_start(&fault, "");
                }
            }
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        let Some(known) = canonical_name(KEYS, key) else {
            let is_priority = key.to_ascii_lowercase().starts_with("priority");
            if is_priority && canonical_name(OTHER_KEYS, key).is_none() {
                let key = clipped(key);
                let fault =
                    format!("`{key}` is not a Slurm setting; slurmctld does not start with it");
                self.warn_of_start(&fault, "");
            }
            return;
        };
        let found = Found {
            value: value.to_owned(),
            at: self.at.clone(),
        };
        if let Some(Found { at: before, .. }) = self.found.insert(known, found) {
            self.warn(&format!(
                "`{known}` is on line {} of `{}` too; this line replaces it",
                before.line, before.file
            ));
        }
    }

    fn value(&self, key: &str) -> Option<String> {
        Some(self.found.get(key)?.value.clone())
    }

    /// Interprets each setting as the daemon does; a value that is wrong is a warning.
    fn interpret(&mut self) {
        self.conf.version = self.value("SLURM_VERSION");
        self.conf.cluster = self.value("ClusterName");
        self.interpret_priority_type();
        self.interpret_flags();
        let mut settings: Vec<_> = self.found.clone().into_iter().collect();
        settings.sort_by_key(|(key, found)| {
            (LAST_KEYS.iter().position(|last| last == key), found.at.line)
        });
        for (key, found) in settings {
            if let Err(expected) = self.conf.set(key, &found.value) {
                self.at = found.at;
                self.warn_of_bad_value(key, &found.value, expected);
            }
        }
        let order = self.value("AccountingStorageTRES").unwrap_or_default();
        if self.conf.priority.sort_tres(&order)
            && let Some(value) = self.interpreted("PriorityWeightTRES")
        {
            let expected = "resources that Slurm tracks: those of `AccountingStorageTRES`, and cpu, mem, energy, node, \
                            billing, fs/disk, vmem and pages";
            self.warn_of_bad_value("PriorityWeightTRES", &value, expected);
        }
        if self.conf.decay_half_life == 0
            && self.conf.usage_reset_period == ResetPeriod::Never
            && self.interpreted("PriorityDecayHalfLife").is_some()
        {
            let text =
                "usage neither decays nor is reset; give `PriorityUsageResetPeriod` a period";
            self.warn(text);
        }
        if self.conf.policy == ConfPolicy::FairTree
            && self.conf.dampening_factor > 1
            && self.interpreted("FairShareDampeningFactor").is_some()
        {
            self.warn("`FairShareDampeningFactor` has no effect under fair tree");
        }
    }

    fn interpret_priority_type(&mut self) {
        let Some(value) = self.interpreted("PriorityType") else {
            return;
        };
        let plugin = value.to_ascii_lowercase();
        match plugin.strip_prefix("priority/").unwrap_or(&plugin) {
            "multifactor" => {}
            "basic" => self.warn("under `priority/basic` jobs run in the order of submission; fair share has no effect",
            ),
            "multifactor2" => self.warn("`priority/multifactor2` was removed: it became `priority/multifactor` with `TICKET_BASED`, which was removed too",
            ),
            other => {
                let plugin = clipped(other);
                let text =
                    format!("the plugin `{plugin}` is not known; `priority/multifactor` is assumed");
                self.warn(&text);
            }
        }
        self.conf.priority_type = Some(plugin);
    }

    /// Interprets `PriorityFlags`. The daemon searches the whole text for each flag, for
    /// `DEPTH_OBLIVIOUS` first.
    fn interpret_flags(&mut self) {
        let Some(value) = self.interpreted("PriorityFlags") else {
            return;
        };
        let text = value.to_ascii_uppercase();
        let mut flags: Vec<&str> = text.split(',').map(str::trim).collect();
        flags.retain(|flag| !flag.is_empty());
        self.conf.sets_flags = !flags.is_empty();
        let (policy, winner) = if text.contains("DEPTH_OBLIVIOUS") {
            (ConfPolicy::DepthOblivious, "DEPTH_OBLIVIOUS")
        } else if text.contains("NO_FAIR_TREE") {
            (ConfPolicy::Classic, "NO_FAIR_TREE")
        } else {
            (ConfPolicy::FairTree, "")
        };
        self.conf.policy = policy;
        if flags.contains(&"FAIR_TREE") {
            let text = if winner.is_empty() {
                "`FAIR_TREE` is not a flag since 19.05, when fair tree became the default"
            } else {
                &format!("`FAIR_TREE` contradicts `{winner}`, which takes precedence")
            };
            self.warn(text);
        }
        for flag in flags {
            if flag == "TICKET_BASED" {
                let text = format!(
                    "{}: `TICKET_BASED` was removed in 15.08 and is ignored: the policy is {}; \
                     for 14.11 and earlier ",
                    self.at,
                    policy.name()
                );
                let needs = [Need::Policy("ticket-based")];
                self.conf.warnings.push(Message::asking(text, needs));
            } else if flag != "FAIR_TREE" && !FLAGS.contains(&flag) {
                let flag = clipped(flag);
                let text = format!("`{flag}` is not a priority flag; slurmctld ignores it");
                self.warn(&text);
            }
        }
    }

    /// The value of a setting, whose line is then the one that is interpreted.
    fn interpreted(&mut self, key: &str) -> Option<String> {
        let found = self.found.get(key)?;
        self.at = found.at.clone();
        Some(found.value.clone())
    }

    fn warn_of_bad_value(&mut self, key: &str, value: &str, expected: &str) {
        let value = clipped(value);
        let fault =
            format!("`{key}` is `{value}`, expected {expected}; slurmctld does not start with it");
        self.warn_of_start(&fault, ", the default is used");
    }

    /// Warns of a line with which slurmctld does not start.
    fn warn_of_start(&mut self, fault: &str, consequence: &str) {
        self.warn(&format!("{fault}{consequence}"));
        if self.conf.start_fault.is_none() {
            self.conf.start_fault = Some(format!("{}: {fault}", self.at));
        }
    }

    fn warn(&mut self, text: &str) {
        let text = format!("{}: {text}", self.at);
        self.conf.warnings.push(text.into());
    }
}

impl SlurmConf {
    /// Interprets one setting; another key is ignored.
    ///
    /// # Errors
    /// What is expected instead of the value.
    fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        match key {
            "PriorityDecayHalfLife" => {
                let expected = "a time, or 0 for usage that does not decay";
                self.decay_half_life = stored_seconds(parse_minutes(value).ok_or(expected)?);
                self.sets_half_life = true;
            }
            "PriorityCalcPeriod" => match parse_minutes(value) {
                Some(minutes @ 1..) => self.calc_period = stored_seconds(minutes),
                _ => return Err("a time of at least one minute"),
            },
            "FairShareDampeningFactor" => match value.parse() {
                Ok(factor @ 1..) => (self.dampening_factor, self.sets_dampening) = (factor, true),
                _ => return Err("a whole number from 1 to 65535"),
            },
            "PriorityUsageResetPeriod" => {
                self.usage_reset_period = match value.to_ascii_lowercase().as_str() {
                    "none" => ResetPeriod::Never,
                    "now" => ResetPeriod::Now,
                    "daily" => ResetPeriod::Daily,
                    "weekly" => ResetPeriod::Weekly,
                    "monthly" => ResetPeriod::Monthly,
                    "quarterly" => ResetPeriod::Quarterly,
                    "yearly" => ResetPeriod::Yearly,
                    _ => {
                        return Err(
                            "`NONE`, `NOW`, `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`",
                        );
                    }
                };
            }
            _ => return self.priority.set(key, value),
        }
        Ok(())
    }
}

fn canonical_name(names: &[&'static str], name: &str) -> Option<&'static str> {
    let mut names = names.iter().copied();
    names.find(|known| known.eq_ignore_ascii_case(name))
}

/// Whether the text is a key and `=`, and nothing else.
fn is_key(text: &str) -> bool {
    match text.trim_end().strip_suffix('=') {
        Some(key) => !key.trim().contains(|c: char| c.is_whitespace() || c == '='),
        None => false,
    }
}

/// The file that an `Include` names.
fn include_target(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(|c: char| c.is_ascii_whitespace())?;
    let is_include = word.eq_ignore_ascii_case("include") && !rest.trim_start().starts_with('=');
    is_include.then_some(rest.trim())
}

/// Splits a line into its settings, `Key=Value` or `Key="some value"`, which are separated by
/// blanks. Text that is not a setting is returned as `Err`.
pub fn split_settings(line: &str) -> Vec<Result<(&str, &str), &str>> {
    let mut settings = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (key, after) = split_before(rest, |c| c.is_ascii_whitespace() || c == '=');
        let value = after.trim_start().strip_prefix('=').unwrap_or("");
        let value = value.trim_start();
        if key.is_empty() || value.is_empty() {
            settings.push(Err(rest));
            break;
        }
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => split_before(value, |c| c.is_ascii_whitespace()),
        };
        settings.push(Ok((key.trim_end_matches(['+', '-', '*', '/']), value)));
        rest = after.trim_start();
    }
    settings
}

/// Splits a text before the first such character.
fn split_before(text: &str, is_end: fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

/// The daemon's value for an infinite time, in minutes.
const INFINITE: i64 = -1;

/// Parses a time into minutes, rounded up; `None` if the text is not a time.
///
/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` or
/// `days-hours:minutes:seconds`.
pub fn parse_minutes(text: &str) -> Option<i64> {
    if text == "-1" || is_infinite(text) {
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

/// Whether a text is one of the words for a number without a bound.
pub fn is_infinite(text: &str) -> bool {
    text.eq_ignore_ascii_case("infinite") || text.eq_ignore_ascii_case("unlimited")
}

/// A number of at most nine digits.
fn short_number(text: &str) -> Option<i64> {
    if text.len() > 9 || text.contains(|c: char| !c.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A number of minutes as the daemon keeps it, in unsigned 32-bit seconds: an infinite time becomes
/// 136 years.
pub fn stored_seconds(minutes: i64) -> u32 {
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
        let found = split_settings("a=1  B = \"two words\" c+=3,4 d");
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
