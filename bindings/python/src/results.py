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
        accepted = {True: "accepted", False: "refused", None: "perhaps accepted"}[self.accepted]
        codes = ", ".join(finding["code"] for finding in self.findings)
        return f"{accepted}, {codes}" if codes else accepted

    @property
    def accepted(self):
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
    Check: "formula python verdict crashes_scheduler findings",
    Trajectory: "formula considered seconds jobs crossings",
    Replay: "formula python summary lines equal unexplained causes different unknown_jobs not_listed not_searched damaged",
}
OF_JOB = "id entity queue state rank score exact logged error sentence inputs nodes terms above below shares changes"


def entry(name):
    return property(lambda result: result[name])


def optional_entry(name):
    return property(lambda result: result.get(name))


def entry_of_job(name):
    return property(lambda explanation: explanation["jobs"][0][name])


for result, names in ATTRIBUTES.items():
    for name in names.split():
        setattr(result, name, entry(name))
for name in OF_JOB.split():
    setattr(Explanation, name, entry_of_job(name))
for name in ("jobs", "guessed_types"):
    setattr(Check, name, optional_entry(name))


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
