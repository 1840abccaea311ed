//! Access to the recorded data in `tests/golden`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

pub fn path(name: &str) -> PathBuf {
    Path::new(crate::ROOT).join("tests/golden").join(name)
}

/// The content of a file; a name that ends in `.gz` is decompressed.
pub fn bytes(name: &str) -> Vec<u8> {
    let bytes = std::fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    if name.ends_with(".gz") {
        unpacked(&bytes)
    } else {
        bytes
    }
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read;

    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes)
        .read_to_end(&mut unpacked)
        .expect("gzip");
    unpacked
}

pub fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).expect("UTF-8")
}

/// The records of a JSON Lines file. `NaN` and `Infinity`, which some of them hold although JSON
/// has neither, become null.
pub fn lines<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let text = text(name)
        .replace(" NaN", " null")
        .replace(" Infinity", " null");
    let mut records = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(record) => records.push(record),
            Err(error) => panic!("{name}: {error}: {line:.80}"),
        }
    }
    records
}

/// The text in a field of a record.
pub fn field<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name]
        .as_str()
        .unwrap_or_else(|| panic!("no text {name} in {record}"))
}

/// A number in a record, whether it is written as a number or as a text.
pub fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Every recorded tree of Slurm by name.
pub fn slurm_trees() -> BTreeMap<String, Value> {
    let mut trees = BTreeMap::new();
    for entry in std::fs::read_dir(path("slurm")).expect("the folder") {
        let file = entry.expect("an entry").file_name();
        let file = file.to_str().expect("UTF-8");
        if let Some(name) = file.strip_suffix(".json") {
            let document = bytes(&format!("slurm/{file}"));
            let tree = serde_json::from_slice(&document).expect("JSON");
            trees.insert(name.to_owned(), tree);
        }
    }
    // a recording that is not found would be compared with nothing
    assert_eq!(trees.len(), 13);
    trees
}
