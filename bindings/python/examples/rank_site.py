"""Ranks a site's queue under the formula in force and under another one, and says who would gain.

python3 rank_site.py [SITE [FORMULA]]
"""

import sys

import polars

from job_sort_formula import Formula, Site

path = sys.argv[1] if len(sys.argv) > 1 else "examples/site"
text = sys.argv[2] if len(sys.argv) > 2 else "100 * fairshare_factor + eligible_time / 3600"

site = Site.open(path)
new = Formula(text)
for finding in site.run("check", formula=new).findings:
    print(finding.severity, finding.code, finding.message)

jobs = polars.DataFrame(site.rank(new, inputs=True))
print(jobs.select("rank", "id", "entity", *new.inputs, "score").head(5))

# the same numbers, from the columns of any table
scores = new.evaluate(jobs)
assert scores.to_numpy().astype("float32").astype("float64").tolist() == jobs["score"].to_list()

moves = site.compare(None, new)
print(f"{moves.document['summary']['moved']} of {len(moves)} jobs move")
by_entity = polars.DataFrame(moves).group_by("entity").agg(polars.col("moved").sum(), polars.len().alias("jobs"))
print(by_entity.sort("moved", descending=True).head(3))
