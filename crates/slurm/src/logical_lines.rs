//! The line structure of `slurm.conf` and of the files of `sacctmgr`: comments removed, continued
//! lines joined, escapes resolved.

/// A line after joining, and its first line in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogicalLine {
    /// The first line in the file, counted from 1.
    pub(super) number: usize,
    pub(super) text: String,
}

/// The lines that are not blank.
pub(super) fn logical_lines(text: &str) -> impl Iterator<Item = LogicalLine> + '_ {
    let mut lines = text.lines().enumerate();
    std::iter::from_fn(move || {
        let (index, first) = lines.next()?;
        let mut joined = without_comment(first).to_owned();
        while let Some(end) = continued(&joined) {
            joined.truncate(end);
            let Some((_, next)) = lines.next() else { break };
            joined.push_str(without_comment(next));
        }
        Some(LogicalLine {
            number: index + 1,
            text: unescaped(joined.trim()),
        })
    })
    .filter(|line| !line.text.is_empty())
}

/// The line up to the first `#` without a backslash before it.
fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    let end = line.char_indices().find(|&(_, c)| {
        let is_comment = c == '#' && !escaped;
        escaped = c == '\\' && !escaped;
        is_comment
    });
    end.map_or(line, |(at, _)| &line[..at])
}

/// The length of a line without the backslash at its end, which joins the next line to it; `None`
/// if it has none.
fn continued(line: &str) -> Option<usize> {
    let text = line.trim_end();
    let backslashes = text.bytes().rev().take_while(|&byte| byte == b'\\').count();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_comments_removed() {
        let text = "# c\na=1 \\ # more\n  b=2\n\nc=\\#x\\\\ # d\n last \\";
        let found: Vec<(usize, String)> = logical_lines(text)
            .map(|line| (line.number, line.text))
            .collect();
        let expected = [(2, "a=1   b=2"), (5, "c=#x\\"), (6, "last")];
        assert_eq!(
            found,
            expected.map(|(number, text)| (number, text.to_owned()))
        );
    }
}
