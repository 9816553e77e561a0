"""Records and their index while they are written: after which checkpoint a killed job goes on."""

import pytest

from headrace._records.record_draft import Checkpoint, RecordDraft

JOB = "job"


class Killed(Exception):
    """Ends a draft as a kill does after its last checkpoint."""


def left_by(path: str, steps: list[tuple[int, bytes | None]]) -> None:
    """A draft with a checkpoint a step: a position of the input, and the record that was written since, if any."""
    with pytest.raises(Killed), RecordDraft.create(path, JOB) as draft:
        for position, payload in steps:
            if payload is not None:
                draft.append(draft.records, [payload])
            draft.checkpoint(position, [] if payload is not None else [("bad.jpg", "cannot be read")])
        raise Killed


def resumed(path: str) -> tuple[list[Checkpoint], int]:
    with pytest.raises(Killed), RecordDraft.resume(path, JOB) as draft:
        found = list(draft.before), draft.position
        raise Killed
    return found


@pytest.mark.parametrize(
    "steps",
    [
        [(1, b"first"), (2, None)],
        [(1, None), (2, b"second")],
        [(1, None), (2, None), (3, None)],
        [(1, b"first"), (2, None), (3, None), (4, b"fourth")],
        [(1, b""), (1, b"")],
    ],
)
def test_a_job_goes_on_after_a_checkpoint_that_added_nothing(tmp_path, steps):
    path = str(tmp_path / "set.rec")
    left_by(path, steps)
    before, position = resumed(path)
    assert [each.position for each in before] == [position for position, _ in steps]
    assert position == steps[-1][0]


def test_a_checkpoint_that_goes_back_ends_what_counts(tmp_path):
    path = str(tmp_path / "set.rec")
    left_by(path, [(5, b"fifth"), (4, b"fourth"), (6, b"sixth")])
    before, position = resumed(path)
    assert [each.position for each in before] == [5] and position == 5
