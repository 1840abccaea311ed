//! What a description of the server, its queues or its resources gives more than once.
//!
//! In: the output of `qstat -Bf` or `-Qf`, a listing of `qmgr`, or a `resourcedef`. Out: names for a message, such as
//! `queue workq.Priority`.

use std::collections::{BTreeSet, HashSet};

use jsf_json::repeated_keys;

use crate::files::queues::lines_of;

/// The objects and attributes that the output of qstat or a listing of `qmgr` has more than once, each once. OpenPBS up to
/// 23.06.06 writes a limit such as `max_run` once for each of its entries, so that a limit is never among them.
pub fn repeated_attributes(text: &str) -> BTreeSet<String> {
    let mut repeated = all_repeated(text);
    repeated.retain(|name| {
        let attribute = name.rsplit('.').find(|part| part.starts_with("max_"));
        !attribute.is_some_and(|attribute| attribute.starts_with("max_run") || attribute.starts_with("max_queued"))
    });
    repeated
}

fn all_repeated(text: &str) -> BTreeSet<String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return repeated_keys(text);
    }
    let mut object = None;
    repeated(lines_of(text).filter_map(|line| declared_name(&line, &mut object)))
}

/// The resources that a `resourcedef` declares more than once, each once.
pub fn repeated_resources(resourcedef: &str) -> BTreeSet<String> {
    let names = resourcedef.trim_start_matches('\u{feff}').lines().filter_map(|line| line.split_whitespace().next());
    repeated(names.filter(|name| !name.starts_with('#')).map(str::to_owned))
}

fn repeated(names: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut given = HashSet::new();
    names.filter(|name| !given.insert(name.clone())).collect()
}

/// The object that a line declares, or the attribute that it sets; `object` is the one whose block the line is in.
fn declared_name(line: &str, object: &mut Option<String>) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let set = words.iter().position(|word| *word == "=");
    match (words.as_slice(), set) {
        // a line that begins with a tab continues the value of the one before
        ([attribute, ..], Some(1)) if line.starts_with(' ') => Some(format!("{}.{attribute}", object.as_ref()?)),
        (["set", ..], Some(at @ 3..)) => Some(format!("{}.{}", words[1..at - 1].join(" "), words[at - 1])),
        (["create", kind, name, ..], _) => Some(format!("{kind} {name}")),
        (["Server:" | "Queue:" | "Server" | "Queue" | "Sched" | "Resource", name], _) => {
            *object = Some(format!("{} {name}", words[0].trim_end_matches(':').to_ascii_lowercase()));
            object.clone()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_again_is_found_in_every_format() {
        for (text, expected) in [
            ("{\"Queue\":{\"a\":{\"Priority\":1,\"Priority\":2},\"b\":{\"Priority\":1}}}", "Queue.a.Priority"),
            ("\u{feff}{\"Queue\":{\"a\":{},\"a\":{}},\"x\":[{\"Queue\":1}]}", "Queue.a"),
            ("Queue: a\n    Priority = 1\n    Priority = 2\nQueue: b\n    Priority = 1\n", "queue a.Priority"),
            ("Queue: a|Priority=1|Priority=2\n", "queue a.Priority"),
            ("Server vm\n    job_sort_formula = a +\n\tb = c\n\tb = c\n    x = 1\n    x = 1\n", "server vm.x"),
            ("create queue a\nset queue a Priority = 1\nset queue b Priority = 1\ncreate queue a\n", "queue a"),
            ("set server a = 1\nset server a += 2\nset server b = 1\nset server b = 2\n", "server.b"),
        ] {
            assert_eq!(repeated_attributes(text).into_iter().collect::<Vec<_>>(), [expected], "{text}");
        }
        let resources = repeated_resources("# a\n# a\na type=long\nb type=long\n\na type=float\n");
        assert_eq!(resources.into_iter().collect::<Vec<_>>(), ["a"]);
    }
}
