//! Recognises what a file is by its content, so that a wrong one is refused with what it seems to
//! be.

use jsf_json::{clipped, strip_byte_order_mark};
use jsf_slurm::SlurmDocument;

use crate::json_scanner::Scanner;
use crate::object_keys::{Next, ObjectKeys};

/// How many lines that begin with `{` are searched for a job.
const MAX_LINES: usize = 1000;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing but white space and comments.
    Empty,
    /// What `qstat -f -F json` prints.
    QstatJson,
    /// What `qstat -f` prints, wrapped or not.
    QstatText,
    /// What `qstat -f -F dsv` prints.
    QstatDsv,
    /// `{"jobs":[…]}`
    NativeJobs,
    /// A native job per line.
    JobLines,
    /// What `qstat` prints without `-f`.
    JobSummary,
    /// `qstat -Bf`
    Server,
    /// `qstat -Qf`
    Queues,
    /// `pbsnodes -av`
    Nodes,
    /// `pbs_rstat -f`
    Reservations,
    /// A listing of `qmgr`.
    Qmgr,
    /// `resourcedef`
    ResourceDef,
    /// `resource_group`
    ResourceGroup,
    /// `sched_priv/usage`
    Usage,
    /// `sched_config`
    SchedConfig,
    /// `sched_formula`
    SchedFormula,
    /// `sshare` or `sacctmgr dump`
    SlurmTree,
    /// A tree in native JSON.
    NativeTree,
    /// `flux account export-db --fairshare-emulate`
    FluxTree,
    /// `slurm.conf`
    SlurmConf,
    /// Another output of Slurm's commands.
    Slurm(SlurmDocument),
    /// A log of a daemon.
    Log,
    /// The error message of a command.
    CommandError,
    /// A tar archive, or what is compressed.
    Archive,
    /// Anything else that is not text.
    Binary,
    /// Another document in JSON.
    Json,
    /// Another text.
    Text,
}

impl FileKind {
    /// The kinds of job documents.
    pub const JOBS: [Self; 5] = [
        Self::QstatJson,
        Self::QstatText,
        Self::QstatDsv,
        Self::NativeJobs,
        Self::JobLines,
    ];

    /// What a file is that begins with these bytes.
    pub fn detect(head: &[u8]) -> Self {
        let head = strip_byte_order_mark(head);
        if head.starts_with(b"PBS_MAG!") || is_first_version_of_usage(head) {
            return Self::Usage;
        }
        if head.get(257..262) == Some(b"ustar") {
            return Self::Archive;
        }
        let text = String::from_utf8_lossy(head);
        let start = text.trim_start();
        match start.chars().next() {
            None => Self::Empty,
            Some('{') => detect_in_json(start),
            Some('[') if start[1..].trim_start().starts_with(['{', ']']) => Self::Json,
            _ if is_binary(head) => Self::Binary,
            _ => detect_in_text(&text),
        }
    }

    /// What a text is that should have jobs, which may be behind other lines, such as a shell's
    /// prompt or an error of qstat.
    pub(crate) fn of_jobs(text: &str) -> Self {
        let kind = Self::detect(text.as_bytes());
        // a server without jobs prints no more
        let is_of_pbs = || text.contains("\"pbs_version\"") || text.contains("\"pbs_server\"");
        if kind == Self::Json && is_of_pbs() {
            return Self::QstatJson;
        }
        if Self::JOBS.contains(&kind) {
            return kind;
        }
        let mut json_lines = 0;
        for line in text.lines().map(str::trim) {
            if let Some(kind) = of_job_line(line) {
                return kind;
            }
            if begins_with_key(line, "\"Jobs\"") {
                return Self::QstatJson;
            }
            if line.starts_with('{') && json_lines < MAX_LINES {
                json_lines += 1;
                if detect_in_json(line) == Self::JobLines {
                    return Self::JobLines;
                }
            }
        }
        kind
    }

    /// Whether it is of Slurm's tools.
    pub fn is_of_slurm(self) -> bool {
        matches!(self, Self::Slurm(_) | Self::SlurmTree | Self::SlurmConf)
    }

    /// What a file of this kind is that begins with these bytes, for messages.
    pub fn found(self, head: &[u8]) -> String {
        let description = self.description();
        if !matches!(self, Self::Text | Self::CommandError) {
            return description.to_owned();
        }
        let head = String::from_utf8_lossy(&head[..head.len().min(400)]);
        let mut lines = head.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
        format!("{description} and begins with `{}`", clipped(line))
    }

    /// What the file is, for messages.
    pub fn description(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::QstatJson
            | Self::QstatText
            | Self::QstatDsv
            | Self::NativeJobs
            | Self::JobLines => "is a document of jobs, such as `qstat -f` prints",
            Self::JobSummary => {
                "is the table that `qstat` prints without `-f`, which lacks most attributes"
            }
            Self::Server => "describes a server, as `qstat -Bf` prints it",
            Self::Queues => "describes queues, as `qstat -Qf` prints them",
            Self::Nodes => "describes nodes, as `pbsnodes` prints them",
            Self::Reservations => "describes reservations, as `pbs_rstat -f` prints them",
            Self::Qmgr => "is a listing of `qmgr`",
            Self::ResourceDef => "is a `resourcedef`, which declares resources",
            Self::ResourceGroup => "is a `resource_group`, which gives shares",
            Self::Usage => "is a binary usage file of the scheduler",
            Self::SchedConfig => "is a `sched_config`",
            Self::SchedFormula => "is a `sched_formula`",
            Self::SlurmTree => "is a tree of Slurm, as `sshare` or `sacctmgr` prints it",
            Self::NativeTree => "is a fair-share tree in native JSON",
            Self::FluxTree => {
                "is a tree of flux-accounting, as `flux account export-db --fairshare-emulate` prints it"
            }
            Self::SlurmConf => "contains settings of Slurm, as `slurm.conf` does",
            Self::Slurm(SlurmDocument::Jobs) => {
                "is a document of Slurm's jobs, as `squeue --json` prints it"
            }
            Self::Slurm(SlurmDocument::Partitions) => {
                "describes partitions, as `scontrol show partition` prints them"
            }
            Self::Slurm(SlurmDocument::Nodes) => {
                "describes nodes, as `scontrol show node` prints them"
            }
            Self::Slurm(SlurmDocument::Qos) => {
                "describes qualities of service, as `sacctmgr -P show qos` prints them"
            }
            Self::Slurm(SlurmDocument::Associations) => {
                "lists associations, as `sacctmgr -P show assoc` prints them"
            }
            Self::Slurm(SlurmDocument::Sprio) => "is a table of `sprio`",
            Self::Log => "is a log, such as a daemon of PBS writes",
            Self::CommandError => "contains the error message of a command instead of its output",
            Self::Archive => "is an archive",
            Self::Binary => "is binary data",
            Self::Json => "is another JSON document",
            Self::Text => "is another text",
        }
    }
}

/// The keys that show what a JSON document is.
const KEYS: [(&str, FileKind); 13] = [
    ("Jobs", FileKind::QstatJson),
    ("Server", FileKind::Server),
    ("Queue", FileKind::Queues),
    ("nodes", FileKind::Nodes),
    ("jobs", FileKind::NativeJobs),
    ("root", FileKind::FluxTree),
    ("children", FileKind::NativeTree),
    ("shares", FileKind::SlurmTree),
    ("associations", FileKind::SlurmTree),
    ("id", FileKind::JobLines),
    ("resources", FileKind::JobLines),
    ("inputs", FileKind::JobLines),
    ("entity", FileKind::JobLines),
];

fn of_key(key: &str) -> Option<FileKind> {
    let (_, kind) = KEYS.into_iter().find(|(known, _)| *known == key)?;
    Some(kind)
}

/// The kind of a JSON document by the first of its keys that some kind of document has; of a
/// damaged one, also by a key inside.
fn detect_in_json(text: &str) -> FileKind {
    let mut quotes = text.match_indices('"').map(|(at, _)| &text[at + 1..]);
    let first = first_key(text).map(|(kind, _)| kind);
    let kind = first.or_else(|| {
        quotes.find_map(|rest| {
            let (key, rest) = rest.split_once('"')?;
            of_key(key).filter(|_| rest.trim_start().starts_with(':'))
        })
    });
    match kind {
        // a tree in native JSON may give the shares of its root first
        Some(FileKind::SlurmTree) if has_key(text, "children") => FileKind::NativeTree,
        Some(FileKind::NativeJobs) if has_key(text, "accrue_time") => {
            FileKind::Slurm(SlurmDocument::Jobs)
        }
        Some(kind) => kind,
        None => FileKind::Json,
    }
}

/// The kind by the first key that shows it, of a text that is valid up to there, and where the
/// value of the key begins.
pub(crate) fn first_key(text: &str) -> Option<(FileKind, usize)> {
    let mut scanner = Scanner::new(text);
    let mut keys = ObjectKeys::new();
    scanner.space();
    scanner.take(b'{')?;
    let mut is_first = true;
    while let Next::Value(kind, _) = keys.next(&mut scanner, is_first, of_key)? {
        is_first = false;
        if let Some(kind) = kind {
            return Some((kind, scanner.at));
        }
        scanner.skip_value()?;
    }
    None
}

fn has_key(text: &str, key: &str) -> bool {
    let key = format!("\"{key}\"");
    let mut found = text.match_indices(&key);
    found.any(|(at, _)| begins_with_key(&text[at..], &key))
}

fn begins_with_key(text: &str, key: &str) -> bool {
    text.strip_prefix(key)
        .is_some_and(|rest| rest.trim_start().starts_with(':'))
}

fn detect_in_text(text: &str) -> FileKind {
    if text.starts_with("### PBS INTERNAL FILE") {
        return FileKind::SchedFormula;
    }
    if let Some(document) = SlurmDocument::detect(text) {
        return FileKind::Slurm(document);
    }
    let by_line = text
        .lines()
        .find_map(|line| detect_in_line(line).or_else(|| detect_in_listing(line)));
    if let Some(kind) = by_line {
        return kind;
    }
    let mut lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = lines.next() else {
        return FileKind::Empty;
    };
    let words: Vec<&str> = first.split_whitespace().collect();
    let declares = |word: &&str| word.starts_with("type=") || word.starts_with("flag=");
    match words.as_slice() {
        [_, cgroup, _, shares, ..] if is_integer(cgroup) && is_integer(shares) => {
            FileKind::ResourceGroup
        }
        [_, rest @ ..] if rest.iter().any(declares) => FileKind::ResourceDef,
        _ => FileKind::Text,
    }
}

/// The kind of a document with this line if the line begins a job of qstat.
fn of_job_line(line: &str) -> Option<FileKind> {
    let job = line.strip_prefix("Job Id:")?;
    Some(if job.contains('=') {
        FileKind::QstatDsv
    } else {
        FileKind::QstatText
    })
}

/// The kind of a file, by one of its lines.
fn detect_in_line(line: &str) -> Option<FileKind> {
    const PREFIXES: [(&str, FileKind); 13] = [
        ("qstat: ", FileKind::CommandError),
        ("qmgr: ", FileKind::CommandError),
        ("qmgr obj=", FileKind::CommandError),
        ("pbs_iff", FileKind::CommandError),
        ("sshare: ", FileKind::CommandError),
        ("sacctmgr: error", FileKind::CommandError),
        ("Connection refused", FileKind::CommandError),
        ("Server: ", FileKind::Server),
        ("Queue: ", FileKind::Queues),
        ("Resv ID:", FileKind::Reservations),
        ("Cluster - ", FileKind::SlurmTree),
        ("Account|", FileKind::SlurmTree),
        ("Cluster|Account", FileKind::SlurmTree),
    ];
    let mut prefixes = PREFIXES.into_iter();
    if let Some((_, kind)) = prefixes.find(|(prefix, _)| line.starts_with(prefix)) {
        return Some(kind);
    }
    let words: Vec<&str> = line.split_whitespace().take(2).collect();
    let is_job_id = matches!(words[..], [job, id] if job.eq_ignore_ascii_case("job") && id.eq_ignore_ascii_case("id"));
    let has_shares = line.contains("RawShares") || line.contains("NormShares");
    if let Some(kind) = of_job_line(line.trim_start()) {
        Some(kind)
    } else if is_job_id && line.contains("ame") {
        Some(FileKind::JobSummary)
    } else if is_of_a_node(line) {
        Some(FileKind::Nodes)
    } else if line.contains("Account") && has_shares {
        Some(FileKind::SlurmTree)
    } else if line.contains(";pbs_sched;") || line.contains(";Server@") || is_dated(line) {
        Some(FileKind::Log)
    } else {
        None
    }
}

/// The kind of a listing of `qmgr` or of a configuration, by one of its lines.
fn detect_in_listing(line: &str) -> Option<FileKind> {
    const SETTINGS: [&str; 22] = [
        "round_robin",
        "by_queue",
        "strict_ordering",
        "fair_share",
        "unknown_shares",
        "fairshare_entity",
        "fairshare_usage_res",
        "fairshare_decay_time",
        "fairshare_decay_factor",
        "half_life",
        "job_sort_key",
        "node_sort_key",
        "preemptive_sched",
        "preempt_prio",
        "primetime_prefix",
        "nonprimetime_prefix",
        "prime_spill",
        "backfill",
        "backfill_prime",
        "dedicated_prefix",
        "help_starving_jobs",
        "resources",
    ];
    let words: Vec<&str> = line.split_whitespace().take(3).collect();
    match words.as_slice() {
        [
            "create" | "set",
            "server" | "queue" | "resource" | "sched" | "node" | "hook",
            _,
        ] => {
            return Some(FileKind::Qmgr);
        }
        ["Server" | "Queue" | "Sched" | "Resource" | "Node", _]
            if line.starts_with(char::is_uppercase) =>
        {
            return Some(FileKind::Qmgr);
        }
        ["Configuration", "data", "as"] => return Some(FileKind::SlurmConf),
        _ => {}
    }
    let (name, value) = line.split_once([':', '='])?;
    let is_assigned = line[name.len()..].starts_with('=');
    let name = name.trim();
    let is_word = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_word {
        None
    } else if !is_assigned && SETTINGS.contains(&name) {
        Some(FileKind::SchedConfig)
    } else if is_assigned && !value.starts_with('=') && is_slurm_setting(name) {
        Some(FileKind::SlurmConf)
    } else {
        None
    }
}

/// The attributes with which pbsnodes begins the description of a node, as text or dsv.
fn is_of_a_node(line: &str) -> bool {
    const ATTRIBUTES: [&str; 4] = ["Mom", "Port", "ntype", "pcpus"];
    let in_dsv = line
        .strip_prefix("Name=")
        .and_then(|line| line.split_once('|'));
    let attribute = match in_dsv {
        Some((_, attributes)) => attributes.split('=').next(),
        None => line
            .strip_prefix("     ")
            .and_then(|line| line.split(" = ").next()),
    };
    attribute.is_some_and(|attribute| ATTRIBUTES.contains(&attribute))
}

/// Slurm's settings are written in one word with capitals, and read in any case.
fn is_slurm_setting(name: &str) -> bool {
    const PREFIXES: [&str; 12] = [
        "clustername",
        "slurm",
        "control",
        "priority",
        "nodename",
        "partitionname",
        "fairshare",
        "accounting",
        "auth",
        "select",
        "sched",
        "include",
    ];
    let lower = name.to_ascii_lowercase();
    !name.contains('_') && PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
}

fn is_integer(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `04/17/2026 10:15:00;…`, with which the lines of PBS's logs begin.
fn is_dated(line: &str) -> bool {
    let separators = [(2, b'/'), (5, b'/'), (10, b' '), (13, b':'), (16, b':')];
    separators
        .into_iter()
        .all(|(index, separator)| line.as_bytes().get(index) == Some(&separator))
}

fn is_binary(head: &[u8]) -> bool {
    let start = &head[..head.len().min(512)];
    let has_control = start
        .iter()
        .any(|byte| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b));
    has_control || String::from_utf8_lossy(start).matches('\u{fffd}').count() > 16
}

/// Records of 24 bytes, each with a name that ends with NUL; the first version has no header.
fn is_first_version_of_usage(bytes: &[u8]) -> bool {
    bytes.len() >= 24
        && bytes.chunks_exact(24).take(8).all(|record| {
            let name = record.split(|&byte| byte == 0).next().unwrap_or_default();
            (1..16).contains(&name.len())
                && name
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b".-_: ".contains(byte))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognized_by_its_content() {
        for (text, expected) in [
            (" \n", FileKind::Empty),
            ("# nothing\n", FileKind::Empty),
            ("{\"pbs_version\":\"1\",\"Jobs\":{", FileKind::QstatJson),
            ("{\"Server\":{\"vm\":{}}}", FileKind::Server),
            (
                "{\"children\":[{\"name\":\"a\",\"shares\":1}]}",
                FileKind::NativeTree,
            ),
            ("{\"shares\":1,\"children\":[]}", FileKind::NativeTree),
            (
                "{\"meta\":{},\"shares\":{\"shares\":[]}}",
                FileKind::SlurmTree,
            ),
            ("{\"id\":\"1\"}\n{\"id\":\"2\"}", FileKind::JobLines),
            ("{\"a\":1}", FileKind::Json),
            (
                "Job id            Name             User\n----",
                FileKind::JobSummary,
            ),
            (
                "Job ID          Username Queue    Jobname\n",
                FileKind::JobSummary,
            ),
            ("qstat: Unauthorized Request\n", FileKind::CommandError),
            ("$ qstat -Qf\nQueue: workq\n    a = 1\n", FileKind::Queues),
            ("{\"timestamp\":1,\"nodes\":{\"vm\":{", FileKind::Nodes),
            (
                "$ pbsnodes -av\nvm\n     Mom = vm\n     ntype = PBS\n",
                FileKind::Nodes,
            ),
            ("Name=vm|Mom=vm|ntype=PBS\n", FileKind::Nodes),
            (
                "Resv ID: R1.srv\nReserve_Name = NULL\nreserve_state = RESV_CONFIRMED\n",
                FileKind::Reservations,
            ),
            ("Node vm\n    Mom = vm\n", FileKind::Qmgr),
            ("create node vm Mom=vm\n", FileKind::Qmgr),
            ("set server scheduling = True\n", FileKind::Qmgr),
            ("Resource a\n    type = long\n", FileKind::Qmgr),
            ("group1 100 root 40\n", FileKind::ResourceGroup),
            ("ngpus type=long flag=hn\n", FileKind::ResourceDef),
            (
                "# a comment\nround_robin: False all\n",
                FileKind::SchedConfig,
            ),
            (
                "ClusterName=x\nPriorityType=priority/multifactor\n",
                FileKind::SlurmConf,
            ),
            (
                "PriorityDecayHalfLife   = 14-00:00:00\n",
                FileKind::SlurmConf,
            ),
            (
                "04/17/2026 10:15:00;0400;pbs_sched;Job;1.vm;x\n",
                FileKind::Log,
            ),
            ("PBS_MAG!", FileKind::Usage),
            ("ncpus * 2 if queue_priority == 1 else 0", FileKind::Text),
            ("job_sort_formula = ncpus", FileKind::Text),
            ("a\u{0}\u{1}b", FileKind::Binary),
        ] {
            assert_eq!(FileKind::detect(text.as_bytes()), expected, "{text:?}");
        }
    }
}
