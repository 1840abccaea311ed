"""Parses, evaluates and explains PBS job_sort_formula expressions exactly as the scheduler does."""

import html
import json
import operator
import os

from . import _native
from ._native import FormulaError, RowError, Scores, __version__

__all__ = ["Answer", "Formula", "FormulaError", "RowError", "Scores", "ShareTree", "Site", "Table", "__version__", "run"]


class Table(dict):
    """Rows of jobs or nodes: lists by the names of the columns. ``len(table)`` is the number of rows."""

    def __init__(self, columns=(), warnings=(), document=None):
        super().__init__(columns)
        self.warnings = list(warnings)
        self.document = document or {}

    @classmethod
    def _of_rows(cls, rows, names, document):
        """The table of the rows of an answer, which are dicts; without rows it has the columns `names`."""
        names = list(rows[0]) if rows else names.split()
        columns = {name: [row.get(name) for row in rows] for name in names}
        return cls(columns, document.pop("warnings", []), document)

    @property
    def column_names(self):
        return list(self)

    def __missing__(self, name):
        if isinstance(name, str):
            raise KeyError(name)
        raise TypeError("expected the name of a column; `to_pylist()` gives the rows")

    def __len__(self):
        return len(next(iter(self.values()), ()))

    def to_pydict(self):
        return dict(self)

    def to_pylist(self):
        return [dict(zip(self, row)) for row in zip(*self.values())]

    def to_pandas(self):
        import pandas

        return pandas.DataFrame({name: pandas.Series(values, dtype=_dtype(values)) for name, values in self.items()})

    def __arrow_c_stream__(self, requested_schema=None):
        return _native.exported(self)

    def __repr__(self):
        return f"<{_counted(len(self), 'row')}: {', '.join(self)}>"

    def _repr_html_(self):
        cells = lambda values, kind: "".join(f"<{kind}>{html.escape(str(value))}</{kind}>" for value in values)
        rows = [cells(row, "td") for row in list(zip(*self.values()))[:20]]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{cells(self, 'th')}</tr></thead><tbody>{body}</tbody></table><p>{_counted(len(self), 'row')}</p>"


def _dtype(values):
    """The type of a column of pandas."""
    kinds = {type(value) for value in values if value is not None}
    has_none = None in values
    if kinds == {int} and all(_is_int64(value) for value in values if value is not None):
        return "Int64" if has_none else "int64"
    if kinds and kinds <= {int, float}:
        return "float64"
    return "bool" if kinds == {bool} and not has_none else "object"


class Answer(dict):
    """What a command answers as JSON: a dict, whose members are attributes too. Spans count characters of ``formula``."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Formula(_native.Formula):
    """A formula, compiled for the names of OpenPBS and the resources of a site. It is immutable, and threads may share it."""

    __module__ = "job_sort_formula"

    def rank(self, table, *, id=None, submitted=None, limit=None, precision="float32"):
        """The jobs of a table in the order in which the scheduler considers them: the higher value first, then the earlier submission,
        then the row."""
        if limit is not None and limit < 0:
            raise ValueError(f"limit is {limit}, expected 0 or more")
        order = None if submitted is None else _by_time(_column("submitted", submitted, table))
        columns, warnings, rows = self._ranked(table, order, limit, precision)
        if id is not None:
            ids = _ids(_column("id", id, table))
            if len(ids) != rows:
                raise ValueError(f"`id` has {_counted(len(ids), 'row')}, the table has {rows}")
            columns = {"rank": columns.pop("rank"), "id": [ids[row] for row in columns["row"]], **columns}
        return Table(columns, warnings)


class ShareTree(_native.ShareTree):
    """A fair-share tree of one's own, with OpenPBS's policy: groups and entities with shares, which are charged for what they use."""

    __module__ = "job_sort_formula"

    def shares(self, names=None):
        """The numbers of these nodes, by default of all."""
        if isinstance(names, str):
            names = [names]
        return Table(super().shares(names if names is None else list(names)))


class Site:
    """A site: its server, queues, resources, scheduler settings, fair-share tree and jobs."""

    def __init__(self, path, **options):
        self._path, self._options = path, options
        self._opened = _native.Site(path, json.dumps(options, allow_nan=False))

    @classmethod
    def open(cls, path, **options):
        """Opens a folder made by ``jsf capture``, a ``pbs_snapshot``, or a tar archive of one."""
        return cls(os.path.abspath(path), **{name: value for name, value in options.items() if value is not None})

    def __getstate__(self):
        return self._path, self._options

    def __setstate__(self, state):
        self.__init__(state[0], **state[1])

    def __repr__(self):
        return f"<Site: {self._path}>"

    @property
    def formula(self):
        """The formula in force."""
        return self._opened.formula

    @property
    def python(self):
        """The version of Python that the server embeds."""
        return self._opened.python

    @property
    def resources(self):
        """The resources that the site's files declare and a formula can use, with their types."""
        return self._opened.resources

    @property
    def warnings(self):
        """What is doubtful about the files, one sentence each."""
        return self._opened.warnings

    def run(self, command, **request):
        """What ``jsf COMMAND --format json`` answers about the site."""
        request = {name: value for name, value in request.items() if value is not None}
        answer = self._opened.run(command, json.dumps(request, allow_nan=False, default=self._encoded))
        answer = json.loads(answer, object_hook=Answer)
        text = answer.get("formula") or ""
        if not text.isascii():
            _count_characters(answer, text.encode())
        return answer

    def rank(self, formula=None, *, inputs=False):
        """The jobs in the order in which the scheduler considers them, then those that it does not consider."""
        answer = self.run("rank", formula=formula, inputs=inputs)
        rows = []
        for job in answer.pop("jobs"):
            shown = {name: _number(value) for name, value in job.pop("inputs", {}).items()}
            rows.append({**job, "error": job.error and job.error.message, **shown})
        names = "rank id entity queue state score exact logged error considered excluded reason"
        return Table._of_rows(rows, names, answer)

    def explain(self, job, formula=None, *, to=None):
        """How the value and the rank of a job come about."""
        if not job:
            raise ValueError("`job` is empty, expected the id of a job")
        answer = self.run("explain", formula=formula, jobs=[job], to=to)
        return Answer({**answer, **answer.jobs[0]})

    def compare(self, old, new):
        """Every considered job with its ranks and scores under both formulas, in the new order."""
        answer = self.run("compare", old=old, new=new)
        return Table._of_rows(answer.pop("jobs"), "id entity queue old_rank new_rank old_score new_score moved", answer)

    def shares(self, policy=None):
        """The nodes of the fair-share tree, parents first, with the numbers of a policy."""
        answer = self.run("shares", policy=policy)
        for node in answer.nodes:
            if "level_fs" in node:
                node["level_fs"] = _number(node.level_fs)
        return Table._of_rows(answer.pop("nodes"), "name path kind", answer)

    def simulate(self, formula=None, *, workload, processors=None, **options):
        """Runs a log of jobs through time under a formula, by the rules of the site's scheduler."""
        answer = self.run("simulate", formula=formula, workload=workload, processors=processors, **options)
        jobs = Table._of_rows(answer.jobs, "id entity queue processors submit start end", {})
        jobs["wait"] = [start - submit for start, submit in zip(jobs["start"], jobs["submit"])]
        answer["jobs"] = jobs
        return answer

    def _encoded(self, value):
        """What JSON does not have."""
        if isinstance(value, _native.Formula):
            self._check_made_for(value)
            return value.text
        if hasattr(value, "total_seconds"):
            return int(value.total_seconds())
        return os.fspath(value)

    def _check_made_for(self, formula):
        """Refuses a formula that was compiled for another Python, or for other types of the site's resources."""
        if formula.python not in (None, self.python):
            raise ValueError(
                f"the formula was made for Python {formula.python}, and the site has Python {self.python}: give `Formula(…, python=site.python)`, "
                f'or `Site.open(…, python="{formula.python}")`'
            )
        defined = self.resources
        for name, kind in formula.resources.items():
            if name in formula.inputs and name in defined and defined[name] != {"int": "long"}.get(kind, kind):
                raise ValueError(
                    f"the formula declares `{name}` as `{kind}`, and the site defines it as `{defined[name]}`: give "
                    "`Formula(…, resources=site.resources)`"
                )


def run(command, *, site=None, options=None, **request):
    """What ``jsf COMMAND --format json`` answers, with the files of a site or without."""
    path = site if site is None else os.path.abspath(site)
    return Site(path, **(options or {})).run(command, **request)


def _count_characters(value, text):
    """Counts the spans within a value in characters; `text` is the formula in UTF-8."""
    if isinstance(value, list):
        for entry in value:
            _count_characters(entry, text)
    elif isinstance(value, dict):
        for name, entry in value.items():
            if name == "span":
                value[name] = Answer({end: len(text[:at].decode(errors="ignore")) for end, at in entry.items()})
            else:
                _count_characters(entry, text)


def _column(what, given, table):
    """The values of a column that is given by its name in a table, or as itself; those that are missing are None."""
    if isinstance(given, str):
        try:
            given = table[given]
        except Exception as error:
            raise KeyError(f"`{what}`: the table has no column `{given}`") from error
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise TypeError(f"`{what}`: expected a column or its name")
    if what == "submitted" and hasattr(given, "to_physical"):
        # the times of polars have more digits than those of Python
        given = given.to_physical()
    values = given.to_pylist() if hasattr(given, "to_pylist") else given
    return [None if _is_missing(value) else value for value in values]


def _is_missing(value):
    """Whether a value stands for none: None, what does not equal itself (NaN, NaT), and the NA of pandas, which is neither."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _by_time(times):
    """The rows in the order of their submission; those without one come last."""
    known = [row for row, time in enumerate(times) if time is not None]
    return sorted(known, key=times.__getitem__) + [row for row, time in enumerate(times) if time is None]


def _ids(values):
    """Ids as integers if all that are known are integers of 64 bits, else as texts."""
    try:
        ids = [None if value is None else operator.index(value) for value in values]
        is_whole = all(id is None or _is_int64(id) for id in ids) and not any(isinstance(value, bool) for value in values)
    except TypeError:
        is_whole = False
    return ids if is_whole else [None if value is None else str(value) for value in values]


def _number(value):
    """A number that JSON may have as a text, because it is not finite or has more than 64 bits."""
    if not isinstance(value, str):
        return value
    return int(value) if value.lstrip("-").isdecimal() else float(value)


def _is_int64(value):
    return -(2**63) <= value < 2**63


def _counted(count, thing):
    return f"{count} {thing}{'' if count == 1 else 's'}"
