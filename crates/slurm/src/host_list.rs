//! Lists of hosts as Slurm writes them: `n[1-8,12],gpu[01-04]`.

/// The most names that are made of one list, so that `n[1-999999999]` cannot use up the memory.
const MAX_NAMES: usize = 200_000;

/// The names of a list. A part that is not a range stays as it is.
pub fn expand(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in split_outside_brackets(list) {
        expand_part(part, &mut names);
    }
    names.truncate(MAX_NAMES);
    names
}

/// The parts between commas that are not in brackets.
fn split_outside_brackets(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

/// Appends the names of `prefix[ranges]suffix`; the suffix may have brackets again.
fn expand_part(part: &str, names: &mut Vec<String>) {
    let (prefix, rest) = part.split_once('[').unwrap_or((part, ""));
    let Some((ranges, suffix)) = rest.split_once(']') else {
        names.push(part.to_owned());
        return;
    };
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) else {
            continue;
        };
        for number in from..=to {
            if names.len() >= MAX_NAMES {
                return;
            }
            expand_part(&format!("{prefix}{number:0width$}{suffix}"), names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_their_zeros() {
        assert_eq!(
            expand("n[1-2,8],g[08-10]x,single"),
            ["n1", "n2", "n8", "g08x", "g09x", "g10x", "single"]
        );
        assert_eq!(expand("r[1-2]c[1-2]"), ["r1c1", "r1c2", "r2c1", "r2c2"]);
        assert_eq!(expand("n[1-99999999999]").len(), MAX_NAMES);
        assert!(expand("n[a-b]").is_empty());
    }
}
