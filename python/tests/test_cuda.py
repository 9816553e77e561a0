"""Batches on a GPU of NVIDIA's, over the driver for tests (engine/device/testing): a consumer of our own takes DLPack
capsules. Not tested here: a real GPU, and torch's and CuPy's own tensors on it."""

import os
import pathlib
import subprocess
import sys

import nvidia
import pytest
from conftest import ROOT, run_python

CONSUMER = """
import ctypes, gc, numpy as np
import headrace as hr

driver = ctypes.CDLL("libcuda.so.1")
driver.TestDriverMakeStream.restype = ctypes.c_void_p
driver.TestDriverExpect.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
driver.TestDriverEndStream.argtypes = [ctypes.c_void_p]
driver.TestDriverFindings.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
driver.TestDriverEnter(0)

pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


def taken(lent, stream):
    # The capsule frees what nobody took, as a consumer would.
    capsule = lent.__dlpack__(stream=stream, max_version=(1, 0))
    return capsule, Versioned.from_address(pointer(capsule, b"dltensor_versioned"))


def expect(stream, data, array):
    array = np.ascontiguousarray(array)
    assert driver.TestDriverExpect(stream, data, array.ctypes.data, array.nbytes) == 0


def findings():
    text = ctypes.create_string_buffer(4096)
    driver.TestDriverFindings(text, 4096)
    return text.value.decode()


def numbers(**options):
    return hr.Range(40, shuffle=True).batch(4).to_device("cuda:0", depth=2).iterate(as_="dlpack", **options)


expected = [batch["value"] for batch in hr.Range(40, shuffle=True).batch(4).iterate()]
"""


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder with the driver for tests."""
    folder = tmp_path_factory.mktemp("driver")
    headers = pathlib.Path(next(iter(nvidia.__path__)), "cu13/include")
    source = ROOT / "engine/device/testing/test_driver.cc"
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-O0", f"-I{headers}", f"-I{ROOT}", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([*command, str(source), "-o", str(folder / "libcuda.so.1")], check=True)
    return folder


def run(driver: pathlib.Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CONSUMER + code],
        env=os.environ | {"LD_LIBRARY_PATH": str(driver)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("stream", ["own", "1", "None", "-1"])
def test_a_consumer_finds_the_batch_on_its_stream(driver, stream):
    code = f"""
own = driver.TestDriverMakeStream()
stream = {stream}
iterator = numbers()
for array, batch in zip(expected, iterator, strict=True):
    lent = batch["value"]
    assert lent.__dlpack_device__() == (2, 0)
    capsule, tensor = taken(lent, stream)
    assert (tensor.kind, tensor.id, tensor.ndim, tensor.shape[0], tensor.code, tensor.bits) == (2, 0, 1, 4, 0, 64)
    expect(own if stream in (own, -1) else 1, tensor.data, array)
    del lent, capsule, batch
iterator.close()
gc.collect()
driver.TestDriverEndStream(own)
print(findings() or "nothing")
"""
    assert run(driver, code) == "nothing"


def test_further_streams_are_recorded(driver):
    code = """
first, second = driver.TestDriverMakeStream(), driver.TestDriverMakeStream()
iterator = numbers()
for array, batch in zip(expected, iterator, strict=True):
    capsule, tensor = taken(batch["value"], first)
    capsule_of_second, _ = taken(batch["value"], second)
    batch.record_stream(second)
    expect(first, tensor.data, array)
    expect(second, tensor.data, array)
    del capsule, capsule_of_second, batch
iterator.close()
gc.collect()
driver.TestDriverEndStream(first)
driver.TestDriverEndStream(second)
print(findings() or "nothing")
"""
    assert run(driver, code) == "nothing"


def test_a_stream_that_is_not_recorded_is_found(driver):
    code = """
first, second = driver.TestDriverMakeStream(), driver.TestDriverMakeStream()
for array, batch in zip(expected, numbers(), strict=True):
    capsule, tensor = taken(batch["value"], first)
    expect(second, tensor.data, array)
    del capsule, batch
print("while other work may" in findings())
"""
    assert run(driver, code) == "True"


def test_the_cuda_array_interface(driver):
    code = """
iterator = numbers()
for array, batch in zip(expected, iterator, strict=True):
    shared = batch["value"].__cuda_array_interface__
    assert (shared["shape"], shared["typestr"], shared["version"], shared["stream"]) == ((4,), "<i8", 3, 1)
    expect(1, shared["data"][0], array)
    del batch
iterator.close()
gc.collect()
print(findings() or "nothing")
"""
    assert run(driver, code) == "nothing"


def test_what_has_no_cuda_array_interface_says_so_to_hasattr(driver):
    code = """
halves = hr.Range(4).map([hr.transforms.TypeCast("bfloat16")], "value").batch(2).to_device("cuda:0")
lent = next(halves.iterate(as_="dlpack"))["value"]
print(hasattr(lent, "__cuda_array_interface__"), hasattr(lent, "__dlpack__"))
try:
    lent.__cuda_array_interface__
except AttributeError as raised:
    print(raised)
"""
    assert run(driver, code).splitlines() == ["False True", "__cuda_array_interface__ has no bfloat16; use DLPack"]


def test_the_cuda_array_interface_of_no_elements(driver):
    code = """
empty = hr.Numpy({"x": np.zeros((2, 0, 3), np.float32)}).batch(2).to_device("cuda:0")
shared = next(empty.iterate(as_="dlpack"))["x"].__cuda_array_interface__
print(shared["shape"], shared["data"][0])
"""
    assert run(driver, code) == "(2, 0, 3) 0"


def test_streams_of_other_devices_are_refused(driver):
    code = """
import types
batch = next(numbers())
for index in (0, 1):
    try:
        batch.record_stream(types.SimpleNamespace(cuda_stream=0, device=types.SimpleNamespace(index=index)))
    except hr.UnsupportedError as error:
        print(error)
"""
    assert run(driver, code) == (
        "record_stream: the stream is on cuda:1, and the batch on cuda:0: make a stream of cuda:0 wait for it, and give "
        "that one"
    )


def test_a_forked_child_is_told_so(driver):
    code = """
import os
iterator = numbers(executor="pull")
next(iterator)
child = os.fork()
if child == 0:
    try:
        numbers(executor="pull")
    except hr.UnsupportedError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    assert run(driver, code).startswith("this process was forked after CUDA or Headrace's threads had started")


def test_streams_that_cannot_be_waited_for_are_refused(driver):
    code = """
iterator = numbers()
lent = next(iterator)["value"]
for stream, error in ((0, ValueError), (2, BufferError)):
    try:
        lent.__dlpack__(stream=stream)
    except error as raised:
        print(raised)
for options in ({"dl_device": (1, 0)}, {"copy": True}):
    try:
        lent.__dlpack__(**options)
    except BufferError as raised:
        print(raised)
"""
    printed = run(driver, code).splitlines()
    assert [line.split(";")[0] for line in printed] == [
        "stream 0 is ambiguous",
        "the per-thread default stream (2) is another one on the thread that releases the tensor",
        "this tensor is on cuda:0 and is not copied elsewhere",
        "headrace lends memory and makes no copies of it",
    ]


def test_epochs_and_states(driver):
    code = """
train = hr.Range(40, shuffle=True).batch(4).options(as_="dlpack").to_device("cuda:0")
for epoch in range(2):
    for array, batch in zip(hr.Range(40, shuffle=True).batch(4).iterate(epoch=epoch), train, strict=True):
        capsule, tensor = taken(batch["value"], 1)
        expect(1, tensor.data, array["value"])
        del capsule, batch
iterator = numbers()
next(iterator), next(iterator)
state = iterator.state()
iterator.close()
rest = numbers(state=state)
for array, batch in zip(expected[2:], rest, strict=True):
    capsule, tensor = taken(batch["value"], 1)
    expect(1, tensor.data, array)
    del capsule, batch
print("GB" in train.explain() or "GiB" in train.explain())
"""
    assert run(driver, code) == "True"


def test_tensors_may_live_to_the_end_of_the_process(driver):
    code = """
kept = [batch for batch in numbers()]
capsules = [taken(batch["value"], 1)[0] for batch in kept]
print(len(kept))
"""
    assert run(driver, code) == "10"


def test_numpy_has_no_arrays_there(driver):
    code = """
try:
    hr.Range(4).to_device("cuda:0").iterate()
except hr.UnsupportedError as error:
    print(error)
"""
    assert run(driver, code).startswith('NumPy has no arrays on cuda:0: iterate with as_="torch"')


def test_without_a_driver_the_error_says_so():
    code = """
import headrace as hr
try:
    hr.Range(4).to_device("cuda:0").iterate(as_="dlpack")
except hr.UnsupportedError as error:
    print(error)
"""
    # A machine with a GPU has one.
    printed = run_python(code).stdout
    assert printed == "" or printed.startswith("no CUDA device can be used: ")


@pytest.mark.parametrize(
    "kernels, mixing",
    [
        ("V.RandomHorizontalFlip(), V.RandomVerticalFlip(0.3), V.ToFloat(), V.RandomErasing(), V.HWC2CHW()", None),
        ("V.RandomHorizontalFlip(), V.ToFloat(), V.RandomErasing(), V.HWC2CHW()", "V.MixUp(num_classes=22)"),
        ("V.Normalize([124, 116, 104], [58, 57, 57]), V.HWC2CHW()", "V.CutMix(num_classes=22)"),
        ("V.ToFloat(), V.HWC2CHW()", "V.MixUp(num_classes=22, per='row')"),
        ("V.RandomHorizontalFlip(), V.ToFloat(), V.HWC2CHW()", "V.CutMix(num_classes=22, per='row')"),
        ("V.RandomResizedCrop((8, 6)), V.RandomHorizontalFlip(), V.ToFloat(), V.HWC2CHW()", "V.MixUp(num_classes=22)"),
        ("V.Resize((12, 9)), V.ToFloat()", None),
    ],
)
def test_images_are_finished_there_as_on_the_host(driver, kernels, mixing):
    code = f"""
from headrace import vision as V

rows = np.random.default_rng(0).integers(0, 256, (22, 9, 7, 3), np.uint8)
kernels = [{kernels}]
images = hr.Numpy({{"image": rows, "label": np.arange(22)}}, shuffle=True).map(kernels, "image").batch(4)
if {mixing}:
    images = images.map({mixing}, ["image", "label"])
steps = [type(kernel).__name__ for kernel in [*kernels, *([{mixing}] if {mixing} else [])]]
train = images.options(as_="dlpack").to_device("cuda:0")
for epoch in range(2):
    for array, batch in zip(images.iterate(epoch=epoch), train, strict=True):
        assert list(batch) == ["image", "label"]
        for name in batch:
            capsule, tensor = taken(batch[name], 1)
            assert tuple(tensor.shape[i] for i in range(tensor.ndim)) == array[name].shape
            expect(1, tensor.data, array[name])
        del capsule, batch
iterator = train.iterate()
there = [line for line in iterator.explain().splitlines() if "after the copy it does" in line]
# A build without NVIDIA's compiler does all steps on the host.
print(not there or there[0].strip() == "after the copy it does image: " + ", ".join(steps))
iterator.close()
print("a user's work read wrong bytes" in findings())
"""
    assert run(driver, code).splitlines() == ["True", "False"]


def test_a_map_that_asks_for_the_device_gets_it_or_is_refused(driver):
    code = """
from headrace import vision as V

rows = hr.Numpy({"image": np.zeros((8, 6, 5, 3), np.uint8)})

def asked(kernels, **options):
    given = rows.map(kernels, "image", device="cuda").batch(4).options(as_="dlpack").to_device("cuda:0")
    try:
        return given.explain(), given.iterate(**options).explain()
    except hr.UnsupportedError as error:
        return ("no kernels",) * 2 if "there are no kernels for the device" in str(error) else (str(error),) * 2
    except hr.GraphError as error:
        return (str(error),) * 2

for text in asked([V.RandomHorizontalFlip(), V.ToFloat(), V.HWC2CHW()]):
    print(text == "no kernels" or "after the copy it does image: RandomHorizontalFlip, ToFloat, HWC2CHW" in text)
text = asked([V.Invert(), V.RandomRotation(10), V.ToFloat()])[0]
print(text == "no kernels" or 'has device="cuda", and a device cannot do RandomRotation of image here' in text)
unoptimized = rows.map(V.RandomRotation(10), "image", device="cuda").batch(4).options(as_="dlpack", optimize=False)
print("after the copy" not in unoptimized.to_device("cuda:0").iterate().explain())
"""
    assert run(driver, code).splitlines() == ["True"] * 4


@pytest.mark.parametrize(
    "above", ['map(T.OneHot(24), "label").take(5)', 'map(V.MixUp(num_classes=24), ["image", "label"])']
)
def test_batches_that_others_pass_on_are_sent_from_where_they_were_made(driver, above):
    code = f"""
from headrace import transforms as T, vision as V

rows = np.random.default_rng(0).integers(0, 256, (24, 40, 40, 3), np.uint8)
images = hr.Numpy({{"image": rows, "label": np.arange(24)}}).map([V.ToFloat(), V.HWC2CHW()], "image").batch(4)
with images.{above}.to_device("cuda:0").iterate(as_="dlpack") as iterator:
    batches = sum(1 for _ in iterator)
    # Tables of values and labels may be copied twice.
    print(iterator.report()["device"]["staged_bytes"] < batches * rows[:4].nbytes)
"""
    assert run(driver, code) == "True"


def test_errors_of_mixing_there_name_the_kernel_that_was_written(driver):
    code = """
from headrace import vision as V

rows = {"image": np.zeros((4, 8, 8, 3), np.uint8), "label": np.arange(4)}
mixed = hr.Numpy(rows).map([V.ToFloat(), V.HWC2CHW()], "image").batch(4).map(V.MixUp(num_classes=3), ["image", "label"])
try:
    list(mixed.to_device("cuda:0").iterate(as_="dlpack"))
except hr.DataError as error:
    print(error.operator)
"""
    assert run(driver, code) == "map[3] MixUp"
