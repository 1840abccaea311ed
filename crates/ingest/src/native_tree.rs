//! Reads a [`TreeDocument`] from native JSON, without recursion.

use job_sort_formula::fairshare::tree_document::{TreeDocument, TreeNode};
use job_sort_formula::fairshare::{NodeKind, Shares};
use jsf_json::{JsonScalar, clipped, decode_utf8, entries, json_fault, strip_byte_order_mark};
use serde_json::value::RawValue;

/// The deepest tree that is read, in nodes from the first level down.
const MAX_DEPTH: usize = 200;
/// The most nodes that are read.
const MAX_NODES: usize = 1_000_000;
/// The longest name, in bytes.
const MAX_NAME: usize = 4096;

/// Reads a tree in native JSON,
/// `{"unknown_shares":0,"children":[{"name":"group1","shares":40,"children":[…]}]}`.
///
/// ```
/// let text = r#"{"children":[{"name":"g","shares":40,"children":[{"name":"Bob","shares":"parent","usage":100}]}]}"#;
/// let tree = jsf_ingest::native_tree::read_tree("tree.json", text.as_bytes())?;
/// assert_eq!((tree.nodes[1].name.as_str(), tree.nodes[1].parent, tree.nodes[1].usage), ("Bob", Some(0), Some(100.0)));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The text is malformed JSON or not a tree, a node has no name or a value of the wrong type, or
/// the tree has more nodes or levels than the limits allow.
pub fn read_tree(source_name: &str, bytes: &[u8]) -> Result<TreeDocument, String> {
    read(source_name, bytes, &NATIVE)
}

/// Reads a tree as flux-accounting's `flux account export-db --fairshare-emulate` prints it,
/// `{"root":{"bank":"root","shares":1,"usage":9.0,"children":[{"username":"mara","shares":1,"usage":9.0}]}}`.
/// The usage of a bank, and of the document, is here that of all below it.
///
/// # Errors
/// As [`read_tree`].
pub fn read_flux_tree(source_name: &str, bytes: &[u8]) -> Result<TreeDocument, String> {
    read(source_name, bytes, &FLUX_ACCOUNTING)
}

fn read(source_name: &str, bytes: &[u8], format: &'static Format) -> Result<TreeDocument, String> {
    let text = decode_utf8(strip_byte_order_mark(bytes));
    let mut reader = TreeReader {
        format,
        document: TreeDocument::default(),
        stack: Vec::new(),
    };
    match reader.read(&text) {
        Ok(()) => Ok(reader.document),
        Err(fault) => Err(format!("`{source_name}`{fault}")),
    }
}

/// How the nodes of a tree are written.
struct Format {
    keys: &'static [&'static str],
    /// The keys of a node's name, for messages.
    name: &'static str,
}

const NATIVE: Format = Format {
    keys: &[
        "name",
        "shares",
        "usage",
        "kind",
        "partition",
        "unknown_shares",
        "children",
    ],
    name: "`name`",
};

/// What flux-accounting's `export-db --fairshare-emulate` prints, since its release 0.60.
const FLUX_ACCOUNTING: Format = Format {
    keys: &["bank", "username", "shares", "usage", "children", "root"],
    name: "`username` or `bank`",
};

/// The values of a node's keys, not yet checked.
struct Fields<'d> {
    known: Vec<(&'static str, &'d RawValue)>,
    unknown: Vec<String>,
}

impl<'d> Fields<'d> {
    fn read(text: &'d str, format: &Format) -> Result<Self, String> {
        let mut fields = Self {
            known: Vec::new(),
            unknown: Vec::new(),
        };
        for (key, value) in entries(text).map_err(|error| invalid(text, &error))? {
            match format.keys.iter().find(|known| **known == key) {
                Some(known) => fields.known.push((known, value)),
                None => fields.unknown.push(clipped(&key).into_owned()),
            }
        }
        Ok(fields)
    }

    /// The value of a key; of one that is given again the last value counts.
    fn raw(&self, key: &str) -> Option<&'d RawValue> {
        let mut last_first = self.known.iter().rev();
        Some(last_first.find(|(known, _)| *known == key)?.1)
    }

    /// The value of a key. A number given as `null` is an error, anything else is then missing.
    fn get(&self, key: &str) -> Option<JsonScalar<'d>> {
        let scalar = JsonScalar::from_text(self.raw(key)?.get());
        let is_number = matches!(key, "shares" | "usage" | "unknown_shares");
        // a missing number has a default, which whoever writes `null` need not mean
        if scalar.is_null() && !is_number {
            return None;
        }
        Some(scalar)
    }
}

fn invalid(text: &str, error: &serde_json::Error) -> String {
    format!(" is not valid JSON {}", json_fault(text, error))
}

/// A node that is not read yet.
struct PendingNode<'d> {
    raw: &'d RawValue,
    parent: Option<usize>,
    /// Its number among its siblings, counted from 1.
    number: usize,
    depth: usize,
}

struct TreeReader<'d> {
    format: &'static Format,
    document: TreeDocument,
    stack: Vec<PendingNode<'d>>,
}

impl<'d> TreeReader<'d> {
    fn read(&mut self, text: &'d str) -> Result<(), String> {
        let document: &RawValue =
            serde_json::from_str(text).map_err(|error| invalid(text, &error))?;
        let mut top = self.read_object(document)?;
        if let Some(root) = top.raw("root")
            && top.raw("children").is_none()
        {
            self.document.unknown_keys.extend(top.unknown);
            top = self.read_object(root)?;
            if let Some(bank) = top.get("bank")
                && let Some(bank) = bank.text()
            {
                bank.clone_into(&mut self.document.root);
            }
        }
        if top.raw("children").is_none() {
            let mut found = "an object without `children`".to_owned();
            // often the key that was meant
            if let Some(key) = top.unknown.first() {
                found += &format!(" and with the unknown key `{key}`");
            }
            return Err(not_a_tree(&found));
        }
        self.document.usage = self.usage(&top, None)?.unwrap_or(0.0);
        if let Some(scalar) = top.get("unknown_shares") {
            match whole(&scalar) {
                Some(shares @ 0..) => self.document.unknown_shares = Some(shares),
                _ => {
                    let expected = "a whole number of at least 0";
                    return Err(self.wrong(None, "`unknown_shares`", &scalar, expected));
                }
            }
        }
        self.push_children(top, None, 1)?;
        while let Some(node) = self.stack.pop() {
            self.read_node(node)?;
        }
        Ok(())
    }

    /// Reads the object that is the document, or its root.
    fn read_object(&self, raw: &'d RawValue) -> Result<Fields<'d>, String> {
        match JsonScalar::from_text(raw.get()) {
            JsonScalar::OBJECT => Fields::read(raw.get(), self.format),
            other => Err(not_a_tree(other.shape())),
        }
    }

    fn read_node(&mut self, node: PendingNode<'d>) -> Result<(), String> {
        let here = self.document.nodes.len();
        self.document.nodes.push(TreeNode {
            // faults name the path to the node, and its name may be the fault
            name: format!("#{}", node.number),
            parent: node.parent,
            partition: None,
            shares: Shares::Count(1),
            usage: None,
            cgroup: None,
            kind: NodeKind::Entity,
        });
        let scalar = JsonScalar::from_text(node.raw.get());
        if scalar != JsonScalar::OBJECT {
            let found = JsonScalar::Other(scalar.shape());
            return Err(self.wrong(Some(here), "the node", &found, "an object"));
        }
        let fields = Fields::read(node.raw.get(), self.format)?;
        self.document.nodes[here].name = self.name(&fields, here)?;
        self.document.nodes[here].shares = self.shares(&fields, here)?;
        self.document.nodes[here].usage = self.usage(&fields, Some(here))?;
        self.document.nodes[here].kind = self.kind(&fields, here)?;
        self.document.nodes[here].partition = self.partition(&fields, here)?;
        self.push_children(fields, Some(here), node.depth + 1)
    }

    /// Pushes the children of a node on the stack, so that the first one is read next.
    fn push_children(
        &mut self,
        fields: Fields<'d>,
        parent: Option<usize>,
        depth: usize,
    ) -> Result<(), String> {
        let mut children = Vec::new();
        let mut given = Vec::new();
        for (key, value) in fields.known {
            if !given.contains(&key) {
                given.push(key);
            } else if !self.document.repeated_keys.contains_key(key) {
                let path = self.path(parent);
                self.document.repeated_keys.insert(key, path);
            }
            if key == "children" {
                let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(value.get()) else {
                    let found = JsonScalar::Other(JsonScalar::from_text(value.get()).shape());
                    return Err(self.wrong(parent, "`children`", &found, "an array"));
                };
                children.extend(list);
            }
        }
        self.document.unknown_keys.extend(fields.unknown);
        if self.document.nodes.len() + self.stack.len() + children.len() > MAX_NODES {
            return Err(format!(": the tree has more than {MAX_NODES} nodes"));
        }
        if depth > MAX_DEPTH && !children.is_empty() {
            let path = self.path(parent);
            return Err(format!(
                ": the tree is deeper than {MAX_DEPTH} nodes at {path}"
            ));
        }
        for (index, raw) in children.into_iter().enumerate().rev() {
            self.stack.push(PendingNode {
                raw,
                parent,
                number: index + 1,
                depth,
            });
        }
        Ok(())
    }

    fn name(&self, fields: &Fields<'_>, here: usize) -> Result<String, String> {
        let mut given = ["name", "username", "bank"].into_iter();
        let scalar = given.find_map(|key| fields.get(key));
        let scalar = scalar.unwrap_or(JsonScalar::Other("missing"));
        match scalar.text() {
            Some(name) if !name.is_empty() && name.len() <= MAX_NAME => Ok(name.to_owned()),
            _ => {
                let expected = "a string of 1 to 4096 bytes";
                Err(self.wrong(Some(here), self.format.name, &scalar, expected))
            }
        }
    }

    fn shares(&self, fields: &Fields<'_>, here: usize) -> Result<Shares, String> {
        match fields.get("shares") {
            None => Ok(Shares::Count(1)),
            Some(JsonScalar::String(text)) if text == "parent" => Ok(Shares::Parent),
            Some(scalar) => match whole(&scalar) {
                Some(shares) => Ok(Shares::Count(shares)),
                None => {
                    let expected = "a whole number or \"parent\"";
                    Err(self.wrong(Some(here), "`shares`", &scalar, expected))
                }
            },
        }
    }

    fn usage(&self, fields: &Fields<'_>, here: Option<usize>) -> Result<Option<f64>, String> {
        let Some(scalar) = fields.get("usage") else {
            return Ok(None);
        };
        if let JsonScalar::Number(text) = scalar
            && let Ok(usage) = text.parse::<f64>()
            && usage.is_finite()
            && usage >= 0.0
        {
            // `-0` becomes 0
            return Ok(Some(usage + 0.0));
        }
        Err(self.wrong(here, "`usage`", &scalar, "a finite number of at least 0"))
    }

    fn kind(&self, fields: &Fields<'_>, here: usize) -> Result<NodeKind, String> {
        let has_children = fields.raw("children").is_some();
        if let Some(scalar) = fields.get("kind") {
            return match scalar.text() {
                Some("account" | "group") => Ok(NodeKind::Group),
                Some("user" | "entity") => Ok(NodeKind::Entity),
                _ => Err(self.wrong(Some(here), "`kind`", &scalar, "\"account\" or \"user\"")),
            };
        }
        let is_user = fields.get("username").is_some();
        if is_user && has_children {
            let given = JsonScalar::Other("given");
            return Err(self.wrong(Some(here), "`children`", &given, "none under a user"));
        }
        let is_bank = !is_user && fields.get("bank").is_some();
        Ok(if is_bank || has_children {
            NodeKind::Group
        } else {
            NodeKind::Entity
        })
    }

    /// Only a user's association has a partition; an empty name means all partitions.
    fn partition(&self, fields: &Fields<'_>, here: usize) -> Result<Option<String>, String> {
        let Some(scalar) = fields.get("partition") else {
            return Ok(None);
        };
        let expected = match scalar.text() {
            Some("") => return Ok(None),
            _ if self.document.nodes[here].kind == NodeKind::Group => {
                "no partition on an account, only on a user"
            }
            Some(name) if name.len() <= MAX_NAME => return Ok(Some(name.to_owned())),
            _ => "a string of at most 4096 bytes",
        };
        Err(self.wrong(Some(here), "`partition`", &scalar, expected))
    }

    fn wrong(
        &self,
        here: Option<usize>,
        key: &str,
        scalar: &JsonScalar<'_>,
        expected: &str,
    ) -> String {
        let (path, found) = (self.path(here), scalar.found());
        format!(": {key} of {path} is {found}, expected {expected}")
    }

    /// The names from the first level down to a node, in back-ticks.
    fn path(&self, here: Option<usize>) -> String {
        let up = std::iter::successors(here, |&node| self.document.nodes[node].parent);
        let mut names: Vec<_> = up
            .map(|node| clipped(&self.document.nodes[node].name))
            .collect();
        if names.is_empty() {
            return "the document".to_owned();
        }
        names.reverse();
        format!("`{}`", names.join("/"))
    }
}

fn not_a_tree(found: &str) -> String {
    format!(" is {found}, expected {{\"children\":[{{\"name\":…,\"shares\":…}}]}}")
}

fn whole(scalar: &JsonScalar<'_>) -> Option<i64> {
    match scalar {
        JsonScalar::Number(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read_tree("t.json", text.as_bytes())
            .map(|_| ())
            .expect_err(text)
            .to_string()
    }

    #[test]
    fn reads_the_documented_format() {
        let text = "\u{feff}{\"unknown_shares\":10,\"usage\":5,\"children\":[\r\n{\"name\":\"group1\",\"shares\":40,\"usage\":2.5,\"children\":\
             [{\"name\":\"Bob\",\"shares\":50,\"usage\":100},{\"name\":\"Eve\",\"shares\":\"parent\"}]},{\"name\":\"g2\",\"kind\":\"account\",\"share\":3},{\"name\":7,\"shares\":0}]}";
        let tree = read_tree("t", text.as_bytes()).unwrap();
        assert_eq!((tree.unknown_shares, tree.usage), (Some(10), 5.0));
        let rows: Vec<_> = tree
            .nodes
            .iter()
            .map(|node| (&*node.name, node.parent, node.shares, node.usage, node.kind))
            .collect();
        assert_eq!(
            rows,
            [
                (
                    "group1",
                    None,
                    Shares::Count(40),
                    Some(2.5),
                    NodeKind::Group
                ),
                (
                    "Bob",
                    Some(0),
                    Shares::Count(50),
                    Some(100.0),
                    NodeKind::Entity
                ),
                ("Eve", Some(0), Shares::Parent, None, NodeKind::Entity),
                ("g2", None, Shares::Count(1), None, NodeKind::Group),
                ("7", None, Shares::Count(0), None, NodeKind::Entity),
            ]
        );
        assert_eq!(tree.unknown_keys.into_iter().collect::<Vec<_>>(), ["share"]);
        assert!(tree.repeated_keys.is_empty());
    }

    #[test]
    fn a_key_that_is_given_again_is_noted() {
        let node = "{\"name\":\"Bob\",\"shares\":1,\"shares\":2,\"shares\":3}";
        let text = format!(
            "{{\"children\":[{{\"name\":\"g\",\"children\":[{node},{node}]}}],\"children\":[]}}"
        );
        let tree = read_tree("t", text.as_bytes()).unwrap();
        assert_eq!(
            (tree.nodes.len(), tree.nodes[1].shares),
            (3, Shares::Count(3))
        );
        let repeated: Vec<_> = tree.repeated_keys.into_iter().collect();
        assert_eq!(
            repeated,
            [
                ("children", "the document".to_owned()),
                ("shares", "`g/Bob`".to_owned())
            ]
        );
    }

    #[test]
    fn errors_name_the_node() {
        assert_eq!(
            error("[1]"),
            "`t.json` is an array, expected {\"children\":[{\"name\":…,\"shares\":…}]}"
        );
        assert!(error("{}").contains("an object without `children`"));
        assert!(error(r#"{"childs":[]}"#).contains("and with the unknown key `childs`"));
        assert!(error("{\"children\":[").contains("not valid JSON"));
        assert!(
            error(r#"{"children":{}}"#)
                .contains("`children` of the document is an object, expected an array")
        );
        let beside = error(r#"{"children":[{"name":"g","children":[1]},1]}"#);
        assert!(beside.contains("the node of `g/#1` is a number, expected an object"));
        assert!(
            error(r#"{"unknown_shares":null,"children":[]}"#)
                .contains("`unknown_shares` of the document is null")
        );
        for (node, expected) in [
            (r#"{"shares":1}"#, "`name` of `g/#1` is missing"),
            (
                r#"{"name":"Bob","shares":1.5}"#,
                "`shares` of `g/Bob` is the number 1.5",
            ),
            (
                r#"{"name":"Bob","usage":"1"}"#,
                "`usage` of `g/Bob` is the string \"1\"",
            ),
            (r#"{"name":"Bob","usage":1e999}"#, "`usage` of `g/Bob`"),
            (
                r#"{"name":"Bob","usage":-5}"#,
                "is the number -5, expected a finite number of at least 0",
            ),
            (
                r#"{"name":"Bob","usage":null}"#,
                "`usage` of `g/Bob` is null, expected a finite number",
            ),
            (
                r#"{"name":"Bob","shares":null}"#,
                "`shares` of `g/Bob` is null, expected a whole number",
            ),
            (
                r#"{"name":"Bob","kind":"dog"}"#,
                "`kind` of `g/Bob` is the string \"dog\"",
            ),
        ] {
            let error = error(&format!(
                "{{\"children\":[{{\"name\":\"g\",\"children\":[{node}]}}]}}"
            ));
            assert!(error.contains(expected), "{error} / {expected}");
        }
    }

    #[test]
    fn reads_what_flux_accounting_exports() {
        let text = r#"{"root":{"bank":"top","shares":1,"usage":9.5,"children":[
            {"bank":"A","shares":3,"usage":9.5,"children":[{"username":"mara","shares":2,"usage":9.5,"name":"x"}]},
            {"bank":"B","shares":1,"usage":0.0}]},"version":1}"#;
        let tree = read_flux_tree("t", text.as_bytes()).expect("a tree");
        assert_eq!((&*tree.root, tree.usage), ("top", 9.5));
        let rows: Vec<_> = tree
            .nodes
            .iter()
            .map(|node| (&*node.name, node.parent, node.shares, node.usage, node.kind))
            .collect();
        assert_eq!(
            rows,
            [
                ("A", None, Shares::Count(3), Some(9.5), NodeKind::Group),
                (
                    "mara",
                    Some(0),
                    Shares::Count(2),
                    Some(9.5),
                    NodeKind::Entity
                ),
                ("B", None, Shares::Count(1), Some(0.0), NodeKind::Group),
            ]
        );
        assert_eq!(
            tree.unknown_keys.into_iter().collect::<Vec<_>>(),
            ["name", "version"]
        );
        let error = |node: &str| {
            let text = format!(
                r#"{{"root":{{"bank":"root","children":[{{"bank":"A","children":[{node}]}}]}}}}"#
            );
            read_flux_tree("t", text.as_bytes())
                .map(|_| ())
                .expect_err(node)
                .to_string()
        };
        for (node, expected) in [
            (
                r#"{"user":"mara"}"#,
                "`username` or `bank` of `A/#1` is missing",
            ),
            (
                r#"{"username":"mara","children":[]}"#,
                "`children` of `A/mara` is given, expected none under a user",
            ),
            (
                r#"{"username":"mara","usage":-1}"#,
                "`usage` of `A/mara` is the number -1",
            ),
        ] {
            let error = error(node);
            assert!(error.contains(expected), "{error} / {expected}");
        }
        let deep = format!(
            "{}{}",
            r#"{"bank":"a","children":["#.repeat(MAX_DEPTH + 2),
            "]}".repeat(MAX_DEPTH + 2)
        );
        let error =
            read_flux_tree("t", format!(r#"{{"root":{deep}}}"#).as_bytes()).expect_err("too deep");
        assert!(error.to_string().contains("deeper"), "{error}");
    }

    #[test]
    fn depth_is_limited() {
        let [greatest, too_deep, far_too_deep] = [MAX_DEPTH, MAX_DEPTH + 1, 10_000].map(|depth| {
            format!(
                "{{\"children\":[{}{}]}}",
                "{\"name\":\"a\",\"children\":[".repeat(depth),
                "]}".repeat(depth)
            )
        });
        assert_eq!(
            read_tree("t", greatest.as_bytes()).unwrap().nodes.len(),
            MAX_DEPTH
        );
        assert!(error(&too_deep).contains("deeper than 200 nodes at `a/a/"));
        assert!(error(&far_too_deep).contains("deeper"));
    }
}
