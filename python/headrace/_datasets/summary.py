"""`Summary` says in a few lines what a dataset is: its operators, its length, and its columns with their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _engine
from headrace._arguments.markup import markup
from headrace._datasets.base import Base, ColumnType, ordered, shape_text, table
from headrace._files.places import is_far
from headrace.errors import Error

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["Summary"]

# What the user's code says of a length.
_ASKED = ("batch size", "sampler size", "sampler indices")
# More columns are counted.
_MOST_COLUMNS = 20


class Summary(NamedTuple):
    chain: str
    """The operators, from the source on."""
    rows: str
    """Such as "12 batches"; empty: not known without a run, or not without reading files."""
    columns: dict[str, ColumnType]
    trouble: str
    """Why the columns are not known; empty: they are."""

    @classmethod
    def of(cls, dataset: Dataset) -> Summary:
        """Gives no warnings and raises nothing: what is wrong is reported when the dataset is used."""
        chain = _chain(dataset)
        # A copy, whose graph is made without the warnings that come once.
        copy = dataset._copy()
        try:
            copy._built = dataset._built or dataset._build_graph()
            schema = copy.schema
        except Error as error:
            return cls(chain, "", {}, _first_mistake(error))
        return cls(chain, _rows(copy, dataset.epoch), schema, "")

    def text(self) -> str:
        head = f"<headrace.Dataset {self.chain}{', ' if self.rows else ''}{self.rows}"
        if self.trouble:
            return f"{head}: {self.trouble}>"
        lines = [f"  {_engine.printable(name)}: {_type_text(column)}" for name, column in self._shown()]
        return "\n".join([f"{head}:", *lines, *(f"  {each}" for each in self._more())]) + ">"

    def html(self) -> str:
        """For notebooks."""
        head = markup(f"{self.chain}{', ' if self.rows else ''}{self.rows}")
        notes = "".join(f"<div>{markup(each)}</div>" for each in [*self._more(), self.trouble] if each)
        below = "" if self.trouble else table(dict(self._shown()))
        return f"<div><b>headrace.Dataset</b> {head}</div>{below}{notes}"

    def _shown(self) -> list[tuple[str, ColumnType]]:
        return list(self.columns.items())[:_MOST_COLUMNS]

    def _more(self) -> list[str]:
        more = len(self.columns) - _MOST_COLUMNS
        return [f"and {more:,} more columns"] if more > 0 else []


def _chain(dataset: Dataset) -> str:
    nodes, datasets = ordered(dataset)
    values = {id(each) for dataset in datasets for each in _values_of(dataset)}
    shown = (node for (node, _), each in zip(nodes, datasets, strict=True) if id(each) not in values)
    return " → ".join(node.op for node in shown if not node.stands_for_attribute)


def _values_of(sampled: Base) -> list[Base]:
    """What gives a sampler its values."""
    further = sampled._inputs[1:] if sampled._node.by_number else ()
    return [each for values in further for each in ordered(values)[1]]


def _type_text(column: ColumnType) -> str:
    return f"{column.dtype} {shape_text(column)}"


def _first_mistake(error: Error) -> str:
    """One line of it: the first of several mistakes stands in the second line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[min(1, len(lines) - 1)] if lines else type(error).__name__


def _rows(dataset: Dataset, epoch: int) -> str:
    dataset._epoch = epoch
    try:
        count = None if any(_counts_slowly(each) for each in ordered(dataset)[1]) else dataset._count()
    except Exception:  # Such as that of a folder that is not there, or of the user's code.
        return ""
    if count is None:
        return ""
    if count < 0:
        return "endless"
    # What steps above a batch make of it is one, too, as far as can be said.
    kind = "row" if dataset._joins_rows() is False else "batch"
    return f"{count:,} {kind}{('es' if kind == 'batch' else 's') * (count != 1)}"


def _counts_slowly(part: Base) -> bool:
    """Whether its length is asked of a store, of whole files, or of user code."""
    node = part._node
    attributes: dict[str, Any] = node.attributes
    if any(node.referenced_by(each) in _ASKED for each in node.references) or (node.by_number and part._inputs[1:]):
        return True
    named = [attributes.get(name) for name in ("root", "patterns", "paths", "path")]
    return attributes.get("index") == "build" or any(_is_far(each) for each in named)


def _is_far(named: Any) -> bool:
    listed = named if isinstance(named, list | tuple) else [named]
    return any(isinstance(each, str | bytes) and is_far(each) for each in listed)
