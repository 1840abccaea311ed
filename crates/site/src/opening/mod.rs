//! Opening a site: which files it has, and their bytes.
//!
//! In: the path of a folder or an archive, or single files with their roles; a site as one block of
//! bytes. Out: [`SiteFiles`](site_files::SiteFiles), each of which is read within limits,
//! decompressed and checked for the content of its role.

pub(crate) mod archive;
pub(crate) mod bundle;
pub(crate) mod compression;
pub(crate) mod file_source;
pub(crate) mod file_warnings;
pub(crate) mod layout;
pub(crate) mod quoted_mail;
pub(crate) mod role;
pub(crate) mod site_document;
pub(crate) mod site_files;
pub(crate) mod site_summary;
