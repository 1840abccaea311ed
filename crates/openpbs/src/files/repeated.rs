//! What a description of the server, its queues or its resources gives more than once.
//!
//! In: the objects of a document. Out: names for a message, such as `queue workq.Priority`.

use std::collections::{BTreeSet, HashSet};

use jsf_json::clipped;

use crate::files::objects::{Attribute, Notation, Object, ObjectKind, Objects};

/// The objects and attributes that a document has more than once, each once; of a `resourcedef` the
/// resources. OpenPBS up to 23.06.06 writes a limit such as `max_run` once for each of its entries,
/// so that a limit is never among them.
pub fn repeated(objects: &Objects<'_>) -> BTreeSet<String> {
    let mut given = Given::default();
    if objects.notation == Notation::Json {
        given.add_all(None, &objects.attributes);
    }
    for object in &objects.objects {
        let Some(name) = name(object, objects.notation) else {
            continue;
        };
        if object.is_declared {
            given.add(name.clone());
        }
        if objects.notation != Notation::ResourceDef {
            given.add_all(Some(&name), &object.attributes);
        }
    }
    given.repeated
}

#[derive(Default)]
struct Given {
    names: HashSet<String>,
    repeated: BTreeSet<String>,
}

impl Given {
    fn add(&mut self, name: String) {
        if self.names.contains(&name) {
            self.repeated.insert(name);
        } else {
            self.names.insert(name);
        }
    }

    fn add_all(&mut self, object: Option<&str>, attributes: &[Attribute<'_>]) {
        for attribute in attributes {
            if attribute.is_repeatable || is_limit(&attribute.name) {
                continue;
            }
            let own_name = attribute.full_name();
            let own_name = clipped(&own_name);
            let name = match object {
                Some(object) => format!("{object}.{own_name}"),
                None => own_name.into(),
            };
            if attribute.value.is_null() {
                self.names.remove(&name);
            } else {
                self.add(name);
            }
        }
    }
}

fn is_limit(attribute: &str) -> bool {
    attribute.starts_with("max_run") || attribute.starts_with("max_queued")
}

/// How a document names an object.
fn name(object: &Object<'_>, notation: Notation) -> Option<String> {
    let heading = object.kind.heading();
    let name = clipped(&object.name);
    match (notation, object.kind) {
        (_, ObjectKind::Node | ObjectKind::Reservation | ObjectKind::Other) => None,
        (Notation::Json, _) => Some(format!("{heading}.{name}")),
        (Notation::Listing, _) => Some(
            format!("{} {name}", heading.to_lowercase())
                .trim_end()
                .to_owned(),
        ),
        (Notation::ResourceDef, _) => Some(name.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_again_is_found_in_every_format() {
        for (text, expected) in [
            (
                "{\"Queue\":{\"a\":{\"Priority\":1,\"Priority\":2},\"b\":{\"Priority\":1}}}",
                "Queue.a.Priority",
            ),
            (
                "\u{feff}{\"Queue\":{\"a\":{},\"a\":{}},\"x\":[{\"Queue\":1}]}",
                "Queue.a",
            ),
            (
                "Queue: a\n    Priority = 1\n    Priority = 2\nQueue: b\n    Priority = 1\n",
                "queue a.Priority",
            ),
            ("Queue: a|Priority=1|Priority=2\n", "queue a.Priority"),
            (
                "Server vm\n    job_sort_formula = a +\n\tb = c\n\tb = c\n    x = 1\n    x = 1\n",
                "server vm.x",
            ),
            (
                "create queue a\nset queue a Priority = 1\nset queue b Priority = 1\ncreate queue a\n",
                "queue a",
            ),
            (
                "set server a = 1\nset server a += 2\nset server b = 1\nset server b = 2\n",
                "server.b",
            ),
        ] {
            assert_eq!(
                repeated(&Objects::read(text))
                    .into_iter()
                    .collect::<Vec<_>>(),
                [expected],
                "{text}"
            );
        }
        let resources = repeated(&Objects::read_resourcedef(
            "# a\n# a\na type=long\nb type=long\n\na type=float\n",
        ));
        assert_eq!(resources.into_iter().collect::<Vec<_>>(), ["a"]);
    }
}
