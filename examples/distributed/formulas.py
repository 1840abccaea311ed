"""What the programs for the engines share: the formulas, and the question that is asked of their scores."""

import pathlib

from job_sort_formula import Formula

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "formulas"
# what `resourcedef` of the site declares
RESOURCES = {
    name: "long"
    for name in """base_score score_boost enable_wfp wfp_factor total_cpus enable_backfill backfill_max backfill_factor
    enable_fifo fifo_factor""".split()
} | {"project_priority": "float"}

FORMULAS = {
    "pp718": Formula((FOLDER / "pp718.txt").read_text().strip()),
    "alcf": Formula((FOLDER / "alcf.txt").read_text().strip(), RESOURCES),
    # the expansion factor, as in Maui
    "xfactor": Formula("queue_priority + 100 * (eligible_time + walltime) / walltime"),
}
FLOATS = {"project_priority", "fairshare_perc", "fairshare_tree_usage", "fairshare_factor"}
# every column that some formula reads
INPUTS = list(dict.fromkeys(name for formula in FORMULAS.values() for name in formula.inputs))

# A job competes with those of its week. Each place is counted over the jobs that have a score under both.
COMPARE = """
select entity, count(*) as jobs, avg(cast(old_place as double) - new_place) as gained
from (
    select entity,
        rank() over (partition by week order by pp718 desc) as old_place,
        rank() over (partition by week order by alcf desc) as new_place
    from scores where pp718 is not null and alcf is not null
) as places
group by entity order by gained desc, entity
"""
# A formula that fails for a job has no score: these are counted, never taken for 0.
FAILED = "select count(*) as jobs, " + ", ".join(
    f"count(*) - count({name}) as {name}_failed" for name in FORMULAS
) + " from scores"
