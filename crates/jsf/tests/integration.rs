//! The command `jsf` as a user runs it.

mod ci_recipes;
mod cli;
mod command;
mod finding_pages;
mod frozen;
mod fuzzing;
mod pbsfs;
mod report;
mod requests;
mod screens;
mod site;
