//! What stands on a line.

/// The file that an `Include` names.
pub(super) fn included(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(|c: char| c.is_ascii_whitespace())?;
    (word.eq_ignore_ascii_case("include") && !rest.trim_start().starts_with('=')).then(|| rest.trim())
}

/// The settings of a line, `Key=Value` or `Key="some value"`, several with blanks between them. What is none is `Err`.
pub(super) fn settings(line: &str) -> impl Iterator<Item = Result<(&str, &str), &str>> {
    let mut rest = line.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let start = rest;
        let key_end = rest.find(|c: char| c.is_ascii_whitespace() || c == '=').unwrap_or(rest.len());
        let (key, behind) = rest.split_at(key_end);
        let Some(value) = behind.trim_start().strip_prefix('=').filter(|_| !key.is_empty()) else {
            rest = "";
            return Some(Err(start));
        };
        let value = value.trim_start();
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => value.split_at(value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len())),
        };
        rest = behind.trim_start();
        Some(Ok((key.trim_end_matches(['+', '-', '*', '/']), value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_include_is_a_word_and_a_file() {
        assert_eq!(included("iNclude  x.conf"), Some("x.conf"));
        assert_eq!(included("Includes=x"), None);
        assert_eq!(included("Include = x"), None);
    }

    #[test]
    fn a_line_may_have_many_settings() {
        let found: Vec<_> = settings("a=1  B = \"two words\" c+=3,4 d").collect();
        assert_eq!(found, [Ok(("a", "1")), Ok(("B", "two words")), Ok(("c", "3,4")), Err("d")]);
    }
}
