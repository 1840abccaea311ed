//! Runs the targets on mutated inputs of a corpus, without libFuzzer's instrumentation, which takes
//! most of the time of an execution: so many more inputs are tried than libFuzzer can, starting
//! from those that it found.
//!
//! `run-mutations CORPUS EXECUTIONS SEED [TARGET…]`: the executions of each target. The folder of a
//! target in the corpus has its inputs. An input that panics, or takes more than a second of
//! processor time, is written to `artifacts/TARGET`; then the exit code is 1.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, panic, thread};

#[path = "../bindings/c/tests/fuzz_target.rs"]
#[allow(dead_code)]
mod c_fuzz_target;
use jsf_testing::fuzz_targets as targets;

/// The most bytes of an input, before and after a mutation.
const MAX_LENGTH: usize = 400;
/// The same of an archive, whose blocks have 512 bytes.
const MAX_ARCHIVE_LENGTH: usize = 4096;
const SLOW: Duration = Duration::from_secs(1);
/// What a mutation inserts: names, operators and numbers at limits.
const TOKENS: [&str; 48] = [
    "0",
    "-1",
    "1e308",
    "1e-320",
    "9007199254740993",
    "18446744073709551616",
    "nan",
    "inf",
    "\0",
    "\u{202e}",
    "\u{fffd}",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "(",
    ")",
    "**",
    "//",
    " if ",
    " else ",
    " and ",
    "not ",
    "lambda x: ",
    "ncpus",
    "walltime",
    "fairshare_perc",
    "pow(",
    "Resource_List",
    "\"Jobs\"",
    "null",
    "true",
    "root",
    "unknown",
    "cpu=4",
    "08:00:00",
    "16gb",
    "%",
    "|",
];

/// Marsaglia's xorshift generator: repeatable, and good enough to choose mutations.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below the bound; 0 if the bound is 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound.max(1)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [corpus, executions, seed, names @ ..] = &arguments[..] else {
        eprintln!("usage: run-mutations CORPUS EXECUTIONS SEED [TARGET…]");
        return ExitCode::from(2);
    };
    let (Ok(executions), Ok(seed)) = (executions.parse::<u64>(), seed.parse::<u64>()) else {
        eprintln!("EXECUTIONS and SEED are integers");
        return ExitCode::from(2);
    };
    let mut failures = 0;
    let c_interface: targets::Target = ("c_interface", c_fuzz_target::c_interface);
    for (name, run) in targets::TARGETS.into_iter().chain([c_interface]) {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            failures += run_target(name, run, &Path::new(corpus).join(name), executions, seed);
        }
    }
    ExitCode::from(u8::from(failures > 0))
}

/// Runs a target on mutated inputs; returns how many failed.
fn run_target(name: &str, run: fn(&[u8]), folder: &Path, executions: u64, seed: u64) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut inputs: Vec<Vec<u8>> = files
        .filter_map(|file| fs::read(file.path()).ok())
        .collect();
    inputs.sort();
    let most = if name == "snapshots" {
        MAX_ARCHIVE_LENGTH
    } else {
        MAX_LENGTH
    };
    inputs.iter_mut().for_each(|input| input.truncate(most));
    inputs.push(Vec::new());
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (start, mut failures, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    for _ in 0..executions {
        let input = mutated(&inputs, most, &mut random);
        let (outcome, mut taken) = timed(run, &input);
        if taken > SLOW {
            // other processes may have had the processors
            let before = processor_time();
            timed(run, &input).0.ok();
            taken = taken.min(processor_time() - before);
        }
        slowest = slowest.max(taken);
        if outcome.is_err() || taken > SLOW {
            failures += 1;
            keep(
                name,
                &input,
                if outcome.is_err() { "panic" } else { "slow" },
                failures,
            );
        }
    }
    let rate = executions as f64 / start.elapsed().as_secs_f64();
    println!(
        "{name}: {executions} executions from {} inputs, {failures} failures, slowest {} ms, {rate:.0} per second, at most {}",
        inputs.len(),
        slowest.as_millis(),
        peak_memory()
    );
    failures
}

/// Runs a target once; `Err` if it panics.
fn timed(run: fn(&[u8]), input: &[u8]) -> (thread::Result<()>, Duration) {
    let start = Instant::now();
    (panic::catch_unwind(|| run(input)), start.elapsed())
}

/// An input of the corpus after one to eight mutations, with at most as many bytes as given.
fn mutated(inputs: &[Vec<u8>], most: usize, random: &mut Random) -> Vec<u8> {
    let mut input = inputs[random.below(inputs.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(input.len() + 1);
        let end = at + random.below((input.len() - at).min(32) + 1);
        match random.below(8) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.next() as u8,
            2 => _ = input.drain(at..end),
            3 => input.insert(at, random.next() as u8),
            4 => _ = input.splice(at..end, TOKENS[random.below(TOKENS.len())].bytes()),
            5 => _ = input.splice(at..at, TOKENS[random.below(TOKENS.len())].bytes()),
            6 => {
                let copied = input[at..end].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, copied);
            }
            _ => {
                let other = &inputs[random.below(inputs.len())];
                let from = random.below(other.len() + 1);
                input.splice(at.., other[from..].iter().copied());
            }
        }
        input.truncate(most);
    }
    input
}

/// The processor time of all threads of this process, as Linux counts it: in hundredths of a
/// second.
fn processor_time() -> Duration {
    let status = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // behind the name of the command, which may contain anything: the state, ten numbers, and the
    // time in the program and in the system
    let numbers = status
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11)
        .take(2);
    let ticks: u64 = numbers
        .filter_map(|number| number.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

fn keep(name: &str, input: &[u8], kind: &str, number: u64) {
    let folder = Path::new("artifacts").join(name);
    let file = folder.join(format!("{kind}-{}-{number}", std::process::id()));
    if let Err(error) = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, input)) {
        eprintln!("{}: {error}", file.display());
    }
    println!("{name}: {kind}: {}", file.display());
}

/// The most memory that the process has had, as Linux reports it.
fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or("?")
        .trim()
        .to_owned()
}
