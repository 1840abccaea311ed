//! The line structure of `slurm.conf` and of the files of `sacctmgr`: comments removed, continued
//! lines joined, escapes resolved.

/// A line after joining, and its first line in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct LogicalLine {
    /// The first line in the file, counted from 1.
    pub number: usize,
    pub text: String,
}

/// The lines that are not blank.
pub fn logical_lines(text: &str) -> Vec<LogicalLine> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        let mut joined = without_comment(first).to_owned();
        while let Some(end) = continued(&joined) {
            joined.truncate(end);
            let Some((_, next)) = lines.next() else { break };
            joined.push_str(without_comment(next));
        }
        let text = unescaped(joined.trim());
        if !text.is_empty() {
            let number = index + 1;
            found.push(LogicalLine { number, text });
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
        let expected = [(2, "a=1   b=2"), (5, "c=#x\\"), (6, "last")];
        assert_eq!(
            logical_lines(text),
            expected.map(|(number, text)| LogicalLine {
                number,
                text: text.to_owned()
            })
        );
    }
}
