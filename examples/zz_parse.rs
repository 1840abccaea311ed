use std::io::Read;
fn main() {
    let mut s = String::new();
    std::io::stdin().read_to_string(&mut s).unwrap();
    for line in s.lines() {
        let text: String = serde_json::from_str(line).unwrap();
        let t = std::time::Instant::now();
        let r = job_sort_formula::formula::syntax::parse(&text);
        let dt = t.elapsed();
        match r {
            Ok(e) => println!("ok\t{:?}\t{:?}", dt, e.foreign().map(|f| f.0)),
            Err(e) => println!(
                "err\t{:?}\t{}..{} {} [{}]",
                dt,
                e.span.start,
                e.span.end,
                e,
                e.diagnostic().help.unwrap_or_default()
            ),
        }
    }
}
