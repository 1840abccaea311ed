//! What a site's files are read for: the usual names of each, what it has to contain, and the
//! consequence if it is missing.

use job_sort_formula::diagnostic::{Message, Need};
use jsf_ingest::FileKind::{self, *};
use jsf_json::clipped;
use jsf_slurm::SlurmDocument;
use serde::{Deserialize, Serialize};

use crate::{SiteError, SiteFiles};

/// What a file of a site is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// The jobs: `qstat -f` as JSON, dsv or text, native JSON or NDJSON.
    Queue,
    /// The server: `qstat -Bf` as text or JSON, `qmgr -c 'print server'`, `qmgr -c 'list sched'`.
    /// Of several that contain a setting, the first one counts.
    Server,
    /// The queues: `qstat -Qf` as text or JSON, or `qmgr -c 'print server'`; the first one that
    /// contains a queue counts.
    Queues,
    /// The site's resources: `resourcedef`, `qmgr -c 'print resource'` or
    /// `qmgr -c 'list resource'`.
    Resources,
    /// The nodes: `pbsnodes -av` as JSON, dsv or text, or `qmgr -c 'print node @default'`.
    Nodes,
    /// The reservations: `pbs_rstat -f`.
    Reservations,
    /// The scheduler's folder `sched_priv`, for those of the next six that are not given.
    SchedPriv,
    /// `resource_group`, the fair-share tree of OpenPBS.
    ResourceGroup,
    /// The binary `usage`.
    Usage,
    /// `sched_config`.
    SchedConfig,
    /// `sched_formula`.
    SchedFormula,
    /// `holidays`, which says when it is prime time.
    Holidays,
    /// `dedicated_time`.
    DedicatedTime,
    /// Another fair-share tree: native JSON, `sshare`, a `sacctmgr dump`, or what flux-accounting
    /// exports.
    Tree,
    /// `slurm.conf`, or the output of `scontrol show config`.
    SlurmConf,
    /// The output of `scontrol show config` beside a `slurm.conf`, of which only the version counts.
    SlurmVersion,
    /// Slurm's partitions: `scontrol show partition -a`.
    Partitions,
    /// Slurm's nodes: `scontrol show node -a`.
    SlurmNodes,
    /// Slurm's qualities of service: `sacctmgr -P show qos`.
    Qos,
    /// The priorities of Slurm's associations: `sacctmgr -P show assoc`.
    Associations,
    /// What Slurm computed: `sprio -l`, `sprio -n`.
    Sprio,
    /// The file with the formula, instead of the formula in force: as for
    /// [`FormulaText::read`](crate::FormulaText::read).
    Formula,
    /// A log of the scheduler.
    Log,
    /// The file in which `pbs_snapshot` writes when it was called.
    Time,
    /// The version of the Python that the server embeds, as `python --version` prints it.
    Python,
    /// `/etc/os-release` of the server's host, or the file in which `pbs_snapshot` writes it.
    System,
}

/// What is known of the files of a role.
pub struct RoleFiles {
    pub role: Role,
    /// Their names in the folder of a site, or in that of the scheduler, the preferred ones first.
    /// `pbs_snapshot` writes those that end in `.out`. Spaces separate them.
    names: &'static str,
    /// What a file must be to have this role, whatever its name is.
    pub shown_by: &'static [FileKind],
    /// What a file may be beside, if its name or the user says that it has this role.
    pub accepted: &'static [FileKind],
    /// The file, for messages.
    pub what: &'static str,
    /// The largest file that is read, in bytes: many times what the largest sites have.
    pub limit: u64,
    /// The heading of the files in a list; empty if they are not listed.
    pub heading: &'static str,
    /// The entry in a list of a site's files if there is no such file: the file, and what follows.
    pub missing: Option<(&'static str, &'static str)>,
}

/// The limit for files with a line or a record for each entity, association or queue.
const LARGE: u64 = 256 << 20;
/// The limit for files that a person writes.
const SMALL: u64 = 16 << 20;

/// The defaults of a row of the table.
const NO_FILE: RoleFiles = RoleFiles {
    role: Role::SchedPriv,
    names: "",
    shown_by: &[],
    accepted: &[],
    what: "",
    limit: LARGE,
    heading: "",
    missing: None,
};

/// Every role, in the order of the enum.
pub static ROLES: [RoleFiles; 26] = [
    RoleFiles {
        role: Role::Queue,
        names: "qstat.json job/qstat_f_F_json.out qstat_f.json qstat.dsv job/qstat_f_F_dsv.out \
              qstat_f.dsv qstat.txt job/qstat_f.out qstat_f.txt squeue.json scontrol_show_job.txt \
              squeue_o.txt jobs.json jobs.ndjson",
        shown_by: &[
            QstatJson,
            QstatText,
            QstatDsv,
            NativeJobs,
            JobLines,
            Slurm(SlurmDocument::Jobs),
        ],
        accepted: &[Json, Text, Empty, Binary],
        what: "jobs: `qstat -f` as JSON, dsv or text, native JSON or NDJSON, `squeue --json` or `scontrol show job`",
        heading: "jobs",
        missing: Some((
            "the jobs",
            "a formula is checked, but nothing can be ranked",
        )),
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Server,
        names: "server.json qstat_Bf.json server/qstat_Bf.out server.txt qstat_Bf.txt \
              server/qmgr_ps.out qmgr_print_server.txt scheduler/qmgr_lsched.out \
              scheduler/qmgr_psched.out qmgr_list_sched.txt qmgr_print_sched.txt",
        shown_by: SETTINGS,
        accepted: &[ResourceDef],
        what: "`qstat -Bf`, `qstat -Qf`, `qmgr -c 'print server'` or `resourcedef`",
        heading: "server",
        missing: Some((
            "the server (`qstat -Bf`)",
            "its defaults, its threshold and `eligible_time_enable` are not known",
        )),
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Queues,
        names: "queues.json qstat_Qf.json server/qstat_Qf.out queues.txt qstat_Qf.txt \
              server/qmgr_pq.out server/qmgr_ps.out qmgr_print_server.txt",
        shown_by: SETTINGS,
        accepted: &[ResourceDef],
        what: "`qstat -Bf`, `qstat -Qf`, `qmgr -c 'print server'` or `resourcedef`",
        heading: "queues",
        missing: Some((
            "the queues (`qstat -Qf`)",
            "`queue_priority` is 0 for every job",
        )),
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Resources,
        names: "resourcedef server_priv/resourcedef server/qmgr_pr.out qmgr_print_resource.txt \
              qmgr_list_resource.txt",
        shown_by: &[Server, Queues, Qmgr, ResourceDef],
        // a site without resources of its own has an empty file
        accepted: &[Empty],
        what: "`resourcedef`, `qmgr -c 'print resource'` or `qmgr -c 'list resource'`",
        heading: "resources",
        missing: Some((
            "the resources (`resourcedef`, `qmgr -c 'print resource'`)",
            "a resource of the site is known only where a job, a queue or the server lists it",
        )),
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Nodes,
        names: "pbsnodes.json pbsnodes_av.json pbsnodes.txt pbsnodes_av.txt node/pbsnodes_va.out \
              node/pbsnodes_avFjson.out node/pbsnodes_avFdsv.out node/qmgr_pn_default.out",
        shown_by: &[Nodes],
        accepted: &[Qmgr],
        what: "nodes: `pbsnodes -av` as JSON, dsv or text, or `qmgr -c 'print node @default'`",
        heading: "nodes",
        // only a scheduling cycle needs them
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Reservations,
        names: "pbs_rstat.txt reservation/pbs_rstat_f.out",
        shown_by: &[Reservations],
        // it is empty if there is no reservation
        accepted: &[Empty],
        what: "reservations: `pbs_rstat -f`",
        limit: SMALL,
        heading: "reservations",
        // only a scheduling cycle needs them
        missing: None,
    },
    // a folder
    RoleFiles {
        role: Role::SchedPriv,
        ..NO_FILE
    },
    RoleFiles {
        role: Role::ResourceGroup,
        names: "resource_group",
        shown_by: &[ResourceGroup],
        accepted: &[Empty],
        what: "`resource_group` with lines `name cgroup parent shares`",
        heading: SCHEDULER,
        missing: Some(("`sched_priv/resource_group`", "there is no fair-share tree")),
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Usage,
        names: "usage",
        shown_by: &[Usage],
        accepted: &[Binary, Empty],
        what: "the scheduler's binary file `usage`",
        heading: SCHEDULER,
        // that it is missing is a warning of the site
        ..NO_FILE
    },
    RoleFiles {
        role: Role::SchedConfig,
        names: "sched_config",
        shown_by: &[SchedConfig],
        accepted: &[Empty],
        what: "`sched_config` with lines `name: value`",
        limit: SMALL,
        heading: SCHEDULER,
        missing: Some((
            "`sched_priv/sched_config`",
            "only the formula orders the jobs, and the defaults are assumed for unknown_shares, \
             fairshare_usage_res, the decay and the fair-share entity",
        )),
    },
    RoleFiles {
        role: Role::SchedFormula,
        names: "sched_formula",
        shown_by: &[SchedFormula],
        accepted: FORMULA,
        what: A_FORMULA,
        heading: SCHEDULER,
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Holidays,
        names: "holidays",
        accepted: &[Text, Empty],
        what: "`holidays` with lines such as `weekday 0600 1730`",
        limit: SMALL,
        heading: SCHEDULER,
        // only a scheduling cycle needs them
        ..NO_FILE
    },
    RoleFiles {
        role: Role::DedicatedTime,
        names: "dedicated_time",
        accepted: &[Text, Empty],
        what: "`dedicated_time` with lines `MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM`",
        limit: SMALL,
        heading: SCHEDULER,
        // only a scheduling cycle needs them
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Tree,
        names: "sshare.json sshare.txt sacctmgr_dump.cfg",
        shown_by: &[SlurmTree, NativeTree, FluxTree],
        accepted: &[Slurm(SlurmDocument::Associations), Json, Text],
        what: "native JSON, `sshare -a -l -P`, `sshare -a --json`, a `sacctmgr dump` or \
               `flux account export-db --fairshare-emulate`",
        heading: "tree",
        missing: Some((
            "Slurm's tree (`sshare -a -l -P`, `sshare -a --json`)",
            "there are no shares",
        )),
        ..NO_FILE
    },
    RoleFiles {
        role: Role::SlurmConf,
        names: "slurm.conf scontrol_show_config.txt",
        shown_by: &[SlurmConf],
        accepted: &[],
        what: "`slurm.conf` or `scontrol show config`",
        limit: SMALL,
        heading: "Slurm",
        missing: Some((
            "`slurm.conf`",
            "Slurm's defaults apply: fair tree, a half-life of 7 days",
        )),
    },
    // what it is good for beside slurm.conf is not missed
    RoleFiles {
        role: Role::SlurmVersion,
        names: "scontrol_show_config.txt",
        accepted: &[SlurmConf, Empty],
        what: "`scontrol show config`",
        limit: SMALL,
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Partitions,
        names: "partitions.txt scontrol_show_partition.txt",
        shown_by: &[Slurm(SlurmDocument::Partitions)],
        what: "partitions: `scontrol show partition -a`",
        heading: "Slurm",
        ..NO_FILE
    },
    RoleFiles {
        role: Role::SlurmNodes,
        names: "nodes.txt scontrol_show_node.txt",
        shown_by: &[Slurm(SlurmDocument::Nodes)],
        what: "nodes: `scontrol show node -a`",
        heading: "Slurm",
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Qos,
        names: "qos.txt sacctmgr_show_qos.txt",
        shown_by: &[Slurm(SlurmDocument::Qos)],
        what: "qualities of service: `sacctmgr -P show qos`",
        heading: "Slurm",
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Associations,
        names: "assoc.txt sacctmgr_show_assoc.txt",
        shown_by: &[Slurm(SlurmDocument::Associations)],
        what: "associations: `sacctmgr -P show assoc`",
        heading: "Slurm",
        ..NO_FILE
    },
    // it is empty if no job is pending
    RoleFiles {
        role: Role::Sprio,
        names: "sprio_o.txt sprio_l.txt sprio_n.txt",
        shown_by: &[Slurm(SlurmDocument::Sprio)],
        accepted: &[Empty],
        what: "priorities: `sprio -l` or `sprio -n`",
        heading: "Slurm",
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Formula,
        accepted: FORMULA,
        what: A_FORMULA,
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Log,
        accepted: &[Log, Text],
        what: "a log of `pbs_sched`",
        limit: 1 << 30,
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Time,
        names: "ctime",
        accepted: &[Text],
        what: "the time of the snapshot",
        limit: 4096,
        ..NO_FILE
    },
    RoleFiles {
        role: Role::Python,
        names: "python_version.txt",
        accepted: &[Text],
        what: "the version of Python, such as `Python 3.9.18`",
        limit: 4096,
        ..NO_FILE
    },
    RoleFiles {
        role: Role::System,
        names: "os_release.txt system/os_info",
        accepted: &[Text],
        what: "`/etc/os-release`",
        limit: 64 << 10,
        ..NO_FILE
    },
];

/// The heading of the files in the scheduler's folder.
const SCHEDULER: &str = "scheduler";
const SETTINGS: &[FileKind] = &[Server, Queues, Qmgr];
const FORMULA: &[FileKind] = &[Server, Qmgr, SchedFormula, Text, Json, Empty];
const A_FORMULA: &str =
    "a formula as text, `sched_formula`, `qstat -Bf` or `qmgr -c 'print server'`";

impl Role {
    /// What is known of the files of this role.
    pub(crate) fn files(self) -> &'static RoleFiles {
        &ROLES[self as usize]
    }

    /// What a file of Slurm's tools is read for.
    pub(crate) fn of_slurm_file(kind: FileKind) -> Option<Self> {
        if !kind.is_of_slurm() {
            return None;
        }
        let files = ROLES.iter().find(|files| files.shown_by.contains(&kind))?;
        Some(files.role)
    }

    /// Whether the file is one of the scheduler's own, in its folder.
    pub(crate) fn is_of_scheduler(self) -> bool {
        self.files().heading == SCHEDULER
    }

    /// Whether a site with these files is expected to have one of this role: those of OpenPBS where
    /// nothing shows a site of Slurm.
    pub(crate) fn is_expected(self, files: &SiteFiles) -> bool {
        match self {
            Self::Queue => files.lacks_queue(),
            Self::Tree => files.has(Self::SlurmConf),
            Self::SlurmConf => files.has(Self::Tree),
            _ => !files.has(Self::Tree) && !files.has(Self::SlurmConf),
        }
    }

    /// Whether only a site of OpenPBS has such a file.
    pub(crate) fn is_of_openpbs(self) -> bool {
        self.is_of_scheduler()
            || matches!(
                self,
                Self::Server | Self::Queues | Self::Resources | Self::Nodes | Self::SchedPriv
            )
    }

    /// Refuses a file that was recognised as one of another kind.
    ///
    /// # Errors
    /// The role does not accept the kind.
    pub(crate) fn require(self, kind: FileKind, name: &str, bytes: &[u8]) -> Result<(), SiteError> {
        let files = self.files();
        if files.shown_by.contains(&kind) || files.accepted.contains(&kind) {
            return Ok(());
        }
        Err(unexpected(kind, name, bytes, files.what))
    }

    /// Whether several files can have this role at the same time.
    pub(crate) fn takes_several(self) -> bool {
        matches!(
            self,
            Self::Server | Self::Queues | Self::Resources | Self::Sprio
        )
    }
}

impl RoleFiles {
    /// Their names, the preferred ones first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }
}

/// The endings of compressed files.
const COMPRESSED: [&str; 2] = [".gz", ".zst"];

/// Whether a folder of this name is a scheduler's: `sched_priv`, or `sched_priv_NAME` for each
/// further scheduler.
pub fn is_sched_priv(folder: &str) -> bool {
    folder == "sched_priv" || folder.starts_with("sched_priv_")
}

/// Whether a site's file has this path, relative to the folder of the site.
pub fn is_site_file(path: &str) -> bool {
    !roles_of(path).is_empty()
}

/// The roles that a file with this path can have.
pub fn roles_of(path: &str) -> Vec<Role> {
    let path = uncompressed(path);
    let in_sched_priv = match path.split_once('/') {
        Some((folder, name)) if is_sched_priv(folder) => Some(name),
        Some(_) => None,
        None => Some(path),
    };
    let mut roles = Vec::new();
    for files in &ROLES {
        let own = if files.role.is_of_scheduler() {
            in_sched_priv
        } else {
            Some(path)
        };
        if let Some(own) = own
            && files.names().any(|name| name == own)
        {
            roles.push(files.role);
        }
    }
    roles
}

/// The name without the ending of a compressed file.
fn uncompressed(path: &str) -> &str {
    for ending in COMPRESSED {
        if let Some(stripped) = path.strip_suffix(ending) {
            return stripped;
        }
    }
    path
}

/// Whether a folder in that of a site may have files of the site.
pub fn is_folder_of_site(name: &str) -> bool {
    let mut names = ROLES.iter().flat_map(RoleFiles::names);
    is_sched_priv(name)
        || names.any(|path| {
            path.split_once('/')
                .is_some_and(|(folder, _)| folder == name)
        })
}

/// Whether a file in a scheduler's folder has this name.
pub fn is_scheduler_file(name: &str) -> bool {
    roles_of(name).iter().any(|role| role.is_of_scheduler())
}

/// The path, and the paths of the file when it is compressed.
pub fn with_endings(path: &str) -> [String; 3] {
    ["", COMPRESSED[0], COMPRESSED[1]].map(|ending| format!("{path}{ending}"))
}

/// The error for a file of this kind where another is expected.
pub fn unexpected(kind: FileKind, name: &str, bytes: &[u8], expected: &str) -> SiteError {
    let refusal = format!("`{name}` {}", kind.refusal(bytes, expected));
    SiteError::Content(match kind {
        FileKind::Archive => Message::asking(refusal + "; ", [Need::Site]),
        _ => refusal.into(),
    })
}

/// The error for a file that a site has no use for.
pub fn not_of_a_site(kind: FileKind, name: &str) -> SiteError {
    SiteError::content(format!(
        "`{}` {}, expected a file of a site: jobs (`qstat -f`, `squeue --json`), `sched_priv`, `qstat -Bf`, `sshare`, \
         `slurm.conf` or an archive of them",
        clipped(name),
        kind.description()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_file_is_known_by_its_path() {
        for path in [
            "qstat.json",
            "qstat.json.gz",
            "usage",
            "sched_priv/usage",
            "sched_priv_gpu/sched_config",
            "ctime",
        ] {
            assert!(is_site_file(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "sched_priv/other",
            "mom_priv/usage",
            "sched_priv/usage/x",
            "../usage",
        ] {
            assert!(!is_site_file(path), "{path}");
        }
    }

    #[test]
    fn the_docs_name_every_file_of_a_site() {
        let docs = include_str!("../../../../docs/input.md");
        let folder = docs
            .split("## The folder of a site")
            .nth(1)
            .and_then(|rest| rest.split("\n## ").next())
            .unwrap();
        let names = ROLES
            .iter()
            .flat_map(|files| files.names())
            .filter(|name| !name.contains('/'));
        for name in names {
            assert!(folder.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn the_table_has_the_order_of_the_roles() {
        assert!(
            ROLES
                .iter()
                .zip(0..)
                .all(|(files, index)| files.role as usize == index)
        );
    }
}
