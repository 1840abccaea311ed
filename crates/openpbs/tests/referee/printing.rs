//! Printed formulas: Python makes the same syntax tree of them as of the text that was read.

use job_sort_formula::Formula;
use jsf_testing::random::{self, Generator};
use jsf_testing::setting;

use crate::python::Script;

/// How many pairs of texts one Python process compares.
const BATCH: u64 = 50_000;

#[test]
fn printed_formulas_have_the_trees_of_their_texts() {
    for python in Script::find_all("printing.py") {
        let mut random = Generator(setting("JSF_REFEREE_SEED", 20_260_118));
        let cases = python.cases(20_000);
        let mut counts = Counts::default();
        let mut left = cases;
        while left > 0 {
            let texts = (0..left.min(BATCH)).map(|_| random::any_text(&mut random));
            compare(&python, texts.collect(), &mut counts);
            left = left.saturating_sub(BATCH);
        }
        let Counts {
            same,
            refused,
            wrong,
        } = counts;
        eprintln!(
            "Python {}: of {cases} texts, {same} formulas with equal trees, {refused} refused by its parser",
            python.version
        );
        assert!(
            wrong.is_empty(),
            "{} differ\n{}",
            wrong.len(),
            wrong[..wrong.len().min(20)].join("\n")
        );
        assert!(same > cases / 3, "{same} of {cases}, {refused} refused");
    }
}

#[derive(Default)]
struct Counts {
    same: u64,
    refused: u64,
    wrong: Vec<String>,
}

fn compare(python: &Script, texts: Vec<String>, counts: &mut Counts) {
    let read = |text: &str| Formula::parse_for(text, python.version).ok();
    let formulas: Vec<Formula> = texts.iter().filter_map(|text| read(text)).collect();
    let mut pairs = Vec::new();
    for formula in &formulas {
        let printed = formula.with_comments();
        match read(&printed) {
            Some(again) if again.with_comments() == printed => {}
            _ => counts.wrong.push(format!(
                "{:?} is printed as {printed:?}, which is printed otherwise",
                formula.text()
            )),
        }
        pairs.extend([(formula, formula.to_string()), (formula, printed)]);
    }
    let line = |(formula, printed): &(&Formula, String)| {
        serde_json::to_string(&[formula.text(), printed]).expect("strings") + "\n"
    };
    let answers = python.run(&[], pairs.iter().map(line).collect());
    assert_eq!(answers.len(), pairs.len(), "Python answers every question");
    for (answers, pairs) in answers.chunks(2).zip(pairs.chunks(2)) {
        match (&*answers[0], &*answers[1]) {
            ("same", "same") => counts.same += 1,
            ("refused", "refused") => counts.refused += 1,
            _ => counts.wrong.push(format!(
                "{pairs:?}: Python {} says {answers:?}",
                python.version
            )),
        }
    }
}
