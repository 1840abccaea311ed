//! A page on which one formula is tried after another.

use jsf_site::{Site, WhatIf};

/// The value of each job under the last formula.
fn values(what_if: &WhatIf) -> Vec<f64> {
    let queue = what_if.queue().expect("a ranking");
    queue.sides.new.ranking.scores().values()
}

#[test]
fn a_fair_share_name_that_is_typed_later_has_its_values() {
    let open = || Site::open(jsf_testing::path("examples/site")).expect("a site");
    let mut typed_later = WhatIf::new(open(), "fairshare_factor");
    typed_later.rank("ncpus").expect("a ranking");
    typed_later.rank("2 * fairshare_factor").expect("a ranking");
    let mut typed_first = WhatIf::new(open(), "fairshare_factor");
    typed_first.rank("2 * fairshare_factor").expect("a ranking");
    let first = values(&typed_first);
    assert_eq!(values(&typed_later), first);
    assert!(first.iter().any(|value| *value > 0.0), "{first:?}");
    let rules = |what_if: &WhatIf| what_if.queue().expect("a ranking").sides.new.rules.clone();
    assert_eq!(rules(&typed_later), rules(&typed_first));
}
