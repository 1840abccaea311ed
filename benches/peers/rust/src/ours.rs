//! This project, through its public face, as a scheduler would embed it.

use std::error::Error;

use job_sort_formula::Formula;
use job_sort_formula::JobTable;
use job_sort_formula::Program;
use job_sort_formula::Schema;
use job_sort_formula::Value;
use job_sort_formula::jobs::Job;
use job_sort_formula::rank::OnError;
use job_sort_formula::rank::ScorePrecision;
use job_sort_formula::rank::Scores;
use job_sort_formula::rank::score;
use job_sort_formula::schema::InputType;

use crate::Pass;
use crate::columns::Columns;

/// A compiled formula and the table of its inputs. It uses all processors that the process may use.
pub struct Ours {
    program: Program,
    table: JobTable,
}

impl Ours {
    pub fn new(text: &str, columns: &Columns) -> Result<Self, Box<dyn Error>> {
        let formula: Formula = text.parse()?;
        let mut schema = Schema::openpbs();
        for name in formula
            .names()
            .iter()
            .filter(|name| columns.column(name).is_ok())
        {
            // OpenPBS defines some of them
            let _ = schema.add(name, InputType::Float);
        }
        let program = formula.compile(&schema)?;
        let names = || program.inputs().iter().map(|name| &**name);
        let inputs = names()
            .map(|name| columns.column(name))
            .collect::<Result<Vec<_>, _>>()?;
        let mut table = JobTable::new(names());
        for row in 0..columns.jobs() {
            let values = inputs.iter().map(|column| match column.numbers[row] {
                number if column.is_whole => Ok(Value::Int(number as i64)),
                number => Ok(Value::Float(number)),
            });
            let id = format!("{row}.server");
            table.push(
                &Job {
                    id: &id,
                    ..Job::default()
                },
                &values.collect::<Vec<_>>(),
            )?;
        }
        Ok(Self {
            program,
            table,
        })
    }
}

impl Pass for Ours {
    type Results = Scores;

    fn run(&self) -> Result<Scores, Box<dyn Error>> {
        Ok(score(
            &self.program,
            &self.table,
            ScorePrecision::Double,
            OnError::ZeroLikePbs,
        ))
    }

    fn numbers(results: Scores) -> Vec<f64> {
        results.values()
    }
}
