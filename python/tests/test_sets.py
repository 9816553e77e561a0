"""What all named sets have: files that are found or missed, classes, graphs that name them, rows in every order."""

import inspect
import json
import os
import pathlib
import re
import shutil

import numpy as np
import pytest

import headrace as hr
from headrace import datasets
from headrace import transforms as T
from headrace._sets.named_set import SETS, NamedSet
from tests import picture_set_files, text_set_files
from tests import set_files as made


def mnist(tmp_path: pathlib.Path) -> hr.Dataset:
    made.write_mnist(tmp_path / "MNIST" / "raw")
    return datasets.Mnist(tmp_path)


def labels_of(ds: hr.Dataset) -> list[int]:
    return [int(row["label"]) for row in ds]


def test_missing_files_are_named_with_where_they_were_looked_for(tmp_path):
    made.write_mnist(tmp_path / "raw")
    (tmp_path / "raw" / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(hr.NotFoundError) as error:
        datasets.Mnist(tmp_path)
    said = str(error.value)
    assert "Mnist: 1 of 2 files missing: train-labels-idx1-ubyte; looked in " in said
    assert f"{tmp_path}, {tmp_path}/raw, {tmp_path}/MNIST/raw." in said
    assert "not downloaded: its publisher gives it at http://yann.lecun.com/exdb/mnist" in said


def test_archives_that_were_not_unpacked_are_named(tmp_path):
    for name in ("cifar-10-python.tar.gz", "readme.txt", "more.ZIP"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(
        hr.NotFoundError, match="kriz/cifar.html; archives must be unpacked, and cifar-10-python.tar.gz, more.ZIP may"
    ):
        datasets.Cifar10(tmp_path)


def test_a_root_that_is_no_folder_is_named(tmp_path):
    packed = tmp_path / "cifar-10-python.tar.gz"
    packed.write_bytes(b"")
    for root, said in ((packed, "is not a folder"), (tmp_path / "no", "does not exist")):
        with pytest.raises(hr.NotFoundError, match=f"; {root} {said}: give the folder that holds the files, unpacked"):
            datasets.Cifar10(root)


def test_files_are_missing_of_the_form_that_is_there(tmp_path):
    made.write_cifar10_pickles(tmp_path / "cifar-10-batches-py")
    (tmp_path / "cifar-10-batches-py" / "data_batch_3").unlink()
    with pytest.raises(hr.NotFoundError, match="1 of 6 files missing: data_batch_3; looked in .*cifar-10-batches-py"):
        datasets.Cifar10(tmp_path)
    made.write_cifar100_pickles(tmp_path / "cifar-100-python")
    (tmp_path / "cifar-100-python" / "train").unlink()
    with pytest.raises(hr.NotFoundError, match="1 of 3 files missing: train; looked in .*cifar-100-python"):
        datasets.Cifar100(tmp_path, "all")
    made.write_cifar10(tmp_path / "cifar-10-batches-bin")
    assert len(datasets.Cifar10(tmp_path)) == 20
    (tmp_path / "cifar-10-batches-bin" / "data_batch_2.bin").unlink()
    with pytest.raises(hr.NotFoundError, match="1 of 6 files missing: data_batch_2.bin"):
        datasets.Cifar10(tmp_path)


def test_a_folder_that_is_not_there_is_all_missing(tmp_path):
    with pytest.raises(hr.NotFoundError, match="6 of 6 files missing: .*test_batch|7 of 7 files missing"):
        datasets.Cifar10(tmp_path / "nowhere", "all")


# Arguments without a default, after the root.
NEEDED = {
    "Coco": ("instances_val2017.json",),
    "AmazonReview": ("full",),
    "CLUE": ("tnews",),
    "EMnist": ("letters",),
    "GLUE": ("sst2",),
    "LibriSpeech": ("dev-clean",),
    "LibriTTS": ("dev-clean",),
    "PhotoTour": ("liberty",),
    "Tedlium": ("2",),
    "WikiText": ("2",),
    "YelpReview": ("full",),
}


@pytest.mark.parametrize("kind", [name for name in SETS if name != "FakeImage"])
def test_each_set_says_what_it_misses(tmp_path, kind):
    with pytest.raises(
        hr.NotFoundError, match=f"^{kind}: .*missing: .*looked in {tmp_path}.*publisher gives it at http"
    ):
        getattr(datasets, kind)(tmp_path, *NEEDED.get(kind, ()))


def test_a_folder_in_place_of_a_file_is_missing(tmp_path):
    ds = mnist(tmp_path)
    assert len(ds) == 12
    path = tmp_path / "MNIST" / "raw" / "train-labels-idx1-ubyte"
    path.unlink()
    path.mkdir()
    with pytest.raises(hr.NotFoundError, match="train-labels"):
        datasets.Mnist(tmp_path)


def test_a_pipe_in_place_of_a_file_is_missing(tmp_path):
    mnist(tmp_path)
    path = tmp_path / "MNIST" / "raw" / "train-labels-idx1-ubyte"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(hr.NotFoundError, match="train-labels"):
        datasets.Mnist(tmp_path)


def test_names_of_folders_need_not_be_utf8(tmp_path):
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    made.write_mnist(pathlib.Path(os.fsdecode(folder)))
    ds = datasets.Mnist(folder)
    assert len(ds) == 12
    ds.save(tmp_path / "g.hrg")
    assert labels_of(hr.load(tmp_path / "g.hrg")) == labels_of(ds)
    with pytest.raises(hr.NotFoundError, match=r"caf\\xe9"):
        datasets.KMnist(folder + b"/none")


def test_arguments_that_are_none_of_the_choices_are_an_error(tmp_path):
    with pytest.raises(hr.GraphError, match="Mnist: split is 'valid'; it must be one of 'train', 'test', 'all'"):
        datasets.Mnist(tmp_path, "valid")
    with pytest.raises(hr.GraphError, match="Mnist: root is 7; it must be a path"):
        datasets.Mnist(7)
    with pytest.raises(AttributeError, match="it is called Mnist"):
        _ = datasets.MNIST


def test_classes_follow_the_labels(tmp_path):
    ds = mnist(tmp_path)
    assert ds.classes == [str(digit) for digit in range(10)]
    assert ds.map(T.OneHot(10), "label").batch(2).classes == ds.classes
    assert ds.rename({"label": "digit"}).class_to_idx["7"] == 7
    with pytest.raises(AttributeError, match="a function changed the labels"):
        _ = ds.map(lambda label: label, "label").classes


def test_nothing_of_a_plain_set_is_left_out(tmp_path):
    assert mnist(tmp_path).left_out == []


def test_a_graph_over_a_set_is_whole(tmp_path):
    ds = mnist(tmp_path).map(T.TypeCast("float32"), "image").batch(5)
    ds.save(tmp_path / "g.hrg")
    loaded = hr.load(tmp_path / "g.hrg")
    assert loaded.schema == ds.schema and loaded.classes == ds.classes
    for first, again in zip(ds, loaded, strict=True):
        np.testing.assert_array_equal(first["image"], again["image"])
    (tmp_path / "g.json").write_text(ds.to_json())
    assert len(hr.load(tmp_path / "g.json", writes=False)) == 3


def test_classes_of_a_loaded_graph_need_no_files(tmp_path):
    mnist(tmp_path).save(tmp_path / "g.hrg")
    for path in (tmp_path / "MNIST" / "raw").iterdir():
        path.unlink()
    loaded = hr.load(tmp_path / "g.hrg")
    assert len(loaded.classes) == 10
    with pytest.raises(hr.NotFoundError, match="2 of 2 files missing"):
        next(iter(loaded))


def test_files_that_changed_are_an_error_of_the_loaded_graph(tmp_path):
    ds = mnist(tmp_path)
    ds.save(tmp_path / "g.hrg")
    made.write(
        tmp_path / "MNIST" / "raw" / "train-labels-idx1-ubyte", made.idx_bytes(np.arange(12, dtype=np.uint8) % 10)
    )
    with pytest.raises(hr.GraphError, match="Mnist: the files in .* are not as they were .*arrays#0"):
        next(iter(hr.load(tmp_path / "g.hrg")))
    columns = {"image": np.zeros((12, 28, 28, 1), np.uint8), "label": np.arange(12)}
    assert labels_of(hr.load(tmp_path / "g.hrg", {"arrays#0": columns})) == list(range(12))


def test_a_graph_does_not_go_to_other_files(tmp_path):
    made.write_mnist(tmp_path / "here")
    made.write_mnist(tmp_path / "there", packed=True, counts=(11, 5))
    ds = datasets.Mnist(tmp_path / "here", shuffle=True, name="digits").batch(5)
    ds.save(tmp_path / "g.hrg")
    for path in (tmp_path / "here").iterdir():
        path.unlink()
    with pytest.raises(hr.NotFoundError, match="2 of 2 files missing"):
        next(iter(hr.load(tmp_path / "g.hrg")))
    with pytest.raises(hr.GraphError, match="the files in .*there are not as they were"):
        hr.load(tmp_path / "g.hrg", {"arrays#0": tmp_path / "there"})


def test_a_graph_over_pictures_goes_to_where_its_files_lie(tmp_path):
    for place in ("here", "there"):
        picture_set_files.write_kitti(tmp_path / place)
    ds = datasets.KITTI(tmp_path / "here", shuffle=True, name="streets").batch(2, ragged="splits")
    ds.save(tmp_path / "g.hrg")
    shutil.rmtree(tmp_path / "here")
    moved = hr.load(tmp_path / "g.hrg", {"arrays#0": tmp_path / "there"})
    expected = datasets.KITTI(tmp_path / "there", shuffle=True, name="streets").batch(2, ragged="splits")
    for one, other in zip(moved.iterate(seed=3), expected.iterate(seed=3), strict=True):
        assert (
            one["image"].tolist() == other["image"].tolist() and one["label"][0].tolist() == other["label"][0].tolist()
        )
    moved.save(tmp_path / "h.hrg")
    assert len(hr.load(tmp_path / "h.hrg")) == 2


def test_two_sets_of_one_name_are_an_error():
    with pytest.raises(TypeError, match="there is a data set Mnist already"):
        type("Mnist", (NamedSet,), {"__module__": "elsewhere"})


def test_a_set_without_files_is_made_again(tmp_path):
    ds = datasets.FakeImage(4, (2, 2, 1), draws=3)
    ds.save(tmp_path / "g.hrg")
    assert labels_of(hr.load(tmp_path / "g.hrg")) == labels_of(ds)


def changed_call(tmp_path: pathlib.Path, **changes: object) -> hr.Dataset:
    """A loaded graph in which a part of the set's call is another one."""
    graph = json.loads(mnist(tmp_path).to_json())
    (call,) = (each["value"] for node in graph["nodes"] for each in node["attributes"] if each["name"] == "set_call")
    (kind,) = call
    call[kind] = json.dumps(json.loads(call[kind]) | changes)
    (tmp_path / "g.json").write_text(json.dumps(graph))
    text_set_files.write_ag_news(tmp_path)
    return hr.load(tmp_path / "g.json")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Nist"}, "names the data set Nist, which this version"),
        ({"name": "__class__"}, "names the data set __class__"),
        ({"arguments": {"what": 1}}, "Mnist: this version of headrace takes other arguments"),
        ({"arguments": {"split": []}}, "Mnist: split is"),
        ({"name": "AGNews", "arguments": {"split": "train"}}, "a table of the data set AGNews, whose rows are lines"),
        ({"arguments": 3}, "in a form that this version of headrace does not write"),
        ({"classes": {"label": {"a": "b"}}}, "in a form that this version of headrace does not write"),
        ({"further": 1}, "in a form that this version of headrace does not write"),
    ],
)
def test_a_graph_with_a_forged_call_is_refused(tmp_path, changes, said):
    with pytest.raises(hr.GraphError, match=said):
        next(iter(changed_call(tmp_path, **changes)))


def test_rows_are_the_same_in_every_way_of_running(tmp_path):
    ds = mnist(tmp_path)
    plain = labels_of(ds)
    shuffled = datasets.Mnist(tmp_path, shuffle=True, seed=3)
    rows = labels_of(shuffled)
    assert sorted(rows) == sorted(plain) and rows == labels_of(datasets.Mnist(tmp_path, shuffle=True, seed=3))
    shards = [[int(row["label"]) for row in ds.iterate(shard=(rank, 3))] for rank in range(3)]
    assert sorted(sum(shards, [])) == sorted(plain)
    started = ds.iterate(epoch=0)
    first = [int(next(started)["label"]) for _ in range(5)]
    rest = [int(row["label"]) for row in ds.iterate(state=started.state())]
    assert first + rest == plain
    assert ds[-1]["label"] == plain[-1]


def test_every_set_is_documented():
    for name, cls in SETS.items():
        assert "Columns: " in (cls.__doc__ or "") and f"hr.datasets.{name}(" in cls.__doc__, name
        assert name in datasets.__all__ and cls.__module__ == "headrace.datasets"
        documented = cls.__doc__.partition("Args:")[2]
        for parameter in inspect.signature(cls).parameters:
            assert f"\n        {parameter}: " in documented, f"{name}: {parameter}"


DOCS = pathlib.Path(__file__).parents[2] / "docs"


def test_pages_name_every_set_and_no_other():
    named = (DOCS / "dataset-names.md").read_text()
    listed = (DOCS / "datasets.md").read_text()
    for kind in SETS:
        assert f"`{kind}(" in listed, f"docs/datasets.md lacks {kind}"
    for kind in re.findall(r"D\.(\w+)", named):
        assert hasattr(datasets, kind), f"docs/dataset-names.md names {kind}"
