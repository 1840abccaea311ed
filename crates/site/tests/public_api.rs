//! What other programs rely on: the list of public items, and of their methods.

use std::path::Path;

use jsf_testing::public_items::assert_public_items;

/// The most public items that the library may have.
const MAX_PUBLIC_ITEMS: usize = 63;

#[test]
fn the_public_items_and_methods_are_those_of_the_list() {
    assert_public_items(Path::new(env!("CARGO_MANIFEST_DIR")), MAX_PUBLIC_ITEMS);
}
