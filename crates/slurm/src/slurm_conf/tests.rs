use std::fs;

use crate::slurm_conf::*;

fn messages(conf: &SlurmConf) -> Vec<String> {
    conf.warnings.iter().map(ToString::to_string).collect()
}

fn assert_values(conf: &SlurmConf, expected: &[(&str, &str)]) {
    assert_eq!(conf.values.len(), expected.len());
    for (key, value) in expected {
        assert_eq!(conf.value(key), Some(*value));
    }
}

fn policy(flags: &str) -> (&'static str, Vec<String>) {
    let conf = SlurmConf::parse("s", format!("PriorityFlags={flags}\n").as_bytes(), None);
    (conf.policy, messages(&conf))
}

#[test]
fn an_empty_file_has_the_daemons_defaults() {
    let conf = SlurmConf::parse("s", b"# nothing\n", None);
    assert_eq!(conf, SlurmConf::default());
    assert_eq!(
        (conf.policy, conf.decay_half_life, conf.calc_period),
        ("fair-tree", 604_800, 300)
    );
}

#[test]
fn flags_select_the_policy_as_in_the_daemon() {
    for flags in ["NO_FAIR_TREE", "no_fair_tree,MAX_TRES"] {
        assert_eq!(policy(flags), ("classic", Vec::new()));
    }
    assert_eq!(
        policy("DEPTH_OBLIVIOUS,NO_FAIR_TREE"),
        ("depth-oblivious", Vec::new())
    );
    assert_eq!(policy("ACCRUE_ALWAYS").0, "fair-tree");
    let (chosen, warned) = policy("TICKET_BASED");
    assert_eq!(chosen, "fair-tree");
    assert!(warned[0].contains("removed in 15.08"), "{warned:?}");
    let (chosen, warned) = policy("FAIR_TREE,DEPTH_OBLIVIOUS");
    assert_eq!(chosen, "depth-oblivious");
    assert!(warned[0].ends_with("`FAIR_TREE` is not a priority flag; slurmctld ignores it"));
}

#[test]
fn keys_are_case_insensitive_and_lines_may_be_continued() {
    let text = "CLUSTERNAME=x prioritytype=Priority/Multifactor PriorityFlags = \"NO_FAIR_TREE\" \\\n\
        prioritydecayhalflife=14-0 # two weeks\nPriorityCalcPeriod=0:30 FairShareDampeningFactor=5\n\
        priorityusageresetperiod=Monthly\nNodeName=n1 PriorityType=wrong\n";
    let conf = SlurmConf::parse("s", text.as_bytes(), None);
    let expected = SlurmConf {
        policy: "classic",
        decay_half_life: 1_209_600,
        calc_period: 60,
        dampening_factor: 5,
        // those of the nodes are not compared
        nodes: conf.nodes.clone(),
        values: conf.values.clone(),
        ..SlurmConf::default()
    };
    assert_eq!(conf, expected);
    assert_values(
        &conf,
        &[
            ("PriorityType", "Priority/Multifactor"),
            ("PriorityFlags", "NO_FAIR_TREE"),
            ("PriorityDecayHalfLife", "14-0"),
            ("PriorityCalcPeriod", "0:30"),
            ("PriorityUsageResetPeriod", "Monthly"),
            ("FairShareDampeningFactor", "5"),
            ("ClusterName", "x"),
        ],
    );
    assert_eq!(conf.nodes.len(), 1);
}

#[test]
fn a_value_that_the_daemon_refuses_is_a_warning_and_the_default_is_used() {
    let text = "PriorityDecayHalfLife=soon\nPriorityCalcPeriod=0\nPriorityUsageResetPeriod=hourly\n\
        FairShareDampeningFactor=0\nPriorityWeigthAge=3\nfoo\nPriorityType=priority/basic\nPriorityType=priority/x\n";
    let conf = SlurmConf::parse("s", text.as_bytes(), None);
    let settings = SlurmConf {
        warnings: Vec::new(),
        start_fault: None,
        ..conf.clone()
    };
    assert_eq!(
        settings,
        SlurmConf {
            values: conf.values.clone(),
            ..SlurmConf::default()
        }
    );
    assert_values(&conf, &[("PriorityType", "priority/x")]);
    let starts = [
        "`s`, line 5: `PriorityWeigthAge` is not a Slurm setting",
        "`s`, line 6: `foo` is not `Key=Value`",
        "`s`, line 8: `PriorityType` is on line 7 of `s` too; this line replaces it",
        "`s`, line 1: `PriorityDecayHalfLife` is `soon`, expected a time",
        "`s`, line 2: `PriorityCalcPeriod` is `0`, expected a time of at least one minute",
        "`s`, line 3: `PriorityUsageResetPeriod` is `hourly`, expected `NONE`",
        "`s`, line 4: `FairShareDampeningFactor` is `0`, expected a whole number",
        "`s`, line 8: the plugin `x` is not known",
    ];
    let messages = messages(&conf);
    assert_eq!(messages.len(), starts.len(), "{messages:#?}");
    for (messages, start) in messages.iter().zip(starts) {
        assert!(messages.starts_with(start), "{messages} / {start}");
    }
}

#[test]
fn settings_without_effect_are_warnings() {
    for (text, warning) in [
        (
            "PriorityDecayHalfLife=0",
            "usage neither decays nor is reset",
        ),
        (
            "PriorityType=priority/basic",
            "under `priority/basic` jobs run",
        ),
        (
            "PriorityType=priority/multifactor2",
            "the plugin `multifactor2` is not known",
        ),
    ] {
        let conf = SlurmConf::parse("s", text.as_bytes(), None);
        assert!(messages(&conf)[0].contains(warning));
        assert_eq!(conf.require_start(), Ok(()));
    }
    assert_eq!(
        SlurmConf::parse(
            "s",
            b"PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=YEARLY",
            None
        )
        .warnings,
        []
    );
}

#[test]
fn warnings_of_several_files_have_an_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let main = folder.path().join("slurm.conf");
    fs::write(
        folder.path().join("weights.conf"),
        "PriorityCalcPeriod=x\nPriorityDecayHalfLife=x\n",
    )
    .expect("a file");
    fs::write(
        &main,
        "FairShareDampeningFactor=x\nPriorityUsageResetPeriod=x\nInclude weights.conf\n",
    )
    .expect("a file");
    let text = fs::read(&main).expect("readable");
    let read = || messages(&SlurmConf::parse("a.conf", &text, main.parent()));
    let first = read();
    assert_eq!(first.len(), 4, "{first:#?}");
    for _ in 0..20 {
        assert_eq!(read(), first);
    }
}

#[test]
fn files_are_included_from_the_same_folder_only() {
    let outside = tempfile::tempdir().expect("a folder");
    let folder = outside.path().join("etc");
    fs::create_dir(&folder).expect("a folder");
    fs::create_dir(folder.join("sub")).expect("a folder");
    let include = "ClusterName=x\nInclude ../secret.conf\ninclude here.conf\nInclude %c-nodes.conf\nInclude nowhere\nInclude sub\n";
    for (name, text) in [
        ("secret.conf", "PriorityFlags=NO_FAIR_TREE\n"),
        (
            "etc/here.conf",
            "PriorityFlags=DEPTH_OBLIVIOUS\nInclude here.conf\n",
        ),
        ("etc/x-nodes.conf", "PriorityCalcPeriod=1\n"),
        ("etc/slurm.conf", include),
    ] {
        fs::write(outside.path().join(name), text).expect("a file");
    }
    let main = folder.join("slurm.conf");
    let read = || {
        let name = main.display().to_string();
        SlurmConf::parse(&name, &fs::read(&main).expect("readable"), main.parent())
    };
    let conf = read();
    assert_eq!((conf.policy, conf.calc_period), ("depth-oblivious", 60));
    let messages = messages(&conf);
    assert!(
        messages[0].contains("`../secret.conf` is not included: it is outside the folder"),
        "{}",
        messages[0]
    );
    assert!(
        messages
            .iter()
            .any(|line| line.contains("it is nested in more than 8 `Include`s")),
        "{messages:#?}"
    );
    assert!(
        messages
            .iter()
            .any(|line| line.contains("`sub` is not included: it is not a regular file")),
        "{messages:#?}"
    );
    assert!(
        messages
            .iter()
            .any(|line| line.contains("`nowhere` is not included")),
        "{messages:#?}"
    );
    #[cfg(unix)]
    {
        let secret = outside.path().join("secret.conf");
        std::os::unix::fs::symlink(&secret, folder.join("link.conf")).expect("a link");
        fs::write(
            &main,
            format!("Include link.conf\nInclude {}\n", secret.display()),
        )
        .expect("a file");
        let conf = read();
        assert_eq!((conf.policy, conf.warnings.len()), ("fair-tree", 2));
    }
}

/// What `scontrol show config` of 22.05 prints, shortened.
const SHOW_CONFIG: &str = "\
Configuration data as of 2023-02-28T10:11:12
AccountingStorageBackupHost = (null)
AccountingStorageEnforce = associations,limits,qos
AccountingStoreFlags    = (null)
BOOT_TIME               = 2023-02-01T08:00:00
BurstBufferType         = (null)
ClusterName             = kestrel
DependencyParameters    = (null)
EpilogMsgTime           = 2000 usec
FairShareDampeningFactor = 1
FederationParameters    = (null)
GroupUpdateForce        = 1
HealthCheckInterval     = 0 sec
PriorityParameters      = (null)
PrioritySiteFactorParameters = (null)
PrioritySiteFactorPlugin = (null)
PriorityDecayHalfLife   = 14-00:00:00
PriorityCalcPeriod      = 00:05:00
PriorityFavorSmall      = No
PriorityFlags           = 
PriorityMaxAge          = 7-00:00:00
PriorityUsageResetPeriod = NONE
PriorityType            = priority/multifactor
PriorityWeightAge       = 1000
PriorityWeightTRES      = (null)
SLURM_CONF              = /etc/slurm/slurm.conf
SLURM_VERSION           = 22.05.8
SchedulerParameters     = bf_continue,bf_max_job_test=1000
SlurmctldPort           = 6817-6820

Cgroup Support Configuration:
AllowedRAMSpace         = 100.0%
CgroupPlugin            = (null)

Slurmctld(primary) at head is UP
";

#[test]
fn the_output_of_scontrol_show_config_has_no_false_warnings() {
    let conf = SlurmConf::parse("scontrol.txt", SHOW_CONFIG.as_bytes(), None);
    let expected = SlurmConf {
        decay_half_life: 1_209_600,
        is_printed: true,
        values: conf.values.clone(),
        priority: PrioritySettings {
            weights: [1000, 0, 0, 0, 0, 0],
            ..SlurmConf::default().priority
        },
        ..SlurmConf::default()
    };
    assert_eq!(conf, expected);
    assert_values(
        &conf,
        &[
            ("FairShareDampeningFactor", "1"),
            ("ClusterName", "kestrel"),
            ("PriorityDecayHalfLife", "14-00:00:00"),
            ("PriorityCalcPeriod", "00:05:00"),
            ("PriorityFavorSmall", "No"),
            ("PriorityMaxAge", "7-00:00:00"),
            ("PriorityUsageResetPeriod", "NONE"),
            ("PriorityType", "priority/multifactor"),
            ("PriorityWeightAge", "1000"),
            ("SLURM_VERSION", "22.05.8"),
        ],
    );
    let flags = SHOW_CONFIG.replace(
        "PriorityFlags           = ",
        "PriorityFlags           = ACCRUE_ALWAYS,NO_FAIR_TREE",
    );
    let conf = SlurmConf::parse("scontrol.txt", flags.as_bytes(), None);
    assert_eq!((conf.policy, conf.warnings), ("classic", Vec::new()));
    let basic = SHOW_CONFIG
        .replace("priority/multifactor", "priority/basic")
        .replace("14-00:00:00", "00:00:00");
    let conf = SlurmConf::parse("scontrol.txt", basic.as_bytes(), None);
    let found = messages(&conf);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("`scontrol.txt`, line 23: under `priority/basic`"),
        "{found:?}"
    );
    assert!(
        found[1].contains("usage neither decays nor is reset"),
        "{found:?}"
    );
}

#[test]
fn a_key_without_a_value_is_a_parse_error() {
    let conf = SlurmConf::parse(
        "s",
        b"PriorityFlags=\nSlurmUser = # none\nPriorityType=priority/multifactor x=\n",
        None,
    );
    let expected = [
        "`s`, line 1: `PriorityFlags=` is not `Key=Value`; slurmctld does not start with it",
        "`s`, line 2: `SlurmUser =` is not `Key=Value`; slurmctld does not start with it",
        "`s`, line 3: `x=` is not `Key=Value`; slurmctld does not start with it",
    ];
    assert_eq!(messages(&conf), expected);
    assert_eq!(
        SlurmConf::parse("s", b"PriorityFlags=\"\"\n", None).warnings,
        []
    );
}

#[test]
fn weights_of_resources_have_units_and_an_order() {
    let text = "PriorityWeightTRES=GRES/gpu=3000,Mem=10G,CPU=1.5K,License/lab=-2\n\
        AccountingStorageTRES=license/lab,gres/gpu\nPriorityFavorSmall=maybe\nPriorityWeightQOS=-1\n";
    let conf = SlurmConf::parse("s", text.as_bytes(), None);
    let weights: Vec<(&str, f64)> = conf
        .priority
        .weight_tres
        .iter()
        .map(|tres| (tres.name.as_str(), tres.weight))
        .collect();
    let expected = [
        ("cpu", 1.5 / 1024.0),
        ("mem", 10.0 / 1024.0),
        ("license/lab", -2.0),
        ("gres/gpu", 3000.0),
    ];
    assert_eq!(weights, expected);
    let mut keys: Vec<String> = conf.warnings.iter().map(ToString::to_string).collect();
    keys.sort();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(keys[0].contains("PriorityFavorSmall") && keys[1].contains("PriorityWeightQOS"));
}

#[test]
fn nodes_and_partitions_have_the_values_of_their_defaults() {
    let text = "NodeName=DEFAULT CPUs=8\nNodeName=n[1-3] RealMemory=5\nNodeName=big CPUs=64\n\
        PartitionName=DEFAULT PriorityJobFactor=7\nPartitionName=a Nodes=ALL\nPartitionName=b PriorityJobFactor=2\n";
    let objects = SlurmConf::parse("s", text.as_bytes(), None);
    let cpus = objects.nodes.iter().map(|node| node.number::<u32>("CPUs"));
    assert_eq!(cpus.collect::<Vec<_>>(), [8, 8, 8, 64].map(Some));
    let factors = objects.partitions.iter();
    let factors = factors.map(|partition| partition.number::<u32>("PriorityJobFactor"));
    assert_eq!(factors.collect::<Vec<_>>(), [7, 2].map(Some));
}

#[test]
fn ranges_keep_their_zeros() {
    assert_eq!(
        expand("n[1-2,8],g[08-10]x,single"),
        ["n1", "n2", "n8", "g08x", "g09x", "g10x", "single"]
    );
    assert_eq!(expand("r[1-2]c[1-2]"), ["r1c1", "r1c2", "r2c1", "r2c2"]);
    assert_eq!(expand("n[1-99999999999]").len(), MAX_NAMES);
    assert!(expand("n[a-b]").is_empty());
}

#[test]
fn an_include_is_a_word_and_a_file() {
    assert_eq!(include_target("iNclude  x.conf"), Some("x.conf"));
    assert_eq!(include_target("Includes=x"), None);
    assert_eq!(include_target("Include = x"), None);
}

#[test]
fn a_line_may_have_several_settings() {
    let found = split_settings("a=1  B = \"two words\" c+=3,4 d");
    assert_eq!(
        found,
        [
            Ok(("a", "1")),
            Ok(("B", "two words")),
            Ok(("c", "3,4")),
            Err("d")
        ]
    );
}

#[test]
fn an_infinite_time_is_136_years() {
    assert_eq!(
        stored_seconds(parse_minutes("unlimited").expect("a time")),
        4_294_967_236
    );
}

#[test]
fn lines_are_joined_and_comments_removed() {
    let text = "# c\na=1 \\ # more\n  b=2\n\nc=\\#x\\\\ # d\n last \\";
    let expected = [(2, "a=1   b=2"), (5, "c=#x\\"), (6, "last")];
    let expected = expected.map(|(number, line)| (number, line.to_owned()));
    assert_eq!(logical_lines(text), expected);
}
