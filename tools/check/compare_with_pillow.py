"""Decodes every image in folders with `V.Decode` and with Pillow, and prints how the two differ, by format and class.

    .venv/bin/python -m tools.check.compare_with_pillow DIR... [--files]

`--files` names the files of each class that is not "equal pixels". Each file is decoded in a process of its own kind,
over memory that is filled with other bytes in each of two such processes: pixels that then differ were never written.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import io
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

_SECONDS = 60
_FILLS = (85, 170)
_ENDS = ("ends the process", "takes too long")
_LEVELS = ((2, "pixels differ by 1 or 2 levels"), (255, "pixels differ"))


class Outcome(NamedTuple):
    format: str
    """JPEG, PNG and so on; "other" for files that neither side knows."""
    kind: str
    """The class of difference."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="+")
    parser.add_argument("--files", action="store_true", help="name the files of each class but equal pixels")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return _work(int(os.environ["MALLOC_PERTURB_"]))
    paths = [path for folder in options.folder for path in sorted(folder.rglob("*")) if path.is_file()]
    files: dict[Outcome, list[pathlib.Path]] = collections.defaultdict(list)
    for path, outcome in _outcomes(paths):
        files[outcome].append(path)
    _print_table(files, len(paths))
    if options.files:
        for outcome, found in sorted(files.items()):
            if outcome.kind != "equal pixels":
                print(f"\n{outcome.format}: {outcome.kind}", *found, sep="\n    ")


def _print_table(files: dict[Outcome, list[pathlib.Path]], total: int) -> None:
    print("| format | result | files |", "|---|---|---|", sep="\n")
    for outcome, found in sorted(files.items(), key=lambda item: (item[0].format, -len(item[1]))):
        print(f"| {outcome.format} | {outcome.kind} | {len(found):,} |")
    print(f"| all | | {total:,} |")


def _outcomes(paths: list[pathlib.Path]) -> Iterator[tuple[pathlib.Path, Outcome]]:
    workers = [_Worker(fill) for fill in _FILLS]
    for path in paths:
        answers = [worker.ask(path) for worker in workers]
        ended = [each for each in answers if each["kind"] in _ENDS]
        same = answers[0]["digest"] == answers[1]["digest"]
        kind = answers[0]["kind"] if same else "pixels of memory that was not written"
        yield path, Outcome(answers[0]["format"], ended[0]["kind"] if ended else kind)
    for worker in workers:
        worker.end()


class _Worker:
    """A process that decodes, and is started again where it ends or takes too long."""

    def __init__(self, fill: int) -> None:
        self._fill = fill
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name if __spec__ else "", "--worker", "."],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "MALLOC_PERTURB_": str(self._fill)},
        )

    def ask(self, path: pathlib.Path) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(str(path)) + "\n")
        self._process.stdin.flush()
        in_time = bool(select.select([self._process.stdout], [], [], _SECONDS)[0])
        line = self._process.stdout.readline() if in_time else ""
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self.end()
        self._start()
        return {"format": "other", "digest": "", "kind": _ENDS[0] if in_time else _ENDS[1]}

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def _work(fill: int) -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        data = pathlib.Path(json.loads(line)).read_bytes()
        print(json.dumps(_compare(data, fill)), flush=True)


def _compare(data: bytes, fill: int) -> dict[str, Any]:
    import numpy as np

    from headrace import _engine

    known = _engine.encoded_format(data)
    theirs, said, name = _by_pillow(data)
    ours, error = _by_headrace(data, fill)
    digest = "" if ours is None else hashlib.md5(ours.tobytes()).hexdigest()
    answer = {"format": known[0] if known else name, "digest": digest}
    if ours is None:
        return answer | {"kind": f"refused by both: {error}" if theirs is None else f"read by Pillow alone: {error}"}
    if theirs is None:
        return answer | {"kind": f"read by Headrace alone; Pillow: {said}"}
    if ours.shape != theirs.shape:
        return answer | {"kind": f"other shape: {_sizes(ours.shape, theirs.shape)}"}
    most = int(np.abs(ours.astype(int) - theirs).max(initial=0))
    if most == 0:
        return answer | {"kind": "equal pixels"}
    return answer | {"kind": next(kind for limit, kind in _LEVELS if most <= limit)}


def _sizes(ours: tuple[int, ...], theirs: tuple[int, ...]) -> str:
    return "turned" if ours == (theirs[1], theirs[0], *theirs[2:]) else "another size"


def _by_headrace(data: bytes, fill: int) -> tuple[Any, str]:
    import numpy as np

    import headrace as hr
    from headrace import vision as V

    try:
        size = _Size.of(data)
        # What the engine's memory held last.
        V.HorizontalFlip()(np.full((*size, 3), fill, np.uint8))
        return V.Decode()(data), ""
    except hr.Error as error:
        return None, _in_short(str(error))


class _Size(NamedTuple):
    height: int
    width: int

    @staticmethod
    def of(data: bytes) -> _Size:
        from headrace import _engine

        height, width = _engine.encoded_size(data) or (1, 1)
        return _Size(height, width) if height * width < 1 << 26 else _Size(1, 1)


def _by_pillow(data: bytes) -> tuple[Any, str, str]:
    import numpy as np
    from PIL import Image

    name = "other"
    try:
        with Image.open(io.BytesIO(data)) as image:
            name = image.format or name
            return np.asarray(image.convert("RGB")), "", name
    except Exception as error:
        return None, _in_short(str(error)), name


def _in_short(message: str) -> str:
    """What is the same for all files of a class: without numbers and what stands in quotes or brackets."""
    line = re.sub(r"\(.*?\)|'.*?'|<.*?>", "", message.splitlines()[0] if message else "")
    line = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{2}( [0-9a-f]{2})+\b|\d[\d.,]*", "N", line)
    return re.sub(r"\s+", " ", line).strip(" :;,.")[:110]


if __name__ == "__main__":
    main()
