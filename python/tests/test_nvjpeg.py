"""Decode(decoder="nvjpeg") in pipelines, over an nvJPEG and a driver for tests (engine/device/testing): its pixels are
the CPU's with the lowest bit changed. Not tested here: NVIDIA's own library and devices, which test_gpu.py runs."""

import os
import pathlib
import subprocess
import sys
from collections.abc import Mapping

import nvidia
import pytest
from conftest import ROOT, run_python
from test_cuda import driver  # noqa: F401

import headrace as hr
from headrace import vision as V

PRELUDE = """
import ctypes, gc, glob, sys
import numpy as np
import headrace as hr
from headrace import vision as V

photos = sys.argv[1]
files = sorted(glob.glob(photos + "/*/*.jpg"))
on_cpu, on_gpu = V.Decode(), V.Decode(decoder="nvjpeg")


def marked(image):
    return image ^ 1


def images(*kernels, shuffle=False):
    return hr.Files(files, shuffle=shuffle, columns="data").map([*kernels], "data")


def found():
    text = ctypes.create_string_buffer(4096)
    library = ctypes.CDLL("libcuda.so.1")
    library.TestDriverFindings.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
    library.TestDriverFindings(text, 4096)
    driver = text.value.decode()
    library = ctypes.CDLL("libnvjpeg.so.13")
    library.TestNvJpegFindings.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
    library.TestNvJpegFindings(text, 4096)
    return driver + text.value.decode()
"""


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder of Python packages with the nvJPEG for tests, as PyPI's package lies in one."""
    root = tmp_path_factory.mktemp("packages")
    folder = root / "nvidia/cu13/lib"
    folder.mkdir(parents=True)
    headers = pathlib.Path(next(iter(nvidia.__path__)), "cu13/include")
    source = ROOT / "engine/device/testing/test_nv_jpeg.cc"
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-O0", f"-I{headers}", f"-I{ROOT}", str(source)]
    command += ["-Wl,-soname,libnvjpeg.so.13", "-o", str(folder / "libnvjpeg.so.13"), "-ljpeg", "-ldl"]
    subprocess.run(command, check=True)
    return root


def run(code: str, photos: pathlib.Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code, str(photos)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def there(driver: pathlib.Path, package: pathlib.Path) -> dict[str, str]:  # noqa: F811
    """The environment of a process that has both."""
    return {"LD_LIBRARY_PATH": str(driver), "PYTHONPATH": str(package)}


def test_pipelines_and_calls_have_its_pixels(there, photos):
    code = """
with images(on_gpu).iterate() as rows:
    given = [row["data"] for row in rows]
expected = [row["data"] for row in images(on_cpu).iterate()]
print(len(given), all(np.array_equal(marked(a), b) for a, b in zip(expected, given, strict=True)))
called = on_gpu(open(files[0], "rb").read())
print(np.array_equal(called, given[0]))
grey = V.Decode(mode="L", decoder="nvjpeg")(open(files[0], "rb").read())
luma = (given[0].astype(np.uint32) @ np.array([19595, 38470, 7471], np.uint32) + 0x8000) >> 16
print(np.array_equal(grey[..., 0], luma))
"""
    count, *right = run(code, photos, there).split()
    assert int(count) == len(list(photos.glob("*/*.jpg"))) > 10
    assert right == ["True"] * 3


def test_rows_depend_on_no_setting(there, photos):
    code = """
import hashlib
rows = images(on_gpu, V.RandomResizedCrop(64), V.RandomHorizontalFlip(), shuffle=True).batch(4)


def hashed(**options):
    digest = hashlib.sha256()
    for batch in rows.iterate(epoch=3, **options):
        digest.update(batch["data"].tobytes())
    return digest.hexdigest()


settings = [{}, {"workers": 1}, {"workers": 4}, {"executor": "pull"}, {"optimize": False}]
print(len({hashed(**options) for options in settings}))
"""
    assert run(code, photos, there) == "1"


def test_nothing_is_left(there, photos):
    code = """
for _ in range(3):
    rows = images(on_gpu)
    with rows.iterate(workers=3) as iterator:
        for row in iterator:
            pass
    iterator = rows.iterate()
    next(iterator)
    iterator.close()
    del rows, iterator, row
del on_gpu
gc.collect()
print(found() or "nothing")
"""
    assert run(code, photos, there) == "nothing"


def test_states_and_graphs_tell_it_from_the_cpu(there, photos):
    code = """
rows = images(on_gpu)
iterator = rows.iterate()
first = next(iterator)
state = iterator.state()
iterator.close()
resumed = next(rows.iterate(state=state))
print(np.array_equal(resumed["data"], marked(next(images(on_cpu).skip(1).iterate())["data"])))
try:
    images(on_cpu).iterate(state=state)
except hr.StateError:
    print("another graph")
"""
    assert run(code, photos, there).splitlines() == ["True", "another graph"]


def test_batches_on_a_device(there, photos):
    code = """
rows = images(on_gpu, V.RandomResizedCrop(32), V.Normalize([124.0] * 3, [58.0] * 3), V.HWC2CHW()).batch(4)
expected = [batch["data"] for batch in rows.iterate(epoch=1)]
count = sum(1 for _ in rows.to_device("cuda:0").iterate(epoch=1, as_="dlpack"))
print(count == len(expected))
"""
    assert run(code, photos, there) == "True"


def test_a_forked_child_is_told_so(there, photos):
    code = """
import os
next(images(on_gpu).iterate())
child = os.fork()
if child == 0:
    try:
        on_gpu(open(files[0], "rb").read())
    except hr.UnsupportedError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    assert "start workers with the 'spawn' method" in run(code, photos, there)


# What is missing.


def refusal(photos: pathlib.Path, environment: Mapping[str, str]) -> str:
    code = """
try:
    next(images(on_gpu).iterate())
except hr.UnsupportedError as error:
    print(error)
print(V.Decode(decoder="nvjpeg")(V.EncodePng()(np.zeros((4, 5, 3), np.uint8))).shape)
"""
    told = run(code, photos, environment).splitlines()
    # What it never decodes needs none of it.
    assert told.pop() == "(4, 5, 3)"
    return "\n".join(told)


def test_without_a_driver(photos):
    try:
        hr.Range(1).to_device("cuda:0").iterate(as_="dlpack").close()
    except hr.UnsupportedError:
        assert 'decoder="nvjpeg" on cuda:0: no CUDA device can be used' in refusal(photos, {})
    else:
        pytest.skip("there is a GPU")


def test_without_the_library(driver, photos):  # noqa: F811
    told = refusal(photos, {"LD_LIBRARY_PATH": str(driver), "PYTHONPATH": ""})
    if not told:
        pytest.skip("nvJPEG is installed")
    assert 'decoder="nvjpeg" on cuda:0: NVIDIA\'s nvJPEG is not installed here: pip install nvidia-nvjpeg (lib' in told
    assert "Decode" in told


def test_on_error_skip_does_not_leave_out_rows_for_it(driver, photos):  # noqa: F811
    code = """
try:
    list(images(on_gpu).on_error("skip", max_errors=1000).iterate())
except hr.UnsupportedError as error:
    print("not installed" in str(error))
"""
    assert run(code, photos, {"LD_LIBRARY_PATH": str(driver), "PYTHONPATH": ""}) in ("True", "")


# What is written.


def test_an_unknown_decoder():
    with pytest.raises(hr.GraphError, match="decoder"):
        list(hr.Numpy({"x": [b"1"]}).map(V.Decode(decoder="cuda"), "x"))  # type: ignore[arg-type]


def test_a_scale():
    with pytest.raises(hr.GraphError, match=r"nvJPEG decodes images in their own size: leave scale=4 out, or decoder="):
        list(hr.Numpy({"x": [b"1"]}).map(V.Decode(scale=4, decoder="nvjpeg"), "x"))


def test_the_module_needs_nothing_of_it():
    code = "import headrace; headrace.vision.Decode(decoder='nvjpeg'); print('made')"
    assert run_python(code).stdout.strip() == "made"
