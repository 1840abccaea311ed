//! The script of `jsf capture`, with commands that print recorded output, makes a folder that
//! `--site` reads.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use jsf_testing::golden;

use crate::command::{command, jsf, jsf_with_input, json, said, stderr, stdout, success};

/// Writes a command that prints the file of the first pattern that its arguments match.
fn fake(folder: &Path, name: &str, cases: &[(&str, &str)]) {
    let case = |(arguments, file): &(&str, &str)| match *file {
        "" => format!("'{arguments}') echo '{name}: Unauthorized Request' >&2; exit 1;;\n"),
        file => format!("'{arguments}') cat '{}';;\n", golden::path(file).display()),
    };
    let cases: String = cases.iter().map(case).collect();
    let path = folder.join(name);
    fs::write(
        &path,
        format!("#!/bin/sh\ncase \"$*\" in\n{cases}*) exit 3;;\nesac\n"),
    )
    .expect("a command");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a command");
}

#[test]
fn the_script_makes_a_site_and_notes_what_is_missing() {
    let temporary = tempfile::tempdir().expect("a folder");
    let (bin, home) = (temporary.path().join("bin"), temporary.path().join("home"));
    fs::create_dir_all(&bin).expect("a folder");
    fs::create_dir_all(home.join("sched_priv")).expect("a folder");
    fs::copy(
        golden::path("openpbs/qstat/sched_config"),
        home.join("sched_priv/sched_config"),
    )
    .expect("a file");
    fake(
        &bin,
        "qstat",
        &[
            ("-f -F json", "openpbs/qstat/qstat_f.json"),
            ("-Bf -F json", ""),
            ("-Bf", "openpbs/qstat/qstat_Bf.txt"),
            ("-Qf -F json", "openpbs/qstat/qstat_Qf.json"),
        ],
    );
    fake(
        &bin,
        "qmgr",
        &[
            ("-c print server", "openpbs/qstat/qmgr_print_server.txt"),
            ("-c print resource", ""),
            ("-c list sched", ""),
        ],
    );
    fake(
        &bin,
        "pbsnodes",
        &[("-av -F json", "openpbs/qstat/pbsnodes_a.json")],
    );
    let script = success(&jsf(&["capture"]));
    let path = temporary.path().join("capture.sh");
    fs::write(&path, script).expect("a script");
    let output = Command::new("sh")
        .arg(&path)
        .arg("site")
        .current_dir(temporary.path())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("PBS_HOME", &home)
        .output()
        .expect("sh");
    assert!(output.status.success(), "{}", stderr(&output));
    let site = temporary.path().join("site");
    let missing = fs::read_to_string(site.join("missing.txt")).expect("notes");
    assert!(
        missing.contains("server.json: qstat -Bf -F json failed: qstat: Unauthorized Request"),
        "{missing}"
    );
    assert!(
        missing.contains("sched_priv/usage: ") && missing.contains("cannot be read by"),
        "{missing}"
    );
    assert!(
        stdout(&output).contains("what could not be read"),
        "{}",
        stdout(&output)
    );
    let site = site.to_str().expect("a path");
    let ranked = jsf(&[
        "rank",
        "r_long + queue_priority",
        "--site",
        site,
        "--format",
        "json",
    ]);
    assert_eq!(ranked.status.code(), Some(0), "{}", stderr(&ranked));
    assert_eq!(json(&ranked)["summary"]["jobs"], 59);
    let found = stderr(&jsf(&["rank", "ncpus", "--site", site, "--verbose"]));
    assert!(found.contains("nodes      pbsnodes.json\n"), "{found}");
    let again = Command::new("sh")
        .arg(&path)
        .arg(site)
        .output()
        .expect("sh");
    assert_eq!(again.status.code(), Some(2));
}

/// Runs the script in a folder, with only these commands and those of the system.
fn capture(folder: &Path, bin: &Path, name: &str, variables: &[(&str, &Path)]) -> Output {
    let path = folder.join("capture.sh");
    fs::write(&path, success(&jsf(&["capture"]))).expect("a script");
    let mut command = Command::new("sh");
    command
        .arg(&path)
        .arg(name)
        .current_dir(folder)
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    command
        .envs(variables.iter().copied())
        .output()
        .expect("sh")
}

#[test]
fn the_script_takes_no_other_options() {
    let temporary = tempfile::tempdir().expect("a folder");
    let output = capture(temporary.path(), temporary.path(), "--help", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).starts_with("usage: sh capture.sh [--without-environment] [FOLDER]"),
        "{}",
        stderr(&output)
    );
    // the script alone
    assert_eq!(fs::read_dir(temporary.path()).expect("a folder").count(), 1);
}

/// A command that prints a text for these arguments, and fails for others.
fn printing(folder: &Path, name: &str, arguments: &str, text: &str) {
    let output = folder.join(format!("{name}.out"));
    fs::write(&output, text).expect("a file");
    let path = folder.join(name);
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = '{arguments}' ] || exit 3\ncat '{}'\n",
        output.display()
    );
    fs::write(&path, script).expect("a command");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a command");
}

/// One job, as `qstat -f -F json` prints it, with a function of the shell in its environment, whose
/// lines older versions break.
const JSON: &str = "{\n    \"timestamp\":1795199073,\n    \"Jobs\":{\n        \"1.vm\":{\n            \"job_state\":\"Q\",\n            \
    \"queue\":\"workq\",\n            \"Variable_List\":{\n                \"PBS_O_HOME\":\"/home/ada\",\n                \
    \"TOKEN\":\"s3cret\",\n                \"BASH_FUNC_f%%\":\"() {  g;\n            }\n  h s3cret\n}\"\n            },\n            \
    \"project\":\"p\",\n            \"Variable_List\":{\n                \"PBS_O_HOST\":\"a\"\n            }\n        }\n    }\n}\n";
/// The same as text.
const TEXT: &str = "Job Id: 1.vm\n    job_state = Q\n    queue = workq\n    Variable_List = PBS_O_HOME=/home/ada,TOKEN=s3cr\n\tet,F=() {\n\
    s3cret\n\n    }\n    project = p\n\nJob Id: 2.vm\n    job_state = Q\n    Variable_List = PBS_O_HOME=/home/s3cret\n\n";

#[test]
fn environments_of_jobs_are_left_out_if_that_is_asked_for() {
    for (file, arguments, document) in [
        ("qstat.json", "-t -f -F json", JSON),
        ("qstat.json", "-f -F json", JSON),
        ("qstat.txt", "-f", TEXT),
    ] {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path();
        fs::create_dir_all(folder.join("bin")).expect("a folder");
        printing(&folder.join("bin"), "qstat", arguments, document);
        let reservation = "Resv ID: R1.vm\nreserve_state = RESV_CONFIRMED\nVariable_List = PBS_O_HOME=/home/s3cret\nqueue = R1\n";
        printing(&folder.join("bin"), "pbs_rstat", "-f", reservation);
        for (options, name, has_environment) in [
            (&[][..], "with", true),
            (&["--without-environment"], "without", false),
        ] {
            let script = folder.join("capture.sh");
            fs::write(
                &script,
                success(&jsf(&[&["capture"][..], options].concat())),
            )
            .expect("a script");
            let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
            let run = |arguments: &[&str]| {
                let mut command = Command::new("sh");
                command
                    .arg(&script)
                    .args(arguments)
                    .current_dir(folder)
                    .env("PATH", &path)
                    .output()
                    .expect("sh")
            };
            assert_eq!(run(&[name]).status.code(), Some(0));
            let captured = |folder_name: &str, file: &str| {
                fs::read_to_string(folder.join(folder_name).join(file)).expect(file)
            };
            let jobs = captured(name, file);
            assert_eq!(
                (jobs.contains("s3cret"), jobs.contains("PBS_O_")),
                (has_environment, has_environment),
                "{jobs}"
            );
            assert!(jobs.contains("project") && jobs.contains("queue"), "{jobs}");
            assert_eq!(
                captured(name, "pbs_rstat.txt").contains("s3cret"),
                has_environment
            );
            assert!(captured(name, "pbs_rstat.txt").contains("queue = R1"));
            // the option of the script itself
            assert_eq!(
                run(&["--without-environment", "again"]).status.code(),
                Some(0)
            );
            assert!(!captured("again", file).contains("s3cret"));
            fs::remove_dir_all(folder.join("again")).expect("a folder");
            // as a document with such a function is damaged
            if has_environment {
                continue;
            }
            let site = folder.join(name).display().to_string();
            let ranked = json(&jsf(&["rank", "1", "--site", &site, "--format", "json"]));
            assert_eq!(ranked["jobs"][0]["queue"], "workq", "{ranked}");
        }
    }
}

#[test]
fn a_job_document_from_which_the_environment_cannot_be_left_out_is_not_kept() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    fs::create_dir_all(folder.join("bin")).expect("a folder");
    let one_line =
        r#"{"Jobs":{"1.vm":{"job_state":"Q","Variable_List":{"PBS_O_HOME":"/home/ada"}}}}"#;
    printing(&folder.join("bin"), "qstat", "-f -F json", one_line);
    let sshare = "slurm/files/t01a_doc_defaultroot/classic_d1.sshare_a_l_P.txt";
    fake(&folder.join("bin"), "sshare", &[("-a -l -P", sshare)]);
    fake(&folder.join("bin"), "qmgr", &[]);
    let script = folder.join("capture.sh");
    fs::write(
        &script,
        success(&jsf(&["capture", "--without-environment"])),
    )
    .expect("a script");
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    let output = Command::new("sh")
        .arg(&script)
        .arg("site")
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .expect("sh");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!folder.join("site/qstat.json").exists());
    let missing = fs::read_to_string(folder.join("site/missing.txt")).expect("notes");
    assert!(
        missing.contains("qstat.json: the environments of jobs could not be left out"),
        "{missing}"
    );
}

#[test]
fn the_guide_names_the_commands_that_the_script_calls() {
    let script = success(&jsf(&["capture"]));
    let guide = fs::read_to_string(jsf_testing::path("docs/admin-guide.md")).expect("the guide");
    let sentence = guide
        .split("prints a `sh` script that calls ")
        .nth(1)
        .and_then(|rest| rest.split(", copies").next());
    let sentence = sentence.expect("the sentence");
    let names: Vec<&str> = sentence.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 3, "{names:?}");
    for name in names {
        assert!(
            script
                .lines()
                .any(|line| line.contains("save") && line.contains(&format!(" {name} -"))),
            "{name}"
        );
    }
}

#[test]
fn the_script_collects_the_files_of_slurm() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    let (bin, conf) = (folder.join("bin"), folder.join("slurm.conf"));
    fs::create_dir_all(&bin).expect("a folder");
    fs::write(
        &conf,
        "ClusterName=c\nPriorityType=priority/multifactor\nPriorityFlags=NO_FAIR_TREE\n",
    )
    .expect("a file");
    let shares = "slurm/files/t01a_doc_defaultroot/classic_d1.sshare_a_l_P.txt";
    fake(&bin, "sshare", &[("-a --json", ""), ("-a -l -P", shares)]);
    fake(&bin, "scontrol", &[("show config", "")]);
    let output = capture(folder, &bin, "site", &[("SLURM_CONF", &conf)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let missing = fs::read_to_string(folder.join("site/missing.txt")).expect("notes");
    assert!(
        missing.contains("sshare.json: sshare -a --json failed: sshare: Unauthorized Request"),
        "{missing}"
    );
    assert!(
        missing.contains("scontrol_show_config.txt: scontrol show config failed"),
        "{missing}"
    );
    let site = folder.join("site").display().to_string();
    let from_site = jsf(&["shares", "--site", &site, "--format", "json"]);
    let (tree, conf) = (
        golden::path(shares).display().to_string(),
        conf.display().to_string(),
    );
    let from_files = jsf(&[
        "shares",
        "--tree",
        &tree,
        "--slurm-conf",
        &conf,
        "--format",
        "json",
    ]);
    assert_eq!(success(&from_site), success(&from_files));
    assert_eq!(json(&from_site)["policy"], "classic");
}

/// A command of Slurm that runs a part of a script for its arguments, and fails for others, or if
/// it would print times of another zone or what the caller's variables ask for.
fn slurm(bin: &Path, name: &str, cases: &str) {
    let path = bin.join(name);
    let script = format!(
        "#!/bin/sh\n[ \"$TZ $SLURM_TIME_FORMAT$SQUEUE_USERS$SPRIO_FORMAT$SLURM_CLUSTERS\" = 'UTC standard' ] || exit 4\n\
         case \"$*\" in\n{cases}\n*) echo \"{name}: error: Invalid\" >&2; exit 1;;\nesac\n"
    );
    fs::write(&path, script).expect("a command");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a command");
}

/// A recorded site in `site`, the commands that print it in `bin`, and its settings in files that
/// include each other.
fn recorded_cluster(folder: &Path) {
    let (bin, site) = (folder.join("bin"), folder.join("recorded"));
    for path in [&bin, &site] {
        fs::create_dir_all(path).expect("a folder");
    }
    let archive = golden::path("slurm-priority/84_random1.tar.gz");
    let file = File::open(archive).expect("an archive");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    archive.unpack(&site).expect("files");
    let conf = fs::read_to_string(site.join("slurm.conf")).expect("settings");
    let (weights, others): (Vec<&str>, Vec<&str>) =
        conf.lines().partition(|line| line.contains("Weight"));
    let included = folder.join("included.conf").display().to_string();
    fs::write(&included, "include weights.conf # relative\n").expect("a file");
    fs::write(folder.join("weights.conf"), weights.join("\n")).expect("a file");
    let main = format!(
        "AccountingStoragePass=s3cret\n{}\nINCLUDE {included}\nInclude none.conf\n",
        others.join("\n")
    );
    fs::write(folder.join("slurm.conf"), main).expect("a file");
    let path = site.display();
    slurm(
        &bin,
        "sprio",
        &format!(
            "'-o %i|%r|%u|%Y|%S|%A|%B|%F|%J|%P|%Q|%N|%T') cat {path}/sprio_o.txt;;\n'-n -l') cat {path}/sprio_n.txt;;"
        ),
    );
    slurm(
        &bin,
        "sshare",
        &format!("'-a -l -P') cat {path}/sshare.txt;;"),
    );
    slurm(
        &bin,
        "sacctmgr",
        &format!("'-P show qos') cat {path}/qos.txt;;\n'-P show assoc') cat {path}/assoc.txt;;"),
    );
    let conf = folder.join("slurm.conf").display().to_string();
    let config = format!(
        "grep -v -e SLURM_CONF -e PrivateData {path}/scontrol_show_config.txt; echo 'PrivateData = jobs'; echo 'SLURM_CONF = {conf}'"
    );
    slurm(
        &bin,
        "scontrol",
        &format!(
            "'show config') {config};;\n'show partition -a') cat {path}/partitions.txt;;\n\
             'show node -a') cat {path}/nodes.txt; echo '   Reason=s3cret [root@2026-11-27T08:00:00]';;\n\
             'show job -a') cat {path}/jobs.txt;;"
        ),
    );
    slurm(
        &bin,
        "squeue",
        &format!("'-a -O JobID:|,'*':|,tres-alloc:|,Dependency:|') cat {path}/squeue_o.txt;;"),
    );
}

/// Runs the script with the variables of a user who has his own formats.
fn captured_cluster(folder: &Path) -> String {
    let variables = [
        ("TZ", "America/Denver"),
        ("SQUEUE_USERS", "ann"),
        ("SPRIO_FORMAT", "%i"),
        ("SLURM_CLUSTERS", "other"),
    ];
    let variables = variables.map(|(name, value)| (name, Path::new(value)));
    let output = capture(folder, &folder.join("bin"), "site", &variables);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    folder.join("site").display().to_string()
}

/// The priorities that `jsf rank` computes, by the numbers of the jobs.
fn priorities(site: &str) -> Vec<(String, u64)> {
    let answer = json(&jsf(&["rank", "--site", site, "--format", "json"]));
    let jobs = answer["jobs"].as_array().expect("a list").iter();
    let mut priorities: Vec<(String, u64)> = jobs
        .map(|job| {
            let value = job["value"].as_u64().expect("a number");
            (golden::field(job, "id").to_owned(), value)
        })
        .collect();
    priorities.sort();
    priorities
}

#[test]
fn the_priorities_of_a_captured_cluster_are_those_of_squeue() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    recorded_cluster(folder);
    let site = captured_cluster(folder);
    let want = fs::read_to_string(folder.join("recorded/want.json")).expect("totals");
    let want: serde_json::Value = serde_json::from_str(&want).expect("JSON");
    let jobs = want["jobs"].as_array().expect("a list").iter();
    let recorded = jobs.map(|job| {
        let total = golden::field(job, "squeue_priority").parse();
        (
            golden::field(job, "job").to_owned(),
            total.expect("a number"),
        )
    });
    let mut recorded: Vec<(String, u64)> = recorded.collect();
    recorded.sort();
    let computed = priorities(&site);
    let pending: Vec<(String, u64)> = computed
        .into_iter()
        .filter(|(id, _)| recorded.iter().any(|(recorded, _)| recorded == id))
        .collect();
    assert_eq!(pending, recorded);
    assert!(recorded.len() > 10);

    let missing = fs::read_to_string(folder.join("site/missing.txt")).expect("notes");
    assert!(missing.contains("none.conf, which it includes, cannot be read"));
    assert!(missing.contains("PrivateData = jobs: "), "{missing}");
    let conf = fs::read_to_string(folder.join("site/slurm.conf")).expect("settings");
    assert!(conf.contains("PriorityWeightAge=19\n") && !conf.contains("s3cret"));
    let nodes = fs::read_to_string(folder.join("site/nodes.txt")).expect("nodes");
    assert!(nodes.contains("CPUEfctv=64") && !nodes.contains("s3cret"));
}

#[test]
fn jobs_of_slurm_are_collected_without_the_texts_of_their_users() {
    for squeue in [
        "exit 1",
        // before columns could have a separator
        "echo 'JOBID ACCOUNT TRES_ALLOC'",
    ] {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path();
        recorded_cluster(folder);
        let expected = priorities(&folder.join("recorded").display().to_string());
        slurm(&folder.join("bin"), "squeue", &format!("*) {squeue};;"));
        // as `scontrol` prints them without `-o`
        let lines = fs::read_to_string(folder.join("recorded/scontrol_show_job.txt"));
        let jobs: String = lines
            .expect("jobs")
            .lines()
            .map(|job| {
                let mut job = job.replace("JobName=wrap", "JobName=s3cret Priority=1");
                for key in [
                    "UserId",
                    "Priority=",
                    "JobState",
                    "RunTime",
                    "SubmitTime",
                    "AccrueTime",
                    "StartTime",
                ]
                .into_iter()
                .chain([
                    "Partition",
                    "ReqNodeList",
                    "NumNodes",
                    "TRES=",
                    "Socks",
                    "MinCPUsNode",
                    "Features",
                ]) {
                    let at = job.rfind(&format!(" {key}")).expect("a key");
                    job.replace_range(at..=at, "\n   ");
                }
                job + "\n   Command=/home/s3cret\n   Comment=s3cret Nice=9\n   WorkDir=/s3cret\n\n"
            })
            .collect();
        fs::write(folder.join("recorded/jobs.txt"), jobs).expect("a file");
        let site = captured_cluster(folder);
        let kept = fs::read_to_string(folder.join("site/scontrol_show_job.txt")).expect("jobs");
        assert!(!kept.contains("s3cret"), "{kept}");
        assert!(!folder.join("site/squeue_o.txt").exists());
        let missing = fs::read_to_string(folder.join("site/missing.txt")).expect("notes");
        assert!(missing.contains("squeue_o.txt: "), "{missing}");
        assert_eq!(priorities(&site), expected);
    }
}

/// The package slurm-torque has a `qstat` that prints jobs as PBS does.
#[test]
fn a_qstat_without_qmgr_is_not_asked_on_a_cluster_of_slurm() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    recorded_cluster(folder);
    fake(
        &folder.join("bin"),
        "qstat",
        &[("-f", "openpbs/qstat/qstat_f.txt")],
    );
    let site = captured_cluster(folder);
    assert!(!folder.join("site/qstat.txt").exists());
    assert!(priorities(&site).len() > 10);
}

#[test]
fn the_script_says_that_nothing_was_collected_and_leaves_no_folder() {
    let temporary = tempfile::tempdir().expect("a folder");
    let (folder, bin) = (temporary.path(), temporary.path().join("bin"));
    fs::create_dir_all(&bin).expect("a folder");
    let output = capture(folder, &bin, "site", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("neither qstat of PBS nor sshare of Slurm is on the PATH"),
        "{}",
        stderr(&output)
    );
    assert!(!folder.join("site").exists());
    fake(&bin, "sshare", &[]);
    let output = capture(
        folder,
        &bin,
        "site",
        &[("SLURM_CONF", &folder.join("none"))],
    );
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("no command gave anything") && message.contains("sshare.json: "),
        "{message}"
    );
    assert!(!folder.join("site").exists());
}

/// An archive that arrives on standard input is read as the same archive as a file is.
#[test]
fn a_site_is_read_from_standard_input() {
    let temporary = tempfile::tempdir().expect("a folder");
    let archive = temporary.path().join("site.tar");
    let status = Command::new("tar")
        .args([
            "cf",
            archive.to_str().expect("a path"),
            "-C",
            "examples",
            "captured",
        ])
        .current_dir(jsf_testing::ROOT)
        .status();
    assert!(status.expect("tar").success());
    let arguments = |site| ["rank", "ncpus", "--format", "csv", "--site", site];
    let path = archive.display().to_string();
    let from_stdin = command()
        .args(arguments("-"))
        .stdin(File::open(&archive).expect("an archive"))
        .output();
    let from_stdin = success(&from_stdin.expect("jsf"));
    assert_eq!(from_stdin, success(&jsf(&arguments(&path))));
    assert!(from_stdin.lines().count() > 40);
    let junk = jsf_with_input(&arguments("-"), "junk");
    assert_eq!(junk.status.code(), Some(2));
    assert!(
        stderr(&junk).contains("expected a folder or a tar archive"),
        "{}",
        stderr(&junk)
    );
}

#[test]
fn names_have_kind_unit_and_origin() {
    let resources = golden::path("openpbs/qstat/resourcedef");
    let resources = resources.to_str().expect("a path");
    let output = jsf(&[
        "names",
        "--resources",
        resources,
        "--resource",
        "extra=size",
        "--format",
        "json",
    ]);
    let document = json(&output);
    let name = |name: &str| {
        let names = document["names"].as_array().expect("names");
        names
            .iter()
            .find(|found| found["name"] == name)
            .unwrap_or_else(|| panic!("{name}"))
            .clone()
    };
    assert_eq!(name("walltime")["unit"], "s");
    assert_eq!(
        (&name("extra")["kind"], &name("extra")["unit"]),
        (&"size".into(), &"kb".into())
    );
    assert_eq!(name("r_long")["origin"], "declared by the site");
    assert_eq!(name("pow")["kind"], "function");
    assert_eq!(name("fairshare_perc")["origin"], "the scheduler");
    assert!(stdout(&jsf(&["names"])).contains("eligible_time"));
}

#[test]
fn the_captured_example_is_read_and_its_missing_file_is_named() {
    let output = jsf(&["rank", "--site", "examples/captured", "--top", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("is given without the file `usage`"),
        "{}",
        said(&output)
    );
}
