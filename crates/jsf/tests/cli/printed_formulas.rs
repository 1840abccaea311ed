//! What `jsf fmt` and `jsf check --fix` print of random texts is a formula that they print in the
//! same way.
//!
//! `JSF_PROCESSES` is the number of texts, `JSF_REFEREE_SEED` the seed.

use job_sort_formula::Formula;
use jsf_testing::random::{Generator, any_text};
use jsf_testing::setting;

use crate::command::{jsf_with_input, stdout};

/// The commands, and whether they keep the formula as it is.
const COMMANDS: [(&[&str], bool); 4] = [
    (&["fmt"], true),
    (&["check", "--fix"], false),
    (&["check", "--fix", "--numbers", "exact"], false),
    (&["check", "--unsafe-fixes"], false),
];

/// Texts of several lines, of other notations, and with names in capitals.
fn random_text(random: &mut Generator) -> String {
    let mut text = any_text(random);
    match random.below(8) {
        0 => text.insert_str(
            0,
            random.pick(&["\n", "# a\n", " \n", "mem if\n", "1\n", "(\n"]),
        ),
        1 => text.push_str(random.pick(&["\n# a", "\nmore", "\n600", "\r\n\r\n# b\x0c"])),
        2 => text = format!("math.LOG({text})+4gb"),
        3 => text = text.to_uppercase(),
        4 => text = text.replace(' ', random.pick(&["\x0c", "\r", "\n", "\t"])),
        _ => {}
    }
    text
}

#[test]
fn what_is_printed_is_printed_again() {
    let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
    let count = setting("JSF_PROCESSES", 150);
    let mut printed = [0; COMMANDS.len()];
    for _ in 0..count {
        let text = random_text(&mut random);
        for ((arguments, keeps_formula), printed) in COMMANDS.iter().zip(&mut printed) {
            let print = |text: &str| stdout(&jsf_with_input(&[*arguments, &["-"]].concat(), text));
            let once = print(&text);
            if once.is_empty() {
                continue;
            }
            *printed += 1;
            assert_eq!(print(&once), once, "{arguments:?} of {text:?}");
            let first_line =
                |text: &str| Formula::parse(text.split('\n').next().unwrap_or_default());
            let again = first_line(&once).map(|formula| formula.to_string());
            if *keeps_formula {
                // a file may begin with a byte order mark
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                assert_eq!(
                    again,
                    first_line(text).map(|formula| formula.to_string()),
                    "{text:?}"
                );
            }
        }
    }
    eprintln!("of {count} texts are printed {printed:?}");
    assert!(
        printed.iter().all(|printed| printed * 4 > count),
        "{printed:?} of {count}"
    );
}
