"""Named sets whose files lie in far stores: what they list and read, and where else they may lie."""

import pathlib
from collections.abc import Iterator

import pytest

import headrace as hr
from headrace import datasets
from tests.far import stores
from tests.far.stores import Store
from tests.running import assert_same, read_all


@pytest.fixture(params=stores.LISTING_KINDS)
def filled(request: pytest.FixtureRequest, far_library: None, data: pathlib.Path) -> Iterator[Store]:
    with stores.opened(request.param) as store:
        store.put_folder(data / "sets")
        yield store


def lists(store: Store) -> int:
    counts = store.counts()
    return sum(counts.get(kind, 0) for kind in store.lists)


def test_a_set_lists_each_folder_once_and_asks_for_no_file(filled: Store) -> None:
    with hr.storage(filled.storage):
        datasets.VCTK(filled.root)
        datasets.VCTK(filled.root)
    counts = filled.counts()
    # The root, the set's two folders, and a folder a speaker in each; twice.
    assert lists(filled) <= 2 * 11
    assert "head" not in counts and counts.get("getfilestatus", 0) == 0
    assert sum(counts.get(kind, 0) for kind in filled.reads) == 0


@pytest.mark.parametrize("classes", [3, 40])
def test_many_class_folders_are_listed_together(s3: Store, classes: int) -> None:
    for number in range(classes):
        for picture in range(3):
            s3.put(f"2750/class {number:02}/{picture}.jpg", b"x")
    with hr.storage(s3.storage):
        found = datasets.EuroSAT(s3.root)
    assert len(found) == classes * 3 and len(found.classes) == classes
    # Folders one by one, or a tree with its prefixes at once.
    assert s3.counts()["list"] <= 2 + min(classes, 4 + 2)


def test_a_folder_without_files_is_a_class_without_pictures(far_library: None) -> None:
    with stores.opened("hdfs") as store:
        assert store.cluster is not None
        for number in range(8):
            store.put(f"2750/class {number}/0.jpg", b"x")
        with hr.storage(store.storage):
            assert len(datasets.EuroSAT(store.root)) == 8


def test_a_set_of_few_files_may_lie_at_a_web_server(far_library: None, data: pathlib.Path) -> None:
    local = read_all(datasets.Mnist(data / "sets", "train"))
    with stores.opened("http") as store, hr.storage(store.storage):
        store.put_folder(data / "sets")
        assert_same(local, read_all(datasets.Mnist(store.root, "train")))
        with pytest.raises(hr.UnsupportedError, match="list"):
            datasets.VCTK(store.root)


def test_parts_of_a_set_may_lie_elsewhere(filled: Store, data: pathlib.Path) -> None:
    coco = data / "sets/coco"
    name = "instances_val2017.json"
    local = read_all(datasets.Coco(coco, name))
    (listed,) = coco.rglob(name)
    annotations = filled.url(str(listed.relative_to(data / "sets")))
    with hr.storage(filled.storage):
        assert_same(local, read_all(datasets.Coco(coco, annotations)))
        # Annotations of this machine, photographs far away.
        pictures = next(path.parent for path in coco.rglob("*.jpg"))
        far = filled.url(str(pictures.relative_to(data / "sets")))
        assert_same(local, read_all(datasets.Coco(coco, name, pictures=far)))


def test_a_graph_over_local_files_is_loaded_over_far_ones(
    filled: Store, data: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    rows = datasets.VOC(data / "sets", boxes="xywh").batch(2, ragged="splits")
    rows.save(tmp_path / "a.hrg")
    with hr.storage(filled.storage):
        loaded = hr.load(tmp_path / "a.hrg", {"arrays#0": filled.root})
        assert_same(read_all(rows), read_all(loaded))


def test_a_set_that_is_missing_names_the_place(filled: Store) -> None:
    with hr.storage(filled.storage):
        with pytest.raises(hr.NotFoundError, match=f"looked in {filled.url('nothing')}"):
            datasets.Mnist(filled.url("nothing"))
        with pytest.raises(hr.NotFoundError, match=f"looked in .*{filled.url('nothing')}"):
            datasets.VCTK(filled.url("nothing"))
