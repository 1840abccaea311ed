//! What each fuzz target does with a byte string, shared with `fuzz/`: no input panics, and where
//! two readers exist they agree.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use job_sort_formula::fairshare::tree_document::TreeDocument;
use job_sort_formula::fairshare::{AssessedTree, FairTree, PolicyRules};
use job_sort_formula::formula::Template;
use job_sort_formula::rank::{ColumnScratch, OnError, ScorePrecision, score};
use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Job, JobTable, Program, Schema, Value};
use jsf::commands::page::{WhatIfPage, check_json, ranking_json};
use jsf_ingest::native_tree::{read_flux_tree, read_tree};
use jsf_ingest::{ParsedJobs, ReadError, ReadOptions, read_jobs};
use jsf_lint::{Ranges, lint_values};
use jsf_openpbs::check::{Checked, SiteFacts};
use jsf_openpbs::files::formula_text::{formula_in, pasted};
use jsf_openpbs::files::objects::repeated;
use jsf_openpbs::files::pbs_rstat::read_reservations;
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::files::server::ServerSettings;
use jsf_openpbs::pbsfs::{Request, SchedPriv, answer};
use jsf_openpbs::qmgr_command::set_command_for;
use jsf_openpbs::server_validation::validate;
use jsf_openpbs::{
    FairshareEntity, FormulaSubmission, Nodes, NumberMode, Objects, Queues, ResourceGroup,
    SchedConfig, UsageFile,
};
use jsf_simulate::{Goals, JudgedRun, Workload, WorkloadBuilder, read_workload};
use jsf_site::{
    FileSource, PolicyName, Role, SharesRequest, SimulatedQueue, SimulationOptions, Site,
    SiteFiles, SiteOptions, WhatIf,
};
use jsf_slurm::SlurmConf;

/// A target by the name of its folder of crashers.
pub type Target = (&'static str, fn(&[u8]));

/// All targets but that of the C interface, which `bindings/c` replays.
pub const TARGETS: [Target; 13] = [
    ("formula", formula),
    ("verdict", verdict),
    ("jobs", jobs),
    ("qstat", qstat),
    ("pbs_files", pbs_files),
    ("slurm_files", slurm_files),
    ("tree_json", tree_json),
    ("slurm_conf", slurm_conf),
    ("snapshots", snapshots),
    ("replay", replay),
    ("logs", logs),
    ("goals", goals),
    ("page", page),
];

/// Inputs of a formula that reach many of its paths: zeros, signs, integers beyond 2^53, fractions
/// and extremes.
const NUMBERS: [f64; 8] = [0.0, 1.0, -1.0, 4.0, 0.5, 1e300, -3.25, 86_400.0];
const INTEGERS: [i64; 8] = [0, 1, -1, 7, 64, 9_007_199_254_740_993, 2, 3600];

/// A formula is parsed, printed, linted and evaluated; its printed text is the same formula. A
/// template whose numbers are filled in is a formula.
pub fn formula(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    fill_template(&text);
    let Ok(formula) = Formula::parse(&text) else {
        return;
    };
    let printed = formula.to_string();
    for text in [&printed, &formula.with_comments()] {
        let again =
            Formula::parse(text).unwrap_or_else(|error| panic!("{text:?} does not parse: {error}"));
        assert_eq!(again.to_string(), printed, "printed once more");
    }
    let schema = Schema::openpbs();
    lint_values(formula.expr(), &schema, &Ranges::default());
    if let (Ok(program), Ok(again)) = (formula.compile(&schema), parsed(&printed).compile(&schema))
    {
        compare_executors(&program, &again);
    }
}

fn fill_template(text: &str) {
    let Ok(template) = Template::parse(text) else {
        return;
    };
    let mut numbers = [Vec::new(), Vec::new(), Vec::new()];
    for constant in template.constants() {
        numbers[0].push(constant.start);
        numbers[1].push(constant.low);
        numbers[2].push(constant.high);
    }
    for numbers in numbers {
        let filled = template.fill(&numbers);
        assert!(
            Formula::parse(&filled).is_ok(),
            "{text:?} filled: {filled:?}"
        );
    }
}

/// The interpreter, the columnar executor, and the interpreter on the printed formula give the same
/// bits.
fn compare_executors(program: &Program, again: &Program) {
    let names: Vec<String> = program.inputs().iter().map(ToString::to_string).collect();
    assert_eq!(program.inputs(), again.inputs());
    let mut table = JobTable::new(names.iter().map(String::as_str));
    let mut rows = Vec::new();
    for number in 0..8 {
        let mut row = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let index = (number + 3 * place) % 8;
            row.push(if name.starts_with("fair") || number == 5 {
                Value::Float(NUMBERS[index])
            } else {
                Value::Int(INTEGERS[index])
            });
        }
        let id = number.to_string();
        let job = Job {
            id: &id,
            entity: "Bob",
            queue: "workq",
            ..Job::default()
        };
        let inputs: Vec<_> = row.iter().cloned().map(Ok).collect();
        table.push(&job, &inputs).expect("a job");
        rows.push(row);
    }
    let scores = score(program, &table, ScorePrecision::Double, OnError::Null);
    for (number, row) in rows.iter().enumerate() {
        let by_column = scores.get(number).expect("a score").unrounded;
        match (program.evaluate(row), again.evaluate(row), by_column) {
            // the work for all rows is limited besides that for each
            (_, _, Err(column))
                if column
                    .to_string()
                    .contains("too many steps, after those of the jobs before") => {}
            (Ok(one), Ok(other), Ok(column)) => {
                assert!(
                    one.is_identical(&other),
                    "{one:?} and, printed, {other:?} for {row:?}"
                );
                assert!(
                    one.is_identical(&column),
                    "{one:?} and, by columns, {column:?} for {row:?}"
                );
            }
            (Err(one), Err(other), Err(column)) => {
                assert_eq!(one.to_string(), other.to_string(), "{row:?}");
                // what the scheduler makes of a complex number is found out for a score only
                let by_row = program
                    .score_row(row, &mut ColumnScratch::new())
                    .expect_err("an error, as before");
                assert_eq!(by_row.to_string(), column.to_string(), "{row:?}");
            }
            // the scheduler takes neither `None` nor an integer that is too large for a double
            (Ok(one), Ok(other), Err(_)) if one.to_f64().is_none() => {
                assert!(one.is_identical(&other), "{one:?}")
            }
            (one, other, column) => {
                panic!("{one:?}, printed {other:?}, by columns {column:?} for {row:?}")
            }
        }
    }
}

/// What the server answers, what is found, and the command that sets the formula.
pub fn verdict(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let schema = Schema::openpbs();
    let validation = validate(&text, &schema);
    for submission in [
        FormulaSubmission::to_openpbs(&text),
        FormulaSubmission::as_expression(&text),
    ] {
        let checked = Checked::new(&submission, &schema, &SiteFacts::default());
        assert_eq!(checked.validation.accepted, validation.accepted);
        for finding in &checked.findings {
            assert!(finding.span.end as usize <= text.len(), "{finding:?}");
        }
        serde_json::to_string(&checked).expect("JSON");
    }
    let _ = set_command_for("server", &text);
}

const NEEDED: [&str; 4] = [
    "ncpus mem walltime eligible_time queue_priority score fair_share_perc",
    "job_priority fairshare_perc boost size accrue_type share mem",
    "",
    "ncpus fair_share_perc fairshare_perc fairshare_factor fairshare_tree_usage eligible_time",
];

/// The fast reader gives the table of the reference reader, in chunks and options that the input
/// chooses.
pub fn jobs(data: &[u8]) {
    let mut schema = Schema::openpbs();
    for (name, kind) in [
        ("boost", InputType::Float),
        ("size", InputType::Size),
        ("wall", InputType::Duration),
    ] {
        schema.add(name, kind).expect("a name");
    }
    // by the input itself, so that a crasher fails again with the same options
    let choice = data.len() + usize::from(data.last().copied().unwrap_or_default());
    let queues = Queues::read(
        "queues",
        &Objects::read(r#"{"Queue":{"workq":{"Priority":5},"express":{"Priority":200}}}"#),
    );
    let needed: Vec<&str> = NEEDED[choice % 4].split_whitespace().collect();
    let options = ReadOptions {
        numbers: [NumberMode::OpenPbs, NumberMode::Exact, NumberMode::Decimal][choice % 3],
        entity: [
            FairshareEntity::User,
            FairshareEntity::GroupUser,
            FairshareEntity::Account,
            FairshareEntity::Queue,
        ][choice / 4 % 4],
        queue_priorities: &queues.expect("queues").priorities(),
        strict: choice.is_multiple_of(11),
        record_origins: true,
        chunk_size: 1 << 22,
        ..ReadOptions::new(&schema, &needed)
    };
    let whole = outcome(read_jobs(data, &options));
    let chunk = [1, 64, 500, 1 << 20][choice / 16 % 4];
    let chunked = ReadOptions {
        chunk_size: chunk,
        ..options
    };
    let read = if choice.is_multiple_of(5) {
        read_jobs(Trickle(data, 1 + choice % 100), &chunked)
    } else {
        read_jobs(data, &chunked)
    };
    assert_eq!(whole, outcome(read), "in chunks of {chunk}");
}

/// `qstat -f` as text and as dsv, which have one reader: from memory and from a stream it gives the
/// same.
pub fn qstat(data: &[u8]) {
    let schema = Schema::openpbs();
    let needed: Vec<&str> = NEEDED[0].split_whitespace().collect();
    let options = ReadOptions {
        cycle_jobs: true,
        record_origins: true,
        ..ReadOptions::new(&schema, &needed)
    };
    let whole = outcome(read_jobs(data, &options));
    let stream = read_jobs(Trickle(data, 1 + data.len() % 70), &options);
    assert_eq!(whole, outcome(stream), "as a stream");
}

/// The files of OpenPBS, each read as all of them are.
pub fn pbs_files(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let group = ResourceGroup::parse(b"group1 100 root 40\nBob 101 group1 50\nSuzy 102 root 30\n");
    let usage = UsageFile::parse(data);
    answer_all(SchedPriv {
        lines: ResourceGroup::parse(data),
        config: SchedConfig::default(),
        usage: None,
    });
    answer_all(SchedPriv {
        lines: group,
        config: SchedConfig::parse(data),
        usage: Some(usage),
    });
    let objects = Objects::read(&text);
    let _ = Queues::read("queues", &objects).map(|queues| queues.priorities());
    let _ = ServerSettings::read(&objects, None);
    let _ = ServerSettings::read(&objects, Some("p"));
    let _ = Nodes::read("nodes", &objects);
    let _ = read_reservations("reservations", &objects);
    let _ = repeated(&objects);
    let _ = formula_in("server", &objects, true);
    let _ = pasted(&text);
    add_resources("qmgr", &objects, &mut Schema::openpbs());
    add_resources(
        "resourcedef",
        &Objects::read_resourcedef(&text),
        &mut Schema::openpbs(),
    );
    let mut files = queue_with(Role::ResourceGroup, b"Bob 10 root 5\n");
    let roles: &[Role] = match data.len() % 5 {
        0 => &[Role::ResourceGroup],
        1 => &[Role::Usage],
        2 => &[Role::SchedConfig],
        3 => &[Role::Server],
        _ => &[Role::Queues, Role::Resources],
    };
    for role in roles {
        files = files.with(*role, file(data));
    }
    use_site(files, &[PolicyName::Pbs]);
}

/// Every request of `pbsfs`.
fn answer_all(files: SchedPriv) {
    let compare = Request::Compare(b"Bob".to_vec(), b"unknown".to_vec());
    let entity = Request::Entity(b"Bob".to_vec());
    for request in [Request::Table, Request::Outline, entity, compare] {
        let _ = answer(&request, &files, &mut io::sink());
    }
    let document = files.lines.document(None, 0);
    let _ = jsf_openpbs::pbs_tree::PbsTree::build(&document, PolicyRules::Scheduler, [""; 0]);
}

/// What `sshare` and `sacctmgr` print, under every policy.
pub fn slurm_files(data: &[u8]) {
    if let Ok(tree) = jsf_slurm::read_tree("tree", data) {
        check_document(&tree.document);
    }
    use_tree(data);
}

/// A tree in native JSON or of flux-accounting, under every policy.
pub fn tree_json(data: &[u8]) {
    for document in [read_tree("tree", data), read_flux_tree("tree", data)]
        .into_iter()
        .flatten()
    {
        check_document(&document);
    }
    use_tree(data);
}

/// Opens a site with a tree and two jobs, under every policy.
fn use_tree(data: &[u8]) {
    use_site(queue_with(Role::Tree, data), &PolicyName::ALL);
}

/// A site with two jobs and another file.
fn queue_with(role: Role, data: &[u8]) -> SiteFiles {
    SiteFiles::default()
        .with(Role::Queue, file(QUEUE))
        .with(role, file(data))
}

/// Every factor of a tree is a number.
fn check_document(document: &TreeDocument) {
    let Ok(tree) = document.share_tree() else {
        return;
    };
    let assessed = AssessedTree::new(tree, &FairTree::default());
    for node in assessed.tree().nodes() {
        if let Some(shares) = assessed.shares().get(node) {
            assert!(
                (0.0..=1.0).contains(&shares.fairshare_factor),
                "{}: {}",
                assessed.tree().name(node),
                shares.fairshare_factor
            );
        }
    }
}

/// The settings of Slurm, and what they make of a tree.
pub fn slurm_conf(data: &[u8]) {
    SlurmConf::parse("slurm.conf", data, None);
    let tree = br#"{"children":[{"name":"a","shares":40,"children":[{"name":"Bob","shares":50,"usage":100}]}]}"#;
    let files = SiteFiles::default()
        .with(Role::SlurmConf, file(data))
        .with(Role::Tree, file(tree));
    use_site(files, &[]);
}

/// An archive with the files of a site.
pub fn snapshots(data: &[u8]) {
    with_file(data, |path| {
        if let Ok(files) = SiteFiles::open(path) {
            use_site(files, &[]);
        }
    });
}

/// A scheduler's log.
pub fn replay(data: &[u8]) {
    let files = queue_with(Role::ResourceGroup, b"Bob 10 root 5\nSuzy 11 root 7\n");
    let formula = parsed("ncpus * fairshare_factor + eligible_time / 3600");
    with_file(data, |path| {
        let _ = opened(files).replay(path, &formula);
    });
}

const QUEUE: &[u8] =
    br#"{"jobs":[{"id":"1.vm","entity":"Bob","queue":"workq","resources":{"ncpus":4},"eligible_time":120},
{"id":"2.vm","entity":"Suzy","queue":"workq","resources":{"ncpus":2},"eligible_time":7200}]}"#;

/// Opens a site, and asks for all that it has.
fn use_site(files: SiteFiles, policies: &[PolicyName]) {
    let Ok(site) = Site::from_files(files, SiteOptions::default()) else {
        return;
    };
    let own = site
        .formula_text()
        .ok()
        .and_then(|text| Formula::parse(&text.text).ok());
    let plain = parsed("ncpus + fairshare_factor");
    for formula in own.iter().chain([&plain]) {
        let _ = site.rank(formula);
    }
    let _ = site.shares(&SharesRequest {
        policies: policies.to_vec(),
        ..SharesRequest::default()
    });
}

/// The processors of the machine on which logs are simulated.
const PROCESSORS: u32 = 64;

/// A log of jobs in any format is read and simulated: no job starts before it is submitted, and
/// never are more processors in use than there are.
pub fn logs(data: &[u8]) {
    let log = workload(data);
    let Some(simulated) = simulated(&log) else {
        return;
    };
    let mut events = Vec::new();
    for (index, job) in log.jobs().iter().enumerate() {
        if let Some(start) = simulated.schedule.start(index) {
            assert!(
                start >= job.submit,
                "job {index} starts before it is submitted"
            );
            let processors = i64::from(job.processors);
            events.extend([(start, processors), (start + job.duration(), -processors)]);
        }
    }
    // what ends makes room for what starts in the same second
    events.sort_unstable();
    let in_use = events.iter().scan(0, |in_use, (_, change)| {
        *in_use += change;
        Some(*in_use)
    });
    assert!(
        in_use.max().unwrap_or(0) <= PROCESSORS.into(),
        "more processors in use than there are"
    );
}

/// Goals are read and judged on a log.
pub fn goals(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(goals) = Goals::parse("goals", &text, &Schema::openpbs()) else {
        return;
    };
    let log = workload(LOG.as_bytes());
    let simulated = simulated(&log).expect("a log that can be simulated");
    let statistics = simulated.statistics(&log, 0);
    let run = JudgedRun {
        workload: &log,
        schedule: &simulated.schedule,
        statistics: &statistics,
    };
    let judged = goals.judge(&run, &[]);
    let again = goals.judge(&run, &judged);
    assert_eq!(judged.len(), again.len());
    for (one, other) in judged.iter().zip(&again) {
        assert_eq!(
            (&one.name, one.jobs, one.value.map(f64::to_bits)),
            (&other.name, other.jobs, other.value.map(f64::to_bits))
        );
    }
}

/// A page holds the formula as it is, and the module that it holds answers with JSON, and with the
/// ranking of the site.
pub fn page(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut page = Vec::new();
    WhatIfPage {
        formula: &text,
        in_force: Some(&text),
        object: "server",
        warnings: &[],
        bundle: b"",
        module: b"",
    }
    .write(&mut page)
    .expect("the page is written to memory");
    let page = String::from_utf8(page).expect("UTF-8");
    let (_, settings) = page
        .split_once(r#"<script type="application/json" id="settings">"#)
        .expect("settings");
    let (settings, _) = settings
        .split_once("</script>")
        .expect("the end of the element");
    let settings: serde_json::Value = serde_json::from_str(settings).expect("JSON");
    assert_eq!(
        (settings["formula"].as_str(), settings["in_force"].as_str()),
        (Some(&*text), Some(&*text))
    );

    let open = || opened(SiteFiles::default().with(Role::Queue, file(QUEUE)));
    let mut what_if = WhatIf::new(open(), "ncpus");
    if let Ok(checked) = what_if.check(&text) {
        is_json(check_json(&text, "server", &checked));
    }
    let Ok(ranked) = what_if.rank(&text) else {
        return;
    };
    let values = ranked.sides.new.ranking.scores().values();
    let submission = FormulaSubmission::to_openpbs(&text);
    let formula = submission.formula().expect("a formula that was ranked");
    let native = open().rank(formula).expect("a queue that was ranked");
    let native_values = native.ranking.scores().values();
    assert!(
        values
            .iter()
            .map(|value| value.to_bits())
            .eq(native_values.iter().map(|value| value.to_bits()))
    );
    is_json(ranking_json(&what_if, 10, "", true));
    if let Ok(checked) = what_if.check(&text) {
        is_json(check_json(&text, "server", &checked));
    }
}

fn is_json(text: Option<String>) {
    let text = text.expect("an answer");
    serde_json::from_str::<serde::de::IgnoredAny>(&text).expect("JSON");
}

/// Three jobs in the Standard Workload Format.
const LOG: &str = "1 0 5 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n2 10 5 50 60 -1 -1 60 60 -1 1 2 1 1 2 1 -1 -1\n\
                   3 20 5 10 8 -1 -1 8 3600 -1 1 1 1 1 1 1 -1 -1\n";

fn workload(data: &[u8]) -> Workload {
    let mut builder = WorkloadBuilder::new();
    let _ = read_workload("log", data, &mut builder);
    builder.finish()
}

fn simulated(log: &Workload) -> Option<SimulatedQueue> {
    let site = opened(SiteFiles::default());
    let formula = parsed("eligible_time / walltime * ncpus");
    let options = SimulationOptions {
        processors: Some(PROCESSORS),
        ..SimulationOptions::default()
    };
    site.simulate(&formula, log, options, &mut ()).ok()
}

fn opened(files: SiteFiles) -> Site {
    Site::from_files(files, SiteOptions::default()).expect("a site")
}

fn parsed(formula: &str) -> Formula {
    Formula::parse(formula).expect("a formula")
}

fn file(bytes: &[u8]) -> FileSource {
    FileSource::Bytes {
        name: "input".into(),
        bytes: Arc::from(bytes),
    }
}

/// Writes the bytes to a file of this process, in memory if the system has such a folder.
fn with_file(data: &[u8], use_file: impl FnOnce(&Path)) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let path = folder.join(format!(
        "jsf-fuzz-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    fs::write(&path, data).expect("a file");
    use_file(&path);
    let _ = fs::remove_file(&path);
}

/// Gives a few bytes at a time: what is read may not depend on where the reads of a stream end.
struct Trickle<'b>(&'b [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.1);
        self.0.read(&mut buffer[..most])
    }
}

/// The table and the problems, or the error.
fn outcome(read: Result<ParsedJobs, ReadError>) -> Result<(String, String), String> {
    read.map(|read| (describe(&read.table), format!("{:?}", read.problems)))
        .map_err(|error| format!("{error:?}"))
}

/// All that a table contains.
pub fn describe(table: &JobTable) -> String {
    let mut text = format!("{:?} {:?}\n", table.entities(), table.queues());
    for row in 0..table.len() {
        text += &format!(
            "{} {} {} {:?} {:?} {:?} {}",
            table.id(row),
            table.entity(row),
            table.queue(row),
            table.state(row),
            table.submit_order(row),
            table.exclusion(row),
            table.row(table.id(row)) == Some(row),
        );
        for (name, column) in table.columns() {
            assert_eq!(column.len(), table.len(), "{name}");
            let is_set = if column.is_set(row) { "" } else { "?" };
            let value = match column.value(row) {
                Value::Float(x) => format!("{:016x}", x.to_bits()),
                other => format!("{other:?}"),
            };
            text += &format!(" {value}{is_set} {:?}", table.origin(name, row));
        }
        text.push('\n');
    }
    format!(
        "{text}{:?} {:?}",
        table.undeclared().collect::<Vec<_>>(),
        table.truncated_amounts().collect::<Vec<_>>()
    )
}
