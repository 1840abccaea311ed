//! Access to the recorded data in `tests/golden`.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The content of a file; a name that ends in `.gz` is decompressed.
pub fn bytes(name: &str) -> Vec<u8> {
    let bytes = std::fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    if !name.ends_with(".gz") {
        return bytes;
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).expect("gzip");
    unpacked
}

pub fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).expect("UTF-8")
}

/// The records of a JSON Lines file. `NaN` and `Infinity`, which some of them hold although JSON has neither, become null.
pub fn lines<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let text = text(name);
    let parse = |line: &str| serde_json::from_str(&line.replace(" NaN", " null").replace(" Infinity", " null"));
    text.lines().map(|line| parse(line).unwrap_or_else(|error| panic!("{name}: {error}: {line:.80}"))).collect()
}

/// The text in a field of a record.
pub fn field<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_else(|| panic!("no text {name} in {record}"))
}

/// A number in a record, whether it is written as a number or as a text.
pub fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}
