//! A file of `sacctmgr dump`, or one written by hand for `sacctmgr load`.
//!
//! It is read as `sacctmgr load` reads it: that stops at a line that it cannot use, ignores a line
//! without `-` and a repeated line for an association, and adds the associations before the first
//! `Parent` line to the root.

use std::collections::HashSet;

use job_sort_formula::fairshare::{NodeKind, Shares};
use jsf_json::clipped;

use crate::logical_lines::logical_lines;
use crate::non_empty;
use crate::tree::Place;
use crate::tree::records::{ROOT, Record, Records};

/// The longest line that `sacctmgr load` does not split, in bytes.
const MAX_LINE_BYTES: usize = 4095;

struct Reader {
    records: Records,
    /// The accounts that a `Parent` line may name.
    declared_accounts: HashSet<String>,
    parent: String,
}

/// The name and the `key=value` options on a line.
#[derive(Debug, Default)]
struct Options {
    name: Option<String>,
    shares: Option<String>,
    partition: String,
}

pub fn read(text: &str) -> Result<Records, String> {
    let mut reader = Reader {
        records: Records::default(),
        declared_accounts: HashSet::from([ROOT.to_owned()]),
        parent: ROOT.to_owned(),
    };
    for line in logical_lines(text) {
        reader.read_line(Place::Line(line.number), &line.text)?;
    }
    Ok(reader.records)
}

impl Reader {
    fn read_line(&mut self, place: Place, line: &str) -> Result<(), String> {
        let Some((object, rest)) = line.split_once('-') else {
            let text = "the line has no ` - `; `sacctmgr load` ignores it";
            self.records.warn_at(place, text);
            return Ok(());
        };
        if line.len() > MAX_LINE_BYTES {
            let text = "the line is longer than 4095 bytes; it is read as one line, but `sacctmgr load` splits it";
            self.records.warn_at(place, text);
        }
        let object = object.trim();
        let keyword = object.to_ascii_lowercase();
        match keyword.as_str() {
            "qos" => return Ok(()),
            "cluster" | "machine" | "parent" | "account" | "project" | "user" => {}
            _ => {
                return Err(place.fault(format_args!(
                        "`{}` is not an object of `sacctmgr load`, expected `Cluster`, `Parent`, `Account`, `User` or `QOS`",
                        clipped(object)
                    ),
                ));
            }
        }
        let options = Options::parse(rest).map_err(|text| place.fault(text))?;
        let Some(name) = options.name.clone() else {
            let found = clipped(rest.trim());
            return Err(place.fault(format_args!(
                "there is no name in `{found}`, expected `{object} - 'name':key=value`"
            )));
        };
        match keyword.as_str() {
            "cluster" | "machine" => self.set_cluster(place, name),
            "parent" => self.set_parent(place, name.to_ascii_lowercase()),
            "user" => self.add_association(place, NodeKind::Entity, name, options),
            _ => self.add_association(place, NodeKind::Group, name.to_ascii_lowercase(), options),
        }
    }

    fn set_cluster(&mut self, place: Place, name: String) -> Result<(), String> {
        match &self.records.cluster {
            Some(first) => Err(place.fault(format_args!(
                "`{name}` is a second cluster after `{first}`; `sacctmgr load` takes one at a time"
            ))),
            None => {
                self.records.cluster = Some(name.to_ascii_lowercase());
                Ok(())
            }
        }
    }

    fn set_parent(&mut self, place: Place, name: String) -> Result<(), String> {
        if !self.declared_accounts.contains(&name) {
            return Err(place.fault(format_args!(
                "`{name}` is not an account on a line above, so it cannot be a parent"
            )));
        }
        self.parent = name;
        Ok(())
    }

    fn add_association(
        &mut self,
        place: Place,
        kind: NodeKind,
        name: String,
        options: Options,
    ) -> Result<(), String> {
        let shares = match options.shares {
            None => Shares::Count(1),
            Some(text) => self.records.shares(place, &name, &text)?,
        };
        if kind == NodeKind::Group {
            self.declared_accounts.insert(name.clone());
        } else if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            let text = format!(
                "user `{name}` keeps its capital letters here, but slurmdbd stores the name in lower case unless it \
                 has `PreserveCaseUser`"
            );
            self.records.warn_at(place, text);
        }
        self.records.push(Record {
            place,
            kind,
            name,
            parent: Some(self.parent.clone()),
            partition: options.partition,
            shares,
            usage: 0.0,
            norm_shares: None,
            fairshare: None,
        })
    }
}

impl Options {
    /// Parses a name and `key=value` options, separated by `:`, in any order:
    /// `'name':key='value':key=value`.
    fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for part in parts(text.trim())? {
            match part.split_once('=') {
                // also `key+=value` and `key-=value`
                Some((key, value)) => {
                    options.set(key.trim_end_matches(['+', '-']), unquoted(value))
                }
                None if part.trim().is_empty() => {}
                None if options.name.is_some() => {
                    return Err(format!(
                        "`{}` is not an option, expected `key=value`",
                        clipped(part)
                    ));
                }
                None => options.name = non_empty(unquoted(part)),
            }
        }
        Ok(options)
    }

    /// A key may be abbreviated to any prefix, `shares` to two letters or more. Unknown keys and
    /// empty values have no effect.
    fn set(&mut self, key: &str, value: String) {
        let key = key.trim().to_ascii_lowercase();
        if value.is_empty() || key.is_empty() {
            return;
        }
        if "partition".starts_with(&key) {
            self.partition = value;
        } else if "fairshare".starts_with(&key) || (key.len() > 1 && "shares".starts_with(&key)) {
            self.shares = Some(value);
        }
    }
}

/// Splits at the colons that are not inside quotation marks.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let mut quote = None;
    let mut start = 0;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ':') => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    if quote.is_some() {
        Err("a quotation mark is not closed".to_owned())
    } else {
        Ok(parts)
    }
}

/// The text without the blanks and the quotation marks around it.
fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['\'', '"']).to_owned()
}
