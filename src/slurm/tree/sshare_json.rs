//! `sshare -a --json`.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fairshare::{Release, Shares};
use crate::slurm::tree::assemble::{Record, Records};
use crate::slurm::tree::error::Source;
use crate::slurm::tree::format::json_error;
use crate::slurm::tree::raw_shares::shares_of_number;
use crate::slurm::tree::{AssociationKind, Place, RowFault, TreeFormat, TreeReadError, TreeWarning};

#[derive(Deserialize)]
struct Document<'d> {
    #[serde(borrow)]
    shares: Outer<'d>,
    /// Which Slurm wrote the document; a document with another `meta` is read all the same.
    #[serde(borrow, default)]
    meta: Option<&'d RawValue>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(alias = "Slurm")]
    slurm: Version,
}

#[derive(Deserialize)]
struct Version {
    release: String,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with a list `shares`")]
struct Outer<'d> {
    #[serde(borrow)]
    shares: Vec<&'d RawValue>,
}

/// An association. All else that it says is what a policy made of it.
#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(default)]
    parent: String,
    #[serde(default)]
    partition: String,
    #[serde(default)]
    cluster: String,
    shares: Number,
    usage: Number,
    r#type: Types,
}

/// A number, plain or with its flags; both are in use.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`shares` or `usage` is neither a number nor an object with `set` and `number`")]
enum Number {
    Whole(i64),
    Real(f64),
    Flagged { set: bool, number: f64 },
}

impl Number {
    fn value(&self) -> Option<f64> {
        match *self {
            Self::Whole(number) => Some(number as f64),
            Self::Real(number) => Some(number),
            Self::Flagged { set, number } => set.then_some(number),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`type` is neither a text nor a list of texts")]
enum Types {
    One(String),
    Several(Vec<String>),
}

impl Types {
    fn is_user(&self) -> bool {
        match self {
            Self::One(kind) => kind == "USER",
            Self::Several(kinds) => kinds.iter().any(|kind| kind == "USER"),
        }
    }
}

pub(super) fn read(source: Source<'_>, text: &str) -> Result<Records, TreeReadError> {
    let document: Document<'_> = serde_json::from_str(text).map_err(|error| json_error(source, &error))?;
    let mut records = Records { usage_known: true, ..Records::of(TreeFormat::SshareJson) };
    let meta = document.meta.and_then(|meta| serde_json::from_str::<Meta>(meta.get()).ok());
    records.release = meta.and_then(|meta| Release::from_version(&meta.slurm.release));
    let mut others: Option<(Place, String, usize)> = None;
    for (index, raw) in document.shares.shares.into_iter().enumerate() {
        let place = Place::Entry(index + 1);
        let entry: Entry = serde_json::from_str(raw.get())
            .map_err(|error| source.at(place, RowFault::Entry(without_place(&error.to_string()))))?;
        if *records.cluster.get_or_insert_with(|| entry.cluster.clone()) != entry.cluster {
            others.get_or_insert_with(|| (place, entry.cluster.clone(), 0)).2 += 1;
            continue;
        }
        push(source, &mut records, place, entry)?;
    }
    records.cluster = records.cluster.filter(|cluster| !cluster.is_empty());
    if let Some((place, cluster, rows)) = others {
        let read = records.cluster.clone().unwrap_or_default();
        records.warnings.push(TreeWarning::OtherCluster { place, cluster, rows, read });
    }
    Ok(records)
}

fn push(source: Source<'_>, records: &mut Records, place: Place, entry: Entry) -> Result<(), TreeReadError> {
    let kind = if entry.r#type.is_user() { AssociationKind::User } else { AssociationKind::Account };
    let Entry { name, parent, partition, .. } = entry;
    let parent = Some(parent).filter(|parent| !parent.is_empty());
    let shares = match entry.shares.value() {
        _ if parent.is_none() => Shares::Count(1),
        None => return Err(source.at(place, RowFault::NoShares(name))),
        Some(number) => records.note_shares(place, &name, &number.to_string(), shares_of_number(number as i64)),
    };
    let usage = entry.usage.value().unwrap_or(0.0);
    if !(usage.is_finite() && usage >= 0.0) {
        return Err(source.at(place, RowFault::Usage { name, text: usage.to_string() }));
    }
    records.push(source, Record { place, kind, name, parent, partition, shares, usage })
}

/// The reason without the line and column, which are counted inside the entry.
fn without_place(reason: &str) -> String {
    reason.split(" at line ").next().unwrap_or(reason).to_owned()
}
