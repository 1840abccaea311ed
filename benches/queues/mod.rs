//! Jobs for the benches: invented, the same in every run, with numbers like those of a real queue.

use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Program, Schema, Value};

pub const PP718: &str = include_str!("../../examples/formulas/pp718.txt");
pub const ALCF: &str = include_str!("../../examples/formulas/alcf.txt");

/// Compiled for OpenPBS with whatever resources the formula names.
pub fn compile(text: &str) -> Program {
    let formula = Formula::parse(text.trim()).expect("a formula");
    let mut schema = Schema::openpbs();
    // a resource of this name would hide the function
    for name in formula
        .names()
        .into_iter()
        .filter(|name| !["min", "max"].contains(name))
    {
        // OpenPBS defines some of them
        let _ = schema.add(name, InputType::Float);
    }
    formula.compile(&schema).expect("arithmetic")
}

/// Draws numbers from 0 to below 1 (SplitMix64).
pub struct Draws(pub u64);

impl Draws {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, end: i64) -> i64 {
        (self.uniform() * end as f64) as i64
    }
}

/// One input of one job.
pub fn input(name: &str, draws: &mut Draws) -> Value {
    match name {
        "fairshare_perc" => Value::Float(0.0001 + 0.3 * draws.uniform()),
        "fairshare_tree_usage" => Value::Float(0.5 * draws.uniform()),
        "fairshare_factor" => Value::Float(draws.uniform()),
        "base_score" => Value::Int([0, 51, 100][draws.below(3) as usize]),
        "score_boost" => Value::Int(if draws.below(50) == 0 {
            draws.below(500)
        } else {
            0
        }),
        "enable_wfp" | "enable_backfill" => Value::Int(draws.below(2)),
        "enable_fifo" => Value::Int(1),
        "wfp_factor" => Value::Int(100_000),
        "total_cpus" => Value::Int(560 * 64),
        "backfill_max" => Value::Int(50),
        "backfill_factor" => Value::Int(84_600),
        "fifo_factor" => Value::Int(1800),
        "project_priority" => Value::Int([1, 2, 10, 25][draws.below(4) as usize]),
        "eligible_time" => Value::Int(draws.below(200_000)),
        "walltime" => Value::Int(600 + draws.below(86_400)),
        "mem" => Value::Int(262_144 + draws.below(512 << 20)),
        _ => Value::Int(1 + draws.below(1024)),
    }
}
