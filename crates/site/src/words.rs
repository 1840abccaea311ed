//! Names in the sentences of messages.

/// The most names in a warning.
const MAX_NAMES: usize = 5;

/// The first few names, and how many more there are.
pub(crate) fn first_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut listed = Vec::new();
    let mut more = 0;
    for name in names {
        if listed.len() < MAX_NAMES {
            listed.push(format!("`{name}`"));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    match listed.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => listed.concat(),
    }
}
