"""The main module of a worker process: calls functions, or asks an object for rows, and then those of further runs, until
its parent is gone."""

import gc
import importlib.util
import os
import random
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

import numpy

from headrace import _engine
from headrace._operators.plugins import load_plugin
from headrace._workers.module_files import ModuleFiles
from headrace._workers.processes import IMPORT_THRESHOLD, unpacked

GIVEN = range(3, 8)  # the descriptors that it gets
CODE = 6  # that of what it is to run
FOLDER = 7  # that of the folder to work in: it is started in another one, from which it imports


def main(parent: int, number: int, plugins: list[str], usual_threshold: tuple[int, int, int]) -> None:
    """`usual_threshold`: that of garbage collection, once the process has imported what it runs."""
    _engine.end_with_parent(parent)
    # A program that the user's code starts must not hold them.
    for descriptor in GIVEN:
        os.set_inheritable(descriptor, False)
    os.fchdir(FOLDER)
    environment = dict(os.environ)
    files = ModuleFiles()
    # What the user's code prints is seen though the process is killed in the end.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    sys.meta_path.insert(0, TorchWatch())
    try:
        for path in plugins:
            load_plugin(path)
    except BaseException as error:
        _engine.serve_failure(error, "a worker process, which loaded the plugins of the process that started it,")
        return
    code: int | None = CODE
    while code is not None:
        code = serve(code, number, usual_threshold)
        # What the code held, such as the memory of its large arrays, goes before the next one comes.
        gc.collect()
        # The next one finds what it would find in a new process.
        if files.changed():
            return
        os.fchdir(FOLDER)
        if os.environ != environment:
            os.environ.clear()
            os.environ.update(environment)


def serve(code: int, number: int, usual_threshold: tuple[int, int, int]) -> int | None:
    """Runs the code in the memory of a descriptor, and returns that of the code to run next; None: it failed."""
    global latest_seed
    latest_seed = None
    try:
        kind, targets, init = unpacked(code)
    except BaseException as error:
        _engine.serve_failure(error, "a worker process, which unpickled what it is to call,")
        return None
    # Modules of the user may have set one of their own.
    if gc.get_threshold()[0] == IMPORT_THRESHOLD:
        gc.set_threshold(*usual_threshold)
    try:
        if init is not None:
            init(number)
    except BaseException as error:
        _engine.serve_failure(error, "worker_init")
        return None
    served = [(target, details, seeding(salt)) for target, details, salt in targets]
    if kind == "function":
        return _engine.serve_functions(served)
    return _engine.serve_rows(*served[0])


def seeding(salt: int | None) -> Callable[[int], None] | None:
    return None if salt is None else lambda row: seed_globals(row ^ salt)


# That of the call which runs.
latest_seed: int | None = None


def seed_globals(seed: int) -> None:
    """Seeds the generators that functions share, by a number of 64 bits."""
    global latest_seed
    latest_seed = seed
    random.seed(seed)
    numpy.random.seed((seed & 0xFFFFFFFF, seed >> 32))
    torch = sys.modules.get("torch")
    if torch is not None:
        seed_torch(torch)


def seed_torch(torch: Any) -> None:
    if latest_seed is not None:
        torch.manual_seed(latest_seed & (1 << 63) - 1)


class TorchWatch:
    """Prepares torch when the user's code imports it: the row that does so draws from its own seed, too, and processes
    that share the cores take one thread each."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(torch: Any) -> None:
            execute(torch)
            torch.set_num_threads(1)
            seed_torch(torch)

        spec.loader.exec_module = exec_module  # type: ignore[assignment, method-assign]
        return spec
