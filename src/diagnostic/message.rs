//! Sentences for people, which may end with what they ask for. That is data too ([`Need`]): a library
//! cannot know whether its caller takes it as an option, an argument or a file.

use std::collections::HashMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// The most messages of one kind that are listed.
const MAX_OF_A_KIND: usize = 10;
/// The most kinds of messages that are told apart; text from outside can look like new ones.
const MAX_KINDS: usize = 100;

/// The first ten messages of each kind, and a last one that says how many more there are.
pub fn limit_each_kind<M: ToString + From<String>>(
    messages: impl IntoIterator<Item = M>,
) -> Vec<M> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut kept = Vec::new();
    let mut more = 0_usize;
    for message in messages {
        let kind = kind(&message.to_string());
        let is_known = counts.contains_key(&kind);
        let is_listed = (is_known || counts.len() < MAX_KINDS) && {
            let count = counts.entry(kind).or_default();
            *count += 1;
            *count <= MAX_OF_A_KIND
        };
        if is_listed {
            kept.push(message)
        } else {
            more += 1
        }
    }
    if more > 0 {
        let kind = if more == 1 {
            "this kind"
        } else {
            "these kinds"
        };
        kept.push(format!("and {more} more of {kind}").into());
    }
    kept
}

/// The kind of a message: its text without what is quoted, and without numbers.
fn kind(message: &str) -> String {
    // what is in quotes differs from message to message of one kind
    let mut kind: String = message.split('`').step_by(2).collect();
    kind = kind.split('"').step_by(2).collect();
    kind.retain(|character| !character.is_ascii_digit());
    kind
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|line| format!("line {line}: `x{line}` is not known"))
    }

    #[test]
    fn ten_of_a_kind_are_listed() {
        let kept = limit_each_kind(lines(2000).chain(["another".to_owned()]));
        assert_eq!(kept.len(), 12);
        assert_eq!(kept[10..], ["another", "and 1990 more of these kinds"]);
        let quoted = limit_each_kind(
            ["xa", "xb"]
                .repeat(10)
                .iter()
                .map(|word| format!("\"{word}\"")),
        );
        assert_eq!(
            quoted.last().map(String::as_str),
            Some("and 10 more of these kinds")
        );
        assert_eq!(limit_each_kind(lines(10)).len(), 10);
        assert_eq!(
            limit_each_kind(lines(11)).last().map(String::as_str),
            Some("and 1 more of this kind")
        );
    }

    #[test]
    fn text_from_outside_makes_no_end_of_kinds() {
        let names = (0..5000_usize).map(|number| {
            let letters = "z".repeat(number.to_string().len());
            format!("`a`{letters}{}`b`", "y".repeat(number))
        });
        let kept = limit_each_kind(names);
        assert!(kept.len() <= MAX_KINDS + 1, "{}", kept.len());
    }
}
