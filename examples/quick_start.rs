//! Parse a formula, compile it, run it for one job, and see what an error says.
//!
//! ```text
//! cargo run --example quick_start
//! ```

use std::error::Error;

use job_sort_formula::diagnostic::Span;
use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Schema, Value};

fn main() -> Result<(), Box<dyn Error>> {
    // The names that a formula may use: those of OpenPBS, and one that the site added.
    let mut schema = Schema::openpbs();
    schema.add("project_bonus", InputType::Float)?;

    // Parse, then compile. The program knows which inputs it needs, and in which order it takes
    // them.
    let formula: Formula =
        "1000 * fairshare_factor + eligible_time/3600 + project_bonus".parse()?;
    let program = formula.compile(&schema)?;
    println!("formula  {formula}");
    println!("inputs   {}", program.inputs().join(", "));

    // One job. Whole numbers and numbers with decimals are different things to Python, so they are
    // here.
    let of_the_job = |name: &str| match name {
        "fairshare_factor" => Value::Float(0.648),
        "eligible_time" => Value::Int(7200),
        "project_bonus" => Value::Float(2.5),
        _ => Value::Int(0),
    };
    let inputs: Vec<Value> = program
        .inputs()
        .iter()
        .map(|name| of_the_job(name))
        .collect();
    println!("value    {}", program.evaluate(&inputs)?.repr());

    // A formula that the server accepts may still fail, for some jobs or for all. The error is
    // Python's, word for word, and knows the part of the formula that raised it and the values that
    // did it.
    let text = "queue_priority + eligible_time / walltime";
    let program = Formula::parse(text)?.compile(&schema)?;
    let no_walltime = [Value::Int(10), Value::Int(7200), Value::Int(0)];
    if let Err(error) = program.evaluate(&no_walltime) {
        point_at(text, error.span(), &error.to_string());
        for operand in error.operands() {
            println!("         {} is {}", operand.span.slice(text), operand.value);
        }
    }

    // A text that is no formula. Habits of other languages are told from mere typing errors.
    let text = "fairshare_factor && ncpus > 4";
    if let Err(error) = Formula::parse(text) {
        point_at(text, error.span(), &error.to_string());
        println!("         {}", error.diagnostic().help.unwrap_or_default());
    }
    Ok(())
}

/// Prints the formula with a line under the guilty part. A span counts bytes, a line has
/// characters; a place has no length.
fn point_at(text: &str, span: Span, message: &str) {
    let indent = " ".repeat(text[..span.range().start].chars().count());
    let carets = "^".repeat(span.slice(text).chars().count().max(1));
    println!("\nformula  {text}\n         {indent}{carets}\n         {message}");
}
