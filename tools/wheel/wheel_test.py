"""Installs the wheel into an empty virtual environment, runs a pipeline there, and checks what its libraries need.

Usage: wheel_test.py WHEEL PHOTOS. Prints one line for each check; exits with 1 if one failed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# The libraries of every Linux machine with glibc 2.36 and a C++ runtime. Any other must be inside the wheel.
ALLOWED = {
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
}
LARGEST_INSTALL = 40 * 1000 * 1000

PIPELINE = """
import os
import sys
import tempfile
import numpy as np
import headrace as hr
from headrace import mx, pack
from headrace import vision as V

assert "site-packages" in hr.__file__, hr.__file__
assert sorted(os.listdir(hr.plugin_include())) == ["headrace_plugin.h", "headrace_plugin.hpp"]
train = (hr.ImageFolder(sys.argv[1], shuffle=True)
           .map([V.Decode(), V.RandomResizedCrop(64), V.RandomHorizontalFlip(),
                 V.Normalize([127.5] * 3, [64.0] * 3), V.HWC2CHW()], "image")
           .batch(4, drop_remainder=True))
batches = list(train)
assert len(batches) == 3, len(batches)
for batch in batches:
    assert batch["image"].shape == (4, 3, 64, 64), batch["image"].shape
    assert batch["image"].dtype == np.float32, batch["image"].dtype
    assert batch["image"].std() > 0.1
    assert batch["label"].shape == (4,), batch["label"].shape
with tempfile.TemporaryDirectory() as folder:
    lists = pack.make_lists(f"{folder}/photos", sys.argv[1], recursive=True)
    packed = pack.pack_images(lists.paths[0], sys.argv[1], resize=64)
    assert len(hr.ImageRecord(packed.path, index=packed.index)) == packed.records == lists.pictures > 0
    with mx.recordio.MXRecordIO(packed.path, "r") as records:
        assert mx.recordio.unpack_img(records.read())[1].ndim == 3
"""


def missing_libraries(wheel: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Returns a sentence for each needed library that is neither inside the wheel nor allowed."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    objects = [path for path in folder.rglob("*") if ".so" in path.name]
    if not any(path.name.startswith("_engine") for path in objects):
        return [f"{wheel.name} holds no engine module"]
    inside = {path.name for path in objects}
    wrong = []
    for path in objects:
        dynamic = subprocess.run(["readelf", "-d", str(path)], check=True, capture_output=True, text=True).stdout
        for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
            if needed not in inside and needed not in ALLOWED:
                wrong.append(
                    f"{path.relative_to(folder)} needs {needed}, which is neither in the wheel nor on the list"
                )
    return wrong


def main() -> int:
    wheel, photos = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    failed = 0

    def check(name: str, complaints: list[str]) -> None:
        nonlocal failed
        failed += bool(complaints)
        print(f"{'FAILED' if complaints else 'ok'}: {name}")
        for complaint in complaints:
            print(f"    {complaint}")

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        check("needed libraries are in the wheel or on the short list", missing_libraries(wheel, folder / "unpacked"))

        size = sum(path.stat().st_size for path in (folder / "unpacked").rglob("*") if path.is_file())
        check(
            f"installed size is {size / 1e6:.1f} MB",
            [f"more than {LARGEST_INSTALL / 1e6:.0f} MB"] if size > LARGEST_INSTALL else [],
        )

        def run(*command: str) -> list[str]:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
            return [done.stdout + done.stderr] if done.returncode else []

        run("/usr/bin/python3", "-m", "venv", str(folder / "venv"))
        python = str(folder / "venv/bin/python")
        # pip gets the caller's settings (a proxy, a mirror); the programs after it do not.
        pip = subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        check("the wheel installs into an empty environment", [pip.stdout + pip.stderr] if pip.returncode else [])
        others = subprocess.run(
            [python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
            capture_output=True,
            text=True,
        ).stdout
        names = {line.split("==")[0].lower() for line in others.split()} - {"pip", "setuptools"}
        check("it brings NumPy and nothing else", [] if names == {"headrace", "numpy"} else [f"found {sorted(names)}"])
        check("a pipeline runs", run(python, "-c", PIPELINE, str(photos)))
        check("the command runs", run(str(folder / "venv/bin/headrace"), "ops"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
