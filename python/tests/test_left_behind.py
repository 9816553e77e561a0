"""Functions of the user that do not return block no other work: they are named and left behind. Each case is a process of
its own with a limit, for what fails here hangs."""

import time

import pytest
from conftest import run_python

pytestmark = pytest.mark.timing

# Another thread may be late on a busy machine; a hang lasts forever.
LIMIT_S = 40.0

BLOCKED = """
import os, queue, signal, sys, threading, time
import headrace as hr

q = queue.Queue()

def stuck_here(x=None):
    q.get()
    return x

def generator():
    yield 1
    stuck_here()
    yield 2

def blocked():
    return hr.Generator(generator, {"value": "int64"})

def wait_until(condition):
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.002)

# Prints when a thread waits for it.
def somebody_waits():
    wait_until(lambda: any(frame.f_code.co_name == "stuck_here" for frame in all_frames()))

def all_frames():
    for frame in sys._current_frames().values():
        while frame is not None:
            yield frame
            frame = frame.f_back

began = time.monotonic()
def took():
    return time.monotonic() - began
"""


def run(code: str):
    done = run_python(BLOCKED + code, timeout=LIMIT_S)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert "terminate" not in done.stderr and "Fatal" not in done.stderr, done.stderr
    return done


def test_breaking_out_of_a_loop_over_a_blocked_generator():
    done = run("""
for row in blocked():
    somebody_waits()
    began = time.monotonic()
    break
print("left", took() < 10)
""")
    assert done.stdout.split() == ["left", "True"]
    assert "RuntimeWarning" in done.stderr and "generator (for" in done.stderr


def test_closing_names_the_function_once():
    done = run("""
import warnings
it = hr.Range(10).map(stuck_here, "value").iterate()
somebody_waits()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    it.close()
    it.close()
    del it
print([str(each.message) for each in caught])
""")
    assert done.stdout.count("stuck_here (for") == 1, done.stdout
    assert "left behind" in done.stdout


def test_the_function_may_come_back():
    """Its thread ends then, and the pipeline's memory is returned."""
    run("""
import gc
from headrace import _engine
calls = []

class Argument:
    pass

def works(x, kept=Argument()):
    calls.append(int(x))
    stuck_here()
    return x

def threads():
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as file:
                names.append(file.read().strip())
        except OSError:  # it has just ended
            pass
    return [name for name in names if name in ("headrace-python", "headrace-end")]

import weakref
kept = weakref.ref(works.__defaults__[0])
it = hr.Range(10).map(works, "value").map(lambda x: calls.append("later") or x, "value").iterate()
somebody_waits()
it.close()
del it, works
assert threads()
q.put(None)
wait_until(lambda: threads() == [])
assert calls == [0], calls
hr.Range(3).map(lambda x: x, "value")
assert len(list(hr.Range(4).batch(2))) == 2
gc.collect()
_engine.release_now()
assert kept() is None
""")


@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_the_end_of_the_program(executor):
    done = run(f"""
def consume(it):
    try:
        next(it)
    except hr.ClosedError:
        pass

open_ones = [hr.Range(10).map(stuck_here, "value").iterate(executor="{executor}") for _ in range(3)]
for it in open_ones:
    threading.Thread(target=consume, args=(it,), daemon=True).start()
parked = blocked()
first = iter(parked)
next(first)
somebody_waits()
print(time.time(), flush=True)
""")
    assert time.time() - float(done.stdout) < 20


def test_the_end_of_the_program_while_the_function_comes_back():
    """It returns at about the moment at which the interpreter shuts down."""
    for tenth in range(6):
        run(f"""
def slow(x):
    time.sleep(0.9 + 0.02 * {tenth})
    return x

it = hr.Range(100).map(slow, "value", ordered=False).iterate(workers=8)
second = iter(hr.Generator(lambda: (slow(x) for x in range(9)), {{"value": "int64"}}))
time.sleep(0.1)
""")


def test_ctrl_c_gets_through():
    done = run("""
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt():
    somebody_waits()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    for row in blocked():
        pass
except KeyboardInterrupt:
    print("through")
""")
    assert done.stdout.strip() == "through"


BATCHES = ["hr.Range(9).batch(2, function=stuck_here)", "hr.Range(9).batch(stuck_here)"]


@pytest.mark.parametrize("batches", BATCHES)
def test_closing_while_a_batch_is_made_names_its_function(batches):
    done = run(f"""
it = {batches}.iterate()
somebody_waits()
began = time.monotonic()
it.close()
print("closed", took() < 10)
""")
    assert done.stdout.split() == ["closed", "True"]
    assert "stuck_here (for" in done.stderr


@pytest.mark.parametrize("batches", BATCHES)
def test_ctrl_c_gets_through_while_a_batch_is_made(batches):
    done = run(f"""
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt():
    somebody_waits()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    for row in {batches}:
        pass
except KeyboardInterrupt:
    print("through")
""")
    assert done.stdout.strip() == "through"


def test_one_that_holds_the_lock_is_named_when_it_lets_go():
    done = run("""
import ctypes
usleep = ctypes.PyDLL(None).usleep
inside = threading.Event()

def holds_the_lock(x):
    inside.set()
    # Lets the program begin to close.
    time.sleep(0.3)
    usleep(1_500_000)
    return x

it = hr.Range(10).map(holds_the_lock, "value").iterate()
inside.wait(30)
it.close()
print("closed")
""")
    assert done.stdout.strip() == "closed"
    assert "holds_the_lock (for" in done.stderr


def test_a_function_that_only_takes_a_while_is_waited_for():
    done = run("""
inside = threading.Event()
def brief(x):
    inside.set()
    time.sleep(0.1)
    return x

for _ in range(3):
    inside.clear()
    it = hr.Range(10).map(brief, "value").iterate()
    inside.wait(30)
    it.close()
""")
    assert done.stderr == ""


@pytest.mark.parametrize("ring", [2, 3])
def test_functions_that_close_each_others_iterators(ring):
    run(f"""
its, inside, made = {{}}, threading.Barrier({ring}), threading.Event()
closed = []

def function(number):
    def g(x):
        if x == 3:
            made.wait(30)
            inside.wait(30)
            its[(number + 1) % {ring}].close()
            closed.append(number)
        return x
    return g

for number in range({ring}):
    its[number] = hr.Range(9).map(function(number), "value").iterate()
made.set()
wait_until(lambda: len(closed) == {ring})
for it in its.values():
    try:
        list(it)
    except hr.ClosedError:
        pass
assert len(list(hr.Range(4))) == 4
""")


def test_functions_that_drop_each_others_iterators():
    run("""
its, inside, made = {}, threading.Barrier(2), threading.Event()
dropped = []

def function(number):
    def g(x):
        if x == 3:
            made.wait(30)
            inside.wait(30)
            del its[1 - number]
            dropped.append(number)
        return x
    return g

for number in range(2):
    its[number] = hr.Range(9).map(function(number), "value").iterate()
made.set()
wait_until(lambda: len(dropped) == 2)
""")


@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_a_nested_pipeline_that_closes_the_outer(executor):
    done = run(f"""
its = []

def inner(x):
    wait_until(lambda: its)
    its[0].close()
    return x

def outer(x):
    return sum(int(row["value"]) for row in hr.Range(4).map(inner, "value").iterate(executor="{executor}"))

its.append(hr.Range(9).map(outer, "value").iterate(executor="{executor}"))
try:
    next(its[0])
except hr.ClosedError:
    print("closed")
""")
    assert done.stdout.strip() == "closed"
    assert done.stderr == ""


FORKING = """
import os, sys
def forks(x):
    if x == 2:
        child = os.fork()
        if child == 0:
            CHILD
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    return x

rows = hr.Range(4).map(forks, "value").iterate(executor="EXECUTOR")
print([int(row["value"]) for row in rows], flush=True)
"""


@pytest.mark.parametrize(
    ("child", "code"),
    [
        ("sys.exit(7)", 7),
        ("sys.exit()", 0),
        ("raise ValueError('in the child')", 1),
        ("os._exit(5)", 5),
        ("return x", 1),
    ],
)
def test_a_child_forked_in_a_function_ends(child, code):
    done = run(FORKING.replace("CHILD", child).replace("EXECUTOR", "threads"))
    assert done.stdout.splitlines()[-1] == f"[0, 1, {code}, 3]", done.stdout
    if child.startswith("raise"):
        assert "in the child" in done.stderr
    if child.startswith("return"):
        assert "forked in forks" in done.stderr


def test_a_child_forked_in_a_function_that_is_pulled_ends():
    done = run(FORKING.replace("CHILD", "sys.exit(7)").replace("EXECUTOR", "pull"))
    assert done.stdout.splitlines()[-1] == "[0, 1, 7, 3]", done.stdout


NO_THREADS = """
import os, resource
list(hr.Range(9).batch(2))
if os.getuid() == 0:
    os.setuid(65534)
before = resource.getrlimit(resource.RLIMIT_NPROC)
"""


def test_no_more_threads_is_a_resource_error_and_the_process_goes_on():
    done = run(
        NO_THREADS
        + """
def pipeline():
    return hr.Range(2000).map(lambda x: x, "value").map(lambda x: x, "value").batch(2)

expected = [row["value"].tolist() for row in pipeline()]
resource.setrlimit(resource.RLIMIT_NPROC, (1, before[1]))
refused = 0
for _ in range(30):
    try:
        list(pipeline())
    except hr.ResourceError as error:
        refused += 1
        assert "threads" in str(error), error
assert refused == 30, refused
assert len(list(pipeline().iterate(executor="pull"))) == 1000
it = pipeline().iterate(executor="pull")
next(it)
resource.setrlimit(resource.RLIMIT_NPROC, before)
assert [row["value"].tolist() for row in pipeline()] == expected
print("all")
"""
    )
    assert done.stdout.strip() == "all"


def test_many_workers_are_no_need():
    run("""
from headrace import _engine
def threads():
    return len(os.listdir("/proc/self/task"))

for row in hr.Range(500).map(lambda x: x, "value").batch(2).iterate(workers=4000):
    pass
assert threads() < 100, threads()
rows = hr.Range(500).map(lambda x: x, "value", ordered=False).iterate()
next(rows)
assert threads() < 100, threads()
""")


LITTLE_MEMORY = """
import resource
import numpy as np

def large(x):
    return np.empty((1 << 31,), np.uint8)

rows = [int(row["value"]) for row in hr.Range(20).map(lambda x: x, "value")]
resource.setrlimit(resource.RLIMIT_AS, (3 << 29, resource.RLIM_INFINITY))
for _ in range(3):
    try:
        list(hr.Range(20).map(large, "value"))
    except hr.ResourceError as error:
        assert isinstance(error.__cause__, MemoryError) and "large" in str(error)
    else:
        raise AssertionError("there was memory")
assert [int(row["value"]) for row in hr.Range(20).map(lambda x: x, "value")] == rows
print("all")
"""


def test_no_more_memory_in_a_function_is_a_resource_error():
    assert run(LITTLE_MEMORY).stdout.strip() == "all"


def test_an_exception_that_refuses_its_traceback():
    done = run("""
import dataclasses

@dataclasses.dataclass(frozen=True)
class Bad(Exception):
    code: int

def f(x):
    raise Bad(int(x))

for executor in ("threads", "pull"):
    it = hr.Range(3).map(f, "value").iterate(executor=executor)
    for _ in range(2):
        try:
            next(it)
        except hr.FunctionError as error:
            assert "Bad" in str(error) and "string>:" in str(error), error
            assert error.__cause__ is None or error.__cause__.code == 0
        else:
            raise AssertionError("it did not fail")
print("all")
""")
    assert done.stdout.strip() == "all"
