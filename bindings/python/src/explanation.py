"""The class of Python's own: a dict, as which nothing in Rust can be made for several versions of Python."""


class Explanation(dict):
    """How the value and the rank of a job come about: the dict that `jsf explain --format json` answers, whose entries on the first
    job are attributes too."""

    __module__ = "job_sort_formula"

    def __repr__(self):
        return f"<Explanation: {self.sentence}>"


def entry(name):
    return property(lambda explanation: explanation["jobs"][0][name])


NAMES = "id entity queue state rank score exact logged sentence inputs nodes terms above below shares"
for name in NAMES.split():
    setattr(Explanation, name, entry(name))
