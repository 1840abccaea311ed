"""Parses, evaluates and explains PBS job_sort_formula expressions exactly as the scheduler does."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Literal, Protocol, SupportsIndex, Union, final, type_check_only

import numpy
import numpy.typing

__version__: str
__all__ = ["Answer", "Formula", "FormulaError", "RowError", "Scores", "ShareTree", "Site", "Table", "__version__", "run"]

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

int32, int64 and float64 are read in place; the chunks of a column are joined first. bool (as 0 and 1), the smaller integers, uint32, float16, float32, dictionaries, run-end encoded
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
_Logs = Union[_Path, Sequence[_Path]]
_Duration = Union[int, str, timedelta]
"""Seconds, a text such as ``"24h"``, ``"7d"`` or ``"12:30:00"``, or a ``datetime.timedelta``, of which whole seconds count."""

_Policy = Literal["pbs", "classic", "depth-oblivious", "ticket-based", "fair-tree", "weighted-walk"]

# The names that begin with an underscore are in this file only: there is nothing to import at run time.

class FormulaError(ValueError):
    """A formula is Python but not arithmetic: in a ``Formula``, and wherever a ``Site`` takes the text of one."""

    span: tuple[int, int]
    """The place in characters: ``text[span[0]:span[1]]``."""

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
        place in the formula.

        A ``Formula`` takes what Python takes. A ``Site`` and ``run`` take what the server gets from ``qmgr``: a line that is continued
        with a backslash, for example, is evaluated here and refused by these.

        A ``Site`` has a version of Python and resources of its own. Where it takes a ``Formula`` these decide, so that it is a ValueError if the
        formula was given another ``python``, or declares a resource that it reads otherwise than the site:
        ``Formula(text, resources=site.resources, python=site.python)`` is always right."""
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

@final
class RowError:
    """Why a job has no score."""

    def __new__(cls, row: int, message: str, kind: str, span: tuple[int, int]) -> RowError: ...
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

    def __new__(cls, scores: list[float | None], errors: list[RowError]) -> Scores:
        """``Formula.evaluate`` makes them; this is for pickles."""

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

class Table(dict[str, list[Any]]):
    """Rows of jobs or nodes: lists by the names of the columns, as in a data frame, so that ``len(table)`` is the number of rows.
    ``pandas.DataFrame(table)``, ``polars.DataFrame(table)`` and ``pyarrow.table(table)`` read it, and so does whatever takes Arrow's streams.
    ``table.to_pandas()`` keeps integers with None, such as ``rank``, of which ``pandas.DataFrame(table)`` makes floats.

    An input that is whole for some jobs and fractional for others is an int for the former and a float for the latter, as in the scheduler, and for
    ``formula.evaluate(table)``. The data frames and Arrow arrays that are made of it have floats."""

    warnings: list[str]
    """What is doubtful about the files that were read and about the formulas, one sentence each; a sentence on a formula
    begins with the code of the finding."""
    document: dict[str, Any]
    """What is not a row: of ``Site.rank`` ``formula``, ``summary`` (``jobs``, ``considered``, ``ignored``, ``errors``, ``errors_by_kind``, ``ties``)
    and ``decides``; of ``Site.compare`` ``old``, ``new``, ``summary``, ``changes``
    (``considered``, ``failing``, ``passing``: the ids of the jobs that ``start`` and ``stop``), ``entities``, ``groups``, ``queues``, ``sizes``,
    ``fairness`` and ``decides``; of ``Site.shares`` the policy and its settings."""

    def __init__(
        self, columns: Mapping[str, list[Any]] | Iterable[tuple[str, list[Any]]] = (), warnings: Iterable[str] = (), document: dict[str, Any] | None = None
    ) -> None: ...
    @property
    def column_names(self) -> list[str]: ...
    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``, in which integers with None have the type ``Int64``."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def __missing__(self, name: object) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class Answer(dict[str, Any]):
    """What a command answers as JSON (``docs/commands.md``): a dict, whose members are attributes too, at every depth. A span has its ``start`` and its
    ``end`` in characters of ``formula``. ``warnings``, where there are some, also has what the command writes to standard error."""

    def __getattr__(self, name: str) -> Any: ...

@type_check_only
class _Explanation(Answer):
    """How the value and the rank of a job come about: the members of the job, besides ``formula`` and ``jobs``."""

    formula: str
    id: str
    entity: str
    queue: str
    state: str
    """PBS's letter."""
    rank: int | None
    """From 1; None if the job is not considered."""
    score: float | None
    """The value that is sorted on."""
    exact: str | None
    """The value before it is rounded, as the text that Python's ``repr`` gives."""
    logged: str | None
    """The digits that the scheduler logs."""
    error: Answer | None
    """The exception that the formula raises for the job: ``exception``, ``kind``, ``message``, ``span``."""
    sentence: str
    """What decides, in a sentence."""
    inputs: list[Answer]
    """What the formula reads: ``name``, ``value``, ``unit``, ``origin``."""
    nodes: list[Answer]
    """The sub-expressions that were evaluated: ``span``, ``text``, ``value``."""
    terms: list[Answer]
    """The summands of the formula, with their signs: ``span``, ``text``, ``value``."""
    above: list[Answer]
    """Up to five jobs that are considered before this one, the nearest first, and what differs."""
    below: list[Answer]
    """The same for the jobs after it."""
    shares: list[Answer]
    """The nodes of the fair-share tree from the root to the entity."""
    exchange_rates: list[Answer]
    """What an amount of each input is worth in time of waiting for this job; empty if waiting gains nothing."""
    changes: list[Answer]
    """What would bring the job to the rank that ``to`` asks for: ``name``, ``from``, ``to``, ``unit``, ``means``, ``rank``."""

@type_check_only
class _Simulation(Answer):
    """A log of jobs, run through time under a formula. Times are in seconds."""

    formula: str
    jobs: Table
    """The jobs that start, in the order of the log: ``id``, ``entity``, ``queue``, ``processors``, ``submit``, ``start``, ``end``, ``wait``."""
    summary: Answer
    """The numbers of all jobs that count: ``jobs``, ``makespan``, ``utilisation``, ``core_seconds``, ``mean_queue``, ``wait`` and
    ``bounded_slowdown`` (``mean``, ``p25``, ``median``, ``p75``, ``p95``, ``max``), and other members."""
    goals: list[Answer]
    """The goals, as the simulation meets them: ``name``, ``jobs``, ``value``, ``limit``, ``met``."""
    errors: list[Answer]
    """The errors of the formula, by kind, with the number of their ``jobs``."""
    warnings: list[str]
    """What is doubtful about the site, the log, the formula and the simulation, one sentence each."""

class ShareTree:
    """A fair-share tree of one's own, with OpenPBS's policy: groups and entities with shares, which are charged for what they use. Names
    are unique. Threads may share it."""

    def __new__(cls) -> ShareTree:
        """A tree with nothing but its root, ``"root"``."""
    def add(self, parent: str, name: str, *, shares: SupportsIndex = 1, group: bool = False) -> None:
        """Adds an entity, or a group, under a group. ``shares`` are from 0 to 2147483647, which is what the daemons keep. They sum the shares of
        siblings in 32 bits too, and so does this tree: sums beyond 2147483647 wrap and make ``perc`` negative, as in the scheduler. ValueError if the
        parent is unknown or no group, the name is there already, or a number is out of its range."""
    def charge(self, name: str, amount: float) -> None:
        """Adds to the usage of a node, and so to that of the groups above it. KeyError if it is unknown, ValueError for an amount that is negative
        or would make a usage infinite."""
    def decay(self, factor: float) -> None:
        """Multiplies every usage by a number from 0 to 1."""
    def shares(self, names: str | Iterable[str] | None = None) -> Table:
        """The numbers of these nodes in this order, by default of all, parents first: ``name``, ``path`` (from the root down), ``kind``, ``shares``, ``perc``,
        ``usage``, ``tree_usage``, ``factor``. ``perc``, ``tree_usage`` and ``factor`` are computed as in OpenPBS, as C ``float``s, so that they have about
        seven digits; its scheduler passes six decimals of them to a formula. As long as nobody has used anything, ``tree_usage`` and ``factor``
        of all but the root are NaN. KeyError if a name is unknown."""
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int:
        """The number of nodes, with the root."""

class Site:
    """A site: its server, queues, resources, scheduler settings, fair-share tree and jobs. A formula is a ``Formula`` or its text.
    Where it may be left out it is the one in force. A pickle has its path, and opens it again."""

    def __init__(self, path: _Path | None, **options: Any) -> None:
        """``Site.open``; without a path there are no files."""
    @classmethod
    def open(
        cls,
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
    def run(self, command: str, **request: Any) -> Answer:
        """What ``jsf COMMAND --format json`` answers about the site. A member of the request that is None is not given.

        ``rank``: ``formula``, ``inputs``. ``check``: ``formula``. ``explain``: ``formula``, ``jobs``, ``to``. ``trajectory``: ``formula``, ``jobs``, ``hours``.
        ``compare``: ``old``, ``new``. ``rank`` and ``compare``: ``jobs``, ``entities``, ``queues``, ``top``. ``shares``: ``policy``. ``cycle``: ``formula``, ``jobs``, ``processors``. ``replay``: ``formula``, ``log``.
        ``simulate``: what the method takes. ``fit``: ``template``, and either ``wishes`` (ids of jobs, best first, or a file) and ``prefer`` (pairs of ids), or
        ``goals`` and what ``simulate`` takes, ``old``, ``held_out`` and ``force``; ``seed`` and ``evaluations``.

        OSError if a file cannot be read; SyntaxError, or FormulaError, for the text of a formula; ValueError for all else that is wrong. Other threads of
        Python run meanwhile. Ctrl-C ends ``simulate`` and ``fit``."""
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
    def explain(self, job: str, formula: Formula | str | None = None, *, to: int | None = None) -> _Explanation:
        """How the value and the rank of a job come about, as ``jsf explain`` answers; the server's name may be left
        out of its id. ``to`` asks what would bring the job to this rank."""
    def compare(self, old: Formula | str | None, new: Formula | str) -> Table:
        """The jobs that are considered under one of the formulas, in the new order: ``id``, ``entity``, ``queue``, ``old_rank``, ``new_rank``, ``old_score``,
        ``new_score``, ``moved`` (how many ranks up). ``document`` has what changes for entities, groups, queues and sizes, which jobs start
        and stop being considered, failing and passing the threshold, and what decides under the new formula. ``warnings`` has also
        what is doubtful about the formulas, and for how many jobs each of them fails."""
    def shares(self, policy: _Policy | None = None) -> Table:
        """The nodes of the fair-share tree, parents first: ``name``, ``path`` (from the root down), ``kind``, and for OpenPBS ``shares``,
        ``perc``, ``usage``, ``tree_usage``, ``factor``; for the other policies ``raw_shares``, ``norm_shares``, ``raw_usage``, ``norm_usage``,
        ``effective_usage``, ``level_fs``, ``fairshare``, ``tickets``. ``raw_shares`` is null where it is the parent's."""
    def simulate(
        self,
        formula: Formula | str | None = None,
        *,
        workload: _Logs,
        processors: SupportsIndex | None = None,
        goals: _Path | None = None,
        usage: Literal["start", "fresh"] | None = None,
        backfill: Literal["easy", "greedy", "none"] | None = None,
        warm_up: _Duration | None = None,
        decay: _Duration | None = None,
        decay_factor: float | None = None,
        cancelled: Literal["leave-out", "keep"] | None = None,
        overrun: Literal["cut", "keep"] | None = None,
        processors_of: Literal["requested", "allocated"] | None = None,
    ) -> _Simulation:
        """Runs a log of jobs through time under a formula, by the rules of the site's scheduler, as ``jsf simulate`` does. Other
        threads of Python run meanwhile, and Ctrl-C ends it with KeyboardInterrupt.

        ``workload`` is the path of a log, of a folder of logs, or a list of paths. ``processors`` is the size of the machine as one pool, instead of the
        site's nodes or what the log says. ``goals`` is a file in TOML. ``usage`` is the one that entities begin with: that of the tree, or ``"fresh"``.
        ``backfill`` replaces the site's rules. ``warm_up`` is the time after the first submission whose jobs do not count; by default until usage that
        starts fresh has decayed once, but at most half of the log. ``decay`` and ``decay_factor`` replace those of the sched_config or slurm.conf.
        ``cancelled`` (jobs that were cancelled before they ran), ``overrun`` (runs beyond the requested time) and ``processors_of`` (which number of
        processors counts) say what is made of a log.

        OSError if a file cannot be read; SyntaxError for a formula that does not parse; ValueError if it is not arithmetic or
        needs fair share and the site has no tree, if the log has no jobs, or if the number of processors is not known."""

def run(command: str, *, site: _Path | None = None, options: Mapping[str, Any] | None = None, **request: Any) -> Answer:
    """``Site.run`` with the files of a site, or without: then a formula can be checked, and a log simulated, by the higher value first, then the earlier
    submission, and EASY backfilling. ``options`` are those of ``Site.open``."""
