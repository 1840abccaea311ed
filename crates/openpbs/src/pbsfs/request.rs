//! The arguments of `pbsfs`, parsed as glibc's `getopt` and `pbsfs` parse them.

use super::FAILED;

/// One call of `pbsfs`. Names are bytes, as the shell passes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `-p`, or no option: prints the tree as a table.
    Table,
    /// `-t`: prints the tree, indented.
    Outline,
    /// `-g ENTITY`: prints one entity or group, and its path from the root.
    Entity(Vec<u8>),
    /// `-c ENTITY1 ENTITY2`: prints which of the two has the higher fair-share priority.
    Compare(Vec<u8>, Vec<u8>),
}

/// Valid arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// The call.
    pub request: Request,
    /// The scheduler named by `-I`, if it is not the default one.
    pub scheduler: Option<Vec<u8>>,
    /// The messages about invalid options, for standard error.
    pub stderr: Vec<u8>,
}

/// Arguments that are not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidArguments {
    /// Arguments that make `pbsfs` print its usage and exit.
    Usage {
        /// The messages, for standard error.
        stderr: Vec<u8>,
        /// The exit code.
        code: u8,
    },
    /// `-s`, `-d` or `-e`, which change the usage file.
    Changes(char),
}

impl Request {
    /// Parses the arguments that follow the name of the program; `program` is the name that
    /// messages show. The last of several actions counts, `-I SCHEDULER` may accompany it, and an
    /// unknown option is reported and ignored.
    ///
    /// # Errors
    /// [`InvalidArguments`]: too many operands or too few, or a request that changes the usage file.
    pub fn parse(program: &[u8], arguments: &[&[u8]]) -> Result<Arguments, InvalidArguments> {
        let parsed = ParsedOptions::parse(program, arguments);
        let stderr = parsed.stderr;
        let mut action = b'p';
        let mut scheduler = None;
        for (letter, value) in parsed.options {
            match letter {
                b'-' => return Err(InvalidArguments::usage(stderr, "--version")),
                b'I' => scheduler = value.filter(|name| *name != b"default").map(<[u8]>::to_vec),
                _ => action = letter,
            }
        }
        let request = match (action, &parsed.operands[..]) {
            (b'p', []) => Ok(Self::Table),
            (b't', []) => Ok(Self::Outline),
            (b'g', [entity]) => Ok(Self::Entity(entity.to_vec())),
            (b'c', [left, right]) => Ok(Self::Compare(left.to_vec(), right.to_vec())),
            (b'p' | b't', _) => Err("-[ptdgcs] [-I sched_name]"),
            (b'g', _) => Err("[-I sched_name] -g <fairshare_entity>"),
            (b'c', _) => Err("[-I sched_name] -c <entity1> <entity2>"),
            _ => return Err(InvalidArguments::Changes(action.into())),
        };
        match request {
            Ok(request) => Ok(Arguments {
                request,
                scheduler,
                stderr,
            }),
            Err(usage) => Err(InvalidArguments::usage(stderr, usage)),
        }
    }
}

impl InvalidArguments {
    fn usage(stderr: Vec<u8>, usage: &str) -> Self {
        Self::Usage {
            stderr: [&stderr[..], b"Usage: pbsfs ", usage.as_bytes(), b"\n"].concat(),
            code: FAILED,
        }
    }
}

/// The arguments, split as glibc's `getopt` splits them: options anywhere between the operands, up
/// to `--`.
#[derive(Debug, Default, PartialEq, Eq)]
struct ParsedOptions<'a> {
    /// The options in the order given, with the argument of those that take one.
    options: Vec<(u8, Option<&'a [u8]>)>,
    /// The other arguments.
    operands: Vec<&'a [u8]>,
    /// What glibc's `getopt` reports of the options that it skips.
    stderr: Vec<u8>,
}

impl<'a> ParsedOptions<'a> {
    fn parse(program: &[u8], arguments: &[&'a [u8]]) -> Self {
        let mut parsed = Self::default();
        let mut rest = arguments.iter().copied();
        while let Some(argument) = rest.next() {
            match argument {
                b"--" => {
                    parsed.operands.extend(rest);
                    break;
                }
                [b'-', cluster @ ..] if !cluster.is_empty() => {
                    parsed.parse_cluster(program, cluster, &mut rest);
                }
                operand => parsed.operands.push(operand),
            }
        }
        parsed
    }

    fn skip(&mut self, program: &[u8], fault: &[u8], letter: u8) {
        let message = [program, b": ", fault, b" -- '", &[letter], b"'\n"];
        self.stderr.extend(message.concat());
    }

    /// Parses the options of one argument, such as `-sg` or `-Iname`.
    fn parse_cluster(
        &mut self,
        program: &[u8],
        cluster: &'a [u8],
        rest: &mut impl Iterator<Item = &'a [u8]>,
    ) {
        for (at, &letter) in cluster.iter().enumerate() {
            if b"I-".contains(&letter) {
                let joined = Some(&cluster[at + 1..]).filter(|joined| !joined.is_empty());
                match joined.or_else(|| rest.next()) {
                    Some(value) => self.options.push((letter, Some(value))),
                    None => self.skip(program, b"option requires an argument", letter),
                }
                return;
            }
            if b"sgptdce".contains(&letter) {
                self.options.push((letter, None));
            } else {
                self.skip(program, b"invalid option", letter);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> Result<Request, InvalidArguments> {
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .map(|argument| argument.as_bytes())
            .collect();
        Request::parse(b"pbsfs", &arguments).map(|parsed| parsed.request)
    }

    #[test]
    fn the_last_action_counts() {
        assert_eq!(request(&[]), Ok(Request::Table));
        assert_eq!(request(&["-x"]), Ok(Request::Table));
        assert_eq!(request(&["-pt"]), Ok(Request::Outline));
        assert_eq!(
            request(&["Bob", "-p", "-g"]),
            Ok(Request::Entity(b"Bob".to_vec()))
        );
        assert_eq!(request(&["-s", "-p"]), Ok(Request::Table));
        assert_eq!(
            request(&["-d", "what", "ever"]),
            Err(InvalidArguments::Changes('d'))
        );
        assert_eq!(
            request(&["-I", "default", "-e"]),
            Err(InvalidArguments::Changes('e'))
        );
        assert_eq!(
            request(&["-s", "--", "Bob", "-5"]),
            Err(InvalidArguments::Changes('s'))
        );
        assert_eq!(
            request(&["-ps", "Bob"]),
            Err(InvalidArguments::Changes('s'))
        );
    }

    #[test]
    fn wrong_number_of_operands() {
        for (arguments, usage) in [
            (
                &["-t", "Bob"][..],
                "Usage: pbsfs -[ptdgcs] [-I sched_name]\n",
            ),
            (
                &["-g"],
                "Usage: pbsfs [-I sched_name] -g <fairshare_entity>\n",
            ),
            (
                &["-c", "a"],
                "Usage: pbsfs [-I sched_name] -c <entity1> <entity2>\n",
            ),
            (&["--help"], "Usage: pbsfs --version\n"),
        ] {
            let expected = InvalidArguments::Usage {
                stderr: usage.into(),
                code: FAILED,
            };
            assert_eq!(request(arguments), Err(expected), "{arguments:?}");
        }
    }

    fn options<'a>(arguments: &[&'a str]) -> ParsedOptions<'a> {
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .map(|argument| argument.as_bytes())
            .collect();
        ParsedOptions::parse(b"pbsfs", &arguments)
    }

    #[test]
    fn options_may_follow_operands() {
        let parsed = options(&["Bob", "-sg", "-", "-Iname", "5", "-I", "other", "--", "-5"]);
        let expected: Vec<(u8, Option<&[u8]>)> = vec![
            (b's', None),
            (b'g', None),
            (b'I', Some(b"name")),
            (b'I', Some(b"other")),
        ];
        assert_eq!(parsed.options, expected);
        assert_eq!(parsed.operands, [&b"Bob"[..], b"-", b"5", b"-5"]);
        assert!(parsed.stderr.is_empty());
    }

    #[test]
    fn invalid_options_are_reported_and_skipped() {
        let parsed = options(&["-5s", "-I"]);
        assert_eq!(parsed.options, [(b's', None)]);
        assert_eq!(
            parsed.stderr,
            b"pbsfs: invalid option -- '5'\npbsfs: option requires an argument -- 'I'\n"
        );
    }
}
