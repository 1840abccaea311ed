//! Recognises what a file is by its content, so that a wrong one is refused with what it seems to
//! be.

use jsf_json::{clipped, strip_byte_order_mark};
use jsf_slurm::SlurmDocument;

use crate::scanner::{Next, ObjectKeys, Scanner};

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
        if head.starts_with(b"PBS_MAG!") {
            return Self::Usage;
        }
        // the magic of a POSIX tar header is at byte 257
        if head.get(257..262) == Some(b"ustar") {
            return Self::Archive;
        }
        let text = String::from_utf8_lossy(head);
        let start = text.trim_start();
        match start.chars().next() {
            None => Self::Empty,
            // before control characters are looked for: some versions of qstat print them in JSON
            // as they are
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
        if kind == Self::Json
            && (text.contains("\"pbs_version\"") || text.contains("\"pbs_server\""))
        {
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

    /// What a file of this kind is that begins with these bytes, in place of what is expected, and
    /// what to do about it.
    pub fn refusal(self, head: &[u8], expected: &str) -> String {
        let hint = match self {
            Self::Empty => "; check whether the command that wrote it failed",
            Self::Binary if is_utf16(head) => "; convert it: `iconv -f UTF-16 -t UTF-8`",
            _ => "",
        };
        format!("{}, expected {expected}{hint}", self.found(head))
    }

    fn found(self, head: &[u8]) -> String {
        let description = self.description();
        if self == Self::Binary && is_utf16(head) {
            return "is text in UTF-16".to_owned();
        }
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
            Self::Binary => "is binary data, or text in another encoding than UTF-8",
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
    let mut keys = KEYS.into_iter();
    Some(keys.find(|(known, _)| *known == key)?.1)
}

/// The kind of a JSON document by the first of its keys that some kind of document has; of a
/// damaged one, also by a key inside.
fn detect_in_json(text: &str) -> FileKind {
    let Some(kind) = first_key(text).or_else(|| key_inside(text)) else {
        return FileKind::Json;
    };
    match kind {
        // a tree in native JSON may give the shares of its root first
        FileKind::SlurmTree if has_key(text, "children") => FileKind::NativeTree,
        // `squeue --json` has its jobs under the same key
        FileKind::NativeJobs if has_key(text, "accrue_time") => {
            FileKind::Slurm(SlurmDocument::Jobs)
        }
        kind => kind,
    }
}

/// The kind by the first key anywhere in a text that shows it.
fn key_inside(text: &str) -> Option<FileKind> {
    for (at, _) in text.match_indices('"') {
        let (key, rest) = text[at + 1..].split_once('"')?;
        if rest.trim_start().starts_with(':')
            && let Some(kind) = of_key(key)
        {
            return Some(kind);
        }
    }
    None
}

/// The kind by the first key that shows it, of a text that is valid up to there.
fn first_key(text: &str) -> Option<FileKind> {
    let mut scanner = Scanner::new(text);
    let mut keys = ObjectKeys::new();
    scanner.space();
    scanner.take(b'{')?;
    while let Next::Value(kind, _) = keys.next(&mut scanner, of_key)? {
        if kind.is_some() {
            return kind;
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
    match text.strip_prefix(key) {
        Some(rest) => rest.trim_start().starts_with(':'),
        None => false,
    }
}

fn detect_in_text(text: &str) -> FileKind {
    if text.starts_with("### PBS INTERNAL FILE") {
        return FileKind::SchedFormula;
    }
    if let Some(document) = SlurmDocument::detect(text) {
        return FileKind::Slurm(document);
    }
    for line in text.lines() {
        if let Some(kind) = detect_in_line(line).or_else(|| detect_in_listing(line)) {
            return kind;
        }
    }
    for line in text.lines().map(str::trim_start) {
        if !line.is_empty() && !line.starts_with('#') {
            return kind_of_line(line);
        }
    }
    FileKind::Empty
}

/// The kind of a file of lines with several words, by the first one.
fn kind_of_line(line: &str) -> FileKind {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [_, cgroup, _, shares, ..] = words[..]
        && is_integer(cgroup)
        && is_integer(shares)
    {
        return FileKind::ResourceGroup;
    }
    for word in words.iter().skip(1) {
        if word.starts_with("type=") || word.starts_with("flag=") {
            return FileKind::ResourceDef;
        }
    }
    FileKind::Text
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
    for (prefix, kind) in PREFIXES {
        if line.starts_with(prefix) {
            return Some(kind);
        }
    }
    if let Some(kind) = of_job_line(line.trim_start()) {
        return Some(kind);
    }
    let mut words = line.split_whitespace();
    let (job, id) = (words.next(), words.next());
    let is_job_id = job.unwrap_or_default().eq_ignore_ascii_case("job")
        && id.unwrap_or_default().eq_ignore_ascii_case("id");
    let has_shares = line.contains("RawShares") || line.contains("NormShares");
    // the heading of `qstat` has `Name`, that of `qstat -a` has `Jobname`
    if is_job_id && line.contains("ame") {
        Some(FileKind::JobSummary)
    } else if is_of_a_node(line) {
        Some(FileKind::Nodes)
    } else if has_shares && line.contains("Account") {
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
    let mut bytes = name.bytes();
    if !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
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
    let attribute = if let Some(fields) = line.strip_prefix("Name=") {
        let (_, attributes) = fields.split_once('|').unwrap_or_default();
        attributes.split('=').next()
    } else if let Some(attribute) = line.strip_prefix("     ") {
        attribute.split(" = ").next()
    } else {
        None
    };
    ATTRIBUTES.contains(&attribute.unwrap_or_default())
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
    for (index, separator) in [(2, b'/'), (5, b'/'), (10, b' '), (13, b':'), (16, b':')] {
        if line.as_bytes().get(index) != Some(&separator) {
            return false;
        }
    }
    true
}

/// Whether a text begins with the byte order mark of UTF-16, with which PowerShell writes files.
fn is_utf16(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff")
}

fn is_binary(head: &[u8]) -> bool {
    let start = &head[..head.len().min(512)];
    for byte in start {
        if *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b) {
            return true;
        }
    }
    String::from_utf8_lossy(start).matches('\u{fffd}').count() > 16
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
