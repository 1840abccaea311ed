//! Random documents give the same table in whatever chunks, from memory and from a stream.
//!
//! `JSF_READER_CASES` says how many documents each property tries; the default is small enough for
//! every run.

use std::io::{self, Read};

use job_sort_formula::schema::{InputType, Schema};
use jsf_ingest::{ParsedJobs, ReadError, ReadOptions, read_jobs};
use jsf_openpbs::{FairshareEntity, NumberMode, Objects, Queues};
use jsf_testing::fuzz_targets::describe;
use jsf_testing::random::Xorshift;
use jsf_testing::setting;

/// The choices of a random document.
struct Dice(Xorshift);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        ((self.0.next() >> 33) as usize) % sides.max(1)
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<'p>(&mut self, of: &[&'p str]) -> &'p str {
        of[self.roll(of.len())]
    }
}

const NEEDED: [&[&str]; 4] = [
    &[
        "ncpus",
        "mem",
        "walltime",
        "eligible_time",
        "queue_priority",
        "score",
        "fair_share_perc",
    ],
    &[
        "job_priority",
        "fairshare_perc",
        "boost",
        "size",
        "accrue_type",
        "share",
        "mem",
    ],
    &[],
    &[
        "ncpus",
        "fair_share_perc",
        "fairshare_perc",
        "fairshare_factor",
        "fairshare_tree_usage",
        "eligible_time",
    ],
];

const RESOURCES: [&str; 14] = [
    "ncpus",
    "mem",
    "walltime",
    "score",
    "boost",
    "size",
    "share",
    "place",
    "lic",
    "eligible_time",
    "ngpus",
    "flag",
    "fairshare_perc",
    "wall",
];

const AMOUNTS: [&str; 58] = [
    "0",
    "1",
    "7",
    "64",
    "1234567",
    "12345678",
    "123456789",
    "9007199254740992",
    "9007199254740993",
    "-1",
    "-0",
    "18446744073709551616",
    "0.5",
    "2.0",
    "0.00002",
    "-0.00001",
    "1e5",
    "1E+2",
    "1e400",
    "9.00719925474099e+15",
    "1e-400",
    "01",
    "1.",
    ".5",
    "+1",
    "-",
    "1e",
    "0x10",
    "123456.123456",
    "\"4gb\"",
    "\"3pb\"",
    "\"1025b\"",
    "\"12345678kb\"",
    "\"16KW\"",
    "\"4.5gb\"",
    "\"01:00:00\"",
    "\"1:2\"",
    "\"100:00:00\"",
    "\"1:2:3:4\"",
    "\"0:0:0.5\"",
    "\"inf\"",
    "\"-inf\"",
    "\"nan\"",
    "\"\"",
    "\"abc\"",
    "\"True\"",
    "\"12\"",
    "\"0\"",
    "\"0.00001\"",
    "\" 5 \"",
    "\"1e3\"",
    "true",
    "false",
    "null",
    "{}",
    "[]",
    "{\"a\":[1,{\"b\":null}]}",
    "[[[]],1]",
];

const TEXTS: [&str; 20] = [
    "\"Bob\"",
    "\"\"",
    "\"Bo\\u00f6b\"",
    "\"B\u{f6}b\"",
    "\"a\\\"b\"",
    "\"a\\\\\"",
    "\"\u{7f}\"",
    "\"x\u{1}y\"",
    "\"\\ud800\"",
    "\"\\x\"",
    "12",
    "1.50",
    "null",
    "true",
    "[\"x\"]",
    "{}",
    "\"workq\"",
    "\"express\"",
    "\"a\\u12\"",
    "\"tab\\there\"",
];

const STATES: [&str; 10] = [
    "\"Q\"",
    "\"H\"",
    "\"R\"",
    "\"F\"",
    "\"X\"",
    "\"?\"",
    "\"\"",
    "1",
    "null",
    "\"\\u0051\"",
];

/// A value that nobody needs.
fn idle(dice: &mut Dice) -> String {
    match dice.roll(6) {
        0 => dice.pick(&AMOUNTS).to_owned(),
        1 => dice.pick(&TEXTS).to_owned(),
        2 => format!("\"{}\"", "path/to:".repeat(dice.roll(8))),
        3 => format!("{}{}", "[".repeat(dice.roll(90)), "]".repeat(dice.roll(90))),
        4 => format!(
            "{{\"A\": {}, \"B\\n\":[{} ,{}]}}",
            dice.pick(&TEXTS),
            dice.pick(&AMOUNTS),
            dice.pick(&TEXTS)
        ),
        _ => "\"plain\"".to_owned(),
    }
}

/// How plain a document is: a larger number makes odd values rarer.
#[derive(Clone, Copy)]
struct Plainness(usize);

impl Plainness {
    fn amount(self, dice: &mut Dice, name: &str) -> String {
        if dice.one_in(self.0) {
            return dice.pick(&AMOUNTS).to_owned();
        }
        let number = dice.roll(100_000);
        match name {
            "mem" | "size" if dice.one_in(2) => format!("\"{number}kb\""),
            "walltime" | "eligible_time" | "wall" if dice.one_in(2) => {
                format!(
                    "\"{:02}:{:02}:{:02}\"",
                    number % 99,
                    number % 60,
                    number % 57
                )
            }
            "boost" | "share" | "fairshare_perc" => format!("{}", number as f64 / 1000.0),
            "place" | "lic" => "\"pack\"".to_owned(),
            _ => number.to_string(),
        }
    }

    fn text(self, dice: &mut Dice, plain: &str) -> String {
        if dice.one_in(self.0) {
            dice.pick(&TEXTS).to_owned()
        } else {
            format!("\"{plain}{}\"", dice.roll(4))
        }
    }
}

/// The spaces between the tokens of a document.
#[derive(Clone, Copy)]
struct Style {
    colon: &'static str,
    comma: &'static str,
    open: &'static str,
}

const STYLES: [Style; 5] = [
    Style {
        colon: ":",
        comma: ",",
        open: "",
    },
    Style {
        colon: ": ",
        comma: ", ",
        open: "",
    },
    Style {
        colon: ":",
        comma: ",\t",
        open: " ",
    },
    Style {
        colon: ": ",
        comma: ",\n            ",
        open: "\n            ",
    },
    Style {
        colon: " :\r\n ",
        comma: " ,\r\n",
        open: "\t",
    },
];

fn object(dice: &mut Dice, style: Style, mut entries: Vec<String>) -> String {
    if dice.one_in(4) && entries.len() > 1 {
        let (one, other) = (dice.roll(entries.len()), dice.roll(entries.len()));
        entries.swap(one, other);
    }
    if dice.one_in(20) && !entries.is_empty() {
        let again = entries[dice.roll(entries.len())].clone();
        entries.push(again);
    }
    format!(
        "{{{}{}{}}}",
        style.open,
        entries.join(style.comma),
        style.open
    )
}

fn amounts(dice: &mut Dice, plainness: Plainness, style: Style) -> String {
    let count = if dice.one_in(4) {
        dice.roll(RESOURCES.len())
    } else {
        5
    };
    let entries = (0..count).map(|index| {
        let name = if dice.one_in(plainness.0) {
            dice.pick(&RESOURCES)
        } else {
            RESOURCES[index]
        };
        format!("\"{name}\"{}{}", style.colon, plainness.amount(dice, name))
    });
    let entries = entries.collect();
    object(dice, style, entries)
}

fn id(dice: &mut Dice, plainness: Plainness, number: usize) -> String {
    match dice.roll(plainness.0 * 4) {
        0 => dice.pick(&TEXTS).to_owned(),
        1 => format!("\"{}.vm\"", dice.roll(number + 1)),
        2 => format!("\"{number}[].vm\""),
        3 => format!("\"{}[{}].vm\"", number.saturating_sub(1), dice.roll(3)),
        4 => number.to_string(),
        5 => format!("\"{}\"", "9".repeat(4090 + dice.roll(10))),
        _ => format!("\"{number}.vm\""),
    }
}

/// A job of one's own writing on one line.
fn own_job(dice: &mut Dice, plainness: Plainness, style: Style, number: usize) -> String {
    let entry = |key: &str, value: String| format!("\"{key}\"{}{value}", style.colon);
    let mut entries = vec![entry("id", id(dice, plainness, number))];
    if dice.one_in(2) {
        let last = if dice.one_in(plainness.0) {
            "score"
        } else {
            "nodect"
        };
        for name in ["ncpus", "mem", "walltime", last] {
            entries.push(entry(name, plainness.amount(dice, name)));
        }
    } else {
        entries.push(entry("resources", amounts(dice, plainness, style)));
    }
    for (key, odds) in [("entity", 2), ("queue", 2)] {
        if dice.one_in(odds) {
            entries.push(entry(key, plainness.text(dice, key)));
        }
    }
    if dice.one_in(3) {
        let state = if dice.one_in(plainness.0) {
            dice.pick(&STATES)
        } else {
            "\"Q\""
        };
        entries.push(entry(dice.pick(&["state", "job_state"]), state.to_owned()));
    }
    for key in [
        "eligible_time",
        "queue_priority",
        "fairshare_perc",
        "fair_share_perc",
        "queued_at",
        "job_priority",
    ] {
        if dice.one_in(6) {
            entries.push(entry(key, plainness.amount(dice, key)));
        }
    }
    if dice.one_in(8) {
        let inputs = [
            "ncpus",
            "boost",
            "fair_share_perc",
            "fairshare_perc",
            "score",
        ]
        .map(|name| {
            let number = if dice.one_in(plainness.0) {
                dice.pick(&AMOUNTS).to_owned()
            } else {
                dice.roll(99).to_string()
            };
            entry(name, number)
        });
        let value = object(dice, style, inputs.to_vec());
        entries.push(entry("inputs", value));
    }
    if dice.one_in(plainness.0 * 4) {
        entries.push(entry(
            dice.pick(&["walltme", "x", "in\\u0070uts", "\u{e9}", "id"]),
            idle(dice),
        ));
    }
    object(dice, style, entries)
}

/// An entry of the jobs of qstat.
fn qstat_job(dice: &mut Dice, plainness: Plainness, style: Style, number: usize) -> String {
    let entry = |key: &str, value: String| format!("\"{key}\"{}{value}", style.colon);
    let mut entries = vec![entry("Job_Name", plainness.text(dice, "name"))];
    for key in ["euser", "egroup", "Account_Name", "queue", "Error_Path"] {
        if dice.roll(3) > 0 {
            entries.push(entry(key, plainness.text(dice, key)));
        }
    }
    let state = if dice.one_in(plainness.0) {
        dice.pick(&STATES)
    } else {
        "\"Q\""
    };
    entries.push(entry("job_state", state.to_owned()));
    if !dice.one_in(plainness.0) {
        entries.push(entry("Resource_List", amounts(dice, plainness, style)));
    }
    for key in ["eligible_time", "Priority", "accrue_type", "queue_rank"] {
        if dice.one_in(2) {
            entries.push(entry(key, plainness.amount(dice, key)));
        }
    }
    for key in ["Variable_List", "comment", "Submit_arguments"] {
        if dice.one_in(2) {
            let value = if dice.one_in(plainness.0) {
                idle(dice)
            } else {
                "{\"A\":\"b\",\"C\":{}}".to_owned()
            };
            entries.push(entry(key, value));
        }
    }
    let first = if dice.one_in(8) { 0 } else { dice.roll(2) };
    entries.swap(0, first);
    format!(
        "{}{}{}",
        id(dice, plainness, number),
        style.colon,
        object(dice, style, entries)
    )
}

fn lines(dice: &mut Dice) -> String {
    let plainness = Plainness([3, 20, 400][dice.roll(3)]);
    let style = STYLES[if dice.one_in(40) {
        dice.roll(5)
    } else {
        dice.roll(3)
    }];
    let end = dice.pick(&["\n", "\n", "\r\n", "\n\n", " \t\n", "\u{b}\n"]);
    let mut text = String::new();
    for number in 0..1 + dice.roll(40) {
        text += &own_job(dice, plainness, style, number + 8);
        text += if dice.one_in(plainness.0) {
            "\n \n"
        } else {
            end
        };
    }
    text
}

/// Jobs of one form whose numbers are mostly those of the job before.
fn steady(dice: &mut Dice) -> String {
    let style = STYLES[dice.roll(3)];
    let names = &RESOURCES[dice.roll(4)..][..2 + dice.roll(9)];
    let number = |dice: &mut Dice| match dice.roll(4) {
        0 => dice.roll(2),
        1 => dice.roll(1000),
        2 => dice.roll(10_000_000),
        _ => [7, 100_000, 9_999_999, 10_000_000][dice.roll(4)],
    };
    let mut numbers: Vec<_> = names.iter().map(|_| number(dice)).collect();
    let (steadiness, varying) = ([20, 200, 2000][dice.roll(3)], dice.roll(names.len() + 1));
    let mut text = String::new();
    for job in 0..20 + dice.roll(80) {
        let mut entries = vec![format!("\"id\"{}\"{}.vm\"", style.colon, job + 8)];
        for (place, (name, value)) in names.iter().zip(&mut numbers).enumerate() {
            if place == varying || dice.one_in(steadiness) {
                *value = number(dice);
            }
            entries.push(format!("\"{name}\"{}{value}", style.colon));
        }
        if dice.one_in(3) {
            let key = dice.pick(&["colour", "sort", "owner", "\\u0063olour"]);
            entries.push(format!(
                "\"{key}\"{}{}",
                style.colon,
                dice.pick(&["null", "5", "\"x\"", "{\"a\":[1]}", "nul"])
            ));
        }
        text += &format!("{{{}}}\n", entries.join(style.comma));
    }
    text
}

fn qstat(dice: &mut Dice) -> String {
    let plainness = Plainness([3, 20, 400][dice.roll(3)]);
    let style = STYLES[dice.roll(5)];
    let jobs: Vec<_> = (0..dice.roll(30))
        .map(|number| qstat_job(dice, plainness, style, number + 8))
        .collect();
    let mut entries = vec![
        "\"timestamp\":1".to_owned(),
        "\"pbs_version\" : \"23\"".to_owned(),
    ];
    if dice.one_in(plainness.0) {
        entries.push(format!("\"pbs_server\":{}", idle(dice)));
    }
    let seam = dice.pick(&[",", ",\n        ", " , "]);
    entries.push(format!(
        "\"Jobs\"{}{{{}{}{}}}",
        style.colon,
        style.open,
        jobs.join(seam),
        style.open
    ));
    if dice.one_in(plainness.0) {
        entries.push(format!(
            "\"{}\":{}",
            dice.pick(&["end", "Jobs", "a\\n"]),
            idle(dice)
        ));
    }
    format!(
        "{{{}{}}}{}",
        style.open,
        entries.join(style.comma),
        if dice.one_in(plainness.0) {
            dice.pick(&["\n}", " x", "\u{0}"])
        } else {
            "\n"
        }
    )
}

/// Changes some bytes of a document.
fn mutate(dice: &mut Dice, mut bytes: Vec<u8>) -> Vec<u8> {
    const BYTES: &[u8] =
        b"{}[],:\"\\ \n\r\t\x00\x01\x0b0123456789.-+eEntfu/a\x7f\x80\xc3\xa9\xe2\xf0\xff";
    for _ in 0..dice.roll(4) {
        let at = dice.roll(bytes.len() + 1);
        let byte = BYTES[dice.roll(BYTES.len())];
        match dice.roll(7) {
            0 => bytes.insert(at, byte),
            1 if at < bytes.len() => _ = bytes.remove(at),
            2 if at < bytes.len() => bytes[at] ^= 1 << dice.roll(8),
            3 if dice.one_in(4) => bytes.truncate(at),
            4 if dice.one_in(8) => _ = bytes.splice(0..0, *b"\xef\xbb\xbf"),
            5 => {
                let piece = bytes[at..bytes.len().min(at + dice.roll(60))].to_vec();
                let to = dice.roll(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            _ if at < bytes.len() => bytes[at] = byte,
            _ => {}
        }
    }
    bytes
}

/// The table and the problems, or the error.
fn answer(read: Result<ParsedJobs, ReadError>) -> Result<(String, String), ReadError> {
    read.map(|read| (describe(&read.table), format!("{:?}", read.problems)))
}

/// Gives a few bytes at a time.
struct Drop<'b>(&'b [u8], usize);

impl Read for Drop<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.1);
        self.0.read(&mut buffer[..most])
    }
}

struct Site {
    schema: Schema,
    queues: Queues,
}

impl Site {
    fn new() -> Self {
        let mut schema = Schema::openpbs();
        for (name, kind) in [
            ("boost", InputType::Float),
            ("size", InputType::Size),
            ("flag", InputType::Bool),
            ("wall", InputType::Duration),
        ] {
            schema.add(name, kind).expect("a name");
        }
        let queues = r#"{"Queue":{"workq":{"Priority":5},"express":{"Priority":200},"queue1":{"Priority":-7},"queue2":{}}}"#;
        Self {
            schema,
            queues: Queues::read("queues", &Objects::read(queues)).unwrap(),
        }
    }

    /// Reads a document in chunks of different sizes, and says whether it can be read.
    fn compare(&self, bytes: &[u8], dice: &mut Dice) -> bool {
        let options = ReadOptions {
            source_name: "q",
            needed: NEEDED[dice.roll(4)],
            schema: &self.schema,
            numbers: [NumberMode::OpenPbs, NumberMode::Exact, NumberMode::Decimal][dice.roll(3)],
            entity: [
                FairshareEntity::User,
                FairshareEntity::GroupUser,
                FairshareEntity::Account,
                FairshareEntity::Queue,
            ][dice.roll(4)],
            queue_priorities: &self.queues.priorities(),
            strict: false,
            cycle_jobs: false,
            record_origins: true,
            chunk_size: 1 << 20,
        };
        let chunk = [1, 64, 500, 4000][dice.roll(4)];
        let chunked = ReadOptions {
            chunk_size: chunk,
            ..options
        };
        let read = if dice.one_in(3) {
            read_jobs(Drop(bytes, 1 + dice.roll(300)), &chunked)
        } else {
            read_jobs(bytes, &chunked)
        };
        let whole = read_jobs(bytes, &options);
        let (expected, found) = (answer(whole), answer(read));
        assert!(
            expected == found,
            "chunks of {chunk}, {:?}, {:?}:\n{}\nas a whole: {expected:#?}\nin chunks: {found:#?}",
            options.needed,
            options.numbers,
            String::from_utf8_lossy(bytes)
        );
        expected.is_ok()
    }
}

/// How many documents a property tries.
fn cases() -> usize {
    setting("JSF_READER_CASES", 2500) as usize
}

fn compare_chunks(seed: u64, document: fn(&mut Dice) -> String) {
    let (site, mut dice) = (Site::new(), Dice(Xorshift(seed)));
    let (mut jobs, mut read) = (0, 0);
    for case in 0..cases() {
        let plain = document(&mut dice).into_bytes();
        let bytes = if case % 2 == 0 {
            plain
        } else {
            mutate(&mut dice, plain)
        };
        jobs += bytes.windows(3).filter(|bytes| *bytes == b".vm").count();
        read += usize::from(site.compare(&bytes, &mut dice));
    }
    println!(
        "{} documents with {jobs} jobs, {read} of them read to their end",
        cases()
    );
    assert!(read > cases() / 20 && read <= cases());
}

#[test]
fn lines_give_the_same_table_in_any_chunks() {
    compare_chunks(0x1234_5678_9abc_def1, lines);
}

#[test]
fn steady_jobs_give_the_same_table_in_any_chunks() {
    compare_chunks(0x57ea_d1e5_0f1a_b0b1, steady);
}

/// More jobs than fit into a chunk, an input that only the last ones have, and ids out of order.
#[test]
fn a_long_document_gives_the_same_table_in_any_chunks() {
    let (site, mut dice) = (Site::new(), Dice(Xorshift(0x0dd_ba11)));
    let mut text = String::new();
    for number in 0..20_000 {
        let number = if number % 4999 == 0 {
            number / 2
        } else {
            number
        };
        let mem = if number > 15_000 {
            ",\"mem\":\"4gb\""
        } else {
            ""
        };
        text += &format!("{{\"id\":\"{number}.vm\",\"ncpus\":{}{mem}}}\n", number % 7);
    }
    for _ in 0..6 {
        assert!(site.compare(text.as_bytes(), &mut dice));
    }
}

#[test]
fn qstat_gives_the_same_table_in_any_chunks() {
    compare_chunks(0xfeed_face_cafe_beef, qstat);
}

/// So many jobs that the keys of the first ones are not those of later ones.
#[test]
fn many_jobs_give_the_same_table_in_any_chunks() {
    let (site, mut dice) = (Site::new(), Dice(Xorshift(0x5eed_0fab)));
    for _ in 0..1 + cases() / 500 {
        let (plainness, style) = (
            Plainness([20, 400, 4000][dice.roll(3)]),
            STYLES[dice.roll(3)],
        );
        let lines: Vec<_> = (0..3000)
            .map(|number| own_job(&mut dice, plainness, style, number + 8))
            .collect();
        assert!(site.compare(lines.join("\n").as_bytes(), &mut dice));
        let style = STYLES[dice.roll(5)];
        let jobs: Vec<_> = (0..2000)
            .map(|number| qstat_job(&mut dice, plainness, style, number + 8))
            .collect();
        let text = format!(
            "{{\"pbs_version\":\"23\",\"Jobs\":{{{}}}}}",
            jobs.join(style.comma)
        );
        site.compare(text.as_bytes(), &mut dice);
    }
}
