"""Batches on a real GPU of NVIDIA's: what torch, CuPy and JAX find there, when memory is used again, how runs end.

test_cuda.py runs the same backend over a driver for tests, on any machine. Skipped where there is no GPU.
"""

import gc
import queue
import re
import threading

import numpy as np
import pytest
from conftest import ROOT, eventually, pipeline_threads, run_python

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

pytestmark = pytest.mark.gpu

GPU = "cuda:0"
# Cycles of the GPU, about half a millisecond: much longer than a batch of these tests is on its way.
LONG = 1_000_000
ROW = 1 << 15
STEPS = 300


@pytest.fixture(scope="module", autouse=True)
def gpu():
    try:
        hr.Range(1).to_device(GPU).iterate(as_="dlpack").close()
    except hr.UnsupportedError as error:
        pytest.skip(str(error))


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("torch has no CUDA here")
    return module


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def jax(monkeypatch):
    # Else it takes most of the GPU's memory at once.
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    module = pytest.importorskip("jax")
    try:
        module.devices("gpu")
    except RuntimeError as error:
        pytest.skip(f"JAX has no GPU here: {error}")
    return module


def numbers(rows: int = 20) -> hr.Dataset:
    return hr.Range(rows, shuffle=True).batch(4)


def steps(count: int = STEPS) -> hr.Dataset:
    """Batches of 256 KiB, each of which holds its own number everywhere."""
    rows = np.repeat(np.arange(count, dtype=np.int64)[:, None], ROW, axis=1)
    return hr.Numpy({"x": rows}).batch(1)


def sums(count: int = STEPS) -> list[int]:
    return [ROW * step for step in range(count)]


def images(photos, normalized: bool) -> hr.Dataset:
    kernels = [V.Decode(), V.RandomResizedCrop(64), V.RandomHorizontalFlip()]
    if normalized:
        kernels += [V.Normalize([124.0, 116.0, 104.0], [58.0, 57.0, 57.0]), V.HWC2CHW()]
    return hr.ImageFolder(photos, shuffle=True).map(kernels, "image").batch(5)


def contents(torch, batches) -> list:
    """What batches of torch's tensors hold, on whatever device, to the last bit."""
    return [
        {name: (each.dtype, each.shape, each.cpu().view(torch.uint8).numpy().tobytes()) for name, each in batch.items()}
        for batch in batches
    ]


def lists(batches) -> list:
    return [batch["value"].tolist() for batch in batches]


# What arrives.


@pytest.mark.parametrize("executor", ["threads", "pull"])
@pytest.mark.parametrize("depth", [1, 2, 7])
def test_batches_are_those_of_a_run_without_it(torch, executor, depth):
    pipeline = numbers()
    there = pipeline.to_device(GPU, depth=depth)
    for epoch in range(3):
        expected = contents(torch, pipeline.iterate(epoch=epoch, as_="torch"))
        assert contents(torch, there.iterate(epoch=epoch, executor=executor, as_="torch")) == expected


def test_the_loop_advances_epochs(torch):
    pipeline = numbers().options(as_="torch")
    there = pipeline.to_device(GPU)
    for epoch in range(4):
        assert there.epoch == epoch
        assert lists(there) == lists(pipeline.iterate(epoch=epoch))


DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("batched", [True, False])
def test_every_dtype(torch, batched):
    random = np.random.default_rng(5)
    table = {dtype: random.integers(0, 120, (12, 3, 5)).astype(dtype) for dtype in DTYPES}
    table["empty"] = np.zeros((12, 0, 2), np.float32)
    rows = hr.Numpy(table).batch(5) if batched else hr.Numpy(table)
    expected = contents(torch, rows.iterate(as_="torch"))
    assert contents(torch, rows.to_device(GPU).iterate(as_="torch")) == expected
    assert [each[0] for each in expected[0].values()] == [getattr(torch, dtype) for dtype in [*DTYPES, "float32"]]


def test_bfloat16(torch):
    halves = hr.Range(40).map(T.TypeCast("bfloat16"), "value").batch(7)
    expected = contents(torch, halves.iterate(as_="torch"))
    assert contents(torch, halves.to_device(GPU).iterate(as_="torch")) == expected
    assert expected[0]["value"][0] == torch.bfloat16


def test_texts_and_bytes_stay_on_the_host(torch):
    table = {"x": np.arange(4.0), "s": np.array(["a", "b", "c", "d"]), "b": np.array([b"1", b"", b"22", b"3"], object)}
    given = list(hr.Numpy(table).batch(2).to_device(GPU).iterate(as_="torch"))
    assert [batch["s"].tolist() for batch in given] == [["a", "b"], ["c", "d"]]
    assert [batch["b"].tolist() for batch in given] == [[b"1", b""], [b"22", b"3"]]
    assert all(batch["x"].is_cuda for batch in given)


# What is drawn is drawn on the host, and done on the GPU.
@pytest.mark.parametrize("size", [64, 45])
@pytest.mark.parametrize("mixing", [V.MixUp(num_classes=4), V.CutMix(num_classes=4), None])
def test_augmented_images(torch, photos, size, mixing):
    kernels = [V.Decode(), V.RandomResizedCrop(size), V.RandomHorizontalFlip(), V.RandomVerticalFlip()]
    kernels += [V.Normalize([124.0, 116.0, 104.0], [58.0, 57.0, 57.0]), V.RandomErasing(), V.HWC2CHW()]
    pipeline = hr.ImageFolder(photos, shuffle=True).map(kernels, "image").batch(5)
    if mixing is not None:
        pipeline = pipeline.map(mixing, ["image", "label"])
    for epoch in range(2):
        with pipeline.to_device(GPU).iterate(epoch=epoch, as_="torch") as iterator:
            found = contents(torch, iterator)
            steps = iterator.report()["device"]["steps"]
        assert found == contents(torch, pipeline.iterate(epoch=epoch, as_="torch"))
        assert steps == "" or "RandomVerticalFlip, Normalize, RandomErasing, HWC2CHW" in steps


@pytest.mark.parametrize("size", [(48, 64), (45, 37)])
@pytest.mark.parametrize("mixing", [V.MixUp(num_classes=40), None])
def test_resized_images(torch, size, mixing):
    rows = np.random.default_rng(5).integers(0, 256, (40, 60, 70, 3), np.uint8)
    for resizes in (V.RandomResizedCrop(size), V.Resize(size, interpolation="bicubic")):
        kernels = [
            resizes,
            V.RandomHorizontalFlip(),
            V.Normalize([124.0, 116.0, 104.0], [58.0, 57.0, 57.0]),
            V.HWC2CHW(),
        ]
        pipeline = hr.Numpy({"image": rows, "label": np.arange(40)}).map(kernels, "image").batch(8)
        if mixing is not None:
            pipeline = pipeline.map(mixing, ["image", "label"])
        expected = contents(torch, pipeline.iterate(epoch=1, as_="torch"))
        assert contents(torch, pipeline.to_device(GPU).iterate(epoch=1, as_="torch")) == expected


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_images(torch, photos, normalized, executor):
    pipeline = images(photos, normalized)
    there = pipeline.to_device(GPU, depth=2)
    for epoch in range(3):
        expected = contents(torch, pipeline.iterate(epoch=epoch, as_="torch"))
        assert contents(torch, there.iterate(epoch=epoch, executor=executor, as_="torch")) == expected
    assert expected[0]["image"][0] == (torch.float32 if normalized else torch.uint8)


def test_batches_of_64_mebibytes(torch):
    table = np.random.default_rng(1).integers(0, 256, (12, 16 << 20), np.uint8)
    there = hr.Numpy(table).batch(4).to_device(GPU, depth=1).iterate(as_="torch")
    for step, batch in enumerate(there):
        assert np.array_equal(batch["data"].cpu().numpy(), table[4 * step : 4 * step + 4])


def test_functions_of_the_user(torch):
    pipeline = hr.Range(40, shuffle=True).map(lambda value: value * 3, "value").batch(4)
    for epoch in range(2):
        expected = lists(pipeline.iterate(epoch=epoch))
        assert lists(pipeline.to_device(GPU).iterate(epoch=epoch, as_="torch")) == expected


def test_an_error_comes_after_the_batches_before_it(torch):
    def refuse(value):
        if value == 9:
            raise ValueError("no nine")
        return value

    iterator = hr.Range(20).map(refuse, "value").batch(4).to_device(GPU, depth=5).iterate(as_="torch")
    assert [next(iterator)["value"].tolist() for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    for _ in range(2):
        with pytest.raises(hr.FunctionError, match="no nine"):
            next(iterator)


@pytest.mark.parametrize("depth", [1, 4])
def test_states_resume_at_every_step(torch, depth):
    pipeline = numbers().to_device(GPU, depth=depth).options(as_="torch")
    expected = lists(pipeline.iterate(epoch=1))
    for step in range(6):
        with pipeline.iterate(epoch=1) as iterator:
            done = [next(iterator)["value"].tolist() for _ in range(min(step, 5))]
            state = iterator.state()
        assert done + lists(pipeline.iterate(state=state)) == expected
        assert done + lists(numbers().iterate(state=state)) == expected


def test_states_of_images_resume_at_every_step(torch, photos):
    pipeline = images(photos, normalized=True).to_device(GPU).options(as_="torch")
    expected = contents(torch, pipeline.iterate(epoch=2))
    for step in range(len(expected)):
        with pipeline.iterate(epoch=2) as iterator:
            done = contents(torch, [next(iterator) for _ in range(step)])
            state = iterator.state()
        assert done + contents(torch, pipeline.iterate(state=state)) == expected


def test_a_loader_of_torchs_kind(torch):
    from headrace.torch import Loader

    pipeline = hr.Numpy({"x": np.arange(24.0, dtype=np.float32).reshape(12, 2), "y": np.arange(12)}).batch(4)
    host = [{name: each.tolist() for name, each in batch.items()} for batch in Loader(pipeline)]
    for device in (GPU, "cuda", torch.device(GPU)):
        there = list(Loader(pipeline, device=device))
        assert all(each.device == torch.device(GPU) for batch in there for each in batch.values())
        assert [{name: each.tolist() for name, each in batch.items()} for batch in there] == host


# Whose memory it is.


def test_tensors_share_the_memory_of_the_queue(torch):
    pairs = hr.Numpy({"x": np.arange(600.0), "y": np.arange(600)}).batch(100).to_device(GPU)
    iterator = pairs.iterate(as_="dlpack")
    gc.collect()
    before = torch.cuda.memory_allocated()
    for batch in iterator:
        lent = batch["x"]
        first, second = torch.from_dlpack(lent), torch.from_dlpack(lent)
        assert first.device == torch.device(GPU) and lent.__dlpack_device__() == (2, 0)
        assert first.data_ptr() == second.data_ptr() == lent.__cuda_array_interface__["data"][0]
        # Columns lie side by side, in the buffer of their batch.
        buffers = iterator.report()["device"]
        distance = abs(first.data_ptr() - torch.from_dlpack(batch["y"]).data_ptr())
        assert 800 <= distance < buffers["buffer_bytes"] // buffers["buffers"]
    # torch has allocated nothing: there are no copies.
    assert torch.cuda.memory_allocated() == before


def test_tensors_may_be_written_to(torch):
    for step, batch in enumerate(hr.Range(400).batch(10).to_device(GPU, depth=2).iterate(as_="torch")):
        batch["value"] += 1
        assert batch["value"].tolist() == list(range(10 * step + 1, 10 * step + 11))


def test_kept_tensors_are_never_overwritten(torch):
    iterator = steps().to_device(GPU, depth=2).iterate(as_="torch")
    kept = [batch["x"] for batch in iterator]
    assert iterator.report()["device"]["buffers"] >= STEPS
    del iterator
    gc.collect()
    assert torch.stack([each.sum() for each in kept]).tolist() == sums()
    assert len({each.data_ptr() for each in kept}) == STEPS


def test_some_kept_and_some_let_go(torch):
    kept = []
    for step, batch in enumerate(steps().to_device(GPU, depth=2).iterate(as_="torch")):
        if step % 7 == 3:
            kept.append(batch["x"])
        else:
            batch["x"].fill_(-1)
        del batch
    assert torch.stack([each.sum() for each in kept]).tolist() == sums()[3::7]


def test_one_column_keeps_the_memory_of_its_batch(torch):
    pairs = hr.Numpy({"x": np.arange(60), "y": np.arange(60) * 2}).batch(3).to_device(GPU, depth=1)
    kept = [batch["y"] for batch in pairs.iterate(as_="torch")]
    assert torch.cat(kept).tolist() == (np.arange(60) * 2).tolist()


def test_more_than_the_budget_is_an_error(torch):
    pipeline = steps(40).to_device(GPU, memory=8 * ROW * 8)
    kept = []
    with pytest.raises(hr.ResourceError, match=r"the loop keeps \d+ batches on cuda:0.*let go of batches") as caught:
        for batch in pipeline.iterate(as_="torch"):
            kept.append(batch["x"])
    assert caught.value.operator == f'to_device("{GPU}")'
    told = re.search(r"keeps (\d+) batches", str(caught.value))
    assert told is not None and int(told[1]) == len(kept) == 8
    del batch
    assert torch.stack([each.sum() for each in kept]).tolist() == sums(8)
    kept.clear()
    assert [int(batch["x"].sum()) for batch in pipeline.iterate(as_="torch")] == sums(40)


def test_memory_of_the_gpu_is_given_back(torch):
    def free() -> int:
        return torch.cuda.mem_get_info()[0]

    rows = hr.Numpy(np.zeros((24, 16 << 20), np.uint8)).batch(1).to_device(GPU, depth=3)
    rows.iterate(as_="torch").close()
    before = free()
    iterator = rows.iterate(as_="torch")
    kept = [next(iterator) for _ in range(4)]
    assert free() <= before - (64 << 20)
    iterator.close()
    kept.clear()
    gc.collect()
    assert eventually(lambda: free() >= before - (8 << 20))


# When memory is used again. Work that reads a batch is queued behind a long kernel, and the batch is let go before that
# kernel has even begun: a copy into its memory that did not wait would change the sum.


@pytest.mark.parametrize("depth", [1, 2])
def test_reuse_waits_for_the_stream_that_took_the_batch(torch, depth):
    found = []
    for batch in steps().to_device(GPU, depth=depth).iterate(as_="torch"):
        torch.cuda._sleep(LONG)
        found.append(batch["x"].sum())
        del batch
    assert torch.stack(found).tolist() == sums()


@pytest.mark.parametrize("depth", [1, 2])
def test_reuse_waits_for_a_side_stream_that_took_the_batch(torch, depth):
    side = torch.cuda.Stream()
    found = []
    with torch.cuda.stream(side):
        for batch in steps().to_device(GPU, depth=depth).iterate(as_="torch"):
            torch.cuda._sleep(LONG)
            found.append(batch["x"].sum())
            del batch
        assert torch.stack(found).tolist() == sums()


@pytest.mark.parametrize("depth", [1, 2])
def test_reuse_waits_for_recorded_streams(torch, depth):
    side = torch.cuda.Stream()
    found = []
    for batch in steps().to_device(GPU, depth=depth).iterate(as_="torch"):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(LONG)
            found.append(batch["x"].sum())
        batch.record_stream(side)
        del batch
    side.synchronize()
    assert torch.stack(found).tolist() == sums()


def test_reuse_waits_for_all_streams_where_none_is_known(torch):
    side = torch.cuda.Stream()
    found = []
    for batch in steps(60).to_device(GPU, depth=1).iterate(as_="dlpack"):
        # The batch is there, whichever stream looks.
        tensor = torch.from_dlpack(batch["x"].__dlpack__(stream=-1))
        with torch.cuda.stream(side):
            torch.cuda._sleep(LONG)
            found.append(tensor.sum())
        del batch, tensor
    side.synchronize()
    assert torch.stack(found).tolist() == sums(60)


def test_reuse_waits_when_another_thread_lets_batches_go(torch):
    given: queue.Queue = queue.Queue()

    def let_go() -> None:
        while given.get() is not None:
            pass

    thread = threading.Thread(target=let_go)
    thread.start()
    found = []
    for batch in steps().to_device(GPU, depth=2, memory=1 << 30).iterate(as_="torch"):
        torch.cuda._sleep(LONG)
        found.append(batch["x"].sum())
        given.put(batch)
        del batch
    given.put(None)
    thread.join()
    assert torch.stack(found).tolist() == sums()


def test_work_on_the_taking_stream_finds_the_batch_there(torch):
    rows = np.repeat(np.arange(30, dtype=np.uint8)[:, None], 8 << 20, axis=1)
    iterator = hr.Numpy(rows).batch(1).to_device(GPU, depth=1).iterate(as_="torch")
    found = [batch["data"].sum(dtype=torch.int64) for batch in iterator]
    assert torch.stack(found).tolist() == [step * (8 << 20) for step in range(30)]


# DLPack and the other libraries.


@pytest.mark.parametrize("stream", [None, 1, -1, "own"])
def test_dlpack_on_the_streams_that_there_are(torch, stream):
    own = torch.cuda.Stream()
    number = own.cuda_stream if stream == "own" else stream
    expected = lists(numbers(200).iterate())
    found = []
    with torch.cuda.stream(own if stream in ("own", -1) else torch.cuda.default_stream()):
        for batch in numbers(200).to_device(GPU, depth=1).iterate(as_="dlpack"):
            tensor = torch.from_dlpack(batch["value"].__dlpack__(stream=number))
            assert tensor.device == torch.device(GPU)
            found.append(tensor.clone())
            del batch, tensor
        assert [each.tolist() for each in found] == expected


def test_dlpack_refuses_streams_that_cannot_be_waited_for():
    lent = next(numbers().to_device(GPU).iterate(as_="dlpack"))["value"]
    with pytest.raises(ValueError, match="stream 0 is ambiguous"):
        lent.__dlpack__(stream=0)
    with pytest.raises(BufferError, match="per-thread default stream"):
        lent.__dlpack__(stream=2)


def test_numpy_is_refused():
    with pytest.raises(hr.UnsupportedError, match="NumPy has no arrays on cuda:0"):
        numbers().to_device(GPU).iterate()


def test_cupy_by_the_cuda_array_interface(cupy):
    table = {dtype: np.arange(60).reshape(20, 3).astype(dtype) for dtype in DTYPES}
    host = list(hr.Numpy(table).batch(4).iterate())
    for expected, batch in zip(host, hr.Numpy(table).batch(4).to_device(GPU).iterate(as_="dlpack"), strict=True):
        for name, lent in batch.items():
            array = cupy.asarray(lent)
            assert array.data.ptr == lent.__cuda_array_interface__["data"][0]
            assert array.dtype == name and np.array_equal(cupy.asnumpy(array), expected[name])


def test_cupy_by_dlpack(cupy):
    expected = lists(numbers().iterate())
    found = []
    for batch in numbers().to_device(GPU, depth=1).iterate(as_="dlpack"):
        array = cupy.from_dlpack(batch["value"])
        found.append(array.copy())
        del batch, array
    assert [cupy.asnumpy(each).tolist() for each in found] == expected


@pytest.mark.parametrize("way", ["asarray", "from_dlpack"])
def test_reuse_waits_for_cupy(torch, cupy, way):
    found = []
    for batch in steps(60).to_device(GPU, depth=1).iterate(as_="dlpack"):
        array = getattr(cupy, way)(batch["x"])
        torch.cuda._sleep(LONG)
        # On the same stream, the legacy default one.
        found.append(array.copy())
        del batch, array
    assert [int(cupy.asnumpy(each).sum()) for each in found] == sums(60)


def test_bfloat16_has_no_cuda_array_interface():
    halves = hr.Range(4).map(T.TypeCast("bfloat16"), "value").batch(2).to_device(GPU)
    lent = next(halves.iterate(as_="dlpack"))["value"]
    assert not hasattr(lent, "__cuda_array_interface__")


def test_jax(jax):
    rows = np.random.default_rng(3).random((40, 16), np.float32)
    kept = []
    for step, batch in enumerate(hr.Numpy(rows).batch(4).to_device(GPU, depth=2).iterate(as_="dlpack")):
        array = jax.dlpack.from_dlpack(batch["data"])
        assert array.devices() == {jax.devices("gpu")[0]}
        assert np.array_equal(np.asarray(array), rows[4 * step : 4 * step + 4])
        kept.append(array)
    assert np.array_equal(np.concatenate([np.asarray(each) for each in kept]), rows)


def test_reuse_waits_for_jax(jax):
    rows = np.repeat(np.arange(100, dtype=np.float32)[:, None], 1 << 16, axis=1)
    weights = jax.numpy.ones((2048, 2048), np.float32)

    @jax.jit
    def late(array, weights):
        for _ in range(4):
            weights = weights @ weights * 0.0 + 1.0
        return array.max() * weights[0, 0], array.min() * weights[0, 0]

    found = []
    for batch in hr.Numpy(rows).batch(1).to_device(GPU, depth=1).iterate(as_="dlpack"):
        found.append(late(jax.dlpack.from_dlpack(batch["data"]), weights))
        del batch
    assert [(float(low), float(high)) for high, low in found] == [(step, step) for step in range(100)]


# Graphs, training, several at once.


def test_batches_come_and_go_while_a_graph_is_captured(torch):
    iterator = steps(40).to_device(GPU, depth=2).iterate(as_="torch")
    static = torch.zeros(1, ROW, dtype=torch.int64, device=GPU)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        (static * 2).sum()
    side.synchronize()
    before = next(iterator)["x"]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # Taken over, let go, and used within the capture.
        inside = next(iterator)["x"]
        del before
        result = (static * 2).sum() + inside.sum()
        passing = next(iterator)["x"]
        del passing
    found = []
    for batch in iterator:
        static.copy_(batch["x"])
        graph.replay()
        found.append(result.clone())
        del batch
    # The memory of the graph's input is kept as long as the graph is used.
    assert torch.stack(found).tolist() == [2 * each + ROW for each in sums(40)[3:]]
    assert int(inside.sum()) == ROW


def losses(torch, batches) -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1, dtype=torch.float64).to(GPU)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    found = []
    for batch in batches:
        loss = torch.nn.functional.mse_loss(model(batch["x"].to(GPU)), batch["y"].to(GPU))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
        del batch, loss
    return torch.stack(found).tolist()


@pytest.mark.parametrize("depth", [1, 3])
def test_a_training_loop_reaches_the_loss_of_host_batches(torch, depth):
    x = np.random.default_rng(2).standard_normal((4000, 8))
    pairs = hr.Numpy({"x": x, "y": x @ np.arange(8.0)[:, None] + 1}, shuffle=True).batch(20).options(as_="torch")
    expected = losses(torch, pairs.iterate(epoch=0))
    assert losses(torch, pairs.to_device(GPU, depth=depth).iterate(epoch=0)) == pytest.approx(expected, rel=1e-9)
    assert expected[-1] < expected[0] / 10


def test_two_iterators_at_once(torch):
    first = steps(50).to_device(GPU, depth=1).iterate(as_="torch")
    second = numbers(200).to_device(GPU, depth=2).iterate(as_="torch")
    expected = lists(numbers(200).iterate())
    for step, (large, small) in enumerate(zip(first, second, strict=True)):
        assert int(large["x"].sum()) == ROW * step
        assert small["value"].tolist() == expected[step]


# Ends, and what is said.


def test_closing_in_mid_epoch(torch):
    before = len(pipeline_threads())
    iterator = steps().to_device(GPU).iterate(as_="torch")
    kept = [next(iterator)["x"] for _ in range(5)]
    assert "headrace-device" in pipeline_threads()
    iterator.close()
    assert eventually(lambda: len(pipeline_threads()) <= before)
    assert torch.stack([each.sum() for each in kept]).tolist() == sums(5)
    with pytest.raises(hr.ClosedError):
        next(iterator)


def test_many_runs_one_after_another(torch):
    for step in range(30):
        iterator = numbers(400).to_device(GPU, depth=1 + step % 3).iterate(as_="torch")
        for _ in range(step):
            next(iterator)
        iterator.close()
    assert lists(numbers(400).to_device(GPU).iterate(as_="torch")) == lists(numbers(400).iterate())


def exits_in_mid_epoch(as_: str) -> None:
    code = f"""
import headrace as hr
iterator = iter(hr.Range(1_000_000).batch(10).to_device("{GPU}").options(as_="{as_}"))
kept = [next(iterator) for _ in range(3)]
print("done")
"""
    ended = run_python(code)
    assert (ended.returncode, ended.stdout.strip()) == (0, "done"), ended.stderr


def test_the_process_ends_in_mid_epoch():
    exits_in_mid_epoch("dlpack")


def test_the_process_ends_in_mid_epoch_with_torch(torch):
    exits_in_mid_epoch("torch")


def test_a_forked_child_gets_a_clear_error():
    code = f"""
import os
import headrace as hr
numbers = hr.Range(40).batch(4).to_device("{GPU}")
iterator = numbers.iterate(as_="dlpack", executor="pull")
next(iterator)
child = os.fork()
if child == 0:
    try:
        numbers.iterate(as_="dlpack", executor="pull")
    except hr.UnsupportedError as error:
        print(error, flush=True)
    os._exit(0)
_, status = os.waitpid(child, 0)
print(status, len([batch for batch in iterator]))
"""
    told, rest = run_python(code).stdout.splitlines()
    assert told.startswith("this process was forked after CUDA or Headrace's threads had started")
    assert rest == "0 9"


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(hr.UnsupportedError, match="99"):
        hr.Range(4).to_device("cuda:99").iterate(as_="dlpack")


def test_explain_says_that_batches_lie_in_page_locked_memory(torch, photos):
    pipeline = images(photos, normalized=True).to_device(GPU)
    assert "sent from page-locked memory" in pipeline.explain()
    with pipeline.iterate(as_="torch") as iterator:
        count = len(list(iterator))
        text, report = iterator.explain(), iterator.report()["device"]
    assert f"device {GPU}: {count} batches sent" in text
    # Labels lie in the memory of the source, and the table of the normalisation is copied there once.
    assert report["name"] == GPU and report["staged_bytes"] < 8192


# JPEGs decoded by nvJPEG.


@pytest.fixture
def nvjpeg(photos):
    decode = V.Decode(decoder="nvjpeg")
    try:
        decode((photos / "things/coffee.jpg").read_bytes())
    except hr.UnsupportedError as error:
        pytest.skip(str(error))
    return decode


def distance(image, other) -> float:
    assert image.shape == other.shape
    return float(np.abs(image.astype(np.int32) - other).mean())


def test_nvjpegs_photos_are_nearly_the_cpus(nvjpeg, photos):
    files = sorted(photos.glob("*/*.jpg"))
    distances = {}
    for file in files:
        encoded = file.read_bytes()
        distances[file.name] = distance(nvjpeg(encoded), V.Decode()(encoded))
    print(distances)
    assert max(distances.values()) < 2
    # Else the CPU has decoded them.
    assert sum(each > 0 for each in distances.values()) > len(files) // 2


KINDS_OF_JPEG = ["baseline_420", "baseline_422", "baseline_444", "progressive", "restarts", "grey", "orientation_6"]


@pytest.mark.parametrize("kind", KINDS_OF_JPEG)
@pytest.mark.parametrize("options", [{}, {"mode": "L"}, {"mode": "unchanged"}, {"orientation": True}])
def test_nvjpegs_images_of_every_kind_are_nearly_the_cpus(nvjpeg, kind, options):
    encoded = (ROOT / f"kernels/testdata/{kind}.jpg").read_bytes()
    expected = V.Decode(**options)(encoded)
    assert distance(V.Decode(decoder="nvjpeg", **options)(encoded), expected) < 3


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (8, 8), (17, 5), (2, 3000), (3001, 2), (4500, 4000)])
@pytest.mark.parametrize("channels", [1, 3])
def test_nvjpegs_images_of_any_size_are_nearly_the_cpus(nvjpeg, size, channels):
    rows, columns = np.indices(size)
    image = ((rows[..., None] // 3 + columns[..., None] // 5 + 40 * np.arange(channels)) % 256).astype(np.uint8)
    encoded = V.EncodeJpeg()(image)
    for _ in range(2):
        decoded = V.Decode(mode="unchanged", decoder="nvjpeg")(encoded)
        assert distance(decoded, V.Decode(mode="unchanged")(encoded)) < 3


def test_nvjpegs_pixels_depend_on_no_thread(nvjpeg, photos):
    # Small and large ones in turn, so that their memory is used again.
    kinds = [(ROOT / f"kernels/testdata/{kind}.jpg").read_bytes() for kind in KINDS_OF_JPEG]
    files = [file.read_bytes() for file in sorted(photos.glob("*/*.jpg"))] + kinds
    expected = {encoded: nvjpeg(encoded).tobytes() for encoded in files}
    rows = hr.Numpy({"of": np.arange(len(files)), "image": np.array(files, dtype=object)}, shuffle=True)
    rows = rows.map(nvjpeg, "image").repeat(20)
    for options in ({"workers": 1}, {"workers": 16}, {"executor": "pull"}):
        for row in rows.iterate(**options):
            assert row["image"].tobytes() == expected[files[int(row["of"])]]


DAMAGED = """
import glob, random, sys
import headrace as hr
from headrace import vision as V

decode, on_cpu = V.Decode(decoder="nvjpeg"), V.Decode()
others = [open(name, "rb").read() for name in sorted(glob.glob(sys.argv[1] + "/*/*.jpg"))[:3]]
draw = random.Random(1)


def outcome(kernel, encoded):
    try:
        return kernel(encoded).tobytes()
    except hr.DataError as error:
        return str(error)


counts = dict.fromkeys(("same on every try", "of the cpu", "errors"), 0)
for name in sys.argv[2:]:
    whole = open(name, "rb").read()
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(draw.choice([1, 1, 3, 20])):
            damaged[draw.randrange(len(whole) // 3, len(whole) - 2)] = draw.randrange(256)
        damaged = bytes(damaged)
        first = outcome(decode, damaged)
        for other in others:
            decode(other)
            counts["same on every try"] += outcome(decode, damaged) == first
        counts["of the cpu"] += first == outcome(on_cpu, damaged)
        counts["errors"] += isinstance(first, str)
print(counts)
assert counts["same on every try"] == 60 * len(others) * len(sys.argv[2:]), "the last image shows through"
"""


def test_nvjpegs_damaged_images_are_always_the_same(nvjpeg, photos):
    kinds = [str(ROOT / f"kernels/testdata/{kind}.jpg") for kind in KINDS_OF_JPEG]
    done = run_python(DAMAGED, str(photos), *kinds, timeout=120)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nvjpeg_keeps_no_more_memory_with_time(nvjpeg, torch, photos):
    rows = hr.ImageFolder(photos, shuffle=True).map(nvjpeg, "image")

    def taken_after(epochs: int) -> int:
        for epoch in range(epochs):
            for _ in rows.iterate(epoch=epoch, workers=4):
                pass
        return torch.cuda.mem_get_info()[0]

    first = taken_after(5)
    assert taken_after(30) >= first - (64 << 20)
