//! The example site with the example formulas, from its files to the order of its jobs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use job_sort_formula::fairshare::{FairShare, PolicyRules};
use job_sort_formula::rank::{OnError, ScorePrecision, fill_fairshare, missing_fairshare_input};
use job_sort_formula::{Formula, JobTable, Program, Ranking, Schema};
use jsf_ingest::native_tree::read_tree;
use jsf_ingest::{ReadOptions, read_jobs};
use jsf_openpbs::amounts::logged;
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::{NumberMode, Objects, PbsTree, Queues, ResourceGroup, SchedConfig, UsageFile};

const FORMULAS: [&str; 7] = [
    "alcf",
    "fairshare_factor",
    "nas",
    "paws_bias",
    "pp718",
    "qut",
    "smoketest",
];
/// A job whose user has no shares.
const WITHOUT_SHARES: &str = "184127.kestrel";

fn example(path: &str) -> PathBuf {
    Path::new(jsf_testing::ROOT).join("examples").join(path)
}

fn bytes(path: &str) -> Vec<u8> {
    fs::read(example(path)).unwrap_or_else(|error| panic!("examples/{path}: {error}"))
}

fn text(path: &str) -> String {
    String::from_utf8(bytes(path)).expect("UTF-8")
}

fn formula(name: &str) -> Formula {
    text(&format!("formulas/{name}.txt"))
        .trim_end()
        .parse()
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All files of the site except the jobs.
struct Site {
    schema: Schema,
    queues: Queues,
    config: SchedConfig,
    lines: ResourceGroup,
    usage: UsageFile,
}

impl Site {
    /// Reads the files without a warning.
    fn read() -> Self {
        let mut schema = Schema::openpbs();
        assert_eq!(
            add_resources(
                "resourcedef",
                &Objects::read_resourcedef(&text("site/resourcedef")),
                &mut schema
            ),
            [""; 0]
        );
        let site = Self {
            schema,
            queues: Queues::read("queues.json", &Objects::read(&text("site/queues.json")))
                .expect("queues"),
            config: SchedConfig::parse(&bytes("site/sched_priv/sched_config")),
            lines: ResourceGroup::parse(&bytes("site/sched_priv/resource_group")),
            usage: UsageFile::parse(&bytes("site/sched_priv/usage")),
        };
        assert_eq!(site.config.warnings, []);
        assert_eq!(site.lines.rejected, []);
        assert_eq!(site.usage.faults, []);
        site
    }

    fn program(&self, formula: &Formula) -> Program {
        let program = formula.compile(&self.schema).expect("arithmetic");
        assert_eq!(program.undefined(), [], "{formula}");
        program
    }

    /// Reads the jobs of a document without a problem.
    fn jobs(&self, path: &str, program: &Program) -> JobTable {
        let needed: Vec<&str> = program.inputs().iter().map(|name| &**name).collect();
        let options = ReadOptions {
            source_name: path,
            entity: self.config.fairshare_entity,
            queue_priorities: &self.queues.priorities(),
            ..ReadOptions::new(&self.schema, &needed)
        };
        let read = read_jobs(&*bytes(path), &options).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            read.problems.is_empty(),
            "{path}: {:?}",
            read.problems.listed()
        );
        assert_eq!(read.table.undeclared().collect::<Vec<_>>(), []);
        read.table
    }

    fn tree(&self, jobs: &JobTable) -> PbsTree {
        let unknown_shares = self.config.unknown_shares;
        let document = self.lines.document(Some(&self.usage), unknown_shares);
        PbsTree::build(&document, PolicyRules::Scheduler, jobs.entities()).expect("small enough")
    }

    fn rank(&self, path: &str, formula: &Formula) -> (JobTable, Ranking) {
        let program = self.program(formula);
        let mut jobs = self.jobs(path, &program);
        let tree = self.tree(&jobs);
        assert_eq!(
            fill_fairshare(&mut jobs, &tree, |number| NumberMode::OpenPbs
                .fairshare(number)),
            [""; 0]
        );
        assert_eq!(missing_fairshare_input(&jobs, program.inputs()), None);
        let ranking = Ranking::new(
            &program,
            &jobs,
            ScorePrecision::Float32,
            OnError::ZeroLikePbs,
        );
        (jobs, ranking)
    }
}

#[test]
fn every_example_formula_is_tested() {
    let names = fs::read_dir(example("formulas"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let names: BTreeSet<String> = names
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        FORMULAS
    );
}

#[test]
fn every_considered_job_has_a_score_and_a_rank() {
    let site = Site::read();
    for name in FORMULAS {
        let (jobs, ranking) = site.rank("site/qstat.json", &formula(name));
        assert_eq!((jobs.len(), ranking.order().len()), (44, 33), "{name}");
        let placed: BTreeSet<usize> = ranking.order().iter().copied().collect();
        let waiting = (0..jobs.len()).filter(|&row| matches!(jobs.state(row).letter(), "Q" | "B"));
        assert_eq!(placed, waiting.collect::<BTreeSet<_>>(), "{name}");
        let kept = |row: usize| {
            ranking
                .score(row)
                .unwrap_or_else(|| panic!("{name}: {}", jobs.id(row)))
                .value
        };
        assert!((0..jobs.len()).all(|row| kept(row).is_finite()), "{name}");
        for pair in ranking.order().windows(2) {
            let (above, below) = (kept(pair[0]), kept(pair[1]));
            let earlier = jobs.submit_order(pair[0]) < jobs.submit_order(pair[1]);
            assert!(
                above > below || (above == below && earlier),
                "{name}: {}, {}",
                jobs.id(pair[0]),
                jobs.id(pair[1])
            );
        }
    }
}

#[test]
fn only_the_job_without_shares_fails_and_only_with_pp718() {
    let site = Site::read();
    for name in FORMULAS {
        let formula = formula(name);
        let (jobs, ranking) = site.rank("site/qstat.json", &formula);
        let errors: Vec<_> = (0..jobs.len())
            .filter_map(|row| {
                let score = ranking.score(row)?;
                let error = score.unrounded.as_ref().err()?;
                assert!(!error.crashes_the_scheduler() && score.value == 0.0);
                Some((
                    jobs.id(row),
                    jobs.entity(row),
                    error.to_string(),
                    error.span().slice(formula.text()),
                ))
            })
            .collect();
        let division = "float division by zero".to_owned();
        let expected = (
            WITHOUT_SHARES,
            "bwallace",
            division,
            "fairshare_tree_usage/fairshare_perc",
        );
        assert_eq!(
            errors,
            if name == "pp718" {
                vec![expected]
            } else {
                vec![]
            },
            "{name}"
        );
        assert_eq!(ranking.error_count(), errors.len());
    }
}

/// The values of `FORMULAS`, computed by Python 3.11 with `eval(text, vars(math), inputs)`, with
/// the inputs in the comment above each job and 0 for the others. The inputs were taken from the
/// files by hand. Fair share: the percentage of a node is its part of the siblings' shares times
/// the percentage of its parent (110 shares at the top, 10 of them for `unknown`), the total usage
/// is 2,036,080,613, every step is rounded to float32 (`struct.pack("f", …)`), and inputs are
/// printed with `%f`.
const BY_PYTHON: [(&str, [&str; 7]); 5] = [
    // walltime=172800, eligible_time=1484275, ncpus=3072, nodect=48, mem=12079595520,
    // project_priority=25, base_score=51, enable_wfp=1, wfp_factor=100000, total_cpus=64,
    // queue_priority=10, sbu_rate=1 jsolberg: 40 of 100 in ida, 30 of 110: 0.109091; tree usage
    // 0.384862; factor 0.086695
    (
        "184103.kestrel",
        [
            "51287.41997135152",
            "0.086695",
            "116705001.0",
            "437.65894095000004",
            "0.08669552114575652",
            "2754.0154137320583",
            "154257210228485",
        ],
    ),
    // walltime=36000, eligible_time=54849, ncpus=12, mem=50331648, bias=-0.25, enable_backfill=1,
    // backfill_max=50, backfill_factor=84600, fifo_factor=1800, total_cpus=64, sbu_rate=1 kpetrova:
    // 60 of 100 in guests, 10 of 110: 0.054545; tree usage 0.00943; factor 0.887071
    (
        "184730.kestrel",
        [
            "0.6483333333333333",
            "0.887071",
            "890879959.3333334",
            "15.045845522",
            "0.8870671510895546",
            "153.15177698087933",
            "1145971052",
        ],
    ),
    // walltime=259200, eligible_time=229751, ncpus=64, ngpus=16, mem=268435456, base_score=51,
    // enable_fifo=1, fifo_factor=1800, backfill_factor=84600, total_cpus=64, job_priority=-50,
    // queue_priority=20, sbu_rate=9.82 yarslan: 50 of 100 in ims, 20 of 110: 0.090909; tree usage
    // 0.169585; factor 0.274441
    (
        "184401.kestrel",
        [
            "178.63944444444445",
            "0.274441",
            "224461003.4356286",
            "84.139773278",
            "0.27444008709884493",
            "1073.0326380904708",
            "87465614400",
        ],
    ),
    // walltime=28800, eligible_time=24083, ncpus=8, mem=16777216, enable_backfill=1,
    // backfill_max=50, backfill_factor=84600, fifo_factor=1800, total_cpus=64, sbu_rate=1 trial07
    // has no line and gets all shares of `unknown`, 10 of 110: 0.090909; tree usage 0.000566;
    // factor 0.995695
    (
        "184794.kestrel",
        [
            "0.28466903073286054",
            "0.995695",
            "997367431.5555556",
            "6.729727574",
            "0.9956937598943637",
            "114.21287682722578",
            "227775038",
        ],
    ),
    // walltime=43200, eligible_time=93002, ncpus=512, nodect=8, mem=2013265920,
    // project_priority=1.5, base_score=51, enable_wfp=1, wfp_factor=100000, total_cpus=64,
    // queue_priority=10, sbu_rate=1 nkapoor has no usage, which counts as 1: 20 of 100 in ida:
    // 0.054545; tree usage 0.084265; factor 0.34273
    (
        "184622.kestrel",
        [
            "53.01156748867747",
            "0.34273",
            "359198473.2222222",
            "38.393909556000004",
            "0.34272629585240016",
            "1584.420106744758",
            "2142461253174",
        ],
    ),
];

#[test]
fn values_are_those_of_python() {
    let site = Site::read();
    for (at, name) in FORMULAS.into_iter().enumerate() {
        let (jobs, ranking) = site.rank("site/qstat.json", &formula(name));
        for (id, values) in BY_PYTHON {
            let score = jobs
                .row(id)
                .and_then(|row| ranking.score(row))
                .expect("a score");
            let exact = score
                .unrounded
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_else(ToString::to_string);
            assert_eq!(exact, values[at], "{name}, {id}");
            assert_eq!(
                score.value,
                f64::from(values[at].parse::<f64>().expect("a number") as f32),
                "{name}, {id}"
            );
        }
    }
}

#[test]
fn the_first_jobs_are_those_by_python() {
    // the values of Python again, rounded to float32 and printed as in the log of the scheduler
    let site = Site::read();
    let first = |name: &str| {
        let (jobs, ranking) = site.rank("site/qstat.json", &formula(name));
        let value = |row| logged(ranking.score(row).expect("a score").value);
        ranking.order()[..3]
            .iter()
            .map(|&row| format!("{} {}", jobs.entity(row), value(row)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        first("pp718"),
        ["trial07 0.9957", "course 0.9037", "kpetrova 0.8871"]
    );
    assert_eq!(
        first("alcf"),
        [
            "jsolberg 51287.4219",
            "jsolberg 1507.7672",
            "mquispe 238.8889"
        ]
    );
    assert_eq!(
        first("nas"),
        [
            "trial07 997367424",
            "course 903929088",
            "kpetrova 890879936"
        ]
    );
}

#[test]
fn the_formula_of_the_server_is_that_of_pp718() {
    let stored = text("site/sched_priv/sched_formula");
    let server: serde_json::Value = serde_json::from_str(&text("site/server.json")).expect("JSON");
    let expected = formula("pp718");
    assert_eq!(
        stored,
        format!(
            "### PBS INTERNAL FILE DO NOT MODIFY ###\n{}\n",
            expected.text()
        )
    );
    assert_eq!(
        server["Server"]["kestrel"]["job_sort_formula"],
        expected.text()
    );
}

/// The documents of jobs, queues and server are of the same moment.
#[test]
fn the_documents_agree() {
    let document =
        |path: &str| serde_json::from_str::<serde_json::Value>(&text(path)).expect("JSON");
    let (jobs, queues, server) = (
        document("site/qstat.json"),
        document("site/queues.json"),
        document("site/server.json"),
    );
    let server = &server["Server"]["kestrel"];
    let jobs = jobs["Jobs"].as_object().expect("jobs");
    assert_eq!(server["total_jobs"], jobs.len());
    for (name, queue) in queues["Queue"].as_object().expect("queues") {
        let here: Vec<_> = jobs.values().filter(|job| job["queue"] == **name).collect();
        assert_eq!(queue["total_jobs"], here.len(), "{name}");
        let defaults = [queue, server]
            .map(|object| object["resources_default"].as_object().expect("defaults"));
        let names = defaults.iter().flat_map(|defaults| defaults.keys());
        let lacks =
            |job: &&&serde_json::Value, name: &str| job["Resource_List"].get(name).is_none();
        assert_eq!(
            names
                .filter(|name| here.iter().any(|job| lacks(&job, name)))
                .count(),
            0,
            "{name}"
        );
    }
    let users: BTreeSet<_> = jobs
        .values()
        .filter_map(|job| job["euser"].as_str())
        .collect();
    let site = Site::read();
    let known = |user: &&str| site.lines.nodes.iter().any(|node| node.name == **user);
    assert_eq!(
        users
            .into_iter()
            .filter(|user| !known(user))
            .collect::<Vec<_>>(),
        ["trial07"]
    );
    for record in site
        .usage
        .records
        .iter()
        .filter(|record| record.entity != "trial07")
    {
        assert!(known(&record.entity.as_str()), "{}", record.entity);
    }
}

#[test]
fn native_jobs_are_ranked() {
    let site = Site::read();
    let (jobs, ranking) = site.rank("site/jobs.json", &formula("alcf"));
    let value = |id: &str| {
        let score = jobs
            .row(id)
            .and_then(|row| ranking.score(row))
            .expect("a score");
        score
            .unrounded
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_else(ToString::to_string)
    };
    // By Python: 51 + 1 * 100000 * (604800 ** 2 / min(max(172800, 21600.0), 43200.0) ** 3 * 2 * 16
    // / 64)
    assert_eq!(
        (value("today"), value("in-a-week")),
        ("51.0".to_owned(), "277.85185185185185".to_owned())
    );
    let (jobs, ranking) = site.rank("site/jobs.json", &formula("qut"));
    let in_front = ranking
        .order()
        .iter()
        .map(|&row| jobs.id(row))
        .collect::<Vec<_>>();
    assert_eq!(
        in_front,
        [
            "ready-made",
            "as-if-unused",
            "in-a-week",
            "today",
            "newcomer"
        ]
    );
}

/// The tree of PP-718's example, and jobs of its users.
#[test]
fn native_jobs_are_ranked_with_a_native_tree() {
    let document = read_tree("tree.json", &bytes("site/tree.json")).expect("a tree");
    assert!(
        document.unknown_keys.is_empty(),
        "{:?}",
        document.unknown_keys
    );
    let site = Site::read();
    let program = site.program(&formula("pp718"));
    let mut jobs = site.jobs("site/jobs.ndjson", &program);
    let tree = PbsTree::build(&document, PolicyRules::Documented, [""; 0]).expect("a sound tree");
    let factor = |name| tree.shares_of(name).expect("in the tree").fairshare_factor;
    assert_eq!(
        ["Bob", "Suzy"].map(|name| format!("{:.3}", factor(name))),
        ["0.648", "0.382"]
    );
    assert_eq!(
        fill_fairshare(&mut jobs, &tree, |number| NumberMode::OpenPbs
            .fairshare(number)),
        ["visitor"]
    );
    let ranking = Ranking::new(&program, &jobs, ScorePrecision::Float32, OnError::Fail);
    let order: Vec<_> = ranking.order().iter().map(|&row| jobs.id(row)).collect();
    assert_eq!(
        order,
        [
            "107.demo",
            "101.demo",
            "102.demo",
            "103.demo",
            "106[].demo",
            "105.demo"
        ]
    );
    assert_eq!(ranking.error_count(), 0);
}
