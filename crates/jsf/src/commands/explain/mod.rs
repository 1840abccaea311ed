//! `jsf explain`: why jobs have their places in the queue, for people, who read the answer in one
//! sentence and then the numbers behind it, and as JSON.

pub mod answer;
pub mod question;
mod reasons;
#[cfg(feature = "command")]
pub mod run;
mod view;
