//! Our side of `benches/peers/compile.py`: reads lines `REPEATS<tab>FORMULA` and answers each with
//! a line `PARSE<tab>COMPILE`, in nanoseconds for one formula.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use job_sort_formula::{Formula, Schema};

fn main() -> Result<(), Box<dyn Error>> {
    let schema = Schema::openpbs();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (repeats, text) = line.split_once('\t').ok_or("a line without a tab")?;
        let (parse, both) = times(repeats.parse()?, text, &schema)?;
        writeln!(out, "{parse:.1}\t{both:.1}")?;
        out.flush()?;
    }
    Ok(())
}

/// How long it takes to parse the formula, and to parse and compile it; what comes out is dropped
/// within the time.
fn times(repeats: u32, text: &str, schema: &Schema) -> Result<(f64, f64), Box<dyn Error>> {
    let started = Instant::now();
    for _ in 0..repeats {
        black_box(Formula::parse(black_box(text))?);
    }
    let parse = started.elapsed();
    let started = Instant::now();
    for _ in 0..repeats {
        let _ = black_box(Formula::parse(black_box(text))?.compile(schema));
    }
    Ok((
        nanoseconds(parse, repeats),
        nanoseconds(started.elapsed(), repeats),
    ))
}

fn nanoseconds(all: Duration, repeats: u32) -> f64 {
    all.as_nanos() as f64 / f64::from(repeats)
}
