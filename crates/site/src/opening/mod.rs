//! Opening a site: which files it has, and their bytes.
//!
//! In: the path of a folder or an archive, or single files with their roles; a site as one block of
//! bytes. Out: [`SiteFiles`](site_files::SiteFiles), each of which is read within limits,
//! decompressed and checked for the content of its role.

pub mod archive;
pub mod bundle;
pub mod compression;
pub mod file_source;
pub mod file_warnings;
pub mod layout;
pub mod quoted_mail;
pub mod role;
pub mod site_document;
pub mod site_files;
pub mod site_summary;
