"""Parses, evaluates and explains PBS job_sort_formula expressions exactly as the scheduler does."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, Union, final

import numpy
import numpy.typing

__version__: str
__all__ = ["Formula", "Queue", "RowError", "Scores", "Site", "Table", "__version__"]

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

int32, int64 and float64 are read in place. bool (as 0 and 1), the smaller integers, uint32, float16, float32 and dictionaries are converted
without loss, and so is uint64; a number in it beyond int64 is a ValueError. The integers of a list that also has floats must
be exact as floats. Decimals, times and texts are a TypeError. pandas exports NaN as null; elsewhere NaN is a number."""

_TableLike = Union[Mapping[str, _Column], _ArrowArray, _ArrowStream]
"""A dict of columns, a DataFrame of pandas or polars, a table or record batch of pyarrow, or anything that exports Arrow."""

_Path = Union[str, PathLike[str]]

@final
class Formula:
    """A formula, compiled for the names of OpenPBS and the resources of a site. It is immutable; threads may share it, and it
    can be pickled. ``repr`` gives what makes the same one."""

    def __new__(cls, text: str, resources: dict[str, str] | None = None) -> Formula:
        """``resources`` declares the names that the site defines, with their types: ``"int"``, or a type of PBS: ``"long"``,
        ``"float"``, ``"size"`` (kb), ``"duration"`` (seconds), ``"boolean"``, ``"string"``, ``"string_array"``.

        SyntaxError, with ``lineno``, ``offset`` and ``text``, if Python refuses the text; ValueError if it is Python but not
        arithmetic, or if a resource cannot be declared."""
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
    def check(self, site: Site | None = None) -> dict[str, Any]:
        """What ``jsf check --format json`` answers: ``verdict`` (whether qmgr accepts the formula), ``findings``, and with a
        site ``jobs``, for which the formula is tried. A ``span`` counts bytes of the text in UTF-8."""
    def evaluate(self, table: _TableLike | None = None, /, *, threads: int | None = None, **columns: _Column) -> Scores:
        """The scores of jobs, as 64-bit floats: neither rounded to the scheduler's ``float`` nor sorted.

        Each input of the formula is a column, by name or in ``table``, whose other columns are ignored; an input called
        ``threads`` can only be in ``table``. If every column is a number there is one job. A null among the inputs of a job
        makes its score null. Other threads of Python run meanwhile. ``threads`` is the most that are used; 1 if not given.

        ValueError if a column is missing, unknown, given twice, or of another length; TypeError if its values are no numbers;
        ValueError for more than 2**31 - 1 rows."""
    def evaluate_table(self, table: _TableLike, /, *, threads: int | None = None) -> Scores:
        """The scores of the jobs in a table."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RowError:
    """Why a job has no score."""

    @property
    def row(self) -> int:
        """The row, from 0."""
    @property
    def message(self) -> str:
        """What Python's exception says."""
    @property
    def kind(self) -> str:
        """The kind of error, such as ``division by zero``."""
    @property
    def span(self) -> tuple[int, int]:
        """The part of the formula that fails: ``text[span[0]:span[1]]``."""

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
    def null_count(self) -> int: ...
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

class Table:
    """Rows of jobs or nodes. Exports Arrow: ``pyarrow.table(table)``, ``polars.DataFrame(table)``."""

    @property
    def column_names(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the files that were read, one sentence each."""
    @property
    def document(self) -> dict[str, Any]:
        """What the JSON of the command has besides the rows."""
    def __getitem__(self, name: str, /) -> list[Any]:
        """A column as a list."""
    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __len__(self) -> int: ...

@final
class Queue(Table):
    """The jobs of one document, with the inputs that a formula may read: ``formula.evaluate(queue)``."""

    @staticmethod
    def read(
        path: _Path, inputs: Sequence[str] | None = None, resources: dict[str, str] | None = None
    ) -> Queue:
        """Reads ``qstat -f`` as JSON, dsv or text, native JSON or NDJSON, also compressed. The columns are ``id``, ``entity``,
        ``queue``, ``state`` and ``inputs``, or every numeric name that OpenPBS, ``resources`` or the jobs define. As in the
        scheduler a job has 0 of what it did not request. Fair-share numbers need a tree: see ``Site``.

        OSError if the file cannot be read, ValueError if it has no jobs."""

_Policy = Literal["pbs", "classic", "depth-oblivious", "ticket-based", "fair-tree", "weighted-walk"]

@final
class Site:
    """A site: its server, queues, resources, scheduler settings, fair-share tree and jobs. A formula is a ``Formula`` or a text;
    it may also be pasted as ``job_sort_formula = …``, ``set server job_sort_formula = "…"`` or a command of ``qmgr``. Where it may
    be left out it is the one in force."""

    @staticmethod
    def open(
        path: _Path,
        *,
        policy: _Policy | None = None,
        rules: Literal["scheduler", "documented"] | None = None,
        numbers: Literal["openpbs", "exact", "decimal"] | None = None,
        threshold: float | None = None,
    ) -> Site:
        """Opens a folder made by ``jsf capture``, a ``pbs_snapshot``, or a tar archive of one. The options are those of ``jsf``.

        OSError if a file cannot be read, ValueError if there is none or one has another content than it should."""
    @property
    def formula(self) -> str:
        """The formula in force."""
    @property
    def warnings(self) -> list[str]: ...
    def rank(self, formula: Formula | str | None = None, *, inputs: bool = False) -> Table:
        """The rows of ``jsf rank --format csv``: the jobs in the order in which the scheduler considers them, then those that it
        does not consider. ``inputs`` adds a column for each input of the formula. ``document`` has the summary."""
    def explain(self, job: str, formula: Formula | str | None = None, *, to: int | None = None) -> dict[str, Any]:
        """What ``jsf explain --format json`` answers for a job; its server's name may be left out."""
    def compare(self, old: Formula | str | None, new: Formula | str) -> Table:
        """The jobs of ``jsf compare --format json``, in the new order; ``document`` has the rest."""
    def shares(self, policy: _Policy | None = None) -> Table:
        """The nodes of ``jsf shares --format json``, parents first. ``raw_shares`` is null where it is the parent's."""
