"""Parses, evaluates and explains PBS job_sort_formula expressions exactly as the scheduler does."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypedDict, Union, final, overload, type_check_only

import numpy
import numpy.typing

__version__: str
__all__ = [
    "Check",
    "Constant",
    "Explanation",
    "Fit",
    "Formula",
    "FormulaError",
    "Objective",
    "Queue",
    "Replay",
    "RowError",
    "Scores",
    "ShareTree",
    "Simulation",
    "Site",
    "Table",
    "Template",
    "Trajectory",
    "Workload",
    "__version__",
    "openpbs_digits",
    "simulate",
]

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class _Array(Protocol):
    def __array__(self) -> Any: ...

_Numbers = Sequence[Union[int, float, None]]
_Column = Union[int, float, _Numbers, _ArrowArray, _ArrowStream, _Array]
"""A number for every job, or a column with a number for each job: of numpy, pandas, polars, pyarrow, anything that exports
Arrow, or a list, in which None is null.

int32, int64 and float64 are read in place. bool (as 0 and 1), the smaller integers, uint32, float16, float32, dictionaries, run-end encoded
columns and columns of numpy with swapped bytes are converted
without loss, and so is uint64; a number in it beyond int64 is a ValueError. The integers of a list that also has floats must
be exact as floats. Decimals, times and texts are a TypeError. What is missing in a column of pandas (NaN, None, NA) is null, with and without
pyarrow; elsewhere NaN is a number. The index of pandas is ignored: rows are counted from 0.

An integer stays one, as in PBS: ``7 / 2`` is 3.5 and ``7 // 2`` is 3 for both, but ``&``, ``%`` of large numbers, ``factorial`` and ``comb``
differ for floats or refuse them. pandas makes floats of a column of integers of which some are missing: ``ncpus & 1`` is then an error of
each row, and ``series.astype("Int64")`` keeps integers, and polars and pyarrow always do. In a list, in a column of pandas with the type ``object``, and in a ``Table``,
some numbers may be ints and others floats, and each stays what it is. Every other column has one type: ``pandas.Series([3, 3.5])`` are floats."""

_TableLike = Union[Mapping[str, Any], _ArrowArray, _ArrowStream]
"""A dict of columns, of which those that the formula does not read may be anything, a DataFrame of pandas or polars, a table or record batch of
pyarrow, or anything that exports Arrow."""

_Path = Union[str, PathLike[str]]

class _ReadableFile(Protocol):
    def read(self) -> str | bytes: ...

_Document = Union[_Path, bytes, bytearray, _ReadableFile]
"""The path of a file, or what would be in it: bytes, a text with a line break (without one it is a path), or an open file, which is read to its
end. What gzip or zstd has compressed is decompressed. Messages call bytes and texts by the name of their argument, such as ``workload``."""

_Logs = Union[_Document, Sequence[_Document]]
_Goals = Union[_Document, Mapping[str, Any]]
"""Goals in TOML, or a dict with what it would say, as ``tomllib`` reads it: ``{"goal": [{"name": …, "measure": "wait", "statistic": "p95",
"at_most": "4h"}]}``. In messages about a dict, the line is the number of the goal. A duration in it is a text, not a ``timedelta``."""

_Duration = Union[int, str, timedelta]
"""Seconds, a text such as ``"24h"``, ``"7d"`` or ``"12:30:00"``, or a ``datetime.timedelta``, of which whole seconds count."""

# The names that begin with an underscore are in this file only: the values of these types are plain dicts and tuples, and there is
# nothing to import at run time.

class FormulaError(ValueError):
    """A formula is Python but not arithmetic: in a ``Formula``, and wherever a ``Site`` takes the text of one."""

    span: tuple[int, int]
    """The place in characters: ``text[span[0]:span[1]]``."""

@final
class Formula:
    """A formula, compiled for the names of OpenPBS and the resources of a site. It is immutable; threads may share it, and it
    can be pickled. ``repr`` gives what makes the same one. The text may also be pasted as ``job_sort_formula = …``,
    ``set server job_sort_formula = "…"`` or a command of ``qmgr``; ``text`` is the formula in it."""

    def __new__(cls, text: str, resources: dict[str, str] | None = None, python: str | None = None) -> Formula:
        """``resources`` declares the names that the site defines, with their types: ``"int"``, or a type of PBS: ``"long"``,
        ``"float"``, ``"size"`` (kb), ``"duration"`` (seconds), ``"boolean"``, ``"string"``, ``"string_array"``. A formula reads only
        numbers. ``Site.resources`` has those of a site. ``python`` is the version of Python that the server embeds, ``"3.6"`` to
        ``"3.14"``, which decides which functions exist and what they compute; without it that is 3.11. ``Site.python`` has that of
        a site.

        SyntaxError, with ``lineno``, ``offset`` and ``text``, if Python refuses the text; ValueError if it is Python but not
        arithmetic: a ``FormulaError`` with the place as ``span``; ValueError if a resource cannot be declared. A mistake in a pasted text has its
        place in that text.

        A ``Formula`` takes what Python takes. A ``Site`` and ``check`` take what the server gets from ``qmgr``: a line that is continued
        with a backslash, for example, is evaluated here and refused by these.

        A ``Site`` has a version of Python and resources of its own. Where it takes a ``Formula`` these decide, so that it is a ValueError if the
        formula was given another ``python``, or declares a resource that it reads otherwise than the site, or that neither the site's files nor
        its jobs have: ``Formula(text, resources=site.resources, python=site.python)`` is always right."""
    @property
    def text(self) -> str: ...
    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the formula reads, in the order of the text."""
    @property
    def undefined(self) -> tuple[str, ...]:
        """The names that neither OpenPBS nor ``resources`` defines: a ``NameError`` for every job that reaches them."""
    @property
    def resources(self) -> dict[str, str]: ...
    @property
    def python(self) -> str | None:
        """The version of Python that was given."""
    def check(self, site: Site | None = None) -> Check:
        """What is wrong with the formula. Where a message asks for something, it names the argument, or the file in the site's folder, that
        gives it. With ``site`` its resources, its version of Python and its jobs decide. ValueError if the formula was made for others."""
    def evaluate(self, table: _TableLike | None = None, /, *, threads: int | None = None, **columns: _Column) -> Scores:
        """The scores of jobs, as 64-bit floats: neither rounded to the scheduler's ``float`` nor sorted.

        Each input of the formula is a column, by name or in ``table``, whose other columns are ignored; an input called
        ``threads`` can only be in ``table``. If every column is a number there is one job. A null among the inputs of a job
        makes its score null. Other threads of Python run meanwhile. ``threads`` is the most that are used; 1 if not given.
        There are as many scores as the table has rows; for a dict these are the rows of its columns.

        One call may do about a second of work on integers of more than 64 bits, in the order of the rows: later rows that need more than a
        little of it have an error of the kind ``beyond the limits``. Evaluate such rows in several calls.

        ValueError if a column is missing, undefined, given twice (in ``table`` and by name: neither wins), or of another length; TypeError
        if its values are no numbers; ValueError for more than 2**31 - 1 rows."""
    def rank(
        self,
        table: _TableLike,
        *,
        id: str | _Column | Sequence[Any] | None = None,
        submitted: str | _Column | Sequence[Any] | None = None,
        limit: int | None = None,
        precision: Literal["float32", "float64"] = "float32",
    ) -> Table:
        """The jobs of a table in the order in which OpenPBS's scheduler considers them: the higher value first, as the C ``float`` that it keeps;
        of equal ones the earlier submission; then the row. Sorting the scores of ``evaluate`` gives another order where doubles differ
        and floats do not.

        ``id`` and ``submitted`` are the names of columns of ``table``, or columns. Ids are integers of at most 64 bits if all of them are, else
        texts, which anything else (floats, times) becomes by ``str``; one that is missing (None, NaN, NA, NaT) is None in both. Times are
        numbers, ``datetime`` or texts that sort like them, compared to the nanosecond where the column has them; those that are missing
        come last. ``limit``: only the first rows of the result, 0 or more. ``precision``: ``"float64"`` compares doubles.

        A value that is NaN equals every other one, as in the scheduler, so that its place depends on the order of submission: drop such
        jobs before, or give them a null.

        ``rank``: from 1. ``id``, if it is given. ``row``: in ``table``, from 0. ``score``: the value that is sorted on; where the formula raises an
        error that is 0, as in the scheduler (or -1, where it would crash), and ``error`` has the message; where the value cannot be computed
        here (an integer beyond the limits, a complex intermediate value) it is 0 too, and ``warnings`` says for how many rows. ``exact``: the value before it is rounded. Jobs with a null
        among their inputs come last, without a rank, and count towards ``limit``."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def openpbs_digits(amounts: _Column) -> list[int | float | None]:
    """The numbers that OpenPBS passes to a formula for these amounts of a resource, which it prints with four decimals at most: ``0.33333`` gives
    ``0.3333``, and ``0.99999`` gives ``1``, an int. ``formula.evaluate({**frame, "gpus": openpbs_digits(frame["gpus"])})`` has the scheduler's value. A
    column of a data frame has one type and makes floats of all, for which ``&``, ``%`` of large numbers, ``factorial`` and ``comb`` may differ.
    Amounts of ``Queue.read`` and of a ``Site`` have these digits already. Fair-share numbers have six: ``ShareTree.shares(…, numbers="openpbs")``.
    What is missing is None: also NaN, in lists too. TypeError if one is no number."""

@final
class RowError:
    """Why a job has no score."""

    def __eq__(self, other: object, /) -> bool: ...
    @property
    def row(self) -> int:
        """The row, from 0."""
    @property
    def message(self) -> str:
        """What Python's exception says."""
    @property
    def kind(self) -> str:
        """The kind of error. For ``division by zero``, ``domain error``, ``overflow``, ``type error``, ``unknown name`` and ``syntax
        error``, which Python raises too, OpenPBS counts 0. For ``complex number``, ``too large`` and ``not a number`` it counts -1, and its
        scheduler crashes. For ``beyond the limits`` and ``complex intermediate value`` its value is not known here."""
    @property
    def span(self) -> tuple[int, int]:
        """The part of the formula that fails, in characters: ``text[span[0]:span[1]]``."""

@final
class Scores:
    """The scores of jobs. A job with a null among its inputs has null, and so has one for which the formula raises an error.
    Exports Arrow: ``pyarrow.array(scores)``, ``polars.Series(scores)``."""

    @property
    def errors(self) -> list[RowError]:
        """The jobs for which the formula raises an error, by row."""
    @property
    def error_count(self) -> int: ...
    @property
    def null_count(self) -> int:
        """The number of nulls, with those of the errors."""
    def to_numpy(self) -> numpy.typing.NDArray[numpy.float64]:
        """A read-only array on the same memory, with NaN for null."""
    def to_pylist(self) -> list[float | None]: ...
    def logged(self) -> list[str | None]:
        """The scores as OpenPBS's scheduler logs them: rounded to its ``float``, with None for null."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> float | None: ...
    def __iter__(self) -> Iterator[float | None]: ...

@final
class Table:
    """Rows of jobs or nodes: its columns by their names, as those of a data frame, so that ``len(table)`` is the number of rows. Exports Arrow:
    ``pyarrow.table(table)``, ``polars.DataFrame(table)``. ``table.to_pandas()`` keeps integers with None, such as ``rank``, of which
    ``pandas.DataFrame(dict(table))`` makes floats; ``pandas.DataFrame(table)`` is a TypeError. pandas 3 has ``pandas.DataFrame.from_arrow(table)``,
    which copies no numbers. It cannot be pickled; ``table.to_pydict()`` can.

    An input that is whole for some jobs and fractional for others is an int for the former and a float for the latter, as in the scheduler: in the
    lists of the table, and for ``formula.evaluate(table)``. The data frames and Arrow arrays that are made of it have floats."""

    @property
    def column_names(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the files that were read and about the formulas, one sentence each; a sentence on a formula
        begins with the code of the finding."""
    @property
    def document(self) -> dict[str, Any]:
        """What is not a row: of ``Site.rank`` ``formula`` and ``summary`` (``jobs``, ``considered``, ``ignored``, ``errors``,
        ``errors_by_kind``, ``ties``); of ``Site.compare`` ``old``, ``new``, ``summary``, ``changes``, ``entities``, ``groups``, ``queues``,
        ``sizes``, ``fairness``; of ``Site.shares`` the policy and its settings; empty for a ``Queue``."""
    def keys(self) -> list[str]:
        """The names of the columns."""
    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]:
        """The names of the columns."""
    def __getitem__(self, name: str, /) -> list[Any]:
        """A column as a list."""
    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``, in which integers with None have the type ``Int64``."""
    def __array__(self, dtype: Any = None, copy: Any = None) -> None:
        """TypeError: a table is no array."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __eq__(self, other: object, /) -> bool:
        """Whether the other is a table with the same columns; ``warnings`` and ``document`` do not count."""
    def __len__(self) -> int: ...

@final
class Queue:
    """Reads the jobs of one document, with the inputs that a formula may read: ``formula.evaluate(Queue.read(path))``."""

    @staticmethod
    def read(
        path: _Document, inputs: str | Iterable[str] | None = None, resources: dict[str, str] | None = None
    ) -> Table:
        """Reads ``qstat -f`` as JSON, dsv or text, native JSON or NDJSON, also compressed. The columns are ``id``, ``entity``,
        ``queue``, ``state`` and ``inputs``, or every numeric name that OpenPBS, ``resources`` or the jobs define. As in the
        scheduler a job has 0 of what it did not request; ``warnings`` names the ``inputs`` that nothing declares. Fair-share numbers need
        a tree: see ``Site``.

        OSError if the file cannot be read, ValueError if it has no jobs."""

_Policy = Literal["pbs", "classic", "depth-oblivious", "ticket-based", "fair-tree", "weighted-walk"]

@type_check_only
class _Span(TypedDict):
    start: int
    end: int

@type_check_only
class _Label(TypedDict):
    span: _Span
    text: str

@type_check_only
class _Fix(TypedDict):
    span: _Span
    replacement: str
    applicability: str

@type_check_only
class _Finding(TypedDict):
    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    span: _Span
    label: str
    labels: list[_Label]
    help: str | None
    fix: _Fix | None

@type_check_only
class _Verdict(TypedDict, total=False):
    accepted: bool | None
    code: int | None
    message: str | None
    by: Literal["server", "qmgr"]
    uncertainty: str

@type_check_only
class _CheckedJobs(TypedDict):
    total: int
    ignored: int
    errors: int
    failing: list[str]

class Check(dict[str, Any]):
    """What is wrong with a formula, and what the server and the scheduler do with it: the dict that ``jsf check --format json`` answers,
    whose entries are attributes too. A span has its ``start`` and its ``end`` in characters of ``formula``."""

    @property
    def accepted(self) -> bool | None:
        """Whether the server accepts the text if it gets it; None where that cannot be determined. ``qmgr`` cannot pass on every text, so
        that a formula can be set with it only if ``accepted`` is True and ``verdict["by"]`` is not ``"qmgr"``."""
    @property
    def crashes_scheduler(self) -> bool:
        """Whether a scheduler that runs crashes as soon as it evaluates the formula. If every job of the site has an error, it
        crashes only when it is next started, which the finding ``JSF402`` says."""
    @property
    def exchange_rates(self) -> list[_ExchangeRate] | None:
        """What an amount of each input is worth in time of waiting, at the medians of the jobs that wait; without jobs, what holds for every
        job. None if waiting gains nothing."""
    @property
    def findings(self) -> list[_Finding]:
        """What is wrong or doubtful, with the place as ``span``, other places as ``labels``, and the change that mends it as ``fix``."""
    @property
    def formula(self) -> str: ...
    @property
    def guessed_types(self) -> list[str] | None:
        """Names that are numbers by the amounts of the jobs only; None if there are none."""
    @property
    def jobs(self) -> _CheckedJobs | None:
        """With a site that has jobs: how many there are (``total``), how many are not evaluated (``ignored``), how many have an error
        (``errors``), and the ids of those that have one (``failing``)."""
    @property
    def python(self) -> str:
        """The version of Python by which it is checked."""
    @property
    def summary(self) -> str:
        """Whether it is accepted, or ``"refused by qmgr"``, and the codes of the findings."""
    @property
    def verdict(self) -> _Verdict:
        """What the server answers: ``accepted``; the error ``code`` of PBS, 0 for none (15123: the text is no Python; 15124: a name is unknown;
        15125: a name is no number); its ``message``; who answers, ``by``: ``"server"``, or ``"qmgr"`` where this command refuses to pass the text on, whatever
        quotes it is in: the other entries then say what the server would answer if it got the text in another way, so that ``accepted`` may be
        True. Where ``accepted`` is None, ``uncertainty`` has the reason, and there is no ``by`` unless ``"qmgr"``."""

@type_check_only
class _Error(TypedDict):
    exception: str
    kind: str
    message: str
    span: _Span

@type_check_only
class _ExchangeRate(TypedDict):
    input: str
    amount: float  # in the unit of the input: 1, an hour, a gibibyte, or a tenth of a ratio
    unit: str | None
    wait: float  # the seconds of waiting that raise the value as much; negative if the amount lowers it
    is_constant: bool  # whether it is the same for jobs that differ in any one input

@type_check_only
class _ExplainedInput(TypedDict):
    name: str
    value: str | None
    unit: str | None
    origin: str

@type_check_only
class _Value(TypedDict):
    span: _Span
    text: str
    value: str

@type_check_only
class _TermDifference(TypedDict):
    text: str
    difference: str

@type_check_only
class _Neighbour(TypedDict):
    id: str
    entity: str
    rank: int
    score: float | None
    exact: str | None
    error: _Error | None
    decided_by: str
    reason: str
    rounding: str | None
    terms: list[_TermDifference]

@type_check_only
class _ShareNode(TypedDict, total=False):
    name: str
    path: list[str]
    kind: str
    shares: int
    perc: float
    usage: float
    tree_usage: float
    factor: float

class Explanation(dict[str, Any]):
    """How the value and the rank of a job come about: the dict that ``jsf explain --format json`` answers. Of the entries on its first job,
    ``explanation["jobs"][0]``, those below are attributes too. A span has its ``start`` and its ``end`` in characters of ``explanation["formula"]``."""

    @property
    def id(self) -> str:
        """The id of the job."""
    @property
    def entity(self) -> str: ...
    @property
    def queue(self) -> str: ...
    @property
    def state(self) -> str:
        """PBS's letter."""
    @property
    def rank(self) -> int | None:
        """From 1; None if the job is not considered."""
    @property
    def score(self) -> float | None:
        """The value that is sorted on."""
    @property
    def exact(self) -> str | None:
        """The value before it is rounded, as the text that Python's ``repr`` gives."""
    @property
    def logged(self) -> str | None:
        """The digits that the scheduler logs."""
    @property
    def error(self) -> _Error | None:
        """The exception that the formula raises for the job."""
    @property
    def sentence(self) -> str:
        """What decides, in a sentence."""
    @property
    def inputs(self) -> list[_ExplainedInput]:
        """What the formula reads: ``name``, ``value``, ``unit``, ``origin``."""
    @property
    def nodes(self) -> list[_Value]:
        """The sub-expressions that were evaluated."""
    @property
    def terms(self) -> list[_Value]:
        """The summands of the formula, with their signs."""
    @property
    def above(self) -> list[_Neighbour]:
        """Up to five jobs that are considered before this one, the nearest first, and what differs."""
    @property
    def below(self) -> list[_Neighbour]:
        """The same for the jobs after it."""
    @property
    def exchange_rates(self) -> list[_ExchangeRate]:
        """What an amount of each input is worth in time of waiting for this job; empty if waiting gains nothing."""
    @property
    def changes(self) -> list[dict[str, Any]]:
        """What would bring the job to the rank that ``to`` asks for: ``name``, ``from``, ``to``, ``unit``, ``means``, ``rank``."""
    @property
    def shares(self) -> list[_ShareNode]:
        """The nodes of the fair-share tree from the root to the entity."""

@type_check_only
class _FollowedPoint(TypedDict):
    wait: int
    rank: int
    score: float | None
    eligible_time: int
    known: bool

@type_check_only
class _RankAfter(TypedDict):
    wait: int
    rank: int

@type_check_only
class _Followed(TypedDict):
    id: str
    entity: str
    queue: str
    is_complete: bool
    known_until: int | None
    points: list[_FollowedPoint]
    ranks: list[_RankAfter]

@type_check_only
class _Crossing(TypedDict):
    wait: int
    job: str
    overtakes: str

class Trajectory(dict[str, Any]):
    """The values and ranks of waiting jobs over the next hours: the dict that ``jsf trajectory --format json`` answers, whose entries are
    attributes too. ``wait`` is in seconds from now."""

    @property
    def formula(self) -> str: ...
    @property
    def considered(self) -> int:
        """The number of jobs that the scheduler considers."""
    @property
    def seconds(self) -> int:
        """How long the jobs are followed."""
    @property
    def jobs(self) -> list[_Followed]:
        """The jobs that were asked for and wait, in the order of the queue: their values at some ``points``, and their ``ranks`` from each change on."""
    @property
    def crossings(self) -> list[_Crossing]:
        """Who overtakes whom, and when. One of both was asked for; the other may be any job that waits."""

class Replay(dict[str, Any]):
    """The values in a log of the scheduler against those of the queue: the dict that ``jsf replay --format json`` answers, whose entries are
    attributes too."""

    @property
    def formula(self) -> str: ...
    @property
    def python(self) -> str: ...
    @property
    def summary(self) -> str:
        """What was found, in a sentence."""
    @property
    def lines(self) -> int:
        """The lines of the log that have a value."""
    @property
    def equal(self) -> int: ...
    @property
    def unexplained(self) -> int:
        """The values that differ for no reason that was found."""
    @property
    def causes(self) -> list[dict[str, Any]]:
        """Why values differ, and for how many jobs."""
    @property
    def different(self) -> list[dict[str, Any]]:
        """The jobs whose values differ."""
    @property
    def unknown_jobs(self) -> int:
        """The jobs of the log that are not in the queue."""
    @property
    def not_listed(self) -> int: ...
    @property
    def damaged(self) -> int:
        """The lines that cannot be read."""

@final
class ShareTree:
    """A fair-share tree of one's own, with OpenPBS's policy: groups and entities with shares, which are charged for what they use. Names
    are unique. Threads may share it."""

    def __new__(cls, *, least_usage: bool = False) -> ShareTree:
        """A tree with nothing but its root, ``"root"``. Usage begins at 0; with ``least_usage`` as in OpenPBS's scheduler: every node begins at 1,
        and never decays below it. Only then ``shares(…, numbers="openpbs")`` has the scheduler's numbers; they differ much while there is little usage."""
    def add(
        self, parent: str, name: str, *, shares: SupportsIndex = 1, group: bool = False, usage: float | None = None
    ) -> None:
        """Adds an entity, or a group, under a group. ``usage`` is what it has used before, such as a line of ``pbsfs -p``: it counts for the groups
        above too, and takes the place of the 1 of ``least_usage``, to which ``charge`` would add. ``shares`` are from 0 to 2147483647, which is
        what the daemons keep. They sum the shares of siblings in 32 bits too, and so does this tree: sums beyond 2147483647 wrap and make
        ``perc`` negative, as in the scheduler. ValueError if the parent is unknown or no group, the name is there already, or a number is
        out of its range."""
    @overload
    def charge(self, name: str, amount: float) -> None:
        """Adds to the usage of a node, and so to that of the groups above it. KeyError if it is unknown, ValueError for an amount that is negative
        or would make a usage infinite."""
    @overload
    def charge(self, name: Iterable[str], amount: _Column) -> None:
        """The same for many, whose names and amounts are columns: ``tree.charge(jobs["user"], jobs["cpu_seconds"])``. If one cannot be charged,
        none is."""
    def decay(self, factor: float) -> None:
        """Multiplies every usage by a number from 0 to 1; with ``least_usage`` by the C ``float`` nearest to it, and none falls below 1."""
    def shares(self, names: str | Iterable[str] | None = None, *, numbers: Literal["exact", "openpbs"] = "exact") -> Table:
        """The numbers of these nodes in this order, by default of all, parents first: ``name``, ``path`` (from the root down), ``kind``, ``shares``, ``perc``,
        ``usage``, ``tree_usage``, ``factor``. ``perc``, ``tree_usage`` and ``factor`` are computed as in OpenPBS, as C ``float``s, so that they have about
        seven digits; ``numbers="exact"`` gives these floats as they are. As long as nobody has used anything, ``tree_usage`` and ``factor``
        of all but the root are NaN, which ``least_usage`` prevents. ``numbers="openpbs"`` gives ``perc``, ``tree_usage`` and ``factor`` six decimals, as which a formula gets them:
        ``formula.evaluate(fairshare_factor=tree.shares(users, numbers="openpbs")["factor"])``. KeyError if one is unknown."""
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int:
        """The number of nodes, with the root."""

@final
class Site:
    """A site: its server, queues, resources, scheduler settings, fair-share tree and jobs. A formula is a ``Formula`` or its text.
    Where it may be left out it is the one in force. It cannot be pickled: open it in each process."""

    @staticmethod
    def open(
        path: _Path,
        *,
        policy: _Policy | None = None,
        rules: Literal["scheduler", "documented"] | None = None,
        numbers: Literal["openpbs", "exact", "decimal"] | None = None,
        threshold: float | None = None,
        python: str | None = None,
    ) -> Site:
        """Opens a folder made by ``jsf capture``, a ``pbs_snapshot``, or a tar archive of one.

        ``policy`` is the fair-share policy: that of OpenPBS, four of Slurm (``"classic"`` to ``"fair-tree"``), or flux-accounting's
        weighted walk; without it, the one in the site's files, else ``"pbs"``. ``rules`` are those of the ``"scheduler"`` as it is, or
        as ``"documented"``. ``numbers`` reach the formula as ``"openpbs"`` prints them and its value is kept as a C ``float``;
        ``"exact"`` keeps doubles; ``"decimal"`` computes in decimals of 28 digits. ``threshold`` replaces the server's
        ``job_sort_formula_threshold``: a job whose value is at most this does not run. ``python`` is the version of Python that the server
        embeds, such as ``"3.9"``, instead of what the site's files say.

        OSError if a file cannot be read, ValueError if there is none or one has another content than it should."""
    @property
    def formula(self) -> str:
        """The formula in force."""
    @property
    def python(self) -> str:
        """The version of Python that the server embeds: the one given, else the one that the site's files say, else ``"3.11"``."""
    @property
    def resources(self) -> dict[str, str]:
        """The resources that the site's files declare and a formula can use, with their types: ``Formula(text, resources=site.resources)``."""
    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the files, one sentence each."""
    def rank(self, formula: Formula | str | None = None, *, inputs: bool = False) -> Table:
        """The jobs in the order in which the scheduler considers them, then those that it does not consider.

        ``rank``: from 1; None if the job is not considered. ``id``, ``entity`` (of the fair-share tree, such as the user), ``queue``,
        ``state`` (PBS's letter). ``score``: the value that is sorted on, in OpenPBS a C ``float`` widened to 64 bits; None if it is not
        finite, and 0 if the job has an error. ``exact``: the value before it is rounded, as the text that Python's ``repr`` gives;
        None with an error. ``logged``: the digits that the scheduler logs. ``error``: Python's message, a text (a dict in the
        JSON of ``jsf``). ``considered``: bool. ``excluded``: why not: ``"state"``, ``"threshold"``, ``"no shares"``, ``"partition"``,
        ``"routing queue"`` or ``"invalid"``, which ``reason`` says in words. ``inputs=True`` adds a column for each input of the formula. ``warnings`` has also what is
        doubtful about the formula, such as a name that is not defined, for how many jobs it fails, and whether the scheduler would
        crash at its next start."""
    def check(self, text: str) -> Check:
        """What is wrong with the text of a formula on this site. Unlike ``Formula(text)``, which raises a SyntaxError or a FormulaError, it
        answers for any text: whether the server accepts it, and where it is wrong."""
    def explain(self, job: str, formula: Formula | str | None = None, *, to: int | None = None) -> Explanation:
        """How the value and the rank of a job come about, as ``jsf explain --format json`` answers; the server's name may be left
        out of its id. ``to`` asks what would bring the job to this rank."""
    def trajectory(
        self, jobs: str | Iterable[str], formula: Formula | str | None = None, *, hours: float = 24.0
    ) -> Trajectory:
        """The values and ranks of waiting jobs over the next hours, all jobs ageing alike, and who overtakes whom when, as
        ``jsf trajectory --format json`` answers. A job that does not wait for the scheduler is left out."""
    def replay(self, log: _Document, formula: Formula | str | None = None) -> Replay:
        """The values in a log of ``pbs_sched`` against those of the queue, and what explains the differences, as ``jsf replay --format json``
        answers. OSError if the log cannot be read, ValueError if it has no values."""
    def compare(self, old: Formula | str | None, new: Formula | str) -> Table:
        """The jobs that are considered under one of the formulas, in the new order: ``id``, ``entity``, ``queue``, ``old_rank``, ``new_rank``, ``old_score``,
        ``new_score``, ``moved`` (how many ranks up). ``document`` has what changes for entities, groups, queues and sizes. ``warnings`` has also
        what is doubtful about the formulas, and for how many jobs each of them fails."""
    def shares(self, policy: _Policy | None = None) -> Table:
        """The nodes of the fair-share tree, parents first: ``name``, ``path`` (from the root down), ``kind``, and for OpenPBS ``shares``,
        ``perc``, ``usage``, ``tree_usage``, ``factor``; for the other policies ``raw_shares``, ``norm_shares``, ``raw_usage``, ``norm_usage``,
        ``effective_usage``, ``level_fs``, ``fairshare``, ``tickets``. ``raw_shares`` is null where it is the parent's."""
    def simulate(
        self,
        formula: Formula | str | None = None,
        *,
        workload: Workload | _Logs,
        processors: SupportsIndex | None = None,
        goals: _Goals | None = None,
        usage: Literal["start", "fresh"] | None = None,
        backfill: Literal["easy", "greedy", "none"] | None = None,
        warm_up: _Duration | None = None,
        decay: _Duration | None = None,
        decay_factor: float | None = None,
        cancelled: Literal["leave-out", "keep"] | None = None,
        overrun: Literal["cut", "keep"] | None = None,
        processors_of: Literal["requested", "allocated"] | None = None,
    ) -> Simulation:
        """Runs a log of jobs through time under a formula, by the rules of the site's scheduler, as ``jsf simulate`` does. Other
        threads of Python run meanwhile, and Ctrl-C ends it with KeyboardInterrupt.

        ``workload`` is a log, as a path or in memory, a folder of logs, a list of them, or a ``Workload`` that was read for this site.
        ``processors`` is the size of the machine as one pool, instead of the site's nodes or what the log says. ``goals`` are in TOML, as a
        path or in memory, or a dict. ``usage`` is the one that entities begin with: that of the tree, or ``"fresh"``. ``backfill`` replaces the site's rules.
        ``warm_up`` is the time after the first submission whose jobs do not count; by default until usage that starts fresh has
        decayed once, but at most half of the log. ``decay`` and ``decay_factor`` replace those of the sched_config or slurm.conf. ``cancelled`` (jobs
        that were cancelled before they ran), ``overrun`` (runs beyond the requested time) and ``processors_of`` (which number of
        processors counts) say what is made of a log; for a ``Workload`` they belong to ``Workload.read``.

        OSError if a file cannot be read; SyntaxError for a formula that does not parse; ValueError if it is not arithmetic or
        needs fair share and the site has no tree, if the log has no jobs, or if the number of processors is not known."""
    def fit(
        self,
        template: Template | str,
        *,
        wishes: Iterable[str] | Iterable[Iterable[str]] | Mapping[str, float] | _Document | None = None,
        prefer: Iterable[Iterable[str]] | None = None,
        goals: _Goals | None = None,
        workload: Workload | _Logs | None = None,
        old: Formula | str | None = None,
        seed: int = 1,
        evaluations: int | None = None,
        held_out: float = 0.33,
        force: bool = False,
        processors: SupportsIndex | None = None,
        usage: Literal["start", "fresh"] | None = None,
        backfill: Literal["easy", "greedy", "none"] | None = None,
        warm_up: _Duration | None = None,
        decay: _Duration | None = None,
        decay_factor: float | None = None,
        cancelled: Literal["leave-out", "keep"] | None = None,
        overrun: Literal["cut", "keep"] | None = None,
        processors_of: Literal["requested", "allocated"] | None = None,
        progress: Callable[[int, int, str | None], object] | None = None,
    ) -> Fit:
        """Finds the constants of a template, as ``jsf fit`` does: either those that put the jobs that wait into an order, or those that
        meet goals about the waits of a log. Other threads of Python run meanwhile, and Ctrl-C ends it with KeyboardInterrupt.

        ``wishes``: ids of jobs, the best first; a list of groups of ids, within which nothing is wished; a dict with a score
        for each id, to which the values are brought as near as they can be; or a file with one of these. ``prefer``: pairs of
        ids, of which the first job is to be before the second.

        ``goals`` are those of ``simulate``, with ``[objective]`` for what is to be as small as possible once they are met. ``workload``
        is what ``simulate`` takes; a ``Workload`` is read with the names of the template, of ``old`` and of the goals. ``old`` is the
        formula with which the answer is compared, by default the one in force. ``held_out`` is the part of the log that is not searched,
        and ``force`` fits a log of less than eight weeks or 2000 jobs. The other arguments are those of ``simulate``.

        ``evaluations``: how many formulas are tried at most, by default 240 simulations or 4000 rankings. ``seed``: another one searches
        other points. ``progress(evaluations, planned, best_formula)`` is called after each formula, by the thread that called ``fit``; if it
        returns False, the answer is the best so far; an exception in it ends the search and is raised. ``best_formula`` is None for wishes.

        OSError if a file cannot be read; SyntaxError for a template that does not parse; ValueError if a wish is about an unknown job,
        or if the log is too short or lacks what the goals name, such as a queue."""
    def objective(
        self,
        template: Template | str,
        *,
        goals: _Goals,
        workload: Workload | _Logs,
        old: Formula | str | None = None,
        held_out: float = 0.33,
        force: bool = False,
        processors: SupportsIndex | None = None,
        usage: Literal["start", "fresh"] | None = None,
        backfill: Literal["easy", "greedy", "none"] | None = None,
        warm_up: _Duration | None = None,
        decay: _Duration | None = None,
        decay_factor: float | None = None,
        cancelled: Literal["leave-out", "keep"] | None = None,
        overrun: Literal["cut", "keep"] | None = None,
        processors_of: Literal["requested", "allocated"] | None = None,
    ) -> Objective:
        """What ``fit`` minimises for ``goals``, with the same arguments: for searches of other programs, which evaluate it in several
        processes, say."""

@final
class Template:
    """A formula in which some numbers are still to be found: ``{name=START:LOW..HIGH}``, with ``:log`` behind it where factors matter and not
    differences, and ``:int`` where the number must be whole. ``{name}`` repeats a number. It is immutable."""

    def __new__(cls, text: str) -> Template:
        """SyntaxError if the text is no Python but for its constants, or has none. That it is not arithmetic is a ValueError of ``Site.fit`` and
        ``Site.objective``."""
    @property
    def text(self) -> str: ...
    @property
    def constants(self) -> tuple[Constant, ...]:
        """The numbers that are to be found, in the order in which they are declared."""
    def fill(self, values: Iterable[SupportsFloat] | Mapping[str, float]) -> str:
        """The text of the formula with these numbers: one for each constant in their order, or a dict, in which a constant that is
        not there keeps its start value. Numbers of ``:int`` constants are rounded; each number has the fewest digits that give the same double.

        ValueError if a number is missing, is not finite or has no constant."""
    def starting_at(self, values: Iterable[SupportsFloat] | Mapping[str, float]) -> Template:
        """The template with these start values, each put into its range."""

@final
class Constant:
    """A number of a template that is to be found."""

    @property
    def name(self) -> str: ...
    @property
    def start(self) -> float:
        """Where a search starts."""
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def log(self) -> bool:
        """Whether a search moves by factors instead of by differences."""
    @property
    def int(self) -> bool:
        """Whether it is a whole number."""

@type_check_only
class _Parameter(TypedDict):
    name: str
    value: float
    low: float | None
    high: float | None

@type_check_only
class _Wishes(TypedDict):
    total: int
    met: int
    violated: list[list[str]]
    conflict: list[list[str]]

@type_check_only
class _GoalValue(TypedDict):
    jobs: int
    value: float | None
    limit: float | None
    met: bool | None

@type_check_only
class _Goal(TypedDict):
    name: str
    measure: str
    current: _GoalValue
    train: _GoalValue
    held_out_current: _GoalValue
    held_out: _GoalValue

@type_check_only
class _HeldOut(TypedDict):
    current: float | None
    fitted: float | None
    low: float | None
    high: float | None

@type_check_only
class _FittedObjective(TypedDict):
    name: str
    current: float | None
    fitted: float | None
    held_out: _HeldOut
    baselines: list[dict[str, Any]]

@type_check_only
class _Point(TypedDict):
    formula: str
    values: list[float]
    missed: float
    objective: float | None
    loss: float

class Fit(dict[str, Any]):
    """The constants that were found for a template, and the formula with them: the dict that ``jsf fit --format json`` answers, whose entries
    are attributes too."""

    @property
    def formula(self) -> str: ...
    @property
    def qmgr(self) -> str | None:
        """The command that sets the formula; None if ``qmgr`` cannot be given it."""
    @property
    def feasible(self) -> bool:
        """Whether all wishes are met, or all goals on the part that was searched."""
    @property
    def recommendation(self) -> Literal["use", "keep", "none"]:
        """What is advised: ``"keep"`` the formula in force where the fitted one is not better than chance on what was held out; ``"none"`` if
        no constants do what is wanted."""
    @property
    def reason(self) -> str:
        """Why: ``"better"``, ``"goal gained"``, ``"goals missed"``, ``"in force"``, ``"goals met in force"``, ``"goal lost"``, ``"within chance"``, ``"too short to
        judge"``, ``"wishes met"`` or ``"wishes missed"``."""
    @property
    def parameters(self) -> list[_Parameter]:
        """The constants: ``name``, ``value``, and ``low`` and ``high``, between which the same wishes are met, or the goals as well within a
        standard error."""
    @property
    def wishes(self) -> _Wishes | None:
        """``total``, ``met``, the pairs that are ``violated``, and the fewest pairs that contradict each other, ``conflict``; with scores
        ``mean_deviation`` too. None for goals."""
    @property
    def goals(self) -> list[_Goal]:
        """Each goal under the fitted formula on the part that was searched (``train``) and on the other one (``held_out``), and under the
        formula in force on both (``current``, ``held_out_current``). Empty for wishes."""
    @property
    def objective(self) -> _FittedObjective | None:
        """The objective on the searched part (``current``, ``fitted``) and on the other one (``held_out``, with the interval of the
        difference from ``low`` to ``high``), and other formulas there (``baselines``)."""
    @property
    def complete(self) -> bool:
        """Whether the search came to its end."""
    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the site and the log, one sentence each."""

@final
class Objective:
    """What ``Site.fit`` minimises: a template on the part of a log that is searched. It cannot be pickled: make it in each process."""

    @property
    def template(self) -> Template: ...
    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the site, the log and the goals, one sentence each."""
    def evaluate(self, values: Iterable[SupportsFloat] | Mapping[str, float]) -> _Point:
        """Simulates the formula with these constants, as ``Template.fill`` takes them: ``missed`` is by which part of their limits the goals are
        missed, 0 if all are met; ``objective`` is None if there is none; ``loss`` is the objective as what is to be small: negated if it is to be
        large, 0 if there is none. The best formula has the least ``missed``, and of equal ones the least ``loss``. Other threads of Python run
        meanwhile."""

@final
class Workload:
    """A log of jobs that is read once and simulated many times, also by several threads. It cannot be pickled: read it in each process."""

    @staticmethod
    def read(
        paths: _Logs,
        *,
        site: Site | None = None,
        formulas: Formula | str | Iterable[Formula | str] | None = None,
        goals: _Goals | None = None,
        cancelled: Literal["leave-out", "keep"] | None = None,
        overrun: Literal["cut", "keep"] | None = None,
        processors_of: Literal["requested", "allocated"] | None = None,
    ) -> Workload:
        """Reads the Standard Workload Format, PBS or Torque accounting records, ``qstat -x -f -F json``, ``sacct -P``, the CSV of ALCF or NDJSON, also compressed: a file, its
        content, a folder of files, or a list. Of each job it keeps what ``formulas`` (by default the one in force) and the conditions of ``goals``
        read: a formula that reads more is a ValueError when it is simulated. Without ``site`` the resources are those that
        OpenPBS or a ``Formula`` among ``formulas`` declares.

        OSError if a file cannot be read, ValueError if there is no job in it."""
    @property
    def processors(self) -> int | None:
        """The number of processors of the machine, if the log says it."""
    @property
    def warnings(self) -> list[str]:
        """What is left out, damaged or assumed, one sentence each."""
    def __len__(self) -> int: ...

class Simulation(dict[str, Any]):
    """A log of jobs, run through time under a formula: the dict that ``jsf simulate --format json`` answers, with the numbers of entities, groups,
    queues, sizes and lengths, but its ``jobs`` are a table, which is an attribute only, as ``failed`` and ``warnings`` are. Times are in seconds. For
    another process, ``dict(simulation)`` can be pickled, and so can ``simulation.jobs.to_pydict()``."""

    @property
    def formula(self) -> str: ...
    @property
    def jobs(self) -> Table:
        """The jobs that start, in the order of the log: ``id``, ``entity``, ``queue``, ``processors``, ``submit``, ``start``, ``end``, ``wait``,
        ``bounded_slowdown``: max(1, (wait + run) / max(run, 10 s))."""
    @property
    def summary(self) -> dict[str, Any]:
        """The numbers of all jobs that count: ``jobs``, ``makespan``, ``utilisation``, ``core_seconds``, ``mean_queue``, ``wait`` and
        ``bounded_slowdown`` (``mean``, ``p25``, ``median``, ``p75``, ``p95``, ``max``), and other entries."""
    @property
    def goals(self) -> list[dict[str, Any]]:
        """The goals, as the simulation meets them: ``name``, ``jobs``, ``value``, ``limit``, ``met``."""
    @property
    def failed(self) -> int:
        """The number of jobs for which the formula raises an error."""
    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the site, the log, the formula and the simulation, one sentence each. The entry ``"warnings"`` of the dict has
        those about the simulation only."""

def simulate(
    workload: Workload | _Logs,
    formula: Formula | str | None = None,
    *,
    processors: SupportsIndex | None = None,
    goals: _Goals | None = None,
    usage: Literal["start", "fresh"] | None = None,
    backfill: Literal["easy", "greedy", "none"] | None = None,
    warm_up: _Duration | None = None,
    decay: _Duration | None = None,
    decay_factor: float | None = None,
    cancelled: Literal["leave-out", "keep"] | None = None,
    overrun: Literal["cut", "keep"] | None = None,
    processors_of: Literal["requested", "allocated"] | None = None,
) -> Simulation:
    """``Site.simulate`` without a site: the higher value first, then the earlier submission, EASY backfilling. A ``Workload`` is run on
    the site that it was read for, and only then ``formula`` may be left out."""
