//! Fair-share trees and policies.

mod policy_properties;
mod trees;
