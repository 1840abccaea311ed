//! The candidates that are written in Rust.
//!
//! `peers evaluate NAME FOLDER` loads the columns in `FOLDER`, writes `ready JOBS`, and answers
//! each line on standard input: `go LETTER` with the nanoseconds of one pass over the jobs,
//! `check LETTER` with the largest relative difference from CPython's results and the number of
//! results that are not the same to the last bit.
//!
//! `peers read-qstat FILE` reads what the formula needs from a `qstat -f -F json` document and
//! writes how many jobs it saw.

mod columns;
mod evalexpr_peer;
mod fasteval_peer;
mod ours;
mod qstat;

use std::error::Error;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use columns::Columns;

/// The three formulas: the letter and CPython's text.
const FORMULAS: [(&str, &str); 3] = [
    ("P", include_str!("../../../../examples/formulas/pp718.txt")),
    ("A", include_str!("../../../../examples/formulas/alcf.txt")),
    ("Q", include_str!("../../../../examples/formulas/qut.txt")),
];

/// Most candidates pass over so many jobs.
const JOBS: usize = 1_000_000;
/// The slowest over so many.
const FEWER_JOBS: usize = 100_000;

/// A formula with its jobs.
trait Pass {
    /// What a pass leaves.
    type Results;

    fn run(&self) -> Result<Self::Results, Box<dyn Error>>;

    fn numbers(results: Self::Results) -> Vec<f64>;

    /// Takes the results back once they are read, for whoever uses their memory again.
    fn give_back(&self, results: Self::Results) {
        drop(results);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["evaluate", "jsf", folder] => serve(&Columns::new(folder, JOBS), ours::Ours::new),
        ["evaluate", "fasteval", folder] => {
            serve(&Columns::new(folder, JOBS), fasteval_peer::Compiled::new)
        }
        ["evaluate", "evalexpr", folder] => {
            serve(&Columns::new(folder, FEWER_JOBS), evalexpr_peer::Tree::new)
        }
        ["read-qstat", file] => {
            println!("{}", qstat::read(file)?);
            Ok(())
        }
        _ => Err(
            "usage: peers evaluate jsf|fasteval|evalexpr FOLDER, or peers read-qstat FILE".into(),
        ),
    }
}

fn serve<P: Pass>(
    columns: &Columns,
    new: impl Fn(&str, &Columns) -> Result<P, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut passes = Vec::new();
    for (letter, text) in FORMULAS {
        passes.push((letter, new(text.trim(), columns)?));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "ready {}", columns.jobs())?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (order, letter) = line.split_once(' ').ok_or("a line without a space")?;
        let (_, pass) = passes
            .iter()
            .find(|(known, _)| *known == letter)
            .ok_or("no such formula")?;
        match order {
            "go" => {
                let started = Instant::now();
                let results = black_box(pass.run()?);
                writeln!(out, "{}", started.elapsed().as_nanos())?;
                pass.give_back(results);
            }
            "check" => {
                let (relative, bits) =
                    compare(&P::numbers(pass.run()?), &columns.expected(letter)?);
                writeln!(out, "{relative:e} {bits}")?;
            }
            _ => return Err("neither `go` nor `check`".into()),
        }
    }
    Ok(())
}

/// The largest relative difference (infinite where the lengths differ or one is NaN), and how many
/// bits are not equal.
fn compare(found: &[f64], expected: &[f64]) -> (f64, usize) {
    let relative =
        |(found, expected): (&f64, &f64)| (found - expected).abs() / expected.abs().max(1e-300);
    let pairs = || found.iter().zip(expected);
    let worst = |worst: f64, next: f64| {
        if next <= worst {
            worst
        } else {
            next.abs().max(worst)
        }
    };
    let largest = pairs().map(relative).fold(0.0, worst);
    let is_comparable =
        found.len() == expected.len() && !found.iter().any(|number| number.is_nan());
    let unequal = pairs()
        .filter(|(found, expected)| found.to_bits() != expected.to_bits())
        .count();
    (
        if is_comparable {
            largest
        } else {
            f64::INFINITY
        },
        unequal,
    )
}
