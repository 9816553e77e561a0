"""What an iterator over a pipeline runs: the pipeline, how its epochs end, and what is asked of its runs."""

import enum
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import headrace
from headrace._datasets.dataset import Dataset
from headrace._runs import error_policy
from headrace.errors import UnsupportedError

__all__ = ["Ending", "Pipeline", "Running", "check_skips", "numbered"]


def numbered(rows: Dataset, name: str = "id") -> Dataset:
    """`rows` with a column of their numbers in the epoch."""
    return rows.zip(headrace.Range(1 << 62).rename({"value": name}))


class Ending(enum.Enum):
    """What becomes of the rows left at an epoch's end."""

    ROUND = "round"
    """The batch is filled with the first rows of the next pass, which then begins after them."""
    ROLL_OVER = "roll_over"
    """They are the first rows of the next epoch, whose first batch is filled with the first rows of its pass."""
    PAD = "pad"
    """The batch is filled with the first rows of the epoch."""
    DISCARD = "discard"
    """They are left out."""

    @property
    def endless(self) -> bool:
        """Whether one run goes through all passes."""
        return self in (Ending.ROUND, Ending.ROLL_OVER)


class Pipeline(NamedTuple):
    """What gives the rows."""

    rows: Dataset
    data: str
    """The column of the data."""
    numbers: str | None = None
    """The column of the rows' numbers; None: there is none."""
    total: int | None = None
    """Rows in an epoch, where that is known and none is left out."""
    shard: tuple[int, int] | None = None
    finish: Callable[[Dataset], Dataset] | None = None
    """What is done to the rows when all arguments are found good, as it may take long."""
    files: str = ""
    """What was given to name the rows, for messages."""
    pad_value: float | None = None
    """What rows that are vectors of unequal length are filled with in a batch; None: all rows of a column are alike."""
    to_skip: str = ""
    """What must be given for rows to be left out; empty: nothing."""


class Running(NamedTuple):
    """What every built-in iterator takes besides MXNet's parameters."""

    seed: int
    memory: int | str | None = None
    on_error: Literal["raise", "skip"] = "raise"
    max_errors: int = error_policy.MAX_ERRORS
    state: Mapping[str, Any] | None = None
    workers: int | None = None
    device: str | None = None
    page_locked_of: int | None = None
    """The GPU from whose page-locked memory batches may be copied; None: batches lie in plain memory."""
    otherwise: bool = False
    """Whether on_error was given to an iterator around this one, so that states say it."""


def check_skips(on_error: Literal["raise", "skip"] | None, to_skip: str, of: str) -> None:
    """Raises UnsupportedError if rows are to be left out and, as `Pipeline.to_skip` says, cannot be."""
    if on_error == "skip" and to_skip:
        raise UnsupportedError(
            f'{of}: on_error="skip" with num_parts and round_batch needs the number of rows, which cannot be counted by '
            f"bytes; give {to_skip}"
        )
