"""A `take` and a `skip` that look like two parts of a dataset, and share rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace._arguments.doubts import warn_once
from headrace._arguments.source_location import users_location

if TYPE_CHECKING:
    from headrace._datasets.runs import Runs

__all__ = ["note_run"]

_OTHER = {"take": "skip", "skip": "take"}


def note_run(dataset: Runs, epoch: int) -> None:
    """Warns, once for each shuffled dataset, if a `take` and a `skip` of it were run in different epochs: what looks
    like two parts shares rows. In one epoch they share none."""
    while len(dataset._inputs) == 1:
        (below,) = dataset._inputs
        if dataset._node.op in _OTHER and _is_shuffled(below):
            _note_cut(below, dataset._node, epoch)
        dataset = below


def _is_shuffled(dataset: Runs) -> bool:
    while not dataset._node.shuffles:
        if len(dataset._inputs) != 1 or not dataset._node.row_by_row:
            return False
        (dataset,) = dataset._inputs
    return True


def _note_cut(shuffled: Runs, cut: Any, epoch: int) -> None:
    runs = shuffled._cuts_run
    text = cut.text()
    first, last = runs.get(text, (epoch, epoch))
    runs[text] = (min(first, epoch), max(last, epoch))
    other = runs.get(_OTHER[cut.op] + text[len(cut.op) :])
    if other is None or (runs[text] == other and other[0] == other[1]) or shuffled._warned_of_cuts:
        return
    shuffled._warned_of_cuts = True
    warn_once(
        f"{text} and {_OTHER[cut.op]}{text[len(cut.op) :]} of a shuffled dataset were run in different epochs: each "
        "epoch gives other rows to the two, so they overlap; for parts that never do, write split([0.8, 0.2]), or "
        "select(…) below the shuffle",
        users_location(),
    )
