//! Whole sites: rankings, explanations and replays of the example site and of recorded servers.

mod example_site;
mod explain;
mod nodes;
mod public_api;
mod python;
mod reach_rank;
mod read_once;
mod replay;
mod what_if;
