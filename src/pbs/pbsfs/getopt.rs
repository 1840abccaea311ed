//! Single-letter options as glibc's `getopt` finds them: anywhere between the other arguments, up to `--`.

/// What the arguments say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found<'a> {
    /// The options in the order given, with the argument of those that take one.
    pub(super) options: Vec<(u8, Option<&'a [u8]>)>,
    /// The other arguments.
    pub(super) operands: Vec<&'a [u8]>,
    /// The options that cannot be, in the order given.
    pub(super) errors: Vec<OptionError>,
}

/// An option that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionError {
    Invalid(u8),
    WithoutArgument(u8),
}

impl OptionError {
    /// What `getopt` says of it.
    pub(super) fn message(self, program: &[u8]) -> Vec<u8> {
        let (words, letter): (&[u8], u8) = match self {
            Self::Invalid(letter) => (b": invalid option -- '", letter),
            Self::WithoutArgument(letter) => (b": option requires an argument -- '", letter),
        };
        [program, words, &[letter], b"'\n"].concat()
    }
}

/// Sorts the arguments; `letters` are the options alone, `with_argument` those that take an argument.
pub(super) fn found<'a>(arguments: &[&'a [u8]], letters: &[u8], with_argument: &[u8]) -> Found<'a> {
    let mut found = Found::default();
    let mut rest = arguments.iter().copied();
    while let Some(argument) = rest.next() {
        match argument {
            b"--" => {
                found.operands.extend(rest);
                break;
            }
            [b'-', cluster @ ..] if !cluster.is_empty() => {
                for (at, &letter) in cluster.iter().enumerate() {
                    if with_argument.contains(&letter) {
                        let joined = Some(&cluster[at + 1..]).filter(|joined| !joined.is_empty());
                        match joined.or_else(|| rest.next()) {
                            Some(value) => found.options.push((letter, Some(value))),
                            None => found.errors.push(OptionError::WithoutArgument(letter)),
                        }
                        break;
                    }
                    if letters.contains(&letter) {
                        found.options.push((letter, None));
                    } else {
                        found.errors.push(OptionError::Invalid(letter));
                    }
                }
            }
            operand => found.operands.push(operand),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(arguments: &[&'a str]) -> Found<'a> {
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
        found(&arguments, b"sg", b"I")
    }

    #[test]
    fn options_stand_anywhere() {
        let found = of(&["Bob", "-sg", "-", "-Iname", "5", "-I", "other", "--", "-5"]);
        let options: Vec<(u8, Option<&[u8]>)> =
            vec![(b's', None), (b'g', None), (b'I', Some(b"name")), (b'I', Some(b"other"))];
        assert_eq!(found.options, options);
        assert_eq!(found.operands, [&b"Bob"[..], b"-", b"5", b"-5"]);
        assert_eq!(found.errors, []);
    }

    #[test]
    fn what_is_wrong_is_told_and_passed_over() {
        let found = of(&["-5s", "-I"]);
        assert_eq!(found.options, [(b's', None)]);
        let told: Vec<_> = found.errors.iter().flat_map(|error| error.message(b"pbsfs")).collect();
        assert_eq!(told, b"pbsfs: invalid option -- '5'\npbsfs: option requires an argument -- 'I'\n");
    }
}
