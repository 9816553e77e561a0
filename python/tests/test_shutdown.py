"""Every way to end a pipeline ends it within a second, and leaves no thread and no memory."""

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from conftest import eventually, pipeline_threads, run_python, thread_names, values

import headrace as hr
from headrace import _engine

pytestmark = pytest.mark.timing


def napping(seconds: float = 0.02) -> hr.Dataset:
    """An endless pipeline: a Python thread, workers and full queues."""

    def nap(x):
        time.sleep(seconds)
        return np.full(50_000, x, np.float32)

    return hr.Range(100_000).map(nap, "value").shuffle(4).batch(2)


@pytest.fixture(autouse=True)
def nothing_left():
    list(hr.Range(4).batch(2))
    gc.collect()
    before = _engine.outstanding_bytes()
    yield
    gc.collect()
    assert eventually(lambda: pipeline_threads() == []), thread_names()
    assert eventually(lambda: _engine.outstanding_bytes() <= before), (_engine.outstanding_bytes(), before)


def gone() -> bool:
    """A thread that was joined stays in /proc for a moment."""
    return eventually(lambda: pipeline_threads() == [], 0.5)


class Stopwatch:
    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        assert time.monotonic() - self.began < 1.0


class Later:
    """An iterator that its own functions use, which may run before the variable is set."""

    def __init__(self) -> None:
        self._it: hr.Iterator | None = None
        self._made = threading.Event()

    def made(self, it: hr.Iterator) -> hr.Iterator:
        self._it = it
        self._made.set()
        return it

    def close(self) -> None:
        assert self._made.wait(30)
        self._it.close()


def test_closing_inside_a_function_of_its_own():
    later = Later()

    def close(x):
        if x == 3:
            later.close()
        return x

    it = later.made(hr.Range(1000).map(close, "value").iterate())
    with Stopwatch(), pytest.raises(hr.ClosedError):
        for _ in it:
            pass
    with pytest.raises(hr.ClosedError):
        next(it)


def test_closing_inside_a_function_that_went_through_files(tmp_path):
    for number in range(100):
        (tmp_path / f"{number:03}.bin").write_bytes(bytes(1000))
    later = Later()

    def close(x):
        if x == 3:
            # Long enough for this thread to read some of them.
            with hr.Files(str(tmp_path / "*.bin")).repeat().iterate() as files:
                for _ in range(5000):
                    next(files)
            later.close()
        return x

    it = later.made(hr.Range(1000).map(close, "value").iterate())
    with Stopwatch(), pytest.raises(hr.ClosedError):
        for _ in it:
            pass


def test_two_close_at_once_one_of_them_inside_its_function():
    later, inside = Later(), threading.Event()

    def close(x):
        inside.set()
        time.sleep(0.05)
        later.close()
        return x

    it = later.made(hr.Range(1000).map(close, "value").iterate())
    assert inside.wait(30)
    with Stopwatch():
        it.close()


def test_a_collection_inside_a_function_frees_the_iterator_that_runs_it():
    """The thread that runs the function cannot wait for itself."""
    dropped, collected = threading.Event(), threading.Event()

    class Node:
        pass

    def collect(x):
        if x == 3:
            assert dropped.wait(30)
            gc.collect()
            collected.set()
        return x

    gc.disable()
    try:
        node = Node()
        node.node = node
        node.iterator = hr.Range(1000).map(collect, "value").iterate()
        assert next(node.iterator)
        del node
        dropped.set()
        assert collected.wait(30), "the function waits for itself"
    finally:
        gc.enable()
    # Ends with the next thread that takes the GIL.
    with Stopwatch():
        assert len(list(hr.Range(4).batch(2))) == 2


COLLECT = """
import gc, threading
import headrace as hr

dropped, collected = threading.Event(), threading.Event()

class Node:
    pass

def collect(x):
    if x == 3:
        dropped.wait(30)
        gc.collect()
        collected.set()
    return x

gc.disable()
node = Node()
node.node = node
node.iterator = hr.Range(1000).map(collect, "value").iterate()
next(node.iterator)
del node
dropped.set()
assert collected.wait(30)
"""


def test_a_program_ends_while_an_iterator_waits_to_be_ended():
    done = run_python(COLLECT, timeout=50)
    assert (done.returncode, done.stderr) == (0, "")


def test_breaking_out_of_the_loop():
    pipeline = napping()
    with Stopwatch():
        for _ in pipeline:
            assert pipeline_threads()
            break
        assert gone()


def test_an_exception_in_the_training_code():
    pipeline = napping()
    with Stopwatch():
        try:
            for _ in pipeline:
                raise RuntimeError("training broke")
        except RuntimeError:
            pass
        gc.collect()
        assert gone()


def test_close_and_with():
    it = napping().iterate()
    next(it)
    with Stopwatch():
        it.close()
        assert gone()
    with Stopwatch(), napping().iterate() as it:
        next(it)
    assert gone()


def test_deleting_the_iterator():
    it = iter(napping())
    next(it)
    with Stopwatch():
        del it
        assert gone()


def test_deleting_the_dataset_of_a_parked_engine():
    pipeline = hr.Range(100).map(lambda x: x, "value").batch(10)
    list(pipeline)
    assert pipeline_threads()
    with Stopwatch():
        del pipeline
        gc.collect()
        assert gone()


def test_never_started_and_never_used():
    iter(napping())
    napping().iterate().close()
    gc.collect()
    assert gone()


def test_close_from_another_thread_while_waiting():
    def stuck(x):
        time.sleep(0.3)
        return x

    it = hr.Range(10).map(stuck, "value").batch(10).iterate()
    threading.Timer(0.2, it.close).start()
    with Stopwatch(), pytest.raises(hr.ClosedError):
        next(it)


def test_ctrl_c_while_waiting():
    def stuck(x):
        time.sleep(0.3)
        return x

    pipeline = hr.Range(1000).map(stuck, "value").batch(1000)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        for _ in pipeline:
            pass
    gc.collect()
    assert gone()
    assert time.monotonic() - began < 0.3 + 1.0 + 0.3


def test_ctrl_c_leaves_the_iterator_usable():
    def slow(x):
        time.sleep(0.05)
        return x

    it = hr.Range(10).map(slow, "value").batch(10).iterate()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(it)
    assert next(it)["value"].tolist() == list(range(10))


def test_ctrl_c_in_a_function_that_is_pulled():
    def stuck(x):
        time.sleep(5)
        return x

    it = hr.Range(10).map(stuck, "value").iterate(executor="pull")
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with Stopwatch(), pytest.raises(KeyboardInterrupt):
        next(it)


EXIT = """
import time
import headrace as hr

def nap(x):
    time.sleep(0.02)
    return x

open_one = iter(hr.Range(10_000).map(nap, "value").batch(2))
next(open_one)
rows = hr.Generator(lambda: (i for i in range(10**9)), {"value": "int64"})
another = iter(rows.batch(3))
kept = next(another)
parked = hr.Range(4).batch(2)
list(parked)
ENDING
"""


@pytest.mark.parametrize(
    ("ending", "code"),
    [("", 0), ("raise RuntimeError", 1), ("import sys; sys.exit(3)", 3), ("import gc; gc.disable()", 0)],
)
def test_the_interpreters_exit(ending, code):
    import_only = time.monotonic()
    run_python("import headrace, numpy")
    import_only = time.monotonic() - import_only
    began = time.monotonic()
    done = run_python(EXIT.replace("ENDING", ending), timeout=20)
    assert done.returncode == code, done.stderr
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr
    assert time.monotonic() - began < import_only + 1.5


def test_exit_while_another_thread_waits():
    code = """
import threading, time
import headrace as hr

def nap(x):
    time.sleep(0.05)
    return x

def consume():
    try:
        for _ in hr.Range(100_000).map(nap, "value").batch(10):
            pass
    except hr.ClosedError:
        pass

threading.Thread(target=consume, daemon=True).start()
time.sleep(0.4)
"""
    done = run_python(code, timeout=20)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_exit_while_an_iterator_gives_batches_of_arrow():
    code = """
import threading, time
import headrace as hr

batch = next(iter(hr.Range(4).batch(4).options(as_="arrow")))

def batches():
    while True:
        time.sleep(0.01)
        yield batch

def consume():
    try:
        for _ in hr.Arrow(batches()).batch(2):
            pass
    except hr.ClosedError:
        pass

threading.Thread(target=consume, daemon=True).start()
time.sleep(0.4)
"""
    done = run_python(code, timeout=20)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_batches_outlive_everything():
    it = hr.Range(1000).map(lambda x: np.full(1000, x), "value").batch(4).iterate()
    kept = [next(it)["value"] for _ in range(3)]
    it.close()
    del it
    gc.collect()
    for step, batch in enumerate(kept):
        assert batch.shape == (4, 1000)
        assert (batch[:, 0] == np.arange(4) + 4 * step).all() and (batch == batch[:, :1]).all()


def test_many_pipelines_share_the_process():
    def pipeline(k):
        return hr.Range(300).map(lambda x: x * k, "value").shuffle(20).batch(7)

    expected = {k: values(pipeline(k)) for k in range(1, 7)}
    its = {k: iter(pipeline(k)) for k in expected}
    found: dict[int, list] = {k: [] for k in its}
    while its:
        for k, it in list(its.items()):
            batch = next(it, None)
            if batch is None:
                del its[k]
            else:
                found[k] += batch["value"].tolist()
    assert found == expected


def test_many_threads_each_with_a_pipeline():
    expected = values(hr.Range(200).shuffle(30).batch(6))
    found: dict[int, list] = {}

    def run(number):
        found[number] = values(hr.Range(200).shuffle(30).batch(6))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [found.get(number) for number in range(8)] == [expected] * 8


def test_many_threads_loop_over_one_dataset():
    """An engine that waits for the next loop serves only one loop."""
    pipeline = hr.Range(8).batch(4)
    wrong: list = []

    def loop():
        try:
            for _ in range(400):
                if values(pipeline) != list(range(8)):
                    wrong.append("rows")
        except Exception as error:
            wrong.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=loop) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert wrong == []
    pipeline._drop_parked()
    print("HEADRACE-COUNT schedules=3200")


def test_one_iterator_serves_one_thread_at_a_time():
    def stuck(x):
        time.sleep(0.2)
        return x

    it = hr.Range(4).map(stuck, "value").batch(4).iterate()
    errors = []

    def take():
        try:
            next(it)
        except (hr.UnsupportedError, StopIteration) as error:
            errors.append(type(error))

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [hr.UnsupportedError]


def test_a_hundred_iterators_begun_and_left():
    pipeline = napping(0.001)
    for _ in range(100):
        next(iter(pipeline))
    print("HEADRACE-COUNT schedules=100")


# ---- fork ----

FORK = """
import os, sys, time
import headrace as hr

def count(x):
    return x

pipeline = hr.Range(1000).map(count, "value").batch(10)
it = iter(pipeline)
next(it)
child = os.fork()
if child == 0:
    try:
        CHILD
    except hr.Error as error:
        print(type(error).__name__, error)
    sys.stdout.flush()
    EXIT
_, status = os.waitpid(child, 0)
assert status == 0, status
assert len(list(it)) == 99
"""


@pytest.mark.parametrize("leave", ["os._exit(0)", "sys.exit(0)"])
@pytest.mark.parametrize("child", ["next(it)", "list(hr.Range(10).batch(2))", "list(pipeline)"])
def test_a_forked_child_gets_an_error(child, leave):
    done = run_python(FORK.replace("CHILD", child).replace("EXIT", leave), timeout=30)
    assert done.returncode == 0, done.stderr
    assert "Error" in done.stdout and "fork" in done.stdout, done.stdout


def test_a_forked_child_asks_the_run_of_its_parent_nothing(tmp_path):
    """Locks that the parent's threads held at the fork stay locked in the child."""
    code = """
import os, pathlib, sys
import headrace as hr

profile = pathlib.Path(sys.argv[1])
it = hr.Range(1000).batch(10).iterate(profile=profile)
next(it)
child = os.fork()
if child == 0:
    for ask in (it.state, it.explain, it.report):
        try:
            print("not refused:", ask())
        except hr.UnsupportedError as error:
            assert "fork" in str(error), error
    it.close()
    sys.exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert (profile / "trace.json").read_text() == "", "the child wrote the profile"
assert len(list(it)) == 99
assert (profile / "trace.json").read_text() != ""
"""
    done = run_python(code, str(tmp_path), timeout=30)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_fork_before_the_first_pipeline_is_fine():
    code = """
import os, sys
import headrace as hr
if os.fork() == 0:
    print(sum(int(row["value"]) for row in hr.Range(10)))
    sys.exit(0)
os.wait()
"""
    assert run_python(code, timeout=30).stdout.strip() == "45"


def test_exit_after_a_function_loaded_what_the_interpreter_waits_for():
    code = """
import headrace as hr

def load(x, rng):
    import threading
    return x

pipeline = hr.Range(20).map(load, "value").batch(4)
list(pipeline)
"""
    assert run_python(code, timeout=20).returncode == 0
