use super::*;

/// Each object with its attributes, as directives would set them.
fn shown(objects: &Objects<'_>) -> Vec<String> {
    let mut shown = Vec::new();
    for object in &objects.objects {
        let attributes = object.attributes.iter();
        let attributes = attributes
            .filter(|attribute| !matches!(attribute.value, JsonScalar::Other("an object")));
        let values = attributes.map(|attribute| match &attribute.value {
            JsonScalar::Number(number) => format!("{}={number}", attribute.full_name()),
            value => format!("{}={:?}", attribute.full_name(), value.text()),
        });
        shown.push(format!(
            "{:?} {}: {}",
            object.kind,
            object.name,
            values.collect::<Vec<_>>().join(" ")
        ));
    }
    shown
}

fn values(text: &str, name: &str) -> Vec<Option<String>> {
    let objects = Objects::read(text);
    let attributes = objects
        .objects
        .iter()
        .flat_map(|object| &object.attributes)
        .filter(|attribute| attribute.name == name);
    attributes
        .map(|attribute| attribute.value.text().map(str::to_owned))
        .collect()
}

#[test]
fn every_notation_has_the_same_objects() {
    let expected = [
        r#"Server vm: comment=Some("a | b") default_chunk.ncpus=1"#,
        r#"Queue q: Priority=-5 max_run_res.mem=Some("[u:a b=1gb]")"#,
    ];
    for document in [
        "{\"timestamp\":1,\"Server\":{\"vm\":{\"comment\":\"a | b\",\"default_chunk\":{\"ncpus\":1}}},\
          \"Queue\":{\"q\":{\"Priority\":-5,\"max_run_res\":{\"mem\":\"[u:a b=1gb]\"}}}}",
        "Server: vm\n    comment = a | b\n    default_chunk.ncpus = 1\n\nQueue: q\n    Priority = -5\n    max_run_res.mem = [u:a b=1gb]\n",
        "Server vm\n    comment = a | b\n    default_chunk.ncpus = 1\nQueue q\n    Priority = -5\n    max_run_res.mem = [u:a b=1gb]\n",
        "Server: vm|comment=a \\| b|default_chunk.ncpus=1\nQueue: q|Priority=-5|max_run_res.mem=[u:a b=1gb]\n",
        "set server vm comment = \"a | b\"\nset server default_chunk.ncpus=1\n#\ncreate queue q\nset queue q Priority = -5\n\
         s q q max_run_res.mem += '[u:a b=1gb]'\n",
    ] {
        for text in [
            document.to_owned(),
            format!("\u{feff}{}", document.replace('\n', "\r\n")),
        ] {
            assert_eq!(shown(&Objects::read(&text)), expected, "{text}");
        }
    }
}

#[test]
fn a_line_that_begins_with_a_tab_continues_the_value_above() {
    for (text, expected) in [
        // one tab is removed, and nothing else
        ("Server: vm\n    a = x +\n\t y\n\tz\n    b = 1\n", "x + yz"),
        // whatever it looks like
        ("Server: vm\n    a = x\n\tb = y\n\t# z\n", "xb = y# z"),
        ("Resv ID: R1.vm\na = x\n\ty\n", "xy"),
        ("set server a = \"x\n\ty\"\n", "xy"),
        // attributes may be indented by tabs
        ("Server: vm\n\ta = x\n\ty\n\tb = 1\n", "xy"),
        // a terminal prints the tab as blanks
        ("Server: vm\n    a = x\n         y\n    b = 1\n", "x y"),
        ("Server: vm\n    a = x\n        y=z\n    b = 1\n", "xy=z"),
        (
            "Server: vm\n    a = x\n   \u{a0}\u{a0}\u{a0}\u{a0}y\n",
            "xy",
        ),
        ("  Server: vm\n", ""),
    ] {
        let expected: Vec<Option<String>> = Some(expected.to_owned())
            .filter(|text| !text.is_empty())
            .map(Some)
            .into_iter()
            .collect();
        assert_eq!(values(text, "a"), expected, "{text}");
    }
    // a line that another one separates from the value does not continue it
    assert_eq!(
        values("Server: vm\n    a = x\n\n\ty\n", "a"),
        [Some("x".to_owned())]
    );
}

#[test]
fn quotes_belong_to_a_value_that_has_the_same_ones_inside() {
    for (value, expected) in [
        ("\"a b\"", "a b"),
        ("'a \"b\"'", "a \"b\""),
        ("\"a\" if x else \"b\"", "\"a\" if x else \"b\""),
        ("\"a", "\"a"),
    ] {
        assert_eq!(
            values(&format!("set server x = {value}\n"), "x"),
            [Some(expected.to_owned())]
        );
    }
}

#[test]
fn directives_are_about_the_object_that_they_name() {
    let text = "create resource a,b type = long, flag=hn\nset resource c type = size\ncreate node n Mom=h\n\
        set sched x = 1\nset sched gpu x = 2\nset queue x = 3\nset server y -= 1\nset server y\n\
        create queue q queue_type=e,enabled = t\nunset queue q enabled, started\nunset sched x\n# set server z = 1\n";
    let expected = [
        r#"Resource a,b: type=Some("long") flag=Some("hn")"#,
        r#"Resource c: type=Some("size")"#,
        r#"Node n: Mom=Some("h")"#,
        "Scheduler default: x=1 x=None",
        "Scheduler gpu: x=2",
        r#"Queue q: queue_type=Some("e") enabled=Some("t") enabled=None started=None"#,
    ];
    let objects = Objects::read(text);
    assert_eq!(shown(&objects), expected);
    let declared: Vec<bool> = objects
        .objects
        .iter()
        .map(|object| object.is_declared)
        .collect();
    assert_eq!(declared, [true, false, true, false, false, true]);
}

#[test]
fn what_is_no_object_begins_none() {
    let text = "$ qstat -Q\nQueue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n\
        Queue: q\n    a = 1\n    b=2\nword\n    c = 3\nJob Id: 1.vm\n    d = 4\n";
    assert_eq!(
        shown(&Objects::read(text)),
        ["Queue q: a=1 b=2 c=3", "Other 1.vm: d=4"]
    );
    let nodes = "$ pbsnodes -a\nvn1\n     state = free\n\nvn2\n     state = down\n";
    assert_eq!(
        shown(&Objects::read(nodes)),
        [
            r#"Node vn1: state=Some("free")"#,
            r#"Node vn2: state=Some("down")"#
        ]
    );
}

#[test]
fn json_has_values_of_every_type() {
    let text = "{\"timestamp\":5,\"Server\":{\"vm\":{\"a\":null,\"b\":true,\"c\":[\"1.vm/0\",2],\"d\":{\"e\":{\"f\":1}}},\"vm\":{}}}";
    let objects = Objects::read(text);
    let expected = [
        r#"Server vm: a=None b=Some("true") c=Some("1.vm/0, 2")"#,
        "Server vm: ",
    ];
    assert_eq!(shown(&objects), expected);
    assert_eq!(
        last(&objects.attributes, "timestamp").and_then(|attribute| attribute.value.text()),
        Some("5")
    );
    let cut = Objects::read(&text[..text.len() - 12]);
    assert!(
        cut.json_error
            .as_ref()
            .is_some_and(|error| error.contains("line 1"))
            && cut.objects.is_empty()
    );
}

#[test]
fn places_are_those_of_the_values() {
    for text in [
        "\u{feff}Server: vm\r\n    x = 1\r\n    a = value\r\n",
        "set server a = value\n",
        "Server: vm|x=1|a=value\n",
        "{\"Server\":{\"vm\":{\"a\":\"value\"}}}",
    ] {
        let objects = Objects::read(text);
        let place = last(objects.attributes_of(ObjectKind::Server), "a")
            .map(|attribute| attribute.place)
            .expect("a place");
        assert!(
            text[place.at..]
                .trim_start_matches('"')
                .starts_with("value"),
            "{text}"
        );
        let line = text[..place.at].matches('\n').count() + 1;
        assert_eq!(place.line, if text.starts_with('{') { 0 } else { line });
    }
}

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
