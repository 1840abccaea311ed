use crate::formula::lint::ranges::{Ranges, ranges};
use crate::formula::syntax;
use crate::schema::{InputType, Schema};

fn result(text: &str) -> String {
    let formula = syntax::parse(text).unwrap();
    let mut schema = Schema::openpbs();
    schema.add("rate", InputType::Float);
    let facts = ranges(&formula, &schema, &Ranges::default());
    facts.result().to_string()
}

/// Ranges are not only never too narrow but, where it is easy, no wider than need be.
#[test]
fn ranges_are_as_narrow_as_they_can_be() {
    let cases = [
        ("fairshare_factor", "a float from 0 to 1"),
        ("2 * fairshare_factor - 1", "a float from -1 to 1"),
        ("job_priority * queue_priority", "an int from -1047552 to 1048576"),
        ("job_priority ** 2", "an int from 0 to 1048576"),
        ("job_priority ** 3", "an int from -1073741824 to 1070599167"),
        ("1 / (1 + fairshare_factor)", "a float from 0.5 to 1"),
        ("pow(2, -fairshare_factor)", "a float from 0.5 to 1"),
        ("abs(job_priority)", "an int from 0 to 1024"),
        ("min(max(job_priority, 0), 100)", "an int from 0 to 100"),
        ("floor(10 * fairshare_factor)", "an int from 0 to 10"),
        ("accrue_type % 3", "an int from 0 to 2"),
        ("job_priority % 7", "an int from 0 to 6"),
        ("job_priority // 100", "an int from -11 to 10"),
        ("accrue_type > 2", "a truth value"),
        ("accrue_type > 4", "a truth value, 0"),
        ("1 if accrue_type > 4 else 2", "an int, 2"),
        ("accrue_type if accrue_type > 2 else 10", "an int from 3 to 10"),
        ("accrue_type if 1 < accrue_type < 4 else 3", "an int from 2 to 3"),
        ("accrue_type and 7", "an int from 0 to 7"),
        ("accrue_type or 7", "an int from 1 to 7"),
        ("sum((accrue_type, 1, 2))", "an int from 3 to 7"),
        ("round(fairshare_factor, 1)", "a float from 0 to 1.05"),
        ("sqrt(accrue_type)", "a float from 0 to 2"),
        ("accrue_type & 1", "an int from 0 to 1"),
        ("3 ** 50", "an int, about 7.17898e23"),
        ("10 ** 400 / 10 ** 399", "a float, 10"),
        ("atan2(rate, 1)", "a float from -3.14159 to 3.14159"),
        ("len((1, 2, 3))", "an int, 3"),
        ("1 / 0", "no value"),
        ("(accrue_type, 1)", "a tuple"),
        // no lower bound of -0.0, of which the power would be minus infinity
        ("(100 % (1 + fairshare_factor)) ** -1", "a float from 0.5 to 1.79769e308"),
        ("None", "`None`"),
        ("nan", "a float, or nan"),
    ];
    for (text, expected) in cases {
        assert_eq!(result(text), expected, "{text}");
    }
}
