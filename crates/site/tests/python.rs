//! Which Python a site's server embeds, and that a page keeps it.

use std::path::Path;

use job_sort_formula::PythonVersion;
use jsf_site::{FileSource, Role, Site, SiteFiles, SiteOptions};

#[test]
fn a_bundle_keeps_which_python_the_server_has() {
    let given = SiteOptions {
        python: PythonVersion::new(9),
        ..SiteOptions::default()
    };
    let files = SiteFiles::open(&Path::new(jsf_testing::ROOT).join("examples/site")).unwrap();
    let version = FileSource::Bytes {
        name: "a/python_version.txt".to_owned(),
        bytes: b"Python 3.12.1".as_slice().into(),
    };
    for (files, rules, expected) in [
        (files.clone(), SiteOptions::default(), ("3.11", None)),
        (
            files.clone().with(Role::Python, version),
            SiteOptions::default(),
            ("3.12", Some("python_version.txt")),
        ),
        (files, given, ("3.9", Some("given"))),
    ] {
        let site = Site::from_files(files, rules).unwrap();
        let bundled = Site::from_bundle(&site.to_bundle().unwrap().bytes).unwrap();
        for site in [site, bundled] {
            let (version, source) = site.python();
            assert_eq!((version.to_string().as_str(), source.as_deref()), expected);
            assert_eq!(site.schema().python(), version);
        }
    }
}
