//! The association tree, as plain nodes, and the one door for all the texts that carry one.

mod assemble;
mod association;
mod error;
mod format;
mod ladder;
mod raw_shares;
mod sacctmgr_file;
mod show_assoc;
mod sshare_json;
mod sshare_rows;
mod table;
mod warning;

pub use association::{Association, AssociationKind, AssociationTree};
pub use error::{Place, RowFault, TreeReadError};
pub use format::TreeFormat;
pub use raw_shares::{MOST_SHARES, PARENT_SHARES};
pub use warning::TreeWarning;

pub(super) use assemble::UNNAMED_PARTITION;
use assemble::assemble;
use error::Source;

/// The longest document that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 30;
/// The most associations that are read.
pub const MAX_ASSOCIATIONS: usize = 1_000_000;
/// The longest name that is read, in bytes.
pub const MAX_NAME: usize = 4096;

/// Reads a document with Slurm's associations, whichever of the [`TreeFormat`]s it has; it is told by its content.
///
/// Of several clusters the first is read. What Slurm itself puts up with is put up with and said in
/// [`AssociationTree::warnings`]; what would make the tree another one is an error.
///
/// ```
/// let text = "Account|User|RawShares|NormShares|RawUsage\nroot|||1.0|70\n a||40|1.0|50\n  a|ann|parent|1.0|30\n";
/// let tree = job_sort_formula::slurm::read_tree("sshare.txt", text.as_bytes())?;
/// assert_eq!((tree.nodes[0].name.as_str(), tree.nodes[0].usage), ("a", 20.0));
/// assert_eq!(tree.share_tree()?.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TreeReadError`], with the line where there is one.
pub fn read_tree(source_name: &str, bytes: &[u8]) -> Result<AssociationTree, TreeReadError> {
    let source = Source(source_name);
    if bytes.len() > MAX_BYTES {
        return Err(TreeReadError::TooLong { source_name: source_name.to_owned() });
    }
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let format = TreeFormat::of(source, &text)?;
    let mut records = match format {
        TreeFormat::Sshare => sshare_rows::read(source, &text)?,
        TreeFormat::SshareJson => sshare_json::read(source, &text)?,
        TreeFormat::ShowAssoc => show_assoc::read(source, &text)?,
        TreeFormat::SacctmgrFile => sacctmgr_file::read(source, &text)?,
    };
    if format != TreeFormat::SshareJson && !text.ends_with('\n') {
        records.warnings.push(TreeWarning::NoLineEnd { place: Place::Line(text.lines().count()) });
    }
    assemble(source, records)
}

#[cfg(test)]
mod tests;
