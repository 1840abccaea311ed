use crate::pbs::files::sched_config::*;

fn warned(text: &str) -> Vec<String> {
    SchedConfig::parse(text.as_bytes()).warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn the_shipped_file_is_read_without_a_warning() {
    let text = "# c\nround_robin: False\tall\nby_queue: True\t\tprime\nby_queue: False\t\tnon_prime\n\
        node_sort_key: \"sort_priority HIGH\"\tALL\nfair_share: true\tALL\nfairshare_entity: Account_Name\n\
        fairshare_decay_time: 12:00:00\nfairshare_decay_factor: 0.7\njob_sort_key: \"ncpus HIGH\" PRIME\n\
        job_sort_key: \"mem LOW\"\nunknown_shares: 10\nfairshare_usage_res: ncpus*walltime\n";
    let config = SchedConfig::parse(text.as_bytes());
    assert_eq!(config.warnings, []);
    assert_eq!(config.by_queue, ByTime { prime: true, non_prime: false });
    assert_eq!(config.fair_share, ByTime::always(true));
    assert_eq!(config.fairshare_entity, FairshareEntity::Account);
    assert_eq!((config.fairshare_decay_time, config.fairshare_decay_factor), (43_200, 0.7));
    assert_eq!(config.unknown_shares, 10);
    assert_eq!(config.fairshare_usage_res, "ncpus*walltime");
    let names = |keys: &[SortKey]| keys.iter().map(|key| key.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&config.job_sort_key.prime), ["ncpus", "mem"]);
    assert_eq!(config.job_sort_key.non_prime, [SortKey { name: "mem".into(), first: SortFirst::Low }]);
}

#[test]
fn unknown_shares_reads_as_the_daemon_does() {
    for (value, shares) in [("10", 10), ("abc", -1), ("-5", -1), ("2.9", 2), ("0x10", 0), ("4294967297", 1)] {
        let config = SchedConfig::parse(format!("unknown_shares: {value}").as_bytes());
        assert_eq!(config.unknown_shares, shares, "{value}");
        assert_eq!(config.warnings.is_empty(), value.bytes().all(|byte| byte.is_ascii_digit()), "{value}");
    }
}

#[test]
fn a_bad_value_leaves_the_setting_alone() {
    let text = "fairshare_decay_factor: 1.5\nfairshare_decay_time: soon\nby_queue: perhaps\nfairshare_entity: me\n\
        job_sort_key: ncpus\nby_queue: true sometimes\nno colon\nunknown_share: 3\n";
    let config = SchedConfig::parse(text.as_bytes());
    assert_eq!(SchedConfig { warnings: Vec::new(), ..config.clone() }, SchedConfig::default());
    let told = warned(text);
    assert_eq!(told.len(), 8);
    assert_eq!(
        told[0],
        "line 1: `fairshare_decay_factor` cannot be `1.5`: it is a number between 0 and 1, neither included"
    );
    assert_eq!(told[5], "line 6: `sometimes` is not `PRIME`, `NON_PRIME` or `ALL`");
    assert_eq!(told[6], "line 7: a line is `name: value`, this is `no colon`");
    assert_eq!(told[7], "line 8: `unknown_share` is not a setting of the scheduler");
}

#[test]
fn times_and_quotes() {
    let config =
        SchedConfig::parse(b"by_queue: false Prime\nround_robin: true none\nfairshare_usage_res: 'a * b' all\n");
    assert_eq!((config.by_queue, config.round_robin), (ByTime::always(false), ByTime::always(false)));
    assert_eq!(config.fairshare_usage_res, "a * b");
    let told: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["line 1: `Prime` is not `PRIME`, `NON_PRIME` or `ALL`"]);
    let config = SchedConfig::parse(b"fairshare_usage_res: ncpus * walltime\nunknown_shares: 10 shares\n");
    assert_eq!((config.fairshare_usage_res.as_str(), config.unknown_shares), ("ncpus", 10));
    assert_eq!(config.warnings.len(), 2);
}
