//! The file `slurm.conf`, or what `scontrol show config` prints of it.
//!
//! In: the file, and the files that it includes from its own folder. Out: the settings that affect
//! fair share and the priority of jobs, interpreted as `slurmctld` does, and the nodes and partitions.
//! A value with which `slurmctld` does not start is a warning, and the setting keeps its default. Flags
//! that contradict each other, or that current releases do not have, are warnings too.
//!
//! The lines of the files of `sacctmgr` are read in the same way ([`logical_lines`]).

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use job_sort_formula::diagnostic::{Message, Need};
use jsf_json::clipped;

use crate::priority::PrioritySettings;
use crate::records::Record;
use crate::values::{Form, parse_minutes, stored_seconds};

#[cfg(test)]
mod tests;

/// The most bytes that are read of one file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The most files that are read, `slurm.conf` included.
const MAX_FILES: usize = 64;
/// The most levels of nested `Include`s.
// a file that includes itself would else use up the number of files, and those after it were missing
const MAX_INCLUDE_DEPTH: usize = 8;

/// The settings that affect fair share and the priority of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct SlurmConf {
    /// The policy by its name as in `--policy`: `fair-tree`, the default since 19.05,
    /// `depth-oblivious` or `classic`. It applies under `priority/multifactor` only.
    pub policy: &'static str,
    /// `PriorityDecayHalfLife` in seconds, 0 for usage that does not decay. Default: 7 days.
    pub decay_half_life: u32,
    /// `PriorityCalcPeriod`: the time between two calculations, in seconds. Default: 300.
    pub calc_period: u32,
    /// `FairShareDampeningFactor`, the divisor of the factor's exponent, 1..=65535; not used by
    /// fair tree. Default: 1.
    pub dampening_factor: u16,
    /// Whether `scontrol show config` printed the settings. Before 23.02 it prints `NO_NORMAL_ALL`
    /// for each of the flags that begin with `NO_NORMAL_`.
    pub is_printed: bool,
    /// The settings of the multifactor priority.
    pub priority: PrioritySettings,
    /// One record for each node, by the key `NodeName`, with what the lines for `DEFAULT` give it.
    pub(crate) nodes: Vec<Record>,
    /// One record for each partition, by the key `PartitionName`.
    pub(crate) partitions: Vec<Record>,
    /// The settings that are invalid, have no effect, contradict others or were removed, in the
    /// order of the files.
    pub warnings: Vec<Message>,
    /// The first of them with which `slurmctld` does not start.
    start_fault: Option<String>,
    /// The values in the files, but for the wrong ones, by their names in [`KEYS`], and the lines that
    /// set them.
    values: HashMap<&'static str, (String, Place)>,
}

impl Default for SlurmConf {
    fn default() -> Self {
        Self {
            policy: FAIR_TREE,
            decay_half_life: 7 * 24 * 60 * 60,
            calc_period: 5 * 60,
            dampening_factor: 1,
            is_printed: false,
            priority: PrioritySettings {
                max_age: 7 * 24 * 60 * 60,
                ..PrioritySettings::default()
            },
            nodes: Vec::new(),
            partitions: Vec::new(),
            warnings: Vec::new(),
            start_fault: None,
            values: HashMap::new(),
        }
    }
}

impl SlurmConf {
    /// Checks that slurmctld starts with the settings.
    ///
    /// # Errors
    /// The first setting with which it does not.
    pub fn require_start(&self) -> Result<(), String> {
        self.start_fault.clone().map_or(Ok(()), Err)
    }

    /// The value of a setting that affects fair share or priorities; `None` if the files do not set
    /// it, or as slurmctld refuses it, so that it has its default.
    pub fn value(&self, key: &str) -> Option<&str> {
        Some(&self.values.get(key)?.0)
    }

    /// Reads a text in its folder, from which it may include files. One that cannot be read is a
    /// warning, and so is an `Include` in a text without a folder.
    ///
    /// ```
    /// use jsf_slurm::SlurmConf;
    ///
    /// let text = b"PriorityType=priority/multifactor\npriorityflags=NO_FAIR_TREE\n";
    /// let conf = SlurmConf::parse("slurm.conf", text, None);
    /// assert_eq!((conf.policy, conf.decay_half_life), ("classic", 604_800));
    /// assert_eq!(conf.warnings, []);
    /// ```
    pub fn parse(source_name: &str, bytes: &[u8], folder: Option<&Path>) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut settings = Settings {
            folder,
            files: 1,
            at: Place::default(),
            defaults: HashMap::new(),
            conf: Self::default(),
        };
        if text.trim_start().starts_with(SHOW_CONFIG) {
            settings.conf.is_printed = true;
            settings.read_show_config(source_name, &text);
        } else {
            settings.read_file(source_name, &text, 0);
        }
        settings.interpret();
        settings.conf
    }
}

/// Slurm's default policy.
const FAIR_TREE: &str = "fair-tree";

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

/// A line of a file.
#[derive(Debug, Clone, Default, PartialEq)]
struct Place {
    file: String,
    line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, line {}", self.file, self.line)
    }
}

/// Reads the files.
struct Settings<'a> {
    /// The folder of the included files.
    folder: Option<&'a Path>,
    /// The number of files that were read.
    files: usize,
    /// The line that is read or interpreted.
    at: Place,
    /// What the lines for `DEFAULT` give nodes and partitions, by the first key in lower case.
    defaults: HashMap<String, Record>,
    conf: SlurmConf,
}

impl Settings<'_> {
    fn read_file(&mut self, file: &str, text: &str, depth: usize) {
        for (number, line) in logical_lines(text) {
            self.begin_line(file, number);
            match include_target(&line) {
                Some(name) => self.include_file(name, depth),
                None => self.read_line(&line),
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
        // in the name of an included file `%c` is the cluster, as far as a line above has named it
        let cluster = self.conf.value("ClusterName").unwrap_or_default();
        let name = name.trim_matches('"').replace("%c", cluster);
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
                    return self.add_objects(text);
                }
                Ok((key, value)) => self.set(key, value),
                Err(rest) => {
                    let text = clipped(rest);
                    let fault =
                        format!("`{text}` is not `Key=Value`; slurmctld does not start with it");
                    self.warn_of_start(&fault, "");
                }
            }
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        let Some(known) = canonical_name(KEYS, key) else {
            let is_priority = key.to_ascii_lowercase().starts_with("priority");
            // only of the keys of priorities all are listed here, so that no other one can be said
            // to be wrong
            if is_priority && canonical_name(OTHER_KEYS, key).is_none() {
                let key = clipped(key);
                let fault =
                    format!("`{key}` is not a Slurm setting; slurmctld does not start with it");
                self.warn_of_start(&fault, "");
            }
            return;
        };
        let found = (value.to_owned(), self.at.clone());
        if let Some((_, before)) = self.conf.values.insert(known, found) {
            self.warn(&format!(
                "`{known}` is on line {} of `{}` too; this line replaces it",
                before.line, before.file
            ));
        }
    }

    /// Adds the nodes or partitions of a line; it may describe something else.
    fn add_objects(&mut self, text: &str) {
        let mut settings = split_settings(text).into_iter().flatten();
        let Some((kind, names)) = settings.next() else {
            return;
        };
        let kind = kind.to_ascii_lowercase();
        let objects = match kind.as_str() {
            "nodename" => &mut self.conf.nodes,
            "partitionname" => &mut self.conf.partitions,
            _ => return,
        };
        let line = self.at.line;
        let mut record = self.defaults.get(&kind).cloned().unwrap_or_default();
        for (key, value) in settings {
            record.set(key, value, line);
        }
        if !names.eq_ignore_ascii_case("DEFAULT") {
            for name in expand(names) {
                let mut object = record.clone();
                object.set(&kind, &name, line);
                objects.push(object);
            }
        }
        for (key, form) in FORMS {
            if let Some(value) = record.get(key)
                && !form.accepts(value)
            {
                self.warn_of_bad_value(key, value, form.expected());
                break;
            }
        }
        if names.eq_ignore_ascii_case("DEFAULT") {
            self.defaults.insert(kind, record);
        }
    }

    /// Interprets each setting as the daemon does; a value that is wrong is a warning.
    fn interpret(&mut self) {
        let mut settings = Vec::from_iter(self.conf.values.clone());
        // lines of two files may have the same number
        settings.sort_by(|(_, (_, one)), (_, (_, other))| {
            (&one.file, one.line).cmp(&(&other.file, other.line))
        });
        for (key, (value, at)) in settings {
            self.at = at;
            match key {
                "PriorityType" => self.interpret_priority_type(&value),
                "PriorityFlags" => self.interpret_flags(&value.to_ascii_uppercase()),
                _ => {
                    if let Err(expected) = self.conf.set(key, &value) {
                        self.conf.values.remove(key);
                        self.warn_of_bad_value(key, &value, expected);
                    }
                }
            }
        }
        let order = self.conf.value("AccountingStorageTRES").unwrap_or_default();
        let order = order.to_ascii_lowercase();
        if self.conf.priority.sort_tres(&order)
            && let Some((value, at)) = self.conf.values.get("PriorityWeightTRES").cloned()
        {
            self.at = at;
            let expected = "resources that Slurm tracks: those of `AccountingStorageTRES`, and cpu, mem, energy, node, \
                            billing, fs/disk, vmem and pages";
            self.warn_of_bad_value("PriorityWeightTRES", &value, expected);
        }
        let reset = self.conf.value("PriorityUsageResetPeriod");
        if self.conf.decay_half_life == 0
            // usage is not reset by default
            && reset.is_none_or(|period| period.eq_ignore_ascii_case("none"))
            && let Some((_, at)) = self.conf.values.get("PriorityDecayHalfLife")
        {
            self.at = at.clone();
            let text =
                "usage neither decays nor is reset; give `PriorityUsageResetPeriod` a period";
            self.warn(text);
        }
    }

    fn interpret_priority_type(&mut self, value: &str) {
        let plugin = value.to_ascii_lowercase();
        match plugin.strip_prefix("priority/").unwrap_or(&plugin) {
            "multifactor" => {}
            "basic" => self.warn("under `priority/basic` jobs run in the order of submission; fair share has no effect"),
            other => {
                let plugin = clipped(other);
                let text =
                    format!("the plugin `{plugin}` is not known; `priority/multifactor` is assumed");
                self.warn(&text);
            }
        }
    }

    /// Interprets `PriorityFlags`, in capitals. The daemon searches the whole text for each flag,
    /// for `DEPTH_OBLIVIOUS` first.
    fn interpret_flags(&mut self, text: &str) {
        self.conf.policy = if text.contains("DEPTH_OBLIVIOUS") {
            "depth-oblivious"
        } else if text.contains("NO_FAIR_TREE") {
            "classic"
        } else {
            FAIR_TREE
        };
        self.conf.priority.set_flags(text);
        for flag in text.split(',').map(str::trim) {
            if flag == "TICKET_BASED" {
                let text = format!(
                    "{}: `TICKET_BASED` was removed in 15.08 and is ignored; for 14.11 and earlier ",
                    self.at
                );
                let needs = [Need::Policy("ticket-based")];
                self.conf.warnings.push(Message::asking(text, needs));
            } else if !flag.is_empty() && !FLAGS.contains(&flag) {
                let flag = clipped(flag);
                let text = format!("`{flag}` is not a priority flag; slurmctld ignores it");
                self.warn(&text);
            }
        }
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
        let lower = value.to_ascii_lowercase();
        match key {
            "PriorityDecayHalfLife" => {
                let expected = "a time, or 0 for usage that does not decay";
                self.decay_half_life = stored_seconds(parse_minutes(value).ok_or(expected)?);
            }
            "PriorityCalcPeriod" => match parse_minutes(value) {
                Some(minutes @ 1..) => self.calc_period = stored_seconds(minutes),
                _ => return Err("a time of at least one minute"),
            },
            "FairShareDampeningFactor" => match value.parse() {
                Ok(factor @ 1..) => self.dampening_factor = factor,
                _ => return Err("a whole number from 1 to 65535"),
            },
            "PriorityUsageResetPeriod" => match lower.as_str() {
                "none" | "now" | "daily" | "weekly" | "monthly" | "quarterly" | "yearly" => {}
                _ => {
                    return Err(
                        "`NONE`, `NOW`, `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`",
                    );
                }
            },
            _ => return self.priority.set(key, value),
        }
        Ok(())
    }
}

/// The text of a file in a folder; an error says why it is not read.
fn read_included(folder: Option<&Path>, name: &str) -> io::Result<String> {
    let Some(mut folder) = folder else {
        return Err(io::Error::other("the folder of `slurm.conf` is not known"));
    };
    if folder.as_os_str().is_empty() {
        folder = Path::new(".");
    }
    let folder = fs::canonicalize(folder)?;
    let path = fs::canonicalize(folder.join(name))?;
    // a `slurm.conf` from another site must not have any file of this system read
    if !path.starts_with(&folder) {
        return Err(io::Error::other("it is outside the folder of `slurm.conf`"));
    }
    // opening a pipe would wait for a writer
    if !fs::metadata(&path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let fault = format!("it is longer than {MAX_FILE_BYTES} bytes");
        return Err(io::Error::other(fault));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn canonical_name(names: &[&'static str], name: &str) -> Option<&'static str> {
    let mut names = names.iter().copied();
    names.find(|known| known.eq_ignore_ascii_case(name))
}

/// The file that an `Include` names.
fn include_target(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(|c: char| c.is_ascii_whitespace())?;
    let is_include = word.eq_ignore_ascii_case("include") && !rest.trim_start().starts_with('=');
    is_include.then_some(rest.trim())
}

/// Splits a line into its settings, `Key=Value` or `Key="some value"`, which are separated by
/// blanks. Text that is not a setting is returned as `Err`.
fn split_settings(line: &str) -> Vec<Result<(&str, &str), &str>> {
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
        // Slurm's parser takes an operator before the `=`
        settings.push(Ok((key.trim_end_matches(['+', '-', '*', '/']), value)));
        rest = after.trim_start();
    }
    settings
}

/// Splits a text before the first such character.
fn split_before(text: &str, is_end: fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

/// The lines that are not blank, after comments are removed, continued lines joined and escapes
/// resolved; each with the number of its first line in the file.
pub fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, first)) = lines.next() {
        let mut joined = without_comment(first).to_owned();
        while let Some(end) = continued(&joined) {
            joined.truncate(end);
            let Some((_, next)) = lines.next() else { break };
            joined.push_str(without_comment(next));
        }
        let text = unescaped(joined.trim());
        if !text.is_empty() {
            found.push((number, text));
        }
    }
    found
}

/// The line up to the first `#` without a backslash before it.
fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if c == '#' && !escaped {
            return &line[..at];
        }
        escaped = c == '\\' && !escaped;
    }
    line
}

/// The length of a line without the backslash at its end, which joins the next line to it; `None`
/// if it has none.
fn continued(line: &str) -> Option<usize> {
    let text = line.trim_end();
    let backslashes = text.bytes().rev().take_while(|&byte| byte == b'\\').count();
    // two of them are one escaped backslash
    (backslashes % 2 == 1).then(|| text.len() - 1)
}

/// The line with its escapes resolved.
fn unescaped(line: &str) -> String {
    let mut chars = line.chars();
    let mut text = String::with_capacity(line.len());
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text
}

/// The settings of nodes and partitions on which priorities depend.
const FORMS: [(&str, Form); 12] = [
    ("PriorityJobFactor", Form::Count),
    ("PriorityTier", Form::Count),
    ("Priority", Form::Count),
    ("MaxTime", Form::Limit),
    ("CPUs", Form::Count),
    ("Procs", Form::Count),
    ("Boards", Form::Count),
    ("Sockets", Form::Count),
    ("SocketsPerBoard", Form::Count),
    ("CoresPerSocket", Form::Count),
    ("ThreadsPerCore", Form::Count),
    ("CoreSpecCount", Form::Count),
];

/// The most names that are made of one list of hosts, so that `n[1-999999999]` cannot use up the
/// memory.
const MAX_NAMES: usize = 200_000;

/// The names of a list of hosts, `n[1-8,12],gpu[01-04]`. A part that is not a range stays as it is.
fn expand(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in split_outside_brackets(list) {
        expand_part(part, &mut names);
    }
    names.truncate(MAX_NAMES);
    names
}

/// The parts between commas that are not in brackets.
fn split_outside_brackets(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

/// Appends the names of `prefix[ranges]suffix`; the suffix may have brackets again.
fn expand_part(part: &str, names: &mut Vec<String>) {
    let (prefix, rest) = part.split_once('[').unwrap_or((part, ""));
    let Some((ranges, suffix)) = rest.split_once(']') else {
        names.push(part.to_owned());
        return;
    };
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) else {
            continue;
        };
        for number in from..=to {
            if names.len() >= MAX_NAMES {
                return;
            }
            expand_part(&format!("{prefix}{number:0width$}{suffix}"), names);
        }
    }
}
