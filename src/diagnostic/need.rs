//! What is missing, as data: a library cannot know whether its caller takes it as an option, an
//! argument or a file.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a caller can give, choose or change so that a message no longer applies.
///
/// A caller matches on it exhaustively and adds how it takes each; [`Display`](fmt::Display) says
/// it for a library's user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// The entities with pending jobs, which the ticket-based policy gives tickets.
    ActiveEntities,
    /// What a command prints, instead of the command.
    CommandOutput,
    /// The fair-share entity of a job.
    Entity,
    /// A formula, or a document of the server that has one.
    Formula,
    /// The moment of a scheduling cycle.
    Moment,
    /// The nodes of the server, or the number of processors.
    Processors,
    /// Numbers as OpenPBS prints them, and its value for a job with an error.
    OpenPbsNumbers,
    /// A fair-share policy, by its name.
    Policy(&'static str),
    /// A fair-share policy as a release of Slurm computes it: the name and the release.
    PolicyOfRelease(&'static str, &'static str),
    /// The version of Python that the server embeds.
    Python,
    /// Numbers that Python computes with, not decimals.
    PythonNumbers,
    /// A document of jobs.
    Queue,
    /// The descriptions of the queues.
    Queues,
    /// The type of a resource.
    ResourceType,
    /// The declarations of the server's resources.
    Resources,
    /// The scheduler's `sched_config`.
    SchedConfig,
    /// A formula, and settings of the server besides it.
    ServerSettings,
    /// A folder or an archive opened as a site.
    Site,
    /// Slurm's `slurm.conf`.
    SlurmConf,
    /// What Slurm's `sshare` prints.
    Sshare,
    /// A formula, and `job_sort_formula_threshold` besides it.
    Threshold,
    /// A fair-share tree.
    Tree,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ActiveEntities => "name the active entities",
            Self::CommandOutput => "give what it prints",
            Self::Entity => "name its fair-share entity",
            Self::Formula => "give its text, or a document that has it",
            Self::Moment => "give the moment of the cycle",
            Self::Processors => {
                "give the output of `pbsnodes -av -F json`, or the number of processors"
            }
            Self::OpenPbsNumbers => "keep the defaults for numbers and errors",
            Self::Policy(name) => return write!(f, "choose the policy {name}"),
            Self::PolicyOfRelease(name, release) => {
                return write!(f, "{name} of Slurm {release} gives the printed numbers");
            }
            Self::Python => "say which Python the server has",
            Self::PythonNumbers => "do not choose decimal numbers",
            Self::Queue => "give a queue",
            Self::Queues => "give the output of `qstat -Qf`",
            Self::ResourceType => "declare its type",
            Self::Resources => "give the output of `qmgr -c 'print resource'`",
            Self::SchedConfig => "give the `sched_config`",
            Self::ServerSettings => "give the formula, and apart from it the server's settings",
            Self::Site => "open it as a site",
            Self::SlurmConf => "give the `slurm.conf`",
            Self::Sshare => "give what `sshare -a -l -P` prints",
            Self::Threshold => "give the formula, and apart from it the threshold",
            Self::Tree => "give the scheduler's `sched_priv` with its `resource_group`, or a tree",
        })
    }
}

/// A sentence for people that ends with what it asks for, if it asks for anything.
///
/// ```
/// use job_sort_formula::diagnostic::{Message, Need};
///
/// let message = Message::asking("no tree: ", [Need::Tree]);
/// assert_eq!(message.to_string(), "no tree: give the scheduler's `sched_priv` with its `resource_group`, or a tree");
/// assert_eq!(message.worded(|_| "pass `tree`".to_owned()), "no tree: pass `tree`");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The sentence up to what it asks for, with the space before that.
    pub text: String,
    /// What it asks for; each of them is enough.
    pub needs: Vec<Need>,
}

impl Message {
    /// A sentence up to what it asks for, and what that is: one of `needs`.
    pub fn asking(text: impl Into<String>, needs: impl Into<Vec<Need>>) -> Self {
        Self {
            text: text.into(),
            needs: needs.into(),
        }
    }

    /// The message after a text, such as the name of a file.
    #[must_use]
    pub fn after(self, text: impl Into<String>) -> Self {
        Self {
            text: text.into() + &self.text,
            ..self
        }
    }

    /// The whole sentence, with what it asks for in the words of a caller.
    pub fn worded(&self, words: impl Fn(Need) -> String) -> String {
        let needs: Vec<String> = self.needs.iter().map(|need| words(*need)).collect();
        self.text.clone() + &needs.join(", or ")
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(|need| need.to_string()))
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::asking(text, [])
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::asking(text, [])
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
