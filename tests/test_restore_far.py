"""Restoring far into a large source works on no more rows than the windows hold, and states are small."""

import collections
import io
import pathlib
from collections.abc import Callable

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

TOTAL = 1_000_000
REACHED = 900_000
BATCH = 100
WINDOW = 8
SHUFFLED = 500
# A message may wait in every slot of the connectors below the batches, and the next batches need their own rows.
MOST = 12 * BATCH
calls: collections.Counter[str] = collections.Counter()


def counted(value: np.ndarray) -> np.ndarray:
    calls["rows"] += 1
    return value


def images() -> hr.Dataset:
    file = io.BytesIO()
    PIL.Image.effect_noise((40, 30), 60).save(file, "JPEG")
    encoded = file.getvalue()
    return hr.Range(TOTAL, shuffle=True).map(lambda value: encoded, "value", "image").map(V.Decode(), "image")


def two_sources() -> hr.Dataset:
    both = hr.Range(TOTAL // 2).concat(hr.Range(TOTAL // 2, TOTAL))
    return both.zip(hr.Numpy({"other": np.arange(TOTAL)}, shuffle=True))


# One row in, one row out: a rank of a thousand gets to row 900,000 with a thousandth of the work.
EXACT: dict[str, Callable[[], hr.Dataset]] = {
    "function": lambda: hr.Range(TOTAL, shuffle=True).map(counted, "value"),
    "function in any order": lambda: hr.Range(TOTAL).map(counted, "value", ordered=False),
    "decoded images": lambda: images().map(V.RandomCrop(20), "image").map(counted, "value"),
    "indices of several sources": lambda: two_sources().map(counted, "value"),
}
# The position of a row depends on all rows before it.
SHUFFLES: dict[str, Callable[[], hr.Dataset]] = {
    "shuffle above map": lambda: hr.Range(TOTAL).map(T.TypeCast("float32"), "value").shuffle(SHUFFLED),
    "map above shuffle": lambda: hr.Range(TOTAL, shuffle=True).shuffle(SHUFFLED).map(T.TypeCast("float32"), "value"),
}


def rows_worked_on(iterator: hr.Iterator) -> int:
    """The rows of the stage that worked on most."""
    return max(stage["rows"] for stage in iterator.report()["stages"])


@pytest.mark.parametrize("executor", ["threads", "pull"])
@pytest.mark.parametrize("name", EXACT)
def test_one_to_one_restores_without_work(name, executor):
    dataset = EXACT[name]().batch(BATCH)
    with dataset.iterate(seed=3, shard=(0, 1000)) as iterator:
        for _ in range(REACHED // 1000 // BATCH):
            next(iterator)
        state = iterator.state()
    assert len(state) <= 1024
    calls.clear()
    with dataset.iterate(state=state, window=WINDOW, executor=executor) as iterator:
        values = np.concatenate([next(iterator)["value"] for _ in range(3)])
        later = iterator.state()
        assert rows_worked_on(iterator) <= MOST
    assert 3 * BATCH <= calls["rows"] <= MOST
    if name in ("function in any order", "indices of several sources"):
        assert values.tolist() == list(range(REACHED, REACHED + 3 * BATCH))
    # A second generation costs no more.
    calls.clear()
    with dataset.iterate(state=later, window=WINDOW, executor=executor) as iterator:
        again = next(iterator)["value"]
    assert calls["rows"] <= MOST
    assert not set(again) & set(values)


@pytest.mark.parametrize("executor", ["threads", "pull"])
@pytest.mark.parametrize("name", SHUFFLES)
def test_a_shuffle_reads_its_window_again(name, executor):
    dataset = SHUFFLES[name]().batch(BATCH)
    with dataset.iterate(seed=3, epoch=1) as iterator:
        for _ in range(REACHED // BATCH):
            next(iterator)
        state = iterator.state()
        expected = [next(iterator)["value"].tolist() for _ in range(3)]
    assert len(state) <= 1024
    with dataset.iterate(state=state, window=WINDOW, group=1, executor=executor) as iterator:
        found = [next(iterator)["value"].tolist() for _ in range(3)]
        # The rows that may be kept, as many rows read ahead, and the windows.
        assert rows_worked_on(iterator) <= 2 * SHUFFLED + MOST
    assert found == expected


def test_states_stay_small(data: pathlib.Path):
    """States are small whatever the number of operators and files."""
    deep = hr.ImageFolder(data / "photos", shuffle=True).project("label")
    for _ in range(8):
        deep = deep.shuffle(3).repeat(2).batch(2).unbatch()
    both = deep.zip(deep.rename({"label": "b"})).concat(deep.zip(deep.rename({"label": "b"})))
    with both.batch(7).iterate(epoch=3, seed=(1 << 63) - 1) as iterator:
        for _ in range(20):
            next(iterator)
        assert len(iterator.state()) <= 1024


def test_damaged_states_are_refused_or_say_so():
    """No damage crashes the process; a damaged state that is accepted gives rows of the pipeline."""
    dataset = hr.Range(300, shuffle=True).shuffle(7).batch(4)
    rows = {number for row in dataset for number in row["value"].tolist()}
    with dataset.iterate() as iterator:
        for _ in range(5):
            next(iterator)
        state = iterator.state()
    random = np.random.default_rng(5)
    refused = fuzzed = 0
    for length in range(1, len(state)):
        fuzzed += 1
        refused += refuses(dataset, state[:length], rows)
    for _ in range(400):
        damaged = bytearray(state)
        for _ in range(random.integers(1, 4)):
            damaged[random.integers(len(damaged))] = random.integers(256)
        fuzzed += 1
        refused += refuses(dataset, bytes(damaged), rows)
    assert refused > fuzzed // 4
    for garbage in (b"garbage", b"\0", bytes(1000), b"\xff" * 100):
        with pytest.raises(hr.StateError, match="not a state|damaged"):
            dataset.iterate(state=garbage)
    print(f"HEADRACE-COUNT fuzz={fuzzed}")


def refuses(dataset: hr.Dataset, state: bytes, rows: set[int]) -> bool:
    try:
        with dataset.iterate(state=state, executor="pull") as iterator:
            for row, _ in zip(iterator, range(3), strict=False):
                assert set(row["value"].tolist()) <= rows
    except (hr.StateError, hr.UnsupportedError):
        return True
    return False


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda ds: ds.shuffle(8).batch(4), r"shuffle\[1\]"),
        (lambda ds: ds.shuffle(7).batch(5), r"batch\[2\]"),
        (lambda ds: ds.shuffle(7), "had 3 operators, this one has 2"),
        (lambda ds: ds.shuffle(7).batch(4).take(3), "had 3 operators, this one has 4"),
        (lambda ds: ds.shuffle(7, seed=1).batch(4), r"shuffle\[1\]"),
    ],
)
def test_a_state_of_another_graph_is_refused(change, difference):
    numbers = hr.Range(30)
    with numbers.shuffle(7).batch(4).iterate() as iterator:
        next(iterator)
        state = iterator.state()
    with pytest.raises(hr.StateError, match=f"another pipeline.*{difference}"):
        change(numbers).iterate(state=state)
    with pytest.raises(hr.StateError, match="even="):
        numbers.shuffle(7).batch(4).iterate(state=state, even="drop")


def test_a_state_of_changed_files_is_refused(data: pathlib.Path, tmp_path: pathlib.Path):
    one, two = tmp_path / "1.txt", tmp_path / "2.txt"
    one.write_text("a\nb\nc\n")
    two.write_text("d\ne\nf\n")
    text = hr.Text(str(tmp_path / "*.txt")).batch(2)
    files = hr.Files(str(tmp_path / "*.txt"), shuffle=True)
    states = []
    for dataset in (text, files):
        with dataset.iterate() as iterator:
            next(iterator)
            states.append(iterator.state())
            assert list(dataset.iterate(state=states[-1]))
    two.rename(tmp_path / "3.txt")
    for dataset, state in zip((text, files), states, strict=True):
        with pytest.raises(hr.StateError, match="the data changed.*not the same"):
            dataset.iterate(state=state)
    (tmp_path / "4.txt").write_text("g\n")
    for dataset, state in zip((text, files), states, strict=True):
        with pytest.raises(hr.StateError, match="had 2 entries and has 3"):
            dataset.iterate(state=state)
