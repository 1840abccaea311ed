//! What the arguments of `pbsfs` ask for.

use crate::pbs::pbsfs::{FAILED, getopt};

/// What is asked of `pbsfs`. Names are bytes, as the shell gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `-p`, or nothing: the tree as a table.
    Table,
    /// `-t`: the tree, indented.
    Outline,
    /// `-g ENTITY`: one entity or group, and the way to it.
    Entity(Vec<u8>),
    /// `-c ENTITY1 ENTITY2`: which of the two deserves more.
    Compare(Vec<u8>, Vec<u8>),
    /// `-s ENTITY USAGE`: sets an entity's usage. What is not a number to its end changes nothing, nor does the usage
    /// of a group; the file is written all the same.
    Set {
        /// The entity.
        entity: Vec<u8>,
        /// Its usage, as C's `strtod` reads it.
        usage: Vec<u8>,
    },
    /// `-d`: one step of decay.
    Decay,
    /// `-e`: forgets the entities that no line speaks of, unless the usage file is one of version 1.
    Trim,
}

/// The arguments, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// What is asked for.
    pub request: Request,
    /// The scheduler, if it is not the default one.
    pub scheduler: Option<Vec<u8>>,
    /// What goes to standard error in any case.
    pub stderr: Vec<u8>,
}

/// The arguments are not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What goes to standard error.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub code: u8,
}

impl Request {
    /// Reads the arguments that follow the name of the `program`, which is as messages show it. Of several options
    /// that ask for something the last one holds; `-I SCHEDULER` may stand next to it; an option that does not exist
    /// is told and passed over.
    ///
    /// # Errors
    /// [`Refusal`]: too many arguments, or too few.
    pub fn parse(program: &[u8], arguments: &[&[u8]]) -> Result<Arguments, Refusal> {
        let found = getopt::found(arguments, b"sgptdce", b"I-");
        let stderr: Vec<u8> = found.errors.iter().flat_map(|error| error.message(program)).collect();
        let refuse = |usage: &str| {
            let stderr = [&stderr[..], b"Usage: pbsfs ", usage.as_bytes(), b"\n"].concat();
            Err(Refusal { stderr, code: FAILED })
        };
        let (mut asked, mut scheduler) = (b'p', None);
        for (letter, value) in found.options {
            match letter {
                b'-' => return refuse("--version"),
                b'I' => scheduler = value.filter(|name| *name != b"default").map(<[u8]>::to_vec),
                _ => asked = letter,
            }
        }
        let request = match (asked, &found.operands[..]) {
            (b'p', []) => Self::Table,
            (b't', []) => Self::Outline,
            (b'p' | b't', _) => return refuse("-[ptdgcs] [-I sched_name]"),
            (b'g', [entity]) => Self::Entity(entity.to_vec()),
            (b'g', _) => return refuse("[-I sched_name] -g <fairshare_entity>"),
            (b's', [entity, usage]) => Self::Set { entity: entity.to_vec(), usage: usage.to_vec() },
            (b's', _) => return refuse("[-I sched_name] -s <fairshare_entity> <usage>"),
            (b'c', [left, right]) => Self::Compare(left.to_vec(), right.to_vec()),
            (b'c', _) => return refuse("[-I sched_name] -c <entity1> <entity2>"),
            (b'd', _) => Self::Decay,
            _ => Self::Trim,
        };
        Ok(Arguments { request, scheduler, stderr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> Result<Request, String> {
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
        let parsed = Request::parse(b"pbsfs", &arguments);
        parsed.map(|parsed| parsed.request).map_err(|refusal| String::from_utf8(refusal.stderr).expect("UTF-8"))
    }

    #[test]
    fn the_last_option_holds() {
        assert_eq!(of(&[]), Ok(Request::Table));
        assert_eq!(of(&["-x"]), Ok(Request::Table));
        assert_eq!(of(&["-pt"]), Ok(Request::Outline));
        assert_eq!(of(&["Bob", "-p", "-g"]), Ok(Request::Entity(b"Bob".to_vec())));
        assert_eq!(of(&["-d", "what", "ever"]), Ok(Request::Decay));
        assert_eq!(of(&["-I", "default", "-e"]), Ok(Request::Trim));
        let set = Request::Set { entity: b"Bob".to_vec(), usage: b"-5".to_vec() };
        assert_eq!(of(&["-s", "--", "Bob", "-5"]), Ok(set));
    }

    #[test]
    fn too_few_or_too_many() {
        for (arguments, usage) in [
            (&["-t", "Bob"][..], "Usage: pbsfs -[ptdgcs] [-I sched_name]\n"),
            (&["-g"], "Usage: pbsfs [-I sched_name] -g <fairshare_entity>\n"),
            (&["-c", "a"], "Usage: pbsfs [-I sched_name] -c <entity1> <entity2>\n"),
            (&["-s", "a", "1", "2"], "Usage: pbsfs [-I sched_name] -s <fairshare_entity> <usage>\n"),
            (&["--help"], "Usage: pbsfs --version\n"),
        ] {
            assert_eq!(of(arguments), Err(usage.to_owned()), "{arguments:?}");
        }
    }
}
