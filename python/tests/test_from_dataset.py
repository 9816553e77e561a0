"""User objects with __len__ and __getitem__ as sources with random access."""

import pathlib
import threading

import numpy as np
import PIL.Image
import pytest
from conftest import values

import headrace as hr


class Squares:
    """Rows as dicts; notes the numbers that it is asked for."""

    def __init__(self, count: int = 10) -> None:
        self.count = count
        self.asked: list[int] = []

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> dict[str, int]:
        self.asked.append(number)
        return {"x": number, "square": number * number}


class InRuns(Squares):
    def __init__(self, count: int = 10) -> None:
        super().__init__(count)
        self.runs: list[list[int]] = []

    def __getitems__(self, numbers: list[int]) -> list[dict[str, int]]:
        self.runs.append(numbers)
        return [self[number] for number in numbers]


class Pairs:
    def __init__(self, *rows) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int):
        return self.rows[number]


def test_rows_that_are_dicts_name_their_columns():
    dataset = hr.from_dataset(Squares(3))
    assert dataset.schema == {"x": ("unknown", None), "square": ("unknown", None)}
    assert [{name: int(value) for name, value in row.items()} for row in dataset] == [
        {"x": i, "square": i * i} for i in range(3)
    ]
    assert len(dataset) == 3
    assert values(hr.from_dataset(Squares(4), columns="square"), "square") == [0, 1, 4, 9]


@pytest.mark.parametrize("row", [(1, "a"), [1, "a"]])
def test_tuples_and_lists_take_the_names_in_order(row):
    (found,) = hr.from_dataset(Pairs(row), columns=["number", "name"])
    assert (int(found["number"]), found["name"]) == (1, "a")
    with pytest.raises(
        hr.GraphError, match=r"of 2 values.*write from_dataset\(dataset, columns=\[\"image\", \"label\"\]\)"
    ):
        hr.from_dataset(Pairs(row))


def test_single_values_have_one_column():
    assert values(hr.from_dataset(np.arange(3) * 5, columns="v"), "v") == [0, 5, 10]
    (row,) = hr.from_dataset([[1, 2]], columns="v")
    assert row["v"].tolist() == [1, 2]
    with pytest.raises(hr.GraphError, match="no name; write"):
        hr.from_dataset(np.arange(3))


def test_images_become_height_width_channels():
    rgb = PIL.Image.fromarray(np.arange(24, dtype=np.uint8).reshape(2, 4, 3))
    grey = PIL.Image.fromarray(np.arange(8, dtype=np.uint8).reshape(2, 4))
    bits = grey.point(lambda value: 255 * (value % 2)).convert("1")
    for image, shape in ((rgb, (2, 4, 3)), (grey, (2, 4, 1)), (bits, (2, 4, 1))):
        for row in ({"image": image}, (image,)):
            (found,) = hr.from_dataset(Pairs(row), columns="image")
            assert (found["image"].dtype, found["image"].shape) == (np.uint8, shape)
            assert np.array_equal(
                found["image"].reshape(2, 4, -1),
                np.asarray(image.convert("RGB" if image is rgb else "L")).reshape(2, 4, -1),
            )


def test_declared_types_are_checked_and_known():
    dataset = hr.from_dataset(Squares(3), types={"square": ("int64", ())})
    assert dataset.schema == {"x": ("unknown", None), "square": ("int64", ())}
    with pytest.raises(hr.DataError, match='"x" of row 0 of the dataset .*Squares#0 is int64 .*declared as float32'):
        list(hr.from_dataset(Squares(3), types={"x": "float32"}))
    with pytest.raises(hr.GraphError, match='types names "y", not a column'):
        hr.from_dataset(Squares(3), types={"y": "float32"})


def test_none_is_no_type():
    makers = (
        lambda types: hr.from_dataset(Squares(3), types=types),
        lambda types: hr.Generator(lambda: iter([1.0]), types),
        lambda types: hr.Range(3).map(float, "value", "x", types=types),
        lambda types: hr.JsonLines("none.jsonl", types),
        lambda types: hr.Csv("none.csv", types),
    )
    for make in makers:
        for given in (None, (None, ())):
            with pytest.raises(hr.GraphError, match='the type of column "x" is .*None.*; give a dtype, or'):
                make({"x": given})


def test_a_state_goes_on_without_asking_for_rows_before():
    for kind in (Squares, InRuns):
        dataset = kind(40)
        batches = hr.from_dataset(dataset, ["x", "square"]).batch(4)
        shuffled = hr.from_dataset(dataset, ["x", "square"], shuffle=True).batch(4)
        for built in (batches, batches.map(lambda x: x + 1, "x"), shuffled):
            for at in (1, 4, 7):
                with built.iterate() as iterator:
                    for _ in range(at):
                        next(iterator)
                    state = iterator.state()
                    rest = [batch["square"].tolist() for batch in iterator]
                dataset.asked.clear()
                with built.iterate(state=state) as iterator:
                    assert [batch["square"].tolist() for batch in iterator] == rest
                assert [number * number for number in dataset.asked] == sum(rest, [])


def test_a_rank_asks_for_its_own_rows():
    dataset = Squares(9)
    assert values(hr.from_dataset(dataset, "x").iterate(shard=(1, 3)), "x") == [1, 4, 7]
    assert dataset.asked == [1, 4, 7]


def test_runs_of_numbers_are_asked_for_where_they_are_taken():
    dataset = InRuns(20)
    assert values(hr.from_dataset(dataset, "x").batch(8), "x") == list(range(20))
    assert dataset.runs == [list(range(8)), list(range(8, 16)), list(range(16, 20))]
    dataset.runs.clear()
    assert values(hr.from_dataset(dataset, "x").iterate(), "x") == list(range(20))
    assert max(map(len, dataset.runs)) == 1


def test_no_row_is_asked_for_in_an_epoch_that_was_not_requested():
    dataset = Squares(6)
    threads = set()

    class Watched(Squares):
        def __getitem__(self, number):
            threads.add(threading.get_ident())
            return dataset[number]

    batches = hr.from_dataset(Watched(6), "x").batch(2)
    for epoch in range(3):
        assert values(batches, "x") == list(range(6))
        assert len(dataset.asked) == 6 * (epoch + 1)
    assert len(threads) == 1 and threading.get_ident() not in threads


@pytest.mark.parametrize("joins", ["concat", "zip"])
def test_an_object_beside_one_in_processes_is_asked_by_one_thread_in_order(joins):
    threads = set()

    class Watched(Squares):
        def __getitem__(self, number):
            threads.add(threading.get_ident())
            return super().__getitem__(number)

    watched = Watched(40)
    here = hr.from_dataset(watched, "x" if joins == "concat" else "square")
    there = hr.from_dataset(np.arange(40), "x", processes=3)
    both = there.concat(here) if joins == "concat" else there.zip(here)
    assert values(both.batch(4), "x") == list(range(40)) * (2 if joins == "concat" else 1)
    assert watched.asked == list(range(40)) and len(threads) == 1


def test_what_the_object_raises_names_its_row():
    class Damaged(Squares):
        def __getitem__(self, number):
            if number == 5:
                raise ValueError("bad luck")
            return super().__getitem__(number)

    class DamagedRuns(InRuns, Damaged):
        pass

    for kind in (Damaged, DamagedRuns):
        rows = hr.from_dataset(kind(9), "x").batch(3)
        with rows.iterate() as iterator:
            assert next(iterator)["x"].tolist() == [0, 1, 2]
            with pytest.raises(hr.FunctionError, match="raised ValueError: bad luck") as raised:
                next(iterator)
        assert raised.value.row == "epoch 0, position 5"
        assert isinstance(raised.value.__cause__, ValueError) and raised.value.__cause__.__traceback__ is not None
        assert values(hr.from_dataset(kind(9), "x").on_error("skip"), "x") == [0, 1, 2, 3, 4, 6, 7, 8]


@pytest.mark.parametrize(
    ("kind", "error"),
    [(KeyboardInterrupt, KeyboardInterrupt), (SystemExit, SystemExit), (MemoryError, hr.ResourceError)],
)
def test_what_is_no_fault_of_a_row_ends_a_run(kind, error):
    class Ended(InRuns):
        def __getitems__(self, numbers):
            if len(numbers) > 1:
                raise kind("now")
            return super().__getitems__(numbers)

    dataset = Ended(8)
    with hr.from_dataset(dataset, "x").batch(4).iterate(executor="pull") as iterator, pytest.raises(error):
        next(iterator)
    assert 0 not in dataset.asked


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (Pairs({"x": 1}, {"y": 1}), r'gave a row without "x" \(it has y\)'),
        (Pairs((1,), (1, 2)), "gave a tuple of 2 values for 1 columns"),
        (Pairs({"x": None}), 'column "x": None is no value'),
        (Pairs({"x": np.ma.masked_array([1, 2], [True, False])}), 'column "x": it has masked values, .* filled'),
        (Pairs({"x": object()}), "object"),
    ],
)
def test_rows_of_another_form_are_named(rows, message):
    with pytest.raises(hr.Error, match=message):
        list(hr.from_dataset(rows, "x"))


def test_runs_of_another_length_are_refused():
    class Short(InRuns):
        def __getitems__(self, numbers):
            return super().__getitems__(numbers)[1:]

    with pytest.raises(hr.GraphError, match="__getitems__ of Short gave 3 rows for 4 numbers"):
        list(hr.from_dataset(Short(8), "x").batch(4))


@pytest.mark.parametrize("run", [{"x": [1, 2, 3, 4]}, "abcd", b"abcd"])
def test_runs_that_are_no_list_of_rows_are_refused(run):
    class Columns(InRuns):
        def __getitems__(self, numbers):
            return run

    name = type(run).__name__
    with pytest.raises(hr.GraphError, match=f"__getitems__ of Columns gave a {name}; it gives a list with a row"):
        list(hr.from_dataset(Columns(8), "x").batch(4))


class Streamed:
    def __iter__(self):
        return iter(range(3))


class IterableDataset(Squares):
    """As torch names those without random access."""


class Failing(Squares):
    def __getitem__(self, number):
        raise OSError("no disk")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Streamed(), "Streamed has no __getitem__.*hr.Generator"),
        (iter([1]), "hr.Generator"),
        (IterableDataset(), "is read from its start.*hr.Generator"),
        (Squares, "Squares is a class; give an object of it"),
        ({"x": [1]}, "a dict has no rows by number"),
        ("text", "a str has no rows by number; for a path write the source that reads it"),
        (pathlib.Path("photos"), r"has no rows by number; for a path .*hr\.ImageFolder\(path\)"),
        (hr.Range(3), "this Range is a headrace.Dataset already; use it as it is"),
        ([], "has no rows, so its columns are not known; name them with columns="),
        (Failing(), "raised OSError: no disk for row 0.*columns="),
        (7, "has no __getitem__"),
    ],
)
def test_objects_without_rows_by_number_are_refused(given, message):
    with pytest.raises(hr.GraphError, match=message):
        hr.from_dataset(given)


def test_an_empty_object_gives_no_rows():
    assert list(hr.from_dataset(Squares(0), "x", shuffle=True)) == []


def test_a_state_fits_the_class_and_the_length():
    with hr.from_dataset(Squares(8), "x").iterate() as iterator:
        state = iterator.state()
    assert values(hr.from_dataset(Squares(8), "x").iterate(state=state), "x") == list(range(8))
    with pytest.raises(hr.StateError, match="Squares"):
        hr.from_dataset(Squares(9), "x").iterate(state=state)
    with pytest.raises(hr.StateError):
        hr.from_dataset(InRuns(8), "x").iterate(state=state)


def test_a_saved_graph_takes_the_object_again(tmp_path):
    hr.from_dataset(Squares(4), "x").batch(2).save(tmp_path / "graph")
    (name,) = hr.load(tmp_path / "graph")._graph().references
    assert name.endswith("Squares#0")
    again = hr.load(tmp_path / "graph", references={name: Squares(4)})
    assert values(again, "x") == [0, 1, 2, 3]
    with pytest.raises(hr.GraphError, match="hr.Generator"):
        hr.load(tmp_path / "graph", references={name: Streamed()})


@pytest.mark.torch
def test_torch_datasets_are_taken_as_they_are():
    torch = pytest.importorskip("torch")
    from torch.utils.data import TensorDataset

    rows = TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    batches = hr.from_dataset(rows, columns=["x", "label"]).batch(3)
    assert [batch["x"].tolist() for batch in batches][1] == [[6, 7], [8, 9], [10, 11]]
