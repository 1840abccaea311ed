"""The results that are dicts, as which nothing in Rust can be made for several versions of Python: the JSON of the command, whose entries
are attributes too, and whose spans count characters instead of bytes."""


class Result(dict):
    """What a command answers as JSON, as a dict."""

    __module__ = "job_sort_formula"
    # the attribute that `repr` shows
    _shown = "formula"
    # what is not in the JSON
    _others = {}

    @classmethod
    def _of(cls, document, **others):
        """The result with the spans of its formula in characters."""
        text = document["formula"]
        if not text.isascii():
            count_characters(document, text.encode())
        result = cls(document)
        result._others = others
        return result

    def _entry(self, name):
        return self._others[name] if name in self._others else self.get(name)

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
    """How the value and the rank of a job come about. The attributes are the entries of the job."""

    _shown = "sentence"

    def _entry(self, name):
        return self["jobs"][0].get(name)


class Trajectory(Result):
    """The values and ranks of waiting jobs over the next hours."""


class Replay(Result):
    """The values in a log of the scheduler against those of the queue."""

    _shown = "summary"


class Simulation(Result):
    """A log of jobs, run through time under a formula. `jobs` is a table."""


class Fit(Result):
    """The constants that were found for a template, and the formula with them."""


ATTRIBUTES = {
    Check: "formula python verdict crashes_scheduler findings jobs exchange_rates guessed_types",
    Explanation: "id entity queue state rank score exact logged error sentence inputs nodes terms above below shares exchange_rates changes",
    Trajectory: "formula considered seconds jobs crossings",
    Replay: "formula python summary lines equal unexplained causes different unknown_jobs not_listed damaged",
    Simulation: "formula jobs summary goals failed warnings",
    Fit: "formula qmgr feasible recommendation reason parameters wishes goals objective complete warnings",
}


def entry(name):
    return property(lambda result: result._entry(name))


for kind, names in ATTRIBUTES.items():
    for name in names.split():
        setattr(kind, name, entry(name))


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
