"""Datasets of Hugging Face's library: hr.from_huggingface, and what it reads of files that write_parquet writes."""

import pytest

import headrace as hr

datasets = pytest.importorskip("datasets")


@pytest.fixture
def animals():
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["cat", "dog"]),
            "text": datasets.Value("string"),
            "list": datasets.List(datasets.Value("int32")),
        }
    )
    images = [{"bytes": b"a", "path": None}, {"bytes": b"b", "path": "b.png"}, {"bytes": b"c", "path": None}]
    columns = {"image": images, "label": [0, 1, 1], "text": ["x", "y", "z"], "list": [[1], [], [2, 3]]}
    return datasets.Dataset.from_dict(columns, features=features)


def texts(dataset: hr.Dataset, **options: object) -> list[str]:
    return [row["text"] for row in dataset.iterate(**options)]


def test_rows_have_the_types_of_the_features(animals):
    rows = hr.from_huggingface(animals)
    assert len(rows) == 3
    assert rows.classes == ["cat", "dog"]
    assert {name: each.dtype for name, each in rows.schema.items()} == {
        "image": "bytes",
        "label": "int64",
        "text": "string",
        "list": "int32",
    }
    first = next(iter(rows))
    assert bytes(first["image"]) == b"a"
    assert first["label"].item() == 0
    assert [row["list"].tolist() for row in rows] == [[1], [], [2, 3]]


def test_the_order_of_the_dataset_is_kept(animals):
    assert texts(hr.from_huggingface(animals.select([2, 0]))) == ["z", "x"]
    assert texts(hr.from_huggingface(animals.select(range(1, 3)))) == ["y", "z"]
    shuffled = animals.shuffle(seed=1)
    assert texts(hr.from_huggingface(shuffled)) == shuffled["text"][:]
    kept = animals.filter(lambda label: label == 1, input_columns="label", load_from_cache_file=False)
    assert texts(hr.from_huggingface(kept)) == ["y", "z"]


def test_rows_are_shuffled_and_shared_among_ranks(animals):
    rows = hr.from_huggingface(animals.select([2, 0, 1, 1, 0, 2]), shuffle=True)
    epochs = [texts(rows, epoch=epoch) for epoch in range(6)]
    assert all(sorted(each) == ["x", "x", "y", "y", "z", "z"] for each in epochs)
    assert len({tuple(each) for each in epochs}) > 1
    shared = [texts(rows, shard=(rank, 2)) for rank in range(2)]
    assert sorted(sum(shared, [])) == ["x", "x", "y", "y", "z", "z"]


def test_columns_are_chosen(animals):
    assert list(hr.from_huggingface(animals, ["text", "label"]).schema) == ["text", "label"]
    assert list(hr.from_huggingface(animals.select_columns(["label"])).schema) == ["label"]
    assert list(hr.from_huggingface(animals.with_format("numpy", columns=["text"])).schema) == ["text"]


def test_streams_are_read_once(animals):
    rows = hr.from_huggingface(animals.to_iterable_dataset())
    assert rows.classes == ["cat", "dog"]
    assert texts(rows) == ["x", "y", "z"]
    with pytest.raises(hr.Error, match="once"):
        texts(rows)


def test_what_is_no_dataset_is_refused(animals):
    with pytest.raises(hr.GraphError, match=r'dataset\["train"\]'):
        hr.from_huggingface(datasets.DatasetDict({"train": animals}))
    with pytest.raises(hr.GraphError, match="hr.from_dataset"):
        hr.from_huggingface([1, 2])


def test_datasets_reads_what_is_written(animals, tmp_path):
    written = hr.from_huggingface(animals).write_parquet(tmp_path / "a.parquet", images="image")
    again = datasets.Dataset.from_parquet(written.path, cache_dir=str(tmp_path / "cache"))
    assert again.features["label"].names == ["cat", "dog"]
    assert isinstance(again.features["image"], datasets.Image)
    assert again["text"][:] == ["x", "y", "z"]
    assert [each["bytes"] for each in again.cast_column("image", datasets.Image(decode=False))["image"]] == [
        b"a",
        b"b",
        b"c",
    ]
    assert again["list"][:] == [[1], [], [2, 3]]


@pytest.mark.parametrize("form", ["dataset", "stream", "parquet"])
def test_arrays_have_their_shape(tmp_path, form):
    shapes = {
        "a": datasets.Array2D(shape=(2, 3), dtype="float32"),
        "b": datasets.Array2D(shape=(None, 3), dtype="int32"),
        "c": datasets.Array3D(shape=(1, 2, 3), dtype="uint8"),
    }
    rows = {
        "a": [[[n] * 3] * 2 for n in range(5)],
        "b": [[[n] * 3] * n for n in range(5)],
        "c": [[[[n] * 3] * 2] for n in range(5)],
    }
    made = datasets.Dataset.from_dict(rows, features=datasets.Features(shapes))
    if form == "parquet":
        made.to_parquet(tmp_path / "a.parquet")
        ds = hr.Parquet(tmp_path / "a.parquet")
    else:
        ds = hr.from_huggingface(made if form == "dataset" else made.to_iterable_dataset())
    assert {name: column.shape for name, column in ds.schema.items()} == {"a": (2, 3), "b": (None, 3), "c": (1, 2, 3)}
    assert [[row[name].tolist() for name in "abc"] for row in ds] == [
        list(row) for row in zip(*rows.values(), strict=True)
    ]


def test_arrow_names_the_function_for_datasets(animals):
    with pytest.raises(hr.GraphError, match="write hr.from_huggingface"):
        hr.Arrow(animals)
