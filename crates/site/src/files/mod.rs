//! The files of a site: what each is read for, where it is found, its bytes, and a site as one block of
//! bytes.

mod archive;
pub mod decompression;
pub mod file_role;
pub mod file_source;
mod found_files;
pub mod site_bundle;
pub mod site_files;
mod site_summary;
