use crate::fairshare::tree_document::*;

fn error(text: &str) -> String {
    read_tree("t.json", text.as_bytes()).map(|_| ()).expect_err(text).to_string()
}

#[test]
fn reads_the_documented_format() {
    let text = "\u{feff}{\"unknown_shares\":10,\"usage\":5,\"children\":[\r\n{\"name\":\"group1\",\"shares\":40,\"usage\":2.5,\"children\":\
         [{\"name\":\"Bob\",\"shares\":50,\"usage\":100},{\"name\":\"Eve\",\"shares\":\"parent\"}]},{\"name\":\"g2\",\"kind\":\"account\",\"share\":3},{\"name\":7,\"shares\":0}]}";
    let tree = read_tree("t", text.as_bytes()).unwrap();
    assert_eq!((tree.unknown_shares, tree.usage), (Some(10), 5.0));
    let rows: Vec<_> =
        tree.nodes.iter().map(|node| (&*node.name, node.parent, node.shares, node.usage, node.kind)).collect();
    assert_eq!(
        rows,
        [
            ("group1", None, Shares::Count(40), Some(2.5), NodeKind::Group),
            ("Bob", Some(0), Shares::Count(50), Some(100.0), NodeKind::Entity),
            ("Eve", Some(0), Shares::Parent, None, NodeKind::Entity),
            ("g2", None, Shares::Count(1), None, NodeKind::Group),
            ("7", None, Shares::Count(0), None, NodeKind::Entity),
        ]
    );
    assert_eq!(tree.unknown_keys.into_iter().collect::<Vec<_>>(), ["share"]);
}

#[test]
fn errors_name_the_node() {
    assert_eq!(error("[1]"), "`t.json` is an array, expected {\"children\":[{\"name\":…,\"shares\":…}]}");
    assert!(error("{}").contains("an object without `children`"));
    assert!(error("{\"children\":[").contains("not valid JSON"));
    assert!(error(r#"{"children":{}}"#).contains("`children` of `the top` is an object, expected an array"));
    let inside = |node: &str| error(&format!("{{\"children\":[{{\"name\":\"g\",\"children\":[1]}},{node}]}}"));
    assert!(inside("1").contains("the node of `g/#1` is a number, expected an object"));
    let one = |node: &str| error(&format!("{{\"children\":[{{\"name\":\"g\",\"children\":[{node}]}}]}}"));
    assert!(one(r#"{"shares":1}"#).contains("`name` of `g/#1` is missing"));
    assert!(one(r#"{"name":"Bob","shares":1.5}"#).contains("`shares` of `g/Bob` is the number 1.5"));
    assert!(one(r#"{"name":"Bob","usage":"1"}"#).contains("`usage` of `g/Bob` is the string \"1\""));
    assert!(one(r#"{"name":"Bob","usage":1e999}"#).contains("`usage` of `g/Bob`"));
    assert!(one(r#"{"name":"Bob","kind":"dog"}"#).contains("`kind` of `g/Bob` is the string \"dog\""));
}

#[test]
fn depth_is_limited() {
    let chain = |depth: usize| {
        format!("{{\"children\":[{}{}]}}", "{\"name\":\"a\",\"children\":[".repeat(depth), "]}".repeat(depth))
    };
    assert_eq!(read_tree("t", chain(MAX_DEPTH).as_bytes()).unwrap().nodes.len(), MAX_DEPTH);
    assert!(error(&chain(MAX_DEPTH + 1)).contains("deeper than 200 nodes at `a/a/"));
    assert!(error(&chain(10_000)).contains("deeper"));
}
