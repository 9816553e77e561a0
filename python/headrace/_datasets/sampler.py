"""`Sampler` is the base class of samplers: orders of rows that `Dataset.sample` puts on a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown
from headrace._arguments.other_libraries import advise_init
from headrace._datasets import user_sampler
from headrace._datasets.fields.array_columns import array_source, exact_array
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["Sampler"]


class Sampler:
    """An order of rows, for `Dataset.sample`. It may be given to any number of datasets."""

    _op: str
    _attributes: dict[str, Any]
    _given: Any
    # What it takes for each row, "weights" or "labels": the name of a column, or an array.
    _values: tuple[str, Any] | None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        advise_init(cls)

    def __init__(self) -> None:
        raise TypeError("a Sampler is made by one of its classes, such as headrace.Weighted(…)")

    def _begin(
        self, op: str, attributes: dict[str, Any], values: Mapping[str, Any] | None = None, *, given: Any = None
    ) -> None:
        """`given`: what the user wrote in place of the attributes, if it is not they."""
        self._op = op
        self._given = given
        self._attributes = attributes
        self._values = None
        if values is not None:
            ((what, given),) = values.items()
            self._values = what, given if isinstance(given, str) else array_of(op, what, given)

    @classmethod
    def _own(cls, sampler: Any) -> Sampler:
        """As headrace.from_sampler makes it."""
        made = object.__new__(cls)
        made._begin_own(sampler)
        return made

    def _begin_own(self, sampler: Any, **others: Any) -> None:
        """Of the user's or of torch."""
        self._begin("from_sampler", user_sampler.attributes(sampler, **others), given=sampler)

    def _applied(self, dataset: Dataset) -> Dataset:
        if self._values is None:
            return dataset._append(self._op, self._attributes)
        what, given = self._values
        if isinstance(given, str):
            follows = _in_new_order(dataset)
            values = _followed(dataset, self._op, what, given) if follows else listing(dataset)
            return dataset._append(self._op, {**self._attributes, "column": given, "follows_rows": follows}, [values])
        return dataset._append(self._op, {**self._attributes, "column": "value"}, [array_source({"value": given})])

    def __repr__(self) -> str:
        if self._given is not None:
            return f"{self._op}({shown(self._given)})"
        given = {} if self._values is None else dict([self._values])
        given |= {name: value for name, value in self._attributes.items() if name not in ("seed", "name")}
        return f"{self._op}({', '.join(f'{name}={shown(value)}' for name, value in given.items())})"


def applied(dataset: Dataset, sampler: Any) -> Dataset:
    if user_sampler.is_own(sampler):
        sampler = Sampler._own(sampler)
    if not isinstance(sampler, Sampler):
        advice = ""
        if hasattr(sampler, "__array__"):
            advice = "; for rows by their numbers write select(indices)"
        elif type(sampler).__module__.startswith("torch"):
            advice = ", or headrace.from_sampler(sampler) for one of torch's"
        elif hasattr(sampler, "__len__"):
            advice = "; for rows by their numbers write select(indices)"
        raise GraphError(
            f"sample: the sampler is {shown(sampler)}; give one such as headrace.Weighted(weights){advice}"
        )
    return sampler._applied(dataset)


def array_of(op: str, what: str, given: Any) -> Any:
    """A copy, so that the sampler stays what it is."""
    import numpy as np

    array = np.array(exact_array(given, f"{op}: {what}"))
    if array.ndim != 1:
        kind = f"an array of {array.dtype} of shape {array.shape}"
        raise GraphError(f"{op}: {what} is {kind}; give one value for each row, along one axis")
    if array.dtype.kind == "O":
        _refuse_mixed(op, what, array)
    elif array.dtype.kind not in "biufSU":
        raise GraphError(f"{op}: {what} is an array of {array.dtype}; give numbers or texts")
    # The engine reads no numbers of 16 bits.
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _refuse_mixed(op: str, what: str, values: Any) -> None:
    """Of an array of objects, which may be of several kinds."""
    kinds = {str if isinstance(each, str) else bytes if isinstance(each, bytes) else type(each) for each in values}
    if kinds <= {str} or kinds <= {bytes}:
        return
    if len(kinds) == 1:
        raise GraphError(f"{op}: {what} is an array of object; give numbers or texts")
    listed = ", ".join(sorted(each.__name__ for each in kinds))
    raise GraphError(f"{op}: {what} holds values of several kinds ({listed}); give numbers alone, or texts alone")


def listing(dataset: Dataset, made: dict[int, Dataset] | None = None) -> Dataset:
    """A dataset of its own that gives the rows by number: without maps, and without an order of its own."""
    made = {} if made is None else made
    while (dataset._node.row_by_row or dataset._node.stands_for_attribute) and len(dataset._inputs) == 1:
        (dataset,) = dataset._inputs
    if id(dataset) not in made:
        copy = dataset._copy()
        copy._node = dataset._node.unshuffled()
        copy._inputs = tuple(listing(each, made) for each in dataset._inputs)
        made[id(dataset)] = copy
    return made[id(dataset)]


def numbered(dataset: Dataset, op: str, what: str, column: str) -> Dataset:
    """The rows by number, as IndexedSource::numbers counts them: without orders, zip by its first input. GraphError for
    an input without the column, from which `op` takes `what`."""
    if not dataset._inputs:
        return listing(dataset)
    node = dataset._node
    if node.by_number or node.side_by_side or len(dataset._inputs) == 1:
        # An order takes numbers of rows from its other inputs, and zip columns.
        values = numbered(dataset._inputs[0], op, what, column)
        if node.side_by_side and column not in values.schema:
            _refuse_beside(dataset._inputs[1:], op, what, column)
        return values
    first, *others = (numbered(each, op, what, column) for each in dataset._inputs)
    for number, each in enumerate((first, *others)):
        if column not in each.schema:
            raise GraphError(
                f'{op}: takes its {what} from the column "{column}", which input {number} of {node.op} does not have; name '
                f"a column that all inputs have (this one: {', '.join(each.schema)}), or give the {what} as an array"
            )
        if each.schema.keys() != first.schema.keys():
            raise GraphError(
                f'{op}: takes its {what} from the column "{column}" of rows by their numbers. There a zip, whose inputs are '
                f"shuffled or joined or which others follow, has the columns of its first input alone, so inputs 0 and "
                f"{number} of {node.op} differ ({', '.join(first.schema)}; {', '.join(each.schema)}); sample each input of "
                f"{node.op} by itself, or give the {what} as an array"
            )
    return first._append("concat", {}, others)


def _refuse_beside(others: Iterable[Dataset], op: str, what: str, column: str) -> None:
    """GraphError if one of the other inputs of a zip has the column."""
    for number, each in enumerate(others, 1):
        if column in listing(each).schema:
            raise GraphError(
                f'{op}: takes its {what} from the column "{column}", which input {number} of zip has: where inputs of zip '
                f"are shuffled or joined, or others follow it, a row is known by that of the first input alone; zip the "
                f"input with {column} first, or give the {what} as an array"
            )


def _followed(dataset: Dataset, op: str, what: str, column: str) -> Dataset:
    """As `numbered`, but with the columns of all inputs of a zip, where each row of the first has one beside it."""
    below = dataset
    while len(below._inputs) == 1 or (below._inputs and below._node.by_number):
        below = below._inputs[0]
    pairs = below._node.side_by_side and not any(_shuffles_or_joins(each) for each in below._inputs)
    return listing(below) if pairs else numbered(dataset, op, what, column)


def _shuffles_or_joins(dataset: Dataset) -> bool:
    while dataset._node.row_by_row and len(dataset._inputs) == 1:
        (dataset,) = dataset._inputs
    return bool(dataset._inputs) or dataset._node.shuffles


def _in_new_order(dataset: Dataset, above: bool = True) -> bool:
    """Whether the rows that a sampler gets from below come in another order in each epoch. `above`: no operator stands
    between that keeps it from choosing beneath a shuffle."""
    node = dataset._node
    if not dataset._inputs:
        return node.shuffles and not above
    if node.stands_for_attribute:
        return not above or _in_new_order(dataset._inputs[0])
    if node.draws:
        return True
    above = above and (node.row_by_row or node.by_number)
    return any(_in_new_order(each, above) for each in dataset._inputs[: 1 if node.by_number else None])
