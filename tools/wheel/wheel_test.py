"""Installs the wheel into an empty virtual environment, runs a pipeline there, and checks what its libraries need.

Usage, from the root of the clone: .venv/bin/python -m tools.wheel.wheel_test [--python=INTERPRETER] WHEEL PHOTOS. Prints one line for each check; exits with 1 if one failed.
"""

import argparse
import ctypes
import email
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from typing import Any

from tools.wheel.readme_example import FirstExample
from tools.wheel.requirements import EXTRAS
from tools.wheel.symbol_versions import version_complaints

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
# The libraries of every Linux machine with glibc 2.34 and a C++ runtime. Any other must be inside the wheel.
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
LARGEST_INSTALL = 48 * 1000 * 1000
LARGEST_C_LIBRARIES = {"libheadrace.so": 4_500_000, "libheadrace_engine.so": 8_000_000}

PIPELINE = """
import ctypes
import os
import struct
import sys
import tempfile
import numpy as np
import headrace as hr
from headrace import mx, pack
from headrace import vision as V

assert "site-packages" in hr.__file__, hr.__file__
assert sorted(os.listdir(hr.include_dir())) == ["headrace.h", "headrace.hpp"]
assert sorted(os.listdir(hr.library_dir())) == ["libheadrace.so", "libheadrace_engine.so"]
for name in os.listdir(hr.library_dir()):
    ctypes.CDLL(f"{hr.library_dir()}/{name}").hr_abi()
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
def loaded():
    with open("/proc/self/maps") as maps:
        return {os.path.basename(line.split()[-1]) for line in maps}

# libtiff is the wheel's own, and loaded by the first TIFF.
assert not [name for name in loaded() if name.startswith(("libtiff", "libhwy"))]
tags = [(256, 4, 1), (257, 4, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1), (279, 4, 1)]
tiff = b"II*" + bytes(1) + struct.pack("<II", 12, 42) + struct.pack("<H", len(tags))
tiff += b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags) + bytes(4)
assert V.Decode()(tiff).tolist() == [[[42, 42, 42]]]
assert "libtiff-headrace.so.6" in loaded() and not [name for name in loaded() if name.startswith("libtiff.so")]
with tempfile.TemporaryDirectory() as folder:
    lists = pack.make_lists(f"{folder}/photos", sys.argv[1], recursive=True)
    packed = pack.pack_images(lists.paths[0], sys.argv[1], resize=64)
    assert len(hr.ImageRecord(packed.path, index=packed.index)) == packed.records == lists.pictures > 0
    with mx.recordio.MXRecordIO(packed.path, "r") as records:
        assert mx.recordio.unpack_img(records.read())[1].ndim == 3
"""


PROCESSES = """
import operator
import headrace as hr

if __name__ == "__main__":
    rows = list(hr.Range(100).map(operator.neg, "value", processes=2).batch(10))
    assert [int(row) for batch in rows for row in batch["value"]] == [-row for row in range(100)], rows
"""
# What only a newer Python has would be missed here, also in modules that nothing above imports.
EVERY_MODULE = """
import importlib
import pkgutil
import headrace

optional = {"torch", "cloudpickle", "pyarrow", "tqdm"}
for module in pkgutil.walk_packages(headrace.__path__, "headrace."):
    if module.name.endswith((".__main__", ".libheadrace_far")):
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        if error.name not in optional:
            raise
"""
ALLOWED_LICENCES = set(tomllib.loads(pathlib.Path(__file__).with_name("licences.toml").read_text("utf-8"))["allowed"])
COMMON_LICENCE = re.compile(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])")


def licence_complaints(folder: pathlib.Path) -> list[str]:
    """What the unpacked wheel fails to say about its libraries, by what it holds alone."""
    (info,) = folder.glob("*.dist-info")
    metadata = email.message_from_string((info / "METADATA").read_text("utf-8"))
    components = bill_of(folder)
    wrong = []
    stated = set(metadata["License-Expression"].split(" AND "))
    listed = {each for component in components for each in licence_of(component).split(" AND ")} | {"Apache-2.0"}
    if stated != listed:
        wrong.append(f"METADATA says {sorted(stated)}, the bill of materials {sorted(listed)}")
    wrong += [f"{each} is not on the list of licences.toml" for each in sorted(listed - ALLOWED_LICENCES)]
    texts = {str(path.relative_to(info / "licenses")) for path in (info / "licenses").rglob("*") if path.is_file()}
    if texts != set(metadata.get_all("License-File")):
        wrong.append(f"METADATA does not list the licences {sorted(texts)}")
    for component in components:
        if properties_of(component)["headrace:licence-file"] not in texts:
            wrong.append(f"{component['name']} has no text of its licence")
    for name in sorted(texts):
        text = (info / "licenses" / name).read_text("utf-8")
        for common in set(COMMON_LICENCE.findall(text)):
            if f"The text of /usr/share/common-licenses/{common}:\n" not in text:
                wrong.append(f"{name} refers to {common}, which is only on Debian's systems")
    return wrong


def metadata_complaints(folder: pathlib.Path) -> list[str]:
    (info,) = folder.glob("*.dist-info")
    metadata = email.message_from_string((info / "METADATA").read_text("utf-8"))
    wrong = []
    if metadata["Requires-Python"] != ">=3.10":
        wrong.append(f"Requires-Python is {metadata['Requires-Python']}")
    if set(metadata.get_all("Provides-Extra")) != EXTRAS.keys():
        wrong.append(f"the extras are {metadata.get_all('Provides-Extra')}")
    asked = [each for each in metadata.get_all("Requires-Dist") if "extra ==" not in each]
    if asked != ["numpy>=2"]:
        wrong.append(f"it needs {asked}")
    return wrong


def bill_complaints(folder: pathlib.Path) -> list[str]:
    """Libraries that the bill of materials lacks, or of which it says another hash."""
    hashes = {
        properties_of(component)["headrace:file"]: component["hashes"][0]["content"]
        for component in bill_of(folder)
        if "hashes" in component
    }
    found = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "headrace.libs").iterdir()
    }
    return [
        f"{name}: {found.get(name)}, listed as {hashes.get(name)}"
        for name in found.keys() | hashes.keys()
        if found.get(name) != hashes.get(name)
    ]


def bill_of(folder: pathlib.Path) -> list[dict[str, Any]]:
    (bill,) = folder.glob("*.dist-info/sboms/headrace.cdx.json")
    components: list[dict[str, Any]] = json.loads(bill.read_text("utf-8"))["components"]
    return components


def properties_of(component: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in component["properties"]}


def licence_of(component: dict[str, Any]) -> str:
    expression: str = component["licenses"][0]["expression"]
    return expression


def stand_in_complaints(folder: pathlib.Path) -> list[str]:
    """Whether JBIG is decoded by the wheel."""
    if list(folder.rglob("*jbig*")):
        return ["it holds libjbig, which is under the GPL"]
    (stand_in,) = folder.glob("headrace.libs/libunsupported*")
    return [] if ctypes.CDLL(str(stand_in)).jbg_dec_in(None, b"", 0, None) else ["its decoder of JBIG does not fail"]


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default="/usr/bin/python3", help="whose wheel it is")
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("photos", type=pathlib.Path)
    arguments = parser.parse_args()
    wheel, photos = arguments.wheel.resolve(), arguments.photos.resolve()
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

        objects = [path for path in (folder / "unpacked").rglob("*") if ".so" in path.name]
        check(
            "all libraries run with glibc 2.34 and GCC 11's libstdc++", version_complaints(objects, folder / "unpacked")
        )
        check("the tag says so", [] if "-manylinux_2_34_" in wheel.name else [wheel.name])
        check("METADATA names Pythons and extras", metadata_complaints(folder / "unpacked"))
        check("licences of others are allowed, and their texts are inside", licence_complaints(folder / "unpacked"))
        check("the bill of materials lists each library with its hash", bill_complaints(folder / "unpacked"))
        check("JBIG is not decoded", stand_in_complaints(folder / "unpacked"))

        size = sum(path.stat().st_size for path in (folder / "unpacked").rglob("*") if path.is_file())
        check(
            f"installed size is {size / 1e6:.1f} MB",
            [f"more than {LARGEST_INSTALL / 1e6:.0f} MB"] if size > LARGEST_INSTALL else [],
        )

        folder_of_c = folder / "unpacked/headrace/c/lib"
        sizes = {name: (folder_of_c / name).stat().st_size for name in LARGEST_C_LIBRARIES}
        check(
            "sizes of the C libraries: " + ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in sizes.items()),
            [
                f"{name} has more than {most / 1e6} MB"
                for name, most in LARGEST_C_LIBRARIES.items()
                if sizes[name] > most
            ],
        )

        def run(*command: str, **variables: str) -> list[str]:
            environment = {"PATH": "/usr/bin:/bin", **variables}
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
            return [done.stdout + done.stderr] if done.returncode else []

        check("the interpreter makes an environment", run(arguments.python, "-m", "venv", str(folder / "venv")))
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
        # -I: neither the clone nor the caller's folder is on the path.
        example = FirstExample.of(README).complaints([python, "-I"], {"PATH": "/usr/bin:/bin"})
        check("the README's first example prints what it shows, in an empty folder", example)
        check("a pipeline runs", run(python, "-c", PIPELINE, str(photos)))
        check("functions run in other processes", run(python, "-c", PROCESSES))
        check("every module of the package is imported", run(python, "-c", EVERY_MODULE))
        check(
            "the doctor reports", run("/bin/sh", "-c", "venv/bin/headrace doctor --json | venv/bin/python -m json.tool")
        )
        check("every symbol is found", run(python, "-c", "import headrace", LD_BIND_NOW="1"))
        check("the command runs", run(str(folder / "venv/bin/headrace"), "ops"))
        check("the command lists the libraries", run("/bin/sh", "-c", "venv/bin/headrace version --all | grep libtiff"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
