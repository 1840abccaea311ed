//! Reads a [`TreeDocument`] from native JSON, without recursion.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::fairshare::tree_document::{MAX_DEPTH, MAX_NAME, MAX_NODES, TreeDocument, TreeDocumentError, TreeNode};
use crate::fairshare::{NodeKind, Shares};
use crate::json_visitor::{
    Entry, JsonScalar, ObjectReader, Shape, clipped, decode_utf8, read_object, strip_byte_order_mark,
};

/// Reads a tree in native JSON, `{"unknown_shares":0,"children":[{"name":"group1","shares":40,"children":[…]}]}`.
///
/// ```
/// let text = r#"{"children":[{"name":"g","shares":40,"children":[{"name":"Bob","shares":"parent","usage":100}]}]}"#;
/// let tree = job_sort_formula::fairshare::tree_document::read_tree("tree.json", text.as_bytes())?;
/// assert_eq!((tree.nodes[1].name.as_str(), tree.nodes[1].parent, tree.nodes[1].usage), ("Bob", Some(0), Some(100.0)));
/// # Ok::<(), job_sort_formula::fairshare::tree_document::TreeDocumentError>(())
/// ```
///
/// # Errors
/// The text is malformed JSON or not a tree, a node has no name or a value of the wrong type, or the tree has more
/// nodes or levels than the limits allow.
pub fn read_tree(source_name: &str, bytes: &[u8]) -> Result<TreeDocument, TreeDocumentError> {
    let text = decode_utf8(strip_byte_order_mark(bytes));
    let mut top = Fields::default();
    let owned = || source_name.to_owned();
    let shape = read_object(&text, &mut top)
        .map_err(|error| TreeDocumentError::Json { source_name: owned(), reason: error.to_string() })?;
    if let Shape::Other(found) = shape {
        return Err(TreeDocumentError::NotATree { source_name: owned(), found: found.to_owned() });
    }
    if top.children.is_none() {
        let found = "an object without `children`".to_owned();
        return Err(TreeDocumentError::NotATree { source_name: owned(), found });
    }
    let mut reader = TreeReader { source_name, document: TreeDocument::default(), stack: Vec::new() };
    reader.top(top)?;
    while let Some(node) = reader.stack.pop() {
        reader.node(node)?;
    }
    Ok(reader.document)
}

/// The values of a node's keys, not yet checked.
#[derive(Debug, Default)]
struct Fields<'d> {
    name: Option<JsonScalar<'d>>,
    shares: Option<JsonScalar<'d>>,
    usage: Option<JsonScalar<'d>>,
    kind: Option<JsonScalar<'d>>,
    partition: Option<JsonScalar<'d>>,
    unknown_shares: Option<JsonScalar<'d>>,
    children: Option<Vec<&'d RawValue>>,
    /// What `children` is, if it is not a list.
    wrong_children: Option<&'static str>,
    unknown_keys: Vec<String>,
}

impl<'d> ObjectReader<'d> for Fields<'d> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let field = match &*key {
            "name" => &mut self.name,
            "shares" => &mut self.shares,
            "usage" => &mut self.usage,
            "kind" => &mut self.kind,
            "partition" => &mut self.partition,
            "unknown_shares" => &mut self.unknown_shares,
            "children" => {
                let children = self.children.get_or_insert_default();
                if let Shape::Other(words) = value.list(|child| children.push(child))? {
                    self.wrong_children = Some(words);
                }
                return Ok(());
            }
            other => {
                self.unknown_keys.push(clipped(other).into_owned());
                return value.skip();
            }
        };
        *field = JsonScalar::from_raw(value.raw()?);
        Ok(())
    }
}

/// A node that is not read yet.
struct PendingNode<'d> {
    raw: &'d RawValue,
    parent: Option<usize>,
    /// The number among its siblings, from 1.
    number: usize,
    depth: usize,
}

struct TreeReader<'d> {
    source_name: &'d str,
    document: TreeDocument,
    stack: Vec<PendingNode<'d>>,
}

impl<'d> TreeReader<'d> {
    fn top(&mut self, mut fields: Fields<'d>) -> Result<(), TreeDocumentError> {
        self.document.usage = self.usage(&fields, None)?.unwrap_or(0.0);
        if let Some(token) = fields.unknown_shares.take() {
            let shares = whole(&token).ok_or_else(|| self.wrong(None, "`unknown_shares`", &token, "a whole number"))?;
            self.document.unknown_shares = Some(shares);
        }
        self.children(fields, None, 1)
    }

    fn node(&mut self, node: PendingNode<'d>) -> Result<(), TreeDocumentError> {
        if self.document.nodes.len() >= MAX_NODES {
            return Err(TreeDocumentError::TooLarge { source_name: self.source_name.to_owned() });
        }
        let mut fields = Fields::default();
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
            Ok(Shape::Taken) => {}
            Ok(Shape::Other(words)) => {
                return Err(self.wrong(Some(here), "the node", &JsonScalar::Other(words), "an object"));
            }
            Err(error) => {
                let (source_name, reason) = (self.source_name.to_owned(), error.to_string());
                return Err(TreeDocumentError::Json { source_name, reason });
            }
        }
        self.document.nodes[here].name = self.name(&fields, here)?;
        self.document.nodes[here].shares = self.shares(&fields, here)?;
        self.document.nodes[here].usage = self.usage(&fields, Some(here))?;
        self.document.nodes[here].kind = self.kind(&fields, here)?;
        self.document.nodes[here].partition = self.partition(&fields, here)?;
        self.children(fields, Some(here), node.depth + 1)
    }

    /// Pushes the children so that the first one is read next.
    fn children(&mut self, fields: Fields<'d>, parent: Option<usize>, depth: usize) -> Result<(), TreeDocumentError> {
        if let Some(words) = fields.wrong_children {
            return Err(self.wrong(parent, "`children`", &JsonScalar::Other(words), "an array"));
        }
        self.document.unknown_keys.extend(fields.unknown_keys);
        let children = fields.children.unwrap_or_default();
        if depth > MAX_DEPTH && !children.is_empty() {
            let (source_name, path) = (self.source_name.to_owned(), self.path(parent));
            return Err(TreeDocumentError::TooDeep { source_name, path });
        }
        let numbered = children.into_iter().enumerate().rev();
        self.stack.extend(numbered.map(|(index, raw)| PendingNode { raw, parent, number: index + 1, depth }));
        Ok(())
    }

    fn name(&self, fields: &Fields<'_>, here: usize) -> Result<String, TreeDocumentError> {
        let token = fields.name.as_ref().unwrap_or(&JsonScalar::Other("missing"));
        match token.text() {
            Some(name) if !name.is_empty() && name.len() <= MAX_NAME => Ok(name.to_owned()),
            _ => Err(self.wrong(Some(here), "`name`", token, "a string of 1 to 4096 bytes")),
        }
    }

    fn shares(&self, fields: &Fields<'_>, here: usize) -> Result<Shares, TreeDocumentError> {
        match &fields.shares {
            None => Ok(Shares::Count(1)),
            Some(JsonScalar::String(text)) if text == "parent" => Ok(Shares::Parent),
            Some(token) => whole(token)
                .map(Shares::Count)
                .ok_or_else(|| self.wrong(Some(here), "`shares`", token, "a whole number or \"parent\"")),
        }
    }

    fn usage(&self, fields: &Fields<'_>, here: Option<usize>) -> Result<Option<f64>, TreeDocumentError> {
        let Some(token) = &fields.usage else { return Ok(None) };
        let usage = match token {
            JsonScalar::Number(text) => text.parse().ok().filter(|usage: &f64| usage.is_finite()),
            _ => None,
        };
        usage.map(Some).ok_or_else(|| self.wrong(here, "`usage`", token, "a number"))
    }

    fn kind(&self, fields: &Fields<'_>, here: usize) -> Result<NodeKind, TreeDocumentError> {
        match (&fields.kind, fields.kind.as_ref().and_then(JsonScalar::text)) {
            (None, _) if fields.children.is_some() => Ok(NodeKind::Group),
            (None, _) => Ok(NodeKind::Entity),
            (_, Some("account" | "group")) => Ok(NodeKind::Group),
            (_, Some("user" | "entity")) => Ok(NodeKind::Entity),
            (Some(token), _) => Err(self.wrong(Some(here), "`kind`", token, "\"account\" or \"user\"")),
        }
    }

    /// Only a user's association has a partition; an empty name means all partitions.
    fn partition(&self, fields: &Fields<'_>, here: usize) -> Result<Option<String>, TreeDocumentError> {
        let Some(token) = &fields.partition else { return Ok(None) };
        match token.text() {
            Some("") => Ok(None),
            _ if self.document.nodes[here].kind == NodeKind::Group => {
                Err(self.wrong(Some(here), "`partition`", token, "no partition on an account, only on a user"))
            }
            Some(name) if name.len() <= MAX_NAME => Ok(Some(name.to_owned())),
            _ => Err(self.wrong(Some(here), "`partition`", token, "a string of at most 4096 bytes")),
        }
    }

    fn wrong(
        &self,
        here: Option<usize>,
        key: &str,
        token: &JsonScalar<'_>,
        expected: &'static str,
    ) -> TreeDocumentError {
        TreeDocumentError::Node {
            source_name: self.source_name.to_owned(),
            path: self.path(here),
            key: key.to_owned(),
            found: token.found(),
            expected,
        }
    }

    /// The names from the first level down to a node.
    fn path(&self, here: Option<usize>) -> String {
        let up = std::iter::successors(here, |&node| self.document.nodes[node].parent);
        let names: Vec<_> = up.map(|node| clipped(&self.document.nodes[node].name)).collect();
        if names.is_empty() { "the top".to_owned() } else { names.into_iter().rev().collect::<Vec<_>>().join("/") }
    }
}

fn whole(token: &JsonScalar<'_>) -> Option<i64> {
    match token {
        JsonScalar::Number(text) => text.parse().ok(),
        _ => None,
    }
}
