"""The results that are dicts, as which nothing in Rust can be made for several versions of Python: the JSON of the command, whose entries
are attributes too, and whose spans count characters instead of bytes."""


class Result(dict):
    """What a command answers as JSON, as a dict."""

    __module__ = "job_sort_formula"
    # the attribute that `repr` shows
    _shown = "formula"

    @classmethod
    def _of(cls, document):
        """The result with the spans of its formula in characters."""
        text = document["formula"]
        if not text.isascii():
            count_characters(document, text.encode())
        return cls(document)

    def __repr__(self):
        return f"<{type(self).__name__}: {getattr(self, self._shown)}>"


class Check(Result):
    """What is wrong with a formula, and what the server and the scheduler do with it."""

    _shown = "summary"

    @property
    def summary(self):
        """Whether it is accepted, and the codes of the findings."""
        accepted = {True: "accepted", False: "refused", None: "perhaps accepted"}[self.accepted]
        if self.verdict.get("by") == "qmgr":
            accepted = "refused by qmgr"
        codes = ", ".join(finding["code"] for finding in self.findings)
        return f"{accepted}, {codes}" if codes else accepted

    @property
    def accepted(self):
        """Whether the server accepts the formula; None where that cannot be determined."""
        return self["verdict"]["accepted"]


class Explanation(Result):
    """How the value and the rank of a job come about."""

    _shown = "sentence"


class Trajectory(Result):
    """The values and ranks of waiting jobs over the next hours."""


class Replay(Result):
    """The values in a log of the scheduler against those of the queue."""

    _shown = "summary"


ATTRIBUTES = {
    Check: {
        "formula": "The formula.",
        "python": "The version of Python by which it is checked.",
        "verdict": "What the server answers: accepted, code, message, by, uncertainty.",
        "crashes_scheduler": "Whether a scheduler that runs crashes as soon as it evaluates the formula.",
        "findings": "What is wrong or doubtful: code, severity, message, span, label, labels, help, fix.",
        "jobs": "With a site that has jobs: total, ignored, errors, failing. Else None.",
        "exchange_rates": "What inputs are worth in time of waiting: input, amount, unit, wait, is_constant; None if there are none.",
        "guessed_types": "Names that are numbers by the amounts of the jobs only; None if there are none.",
    },
    Trajectory: {
        "formula": "The formula.",
        "considered": "The number of jobs that the scheduler considers.",
        "seconds": "How long the jobs are followed.",
        "jobs": "The jobs that were asked for, in the order of the queue: id, entity, queue, is_complete, known_until, points, ranks.",
        "crossings": "Who overtakes whom, and when: wait, job, overtakes. `overtakes` may be a job that was not asked for.",
    },
    Replay: {
        "formula": "The formula.",
        "python": "The version of Python by which it is computed.",
        "summary": "What was found, in a sentence.",
        "lines": "The lines of the log that have a value.",
        "equal": "The values that are equal.",
        "unexplained": "The values that differ for no reason that was found.",
        "causes": "Why values differ, and for how many jobs.",
        "different": "The jobs whose values differ.",
        "unknown_jobs": "The jobs of the log that are not in the queue.",
        "not_listed": "The jobs that differ and are not listed in `different`.",
        "damaged": "The lines that cannot be read.",
    },
}
OF_JOB = {
    "id": "The id of the job.",
    "entity": "The entity of the fair-share tree, such as the user.",
    "queue": "The queue.",
    "state": "PBS's letter.",
    "rank": "From 1; None if the job is not considered.",
    "score": "The value that is sorted on.",
    "exact": "The value before it is rounded, as the text that Python's repr gives.",
    "logged": "The digits that the scheduler logs.",
    "error": "The exception that the formula raises for the job: exception, kind, message, span.",
    "sentence": "What decides, in a sentence.",
    "inputs": "What the formula reads: name, value, unit, origin.",
    "nodes": "The sub-expressions that were evaluated: span, text, value.",
    "terms": "The summands of the formula, with their signs: span, text, value.",
    "above": "Up to five jobs that are considered before this one, the nearest first, and what differs.",
    "below": "The same for the jobs after it.",
    "shares": "The nodes of the fair-share tree from the root to the entity.",
    "exchange_rates": "What an amount of each input is worth in time of waiting: input, amount, unit, wait, is_constant.",
    "changes": "What would bring the job to the rank that `to` asks for.",
}


def entry(name, doc):
    return property(lambda result: result.get(name) if name in OPTIONAL else result[name], doc=doc)


def entry_of_job(name, doc):
    return property(lambda explanation: explanation["jobs"][0][name], doc=doc)


# entries that the JSON has only where there is something
OPTIONAL = {"exchange_rates", "guessed_types", "jobs"}

for result, documented in ATTRIBUTES.items():
    for name, doc in documented.items():
        setattr(result, name, entry(name, doc))
for name, doc in OF_JOB.items():
    setattr(Explanation, name, entry_of_job(name, doc))


def count_characters(value, text):
    """Counts the spans within a value in characters; `text` is the formula in UTF-8."""
    if isinstance(value, dict):
        for name, entry in value.items():
            if name == "span":
                value[name] = {end: len(text[:at].decode(errors="ignore")) for end, at in entry.items()}
            else:
                count_characters(entry, text)
    elif isinstance(value, list):
        for entry in value:
            count_characters(entry, text)
