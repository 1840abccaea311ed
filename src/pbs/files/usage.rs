//! The file `sched_priv/usage`: what every entity has used, binary and little-endian.
//!
//! Version 2 is a header (`char tag[9]` = `PBS_MAG!`, 7 bytes of padding, `double` 2.0), the `int64` time of the last
//! decay, and records of 64 bytes (`char name[50]`, 6 of padding, `double`). Version 1 has no header and records of 24
//! bytes (`char name[9]`, 7 of padding, `double`). The daemon takes whatever bears no tag for version 1, leaves a
//! file of another version alone and one whose decay was too long ago, drops the record that it cannot use and a last
//! one that is cut short, and says nothing; here each of these is a [`UsageFault`]. Recorded in
//! `tests/golden/openpbs/pbsfs`, cases 20 and 60 to 89; what no case shows (old decay times, the characters of a name,
//! long names in version 1) is as OpenPBS's published sources have it.

use std::io::{self, Read};

use crate::fairshare::decay::IntervalDecay;
use crate::pbs::c_string::{c_string, name_text};

/// The most bytes that a usage file may have: room for four million entities.
pub const MAX_BYTES: usize = 256 << 20;
/// With a time of the last decay up to this one, but for 0, nothing of the file is read: 1 January 2000, Los Angeles,
/// in Unix seconds.
pub const EARLIEST_DECAY: i64 = 946_713_600;

/// The usage of an entity that has used nothing, and the least that decay leaves of any.
pub const MIN_USAGE: f64 = IntervalDecay::FLOOR;

pub(super) const TAG: &[u8; 9] = b"PBS_MAG!\0";
const HEADER: usize = 24;
const FIRST_RECORD: usize = HEADER + 8;

/// How the records lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Headerless, names of 8 bytes; longer ones go on through the padding.
    V1,
    /// With a header, names of at most 49 bytes.
    V2,
}

impl Layout {
    /// How far the daemon looks for the NUL that ends a name: in version 1 as far as in version 2, and so past the
    /// field, the padding and the number.
    fn name_bytes(self) -> usize {
        match self {
            Self::V1 => self.record_bytes(),
            Self::V2 => 50,
        }
    }

    fn record_bytes(self) -> usize {
        match self {
            Self::V1 => 24,
            Self::V2 => 64,
        }
    }
}

/// What an entity has used.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRecord {
    /// The entity; may be empty.
    pub entity: String,
    /// Its usage in units of `fairshare_usage_res`: at least 0, possibly infinite.
    pub usage: f64,
    /// Where the record starts in the file, in bytes.
    pub offset: usize,
}

/// Something in the file that the daemon silently passes over.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UsageFault {
    /// Too short for a header, or for one record of a headerless file.
    #[error("the file ends at byte {0}, before its first record")]
    TooShort(usize),
    /// The tag is there, but the version is not 2.
    #[error("byte 16: version {0} is not known, nothing was read")]
    UnknownVersion(f64),
    /// Usage was last decayed before there were files of version 2.
    #[error("byte 24: the time {0} of the last decay is too long ago, nothing was read")]
    OldDecay(i64),
    /// The last record is incomplete.
    #[error("byte {offset}: the last record has only {bytes} bytes and is left out")]
    CutShort {
        /// Where the record starts.
        offset: usize,
        /// How many bytes of it there are.
        bytes: usize,
    },
    /// The usage is negative or not a number.
    #[error("byte {offset}: the usage {usage} of `{entity}` is not a number of at least 0, the record is left out")]
    BadUsage {
        /// Where the number starts.
        offset: usize,
        /// The entity.
        entity: String,
        /// Its usage.
        usage: f64,
    },
    /// The name fills its field without a NUL, or has a byte other than ASCII letters, digits, blanks and `.-_:`.
    #[error("byte {offset}: `{name}` is not a name, the record is left out")]
    BadName {
        /// Where the name starts.
        offset: usize,
        /// The name, as far as it goes.
        name: String,
    },
}

/// Why a usage file was not read.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// More than [`MAX_BYTES`].
    #[error("the usage file has more than {MAX_BYTES} bytes")]
    TooLarge,
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A usage file: the records in force, in file order, and what was passed over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UsageFile {
    /// How the records lie; `None` when there are none to be read.
    pub layout: Option<Layout>,
    /// When usage was last decayed, in Unix seconds; `None` where the file does not say, or says 0.
    pub last_decay: Option<i64>,
    /// The records in force. An entity may have several; the last one holds, though groups add them all up.
    pub records: Vec<UsageRecord>,
    /// What was passed over, in file order.
    pub faults: Vec<UsageFault>,
}

impl UsageFile {
    /// Reads at most [`MAX_BYTES`] and parses them.
    ///
    /// # Errors
    /// [`UsageError`]: larger than that, or not readable.
    pub fn read(source: impl Read) -> Result<Self, UsageError> {
        let mut file = Vec::new();
        source.take(MAX_BYTES as u64 + 1).read_to_end(&mut file)?;
        Self::parse(&file)
    }

    /// Parses a whole file.
    ///
    /// # Errors
    /// [`UsageError::TooLarge`] only: anything else is read as far as the daemon would.
    pub fn parse(file: &[u8]) -> Result<Self, UsageError> {
        if file.len() > MAX_BYTES {
            return Err(UsageError::TooLarge);
        }
        let mut read = Self::default();
        match first_bytes(file) {
            None => read.faults.push(UsageFault::TooShort(file.len())),
            Some((tag, _)) if tag != TAG => read.take_records(file, 0, Layout::V1),
            Some((_, version)) if version != 2.0 => read.faults.push(UsageFault::UnknownVersion(version)),
            Some(_) => read.take_v2(file),
        }
        Ok(read)
    }

    fn take_v2(&mut self, file: &[u8]) {
        match file.get(HEADER..).and_then(|rest| rest.first_chunk::<8>()) {
            None => self.faults.push(UsageFault::TooShort(file.len())),
            Some(&bytes) => match i64::from_le_bytes(bytes) {
                time @ ..=EARLIEST_DECAY if time != 0 => self.faults.push(UsageFault::OldDecay(time)),
                time => {
                    self.last_decay = Some(time).filter(|&time| time != 0);
                    self.take_records(file, FIRST_RECORD, Layout::V2);
                }
            },
        }
    }

    fn take_records(&mut self, file: &[u8], first: usize, layout: Layout) {
        self.layout = Some(layout);
        let size = layout.record_bytes();
        for (index, record) in file[first..].chunks(size).enumerate() {
            let offset = first + index * size;
            match parse_record(record, offset, layout) {
                Ok(record) => self.records.push(record),
                Err(fault) => self.faults.push(fault),
            }
        }
    }
}

/// The tag and the version, if the file has so much as a header.
fn first_bytes(file: &[u8]) -> Option<(&[u8], f64)> {
    let header = file.get(..HEADER)?;
    Some((&header[..TAG.len()], last_double(header)?))
}

fn parse_record(record: &[u8], offset: usize, layout: Layout) -> Result<UsageRecord, UsageFault> {
    let cut_short = UsageFault::CutShort { offset, bytes: record.len() };
    if record.len() < layout.record_bytes() {
        return Err(cut_short);
    }
    let usage = last_double(record).ok_or(cut_short)?;
    let field = &record[..layout.name_bytes()];
    let name = c_string(field);
    let entity = name_text(name);
    if name.len() == field.len() || !name.iter().all(|&byte| is_name_byte(byte)) {
        return Err(UsageFault::BadName { offset, name: entity });
    }
    if usage >= 0.0 {
        Ok(UsageRecord { entity, usage, offset })
    } else {
        Err(UsageFault::BadUsage { offset: offset + record.len() - 8, entity, usage })
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-_ :".contains(&byte)
}

fn last_double(bytes: &[u8]) -> Option<f64> {
    bytes.last_chunk::<8>().map(|&bytes| f64::from_le_bytes(bytes))
}

/// What one step of decay leaves: the usage times the factor, a C `float`, and never less than [`MIN_USAGE`].
pub fn decayed(usage: f64, factor: f32) -> f64 {
    IntervalDecay::new(factor, 1).step(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v2(records: &[(&[u8], f64)]) -> Vec<u8> {
        let mut file = [&TAG[..], &[0; 7], &2f64.to_le_bytes(), &1_700_000_000i64.to_le_bytes()].concat();
        for (name, usage) in records {
            let mut field = name.to_vec();
            field.resize(56, 0);
            file.extend([&field[..], &usage.to_le_bytes()].concat());
        }
        file
    }

    fn told(file: &[u8]) -> Vec<String> {
        UsageFile::parse(file).map(|read| read.faults.iter().map(ToString::to_string).collect()).unwrap_or_default()
    }

    #[test]
    fn a_fault_names_its_byte() {
        let long = [b'n'; 50];
        let mut file = v2(&[(b"Bob", 1.5), (b"Cathy", f64::NAN), (&long, 2.0), (b"\xff", 3.0), (b"Suzy", -1.0)]);
        file.extend(b"Scott");
        let read = UsageFile::parse(&file).expect("small enough");
        assert_eq!(read.records, [UsageRecord { entity: "Bob".into(), usage: 1.5, offset: 32 }]);
        assert_eq!(read.last_decay, Some(1_700_000_000));
        assert_eq!(
            told(&file),
            [
                "byte 152: the usage NaN of `Cathy` is not a number of at least 0, the record is left out".to_owned(),
                format!("byte 160: `{}` is not a name, the record is left out", "n".repeat(50)),
                "byte 224: `\\xff` is not a name, the record is left out".to_owned(),
                "byte 344: the usage -1 of `Suzy` is not a number of at least 0, the record is left out".to_owned(),
                "byte 352: the last record has only 5 bytes and is left out".to_owned(),
            ]
        );
    }

    #[test]
    fn what_has_no_tag_is_taken_for_version_1() {
        let mut file = v2(&[]);
        file[..9].copy_from_slice(b"alice.b-c");
        let read = UsageFile::parse(&file).expect("small enough");
        assert_eq!(read.layout, Some(Layout::V1));
        assert_eq!(read.records, [UsageRecord { entity: "alice.b-c".into(), usage: 2.0, offset: 0 }]);
        assert_eq!(told(&file), ["byte 24: the last record has only 8 bytes and is left out"]);
        file[8] = b'!';
        assert_eq!(told(&file)[0], "byte 0: `alice.b-!` is not a name, the record is left out");
        assert_eq!(told(&[b'n'; 24]), [format!("byte 0: `{}` is not a name, the record is left out", "n".repeat(24))]);
    }

    #[test]
    fn headers_that_are_no_good() {
        assert_eq!(told(b"PBS_MAG!\0\0"), ["the file ends at byte 10, before its first record"]);
        assert_eq!(told(&v2(&[])[..24]), ["the file ends at byte 24, before its first record"]);
        let mut file = v2(&[(b"Bob", 5.0)]);
        file[16..24].copy_from_slice(&3f64.to_le_bytes());
        assert_eq!(told(&file), ["byte 16: version 3 is not known, nothing was read"]);
    }

    #[test]
    fn a_decay_too_long_ago() {
        let decayed_at = |time: i64| {
            let mut file = v2(&[(b"Bob", 5.0)]);
            file[24..32].copy_from_slice(&time.to_le_bytes());
            file
        };
        for (time, records) in [(0, 1), (EARLIEST_DECAY + 1, 1), (i64::MAX, 1), (EARLIEST_DECAY, 0), (1, 0), (-1, 0)] {
            let read = UsageFile::parse(&decayed_at(time)).expect("small enough");
            assert_eq!((read.records.len(), read.faults.len()), (records, 1 - records), "{time}");
            assert_eq!(read.last_decay, Some(time).filter(|&time| records == 1 && time != 0));
        }
        assert_eq!(told(&decayed_at(-1)), ["byte 24: the time -1 of the last decay is too long ago, nothing was read"]);
    }
}
