//! Makes snapshots of the recorded server as folders and archives.

use std::fs;
use std::io::Write;
use std::path::Path;

use jsf_testing::golden;

/// The files of a `pbs_snapshot` and the recorded files that they are copies of.
pub const SNAPSHOT: &[(&str, &str)] = &[
    ("server/qstat_Bf.out", "openpbs/qstat/qstat_Bf.txt"),
    ("server/qstat_Qf.out", "openpbs/qstat/qstat_Qf.txt"),
    ("server/qmgr_ps.out", "openpbs/qstat/qmgr_print_server.txt"),
    (
        "server/qmgr_pr.out",
        "openpbs/qstat/qmgr_print_resource.txt",
    ),
    ("job/qstat_f.out", "openpbs/qstat/qstat_f.txt"),
    ("job/qstat_f_F_json.out", "openpbs/qstat/qstat_f.json"),
    ("server_priv/resourcedef", "openpbs/qstat/resourcedef"),
    (
        "scheduler/qmgr_lsched.out",
        "openpbs/qstat/qmgr_list_sched.txt",
    ),
    ("sched_priv/sched_config", "openpbs/qstat/sched_config"),
    ("sched_priv/resource_group", "openpbs/qstat/resource_group"),
    ("sched_priv/usage", "openpbs/qstat/usage"),
    ("sched_priv/sched_formula", "openpbs/qstat/sched_formula"),
];

/// Writes the files of a snapshot whose path `is_wanted`, and one that no site has.
pub fn write_snapshot(folder: &Path, is_wanted: impl Fn(&str) -> bool) {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    };
    for (name, recorded) in SNAPSHOT.iter().filter(|(name, _)| is_wanted(name)) {
        write(name, &golden::bytes(recorded));
    }
    write("ctime", b"20261122_10_15_00\n");
    write("server_logs/20261122", b"a log");
}

/// The folder as a tar archive, with its files below `prefix`.
pub fn tar_of(folder: &Path, prefix: &str) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_dir_all(prefix, folder).expect("an archive");
    archive.into_inner().expect("an archive")
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("gzip");
    encoder.finish().expect("gzip")
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}
