"""States of runs over far files: they fit a copy elsewhere, refuse other contents, and go on in another process."""

import concurrent.futures
import pathlib
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import headrace as hr
from tests.far import stores
from tests.far.faults import throttled
from tests.far.s3_server import S3Server
from tests.far.stores import Store
from tests.running import Outcome, assert_same, read, read_all, read_restoring

RUN = {"seed": 7, "epoch": 2}


def fill(store: Store) -> None:
    for number in range(40):
        store.put(f"{number:02}.bin", b"%d" % number)


def files_of(root: str) -> hr.Dataset:
    return hr.Files(f"{root}/*.bin", shuffle=True).project(["data"]).batch(3)


def rest(root: str, storage: dict[str, dict[str, object]], state: bytes) -> Outcome:
    """Runs in another process."""
    return read_all(files_of(root), state=state, storage=storage)


@pytest.fixture
def two(far_library: None) -> Iterator[list[Store]]:
    """Two servers with the same bucket."""
    with ExitStack() as stack:
        found = [stores.s3_store(stack.enter_context(S3Server())) for _ in range(2)]
        for store in found:
            fill(store)
        yield found


def state_after(store: Store, rows: int) -> tuple[Outcome, bytes]:
    with files_of(store.root).iterate(storage=store.storage, **RUN) as iterator:
        return read(iterator, rows), iterator.state()


def test_a_state_goes_on_over_a_copy_on_another_server(two: list[Store]) -> None:
    """Whose objects were written at another time: names, sizes and versions count."""
    whole = read_all(files_of(two[0].root), storage=two[0].storage, **RUN)
    begun, state = state_after(two[0], 5)
    after = read_all(files_of(two[1].root), state=state, storage=two[1].storage)
    assert_same(whole, Outcome(begun.rows + after.rows))


def test_a_state_goes_on_in_another_process(two: list[Store], elsewhere: concurrent.futures.Executor) -> None:
    whole = read_all(files_of(two[0].root), storage=two[0].storage, **RUN)
    begun, state = state_after(two[0], 5)
    after = elsewhere.submit(rest, two[0].root, two[0].storage, state).result(60)
    assert_same(whole, Outcome(begun.rows + after.rows))


def test_a_state_over_other_contents_is_refused(two: list[Store]) -> None:
    _, state = state_after(two[0], 5)
    two[1].put("07.bin", b"other")
    with pytest.raises(hr.StateError):
        list(files_of(two[1].root).iterate(state=state, storage=two[1].storage))


def test_contents_of_the_same_size_are_other_contents(two: list[Store]) -> None:
    _, state = state_after(two[0], 5)
    two[1].put("07.bin", b"9")
    with pytest.raises(hr.StateError):
        list(files_of(two[1].root).iterate(state=state, storage=two[1].storage))


def test_a_pipeline_goes_on_after_every_row_while_requests_fail(two: list[Store]) -> None:
    whole = read_all(files_of(two[0].root), storage=two[0].storage, **RUN)
    two[0].giver.faults.add(throttled(), "get", share=0.1)
    found, _ = read_restoring(files_of(two[0].root), 1, storage=two[0].storage, **RUN)
    assert_same(whole, found)


def test_a_saved_graph_over_far_files_is_the_same_wherever_it_is_loaded(
    two: list[Store], tmp_path: pathlib.Path
) -> None:
    files_of(two[0].root).save(tmp_path / "graph.hrg")
    with hr.storage(two[0].storage):
        files_of(two[0].root).save(two[0].url("graph.hrg"))
        assert two[0].data("graph.hrg") == (tmp_path / "graph.hrg").read_bytes()
        loaded = hr.load(two[0].url("graph.hrg"))
        assert_same(read_all(files_of(two[0].root), **RUN), read_all(loaded, **RUN))
