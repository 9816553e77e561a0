"""`headrace doctor`: what a report of a fault says about the machine."""

import ctypes
import json
import os
import resource
import subprocess

import numpy as np
import pytest

import headrace as hr
from headrace import _engine
from headrace.__main__ import main
from headrace._commands import machine_report, nvidia_driver

SECTIONS = ["headrace", "python", "system", "cpu", "memory", "limits", "gpu", "libraries", "packages"]
DRIVER = """
static int initialized, known = 1;
int cuInit(unsigned flags) { initialized = flags == 0; return FAULT; }
int cuDriverGetVersion(int* version) { *version = 12040; return !initialized; }
int cuDeviceGetCount(int* count) { *count = 2; return !initialized; }
int cuDeviceGet(int* device, int ordinal) { *device = 7 + ordinal; return !known; }
int cuDeviceGetName(char* name, int length, int device) { __builtin_strncpy(name, "Card X", length); return device < 7; }
int cuDeviceTotalMem_v2(unsigned long* bytes, int device) { *bytes = 5000000000UL + device; return 0; }
#ifndef OLD
int cuDeviceGetAttribute(int* value, int which, int device) { *value = which == 75 ? 9 : 0; return device < 7; }
#endif
"""


def driver(folder, *options: str) -> str:
    library = folder / "libcuda.so.1"
    (folder / "driver.c").write_text(DRIVER)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, *options, folder / "driver.c"], check=True)
    return str(library)


def report(capsys) -> dict:
    assert main(["doctor", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_says_what_this_machine_has(capsys):
    found = report(capsys)
    assert list(found) == SECTIONS
    assert found["headrace"]["version"] == hr.__version__ and found["headrace"]["built"] == "from sources"
    assert found["packages"]["numpy"] == np.__version__
    assert found["cpu"]["cores of this process"] == len(os.sched_getaffinity(0))
    assert found["system"]["libc"].startswith("glibc 2.") and found["system"]["libstdc++"].startswith("libstdc++.so.6")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert found["limits"]["open files"]["soft"] in (soft, "unlimited")
    assert found["memory"]["bytes"] >= found["memory"]["available bytes"] > 0
    assert found["memory"]["/dev/shm, bytes"] == os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize
    assert found["libraries"].items() >= dict(_engine.library_versions()).items()


def test_it_names_the_targets_of_the_cpu(capsys):
    targets = report(capsys)["cpu"]["targets"]
    assert targets == _engine.cpu_targets() and len(targets) > 1
    with open("/proc/cpuinfo") as file:
        assert ("AVX2" in targets) == (" avx2 " in file.read())


def test_the_text_has_the_same_sections(capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")] == SECTIONS
    assert f"  version: {hr.__version__}\n" in text and "  open files: soft " in text and "  targets: " in text


def test_it_names_no_user_and_no_file_of_theirs(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-reports")
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for private in ("not-for-reports", os.uname().nodename, os.path.expanduser("~") + "/", os.getcwd()):
        assert private not in text


def test_a_machine_that_says_nothing_is_unknown(monkeypatch, capsys):
    monkeypatch.setattr(machine_report, "_text", lambda _: "")
    monkeypatch.setattr(machine_report, "_SHARED_MEMORY", "/no such folder")
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for name in ("model", "bytes", "libstdc++", "/dev/shm, bytes"):
        assert f"  {name}: unknown\n" in text
    assert "  limit of the container, bytes: unlimited\n" in text


@pytest.mark.parametrize(
    ("text", "limit"), [("max\n", "unlimited"), ("8589934592\n", 1 << 33), (f"{(1 << 63) - 4096}", "unlimited")]
)
def test_the_limit_of_a_container(monkeypatch, text, limit):
    monkeypatch.setattr(machine_report, "_text", lambda path: text if "cgroup" in path else "")
    assert machine_report.machine_report(hr.__version__)["memory"]["limit of the container, bytes"] == limit


def test_it_lists_the_gpus_of_the_driver(tmp_path):
    found = nvidia_driver.nvidia_report(driver(tmp_path, "-DFAULT=0"))
    first = {"name": "Card X", "memory_bytes": 5000000007, "compute_capability": "9.0"}
    assert found == {"cuda": "12.4", "devices": [first, {**first, "memory_bytes": 5000000008}]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-DFAULT=100"], "cuInit of libcuda.so.1 gives the error 100"),
        (["-DFAULT=0", "-DOLD"], "no function cuDeviceGetAttribute"),
    ],
)
def test_a_driver_that_fails_is_told(tmp_path, options, said):
    assert said in nvidia_driver.nvidia_report(driver(tmp_path, *options))["error"]


def test_a_machine_without_a_driver_says_so(tmp_path):
    with pytest.raises(OSError):
        ctypes.CDLL(str(tmp_path / "libcuda.so.1"))
    assert "no driver: " in nvidia_driver.nvidia_report(str(tmp_path / "libcuda.so.1"))["error"]
