//! Reads a [`TreeDocument`] from native JSON, without recursion.

use std::borrow::Cow;

use job_sort_formula::fairshare::tree_document::{
    MAX_DEPTH, MAX_NAME, MAX_NODES, TreeDocument, TreeDocumentError, TreeNode,
};
use job_sort_formula::fairshare::{NodeKind, Shares};
use jsf_json::{
    Entry, JsonScalar, ObjectReader, Shape, clipped, decode_utf8, read_object,
    strip_byte_order_mark,
};
use serde_json::value::RawValue;

/// The most unknown keys that an error lists.
const MAX_LISTED: usize = 4;

/// Reads a tree in native JSON,
/// `{"unknown_shares":0,"children":[{"name":"group1","shares":40,"children":[…]}]}`.
///
/// ```
/// let text = r#"{"children":[{"name":"g","shares":40,"children":[{"name":"Bob","shares":"parent","usage":100}]}]}"#;
/// let tree = jsf_ingest::native_tree::read_tree("tree.json", text.as_bytes())?;
/// assert_eq!((tree.nodes[1].name.as_str(), tree.nodes[1].parent, tree.nodes[1].usage), ("Bob", Some(0), Some(100.0)));
/// # Ok::<(), job_sort_formula::fairshare::tree_document::TreeDocumentError>(())
/// ```
///
/// # Errors
/// The text is malformed JSON or not a tree, a node has no name or a value of the wrong type, or
/// the tree has more nodes or levels than the limits allow.
pub fn read_tree(source_name: &str, bytes: &[u8]) -> Result<TreeDocument, TreeDocumentError> {
    read(source_name, bytes, Format::Native)
}

/// Reads a tree as flux-accounting's `flux account export-db --fairshare-emulate` prints it,
/// `{"root":{"bank":"root","shares":1,"usage":9.0,"children":[{"username":"mara","shares":1,"usage":9.0}]}}`.
/// The usage of a bank, and of the document, is here that of all below it.
///
/// # Errors
/// As [`read_tree`].
pub fn read_flux_tree(source_name: &str, bytes: &[u8]) -> Result<TreeDocument, TreeDocumentError> {
    read(source_name, bytes, Format::FluxAccounting)
}

fn read(
    source_name: &str,
    bytes: &[u8],
    format: Format,
) -> Result<TreeDocument, TreeDocumentError> {
    let text = decode_utf8(strip_byte_order_mark(bytes));
    let mut reader = TreeReader {
        source_name,
        format,
        document: TreeDocument::default(),
        stack: Vec::new(),
    };
    let mut top = reader.fields(&text)?;
    if let (Some(root), None) = (top.root, &top.children) {
        reader
            .document
            .unknown_keys
            .extend(std::mem::take(&mut top.unknown_keys));
        top = reader.fields(root.get())?;
        if let Some(bank) = top.get("bank").and_then(JsonScalar::text) {
            bank.clone_into(&mut reader.document.root);
        }
    }
    if top.children.is_none() {
        return Err(reader.not_a_tree(&top));
    }
    reader.read_top(top)?;
    while let Some(node) = reader.stack.pop() {
        reader.read_node(node)?;
    }
    Ok(reader.document)
}

/// How the nodes of a tree are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Native,
    /// What flux-accounting's `export-db --fairshare-emulate` prints, since its release 0.60.
    FluxAccounting,
}

impl Format {
    /// The keys of a node.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Native => &[
                "name",
                "shares",
                "usage",
                "kind",
                "partition",
                "unknown_shares",
                "children",
            ],
            Self::FluxAccounting => &["bank", "username", "shares", "usage", "children", "root"],
        }
    }
}

/// The values of a node's keys, not yet checked.
#[derive(Debug)]
struct Fields<'d> {
    format: Format,
    /// The keys whose values are neither `null` nor lists; of a key that is given again, the last
    /// value counts.
    scalars: Vec<(&'static str, JsonScalar<'d>)>,
    /// The tree of flux-accounting.
    root: Option<&'d RawValue>,
    children: Option<Vec<&'d RawValue>>,
    /// What `children` is, if it is not a list.
    wrong_children: Option<&'static str>,
    unknown_keys: Vec<String>,
    given: Vec<&'static str>,
    repeated: Vec<&'static str>,
}

impl<'d> Fields<'d> {
    fn new(format: Format) -> Self {
        Self {
            format,
            scalars: Vec::new(),
            root: None,
            children: None,
            wrong_children: None,
            unknown_keys: Vec::new(),
            given: Vec::new(),
            repeated: Vec::new(),
        }
    }

    fn get(&self, key: &str) -> Option<&JsonScalar<'d>> {
        self.scalars
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, scalar)| scalar)
    }
}

impl<'d> ObjectReader<'d> for Fields<'d> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let Some(known) = self
            .format
            .keys()
            .iter()
            .copied()
            .find(|known| *known == key)
        else {
            self.unknown_keys.push(clipped(&key).into_owned());
            return value.skip();
        };
        let list = if self.given.contains(&known) {
            &mut self.repeated
        } else {
            &mut self.given
        };
        list.push(known);
        match known {
            "children" => {
                let children = self.children.get_or_insert_default();
                let shape = value.list(|child| {
                    // one more than a tree may have is enough to refuse it
                    if children.len() <= MAX_NODES {
                        children.push(child);
                    }
                })?;
                if let Shape::Other(found) = shape {
                    self.wrong_children = Some(found);
                }
            }
            "root" => self.root = Some(value.raw()?),
            _ => {
                // a number given as `null` is an error, unlike a missing one
                let null = matches!(known, "shares" | "usage" | "unknown_shares")
                    .then_some(JsonScalar::NULL);
                let scalar = JsonScalar::from_raw(value.raw()?).or(null);
                self.scalars.retain(|(given, _)| *given != known);
                self.scalars.extend(scalar.map(|scalar| (known, scalar)));
            }
        }
        Ok(())
    }
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
    source_name: &'d str,
    format: Format,
    document: TreeDocument,
    stack: Vec<PendingNode<'d>>,
}

impl<'d> TreeReader<'d> {
    /// Reads the text of the document, or of its root.
    fn fields<'t>(&self, text: &'t str) -> Result<Fields<'t>, TreeDocumentError> {
        let mut fields = Fields::new(self.format);
        let shape = read_object(text, &mut fields).map_err(|error| self.invalid(&error))?;
        match shape {
            Shape::Expected => Ok(fields),
            Shape::Other(found) => Err(TreeDocumentError::NotATree {
                source_name: self.source_name.to_owned(),
                found: found.to_owned(),
            }),
        }
    }

    /// The error for an object without children.
    fn not_a_tree(&self, top: &Fields<'_>) -> TreeDocumentError {
        let mut found = "an object without `children`".to_owned();
        if !top.unknown_keys.is_empty() {
            let keys: Vec<String> = top
                .unknown_keys
                .iter()
                .take(MAX_LISTED)
                .map(|key| format!("`{key}`"))
                .collect();
            let plural = if keys.len() == 1 { "" } else { "s" };
            found += &format!(" but with the unknown key{plural} {}", keys.join(", "));
        }
        TreeDocumentError::NotATree {
            source_name: self.source_name.to_owned(),
            found,
        }
    }

    fn invalid(&self, error: &dyn std::fmt::Display) -> TreeDocumentError {
        TreeDocumentError::Json {
            source_name: self.source_name.to_owned(),
            reason: error.to_string(),
        }
    }

    fn read_top(&mut self, fields: Fields<'d>) -> Result<(), TreeDocumentError> {
        self.document.usage = self.usage(&fields, None)?.unwrap_or(0.0);
        if let Some(scalar) = fields.get("unknown_shares") {
            let shares = whole(scalar).filter(|&shares| shares >= 0).ok_or_else(|| {
                self.wrong(
                    None,
                    "`unknown_shares`",
                    scalar,
                    "a whole number of at least 0",
                )
            })?;
            self.document.unknown_shares = Some(shares);
        }
        self.push_children(fields, None, 1)
    }

    fn read_node(&mut self, node: PendingNode<'d>) -> Result<(), TreeDocumentError> {
        let mut fields = Fields::new(self.format);
        let here = self.document.nodes.len();
        let placeholder = TreeNode {
            name: format!("#{}", node.number),
            parent: node.parent,
            partition: None,
            shares: Shares::Count(1),
            usage: None,
            cgroup: None,
            kind: NodeKind::Entity,
        };
        self.document.nodes.push(placeholder);
        match read_object(node.raw.get(), &mut fields) {
            Ok(Shape::Expected) => {}
            Ok(Shape::Other(found)) => {
                return Err(self.wrong(
                    Some(here),
                    "the node",
                    &JsonScalar::Other(found),
                    "an object",
                ));
            }
            Err(error) => return Err(self.invalid(&error)),
        }
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
    ) -> Result<(), TreeDocumentError> {
        if let Some(found) = fields.wrong_children {
            return Err(self.wrong(parent, "`children`", &JsonScalar::Other(found), "an array"));
        }
        self.document.unknown_keys.extend(fields.unknown_keys);
        for key in fields.repeated {
            if !self.document.repeated_keys.contains_key(key) {
                let path = self.path(parent);
                self.document.repeated_keys.insert(key, path);
            }
        }
        let children = fields.children.unwrap_or_default();
        if self.document.nodes.len() + self.stack.len() + children.len() > MAX_NODES {
            return Err(TreeDocumentError::TooLarge {
                source_name: self.source_name.to_owned(),
            });
        }
        if depth > MAX_DEPTH && !children.is_empty() {
            let source_name = self.source_name.to_owned();
            return Err(TreeDocumentError::TooDeep {
                source_name,
                path: self.path(parent),
            });
        }
        let numbered = children.into_iter().enumerate().rev();
        self.stack.extend(numbered.map(|(index, raw)| PendingNode {
            raw,
            parent,
            number: index + 1,
            depth,
        }));
        Ok(())
    }

    fn name(&self, fields: &Fields<'_>, here: usize) -> Result<String, TreeDocumentError> {
        let (scalar, key) = match self.format {
            Format::Native => (fields.get("name"), "`name`"),
            Format::FluxAccounting => (
                fields.get("username").or(fields.get("bank")),
                "`username` or `bank`",
            ),
        };
        let scalar = scalar.unwrap_or(&JsonScalar::Other("missing"));
        match scalar.text() {
            Some(name) if !name.is_empty() && name.len() <= MAX_NAME => Ok(name.to_owned()),
            _ => Err(self.wrong(Some(here), key, scalar, "a string of 1 to 4096 bytes")),
        }
    }

    fn shares(&self, fields: &Fields<'_>, here: usize) -> Result<Shares, TreeDocumentError> {
        match fields.get("shares") {
            None => Ok(Shares::Count(1)),
            Some(JsonScalar::String(text)) if text == "parent" => Ok(Shares::Parent),
            Some(scalar) => whole(scalar).map(Shares::Count).ok_or_else(|| {
                self.wrong(
                    Some(here),
                    "`shares`",
                    scalar,
                    "a whole number or \"parent\"",
                )
            }),
        }
    }

    fn usage(
        &self,
        fields: &Fields<'_>,
        here: Option<usize>,
    ) -> Result<Option<f64>, TreeDocumentError> {
        let Some(scalar) = fields.get("usage") else {
            return Ok(None);
        };
        let usage = match scalar {
            JsonScalar::Number(text) => text
                .parse()
                .ok()
                .filter(|usage: &f64| usage.is_finite() && *usage >= 0.0),
            _ => None,
        };
        // `-0` becomes 0
        let usage = usage.map(|usage| usage + 0.0);
        usage
            .map(Some)
            .ok_or_else(|| self.wrong(here, "`usage`", scalar, "a finite number of at least 0"))
    }

    fn kind(&self, fields: &Fields<'_>, here: usize) -> Result<NodeKind, TreeDocumentError> {
        let kind = fields.get("kind");
        match (kind, kind.and_then(JsonScalar::text)) {
            (None, _) if fields.get("username").is_some() => match fields.children {
                None => Ok(NodeKind::Entity),
                Some(_) => Err(self.wrong(
                    Some(here),
                    "`children`",
                    &JsonScalar::Other("given"),
                    "none under a user",
                )),
            },
            (None, _) if fields.get("bank").is_some() => Ok(NodeKind::Group),
            (None, _) if fields.children.is_some() => Ok(NodeKind::Group),
            (None, _) => Ok(NodeKind::Entity),
            (_, Some("account" | "group")) => Ok(NodeKind::Group),
            (_, Some("user" | "entity")) => Ok(NodeKind::Entity),
            (Some(scalar), _) => {
                Err(self.wrong(Some(here), "`kind`", scalar, "\"account\" or \"user\""))
            }
        }
    }

    /// Only a user's association has a partition; an empty name means all partitions.
    fn partition(
        &self,
        fields: &Fields<'_>,
        here: usize,
    ) -> Result<Option<String>, TreeDocumentError> {
        let Some(scalar) = fields.get("partition") else {
            return Ok(None);
        };
        match scalar.text() {
            Some("") => Ok(None),
            _ if self.document.nodes[here].kind == NodeKind::Group => Err(self.wrong(
                Some(here),
                "`partition`",
                scalar,
                "no partition on an account, only on a user",
            )),
            Some(name) if name.len() <= MAX_NAME => Ok(Some(name.to_owned())),
            _ => Err(self.wrong(
                Some(here),
                "`partition`",
                scalar,
                "a string of at most 4096 bytes",
            )),
        }
    }

    fn wrong(
        &self,
        here: Option<usize>,
        key: &str,
        scalar: &JsonScalar<'_>,
        expected: &'static str,
    ) -> TreeDocumentError {
        TreeDocumentError::Node {
            source_name: self.source_name.to_owned(),
            path: self.path(here),
            key: key.to_owned(),
            found: scalar.found(),
            expected,
        }
    }

    /// The names from the first level down to a node, in back-ticks.
    fn path(&self, here: Option<usize>) -> String {
        let up = std::iter::successors(here, |&node| self.document.nodes[node].parent);
        let names: Vec<_> = up
            .map(|node| clipped(&self.document.nodes[node].name))
            .collect();
        if names.is_empty() {
            "the document".to_owned()
        } else {
            format!(
                "`{}`",
                names.into_iter().rev().collect::<Vec<_>>().join("/")
            )
        }
    }
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
        assert!(
            error(r#"{"childs":[]}"#)
                .contains("without `children` but with the unknown key `childs`, expected")
        );
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
