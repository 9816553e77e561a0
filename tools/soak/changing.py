"""Files that are replaced while they are read, with a cache in a folder that all processes share: every row has bytes
that the file had, and once files stop changing an epoch gives their current bytes.
"""

import pathlib
import random
import threading

import headrace as hr
from tools.soak.chain import Difference, Report

FILES = 5
VERSIONS = 200


def contents(version: int) -> bytes:
    """Every version has its own size, because a change that keeps the size is not noticed."""
    return bytes([version]) * (1000 + 617 * version)


class Changing:
    def __init__(self, root: pathlib.Path, folder: pathlib.Path) -> None:
        self._cache, self._files = root / "cache", folder / "files"
        self._files.mkdir(exist_ok=True)
        for number in range(FILES):
            self._replace(number, 1)

    def _path(self, number: int) -> pathlib.Path:
        return self._files / f"{number}.bin"

    def _replace(self, number: int, version: int) -> None:
        part = self._files.parent / f"part-{number}"
        part.write_bytes(contents(version))
        part.replace(self._path(number))

    def _write_in_place(self, number: int, version: int) -> None:
        """Overwrites the file in place, as `cp` does."""
        with self._path(number).open("wb") as file:
            whole = contents(version)
            for start in range(0, len(whole), 4096):
                file.write(whole[start : start + 4096])
                file.flush()

    def _change(self, rng: random.Random, stop: threading.Event) -> None:
        while not stop.wait(rng.random() * 0.003):
            change = rng.choice([self._replace, self._write_in_place])
            change(rng.randrange(FILES), rng.randrange(1, VERSIONS))

    def _dataset(self) -> hr.Dataset:
        return hr.Files(str(self._files / "*.bin")).cache("100KiB", self._cache)

    def leg(self, rng: random.Random) -> Report:
        report: Report = {"legs": 1, "rows": 0, "refused_reads": 0, "changed_files": 1}
        stop = threading.Event()
        changing = threading.Thread(target=self._change, args=(random.Random(rng.random()), stop))
        changing.start()
        try:
            for _ in range(rng.randrange(1, 6)):
                self._read_while_changing(report)
        finally:
            stop.set()
            changing.join()
        self._read_at_rest()
        return report

    def _read_while_changing(self, report: Report) -> None:
        try:
            for row in self._dataset().iterate():
                data = bytes(row["data"])
                if data.strip(data[:1]):
                    raise Difference(f"{row['path']} holds {len(data)} bytes of several versions")
                report["rows"] += 1
        except (hr.DataError, hr.NotFoundError) as error:
            if ".bin" not in str(error):
                raise Difference(f"an error that names no file: {error}") from error
            report["refused_reads"] += 1

    def _read_at_rest(self) -> None:
        for row in self._dataset().iterate():
            if bytes(row["data"]) != pathlib.Path(row["path"]).read_bytes():
                raise Difference(f"{row['path']} is served with {len(row['data'])} bytes that it no longer holds")
