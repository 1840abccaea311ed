"""A program that mypy checks and nobody runs: what the stubs promise has these types."""

from datetime import timedelta

import numpy
import pandas
import polars
import pyarrow

from job_sort_formula import Answer, Formula, FormulaError, RowError, Scores, ShareTree, Site, Table, run

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
site = Site.open("examples/site", policy="pbs", numbers="exact", threshold=0.5)
check: Answer = site.run("check", formula=formula)
for finding in check.findings:
    print(finding["code"], formula.text[finding.span.start :], finding.fix and finding.fix.replacement)
print(run("check", formula="ncpus", options={"python": "3.9"})["verdict"]["accepted"])
Formula(site.formula, resources=site.resources)
ranking: Table = site.rank(formula, inputs=True)
rows: list[dict[str, object]] = ranking.to_pylist()[:10]
ids: list[str] = ranking["id"]
polars.DataFrame(ranking), pyarrow.table(ranking), pandas.DataFrame(ranking)
formula.evaluate(ranking)
print(site.explain("1", to=3)["jobs"], site.compare(None, formula).document, site.shares("fair-tree").warnings, len(ranking))
simulation = site.simulate("ncpus", workload=["2026.gz"], processors=128, warm_up="1d", decay=timedelta(hours=12), backfill="easy")
started: Table = simulation.jobs
waits: list[int] = started["wait"]
print(simulation.summary.wait.mean, [goal.met for goal in simulation.goals], simulation["summary"]["wait"]["mean"])
fit = site.run("fit", template="{fs=100:0..500} * fairshare_factor", prefer=[["1", "2"]])
print(fit.formula, fit.parameters[0].value)
ordered: Table = formula.rank(pandas.DataFrame({"ncpus": [1]}), id="name", submitted=[1], limit=3, precision="float64")
best: list[str] = ordered["id"] if "id" in ordered else [*ordered]
explained = site.explain(best[0])
why: str = explained.sentence + str(explained["jobs"])
place: int | None = explained.rank
print(explained.inputs[0].origin, explained.above[0]["terms"])
tree = ShareTree()
tree.add("root", "ada", shares=numpy.int64(3))
tree.charge("ada", 7.5)
factors: list[float] = tree.shares(["ada"])["factor"] if "ada" in tree else []
refused = FormulaError("…")
span: tuple[int, int] = refused.span
same: bool = ranking == ordered
