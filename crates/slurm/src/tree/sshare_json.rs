//! The output of `sshare -a --json`.

use job_sort_formula::fairshare::{NodeKind, Release, Shares};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::non_empty;
use crate::tree::records::{Record, Records, invalid_usage, no_shares};
use crate::tree::{Place, json_error};

#[derive(Deserialize)]
struct SshareJsonDocument<'d> {
    #[serde(borrow)]
    shares: Outer<'d>,
    /// The release that wrote the document; a `meta` of another structure is ignored.
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

/// An association. Its other keys are ignored: they hold what a policy computed.
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
    #[serde(default)]
    shares_normalized: Option<Number>,
    #[serde(default)]
    fairshare: Option<Fairshare>,
    usage: Number,
    r#type: Types,
}

/// A number, plain or in an object with flags, depending on the release.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`shares` or `usage` is neither a number nor an object with `set` and `number`"
)]
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

/// The fair-share factor; a value of another structure is ignored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Fairshare {
    Factor { factor: Number },
    Other(serde::de::IgnoredAny),
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

pub fn read(text: &str) -> Result<Records, String> {
    let document: SshareJsonDocument<'_> = serde_json::from_str(text).map_err(json_error)?;
    let mut records = Records::default();
    if let Some(meta) = document.meta
        && let Ok(meta) = serde_json::from_str::<Meta>(meta.get())
    {
        records.release = Release::from_version(&meta.slurm.release);
    }
    for (index, raw) in document.shares.shares.into_iter().enumerate() {
        let place = Place::Entry(index + 1);
        let entry: Entry = serde_json::from_str(raw.get())
            .map_err(|error| place.fault(without_place(&error.to_string())))?;
        if !records.is_of_other_cluster(place, &entry.cluster) {
            push(&mut records, place, entry)?;
        }
    }
    records.usage_known = true;
    records.finish_clusters();
    Ok(records)
}

fn push(records: &mut Records, place: Place, entry: Entry) -> Result<(), String> {
    let kind = if entry.r#type.is_user() {
        NodeKind::Entity
    } else {
        NodeKind::Group
    };
    let Entry {
        name,
        parent,
        partition,
        ..
    } = entry;
    let parent = non_empty(parent);
    let shares = match entry.shares.value() {
        _ if parent.is_none() => Shares::Count(1),
        None => return Err(no_shares(place, &name)),
        Some(number) => records.shares(place, &name, &number.trunc().to_string())?,
    };
    let usage = entry.usage.value().unwrap_or(0.0);
    if !(usage.is_finite() && usage >= 0.0) {
        return Err(invalid_usage(place, &name, &usage.to_string()));
    }
    let norm_shares = entry.shares_normalized.as_ref().and_then(Number::value);
    let fairshare = match entry.fairshare {
        // an account has 0 where the text has a blank
        Some(Fairshare::Factor { factor }) if kind == NodeKind::Entity => factor.value(),
        _ => None,
    };
    records.push(Record {
        place,
        kind,
        name,
        parent,
        partition,
        shares,
        usage,
        norm_shares,
        fairshare,
    })
}

/// The reason without its line and column, which count from the start of the entry.
fn without_place(reason: &str) -> &str {
    reason.split(" at line ").next().unwrap_or(reason)
}
