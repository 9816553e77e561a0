"""The process that runs the checks of a plugin: it forks one for each check, so that none can harm the next, and
writes what came of each as a line of JSON. It stays single-threaded and loads no plugin itself."""

import ctypes
import dataclasses
import difflib
import functools
import gc
import json
import mmap
import os
import resource
import selectors
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from headrace import _engine
from headrace._operators.conformance.battery import BATTERIES
from headrace._operators.conformance.declared_operator import arguments_of
from headrace._operators.conformance.host_functions import BrokenRule
from headrace._operators.conformance.subject import Check, CheckFailed, LeftOut, Limits, NotNeeded, Subject
from headrace._operators.plugins import load_plugin
from headrace.errors import Error

_NOT_FOR_IT = "not for this operator"
_NOTE_BYTES = 4096
_BEGIN = struct.Struct("d")
# A call does not return if it has run for so much of a check's time.
_MOST_OF_TIME = 0.5
_PR_SET_PDEATHSIG = 1
_ADVICE = {
    signal.SIGSEGV: "look for an access outside inputs and outputs, and for writes into inputs; -fsanitize=address helps",
    signal.SIGBUS: "look for an access outside inputs and outputs, and for writes into inputs; -fsanitize=address helps",
    signal.SIGFPE: "look for a division by zero",
    signal.SIGABRT: "look for an exception that leaves the callback, a failed assertion, and damage to the heap",
}

Answer = dict[str, Any]


class Note:
    """The call that runs and since when, in memory that outlives the process which makes it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _NOTE_BYTES + _BEGIN.size)
        _BEGIN.pack_into(self._memory, _NOTE_BYTES, time.monotonic())

    def __call__(self, callback: str, given: str) -> None:
        text = f"{callback}\n{given}".encode(errors="backslashreplace")[: _NOTE_BYTES - 1]
        self._memory[: len(text) + 1] = text + b"\0"
        _BEGIN.pack_into(self._memory, _NOTE_BYTES, time.monotonic())

    @property
    def seconds(self) -> float:
        """That the call has run."""
        begin: float = _BEGIN.unpack_from(self._memory, _NOTE_BYTES)[0]
        return time.monotonic() - begin

    def read(self) -> tuple[str, str]:
        text = self._memory[:_NOTE_BYTES].split(b"\0", 1)[0].decode(errors="backslashreplace")
        callback, _, given = text.partition("\n")
        return callback, given


def in_a_process(work: Callable[[Note], Answer], seconds: float) -> Answer:
    """What the work gives, in a process of its own; of one that ends or hangs, in which call it did."""
    note = Note()
    reads, writes = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _work_in_child(work, note, writes, parent)
    os.close(writes)
    written = _read(reads, seconds)
    ran = note.seconds
    if written is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    callback, given = note.read()
    if written is None:
        return _out_of_time(callback, given, seconds, ran)
    if not written:
        return _ended(callback, given, status)
    answer: Answer = json.loads(written)
    return answer


def _out_of_time(callback: str, given: str, seconds: float, ran: float) -> Answer:
    if ran > _MOST_OF_TIME * seconds:
        advice = "let it return; of an attribute without bounds, declare them; --time-limit gives more time"
        return _failed(given, f"{callback} did not return within {seconds:g} s", advice)
    came = f"the check took longer than {seconds:g} s; the last call was {callback}"
    return _failed(given, came, "let calls take less time, or the sample be smaller; --time-limit gives more")


def _failed(given: str, came: str, advice: str) -> Answer:
    return {"ok": False, "given": given, "came": came, "advice": advice}


def _ended(callback: str, given: str, status: int) -> Answer:
    if not os.WIFSIGNALED(status):
        came = f"{callback} ended the process with code {os.waitstatus_to_exitcode(status)}"
        return _failed(given, came, "return an error, do not end the process")
    number = signal.Signals(os.WTERMSIG(status))
    return _failed(given, f"{callback} ended the process by {number.name}", _ADVICE.get(number, "find what raises it"))


def _read(descriptor: int, seconds: float) -> bytes | None:
    """All that is written until the other side ends; None: the time is over."""
    end = time.monotonic() + seconds
    written = b""
    with selectors.DefaultSelector() as selector, os.fdopen(descriptor, "rb", buffering=0) as file:
        selector.register(file, selectors.EVENT_READ)
        while True:
            if not selector.select(max(end - time.monotonic(), 0)):
                return None
            read = file.read(1 << 16)
            if not read:
                return written
            written += read


def _work_in_child(work: Callable[[Note], Answer], note: Note, writes: int, parent: int) -> None:
    """Ends the process, whatever happens."""
    try:
        _end_with_parent()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # What the plugin prints is not taken for results.
        os.dup2(2, 1)
        if os.getppid() == parent:
            answer = _answer(work, note)
            os.write(writes, json.dumps(answer).encode())
    finally:
        os._exit(0)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answer(work: Callable[[Note], Answer], note: Note) -> Answer:
    try:
        return {"ok": True} | work(note)
    except NotNeeded:
        return {"left_out": _NOT_FOR_IT}
    except LeftOut as error:
        return {"left_out": str(error)}
    except CheckFailed as error:
        return _failed(error.given, error.came, error.advice)
    except BrokenRule as error:
        return _failed(note.read()[1], error.came, error.advice)
    except MemoryError as error:
        return _failed(note.read()[1], f"no memory: {error}", "check with less memory: --memory")
    except Exception:
        return _failed(note.read()[1], traceback.format_exc(), "this is a fault of the check: report it")


def main(given: str) -> None:
    _end_with_parent()
    # The process that started this one gets it, too, and ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Spares the collections of each check what was there before it.
    gc.freeze()
    Conductor(json.loads(given)).run()


@dataclasses.dataclass
class Operator:
    """One operator of the plugin: its kind is the name of its battery."""

    kind: str
    name: str


class Conductor:
    def __init__(self, options: dict[str, Any]) -> None:
        self._path = options["path"]
        self._seed = options["seed"]
        self._seconds = options["seconds"]
        self._operators = options["operators"]
        self._checks = options["checks"]
        self._samples = options["samples"]
        self._limits = Limits(options["memory"], options["calls"], options["seconds"])

    def run(self) -> None:
        loaded = in_a_process(self._load, self._seconds)
        _write({"loaded": loaded})
        for operator in loaded.get("operators", []):
            if self._operators is None or operator["name"] in self._operators:
                self._check(loaded["name"], Operator(**operator))

    def _check(self, plugin: str, operator: Operator) -> None:
        found: Answer = {}
        about = f"{plugin}.{operator.name}"
        for name in dict.fromkeys(self._checks or ()):
            if name not in BATTERIES[operator.kind].checks:
                _write({"operator": about, "check": name, "left_out": _NOT_FOR_IT})
        for name, check in BATTERIES[operator.kind].checks.items():
            wanted = self._checks is None or name in self._checks
            if not wanted and found:
                continue
            answer = in_a_process(functools.partial(self._run, check, operator, found), self._seconds)
            found = found or answer.pop("found", {})
            failed = not answer.get("ok", True)
            silent = self._checks is None and answer.get("left_out") == _NOT_FOR_IT
            if failed or (wanted and not silent):
                _write({"operator": about, "check": name, **answer})
            if not found:
                return

    def _run(self, check: Check, operator: Operator, found: Answer, note: Note) -> Answer:
        note("the check", "nothing yet")
        of_kind = BATTERIES[operator.kind].subject
        subject: Subject = of_kind(self._path, operator.name, self._seed, self._limits, note, self._samples)
        if found:
            subject.take(found)
        check(subject)
        return {} if found else {"found": subject.found()}

    def _load(self, note: Note) -> Answer:
        note("loading", self._path)
        for check in self._checks or ():
            _check_check(check)
        try:
            module = load_plugin(self._path)
        except Error as error:
            raise CheckFailed(self._path, str(error), "give a plugin that hr.load_plugin() takes") from error
        name = module.__name__.rpartition(".")[2]
        declared = json.loads(_engine.declarations())["operators"]
        kinds = {op["python_name"]: _kind(op) for op in declared if op["python_module"] == name}
        for operator in self._operators or ():
            _check_operator(name, module.__dict__["__all__"], operator, f"--operator {operator}")
        for operator, sample in self._samples.items():
            _check_sample(name, module.__dict__, operator, sample)
        operators = [dataclasses.asdict(Operator(kinds[each], each)) for each in module.__all__]
        return {"name": name, "version": module.__dict__["__version__"], "operators": operators}


def _check_check(name: str) -> None:
    known = {kind: list(battery.checks) for kind, battery in BATTERIES.items()}
    names = [each for checks in known.values() for each in checks]
    if name in names:
        return
    listed = "; ".join(f"of {kind}s {', '.join(checks)}" for kind, checks in known.items())
    came = f"--check {name}: there is no such check; there are {listed}{_near(name, names)}"
    raise CheckFailed(name, came, "name one")


def _check_operator(plugin: str, names: list[str], name: str, option: str) -> None:
    if name not in names:
        came = f"{option}: the plugin {plugin} has no operator {name}; it has {', '.join(names)}{_near(name, names)}"
        raise CheckFailed(name, came, "name one")


def _near(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {near[0]}?" if near else ""


def _kind(declared: dict[str, Any]) -> str:
    if declared["role"] == "kernel":
        return "kernel"
    return "source" if declared["traits"]["indexed"] else "format"


def _check_sample(plugin: str, classes: dict[str, Any], operator: str, sample: str) -> None:
    """Against the class's signature and bounds."""
    _check_operator(plugin, classes["__all__"], operator, f"--sample {sample}")
    positional, named = arguments_of(sample)
    try:
        classes[operator](*positional, **named)
    except (TypeError, Error) as error:
        raise CheckFailed(sample, f"--sample {sample}: {error}", "give other arguments") from error


def _write(answer: Answer) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
