"""One process that makes the batches of several: what they get, and what happens when any of them ends."""

import array
import contextlib
import hashlib
import importlib.util
import itertools
import os
import pathlib
import pickle
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace._share import packets

LARGE = (64, 64)  # A batch of such rows is too large for a message.


def pictures(value: Any) -> Any:
    return np.full(LARGE, int(value), np.int32)


def columns_of(value: Any) -> tuple[Any, ...]:
    number = int(value)
    return pictures(value), f"é{number}", bytes(number % 5), np.float16(number)


def several(rows: int = 30) -> hr.Dataset:
    return hr.Range(rows, shuffle=True).map(columns_of, "value", ["value", "name", "data", "half"]).batch(4)


def fails_at_9(value: Any) -> Any:
    if int(value) == 9:
        raise ValueError("nine")
    return pictures(value)


def counted(path: str) -> Callable[[Any], Any]:
    def count(value: Any) -> Any:
        with open(path, "ab") as file:
            file.write(b".")
        return pictures(value)

    return count


def digest(batches: Any) -> str:
    found = hashlib.blake2b()
    for batch in batches:
        for name, column in batch.items():
            found.update(name.encode())
            found.update(repr(column.tolist() if isinstance(column, np.ndarray) else column).encode())
    return found.hexdigest()


def is_gone(pid: int) -> bool:
    """Waits for it."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 30)[0])
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def in_child(function: Callable[[], object]) -> Iterator[int]:
    """Runs it in a forked process, whose number this gives, and which has ended at the end of the block."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    try:
        yield child
    finally:
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)


@pytest.fixture(scope="module")
def shared() -> Iterator[hr.SharedDataset]:
    """Of `several`; each test has a group of its own."""
    with hr.share(several()) as opened:
        yield opened


# ---- what consumers get ----


def test_batches_epochs_and_states_are_those_of_one_process(shared):
    dataset = several()
    with shared.connect(group="epochs") as batches:
        for epoch in range(3):
            with dataset.iterate(epoch=epoch) as alone:
                assert batches.epoch == max(0, epoch - 1)
                for here, there in zip(batches, alone, strict=True):
                    assert digest([here]) == digest([there])
                    assert {name: column.dtype for name, column in here.items()} == {
                        name: column.dtype for name, column in there.items()
                    }
                assert batches.epoch == epoch and len(batches) == 8
                with pytest.raises(StopIteration):
                    next(batches)


def test_a_loop_that_was_left_goes_on(shared):
    with shared.connect(group="left") as batches:
        for _ in batches:
            break
        assert sum(1 for _ in batches) == 7


@pytest.mark.parametrize("taken", [0, 1, 5, 8])
def test_states_go_to_and_fro(shared, taken):
    dataset = several()
    expected = [digest([each]) for each in dataset.iterate(epoch=2)]
    with shared.connect(group="to", epoch=2) as batches:
        for _ in range(taken):
            next(batches)
        state = batches.state()
    assert [digest([each]) for each in dataset.iterate(state=state)] == expected[taken:]
    with dataset.iterate(epoch=2) as alone:
        for _ in range(taken):
            next(alone)
        state = alone.state()
    with shared.connect(group="fro", state=state) as batches:
        assert [digest([each]) for each in batches] == expected[taken:]
    with shared.connect(group="start", epoch=2, start=taken) as batches:
        assert [digest([each]) for each in batches] == expected[taken:]


@pytest.mark.parametrize("even", ["off", "drop", "pad"])
def test_ranks_get_what_each_would_make_alone(shared, even):
    dataset = several()
    ranks = [shared.connect(shard=(rank, 3), even=even, group=even, seed=5) for rank in range(3)]
    for rank, batches in enumerate(ranks):
        alone = [digest([each]) for each in dataset.iterate(shard=(rank, 3), even=even, seed=5)]
        assert [digest([each]) for each in batches] == alone
        assert len(batches) == len(alone)
        batches.close()


@pytest.mark.torch
def test_batches_are_tensors(shared):
    torch = pytest.importorskip("torch")
    with shared.connect(group="torch", as_="torch") as batches:
        first = next(batches)
        assert first["value"].dtype == torch.int32 and isinstance(first["name"], np.ndarray)
        first["value"].add_(1)
    with shared.connect(group="numpy") as batches:
        assert digest(batches) == digest(several().iterate())


def test_forms(shared):
    pytest.importorskip("pyarrow")
    expected = digest(several().iterate())
    with shared.connect(group="dlpack", as_="dlpack") as batches:
        assert np.from_dlpack(next(batches)["value"]).shape == (4, *LARGE)
    with shared.connect(group="tuple", as_tuple=["name", "value"]) as batches:
        assert digest([{"value": value, "name": name} for name, value in batches]) == digest(
            [{"value": each["value"], "name": each["name"]} for each in several().iterate()]
        )
    with pytest.raises(hr.GraphError, match="there is no such column"):
        shared.connect(group="tuple", as_tuple=["nam"])
    with shared.connect(group="arrow", as_="arrow") as batches:
        assert [each.column("name").to_pylist() for each in batches] == [
            each["name"].tolist() for each in several().iterate()
        ]
    with shared.connect(group="numpy") as batches:
        assert digest(batches) == expected


def test_options_of_the_dataset_hold():
    dataset = several(16).options(as_tuple=["name"], seed=3, shard=(1, 2))
    dataset.epoch = 4
    with hr.share(dataset) as shared, shared.connect() as batches:
        assert batches.epoch == 4
        names = [name.tolist() for (name,) in batches]
        assert names == [each["name"].tolist() for each in several(16).iterate(seed=3, epoch=4, shard=(1, 2))]


def test_options_of_each_dataset_hold_for_its_own_consumers(tmp_path):
    path, whole = tmp_path / "train.sock", several(16)
    of_rank = [whole.options(shard=(rank, 2), seed=3 + rank, even="pad", as_tuple=["name"]) for rank in range(2)]
    of_rank[1].epoch = 2
    others = (*of_rank, whole, whole.with_seed(7))
    with contextlib.ExitStack() as stack:
        for number, dataset in enumerate(others):
            shared = stack.enter_context(hr.share(dataset, path))
            batches = stack.enter_context(shared.connect(group=str(number)))
            assert batches.epoch == dataset.epoch
            for here, there in zip(batches, dataset.iterate(), strict=True):
                named = zip(here, there, strict=True) if isinstance(here, tuple) else [(here["name"], there["name"])]
                assert all(one.tolist() == other.tolist() for one, other in named)
        # Who has no dataset takes the options of the one that came first.
        first = stack.enter_context(hr.connect(path))
        assert [name.tolist() for (name,) in first] == [name.tolist() for (name,) in of_rank[0].iterate()]


def test_options_of_the_maker_are_the_same_for_all(tmp_path):
    path = tmp_path / "train.sock"
    with hr.share(several().options(memory="64MiB"), path, mode=0o660) as shared:
        for dataset, here in ((several(), 2 << 30), (several().options(memory="1GiB"), 1 << 30)):
            said = f"has memory={here}, and process {shared.pid} at .* makes its batches with memory={64 << 20}"
            with pytest.raises(hr.GraphError, match=said):
                hr.share(dataset, path, mode=0o660)
        with pytest.raises(hr.GraphError, match=f"mode is 0o600, and process {shared.pid} .* was started with 0o660"):
            hr.share(several().options(memory=64 << 20), path)
        with hr.share(several().options(memory=64 << 20, stall_warning=1), path, mode=0o660) as other:
            assert other.pid == shared.pid


@pytest.mark.parametrize(
    "given", [{"device": "cpu:0"}, {"callbacks": [hr.Callback()]}, {"profile": "profile"}, {"bytes_as": "memoryview"}]
)
def test_options_without_effect_are_refused(tmp_path, given):
    (name,) = given
    dataset = several().options(**given)
    with pytest.raises(
        hr.UnsupportedError, match=rf"{name}=, which has no effect .* share\(ds\.options\({name}=None\)"
    ):
        hr.share(dataset)
    if name != "callbacks":
        (tmp_path / "train.pkl").write_bytes(pickle.dumps(hr.Range(3).options(**given)))
        found = hr_main([str(tmp_path / "train.pkl"), "--socket", str(tmp_path / "s")])
        assert found[0] == 1 and f"the dataset has {name}=" in found[1]


def test_lists_of_rows():
    values = hr.ragged(np.arange(9, dtype=np.uint8), [0, 3, 3, 9])
    rows = hr.Numpy({"boxes": values, "names": hr.ragged(["a", "bb", "ccc"], [0, 0, 1, 3]), "text": ["x", "yy", "z"]})
    dataset = rows.batch(2, ragged="list")
    with hr.share(dataset) as shared, shared.connect() as batches:
        assert digest(batches) == digest(dataset.iterate())


def test_what_is_written_or_kept_changes_nothing_for_others(shared):
    with shared.connect(group="written") as one, shared.connect(group="written") as other:
        for batch in one:
            batch["value"][:] = -1
            kept = next(other)
            assert (kept["value"] >= 0).all() and (batch["value"] == -1).all()
        one.close()
        epochs = [list(other) for _ in range(6)]
    assert [digest(each) for each in epochs[1:]] == [digest(several().iterate(epoch=epoch)) for epoch in range(1, 6)]


def test_memory_is_used_again(shared):
    memories = set()
    with shared.connect(group="memory") as batches:
        for _ in range(20):
            for batch in batches:
                del batch
                memories.add(memory_of(shared.pid))
    # Those that may be ahead, and those that wait for a batch.
    assert max(memories) <= 2 * (4 + 2)


def memory_of(pid: int) -> int:
    """The memories of batches that a process has open."""
    found = 0
    for each in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += "headrace-batch" in os.readlink(each)
    return found


def test_thousands_of_small_batches_may_be_kept():
    with hr.share(hr.Range(12000).batch(4)) as shared, shared.connect() as batches:
        kept = list(batches)
        assert memory_of(shared.pid) == 0
    assert np.concatenate([each["value"] for each in kept]).tolist() == list(range(12000))


# ---- several of the same batches ----


def test_two_models_on_one_decode(tmp_path):
    made = tmp_path / "made"
    dataset = hr.Range(24).map(counted(str(made)), "value").batch(4)
    pytest.importorskip("cloudpickle")
    with hr.share(dataset, consumers=2) as shared, shared.connect() as one, shared.connect() as other:
        pairs = [(digest([here]), digest([there])) for here, there in zip(one, other, strict=True)]
        assert len(pairs) == 6 and all(here == there for here, there in pairs)
        assert made.stat().st_size == 24
        assert one.state() == other.state()
        assert "consumers of these batches: 2" in one.explain() and "map" in one.explain()
        assert one.report()["delivered"] == 6


def test_a_consumer_that_is_behind_is_left():
    with hr.share(several(80), slow="drop", ahead=2, consumers=2) as shared:
        slow, fast = shared.connect(), shared.connect()
        expected = [digest([each]) for each in several(80).iterate()]
        assert digest([next(slow)]) == expected[0]
        assert [digest([each]) for each in fast] == expected
        got: list[str] = []
        with pytest.raises(hr.ClosedError, match="more than 2 batches behind"):
            got.extend(digest([each]) for each in slow)
        # What had come before, and a state to go on from.
        assert got == expected[1 : 1 + len(got)] and len(got) < 6
        assert [digest([each]) for each in several(80).iterate(state=slow.state())] == expected[1 + len(got) :]


def test_consumers_of_the_same_batches_must_agree(shared):
    with shared.connect(group="agree", seed=1) as first:
        next(first)
        with pytest.raises(hr.GraphError, match="seed is 2, and .* gave 1"):
            shared.connect(group="agree", seed=2)
        if importlib.util.find_spec("pyarrow"):
            with pytest.raises(hr.GraphError, match="as_ is 'arrow', and .* gave 'numpy'"):
                shared.connect(group="agree", seed=1, as_="arrow")
        with pytest.raises(hr.StateError, match=r"at batch 0 of epoch 0, and this one asks for batch 0 of epoch 3"):
            shared.connect(group="agree", seed=1, epoch=3)
        for _ in range(3):
            next(first)
        with pytest.raises(hr.StateError, match=r"at batch 3 of epoch 0, and this one asks for batch 0 of epoch 0"):
            shared.connect(group="agree", seed=1)
        # At the same place they may join, by a state of one process, too.
        state = first.state()
        with several().iterate(seed=1, start=4) as alone:
            theirs = alone.state()
        for each in (state, theirs):
            with shared.connect(group="agree", seed=1, state=each) as other:
                other.state()
        with pytest.raises(hr.StateError, match="epoch 0, not 2"):
            shared.connect(group="agree", seed=1, state=state, epoch=2)


def test_states_and_epochs_that_cannot_be(shared):
    for _ in range(2):
        with pytest.raises(hr.StateError, match="damaged"):
            shared.connect(group="damaged", seed=1, state=b"nothing")
    # Nobody is left to agree with.
    with shared.connect(group="damaged", seed=2) as batches:
        assert digest(batches) == digest(several().iterate(seed=2))
    with pytest.raises(hr.GraphError, match="start or state, not both"):
        shared.connect(start=1, state=b"x")
    with pytest.raises(hr.GraphError, match="ranks go from 0 to 1"):
        shared.connect(shard=(2, 2))
    with pytest.raises(hr.GraphError, match="epoch is -1"):
        shared.connect(epoch=-1)


# ---- errors ----


def test_an_error_is_raised_at_its_row():
    dataset = hr.Range(20).map(fails_at_9, "value").batch(2)
    with hr.share(dataset) as shared:
        expected: list[str] = []
        with pytest.raises(hr.FunctionError) as alone:
            expected.extend(digest([each]) for each in dataset.iterate())
        batches, got = shared.connect(), []
        with pytest.raises(hr.FunctionError) as raised:
            got.extend(digest([each]) for each in batches)
        assert str(raised.value) == str(alone.value) and raised.value.row == alone.value.row
        assert "nine" in str(raised.value.__cause__)
        assert got == expected and len(got) == 4
        with pytest.raises(hr.FunctionError, match="nine"):
            next(batches)
        with dataset.iterate(state=batches.state()) as rows, pytest.raises(hr.FunctionError):
            next(rows)
    with hr.share(dataset.on_error("skip")) as shared, shared.connect() as batches:
        assert digest(batches) == digest(dataset.on_error("skip").iterate())


def test_a_pipeline_that_cannot_run_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("a\n1\n2\n")
    dataset = hr.Csv(tmp_path / "rows.csv").batch(1)
    (tmp_path / "rows.csv").unlink()
    with hr.share(dataset) as shared:
        with pytest.raises(hr.NotFoundError, match=r"rows\.csv"):
            shared.connect()
        # It goes on: what was missing may come.
        (tmp_path / "rows.csv").write_text("a\n1\n2\n")
        with shared.connect() as batches:
            assert sum(1 for _ in batches) == 2


def test_parameters():
    scale = hr.parameter("scale", default=1.0)

    def scaled(value: Any, scale: Any = scale) -> Any:
        return value * scale

    pytest.importorskip("cloudpickle")
    dataset = hr.Range(3).map(scaled, "value").batch(3)
    with hr.share(dataset) as shared, shared.connect() as batches:
        assert [each["value"].tolist() for each in batches] == [[0, 1, 2]]
        scale.set(2.0, epoch=1)
        batches.set_parameter("scale", 3.0, 2)
        assert [each["value"].tolist() for each in batches] == [[0, 2, 4]]
        assert [each["value"].tolist() for each in batches] == [[0, 3, 6]]
        with pytest.raises(hr.GraphError, match=r"is 4\.0 for epoch 2 here, and another consumer set 3\.0"):
            batches.set_parameter("scale", 4.0, 2)
        with pytest.raises(hr.GraphError, match="epoch 2 was asked for"):
            batches.set_parameter("scale", 4.0, 0)
        with pytest.raises(hr.GraphError, match=r"reads no hr\.parameter"):
            batches.set_parameter("scales", 4.0, 5)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(scale)


def test_a_state_that_is_too_large_is_an_error_of_its_own():
    scale = hr.parameter("scale", default=1.0)
    for epoch in range(3000):
        scale.set(epoch / 7, epoch)

    def scaled(value: Any, scale: Any = scale) -> Any:
        return value * scale

    pytest.importorskip("cloudpickle")
    dataset = hr.Range(6).map(scaled, "value").batch(3)
    with hr.share(dataset) as shared, shared.connect() as batches:
        assert digest(batches) == digest(dataset.iterate())
        with pytest.raises(hr.UnsupportedError, match="no state where that has more than 32 KiB"):
            batches.state()


# ---- beginnings and ends ----


def test_the_first_starts_it_and_the_last_ends_it(tmp_path):
    path = tmp_path / "train.sock"
    with hr.share(several(), path) as first:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_ISSOCK(path.stat().st_mode)
        with hr.share(several(), path) as second:
            assert second.pid == first.pid != os.getpid()
        with pytest.raises(hr.GraphError, match="another pipeline"):
            hr.share(several(8), path)
        with pytest.raises(hr.GraphError, match=f"ahead is 9, and process {first.pid} .* was started with 4"):
            hr.share(several(), path, ahead=9)
    assert is_gone(first.pid) and list(tmp_path.iterdir()) == []
    with pytest.raises(hr.NotFoundError, match="no process shares batches"):
        hr.connect(path)


def test_consumers_keep_it():
    shared = hr.share(several())
    folder = pathlib.Path(shared.socket).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    batches = shared.connect()
    shared.close()
    shared.close()
    kept = next(batches)
    assert sum(1 for _ in batches) == 7
    batches.close()
    # A batch that is kept stays, though its maker is gone.
    assert is_gone(shared.pid) and not folder.exists()
    assert digest([kept]) == digest([next(iter(several()))])


def test_many_start_it_at_once_and_one_does(tmp_path):
    path, read, write = tmp_path / "train.sock", *os.pipe()

    def child() -> None:
        with hr.share(several(), path) as shared:
            os.write(write, array.array("i", [shared.pid]).tobytes())
            os.read(0, 1)

    hold, held = os.pipe()
    with contextlib.ExitStack() as children:
        for _ in range(4):
            children.enter_context(in_child(lambda: (os.dup2(hold, 0), os.close(held), child())))
        pids = {os.read(read, 4) for _ in range(4)}
        os.close(held)
    for each in (read, write, hold):
        os.close(each)
    assert len(pids) == 1


def test_a_stale_socket_file_is_taken_over_and_other_files_are_not(tmp_path):
    path = tmp_path / "train.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left:
        left.bind(str(path))
    with pytest.raises(hr.NotFoundError):
        hr.connect(path)
    with hr.share(several(), path, mode=0o660) as shared, shared.connect() as batches:
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert sum(1 for _ in batches) == 8
    assert is_gone(shared.pid)
    path.write_text("mine")
    with pytest.raises(hr.GraphError, match="is not a socket"):
        hr.share(several(), path)
    assert path.read_text() == "mine"


@pytest.mark.skipif(os.getuid() != 0, reason="needs another user")
def test_another_user_is_told_what_the_mode_says():
    with tempfile.TemporaryDirectory() as folder, hr.share(several(), f"{folder}/train.sock") as shared:
        os.chmod(folder, 0o755)

        def as_another_user():
            os.setuid(65534)
            with pytest.raises(
                hr.NotFoundError,
                match="connect: the mode of the socket .* does not let this user connect: share it with mode=0o660",
            ):
                hr.connect(shared.socket)
            with pytest.raises(hr.NotFoundError, match="give a folder in which this user may write"):
                hr.share(several(), f"{folder}/mine.sock")

        with in_child(as_another_user):
            pass


def test_arguments_are_checked(tmp_path):
    for given, said in (
        ({"ahead": 0}, "ahead is 0"),
        ({"slow": "stop"}, "slow is 'stop'"),
        ({"consumers": 0}, "consumers is 0"),
        ({"mode": 0o1000}, "mode is 512"),
        ({"socket": tmp_path / ("x" * 120)}, "at most 107 bytes"),
    ):
        with pytest.raises(hr.GraphError, match=said):
            hr.share(several(), **given)
    with pytest.raises(hr.GraphError, match="give a Dataset"):
        hr.share([1])
    with pytest.raises(hr.NotFoundError, match="no socket can be made"):
        hr.share(several(), tmp_path / "none/train.sock")


def test_a_dataset_that_cannot_be_made_there(tmp_path, monkeypatch):
    dataset = hr.Range(3).map(Unpicklable(), "value").batch(3)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(
        hr.GraphError, match="cannot be made in the process that is to share it: RuntimeError: not here"
    ):
        hr.share(dataset)
    assert list(tmp_path.iterdir()) == []


class Unpicklable:
    def __call__(self, value: Any) -> Any:
        return value

    def __setstate__(self, state: Any) -> None:
        raise RuntimeError("not here")

    def __getstate__(self) -> Any:
        return 1


def test_an_iterator_that_ended(shared):
    batches = shared.connect(group="closed")
    next(batches)
    assert repr(batches).endswith("1 given, open>")
    batches.close()
    batches.close()
    for call in (lambda: next(batches), batches.explain, lambda: len(batches)):
        with pytest.raises(hr.ClosedError, match="was closed"):
            call()
    assert repr(batches).endswith("1 given, closed>")
    assert sum(1 for _ in several().iterate(state=batches.state())) == 7
    with pytest.raises(TypeError, match=r"headrace\.connect"):
        pickle.dumps(batches)
    with pytest.raises(TypeError, match="its socket"):
        pickle.dumps(shared)


def test_a_forked_child_connects_anew(shared):
    batches = shared.connect(group="forked")
    next(batches)

    def child() -> None:
        with pytest.raises(hr.ClosedError, match="was forked"):
            next(batches)
        with shared.connect(group="child") as own:
            assert sum(1 for _ in own) == 8

    with in_child(child):
        pass
    assert sum(1 for _ in batches) == 7


class Interrupted(Exception):
    pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signals_lose_no_batch():
    listening = [True]

    def interrupt(number: int, frame: Any) -> None:
        if listening:
            raise Interrupted

    got: list[Any] = []
    interrupts = 0
    before = signal.signal(signal.SIGALRM, interrupt)
    with hr.share(several(2000)) as shared, shared.connect() as batches:
        while listening:
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-3 * (1 + interrupts % 7))
                # In C, where no signal comes between a batch and the list.
                got.extend(map(next, itertools.repeat(batches)))
                listening.clear()
            except Interrupted:
                interrupts += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    assert len(got) == 500 and digest(got) == digest(several(2000).iterate()) and interrupts > 0


def test_another_thread_may_close():
    with hr.share(several(), consumers=2) as shared:
        batches = shared.connect()
        raised: list[BaseException] = []

        def wait() -> None:
            try:
                next(batches)
            except hr.ClosedError as error:
                raised.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        batches.close()
        waiting.join(30)
        assert not waiting.is_alive() and "was closed" in str(raised[0])


def test_reports_do_not_wait_for_a_batch(tmp_path):
    pytest.importorskip("cloudpickle")
    read, write = tmp_path / "read", tmp_path / "write"
    for each in (read, write):
        os.mkfifo(each)

    def waits(value: Any, began: str = str(read), may_end: str = str(write)) -> Any:
        if int(value) == 0:
            open(began, "wb").close()
            open(may_end, "rb").close()
        return value

    with hr.share(hr.Range(8).map(waits, "value").batch(4)) as shared, shared.connect() as batches:
        got: list[Any] = []
        taking = threading.Thread(target=lambda: got.extend(batches))
        taking.start()
        with open(read, "rb") as began:
            began.read()
        # The function runs, and ends when the other pipe is opened and closed.
        assert "consumers of these batches: 1" in batches.explain() and batches.report()["delivered"] == 0
        assert taking.is_alive()
        open(write, "wb").close()
        taking.join(30)
        assert len(got) == len(batches) == 2


# ---- kills ----


def take_and_die(shared: hr.SharedDataset, taken: int, group: str, done: int) -> None:
    batches = shared.connect(group=group)
    kept = [next(batches) for _ in range(taken)]
    os.write(done, bytes([len(kept)]))
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_consumer_lets_the_others_go_on():
    expected = [digest([each]) for each in several(60).iterate()]
    done, write = os.pipe()
    with hr.share(several(60), ahead=3) as shared:
        for taken in range(4):
            group = str(taken)
            with (
                shared.connect(group=group) as survivor,
                in_child(lambda taken=taken, group=group: take_and_die(shared, taken, group, write)),
            ):
                # It has as many as it may have without the survivor, and would hold it for ever.
                assert os.read(done, 1) == bytes([taken])
                assert [digest([each]) for each in survivor] == expected
        for taken in range(0, 15, 2):
            with in_child(lambda taken=taken: take_and_die(shared, taken, "alone", write)):
                assert os.read(done, 1) == bytes([taken])
        with shared.connect(group="last") as batches:
            assert [digest([each]) for each in batches] == expected
        # Nothing of what the killed ones kept is left but what waits for batches.
        assert memory_of(shared.pid) <= 2 * (3 + 2)
    for each in (done, write):
        os.close(each)


def test_of_four_consumers_two_are_killed_and_two_get_all_epochs():
    expected = [[digest([each]) for each in several().iterate(epoch=epoch)] for epoch in range(3)]

    def consume(shared: hr.SharedDataset, dies_after: int | None) -> None:
        with shared.connect() as batches:
            for number, found in enumerate(itertools.chain.from_iterable(expected)):
                if number == dies_after:
                    os.kill(os.getpid(), signal.SIGKILL)
                # The end of an epoch begins the next.
                batch = next(batches, None) or next(iter(batches))
                assert digest([batch]) == found

    with hr.share(several(), consumers=4, ahead=3) as shared, contextlib.ExitStack() as children:
        for dies_after in (None, 5, 13, None):
            children.enter_context(in_child(lambda dies_after=dies_after: consume(shared, dies_after)))


@pytest.mark.parametrize("taken", [1, 30])
def test_a_killed_server_is_told_with_a_state_to_go_on(taken):
    dataset = hr.Range(2000, shuffle=True).batch(4)
    expected = [digest([each]) for each in dataset.iterate()]
    with hr.share(dataset) as shared:
        batches, got = shared.connect(), []
        for _ in range(taken):
            got.append(digest([next(batches)]))
        path = shared.socket
        os.kill(shared.pid, signal.SIGKILL)
        assert is_gone(shared.pid)
        # What had come by then is given.
        with pytest.raises(hr.ClosedError, match=f"process {shared.pid}.* is gone: share the dataset again"):
            got.extend(digest([each]) for each in batches)
        with pytest.raises(hr.ClosedError, match="is gone"):
            next(batches)
        assert got + [digest([each]) for each in dataset.iterate(state=batches.state())] == expected
    # The path is free for another.
    if taken == 30:
        with hr.share(dataset, path) as again, again.connect(state=batches.state()) as rest:
            assert got + [digest([each]) for each in rest] == expected and again.pid != shared.pid
        assert is_gone(again.pid)
    else:
        os.unlink(path)
    os.rmdir(os.path.dirname(path))


def test_a_starter_that_is_killed_leaves_nothing_in_the_way(tmp_path, monkeypatch):
    path = tmp_path / "train.sock"

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    # Before there is a process, and when one was started.
    for name in ("started", "Connection"):
        with monkeypatch.context() as patch:
            patch.setattr(f"headrace._share.sharing.{name}", die)
            with in_child(lambda: hr.share(several(), path)):
                pass
        with hr.share(several(), path) as shared, shared.connect() as batches:
            assert sum(1 for _ in batches) == 8
        assert is_gone(shared.pid) and list(tmp_path.iterdir()) == []


def test_sigterm_ends_it_cleanly(tmp_path):
    path = tmp_path / "train.sock"
    with hr.share(several(400), path) as shared, shared.connect() as batches:
        next(batches)
        os.kill(shared.pid, signal.SIGTERM)
        with pytest.raises(hr.ClosedError, match="was ended by SIGTERM; share it again"):
            list(batches)
        assert is_gone(shared.pid) and list(tmp_path.iterdir()) == []
        assert digest(several(400).iterate(state=batches.state()))


def test_what_is_not_a_consumer_is_left(shared):
    nested = b"[" * 40000
    for data in (
        b"x",
        b"\xff" * 40,
        len(nested).to_bytes(4, "little") + nested,
        packets.packed({}),
        packets.packed({"kind": "nothing"}),
        packets.packed({"kind": "ask", "number": 1, "state": 5}),
        packets.packed({"kind": "set", "number": 1, "values": 5}),
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
            other.connect(shared.socket)
            other.recv(1 << 16)
            other.send(data)
            other.shutdown(socket.SHUT_WR)
            assert other.recv(1 << 16) == b""
    with shared.connect(group="after") as batches:
        assert sum(1 for _ in batches) == 8


# ---- the command ----


@contextlib.contextmanager
def command(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "headrace", "share", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_command_shares_saved_graphs_and_pickles(tmp_path):
    dataset = hr.Range(20, shuffle=True).batch(4)
    dataset.save(tmp_path / "train.hrg")
    (tmp_path / "train.pkl").write_bytes(pickle.dumps(dataset))
    for file in ("train.hrg", "train.pkl"):
        path = tmp_path / "train.sock"
        with command(tmp_path / file, "--socket", path, "--mode", "640", "--consumers", 2) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == f"{path}: ready\n"
            assert stat.S_IMODE(path.stat().st_mode) == 0o640
            with hr.connect(path) as one, hr.connect(path) as other:
                assert [digest(each) for each in zip(*zip(one, other, strict=True), strict=True)] == [
                    digest(dataset.iterate())
                ] * 2
            # It stays after the last consumer, and one at a path is enough.
            with pytest.raises(hr.GraphError, match="another pipeline"):
                hr.share(hr.Range(3), path)
            said = f"headrace: share: process {process.pid} shares at {path} already: give another socket, or end it"
            assert hr_main([str(tmp_path / file), "--socket", str(path)]) == (1, said)
            process.terminate()
            assert process.wait(30) == 0 and not path.exists()


def test_the_command_refuses_what_it_cannot_share(tmp_path):
    (tmp_path / "other.pkl").write_bytes(pickle.dumps([1]))
    (tmp_path / "broken.pkl").write_bytes(b"\x80")
    hr.Range(3).map(pictures, "value").save(tmp_path / "functions.hrg")
    for arguments, said in (
        (["functions.hrg"], "names Python functions"),
        (["other.pkl"], "holds a list; pickle a Dataset"),
        (["broken.pkl"], "cannot be unpickled"),
        (["none.pkl"], "no pickle at"),
        (["other.pkl", "--mode", "9"], "--mode is '9'; write octal digits"),
        (["other.pkl", "--slow", "stop"], "slow is 'stop'"),
    ):
        found = hr_main([str(tmp_path / arguments[0]), "--socket", str(tmp_path / "s"), *arguments[1:]])
        assert found[0] == 1 and said in found[1], found


def hr_main(arguments: list[str]) -> tuple[int, str]:
    from headrace.__main__ import main

    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("headrace.__main__.say_text", lambda text, *_: said.append(text))
        return main(["share", *arguments]), "".join(said)
