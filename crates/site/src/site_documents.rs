//! The documents that describe the server, its queues or its resources, or have a formula: each is
//! read, recognised and parsed once.

use jsf_ingest::FileKind;
use jsf_openpbs::files::objects::Objects;
use jsf_openpbs::files::server::is_resource_name;

use crate::{FileSource, Role, SiteError, SiteFiles};

/// A file of the site, read and recognised once.
#[derive(Debug)]
pub struct SiteText<'f> {
    source: &'f FileSource,
    text: String,
    kind: FileKind,
}

impl<'f> SiteText<'f> {
    pub fn read(source: &'f FileSource, role: Role) -> Result<Self, SiteError> {
        let content = source.read_unless_binary(role)?;
        Ok(Self {
            source,
            kind: content.kind,
            text: content.into_text(),
        })
    }

    /// Reads all files that describe the server, its queues or its resources, or have a formula.
    pub fn read_all(files: &'f SiteFiles) -> Result<Vec<Self>, SiteError> {
        let mut texts: Vec<Self> = Vec::new();
        for role in [
            Role::Server,
            Role::Queues,
            Role::Resources,
            Role::Formula,
            Role::SchedFormula,
        ] {
            for source in files.all(role) {
                if texts.iter().all(|known| known.source != source) {
                    texts.push(Self::read(source, role)?);
                }
            }
        }
        Ok(texts)
    }

    /// Whether it may be a `resourcedef` that only lists names, which looks like plain text.
    fn is_list_of_names(&self) -> bool {
        if self.kind != FileKind::Text {
            return false;
        }
        for line in self.text.trim_start_matches('\u{feff}').lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_comment_or_name = match *words {
                [] => true,
                [word] => word.starts_with('#') || is_resource_name(word),
                _ => false,
            };
            if !is_comment_or_name {
                return false;
            }
        }
        true
    }
}

/// A document of the site, parsed once.
#[derive(Debug)]
pub struct SiteDocument<'d> {
    pub source: &'d FileSource,
    /// Its name in messages.
    pub name: String,
    pub kind: FileKind,
    pub objects: Objects<'d>,
}

impl<'d> SiteDocument<'d> {
    pub fn new(read: &'d SiteText<'d>) -> Self {
        let is_resourcedef = read.kind == FileKind::ResourceDef || read.is_list_of_names();
        Self {
            source: read.source,
            name: read.source.name(),
            kind: read.kind,
            objects: if is_resourcedef {
                Objects::read_resourcedef(&read.text)
            } else {
                Objects::read(&read.text)
            },
        }
    }

    /// Refuses a document of a kind that the role does not accept.
    pub fn require(&self, role: Role) -> Result<(), SiteError> {
        let text = self.objects.text.as_bytes();
        role.require(self.kind, &self.name, text)
    }

    /// Whether the server wrote it, as an answer of qstat or of `qmgr`.
    pub fn is_of_server(&self) -> bool {
        matches!(self.kind, FileKind::Server | FileKind::Qmgr)
    }
}

/// The documents of these files.
pub fn parsed<'d>(
    documents: &'d [SiteDocument<'d>],
    sources: &[FileSource],
) -> Vec<&'d SiteDocument<'d>> {
    let mut parsed = Vec::new();
    for source in sources {
        parsed.extend(documents.iter().find(|document| document.source == source));
    }
    parsed
}
