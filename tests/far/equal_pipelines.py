"""Runs the pipelines of tests/pipelines.py over a far store, and compares with the same over local files."""

import dataclasses
import functools
import pathlib

import pytest

import headrace as hr
from tests.far.stores import FarFolder, Store
from tests.pipelines import EPOCH, PIPELINES, SEED
from tests.running import Failure, Outcome, Row, assert_same, read_all

RUN = {"seed": SEED, "epoch": EPOCH}

# Why these read local files alone.
LOCAL_ALONE = {
    "table_of_files": "lists the folder itself",
}


@functools.cache
def expected(name: str, data: pathlib.Path) -> Outcome:
    return read_all(PIPELINES[name](data), **RUN)


def with_far_paths(row: Row, data: pathlib.Path, root: str) -> Row:
    """The row with the paths of the far store, which columns of texts may have."""
    return tuple(
        (name, kind, shape, far_text(contents, data, root) if kind == "object of str" else contents)
        for name, kind, shape, contents in row
    )


def far_text(contents: str, data: pathlib.Path, root: str) -> str:
    """Of what `frozen` gives, as long as it is not a digest."""
    return contents if " " in contents else bytes.fromhex(contents).replace(str(data).encode(), root.encode()).hex()


def as_far(failure: Failure | None, data: pathlib.Path, root: str) -> Failure | None:
    """The failure with the paths of the far store."""
    if failure is None:
        return None
    texts = {
        each.name: getattr(failure, each.name).replace(str(data), root)
        for each in dataclasses.fields(failure)
        if isinstance(getattr(failure, each.name), str)
    }
    return dataclasses.replace(failure, **texts)


def as_far_outcome(local: Outcome, data: pathlib.Path, root: str) -> Outcome:
    """What local files gave, with the paths of the far store."""
    return Outcome([with_far_paths(row, data, root) for row in local.rows], as_far(local.failure, data, root))


def far_pipeline(name: str, store: Store) -> hr.Dataset:
    """Skips those that read no files."""
    if name in LOCAL_ALONE:
        pytest.skip(LOCAL_ALONE[name])
    folder = FarFolder(store.root)
    with hr.storage(store.storage):
        dataset = PIPELINES[name](folder)  # type: ignore[arg-type]
    if not folder.used:
        pytest.skip("reads no files")
    return dataset


def check_equal(name: str, store: Store, data: pathlib.Path) -> None:
    dataset = far_pipeline(name, store)
    outcome = read_all(dataset, storage=store.storage, **RUN)
    assert_same(as_far_outcome(expected(name, data), data, store.root), outcome)
    print("HEADRACE-COUNT variants=1")
