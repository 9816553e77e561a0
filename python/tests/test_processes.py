"""Python functions and datasets in worker processes: the same rows as on threads, and nothing left behind."""

import _thread
import functools
import gc
import importlib
import io
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import threading
import time

import cloudpickle
import numpy as np
import pytest
from conftest import eventually, run_python, state_after, values
from PIL import Image

import headrace as hr
from headrace import _engine
from headrace import vision as V
from tests.thinning import examples, one_in

# Spares the processes the import of this file, and with it pytest's.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def children() -> list[int]:
    """The worker processes of this one that still exist."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text()
            command = pathlib.Path("/proc", entry, "cmdline").read_bytes()
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == os.getpid() and b"headrace.worker" in command:
            found.append(int(entry))
    return found


@pytest.fixture(autouse=True)
def nothing_left():
    _engine.end_kept_processes()
    yield
    gc.collect()
    _engine.end_kept_processes()
    assert eventually(lambda: not children(), 2)


def doubled(x):
    return x * 2


def noisy(x, rng):
    return x + rng.integers(0, 1 << 40)


def with_globals(x):
    return np.array([x, random.getrandbits(40), np.random.randint(0, 1 << 40)])


def of_many(a, name, raw):
    return name + "!", a.astype(np.float32) / 2, [len(raw)]


def mixed() -> hr.Dataset:
    return hr.Numpy(
        {
            "a": np.arange(36).reshape(12, 3),
            "name": np.array([f"näme {i}" for i in range(12)]),
            "raw": np.array([bytes(i) for i in range(12)], object),
        }
    )


def rows_of(dataset, **options):
    with dataset.iterate(**options) as iterator:
        return [
            {name: (np.asarray(value).dtype.str, np.asarray(value).tolist()) for name, value in row.items()}
            for row in iterator
        ]


@pytest.mark.parametrize("processes", one_in(3, [1, 2, 7], first=1))
def test_processes_give_what_threads_give(processes):
    def build(count):
        numbers = hr.Range(23, shuffle=True).map(noisy, "value", processes=count).map(doubled, "value", processes=count)
        return numbers.batch(4)

    assert rows_of(build(processes), epoch=2, seed=3) == rows_of(build(0), epoch=2, seed=3)
    many = mixed().map(of_many, ["a", "name", "raw"], ["name", "a", "raw"], processes=processes)
    assert rows_of(many) == rows_of(mixed().map(of_many, ["a", "name", "raw"], ["name", "a", "raw"]))


def test_global_generators_are_seeded_by_the_row():
    def build(count, **options):
        return hr.Range(9).map(with_globals, "value", "drawn", processes=count, **options)

    one = rows_of(build(1), seed=5)
    assert rows_of(build(3), seed=5) == one and rows_of(build(3), seed=6) != one
    assert len({str(row["drawn"][1][1:]) for row in one}) == 9
    assert rows_of(build(2, seed_globals=False), seed=5) != one


def test_functions_and_their_uses_draw_apart():
    def build(count):
        drawn = hr.Range(4).map(with_globals, "value", "first", processes=count)
        drawn = drawn.map(with_globals, "value", "second", processes=count)
        for output in ("third", "fourth"):
            drawn = drawn.map(lambda value: random.random(), "value", output, processes=count)
        return drawn

    rows = rows_of(build(2))
    for row in rows:
        assert not set(row["first"][1][1:]) & set(row["second"][1][1:])
        assert row["third"] != row["fourth"]
    assert rows_of(build(3)) == rows and rows_of(build(1), optimize=False) == rows


def test_the_row_that_imports_torch_draws_from_its_own_seed(tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text(
        "seed, threads = None, None\n"
        "def manual_seed(number):\n    global seed\n    seed = number\n"
        "def set_num_threads(number):\n    global threads\n    threads = number\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def late(value):
        import torch

        assert torch.threads == 1
        return -1 if torch.seed is None else torch.seed

    def build(count, **options):
        return hr.Range(6).map(late, "value", processes=count, **options)

    one = values(build(1))
    assert len(set(one)) == 6 and -1 not in one and values(build(3)) == one
    assert values(build(1, seed_globals=False)) == [-1] * 6


def test_garbage_is_collected_as_usual_once_a_process_has_imported(tmp_path, monkeypatch):
    # In the environment, as the globals of modules travel.
    (tmp_path / "many_objects.py").write_text(
        "import gc, os\n"
        "found = []\n"
        "gc.callbacks.append(lambda phase, _: found.append(phase))\n"
        "held = [[] for _ in range(50_000)]\n"
        "gc.callbacks.pop()\n"
        "os.environ['COLLECTED'] = str(bool(found))\n"
    )
    (tmp_path / "own_threshold.py").write_text("import gc\ngc.set_threshold(321)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLLECTED", "")
    usual = run_python("import gc; print(*gc.get_threshold())").stdout.split()
    threshold = gc.get_threshold()
    import many_objects
    import own_threshold

    gc.set_threshold(*threshold)
    assert os.environ["COLLECTED"] == "True"

    def seen(value):
        assert many_objects.held
        return (os.environ["COLLECTED"], *map(str, gc.get_threshold()))

    def seen_beside_its_own(value):
        return own_threshold.gc.get_threshold()[0]

    columns = ["collected", "a", "b", "c"]
    (row,) = hr.Range(1).map(seen, "value", output=columns, processes=1)
    assert [row[name] for name in columns] == ["False", *usual]
    assert values(hr.Range(1).map(seen_beside_its_own, "value", processes=1)) == [321]


def test_a_state_taken_with_processes_goes_on_without():
    build = lambda count: hr.Range(20).map(noisy, "value", processes=count).batch(3)  # noqa: E731
    whole = rows_of(build(0))
    assert build(2)._graph().hash == build(0)._graph().hash == build(7)._graph().hash
    state = state_after(build(2), 3)
    assert rows_of(build(0), state=state) == rows_of(build(3), state=state) == whole[3:]


class Squares:
    def __init__(self, count=20):
        self.count = count
        self.large = np.arange(1 << 20)

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        if number == 13 and self.count == 14:
            raise ValueError("unlucky")
        return {"x": self.large[number] ** 2, "drawn": random.random()}


class SquaresInRuns(Squares):
    def __getitems__(self, numbers):
        return [self[number] for number in numbers]


@pytest.mark.parametrize("kind", [Squares, SquaresInRuns])
def test_a_dataset_in_processes_gives_the_same_rows(kind):
    def build(count):
        return hr.from_dataset(kind(), ["x", "drawn"], shuffle=True, processes=count).batch(6)

    one = rows_of(build(1))
    assert rows_of(build(3)) == one
    assert [row["x"] for row in rows_of(build(0))] == [row["x"] for row in one]


@pytest.mark.parametrize("kind", [Squares, SquaresInRuns])
def test_what_a_dataset_raises_comes_after_the_rows_before(kind):
    rows = hr.from_dataset(kind(14), "x", processes=2)
    with rows.iterate() as iterator:
        assert [int(next(iterator)["x"]) for _ in range(13)] == [i * i for i in range(13)]
        with pytest.raises(hr.FunctionError, match="ValueError: unlucky") as raised:
            next(iterator)
    assert raised.value.row == "epoch 0, position 13"
    assert len(list(rows.on_error("skip"))) == 13


class Unpicklable(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


class Refusal(ValueError):
    """Not made of its `args`."""

    def __init__(self, code, *, reason):
        super().__init__(f"{code}: {reason}")
        self.code = code


def fails(value):
    if value == 20:
        raise Refusal(503, reason="busy")
    if value == 3:
        raise KeyError("third")
    if value == 5:
        raise Unpicklable("fifth")
    return value


def test_an_exception_keeps_its_type_and_shows_its_traceback():
    with pytest.raises(hr.FunctionError, match="raised KeyError: 'third'") as raised:
        list(hr.Range(5).map(fails, "value", processes=2))
    assert isinstance(raised.value.__cause__, KeyError)
    assert "in fails" in str(raised.value.__cause__.__cause__)
    assert "key 3" in raised.value.row
    with pytest.raises(hr.FunctionError, match="raised Refusal: 503: busy") as raised:
        list(hr.Range(19, 22).map(fails, "value", processes=1))
    cause = raised.value.__cause__
    assert type(cause) is Refusal and cause.code == 503 and "in fails" in str(cause.__cause__)
    with pytest.raises(hr.FunctionError, match="raised Unpicklable: fifth") as raised:
        list(hr.Range(4, 9).map(fails, "value", processes=1))
    assert type(raised.value.__cause__) is RuntimeError and "Unpicklable: fifth" in str(raised.value.__cause__)
    assert values(hr.Range(9).map(fails, "value", processes=2).on_error("skip")) == [0, 1, 2, 4, 6, 7, 8]


def test_a_function_of_the_script_travels_by_value(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import headrace as hr\n"
        "print('imported')\n"
        "table = [5, 7, 9]\n"
        "class Rows:\n"
        "    def __len__(self): return 3\n"
        "    def __getitem__(self, number): return {'x': table[number]}\n"
        "def look(x): return table[x]\n"
        "print([int(r['value']) for r in hr.Range(3).map(look, 'value', processes=2)])\n"
        "print([int(r['value']) for r in hr.Range(3).map(lambda x: x + len(table), 'value', processes=1)])\n"
        "print([int(r['x']) for r in hr.from_dataset(Rows(), processes=2)])\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == ("imported\n[5, 7, 9]\n[3, 4, 5]\n[5, 7, 9]\n", "")


def test_later_changes_are_not_seen_and_large_arrays_are_shared():
    table = np.arange(1 << 20)

    def look(value):
        with open("/proc/self/smaps") as maps:
            shared = "headrace-code" in maps.read()
        return table[value], shared, table.flags.writeable

    rows = iter(hr.Range(40).map(look, "value", ["value", "shared", "writeable"], processes=1))
    first = next(rows)
    table[:] = -1
    assert bool(first["shared"]) and bool(first["writeable"])
    assert [int(row["value"]) for row in rows] == list(range(1, 40))


def test_each_process_is_made_ready_once(tmp_path):
    def ready(number):
        global made
        made = [*globals().get("made", []), number]
        (tmp_path / str(number)).touch()

    def look(value):
        # The first row runs alone; of the next ones each waits until both processes have one.
        assert value == 0 or eventually(lambda: len(list(tmp_path.iterdir())) == 2, 30)
        return np.array(made)

    found = [tuple(row["value"].tolist()) for row in hr.Range(40).map(look, "value", processes=2, worker_init=ready)]
    assert set(found) == {(0,), (1,)}

    def broken(number):
        raise OSError("no device")

    with pytest.raises(hr.FunctionError, match="worker_init raised OSError: no device"):
        list(hr.Range(3).map(doubled, "value", processes=2, worker_init=broken).on_error("skip"))


def pids_of(dataset):
    with dataset.iterate() as rows:
        return {int(row["pid"]) for row in rows}


def with_pid(value):
    return value, os.getpid()


def built(function=with_pid, **options):
    return hr.Range(60).map(function, "value", ["value", "pid"], processes=1, **options)


def test_later_runs_and_other_datasets_use_the_processes_of_earlier_ones():
    first = pids_of(built())
    assert pids_of(built()) == first and pids_of(built(lambda value: (value, os.getpid()))) == first
    rows = hr.from_dataset([{"pid": 0}] * 3, processes=1).map(lambda pid: os.getpid(), "pid")
    assert pids_of(rows) == {os.getpid()}
    assert pids_of(built()) == first
    assert len(pids_of(hr.from_dataset(OfPids(), processes=2)) | first) <= 2


class OfPids:
    def __len__(self):
        return 8

    def __getitem__(self, number):
        return {"pid": os.getpid()}


def test_a_loop_that_is_left_keeps_its_processes():
    first = pids_of(built())
    for _ in built():
        break
    assert pids_of(built()) == first


def test_processes_that_would_differ_are_started_anew(monkeypatch, tmp_path):
    first = pids_of(built())
    monkeypatch.setenv("HEADRACE_TEST", "1")
    other = pids_of(built())
    monkeypatch.delenv("HEADRACE_TEST")
    assert other != first
    monkeypatch.chdir(tmp_path)
    assert pids_of(built()) not in (first, other)
    monkeypatch.undo()
    assert pids_of(built(seed_globals=False)) != first
    assert pids_of(built(worker_init=lambda number: None)) != first


def test_an_edited_module_is_imported_anew(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "edited_once.py"
    for number in (1, 22):
        module.write_text(f"def look(value):\n    return {number}\n")
        sys.modules.pop("edited_once", None)
        importlib.invalidate_caches()
        look = importlib.import_module("edited_once").look
        assert values(hr.Range(2).map(look, "value", processes=1)) == [number] * 2


def test_worker_init_runs_for_each_run(tmp_path):
    def ready(number):
        global made
        made = number + 5
        with open(tmp_path / "log", "a") as log:
            log.write(f"{os.getpid()}\n")

    def look(value):
        return made

    for _ in range(2):
        assert values(hr.Range(3).map(look, "value", processes=1, worker_init=ready)) == [5] * 3
    logged = (tmp_path / "log").read_text().split()
    assert len(logged) == 2 and len(set(logged)) == 1


class LoadsWhen:
    """A function that a process loads once the file is there; a second one ends it sooner than any test."""

    def __init__(self, path):
        self.path = path

    def __call__(self, value):
        return value + 1

    def __setstate__(self, state):
        self.__dict__ = state
        self.path.with_suffix(".begun").touch()
        while not self.path.exists():
            time.sleep(0.01)


@pytest.mark.timing
@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_ctrl_c_ends_code_that_hangs_while_a_kept_process_loads_it(executor, tmp_path):
    first = pids_of(built())
    iterator = hr.Range(3).map(LoadsWhen(tmp_path / "go"), "value", processes=1).iterate(executor=executor)

    def interrupt():
        assert eventually((tmp_path / "go.begun").exists, 30)
        _thread.interrupt_main()

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    interrupter.join()
    iterator.close()
    # The pool is as good as new: the process that hangs is given up, not waited for without end.
    assert values(hr.Range(3).map(doubled, "value", processes=1)) == [0, 2, 4]
    assert eventually(lambda: not set(children()) & first, 2)


@pytest.mark.timing
def test_code_that_hangs_in_a_kept_process_ends_with_its_run(tmp_path):
    pids_of(built())
    iterator = hr.Range(3).map(LoadsWhen(tmp_path / "go"), "value", processes=1).iterate()
    assert eventually((tmp_path / "go.begun").exists, 30)
    iterator.close()
    # It ends, and the process takes the code of the next run.
    (tmp_path / "go").touch()
    left = children()
    assert values(hr.Range(3).map(doubled, "value", processes=1)) == [0, 2, 4]
    assert children() == left


def test_memory_of_code_that_ran_is_given_back():
    def mapped(table, value):
        with open("/proc/self/smaps") as maps:
            return maps.read().count("headrace-code")

    table = np.zeros(1 << 20)
    for _ in range(3):
        counts = values(hr.Range(2).map(functools.partial(mapped, table), "value", processes=1))
        assert set(counts) == {1}


def test_arrays_that_a_function_keeps_stay_as_they_are():
    kept = []

    def keep(x):
        kept.append(x)
        assert all((each == i).all() for i, each in enumerate(kept))
        return len(kept)

    rows = hr.Numpy({"x": np.arange(30)[:, None] * np.ones(3000, int)}).map(keep, "x", processes=1)
    assert values(rows, "x") == list(range(1, 31))


def test_a_process_that_dies_is_named_and_its_row_made_again(tmp_path, capfd):
    def die_once(value):
        mark = tmp_path / f"{value}"
        if value % 5 == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value * 2

    assert values(hr.Range(20).map(die_once, "value", processes=3)) == list(range(0, 40, 2))
    notes = capfd.readouterr().err
    assert notes.count("was killed by signal 9 (Killed) in ") == 4 and "die_once; its row is made again" in notes


def test_a_row_that_kills_three_processes_is_an_error_that_is_not_skipped():
    def deadly(value):
        if value == 4:
            os._exit(3)
        return value

    with hr.Range(8).map(deadly, "value", processes=2).on_error("skip").iterate() as iterator:
        assert [int(next(iterator)["value"]) for _ in range(4)] == [0, 1, 2, 3]
        with pytest.raises(
            hr.ResourceError, match=r"3 worker processes died of this row \(process \d+ ended with exit status 3; "
        ) as raised:
            next(iterator)
    assert "key 4" in raised.value.row


@pytest.mark.timing
def test_processes_that_die_between_calls_are_replaced(capfd):
    # No row is asked for ahead, so that all processes are idle between two rows.
    rows = hr.Range(12).map(doubled, "value", processes=3).iterate(executor="pull")
    with rows as iterator:
        for number in range(12):
            assert int(next(iterator)["value"]) == 2 * number
            for pid in children():
                watch = os.pidfd_open(pid)
                os.kill(pid, signal.SIGKILL)
                assert select.select([watch], [], [], 30)[0]
                os.close(watch)
    assert "made again" not in capfd.readouterr().err


def started_as(pid):
    """A program with that number, in a group of its own; None: the system does not let us choose."""
    try:
        for _ in range(50):
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
            program = subprocess.Popen(["sleep", "100"], process_group=0)
            if program.pid == pid:
                return program
            program.kill()
            program.wait()
    except OSError:
        pass
    return None


@pytest.mark.timing
def test_another_process_that_got_the_number_lives_on():
    with hr.Range(2).map(doubled, "value", processes=1).iterate(executor="pull") as iterator:
        next(iterator)
        (pid,) = children()
        os.kill(pid, signal.SIGKILL)
        # As a program does that waits for all of its children.
        os.waitpid(pid, 0)
        program = started_as(pid)
        if program is None:
            pytest.skip("needs a kernel that gives a process the number asked for")
        iterator.close()
        assert program.poll() is None
        program.kill()
        program.wait()


HELPER = """
import os

def at_work(value):
    return value + 10 * os.path.exists("marker")
"""
IMPORTED = """
import os, sys
import headrace as hr
import helper
os.chdir(sys.argv[1])
rows = hr.Range(3).map(helper.at_work, "value", processes=1, types={"value": "int64"})
print([int(row["value"]) for row in rows])
"""


@pytest.mark.parametrize("path", ["", os.pathsep, "."])
def test_processes_import_what_the_program_would_have(tmp_path, path):
    """Where `sys.path` or PYTHONPATH has the current folder, it is that of the import, and not one of data."""
    home, data = tmp_path / "home", tmp_path / "data"
    home.mkdir()
    data.mkdir()
    (home / "helper.py").write_text(HELPER)
    (data / "marker").touch()
    for name in ("headrace", "helper", "json", "numpy", "sitecustomize", "usercustomize", "cloudpickle"):
        (data / f"{name}.py").write_text(f"open({str(tmp_path / 'proof')!r}, 'w').close()\n")
    parts = [part for part in (path.rstrip(os.pathsep), os.environ.get("PYTHONPATH", "")) if part]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["", *parts] if path == os.pathsep else parts)}
    command = [sys.executable, "-c", IMPORTED, str(data)]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=120)
    # The processes work in the folder that is current when they start.
    assert done.stdout == "[10, 11, 12]\n", done.stderr
    assert not (tmp_path / "proof").exists()


def test_processes_start_in_a_folder_that_was_deleted(tmp_path):
    (tmp_path / "gone").mkdir()
    script = (
        "import os, sys, headrace as hr; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
        "print(len(list(hr.Range(3).map(abs, 'value', processes=1, types={'value': 'int64'}))))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "gone")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "3\n", done.stderr


def test_processes_that_do_not_start_are_no_fault_of_the_row(monkeypatch, tmp_path, capfd):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho no interpreter >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(
        hr.ResourceError,
        match=r"processes of doubled die before they are ready \(process \d+ ended with exit status 3; process \d+ .*; ",
    ):
        list(hr.Range(3).map(doubled, "value", processes=2).on_error("skip"))
    noted = capfd.readouterr().err
    assert "no interpreter" in noted and "made again" not in noted


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_processes_killed_at_any_moment_lose_no_row(tmp_path):
    kills = 200 if os.environ.get("HEADRACE_LONG") == "1" else examples(24)

    def alarmed(value):
        mark = tmp_path / str(value)
        if value % 2 == 0 and not mark.exists():
            # Kills the process in this call, between two calls, or in the next one: a row meets two such ends at most.
            mark.touch()
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.008))
        until = time.perf_counter() + 0.004
        while time.perf_counter() < until:
            pass
        return value * 2

    rows = hr.Range(2 * kills).map(alarmed, "value", processes=2).batch(3)
    before = descriptors()
    with rows.iterate() as iterator:
        assert [int(each) for batch in iterator for each in batch["value"]] == list(range(0, 4 * kills, 2))
    _engine.end_kept_processes()
    assert not children() and descriptors() == before
    print(f"HEADRACE-COUNT kills={len(list(tmp_path.iterdir()))}")


def listed(dataset, **options):
    """The values of a column "value", fast."""
    with dataset.iterate(**options) as iterator:
        return [value for batch in iterator for value in batch["value"].tolist()]


@pytest.mark.timing
def test_light_rows_are_sent_together_and_others_alone():
    def place(x):
        until = time.perf_counter() + 0.003 * float(x[0])
        while time.perf_counter() < until:
            pass
        return x.__array_interface__["data"][0]

    def places(rows, slow, **options):
        given = hr.Numpy({"value": np.full((rows, 4), slow, np.float32)})
        return set(listed(given.map(place, "value", processes=1).batch(10), **options))

    # The first call of an exchange stands at one place.
    assert len(places(5000, 0)) > 1
    assert len(places(300, 0, executor="pull")) == 1 and len(places(300, 1)) == 1


@pytest.mark.parametrize("processes", one_in(3, [1, 2, 7], first=1))
def test_rows_in_runs_are_those_of_rows_alone(processes):
    def build(count):
        return hr.Range(4000, shuffle=True).map(with_globals, "value", processes=count).repeat(2).batch(50)

    # Pulled, each row is sent alone.
    assert listed(build(processes), seed=4) == listed(build(1), seed=4, executor="pull")
    texts = [f"näme {i}" * (i % 40) for i in range(3000)]
    many = hr.Numpy({"a": np.arange(9000).reshape(3000, 3), "name": np.array(texts)})
    many = many.map(
        lambda a, name: (name + "!", a / 2, [len(name)]), ["a", "name"], ["name", "a", "n"], processes=processes
    )
    rows = rows_of(many)
    assert [row["name"][1] for row in rows] == [text + "!" for text in texts]
    assert [row["n"][1] for row in rows] == [[len(text)] for text in texts]
    assert [row["a"][1][0] for row in rows] == [1.5 * i for i in range(3000)]


def test_results_of_a_run_may_be_large():
    rows = hr.Range(400).map(lambda value: np.full(1 << (18 if value % 9 == 5 else 3), value), "value", processes=2)
    found = [row["value"] for row in rows]
    assert [int(row[0]) for row in found] == list(range(400)) and all((row == row[0]).all() for row in found)


def test_a_state_goes_on_within_a_run():
    def build(count):
        return hr.Range(600, shuffle=True).map(noisy, "value", processes=count).batch(7)

    whole = listed(build(0))
    with build(2).iterate() as iterator:
        states = [iterator.state() for _ in iterator]
    for number, state in list(enumerate(states, 1))[:: 1 if os.environ.get("HEADRACE_LONG") == "1" else 9]:
        assert listed(build(2), state=state) == whole[7 * number :], number


def test_rows_in_runs_are_the_same_where_rows_may_be_kept():
    def build(count):
        return hr.Range(1500, shuffle=True).map(noisy, "value", processes=count).batch(50)

    alone, in_runs = build(0), build(2)
    for _ in range(3):
        assert [batch["value"].tolist() for batch in in_runs] == [batch["value"].tolist() for batch in alone]


def test_a_row_that_fails_within_a_run_fails_alone():
    def unlucky(value):
        if value % 500 in (499, 0, 1) and value > 1:
            raise ValueError(f"unlucky {value}")
        return value

    rows = hr.Range(3000).map(unlucky, "value", processes=2)
    kept = [value for value in range(3000) if value <= 1 or value % 500 not in (499, 0, 1)]
    assert listed(rows.on_error("skip").batch(10)) == kept
    with rows.iterate() as iterator:
        assert [int(next(iterator)["value"]) for _ in range(499)] == list(range(499))
        with pytest.raises(hr.FunctionError, match="unlucky 499") as raised:
            next(iterator)
    assert "key 499" in raised.value.row


def test_the_rows_of_a_run_whose_process_dies_are_made_again(tmp_path, capfd):
    def die_once(value):
        mark = tmp_path / f"{value}"
        if value % 400 == 333 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value * 2

    assert listed(hr.Range(2000).map(die_once, "value", processes=2).batch(10)) == list(range(0, 4000, 2))
    assert capfd.readouterr().err.count("die_once; its row is made again") == 5

    def deadly(value):
        if value == 1501:
            os._exit(3)
        return value

    with hr.Range(2000).map(deadly, "value", processes=2).on_error("skip").iterate() as iterator:
        assert [int(next(iterator)["value"]) for _ in range(1501)] == list(range(1501))
        with pytest.raises(
            hr.ResourceError, match=r"3 worker processes died of this row \(process \d+ ended with exit status 3; "
        ) as raised:
            next(iterator)
    assert "key 1501" in raised.value.row
    assert capfd.readouterr().err.count("deadly; its row is made again") == 2


def test_a_row_may_wait_until_the_loop_has_seen_those_before(tmp_path):
    def waits(value):
        return value if value % 700 != 699 else value + eventually((tmp_path / str(value)).exists, 60)

    with hr.Range(2100).map(waits, "value", processes=1).iterate() as iterator:
        for number in range(2100):
            assert int(next(iterator)["value"]) == number + (number % 700 == 699)
            (tmp_path / str(number + 1)).touch()


def test_an_error_before_a_call_waits_for_no_later_call(tmp_path):
    file = io.BytesIO()
    Image.new("RGB", (2, 2)).save(file, "PNG")
    images = [file.getvalue()] * 800
    images[700] = b"none"

    def waits(image, number):
        if number > 700 and not eventually((tmp_path / "seen").exists, 60):
            (tmp_path / "gave up").touch()
        return number

    rows = hr.Numpy({"image": np.array(images, object), "number": np.arange(800)})
    rows = rows.map([V.Decode()], "image").map(waits, ["image", "number"], "number", processes=1)
    iterator = rows.iterate()
    assert [int(next(iterator)["number"]) for _ in range(700)] == list(range(700))
    with pytest.raises(hr.DataError):
        next(iterator)
    (tmp_path / "seen").touch()
    iterator.close()
    assert not (tmp_path / "gave up").exists()


def test_arrays_kept_from_a_run_stay_as_they_are():
    kept = []

    def keep(x):
        kept.append(x)
        assert all((each == number).all() for number, each in list(enumerate(kept))[:: 1 if len(kept) == 1500 else 100])
        return len(kept)

    rows = hr.Numpy({"value": np.arange(1500)[:, None] * np.ones(5, int)}).map(keep, "value", processes=1)
    assert listed(rows.batch(10)) == list(range(1, 1501))


@pytest.mark.timing
def test_close_ends_a_function_that_hangs(tmp_path):
    def hangs(value):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(100)

    rows = hr.Range(5).map(hangs, "value", processes=2).iterate()
    # The first row runs alone, to learn what a row takes; both processes start.
    assert eventually(lambda: len(children()) == 2 and list(tmp_path.iterdir()), 30)
    began = time.monotonic()
    rows.close()
    (hung,) = (int(each.name) for each in tmp_path.iterdir())
    assert hung not in children() and time.monotonic() - began < 5


def exists(pid):
    return os.path.exists(f"/proc/{pid}")


@pytest.mark.timing
@pytest.mark.parametrize("way", ["close", "die"])
def test_what_a_function_starts_ends_with_its_process(way):
    def starts(value):
        if value == 1 and way == "die":
            os._exit(1)
        return subprocess.Popen(["sleep", "100"], stdin=subprocess.DEVNULL).pid

    rows = hr.Range(2).map(starts, "value", processes=1).iterate(executor="pull")
    pid = int(next(rows)["value"])
    assert exists(pid)
    if way == "die":
        with pytest.raises(hr.ResourceError, match="3 worker processes died"):
            next(rows)
    else:
        rows.close()
    assert eventually(lambda: not exists(pid), 5)


def test_descriptors_stay_in_their_process(tmp_path):
    def inherited(value):
        # By a program that no module of Python's starts, which would close them.
        own = sorted(int(name) for name in os.listdir("/proc/self/fd"))
        listed = tmp_path / "descriptors"
        os.system(f"ls /proc/self/fd > {listed}")
        return np.array([max(own), max(int(name) for name in listed.read_text().split())])

    kept = [os.dup(0) for _ in range(60)]
    for descriptor in kept:
        os.set_inheritable(descriptor, True)
    try:
        (row,) = hr.Range(1).map(inherited, "value", processes=1)
    finally:
        for descriptor in kept:
            os.close(descriptor)
    # Its own are those given to it and a few of its own; those of its program the standard ones and that of the list.
    assert row["value"][0] < 40 and row["value"][1] <= 4, row


@pytest.mark.parametrize("way", ["returns", "raises"])
def test_a_fork_that_comes_back_gives_no_row(way, capfd):
    def forks(value):
        child = os.fork()
        if child == 0 and way == "raises":
            raise ValueError("in the child")
        if child > 0:
            os.waitpid(child, 0)
        return child > 0

    assert values(hr.Range(6).map(forks, "value", processes=1)) == [True] * 6
    told = "came back from it" if way == "returns" else "ValueError: in the child"
    assert capfd.readouterr().err.count(told) == 6


@pytest.mark.timing
@pytest.mark.parametrize("way", ["kill", "exit", "interrupt", "raise"])
def test_no_process_outlives_its_parent(way, tmp_path):
    code = f"""
import os, signal, subprocess, sys, time
import headrace as hr
from headrace import vision as V
def slow(x):
    if x > 2:
        time.sleep(100)
    return [os.getpid(), subprocess.Popen(["sleep", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid]
pids = set()
rows = iter(hr.Range(9).map(slow, "value", processes=2))
for _ in range(3):
    pids.update(next(rows)["value"].tolist())
print(*pids, flush=True)
if {way!r} == "kill": os.kill(os.getpid(), signal.SIGKILL)
if {way!r} == "raise": raise ValueError
if {way!r} == "interrupt": signal.alarm(1); signal.signal(signal.SIGALRM, signal.default_int_handler); next(rows)
"""
    ran = run_python(code)
    pids = [int(pid) for pid in ran.stdout.split()]
    assert pids
    assert eventually(lambda: not any(exists(pid) for pid in pids), 2), ran.stderr


def test_memory_of_processes_counts():
    def peak(count):
        with (
            hr.Range(4)
            .map(lambda x: np.zeros(8_000_000, np.uint8), "value", processes=count)
            .iterate(executor="pull") as iterator
        ):
            for _ in iterator:
                pass
            return iterator.report()["peak_bytes"]

    # A row and its result in shared memory.
    assert peak(1) > peak(0) + 8_000_000


def test_memory_of_one_large_row_is_given_back():
    def shared():
        sizes = []
        for entry in os.scandir("/proc/self/fd"):
            try:
                if os.readlink(entry).startswith("/memfd:headrace "):
                    sizes.append(entry.stat().st_size)
            except OSError:
                pass  # of the listing itself
        return max(sizes)

    rows = hr.Range(60).map(lambda x: np.zeros(8_000_000 if x == 20 else 8, np.uint8), "value")
    with rows.map(lambda x: x + 1, "value", processes=1).iterate(executor="pull") as iterator:
        for number, row in enumerate(iterator):
            assert row["value"].tolist() == [1] * 8 if number != 20 else row["value"].sum() == 8_000_000
            if number == 20:
                assert shared() >= 8_000_000
            if number == 59:
                assert shared() < 1_000_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processes": -1}, "must be at least 0"),
        ({"processes": 1025}, "must be at most 1,024"),
        ({"processes": 2.0}, "must be a whole number"),
        ({"processes": 2, "ordered": True}, "leave out ordered=True"),
        ({"worker_init": print}, "say how many with processes="),
        ({"processes": 1, "worker_init": 3}, "must be a function"),
        ({"processes": 1, "seed_globals": 3}, "must be True or False"),
    ],
)
def test_options_that_are_wrong_are_refused(options, message):
    with pytest.raises(hr.GraphError, match=message):
        hr.Range(3).map(doubled, "value", **options)


def test_processes_may_be_a_number_of_numpy():
    assert values(hr.Range(3).map(doubled, "value", processes=np.int64(1))) == [0, 2, 4]


def test_the_functions_of_a_map_share_its_processes():
    def chained(value):
        return np.append(value, [os.getpid(), random.getrandbits(30)])

    def again(value):
        return np.append(value, [os.getpid(), random.getrandbits(30)])

    found = [row["value"] for row in hr.Range(20).map([chained, again], "value", processes=2)]
    assert len({pid for row in found for pid in row[[1, 3]].tolist()}) <= 2
    # Each is seeded by its own name.
    assert all(row[2] != row[4] for row in found)


def test_uses_of_one_object_need_the_same_processes():
    pairs = hr.Numpy({"a": np.arange(4), "b": np.arange(4)})
    both = {"processes": 2, "seed_globals": False}
    same = pairs.map(doubled, "a", **both).map(doubled, "b", **both)
    assert values(same, "b") == [0, 2, 4, 6]
    for first, second in [
        ({}, both),
        (both, {}),
        ({"ordered": True}, both),
        (both, {"processes": 3}),
        (both, {"processes": 2}),
    ]:
        with pytest.raises(hr.GraphError, match=r"test_processes.py:doubled is used twice .* functools.partial"):
            iter(pairs.map(doubled, "a", **first).map(doubled, "b", **second))
    rows = [{"x": 1}]
    with pytest.raises(hr.GraphError, match="builtins:list is used twice .* copy.copy"):
        len(hr.from_dataset(rows, processes=2).concat(hr.from_dataset(rows)))


def test_kernels_need_no_processes():
    from headrace import transforms as T

    with pytest.raises(hr.GraphError, match="there is none here"):
        hr.Range(3).map(T.TypeCast("float32"), "value", processes=2)


def test_what_cannot_be_sent_is_named_when_the_iterator_starts():
    rows = iter([1])
    lock = __import__("threading").Lock()
    mapped = hr.Range(3).map(lambda x: (lock, rows), "value", processes=1)
    assert len(mapped) == 3 and "map" in mapped.explain()
    with pytest.raises(hr.GraphError, match="<lambda>.* cannot be sent to other processes: "):
        mapped.iterate()
    assert not children()


def of_the_script(value):
    return value


@pytest.mark.parametrize("target", ["function", "class"])
def test_without_cloudpickle_code_of_the_script_is_refused_and_its_texts_are_not(monkeypatch, target):
    from headrace._workers import processes

    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    texts = ["if __name__ == '__main__':"]
    descriptor = processes.packed(("rows", [(texts, ["line"], None)], None))[2]
    assert processes.unpacked(descriptor)[1][0][0] == texts
    refused = of_the_script if target == "function" else Squares
    monkeypatch.setattr(refused, "__module__", "__main__")
    sent = of_the_script if target == "function" else Squares()
    with pytest.raises(hr.GraphError, match=f"{refused.__name__} is defined in the script .* pip install cloudpickle"):
        processes.packed(("function", [(sent, False, None)], None))


@pytest.mark.timing
def test_a_signal_before_the_wait_for_a_process_is_seen():
    def hangs(value):
        time.sleep(100 if value else 0)
        return value

    iterator = hr.Range(2).map(hangs, "value", processes=1).iterate(executor="pull")
    next(iterator)
    # Marks the signal without waking the wait, as one does that came just before it.
    interrupter = threading.Timer(0.5, _thread.interrupt_main)
    interrupter.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    assert time.monotonic() - began < 30
    interrupter.join()
    iterator.close()


def test_paths_of_modules_may_be_path_objects(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, pathlib.Path("elsewhere")])
    assert values(hr.Range(2).map(doubled, "value", processes=1)) == [0, 2]


@pytest.mark.parametrize("kind", [Squares, SquaresInRuns])
def test_rows_that_come_again_draw_anew(kind):
    def build(count):
        rows = hr.from_dataset(kind(), ["x", "drawn"], processes=count)
        return rows.sample(hr.Repeated(3)).batch(6)

    one = rows_of(build(1))
    assert rows_of(build(3)) == one
    assert len({drawn for row in one for drawn in row["drawn"][1]}) == 60


# ---- globals of modules ----


SETTINGS = """
import threading
LIMIT = 0
TABLE = {"a": 1}
LOCK = None
OPENED = None

class Options:
    step = 1

def shifted(x):
    return x + LIMIT

def indirect(x):
    return shifted(x) + TABLE["a"]

def of_class(x):
    return x + Options.step

def locked(x):
    return x if LOCK is None else x + 100

def opens(x):
    global OPENED
    if OPENED is None:
        OPENED = threading.Lock()
    return x + 1

def imports(x):
    import NAME
    return x + NAME.LIMIT

class Adder:
    def __call__(self, x):
        return x + LIMIT
"""


@pytest.fixture
def settings(tmp_path, monkeypatch):
    name = f"settings_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(SETTINGS.replace("NAME", name))
    (tmp_path / f"user_of_{name}.py").write_text(
        f"import {name} as s\nfrom {name} import shifted\n\ndef through(x):\n    return shifted(x) + s.TABLE['a']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(name)
    module.user = importlib.import_module(f"user_of_{name}")
    return module


def test_globals_that_were_set_go_with_functions_of_modules(settings):
    settings.LIMIT = 5
    settings.TABLE["a"] = 10
    settings.Options.step = 7
    functions = [
        settings.shifted,
        settings.indirect,
        settings.of_class,
        settings.user.through,
        settings.imports,
        settings.Adder(),
        functools.partial(settings.indirect),
        lambda x: settings.shifted(x),
    ]
    for function in functions:
        by_threads, by_processes = (
            [int(row["value"]) for row in hr.Range(3).map(function, "value", processes=n)] for n in (0, 1)
        )
        assert by_threads == by_processes, function
        assert by_threads != [0, 1, 2]


def test_globals_that_were_set_go_with_classes_of_the_script(settings, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"import headrace as hr\nimport {settings.__name__} as settings\n"
        "settings.LIMIT = 5\n"
        "class Adds:\n"
        "    def __call__(self, x): return x + settings.LIMIT\n"
        "print([int(r['value']) for r in hr.Range(3).map(Adds(), 'value', processes=1)])\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == ("[5, 6, 7]\n", "")


# ---- what a kept process keeps of an earlier run ----


def test_a_module_that_only_processes_import_is_imported_anew_once_edited(tmp_path, monkeypatch):
    name = f"lazy_{tmp_path.name.replace('-', '_')}"
    monkeypatch.syspath_prepend(tmp_path)

    def through(x):
        return importlib.import_module(name).shifted(x)

    for shift in (1, 20, 300):
        (tmp_path / f"{name}.py").write_text(f"def shifted(x):\n    return x + {shift}\n")
        rows = hr.Range(3).map(through, "value", processes=2)
        assert values(rows) == [shift, 1 + shift, 2 + shift]


def test_folder_and_environment_of_a_process_are_the_programs_at_each_run(tmp_path):
    def changes(x):
        os.chdir(tmp_path)
        os.environ["HEADRACE_TRIED"] = "1"
        return x

    def looks(x):
        return os.getcwd(), os.environ.get("HEADRACE_TRIED", "")

    assert values(hr.Range(2).map(changes, "value", processes=1)) == [0, 1]
    rows = hr.Range(1).map(looks, "value", ["folder", "variable"], processes=1)
    assert [(row["folder"], row["variable"]) for row in rows] == [(os.getcwd(), "")]


FORKS = """
import os, time
import headrace as hr
rows = hr.Range(4).map(lambda x: x + 1, "value", processes=2)
rows.head(2)

def children():
    return [each for each in open(f"/proc/self/task/{os.getpid()}/children").read().split()]

child = os.fork()
if child == 0:
    for _ in range(3):
        assert [int(row["value"]) for row in rows.head(4)] == [1, 2, 3, 4]
    until = time.monotonic() + 20
    while children() and time.monotonic() < until:
        time.sleep(0.01)
    os._exit(len(children()))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_keeps_no_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FORKS)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == ("0\n", "")


def test_a_global_that_cannot_be_sent_is_refused_by_its_name(settings):
    settings.LOCK = threading.Lock()
    with pytest.raises(hr.Error, match=rf"global {settings.__name__}\.LOCK is None .* worker_init="):
        list(hr.Range(2).map(settings.locked, "value", processes=1))


def test_what_a_function_opens_itself_is_not_refused(settings):
    assert values(hr.Range(2).map(settings.opens, "value")) == [1, 2]
    assert values(hr.Range(2).map(settings.opens, "value", processes=1)) == [1, 2]
