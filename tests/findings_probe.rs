use job_sort_formula::formula::analysis;
use job_sort_formula::schema::Kind;
use job_sort_formula::{Formula, Schema};
use std::io::BufRead;

#[test]
fn probe() {
    let file = std::env::var("PROBE").unwrap();
    for line in std::io::BufReader::new(std::fs::File::open(file).unwrap()).lines() {
        let text = line.unwrap();
        println!("\n## {text}");
        let Ok(formula) = Formula::parse(&text) else {
            println!("   syntax");
            continue;
        };
        let mut schema = Schema::openpbs();
        for name in formula.names() {
            if !matches!(
                job_sort_formula::formula::meaning::Meaning::of(name, &schema),
                job_sort_formula::formula::meaning::Meaning::Undefined
            ) {
                continue;
            }
            schema.add(name, if name.starts_with("n") { Kind::Count } else { Kind::Float });
        }
        let start = std::time::Instant::now();
        let facts = analysis::ranges(formula.expr(), &schema, &Default::default());
        let ranges = start.elapsed();
        let found = analysis::findings(formula.expr(), &schema, &Default::default());
        println!("   {} [{:?} {:?}]", facts.result(), ranges, start.elapsed());
        for f in found {
            println!("   {} {:?}: {} @ `{}` [{}]", f.code, f.severity, f.message, f.span.of(&text), f.label);
            for l in f.labels {
                println!("       `{}`: {}", l.span.of(&text), l.text);
            }
            if let Some(h) = f.help {
                println!("       help: {h}");
            }
            if let Some(x) = f.fix {
                println!("       fix: `{}` -> `{}`", x.span.of(&text), x.replacement);
            }
        }
    }
}
