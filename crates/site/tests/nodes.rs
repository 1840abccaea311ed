//! The nodes of a site, which are read when they are needed.

use jsf_site::{FileSource, Role, Site, SiteFiles, SiteOptions};
use jsf_testing::golden;

const TEXT: &str =
    "vn1\n     Mom = secret.example\n     state = free\n     resources_available.ncpus = 4\n";

fn open(files: SiteFiles) -> Site {
    Site::from_files(files, SiteOptions::default()).unwrap()
}

fn file(name: &str, content: &[u8]) -> FileSource {
    FileSource::Bytes {
        name: name.to_owned(),
        bytes: content.into(),
    }
}

#[test]
fn the_nodes_of_a_snapshot_are_found() {
    let temporary = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(temporary.path().join("node")).unwrap();
    std::fs::create_dir_all(temporary.path().join("job")).unwrap();
    std::fs::copy(
        golden::path("openpbs/qstat/qstat_f.txt"),
        temporary.path().join("job/qstat_f.out"),
    )
    .unwrap();
    for (name, content, expected) in [
        (
            "node/pbsnodes_avFjson.out",
            golden::text("openpbs/qstat/pbsnodes_a.json"),
            0,
        ),
        ("node/pbsnodes_va.out", TEXT.to_owned(), 4),
        ("pbsnodes.json", TEXT.replace("= 4", "= 8"), 8),
    ] {
        std::fs::write(temporary.path().join(name), content).unwrap();
        let site = Site::open(temporary.path()).unwrap();
        let nodes = site.nodes().unwrap().unwrap();
        assert_eq!(
            (nodes.nodes.len(), nodes.total("ncpus")),
            (1, expected),
            "{name}"
        );
    }
    assert!(open(SiteFiles::default()).nodes().unwrap().is_none());
}

#[test]
fn a_page_does_not_have_the_nodes() {
    let queue = file("jobs.ndjson", br#"{"id":"1","entity":"ada","ncpus":2}"#);
    let site = open(
        SiteFiles::default()
            .with(Role::Queue, queue)
            .with(Role::Nodes, file("nodes", TEXT.as_bytes())),
    );
    let bundle = site.to_bundle().unwrap().bytes;
    assert!(
        !String::from_utf8(bundle.clone())
            .unwrap()
            .contains("secret")
    );
    assert!(
        Site::from_bundle(&bundle)
            .unwrap()
            .nodes()
            .unwrap()
            .is_none()
    );
}

#[test]
fn what_is_not_a_document_of_nodes_is_said_and_refused() {
    let jobs = file(
        "jobs.txt",
        golden::text("openpbs/qstat/qstat_f.txt").as_bytes(),
    );
    let site = open(SiteFiles::default().with(Role::Nodes, jobs));
    let warnings: Vec<String> = site.warnings().iter().map(ToString::to_string).collect();
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(
        warning.starts_with("the nodes are not used: `jobs.txt` is a document of jobs"),
        "{warning}"
    );
    assert!(
        site.nodes()
            .unwrap_err()
            .to_string()
            .contains("expected nodes: `pbsnodes -av`")
    );
    let site = open(SiteFiles::default().with(
        Role::Nodes,
        file("n.json", br#"{"nodes":{"a":{"state":"fr"#),
    ));
    assert!(
        site.nodes()
            .unwrap_err()
            .to_string()
            .contains("`n.json` is not valid JSON")
    );
}

#[test]
fn the_attribute_of_the_scheduler_decides_which_queues_are_express_queues() {
    let queues = "Queue: a\n    Priority = 10\nQueue: b\n    Priority = 200\n";
    let jobs =
        b"{\"id\":\"1\",\"queue\":\"a\",\"ncpus\":2}\n{\"id\":\"2\",\"queue\":\"b\",\"ncpus\":1}\n";
    let files = SiteFiles::default()
        .with(Role::Queue, file("jobs.ndjson", jobs))
        .with(Role::Queues, file("queues.txt", queues.as_bytes()))
        .with(
            Role::SchedConfig,
            file(
                "sched_config",
                b"by_queue: false ALL\npreemptive_sched: true ALL\n",
            ),
        );
    for (attribute, first) in [
        ("", "2"),
        ("    preempt_queue_prio = 150\n", "2"),
        ("    preempt_queue_prio = 500\n", "1"),
    ] {
        let listing = format!("Sched default\n    scheduling = True\n{attribute}");
        let site = open(
            files
                .clone()
                .with(Role::Server, file("sched.txt", listing.as_bytes())),
        );
        let ranked = site.rank(&"ncpus".parse().unwrap()).unwrap();
        assert_eq!(
            ranked.table.id(ranked.ranking.order()[0]),
            first,
            "{attribute}"
        );
    }
}
