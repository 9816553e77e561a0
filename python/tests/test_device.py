"""Batches that end on a device, here the host as a device: order, epochs, states, memory, errors, ends."""

import contextlib
import gc
import pathlib
import types

import numpy as np
import pytest
from conftest import eventually, pipeline_threads, run_python

import headrace as hr
from headrace import vision as V


def numbers(rows: int = 20) -> hr.Dataset:
    return hr.Range(rows, shuffle=True).batch(4)


def lists(batches) -> list:
    return [batch["value"].tolist() for batch in batches]


@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_batches_are_those_of_a_run_without_it(executor):
    pipeline = numbers()
    on_device = pipeline.to_device("cpu:0", depth=2)
    for epoch in range(3):
        expected = lists(pipeline.iterate(epoch=epoch))
        assert lists(on_device.iterate(epoch=epoch, executor=executor)) == expected


def queue_threads() -> set[str]:
    """The ids of the threads that send batches to a device."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            if (task / "comm").read_text() == "headrace-device\n":
                found.add(task.name)
    return found


def test_the_loop_advances_epochs_and_keeps_the_engine():
    gc.collect()
    pipeline = numbers()
    on_device = pipeline.to_device("cpu")
    before, after = queue_threads(), []
    for epoch in range(3):
        assert on_device.epoch == epoch
        assert lists(on_device) == lists(pipeline.iterate(epoch=epoch))
        after.append(queue_threads() - before)
    assert len(after[0]) == 1 and after == [after[0]] * 3


def test_a_state_is_the_position_of_the_loop():
    pipeline = numbers().to_device("cpu:0", depth=4)
    expected = lists(pipeline.iterate(epoch=1))
    for step in range(6):
        with pipeline.iterate(epoch=1) as iterator:
            done = [next(iterator)["value"].tolist() for _ in range(min(step, 5))]
            state = iterator.state()
        assert done + lists(pipeline.iterate(state=state)) == expected
        # Where batches end is no part of a state.
        assert done + lists(numbers().iterate(state=state)) == expected


def test_arrays_are_written_to_kept_and_never_reused_while_they_live():
    kept = []
    for batch in hr.Range(400).batch(10).to_device("cpu:0", depth=2):
        assert batch["value"].flags.writeable
        if len(kept) < 15:
            kept.append(batch["value"])
        else:
            batch["value"][:] = -1
    gc.collect()
    assert [each.tolist() for each in kept] == [list(range(10 * i, 10 * i + 10)) for i in range(15)]


def test_one_column_of_a_batch_keeps_its_memory():
    pairs = hr.Numpy({"x": np.arange(60), "y": np.arange(60) * 2}).batch(3).to_device("cpu:0", depth=1)
    kept = [batch["y"] for batch in pairs]
    assert np.array_equal(np.concatenate(kept), np.arange(60) * 2)


def test_a_loop_that_keeps_more_than_the_budget_gets_an_error_that_says_so():
    pipeline = hr.Range(10_000).batch(100).to_device("cpu:0", memory=8 * 1024)
    kept = []
    with pytest.raises(hr.ResourceError, match=r"the loop keeps 8 batches on cpu:0.*let go of batches") as caught:
        for batch in pipeline:
            kept.append(batch["value"])
    assert len(kept) == 8 and caught.value.operator == 'to_device("cpu:0")'
    assert [each[0] for each in kept] == [100 * i for i in range(8)]
    kept.clear()
    assert len(lists(pipeline.iterate(epoch=0))) == 100


def test_a_loop_that_keeps_a_single_batch_is_told_so():
    kept = []
    with pytest.raises(hr.ResourceError, match=r"the loop keeps 1 batch on cpu:0, and"):
        for batch in hr.Range(1000).batch(100).to_device("cpu:0", memory=1024):
            kept.append(batch["value"])


@pytest.mark.parametrize("wrong", [0, None, types.SimpleNamespace(type="cuda", index=0)])
def test_what_is_no_name_of_a_device_is_told_one(wrong):
    with pytest.raises(hr.GraphError, match='to_device: device is .*; it must be a text, such as "cuda:0"') as raised:
        hr.Range(4).to_device(wrong)
    # As torch.device has them.
    assert ("give str() of it" in str(raised.value)) == isinstance(wrong, types.SimpleNamespace)


def test_bytes_and_texts_stay_as_they_are():
    table = {"x": np.arange(4.0), "s": np.array(["a", "b", "c", "d"]), "b": np.array([b"1", b"", b"22", b"3"], object)}
    for batch in hr.Numpy(table).batch(2).to_device("cpu:0"):
        assert batch["s"].dtype == object and batch["b"].dtype == object
    texts = hr.Numpy({"s": table["s"]}).batch(2).to_device("cpu:0")
    assert [batch["s"].tolist() for batch in texts] == [["a", "b"], ["c", "d"]]


def test_rows_and_empty_arrays():
    rows = hr.Numpy({"x": np.zeros((3, 0, 2), np.float32), "y": np.arange(3)}).to_device("cpu:0")
    assert [(row["x"].shape, int(row["y"])) for row in rows] == [((0, 2), 0), ((0, 2), 1), ((0, 2), 2)]


def test_an_error_comes_after_the_batches_before_it():
    refused = [9]

    def refuse(value):
        if value in refused:
            raise ValueError("no nine")
        return value

    pipeline = hr.Range(20).map(refuse, "value").batch(4).to_device("cpu:0", depth=5)
    iterator = pipeline.iterate()
    assert [next(iterator)["value"].tolist() for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    for _ in range(2):
        with pytest.raises(hr.FunctionError, match="no nine"):
            next(iterator)
    state = iterator.state()
    refused.clear()
    assert lists(pipeline.iterate(state=state)) == [list(range(i, i + 4)) for i in (8, 12, 16)]


def test_functions_are_called_for_no_epoch_that_was_not_asked_for():
    seen = []

    def note(value):
        seen.append(int(value))
        return value

    pipeline = hr.Range(6).map(note, "value").batch(2).to_device("cpu:0", depth=8)
    for epoch in range(3):
        assert lists(pipeline) == [[0, 1], [2, 3], [4, 5]]
        assert len(seen) == 6 * (epoch + 1)


def test_a_map_may_ask_for_a_device_of_another_machine():
    rows = hr.Numpy({"image": np.zeros((4, 2, 2, 3), np.uint8)})
    plain, asked = (rows.map(V.ToFloat(), "image", device=device) for device in (None, "cuda"))
    assert plain._graph().hash == asked._graph().hash
    for there in (asked, asked.batch(2).to_device("cpu:0")):
        with there.iterate() as iterator:
            assert all(row["image"].dtype == np.float32 for row in iterator)
    with pytest.raises(hr.GraphError, match="map: device is 'gpu'; it must be 'cuda'"):
        rows.map(V.ToFloat(), "image", device="gpu")
    with pytest.raises(hr.GraphError, match="map: Python functions run on the host"):
        rows.map(lambda image: image, "image", device="cuda")
    with pytest.raises(hr.GraphError, match="map: masks, boxes and keypoints are moved on the host"):
        rows.map(V.HorizontalFlip(), ["image", hr.boxes("boxes")], device="cuda")


def test_dlpack():
    for batch in hr.Range(8).batch(4).to_device("cpu:0").iterate(as_="dlpack"):
        assert batch["value"].__dlpack_device__() == (1, 0)
        array = np.from_dlpack(batch["value"])
        del batch
        gc.collect()
        assert array.tolist() in ([0, 1, 2, 3], [4, 5, 6, 7])


@pytest.mark.torch
def test_jax_takes_batches_without_a_copy():
    jax = pytest.importorskip("jax")
    for number, batch in enumerate(hr.Range(8).batch(4).to_device("cpu:0").iterate(as_="dlpack")):
        array = jax.dlpack.from_dlpack(batch["value"], copy=False)
        del batch
        gc.collect()
        assert array.tolist() == list(range(4 * number, 4 * number + 4))


@pytest.mark.parametrize("as_", ["numpy", "dlpack"])
def test_a_loop_that_names_streams_runs_in_host_memory_too(as_):
    batches = hr.Range(8).batch(4).to_device("cpu:0").iterate(as_=as_)
    for batch in batches:
        for stream in (1, 7, types.SimpleNamespace(cuda_stream=7, device=types.SimpleNamespace(index=1))):
            batch.record_stream(stream)
        assert isinstance(batch, dict) and list(batch) == ["value"]


def test_derived_and_joined_datasets_inherit_it():
    first = hr.Range(4).to_device("cpu:0", depth=2)
    assert "device: cpu:0, up to 2 batches ahead, sent from plain memory" in first.batch(2).explain()
    pulled = first.options(executor="pull").explain()
    assert "device: cpu:0, one at a time, sent from plain memory" in pulled
    assert "device: cpu:0" in first.zip(hr.Range(4).rename({"value": "other"})).explain()
    with pytest.raises(hr.GraphError, match="different options: device_depth"):
        first.concat(hr.Range(4).to_device("cpu:0", depth=3))


def test_explain_says_what_was_sent_and_who_waited():
    pipeline = hr.Range(4000).batch(1000).to_device("cpu:0")
    lists(pipeline.iterate())
    text = pipeline.explain()
    assert "device cpu:0: 4 batches sent, 31.2 KiB" in text
    assert "the loop waited" in text and "its thread copied for" in text
    with pipeline.iterate() as iterator:
        next(iterator)
        device = iterator.report()["device"]
    assert device["name"] == "cpu:0" and device["depth"] == 3 and device["budget_bytes"] == 2 << 30
    assert "device" not in next(iter([hr.Range(3).iterate()])).report()


def test_the_plan_makes_the_result_in_page_locked_memory_for_a_gpu():
    text = hr.Range(8).batch(2).take(2).to_device("cuda:1").explain()
    assert "device: cuda:1, up to 3 batches ahead, sent from page-locked memory" in text
    marked = [line for line in text.splitlines() if line.endswith("page-locked")]
    assert len(marked) == 1 and "batch[1]" in marked[0]


def test_names_of_devices_are_checked_at_once():
    for name in ("gpu", "cuda:x", "cpu:1", "", 3):
        with pytest.raises(hr.GraphError, match="to_device: device"):
            hr.Range(3).to_device(name)
    with pytest.raises(hr.GraphError, match="iterate: device is"):
        hr.Range(3).iterate(device="tpu:0")


def test_depth_and_memory_are_checked_under_the_names_that_they_were_given():
    with pytest.raises(hr.GraphError, match="^to_device: depth is 0; it must be at least 1"):
        hr.Range(3).to_device("cpu:0", depth=0)
    with pytest.raises(hr.GraphError, match="^to_device: memory is 0; it must be at least 1 byte"):
        hr.Range(3).to_device("cpu:0", memory=0)
    with pytest.raises(hr.GraphError, match="^to_device: memory is '3 loaves'"):
        hr.Range(3).to_device("cpu:0", memory="3 loaves")
    with pytest.raises(hr.GraphError, match="^options: device_depth is 0; it must be at least 1"):
        hr.Range(3).options(device="cpu:0", device_depth=0)


def test_what_means_nothing_without_a_device_is_refused_without_one():
    with pytest.raises(hr.GraphError, match="^options: device_depth is 9, and there is no device: give device= too"):
        hr.Range(3).options(device_depth=9)
    with pytest.raises(hr.GraphError, match="^iterate: device_memory is '1GiB', and there is no device"):
        hr.Range(3).iterate(device_memory="1GiB")
    there = hr.Range(3).to_device("cpu:0", depth=2).options(device_memory="1GiB")
    assert "up to 9 batches ahead" in there.options(device_depth=9).explain()
    back = there.options(device=None)
    assert "device" not in back.explain()
    with pytest.raises(hr.GraphError, match="options: device_memory is 5, and there is no device"):
        back.options(device_memory=5)
    assert [row["value"] for row in there.options(device=None)] == [0, 1, 2]


def test_closing_leaves_no_thread_and_arrays_stay():
    before = len(pipeline_threads())
    iterator = hr.Range(10_000).batch(10).to_device("cpu:0").iterate()
    kept = next(iterator)["value"]
    assert "headrace-device" in pipeline_threads()
    iterator.close()
    assert eventually(lambda: len(pipeline_threads()) <= before)
    assert kept.tolist() == list(range(10))
    with pytest.raises(hr.ClosedError):
        next(iterator)


def test_the_process_ends_in_the_middle_of_a_run():
    code = """
import headrace as hr
iterator = iter(hr.Range(1_000_000).batch(10).to_device("cpu:0"))
kept = [next(iterator) for _ in range(3)]
print("done")
"""
    ended = run_python(code)
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, "done", "")
