"""A loop that waits for too long gets a warning that names the running tasks, whichever thread runs them."""

import gc
import os
import pathlib
import sys
import threading
import time

import pytest
from conftest import eventually, run_python

import headrace as hr
from headrace._runs.stall_watch import StallWatch, stall_watch

pytestmark = pytest.mark.timing


def stuck_at(*rows: int, seconds: float = 0.6) -> hr.Dataset:
    def stuck(x: int) -> int:
        time.sleep(seconds if x in rows else 0)
        return x

    return hr.Range(8).map(stuck, "value")


def test_names_the_stage_once_a_wait(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(list(stuck_at(1, 5, seconds=1.5).iterate(stall_warning=0.7))) == 8
    told = capfd.readouterr().err
    assert told.count("nothing delivered for 0.7 s") == 2
    assert told.count("map[1] (value: function test_stall_watch.py:stuck_at.<locals>.stuck) has worked for ") == 2


@pytest.mark.parametrize("options", [{"stall_warning": 0}, {"stall_warning": 0.2, "executor": "pull"}, {}])
def test_tells_nothing_where_not_asked_or_in_time(capfd: pytest.CaptureFixture[str], options: dict) -> None:
    list(stuck_at(1).iterate(**options))
    assert capfd.readouterr().err == ""


def test_a_long_time_between_rows_is_the_loops_own(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in stuck_at().take(3).iterate(stall_warning=0.5):
        time.sleep(0.8)
    assert capfd.readouterr().err == ""


def test_each_of_many_by_its_own_time(capfd: pytest.CaptureFixture[str]) -> None:
    def run(seconds: float) -> None:
        list(stuck_at(1).iterate(stall_warning=seconds))

    threads = [threading.Thread(target=run, args=(seconds,)) for seconds in (30.0, 0.25, 0.1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = capfd.readouterr().err
    assert [f"nothing delivered for {seconds} s" in told for seconds in ("30", "0.25", "0.1")] == [False, True, True]


class Reading:
    """An engine whose caller reads a file in Next, and does not return."""

    waiting_since_ns = 0

    def describe_stall(self) -> list[str]:
        return ["Files[0] has worked for 1 s"]


def test_tells_though_whoever_waits_does_not_come_back(capfd: pytest.CaptureFixture[str]) -> None:
    watch, engine = StallWatch(), Reading()
    engine.waiting_since_ns = time.monotonic_ns()
    watch.add(engine, 0.1)
    told = ""

    def tells() -> bool:
        nonlocal told
        told += capfd.readouterr().err
        return told.endswith("\n")

    assert eventually(tells)
    assert told == "headrace: nothing delivered for 0.1 s; at work:\n  Files[0] has worked for 1 s\n"
    engine.waiting_since_ns = time.monotonic_ns()
    told = ""
    assert eventually(tells)


def test_survives_a_broken_stderr(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    class Broken:
        def write(self, _: str) -> int:
            raise OSError("gone")

    with monkeypatch.context() as context:
        context.setattr(sys, "stderr", Broken())
        list(stuck_at(1).iterate(stall_warning=0.2))
    list(stuck_at(1).iterate(stall_warning=0.2))
    assert "nothing delivered" in capfd.readouterr().err


def test_forgets_what_is_closed_or_gone() -> None:
    gc.collect()  # otherwise an iterator of an earlier test may be freed here, and a new one get its id
    before = set(stall_watch._watched)
    closed, left = stuck_at().iterate(), stuck_at().iterate()
    assert len(set(stall_watch._watched) - before) == 2
    closed.close()
    del left
    assert set(stall_watch._watched) <= before


def test_forgets_the_engine_that_waits_for_the_next_epoch_with_its_dataset() -> None:
    gc.collect()
    before = set(stall_watch._watched)
    dataset = stuck_at()
    list(dataset)
    assert len(set(stall_watch._watched) - before) == 1
    del dataset
    assert set(stall_watch._watched) <= before


def test_survives_an_engine_that_cannot_say(capfd: pytest.CaptureFixture[str]) -> None:
    class Mute(Reading):
        def describe_stall(self) -> list[str]:
            raise RuntimeError

    watch, mute, engine = StallWatch(), Mute(), Reading()
    for waiting in (mute, engine):
        waiting.waiting_since_ns = time.monotonic_ns()
        watch.add(waiting, 0.1)
    assert eventually(lambda: "Files[0]" in capfd.readouterr().err)
    watch.stop()
    assert watch._thread is not None and not watch._thread.is_alive()


def test_iterates_where_no_thread_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, engine = StallWatch(), Reading()

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", start)
        watch.add(engine, 100)
    assert watch._thread is None
    watch.add(engine, 100)
    assert watch._thread is not None
    watch.stop()


def test_names_a_file_whose_name_is_no_text(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / os.fsdecode(b"\xff.bin")).write_bytes(b"x")

    def stuck(data: bytes) -> bytes:
        time.sleep(0.5)
        return data

    list(hr.Files(str(tmp_path / "*.bin")).map(stuck, "data").iterate(stall_warning=0.1))
    assert "\\xff.bin" in capfd.readouterr().err


def test_one_thread_serves_all_and_pulling_needs_none() -> None:
    done = run_python(
        """
import threading
import headrace as hr
list(hr.Range(3).iterate(executor="pull"))
assert threading.active_count() == 1
for _ in range(5):
    list(hr.Range(3).iterate())
assert threading.active_count() == 2
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_forked_process_begins_anew() -> None:
    with stuck_at().iterate():
        child = os.fork()
        if child == 0:
            os._exit(0 if stall_watch._thread is None and not stall_watch._watched else 1)
        assert os.waitpid(child, 0)[1] == 0
