"""Worker processes read far files by the settings of the run that started them, which no one else sees."""

import pathlib
from typing import Any

import numpy as np

import headrace as hr
from tests.far.s3_server import SECRET_KEY
from tests.far.stores import Store


def test_functions_in_processes_read_far_files(s3: Store) -> None:
    root = s3.root
    secret = SECRET_KEY.encode()

    def read(number: Any) -> np.ndarray:
        # What `ps` and the system's files show of a process.
        for name in ("cmdline", "environ"):
            assert secret not in pathlib.Path("/proc/self", name).read_bytes()
        (row,) = hr.Files([f"{root}/{int(number)}.bin"])
        return np.array(len(row["data"]))

    for number in range(4):
        s3.put(f"{number}.bin", b"x" * number)
    sizes = hr.Range(4).map(read, "value", types={"value": "int64"}, processes=2)
    assert [int(row["value"]) for row in sizes.iterate(storage=s3.storage)] == [0, 1, 2, 3]
    with hr.storage(s3.storage):
        assert [int(row["value"]) for row in sizes] == [0, 1, 2, 3]
