//! No control character of a file, an argument or a file name reaches a terminal: every command,
//! with such text in every place that it takes text from. JSON and CSV carry the text unchanged.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::cli::calls::{WITH_HOSTILE_ARGUMENTS, WITH_HOSTILE_FILES};
use crate::command::{command, jsf, json, success, words};

/// C0 (a window title, colours, a cursor), DEL, C1, the controls of bidirectional text, and
/// invisible characters.
const HOSTILE: &str = "a\u{1b}]0;t\u{7}\u{1b}[31m\u{8}\r\u{7f}\u{9b}2J\u{85}\u{202e}\u{2066}\u{200f}\u{2028}\u{ad}\u{200b}\u{feff}\u{fff9}\u{fe0f}\u{e0041}z";

/// Whether a terminal could obey the character, would show the line in another order, or would show
/// nothing.
fn is_hostile(character: char) -> bool {
    let is_bidirectional = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_invisible = "\u{ad}\u{200b}\u{feff}\u{fff9}\u{fe0f}\u{e0041}".contains(character);
    (character.is_control() && character != '\n') || is_bidirectional || is_invisible
}

#[track_caller]
fn assert_printable(what: &str, output: &Output) {
    assert!(
        matches!(output.status.code(), Some(0..=2)),
        "{what}: {:?}",
        output.status
    );
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(bytes);
        let found = text.chars().find(|&character| is_hostile(character));
        assert_eq!(
            found,
            None,
            "{what}: {:?}",
            text.chars().take(2000).collect::<String>()
        );
    }
}

/// Files whose every text is hostile.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("a folder"));
        let text = serde_json::to_string(HOSTILE).expect("JSON");
        let job = |id: &str, rest: &str| {
            format!("{{\"id\":{id},\"entity\":{text},\"queue\":{text},{rest}}}\n")
        };
        let jobs = [
            job(
                &text,
                &format!("\"resources\":{{\"ncpus\":1,{text}:2}},\"eligible_time\":5,{text}:1"),
            ),
            job(
                "\"2.vm\"",
                &format!("\"resources\":{{\"ncpus\":{text}}},\"eligible_time\":60"),
            ),
            job(
                "\"3.vm\"",
                "\"resources\":{\"ncpus\":3},\"eligible_time\":7,\"accrue_type\":\"\u{202e}\"",
            ),
            job("\"2.vm\"", "\"resources\":{\"ncpus\":1}"),
            format!("{text}\n{HOSTILE}\n"),
        ];
        files.write("jobs", jobs.concat());
        files.write("qstat", format!("Job Id: 1{HOSTILE}.vm\n    Job_Owner = {HOSTILE}@x\n    {HOSTILE} = 1\n    queue = {HOSTILE}\n    job_state = Q\n    Resource_List.ncpus = {HOSTILE}\n\n"));
        let node = format!("{{\"name\":{text},\"shares\":1,\"usage\":5,{text}:1}}");
        files.write(
            "tree",
            format!("{{\"children\":[{{\"name\":\"g\",\"shares\":2,\"children\":[{node}]}}]}}"),
        );
        files.write("sshare", format!("Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins\nroot||1|1|0|0|0||1||\n {HOSTILE}||1|1|0|0|0||1||\n  {HOSTILE}|{HOSTILE}|1|x{HOSTILE}|0|0|0|0.5|1||\n"));
        files.write(
            "sacctmgr",
            format!("Cluster - '{HOSTILE}'\nParent - 'root'\nAccount - '{HOSTILE}':Fairshare={HOSTILE}\n{HOSTILE}\n"),
        );
        files.write("slurm.conf", format!("ClusterName=x\nPriorityFlags={HOSTILE}\nPriorityDecayHalfLife={HOSTILE}\nPriority{HOSTILE}=1\nInclude {HOSTILE}\n"));
        files.write(
            "resource_group",
            format!("{HOSTILE} 10 root 5\nb{HOSTILE} x{HOSTILE} root 5\nc 10 no{HOSTILE} 5\n"),
        );
        files.write("sched_config", format!("fair_share: true ALL\nby_queue: {HOSTILE}\n{HOSTILE}: 1\njob_sort_key: \"{HOSTILE} HIGH\"\nfairshare_usage_res: {HOSTILE}\nround_robin: true {HOSTILE}\n"));
        let mut usage = b"PBS_MAG!\0\0\0\0\0\0\0\0".to_vec();
        usage.extend(2f64.to_le_bytes());
        usage.extend(0i64.to_le_bytes());
        let mut record = [0; 64];
        record[..HOSTILE.len().min(49)]
            .copy_from_slice(&HOSTILE.as_bytes()[..HOSTILE.len().min(49)]);
        usage.extend(record);
        fs::write(files.path("usage"), usage).expect("a file");
        files.write("server", format!("Server: {HOSTILE}\n    job_sort_formula = ncpus + {HOSTILE}\n    resources_default.{HOSTILE} = {HOSTILE}\n    eligible_time_enable = {HOSTILE}\n"));
        files.write("queues", format!("Queue: {HOSTILE}\n    Priority = {HOSTILE}\n    queue_type = {HOSTILE}\n\nQueue: b\n    Priority = 1{HOSTILE}\n"));
        files.write(
            "resources",
            format!("{HOSTILE} type=long\nr type={HOSTILE}\n"),
        );
        files.write("log", format!("11/22/2026 10:00:00;0080;pbs_sched;Job;{HOSTILE};Formula Evaluation = {HOSTILE}\n11/22/2026 10:00:00;0080;pbs_sched;Job;3.vm;Formula Evaluation = 1{HOSTILE}\n11/22/2026 10:00:00;0080;pbs_sched;Job;3.vm;Formula Evaluation = 9\n"));
        files.write("nodes", format!("{{\"nodes\":{{{text}:{{\"Mom\":{text},\"state\":\"free\",\"queue\":{text},\"resources_available\":{{\"host\":{text},\"ncpus\":4,{text}:{text}}}}}}}}}"));
        files.write("formula", format!("ncpus + {HOSTILE}"));
        files.write("comment", format!("ncpus  # {HOSTILE}"));
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file");
    }

    /// Runs the words of a line, with `@name` for the path of a file and `%` for the hostile text.
    fn run(&self, line: &str) -> Output {
        let words = words(line).into_iter();
        let words = words.map(|word| match word.strip_prefix('@') {
            Some(name) => self.path(name).into_os_string(),
            None => OsString::from(word.replace('%', HOSTILE)),
        });
        command().args(words).output().expect("jsf starts")
    }
}

#[test]
fn text_of_files_is_escaped() {
    let files = Files::new();
    for line in WITH_HOSTILE_FILES {
        assert_printable(line, &files.run(line));
    }
}

#[test]
fn text_of_arguments_is_escaped() {
    let files = Files::new();
    for line in WITH_HOSTILE_ARGUMENTS {
        assert_printable(line, &files.run(line));
    }
    // a sequence that what leaves out styles leaves out too
    let titled = "1\u{1b}]0;p\u{7}";
    for option in ["--python", "--resource", "--decay", "--threshold"] {
        assert_printable(
            option,
            &command()
                .args(["rank", "x", option, titled])
                .output()
                .expect("jsf starts"),
        );
    }
}

#[test]
fn names_of_files_are_escaped() {
    let files = Files::new();
    let folder = files.path(HOSTILE);
    fs::create_dir(&folder).expect("a folder");
    let jobs = folder.join(HOSTILE);
    let scheduler = folder.join("sched_priv");
    fs::create_dir(&scheduler).expect("a folder");
    let run = |arguments: &[&Path]| command().args(arguments).output().expect("jsf starts");
    let path = |text: &'static str| Path::new(text);
    for content in [
        "",
        "no jobs",
        "{\"id\":\"1\",\"x\":1,\"resources\":{\"ncpus\":\"y\"}}\n",
        "{\"Jobs\":{",
    ] {
        fs::write(&jobs, content).expect("a file");
        for option in [
            "--queue",
            "--tree",
            "--server",
            "--queues",
            "--resources",
            "--slurm-conf",
            "--usage",
            "--site",
        ] {
            let output = run(&[path("check"), path("ncpus"), path(option), &jobs]);
            assert_printable(option, &output);
        }
        for command in ["rank", "explain", "names", "shares"] {
            assert_printable(
                command,
                &run(&[
                    path(command),
                    path("--queue"),
                    &jobs,
                    path("--job"),
                    path("1"),
                ]),
            );
        }
        assert_printable("-f", &run(&[path("check"), path("-f"), &jobs]));
        assert_printable(
            "replay",
            &run(&[path("replay"), &jobs, path("ncpus"), path("--queue"), &jobs]),
        );
        fs::write(scheduler.join("resource_group"), content).expect("a file");
        fs::write(scheduler.join("sched_config"), content).expect("a file");
        assert_printable("folder", &run(&[path("shares"), path("--site"), &folder]));
        let output = run(&[path("pbsfs"), path("-p"), path("--sched-priv"), &scheduler]);
        assert_printable("pbsfs", &output);
    }
}

#[test]
fn names_in_archives_are_escaped() {
    let files = Files::new();
    let mut header = vec![0; 1024];
    let name = format!("{HOSTILE}/../server/qstat_Bf.out");
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(b"00000000003");
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header[..512].iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header[512..515].copy_from_slice(b"abc");
    header.extend([0; 1024]);
    files.write("archive.tar", &header);
    let output = files.run("check ncpus --site @archive.tar");
    assert_eq!(output.status.code(), Some(2));
    assert_printable("a member outside", &output);
}

#[test]
fn json_and_csv_carry_the_text() {
    let files = Files::new();
    let queue = files.path("jobs").display().to_string();
    let ranked = json(&jsf(&[
        "rank", "ncpus", "--queue", &queue, "--format", "json",
    ]));
    let jobs = ranked["jobs"].as_array().expect("jobs");
    assert!(
        jobs.iter()
            .any(|job| job["id"] == HOSTILE && job["entity"] == HOSTILE),
        "{ranked}"
    );
    let csv = success(&jsf(&[
        "rank", "ncpus", "--queue", &queue, "--format", "csv",
    ]));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert!(
        reader
            .records()
            .any(|record| &record.expect("a record")[1] == HOSTILE),
        "{csv:?}"
    );
    let tree = files.path("tree").display().to_string();
    let shares = json(&jsf(&[
        "shares",
        "--tree",
        &tree,
        "--policy",
        "fair-tree",
        "--format",
        "json",
    ]));
    let nodes = shares["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().any(|node| node["name"] == HOSTILE), "{shares}");
}

#[test]
fn a_spreadsheet_computes_no_cell() {
    let folder = tempfile::tempdir().expect("a folder");
    let queue = folder.path().join("jobs").display().to_string();
    let job = |id: &str, wait: u32| {
        format!(
            "{{\"id\":{id:?},\"entity\":\"=1+1\",\"queue\":\"@q\",\"resources\":{{\"ncpus\":1}},\"eligible_time\":{wait}}}\n"
        )
    };
    fs::write(&queue, job("-1", 1) + &job("+2", 9)).expect("a file");
    let queue_of = ["--queue", &queue, "--format", "csv"];
    let calls: [&[&str]; 3] = [
        &["rank", "-ncpus"],
        &["compare", "--old", "ncpus", "--new", "-ncpus"],
        &["trajectory", "eligible_time", "--job=-1", "--hours", "1"],
    ];
    for call in calls {
        let plain = success(&jsf(&[call, &queue_of].concat()));
        let safe = success(&jsf(&[call, &queue_of, &["--csv-safe"]].concat()));
        let texts = ["-1", "+2", "=1+1", "@q"];
        let mut guarded = 0;
        let cells = |csv: &str| {
            csv.lines()
                .skip(1)
                .flat_map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        for (cell, safe) in cells(&plain).iter().zip(cells(&safe)) {
            if texts.contains(&cell.as_str()) && safe != *cell {
                assert_eq!(safe, format!("'{cell}"), "{call:?}");
                guarded += 1;
            }
        }
        assert!(guarded >= 2, "{call:?}: {safe}");
        // a negative number stays a number
        assert!(call[0] != "rank" || safe.contains(",-1.0,"), "{safe}");
    }
}

#[test]
fn a_picture_has_only_characters_of_xml() {
    let folder = tempfile::tempdir().expect("a folder");
    let queue = folder.path().join("jobs").display().to_string();
    fs::write(
        &queue,
        "{\"id\":\"1\u{fffe}\u{ffff}\",\"eligible_time\":5}\n",
    )
    .expect("a file");
    let call = [
        "trajectory",
        "eligible_time # \u{ffff}",
        "--queue",
        &queue,
        "--hours",
        "1",
        "--format",
        "svg",
    ];
    let picture = success(&jsf(&[&call[..], &["--job", "1\u{fffe}\u{ffff}"]].concat()));
    assert!(
        picture.contains(">1\u{fffd}\u{fffd}</text>")
            && !picture.contains(['\u{fffe}', '\u{ffff}']),
        "{picture}"
    );
}

#[test]
fn color_applies_to_usage_errors_too() {
    for (color, is_coloured) in [("never", false), ("always", true)] {
        for call in [
            &["rank", "--top", "x", "--color", color][..],
            &[&format!("--color={color}"), "no-such-command"],
        ] {
            let output = jsf(call);
            assert_eq!(
                (output.status.code(), output.stderr.contains(&0x1b)),
                (Some(2), is_coloured),
                "{call:?}"
            );
        }
    }
}
