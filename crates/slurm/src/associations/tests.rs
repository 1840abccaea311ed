use job_sort_formula::fairshare::tree_document::TreeNode;
use job_sort_formula::fairshare::{NodeKind, Shares};
use proptest::prelude::*;

use crate::associations::*;

fn tree(text: &str) -> SlurmTree {
    read_tree("t", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn warned(text: &str) -> Vec<String> {
    tree(text).warnings
}

fn refused(text: &str) -> String {
    read_tree("t", text.as_bytes()).expect_err(text).to_string()
}

fn names(tree: &SlurmTree) -> Vec<String> {
    let document = &tree.document;
    document
        .nodes
        .iter()
        .map(|node| format!("{}/{}", document.parent_name(node), node.name))
        .collect()
}

const HEADER: &str = "Account|User|RawShares|NormShares|RawUsage\n";

fn sshare(rows: &str) -> String {
    format!("{HEADER}{rows}")
}

#[test]
fn an_unknown_format_is_named() {
    for (text, start) in [
        (
            "# only\n",
            "`t` is a text that begins with ``, expected `sshare -a -l`",
        ),
        (
            "hello world",
            "`t` is a text that begins with `hello world`",
        ),
        (
            "root|||1.000000|600|||\n a||40|1|2|||\n",
            "`t` is a table without its header line: print it without `-n`",
        ),
        (
            "root            1.0 600 1.0 0.5\n",
            "`t` is a table without its header line",
        ),
        (
            "[root@head ~]# sshare\n",
            "`t` is a text that begins with `[root@head ~]# sshare`",
        ),
        (
            "{\"shares\":[]}",
            "`t` contains no associations; was it cut off?",
        ),
        (
            "{\"associations\":[]}",
            "`t` is JSON without a list `shares`, expected",
        ),
        (
            "{\"shares\":{\"shares\":[",
            "`t` is invalid JSON (at line 1, column",
        ),
        (
            "{\"shares\":{\"shares\":[]}}",
            "`t` contains no associations",
        ),
        (HEADER, "`t` contains no associations"),
        (
            "Account|User\nroot|\n",
            "`t` is a text that begins with `Account|User`",
        ),
        (
            "Account|User|NormShares\nroot||1\n",
            "`t` has no column `RawShares`: print it with `sshare -a -l -P`",
        ),
        ("Account|RawShares\nroot|\n", "`t` has no column `User`"),
    ] {
        let told = refused(text);
        assert!(told.starts_with(start), "{told} / {start}");
    }
    let noise: Vec<u8> = (0..=255).cycle().take(4096).collect();
    assert!(read_tree("t", &noise).is_err());
}

#[test]
fn an_account_keeps_what_its_members_did_not_use() {
    let tree = tree(&sshare(
        "root|||1|1000\n root|root|1|1|0\n a||40|1|700\n  a|ann|parent|1|300\n  b||2|1|150\n",
    ));
    assert_eq!(
        (tree.document.usage, tree.usage_known, tree.cluster),
        (300.0, true, None)
    );
    let usage: Vec<Option<f64>> = tree.document.nodes.iter().map(|node| node.usage).collect();
    assert_eq!(usage, [None, Some(250.0), Some(300.0), Some(150.0)]);
    assert_eq!(tree.document.nodes[2].shares, Shares::Parent);
    assert_eq!(tree.document.nodes[0].kind, NodeKind::Entity);
}

#[test]
fn a_bad_row_is_named() {
    for (rows, told) in [
        (
            "root|||1|5\n a||40|1\n",
            "line 3: it has 4 cells, but the header has 5; was it cut off?",
        ),
        (
            "root|||1|5\n a||40|1|5|6\n",
            "line 3: it has 6 cells, but the header has 5: is there a `|` in a name?",
        ),
        (
            "root|||1|5\n a||forty|1|5\n",
            "line 3: the shares of `a` are `forty`, which Slurm rejects",
        ),
        ("root|||1|5\n a|||1|5\n", "line 3: `a` has no shares"),
        (
            "root|||1|5\n a||1|1|nan\n",
            "line 3: the usage of `a` is `nan`, expected a number of at least 0",
        ),
        (
            "root|||1|5\n a||1|1|-3\n",
            "line 3: the usage of `a` is `-3`",
        ),
        (
            "root|||1|5\n a||1|1|inf\n",
            "line 3: the usage of `a` is `inf`",
        ),
        ("root|||1|5\n a||1|1|\n", "line 3: the usage of `a` is ``"),
        (
            "root|||1|5\na||1|1|5\n",
            "line 3: `a` is at the top level beside `root`",
        ),
        (
            "a||1|1|5\na|ann|1|1|5\n",
            "line 3: the row is of account `a` but is at the top level; leading blanks give",
        ),
        (
            "root|||1|5\n b|ann|1|1|5\n",
            "line 3: the row is of account `b` but is nested in `root`",
        ),
        ("root|||1|5\n ||1|1|5\n", "line 3: the account has no name"),
    ] {
        let error = refused(&sshare(rows));
        assert!(
            error.starts_with(&format!("`t`, {told}")),
            "{error} / {told}"
        );
    }
    let long = format!("root|||1|5\n {}||1|1|5\n", "x".repeat(5000));
    assert!(refused(&sshare(&long)).ends_with("a name is longer than 4096 bytes"));
}

#[test]
fn what_the_daemon_accepts_is_a_warning_in_the_order_of_the_lines() {
    let rows = "root|||1|5\n a||-4|1|1\n a||5|1|1\n b||4294967296|1|5\n  b|x|1.5|1|7\n";
    assert_eq!(
        warned(&sshare(rows)),
        [
            "line 3: `a` has shares `-4`, which Slurm stores as 1",
            "line 4: `a` in `root` is on line 3 already; this row is ignored",
            "line 5: `b` has shares `4294967296`, which Slurm stores as 0",
            "line 5: account `b` has a usage of 5, less than the 7 of its members",
            "line 6: `x` has shares `1.5`, which Slurm stores as 1",
        ]
    );
    let no_usage = tree("Account|User|RawShares\nroot||\n a||1\n");
    assert_eq!(
        (no_usage.usage_known, no_usage.warnings[0].to_string()),
        (
            false,
            "there is no column `RawUsage`, so every usage is taken as 0".to_owned()
        )
    );
    let cut = warned(&sshare("root|||1|5\n a||1|1|1"));
    assert_eq!(
        cut,
        ["line 3: the last line has no line end; was the document cut off?"]
    );
    let filtered = warned(&sshare("physics||7|1|5\n physics|ann|1|1|5\n"));
    assert_eq!(
        filtered,
        ["line 2: the top account is `physics`, expected `root`; was the output filtered?"]
    );
}

#[test]
fn partitions_and_clusters_are_told_apart() {
    let text = "CLUSTER: one\nAccount|User|Partition|RawShares|RawUsage|\nroot||||3|\n root|ann|gpu|2|1|\n root|ann||3|2|\n\
        CLUSTER: two\nAccount|User|Partition|RawShares|RawUsage|\nroot||||9|\n b|||2|1|\n";
    let tree = tree(text);
    assert_eq!(tree.cluster.as_deref(), Some("one"));
    assert_eq!(tree.document.nodes[0].partition.as_deref(), Some("gpu"));
    let shares = tree.document.share_tree().expect("sound");
    assert_eq!(
        shares
            .nodes()
            .skip(1)
            .map(|node| shares.name(node))
            .collect::<Vec<_>>(),
        ["ann:gpu", "ann"]
    );
    let told = tree.warnings[0].to_string();
    let expected =
        "line 8: only cluster `one` is read, and 2 rows of others, such as `two`, are ignored";
    assert_eq!(told, expected);
}

#[test]
fn a_user_may_be_in_an_account_once_per_partition() {
    let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'phys':Fairshare=4\nParent - 'phys'\n\
        User - 'ann':DefaultAccount='phys':Fairshare=1\n\
        User - 'ann':Partition='gpu':DefaultAccount='phys':Fairshare=3\n\
        User - 'ann':Partition='cpu':DefaultAccount='phys':Fairshare=parent\n";
    let assoc = "Cluster|Account|User|Partition|Share|ParentName\nc|root|||1|\nc|phys|||4|root\nc|phys|ann||1|\n\
        c|phys|ann|gpu|3|\nc|phys|ann|cpu|parent|\n";
    let piped =
        "Account|User|Partition|RawShares|RawUsage\nroot|||1|0\n phys|||4|0\n  phys|ann||1|0\n\
        phys|ann|gpu|3|0\n  phys|ann|cpu|parent|0\n"
            .replace("\nphys|ann", "\n  phys|ann");
    let columns = "Account                    User    Partition  RawShares    RawUsage \n\
        -------------------- ---------- ------------ ---------- ----------- \n\
        root                                                            0 \n"
        .to_owned()
        + " phys                                                4           0 \n\
        \u{20} phys                      ann                       1           0 \n\
        \u{20} phys                      ann          gpu          3           0 \n\
        \u{20} phys                      ann          cpu     parent           0 \n";
    let entries = [
        ("root", "", "", "1", "ASSOCIATION"),
        ("phys", "root", "", "4", "ASSOCIATION"),
        ("ann", "phys", "", "1", "USER"),
        ("ann", "phys", "gpu", "3", "USER"),
        ("ann", "phys", "cpu", "2147483647", "USER"),
    ]
    .map(|(name, parent, partition, shares, kind)| {
        format!(
            r#"{{"name":"{name}","parent":"{parent}","partition":"{partition}","shares":{shares},"usage":0,"type":["{kind}"]}}"#
        )
    });
    let json = format!("{{\"shares\":{{\"shares\":[{}]}}}}", entries.join(","));
    let nodes = tree(dump).document.nodes;
    assert_eq!(nodes.len(), 4);
    for text in [assoc, &piped, &columns, &json] {
        assert_eq!(
            (tree(text).document.nodes, warned(text)),
            (nodes.clone(), vec![]),
            "{text}"
        );
    }
    let shares = tree(dump).document.share_tree().expect("each has its name");
    let named: Vec<&str> = shares
        .nodes()
        .skip(2)
        .map(|node| shares.name(node))
        .collect();
    assert_eq!(named, ["ann", "ann:gpu", "ann:cpu"]);
    let again = dump.to_owned() + "User - 'ann':Partition='gpu'\n";
    assert_eq!(
        warned(&again),
        ["line 8: `ann:gpu` in `phys` is on line 6 already; this row is ignored"]
    );
}

#[test]
fn a_table_without_partitions_keeps_every_association() {
    let text = sshare("root|||1|9\n a||1|1|9\n  a|ann|1|1|4\n  a|ann|2|1|3\n  a|ann|3|1|2\n");
    let told = warned(&text);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(
        told[0],
        "line 5: `ann` in `a` is on line 4 already: a user has one association per partition, and only `sshare -m` or a \
         column `Partition` gives the partition; this association is called `ann:?2`"
    );
    let read = tree(&text);
    let shares = read.document.share_tree().expect("sound");
    for (name, expected) in [
        ("ann", (1, 4.0)),
        ("ann:?2", (2, 3.0)),
        ("ann:?3", (3, 2.0)),
    ] {
        let node = shares.find(name).expect("an association");
        assert_eq!((shares.shares(node).count(), shares.usage(node)), expected);
    }
}

#[test]
fn cut_names_are_a_warning_and_must_be_different() {
    let head = "Account    User RawShares RawUsage\n------- ------- --------- --------\n";
    let text = format!(
        "{head}root                              5\n physi+                1        5\n  phys+  ann         1        5\n"
    );
    let expected = "line 4: names such as `physi+` were cut at the width of their column; with `-P`, `sshare` and \
                    `sacctmgr` print them in full";
    assert_eq!(warned(&text), [expected]);
    let twice = format!("{text} physi+                1        5\n");
    assert!(
        refused(&twice).starts_with(
            "`t`, line 6: `physi+` was cut at the width of its column and is on line 4"
        )
    );
}

#[test]
fn accounts_without_parents_are_put_below_the_root_with_a_warning() {
    let flat =
        "Cluster|Account|User|Partition|Share\nc|root|||1\nc|a|||5\nc|b|ann||2\nc|b|||parent\n";
    let told = warned(flat);
    assert!(
        told[0].starts_with("the table does not give the parents of accounts"),
        "{told:?}"
    );
    assert_eq!(names(&tree(flat)), ["root/a", "root/b", "b/ann"]);
    let blanks =
        "Cluster|Account|User|Partition|Share\nc|root|||1\nc| a|||5\nc|  b|||2\nc|   b|ann||1\n";
    assert_eq!(
        (names(&tree(blanks)), warned(blanks)),
        (vec!["root/a".into(), "a/b".into(), "b/ann".into()], vec![])
    );
    let column = "Cluster|Account|Par Name|User|Share\nc|b|a||2\nc|root|||1\nc|b||ann|1\nc|a|root||5\nd|root|||1\n";
    assert_eq!(names(&tree(column)), ["root/a", "a/b", "b/ann"]);
    assert!(
        warned(column)[0].starts_with("line 6: only cluster `c` is read, and 1 rows of others")
    );
    let cycle = "Account|Par Name|User|Share\nroot|||1\na|b||1\nb|a||1\n";
    assert_eq!(
        refused(cycle),
        "`t`, line 3: account `a` is nested in itself"
    );
    let itself = "Account|Par Name|User|Share\nroot|||1\na|a||1\n";
    assert_eq!(
        refused(itself),
        "`t`, line 3: account `a` is nested in itself"
    );
    let unknown = "Account|Par Name|User|Share\nroot|||1\na|x||1\n";
    assert_eq!(
        refused(unknown),
        "`t`, line 3: `a` is in `x`, which is not an account of the tree"
    );
}

#[test]
fn a_file_written_by_hand_is_read_as_sacctmgr_does() {
    let text = "# by hand\nCluster - Tux:Classification=cap\naccount - Phys:Desc='a:b # not':f=40 \\\n:Org=x\n\
        Project - \"chem\":shares=parent\nnothing here\nParent - PHYS\nUser - Ann:Part=gpu:Fair='7':MaxJobs=4\n\
        User - Ann:Fairshare=\nUser - Ann:Fairshare=3\nAccount - chem:Fairshare=9\n";
    let text = text.replace(" # not", " \\# not");
    let read = tree(&text);
    assert_eq!(read.cluster.as_deref(), Some("tux"));
    use NodeKind::{Entity, Group};
    let nodes = [
        (Group, "phys", None, "", Shares::Count(40)),
        (Group, "chem", None, "", Shares::Parent),
        (Entity, "Ann", Some(0), "gpu", Shares::Count(7)),
        (Entity, "Ann", Some(0), "", Shares::Count(1)),
    ]
    .map(|(kind, name, parent, partition, shares)| TreeNode {
        kind,
        name: name.into(),
        parent,
        partition: Some(partition.to_owned()).filter(|partition| !partition.is_empty()),
        shares,
        usage: None,
        cgroup: None,
    });
    assert_eq!(read.document.nodes, nodes);
    assert_eq!(
        read.warnings,
        [
            "line 6: the line has no ` - `; `sacctmgr load` ignores it",
            "line 10: `Ann` in `phys` is on line 9 already; this row is ignored",
            "line 11: `chem` in `phys` is on line 5 already; this row is ignored",
        ]
    );
}

#[test]
fn a_line_that_stops_sacctmgr_is_an_error() {
    for (line, told) in [
        (
            "Parent - 'b'",
            "line 2: `b` is not an account on a line above, so it cannot be a parent",
        ),
        (
            "Group - 'b'",
            "line 2: `Group` is not an object of `sacctmgr load`",
        ),
        ("Account - 'b", "line 2: a quotation mark is not closed"),
        (
            "Account - :Fairshare=3",
            "line 2: there is no name in `:Fairshare=3`, expected `Account - 'name':key=value`",
        ),
        (
            "User - 'x'Fairshare=3",
            "line 2: there is no name in `'x'Fairshare=3`",
        ),
        (
            "Account - b:c",
            "line 2: `c` is not an option, expected `key=value`",
        ),
        (
            "Account - b:Fairshare=0x10",
            "line 2: the shares of `b` are `0x10`, which Slurm rejects",
        ),
        ("Cluster - d", "line 2: `d` is a second cluster after `c`"),
    ] {
        let error = refused(&format!("Cluster - c\n{line}\n"));
        assert!(
            error.starts_with(&format!("`t`, {told}")),
            "{error} / {told}"
        );
    }
}

/// A document with the root and another entry.
fn with_entry(more: &str) -> String {
    let root =
        r#"{"name":"root","shares":{"set":false,"number":0},"usage":5,"type":["ASSOCIATION"]}"#;
    format!("{{\"shares\":{{\"shares\":[{root},{more}]}}}}")
}

#[test]
fn a_broken_entry_of_a_document_is_named() {
    let sound = r#"{"name":"a","parent":"root","shares":3,"usage":5.5,"type":"USER"}"#;
    assert_eq!(tree(&with_entry(sound)).document.nodes[0].usage, Some(5.5));
    for (more, told) in [
        ("5", "entry 2: it has no `type`"),
        (r#"{"name":"a"}"#, "entry 2: it has no `type`"),
        (
            r#"{"name":"a","type":[]}"#,
            "entry 2: the usage of `a` is ``",
        ),
        (
            r#"{"name":"a","parent":"x","shares":3,"usage":5,"type":[]}"#,
            "entry 2: `a` is in `x`, which is not an account",
        ),
        (
            r#"{"name":"a","parent":"root","shares":{"set":false,"number":0},"usage":5,"type":[]}"#,
            "entry 2: `a` has no shares",
        ),
        (
            r#"{"name":"a","parent":"root","shares":1,"usage":-5,"type":[]}"#,
            "entry 2: the usage of `a` is `-5`",
        ),
        (
            r#"{"name":"","parent":"root","shares":1,"usage":5,"type":[]}"#,
            "entry 2: the account has no name",
        ),
        (
            r#"{"name":"b","shares":1,"usage":5,"type":[]}"#,
            "entry 2: `b` is at the top level beside `root`",
        ),
    ] {
        let error = refused(&with_entry(more));
        assert!(
            error.starts_with(&format!("`t`, {told}")),
            "{error} / {told}"
        );
    }
}

#[test]
fn a_hundred_thousand_levels_are_read() {
    let mut text = String::from("Cluster - c\n");
    for level in 0..100_000 {
        text += &format!("Account - a{level}\nParent - a{level}\n");
    }
    let shares = tree(&text).document.share_tree().expect("sound");
    assert_eq!(shares.len(), 100_001);
}

/// Pieces that the readers look for.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Account",
        "User",
        "RawShares",
        "RawUsage",
        "Share",
        "|",
        "\n",
        " ",
        "-",
        "----------",
        "root",
        "a",
        "ann",
        "+",
        "Cluster - c\n",
        "Parent - ",
        "Account - ",
        "User - ",
        ":Fairshare=",
        "parent",
        "-1",
        "2147483647",
        "'",
        "\"",
        "\\",
        "#",
        "{\"shares\":{\"shares\":[",
        "{\"name\":\"a\",",
        "]}}",
        "NaN",
        "é",
        "\u{0}",
        "CLUSTER: x\n",
        HEADER,
        "Par Name",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_tree("t", &bytes);
        let _ = crate::slurm_conf::SlurmConf::parse("t", &bytes, None);
    }

    #[test]
    fn what_is_read_becomes_a_tree(text in pieces()) {
        let _ = crate::slurm_conf::SlurmConf::parse("t", text.as_bytes(), None);
        if let Ok(tree) = read_tree("t", text.as_bytes()) {
            prop_assert!(tree.document.share_tree().is_ok(), "{:?}", tree.document.share_tree());
        }
    }
}

const COLUMNS: &str = "\
Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare
-------------------- ---------- ---------- ----------- ----------- ------------- ----------
root                                          0.000000         100      1.000000
 root                      root          1    0.200000           0      0.000000   1.000000
 a                                       4    0.800000         100      1.000000
  a                         ann          1    0.500000          70      0.700000   0.333333
  a                  bob_is_lon          1    0.500000          30      0.300000   0.666667
";

#[test]
fn columns_are_read_with_blanks_in_the_header() {
    let whole = tree(COLUMNS);
    assert_eq!((whole.warnings.len(), whole.document.nodes.len()), (0, 4));
    let old = COLUMNS.replace(
        " RawShares  NormShares    RawUsage  EffectvUsage",
        "Raw Shares Norm Shares   Raw Usage Effectv Usage",
    );
    assert!(old.contains("Raw Shares"));
    assert_eq!(tree(&old), whole);
    let piped =
        "Account|User|Raw Shares|Norm Shares|Raw Usage\nroot|||0.000000|100\n a||4|1.000000|100\n";
    assert_eq!(tree(piped).document.nodes[0].shares, Shares::Count(4));
    assert!(
        refused("Account and User of a text\nroot x\n").contains("begins with `Account and User")
    );
}

#[test]
fn rows_that_sshare_does_not_print_are_missed() {
    let own_only: String = COLUMNS
        .lines()
        .filter(|line| !line.contains("bob_is_lon"))
        .map(|line| format!("{line}\n"))
        .collect();
    let read = tree(&own_only);
    assert_eq!(read.is_fair_tree, Some(true));
    let told: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with(
            "rows are missing: the normalised share of `ann` in `a` is 0.500000, but 1.000000 among the rows here, \
             as for 1 in all"
        ),
        "{told:?}"
    );
    let classic = "Account|User|RawShares|NormShares|RawUsage\nroot|||1.000000|100\n a||1|0.250000|100\n  a|ann|1|0.125000|9\n";
    let read = tree(classic);
    assert_eq!(read.is_fair_tree, Some(false));
    let told: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    assert!(
        told.len() == 1 && told[0].contains("as for 2 in all"),
        "{told:?}"
    );
}

#[test]
fn shares_are_read_as_recorded() {
    for (text, count, is_exact) in [
        ("0", 0, true),
        ("2147483646", 2_147_483_646, true),
        ("-1", 1, false),
        ("-7", 1, false),
        ("2147483648", 1, false),
        ("3000000000", 1, false),
        ("4294967295", 1, false),
        ("4294967296", 0, false),
        ("99999999999999999999", 1, false),
        ("1.5", 1, false),
        ("+5", 5, true),
        ("12abc", 12, false),
    ] {
        assert_eq!(
            parse_shares(text),
            Some((Shares::Count(count), is_exact)),
            "{text}"
        );
    }
    for text in ["parent", "PARENT", "2147483647"] {
        assert_eq!(parse_shares(text), Some((Shares::Parent, true)), "{text}");
    }
    for text in ["0x10", "0.5", "nan", "-", ""] {
        assert_eq!(parse_shares(text), None, "{text}");
    }
}

/// An account and a user in it, as `sshare --json` has them.
fn json_of_two(account: &str, user: &str, usage: &str) -> String {
    let entry = |name: &str, parent: &str, kind: &str, usage: &str| {
        format!(
            r#"{{"name":"{name}","parent":"{parent}","partition":"","shares":1,"usage":{usage},"type":["{kind}"]}}"#
        )
    };
    let entries = [
        entry("root", "", "ASSOCIATION", "7"),
        entry(account, "root", "ASSOCIATION", "7"),
        entry(user, account, "USER", usage),
    ];
    format!(r#"{{"shares":{{"shares":[{}]}}}}"#, entries.join(","))
}

#[test]
fn a_name_may_be_a_word_that_means_no_value_elsewhere() {
    for name in ["NONE", "N/A", "(null)"] {
        let tree = tree(&json_of_two(name, name, "7"));
        assert_eq!(
            names(&tree),
            [format!("root/{name}"), format!("{name}/{name}")]
        );
    }
    let told = refused(&json_of_two("a", "", "7"));
    assert_eq!(told, "`t`, entry 3: the account has no name");
}

#[test]
fn a_usage_that_is_not_set_is_no_number() {
    let set = r#"{"set":true,"infinite":false,"number":7}"#;
    let nodes = tree(&json_of_two("a", "ann", set)).document.nodes;
    assert_eq!(nodes[1].usage, Some(7.0));
    let told = refused(&json_of_two("a", "ann", &set.replace("true", "false")));
    assert_eq!(
        told,
        "`t`, entry 3: the usage of `ann` is ``, expected a number of at least 0"
    );
}
