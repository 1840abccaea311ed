"""A slow simulator, written from the rules in tests/golden/simulate/SPEC.md and from nothing else.

Standard input has a case as a JSON object in each line: `workload` (the text of a log in the Standard Workload Format),
`processors`, `formula`, `backfill` and perhaps `tree`, `decay` and `decay_factor`. For each case a line of JSON with the
start time of every job is written. What the rules leave open is decided as in `jsf simulate`: a job without a run time,
without processors, or that asks for more processors than there are is left out, as if the log did not have it; and a group
`unknown` with the tree's `unknown_shares` takes the entities that are not in the tree.
"""

import json
import math
import sys

NAMES = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}


class Job:
    def __init__(self, fields):
        self.id = int(fields[0])
        self.submit = int(fields[1])
        self.run = int(fields[3])
        allocated, requested, requested_time = int(fields[4]), int(fields[7]), int(fields[8])
        self.processors = requested if requested > 0 else allocated
        self.walltime = requested_time if requested_time > 0 else self.run
        self.entity = fields[11]
        self.start = None
        self.value = None

    def end(self):
        return self.start + min(self.run, self.walltime)


class Tree:
    def __init__(self, document, entities):
        self.usage = {}
        self.place = {}  # entity: the list of (members of a group, own node) from the top down
        self.top = document["children"]
        self.collect(self.top, [])
        members = [{"name": entity, "shares": 1} for entity in entities if entity not in self.place]
        unknown = {"name": "unknown", "shares": document.get("unknown_shares", 0), "children": members}
        self.top = [unknown] + self.top
        self.usage, self.place = {}, {}
        self.collect(self.top, [])

    def collect(self, siblings, above):
        for node in siblings:
            if "children" in node:
                self.collect(node["children"], above + [(siblings, node)])
            else:
                self.usage[node["name"]] = 1.0
                self.place[node["name"]] = above + [(siblings, node)]

    def usage_of(self, node):
        if "children" not in node:
            return self.usage[node["name"]]
        return self.total(node["children"])

    def total(self, siblings):
        total = 0.0
        for node in siblings:
            total += self.usage_of(node)
        return total

    def numbers(self, entity):
        perc, effective = 1.0, None
        everything = self.total(self.top)
        for siblings, node in self.place[entity]:
            shares = sum(sibling["shares"] for sibling in siblings)
            fraction = node["shares"] / shares if shares else 0.0
            actual = self.usage_of(node) / everything
            perc = fraction * perc
            effective = actual if effective is None else actual + (effective - actual) * fraction
        factor = 2.0 ** -(effective / perc) if perc else 0.0
        return {"fairshare_perc": perc, "fairshare_tree_usage": effective, "fairshare_factor": factor}

    def decay(self, factor):
        for entity in self.usage:
            self.usage[entity] = max(1.0, self.usage[entity] * factor)


def evaluate(formula, job, now, tree):
    names = {
        "ncpus": job.processors,
        "walltime": job.walltime,
        "eligible_time": now - job.submit,
        "queue_priority": 0,
        "job_priority": 0,
    }
    if tree:
        names.update(tree.numbers(job.entity))
    try:
        return float(eval(formula, NAMES, names))
    except Exception:
        return 0.0


def simulate(case):
    machine = case["processors"]
    lines = [line.split() for line in case["workload"].splitlines()]
    jobs = [Job(fields) for fields in lines if fields and not fields[0].startswith(";")]
    jobs = [job for job in jobs if 0 < job.processors <= machine and job.run >= 0]
    entities = sorted({job.entity for job in jobs}, key=str)
    tree = Tree(case["tree"], entities) if case.get("tree") else None
    formula = compile(case["formula"], "formula", "eval")
    pending, waiting, running = sorted(jobs, key=lambda job: -job.submit), [], []
    clock = None
    while pending or running:
        now = min([job.submit for job in pending[-1:]] + [job.end() for job in running])
        if tree:
            clock = now if clock is None else clock

            def charge(until):
                for job in running:
                    tree.usage[job.entity] += job.processors * (until - clock)

            if case.get("decay"):
                multiple = (clock // case["decay"] + 1) * case["decay"]
                while multiple <= now:
                    charge(multiple)
                    clock = multiple
                    tree.decay(case["decay_factor"])
                    multiple += case["decay"]
            charge(now)
            clock = now
        running = [job for job in running if job.end() > now]
        while pending and pending[-1].submit == now:
            waiting.append(pending.pop())
        cycle(case, formula, machine, now, waiting, running, tree)
        waiting = [job for job in waiting if job.start is None]
    return {str(job.id): job.start for job in jobs}


def cycle(case, formula, machine, now, waiting, running, tree):
    for job in waiting:
        job.value = evaluate(formula, job, now, tree)
    order = sorted(waiting, key=lambda job: (-job.value, job.submit, job.id))
    free = machine - sum(job.processors for job in running)
    top = shadow_time = extra = None
    for job in order:
        fits = job.processors <= free
        if top is None and not fits:
            top = job
            if case["backfill"] == "none":
                return
            if case["backfill"] == "easy":
                shadow_time, extra = reserve(running, free, job.processors)
            continue
        if not fits:
            continue
        if top is not None and case["backfill"] == "easy" and now + job.walltime > shadow_time:
            if job.processors > extra:
                continue
            extra -= job.processors
        job.start = now
        free -= job.processors
        running.append(job)


def reserve(running, free, needed):
    shadow_time = None
    for job in sorted(running, key=lambda job: job.start + job.walltime):
        end = job.start + job.walltime
        if shadow_time is not None and end > shadow_time:
            break
        free += job.processors
        if shadow_time is None and free >= needed:
            shadow_time = end
    return shadow_time, free - needed


for line in sys.stdin:
    print(json.dumps(simulate(json.loads(line))), flush=True)
