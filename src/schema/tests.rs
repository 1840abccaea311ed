use crate::schema::*;

#[test]
fn knows_the_special_names() {
    let schema = Schema::openpbs();
    for name in ["eligible_time", "queue_priority", "job_priority", "fairshare_perc", "accrue_type"] {
        assert_eq!(schema.entry(name).map(|entry| entry.origin), Some(Origin::Special), "{name}");
        assert!(schema.is_numeric(name));
    }
    assert_eq!(schema.entry("fair_share_perc").and_then(|entry| entry.replaced_by), Some("fairshare_perc"));
}

#[test]
fn standard_names_cannot_be_redefined() {
    let mut schema = Schema::openpbs();
    assert!(!schema.add("mem", Kind::Text));
    assert!(schema.is_numeric("mem"));
    assert!(schema.add("gpus", Kind::Text));
    assert!(!schema.add_seen("gpus", Kind::Count));
    assert!(schema.add("gpus", Kind::Count));
    assert!(schema.is_numeric("gpus"));
}

#[test]
fn case_matters_to_the_name_but_not_to_the_suggestion() {
    let schema = Schema::openpbs();
    assert!(schema.entry("NCPUS").is_none());
    assert_eq!(schema.suggestions("NCPUS").first(), Some(&"ncpus"));
    assert_eq!(schema.suggestions("eligible-time"), ["eligible_time"]);
    assert_eq!(schema.suggestions("walltiem"), ["walltime"]);
    assert_eq!(schema.suggestions("nothing_like_it"), [""; 0]);
    assert_eq!(schema.suggestions(""), [""; 0]);
    assert_eq!(schema.suggestions(&"x".repeat(100_000)), [""; 0]);
}
