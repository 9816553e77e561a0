"""Loader in the loops that people write for torch's DataLoader. Most need no torch; ./test --ci runs the others."""

import contextlib
import gc
import io
import itertools
import os
import pathlib
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest
from conftest import eventually, pipeline_threads, run_python, values

import headrace as hr
from headrace import _engine
from headrace._arguments.doubts import _said
from headrace._runs.device_batch import DeviceBatch
from headrace.torch import Loader, rank_and_world


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "NODE_RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


def numbers(rows=20, **options):
    return Loader(hr.Range(rows, shuffle=True).batch(3), as_="numpy", **options)


def given(loader, most=None):
    return [batch["value"].tolist() for batch in itertools.islice(loader, most)]


def test_batches_of_batches_are_doubted():
    with pytest.warns(hr.PipelineWarning, match="batch_size=4 joins batches, as the dataset gives batches already"):
        assert len(Loader(hr.Range(20).batch(3), batch_size=4)) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Loader(hr.Range(20), batch_size=4)) == 5
        assert len([*Loader(hr.Range(20).batch(3).unbatch(), batch_size=4, as_="numpy")]) == 5


def test_epochs_without_a_batch_are_doubted():
    loader = Loader(hr.Numpy({"value": np.arange(3)}), batch_size=4, drop_last=True, as_="numpy")
    with pytest.warns(hr.PipelineWarning, match="an epoch has no batch, .* give a smaller batch_size, or more rows"):
        assert given(loader) == []


def test_the_rest_of_an_epoch_without_a_batch_is_not_doubted():
    loader = numbers(6)
    iterator = iter(loader)
    state = [(next(iterator), loader.state_dict()) for _ in range(2)][-1][1]
    again = numbers(6)
    again.load_state_dict(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert given(again) == []


def test_epochs_follow_each_other_as_in_a_loop_over_the_dataset():
    loader, plain = numbers(), hr.Range(20, shuffle=True).batch(3)
    assert len(loader) == len(iter(loader)) == 7 and loader
    for epoch in range(3):
        assert loader.epoch == epoch
        assert given(loader) == [batch["value"].tolist() for batch in plain]


def test_set_epoch_names_the_epoch_of_the_next_loop():
    loader = numbers()
    epochs = [given(loader) for _ in range(4)]
    loader.set_epoch(2)
    assert given(loader) == epochs[2]
    assert given(loader) == epochs[3]
    loader.sampler.set_epoch(1)
    loop = iter(loader)
    loader.set_epoch(3)  # after iter, and before the first batch, as Lightning calls it
    assert given(loop) == epochs[3]
    with pytest.raises(hr.GraphError, match="set_epoch: epoch is -1"):
        loader.set_epoch(-1)


def test_batches_are_made_where_the_dataset_has_none():
    rows = hr.Range(10)
    loader = Loader(rows, batch_size=4, as_="numpy")
    assert given(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert loader.batch_size == 4 and len(loader) == 3 and loader.dataset is rows
    assert len(Loader(rows, batch_size=4, drop_last=True)) == 2
    assert Loader(rows.batch(4, drop_remainder=True)).batch_size == 4
    assert Loader(rows.batch(4)).batch_size is None and Loader(rows).batch_size is None


@pytest.mark.parametrize("options", [{}, {"device": "cpu:0"}, {"executor": "pull"}])
@pytest.mark.parametrize("done", [0, 1, 2, 6, 7])
def test_a_state_goes_on_with_the_very_next_batch(done, options):
    whole = numbers()
    epochs = [given(whole) for _ in range(3)]
    loader = numbers(**options)
    loader.set_epoch(1)
    for batch in itertools.islice(loader, done):
        assert batch["value"].tolist() in epochs[1]
    state = loader.state_dict()
    for again in (loader, numbers(**options)):
        again.load_state_dict(state)
        assert again.state_dict() == state
        assert given(again) == epochs[1][done:]
        assert given(again) == epochs[2]


def test_a_state_is_taken_in_the_loop_and_the_loop_goes_on():
    loader, seen = numbers(), []
    for step, batch in enumerate(loader):
        seen.append(batch["value"].tolist())
        if step == 2:
            state = loader.state_dict()
    loader.load_state_dict(state)
    assert given(loader) == seen[3:]


def test_the_state_after_an_epoch_is_the_start_of_the_next():
    loader = numbers()
    given(loader)
    assert loader.state_dict() == {"version": 1, "epoch": 1, "state": None}


def test_set_epoch_keeps_a_state_of_that_epoch_alone():
    loader = numbers()
    epochs = [given(loader) for _ in range(3)]
    loader.set_epoch(1)
    given(loader, 2)
    state = loader.state_dict()
    for epoch, rest in ((1, epochs[1][2:]), (2, epochs[2]), (0, epochs[0])):
        loader.load_state_dict(state)
        left = pytest.warns(hr.PipelineWarning, match=r"set_epoch\(0\) leaves the state that was loaded, .* in epoch 1")
        with left if epoch == 0 else contextlib.nullcontext():
            loader.set_epoch(epoch)
        assert given(loader) == rest


def test_a_loop_that_gives_no_batch_leaves_the_position():
    loader = numbers()
    running = iter(loader)
    next(running)
    state = loader.state_dict()
    iter(loader)
    assert loader.state_dict() == state
    del running
    iter(loader)
    assert loader.state_dict() == state


@pytest.mark.parametrize("left", [1, 2, 5])
def test_a_loop_that_is_left_ends_its_run_and_keeps_its_position(left):
    before = len(pipeline_threads())
    rows = hr.Range(10**6, shuffle=True).map(lambda value: os.getpid(), "value", "pid", processes=1).batch(3)
    loader = Loader(rows, as_="numpy")
    last = list(itertools.islice(loader, left))[-1]
    state, process = loader.state_dict(), last["pid"][0]
    assert state["epoch"] == 0 and process != os.getpid()
    assert eventually(lambda: len(pipeline_threads()) <= before)
    # A process of a run that has ended waits for further ones.
    _engine.end_kept_processes()
    assert eventually(lambda: not pathlib.Path(f"/proc/{process}").exists())
    loader.load_state_dict(state)
    assert loader.state_dict() == state
    expected = hr.Range(10**6, shuffle=True).batch(3).iterate(epoch=0)
    assert next(iter(loader))["value"].tolist() == next(itertools.islice(expected, left, None))["value"].tolist()
    loader.set_epoch(7)
    assert loader.state_dict() == {"version": 1, "epoch": 7, "state": None}


class Shrinking:
    """An epoch is two batches of two shorter than the one before."""

    def size(self, epoch):
        return 9 - 4 * epoch

    def indices(self, epoch, rng):
        return range(self.size(epoch))


def test_the_length_of_a_loop_is_that_of_its_epoch():
    loader = Loader(hr.Range(9).sample(Shrinking()).batch(2), as_="numpy")
    loop = iter(loader)
    lengths = [(len(loop), len(loader)) for _ in loop]
    assert lengths == [(5, 5)] + [(5, 3)] * 4
    assert len(loop) == 5 and len(list(loader)) == 3


def test_a_loop_that_runs_goes_on_when_another_epoch_is_named():
    plain = numbers()
    epochs = [given(plain) for _ in range(8)]
    for call, at, after in [
        (lambda loader, _: loader.set_epoch(5), 1, epochs[5]),
        (lambda loader, _: loader.set_epoch(5), 3, epochs[5]),
        (lambda loader, state: loader.load_state_dict(state), 1, epochs[6][2:]),
        (lambda loader, state: loader.load_state_dict(state), 3, epochs[6][2:]),
    ]:
        other = numbers()
        other.set_epoch(6)
        given(other, 2)
        loader, seen = numbers(), []
        with pytest.warns(hr.PipelineWarning, match="goes on in epoch 0: it holds for the next loop") as warned:
            for step, batch in enumerate(loader, 1):
                seen.append(batch["value"].tolist())
                if step == at:
                    call(loader, other.state_dict())
                    assert not warned.list
            _said.clear()
        assert len(warned) == 1
        assert seen == epochs[0] and given(loader) == after


def test_naming_an_epoch_warns_of_no_loop_that_gives_nothing_more():
    loader = numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loop = iter(loader)
        given(loop, 3)
        loader.set_epoch(1)  # as Lightning under limit_train_batches
        assert loader.state_dict()["epoch"] == 0
        assert len(given(loader)) == 7
        loop = iter(loader)
        next(loop)
        loader.set_epoch(2)  # its own epoch
        assert len(given(loop)) == 6


def test_what_is_no_state_is_refused():
    loader = numbers()
    for state in ({}, None, [], {"epoch": 1}):
        with pytest.raises(hr.StateError, match="is not what Loader.state_dict"):
            loader.load_state_dict(state)
    good = loader.state_dict()
    with pytest.raises(hr.StateError, match="has version 2"):
        loader.load_state_dict(good | {"version": 2})
    with pytest.raises(hr.StateError, match="must be bytes"):
        loader.load_state_dict(good | {"state": "x"})
    with pytest.raises(hr.GraphError, match="load_state_dict: epoch is 'x'"):
        loader.load_state_dict(good | {"epoch": "x"})
    given(loader, 1)
    other = numbers(rows=30)
    other.load_state_dict(loader.state_dict())
    with pytest.raises(hr.StateError):
        next(iter(other))


def test_a_loader_that_is_dropped_leaves_no_thread():
    before = len(pipeline_threads())
    gc.disable()
    try:
        loader = numbers(rows=10**6)
        for _ in loader:
            break
        del loader, _
        assert eventually(lambda: len(pipeline_threads()) <= before)
    finally:
        gc.enable()
    assert values(Loader(hr.Range(5), as_="numpy")) == list(range(5))  # the loop alone keeps it running


def test_ranks_are_those_of_the_environment(monkeypatch):
    everything, counts = [], set()
    for rank in range(3):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "3")
        loader = numbers()
        batches = list(loader)
        assert len(loader) == len(batches)
        counts.add(len(batches))
        everything += [
            value
            for batch in batches
            for value, pad in zip(batch["value"].tolist(), batch["_pad"].tolist(), strict=True)
            if not pad
        ]
    assert counts == {3} and sorted(everything) == list(range(20))
    # What is given wins, in the same way.
    monkeypatch.setenv("WORLD_SIZE", "1")
    for rows, world in ((5, 2), (7, 3), (8, 3)):
        given_shards = [Loader(hr.Range(rows), batch_size=2, shard=(rank, world), as_="numpy") for rank in range(world)]
        assert len({len(list(loader)) for loader in given_shards} | {len(loader) for loader in given_shards}) == 1
    assert "_pad" not in next(iter(Loader(hr.Range(7), batch_size=2, shard=(0, 2), even="off", as_="numpy")))
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert len(numbers(shard=(0, 1))) == 7
    assert len(Loader(hr.Range(20).options(shard=(0, 2)).batch(3))) == 4
    assert "_pad" not in next(iter(numbers(even="drop")))


def test_a_rank_that_is_known_late_holds_for_the_next_loop(monkeypatch):
    loader = numbers()
    whole = given(loader)
    loader.set_epoch(0)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert len(loader) == 4
    assert sum(given(loader), []) == sum(whole, [])[1::2]
    assert loader.epoch == 1


def test_ranks_may_differ_where_the_number_of_rows_is_not_known(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    rows, parts = hr.Range(9).filter(hr.col("value") < 7).batch(2), []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        loader = Loader(rows, as_="numpy")
        warned = pytest.warns(hr.PipelineWarning, match="ranks may differ") if rank == 0 else contextlib.nullcontext()
        with warned, pytest.raises(TypeError, match="only in running"):
            len(loader)
        parts.append(sum(given(loader), []))
    assert parts == [[0, 2, 4, 6], [1, 3, 5]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(given(Loader(rows, as_="numpy", even="off")), []) == parts[1]
        assert given(Loader(hr.Range(4).repeat().batch(2), as_="numpy"), 2) == [[1, 3], [1, 3]]


@pytest.mark.parametrize("before, after", [(1, 2), (2, 1), (2, 3)])
def test_a_state_goes_on_with_another_number_of_ranks(monkeypatch, before, after):
    def on_ranks(world, state=None, most=None):
        batches = []
        for rank in range(world):
            monkeypatch.setenv("RANK", str(rank))
            monkeypatch.setenv("WORLD_SIZE", str(world))
            loader = numbers()
            if state is not None:
                loader.load_state_dict(state)
            batches += list(itertools.islice(loader, most))
            at = loader.state_dict()
        rows = [
            value
            for batch in batches
            for value, pad in zip(
                batch["value"].tolist(), batch.get("_pad", np.zeros(len(batch["value"]), bool)).tolist(), strict=True
            )
            if not pad
        ]
        return rows, at

    done, state = on_ranks(before, most=2)
    with contextlib.ExitStack() as stack:
        if before == 1:
            stack.enter_context(pytest.warns(hr.PipelineWarning, match="taken in one process"))
        rest, _ = on_ranks(after, state)
    assert len(done) == 6 * before and sorted(done + rest) == list(range(20))
    loader = numbers(even="drop")
    loader.load_state_dict(state)
    with pytest.raises(hr.StateError, match="even="):
        next(iter(loader))


def test_an_environment_that_names_no_rank_is_an_error(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    for rank in (None, "4", "-1", "x"):
        if rank is not None:
            monkeypatch.setenv("RANK", rank)
        with pytest.raises(hr.GraphError, match="WORLD_SIZE='4', which names no rank"):
            next(iter(numbers()))
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert rank_and_world() is None


def test_ranks_are_those_of_lightnings_environment(monkeypatch):
    def rank(**environment):
        with monkeypatch.context() as patch:
            for name, text in environment.items():
                patch.setenv(name, text)
            return rank_and_world()

    assert rank(WORLD_SIZE="4", NODE_RANK="0", LOCAL_RANK="1") == (1, 4)
    assert rank(WORLD_SIZE="4", NODE_RANK="1", LOCAL_RANK="1", LOCAL_WORLD_SIZE="2") == (3, 4)
    assert rank(WORLD_SIZE="4", RANK="2", NODE_RANK="0", LOCAL_RANK="1") == (2, 4)
    for unknown in ({"NODE_RANK": "1", "LOCAL_RANK": "1"}, {"LOCAL_RANK": "1"}, {"NODE_RANK": "0"}):
        with pytest.raises(hr.GraphError, match="WORLD_SIZE='4' and .* names no rank"):
            rank(WORLD_SIZE="4", **unknown)


def test_ranks_that_go_on_from_one_state_have_its_values_of_parameters(monkeypatch):
    """A checkpoint of several ranks holds rank 0's state."""
    monkeypatch.setenv("WORLD_SIZE", "2")

    def loader_of(rank, value):
        monkeypatch.setenv("RANK", str(rank))
        level = hr.parameter("level", default=0)
        if value is not None:
            level.set(value, epoch=0)
        rows = hr.Range(12).map(lambda value, level=level: value * 0 + level, "value").batch(2)
        return Loader(rows, as_="numpy")

    first = loader_of(0, 3)
    assert given(first, 1) == [[3, 3]]
    state = first.state_dict()
    assert given_after(loader_of(1, None), state) == [[3, 3]] * 2
    message = r'"level"\) is 5 in epoch 0 on rank 1 of 2, and was 3 on rank 0 of 2 when the state was taken'
    with pytest.raises(hr.StateError, match=message):
        given_after(loader_of(1, 5), state)


def given_after(loader, state):
    loader.load_state_dict(state)
    return given(loader)


def test_ranks_are_those_of_torch_distributed_before_the_environment(monkeypatch):
    distributed = types.SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 1, get_world_size=lambda: 2
    )
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(distributed=distributed))
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert rank_and_world() == (1, 2)
    distributed.is_initialized = lambda: False
    assert rank_and_world() == (0, 3)


def test_a_device_that_is_given_wins_over_the_datasets():
    rows = hr.Range(4).batch(2).to_device("cpu:0", depth=2)
    assert isinstance(next(iter(Loader(rows, as_="numpy"))), DeviceBatch)
    assert type(next(iter(Loader(rows, "cpu", as_="numpy")))) is dict
    assert isinstance(next(iter(Loader(hr.Range(4).batch(2), "cpu:0", as_="numpy"))), DeviceBatch)


def test_cuda_is_torchs_current_gpu_when_a_loop_begins(monkeypatch):
    cuda = types.SimpleNamespace(is_available=lambda: False, current_device=lambda: 3)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    loader = Loader(hr.Range(4).batch(2), "cuda", device_depth=2)
    assert "device='cuda:0'" in loader._dataset().explain()
    cuda.is_available = lambda: True
    part = loader._dataset()
    assert "device='cuda:3'" in part.explain() and loader._dataset() is part
    cuda.current_device = lambda: 1
    assert "device='cuda:1'" in loader._dataset().explain()
    for number in (0, 1):
        with pytest.raises(hr.GraphError, match=f'device is {number}; write .* "cuda:{number}"'):
            Loader(hr.Range(4).batch(2), number)


def test_arguments_of_dataloader_get_advice():
    for name, advice in [
        ("num_workers", r"share the cores.*map\(…, workers=…\)"),
        ("shuffle", "shuffle=True in the source"),
        ("pin_memory", "leave it out"),
        ("collate_fn", "function="),
        ("no_such", "no parameter no_such; it has dataset, device"),
    ]:
        with pytest.raises(TypeError, match=advice):
            Loader(hr.Range(3), **{name: 1})
    with pytest.raises(hr.GraphError, match="from_dataset"):
        Loader([1, 2, 3])
    with pytest.raises(hr.GraphError, match="batch_size is not"):
        Loader(hr.Range(3), drop_last=True)
    with pytest.raises(hr.GraphError, match="batch_size is 0"):
        Loader(hr.Range(3), batch_size=0)


def test_explain_shows_the_latest_loop():
    loader = numbers(device="cpu:0")
    given(loader)
    assert "7 delivered" in loader.explain() and "device cpu:0: " in loader.explain()
    assert "the loop waited" in loader.explain()
    assert (
        repr(loader)
        == "<headrace.torch.Loader of <headrace.Dataset Range → batch, 7 batches:\n  value: int64 (None,)>>"
    )


def test_importing_it_does_not_import_torch():
    done = run_python("import sys, headrace.torch; print('torch' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


class _ByNumbers:
    """What torch's DataLoader does with a batch_sampler, and accelerate's SkipBatchSampler before it."""

    def __init__(self, loader, skipped):
        self._loader, self._skipped = loader, skipped

    def __iter__(self):
        for number, place in enumerate(self._loader.batch_sampler):
            if number < self._skipped:
                continue
            try:
                yield self._loader.collate_fn(self._loader.dataset.__getitems__(place))
            except StopIteration:
                return


@pytest.mark.parametrize("dataset", [hr.Range(16, shuffle=True), hr.Range(16).shuffle(5)])
def test_the_first_batches_of_an_epoch_are_skipped_by_their_numbers(dataset):
    def steps(batches):
        return [batch["value"].tolist() for batch in batches]

    loader = Loader(dataset, batch_size=3, as_="numpy")
    loader.batch_sampler.set_epoch(2)
    assert len(loader.batch_sampler) == 6
    assert steps(_ByNumbers(loader, 3)) == steps(dataset.batch(3).iterate(epoch=2))[3:]
    assert loader.epoch == 3
    assert steps(loader) == steps(dataset.batch(3).iterate(epoch=3))
    # A state counts: what is skipped comes after it.
    running = iter(loader)
    next(running)
    state = loader.state_dict()
    del running
    loader.load_state_dict(state)
    assert steps(_ByNumbers(loader, 1)) == steps(dataset.batch(3).iterate(epoch=4))[2:]


def test_skipped_batches_are_not_read_where_a_number_says_which_rows_come():
    read = []

    def note(value):
        read.append(int(value))
        return value

    loader = Loader(hr.Range(16).map(note, "value"), batch_size=2, as_="numpy")
    assert [batch["value"].tolist() for batch in _ByNumbers(loader, 6)] == [[12, 13], [14, 15]]
    assert min(read) == 12


# ---- with torch ----


@pytest.mark.torch
def test_accelerate_skips_the_first_batches():
    accelerate = pytest.importorskip("accelerate")
    loader = Loader(hr.Range(16, shuffle=True), batch_size=3)
    loader.set_epoch(1)
    rest = [batch["value"].tolist() for batch in accelerate.skip_first_batches(loader, 2)]
    assert rest == [batch["value"].tolist() for batch in loader.dataset.batch(3).iterate(epoch=1)][2:]


@pytest.mark.torch
def test_a_dataset_in_torchs_own_dataloader_warns_and_gives_its_rows():
    torch = pytest.importorskip("torch")
    dataset = hr.Range(5, shuffle=True)
    with pytest.warns(hr.PipelineWarning, match="headrace.torch.Loader"):
        batches = [batch["value"].tolist() for batch in torch.utils.data.DataLoader(dataset, batch_size=2)]
    assert sum(batches, []) == [int(row["value"]) for row in dataset.iterate(epoch=0)]


@pytest.mark.torch
@pytest.mark.parametrize("options", [{}, {"num_workers": 1, "multiprocessing_context": "fork"}])
def test_what_torchs_own_dataloader_cannot_read_says_what_to_write(options):
    torch = pytest.importorskip("torch")
    rows = hr.Range(5).shuffle(3) if not options else hr.Range(5)
    list(hr.Range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            hr.UnsupportedError, match="in place of torch's DataLoader write headrace.torch.Loader"
        ) as of:
            list(torch.utils.data.DataLoader(rows, batch_size=2, **options))
    assert "loop over the dataset" not in str(of.value)


def test_rows_that_others_ask_for_by_number_are_not_a_matter_of_the_dataloader():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(hr.UnsupportedError, match="loop over the dataset: for row in dataset$"):
            hr.Range(5).shuffle(3).__getitems__([0, 1])


@pytest.mark.torch
def test_a_dataloader_is_replaced_and_not_read():
    torch = pytest.importorskip("torch")
    with pytest.raises(hr.GraphError, match=r"write Loader\(headrace.from_dataset\(loader.dataset, "):
        Loader(torch.utils.data.DataLoader([1, 2]), batch_size=2)


@pytest.mark.torch
def test_batches_are_tensors_and_states_go_through_torch_save():
    torch = pytest.importorskip("torch")
    for device in (None, "cpu:0", torch.device("cpu")):
        loader = Loader(hr.Range(9, shuffle=True).batch(3), device)
        first = next(iter(loader))
        assert isinstance(first["value"], torch.Tensor)
        file = io.BytesIO()
        torch.save({"loader": loader.state_dict()}, file)
        file.seek(0)
        again = Loader(hr.Range(9, shuffle=True).batch(3), device)
        again.load_state_dict(torch.load(file)["loader"])
        rest = torch.cat([first["value"], *(batch["value"] for batch in again)])
        assert rest.sort().values.tolist() == list(range(9)) and len(rest) == 9


RANK = """
import sys
import torch
import torch.distributed as dist
import headrace as hr
from headrace.torch import Loader

rank, folder, other = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
print([batch["value"].tolist() for batch in Loader(hr.Range(5).batch(2))], flush=True)

model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), device_ids=None)
for batch in Loader(hr.Range(5).batch(2), "cpu:0"):
    model(batch["value"].float()[:, None]).sum().backward()

if other == "accelerate":
    import accelerate
    accelerator = accelerate.Accelerator(cpu=True)
    rows = []
    for batch in accelerator.prepare(Loader(hr.Range(5).batch(2), accelerator.device)):
        every = accelerator.gather(batch)
        rows += every["value"][~every["_pad"]].tolist()
    print(sorted(rows), flush=True)
dist.barrier()
dist.destroy_process_group()
"""


def launched(rank):
    """The environment as launchers set it, for Accelerate."""
    ranks = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
    return ranks | {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}


def on_two_ranks(tmp_path, other):
    """What each process printed, by lines."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(rank), str(tmp_path), other],
            env=os.environ | launched(rank),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        ends = [each.communicate(timeout=240) for each in running]
    finally:
        for each in running:
            each.kill()
            each.wait()
    assert [each.returncode for each in running] == [0, 0], ends
    return [out.splitlines() for out, _ in ends]


@pytest.mark.torch
@pytest.mark.parametrize("other", ["", "accelerate"])
def test_two_processes_under_torch_distributed(tmp_path, other):
    pytest.importorskip(other or "torch")
    first, second = on_two_ranks(tmp_path, other)
    assert (first[0], second[0]) == ("[[0, 2], [4]]", "[[1, 3], [0]]")
    assert first[1:] == second[1:] == ([str([0, 1, 2, 3, 4])] if other else [])


@pytest.mark.torch
def test_batches_of_a_device_may_be_made_anew_by_other_libraries():
    torch = pytest.importorskip("torch")
    batch = next(iter(Loader(hr.Range(4).batch(4), "cpu:0")))
    batch.record_stream(0)
    moved = type(batch)({name: value.to(torch.float64) for name, value in batch.items()})
    moved.record_stream(0)  # in host memory there are no streams
    assert moved["value"].tolist() == [0, 1, 2, 3]
    moved["value"] = types.SimpleNamespace(is_cuda=True)
    with pytest.raises(hr.UnsupportedError, match="on the batch that the iterator gave"):
        moved.record_stream(0)


@pytest.mark.torch
def test_batches_of_a_device_are_moved_by_ddp_and_fsdp():
    torch = pytest.importorskip("torch")
    from torch.distributed.utils import _to_kwargs

    batch = next(iter(Loader(hr.Range(4).batch(4), "cpu:0")))
    ((moved,),), (named,) = _to_kwargs((batch,), dict(batch), torch.device("cpu"), False)
    assert type(moved) is type(batch)
    assert moved["value"].tolist() == named["value"].tolist() == [0, 1, 2, 3]


@pytest.mark.torch
def test_in_lightnings_loops_that_evaluate():
    pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning")

    class Notes(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False
            self.seen = {"train": [], "val": [], "test": [], "predict": []}

        def note(self, loop, batch):
            self.seen[loop] += batch["value"].tolist()

        def training_step(self, batch, index):
            self.note("train", batch)

        def validation_step(self, batch, index):
            if not self.trainer.sanity_checking:
                self.note("val", batch)

        def test_step(self, batch, index):
            self.note("test", batch)

        def predict_step(self, batch, index):
            self.note("predict", batch)

        def configure_optimizers(self):
            return None

    module = Notes()
    trainer = quiet_trainer(lightning, max_epochs=2)
    trainer.fit(module, *(Loader(hr.Range(rows).batch(2)) for rows in (3, 5)))
    trainer.test(module, Loader(hr.Range(4).batch(2)), verbose=False)
    trainer.predict(module, Loader(hr.Range(6).batch(2)))
    assert module.seen == {"train": [0, 1, 2] * 2, "val": [*range(5)] * 2, "test": [*range(4)], "predict": [*range(6)]}


def quiet_trainer(lightning, **options):
    quiet = ("logger", "enable_progress_bar", "enable_model_summary", "enable_checkpointing")
    return lightning.Trainer(accelerator="cpu", **dict.fromkeys(quiet, False), **options)


@pytest.mark.torch
@pytest.mark.parametrize("device, length", [(None, "known"), ("cpu:0", "known"), (None, "unknown")])
def test_in_lightnings_loop(device, length, tmp_path):
    pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning")

    class Notes(lightning.LightningModule):
        def __init__(self, saved_after):
            super().__init__()
            self.automatic_optimization = False
            self.saved_after = saved_after
            self.seen = []

        def training_step(self, batch, index):
            self.seen.append((self.current_epoch, index, batch["value"].tolist()))

        def on_train_batch_end(self, outputs, batch, index):
            self.save((self.current_epoch, index))

        def on_train_epoch_end(self):
            self.save((self.current_epoch, "end"))

        def save(self, at):
            if at == self.saved_after:
                self.trainer.save_checkpoint(tmp_path / "checkpoint")

        def configure_optimizers(self):
            return None

    def fit(saved_after=None, checkpoint=None):
        module = Notes(saved_after)
        trainer = quiet_trainer(lightning, max_epochs=3)
        rows = hr.Range(20, shuffle=True)
        rows = rows.filter(hr.col("value") >= 0) if length == "unknown" else rows
        trainer.fit(module, Loader(rows.batch(3), device), ckpt_path=checkpoint, weights_only=True)
        return module.seen

    plain = numbers()
    expected = [(epoch, index, batch) for epoch in range(3) for index, batch in enumerate(given(plain))]
    assert fit() == expected
    if length == "unknown":
        # Lightning begins a loop before it names the epoch.
        fit(saved_after=(0, "end"))
        with pytest.warns(hr.PipelineWarning, match="goes on in epoch 0"):
            fit(checkpoint=tmp_path / "checkpoint")
        return
    for after, rest in [((0, 2), expected[3:]), ((1, 0), expected[8:]), ((0, "end"), expected[7:])]:
        fit(saved_after=after)
        assert fit(checkpoint=tmp_path / "checkpoint") == rest, after


@pytest.mark.torch
def test_in_accelerates_loop(tmp_path):
    pytest.importorskip("torch")
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(cpu=True)
    plain = numbers()
    epochs = [given(plain) for _ in range(2)]

    def prepared():
        loader = accelerator.prepare(Loader(hr.Range(20, shuffle=True).batch(3), accelerator.device))
        assert isinstance(loader, Loader)
        return loader

    loader = prepared()
    accelerator.register_for_checkpointing(loader)
    assert given(loader, 3) == epochs[0][:3]
    accelerator.save_state(tmp_path / "checkpoint")
    assert given(loader) == epochs[1]
    accelerator.load_state(tmp_path / "checkpoint")
    assert given(loader) == epochs[0][3:]
    batch = accelerate.utils.send_to_device(next(iter(Loader(hr.Range(4).batch(4), "cpu:0"))), accelerator.device)
    assert batch["value"].tolist() == np.arange(4).tolist()


def test_arguments_of_a_dataloader_get_what_to_write():
    rows = [(1, 2)] * 3
    with pytest.raises(
        hr.GraphError,
        match=r'write Loader\(headrace\.from_dataset\(dataset, columns=\["image", "label"\], shuffle=True, processes=4\), '
        r"batch_size=32\)",
    ):
        Loader(rows, batch_size=32, shuffle=True, num_workers=4)
    with pytest.raises(hr.GraphError, match=r'from_dataset\(dataset, columns=\["image", "label"\]\)\)$'):
        Loader(rows)
    with pytest.raises(hr.GraphError, match=r"Loader: the dataset is 3; give a headrace\.Dataset, as a source"):
        Loader(3)
