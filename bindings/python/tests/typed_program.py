"""A program that mypy checks and nobody runs: what the stubs promise has these types."""

from datetime import timedelta
from io import BytesIO, StringIO

import numpy
import pandas
import polars
import pyarrow

from job_sort_formula import Check, Fit, Formula, FormulaError, Queue, Replay, RowError, Scores, ShareTree, Simulation, Site, Table, Template, Trajectory, Workload, openpbs_digits, simulate

formula = Formula("eligible_time / 3600 + 8 * ngpus / ncpus", resources={"ngpus": "int"})
names: tuple[str, ...] = formula.inputs
scores: Scores = formula.evaluate(eligible_time=[7200, None], ncpus=numpy.array([4, 0]), ngpus=1, threads=2)
formula.evaluate(pandas.DataFrame({"ncpus": [1]}), eligible_time=pandas.Series([1]), ngpus=polars.Series([1]))
formula.evaluate(polars.DataFrame({"ncpus": [1]}), eligible_time=[1.5], ngpus=True)
formula.evaluate(pyarrow.table({"ncpus": [1], "eligible_time": [1], "ngpus": [1]}))
formula.evaluate({"ncpus": pyarrow.array([1]), "eligible_time": range(1), "ngpus": (1,)})
frame = pandas.DataFrame({"ncpus": [1, 2]})
frame["score"] = Formula("ncpus").evaluate(frame).to_numpy()
errors: list[RowError] = scores.errors
parts: list[str] = [formula.text[slice(*error.span)] for error in errors]
first: float | None = scores[0]
values: list[float | None] = list(scores)
logged: list[str | None] = scores.logged()
check: Check = formula.check()
for finding in check.findings:
    print(finding["code"], formula.text[finding["span"]["start"] :], finding["fix"] and finding["fix"]["replacement"])
print(check.accepted, check["verdict"], check.jobs and check.jobs["failing"], check.crashes_scheduler)
site = Site.open("examples/site", policy="pbs", numbers="exact", threshold=0.5)
Formula(site.formula, resources=site.resources)
ranking: Table = site.rank(formula, inputs=True)
rows: list[dict[str, object]] = ranking.to_pylist()[:10]
ids: list[str] = ranking["id"]
polars.DataFrame(ranking), pyarrow.table(ranking), pandas.DataFrame(ranking.to_pydict())
formula.evaluate(ranking)
formula.evaluate(Queue.read("examples/site/qstat.json", ["ncpus"], resources={"ngpus": "int"}))
print(site.explain("1", to=3)["jobs"], site.compare(None, formula).document, site.shares("fair-tree").warnings, len(ranking))
workload = Workload.read(["2026.gz", "2027.gz"], site=site, formulas=[formula, "ncpus"], goals="goals.toml", overrun="keep")
simulation: Simulation = site.simulate("ncpus", workload=workload, processors=128, warm_up="1d", decay=3600, backfill="easy")
started: Table = simulation.jobs
waits: list[int] = started["wait"]
print(simulation.summary["wait"]["mean"], [goal["met"] for goal in simulation.goals], simulation.failed, len(workload))
polars.DataFrame(simulate("log.swf", formula, processors=simulation["summary"]["jobs"]).jobs)
template = Template("{fs=100:0..500} * fairshare_factor + {age=1:0..50} * eligible_time / 3600")
fit: Fit = site.fit(template, wishes=["1", "2"], evaluations=100, progress=lambda evaluations, planned, best: evaluations < 50)
site.fit(template.text, wishes=[["1", "2"], ["3"]], prefer=[("1", "2")])
found: dict[str, float] = {parameter["name"]: parameter["value"] for parameter in fit.parameters}
filled: str = template.fill(found)
starts: list[float] = [constant.start for constant in template.constants]
objective = site.objective(template, goals="goals.toml", workload=workload, processors=128)
missed: float = objective.evaluate(starts)["missed"] + objective.evaluate({"fs": 1})["missed"]
fit = site.fit(template, goals="goals.toml", workload=workload, processors=128, held_out=0.25, warm_up="1d")
print(fit.qmgr, [goal["held_out"]["met"] for goal in fit.goals], fit.objective and fit.objective["held_out"]["low"])
ordered: Table = formula.rank(pandas.DataFrame({"ncpus": [1]}), id="name", submitted=[1], limit=3, precision="float64")
best: list[str] = ordered["id"] if "id" in ordered else [*ordered]
why: str = site.explain(best[0]).sentence + str(site.explain(best[0])["jobs"])
tree = ShareTree()
tree.add("root", "ada", shares=3)
tree.charge("ada", 7.5)
factors: list[float] = tree.shares(["ada"])["factor"]
trajectory: Trajectory = site.trajectory(ids[:3], "eligible_time", hours=2)
waits = [crossing["wait"] for crossing in trajectory.crossings] + [job["points"][0]["rank"] for job in trajectory.jobs]
replay: Replay = site.replay("sched.log")
print(replay.equal, replay["summary"], site.explain("1").inputs[0]["origin"], site.explain("1").above[0]["terms"])
tree.charge(numpy.array(["ada", "emmy"]), pandas.Series([1.0, 2.0]))
tree.charge(["ada"], [1])
tree.add("root", "emmy", shares=numpy.int64(2), usage=1.5)
factors = tree.shares("ada", numbers="openpbs")["factor"] if "ada" in tree else []
digits: list[int | float | None] = openpbs_digits(pandas.Series([1 / 3]))
trajectory = site.trajectory("184127")
formula.rank({"ncpus": [1], "user": ["ada"], "id": numpy.array(["1"])}, id="id")
refused = FormulaError("…")
span: tuple[int, int] = refused.span
filled = template.fill(numpy.array([1.0, 2.0]))
fit = site.fit(template, wishes=(id for id in ids), prefer=[["1", "2"]])
simulation = site.simulate(workload=workload, warm_up=timedelta(days=1), decay=timedelta(hours=12))
site.simulate(workload=b"", goals={"goal": [{"measure": "wait", "at_most": "4h"}]})
with open("accounting", "rb") as log, open("goals.toml") as goals:
    simulation = simulate([log, "1 0\n", BytesIO()], formula, goals=goals)
replay = site.replay(StringIO("log"))
same: bool = ranking == ordered
