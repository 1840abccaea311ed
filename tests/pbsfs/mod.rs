//! The `pbsfs` command.

mod calls;
mod files;
